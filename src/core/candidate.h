/* The candidate: the one record that goes round the loop. Each stage reads the parts that earlier
 * stages filled and fills its own part. All pointers live in the step arena unless said otherwise.
 */
#ifndef KEET_CORE_CANDIDATE_H
#define KEET_CORE_CANDIDATE_H

#include "base/arena.h"
#include "base/hash.h"
#include "core/actions.h"
#include "core/counters.h"
#include "core/sass.h"
#include "core/task.h"
#include "core/verdict.h"

#include <stdbool.h>
#include <stdint.h>

enum proposer { PROPOSER_NONE, PROPOSER_REWRITER, PROPOSER_TUNER, PROPOSER_MODEL, NR_PROPOSERS };
const char *proposer_name(enum proposer proposer);

/* One thing that can be tried on a node: a move and one of its variants (which loop, which factor).
 * The rewriter numbers the variants of a source text, always in the same way. */
struct option {
    enum action action;
    enum proposer proposer;
    unsigned variant;
    float prior;      /* filled by explain; sums to 1 over a node's options */
    const char *what; /* "unroll the loop at line 9 by 4": shown live and in reports */
};

/* What the compiler made of one kernel. */
struct kernel_facts {
    const char *kernel;  /* as written in the launch line */
    const char *lowered; /* the symbol in PTX and cubin */
    unsigned registers, stack_bytes, spill_store_bytes, spill_load_bytes;
    unsigned smem_static_bytes, const_bytes, nr_barriers;
    /* Of the machine code; not stored. */
    unsigned machine_insts; /* 0: not known */
    bool serial_products; /* each wgmma is waited for before the next: ptxas could not do better */
};

struct compilation {
    const char *ptx;
    size_t ptx_bytes;
    const void *cubin; /* where kernels were compiled one by one: of each, one after another */
    size_t cubin_bytes;
    const char *log;              /* warnings, ptxas -v */
    struct kernel_facts *kernels; /* one per distinct kernel of the plan's launches, in order */
    unsigned nr_kernels;
    struct sass_facts *sass; /* one per kernel, arch 0 where not known; NULL: none (recalled) */
    /* Hash of the PTX without line information and of the launches: same key, same node. */
    struct hash key;
    double compile_ms;
    bool cached;
};

/* What the check saw. */
struct check_result {
    unsigned nr_runs; /* candidate runs compared with the reference */
    unsigned nr_shapes;
    double share; /* the largest error over what was allowed there; not stored */
    double max_abs, max_rel, q99_rel; /* errors over all compared elements */
    const char *worst_array;
    uint64_t worst_index;
    bool nondeterministic_allowed; /* float atomics explain the differences seen */
    bool timed;       /* outputs at the timed sizes are compared, or the note says why not */
    const char *note; /* what was checked and how, one line */
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL };

enum { FINDING_MAX_EVIDENCE = 6, FINDING_MAX_WEIGHTS = 6, FINDING_TEXT_BYTES = 541 };

struct evidence {
    enum metric metric;
    double value;
    enum provenance from;
};

struct weight {
    enum action action;
    float weight; /* > 0; relative to the other findings' weights */
};

/* One sentence of advice with its evidence. */
struct finding {
    const char *tool;
    enum severity severity;
    unsigned line; /* of the candidate's source; 0 when it concerns the whole kernel */
    char text[FINDING_TEXT_BYTES];
    double share;       /* of the time that is expected to be won, 0..0.999: for ranking */
    double left_ns;     /* of the launch (its group's longest) without the cause; 0: not known. Not
                           stored */
    struct limit left;  /* what limits it then. Not stored */
    double max_gain;    /* upper bound of the gain, >= 1; 0: nothing bounds it */
    const char *launch; /* concerned: "f", "each of 3 f"; NULL: the whole profile. Not stored */
    struct evidence evidence[FINDING_MAX_EVIDENCE];
    unsigned nr_evidence;
    struct weight weights[FINDING_MAX_WEIGHTS];
    unsigned nr_weights;
    bool from_user; /* found by a tool of the user's. Not stored */
};

/* The gain to expect: that of the finding's share, and no more than its bound. */
double finding_expected(const struct finding *finding);
/* Does that gain come from a model of time without the cause, which is among the evidence?
 * Otherwise it is an estimate, for ranking only. */
bool finding_is_modelled(const struct finding *finding);
/* "about 1.90x, at most 2.30x", "at most 2.30x", or "". */
struct gain_text {
    char text[48];
};
struct gain_text finding_gain(const struct finding *finding);

enum bound { BOUND_UNKNOWN, BOUND_COMPUTE, BOUND_MEMORY, BOUND_LATENCY, BOUND_MIXED };
const char *bound_name(enum bound bound);

struct explanation {
    enum bound bound;
    double confidence;     /* 0..1 */
    double roofline_ns;    /* the least time that the chip needs for the task's `work`; 0 unknown */
    double roofline_share; /* roofline_ns / time, 0..1; 0 unknown */
    const char *summary;   /* one sentence */
    struct finding *findings; /* at most 5, by expected gain and specificity */
    unsigned nr_findings;
    const char *unexamined; /* names of tools that could not run, or "" */
};

