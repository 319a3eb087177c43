/* Owns the tests of endpoints over HTTP: each fault of server.py gets its outcome, within its
 * deadlines, in all three protocols, streamed and whole. */
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

#define KEY "sk-test-0123456789abcdef"

static struct server server;

static const char *const paths[] = {"", "/responses", "/messages"};

/* Deadlines: of requests that are to be answered, however busy the machine is, and of those that
 * wait for one on purpose. */
#define PATIENCE_S 20
#define DEADLINE_S 3

static struct llm_limits quick_limits(void)
{
    struct llm_limits limits = llm_default_limits();

    limits.connect_s = 2;
    limits.first_byte_s = limits.idle_s = PATIENCE_S;
    limits.total_s = 60;
    limits.reply_bytes = 100000;
    limits.attempts = 3;
    limits.backoff_s = 0.02;
    return limits;
}

static struct llm *create(const char *path, const char *model, const struct llm_limits *limits)
{
    struct err err;
    char spec[256];
    struct llm *llm;

    snprintf(spec, sizeof(spec), "http://127.0.0.1:%u/v1%s#%s", server.port, path, model);
    llm = llm_create(spec, limits, &err);
    if (!llm)
        fail_msg("%s", err.text);
    return llm;
}

static const struct llm_message hello[] = {
    {.role = "system", .text = "be brief"}, {.role = "user", .text = "hello"}};
static const struct llm_tool search_tool = {
    .name = "search", .description = "looks", .parameters_json = "{\"type\": \"object\"}"};

static struct llm_request plain_request(void)
{
    return (struct llm_request){.messages = hello,
        .nr_messages = ARRAY_SIZE(hello),
        .tools = &search_tool,
        .nr_tools = 1,
        .max_tokens = 100,
        .temperature = 0.5,
        .effort = "high",
        .seed = 42,
        .purpose = "write"};
}

static void start(struct llm *llm)
{
    const struct llm_request request = plain_request();
    struct err err;
    uint64_t id;

    if (!llm_start(llm, &request, &id, &err))
        fail_msg("%s", err.text);
}

struct expected {
    const char *turns; /* what the server is told to do */
    enum llm_outcome outcome;
    unsigned attempts;
    const char *text;  /* NULL: not looked at */
    const char *error; /* part of it */
    bool is_final;
    double least_s;
    double most_wait_s; /* in back-off; 0: what the limits give */
    bool waits;         /* for DEADLINE_S */
    bool only_stream, only_whole;
    bool may_lack_usage;
};

#define R "\xEF\xBF\xBD"
#define OK_TEXT "reply to: hello"

