/* Tests of search/: on landscapes whose best leaf is known beforehand. */
#include "search/search.h"
#include "tests/unit/search/draw.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_NODES = 512, MAX_MOVES = 64 };

/* A landscape in which four of 24 moves matter, and only in their order (each needs the one before,
 * as register tiling needs a shared tile). They bring 1.5 + 1 + 0.8 + 0.5; the others lose up to 1
 * or gain nothing, and three in ten fail. The state of a node is the set of moves applied. */
enum { LADDER_MOVES = 24, LADDER_USEFUL = 4 };
static const double ladder_gain[LADDER_USEFUL] = {1.5, 1.0, 0.8, 0.5};

struct state {
    uint32_t applied;
    unsigned depth;
    double reward;
};

static bool ladder_step(uint64_t seed, const struct state *from, uint32_t move, struct state *to)
{
    *to = *from;
    to->applied |= 1u << move;
    to->depth++;
    if (move < LADDER_USEFUL) {
        bool first = (from->applied & 1u << move) == 0;
        uint32_t below = (1u << move) - 1;

        if (first && (from->applied & below) == below) {
            to->reward += ladder_gain[move];
        }
        return true;
    }
    to->reward -= unit(seed, move + 1000 * (uint64_t)from->applied);
    return unit(seed + 1, move + 1000 * (uint64_t)from->applied) >= 0.3;
}

/* Informative priors: the useful next move weighs 4 times what the others weigh, give or take half;
 * some useless ones are praised as much. */
static void ladder_offer(uint64_t seed, const struct state *state, struct search_move *moves)
{
    unsigned next = 0;
    float sum = 0;

    while (next < LADDER_USEFUL && state->applied & 1u << next) {
        next++;
    }
    for (uint32_t m = 0; m < LADDER_MOVES; m++) {
        uint64_t place = m + 64 * (uint64_t)state->applied;
        double weight = m == next || unit(seed + 2, place) < 0.1 ? 4 : 1;

        moves[m] =
            (struct search_move){.id = m, .prior = (float)(weight * (0.5 + unit(seed + 3, place)))};
        sum += moves[m].prior;
    }
    for (unsigned m = 0; m < LADDER_MOVES; m++) {
        moves[m].prior /= sum;
    }
}

/* Asks until the best leaf was found or the budget is spent; the number of asks, and the best. */
static unsigned climb(const char *policy, uint64_t seed, unsigned budget, double *best)
{
    struct search *search = search_create(&(struct search_options){.policy = policy, .seed = seed});
    static struct state states[MAX_NODES];
    struct search_move moves[LADDER_MOVES];
    unsigned asked = 0;

    states[0] = (struct state){0};
    ladder_offer(seed, &states[0], moves);
    search_add_root(search, &(struct search_outcome){
                                .ok = true, .reward = 0, .moves = moves, .nr_moves = LADDER_MOVES});
    while (asked < budget) {
        struct search_pick pick;
        struct search_outcome outcome = {0};

        assert_true(search_ask(search, &pick));
        asked++;
        struct state *to = &states[pick.node];

        if (ladder_step(seed, &states[pick.parent], pick.move, to)) {
            ladder_offer(seed, to, moves);
            outcome = (struct search_outcome){
                .ok = true, .reward = to->reward, .moves = moves, .nr_moves = LADDER_MOVES};
        }
        search_tell(search, &pick, &outcome);
        search_best(search, best);
        if (*best > 3.8 - 1e-9) {
            break;
        }
    }
    search_destroy(search);
    return asked;
}

static void test_mcts_finds_the_best_leaf(void **state)
{
    enum { BUDGET = 60, SEEDS = 100 };
    unsigned found = 0, asks = 0;
    double sum_mcts = 0, sum_random = 0, sum_greedy = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double best;

        asks += climb("mcts", seed, BUDGET, &best);
        found += best > 3.8 - 1e-9;
        sum_mcts += best;
        climb("random", seed, BUDGET, &best);
        sum_random += best;
        climb("greedy", seed, BUDGET, &best);
        sum_greedy += best;
    }
    print_message("mcts: best leaf in %u of 100 seeds, %.1f asks on average; mean reward %.2f, "
                  "random %.2f, greedy %.2f\n",
        found, asks / 100.0, sum_mcts / SEEDS, sum_random / SEEDS, sum_greedy / SEEDS);
    assert_true(found >= 95);
    assert_true(sum_mcts > sum_random + 100);
}

