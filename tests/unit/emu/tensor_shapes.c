/* Tensor-core instructions against matrix products in double precision and against the lane layouts
 * of the PTX ISA manual (9.7.14), written out here shape by shape. */
#include "chip_sums.h"
#include "emu_harness.h"

#include "base/file.h"

#include <math.h>

/* --- numbers by their bits --- */

static uint64_t random_state = 1;

static uint32_t next_bits(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33);
}

enum number { F16, BF16, TF32, E4M3, E5M2, F64, S8, U8, S4, U4, B1, F32, S32 };
static const struct {
    const char *name;
    unsigned bits;
} numbers[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8}, {"f64", 64},
    {"s8", 8}, {"u8", 8}, {"s4", 4}, {"u4", 4}, {"b1", 1}, {"f32", 32}, {"s32", 32}};

static double float_value(uint32_t bits, unsigned exponent_bits, unsigned mantissa_bits)
{
    uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double v = exponent ? ldexp(1 + ldexp(mantissa, -(int)mantissa_bits), (int)exponent - bias)
                        : ldexp(mantissa, 1 - bias - (int)mantissa_bits);
    return bits >> (exponent_bits + mantissa_bits) & 1 ? -v : v;
}

static double value_of(enum number type, uint64_t bits)
{
    double d;
    float f;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case F16:
        return float_value(low, 5, 10);
    case BF16:
        return float_value(low, 8, 7);
    case TF32:
        return float_value(low >> 13, 8, 10);
    case E4M3:
        return float_value(low, 4, 3);
    case E5M2:
        return float_value(low, 5, 2);
    case F64:
        memcpy(&d, &bits, 8);
        return d;
    case F32:
        memcpy(&f, &low, 4);
        return (double)f;
    case S8:
        return (int8_t)low;
    case S4:
        return (low & 7) - (double)(low & 8);
    case S32:
        return (int32_t)low;
    default:
        return low & ((1u << numbers[type].bits) - 1);
    }
}

/* Twelve exponents, so that a sum in single precision must round: still exact in double. */
static bool wide;
/* ... added to those of bf16 and tf32, and twice to those of f32 */
static int far;

static uint64_t wide_bits(enum number type)
{
    const uint32_t r = next_bits(), e = next_bits() % 12;
    const int near_one = 119 + (int)e + far, addend = 111 + 2 * ((int)e + far);
    switch (type) {
    case F16:
        return (r & 0x83ffu) | (7 + e) << 10;
    case BF16:
        return (r & 0x807fu) | (uint32_t)near_one << 7;
    case TF32:
        return (r & 1) << 31 | (uint32_t)near_one << 23 | (r >> 8 & 0x7fffffu);
    case E4M3:
        return (r & 0x87u) | (1 + e) << 3;
    case E5M2:
        return (r & 0x83u) | (7 + e) << 2;
    default: /* F32 */
        return (r & 1) << 31 | (addend < 0 ? 0 : (uint32_t)addend) << 23 | (r >> 8 & 0x7fffffu);
    }
}

/* Random bits of numbers not far from one, so that sums of products are exact in double. */
static uint64_t random_bits(enum number type)
{
    if (wide && (type <= E5M2 || type == F32))
        return wide_bits(type);
    uint32_t r = next_bits();
    double d = (double)(int32_t)(r - 0x40000000u) / (1 << 20);
    float f = (float)((int)(r % 4001) - 2000) / 16;
    uint64_t bits = 0;
    switch (type) {
    case F16:
        return (r & 0x8000u) | (12 + r % 7) << 10 | (r >> 16 & 0x3ffu);
    case BF16:
        return (r & 0x8000u) | (124 + r % 7) << 7 | (r >> 16 & 0x7fu);
    case TF32:
        return (r & 1) << 31 | (124 + r % 7) << 23 | (r >> 8 & 0x7fffffu);
    case E4M3:
        return (r & 0x7fu) == 0x7fu ? 1 : r & 0xffu;
    case E5M2:
        return (r & 0x83u) | (12 + r % 7) << 2;
    case F64:
        memcpy(&bits, &d, 8);
        return bits;
    case F32:
        memcpy(&bits, &f, 4);
        return bits;
    case S32:
        return (uint32_t)((int)(r % 2000001) - 1000000);
    default:
        return r & ((1u << numbers[type].bits) - 1);
    }
}

static void assert_close(enum number type, uint64_t got, double want, const char *what)
{
    double v = value_of(type, got);
    bool good = v == want;
    if (type == F32)
        good = v == (double)(float)want;
    if (type == F16) { /* no neighbour is nearer */
        double off = fabs(v - want);
        good = off <= fabs(value_of(F16, got + 1) - want) &&
               off <= fabs(value_of(F16, got - 1) - want);
    }
    if (type == F64)
        good = fabs(v - want) <= 1e-13 * (1 + fabs(want));
    if (!good)
        fail_msg("%s: got %.17g, want %.17g", what, v, want);
}

static uint64_t load_bits(const void *bytes, uint64_t index, unsigned bits)
{
    uint64_t v = 0;
    if (bits < 8)
        return ((const uint8_t *)bytes)[index * bits / 8] >> index * bits % 8 & ((1u << bits) - 1);
    memcpy(&v, (const uint8_t *)bytes + index * bits / 8, bits / 8);
    return v;
}

static void store_bits(void *bytes, uint64_t index, unsigned bits, uint64_t v)
{
    if (bits < 8)
        ((uint8_t *)bytes)[index * bits / 8] |= (uint8_t)(v << index * bits % 8);
    else
        memcpy((uint8_t *)bytes + index * bits / 8, &v, bits / 8);
}

/* --- mma.sync: every shape, by the lane --- */

