/* Owns what each PTX operation becomes: widths of its operands, its unit and latency, special
 * shapes. */
#include "emu/decode/decode.h"

#include "base/mem.h"
#include "emu/sem/sem.h"
#include "emu/state/windows.h"

/* --- facts for counters and the time model --- */

static bool is_half(enum ptx_type t)
{
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

static bool is_fp(enum ptx_type t)
{
    return t == PTX_F32 || t == PTX_F64 || is_half(t);
}

static enum ptx_class class_of(const struct ptx_inst *p)
{
    enum ptx_class class = ptx_op_class(p->op);
    return class == PTX_CLASS_FP && !is_fp(p->op == PTX_OP_SET ? p->type2 : p->type) ? PTX_CLASS_INT
                                                                                     : class;
}

static void set_unit(struct inst_info *info, enum inst_unit unit, enum inst_latency latency)
{
    info->unit = unit;
    info->latency = latency;
}

static void fp_info(struct inst_info *info, const struct ptx_inst *p)
{
    enum ptx_type t = p->op == PTX_OP_SET ? p->type2 : p->type;
    bool two = t == PTX_F16X2 || t == PTX_BF16X2;
    info->fp32 = t == PTX_F32;
    info->fp64 = t == PTX_F64;
    info->fp16 = is_half(t);
    unsigned flops =
        p->op == PTX_OP_FMA || p->op == PTX_OP_MAD ? 2
        : p->op == PTX_OP_ADD || p->op == PTX_OP_SUB || p->op == PTX_OP_MUL || p->op == PTX_OP_DIV
            ? 1
            : 0;
    info->flops = (uint16_t)(two ? 2 * flops : flops);
    bool compare = p->op == PTX_OP_MIN || p->op == PTX_OP_MAX || p->op == PTX_OP_SETP ||
                   p->op == PTX_OP_SET || p->op == PTX_OP_NEG || p->op == PTX_OP_ABS ||
                   p->op == PTX_OP_COPYSIGN || p->op == PTX_OP_SLCT || p->op == PTX_OP_TESTP;
    if (t == PTX_F64)
        set_unit(info, UNIT_FP64, LATENCY_FP64);
    else if (p->op == PTX_OP_DIV)
        set_unit(info, UNIT_XU, LATENCY_SFU);
    else if (is_half(t))
        set_unit(info, UNIT_FP16, LATENCY_ALU);
    else
        set_unit(info, compare ? UNIT_ALU : UNIT_FMA, LATENCY_ALU);
}

static void int_info(struct inst_info *info, const struct ptx_inst *p)
{
    switch (p->op) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MADC:
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
    case PTX_OP_DP4A:
    case PTX_OP_DP2A:
        set_unit(info, UNIT_IMUL, LATENCY_ALU);
        return;
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
    case PTX_OP_BFIND:
    case PTX_OP_BREV:
        set_unit(info, UNIT_XU, LATENCY_SFU);
        return;
    default:
        set_unit(info, UNIT_ALU, LATENCY_ALU);
    }
}

static void fill_info(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    struct inst_info *info = decode_info(d);
    info->class = class_of(p);
    switch (info->class) {
    case PTX_CLASS_FP:
        fp_info(info, p);
        return;
    case PTX_CLASS_INT:
        int_info(info, p);
        return;
    case PTX_CLASS_MOVE:
        set_unit(info, UNIT_ALU, LATENCY_ALU);
        return;
    case PTX_CLASS_CONVERT: {
        /* between integers to 32 bits a conversion is a permute or a shift */
        bool cheap = !is_fp(p->type) && !is_fp(p->type2);
        set_unit(info, cheap ? UNIT_ALU : UNIT_XU, cheap ? LATENCY_ALU : LATENCY_SFU);
        return;
    }
    case PTX_CLASS_SPECIAL:
        fp_info(info, p);
        set_unit(info, p->type == PTX_F64 ? UNIT_FP64 : UNIT_XU,
            p->type == PTX_F64 ? LATENCY_FP64 : LATENCY_SFU);
        return;
    case PTX_CLASS_SHUFFLE:
        if (p->op == PTX_OP_VOTE || p->op == PTX_OP_ACTIVEMASK || p->op == PTX_OP_ELECT)
            set_unit(info, UNIT_ALU, LATENCY_ALU);
        else
            set_unit(info, UNIT_LSU, LATENCY_SHUFFLE);
        return;
    case PTX_CLASS_CONTROL:
    case PTX_CLASS_BARRIER:
        info->is_branch = p->op == PTX_OP_BRA || p->op == PTX_OP_BRX;
        info->is_barrier = p->op == PTX_OP_BAR || p->op == PTX_OP_BARRIER;
        set_unit(info, UNIT_BRANCH, LATENCY_ALU);
        return;
    default:
        return;
    }
}

