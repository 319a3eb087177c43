/* Owns what moves and chooses: copies, packs, selp, slct, comparisons into predicates, space tests.
 */
#include "emu/sem/lanes.h"
#include "emu/state/windows.h"

LANE_OP1(copy32, uint32_t, uint32_t, uint32_t, uint32_t, x)
LANE_OP1(copy64, uint64_t, uint64_t, uint64_t, uint64_t, x)
LANE_OP1(copy16, uint32_t, uint16_t, uint32_t, uint32_t, x)
LANE_OP1(narrow64_32, uint32_t, uint32_t, uint64_t, uint64_t, x)
LANE_OP1(widen32_64, uint64_t, uint64_t, uint32_t, uint32_t, x)
LANE_OP1(widen32_64_signed, uint64_t, uint64_t, uint32_t, int32_t, x)
LANE_OP1(widen16_32_signed, uint32_t, uint32_t, uint32_t, int16_t, x)

static void copy_pred(uint8_t *file, const struct inst *in, uint32_t mask)
{
    uint32_t *d = (uint32_t *)(file + in->d);
    *d = (*d & ~mask) | (*(const uint32_t *)(file + in->a) & mask);
}

/* Packs: in->rows are the sources, the lowest part first. Unpacks: in->rows are the destinations.
 */
#define PACK_OP(name, D, S, nr, bits)                                                              \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d), r[32] = {0};                                                   \
        for (unsigned i = 0; i < (nr); i++) {                                                      \
            const S *a = (const S *)(file + in->rows[i]);                                          \
            IVDEP for (unsigned l = 0; l < 32; l++) r[l] |= ((D)a[l] & (((D)1 << (bits)) - 1))     \
                                                            << (i * (bits));                       \
        }                                                                                          \
        IVDEP for (unsigned l = 0; l < 32; l++) d[l] = (mask >> l & 1) ? r[l] : d[l];              \
    }
#define UNPACK_OP(name, D, S, nr, bits)                                                            \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        S a[32];                                                                                   \
        memcpy(a, file + in->a, sizeof(a));                                                        \
        for (unsigned i = 0; i < (nr); i++) {                                                      \
            if (in->rows[i] == NO_ROW)                                                             \
                continue;                                                                          \
            D *d = (D *)(file + in->rows[i]);                                                      \
            IVDEP for (unsigned l = 0; l < 32; l++)                                                \
            {                                                                                      \
                D r = (D)(a[l] >> (i * (bits)) & (((S)1 << (bits)) - 1));                          \
                d[l] = (mask >> l & 1) ? r : d[l];                                                 \
            }                                                                                      \
        }                                                                                          \
    }
PACK_OP(pack8x2_16, uint32_t, uint32_t, 2, 8)
PACK_OP(pack16x2_32, uint32_t, uint32_t, 2, 16)
PACK_OP(pack32x2_64, uint64_t, uint32_t, 2, 32)
PACK_OP(pack16x4_64, uint64_t, uint32_t, 4, 16)
PACK_OP(pack8x4_32, uint32_t, uint32_t, 4, 8)
UNPACK_OP(unpack16_8x2, uint32_t, uint32_t, 2, 8)
UNPACK_OP(unpack32_16x2, uint32_t, uint32_t, 2, 16)
UNPACK_OP(unpack64_32x2, uint32_t, uint64_t, 2, 32)
UNPACK_OP(unpack64_16x4, uint32_t, uint64_t, 4, 16)
UNPACK_OP(unpack32_8x4, uint32_t, uint32_t, 4, 8)

static void select_pair(uint8_t *file, const struct inst *in, uint32_t mask)
{
    uint32_t lo = *(const uint32_t *)(file + in->a), hi = *(const uint32_t *)(file + in->b);
    uint32_t *d = (uint32_t *)(file + in->d), yes = (uint32_t)in->imm;
    for (unsigned l = 0; l < 32; l++) {
        uint32_t r = (lo >> l & 1 ? yes : 0) | (hi >> l & 1 ? yes << 16 : 0);
        d[l] = (mask >> l & 1) ? r : d[l];
    }
}

