/* Owns reading nodes back: to resume a run, and to recall an equal node. */
#include "store/db.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The task language allows 64. */
enum { MOST_LAUNCHES = 1024 };

bool db_strange(struct store *store, const char *what, const char *name, struct err *err)
{
    return err_set(err,
        "%s: unknown %s '%s': written by another version of keet-opt; use that version, or another "
        "file with --db",
        store->path, what, name ? name : "");
}

bool db_parse_action(struct store *store, const char *name, enum action *action, struct err *err)
{
    if (name && strcmp(name, action_name(ACTION_NONE)) == 0) {
        *action = ACTION_NONE;
        return true;
    }
    return (name && action_parse(name, action)) || db_strange(store, "move", name, err);
}

bool db_parse_proposer(
    struct store *store, const char *name, enum proposer *proposer, struct err *err)
{
    for (int i = 0; name && i < NR_PROPOSERS; i++) {
        if (strcmp(name, proposer_name((enum proposer)i)) == 0) {
            *proposer = (enum proposer)i;
            return true;
        }
    }
    return db_strange(store, "proposer", name, err);
}

bool db_parse_provenance(
    struct store *store, const char *name, enum provenance *from, struct err *err)
{
    for (int i = 0; name && i < NR_PROVENANCES; i++) {
        if (strcmp(name, provenance_name((enum provenance)i)) == 0) {
            *from = (enum provenance)i;
            return true;
        }
    }
    return db_strange(store, "provenance", name, err);
}

bool db_parse_bound(struct store *store, const char *name, enum bound *bound, struct err *err)
{
    for (int i = 0; name && i <= BOUND_MIXED; i++) {
        if (strcmp(name, bound_name((enum bound)i)) == 0) {
            *bound = (enum bound)i;
            return true;
        }
    }
    return db_strange(store, "class", name, err);
}

/* Rows of a node: start with `struct query q = of_node(...)`, then query_next. */
static struct query of_node(struct store *store, enum sql sql, int64_t id)
{
    struct query q = query_start(store, sql);

    put_int(&q, id);
    return q;
}

static bool load_compilation(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct compilation *compilation = &c->compilation;
    struct query q = of_node(store, SQL_GET_COMPILATION, id);
    struct kernel_facts *kernels = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    if (!query_next(&q, &row, "reading a compilation", err)) {
        return false;
    }
    if (row) {
        compilation->key = get_hash(&q);
        compilation->log = get_text(&q, c->arena);
        compilation->compile_ms = get_real(&q);
        compilation->cached = get_int(&q) != 0;
        query_end(&q);
    }
    q = of_node(store, SQL_GET_KERNELS, id);
    while ((ok = query_next(&q, &row, "reading a compilation", err)) && row) {
        kernels = grow(kernels, &cap, nr + 1, sizeof(*kernels));
        struct kernel_facts *kernel = &kernels[nr++];

        kernel->kernel = get_text(&q, c->arena);
        kernel->lowered = get_text(&q, c->arena);
        kernel->registers = get_unsigned(&q);
        kernel->stack_bytes = get_unsigned(&q);
        kernel->spill_store_bytes = get_unsigned(&q);
        kernel->spill_load_bytes = get_unsigned(&q);
        kernel->smem_static_bytes = get_unsigned(&q);
        kernel->const_bytes = get_unsigned(&q);
        kernel->nr_barriers = get_unsigned(&q);
    }
    if (nr > 0) {
        compilation->kernels = arena_array(c->arena, nr, sizeof(*kernels));
        memcpy(compilation->kernels, kernels, nr * sizeof(*kernels));
        compilation->nr_kernels = (unsigned)nr;
    }
    free(kernels);
    return ok;
}

