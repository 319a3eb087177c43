/* Owns the decoding of a kernel and the functions it can reach: rows for registers, constants,
 * special registers and parameters; operands; branch targets; facts for listeners. */
#include "emu/decode/decode.h"

#include "base/mem.h"
#include "emu/emu.h"
#include "emu/exec/sums.h"
#include "emu/sem/sem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW32 = 128, ROW64 = 256, FIRST_ROW = 256 };

bool decode_fail(struct decoder *d, const char *why)
{
    if (!d->failed) {
        const struct ptx_inst *p = d->ptx;
        d->problem->line = p ? p->line : 0;
        snprintf(d->problem->text, sizeof(d->problem->text), "%s%s%s%s",
            p ? ptx_op_name(p->op) : "", p && p->mods ? p->mods : "", p ? ": " : "", why);
    }
    d->failed = true;
    return false;
}

static uint32_t new_row(struct decoder *d, unsigned bytes)
{
    uint32_t at = d->file_end;
    d->file_end += bytes == 16 ? 2 * ROW64 : bytes == 8 ? ROW64 : ROW32;
    return at;
}

struct inst *decode_emit(struct decoder *d, bool hidden)
{
    struct program *p = d->p;
    p->insts = grow(p->insts, &d->cap_insts, p->nr_insts + 1, sizeof(*p->insts));
    p->info = grow(p->info, &d->cap_info, p->nr_insts + 1, sizeof(*p->info));
    struct inst *in = &p->insts[p->nr_insts];
    struct inst_info *info = &p->info[p->nr_insts++];
    *in = (struct inst){.kind = INST_ALU,
        .flags = INST_UNGUARDED,
        .d = NO_ROW,
        .d2 = NO_ROW,
        .a = NO_ROW,
        .b = NO_ROW,
        .c = NO_ROW,
        .e = NO_ROW};
    *info = (struct inst_info){.ptx = hidden ? NULL : d->ptx,
        .func = d->f->func->name,
        .recursive = d->f->recursive,
        .unit = UNIT_NONE};
    if (!hidden)
        decode_describe(info, d->ptx);
    if (d->ptx) {
        info->line = d->ptx->line;
        in->type = (uint8_t)d->ptx->type;
    }
    if (hidden)
        in->flags |= INST_HIDDEN;
    return in;
}

struct inst *decode_part(struct decoder *d)
{
    struct inst *in = decode_emit(d, true);
    in->flags |= INST_PART;
    return in;
}

bool decode_is_sink(const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_SINK || (o->kind == PTX_OPERAND_REG && o->reg < 0);
}

uint32_t decode_half(struct decoder *d, const struct ptx_operand *o, unsigned half)
{
    if (decode_is_sink(o))
        return NO_ROW;
    if (decode_reg_bytes(d, o) != 16) {
        decode_fail(d, "a 128-bit register is needed");
        return NO_ROW;
    }
    return d->f->reg_offset[o->reg] + half * ROW64;
}

struct inst_info *decode_info(struct decoder *d)
{
    return &d->p->info[d->p->nr_insts - 1];
}

void *decode_copy(struct decoder *d, const void *bytes, size_t nr)
{
    void *copy = arena_alloc(d->arena, nr ? nr : 1);
    if (nr)
        memcpy(copy, bytes, nr);
    return copy;
}

uint32_t decode_const(struct decoder *d, uint64_t value, unsigned bytes)
{
    struct program *p = d->p;
    bytes = bytes == 8 ? 8 : 4;
    value = bytes == 8 ? value : value & 0xffffffffu;
    for (uint32_t i = 0; i < p->nr_consts; i++) {
        if (p->consts[i].value == value && p->consts[i].bytes == bytes)
            return p->consts[i].offset;
    }
    p->consts = grow(p->consts, &d->cap_consts, p->nr_consts + 1, sizeof(*p->consts));
    uint32_t offset = new_row(d, bytes);
    p->consts[p->nr_consts++] =
        (struct const_row){.offset = offset, .bytes = (uint8_t)bytes, .value = value};
    return offset;
}

