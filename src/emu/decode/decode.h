/* PTX function -> struct program. Private to emu/. decode.c owns the tables and the operands,
 * decode_row.c asks the row of each operation who decodes it, and decode_op.c, decode_mem.c and the
 * others hold those decoders. */
#ifndef KEET_EMU_DECODE_DECODE_H
#define KEET_EMU_DECODE_DECODE_H

#include "emu/state/inst.h"

#include "base/arena.h"

struct decode_problem {
    unsigned line;
    char text[256];
};

/* Where things of the module live. */
struct decode_env {
    const struct ptx_module *module;
    uint64_t param_address;                  /* of the buffer that holds a kernel's parameters */
    const struct ptx_symbol *const *symbols; /* .global and .const variables ... */
    const uint64_t *addresses;               /* ... and where they are */
    uint32_t nr_symbols;
};

/* NULL: problem says why (an unsupported instruction). The program lives in the arena. */
struct program *decode_kernel(const struct ptx_func *kernel, const struct decode_env *env,
    struct arena *arena, struct decode_problem *problem);

/* --- between the files of this folder --- */

struct func_frame { /* one function's part of the program */
    const struct ptx_func *func;
    uint32_t *reg_offset;  /* per func->regs: its row or word */
    uint32_t *reg_id;      /* per func->regs: scoreboard id */
    uint32_t *pc_of;       /* per ptx instruction, nr_insts + 1 */
    uint32_t words_offset; /* the words: predicates, and at the end of them ... */
    uint32_t carry;        /* ... the condition-code word */
    uint32_t call_words;   /* two more words, for calls through registers */
    /* places in the thread's local memory; a recursive function counts them from the top of the
     * thread's stack */
    int64_t local_base, param_base, ret_base, call_base;
    uint32_t stack_bytes; /* for each call of a recursive function that is under way */
    uint32_t component;   /* functions that can reach each other have the same */
    bool recursive;       /* it can reach itself */
    bool allocates;       /* it has alloca, stacksave or stackrestore ... */
    int64_t floor_base;   /* ... and keeps here, in local memory, the stack pointer that it found */
    uint32_t start;       /* pc */
    bool known;           /* which of these it is */
};

enum { SCRATCH_ROWS = 8 };

struct decoder {
    struct program *p;
    const struct decode_env *env;
    struct arena *arena;
    struct decode_problem *problem;
    struct func_frame *frames;
    uint32_t nr_frames;
    size_t cap_frames, cap_insts, cap_info, cap_consts, cap_specials, cap_params;
    uint32_t file_end;
    uint32_t scratch32[SCRATCH_ROWS], scratch64[SCRATCH_ROWS], scratch_word[2];
    unsigned nr_scratch32, nr_scratch64;
    /* the instruction at hand */
    struct func_frame *f;
    const struct ptx_inst *ptx;
    struct { /* destinations whose register is wider than the result */
        uint32_t from, to;
        bool is_signed;
    } widen[SCRATCH_ROWS];
    unsigned nr_widen;
    bool failed;
};

bool decode_fail(struct decoder *d, const char *why);     /* always false */
struct inst *decode_emit(struct decoder *d, bool hidden); /* valid until the next emit */
struct inst *decode_part(struct decoder *d);              /* hidden, with the guard of d->ptx */
uint32_t decode_scratch(struct decoder *d); /* a row of 32 bits, until the next instruction */
/* Half 0 or 1 of a 128-bit register as a row of 64 bits. */
uint32_t decode_half(struct decoder *d, const struct ptx_operand *o, unsigned half);
struct inst_info *decode_info(struct decoder *d); /* of the last one emitted */
uint32_t decode_const(struct decoder *d, uint64_t value, unsigned bytes);
uint32_t decode_special(struct decoder *d, enum ptx_special special, unsigned bytes);
uint32_t decode_param_row(
    struct decoder *d, uint32_t offset, unsigned bytes, unsigned row_bytes, bool sign);
