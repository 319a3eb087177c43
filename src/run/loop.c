/* The closed loop. Owns the order of the stages and the reasons to stop; nothing else. */
#include "run/loop.h"

#include "base/clock.h"

#include <math.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

void loop_interrupt(void)
{
    interrupted = 1;
}

/* Once round: each stage takes the candidate and passes it on, in two halves with the check and the
 * profile between them, which may be under way on several devices at once. What to propose was
 * settled before (session_collect), since a model may think while a device works. A stage handed a
 * dead candidate returns at once; explain and store serve the dead as well, and a model may be
 * asked to repair one (*again). False means that the environment is broken, never that the kernel
 * is. */
static bool first_half(struct session *s, struct trial *trial, bool *wait, struct err *err)
{
    struct candidate *c = &trial->c;

    if (!trial->compiled && !compile_kernel(s->compiler, c, err))
        return false;
    trial->compiled = true;
    *wait = session_equal_is_under_way(s, c);
    return *wait || session_recall(s, c, err);
}

static bool second_half(struct session *s, struct trial *trial, bool *again, struct err *err)
{
    struct candidate *c = &trial->c;

    return propose_options(s->propose, c, err) && explain_kernel(s->device->chip, c, err) &&
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

/* Give the devices what is ready, in turn. What needs no device is done at once, and told before
 * anything later is begun. */
static bool begin(struct session *s, struct loop_watcher *watcher, struct err *err)
{
    struct trial *trial;
    bool wait;

    while (evaluator_idle(s->evaluator) && (trial = session_first_ready(s))) {
        watcher->trying(watcher, s, &trial->c);
        if (!first_half(s, trial, &wait, err))
            return false;
        if (wait)
            return true;
        s->nr_taken++;
        trial->state = candidate_evaluated(&trial->c) ? TRIAL_DONE : TRIAL_UNDER_WAY;
        if (trial->state == TRIAL_DONE)
            return true;
        evaluator_begin(s->evaluator, &trial->c);
    }
    return true;
}

/* Tell of what is evaluated, in the order in which it was begun, whichever device was faster. */
static bool tell(struct session *s, struct loop_watcher *watcher, struct err *err)
{
    enum { WAIT_MS = 50 };
    struct trial *trial = session_first_taken(s);
    bool again, done = true;

    if (!trial)
        return true;
    if (trial->state == TRIAL_UNDER_WAY) {
        if (!evaluator_wait(s->evaluator, &trial->c, WAIT_MS, &done, err))
            return false;
        if (!done)
            return true;
        trial->state = TRIAL_DONE;
    }
    if (!second_half(s, trial, &again, err))
        return false;
    if (!again)
        watcher->done(watcher, s, &trial->c);
    return true;
}

static bool turn(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    while (!(*why = reason_to_stop(s))) {
        if (!fill(s, err))
            return false;
        if (session_nr_pending(s) == 0) {
            *why = "exhausted";
            break;
        }
        if (!session_collect(s, !session_first_taken(s), err) || !begin(s, watcher, err) ||
            !tell(s, watcher, err))
            return false;
    }
    return true;
}

bool loop_run(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    const bool ok = turn(s, watcher, why, err);

    evaluator_drain(s->evaluator);
    return ok && propose_abandon(s->propose, err) && store_end_run(s->store, *why, err);
}
