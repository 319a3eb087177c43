/* Tests of what the search keeps beside the tree: always the same as looking at every node would
 * find, and kept by looking at few. */
#include "search/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOVES = 6, KINDS = 5, UNDER_WAY = 3 };

static uint64_t dice;

static unsigned draw(unsigned bound)
{
    return (unsigned)(search_seeded(7, dice++) % bound);
}

/* Plain moves, requests for the best, pairs, fresh starts; sometimes none at all. */
static unsigned offer(bool arms, struct search_move *moves)
{
    static const uint8_t flags[] = {0, SEARCH_FROM_BEST, SEARCH_FRESH,
        SEARCH_FROM_BEST | SEARCH_FRESH | SEARCH_PAIR, SEARCH_PAIR};
    const unsigned nr = draw(MOVES + 1);

    for (unsigned m = 0; m < nr; m++) {
        moves[m] = (struct search_move){
            .id = m, .kind = draw(KINDS), .prior = 0.01f * (float)(1 + draw(30))};
        moves[m].arm = arms ? (uint8_t)draw(5) : 0;
        moves[m].flags = moves[m].arm || draw(8) ? flags[moves[m].arm] : SEARCH_SOON;
    }
    return nr;
}

static bool pairs(const struct search *search, int64_t number)
{
    for (int64_t i = 1; i < (int64_t)search->nr_nodes; i++) {
        if (search_may_pair(search, i, number)) {
            return true;
        }
    }
    return false;
}

static bool may_try(const struct search *search, int64_t number, unsigned m, bool relaxed)
{
    struct search_node node = search->nodes[number];

    node.partner = pairs(search, number);
    return node.state == NODE_OK && !search_node_dead(search, &node) &&
           search_allows(search, &node, m, relaxed);
}

static unsigned heaps_of(const struct search *search, int64_t number, bool relaxed)
{
    const struct search_node *node = &search->nodes[number];
    unsigned heaps = 0;

    for (unsigned m = 0; m < node->nr_untried; m++) {
        const struct search_move *move = &node->untried[m];

        if (may_try(search, number, m, relaxed)) {
            heaps |= 1u << SEARCH_ALL;
            heaps |= 1u << (move->arm ? SEARCH_WITH_ARM : SEARCH_WITHOUT_ARM);
            heaps |= move->flags & SEARCH_FRESH ? 1u << (HEAP_FRESH + move->arm) : 0;
            heaps |= move->flags & SEARCH_SOON ? 1u << HEAP_SOON : 0;
        }
    }
    return heaps;
}

static void check_heaps(const struct search *search)
{
    unsigned nr[NR_HEAPS] = {0}, nr_strictly[NR_VIEWS] = {0};

    for (int64_t i = 0; i < (int64_t)search->nr_nodes; i++) {
        const unsigned heaps = heaps_of(search, i, search->relaxed);

        assert_int_equal(search->nodes[i].heaps, heaps);
        for (unsigned view = 0; view < NR_VIEWS; view++) {
            nr_strictly[view] += heaps_of(search, i, false) >> view & 1;
        }
        for (unsigned heap = 0; heap < NR_HEAPS; heap++) {
            const struct node_list *list = &search->heaps[heap];

            nr[heap] += heaps >> heap & 1;
            if (heaps >> heap & 1) {
                assert_int_equal(list->at[search->nodes[i].place[heap]], i);
                assert_true(list->at[0] == i || search_is_better(search, list->at[0], i));
            }
        }
    }
    for (unsigned heap = 0; heap < NR_HEAPS; heap++) {
        assert_int_equal(search->heaps[heap].nr, nr[heap]);
    }
    for (unsigned view = 0; view < NR_VIEWS; view++) {
        assert_int_equal(search->nr_strictly[view], nr_strictly[view]);
    }
}

/* Children have higher numbers than their parents, so that one sweep from the end is enough. */
static void check_open(const struct search *search, unsigned view)
{
    bool *open = calloc(search->nr_nodes, sizeof(*open));
    unsigned *nr_open = calloc(search->nr_nodes, sizeof(*nr_open));

    for (size_t i = search->nr_nodes; i-- > 0;) {
        const struct search_node *node = &search->nodes[i];
        unsigned nr = 0;

        open[i] = node->heaps >> view & 1 || nr_open[i] > 0;
        assert_int_equal(node->open >> view & 1, open[i]);
        if (node->parent >= 0) {
            nr_open[node->parent] += open[i];
        }
        for (int64_t c = node->first_open[view]; c >= 0;
             c = search->nodes[c].open_siblings[view].next) {
            assert_true(search->nodes[c].parent == (int64_t)i && search->nodes[c].open >> view & 1);
            nr++;
        }
        assert_int_equal(nr, nr_open[i]);
    }
    free(open);
    free(nr_open);
}