static const struct expected cases[] = {
    /* those that wait, side by side */
    {"429_after,ok", LLM_OK, 2, .text = OK_TEXT, .least_s = 0.95, .most_wait_s = 3},
    {"429_date,ok", LLM_OK, 2, .text = OK_TEXT, .least_s = 0.5, .most_wait_s = 5},
    {"slow", LLM_FAILED, 3, .error = "no answer came within 3 s", .least_s = 3 * DEADLINE_S,
        .waits = true},
    {"slow,ok", LLM_OK, 2, .text = OK_TEXT, .least_s = DEADLINE_S, .waits = true},
    {"stall,ok", LLM_OK, 2, .text = OK_TEXT, .least_s = DEADLINE_S, .waits = true},
    {"stall", LLM_FAILED, 3, .error = "stopped coming within 3 s", .least_s = 3 * DEADLINE_S,
        .waits = true},
    /* the others */
    {"ok", LLM_OK, 1, .text = OK_TEXT},
    {"429,ok", LLM_OK, 2, .text = OK_TEXT},
    {"429_hour,ok", LLM_FAILED, 1, .error = "429"},
    {"429_quota", LLM_FAILED, 1, .error = "no money left", .is_final = true},
    {"408,409,ok", LLM_OK, 3, .text = OK_TEXT},
    {"425,ok", LLM_OK, 2, .text = OK_TEXT},
    {"500,503,ok", LLM_OK, 3, .text = OK_TEXT},
    {"500", LLM_FAILED, 3, .error = "500: trouble"},
    {"400", LLM_FAILED, 1, .error = "400: trouble"},
    {"404", LLM_FAILED, 1, .error = "are the address", .is_final = true},
    {"302", LLM_FAILED, 1, .error = "redirects", .is_final = true},
    {"401_echo", LLM_FAILED, 1, .error = "[key]", .is_final = true},
    {"cut,ok", LLM_OK, 2, .text = OK_TEXT},
    {"cut", LLM_FAILED, 3, .error = ""},
    {"drop,ok", LLM_OK, 2, .text = OK_TEXT},
    {"truncated,ok", LLM_OK, 2, .text = OK_TEXT},
    {"truncated", LLM_FAILED, 3, .error = "cut off"},
    {"bad_event,ok", LLM_OK, 2, .text = OK_TEXT, .only_stream = true},
    {"error_event,ok", LLM_OK, 2, .text = OK_TEXT, .only_stream = true},
    {"wrong_type,ok", LLM_OK, 2, .text = OK_TEXT},
    {"wrong_type", LLM_FAILED, 3, .error = "text/html that cannot be read"},
    {"odd_type", LLM_OK, 1, .text = OK_TEXT},
    {"whole_anyway", LLM_OK, 1, .text = OK_TEXT},
    {"other_json", LLM_FAILED, 1, .error = "another protocol", .is_final = true},
    {"deep", LLM_FAILED, 3, .error = "nested"},
    {"huge", LLM_TRUNCATED, 1, .only_stream = true, .may_lack_usage = true},
    {"huge", LLM_FAILED, 1, .error = "longer than", .only_whole = true},
    {"empty", LLM_EMPTY, 1, .text = ""},
    {"length", LLM_TRUNCATED, 1, .text = OK_TEXT},
    {"refusal", LLM_REFUSED, 1, .text = "I cannot help with that."},
    {"bad_utf8", LLM_OK, 1, .text = "before " R R R R R R " after"},
    {"nul", LLM_OK, 1, .text = "before " R " after"},
    {"surrogate", LLM_OK, 1, .text = "before " R " after \xF0\x9F\x98\x80"},
    {"echo_key", LLM_OK, 1, .text = "your key is [key], is it not?"},
    {"unknown_tool", LLM_OK, 1, .text = ""},
    {"no_temperature", LLM_OK, 2, .text = OK_TEXT},
    {"no_effort", LLM_OK, 2, .text = OK_TEXT},
};

static void check_usage(const struct expected *e, const struct llm_reply *reply)
{
    if (reply->outcome == LLM_FAILED || e->may_lack_usage)
        return;
    /* By server.py: 100 + 5 bytes / 4; a quarter of the text, and 20 for each call. */
    assert_int_equal(reply->tokens_in, 101);
    assert_int_equal(reply->tokens_cached, 64);
    assert_false(reply->tokens_estimated);
}

/* A case under way. */
struct trial {
    const struct expected *e;
    struct llm *llm;
    char where[160];
};

static struct trial begin_case(const struct expected *e, const char *path, bool whole)
{
    struct trial trial = {.e = e};
    struct llm_limits limits = quick_limits();
    char model[64];

    limits.whole = whole;
    if (e->waits)
        limits.first_byte_s = limits.idle_s = DEADLINE_S;
    /* The server counts turns by name. */
    snprintf(model, sizeof(model), "m%d%s!%s", whole, path, e->turns);
    snprintf(
        trial.where, sizeof(trial.where), "%s %s %s", e->turns, path, whole ? "whole" : "streamed");
    trial.llm = create(path, model, &limits);
    start(trial.llm);
    assert_int_equal(llm_in_flight(trial.llm), 1);
    return trial;
}

