/* What the store costs in a large run: microseconds per insert and per look-up of an equal node,
 * bytes a node, and seconds to resume. Usage: store_bench FOLDER [LARGEST]; the default is 100000
 * nodes. bench/store.sh makes the table in results/store/ of it.
 *
 * The nodes are synthetic and of the size of nodes of the suite: one launch, 40 counters, 20 lines,
 * 5 findings, 20 options, a source of 3000 bytes with two `tune` lines. The search asks and is told
 * as in a run, so that a resume replays what a run would, and tells the tuner of each source. One
 * node in six equals an earlier one. To be run where the folder prompts/ is. */
#include "core/candidate.h"
#include "core/task.h"
#include "propose/propose.h"
#include "search/search.h"
#include "store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { OPTIONS = 20, LINES = 20, COUNTERS = 40, FINDINGS = 5, SOURCE_BYTES = 3000, WINDOW = 500 };

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xd1342543de82ef95u + 0x632be59bd9b4e019u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* what others run meanwhile does not count */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static _Noreturn void die(const struct err *err)
{
    fprintf(stderr, "store_bench: %s\n", err->text);
    exit(1);
}

static void fill_counters(struct arena *arena, struct counters *counters)
{
    _Static_assert((int)COUNTERS <= (int)NR_METRICS, "as many are there");
    for (unsigned m = 0; m < COUNTERS; m++)
        counters_set(counters, (enum metric)m, 1.5 * m, PROV_COUNTED);
    counters->lines = arena_array(arena, LINES, sizeof(*counters->lines));
    counters->nr_lines = LINES;
    for (unsigned i = 0; i < LINES; i++)
        counters->lines[i] = (struct line_cost){.line = 3 + i, .warp_inst = 1.25 * i};
}

