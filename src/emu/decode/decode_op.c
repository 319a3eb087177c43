/* Owns what arithmetic, moves, comparisons and control flow become. */
#include "emu/decode/decode.h"

#include "base/mem.h"
#include "emu/sem/sem.h"
#include "emu/state/windows.h"

static uint16_t float_flags(const struct ptx_inst *p)
{
    return (uint16_t)((p->ftz ? INST_FTZ : 0) | (p->sat ? INST_SAT : 0));
}

bool decode_run(struct decoder *d, struct inst *in, const struct ptx_inst *p)
{
    in->run = sem_find(p, in);
    return in->run || decode_unknown(d);
}

/* Destination first, then up to four sources, all values. */
bool decode_plain(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[4] = {NO_ROW, NO_ROW, NO_ROW, NO_ROW};
    const unsigned nr = p->nr_operands - p->nr_dests;
    struct inst probe = {0};
    if (p->nr_dests != 1 || !sem_find(p, &probe))
        return decode_unknown(d);
    if (nr > 4)
        return decode_fail(d, "this number of operands");
    const unsigned values = p->op == PTX_OP_LOP3 ? 3 : nr; /* the fourth is a table */
    for (unsigned i = 0; i < values; i++)
        source[i] = decode_source(d, &p->operand[1 + i], ptx_operand_bytes(p, 1 + i));
    const uint32_t dest =
        decode_dest(d, &p->operand[0], ptx_operand_bytes(p, 0), ptx_type_is_signed(p->type));
    struct inst *in = decode_emit(d, false);
    in->d = dest;
    in->a = source[0], in->b = source[1], in->c = source[2], in->e = source[3];
    in->flags |= float_flags(p);
    in->reg_bytes = (uint8_t)decode_reg_bytes(d, &p->operand[0]);
    if (d->nr_widen)
        in->reg_bytes = 4;
    in->d2 = d->f->carry;
    if (p->op == PTX_OP_LOP3)
        in->imm = (int64_t)p->operand[4].imm;
    return decode_run(d, in, p);
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
            if (pack)
                rows[j] = decode_source(d, o, 4);
            else
                rows[j] = decode_is_sink(o) ? NO_ROW : decode_dest(d, o, 4, false);
        }
        uint32_t row =
            pack ? decode_dest(d, scalar, bytes, false) : decode_source(d, scalar, bytes);
        struct inst *in = decode_emit(d, false);
        *(pack ? &in->d : &in->a) = row;
        in->rows = decode_copy(d, rows, sizeof(rows));
        in->run = sem_move(pack ? moves[i].pack : moves[i].unpack);
        return true;
    }
    return decode_fail(d, "a vector of this shape");
}

/* Emits one half of a 128-bit move as a move of 64 bits; the second half is the one that counts. */
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
    return !d->failed;
}

/* cvt.pack: two integers are cut to fit beside each other; what is left of a third lies above them.
 */
static bool cvt_pack(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[3] = {NO_ROW, NO_ROW, decode_const(d, 0, 4)};
    for (unsigned i = 0; i + 1 < p->nr_operands && i < 3; i++)
        source[i] = decode_source(d, &p->operand[1 + i], 4);
    const uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->a = source[0], in->b = source[1], in->c = source[2], in->d = dest;
    return decode_run(d, in, p);
}

bool decode_cvt(struct decoder *d)
{
    return d->ptx->sub == PTX_SUB_PACK ? cvt_pack(d) : decode_plain(d);
}

/* createpolicy: what a policy consists of is the chip's secret. A program can only hand it to
 * memory operations, whose .L2::cache_hint changes no result. */
bool decode_policy(struct decoder *d)
{
    const uint32_t none = decode_const(d, 0, 8);
    const uint32_t dest = decode_dest(d, &d->ptx->operand[0], 8, false);
    struct inst *in = decode_emit(d, false);
    in->a = none, in->d = dest;
    in->run = sem_move(SEM_COPY64);
    return true;
}

static bool is_clock(enum ptx_special s)
{
    return s == PTX_SR_CLOCK || s == PTX_SR_CLOCK64 || s == PTX_SR_GLOBALTIMER ||
           s == PTX_SR_CLOCK_HI || s == PTX_SR_GLOBALTIMER_LO || s == PTX_SR_GLOBALTIMER_HI;
}

bool decode_mov(struct decoder *d)
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
    return true;
}

bool decode_cvta(struct decoder *d)
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
    return true;
}

bool decode_selp(struct decoder *d)
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
    return decode_run(d, in, p);
}

