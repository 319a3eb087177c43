/* Owns the interpreter loop: runs a block's warps until all are done or something is wrong. */
#include "emu/exec/exec.h"

#include "emu/exec/launch.h"
#include "emu/exec/texture.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* How many warp instructions a side, and a warp, may execute before it gives way. Spin locks then
 * make progress whichever lane holds the lock. */
enum {
    SIDE_QUANTUM = 2000,
    WARP_QUANTUM = 50000,
    SPINS_TO_PART = 8,
    STEPS_OF_WGMMA = 4096 /* a quarter of a millisecond at most, as that many instructions */
};

static bool trap(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask)
{
    unsigned thread = w->index * WARP_LANES + (unsigned)__builtin_ctz(mask);
    const uint32_t *block = k->exec->run.launch->block;
    return exec_fault(k, VERDICT_FAULT, pc, "trap by thread (%u,%u,%u) of block (%u,%u,%u)",
        thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1],
        k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
}

static bool stray_call(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask), thread = w->index * WARP_LANES + lane;
    const uint64_t *at = (const uint64_t *)(w->file + k->program->insts[pc].a);
    const uint32_t *block = k->exec->run.launch->block;
    return exec_fault(k, VERDICT_FAULT, pc,
        "call of 0x%" PRIx64 ", where no function of that form is, by thread (%u,%u,%u) of block "
        "(%u,%u,%u)",
        at[lane], thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1],
        k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
}

/* brx: the index of each lane must be below the number of labels. Counts a divergent branch when
 * lanes go to different places. */
static bool check_index(
    struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask, bool all)
{
    const struct inst *in = &k->program->insts[pc];
    const uint32_t *index = (const uint32_t *)(w->file + in->a);
    bool divergent = !all;
    uint32_t first = NO_PC;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        char who[WHERE_BYTES];
        if (index[lane] >= in->imm) {
            where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
            return exec_fault(k, VERDICT_FAULT, pc,
                "brx.idx: index %" PRIu32 ", where the list has %" PRId64 " labels, by %s",
                index[lane], in->imm, who);
        }
        first = first == NO_PC ? in[1].rows[index[lane]] : first;
        divergent |= in[1].rows[index[lane]] != first;
    }
    k->counts[pc].divergent += divergent;
    return true;
}

/* The lanes that go where the first one goes take the branch; the others come here again. */
static void branch_indexed(
    struct warp *w, uint16_t s, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const uint32_t *index = (const uint32_t *)(w->file + in->a);
    const uint32_t target = in->rows[index[__builtin_ctz(mask)]];
    uint32_t taken = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        taken |= (uint32_t)(in->rows[index[lane]] == target) << lane;
    }
    w->splits[s].pc = target;
    if (taken != w->splits[s].mask)
        warp_diverge(w, s, taken, target, pc, in->reconverge);
}

static void read_clock(struct block_worker *k, uint8_t *file, const struct inst *in, uint32_t mask)
{
    /* one cycle for each warp instruction: monotonic, and the same in every run */
    uint64_t now = in->sub == PTX_SR_GLOBALTIMER ? k->steps * 1000 : k->steps;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (in->reg_bytes == 8)
            ((uint64_t *)(file + in->d))[l] = now;
        else
            ((uint32_t *)(file + in->d))[l] =
                in->sub == PTX_SR_CLOCK_HI ? (uint32_t)(now >> 32) : (uint32_t)now;
    }
}

static void tell_inst(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask)
{
    if (k->program->insts[pc].flags & INST_HIDDEN)
        return;
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        if (k->listeners[i]->wants_insts)
            k->listeners[i]->class->inst(k->listeners[i], w->index, pc, mask);
    }
}

static void tell_group(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        if (k->listeners[i]->class->copy_group)
            k->listeners[i]->class->copy_group(k->listeners[i], w->index, pc, mask);
    }
}