uint32_t decode_special(struct decoder *d, enum ptx_special special, unsigned bytes)
{
    struct program *p = d->p;
    for (uint32_t i = 0; i < p->nr_specials; i++) {
        if (p->specials[i].special == special && p->specials[i].bytes == bytes)
            return p->specials[i].offset;
    }
    p->specials = grow(p->specials, &d->cap_specials, p->nr_specials + 1, sizeof(*p->specials));
    uint32_t offset = new_row(d, bytes);
    p->uses_reserved |= special >= PTX_SR_RESERVED_SMEM && special <= PTX_SR_RESERVED_SMEM_CAP;
    p->cooperative |= special == PTX_SR_ENVREG1 || special == PTX_SR_ENVREG2;
    p->specials[p->nr_specials++] =
        (struct special_row){.special = special, .offset = offset, .bytes = (uint8_t)bytes};
    return offset;
}

uint32_t decode_param_row(
    struct decoder *d, uint32_t param_offset, unsigned bytes, unsigned row_bytes, bool sign)
{
    struct program *p = d->p;
    for (uint32_t i = 0; i < p->nr_params; i++) {
        const struct param_row *r = &p->params[i];
        if (r->param_offset == param_offset && r->bytes == bytes && r->row_bytes == row_bytes &&
            r->sign_extend == sign)
            return r->offset;
    }
    p->params = grow(p->params, &d->cap_params, p->nr_params + 1, sizeof(*p->params));
    uint32_t offset = new_row(d, row_bytes);
    p->params[p->nr_params++] = (struct param_row){.offset = offset,
        .param_offset = param_offset,
        .bytes = (uint8_t)bytes,
        .row_bytes = (uint8_t)row_bytes,
        .sign_extend = sign};
    return offset;
}

bool decode_symbol(struct decoder *d, const struct ptx_symbol *s, uint64_t *address)
{
    switch (s->space) {
    case PTX_SHARED:
        *address = s->offset;
        if (s->external)
            *address = d->p->shared_dynamic_offset;
        return true;
    case PTX_LOCAL:
        *address = (uint64_t)d->f->local_base + s->offset;
        return true;
    case PTX_PARAM:
        if (s->role == PTX_ROLE_PARAM && d->f->func->is_entry) {
            *address = d->env->param_address + s->offset;
            d->p->uses_param_address = true;
            return true;
        }
        *address = s->offset + (uint64_t)(s->role == PTX_ROLE_PARAM    ? d->f->param_base
                                          : s->role == PTX_ROLE_RETURN ? d->f->ret_base
                                                                       : d->f->call_base);
        return true;
    default:
        break;
    }
    for (uint32_t i = 0; i < d->env->nr_symbols; i++) {
        if (d->env->symbols[i] == s) {
            *address = d->env->addresses[i];
            return true;
        }
    }
    return decode_fail(d, "a variable without a place");
}

static unsigned reg_bytes(enum ptx_type type)
{
    const unsigned bytes = ptx_type_bytes(type);
    return type == PTX_PRED ? 1 : bytes < 2 ? 2 : bytes;
}

unsigned decode_reg_bytes(const struct decoder *d, const struct ptx_operand *o)
{
    if (o->kind != PTX_OPERAND_REG || o->reg < 0)
        return 0;
    return reg_bytes(d->f->func->regs[o->reg].type);
}

static uint32_t scratch(struct decoder *d, unsigned bytes)
{
    if (bytes == 8)
        return d->scratch64[d->nr_scratch64++ % SCRATCH_ROWS];
    return d->scratch32[d->nr_scratch32++ % SCRATCH_ROWS];
}

uint32_t decode_scratch(struct decoder *d)
{
    return scratch(d, 4);
}

