/* Owns what each opcode takes: operands, types, modifiers. Source: the syntax lines of the PTX
 * ISA 9.0 manual, chapter 9.7. */
#include "ptx/words.h"

#include <string.h>

#define ON(bit) (UINT64_C(1) << (bit))

_Static_assert(NR_FIELDS <= 64, "a set of fields is one word");

static const struct form forms[NR_PTX_OPS] = {
    [PTX_OP_ADD] = {"t=tt", "ifh", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FLAG_cc), 0},
    [PTX_OP_SUB] = {"t=tt", "ifH", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FLAG_cc), 0},
    [PTX_OP_MUL] = {"w=tt", "ifH", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FIELD_MUL), 0},
    [PTX_OP_MAD] = {"w=ttw", "if", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FIELD_MUL) |
            ON(FLAG_cc),
        0},
    [PTX_OP_FMA] = {"t=ttt", "fH", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FLAG_relu),
        ON(FIELD_ROUND)},
    [PTX_OP_DIV] = {"t=tt", "if", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_approx) | ON(FLAG_full), 0},
    [PTX_OP_MIN] = {"t=tt", "ifh", 1, 1,
        ON(FIELD_TYPE) | ON(FLAG_ftz) | ON(FLAG_nan) | ON(FLAG_xorsign) | ON(FLAG_abs) |
            ON(FLAG_relu),
        0},
    [PTX_OP_MAX] = {"t=tt", "ifh", 1, 1,
        ON(FIELD_TYPE) | ON(FLAG_ftz) | ON(FLAG_nan) | ON(FLAG_xorsign) | ON(FLAG_abs) |
            ON(FLAG_relu),
        0},
    [PTX_OP_ABS] = {"t=t", "sfH", 1, 1, ON(FIELD_TYPE) | ON(FLAG_ftz), 0},
    [PTX_OP_NEG] = {"t=t", "sfH", 1, 1, ON(FIELD_TYPE) | ON(FLAG_ftz), 0},
    [PTX_OP_REM] = {"t=tt", "i", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_MAD24] = {"t=ttt", "u", 1, 1, ON(FIELD_TYPE) | ON(FIELD_MUL) | ON(FLAG_sat),
        ON(FIELD_MUL)},
    [PTX_OP_MUL24] = {"t=tt", "u", 1, 1, ON(FIELD_TYPE) | ON(FIELD_MUL), ON(FIELD_MUL)},
    [PTX_OP_ADDC] = {"t=tt", "I", 1, 1, ON(FIELD_TYPE) | ON(FLAG_cc), 0},
    [PTX_OP_SUBC] = {"t=tt", "I", 1, 1, ON(FIELD_TYPE) | ON(FLAG_cc), 0},
    [PTX_OP_MADC] = {"t=ttt", "I", 1, 1, ON(FIELD_TYPE) | ON(FIELD_MUL) | ON(FLAG_cc),
        ON(FIELD_MUL)},
    [PTX_OP_SAD] = {"t=ttt", "i", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_DP4A] = {"u=uuu", "u", 2, 2, ON(FIELD_TYPE), 0},
    [PTX_OP_DP2A] = {"u=uuu", "u", 2, 2, ON(FIELD_TYPE) | ON(FIELD_MUL), ON(FIELD_MUL)},
    [PTX_OP_AND] = {"t=tt", "pb", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_OR] = {"t=tt", "pb", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_XOR] = {"t=tt", "pb", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_NOT] = {"t=t", "pb", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_CNOT] = {"t=t", "b", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_LOP3] = {"t|p=tttn?p", "B", 1, 1, ON(FIELD_TYPE) | ON(FIELD_BOOL), 0},
    [PTX_OP_SHL] = {"t=tu", "b", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_SHR] = {"t=tu", "bi", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_SHF] = {"u=uuu", "B", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SHFL) | ON(FLAG_wrap) | ON(FLAG_clamp), ON(FIELD_SHFL)},
    [PTX_OP_BFE] = {"t=tuu", "I", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_BFI] = {"t=ttuu", "W", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_BFIND] = {"u=t", "I", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SUB), 0},
    [PTX_OP_BREV] = {"t=t", "W", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_BMSK] = {"u=uu", "B", 1, 1, ON(FIELD_TYPE) | ON(FLAG_clamp) | ON(FLAG_wrap), 0},
    [PTX_OP_CLZ] = {"u=t", "W", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_POPC] = {"u=t", "W", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_FNS] = {"u=uuu", "B", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_SZEXT] = {"t=tu", "u", 1, 1, ON(FIELD_TYPE) | ON(FLAG_clamp) | ON(FLAG_wrap), 0},
    [PTX_OP_PRMT] = {"u=uuu", "B", 1, 1, ON(FIELD_TYPE) | ON(FIELD_PRMT), 0},
