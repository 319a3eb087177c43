/* Owns what loads, stores and atomics do to registers and memory, once the place is known. The
 * loops over all lanes serve the accesses that most kernels make: one address, neighbours, all
 * lanes. */
#include "emu/exec/access.h"
#include "emu/sem/lanes.h"

#include <string.h>

/* Memory of any type at an aligned address; this file is compiled without strict aliasing. */
static inline uint8_t *host(const struct access_spot *s, unsigned lane, unsigned offset)
{
    return spot_host(s, lane) + offset;
}

static inline bool all_contiguous(const struct access_spot *s)
{
    return s->kind == ACCESS_CONTIGUOUS && s->mask == ~0u;
}

/* --- loads of whole registers --- */

/* Vectors, since a copy of words that were stored one by one waits for all of them. */
typedef uint32_t words4 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static void gather4(const struct access_spot *s, uint32_t *d, unsigned offset)
{
    const uintptr_t base = (uintptr_t)s->base + offset;
    const struct access_pattern *p = s->pattern;
    const uint64_t *at = s->at;
    if (at == p->rel && p->indexed) {
        lanes_pick(d, (const void *)(base + p->lo_rel), p->index);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l += 4) {
        const words4 v = {*(const uint32_t *)(base + at[l]), *(const uint32_t *)(base + at[l + 1]),
            *(const uint32_t *)(base + at[l + 2]), *(const uint32_t *)(base + at[l + 3])};
        memcpy(d + l, &v, sizeof(v));
    }
}

static void gather8(const struct access_spot *s, uint64_t *d, unsigned offset)
{
    const uintptr_t base = (uintptr_t)s->base + offset;
    const uint64_t *at = s->at;
    if (at == s->pattern->rel && s->pattern->indexed) {
        lanes_pick8(d, (const void *)(base + s->pattern->lo_rel), s->pattern->index);
        return;
    }
    for (unsigned l = 0; l < WARP_LANES; l += 2) {
        const words2 v = {*(const uint64_t *)(base + at[l]), *(const uint64_t *)(base + at[l + 1])};
        memcpy(d + l, &v, sizeof(v));
    }
}

/* Element e of vectors that lie one after another. */
static inline void unzip4(uint32_t *d, const uint32_t *from, unsigned vec)
{
    uint32_t v[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = from[l * vec];
    memcpy(d, v, sizeof(v));
}

static void load4(const struct access_spot *s, uint32_t *d, unsigned offset, unsigned vec)
{
    const uint32_t mask = s->mask;
    if (s->kind == ACCESS_UNIFORM) {
        const uint32_t v = *(const uint32_t *)host(s, (unsigned)__builtin_ctz(mask), offset);
        if (mask == ~0u)
            for (unsigned l = 0; l < WARP_LANES; l++)
                d[l] = v;
        else
            for (unsigned l = 0; l < WARP_LANES; l++)
                d[l] = (mask >> l & 1) ? v : d[l];
    } else if (all_contiguous(s) && vec <= 4 && vec != 3) {
        const uint32_t *from = (const uint32_t *)host(s, 0, offset);
        if (vec == 1)
            memcpy(d, from, 4 * WARP_LANES);
        else if (vec == 2)
            unzip4(d, from, 2);
        else
            unzip4(d, from, 4);
    } else if (mask == ~0u) {
        gather4(s, d, offset);
    } else {
        for (uint32_t m = mask; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            d[l] = *(const uint32_t *)host(s, l, offset);
        }
    }
}

static void load8(const struct access_spot *s, uint64_t *d, unsigned offset, unsigned vec)
{
    const uint32_t mask = s->mask;
    if (s->kind == ACCESS_UNIFORM) {
        const uint64_t v = *(const uint64_t *)host(s, (unsigned)__builtin_ctz(mask), offset);
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = (mask >> l & 1) ? v : d[l];
    } else if (all_contiguous(s) && vec == 1) {
        memcpy(d, host(s, 0, offset), 8 * WARP_LANES);
    } else if (mask == ~0u) {
        gather8(s, d, offset);
    } else {
        for (uint32_t m = mask; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            d[l] = *(const uint64_t *)host(s, l, offset);
        }
    }
}

/* --- loads that extend --- */

static inline void widen1(uint32_t *v, const uint8_t *from, unsigned vec)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = from[l * vec];
}

