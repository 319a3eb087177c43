/* Owns f16, f16x2, bf16, bf16x2 arithmetic. Values are computed in f32 or f64 and rounded once: f32
 * holds sums and products of f16 well enough that rounding twice changes nothing (24 >= 2 * 11 +
 * 2); fma goes through f32, bf16 through f64 rounded to odd. */
#include "emu/sem/half.h"

/* Selections, no branches: loops over these vectorise. */
static inline uint32_t half_ftz(const struct inst *in, uint32_t h)
{
    const uint32_t keep = in->flags & INST_FTZ ? 0x8000u : ~0u;
    return h & ((h & 0x7c00u) ? ~0u : keep);
}

/* .sat clamps to [0, 1], NaN to 0; sub bit 3, .relu: negative and -0 to 0, NaN stays. */
static inline uint32_t clamped(const struct inst *in, uint32_t h, uint32_t infinity, uint32_t one)
{
    const uint32_t nan = (h & 0x7fffu) > infinity, negative = h >> 15 & 1;
    const uint32_t sat = nan | negative ? 0 : h > one ? one : h;
    const uint32_t relu = negative & ~nan ? 0 : h;
    h = in->sub & 8 ? relu : h;
    return in->flags & INST_SAT ? sat : h;
}

static inline uint32_t half_out(const struct inst *in, uint32_t h)
{
    return clamped(in, half_ftz(in, h), 0x7c00u, 0x3c00u);
}

static inline uint32_t bf16_out(const struct inst *in, uint32_t h)
{
    return clamped(in, h, 0x7f80u, 0x3f80u);
}

#define H(x) half_f32(half_ftz(in, (x)&0xffffu))
#define B(x) ((double)bf16_f32((x)&0xffffu))
#define HOUT(v) half_out(in, half_from_f32(v))
#define BOUT(v) bf16_out(in, bf16_from_f32(odd_f32(v)))

static inline uint32_t add_h(const struct inst *in, uint32_t x, uint32_t y)
{
    return HOUT(H(x) + H(y));
}

static inline uint32_t sub_h(const struct inst *in, uint32_t x, uint32_t y)
{
    return HOUT(H(x) - H(y));
}

static inline uint32_t mul_h(const struct inst *in, uint32_t x, uint32_t y)
{
    return HOUT(H(x) * H(y));
}

static inline uint32_t fma_h(const struct inst *in, uint32_t x, uint32_t y, uint32_t z)
{
    return HOUT(odd_sum_f32(H(x) * H(y), H(z))); /* f32 holds the product */
}

static inline uint32_t add_b(const struct inst *in, uint32_t x, uint32_t y)
{
    return BOUT(odd_sum(B(x), B(y)));
}

static inline uint32_t sub_b(const struct inst *in, uint32_t x, uint32_t y)
{
    return BOUT(odd_sum(B(x), -B(y)));
}

static inline uint32_t mul_b(const struct inst *in, uint32_t x, uint32_t y)
{
    return BOUT(B(x) * B(y));
}

static inline uint32_t fma_b(const struct inst *in, uint32_t x, uint32_t y, uint32_t z)
{
    return BOUT(odd_sum(B(x) * B(y), B(z)));
}

/* sub: bit 0 max, bit 1 .nan, bit 2 .xorsign.abs */
static inline uint32_t minmax(const struct inst *in, uint32_t x, uint32_t y, float fx, float fy)
{
    bool nx = fx != fx, ny = fy != fy;
    if (in->sub & 4 ? false : nx && ny)
        return 0x7fffu;
    if (in->sub & 2 && (nx || ny))
        return 0x7fffu;
    if (nx || ny)
        return nx ? (ny ? 0x7fffu : y) : x;
    if (fx == fy)
        return in->sub & 1 ? x & y : x | y;
    return (in->sub & 1 ? fx > fy : fx < fy) ? x : y;
}

static inline uint32_t minmax_h(const struct inst *in, uint32_t x, uint32_t y)
{
    x = half_ftz(in, x & 0xffffu), y = half_ftz(in, y & 0xffffu);
    uint32_t sign = in->sub & 4 ? (x ^ y) & 0x8000u : 0;
    if (in->sub & 4)
        x &= 0x7fffu, y &= 0x7fffu;
    uint32_t r = minmax(in, x, y, half_f32(x), half_f32(y));
    return (r & 0x7fffu) > 0x7c00u ? r : r | sign; /* a NaN stays what it is */
}

