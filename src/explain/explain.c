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

/* For the order of findings, the share is of the time that the bound leaves to win: many findings
 * have one bound, which does not tell them apart. */
static double gain_of(const struct finding *finding)
{
    const double most = finding->max_gain > 0 ? 1 - 1 / finding->max_gain : 1;

    return 1 / (1 - finding->share * most);
}

/* The table's order decides last, so that the result does not depend on qsort. */
static int by_gain(const void *a, const void *b)
{
    const struct ranked_finding *x = a, *y = b;

    if (gain_of(x->finding) != gain_of(y->finding)) {
        return gain_of(x->finding) > gain_of(y->finding) ? -1 : 1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

/* Expected gain and specificity in one number. A finding that names one cause and its cure is more
 * likely to keep its promise than one that describes a state. Published rounds (KernelPro) gained
 * over 1.5x after specific tools (spills, tiling) about twice as often as after general ones. */
static double promise(const struct ranked_finding *r)
{
    static const double likely[] = {0, 1.5, 1, 0.75};

    return log2(gain_of(r->finding)) * likely[r->rank];
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

static void explain_living(const struct chip *chip, struct candidate *c)
{
    struct finding_list *list = arena_alloc(c->arena, sizeof(*list));
    struct tool_input in;

    roofline_classify(chip, c);
    in = tool_input_of(chip, c);
    c->explanation.unexamined = tools_run(&in, list);
    choose_findings(c, list);
}

uint32_t explain_wants(const struct chip *chip, struct candidate *c)
{
    struct finding_list *list = arena_alloc(c->arena, sizeof(*list));
    struct candidate *known = arena_alloc(c->arena, sizeof(*known));
    uint32_t wanted = 0;

    *known = *c;
    known->explanation = (struct explanation){.unexamined = ""};
    candidate_count_sass(known);
    list->wanted = &wanted;
    roofline_classify(chip, known);
    const struct tool_input in = tool_input_of(chip, known);

    tools_run(&in, list);
    return wanted;
}

/* Advice follows the text of a verdict: the first row of the verdict whose words stand in the text.
 */
static const struct {
    enum verdict verdict;
    const char *words, *advice;
} advice[] = {
    {VERDICT_NO_KERNEL, "", "This move does not apply here; try another."},
    {VERDICT_CONTRACT, "", "Change only code, launch, temp, tune and where lines."},
    {VERDICT_NO_COMPILE, "", "Fix the line named, or give the move up."},
    {VERDICT_LAUNCH_FAILED, "static shared memory",
        "Declare it extern __shared__ and give its bytes in the launch line: dynamic shared memory "
        "may have more."},
    {VERDICT_LAUNCH_FAILED, "", "Fit the block, its shared memory and the arguments to the chip."},
    {VERDICT_FAULT, "phase of the mbarrier",
        "Count who arrives in each phase, bytes of copies too, at every size, and which parity "
        "each "
        "waiter asks for."},
    {VERDICT_FAULT, "deadlock", "Let every thread that the barrier counts reach the barrier."},
    {VERDICT_FAULT, "misaligned",
        "Take wide accesses only where base and row length are multiples of the width; keep a "
        "narrow path for other sizes."},
    {VERDICT_FAULT, "uninitialised",
        "Write what is read, padding and tails too; temp arrays and shared memory are not "
        "cleared."},
    {VERDICT_FAULT, "",
        "Guard the index against the array's end; sizes need not divide the block."},
    {VERDICT_RACE, "wgmma.fence",
        "Let wgmma.fence stand between the last write of these registers and the first wgmma."},
    {VERDICT_RACE, "wgmma.wait_group",
        "Let wgmma.wait_group stand before results are read, or operands in shared memory "
        "written."},
    {VERDICT_RACE, "fence.proxy.async",
        "Let the writers execute fence.proxy.async, then a barrier, then the asynchronous access."},
    {VERDICT_RACE, "no fence and atomic",
        "Writer: __syncthreads(), __threadfence(), atomic. Reader: atomic, __threadfence(), "
        "__syncthreads(). Or a second launch."},
    {VERDICT_RACE, "orders the blocks",
        "Only __threadfence() with an atomic of both sides, or a second launch, orders blocks."},
    {VERDICT_RACE, "__syncwarp", "Put a __syncwarp() between the two accesses."},
    {VERDICT_RACE, "", "Put a __syncthreads() between the write and the other thread's access."},
    {VERDICT_TIMEOUT, "", "Check the loop's end condition."},
    {VERDICT_WRONG, "", "Check tails, sizes that do not divide the tile, and the order of writes."},
    {VERDICT_NONDETERMINISTIC, "",
        "Make the order of operations fixed, or look for a missing barrier."},
    {VERDICT_SUSPICIOUS, "", "Do the whole work on every run."},
    {VERDICT_UNSUPPORTED, "", "Nothing is known of this one: use other instructions."},
    {VERDICT_DECLINED, "", "Nothing was evaluated; another model may see more."},
    {VERDICT_NO_ANSWER, "", "Nothing was evaluated; --call-time gives a model more time."},
};

static const char *advice_on(enum verdict verdict, const char *text)
{
    for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
        if (advice[i].verdict == verdict && strstr(text, advice[i].words)) {
            return advice[i].advice;
        }
    }
    return "";
}

void explain_dead(struct candidate *c)
{
    struct explanation *e = &c->explanation;
    struct finding *f = arena_alloc(c->arena, sizeof(*f));
    const char *text = c->verdict_text ? c->verdict_text : "no details";
    const char *cure = advice_on(c->verdict, text);
    const char *name = verdict_name(c->verdict);
    int room = (int)(sizeof(f->text) - 1 - strlen(name) - 2 - strlen(cure) - 5);
    bool cut = (int)strlen(text) > room;

    *f =
        (struct finding){.tool = "verdict", .severity = SEVERITY_CRITICAL, .line = c->verdict_line};
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