/* The part of step_other that happens only where lanes take part. */
static bool step_lanes(
    struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask)
{
    const struct inst *in = &k->program->insts[pc];
    switch (in->kind) {
    case INST_CP_ASYNC:
        return access_cp_async(k, w, in, pc, mask) || exec_note(k);
    case INST_BULK_COPY:
        return bulk_copy(k, w, in, pc, mask) || exec_note(k);
    case INST_MATRIX:
        return matrix_step(k, w, in, pc, mask) || exec_note(k);
    case INST_TENSOR_MAP:
        return tensor_map_step(k, w, in, pc, mask) || exec_note(k);
    case INST_WGMMA:
        k->paced += STEPS_OF_WGMMA;
        return (wgmma_step(k, w, in, pc, mask) && flight_issue(k, w)) || exec_note(k);
    case INST_COPY_FRAME:
        access_copy_frame(k, w, in, mask);
        return true;
    case INST_INDEX:
        return check_index(k, w, pc, mask, mask == w->splits[s].mask);
    case INST_BRANCH_INDEXED:
        branch_indexed(w, s, in, pc, mask);
        return true;
    case INST_STRAY_CALL:
        return stray_call(k, w, pc, mask);
    case INST_SAVE:
        stack_save(w, in, mask);
        return true;
    case INST_RESTORE:
        stack_restore(w, in, mask);
        return true;
    case INST_ALLOCA:
        return stack_alloca(k, w, in, pc, mask);
    case INST_STACK_BACK:
        return stack_back(k, w, in, pc, mask);
    case INST_CALL:
        if (in->imm && !stack_call(k, w, in, pc, mask))
            return false;
        warp_call(w, s, mask, in->target, pc + 1);
        return true;
    case INST_BARRIER:
        return sync_barrier(k, w, s, pc, mask);
    case INST_CLUSTER_BARRIER:
        return cluster_barrier(k, w, s, pc, mask);
    case INST_WARP_SYNC:
    case INST_COLLECTIVE:
        return sync_collective(k, w, s, pc, mask);
    case INST_MBARRIER:
        return mbarrier_step(k, w, pc, mask);
    case INST_CLOCK:
        read_clock(k, w->file, in, mask);
        return true;
    case INST_TRAP:
        return trap(k, w, pc, mask);
    case INST_ASSERT:
        return service_assert(k, w, in, pc, mask);
    case INST_PRINT:
        return service_print(k, w, in, pc, mask);
    case INST_TEXTURE:
        return texture_step(k, w, in, pc, mask);
    case INST_MALLOC:
        return service_malloc(k, w, in, pc, mask);
    case INST_FREE:
        return service_free(k, w, in, pc, mask) || exec_note(k);
    default:
        return true;
    }
}

/* Everything but ALU operations, memory and branches. The split may be gone after. False: fault. */
static bool step_other(
    struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask)
{
    const struct inst *in = &k->program->insts[pc];
    w->splits[s].pc = pc + 1;
    switch (in->kind) {
    case INST_RET:
        if (mask && in->imm)
            stack_return(k, w, in, mask);
        if (mask)
            warp_return(w, s, mask);
        return sync_lanes_left(k, w, pc);
    case INST_EXIT:
        if (mask)
            warp_exit(w, s, mask);
        return sync_lanes_left(k, w, pc);
    case INST_WGMMA_GROUP:
    case INST_BULK_GROUP:
        return !mask || flight_group(k, w, s, in);
    case INST_SETMAXNREG:
        return !mask || registers_set(k, w, s, in);
    case INST_COPY_GROUP:
        tell_group(k, w, pc, mask);
        return true;
    case INST_MBARRIER:
        if (in->sub == PTX_SUB_MBARRIER_ARRIVE)
            tell_group(k, w, pc, mask);
        break;
    default:
        break;
    }
    return !mask || step_lanes(k, w, s, pc, mask);
}

/* Counts that the lanes `mask` went through the instructions from `start` up to `end`. */
static void went(struct block_worker *k, uint32_t start, uint32_t end, uint32_t mask)
{
    const unsigned lanes = (unsigned)__builtin_popcount(mask);
    k->flow[start].warps++;
    k->flow[start].lanes += lanes;
    k->flow[end].warps--;
    k->flow[end].lanes -= lanes;
    k->steps += end - start;
}

