/* Owns what alloca, stacksave and stackrestore become. A function gives back what it allocated when
 * it returns: its frame keeps the stack pointer that the function found. */
#include "emu/decode/decode.h"

#include "emu/sem/sem.h"

static void keep(struct decoder *d, struct inst *in, enum inst_kind kind, uint32_t address)
{
    in->kind = (uint8_t)kind;
    in->a = address;
    in->imm = d->f->recursive ? d->f->floor_base : 0;
    in->vec = 1;
    in->elem_bytes = in->reg_bytes = 8;
    in->rows = decode_copy(d, &d->p->floor_row, sizeof(d->p->floor_row));
    in->space = PTX_PARAM;
}

static uint32_t kept_at(struct decoder *d)
{
    return d->f->recursive ? d->p->stack_row : decode_const(d, (uint64_t)d->f->floor_base, 8);
}

void decode_stack_enter(struct decoder *d)
{
    if (!d->f->allocates || d->f->func->is_entry)
        return;
    const uint32_t address = kept_at(d);
    keep(d, decode_emit(d, true), INST_STORE, address);
}

void decode_stack_leave(struct decoder *d)
{
    if (!d->f->allocates || d->f->func->is_entry)
        return;
    const uint32_t address = kept_at(d);
    keep(d, decode_part(d), INST_LOAD, address);
}

static bool alloca_memory(struct decoder *d, struct inst *in, uint32_t dest, uint32_t size)
{
    const struct ptx_inst *p = d->ptx;
    enum { DEFAULT_ALIGN = 8, MOST_ALIGN = 1 << 23 };
    const uint64_t align = p->nr_operands > 2 ? p->operand[2].imm : DEFAULT_ALIGN;
    in->kind = INST_ALLOCA;
    in->d = dest;
    in->a = size;
    in->reg_bytes = (uint8_t)ptx_type_bytes(p->type);
    in->imm = (int64_t)(align > DEFAULT_ALIGN ? align : DEFAULT_ALIGN);
    return (align && !(align & (align - 1)) && align <= MOST_ALIGN) ||
           decode_fail(d, "an alignment that is no power of two to 2^23");
}

bool decode_stack(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const unsigned bytes = ptx_type_bytes(p->type);
    const bool back = p->op == PTX_OP_STACKRESTORE;
    if (bytes < 4)
        return decode_fail(d, "a pointer of this width");
    const uint32_t source = p->op == PTX_OP_STACKSAVE ? d->p->floor_row
                                                      : decode_source(d, &p->operand[!back], 8),
                   dest = back ? NO_ROW : decode_dest(d, &p->operand[0], bytes, false);
    struct inst *in = decode_emit(d, false);
    if (p->op == PTX_OP_ALLOCA)
        return alloca_memory(d, in, dest, source);
    in->a = source;
    in->d = dest;
    if (back)
        in->kind = INST_STACK_BACK;
    else
        in->run = sem_move(bytes == 8 ? SEM_COPY64 : SEM_NARROW64_32);
    return true;
}
