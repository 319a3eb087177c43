/* Scripted models that decline, lie, repeat themselves, answer late, in prose, or with many `tune`
 * lines: each is handled, the budget is kept, and the sums are right. The processes are the real
 * program, the evidence is the database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../program.h"

#include "base/str.h"

#define MATMUL KEET_PRODUCT
#define ALONE " --model-only --in-flight 1 --db r.db -o r.cu"

static char said[65536]; /* by the last run */

static void optimize(const char *arguments)
{
    if (run(said, sizeof(said), "%s %s", MATMUL, arguments) != 0)
        fail_msg("%s", said);
}

static long number(const char *sql)
{
    return atol(ask("r.db", sql));
}

/* The naive product as a reply: `head`, then the file with `line` before its kernel and `before`
 * before its loop. */
static void put_product(const char *name, const char *head, const char *line, const char *before)
{
    static const char loop[] = "        for (int k = 0; k < K; k++)";
    struct str text = {0};
    char *source, *kernel, *at;
    struct err err;
    size_t len;

    assert_true(file_read(MATMUL, 1 << 16, &source, &len, &err));
    kernel = strstr(source, "__global__");
    at = strstr(source, loop);
    assert_true(kernel && at);
    str_addf(&text, "%s\n\n```cuda\n%.*s%s%.*s%s\n%s```\n", head, (int)(kernel - source), source,
        line, (int)(at - kernel), kernel, before, at);
    put(name, text.text);
    str_finish(&text);
    free(source);
}

/* Its loop unrolled by n, so that no two are equal; n = 0 does not compile. */
static void put_reply(const char *name, const char *head, const char *line, unsigned n)
{
    char unroll[32];

    snprintf(unroll, sizeof(unroll), "#pragma unroll %u", n);
    put_product(name, head, line, n == 0 ? "oops;" : unroll);
}

/* Every evaluation is a node of its own or a repair; what was declined or not answered is none. */
static void sums_are_right(long budget)
{
    const long evaluated =
        number("SELECT (SELECT count(*) FROM node WHERE number > 0 AND recalled_from IS NULL AND"
               " verdict NOT IN ('declined', 'no_answer')) + (SELECT count(*) FROM model_call WHERE"
               " purpose = 'repair' AND verdict NOT IN ('declined', 'no_answer') AND outcome <>"
               " 'look_up')");
    const long fill = number("SELECT count(*) FROM node JOIN pick USING (run, number) WHERE"
                             " kind = 'fill' AND recalled_from IS NULL");
    const long counted = evaluated - fill;
    char text[96];

    assert_true(counted <= budget);
    if (fill > 0)
        snprintf(text, sizeof(text), "%ld answer%s of models and %ld variant%s between them",
            counted, counted == 1 ? "" : "s", fill, fill == 1 ? "" : "s");
    else
        snprintf(text, sizeof(text), "%ld variant%s evaluated", counted, counted == 1 ? "" : "s");
    expect_in(said, text);
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE outcome = 'asked'"), 0);
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE node IS NULL"), 0);
}

static void declines_are_believed(void **state)
{
    put("decline", "cat >> asked; echo; echo 'DECLINE: it is at the floor of the memory'\n");
    optimize("--model 'cmd:sh decline' --budget 5" ALONE);
    /* One design and one improvement were asked for, no more; nothing was evaluated. */
    assert_int_equal(number("SELECT count(*) FROM model_call"), 2);
    assert_int_equal(number("SELECT count(*) FROM node WHERE verdict = 'declined' AND"
                            " verdict_text = 'it is at the floor of the memory'"),
        2);
    sums_are_right(0);
    expect_in(said, "2 declined");
}

/* Words that sound like a refusal are no decline. */
static void not_applicable_is_a_word(void **state)
{
    put_reply("s/write-1.md", "This does not apply to tails, which are guarded.", "", 2);
    put("s/write-2.md", "Vector loads do not apply here; let me think of something else.\n");
    put_reply("s/repair-1.md", "Sorry, here it is.", "", 3);
    optimize("--model script:s --budget 3" ALONE);
    assert_int_equal(number("SELECT count(*) FROM node WHERE verdict = 'ok' AND number > 0"), 2);
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE purpose = 'repair'"), 1);
    sums_are_right(3);
}

