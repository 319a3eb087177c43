/* Owns shuffles and votes. a, b, c sources; e the lanes' masks; d, d2 results. */
#include "emu/sem/lanes.h"

/* PTX ISA, shfl.sync: c holds the clamp in bits 0-4 and the segment mask in bits 8-12. A lane that
 * does not take part as source leaves the reader its own value, where PTX leaves it undefined. */
static inline void shuffle(uint8_t *file, const struct inst *in, uint32_t mask, enum ptx_shfl mode)
{
    const int32_t *b = (const int32_t *)(file + in->b), *c = (const int32_t *)(file + in->c);
    uint32_t *d = (uint32_t *)(file + in->d), r[WARP_LANES], inside[WARP_LANES], valid = 0;
    int32_t from[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const int32_t lane = (int32_t)l, by = b[l] & 31, clamp = c[l] & 31,
                      segment = c[l] >> 8 & 31;
        const int32_t max = (lane & segment) | (clamp & ~segment), min = lane & segment;
        const int32_t j = mode == PTX_SHFL_UP     ? lane - by
                          : mode == PTX_SHFL_DOWN ? lane + by
                          : mode == PTX_SHFL_BFLY ? lane ^ by
                                                  : min | (by & ~segment);
        const uint32_t p = mode == PTX_SHFL_UP ? j >= max : j <= max;
        const uint32_t takes = p & mask >> (j & 31);
        from[l] = takes & 1 ? j & 31 : lane;
        inside[l] = p;
    }
    lanes_pick(r, file + in->a, from);
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = (mask >> l & 1) ? r[l] : d[l];
    if (in->d2 == NO_ROW)
        return;
    for (unsigned l = 0; l < WARP_LANES; l++)
        valid |= inside[l] << l;
    uint32_t *p = (uint32_t *)(file + in->d2);
    *p = (*p & ~mask) | (valid & mask);
}

static void shfl_up(uint8_t *file, const struct inst *in, uint32_t mask)
{
    shuffle(file, in, mask, PTX_SHFL_UP);
}

static void shfl_down(uint8_t *file, const struct inst *in, uint32_t mask)
{
    shuffle(file, in, mask, PTX_SHFL_DOWN);
}

static void shfl_bfly(uint8_t *file, const struct inst *in, uint32_t mask)
{
    shuffle(file, in, mask, PTX_SHFL_BFLY);
}

static void shfl_idx(uint8_t *file, const struct inst *in, uint32_t mask)
{
    shuffle(file, in, mask, PTX_SHFL_IDX);
}

/* a is a predicate word; INST_NEGATE_C negates it */
static uint32_t voters(const uint8_t *file, const struct inst *in)
{
    const uint32_t p = *(const uint32_t *)(file + in->a);
    return in->flags & INST_NEGATE_C ? ~p : p;
}

static void ballot(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *members = (const uint32_t *)(file + in->e), yes = voters(file, in) & mask;
    uint32_t *d = (uint32_t *)(file + in->d);
    IVDEP for (unsigned l = 0; l < WARP_LANES; l++) d[l] =
        (mask >> l & 1) ? yes & members[l] : d[l];
}

static void vote(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *members = (const uint32_t *)(file + in->e), all = voters(file, in);
    uint32_t *d = (uint32_t *)(file + in->d), result = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const uint32_t group = members[l] & mask, yes = all & group;
        const bool r = in->sub == PTX_VOTE_ALL   ? yes == group
                       : in->sub == PTX_VOTE_ANY ? yes != 0
                                                 : yes == group || yes == 0;
        result |= (uint32_t)r << l;
    }
    *d = (*d & ~mask) | result;
}

sem_fn *LANES(sem_vote)(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->vote;
    return p->vote == PTX_VOTE_BALLOT ? ballot : vote;
}

sem_fn *LANES(sem_shfl)(const struct ptx_inst *p, struct inst *in)
{
    switch (p->shfl) {
    case PTX_SHFL_UP:
        return shfl_up;
    case PTX_SHFL_DOWN:
        return shfl_down;
    case PTX_SHFL_BFLY:
        return shfl_bfly;
    default:
        return shfl_idx;
    }
}