/* Two doors: the praised one gains 1 and leads nowhere (60 moves that bring a hair less or fail);
 * the other gains nothing at first, and 3 one step later. Returns the best reward found. */
static double trap(const char *policy, uint64_t seed, unsigned budget)
{
    enum { DEAD_END = 60 };
    struct search *search = search_create(&(struct search_options){.policy = policy, .seed = seed});
    static char door[MAX_NODES]; /* 'R' root, 'A' the trap, 'B' the way, 'x' elsewhere */
    struct search_move doors[] = {{.id = 0, .prior = 0.5f}, {.id = 1, .prior = 0.3f},
        {.id = 2, .prior = 0.2f}},
                       many[DEAD_END];
    struct search_pick pick;
    double best;

    for (uint32_t m = 0; m < DEAD_END; m++) {
        many[m] = (struct search_move){.id = m, .prior = 1.0f / DEAD_END};
    }
    door[0] = 'R';
    search_add_root(
        search, &(struct search_outcome){.ok = true, .reward = 0, .moves = doors, .nr_moves = 3});
    for (unsigned i = 0; i < budget && search_ask(search, &pick); i++) {
        struct search_outcome outcome = {
            .ok = true, .reward = 0.9, .moves = many, .nr_moves = DEAD_END};

        door[pick.node] = 'x';
        if (door[pick.parent] == 'R') {
            door[pick.node] = pick.move == 0 ? 'A' : pick.move == 1 ? 'B' : 'x';
            outcome.reward = pick.move == 0 ? 1 : pick.move == 1 ? 0.1 : -1;
            outcome.moves = pick.move == 1 ? doors : many;
            outcome.nr_moves = pick.move == 1 ? 3 : DEAD_END;
        } else if (door[pick.parent] == 'B') {
            outcome.reward = pick.move == 0 ? 3 : 0;
        }
        search_tell(search, &pick, &outcome);
    }
    search_best(search, &best);
    search_destroy(search);
    return best;
}

static void test_greedy_is_trapped_and_mcts_is_not(void **state)
{
    unsigned escaped = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        assert_true(fabs(trap("greedy", seed, 40) - 1) < 1e-12);
        escaped += trap("mcts", seed, 40) > 2.9;
    }
    print_message("mcts escaped from the trap in %u of 100 seeds\n", escaped);
    assert_true(escaped >= 95);
}

static struct search *with_root(const char *policy, struct search_move *moves, unsigned nr)
{
    struct search *search = search_create(&(struct search_options){.policy = policy, .seed = 5});

    for (uint32_t m = 0; m < nr; m++) {
        moves[m] = (struct search_move){.id = m, .prior = 1.0f / (float)nr};
    }
    search_add_root(
        search, &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = nr});
    return search;
}