bool decode_setp(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    unsigned n = p->nr_dests, bytes = ptx_type_bytes(p->type);
    uint32_t a = decode_source(d, &p->operand[n], bytes);
    uint32_t b = decode_source(d, &p->operand[n + 1], bytes);
    bool has_c = p->nr_operands > n + 2;
    uint32_t c = has_c ? decode_pred(d, &p->operand[n + 2]) : NO_ROW;
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->c = c;
    in->d = decode_is_sink(&p->operand[0]) ? NO_ROW : decode_pred(d, &p->operand[0]);
    in->d2 = n > 1 && !decode_is_sink(&p->operand[1]) ? decode_pred(d, &p->operand[1]) : NO_ROW;
    in->flags |= float_flags(p) | (has_c && p->operand[n + 2].negated ? INST_NEGATE_C : 0);
    return decode_run(d, in, p);
}

/* set: a hidden comparison, then a counted choice between the type's true and false. */
bool decode_set(struct decoder *d)
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
    if (!decode_run(d, in, p))
        return false;
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
        return true;
    }
    struct ptx_inst choose = {.op = PTX_OP_SELP, .type = PTX_B32};
    in->a = one, in->b = zero, in->c = d->scratch_word[0], in->d = dest;
    in->run = sem_find(&choose, in);
    return true;
}

/* lop3 with a predicate: a hidden lop3 gives the value, then a counted comparison tells whether it
 * is not zero. */
static bool lop3_pred(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t source[3];
    for (unsigned i = 0; i < 3; i++)
        source[i] = decode_source(d, &p->operand[2 + i], 4);
    const uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    const uint32_t zero = decode_const(d, 0, 4), c = decode_pred(d, &p->operand[6]);
    const uint32_t to = decode_is_sink(&p->operand[1]) ? NO_ROW : decode_pred(d, &p->operand[1]);
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
    return true;
}

bool decode_lop3(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    if (!p->boolop)
        return decode_plain(d);
    return p->nr_operands == 7 ? lop3_pred(d) : decode_fail(d, "without its predicates");
}

/* and, or, xor, not on predicates; isspacep and testp, which give one. */
bool decode_to_pred(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    bool values = p->op == PTX_OP_ISSPACEP || p->op == PTX_OP_TESTP;
    const unsigned bytes = p->op == PTX_OP_ISSPACEP ? 8 : ptx_type_bytes(p->type);
    uint32_t a = values ? decode_source(d, &p->operand[1], bytes) : decode_pred(d, &p->operand[1]);
    uint32_t b = !values && p->nr_operands > 2 ? decode_pred(d, &p->operand[2]) : NO_ROW;
    uint32_t dest = decode_pred(d, &p->operand[0]);
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->d = dest;
    return decode_run(d, in, p);
}

/* mapa, getctarank: a: the address, of type `type`; b: the rank; c: the block's own rank. */
bool decode_mapa(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const bool maps = p->op == PTX_OP_MAPA;
    const unsigned bytes = ptx_type_bytes(p->type);
    if ((p->space != PTX_SHARED && p->space != PTX_GENERIC) ||
        (p->space == PTX_GENERIC && bytes != 8))
        return decode_fail(d, "an address outside shared memory");
    const uint32_t a = decode_source(d, &p->operand[1], bytes),
                   b = maps ? decode_source(d, &p->operand[2], 4) : NO_ROW,
                   own = decode_special(d, PTX_SR_CLUSTER_CTARANK, 4),
                   dest = decode_dest(d, &p->operand[0], maps ? bytes : 4, false);
    struct inst *in = decode_emit(d, false);
    in->a = a, in->b = b, in->c = own, in->d = dest;
    in->reg_bytes = bytes == 8 ? 8 : 4;
    return decode_run(d, in, p);
}

bool decode_logic(struct decoder *d)
{
    return d->ptx->type == PTX_PRED ? decode_to_pred(d) : decode_plain(d);
}

static bool control(struct decoder *d, enum inst_kind kind)
{
    decode_emit(d, false)->kind = (uint8_t)kind;
    return true;
}

bool decode_branch(struct decoder *d)
{
    control(d, INST_BRANCH);
    decode_info(d)->is_branch = true;
    return true;
}

bool decode_exit(struct decoder *d)
{
    return control(d, INST_EXIT);
}

bool decode_trap(struct decoder *d)
{
    return control(d, INST_TRAP);
}

bool decode_nop(struct decoder *d)
{
    return control(d, INST_NOP);
}

/* brx becomes two instructions. The first is counted; the branch itself is the second, which a warp
 * executes once for each place that its lanes go to. */
bool decode_branch_indexed(struct decoder *d)
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
        decode_info(d)->is_branch = i == 0;
    }
    return true;
}

bool decode_ret(struct decoder *d)
{
    const struct func_frame *f = d->f;
    decode_stack_leave(d);
    control(d, f->func->is_entry ? INST_EXIT : INST_RET);
    d->p->insts[d->p->nr_insts - 1].imm = f->stack_bytes;
    return true;
}

bool decode_activemask(struct decoder *d)
{
    uint32_t dest = decode_dest(d, &d->ptx->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->d = dest;
    return decode_run(d, in, d->ptx);
}
