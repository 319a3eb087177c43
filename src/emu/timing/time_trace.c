/* Owns the traces of the time model: the listener that records what the warps of a few blocks did.
 */
#include "emu/timing/time.h"

#include "base/mem.h"
#include "emu/state/memory.h"
#include "emu/state/windows.h"

#include <stdlib.h>
#include <string.h>

/* Traces are cut at so many events and sectors per block, as many as the simulation could use
 * anyway. */
enum { MAX_EVENTS = 600000, MAX_SECTORS = 3000000 };

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ (x >> 29);
}

static size_t sector_slot(const struct sector_set *set, uint64_t sector)
{
    size_t i = mix(sector) & (set->cap - 1);

    while (set->keys[i] != 0 && set->keys[i] != sector + 1)
        i = (i + 1) & (set->cap - 1);
    return i;
}

static void sector_set_grow(struct sector_set *set)
{
    struct sector_set old = *set;

    set->cap = old.cap == 0 ? 1024 : old.cap * 2;
    set->keys = xcalloc(set->cap, sizeof(*set->keys));
    set->flags = xcalloc(set->cap, sizeof(*set->flags));
    set->last = xcalloc(set->cap, sizeof(*set->last));
    for (size_t i = 0; i < old.cap; i++) {
        if (old.keys[i] != 0) {
            size_t slot = sector_slot(set, old.keys[i] - 1);

            set->keys[slot] = old.keys[i];
            set->flags[slot] = old.flags[i];
            set->last[slot] = old.last[i];
        }
    }
    free(old.keys);
    free(old.flags);
    free(old.last);
}

/* The slot of a sector, made empty when it is new. */
static size_t sector_set_add(struct sector_set *set, uint64_t sector)
{
    size_t slot;

    if (set->nr * 2 >= set->cap)
        sector_set_grow(set);
    slot = sector_slot(set, sector);
    if (set->keys[slot] == 0) {
        set->keys[slot] = sector + 1;
        set->nr++;
    }
    return slot;
}

bool sector_set_has(const struct sector_set *set, uint64_t sector)
{
    return set->cap > 0 && set->keys[sector_slot(set, sector)] != 0;
}

static void block_trace_destroy(struct block_trace *trace)
{
    if (trace == NULL)
        return;
    for (unsigned i = 0; i < trace->nr_warps; i++)
        free(trace->warps[i].events);
    free(trace->warps);
    free(trace->accesses);
    free(trace->sectors);
    free(trace->touched.keys);
    free(trace->touched.flags);
    free(trace->touched.last);
    free(trace->chunks);
    free(trace->meetings);
    free(trace->phases);
    free(trace->places);
    free(trace);
}

static struct emu_listener *trace_create(const struct emu_run *run)
{
    struct time_listener *t = xcalloc(1, sizeof(*t));

    t->base.class = emu_time_class();
    t->run = run;
    t->merges = time_merges(run->program);
    t->costs = time_costs(run->program, run->chip, NULL);
    t->events_per_warp = MAX_EVENTS / (run->nr_warps > 0 ? run->nr_warps : 1);
    if (run->cluster_blocks > 2) /* more blocks are traced */
        t->events_per_warp /= run->cluster_blocks / 2;
    return &t->base;
}

static void trace_destroy(struct emu_listener *listener)
{
    struct time_listener *t = (struct time_listener *)listener;

    block_trace_destroy(t->now);
    for (unsigned i = 0; i < t->nr_traces; i++)
        block_trace_destroy(t->traces[i]);
    for (unsigned i = 0; i < t->nr_nearby; i++)
        block_trace_destroy(t->nearby[i]);
    free(t->traces);
    free(t->nearby);
    free(t->merges);
    free(t->costs);
    free(t);
}

static void add_trace(struct block_trace ***list, unsigned *nr, struct block_trace *trace)
{
    *list = xrealloc(*list, (*nr + 1) * sizeof(struct block_trace *));
    (*list)[(*nr)++] = trace;
}

