/* Owns the .loc records and the walk along inlining sites. */
#include "ptx/loc.h"

#include "base/mem.h"

#include <stdlib.h>

void locs_init(struct locs *locs)
{
    *locs = (struct locs){.nr_slots = 64, .current = NO_LOC};
    locs->slots = xcalloc(locs->nr_slots, sizeof(*locs->slots));
}

void locs_finish(struct locs *locs)
{
    free(locs->items);
    free(locs->slots);
    *locs = (struct locs){0};
}

static size_t slot_of(const struct locs *locs, uint32_t file, uint32_t line, uint32_t column)
{
    uint64_t hash = (uint64_t)file << 40 ^ (uint64_t)line << 16 ^ column;
    size_t i;

    hash *= UINT64_C(0x9e3779b97f4a7c15);
    i = (size_t)(hash >> 32) & (locs->nr_slots - 1);
    while (locs->slots[i]) {
        const struct loc *loc = &locs->items[locs->slots[i] - 1];
        if (loc->file == file && loc->line == line && loc->column == column)
            break;
        i = (i + 1) & (locs->nr_slots - 1);
    }
    return i;
}

static void double_slots(struct locs *locs)
{
    size_t i;

    free(locs->slots);
    locs->nr_slots *= 2;
    locs->slots = xcalloc(locs->nr_slots, sizeof(*locs->slots));
    for (i = 0; i < locs->nr; i++) {
        const struct loc *loc = &locs->items[i];
        locs->slots[slot_of(locs, loc->file, loc->line, loc->column)] = (uint32_t)i + 1;
    }
}

void locs_add(struct locs *locs, uint32_t file, uint32_t line, uint32_t column, uint32_t outer_file,
    uint32_t outer_line, uint32_t outer_column, bool in_entry)
{
    struct loc loc = {.file = file, .line = line, .column = column, .outer = NO_LOC};

    if (outer_file) {
        const uint32_t slot = locs->slots[slot_of(locs, outer_file, outer_line, outer_column)];
        loc.outer = slot ? slot - 1 : NO_LOC;
        loc.outer_file = outer_file;
        loc.outer_line = outer_line;
    } else if (in_entry && !locs->kernel_file) {
        locs->kernel_file = file;
    }
    if ((locs->nr + 1) * 2 > locs->nr_slots)
        double_slots(locs);
    locs->items = grow(locs->items, &locs->cap, locs->nr + 1, sizeof(*locs->items));
    locs->items[locs->nr++] = loc;
    locs->current = (uint32_t)locs->nr - 1;
    locs->slots[slot_of(locs, file, line, column)] = (uint32_t)locs->nr;
}

uint32_t locs_line(const struct locs *locs, uint32_t index)
{
    const uint32_t kernel_file = locs->kernel_file ? locs->kernel_file : 1;

    /* Each site comes before what is inlined there, so the walk ends; the bound keeps hostile text
     * with long chains from costing quadratic time. */
    for (int steps = 0; index != NO_LOC && steps < 64; steps++) {
        const struct loc *loc = &locs->items[index];
        if (loc->file == kernel_file)
            return loc->line;
        if (loc->outer_file == kernel_file)
            return loc->outer_line;
        index = loc->outer;
    }
    return 0;
}
