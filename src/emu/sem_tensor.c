/* Owns mma.sync, wmma.mma and movmatrix: the arithmetic on matrices held by a warp. Products are
 * exact and summed in double, then rounded once to the type of d; the chip's own order of summation
 * is not known and its sums are a little coarser. tf32 inputs lose their low 13 bits. */
#include "emu/half.h"
#include "emu/tensor.h"

enum { MOST = 32 }; /* no side of a matrix is longer */

struct matrix {
    double v[MOST][MOST];
};

static inline unsigned bits_of(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_BF16:
        return 16;
    case PTX_S8:
    case PTX_U8:
        return 8;
    case PTX_F64:
        return 64;
    default:
        return 32;
    }
}

static double value_of(enum ptx_type type, uint64_t bits)
{
    switch (type) {
    case PTX_F16:
        return half_f32((uint32_t)bits & 0xffffu);
    case PTX_BF16:
        return bf16_f32((uint32_t)bits & 0xffffu);
    case PTX_TF32:
        return lanes_f32((uint32_t)bits & 0xffffe000u);
    case PTX_F32:
        return lanes_f32((uint32_t)bits);
    case PTX_F64:
        return lanes_f64(bits);
    case PTX_S8:
        return (int8_t)bits;
    case PTX_U8:
        return (uint8_t)bits;
    default:
        return (int32_t)bits;
    }
}

static uint64_t bits_from(enum ptx_type type, double v, bool saturate)
{
    switch (type) {
    case PTX_F16:
        return half_from_f32(odd_f32(v));
    case PTX_F32:
        return lanes_nan32((float)v);
    case PTX_F64:
        return lanes_bits64(v);
    default:
        if (saturate)
            v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
        return (uint32_t)(uint64_t)(int64_t)v;
    }
}

/* The manual's layouts (PTX ISA 9.0, matrix fragments for mma.m16n8k*, and m8n8k4 with f64): lane =
 * 4 * group + member. */
static struct tensor_place place_mma(char which, enum ptx_type type, unsigned lane, unsigned i)
{
    unsigned group = lane / 4, member = lane % 4, bits = bits_of(type);
    unsigned each = bits < 32 ? 32 / bits : 1, reg = i / each, j = i % each;
    if (bits == 64) {
        if (which == 'a')
            return (struct tensor_place){group, member};
        if (which == 'b')
            return (struct tensor_place){member, group};
        return (struct tensor_place){group, member * 2 + i};
    }
    if (which == 'a')
        return (struct tensor_place){
            group + 8 * (reg & 1), member * each + j + 4 * each * (reg >> 1)};
    if (which == 'b')
        return (struct tensor_place){member * each + j + 4 * each * reg, group};
    return (struct tensor_place){group + 8 * (i >> 1), member * 2 + (i & 1)};
}

static struct tensor_place place_of(
    const uint32_t *h, char which, enum ptx_type type, unsigned lane, unsigned i)
{
    if (h[TENSOR_WHAT] == TENSOR_MMA)
        return place_mma(which, type, lane, i);
    unsigned rows = which == 'b' ? h[TENSOR_K] : h[TENSOR_M];
    unsigned cols = which == 'a' ? h[TENSOR_K] : h[TENSOR_N];
    return tensor_opaque(lane, i, rows * cols, cols);
}

static unsigned elements_per_lane(const uint32_t *h, char which)
{
    unsigned rows = which == 'b' ? h[TENSOR_K] : h[TENSOR_M];
    unsigned cols = which == 'a' ? h[TENSOR_K] : h[TENSOR_N];
    return rows * cols / WARP_LANES;
}

static void gather(const uint8_t *file, const uint32_t *h, char which, enum ptx_type type,
    const uint32_t *regs, struct matrix *to)
{
    unsigned nr = elements_per_lane(h, which), bits = bits_of(type),
             each = bits < 32 ? 32 / bits : 1;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        for (unsigned i = 0; i < nr; i++) {
            const uint8_t *row = file + regs[i / each];
            uint64_t raw =
                bits == 64 ? ((const uint64_t *)row)[lane] : ((const uint32_t *)row)[lane];
            struct tensor_place at = place_of(h, which, type, lane, i);
            to->v[at.row][at.col] = value_of(type, raw >> (i % each * bits));
        }
    }
}

static void scatter(uint8_t *file, const uint32_t *h, const struct matrix *from, uint32_t mask)
{
    enum ptx_type type = (enum ptx_type)h[TENSOR_TD];
    const uint32_t *regs = h + TENSOR_ROWS;
    bool saturate = h[TENSOR_FLAGS] & TENSOR_SATURATE;
    unsigned bits = bits_of(type), each = bits < 32 ? 32 / bits : 1;
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        for (unsigned r = 0; r < h[TENSOR_ND]; r++) {
            uint64_t out = 0;
            for (unsigned j = 0; j < each; j++) {
                struct tensor_place at = place_of(h, 'd', type, lane, r * each + j);
                out |= bits_from(type, from->v[at.row][at.col], saturate) << (j * bits);
            }
            if (regs[r] == NO_ROW)
                continue;
            if (bits == 64)
                ((uint64_t *)(file + regs[r]))[lane] = out;
            else
                ((uint32_t *)(file + regs[r]))[lane] = (uint32_t)out;
        }
    }
}

static void multiply(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *h = in->rows, *a_regs = h + TENSOR_ROWS + h[TENSOR_ND];
    const uint32_t *b_regs = a_regs + h[TENSOR_NA], *c_regs = b_regs + h[TENSOR_NB];
    struct matrix a, b, c;
    gather(file, h, 'a', (enum ptx_type)h[TENSOR_TA], a_regs, &a);
    gather(file, h, 'b', (enum ptx_type)h[TENSOR_TB], b_regs, &b);
    gather(file, h, 'c', (enum ptx_type)h[TENSOR_TC], c_regs, &c);
    for (unsigned m = 0; m < h[TENSOR_M]; m++) {
        for (unsigned k = 0; k < h[TENSOR_K]; k++) {
            double x = a.v[m][k];
            IVDEP for (unsigned n = 0; n < 8; n++) c.v[m][n] += x * b.v[k][n];
            for (unsigned n = 8; n < h[TENSOR_N]; n++)
                c.v[m][n] += x * b.v[k][n];
        }
    }
    scatter(file, h, &c, mask);
}

/* movmatrix.trans: an 8x8 matrix of 16-bit elements, lane = 4 * row + column / 2. */
static void movmatrix(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *regs = in->rows + TENSOR_ROWS;
    uint32_t from[WARP_LANES], *d = (uint32_t *)(file + regs[0]);
    uint16_t v[8][8];
    memcpy(from, file + regs[1], sizeof(from));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        v[l / 4][l % 4 * 2] = (uint16_t)from[l];
        v[l / 4][l % 4 * 2 + 1] = (uint16_t)(from[l] >> 16);
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t r = v[l % 4 * 2][l / 4] | (uint32_t)v[l % 4 * 2 + 1][l / 4] << 16;
        d[l] = (mask >> l & 1) ? r : d[l];
    }
}

sem_fn *LANES(sem_tensor)(const struct ptx_inst *p, struct inst *in);
sem_fn *LANES(sem_tensor)(const struct ptx_inst *p, struct inst *in)
{
    if (p->op == PTX_OP_MOVMATRIX)
        return movmatrix;
    return p->op == PTX_OP_MMA || p->op == PTX_OP_WMMA ? multiply : NULL;
}
