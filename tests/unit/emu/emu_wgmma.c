/* wgmma.mma_async: every shape and type, A in registers and in shared memory, against products
 * worked out on the host; and descriptors against the layouts that CuTe gives for them. */
#include "chip_sums.h"
#include "emu_harness.h"
#include "tests/sanitized.h"

#include <math.h>

enum {
    SMEM = 96 << 10,
    MOST_REGS = 128,
    THREADS = 128,
    MOST_K = 256,
    MOST_N = 256,
    MOST_SPARSE = 64
};

enum kind { F16, BF16, TF32, E4M3, E5M2, S8, U8, B1, NR_KINDS };
static const struct {
    const char *name;
    unsigned bits, k;
} kinds[NR_KINDS] = {{"f16", 16, 16}, {"bf16", 16, 16}, {"tf32", 32, 8}, {"e4m3", 8, 32},
    {"e5m2", 8, 32}, {"s8", 8, 32}, {"u8", 8, 32}, {"b1", 1, 256}};

struct form {
    enum kind a, b;
    const char *d; /* "f32", "f16", "s32" */
    unsigned n;
    bool regs, satfinite, trans_a, trans_b;
    int sign_a, sign_b;
    bool sparse;
    unsigned selector;
};

static uint64_t state = 88172645463325252u;

static uint32_t draw(void)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static bool wide; /* twelve exponents, not four: sums in single precision must round */

/* An element whose exponent is near that of 1, so that sums of products are exact in double. */
static uint32_t draw_element(enum kind kind)
{
    const uint32_t r = draw(), e = wide ? (r >> 8) % 12 - 6 : r >> 24 & 3;
    switch (kind) {
    case F16:
        return (r & 0x83ff) | (13 + e) << 10;
    case BF16:
        return (r & 0x807f) | (125 + e) << 7;
    case TF32:
        return (r & 0x807fffff) | (125 + e) << 23;
    case E4M3:
        return (r & 0x87) | ((wide ? 7 : 5) + e) << 3;
    case E5M2:
        return (r & 0x83) | (13 + e) << 2;
    case B1:
        return r & 1;
    default:
        return r & 0xff;
    }
}

static double value_of(enum kind kind, uint32_t v)
{
    static const struct {
        int mantissa, exponent;
    } parts[] = {{10, 5}, {7, 8}, {23, 8}, {3, 4}, {2, 5}};
    if (kind == S8)
        return (int8_t)v;
    if (kind == U8 || kind == B1)
        return v;
    const int m = parts[kind].mantissa, e = parts[kind].exponent;
    uint32_t fraction = v & ((1u << m) - 1);
    const int exponent = (int)(v >> m & ((1u << e) - 1)) - ((1 << (e - 1)) - 1);
    if (kind == TF32)
        fraction &= ~0x1fffu;
    if ((v & ((1u << (m + e)) - 1)) == 0)
        return 0;
    const double x = ldexp(1 + ldexp(fraction, -m), exponent);
    return v >> (m + e) & 1 ? -x : x;
}

/* --- where CuTe puts elements: mma_traits_sm90_gmma.hpp, "Canonical layouts" --- */

/* A layout in units of 16 bytes, ((s0, s1), (t0, t1)) : ((d0, d1), (e0, e1)), of which s1 and t1
 * are as long as it takes, and the swizzle <bits, 4, 3> of byte addresses. */
struct layout {
    uint32_t shape0[2], stride0[2], stride1[2];
    unsigned bits;
};

static uint32_t swizzled(const struct layout *y, uint32_t at)
{
    return at ^ (at & ((1u << y->bits) - 1) << 7) >> 3;
}

static uint32_t place(const struct layout *y, uint32_t start, uint32_t i, uint32_t j)
{
    const uint32_t units = i % y->shape0[0] * y->stride0[0] + i / y->shape0[0] * y->stride1[0] +
                           j % y->shape0[1] * y->stride0[1] + j / y->shape0[1] * y->stride1[1];
    return swizzled(y, start + 16 * units);
}