static void end_case(struct trial *trial)
{
    const struct expected *e = trial->e;
    const char *where = trial->where;
    struct llm_reply reply;

    if (!llm_wait(trial->llm, 60000, &reply))
        fail_msg("%s: no reply", where);
    if (reply.outcome != e->outcome || reply.attempts != e->attempts)
        fail_msg("%s: %s after %u attempts: %s", where, llm_outcome_name(reply.outcome),
            reply.attempts, reply.error);
    if (e->text && strcmp(reply.text, e->text))
        fail_msg("%s: text: %s", where, reply.text);
    if (e->error ? !strstr(reply.error, e->error) : *reply.error)
        fail_msg("%s: error: %s", where, reply.error);
    if (reply.latency_ms < e->least_s * 1e3 || reply.latency_ms > PATIENCE_S * 1e3)
        fail_msg("%s: took %g ms", where, reply.latency_ms);
    if (reply.is_final != e->is_final || reply.waited_ms > reply.latency_ms + 1)
        fail_msg("%s: final %d, waited %g of %g ms", where, reply.is_final, reply.waited_ms,
            reply.latency_ms);
    if (reply.waited_ms > 1e3 * (e->most_wait_s > 0 ? e->most_wait_s : 1))
        fail_msg("%s: waited %g ms", where, reply.waited_ms);
    assert_null(strstr(reply.text, KEY));
    assert_null(strstr(reply.error, KEY));
    check_usage(e, &reply);
    assert_int_equal(llm_in_flight(trial->llm), 0);
    llm_destroy(trial->llm);
}

/* A few at a time: most of them wait for a deadline. */
static void check_faults(const char *path)
{
    struct trial trials[16];
    unsigned nr = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        if (!cases[i].only_whole)
            trials[nr++] = begin_case(&cases[i], path, false);
        if (!cases[i].only_stream)
            trials[nr++] = begin_case(&cases[i], path, true);
        if (nr + 2 <= ARRAY_SIZE(trials) && i + 1 < ARRAY_SIZE(cases))
            continue;
        for (unsigned t = 0; t < nr; t++)
            end_case(&trials[t]);
        nr = 0;
    }
}

static void test_chat(void **state)
{
    check_faults(paths[0]);
}

static void test_responses(void **state)
{
    check_faults(paths[1]);
}

static void test_messages(void **state)
{
    check_faults(paths[2]);
}

/* ---- tools ---- */

static void check_tools(const char *path, bool whole)
{
    struct llm_limits limits = quick_limits();
    struct llm_reply reply;
    struct llm *llm;

    limits.whole = whole;
    llm = create(path, "m!tool", &limits);
    assert_true(llm_has_tools(llm));
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_int_equal(reply.outcome, LLM_OK);
    assert_int_equal(reply.nr_calls, 2);
    assert_string_equal(reply.calls[0].id, "call_1");
    assert_string_equal(reply.calls[0].name, "search");
    assert_string_equal(reply.calls[1].id, "call_2");
    assert_string_equal(reply.calls[1].name, "read");
    for (unsigned i = 0; i < 2; i++) {
        json_t *arguments = json_loads(reply.calls[i].arguments_json, 0, NULL);
        assert_string_equal(json_string_value(json_object_get(arguments, i ? "path" : "query")),
            i ? "a/b.hpp" : "wgmma");
        json_decref(arguments);
    }
    llm_destroy(llm);
}

static void test_tools(void **state)
{
    for (unsigned p = 0; p < ARRAY_SIZE(paths); p++) {
        check_tools(paths[p], false);
        check_tools(paths[p], true);
    }
}

/* What the server got last; the caller drops it. */
static json_t *last_body(json_t **log)
{
    char command[256];
    struct str text = {0};
    char bytes[4096];
    const json_t *requests;
    size_t n;
    FILE *pipe;

    snprintf(command, sizeof(command),
        KEET_PYTHON " -c \"import urllib.request as u; "
                    "print(u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:%u/log')"
                    ".read().decode())\"",
        server.port);
    pipe = popen(command, "r");
    while ((n = fread(bytes, 1, sizeof(bytes), pipe)) > 0)
        str_add_n(&text, bytes, n);
    pclose(pipe);
    *log = json_loads(str_text(&text), 0, NULL);
    str_finish(&text);
    requests = json_object_get(*log, "requests");
    return json_object_get(json_array_get(requests, json_array_size(requests) - 1), "body");
}

