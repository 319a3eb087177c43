/* PTX text -> a checked module that the emulator can decode and others can ask questions of.
 *
 *     struct ptx_module *m = ptx_parse(text, len, &problem);   // NULL: problem says what and where
 *     ... ptx_find_func(m, "_Z6matmul...") ...
 *     ptx_destroy(m);
 *
 * ptx_parse lexes, parses and verifies: types of operands, register classes, labels, vector widths,
 * symbols. What it does not know is a problem of kind unsupported, never a guess: of one function
 * when it stands in a body, of the module when outside. All of a module lives in one arena; every
 * pointer here is owned by the module. Source: PTX ISA 9.0 manual. */
#ifndef KEET_PTX_PTX_H
#define KEET_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum ptx_type {
    PTX_NONE, PTX_PRED,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_F32, PTX_F64, PTX_TF32, PTX_E4M3X2, PTX_E5M2X2,
    PTX_E4M3, PTX_E5M2, PTX_F32X2, PTX_B1, PTX_U2, PTX_S2, PTX_U4, PTX_S4,
    PTX_TEXREF, PTX_SAMPLERREF, PTX_SURFREF, /* opaque handles, 8 bytes */
    PTX_U16X2, PTX_S16X2,
    NR_PTX_TYPES
};
/* clang-format on */

unsigned ptx_type_bytes(enum ptx_type type);   /* PRED and types under a byte: 1 */
const char *ptx_type_name(enum ptx_type type); /* "f32"; NONE: "" */
bool ptx_type_is_float(enum ptx_type type);    /* f16 .. f64, bf16, tf32, packed ones too */
bool ptx_type_is_signed(enum ptx_type type);   /* s2 .. s64 */

enum ptx_space {
    PTX_GENERIC,
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_LOCAL,
    PTX_CONST,
    PTX_PARAM,
    PTX_REG_SPACE
};

/* Base opcodes: the rows of ops.def. */
enum ptx_op {
#define OP(id, ...) PTX_OP_##id,
#include "ptx/ops.def"
#undef OP
    NR_PTX_OPS
};

/* What an operation counts as. */
enum ptx_class {
    PTX_CLASS_FP, /* by type: fp32, fp64, fp16 */
    PTX_CLASS_INT,
    PTX_CLASS_MOVE, /* mov, selp, cvta, ... */
    PTX_CLASS_CONVERT,
    PTX_CLASS_SPECIAL, /* ex2 lg2 sin cos tanh rcp sqrt rsqrt */
    PTX_CLASS_MEMORY,
    PTX_CLASS_ATOMIC,
    PTX_CLASS_CONTROL,
    PTX_CLASS_BARRIER,
    PTX_CLASS_SHUFFLE, /* shfl vote match redux activemask */
    PTX_CLASS_TENSOR,
    PTX_CLASS_OTHER
};
const char *ptx_op_name(enum ptx_op op);
enum ptx_class ptx_op_class(enum ptx_op op);

/* clang-format off */
/* Modifiers, orthogonal to the opcode. One enum per question, 0 = not given. */
enum ptx_round { PTX_RND_NONE, PTX_RN, PTX_RZ, PTX_RM, PTX_RP, PTX_RNA, PTX_RNI, PTX_RZI, PTX_RMI, PTX_RPI, PTX_RS };
enum ptx_cmp { PTX_CMP_NONE, PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE, PTX_LO, PTX_LS, PTX_HI, PTX_HS,
    PTX_EQU, PTX_NEU, PTX_LTU, PTX_LEU, PTX_GTU, PTX_GEU, PTX_NUM, PTX_NAN };
enum ptx_bool { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };
enum ptx_mul { PTX_MUL_NONE, PTX_MUL_LO, PTX_MUL_HI, PTX_MUL_WIDE };
enum ptx_atom { PTX_ATOM_NONE, PTX_ATOM_ADD, PTX_ATOM_MIN, PTX_ATOM_MAX, PTX_ATOM_INC, PTX_ATOM_DEC, PTX_ATOM_AND,
    PTX_ATOM_OR, PTX_ATOM_XOR, PTX_ATOM_EXCH, PTX_ATOM_CAS, PTX_ATOM_POPC };