static void a_declined_repair_keeps_the_verdict(void **state)
{
    put_reply("s/write-1.md", "Faster.", "", 0);
    put("s/repair-1.md", "DECLINE: the idea was wrong\n");
    put_reply("s/write-2.md", "Better.", "", 2);
    optimize("--model script:s --budget 2" ALONE);
    assert_string_equal(ask("r.db", "SELECT verdict FROM node WHERE number = 1"), "no_compile");
    assert_string_equal(
        ask("r.db", "SELECT verdict FROM model_call WHERE purpose = 'repair'"), "declined");
    assert_int_equal(number("SELECT count(*) FROM node"), 3);
    sums_are_right(2);
}

/* The same text again costs nothing, be it right or refused. */
static void repetitions_cost_nothing(void **state)
{
    for (int i = 1; i <= 3; i++) {
        char name[32];

        snprintf(name, sizeof(name), "s/write-%d.md", i);
        put_reply(name, "As before.", "", 0);
        snprintf(name, sizeof(name), "s/write-%d.md", i + 3);
        put_reply(name, "As before.", "", 2);
        snprintf(name, sizeof(name), "s/repair-%d.md", i);
        put_reply(name, "As before.", "", 0);
    }
    put_reply("s/write-7.md", "New.", "// one\n", 3);
    optimize("--model script:s --budget 5" ALONE);
    /* Node 1 fails, and so do its two repairs; 2 and 3 are recalled, and nobody repairs them; 4 is
     * new, 5 and 6 equal it, 7 is new. */
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE purpose = 'repair'"), 2);
    assert_int_equal(number("SELECT count(*) FROM node WHERE number IN (2, 3) AND recalled_from = 1"
                            " AND verdict = 'no_compile'"),
        2);
    assert_int_equal(number("SELECT count(*) FROM node WHERE recalled_from = 4"), 2);
    sums_are_right(5);
}

/* In prose, and nothing else: asked for the code twice, then left alone. */
static void prose_is_no_kernel(void **state)
{
    put("prose", "cat > /dev/null; echo 'I would use wider loads. They are faster.'\n");
    optimize("--model 'cmd:sh prose' --budget 4" ALONE);
    assert_int_equal(number("SELECT count(*) FROM node WHERE verdict = 'no_kernel'"), 2);
    sums_are_right(4);
    assert_string_equal(ask("r.db", "SELECT why_stopped FROM run"), "budget");
}

/* A call that takes too long ends at its limit, and is none of the budget's. */
static void late_answers_cost_nothing(void **state)
{
    put_reply("right", "Here it is.", "", 2);
    put("late", "cat > /dev/null; mkdir once 2> /dev/null && exec sleep 60; cat right\n");
    optimize("--model 'cmd:exec sh late' --call-time 5 --budget 1" ALONE);
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE outcome = 'failed'"), 1);
    assert_true(number("SELECT max(ms) FROM model_call") < 40000);
    assert_string_equal(ask("r.db", "SELECT verdict FROM node WHERE number = 1"), "no_answer");
    assert_string_equal(ask("r.db", "SELECT verdict FROM node WHERE number = 2"), "ok");
    sums_are_right(1);
    expect_in(said, "1 variant evaluated: 1 right, 1 no_answer");
    assert_int_equal(run(said, sizeof(said), "runs r.db --json"), 0);
    expect_in(said, "\"evaluated\": 1");
}

/* Nor is a repair that gets no answer: the version keeps the verdict that it had. */
static void an_unanswered_repair_keeps_the_verdict(void **state)
{
    put_reply("s/write-1.md", "Faster.", "", 0);
    put("s/repair-1.json", "{\"outcome\": \"failed\", \"error\": \"the line is down\"}");
    put_reply("s/write-2.md", "Better.", "", 2);
    optimize("--model script:s --budget 2" ALONE);
    assert_string_equal(ask("r.db", "SELECT verdict FROM node WHERE number = 1"), "no_compile");
    assert_string_equal(
        ask("r.db", "SELECT verdict FROM model_call WHERE purpose = 'repair'"), "no_answer");
    sums_are_right(2);
}

