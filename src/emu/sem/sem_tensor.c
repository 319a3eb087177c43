/* Owns mma and wmma.mma, matrix products over the registers of a whole warp, and movmatrix. What
 * fragments are and how sums are rounded: tensor.h. in->tensor has all operands; the mask is full.
 */
#include "emu/state/tensor.h"

#include "emu/sem/half.h"
#include "emu/sem/sums_cut.h"

/* The finite 8-bit float: four bits of exponent, no infinities, one NaN. */
static inline float e4m3_f32(uint32_t b)
{
    float f = half_f32((b & 0x80u) << 8 | (b & 0x7fu) << 7) * 0x1p8f;
    return (b & 0x7fu) == 0x7fu ? NAN : f;
}

static inline float float_element(enum ptx_type type, uint32_t bits)
{
    switch (type) {
    case PTX_F16:
        return half_f32(bits & 0xffffu);
    case PTX_BF16:
        return bf16_f32(bits & 0xffffu);
    case PTX_TF32: /* the chip does not look at the lower mantissa bits */
        return lanes_f32(bits & 0xffffe000u);
    case PTX_E4M3:
        return e4m3_f32(bits & 0xffu);
    case PTX_E5M2:
        return half_f32((bits & 0xffu) << 8);
    default:
        return lanes_f32(bits);
    }
}

/* The elements of a register, lane by lane, in a lane from the lowest bits. */
static inline __attribute__((always_inline)) void widen(
    enum ptx_type type, unsigned per_reg, const uint8_t *reg, float *v)
{
    for (unsigned i = 0; i < WARP_LANES * per_reg; i++)
        v[i] = float_element(type, per_reg == 1   ? ((const uint32_t *)reg)[i]
                                   : per_reg == 2 ? ((const uint16_t *)reg)[i]
                                                  : reg[i]);
}

/* The registers that hold the matrix once: the last, where some repeat it. */
static inline unsigned first_register(const struct fragment *f)
{
    return f->nr_regs - (unsigned)f->rows * f->cols / (WARP_LANES * f->per_reg);
}

/* Four lanes hold a row's neighbours in A, a column's in B. */
static inline __attribute__((always_inline)) void gather_floats(
    const uint8_t *file, const struct fragment *f, enum ptx_type type, unsigned per_reg, float *out)
{
    const unsigned cols = f->cols, nr = 4 * per_reg;
    for (unsigned r = first_register(f); r < f->nr_regs; r++) {
        float v[WARP_LANES * 4], *to = out + f->at[(size_t)r * per_reg * WARP_LANES];
        widen(type, per_reg, file + f->row[r], v);
        if (f->by_columns) {
            for (unsigned e = 0; e < nr; e++) {
                for (unsigned i = 0; i < 8; i++)
                    to[e * cols + i] = v[i * nr + e];
            }
        } else {
            for (unsigned i = 0; i < 8; i++)
                memcpy(to + (size_t)i * cols, v + (size_t)i * nr, nr * sizeof(*v));
        }
    }
}

static void gather_factors(const uint8_t *file, const struct fragment *f, float *out)
{
    if (f->type == PTX_F16)
        gather_floats(file, f, PTX_F16, 2, out);
    else if (f->type == PTX_BF16)
        gather_floats(file, f, PTX_BF16, 2, out);
    else if (f->type == PTX_TF32)
        gather_floats(file, f, PTX_TF32, 1, out);
    else if (f->type == PTX_E4M3)
        gather_floats(file, f, PTX_E4M3, 4, out);
    else
        gather_floats(file, f, PTX_E5M2, 4, out);
}

/* Sums of f32: of eight rows and columns lane l holds in one register column 2 l % 8 of row l / 4,
 * in the next column 2 l % 8 + 1. */
static void gather_singles(const uint8_t *file, const struct fragment *f, float *out)
{
    const unsigned cols = f->cols;
    for (unsigned r = 0; r < f->nr_regs; r += 2) {
        const float *low = (const float *)(file + f->row[r]),
                    *high = (const float *)(file + f->row[r + 1]);
        float v[2 * WARP_LANES], *to = out + f->at[(size_t)r * WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            v[2 * l] = low[l];
            v[2 * l + 1] = high[l];
        }
        for (unsigned i = 0; i < 8; i++)
            memcpy(to + (size_t)i * cols, v + (size_t)8 * i, 8 * sizeof(*v));
    }
}

