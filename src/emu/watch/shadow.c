/* Owns the shadow of global memory. */
#include "emu/watch/shadow.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

unsigned shadow_cell_bytes(const struct program *program, enum ptx_space space)
{
    unsigned bytes = 4;

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];
        const bool memory =
            in->kind == INST_LOAD || in->kind == INST_STORE || in->kind == INST_ATOM;
        if (memory && (in->space == space || in->space == PTX_GENERIC) && in->elem_bytes &&
            in->elem_bytes < bytes)
            bytes = in->elem_bytes;
        if (in->kind == INST_CP_ASYNC && in->elem_bytes && in->elem_bytes < bytes)
            bytes = in->elem_bytes;
    }
    return bytes;
}

/* The buffers made since the last call; addresses rise. */
static void add_buffers(struct shadow *shadow)
{
    const struct emu_memory *memory = shadow->run->memory;

    shadow->buffers = grow(shadow->buffers, &shadow->cap, memory->nr + 1, sizeof(*shadow->buffers));
    for (; shadow->nr < memory->nr; shadow->nr++) {
        struct mem_buffer *buffer = memory->buffers[shadow->nr];
        shadow->buffers[shadow->nr] = (struct shadow_buffer){.buffer = buffer,
            .base = buffer->base,
            .bytes = buffer->bytes,
            .nr_sectors = buffer->bytes / SHADOW_SECTOR_BYTES + 1,
            .skip = buffer->constant};
    }
}

void shadow_init(struct shadow *shadow, const struct emu_run *run)
{
    *shadow = (struct shadow){.run = run, .arena = arena_create()};
    shadow->cell_bytes = shadow_cell_bytes(run->program, PTX_GLOBAL);
    shadow->nr_cells = SHADOW_SECTOR_BYTES / shadow->cell_bytes;
    shadow->by_pc = xcalloc(run->program->nr_insts, sizeof(struct shadow_buffer *));
    add_buffers(shadow);
}

void shadow_finish(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->nr; i++)
        free(shadow->buffers[i].sectors);
    free(shadow->buffers);
    free(shadow->by_pc);
    arena_destroy(shadow->arena);
}

void shadow_keep_two(uint64_t *low, uint64_t *high, uint64_t tag)
{
    const uint64_t block = shadow_block(tag);

    if (!tag || shadow_block(*low) == block || shadow_block(*high) == block)
        return;
    if (!*low || block < shadow_block(*low)) {
        *high = *low;
        *low = tag;
    } else if (!*high || block < shadow_block(*high)) {
        *high = tag;
    }
}

/* The tag of a cell `offset` bytes into what the tagged thread's warp touched as a whole. */
static uint64_t tag_at(const struct shadow *shadow, uint64_t tag, unsigned offset)
{
    unsigned bytes;

    if (!shadow_block(tag))
        return tag;
    bytes = shadow->run->program->info[shadow_pc(tag)].access_bytes;
    return bytes ? tag + ((uint64_t)(offset / bytes) << 22) : tag;
}

void shadow_split(struct shadow *shadow, struct shadow_buffer *buffer, struct shadow_sector *sector)
{
    if (sector->fine)
        return;
    sector->fine = arena_array(shadow->arena, shadow->nr_cells, sizeof(*sector->fine));
    for (unsigned c = 0; c < shadow->nr_cells; c++) {
        for (unsigned t = 0; t < 3; t++)
            sector->fine[c].tag[t] = tag_at(shadow, sector->all.tag[t], c * shadow->cell_bytes);
    }
}

static struct shadow_buffer *find(struct shadow *shadow, uint32_t pc, uint64_t address)
{
    struct shadow_buffer *buffer = shadow->by_pc[pc];
    size_t lo = 0, hi = shadow->nr;

    if (buffer && address - buffer->base < buffer->bytes)
        return buffer;
    while (lo < hi) {
        const size_t middle = (lo + hi) / 2;
        if (shadow->buffers[middle].base <= address)
            lo = middle + 1;
        else
            hi = middle;
    }
    if (!lo || address - shadow->buffers[lo - 1].base >= shadow->buffers[lo - 1].bytes) {
        if (shadow->nr == shadow->run->memory->nr)
            return NULL;
        /* device code has called malloc */
        add_buffers(shadow);
        memset(shadow->by_pc, 0, shadow->run->program->nr_insts * sizeof(*shadow->by_pc));
        return find(shadow, pc, address);
    }
    buffer = &shadow->buffers[lo - 1];
    if (!buffer->sectors && !buffer->skip)
        buffer->sectors = xcalloc(buffer->nr_sectors, sizeof(*buffer->sectors));
    return shadow->by_pc[pc] = buffer;
}