struct mma_case {
    const char *shape, *tail;
    enum number d, a, b, c;
    unsigned m, n, k;
};

/* Row and column of element i of a lane's fragment, as the manual has them per shape. */
static void place_a(
    const struct mma_case *c, unsigned lane, unsigned i, unsigned *row, unsigned *col)
{
    unsigned g = lane >> 2, t = lane % 4, bits = numbers[c->a].bits;
    *row = g;
    if (c->m == 8) {
        *col = bits == 64 ? t : t * (32 / bits) + i;
    } else if (bits == 16) {
        *row = c->k == 8 ? (i < 2 ? g : g + 8) : (i < 2 || (i >= 4 && i < 6) ? g : g + 8);
        *col = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    } else if (bits == 32) {
        *row = i == 0 || i == 2 ? g : g + 8;
        *col = i < 2 ? t : t + 4;
    } else if (bits == 64) {
        *row = i % 2 == 0 ? g : g + 8;
        *col = i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t;
    } else if (bits == 8) {
        *row = c->k == 16 ? (i < 4 ? g : g + 8) : (i < 4 || (i >= 8 && i < 12) ? g : g + 8);
        *col = t * 4 + (i & 3) + (i >= 8 ? 16 : 0);
    } else if (bits == 4) {
        *row = c->k == 32 ? (i < 8 ? g : g + 8) : (i < 8 || (i >= 16 && i < 24) ? g : g + 8);
        *col = t * 8 + (i & 7) + (i >= 16 ? 32 : 0);
    } else {
        *row = c->k == 128 ? (i < 32 ? g : g + 8) : (i < 32 || (i >= 64 && i < 96) ? g : g + 8);
        *col = t * 32 + (i & 31) + (i >= 64 ? 128 : 0);
    }
}

static void place_b(
    const struct mma_case *c, unsigned lane, unsigned i, unsigned *row, unsigned *col)
{
    unsigned g = lane >> 2, t = lane % 4;
    *col = g;
    switch (numbers[c->b].bits) {
    case 64:
        *row = i * 4 + t;
        break;
    case 32:
        *row = i == 0 ? t : t + 4;
        break;
    case 16:
        *row = t * 2 + (i & 1) + (i >= 2 ? 8 : 0);
        break;
    case 8:
        *row = t * 4 + (i & 3) + (i >= 4 ? 16 : 0);
        break;
    case 4:
        *row = t * 8 + (i & 7) + (i >= 8 ? 32 : 0);
        break;
    default:
        *row = t * 32 + (i & 31) + (i >= 32 ? 128 : 0);
    }
}

static void place_c(
    const struct mma_case *c, unsigned lane, unsigned i, unsigned *row, unsigned *col)
{
    *row = (lane >> 2) + (i >= 2 ? 8 : 0);
    *col = lane % 4 * 2 + (i & 1);
}

typedef void place_fn(const struct mma_case *, unsigned, unsigned, unsigned *, unsigned *);

static unsigned nr_regs(enum number type, unsigned elements)
{
    unsigned bits = elements / 32 * numbers[type].bits;
    return bits / (type == F64 ? 64 : 32);
}

/* Matrix -> registers: register r of lane l at (r * 32 + l). */
static void to_lanes(const struct mma_case *c, place_fn *place, enum number type,
    const uint64_t *matrix, unsigned rows, unsigned cols, void *lanes)
{
    unsigned bits = numbers[type].bits, per = (type == F64 ? 64 : 32) / bits;
    for (unsigned l = 0; l < 32; l++) {
        for (unsigned i = 0; i < rows * cols / 32; i++) {
            unsigned row, col;
            place(c, l, i, &row, &col);
            assert_true(row < rows && col < cols);
            store_bits(lanes, (i / per * 32 + l) * per + i % per, bits, matrix[row * cols + col]);
        }
    }
}

