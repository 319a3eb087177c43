/* Owns what stands around special functions. An exact exponential is a dozen instructions: the
 * argument is brought into range, one instruction goes to the special-function unit, and its result
 * is scaled. Whoever does without the function does without all of them. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Who writes and reads each register. */
struct register_flow {
    const struct program *program;
    uint32_t *writer; /* the last one */
    uint8_t *writers; /* 0, 1, or 2 for more */
    bool *constant;   /* its only writer moves a number into it */
    bool *outside;    /* somebody outside the chain reads it */
};

static bool is_plain(const struct inst_info *info)
{
    return !info->is_memory && !info->is_branch && !info->is_barrier && info->nr_dests == 1 &&
           info->class != PTX_CLASS_CONTROL;
}

static struct register_flow flow_of(const struct program *program)
{
    const size_t nr = program->nr_regs + 1;
    struct register_flow f = {.program = program,
        .writer = xcalloc(nr, sizeof(*f.writer)),
        .writers = xcalloc(nr, sizeof(*f.writers)),
        .constant = xcalloc(nr, sizeof(*f.constant)),
        .outside = xcalloc(nr, sizeof(*f.outside))};

    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        for (unsigned i = 0; i < program->info[pc].nr_dests; i++) {
            const uint32_t reg = program->info[pc].dest[i];

            f.writer[reg] = pc;
            f.writers[reg] = f.writers[reg] == 0 ? 1 : 2;
        }
    for (size_t reg = 0; reg < program->nr_regs; reg++)
        f.constant[reg] = f.writers[reg] == 1 && program->info[f.writer[reg]].nr_sources == 0 &&
                          program->info[f.writer[reg]].class == PTX_CLASS_MOVE;
    return f;
}

static void flow_free(struct register_flow *f)
{
    free(f->writer);
    free(f->writers);
    free(f->constant);
    free(f->outside);
}

/* Brings an argument into range: the only operand is the argument, or a number is among the
 * operands. */
static bool adjusts(const struct register_flow *f, const struct inst_info *info)
{
    unsigned numbers = 0;

    for (unsigned i = 0; info->ptx && i < info->ptx->nr_operands; i++)
        numbers += info->ptx->operand[i].kind == PTX_OPERAND_IMM;
    for (unsigned i = 0; i < info->nr_sources; i++)
        numbers += f->constant[info->source[i]];
    return info->nr_sources == 1 || numbers > 0;
}

/* All that it works on is of the chain, or a number. */
static bool follows(const struct register_flow *f, const struct inst_info *info, const bool *chain)
{
    bool any = false;

    for (unsigned i = 0; i < info->nr_sources; i++) {
        const uint32_t reg = info->source[i];

        if (!f->constant[reg] && (f->writers[reg] != 1 || !chain[f->writer[reg]]))
            return false;
        any = any || !f->constant[reg];
    }
    return any;
}

/* Nobody else needs it. */
static bool serves(const struct register_flow *f, const struct inst_info *info)
{
    return !f->outside[info->dest[0]] && adjusts(f, info);
}

/* From all that may belong to a chain, what does not is taken out until nothing changes. */
static void narrow(struct register_flow *f, const bool *special, bool *chain)
{
    const struct program *program = f->program;
    bool changed = true, forward = false;

    /* From both ends in turn, so that what hangs on a long chain does not take a round for each of
     * its links. */
    for (; changed; forward = !forward) {
        changed = false;
        memset(f->outside, 0, program->nr_regs * sizeof(*f->outside));
        for (uint32_t pc = 0; pc < program->nr_insts; pc++)
            for (unsigned i = 0; !chain[pc] && i < program->info[pc].nr_sources; i++)
                f->outside[program->info[pc].source[i]] = true;
        for (uint32_t k = 0; k < program->nr_insts; k++) {
            const uint32_t pc = forward ? k : program->nr_insts - 1 - k;
            const struct inst_info *info = &program->info[pc];

            if (!chain[pc] || special[pc] || serves(f, info) || follows(f, info, chain))
                continue;
            chain[pc] = false;
            changed = true;
            for (unsigned i = 0; i < info->nr_sources; i++)
                f->outside[info->source[i]] = true;
        }
    }
}

/* Of what is left, what hangs together with a special function. */
static void connect(const struct register_flow *f, const bool *special, bool *chain)
{
    const struct program *program = f->program;
    bool *with = xcalloc(program->nr_insts + 1, sizeof(*with)), changed = true, forward = true;

    memcpy(with, special, program->nr_insts * sizeof(*with));
    for (; changed; forward = !forward) {
        changed = false;
        for (uint32_t k = 0; k < program->nr_insts; k++) {
            const uint32_t pc = forward ? k : program->nr_insts - 1 - k;

            for (unsigned i = 0; chain[pc] && i < program->info[pc].nr_sources; i++) {
                const uint32_t reg = program->info[pc].source[i], from = f->writer[reg];

                if (f->writers[reg] != 1 || !chain[from] || with[pc] == with[from])
                    continue;
                with[pc] = with[from] = changed = true;
            }
        }
    }
    memcpy(chain, with, program->nr_insts * sizeof(*with));
    free(with);
}

/* By register: touched by what stands around the functions. Heap memory. */
static bool *touched(const struct program *program, const bool *special, const bool *chain)
{
    bool *by = xcalloc(program->nr_regs + 1, sizeof(*by));

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];

        if (!chain[pc] || special[pc])
            continue;
        for (unsigned i = 0; i < info->nr_dests; i++)
            by[info->dest[i]] = true;
        for (unsigned i = 0; i < info->nr_sources; i++)
            by[info->source[i]] = true;
    }
    return by;
}

/* A function of one approximate instruction: there is no cheaper form of it. */
static bool is_bare(const struct inst_info *info, const bool *touched)
{
    if (info->ptx == NULL || !info->ptx->approx)
        return false;
    for (unsigned i = 0; i < info->nr_dests; i++)
        if (touched[info->dest[i]])
            return false;
    for (unsigned i = 0; i < info->nr_sources; i++)
        if (touched[info->source[i]])
            return false;
    return true;
}

void special_bare(const struct program *program, const bool *special, const bool *chain, bool *bare)
{
    bool *by = touched(program, special, chain);

    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        bare[pc] = special[pc] && is_bare(&program->info[pc], by);
    free(by);
}

void special_chain(const struct program *program, bool *chain)
{
    struct register_flow f = flow_of(program);
    bool *special = xcalloc(program->nr_insts + 1, sizeof(*special));

    memcpy(special, chain, program->nr_insts * sizeof(*special));
    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        chain[pc] = chain[pc] || (is_plain(&program->info[pc]) && program->info[pc].nr_sources > 0);
    narrow(&f, special, chain);
    connect(&f, special, chain);
    flow_free(&f);
    free(special);
}