static void ask_with_history(const char *path)
{
    static const struct llm_tool_call calls[] = {
        {.id = "call_1", .name = "search", .arguments_json = "{\"query\": \"x\"}"},
        {.id = "call_2", .name = "search", .arguments_json = "not json"}};
    static const struct llm_message messages[] = {
        {.role = "system", .text = "be brief", .stable_until_here = true},
        {.role = "user", .text = "bytes \xFF and \"quotes\"\n"},
        {.role = "assistant", .text = "", .calls = calls, .nr_calls = 2},
        {.role = "tool", .text = "found 1", .tool_call_id = "call_1"},
        {.role = "tool", .text = "found 2", .tool_call_id = "call_2"}};
    struct llm_request request = plain_request();
    const struct llm_limits limits = quick_limits();
    struct llm *llm = create(path, "m!ok", &limits);
    struct llm_reply reply;
    struct err err;
    uint64_t id;

    request.messages = messages;
    request.nr_messages = ARRAY_SIZE(messages);
    assert_true(llm_start(llm, &request, &id, &err));
    assert_true(llm_wait(llm, 20000, &reply));
    assert_int_equal(reply.outcome, LLM_OK);
    llm_destroy(llm);
}

/* The bodies, against what the vendors' references say of them. */
static void expect_body(const char *path, const char *member, const char *json)
{
    json_t *log, *body, *want = json_loads(json, JSON_DECODE_ANY, NULL);

    ask_with_history(path);
    body = last_body(&log);
    if (!want || !json_equal(json_object_get(body, member), want)) {
        char *got = json_dumps(json_object_get(body, member), JSON_ENCODE_ANY);
        fail_msg("%s of %s: %s", member, path, got);
    }
    json_decref(want);
    json_decref(log);
}

