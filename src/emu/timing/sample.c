/* Owns the choice of blocks: which to run when not all run, which the time model looks at. */
#include "base/mem.h"
#include "base/rng.h"
#include "emu/exec/launch.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE_SAMPLE = 4 * EMU_TRACED_BLOCKS };

static bool is_one_of(const uint64_t *list, unsigned nr, uint64_t block)
{
    for (unsigned i = 0; i < nr; i++)
        if (list[i] == block)
            return true;
    return false;
}

/* Takes the block `step` after the traced one, or before it where there is none after it: where the
 * next would be outside of [begin, begin + length), a row or a plane of the grid. */
static void add_nearby(
    struct block_choice *c, uint64_t traced, uint64_t step, uint64_t begin, uint64_t length)
{
    uint64_t near;

    if (step >= length)
        return;
    if (traced + step < begin + length)
        near = traced + step;
    else if (traced >= begin + step)
        near = traced - step;
    else
        return;
    if (c->only_first && near >= c->nr)
        return;
    if (!is_one_of(c->traced, c->nr_traced, near) && !is_one_of(c->nearby, c->nr_nearby, near))
        c->nearby[c->nr_nearby++] = near;
}

static uint64_t nr_clusters(const struct emu_run *run)
{
    return run->nr_blocks / run->cluster_blocks;
}

static void choose_nearby(struct block_choice *c, const struct emu_run *run)
{
    const uint32_t *grid = run->launch->grid, *cluster = run->cluster;
    const uint64_t x = grid[0] / cluster[0], y = grid[1] / cluster[1], plane = x * y;
    const uint64_t sms = run->chip->nr_sms / run->cluster_blocks;
    const uint64_t a = c->traced[c->nr_traced / 2], b = c->traced[(c->nr_traced - 1) / 2];

    add_nearby(c, a, 1, a / x * x, x);
    add_nearby(c, b, x, b / plane * plane, plane);
    add_nearby(c, a, plane, 0, nr_clusters(run));
    add_nearby(c, b, sms ? sms : 1, 0, nr_clusters(run));
    /* A grid of one dimension may have rows that its extents do not tell, and `a` may end one. */
    if (plane == x && plane == nr_clusters(run) && plane >= LARGE_SAMPLE)
        add_nearby(c, b, 1, 0, x);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* One block of each of `want` equally long stretches of the grid, so that edges count as often as
 * they occur. Of blocks that may wait for others, the first ones: to wait for a block that is not
 * in the sample would never end. */
static void draw(struct block_choice *c, const struct emu_run *run, uint64_t want)
{
    const uint64_t nr = nr_clusters(run);

    c->only_first = run->program->waits;
    c->list = xcalloc(want + MOST_NEARBY_BLOCKS, sizeof(*c->list));
    for (uint64_t i = 0; i < want; i++) {
        uint64_t from = (uint64_t)((double)i * (double)nr / (double)want);
        uint64_t to = (uint64_t)((double)(i + 1) * (double)nr / (double)want);

        to = to > nr ? nr : to;
        c->list[i] =
            c->only_first ? i : from + rng_mix(run->launch->seed, i) % (to > from ? to - from : 1);
    }
    c->nr = want;
}

static void add_to_list(struct block_choice *c)
{
    uint64_t kept = 0;

    memcpy(&c->list[c->nr], c->nearby, c->nr_nearby * sizeof(*c->list));
    c->nr += c->nr_nearby;
    qsort(c->list, c->nr, sizeof(*c->list), by_number);
    for (uint64_t i = 0; i < c->nr; i++)
        if (i == 0 || c->list[i] != c->list[i - 1])
            c->list[kept++] = c->list[i];
    c->nr = kept;
}

struct block_choice launch_choose(const struct emu_run *run)
{
    const unsigned each = run->cluster_blocks;
    const uint64_t sample = (run->launch->sample_blocks + each - 1) / each;
    struct block_choice c = {.nr = nr_clusters(run)};
    uint64_t drawn;

    if (run->launch->blocks && !run->program->cooperative) {
        c.nr = run->launch->nr_blocks;
        c.list = xcalloc(c.nr + MOST_NEARBY_BLOCKS, sizeof(*c.list));
        memcpy(c.list, run->launch->blocks, c.nr * sizeof(*c.list));
        return c;
    }
    /* Neighbours are a part of a small sample, half of it at most. */
    if (sample > 0 && sample < c.nr && !run->program->cooperative)
        draw(&c, run, sample >= LARGE_SAMPLE ? sample : (sample + 1) / 2);
    drawn = c.nr;
    c.nr_traced = each >= EMU_TRACED_BLOCKS / 2 ? 2 : EMU_TRACED_BLOCKS / each;
    c.nr_traced = drawn < c.nr_traced ? (unsigned)drawn : c.nr_traced;
    for (uint64_t t = 0; t < c.nr_traced; t++) {
        /* one of each of equal stretches */
        const uint64_t middle = (2 * t + 1) * drawn / (2 * c.nr_traced);

        c.traced[t] = c.list ? c.list[middle] : middle;
    }
    if (drawn > 1)
        choose_nearby(&c, run);
    if (c.list)
        add_to_list(&c);
    return c;
}

bool launch_traced(const struct block_choice *choice, uint64_t block)
{
    return is_one_of(choice->traced, choice->nr_traced, block);
}

bool launch_nearby(const struct block_choice *choice, uint64_t block)
{
    return is_one_of(choice->nearby, choice->nr_nearby, block);
}