/* swizzle 0 none, 1 of 32, 2 of 64, 3 of 128 bytes; offsets in units of 16 bytes */
static struct layout canonical(unsigned swizzle, bool trans, uint32_t leading, uint32_t stride)
{
    const uint32_t w = 1u << swizzle;
    struct layout y = {.bits = swizzle};
    if (!trans && swizzle == 0) /* ((8,n),2):((1,SBO),LBO); where A is sparse 4 of B, not 2 */
        y = (struct layout){{8, 4}, {1, leading}, {stride, 0}, 0};
    else if (!trans) /* ((8,n),2):((W,SBO),1) */
        y = (struct layout){{8, 4}, {w, 1}, {stride, 0}, swizzle};
    else if (swizzle == 0) /* ((1,n),(8,k)):((X,SBO),(1,LBO)) */
        y = (struct layout){{1, 8}, {0, 1}, {stride, leading}, 0};
    else /* ((W,n),(8,k)):((1,LBO),(W,SBO)) */
        y = (struct layout){{w, 8}, {1, w}, {leading, stride}, swizzle};
    return y;
}

struct matrix { /* rows x k elements */
    enum kind kind;
    unsigned rows, k, swizzle;
    bool trans;
    uint32_t start, leading, stride; /* bytes, then units of 16 bytes */
    uint32_t v[MOST_N * MOST_K];
};

static uint64_t descriptor(const struct matrix *m)
{
    static const uint64_t code[4] = {0, 3, 2, 1};
    return (uint64_t)(m->start >> 4) | (uint64_t)m->leading << 16 | (uint64_t)m->stride << 32 |
           code[m->swizzle] << 62;
}

/* Writes the matrix into an image of shared memory. */
static void put(const struct matrix *m, uint8_t *smem)
{
    const struct layout y = canonical(m->swizzle, m->trans, m->leading, m->stride);
    const unsigned bits = kinds[m->kind].bits, per = 128 / bits;
    for (unsigned r = 0; r < m->rows; r++) {
        for (unsigned e = 0; e < m->k; e++) {
            const uint32_t v = m->v[r * m->k + e];
            const uint32_t at = m->trans ? place(&y, m->start, r / per, e) + r % per * bits / 8
                                         : place(&y, m->start, r, e / per) + e % per * bits / 8;
            assert_true(at + 4 <= SMEM);
            if (bits == 1)
                smem[at] = (uint8_t)(smem[at] & ~(1u << e % 8)) | (uint8_t)(v << e % 8);
            else
                memcpy(smem + at, &v, bits / 8);
        }
    }
}

/* Offsets at which nothing overlaps, as tight as can be, `gap` units more. Gives the units used. */
static uint32_t pack_tight(struct matrix *m, unsigned gap)
{
    const uint32_t w = 1u << m->swizzle, bits = kinds[m->kind].bits;
    const uint32_t eights = m->rows / 8 ? m->rows / 8 : 1;
    if (!m->trans && m->swizzle == 0) {
        m->leading = 8 + gap; /* bricks of 8 rows beside each other */
        m->stride = m->k * bits / 128 * m->leading;
        return eights * m->stride;
    }
    if (!m->trans) {
        m->stride = 8 * w + gap * 64; /* a swizzle's pattern repeats every 64 units */
        m->leading = 1;
        return eights * m->stride;
    }
    const uint32_t along = (m->rows * bits / 128 + w - 1) / w, deep = m->k / 8;
    if (m->swizzle == 0) {
        m->stride = 8 + gap;
        m->leading = along * m->stride;
        return deep * m->leading;
    }
    m->leading = 8 * w + gap * 64;
    m->stride = along * m->leading;
    return deep * m->stride;
}

/* --- one form --- */