static bool load_check(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct check_result *check = &c->check;
    struct query q = of_node(store, SQL_GET_CHECK, id);
    bool row;

    if (!query_next(&q, &row, "reading a check", err)) {
        return false;
    }
    if (row) {
        check->nr_runs = get_unsigned(&q);
        check->nr_shapes = get_unsigned(&q);
        check->max_abs = get_error(&q);
        check->max_rel = get_error(&q);
        check->q99_rel = get_error(&q);
        check->worst_array = get_text(&q, c->arena);
        check->worst_index = (uint64_t)get_int(&q);
        check->nondeterministic_allowed = get_int(&q) != 0;
        check->note = get_text(&q, c->arena);
        check->timed = get_int(&q) != 0;
        query_end(&q);
    }
    return true;
}

/* The counters of a launch; launch -1 is the total. NULL: the measurement has no such launch. */
static struct counters *counters_of(struct profile *profile, int64_t launch)
{
    if (launch == -1) {
        return &profile->total;
    }
    return launch >= 0 && launch < profile->nr_launches ? &profile->launches[launch] : NULL;
}

static bool load_launches(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct query q = of_node(store, SQL_GET_LAUNCHES, id);
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading launches", err)) && row) {
        int64_t launch = get_int(&q);
        struct counters *counters = counters_of(&c->profile, launch);
        struct launch_config config = {.kernel = get_text(&q, c->arena)};

        for (unsigned i = 0; i < 3; i++) {
            config.grid[i] = get_unsigned(&q);
        }
        for (unsigned i = 0; i < 3; i++) {
            config.block[i] = get_unsigned(&q);
        }
        for (unsigned i = 0; i < 3; i++) {
            config.cluster[i] = get_unsigned(&q);
        }
        config.smem_bytes = get_unsigned(&q);
        if (counters) {
            counters->blocks_run = (uint64_t)get_int(&q);
            counters->blocks_all = (uint64_t)get_int(&q);
        }
        if (counters && launch >= 0) {
            c->profile.configs[launch] = config;
        }
    }
    return ok;
}

/* What limits without a cause, where the row says it. */
static bool get_limit(struct query *q, struct candidate *c, struct limit *limit)
{
    const struct limit none = {METRIC_TIME_NS, METRIC_TIME_NS, 0, 0};
    const char *unit = get_text(q, c->arena);
    const double unit_pct = get_real(q);
    const char *wait = get_text(q, c->arena);
    const double wait_pct = get_real(q);

    *limit = none;
    if (!unit) {
        return true;
    }
    limit->unit_pct = (float)unit_pct;
    limit->wait_pct = (float)wait_pct;
    return metric_parse(unit, &limit->unit) && (!wait || metric_parse(wait, &limit->wait));
}

static bool load_counters(
    struct store *store, enum sql sql, int64_t id, struct candidate *c, struct err *err)
{
    struct query q = of_node(store, sql, id);
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading counters", err)) && row) {
        struct counters *counters = counters_of(&c->profile, get_int(&q));
        const char *name = get_text(&q, c->arena);
        double value = get_real(&q);
        enum provenance from;
        enum metric metric;
        struct limit limit;

        if (!metric_parse(name, &metric)) {
            query_end(&q);
            return db_strange(store, "metric", name, err);
        }
        if (!db_parse_provenance(store, get_text(&q, c->arena), &from, err)) {
            query_end(&q);
            return false;
        }
        if (!get_limit(&q, c, &limit)) {
            query_end(&q);
            return db_strange(store, "metric", "of a limit", err);
        }
        if (counters) {
            counters->metric[metric] = (struct counter){value, from};
        }
        if (counters && metric_is_cure(metric)) {
            counters->left[metric_cure(metric)] = limit;
        }
    }
    return ok;
}

