/* Private to explain/: the tools, their input, and the making of findings. To add a tool: write
 * `void examine_<name>(const struct tool_input *in, struct finding_list *out)` in the tool_*.c of
 * its family, declare it below, and add a row to the table in tools.c. A tool is called only when
 * the class fits and every metric in `needs` is there; it must ask for other metrics with has(). */
#ifndef KEET_EXPLAIN_TOOL_H
#define KEET_EXPLAIN_TOOL_H

#include "base/mem.h"
#include "core/roofline.h"
#include "explain/code.h"
#include "explain/explain.h"
#include "explain/launch_groups.h"
#include "explain/remains.h"

enum {
    IN_COMPUTE = 1 << BOUND_COMPUTE,
    IN_MEMORY = 1 << BOUND_MEMORY,
    IN_LATENCY = 1 << BOUND_LATENCY,
    IN_MIXED = 1 << BOUND_MIXED,
    IN_ALL = IN_COMPUTE | IN_MEMORY | IN_LATENCY | IN_MIXED
};

/* The roofline of the task's `work`, whatever this kernel did; zeros where `work` is silent. */
struct roofline roofline_of(const struct chip *chip, const struct task *task);
/* Stage 1: class, confidence, roofline and summary of c->explanation. */
void roofline_classify(const struct chip *chip, struct candidate *c);

struct tool_input {
    const struct chip *chip;
    const struct candidate *c;
    /* The launch that is examined: the longest of its group; for a tool that examines the whole
     * profile, and where all launches are of one group, the total of one run. */
    const struct counters *n;
    const struct launch_config *config; /* NULL unknown */
    struct launch_group group;
    bool whole;              /* all launches at once */
    const struct code *code; /* facts of the PTX; NULL: there is no PTX */
    double roofline_share;   /* 0 unknown */
    double memory_weight;    /* how much of the time goes with the memory path, 0..1 */
    double global_weight;    /* the part of memory_weight that global memory answers for */
    double compute_weight;   /* the same for issue and arithmetic */
    double unique_bytes;     /* of global memory, distinct; estimated when sampled; 0 unknown */
    double busiest_pipe_pct; /* of any pipe or memory level; 0 unknown */
};

enum { TOOLS_MAX_FINDINGS = 64, TOOLS_MAX_NEEDS = 6 };

struct finding_list {
    struct finding findings[TOOLS_MAX_FINDINGS];
    unsigned ranks[TOOLS_MAX_FINDINGS];
    unsigned nr;
    uint32_t *wanted;        /* not NULL: no findings, but the cures that findings would cite */
    const struct tool *tool; /* running now */
    unsigned nr_of_tool;
};

struct tool {
    const char *name;
    unsigned rank; /* how specific: 1 names one cause and its cure, 3 a general state */
    unsigned classes;
    enum metric needs[TOOLS_MAX_NEEDS];
    unsigned nr_needs;
    void (*examine)(const struct tool_input *in, struct finding_list *out);
    remains_rule *remains; /* what is left when a finding of the tool is cured; NULL: unknown */
    bool whole;            /* examines the whole profile, not one launch after the other */
    /* A model's time without the cause (core/cures.def), and how much of what that would win cures
     * win; METRIC_TIME_NS: there is no such model. */
    enum metric without;
    double won;
};

extern const struct tool tools[];
extern const unsigned nr_tools;

/* The input of the tools, for a candidate that stage 1 has classified: the whole profile. */
struct tool_input tool_input_of(const struct chip *chip, const struct candidate *c);
/* Runs all tools that fit: on the whole profile, or on each group of launches that takes a part of
 * the time. Returns the names of those that could not run (arena memory). */
const char *tools_run(const struct tool_input *whole, struct finding_list *out);

