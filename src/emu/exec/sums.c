/* Owns the sums that a worker thread keeps in memory of its own before it adds them to a buffer. */
#include "emu/exec/sums.h"

#include "base/mem.h"
#include "emu/exec/exec.h"

enum { SUMS_ALIGN = 64 };

static bool is_sum(const struct inst *in)
{
    return in->sub == PTX_ATOM_ADD && !ptx_type_is_float((enum ptx_type)in->type) && in->vec == 1 &&
           in->elem_bytes <= 8 && in->flags & INST_NO_DEST;
}

/* Does the instruction order memory between blocks, or read it without passing access.c? */
static bool could_tell(const struct inst *in, const struct ptx_inst *ptx)
{
    return in->kind == INST_TEXTURE || in->kind == INST_PRINT ||
           (ptx && (ptx->op == PTX_OP_MEMBAR || ptx->op == PTX_OP_FENCE ||
                       ptx->sem >= PTX_SEM_ACQUIRE));
}

unsigned sums_width(const struct program *program)
{
    unsigned bytes = 0;
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];
        if (could_tell(in, program->info[pc].ptx))
            return 0;
        if (in->kind != INST_ATOM || in->space == PTX_SHARED)
            continue;
        if (!is_sum(in) || (bytes && bytes != in->elem_bytes))
            return 0;
        bytes = in->elem_bytes;
    }
    return bytes;
}

void sums_launch(const struct program *program, struct emu_memory *memory)
{
    for (size_t i = 0; program->sum_bytes && i < memory->nr; i++)
        memory->buffers[i]->not_only_sums = false;
}

uint8_t *sums_host(struct block_worker *k, struct mem_buffer *buffer)
{
    struct own_sums *s = &k->sums;
    if (!k->program->sum_bytes || k->alone ||
        __atomic_load_n(&buffer->not_only_sums, __ATOMIC_RELAXED))
        return buffer->host;
    for (unsigned i = 0; i < s->nr; i++) {
        if (s->of[i].buffer == buffer)
            return s->memory + s->of[i].at;
    }
    if (s->nr == SUMS_BUFFERS || buffer->bytes > SUMS_BYTES - s->used)
        return buffer->host;
    if (!s->memory)
        s->memory = xcalloc(1, SUMS_BYTES);
    const uint32_t at = s->used;
    s->of[s->nr].buffer = buffer;
    s->of[s->nr++].at = at;
    s->used += (uint32_t)(buffer->bytes + SUMS_ALIGN - 1) / SUMS_ALIGN * SUMS_ALIGN;
    return s->memory + at;
}

void sums_end(struct block_worker *k, struct mem_buffer *buffer)
{
    struct own_sums *s = &k->sums;
    if (!k->program->sum_bytes)
        return;
    if (!__atomic_load_n(&buffer->not_only_sums, __ATOMIC_RELAXED))
        __atomic_store_n(&buffer->not_only_sums, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < s->nr; i++) {
        if (s->of[i].buffer != buffer)
            continue;
        sums_settle_now(k);
        s->of[i].buffer = NULL;
        for (uint32_t slot = 0; slot < k->program->nr_slots; slot++) {
            if (k->caches[slot].host != s->memory + s->of[i].at)
                continue;
            k->caches[slot] = (struct pc_cache){0};
            k->patterns[slot].ready = 0;
        }
    }
}

/* Memory of sums ends with zeros that round it up to whole lines; they lie past the buffer's end
 * and are never added. */
static void settle(uint8_t *sums, uint8_t *host, uint64_t bytes, unsigned width)
{
    for (uint64_t at = 0; at < bytes; at += 8) {
        uint64_t *sum = (uint64_t *)(sums + at);
        if (!*sum)
            continue;
        const uint32_t *half = (const uint32_t *)sum;
        if (width == 8)
            __atomic_fetch_add((uint64_t *)(host + at), *sum, __ATOMIC_SEQ_CST);
        for (unsigned i = 0; width == 4 && i < 2; i++) {
            if (half[i])
                __atomic_fetch_add((uint32_t *)(host + at) + i, half[i], __ATOMIC_SEQ_CST);
        }
        *sum = 0;
    }
}

void sums_settle_now(struct block_worker *k)
{
    struct own_sums *s = &k->sums;
    for (unsigned i = 0; i < s->nr; i++) {
        const struct mem_buffer *b = s->of[i].buffer;
        if (b)
            settle(s->memory + s->of[i].at, b->host, b->bytes, k->program->sum_bytes);
    }
    s->waiting = false;
}
