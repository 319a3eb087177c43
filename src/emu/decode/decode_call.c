/* Owns what calls become: copies of arguments and results between frames; calls of functions of the
 * module, of the system's own functions, and through registers.
 *
 * A call through a register becomes one call for each function that the register may name: a
 * function whose address is taken somewhere and that takes and returns as many values. Each of
 * these calls is taken by the lanes that name its function. Together they count as one instruction.
 */
#include "emu/decode/decode.h"

#include "base/mem.h"
#include "emu/sem/sem.h"

#include <stdio.h>
#include <string.h>

/* One argument from a register or constant, or one result to a register: a hidden store or load. */
static bool copy_register(struct decoder *d, const struct ptx_operand *o,
    const struct ptx_symbol *theirs, uint32_t their_row, int64_t at, bool back)
{
    const unsigned bytes = (unsigned)theirs->bytes, have = decode_reg_bytes(d, o),
                   width = have ? have : bytes;
    if (theirs->bytes > 8 || (bytes & (bytes - 1)) || have == 1 || have == 16)
        return decode_fail(d, "an argument of this size that is no .param variable");
    if (back && o->kind != PTX_OPERAND_REG)
        return decode_fail(d, "a result that goes nowhere");
    const uint32_t value = back ? d->f->reg_offset[o->reg] : decode_source(d, o, width),
                   row = their_row != NO_ROW ? their_row : decode_const(d, (uint64_t)at, 8);
    struct inst *in = decode_part(d);
    in->kind = back ? INST_LOAD : INST_STORE;
    in->a = row;
    in->imm = their_row != NO_ROW ? at : 0;
    in->vec = 1;
    in->elem_bytes = (uint8_t)bytes;
    in->reg_bytes = (uint8_t)(width < 2 ? 2 : width);
    in->sign_extend = ptx_type_is_signed(theirs->type);
    in->rows = decode_copy(d, &value, sizeof(value));
    in->space = PTX_PARAM;
    return true;
}

/* A hidden copy of arguments to the callee's frame, or of results back. Triples: to, from, bytes.
 * The frame of a recursive callee lies on the top of the caller's stack. */
static bool copy_frame(
    struct decoder *d, const struct ptx_operand *list, const struct func_frame *callee, bool back)
{
    const struct ptx_symbol *theirs = back ? callee->func->rets : callee->func->params;
    const int64_t their_base = (back ? callee->ret_base : callee->param_base) + callee->stack_bytes;
    const uint32_t our_row = d->f->recursive ? d->p->stack_row : NO_ROW,
                   their_row = callee->recursive ? d->p->stack_row : NO_ROW;
    uint32_t triples[3 * 64], nr = 0;
    if (list->nr > 64)
        return decode_fail(d, "so many arguments");
    for (uint32_t i = 0; i < list->nr; i++) {
        const struct ptx_operand *o = &list->vec[i];
        const int64_t other = their_base + (int64_t)theirs[i].offset;
        uint64_t ours;
        if (o->kind != PTX_OPERAND_SYMBOL) {
            if (!copy_register(d, o, &theirs[i], their_row, other, back))
                return false;
            continue;
        }
        if (!decode_symbol(d, o->symbol, &ours))
            return false;
        triples[3 * nr] = back ? (uint32_t)ours : (uint32_t)other;
        triples[3 * nr + 1] = back ? (uint32_t)other : (uint32_t)ours;
        triples[3 * nr++ + 2] =
            (uint32_t)(theirs[i].bytes < o->symbol->bytes ? theirs[i].bytes : o->symbol->bytes);
    }
    if (!nr)
        return true;
    struct inst *in = decode_part(d);
    in->kind = INST_COPY_FRAME;
    in->d = back ? our_row : their_row;
    in->a = back ? their_row : our_row;
    in->vec = (uint8_t)nr;
    in->rows = decode_copy(d, triples, 3 * nr * sizeof(*triples));
    return true;
}

/* The system's own functions. Arguments and result stay in the caller's frame. */
static bool call_external(struct decoder *d, const struct ptx_func *callee)
{
    static const struct {
        const char *name;
        enum inst_kind kind;
    } known[] = {{"__assertfail", INST_ASSERT}, {"vprintf", INST_PRINT}, {"malloc", INST_MALLOC},
        {"free", INST_FREE}};
    const struct ptx_operand *args = &d->ptx->operand[2], *rets = &d->ptx->operand[0];
    uint32_t at[8] = {0}, result = NO_ROW;
    uint64_t address;
    size_t which = 0;
    while (which < ARRAY_SIZE(known) && strcmp(callee->name, known[which].name) != 0)
        which++;
    if (which == ARRAY_SIZE(known)) {
        char why[160];
        snprintf(why, sizeof(why), "%.100s is a function that is only declared here", callee->name);
        return decode_fail(d, why);
    }
    for (uint32_t i = 0; i < args->nr && i < 8; i++) {
        if (args->vec[i].kind != PTX_OPERAND_SYMBOL)
            return decode_fail(d, "arguments in registers");
        if (!decode_symbol(d, args->vec[i].symbol, &address))
            return false;
        at[i] = (uint32_t)address;
    }
    if (rets->nr && rets->vec[0].kind == PTX_OPERAND_SYMBOL) {
        if (!decode_symbol(d, rets->vec[0].symbol, &address))
            return false;
        result = (uint32_t)address;
    }
    struct inst *in = decode_emit(d, false);
    in->kind = (uint8_t)known[which].kind;
    in->rows = decode_copy(d, at, sizeof(at));
    in->target = result;
    in->a = d->f->recursive ? d->p->stack_row : NO_ROW;
    d->p->uses_heap |= in->kind == INST_MALLOC || in->kind == INST_FREE;
    return true;
}