static void scatter_singles(uint8_t *file, const struct fragment *f, const float *in)
{
    const unsigned cols = f->cols;
    for (unsigned r = 0; r < f->nr_regs; r += 2) {
        uint32_t *low = (uint32_t *)(file + f->row[r]), *high = (uint32_t *)(file + f->row[r + 1]);
        const float *from = in + f->at[(size_t)r * WARP_LANES];
        uint32_t v[2 * WARP_LANES];
        for (unsigned i = 0; i < 8; i++)
            memcpy(v + (size_t)8 * i, from + (size_t)i * cols, 8 * sizeof(*v));
        for (unsigned l = 0; l < WARP_LANES; l++) {
            low[l] = v[2 * l];
            high[l] = v[2 * l + 1];
        }
    }
}

/* Sums of f16 lie as factors of A do. */
static void gather_sums(const uint8_t *file, const struct fragment *f, double *out)
{
    float v[32 * 16];
    if (f->type == PTX_F64) { /* also of factors */
        for (unsigned i = 0; i < f->nr_regs; i++) {
            for (unsigned l = 0; l < WARP_LANES; l++)
                out[f->at[i * WARP_LANES + l]] = ((const double *)(file + f->row[i]))[l];
        }
        return;
    }
    if (f->type == PTX_F16)
        gather_floats(file, f, PTX_F16, 2, v);
    else
        gather_singles(file, f, v);
    for (unsigned i = 0; i < (unsigned)f->rows * f->cols; i++)
        out[i] = (double)v[i];
}

static void scatter(uint8_t *file, const struct fragment *f, const double *in)
{
    const unsigned nr = (unsigned)f->rows * f->cols;
    float v[32 * 16];
    if (f->type == PTX_F64) {
        for (unsigned r = 0; r < f->nr_regs; r++) {
            for (unsigned l = 0; l < WARP_LANES; l++) {
                const double one = in[f->at[r * WARP_LANES + l]];
                ((uint64_t *)(file + f->row[r]))[l] =
                    one != one ? UINT64_C(0x7ff8000000000000) : lanes_bits64(one);
            }
        }
    } else if (f->type == PTX_F32) {
        for (unsigned i = 0; i < nr; i++)
            v[i] = lanes_f32(lanes_nan32((float)in[i]));
        scatter_singles(file, f, v);
    } else {
        for (unsigned r = 0; r < f->nr_regs; r++) {
            const double *from = in + f->at[(size_t)r * 2 * WARP_LANES];
            uint32_t *row = (uint32_t *)(file + f->row[r]);
            double pairs[2 * WARP_LANES];
            for (unsigned i = 0; i < 8; i++)
                memcpy(pairs + (size_t)8 * i, from + (size_t)i * f->cols, 8 * sizeof(*pairs));
            for (unsigned l = 0; l < WARP_LANES; l++)
                row[l] = half_from_f32(odd_f32(pairs[2 * l])) |
                         half_from_f32(odd_f32(pairs[2 * l + 1])) << 16;
        }
    }
}

/* Elements of 8 bits: the chip makes f16 of them, of each four along k first the lower two, then
 * the upper two, as two products without an addend, which it adds at the end. */
static void mma_eights(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const struct tensor *t = in->tensor;
    const unsigned m = t->m, n = t->n, k = t->k, half = k / 2;
    const bool single = t->d.type == PTX_F32;
    double c[16 * 8], d[16 * 8];
    float wide[16 * 32], b_wide[32 * 8], a[16], b[2][16 * 8];
    int32_t ea[16], eb[2][16 * 8];
    (void)mask;
    gather_factors(file, &t->a, wide);
    gather_factors(file, &t->b, b_wide);
    gather_sums(file, &t->c, c);
    for (unsigned p = 0; p < k; p++) {
        for (unsigned j = 0; j < n; j++)
            b[p / 2 % 2][(p / 4 * 2 + p % 2) * n + j] = b_wide[p * n + j];
    }
    for (unsigned part = 0; part < 2; part++)
        sums_exponents(b[part], half * n, sums_least(PTX_F16), eb[part]);
    for (unsigned i = 0; i < m; i++) {
        double *z = d + (size_t)i * n;
        memset(z, 0, n * sizeof(*z));
        for (unsigned part = 0; part < 2; part++) {
            for (unsigned p = 0; p < half; p++)
                a[p] = wide[i * k + p / 2 * 4 + part * 2 + p % 2];
            sums_exponents(a, half, sums_least(PTX_F16), ea);
            sums_cut(n, half, a, ea, b[part], eb[part], 1, SUMS_FRACTION, single, z);
            for (unsigned j = 0; !single && j < n; j++)
                z[j] = (double)half_f32(half_from_f32(odd_f32(z[j])));
        }
        for (unsigned j = 0; j < n; j++)
            z[j] += c[i * n + j];
    }
    scatter(file, &t->d, d);
}