static inline void widen2(uint32_t *v, const uint16_t *from, unsigned vec)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = from[l * vec];
}

static inline __attribute__((always_inline)) uint32_t raw(
    const struct access_spot *s, unsigned lane, unsigned offset, unsigned bytes)
{
    const uint8_t *at = host(s, lane, offset);
    return bytes == 1 ? *at : bytes == 2 ? *(const uint16_t *)at : *(const uint32_t *)at;
}

static inline __attribute__((always_inline)) void load_any(
    const struct access_spot *s, uint32_t *v, unsigned offset, unsigned bytes)
{
    if (s->kind != ACCESS_UNIFORM && s->mask == ~0u) {
        for (unsigned l = 0; l < WARP_LANES; l += 4) {
            const words4 four = {raw(s, l, offset, bytes), raw(s, l + 1, offset, bytes),
                raw(s, l + 2, offset, bytes), raw(s, l + 3, offset, bytes)};
            memcpy(v + l, &four, sizeof(four));
        }
        return;
    }
    const uint32_t one = raw(s, (unsigned)__builtin_ctz(s->mask), offset, bytes);
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = one;
    for (uint32_t m = s->kind == ACCESS_UNIFORM ? 0 : s->mask; m; m &= m - 1)
        v[__builtin_ctz(m)] = raw(s, (unsigned)__builtin_ctz(m), offset, bytes);
}

/* Reads the bytes as they are in memory, zero-extended; those of idle lanes are some lane's. */
static void load_raw(
    const struct access_spot *s, uint32_t *v, unsigned offset, unsigned bytes, unsigned vec)
{
    if (all_contiguous(s) && bytes == 1 && vec == 1)
        widen1(v, host(s, 0, offset), 1);
    else if (all_contiguous(s) && bytes == 1 && vec == 4)
        widen1(v, host(s, 0, offset), 4);
    else if (all_contiguous(s) && bytes == 2 && vec == 1)
        widen2(v, (const uint16_t *)host(s, 0, offset), 1);
    else if (all_contiguous(s) && bytes == 2 && vec == 4)
        widen2(v, (const uint16_t *)host(s, 0, offset), 4);
    else if (bytes == 1)
        load_any(s, v, offset, 1);
    else if (bytes == 2)
        load_any(s, v, offset, 2);
    else
        load_any(s, v, offset, 4);
}

static void load_extended(
    const struct inst *in, const struct access_spot *s, uint8_t *row, unsigned offset)
{
    uint32_t v[WARP_LANES];
    const uint32_t mask = s->mask, keep = in->reg_bytes == 2 ? 0xffffu : ~0u;
    const unsigned shift = 32 - 8u * in->elem_bytes;
    const bool sign = in->sign_extend;
    load_raw(s, v, offset, in->elem_bytes, in->vec);
    if (sign) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            v[l] = (uint32_t)((int32_t)(v[l] << shift) >> shift);
    }
    if (in->reg_bytes == 8) {
        uint64_t *d = (uint64_t *)row;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            const uint64_t x = sign ? (uint64_t)(int32_t)v[l] : v[l];
            d[l] = (mask >> l & 1) ? x : d[l];
        }
        return;
    }
    uint32_t *d = (uint32_t *)row;
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = (mask >> l & 1) ? v[l] & keep : d[l];
}