static uint32_t hidden_move(struct decoder *d, enum sem_move move, uint32_t from, unsigned bytes)
{
    uint32_t to = scratch(d, bytes);
    struct inst *in = decode_emit(d, true);
    in->run = sem_move(move);
    in->a = from;
    in->d = to;
    return to;
}

bool decode_on_stack(const struct decoder *d, const struct ptx_symbol *s)
{
    return d->f->recursive && (s->space == PTX_LOCAL || s->space == PTX_PARAM);
}

static uint32_t stack_address(struct decoder *d, uint64_t from_top, unsigned bytes)
{
    const struct ptx_inst add = {.op = PTX_OP_ADD, .type = PTX_U64};
    const uint32_t to = scratch(d, 8), by = decode_const(d, from_top, 8);
    struct inst *in = decode_emit(d, true);
    in->a = d->p->stack_row, in->b = by, in->d = to;
    in->run = sem_find(&add, in);
    return bytes == 8 ? to : hidden_move(d, SEM_NARROW64_32, to, 4);
}

static unsigned special_bytes(enum ptx_special special)
{
    return special == PTX_SR_CLOCK64 || special == PTX_SR_GLOBALTIMER || special == PTX_SR_GRIDID ||
                   special == PTX_SR_CURRENT_GRAPH_EXEC
               ? 8
               : 4;
}

uint32_t decode_source(struct decoder *d, const struct ptx_operand *o, unsigned bytes)
{
    uint64_t address;
    bytes = bytes == 8 ? 8 : 4;
    if (o->negated && o->kind == PTX_OPERAND_REG) {
        decode_fail(d, "a negated operand");
        return 0;
    }
    switch (o->kind) {
    case PTX_OPERAND_REG: {
        unsigned have = decode_reg_bytes(d, o);
        uint32_t row = d->f->reg_offset[o->reg];
        if (have == 16 || have == 1) {
            decode_fail(d, have == 1 ? "a predicate as a value" : "128-bit registers");
            return 0;
        }
        if (have == 8 && bytes == 4)
            return hidden_move(d, SEM_NARROW64_32, row, 4);
        if (have < 8 && bytes == 8)
            return hidden_move(d, SEM_WIDEN32_64, row, 8);
        return row;
    }
    case PTX_OPERAND_IMM:
        return decode_const(d, o->imm, bytes);
    case PTX_OPERAND_SPECIAL: {
        unsigned have = special_bytes(o->special);
        uint32_t row = decode_special(d, o->special, have);
        if (have == bytes)
            return row;
        return hidden_move(d, have == 8 ? SEM_NARROW64_32 : SEM_WIDEN32_64, row, bytes);
    }
    case PTX_OPERAND_FUNC:
        return decode_const(d, ptx_func_address(o->func), bytes);
    case PTX_OPERAND_SYMBOL:
        if (!decode_symbol(d, o->symbol, &address))
            return 0;
        if (decode_on_stack(d, o->symbol))
            return stack_address(d, address + o->imm, bytes);
        return decode_const(d, address + o->imm, bytes);
    default:
        decode_fail(d, "an operand of this kind");
        return 0;
    }
}

uint32_t decode_pred(struct decoder *d, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_IMM)
        return o->imm ? 0 : 4;          /* words 0 and 4 of the file: all ones, zeros */
    if (o->kind == PTX_OPERAND_SPECIAL) /* %is_explicit_cluster: its row's first word */
        return decode_special(d, o->special, 4);
    if (decode_reg_bytes(d, o) != 1) {
        decode_fail(d, "a predicate was expected");
        return 0;
    }
    return d->f->reg_offset[o->reg];
}

