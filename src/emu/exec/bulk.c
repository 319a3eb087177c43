/* Owns bulk copies (cp.async.bulk): one thread moves many bytes between global and shared memory,
 * or to the shared memory of blocks of the cluster, or adds them up there (cp.reduce.async.bulk).
 * Like the other asynchronous copies, bulk copies are done at once. */
#include "emu/exec/copy.h"
#include "emu/state/tensor.h"
#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 16, SECTOR = 32, LINE = 128 };

bool copy_wrong(const struct copy *c, const struct copy_side *s, const char *what)
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

bool copy_find(const struct copy *c, struct copy_side *s)
{
    struct block_worker *k = c->k;

    if ((s->address | c->bytes) % ALIGN)
        return copy_wrong(c, s, "misaligned");
    if (s->space == PTX_SHARED) {
        s->owner = cluster_at(k, c->w, c->lane, c->pc, s->address, &s->address);
        if (!s->owner)
            return false;
        if (s->address > s->owner->shared_bytes || c->bytes > s->owner->shared_bytes - s->address)
            return copy_wrong(c, s, "out of bounds");
        s->host = s->owner->shared + s->address;
        return true;
    }
    s->buffer = memory_find(k->memory, s->address, c->bytes);
    if (!s->buffer || (s->buffer->constant && s->is_write))
        return copy_wrong(c, s, "out of bounds");
    sums_end(k, s->buffer);
    if (s->is_write)
        memory_note_store(s->buffer);
    s->host = s->buffer->host + (s->address - s->buffer->base);
    return true;
}

static void count(const struct copy *c, const struct copy_side *s)
{
    struct pc_count *n = &c->k->counts[c->pc];
    const uint64_t end = s->address + c->bytes - 1;

    n->requests++;
    n->bytes += c->moved;
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
        .is_atomic = s->is_atomic,
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
        .data = wide,
        .blocks = s->space == PTX_GLOBAL ? (unsigned)__builtin_popcount(copy_ranks(c)) : 0};

    address[c->lane] = s->address;
    if (s->space == PTX_SHARED && !s->is_write && c->k->exec->listening)
        flight_add(c->w, &access, true);
    if (access.blocks > 0)
        exec_tell_received(c->k, copy_ranks(c), &access);
    return exec_tell_access(c->k, &access);
}

/* Another block's memory gets it: sectors travel from this SM to that one, unless they come from
 * L2, which sends them to both. */
static void tell_far(const struct copy *c, const struct copy_side *s)
{
    const bool travels = c->in->bulk->from == PTX_SHARED;
    const uint64_t end = s->address + c->bytes - 1, rank = (uint64_t)s->owner->rank + 1;
    const struct emu_access access = {.warp = c->w->index,
        .pc = c->pc,
        .mask = 1u << c->lane,
        .space = PTX_SHARED,
        .is_write = true,
        .is_atomic = s->is_atomic,
        .bytes = c->bytes,
        .kind = ACCESS_UNIFORM,
        .lo = rank << CLUSTER_SHIFT,
        .hi = rank << CLUSTER_SHIFT,
        .lines = travels ? (unsigned)(end / SECTOR - s->address / SECTOR + 1) : 0};

    exec_tell_away(c->k, &access);
}

bool copy_note(const struct copy *c, const struct copy_side *s)
{
    struct block_worker *k = c->k;

    if (c->bytes == 0)
        return true;
    if (k->counting)
        count(c, s);
    if (s->space == PTX_SHARED && s->owner != k) {
        tell_far(c, s);
        return cluster_tell(
            k, c->w, c->pc, c->lane, s->owner, s->address, c->bytes, s->is_write, s->is_atomic);
    }
    return !k->wants_access || tell(c, s);
}

