/* Tests of store/: what goes in comes out, and a killed process leaves whole nodes. */
#include "full_candidate.h"

#include "base/mem.h"
#include "store/db.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64], path[96];
    struct arena *arena;
    struct store *store;
    struct err err;
};

static const struct run_info run_values = {.kernel_path = "kernels/matmul.cu",
    .original = "__global__ void f() {}\n",
    .device = "emu:h100",
    .policy = "mcts",
    .version = "0.1.0",
    .seed = 0xfedcba9876543210u,
    .budget = "50"};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    strcpy(f->folder, "/tmp/keet-store-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/run.db", f->folder);
    f->arena = arena_create();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[128];

    store_close(f->store);
    arena_destroy(f->arena);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", f->path, ends[i]);
        unlink(path);
    }
    rmdir(f->folder);
    free(f);
    return 0;
}

static void open_store(struct fixture *f)
{
    f->store = store_open(f->path, &f->err);
    if (!f->store) {
        fail_msg("%s", f->err.text);
    }
}

static void begin(struct fixture *f)
{
    struct run_info run = run_values;

    open_store(f);
    if (!store_begin_run(f->store, &run, &f->err)) {
        fail_msg("%s", f->err.text);
    }
}

static void reopen(struct fixture *f)
{
    struct run_info run;
    bool found;

    store_close(f->store);
    open_store(f);
    assert_true(store_find_run(f->store, f->arena, &run, &found, &f->err));
    assert_true(found);
}

static void same_text(const char *a, const char *b)
{
    if (!a || !b) {
        assert_ptr_equal(a, b);
    } else {
        assert_string_equal(a, b);
    }
}

static void same_real(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof(a));
}

static void same_counters(const struct counters *a, const struct counters *b)
{
    assert_true(a->blocks_run == b->blocks_run && a->blocks_all == b->blocks_all);
    for (unsigned m = 0; m < NR_METRICS; m++) {
        assert_int_equal(a->metric[m].from, b->metric[m].from);
        if (a->metric[m].from != PROV_ABSENT) {
            same_real(a->metric[m].value, b->metric[m].value);
        }
    }
    for (unsigned i = 0; i < NR_CURES; i++) {
        const bool known = a->metric[METRIC_WITHOUT_CONFLICTS + i].from != PROV_ABSENT;

        assert_int_equal(known ? a->left[i].unit : METRIC_TIME_NS, b->left[i].unit);
        assert_int_equal(known ? a->left[i].wait : METRIC_TIME_NS, b->left[i].wait);
        same_real(known ? a->left[i].unit_pct : 0, b->left[i].unit_pct);
        same_real(known ? a->left[i].wait_pct : 0, b->left[i].wait_pct);
    }
    assert_int_equal(a->nr_lines, b->nr_lines);
    for (unsigned i = 0; i < a->nr_lines; i++) {
        assert_int_equal(a->lines[i].line, b->lines[i].line);
        assert_int_equal(a->lines[i].access_bytes, b->lines[i].access_bytes);
        same_real(a->lines[i].warp_inst, b->lines[i].warp_inst);
        same_real(a->lines[i].global_sectors_ideal, b->lines[i].global_sectors_ideal);
        same_real(a->lines[i].shared_wavefronts_ideal, b->lines[i].shared_wavefronts_ideal);
        same_real(a->lines[i].branches_divergent, b->lines[i].branches_divergent);
        same_real(a->lines[i].conversion_inst, b->lines[i].conversion_inst);
        same_real(a->lines[i].stall_cycles, b->lines[i].stall_cycles);
        for (unsigned s = 0; s < NR_WAITS; s++)
            same_real(a->lines[i].stalls[s], b->lines[i].stalls[s]);
    }
}

static void same_timing(const struct profile_timing *a, const struct profile_timing *b)
{
    assert_int_equal(a->nr_samples, b->nr_samples);
    assert_int_equal(a->nr_dropped, b->nr_dropped);
    same_real(a->standard_error, b->standard_error);
    same_real(a->baseline_ns, b->baseline_ns);
    same_real(a->ratio, b->ratio);
    same_real(a->ratio_low, b->ratio_low);
    same_real(a->ratio_high, b->ratio_high);
    assert_int_equal(a->refused, b->refused);
    same_real(a->clock_low_mhz, b->clock_low_mhz);
    same_real(a->clock_high_mhz, b->clock_high_mhz);
    same_real(a->baseline_clock_low_mhz, b->baseline_clock_low_mhz);
    same_real(a->baseline_clock_high_mhz, b->baseline_clock_high_mhz);
    same_real(a->temperature_low_c, b->temperature_low_c);
    same_real(a->temperature_high_c, b->temperature_high_c);
    assert_int_equal(a->throttle, b->throttle);
    same_text(a->note, b->note);
}

static void same_profile(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->nr_launches, b->nr_launches);
    assert_int_equal(a->longest, b->longest);
    assert_int_equal(a->time_from, b->time_from);
    same_real(a->time_ns, b->time_ns);
    same_real(a->time_low_ns, b->time_low_ns);
    same_real(a->time_high_ns, b->time_high_ns);
    same_timing(&a->timing, &b->timing);
    same_text(a->no_counters, b->no_counters);
    same_text(a->no_energy, b->no_energy);
    same_counters(&a->total, &b->total);
    for (unsigned i = 0; i < a->nr_launches; i++) {
        same_counters(&a->launches[i], &b->launches[i]);
        same_text(a->configs[i].kernel, b->configs[i].kernel);
        assert_memory_equal(a->configs[i].grid, b->configs[i].grid, sizeof(a->configs[i].grid));
        assert_memory_equal(a->configs[i].block, b->configs[i].block, sizeof(a->configs[i].block));
        assert_memory_equal(
            a->configs[i].cluster, b->configs[i].cluster, sizeof(a->configs[i].cluster));
        assert_int_equal(a->configs[i].smem_bytes, b->configs[i].smem_bytes);
    }
}