static double d_value(const char *type, uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return type[0] == 's'             ? (double)(int32_t)bits
           : strcmp(type, "f32") == 0 ? (double)f
                                      : value_of(F16, bits);
}

static uint32_t nearest_half(double x)
{
    int e;
    const double a = fabs(x);
    frexp(a, &e);
    e = e - 1 < -14 ? -14 : e - 1;
    const double unit = ldexp(1, e - 10), q = nearbyint(a / unit);
    if (a == 0 || q * unit >= 65520)
        return (signbit(x) ? 0x8000 : 0) | (a == 0 ? 0 : 0x7c00);
    return (signbit(x) ? 0x8000u : 0) | (((uint32_t)(e + 15) << 10) + (uint32_t)q - 1024);
}

static uint32_t d_bits(const struct form *f, double x)
{
    const float single = (float)x;
    uint32_t bits;
    if (f->d[0] == 's') {
        if (f->satfinite)
            x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
        return (uint32_t)(uint64_t)(int64_t)x;
    }
    if (strcmp(f->d, "f16") == 0)
        return nearest_half(x);
    memcpy(&bits, &single, 4);
    return bits;
}

static void write_ptx(const struct form *f, char *ptx, size_t room)
{
    const bool half = strcmp(f->d, "f16") == 0;
    const unsigned nr = half ? f->n / 4 : f->n / 2;
    int n = snprintf(ptx, room, "%s",
        PTX_HEAD
        ".extern .shared .align 1024 .b8 s[];\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
        ".param .u64 pa, .param .u64 pb, .param .u32 pk)\n{\n.reg .b32 T, S, U, V, d<128>, a<4>;\n"
        ".reg .b64 A, B, C, DA, DB, BASE;\n.reg .b32 E;\n.reg .pred P, Q;\n"
        "ld.param.u64 A, [p0];\nld.param.u64 B, [p1];\nld.param.u64 C, [p2];\n"
        "ld.param.u64 DA, [pa];\nld.param.u64 DB, [pb];\nld.param.u32 U, [pk];\n"
        "setp.ne.u32 P, U, 0;\nmov.u32 T, %tid.x;\nshl.b32 V, T, 4;\n"
        "NEXT:\ncvt.u64.u32 DA, V;\nadd.u64 DA, A, DA;\n"
        "ld.global.v4.u32 {a0, a1, a2, a3}, [DA];\nmov.u32 S, s;\nadd.u32 S, S, V;\n"
        "st.shared.v4.u32 [S], {a0, a1, a2, a3};\nadd.u32 V, V, 2048;\n"
        "setp.lt.u32 Q, V, 98304;\n@Q bra NEXT;\nfence.proxy.async.shared::cta;\n"
        "bar.sync 0;\nld.param.u64 DA, [pa];\n"
        /* The descriptors are made for shared memory at 0; on a chip it begins at 1024. */
        "mov.u32 S, s;\nshr.u32 S, S, 4;\ncvt.u64.u32 BASE, S;\n"
        "add.u64 DA, DA, BASE;\nadd.u64 DB, DB, BASE;\n"
        "mul.wide.u32 A, T, 32;\nadd.u64 A, C, A;\nld.global.u32 E, [A+16];\n"
        "ld.global.v4.u32 {a0, a1, a2, a3}, [A];\nmul.wide.u32 A, T, 512;\n"
        "add.u64 B, B, A;\n");
    for (unsigned i = 0; i < nr; i++)
        n += snprintf(ptx + n, room - (size_t)n, "ld.global.u32 d%u, [B+%u];\n", i, 4 * i);
    n += snprintf(ptx + n, room - (size_t)n,
        "wgmma.fence.sync.aligned;\nwgmma.mma_async%s.sync.aligned.m64n%uk%u.%s.%s.%s%s%s {",
        f->sparse ? ".sp" : "", f->n, kinds[f->a].k << f->sparse, f->d, kinds[f->a].name,
        kinds[f->b].name, f->satfinite ? ".satfinite" : "", f->a == B1 ? ".and.popc" : "");
    for (unsigned i = 0; i < nr; i++)
        n += snprintf(ptx + n, room - (size_t)n, "%sd%u", i ? ", " : "", i);
    n += snprintf(ptx + n, room - (size_t)n, "}, %s, DB", f->regs ? "{a0, a1, a2, a3}" : "DA");
    if (f->sparse)
        n += snprintf(ptx + n, room - (size_t)n, ", E, %u", f->selector);
    n += snprintf(ptx + n, room - (size_t)n, ", P");
    if (f->d[0] == 'f')
        n += snprintf(ptx + n, room - (size_t)n, ", %d, %d", f->sign_a, f->sign_b);
    if (kinds[f->a].bits == 16 && !f->regs)
        n += snprintf(ptx + n, room - (size_t)n, ", %d", f->trans_a);
    if (kinds[f->a].bits == 16)
        n += snprintf(ptx + n, room - (size_t)n, ", %d", f->trans_b);
    n += snprintf(ptx + n, room - (size_t)n,
        ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (unsigned i = 0; i < nr; i++)
        n += snprintf(ptx + n, room - (size_t)n, "st.global.u32 [B+%u], d%u;\n", 4 * i, i);
    snprintf(ptx + n, room - (size_t)n, "ret;\n}\n");
}

static struct matrix a, b;
static uint8_t smem[SMEM];
static uint32_t d_regs[THREADS][MOST_REGS], out_regs[THREADS][MOST_REGS];
static uint32_t a_regs[THREADS][8];          /* four of A, then the metadata where A is sparse */
static uint8_t step_of[64][MOST_SPARSE / 2]; /* the step of k of each element of a sparse A */

/* Register i of A of a thread: rows lane / 4 (+ 8), four bytes of k. */
static void fill_a_regs(void)
{
    const unsigned bits = kinds[a.kind].bits, per = 32 / bits;
    memset(a_regs, 0, sizeof(a_regs));
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < 4; i++) {
            const unsigned row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8;
            for (unsigned e = 0; e < per; e++)
                a_regs[t][i] |= a.v[row * a.k + (i / 2 * 4 + t % 4) * per + e] << e * bits;
        }
    }
}