/* Does the address of the symbol count from the top of the stack? */
bool decode_on_stack(const struct decoder *d, const struct ptx_symbol *symbol);
/* A source as a row of elements of 4 (bytes <= 4) or 8 bytes; emits hidden moves between widths. */
uint32_t decode_source(struct decoder *d, const struct ptx_operand *o, unsigned bytes);
uint32_t decode_pred(struct decoder *d, const struct ptx_operand *o);
uint32_t decode_dest(
    struct decoder *d, const struct ptx_operand *o, unsigned bytes, bool is_signed);
/* Bytes of the register: a predicate has 1, an 8-bit register 2, as a 16-bit one has. 0: not a
 * register. */
unsigned decode_reg_bytes(const struct decoder *d, const struct ptx_operand *o);
bool decode_symbol(struct decoder *d, const struct ptx_symbol *symbol, uint64_t *address);
/* An address operand: a row of 4- or 8-byte addresses and a displacement. */
bool decode_address(
    struct decoder *d, const struct ptx_operand *o, uint32_t *row, bool *is32, int64_t *imm);
/* Can a call through a register reach this function? */
bool decode_may_reach(const struct ptx_inst *call, const struct ptx_func *func);
struct func_frame *decode_frame(struct decoder *d, const struct ptx_func *func);
void decode_finish_widen(struct decoder *d);
void *decode_copy(struct decoder *d, const void *bytes, size_t nr);

bool decode_is_sink(const struct ptx_operand *o); /* a destination that nobody wants */
/* Gives the instruction its loop for p. False: there is none, and the decoder failed. */
bool decode_run(struct decoder *d, struct inst *in, const struct ptx_inst *p);

void decode_memory_info(struct decoder *d, const struct inst *in); /* decode_mem.c */

/* decode_live.c: fills p->zero and the lists of what calls save, sets INST_NO_DEST. */
void decode_live(struct decoder *d);

/* decode_oblivious.c: p->oblivious. */
bool decode_oblivious(const struct program *program);
/* An oblivious program, in the arena, that computes and moves no data: its launches count the same,
 * and give no results. It shares all else with the program. */
const struct program *decode_idle(const struct program *program, struct arena *arena);

/* decode_near.c: fills info.near of all instructions. */
void decode_near(struct decoder *d);

/* decode_row.c: the rows of ptx/ops.def. */
bool decode_inst(struct decoder *d); /* d->ptx, by its row's decoder */
void decode_describe(struct inst_info *info, const struct ptx_inst *p); /* class, unit, flops */

/* The decoders that the rows name. Each emits what d->ptx becomes; false: the decoder failed. */
typedef bool decode_fn(struct decoder *d);
decode_fn decode_unknown; /* decode_row.c; always fails */
/* decode_op.c */
decode_fn decode_plain, decode_logic, decode_to_pred, decode_lop3, decode_cvt, decode_mov,
    decode_cvta, decode_mapa, decode_selp, decode_setp, decode_set, decode_policy,
    decode_activemask, decode_branch, decode_branch_indexed, decode_ret, decode_exit, decode_trap,
    decode_nop;
/* decode_mem.c */
decode_fn decode_load_store, decode_atomic, decode_copy_async, decode_mbarrier, decode_barrier,
    decode_collective;
decode_fn decode_product, decode_wmma, decode_movmatrix, decode_matrix_access; /* decode_tensor.c */
decode_fn decode_wgmma;                                                        /* decode_wgmma.c */
decode_fn decode_bulk, decode_tensormap,
    decode_setmaxnreg;    /* decode_bulk.c: cp with .bulk, and what goes with it */
decode_fn decode_call;    /* decode_call.c */
decode_fn decode_texture; /* decode_texture.c */
decode_fn decode_video;   /* decode_video.c */
decode_fn decode_stack;   /* decode_stack.c: alloca, stacksave, stackrestore */

/* decode_stack.c: a function that allocates gives its stack back when it returns. */
void decode_stack_enter(struct decoder *d); /* keeps the stack pointer that the function found */
void decode_stack_leave(struct decoder *d); /* takes it back */

#endif
