/* For the sem_*.c files: what an operation does to 32 lanes, written as plain loops that compilers
 * vectorise. Each sem file is compiled several times, once per instruction set (CMakeLists.txt
 * defines KEET_LANES), and exports functions that pick the loop for a PTX instruction,
 * LANES(sem_x). sem_find.c asks the one that the operation's row in ptx/ops.def names;
 * exec/variants.c chooses the instruction set at run time.
 *
 * Aliasing: a destination row may be a source row, element by element, never shifted: IVDEP says
 * so. */
#ifndef KEET_EMU_SEM_LANES_H
#define KEET_EMU_SEM_LANES_H

#include "emu/sem/sem.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef KEET_LANES
#define KEET_LANES base
#endif
#define LANES_JOIN2(a, b) a##_##b
#define LANES_JOIN(a, b) LANES_JOIN2(a, b)
#define LANES(name) LANES_JOIN(name, KEET_LANES)

#if defined(__clang__)
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

#define FULL_MASK 0xffffffffu

/* Picks the loop; NULL: there is none. May set in->sub and in->imm. */
typedef sem_fn *sem_pick(const struct ptx_inst *p, struct inst *in);
sem_pick LANES(sem_find); /* sem_find.c: any operation */
sem_pick LANES(sem_int), LANES(sem_pred), LANES(sem_float), LANES(sem_half), LANES(sem_pairs);
sem_pick LANES(sem_set), LANES(sem_setp), LANES(sem_selp), LANES(sem_slct), LANES(sem_isspacep),
    LANES(sem_mapa), LANES(sem_getctarank), LANES(sem_activemask), LANES(sem_cvt), LANES(sem_pack),
    LANES(sem_fp8), LANES(sem_video), LANES(sem_product), LANES(sem_movmatrix), LANES(sem_shfl),
    LANES(sem_vote);
sem_fn *LANES(sem_moves)(enum sem_move move);

/* The columns of ops.def that say nothing to the files whose tables go by type. */
#define NO                                                                                         \
    {                                                                                              \
        0                                                                                          \
    }
#define LOOP(name) NO
#define VIDEO(what, parts) NO
#define TOGETHER(name) NO
#define NO_LOOP NO

/* What expressions may ask of an instruction, in a copy that no row can overlap, so that the loops
 * vectorise. */
static inline struct inst lanes_own(const struct inst *in)
{
    return (struct inst){.flags = in->flags,
        .sub = in->sub,
        .type = in->type,
        .imm = in->imm,
        .target = in->target,
        .elem_bytes = in->elem_bytes,
        .reg_bytes = in->reg_bytes};
}

/* Functions of one, two and three sources. S: element of the source rows, D: of the destination
 * row; C: the type in which x, y, z are seen; U: the unsigned type of the result's width, so that
 * 16-bit results stay zero-extended. */
#define LANE_OP1(name, D, U, S, C, expr)                                                           \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const S *a = (const S *)(file + in->a);                                                    \
        const struct inst own = lanes_own(in);                                                     \
        in = &own;                                                                                 \
        if (mask == FULL_MASK) {                                                                   \
            IVDEP for (unsigned l = 0; l < 32; l++)                                                \
            {                                                                                      \
                C x = (C)a[l];                                                                     \
                d[l] = (D)(U)(expr);                                                               \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            C x = (C)a[l];                                                                         \
            D r = (D)(U)(expr);                                                                    \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }

#define LANE_OP2(name, D, U, S, C, expr)                                                           \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const S *a = (const S *)(file + in->a), *b = (const S *)(file + in->b);                    \
        const struct inst own = lanes_own(in);                                                     \
        in = &own;                                                                                 \
        if (mask == FULL_MASK) {                                                                   \
            IVDEP for (unsigned l = 0; l < 32; l++)                                                \
            {                                                                                      \
                C x = (C)a[l], y = (C)b[l];                                                        \
                d[l] = (D)(U)(expr);                                                               \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            C x = (C)a[l], y = (C)b[l];                                                            \
            D r = (D)(U)(expr);                                                                    \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }

/* The third source has the destination's element (mad.wide); Z is the type in which it is seen. */
#define LANE_OP3(name, D, U, S, C, Z, expr)                                                        \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const S *a = (const S *)(file + in->a), *b = (const S *)(file + in->b);                    \
        const D *c = (const D *)(file + in->c);                                                    \
        const struct inst own = lanes_own(in);                                                     \
        in = &own;                                                                                 \
        if (mask == FULL_MASK) {                                                                   \
            IVDEP for (unsigned l = 0; l < 32; l++)                                                \
            {                                                                                      \
                C x = (C)a[l], y = (C)b[l];                                                        \
                Z z = (Z)c[l];                                                                     \
                d[l] = (D)(U)(expr);                                                               \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            C x = (C)a[l], y = (C)b[l];                                                            \
            Z z = (Z)c[l];                                                                         \
            D r = (D)(U)(expr);                                                                    \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }

/* Index of an integer type in a table { u16, s16, u32, s32, u64, s64 }; -1 otherwise. */
static inline int lanes_int_index(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
    case PTX_B16:
        return 0;
    case PTX_S16:
        return 1;
    case PTX_U32:
    case PTX_B32:
        return 2;
    case PTX_S32:
        return 3;
    case PTX_U64:
    case PTX_B64:
        return 4;
    case PTX_S64:
        return 5;
    default:
        return -1;
    }
}

static inline float lanes_f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint32_t lanes_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static inline double lanes_f64(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, 8);
    return f;
}

static inline uint64_t lanes_bits64(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, 8);
    return bits;
}

