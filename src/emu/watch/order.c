/* Owns order between the warps of a grid: FastTrack (Flanagan and Freund, PLDI 2009) over warps,
 * with the rules of the PTX memory model by which kernels order blocks.
 *
 * An atomic or another strong write to an address hands on what its warp knew at its last fence of
 * the chip's scope, or with release semantics all that it knows. Who reads the address by a strong
 * access afterwards learns that. A barrier of the block hands on what each warp knows, and what
 * each has fenced. Reading takes no fence here: kernels that wait in a loop and go on behind a
 * barrier are taken to be right. */
#include "emu/watch/order.h"

#include "base/mem.h"
#include "emu/state/memory.h"
#include "emu/watch/shadow.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who touched a cell: warp of the grid plus 1, the warp's clock then, pc and lane. */
struct touch {
    uint32_t who, clock, pc;
    uint8_t lane, strong;
};

struct cell {
    uint64_t key; /* the cell's number plus 1; 0: free */
    struct touch write, read[2];
    uint32_t same; /* who had written the same value before; plus 1 */
};

struct handed { /* by strong writes to an address */
    uint64_t address;
    uint32_t *clock;
};

struct order {
    const struct emu_run *run;
    unsigned nr; /* warps of the grid */
    unsigned cell_shift;
    uint32_t *clock, *fenced; /* [warp][warp] */
    struct cell *cells;       /* open addressing */
    size_t nr_cells, room;
    struct handed *handed;
    size_t nr_handed, cap_handed;
    uint8_t *fence;      /* per pc: a fence of the chip's scope */
    uint8_t *has_fenced; /* per warp: `fenced` has something */
};

static bool is_chip_fence(const struct ptx_inst *ptx)
{
    return ptx && ptx->scope != PTX_SCOPE_CTA &&
           (ptx->op == PTX_OP_MEMBAR || (ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_NONE));
}

bool order_wanted(const struct program *program)
{
    if (program->learns)
        return true;
    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        if (is_chip_fence(program->info[pc].ptx))
            return true;
    return false;
}

struct order *order_create(const struct emu_run *run)
{
    struct order *o = xcalloc(1, sizeof(*o));
    const unsigned bytes = shadow_cell_bytes(run->program, PTX_GLOBAL);

    o->run = run;
    o->nr = (unsigned)run->nr_blocks * run->nr_warps;
    o->cell_shift = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
    o->clock = xcalloc((size_t)o->nr * o->nr, sizeof(*o->clock));
    o->fenced = xcalloc((size_t)o->nr * o->nr, sizeof(*o->fenced));
    for (unsigned w = 0; w < o->nr; w++)
        o->clock[(size_t)w * o->nr + w] = 1;
    o->room = 1 << 12;
    o->cells = xcalloc(o->room, sizeof(*o->cells));
    o->has_fenced = xcalloc(o->nr, 1);
    o->fence = xcalloc(run->program->nr_insts, 1);
    for (uint32_t pc = 0; pc < run->program->nr_insts; pc++)
        o->fence[pc] = is_chip_fence(run->program->info[pc].ptx);
    return o;
}

void order_destroy(struct order *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->nr_handed; i++)
        free(o->handed[i].clock);
    free(o->handed);
    free(o->cells);
    free(o->fence);
    free(o->has_fenced);
    free(o->clock);
    free(o->fenced);
    free(o);
}

static uint32_t *clock_of(struct order *o, unsigned warp)
{
    return o->clock + (size_t)warp * o->nr;
}

static uint32_t *fenced_of(struct order *o, unsigned warp)
{
    return o->fenced + (size_t)warp * o->nr;
}

static void learn(uint32_t *clock, const uint32_t *from, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        clock[i] = from[i] > clock[i] ? from[i] : clock[i];
}

static unsigned warp_of(const struct order *o, uint64_t block, unsigned warp)
{
    return (unsigned)block * o->run->nr_warps + warp;
}

