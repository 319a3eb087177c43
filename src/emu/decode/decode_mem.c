/* Owns what loads, stores, atomics, asynchronous copies, barriers and collectives become. */
#include "emu/decode/decode.h"

#include "base/mem.h"
#include "emu/exec/exec.h"
#include "emu/sem/sem.h"

#include <string.h>

void decode_memory_info(struct decoder *d, const struct inst *in)
{
    struct inst_info *info = decode_info(d);
    info->space = (enum ptx_space)in->space;
    info->is_memory = true;
    info->is_copy = in->kind == INST_CP_ASYNC || in->kind == INST_BULK_COPY;
    info->is_load = in->kind == INST_LOAD || (info->is_copy && in->space == PTX_GLOBAL);
    info->is_store = in->kind == INST_STORE || (info->is_copy && in->space != PTX_GLOBAL);
    info->is_atomic = in->kind == INST_ATOM;
    info->access_bytes = (unsigned)in->vec * in->elem_bytes;
}

static const struct ptx_operand *element(const struct ptx_operand *o, unsigned i)
{
    return o->kind == PTX_OPERAND_VECTOR ? &o->vec[i] : o;
}

static unsigned nr_elements(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_VECTOR ? o->nr : 1;
}

/* Kernel parameters at fixed offsets: a copy from a row that the launch fills. */
static bool load_param(struct decoder *d, const struct ptx_operand *to, uint32_t offset)
{
    const struct ptx_inst *p = d->ptx;
    const bool wide = p->type == PTX_B128;
    unsigned bytes = wide ? 8 : ptx_type_bytes(p->type), nr = wide ? 2 : nr_elements(to);
    for (unsigned i = 0; i < nr; i++) {
        const struct ptx_operand *o = element(to, i);
        unsigned reg = wide ? 8 : decode_reg_bytes(d, o), row_bytes = reg == 8 ? 8 : 4;
        if (decode_is_sink(o))
            continue;
        uint32_t from =
            decode_param_row(d, offset + i * bytes, bytes, row_bytes, ptx_type_is_signed(p->type));
        uint32_t dest = wide ? decode_half(d, o, i) : decode_dest(d, o, row_bytes, false);
        struct inst *in = i + 1 < nr ? decode_part(d) : decode_emit(d, false);
        in->a = from;
        in->d = dest;
        in->run = sem_move(row_bytes == 8 ? SEM_COPY64 : reg == 2 ? SEM_COPY16 : SEM_COPY32);
        in->space = PTX_PARAM;
        struct inst_info *info = decode_info(d);
        info->class = PTX_CLASS_MEMORY;
        info->unit = UNIT_NONE;
        info->space = PTX_PARAM;
    }
    return true;
}

/* An asynchronous operation tells its bytes to an mbarrier: an instruction of its own behind it. */
static bool complete_tx(struct decoder *d, const struct ptx_operand *object, uint32_t size)
{
    uint32_t a;
    bool is32;
    int64_t imm;
    if (!decode_address(d, object, &a, &is32, &imm))
        return false;
    struct inst *in = decode_part(d);
    in->kind = INST_MBARRIER;
    in->sub = PTX_SUB_COMPLETE_TX;
    in->a = a, in->b = size, in->c = NO_ROW, in->d = NO_ROW;
    in->address32 = is32;
    in->imm = imm;
    return true;
}

