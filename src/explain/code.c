/* Owns the reading of facts from PTX. */
#include "explain/code.h"

#include "base/mem.h"
#include "explain/lane_pattern.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_LOOPS = 512,
    SHORT_LOOP = 32,
    WIDE_BYTES = 4,
    BANK_BYTES = 4,
    NR_DEFS = 4,
    FAR = 200,
    MOST_SOURCES = 48
};

struct code_loop {
    uint32_t first, last; /* instructions */
    unsigned line_first, line_last;
    bool innermost;
};

/* The places where a register is written and read. */
struct uses {
    uint32_t defs[NR_DEFS]; /* the first few */
    uint32_t nr_defs, nr_uses;
    uint32_t nr_staged; /* uses that store the value to shared memory */
    uint32_t staged;    /* one of these uses */
};

struct code_reader {
    struct arena *arena;
    const struct ptx_func *func;
    const struct lane_pattern *patterns;
    struct uses *uses;
    uint8_t *data; /* by register: loaded from memory, or computed from such values */
    struct code_loop loops[MAX_LOOPS];
    unsigned nr_loops;
    struct code_fact *facts;
    size_t nr_facts, cap;
};

/* ---- loops ---- */

static void loop_lines(const struct ptx_func *func, struct code_loop *loop)
{
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        unsigned line = func->insts[i].line;

        if (line > 0 && (loop->line_first == 0 || line < loop->line_first)) {
            loop->line_first = line;
        }
        loop->line_last = line > loop->line_last ? line : loop->line_last;
    }
}

static void find_loops(struct code_reader *r)
{
    const struct ptx_func *func = r->func;

    for (uint32_t i = 0; i < func->nr_insts && r->nr_loops < MAX_LOOPS; i++) {
        const struct ptx_inst *inst = &func->insts[i];

        if (inst->op == PTX_OP_BRA && inst->operand[0].kind == PTX_OPERAND_LABEL &&
            inst->operand[0].target <= i) {
            r->loops[r->nr_loops++] =
                (struct code_loop){.first = inst->operand[0].target, .last = i, .innermost = true};
        }
    }
    for (unsigned a = 0; a < r->nr_loops; a++) {
        loop_lines(func, &r->loops[a]);
        for (unsigned b = 0; b < r->nr_loops; b++) {
            r->loops[a].innermost =
                r->loops[a].innermost && !(a != b && r->loops[b].first >= r->loops[a].first &&
                                             r->loops[b].last < r->loops[a].last);
        }
    }
}

/* The innermost loop around an instruction; NULL none. */
static const struct code_loop *loop_of(const struct code_reader *r, uint32_t at)
{
    const struct code_loop *best = NULL;

    for (unsigned i = 0; i < r->nr_loops; i++) {
        const struct code_loop *l = &r->loops[i];

        if (l->first <= at && at <= l->last &&
            (!best || l->last - l->first < best->last - best->first)) {
            best = l;
        }
    }
    return best;
}

/* ---- registers ---- */

static bool is_shared_store(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_ST && inst->space == PTX_SHARED;
}

static void note_use(struct code_reader *r, const struct ptx_operand *o, uint32_t at, bool staged)
{
    if (o->kind == PTX_OPERAND_VECTOR) {
        for (unsigned v = 0; v < o->nr; v++) {
            note_use(r, &o->vec[v], at, staged);
        }
    } else if ((o->kind == PTX_OPERAND_REG || o->kind == PTX_OPERAND_ADDRESS) && o->reg >= 0) {
        struct uses *u = &r->uses[o->reg];

        u->nr_uses++;
        u->nr_staged += staged;
        u->staged = staged ? at : u->staged;
    }
}

static void note_def(struct code_reader *r, const struct ptx_operand *o, uint32_t at)
{
    if (o->kind == PTX_OPERAND_VECTOR) {
        for (unsigned v = 0; v < o->nr; v++) {
            note_def(r, &o->vec[v], at);
        }
    } else if (o->kind == PTX_OPERAND_REG && o->reg >= 0) {
        struct uses *u = &r->uses[o->reg];

        if (u->nr_defs < NR_DEFS) {
            u->defs[u->nr_defs] = at;
        }
        u->nr_defs++;
    }
}

static void find_uses(struct code_reader *r)
{
    r->uses = arena_array(r->arena, r->func->nr_regs + 1u, sizeof(*r->uses));
    for (uint32_t i = 0; i < r->func->nr_insts; i++) {
        const struct ptx_inst *inst = &r->func->insts[i];

        for (unsigned k = 0; k < inst->nr_operands; k++) {
            if (k < inst->nr_dests) {
                note_def(r, &inst->operand[k], i);
            } else {
                note_use(r, &inst->operand[k], i, is_shared_store(inst) && k == 1);
            }
        }
        if (inst->guard >= 0) {
            r->uses[inst->guard].nr_uses++;
        }
    }
}

