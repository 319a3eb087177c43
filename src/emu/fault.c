/* Owns the wording of faults. */
#include "emu/exec.h"

#include <stdarg.h>
#include <stdio.h>

bool exec_fault(struct worker *k, enum verdict verdict, uint32_t pc, const char *format, ...)
{
    struct emu_fault *fault = &k->fault;
    fault->verdict = verdict;
    fault->block = k->block.index;
    if (pc != NO_PC)
        fault->line = k->program->info[pc].line;
    va_list ap;
    va_start(ap, format);
    vsnprintf(fault->text, sizeof(fault->text), format, ap);
    va_end(ap);
    return false;
}

bool access_string(struct worker *k, uint64_t address, char *text, size_t bytes)
{
    size_t i = 0;
    for (; i + 1 < bytes; i++) {
        const struct mem_buffer *b = memory_find(k->memory, address + i, 1);
        if (!b)
            break;
        text[i] = (char)b->host[address + i - b->base];
        if (!text[i])
            return true;
    }
    text[i] = 0;
    return i > 0;
}