sem_fn *LANES(sem_moves)(enum sem_move move)
{
    static sem_fn *const table[NR_SEM_MOVES] = {
        [SEM_COPY32] = copy32,
        [SEM_COPY64] = copy64,
        [SEM_COPY_PRED] = copy_pred,
        [SEM_COPY16] = copy16,
        [SEM_NARROW64_32] = narrow64_32,
        [SEM_WIDEN32_64] = widen32_64,
        [SEM_WIDEN32_64_SIGNED] = widen32_64_signed,
        [SEM_WIDEN16_32_SIGNED] = widen16_32_signed,
        [SEM_PACK8X2_16] = pack8x2_16,
        [SEM_PACK16X2_32] = pack16x2_32,
        [SEM_PACK32X2_64] = pack32x2_64,
        [SEM_PACK16X4_64] = pack16x4_64,
        [SEM_PACK8X4_32] = pack8x4_32,
        [SEM_UNPACK16_8X2] = unpack16_8x2,
        [SEM_UNPACK32_16X2] = unpack32_16x2,
        [SEM_UNPACK64_32X2] = unpack64_32x2,
        [SEM_UNPACK64_16X4] = unpack64_16x4,
        [SEM_UNPACK32_8X4] = unpack32_8x4,
        [SEM_SELECT_PAIR] = select_pair,
    };
    return table[move];
}

/* selp: c is a predicate word; INST_NEGATE_C negates it */
#define SELECT_OP(name, T)                                                                         \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        T *d = (T *)(file + in->d);                                                                \
        const T *a = (const T *)(file + in->a), *b = (const T *)(file + in->b);                    \
        uint32_t p = *(const uint32_t *)(file + in->c);                                            \
        p = in->flags & INST_NEGATE_C ? ~p : p;                                                    \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            T r = (p >> l & 1) ? a[l] : b[l];                                                      \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
SELECT_OP(select32, uint32_t)
SELECT_OP(select64, uint64_t)

/* slct: c >= 0 ? a : b; c is s32, or f32 (INST_FTZ; NaN chooses b) */
#define SLCT_OP(name, T)                                                                           \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        T *d = (T *)(file + in->d);                                                                \
        const T *a = (const T *)(file + in->a), *b = (const T *)(file + in->b);                    \
        const uint32_t *c = (const uint32_t *)(file + in->c);                                      \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            uint32_t z = in->flags & INST_FTZ ? lanes_ftz(c[l]) : c[l];                            \
            bool first = in->sub ? lanes_f32(z) >= 0 : (int32_t)c[l] >= 0;                         \
            T r = first ? a[l] : b[l];                                                             \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
SLCT_OP(slct32, uint32_t)
SLCT_OP(slct64, uint64_t)

/* setp. sub: which of less 1, equal 2, greater 4, unordered 8 make it true. imm: enum ptx_bool that
 * combines with predicate c. d: the result, d2 (or NO_ROW): its complement, combined likewise. */
static uint32_t combine(const struct inst *in, uint32_t p, uint32_t c)
{
    switch (in->imm) {
    case PTX_BOOL_AND:
        return p & c;
    case PTX_BOOL_OR:
        return p | c;
    case PTX_BOOL_XOR:
        return p ^ c;
    default:
        return p;
    }
}

static void set_pred(
    uint8_t *file, const struct inst *in, uint32_t mask, uint32_t lt, uint32_t eq, uint32_t un)
{
    uint32_t gt = ~(lt | eq | un);
    uint32_t p = (in->sub & 1 ? lt : 0) | (in->sub & 2 ? eq : 0) | (in->sub & 4 ? gt : 0) |
                 (in->sub & 8 ? un : 0);
    uint32_t c = in->c == NO_ROW ? 0 : *(const uint32_t *)(file + in->c);
    c = in->flags & INST_NEGATE_C ? ~c : c;
    uint32_t r = combine(in, p, c), not_r = combine(in, ~p, c);
    if (in->d != NO_ROW) {
        uint32_t *d = (uint32_t *)(file + in->d);
        *d = (*d & ~mask) | (r & mask);
    }
    if (in->d2 != NO_ROW) {
        uint32_t *d2 = (uint32_t *)(file + in->d2);
        *d2 = (*d2 & ~mask) | (not_r & mask);
    }
}

#define SETP_INT(name, S, C)                                                                       \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        const S *a = (const S *)(file + in->a), *b = (const S *)(file + in->b);                    \
        uint32_t lt = 0, eq = 0;                                                                   \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            lt |= (C)a[l] < (C)b[l] ? 1u << l : 0;                                                 \
            eq |= (C)a[l] == (C)b[l] ? 1u << l : 0;                                                \
        }                                                                                          \
        set_pred(file, in, mask, lt, eq, 0);                                                       \
    }
SETP_INT(setp_u16, uint32_t, uint16_t)
SETP_INT(setp_s16, uint32_t, int16_t)
SETP_INT(setp_u64, uint64_t, uint64_t)
SETP_INT(setp_s64, uint64_t, int64_t)

