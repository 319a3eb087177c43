/* Owns the search for reads of memory that nothing wrote.
 *
 * Global memory: each cell remembers the two lowest blocks that wrote it and the lowest that read
 * it before it had written it itself. When the launch is over, such a read is reported unless
 * another block wrote the cell: then order decides, which is for races.c to judge. So the report
 * does not depend on who ran first. An atomic reads; that others did atomics before makes no
 * initial value.
 *
 * Shared and local memory: each cell of the running block (of each thread) is written or not. The
 * first such read of the lowest block is reported, after the launch, so that a race that explains
 * it comes first. */
#include "emu/shadow.h"
#include "emu/where.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whoever wrote before the launch: no block's number, but not nobody either. */
enum { TAG_HOST = 1 };

struct stray {
    bool found;
    uint64_t block, address;
    unsigned thread;
    uint32_t pc;
    enum ptx_space space;
};

struct uninit {
    struct emu_listener base;
    const struct emu_run *run;
    uint64_t block;
    uint8_t *shared;    /* per byte: written in this block */
    size_t shared_left; /* bytes of it not written yet */
    uint8_t *local;     /* per thread and byte */
    size_t local_bytes;
    uint8_t *overwrites; /* per pc: an atomic exchange, which does not care what was there */
    struct stray first;  /* in shared or local memory; of the lowest block */
    struct shadow shadow;
};

/* ---- before the launch ---- */

static bool all_set(const uint8_t *bits, uint64_t nr)
{
    for (uint64_t i = 0; i < nr; i++) {
        if (bits[i] != 0xff)
            return false;
    }
    return true;
}

static bool none_set(const uint8_t *bits, uint64_t nr)
{
    for (uint64_t i = 0; i < nr; i++) {
        if (bits[i])
            return false;
    }
    return true;
}

/* Cells that are written already are the host's. Buffers wholly written are not looked at again. */
static void note_host(struct uninit *u, struct shadow_buffer *buffer)
{
    const struct mem_buffer *memory = buffer->buffer;
    struct shadow *shadow = &u->shadow;

    if (memory->all_init || memory_is_init(memory, 0, memory->bytes)) {
        buffer->skip = true;
        return;
    }
    if (none_set(memory->init, (memory->bytes + 7) / 8))
        return;
    buffer->sectors = xcalloc(buffer->nr_sectors, sizeof(*buffer->sectors));
    for (uint64_t s = 0; s < buffer->nr_sectors; s++) {
        struct shadow_sector *sector = &buffer->sectors[s];
        const uint64_t at = s * SHADOW_SECTOR_BYTES;
        if (at + SHADOW_SECTOR_BYTES <= memory->bytes) {
            const uint8_t *bits = memory->init + at / 8;
            if (all_set(bits, SHADOW_SECTOR_BYTES / 8)) {
                sector->all.tag[0] = TAG_HOST;
                continue;
            }
            if (none_set(bits, SHADOW_SECTOR_BYTES / 8))
                continue;
        }
        shadow_split(shadow, buffer, sector);
        for (unsigned c = 0; c < shadow->nr_cells; c++) {
            const uint64_t offset = at + (uint64_t)c * shadow->cell_bytes;
            if (offset + shadow->cell_bytes > memory->bytes ||
                memory_is_init(memory, offset, shadow->cell_bytes))
                sector->fine[c].tag[0] = TAG_HOST;
        }
    }
}

static struct emu_listener *create(const struct emu_run *run)
{
    struct uninit *u = xcalloc(1, sizeof(*u));
    const struct program *program = run->program;

    u->run = run;
    u->local_bytes = program->local_bytes;
    u->shared = xcalloc((size_t)run->shared_bytes + 1, 1);
    u->local = xcalloc((size_t)run->nr_threads * u->local_bytes + 1, 1);
    u->overwrites = xcalloc(program->nr_insts, 1);
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct ptx_inst *ptx = program->info[pc].ptx;
        u->overwrites[pc] = ptx && ptx->op == PTX_OP_ATOM && ptx->atom == PTX_ATOM_EXCH;
    }
    shadow_init(&u->shadow, run);
    for (size_t i = 0; i < u->shadow.nr; i++)
        note_host(u, &u->shadow.buffers[i]);
    return &u->base;
}