static void test_pending_picks_spread(void **state)
{
    struct search_move moves[4];
    struct search *search = with_root("mcts", moves, 4);
    struct search_pick pick[16];
    bool parents[32] = {0};
    unsigned distinct = 0;

    (void)state;
    /* Four children, all equally good, all of the root's moves used up. */
    for (unsigned i = 0; i < 4; i++) {
        assert_true(search_ask(search, &pick[i]));
        assert_int_equal(pick[i].parent, 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        search_tell(search, &pick[i],
            &(struct search_outcome){.ok = true, .reward = 1, .moves = moves, .nr_moves = 4});
    }
    /* Four more without an answer: each goes under another child. */
    for (unsigned i = 0; i < 4; i++) {
        assert_true(search_ask(search, &pick[i]));
        distinct += !parents[pick[i].parent];
        parents[pick[i].parent] = true;
    }
    assert_int_equal(distinct, 4);
    search_destroy(search);
}

static void test_many_failures_then_success(void **state)
{
    (void)state;
    for (unsigned p = 0; search_policies[p]; p++) {
        struct search_move moves[50];
        struct search *search = with_root(search_policies[p], moves, 50);
        struct search_pick pick;
        double best;

        for (unsigned i = 0; i < 43; i++) {
            assert_true(search_ask(search, &pick));
            search_tell(search, &pick, &(struct search_outcome){0});
            assert_false(search_converged(search, 10, 0.014));
        }
        assert_false(search_node(search, 0).dead);
        assert_int_equal(search_node(search, 0).visits, 44);
        assert_true(search_ask(search, &pick));
        search_tell(search, &pick,
            &(struct search_outcome){.ok = true, .reward = 2, .moves = moves, .nr_moves = 50});
        assert_int_equal(search_best(search, &best), 44);
        assert_true(fabs(best - 2) < 1e-12);
        assert_true(search_ask(search, &pick));
        search_destroy(search);
    }
}

static void test_a_node_dies_after_failures(void **state)
{
    struct search_move one[1], many[20];
    struct search *search =
        search_create(&(struct search_options){.policy = "mcts", .seed = 1, .failures_to_die = 3});
    struct search_pick pick;

    (void)state;
    one[0] = (struct search_move){.id = 7, .prior = 1};
    for (uint32_t m = 0; m < 20; m++) {
        many[m] = (struct search_move){.id = m, .prior = 0.05f};
    }
    search_add_root(
        search, &(struct search_outcome){.ok = true, .reward = 0, .moves = one, .nr_moves = 1});
    assert_true(search_ask(search, &pick));
    assert_int_equal(pick.node, 1);
    assert_int_equal(pick.move, 7);
    search_tell(search, &pick,
        &(struct search_outcome){.ok = true, .reward = 1, .moves = many, .nr_moves = 20});
    for (unsigned i = 0; i < 3; i++) {
        assert_false(search_node(search, 1).dead);
        assert_true(search_ask(search, &pick));
        assert_int_equal(pick.parent, 1);
        search_tell(search, &pick, &(struct search_outcome){0});
    }
    assert_true(search_node(search, 1).dead);
    assert_false(search_ask(search, &pick)); /* the root has no move left, its only child is dead */
    search_destroy(search);
}

static void test_one_success_keeps_a_node_alive(void **state)
{
    struct search_move one[1], many[20];
    struct search *search = search_create(
        &(struct search_options){.policy = "greedy", .seed = 1, .failures_to_die = 3});
    struct search_pick pick;

    (void)state;
    one[0] = (struct search_move){.id = 0, .prior = 1};
    for (uint32_t m = 0; m < 20; m++) {
        many[m] = (struct search_move){.id = m, .prior = 0.05f};
    }
    search_add_root(
        search, &(struct search_outcome){.ok = true, .reward = 0, .moves = one, .nr_moves = 1});
    assert_true(search_ask(search, &pick));
    search_tell(search, &pick,
        &(struct search_outcome){.ok = true, .reward = 1, .moves = many, .nr_moves = 20});
    for (unsigned i = 0; i < 20; i++) {
        assert_true(search_ask(search, &pick));
        assert_int_equal(pick.parent, 1);
        /* The second one comes out right, but offers nothing. */
        search_tell(search, &pick, &(struct search_outcome){.ok = i == 1, .reward = 0.5});
    }
    assert_false(search_node(search, 1).dead);
    assert_int_equal(search_node(search, 1).children, 20);
    assert_false(search_ask(search, &pick));
    search_destroy(search);
}

static void test_every_move_once_then_exhausted(void **state)
{
    (void)state;
    for (unsigned p = 0; search_policies[p]; p++) {
        struct search_move moves[6];
        struct search *search = with_root(search_policies[p], moves, 6);
        struct search_pick pick;
        bool tried[64][6] = {{0}};
        unsigned nr = 0;

        while (search_ask(search, &pick)) {
            assert_int_equal(pick.node, ++nr);
            assert_false(tried[pick.parent][pick.move]);
            tried[pick.parent][pick.move] = true;
            search_tell(search, &pick,
                &(struct search_outcome){.ok = true,
                    .reward = 0.1 * pick.move,
                    .moves = moves,
                    .nr_moves = pick.parent == 0 ? 6 : 0});
        }
        assert_int_equal(nr, 6 + 36);
        search_destroy(search);
    }
}

static void test_exhausted_while_pending(void **state)
{
    struct search_move moves[1];
    struct search *search = with_root("mcts", moves, 1);
    struct search_pick first, second;

    (void)state;
    assert_true(search_ask(search, &first));
    assert_false(search_ask(search, &second));
    search_tell(search, &first,
        &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 1});
    search_tell(search, &first, &(struct search_outcome){0}); /* the first word stands */
    assert_true(search_ask(search, &second));
    assert_int_equal(second.parent, 1);
    search_destroy(search);
}

/* Three tries at the root, then three at each of its children, the layer full before the next one
 * is begun; of the nine grandchildren only the best three are extended. */
