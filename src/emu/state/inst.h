/* A decoded kernel: what the interpreter executes and what listeners look up by pc. Private to
 * emu/.
 *
 * Each PTX instruction becomes one struct inst (hot: executed) and one struct inst_info (cold:
 * facts for counters, the time model and messages), at the same index, the pc. Where a register's
 * width differs from the operation's, decode puts `hidden` instructions around it that move between
 * widths; they are executed but never counted, traced or modelled. Device functions that a kernel
 * can reach are decoded into the same array, with register slots of their own.
 *
 * Register file of one warp: one block of memory; an operand is a byte offset into it. A row is 32
 * lanes: 128 bytes (values to 32 bits; 16-bit values are kept zero-extended, 8-bit ones as such) or
 * 256 bytes (64-bit); a 128-bit register is two of these, the low halves first.
 * A predicate is one 32-bit word, bit = lane. Immediates, special registers and the kernel's
 * parameters are rows too, filled before a warp starts, so that every source is a row. */
#ifndef KEET_EMU_STATE_INST_H
#define KEET_EMU_STATE_INST_H

#include "ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WARP_LANES = 32, RESERVED_SMEM_BYTES = 1024 };

/* How the interpreter handles the instruction. */
enum inst_kind {
    INST_ALU, /* runs inst->run on the rows; nothing else happens */
    INST_LOAD,
    INST_STORE,
    INST_ATOM,
    INST_CP_ASYNC,    /* access.c */
    INST_BULK_COPY,   /* bulk.c; in->bulk; to a (+ imm), from b (+ target), c: bytes; space: of the
   source; sub: its address row is 32-bit */
    INST_MATRIX,      /* mma, wmma, ldmatrix, stmatrix, movmatrix: all lanes at once; matrix.c;
                         in->tensor */
    INST_WGMMA,       /* wgmma.mma_async: wgmma.c; in->wgmma */
    INST_WGMMA_GROUP, /* wgmma.fence, commit_group, wait_group (imm); nothing is under way here */
    INST_BRANCH,
    INST_INDEX, /* brx: is the index of each lane (in->a) below the number of labels (imm)? */
    INST_BRANCH_INDEXED, /* behind it; in->rows: pcs */
    INST_CALL, /* to a recursive function, and RET from it: in->imm: bytes of stack for the call,
                  the first in->b of them its arguments */
    INST_STRAY_CALL, /* the call of lanes whose register names no function that the call could reach
                      */
    INST_RET,
    INST_EXIT,            /* warp.c */
    INST_BARRIER,         /* bar, barrier: sync.c */
    INST_CLUSTER_BARRIER, /* barrier.cluster: cluster.c; in->sub: enum ptx_sub */
    INST_WARP_SYNC,       /* bar.warp.sync */
    INST_MBARRIER,        /* mbarrier.c; in->sub: enum ptx_sub */
    INST_COLLECTIVE,      /* shfl, vote, match, redux .sync: waits for its lanes, then inst->run */
    INST_CLOCK,           /* mov from %clock, %clock64, %globaltimer */
    INST_COPY_FRAME, /* copies call parameters between frames; in->rows: (to, from, bytes) * vec; d,
                        a: rows with the tops of the stacks from which these count, or NO_ROW */
    INST_SAVE, /* stack.c: saves registers before a call that may come back to its function ... */
    INST_RESTORE, /* ... and restores them behind it; in->rows: (offset, bytes; 1 for a predicate) *
                     imm */
    INST_ALLOCA,  /* stack.c; imm: alignment; a: sizes of 64 bits; reg_bytes: of the result */
    INST_STACK_BACK, /* stackrestore: a: 64-bit row */
    INST_PRINT,
    INST_ASSERT,
    INST_TRAP,
    INST_MALLOC, /* services.c; in->rows: frame offsets of arguments, in->target: of the result;
                    in->a as in COPY_FRAME */
    INST_FREE,
    INST_TEXTURE,    /* texture.c; in->texture */
    INST_TENSOR_MAP, /* tensormap.replace: tensor_copy.c; at a (+ imm) in `space`, the field sub
                        (enum tensor_map_field) gets c, of the dimension b; cp_fenceproxy (sub
                        NR_TENSOR_MAP_FIELDS): copies a map to a from b */
    INST_BULK_GROUP, /* cp.async.bulk.commit_group, wait_group (imm): nothing is under way here */
    INST_SETMAXNREG, /* setmaxnreg.c; sub: inc or dec, imm: registers a thread */
    INST_COPY_GROUP, /* cp.async groups: counted, and told to listeners */
    INST_NOP         /* counted, does nothing: fences, nanosleep, prefetch */
};