/* What the device lacks is repaired as a fault is, and the model is told that it is lacking. */
static void unsupported_is_repaired(void **state)
{
    put_product("s/write-1.md", "MOVE: over several GPUs", "",
        "asm volatile(\"multimem.red.relaxed.sys.global.add.u32 [%0], 0;\" ::\"l\"(C) : "
        "\"memory\");");
    put_reply("s/repair-1.md", "MOVE: on one", "", 2);
    optimize("--model script:s --budget 2" ALONE);
    assert_string_equal(ask("r.db", "SELECT verdict FROM node WHERE number = 1"), "ok");
    assert_string_equal(
        ask("r.db", "SELECT verdict FROM model_call WHERE purpose = 'write'"), "unsupported");
    assert_int_equal(
        number("SELECT count(*) FROM model_call WHERE purpose = 'repair' AND verdict = 'ok' AND"
               " prompt LIKE '%Verdict: unsupported: %multimem.red%use other instructions%'"),
        1);
    sums_are_right(2);
}

static void many_tune_lines(void **state)
{
    struct str lines = {0};

    for (int i = 0; i < 50; i++)
        str_addf(&lines, "#pragma keet tune WIDTH%d = 2 in {1, 2, 4, 8}\n", i);
    put_reply("s/write-1.md", "MOVE: parameters", str_text(&lines), 2);
    for (int i = 1; i <= 8; i++) {
        char name[32];

        snprintf(name, sizeof(name), "s/repair-%d.md", i);
        put_reply(name, "MOVE: fewer", "#pragma keet tune WIDTH = 2 in {1, 2}\n", 3);
        snprintf(name, sizeof(name), "s/write-%d.md", i + 1);
        put_reply(name, "MOVE: more", "", (unsigned)i + 3);
    }
    optimize("--model script:s --in-flight 1 --budget 8 --fill 1 --db r.db -o r.cu");
    sums_are_right(8);
    str_finish(&lines);
}

/* What a model says of its kernel is compared with what the kernel does. */
static void lies_are_found_out(void **state)
{
    put_reply("s/write-1.md", "MOVE: a miracle\nEXPECT: time 1 us", "", 2);
    put_reply("s/write-2.md", "MOVE: a cheat", "#pragma keet tolerance rel = 9\n", 3);
    put_reply("s/repair-1.md", "MOVE: honest", "", 4);
    optimize("--model script:s --budget 3" ALONE);
    assert_string_equal(ask("r.db", "SELECT what FROM node WHERE number = 1"), "design: a miracle");
    assert_int_equal(run(said, sizeof(said), "show r.db 1"), 0);
    expect_in(said, "the model expected: time 1 us; came out: time ");
    assert_string_equal(
        ask("r.db", "SELECT verdict FROM model_call WHERE number = 2 AND seq = 0"), "contract");
}

/* The first requests are designs. Those that follow go to a version that is no more than 5% slower
 * than the best of their time, or about which nobody was asked; they tell what was tried on it,
 * what that changed, and what had been expected. */
static void requests_build_on_what_is_known(void **state)
{
    for (int i = 1; i <= 9; i++) {
        char name[32], line[64];

        snprintf(name, sizeof(name), "s/write-%d.md", i);
        snprintf(line, sizeof(line), "// attempt %d\n", i);
        put_reply(name, "MOVE: unroll\nEXPECT: time 1 us", line, (unsigned)i + 1);
    }
    optimize("--model script:s --budget 9" ALONE);
    assert_string_equal(
        ask("r.db", "SELECT group_concat(action) FROM (SELECT action FROM node WHERE number BETWEEN"
                    " 1 AND 3 ORDER BY number)"),
        "design,design,design");
    assert_true(number("SELECT count(*) FROM node WHERE action = 'improve'") > 0);
    assert_true(number("SELECT count(*) FROM model_call WHERE prompt LIKE '%  +// attempt %' AND"
                       " prompt LIKE '%expected: time 1 us; came out: time%'") > 0);
    /* A design knows the versions before it, and shows where the time of the best one goes. */
    assert_int_equal(
        number("SELECT count(*) FROM model_call WHERE number = 3 AND prompt LIKE"
               " '%design: unroll: %' AND prompt LIKE '%- how busy, in %' AND prompt"
               " LIKE '%- occupancy: % limited by %' AND prompt LIKE '%of the waiting%'"),
        1);
    assert_int_equal(
        number("SELECT count(*) FROM node a JOIN node p ON p.number = a.parent WHERE a.action ="
               " 'improve' AND p.speedup < 0.5 * (SELECT max(speedup) FROM node b WHERE b.number <"
               " a.number)"),
        0);
}

