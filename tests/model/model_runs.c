/* Whole runs with a scripted model: the processes are the real program, the evidence is the
 * database. Replies are written by hand (matmul/) or made here from one kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "../program.h"

#include "base/clock.h"

#define MATMUL KEET_PRODUCT /* matmul, small */
#define LARGE KEET_SOURCE_DIR "/kernels/matmul.cu"

static void shell(const char *command)
{
    char text[1024];

    snprintf(text, sizeof(text), "cd %s && %s", folder, command);
    assert_int_equal(system(text), 0);
}

static long number(const char *db, const char *sql)
{
    return atol(ask(db, sql));
}

/* Whether a query says other than 0. Not an error: the file is not there yet, or is being made. */
static bool holds(const char *db, const char *query)
{
    char path[256];
    sqlite3 *handle;
    sqlite3_stmt *stmt = NULL;
    bool yes;

    snprintf(path, sizeof(path), "%s/%s", folder, db);
    yes = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
          sqlite3_prepare_v2(handle, query, -1, &stmt, NULL) == SQLITE_OK &&
          sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0) != 0;
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    return yes;
}

/* A folder of replies: the naive product unrolled by 2, 3, ..., so that no two are equal. Every
 * third write does not compile, and its repair does. */
static void write_script(const char *name, unsigned nr, unsigned delay_ms, bool failures)
{
    static const char loop[] = "        for (int k = 0; k < K; k++)";
    char *source, path[128], text[8192];
    const char *at;
    struct err err;
    size_t len;

    assert_true(file_read(MATMUL, 1 << 16, &source, &len, &err));
    at = strstr(source, loop);
    assert_non_null(at);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_true(file_mkdirs(path, &err));
    for (unsigned i = 1; i <= 2 * nr; i++) {
        const bool bad = failures && i <= nr && i % 3 == 0;

        snprintf(text, sizeof(text), "Unrolled by %u.\n\n```cuda\n%.*s#pragma unroll %u\n%s%s```\n",
            i + 1, (int)(at - source), source, i + 1, bad ? "oops;\n" : "", at);
        snprintf(path, sizeof(path), "%s/%s-%u.md", name, i <= nr ? "write" : "repair",
            i <= nr ? i : i - nr);
        put(path, text);
        snprintf(path, sizeof(path), "%s/plan-%u.md", name, i);
        snprintf(text, sizeof(text), "plan number %u\n", i);
        put(path, text);
    }
    snprintf(path, sizeof(path), "%s/delay", name);
    snprintf(text, sizeof(text), "%u\n", delay_ms);
    put(path, text);
    free(source);
}

static const char *tree_of(const char *arguments)
{
    static char trees[4][40];
    static unsigned at;
    char text[65536], *tree = trees[at++ % 4];
    const char *found;

    if (run(text, sizeof(text), "%s --json", arguments) != 0)
        fail_msg("keet-opt %s: %s", arguments, text);
    found = strstr(text, "\"tree\": \"");
    assert_non_null(found);
    snprintf(tree, 33, "%s", found + strlen("\"tree\": \""));
    return tree;
}

/* --- acceptance: naive, tiled, register-tiled, vectorised, with failures and repairs between ---
 */

