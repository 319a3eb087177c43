/* Episodes, and the time between answers: scripted models that hold conversations with tools, by
 * functions and by text, and rewriter and tuner at work beside them. The processes are the real
 * program, the evidence is the database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../program.h"

#include "base/str.h"

static char said[65536]; /* by the last run */

static const char head[] = "#pragma keet size N = 16384\n"
                           "#pragma keet check N = 77\n"
                           "#pragma keet in x : f32[N] = uniform(-1, 1)\n"
                           "#pragma keet out y : f32[N]\n"
                           "#pragma keet tolerance rel = 1e-6\n"
                           "#pragma keet work flops = N, bytes = 8*N\n";
static const char kernel[] = "#pragma keet launch scale<<<ceil_div(N, %u), %u>>>(x, y, N)\n"
                             "__global__ void scale(const float *x, float *y, int N)\n"
                             "{\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < N)\n"
                             "        y[i] = 3 * x[i]%s;\n"
                             "}\n";

/* The kernel file with blocks of so many threads; `end` stands behind the product. */
static const char *file(unsigned threads, const char *end)
{
    static char text[2048];
    const size_t len = (size_t)snprintf(text, sizeof(text), "%s", head);

    snprintf(text + len, sizeof(text) - len, kernel, threads, threads, end);
    return text;
}

static int set_up(void **state)
{
    if (open_folder(state) != 0)
        return -1;
    put("scale.cu", file(64, ""));
    return 0;
}

static void optimize(const char *arguments)
{
    if (run(said, sizeof(said), "scale.cu --device emu --cutlass none %s", arguments) != 0)
        fail_msg("%s", said);
}

static long number(const char *db, const char *sql)
{
    return atol(ask(db, sql));
}

static void expect(const char *db, const char *sql, const char *expected)
{
    assert_string_equal(ask(db, sql), expected);
}

/* An argument of try_version as JSON: MOVE, and the file in a block. */
static const char *try_of(const char *move, const char *source)
{
    static char out[4096];
    struct str text = {0};

    str_addf(&text, "{\"answer\": \"MOVE: %s\\n```cuda\\n", move);
    for (const char *at = source; *at; at++) {
        if (*at == '\n')
            str_add(&text, "\\n");
        else
            str_add_char(&text, *at);
    }
    str_add(&text, "```\"}");
    assert_true(text.len < sizeof(out));
    memcpy(out, text.text, text.len + 1);
    str_finish(&text);
    return out;
}

/* A reply that calls one function, or two. */
static void put_call(unsigned n, const char *name, const char *arguments, const char *second)
{
    struct str text = {0};
    char path[64];

    str_addf(&text,
        "{\"text\": \"\", \"calls\": [{\"id\": \"a%u\", \"name\": \"%s\", \"arguments\": %s}%s%s]}",
        n, name, arguments, second ? ", " : "", second ? second : "");
    snprintf(path, sizeof(path), "s/episode-%u.json", n);
    put(path, text.text);
    str_finish(&text);
}

#define EPISODE "--model-only --episodes only --in-flight 1 "

/* Look-ups, a try that is right, one that fails, edits on an earlier version, an end. */
static void put_conversation(void)
{
    put_call(1, "counters", "{\"node\": 0}",
        "{\"id\": \"b\", \"name\": \"read_technique\", \"arguments\": {\"title\": \"split-k\"}}, "
        "{\"id\": \"c\", \"name\": \"rm\", \"arguments\": {}}, "
        "{\"id\": \"d\", \"name\": \"read_version\", \"arguments\": {\"node\": 99}}");
    put_call(2, "try_version", try_of("wider blocks", file(128, "")), NULL);
    put_call(3, "try_version", try_of("broken", file(96, " + oops")),
        "{\"id\": \"e\", \"name\": \"diff\", \"arguments\": {\"from\": 0, \"to\": 1}}");
    put_call(4, "try_version",
        "{\"base\": 1, \"answer\": \"MOVE: edit\\n<<<<<<< SEARCH\\n    if (i < N)\\n=======\\n"
        "    i ^= 1;\\n    if (i < N)\\n>>>>>>> REPLACE\\n\"}",
        NULL);
    put_call(5, "finish", "{\"reason\": \"it is at the floor\"}", NULL);
    for (unsigned n = 6; n <= 12; n++)
        put_call(n, "finish", "{\"reason\": \"nothing new\"}", NULL);
}