enum ptx_shfl { PTX_SHFL_NONE, PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX };
enum ptx_vote { PTX_VOTE_NONE, PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };
enum ptx_prmt { PTX_PRMT_NONE, PTX_PRMT_F4E, PTX_PRMT_B4E, PTX_PRMT_RC8, PTX_PRMT_ECL, PTX_PRMT_ECR, PTX_PRMT_RC16 };

enum ptx_sem { PTX_SEM_NONE, PTX_SEM_WEAK, PTX_SEM_RELAXED, PTX_SEM_ACQUIRE, PTX_SEM_RELEASE, PTX_SEM_ACQ_REL,
    PTX_SEM_SC };
enum ptx_scope { PTX_SCOPE_NONE, PTX_SCOPE_CTA, PTX_SCOPE_CLUSTER, PTX_SCOPE_GPU, PTX_SCOPE_SYS }; /* membar.gl: GPU */
enum ptx_cache { PTX_CACHE_NONE, PTX_CACHE_CA, PTX_CACHE_CG, PTX_CACHE_CS, PTX_CACHE_LU, PTX_CACHE_CV, PTX_CACHE_WB,
    PTX_CACHE_WT };
enum ptx_geom { PTX_GEOM_NONE, PTX_GEOM_1D, PTX_GEOM_2D, PTX_GEOM_3D, PTX_GEOM_4D, PTX_GEOM_5D, PTX_GEOM_A1D,
    PTX_GEOM_A2D, PTX_GEOM_CUBE, PTX_GEOM_ACUBE };
enum ptx_layout { PTX_LAYOUT_NONE, PTX_ROW, PTX_COL };
enum ptx_query { PTX_QUERY_NONE, PTX_QUERY_WIDTH, PTX_QUERY_HEIGHT, PTX_QUERY_DEPTH, PTX_QUERY_ARRAY_SIZE,
    PTX_QUERY_LEVELS, PTX_QUERY_SAMPLES, PTX_QUERY_NORMALIZED, PTX_QUERY_OTHER }; /* txq, suq */

/* The second word of opcodes that are families. bar.sync, barrier.sync: NONE with sync set. */
enum ptx_sub {
    PTX_SUB_NONE,
    PTX_SUB_ARRIVE, PTX_SUB_WAIT,       /* bar.arrive; barrier.cluster.arrive/wait (scope CLUSTER);
                                           mbarrier.arrive; griddepcontrol.wait */
    PTX_SUB_RED,                        /* bar.red, with boolop AND/OR or atom POPC */
    PTX_SUB_WARP,                       /* bar.warp.sync */
    PTX_SUB_COMMIT_GROUP, PTX_SUB_WAIT_GROUP, PTX_SUB_WAIT_ALL, /* cp.async, cp.async.bulk, wgmma */
    PTX_SUB_MBARRIER_ARRIVE,            /* cp.async.mbarrier.arrive */
    PTX_SUB_INIT, PTX_SUB_INVAL, PTX_SUB_EXPECT_TX, PTX_SUB_COMPLETE_TX, PTX_SUB_ARRIVE_DROP,
    PTX_SUB_TEST_WAIT, PTX_SUB_TRY_WAIT, PTX_SUB_PENDING_COUNT, /* mbarrier */
    PTX_SUB_MMA_ASYNC, PTX_SUB_FENCE,   /* wgmma */
    PTX_SUB_LOAD, PTX_SUB_STORE, PTX_SUB_MMA, /* wmma */
    PTX_SUB_L1, PTX_SUB_L2, PTX_SUB_TENSORMAP, /* prefetch */
    PTX_SUB_FINITE, PTX_SUB_INFINITE, PTX_SUB_NUMBER, PTX_SUB_NOTANUMBER, PTX_SUB_NORMAL, PTX_SUB_SUBNORMAL, /* testp */
    PTX_SUB_LAUNCH_DEPENDENTS,          /* griddepcontrol */
    PTX_SUB_PROXY, PTX_SUB_MBARRIER_INIT, /* fence */
    PTX_SUB_INC, PTX_SUB_DEC,           /* setmaxnreg */
    PTX_SUB_PACK,                       /* cvt.pack */
    PTX_SUB_SHIFTAMT,                   /* bfind */
    PTX_SUB_IDX,                        /* brx */
    PTX_SUB_TRAP, PTX_SUB_CLAMP, PTX_SUB_ZERO, /* suld, sust: what happens out of bounds */
    PTX_SUB_BASE, PTX_SUB_LEVEL, PTX_SUB_GRAD, /* tex, txq: which mipmap level */
    PTX_SUB_PREFETCH, PTX_SUB_REDUCE,   /* cp */
    PTX_SUB_REPLACE, PTX_SUB_CP_FENCEPROXY, /* tensormap */
    PTX_SUB_OTHER                       /* see mods */
};