static void same_compilation(const struct compilation *a, const struct compilation *b)
{
    assert_true(a->key.high == b->key.high && a->key.low == b->key.low);
    same_text(a->log, b->log);
    same_real(a->compile_ms, b->compile_ms);
    assert_int_equal(a->cached, b->cached);
    assert_int_equal(a->nr_kernels, b->nr_kernels);
    for (unsigned i = 0; i < a->nr_kernels; i++) {
        const struct kernel_facts *k = &a->kernels[i], *l = &b->kernels[i];

        same_text(k->kernel, l->kernel);
        same_text(k->lowered, l->lowered);
        assert_memory_equal(&k->registers, &l->registers,
            offsetof(struct kernel_facts, nr_barriers) + sizeof(k->nr_barriers) -
                offsetof(struct kernel_facts, registers));
    }
}

static void same_check(const struct check_result *a, const struct check_result *b)
{
    assert_int_equal(a->nr_runs, b->nr_runs);
    assert_int_equal(a->nr_shapes, b->nr_shapes);
    same_real(a->max_abs, b->max_abs);
    same_real(a->max_rel, b->max_rel);
    same_real(a->q99_rel, b->q99_rel);
    same_text(a->worst_array, b->worst_array);
    assert_true(a->worst_index == b->worst_index);
    assert_int_equal(a->nondeterministic_allowed, b->nondeterministic_allowed);
    same_text(a->note, b->note);
}

static void same_explanation(const struct explanation *a, const struct explanation *b)
{
    assert_int_equal(a->bound, b->bound);
    same_real(a->confidence, b->confidence);
    same_real(a->roofline_ns, b->roofline_ns);
    same_real(a->roofline_share, b->roofline_share);
    same_text(a->summary, b->summary);
    same_text(a->unexamined, b->unexamined);
    assert_int_equal(a->nr_findings, b->nr_findings);
    for (unsigned i = 0; i < a->nr_findings; i++) {
        const struct finding *f = &a->findings[i], *g = &b->findings[i];

        same_text(f->tool, g->tool);
        same_text(f->text, g->text);
        assert_int_equal(f->severity, g->severity);
        assert_int_equal(f->line, g->line);
        same_real(f->share, g->share);
        same_real(f->max_gain, g->max_gain);
        assert_int_equal(f->nr_evidence, g->nr_evidence);
        for (unsigned k = 0; k < f->nr_evidence; k++) {
            assert_int_equal(f->evidence[k].metric, g->evidence[k].metric);
            assert_int_equal(f->evidence[k].from, g->evidence[k].from);
            same_real(f->evidence[k].value, g->evidence[k].value);
        }
        assert_int_equal(f->nr_weights, g->nr_weights);
        assert_memory_equal(f->weights, g->weights, f->nr_weights * sizeof(f->weights[0]));
    }
}

static void same_option(const struct option *a, const struct option *b)
{
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->proposer, b->proposer);
    assert_int_equal(a->variant, b->variant);
    assert_memory_equal(&a->prior, &b->prior, sizeof(a->prior));
    same_text(a->what, b->what);
}

static void same_candidate(const struct candidate *a, const struct candidate *b)
{
    assert_true(a->node == b->node && a->parent == b->parent && a->seed == b->seed);
    same_option(&a->option, &b->option);
    assert_int_equal(a->source_bytes, b->source_bytes);
    same_text(a->source, b->source);
    same_text(a->proposal_note, b->proposal_note);
    assert_int_equal(a->verdict, b->verdict);
    same_text(a->verdict_text, b->verdict_text);
    assert_int_equal(a->verdict_line, b->verdict_line);
    same_compilation(&a->compilation, &b->compilation);
    same_check(&a->check, &b->check);
    assert_int_equal(a->profiled, b->profiled);
    same_profile(&a->profile, &b->profile);
    same_explanation(&a->explanation, &b->explanation);
    assert_true(a->recalled_from == b->recalled_from);
    assert_int_equal(a->nr_options, b->nr_options);
    for (unsigned i = 0; i < a->nr_options; i++) {
        same_option(&a->options[i], &b->options[i]);
    }
    same_real(a->speedup, b->speedup);
}

static void put(struct fixture *f, const struct candidate *c)
{
    if (!store_kernel(f->store, c, &f->err)) {
        fail_msg("%s", f->err.text);
    }
}

static struct candidate get(struct fixture *f, int64_t node)
{
    struct candidate c = {.arena = f->arena};
    bool found = false;

    if (!store_load_node(f->store, node, &c, &found, &f->err)) {
        fail_msg("%s", f->err.text);
    }
    assert_true(found);
    return c;
}

