/* Owns the search for races: two threads touch one byte, nothing orders them, and one of them
 * writes without being atomic.
 *
 * Shared memory, between warps of a block: each cell remembers its last write and two readers; each
 * warp has a vector clock that barriers join (Flanagan and Freund, "FastTrack", PLDI 2009, with
 * warps for threads). Within a warp two things are races: lanes that write different values to one
 * place in one instruction, and accesses by different lanes in different instructions with no sync
 * of the warp between. The clocks count these syncs too.
 *
 * Global memory, between blocks of a launch: each cell remembers the lowest block that wrote it and
 * the two lowest blocks that touched it. A report depends only on who touched what, neither on the
 * order nor on the worker. Kernels that order blocks themselves, by fences and atomics (the last
 * block sums up), are followed by order.c. Where the grid is too large for that, they are believed:
 * after a block's first atomic nothing that it touches is held against it. The same goes for locks
 * in shared memory. Missing waits for cp.async are the subject of copies.c.
 *
 * A store that leaves every byte as it was is silent: where another has stored the same value
 * before, the two are no race that shows. With launch->strict_races they are one. */
#include "emu/watch/order.h"
#include "emu/watch/reports.h"
#include "emu/watch/shadow.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARPS = 32 };

/* Shared cells' tags: the warp's clock, then warp, lane, pc and whether the access was strong
 * (atomic or volatile, acquire and the like). */
enum {
    TAG_PC_BITS = 20,
    TAG_MANY = 1 << (TAG_PC_BITS + 1), /* reads: another lane of the warp read the cell too */
    TAG_LANE_SHIFT = TAG_PC_BITS + 2,
    TAG_WHO_SHIFT = TAG_LANE_SHIFT + 5
};

/* What an mbarrier hands on: what the threads know that have arrived, and what they knew when its
 * last phase ended. */
struct meeting {
    uint64_t address;
    uint32_t arrived[MAX_WARPS], over[MAX_WARPS];
};

struct races {
    struct emu_listener base;
    const struct emu_run *run;
    struct emu_block block;
    uint8_t *strong; /* per pc: atomic, volatile, or with memory ordering */
    bool fences_block, fences_chip, arrives;
    /* shared memory of the running block */
    unsigned cell_shift;
    size_t nr_cells;
    uint64_t *write, *read1, *read2;
    uint64_t *mate; /* of read1 with TAG_MANY: the last read by another lane of its warp */
    uint32_t clock[MAX_WARPS][MAX_WARPS]; /* [w][o]: what w knows of o; [w][w]: its own */
    uint64_t floor[MAX_WARPS];            /* tags below are ordered before all that w does */
    bool trusted[MAX_WARPS];              /* the warp made a strong access since the last barrier */
    struct meeting *meetings;             /* at mbarriers */
    size_t nr_meetings, cap_meetings;
    /* global memory of the launch */
    struct shadow shadow;
    bool block_trusted;
};

/* ---- what the kernel is made of ---- */

static void look_at_program(struct races *r)
{
    const struct program *program = r->run->program;

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct ptx_inst *ptx = program->info[pc].ptx;
        if (!ptx)
            continue;
        const bool orders = (ptx->sem >= PTX_SEM_ACQUIRE && ptx->op != PTX_OP_MBARRIER) ||
                            ptx->op == PTX_OP_MEMBAR ||
                            (ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_NONE);
        r->strong[pc] =
            program->info[pc].is_atomic || ptx->volatile_ || ptx->sem >= PTX_SEM_RELAXED;
        r->fences_block |= orders;
        r->fences_chip |= orders && ptx->scope != PTX_SCOPE_CTA;
        r->arrives |=
            program->insts[pc].kind == INST_BARRIER && program->insts[pc].sub == PTX_SUB_ARRIVE;
    }
}