/* Of each chunk of four elements two, of tf32 of each two one; a chunk has four bits. */
static unsigned draw_chunk(const struct form *f, unsigned row, unsigned chunk)
{
    static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    const uint8_t *pair = pairs[draw() % 6];
    if (f->a == TF32) {
        step_of[row][chunk] = (uint8_t)(2 * chunk + (pair[0] & 1));
        return pair[0] & 1 ? 14 : 4;
    }
    for (unsigned i = 0; i < 2; i++)
        step_of[row][2 * chunk + i] = (uint8_t)(4 * chunk + pair[i]);
    return pair[0] | (unsigned)pair[1] << 2;
}

/* The metadata as CuTe's ELayout_64x64, _64x32 and _64x16 have it
 * (mma_traits_sm90_gmma_sparse.hpp): of a thread (t0, t1, t2, t3) : (2, 2, 8, 4) and its values, by
 * row and step. */
static void draw_metadata(const struct form *f)
{
    const unsigned bits = kinds[f->a].bits, of_chunk = bits == 32 ? 2 : 4, k = 2 * kinds[f->a].k;
    for (unsigned t = 0; t < THREADS; t++) {
        const unsigned t0 = t % 2, t1 = t / 2 % 2, row = t / 4 % 8 + t / 32 * 16;
        a_regs[t][4] = draw();
        if (bits > 8 && t1 != f->selector) /* nobody reads it */
            continue;
        a_regs[t][4] = 0;
        for (unsigned i = 0; i < 8; i++)
            a_regs[t][4] |=
                (bits == 8 ? draw_chunk(f, row + 8 * t0, t1 * 8 + i)
                           : draw_chunk(f, row + i / 4 * 8, t0 * k / 2 / of_chunk + i % 4))
                << 4 * i;
    }
}