/* The distinct bytes of global memory that each launch touches, summed over the launches. */
double tools_unique_bytes(const struct candidate *c);
/* The same of one launch; of a sample of its blocks scaled up. 0 unknown. */
double launch_unique_bytes(const struct candidate *c, unsigned launch);
/* The size of the task's arrays, which enter or leave the chip; 0 unknown. */
double outside_bytes(const struct candidate *c);
/* The size of the arrays and temporaries from which a launch may load, outputs left out; 0 unknown.
 */
double source_bytes(const struct candidate *c);
/* The advice from which the priors of c->options are made, beside the general usefulness of moves.
 */
struct advice {
    double asked[NR_ACTIONS]; /* relative to each other */
    double doubt[NR_ACTIONS]; /* 0..1: the profile speaks against the move */
    double blocks, threads;   /* 0..1: how much a larger number of them would help */
    double in_flight;         /* 0..1: how much more loads in flight would help */
    bool lines;               /* c->explanation.findings name source lines */
    bool times;               /* c's profile says how much of the time each kernel takes */
};
/* The advice of c's findings and profile. */
struct advice advice_of_findings(const struct candidate *c);
/* The factor on a variant's weight for the direction in which the variant changes the launch. */
double advice_direction(
    const struct candidate *c, const struct option *option, const struct advice *advice);
void priors_fill(struct candidate *c, const struct advice *advice);
void priors_uniform(struct candidate *c);
/* Makes a dead candidate's verdict its one finding. */
void explain_dead(struct candidate *c);

/* --- for tools --- */

static inline bool has(const struct tool_input *in, enum metric metric)
{
    return counters_has(in->n, metric);
}

static inline double value(const struct tool_input *in, enum metric metric)
{
    return counters_get(in->n, metric);
}

/* The provenance of a metric, for the sentence: "counted", "sampled", ... */
const char *from(const struct tool_input *in, enum metric metric);

/* The share of the time that hiding latency can save at most: until the busiest path is as busy as
 * the best kernels make it (the chip's dram_achievable). 1 when nothing is known. */
static inline double tool_headroom(const struct tool_input *in)
{
    double busy = in->busiest_pipe_pct / (100 * in->chip->dram_achievable);

    return busy < 1 ? 1 - busy : 0;
}

/* The line with the largest value of `cost`; NULL when all values are zero. */
const struct line_cost *worst_line(
    const struct tool_input *in, double (*cost)(const struct line_cost *line));
/* The line whose machine code has most instructions of two kinds; 0: not known, or there are none.
 */
unsigned worst_sass_line(const struct tool_input *in, enum sass_class a, enum sass_class b);
/* The line whose results are waited for longest, from global or local memory; 0: not known. */
unsigned line_waited_for(const struct tool_input *in);
static inline unsigned line_of(const struct line_cost *line)
{
    return line ? line->line : 0;
}

/* Adds a finding; `share` is the share of the launch's time that its cure is expected to win, 0..1.
 * Its bound is that of the tool's rule (remains.h). NULL: there is too little to win, or the tool
 * has made enough findings. */
struct finding *finding_add(const struct tool_input *in, struct finding_list *out,
    enum severity severity, unsigned line, double share);
/* The same for warps that wait pct of their time for results: hiding the latency wins 0.6 of that
 * share, and no more than tool_headroom. */
struct finding *finding_add_wait(
    const struct tool_input *in, struct finding_list *out, unsigned line, double pct);
/* Puts another bound in place of the tool's: remains_ns is the least time of the whole profile
 * after the cure; 0: nothing bounds it. */