static struct emu_listener *create(const struct emu_run *run)
{
    struct races *r = xcalloc(1, sizeof(*r));
    const unsigned bytes = shadow_cell_bytes(run->program, PTX_SHARED);

    r->run = run;
    r->strong = xcalloc(run->program->nr_insts, 1);
    look_at_program(r);
    r->cell_shift = bytes == 1 ? 0 : bytes == 2 ? 1 : 2;
    r->nr_cells = (run->shared_bytes >> r->cell_shift) + 1;
    r->write = xcalloc(4 * r->nr_cells, sizeof(*r->write));
    r->read1 = r->write + r->nr_cells;
    r->read2 = r->read1 + r->nr_cells;
    r->mate = r->read2 + r->nr_cells;
    shadow_init(&r->shadow, run);
    return &r->base;
}

static void destroy(struct emu_listener *listener)
{
    struct races *r = (struct races *)listener;

    shadow_finish(&r->shadow);
    free(r->meetings);
    free(r->write);
    free(r->strong);
    free(r);
}

/* ---- order between warps ---- */

static void set_floor(struct races *r, unsigned warp)
{
    uint32_t low = UINT32_MAX;

    for (unsigned o = 0; o < r->run->nr_warps; o++) {
        if (o != warp && r->clock[warp][o] < low)
            low = r->clock[warp][o];
    }
    /* the warp's own tags since the last barrier count as news too */
    low = low == UINT32_MAX ? r->clock[warp][warp] - 1 : low;
    r->floor[warp] = (uint64_t)(low + 1) << 32;
}

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct races *r = (struct races *)listener;

    r->base.wants_access = r->run->nr_blocks < UINT32_MAX;
    r->base.wants_insts = r->run->order != NULL;
    r->block = *block;
    r->block_trusted = false;
    r->nr_meetings = 0;
    memset(r->write, 0, 4 * r->nr_cells * sizeof(*r->write));
    memset(r->clock, 0, sizeof(r->clock));
    memset(r->trusted, 0, sizeof(r->trusted));
    for (unsigned w = 0; w < r->run->nr_warps; w++) {
        r->clock[w][w] = 1;
        set_floor(r, w);
    }
}

/* A barrier without a count is for all threads, those that have exited included. The event does not
 * name the warps that bar.arrive and go on: then the barrier counts for all warps. */
static void barrier(struct emu_listener *listener, const struct emu_barrier *event)
{
    struct races *r = (struct races *)listener;
    const bool all = r->arrives || r->run->program->insts[event->pc].b == NO_ROW;
    uint32_t joined[MAX_WARPS] = {0};

    if (r->run->order)
        order_barrier(r->run->order, r->block.index, event, all);
    for (unsigned w = 0; w < r->run->nr_warps; w++) {
        for (unsigned o = 0; (all || event->lanes[w]) && o < r->run->nr_warps; o++)
            joined[o] = r->clock[w][o] > joined[o] ? r->clock[w][o] : joined[o];
    }
    if (all) { /* every warp knows all of every other, so all clocks may jump to the same value */
        uint32_t most = 0;
        for (unsigned o = 0; o < r->run->nr_warps; o++)
            most = joined[o] > most ? joined[o] : most;
        for (unsigned o = 0; o < r->run->nr_warps; o++)
            joined[o] = most;
    }
    for (unsigned w = 0; w < r->run->nr_warps; w++) {
        if (!all && !event->lanes[w])
            continue;
        memcpy(r->clock[w], joined, sizeof(joined));
        r->clock[w][w]++;
        r->trusted[w] = false;
        set_floor(r, w);
    }
}

/* Lanes that met once since are in order. Shuffles and votes count as meetings, though they promise
 * no order of memory: no program was ever seen to go wrong by them. */
static void warp_sync(struct emu_listener *listener, unsigned warp, uint32_t mask)
{
    struct races *r = (struct races *)listener;

    if (mask & (mask - 1)) {
        r->clock[warp][warp]++;
        if (r->run->nr_warps == 1)
            set_floor(r, warp);
    }
}

