/* Owns the shape of an access: what it costs in sectors, lines and wavefronts.
 *
 * Sectors: distinct 32-byte sectors of a warp's request. Shared wavefronts: the most distinct
 * 4-byte words in one of the 32 banks, which equals Nsight Compute's data wavefronts on H200 for
 * every stride and width from 4 to 16 bytes (te42kyfo/gpu-benches, gpu-strides). The ideals:
 * distinct bytes / 32, distinct words / 32, rounded up. Accesses are aligned to their size, so two
 * lanes' bytes are the same or apart, and sizes are powers of two.
 *
 * All of it is counted from the lanes' offsets, in 32 bits, from the line that the lowest is in. */
#include "emu/exec/exec.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __AVX2__
enum { SORTS_FAST = true };
#else
enum { SORTS_FAST = false };
#endif
enum { LINE_BYTES = 128, BITMAP_LINES = 64, PLACE_SHIFT = 27 }; /* 5 bits for up to 32 places */

struct offsets {
    uint32_t at[WARP_LANES]; /* idle lanes: as some active one */
    uint32_t most;
};

/* Lines that are too far apart for 32 bits are numbered: only which of them differ counts. */
static void number_lines(struct offsets *o, const uint64_t *rel, uint64_t from)
{
    uint64_t line[WARP_LANES];
    unsigned nr = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint64_t at = rel[l] - from;
        unsigned i = 0;
        while (i < nr && line[i] != at / LINE_BYTES)
            i++;
        line[i] = at / LINE_BYTES;
        nr += i == nr;
        o->at[l] = i * LINE_BYTES + (uint32_t)(at % LINE_BYTES);
    }
    o->most = WARP_LANES * LINE_BYTES;
}

/* rel: offsets from the address `start`; lo, hi: the least and the greatest of them. */
static void find_offsets(
    struct offsets *o, const uint64_t *rel, uint64_t start, uint64_t lo, uint64_t hi)
{
    const uint64_t from = lo - (start + lo) % LINE_BYTES;
    if (hi - from > UINT32_MAX) {
        number_lines(o, rel, from);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        o->at[l] = (uint32_t)(rel[l] - from);
    o->most = (uint32_t)(hi - from);
}

/* --- in rising order --- */

#ifdef __AVX2__
/* A bitonic network. Element i lies in vector i % 4, so that most of its comparisons are between
 * whole vectors; the others are with another lane of the vector opposite or of the same. */
static inline void order(__m256i *a, __m256i *b)
{
    const __m256i low = _mm256_min_epu32(*a, *b);
    *b = _mm256_max_epu32(*a, *b);
    *a = low;
}

#define ORDER_LANES(a, other, upper)                                                               \
    _mm256_blend_epi32(_mm256_min_epu32(a, other), _mm256_max_epu32(a, other), upper)

/* Elements that differ in bits 0 and 1. */
static inline void order_low(__m256i v[4])
{
    order(&v[0], &v[2]);
    order(&v[1], &v[3]);
    order(&v[0], &v[1]);
    order(&v[2], &v[3]);
}

/* In bit 2; in bit 3. */
#define ORDER_BIT(v, permutation, upper)                                                           \
    for (unsigned i = 0; i < 4; i++)                                                               \
    (v)[i] = ORDER_LANES((v)[i], _mm256_shuffle_epi32((v)[i], permutation), upper)

/* Each with its mirror image in groups of 8, 16 and 32. */
#define ORDER_MIRROR(v, m, upper)                                                                  \
    do {                                                                                           \
        const __m256i m0 = m((v)[0]), m1 = m((v)[1]), m2 = m((v)[2]), m3 = m((v)[3]);              \
        (v)[0] = ORDER_LANES((v)[0], m3, upper);                                                   \
        (v)[1] = ORDER_LANES((v)[1], m2, upper);                                                   \
        (v)[2] = ORDER_LANES((v)[2], m1, upper);                                                   \
        (v)[3] = ORDER_LANES((v)[3], m0, upper);                                                   \
    } while (0)
#define MIRROR8(x) _mm256_shuffle_epi32(x, 0xb1)
#define MIRROR16(x) _mm256_shuffle_epi32(x, 0x1b)
#define MIRROR32(x) _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))

static void sort(uint32_t *k)
{
    __m256i v[4];
    for (unsigned i = 0; i < 4; i++)
        v[i] = _mm256_loadu_si256((const __m256i *)(k + 8 * i));
    order(&v[0], &v[1]);
    order(&v[2], &v[3]);
    order(&v[0], &v[3]);
    order(&v[1], &v[2]);
    order(&v[0], &v[1]);
    order(&v[2], &v[3]);
    ORDER_MIRROR(v, MIRROR8, 0xaa);
    order_low(v);
    ORDER_MIRROR(v, MIRROR16, 0xcc);
    ORDER_BIT(v, 0xb1, 0xaa);
    order_low(v);
    ORDER_MIRROR(v, MIRROR32, 0xf0);
    ORDER_BIT(v, 0x4e, 0xcc);
    ORDER_BIT(v, 0xb1, 0xaa);
    order_low(v);
    const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]), b = _mm256_unpackhi_epi32(v[0], v[1]),
                  c = _mm256_unpacklo_epi32(v[2], v[3]), d = _mm256_unpackhi_epi32(v[2], v[3]);
    const __m256i r0 = _mm256_unpacklo_epi64(a, c), r1 = _mm256_unpackhi_epi64(a, c),
                  r2 = _mm256_unpacklo_epi64(b, d), r3 = _mm256_unpackhi_epi64(b, d);
    _mm256_storeu_si256((__m256i *)k, _mm256_permute2x128_si256(r0, r1, 0x20));
    _mm256_storeu_si256((__m256i *)(k + 8), _mm256_permute2x128_si256(r2, r3, 0x20));
    _mm256_storeu_si256((__m256i *)(k + 16), _mm256_permute2x128_si256(r0, r1, 0x31));
    _mm256_storeu_si256((__m256i *)(k + 24), _mm256_permute2x128_si256(r2, r3, 0x31));
}
#else
/* Sorts by counting, for each element, those that come before it: loops over all lanes, which
 * vectorise. */