static void trace_merge(struct emu_listener *into, struct emu_listener *from)
{
    struct time_listener *a = (struct time_listener *)into, *b = (struct time_listener *)from;

    for (unsigned i = 0; i < b->nr_traces; i++)
        add_trace(&a->traces, &a->nr_traces, b->traces[i]);
    for (unsigned i = 0; i < b->nr_nearby; i++)
        add_trace(&a->nearby, &a->nr_nearby, b->nearby[i]);
    b->nr_traces = b->nr_nearby = 0;
}

static unsigned rank_of(const struct emu_run *run, const struct emu_block *block)
{
    const uint32_t *c = run->cluster, *at = block->ctaid;

    if (run->cluster_blocks <= 1)
        return 0;
    return (at[2] % c[2] * c[1] + at[1] % c[1]) * c[0] + at[0] % c[0];
}

static void trace_block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct time_listener *t = (struct time_listener *)listener;

    t->base.wants_insts = block->traced;
    t->base.wants_access = block->traced || block->nearby;
    t->last = NULL;
    if (!t->base.wants_access)
        return;
    t->now = xcalloc(1, sizeof(*t->now));
    t->now->block = block->index;
    t->now->rank = rank_of(t->run, block);
    t->now->nr_warps = block->traced ? t->run->nr_warps : 0;
    t->now->warps = xcalloc(t->now->nr_warps + 1, sizeof(*t->now->warps));
}

static void trace_block_end(struct emu_listener *listener)
{
    struct time_listener *t = (struct time_listener *)listener;

    if (t->now != NULL && t->now->nr_warps > 0)
        add_trace(&t->traces, &t->nr_traces, t->now);
    else if (t->now != NULL)
        add_trace(&t->nearby, &t->nr_nearby, t->now);
    t->now = NULL;
    t->base.wants_insts = t->base.wants_access = false;
}

static void add_event(struct time_listener *t, struct warp_trace *w, uint32_t pc, uint32_t mask)
{
    w->nr_all++;
    t->last = NULL;
    if (w->nr >= t->events_per_warp || t->now->nr_sectors >= MAX_SECTORS)
        return;
    w->events = grow(w->events, &w->cap, w->nr + 1, sizeof(*w->events));
    t->last = &w->events[w->nr++];
    *t->last = (struct trace_event){.pc = pc,
        .access = (uint32_t)t->now->nr_accesses,
        .lanes = (uint8_t)__builtin_popcount(mask)};
}

/* The instructions from `pc` to `end` are issued, predicated off. */
static void skip(struct time_listener *t, struct warp_trace *w, uint32_t pc, uint32_t end)
{
    for (; pc < end; pc++) {
        if (t->costs[pc].free)
            continue;
        w->nr_skipped++;
        add_event(t, w, pc, ~0u);
    }
}

static void trace_inst(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct time_listener *t = (struct time_listener *)listener;
    struct warp_trace *w;

    if (t->now == NULL || warp >= t->now->nr_warps)
        return;
    w = &t->now->warps[warp];
    if (w->last_pc > 0 && t->costs[w->last_pc - 1].skip_to == pc && pc > 0)
        skip(t, w, w->last_pc, pc);
    w->last_pc = pc + 1;
    add_event(t, w, pc, mask);
}

/* A wide load of one address by all lanes takes half as long as one of as many bytes by each lane.
 * Fitted: a tiled f32 product on H100, whose inner loop has one such load to four plain ones, takes
 * 7.3 cycles for them (waynehacking8/blackwell-tensorcore-kernels, bench_sm90a.csv, 2048 cubed). */
static unsigned uniform_wavefronts(unsigned bytes)
{
    return (bytes + 7) / 8;
}

/* The wavefronts of the wide load of which this load is the head; 0 when an address is not aligned.
 */
static unsigned wide_wavefronts(const struct emu_access *a, const struct load_merge *merge)
{
    uint64_t address[WARP_LANES];

    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        address[lane] = a->address[lane] - (uint64_t)merge->before;
        if ((a->mask >> lane & 1) != 0 && address[lane] % merge->bytes != 0)
            return 0;
    }
    if (a->kind == ACCESS_UNIFORM)
        return uniform_wavefronts(merge->bytes);
    return shape_data(ACCESS_OTHER, a->mask, merge->bytes, address);
}

