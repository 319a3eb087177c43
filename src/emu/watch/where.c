/* Owns the words of messages about threads and places. */
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void where_thread(
    const struct emu_run *run, uint64_t block, unsigned thread, char text[WHERE_BYTES])
{
    const uint32_t *b = run->launch->block, *g = run->launch->grid;

    snprintf(text, WHERE_BYTES, "thread (%u,%u,%u) of block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")",
        thread % b[0], thread / b[0] % b[1], thread / b[0] / b[1], block % g[0],
        block / g[0] % g[1], block / g[0] / g[1]);
}

const char *where_line(const struct emu_run *run, uint32_t pc, char text[WHERE_BYTES])
{
    const uint32_t line = run->program->info[pc].near;

    if (line)
        snprintf(text, WHERE_BYTES, " (line %u)", line);
    else
        text[0] = '\0';
    return text;
}

const char *where_verb(const struct emu_run *run, uint32_t pc, enum ptx_space space)
{
    const struct inst_info *info = &run->program->info[pc];

    if (info->is_copy)
        return (space == PTX_SHARED) != info->is_store ? "write" : "read";
    return info->is_atomic ? "atomic" : info->is_store ? "write" : "read";
}

/* A variable of a function is named _ZZ<function>E<length><name>, perhaps with _<number> after it
 * (Itanium C++ ABI, local names). */
static const char *source_name(const char *name, int *len)
{
    const char *at = name;

    *len = (int)strlen(name);
    if (strncmp(name, "_ZZ", 3) != 0)
        return name;
    for (at = strrchr(name, 'E'); at && at > name; at--) {
        unsigned bytes;
        int digits;
        if (*at != 'E' || sscanf(at + 1, "%u%n", &bytes, &digits) != 1)
            continue;
        at += 1 + digits;
        if (bytes == 0 || bytes > strlen(at))
            break;
        *len = (int)bytes;
        return at;
    }
    return name;
}

static const struct ptx_symbol *shared_symbol(const struct emu_run *run, uint64_t offset)
{
    const struct program *program = run->program;
    const struct ptx_symbol *found = NULL;

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct ptx_inst *ptx = program->info[pc].ptx;
        for (int o = 0; ptx && o < ptx->nr_operands; o++) {
            const struct ptx_operand *operand = &ptx->operand[o];
            const struct ptx_symbol *symbol = operand->symbol;
            if ((operand->kind != PTX_OPERAND_SYMBOL && operand->kind != PTX_OPERAND_ADDRESS) ||
                !symbol || symbol->space != PTX_SHARED)
                continue;
            if (symbol->external
                    ? offset >= program->shared_dynamic_offset
                    : offset >= symbol->offset && offset < symbol->offset + symbol->bytes)
                found = symbol;
        }
    }
    return found;
}

void where_shared(const struct emu_run *run, uint64_t offset, char text[WHERE_BYTES])
{
    const struct ptx_symbol *symbol = shared_symbol(run, offset);
    int len;

    if (!symbol) {
        snprintf(text, WHERE_BYTES, "byte %" PRIu64 " of shared memory", offset);
        return;
    }
    const char *name = source_name(symbol->name, &len);
    const uint64_t start = symbol->external ? run->program->shared_dynamic_offset : symbol->offset;
    snprintf(text, WHERE_BYTES, "byte %" PRIu64 " of %.*s (shared memory)", offset - start,
        len > 64 ? 64 : len, name);
}
