/* Owns the stacks in threads' local memory. The calls of functions that can call themselves grow
 * from one end: the room of each call, and the registers that its caller wants back. The memory
 * that alloca gives grows from the other end, downward as the manual says. The lanes of a warp may
 * be at different depths, so each lane has stacks of its own. */
#include "emu/exec/exec.h"

#include "base/mem.h"
#include "emu/emu.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each call that is under way is a split of the warp's tree. The numbers of splits have 16 bits,
 * and within one call there are a few more splits. */
enum { MAX_SPLITS = 0xf000 };

struct saved {
    uint8_t *bytes;
    size_t nr, cap;
};

void stack_init(struct block_worker *k)
{
    for (unsigned i = 0; k->program->stack_row != NO_ROW && i < k->nr_warps; i++)
        k->warps[i].saved = xcalloc(WARP_LANES, sizeof(struct saved));
}

void stack_finish(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_warps; i++) {
        for (unsigned l = 0; k->warps[i].saved && l < WARP_LANES; l++)
            free(k->warps[i].saved[l].bytes);
        free(k->warps[i].saved);
    }
}

static uint64_t *tops(const struct block_worker *k, const struct warp *w)
{
    return (uint64_t *)(void *)(w->file + k->program->stack_row);
}

static uint64_t *floors(const struct block_worker *k, const struct warp *w)
{
    return (uint64_t *)(void *)(w->file + k->program->floor_row);
}

void stack_start(struct block_worker *k)
{
    const struct program *p = k->program;
    for (unsigned i = 0; i < k->nr_warps; i++) {
        struct warp *w = &k->warps[i];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            memset(w->local + (size_t)l * p->local_bytes, 0, p->stack_base);
            tops(k, w)[l] = p->stack_base;
            floors(k, w)[l] = p->stack_limit;
            w->saved[l].nr = 0;
        }
    }
}

static bool overflow(
    struct block_worker *k, const struct warp *w, const struct inst *in, uint32_t pc, unsigned lane)
{
    char who[WHERE_BYTES];
    where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
    if (in->kind == INST_ALLOCA)
        return exec_fault(k, VERDICT_FAULT, pc,
            "stack overflow: alloca of %" PRIu64 " bytes aligned to %" PRId64 ", where %" PRIu64
            " of %d are left, by %s",
            ((const uint64_t *)(const void *)(w->file + in->a))[lane], in->imm,
            floors(k, w)[lane] - tops(k, w)[lane], EMU_STACK_BYTES, who);
    return exec_fault(k, VERDICT_FAULT, pc,
        "stack overflow: functions that call themselves need more than %d bytes of stack, in a "
        "call of %s by %s",
        EMU_STACK_BYTES, k->program->info[in->target].func, who);
}

/* Clears the room of one call behind its arguments: nothing may depend on what ran before. */
bool stack_call(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const uint32_t bytes = (uint32_t)in->imm;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        if (tops(k, w)[lane] + bytes > floors(k, w)[lane] || w->nr_splits > MAX_SPLITS)
            return overflow(k, w, in, pc, lane);
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t *top = &tops(k, w)[lane];
        memset(w->local + (size_t)lane * k->program->local_bytes + *top + in->b, 0, bytes - in->b);
        *top += bytes;
    }
    return true;
}

void stack_return(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1)
        tops(k, w)[__builtin_ctz(m)] -= (uint64_t)in->imm;
}

/* Empty too. */
bool stack_alloca(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        const uint64_t size = ((const uint64_t *)(const void *)(w->file + in->a))[lane],
                       top = tops(k, w)[lane], floor = floors(k, w)[lane],
                       at = size <= floor ? (floor - size) & ~((uint64_t)in->imm - 1) : 0;
        if (at < top)
            return overflow(k, w, in, pc, lane);
        memset(w->local + (size_t)lane * k->program->local_bytes + at, 0, size);
        floors(k, w)[lane] = at;
        if (in->reg_bytes == 8)
            ((uint64_t *)(void *)(w->file + in->d))[lane] = at;
        else
            ((uint32_t *)(void *)(w->file + in->d))[lane] = (uint32_t)at;
    }
    return true;
}

/* The manual leaves open what happens with a stack pointer that stacksave did not give, or that is
 * no longer valid. Here such a pointer is a fault. */
bool stack_back(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const uint64_t *to = (const uint64_t *)(const void *)(w->file + in->a);
    char who[WHERE_BYTES];
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        if (to[lane] >= floors(k, w)[lane] && to[lane] <= k->program->stack_limit) {
            floors(k, w)[lane] = to[lane];
            continue;
        }
        where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
        return exec_fault(k, VERDICT_FAULT, pc,
            "stackrestore of 0x%" PRIx64 ", which is not what a stacksave gave that still holds, "
            "by %s",
            to[lane], who);
    }
    return true;
}

void stack_save(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        struct saved *s = &w->saved[lane];
        s->bytes = grow(s->bytes, &s->cap, s->nr + 8 * (size_t)in->imm, 1);
        for (int64_t i = 0; i < in->imm; i++) {
            const uint8_t *row = w->file + in->rows[2 * i];
            const uint32_t bytes = in->rows[2 * i + 1];
            if (bytes == 1)
                s->bytes[s->nr] = *(const uint32_t *)(const void *)row >> lane & 1;
            else
                memcpy(s->bytes + s->nr, row + (size_t)lane * bytes, bytes);
            s->nr += bytes;
        }
    }
}

static void restore_bit(uint8_t *row, unsigned lane, bool bit)
{
    uint32_t *word = (uint32_t *)(void *)row;
    *word = (*word & ~(1u << lane)) | (uint32_t)bit << lane;
}

void stack_restore(struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        struct saved *s = &w->saved[lane];
        for (int64_t i = in->imm; i-- > 0;) {
            uint8_t *row = w->file + in->rows[2 * i];
            const uint32_t bytes = in->rows[2 * i + 1];
            s->nr -= bytes;
            if (bytes == 1)
                restore_bit(row, lane, s->bytes[s->nr]);
            else
                memcpy(row + (size_t)lane * bytes, s->bytes + s->nr, bytes);
        }
    }
}
