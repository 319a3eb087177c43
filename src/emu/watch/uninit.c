/* Owns the search for reads of memory that nothing wrote.
 *
 * Global memory: each cell remembers the two lowest blocks that wrote it, and the lowest block that
 * read it before writing it. When the launch is over, such a read is reported unless another block
 * wrote the cell: in that case the order decides, which is for races.c to judge. So the report does
 * not depend on who ran first. An atomic reads; earlier atomics of others are no initial value.
 *
 * Shared and local memory: each cell of the running block (of each thread) is written or not. The
 * first such read of the lowest block is reported after the launch, so that a race that explains
 * the read comes first. */
#include "emu/watch/reports.h"
#include "emu/watch/shadow.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands for a write before the launch: no block's number, but not zero either. */
enum { TAG_HOST = 1 };

struct stray {
    uint64_t block, address;
    unsigned thread;
    unsigned turn; /* of the block: the first stray read has the lowest */
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
    uint8_t *overwrites;  /* per pc: an atomic exchange, which does not care what was there */
    struct stray *strays; /* in shared or local memory; of each pc that of the lowest block */
    size_t nr_strays, cap_strays;
    unsigned turn;
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

/* Marks the cells that the host had written before the launch. Buffers written as a whole are not
 * looked at again. */
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
    free(u->strays);
    free(u);
}

/* ---- during it ---- */

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct uninit *u = (struct uninit *)listener;

    u->base.wants_access = u->run->nr_blocks < UINT32_MAX;
    u->block = block->index;
    u->turn = 0;
    memset(u->shared, 0, u->run->shared_bytes);
    u->shared_left = u->run->shared_bytes;
    if (u->run->program->uses_reserved) { /* CUDA hands it out as zeros */
        memset(u->shared + u->shared_left - RESERVED_SMEM_BYTES, 1, RESERVED_SMEM_BYTES);
        u->shared_left -= RESERVED_SMEM_BYTES;
    }
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

static void keep_stray(struct uninit *u, const struct stray *stray)
{
    for (size_t i = 0; i < u->nr_strays; i++) {
        struct stray *s = &u->strays[i];
        if (s->pc != stray->pc)
            continue;
        if (stray->block < s->block) {
            *s = *stray;
        } else if (stray->block == s->block && stray->thread < s->thread) {
            const unsigned turn = s->turn;
            *s = *stray;
            s->turn = turn;
        }
        return;
    }
    u->strays = grow(u->strays, &u->cap_strays, u->nr_strays + 1, sizeof(*stray));
    u->strays[u->nr_strays++] = *stray;
}

static void note_stray(struct uninit *u, const struct emu_access *access, unsigned lane)
{
    const struct stray stray = {.block = u->block,
        .address = access->address[lane],
        .thread = access->warp * WARP_LANES + lane,
        .turn = u->turn,
        .pc = access->pc,
        .space = access->space};

    keep_stray(u, &stray);
}

/* A byte that is 1 for each byte that was written: eight at a time, then four, as most words have.
 */
static const uint64_t eight_ones = UINT64_C(0x0101010101010101);

static bool all_written(const uint8_t *written, size_t nr)
{
    size_t i = 0;
    uint64_t eight;
    uint32_t four;

    for (; i + 8 <= nr; i += 8) {
        memcpy(&eight, written + i, 8);
        if (eight != eight_ones)
            return false;
    }
    if (i + 4 <= nr) {
        memcpy(&four, written + i, 4);
        if (four != (uint32_t)eight_ones)
            return false;
        i += 4;
    }
    for (; i < nr; i++) {
        if (!written[i])
            return false;
    }
    return true;
}

