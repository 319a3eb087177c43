/* Owns the tests of endpoints without a network: script:, cmd:, recordings and replay:, and that
 * keys stay in. */
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "llm/llm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "serve.h"

#define KEY "sk-local-0123456789abcdef"

enum { PATIENCE_S = 40 }; /* of a busy machine; what must not be waited for takes longer */

static char dir[] = "/tmp/keet_llm_XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[2][256];
    static unsigned turn;

    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
    return path[turn];
}

static void put(const char *name, const char *text)
{
    struct err err;

    if (!file_write(in_dir(name), text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static struct llm *create(const char *kind, const char *rest)
{
    const struct llm_limits limits = llm_default_limits();
    char spec[512];
    struct err err;
    struct llm *llm;

    snprintf(spec, sizeof(spec), "%s%s", kind, rest);
    llm = llm_create(spec, &limits, &err);
    if (!llm)
        fail_msg("%s", err.text);
    return llm;
}

static uint64_t start(struct llm *llm, const char *purpose, const char *text)
{
    const struct llm_message message = {.role = "user", .text = text};
    const struct llm_request request = {
        .messages = &message, .nr_messages = 1, .purpose = purpose, .temperature = -1};
    struct err err;
    uint64_t id;

    if (!llm_start(llm, &request, &id, &err))
        fail_msg("%s", err.text);
    return id;
}

static struct llm_reply wait_for(struct llm *llm)
{
    struct llm_reply reply;

    if (!llm_wait(llm, PATIENCE_S * 1000, &reply))
        fail_msg("no reply");
    return reply;
}

static struct llm_reply ask(struct llm *llm, const char *purpose, const char *text)
{
    start(llm, purpose, text);
    return wait_for(llm);
}

/* ---- script: ---- */

static void test_script(void **state)
{
    struct llm *llm = create("script:", dir);
    struct llm_reply reply;

    reply = ask(llm, "write", "12345678");
    assert_int_equal(reply.outcome, LLM_OK);
    assert_string_equal(reply.text, "first");
    assert_true(reply.tokens_estimated);
    assert_int_equal(reply.tokens_in, 2);  /* 8 bytes / 4 */
    assert_int_equal(reply.tokens_out, 2); /* 5 bytes / 4, rounded up */
    reply = ask(llm, "plan", "x");
    assert_string_equal(reply.text, "a plan");
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_REFUSED);
    assert_string_equal(reply.text, "no");
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_OK);
    assert_int_equal(reply.nr_calls, 1);
    assert_string_equal(reply.calls[0].name, "search");
    assert_string_equal(reply.calls[0].arguments_json, "{\"q\":1}");
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_EMPTY); /* write-4.md holds blanks */
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_true(reply.is_final);
    assert_non_null(strstr(reply.error, "write-5.md"));
    llm_destroy(llm);
}

static void test_script_delay(void **state)
{
    double before_s;
    struct llm_reply reply;
    struct llm *llm;

    put("delay", "1000\n");
    llm = create("script:", dir);
    before_s = now_s();
    for (unsigned i = 0; i < 4; i++)
        start(llm, i % 2 ? "write" : "plan", "x");
    assert_int_equal(llm_in_flight(llm), 4);
    assert_false(llm_wait(llm, 10, &reply));
    for (unsigned i = 0; i < 4; i++)
        wait_for(llm);
    assert_true(now_s() - before_s > 0.99 && now_s() - before_s < 3.99); /* side by side */
    llm_destroy(llm);

    put("delay", "60000\n");
    llm = create("script:", dir);
    before_s = now_s();
    start(llm, "write", "x");
    llm_destroy(llm); /* does not wait for it */
    assert_true(now_s() - before_s < PATIENCE_S);
    assert_int_equal(unlink(in_dir("delay")), 0);
}

/* ---- cmd: ---- */