enum ptx_special { /* %tid.x ... */
    PTX_SR_NONE, PTX_SR_TID_X, PTX_SR_TID_Y, PTX_SR_TID_Z, PTX_SR_NTID_X, PTX_SR_NTID_Y, PTX_SR_NTID_Z,
    PTX_SR_CTAID_X, PTX_SR_CTAID_Y, PTX_SR_CTAID_Z, PTX_SR_NCTAID_X, PTX_SR_NCTAID_Y, PTX_SR_NCTAID_Z,
    PTX_SR_LANEID, PTX_SR_WARPID, PTX_SR_NWARPID, PTX_SR_SMID, PTX_SR_NSMID, PTX_SR_GRIDID,
    PTX_SR_LANEMASK_EQ, PTX_SR_LANEMASK_LE, PTX_SR_LANEMASK_LT, PTX_SR_LANEMASK_GE, PTX_SR_LANEMASK_GT,
    PTX_SR_CLOCK, PTX_SR_CLOCK64, PTX_SR_GLOBALTIMER, PTX_SR_DYNAMIC_SMEM_SIZE, PTX_SR_TOTAL_SMEM_SIZE,
    PTX_SR_CLUSTERID_X, PTX_SR_CLUSTERID_Y, PTX_SR_CLUSTERID_Z, PTX_SR_CLUSTER_CTARANK, PTX_SR_CLUSTER_NCTARANK,
    PTX_SR_NCLUSTERID_X, PTX_SR_NCLUSTERID_Y, PTX_SR_NCLUSTERID_Z,
    PTX_SR_CLUSTER_CTAID_X, PTX_SR_CLUSTER_CTAID_Y, PTX_SR_CLUSTER_CTAID_Z,
    PTX_SR_CLUSTER_NCTAID_X, PTX_SR_CLUSTER_NCTAID_Y, PTX_SR_CLUSTER_NCTAID_Z,
    PTX_SR_IS_EXPLICIT_CLUSTER, PTX_SR_CLOCK_HI, PTX_SR_GLOBALTIMER_LO, PTX_SR_GLOBALTIMER_HI,
    PTX_SR_AGGR_SMEM_SIZE, PTX_SR_CURRENT_GRAPH_EXEC,
    PTX_SR_RESERVED_SMEM, /* %reserved_smem_offset_1: what CUDA itself keeps of a block's shared memory */
    PTX_SR_RESERVED_SMEM_BEGIN, PTX_SR_RESERVED_SMEM_END, PTX_SR_RESERVED_SMEM_CAP,
    PTX_SR_ENVREG1, PTX_SR_ENVREG2, /* where cooperative groups find the grid's barrier: high, low half */
    PTX_SR_ENVREG /* the other 30, which the driver's documentation does not tell of: 0 */
};

/* clang-format on */

enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REG, /* reg */
    PTX_OPERAND_IMM, /* imm: integer bits, or the bits of a 0f/0d/decimal float at the operation's
                        type */
    PTX_OPERAND_SPECIAL, /* special */
    PTX_OPERAND_SYMBOL,  /* the address of symbol (+ imm) as a value: mov.u64 %rd, name */
    PTX_OPERAND_ADDRESS, /* [reg+imm] when reg >= 0; else [symbol+imm]; else [imm]. tex, suld and
                            bulk tensor copies, [name, {x, y}]: the coordinates in vec, nr */
    PTX_OPERAND_VECTOR,  /* {..}: nr registers or immediates (or sinks: reg -1) in vec */
    PTX_OPERAND_LABEL,   /* target: index of the instruction jumped to */
    PTX_OPERAND_SINK,    /* _ */
    PTX_OPERAND_FUNC     /* func: call, or its address as a value */
};