/* The factors of a product and their exponents. */
struct mma_factors {
    float a[32 * 16], b[32 * 32];
    int32_t ea[32 * 16], eb[32 * 32];
    struct sums_range of_a, of_b;
};

static void gather_both(const uint8_t *file, const struct tensor *t, struct mma_factors *f)
{
    const unsigned nr_a = (unsigned)t->m * t->k, nr_b = (unsigned)t->k * t->n;
    const int least = sums_least(t->a.type);
    gather_factors(file, &t->a, f->a);
    gather_factors(file, &t->b, f->b);
    sums_exponents(f->a, nr_a, least, f->ea);
    sums_exponents(f->b, nr_b, least, f->eb);
    f->of_a = sums_range(f->ea, nr_a);
    f->of_b = sums_range(f->eb, nr_b);
}

/* A product whose sums are tame; `step` products are added at once. Sums: f32, or NULL and f16. */
static inline __attribute__((always_inline)) void mma_tame_by(
    const struct tensor *t, unsigned step, const struct mma_factors *f, float *single, double *d)
{
    const unsigned m = t->m, n = t->n, k = t->k;
    for (unsigned i = 0; i < m; i++) {
        const float *a = f->a + (size_t)i * k;
        const int32_t *ea = f->ea + (size_t)i * k;
        if (sums_range(ea, k).most == SUMS_ZERO) { /* a row past the edge of a matrix */
            if (single)
                sums_of_no_singles(n, single + (size_t)i * n);
            else
                sums_of_nothing(n, d + (size_t)i * n);
            continue;
        }
        for (unsigned p = 0; p < k; p += step) {
            const float *b = f->b + (size_t)p * n;
            const int32_t *eb = f->eb + (size_t)p * n;
            if (single)
                sums_cut_single(n, step, a + p, ea + p, b, eb, single + (size_t)i * n);
            else
                sums_cut_tame(
                    n, step, a + p, ea + p, b, eb, t->d.type == PTX_F32, d + (size_t)i * n);
        }
    }
}

static void mma_tame(const struct tensor *t, const struct mma_factors *f, float *single, double *d)
{
    if (t->step == 4)
        mma_tame_by(t, 4, f, single, d);
    else if (t->step == 8)
        mma_tame_by(t, 8, f, single, d);
    else
        mma_tame_by(t, 16, f, single, d);
}

/* f16, bf16 and tf32: sums as the chip's. */
static void mma_cut(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const struct tensor *t = in->tensor;
    const unsigned m = t->m, n = t->n, k = t->k;
    const bool singles = t->c.type == PTX_F32 && t->d.type == PTX_F32;
    struct mma_factors f;
    float single[32 * 16];
    double d[32 * 16];
    (void)mask;
    gather_both(file, t, &f);
    if (singles)
        gather_singles(file, &t->c, single);
    else
        gather_sums(file, &t->c, d);
    const bool nothing = f.of_a.most == SUMS_ZERO || f.of_b.most == SUMS_ZERO;
    if (singles && sums_are_tame(f.of_a, f.of_b, sums_singles(single, m * n))) {
        if (nothing) /* as where a tile reaches over the edge of a matrix */
            sums_of_no_singles(m * n, single);
        else
            mma_tame(t, &f, single, NULL);
        scatter_singles(file, &t->d, single);
        return;
    }
    for (unsigned i = 0; singles && i < m * n; i++)
        d[i] = (double)single[i];
    if (!singles && sums_are_tame(f.of_a, f.of_b, sums_addends(d, m * n))) {
        if (nothing)
            sums_of_nothing(m * n, d);
        else
            mma_tame(t, &f, NULL, d);
    } else {
        for (unsigned i = 0; i < m; i++) {
            for (unsigned p = 0; p < k; p += t->step)
                sums_cut(n, t->step, f.a + i * k + p, f.ea + i * k + p, f.b + (size_t)p * n,
                    f.eb + (size_t)p * n, 1, SUMS_FRACTION, t->d.type == PTX_F32,
                    d + (size_t)i * n);
        }
    }
    scatter(file, &t->d, d);
}

