/* Owns what reaches DRAM: how many sectors of each buffer the blocks touch, how the footprint of
 * neighbouring blocks grows, and which reads and writes L2 cannot serve.
 *
 * U(w), the sectors of a buffer that w successive blocks touch, follows from pairs of blocks that
 * lie one step apart along an axis of the grid (event.h), from what one block touches, and from
 * what the grid touches. In a grid of clusters these are clusters, of which all blocks were traced.
 * A wave is the W blocks that the chip holds at a time, and F(w) the sum of
 * U(w) over the buffers. Each wave reads U(W); of that, L2 still has what the m-th wave before it
 * left, if it keeps F(mW) sectors. That misses are differences of footprints is the theory of
 * Xiang, Ding, Luo and Bao, "HOTL: a higher order theory of locality", ASPLOS 2013.
 *
 * Where a wave's own footprint exceeds L2, blocks that share a sector find it there only if they
 * come to it at about the same time. The blocks of the first wave do. Later they drift apart: n
 * sharers at random phases of their lives, of which L2 holds the share x, fetch a sector
 * 1 + (n - 1)(1 - x)^n times, the mean number of gaps above x between n random points. A published
 * profile of a 128 x 128 tiled product on H100 (8192 cubed) has 4.8 GB of DRAM traffic; the formula
 * gives 4.6, blocks in step would need 2.4. */
#include "emu/timing/time.h"

#include "base/mem.h"
#include "emu/state/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_WAVES_BACK = 4096, MOST_NEARBY = 8, PLACE_SECTORS = (2 << 20) / 32 };

/* Of clusters; a block alone is one. */
struct footprint {
    double one, all;       /* sectors: of a cluster, on average; of the grid */
    double clusters, each; /* of the grid; blocks of one */
    double extent[3];      /* clusters along x, y, z */
    double overlap[3];     /* share of a cluster's sectors that the next along the axis has too */
};

/* How much of a working set that is gone through again and again L2 still serves. With replacement
 * at random, as hashed sets look like, a sector of n survives the misses of one turn in a cache of
 * c with the chance h = exp(-(1 - h) n / c). c is the usable share of L2: 0.64 on an H200, what
 * both halves need of far data taken off (data/h100/gpu-l2-cache, H200: 9.7 TB/s at 28 MB, 6.5 at
 * 53 MB, 4.2 at 70 MB: within 12%). */
static double l2_keeps(const struct chip *chip, double sectors)
{
    const double turns = sectors * 32 / (chip->l2_usable * (double)chip->l2_bytes);
    double kept = 0;

    for (int i = 0; i < 100 && turns > 1; i++)
        kept = exp(-turns * (1 - kept));
    return turns > 1 ? kept : 1;
}

/* --- footprints --- */