static void expect_product(const struct form *f, bool keeps, const char *what)
{
    const bool half = strcmp(f->d, "f16") == 0;
    static double va[64 * MOST_K], vb[MOST_N * MOST_K];
    const unsigned k = b.k;
    memset(va, 0, sizeof(va));
    for (unsigned i = 0; i < 64 * a.k; i++)
        va[i / a.k * k + (f->sparse ? step_of[i / a.k][i % a.k] : i % a.k)] =
            value_of(a.kind, a.v[i]) * f->sign_a;
    for (unsigned i = 0; i < f->n * k; i++)
        vb[i] = value_of(b.kind, b.v[i]) * f->sign_b;
    for (unsigned row = 0; row < 64; row++) {
        for (unsigned col = 0; col < f->n; col++) {
            const unsigned t = row / 16 * 32 + row % 8 * 4 + col % 8 / 2,
                           pair = col / 8 * 2 + row % 16 / 8, shift = half ? col % 2 * 16 : 0,
                           reg = half ? pair : 2 * pair + col % 2;
            const uint32_t was = half ? d_regs[t][reg] >> shift & 0xffff : d_regs[t][reg];
            uint32_t got = half ? out_regs[t][reg] >> shift & 0xffff : out_regs[t][reg];
            double sum = keeps ? d_value(f->d, was) : 0;
            if (a.kind <= TF32) {
                sum = chip_sum(va + row * k, vb + col * k, k, sum, a.kind == F16 ? -14 : -126);
                sum = f->d[1] == '3' ? chip_f32(sum) : sum;
            }
            if (a.kind == E4M3 || a.kind == E5M2) {
                sum = chip_sum_cut(va + row * k, vb + col * k, k, sum, a.kind == E4M3 ? -6 : -14,
                    b.kind == E4M3 ? -6 : -14, 13);
                sum = f->d[1] == '3' ? chip_f32_of_8(sum) : sum;
            }
            for (unsigned e = 0; e < k && a.kind > E5M2; e++)
                sum += va[row * k + e] * vb[col * k + e];
            if (got != d_bits(f, sum))
                fail_msg("%s: row %u, column %u: got %x, want %x (%g)", what, row, col, got,
                    d_bits(f, sum), sum);
        }
    }
}

static bool bare; /* a row of A and nine columns of B are zeros; A of bf16 is 2^101 larger */

static void make_bare(const struct form *f)
{
    for (unsigned i = 0; i < 64 * a.k; i++)
        a.v[i] = i / a.k == 3 ? 0 : a.v[i] + (f->a == BF16 ? 101u << 7 : 0);
    for (unsigned i = 0; i < f->n * b.k; i++)
        b.v[i] = i / b.k == 1 || i / b.k / 8 == 1 ? 0 : b.v[i];
}

static void draw_matrices(const struct form *f)
{
    a.kind = f->a, a.rows = 64, a.k = kinds[f->a].k, a.trans = f->trans_a;
    b.kind = f->b, b.rows = f->n, b.k = a.k << f->sparse, b.trans = f->trans_b;
    for (unsigned i = 0; i < 64 * a.k; i++)
        a.v[i] = draw_element(f->a);
    for (unsigned i = 0; i < f->n * b.k; i++)
        b.v[i] = draw_element(f->b);
    if (bare)
        make_bare(f);
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned r = 0; r < MOST_REGS; r++)
            d_regs[t][r] = strcmp(f->d, "f16") == 0 ? draw_element(F16) | draw_element(F16) << 16
                           : f->d[0] == 's'         ? draw() << 16
                                                    : draw_element(TF32);
    }
}

