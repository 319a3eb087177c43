/* Who gets how much budget: by hand, and over random campaigns, in which nothing may be lost or
 * given out twice, and the order of the ends within a round may not matter. */
#include "campaign/rounds.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MOST = 12 };

static void make(struct campaign *c, const double *budgets, unsigned nr, unsigned nr_rounds)
{
    campaign_init(c);
    c->nr_rounds = nr_rounds;
    c->tasks = calloc(nr, sizeof(*c->tasks));
    c->nr_tasks = nr;
    for (unsigned i = 0; i < nr; i++)
        c->tasks[i] = (struct campaign_task){.name = "t", .budget = budgets[i], .device = "emu"};
}

static void end_slice(struct campaign_task *t, unsigned round, double target, double used,
    double speedup, unsigned nr_ok, const char *why)
{
    campaign_add_slice(t, (struct campaign_slice){.round = round,
                              .target = target,
                              .used = used,
                              .nr_evaluated = (uint64_t)used,
                              .nr_ok = nr_ok,
                              .speedup = speedup,
                              .why = why,
                              .problem = strcmp(why, "failed") == 0 ? "planted" : NULL});
}

/* Each target of the next round as "round: a b c". */
static void expect(const struct campaign *c, const char *wanted)
{
    struct arena *arena = arena_create();
    const struct round round = rounds_next(c, arena);
    char text[256];
    int len = snprintf(text, sizeof(text), "%u:", round.number);

    for (unsigned i = 0; round.number && i < c->nr_tasks; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, " %g", round.targets[i]);
    assert_string_equal(text, wanted);
    arena_destroy(arena);
}

static void even_slices_then_complete(void **state)
{
    const double budgets[] = {8, 6};
    struct campaign c;

    (void)state;
    make(&c, budgets, 2, 2);
    expect(&c, "1: 4 3");
    end_slice(&c.tasks[1], 1, 3, 3, 1, 3, "budget"); /* the second ended first */
    expect(&c, "1: 4 0");
    end_slice(&c.tasks[0], 1, 4, 4, 1, 4, "budget");
    expect(&c, "2: 8 6");
    end_slice(&c.tasks[0], 2, 8, 8, 1, 8, "budget");
    end_slice(&c.tasks[1], 2, 6, 6, 1, 6, "budget");
    expect(&c, "0:");
    campaign_finish(&c);
}

/* One converges at once: what it leaves goes to the one that gains, not to the one that does not.
 * Worked out by hand: the pool is 40 - 4 = 36. */
static void what_converged_leaves_moves_to_gains(void **state)
{
    const double budgets[] = {40, 40, 40};
    struct campaign c;

    (void)state;
    make(&c, budgets, 3, 4);
    expect(&c, "1: 10 10 10");
    end_slice(&c.tasks[0], 1, 10, 4, 3, 4, "converged");
    end_slice(&c.tasks[1], 1, 10, 10, 2, 10, "budget");
    end_slice(&c.tasks[2], 1, 10, 10, 1, 0, "budget"); /* nothing right: no sign of anything */
    expect(&c, "2: 0 20 20");
    for (unsigned r = 2; r <= 4; r++) {
        end_slice(&c.tasks[1], r, 10 * r, 10 * r, 1 + r, 10 * r, "budget");
        end_slice(&c.tasks[2], r, 10 * r, 10 * r, 1, 0, "budget");
    }
    expect(&c, "5: 0 50 0");
    end_slice(&c.tasks[1], 5, 50, 50, 6, 50, "budget");
    expect(&c, "6: 0 60 0");
    end_slice(&c.tasks[1], 6, 60, 60, 7, 60, "budget");
    expect(&c, "7: 0 70 0");
    end_slice(&c.tasks[1], 7, 70, 70, 8, 70, "budget");
    expect(&c, "8: 0 76 0"); /* the last of the pool */
    end_slice(&c.tasks[1], 8, 76, 76, 9, 76, "budget");
    expect(&c, "0:");
    campaign_finish(&c);
}

/* Half of its budget without a gain, and with enough that was right: a task rests; when no other
 * gains, it gets the rest after all. */