uint32_t decode_dest(struct decoder *d, const struct ptx_operand *o, unsigned bytes, bool is_signed)
{
    if (o->kind == PTX_OPERAND_SINK || o->reg < 0)
        return scratch(d, bytes);
    unsigned have = decode_reg_bytes(d, o);
    uint32_t row = d->f->reg_offset[o->reg];
    if (have == 16) {
        decode_fail(d, "128-bit registers");
        return row;
    }
    if (have == 8 && bytes < 8) {
        uint32_t from = scratch(d, 4);
        if (d->nr_widen == SCRATCH_ROWS) {
            decode_fail(d, "so many registers wider than the result");
            return row;
        }
        d->widen[d->nr_widen].from = from;
        d->widen[d->nr_widen].to = row;
        d->widen[d->nr_widen++].is_signed = is_signed;
        return from;
    }
    if (have < 8 && bytes == 8)
        decode_fail(d, "a result wider than its register");
    return row;
}

void decode_finish_widen(struct decoder *d)
{
    uint32_t last = d->p->nr_insts - 1;
    for (unsigned i = 0; i < d->nr_widen; i++) {
        struct inst *in = decode_emit(d, true);
        in->run = sem_move(d->widen[i].is_signed ? SEM_WIDEN32_64_SIGNED : SEM_WIDEN32_64);
        in->a = d->widen[i].from;
        in->d = d->widen[i].to;
        in->guard = d->p->insts[last].guard;
        in->guard_negated = d->p->insts[last].guard_negated;
    }
    d->nr_widen = 0;
}

bool decode_address(
    struct decoder *d, const struct ptx_operand *o, uint32_t *row, bool *is32, int64_t *imm)
{
    uint64_t address = 0;
    *is32 = false;
    if (o->kind == PTX_OPERAND_REG || o->reg >= 0) {
        unsigned bytes = reg_bytes(d->f->func->regs[o->reg].type);
        *row = d->f->reg_offset[o->reg];
        *is32 = bytes == 4;
        *imm = o->kind == PTX_OPERAND_REG ? 0 : (int64_t)o->imm;
        return bytes == 4 || bytes == 8 || decode_fail(d, "an address register of this width");
    }
    if (o->symbol && !decode_symbol(d, o->symbol, &address))
        return false;
    const bool on_stack = o->symbol && decode_on_stack(d, o->symbol);
    *row = on_stack ? d->p->stack_row : decode_const(d, address + o->imm, 8);
    *imm = on_stack ? (int64_t)(address + o->imm) : 0;
    return true;
}

struct func_frame *decode_frame(struct decoder *d, const struct ptx_func *func)
{
    for (uint32_t i = 0; i < d->nr_frames; i++) {
        if (d->frames[i].func == func)
            return &d->frames[i];
    }
    return NULL;
}

/* All .extern .shared arrays start at the same place: after the static ones, aligned for the
 * strictest. */
static void align_dynamic(struct decoder *d, const struct ptx_operand *o)
{
    bool named = o->kind == PTX_OPERAND_SYMBOL || (o->kind == PTX_OPERAND_ADDRESS && o->reg < 0);
    if (!named || !o->symbol || o->symbol->space != PTX_SHARED || !o->symbol->external)
        return;
    uint32_t align = o->symbol->align > 16 ? o->symbol->align : 16;
    uint32_t at = (d->p->shared_static_bytes + align - 1) / align * align;
    if (at > d->p->shared_dynamic_offset)
        d->p->shared_dynamic_offset = at;
}

/* Gives a frame to each function that can be reached, and finds the functions that can reach
 * themselves. Method: Tarjan, "Depth-first search and linear graph algorithms" (1972). *low: the
 * earliest frame that the function can go back to, if that is before *low. */
static bool collect(struct decoder *d, const struct ptx_func *func, uint32_t *low);

/* Visits all functions that an instruction may call. */
static bool collect_callees(struct decoder *d, const struct ptx_inst *inst, uint32_t *low)
{
    const struct ptx_module *module = d->env->module;
    if (inst->operand[1].kind == PTX_OPERAND_FUNC)
        return collect(d, inst->operand[1].func, low);
    for (uint32_t i = 0; i < module->nr_funcs; i++) {
        if (decode_may_reach(inst, module->funcs[i]) && !collect(d, module->funcs[i], low))
            return false;
    }
    return true;
}