static int print_list(char *out, size_t size, const char *prefix, unsigned nr)
{
    int n = snprintf(out, size, "{");
    for (unsigned i = 0; i < nr; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s%u", i ? ", " : "", prefix, i);
    return n + snprintf(out + n, size - (size_t)n, "}");
}

/* A kernel that loads registers lane by lane, does one operation, stores the result. */
static void mma_kernel(const struct mma_case *c, char *out, size_t size)
{
    unsigned nr[4] = {nr_regs(c->d, c->m * c->n), nr_regs(c->a, c->m * c->k),
        nr_regs(c->b, c->k * c->n), nr_regs(c->c, c->m * c->n)};
    const enum number type[4] = {c->d, c->a, c->b, c->c};
    char list[4][200];
    int n = snprintf(out, size,
        PTX_HEAD
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
        ".reg .b64 %%q<12>;\n.reg .b32 %%t;\nmov.u32 %%t, %%tid.x;\n");
    for (unsigned i = 0; i < 4; i++) {
        char prefix[4] = {'%', "dabc"[i], 0};
        const char *reg = type[i] == F64 ? "f64" : type[i] == F32 ? "f32" : "b32";
        unsigned bytes = type[i] == F64 ? 8 : 4;
        print_list(list[i], sizeof(list[i]), prefix, nr[i]);
        n += snprintf(out + n, size - (size_t)n,
            ".reg .%s %%%c<%u>;\nld.param.u64 %%q%u, [p%u];\nmul.wide.u32 %%q8, %%t, %u;\n"
            "add.s64 %%q%u, %%q%u, %%q8;\n",
            reg, "dabc"[i], nr[i], i, i, bytes, i, i);
        for (unsigned r = 0; r < nr[i] && i > 0; r++)
            n += snprintf(out + n, size - (size_t)n, "ld.global.%s %s%u, [%%q%u+%u];\n", reg,
                prefix, r, i, r * 32 * bytes);
    }
    n += snprintf(out + n, size - (size_t)n, "mma.sync.aligned.%s.row.col%s %s, %s, %s, %s;\n",
        c->shape, c->tail, list[0], list[1], list[2], list[3]);
    for (unsigned r = 0; r < nr[0]; r++)
        n += snprintf(out + n, size - (size_t)n, "st.global.%s [%%q0+%u], %%d%u;\n",
            c->d == F64   ? "f64"
            : c->d == F32 ? "f32"
                          : "b32",
            r * 32 * (c->d == F64 ? 8 : 4), r);
    snprintf(out + n, size - (size_t)n, "ret;\n}\n");
}

static double product_of(const struct mma_case *c, uint64_t a, uint64_t b)
{
    if (c->a != B1)
        return value_of(c->a, a) * value_of(c->b, b);
    return strstr(c->tail, "xor") ? (double)(a ^ b) : (double)(a & b);
}

/* Of f16, bf16 and tf32: so many products at once, each sum cut where it is f32. */
static double steps_sum(enum number in, enum number out, const double *x, const double *y,
    unsigned k, unsigned step, double sum)
{
    for (unsigned p = 0; p < k; p += step) {
        sum = chip_sum(x + p, y + p, step, sum, in == F16 ? -14 : -126);
        sum = out == F32 ? chip_f32(sum) : sum;
    }
    return sum;
}

static double nearest_f16(double v)
{
    const double unit = ldexp(1, (v == 0 || ilogb(v) < -14 ? -14 : ilogb(v)) - 10);
    return nearbyint(v / unit) * unit;
}

/* Of 8 bits: as f16, of each four along k first the lower two, then the upper two, then the addend
 * (SASS of ptxas 13.0). */
static double eights_sum(
    enum number out, const double *x, const double *y, unsigned k, double addend)
{
    double sum = 0, a[16], b[16];
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned p = 0; p < k / 2; p++) {
            a[p] = x[p / 2 * 4 + part * 2 + p % 2];
            b[p] = y[p / 2 * 4 + part * 2 + p % 2];
        }
        sum = chip_sum(a, b, k / 2, sum, -14);
        sum = out == F32 ? chip_f32(sum) : nearest_f16(sum);
    }
    return out == F32 ? (double)((float)sum + (float)addend) : sum + addend;
}

static double mma_sum(const struct mma_case *c, const uint64_t *a, const uint64_t *b, unsigned row,
    unsigned col, double addend)
{
    double x[32], y[32];
    for (unsigned p = 0; p < c->k; p++) {
        x[p] = value_of(c->a, a[row * c->k + p]);
        y[p] = value_of(c->b, b[p * c->n + col]);
    }
    return c->a <= TF32 ? steps_sum(c->a, c->d, x, y, c->k, c->k, addend)
                        : eights_sum(c->d, x, y, c->k, addend);
}

static void run_mma(const struct mma_case *c)
{
    static uint64_t a[16 * 256], b[256 * 8], s[16 * 8];
    static uint8_t lanes[4][16 * 256 * 8], got[16 * 8 * 8];
    char ptx[6000], what[200];
    memset(lanes, 0, sizeof(lanes));
    for (unsigned i = 0; i < c->m * c->k; i++)
        a[i] = random_bits(c->a);
    for (unsigned i = 0; i < c->k * c->n; i++)
        b[i] = random_bits(c->b);
    for (unsigned i = 0; i < c->m * c->n; i++)
        s[i] = random_bits(c->c);
    to_lanes(c, place_a, c->a, a, c->m, c->k, lanes[1]);
    to_lanes(c, place_b, c->b, b, c->k, c->n, lanes[2]);
    to_lanes(c, place_c, c->c, s, c->m, c->n, lanes[3]);
    mma_kernel(c, ptx, sizeof(ptx));
    struct bench bench;
    bench_init(&bench, ptx, 1);
    if (!bench.module)
        fail_msg("%s%s: %s", c->shape, c->tail, bench.result.text);
    snprintf(what, sizeof(what), "mma.sync.aligned.%s.row.col%s", c->shape, c->tail);
    bench.what = what;
    for (unsigned i = 0; i < 4; i++)
        bench_buffer(&bench, lanes[i], 8192);
    if (bench_run(&bench, 1, 32) != VERDICT_OK)
        fail_msg("%s%s: %s", c->shape, c->tail, bench.result.text);
    assert_true(counters_get(&bench.result.counters, METRIC_INST_TENSOR) == 1);
    assert_true(counters_get(&bench.result.counters, METRIC_FLOPS) ==
                (c->d == S32 ? 0 : 2.0 * c->m * c->n * c->k));
    bench_read(&bench, 0, got, sizeof(got));
    for (unsigned l = 0; l < 32; l++) {
        for (unsigned i = 0; i < c->m * c->n / 32; i++) {
            unsigned row, col, bits = numbers[c->d].bits, per = (c->d == F64 ? 64 : 32) / bits;
            place_c(c, l, i, &row, &col);
            double want = value_of(c->c, s[row * c->n + col]);
            if (c->a <= E5M2)
                want = mma_sum(c, a, b, row, col, want);
            for (unsigned p = 0; p < c->k && c->a > E5M2; p++)
                want += product_of(c, a[row * c->k + p], b[p * c->n + col]);
            snprintf(what, sizeof(what), "%s%s at (%u, %u)", c->shape, c->tail, row, col);
            assert_close(
                c->d, load_bits(got, (i / per * 32 + l) * per + i % per, bits), want, what);
        }
    }
    bench_finish(&bench);
}

#define MMA(shape, m, n, k, tail, d, a, b, c)                                                      \
    {                                                                                              \
        shape, tail, d, a, b, c, m, n, k                                                           \
    }