static struct meeting *meeting_at(struct races *r, uint64_t address)
{
    for (size_t i = 0; i < r->nr_meetings; i++) {
        if (r->meetings[i].address == address)
            return &r->meetings[i];
    }
    r->meetings = grow(r->meetings, &r->cap_meetings, r->nr_meetings + 1, sizeof(*r->meetings));
    struct meeting *m = &r->meetings[r->nr_meetings++];
    *m = (struct meeting){.address = address};
    return m;
}

static void learn(uint32_t *clock, const uint32_t *from, unsigned nr)
{
    for (unsigned o = 0; o < nr; o++)
        clock[o] = from[o] > clock[o] ? from[o] : clock[o];
}

/* Whatever a warp did before its arrival comes before whatever those warps do that saw the phase
 * end. */
static void mbarrier(
    struct emu_listener *listener, unsigned warp, uint64_t address, enum emu_mbarrier what)
{
    struct races *r = (struct races *)listener;
    struct meeting *m = meeting_at(r, address);
    const unsigned nr = r->run->nr_warps;
    uint32_t *clock = r->clock[warp];

    if (what == MBARRIER_ARRIVE) {
        learn(m->arrived, clock, nr);
        clock[warp]++;
    } else if (what == MBARRIER_COMPLETE) {
        learn(m->over, m->arrived, nr);
    } else if (what == MBARRIER_PASS) {
        const uint32_t own = clock[warp];
        learn(clock, m->over, nr);
        clock[warp] = own;
    }
    set_floor(r, warp);
}

static unsigned tag_warp(uint64_t tag)
{
    return (unsigned)(tag >> TAG_WHO_SHIFT) & 31;
}

static unsigned tag_lane(uint64_t tag)
{
    return (unsigned)(tag >> TAG_LANE_SHIFT) & 31;
}

static uint32_t tag_pc(uint64_t tag)
{
    return (uint32_t)(tag >> 1) & ((1u << TAG_PC_BITS) - 1);
}

static bool is_strong(uint64_t tag)
{
    return tag & 1;
}

/* Did the access of the tag happen at the same time as the access that `warp` makes now? */
static bool concurrent(const struct races *r, unsigned warp, uint64_t tag)
{
    const unsigned other = tag_warp(tag);

    return tag >= r->floor[warp] && other != warp && (uint32_t)(tag >> 32) > r->clock[warp][other];
}

/* Did another lane of the warp make the access, without a later sync in which both lanes took part?
 */
static bool unsynced(const struct races *r, uint64_t mine, uint64_t tag)
{
    const unsigned warp = tag_warp(mine);

    return tag && tag_warp(tag) == warp && (tag >> 32) == r->clock[warp][warp] &&
           tag_lane(tag) != tag_lane(mine) && tag_pc(tag) != tag_pc(mine) && !is_strong(tag) &&
           !is_strong(mine);
}

/* ---- shared memory ---- */

static bool report_shared(const struct races *r, const struct emu_access *access, unsigned lane,
    uint64_t cell, uint64_t tag, struct emu_fault *fault)
{
    const uint32_t pc = tag_pc(tag);
    const unsigned other = tag_warp(tag) * WARP_LANES + tag_lane(tag);
    char mine[WHERE_BYTES], theirs[WHERE_BYTES], place[WHERE_BYTES];
    char my_line[WHERE_BYTES], their_line[WHERE_BYTES];

    where_thread(r->run, r->block.index, access->warp * WARP_LANES + lane, mine);
    where_thread(r->run, r->block.index, other, theirs);
    where_shared(r->run, cell << r->cell_shift, place);
    *strstr(mine, " of block") = '\0';
    fault->verdict = VERDICT_RACE;
    fault->other = pc;
    snprintf(fault->text, sizeof(fault->text),
        "race on %s: %s by %s%s and %s by %s%s, %s between them", place,
        where_verb(r->run, access->pc, PTX_SHARED), mine, where_line(r->run, access->pc, my_line),
        where_verb(r->run, pc, PTX_SHARED), theirs, where_line(r->run, pc, their_line),
        tag_warp(tag) == access->warp ? "both of one warp and no __syncwarp()" : "no barrier");
    return false;
}