void data_load(const struct warp *w, const struct inst *in, const struct access_spot *s)
{
    if (in->vec == 1 && in->elem_bytes == 4 && in->reg_bytes == 4 && in->rows[0] != NO_ROW) {
        load4(s, (uint32_t *)(w->file + in->rows[0]), 0, 1);
        return;
    }
    for (unsigned e = 0; e < in->vec; e++) {
        if (in->rows[e] == NO_ROW)
            continue;
        uint8_t *row = w->file + in->rows[e];
        const unsigned offset = e * in->elem_bytes;
        if (in->elem_bytes == 4 && in->reg_bytes == 4)
            load4(s, (uint32_t *)row, offset, in->vec);
        else if (in->elem_bytes == 8)
            load8(s, (uint64_t *)row, offset, in->vec);
        else
            load_extended(in, s, row, offset);
    }
}

/* --- stores --- */

/* When several lanes write one address, the value of the highest lane stays: the loop goes up. */
static void scatter1(
    const struct access_spot *s, const uint8_t *row, unsigned stride, unsigned offset)
{
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        *host(s, l, offset) = row[(size_t)l * stride];
    }
}

static void scatter2(
    const struct access_spot *s, const uint8_t *row, unsigned stride, unsigned offset)
{
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        *(uint16_t *)host(s, l, offset) = *(const uint16_t *)(row + (size_t)l * stride);
    }
}

static void scatter4(
    const struct access_spot *s, const uint8_t *row, unsigned stride, unsigned offset)
{
    if (s->mask == ~0u && stride == 4) {
        const uintptr_t base = (uintptr_t)s->base + offset;
        for (unsigned l = 0; l < WARP_LANES; l++)
            *(uint32_t *)(base + s->at[l]) = ((const uint32_t *)row)[l];
        return;
    }
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        *(uint32_t *)host(s, l, offset) = *(const uint32_t *)(row + (size_t)l * stride);
    }
}

static void scatter8(const struct access_spot *s, const uint64_t *row, unsigned offset)
{
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        *(uint64_t *)host(s, l, offset) = row[l];
    }
}

static inline void narrow1(uint8_t *to, const uint32_t *row)
{
    uint8_t v[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = (uint8_t)row[l];
    memcpy(to, v, sizeof(v));
}

static inline void narrow2(uint8_t *to, const uint32_t *row)
{
    uint16_t v[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = (uint16_t)row[l];
    memcpy(to, v, sizeof(v));
}

static inline void zip4(uint32_t *to, const uint32_t *row, unsigned vec)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        to[l * vec] = row[l];
}

/* All lanes, one after another in memory. False: not one of these. */
static bool store_contiguous(const struct inst *in, const struct access_spot *s, const uint8_t *row,
    unsigned stride, unsigned offset)
{
    uint8_t *to = host(s, 0, offset);
    if (in->vec == 1 && stride == in->elem_bytes)
        memcpy(to, row, (size_t)stride * WARP_LANES);
    else if (in->vec == 1 && stride == 4 && in->elem_bytes == 1)
        narrow1(to, (const uint32_t *)row);
    else if (in->vec == 1 && stride == 4 && in->elem_bytes == 2)
        narrow2(to, (const uint32_t *)row);
    else if (in->vec == 2 && stride == 4 && in->elem_bytes == 4)
        zip4((uint32_t *)to, (const uint32_t *)row, 2);
    else if (in->vec == 4 && stride == 4 && in->elem_bytes == 4)
        zip4((uint32_t *)to, (const uint32_t *)row, 4);
    else
        return false;
    return true;
}

void data_store(const struct warp *w, const struct inst *in, const struct access_spot *s)
{
    const unsigned stride = in->reg_bytes == 8 ? 8 : 4;
    for (unsigned e = 0; e < in->vec; e++) {
        const uint8_t *row = w->file + in->rows[e];
        const unsigned offset = e * in->elem_bytes;
        if (all_contiguous(s) && store_contiguous(in, s, row, stride, offset))
            continue;
        switch (in->elem_bytes) {
        case 1:
            scatter1(s, row, stride, offset);
            break;
        case 2:
            scatter2(s, row, stride, offset);
            break;
        case 4:
            scatter4(s, row, stride, offset);
            break;
        default:
            scatter8(s, (const uint64_t *)row, offset);
        }
    }
}

/* --- atomics --- */

/* No other thread is at this memory, and nobody wants to know what was there. */
static void sum4(const uint32_t *b, const struct access_spot *s)
{
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        *(uint32_t *)host(s, l, 0) += b[l];
    }
}