static inline uint32_t minmax_b(const struct inst *in, uint32_t x, uint32_t y)
{
    x &= 0xffffu, y &= 0xffffu;
    uint32_t sign = in->sub & 4 ? (x ^ y) & 0x8000u : 0;
    if (in->sub & 4)
        x &= 0x7fffu, y &= 0x7fffu;
    uint32_t r = minmax(in, x, y, bf16_f32(x), bf16_f32(y));
    return (r & 0x7fffu) > 0x7f80u ? r : r | sign;
}

static inline uint32_t neg_h(const struct inst *in, uint32_t x)
{
    return (x & 0x7fffu) > 0x7c00u ? 0x7fffu : half_ftz(in, x & 0xffffu) ^ 0x8000u;
}

static inline uint32_t abs_h(const struct inst *in, uint32_t x)
{
    return (x & 0x7fffu) > 0x7c00u ? 0x7fffu : half_ftz(in, x & 0xffffu) & 0x7fffu;
}

static inline uint32_t neg_b(const struct inst *in, uint32_t x)
{
    return (x & 0x7fffu) > 0x7f80u ? 0x7fffu : (x & 0xffffu) ^ 0x8000u;
}

static inline uint32_t abs_b(const struct inst *in, uint32_t x)
{
    return (x & 0x7fffu) > 0x7f80u ? 0x7fffu : x & 0x7fffu;
}

/* An H100's results are cut, not rounded: of the forms' 2048 cases ex2 of f16 gives the same bits
 * in all, ex2 of bf16 but for 5, tanh of f16 but for 94, tanh of bf16 but for 18
 * (keet-conform-gpu). */
static inline uint32_t ex2_h(const struct inst *in, uint32_t x)
{
    return half_out(in, half_cut_f32(exp2f(H(x))));
}

static inline uint32_t tanh_h(const struct inst *in, uint32_t x)
{
    return half_out(in, half_cut_f32(tanhf(H(x))));
}

static inline uint32_t ex2_b(const struct inst *in, uint32_t x)
{
    return bf16_cut_f32(exp2f(bf16_f32(x & 0xffffu)));
}

static inline uint32_t tanh_b(const struct inst *in, uint32_t x)
{
    /* of sixteen bits of fraction */
    const uint32_t bits = lanes_bits(tanhf(bf16_f32(x & 0xffffu)));
    return bf16_cut_f32(lanes_f32((bits + 0x3fu + (bits >> 7 & 1)) & ~0x7fu));
}