bool decode_load_store(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    bool store = p->op == PTX_OP_ST;
    const struct ptx_operand *value = &p->operand[store ? 1 : 0], *at = &p->operand[store ? 0 : 1];
    const bool wide = p->type == PTX_B128; /* two elements of 64 bits in one register */
    unsigned bytes = wide ? 8 : ptx_type_bytes(p->type), nr = wide ? 2 : nr_elements(value);
    bool is_static = at->kind == PTX_OPERAND_ADDRESS && at->reg < 0 && at->symbol;
    if (bytes == 0 || nr > 8 || (wide && value->kind == PTX_OPERAND_VECTOR))
        return decode_fail(d, "an access of this width");
    if (!store && p->space == PTX_PARAM && is_static && at->symbol->role == PTX_ROLE_PARAM &&
        d->f->func->is_entry)
        return load_param(d, value, (uint32_t)(at->symbol->offset + at->imm));
    uint32_t rows[8], row;
    bool is32;
    int64_t imm;
    unsigned reg = bytes == 8 ? 8 : 4;
    for (unsigned i = 0; i < nr && !wide; i++) {
        unsigned have = decode_reg_bytes(d, element(value, i));
        reg = have ? have : reg;
    }
    for (unsigned i = 0; i < nr; i++) {
        const struct ptx_operand *o = element(value, i);
        if (wide)
            rows[i] = decode_half(d, o, i);
        else if (store)
            rows[i] = decode_source(d, o, reg);
        else
            rows[i] = decode_is_sink(o) ? NO_ROW : decode_dest(d, o, reg, false);
    }
    if (!decode_address(d, at, &row, &is32, &imm))
        return false;
    struct inst *in = decode_emit(d, false);
    in->kind = store ? INST_STORE : INST_LOAD;
    in->a = row;
    in->address32 = is32;
    in->imm = imm;
    in->vec = (uint8_t)nr;
    in->elem_bytes = (uint8_t)bytes;
    in->reg_bytes = (uint8_t)(reg ? reg : 4);
    in->sign_extend = ptx_type_is_signed(p->type);
    in->rows = decode_copy(d, rows, nr * sizeof(*rows));
    in->space = (uint8_t)p->space;
    in->flags |= p->volatile_ || p->sem > PTX_SEM_WEAK ? INST_VOLATILE : 0;
    /* parameters of functions lie in local memory; a kernel's own in a buffer */
    bool kernel_param = is_static ? at->symbol->role == PTX_ROLE_PARAM && d->f->func->is_entry
                                  : d->f->func->is_entry;
    if (p->space == PTX_PARAM && kernel_param)
        in->space = PTX_CONST;
    decode_memory_info(d, in);
    return !p->async_ || complete_tx(d, &p->operand[2], decode_const(d, nr * bytes, 4));
}

static bool atomic_known(const struct ptx_inst *p)
{
    switch (p->type) {
    case PTX_F32:
    case PTX_F64:
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
        return p->atom == PTX_ATOM_ADD || ((p->atom == PTX_ATOM_MIN || p->atom == PTX_ATOM_MAX) &&
                                              p->type != PTX_F32 && p->type != PTX_F64);
    case PTX_B16:
        return p->atom == PTX_ATOM_CAS;
    case PTX_B128:
        return p->vec == 1 && (p->atom == PTX_ATOM_CAS || p->atom == PTX_ATOM_EXCH);
    case PTX_B32:
    case PTX_U32:
    case PTX_S32:
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
        return p->vec == 1;
    default:
        return false;
    }
}

/* A vector's elements: sources first, then results, in in->rows. */
static uint32_t *atomic_rows(struct decoder *d, unsigned bytes, bool has_dest)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t rows[16];
    if (p->vec == 1)
        return NULL;
    for (unsigned e = 0; e < p->vec; e++) {
        rows[e] = decode_source(d, &p->operand[has_dest ? 2 : 1].vec[e], bytes);
        rows[p->vec + e] = has_dest && !decode_is_sink(&p->operand[0].vec[e])
                               ? decode_dest(d, &p->operand[0].vec[e], bytes, false)
                               : NO_ROW;
    }
    return decode_copy(d, rows, 2 * p->vec * sizeof(*rows));
}

static uint32_t atomic_source(struct decoder *d, const struct ptx_operand *o, unsigned bytes)
{
    return bytes == 16 ? decode_half(d, o, 0) : decode_source(d, o, bytes);
}

bool decode_atomic(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    bool has_dest = p->op == PTX_OP_ATOM;
    unsigned n = has_dest ? 1 : 0, bytes = ptx_type_bytes(p->type);
    uint32_t row;
    bool is32;
    int64_t imm;
    if (!atomic_known(p) || (p->vec > 1 && p->vec * bytes > 16))
        return decode_unknown(d);
    uint32_t *rows = atomic_rows(d, bytes, has_dest);
    uint32_t b = rows ? NO_ROW : atomic_source(d, &p->operand[n + 1], bytes);
    uint32_t c =
        p->nr_operands > n + 2 && !p->async_ ? atomic_source(d, &p->operand[n + 2], bytes) : NO_ROW;
    uint32_t dest = rows || !has_dest || decode_is_sink(&p->operand[0]) ? NO_ROW
                    : bytes == 16 ? decode_half(d, &p->operand[0], 0)
                                  : decode_dest(d, &p->operand[0], bytes, false);
    if (!decode_address(d, &p->operand[n], &row, &is32, &imm))
        return false;
    struct inst *in = decode_emit(d, false);
    in->kind = INST_ATOM;
    in->a = row, in->b = b, in->c = c, in->d = dest;
    in->rows = rows;
    in->address32 = is32;
    in->imm = imm;
    in->vec = p->vec;
    in->elem_bytes = (uint8_t)bytes;
    in->reg_bytes = bytes == 8 ? 8 : 4;
    in->sub = (uint8_t)p->atom;
    in->type = (uint8_t)p->type;
    in->space = (uint8_t)p->space;
    in->flags |= dest == NO_ROW ? INST_NO_DEST : 0;
    decode_memory_info(d, in);
    d->p->uses_wide |= bytes == 16;
    if (p->atom == PTX_ATOM_ADD && ptx_type_is_float(p->type))
        d->p->float_atomics = true;
    return !p->async_ || complete_tx(d, &p->operand[2], decode_const(d, bytes, 4));
}

