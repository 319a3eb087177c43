/* Owns wgmma.mma_async: products whose B, and A where it is not in registers, lie in shared memory.
 * A warp multiplies its 16 rows at once when it issues, after the warpgroup has met at the
 * wgmma.fence (flight.c); a kernel that waits properly cannot tell the difference. Sums are those
 * of tensor.h.
 *
 * Operands in shared memory (PTX ISA 9.0, 9.7.15.5): a row of 32 bytes along k, 64 of B where A is
 * sparse, is chunks of 16 bytes, and a descriptor says where chunks lie. Bits 0-13: where the
 * matrix starts; 16-29: the leading offset; 32-45: the stride offset, each in units of 16 bytes;
 * 49-51: the base offset; 62-63: the swizzle, 0 none, 1 of 128, 2 of 64, 3 of 32 bytes. Eight rows
 * (with the transposition: eight steps of k) of a width of W bytes, 16 where nothing is swizzled,
 * make a brick:
 *
 *   k along rows      row r at r % 8 * W + r / 8 * stride, its second chunk 16 bytes on, without a
 *                     swizzle at the leading offset
 *   transposed        step k at k % 8 * W + k / 8 * stride, W bytes of rows; the next W bytes of
 *                     rows at the leading offset; without a swizzle leading and stride change roles
 *
 * A swizzle of 2^s chunks exchanges chunks within a row of W bytes: the number of the chunk is
 * xor-ed with the low s bits of the number of the 128 bytes in which it lies, counted from the base
 * offset. */
#include "emu/exec/exec.h"
#include "emu/sem/half.h"
#include "emu/sem/sums_cut.h"
#include "emu/state/tensor.h"

enum {
    ROWS = 16,
    MOST_N = 256,
    MOST_DEPTH = 64, /* of eight bits, sparse */
    CHUNK = 16,
    MOST_CHUNKS = 4, /* of a row along k: two of dense operands */
    GROUP_ROWS = 64
};

/* A matrix in shared memory. */
struct operand_place {
    uint32_t start, leading, stride, base, width;
    bool trans;
};

static struct operand_place place_of(uint64_t desc, bool trans)
{
    static const uint8_t width[4] = {16, 128, 64, 32};
    return (struct operand_place){.start = (uint32_t)(desc & 0x3fff) << 4,
        .leading = (uint32_t)(desc >> 16 & 0x3fff) << 4,
        .stride = (uint32_t)(desc >> 32 & 0x3fff) << 4,
        .base = (uint32_t)(desc >> 49 & 7),
        .width = width[desc >> 62],
        .trans = trans};
}

/* Where a chunk lies: of row `major` the chunk `minor` along k; transposed, of step `major` of k
 * the chunk `minor` along the rows. */
static inline uint32_t chunk_at(const struct operand_place *p, uint32_t major, uint32_t minor)
{
    const uint32_t per = p->width / CHUNK, lines = per - 1;
    uint32_t at = p->start + major % 8 * p->width + (minor & lines) * CHUNK; /* per is 2^n */
    if (per > 1)
        at += major / 8 * p->stride + (minor >> __builtin_ctz(per)) * p->leading;
    else if (p->trans)
        at += major / 8 * p->leading + minor * p->stride;
    else
        at += major / 8 * p->stride + minor * p->leading;
    return at ^ ((at / 128 - p->base) & lines) * CHUNK;
}