#define SCALAR_VIDEO                                                                               \
    {                                                                                              \
        "u=uu?u", NULL, 3, 3, ON(FIELD_TYPE) | ON(FLAG_sat) | ON(FIELD_ATOM), 0                    \
    }
#define SHIFT_VIDEO                                                                                \
    {                                                                                              \
        "u=uu?u", NULL, 3, 3,                                                                      \
            ON(FIELD_TYPE) | ON(FLAG_sat) | ON(FIELD_ATOM) | ON(FLAG_wrap) | ON(FLAG_clamp), 0     \
    }
#define SIMD_VIDEO                                                                                 \
    {                                                                                              \
        "u=uuu", NULL, 3, 3, ON(FIELD_TYPE) | ON(FLAG_sat) | ON(FIELD_ATOM), 0                     \
    }
    [PTX_OP_VABSDIFF] = SCALAR_VIDEO,
    [PTX_OP_VADD] = SCALAR_VIDEO,
    [PTX_OP_VSUB] = SCALAR_VIDEO,
    [PTX_OP_VMIN] = SCALAR_VIDEO,
    [PTX_OP_VMAX] = SCALAR_VIDEO,
    [PTX_OP_VSET] = {"u=uu?u", NULL, 2, 2, ON(FIELD_TYPE) | ON(FIELD_ATOM) | ON(FIELD_CMP),
        ON(FIELD_CMP)},
    [PTX_OP_VSHL] = SHIFT_VIDEO,
    [PTX_OP_VSHR] = SHIFT_VIDEO,
    [PTX_OP_VMAD] = {"u=uuu", NULL, 3, 3,
        ON(FIELD_TYPE) | ON(FLAG_sat) | ON(FLAG_po) | ON(FLAG_shr7) | ON(FLAG_shr15), 0},
    [PTX_OP_VABSDIFF2] = SIMD_VIDEO,
    [PTX_OP_VABSDIFF4] = SIMD_VIDEO,
    [PTX_OP_VADD2] = SIMD_VIDEO,
    [PTX_OP_VADD4] = SIMD_VIDEO,
    [PTX_OP_VSUB2] = SIMD_VIDEO,
    [PTX_OP_VSUB4] = SIMD_VIDEO,
    [PTX_OP_VAVRG2] = SIMD_VIDEO,
    [PTX_OP_VAVRG4] = SIMD_VIDEO,
    [PTX_OP_VMIN2] = SIMD_VIDEO,
    [PTX_OP_VMIN4] = SIMD_VIDEO,
    [PTX_OP_VMAX2] = SIMD_VIDEO,
    [PTX_OP_VMAX4] = SIMD_VIDEO,
    [PTX_OP_VSET2] = {"u=uuu", NULL, 2, 2, ON(FIELD_TYPE) | ON(FIELD_ATOM) | ON(FIELD_CMP),
        ON(FIELD_CMP)},
    [PTX_OP_VSET4] = {"u=uuu", NULL, 2, 2, ON(FIELD_TYPE) | ON(FIELD_ATOM) | ON(FIELD_CMP),
        ON(FIELD_CMP)},
    [PTX_OP_SET] = {"t=22?p", NULL, 2, 2,
        ON(FIELD_TYPE) | ON(FIELD_CMP) | ON(FIELD_BOOL) | ON(FLAG_ftz), ON(FIELD_CMP)},
    [PTX_OP_SETP] = {"p|p=tt?p", "bifH", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_CMP) | ON(FIELD_BOOL) | ON(FLAG_ftz), ON(FIELD_CMP)},
    [PTX_OP_SLCT] = {"t=tt2", "bif", 2, 2, ON(FIELD_TYPE) | ON(FLAG_ftz), 0},
    [PTX_OP_SELP] = {"t=ttp", "bif", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_TESTP] = {"p=t", "f", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SUB), ON(FIELD_SUB)},
    [PTX_OP_COPYSIGN] = {"t=tt", "f", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_RCP] = {"t=t", "f", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_approx) | ON(FLAG_ftz), 0},
    [PTX_OP_SQRT] = {"t=t", "f", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_approx) | ON(FLAG_ftz), 0},
    [PTX_OP_RSQRT] = {"t=t", "f", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx) | ON(FLAG_ftz),
        ON(FLAG_approx)},
    [PTX_OP_SIN] = {"t=t", "F", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx) | ON(FLAG_ftz),
        ON(FLAG_approx)},
    [PTX_OP_COS] = {"t=t", "F", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx) | ON(FLAG_ftz),
        ON(FLAG_approx)},
    [PTX_OP_LG2] = {"t=t", "F", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx) | ON(FLAG_ftz),
        ON(FLAG_approx)},
    [PTX_OP_EX2] = {"t=t", "FH", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx) | ON(FLAG_ftz),
        ON(FLAG_approx)},
    [PTX_OP_TANH] = {"t=t", "FH", 1, 1, ON(FIELD_TYPE) | ON(FLAG_approx), ON(FLAG_approx)},
    [PTX_OP_MOV] = {"x=x", "pbifqh", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_CVTA] = {"t=t", "i", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SPACE) | ON(FLAG_to),
        ON(FIELD_SPACE)},
    [PTX_OP_ISSPACEP] = {"p=x", NULL, 0, 0, ON(FIELD_SPACE), ON(FIELD_SPACE)},
    [PTX_OP_ISTYPEP] = {"p=x", NULL, 0, 1, ON(FIELD_TYPE) | ON(FIELD_IGNORE), 0},
    [PTX_OP_MAPA] = {"t=xu", "i", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SPACE), 0},
    [PTX_OP_GETCTARANK] = {"u=x", "i", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SPACE), 0},
    [PTX_OP_CVT] = {"t=2", NULL, 2, 3,
        ON(FIELD_TYPE) | ON(FIELD_ROUND) | ON(FLAG_ftz) | ON(FLAG_sat) | ON(FLAG_relu) |
            ON(FLAG_satfinite) | ON(FIELD_SUB),
        0},
    [PTX_OP_LD] = {"v=a", "8bifq", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) | ON(FIELD_CACHE) |
            ON(FIELD_HINT) | ON(FLAG_nc) | ON(FIELD_VEC) | ON(FLAG_volatile_),
        0},
    [PTX_OP_LDU] = {"v=a", "8bifq", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SPACE) | ON(FIELD_VEC), 0},
    [PTX_OP_ST] = {"=av", "8bifq", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) | ON(FIELD_CACHE) |
            ON(FIELD_HINT) | ON(FIELD_VEC) | ON(FLAG_volatile_) | ON(FLAG_async_) |
            ON(FIELD_IGNORE),
        0},
    [PTX_OP_PREFETCH] = {"=a", NULL, 0, 0, ON(FIELD_SPACE) | ON(FIELD_SUB) | ON(FIELD_HINT), 0},
    [PTX_OP_PREFETCHU] = {"=a", NULL, 0, 0, ON(FIELD_SUB), 0},
    [PTX_OP_CP] = {"=*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FLAG_async_) | ON(FLAG_bulk) | ON(FLAG_tensor) | ON(FLAG_read) |
            ON(FLAG_noinc) | ON(FLAG_multicast) | ON(FLAG_noftz) | ON(FIELD_SUB) | ON(FIELD_SPACE) |
            ON(FIELD_CACHE) | ON(FIELD_HINT) | ON(FIELD_GEOM) | ON(FIELD_IGNORE) | ON(FIELD_ATOM) |
            ON(FIELD_SEM) | ON(FIELD_SCOPE),
        0},
    [PTX_OP_TEX] = {"x|p=a*", NULL, 2, 2,
        ON(FIELD_TYPE) | ON(FIELD_VEC) | ON(FIELD_GEOM) | ON(FIELD_SUB), 0},
    [PTX_OP_TLD4] = {"x|p=a*", NULL, 2, 2,
        ON(FIELD_TYPE) | ON(FIELD_VEC) | ON(FIELD_GEOM) | ON(FIELD_FRAG), 0},
    [PTX_OP_TXQ] = {"u=a?u", "B", 1, 1, ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_QUERY),
        ON(FIELD_QUERY)},
    [PTX_OP_SUQ] = {"u=a", "B", 1, 1, ON(FIELD_TYPE) | ON(FIELD_QUERY), ON(FIELD_QUERY)},
    [PTX_OP_SULD] = {"x=a", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_FRAG) | ON(FIELD_GEOM) | ON(FIELD_VEC) | ON(FIELD_SUB) |
            ON(FIELD_CACHE),
        0},
    [PTX_OP_SUST] = {"=ax", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_FRAG) | ON(FIELD_GEOM) | ON(FIELD_VEC) | ON(FIELD_SUB) |
            ON(FIELD_CACHE),
        0},
    [PTX_OP_SURED] = {"=ax", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_FRAG) | ON(FIELD_GEOM) | ON(FIELD_ATOM) | ON(FIELD_SUB), 0},
    [PTX_OP_DISCARD] = {"=an", NULL, 0, 0, ON(FIELD_SPACE) | ON(FIELD_SUB) | ON(FIELD_HINT), 0},
    [PTX_OP_APPLYPRIORITY] = {"=an", NULL, 0, 0, ON(FIELD_SPACE) | ON(FIELD_SUB) | ON(FIELD_HINT),
        0},
    [PTX_OP_CREATEPOLICY] = {"q=*", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_HINT) | ON(FIELD_SPACE) | ON(FIELD_IGNORE),
        ON(FIELD_SUB)},
    [PTX_OP_MULTIMEM] = {"*", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) |
            ON(FIELD_ATOM) | ON(FIELD_VEC) | ON(FIELD_IGNORE),
        0},
    [PTX_OP_ATOM] = {"v=av?v", "bIfHq", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) | ON(FIELD_ATOM) |
            ON(FLAG_noftz) | ON(FIELD_VEC) | ON(FIELD_HINT),
        ON(FIELD_ATOM)},
    [PTX_OP_RED] = {"=av", "WIfH", 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) | ON(FIELD_ATOM) |
            ON(FLAG_noftz) | ON(FIELD_VEC) | ON(FIELD_HINT) | ON(FLAG_async_) | ON(FIELD_IGNORE),
        ON(FIELD_ATOM)},
    [PTX_OP_BRA] = {"=L", NULL, 0, 0, ON(FLAG_uni), 0},
    [PTX_OP_BRX] = {"=ux", NULL, 0, 0, ON(FLAG_uni) | ON(FIELD_SUB), ON(FIELD_SUB)},
    [PTX_OP_CALL] = {"*", NULL, 0, 0, ON(FLAG_uni), 0},
    [PTX_OP_RET] = {"=", NULL, 0, 0, ON(FLAG_uni), 0},
    [PTX_OP_EXIT] = {"=", NULL, 0, 0, 0, 0},
    [PTX_OP_TRAP] = {"=", NULL, 0, 0, 0, 0},
    [PTX_OP_BRKPT] = {"=", NULL, 0, 0, 0, 0},
    [PTX_OP_BAR] = {"*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_SUB) | ON(FIELD_BOOL) | ON(FIELD_ATOM) |
            ON(FLAG_aligned) | ON(FIELD_SCOPE) | ON(FIELD_SEM),
        0},
    [PTX_OP_BARRIER] = {"*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_SUB) | ON(FIELD_BOOL) | ON(FIELD_ATOM) |
            ON(FLAG_aligned) | ON(FIELD_SCOPE) | ON(FIELD_SEM),
        0},
    [PTX_OP_MEMBAR] = {"=", NULL, 0, 0, ON(FIELD_SCOPE) | ON(FIELD_SUB) | ON(FIELD_IGNORE), 0},
    [PTX_OP_FENCE] = {"=*", NULL, 0, 0,
        ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SUB) | ON(FLAG_async_) | ON(FIELD_SPACE) |
            ON(FIELD_IGNORE),
        0},
    [PTX_OP_MBARRIER] = {"*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_SEM) | ON(FIELD_SCOPE) | ON(FIELD_SPACE) |
            ON(FLAG_expect_tx) | ON(FLAG_parity) | ON(FLAG_nocomplete),
        ON(FIELD_SUB)},
    [PTX_OP_SHFL] = {"u|p=uuu?u", "B", 1, 1, ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_SHFL),
        ON(FIELD_SHFL)},
    [PTX_OP_VOTE] = {"p=p?u", "pB", 1, 1, ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_VOTE),
        ON(FIELD_VOTE)},
    [PTX_OP_MATCH] = {"u|p=tu", "W", 1, 1, ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_VOTE),
        ON(FIELD_VOTE)},
    [PTX_OP_REDUX] = {"t=tu", "Bu", 1, 1,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FIELD_ATOM) | ON(FLAG_abs) | ON(FLAG_nan),
        ON(FIELD_ATOM)},
    [PTX_OP_ACTIVEMASK] = {"u=", "B", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_ELECT] = {"u|p=u", NULL, 0, 0, ON(FLAG_sync), 0},
    [PTX_OP_MMA] = {"x=xxx*", NULL, 3, 4,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FIELD_LAYOUT) |
            ON(FLAG_satfinite) | ON(FIELD_BOOL) | ON(FIELD_ATOM) | ON(FIELD_SUB) | ON(FIELD_ROUND),
        ON(FIELD_SHAPE)},
    [PTX_OP_WMMA] = {"*", NULL, 1, 4,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FIELD_LAYOUT) |
            ON(FLAG_satfinite) | ON(FIELD_BOOL) | ON(FIELD_ATOM) | ON(FIELD_SUB) | ON(FIELD_FRAG) |
            ON(FIELD_SPACE) | ON(FIELD_ROUND),
        ON(FIELD_SUB) | ON(FIELD_SHAPE)},
    [PTX_OP_WGMMA] = {"*", NULL, 0, 4,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FLAG_satfinite) |
            ON(FIELD_BOOL) | ON(FIELD_ATOM) | ON(FIELD_SUB),
        ON(FIELD_SUB)},
    [PTX_OP_LDMATRIX] = {"x=a", NULL, 1, 2,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FIELD_VEC) |
            ON(FLAG_trans) | ON(FIELD_SPACE),
        ON(FIELD_SHAPE)},
    [PTX_OP_STMATRIX] = {"=ax", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FIELD_VEC) |
            ON(FLAG_trans) | ON(FIELD_SPACE),
        ON(FIELD_SHAPE)},
    [PTX_OP_MOVMATRIX] = {"u=u", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FLAG_sync) | ON(FLAG_aligned) | ON(FIELD_SHAPE) | ON(FLAG_trans),
        ON(FIELD_SHAPE)},
    [PTX_OP_NANOSLEEP] = {"=u", "u", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_PMEVENT] = {"=n", NULL, 0, 0, ON(FIELD_IGNORE), 0},
    [PTX_OP_GRIDDEPCONTROL] = {"=", NULL, 0, 0, ON(FIELD_SUB), ON(FIELD_SUB)},
    [PTX_OP_SETMAXNREG] = {"=n", NULL, 1, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FLAG_sync) | ON(FLAG_aligned), ON(FIELD_SUB)},
    [PTX_OP_STACKSAVE] = {"t=", "i", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_STACKRESTORE] = {"=t", "i", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_ALLOCA] = {"t=t?n", "i", 1, 1, ON(FIELD_TYPE), 0},
    [PTX_OP_TENSORMAP] = {"=*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_IGNORE) | ON(FIELD_SPACE) | ON(FIELD_SEM) |
            ON(FIELD_SCOPE) | ON(FIELD_HINT) | ON(FLAG_sync) | ON(FLAG_aligned),
        0},
    [PTX_OP_CLUSTERLAUNCHCONTROL] = {"*", NULL, 0, 1,
        ON(FIELD_TYPE) | ON(FIELD_SUB) | ON(FIELD_IGNORE) | ON(FIELD_SPACE) | ON(FLAG_async_), 0},
};