/* The slot follows from the buffer's name and the place in the buffer, never from where the
 * emulator has the buffer: the same launch gives the same votes. */
static size_t chunk_slot(const struct emu_memory *memory, uint64_t address)
{
    const struct mem_buffer *buffer = memory_find(memory, address, 1);
    uint64_t bits = 0;

    for (const char *c = buffer ? buffer->name : ""; *c; c++)
        bits = mix(bits + (unsigned char)*c);
    return mix(bits + (buffer ? address - buffer->base : address)) % ATOMIC_CHUNKS;
}

/* The majority vote of Boyer and Moore, slot by slot. */
static void vote(struct atomic_chunk *chunk, uint64_t address, double cycles)
{
    if (chunk->address == address)
        chunk->cycles += cycles;
    else if (chunk->cycles < cycles)
        *chunk = (struct atomic_chunk){address, cycles - chunk->cycles};
    else
        chunk->cycles -= cycles;
}

/* The most lanes on one address: of all, or of the sector of lane `of`. */
static unsigned most_on_one(const struct emu_access *a, int of)
{
    unsigned most = 0;

    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        unsigned same = 0;

        if ((a->mask >> lane & 1) == 0 || (of >= 0 && a->address[lane] / 32 != a->address[of] / 32))
            continue;
        for (unsigned other = 0; other < WARP_LANES; other++)
            same += (a->mask >> other & 1) != 0 && a->address[other] == a->address[lane];
        most = same > most ? same : most;
    }
    return most;
}

/* Does no lane before this one touch its sector? */
static bool first_of_sector(const struct emu_access *a, unsigned lane)
{
    for (unsigned before = 0; before < lane; before++)
        if ((a->mask >> before & 1) != 0 && a->address[before] / 32 == a->address[lane] / 32)
            return false;
    return true;
}

/* A slice takes one sector of a warp's atomic in each of its cycles, and lanes on one address one
 * after another: on an H100 32 neighbours of a million warps add to the same 128 bytes in 79 us
 * (1.19 of the SM's cycles a sector), all lanes to one number in 767 us (46 cycles a warp): points
 * atomics_spread_32 and atomics_same_1 of bench/card. 64 bytes are no faster than one number, 1 KiB
 * is up to 4.1 times as fast (atomics_same_16, _256): slices lie 256 bytes apart. */
static void count_atomics(const struct time_listener *t, struct block_trace *trace,
    struct trace_access *entry, const struct emu_access *a)
{
    static const double sector_cycles = 1.19, lane_cycles = 1.45;

    entry->same_address = (uint8_t)most_on_one(a, -1);
    if (a->space != PTX_GLOBAL)
        return;
    if (trace->chunks == NULL)
        trace->chunks = xcalloc(ATOMIC_CHUNKS, sizeof(*trace->chunks));
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        const uint64_t chunk = a->address[lane] / ATOMIC_CHUNK * ATOMIC_CHUNK;
        double cycles;

        if ((a->mask >> lane & 1) == 0 || !first_of_sector(a, lane))
            continue;
        cycles = sector_cycles + lane_cycles * (most_on_one(a, (int)lane) - 1);
        entry->slice_cycles += (float)cycles;
        vote(&trace->chunks[chunk_slot(t->run->memory, chunk)], chunk, cycles);
    }
}

/* The distance of TRACE_DISTANCE; the block has not touched more sectors than there are in all. */
static unsigned distance(const struct block_trace *trace, uint32_t last)
{
    uint64_t between = trace->nr_touches - last;
    unsigned bits = 0;

    between = between < trace->touched.nr ? between : trace->touched.nr;
    while (between >> bits > 1)
        bits++;
    return bits < TRACE_DISTANCES ? bits : TRACE_DISTANCES - 1;
}