/* The parser takes any word of PTX behind "mbarrier". */
static bool is_mbarrier(const struct ptx_inst *p)
{
    switch (p->sub) {
    case PTX_SUB_INIT:
    case PTX_SUB_INVAL:
    case PTX_SUB_EXPECT_TX:
    case PTX_SUB_COMPLETE_TX:
    case PTX_SUB_ARRIVE:
    case PTX_SUB_ARRIVE_DROP:
    case PTX_SUB_TEST_WAIT:
    case PTX_SUB_TRY_WAIT:
    case PTX_SUB_PENDING_COUNT:
        return true;
    default:
        return p->sub == PTX_SUB_MBARRIER_ARRIVE && p->op == PTX_OP_CP;
    }
}

/* a: the address, or for pending_count the state; imm: displacement; b: a count or bytes; c: the
 * state or parity waited for; d: state, predicate or count. Time-out hints are left out. */
bool decode_mbarrier(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const bool count = p->sub == PTX_SUB_PENDING_COUNT;
    const bool asks = p->sub == PTX_SUB_TEST_WAIT || p->sub == PTX_SUB_TRY_WAIT;
    const bool arrives = p->sub == PTX_SUB_ARRIVE || p->sub == PTX_SUB_ARRIVE_DROP;
    const unsigned at = arrives || asks || count ? 1 : 0;
    uint32_t a = NO_ROW, b = NO_ROW, c = NO_ROW, dest = NO_ROW;
    bool is32 = false;
    int64_t imm = 0;
    if (!is_mbarrier(p))
        return decode_fail(d, "no such operation on an mbarrier");
    if (p->space != PTX_SHARED && p->space != PTX_GENERIC)
        return decode_fail(d, "an mbarrier outside shared memory");
    if (count)
        a = decode_source(d, &p->operand[1], 8);
    else if (!decode_address(d, &p->operand[at], &a, &is32, &imm))
        return false;
    if (asks)
        c = decode_source(d, &p->operand[2], p->parity ? 4 : 8);
    else if (!count && p->nr_operands > at + 1)
        b = decode_source(d, &p->operand[at + 1], 4);
    if (asks)
        dest = decode_pred(d, &p->operand[0]);
    else if (at && !decode_is_sink(&p->operand[0]))
        dest = decode_dest(d, &p->operand[0], count ? 4 : 8, false);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_MBARRIER;
    in->sub = (uint8_t)p->sub;
    in->a = a, in->b = b, in->c = c, in->d = dest;
    in->address32 = is32;
    in->imm = imm;
    return true;
}

/* ignore-src: the lanes for which the predicate is true copy nothing from their source. */
static uint32_t size_unless(struct decoder *d, const struct ptx_operand *ignores, uint64_t bytes)
{
    const struct ptx_inst choose = {.op = PTX_OP_SELP, .type = PTX_B32};
    const uint32_t none = decode_const(d, 0, 4), all = decode_const(d, bytes, 4),
                   c = decode_pred(d, ignores), to = decode_scratch(d);
    struct inst *in = decode_emit(d, true);
    in->a = none, in->b = all, in->c = c, in->d = to;
    in->flags |= ignores->negated ? INST_NEGATE_C : 0;
    in->run = sem_find(&choose, in);
    return to;
}