static void mma_shapes(void **state)
{
    static const struct mma_case cases[] = {
        MMA("m16n8k8", 16, 8, 8, ".f32.f16.f16.f32", F32, F16, F16, F32),
        MMA("m16n8k8", 16, 8, 8, ".f16.f16.f16.f16", F16, F16, F16, F16),
        MMA("m16n8k8", 16, 8, 8, ".f32.bf16.bf16.f32", F32, BF16, BF16, F32),
        MMA("m16n8k16", 16, 8, 16, ".f32.f16.f16.f32", F32, F16, F16, F32),
        MMA("m16n8k16", 16, 8, 16, ".f16.f16.f16.f16", F16, F16, F16, F16),
        MMA("m16n8k16", 16, 8, 16, ".f32.bf16.bf16.f32", F32, BF16, BF16, F32),
        MMA("m16n8k4", 16, 8, 4, ".f32.tf32.tf32.f32", F32, TF32, TF32, F32),
        MMA("m16n8k8", 16, 8, 8, ".f32.tf32.tf32.f32", F32, TF32, TF32, F32),
        MMA("m8n8k4", 8, 8, 4, ".f64.f64.f64.f64", F64, F64, F64, F64),
        MMA("m16n8k4", 16, 8, 4, ".f64.f64.f64.f64", F64, F64, F64, F64),
        MMA("m16n8k8", 16, 8, 8, ".f64.f64.f64.f64", F64, F64, F64, F64),
        MMA("m16n8k16", 16, 8, 16, ".f64.f64.f64.f64", F64, F64, F64, F64),
        MMA("m16n8k16", 16, 8, 16, ".f32.e4m3.e4m3.f32", F32, E4M3, E4M3, F32),
        MMA("m16n8k32", 16, 8, 32, ".f32.e4m3.e4m3.f32", F32, E4M3, E4M3, F32),
        MMA("m16n8k32", 16, 8, 32, ".f32.e5m2.e5m2.f32", F32, E5M2, E5M2, F32),
        MMA("m16n8k32", 16, 8, 32, ".f32.e5m2.e4m3.f32", F32, E5M2, E4M3, F32),
        MMA("m16n8k32", 16, 8, 32, ".f16.e5m2.e5m2.f16", F16, E5M2, E5M2, F16),
        MMA("m8n8k16", 8, 8, 16, ".s32.s8.s8.s32", S32, S8, S8, S32),
        MMA("m16n8k16", 16, 8, 16, ".s32.s8.s8.s32", S32, S8, S8, S32),
        MMA("m16n8k16", 16, 8, 16, ".s32.u8.s8.s32", S32, U8, S8, S32),
        MMA("m16n8k32", 16, 8, 32, ".s32.s8.s8.s32", S32, S8, S8, S32),
        MMA("m16n8k32", 16, 8, 32, ".s32.u8.u8.s32", S32, U8, U8, S32),
        MMA("m8n8k32", 8, 8, 32, ".s32.s4.s4.s32", S32, S4, S4, S32),
        MMA("m16n8k32", 16, 8, 32, ".s32.u4.s4.s32", S32, U4, S4, S32),
        MMA("m16n8k64", 16, 8, 64, ".s32.s4.u4.s32", S32, S4, U4, S32),
        MMA("m8n8k128", 8, 8, 128, ".s32.b1.b1.s32.xor.popc", S32, B1, B1, S32),
        MMA("m16n8k128", 16, 8, 128, ".s32.b1.b1.s32.and.popc", S32, B1, B1, S32),
        MMA("m16n8k256", 16, 8, 256, ".s32.b1.b1.s32.xor.popc", S32, B1, B1, S32),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        run_mma(&cases[i]);
        wide = true;
        for (unsigned round = 0; round < 4 && cases[i].a <= E5M2; round++)
            run_mma(&cases[i]);
        for (far = -64; far <= 56 && (cases[i].a == BF16 || cases[i].a == TF32); far += 3)
            run_mma(&cases[i]);
        far = 0;
        wide = false;
    }
}
/* One value in every element of A, B and C. */
static uint32_t uniform_mma(const char *types, uint32_t a, uint32_t b, uint32_t c)
{
    char ptx[2000];
    uint32_t d[32 * 4];
    struct bench bench;
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %%q<4>;\n.reg .b32 %%t<9>;\n"
                 "ld.param.u64 %%q0, [p0];\nmov.u32 %%t0, %%tid.x;\nmul.wide.u32 %%q1, %%t0, 4;\n"
                 "add.s64 %%q0, %%q0, %%q1;\nmov.b32 %%t1, 0x%x;\nmov.b32 %%t2, 0x%x;\n"
                 "mov.b32 %%t3, 0x%x;\nmma.sync.aligned.%s {%%t4,%%t5,%%t6,%%t7}, "
                 "{%%t1,%%t1,%%t1,%%t1}, {%%t2,%%t2}, {%%t3,%%t3,%%t3,%%t3};\n"
                 "st.global.b32 [%%q0], %%t4;\nret;\n}\n",
        a, b, c, types);
    bench_init(&bench, ptx, 1);
    if (!bench.module)
        fail_msg("%s: %s", types, bench.result.text);
    bench_buffer(&bench, d, sizeof(d));
    assert_int_equal(bench_run(&bench, 1, 32), VERDICT_OK);
    bench_read(&bench, 0, d, 128);
    bench_finish(&bench);
    return d[17];
}

