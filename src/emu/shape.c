/* Owns the counters: what each access costs in sectors and wavefronts, and the sums per metric and
 * per source line.
 *
 * Sectors: distinct 32-byte sectors of a warp's request. Shared wavefronts: the most distinct
 * 4-byte words in one of the 32 banks, which equals Nsight Compute's data wavefronts on H200 for
 * every stride and width from 4 to 16 bytes (te42kyfo/gpu-benches, gpu-strides). The ideals:
 * distinct bytes / 32, distinct words / 32, rounded up. */
#include "emu/exec.h"

#include <string.h>

static void sort(uint64_t *v, unsigned nr)
{
    for (unsigned i = 1; i < nr; i++) {
        uint64_t x = v[i];
        unsigned j = i;
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
}

/* Sorting by counting, for each lane, the lanes that come before it: loops over all lanes, which
 * vectorise. False: the addresses are too far apart. */
static bool sort_near(uint64_t *v, const uint64_t *address, uint64_t lo, uint64_t hi)
{
    int32_t key[WARP_LANES], rank[WARP_LANES] = {0};
    if (hi - lo >= UINT64_C(1) << 26)
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++)
        key[l] = (int32_t)((address[l] - lo) << 5 | l); /* all different */
    for (unsigned j = 0; j < WARP_LANES; j++) {
        const int32_t x = key[j];
        for (unsigned l = 0; l < WARP_LANES; l++)
            rank[l] += key[l] > x;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[rank[l]] = lo + (uint64_t)(key[l] >> 5);
    return true;
}

/* The active lanes' addresses in rising order; the rest of out repeats the last. */
static unsigned sorted_lanes(uint32_t mask, const uint64_t *address, uint64_t out[WARP_LANES])
{
    unsigned nr = 0;
    if (mask == ~0u) {
        memcpy(out, address, WARP_LANES * sizeof(*out));
        nr = WARP_LANES;
    } else {
        for (uint32_t m = mask; m; m &= m - 1)
            out[nr++] = address[__builtin_ctz(m)];
        for (unsigned i = nr; i < WARP_LANES; i++)
            out[i] = out[nr - 1];
    }
    uint64_t falls = 0, lo = out[0], hi = out[0];
    for (unsigned i = 1; i < WARP_LANES; i++) {
        falls += out[i] < out[i - 1] ? 1 : 0;
        lo = out[i] < lo ? out[i] : lo;
        hi = out[i] > hi ? out[i] : hi;
    }
    uint64_t unsorted[WARP_LANES];
    memcpy(unsorted, out, sizeof(unsorted));
    if (falls && !sort_near(out, unsorted, lo, hi))
        sort(out, WARP_LANES);
    return nr;
}

struct steps {
    uint64_t falls, distinct, sectors, lines;
};

/* Differences between neighbours; in counters as wide as addresses, so that the loop vectorises. */
static inline struct steps count_steps(const uint64_t *a)
{
    uint64_t falls = 0, distinct = 1, sectors = 1, lines = 1;
    for (unsigned i = 1; i < WARP_LANES; i++) {
        falls += a[i] < a[i - 1] ? 1 : 0;
        distinct += a[i] != a[i - 1] ? 1 : 0;
        sectors += a[i] / 32 != a[i - 1] / 32 ? 1 : 0;
        lines += a[i] / 128 != a[i - 1] / 128 ? 1 : 0;
    }
    return (struct steps){falls, distinct, sectors, lines};
}

/* Lanes whose sector is not that of the lane before, if that is active. */
static uint32_t sector_heads(uint32_t mask, const uint64_t *address)
{
    uint32_t fresh = 1;
    for (unsigned l = 1; l < WARP_LANES; l++)
        fresh |= (uint32_t)(address[l] / 32 != address[l - 1] / 32) << l;
    return mask & (fresh | ~(mask << 1));
}

/* Accesses are aligned to their size, so two lanes' bytes are the same or apart. */
static void global_shape(struct pattern *p, const uint64_t *address)
{
    struct steps steps = {.falls = 1};
    if (p->mask == ~0u)
        steps = count_steps(address);
    if (steps.falls) {
        uint64_t a[WARP_LANES];
        sorted_lanes(p->mask, address, a);
        steps = count_steps(a);
    }
    p->shape.sectors = (uint16_t)steps.sectors;
    p->shape.lines = (uint16_t)steps.lines;
    p->shape.ideal = (uint16_t)((steps.distinct * p->bytes + 31) / 32);
    p->heads = sector_heads(p->mask, address);
}

static void add_wavefronts(struct pattern *p, uint32_t mask, const uint64_t *address)
{
    uint64_t a[WARP_LANES], last = ~(uint64_t)0;
    unsigned nr = sorted_lanes(mask, address, a), distinct = 0, most = 0;
    uint8_t bank[32] = {0};
    for (unsigned i = 0; i < nr; i++) {
        for (uint64_t word = a[i] / 4; word <= (a[i] + p->bytes - 1) / 4; word++) {
            if (last != ~(uint64_t)0 && word <= last)
                continue;
            last = word;
            distinct++;
            unsigned depth = ++bank[word % 32];
            most = depth > most ? depth : most;
        }
    }
    p->shape.wavefronts = (uint16_t)(p->shape.wavefronts + most);
    p->shape.ideal = (uint16_t)(p->shape.ideal + (distinct + 31) / 32);
}

/* The data stage moves 32 banks of 4 bytes at a time, for as many lanes as 128 bytes serve: 32
 * lanes of 4 bytes, 16 of 8, 8 of 16 (te42kyfo/gpu-benches, gpu-strides: all 46 rows). */
static void data_shape(struct pattern *p, const uint64_t *address)
{
    const struct access_shape keep = p->shape;
    const unsigned lanes = p->bytes <= 4 ? 32 : p->bytes <= 8 ? 16 : 8;
    unsigned nr = 0;
    for (unsigned first = 0; first < WARP_LANES; first += lanes) {
        const uint32_t group = p->mask & (lanes == 32 ? ~0u : ((1u << lanes) - 1) << first);
        p->shape.wavefronts = 0;
        if (group)
            add_wavefronts(p, group, address);
        nr += p->shape.wavefronts;
    }
    p->shape = keep;
    p->shape.data = (uint16_t)nr;
}

static void shared_shape(struct pattern *p, const uint64_t *address)
{
    if (!p->matrices) {
        add_wavefronts(p, p->mask, address);
        return;
    }
    for (unsigned first = 0; first < WARP_LANES; first += 8)
        if (p->mask >> first & 0xffu)
            add_wavefronts(p, p->mask & 0xffu << first, address);
}

void shape_find(struct pattern *p, const uint64_t *address)
{
    const uint64_t start = address[__builtin_ctz(p->mask)];
    const unsigned bytes = p->bytes;
    const bool shared = p->space == PTX_SHARED, full = p->mask == ~0u;
    p->shape = (struct access_shape){0};
    p->heads = p->mask & -p->mask;
    if (p->space == PTX_LOCAL)
        return;
    if (p->kind == ACCESS_UNIFORM)
        p->shape = (struct access_shape){.sectors = 1, .ideal = 1, .lines = 1, .wavefronts = 1};
    else if (p->kind == ACCESS_CONTIGUOUS && full && !shared)
        p->shape = (struct access_shape){.sectors = (uint16_t)((start % 32 + 32 * bytes + 31) / 32),
            .ideal = (uint16_t)bytes,
            .lines = (uint16_t)((start % 128 + 32 * bytes + 127) / 128)};
    else if (p->kind == ACCESS_CONTIGUOUS && full && bytes >= 4)
        p->shape = (struct access_shape){
            .wavefronts = (uint16_t)(bytes / 4), .ideal = (uint16_t)(bytes / 4)};
    else if (shared)
        shared_shape(p, address);
    else
        global_shape(p, address);
    if (!shared && p->space != PTX_CONST)
        data_shape(p, address);
}