static void check_conversation(const char *db)
{
    const char *prompt;

    expect(db,
        "SELECT group_concat(number || ' from ' || parent || ' ' || verdict, '; ')"
        " FROM node WHERE number BETWEEN 1 AND 4",
        "1 from 0 ok; 2 from 1 no_compile; 3 from 1 ok; 4 from 3 declined");
    expect(db, "SELECT what FROM node WHERE number = 3", "episode: edit");
    expect(db, "SELECT verdict_text FROM node WHERE number = 4", "it is at the floor");
    expect(db, "SELECT group_concat(outcome) FROM model_call WHERE number = 1", "look_up,ok");
    prompt = ask(db, "SELECT prompt FROM model_call WHERE number = 4");
    expect_in(prompt, "warp instructions");      /* counters */
    expect_in(prompt, "### Split-k");            /* read_technique */
    expect_in(prompt, "there is no tool rm");    /* an unknown one */
    expect_in(prompt, "there is no version 99"); /* a number that is none */
    expect_in(prompt, "-#pragma keet launch");   /* diff */
    expect_in(prompt, "This is version 1. It is right");
    expect_in(prompt, "identifier \"oops\" is undefined");
    expect_in(prompt, "(2 tries and 16 answers are left.)");
}

static void a_conversation_by_functions(void **state)
{
    put_conversation();
    optimize("--model script:s " EPISODE "--budget 9 --db a.db -o a.cu --record rec.json");
    check_conversation("a.db");
    expect_in(said, "3 variants evaluated: 2 right, 1 no_compile");
    optimize("--model replay:rec.json " EPISODE "--budget 9 --db b.db -o b.cu --json");
    check_conversation("b.db");
}

/* What the budget cuts off goes on with --resume: the steps are asked for in their old order. */
static void a_conversation_is_resumed(void **state)
{
    put_conversation();
    optimize("--model script:s " EPISODE "--budget 2 --db a.db -o a.cu");
    assert_int_equal(number("a.db", "SELECT count(*) FROM node WHERE number > 0"), 2);
    expect("a.db", "SELECT group_concat(kind || ' ' || parent) FROM pick", "follow 1");
    optimize("--model script:s " EPISODE "--budget 3 --resume --db a.db -o a.cu");
    assert_int_equal(number("a.db", "SELECT count(*) FROM node WHERE number <= 2"), 3);
    assert_true(number("a.db", "SELECT count(*) FROM node") > 3);
}

static void a_conversation_by_text(void **state)
{
    struct str text = {0};

    put("model", "cat > prompt; echo x >> n; cat r/$(wc -l < n)\n");
    put("r/1", "TOOL read_version {\"node\": 0}\nTOOL read_technique {}\n");
    str_addf(&text, "MOVE: wider\n```cuda\n%s```\n", file(256, ""));
    put("r/2", text.text);
    str_clear(&text);
    put("r/3", "BASE: 0\nMOVE: back\n<<<<<<< SEARCH\n    if (i < N)\n=======\n    if (N > i)\n"
               ">>>>>>> REPLACE\n");
    put("r/4", "FINISH: enough\n");
    for (int n = 5; n <= 9; n++) {
        char name[8];

        snprintf(name, sizeof(name), "r/%d", n);
        put(name, "FINISH: enough\n");
    }
    optimize("--model 'cmd:sh model' " EPISODE "--budget 9 --db a.db -o a.cu");
    expect("a.db",
        "SELECT group_concat(number || ' ' || verdict, '; ') FROM node WHERE number"
        " BETWEEN 1 AND 3",
        "1 ok; 2 ok; 3 declined");
    expect_in(ask("a.db", "SELECT prompt FROM model_call WHERE number = 1 AND seq = 0"),
        "TOOL counters {");
    expect_in(ask("a.db", "SELECT prompt FROM model_call WHERE number = 1 AND seq = 1"),
        "RESULT of read_version");
    /* The edit was made on version 0, whose blocks have 64 threads. */
    expect_in(ask("a.db", "SELECT text FROM node JOIN source ON hash = source WHERE number = 2"),
        "ceil_div(N, 64)");
    str_finish(&text);
}