/* --- widths --- */

static unsigned source_bytes(const struct ptx_inst *p, unsigned source)
{
    unsigned bytes = ptx_type_bytes(p->type);
    switch (p->op) {
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        return source == 1 ? 4 : bytes;
    case PTX_OP_BFE:
        return source >= 1 ? 4 : bytes;
    case PTX_OP_BFI:
        return source >= 2 ? 4 : bytes;
    case PTX_OP_MAD:
        return p->mul == PTX_MUL_WIDE && source == 2 ? 2 * bytes : bytes;
    case PTX_OP_SLCT:
        return source == 2 ? 4 : bytes;
    case PTX_OP_CVT:
    case PTX_OP_SET:
        return ptx_type_bytes(p->type2);
    case PTX_OP_ISSPACEP:
        return 8;
    default:
        return bytes;
    }
}

static unsigned dest_bytes(const struct ptx_inst *p)
{
    unsigned bytes = ptx_type_bytes(p->type);
    switch (p->op) {
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
    case PTX_OP_BFIND:
        return 4;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        return p->mul == PTX_MUL_WIDE ? 2 * bytes : bytes;
    default:
        return bytes;
    }
}

static uint16_t float_flags(const struct ptx_inst *p)
{
    return (uint16_t)((p->ftz ? INST_FTZ : 0) | (p->sat ? INST_SAT : 0));
}

/* Destination first, then up to four sources, all values. */
static bool plain(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[4] = {NO_ROW, NO_ROW, NO_ROW, NO_ROW};
    unsigned nr = p->nr_operands - p->nr_dests;
    struct inst probe = {0};
    if (!sem_find(p, &probe))
        return decode_fail(d, "not known to the emulator");
    if (p->nr_dests != 1 || nr > 4)
        return decode_fail(d, "this number of operands");
    unsigned values = p->op == PTX_OP_LOP3 ? 3 : nr;
    for (unsigned i = 0; i < values; i++)
        source[i] = decode_source(d, &p->operand[1 + i], source_bytes(p, i));
    bool is_signed = ptx_type_is_signed(p->type);
    uint32_t dest = decode_dest(d, &p->operand[0], dest_bytes(p), is_signed);
    struct inst *in = decode_emit(d, false);
    in->d = dest;
    in->a = source[0], in->b = source[1], in->c = source[2], in->e = source[3];
    in->flags |= float_flags(p);
    in->reg_bytes = (uint8_t)decode_reg_bytes(d, &p->operand[0]);
    if (d->nr_widen)
        in->reg_bytes = 4;
    in->d2 = d->f->carry;
    in->run = sem_find(p, in);
    if (p->op == PTX_OP_LOP3)
        in->imm = (int64_t)p->operand[4].imm;
    fill_info(d);
    return in->run || decode_fail(d, "not known to the emulator");
}