/* What the tags of one cell say against an access; 0: nothing. Two accesses may happen at the same
 * time only if both are strong (atomic or volatile). */
static uint64_t conflict(const struct races *r, const struct emu_access *access, size_t cell,
    bool strong, bool silent, uint64_t tag)
{
    const unsigned warp = access->warp;
    const uint64_t write = r->write[cell];

    if (!silent && concurrent(r, warp, write) && !(strong && is_strong(write)))
        return write;
    if (!silent && unsynced(r, tag, write))
        return write;
    for (unsigned i = 0; access->is_write && i < 2; i++) {
        const uint64_t read = i ? r->read2[cell] : r->read1[cell];
        if (concurrent(r, warp, read) && !(strong && is_strong(read)))
            return read;
        if (unsynced(r, tag, read))
            return read;
    }
    if (access->is_write && (r->read1[cell] & TAG_MANY) && unsynced(r, tag, r->mate[cell]))
        return r->mate[cell];
    return 0;
}

static void remember_read(struct races *r, size_t cell, uint64_t tag, uint64_t mate)
{
    const uint64_t before = r->read1[cell];
    const bool same_warp = (before ^ tag) >> TAG_WHO_SHIFT == 0; /* and no sync between */

    if (!mate && same_warp)
        mate = tag_lane(before) != tag_lane(tag) ? before : (before & TAG_MANY) ? r->mate[cell] : 0;
    r->mate[cell] = mate;
    r->read1[cell] = mate ? tag | TAG_MANY : tag;
}

/* mate: another lane's read of the cell in the same instruction; 0: none. */
static void remember(
    struct races *r, const struct emu_access *access, size_t cell, uint64_t tag, uint64_t mate)
{
    if (access->is_write) {
        const uint64_t last = r->write[cell];
        /* an atomic right after a plain write by the same warp does not make that write harmless */
        if (!is_strong(tag) || is_strong(last) || (last ^ tag) >> TAG_WHO_SHIFT)
            r->write[cell] = tag;
    } else if (!concurrent(r, access->warp, r->read1[cell])) {
        remember_read(r, cell, tag, mate);
    } else if (!concurrent(r, access->warp, r->read2[cell])) {
        r->read2[cell] = tag;
    }
}

/* Does the cell remember a read by this lane, or reads by two others? */
static inline bool known_read(const struct races *r, size_t c, uint64_t tag, uint64_t floor)
{
    const uint64_t read = r->read1[c], differ = read ^ tag;

    return (differ >> TAG_LANE_SHIFT) == 0 ||
           (((differ >> TAG_WHO_SHIFT) == 0) & ((read & TAG_MANY) != 0)) || r->read2[c] >= floor;
}

/* Is all that the cell remembers ordered before what the warp does now? Then nothing is against an
 * access, and what it leaves is simple. */
static inline bool is_settled(const struct races *r, size_t c, uint64_t floor)
{
    return (r->write[c] < floor) & (r->read1[c] < floor) & (r->read2[c] < floor);
}

/* Serves most reads: those of cells that nobody has written since the warp's last barrier, and that
 * already remember a read by the warp, or by two others. Lane after lane reads 1 << shift cells
 * from `cell` on; shift 63: one lane reads all. */
static bool nothing_new(
    const struct races *r, unsigned warp, size_t cell, size_t nr, unsigned shift, uint64_t tag)
{
    const uint64_t floor = r->floor[warp];
    uint64_t news = 0;

    for (size_t i = 0; i < nr; i++) {
        const size_t c = cell + i;
        const bool known = known_read(r, c, tag + ((i >> shift) << TAG_LANE_SHIFT), floor);
        news |=
            (uint64_t)(r->write[c] >= floor) | (uint64_t)(r->read1[c] < floor) | (uint64_t)!known;
    }
    return !news;
}

