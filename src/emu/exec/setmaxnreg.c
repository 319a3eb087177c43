/* Owns the registers that setmaxnreg moves between the warps of a block (PTX ISA 9.0, 9.7.19.5).
 *
 * A block is launched with so many registers a thread as ptxas chose. setmaxnreg.dec gives a warp's
 * registers to the block's pool; setmaxnreg.inc takes from the pool, and holds the warp until there
 * are enough. Counts here are registers a lane; the pool adds them up over warps, since all lanes
 * of a warp have as many. Where the launch does not say how many registers it has, nothing is
 * looked at. */
#include "emu/exec/exec.h"

enum {
    ALLOCATED_AT_ONCE = 8
}; /* registers a thread; CUDA Programming Guide, "Technical
      Specifications": 256 a warp */

void registers_start(struct block_worker *k)
{
    const uint32_t nr = k->exec->run.launch->registers;
    k->spare_registers = 0;
    for (unsigned i = 0; i < k->nr_warps; i++)
        k->warps[i].registers =
            (uint16_t)((nr + ALLOCATED_AT_ONCE - 1) / ALLOCATED_AT_ONCE * ALLOCATED_AT_ONCE);
}

static bool take(struct block_worker *k, struct warp *w, uint32_t nr)
{
    if (w->registers + k->spare_registers < nr)
        return false;
    k->spare_registers -= nr - w->registers;
    w->registers = (uint16_t)nr;
    return true;
}

/* Warps that waited for registers go on, in the order of their numbers. */
static void hand_out(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_warps; i++) {
        struct warp *w = &k->warps[i];
        for (uint16_t s = 0; s < w->nr_splits; s++) {
            struct warp_split *split = &w->splits[s];
            if (split->state == SPLIT_AT_REGISTERS && take(k, w, split->need)) {
                split->state = SPLIT_READY;
                k->moves++;
            }
        }
    }
}

bool registers_set(struct block_worker *k, struct warp *w, uint16_t s, const struct inst *in)
{
    const uint32_t nr = (uint32_t)in->imm;
    const bool more = in->sub == PTX_SUB_INC;
    if (!w->registers)
        return true;
    if (more ? nr < w->registers : nr > w->registers)
        return exec_fault(k, VERDICT_FAULT, w->splits[s].pc - 1,
            "setmaxnreg.%s to %u registers where warp %u of block (%u,%u,%u) has %u",
            more ? "inc" : "dec", nr, w->index, k->block.ctaid[0], k->block.ctaid[1],
            k->block.ctaid[2], w->registers);
    if (!more) {
        k->spare_registers += w->registers - nr;
        w->registers = (uint16_t)nr;
        hand_out(k);
    } else if (!take(k, w, nr)) {
        w->splits[s].need = nr;
        w->splits[s].state = SPLIT_AT_REGISTERS;
    }
    return true;
}

void registers_left(struct block_worker *k, struct warp *w)
{
    k->spare_registers += w->registers;
    w->registers = 0;
    if (k->spare_registers)
        hand_out(k);
}

bool registers_deadlock(struct block_worker *k)
{
    const struct warp *w;
    const struct warp_split *split = warp_waiting(k, SPLIT_AT_REGISTERS, &w);
    if (!split)
        return false;
    exec_fault(k, VERDICT_FAULT, split->pc - 1,
        "deadlock: warp %u of block (%u,%u,%u) has %u registers a thread and waits for %u; the "
        "other warps of the block gave back too few: %u are spare, and the block was launched with "
        "%u a thread",
        w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2], w->registers,
        split->need, k->spare_registers, k->exec->run.launch->registers);
    return true;
}