static void add_sector(struct block_trace *trace, struct trace_access *entry, uint64_t sector)
{
    struct sector_set *set = &trace->touched;
    const size_t slot = sector_set_add(set, sector);
    uint64_t note;
    bool first;

    /* Sectors of one access stand in order of lanes; repeats are neighbours or rare. */
    for (size_t i = trace->nr_sectors; i-- > entry->first;)
        if (TRACE_SECTOR(trace->sectors[i]) == sector)
            return;
    if (entry->is_write) {
        first = (set->flags[slot] & SECTOR_WRITTEN) == 0;
        trace->nr_written += first;
        set->flags[slot] |= SECTOR_WRITTEN;
    } else {
        first = set->flags[slot] == 0;
        trace->nr_read += first;
        set->flags[slot] |= SECTOR_READ;
    }
    note = first ? TRACE_FIRST : TRACE_DISTANCE(distance(trace, set->last[slot]));
    set->last[slot] = trace->nr_touches++;
    trace->sectors =
        grow(trace->sectors, &trace->cap_sectors, trace->nr_sectors + 1, sizeof(*trace->sectors));
    trace->sectors[trace->nr_sectors++] = sector | note;
    entry->nr_sectors++;
}

static void add_global(
    struct block_trace *trace, struct trace_access *entry, const struct emu_access *a)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        if ((a->mask >> lane & 1) == 0)
            continue;
        for (uint64_t s = a->address[lane] / 32; s <= (a->address[lane] + a->bytes - 1) / 32; s++)
            add_sector(trace, entry, s);
    }
}

static void note_touched(struct block_trace *trace, const struct emu_access *a)
{
    for (uint32_t m = a->space == PTX_GLOBAL ? a->mask : 0; m != 0; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];

        for (uint64_t s = at / 32; s <= (at + a->bytes - 1) / 32; s++)
            sector_set_add(&trace->touched, s);
    }
}

/* Local memory is laid out word by word across the lanes, so a word of all lanes is one line of
 * four sectors. These sectors get numbers that no global address has. */
static void add_local(
    struct block_trace *trace, struct trace_access *entry, const struct emu_access *a)
{
    unsigned lane = (unsigned)__builtin_ctz(a->mask);
    uint64_t own = UINT64_C(1) << 56 | (trace->block & 0xfff) << 40 | (uint64_t)a->warp << 34;

    for (unsigned word = 0; word < (a->bytes + 3) / 4; word++)
        for (unsigned s = 0; s < 4; s++)
            add_sector(trace, entry, own + (a->address[lane] / 4 + word) * 4 + s);
}

static void count_lines(const struct block_trace *trace, struct trace_access *entry)
{
    uint64_t low = UINT64_MAX, high = 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < entry->nr_sectors; i++) {
        uint64_t line = TRACE_SECTOR(trace->sectors[entry->first + i]) / 4;
        bool seen = false;

        for (unsigned j = i; j-- > 0 && !seen;)
            seen = TRACE_SECTOR(trace->sectors[entry->first + j]) / 4 == line;
        nr += !seen;
        low = line < low ? line : low;
        high = line > high ? line : high;
    }
    entry->lines = (uint16_t)nr;
    entry->apart = nr > 1 && high - low >= nr;
}

/* L1 is not coherent, so loads that must see what other SMs wrote do not ask L1. */
static bool asks_l2(const struct ptx_inst *ptx)
{
    return ptx->bulk || ptx->cache == PTX_CACHE_CG || ptx->cache == PTX_CACHE_CV ||
           ptx->volatile_ || (ptx->sem > PTX_SEM_WEAK && ptx->scope > PTX_SCOPE_CTA);
}

static struct trace_access *add_access(struct time_listener *t, const struct emu_access *a)
{
    struct block_trace *trace = t->now;
    struct trace_access *entry;