static bool load_lines(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct query q = of_node(store, SQL_GET_LINES, id);
    struct line_cost *lines = NULL;
    int64_t *owners = NULL;
    size_t cap = 0, cap_owners = 0, nr = 0;
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading the costs of lines", err)) && row) {
        lines = grow(lines, &cap, nr + 1, sizeof(*lines));
        owners = grow(owners, &cap_owners, nr + 1, sizeof(*owners));
        owners[nr] = get_int(&q);
        lines[nr].line = get_unsigned(&q);
        lines[nr].access_bytes = get_unsigned(&q);
        for (size_t i = 0; i < nr_line_cost_fields; i++) {
            *(double *)((char *)&lines[nr] + line_cost_fields[i]) = get_real(&q);
        }
        nr++;
    }
    /* The rows of a launch stand together. */
    for (size_t i = 0, end; i < nr; i = end) {
        struct counters *counters = counters_of(&c->profile, owners[i]);

        for (end = i; end < nr && owners[end] == owners[i]; end++) {
        }
        if (counters) {
            counters->lines = arena_array(c->arena, end - i, sizeof(*lines));
            memcpy(counters->lines, &lines[i], (end - i) * sizeof(*lines));
            counters->nr_lines = (unsigned)(end - i);
        }
    }
    free(lines);
    free(owners);
    return ok;
}

static bool load_timing(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct profile_timing *t = &c->profile.timing;
    struct query q = of_node(store, SQL_GET_TIMING, id);
    bool row;

    if (!query_next(&q, &row, "reading how a time was taken", err)) {
        return false;
    }
    if (!row) {
        return true;
    }
    t->nr_samples = get_unsigned(&q);
    t->nr_dropped = get_unsigned(&q);
    t->standard_error = get_real(&q);
    t->baseline_ns = get_real(&q);
    t->ratio = get_real(&q);
    t->ratio_low = get_real(&q);
    t->ratio_high = get_real(&q);
    t->refused = get_int(&q) != 0;
    t->clock_low_mhz = get_real(&q);
    t->clock_high_mhz = get_real(&q);
    t->baseline_clock_low_mhz = get_real(&q);
    t->baseline_clock_high_mhz = get_real(&q);
    t->temperature_low_c = get_real(&q);
    t->temperature_high_c = get_real(&q);
    t->throttle = (uint64_t)get_int(&q);
    t->note = get_text(&q, c->arena);
    query_end(&q);
    return true;
}

/* The time of all launches and how it was taken. */
static bool load_time(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct profile *profile = &c->profile;
    struct query q = of_node(store, SQL_GET_MEASUREMENT, id);
    bool row;

    if (!query_next(&q, &row, "reading a measurement", err)) {
        return false;
    }
    c->profiled = row;
    if (!row) {
        return true;
    }
    profile->nr_launches = (unsigned)get_within(&q, 0, MOST_LAUNCHES);
    profile->longest = (unsigned)get_within(&q, 0, MOST_LAUNCHES);
    profile->longest = profile->longest < profile->nr_launches ? profile->longest : 0;
    profile->time_ns = get_real(&q);
    profile->time_low_ns = get_real(&q);
    profile->time_high_ns = get_real(&q);
    const char *from = get_text(&q, c->arena);

    profile->no_counters = get_text(&q, c->arena);
    profile->no_energy = get_text(&q, c->arena);
    query_end(&q);
    return db_parse_provenance(store, from, &profile->time_from, err) &&
           load_timing(store, id, c, err);
}

static bool load_profile(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct profile *profile = &c->profile;

    if (!load_time(store, id, c, err)) {
        return false;
    }
    if (!c->profiled) {
        return true;
    }
    profile->launches =
        arena_array(c->arena, profile->nr_launches + 1u, sizeof(*profile->launches));
    profile->configs = arena_array(c->arena, profile->nr_launches + 1u, sizeof(*profile->configs));
    return load_launches(store, id, c, err) && load_counters(store, SQL_GET_COUNTERS, id, c, err) &&
           load_lines(store, id, c, err);
}

/* The finding that a row belongs to; where there is none, one that nobody sees. */
static struct finding *finding_of(struct explanation *explanation, struct query *q)
{
    static struct finding none;
    const int64_t seq = get_within(q, 0, (int64_t)explanation->nr_findings - 1);

