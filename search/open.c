/* Owns what is open: which nodes grow, which lead to one that does, and the heap of those that
 * grow. Judged anew is only what a change can have touched. */
#include "search/policy.h"

static void append(struct node_list *list, int64_t number)
{
    list->at = search_grow(list->at, &list->cap, list->nr + 1, sizeof(*list->at));
    list->at[list->nr++] = number;
}

/* ---- heaps of the nodes that grow ---- */

bool search_is_better(const struct search *search, int64_t a, int64_t b)
{
    const double of_a = search->nodes[a].reward, of_b = search->nodes[b].reward;

    if (of_a > of_b || of_a < of_b) {
        return of_a > of_b;
    }
    return search_seeded(search->options.seed, (uint64_t)a) <
           search_seeded(search->options.seed, (uint64_t)b);
}

static void put(struct search *search, unsigned arm, size_t place, int64_t number)
{
    search->nr_looks++;
    search->growing[arm].at[place] = number;
    search->nodes[number].place[arm] = (uint32_t)place;
}

static void sift(struct search *search, unsigned arm, size_t place, int64_t number)
{
    const struct node_list *heap = &search->growing[arm];

    for (; place > 0 && search_is_better(search, number, heap->at[(place - 1) / 2]);
         place = (place - 1) / 2) {
        put(search, arm, place, heap->at[(place - 1) / 2]);
    }
    for (size_t child; (child = 2 * place + 1) < heap->nr; place = child) {
        child +=
            child + 1 < heap->nr && search_is_better(search, heap->at[child + 1], heap->at[child]);
        if (!search_is_better(search, heap->at[child], number)) {
            break;
        }
        put(search, arm, place, heap->at[child]);
    }
    put(search, arm, place, number);
}

static void join(struct search *search, unsigned arm, int64_t number)
{
    append(&search->growing[arm], number);
    sift(search, arm, search->growing[arm].nr - 1, number);
}

static void leave(struct search *search, unsigned arm, int64_t number)
{
    const int64_t last = search->growing[arm].at[--search->growing[arm].nr];

    if (last != number) {
        sift(search, arm, search->nodes[number].place[arm], last);
    }
}

/* ---- nodes that lead to one that grows ---- */

static void link_open(struct search *search, int64_t number)
{
    struct search_node *node = &search->nodes[number];
    int64_t *first = &search->nodes[node->parent].first_open;

    node->next_open = *first;
    if (*first >= 0) {
        search->nodes[*first].prev_open = number;
    }
    *first = number;
}

static void unlink_open(struct search *search, int64_t number)
{
    struct search_node *node = &search->nodes[number];

    if (node->next_open >= 0) {
        search->nodes[node->next_open].prev_open = node->prev_open;
    }
    if (node->prev_open >= 0) {
        search->nodes[node->prev_open].next_open = node->next_open;
    } else {
        search->nodes[node->parent].first_open = node->next_open;
    }
    node->next_open = node->prev_open = -1;
}

/* From the node up, as far as anything changes. */
static void tell_parents(struct search *search, int64_t number)
{
    for (int64_t n = number; n >= 0; n = search->nodes[n].parent) {
        struct search_node *node = &search->nodes[n];
        const bool open = node->grows || node->first_open >= 0;

        search->nr_looks++;
        if (open == node->open) {
            return;
        }
        node->open = open;
        if (node->parent >= 0 && open) {
            link_open(search, n);
        } else if (node->parent >= 0) {
            unlink_open(search, n);
        }
    }
}

/* ---- judgement ---- */

/* The heaps in which the node belongs, as bits. */
static uint8_t heaps_of(const struct search *search, const struct search_node *node, bool relaxed)
{
    unsigned heaps = 0;

    if (node->state != NODE_OK || search_node_dead(search, node)) {
        return 0;
    }
    for (unsigned m = 0; m < node->nr_untried; m++) {
        if (search_allows(search, node, m, relaxed)) {
            heaps |= 1;
            heaps |= node->untried[m].flags & SEARCH_FRESH ? 1u << node->untried[m].arm : 0;
        }
    }
    return (uint8_t)heaps;
}

void search_judge(struct search *search, int64_t number)
{
    struct search_node *node = &search->nodes[number];
    const uint8_t strictly = heaps_of(search, node, false), before = node->grows;

    search->nr_looks++;
    search->nr_strictly += strictly != 0;
    search->nr_strictly -= node->grows_strictly;
    node->grows_strictly = strictly != 0;
    node->grows = search->relaxed ? heaps_of(search, node, true) : strictly;
    for (unsigned arm = 0; arm < SEARCH_ARMS; arm++) {
        const unsigned is = node->grows >> arm & 1, was = before >> arm & 1;

        if (is && !was) {
            join(search, arm, number);
        } else if (was && !is) {
            leave(search, arm, number);
        }
    }
    tell_parents(search, number);
}

static bool is_flagged(const struct search_node *node, unsigned flags)
{
    for (unsigned m = 0; m < node->nr_untried; m++) {
        if (node->untried[m].flags & flags) {
            return true;
        }
    }
    return false;
}

/* Judge the nodes whose moves depend on the rest of the tree. */
static void judge_armed(struct search *search)
{
    struct node_list *armed = &search->armed;
    size_t nr = 0;

    for (size_t i = 0; i < armed->nr; i++) {
        search_judge(search, armed->at[i]);
        if (is_flagged(&search->nodes[armed->at[i]], ~0u)) {
            armed->at[nr++] = armed->at[i];
        }
    }
    armed->nr = nr;
}

/* Some partner of a node that was just told; 0: there is none. Most often the best node is one;
 * what lies beside the parent lies beside the node, too. */
static int64_t some_partner(struct search *search, int64_t number)
{
    const int64_t parent = search->nodes[number].parent;
    const int64_t inherited = parent >= 0 ? search->nodes[parent].partner : 0;

    if (search_may_pair(search, search->best, number)) {
        return search->best;
    }
    if (inherited > 0 && search_may_pair(search, inherited, number)) {
        return inherited;
    }
    for (int64_t i = (int64_t)search->nr_nodes; i-- > 1;) {
        search->nr_looks++;
        if (search_may_pair(search, i, number)) {
            return i;
        }
    }
    return 0;
}

static void introduce(struct search *search, int64_t newcomer)
{
    struct node_list *lonely = &search->lonely;
    size_t nr = 0;

    for (size_t i = 0; i < lonely->nr; i++) {
        struct search_node *node = &search->nodes[lonely->at[i]];

        search->nr_looks++;
        if (search_may_pair(search, newcomer, lonely->at[i])) {
            node->partner = newcomer;
            search_judge(search, lonely->at[i]);
        } else {
            lonely->at[nr++] = lonely->at[i];
        }
    }
    lonely->nr = nr;
}

void search_opened(struct search *search, int64_t number)
{
    struct search_node *node = &search->nodes[number];

    introduce(search, number);
    if (is_flagged(node, SEARCH_PAIR)) {
        node->partner = some_partner(search, number);
        if (node->partner == 0) {
            append(&search->lonely, number);
        }
    }
    search_judge(search, number);
    if (search->best == number) { /* others may be dominated now */
        judge_armed(search);
    }
    if (is_flagged(node, ~0u)) {
        append(&search->armed, number);
    }
}

bool search_anything_open(struct search *search)
{
    const bool relaxed = search->nr_strictly == 0;

    if (relaxed != search->relaxed) {
        search->relaxed = relaxed;
        judge_armed(search);
    }
    return search->growing[0].nr > 0;
}