const struct form *form_of(enum ptx_op op)
{
    return &forms[op];
}

static const char *mbarrier_operands(enum ptx_sub sub)
{
    switch (sub) {
    case PTX_SUB_INIT:
    case PTX_SUB_EXPECT_TX:
    case PTX_SUB_COMPLETE_TX:
        return "=au";
    case PTX_SUB_INVAL:
        return "=a";
    case PTX_SUB_ARRIVE:
    case PTX_SUB_ARRIVE_DROP:
        return "x=a?u";
    case PTX_SUB_TEST_WAIT:
        return "p=ax";
    case PTX_SUB_TRY_WAIT:
        return "p=ax?u";
    case PTX_SUB_PENDING_COUNT:
        return "u=q";
    default:
        return "*";
    }
}

static const char *barrier_operands(const struct ptx_inst *inst)
{
    if (inst->scope == PTX_SCOPE_CLUSTER)
        return "=";
    if (inst->sub == PTX_SUB_RED)
        return inst->atom == PTX_ATOM_POPC ? (inst->nr_operands == 4 ? "u=uup" : "u=up")
                                           : (inst->nr_operands == 4 ? "p=uup" : "p=up");
    if (inst->sub == PTX_SUB_ARRIVE)
        return "=uu";
    return inst->sub == PTX_SUB_WARP ? "=u" : "=u?u";
}