static void test_beam_goes_layer_by_layer(void **state)
{
    struct search_move moves[12];
    struct search *search = with_root("beam", moves, 12);
    struct search_pick pick;

    (void)state;
    for (unsigned i = 0; i < 3 + 9 + 9; i++) {
        assert_true(search_ask(search, &pick));
        if (i < 3) {
            assert_int_equal(pick.parent, 0);
        } else if (i < 12) {
            assert_in_range(pick.parent, 1, 3);
        } else {
            assert_in_range(pick.parent, 10, 12); /* told the highest rewards of their layer */
        }
        search_tell(search, &pick,
            &(struct search_outcome){
                .ok = true, .reward = 0.1 * i, .moves = moves, .nr_moves = 12});
    }
    for (int64_t n = 1; n <= 3; n++) {
        assert_int_equal(search_node(search, n).children, 3);
    }
    /* No layer is ever without room for good: with nothing new succeeding, the walk begins again.
     */
    for (unsigned i = 0; i < 60; i++) {
        assert_true(search_ask(search, &pick));
        search_tell(search, &pick, &(struct search_outcome){0});
    }
    search_destroy(search);
}

/* Twenty children with rewards 0..19: parents are drawn from the best eight, the better ones more
 * often; a move that weighs nine times as much is drawn far more often, and not always. */
static void test_evolution_selects_and_mutates(void **state)
{
    unsigned of_best_four = 0, heavy = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct search_options options = {.policy = "evolution", .seed = seed};
        struct search *search = search_create(&options);
        struct search_move many[20], two[2] = {{.id = 0, .prior = 0.9f}, {.id = 1, .prior = 0.1f}};
        struct search_pick pick;

        for (uint32_t m = 0; m < 20; m++) {
            many[m] = (struct search_move){.id = m, .prior = 0.05f};
        }
        search_add_root(search,
            &(struct search_outcome){.ok = true, .reward = -1, .moves = many, .nr_moves = 20});
        for (unsigned i = 0; i < 20; i++) { /* twenty picks under way, then all told */
            assert_true(search_ask(search, &pick));
            assert_int_equal(pick.parent, 0);
        }
        for (unsigned i = 0; i < 20; i++) {
            pick = (struct search_pick){.node = (int64_t)i + 1};
            search_tell(search, &pick,
                &(struct search_outcome){
                    .ok = true, .reward = 0.1 * i, .moves = two, .nr_moves = 2});
        }
        assert_true(search_ask(search, &pick));
        assert_in_range(pick.parent, 13, 20);
        of_best_four += pick.parent >= 17;
        heavy += pick.move == 0;
        search_destroy(search);
    }
    /* A tournament of three finds one of the better half with 1 - 1/2^3. */
    assert_in_range(of_best_four, 78, 96);
    assert_in_range(heavy, 80, 98);
}

static double landscape(uint64_t seed, const struct search_pick *pick)
{
    return 4 * unit(seed, (uint64_t)pick->parent * 100 + pick->move) - 2;
}

/* The same outcomes give the same picks, whichever policy; with several pending, too. */
static void test_replay(void **state)
{
    (void)state;
    for (unsigned p = 0; search_policies[p]; p++) {
        struct search_pick seen[100];

        for (unsigned round = 0; round < 2; round++) {
            struct search_move moves[12];
            struct search *search = with_root(search_policies[p], moves, 12);

            for (unsigned i = 0; i < 100; i += 4) {
                struct search_pick picks[4];

                for (unsigned k = 0; k < 4; k++) {
                    assert_true(search_ask(search, &picks[k]));
                    if (round == 1) {
                        assert_memory_equal(&picks[k], &seen[i + k], sizeof(picks[k]));
                    }
                    seen[i + k] = picks[k];
                }
                for (unsigned k = 4; k-- > 0;) { /* told in another order than asked */
                    double reward = landscape(9, &picks[k]);

                    search_tell(search, &picks[k],
                        &(struct search_outcome){
                            .ok = reward > -1, .reward = reward, .moves = moves, .nr_moves = 12});
                }
            }
            search_destroy(search);
        }
    }
}

/* The first move gains 5; below it every other child gains or loses 0.3, a 17th of the whole scale.
 * The small gains must still be told from the small losses: more picks under the better children.
 */