bool decode_copy_async(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    if (p->bulk)
        return decode_bulk(d);
    if (p->sub == PTX_SUB_COMMIT_GROUP || p->sub == PTX_SUB_WAIT_GROUP ||
        p->sub == PTX_SUB_WAIT_ALL) {
        decode_emit(d, false)->kind = INST_COPY_GROUP;
        return true;
    }
    if (p->sub == PTX_SUB_MBARRIER_ARRIVE)
        return decode_mbarrier(d);
    if (p->sub != PTX_SUB_NONE || p->nr_operands < 3 || p->operand[2].kind != PTX_OPERAND_IMM)
        return decode_unknown(d);
    const uint64_t bytes = p->operand[2].imm;
    if (bytes != 16 && (p->cache == PTX_CACHE_CG || (bytes != 4 && bytes != 8)))
        return decode_fail(d, "copies 4, 8 or 16 bytes, of .cg 16");
    uint32_t to, from;
    bool to32, from32;
    int64_t to_imm, from_imm;
    const bool last = p->nr_operands > 3,
               ignores = last && decode_reg_bytes(d, &p->operand[3]) == 1;
    uint32_t size = !last     ? NO_ROW
                    : ignores ? size_unless(d, &p->operand[3], p->operand[2].imm)
                              : decode_source(d, &p->operand[3], 4);
    if (!decode_address(d, &p->operand[0], &to, &to32, &to_imm) ||
        !decode_address(d, &p->operand[1], &from, &from32, &from_imm))
        return false;
    if (from32 || from_imm != (int32_t)from_imm)
        return decode_fail(d, "a 32-bit global address");
    struct inst *in = decode_emit(d, false);
    in->kind = INST_CP_ASYNC;
    in->a = to, in->b = from, in->c = size;
    in->address32 = to32;
    in->imm = to_imm;
    in->target = (uint32_t)(int32_t)from_imm;
    in->vec = 1;
    in->elem_bytes = (uint8_t)bytes;
    in->space = PTX_GLOBAL;
    decode_memory_info(d, in);
    return true;
}

/* --- barriers and collectives --- */

/* bar, barrier: a: number, b: thread count, c: predicate of .red, sub: enum ptx_sub, imm: what .red
 * does */
bool decode_barrier(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    if (p->sub == PTX_SUB_WARP) {
        uint32_t mask = decode_source(d, &p->operand[0], 4);
        struct inst *in = decode_emit(d, false);
        in->kind = INST_WARP_SYNC;
        in->e = mask;
        return true;
    }
    if (p->scope == PTX_SCOPE_CLUSTER) {
        if (p->op != PTX_OP_BARRIER || (p->sub != PTX_SUB_ARRIVE && p->sub != PTX_SUB_WAIT))
            return decode_unknown(d);
        struct inst *in = decode_emit(d, false);
        in->kind = INST_CLUSTER_BARRIER;
        in->sub = (uint8_t)p->sub;
        decode_info(d)->is_barrier = true;
        return true;
    }
    bool red = p->sub == PTX_SUB_RED;
    unsigned n = red ? 1 : 0, nr = p->nr_operands - n - (red ? 1 : 0);
    uint32_t a = decode_source(d, &p->operand[n], 4);
    uint32_t b = nr > 1 ? decode_source(d, &p->operand[n + 1], 4) : NO_ROW;
    uint32_t dest = NO_ROW, c = NO_ROW;
    if (red) {
        c = decode_pred(d, &p->operand[p->nr_operands - 1]);
        dest = p->atom == PTX_ATOM_POPC ? decode_dest(d, &p->operand[0], 4, false)
                                        : decode_pred(d, &p->operand[0]);
    }
    struct inst *in = decode_emit(d, false);
    in->kind = INST_BARRIER;
    in->a = a, in->b = b, in->c = c, in->d = dest;
    in->sub = (uint8_t)p->sub;
    in->imm = p->atom == PTX_ATOM_POPC ? 0 : p->boolop;
    in->flags |= red && p->operand[p->nr_operands - 1].negated ? INST_NEGATE_C : 0;
    decode_info(d)->is_barrier = true;
    return true;
}

/* e: the mask of lanes; a, b, c: sources; d, d2: results (d2 and a vote's d may be predicates). */
bool decode_collective(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    unsigned n = p->nr_dests, last = p->nr_operands - 1;
    bool pred_dest = p->op == PTX_OP_VOTE && p->vote != PTX_VOTE_BALLOT;
    if (!p->sync)
        return decode_fail(d, "without .sync");
    uint32_t source[3] = {NO_ROW, NO_ROW, NO_ROW};
    for (unsigned i = n; i < last && i - n < 3; i++) {
        if (p->op == PTX_OP_VOTE)
            source[i - n] = decode_pred(d, &p->operand[i]);
        else
            source[i - n] = decode_source(
                d, &p->operand[i], p->op == PTX_OP_MATCH && i == n ? ptx_type_bytes(p->type) : 4);
    }
    uint32_t mask = decode_source(d, &p->operand[last], 4);
    uint32_t dest =
        pred_dest ? decode_pred(d, &p->operand[0]) : decode_dest(d, &p->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_COLLECTIVE;
    in->a = source[0], in->b = source[1], in->c = source[2], in->e = mask;
    in->d = dest;
    in->d2 = n > 1 && !decode_is_sink(&p->operand[1]) ? decode_pred(d, &p->operand[1]) : NO_ROW;
    in->flags |= p->op == PTX_OP_VOTE && p->operand[n].negated ? INST_NEGATE_C : 0;
    in->run = sync_find(p, in);
    return in->run || decode_unknown(d);
}