/* A branch whose lanes agree. False: the split has had its turn, or starts over at its new pc. */
static bool jump(struct block_worker *k, struct warp_split *split, uint32_t *start, uint32_t *pc,
    uint32_t target, uint64_t end)
{
    const uint32_t next = *pc + 1;
    if (target == next && k->steps + (next - *start) < end) {
        *pc = next;
        return true;
    }
    went(k, *start, next, split->mask);
    split->pc = *start = *pc = target;
    return k->steps < end;
}

/* Runs one ready split until it waits, ends, splits or has had its turn. */
static bool run_split(struct block_worker *k, struct warp *w, uint16_t s, unsigned quantum)
{
    const struct inst *insts = k->program->insts;
    uint8_t *file = w->file;
    uint32_t pc = w->splits[s].pc, start = pc, mask = w->splits[s].mask;
    const uint32_t rpc = w->splits[s].rpc;
    const bool tell = k->wants_insts;
    const uint64_t end = k->steps + quantum;
    for (;;) {
        if (pc == rpc) {
            w->splits[s].pc = pc;
            went(k, start, pc, mask);
            warp_arrive(w, s);
            return true;
        }
        const struct inst *in = &insts[pc];
        if (in->plain && !tell) {
            pc += in->plain;
            for (const struct inst *last = &insts[pc]; in < last; in++)
                in->run(file, in, mask);
            continue;
        }
        uint32_t guard = *(const uint32_t *)(file + in->guard);
        uint32_t m = mask & (in->guard_negated ? ~guard : guard);
        if (m != mask)
            k->counts[pc].lanes -= (unsigned)__builtin_popcount(mask ^ m);
        if (tell)
            tell_inst(k, w, pc, m);
        if (in->kind == INST_ALU) {
            if (m)
                in->run(file, in, m);
            pc++;
            continue;
        }
        if (in->kind <= INST_ATOM) {
            if (m && !access_memory(k, w, in, pc, m) && !exec_note(k)) {
                went(k, start, pc + 1, mask);
                return false;
            }
            pc++;
            continue;
        }
        if (in->kind == INST_BRANCH) {
            if (m == mask || m == 0) {
                if (m && in->flags & INST_AGAIN && wait_round(k, w, pc, m)) {
                    went(k, start, pc + 1, mask);
                    w->splits[s].pc = in->target;
                    return true;
                }
                if (jump(k, &w->splits[s], &start, &pc, m ? in->target : pc + 1, end))
                    continue;
                return true;
            }
            went(k, start, pc + 1, mask);
            k->counts[pc].divergent++;
            w->splits[s].pc = pc;
            warp_diverge(w, s, m, in->target, pc + 1, in->reconverge);
            return true;
        }
        went(k, start, pc + 1, mask);
        bool go_on = in->kind == INST_NOP || in->kind == INST_MATRIX || in->kind == INST_WGMMA;
        if (!step_other(k, w, s, pc, m))
            return false;
        if (!go_on && (w->splits[s].state != SPLIT_READY || w->current != s))
            return true;
        if (!go_on && (w->splits[s].pc != pc + 1 || w->polled))
            return true;
        mask = w->splits[s].mask;
        start = ++pc;
    }
}

/* After a whole turn another side runs. Without another side, and when turn after turn touched
 * memory as spin locks do, the lanes that wait at the meeting point go on alone: one of them may
 * hold the lock. */
static void give_way(struct warp *w, bool contacts)
{
    if (w->splits[w->current].state != SPLIT_READY)
        return;
    uint16_t other = warp_ready(w, w->current);
    if (other != w->current) {
        w->current = other;
        w->spins = 0;
    } else if (!contacts) {
        w->spins = 0;
    } else if (++w->spins >= SPINS_TO_PART) {
        w->spins = 0;
        warp_part(w, w->current);
    }
}

/* After a question to an mbarrier that was not ready another side runs. Without another side, and
 * after several such questions, the lanes that wait for this side go on alone: they may be those
 * that must arrive. */