    trace->accesses = grow(
        trace->accesses, &trace->cap_accesses, trace->nr_accesses + 1, sizeof(*trace->accesses));
    entry = &trace->accesses[trace->nr_accesses++];
    *entry = (struct trace_access){
        .first = (uint32_t)trace->nr_sectors,
        .space = (uint8_t)a->space,
        .is_write = a->is_write || a->is_atomic,
        .is_atomic = a->is_atomic,
        .bulk = t->run->program->insts[a->pc].kind == INST_BULK_COPY,
        .past_l1 = asks_l2(t->run->program->info[a->pc].ptx),
        .bytes = (uint8_t)a->bytes,
        .wavefronts = 1,
        .ideal = (uint16_t)a->ideal,
        .blocks = (uint8_t)(a->blocks > 0 ? a->blocks : 1),
    };
    if (a->space == PTX_SHARED || a->space == PTX_GLOBAL)
        entry->wavefronts = (uint16_t)a->data;
    if (a->space == PTX_SHARED && a->kind == ACCESS_UNIFORM)
        entry->wavefronts = (uint16_t)uniform_wavefronts(a->bytes);
    else if (a->space == PTX_SHARED && a->wavefronts > entry->wavefronts)
        entry->wavefronts = (uint16_t)a->wavefronts;
    if (t->merges[a->pc].head == a->pc + 1)
        entry->wide = (uint8_t)wide_wavefronts(a, &t->merges[a->pc]);
    if (a->is_atomic)
        count_atomics(t, trace, entry, a);
    if (a->space == PTX_GLOBAL)
        add_global(trace, entry, a);
    else if (a->space == PTX_LOCAL)
        add_local(trace, entry, a);
    count_lines(trace, entry);
    return entry;
}

static bool trace_access(
    struct emu_listener *listener, const struct emu_access *a, struct emu_fault *fault)
{
    struct time_listener *t = (struct time_listener *)listener;

    (void)fault;
    if (t->now != NULL && t->now->nr_warps == 0)
        note_touched(t->now, a);
    if (t->now == NULL || t->last == NULL || a->mask == 0 || a->pc != t->last->pc)
        return true;
    add_access(t, a);
    t->last->nr_accesses++;
    return true;
}

/* An access of the block's own, by which it has its part in what L2 sends once. */
static void trace_received(struct emu_listener *listener, const struct emu_access *a)
{
    struct time_listener *t = (struct time_listener *)listener;
    struct block_trace *trace = t->now;

    if (trace == NULL || trace->nr_warps == 0 || trace->nr_sectors >= MAX_SECTORS)
        return;
    add_access(t, a)->next = trace->receipts;
    trace->receipts = (uint32_t)trace->nr_accesses;
}

static uint8_t one_block(const struct emu_access *a)
{
    return a->lo >> CLUSTER_SHIFT == a->hi >> CLUSTER_SHIFT ? (uint8_t)(a->lo >> CLUSTER_SHIFT) : 0;
}

/* Lanes that name shared memory by the block of the cluster that has it: SM to SM goes by sectors.
 */
static void trace_away(struct emu_listener *listener, const struct emu_access *a)
{
    struct time_listener *t = (struct time_listener *)listener;
    const bool copy = t->run->program->insts[a->pc].kind == INST_BULK_COPY;
    uint64_t seen[WARP_LANES];
    unsigned nr = copy ? a->lines : 0;

    if (t->now == NULL || t->last == NULL || a->pc != t->last->pc)
        return;
    for (uint32_t m = copy ? 0 : a->mask; m != 0; m &= m - 1) {
        const uint64_t sector = a->address[__builtin_ctz(m)] / 32;
        unsigned i = 0;

        while (i < nr && seen[i] != sector)
            i++;
        seen[i] = sector;
        nr += i == nr;
    }
    t->now->accesses = grow(t->now->accesses, &t->now->cap_accesses, t->now->nr_accesses + 1,
        sizeof(*t->now->accesses));
    t->now->accesses[t->now->nr_accesses++] = (struct trace_access){.space = PTX_SHARED,
        .is_write = a->is_write || a->is_atomic,
        .is_atomic = a->is_atomic,
        .away = true,
        .bulk = copy,
        .bytes = copy ? 32 : (uint8_t)a->bytes,
        .to = one_block(a),
        .lines = (uint16_t)nr,
        .wavefronts = (uint16_t)nr,
        .ideal = (uint16_t)nr};
    t->last->nr_accesses++;
}