/* Lanes `lane`, `lane` + 1, ... touch consecutive elements from `address` on. */
static void touch_run(struct shadow *shadow, const struct emu_access *access, uint64_t address,
    uint64_t bytes, uint64_t tag, enum shadow_how how, shadow_update *update)
{
    struct shadow_buffer *buffer = find(shadow, access->pc, address);
    uint64_t at, end;

    if (!buffer || buffer->skip)
        return;
    at = address - buffer->base;
    end = at + bytes;
    while (at < end) {
        struct shadow_sector *sector = &buffer->sectors[at / SHADOW_SECTOR_BYTES];
        const uint64_t next = (at / SHADOW_SECTOR_BYTES + 1) * SHADOW_SECTOR_BYTES;
        const uint64_t lanes = (at - (address - buffer->base)) / access->bytes;
        const bool whole = at % SHADOW_SECTOR_BYTES == 0 && next <= end;
        if (whole && !sector->fine) {
            update(&sector->all, tag + (lanes << 22), how);
            at = next;
            continue;
        }
        shadow_split(shadow, buffer, sector);
        for (; at < end && at < next; at += shadow->cell_bytes) {
            const uint64_t lane = (at - (address - buffer->base)) / access->bytes;
            update(&sector->fine[at % SHADOW_SECTOR_BYTES / shadow->cell_bytes], tag + (lane << 22),
                how);
        }
    }
}

/* Finds the lanes from `first` on that follow each other in memory, or repeat one address. *last:
 * the last lane that counts. */
static unsigned end_of_run(const struct emu_access *access, unsigned first, unsigned *last)
{
    const uint64_t address = access->address[first];
    unsigned next = first + 1;

    while (next < WARP_LANES && (access->mask >> next & 1) &&
           access->address[next] == address + (uint64_t)(next - first) * access->bytes)
        next++;
    *last = next - 1;
    if (*last == first) { /* lanes that repeat one address add nothing */
        while (next < WARP_LANES && (access->mask >> next & 1) && access->address[next] == address)
            next++;
    }
    return next;
}

void shadow_access(struct shadow *shadow, uint64_t block, const struct emu_access *access,
    enum shadow_how how, shadow_update *update)
{
    const struct shadow_buffer *known = shadow->by_pc[access->pc];
    uint32_t mask = access->mask;

    if (known && known->skip && access->lo >= known->base &&
        access->hi - known->base < known->bytes)
        return;
    while (mask) {
        const unsigned first = (unsigned)__builtin_ctz(mask);
        unsigned last = first, next = WARP_LANES;

        if (access->kind == ACCESS_CONTIGUOUS && access->mask == UINT32_MAX)
            last = WARP_LANES - 1;
        else if (access->kind != ACCESS_UNIFORM)
            next = end_of_run(access, first, &last);
        touch_run(shadow, access, access->address[first],
            (uint64_t)(last - first + 1) * access->bytes,
            shadow_tag(block, access->warp * WARP_LANES + first, access->pc), how, update);
        mask = next < WARP_LANES ? mask & ~0u << next : 0;
    }
}

static void merge_sector(struct shadow *into, struct shadow_buffer *to, struct shadow_sector *a,
    struct shadow *from, struct shadow_buffer *of, struct shadow_sector *b, shadow_join *join)
{
    if (!a->fine && !b->fine) {
        join(&a->all, &b->all);
        return;
    }
    shadow_split(into, to, a);
    shadow_split(from, of, b);
    for (unsigned c = 0; c < into->nr_cells; c++)
        join(&a->fine[c], &b->fine[c]);
}

void shadow_merge(struct shadow *into, struct shadow *from, shadow_join *join)
{
    for (size_t i = 0; i < into->nr; i++) {
        struct shadow_buffer *to = &into->buffers[i], *of = &from->buffers[i];
        if (!of->sectors)
            continue;
        if (!to->sectors)
            to->sectors = xcalloc(to->nr_sectors, sizeof(*to->sectors));
        for (uint64_t s = 0; s < to->nr_sectors; s++) {
            const struct shadow_cell *all = &of->sectors[s].all;
            if (of->sectors[s].fine || all->tag[0] || all->tag[1] || all->tag[2])
                merge_sector(into, to, &to->sectors[s], from, of, &of->sectors[s], join);
        }
    }
}