static bool mov_vector(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const struct ptx_operand *to = &p->operand[0], *from = &p->operand[1];
    bool pack = from->kind == PTX_OPERAND_VECTOR;
    const struct ptx_operand *vector = pack ? from : to, *scalar = pack ? to : from;
    unsigned bytes = ptx_type_bytes(p->type), nr = vector->nr;
    static const struct {
        unsigned bytes, nr;
        enum sem_move pack, unpack;
    } moves[] = {{2, 2, SEM_PACK8X2_16, SEM_UNPACK16_8X2},
        {4, 2, SEM_PACK16X2_32, SEM_UNPACK32_16X2}, {8, 2, SEM_PACK32X2_64, SEM_UNPACK64_32X2},
        {8, 4, SEM_PACK16X4_64, SEM_UNPACK64_16X4}, {4, 4, SEM_PACK8X4_32, SEM_UNPACK32_8X4}};
    for (unsigned i = 0; i < ARRAY_SIZE(moves); i++) {
        if (moves[i].bytes != bytes || moves[i].nr != nr)
            continue;
        uint32_t rows[4];
        for (unsigned j = 0; j < nr; j++) {
            const struct ptx_operand *o = &vector->vec[j];
            bool sink = o->kind == PTX_OPERAND_SINK || (o->kind == PTX_OPERAND_REG && o->reg < 0);
            if (pack)
                rows[j] = decode_source(d, o, 4);
            else
                rows[j] = sink ? NO_ROW : decode_dest(d, o, 4, false);
        }
        uint32_t row =
            pack ? decode_dest(d, scalar, bytes, false) : decode_source(d, scalar, bytes);
        struct inst *in = decode_emit(d, false);
        *(pack ? &in->d : &in->a) = row;
        in->rows = decode_copy(d, rows, sizeof(rows));
        in->run = sem_move(pack ? moves[i].pack : moves[i].unpack);
        fill_info(d);
        return true;
    }
    return decode_fail(d, "a vector of this shape");
}

/* One of the two 64-bit moves that one of 128 bits is; the second counts. */
static void move_half(struct decoder *d, unsigned half, enum sem_move move, uint32_t to,
    uint32_t from, const uint32_t *rows)
{
    struct inst *in = half ? decode_emit(d, false) : decode_part(d);
    in->d = to;
    in->a = from;
    in->rows = rows;
    in->run = sem_move(move);
}

static bool mov_wide(struct decoder *d)
{
    const struct ptx_operand *to = &d->ptx->operand[0], *from = &d->ptx->operand[1];
    const bool pack = from->kind == PTX_OPERAND_VECTOR, unpack = to->kind == PTX_OPERAND_VECTOR;
    const unsigned nr = pack ? from->nr : unpack ? to->nr : 2, each = 16 / nr;
    const struct ptx_operand *vec = pack ? from->vec : to->vec;
    uint32_t *rows = arena_array(d->arena, 4, sizeof(*rows));
    for (unsigned i = 0; i < nr && (pack || unpack); i++)
        rows[i] = pack ? decode_source(d, &vec[i], each) : decode_dest(d, &vec[i], each, false);
    for (unsigned half = 0; half < 2 && !d->failed; half++) {
        const uint32_t a = pack ? NO_ROW : decode_half(d, from, half),
                       b = unpack ? NO_ROW : decode_half(d, to, half);
        if (each == 4)
            move_half(d, half, pack ? SEM_PACK32X2_64 : SEM_UNPACK64_32X2, b, a, rows + 2 * half);
        else
            move_half(d, half, SEM_COPY64, unpack ? rows[half] : b, pack ? rows[half] : a, NULL);
    }
    fill_info(d);
    return !d->failed;
}

/* Two integers cut to fit beside each other, below what is left of a third. */
static bool cvt_pack(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[3] = {NO_ROW, NO_ROW, decode_const(d, 0, 4)};
    for (unsigned i = 0; i + 1 < p->nr_operands && i < 3; i++)
        source[i] = decode_source(d, &p->operand[1 + i], 4);
    const uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->a = source[0], in->b = source[1], in->c = source[2], in->d = dest;
    in->run = sem_find(p, in);
    fill_info(d);
    return in->run || decode_fail(d, "not known to the emulator");
}

/* What a policy is made of is the chip's own secret; all that can be done with it is to hand it to
 * memory operations, whose .L2::cache_hint changes no result. */
static bool create_policy(struct decoder *d)
{
    const uint32_t none = decode_const(d, 0, 8);
    const uint32_t dest = decode_dest(d, &d->ptx->operand[0], 8, false);
    struct inst *in = decode_emit(d, false);
    in->a = none, in->d = dest;
    in->run = sem_move(SEM_COPY64);
    fill_info(d);
    return true;
}