static void mma_edges(void **state)
{
    static const char *const half = "m16n8k16.row.col.f32.f16.f16.f32",
                             *const tf32 = "m16n8k8.row.col.f32.tf32.tf32.f32",
                             *const byte = "m16n8k32.row.col.s32.s8.s8.s32",
                             *const clamped = "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
                             *const e4m3 = "m16n8k32.row.col.f32.e4m3.e4m3.f32",
                             *const e5m2 = "m16n8k32.row.col.f32.e5m2.e5m2.f32";
    (void)state;
    /* infinity times zero, infinity, f16 subnormals: 2^-24 * 1 * 16 */
    assert_int_equal(uniform_mma(half, 0x7c007c00, 0, 0), 0x7fffffff);
    assert_int_equal(uniform_mma(half, 0x7c007c00, 0x04000400, 0), 0x7f800000); /* times 2^-14 */
    assert_int_equal(uniform_mma(half, 0x7c007c00, 0x3c003c00, 0), 0x7f800000);
    assert_int_equal(uniform_mma(half, 0x00010001, 0x3c003c00, 0), 0x35800000);
    /* 65504^2 * 16 is fine in f32; the largest f32 and as much again is not */
    assert_true(value_of(F32, uniform_mma(half, 0x7bff7bff, 0x7bff7bff, 0)) ==
                (double)(float)(16 * 65504.0 * 65504.0));
    assert_int_equal(uniform_mma(tf32, 0x7f7fe000, 0x3f800000, 0x7f7fffff), 0x7f800000);
    /* 16 of the largest products of f16 and an addend: 2212495868 units of 2^-25, towards zero */
    assert_true(
        value_of(F32, uniform_mma(half, 0x3fff3fff, 0x3fff3fff, 0x3fffffff)) == 8642561 * 0x1p-17);
    assert_true(
        value_of(F32, uniform_mma(half, 0x3fff3fff, 0xbfffbfff, 0xbfffffff)) == -8642561 * 0x1p-17);
    assert_true(value_of(F32, uniform_mma(half, 0x3fff3fff, 0x3fff3fff, 0xbfffffff)) ==
                2078278148 / 128 * 0x1p-18);
    /* the lowest 13 bits of tf32 operands do not count */
    assert_int_equal(uniform_mma(tf32, 0x3f801fff, 0x3f800000, 0), 0x41000000);
    /* 127 * 127 * 32 = 516128: past the end, wrapped and clamped */
    assert_int_equal(uniform_mma(byte, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff), 0x7fffffffu + 516128);
    assert_int_equal(uniform_mma(clamped, 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffffff), 0x7fffffff);
    assert_int_equal(uniform_mma(clamped, 0x80808080, 0x7f7f7f7f, 0x80000000), 0x80000000);
    /* e4m3: 0x7f is NaN, 0x7e is 448; e5m2: 0x7c is infinity */
    assert_int_equal(uniform_mma(e4m3, 0x7f7f7f7f, 0x38383838, 0), 0x7fffffff);
    assert_true(value_of(F32, uniform_mma(e4m3, 0x7e7e7e7e, 0x38383838, 0)) == 448.0 * 32);
    assert_int_equal(uniform_mma(e5m2, 0x7c7c7c7c, 0x3c3c3c3c, 0), 0x7f800000);
}

/* --- ldmatrix, stmatrix, movmatrix --- */

/* Shared memory holds 16-bit elements that count up, rows of 8 at stride bytes. Lane i of ldmatrix
 * names row i of the x * 8 rows. Register j of lane l is written to D[(j * 32 + l)]. */
static void run_ldmatrix(unsigned x, bool trans, unsigned stride, double wavefronts)
{
    char ptx[4000], list[64];
    uint16_t d[4 * 32][2];
    struct bench bench;
    print_list(list, sizeof(list), "%d", x);
    int n = snprintf(ptx, sizeof(ptx),
        PTX_HEAD
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %%q<4>;\n.reg .b32 %%t<9>;\n"
        ".reg .b32 %%d<4>;\n.reg .b16 %%h;\n.reg .pred P;\n.shared .align 16 .b8 s[8192];\n"
        "ld.param.u64 %%q0, [p0];\nmov.u32 %%t0, %%tid.x;\nmov.u32 %%t1, s;\nmov.u32 %%t2, %%t0;\n"
        "fill:\nshl.b32 %%t3, %%t2, 1;\nadd.u32 %%t3, %%t3, %%t1;\ncvt.u16.u32 %%h, %%t2;\n"
        "st.shared.b16 [%%t3], %%h;\nadd.u32 %%t2, %%t2, 32;\nsetp.lt.u32 P, %%t2, 4096;\n"
        "@P bra fill;\nbar.sync 0;\nmad.lo.u32 %%t4, %%t0, %u, %%t1;\n"
        "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, [%%t4];\n"
        "mul.wide.u32 %%q1, %%t0, 4;\nadd.s64 %%q0, %%q0, %%q1;\n",
        stride, x, trans ? ".trans" : "", list);
    for (unsigned i = 0; i < x; i++)
        n += snprintf(
            ptx + n, sizeof(ptx) - (size_t)n, "st.global.b32 [%%q0+%u], %%d%u;\n", i * 128, i);
    snprintf(ptx + n, sizeof(ptx) - (size_t)n, "ret;\n}\n");
    bench_init(&bench, ptx, 1);
    if (!bench.module)
        fail_msg("ldmatrix: %s", bench.result.text);
    bench_buffer(&bench, NULL, sizeof(d));
    if (bench_run(&bench, 1, 32) != VERDICT_OK)
        fail_msg("ldmatrix: %s", bench.result.text);
    assert_true(counters_get(&bench.result.counters, METRIC_SHARED_LD_REQUESTS) == 1);
    assert_true(counters_get(&bench.result.counters, METRIC_SHARED_LD_WAVEFRONTS) == wavefronts);
    bench_read(&bench, 0, d, x * 128);
    for (unsigned j = 0; j < x; j++) {
        for (unsigned l = 0; l < 32; l++) {
            for (unsigned e = 0; e < 2; e++) {
                unsigned row = l / 4, col = l % 4 * 2 + e;
                unsigned from = trans ? col : row, at = trans ? row : col;
                assert_int_equal(d[j * 32 + l][e], (j * 8 + from) * stride / 2 + at);
            }
        }
    }
    bench_finish(&bench);
}