static void trace_meets(
    struct emu_listener *listener, unsigned warp, uint64_t address, enum emu_mbarrier what)
{
    struct time_listener *t = (struct time_listener *)listener;

    /* meetings of a warpgroup at wgmma cost nothing */
    if (t->now != NULL && warp < t->now->nr_warps &&
        (address == CLUSTER_BARRIER || address <= t->run->shared_bytes))
        meet_tell(t->now, warp, address, what);
}

static void trace_barrier(struct emu_listener *listener, const struct emu_barrier *barrier)
{
    struct time_listener *t = (struct time_listener *)listener;

    if (t->now != NULL && t->now->nr_warps > 0)
        meet_at_barrier(t->now, t->run->program, barrier);
}

const struct emu_listener_class *emu_time_class(void)
{
    static const struct emu_listener_class class = {
        .name = "time",
        .create = trace_create,
        .destroy = trace_destroy,
        .merge = trace_merge,
        .block_begin = trace_block_begin,
        .inst = trace_inst,
        .access = trace_access,
        .away = trace_away,
        .received = trace_received,
        .barrier = trace_barrier,
        .mbarrier = trace_meets,
        .block_end = trace_block_end,
    };

    return &class;
}

static int by_rank_and_block(const void *a, const void *b)
{
    const struct block_trace *x = *(struct block_trace *const *)a,
                             *y = *(struct block_trace *const *)b;

    if (x->rank != y->rank)
        return x->rank > y->rank ? 1 : -1;
    return (x->block > y->block) - (x->block < y->block);
}

void time_traces_sort(struct time_listener *t)
{
    if (t->nr_nearby > 1)
        qsort(t->nearby, t->nr_nearby, sizeof(struct block_trace *), by_rank_and_block);
    if (t->nr_traces > 1)
        qsort(t->traces, t->nr_traces, sizeof(struct block_trace *), by_rank_and_block);
}

/* --- what blocks of one SM share --- */

/* Do blocks of other clusters? Those of one lie on several SMs. */
static bool others_touch(const struct time_listener *t, unsigned self, uint64_t sector)
{
    const unsigned clusters =
        t->nr_traces / (t->run->cluster_blocks > 1 ? t->run->cluster_blocks : 1);

    for (unsigned i = 0; i < t->nr_traces; i++)
        if (i % clusters != self % clusters && sector_set_has(&t->traces[i]->touched, sector))
            return true;
    return false;
}

/* The lowest sector of each buffer that a trace touches. */
static void find_lowest(const struct block_trace *trace, const struct traffic *r, uint64_t *lowest)
{
    for (unsigned b = 0; b < r->nr; b++)
        lowest[b] = UINT64_MAX;
    for (size_t a = 0; a < trace->nr_accesses; a++) {
        const struct trace_access *access = &trace->accesses[a];

        for (unsigned i = 0; access->traffic > 0 && i < access->nr_sectors; i++) {
            const uint64_t sector = TRACE_SECTOR(trace->sectors[access->first + i]);

            if (sector < lowest[access->traffic - 1])
                lowest[access->traffic - 1] = sector;
        }
    }
}

/* Moves a sector from where the emulator has its buffer to the buffer's place in the model. */
static void settle_place(uint64_t *entry, const struct buffer_traffic *of)
{
    *entry += of->place - of->begin;
}

static void share_sectors(struct time_listener *t, unsigned self, const struct traffic *r,
    const uint64_t *lowest, const uint64_t *of_first)
{
    struct block_trace *trace = t->traces[self];

    for (size_t a = 0; a < trace->nr_accesses; a++) {
        const struct trace_access *access = &trace->accesses[a];
        const struct buffer_traffic *of = access->traffic > 0 ? &r->of[access->traffic - 1] : NULL;

        for (unsigned i = 0; of != NULL && i < access->nr_sectors; i++) {
            uint64_t *entry = &trace->sectors[access->first + i];

            if ((*entry & TRACE_FIRST) != 0 &&
                !sector_set_has(&trace->touched, TRACE_SECTOR(*entry) ^ 1))
                *entry |= TRACE_ODD;
            if (of->far >= 0.95 && of_first[of - r->of] != UINT64_MAX)
                *entry += of_first[of - r->of] - lowest[of - r->of];
            if (of->far >= 0.95 ||
                ((of->far < 0 || of->far > 0.05) && others_touch(t, self, TRACE_SECTOR(*entry))))
                *entry |= TRACE_SHARED;
            settle_place(entry, of);
        }
    }
}