struct ptx_symbol; /* a variable */
struct ptx_func;
struct ptx_problem;

/* The parts of a register that video instructions name: of r.h10, 'h' and the digits 1, 0. */
struct ptx_part {
    char unit; /* 'b' bytes, 'h' halves; 0: none named */
    uint8_t nr, digit[4];
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated; /* !%p, or -%r where the manual allows it */
    struct ptx_part part;
    int32_t reg; /* index into func->regs; -1 none */
    uint64_t imm;
    enum ptx_special special;
    union {
        const struct ptx_symbol *symbol;
        const struct ptx_func *func;
    };
    uint32_t target;
    uint32_t nr;                   /* VECTOR */
    const struct ptx_operand *vec; /* VECTOR */
};

enum { PTX_MAX_OPERANDS = 10 }; /* a sparse wgmma has so many */

/* Shapes that operands take, beyond the manual's own order:
 *   shfl d|p, setp p|q, lop3 d|p, match d|p, elect d|p: two destinations (operand 0 and 1, nr_dests
 * 2). call: always three: operand[0] VECTOR of return values (nr 0: none; nr_dests is 1),
 * operand[1] FUNC (or REG when indirect), operand[2] VECTOR of arguments. Elements are SYMBOL of
 * role PTX_ROLE_CALL (param space of the call), REG or, of arguments, IMM. A function without body
 * (external) has nr_insts 0. ld/st with vec > 1, mov of {..}: VECTOR. atom/red: [address], b {, c}.
 * Cache-policy operands of .L2::cache_hint are dropped. brx: the index, VECTOR of LABEL. */
struct ptx_inst {
    enum ptx_op op;
    enum ptx_type type,
        type2; /* main type (destination side for cvt, set), second type (source side) */
    enum ptx_space
        space; /* memory operations; PTX_GENERIC when unstated; cvta: the space converted */
    enum ptx_round round;
    enum ptx_cmp cmp;
    enum ptx_bool boolop; /* setp/set combining with a predicate */
    enum ptx_mul mul;
    enum ptx_atom atom;
    enum ptx_shfl shfl; /* also shf: UP = .l, DOWN = .r */
    enum ptx_vote vote;
    enum ptx_prmt prmt;
    uint8_t vec; /* 1, 2, 4, 8 for ld/st; vector width */
    enum ptx_sub sub;
    enum ptx_sem sem;
    enum ptx_scope scope;
    enum ptx_cache cache;
    enum ptx_geom geom; /* tex, suld, cp.async.bulk.tensor */
    enum ptx_query query;
    enum ptx_space space2;      /* cp.async: the source's space */
    enum ptx_type type3, type4; /* mma, wgmma: d a b c as written; cvt.pack */
    uint16_t m, n, k;           /* .m16n8k16; ldmatrix .m8n8: k 0, and vec is the .x1 .x2 .x4 */
    enum ptx_layout layout_a, layout_b; /* mma, wmma .row .col */
    char frag;        /* wmma.load.a: 'a', 'b', 'c'; store: 'd'; tld4: component; suld.b, sust.p */
    const char *mods; /* all modifiers as written, ".sync.aligned.m16n8k16..."; "" none */
    bool nc, aligned, trans, abs, satfinite, async_, bulk, tensor, parity, read, expect_tx,
        nocomplete, noinc, multicast, sparse, po, shr7, shr15;
    bool ftz, sat, approx, full, relu, nan, xorsign, uni, to, wrap, clamp, volatile_, sync, noftz,
        cc;
    bool rolled; /* .pragma "nounroll" stands before it: it begins a loop that stays as it is */
    bool param_of_call; /* ld/st .param of a call's local param space, not the kernel's */
    int32_t guard;      /* predicate register or -1 */
    bool guard_negated;
    struct ptx_operand operand[PTX_MAX_OPERANDS]; /* destinations first, then sources, as written */
    uint8_t nr_operands, nr_dests;
    uint32_t line; /* source line by .loc (of the outermost inlining site's file 1), 0 unknown */
    uint32_t text_line; /* line in the PTX text */
    /* bra and brx: index of the first instruction of the immediate post-dominator; nr_insts: the
     * function's end. Paths that only leave (ret, exit, trap) do not count: lanes that leave hold
     * nobody up, as on the chip. */
    uint32_t reconverge;
};

