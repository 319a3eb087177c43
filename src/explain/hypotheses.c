/* Owns hypotheses: from facts about the code to sentences, and their judgement by the tools. */
#include "explain/hypotheses.h"

#include "base/mem.h"
#include "explain/tool.h"

#include <string.h>

enum { MOST = 6, MAX_LINES = 3 };

/* The limit that a fact about the code suggests. The facts most likely to matter come first. */
struct expectation {
    enum code_kind kind;
    const char *tools[3];
    const char *text;
    bool loop_only;
};

static const struct expectation expectations[] = {
    {CODE_LOCAL, {"register_spills"},
        "an array or spilled registers live in local memory, which is off chip", false},
    {CODE_FP64, {"fp64"},
        "double-precision arithmetic in a kernel of smaller types runs at half rate or less",
        false},
    {CODE_ATOMIC, {"atomics"}, "atomics on global memory wait for each other where addresses meet",
        false},
    {CODE_ACCUMULATES, {"dead_stores"},
        "a store to one address is repeated, and only the last one counts", false},
    {CODE_RELOADED, {"aliasing"}, "a load is repeated since a store might have changed the value",
        false},
    {CODE_UNIFORM, {"recomputation", "special_functions"},
        "all lanes compute the same special function of the same value", true},
    {CODE_SCATTERED, {"coalescing", "serial_rows", "redundant_loads"},
        "lanes of a warp access addresses far from each other, a sector for each", false},
    {CODE_BANKS, {"bank_conflicts"}, "lanes of a warp meet in the same banks of shared memory",
        false},
    {CODE_LOOKED_UP, {"latency", "coalescing"},
        "each load waits for the one that brings its address", true},
    {CODE_STAGED, {"async_copy", "shared_traffic"},
        "tiles pass through registers on their way to shared memory, and all wait for them", true},
    {CODE_BARRIER, {"barriers"}, "warps wait for each other at a barrier in every round", true},
    {CODE_BRANCH, {"divergence"}, "lanes of a warp take different ways", true},
    {CODE_SPECIAL, {"special_functions"}, "special functions in every round keep their pipe busy",
        true},
    {CODE_CONVERT, {"conversions"}, "conversions between types in every round", true},
    {CODE_SHORT_LOOP, {"unrolling", "instruction_overhead"},
        "a short loop spends its instructions on keeping itself going", true},
    {CODE_NARROW, {"narrow_access", "redundant_loads"},
        "accesses of a word or less per lane need many requests for their bytes", false},
};

static const char *const names[] = {"confirmed", "refuted", "open"};

const char *judgement_name(enum judgement judgement)
{
    return names[judgement];
}

struct maker {
    struct arena *arena;
    const struct tool_input *in;
    const struct finding_list *found;
    const char *unexamined;
    struct hypotheses all;
};

/* ---- judging ---- */