static void test_cmd(void **state)
{
    struct llm *llm = create("cmd:", "cat; echo seen >&2");
    struct llm_reply reply = ask(llm, "write", "the prompt");
    double before_s;

    assert_int_equal(reply.outcome, LLM_OK);
    assert_string_equal(reply.text, "the prompt\n");
    llm_destroy(llm);

    llm = create("cmd:", "echo some words >&2; echo the reason >&2; exit 3");
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_string_equal(reply.error, "the command ended with status 3: the reason");
    llm_destroy(llm);

    llm = create("cmd:", "keet-no-such-program");
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_true(reply.is_final);
    llm_destroy(llm);

    llm = create("cmd:", "printf 'a\\377\\000b'");
    reply = ask(llm, "write", "x");
    assert_string_equal(reply.text, "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                    "b");
    llm_destroy(llm);

    llm = create("cmd:", "sleep 60");
    before_s = now_s();
    start(llm, "write", "x");
    llm_destroy(llm);
    assert_true(now_s() - before_s < PATIENCE_S);
}

static void test_cmd_limits(void **state)
{
    struct llm_limits limits = llm_default_limits();
    struct llm_reply reply;
    struct err err;
    struct llm *llm;

    limits.total_s = 0.3;
    llm = llm_create("cmd:sleep 60", &limits, &err);
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_non_null(strstr(reply.error, "0.3 s"));
    assert_true(reply.latency_ms < PATIENCE_S * 1000);
    llm_destroy(llm);

    limits.total_s = PATIENCE_S;
    limits.reply_bytes = 1000;
    llm = llm_create("cmd:yes", &limits, &err);
    reply = ask(llm, "write", "x");
    assert_int_equal(reply.outcome, LLM_TRUNCATED);
    assert_int_equal(strlen(reply.text), 1000);
    llm_destroy(llm);

    /* Prompts larger than a pipe holds, to a program that reads none of it. */
    limits = llm_default_limits();
    llm = llm_create("cmd:echo done", &limits, &err);
    {
        char *large = xmalloc(1 << 20);
        memset(large, 'x', 1 << 20);
        large[(1 << 20) - 1] = '\0';
        reply = ask(llm, "write", large);
        free(large);
    }
    assert_string_equal(reply.text, "done\n");
    llm_destroy(llm);
}

/* ---- recordings ---- */

/* Four calls; replies come in another order: each is let go by a file of its name, which is put
 * there after the reply before it. */
#define ANSWER_WHEN_LET_GO "read name; until [ -e \"$name\" ]; do sleep 0.01; done; cat"

static void let_go(const char *name, bool yes)
{
    if (yes)
        put(name, "");
}

static void run(struct llm *llm, bool recording, char *order)
{
    static const char *const names[] = {"second", "fourth", "third", "first"};
    char prompts[4][300];
    uint64_t ids[4];
    unsigned nr = 0;

    for (unsigned i = 0; i < 4; i++)
        snprintf(prompts[i], sizeof(prompts[i]), "%s\nthe %s reply", in_dir(names[i]), names[i]);
    ids[0] = start(llm, "write", prompts[3]);
    ids[1] = start(llm, "write", prompts[0]);
    ids[2] = start(llm, "plan", prompts[2]);
    let_go(names[0], recording);
    while (llm_in_flight(llm)) {
        const struct llm_reply reply = wait_for(llm);
        order[nr++] = (char)('0' + reply.id);
        if (nr == 1) {
            llm_set_moment(llm, 1);
            ids[3] = start(llm, "repair", prompts[1]);
        }
        assert_true(nr <= 4);
        if (nr < 4)
            let_go(names[nr], recording);
    }
    order[nr] = '\0';
    assert_int_equal(ids[3], 4);
    for (unsigned i = 0; i < 4 && recording; i++)
        assert_int_equal(unlink(in_dir(names[i])), 0);
}

static void test_replay(void **state)
{
    const char *path = in_dir("calls.jsonl");
    char order[8], again[8], recording[256];
    struct llm *llm = create("cmd:", ANSWER_WHEN_LET_GO);
    struct err err;

    snprintf(recording, sizeof(recording), "%s", path);
    assert_true(llm_record(llm, recording, &err));
    run(llm, true, order);
    assert_true(llm_record_ok(llm));
    llm_destroy(llm);
    assert_string_equal(order, "2431");

    llm = create("replay:", recording);
    assert_false(llm_has_tools(llm)); /* as cmd: */
    run(llm, false, again);           /* no command: it would wait for ever */
    assert_string_equal(again, order);
    llm_destroy(llm);
}

static void test_replay_content(void **state)
{
    char recording[256];
    struct llm_reply was, is;
    struct llm *llm = create("script:", dir);
    struct err err;

    snprintf(recording, sizeof(recording), "%s", in_dir("content.jsonl"));
    assert_true(llm_record(llm, recording, &err));
    ask(llm, "write", "a");
    ask(llm, "write", "b");
    was = ask(llm, "write", "c");
    assert_int_equal(was.nr_calls, 1);
    is = was;
    llm_destroy(llm);

    llm = create("replay:", recording);
    assert_true(llm_has_tools(llm));
    assert_string_equal(ask(llm, "write", "a").text, "first");
    assert_int_equal(ask(llm, "write", "b").outcome, LLM_REFUSED);
    is = ask(llm, "write", "c");
    assert_int_equal(is.outcome, LLM_OK);
    assert_int_equal(is.nr_calls, 1);
    assert_string_equal(is.calls[0].name, "search");
    assert_int_equal(is.tokens_in, was.tokens_in);
    assert_true(is.tokens_estimated);
    assert_true(is.latency_ms == was.latency_ms);
    llm_destroy(llm);
}

static void test_replay_changed(void **state)
{
    char recording[256];
    struct llm_reply reply;
    struct llm *llm = create("script:", dir);
    struct err err;

    snprintf(recording, sizeof(recording), "%s", in_dir("changed.jsonl"));
    assert_true(llm_record(llm, recording, &err));
    ask(llm, "write", "one\ntwo\nthree");
    ask(llm, "write", "same");
    ask(llm, "repair", "four\nfive");
    llm_destroy(llm);

    llm = create("replay:", recording);
    reply = ask(llm, "write", "one\ntwo!\nthree");
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_true(reply.is_final);
    assert_string_equal(reply.error, "write 1 differs from the recording: message 1 (user), line "
                                     "2: recorded \"two\", now \"two!\"");
    reply = ask(llm, "write", "same");
    assert_int_equal(reply.outcome, LLM_REFUSED);
    reply = ask(llm, "write", "same");
    assert_string_equal(reply.error, "the recording has no write 3");
    reply = ask(llm, "plan", "same");
    assert_string_equal(reply.error, "the recording has no plan 1");
    reply = ask(llm, "repair", "four\nfive\nsix");
    assert_string_equal(reply.error, "repair 1 differs from the recording: message 1 (user), line "
                                     "2: the recorded one ends there, the text now goes on");
    llm_destroy(llm);
}

/* A reply waits for the caller's moment, so that what is started after it comes out the same. */
static void test_replay_moment(void **state)
{
    char recording[256];
    struct llm_reply reply;
    struct llm *llm = create("script:", dir);
    struct err err;

    snprintf(recording, sizeof(recording), "%s", in_dir("moment.jsonl"));
    assert_true(llm_record(llm, recording, &err));
    start(llm, "write", "a");
    llm_set_moment(llm, 7);
    wait_for(llm);
    llm_destroy(llm);

    llm = create("replay:", recording);
    start(llm, "write", "a");
    assert_false(llm_wait(llm, 0, &reply));
    llm_set_moment(llm, 6);
    assert_false(llm_wait(llm, 0, &reply));
    llm_set_moment(llm, 7);
    assert_true(llm_wait(llm, 0, &reply));
    assert_string_equal(reply.text, "first");
    llm_destroy(llm);
}

static void test_bad_recordings(void **state)
{
    const struct llm_limits limits = llm_default_limits();
    char spec[300];
    struct err err;

    snprintf(spec, sizeof(spec), "replay:%s", in_dir("bad.jsonl"));
    assert_null(llm_create(spec, &limits, &err)); /* not there */
    put("bad.jsonl", "{\"request\": {}, \"reply\": {}}\nnonsense\n");
    assert_null(llm_create(spec, &limits, &err));
    assert_non_null(strstr(err.text, "bad.jsonl:2"));
    put("bad.jsonl", "{}\n");
    assert_null(llm_create(spec, &limits, &err));
}

/* ---- keys ---- */

/* A program that prints the key on both channels, recorded: the key is in no file and no string. */
static void test_keys_stay_in(void **state)
{
    char recording[256], command[320];
    struct llm_reply reply;
    struct err err;
    struct llm *llm;

    setenv("KEET_API_KEY", KEY, 1);
    llm = create("cmd:", "printf \"the key: $KEET_API_KEY!\"");
    snprintf(recording, sizeof(recording), "%s", in_dir("keys.jsonl"));
    assert_true(llm_record(llm, recording, &err));
    reply = ask(llm, "write", "a prompt with " KEY " in it");
    assert_string_equal(reply.text, "the key: [key]!");
    llm_destroy(llm);
    llm = create("cmd:", "echo \"$KEET_API_KEY is bad\" >&2; exit 1");
    reply = ask(llm, "write", "x");
    assert_string_equal(reply.error, "the command ended with status 1: [key] is bad");
    llm_destroy(llm);
    unsetenv("KEET_API_KEY");

    put("key", KEY "\n");
    setenv("KEET_API_KEY_FILE", in_dir("key"), 1);
    llm = create("cmd:", "cat \"$KEET_API_KEY_FILE\"");
    reply = ask(llm, "write", "x");
    assert_string_equal(reply.text, "[key]\n");
    llm_destroy(llm);
    unsetenv("KEET_API_KEY_FILE");
    assert_int_equal(unlink(in_dir("key")), 0);
    snprintf(command, sizeof(command), "! grep -r %s %s", KEY, dir);
    assert_int_equal(system(command), 0);
}

static void test_requests(void **state)
{
    struct llm *llm = create("script:", dir);
    struct llm_message message = {.role = "user", .text = "x"};
    struct llm_request request = {.messages = &message, .nr_messages = 1, .purpose = "../x"};
    struct err err;
    uint64_t id;

    assert_false(llm_start(llm, &request, &id, &err));
    request.purpose = "write";
    message.role = "robot";
    assert_false(llm_start(llm, &request, &id, &err));
    message.role = "user";
    request.nr_messages = 0;
    assert_false(llm_start(llm, &request, &id, &err));
    assert_int_equal(llm_in_flight(llm), 0);
    llm_destroy(llm);
    llm_destroy(NULL);
}

static int group_start(void **state)
{
    unsetenv("KEET_API_KEY");
    unsetenv("KEET_API_KEY_FILE");
    if (!mkdtemp(dir))
        return 1;
    put("write-1.md", "first");
    put("plan-1.md", "a plan");
    put("write-2.json", "{\"text\": \"no\", \"outcome\": \"refused\"}");
    put("write-3.json",
        "{\"calls\": [{\"id\": \"c\", \"name\": \"search\", \"arguments\": {\"q\": 1}}]}");
    put("write-4.md", " \n\n");
    put("plan-2.md", "another");
    return 0;
}

static int group_end(void **state)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_script_delay),
        cmocka_unit_test(test_cmd),
        cmocka_unit_test(test_cmd_limits),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_replay_content),
        cmocka_unit_test(test_replay_changed),
        cmocka_unit_test(test_replay_moment),
        cmocka_unit_test(test_bad_recordings),
        cmocka_unit_test(test_keys_stay_in),
        cmocka_unit_test(test_requests),
    };

    return cmocka_run_group_tests(tests, group_start, group_end);
}