/* A model that never ends has its tries; one that only looks things up has its answers. */
static void conversations_end(void **state)
{
    struct str text = {0};

    put("tries", "cat > /dev/null; echo x >> n; sed s/TRY/$(wc -l < n)/ try\n");
    str_addf(&text, "MOVE: more\n```cuda\n// TRY\n%s```\n", file(32, " + TRY"));
    put("try", text.text);
    optimize("--model 'cmd:sh tries' " EPISODE "--budget 7 --db a.db -o a.cu");
    assert_int_equal(number("a.db", "SELECT count(*) FROM node WHERE number > 0"), 7);
    /* Five tries are one conversation; the sixth begins another. */
    assert_int_equal(number("a.db", "SELECT count(*) FROM pick WHERE kind = 'follow'"), 5);
    put("asks", "cat > /dev/null; echo 'TOOL read_technique {}'\n");
    optimize("--model 'cmd:sh asks' " EPISODE "--budget 1 --db b.db -o b.cu");
    expect("b.db", "SELECT count(*) || verdict_text FROM node WHERE number > 0",
        "1the episode has had its answers");
    assert_int_equal(number("b.db", "SELECT count(*) FROM model_call"), 20);
    expect_in(said, "0 variants evaluated");
    str_finish(&text);
}

/* ---- the time between ---- */

static void put_answers(void)
{
    struct str text = {0};

    for (unsigned n = 1; n <= 3; n++) {
        char name[32];

        str_clear(&text);
        str_addf(&text,
            "MOVE: wider\n```cuda\n#pragma keet tune STEP%u = %u in {1, 2, 4, 8}\n%s```\n", n,
            n == 3 ? 4 : n, file(64u << n, ""));
        snprintf(name, sizeof(name), "s/write-%u.md", n);
        put(name, text.text);
    }
    str_finish(&text);
}

/* The budget counts answers; between two of them, rewriter and tuner have their evaluations, the
 * `tune` lines of the best among them. The tree is the same whenever answers come. */
static void the_time_between_is_used(void **state)
{
    char tree[64];

    put_answers();
    optimize(
        "--model script:s --in-flight 1 --fill 2 --budget 3 --db a.db -o a.cu --record rec.json");
    expect("a.db",
        "SELECT group_concat(proposer, ' ') FROM (SELECT proposer FROM node WHERE"
        " number > 0 AND proposer = 'model' ORDER BY id)",
        "model model model");
    assert_int_equal(number("a.db", "SELECT count(*) FROM pick WHERE kind = 'fill'"), 8);
    assert_true(number("a.db", "SELECT count(*) FROM node WHERE proposer = 'tuner'") > 0);
    expect_in(said, "3 answers of models and ");
    put("s/delay", "700\n");
    optimize("--model script:s --in-flight 1 --fill 2 --budget 3 --db b.db -o b.cu --json");
    snprintf(tree, sizeof(tree), "%.60s", strstr(said, "\"tree\""));
    expect_in(said, "\"evaluated\": 3");
    optimize("--model replay:rec.json --in-flight 1 --fill 2 --budget 3 --db c.db -o c.cu --json");
    expect_in(said, tree);
    optimize(
        "--model script:s --in-flight 1 --fill 2 --budget 3 --db b.db -o b.cu --resume --json");
    expect_in(said, tree);
    expect_in(said, "\"evaluated\": 3");
    /* Without it, all share the budget. */
    optimize("--model script:s --in-flight 1 --fill 0 --budget 3 --db d.db -o d.cu --json");
    expect_in(said, "\"evaluated\": 3");
    expect_in(said, "\"fill\": 0");
}

/* ---- memory ---- */

/* What a run came to is told to a run on a kernel of the same form under other names, and not to
 * one of another form. */
