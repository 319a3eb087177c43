/* Owns bulk copies (cp.async.bulk): one thread moves many bytes between global and shared memory.
 * Like the other asynchronous copies, bulk copies are done at once. When a copy tells an mbarrier,
 * an instruction of its own behind the copy does that (decode_mem.c). */
#include "emu/exec/exec.h"
#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 16, SECTOR = 32, LINE = 128 };

/* One of a copy's two sides. */
struct copy_side {
    enum ptx_space space;
    bool is_write;
    uint64_t address; /* global, or from the start of shared memory */
    uint8_t *host;
    struct mem_buffer *buffer;  /* NULL: shared memory ... */
    struct block_worker *owner; /* ... of this block */
};

struct copy {
    struct block_worker *k;
    const struct warp *w;
    uint32_t pc;
    unsigned lane;
    uint32_t bytes;
};

static bool wrong(const struct copy *c, const struct copy_side *s, const char *what)
{
    const struct mem_buffer *b =
        s->space == PTX_GLOBAL ? memory_nearest(c->k->memory, s->address) : NULL;
    const char *name = b ? b->name : s->space == PTX_GLOBAL ? "memory" : "shared memory";
    const int64_t at = (int64_t)(s->address - (b ? b->base : 0));
    char who[WHERE_BYTES];

    where_thread(&c->k->exec->run, c->k->block.index, c->w->index * WARP_LANES + c->lane, who);
    return exec_fault(c->k, VERDICT_FAULT, c->pc,
        "%s: bulk copy of %u bytes %s byte %" PRId64 " of %s (%" PRIu64 " bytes) by %s", what,
        c->bytes, s->is_write ? "to" : "from", at, name,
        b                        ? b->bytes
        : s->space == PTX_GLOBAL ? 0
                                 : c->k->shared_bytes,
        who);
}

static bool find(const struct copy *c, struct copy_side *s)
{
    struct block_worker *k = c->k;

    if ((s->address | c->bytes) % ALIGN)
        return wrong(c, s, "misaligned");
    if (s->space == PTX_SHARED) {
        s->owner = cluster_at(k, c->w, c->lane, c->pc, s->address, &s->address);
        if (!s->owner)
            return false;
        if (s->address > s->owner->shared_bytes || c->bytes > s->owner->shared_bytes - s->address)
            return wrong(c, s, "out of bounds");
        s->host = s->owner->shared + s->address;
        return true;
    }
    s->buffer = memory_find(k->memory, s->address, c->bytes);
    if (!s->buffer || (s->buffer->constant && s->is_write))
        return wrong(c, s, "out of bounds");
    sums_end(k, s->buffer);
    s->host = s->buffer->host + (s->address - s->buffer->base);
    return true;
}

static void count(const struct copy *c, const struct copy_side *s)
{
    struct pc_count *n = &c->k->counts[c->pc];
    const uint64_t end = s->address + c->bytes - 1;

    n->requests++;
    n->bytes += c->bytes;
    if (s->space == PTX_SHARED) {
        const uint64_t wavefronts = end / LINE - s->address / LINE + 1;
        n->shared++;
        n->wavefronts += wavefronts;
        n->wavefronts_ideal += wavefronts;
        return;
    }
    n->global++;
    n->global_bytes += c->bytes;
    n->sectors += end / SECTOR - s->address / SECTOR + 1;
    n->sectors_ideal += (c->bytes + SECTOR - 1) / SECTOR;
    n->lines += end / LINE - s->address / LINE + 1;
    n->data_wavefronts += (c->bytes + LINE - 1) / LINE;
    if (!s->is_write)
        memory_note_load(s->buffer);
    for (uint64_t i = (s->address - s->buffer->base) / SECTOR;
         i <= (end - s->buffer->base) / SECTOR; i++)
        __atomic_store_n(&s->buffer->touched[i], 1, __ATOMIC_RELAXED);
}

/* Listeners hear of an access by one lane. */
static bool tell(const struct copy *c, const struct copy_side *s)
{
    uint64_t address[WARP_LANES] = {0};
    const uint64_t end = s->address + c->bytes - 1;
    const unsigned wide = (c->bytes + LINE - 1) / LINE;
    const struct emu_access access = {.warp = c->w->index,
        .pc = c->pc,
        .mask = 1u << c->lane,
        .space = s->space,
        .is_write = s->is_write,
        .bytes = c->bytes,
        .address = address,
        .kind = ACCESS_UNIFORM,
        .lo = s->address,
        .hi = s->address,
        .file = c->w->file,
        .sectors = (unsigned)(end / SECTOR - s->address / SECTOR + 1),
        .lines = (unsigned)(end / LINE - s->address / LINE + 1),
        .wavefronts = wide,
        .ideal = s->space == PTX_SHARED ? wide : (c->bytes + SECTOR - 1) / SECTOR,
        .data = wide};

    address[c->lane] = s->address;
    return exec_tell_access(c->k, &access);
}

static bool copy_one(const struct copy *c, struct copy_side *from, struct copy_side *to)
{
    struct block_worker *k = c->k;

    if (!find(c, from) || !find(c, to))
        return false;
    if (c->bytes == 0)
        return true;
    if (k->counting) {
        count(c, from);
        count(c, to);
    }
    if (k->wants_access && !(tell(c, from) && tell(c, to)))
        return false;
    memcpy(to->host, from->host, c->bytes);
    return true;
}

static uint64_t address_of(
    const struct copy *c, uint32_t row, bool is32, int64_t imm, enum ptx_space space)
{
    const uint8_t *file = c->w->file + row;
    const uint64_t at = is32 ? (uint32_t)(((const uint32_t *)file)[c->lane] + (uint32_t)imm)
                             : ((const uint64_t *)file)[c->lane] + (uint64_t)imm;

    return space == PTX_SHARED && at - WINDOW_SHARED < WINDOW_BYTES ? at - WINDOW_SHARED : at;
}

bool bulk_copy(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const bool loads = in->space == PTX_GLOBAL;
    const enum ptx_space to_space = loads ? PTX_SHARED : PTX_GLOBAL;

    for (uint32_t m = mask; m; m &= m - 1) {
        struct copy c = {.k = k, .w = w, .pc = pc, .lane = (unsigned)__builtin_ctz(m)};
        struct copy_side from = {.space = (enum ptx_space)in->space}, to = {.space = to_space};

        c.bytes = ((const uint32_t *)(w->file + in->c))[c.lane];
        to.is_write = true;
        to.address = address_of(&c, in->a, in->address32, in->imm, to.space);
        from.address = address_of(&c, in->b, in->sub, (int32_t)in->target, from.space);
        if (!copy_one(&c, &from, &to))
            return false;
    }
    return true;
}