static void run_placed(struct bench *k, const struct form *f, bool keeps, const char *what)
{
    struct {
        uint64_t p[5];
        uint32_t keeps, none;
    } params = {{k->buffer[0], k->buffer[1], k->buffer[2]}, keeps, 0};
    memset(smem, 0x5a, sizeof(smem));
    put(&a, smem);
    put(&b, smem);
    fill_a_regs();
    if (f->sparse)
        draw_metadata(f);
    params.p[3] = descriptor(&a);
    params.p[4] = descriptor(&b);
    emu_write(k->emu, k->buffer[0], smem, sizeof(smem), &k->err);
    emu_write(k->emu, k->buffer[1], d_regs, sizeof(d_regs), &k->err);
    emu_write(k->emu, k->buffer[2], a_regs, sizeof(a_regs), &k->err);
    const struct emu_launch launch = {.grid = {1, 1, 1},
        .block = {THREADS, 1, 1},
        .smem_bytes = SMEM,
        .params = &params,
        .params_bytes = sizeof(params)};
    k->what = what;
    if (bench_launch(k, launch) != VERDICT_OK)
        fail_msg("%s: %s", what, k->result.text);
    bench_read(k, 1, out_regs, sizeof(out_regs));
    expect_product(f, keeps, what);
}

static void open_form(struct bench *k, const struct form *f, char *what, size_t room)
{
    static char ptx[1 << 16];
    write_ptx(f, ptx, sizeof(ptx));
    bench_init(k, ptx, 1);
    const char *at = strstr(ptx, "wgmma.mma_async");
    snprintf(what, room, "%.*s%s", (int)strcspn(at, " "), at, f->regs ? " (A in registers)" : "");
    if (!k->module)
        fail_msg("%s: %s", what, k->result.text);
    bench_buffer(k, smem, sizeof(smem));
    bench_buffer(k, d_regs, sizeof(d_regs));
    bench_buffer(k, a_regs, sizeof(a_regs));
}

static unsigned nr_forms;

static void run_form(struct form f)
{
    struct bench k;
    char what[200];
    f.sign_a = f.sign_a ? f.sign_a : 1;
    f.sign_b = f.sign_b ? f.sign_b : 1;
    while (!sem_use((enum sem_isa)(nr_forms++ % 3)))
        ;
    open_form(&k, &f, what, sizeof(what));
    draw_matrices(&f);
    a.swizzle = nr_forms % 4, b.swizzle = nr_forms / 4 % 4;
    if (f.sparse && b.swizzle == 1 && !f.trans_b) /* 64 bytes of a row need as wide a swizzle */
        b.swizzle = 2;
    a.start = 0;
    b.start = 16 * ((pack_tight(&a, 0) + 63) / 64 * 64);
    pack_tight(&b, 0);
    run_placed(&k, &f, nr_forms % 3 != 0, what);
    bench_finish(&k);
}

static void wide_sums(void **unused)
{
    wide = true;
    for (unsigned i = 0; i < 16; i++) {
        const unsigned n = i / 2 % 2 ? 64 : 8, regs = i % 2;
        run_form((struct form){F16, F16, "f32", n, .regs = regs});
        run_form((struct form){F16, F16, "f16", n, .regs = regs});
        run_form((struct form){BF16, BF16, "f32", n, .regs = regs});
        run_form((struct form){TF32, TF32, "f32", n, .regs = regs});
        run_form((struct form){E4M3, E4M3, i & 4 ? "f32" : "f16", n, .regs = regs});
        run_form((struct form){E5M2, E4M3, i & 4 ? "f32" : "f16", n, .regs = regs});
        run_form((struct form){E5M2, E5M2, i & 4 ? "f32" : "f16", n, .regs = regs});
    }
    wide = false;
}

