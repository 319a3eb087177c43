/* Owns what the parser fills in at a module's end: the layout of shared memory, the source lines of
 * the instructions, and the module's tables of functions and variables. */
#include "ptx/parse.h"

#include "base/mem.h"

/* The variable that an operand names; NULL: none. */
static const struct ptx_symbol *variable_of(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_ADDRESS
               ? operand->symbol
               : NULL;
}

/* A shared variable of the module that one kernel alone names, and no .func, is that kernel's own:
 * relocatable code has all variables of all kernels at the top. Such variables of several kernels
 * lie in the same place, as the linker lays them. */
static void find_owners(struct ptx_parser *p)
{
    static const struct ptx_func nobody, several;

    for (size_t i = 0; i < p->nr_shared; i++)
        p->shared[i]->func = &nobody;
    for (size_t f = 0; p->nr_shared > 0 && f < p->nr_funcs; f++) {
        const struct ptx_func *func = p->funcs[f].func;

        for (uint32_t i = 0; i < func->nr_insts; i++)
            for (int o = 0; o < func->insts[i].nr_operands; o++) {
                const struct ptx_symbol *named = variable_of(&func->insts[i].operand[o]);
                struct ptx_symbol *s = (struct ptx_symbol *)named;

                if (s == NULL || s->space != PTX_SHARED || s->external || s->func == NULL)
                    continue;
                if (s->func == &nobody)
                    s->func = func->is_entry ? func : &several;
                else if (s->func != func)
                    s->func = &several;
            }
    }
    size_t nr = 0; /* what nobody names takes no room */

    for (size_t i = 0; i < p->nr_shared; i++) {
        struct ptx_symbol *s = p->shared[i];

        if (s->func != &nobody)
            p->shared[nr++] = s;
        if (s->func == &nobody || s->func == &several)
            s->func = NULL;
    }
    p->nr_shared = nr;
}

/* Places the module's variables of one owner (NULL: of nobody or several) from *used on. */
static void place_owned(struct ptx_parser *p, const struct ptx_func *owner, uint64_t *used)
{
    for (size_t i = 0; i < p->nr_shared; i++) {
        struct ptx_symbol *s = p->shared[i];

        if (s->func != owner)
            continue;
        s->offset = (*used + s->align - 1) & ~(uint64_t)(s->align - 1);
        *used = s->offset + s->bytes;
    }
}

/* Does the function itself use shared variables of the module, or may a function that it calls
 * through a register do so? */
static bool uses_module_shared(const struct func_facts *facts)
{
    const struct ptx_func *func = facts->func;

    if (!func->is_entry && facts->nr_shared)
        return true; /* the shared variables of a .func lie among the module's */
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        const struct ptx_inst *inst = &func->insts[i];
        if (inst->op == PTX_OP_CALL && inst->operand[1].kind == PTX_OPERAND_REG)
            return true;
        for (int o = 0; o < inst->nr_operands; o++) {
            const struct ptx_symbol *named = variable_of(&inst->operand[o]);
            if (named && named->space == PTX_SHARED && !named->external && !named->func)
                return true;
        }
    }
    return false;
}

static bool calls_user(const struct ptx_parser *p, const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        const struct ptx_operand *callee = &func->insts[i].operand[1];
        if (func->insts[i].op == PTX_OP_CALL && callee->kind == PTX_OPERAND_FUNC &&
            p->funcs[callee->func->index].uses_module_shared)
            return true;
    }
    return false;
}

/* A function that calls a user of the module's shared memory is a user too. The loop ends when a
 * round changes nothing. Call graphs are shallow; after MAX_ROUNDS every function counts as a user.
 */
static void spread_uses(struct ptx_parser *p)
{
    enum { MAX_ROUNDS = 64 };
    bool changed = true;

    for (size_t i = 0; i < p->nr_funcs; i++)
        p->funcs[i].uses_module_shared = uses_module_shared(&p->funcs[i]);
    for (int round = 0; changed; round++) {
        changed = false;
        for (size_t i = 0; i < p->nr_funcs; i++) {
            struct func_facts *facts = &p->funcs[i];
            if (facts->uses_module_shared || (round < MAX_ROUNDS && !calls_user(p, facts->func)))
                continue;
            facts->uses_module_shared = changed = true;
        }
    }
}

enum { SHARED_ALIGN = 128 };

static bool finalize_shared(struct ptx_parser *p)
{
    uint64_t common = 0;

    find_owners(p);
    place_owned(p, NULL, &common);
    spread_uses(p);
    for (size_t i = 0; i < p->nr_funcs; i++) {
        struct func_facts *facts = &p->funcs[i];
        if (facts->func->is_entry || !facts->nr_shared)
            continue;
        common = round_up(common, SHARED_ALIGN);
        for (size_t s = 0; s < facts->nr_shared; s++)
            facts->shared[s]->offset += common;
        common += facts->shared_bytes;
    }
    for (size_t i = 0; i < p->nr_funcs; i++) {
        struct func_facts *facts = &p->funcs[i];
        uint64_t base = facts->uses_module_shared ? common : 0;
        uint64_t total;

        if (facts->func->is_entry)
            place_owned(p, facts->func, &base);
        total = base;
        if (facts->func->is_entry && facts->shared_bytes) {
            base = round_up(base, SHARED_ALIGN);
            for (size_t s = 0; s < facts->nr_shared; s++)
                facts->shared[s]->offset += base;
            total = base + facts->shared_bytes;
        }
        if (total > UINT32_MAX)
            return parser_fail(p, "%s has too much shared memory", facts->func->name);
        facts->func->shared_static_bytes = (uint32_t)total;
    }
    return true;
}

static void finalize_lines(struct ptx_parser *p)
{
    for (size_t i = 0; i < p->nr_funcs; i++) {
        const struct func_facts *facts = &p->funcs[i];
        struct ptx_inst *insts = (struct ptx_inst *)facts->func->insts;
        for (uint32_t n = 0; n < facts->func->nr_insts; n++)
            insts[n].line = locs_line(&p->locs, facts->locs[n]);
    }
}

static void finalize_tables(struct ptx_parser *p)
{
    const struct ptx_func **funcs = arena_array(p->arena, p->nr_funcs, sizeof(*funcs));
    const struct ptx_symbol **globals = arena_array(p->arena, p->nr_globals, sizeof(*globals));

    for (size_t i = 0; i < p->nr_funcs; i++)
        funcs[i] = p->funcs[i].func;
    for (size_t i = 0; i < p->nr_globals; i++)
        globals[i] = p->globals[i];
    p->module->funcs = funcs;
    p->module->nr_funcs = (uint32_t)p->nr_funcs;
    p->module->globals = globals;
    p->module->nr_globals = (uint32_t)p->nr_globals;
}

bool finalize_module(struct ptx_parser *p)
{
    finalize_lines(p);
    if (!finalize_shared(p))
        return false;
    finalize_tables(p);
    return true;
}