void finding_bound(const struct tool_input *in, struct finding *finding, double remains_ns);
/* Sets the sentence, and puts the line and the launch before it, where there are such. */
void finding_say(struct finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* finding_cite(f, in, METRIC_A, METRIC_B): adds the metrics to the evidence, without those that are
 * absent. */
#define finding_cite(f, in, ...)                                                                   \
    finding_cite_all((f), (in), (const enum metric[]){__VA_ARGS__},                                \
        ARRAY_SIZE(((const enum metric[]){__VA_ARGS__})))
void finding_cite_all(
    struct finding *finding, const struct tool_input *in, const enum metric *metrics, size_t nr);

/* finding_weigh(f, {ACTION_A, 3}, {ACTION_B, 1}): adds the moves that may help, each with its
 * weight; a move of weight 0 is left out. */
struct move_weight {
    enum action action;
    double weight;
};
#define finding_weigh(f, ...)                                                                      \
    finding_weigh_all((f), (const struct move_weight[]){__VA_ARGS__},                              \
        ARRAY_SIZE(((const struct move_weight[]){__VA_ARGS__})))
void finding_weigh_all(struct finding *finding, const struct move_weight *moves, size_t nr);

/* 1234567 as "1.23M". */
struct count_text {
    char text[16];
};
struct count_text count_text(double count);

/* Integer instructions that multiply data and add the products up: the work of a task on integers.
 */
double integer_work(const struct tool_input *in);

/* Does the line follow a chain of loads? Neither tiles nor another order of lanes help there: no
 * address is known before the load before it is done. */
static inline bool follows_chain(const struct tool_input *in, unsigned line)
{
    return line > 0 && code_find(in->code, CODE_CHASED, line);
}

bool tensor_takes(enum elem elem); /* operands of 16 bits or fewer, or tf32 */

/* The tools, by family. */
void examine_coalescing(const struct tool_input *in, struct finding_list *out);
void examine_serial_rows(const struct tool_input *in, struct finding_list *out);
void examine_narrow_access(const struct tool_input *in, struct finding_list *out);
void examine_reuse(const struct tool_input *in, struct finding_list *out);
void examine_cache(const struct tool_input *in, struct finding_list *out);
void examine_bandwidth(const struct tool_input *in, struct finding_list *out);
void examine_atomics(const struct tool_input *in, struct finding_list *out);
void examine_bank_conflicts(const struct tool_input *in, struct finding_list *out);
void examine_shared_traffic(const struct tool_input *in, struct finding_list *out);
void examine_barriers(const struct tool_input *in, struct finding_list *out);
void examine_occupancy(const struct tool_input *in, struct finding_list *out);
void examine_spills(const struct tool_input *in, struct finding_list *out);
void examine_tail(const struct tool_input *in, struct finding_list *out);
void examine_thin_grid(const struct tool_input *in, struct finding_list *out);
void examine_few_blocks(const struct tool_input *in, struct finding_list *out);
void examine_launches(const struct tool_input *in, struct finding_list *out);
void examine_divergence(const struct tool_input *in, struct finding_list *out);
void examine_overhead(const struct tool_input *in, struct finding_list *out);
void examine_fp64(const struct tool_input *in, struct finding_list *out);
void examine_special(const struct tool_input *in, struct finding_list *out);
void examine_conversions(const struct tool_input *in, struct finding_list *out);
void examine_latency(const struct tool_input *in, struct finding_list *out);
void examine_tensor(const struct tool_input *in, struct finding_list *out);
void examine_async_copy(const struct tool_input *in, struct finding_list *out);
void examine_dead_stores(const struct tool_input *in, struct finding_list *out);
void examine_aliasing(const struct tool_input *in, struct finding_list *out);
void examine_recomputation(const struct tool_input *in, struct finding_list *out);
void examine_unrolling(const struct tool_input *in, struct finding_list *out);
void examine_short_scoreboard(const struct tool_input *in, struct finding_list *out);
void examine_mio(const struct tool_input *in, struct finding_list *out);
void examine_pipe_throttle(const struct tool_input *in, struct finding_list *out);
void examine_misaligned(const struct tool_input *in, struct finding_list *out);
void examine_l2_reuse(const struct tool_input *in, struct finding_list *out);
void examine_clock(const struct tool_input *in, struct finding_list *out);
void examine_tiny_launches(const struct tool_input *in, struct finding_list *out);

#endif