/* Where a sum has no products, its addend is cut as ever; zeros are zeros beside the largest. */
static void zeros(void **unused)
{
    bare = true;
    for (unsigned i = 0; i < 6; i++) {
        run_form((struct form){BF16, BF16, "f32", 16, .regs = i % 2});
        run_form((struct form){F16, F16, i & 4 ? "f32" : "f16", 16, .regs = i % 2});
        run_form((struct form){E4M3, E4M3, i & 4 ? "f32" : "f16", 16, .regs = i % 2});
    }
    bare = false;
}

/* A build with sanitizers takes ten times as long: a few widths, even and odd multiples of 8. */
enum { N_STEP = KEET_SANITIZED ? 72 : 8 };

static void every_shape(void **unused)
{
    for (unsigned n = 8; n <= 256; n += N_STEP) {
        for (unsigned regs = 0; regs < 2; regs++) {
            run_form((struct form){F16, F16, "f32", n, .regs = regs, .sign_a = n % 16 ? 1 : -1});
            run_form((struct form){F16, F16, "f16", n, .regs = regs, .sign_b = n % 24 ? 1 : -1});
            run_form((struct form){BF16, BF16, "f32", n, .regs = regs, .sign_a = n % 24 ? 1 : -1});
            run_form((struct form){TF32, TF32, "f32", n, .regs = regs, .sign_b = n % 16 ? 1 : -1});
            for (unsigned t = 0; t < 8; t++)
                run_form((struct form){t & 1 ? E4M3 : E5M2, t & 2 ? E4M3 : E5M2,
                    t & 4 ? "f32" : "f16", n, .regs = regs});
            if (n % 16 && n != 8 && n != 24)
                continue;
            for (unsigned t = 0; t < 8; t++)
                run_form((struct form){
                    t & 1 ? S8 : U8, t & 2 ? S8 : U8, "s32", n, .regs = regs, .satfinite = t & 4});
            run_form((struct form){B1, B1, "s32", n, .regs = regs});
        }
    }
    print_message("%u forms\n", nr_forms);
}

static void sparse(void **unused)
{
    const unsigned before = nr_forms;
    for (unsigned n = 8; n <= 256; n += N_STEP) {
        for (unsigned i = 0; i < 4; i++) {
            const struct form at = {
                .n = n, .regs = i & 1, .selector = i >> 1, .sparse = true, .sign_b = i ? 1 : -1};
            struct form f = at;
            f.d = n % 16 ? "f32" : "f16", f.a = f.b = F16;
            f.trans_a = !f.regs && n % 3 == 0, f.trans_b = n % 5 == 0;
            run_form(f);
            f.d = "f32", f.a = f.b = BF16;
            run_form(f);
            f.trans_a = f.trans_b = false, f.a = f.b = TF32;
            run_form(f);
            f.selector = 0, f.a = n & 8 ? E4M3 : E5M2, f.b = i & 2 ? E4M3 : E5M2;
            run_form(f);
            if (n % 16 && n != 8 && n != 24)
                continue;
            f.d = "s32", f.a = i & 2 ? S8 : U8, f.b = n & 32 ? S8 : U8, f.satfinite = n & 64,
            f.sign_b = 1;
            run_form(f);
        }
    }
    print_message("%u forms\n", nr_forms - before);
}

/* Each swizzle of both operands, along k and transposed, with tight and with wide offsets, from
 * starts that step through the swizzle's pattern as kernels do that go along k. */