static void sort(uint32_t *k)
{
    int32_t key[WARP_LANES], rank[WARP_LANES] = {0};
    for (unsigned l = 0; l < WARP_LANES; l++)
        key[l] = (int32_t)(k[l] ^ 0x80000000u); /* order as signed is what machines compare */
    for (unsigned j = 0; j < WARP_LANES; j++) {
        const int32_t x = key[j];
        for (unsigned l = 0; l < WARP_LANES; l++)
            rank[l] += (key[l] > x) | ((key[l] == x) & (l > j));
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        k[rank[l]] = (uint32_t)key[l] ^ 0x80000000u;
}
#endif

/* --- counts --- */

struct steps {
    uint32_t falls, distinct, sectors, lines;
};

/* Differences between neighbours. */
static inline struct steps count_steps(const uint32_t *k)
{
    uint32_t falls = 0, distinct = 1, sectors = 1, lines = 1;
    for (unsigned i = 1; i < WARP_LANES; i++) {
        falls += k[i] < k[i - 1] ? 1 : 0;
        distinct += k[i] != k[i - 1] ? 1 : 0;
        sectors += k[i] / 32 != k[i - 1] / 32 ? 1 : 0;
        lines += k[i] / LINE_BYTES != k[i - 1] / LINE_BYTES ? 1 : 0;
    }
    return (struct steps){falls, distinct, sectors, lines};
}

/* Lanes whose sector is not that of the lane before, if that is active. */
static uint32_t sector_heads(uint32_t mask, const uint32_t *k)
{
    uint32_t fresh = 1;
    for (unsigned l = 1; l < WARP_LANES; l++)
        fresh |= (uint32_t)(k[l] / 32 != k[l - 1] / 32) << l;
    return mask & (fresh | ~(mask << 1));
}

static void global_shape(struct access_pattern *p, const struct offsets *o)
{
    struct steps steps = {.falls = 1};
    if (p->mask == ~0u)
        steps = count_steps(o->at);
    if (steps.falls) {
        uint32_t k[WARP_LANES];
        memcpy(k, o->at, sizeof(k));
        sort(k);
        steps = count_steps(k);
    }
    p->shape.sectors = (uint16_t)steps.sectors;
    p->shape.lines = (uint16_t)steps.lines;
    p->shape.bytes = (uint16_t)(steps.distinct * p->bytes);
    p->shape.ideal = (uint16_t)((p->shape.bytes + 31) / 32);
    p->heads = sector_heads(p->mask, o->at);
}

/* The most distinct units, words or more, that lie at one place of a line, and how many there are
 * in all. In order of place and then line, a unit is new where it differs from its neighbour, and
 * the longest row of new ones at one place is found by following all rows at once. */
static unsigned deepest(const struct offsets *o, uint32_t mask, unsigned shift, unsigned *nr)
{
    const uint32_t places = LINE_BYTES >> shift, first = o->at[__builtin_ctz(mask)];
    uint32_t k[WARP_LANES], fresh = 1, begins = 1, row;
    unsigned most = 1;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint32_t at = mask >> l & 1 ? o->at[l] : first;
        k[l] = (at >> shift & (places - 1)) << PLACE_SHIFT | at / LINE_BYTES;
    }
    sort(k);
    for (unsigned l = 1; l < WARP_LANES; l++) {
        fresh |= (uint32_t)(k[l] != k[l - 1]) << l;
        begins |= (uint32_t)(k[l] >> PLACE_SHIFT != k[l - 1] >> PLACE_SHIFT) << l;
    }
    *nr = (unsigned)__builtin_popcount(fresh);
    row = fresh & ~begins;
    /* the sum carries each over repeated units to the next new one */
    for (uint32_t at = row; at; at = ((at << 1) + ~fresh) & row)
        most++;
    return most;
}