static bool is_clock(enum ptx_special s)
{
    return s == PTX_SR_CLOCK || s == PTX_SR_CLOCK64 || s == PTX_SR_GLOBALTIMER ||
           s == PTX_SR_CLOCK_HI || s == PTX_SR_GLOBALTIMER_LO || s == PTX_SR_GLOBALTIMER_HI;
}

static bool mov(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const struct ptx_operand *to = &p->operand[0], *from = &p->operand[1];
    if (p->type == PTX_B128)
        return mov_wide(d);
    if (to->kind == PTX_OPERAND_VECTOR || from->kind == PTX_OPERAND_VECTOR)
        return mov_vector(d);
    if (p->type == PTX_PRED) {
        uint32_t row = decode_pred(d, from), dest = decode_pred(d, to);
        struct inst *in = decode_emit(d, false);
        in->a = row;
        in->d = dest;
        in->run = sem_move(SEM_COPY_PRED);
        fill_info(d);
        return true;
    }
    unsigned bytes = ptx_type_bytes(p->type);
    bool clock = from->kind == PTX_OPERAND_SPECIAL && is_clock(from->special);
    uint32_t row = clock ? NO_ROW : decode_source(d, from, bytes);
    uint32_t dest = decode_dest(d, to, bytes, false);
    struct inst *in = decode_emit(d, false);
    in->a = row;
    in->d = dest;
    in->reg_bytes = bytes == 8 ? 8 : 4;
    if (clock) {
        in->kind = INST_CLOCK;
        in->sub = (uint8_t)from->special;
    }
    in->run = sem_move(bytes == 8 ? SEM_COPY64 : bytes == 2 ? SEM_COPY16 : SEM_COPY32);
    fill_info(d);
    return true;
}

static bool cvta(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint64_t window = p->space == PTX_SHARED  ? WINDOW_SHARED
                      : p->space == PTX_LOCAL ? WINDOW_LOCAL
                                              : 0;
    if (ptx_type_bytes(p->type) != 8)
        return decode_fail(d, "32-bit generic addresses");
    uint32_t row = decode_source(d, &p->operand[1], 8);
    uint32_t offset = decode_const(d, window, 8);
    uint32_t dest = decode_dest(d, &p->operand[0], 8, false);
    struct inst *in = decode_emit(d, false);
    struct ptx_inst add = {.op = p->to ? PTX_OP_SUB : PTX_OP_ADD, .type = PTX_U64};
    in->a = row;
    in->b = offset;
    in->d = dest;
    in->run = window ? sem_find(&add, in) : sem_move(SEM_COPY64);
    fill_info(d);
    return true;
}

static bool selp(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    unsigned bytes = ptx_type_bytes(p->type);
    uint32_t a = decode_source(d, &p->operand[1], bytes),
             b = decode_source(d, &p->operand[2], bytes);
    uint32_t c = decode_pred(d, &p->operand[3]);
    uint32_t dest = decode_dest(d, &p->operand[0], bytes, false);
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->c = c, in->d = dest;
    in->flags |= p->operand[3].negated ? INST_NEGATE_C : 0;
    in->run = sem_find(p, in);
    fill_info(d);
    return in->run || decode_fail(d, "not known to the emulator");
}

static bool is_sink(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_SINK || (o->kind == PTX_OPERAND_REG && o->reg < 0);
}

static bool setp(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    unsigned n = p->nr_dests, bytes = ptx_type_bytes(p->type);
    uint32_t a = decode_source(d, &p->operand[n], bytes);
    uint32_t b = decode_source(d, &p->operand[n + 1], bytes);
    bool has_c = p->nr_operands > n + 2;
    uint32_t c = has_c ? decode_pred(d, &p->operand[n + 2]) : NO_ROW;
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->c = c;
    in->d = is_sink(&p->operand[0]) ? NO_ROW : decode_pred(d, &p->operand[0]);
    in->d2 = n > 1 && !is_sink(&p->operand[1]) ? decode_pred(d, &p->operand[1]) : NO_ROW;
    in->flags |= float_flags(p) | (has_c && p->operand[n + 2].negated ? INST_NEGATE_C : 0);
    in->run = sem_find(p, in);
    fill_info(d);
    return in->run || decode_fail(d, "not known to the emulator");
}