uint64_t copy_address(
    const struct copy *c, uint32_t row, bool is32, int64_t imm, enum ptx_space space)
{
    const uint8_t *file = c->w->file + row;
    const uint64_t at = is32 ? (uint32_t)(((const uint32_t *)file)[c->lane] + (uint32_t)imm)
                             : ((const uint64_t *)file)[c->lane] + (uint64_t)imm;

    return space == PTX_SHARED && at - WINDOW_SHARED < WINDOW_BYTES ? at - WINDOW_SHARED : at;
}

uint32_t copy_ranks(const struct copy *c)
{
    const struct bulk *b = c->in->bulk;

    return b != NULL && b->multicast ? ((const uint32_t *)(c->w->file + b->mask))[c->lane] & 0xffff
                                     : 0;
}

/* The mask of a multicast names blocks by their bits. */
bool copy_to_all(struct copy *c, struct copy_side *to,
    bool (*each)(const struct copy *c, struct copy_side *to, void *context), void *context)
{
    const struct bulk *b = c->in->bulk;
    const uint64_t bar = b->bar == NO_ROW
                             ? 0
                             : copy_address(c, b->bar, b->bar32, b->bar_imm, PTX_SHARED),
                   at = to->address;

    for (uint32_t ranks = b->multicast ? copy_ranks(c) : 1; ranks; ranks &= ranks - 1) {
        const uint64_t rank = (uint64_t)__builtin_ctz(ranks) + 1;
        const uint64_t above = b->multicast ? rank << CLUSTER_SHIFT : 0;

        to->address = b->multicast ? CLUSTER_OFFSET(at) | above : at;
        if (!copy_find(c, to) || !copy_note(c, to) || !each(c, to, context))
            return false;
        if (b->bar != NO_ROW && !mbarrier_complete(c->k, c->w, c->lane, c->pc,
                                    b->multicast ? CLUSTER_OFFSET(bar) | above : bar, c->moved))
            return false;
    }
    return true;
}

/* Adds up where the bytes go. Shared memory of one thread's cluster is nobody else's now. */
static void reduce(const struct copy *c, const struct copy_side *to, const uint8_t *from)
{
    const struct bulk *b = c->in->bulk;
    const unsigned each = ptx_type_bytes(b->type);
    const struct inst in = {
        .sub = (uint8_t)b->atom, .type = (uint8_t)b->type, .elem_bytes = (uint8_t)each};

    for (uint32_t at = 0; at < c->bytes; at += each) {
        uint64_t operand[2] = {0}, old;
        memcpy(operand, from + at, each);
        atom_lane(&in, to->host + at, operand, &old,
            c->k->alone || to->space == PTX_SHARED ? ATOM_ALONE : 0);
    }
}

static bool move(const struct copy *c, struct copy_side *to, void *from)
{
    const struct copy_side *source = from;

    if (c->in->bulk->atom)
        reduce(c, to, source->host);
    else
        memcpy(to->host, source->host, c->bytes);
    return true;
}

static bool plain_copy(struct copy *c)
{
    const struct inst *in = c->in;
    const struct bulk *b = in->bulk;
    struct copy_side from = {.space = b->from},
                     to = {.space = b->to, .is_write = true, .is_atomic = b->atom != PTX_ATOM_NONE};

    c->bytes = c->moved = ((const uint32_t *)(c->w->file + in->c))[c->lane];
    to.address = copy_address(c, in->a, in->address32, in->imm, to.space);
    from.address = copy_address(c, in->b, in->sub, (int32_t)in->target, from.space);
    if (!copy_find(c, &from) || !copy_note(c, &from))
        return false;
    if (b->to == PTX_SHARED)
        return copy_to_all(c, &to, move, &from);
    return copy_find(c, &to) && copy_note(c, &to) && move(c, &to, &from);
}

bool bulk_copy(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        struct copy c = {.k = k, .w = w, .in = in, .pc = pc, .lane = (unsigned)__builtin_ctz(m)};

        if (!(in->bulk->tensor ? tensor_copy(&c) : plain_copy(&c)))
            return false;
    }
    return true;
}
