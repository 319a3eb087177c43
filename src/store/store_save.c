/* Owns saving a node: all its parts in one transaction. */
#include "store/db.h"

#include "base/clock.h"

struct hash db_source_hash(const char *source, size_t bytes)
{
    return hash_bytes(source, bytes, 0);
}

static bool save_source(struct store *store, const struct candidate *c, struct err *err)
{
    if (!c->source) {
        return true;
    }
    struct query q = query_start(store, SQL_ADD_SOURCE);

    put_hash(&q, db_source_hash(c->source, c->source_bytes));
    put_text_n(&q, c->source, c->source_bytes);
    return query_run(&q, "storing a source", err);
}

static bool save_node(struct store *store, const struct candidate *c, struct err *err)
{
    char now[32];
    struct query q = query_start(store, SQL_ADD_NODE);

    clock_utc(now);
    put_int(&q, store->run);
    put_int(&q, c->node);
    if (c->parent < 0) {
        put_null(&q);
    } else {
        put_int(&q, c->parent);
    }
    put_int(&q, (int64_t)c->seed);
    put_text(&q, action_name(c->option.action));
    put_text(&q, proposer_name(c->option.proposer));
    put_int(&q, c->option.variant);
    put_real(&q, (double)c->option.prior);
    put_text(&q, c->option.what);
    if (c->source) {
        put_hash(&q, db_source_hash(c->source, c->source_bytes));
    } else {
        put_null(&q);
    }
    put_text(&q, c->proposal_note);
    put_text(&q, verdict_name(c->verdict));
    put_text(&q, c->verdict_text);
    put_int(&q, c->verdict_line);
    if (!c->recalled) {
        put_null(&q);
    } else {
        put_int(&q, c->recalled_from);
    }
    put_real(&q, c->speedup);
    put_text(&q, now);
    return query_run(&q, "storing a node", err);
}

static bool save_compilation(
    struct store *store, int64_t id, const struct compilation *compilation, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_COMPILATION);
    const struct hash none = {0};

    put_int(&q, id);
    put_hash(&q, compilation->key);
    put_int(&q, (int64_t)compilation->ptx_bytes);
    put_hash(&q, compilation->ptx ? hash_bytes(compilation->ptx, compilation->ptx_bytes, 0) : none);
    put_int(&q, (int64_t)compilation->cubin_bytes);
    put_hash(&q,
        compilation->cubin ? hash_bytes(compilation->cubin, compilation->cubin_bytes, 0) : none);
    put_text(&q, compilation->log);
    put_real(&q, compilation->compile_ms);
    put_int(&q, compilation->cached);
    if (!query_run(&q, "storing a compilation", err)) {
        return false;
    }
    for (unsigned i = 0; i < compilation->nr_kernels; i++) {
        const struct kernel_facts *kernel = &compilation->kernels[i];

        q = query_start(store, SQL_ADD_KERNEL);
        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, kernel->kernel);
        put_text(&q, kernel->lowered);
        put_int(&q, kernel->registers);
        put_int(&q, kernel->stack_bytes);
        put_int(&q, kernel->spill_store_bytes);
        put_int(&q, kernel->spill_load_bytes);
        put_int(&q, kernel->smem_static_bytes);
        put_int(&q, kernel->const_bytes);
        put_int(&q, kernel->nr_barriers);
        if (!query_run(&q, "storing a compilation", err)) {
            return false;
        }
    }
    return true;
}

static bool save_check(
    struct store *store, int64_t id, const struct check_result *check, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_CHECK);

    put_int(&q, id);
    put_int(&q, check->nr_runs);
    put_int(&q, check->nr_shapes);
    put_error(&q, check->max_abs);
    put_error(&q, check->max_rel);
    put_error(&q, check->q99_rel);
    put_text(&q, check->worst_array);
    put_int(&q, (int64_t)check->worst_index);
    put_int(&q, check->nondeterministic_allowed);
    put_text(&q, check->note);
    put_int(&q, check->timed);
    return query_run(&q, "storing a check", err);
}

static bool save_line(
    struct store *store, int64_t id, int64_t launch, const struct line_cost *line, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_LINE);

    put_int(&q, id);
    put_int(&q, launch);
    put_int(&q, line->line);
    put_int(&q, line->access_bytes);
    for (size_t i = 0; i < nr_line_cost_fields; i++) {
        put_real(&q, *(const double *)((const char *)line + line_cost_fields[i]));
    }
    return query_run(&q, "storing the costs of lines", err);
}

/* Of a time without a cause: what limits then. */
static void put_limit(struct query *q, const struct counters *counters, enum metric metric)
{
    const struct limit none = {METRIC_TIME_NS, METRIC_TIME_NS, 0, 0};
    const struct limit *limit =
        metric_is_cure(metric) ? &counters->left[metric_cure(metric)] : &none;

    if (limit->unit == METRIC_TIME_NS) {
        for (int i = 0; i < 4; i++) {
            put_null(q);
        }
        return;
    }
    put_text(q, metric_name(limit->unit));
    put_real(q, (double)limit->unit_pct);
    put_text(q, limit->wait == METRIC_TIME_NS ? NULL : metric_name(limit->wait));
    put_real(q, (double)limit->wait_pct);
}