/* set: a hidden comparison, then a counted choice between the type's true and false. */
static bool set(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    unsigned bytes = ptx_type_bytes(p->type2);
    uint32_t a = decode_source(d, &p->operand[1], bytes),
             b = decode_source(d, &p->operand[2], bytes);
    uint32_t c = p->nr_operands > 3 ? decode_pred(d, &p->operand[3]) : NO_ROW;
    bool pair = p->type2 == PTX_F16X2 || p->type2 == PTX_BF16X2;
    struct inst *in = decode_emit(d, true);
    in->a = a, in->b = b, in->c = c;
    in->d = d->scratch_word[0];
    in->d2 = pair ? d->scratch_word[1] : NO_ROW;
    in->type = (uint8_t)p->type2;
    in->flags |= float_flags(p) | (p->nr_operands > 3 && p->operand[3].negated ? INST_NEGATE_C : 0);
    in->run = sem_find(p, in);
    if (!in->run)
        return decode_fail(d, "not known to the emulator");
    uint64_t yes = p->type == PTX_F32                             ? 0x3f800000u
                   : p->type == PTX_F16 || p->type == PTX_F16X2   ? 0x3c00u
                   : p->type == PTX_BF16 || p->type == PTX_BF16X2 ? 0x3f80u
                   : p->type == PTX_U16 || p->type == PTX_S16     ? 0xffffu
                                                                  : 0xffffffffu;
    uint32_t one = decode_const(d, yes, 4), zero = decode_const(d, 0, 4);
    uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    in = decode_emit(d, false);
    if (pair) {
        in->a = d->scratch_word[0], in->b = d->scratch_word[1], in->d = dest;
        in->imm = (int64_t)(yes & 0xffffu);
        in->run = sem_move(SEM_SELECT_PAIR);
        fill_info(d);
        return true;
    }
    struct ptx_inst choose = {.op = PTX_OP_SELP, .type = PTX_B32};
    in->a = one, in->b = zero, in->c = d->scratch_word[0], in->d = dest;
    in->run = sem_find(&choose, in);
    fill_info(d);
    return true;
}

/* lop3 with a predicate: the value, then whether it is not zero, which is what counts. */
static bool lop3_pred(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[3];
    for (unsigned i = 0; i < 3; i++)
        source[i] = decode_source(d, &p->operand[2 + i], 4);
    const uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    const uint32_t zero = decode_const(d, 0, 4), c = decode_pred(d, &p->operand[6]);
    const uint32_t to = is_sink(&p->operand[1]) ? NO_ROW : decode_pred(d, &p->operand[1]);
    const struct ptx_inst table = {.op = PTX_OP_LOP3, .type = PTX_B32};
    const struct ptx_inst test = {
        .op = PTX_OP_SETP, .type = PTX_B32, .cmp = PTX_NE, .boolop = p->boolop};
    struct inst *in = decode_emit(d, true);
    in->a = source[0], in->b = source[1], in->c = source[2], in->d = dest;
    in->imm = (int64_t)p->operand[5].imm;
    in->run = sem_find(&table, in);
    in = decode_emit(d, false);
    in->a = dest, in->b = zero, in->c = c, in->d = to;
    in->flags |= p->operand[6].negated ? INST_NEGATE_C : 0;
    in->run = sem_find(&test, in);
    fill_info(d);
    return true;
}

/* and, or, xor, not on predicates; isspacep and testp, which give one. */
static bool to_pred(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    bool values = p->op == PTX_OP_ISSPACEP || p->op == PTX_OP_TESTP;
    uint32_t a = values ? decode_source(d, &p->operand[1], source_bytes(p, 0))
                        : decode_pred(d, &p->operand[1]);
    uint32_t b = !values && p->nr_operands > 2 ? decode_pred(d, &p->operand[2]) : NO_ROW;
    uint32_t dest = decode_pred(d, &p->operand[0]);
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->d = dest;
    in->run = sem_find(p, in);
    fill_info(d);
    return in->run || decode_fail(d, "not known to the emulator");
}