/* What is under way when the budget is spent is waited for and counted; no call is begun for
 * nothing. */
static void nothing_paid_is_dropped(void **state)
{
    for (int i = 1; i <= 6; i++) {
        char name[32];

        snprintf(name, sizeof(name), "s/write-%d.md", i);
        put_reply(name, "MOVE: another", "", i == 1 ? 0 : (unsigned)i);
        snprintf(name, sizeof(name), "s/repair-%d.md", i);
        put_reply(name, "MOVE: mended", "", (unsigned)i + 10);
    }
    put("s/delay", "100\n");
    optimize("--model script:s --model-only --in-flight 4 --budget 2 --db r.db -o r.cu");
    assert_int_equal(number("SELECT count(*) FROM model_call"), 2);
    assert_int_equal(number("SELECT count(*) FROM node WHERE number > 0"), 2);
    sums_are_right(2);
}

/* While the plans of the others are made, the first version is stored: the prompts that follow on
 * those plans know of it. */
static void prompts_after_plans_know_what_came_meanwhile(void **state)
{
    for (int i = 1; i <= 12; i++) {
        char name[32];

        snprintf(name, sizeof(name), "kernel%d", i);
        put_reply(name, "MOVE: unrolled", "", (unsigned)i + 1);
    }
    put("stored.py", "import sqlite3, time\n"
                     "for _ in range(600):\n"
                     "    db = sqlite3.connect('file:r.db?mode=ro', uri=True, timeout=60)\n"
                     "    if db.execute('SELECT count(*) FROM node').fetchone()[0] > 1:\n"
                     "        break\n"
                     "    time.sleep(0.1)\n");
    put("planner", "i=1; while ! mkdir n$i 2> /dev/null; do i=$((i+1)); done\n"
                   "case $(cat) in\n"
                   "*'first say how'*) [ $i -gt 1 ] && python3 stored.py; echo plan ;;\n"
                   "*) cat kernel$i ;;\n"
                   "esac\n");
    optimize("--model 'cmd:sh planner' --plan --model-only --in-flight 2 --budget 2 --db r.db"
             " -o r.cu");
    assert_int_equal(number("SELECT count(*) FROM model_call WHERE purpose = 'write' AND"
                            " prompt LIKE '%- version % (from 0), design: unrolled: %'"),
        1);
}

/* Replies of a real model, as they came (results/model): designs, right and many times faster. On
 * an H100 attention took 1/28.3 of its original's time, and conv2d's last version 1/13.4; the
 * modelled times are to say no more than half as much again, and no less than half. */
static void recorded_replies_hold(void **state)
{
#define REPLIES KEET_SOURCE_DIR "/results/model/"
    double speedup;

    must_run(KEET_SOURCE_DIR "/kernels/attention.cu --model script:" REPLIES
                             "attention --budget 1 -q" ALONE);
    speedup = number("SELECT max(speedup) FROM node");
    assert_true(speedup >= 28.3 / 2 && speedup <= 28.3 * 1.5);
    must_run(KEET_SOURCE_DIR "/kernels/conv2d.cu --model script:" REPLIES "conv2d --budget 2 -q"
                             " --model-only --in-flight 1 --db c.db -o c.cu");
    speedup = atof(ask("c.db", "SELECT max(speedup) FROM node"));
    assert_true(speedup >= 13.4 / 2 && speedup <= 13.4 * 1.5);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(declines_are_believed),
        TEST(not_applicable_is_a_word),
        TEST(a_declined_repair_keeps_the_verdict),
        TEST(repetitions_cost_nothing),
        TEST(prose_is_no_kernel),
        TEST(late_answers_cost_nothing),
        TEST(an_unanswered_repair_keeps_the_verdict),
        TEST(unsupported_is_repaired),
        TEST(many_tune_lines),
        TEST(lies_are_found_out),
        TEST(requests_build_on_what_is_known),
        TEST(nothing_paid_is_dropped),
        TEST(recorded_replies_hold),
        TEST(prompts_after_plans_know_what_came_meanwhile),
    };

    setenv("KEET_CUTLASS", "none", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
