/* The closed loop. Owns the order of the stages and the reasons to stop; nothing else.
 *
 *     propose -> compile -> check -> profile -> explain -> store
 *
 * A candidate passes the stages in this order. A stage that is handed a candidate with a verdict
 * other than ok returns at once; explain and store serve such a candidate as well. False means that
 * the environment is broken, never that the kernel is. */
#include "run/loop.h"

#include "base/proc.h"
#include "device/device.h"
#include "run/session_parts.h"

#include <math.h>
#include <signal.h>

static volatile sig_atomic_t interrupted;

void loop_interrupt(void)
{
    interrupted = 1;
    proc_interrupt();
}

bool loop_interrupted(void)
{
    return interrupted;
}

/* ---- the six stages ---- */

/* The search picks nodes and moves; proposers write the variants. A model may write while a device
 * works, so the search is asked for picks as long as slots are free. *any: a trial is under way. */
static bool propose(struct session *s, bool *any, struct err *err)
{
    if (!in_flight_fill(s, err))
        return false;
    /* Where the budget is spent, reason_to_stop says so. */
    *any = in_flight_nr(s) > 0 || in_flight_limit(s);
    return in_flight_nr(s) == 0 || in_flight_collect(s, !in_flight_first_taken(s), err);
}

/* *wait: another trial computes the same and is under way; its result will serve this one too. */
static bool compile(struct session *s, struct trial *trial, bool *wait, struct err *err)
{
    struct candidate *c = &trial->c;

    *wait = false;
    if (c->option.proposer == PROPOSER_MODEL && !trial->compiled &&
        (c->verdict == VERDICT_OK || c->verdict == VERDICT_CONTRACT)) {
        if (!store_recall_refusal(s->store, c, err))
            return false;
        if (c->recalled)
            return true;
    }
    if (!trial->compiled && !compile_kernel(workbench_compiler(s->bench), c, err))
        return false;
    trial->compiled = true;
    *wait = in_flight_has_equal(s, c);
    return *wait || session_recall(s, c, err);
}

static bool check(struct station *station, struct candidate *c, struct err *err)
{
    return station_check(station, c, err);
}

static bool profile(struct station *station, struct candidate *c, struct err *err)
{
    return station_profile(station, c, err);
}

/* Says in sentences what limits the variant. Lists the moves that the variant offers, and how
 * promising each move is. */
static bool explain(struct session *s, struct candidate *c, struct err *err)
{
    return propose_options(s->propose, c, err) &&
           explain_kernel(workbench_chip(s->bench), c, err) && steering_priors(s, c, err);
}

/* The variant becomes a node of the database; search, memory and proposers learn of it. */
static bool store(struct session *s, struct trial *trial, struct err *err)
{
    struct candidate *c = &trial->c;

    if (!store_kernel(s->store, c, err) || !reuse_note(s->reuse, c, err) ||
        !lessons_note(s->memory, &trial->parent, c, err))
        return false;
    session_tell(s, &trial->pick, c);
    if (!in_flight_go_on(s, trial, err))
        return false;
    propose_told(s->propose, c, session_gain(&trial->parent, c));
    trial->state = TRIAL_FREE; /* its memory stays until the next pick takes it */
    return true;
}

/* ---- once round ---- */

/* On the thread of a device, beside those of other devices. On a card the timed sizes are compared
 * at once, on the emulator where a variant leads (run/lead.h). */
bool loop_check_and_profile(struct station *station, struct candidate *c, struct err *err)
{
    return check(station, c, err) && profile(station, c, err) &&
           (station->device->ops->time_from == PROV_MODELLED || station_confirm(station, c, err));
}

/* Compile the proposed variants, in turn, and hand them to the devices. A variant that needs no
 * device is told before anything later is begun. */
static bool begin(struct session *s, struct loop_watcher *watcher, struct err *err)
{
    struct trial *trial;
    bool wait;

    while (evaluator_idle(s->evaluator) && (trial = in_flight_first_ready(s))) {
        watcher->trying(watcher, s, &trial->c);
        if (!trial->compiled && !store_note_trial(s->store, &trial->c, STAGE_EVALUATED, err))
            return false;
        if (!compile(s, trial, &wait, err))
            return false;
        if (wait)
            return true;
        s->in_flight.nr_taken++;
        trial->state = candidate_evaluated(&trial->c) ? TRIAL_DONE : TRIAL_UNDER_WAY;
        if (trial->state == TRIAL_DONE)
            return true;
        evaluator_begin(s->evaluator, &trial->c);
    }
    return true;
}

/* Take up the checked and profiled variants in the order in which they were begun, whichever device
 * was faster. A model may be asked to repair a broken variant: then the variant goes round
 * again. */
static bool end(struct session *s, struct loop_watcher *watcher, struct err *err)
{
    enum { WAIT_MS = 50 };
    struct trial *trial = in_flight_first_taken(s);
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
    if (!lead_compare_at_once(s, &trial->c, err) || !explain(s, &trial->c, err) ||
        !in_flight_repair(s, trial, &again, err))
        return false;
    if (again)
        return true;
    if (!store(s, trial, err))
        return false;
    watcher->done(watcher, s, &trial->c);
    return true;
}

/* ---- round and round ---- */

static const char *reason_to_stop(const struct session *s)
{
    const struct session_options *o = s->options;
    const double roofline_ns = s->root.explanation.roofline_ns;

    if (interrupted)
        return "interrupted";
    if (o->budget_s > 0 && session_elapsed_s(s) >= o->budget_s)
        return "budget";
    /* Requests under way were counted when they began, or will be paid for: they are waited for. */
    if (in_flight_nr(s) == 0 && s->in_flight.fill_left == 0 && in_flight_limit(s))
        return in_flight_limit(s);
    if (o->tune_only)
        return NULL;
    if (roofline_ns > 0 && s->root.profile.time_ns / s->state.best_speedup * 0.95 <= roofline_ns)
        return "roofline";
    if (search_converged(s->search, o->window, log2(1.01)))
        return "converged";
    return NULL;
}

static bool turn(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    bool any = true, changed;

    for (;;) {
        *why = any ? reason_to_stop(s) : "exhausted";
        if (interrupted)
            return true;
        if ((*why || lead_is_due(s)) && !lead_settle(s, watcher, &changed, err))
            return interrupted;
        if (*why && !changed)
            return true;
        if (*why) { /* the reason may hold no longer */
            any = true;
            continue;
        }
        if (!propose(s, &any, err) || (any && (!begin(s, watcher, err) || !end(s, watcher, err))))
            return interrupted; /* the device, too: what was under way is forgotten */
    }
}

/* What was interrupted works again, for the last comparison; a second signal ends the process. */
static bool settle_after_interrupt(struct session *s, struct loop_watcher *watcher, struct err *err)
{
    bool changed;
    struct err why;

    proc_go_on();
    device_go_on();
    return lead_settle(s, watcher, &changed, &why) || lead_fall_back(s, err);
}

bool loop_run(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err)
{
    bool ok = turn(s, watcher, why, err);

    evaluator_drain(s->evaluator);
    if (ok && interrupted) {
        *why = "interrupted";
        ok = settle_after_interrupt(s, watcher, err);
    }
    if (!ok)
        lead_rescue(s);
    return ok && propose_abandon(s->propose, err) && session_remember(s, err) &&
           store_end_run(s->store, *why, s->state.best, err);
}