    none = (struct finding){0};
    return explanation->nr_findings > 0 ? &explanation->findings[seq] : &none;
}

static bool load_evidence(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct explanation *explanation = &c->explanation;
    struct query q = of_node(store, SQL_GET_EVIDENCE, id);
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading evidence", err)) && row) {
        struct finding *finding = finding_of(explanation, &q);
        const char *name = get_text(&q, c->arena);
        struct evidence evidence = {.value = get_real(&q)};

        ok = (metric_parse(name, &evidence.metric) || db_strange(store, "metric", name, err)) &&
             db_parse_provenance(store, get_text(&q, c->arena), &evidence.from, err);
        if (!ok || finding->nr_evidence == FINDING_MAX_EVIDENCE) {
            query_end(&q);
            return ok;
        }
        finding->evidence[finding->nr_evidence++] = evidence;
    }
    return ok;
}

static bool load_weights(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct explanation *explanation = &c->explanation;
    struct query q = of_node(store, SQL_GET_WEIGHTS, id);
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading weights", err)) && row) {
        struct finding *finding = finding_of(explanation, &q);
        struct weight weight;

        ok = db_parse_action(store, get_text(&q, c->arena), &weight.action, err);
        if (!ok || finding->nr_weights == FINDING_MAX_WEIGHTS) {
            query_end(&q);
            return ok;
        }
        weight.weight = (float)get_real(&q);
        finding->weights[finding->nr_weights++] = weight;
    }
    return ok;
}

static bool load_findings(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct query q = of_node(store, SQL_GET_FINDINGS, id);
    struct finding *findings = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading findings", err)) && row) {
        findings = grow(findings, &cap, nr + 1, sizeof(*findings));
        struct finding *finding = &findings[nr++];

        *finding = (struct finding){.tool = get_text(&q, c->arena)};
        finding->severity = (enum severity)get_within(&q, SEVERITY_INFO, SEVERITY_CRITICAL);
        finding->line = get_unsigned(&q);
        const char *text = get_text(&q, c->arena);

        strncpy(finding->text, text ? text : "", sizeof(finding->text) - 1);
        finding->share = get_real(&q);
        finding->max_gain = get_real(&q);
    }
    if (nr > 0) {
        c->explanation.findings = arena_array(c->arena, nr, sizeof(*findings));
        memcpy(c->explanation.findings, findings, nr * sizeof(*findings));
        c->explanation.nr_findings = (unsigned)nr;
    }
    free(findings);
    return ok && load_evidence(store, id, c, err) && load_weights(store, id, c, err);
}

static bool load_explanation(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct explanation *explanation = &c->explanation;
    struct query q = of_node(store, SQL_GET_EXPLANATION, id);
    bool row;

    if (!query_next(&q, &row, "reading an explanation", err)) {
        return false;
    }
    if (!row) {
        return true;
    }
    const char *bound = get_text(&q, c->arena);

    explanation->confidence = get_real(&q);
    explanation->roofline_ns = get_real(&q);
    explanation->roofline_share = get_real(&q);
    explanation->summary = get_text(&q, c->arena);
    explanation->unexamined = get_text(&q, c->arena);
    query_end(&q);
    return db_parse_bound(store, bound, &explanation->bound, err) &&
           load_findings(store, id, c, err);
}

static bool read_option(
    struct query *q, struct arena *arena, struct option *option, struct err *err)
{
    if (!db_parse_action(q->store, get_text(q, arena), &option->action, err) ||
        !db_parse_proposer(q->store, get_text(q, arena), &option->proposer, err)) {
        query_end(q);
        return false;
    }
    option->variant = get_unsigned(q);
    option->prior = (float)get_real(q);
    option->what = get_text(q, arena);
    return true;
}

