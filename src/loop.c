/* The closed loop. Owns the order of the stages and the reasons to stop; nothing else. */
#include "loop.h"

#include "base/clock.h"

#include <math.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

void loop_interrupt(void)
{
    interrupted = 1;
}

/* The chain: each stage takes the candidate and passes it on. A stage handed a dead candidate
 * returns at once; explain and store serve the dead as well. False means that the environment is
 * broken, never that the kernel is. */
static bool evaluate(
    struct session *s, const struct candidate *parent, struct candidate *c, struct err *err)
{
    return propose_kernel(s->propose, parent->source, parent->source_bytes, c, err) &&
           compile_kernel(s->compiler, c, err) && store_recall(s->store, c, err) &&
           check_kernel(s->checker, c, err) && profile_kernel(s->profiler, c, err) &&
           propose_options(s->propose, c, err) && explain_kernel(s->device->chip, c, err) &&
           store_kernel(s->store, c, err);
}

static const char *reason_to_stop(const struct session *s)
{
    const struct options *o = s->options;
    const double elapsed_s = (double)(clock_ns() - s->started_ns) * 1e-9;
    const double roofline_ns = s->root.explanation.roofline_ns;

    if (interrupted)
        return "interrupted";
    if (o->budget_nodes && s->nr_evaluated >= o->budget_nodes)
        return "budget";
    if (o->budget_s > 0 && elapsed_s >= o->budget_s)
        return "budget";
    if (roofline_ns > 0 && s->root.profile.time_ns / s->best_speedup * 0.95 <= roofline_ns)
        return "roofline";
    if (search_converged(s->search, o->window, log2(1.01)))
        return "converged";
    return NULL;
}

/* What the pick means: the parent's source, and its option of that number. */
static bool begin(struct session *s, const struct search_pick *pick, struct candidate *c,
    struct candidate *parent, struct err *err)
{
    bool found;

    session_candidate(s, c, pick->node, pick->parent, (struct option){.action = ACTION_NONE});
    *parent = (struct candidate){.arena = c->arena, .task = c->task};
    if (!store_load_node(s->store, pick->parent, parent, &found, err))
        return false;
    for (unsigned i = 0; found && i < parent->nr_options; i++) {
        if (session_move_id(&parent->options[i]) == pick->move) {
            c->option = parent->options[i];
            return true;
        }
    }
    return err_set(err, "node %lld has no move %u: the database was changed by another program",
        (long long)pick->parent, pick->move);
}

bool loop_run(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    while (!(*why = reason_to_stop(s))) {
        struct search_pick pick;
        struct candidate c, parent;

        if (!search_ask(s->search, &pick)) {
            *why = "exhausted";
            break;
        }
        if (!begin(s, &pick, &c, &parent, err))
            return false;
        watcher->trying(watcher, s, &c);
        if (!evaluate(s, &parent, &c, err))
            return false;
        session_tell(s, &pick, &c);
        watcher->done(watcher, s, &c);
    }
    return store_end_run(s->store, *why, err);
}
