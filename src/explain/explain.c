/* Owns the stage: classify, run the tools, choose the findings that leave, turn them into priors.
 */
#include "explain/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 5 };

struct ranked_finding {
    const struct finding *finding;
    unsigned rank, order;
};

/* The table's order decides last, so that the result does not depend on qsort. */
static int by_gain(const void *a, const void *b)
{
    const struct ranked_finding *x = a, *y = b;

    if (x->finding->max_gain != y->finding->max_gain) {
        return x->finding->max_gain > y->finding->max_gain ? -1 : 1;
    }
    if (x->finding->share != y->finding->share) {
        return x->finding->share > y->finding->share ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

/* Expected gain and specificity in one number. A finding that names one cause and its cure is more
 * likely to keep its promise than one that describes a state. Published rounds (KernelPro) gained
 * over 1.5x after specific tools (spills, tiling) about twice as often as after general ones. */
static double promise(const struct ranked_finding *r)
{
    static const double likely[] = {0, 1.5, 1, 0.75};

    return log2(r->finding->max_gain) * likely[r->rank];
}

static int by_promise(const void *a, const void *b)
{
    const struct ranked_finding *x = a, *y = b;
    double p = promise(x), q = promise(y);

    if (p != q) {
        return p > q ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return by_gain(a, b);
}

/* The five findings with the most to gain leave, in the order of their promised gain. */
static void choose_findings(struct candidate *c, const struct finding_list *list)
{
    struct explanation *e = &c->explanation;
    struct ranked_finding ranked[TOOLS_MAX_FINDINGS];
    unsigned nr = list->nr < MOST_FINDINGS ? list->nr : MOST_FINDINGS;

    for (unsigned i = 0; i < list->nr; i++) {
        ranked[i] = (struct ranked_finding){&list->findings[i], list->ranks[i], i};
    }
    qsort(ranked, list->nr, sizeof(ranked[0]), by_gain);
    qsort(ranked, nr, sizeof(ranked[0]), by_promise);
    e->findings = arena_array(c->arena, nr + 1u, sizeof(*e->findings));
    e->nr_findings = nr;
    for (unsigned i = 0; i < nr; i++) {
        e->findings[i] = *ranked[i].finding;
    }
}

static double longest_share(const struct profile *profile)
{
    double longest = 0, all = 0;

    for (unsigned i = 0; i < profile->nr_launches; i++) {
        double time = counters_get(&profile->launches[i], METRIC_TIME_NS);

        longest = i == profile->longest ? time : longest;
        all += time;
    }
    return all > 0 ? longest / all : 1;
}

struct tool_input tool_input_of(const struct chip *chip, const struct candidate *c)
{
    struct tool_input in = {.chip = chip, .c = c, .n = &c->profile.total};

    in.roofline_share = c->explanation.roofline_share;
    if (c->profile.nr_launches > 0 && c->profile.configs) {
        in.config = &c->profile.configs[c->profile.longest];
    }
    in.code = code_read(&c->compilation, c->arena);
    in.longest_share = longest_share(&c->profile);
    in.unique_bytes = tools_unique_bytes(c);
    tools_weigh_paths(&in);
    return in;
}

static void explain_living(const struct chip *chip, struct candidate *c)
{
    struct finding_list *list = arena_alloc(c->arena, sizeof(*list));
    struct tool_input in;

    roofline_classify(chip, c);
    in = tool_input_of(chip, c);
    c->explanation.unexamined = tools_run(&in, list);
    choose_findings(c, list);
}

/* The advice on each verdict; it follows the text of the verdict. */
static const char *const advice[NR_VERDICTS] = {
    [VERDICT_NO_KERNEL] = "This move does not apply here; try another.",
    [VERDICT_CONTRACT] = "Change only code, launch, temp, tune and where lines.",
    [VERDICT_NO_COMPILE] = "Fix the line named, or give the move up.",
    [VERDICT_LAUNCH_FAILED] = "Fit the block, its shared memory and the arguments to the chip.",
    [VERDICT_FAULT] = "Guard the index against the array's end; sizes need not divide the block.",
    [VERDICT_RACE] = "Put a __syncthreads() between the write and the other thread's access.",
    [VERDICT_TIMEOUT] = "Check the loop's end condition.",
    [VERDICT_WRONG] = "Check tails, sizes that do not divide the tile, and the order of writes.",
    [VERDICT_NONDETERMINISTIC] =
        "Make the order of operations fixed, or look for a missing barrier.",
    [VERDICT_SUSPICIOUS] = "Do the whole work on every run.",
    [VERDICT_UNSUPPORTED] = "Nothing is known of this one: use other instructions.",
};

void explain_dead(struct candidate *c)
{
    struct explanation *e = &c->explanation;
    struct finding *f = arena_alloc(c->arena, sizeof(*f));
    const char *text = c->verdict_text ? c->verdict_text : "no details";
    const char *cure = advice[c->verdict] ? advice[c->verdict] : "";
    const char *name = verdict_name(c->verdict);
    int room = (int)(sizeof(f->text) - 1 - strlen(name) - 2 - strlen(cure) - 5);
    bool cut = (int)strlen(text) > room;

    *f = (struct finding){
        .tool = "verdict", .severity = SEVERITY_CRITICAL, .line = c->verdict_line, .max_gain = 1};
    snprintf(f->text, sizeof(f->text), "%s: %.*s%s %s", name, room, text,
        cut                                        ? "..."
        : text[0] && text[strlen(text) - 1] == '.' ? ""
                                                   : ".",
        cure);
    for (char *p = f->text; *p; p++) { /* one line, whatever the compiler's log looked like */
        if (*p == '\n' || *p == '\t' || *p == '\r') {
            *p = ' ';
        }
    }
    e->bound = BOUND_UNKNOWN;
    e->summary = arena_printf(c->arena, "Not explained: %s.", name);
    e->findings = f;
    e->nr_findings = 1;
    e->unexamined = "";
}

bool explain_kernel(const struct chip *chip, struct candidate *c, struct err *err)
{
    (void)err;
    c->explanation = (struct explanation){.unexamined = ""};
    if (c->verdict == VERDICT_OK) {
        explain_living(chip, c);
    } else {
        explain_dead(c);
    }
    const struct advice from_findings = advice_of_findings(c);

    priors_fill(c, &from_findings);
    return true;
}