static bool load_options(struct store *store, int64_t id, struct candidate *c, struct err *err)
{
    struct query q = of_node(store, SQL_GET_OPTIONS, id);
    struct option *options = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading options", err)) && row) {
        options = grow(options, &cap, nr + 1, sizeof(*options));
        if (!read_option(&q, c->arena, &options[nr++], err)) {
            ok = false;
            break;
        }
        if (options[nr - 1].action == ACTION_NONE) { /* the root's own, never an open one */
            query_end(&q);
            ok = db_strange(store, "move", action_name(ACTION_NONE), err);
            break;
        }
    }
    if (ok && nr > 0) {
        c->options = arena_array(c->arena, nr, sizeof(*options));
        memcpy(c->options, options, nr * sizeof(*options));
        c->nr_options = (unsigned)nr;
    }
    free(options);
    return ok;
}

/* Reads the node's own row. *id is 0 when there is no such row. */
static bool load_row(struct store *store, enum sql sql, int64_t node, struct candidate *c,
    int64_t *id, struct err *err)
{
    struct query q = query_start(store, sql);
    bool row;

    *id = 0;
    put_int(&q, store->run);
    put_int(&q, node);
    if (!query_next(&q, &row, "reading a node", err)) {
        return false;
    }
    if (!row) {
        return true;
    }
    *c = (struct candidate){.arena = c->arena, .task = c->task, .node = node};
    *id = get_int(&q);
    c->parent = get_parent(&q, node);
    c->seed = (uint64_t)get_int(&q);
    if (!read_option(&q, c->arena, &c->option, err)) {
        return false;
    }
    c->proposal_note = get_text(&q, c->arena);
    const char *verdict = get_text(&q, c->arena);

    c->verdict_text = get_text(&q, c->arena);
    c->verdict_line = get_unsigned(&q);
    c->recalled_from = get_parent(&q, INT64_MAX);
    c->recalled = c->recalled_from >= 0;
    c->speedup = get_real(&q);
    c->source_bytes = (size_t)sqlite3_column_bytes(q.stmt, q.at);
    c->source = get_text(&q, c->arena);
    query_end(&q);
    return (verdict && verdict_parse(verdict, &c->verdict)) ||
           db_strange(store, "verdict", verdict, err);
}

/* Parses the plan anew from the source. A candidate that had no plan stays without a plan. */
static void parse_plan(struct candidate *c)
{
    struct plan plan;
    enum verdict verdict;
    struct err why;

    if (c->task && c->source && c->verdict != VERDICT_NO_KERNEL && c->verdict != VERDICT_CONTRACT &&
        plan_parse(&plan, c->task, c->arena, c->source, c->source_bytes, &verdict, &why)) {
        c->plan = plan;
    }
}

bool store_load_node(
    struct store *store, int64_t node, struct candidate *c, bool *found, struct err *err)
{
    int64_t id;

    if (!db_has_run(store, err) || !load_row(store, SQL_GET_NODE, node, c, &id, err) ||
        !db_sound(store, err)) {
        return false;
    }
    *found = id != 0;
    if (!*found) {
        return true;
    }
    parse_plan(c);
    return (load_compilation(store, id, c, err) && load_check(store, id, c, err) &&
               load_profile(store, id, c, err) && load_explanation(store, id, c, err) &&
               load_options(store, id, c, err) && store_load_calls(store, c, err) &&
               db_sound(store, err)) ||
           err_wrap(err, "node %lld", (long long)node);
}

bool store_load_told(
    struct store *store, int64_t node, struct candidate *c, bool *found, struct err *err)
{
    int64_t id;

    if (!db_has_run(store, err) || !load_row(store, SQL_GET_MOVE, node, c, &id, err) ||
        !db_sound(store, err)) {
        return false;
    }
    *found = id != 0;
    if (*found &&
        !(load_time(store, id, c, err) && load_counters(store, SQL_GET_ENERGY, id, c, err) &&
            load_options(store, id, c, err) && store_load_calls(store, c, err) &&
            db_sound(store, err))) {
        return err_wrap(err, "node %lld", (long long)node);
    }
    c->profile.nr_launches = 0; /* their counters were not read */
    return true;
}

