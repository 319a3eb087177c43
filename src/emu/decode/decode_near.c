/* Owns the nearest known source line of instructions that have none: of functions of other files,
 * of what stands before the first line of a function. */
#include "emu/decode/decode.h"

/* Within [start, end): the line before, else the line behind. False: no line at all. */
static bool near_inside(struct program *p, uint32_t start, uint32_t end)
{
    uint32_t known = 0;

    for (uint32_t pc = start; pc < end; pc++)
        p->info[pc].near = known = p->info[pc].line ? p->info[pc].line : known;
    known = 0;
    for (uint32_t pc = end; pc-- > start;)
        known = p->info[pc].near = p->info[pc].near ? p->info[pc].near : known;
    return known != 0;
}

static uint32_t line_of_call(const struct program *p, uint32_t start)
{
    for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
        if (p->insts[pc].kind == INST_CALL && p->insts[pc].target == start && p->info[pc].near)
            return p->info[pc].near;
    }
    return 0;
}

/* A caller mostly comes before what it calls. A second round serves the others. */
void decode_near(struct decoder *d)
{
    struct program *p = d->p;

    for (uint32_t i = 0; i < 2 * d->nr_frames; i++) {
        const uint32_t f = i % d->nr_frames, start = d->frames[f].start;
        const uint32_t end = f + 1 < d->nr_frames ? d->frames[f + 1].start : p->nr_insts;
        if (near_inside(p, start, end))
            continue;
        const uint32_t line = line_of_call(p, start);
        for (uint32_t pc = start; pc < end; pc++)
            p->info[pc].near = line;
    }
}