static void experiences_go_to_kernels_alike(void **state)
{
    static const char other[] = "#pragma keet size H = 64, W = 64\n"
                                "#pragma keet check H = 7, W = 9\n"
                                "#pragma keet in a : f64[H][W] = uniform(-1, 1)\n"
                                "#pragma keet in b : f64[W] = uniform(-1, 1)\n"
                                "#pragma keet out c : f64[H][W]\n"
                                "#pragma keet launch add<<<H, W>>>(a, b, c, W)\n"
                                "__global__ void add(const double *a, const double *b, double *c,"
                                " int W)\n"
                                "{\n"
                                "    int i = blockIdx.x * W + threadIdx.x;\n"
                                "    c[i] = a[i] + b[threadIdx.x];\n"
                                "}\n";
    static const char alike[] =
        "#pragma keet size COUNT = 8192\n"
        "#pragma keet check COUNT = 99\n"
        "#pragma keet in from : f32[COUNT] = uniform(-1, 1)\n"
        "#pragma keet out to : f32[COUNT]\n"
        "#pragma keet work flops = COUNT, bytes = 8*COUNT\n"
        "#pragma keet launch half<<<ceil_div(COUNT, 64), 64>>>(from, to, COUNT)\n"
        "__global__ void half(const float *from, float *to, int COUNT)\n"
        "{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < COUNT)\n"
        "        to[i] = from[i] / 2;\n"
        "}\n";
    static const char tell[] = "An earlier run, on a kernel of the form in f32[a], out f32[a]"
                               " (slow.cu): At N = 16384 it ended at ";
    struct str text = {0};

    put("slow.cu", file(1, ""));
    put("alike.cu", alike);
    put("other.cu", other);
    str_addf(&text, "MOVE: blocks of a warp\n```cuda\n%s```\n", file(32, ""));
    put("s/write-1.md", text.text);
    if (run(said, sizeof(said),
            "slow.cu --device emu --cutlass none --model script:s --model-only"
            " --in-flight 1 --budget 1 --memory m.db --db a.db -o a.cu") != 0)
        fail_msg("%s", said);
    assert_int_equal(number("m.db", "SELECT count(*) FROM experience"), 1);
    assert_int_equal(run(said, sizeof(said),
                         "alike.cu --device emu --cutlass none --model script:s"
                         " --memory m.db --show-prompt"),
        0);
    expect_in(said, tell);
    expect_in(said, "The way: design: blocks of a warp (");
    expect_in(said, "ceil_div(N, 32)"); /* its code */
    assert_int_equal(run(said, sizeof(said),
                         "alike.cu --device emu --cutlass none --model script:s"
                         " --memory m.db --no-memory --show-prompt"),
        0);
    assert_null(strstr(said, "An earlier run"));
    assert_int_equal(run(said, sizeof(said),
                         "other.cu --device emu --cutlass none --model script:s"
                         " --memory m.db --show-prompt"),
        0);
    assert_null(strstr(said, "An earlier run"));
    str_finish(&text);
}

/* ---- for comparisons ---- */

static const char *first_prompt(const char *more)
{
    if (run(said, sizeof(said),
            "scale.cu --device emu --cutlass none --model script:s "
            "--show-prompt %s",
            more) != 0)
        fail_msg("%s", said);
    return said;
}

static void parts_can_be_left_out(void **state)
{
    put_answers();
    expect_in(first_prompt(""), "\n### ");
    expect_in(said, "what warps wait");
    assert_null(strstr(first_prompt("--no-techniques"), "\n### "));
    assert_null(strstr(first_prompt("--feedback none"), "what warps wait"));
    expect_in(first_prompt("--feedback counters"), "Counters of the profile:");
    expect_in(first_prompt("--feedback generic"), "Advice for any kernel");
    expect_in(first_prompt("--episodes only"), "in a conversation");

    /* Every request of best_of_n is a design of the original that knows of no other. */
    optimize("--model script:s --model-only --policy best_of_n --in-flight 1 --budget 3"
             " --db a.db -o a.cu");
    assert_int_equal(number("a.db", "SELECT count(*) FROM node WHERE parent = 0 AND action ="
                                    " 'design'"),
        3);
    assert_int_equal(number("a.db", "SELECT count(*) FROM model_call WHERE prompt LIKE"
                                    " '%version 1%'"),
        0);
    optimize("--model script:s --model-only --no-best --in-flight 1 --budget 3 --db b.db -o b.cu");
    /* The third design shows the original, though the versions before it are known. */
    expect_in(ask("b.db", "SELECT prompt FROM model_call WHERE number = 3"), "ceil_div(N, 64)");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_conversation_by_functions),
        TEST(a_conversation_is_resumed),
        TEST(a_conversation_by_text),
        TEST(conversations_end),
        TEST(the_time_between_is_used),
        TEST(experiences_go_to_kernels_alike),
        TEST(parts_can_be_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