/* The same where the lines are few: each place has a bit for each. */
static unsigned near_units(const struct offsets *o, uint32_t mask, unsigned shift, unsigned *nr)
{
    const unsigned place = LINE_BYTES >> shift;
    uint64_t seen[LINE_BYTES / 4] = {0};
    uint8_t depth[LINE_BYTES / 4] = {0};
    unsigned most = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint32_t at = o->at[__builtin_ctz(m)], b = at >> shift & (place - 1);
        const uint64_t line = UINT64_C(1) << at / LINE_BYTES;
        const unsigned fresh = (seen[b] & line) == 0, deep = depth[b] + fresh;
        seen[b] |= line;
        depth[b] = (uint8_t)deep;
        *nr += fresh;
        most = deep > most ? deep : most;
    }
    return most;
}

/* The most distinct words that one of 32 banks has to give; their number is added to *words. */
static unsigned banks(const struct offsets *o, uint32_t mask, unsigned bytes, unsigned *words)
{
    const unsigned shift = bytes <= 4 ? 2 : (unsigned)__builtin_ctz(bytes);
    const bool few = !SORTS_FAST && o->most < BITMAP_LINES * LINE_BYTES;
    unsigned nr = 0, most = few ? near_units(o, mask, shift, &nr) : deepest(o, mask, shift, &nr);
    *words += nr << (shift - 2);
    return most;
}

/* Do all lanes of the group want what the lane `apart` numbers away wants? */
static bool in_pairs(const struct offsets *o, uint32_t group, unsigned apart)
{
    bool same = true;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint32_t both = (1u << l | 1u << (l ^ apart)) & group;
        same &= (both & (both - 1)) == 0 || o->at[l] == o->at[l ^ apart];
    }
    return same;
}

/* The data stage moves 32 banks of 4 bytes at a time, for as many lanes as 128 bytes serve: 32
 * lanes of 4 bytes, 16 of 8, 8 of 16 (te42kyfo/gpu-benches, gpu-strides: all 46 rows). Twice as
 * many go together where lanes want the same in pairs: a load of 16 bytes at one of two or four
 * addresses takes 2 wavefronts on an H100, one at eight or sixteen addresses, each wanted by every
 * eighth or sixteenth lane, 4 (counters of tiled products, bench/card/variants). */