/* d[l] = from[index[l] & 31], whatever overlaps. No compiler makes one instruction of a loop that
 * does this, so the instruction is written out. */
static inline void lanes_pick(uint32_t *d, const void *from, const int32_t *index)
{
#ifdef __AVX512F__
    const __m512i low = _mm512_loadu_si512(from),
                  high = _mm512_loadu_si512((const char *)from + 64),
                  first = _mm512_loadu_si512(index), second = _mm512_loadu_si512(index + 16);
    _mm512_storeu_si512(d, _mm512_permutex2var_epi32(low, first, high));
    _mm512_storeu_si512(d + 16, _mm512_permutex2var_epi32(low, second, high));
#elif defined(__AVX2__)
    /* bits 0 to 2 of an index name a word of each eight, bits 3 and 4 which eight */
    const __m256i *words = from;
    const __m256i row[4] = {_mm256_loadu_si256(words), _mm256_loadu_si256(words + 1),
        _mm256_loadu_si256(words + 2), _mm256_loadu_si256(words + 3)};
    for (unsigned q = 0; q < 4; q++) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)index + q);
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)),
                     last = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
        __m256 word[4];
        for (unsigned r = 0; r < 4; r++)
            word[r] = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(row[r], at));
        const __m256 both = _mm256_blendv_ps(_mm256_blendv_ps(word[0], word[1], upper),
            _mm256_blendv_ps(word[2], word[3], upper), last);
        _mm256_storeu_si256((__m256i *)d + q, _mm256_castps_si256(both));
    }
#else
    uint32_t row[WARP_LANES], v[WARP_LANES];
    memcpy(row, from, sizeof(row));
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = row[index[l] & 31];
    memcpy(d, v, sizeof(v));
#endif
}

/* The same for values of 8 bytes, of which a row of 128 bytes holds 16; index still counts words.
 */
static inline void lanes_pick8(uint64_t *d, const void *from, const int32_t *index)
{
#ifdef __AVX512F__
    const __m512i low = _mm512_loadu_si512(from),
                  high = _mm512_loadu_si512((const char *)from + 64);
    for (unsigned l = 0; l < WARP_LANES; l += 8) {
        const __m256i words = _mm256_loadu_si256((const __m256i *)(index + l));
        const __m512i at = _mm512_cvtepi32_epi64(_mm256_srli_epi32(words, 1));
        _mm512_storeu_si512(d + l, _mm512_permutex2var_epi64(low, at, high));
    }
#else
    uint64_t row[WARP_LANES / 2], v[WARP_LANES];
    memcpy(row, from, sizeof(row));
    for (unsigned l = 0; l < WARP_LANES; l++)
        v[l] = row[(index[l] >> 1) & 15];
    memcpy(d, v, sizeof(v));
#endif
}

/* The host's rounding mode, for fesetround. */
static inline int lanes_rounding(enum ptx_round round)
{
    switch (round) {
    case PTX_RZ:
    case PTX_RZI:
        return FE_TOWARDZERO;
    case PTX_RM:
    case PTX_RMI:
        return FE_DOWNWARD;
    case PTX_RP:
    case PTX_RPI:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

/* A subnormal becomes a zero of its sign. */
static inline uint32_t lanes_ftz(uint32_t bits)
{
    return (bits & 0x7f800000u) ? bits : bits & 0x80000000u;
}

/* f32 results that are NaN are the chip's canonical one. */
static inline uint32_t lanes_nan32(float f)
{
    return f != f ? 0x7fffffffu : lanes_bits(f);
}

#endif