static bool outside(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t at)
{
    return exec_fault(k, VERDICT_FAULT, pc,
        "out of bounds: wgmma reads byte %u of %u bytes of shared memory, by warp %u of block "
        "(%u,%u,%u)",
        at, k->shared_bytes, w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
}

/* Listeners but the time model hear of chunks as of accesses by 32 lanes. */
static bool tell(struct block_worker *k, struct warp *w, uint32_t pc,
    const uint64_t address[WARP_LANES], unsigned nr)
{
    struct emu_access access = {.warp = w->index,
        .pc = pc,
        .mask = nr == WARP_LANES ? ~0u : (1u << nr) - 1,
        .space = PTX_SHARED,
        .bytes = CHUNK,
        .address = address,
        .kind = ACCESS_OTHER,
        .lo = address[0],
        .hi = address[0],
        .file = w->file};
    for (unsigned i = 1; i < nr; i++) {
        access.lo = address[i] < access.lo ? address[i] : access.lo;
        access.hi = address[i] > access.hi ? address[i] : access.hi;
    }
    flight_add(w, &access, false);
    return exec_tell_watchers(k, &access);
}

/* Are all chunks of nr_major x nr_minor in shared memory? Seen by the ends of all strides; the
 * swizzle stays within 128 bytes. False: perhaps not. */
static bool all_inside(const struct block_worker *k, const struct operand_place *p,
    unsigned nr_major, unsigned nr_minor)
{
    const uint32_t stride = p->stride > p->leading ? p->stride : p->leading,
                   most = p->start + 8 * p->width + ((nr_major - 1) / 8 + nr_minor - 1) * stride;
    return (most | 127) < k->shared_bytes;
}

/* Finds the chunks of nr_major x nr_minor. */
static bool find_chunks(struct block_worker *k, struct warp *w, uint32_t pc,
    const struct operand_place *p, unsigned nr_major, unsigned nr_minor, const uint8_t **at)
{
    const bool listened = k->wants_access && k->exec->listening;
    uint64_t address[WARP_LANES];
    unsigned nr = 0, minor = 0, major = 0;
    for (unsigned i = 0; i < nr_major * nr_minor; i++) {
        const uint32_t a = chunk_at(p, major, minor);
        minor = minor + 1 < nr_minor ? minor + 1 : 0;
        major += minor == 0;
        if (a + CHUNK > k->shared_bytes)
            return outside(k, w, pc, a);
        at[i] = k->shared + a;
        if (!listened)
            continue;
        address[nr++] = a;
        if (nr == WARP_LANES || i + 1 == nr_major * nr_minor) {
            if (!tell(k, w, pc, address, nr))
                return false;
            nr = 0;
        }
    }
    return true;
}

/* --- elements --- */

static inline float e4m3(uint32_t b)
{
    const float f = half_f32((b & 0x80u) << 8 | (b & 0x7fu) << 7) * 0x1p8f;
    return (b & 0x7fu) == 0x7fu ? NAN : f;
}

/* The elements of 16 bytes as floats, which hold all of these types. */
static inline __attribute__((always_inline)) void widen(
    enum ptx_type type, const uint8_t *from, float *to)
{
    uint16_t h[8];
    uint32_t v[4];
    switch (type) {
    case PTX_BF16:
        memcpy(h, from, CHUNK);
        for (unsigned i = 0; i < 8; i++)
            to[i] = bf16_f32(h[i]);
        break;
    case PTX_F16:
        memcpy(h, from, CHUNK);
        for (unsigned i = 0; i < 8; i++)
            to[i] = half_f32(h[i]);
        break;
    case PTX_TF32:
        memcpy(v, from, CHUNK);
        for (unsigned i = 0; i < 4; i++)
            to[i] = lanes_f32(v[i] & 0xffffe000u);
        break;
    case PTX_E4M3:
        for (unsigned i = 0; i < CHUNK; i++)
            to[i] = e4m3(from[i]);
        break;
    case PTX_E5M2:
        for (unsigned i = 0; i < CHUNK; i++)
            to[i] = half_f32((uint32_t)from[i] << 8);
        break;
    case PTX_S8:
        for (unsigned i = 0; i < CHUNK; i++)
            to[i] = (float)(int8_t)from[i];
        break;
    default:
        for (unsigned i = 0; i < CHUNK; i++)
            to[i] = (float)from[i];
    }
}

static void widen_any(enum ptx_type type, const uint8_t *from, float *to)
{
    switch (type) {
#define WIDEN(t)                                                                                   \
    case t:                                                                                        \
        widen(t, from, to);                                                                        \
        return;
        WIDEN(PTX_BF16)
        WIDEN(PTX_F16)
        WIDEN(PTX_TF32)
        WIDEN(PTX_E4M3)
        WIDEN(PTX_E5M2)
        WIDEN(PTX_S8)
#undef WIDEN
    default:
        widen(PTX_U8, from, to);
    }
}

/* A matrix of shared memory as out[k * width + row]. rows: of the warp's part. */
static bool load_matrix(struct block_worker *k, struct warp *w, uint32_t pc, enum ptx_type type,
    unsigned bits, const struct operand_place *p, unsigned rows, unsigned depth, float *out)
{
    const uint8_t *at[MOST_CHUNKS * MOST_N];
    const unsigned per = CHUNK * 8u / bits; /* elements of a chunk */
    const unsigned nr_major = p->trans ? depth : rows,
                   nr_minor = ((p->trans ? rows : depth) + per - 1) / per;
    float one[CHUNK];
    if (!find_chunks(k, w, pc, p, nr_major, nr_minor, at))
        return false;
    for (unsigned major = 0; major < nr_major; major++) {
        for (unsigned minor = 0; minor < nr_minor; minor++) {
            widen_any(type, at[major * nr_minor + minor], one);
            if (p->trans) { /* four at a time: a copy of unknown size is slow */
                for (unsigned e = 0; e < per; e += 4)
                    memcpy(out + (size_t)major * rows + minor * per + e, one + e, 4 * sizeof(*one));
            } else {
                for (unsigned e = 0; e < per; e++)
                    out[(size_t)(minor * per + e) * rows + major] = one[e];
            }
        }
    }
    return true;
}

/* A of registers, laid out as of mma.m16n8: register i holds rows i % 2 * 8 + lane / 4, and along k
 * the elements of 4 bytes from i / 2 * 16 + lane % 4 * 4 bytes on. */
static void gather_a(const struct warp *w, const struct wgmma *g, float *out)
{
    const unsigned per = 32u / g->bits;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t *row = (const uint32_t *)(w->file + g->a_row[i]);
        for (unsigned l = 0; l < WARP_LANES; l += 4) {
            float v[CHUNK];
            widen_any(g->a, (const uint8_t *)(row + l), v); /* four lanes are one chunk */
            for (unsigned e = 0; e < 4 * per; e++)
                out[(size_t)(i / 2 * 4 * per + e) * ROWS + i % 2 * 8 + l / 4] = v[e];
        }
    }
}