static void test_small_gains_after_a_large_jump(void **state)
{
    unsigned under_gain = 0, under_loss = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct search *search = search_create(&(struct search_options){.seed = seed});
        struct search_move moves[12];
        double rewards[64] = {0};

        for (uint32_t m = 0; m < 12; m++) {
            moves[m] = (struct search_move){.id = m, .prior = 1.0f / 12};
        }
        search_add_root(search,
            &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 1});
        for (unsigned i = 1; i <= 40; i++) {
            struct search_pick pick;

            assert_true(search_ask(search, &pick));
            rewards[i] = pick.parent == 0 ? 5 : rewards[pick.parent] + (pick.move % 2 ? 0.3 : -0.3);
            under_gain += pick.parent > 1 && rewards[pick.parent] > 5.1;
            under_loss += pick.parent > 1 && rewards[pick.parent] < 4.9;
            search_tell(search, &pick,
                &(struct search_outcome){
                    .ok = true, .reward = rewards[i], .moves = moves, .nr_moves = 12});
        }
        search_destroy(search);
    }
    print_message("%u picks under gains, %u under losses\n", under_gain, under_loss);
    assert_true(under_gain > 5 * under_loss);
}

static void test_seed_breaks_ties(void **state)
{
    bool first[12] = {0};
    unsigned distinct = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct search *search = search_create(&(struct search_options){.seed = seed});
        struct search_move moves[12];
        struct search_pick pick;

        for (uint32_t m = 0; m < 12; m++) {
            moves[m] = (struct search_move){.id = m, .prior = m < 6 ? 0.1f : 0.4f / 6};
        }
        search_add_root(search,
            &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 12});
        assert_true(search_ask(search, &pick));
        assert_in_range(pick.move, 0, 5); /* never a lower prior before a higher one */
        distinct += !first[pick.move];
        first[pick.move] = true;
        search_destroy(search);
    }
    assert_true(distinct >= 4);
}

/* Priors that a seed may turn about: one tenth apart. Priors that no seed may: twice as large. */
static void test_seed_decides_between_near_priors(void **state)
{
    unsigned nr_second = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct search *search = search_create(&(struct search_options){.seed = seed});
        const struct search_move moves[] = {
            {.id = 0, .prior = 0.22f}, {.id = 1, .prior = 0.2f}, {.id = 2, .prior = 0.1f}};
        struct search_pick pick;

        search_add_root(search,
            &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 3});
        assert_true(search_ask(search, &pick));
        assert_in_range(pick.move, 0, 1);
        nr_second += pick.move == 1;
        search_destroy(search);
    }
    assert_in_range(nr_second, 40, 100); /* often, and less often than the larger prior */
}

/* Uniform over (node, move) pairs: a child with 90 moves left beside a root with 9 left gets ten in
 * eleven of the next picks. 400 seeds: expected 363.6, deviation 5.7. */
static void test_random_is_uniform_over_pairs(void **state)
{
    unsigned under_child = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct search *search =
            search_create(&(struct search_options){.policy = "random", .seed = seed});
        struct search_move moves[90];
        struct search_pick pick;

        for (uint32_t m = 0; m < 90; m++) {
            moves[m] = (struct search_move){.id = m, .prior = 0.01f};
        }
        search_add_root(search,
            &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 10});
        assert_true(search_ask(search, &pick));
        search_tell(search, &pick,
            &(struct search_outcome){.ok = true, .reward = 0, .moves = moves, .nr_moves = 90});
        assert_true(search_ask(search, &pick));
        under_child += pick.parent == 1;
        search_destroy(search);
    }
    assert_in_range(under_child, 340, 387);
}

static void test_best_and_convergence(void **state)
{
    struct search_move moves[30];
    struct search *search = with_root("mcts", moves, 30);
    static const double rewards[] = {0.5, 1.0, 1.001, 1.002, 0.3, 1.003};
    struct search_pick pick;
    double best;

    (void)state;
    assert_int_equal(search_best(search, &best), 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_true(search_ask(search, &pick));
        search_tell(search, &pick,
            &(struct search_outcome){
                .ok = true, .reward = rewards[i], .moves = moves, .nr_moves = 30});
        /* best after each success: 0 .5 1 1.001 1.002 1.002 1.003; over four: .5 ... */
        assert_int_equal(search_converged(search, 4, 0.014), i >= 5);
    }
    assert_int_equal(search_best(search, &best), 6);
    assert_true(fabs(best - 1.003) < 1e-12);
    search_destroy(search);
}

/* Outcomes that are revised: every third success fails later, every seventh becomes slower. Two
 * such runs are the same, a failed node is extended no more, and best node and values are those of
 * what holds in the end. */