static void ldmatrix(void **state)
{
    (void)state;
    for (unsigned x = 1; x <= 4; x *= 2) {
        for (unsigned trans = 0; trans < 2; trans++) {
            run_ldmatrix(x, trans, 16, x);      /* rows beside each other: 128 bytes a matrix */
            run_ldmatrix(x, trans, 80, x);      /* an odd number of 16-byte pieces: all banks */
            run_ldmatrix(x, trans, 64, 4 * x);  /* two rows go round the banks: four on one */
            run_ldmatrix(x, trans, 128, 8 * x); /* all eight rows on the same four banks */
        }
    }
}

/* Register j of lane l holds (j * 32 + l) * 2 and the next; written out by stmatrix, rows of matrix
 * j, row i at (j * 8 + i) * 16 bytes, then copied to D. */
static void run_stmatrix(unsigned x, bool trans)
{
    char ptx[4000], list[64];
    uint16_t d[4 * 8 * 8];
    struct bench bench;
    print_list(list, sizeof(list), "%d", x);
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %%q<4>;\n.reg .b32 %%t<9>;\n"
        ".reg .b32 %%d<4>;\n.shared .align 16 .b8 s[512];\n"
        "ld.param.u64 %%q0, [p0];\nmov.u32 %%t0, %%tid.x;\nmov.u32 %%t1, s;\n"
        "mad.lo.u32 %%d0, %%t0, 0x20002, 0x10000;\nadd.u32 %%d1, %%d0, 0x400040;\n"
        "add.u32 %%d2, %%d1, 0x400040;\nadd.u32 %%d3, %%d2, 0x400040;\n"
        "mad.lo.u32 %%t4, %%t0, 16, %%t1;\n"
        "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 [%%t4], %s;\nbar.sync 0;\n"
        "mul.wide.u32 %%q1, %%t0, 4;\nadd.s64 %%q0, %%q0, %%q1;\nmad.lo.u32 %%t5, %%t0, 4, %%t1;\n"
        "ld.shared.b32 %%t6, [%%t5];\nst.global.b32 [%%q0], %%t6;\n"
        "ld.shared.b32 %%t6, [%%t5+128];\nst.global.b32 [%%q0+128], %%t6;\n"
        "ld.shared.b32 %%t6, [%%t5+256];\nst.global.b32 [%%q0+256], %%t6;\n"
        "ld.shared.b32 %%t6, [%%t5+384];\nst.global.b32 [%%q0+384], %%t6;\nret;\n}\n",
        x, trans ? ".trans" : "", list);
    bench_init(&bench, ptx, 1);
    if (!bench.module)
        fail_msg("stmatrix: %s", bench.result.text);
    bench_buffer(&bench, NULL, sizeof(d));
    if (bench_run(&bench, 1, 32) != VERDICT_OK)
        fail_msg("stmatrix: %s", bench.result.text);
    assert_true(counters_get(&bench.result.counters, METRIC_SHARED_ST_WAVEFRONTS) == x);
    bench_read(&bench, 0, d, sizeof(d));
    for (unsigned i = 0; i < x * 64; i++) {
        unsigned matrix = i / 64, row = i / 8 % 8, col = i % 8;
        unsigned r = trans ? col : row, c = trans ? row : col;
        assert_int_equal(d[i], (matrix * 32 + r * 4 + c / 2) * 2 + c % 2);
    }
    bench_finish(&bench);
}

static void stmatrix(void **state)
{
    (void)state;
    for (unsigned x = 1; x <= 4; x *= 2) {
        run_stmatrix(x, false);
        run_stmatrix(x, true);
    }
}

static void movmatrix(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b64 %q<4>;\n.reg .b32 %t<9>;\n"
        "ld.param.u64 %q0, [p0];\nmov.u32 %t0, %tid.x;\n"
        "mad.lo.u32 %t1, %t0, 0x20002, 0x10000;\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %t1, %t1;\n"
        "mul.wide.u32 %q1, %t0, 4;\nadd.s64 %q0, %q0, %q1;\nst.global.b32 [%q0], %t1;\nret;\n}\n";
    uint16_t d[8][8];
    struct bench bench;
    (void)state;
    bench_init(&bench, ptx, 1);
    bench_buffer(&bench, NULL, sizeof(d));
    assert_int_equal(bench_run(&bench, 1, 32), VERDICT_OK);
    bench_read(&bench, 0, d, sizeof(d));
    for (unsigned row = 0; row < 8; row++) {
        for (unsigned col = 0; col < 8; col++)
            assert_int_equal(d[row][col], col * 8 + row);
    }
    bench_finish(&bench);
}

/* --- wmma: every shape and type of <mma.h> --- */

static char *read_ptx(const char *name)
{
    char path[512];
    char *text;
    size_t len;
    struct err err;
    snprintf(path, sizeof(path), "%s/tests/ptx/tensor/%s.ptx", KEET_SOURCE_DIR, name);
    if (!file_read(path, 1 << 20, &text, &len, &err))
        fail_msg("%s", err.text);
    return text;
}

struct wmma_case {
    const char *kernel;
    enum number in, sum;
    unsigned m, n, k;
};

struct matrix {
    enum number type;
    unsigned rows, cols, stride;
    bool by_col;
    uint8_t bytes[8192];
};