static void add4(
    const struct warp *w, const struct inst *in, const struct access_spot *s, bool alone)
{
    const uint32_t *b = (const uint32_t *)(w->file + in->b);
    uint32_t *d = (uint32_t *)(w->file + in->d);
    if (alone && in->flags & INST_NO_DEST) {
        sum4(b, s);
        return;
    }
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint32_t *at = (uint32_t *)host(s, l, 0), old;
        if (alone) {
            old = *at;
            *at = old + b[l];
        } else {
            old = __atomic_fetch_add(at, b[l], __ATOMIC_SEQ_CST);
        }
        if (!(in->flags & INST_NO_DEST))
            d[l] = old;
    }
}

/* One element of each lane: operand b, result d. */
static void any_atomic(const struct warp *w, const struct inst *in, const struct access_spot *s,
    unsigned how, unsigned element, uint32_t b, uint32_t d)
{
    const unsigned stride = in->reg_bytes == 8 ? 8 : 4;
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t operand[2] = {0, 0}, old = 0;
        memcpy(&operand[0], w->file + b + (size_t)l * stride, stride);
        if (in->c != NO_ROW)
            memcpy(&operand[1], w->file + in->c + (size_t)l * stride, stride);
        atom_lane(in, host(s, l, element * in->elem_bytes), operand, &old, how);
        if (d != NO_ROW)
            memcpy(w->file + d + (size_t)l * stride, &old, stride);
    }
}

/* Exchanges 128 bits, or compares and exchanges them. No other thread runs then: launch.c. */
static void wide_atomic(const struct warp *w, const struct inst *in, const struct access_spot *s)
{
    enum { HALF = 8 * WARP_LANES };
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const uint32_t from = in->sub == PTX_ATOM_CAS ? in->c : in->b;
        uint8_t *at = host(s, l, 0), *b = w->file + in->b + (size_t)l * 8;
        uint64_t old[2];
        memcpy(old, at, sizeof(old));
        const bool same = memcmp(old, b, 8) == 0 && memcmp(old + 1, b + HALF, 8) == 0;
        for (unsigned half = 0; half < 2; half++) {
            if (same || in->sub == PTX_ATOM_EXCH)
                memcpy(
                    at + (size_t)8 * half, w->file + from + (size_t)half * HALF + (size_t)l * 8, 8);
        }
        for (unsigned half = 0; half < 2 && in->d != NO_ROW; half++)
            memcpy(w->file + in->d + (size_t)half * HALF + (size_t)l * 8, &old[half], 8);
    }
}

void data_atomic(struct block_worker *k, const struct warp *w, const struct inst *in,
    const struct access_spot *s)
{
    const bool is_float = ptx_type_is_float((enum ptx_type)in->type);
    /* shared memory is the block's own */
    const bool alone = k->alone || s->space == PTX_SHARED ||
                       sums_take(&k->sums, spot_host(s, (unsigned)__builtin_ctz(s->mask)));
    const unsigned how =
        (alone ? ATOM_ALONE : 0) | (s->space == PTX_SHARED || !is_float ? 0 : ATOM_FLUSH);
    if (in->sub == PTX_ATOM_ADD && !is_float && in->elem_bytes == 4 && in->reg_bytes == 4)
        add4(w, in, s, alone);
    else if (in->elem_bytes == 16)
        wide_atomic(w, in, s);
    else if (in->vec == 1)
        any_atomic(w, in, s, how, 0, in->b, in->d);
    for (unsigned e = 0; in->vec > 1 && e < in->vec; e++)
        any_atomic(w, in, s, how, e, in->rows[e], in->rows[in->vec + e]);
    k->float_atomics |= k->program->float_atomics && in->sub == PTX_ATOM_ADD && is_float;
}