/* The functions collected since the first, and not yet known, all reach each other. */
static void close_component(struct decoder *d, uint32_t first, bool calls_itself)
{
    bool recursive = calls_itself;
    for (uint32_t i = first + 1; i < d->nr_frames; i++)
        recursive |= !d->frames[i].known;
    for (uint32_t i = first; i < d->nr_frames; i++) {
        struct func_frame *f = &d->frames[i];
        if (f->known)
            continue;
        f->component = first;
        f->recursive = recursive;
        f->known = true;
    }
}

static bool calls_itself(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        const struct ptx_inst *inst = &func->insts[i];
        if (inst->op == PTX_OP_CALL &&
            (inst->operand[1].kind == PTX_OPERAND_FUNC ? inst->operand[1].func == func
                                                       : decode_may_reach(inst, func)))
            return true;
    }
    return false;
}

static bool collect(struct decoder *d, const struct ptx_func *func, uint32_t *low)
{
    if (func->problem) {
        d->problem->line = func->problem->line;
        const char *text = func->problem->text, *colon = strstr(text, "unsupported: ");
        snprintf(d->problem->text, sizeof(d->problem->text), "%.200s (line %u of the PTX)",
            colon ? colon + strlen("unsupported: ") : text, func->problem->text_line);
        d->failed = true;
        return false;
    }
    if (func->external || func->nr_insts == 0)
        return true;
    const struct func_frame *seen = decode_frame(d, func);
    const uint32_t index = seen ? (uint32_t)(seen - d->frames) : d->nr_frames;
    if (seen && func->is_entry)
        return decode_fail(d, "a kernel that is called");
    if (seen) {
        *low = !seen->known && index < *low ? index : *low;
        return true;
    }
    uint32_t back = index;
    d->frames = grow(d->frames, &d->cap_frames, d->nr_frames + 1, sizeof(*d->frames));
    d->frames[d->nr_frames++] = (struct func_frame){.func = func};
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        const struct ptx_inst *inst = &func->insts[i];
        for (unsigned j = 0; j < inst->nr_operands; j++)
            align_dynamic(d, &inst->operand[j]);
        d->frames[index].allocates |= inst->op == PTX_OP_ALLOCA || inst->op == PTX_OP_STACKSAVE ||
                                      inst->op == PTX_OP_STACKRESTORE;
        if (inst->op != PTX_OP_CALL)
            continue;
        d->ptx = inst;
        if (!collect_callees(d, inst, &back))
            return false;
    }
    if (back == index)
        close_component(d, index, calls_itself(func));
    *low = back < *low ? back : *low;
    return true;
}

enum { MOST_LOCAL = 512 << 10 }; /* CUDA programming guide, technical specifications */

/* Past the limit *end stays there. */
static uint32_t place(uint32_t *end, uint32_t bytes)
{
    const uint32_t at = (*end + 15) / 16 * 16;
    *end = bytes <= MOST_LOCAL && at <= MOST_LOCAL ? at + bytes : MOST_LOCAL + 1;
    return at;
}

/* The arguments come first: a call clears what is behind them. */
static void layout_memory(struct decoder *d, struct func_frame *f)
{
    uint32_t bytes = 0, *end = f->recursive ? &bytes : &d->p->local_bytes;
    if (!f->func->is_entry)
        f->param_base = place(end, f->func->param_bytes);
    f->local_base = place(end, f->func->local_bytes);
    f->floor_base = place(end, f->allocates ? 8 : 0);
    f->call_base = place(end, f->func->call_param_bytes);
    if (!f->func->is_entry)
        f->ret_base = place(end, f->func->ret_bytes);
    if (*end > MOST_LOCAL)
        decode_fail(d, "more than 512 KiB of local memory for each thread, which is CUDA's limit");
    if (!f->recursive)
        return;
    f->stack_bytes = bytes ? (bytes + 15) / 16 * 16 : 16;
    f->param_base -= f->stack_bytes;
    f->local_base -= f->stack_bytes;
    f->floor_base -= f->stack_bytes;
    f->call_base -= f->stack_bytes;
    f->ret_base -= f->stack_bytes;
}