static void fill_profile(struct candidate *c)
{
    c->profiled = true;
    c->profile = (struct profile){.nr_launches = 1, .time_ns = 1e5, .time_from = PROV_MODELLED};
    c->profile.launches = arena_array(c->arena, 1, sizeof(*c->profile.launches));
    c->profile.configs = arena_array(c->arena, 1, sizeof(*c->profile.configs));
    c->profile.configs[0] = (struct launch_config){"f", {64, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0};
    fill_counters(c->arena, &c->profile.launches[0]);
    fill_counters(c->arena, &c->profile.total);
}

static void fill_explanation(struct candidate *c)
{
    c->explanation = (struct explanation){.bound = BOUND_LATENCY, .summary = "It waits."};
    c->explanation.findings = arena_array(c->arena, FINDINGS, sizeof(*c->explanation.findings));
    c->explanation.nr_findings = FINDINGS;
    for (unsigned i = 0; i < FINDINGS; i++) {
        c->explanation.findings[i] =
            (struct finding){.tool = "tail", .line = i, .nr_evidence = 2, .nr_weights = 2};
        memset(c->explanation.findings[i].text, 'a', 150);
        for (unsigned k = 0; k < 2; k++) {
            c->explanation.findings[i].evidence[k] =
                (struct evidence){(enum metric)k, 1.5, PROV_COUNTED};
            c->explanation.findings[i].weights[k] = (struct weight){(enum action)k, 0.5f};
        }
    }
    c->options = arena_array(c->arena, OPTIONS, sizeof(*c->options));
    c->nr_options = OPTIONS;
    for (unsigned i = 0; i < OPTIONS; i++)
        c->options[i] = (struct option){.action = (enum action)(i % 8),
            .proposer = PROPOSER_REWRITER,
            .variant = i,
            .prior = (float)(mix((uint64_t)c->node, i) % 1000) / 10000,
            .what = arena_printf(c->arena, "unroll the loop at line %u by 4", i)};
}

/* The tuning parameters have one of 16 points, and 100 sources differ in more than these. */
static size_t write_source(char *source, int64_t node)
{
    int bytes = snprintf(source, SOURCE_BYTES + 1,
        "#pragma keet size   N = 4096\n"
        "#pragma keet out    Y : f32[N]\n"
        "#pragma keet tune   BLOCK = %d in {64, 128, 256, 512}\n"
        "#pragma keet tune   EACH = %d in {1, 2, 4, 8}\n"
        "#pragma keet launch f<<<ceil_div(N, BLOCK*EACH), BLOCK>>>(Y, N)\n"
        "__global__ void f(float *y, int n)\n{\n    float v = %d;\n",
        64 << node % 4, 1 << node / 4 % 4, (int)(node / 16 % 100));

    while (bytes + 40 < SOURCE_BYTES)
        bytes +=
            snprintf(source + bytes, (size_t)(SOURCE_BYTES + 1 - bytes), "    v = v * 3.0f + n;\n");
    bytes += snprintf(source + bytes, (size_t)(SOURCE_BYTES + 1 - bytes), "    y[0] = v;\n}\n");
    return (size_t)bytes;
}

static void make(struct candidate *c, const struct search_pick *pick, double reward)
{
    char *source = arena_alloc(c->arena, SOURCE_BYTES + 1);

    c->node = pick->node;
    c->parent = pick->parent;
    c->recalled_from = -1;
    c->option = (struct option){.action = pick->node ? ACTION_UNROLL : ACTION_NONE,
        .proposer = pick->node ? PROPOSER_REWRITER : PROPOSER_NONE,
        .variant = pick->move};
    c->source_bytes = write_source(source, pick->node);
    c->source = source;
    c->compilation = (struct compilation){.ptx = source,
        .ptx_bytes = 20,
        .log = "ptxas info",
        .key = {mix(1, (uint64_t)pick->node % 6 ? (uint64_t)pick->node : mix(2, 7) % 50), 2}};
    c->speedup = exp2(reward);
    c->verdict = mix(3, (uint64_t)pick->node) % 10 < 7 ? VERDICT_OK : VERDICT_WRONG;
    fill_profile(c);
    if (c->verdict == VERDICT_OK)
        fill_explanation(c);
}

static struct search_outcome outcome_of(const struct candidate *c)
{
    struct search_outcome outcome = {.ok = c->verdict == VERDICT_OK};

    if (!outcome.ok)
        return outcome;
    struct search_move *moves = arena_array(c->arena, c->nr_options, sizeof(*moves));

    for (unsigned i = 0; i < c->nr_options; i++)
        moves[i] = (struct search_move){
            .id = c->options[i].variant, .kind = i + 1, .prior = c->options[i].prior};
    outcome.reward = log2(c->speedup);
    outcome.nr_moves = c->recalled ? 0 : c->nr_options;
    outcome.moves = moves;
    return outcome;
}

static long long bytes_of(const char *path)
{
    struct stat is;

    return stat(path, &is) == 0 ? (long long)is.st_size : 0;
}

static void fill(const char *path, int64_t largest)
{
    struct err err;
    struct run_info run = {.kernel_path = "k.cu",
        .original = "",
        .device = "emu:h100",
        .policy = "mcts",
        .version = "bench",
        .budget = "100000"};
    struct store *store = store_open(path, &err);
    struct search *search = search_create(&(struct search_options){.seed = 1});
    struct arena *arena = arena_create();
    double *reward = calloc((size_t)largest + 1, sizeof(*reward)), insert = 0, recall = 0;
    int64_t next = 1000;

    if (!store || !store_begin_run(store, &run, &err))
        die(&err);
    for (int64_t node = 0; node <= largest; node++) {
        struct search_pick pick = {.parent = -1};
        struct candidate c = {.arena = arena};
        double started;

        arena_reset(arena);
        if (node > 0 && !search_ask(search, &pick))
            break;
        if (node > 0)
            reward[node] =
                reward[pick.parent] + 0.01 * ((double)(mix(5, (uint64_t)node) % 100) - 85) / 10;
        make(&c, &pick, reward[node]);
        if (node == 0)
            c.verdict = VERDICT_OK, fill_explanation(&c);
        started = now_us();
        if (!store_recall(store, &c, &err))
            die(&err);
        recall += now_us() - started;
        started = now_us();
        if (!store_kernel(store, &c, &err))
            die(&err);
        insert += now_us() - started;

        const struct search_outcome outcome = outcome_of(&c);

        if (node == 0)
            search_add_root(search, &outcome);
        else
            search_tell(search, &pick, &outcome);
        if (node == next) {
            printf("| %lld | %.0f | %.0f | %.0f |\n", (long long)node, insert / WINDOW,
                recall / WINDOW, (double)bytes_of(path) / (double)node);
            fflush(stdout);
            next *= 10;
        }
        if (node % WINDOW == 0 && node != next)
            insert = recall = 0;
    }
    free(reward);
    search_destroy(search);
    arena_destroy(arena);
    store_close(store);
}

/* As session_replay does. */
static void resume(const char *path)
{
    struct err err;
    struct store *store = store_open(path, &err);
    struct search *search = search_create(&(struct search_options){.seed = 1});
    struct arena *arena = arena_create(), *of_node = arena_create();
    struct store_order order;
    struct run_info run;
    struct timespec before, after;
    char text[SOURCE_BYTES + 1];
    const size_t bytes = write_source(text, 0);
    const struct propose_options options = {.prompts_dir = "prompts"};
    struct propose *propose;
    struct task task;
    const double started = now_us();
    bool found;

    clock_gettime(CLOCK_MONOTONIC, &before);
    if (!store || !store_find_run(store, arena, &run, &found, &err) ||
        !store_load_order(store, arena, &order, &err) ||
        !task_parse(&task, arena, "k.cu", text, bytes, &err) ||
        !(propose = propose_create(&options, &task, &err)))
        die(&err);
    for (int64_t i = 0; i <= order.nr_told; i++) {
        struct candidate c = {.arena = of_node};
        struct search_pick pick;

        arena_reset(of_node);
        if (!store_load_told(store, i ? order.told[i - 1] : 0, &c, &found, &err))
            die(&err);
        const struct search_outcome outcome = outcome_of(&c);

        if (i == 0) {
            search_add_root(search, &outcome);
        } else if (search_ask(search, &pick) && pick.node == c.node && pick.parent == c.parent) {
            search_tell(search, &pick, &outcome);
        } else {
            fprintf(stderr, "store_bench: node %lld is not what the search asks for\n",
                (long long)c.node);
            exit(1);
        }
        if (!store_load_source(store, of_node, c.node, &c.source, &c.source_bytes, &err))
            die(&err);
        c.task = &task;
        propose_told(propose, &c, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("\nA run of %lld nodes is resumed in %.1f s (%.1f s of processor time).\n",
        (long long)order.nr_told,
        (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9,
        (now_us() - started) * 1e-6);
    search_destroy(search);
    propose_destroy(propose);
    arena_destroy(arena);
    arena_destroy(of_node);
    store_close(store);
}

int main(int argc, char **argv)
{
    char path[4096];

    if (argc < 2) {
        fputs("usage: store_bench FOLDER [LARGEST]\n", stderr);
        return 2;
    }
    snprintf(path, sizeof(path), "%s/bench.keet.db", argv[1]);
    store_remove(path);
    fill(path, argc > 2 ? atoll(argv[2]) : 100000);
    resume(path);
    store_remove(path);
    return 0;
}