/* The functional unit that would issue the instruction on the chip. */
enum inst_unit {
    UNIT_FMA,  /* f32 add, mul, fma; on Hopper half of the f32 lanes also do integer multiply-add */
    UNIT_ALU,  /* integer add, logic, compare, select, min, max, shifts */
    UNIT_IMUL, /* integer multiply, multiply-add */
    UNIT_FP64,
    UNIT_FP16,
    UNIT_XU,     /* ex2 lg2 sin cos rcp rsqrt sqrt tanh, popc, clz, bfind, brev, conversions */
    UNIT_LSU,    /* loads, stores, atomics, shfl */
    UNIT_BRANCH, /* branches, calls, barriers, votes */
    UNIT_TENSOR,
    UNIT_NONE /* parameters, moves between widths: no issue slot of its own on the chip */
};

struct inst;
struct tensor;
struct wgmma;
struct bulk;
struct texture_inst;
typedef void sem_fn(uint8_t *file, const struct inst *in, uint32_t mask);

struct inst {
    sem_fn *run;        /* ALU, COLLECTIVE */
    uint8_t kind;       /* enum inst_kind */
    uint8_t vec;        /* memory: elements per lane */
    uint8_t elem_bytes; /* memory: bytes of one element in memory; video: of one part */
    uint8_t space;      /* memory: enum ptx_space, PTX_GENERIC resolved per access */
    bool guard_negated;
    bool address32;    /* memory: the address row is 32-bit */
    bool sign_extend;  /* loads narrower than the register */
    uint8_t reg_bytes; /* memory: bytes of the registers: 2, 4 or 8 */
    uint8_t sub;       /* kind's own: barrier flavour, atomic operation, shuffle mode ... */
    uint8_t type;      /* enum ptx_type of the operation */
    uint16_t flags;    /* INST_* below */
    uint16_t plain;    /* length of the run of unguarded ALU instructions that begins here. No lanes
                          meet inside the run, only perhaps at its first instruction, so the
                          interpreter executes the run without a look at anything else */
    uint32_t guard;    /* offset of the predicate word; offset 0 is always all ones */
    uint32_t d, d2;    /* destinations (offsets); NO_ROW when absent */
    uint32_t a, b, c, e; /* sources (offsets) */
    uint32_t target;     /* pc: branch, call; immediate lookup for lop3, prmt */
    uint32_t reconverge; /* pc where the sides of a divergent branch meet */
    uint32_t slot; /* the interpreter's memory of what the instruction last did; 0: needs none */
    int64_t imm;   /* memory: displacement; others: see sem files */
    union {
        const uint32_t *rows;        /* vector operands: element rows; call: argument triples */
        const struct tensor *tensor; /* INST_MATRIX; vec is 0 */
        const struct bulk *bulk;     /* INST_BULK_COPY; vec is 0 */
        const struct wgmma *wgmma;   /* INST_WGMMA; vec is 0 */
        const struct texture_inst *texture; /* INST_TEXTURE; vec is 0 */
    };
};