/* --- sums --- */

/* Of f32 and s32, register r and lane l hold row r / 2 % 2 * 8 + l / 4 and column r / 4 * 8 +
 * l % 4 * 2 + r % 2; a register of f16 holds what two of these hold. */
static inline size_t place_d(const struct wgmma *g, unsigned pair, unsigned lane)
{
    return (size_t)(pair % 2 * 8 + lane / 4) * g->n + pair / 2 * 8 + lane % 4 * 2;
}

static uint32_t whole(double v, bool satfinite)
{
    const int64_t i = (int64_t)v;
    if (satfinite)
        return (uint32_t)(int32_t)(i > INT32_MAX ? INT32_MAX : i < INT32_MIN ? INT32_MIN : i);
    return (uint32_t)(uint64_t)i;
}

static void gather_d(const struct warp *w, const struct wgmma *g, double *d)
{
    const unsigned step = g->d == PTX_F16 ? 1 : 2;
    for (unsigned pair = 0; pair * step < g->nr_d; pair++) {
        const uint32_t *lo = (const uint32_t *)(w->file + g->d_row[pair * step]),
                       *hi = (const uint32_t *)(w->file + g->d_row[pair * step + step - 1]);
        double v[2][WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            v[0][l] = (double)lanes_f32(lo[l]);
            v[1][l] = (double)lanes_f32(hi[l]);
        }
        for (unsigned l = 0; g->d == PTX_F16 && l < WARP_LANES; l++) {
            v[0][l] = (double)half_f32(lo[l] & 0xffffu);
            v[1][l] = (double)half_f32(lo[l] >> 16);
        }
        for (unsigned l = 0; g->d == PTX_S32 && l < WARP_LANES; l++) {
            v[0][l] = (double)(int32_t)lo[l];
            v[1][l] = (double)(int32_t)hi[l];
        }
        for (unsigned l = 0; l < WARP_LANES; l++) {
            d[place_d(g, pair, l)] = v[0][l];
            d[place_d(g, pair, l) + 1] = v[1][l];
        }
    }
}