static bool changes_in(const struct code_reader *r, int32_t reg, const struct code_loop *loop)
{
    const struct uses *u = &r->uses[reg];

    for (unsigned i = 0; i < u->nr_defs && i < NR_DEFS; i++) {
        if (u->defs[i] >= loop->first && u->defs[i] <= loop->last) {
            return true;
        }
    }
    return u->nr_defs > NR_DEFS;
}

static bool is_fixed_address(
    const struct code_reader *r, const struct ptx_operand *o, const struct code_loop *loop)
{
    return o->kind == PTX_OPERAND_ADDRESS && o->reg >= 0 && !changes_in(r, o->reg, loop);
}

/* ---- facts ---- */

static struct code_fact *add(struct code_reader *r, enum code_kind kind, uint32_t at)
{
    const struct code_loop *loop = loop_of(r, at);
    unsigned line = r->func->insts[at].line;

    for (size_t i = 0; i < r->nr_facts; i++) {
        if (r->facts[i].kind == kind && r->facts[i].line == line) {
            r->facts[i].in_loop = r->facts[i].in_loop || loop;
            return &r->facts[i];
        }
    }
    r->facts = grow(r->facts, &r->cap, r->nr_facts + 1, sizeof(*r->facts));
    r->facts[r->nr_facts] = (struct code_fact){.kind = kind,
        .line = line,
        .first = loop ? loop->line_first : 0,
        .last = loop ? loop->line_last : 0,
        .in_loop = loop != NULL};
    return &r->facts[r->nr_facts++];
}

static unsigned access_bytes(const struct ptx_inst *inst)
{
    return ptx_type_bytes(inst->type) * (inst->vec ? inst->vec : 1u);
}

static bool is_global(const struct ptx_inst *inst)
{
    return inst->space == PTX_GLOBAL;
}

/* Notes how far apart the lanes of an access are. */
static void read_stride(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    const struct ptx_operand *address = &inst->operand[inst->nr_dests];
    struct lane_pattern pattern = lane_pattern_of(r->patterns, address);
    unsigned bytes = access_bytes(inst);
    int64_t step = pattern.step < 0 ? -pattern.step : pattern.step;

    if (inst->space == PTX_SHARED) {
        if (pattern.form == LANE_LINEAR && step % (8 * BANK_BYTES) == 0 && bytes <= 8) {
            add(r, CODE_BANKS, at)->stride = step;
        }
        return;
    }
    if (pattern.form == LANE_SCALED ||
        (pattern.form == LANE_LINEAR && step >= 2 * (int64_t)bytes)) {
        struct code_fact *f = add(r, CODE_SCATTERED, at);

        f->stride = pattern.form == LANE_LINEAR ? step : 0;
        f->width = bytes;
    } else if (pattern.form == LANE_LINEAR && bytes <= WIDE_BYTES && step == bytes) {
        add(r, CODE_NARROW, at)->width = bytes;
    } else if (pattern.loaded && inst->op == PTX_OP_LD && loop_of(r, at)) {
        add(r, CODE_LOOKED_UP, at);
    }
}

static bool is_value(const struct ptx_operand *o)
{
    return (o->kind == PTX_OPERAND_REG || o->kind == PTX_OPERAND_ADDRESS) && o->reg >= 0;
}

static void look_into(const struct ptx_operand *o, int32_t *regs, unsigned *nr)
{
    for (unsigned i = 0; i < *nr; i++) {
        if (is_value(o) && regs[i] == o->reg) {
            return;
        }
    }
    if (is_value(o) && *nr < MOST_SOURCES) {
        regs[(*nr)++] = o->reg;
    }
}

/* A load from global memory on the same line, from whose value the address of a load is made;
 * UINT32_MAX: there is none within the nearest instructions. */
static uint32_t load_before(const struct code_reader *r, uint32_t at)
{
    const unsigned line = r->func->insts[at].line;
    int32_t regs[MOST_SOURCES];
    unsigned nr = 0;

    look_into(&r->func->insts[at].operand[1], regs, &nr);
    for (unsigned i = 0; i < nr; i++) {
        const struct uses *u = &r->uses[regs[i]];

        for (unsigned d = 0; d < u->nr_defs && d < NR_DEFS; d++) {
            const struct ptx_inst *def = &r->func->insts[u->defs[d]];

            if (def->op == PTX_OP_LD && is_global(def) && def->line == line) {
                return u->defs[d];
            }
            for (unsigned k = def->nr_dests; def->op != PTX_OP_LD && k < def->nr_operands; k++) {
                look_into(&def->operand[k], regs, &nr);
            }
        }
    }
    return UINT32_MAX;
}