/* One question to a language model and its answer, for the record. */
struct model_call {
    const char *purpose; /* "plan", "write", "repair" */
    const char *model;   /* as given with --model */
    const char *prompt;  /* all messages, each under its role */
    const char *reply;   /* NULL when no answer came */
    const char *error;   /* why no answer came, or the fault in its form; NULL: none */
    /* CALL_ASKED until an answer is there, and for good where the run was killed before; then ok,
     * truncated, refused, ..., or one of the other two below: the question goes on in the next
     * call. */
    const char *outcome;
    uint64_t tokens_in, tokens_out, tokens_cached; /* cached: a part of tokens_in */
    bool tokens_estimated;                         /* by bytes/4: the endpoint did not say */
    /* Tokens of attempts that broke after the answer had begun, estimated. The counts above do not
     * include them, the bill probably does. */
    uint64_t lost_in, lost_out;
    unsigned attempts; /* requests sent: the first, and one after each fault */
    double latency_ms;
    double waited_ms;     /* the part of latency_ms that went by in back-off */
    double queued_ms;     /* before latency_ms begins */
    double cost;          /* in dollars, lost tokens included; NaN: no price */
    enum verdict verdict; /* of the code in the reply; OK for plans */
    const char *verdict_text;
};

#define CALL_ASKED "asked"
/* The answer asked for look-ups, and: the endpoint refused definitions of tools. */
#define CALL_LOOK_UP "look_up"
#define CALL_NO_TOOLS "no_tools"
bool model_call_goes_on(const struct model_call *call);

/* What the calls of a run took together. */
struct model_spent {
    unsigned nr_calls, nr_attempts;
    unsigned nr_failed;   /* calls without an answer */
    unsigned nr_unpriced; /* calls whose model has no price: `cost` leaves them out */
    uint64_t tokens_in, tokens_out, tokens_cached; /* as the endpoints say; cached: a part of in */
    uint64_t lost_in, lost_out;                    /* estimated, of answers that broke off */
    uint64_t tokens;                               /* of all kinds: --max-tokens limits this sum */
    double cost;                                   /* dollars, of the calls with a known price */
    double latency_ms, waited_ms;                  /* sums over calls; waited: a part of latency */
};

struct candidate {
    struct arena *arena;     /* the step arena, borrowed */
    const struct task *task; /* borrowed */
    int64_t node;            /* number in this run, root = 0 */
    int64_t parent;          /* -1 for the root */
    uint64_t seed;           /* of everything random about this node */

    /* propose */
    struct option option; /* what was asked for */
    const char *source;
    size_t source_bytes;
    struct plan plan;
    const char *proposal_note; /* the proposer's words: what it did, or why it did nothing */
    struct model_call *calls;  /* in order of asking */
    unsigned nr_calls;

    /* the verdict so far; anything but OK makes the candidate dead */
    enum verdict verdict;
    const char *verdict_text; /* "kernel.cu:12: ..." cause and place; NULL when ok */
    unsigned verdict_line;    /* of the source, 0 unknown */

    struct compilation compilation;
    struct check_result check;
    struct profile profile;
    bool profiled;
    struct explanation explanation;
    bool recalled;         /* the results are those of an equal node, recalled_from */
    int64_t recalled_from; /* -1 when not recalled */
    bool reused; /* check, profile and options come from an earlier run of the same text */

    /* what can be tried next, with priors */
    struct option *options;
    unsigned nr_options;

    /* told to the search */
    double speedup; /* over the original, by profile.time_from; 0 when dead */
};

/* An empty candidate: no code, no move, not recalled, node 0 without a parent. `task` may be NULL.
 */
void candidate_init(struct candidate *c, struct arena *arena, const struct task *task);
/* The task's own kernel as a candidate, ready for compile: its source and its plan, node 0. */
void candidate_begin(
    struct candidate *c, struct arena *arena, const struct task *task, uint64_t seed);

/* Sets verdict, line and text (printed into the arena). Returns true, so that a stage can
 * `return candidate_fail(...)`: a verdict is not an error. */
bool candidate_fail(struct candidate *c, enum verdict verdict, unsigned line, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

/* The candidate's verdict goes into the record of the call that led to it. */
void candidate_note_verdict(struct candidate *c);
/* Adds a call to the candidate's record, in the step arena; the caller fills it in. */
struct model_call *candidate_add_call(struct candidate *c);
void model_spent_add(struct model_spent *spent, const struct model_call *call);

/* candidate_count_sass puts the counts in the machine code of all kernels (compilation.sass) into
 * the metrics of profile.total. candidate_sass_lines gives their sums by line, in rising order and
 * arena memory. Neither does anything where the machine code was not read. */
void candidate_count_sass(struct candidate *c);
const struct sass_line *candidate_sass_lines(const struct candidate *c, unsigned *nr);

/* How many repairs the candidate had, whatever look-ups they took; each was one more evaluation. A
 * repair that was under way when a run was killed is none. */
unsigned candidate_nr_repairs(const struct candidate *c);
/* Was the candidate as it stands now evaluated, at a cost? Not when its results are those of an
 * equal node, nor when the last call brought no version: a model declined, or did not answer. */
bool candidate_cost(const struct candidate *c);

/* Nothing is left to find out: the candidate is dead, or its results are those of an equal node. */
bool candidate_settled(const struct candidate *c);
/* Check, profile and options are there: the candidate is settled, or taken from an earlier run. */
bool candidate_evaluated(const struct candidate *c);

#endif