static void hand_written_variants_reach_the_last(void **state)
{
    char text[8192];

    must_run(LARGE " --model script:" KEET_SOURCE_DIR "/tests/model/matmul --model-only"
                   " --in-flight 1 --plan --budget 6 --db m.db -o m.cu -q");
    assert_int_equal(number("m.db", "SELECT count(*) FROM node"), 4);
    assert_int_equal(number("m.db", "SELECT count(*) FROM node WHERE verdict = 'ok'"), 4);
    /* Each is faster than the one before, and the last one is what was written. */
    assert_int_equal(number("m.db", "SELECT count(*) FROM node a JOIN node b ON b.number ="
                                    " a.number + 1 WHERE b.speedup > a.speedup"),
        3);
    expect_in(ask("m.db", "SELECT text FROM source JOIN node ON source = hash WHERE number = 3"),
        "*(float4 *)&b[i / 32][i % 32 * 4] = v;");
    /* What each answer led to. */
    assert_string_equal(ask("m.db", "SELECT group_concat(number || purpose || ' ' || verdict, ', ')"
                                    " FROM (SELECT * FROM model_call ORDER BY id)"),
        "1plan ok, 1write ok, 2plan ok, 2write no_compile, 2repair ok, 3plan ok, 3write fault,"
        " 3repair wrong, 3repair ok");
    /* Plan, prompt, reply, verdict and findings of every node. */
    assert_int_equal(number("m.db", "SELECT count(DISTINCT number) FROM model_call WHERE"
                                    " purpose = 'plan' AND length(answer) > 20"),
        3);
    assert_int_equal(number("m.db", "SELECT count(*) FROM model_call WHERE length(prompt) > 2000 "
                                    "AND length(answer) > 20 AND node IS NOT NULL"),
        9);
    assert_int_equal(number("m.db", "SELECT count(DISTINCT node) FROM finding"), 4);
    /* The plan reaches the writer; the compiler's words and the wrong element reach the repair. */
    expect_in(ask("m.db", "SELECT prompt FROM model_call WHERE number = 2 AND purpose = 'write'"),
        "A patch of 4x4 outputs needs half a load each.");
    expect_in(ask("m.db", "SELECT prompt FROM model_call WHERE number = 2 AND purpose = 'repair'"),
        "identifier \"y\" is undefined");
    expect_in(ask("m.db", "SELECT prompt FROM model_call WHERE number = 3 AND purpose = 'repair'"
                          " ORDER BY seq DESC LIMIT 1"),
        "Verdict: wrong: ");
    assert_int_equal(run(text, sizeof(text), "calls m.db"), 0);
    expect_in(text, "9 calls");
    assert_int_equal(run(text, sizeof(text), "calls m.db --json"), 0);
    expect_in(text, "\"verdict\": \"ok\"");
}

/* --- several at once --- */

static void a_recorded_run_replays_to_the_same_tree(void **state)
{
    char text[8192];
    const char *recorded, *replayed;

    write_script("replies", 40, 150, true);
    recorded = tree_of(
        MATMUL " --model script:replies --fill 1 --budget 4 --db a.db -o a.cu --record r.jsonl -q");
    shell("rm -r replies");
    replayed = tree_of(MATMUL " --model replay:r.jsonl --fill 1 --budget 4 --db b.db -o b.cu -q");
    assert_string_equal(recorded, replayed);
    assert_true(number("a.db", "SELECT count(*) FROM pick") > 0);
    /* Another prompt is noticed, and named. */
    assert_int_equal(run(text, sizeof(text),
                         MATMUL " --model replay:r.jsonl --fill 1 --budget 4 --db c.db -o c.cu -q"
                                " --no-techniques"),
        1);
    expect_in(text, "replay:r.jsonl");
}

