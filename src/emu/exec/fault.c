/* Owns the wording of faults, and what becomes of those that listeners find. */
#include "emu/exec/exec.h"

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

bool exec_tell_watchers(struct block_worker *k, const struct emu_access *access)
{
    return tell(k, access, emu_time_class());
}