static void layout_frame(struct decoder *d, struct func_frame *f)
{
    const struct ptx_func *func = f->func;
    f->reg_offset = arena_array(d->arena, func->nr_regs + 1, sizeof(uint32_t));
    f->reg_id = arena_array(d->arena, func->nr_regs + 1, sizeof(uint32_t));
    f->pc_of = arena_array(d->arena, func->nr_insts + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < func->nr_regs; i++) {
        unsigned bytes = reg_bytes(func->regs[i].type);
        f->reg_id[i] = d->p->nr_regs++;
        if (bytes == 1)
            continue;
        f->reg_offset[i] = new_row(d, bytes >= 8 ? bytes : 4);
    }
    /* predicates and the condition code: words, packed after the rows */
    f->words_offset = d->file_end;
    for (uint32_t i = 0; i < func->nr_regs; i++) {
        if (reg_bytes(func->regs[i].type) == 1) {
            f->reg_offset[i] = d->file_end;
            d->file_end += 4;
        }
    }
    f->carry = d->file_end;
    f->call_words = f->carry + 4;
    d->file_end = (f->call_words + 8 + 255) / 256 * 256;
    layout_memory(d, f);
}

/* The stacks lie behind everything that has a fixed place. */
static void layout_stacks(struct decoder *d)
{
    enum { ALIGN = 256 };
    struct program *p = d->p;
    uint32_t most = 0;
    bool any = false;
    p->local_bytes = (p->local_bytes + 15) / 16 * 16;
    p->stack_row = p->floor_row = NO_ROW;
    for (uint32_t i = 0; i < d->nr_frames; i++) {
        const uint32_t bytes = d->frames[i].stack_bytes;
        most = bytes > most ? bytes : most;
        any |= bytes || d->frames[i].allocates;
    }
    if (!any)
        return;
    p->stack_row = new_row(d, 8);
    p->floor_row = new_row(d, 8);
    p->stack_base = (p->local_bytes + ALIGN - 1) / ALIGN * ALIGN;
    p->stack_limit = p->stack_base + EMU_STACK_BYTES;
    p->local_bytes = p->stack_limit + most;
}

static void add_reg(struct decoder *d, const struct ptx_operand *o, uint16_t *nr, uint32_t *ids)
{
    /* the elements of a vector, and the coordinates of an address */
    for (uint32_t i = 0; o->vec && i < o->nr; i++)
        add_reg(d, &o->vec[i], nr, ids);
    if ((o->kind == PTX_OPERAND_REG || o->kind == PTX_OPERAND_ADDRESS) && o->reg >= 0 &&
        *nr < INST_MAX_REGS) {
        ids[(*nr)++] = d->f->reg_id[o->reg];
    }
}

static void fill_registers(struct decoder *d, struct inst_info *info)
{
    const struct ptx_inst *p = d->ptx;
    uint32_t dests[INST_MAX_REGS], sources[INST_MAX_REGS];
    for (unsigned i = 0; i < p->nr_operands; i++) {
        bool dest = i < p->nr_dests;
        add_reg(
            d, &p->operand[i], dest ? &info->nr_dests : &info->nr_sources, dest ? dests : sources);
    }
    if (p->guard >= 0 && info->nr_sources < INST_MAX_REGS)
        sources[info->nr_sources++] = d->f->reg_id[p->guard];
    info->dest = decode_copy(d, dests, info->nr_dests * sizeof(*dests));
    info->source = decode_copy(d, sources, info->nr_sources * sizeof(*sources));
}

