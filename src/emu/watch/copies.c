/* Owns the search for data of asynchronous copies (cp.async) that a kernel uses before it has
 * waited for the copy. The emulator copies at once, so the result would not show the mistake.
 *
 * Each cell of the block's shared memory remembers the thread whose copy wrote it last, and the
 * group of that thread to which the copy belongs. A wait by that thread completes groups. Who reads
 * or overwrites the cell earlier is too early, whether or not a barrier lies between. A copy whose
 * end an mbarrier tells (cp.async.mbarrier.arrive) counts as waited for: the mbarrier orders it. So
 * does a bulk copy, of which this listener does not see one side. */
#include "emu/watch/event.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SHIFT = 2, PC_BITS = 22, THREAD_BITS = 10 };

struct copies {
    struct emu_listener base;
    const struct emu_run *run;
    uint64_t block;
    uint64_t *cells; /* group + 1, thread, pc; 0: nothing under way */
    size_t nr_cells;
    uint32_t *open, *done; /* per thread: number of the group being formed; of the first not done */
};

bool emu_copies_wanted(const struct program *program)
{
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        if (program->insts[pc].kind == INST_CP_ASYNC)
            return true;
    }
    return false;
}

static struct emu_listener *create(const struct emu_run *run)
{
    struct copies *c = xcalloc(1, sizeof(*c));

    c->run = run;
    c->nr_cells = (run->shared_bytes >> CELL_SHIFT) + 1;
    c->cells = xcalloc(c->nr_cells, sizeof(*c->cells));
    c->open = xcalloc(2 * (size_t)run->nr_threads, sizeof(*c->open));
    c->done = c->open + run->nr_threads;
    return &c->base;
}

static void destroy(struct emu_listener *listener)
{
    struct copies *c = (struct copies *)listener;

    free(c->cells);
    free(c->open);
    free(c);
}

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct copies *c = (struct copies *)listener;

    c->base.wants_access = true;
    c->block = block->index;
    memset(c->cells, 0, c->nr_cells * sizeof(*c->cells));
    memset(c->open, 0, 2 * (size_t)c->run->nr_threads * sizeof(*c->open));
}

static void copy_group(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct copies *c = (struct copies *)listener;
    const struct ptx_inst *ptx = c->run->program->info[pc].ptx;
    const uint32_t left = (uint32_t)ptx->operand[0].imm;

    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned thread = warp * WARP_LANES + (unsigned)__builtin_ctz(m);
        if (ptx->sub != PTX_SUB_WAIT_GROUP)
            c->open[thread]++;
        if (ptx->sub == PTX_SUB_WAIT_ALL || ptx->sub == PTX_SUB_MBARRIER_ARRIVE)
            c->done[thread] = c->open[thread];
        else if (ptx->sub == PTX_SUB_WAIT_GROUP && c->open[thread] > left &&
                 c->open[thread] - left > c->done[thread])
            c->done[thread] = c->open[thread] - left;
    }
}

static bool report(const struct copies *c, const struct emu_access *access, unsigned lane,
    size_t cell, struct emu_fault *fault)
{
    const uint64_t tag = c->cells[cell];
    const unsigned thread = (unsigned)(tag >> PC_BITS) & ((1u << THREAD_BITS) - 1);
    char mine[WHERE_BYTES], theirs[WHERE_BYTES], place[WHERE_BYTES];
    char my_line[WHERE_BYTES], their_line[WHERE_BYTES];

    fault->verdict = VERDICT_RACE;
    fault->other = (uint32_t)tag & ((1u << PC_BITS) - 1);
    where_thread(c->run, c->block, access->warp * WARP_LANES + lane, mine);
    where_thread(c->run, c->block, thread, theirs);
    where_shared(c->run, cell << CELL_SHIFT, place);
    *strstr(mine, " of block") = '\0';
    snprintf(fault->text, sizeof(fault->text),
        "%s of %s by %s%s before the asynchronous copy by %s%s was waited for",
        where_verb(c->run, access->pc, PTX_SHARED), place, mine,
        where_line(c->run, access->pc, my_line), theirs,
        where_line(c->run, fault->other, their_line));
    return false;
}

static bool on_access(
    struct emu_listener *listener, const struct emu_access *access, struct emu_fault *fault)
{
    struct copies *c = (struct copies *)listener;
    const bool copies = c->run->program->insts[access->pc].kind == INST_CP_ASYNC;
    bool clean = true;

    if (access->space != PTX_SHARED)
        return true;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        const unsigned thread = access->warp * WARP_LANES + lane;
        const uint64_t address = access->address[lane];
        for (size_t i = address >> CELL_SHIFT; i <= (address + access->bytes - 1) >> CELL_SHIFT;
             i++) {
            const uint64_t tag = c->cells[i];
            if (copies) {
                c->cells[i] = (uint64_t)(c->open[thread] + 1) << (PC_BITS + THREAD_BITS) |
                              (uint64_t)thread << PC_BITS | access->pc;
                continue;
            }
            if (!tag)
                continue;
            const unsigned owner = (unsigned)(tag >> PC_BITS) & ((1u << THREAD_BITS) - 1);
            if (clean && (tag >> (PC_BITS + THREAD_BITS)) > c->done[owner])
                clean = report(c, access, lane, i, fault);
            c->cells[i] = 0;
        }
    }
    return clean;
}

const struct emu_listener_class *emu_copies_class(void)
{
    static const struct emu_listener_class class = {.name = "copies",
        .check = EMU_CHECK_SYNC,
        .create = create,
        .destroy = destroy,
        .block_begin = block_begin,
        .access = on_access,
        .copy_group = copy_group};
    return &class;
}