/* The same for cells that many lanes read. */
static bool many_known(const struct races *r, unsigned warp, size_t cell, size_t nr, uint64_t tag)
{
    const uint64_t floor = r->floor[warp];

    for (size_t c = cell; c < cell + nr; c++) {
        const uint64_t read = r->read1[c];
        const bool known =
            ((read ^ tag) >> TAG_WHO_SHIFT == 0 && (read & TAG_MANY)) || r->read2[c] >= floor;
        if (r->write[c] >= floor || read < floor || !known)
            return false;
    }
    return true;
}

/* The same for scattered lanes of one cell each, without a branch per lane. */
static bool nothing_new_scattered(
    const struct races *r, const struct emu_access *access, uint64_t tag)
{
    const uint64_t floor = r->floor[access->warp];
    const unsigned first = (unsigned)__builtin_ctz(access->mask);
    uint64_t news = 0;

    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint64_t address = access->address[(access->mask >> l & 1) ? l : first];
        const size_t c = address >> r->cell_shift;
        const uint64_t lane = (access->mask >> l & 1) ? l : first;
        const bool known = known_read(r, c, tag | lane << TAG_LANE_SHIFT, floor);
        news |=
            (uint64_t)(r->write[c] >= floor) | (uint64_t)(r->read1[c] < floor) | (uint64_t)!known;
    }
    return !news;
}

static bool skip_read(
    const struct races *r, const struct emu_access *access, size_t nr, uint64_t now)
{
    const size_t cell = access->lo >> r->cell_shift;
    const uint64_t first = (uint64_t)__builtin_ctz(access->mask) << TAG_LANE_SHIFT;

    if (access->is_write)
        return false;
    if (access->kind == ACCESS_UNIFORM) {
        /* a read by many lanes is known only when the cell says that many read it */
        const bool one = (access->mask & (access->mask - 1)) == 0;
        return one ? nothing_new(r, access->warp, cell, nr, 63, now | first)
                   : many_known(r, access->warp, cell, nr, now);
    }
    if (access->kind == ACCESS_CONTIGUOUS)
        return nothing_new(r, access->warp, cell,
            (size_t)((access->hi - access->lo) >> r->cell_shift) + nr, (unsigned)__builtin_ctzl(nr),
            now | first);
    return nr == 1 && nothing_new_scattered(r, access, now);
}

/* ---- lanes of one instruction ---- */

static uint64_t value_of(
    const struct races *r, const struct emu_access *access, unsigned lane, unsigned element)
{
    const struct inst *in = &r->run->program->insts[access->pc];
    const unsigned stride = in->reg_bytes == 8 ? 8 : 4;
    uint64_t value = 0;

    memcpy(&value, access->file + in->rows[element] + (size_t)lane * stride, stride);
    return in->elem_bytes < 8 ? value & ((UINT64_C(1) << 8 * in->elem_bytes) - 1) : value;
}

static bool same_values(
    const struct races *r, const struct emu_access *access, unsigned a, unsigned b)
{
    for (unsigned e = 0; e < r->run->program->insts[access->pc].vec; e++) {
        if (value_of(r, access, a, e) != value_of(r, access, b, e))
            return false;
    }
    return true;
}

static bool rising(const struct emu_access *access)
{
    uint64_t before = 0;
    bool first = true;

    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const uint64_t address = access->address[__builtin_ctz(mask)];
        if (!first && address <= before)
            return false;
        before = address;
        first = false;
    }
    return true;
}