static void scatter_d(struct warp *w, const struct wgmma *g, const double *d)
{
    const unsigned step = g->d == PTX_F16 ? 1 : 2;
    for (unsigned pair = 0; pair * step < g->nr_d; pair++) {
        uint32_t *lo = (uint32_t *)(w->file + g->d_row[pair * step]),
                 *hi = (uint32_t *)(w->file + g->d_row[pair * step + step - 1]);
        double v[2][WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            v[0][l] = d[place_d(g, pair, l)];
            v[1][l] = d[place_d(g, pair, l) + 1];
        }
        if (g->d == PTX_F16) {
            for (unsigned l = 0; l < WARP_LANES; l++)
                lo[l] = half_from_f32(odd_f32(v[0][l])) | half_from_f32(odd_f32(v[1][l])) << 16;
        } else if (g->d == PTX_F32) {
            for (unsigned l = 0; l < WARP_LANES; l++) {
                lo[l] = lanes_nan32((float)v[0][l]);
                hi[l] = lanes_nan32((float)v[1][l]);
            }
        } else {
            for (unsigned l = 0; l < WARP_LANES; l++) {
                lo[l] = whole(v[0][l], g->satfinite);
                hi[l] = whole(v[1][l], g->satfinite);
            }
        }
    }
}

/* Row i of D: the sum over p of a[p * ROWS + i] and b's row p. Floats: as the chip's, with the
 * exponents of b. Whole numbers of these sizes are exact in double: 32 products of 16 bits
 * and an addend of 32. */
static void multiply_row(
    const struct wgmma *g, unsigned i, const float *a, const float *b, const int32_t *eb, double *d)
{
    const unsigned n = g->n;
    const double sign = g->negate_a != g->negate_b ? -1 : 1;
    double *z = d + (size_t)i * n;
    float x[32];
    int32_t ex[32];
    for (unsigned p = 0; p < g->depth; p++)
        x[p] = a[(size_t)p * ROWS + i];
    if (g->d != PTX_S32) {
        sums_exponents(x, g->depth, sums_least(g->a), ex);
        sums_cut(n, g->depth, x, ex, b, eb, sign, g->bits == 8 ? SUMS_FRACTION_8 : SUMS_FRACTION,
            g->d == PTX_F32, z);
        return;
    }
    for (unsigned p = 0; p < g->depth; p += 4) {
        const float *y = b + (size_t)p * n;
        double f[4];
        for (unsigned q = 0; q < 4; q++)
            f[q] = sign * (double)x[p + q];
        IVDEP
        for (unsigned j = 0; j < n; j++) {
            double v = z[j];
            v += f[0] * (double)y[j];
            v += f[1] * (double)y[j + n];
            v += f[2] * (double)y[j + 2 * (size_t)n];
            v += f[3] * (double)y[j + 3 * (size_t)n];
            z[j] = v;
        }
    }
}

/* Tame sums, which sums_cut.h explains, for all rows and eight columns at a time. */
static inline __attribute__((always_inline)) void multiply_tame_by(const struct wgmma *g,
    unsigned depth, int fraction, const float *a, const int32_t *ea, const float *b,
    const int32_t *eb, double *d)
{
    const float sign = g->negate_a != g->negate_b ? -1 : 1;
    const unsigned n = g->n;
    float y[32 * 8];
    int32_t ey[32 * 8], most_of_row[ROWS];
    for (unsigned i = 0; i < ROWS; i++)
        most_of_row[i] = SUMS_ZERO;
    for (unsigned p = 0; p < depth; p++) {
        for (unsigned i = 0; i < ROWS; i++) {
            const int32_t e = ea[(size_t)p * ROWS + i];
            most_of_row[i] = e > most_of_row[i] ? e : most_of_row[i];
        }
    }
    for (unsigned j = 0; j < n; j += 8) {
        int32_t most = SUMS_ZERO;
        for (unsigned p = 0; p < depth; p++) {
            memcpy(y + (size_t)8 * p, b + (size_t)p * n + j, 8 * sizeof(*y));
            memcpy(ey + (size_t)8 * p, eb + (size_t)p * n + j, 8 * sizeof(*ey));
        }
        for (unsigned p = 0; p < 8 * depth; p++) {
            y[p] *= sign;
            most = ey[p] > most ? ey[p] : most;
        }
        for (unsigned i = 0; i < ROWS; i++) {
            double *z = d + (size_t)i * n + j;
            if (fraction == SUMS_FRACTION && (most == SUMS_ZERO || most_of_row[i] == SUMS_ZERO))
                sums_of_nothing(8, z); /* past the edge of a matrix */
            else
                sums_tame_eight(8, depth, ROWS, a + i, ea + i, y, ey, fraction, g->d == PTX_F32, z);
        }
    }
}