#define HALF1(fn)                                                                                  \
    LANE_OP1(fn##_1, uint32_t, uint32_t, uint32_t, uint32_t, fn(in, x))                            \
    LANE_OP1(fn##_2, uint32_t, uint32_t, uint32_t, uint32_t, fn(in, x) | fn(in, x >> 16) << 16)
#define HALF2(fn)                                                                                  \
    LANE_OP2(fn##_1, uint32_t, uint32_t, uint32_t, uint32_t, fn(in, x, y))                         \
    LANE_OP2(fn##_2, uint32_t, uint32_t, uint32_t, uint32_t,                                       \
        fn(in, x, y) | fn(in, x >> 16, y >> 16) << 16)
#define HALF3(fn)                                                                                  \
    LANE_OP3(fn##_1, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, fn(in, x, y, z))            \
    LANE_OP3(fn##_2, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,                             \
        fn(in, x, y, z) | fn(in, x >> 16, y >> 16, z >> 16) << 16)
HALF2(add_h)
HALF2(sub_h)
HALF2(mul_h)
HALF3(fma_h)
HALF2(add_b)
HALF2(sub_b)
HALF2(mul_b)
HALF3(fma_b)
HALF2(minmax_h)
HALF2(minmax_b)
HALF1(neg_h)
HALF1(abs_h)
HALF1(neg_b)
HALF1(abs_b)
HALF1(ex2_h)
HALF1(tanh_h)
HALF1(ex2_b)
HALF1(tanh_b)

#ifdef __F16C__
/* f16x2 without modifiers, 16 values at a time, by the machine's own conversions. */
static inline __m256 odd_sum_8(__m256 a, __m256 b)
{
    const __m256 s = _mm256_add_ps(a, b), bb = _mm256_sub_ps(s, a);
    const __m256 lost = _mm256_add_ps(_mm256_sub_ps(a, _mm256_sub_ps(s, bb)), _mm256_sub_ps(b, bb));
    /* not where s is infinite or NaN: lost is a NaN there */
    const __m256i inexact =
                      _mm256_castps_si256(_mm256_cmp_ps(lost, _mm256_setzero_ps(), _CMP_NEQ_OQ)),
                  bits = _mm256_castps_si256(s),
                  fix = _mm256_andnot_si256(bits, _mm256_and_si256(inexact, _mm256_set1_epi32(1))),
                  down = _mm256_srai_epi32(_mm256_castps_si256(_mm256_xor_ps(lost, s)), 31);
    return _mm256_castsi256_ps(
        _mm256_add_epi32(bits, _mm256_sub_epi32(_mm256_xor_si256(fix, down), down)));
}

static inline __m256 half_8(const uint8_t *row, unsigned at)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(row + at)));
}

static inline __m128i half_from_8(__m256 v)
{
    const __m128i h = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                  size = _mm_and_si128(h, _mm_set1_epi16(0x7fff)),
                  nan = _mm_cmpgt_epi16(size, _mm_set1_epi16(0x7c00));
    return _mm_blendv_epi8(h, _mm_set1_epi16(0x7fff), nan);
}

#define HALF_FAST(fn, expr)                                                                        \
    static void fn##_fast(uint8_t *file, const struct inst *in, uint32_t mask)                     \
    {                                                                                              \
        const uint8_t *a = file + in->a, *b = file + in->b,                                        \
                      *c = file + (in->c == NO_ROW ? 0 : in->c);                                   \
        uint8_t *d = file + in->d;                                                                 \
        if (mask != FULL_MASK) {                                                                   \
            fn##_2(file, in, mask);                                                                \
            return;                                                                                \
        }                                                                                          \
        (void)c;                                                                                   \
        for (unsigned at = 0; at < 4 * WARP_LANES; at += 16) {                                     \
            const __m256 x = half_8(a, at), y = half_8(b, at);                                     \
            _mm_storeu_si128((__m128i *)(d + at), half_from_8(expr));                              \
        }                                                                                          \
    }
HALF_FAST(add_h, _mm256_add_ps(x, y))
HALF_FAST(sub_h, _mm256_sub_ps(x, y))
HALF_FAST(mul_h, _mm256_mul_ps(x, y))
HALF_FAST(fma_h, odd_sum_8(_mm256_mul_ps(x, y), half_8(c, at)))

#define FAST_LOOP(name) name##_h_fast
#else
#define FAST_LOOP(name) NULL
#endif

/* The words of ops.def for f16, f16x2, bf16, bf16x2. HALVES: a loop for each type. FAST: the same,
 * and a faster loop for f16x2 without modifiers. */
#define LOOPS(fast, h, b)                                                                          \
    {                                                                                              \
        fast, h##_1, h##_2, b##_1, b##_2                                                           \
    }
#define HALVES(name) LOOPS(NULL, name##_h, name##_b)
#define FAST(name) LOOPS(FAST_LOOP(name), name##_h, name##_b)
#define BY_TYPE(integers, floats, halves, pairs) halves

sem_fn *LANES(sem_half)(const struct ptx_inst *p, struct inst *in)
{
    static const struct {
        sem_fn *fast, *f16, *f16x2, *bf16, *bf16x2;
    } meanings[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    in->sub = (uint8_t)((p->op == PTX_OP_MAX ? 1 : 0) | (p->nan ? 2 : 0) | (p->xorsign ? 4 : 0) |
                        (p->relu ? 8 : 0));
    switch (p->type) {
    case PTX_F16:
        return meanings[p->op].f16;
    case PTX_BF16:
        return meanings[p->op].bf16;
    case PTX_BF16X2:
        return meanings[p->op].bf16x2;
    default:
        break;
    }
    const bool modified = p->relu || in->flags & (INST_FTZ | INST_SAT);
    return meanings[p->op].fast && !modified ? meanings[p->op].fast : meanings[p->op].f16x2;
}