/* Bytes of the value that operand 0 or a source is, by the letters of its row; 0: not a value. */
unsigned ptx_operand_bytes(const struct ptx_inst *inst, unsigned operand);

struct ptx_reg {
    enum ptx_type type;
    const char *name;
};

/* Which frame a PARAM symbol's offset counts in. */
enum ptx_role {
    PTX_ROLE_VARIABLE,
    PTX_ROLE_PARAM,  /* func->params: param_bytes */
    PTX_ROLE_RETURN, /* func->rets: ret_bytes */
    PTX_ROLE_CALL    /* .param declared inside a body, for calls: call_param_bytes */
};

struct ptx_symbol {
    const char *name;
    enum ptx_role role;
    enum ptx_space space; /* GLOBAL, CONST, SHARED, LOCAL, PARAM */
    enum ptx_type type;
    uint32_t align;
    uint64_t bytes;  /* 0: .extern .shared, sized at launch */
    uint64_t offset; /* SHARED, LOCAL, PARAM: within the function's (or module's) space */
    bool external, managed;
    const struct ptx_func *func; /* that declares it, or alone names it; NULL: the module's */
    const uint8_t *init;         /* NULL: zeros */
    /* addresses inside init: at init_at[i] belongs the address of init_symbol[i] plus the 8 bytes
     * there */
    const uint32_t *init_at;
    const struct ptx_symbol *const *init_symbol;
    uint32_t nr_init_symbols;
};

struct ptx_func {
    const char *name;
    uint32_t index; /* in module->funcs */
    bool is_entry;
    const struct ptx_symbol *params; /* in order, with offsets */
    uint32_t nr_params, param_bytes;
    const struct ptx_symbol *rets; /* return values of a .func */
    uint32_t nr_rets, ret_bytes;
    uint32_t call_param_bytes; /* .param variables inside the body */
    bool external;             /* declared only: vprintf, __assertfail, ... */
    bool noreturn;
    const struct ptx_reg *regs;
    uint32_t nr_regs;
    const struct ptx_inst *insts;
    uint32_t nr_insts;
    uint32_t local_bytes;         /* .local variables of the function */
    uint32_t shared_static_bytes; /* of .shared variables that the function can reach, .extern ones
                                     excluded */
    uint32_t maxntid[3], reqntid[3], minnctapersm; /* 0: not given */
    uint32_t reqnctapercluster[3];                 /* cluster shape; 0: not given */
    uint32_t maxnreg;
    bool address_taken; /* the module takes its address somewhere: indirect calls may come here */
    /* Not NULL: the body holds something that the parser does not know. nr_insts is then 0, and
     * only who runs the function needs to care. */
    const struct ptx_problem *problem;
};

struct ptx_module {
    unsigned version_major, version_minor;
    const char *target; /* "sm_90a" */
    const struct ptx_func *const *funcs;
    uint32_t nr_funcs;
    const struct ptx_symbol *const *globals; /* .global and .const variables */
    uint32_t nr_globals;
    struct arena *arena;
};

struct ptx_problem {
    bool unsupported;   /* perhaps valid PTX, which this parser does not know */
    uint32_t text_line; /* in the PTX text */
    uint32_t line;      /* in the source, by the last .loc; 0 unknown */
    char text[256];
};

/* A function's address as a value: no memory is there. */
#define PTX_FUNC_ADDRESSES UINT64_C(0x7d0000000000)
static inline uint64_t ptx_func_address(const struct ptx_func *func)
{
    return PTX_FUNC_ADDRESSES + 16 * ((uint64_t)func->index + 1);
}

struct ptx_module *ptx_parse(const char *text, size_t len, struct ptx_problem *problem);
void ptx_destroy(struct ptx_module *module);
const struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name);

#endif
