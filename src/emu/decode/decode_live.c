/* Owns the question which registers are still to be read. Three things depend on the answer. A
 * block must find zeroed those registers that some path reads before writing them; most kernels
 * have none. A call that may come back to its function must save the registers that are read after
 * it. An atomic need not fetch a value that nobody reads. */
#include "emu/decode/decode.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* The registers that are still read from an instruction on, one bit each. */
struct live {
    const struct program *program;
    size_t words;
    uint64_t *in; /* words per pc, and of one pc past the end */
};

static bool leaves(const struct inst *in)
{
    return in->guard == 0 && !in->guard_negated &&
           (in->kind == INST_BRANCH || in->kind == INST_BRANCH_INDEXED || in->kind == INST_EXIT ||
               in->kind == INST_RET || in->kind == INST_TRAP);
}

static void add_live(const struct live *live, uint32_t pc, uint64_t *now)
{
    for (size_t i = 0; i < live->words; i++)
        now[i] |= live->in[pc * live->words + i];
}

/* True when more registers are read from pc on than was known. */
static bool look_at(struct live *live, uint32_t pc, uint64_t *now)
{
    const struct inst *in = &live->program->insts[pc];
    const struct inst_info *info = &live->program->info[pc];
    const size_t bytes = live->words * sizeof(*now);
    memset(now, 0, bytes);
    if (!leaves(in))
        memcpy(now, live->in + (pc + 1) * live->words, bytes);
    if (in->kind == INST_BRANCH)
        add_live(live, in->target, now);
    for (int64_t t = 0; in->kind == INST_BRANCH_INDEXED && t < in->imm; t++)
        add_live(live, in->rows[t], now);
    if (in->guard == 0 && !in->guard_negated) {
        for (unsigned i = 0; i < info->nr_dests; i++)
            now[info->dest[i] / 64] &= ~(UINT64_C(1) << info->dest[i] % 64);
    }
    if (info->nr_sources == INST_MAX_REGS) /* there may be more */
        memset(now, 0xff, bytes);
    for (unsigned i = 0; in->kind == INST_WGMMA && i < info->nr_dests; i++) /* added to */
        now[info->dest[i] / 64] |= UINT64_C(1) << info->dest[i] % 64;
    for (unsigned i = 0; i < info->nr_sources; i++)
        now[info->source[i] / 64] |= UINT64_C(1) << info->source[i] % 64;
    if (memcmp(now, live->in + pc * live->words, bytes) == 0)
        return false;
    memcpy(live->in + pc * live->words, now, bytes);
    return true;
}

static void find_live(struct live *live)
{
    uint64_t *now = xcalloc(live->words, sizeof(*now));
    for (bool more = true; more;) {
        more = false;
        for (uint32_t pc = live->program->nr_insts; pc-- > 0;)
            more |= look_at(live, pc, now);
    }
    free(now);
}

static bool is_live(const struct live *live, uint32_t pc, uint32_t reg)
{
    return live->in[pc * live->words + reg / 64] >> reg % 64 & 1;
}

/* Lists what a SAVE and its RESTORE keep: the registers that are live at the RESTORE, the words
 * that a decoder works with, and the register and the guard at which a call through a register
 * looks again when the first of its functions is back. */
static void list_saved(struct decoder *d, const struct live *live, const struct func_frame *f,
    uint32_t from, uint32_t to)
{
    const struct ptx_func *func = f->func;
    struct inst *save = &d->p->insts[from], *restore = &d->p->insts[to];
    uint32_t *list = arena_array(d->arena, 4 * ((size_t)func->nr_regs + 5), sizeof(*list)), nr = 0;
    const uint32_t words[] = {f->carry, f->call_words, f->call_words + 4, restore->c};
    for (uint32_t r = 0; r < func->nr_regs; r++) {
        if (!is_live(live, to, f->reg_id[r]))
            continue;
        const bool pred = func->regs[r].type == PTX_PRED;
        const unsigned bytes = ptx_type_bytes(func->regs[r].type);
        list[nr++] = f->reg_offset[r];
        list[nr++] = pred ? 1 : bytes >= 8 ? 8 : 4;
        if (bytes < 16)
            continue;
        list[nr++] = f->reg_offset[r] + 8 * WARP_LANES;
        list[nr++] = 8;
    }
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (words[i] == NO_ROW)
            continue;
        list[nr++] = words[i];
        list[nr++] = 1;
    }
    if (restore->a != NO_ROW) {
        list[nr++] = restore->a;
        list[nr++] = 8;
    }
    save->rows = restore->rows = list;
    save->imm = restore->imm = nr / 2;
}

/* Calls do not nest: each RESTORE belongs to the SAVE before it. */
static void list_all_saved(struct decoder *d, const struct live *live, const struct func_frame *f)
{
    uint32_t from = 0;
    for (uint32_t pc = f->pc_of[0]; pc < f->pc_of[f->func->nr_insts]; pc++) {
        if (d->p->insts[pc].kind == INST_SAVE)
            from = pc;
        else if (d->p->insts[pc].kind == INST_RESTORE)
            list_saved(d, live, f, from, pc);
    }
}

/* Compilers write atom where red would do. */
static void drop_results(const struct live *live)
{
    for (uint32_t pc = 0; pc < live->program->nr_insts; pc++) {
        struct inst *in = &live->program->insts[pc];
        const struct inst_info *info = &live->program->info[pc];
        if (in->kind != INST_ATOM || info->nr_dests != 1 || is_live(live, pc + 1, info->dest[0]))
            continue;
        in->d = NO_ROW;
        in->flags |= INST_NO_DEST;
    }
}

static uint32_t zero_bytes(enum ptx_type type)
{
    const unsigned bytes = ptx_type_bytes(type);
    return WARP_LANES * (bytes >= 8 ? bytes : 4);
}

void decode_live(struct decoder *d)
{
    struct program *p = d->p;
    struct live live = {.program = p, .words = p->nr_regs / 64 + 1};
    live.in = xcalloc((p->nr_insts + 1) * live.words, sizeof(*live.in));
    find_live(&live);
    drop_results(&live);
    for (uint32_t i = 0; i < d->nr_frames; i++)
        list_all_saved(d, &live, &d->frames[i]);
    p->zero = arena_array(d->arena, p->nr_regs + d->nr_frames, sizeof(*p->zero));
    for (uint32_t i = 0; i < d->nr_frames; i++) {
        const struct func_frame *f = &d->frames[i];
        for (uint32_t r = 0; r < f->func->nr_regs; r++) {
            if (!is_live(&live, f->pc_of[0], f->reg_id[r]) || f->reg_offset[r] >= f->words_offset)
                continue;
            p->zero[p->nr_zero++] = (struct zero_part){
                .offset = f->reg_offset[r], .bytes = zero_bytes(f->func->regs[r].type)};
        }
        /* the words take little room */
        p->zero[p->nr_zero++] =
            (struct zero_part){.offset = f->words_offset, .bytes = f->carry + 4 - f->words_offset};
    }
    free(live.in);
}