static void mark_written(struct uninit *u, uint64_t at, size_t nr)
{
    uint8_t *written = u->shared + at;
    size_t i = 0;
    uint64_t eight;
    uint32_t four;

    for (; i + 8 <= nr; i += 8) {
        memcpy(&eight, written + i, 8);
        u->shared_left -= (unsigned)__builtin_popcountll(eight ^ eight_ones);
        memcpy(written + i, &eight_ones, 8);
    }
    if (i + 4 <= nr) {
        memcpy(&four, written + i, 4);
        u->shared_left -= (unsigned)__builtin_popcount(four ^ (uint32_t)eight_ones);
        memcpy(written + i, &eight_ones, 4);
        i += 4;
    }
    for (; i < nr; i++) {
        u->shared_left -= !written[i];
        written[i] = 1;
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

static void written(struct emu_listener *listener, uint64_t offset, uint64_t bytes)
{
    mark_written((struct uninit *)listener, offset, bytes);
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

    u->turn++;
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

    for (size_t i = 0; i < b->nr_strays; i++)
        keep_stray(a, &b->strays[i]);
    shadow_merge(&a->shadow, &((struct uninit *)from)->shadow, join);
}

/* Finds reads of global memory, for each pc the one of the lowest block; `each` false: one for the
 * launch. */
struct found {
    uint64_t tag;
    const struct shadow_buffer *buffer;
    uint64_t offset;
};

struct finds {
    struct found *items;
    size_t nr, cap;
    bool each;
};

static void keep_find(struct finds *finds, const struct found *found)
{
    for (size_t i = 0; i < finds->nr; i++) {
        struct found *f = &finds->items[i];
        if (finds->each && shadow_pc(f->tag) != shadow_pc(found->tag))
            continue;
        if (shadow_block(found->tag) < shadow_block(f->tag))
            *f = *found;
        return;
    }
    finds->items = grow(finds->items, &finds->cap, finds->nr + 1, sizeof(*found));
    finds->items[finds->nr++] = *found;
}

/* Remembers what the launch wrote, and finds reads of what it did not. */
static void settle_cell(struct finds *finds, const struct shadow_cell *cell,
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
    keep_find(finds, &(struct found){.tag = reader, .buffer = buffer, .offset = offset});
}

static void settle(struct uninit *u, struct finds *finds)
{
    for (size_t i = 0; i < u->shadow.nr; i++) {
        const struct shadow_buffer *buffer = &u->shadow.buffers[i];
        for (uint64_t s = 0; buffer->sectors && s < buffer->nr_sectors; s++) {
            const struct shadow_sector *sector = &buffer->sectors[s];
            const uint64_t at = s * SHADOW_SECTOR_BYTES;
            if (!sector->fine) {
                settle_cell(finds, &sector->all, buffer, at, SHADOW_SECTOR_BYTES);
                continue;
            }
            for (unsigned c = 0; c < u->shadow.nr_cells; c++)
                settle_cell(finds, &sector->fine[c], buffer,
                    at + (uint64_t)c * u->shadow.cell_bytes, u->shadow.cell_bytes);
        }
    }
}

static void describe(const struct uninit *u, uint64_t block, unsigned thread, uint32_t pc,
    const char *place, struct emu_fault *fault)
{
    char who[WHERE_BYTES], line[WHERE_BYTES];

    where_thread(u->run, block, thread, who);
    *fault = (struct emu_fault){
        .verdict = VERDICT_FAULT, .block = block, .pc = pc, .line = u->run->program->info[pc].near};
    snprintf(fault->text, sizeof(fault->text),
        "uninitialised: %s of %s, which nothing wrote before, by %s%s",
        where_verb(u->run, pc, PTX_GLOBAL), place, who, where_line(u->run, pc, line));
}

static void describe_global(
    const struct uninit *u, const struct found *found, struct emu_fault *fault)
{
    char place[WHERE_BYTES];

    snprintf(
        place, sizeof(place), "byte %" PRIu64 " of %s", found->offset, found->buffer->buffer->name);
    describe(u, shadow_block(found->tag) - 1, shadow_thread(found->tag), shadow_pc(found->tag),
        place, fault);
}

static void describe_own(const struct uninit *u, const struct stray *stray, struct emu_fault *fault)
{
    char place[WHERE_BYTES];

    if (stray->space == PTX_SHARED)
        where_shared(u->run, stray->address, place);
    else
        snprintf(place, sizeof(place), "byte %" PRIu64 " of local memory", stray->address);
    describe(u, stray->block, stray->thread, stray->pc, place, fault);
}

static const struct stray *first_stray(const struct uninit *u)
{
    const struct stray *first = NULL;

    for (size_t i = 0; i < u->nr_strays; i++) {
        const struct stray *s = &u->strays[i];
        if (!first || s->block < first->block ||
            (s->block == first->block && s->turn < first->turn))
            first = s;
    }
    return first;
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct uninit *u = (struct uninit *)listener;
    const struct stray *first = first_stray(u);
    struct finds finds = {.each = u->base.reports != NULL};
    struct emu_fault fault = {.verdict = VERDICT_OK};

    settle(u, &finds);
    for (size_t i = 0; i < finds.nr; i++) {
        describe_global(u, &finds.items[i], &fault);
        if (u->base.reports)
            reports_add(u->base.reports, EMU_CHECK_INIT, &fault);
    }
    for (size_t i = 0; u->base.reports && i < u->nr_strays; i++) {
        describe_own(u, &u->strays[i], &fault);
        reports_add(u->base.reports, EMU_CHECK_INIT, &fault);
    }
    if (first && (!finds.nr || first->block <= fault.block))
        describe_own(u, first, &fault);
    free(finds.items);
    if (u->base.reports || result->verdict != VERDICT_OK || fault.verdict == VERDICT_OK)
        return;
    result->verdict = fault.verdict;
    result->line = fault.line;
    memcpy(result->text, fault.text, sizeof(result->text));
}

const struct emu_listener_class *emu_uninit_class(void)
{
    static const struct emu_listener_class class = {.name = "uninit",
        .check = EMU_CHECK_INIT,
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .written = written,
        .access = on_access,
        .finish = finish};
    return &class;
}