static void test_round_trip(void **state)
{
    struct fixture *f = *state;
    struct candidate root = full_candidate(f->arena, 0, 1), child = full_candidate(f->arena, 1, 2);
    struct candidate back, missing = {.arena = f->arena};
    const char *source;
    size_t bytes;
    int64_t nr;
    bool found = true;

    begin(f);
    assert_true(child.profile.nr_launches > 0);
    counters_set(&child.profile.launches[0], METRIC_WITHOUT_CONFLICTS, 12, PROV_MODELLED);
    child.profile.launches[0].left[CURE_CONFLICTS] =
        (struct limit){METRIC_DRAM_PCT, METRIC_STALL_LONG_PCT, 81.5f, 40};
    child.recalled = true;
    child.recalled_from = 0;
    put(f, &root);
    put(f, &child);
    reopen(f);
    back = get(f, 0);
    same_candidate(&root, &back);
    back = get(f, 1);
    same_candidate(&child, &back);
    assert_true(store_nr_nodes(f->store, &nr, &f->err));
    assert_int_equal(nr, 2);
    assert_true(store_load_source(f->store, f->arena, 1, &source, &bytes, &f->err));
    assert_int_equal(bytes, child.source_bytes);
    assert_string_equal(source, child.source);
    assert_true(store_load_node(f->store, 2, &missing, &found, &f->err));
    assert_false(found);
    assert_false(store_load_source(f->store, f->arena, 2, &source, &bytes, &f->err));
}

/* What a resumed run reads is what the whole node says. */
static void test_what_a_search_is_told(void **state)
{
    struct fixture *f = *state;
    struct candidate root = full_candidate(f->arena, 0, 1), child = full_candidate(f->arena, 1, 2);
    static const enum metric energy[] = {
        METRIC_ENERGY_J, METRIC_ENERGY_LOW_J, METRIC_ENERGY_HIGH_J};
    struct candidate whole, told = {.arena = f->arena};
    bool found;

    begin(f);
    for (unsigned i = 0; i < 3; i++) {
        counters_set(&child.profile.total, energy[i], 1 + i / 8.0, PROV_MEASURED);
    }
    put(f, &root);
    put(f, &child);
    whole = get(f, 1);
    assert_true(store_load_told(f->store, 1, &told, &found, &f->err) && found);
    assert_true(told.node == 1 && told.parent == 0 && told.recalled == whole.recalled);
    assert_int_equal(told.verdict, whole.verdict);
    assert_int_equal(told.option.variant, whole.option.variant);
    same_real(told.speedup, whole.speedup);
    same_real(told.profile.time_ns, whole.profile.time_ns);
    same_real(told.profile.timing.ratio_low, whole.profile.timing.ratio_low);
    for (unsigned i = 0; i < 3; i++) {
        same_real(counters_get(&told.profile.total, energy[i]), 1 + i / 8.0);
    }
    assert_int_equal(told.nr_options, whole.nr_options);
    for (unsigned i = 0; i < told.nr_options; i++) {
        assert_int_equal(told.options[i].variant, whole.options[i].variant);
        same_text(told.options[i].what, whole.options[i].what);
    }
    assert_true(store_load_told(f->store, 2, &told, &found, &f->err));
    assert_false(found);
}

/* Steps of SQLite's machine for a look-up that finds its node, and for one that finds none. */
static int steps_to_recall(struct fixture *f, uint64_t key)
{
    struct candidate c = {.arena = f->arena, .compilation = {.key = {key, 2}}};

    if (f->store->statements[SQL_NODE_BY_KEY]) {
        sqlite3_stmt_status(f->store->statements[SQL_NODE_BY_KEY], SQLITE_STMTSTATUS_VM_STEP, true);
    }
    assert_true(store_recall(f->store, &c, &f->err));
    return sqlite3_stmt_status(
        f->store->statements[SQL_NODE_BY_KEY], SQLITE_STMTSTATUS_VM_STEP, true);
}

static void test_an_equal_node_is_found_without_a_search(void **state)
{
    struct fixture *f = *state;
    int found = 0, missed = 0;

    begin(f);
    for (int64_t node = 0; node < 120; node++) {
        struct candidate c = full_candidate(f->arena, node, (uint64_t)node + 1);

        c.recalled = node > 10 && node % 2; /* many nodes equal the second one */
        c.recalled_from = c.recalled ? 1 : -1;
        c.compilation.key.high = c.recalled ? 3 : (uint64_t)node + 2;
        put(f, &c);
        if (node == 9) {
            found = steps_to_recall(f, 3);
            missed = steps_to_recall(f, 999);
        }
    }
    assert_int_equal(steps_to_recall(f, 3), found);
    assert_int_equal(steps_to_recall(f, 999), missed);
}

static void test_dead_candidate(void **state)
{
    struct fixture *f = *state;
    struct candidate root = full_candidate(f->arena, 0, 1), back;
    struct candidate dead = {.arena = f->arena,
        .node = 1,
        .option = {ACTION_FUSE, PROPOSER_MODEL, 0, 0.5f, NULL},
        .recalled_from = -1};

    begin(f);
    put(f, &root);
    candidate_fail(&dead, VERDICT_NO_KERNEL, 12, "k.cu:12: %s", "nothing there");
    put(f, &dead);
    back = get(f, 1);
    same_candidate(&dead, &back);
    assert_null(back.source);
    assert_int_equal(back.verdict, VERDICT_NO_KERNEL);
    assert_string_equal(back.verdict_text, "k.cu:12: nothing there");
}