static void poll_again(struct warp *w)
{
    const uint16_t other = warp_ready(w, w->current);
    w->polled = false;
    if (other != NO_SPLIT && other != w->current) {
        w->current = other;
    } else if (++w->spins >= SPINS_TO_PART) {
        w->spins = 0;
        warp_part(w, w->current);
    }
}

/* Goes round a wait once more. Then the wait is over, or the warp has polled. */
static bool run_wait(struct block_worker *k, struct warp *w, uint16_t s)
{
    const uint32_t end = w->round_at, begin = k->program->insts[end].target, mask = w->round_mask;
    const struct warp_split *split;
    bool ok;
    wait_hush(k, w);
    do {
        ok = run_split(k, w, s, 1);
        split = &w->splits[s];
    } while (ok && !w->polled && w->waiting && w->current == s && split->state == SPLIT_READY &&
             split->mask == mask && split->pc >= begin && split->pc <= end);
    wait_unhush(k);
    if (!w->polled) {
        w->waiting = false;
        w->round_at = NO_PC;
    }
    return ok;
}

/* The warp goes on with a split where it waits. */
static bool at_wait(const struct block_worker *k, const struct warp *w, uint16_t s)
{
    return w->waiting && w->splits[s].mask == w->round_mask &&
           w->splits[s].pc == k->program->insts[w->round_at].target;
}

/* Runs a warp until every leaf waits, the warp is done, or the warp has had its turn. *idle: the
 * turn ended early because an mbarrier was not ready, or no leaf was ready. */
static bool run_warp(struct block_worker *k, struct warp *w, bool *idle)
{
    *idle = false;
    uint64_t end = k->steps + (k->one_round ? SIDE_QUANTUM : WARP_QUANTUM);
    while (!w->done && k->steps < end) {
        uint16_t s = w->current;
        if (w->splits[s].state != SPLIT_READY) {
            s = warp_ready(w, s);
            if (s == NO_SPLIT) {
                *idle = true;
                return true;
            }
            w->current = s;
        }
        uint64_t before = k->steps, contacts = k->contacts;
        if (at_wait(k, w, s) ? !run_wait(k, w, s) : !run_split(k, w, s, SIDE_QUANTUM))
            return false;
        if (exec_is_due(k)) {
            if (exec_over_limit(k, w->splits[s].pc < k->program->nr_insts ? w->splits[s].pc : 0))
                return false;
        }
        if (w->polled) {
            poll_again(w);
            *idle = true;
            return true;
        }
        if (k->steps - before >= SIDE_QUANTUM)
            give_way(w, k->contacts != contacts);
        else
            w->spins = 0;
    }
    return true;
}

bool exec_block_here(struct block_worker *k)
{
    unsigned done = 0;
    while (done < k->nr_warps) {
        sums_settle(k);
        const uint64_t before = k->steps, moves = k->moves, moved = moves + k->contacts;
        const unsigned nr_done = k->nr_done;
        bool all_idle = true, idle;
        done = 0;
        for (unsigned i = 0; i < k->nr_warps; i++) {
            unsigned turn = k->backwards ? k->nr_warps - i : i;
            struct warp *w = &k->warps[(k->first_warp + turn) % k->nr_warps];
            if (!w->done && !run_warp(k, w, &idle))
                return false;
            all_idle &= w->done || idle;
            done += w->done;
        }
        if (all_idle && k->moves + k->contacts == moved && done == k->nr_done)
            k->idle_rounds++;
        else
            k->idle_rounds = 0;
        k->nr_done = done;
        k->idle = all_idle;
        k->waits = all_idle && k->moves == moves && done == nr_done;
        if (k->one_round)
            return true;
        if (k->idle_rounds > MBARRIER_IDLE_ROUNDS)
            return mbarrier_deadlock(k);
        if (!wait_on(k, k->waits))
            return false;
        if (done < k->nr_warps && k->steps == before)
            return sync_deadlock(k);
    }
    return true;
}