bool store_load_source(struct store *store, struct arena *arena, int64_t node, const char **source,
    size_t *bytes, struct err *err)
{
    bool row;

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_SOURCE_OF_NODE);

    put_int(&q, store->run);
    put_int(&q, node);
    if (!query_next(&q, &row, "reading a source", err)) {
        return false;
    }
    if (!row) {
        return err_set(
            err, "%s: there is no source of node %lld in this run", store->path, (long long)node);
    }
    *bytes = (size_t)sqlite3_column_bytes(q.stmt, 0);
    *source = get_text(&q, arena);
    query_end(&q);
    return true;
}

static size_t nr_lines_of(const char *text, size_t bytes)
{
    size_t nr = 0;

    for (size_t i = 0; i < bytes; i++) {
        nr += text[i] == '\n';
    }
    return nr;
}

static void forget_lines(struct profile *profile)
{
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        profile->launches[i].lines = NULL;
        profile->launches[i].nr_lines = 0;
    }
    profile->total.lines = NULL;
    profile->total.nr_lines = 0;
}

bool store_recall(struct store *store, struct candidate *c, struct err *err)
{
    bool row;

    c->recalled = false;
    c->recalled_from = -1;
    if (!db_has_run(store, err)) {
        return false;
    }
    if (c->compilation.key.high == 0 && c->compilation.key.low == 0) {
        return true;
    }
    struct query q = query_start(store, SQL_NODE_BY_KEY);

    put_int(&q, store->run);
    put_hash(&q, c->compilation.key);
    if (!query_next(&q, &row, "looking for a twin", err)) {
        return false;
    }
    if (!row) {
        return true;
    }
    int64_t id = get_int(&q), number = get_int(&q);
    const char *verdict = get_text(&q, c->arena), *verdict_text = get_text(&q, c->arena);
    unsigned verdict_line = get_unsigned(&q);
    double speedup = get_real(&q);
    size_t bytes = (size_t)sqlite3_column_bytes(q.stmt, q.at);
    const char *source = get_text(&q, c->arena);

    query_end(&q);
    if (!verdict || !verdict_parse(verdict, &c->verdict)) {
        return db_strange(store, "verdict", verdict, err);
    }
    if (!load_check(store, id, c, err) || !load_profile(store, id, c, err) ||
        !db_sound(store, err)) {
        return err_wrap(err, "node %lld", (long long)number);
    }
    bool same_lines = source && c->source &&
                      nr_lines_of(source, bytes) == nr_lines_of(c->source, c->source_bytes);

    if (!same_lines) {
        forget_lines(&c->profile);
    }
    c->verdict_text = verdict_text;
    c->verdict_line = same_lines ? verdict_line : 0;
    c->speedup = speedup;
    c->recalled = true;
    c->recalled_from = number;
    return true;
}

bool store_recall_refusal(struct store *store, struct candidate *c, struct err *err)
{
    bool row;

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_REFUSAL_BY_SOURCE);

    put_int(&q, store->run);
    put_hash(&q, db_source_hash(c->source, c->source_bytes));
    if (!query_next(&q, &row, "looking for the same text", err)) {
        return false;
    }
    if (!row) {
        return true;
    }
    int64_t number = get_int(&q);
    const char *verdict = get_text(&q, c->arena);

    c->verdict_text = get_text(&q, c->arena);
    c->verdict_line = get_unsigned(&q);
    query_end(&q);
    if (!verdict || !verdict_parse(verdict, &c->verdict)) {
        return db_strange(store, "verdict", verdict, err);
    }
    c->recalled = true;
    c->recalled_from = number;
    return true;
}