/* Saves the counters of one launch. The sum of all launches has config NULL and launch -1. */
static bool save_counters(struct store *store, int64_t id, int64_t launch,
    const struct launch_config *config, const struct counters *counters, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_LAUNCH);

    put_int(&q, id);
    put_int(&q, launch);
    put_text(&q, config ? config->kernel : NULL);
    for (unsigned i = 0; i < 3; i++) {
        put_int(&q, config ? config->grid[i] : 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        put_int(&q, config ? config->block[i] : 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        put_int(&q, config ? config->cluster[i] : 0);
    }
    put_int(&q, config ? config->smem_bytes : 0);
    put_int(&q, (int64_t)counters->blocks_run);
    put_int(&q, (int64_t)counters->blocks_all);
    if (!query_run(&q, "storing a launch", err)) {
        return false;
    }
    for (unsigned m = 0; m < NR_METRICS; m++) {
        if (counters->metric[m].from == PROV_ABSENT) {
            continue;
        }
        q = query_start(store, SQL_ADD_COUNTER);
        put_int(&q, id);
        put_int(&q, launch);
        put_text(&q, metric_name((enum metric)m));
        put_real(&q, counters->metric[m].value);
        put_text(&q, provenance_name(counters->metric[m].from));
        put_limit(&q, counters, (enum metric)m);
        if (!query_run(&q, "storing counters", err)) {
            return false;
        }
    }
    for (unsigned i = 0; i < counters->nr_lines; i++) {
        if (!save_line(store, id, launch, &counters->lines[i], err)) {
            return false;
        }
    }
    return true;
}

/* Saves no row when no time was sampled or refused: the emulator's times are modelled. */
static bool save_timing(
    struct store *store, int64_t id, const struct profile_timing *t, struct err *err)
{
    struct query q;

    if (t->nr_samples == 0 && !t->refused)
        return true;
    q = query_start(store, SQL_ADD_TIMING);
    put_int(&q, id);
    put_int(&q, t->nr_samples);
    put_int(&q, t->nr_dropped);
    put_real(&q, t->standard_error);
    put_real(&q, t->baseline_ns);
    put_real(&q, t->ratio);
    put_real(&q, t->ratio_low);
    put_real(&q, t->ratio_high);
    put_int(&q, t->refused);
    put_real(&q, t->clock_low_mhz);
    put_real(&q, t->clock_high_mhz);
    put_real(&q, t->baseline_clock_low_mhz);
    put_real(&q, t->baseline_clock_high_mhz);
    put_real(&q, t->temperature_low_c);
    put_real(&q, t->temperature_high_c);
    put_int(&q, (int64_t)t->throttle);
    put_text(&q, t->note);
    return query_run(&q, "storing how a time was taken", err);
}

static bool save_profile(
    struct store *store, int64_t id, const struct profile *profile, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_MEASUREMENT);

    put_int(&q, id);
    put_int(&q, profile->nr_launches);
    put_int(&q, profile->longest);
    put_real(&q, profile->time_ns);
    put_real(&q, profile->time_low_ns);
    put_real(&q, profile->time_high_ns);
    put_text(&q, provenance_name(profile->time_from));
    put_text(&q, profile->no_counters);
    put_text(&q, profile->no_energy);
    if (!query_run(&q, "storing a measurement", err) ||
        !save_timing(store, id, &profile->timing, err) ||
        !save_counters(store, id, -1, NULL, &profile->total, err)) {
        return false;
    }
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        if (!save_counters(store, id, i, &profile->configs[i], &profile->launches[i], err)) {
            return false;
        }
    }
    return true;
}

static bool save_finding(
    struct store *store, int64_t id, unsigned seq, const struct finding *finding, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_FINDING);

    put_int(&q, id);
    put_int(&q, seq);
    put_text(&q, finding->tool);
    put_int(&q, finding->severity);
    put_int(&q, finding->line);
    put_text(&q, finding->text);
    put_real(&q, finding->share);
    put_real(&q, finding->max_gain);
    if (!query_run(&q, "storing a finding", err)) {
        return false;
    }
    for (unsigned i = 0; i < finding->nr_evidence; i++) {
        const struct evidence *evidence = &finding->evidence[i];

        q = query_start(store, SQL_ADD_EVIDENCE);
        put_int(&q, id);
        put_int(&q, seq);
        put_int(&q, i);
        put_text(&q, metric_name(evidence->metric));
        put_real(&q, evidence->value);
        put_text(&q, provenance_name(evidence->from));
        if (!query_run(&q, "storing evidence", err)) {
            return false;
        }
    }
    for (unsigned i = 0; i < finding->nr_weights; i++) {
        q = query_start(store, SQL_ADD_WEIGHT);
        put_int(&q, id);
        put_int(&q, seq);
        put_int(&q, i);
        put_text(&q, action_name(finding->weights[i].action));
        put_real(&q, (double)finding->weights[i].weight);
        if (!query_run(&q, "storing weights", err)) {
            return false;
        }
    }
    return true;
}