/* Decodes one instruction, and gives its guard and registers to the instruction that counts. */
static bool one(struct decoder *d)
{
    uint32_t first = d->p->nr_insts;
    d->nr_scratch32 = d->nr_scratch64 = 0;
    d->nr_widen = 0;
    if (!decode_inst(d) || d->failed)
        return false;
    for (uint32_t i = first; i < d->p->nr_insts; i++) {
        struct inst *in = &d->p->insts[i];
        if (d->ptx->guard >= 0 && in->flags & INST_UNGUARDED &&
            (!(in->flags & INST_HIDDEN) || in->flags & INST_PART)) {
            in->guard = d->f->reg_offset[d->ptx->guard];
            in->guard_negated = d->ptx->guard_negated;
            in->flags &= (uint16_t)~INST_UNGUARDED;
        }
        if (!(in->flags & INST_HIDDEN))
            fill_registers(d, &d->p->info[i]);
    }
    decode_finish_widen(d);
    return true;
}

static bool decode_func(struct decoder *d, uint32_t index)
{
    d->f = &d->frames[index];
    const struct ptx_func *func = d->f->func;
    d->ptx = NULL;
    d->f->start = d->p->nr_insts;
    decode_stack_enter(d);
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        d->f->pc_of[i] = d->p->nr_insts;
        d->ptx = &func->insts[i];
        if (!one(d))
            return false;
    }
    d->f->pc_of[func->nr_insts] = d->p->nr_insts;
    d->ptx = NULL;
    decode_stack_leave(d);
    struct inst *in = decode_emit(d, true);
    in->kind = func->is_entry ? INST_EXIT : INST_RET;
    in->imm = d->f->stack_bytes;
    return true;
}

static void resolve(struct decoder *d)
{
    for (uint32_t fi = 0, pc = 0; fi < d->nr_frames; fi++) {
        const struct func_frame *f = &d->frames[fi];
        for (; pc <= f->pc_of[f->func->nr_insts]; pc++) {
            struct inst *in = &d->p->insts[pc];
            const struct ptx_inst *p = d->p->info[pc].ptx;
            if (in->kind == INST_BRANCH) {
                in->target = f->pc_of[p->operand[0].target];
                in->reconverge = f->pc_of[p->reconverge];
            } else if (in->kind == INST_BRANCH_INDEXED) {
                uint32_t *targets = (uint32_t *)in->rows;
                for (int64_t i = 0; i < in->imm; i++)
                    targets[i] = f->pc_of[targets[i]];
                in->reconverge = f->pc_of[in->reconverge];
            } else if (in->kind == INST_CALL) {
                in->target = d->frames[in->target].start;
            }
        }
    }
}

/* Finds the runs of instructions between which the interpreter need not look at anything:
 * inst->plain. */
static void find_plain(struct decoder *d)
{
    struct program *p = d->p;
    bool *meets = arena_array(d->arena, p->nr_insts + 1, sizeof(*meets));
    for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
        if (p->insts[pc].kind == INST_BRANCH || p->insts[pc].kind == INST_BRANCH_INDEXED)
            meets[p->insts[pc].reconverge] = true;
    }
    for (uint32_t pc = p->nr_insts; pc-- > 0;) {
        struct inst *in = &p->insts[pc];
        if (in->kind != INST_ALU || in->guard != 0 || in->guard_negated)
            continue;
        bool more = pc + 1 < p->nr_insts && !meets[pc + 1] && in[1].plain < UINT16_MAX;
        in->plain = (uint16_t)(1 + (more ? in[1].plain : 0));
    }
}

/* Most instructions compute, and a worker has half a kilobyte for each slot. */
static void give_slots(struct program *p)
{
    p->nr_slots = 1;
    for (uint32_t pc = 0; pc < p->nr_insts; pc++)
        p->insts[pc].slot = p->insts[pc].kind == INST_ALU ? 0 : p->nr_slots++;
}

