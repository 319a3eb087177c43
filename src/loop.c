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

/* Once round: each stage takes the candidate and passes it on. What to propose was settled before
 * (session_propose), since a model may think while the device works. A stage handed a dead
 * candidate returns at once; explain and store serve the dead as well, and a model may be asked to
 * repair one (*again). False means that the environment is broken, never that the kernel is. */
static bool go_round(struct session *s, struct trial *trial, bool *again, struct err *err)
{
    struct candidate *c = &trial->c;

    return compile_kernel(s->compiler, c, err) && session_recall(s, c, err) &&
           check_kernel(s->checker, c, err) && profile_kernel(s->profiler, c, err) &&
           propose_options(s->propose, c, err) && explain_kernel(s->device->chip, c, err) &&
           session_priors(s, c, err) && session_repair(s, trial, again, err) &&
           (*again || session_store(s, trial, err));
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
    if (o->max_tokens && propose_spent(s->propose).tokens >= o->max_tokens)
        return "tokens";
    if (o->max_cost > 0 && propose_spent(s->propose).cost >= o->max_cost)
        return "cost";
    if (roofline_ns > 0 && s->root.profile.time_ns / s->best_speedup * 0.95 <= roofline_ns)
        return "roofline";
    if (search_converged(s->search, o->window, log2(1.01)))
        return "converged";
    return NULL;
}

/* Ask the search for as many picks as may be under way: one, or several where a model works while
 * the device does. None beyond the budget. */
static bool fill(struct session *s, struct err *err)
{
    const uint64_t budget = s->options->budget_nodes;
    unsigned pending = session_nr_pending(s);
    bool asked = true;

    for (; asked && pending < s->nr_slots; pending++) {
        if (budget && s->nr_evaluated + pending >= budget)
            break;
        if (!session_ask(s, &asked, err))
            return false;
    }
    return true;
}

bool loop_run(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    while (!(*why = reason_to_stop(s))) {
        struct trial *trial;
        bool again;

        if (!fill(s, err))
            return false;
        if (session_nr_pending(s) == 0) {
            *why = "exhausted";
            break;
        }
        if (!session_propose(s, &trial, err))
            return false;
        if (!trial)
            continue; /* all wait for a model */
        watcher->trying(watcher, s, &trial->c);
        if (!go_round(s, trial, &again, err))
            return false;
        if (!again)
            watcher->done(watcher, s, &trial->c);
    }
    return propose_abandon(s->propose, err) && store_end_run(s->store, *why, err);
}