static void destroy(struct emu_listener *listener)
{
    struct uninit *u = (struct uninit *)listener;

    shadow_finish(&u->shadow);
    free(u->shared);
    free(u->local);
    free(u->overwrites);
    free(u);
}

/* ---- during it ---- */

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct uninit *u = (struct uninit *)listener;

    u->base.wants_access = u->run->nr_blocks < UINT32_MAX;
    u->block = block->index;
    memset(u->shared, 0, u->run->shared_bytes);
    u->shared_left = u->run->shared_bytes;
    if (u->local_bytes)
        memset(u->local, 0, (size_t)u->run->nr_threads * u->local_bytes);
}

/* tag[0], tag[1]: the two lowest blocks that wrote; tag[2]: the lowest that read before it wrote */
static void touch(struct shadow_cell *cell, uint64_t tag, enum shadow_how how)
{
    const uint64_t block = shadow_block(tag);

    if (cell->tag[0] == TAG_HOST)
        return;
    if (how == SHADOW_WRITE) {
        shadow_keep_two(&cell->tag[0], &cell->tag[1], tag);
        return;
    }
    if (shadow_block(cell->tag[0]) == block || shadow_block(cell->tag[1]) == block)
        return;
    if (!cell->tag[2] || block < shadow_block(cell->tag[2]))
        cell->tag[2] = tag;
}

static void join(struct shadow_cell *into, const struct shadow_cell *from)
{
    if (from->tag[0] == TAG_HOST || into->tag[0] == TAG_HOST) {
        *into = (struct shadow_cell){.tag = {TAG_HOST}};
        return;
    }
    shadow_keep_two(&into->tag[0], &into->tag[1], from->tag[0]);
    shadow_keep_two(&into->tag[0], &into->tag[1], from->tag[1]);
    if (from->tag[2] && (!into->tag[2] || shadow_block(from->tag[2]) < shadow_block(into->tag[2])))
        into->tag[2] = from->tag[2];
}

static void note_stray(struct uninit *u, const struct emu_access *access, unsigned lane)
{
    const struct stray *first = &u->first;
    const unsigned thread = access->warp * WARP_LANES + lane;

    if (first->found &&
        (first->block < u->block ||
            (first->block == u->block && (first->pc != access->pc || first->thread <= thread))))
        return;
    u->first = (struct stray){.found = true,
        .block = u->block,
        .address = access->address[lane],
        .thread = thread,
        .pc = access->pc,
        .space = access->space};
}

static bool all_written(const uint8_t *written, size_t nr)
{
    size_t i = 0;
    uint64_t word;

    for (; i + 8 <= nr; i += 8) {
        memcpy(&word, written + i, 8);
        if (word != UINT64_C(0x0101010101010101))
            return false;
    }
    for (; i < nr; i++) {
        if (!written[i])
            return false;
    }
    return true;
}

static void mark_written(struct uninit *u, uint64_t at, size_t nr)
{
    for (size_t i = at; i < at + nr; i++) {
        u->shared_left -= !u->shared[i];
        u->shared[i] = 1;
    }
}

static void access_shared(struct uninit *u, const struct emu_access *access)
{
    const bool reads = !access->is_write || (access->is_atomic && !u->overwrites[access->pc]);
    const bool solid = access->kind == ACCESS_UNIFORM ||
                       (access->kind == ACCESS_CONTIGUOUS &&
                           !(access->mask & (access->mask + (access->mask & -access->mask))));
    const size_t all = (size_t)(access->hi - access->lo) + access->bytes;

    if (!u->shared_left)
        return;
    if (solid && (!reads || all_written(u->shared + access->lo, all))) {
        if (access->is_write)
            mark_written(u, access->lo, all);
        return;
    }
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        if (reads && !all_written(u->shared + access->address[lane], access->bytes))
            note_stray(u, access, lane);
        if (access->is_write)
            mark_written(u, access->address[lane], access->bytes);
    }
}

static void access_local(struct uninit *u, const struct emu_access *access)
{
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const size_t thread = access->warp * WARP_LANES + lane;
        uint8_t *written = u->local + thread * u->local_bytes + access->address[lane];
        if (!access->is_write && !all_written(written, access->bytes))
            note_stray(u, access, lane);
        if (access->is_write)
            memset(written, 1, access->bytes);
    }
}