/* Asks for all moves, or for those with an arm or without; now and then a step is named. */
static bool ask(struct search *search, bool arms, struct search_pick *pick)
{
    const struct search_move step = {.id = 99, .prior = 1, .arm = 1, .kind = 77};

    if (arms && draw(12) == 0) {
        return search_follow(search, (int64_t)draw((unsigned)search->nr_nodes), &step, pick);
    }
    return search_ask_for(search, arms ? (enum search_moves)draw(NR_VIEWS) : SEARCH_ALL, pick);
}

static unsigned run(const char *policy, bool arms, unsigned budget)
{
    struct search *search = search_create(&(struct search_options){
        .policy = policy, .seed = 3, .failures_to_die = 2, .nr_fresh_first = 2});
    struct search_move moves[MOVES];
    struct search_pick picks[UNDER_WAY];
    unsigned nr_picks = 0, asked = 0;

    search_add_root(search,
        &(struct search_outcome){.ok = true, .moves = moves, .nr_moves = offer(arms, moves)});
    while (asked < budget || nr_picks > 0) {
        if (nr_picks < UNDER_WAY && asked < budget && ask(search, arms, &picks[nr_picks])) {
            nr_picks++;
            asked++;
        } else if (nr_picks > 0) {
            const unsigned which = draw(nr_picks);
            const struct search_pick pick = picks[which];
            const unsigned from = (unsigned)pick.parent;
            const double reward = search->nodes[from].reward + 0.125 * ((double)draw(9) - 4) +
                                  (draw(40) == 0 ? 2 : 0);

            picks[which] = picks[--nr_picks];
            search_tell(search, &pick,
                &(struct search_outcome){.ok = draw(10) < 7,
                    .reward = reward,
                    .closes = draw(10) == 0,
                    .moves = moves,
                    .nr_moves = offer(arms, moves)});
        } else {
            break; /* exhausted */
        }
        check_heaps(search);
        for (unsigned view = 0; view < NR_VIEWS; view++) {
            check_open(search, view);
        }
    }
    search_destroy(search);
    return asked;
}

static void what_is_kept_is_what_a_sweep_finds(void **unused)
{
    (void)unused;
    for (unsigned p = 0; search_policies[p]; p++) {
        unsigned asked = 0;

        for (unsigned round = 0; round < 12; round++) {
            dice = 1000 * (round + 1);
            asked += run(search_policies[p], round % 2, 120);
        }
        assert_in_range(asked, 600, 12 * 120);
    }
}

/* Nodes that are looked at for an ask and a tell, in a tree of 1000 nodes and in one of 16000. */
static double looks(const char *policy, bool arms, size_t nr_nodes)
{
    enum { LAST = 200 };
    struct search *search = search_create(&(struct search_options){.policy = policy, .seed = 3});
    struct search_move moves[3 * MOVES];
    struct search_pick pick;
    uint64_t before = 0;
    double result;

    dice = 0;
    for (unsigned m = 0; m < 3 * MOVES; m++) {
        moves[m] = (struct search_move){.id = m, .prior = 0.05f, .kind = m};
        moves[m].arm = arms && m < 2 ? (uint8_t)(m + 1) : 0;
        moves[m].flags = !moves[m].arm ? 0 : m == 0 ? SEARCH_FROM_BEST : SEARCH_FRESH | SEARCH_PAIR;
    }
    search_add_root(
        search, &(struct search_outcome){.ok = true, .moves = moves, .nr_moves = 3 * MOVES});
    while (search->nr_nodes < nr_nodes) {
        if (search->nr_nodes + LAST == nr_nodes) {
            before = search->nr_looks;
        }
        assert_true(search_ask(search, &pick));
        const struct search_node *from = &search->nodes[pick.parent];

        search_tell(search, &pick,
            &(struct search_outcome){.ok = draw(10) < 7,
                .reward = from->reward + 0.01 * ((double)draw(21) - 18),
                .moves = moves,
                .nr_moves = from->depth < 20 ? 3 * MOVES : 0});
    }
    result = (double)(search->nr_looks - before) / LAST;
    search_destroy(search);
    return result;
}

static void a_larger_tree_is_not_more_work(void **unused)
{
    (void)unused;
    for (unsigned p = 0; search_policies[p]; p++) {
        for (int arms = 0; arms < 2; arms++) {
            const double small = looks(search_policies[p], arms, 1000);
            const double large = looks(search_policies[p], arms, 16000);

            print_message("%s%s: %.0f looks, and %.0f in a tree 16 times as large\n",
                search_policies[p], arms ? ", arms" : "", small, large);
            assert_true(large < 6 * small && large < 500);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_what_a_sweep_finds),
        cmocka_unit_test(a_larger_tree_is_not_more_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