/* Aligned accesses of one size overlap only where their addresses are equal. */
static bool check_lanes(
    const struct races *r, const struct emu_access *access, struct emu_fault *fault)
{
    char mine[WHERE_BYTES], theirs[WHERE_BYTES], line[WHERE_BYTES];

    if (r->run->program->insts[access->pc].kind != INST_STORE ||
        access->kind == ACCESS_CONTIGUOUS || rising(access))
        return true;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        const unsigned a = (unsigned)__builtin_ctz(m);
        for (uint32_t n = m & (m - 1); n; n &= n - 1) {
            const unsigned b = (unsigned)__builtin_ctz(n);
            if (access->address[a] != access->address[b] || same_values(r, access, a, b))
                continue;
            where_thread(r->run, r->block.index, access->warp * WARP_LANES + a, mine);
            where_thread(r->run, r->block.index, access->warp * WARP_LANES + b, theirs);
            *strstr(mine, " of block") = '\0';
            fault->verdict = VERDICT_RACE;
            snprintf(fault->text, sizeof(fault->text),
                "race: %s and %s write different values to one place of %s memory in one "
                "instruction%s",
                mine, theirs, access->space == PTX_SHARED ? "shared" : "global",
                where_line(r->run, access->pc, line));
            return false;
        }
    }
    return true;
}

/* ---- global memory ---- */

/* tag[0]: the lowest block that wrote; tag[1], tag[2]: the two lowest that touched it */
static void touch(struct shadow_cell *cell, uint64_t tag, enum shadow_how how)
{
    const uint64_t block = shadow_block(tag);

    if (how == SHADOW_SILENT && cell->tag[0])
        return; /* another has stored the same */
    if (how == SHADOW_SILENT)
        how = SHADOW_WRITE;
    if (how == SHADOW_WRITE && (!cell->tag[0] || block < shadow_block(cell->tag[0])))
        cell->tag[0] = tag;
    shadow_keep_two(&cell->tag[1], &cell->tag[2], tag);
}

static void join(struct shadow_cell *into, const struct shadow_cell *from)
{
    if (from->tag[0] && (!into->tag[0] || shadow_block(from->tag[0]) < shadow_block(into->tag[0])))
        into->tag[0] = from->tag[0];
    shadow_keep_two(&into->tag[1], &into->tag[2], from->tag[1]);
    shadow_keep_two(&into->tag[1], &into->tag[2], from->tag[2]);
}

/* Does a plain store leave memory as it is? */
static bool is_silent(const struct races *r, const struct emu_access *access)
{
    const struct inst *in = &r->run->program->insts[access->pc];
    const struct mem_buffer *buffer = NULL;

    if (!access->is_write || access->is_atomic || in->kind != INST_STORE ||
        r->run->launch->strict_races)
        return false;
    if (access->space == PTX_GLOBAL) {
        buffer = memory_find(r->run->memory, access->lo, access->hi - access->lo + access->bytes);
        if (!buffer)
            return false;
    }
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint8_t *at = buffer ? buffer->host + (access->address[lane] - buffer->base)
                                   : r->block.shared + access->address[lane];

        for (unsigned e = 0; e < in->vec; e++) {
            const uint64_t value = value_of(r, access, lane, e);

            if (memcmp(at + (size_t)e * in->elem_bytes, &value, in->elem_bytes) != 0)
                return false;
        }
    }
    return true;
}

/* ---- shared memory, access by access ---- */