static bool control(struct decoder *d, enum inst_kind kind)
{
    decode_emit(d, false)->kind = (uint8_t)kind;
    fill_info(d);
    return true;
}

/* Counted as one instruction; the branch itself is behind it, as it is gone through once for each
 * place that lanes go to. */
static bool branch_indexed(struct decoder *d)
{
    const struct ptx_operand *labels = &d->ptx->operand[1];
    const uint32_t index = decode_source(d, &d->ptx->operand[0], 4);
    uint32_t *targets = arena_array(d->arena, labels->nr, sizeof(*targets));
    for (uint32_t i = 0; i < labels->nr; i++)
        targets[i] = labels->vec[i].target; /* resolve() makes it a pc */
    for (unsigned i = 0; i < 2; i++) {
        struct inst *in = i ? decode_part(d) : decode_emit(d, false);
        in->kind = i ? INST_BRANCH_INDEXED : INST_INDEX;
        in->a = index;
        in->imm = labels->nr;
        in->reconverge = d->ptx->reconverge;
        in->rows = targets;
        if (i == 0)
            fill_info(d);
    }
    return true;
}

static bool leave_function(struct decoder *d)
{
    const struct frame *f = d->f;
    decode_stack_leave(d);
    control(d, f->func->is_entry ? INST_EXIT : INST_RET);
    d->p->insts[d->p->nr_insts - 1].imm = f->stack_bytes;
    return true;
}

static bool activemask(struct decoder *d)
{
    uint32_t dest = decode_dest(d, &d->ptx->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->d = dest;
    in->run = sem_find(d->ptx, in);
    fill_info(d);
    return true;
}

bool decode_inst(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    switch (p->op) {
    case PTX_OP_MOV:
        return mov(d);
    case PTX_OP_CVTA:
        return cvta(d);
    case PTX_OP_SELP:
        return selp(d);
    case PTX_OP_SETP:
        return setp(d);
    case PTX_OP_SET:
        return set(d);
    case PTX_OP_ISSPACEP:
    case PTX_OP_TESTP:
        return to_pred(d);
    case PTX_OP_BRA:
        return control(d, INST_BRANCH);
    case PTX_OP_BRX:
        return branch_indexed(d);
    case PTX_OP_RET:
        return leave_function(d);
    case PTX_OP_EXIT:
        return control(d, INST_EXIT);
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
        return control(d, INST_TRAP);
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PMEVENT:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_DISCARD:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_SETMAXNREG:
        return control(d, INST_NOP);
    case PTX_OP_GRIDDEPCONTROL:
        return control(d, INST_NOP);
    case PTX_OP_CALL:
        return decode_call(d);
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
    case PTX_OP_CP:
        return decode_memory(d);
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
    case PTX_OP_MBARRIER:
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
        return decode_sync(d);
    case PTX_OP_MMA:
    case PTX_OP_WMMA:
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
        return decode_tensor(d);
    case PTX_OP_TEX:
    case PTX_OP_SULD:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
    case PTX_OP_TLD4:
    case PTX_OP_TXQ:
    case PTX_OP_SUQ:
        return decode_texture(d);
    case PTX_OP_ACTIVEMASK:
        return activemask(d);
    case PTX_OP_CREATEPOLICY:
        return create_policy(d);
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE:
        return decode_stack(d);
    default:
        break;
    }
    if (p->op >= PTX_OP_VABSDIFF && p->op <= PTX_OP_VSET4) {
        const bool ok = decode_video(d);
        fill_info(d);
        return ok;
    }
    if (p->op == PTX_OP_CVT && p->sub == PTX_SUB_PACK)
        return cvt_pack(d);
    if (p->type == PTX_PRED)
        return to_pred(d);
    if (p->op == PTX_OP_LOP3 && p->boolop)
        return p->nr_operands == 7 ? lop3_pred(d) : decode_fail(d, "without its predicates");
    if (p->op == PTX_OP_SELP || p->nr_dests != 1)
        return decode_fail(d, "not known to the emulator");
    return plain(d);
}