static bool is_global(const struct inst *in)
{
    return in->space == PTX_GLOBAL || in->space == PTX_GENERIC;
}

/* A block may learn here what another block has done. */
static bool may_learn(const struct inst *in)
{
    return is_global(in) && ((in->kind == INST_LOAD && in->flags & INST_VOLATILE) ||
                                (in->kind == INST_ATOM && !(in->flags & INST_NO_DEST)));
}

/* A loop with this does more than wait. */
static bool is_work(const struct inst *in)
{
    switch (in->kind) {
    case INST_LOAD:
    case INST_STORE:
    case INST_ATOM:
        return is_global(in) && !may_learn(in);
    case INST_CP_ASYNC:
    case INST_BULK_COPY:
    case INST_CALL:
    case INST_BARRIER:
    case INST_MALLOC:
    case INST_FREE:
    case INST_PRINT:
        return true;
    default:
        return false;
    }
}

/* Finds the branches that close a loop which may wait for another block. */
static void find_waits(struct program *p)
{
    for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
        struct inst *in = &p->insts[pc];
        bool learns = false, works = false;
        p->learns |= may_learn(in);
        if (in->kind != INST_BRANCH || in->target > pc)
            continue;
        for (uint32_t i = in->target; i < pc && !works; i++) {
            learns |= may_learn(&p->insts[i]);
            works = is_work(&p->insts[i]);
        }
        if (!learns || works)
            continue;
        in->flags |= INST_AGAIN;
        p->waits = true;
    }
}

static void to_arena(struct decoder *d)
{
    struct program *p = d->p;
    void *heap[] = {p->insts, p->info, p->consts, p->specials, p->params};
    p->insts = decode_copy(d, p->insts, p->nr_insts * sizeof(*p->insts));
    p->info = decode_copy(d, p->info, p->nr_insts * sizeof(*p->info));
    p->consts = decode_copy(d, p->consts, p->nr_consts * sizeof(*p->consts));
    p->specials = decode_copy(d, p->specials, p->nr_specials * sizeof(*p->specials));
    p->params = decode_copy(d, p->params, p->nr_params * sizeof(*p->params));
    for (size_t i = 0; i < ARRAY_SIZE(heap); i++)
        free(heap[i]);
    free(d->frames);
}

struct program *decode_kernel(const struct ptx_func *kernel, const struct decode_env *env,
    struct arena *arena, struct decode_problem *problem)
{
    struct program *p = arena_alloc(arena, sizeof(*p));
    struct decoder d = {
        .p = p, .env = env, .arena = arena, .problem = problem, .file_end = FIRST_ROW};
    p->func = kernel;
    p->shared_static_bytes = p->shared_dynamic_offset = kernel->shared_static_bytes;
    uint32_t low = 0;
    bool ok = collect(&d, kernel, &low);
    d.ptx = NULL;
    for (uint32_t i = 0; ok && i < d.nr_frames; i++)
        layout_frame(&d, &d.frames[i]);
    layout_stacks(&d);
    ok = ok && !d.failed;
    for (unsigned i = 0; i < SCRATCH_ROWS; i++) {
        d.scratch32[i] = new_row(&d, 4);
        d.scratch64[i] = new_row(&d, 8);
    }
    d.scratch_word[0] = new_row(&d, 4);
    d.scratch_word[1] = d.scratch_word[0] + 4;
    for (uint32_t i = 0; ok && i < d.nr_frames; i++)
        ok = decode_func(&d, i);
    if (ok)
        resolve(&d);
    if (ok) {
        find_plain(&d);
        give_slots(p);
        decode_near(&d);
        find_waits(p);
        decode_live(&d);
        p->sum_bytes = (uint8_t)sums_width(p);
        p->oblivious = decode_oblivious(p);
    }
    p->file_bytes = (d.file_end + 255) / 256 * 256;
    to_arena(&d);
    return ok ? p : NULL;
}