static bool access_shared(struct races *r, const struct emu_access *access, struct emu_fault *fault)
{
    const bool strong = r->strong[access->pc];
    const unsigned warp = access->warp;
    const uint64_t now = (uint64_t)r->clock[warp][warp] << 32 | (uint64_t)warp << TAG_WHO_SHIFT |
                         (uint64_t)(access->pc & ((1u << TAG_PC_BITS) - 1)) << 1 | strong;
    const size_t nr = access->bytes >> r->cell_shift ? access->bytes >> r->cell_shift : 1;
    const uint64_t floor = r->floor[warp];
    uint64_t before = UINT64_MAX;
    bool clean = true;

    if (strong && r->fences_block)
        r->trusted[warp] = true;
    if (r->trusted[warp] || skip_read(r, access, nr, now))
        return true;
    for (uint32_t mask = access->mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const size_t cell = access->address[lane] >> r->cell_shift;
        const uint32_t rest = mask & (mask - 1);
        const unsigned next = rest ? (unsigned)__builtin_ctz(rest) : lane;
        const bool many = next != lane && access->address[next] == access->address[lane];
        const uint64_t tag = now | (uint64_t)lane << TAG_LANE_SHIFT;
        const uint64_t mate = many ? now | (uint64_t)next << TAG_LANE_SHIFT : 0;
        if (access->address[lane] == before)
            continue;
        before = access->address[lane];
        for (size_t c = cell; c < cell + nr; c++) {
            uint64_t against;

            if (is_settled(r, c, floor)) {
                if (access->is_write)
                    r->write[c] = tag;
                else
                    remember_read(r, c, tag, mate);
                continue;
            }
            against = conflict(r, access, c, strong, false, tag);
            if (against && !strong && is_silent(r, access))
                against = conflict(r, access, c, strong, true, tag);
            if (against && clean)
                clean = report_shared(r, access, lane, c, against, fault);
            if (!clean && !r->base.reports)
                return false;
            remember(r, access, c, tag, mate);
        }
        if (access->kind == ACCESS_UNIFORM)
            break;
    }
    return clean;
}

static void on_inst(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct races *r = (struct races *)listener;

    if (r->run->order)
        order_inst(r->run->order, r->block.index, warp, pc, mask);
}

static bool on_access(
    struct emu_listener *listener, const struct emu_access *access, struct emu_fault *fault)
{
    struct races *r = (struct races *)listener;
    const bool strong = r->strong[access->pc];
    bool silent;

    if (access->space != PTX_SHARED && access->space != PTX_GLOBAL)
        return true;
    if (access->is_write && !strong && !check_lanes(r, access, fault))
        return false;
    if (access->space == PTX_SHARED)
        return access_shared(r, access, fault);
    silent = !strong && is_silent(r, access);
    if (r->run->order)
        return order_access(r->run->order, r->block.index, access, strong, silent, fault);
    if (strong && r->fences_chip)
        r->block_trusted = true;
    if (!r->block_trusted && r->run->nr_blocks > 1)
        shadow_access(&r->shadow, r->block.index, access,
            strong             ? SHADOW_ATOMIC
            : silent           ? SHADOW_SILENT
            : access->is_write ? SHADOW_WRITE
                               : SHADOW_READ,
            touch);
    return true;
}

static void merge(struct emu_listener *into, struct emu_listener *from)
{
    shadow_merge(&((struct races *)into)->shadow, &((struct races *)from)->shadow, join);
}

/* The race that a cell shows: the lowest writer, and the lowest other block. */
struct race_pair {
    uint64_t writer, other;
    const struct shadow_buffer *buffer;
    uint64_t offset;
};

/* Finds for each two places of the program the pair of the lowest blocks; `each` false: one pair
 * for the launch. */
struct pairs {
    struct race_pair *items;
    size_t nr, cap;
    bool each;
};

static struct race_pair *place_of(struct pairs *pairs, uint64_t writer, uint64_t other)
{
    for (size_t i = 0; i < pairs->nr; i++) {
        struct race_pair *p = &pairs->items[i];
        if (!pairs->each ||
            (shadow_pc(p->writer) == shadow_pc(writer) && shadow_pc(p->other) == shadow_pc(other)))
            return p;
    }
    pairs->items = grow(pairs->items, &pairs->cap, pairs->nr + 1, sizeof(*pairs->items));
    pairs->items[pairs->nr] = (struct race_pair){0};
    return &pairs->items[pairs->nr++];
}