static uint64_t matrix_at(const struct matrix *x, unsigned row, unsigned col)
{
    unsigned at = x->by_col ? col * x->stride + row : row * x->stride + col;
    return load_bits(x->bytes, at, numbers[x->type].bits);
}

static void matrix_fill(
    struct matrix *x, enum number type, unsigned rows, unsigned cols, char layout)
{
    x->type = type;
    x->rows = rows;
    x->cols = cols;
    x->by_col = layout == 'c';
    x->stride = (x->by_col ? rows : cols) + 16;
    memset(x->bytes, 0, sizeof(x->bytes));
    for (unsigned i = 0; i < (x->by_col ? cols : rows) * x->stride; i++)
        store_bits(x->bytes, i, numbers[type].bits, random_bits(type));
}

static void run_wmma(const char *ptx, const struct wmma_case *c)
{
    static struct matrix a, b, s, d;
    struct bench bench;
    char what[200];
    const char *layouts = strrchr(c->kernel, '_') + 1;
    matrix_fill(&a, c->in, c->m, c->k, layouts[0]);
    matrix_fill(&b, c->in, c->k, c->n, layouts[1]);
    matrix_fill(&s, c->sum, c->m, c->n, layouts[2]);
    d = s;
    bench_init(&bench, ptx, 1);
    if (!bench.module)
        fail_msg("%s", bench.result.text);
    bench_buffer(&bench, a.bytes, sizeof(a.bytes));
    bench_buffer(&bench, b.bytes, sizeof(b.bytes));
    bench_buffer(&bench, s.bytes, sizeof(s.bytes));
    bench_buffer(&bench, d.bytes, sizeof(d.bytes));
    struct {
        uint64_t buffer[4];
        int stride[3];
    } params = {{0}, {(int)a.stride, (int)b.stride, (int)s.stride}};
    memcpy(params.buffer, bench.buffer, sizeof(params.buffer));
    struct emu_launch launch = {.kernel = c->kernel,
        .grid = {1, 1, 1},
        .block = {32, 1, 1},
        .count = true,
        .params = &params,
        .params_bytes = sizeof(params)};
    if (bench_launch(&bench, launch) != VERDICT_OK)
        fail_msg("%s: %s", c->kernel, bench.result.text);
    assert_true(counters_get(&bench.result.counters, METRIC_INST_TENSOR) == 1);
    /* each byte of the sums is written once */
    assert_true(counters_get(&bench.result.counters, METRIC_GLOBAL_ST_BYTES) ==
                c->m * c->n * numbers[c->sum].bits / 8);
    bench_read(&bench, 3, d.bytes, sizeof(d.bytes));
    for (unsigned row = 0; row < c->m; row++) {
        for (unsigned col = 0; col < c->n; col++) {
            double want = value_of(c->sum, matrix_at(&s, row, col)), x[16], y[16];
            for (unsigned p = 0; p < c->k; p++) {
                x[p] = value_of(c->in, matrix_at(&a, row, p));
                y[p] = value_of(c->in, matrix_at(&b, p, col));
            }
            if (c->in <= TF32)
                want = steps_sum(c->in, c->sum, x, y, c->k, c->in == TF32 ? 4 : c->k, want);
            for (unsigned p = 0; p < c->k && c->in > TF32; p++)
                want += x[p] * y[p];
            snprintf(what, sizeof(what), "%s at (%u, %u)", c->kernel, row, col);
            assert_close(c->sum, matrix_at(&d, row, col), want, what);
        }
    }
    bench_finish(&bench);
}

#define HALVES(shape, m, n)                                                                        \
    {"f16_f32_" shape "_rrr", F16, F32, m, n, 16}, {"f16_f32_" shape "_rcc", F16, F32, m, n, 16},  \
        {"f16_f16_" shape "_crr", F16, F16, m, n, 16},                                             \
        {"f16_f16_" shape "_ccc", F16, F16, m, n, 16},                                             \
        {"bf16_f32_" shape "_rcr", BF16, F32, m, n, 16},                                           \
        {"bf16_f32_" shape "_crc", BF16, F32, m, n, 16},                                           \
        {"s8_s32_" shape "_rcr", S8, S32, m, n, 16},                                               \
    {                                                                                              \
        "u8_s32_" shape "_crc", U8, S32, m, n, 16                                                  \
    }

static void wmma_shapes(void **state)
{
    static const struct wmma_case cases[] = {HALVES("m16n16k16", 16, 16), HALVES("m32n8k16", 32, 8),
        HALVES("m8n32k16", 8, 32), {"tf32_f32_m16n16k8_rrr", TF32, F32, 16, 16, 8},
        {"tf32_f32_m16n16k8_ccc", TF32, F32, 16, 16, 8}, {"f64_f64_m8n8k4_rcr", F64, F64, 8, 8, 4},
        {"f64_f64_m8n8k4_crc", F64, F64, 8, 8, 4}};
    char *ptx = read_ptx("wmma");
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        run_wmma(ptx, &cases[i]);
    free(ptx);
}

/* --- whole products --- */

enum { GEMM_M = 128, GEMM_N = 64, GEMM_K = 96 };