/* A chain of loads: no load knows its address before the one before it is there. Three of them on a
 * line, or one that depends on itself from round to round; A[B[i]] is none. */
static void read_chase(struct code_reader *r, uint32_t at)
{
    const uint32_t before = load_before(r, at);

    if (before != UINT32_MAX && load_before(r, before) != UINT32_MAX) {
        add(r, CODE_CHASED, at);
    }
}

/* A store in the loop that might change the value that `load` reads. */
static uint32_t store_in(const struct code_reader *r, const struct code_loop *loop)
{
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        const struct ptx_inst *inst = &r->func->insts[i];

        if (inst->op == PTX_OP_ST && (is_global(inst) || inst->space == PTX_GENERIC)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool same_address(const struct ptx_operand *a, const struct ptx_operand *b)
{
    return a->kind == PTX_OPERAND_ADDRESS && b->kind == PTX_OPERAND_ADDRESS && a->reg >= 0 &&
           a->reg == b->reg && a->imm == b->imm;
}

static bool changes(const struct ptx_inst *inst, int32_t reg)
{
    for (unsigned d = 0; d < inst->nr_dests; d++) {
        if (inst->operand[d].kind == PTX_OPERAND_REG && inst->operand[d].reg == reg) {
            return true;
        }
    }
    return false;
}

/* In unrolled code: a load from the same address again, behind a store that might have changed the
 * value. */
static void read_again(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    unsigned store = 0;

    for (uint32_t i = at + 1; i < r->func->nr_insts && i < at + FAR; i++) {
        const struct ptx_inst *next = &r->func->insts[i];

        if (ptx_op_class(next->op) == PTX_CLASS_CONTROL || changes(next, inst->operand[1].reg)) {
            return;
        }
        if (next->op == PTX_OP_ST && (is_global(next) || next->space == PTX_GENERIC)) {
            store = next->line;
        } else if (store > 0 && next->op == PTX_OP_LD && is_global(next) && !next->volatile_ &&
                   same_address(&inst->operand[1], &next->operand[1])) {
            add(r, CODE_RELOADED, i)->line2 = store;
            return;
        }
    }
}

static void read_load(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    const struct code_loop *loop = loop_of(r, at);
    const struct ptx_operand *dest = &inst->operand[0];

    if (!is_global(inst)) {
        return;
    }
    read_chase(r, at);
    if (dest->kind == PTX_OPERAND_VECTOR && dest->nr > 0) {
        dest = &dest->vec[0];
    }
    if (loop && dest->kind == PTX_OPERAND_REG && dest->reg >= 0 &&
        r->uses[dest->reg].nr_defs == 1 && r->uses[dest->reg].nr_staged > 0 &&
        r->uses[dest->reg].nr_staged == r->uses[dest->reg].nr_uses) {
        add(r, CODE_STAGED, at)->line2 = r->func->insts[r->uses[dest->reg].staged].line;
    }
    if (loop && !inst->nc && !inst->volatile_ && is_fixed_address(r, &inst->operand[1], loop)) {
        uint32_t store = store_in(r, loop);

        if (store != UINT32_MAX &&
            !same_address(&inst->operand[1], &r->func->insts[store].operand[0])) {
            add(r, CODE_RELOADED, at)->line2 = r->func->insts[store].line;
        }
    }
    if (!inst->nc && !inst->volatile_) {
        read_again(r, at);
    }
}

/* In unrolled code: the next store goes to the same address. The compiler keeps both stores because
 * of loads in between that might read the address; the programmer did not mean that. */
static bool stores_again(const struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];

    for (uint32_t i = at + 1; i < r->func->nr_insts && i < at + FAR; i++) {
        const struct ptx_inst *next = &r->func->insts[i];
        enum ptx_class class = ptx_op_class(next->op);

        if (class == PTX_CLASS_CONTROL || class == PTX_CLASS_BARRIER || class == PTX_CLASS_ATOMIC ||
            changes(next, inst->operand[0].reg)) {
            return false;
        }
        if (is_global(next) && same_address(&inst->operand[0], &next->operand[next->nr_dests])) {
            return next->op == PTX_OP_ST && next->guard < 0 &&
                   access_bytes(next) >= access_bytes(inst);
        }
    }
    return false;
}

static void read_store(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    const struct code_loop *loop = loop_of(r, at);

    if (inst->volatile_ || !is_global(inst)) {
        return;
    }
    if ((loop && is_fixed_address(r, &inst->operand[0], loop)) || stores_again(r, at)) {
        add(r, CODE_ACCUMULATES, at);
    }
}

static void read_special(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    bool uniform = true;

    if (!loop_of(r, at)) {
        return;
    }
    for (unsigned i = inst->nr_dests; i < inst->nr_operands; i++) {
        uniform = uniform && lane_pattern_of(r->patterns, &inst->operand[i]).form == LANE_SAME &&
                  inst->operand[i].kind != PTX_OPERAND_IMM;
    }
    add(r, uniform ? CODE_UNIFORM : CODE_SPECIAL, at);
}

static void read_branch(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    struct code_fact *f;

    if (inst->guard < 0 || r->patterns[inst->guard].form <= LANE_SAME || inst->uni ||
        inst->operand[0].kind != PTX_OPERAND_LABEL) {
        return;
    }
    /* A guard around the rest of the kernel (i >= n) is of no interest. */
    if (inst->reconverge >= r->func->nr_insts && inst->operand[0].target > at) {
        return;
    }
    f = add(r, CODE_BRANCH, at);
    f->nr = inst->reconverge > at ? inst->reconverge - at : at - inst->operand[0].target;
}

static bool is_data(const struct code_reader *r, const struct ptx_operand *o)
{
    return o->kind == PTX_OPERAND_REG && o->reg >= 0 && r->data[o->reg];
}

static bool comes_from_data(const struct code_reader *r, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);

    if (inst->op == PTX_OP_LD) {
        return inst->space != PTX_PARAM && inst->space != PTX_LOCAL;
    }
    for (unsigned i = inst->nr_dests; i < inst->nr_operands; i++) {
        if ((class == PTX_CLASS_INT || class == PTX_CLASS_FP || class == PTX_CLASS_CONVERT ||
                class == PTX_CLASS_MOVE) &&
            is_data(r, &inst->operand[i])) {
            return true;
        }
    }
    return false;
}