static struct inst *emit_call(struct decoder *d, const struct func_frame *frame, bool hidden)
{
    struct inst *in = decode_emit(d, hidden);
    in->kind = INST_CALL;
    in->imm = frame->stack_bytes;
    in->b = frame->func->param_bytes;
    in->target =
        (uint32_t)(frame -
                   d->frames); /* the number of the frame, which resolve() turns into a pc */
    decode_info(d)->class = PTX_CLASS_CONTROL;
    return in;
}

static bool call_frame(
    struct decoder *d, const struct func_frame *frame, uint32_t guard, bool hidden)
{
    const struct ptx_inst *p = d->ptx;
    const struct ptx_func *callee = frame->func;
    const uint32_t first = d->p->nr_insts;
    /* all lanes save, also those that do not call, so that the guard itself can be restored */
    const bool saves = d->f->recursive && frame->component == d->f->component;
    if (p->operand[2].nr > callee->nr_params || p->operand[0].nr > callee->nr_rets)
        return decode_fail(d, "more arguments than parameters");
    if (saves)
        decode_emit(d, true)->kind = INST_SAVE;
    if (p->operand[2].nr && !copy_frame(d, &p->operand[2], frame, false))
        return false;
    emit_call(d, frame, hidden);
    if (saves) {
        struct inst *in = decode_emit(d, true);
        in->kind = INST_RESTORE;
        in->a =
            p->operand[1].kind == PTX_OPERAND_REG ? d->f->reg_offset[p->operand[1].reg] : NO_ROW;
        in->c = p->guard >= 0 ? d->f->reg_offset[p->guard] : NO_ROW;
    }
    if (p->operand[0].nr && !copy_frame(d, &p->operand[0], frame, true))
        return false;
    for (uint32_t i = first; guard && i < d->p->nr_insts; i++) {
        struct inst *in = &d->p->insts[i];
        if (in->kind == INST_SAVE || in->kind == INST_RESTORE)
            continue;
        in->guard = guard;
        in->flags &= (uint16_t)~INST_UNGUARDED;
    }
    return true;
}

/* Emits a word of predicates: those lanes of `from` (a predicate, perhaps negated, or all lanes)
 * whose register holds the address, or does not. */
static uint32_t lanes_that(struct decoder *d, enum ptx_cmp cmp, uint32_t row, uint64_t address,
    uint32_t from, bool negated, uint32_t to)
{
    const struct ptx_inst test = {
        .op = PTX_OP_SETP, .type = PTX_B64, .cmp = cmp, .boolop = PTX_BOOL_AND};
    const uint32_t other = decode_const(d, address, 8);
    struct inst *in = decode_emit(d, true);
    in->a = row, in->b = other, in->c = from, in->d = to;
    in->flags |= negated ? INST_NEGATE_C : 0;
    in->run = sem_find(&test, in);
    return to;
}

bool decode_may_reach(const struct ptx_inst *call, const struct ptx_func *func)
{
    return func->address_taken && !func->is_entry && !func->external &&
           func->nr_params == call->operand[2].nr && func->nr_rets == call->operand[0].nr;
}

static bool call_through_register(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const struct ptx_module *module = d->env->module;
    const uint32_t row = decode_source(d, &p->operand[1], 8);
    const uint32_t mine = p->guard >= 0 ? d->f->reg_offset[p->guard] : 0;
    const uint32_t stray = d->f->call_words, mine_here = stray + 4;
    uint32_t from = mine;
    bool negated = p->guard_negated;
    if (decode_reg_bytes(d, &p->operand[1]) != 8)
        return decode_fail(d, "the address of a function is needed");
    for (uint32_t i = 0; i < module->nr_funcs; i++) {
        if (!decode_may_reach(p, module->funcs[i]))
            continue;
        from = lanes_that(d, PTX_NE, row, ptx_func_address(module->funcs[i]), from, negated, stray);
        negated = false;
    }
    struct inst *in = decode_emit(d, false);
    in->kind = INST_STRAY_CALL;
    in->a = row;
    in->guard = from;
    in->guard_negated = negated;
    in->flags &= (uint16_t)~INST_UNGUARDED;
    for (uint32_t i = 0; i < module->nr_funcs; i++) {
        const struct ptx_func *func = module->funcs[i];
        if (!decode_may_reach(p, func))
            continue;
        const uint32_t lanes =
            lanes_that(d, PTX_EQ, row, ptx_func_address(func), mine, p->guard_negated, mine_here);
        if (!call_frame(d, decode_frame(d, func), lanes, true))
            return false;
    }
    return true;
}

bool decode_call(struct decoder *d)
{
    const struct ptx_operand *callee = &d->ptx->operand[1];
    if (callee->kind != PTX_OPERAND_FUNC)
        return call_through_register(d);
    const struct func_frame *frame = decode_frame(d, callee->func);
    return frame ? call_frame(d, frame, 0, false) : call_external(d, callee->func);
}