static void test_revised_outcomes(void **state)
{
    enum { NR = 120 };

    (void)state;
    for (unsigned p = 0; search_policies[p]; p++) {
        struct search_pick seen[NR];

        for (unsigned round = 0; round < 2; round++) {
            struct search_move moves[12];
            struct search *search = with_root(search_policies[p], moves, 12);
            double rewards[NR + 1] = {0}, best;
            bool right[NR + 1] = {true};
            int64_t parents[NR + 1] = {-1}, fastest = 0;

            for (unsigned m = 0; m < 12; m++) {
                moves[m].flags = m % 3 == 0 ? SEARCH_PAIR : m % 3 == 1 ? SEARCH_FROM_BEST : 0;
            }
            for (unsigned i = 0; i < NR; i++) {
                struct search_pick *pick = &seen[i], now;
                const int64_t other = (int64_t)(mix(4, i) % (i + 1));

                assert_true(search_ask(search, &now));
                assert_true(round == 0 || (now.parent == pick->parent && now.move == pick->move));
                assert_true(right[now.parent]);
                *pick = now;
                parents[now.node] = now.parent;
                rewards[now.node] = landscape(9, &now);
                right[now.node] = rewards[now.node] > -1;
                search_tell(search, &now,
                    &(struct search_outcome){.ok = right[now.node],
                        .reward = rewards[now.node],
                        .moves = moves,
                        .nr_moves = 12});
                if (other > 0 && right[other] && (i % 3 == 0 || i % 7 == 0)) {
                    right[other] = i % 3 != 0;
                    rewards[other] -= 0.5;
                    search_revise(search, other, right[other], rewards[other]);
                    assert_false(search_converged(search, 1, 0.014));
                }
            }
            for (int64_t n = 0; n <= NR; n++) {
                double sum = 0, most = -INFINITY;
                unsigned nr = 0;

                for (int64_t below = n; below <= NR; below++) {
                    int64_t up = below;

                    while (up > n) {
                        up = parents[up];
                    }
                    if (up == n && right[below]) {
                        sum += rewards[below];
                        most = fmax(most, rewards[below]);
                        nr++;
                    }
                }
                assert_true(nr == 0 || fabs(search_node(search, n).value - 0.4 * sum / nr -
                                            0.6 * most) < 1e-9);
                fastest = right[n] && rewards[n] > rewards[fastest] ? n : fastest;
            }
            assert_int_equal(search_best(search, &best), fastest);
            assert_true(fabs(best - rewards[fastest]) < 1e-12);
            search_destroy(search);
        }
    }
}

/* Rewards of 20 (a million times faster) are clipped to 7; NaN is a failure. */
static void test_strange_rewards(void **state)
{
    struct search_move moves[5];
    struct search *search = with_root("mcts", moves, 5);
    struct search_pick pick;
    double best;

    (void)state;
    assert_true(search_ask(search, &pick));
    search_tell(search, &pick,
        &(struct search_outcome){.ok = true, .reward = (double)NAN, .moves = moves, .nr_moves = 5});
    assert_true(search_node(search, 1).dead);
    assert_true(search_ask(search, &pick));
    search_tell(search, &pick,
        &(struct search_outcome){.ok = true, .reward = 20, .moves = moves, .nr_moves = 5});
    assert_int_equal(search_best(search, &best), 2);
    assert_true(fabs(best - 7) < 1e-12);
    assert_null(search_create(&(struct search_options){.policy = "guess"}));
    assert_int_equal(search_node(search, 99).parent, -1);
    search_destroy(search);
    search_destroy(NULL);
}

/* ---- arms ---- */

enum { ARM_FRESH = 1, ARM_BEST = 2, ARM_PAIR = 3 };

/* A root with four fresh starts, one request that is for the best only, and one plain move. */
static struct search *armed(unsigned nr_first)
{
    struct search *search = search_create(
        &(struct search_options){.seed = 5, .nr_fresh_first = nr_first, .plateau = 2});
    const struct search_move moves[] = {
        {.id = 0, .prior = 0.01f, .arm = ARM_FRESH, .flags = SEARCH_FRESH},
        {.id = 1, .prior = 0.01f, .arm = ARM_FRESH, .flags = SEARCH_FRESH},
        {.id = 2, .prior = 0.01f, .arm = ARM_FRESH, .flags = SEARCH_FRESH},
        {.id = 3, .prior = 0.01f, .arm = ARM_FRESH, .flags = SEARCH_FRESH},
        {.id = 4, .prior = 0.5f, .arm = ARM_BEST, .flags = SEARCH_FROM_BEST},
        {.id = 5, .prior = 0.5f}};

    search_add_root(search, &(struct search_outcome){.ok = true, .moves = moves, .nr_moves = 6});
    return search;
}