enum {
    INST_HIDDEN = 1, /* not an instruction of the program */
    INST_FTZ = 2,
    INST_SAT = 4,
    INST_VOLATILE = 8,
    INST_NO_DEST = 16,   /* red, or an atom whose result is dropped */
    INST_UNGUARDED = 32, /* guard is offset 0: always taken */
    INST_NEGATE_C = 64,  /* source predicate c is negated */
    INST_PART = 128,     /* hidden, with the guard of the instruction of which it is a part */
    INST_AGAIN = 256,    /* a branch back, in a loop that may wait for another block: exec/wait.c */
    INST_IDLE = 512      /* computes or moves data that nobody wants: decode_idle */
};
#define NO_ROW 0xffffffffu

enum { INST_MAX_REGS = 160 }; /* a wgmma has 128 registers of results */

struct inst_info {
    const struct ptx_inst *ptx; /* NULL: hidden */
    const char *func;           /* name of the function in which the instruction stands */
    enum ptx_class class;
    enum inst_unit unit;
    bool fp32, fp64, fp16; /* arithmetic of that kind */
    uint16_t flops;        /* per lane: fma 2, f16x2 fma 4, mma 2 m n k / 32 */
    bool is_memory, is_load, is_store, is_atomic, is_copy, is_branch,
        is_barrier;        /* copy: cp.async */
    enum ptx_space space;  /* as stated; PTX_GENERIC: known only per access */
    unsigned access_bytes; /* per lane, memory operations */
    bool recursive;        /* in a function that may call itself */
    uint32_t line;         /* source line, 0 unknown */
    uint32_t near; /* for messages: the line, else the nearest known line of the function, else the
                      line of a call of the function; 0 none */
    /* registers for scoreboards: ids below program->nr_regs; predicates are registers too */
    uint16_t nr_dests, nr_sources;
    const uint32_t *dest, *source;
};

struct special_row {
    enum ptx_special special;
    uint32_t offset;
    uint8_t bytes; /* 4 or 8: the row's element */
};

struct param_row {
    uint32_t offset, param_offset;
    uint8_t bytes, row_bytes; /* bytes read; element of the row */
    bool sign_extend;
};

struct const_row {
    uint32_t offset;
    uint8_t bytes; /* element: 4 or 8 */
    uint64_t value;
};

struct zero_part {
    uint32_t offset, bytes; /* of the register file: zeroed before a block starts */
};

/* A kernel ready to run. Owned by its emu_module. */
struct program {
    const struct ptx_func *func;
    struct inst *insts;
    struct inst_info *info;
    uint32_t nr_insts, entry;
    uint32_t nr_slots;      /* inst->slot is below it; slot 0 is of no instruction */
    uint32_t nr_regs;       /* scoreboard registers */
    uint32_t file_bytes;    /* register file of one warp, a multiple of 256 */
    struct zero_part *zero; /* registers that may be read before they are written */
    uint32_t nr_zero;
    struct special_row *specials;
    uint32_t nr_specials;
    struct param_row *params;
    uint32_t nr_params;
    struct const_row *consts;
    uint32_t nr_consts;
    uint32_t local_bytes; /* per thread, all functions together, call parameters included */
    /* With recursive functions or alloca: where the stacks lie in a thread's local memory. Calls
     * take room from the beginning upward, alloca from the end downward; behind the end is room for
     * the arguments of one more call. The 64-bit rows hold how far up and how far down the stacks
     * reach. NO_ROW: no stacks. */
    uint32_t stack_row, floor_row, stack_base, stack_limit;
    uint32_t shared_static_bytes, shared_dynamic_offset;
    bool float_atomics, uses_param_address;
    uint8_t sum_bytes;  /* sums.h */
    bool uses_heap;     /* malloc, free */
    bool uses_wide;     /* atomics of 128 bits, which hosts' threads may not have */
    bool uses_reserved; /* the shared memory that CUDA keeps, which cooperative groups work with */
    bool cooperative;   /* asks for the grid's barrier: all blocks run side by side */
    /* Blocks learn from each other: a volatile or ordered load of global memory, an atomic there
     * whose result is used. What such a block does may depend on the order in which blocks run. */
    bool learns;
    bool oblivious; /* what it touches, and where its threads go, depends on no data */
    bool waits;     /* ... in a loop that may wait: has an INST_AGAIN */
};

#endif