void order_inst(struct order *o, uint64_t block, unsigned warp, uint32_t pc, uint32_t mask)
{
    const unsigned w = warp_of(o, block, warp);

    if (!o->fence[pc] || !mask)
        return;
    learn(fenced_of(o, w), clock_of(o, w), o->nr);
    o->has_fenced[w] = 1;
    clock_of(o, w)[w]++;
}

void order_barrier(struct order *o, uint64_t block, const struct emu_barrier *barrier, bool all)
{
    const unsigned nr_warps = o->run->nr_warps;
    bool any_fenced = false;
    uint32_t *clock = xcalloc(2 * (size_t)o->nr, sizeof(*clock)), *fenced = clock + o->nr;

    for (unsigned i = 0; i < nr_warps; i++) {
        if (!all && !barrier->lanes[i])
            continue;
        learn(clock, clock_of(o, warp_of(o, block, i)), o->nr);
        if (!o->has_fenced[warp_of(o, block, i)])
            continue;
        any_fenced = true;
        learn(fenced, fenced_of(o, warp_of(o, block, i)), o->nr);
    }
    for (unsigned i = 0; i < nr_warps; i++) {
        const unsigned w = warp_of(o, block, i);

        if (!all && !barrier->lanes[i])
            continue;
        learn(clock_of(o, w), clock, o->nr);
        if (any_fenced)
            learn(fenced_of(o, w), fenced, o->nr);
        o->has_fenced[w] |= any_fenced;
        clock_of(o, w)[w]++;
    }
    free(clock);
}

/* make: NULL never comes back. */
static uint32_t *handed_at(struct order *o, uint64_t address, bool make)
{
    for (size_t i = 0; i < o->nr_handed; i++)
        if (o->handed[i].address == address)
            return o->handed[i].clock;
    if (!make)
        return NULL;
    o->handed = grow(o->handed, &o->cap_handed, o->nr_handed + 1, sizeof(*o->handed));
    o->handed[o->nr_handed] = (struct handed){address, xcalloc(o->nr, sizeof(*o->handed[0].clock))};
    return o->handed[o->nr_handed++].clock;
}

static struct cell *slot_of(struct cell *cells, size_t room, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);

    while (cells[at].key && cells[at].key != key)
        at = (at + 1) & (room - 1);
    return &cells[at];
}

static struct cell *cell_at(struct order *o, uint64_t number)
{
    struct cell *cell;

    if (2 * o->nr_cells >= o->room) {
        struct cell *more = xcalloc(2 * o->room, sizeof(*more));

        for (size_t i = 0; i < o->room; i++)
            if (o->cells[i].key)
                *slot_of(more, 2 * o->room, o->cells[i].key) = o->cells[i];
        free(o->cells);
        o->cells = more;
        o->room *= 2;
    }
    cell = slot_of(o->cells, o->room, number + 1);
    o->nr_cells += cell->key == 0;
    cell->key = number + 1;
    return cell;
}

static bool concurrent(struct order *o, unsigned w, const struct touch *t)
{
    return t->who && t->who - 1 != w && t->clock > clock_of(o, w)[t->who - 1];
}

static bool report(const struct order *o, uint64_t block, const struct emu_access *access,
    unsigned lane, const struct touch *other, struct emu_fault *fault)
{
    const unsigned nr_warps = o->run->nr_warps;
    const uint64_t other_block = (other->who - 1) / nr_warps;
    const struct mem_buffer *buffer = memory_find(o->run->memory, access->address[lane], 1);
    char mine[WHERE_BYTES], theirs[WHERE_BYTES], line[WHERE_BYTES], other_line[WHERE_BYTES];

    where_thread(o->run, block, access->warp * WARP_LANES + lane, mine);
    where_thread(
        o->run, other_block, (other->who - 1) % nr_warps * WARP_LANES + other->lane, theirs);
    fault->verdict = VERDICT_RACE;
    fault->other = other->pc;
    snprintf(fault->text, sizeof(fault->text),
        "race on byte %" PRIu64 " of %s: %s by %s%s and %s by %s%s, %s",
        buffer ? access->address[lane] - buffer->base : access->address[lane],
        buffer ? buffer->name : "memory", where_verb(o->run, access->pc, PTX_GLOBAL), mine,
        where_line(o->run, access->pc, line), where_verb(o->run, other->pc, PTX_GLOBAL), theirs,
        where_line(o->run, other->pc, other_line),
        other_block == block ? "no barrier between them"
                             : "no fence and atomic hand the one on to the other");
    return false;
}

