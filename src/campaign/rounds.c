/* Owns the distribution of budget over tasks. */
#include "campaign/rounds.h"

#include <math.h>
#include <string.h>

enum { ENOUGH_RIGHT = 8 };
static const double GAIN = 1.01;

/* A task as of the end of a round. */
struct standing {
    const struct campaign_slice *last, *before, *before2; /* NULL: fewer slices */
    bool over;    /* the task failed, or its run says that nothing is left to gain */
    bool gaining; /* its last slice gained */
    bool resting;
    double owed; /* the budget that a limit on the whole campaign cut off its last slice */
};

static bool is_why(const struct campaign_slice *s, const char *why)
{
    return strcmp(s->why, why) == 0;
}

static bool is_over(const struct campaign_task *t, const struct campaign_slice *s)
{
    if (s->problem || is_why(s, "converged") || is_why(s, "roofline") || is_why(s, "exhausted"))
        return true;
    return (t->max_tokens && s->tokens >= t->max_tokens) ||
           (t->max_cost > 0 && s->cost >= t->max_cost);
}

static struct standing standing_at(const struct campaign_task *t, unsigned round)
{
    struct standing st = {0};

    for (unsigned i = 0; i < t->nr_slices && t->slices[i].round < round; i++) {
        st.before2 = st.before;
        st.before = st.last;
        st.last = &t->slices[i];
    }
    if (!st.last)
        return st;
    st.over = is_over(t, st.last);
    st.gaining = !st.over && st.last->speedup >= GAIN * (st.before ? st.before->speedup : 1);
    st.resting = !st.over && st.before && st.last->used >= t->budget / 2 &&
                 st.last->speedup < GAIN * (st.before2 ? st.before2->speedup : 1) &&
                 st.last->nr_ok >= (st.before2 ? st.before2->nr_ok : 0) + ENOUGH_RIGHT;
    if (!st.over && (is_why(st.last, "tokens") || is_why(st.last, "cost")))
        st.owed = fmax(st.last->target - st.last->used, 0);
    return st;
}

static double used_of(const struct standing *st)
{
    return st->last ? st->last->used : 0;
}

static double slice_of(const struct campaign *c, const struct campaign_task *t)
{
    return ceil(t->budget / c->nr_rounds);
}

/* Sets the targets of a round in which every task has a slice. */
static void share_evenly(const struct campaign *c, unsigned number, double *targets)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct campaign_task *t = &c->tasks[i];
        const struct standing st = standing_at(t, number);
        const double target = ceil(t->budget * number / c->nr_rounds);

        if (!st.over && !st.resting && target > used_of(&st))
            targets[i] = target;
    }
}

/* A budget that was cut off still belongs to its task, so that budget is in no pool. */
static void share_owed(const struct campaign *c, unsigned number, double *targets)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct standing st = standing_at(&c->tasks[i], number);

        if (st.owed > 0)
            targets[i] = st.last->target;
    }
}

/* Does a task share the pool? The pool of one unit goes to the tasks that gain; when no task gains,
 * to the tasks that rest. */
static bool wants_more(const struct campaign_task *t, const struct standing *st, bool for_gain)
{
    if (st->owed > 0)
        return false;
    return for_gain ? st->gaining : st->resting && used_of(st) < t->budget;
}

static void share_pool(const struct campaign *c, unsigned number, bool timed, double *targets)
{
    double pool = 0, share;
    unsigned nr_gaining = 0, nr_resting = 0;

    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct campaign_task *t = &c->tasks[i];
        const struct standing st = standing_at(t, number);

        if (t->timed != timed)
            continue;
        pool += t->budget - used_of(&st) - st.owed;
        nr_gaining += wants_more(t, &st, true);
        nr_resting += wants_more(t, &st, false);
    }
    share = floor(pool / fmax(1, nr_gaining ? nr_gaining : nr_resting));
    for (unsigned i = 0; i < c->nr_tasks && pool >= 1; i++) {
        const struct campaign_task *t = &c->tasks[i];
        const struct standing st = standing_at(t, number);
        double more = fmin(fmax(share, 1), slice_of(c, t));

        if (t->timed != timed || !wants_more(t, &st, nr_gaining > 0))
            continue;
        if (nr_gaining == 0)
            more = fmin(more, t->budget - used_of(&st));
        targets[i] = used_of(&st) + more;
        pool -= more;
    }
}

static void count_round(const struct campaign *c, struct round *round)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct standing st = standing_at(&c->tasks[i], round->number);

        round->nr_in_round += round->targets[i] > 0;
        round->nr_with_model += round->targets[i] > 0 && c->tasks[i].has_model;
        if (st.last) {
            round->tokens += st.last->tokens;
            round->cost += st.last->cost;
        }
    }
}

static bool has_ended(const struct campaign_task *t, unsigned round)
{
    return t->nr_slices > 0 && t->slices[t->nr_slices - 1].round >= round;
}

struct round rounds_next(const struct campaign *c, struct arena *arena)
{
    struct round round = {0};

    for (unsigned number = 1; number <= CAMPAIGN_MOST_ROUNDS; number++) {
        unsigned left = 0;

        round = (struct round){
            .number = number, .targets = arena_array(arena, c->nr_tasks, sizeof(double))};
        if (number <= c->nr_rounds) {
            share_evenly(c, number, round.targets);
        } else {
            share_owed(c, number, round.targets);
            if (c->nr_rounds > 1) {
                share_pool(c, number, false, round.targets);
                share_pool(c, number, true, round.targets);
            }
        }
        count_round(c, &round);
        if (round.nr_in_round == 0 && number >= c->nr_rounds)
            break;
        for (unsigned i = 0; i < c->nr_tasks; i++) {
            if (has_ended(&c->tasks[i], number))
                round.targets[i] = 0;
            left += round.targets[i] > 0;
        }
        if (left > 0)
            return round;
    }
    round.number = 0;
    return round;
}