/* True when the operand was not known to be data. */
static bool mark_data(struct code_reader *r, const struct ptx_operand *o)
{
    bool news = false;

    for (unsigned v = 0; o->kind == PTX_OPERAND_VECTOR && v < o->nr; v++) {
        news |= mark_data(r, &o->vec[v]);
    }
    if (o->kind == PTX_OPERAND_REG && o->reg >= 0 && !r->data[o->reg]) {
        r->data[o->reg] = 1;
        news = true;
    }
    return news;
}

static void find_data(struct code_reader *r)
{
    bool news = true;

    r->data = arena_array(r->arena, r->func->nr_regs + 1u, sizeof(*r->data));
    while (news) {
        news = false;
        for (uint32_t i = 0; i < r->func->nr_insts; i++) {
            const struct ptx_inst *inst = &r->func->insts[i];

            for (unsigned d = 0; d < inst->nr_dests && comes_from_data(r, inst); d++) {
                news |= mark_data(r, &inst->operand[d]);
            }
        }
    }
}

/* Products of data are the task's own work; products of indices are not. */
static void read_integer(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    const bool multiplies = inst->op == PTX_OP_MAD || inst->op == PTX_OP_MUL ||
                            inst->op == PTX_OP_DP4A || inst->op == PTX_OP_DP2A;
    struct code_fact *f;

    if (ptx_type_is_float(inst->type)) {
        return;
    }
    f = add(r, CODE_INTEGER, at);
    f->nr_steering++;
    f->nr += multiplies && is_data(r, &inst->operand[1]) && is_data(r, &inst->operand[2]);
}