static bool on_access(
    struct emu_listener *listener, const struct emu_access *access, struct emu_fault *fault)
{
    struct uninit *u = (struct uninit *)listener;

    switch (access->space) {
    case PTX_SHARED:
        access_shared(u, access);
        break;
    case PTX_LOCAL:
        access_local(u, access);
        break;
    case PTX_GLOBAL:
        shadow_access(&u->shadow, u->block, access,
            !access->is_write                                 ? SHADOW_READ
            : access->is_atomic && !u->overwrites[access->pc] ? SHADOW_ATOMIC
                                                              : SHADOW_WRITE,
            touch);
        break;
    default:
        break;
    }
    return true;
}

/* ---- after it ---- */

static void merge(struct emu_listener *into, struct emu_listener *from)
{
    struct uninit *a = (struct uninit *)into;
    const struct uninit *b = (struct uninit *)from;

    if (b->first.found && (!a->first.found || b->first.block < a->first.block))
        a->first = b->first;
    shadow_merge(&a->shadow, &((struct uninit *)from)->shadow, join);
}

struct found {
    uint64_t tag;
    const struct shadow_buffer *buffer;
    uint64_t offset;
};

/* Remembers what the launch wrote, and finds the lowest block's read of what it did not. */
static void settle_cell(struct found *found, const struct shadow_cell *cell,
    const struct shadow_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    const uint64_t reader = cell->tag[2];

    if (cell->tag[0] == TAG_HOST)
        return;
    if (cell->tag[0])
        memory_set_init(buffer->buffer, offset,
            offset + bytes > buffer->bytes ? buffer->bytes - offset : bytes, true);
    if (!reader || cell->tag[1] ||
        (cell->tag[0] && shadow_block(cell->tag[0]) != shadow_block(reader)))
        return;
    if (!found->tag || shadow_block(reader) < shadow_block(found->tag))
        *found = (struct found){.tag = reader, .buffer = buffer, .offset = offset};
}

static struct found settle(struct uninit *u)
{
    struct found found = {0};

    for (size_t i = 0; i < u->shadow.nr; i++) {
        const struct shadow_buffer *buffer = &u->shadow.buffers[i];
        for (uint64_t s = 0; buffer->sectors && s < buffer->nr_sectors; s++) {
            const struct shadow_sector *sector = &buffer->sectors[s];
            const uint64_t at = s * SHADOW_SECTOR_BYTES;
            if (!sector->fine) {
                settle_cell(&found, &sector->all, buffer, at, SHADOW_SECTOR_BYTES);
                continue;
            }
            for (unsigned c = 0; c < u->shadow.nr_cells; c++)
                settle_cell(&found, &sector->fine[c], buffer,
                    at + (uint64_t)c * u->shadow.cell_bytes, u->shadow.cell_bytes);
        }
    }
    return found;
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct uninit *u = (struct uninit *)listener;
    const struct found found = settle(u);
    const struct stray *first = &u->first;
    char who[WHERE_BYTES], place[WHERE_BYTES];
    uint32_t pc = first->pc;

    if (result->verdict != VERDICT_OK || (!first->found && !found.tag))
        return;
    if (found.tag && (!first->found || shadow_block(found.tag) - 1 < first->block)) {
        pc = shadow_pc(found.tag);
        where_thread(u->run, shadow_block(found.tag) - 1, shadow_thread(found.tag), who);
        snprintf(place, sizeof(place), "byte %" PRIu64 " of %s", found.offset,
            found.buffer->buffer->name);
    } else {
        where_thread(u->run, first->block, first->thread, who);
        if (first->space == PTX_SHARED)
            where_shared(u->run, first->address, place);
        else
            snprintf(place, sizeof(place), "byte %" PRIu64 " of local memory", first->address);
    }
    result->verdict = VERDICT_FAULT;
    result->line = u->run->program->info[pc].line;
    snprintf(result->text, sizeof(result->text),
        "uninitialised: %s of %s, which nothing wrote before, by %s (line %u)",
        where_verb(u->run, pc, PTX_GLOBAL), place, who, result->line);
}

const struct emu_listener_class *emu_uninit_class(void)
{
    static const struct emu_listener_class class = {.name = "uninit",
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .access = on_access,
        .finish = finish};
    return &class;
}
