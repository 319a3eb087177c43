/* Owns the simulated L1: which sectors it holds, and when each is there. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <stdlib.h>

enum { WAYS = 8 };

struct l1_line {
    uint64_t tag; /* line number + 1; 0 empty */
    double ready[4], used;
    uint32_t age;
    uint8_t valid;
};

void l1_init(struct l1 *l1, double bytes)
{
    l1->sets = (size_t)(bytes / 128 / WAYS);
    l1->sets = l1->sets > 0 ? l1->sets : 1;
    l1->lines = xcalloc(l1->sets * WAYS, sizeof(*l1->lines));
}

void l1_finish(struct l1 *l1)
{
    free(l1->lines);
}

void l1_forget(struct l1 *l1)
{
    l1->age++;
}

double *l1_sector(struct l1 *l1, uint64_t sector, double now, bool *hit)
{
    const uint64_t number = sector / 4, set = (number ^ number >> 9 ^ number >> 21) % l1->sets;
    const uint8_t bit = (uint8_t)(1 << sector % 4);
    struct l1_line *lines = &l1->lines[set * WAYS], *victim = lines;

    for (unsigned way = 0; way < WAYS; way++) {
        if (lines[way].tag == number + 1 && lines[way].age == l1->age) {
            *hit = (lines[way].valid & bit) != 0;
            lines[way].valid |= bit;
            lines[way].used = now;
            return &lines[way].ready[sector % 4];
        }
        if (lines[way].used < victim->used)
            victim = &lines[way];
    }
    *hit = false;
    *victim = (struct l1_line){.tag = number + 1, .used = now + 1e-9, .age = l1->age, .valid = bit};
    return &victim->ready[sector % 4];
}