static void a_task_rests_and_gets_its_rest(void **state)
{
    const double budgets[] = {40, 40};
    struct campaign c;

    (void)state;
    make(&c, budgets, 2, 4);
    for (unsigned r = 1; r <= 2; r++) {
        end_slice(&c.tasks[0], r, 10 * r, 10 * r, 1, 10 * r, "budget");
        end_slice(&c.tasks[1], r, 10 * r, 10 * r, 1 + r, 10 * r, "budget");
    }
    expect(&c, "3: 0 30");
    end_slice(&c.tasks[1], 3, 30, 30, 3, 30, "budget");
    expect(&c, "4: 0 40");
    end_slice(&c.tasks[1], 4, 40, 40, 3, 40, "budget");
    expect(&c, "5: 30 0");
    end_slice(&c.tasks[0], 5, 30, 30, 1, 30, "budget");
    expect(&c, "6: 40 0");
    end_slice(&c.tasks[0], 6, 40, 40, 1, 40, "budget");
    expect(&c, "0:");
    campaign_finish(&c);
}

static void one_round_moves_nothing(void **state)
{
    const double budgets[] = {7, 9};
    struct campaign c;

    (void)state;
    make(&c, budgets, 2, 1);
    expect(&c, "1: 7 9");
    end_slice(&c.tasks[0], 1, 7, 2, 2, 2, "converged");
    end_slice(&c.tasks[1], 1, 9, 9, 2, 9, "budget");
    expect(&c, "0:");
    campaign_finish(&c);
}

static void failures_leave_their_budget(void **state)
{
    const double budgets[] = {10, 10};
    struct campaign c;

    (void)state;
    make(&c, budgets, 2, 2);
    end_slice(&c.tasks[0], 1, 5, 0, 0, 0, "failed");
    end_slice(&c.tasks[1], 1, 5, 5, 2, 5, "budget");
    expect(&c, "2: 0 10");
    end_slice(&c.tasks[1], 2, 10, 10, 4, 10, "budget");
    expect(&c, "3: 0 15");
    end_slice(&c.tasks[1], 3, 15, 15, 4, 15, "budget");
    expect(&c, "0:");
    campaign_finish(&c);
}

/* What a limit of the whole cut off stays the task's own; it is no leftover, and nothing of it goes
 * to those that gain. Also where nothing else is moved. A limit of the task's own is an end. */
static void what_was_cut_off_is_owed(void **state)
{
    const double budgets[] = {10, 10, 10};
    struct campaign c;

    (void)state;
    make(&c, budgets, 3, 1);
    c.tasks[2].max_tokens = 500;
    end_slice(&c.tasks[0], 1, 10, 3, 1, 3, "tokens");
    end_slice(&c.tasks[1], 1, 10, 10, 2, 10, "budget");
    end_slice(&c.tasks[2], 1, 10, 4, 2, 4, "tokens");
    c.tasks[2].slices[0].tokens = 500;
    expect(&c, "2: 10 0 0");
    end_slice(&c.tasks[0], 2, 10, 7, 1, 3, "cost");
    expect(&c, "3: 10 0 0");
    end_slice(&c.tasks[0], 3, 10, 10, 1, 10, "budget");
    expect(&c, "0:");
    campaign_finish(&c);

    make(&c, budgets, 3, 2);
    end_slice(&c.tasks[0], 1, 5, 3, 1, 3, "tokens");
    end_slice(&c.tasks[1], 1, 5, 5, 2, 5, "budget");
    end_slice(&c.tasks[2], 1, 5, 4, 2, 4, "converged");
    expect(&c, "2: 10 10 0");
    end_slice(&c.tasks[0], 2, 10, 8, 1, 3, "tokens");
    end_slice(&c.tasks[1], 2, 10, 10, 4, 10, "budget");
    expect(&c, "3: 10 15 0"); /* the pool: the 6 that the third left; a slice is 5 */
    campaign_finish(&c);
}