/* The plan is not stored, and is there again. */
static void test_plan_comes_back(void **state)
{
    struct fixture *f = *state;
    static const char text[] = "#pragma keet size N = 1000\n"
                               "#pragma keet in x : f32[N]\n"
                               "#pragma keet out y : f32[N]\n"
                               "#pragma keet tune T = 128 in {64, 128}\n"
                               "#pragma keet launch f<<<ceil_div(N, T), T>>>(x, y, N)\n"
                               "__global__ void f(const float *x, float *y, int n) {}\n";
    struct candidate c = {.arena = f->arena,
        .parent = -1,
        .option = {.action = ACTION_NONE},
        .source = text,
        .source_bytes = sizeof(text) - 1,
        .recalled_from = -1};
    struct candidate back = {.arena = f->arena};
    struct task task;
    bool found;

    if (!task_parse(&task, f->arena, "f.cu", text, sizeof(text) - 1, &f->err)) {
        fail_msg("%s", f->err.text);
    }
    begin(f);
    put(f, &c);
    back.task = &task;
    assert_true(store_load_node(f->store, 0, &back, &found, &f->err));
    assert_int_equal(back.plan.nr_launches, 1);
    assert_string_equal(back.plan.launches[0].kernel, "f");
    assert_int_equal(back.plan.nr_tunes, 1);
    assert_int_equal(back.plan.tunes[0].value, 128);
}

static int64_t ask_number(struct store *store, const char *sql)
{
    sqlite3_stmt *stmt;
    int64_t value;

    assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static void test_sources_are_stored_once(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 1);

    begin(f);
    put(f, &a);
    put(f, &b);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM source"), 1);
    assert_int_equal(ask_number(f->store, "PRAGMA foreign_keys"), 1);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM pragma_journal_mode"
                                          " WHERE journal_mode = 'wal'"),
        1);
    assert_int_equal(ask_number(f->store, "PRAGMA user_version"), SCHEMA_VERSION);
    /* The tables that later stages fill are there. */
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM model_call"), 0);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM lesson"), 0);
}

static void test_a_node_twice_is_refused_whole(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 0, 2);
    struct candidate orphan = full_candidate(f->arena, 5, 3), back;

    begin(f);
    put(f, &a);
    assert_false(store_kernel(f->store, &b, &f->err));
    assert_non_null(strstr(f->err.text, f->path));
    assert_false(store_kernel(f->store, &orphan, &f->err)); /* its parent, 4, is not there */
    assert_non_null(strstr(f->err.text, "node 5"));
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM source"), 1);
    back = get(f, 0);
    same_candidate(&a, &back);
}

static void test_recall(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 2);
    struct candidate twin = {.arena = f->arena, .source = "1\n2\n3\n", .source_bytes = 6};
    struct candidate longer = {.arena = f->arena, .source = "1\n2\n3\n4\n", .source_bytes = 8};
    struct candidate stranger = {.arena = f->arena};

    begin(f);
    put(f, &a);
    candidate_fail(&b, VERDICT_RACE, 2, "k.cu:2: race");
    put(f, &b);

    twin.compilation.key = b.compilation.key;
    assert_true(store_recall(f->store, &twin, &f->err));
    assert_int_equal(twin.recalled_from, 1);
    assert_int_equal(twin.verdict, VERDICT_RACE);
    assert_int_equal(twin.verdict_line, 2);
    assert_true(twin.profiled);
    same_check(&b.check, &twin.check);
    same_profile(&b.profile, &twin.profile);

    longer.compilation.key = a.compilation.key;
    assert_true(store_recall(f->store, &longer, &f->err));
    assert_int_equal(longer.recalled_from, 0);
    assert_int_equal(longer.verdict, VERDICT_OK);
    assert_int_equal(longer.profile.total.nr_lines, 0); /* they would name the wrong lines */
    same_real(longer.profile.time_ns, a.profile.time_ns);

    stranger.compilation.key = (struct hash){99, 99};
    assert_true(store_recall(f->store, &stranger, &f->err));
    assert_int_equal(stranger.recalled_from, -1);
    assert_false(stranger.profiled);
    stranger.compilation.key = (struct hash){0, 0}; /* never compiled: equals nothing */
    assert_true(store_recall(f->store, &stranger, &f->err));
    assert_int_equal(stranger.recalled_from, -1);
}

static void test_recall_stays_in_the_run(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), twin = {.arena = f->arena};
    struct run_info run = run_values;

    begin(f);
    put(f, &a);
    assert_true(store_begin_run(f->store, &run, &f->err));
    twin.compilation.key = a.compilation.key;
    assert_true(store_recall(f->store, &twin, &f->err));
    assert_int_equal(twin.recalled_from, -1);
}