static void test_bodies(void **state)
{
    expect_body("", "messages",
        "[{\"role\": \"system\", \"content\": \"be brief\"},"
        "{\"role\": \"user\", \"content\": \"bytes \\ufffd and \\\"quotes\\\"\\n\"},"
        "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": ["
        "{\"id\": \"call_1\", \"type\": \"function\", \"function\": {\"name\": \"search\","
        "\"arguments\": \"{\\\"query\\\":\\\"x\\\"}\"}},"
        "{\"id\": \"call_2\", \"type\": \"function\", \"function\": {\"name\": \"search\","
        "\"arguments\": \"{}\"}}]},"
        "{\"role\": \"tool\", \"tool_call_id\": \"call_1\", \"content\": \"found 1\"},"
        "{\"role\": \"tool\", \"tool_call_id\": \"call_2\", \"content\": \"found 2\"}]");
    expect_body("", "tools",
        "[{\"type\": \"function\", \"function\": {\"name\": \"search\", \"description\": "
        "\"looks\", \"parameters\": {\"type\": \"object\"}}}]");
    expect_body("", "seed", "42");
    expect_body("", "stream_options", "{\"include_usage\": true}");
    expect_body("/responses", "input",
        "[{\"role\": \"system\", \"content\": \"be brief\"},"
        "{\"role\": \"user\", \"content\": \"bytes \\ufffd and \\\"quotes\\\"\\n\"},"
        "{\"type\": \"function_call\", \"call_id\": \"call_1\", \"name\": \"search\", "
        "\"arguments\": \"{\\\"query\\\":\\\"x\\\"}\"},"
        "{\"type\": \"function_call\", \"call_id\": \"call_2\", \"name\": \"search\", "
        "\"arguments\": \"{}\"},"
        "{\"type\": \"function_call_output\", \"call_id\": \"call_1\", \"output\": \"found 1\"},"
        "{\"type\": \"function_call_output\", \"call_id\": \"call_2\", \"output\": \"found 2\"}]");
    expect_body("/responses", "store", "false");
    expect_body("/responses", "max_output_tokens", "100");
    expect_body("/messages", "system",
        "[{\"type\": \"text\", \"text\": \"be brief\", \"cache_control\": {\"type\": "
        "\"ephemeral\"}}]");
    expect_body("/messages", "messages",
        "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"bytes \\ufffd and "
        "\\\"quotes\\\"\\n\"}]},"
        "{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"call_1\", "
        "\"name\": \"search\", \"input\": {\"query\": \"x\"}}, {\"type\": \"tool_use\", \"id\": "
        "\"call_2\", \"name\": \"search\", \"input\": {}}]},"
        "{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": "
        "\"call_1\", \"content\": \"found 1\"}, {\"type\": \"tool_result\", \"tool_use_id\": "
        "\"call_2\", \"content\": \"found 2\"}]}]");
    expect_body("/messages", "tools",
        "[{\"name\": \"search\", \"description\": \"looks\", \"input_schema\": {\"type\": "
        "\"object\"}}]");
}

/* ---- many at a time ---- */

static void test_overlap(void **state)
{
    static const char *const options[] = {"--delay-ms", "1000", NULL};
    struct llm_limits limits = quick_limits();
    const struct server fast = server;
    struct llm_reply reply;
    struct llm *llm;
    unsigned nr = 0;
    uint64_t ids = 0;
    json_t *log;
    double before_s, took_s;

    server = server_start(options);
    llm = create("", "m", &limits);
    before_s = now_s();
    for (unsigned i = 0; i < 8; i++)
        start(llm);
    usleep(1500000); /* computing: the calls go on without us */
    while (llm_wait(llm, 20000, &reply)) {
        assert_int_equal(reply.outcome, LLM_OK);
        ids |= 1u << reply.id;
        nr++;
    }
    took_s = now_s() - before_s;
    assert_int_equal(nr, 8);
    assert_int_equal(ids, 0x1FE); /* 1 to 8, each once */
    assert_true(took_s > 2);      /* two rounds of four */
    last_body(&log);
    assert_int_equal(json_integer_value(json_object_get(log, "most_running")), 4);
    json_decref(log);
    llm_destroy(llm);
    server_stop(&server);
    server = fast;
}

/* All faults at set rates: everything is answered and accounted. */
static void test_rates(void **state)
{
    static const char *const options[] = {"--slow-s", "4", "--retry-after-s", "0", "--deck",
        ("429*3,429_after*3,500*3,503*3,slow*2,stall*2,cut*3,truncated*3,wrong_type*3,huge,empty*3,"
         "refusal*3,bad_utf8*3,unknown_tool*3,ok*22"),
        NULL};
    enum { NR = 60 };
    struct llm_limits limits = quick_limits();
    const struct server calm = server;
    unsigned nr = 0, attempts = 0, nr_outcomes[LLM_FAILED + 1] = {0};
    struct llm_reply reply;
    struct llm *llm;
    json_t *log;

    server = server_start(options);
    limits.attempts = 6;
    limits.first_byte_s = limits.idle_s = 2;
    llm = create("/messages", "m", &limits);
    for (unsigned i = 0; i < NR; i++)
        start(llm);
    while (llm_wait(llm, 20000, &reply)) {
        nr++;
        attempts += reply.attempts;
        nr_outcomes[reply.outcome]++;
        assert_true(reply.outcome == LLM_FAILED || reply.tokens_in > 0);
    }
    assert_int_equal(nr, NR);
    assert_true(nr_outcomes[LLM_OK] > NR / 2);
    assert_true(nr_outcomes[LLM_REFUSED] && nr_outcomes[LLM_EMPTY]);
    last_body(&log);
    assert_int_equal(json_array_size(json_object_get(log, "requests")), attempts);
    json_decref(log);
    llm_destroy(llm);
    server_stop(&server);
    server = calm;
}

static void test_abandon(void **state)
{
    const struct llm_limits limits = quick_limits();
    struct llm *llm = create("", "m!slow", &limits);
    const double before_s = now_s();
    struct llm_reply reply;
    unsigned nr = 0;

    for (unsigned i = 0; i < 6; i++)
        start(llm);
    assert_false(llm_wait(llm, 50, &reply));
    llm_abandon(llm);
    while (llm_wait(llm, 1000, &reply)) {
        nr++;
        assert_int_equal(reply.outcome, LLM_FAILED);
        assert_non_null(strstr(reply.error, "given up"));
    }
    assert_int_equal(nr, 6);
    assert_true(now_s() - before_s < PATIENCE_S);
    llm_destroy(llm);

    llm = create("", "m!slow", &limits); /* and without a word */
    start(llm);
    llm_destroy(llm);
    assert_true(now_s() - before_s < 2 * PATIENCE_S);
}

static void test_total_deadline(void **state)
{
    struct llm_limits limits = quick_limits();
    struct llm_reply reply;
    struct llm *llm;

    limits.total_s = 0.6;
    llm = create("", "m!slow", &limits);
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_non_null(strstr(reply.error, "0.6 s"));
    assert_true(reply.latency_ms > 550 && reply.latency_ms < 10000);
    llm_destroy(llm);
}

/* An address that answers nothing, and one that refuses. */
static void test_no_connection(void **state)
{
    struct llm_limits limits = quick_limits();
    struct llm_reply reply;
    struct err err;
    struct llm *llm = llm_create("http://127.0.0.1:9/v1#m", &limits, &err);

    assert_non_null(llm);
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_int_equal(reply.outcome, LLM_FAILED);
    assert_int_equal(reply.attempts, 3);
    assert_int_equal(reply.lost_in, 0);
    llm_destroy(llm);
}

/* ---- addresses, proxies, TLS ---- */

static void expect_refused(const char *spec, const char *part)
{
    const struct llm_limits limits = quick_limits();
    struct err err;
    struct llm *llm = llm_create(spec, &limits, &err);

    if (llm || !strstr(err.text, part))
        fail_msg("%s: %s", spec, llm ? "accepted" : err.text);
    assert_null(strstr(err.text, KEY));
}

static void test_specs(void **state)
{
    expect_refused("gpt", "expected anthropic:NAME");
    expect_refused("http://host/v1", "#NAME");
    expect_refused("http://host/v1#", "name");
    expect_refused("http://#m", "host:port");
    expect_refused("http://me:word@host/v1#m", "KEET_API_KEY");
    expect_refused("http://ho st/v1#m", "blank");
    expect_refused("openai:", "name");
    setenv("KEET_API_KEY", "two words of " KEY, 1);
    expect_refused("http://host/v1#m", "KEET_API_KEY");
    unsetenv("KEET_API_KEY");
    expect_refused("openai:m", "OPENAI_API_KEY");
    expect_refused("anthropic:m", "ANTHROPIC_API_KEY");
    setenv("KEET_API_KEY_FILE", "/nowhere/key", 1);
    expect_refused("http://host/v1#m", "KEET_API_KEY_FILE");
    unsetenv("KEET_API_KEY_FILE");
    setenv("KEET_API_KEY", KEY, 1);
}

static void test_proxy(void **state)
{
    const struct llm_limits limits = quick_limits();
    char proxy[64];
    struct llm_reply reply;
    struct err err;
    struct llm *llm;

    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u", server.port);
    setenv("http_proxy", proxy, 1);
    llm = llm_create("http://model.invalid/v1#m!ok", &limits, &err);
    assert_non_null(llm);
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_string_equal(reply.text, OK_TEXT);
    llm_destroy(llm);
    unsetenv("http_proxy");
}

static void check_tls(const char *spec, bool is_trusted)
{
    const struct llm_limits limits = quick_limits();
    struct llm_reply reply;
    struct err err;
    struct llm *llm = llm_create(spec, &limits, &err);

    assert_non_null(llm);
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_int_equal(reply.outcome, is_trusted ? LLM_OK : LLM_FAILED);
    assert_int_equal(reply.attempts, 1);
    assert_int_equal(reply.is_final, !is_trusted);
    llm_destroy(llm);
}

static void test_tls(void **state)
{
    char dir[] = "/tmp/keet_tls_XXXXXX", command[512], cert[64], spec[64];
    const char *const options[] = {"--tls", cert, NULL};
    struct server tls;

    assert_non_null(mkdtemp(dir));
    snprintf(cert, sizeof(cert), "%s/cert.pem", dir);
    snprintf(command, sizeof(command),
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout %s -out %s.part -days 2 "
        "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null && "
        "cat %s.part >> %s",
        cert, cert, cert, cert);
    if (system(command) != 0)
        skip();
    tls = server_start(options);
    snprintf(spec, sizeof(spec), "https://127.0.0.1:%u/v1#m", tls.port);
    check_tls(spec, false);
    setenv("SSL_CERT_FILE", cert, 1);
    check_tls(spec, true);
    unsetenv("SSL_CERT_FILE");
    server_stop(&tls);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* openai: and anthropic: at addresses from the environment, with keys of their own. */
static void check_vendor(const char *variable, const char *end, const char *spec, const char *path)
{
    const struct llm_limits limits = quick_limits();
    struct llm_reply reply;
    struct err err;
    struct llm *llm;
    json_t *log;
    const json_t *requests;
    char url[64];

    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, end);
    setenv(variable, url, 1);
    llm = llm_create(spec, &limits, &err);
    assert_non_null(llm);
    start(llm);
    assert_true(llm_wait(llm, 20000, &reply));
    assert_string_equal(reply.text, "your key is [key], is it not?");
    assert_string_equal(reply.model, strchr(spec, ':') + 1);
    llm_destroy(llm);
    last_body(&log);
    requests = json_object_get(log, "requests");
    assert_string_equal(json_string_value(json_object_get(
                            json_array_get(requests, json_array_size(requests) - 1), "path")),
        path);
    json_decref(log);
    unsetenv(variable);
}

static void test_vendors(void **state)
{
    setenv("OPENAI_API_KEY", "sk-openai-secret", 1);
    setenv("ANTHROPIC_API_KEY", "sk-anthropic-secret", 1);
    check_vendor("OPENAI_BASE_URL", "/v1", "openai:m!echo_key", "/v1/responses");
    check_vendor("ANTHROPIC_BASE_URL", "", "anthropic:m!echo_key", "/v1/messages");
    unsetenv("OPENAI_API_KEY");
    unsetenv("ANTHROPIC_API_KEY");
}

/* A parameter that was refused once is not sent again. */
static void test_learned_parameters(void **state)
{
    const struct llm_limits limits = quick_limits();
    struct llm *llm = create("", "learn!no_max_tokens", &limits);
    struct llm_reply reply;

    for (unsigned i = 0; i < 2; i++) {
        start(llm);
        assert_true(llm_wait(llm, 20000, &reply));
        assert_int_equal(reply.outcome, LLM_OK);
        assert_int_equal(reply.attempts, i ? 1 : 2);
    }
    llm_destroy(llm);
}

static int group_start(void **state)
{
    static const char *const options[] = {"--slow-s", "8", NULL};
    static const char *const proxies[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
        "ALL_PROXY", "no_proxy", "NO_PROXY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY_FILE", "ANTHROPIC_API_KEY_FILE", "KEET_API_KEY_FILE", "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL", "SSL_CERT_FILE", "CURL_CA_BUNDLE"};

    for (unsigned i = 0; i < ARRAY_SIZE(proxies); i++)
        unsetenv(proxies[i]);
    setenv("KEET_API_KEY", KEY, 1);
    server = server_start(options);
    return server.port == 0;
}

static int group_end(void **state)
{
    server_stop(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chat),
        cmocka_unit_test(test_responses),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_abandon),
        cmocka_unit_test(test_total_deadline),
        cmocka_unit_test(test_no_connection),
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_proxy),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_vendors),
        cmocka_unit_test(test_learned_parameters),
    };

    return cmocka_run_group_tests(tests, group_start, group_end);
}