static void mma_f64(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const struct tensor *t = in->tensor;
    const unsigned m = t->m, n = t->n, k = t->k;
    double a[16 * 16], b[16 * 8], d[16 * 8];
    (void)mask;
    gather_sums(file, &t->a, a);
    gather_sums(file, &t->b, b);
    gather_sums(file, &t->c, d);
    for (unsigned i = 0; i < m; i++) {
        for (unsigned p = 0; p < k; p++) {
            for (unsigned j = 0; j < n; j++)
                d[i * n + j] = fma(a[i * k + p], b[p * n + j], d[i * n + j]);
        }
    }
    scatter(file, &t->d, d);
}

static void gather_int(const uint8_t *file, const struct fragment *f, int32_t *out)
{
    const bool is_signed = ptx_type_is_signed(f->type);
    const unsigned spare = 32u - f->bits;
    for (unsigned i = 0; i < (unsigned)f->nr_regs * f->per_reg; i++) {
        const uint32_t *row = (const uint32_t *)(file + f->row[i / f->per_reg]);
        const uint16_t *at = f->at + (size_t)i * WARP_LANES;
        const unsigned shift = i % f->per_reg * f->bits;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            uint32_t v = row[l] >> shift << spare;
            out[at[l]] = is_signed ? (int32_t)v >> spare : (int32_t)(v >> spare);
        }
    }
}

static int32_t narrowed(int64_t v, bool satfinite)
{
    if (satfinite)
        v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return (int32_t)(uint32_t)(uint64_t)v;
}

static void mma_int(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const struct tensor *t = in->tensor;
    const unsigned m = t->m, n = t->n, k = t->k;
    int32_t a[TENSOR_MAX_ELEMENTS], b[TENSOR_MAX_ELEMENTS], c[32 * 16], d[32 * 16];
    (void)mask;
    gather_int(file, &t->a, a);
    gather_int(file, &t->b, b);
    gather_int(file, &t->c, c);
    for (unsigned i = 0; i < m; i++) {
        int32_t sum[32] = {0}; /* 256 products of 8 bits fit */
        for (unsigned p = 0; p < k; p++) {
            const int32_t x = a[i * k + p], *y = b + (size_t)p * n;
            for (unsigned j = 0; j < n; j++)
                sum[j] += t->xor_bits ? x ^ y[j] : x * y[j];
        }
        for (unsigned j = 0; j < n; j++)
            d[i * n + j] = narrowed((int64_t)c[i * n + j] + sum[j], t->satfinite);
    }
    for (unsigned r = 0; r < t->d.nr_regs; r++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            ((int32_t *)(file + t->d.row[r]))[l] = d[t->d.at[r * WARP_LANES + l]];
    }
}

/* Lane 4 i + j holds columns 2 j and 2 j + 1 of row i. */
static void movmatrix(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *from = (const uint32_t *)(file + in->tensor->a.row[0]);
    uint32_t v[WARP_LANES];
    (void)mask;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        unsigned row = l / 4, col = l % 4 * 2, half = row % 2 * 16;
        v[l] = (from[col * 4 + row / 2] >> half & 0xffffu) |
               (from[(col + 1) * 4 + row / 2] >> half & 0xffffu) << 16;
    }
    memcpy(file + in->tensor->d.row[0], v, sizeof(v));
}

sem_fn *LANES(sem_movmatrix)(const struct ptx_inst *p, struct inst *in)
{
    return movmatrix;
}

sem_fn *LANES(sem_product)(const struct ptx_inst *p, struct inst *in)
{
    if (in->tensor->d.type == PTX_S32)
        return mma_int;
    if (in->tensor->d.type == PTX_F64)
        return mma_f64;
    return in->tensor->a.bits == 8 ? mma_eights : mma_cut;
}