static void test_runs(void **state)
{
    struct fixture *f = *state;
    struct run_info run = run_values, found_run = {0}, other;
    bool found = true;
    int64_t nr;

    open_store(f);
    assert_false(store_nr_nodes(f->store, &nr, &f->err));
    assert_true(store_find_run(f->store, f->arena, &found_run, &found, &f->err));
    assert_false(found);
    assert_true(store_begin_run(f->store, &run, &f->err));
    run.policy = "greedy";
    assert_true(store_begin_run(f->store, &run, &f->err));
    store_close(f->store);
    open_store(f);
    assert_true(store_find_run(f->store, f->arena, &found_run, &found, &f->err));
    assert_true(found);
    assert_int_equal(found_run.id, 2);
    assert_string_equal(found_run.policy, "greedy");
    assert_string_equal(found_run.original, run_values.original);
    assert_true(found_run.seed == run_values.seed);
    assert_int_equal(strlen(found_run.started), 20);
    assert_false(found_run.done);
    assert_true(store_end_run(f->store, "budget", 0, &f->err));
    assert_true(store_find_run(f->store, f->arena, &found_run, &found, &f->err));
    assert_true(found_run.done);

    other = found_run;
    other.budget = "100";
    assert_true(store_same_run(&found_run, &other, &f->err));
    other.seed = 7;
    assert_false(store_same_run(&found_run, &other, &f->err));
    assert_non_null(strstr(f->err.text, "--seed 18364758544493064720, not 7"));
    other = found_run;
    other.device = "gpu:0";
    assert_false(store_same_run(&found_run, &other, &f->err));
    assert_non_null(strstr(f->err.text, "--device emu:h100, not gpu:0"));
    other = found_run;
    other.original = "x";
    assert_false(store_same_run(&found_run, &other, &f->err));
    assert_non_null(strstr(f->err.text, "changed"));
}

/* The hash sees the tree, and not the clock. */
static void test_tree_hash(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 2);
    struct run_info run = run_values;
    char first[33], again[33], other[33];

    begin(f);
    put(f, &a);
    assert_true(store_tree_hash(f->store, other, &f->err));
    put(f, &b);
    assert_true(store_tree_hash(f->store, first, &f->err));
    assert_int_equal(strlen(first), 32);
    assert_string_not_equal(first, other);

    a.compilation.compile_ms = 99; /* a wall time */
    assert_true(store_begin_run(f->store, &run, &f->err));
    put(f, &a);
    put(f, &b);
    assert_true(store_tree_hash(f->store, again, &f->err));
    assert_string_equal(first, again);

    b.speedup = nextafter(b.speedup, 9);
    assert_true(store_begin_run(f->store, &run, &f->err));
    put(f, &a);
    put(f, &b);
    assert_true(store_tree_hash(f->store, again, &f->err));
    assert_string_not_equal(first, again);
}

static void expect_refusal(struct fixture *f, const char *why)
{
    f->store = store_open(f->path, &f->err);
    assert_null(f->store);
    assert_non_null(strstr(f->err.text, f->path));
    if (!strstr(f->err.text, why)) {
        fail_msg("'%s' does not say '%s'", f->err.text, why);
    }
}

static void write_file(const char *path, long at, const void *bytes, size_t len)
{
    FILE *file = fopen(path, at < 0 ? "wb" : "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, at < 0 ? 0 : at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void test_not_a_database(void **state)
{
    struct fixture *f = *state;
    char junk[4096];

    memset(junk, 'x', sizeof(junk));
    write_file(f->path, -1, junk, sizeof(junk));
    expect_refusal(f, "not a keet-opt database");
}

static void test_newer_schema(void **state)
{
    struct fixture *f = *state;

    open_store(f);
    assert_int_equal(
        sqlite3_exec(f->store->db, "PRAGMA user_version = 12", NULL, NULL, NULL), SQLITE_OK);
    store_close(f->store);
    expect_refusal(f, "newer keet-opt (schema 12, this one knows 11)");
}

/* A file of the first version opens, keeps its rows, and takes what the second one brought. */
static void test_old_schema(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema_changes[0], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
            "PRAGMA application_id = 1801807220; PRAGMA user_version = 1;"
            "INSERT INTO run (kernel_path, original, device, policy, version, seed, budget,"
            " started) VALUES ('k.cu', 'text', 'emu:h100', 'mcts', '0.1.0', 1, '50', 'now');"
            "INSERT INTO model_call (run, model, prompt, called) VALUES (1, 'm', 'p', 'now'),"
            " (1, 'm', 'q', 'now');"
            "INSERT INTO lesson (run, text, learned) VALUES (1, 'old', 'now')",
            NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    open_store(f);
    assert_int_equal(ask_number(f->store, "PRAGMA user_version"), SCHEMA_VERSION);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM model_call WHERE number = -1"), 2);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM lesson WHERE text = 'old'"), 1);
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM pick"), 0);
    assert_int_equal(ask_number(f->store, "SELECT seed FROM run"), 1);
}

/* What is under way is there until its node is stored, the run ends, or a run goes on. */
static void test_trials(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 2),
                     c = full_candidate(f->arena, 2, 3);
    struct store_trial *trials;
    unsigned nr;

    begin(f);
    put(f, &a);
    b.option.action = ACTION_UNROLL;
    b.option.what = "by 4";
    b.parent = c.parent = 0;
    assert_true(store_note_trial(f->store, &b, STAGE_WRITTEN, &f->err));
    assert_true(store_note_trial(f->store, &b, STAGE_EVALUATED, &f->err));
    assert_true(store_note_trial(f->store, &c, STAGE_WRITTEN, &f->err));
    assert_true(store_list_trials(f->store, f->arena, &trials, &nr, &f->err));
    assert_int_equal(nr, 2);
    assert_int_equal(trials[0].number, 1);
    assert_int_equal(trials[0].parent, 0);
    assert_string_equal(trials[0].action, "unroll");
    assert_string_equal(trials[0].what, "by 4");
    assert_string_equal(trials[0].stage, "evaluated");
    assert_string_equal(trials[1].stage, "written");
    assert_true(trials[0].since_ms > INT64_C(1500000000000));

    put(f, &b);
    assert_true(store_list_trials(f->store, f->arena, &trials, &nr, &f->err));
    assert_int_equal(nr, 1);
    assert_int_equal(trials[0].number, 2);
    assert_true(store_go_on(f->store, "", "9", &f->err));
    assert_true(store_list_trials(f->store, f->arena, &trials, &nr, &f->err));
    assert_int_equal(nr, 0);
    assert_true(store_note_trial(f->store, &c, STAGE_WRITTEN, &f->err));
    assert_true(store_end_run(f->store, "budget", 1, &f->err));
    assert_int_equal(ask_number(f->store, "SELECT count(*) FROM trial"), 0);
}