/* Words are compared eight at a time where a lane's bit of a vector comes with one instruction. */
#ifdef __AVX2__
#define SETP_WORD(name, C)                                                                         \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        typedef C eight __attribute__((vector_size(32)));                                          \
        uint32_t lt = 0, eq = 0;                                                                   \
        for (unsigned l = 0; l < WARP_LANES; l += 8) {                                             \
            eight a, b;                                                                            \
            memcpy(&a, file + in->a + 4 * l, sizeof(a));                                           \
            memcpy(&b, file + in->b + 4 * l, sizeof(b));                                           \
            lt |= (uint32_t)_mm256_movemask_ps((__m256)(a < b)) << l;                              \
            eq |= (uint32_t)_mm256_movemask_ps((__m256)(a == b)) << l;                             \
        }                                                                                          \
        set_pred(file, in, mask, lt, eq, 0);                                                       \
    }
#else
#define SETP_WORD(name, C) SETP_INT(name, uint32_t, C)
#endif
SETP_WORD(setp_u32, uint32_t)
SETP_WORD(setp_s32, int32_t)

static inline float half_value(uint32_t bits)
{
    uint32_t magnitude = (bits & 0x7fffu) << 13;
    uint32_t finite = lanes_bits(lanes_f32(magnitude) * 0x1p112f);
    uint32_t r = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
    return lanes_f32(r | (bits & 0x8000u) << 16);
}

static inline uint32_t half_flush(const struct inst *in, uint32_t h)
{
    return in->flags & INST_FTZ && !(h & 0x7c00u) ? h & 0x8000u : h;
}

#define SETP_FLOAT(name, S, V, value)                                                              \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        const S *a = (const S *)(file + in->a), *b = (const S *)(file + in->b);                    \
        uint32_t lt = 0, eq = 0, un = 0;                                                           \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            V x = value(a[l]), y = value(b[l]);                                                    \
            lt |= x < y ? 1u << l : 0;                                                             \
            eq |= x == y ? 1u << l : 0;                                                            \
            un |= x != x || y != y ? 1u << l : 0;                                                  \
        }                                                                                          \
        set_pred(file, in, mask, lt, eq, un);                                                      \
    }
#define VALUE_F32_FTZ(x) lanes_f32(lanes_ftz(x))
#define VALUE_F16(x) half_value(half_flush(in, (x)&0xffffu))
#define VALUE_BF16(x) lanes_f32((x) << 16)
SETP_FLOAT(setp_f32, uint32_t, float, lanes_f32)
SETP_FLOAT(setp_f32_ftz, uint32_t, float, VALUE_F32_FTZ)
SETP_FLOAT(setp_f64, uint64_t, double, lanes_f64)
SETP_FLOAT(setp_f16, uint32_t, float, VALUE_F16)
SETP_FLOAT(setp_bf16, uint32_t, float, VALUE_BF16)

/* setp.f16x2, bf16x2: d from the low halves, d2 from the high ones. */
static void setp_pair(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *a = (const uint32_t *)(file + in->a), *b = (const uint32_t *)(file + in->b);
    bool bf = in->type == PTX_BF16X2;
    for (unsigned i = 0; i < 2; i++) {
        /* the predicate with which both combine may be one of the results: that result comes last
         */
        const unsigned half = in->d == in->c ? 1 - i : i;
        uint32_t lt = 0, eq = 0, un = 0;
        for (unsigned l = 0; l < 32; l++) {
            uint32_t xh = a[l] >> (16 * half) & 0xffffu, yh = b[l] >> (16 * half) & 0xffffu;
            float x = bf ? VALUE_BF16(xh) : VALUE_F16(xh), y = bf ? VALUE_BF16(yh) : VALUE_F16(yh);
            lt |= x < y ? 1u << l : 0;
            eq |= x == y ? 1u << l : 0;
            un |= x != x || y != y ? 1u << l : 0;
        }
        struct inst one = *in;
        one.d = half ? in->d2 : in->d;
        one.d2 = NO_ROW;
        set_pred(file, &one, mask, lt, eq, un);
    }
}

static uint8_t truth(enum ptx_cmp cmp)
{
    static const uint8_t table[] = {[PTX_EQ] = 2,
        [PTX_NE] = 5,
        [PTX_LT] = 1,
        [PTX_LE] = 3,
        [PTX_GT] = 4,
        [PTX_GE] = 6,
        [PTX_LO] = 1,
        [PTX_LS] = 3,
        [PTX_HI] = 4,
        [PTX_HS] = 6,
        [PTX_EQU] = 10,
        [PTX_NEU] = 13,
        [PTX_LTU] = 9,
        [PTX_LEU] = 11,
        [PTX_GTU] = 12,
        [PTX_GEU] = 14,
        [PTX_NUM] = 7,
        [PTX_NAN] = 8};
    return table[cmp];
}