void time_traces_share(struct time_listener *t, const struct traffic *r)
{
    uint64_t *lowest = xcalloc(r->nr + 1, sizeof(*lowest));
    uint64_t *of_first = xcalloc(r->nr + 1, sizeof(*of_first));

    for (unsigned i = 0; i < t->nr_traces; i++) {
        struct block_trace *trace = t->traces[i];

        for (size_t a = 0; a < trace->nr_accesses; a++) {
            struct trace_access *access = &trace->accesses[a];
            const struct buffer_traffic *of =
                access->nr_sectors > 0 && access->space != PTX_LOCAL
                    ? time_traffic_at(r, TRACE_SECTOR(trace->sectors[access->first]))
                    : NULL;

            access->traffic = of != NULL ? (uint16_t)(of - r->of + 1) : 0;
        }
        find_lowest(trace, r, lowest);
        if (i == 0)
            memcpy(of_first, lowest, r->nr * sizeof(*of_first));
        share_sectors(t, i, r, lowest, of_first);
    }
    free(lowest);
    free(of_first);
}

double time_traces_mean(struct block_trace *const *traces, unsigned nr, double *share)
{
    double kept = 0, dropped = 0, all = 0;

    for (unsigned i = 0; i < nr; i++) {
        for (unsigned w = 0; w < traces[i]->nr_warps; w++) {
            kept += (double)traces[i]->warps[w].nr;
            dropped += (double)traces[i]->warps[w].nr_dropped;
            all += (double)traces[i]->warps[w].nr_all;
        }
    }
    *share = all > 0 ? (kept + dropped) / all : 1;
    return kept / nr;
}

/* Puts the events of each visit to a basic block into the assembler's order. Scratch has room for
 * every rank, and is zero before and after. */
static void reorder(const struct pc_cost *costs, const struct inst_order *order,
    struct warp_trace *w, struct trace_event *scratch)
{
    const uint32_t *block = order->block;
    size_t to = 0;

    for (size_t begin = 0, end; begin < w->nr; begin = end) {
        uint32_t most = 0;

        end = time_unrolled(costs, order->unrolled, w, begin, &to, scratch);
        if (end > begin)
            continue;
        for (; end < w->nr && block[w->events[end].pc] == block[w->events[begin].pc] &&
               (end == begin || w->events[end].pc > w->events[end - 1].pc);
             end++)
            ;
        /* w->events[begin..end) still stands in order of pc here. */
        for (size_t i = begin; i < end; i++) {
            const uint32_t rank = order->rank[w->events[i].pc];

            scratch[rank] = w->events[i];
            scratch[rank].pc++; /* 0: nothing here */
            most = rank > most ? rank : most;
        }
        for (uint32_t rank = 0; rank <= most; rank++) {
            if (scratch[rank].pc == 0)
                continue;
            w->events[to] = scratch[rank];
            w->events[to++].pc--;
            scratch[rank].pc = 0;
        }
    }
    w->nr = to;
}

void time_traces_reorder(
    const struct time_listener *t, const struct pc_cost *costs, const struct inst_order *order)
{
    struct trace_event *scratch =
        xcalloc(UNROLLED * (size_t)t->run->program->nr_insts + 1, sizeof(*scratch));

    for (unsigned i = 0; i < t->nr_traces; i++)
        for (unsigned w = 0; w < t->traces[i]->nr_warps; w++)
            reorder(costs, order, &t->traces[i]->warps[w], scratch);
    free(scratch);
}