static const char *wgmma_operands(enum ptx_sub sub)
{
    if (sub == PTX_SUB_MMA_ASYNC)
        return "x=xqp*";
    return sub == PTX_SUB_WAIT_GROUP ? "=n" : "=";
}

static const char *wmma_operands(enum ptx_sub sub)
{
    if (sub == PTX_SUB_LOAD)
        return "x=a?u";
    return sub == PTX_SUB_STORE ? "=ax?u" : "x=xxx";
}

static const char *atom_operands(const struct ptx_inst *inst)
{
    return inst->atom == PTX_ATOM_CAS ? "v=avv" : "v=av";
}

static const char *cvt_operands(const struct ptx_inst *inst)
{
    if (inst->sub == PTX_SUB_PACK)
        return inst->type3 ? "u=22u" : "u=22";
    /* two floats into one packed register: d = {a, b}, a in the upper half */
    if (inst->type2 == PTX_F32 && ptx_type_bytes(inst->type) > 1 &&
        (inst->type == PTX_F16X2 || inst->type == PTX_BF16X2 || inst->type == PTX_E4M3X2 ||
            inst->type == PTX_E5M2X2))
        return inst->round == PTX_RS ? "t=22u" : "t=22";
    return "t=2";
}

const char *form_operands(const struct ptx_inst *inst)
{
    switch (inst->op) {
    case PTX_OP_MBARRIER:
        return mbarrier_operands(inst->sub);
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return barrier_operands(inst);
    case PTX_OP_WGMMA:
        return wgmma_operands(inst->sub);
    case PTX_OP_WMMA:
        return wmma_operands(inst->sub);
    case PTX_OP_ATOM:
        return atom_operands(inst);
    case PTX_OP_ST:
    case PTX_OP_RED:
        return inst->async_ ? "=ava" : "=av";
    case PTX_OP_CVT:
        return cvt_operands(inst);
    case PTX_OP_VOTE:
        return inst->vote == PTX_VOTE_BALLOT ? "u=p?u" : "p=p?u";
    case PTX_OP_MATCH:
        return inst->vote == PTX_VOTE_ALL ? "u|p=tu" : "u=tu";
    default:
        return forms[inst->op].operands;
    }
}

/* The letters of a form's types that stand for this one, beside others. */
static const char *letters_of(enum ptx_type type)
{
    switch (type) {
    case PTX_PRED:
        return "p";
    case PTX_B8:
    case PTX_U8:
    case PTX_S8:
        return "8";
    case PTX_B16:
        return "b";
    case PTX_B32:
        return "bBW";
    case PTX_B64:
        return "bW";
    case PTX_U32:
        return "iIu";
    case PTX_S32:
        return "iIus";
    case PTX_U16:
        return "i";
    case PTX_S16:
        return "is";
    case PTX_U64:
        return "iI";
    case PTX_S64:
        return "iIs";
    case PTX_F32:
        return "fF";
    case PTX_F64:
        return "f";
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
        return "hH";
    case PTX_F32X2:
    case PTX_U16X2:
    case PTX_S16X2:
        return "h";
    case PTX_B128:
        return "q";
    default:
        return "";
    }
}

bool form_allows_type(const struct form *form, enum ptx_type type)
{
    return !form->types || strpbrk(form->types, letters_of(type)) != NULL;
}