static const struct search_move below[] = {
    {.id = 10, .prior = 0.4f, .arm = ARM_BEST, .flags = SEARCH_FROM_BEST},
    {.id = 11, .prior = 0.4f, .arm = ARM_BEST, .flags = SEARCH_FROM_BEST},
    {.id = 12, .prior = 0.2f, .arm = ARM_PAIR, .flags = SEARCH_FROM_BEST | SEARCH_PAIR}};

static void tell(struct search *search, const struct search_pick *pick, double reward)
{
    search_tell(search, pick,
        &(struct search_outcome){.ok = true, .reward = reward, .moves = below, .nr_moves = 3});
}

/* Fresh starts come first, whatever their priors; then requests go to the best node, not to those
 * that are far behind it; a pair needs a partner. */
static void arms_start_fresh_and_go_on_from_the_best(void **state)
{
    struct search *search = armed(2);
    struct search_pick a, b, c;

    (void)state;
    assert_true(search_ask(search, &a));
    assert_true(search_ask(search, &b));
    assert_true(a.parent == 0 && a.move < 4);
    assert_true(b.parent == 0 && b.move < 4 && b.move != a.move);
    tell(search, &a, 1);
    assert_int_equal(search_partner(search, a.node), -1);
    tell(search, &b, 5);
    assert_int_equal(search_partner(search, b.node), -1); /* a is 16 times slower */
    for (int i = 0; i < 4; i++) {
        assert_true(search_ask(search, &c));
        assert_true(c.parent != a.node && (c.parent != 0 || c.move <= 3 || c.move == 5));
        assert_int_not_equal(c.move, 12);
        search_tell(search, &c, &(struct search_outcome){.ok = false});
    }
    search_destroy(search);
}

/* Two outcomes without a gain, and a fresh start is made. What is dominated is tried in the end. */
static void a_plateau_brings_a_fresh_start(void **state)
{
    struct search *search = armed(1);
    struct search_pick pick;
    bool dominated = false;
    int nr = 1;

    (void)state;
    assert_true(search_ask(search, &pick));
    tell(search, &pick, 4);
    for (int i = 0; i < 2;) {
        assert_true(search_ask(search, &pick));
        i += pick.move != 5;
        tell(search, &pick, 3);
    }
    assert_true(search_ask(search, &pick));
    assert_true(pick.move < 4 || pick.move == 12);
    tell(search, &pick, 3);
    for (; nr < 60 && search_ask(search, &pick); nr++) {
        dominated |= pick.parent == 0 && pick.move == 4;
        search_tell(search, &pick, &(struct search_outcome){.ok = true, .reward = 1});
    }
    assert_true(dominated && nr < 60);
    search_destroy(search);
}

/* What is declined once is not asked again of the same node. */
static void a_closed_arm_is_not_tried_again(void **state)
{
    struct search *search = armed(1);
    struct search_pick pick;
    int nr_fresh = 0;

    (void)state;
    while (search_ask(search, &pick)) {
        nr_fresh += pick.move < 4;
        search_tell(search, &pick, &(struct search_outcome){.closes = true});
    }
    assert_int_equal(nr_fresh, 1);
    search_destroy(search);
}

static void a_partner_comes_from_another_lineage(void **state)
{
    struct search *search = armed(2);
    struct search_pick a, b, c;

    (void)state;
    assert_true(search_ask(search, &a) && search_ask(search, &b));
    tell(search, &a, 3);
    tell(search, &b, 3.5);
    assert_int_equal(search_partner(search, b.node), a.node);
    assert_int_equal(search_partner(search, a.node), b.node);
    do {
        assert_true(search_ask(search, &c));
        tell(search, &c, 3.2);
    } while (c.parent != b.node);
    for (int64_t at = search_partner(search, c.node); at != 0;
         at = search_node(search, at).parent) {
        assert_true(at > 0);
        assert_int_not_equal(at, b.node);
    }
    search_destroy(search);
}

/* Moves with an arm and moves without are asked for apart; of the latter every second one comes
 * soon, at the best node that has such a move. */