/* Calls come back as they went in, before their node is stored and after. */
static void test_calls(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 2), got;
    struct model_call calls[2] = {
        {.purpose = "write",
            .model = "script:x",
            .prompt = "the prompt",
            .error = "not yet",
            .outcome = "asked",
            .cost = (double)NAN},
        {.purpose = "repair",
            .model = "script:x",
            .prompt = "again",
            .error = "gone",
            .outcome = "failed",
            .tokens_in = 7,
            .tokens_estimated = true,
            .latency_ms = 3,
            .cost = (double)NAN,
            .verdict = VERDICT_NO_KERNEL},
    };
    const struct model_call answered = {.purpose = "write",
        .model = "script:x",
        .prompt = "the prompt",
        .reply = "the reply",
        .outcome = "ok",
        .tokens_in = 1000,
        .tokens_out = 200,
        .tokens_cached = 800,
        .lost_in = 31,
        .lost_out = 17,
        .attempts = 3,
        .latency_ms = 1234.5,
        .waited_ms = 987.25,
        .queued_ms = 0.5,
        .cost = 0.25,
        .verdict = VERDICT_NO_COMPILE,
        .verdict_text = "k.cu:3: no"};
    struct store_call *list;
    unsigned nr;
    bool found;

    begin(f);
    put(f, &a);
    b.calls = calls;
    b.nr_calls = 2;
    assert_true(store_save_call(f->store, &b, 0, &f->err));
    assert_true(store_save_call(f->store, &b, 1, &f->err));
    assert_true(store_list_calls(f->store, f->arena, &list, &nr, &f->err));
    assert_int_equal(nr, 2);
    assert_null(list[0].action);
    assert_string_equal(list[0].call.outcome, "asked");
    /* An answer that comes after a later call was begun does not change the order. */
    calls[0] = answered;
    assert_true(store_save_call(f->store, &b, 0, &f->err));
    assert_true(store_list_calls(f->store, f->arena, &list, &nr, &f->err));
    assert_int_equal(nr, 2);
    assert_string_equal(list[0].call.purpose, "write");
    put(f, &b);
    got = (struct candidate){.arena = f->arena};
    assert_true(store_load_node(f->store, 1, &got, &found, &f->err));
    assert_int_equal(got.nr_calls, 2);
    assert_string_equal(got.calls[0].reply, "the reply");
    assert_int_equal(got.calls[0].tokens_cached, 800);
    assert_int_equal(got.calls[0].verdict, VERDICT_NO_COMPILE);
    assert_float_equal(got.calls[0].cost, 0.25, 0);
    assert_null(got.calls[0].error);
    assert_string_equal(got.calls[0].outcome, "ok");
    assert_int_equal(got.calls[0].lost_in, 31);
    assert_int_equal(got.calls[0].lost_out, 17);
    assert_int_equal(got.calls[0].attempts, 3);
    assert_float_equal(got.calls[0].waited_ms, 987.25, 0);
    assert_float_equal(got.calls[0].queued_ms, 0.5, 0);
    assert_null(got.calls[1].reply);
    assert_true(isnan(got.calls[1].cost));
    assert_int_equal(candidate_nr_repairs(&got), 1);
    assert_true(store_list_calls(f->store, f->arena, &list, &nr, &f->err));
    assert_int_equal(nr, 2);
    assert_non_null(list[0].action);
}

/* A repair counts once it is answered: not its look-ups, and not the call that was under way when a
 * run was killed; the run that goes on asks again. */
static void test_what_a_budget_counts(void **state)
{
    struct fixture *f = *state;
    struct candidate a = full_candidate(f->arena, 0, 1), b = full_candidate(f->arena, 1, 2), got;
    const struct model_call call = {.model = "script:x", .prompt = "p", .cost = (double)NAN};
    static const struct {
        const char *purpose, *outcome;
    } made[] = {{"write", "ok"}, {"repair", CALL_LOOK_UP}, {"repair", CALL_ASKED}, {"write", "ok"},
        {"repair", "ok"}};
    struct model_call calls[ARRAY_SIZE(made)];
    struct store_digest digest;
    bool found;

    for (unsigned i = 0; i < ARRAY_SIZE(made); i++) {
        calls[i] = call;
        calls[i].purpose = made[i].purpose;
        calls[i].outcome = made[i].outcome;
    }
    begin(f);
    put(f, &a);
    b.calls = calls;
    b.nr_calls = ARRAY_SIZE(made);
    put(f, &b);
    got = (struct candidate){.arena = f->arena};
    assert_true(store_load_node(f->store, 1, &got, &found, &f->err));
    assert_int_equal(got.nr_calls, ARRAY_SIZE(made));
    assert_int_equal(candidate_nr_repairs(&got), 1);
    assert_true(store_digest(f->store, &digest, &f->err));
    assert_int_equal(digest.nr_evaluated, 2);
}