static unsigned data_wavefronts(
    const struct offsets *o, enum access_kind kind, uint32_t mask, unsigned bytes)
{
    const unsigned lanes = bytes <= 4   ? 32
                           : bytes <= 8 ? 16
                                        : 8,
                   step = lanes < 32 ? 2 * lanes : 32;
    unsigned nr = 0, words = 0;
    for (unsigned first = 0; first < WARP_LANES; first += step) {
        const uint32_t low = (lanes == 32 ? ~0u : (1u << lanes) - 1) << first,
                       group = mask & (step == 32 ? ~0u : ((1u << step) - 1) << first);
        /* one address, or words one after another, are one wavefront */
        if (kind != ACCESS_OTHER)
            nr += ((group & low) != 0) + ((group & ~low) != 0);
        else if (step == lanes || (group && (in_pairs(o, group, 1) || in_pairs(o, group, 2))))
            nr += banks(o, group, bytes, &words);
        else
            nr += (group & low ? banks(o, group & low, bytes, &words) : 0) +
                  (group & ~low ? banks(o, group & ~low, bytes, &words) : 0);
    }
    return nr;
}

static void shared_shape(struct access_pattern *p, const struct offsets *o)
{
    for (unsigned first = 0; first < WARP_LANES; first += p->matrices ? 8 : 32) {
        const uint32_t group = p->mask & (p->matrices ? 0xffu << first : ~0u);
        unsigned words = 0;
        if (group) {
            p->shape.wavefronts =
                (uint16_t)(p->shape.wavefronts + banks(o, group, p->bytes, &words));
            p->shape.ideal = (uint16_t)(p->shape.ideal + (words + 31) / 32);
        }
    }
}

unsigned shape_data_here(
    enum access_kind kind, uint32_t mask, unsigned bytes, const uint64_t *address)
{
    const uint64_t start = address[__builtin_ctz(mask)];
    uint64_t rel[WARP_LANES], lo = start, hi = start;
    struct offsets o;
    if (kind == ACCESS_OTHER) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            rel[l] = mask >> l & 1 ? address[l] : start;
            lo = rel[l] < lo ? rel[l] : lo;
            hi = rel[l] > hi ? rel[l] : hi;
        }
        find_offsets(&o, rel, 0, lo, hi);
    }
    return data_wavefronts(&o, kind, mask, bytes);
}

void shape_find(struct access_pattern *p, uint64_t start, bool data)
{
    const unsigned bytes = p->bytes;
    const bool shared = p->space == PTX_SHARED, full = p->mask == ~0u;
    const enum access_kind kind = (enum access_kind)p->kind;
    struct offsets o;
    p->shape = (struct access_shape){0};
    p->heads = p->mask & -p->mask;
    if (p->space == PTX_LOCAL)
        return;
    if (kind == ACCESS_UNIFORM) {
        p->shape = (struct access_shape){
            .sectors = 1, .ideal = 1, .lines = 1, .wavefronts = 1, .bytes = (uint16_t)bytes};
    } else if (kind == ACCESS_CONTIGUOUS && full && !shared) {
        p->shape = (struct access_shape){.sectors = (uint16_t)((start % 32 + 32 * bytes + 31) / 32),
            .ideal = (uint16_t)bytes,
            .bytes = (uint16_t)(WARP_LANES * bytes),
            .lines = (uint16_t)((start % 128 + 32 * bytes + 127) / 128)};
    } else if (kind == ACCESS_CONTIGUOUS && full && bytes >= 4) {
        p->shape = (struct access_shape){
            .wavefronts = (uint16_t)(bytes / 4), .ideal = (uint16_t)(bytes / 4)};
    } else {
        find_offsets(&o, p->rel, start, p->lo_rel, p->hi_rel);
        if (shared)
            shared_shape(p, &o);
        else
            global_shape(p, &o);
    }
    if (data)
        p->shape.data = (uint16_t)data_wavefronts(&o, kind, p->mask, bytes);
}