static void asks_are_for_one_kind_of_moves(void **state)
{
    static const struct search_move tuned[] = {{.id = 20, .prior = 0.8f},
        {.id = 21, .prior = 0.1f, .flags = SEARCH_SOON},
        {.id = 22, .prior = 0.1f, .flags = SEARCH_SOON}, {.id = 23, .prior = 0.1f, .arm = 1}};
    const struct search_options options = {.seed = 3, .arms_converge = true};
    struct search *search = search_create(&options);
    struct search_pick pick, other;

    (void)state;
    search_add_root(search, &(struct search_outcome){.ok = true, .moves = tuned, .nr_moves = 4});
    assert_true(search_ask_for(search, SEARCH_WITH_ARM, &pick));
    assert_int_equal(pick.move, 23);
    assert_false(search_ask_for(search, SEARCH_WITH_ARM, &other));
    search_tell(search, &pick,
        &(struct search_outcome){.ok = true, .reward = 1, .moves = tuned, .nr_moves = 4});
    for (int i = 0; i < 3; i++) { /* soon, by the policy, soon */
        assert_true(search_ask_for(search, SEARCH_WITHOUT_ARM, &other));
        assert_int_not_equal(other.move, 23);
        if (i % 2 == 0)
            assert_true(other.parent == pick.node && (other.move == 21 || other.move == 22));
        search_tell(search, &other, &(struct search_outcome){.ok = true, .reward = 0.5});
    }
    /* Two successes of an arm without a gain would be a window of one; there was one. */
    assert_false(search_converged(search, 1, 0.01));
    search_destroy(search);
}

static void a_step_follows_from_the_step_before(void **state)
{
    const struct search_move step = {.id = 77, .arm = 2, .flags = SEARCH_FROM_BEST};
    struct search *search = armed(0);
    struct search_pick a, b, c;

    (void)state;
    assert_true(search_ask(search, &a));
    assert_false(search_follow(search, a.node, &step, &b)); /* not told yet */
    tell(search, &a, 2);
    assert_true(search_follow(search, a.node, &step, &b));
    assert_true(b.parent == a.node && b.move == 77 && b.node == a.node + 1);
    search_tell(search, &b, &(struct search_outcome){.ok = false});
    assert_false(search_follow(search, b.node, &step, &c)); /* failed */
    assert_false(search_follow(search, 99, &step, &c));
    assert_int_equal(search_node(search, a.node).children, 1);
    search_destroy(search);
}

static void best_of_n_extends_the_original(void **state)
{
    static const struct search_move moves[] = {
        {.id = 1, .prior = 0.5f}, {.id = 2, .prior = 0.3f}, {.id = 3, .prior = 0.2f}};
    const struct search_options options = {.policy = "best_of_n", .seed = 1};
    struct search *search = search_create(&options);
    struct search_pick pick;

    (void)state;
    search_add_root(search, &(struct search_outcome){.ok = true, .moves = moves, .nr_moves = 3});
    for (int i = 0; i < 4; i++) {
        assert_true(search_ask(search, &pick));
        assert_int_equal(pick.parent > 0, i == 3); /* the original has three moves */
        search_tell(search, &pick,
            &(struct search_outcome){.ok = true, .reward = 5, .moves = moves, .nr_moves = 3});
    }
    search_destroy(search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcts_finds_the_best_leaf),
        cmocka_unit_test(test_greedy_is_trapped_and_mcts_is_not),
        cmocka_unit_test(test_pending_picks_spread),
        cmocka_unit_test(test_many_failures_then_success),
        cmocka_unit_test(test_a_node_dies_after_failures),
        cmocka_unit_test(test_one_success_keeps_a_node_alive),
        cmocka_unit_test(test_every_move_once_then_exhausted),
        cmocka_unit_test(test_exhausted_while_pending),
        cmocka_unit_test(test_beam_goes_layer_by_layer),
        cmocka_unit_test(test_evolution_selects_and_mutates),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_small_gains_after_a_large_jump),
        cmocka_unit_test(test_seed_breaks_ties),
        cmocka_unit_test(test_seed_decides_between_near_priors),
        cmocka_unit_test(test_random_is_uniform_over_pairs),
        cmocka_unit_test(test_best_and_convergence),
        cmocka_unit_test(test_revised_outcomes),
        cmocka_unit_test(test_strange_rewards),
        cmocka_unit_test(arms_start_fresh_and_go_on_from_the_best),
        cmocka_unit_test(a_plateau_brings_a_fresh_start),
        cmocka_unit_test(a_closed_arm_is_not_tried_again),
        cmocka_unit_test(a_partner_comes_from_another_lineage),
        cmocka_unit_test(asks_are_for_one_kind_of_moves),
        cmocka_unit_test(a_step_follows_from_the_step_before),
        cmocka_unit_test(best_of_n_extends_the_original),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