static void read_inst(struct code_reader *r, uint32_t at)
{
    const struct ptx_inst *inst = &r->func->insts[at];
    bool memory = inst->op == PTX_OP_LD || inst->op == PTX_OP_ST;

    if (memory && (is_global(inst) || inst->space == PTX_SHARED)) {
        read_stride(r, at);
    }
    if (memory && inst->space == PTX_LOCAL) {
        add(r, CODE_LOCAL, at);
    }
    if (inst->op == PTX_OP_LD) {
        read_load(r, at);
    } else if (inst->op == PTX_OP_ST) {
        read_store(r, at);
    } else if (inst->op == PTX_OP_BRA) {
        read_branch(r, at);
    }
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_INT:
        read_integer(r, at);
        break;
    case PTX_CLASS_ATOMIC:
        if (inst->space != PTX_SHARED) {
            add(r, CODE_ATOMIC, at);
        }
        break;
    case PTX_CLASS_BARRIER:
        if (loop_of(r, at)) {
            add(r, CODE_BARRIER, at);
        }
        break;
    case PTX_CLASS_SPECIAL:
        read_special(r, at);
        break;
    case PTX_CLASS_CONVERT:
        if (loop_of(r, at) && inst->type != inst->type2) {
            add(r, CODE_CONVERT, at);
        }
        break;
    case PTX_CLASS_FP:
        read_integer(r, at);
        if (inst->type == PTX_F64) {
            add(r, CODE_FP64, at);
        }
        if (inst->op == PTX_OP_DIV && ptx_type_is_float(inst->type)) {
            read_special(r, at);
        }
        break;
    default:
        break;
    }
}

/* Is it an instruction that keeps the loop going: the jump, its condition, or a counter or an
 * address that advances? */
static bool steers(const struct ptx_inst *inst)
{
    const struct ptx_operand *o = inst->operand;

    if (inst->op == PTX_OP_BRA || inst->op == PTX_OP_SETP) {
        return true;
    }
    return inst->op == PTX_OP_ADD && !ptx_type_is_float(inst->type) &&
           o[2].kind == PTX_OPERAND_IMM && o[0].kind == PTX_OPERAND_REG &&
           o[1].kind == PTX_OPERAND_REG && o[0].reg == o[1].reg;
}

/* The remainder of an unrolled loop has the same source lines as the loop. */
static bool is_remainder(const struct code_reader *r, const struct code_loop *loop)
{
    for (unsigned i = 0; i < r->nr_loops; i++) {
        const struct code_loop *other = &r->loops[i];

        if (other != loop && other->innermost &&
            other->last - other->first > 2 * (loop->last - loop->first) &&
            other->line_first <= loop->line_last && loop->line_first <= other->line_last) {
            return true;
        }
    }
    return false;
}

static void read_loop(struct code_reader *r, const struct code_loop *loop)
{
    unsigned nr = loop->last - loop->first + 1, nr_steering = 0;
    struct code_fact *f;

    if (!loop->innermost || nr > SHORT_LOOP || is_remainder(r, loop)) {
        return;
    }
    for (uint32_t i = loop->first; i <= loop->last; i++) {
        nr_steering += steers(&r->func->insts[i]);
    }
    f = add(r, CODE_SHORT_LOOP, loop->last);
    f->line = loop->line_first;
    f->first = loop->line_first;
    f->last = loop->line_last;
    f->nr = nr;
    f->nr_steering = nr_steering;
}

static void read_func(struct code_reader *r, const struct ptx_func *func)
{
    r->func = func;
    r->nr_loops = 0;
    r->patterns = lane_patterns(func, r->arena);
    find_loops(r);
    find_uses(r);
    find_data(r);
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        if (func->insts[i].line > 0) {
            read_inst(r, i);
        }
    }
    for (unsigned i = 0; i < r->nr_loops; i++) {
        read_loop(r, &r->loops[i]);
    }
}

const struct code *code_read(const struct compilation *compilation, struct arena *arena)
{
    struct code_reader *r = arena_alloc(arena, sizeof(*r));
    struct code *code = arena_alloc(arena, sizeof(*code));
    struct ptx_problem problem;
    struct ptx_module *module =
        compilation->ptx ? ptx_parse(compilation->ptx, compilation->ptx_bytes, &problem) : NULL;

    if (!module) {
        return NULL;
    }
    r->arena = arena;
    for (unsigned i = 0; i < compilation->nr_kernels; i++) {
        const struct ptx_func *func = ptx_find_func(module, compilation->kernels[i].lowered);

        if (func && func->nr_insts > 0) {
            read_func(r, func);
        }
    }
    code->nr_facts = (unsigned)r->nr_facts;
    code->facts = arena_array(arena, r->nr_facts + 1, sizeof(*code->facts));
    if (r->nr_facts > 0) {
        memcpy(code->facts, r->facts, r->nr_facts * sizeof(*code->facts));
    }
    free(r->facts);
    ptx_destroy(module);
    return code;
}

const struct code_fact *code_find(const struct code *code, enum code_kind kind, unsigned line)
{
    for (unsigned i = 0; code && i < code->nr_facts; i++) {
        if (code->facts[i].kind == kind && (line == 0 || code->facts[i].line == line)) {
            return &code->facts[i];
        }
    }
    return NULL;
}