static void run_gemm(const char *kernel, double tensor_insts)
{
    static uint16_t a[GEMM_M * GEMM_K], b[GEMM_K * GEMM_N];
    static float c[GEMM_M * GEMM_N];
    struct bench bench;
    char *ptx = read_ptx("gemm");
    for (unsigned i = 0; i < GEMM_M * GEMM_K; i++)
        a[i] = (uint16_t)random_bits(F16);
    for (unsigned i = 0; i < GEMM_K * GEMM_N; i++)
        b[i] = (uint16_t)random_bits(F16);
    bench_init(&bench, ptx, 2);
    if (!bench.module)
        fail_msg("%s", bench.result.text);
    bench_buffer(&bench, a, sizeof(a));
    bench_buffer(&bench, b, sizeof(b));
    bench_buffer(&bench, NULL, sizeof(c));
    struct {
        uint64_t buffer[3];
        int size[3];
    } params = {{bench.buffer[0], bench.buffer[1], bench.buffer[2]}, {GEMM_M, GEMM_N, GEMM_K}};
    struct emu_launch launch = {.kernel = kernel,
        .grid = {GEMM_N / 64, GEMM_M / 64, 1},
        .block = {128, 1, 1},
        .count = true,
        .find_races = true,
        .find_uninit = true,
        .params = &params,
        .params_bytes = sizeof(params)};
    if (bench_launch(&bench, launch) != VERDICT_OK)
        fail_msg("%s: %s", kernel, bench.result.text);
    const struct counters *counters = &bench.result.counters;
    assert_true(counters_get(counters, METRIC_INST_TENSOR) == tensor_insts);
    assert_true(counters_get(counters, METRIC_FLOPS) == 2.0 * GEMM_M * GEMM_N * GEMM_K);
    assert_true(counters_get(counters, METRIC_TIME_NS) > 0);
    bench_read(&bench, 2, c, sizeof(c));
    for (unsigned row = 0; row < GEMM_M; row++) {
        for (unsigned col = 0; col < GEMM_N; col++) {
            double want = 0, size = 0;
            for (unsigned p = 0; p < GEMM_K; p++) {
                double x = value_of(F16, a[row * GEMM_K + p]) * value_of(F16, b[p * GEMM_N + col]);
                want += x;
                size += fabs(x);
            }
            if (fabs((double)c[row * GEMM_N + col] - want) > size * 1e-6)
                fail_msg("%s at (%u, %u): got %.9g, want %.9g", kernel, row, col,
                    (double)c[row * GEMM_N + col], want);
        }
    }
    bench_finish(&bench);
    free(ptx);
}

static void gemm_wmma(void **state)
{
    (void)state;
    run_gemm("gemm_wmma", GEMM_M * GEMM_N * GEMM_K / (16 * 16 * 16));
}

static void gemm_mma(void **state)
{
    (void)state;
    run_gemm("gemm_mma", GEMM_M * GEMM_N * GEMM_K / (16 * 8 * 16));
}

/* --- what goes wrong --- */

static void half_a_warp(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".visible .entry k()\n{\n.reg .b32 %t<9>;\n.reg .f32 %f<4>;\n.reg .pred P;\n"
        "mov.u32 %t0, %tid.x;\nmov.u32 %t1, 0;\nmov.f32 %f0, 0f00000000;\n"
        "setp.lt.u32 P, %t0, 16;\n"
        "@P mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t1,%t1}, {%t1}, "
        "{%f0,%f0,%f0,%f0};\nret;\n}\n";
    struct bench bench;
    (void)state;
    bench_init(&bench, ptx, 1);
    assert_int_equal(bench_run(&bench, 1, 32), VERDICT_FAULT);
    assert_non_null(strstr(bench.result.text, "mma in divergent code: lanes 0x0000ffff"));
    bench_finish(&bench);
}

static void fragment_out_of_bounds(void **state)
{
    static uint8_t bytes[16 * 16 * 2];
    char *ptx = read_ptx("wmma");
    struct bench bench;
    (void)state;
    bench_init(&bench, ptx, 1);
    for (unsigned i = 0; i < 4; i++)
        bench_buffer(&bench, bytes, i == 0 ? sizeof(bytes) - 2 : sizeof(bytes));
    struct {
        uint64_t buffer[4];
        int stride[3];
    } params = {{0}, {16, 16, 16}};
    memcpy(params.buffer, bench.buffer, sizeof(params.buffer));
    struct emu_launch launch = {.kernel = "f16_f16_m16n16k16_crr",
        .grid = {1, 1, 1},
        .block = {32, 1, 1},
        .params = &params,
        .params_bytes = sizeof(params)};
    assert_int_equal(bench_launch(&bench, launch), VERDICT_FAULT);
    assert_non_null(strstr(bench.result.text, "2-byte read 0 bytes past the end of A (510 bytes)"));
    bench_finish(&bench);
    free(ptx);
}

static void shapes_that_do_not_exist(void **state)
{
    static const char *const texts[] = {
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t1,%t1,%t1,%t1}, "
        "{%t1,%t1}, {%f0,%f0,%f0,%f0};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t1}, {%t1}, "
        "{%f0,%f0,%f0,%f0};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%f0,%f1,%f2,%f3}, {%t1,%t1}, {%t1}, "
        "{%f0,%f0,%f0,%f0};",
        "mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%t1,%t1}, {%t1}, "
        "{%f0,%f0,%f0,%f0};",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%t1}, [%t1];"};
    char ptx[1000];
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct bench bench;
        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k()\n{\n.reg .b32 %%t<9>;\n.reg .f32 %%f<4>;\n%s\nret;\n}\n",
            texts[i]);
        bench_init(&bench, ptx, 1);
        enum verdict verdict = bench.module ? bench_run(&bench, 1, 32) : bench.result.verdict;
        assert_int_equal(verdict, VERDICT_UNSUPPORTED);
        bench_finish(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_shapes),
        cmocka_unit_test(mma_edges),
        cmocka_unit_test(ldmatrix),
        cmocka_unit_test(stmatrix),
        cmocka_unit_test(movmatrix),
        cmocka_unit_test(wmma_shapes),
        cmocka_unit_test(gemm_wmma),
        cmocka_unit_test(gemm_mma),
        cmocka_unit_test(half_a_warp),
        cmocka_unit_test(fragment_out_of_bounds),
        cmocka_unit_test(shapes_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