/* Seconds and variants are two pools. */
static void units_are_kept_apart(void **state)
{
    const double budgets[] = {10, 100};
    struct campaign c;

    (void)state;
    make(&c, budgets, 2, 2);
    c.tasks[1].timed = true;
    end_slice(&c.tasks[1], 1, 50, 20, 2, 5, "converged");
    end_slice(&c.tasks[0], 1, 5, 5, 2, 5, "budget");
    end_slice(&c.tasks[0], 2, 10, 10, 4, 10, "budget");
    expect(&c, "0:"); /* it gains, but the 80 seconds are no variants */
    campaign_finish(&c);
}

/* What becomes of a task's slice, as a function of the task and its target alone. */
static void play(struct campaign_task *t, unsigned task, unsigned round, double target)
{
    struct rng rng;
    const struct campaign_slice *last = t->nr_slices ? &t->slices[t->nr_slices - 1] : NULL;
    const double before = last ? last->used : 0, speedup = last ? last->speedup : 1;
    unsigned dice;

    rng_seed(&rng, task, (uint64_t)target);
    dice = (unsigned)rng_below(&rng, 10);
    if (dice == 0)
        end_slice(t, round, target, before, speedup, last ? (unsigned)last->nr_ok : 0, "failed");
    else if (dice == 1)
        end_slice(t, round, target, floor((before + target) / 2), speedup, 1, "converged");
    else if (dice == 2)
        end_slice(t, round, target, ceil((before + target) / 2), speedup, 1, "tokens");
    else
        end_slice(t, round, target, target, dice < 6 ? speedup * 1.5 : speedup,
            (unsigned)(target * 0.7), "budget");
}

/* Plays to the end; the tasks of a round end in an order of the dice. The sum of what was used, and
 * a text of all slices. */
static double play_all(struct campaign *c, uint64_t order, char *text, size_t bytes)
{
    struct rng rng;
    double used = 0;
    size_t len = 0;

    rng_seed(&rng, order, 1);
    for (unsigned steps = 0;; steps++) {
        struct arena *arena = arena_create();
        const struct round round = rounds_next(c, arena);
        unsigned i = (unsigned)rng_below(&rng, c->nr_tasks);

        assert_true(steps < 5000);
        if (round.number == 0) {
            arena_destroy(arena);
            break;
        }
        while (round.targets[i] <= 0)
            i = (i + 1) % c->nr_tasks;
        play(&c->tasks[i], i, round.number, round.targets[i]);
        arena_destroy(arena);
    }
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct campaign_task *t = &c->tasks[i];

        for (unsigned s = 0; s < t->nr_slices; s++)
            len += (size_t)snprintf(
                text + len, bytes - len, "%u.%u:%g ", i, t->slices[s].round, t->slices[s].target);
        used += t->slices[t->nr_slices - 1].used;
    }
    return used;
}

static void the_order_of_ends_does_not_matter(void **state)
{
    static char one[65536], other[65536];

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        double budgets[MOST], all = 0;
        struct campaign a, b;
        struct rng rng;
        unsigned nr, nr_rounds;

        rng_seed(&rng, seed, 0);
        nr = 1 + (unsigned)rng_below(&rng, MOST);
        nr_rounds = 1 + (unsigned)rng_below(&rng, 6);
        for (unsigned i = 0; i < nr; i++)
            all += budgets[i] = 1 + (double)rng_below(&rng, 60);
        make(&a, budgets, nr, nr_rounds);
        make(&b, budgets, nr, nr_rounds);
        assert_true(play_all(&a, 2 * seed, one, sizeof(one)) <= all);
        assert_true(play_all(&b, 2 * seed + 1, other, sizeof(other)) <= all);
        assert_string_equal(one, other);
        campaign_finish(&a);
        campaign_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_slices_then_complete),
        cmocka_unit_test(what_converged_leaves_moves_to_gains),
        cmocka_unit_test(a_task_rests_and_gets_its_rest),
        cmocka_unit_test(one_round_moves_nothing),
        cmocka_unit_test(failures_leave_their_budget),
        cmocka_unit_test(what_was_cut_off_is_owed),
        cmocka_unit_test(units_are_kept_apart),
        cmocka_unit_test(the_order_of_ends_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