/* SIGKILL as soon as the query says so of the database, and whether it did before the run ended. */
static bool run_and_kill(const char *when, const char *resume)
{
    const pid_t pid = fork();
    bool held = false;

    if (pid == 0) {
        if (chdir(folder) || !freopen("/dev/null", "w", stdout) ||
            !freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(KEET_BINARY, KEET_BINARY, MATMUL, "--model", "script:replies", "--budget", "8",
            "--fill", "1", "--plan", "--db", "k.db", "-o", "k.cu", "-q", resume, NULL);
        _exit(127);
    }
    while (!held && waitpid(pid, NULL, WNOHANG) == 0) {
        usleep(10000);
        held = holds("k.db", when);
    }
    if (held) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return held;
}

/* Killed twice while several nodes are under way, resumed twice: every node that was asked is told
 * once, what models were asked is on record whatever became of the node, and the budget is kept. */
static void a_killed_run_resumes(void **state)
{
    /* Of several under way at least one has its plan, and one is being asked. */
    static const char half_way[] = "SELECT (SELECT count(*) FROM node) >= 3"
                                   " AND EXISTS (SELECT 1 FROM model_call WHERE node IS NULL AND"
                                   " outcome = 'ok' AND length(answer) > 5)"
                                   " AND EXISTS (SELECT 1 FROM model_call WHERE node IS NULL AND"
                                   " outcome = 'asked' AND length(prompt) > 2000)";

    write_script("replies", 60, 300, true);
    assert_true(run_and_kill(half_way, NULL));
    assert_true(run_and_kill("SELECT count(*) >= 6 FROM node", "--resume"));
    must_run(
        MATMUL " --model script:replies --plan --fill 1 --budget 8 --db k.db -o k.cu -q --resume");
    assert_int_equal(number("k.db", "SELECT count(*) FROM run"), 1);
    assert_string_equal(ask("k.db", "SELECT why_stopped FROM run"), "budget");
    assert_int_equal(number("k.db", "SELECT count(*) - count(DISTINCT number) FROM node"), 0);
    assert_true(number("k.db", "SELECT count(*) FROM node") >= 8);
    assert_string_equal(ask("k.db", "SELECT models FROM run"), "script:replies");
    /* Once more, with the database as it is: the order of asking and telling still replays. */
    must_run(
        MATMUL " --model script:replies --plan --fill 1 --budget 9 --db k.db -o k.cu -q --resume");
}

static double seconds_of(const char *db, unsigned delay_ms, unsigned budget)
{
    char arguments[512];
    const uint64_t start = clock_ns();

    write_script("replies", 40, delay_ms, false);
    snprintf(arguments, sizeof(arguments),
        MATMUL " --model script:replies --model-only --in-flight 4 --budget %u --cache ''"
               " --threads 1 --db %s -o o.cu -q",
        budget, db);
    must_run(arguments);
    return (double)(clock_ns() - start) * 1e-9;
}

/* Four requests in flight and a model that takes four evaluations' time: after the first answers
 * the device is never idle. Ideal is one delay and the evaluations, within 15%. */
static void requests_overlap_with_evaluation(void **state)
{
    enum { BUDGET = 12 };
    double best = 1e9;

    for (int attempt = 0; attempt < 3 && best > 1.15; attempt++) {
        char name[32];

        snprintf(name, sizeof(name), "p%d.db", attempt);
        const double alone = seconds_of(name, 0, BUDGET);
        const double delay = 4 * alone / (BUDGET + 1);

        snprintf(name, sizeof(name), "q%d.db", attempt);
        const double both = seconds_of(name, (unsigned)(delay * 1000), BUDGET);
        const double ratio = both / (alone + delay);

        printf("alone %.2f s, delay %.2f s, overlapped %.2f s: %.2f of the ideal\n", alone, delay,
            both, ratio);
        best = ratio < best ? ratio : best;
    }
    assert_true(best <= 1.15);
}

/* --- limits, memory, secrets --- */

static void limits_stop_the_run(void **state)
{
    char text[8192];

    write_script("replies", 40, 0, false);
    must_run(MATMUL " --model script:replies --model-only --budget 30 --max-tokens 20000 --db t.db"
                    " -o t.cu -q");
    assert_string_equal(ask("t.db", "SELECT why_stopped FROM run"), "tokens");
    assert_true(number("t.db", "SELECT sum(tokens_in + tokens_out) FROM model_call") >= 20000);
    assert_int_equal(run(text, sizeof(text), MATMUL " --model-only --db u.db"), 2);
}

/* One model brings gains, the other one words: the run comes to ask the first. */
static void the_model_that_pays_is_asked(void **state)
{
    char arguments[512], name[256];

    write_script("idle", 40, 0, false);
    shell("mkdir -p good");
    for (int i = 1; i <= 40; i++) {
        snprintf(name, sizeof(name), "idle/write-%d.md", i);
        put(name, "DECLINE: nothing is to be gained here.\n");
        snprintf(name, sizeof(name), "cp %s/tests/model/matmul/write-1.md good/write-%d.md",
            KEET_SOURCE_DIR, i);
        shell(name);
    }
    snprintf(arguments, sizeof(arguments),
        LARGE " --model script:idle --model script:good --model-only --in-flight 1"
              " --budget 6 --max-tokens 60000 --db b.db -o b.cu -q");
    must_run(arguments);
    const long good = number("b.db", "SELECT count(*) FROM model_call WHERE model LIKE '%good'");
    const long idle = number("b.db", "SELECT count(*) FROM model_call WHERE model LIKE '%idle'");

    assert_true(idle >= 1);
    assert_true(good >= 2 * idle);
}

/* A prompt that repairs holds the failed answer; that one may be of any length. */
static void repairs_keep_to_the_budget(void **state)
{
    static char text[90000];
    char name[64];
    size_t len;

    write_script("replies", 4, 0, false);
    for (int i = 1; i <= 3; i++) { /* one that is a bit too long, and two that are much */
        len = (size_t)snprintf(text, sizeof(text), "```cuda\n%s\n```\n", "no kernel at all");
        for (int k = 0; k < (i == 1 ? 100 : 1500); k++)
            len += (size_t)snprintf(text + len, sizeof(text) - len,
                "Line %d of a long explanation of what was done.\n", k);
        snprintf(name, sizeof(name), i == 1 ? "replies/write-1.md" : "replies/repair-%d.md", i - 1);
        put(name, text);
    }
    must_run(MATMUL " --model script:replies --model-only --in-flight 1 --budget 3"
                    " --prompt-tokens 3000 --db w.db -o w.cu -q");
    assert_int_equal(number("w.db", "SELECT count(*) FROM model_call WHERE purpose = 'repair'"), 2);
    assert_int_equal(
        number("w.db", "SELECT count(*) FROM model_call WHERE length(prompt) > 3000 * 4 + 100"), 0);
    /* The problem is never cut; the answer is, from its end. */
    assert_int_equal(number("w.db", "SELECT count(*) FROM model_call WHERE purpose = 'repair' AND"
                                    " prompt LIKE '%Your last answer failed.%' AND"
                                    " prompt LIKE '%no kernel at all%' AND"
                                    " prompt LIKE '%__global__ void matmul(%'"),
        2);
    expect_in(ask("w.db", "SELECT prompt FROM model_call WHERE purpose = 'repair'"
                          " ORDER BY seq DESC LIMIT 1"),
        "(the rest is left out: the prompt would be too long)");
}

static void showing_sends_nothing(void **state)
{
    char text[65536];

    assert_int_equal(
        run(text, sizeof(text), MATMUL " --model 'cmd:touch asked' --show-prompt --plan --db s.db"),
        0);
    expect_in(text, "===== plan, about ");
    expect_in(text, "===== write, about ");
    expect_in(text, "  14| __global__ void matmul(");
    expect_in(text, "#pragma keet tolerance rel = 1e-3, abs = 1e-4");
    expect_in(text, "132 multiprocessors");
    assert_null(strstr(text, "{{"));
    shell("test ! -e asked");
    unsetenv("OPENAI_API_KEY"); /* no key is needed, whatever the model */
    assert_int_equal(
        run(text, sizeof(text), MATMUL " --model openai:any --show-prompt --db s.db"), 0);
    expect_in(text, "===== write, about ");
}

static void lessons_outlive_the_run(void **state)
{
    static const char *const prompts =
        "SELECT count(*) FROM model_call WHERE prompt LIKE '%times the speed before; %'";

    write_script("replies", 40, 0, false);
    must_run(MATMUL " --model script:replies --model-only --budget 3 --in-flight 1 --db l1.db"
                    " -o l.cu -q --memory lessons.db");
    assert_int_equal(number("lessons.db", "SELECT count(*) FROM lesson"), 3);
    must_run(MATMUL " --model script:replies --model-only --budget 1 --in-flight 1 --db l2.db"
                    " -o l.cu -q --memory lessons.db");
    assert_true(number("l2.db", prompts) > 0);
    must_run(MATMUL " --model script:replies --model-only --budget 1 --in-flight 1 --db l3.db"
                    " -o l.cu -q --memory lessons.db --no-memory");
    assert_int_equal(number("l3.db", prompts), 0);
    assert_int_equal(number("lessons.db", "SELECT count(*) FROM lesson"), 4);
}

static void the_key_is_nowhere(void **state)
{
    char text[65536];

    setenv("KEET_API_KEY", "sk-verysecret-12345", 1);
    run(text, sizeof(text),
        MATMUL
        " --model 'cmd:echo \"my key is $KEET_API_KEY\" sk-very\"\"secret-12345' --model-only"
        " --budget 4 --db key.db -o key.cu --record key.jsonl -v");
    unsetenv("KEET_API_KEY");
    assert_null(strstr(text, "verysecret"));
    assert_true(number("key.db",
                    "SELECT count(*) FROM model_call WHERE answer LIKE '%my key is [key]%'") > 0);
    shell("! grep -rqa verysecret .");
}

/* model_runs [TEST]: that one alone (a pattern of cmocka's). KEET_LEAVE_OUT names one to skip. */
int main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(hand_written_variants_reach_the_last),
        TEST(a_recorded_run_replays_to_the_same_tree),
        TEST(a_killed_run_resumes),
        TEST(requests_overlap_with_evaluation),
        TEST(limits_stop_the_run),
        TEST(the_model_that_pays_is_asked),
        TEST(repairs_keep_to_the_budget),
        TEST(showing_sends_nothing),
        TEST(lessons_outlive_the_run),
        TEST(the_key_is_nowhere),
    };

    setenv("KEET_CUTLASS", "none", 1); /* prompts are the same with and without one here */
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    if (getenv("KEET_LEAVE_OUT"))
        cmocka_set_skip_filter(getenv("KEET_LEAVE_OUT"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