/* False: the sums are not tame, and nothing was done. */
static bool multiply_tame(
    const struct wgmma *g, const float *a, const float *b, const int32_t *eb, double *d)
{
    int32_t ea[ROWS * 32];
    sums_exponents(a, ROWS * g->depth, sums_least(g->a), ea);
    const struct sums_range of_a = sums_range(ea, ROWS * g->depth),
                            of_b = sums_range(eb, (unsigned)g->n * g->k);
    if (!sums_are_tame(of_a, of_b, sums_addends(d, (unsigned)ROWS * g->n)))
        return false;
    if (g->bits == 8)
        multiply_tame_by(g, 32, SUMS_FRACTION_8, a, ea, b, eb, d);
    else if (g->depth == 16)
        multiply_tame_by(g, 16, SUMS_FRACTION, a, ea, b, eb, d);
    else
        multiply_tame_by(g, 8, SUMS_FRACTION, a, ea, b, eb, d);
    return true;
}

static void multiply(const struct wgmma *g, const float *a, const float *b, double *d)
{
    int32_t eb[32 * MOST_N];
    if (g->d != PTX_S32) {
        sums_exponents(b, (unsigned)g->n * g->k, sums_least(g->b), eb);
        if (multiply_tame(g, a, b, eb, d))
            return;
    }
    for (unsigned i = 0; i < ROWS; i++)
        multiply_row(g, i, a, b, eb, d);
}

/* --- sparse (PTX ISA 9.0, 9.7.15.5.2) --- */

/* Which step of k element p of row i of a sparse A has. Four bits of metadata stand for a chunk of
 * four elements, of which two are there, each with two bits; of tf32 for one of two. Of 16 and 32
 * bits a lane has 16 bits of its row in the low half, of the row 8 on in the high one, and a pair
 * of lanes has the two halves of k; of 8 bits the four lanes have a row, the row 8 on, and these of
 * the other half. */
static unsigned step_of(const struct wgmma *g, const uint32_t *meta, unsigned i, unsigned p)
{
    const unsigned per = g->bits == 32 ? 1 : 2, chunk = p / per, half = g->bits == 8 ? 8 : 4,
                   lane = i % 8 * 4 + (g->bits == 8 ? chunk / half * 2 + i / 8
                                                    : g->selector * 2 + chunk / half),
                   shift = (g->bits == 8 ? 0 : i / 8 * 16) + chunk % half * 4,
                   four = meta[lane] >> shift & 15;
    if (g->bits == 32)
        return 2 * chunk + (four >> 1 & 1);
    return 4 * chunk + (four >> p % 2 * 2 & 3);
}

static void multiply_sparse(
    const struct warp *w, const struct wgmma *g, const float *a, const float *b, double *d)
{
    const uint32_t *meta = (const uint32_t *)(w->file + g->meta);
    float picked[32 * MOST_N];
    int32_t eb[32 * MOST_N];
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned p = 0; p < g->depth; p++)
            memcpy(picked + (size_t)p * g->n, b + (size_t)step_of(g, meta, i, p) * g->n,
                g->n * sizeof(*b));
        if (g->d != PTX_S32)
            sums_exponents(picked, g->n * g->depth, sums_least(g->b), eb);
        multiply_row(g, i, a, picked, eb, d);
    }
}

