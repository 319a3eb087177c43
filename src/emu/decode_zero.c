/* Owns the question which registers a block must find zeroed: those that some path reads before it
 * has written them, which in most kernels are none. */
#include "emu/decode.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* What is still read from an instruction on; bits by register. */
struct live {
    const struct program *program;
    size_t words;
    uint64_t *in; /* words per pc, and of one pc past the end */
};

static bool leaves(const struct inst *in)
{
    return in->guard == 0 && !in->guard_negated &&
           (in->kind == INST_BRANCH || in->kind == INST_EXIT || in->kind == INST_RET ||
               in->kind == INST_TRAP);
}

/* True when more is read from pc on than was known. */
static bool look_at(struct live *live, uint32_t pc, uint64_t *now)
{
    const struct inst *in = &live->program->insts[pc];
    const struct inst_info *info = &live->program->info[pc];
    const size_t bytes = live->words * sizeof(*now);
    memset(now, 0, bytes);
    if (!leaves(in))
        memcpy(now, live->in + (pc + 1) * live->words, bytes);
    if (in->kind == INST_BRANCH) {
        for (size_t i = 0; i < live->words; i++)
            now[i] |= live->in[in->target * live->words + i];
    }
    if (in->guard == 0 && !in->guard_negated) {
        for (unsigned i = 0; i < info->nr_dests; i++)
            now[info->dest[i] / 64] &= ~(UINT64_C(1) << info->dest[i] % 64);
    }
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

void decode_zero(struct decoder *d)
{
    struct program *p = d->p;
    struct live live = {.program = p, .words = p->nr_regs / 64 + 1};
    live.in = xcalloc((p->nr_insts + 1) * live.words, sizeof(*live.in));
    find_live(&live);
    p->zero = arena_array(d->arena, p->nr_regs + d->nr_frames, sizeof(*p->zero));
    for (uint32_t i = 0; i < d->nr_frames; i++) {
        const struct frame *f = &d->frames[i];
        const uint64_t *in = live.in + f->pc_of[0] * live.words;
        for (uint32_t r = 0; r < f->func->nr_regs; r++) {
            if (!(in[f->reg_id[r] / 64] >> f->reg_id[r] % 64 & 1) ||
                f->reg_offset[r] >= f->words_offset)
                continue;
            p->zero[p->nr_zero++] = (struct zero_part){.offset = f->reg_offset[r],
                .bytes = ptx_type_bytes(f->func->regs[r].type) == 8 ? 256 : 128};
        }
        /* the words take little room */
        p->zero[p->nr_zero++] =
            (struct zero_part){.offset = f->words_offset, .bytes = f->carry + 4 - f->words_offset};
    }
    free(live.in);
}