static void remember_read(struct order *o, unsigned w, struct cell *cell, const struct touch *t)
{
    for (unsigned i = 0; i < 2; i++)
        if (!cell->read[i].who || cell->read[i].who == t->who ||
            !concurrent(o, w, &cell->read[i])) {
            cell->read[i] = *t;
            return;
        }
}

/* One lane and one cell. NULL: nothing; else the touch that races with it. */
static const struct touch *touch_cell(struct order *o, unsigned w, struct cell *cell,
    const struct touch *t, bool is_write, bool silent)
{
    const struct touch *against = NULL;

    if (concurrent(o, w, &cell->write) && !(t->strong && cell->write.strong) &&
        cell->same != t->who && !(is_write && silent))
        against = &cell->write;
    for (unsigned i = 0; !against && is_write && i < 2; i++)
        if (concurrent(o, w, &cell->read[i]) && !(t->strong && cell->read[i].strong))
            against = &cell->read[i];
    if (against)
        return against;
    if (is_write) {
        cell->same = silent ? cell->write.who : 0;
        cell->write = *t;
    } else {
        remember_read(o, w, cell, t);
    }
    return NULL;
}

static void hand_on(struct order *o, unsigned w, const struct emu_access *access)
{
    const struct ptx_inst *ptx = o->run->program->info[access->pc].ptx;
    const bool releases = ptx && (ptx->sem == PTX_SEM_RELEASE || ptx->sem == PTX_SEM_ACQ_REL);
    uint64_t before = UINT64_MAX;

    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const uint64_t address = access->address[__builtin_ctz(mask)];
        uint32_t *handed;

        if (address == before)
            continue;
        before = address;
        handed = handed_at(o, address, access->is_write && (releases || o->has_fenced[w]));
        if (!handed)
            continue;
        if (!access->is_write || access->is_atomic)
            learn(clock_of(o, w), handed, o->nr);
        if (access->is_write)
            learn(handed, releases ? clock_of(o, w) : fenced_of(o, w), o->nr);
    }
    if (access->is_write && releases)
        clock_of(o, w)[w]++;
}

bool order_access(struct order *o, uint64_t block, const struct emu_access *access, bool strong,
    bool silent, struct emu_fault *fault)
{
    enum { MOST_HANDED = 4096 };
    const unsigned w = warp_of(o, block, access->warp);
    const struct ptx_inst *ptx = o->run->program->info[access->pc].ptx;
    const unsigned nr = access->bytes >> o->cell_shift ? access->bytes >> o->cell_shift : 1;
    const struct touch *against = NULL;
    struct touch t = {w + 1, 0, access->pc, 0, strong};

    if (ptx && ptx->nc)
        return true;
    if (strong && o->nr_handed < MOST_HANDED)
        hand_on(o, w, access);
    t.clock = clock_of(o, w)[w];
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint64_t number = access->address[lane] >> o->cell_shift;

        t.lane = (uint8_t)lane;
        for (unsigned c = 0; c < nr && !against; c++)
            against = touch_cell(o, w, cell_at(o, number + c), &t, access->is_write, silent);
        if (against)
            return report(o, block, access, lane, against, fault);
        if (access->kind == ACCESS_UNIFORM)
            break;
    }
    return true;
}