static bool save_explanation(
    struct store *store, int64_t id, const struct explanation *explanation, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_EXPLANATION);

    put_int(&q, id);
    put_text(&q, bound_name(explanation->bound));
    put_real(&q, explanation->confidence);
    put_real(&q, explanation->roofline_ns);
    put_real(&q, explanation->roofline_share);
    put_text(&q, explanation->summary);
    put_text(&q, explanation->unexamined);
    if (!query_run(&q, "storing an explanation", err)) {
        return false;
    }
    for (unsigned i = 0; i < explanation->nr_findings; i++) {
        if (!save_finding(store, id, i, &explanation->findings[i], err)) {
            return false;
        }
    }
    return true;
}

static bool save_options(
    struct store *store, int64_t id, const struct candidate *c, struct err *err)
{
    for (unsigned i = 0; i < c->nr_options; i++) {
        const struct option *option = &c->options[i];
        struct query q = query_start(store, SQL_ADD_OPTION);

        put_int(&q, id);
        put_int(&q, i);
        put_text(&q, action_name(option->action));
        put_text(&q, proposer_name(option->proposer));
        put_int(&q, option->variant);
        put_real(&q, (double)option->prior);
        put_text(&q, option->what);
        if (!query_run(&q, "storing options", err)) {
            return false;
        }
    }
    return true;
}

static bool end_trial(struct store *store, int64_t number, struct err *err)
{
    struct query q = query_start(store, SQL_END_TRIAL);

    put_int(&q, store->run);
    put_int(&q, number);
    return query_run(&q, "storing a node", err);
}

static bool save_all(struct store *store, const struct candidate *c, struct err *err)
{
    if (!save_source(store, c, err) || !save_node(store, c, err)) {
        return false;
    }
    int64_t id = sqlite3_last_insert_rowid(store->db);

    return save_compilation(store, id, &c->compilation, err) &&
           save_check(store, id, &c->check, err) &&
           (!c->profiled || save_profile(store, id, &c->profile, err)) &&
           save_explanation(store, id, &c->explanation, err) && save_options(store, id, c, err) &&
           calls_save(store, id, c, err) && end_trial(store, c->node, err);
}

/* Its own row and its parts, but for what was compiled and the moves that it offers. */
static bool save_anew(struct store *store, const struct candidate *c,
    const struct store_revision *revision, struct err *err)
{
    struct query q = query_start(store, SQL_FIND_NODE);
    int64_t id;
    bool row;

    put_int(&q, store->run);
    put_int(&q, c->node);
    if (!query_next(&q, &row, "revising a node", err)) {
        return false;
    }
    if (!row) {
        return err_set(err, "%s: the node is missing in the database", store->path);
    }
    id = get_int(&q);
    query_end(&q);
    for (enum sql sql = SQL_FORGET_WEIGHTS; sql <= SQL_FORGET_CHECK; sql++) {
        q = query_start(store, sql);
        put_int(&q, id);
        if (!query_run(&q, "revising a node", err)) {
            return false;
        }
    }
    q = query_start(store, SQL_REVISE_NODE);
    put_text(&q, verdict_name(c->verdict));
    put_text(&q, c->verdict_text);
    put_int(&q, c->verdict_line);
    put_real(&q, c->speedup);
    put_int(&q, id);
    if (!query_run(&q, "revising a node", err) || !save_check(store, id, &c->check, err) ||
        (c->profiled && !save_profile(store, id, &c->profile, err)) ||
        !save_explanation(store, id, &c->explanation, err) || !calls_save(store, id, c, err)) {
        return false;
    }
    if (!revision) {
        return true;
    }
    q = query_start(store, SQL_ADD_REVISION);
    put_int(&q, store->run);
    put_int(&q, c->node);
    put_int(&q, revision->nr_told);
    put_int(&q, revision->nr_asked);
    put_real(&q, revision->speedup);
    return query_run(&q, "revising a node", err);
}

static bool save_in_one(struct store *store, const struct candidate *c, bool anew,
    const struct store_revision *revision, struct err *err)
{
    if (!db_has_run(store, err)) {
        return false;
    }
    struct query begin = query_start(store, SQL_BEGIN), commit, rollback;

    if (!query_run(&begin, "storing a node", err)) {
        return false;
    }
    if (anew ? save_anew(store, c, revision, err) : save_all(store, c, err)) {
        commit = query_start(store, SQL_COMMIT);
        if (query_run(&commit, "storing a node", err)) {
            return db_still_there(store, err);
        }
    }
    /* SQLite may have rolled back by itself, as on a full disk. Only an open transaction is rolled
     * back here. */
    if (!sqlite3_get_autocommit(store->db)) {
        struct err ignored;

        rollback = query_start(store, SQL_ROLLBACK);
        query_run(&rollback, "rolling back", &ignored);
    }
    return err_wrap(err, "node %lld", (long long)c->node);
}

bool store_kernel(struct store *store, const struct candidate *c, struct err *err)
{
    return save_in_one(store, c, false, NULL, err);
}

bool store_revise(struct store *store, const struct candidate *c,
    const struct store_revision *revision, struct err *err)
{
    return save_in_one(store, c, true, revision, err);
}