static double clamp(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* The sectors that successive blocks touch, by what neighbours have in common. */
static double grown(const struct footprint *f, double blocks)
{
    const double w = blocks / f->each;
    double sectors = f->one, along = 1;

    for (int axis = 0; axis < 3; axis++) {
        sectors *= 1 + (clamp(w / along, 1, f->extent[axis]) - 1) * (1 - f->overlap[axis]);
        along *= f->extent[axis];
    }
    return sectors;
}

/* The grid's total is the limit. New sectors come at least at the mean rate of the grid: rows of
 * tiles in a grid of one dimension show only there. */
static double touched_by(const struct footprint *f, double blocks)
{
    double least = f->all;

    if (f->clusters > 1)
        least = f->one + (f->all - f->one) * (clamp(blocks / f->each, 1, f->clusters) - 1) /
                             (f->clusters - 1);
    return fmin(fmax(grown(f, blocks), least), f->all);
}

/* What a traced block touches of a buffer. */
struct tally {
    double all, read, written; /* sectors */
    double own; /* of them, those that no block of its cluster with a lower rank has */
    double with[MOST_NEARBY]; /* of these, those that this nearby cluster touches too */
};

struct buffer_traffic *time_traffic_at(const struct traffic *r, uint64_t sector)
{
    unsigned low = 0, high = r->nr;

    while (low < high) {
        const unsigned middle = (low + high) / 2;

        if (r->of[middle].end <= sector)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->nr && r->of[low].begin <= sector ? &r->of[low] : NULL;
}

static unsigned blocks_of_each(const struct time_listener *listener)
{
    return listener->run->cluster_blocks > 1 ? listener->run->cluster_blocks : 1;
}

/* Traced clusters, nearby clusters. Traces lie by rank, then cluster: see time_traces_sort. */
static unsigned nr_traced(const struct time_listener *listener)
{
    return listener->nr_traces / blocks_of_each(listener);
}

static unsigned nr_nearby(const struct time_listener *listener)
{
    const unsigned nr = listener->nr_nearby / blocks_of_each(listener);

    return nr < MOST_NEARBY ? nr : MOST_NEARBY;
}

/* Does any of so many traces, which lie `step` apart, touch the sector? */
static bool any_has(struct block_trace *const *traces, unsigned nr, unsigned step, uint64_t sector)
{
    for (unsigned i = 0; i < nr; i++)
        if (sector_set_has(&traces[(size_t)i * step]->touched, sector))
            return true;
    return false;
}

/* By trace, then buffer; heap memory. */
static struct tally *count_sectors(const struct traffic *r, const struct time_listener *listener)
{
    struct tally *tallies = xcalloc((size_t)listener->nr_traces * r->nr + 1, sizeof(*tallies));
    const unsigned each = blocks_of_each(listener), clusters = nr_traced(listener),
                   all_nearby = listener->nr_nearby / each;

    for (unsigned i = 0; i < clusters * each; i++) {
        const struct sector_set *set = &listener->traces[i]->touched;

        for (size_t k = 0; k < set->cap; k++) {
            const uint64_t sector = set->keys[k] - 1;
            const struct buffer_traffic *t = set->keys[k] != 0 ? time_traffic_at(r, sector) : NULL;
            struct tally *tally;

            if (t == NULL)
                continue;
            tally = &tallies[(size_t)i * r->nr + (size_t)(t - r->of)];
            tally->all++;
            tally->read += (set->flags[k] & SECTOR_READ) != 0;
            tally->written += (set->flags[k] & SECTOR_WRITTEN) != 0;
            if (any_has(&listener->traces[i % clusters], i / clusters, clusters, sector))
                continue;
            tally->own++;
            for (unsigned n = 0; n < nr_nearby(listener); n++)
                tally->with[n] += any_has(&listener->nearby[n], each, all_nearby, sector);
        }
    }
    return tallies;
}

/* Of `drawn` blocks of a sample, which touched so many sectors, how many would all blocks touch?
 * Taken as drawn from so many classes of blocks that touch the same: tiles of a matrix, or, where
 * addresses are random, places in the buffer. */
static double extrapolate(double one, double touched, double drawn, double all)
{
    double low = fmax(touched / one, 1), high = all;

    if (drawn >= all || one <= 0)
        return touched;
    for (int i = 0; i < 60 && low < high; i++) {
        const double classes = sqrt(low * high);

        if (classes * (1 - pow(1 - 1 / classes, drawn)) * one < touched)
            low = classes;
        else
            high = classes;
    }
    return one * high;
}

/* What a traced cluster touches of a buffer: own and with[]. */
static struct tally tally_of(const struct traffic *r, const struct time_listener *listener,
    const struct tally *tallies, unsigned which, unsigned cluster)
{
    struct tally sum = {0};

    for (unsigned i = cluster; i < listener->nr_traces; i += nr_traced(listener)) {
        const struct tally *tally = &tallies[(size_t)i * r->nr + which];

        sum.own += tally->own;
        for (unsigned n = 0; n < nr_nearby(listener); n++)
            sum.with[n] += tally->with[n];
    }
    return sum;
}

/* The share of a traced cluster's sectors of a buffer that the cluster whose blocks are `step`
 * further on, or before, touches too; of several pairs the largest: a block that ends a row of
 * tiles has nothing in common with the next one, and how long rows are follows from what the grid
 * touches (touched_by). -1: no such pair was traced. */
static double overlap_at(const struct traffic *r, const struct time_listener *listener,
    const struct tally *tallies, unsigned which, uint64_t step)
{
    double most = -1;

    for (unsigned i = 0; i < nr_traced(listener); i++) {
        const uint64_t a = listener->traces[i]->block;
        const struct tally tally = tally_of(r, listener, tallies, which, i);

        for (unsigned n = 0; n < nr_nearby(listener); n++) {
            const uint64_t b = listener->nearby[n]->block;

            if ((b == a + step || b + step == a) && tally.own > 0)
                most = fmax(most, tally.with[n] / tally.own);
        }
    }
    return most;
}

/* The sectors of a buffer that a cluster touches, on average. */
static double of_one_cluster(const struct traffic *r, const struct time_listener *listener,
    const struct tally *tallies, unsigned which)
{
    double sum = 0;

    for (unsigned i = 0; i < nr_traced(listener); i++)
        sum += tally_of(r, listener, tallies, which, i).own;
    return sum / fmax(1, nr_traced(listener));
}

static struct footprint footprint_of(const struct traffic *r, const struct time_listener *listener,
    const struct tally *tallies, unsigned which)
{
    const struct mem_buffer *buffer = listener->run->memory->buffers[r->of[which].buffer];
    const uint32_t *grid = listener->run->launch->grid;
    const double each = blocks_of_each(listener), drawn = r->drawn / each;
    struct footprint f = {.one = of_one_cluster(r, listener, tallies, which),
        .clusters = r->blocks / each,
        .each = each};
    double touched = (double)buffer->nr_touched, limit;
    uint64_t step = 1;

    for (int axis = 0; axis < 3; axis++) {
        const uint32_t blocks = grid[axis] > 0 ? grid[axis] : 1,
                       along = each > 1 ? listener->run->cluster[axis] : 1;

        f.extent[axis] = blocks / along;
        if (blocks > along)
            f.overlap[axis] = fmax(0, overlap_at(r, listener, tallies, which, step * along));
        step *= blocks;
    }
    /* Neighbours were chosen to overlap, so they do not count as drawn at random. */
    for (unsigned n = 0; n < nr_nearby(listener) && r->drawn < r->blocks; n++) {
        double most = 0;

        for (unsigned i = 0; i < nr_traced(listener); i++)
            most = fmax(most, tally_of(r, listener, tallies, which, i).with[n]);
        touched += most;
    }
    limit = fmax(f.one, (double)((buffer->bytes + 31) / 32));
    /* Blocks of the sample rarely meet: the pairs of neighbours say more. But not where neighbours
     * have all in common and the sample has touched more than that: words that each block writes
     * side by side. */
    f.all = r->drawn < r->blocks && touched > 0.7 * drawn * f.one
                ? grown(&f, r->blocks)
                : extrapolate(f.one, touched, drawn, f.clusters);
    if (f.all < (double)buffer->nr_touched)
        f.all = extrapolate(f.one, touched, drawn, f.clusters);
    f.all = clamp(f.all, f.one, limit);
    return f;
}

static double all_touched_by(const struct traffic *r, const struct footprint *of, double w)
{
    double sum = 0;

    for (unsigned i = 0; i < r->nr; i++)
        sum += touched_by(&of[i], w);
    return sum;
}

/* --- misses --- */

/* How often the blocks of a wave fetch a sector that all of them need once; the mean over the
 * sectors. Blocks start in their order, so that those that start while L2 holds what the first of
 * them fetched are in step, and count as one. */
static double fetches(const struct traffic *r, const struct footprint *f)
{
    const double waves = r->blocks / r->wave, drift = 1 - 1 / fmax(waves, 1);
    const double held = r->usable / fmax(r->of_wave, 1);
    const double together = clamp(r->wave * held, 1, r->wave);
    const double sharers =
        r->wave / together * touched_by(f, together) / fmax(touched_by(f, r->wave), 1);

    if (held >= drift || sharers <= 1)
        return 1;
    return 1 + (sharers - 1) * pow(1 - held / drift, sharers);
}

/* The blocks after which the blocks begin anew with the same sectors, without an axis of the grid
 * that says so (`blockIdx.x % n`); the wave where that is less. Such blocks are far apart in time,
 * too: gpu-l2-cache reads 70 MB as if no two blocks of a wave shared anything. */
static double period(const struct traffic *r, const struct footprint *f)
{
    if (grown(f, r->blocks) <= 1.05 * f->all)
        return r->wave;
    return fmin(r->wave, fmax(1, f->all / f->one) * f->each);
}

/* Sectors that all waves together fetch. */
static double fetched(const struct traffic *r, const struct footprint *of, unsigned which)
{
    const struct footprint *f = &of[which];
    const double wave = period(r, f), waves = r->blocks / wave;
    double last = 0, now = touched_by(f, wave);
    double sum = waves * now * (wave < r->wave ? 1 : fetches(r, f));

    if (all_touched_by(r, of, r->blocks) <= r->usable)
        return f->all;
    for (unsigned m = 1; m < waves && m < MOST_WAVES_BACK; m++) {
        const double kept = l2_keeps(r->chip, all_touched_by(r, of, m * wave));
        const double next = touched_by(f, (m + 1) * wave);

        if (kept < 1e-3)
            break;
        sum -= (waves - m) * kept * (2 * now - last - next);
        last = now;
        now = next;
    }
    return clamp(sum, f->all, fmax(f->one * f->clusters, f->all));
}

/* Before the first launch of a run L2 is full of what a memset wrote (src/device/child_time.c), and
 * owes DRAM `most_unwritten` sectors of it, more than half of what it holds: on an H100 reading 1
 * GiB takes 9 us longer then than after a launch that only read, and reading 16, 32 and 64 MiB 2.6,
 * 4.5 and 8.2 us longer (bench/card/events.cu). */
static double most_unwritten(const struct chip *chip)
{
    return 0.55 * (double)chip->l2_bytes / 32;
}

/* What L2 owes DRAM at the end of a launch that takes in `taken` sectors and writes `written` of
 * them. A sector that comes in takes a place at random. */
static double unwritten_after(const struct chip *chip, double before, double taken, double written)
{
    const double places = (double)chip->l2_bytes / 32, left = exp(-taken / places);
    const double own = taken > 0 ? written / taken * places * (1 - left) : 0;

    return fmin(most_unwritten(chip), before * left + own);
}

/* Shares out the writes to DRAM: those that the launch's own come to, else to what it reads. */
static void settle_writes(struct traffic *r, double before)
{
    double read = 0, taken = 0, written = 0, writes, own;

    for (unsigned b = 0; b < r->nr; b++) {
        const struct buffer_traffic *t = &r->of[b];
        const double here = t->write * t->written * r->blocks;

        read += t->first * t->read * r->blocks;
        taken += fmax(t->first * t->read * r->blocks, here);
        written += here;
    }
    r->unwritten = unwritten_after(r->chip, before, taken, written);
    writes = fmax(0, before + written - r->unwritten);
    own = written > 0 ? fmin(1, writes / written) : 0;
    for (unsigned b = 0; b < r->nr; b++) {
        r->of[b].evict = read > 0 ? fmax(0, writes - written) / read : 0;
        r->of[b].dirty = taken > 0 ? fmin(1, writes / taken) : 0;
        r->of[b].write *= own;
    }
    r->writes = written * own;
}

static void settle(struct traffic *r, const struct footprint *of, unsigned which, double warm)
{
    struct buffer_traffic *t = &r->of[which];
    const double all = fetched(r, of, which), blocks = r->blocks, firsts = t->one * blocks;
    const double of_wave = touched_by(&of[which], r->wave) * blocks / r->wave;
    const double waves = fmax(blocks / r->wave, 1);
    double cold = 1 - warm, share, in_step;

    t->all = of[which].all;
    if (firsts <= 0)
        return;
    share = fmin(1, all / firsts);
    in_step = fmin(1, fetches(r, &of[which]) * of_wave / firsts);
    t->alone = fmax(share, in_step);
    t->first = share * cold;
    /* Sharers in step wait together for what one of them fetches. */
    t->late = t->first + fmax(0, fmin(1, all / of_wave) * cold - t->first) / waves;
    t->write = share;
    /* Of n readers of a sector on both sides, the first one on the side that has it not waits. */
    t->far_half = (1 - pow(0.5, firsts / t->all)) * t->all / firsts;
    r->reads += t->first * t->read * blocks;
}

static void list_buffers(struct traffic *r, const struct emu_memory *memory)
{
    const size_t nr = memory != NULL ? memory->nr : 0;
    uint64_t place = 0;

    r->of = xcalloc(nr + 1, sizeof(*r->of));
    for (size_t i = 0; i < nr; i++) {
        const struct mem_buffer *buffer = memory->buffers[i];
        struct buffer_traffic *of = &r->of[r->nr];

        if (buffer->nr_touched == 0 || buffer->constant)
            continue;
        *of = (struct buffer_traffic){.begin = buffer->base / 32,
            .end = (buffer->base + buffer->bytes + 31) / 32,
            .place = place,
            .buffer = (unsigned)i};
        place += (of->end - of->begin + PLACE_SECTORS - 1) / PLACE_SECTORS * PLACE_SECTORS;
        r->nr++;
    }
}

struct traffic time_traffic(const struct time_listener *listener, double drawn, double resident)
{
    const struct emu_run *run = listener->run;
    struct traffic r = {.chip = run->chip,
        .blocks = fmax(1, (double)run->nr_blocks),
        .drawn = drawn,
        .usable = run->chip->l2_usable * (double)run->chip->l2_bytes / 32};
    struct footprint *of;
    struct tally *tallies;
    double one = 0;

    list_buffers(&r, run->memory);
    r.wave = fmin(r.blocks, resident * run->chip->nr_sms);
    tallies = count_sectors(&r, listener);
    of = xcalloc(r.nr + 1, sizeof(*of));
    for (unsigned b = 0; b < r.nr; b++) {
        struct buffer_traffic *t = &r.of[b];

        for (unsigned i = 0; i < listener->nr_traces; i++) {
            const struct tally *tally = &tallies[(size_t)i * r.nr + b];

            t->one += tally->all / listener->nr_traces;
            t->read += tally->read / listener->nr_traces;
            t->written += tally->written / listener->nr_traces;
        }
        t->far = overlap_at(&r, listener, tallies, b, run->chip->nr_sms);
        of[b] = footprint_of(&r, listener, tallies, b);
        one += t->one;
    }
    r.of_wave = all_touched_by(&r, of, r.wave);
    r.unique = fmax(all_touched_by(&r, of, r.blocks), one);
    for (unsigned bits = 0; bits < TRACE_DISTANCES; bits++)
        r.again[bits] =
            1 - l2_keeps(r.chip, r.of_wave * fmin(1, ldexp(1, (int)bits) / fmax(one, 1)));
    for (unsigned b = 0; b < r.nr; b++)
        settle(&r, of, b, run->launch->warm ? run->memory->buffers[r.of[b].buffer]->in_l2 : 0);
    settle_writes(&r, run->launch->warm ? run->memory->unwritten : most_unwritten(r.chip));
    free(of);
    free(tallies);
    return r;
}

/* How much of what a launch touched L2 still has for the next one: all to 0.6 of what is usable,
 * nothing from 1.2 on. On an H100 a second launch reads 16, 24 and 40 MiB again in 3.6, 6.7 and 18
 * us, the last as slowly as from DRAM (read_twice of bench/card). */
static double l2_leaves(const struct chip *chip, double sectors)
{
    const double share = sectors * 32 / (chip->l2_usable * (double)chip->l2_bytes);

    return fmin(1, fmax(0, (1.2 - share) / 0.6));
}

void time_leave_in_l2(const struct traffic *r, const struct emu_run *run)
{
    const double kept = l2_leaves(r->chip, r->unique);

    if (run->memory != NULL)
        run->memory->unwritten = r->unwritten;
    for (size_t i = 0; run->memory != NULL && i < run->memory->nr && !run->launch->warm; i++)
        run->memory->buffers[i]->in_l2 = 0;
    for (unsigned i = 0; i < r->nr; i++) {
        struct mem_buffer *buffer = run->memory->buffers[r->of[i].buffer];

        buffer->in_l2 =
            fmax(buffer->in_l2, fmin(1, r->of[i].all / (double)(r->of[i].end - r->of[i].begin)));
    }
    for (size_t i = 0; run->memory != NULL && i < run->memory->nr; i++)
        run->memory->buffers[i]->in_l2 *= kept;
}