static sem_fn *pick_setp(const struct ptx_inst *p, struct inst *in, enum ptx_type type)
{
    static sem_fn *const ints[6] = {setp_u16, setp_s16, setp_u32, setp_s32, setp_u64, setp_s64};
    in->sub = truth(p->cmp);
    in->imm = p->boolop;
    switch (type) {
    case PTX_F32:
        return p->ftz ? setp_f32_ftz : setp_f32;
    case PTX_F64:
        return setp_f64;
    case PTX_F16:
        return setp_f16;
    case PTX_BF16:
        return setp_bf16;
    case PTX_F16X2:
    case PTX_BF16X2:
        return setp_pair;
    default:
        break;
    }
    int i = lanes_int_index(type);
    if (i < 0)
        return NULL;
    bool as_unsigned = p->cmp >= PTX_LO && p->cmp <= PTX_HS;
    return ints[as_unsigned ? i & ~1 : i];
}

/* isspacep: sub: enum ptx_space; imm: of shared memory, the block's own only */
static void isspacep(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint64_t *a = (const uint64_t *)(file + in->a);
    uint32_t *d = (uint32_t *)(file + in->d), r = 0;
    for (unsigned l = 0; l < 32; l++) {
        bool shared = a[l] - WINDOW_SHARED < WINDOW_BYTES;
        bool other = shared && (a[l] - WINDOW_SHARED) >> CLUSTER_SHIFT;
        bool local = a[l] - WINDOW_LOCAL < WINDOW_BYTES;
        bool yes = in->sub == PTX_SHARED  ? shared && !(in->imm && other)
                   : in->sub == PTX_LOCAL ? local
                                          : in->sub == PTX_GLOBAL && !shared && !local;
        r |= (uint32_t)yes << l;
    }
    *d = (*d & ~mask) | (r & mask);
}

/* mapa: a: an address in the window of shared memory, or (reg_bytes 4) in shared memory itself; b:
 * the rank of a block; c: the own rank. The block's own memory has plain offsets. */
static void mapa(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *rank = (const uint32_t *)(file + in->b),
                   *own = (const uint32_t *)(file + in->c);
    for (unsigned l = 0; l < 32; l++) {
        const uint32_t above = rank[l] == own[l] ? 0 : (rank[l] + 1) << CLUSTER_SHIFT;
        if (!(mask >> l & 1))
            continue;
        if (in->reg_bytes == 4) {
            const uint32_t a = ((const uint32_t *)(file + in->a))[l];
            ((uint32_t *)(file + in->d))[l] = (uint32_t)CLUSTER_OFFSET(a) | above;
        } else {
            const uint64_t a = ((const uint64_t *)(file + in->a))[l];
            ((uint64_t *)(file + in->d))[l] =
                (a & ~(uint64_t)UINT32_MAX) | CLUSTER_OFFSET(a) | above;
        }
    }
}

static void getctarank(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *own = (const uint32_t *)(file + in->c);
    for (unsigned l = 0; l < 32; l++) {
        const uint32_t a = in->reg_bytes == 4 ? ((const uint32_t *)(file + in->a))[l]
                                              : (uint32_t)((const uint64_t *)(file + in->a))[l];
        if (mask >> l & 1)
            ((uint32_t *)(file + in->d))[l] =
                a >> CLUSTER_SHIFT ? (a >> CLUSTER_SHIFT) - 1 : own[l];
    }
}

static void activemask(uint8_t *file, const struct inst *in, uint32_t mask)
{
    uint32_t *d = (uint32_t *)(file + in->d);
    for (unsigned l = 0; l < 32; l++)
        d[l] = (mask >> l & 1) ? mask : d[l];
}

sem_fn *LANES(sem_selp)(const struct ptx_inst *p, struct inst *in)
{
    return ptx_type_bytes(p->type) == 8 ? select64 : select32;
}

sem_fn *LANES(sem_slct)(const struct ptx_inst *p, struct inst *in)
{
    in->sub = p->type2 == PTX_F32;
    return ptx_type_bytes(p->type) == 8 ? slct64 : slct32;
}

sem_fn *LANES(sem_setp)(const struct ptx_inst *p, struct inst *in)
{
    return pick_setp(p, in, p->type);
}

sem_fn *LANES(sem_set)(const struct ptx_inst *p, struct inst *in)
{
    return pick_setp(p, in, p->type2);
}

sem_fn *LANES(sem_isspacep)(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->space;
    in->imm = !strstr(p->mods, "::cluster");
    return isspacep;
}

sem_fn *LANES(sem_mapa)(const struct ptx_inst *p, struct inst *in)
{
    return mapa;
}

sem_fn *LANES(sem_getctarank)(const struct ptx_inst *p, struct inst *in)
{
    return getctarank;
}

sem_fn *LANES(sem_activemask)(const struct ptx_inst *p, struct inst *in)
{
    return activemask;
}