/* One-bit elements: how many pairs are both 1. */
static bool count_bits(struct block_worker *k, struct warp *w, uint32_t pc, const struct wgmma *g,
    const struct operand_place *a, const struct operand_place *b, double *d)
{
    const uint8_t *at[2 * MOST_N], *of_a[2 * ROWS];
    uint32_t left[ROWS][8], right[8];
    if (!find_chunks(k, w, pc, b, g->n, 2, at) ||
        (!g->a_in_regs && !find_chunks(k, w, pc, a, ROWS, 2, of_a)))
        return false;
    for (unsigned i = 0; i < ROWS && !g->a_in_regs; i++) {
        memcpy(left[i], of_a[2 * i], CHUNK);
        memcpy(left[i] + 4, of_a[2 * i + 1], CHUNK);
    }
    for (unsigned r = 0; r < 4 && g->a_in_regs; r++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            left[r % 2 * 8 + l / 4][r / 2 * 4 + l % 4] =
                ((const uint32_t *)(w->file + g->a_row[r]))[l];
    }
    for (unsigned j = 0; j < g->n; j++) {
        memcpy(right, at[2 * j], CHUNK);
        memcpy(right + 4, at[2 * j + 1], CHUNK);
        for (unsigned i = 0; i < ROWS; i++) {
            unsigned nr = 0;
            for (unsigned e = 0; e < 8; e++)
                nr += (unsigned)__builtin_popcount(left[i][e] & right[e]);
            d[(size_t)i * g->n + j] += nr;
        }
    }
    return true;
}

static uint64_t uniform(const struct warp *w, uint32_t row)
{
    return row == NO_ROW ? 0 : *(const uint64_t *)(w->file + row);
}

/* The warp's 16 rows of A: of a matrix along k, 16 rows on; transposed, 16 elements on. */
static void move_rows(struct operand_place *p, const struct wgmma *g, unsigned part)
{
    const unsigned per = CHUNK * 8u / g->bits, wide = p->width / CHUNK;
    if (!p->trans)
        p->start += part * 2 * p->stride;
    else if (wide == 1)
        p->start += part * (ROWS / per) * p->stride;
    else
        p->start += part * (ROWS / per) / wide * p->leading + part * (ROWS / per) % wide * CHUNK;
}

static bool look_at_chunks(struct block_worker *k, struct warp *w, uint32_t pc,
    const struct operand_place *p, unsigned nr_major, unsigned nr_minor)
{
    const uint8_t *at[MOST_CHUNKS * MOST_N];
    return (!k->exec->listening && all_inside(k, p, nr_major, nr_minor)) ||
           find_chunks(k, w, pc, p, nr_major, nr_minor, at);
}

/* Only looks where the operands are. */
static bool look_at_operands(struct block_worker *k, struct warp *w, uint32_t pc,
    const struct wgmma *g, const struct operand_place *a, const struct operand_place *b)
{
    const unsigned per = CHUNK * 8u / g->bits;
    return (g->a_in_regs || look_at_chunks(k, w, pc, a, a->trans ? g->depth : ROWS,
                                ((a->trans ? ROWS : g->depth) + per - 1) / per)) &&
           look_at_chunks(
               k, w, pc, b, b->trans ? g->k : g->n, ((b->trans ? g->n : g->k) + per - 1u) / per);
}

bool wgmma_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const struct wgmma *g = in->wgmma;
    struct operand_place pa = place_of(uniform(w, g->a_desc), g->trans_a),
                         pb = place_of(uniform(w, g->b_desc), g->trans_b);
    float a[32 * ROWS], b[MOST_DEPTH * MOST_N];
    double d[ROWS * MOST_N];
    bool keeps = *(const uint32_t *)(w->file + g->keeps) & 1;
    if (mask != ~0u)
        return exec_fault(k, VERDICT_FAULT, pc,
            "wgmma in divergent code: lanes 0x%08x of warp %u are there, but all 32 must be; block "
            "(%u,%u,%u)",
            mask, w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    keeps ^= g->keeps_negated;
    move_rows(&pa, g, w->index % (GROUP_ROWS / ROWS));
    if (in->flags & INST_IDLE)
        return look_at_operands(k, w, pc, g, &pa, &pb);
    if (keeps)
        gather_d(w, g, d);
    else
        memset(d, 0, (size_t)ROWS * g->n * sizeof(*d));
    if (g->bits == 1) {
        if (!count_bits(k, w, pc, g, &pa, &pb, d))
            return false;
    } else {
        if (g->a_in_regs)
            gather_a(w, g, a);
        else if (!load_matrix(k, w, pc, g->a, g->bits, &pa, ROWS, g->depth, a))
            return false;
        if (!load_matrix(k, w, pc, g->b, g->bits, &pb, g->n, g->k, b))
            return false;
        if (g->sparse)
            multiply_sparse(w, g, a, b, d);
        else
            multiply(g, a, b, d);
    }
    scatter_d(w, g, d);
    return true;
}