static bool is_in_list(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = list; (at = strstr(at, name)) != NULL; at += len) {
        if ((at == list || at[-1] == ' ') && (at[len] == ',' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static const struct finding *finding_of(const struct finding_list *found, const char *tool)
{
    for (unsigned i = 0; i < found->nr; i++) {
        if (strcmp(found->findings[i].tool, tool) == 0) {
            return &found->findings[i];
        }
    }
    return NULL;
}

static const char *cite_finding(const struct maker *m, const struct finding *f)
{
    struct str out = {0};
    const char *text;

    for (unsigned i = 0; i < f->nr_evidence && i < 3; i++) {
        str_addf(&out, "%s`%s` = %.6g %s (%s)", i ? ", " : "", metric_name(f->evidence[i].metric),
            f->evidence[i].value, metric_unit(f->evidence[i].metric),
            provenance_name(f->evidence[i].from));
    }
    if (finding_gain(f).text[0]) {
        str_addf(&out, "; to gain: %s", finding_gain(f).text);
    }
    text = arena_strdup(m->arena, str_text(&out));
    str_finish(&out);
    return text;
}

/* The metrics that the tools looked at and found in order. */
static const char *cite_needs(const struct maker *m, const struct tool *tool)
{
    struct str out = {0};
    const char *text;

    if (tool->without != METRIC_TIME_NS && has(m->in, tool->without)) {
        str_addf(&out, "`%s` = %.6g ns where `%s` = %.6g ns, ", metric_name(tool->without),
            value(m->in, tool->without), metric_name(METRIC_TIME_NS), value(m->in, METRIC_TIME_NS));
    }
    for (unsigned i = 0; i < tool->nr_needs && i < 3; i++) {
        str_addf(&out, "%s`%s` = %.6g %s", i ? ", " : "", metric_name(tool->needs[i]),
            value(m->in, tool->needs[i]), metric_unit(tool->needs[i]));
    }
    text = arena_strdup(m->arena, str_text(&out));
    str_finish(&out);
    return text;
}

static const struct tool *tool_named(const char *name)
{
    for (unsigned i = 0; i < nr_tools; i++) {
        if (strcmp(tools[i].name, name) == 0) {
            return &tools[i];
        }
    }
    return NULL;
}

static void judge(struct maker *m, struct hypothesis *h, const char *const names_of_tools[3])
{
    enum bound bound = m->in->c->explanation.bound;

    h->judgement = JUDGED_OPEN;
    h->why = "no tool looked at it";
    for (unsigned i = 0; i < 3 && names_of_tools[i]; i++) {
        const struct finding *f = finding_of(m->found, names_of_tools[i]);
        const struct tool *tool = tool_named(names_of_tools[i]);

        if (f) {
            h->tool = f->tool;
            h->judgement = JUDGED_CONFIRMED;
            h->why = cite_finding(m, f);
            return;
        }
        if (!tool || h->judgement == JUDGED_REFUTED) {
            continue;
        }
        if (is_in_list(m->unexamined, tool->name)) {
            h->why = "the profile lacks the metrics that would tell";
        } else if (bound != BOUND_UNKNOWN && !(tool->classes & 1u << bound)) {
            h->why = arena_printf(
                m->arena, "not looked for, as the kernel is %s-bound", bound_name(bound));
        } else {
            h->judgement = JUDGED_REFUTED;
            h->why = cite_needs(m, tool);
        }
    }
}

/* ---- expecting ---- */

static struct hypothesis *add(struct maker *m, const char *tool, unsigned line, const char *text)
{
    struct hypothesis *h = &m->all.items[m->all.nr++];

    *h = (struct hypothesis){.tool = tool, .line = line, .text = text};
    return h;
}

static bool is_float64_task(const struct task *task)
{
    for (unsigned i = 0; task && i < task->nr_arrays; i++) {
        if (task->arrays[i].elem == ELEM_F64) {
            return true;
        }
    }
    return false;
}

/* The further lines of the same kind, "also at line 3 and line 5". */
static const char *also_at(const struct maker *m, const struct expectation *e, unsigned first)
{
    struct str out = {0};
    const char *text;
    unsigned nr = 0;

    for (unsigned i = first + 1; i < m->in->code->nr_facts && nr < MAX_LINES; i++) {
        const struct code_fact *f = &m->in->code->facts[i];

        if (f->kind == e->kind && f->line > 0 && (f->in_loop || !e->loop_only)) {
            str_addf(&out, "%s%u", nr++ ? " and line " : " (also at line ", f->line);
        }
    }
    str_add(&out, nr > 0 ? ")" : "");
    text = arena_strdup(m->arena, str_text(&out));
    str_finish(&out);
    return text;
}

/* In a loop rather than outside. */
static int best_fact(const struct code *code, const struct expectation *e)
{
    int best = -1;

    for (unsigned i = 0; code && i < code->nr_facts; i++) {
        const struct code_fact *f = &code->facts[i];

        if (f->kind == e->kind && f->line > 0 && (f->in_loop || !e->loop_only) &&
            (best < 0 || (f->in_loop && !code->facts[best].in_loop))) {
            best = (int)i;
        }
    }
    return best;
}

static void expect(struct maker *m, const struct expectation *e)
{
    int at = best_fact(m->in->code, e);

    if (at < 0 || m->all.nr == MOST || (e->kind == CODE_FP64 && is_float64_task(m->in->c->task))) {
        return;
    }
    judge(m,
        add(m, e->tools[0], m->in->code->facts[at].line,
            arena_printf(m->arena, "%s%s", e->text, also_at(m, e, (unsigned)at))),
        e->tools);
}

static unsigned nr_small_inputs(const struct task *task)
{
    unsigned nr = 0;

    for (unsigned i = 0; task && i < task->nr_arrays; i++) {
        nr += task->arrays[i].role == ROLE_IN && tensor_takes(task->arrays[i].elem);
    }
    return nr;
}

/* Adds the limits that the task and its launches alone suggest. */
static void expect_of_launch(struct maker *m)
{
    static const char *const few[3] = {"few_blocks"};
    static const char *const tensor[3] = {"tensor_cores"};
    static const char *const gaps[3] = {"launch_overhead", "tiny_launches"};
    const struct launch_config *config = m->in->config;
    uint64_t blocks = config ? (uint64_t)config->grid[0] * config->grid[1] * config->grid[2] : 0;

    if (blocks > 0 && blocks < m->in->chip->nr_sms) {
        judge(m,
            add(m, few[0], 0,
                arena_printf(m->arena, "%llu blocks are too few for the chip's %u SMs",
                    (unsigned long long)blocks, m->in->chip->nr_sms)),
            few);
    }
    if (nr_small_inputs(m->in->c->task) >= 2) {
        judge(m,
            add(m, tensor[0], 0,
                "products of half-precision or smaller operands fit the tensor cores"),
            tensor);
    }
    if (m->in->c->profile.nr_launches > 1) {
        judge(m,
            add(m, gaps[0], 0,
                arena_printf(
                    m->arena, "%u launches cost their gaps", m->in->c->profile.nr_launches)),
            gaps);
    }
}

static const char *unforeseen(const struct maker *m)
{
    const struct explanation *e = &m->in->c->explanation;
    struct str out = {0};
    const char *text;

    for (unsigned i = 0; i < e->nr_findings; i++) {
        bool expected = is_in_list(str_text(&out), e->findings[i].tool);

        for (unsigned k = 0; k < m->all.nr; k++) {
            expected = expected || strcmp(m->all.items[k].tool, e->findings[i].tool) == 0;
        }
        if (!expected) {
            str_addf(&out, "%s%s", out.len > 0 ? ", " : "", e->findings[i].tool);
        }
    }
    text = arena_strdup(m->arena, str_text(&out));
    str_finish(&out);
    return text;
}

struct hypotheses explain_hypotheses(const struct chip *chip, const struct candidate *c)
{
    struct finding_list *found = arena_alloc(c->arena, sizeof(*found));
    struct tool_input in = tool_input_of(chip, c);
    struct maker m = {.arena = c->arena, .in = &in, .found = found};

    m.all.items = arena_array(c->arena, MOST + 3, sizeof(*m.all.items));
    m.unexamined = tools_run(&in, found);
    for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
        expect(&m, &expectations[i]);
    }
    expect_of_launch(&m);
    m.all.unforeseen = unforeseen(&m);
    return m.all;
}

void hypotheses_write(const struct hypotheses *all, const struct candidate *c, struct str *out)
{
    for (unsigned i = 0; i < all->nr; i++) {
        const struct hypothesis *h = &all->items[i];

        if (h->line > 0) {
            str_addf(out, "H%u line %u: %s.\n", i + 1, h->line, h->text);
        } else {
            str_addf(out, "H%u: %s.\n", i + 1, h->text);
        }
    }
    str_add_char(out, '\n');
    for (unsigned i = 0; i < all->nr; i++) {
        const struct hypothesis *h = &all->items[i];

        str_addf(out, "H%u %s: %s.\n", i + 1, names[h->judgement], h->why);
    }
    if (*all->unforeseen) {
        str_addf(out, "Not foreseen from the source: %s.\n", all->unforeseen);
    }
    str_addf(out, "Summary: %s\n", c->explanation.summary);
}