static void consider(struct pairs *pairs, const struct shadow_cell *cell,
    const struct shadow_buffer *buffer, uint64_t offset)
{
    const uint64_t writer = cell->tag[0];
    const uint64_t other =
        shadow_block(cell->tag[1]) == shadow_block(writer) ? cell->tag[2] : cell->tag[1];
    const uint64_t w = shadow_block(writer), o = shadow_block(other);
    struct race_pair *best;

    if (!writer || !other)
        return;
    best = place_of(pairs, writer, other);
    if (best->writer) {
        const uint64_t bw = shadow_block(best->writer), bo = shadow_block(best->other);
        const uint64_t low = w < o ? w : o, high = w < o ? o : w;
        const uint64_t best_low = bw < bo ? bw : bo, best_high = bw < bo ? bo : bw;
        if (low > best_low || (low == best_low && high >= best_high))
            return;
    }
    *best =
        (struct race_pair){.writer = writer, .other = other, .buffer = buffer, .offset = offset};
}

static void look_at_cells(struct races *r, struct pairs *pairs)
{
    for (size_t i = 0; i < r->shadow.nr; i++) {
        const struct shadow_buffer *buffer = &r->shadow.buffers[i];
        for (uint64_t s = 0; buffer->sectors && s < buffer->nr_sectors; s++) {
            const struct shadow_sector *sector = &buffer->sectors[s];
            if (!sector->fine) {
                consider(pairs, &sector->all, buffer, s * SHADOW_SECTOR_BYTES);
                continue;
            }
            for (unsigned c = 0; c < r->shadow.nr_cells; c++)
                consider(pairs, &sector->fine[c], buffer,
                    s * SHADOW_SECTOR_BYTES + (uint64_t)c * r->shadow.cell_bytes);
        }
    }
}

static void describe(const struct races *r, const struct race_pair *pair, struct emu_fault *fault)
{
    char writer[WHERE_BYTES], other[WHERE_BYTES], line[WHERE_BYTES], other_line[WHERE_BYTES];

    where_thread(r->run, shadow_block(pair->writer) - 1, shadow_thread(pair->writer), writer);
    where_thread(r->run, shadow_block(pair->other) - 1, shadow_thread(pair->other), other);
    *fault = (struct emu_fault){.verdict = VERDICT_RACE,
        .block = shadow_block(pair->writer) - 1,
        .pc = shadow_pc(pair->writer),
        .other = shadow_pc(pair->other),
        .line = r->run->program->info[shadow_pc(pair->writer)].near};
    snprintf(fault->text, sizeof(fault->text),
        "race on byte %" PRIu64 " of %s: write by %s%s and %s by %s%s, nothing "
        "orders the blocks of one launch",
        pair->offset, pair->buffer->buffer->name, writer, where_line(r->run, fault->pc, line),
        where_verb(r->run, fault->other, PTX_GLOBAL), other,
        where_line(r->run, fault->other, other_line));
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct races *r = (struct races *)listener;
    struct pairs pairs = {.each = r->base.reports != NULL};
    struct emu_fault fault;

    look_at_cells(r, &pairs);
    for (size_t i = 0; i < pairs.nr; i++) {
        describe(r, &pairs.items[i], &fault);
        if (r->base.reports) {
            reports_add(r->base.reports, EMU_CHECK_RACE, &fault);
        } else if (result->verdict == VERDICT_OK) {
            result->verdict = fault.verdict;
            result->line = fault.line;
            memcpy(result->text, fault.text, sizeof(result->text));
        }
    }
    free(pairs.items);
}

const struct emu_listener_class *emu_races_class(void)
{
    static const struct emu_listener_class class = {.name = "races",
        .check = EMU_CHECK_RACE,
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .inst = on_inst,
        .access = on_access,
        .barrier = barrier,
        .warp_sync = warp_sync,
        .mbarrier = mbarrier,
        .finish = finish};
    return &class;
}
