/* Owns what was learned of kinds of moves: what failed or gained nothing is worth less wherever it
 * is offered, and what gained is worth more. */
#include "search/policy.h"

#include <math.h>
#include <stdlib.h>

struct kind {
    uint32_t id;
    double weight;
};

/* In log2: 1%. */
static const double LEAST_GAIN = 0.0143553;

/* What is left of a weight after a failure, or a success without a gain. */
static const double AFTER_NOTHING = 0.3;
static const double LEAST_WEIGHT = 0.05, MOST_WEIGHT = 4;

static uint32_t *slot_of(struct search *search, uint32_t id)
{
    size_t at = (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) % search->kinds.nr_slots;

    while (search->kinds.slots[at] && search->kinds.all[search->kinds.slots[at]].id != id) {
        at = (at + 1) % search->kinds.nr_slots;
    }
    return &search->kinds.slots[at];
}

/* At most half of the slots are taken. */
static void grow_slots(struct search *search)
{
    size_t cap = 0, nr_slots = 2 * search->kinds.nr_slots + 64;

    free(search->kinds.slots);
    search->kinds.slots = search_grow(NULL, &cap, nr_slots, sizeof(*search->kinds.slots));
    search->kinds.nr_slots = nr_slots;
    for (size_t i = 0; i < nr_slots; i++) {
        search->kinds.slots[i] = 0;
    }
    for (uint32_t i = 1; i < search->kinds.nr; i++) {
        *slot_of(search, search->kinds.all[i].id) = i;
    }
}

static void add_kind(struct search *search, uint32_t id)
{
    search->kinds.all = search_grow(
        search->kinds.all, &search->kinds.cap, search->kinds.nr + 1, sizeof(*search->kinds.all));
    search->kinds.all[search->kinds.nr++] = (struct kind){id, 1};
}

unsigned search_kind(struct search *search, uint32_t id)
{
    if (id == 0) {
        return 0;
    }
    if (search->kinds.nr == 0) {
        add_kind(search, 0);
    }
    if (2 * search->kinds.nr >= search->kinds.nr_slots) {
        grow_slots(search);
    }
    uint32_t *slot = slot_of(search, id);

    if (*slot == 0) {
        *slot = (uint32_t)search->kinds.nr;
        add_kind(search, id);
    }
    return *slot;
}

/* Of x >= 0, by roots, since sqrt is the one function of libm that all machines agree on; to 20
 * bits. */
static double power_of_two(double x)
{
    double power = 1, root = 2;

    for (; x >= 1; x -= 1) {
        power *= 2;
    }
    for (unsigned bit = 0; bit < 20; bit++) {
        root = sqrt(root);
        x *= 2;
        if (x >= 1) {
            power *= root;
            x -= 1;
        }
    }
    return power;
}

void search_kind_told(struct search *search, unsigned kind, bool ok, double gain)
{
    if (kind == 0) {
        return;
    }
    double *weight = &search->kinds.all[kind].weight;

    *weight *= ok && gain >= LEAST_GAIN ? power_of_two(gain) : AFTER_NOTHING;
    *weight = fmin(fmax(*weight, LEAST_WEIGHT), MOST_WEIGHT);
}

double search_kind_weight(const struct search *search, unsigned kind)
{
    return kind == 0 ? 1 : search->kinds.all[kind].weight;
}