static void test_database_of_another_program(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE bookmark (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    expect_refusal(f, "another program");
}

static void test_folder_that_is_not_there(void **state)
{
    struct fixture *f = *state;

    snprintf(f->path, sizeof(f->path), "%s/no/run.db", f->folder);
    expect_refusal(f, "its folder exists");
}

static void test_corrupted_file(void **state)
{
    struct fixture *f = *state;
    char junk[4096 * 40];
    int64_t nr;
    bool ok = true;

    begin(f);
    for (int64_t i = 0; i < 20; i++) {
        struct candidate c = full_candidate(f->arena, i, (uint64_t)i);

        put(f, &c);
    }
    store_close(f->store);
    f->store = NULL;
    memset(junk, 0x5a, sizeof(junk));
    write_file(f->path, 4096, junk, sizeof(junk));
    f->store = store_open(f->path, &f->err);
    if (f->store) {
        struct run_info run;
        bool found;

        ok = store_find_run(f->store, f->arena, &run, &found, &f->err) &&
             store_nr_nodes(f->store, &nr, &f->err);
        assert_false(ok);
    }
    assert_non_null(strstr(f->err.text, "damaged"));
    assert_non_null(strstr(f->err.text, f->path));
}

static void test_locked(void **state)
{
    struct fixture *f = *state;
    struct run_info run = run_values;
    sqlite3 *other;

    open_store(f);
    assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(f->store->db, 20); /* instead of the usual 5 s */
    assert_false(store_begin_run(f->store, &run, &f->err));
    assert_non_null(strstr(f->err.text, "another process has locked it"));
    assert_non_null(strstr(f->err.text, f->path));
    sqlite3_close(other);
    assert_true(store_begin_run(f->store, &run, &f->err));
}

static void test_disk_full(void **state)
{
    struct fixture *f = *state;
    struct candidate c = full_candidate(f->arena, 0, 1);
    int64_t nr = -1;

    begin(f);
    /* A full disk, as SQLite sees it: no page more. */
    c.source = arena_alloc(f->arena, 1 << 20);
    memset((char *)c.source, 'x', 1 << 20);
    c.source_bytes = 1 << 20;
    ask_number(f->store, "PRAGMA max_page_count = 1");
    assert_false(store_kernel(f->store, &c, &f->err));
    assert_non_null(strstr(f->err.text, "disk is full"));
    ask_number(f->store, "PRAGMA max_page_count = 1000000");
    assert_true(store_nr_nodes(f->store, &nr, &f->err));
    assert_int_equal(nr, 0);
    put(f, &c); /* and it goes on when there is space again */
}

/* In a child that is nobody, since permissions do not bind root. */
static void test_read_only(void **state)
{
    struct fixture *f = *state;
    int status;

    open_store(f);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(chmod(f->folder, 0755), 0);
    assert_int_equal(chmod(f->path, 0444), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(2);
        }
        struct store *store = store_open(f->path, &f->err);

        _exit(!store && strstr(f->err.text, "cannot be written") && strstr(f->err.text, f->path)
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The child stores nodes until it is killed, and says so by a byte for each. */
static void store_until_killed(const char *path, uint64_t seed, int say)
{
    struct err err;
    struct arena *arena = arena_create();
    struct store *store = store_open(path, &err);
    struct run_info run;
    int64_t nr = 0;
    bool found;

    if (!store || !store_find_run(store, arena, &run, &found, &err) || !found ||
        !store_nr_nodes(store, &nr, &err)) {
        _exit(3);
    }
    for (;; nr++) {
        struct candidate c = full_candidate(arena, nr, seed + (uint64_t)nr);

        if (!store_kernel(store, &c, &err)) {
            _exit(4);
        }
        if (write(say, "", 1) != 1) {
            _exit(5);
        }
        arena_reset(arena);
    }
}

/* Killed at 20 random instants: the file is whole, the nodes are 0..n-1, and each has all parts. */
static void test_kill_leaves_whole_nodes(void **state)
{
    struct fixture *f = *state;
    struct rng rng;
    int64_t nr = 0;

    rng_seed(&rng, (uint64_t)getpid(), 0);
    begin(f);
    for (unsigned round = 0; round < 20; round++) {
        struct timespec wait = {.tv_nsec = (long)rng_below(&rng, 4 * 1000 * 1000)};
        uint64_t nr_seen = rng_below(&rng, 6);
        int64_t before = nr;
        int status, said[2];
        char byte;

        store_close(f->store);
        f->store = NULL;
        assert_int_equal(pipe(said), 0);
        pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            store_until_killed(f->path, 1000, said[1]);
        }
        close(said[1]);
        while (nr_seen > 0 && read(said[0], &byte, 1) == 1) {
            nr_seen--;
        }
        nanosleep(&wait, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        close(said[0]);
        assert_true(WIFSIGNALED(status)); /* not ended by an error */
        reopen(f);
        assert_int_equal(ask_number(f->store, "SELECT count(*) FROM pragma_integrity_check"
                                              " WHERE integrity_check = 'ok'"),
            1);
        assert_int_equal(ask_number(f->store, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
        assert_true(store_nr_nodes(f->store, &nr, &f->err));
        assert_true(nr >= before);
        if (nr > 0) {
            struct candidate expected = full_candidate(f->arena, nr - 1, 1000 + (uint64_t)nr - 1);
            struct candidate last = get(f, nr - 1);

            same_candidate(&expected, &last);
            assert_int_equal(ask_number(f->store, "SELECT max(number) + 1 FROM node"), nr);
            assert_int_equal(ask_number(f->store, "SELECT count(*) FROM option"), 12 * nr);
        }
    }
    print_message("%lld nodes survived 20 kills\n", (long long)nr);
    assert_true(nr > 0);
}

/* What a stranger put into a database is an error that names the fault, and never a crash, a hang
 * or a table of 32 GB. */
static void test_hostile_databases(void **state)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"ALTER TABLE node RENAME TO other; CREATE VIEW node AS WITH RECURSIVE r(id, run, number,"
         " verdict, speedup) AS (SELECT 1, 1, 1, 'ok', 1.0 UNION ALL SELECT id + 1, 1, number + 1,"
         " 'ok', 1.0 FROM r) SELECT * FROM r",
            "not those that keet-opt makes"},
        {"CREATE TRIGGER t AFTER INSERT ON node BEGIN DELETE FROM run; END",
            "not those that keet-opt makes"},
        {"CREATE TABLE extra (x)", "not those that keet-opt makes"},
        {"DROP INDEX compilation_key", "not those that keet-opt makes"},
        {"ALTER TABLE pick ADD COLUMN x AS (nr_told + 1)", "not those that keet-opt makes"},
        {"PRAGMA user_version = -1", "newer keet-opt"},
        {"PRAGMA user_version = 3", "not those that keet-opt makes"},
        {"UPDATE node SET number = 4000000000 WHERE number = 2", "a node 4000000000 among 2 nodes"},
        {"INSERT INTO pick (run, number, nr_told) VALUES (1, 4000000000, 0)",
            "a node 4000000000 among 2 nodes"},
        {"INSERT INTO pick (run, number, nr_told) VALUES (1, 3, -9000000000000000000)",
            "a number out of its range"},
        {"UPDATE node SET number = -5 WHERE number = 2", "a number out of its range"},
        {"UPDATE node SET speedup = 9e999", "an infinite number"},
        {"UPDATE node SET prior = -9e999", "an infinite number"},
        {"UPDATE counter SET value = 9e999", "an infinite number"},
        {"UPDATE measurement SET time_ns = 9e999", "an infinite number"},
        {"UPDATE measurement SET nr_launches = 4000000000", "a number out of its range"},
        {"UPDATE evidence SET finding = finding + 4000000", "a number out of its range"},
        {"UPDATE weight SET finding = finding - 100", "a number out of its range"},
        {"UPDATE finding SET severity = 77", "a number out of its range"},
        {"UPDATE kernel SET registers = -1", "a number out of its range"},
        {"UPDATE node SET parent = 2", "a number out of its range"},
        {"UPDATE node SET verdict = 'fine'", "unknown verdict 'fine'"},
        {"INSERT INTO pick (run, number, nr_told, kind) VALUES (1, 1, 0, 'fine')",
            "unknown kind of pick"},
        {"UPDATE option SET action = 'none of ours'", "unknown move"},
    };
    struct fixture *f = *state;

    begin(f);
    for (int64_t i = 0; i < 3; i++) {
        struct candidate c = full_candidate(f->arena, i, (uint64_t)i);

        put(f, &c);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[sizeof(f->path) + 8], copy[sizeof(path) + 32];
        struct run_info run;
        struct store_order order;
        struct store_digest digest;
        struct store_speed *speeds;
        struct candidate c;
        bool found, ok;
        unsigned nr;
        sqlite3 *db;

        snprintf(path, sizeof(path), "%s.%zu", f->path, i);
        snprintf(copy, sizeof(copy), "VACUUM INTO '%s'", path);
        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, copy, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", cases[i].sql, sqlite3_errmsg(db));
        sqlite3_close(db);
        f->err.text[0] = '\0';
        struct store *store = store_open(path, &f->err);

        ok = store && store_find_run(store, f->arena, &run, &found, &f->err) && found &&
             store_load_order(store, f->arena, &order, &f->err) &&
             store_digest(store, &digest, &f->err) &&
             store_list_speeds(store, f->arena, &speeds, &nr, &f->err);
        for (int64_t n = 0; ok && n < 3; n++) {
            c = (struct candidate){.arena = f->arena};
            ok = store_load_node(store, n, &c, &found, &f->err);
        }
        if (ok || !strstr(f->err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].sql, ok ? "is taken" : f->err.text);
        store_close(store);
        store_remove(path);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_what_a_search_is_told),
        TEST(test_an_equal_node_is_found_without_a_search),
        TEST(test_dead_candidate),
        TEST(test_plan_comes_back),
        TEST(test_sources_are_stored_once),
        TEST(test_a_node_twice_is_refused_whole),
        TEST(test_recall),
        TEST(test_recall_stays_in_the_run),
        TEST(test_runs),
        TEST(test_tree_hash),
        TEST(test_not_a_database),
        TEST(test_newer_schema),
        TEST(test_old_schema),
        TEST(test_trials),
        TEST(test_calls),
        TEST(test_what_a_budget_counts),
        TEST(test_database_of_another_program),
        TEST(test_folder_that_is_not_there),
        TEST(test_corrupted_file),
        TEST(test_locked),
        TEST(test_disk_full),
        TEST(test_read_only),
        TEST(test_hostile_databases),
        TEST(test_kill_leaves_whole_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
