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

static void put(struct search *search, unsigned heap, size_t place, int64_t number)
{
    search->nr_looks++;
    search->heaps[heap].at[place] = number;
    search->nodes[number].place[heap] = (uint32_t)place;
}

static void sift(struct search *search, unsigned heap, size_t place, int64_t number)
{
    const struct node_list *list = &search->heaps[heap];

    for (; place > 0 && search_is_better(search, number, list->at[(place - 1) / 2]);
         place = (place - 1) / 2) {
        put(search, heap, place, list->at[(place - 1) / 2]);
    }
    for (size_t child; (child = 2 * place + 1) < list->nr; place = child) {
        child +=
            child + 1 < list->nr && search_is_better(search, list->at[child + 1], list->at[child]);
        if (!search_is_better(search, list->at[child], number)) {
            break;
        }
        put(search, heap, place, list->at[child]);
    }
    put(search, heap, place, number);
}

static void join(struct search *search, unsigned heap, int64_t number)
{
    append(&search->heaps[heap], number);
    sift(search, heap, search->heaps[heap].nr - 1, number);
}

static void leave(struct search *search, unsigned heap, int64_t number)
{
    const int64_t last = search->heaps[heap].at[--search->heaps[heap].nr];

    if (last != number) {
        sift(search, heap, search->nodes[number].place[heap], last);
    }
}

bool search_grows(const struct search *search, const struct search_node *node)
{
    return node->heaps >> search->wanted & 1;
}

int64_t search_best_growing(const struct search *search)
{
    return search->heaps[search->wanted].at[0];
}

/* ---- nodes that lead to one that grows ---- */

static void link_open(struct search *search, unsigned view, int64_t number)
{
    struct search_node *node = &search->nodes[number];
    int64_t *first = &search->nodes[node->parent].first_open[view];

    node->open_siblings[view].next = *first;
    if (*first >= 0) {
        search->nodes[*first].open_siblings[view].prev = number;
    }
    *first = number;
}

static void unlink_open(struct search *search, unsigned view, int64_t number)
{
    struct search_node *node = &search->nodes[number];
    const int64_t next = node->open_siblings[view].next, prev = node->open_siblings[view].prev;

    if (next >= 0) {
        search->nodes[next].open_siblings[view].prev = prev;
    }
    if (prev >= 0) {
        search->nodes[prev].open_siblings[view].next = next;
    } else {
        search->nodes[node->parent].first_open[view] = next;
    }
    node->open_siblings[view].next = node->open_siblings[view].prev = -1;
}

/* From the node up, as far as anything changes. */
static void tell_parents(struct search *search, unsigned view, int64_t number)
{
    for (int64_t n = number; n >= 0; n = search->nodes[n].parent) {
        struct search_node *node = &search->nodes[n];
        const bool open = node->heaps >> view & 1 || node->first_open[view] >= 0;

        search->nr_looks++;
        if (open == (node->open >> view & 1)) {
            return;
        }
        node->open ^= (uint8_t)(1u << view);
        if (node->parent >= 0 && open) {
            link_open(search, view, n);
        } else if (node->parent >= 0) {
            unlink_open(search, view, n);
        }
    }
}

/* ---- judgement ---- */

/* The heaps in which the node belongs, as bits. */
static uint16_t heaps_of(const struct search *search, const struct search_node *node, bool relaxed)
{
    unsigned heaps = 0;

    if (node->state != NODE_OK || search_node_dead(search, node)) {
        return 0;
    }
    for (unsigned m = 0; m < node->nr_untried; m++) {
        const struct search_move *move = &node->untried[m];

        if (search_allows(search, node, m, relaxed)) {
            heaps |= 1u << SEARCH_ALL;
            heaps |= 1u << (move->arm ? SEARCH_WITH_ARM : SEARCH_WITHOUT_ARM);
            heaps |= move->arm && move->flags & SEARCH_FRESH ? 1u << (HEAP_FRESH + move->arm) : 0;
            heaps |= !move->arm && move->flags & SEARCH_SOON ? 1u << HEAP_SOON : 0;
        }
    }
    return (uint16_t)heaps;
}

void search_judge(struct search *search, int64_t number)
{
    struct search_node *node = &search->nodes[number];
    const unsigned strictly = heaps_of(search, node, false), before = node->heaps;

    search->nr_looks++;
    node->heaps = search->relaxed ? heaps_of(search, node, true) : (uint16_t)strictly;
    for (unsigned heap = 0; heap < NR_HEAPS; heap++) {
        const unsigned is = node->heaps >> heap & 1, was = before >> heap & 1;

        if (is && !was) {
            join(search, heap, number);
        } else if (was && !is) {
            leave(search, heap, number);
        }
    }
    for (unsigned view = 0; view < NR_VIEWS; view++) {
        search->nr_strictly[view] += strictly >> view & 1;
        search->nr_strictly[view] -= node->strictly >> view & 1;
        tell_parents(search, view, number);
    }
    node->strictly = strictly & ((1u << NR_VIEWS) - 1);
}

/* Of moves that the rest of the tree may forbid or allow. */
enum { DEPENDS = SEARCH_FROM_BEST | SEARCH_PAIR };

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
        if (is_flagged(&search->nodes[armed->at[i]], DEPENDS)) {
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
    if (is_flagged(node, DEPENDS)) {
        append(&search->armed, number);
    }
}

void search_shut(struct search *search, int64_t number)
{
    search->nodes[number].state = NODE_FAILED;
    search_judge(search, number);
}

/* Nodes whose partner the node can be no longer look for another. */
static void part(struct search *search, int64_t number)
{
    for (int64_t i = 0; i < (int64_t)search->nr_nodes; i++) {
        struct search_node *node = &search->nodes[i];

        if (node->partner != number || search_may_pair(search, number, i)) {
            continue;
        }
        node->partner = 0;
        node->partner = some_partner(search, i);
        if (node->partner == 0 && is_flagged(node, SEARCH_PAIR)) {
            append(&search->lonely, i);
        }
        search_judge(search, i);
    }
}

void search_reopened(struct search *search, int64_t number)
{
    part(search, number);
    search_judge(search, number);
    judge_armed(search);
}

bool search_anything_open(struct search *search)
{
    const bool relaxed = search->nr_strictly[search->wanted] == 0;

    if (relaxed != search->relaxed) {
        search->relaxed = relaxed;
        judge_armed(search);
    }
    return search->heaps[search->wanted].nr > 0;
}
