/* Owns the wording of faults, what becomes of those that listeners find, and the limits of a
 * launch. */
#include "emu/exec/exec.h"

#include "base/clock.h"
#include "emu/exec/launch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool exec_fault(struct block_worker *k, enum verdict verdict, uint32_t pc, const char *format, ...)
{
    struct emu_fault *fault = &k->fault;
    *fault = (struct emu_fault){.verdict = verdict, .line = fault->line};
    fault->block = k->block.index;
    fault->pc = pc;
    if (pc != NO_PC)
        fault->line = k->program->info[pc].near;
    va_list ap;
    va_start(ap, format);
    vsnprintf(fault->text, sizeof(fault->text), format, ap);
    va_end(ap);
    return false;
}

bool exec_note(struct block_worker *k)
{
    if (!k->reports || (k->fault.verdict != VERDICT_FAULT && k->fault.verdict != VERDICT_RACE))
        return false;
    reports_add(k->reports, k->fault.check, &k->fault);
    k->fault = (struct emu_fault){.verdict = VERDICT_OK};
    return true;
}

static bool tell(struct block_worker *k, const struct emu_access *access,
    const struct emu_listener_class *not_to)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        struct emu_listener *l = k->listeners[i];
        if (l->class == not_to || !l->wants_access || l->class->access(l, access, &k->fault))
            continue;
        k->fault.block = k->block.index;
        k->fault.line = k->program->info[access->pc].near;
        k->fault.pc = access->pc;
        if (!k->reports)
            return false;
        reports_add(k->reports, l->class->check, &k->fault);
        k->fault = (struct emu_fault){.verdict = VERDICT_OK};
    }
    return true;
}

bool exec_tell_access(struct block_worker *k, const struct emu_access *access)
{
    return tell(k, access, NULL);
}

void exec_tell_mbarrier(
    struct block_worker *k, unsigned warp, uint64_t address, enum emu_mbarrier what)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        struct emu_listener *l = k->listeners[i];
        if (l->class->mbarrier)
            l->class->mbarrier(l, warp, address, what);
    }
}

void exec_tell_away(struct block_worker *k, const struct emu_access *access)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        struct emu_listener *l = k->listeners[i];
        if (l->wants_access && l->class->away)
            l->class->away(l, access);
    }
}

void exec_tell_received(struct block_worker *k, uint32_t ranks, const struct emu_access *access)
{
    for (; ranks; ranks &= ranks - 1) {
        const unsigned rank = (unsigned)__builtin_ctz(ranks);
        struct block_worker *to = rank < k->cluster->nr ? &k->cluster->blocks[rank] : k;

        for (unsigned i = 0; to != k && i < to->nr_listeners; i++) {
            struct emu_listener *l = to->listeners[i];
            if (l->wants_access && l->class->received)
                l->class->received(l, access);
        }
    }
}

bool exec_tell_watchers(struct block_worker *k, const struct emu_access *access)
{
    return tell(k, access, emu_time_class());
}

/* A look at the memory of the process takes some microseconds. */
enum { LOOKS_PER_MEMORY = 256 };

bool exec_over_limit(struct block_worker *k, uint32_t pc)
{
    struct exec *x = k->exec;
    const uint64_t add = exec_unchecked(k);
    k->steps_checked += add;
    k->paced = 0;
    uint64_t all = atomic_fetch_add_explicit(&x->steps, add, memory_order_relaxed) + add;
    if (all > x->step_limit)
        return !exec_fault(k, VERDICT_TIMEOUT, pc,
            "more than %" PRIu64 " warp instructions; block (%u,%u,%u) was here", x->step_limit,
            k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    if (x->ends_ns && clock_ns() > x->ends_ns)
        return !exec_fault(k, VERDICT_TIMEOUT, pc,
            "more time than an evaluation may take (--deadline); block (%u,%u,%u) was here",
            k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    if (++k->nr_looks % LOOKS_PER_MEMORY == 0 && memory_is_over(k->memory))
        return !exec_fault(k, VERDICT_TIMEOUT, pc,
            "more of the host's memory than there is for the emulator (%" PRIu64
            " MiB); block (%u,%u,%u) was here",
            k->memory->host_limit >> 20, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    if (launch_interrupted())
        atomic_store(&x->stop, true);
    if (atomic_load_explicit(&x->stop, memory_order_relaxed))
        return !exec_fault(k, VERDICT_OK, pc, "stopped");
    return false;
}

bool exec_charge(struct block_worker *k, uint32_t pc, uint64_t steps)
{
    k->charged += steps;
    return exec_unchecked(k) <= STEPS_PER_CHECK || !exec_over_limit(k, pc);
}