static void descriptors(void **unused)
{
    static const unsigned widths[] = {8, 64, 72, 256};
    unsigned nr = 0;
    for (unsigned t = 0; t < 4; t++) {
        for (unsigned i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
            const struct form f = {.a = BF16,
                .b = BF16,
                .d = "f32",
                .n = widths[i],
                .trans_a = t & 1,
                .trans_b = t & 2,
                .sign_a = 1,
                .sign_b = 1};
            struct bench k;
            char what[200], more[300];
            open_form(&k, &f, what, sizeof(what));
            draw_matrices(&f);
            for (unsigned s = 0; s < 16 * 2 * 4; s++) {
                a.swizzle = s % 4, b.swizzle = s / 4 % 4;
                const unsigned gap = s / 16 % 2, step = s / 32;
                const uint32_t units_a = pack_tight(&a, gap), units_b = pack_tight(&b, gap);
                if (16 * (units_a + units_b) + 4096 > SMEM)
                    continue;
                a.start =
                    (a.swizzle == 0 || (!f.trans_a && step < (1u << a.swizzle) / 2) ? 32 * step
                                                                                    : 0) +
                    1024 * step;
                b.start = a.start / 1024 * 1024 + 1024 + 16 * ((units_a + 63) / 64 * 64);
                b.start +=
                    b.swizzle == 0 || (!f.trans_b && step < (1u << b.swizzle) / 2) ? 32 * step : 0;
                if (b.start + 16 * units_b + 1024 > SMEM)
                    continue;
                snprintf(more, sizeof(more), "%s, swizzles %u %u, trans %u, gap %u, step %u", what,
                    a.swizzle, b.swizzle, t, gap, step);
                run_placed(&k, &f, true, more);
                nr++;
            }
            bench_finish(&k);
        }
    }
    print_message("%u pairs of descriptors\n", nr);
    assert_true(nr > 1000);
}

static void refused(void **unused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {d0}, D, D, P, 1, 1, 0, 0;",
            "not a shape"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {d0,d1,d2,d3}, D, D, P, 1, 1, 0, 0;",
            "not a shape"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2}, D, D, P, 1, 1, 0, 0;",
            "this number of registers"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, D, D, P, 2, 1, 0, 0;",
            "such a scale"},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {d0,d1,d2,d3}, D, D, P, 1, 1, 0, 0;",
            "this number of operands"},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, D, D, d4, 0, P, 1, "
         "1, 0, 0;",
            "not a shape"},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {d0,d1,d2,d3}, D, D, d4, 2, P, 1, "
         "1, 0, 0;",
            "such a selector"},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {d0,d1,d2,d3}, D, D, d4, 1, P, 1, "
         "1;",
            "such a selector"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench k;
        char ptx[2000];
        snprintf(ptx, sizeof(ptx),
            PTX_HEAD ".visible .entry k()\n{\n.reg .b32 d<8>;\n.reg .b64 D;\n.reg .pred P;\n"
                     "%s\nret;\n}\n",
            cases[i].text);
        bench_init(&k, ptx, 1);
        const enum verdict v = k.module ? bench_run(&k, 1, 128) : k.result.verdict;
        if (v == VERDICT_OK || !strstr(k.result.text, cases[i].says))
            fail_msg("case %zu: %d, %s", i, v, k.result.text);
        bench_finish(&k);
    }
}

static void outside(void **unused)
{
    struct form f = {.a = BF16, .b = BF16, .d = "f32", .n = 64, .sign_a = 1, .sign_b = 1};
    struct bench k;
    char what[200];
    open_form(&k, &f, what, sizeof(what));
    uint64_t params[6] = {k.buffer[0], k.buffer[1], k.buffer[2], 0, 0, 0};
    a.start = 0, a.leading = 8, a.stride = 16, a.swizzle = 0;
    params[3] = params[4] = descriptor(&a);
    params[4] += (SMEM - 512) >> 4;
    const struct emu_launch launch = {.grid = {1, 1, 1},
        .block = {THREADS, 1, 1},
        .smem_bytes = SMEM,
        .params = params,
        .params_bytes = sizeof(params)};
    assert_int_equal(bench_launch(&k, launch), VERDICT_FAULT);
    if (!strstr(k.result.text, "out of bounds: wgmma reads byte 98304 of 98304 bytes"))
        fail_msg("%s", k.result.text);
    bench_finish(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(wide_sums),
        cmocka_unit_test(zeros), cmocka_unit_test(sparse), cmocka_unit_test(descriptors),
        cmocka_unit_test(refused), cmocka_unit_test(outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
