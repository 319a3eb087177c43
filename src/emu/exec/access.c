/* Owns memory instructions: addresses, spaces, bounds and alignment, then the data. */
#include "emu/exec/access.h"

#include "emu/state/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void thread_name(
    const struct block_worker *k, const struct warp *w, unsigned lane, char text[96])
{
    unsigned thread = w->index * WARP_LANES + lane;
    const uint32_t *block = k->exec->run.launch->block, *at = k->block.ctaid;
    snprintf(text, 96, "thread (%u,%u,%u) of block (%u,%u,%u)", thread % block[0],
        thread / block[0] % block[1], thread / block[0] / block[1], at[0], at[1], at[2]);
}

static const char *verb(const struct access_spot *s)
{
    return s->atomic ? "atomic" : s->write ? "write" : "read";
}

static bool stray_global(struct block_worker *k, const struct warp *w, const struct access_spot *s,
    uint32_t pc, unsigned lane)
{
    char who[96];
    uint64_t address = s->address[lane];
    const struct mem_buffer *b = memory_nearest(k->memory, address);
    thread_name(k, w, lane, who);
    if (b && b->freed && address - b->base < (UINT64_C(1) << 20))
        return exec_fault(k, VERDICT_FAULT, pc,
            "use after free: %u-byte %s in the memory of a %s by %s", s->bytes, verb(s), b->name,
            who);
    uint64_t reach = b ? 2 * b->bytes + (UINT64_C(1) << 24) : 0;
    if (b && address >= b->base && address - b->base < b->bytes)
        return exec_fault(k, VERDICT_FAULT, pc,
            "out of bounds: %u-byte %s across the end of %s (%" PRIu64 " bytes) by %s", s->bytes,
            verb(s), b->name, b->bytes, who);
    if (b && address >= b->base && address - b->base < reach)
        return exec_fault(k, VERDICT_FAULT, pc,
            "out of bounds: %u-byte %s %" PRIu64 " bytes past the end of %s (%" PRIu64
            " bytes) by %s",
            s->bytes, verb(s), address - b->base - b->bytes, b->name, b->bytes, who);
    if (b && address < b->base && b->base - address < reach)
        return exec_fault(k, VERDICT_FAULT, pc,
            "out of bounds: %u-byte %s %" PRIu64 " bytes before the start of %s (%" PRIu64
            " bytes) by %s",
            s->bytes, verb(s), b->base - address, b->name, b->bytes, who);
    return exec_fault(k, VERDICT_FAULT, pc,
        "out of bounds: %u-byte %s at address 0x%" PRIx64 ", where no buffer is, by %s", s->bytes,
        verb(s), address, who);
}

static bool misaligned(
    struct block_worker *k, const struct warp *w, const struct access_spot *s, uint32_t pc)
{
    char who[96];
    unsigned lane = (unsigned)__builtin_ctz(s->mask);
    while (!(s->mask >> lane & 1) || s->address[lane] % s->bytes == 0)
        lane++;
    thread_name(k, w, lane, who);
    const struct mem_buffer *b =
        s->space == PTX_GLOBAL ? memory_find(k->memory, s->address[lane], 1) : NULL;
    uint64_t offset = b ? s->address[lane] - b->base : s->address[lane];
    return exec_fault(k, VERDICT_FAULT, pc,
        "misaligned: %u-byte %s at byte %" PRIu64 " of %s by %s", s->bytes, verb(s), offset,
        b                        ? b->name
        : s->space == PTX_SHARED ? "shared memory"
        : s->space == PTX_LOCAL  ? "local memory"
                                 : "memory",
        who);
}

/* True when no lane is outside. A pattern that was learned where addresses wrapped around has the
 * wrong extent elsewhere; this function corrects the extent. */
static bool stray_inside(struct block_worker *k, const struct warp *w, struct access_spot *s,
    uint32_t pc, uint64_t size, const char *name)
{
    char who[96];
    unsigned lane = 0;
    while (
        lane < WARP_LANES && (!(s->mask >> lane & 1) ||
                                 (s->address[lane] <= size && s->bytes <= size - s->address[lane])))
        lane++;
    if (lane == WARP_LANES) {
        s->lo = s->hi = s->address[__builtin_ctz(s->mask)];
        for (uint32_t m = s->mask; m; m &= m - 1) {
            uint64_t at = s->address[__builtin_ctz(m)];
            s->lo = at < s->lo ? at : s->lo;
            s->hi = at > s->hi ? at : s->hi;
        }
        return true;
    }
    thread_name(k, w, lane, who);
    return exec_fault(k, VERDICT_FAULT, pc,
        "out of bounds: %u-byte %s at byte %" PRId64 " of %" PRIu64 " bytes of %s memory by %s",
        s->bytes, verb(s), (int64_t)s->address[lane], size, name, who);
}

/* Lanes whose words lie in one row of words, for loads that need no addresses. */
static void learn_index(struct access_pattern *p)
{
    p->indexed = p->low % 4 == 0 && p->hi_rel - p->lo_rel < ROW_BYTES;
    for (unsigned l = 0; l < WARP_LANES; l++)
        p->index[l] = (int32_t)((int64_t)(p->rel[l] - p->lo_rel) >> 2);
}

static inline void learn_lanes(
    struct access_pattern *p, const struct access_spot *s, uint64_t start, const uint32_t mask)
{
    unsigned first = (unsigned)__builtin_ctz(mask), shift = (unsigned)__builtin_ctz(s->bytes);
    const uint64_t *address = s->address, origin = start - ((uint64_t)first << shift);
    uint64_t low = 0, stray = 0, rel[WARP_LANES];
    int64_t lo = 0, hi = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint64_t on = 0 - (uint64_t)(mask >> l & 1);
        rel[l] = (address[l] - start) & on;
        low |= rel[l];
        stray |= (address[l] ^ (origin + ((uint64_t)l << shift))) & on;
        lo = (int64_t)rel[l] < lo ? (int64_t)rel[l] : lo;
        hi = (int64_t)rel[l] > hi ? (int64_t)rel[l] : hi;
    }
    memcpy(p->rel, rel, sizeof(rel));
    p->low = low;
    p->lo_rel = (uint64_t)lo;
    p->hi_rel = (uint64_t)hi;
    p->kind = low == 0 ? ACCESS_UNIFORM : stray == 0 ? ACCESS_CONTIGUOUS : ACCESS_OTHER;
}

static void learn(struct access_pattern *p, const struct access_spot *s, uint64_t start)
{
    if (s->mask == ~0u)
        learn_lanes(p, s, start, ~0u);
    else
        learn_lanes(p, s, start, s->mask);
    p->mask = s->mask;
    p->bytes = s->bytes;
    p->space = (uint8_t)s->space;
    p->matrices = s->matrices;
    p->shape_mod = NO_SHAPE;
    p->indexed = false;
    p->ready = 0;
}

static bool alike(const struct access_pattern *p, const struct access_spot *s, uint64_t start)
{
    const uint64_t *address = s->address;
    const uint32_t mask = s->mask;
    uint64_t differ = 0;
    if (s->differs || p->mask != mask || p->bytes != s->bytes || p->space != s->space ||
        p->matrices != s->matrices)
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t on = (mask >> l & 1) ? ~(uint64_t)0 : 0;
        differ |= ((address[l] - start) & on) ^ p->rel[l];
    }
    return differ == 0;
}

/* Range, shape and alignment of the active lanes' addresses. *again: as in the last access. */
static bool measure(struct block_worker *k, const struct warp *w, struct access_spot *s,
    uint32_t pc, struct access_pattern *p, bool *again)
{
    const uint64_t start = s->address[__builtin_ctz(s->mask)];
    *again = alike(p, s, start);
    if (!*again) {
        count_hits(&k->counts[pc], p);
        learn(p, s, start);
    }
    s->kind = (enum access_kind)p->kind;
    s->start = start;
    /* around the end of the address space lo would be above hi: no buffer is there */
    s->lo = start + p->lo_rel;
    s->hi = start + p->hi_rel;
    return ((p->low | start) & (s->bytes - 1)) == 0 || misaligned(k, w, s, pc);
}

/* What the cost of an access depends on: these bits of its first address. Shared memory looks the
 * same from every start that is a whole word: banks rotate. */
static uint32_t shape_bits(const struct access_pattern *p)
{
    if (p->kind == ACCESS_UNIFORM || p->space == PTX_LOCAL ||
        (p->kind == ACCESS_OTHER && p->space != PTX_SHARED && p->low % 128 == 0))
        return 0;
    return p->space == PTX_SHARED ? 3 : 127;
}

static void reshape(
    struct block_worker *k, uint32_t pc, struct access_pattern *p, uint64_t start, bool write)
{
    const uint32_t mod = (uint32_t)start & shape_bits(p);
    if (p->shape_mod == mod)
        return;
    count_hits(&k->counts[pc], p);
    /* only the time model wants to know the sectors of stores and atomics */
    shape_find(p, start, p->space == PTX_GLOBAL && !write);
    p->shape_mod = mod;
}

/* Notes that a sector is touched. Most sectors were touched before; a line that nobody writes stays
 * in the caches of all workers. */
static inline void note(uint8_t *touched)
{
    if (!__atomic_load_n(touched, __ATOMIC_RELAXED))
        __atomic_store_n(touched, 1, __ATOMIC_RELAXED);
}

/* Notes nr sectors in a row: 32 lanes with a word each touch four. */
static inline void note_row(uint8_t *touched, uint64_t nr)
{
    const uint32_t ones = 0x01010101;
    uint32_t seen;
    for (; nr >= 4; nr -= 4, touched += 4) {
        memcpy(&seen, touched, 4);
        if (seen != ones)
            memcpy(touched, &ones, 4);
    }
    for (; nr; nr--)
        note(touched++);
}

/* The lanes are in different buffers, so each finds its own. */
static bool place_scattered(
    struct block_worker *k, const struct warp *w, struct access_spot *s, uint32_t pc)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(s->mask >> l & 1))
            continue;
        struct mem_buffer *b = memory_find(k->memory, s->address[l], s->bytes);
        if (!b || (b->constant && s->write))
            return stray_global(k, w, s, pc, l);
        if (!s->atomic)
            sums_end(k, b);
        s->moved[l] = (uintptr_t)b->host + (s->address[l] - b->base);
        if (s->write)
            memory_note_store(b);
        else if (k->counting)
            memory_note_load(b);
        if (k->counting)
            note(&b->touched[(s->address[l] - b->base) / 32]);
    }
    s->base = NULL;
    s->at = s->moved;
    return true;
}

/* Notes the sectors that an access touches; `touched` is where the first sector of all addresses
 * would be noted, start the address of its first active lane. */
static inline void touch(uintptr_t touched, const struct access_pattern *p, uint64_t start)
{
    if (p->kind != ACCESS_OTHER) {
        const uint64_t from = (start + p->lo_rel) / 32,
                       to = (start + p->hi_rel + p->bytes - 1) / 32;
        if (from == to)
            note((uint8_t *)(touched + from));
        else
            note_row((uint8_t *)(touched + from), to - from + 1);
        return;
    }
    for (uint32_t m = p->heads; m; m &= m - 1)
        note((uint8_t *)(touched + (start + p->rel[__builtin_ctz(m)]) / 32));
}

static uintptr_t touched_from(const struct mem_buffer *b)
{
    return (uintptr_t)b->touched - b->base / 32;
}

static bool place_global(
    struct block_worker *k, const struct warp *w, struct access_spot *s, uint32_t pc)
{
    struct pc_cache *cache = pc_cache_of(k, pc);
    if (s->lo < cache->first || s->hi + s->bytes > cache->end || s->hi + s->bytes < s->lo) {
        struct mem_buffer *b = memory_find(k->memory, s->lo, s->bytes);
        if (!b || s->hi - b->base > b->bytes - s->bytes)
            return place_scattered(k, w, s, pc);
        if (!s->atomic)
            sums_end(k, b);
        *cache = (struct pc_cache){.first = b->base,
            .end = b->base + b->bytes,
            .buffer = b,
            .host = s->atomic ? sums_host(k, b) : b->host};
        if (s->write)
            memory_note_store(b);
        else if (k->counting)
            memory_note_load(b);
    }
    struct mem_buffer *b = cache->buffer;
    if (b->constant && s->write)
        return stray_global(k, w, s, pc, (unsigned)__builtin_ctz(s->mask));
    s->base = (uint8_t *)((uintptr_t)cache->host - b->base + s->start);
    s->at = s->pattern->rel;
    if (k->counting)
        touch(touched_from(b), s->pattern, s->start);
    return true;
}

static void tell_away(
    struct block_worker *k, const struct warp *w, const struct access_spot *s, uint32_t pc)
{
    const struct emu_access access = {.warp = w->index,
        .pc = pc,
        .mask = s->mask,
        .space = PTX_SHARED,
        .is_write = s->write,
        .is_atomic = s->atomic,
        .bytes = s->bytes,
        .address = s->address,
        .kind = ACCESS_OTHER,
        .lo = s->lo,
        .hi = s->hi,
        .file = w->file};
    exec_tell_away(k, &access);
}

/* Lanes that name blocks of the cluster, each its own. */
static bool place_cluster(
    struct block_worker *k, const struct warp *w, struct access_spot *s, uint32_t pc)
{
    for (uint32_t m = s->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at;
        struct block_worker *to = cluster_at(k, w, l, pc, s->address[l], &at);
        if (!to)
            return false;
        if (at > to->shared_bytes || s->bytes > to->shared_bytes - at) {
            char who[96];
            thread_name(k, w, l, who);
            return exec_fault(k, VERDICT_FAULT, pc,
                "out of bounds: %u-byte %s at byte %" PRIu64 " of %u bytes of shared memory of "
                "block %u of the cluster by %s",
                s->bytes, verb(s), at, to->shared_bytes, to->rank, who);
        }
        s->moved[l] = (uintptr_t)(to->shared + at);
        if ((k->wants_access || k->cluster->reach) &&
            !cluster_tell(k, w, pc, l, to, at, s->bytes, s->write, s->atomic))
            return false;
    }
    if (k->wants_access)
        tell_away(k, w, s, pc);
    s->base = NULL;
    s->at = s->moved;
    s->kind = ACCESS_OTHER;
    return true;
}

static bool place_local(
    struct block_worker *k, const struct warp *w, struct access_spot *s, uint32_t pc)
{
    uint64_t size = k->program->local_bytes;
    if ((s->lo > s->hi || s->hi > size || s->bytes > size - s->hi) &&
        !stray_inside(k, w, s, pc, size, "local"))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++)
        s->moved[l] = s->address[l] + l * size;
    s->base = w->local;
    s->at = s->moved;
    s->kind = ACCESS_OTHER;
    return true;
}

static bool tell_access(
    struct block_worker *k, const struct warp *w, const struct access_spot *s, uint32_t pc)
{
    const struct access_shape shape = k->counting ? s->pattern->shape : (struct access_shape){0};
    struct emu_access access = {.warp = w->index,
        .pc = pc,
        .mask = s->mask,
        .space = s->space,
        .is_write = s->write,
        .is_atomic = s->atomic,
        .bytes = s->bytes,
        .address = s->address,
        .kind = s->kind,
        .lo = s->lo,
        .hi = s->hi,
        .file = w->file,
        .sectors = shape.sectors,
        .lines = shape.lines,
        .wavefronts = shape.wavefronts,
        .ideal = shape.ideal};
    if (k->counting && k->block.traced && (s->space == PTX_GLOBAL || s->space == PTX_SHARED))
        access.data =
            shape.data ? shape.data : shape_data_here(s->kind, s->mask, s->bytes, s->address);
    return exec_tell_access(k, &access);
}

/* The access was like the last one: keeps what to look at if the next one is like it too. */
static void make_ready(const struct block_worker *k, const struct access_spot *s, uint32_t pc)
{
    struct access_pattern *p = s->pattern;
    const struct mem_buffer *b = s->space == PTX_SHARED ? NULL : pc_cache_of(k, pc)->buffer;
    const uint64_t from = b ? b->base : 0, bytes = b ? b->bytes : k->shared_bytes;
    if (!p->indexed)
        learn_index(p);
    p->first = from - p->lo_rel;
    p->room = from + bytes - s->bytes - p->hi_rel - p->first;
    p->mod = (s->bytes - 1) | (k->counting ? shape_bits(p) : 0);
    p->last = s->start;
    p->host = (uintptr_t)(b ? pc_cache_of(k, pc)->host : k->shared) - from;
    p->touched = b && k->counting ? touched_from(b) : 0;
    p->ready = s->mask;
}

/* Checks, counts, tells listeners, and finds the host memory of a request within one space. */
static bool place(struct block_worker *k, const struct warp *w, struct access_spot *s, uint32_t pc)
{
    struct access_pattern *pattern = pattern_of(k, pc);
    bool param = s->space == PTX_PARAM, again;
    s->pattern = pattern;
    if (!measure(k, w, s, pc, pattern, &again))
        return false;
    if (k->counting && !param) {
        reshape(k, pc, pattern, s->start, s->write);
        pattern->hits++;
    }
    switch (s->space) {
    case PTX_SHARED:
        if (s->lo > s->hi || s->hi > k->shared_bytes || s->bytes > k->shared_bytes - s->hi) {
            if (s->hi >> CLUSTER_SHIFT && s->hi >> CLUSTER_SHIFT <= MOST_CLUSTER_BLOCKS)
                return place_cluster(k, w, s, pc); /* which tells listeners */
            if (!stray_inside(k, w, s, pc, k->shared_bytes, "shared"))
                return false;
        }
        s->base = k->shared + s->start;
        s->at = pattern->rel;
        break;
    case PTX_LOCAL:
    case PTX_PARAM:
        return place_local(k, w, s, pc) && (!k->wants_access || param || tell_access(k, w, s, pc));
    default:
        if (!place_global(k, w, s, pc))
            return false;
    }
    if (k->wants_access)
        return tell_access(k, w, s, pc);
    if (again && s->at == pattern->rel)
        make_ready(k, s, pc);
    return true;
}

static void addresses(const uint8_t *file, uint32_t row, bool is32, int64_t imm, uint64_t *out)
{
    if (is32) {
        const uint32_t *a = (const uint32_t *)(file + row);
        for (unsigned l = 0; l < WARP_LANES; l++)
            out[l] = (uint32_t)(a[l] + (uint32_t)imm);
        return;
    }
    const uint64_t *a = (const uint64_t *)(file + row);
    for (unsigned l = 0; l < WARP_LANES; l++)
        out[l] = a[l] + (uint64_t)imm;
}

static void move_data(struct block_worker *k, const struct warp *w, const struct inst *in,
    const struct access_spot *s)
{
    if (in->flags & INST_IDLE)
        return;
    if (in->kind == INST_LOAD)
        data_load(w, in, s);
    else if (in->kind == INST_STORE)
        data_store(w, in, s);
    else
        data_atomic(k, w, in, s);
}

/* Generic addresses: the lanes of each space make a request of their own. */
static bool access_generic(struct block_worker *k, struct warp *w, const struct inst *in,
    uint32_t pc, const struct access_spot *s)
{
    uint32_t shared = 0, local = 0, all = s->mask;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        shared |= (uint32_t)(s->address[l] - WINDOW_SHARED < WINDOW_BYTES) << l;
        local |= (uint32_t)(s->address[l] - WINDOW_LOCAL < WINDOW_BYTES) << l;
    }
    const struct {
        enum ptx_space space;
        uint32_t mask;
        uint64_t window;
    } parts[3] = {{PTX_GLOBAL, all & ~shared & ~local, 0},
        {PTX_SHARED, all & shared, WINDOW_SHARED}, {PTX_LOCAL, all & local, WINDOW_LOCAL}};
    uint64_t address[WARP_LANES];
    for (unsigned i = 0; i < 3; i++) {
        struct access_spot part = *s;
        if (!parts[i].mask)
            continue;
        part.space = parts[i].space;
        part.mask = parts[i].mask;
        part.address = address;
        for (unsigned l = 0; l < WARP_LANES; l++)
            address[l] = s->address[l] - parts[i].window;
        if (!place(k, w, &part, pc))
            return false;
        move_data(k, w, in, &part);
    }
    return true;
}

/* Are the lanes where they were in the last access, relative to the first of them? *start: the
 * first lane's address. */
static inline bool recall(
    const uint8_t *file, const struct inst *in, const struct access_pattern *p, uint64_t *start)
{
    const unsigned first = (unsigned)__builtin_ctz(p->mask);
    const uint32_t mask = p->mask;
    if (in->address32) {
        const uint32_t *a = (const uint32_t *)(file + in->a), from = a[first];
        uint32_t differ = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            differ |= (mask >> l & 1) ? (a[l] - from) ^ (uint32_t)p->rel[l] : 0;
        *start = (uint32_t)(from + (uint32_t)in->imm);
        return differ == 0;
    }
    const uint64_t *a = (const uint64_t *)(file + in->a), from = a[first];
    uint64_t differ = 0;
    if (mask == ~0u)
        for (unsigned l = 0; l < WARP_LANES; l++)
            differ |= (a[l] - from) ^ p->rel[l];
    else
        for (unsigned l = 0; l < WARP_LANES; l++)
            differ |= (mask >> l & 1) ? (a[l] - from) ^ p->rel[l] : 0;
    *start = from + (uint64_t)in->imm;
    return differ == 0;
}

/* A grid that walks over memory in step takes strides that the host's prefetcher does not see. The
 * host's cache is told where the next access will be if its step is as long as the last one. */
static inline void look_ahead(uintptr_t now, uint64_t step, uint64_t span)
{
    if (step + 64 <= 128) /* close by */
        return;
    for (uint64_t at = 0; at <= span; at += 64)
        __builtin_prefetch((const void *)(now + step + at));
}

/* Serves most accesses: those like the instruction's last one, in the same buffer. False: nothing
 * was done yet; access_anew() goes on with what this function has seen. */
static inline bool again(struct access_pattern *p, const struct warp *w, const struct inst *in,
    uint32_t mask, struct access_spot *s)
{
    uint64_t start;
    s->differs = s->moves = false;
    if (p->ready != mask)
        return false;
    s->differs = !recall(w->file, in, p, &start);
    if (s->differs || start - p->first > p->room)
        return false;
    s->start = start;
    s->moves = ((start ^ p->last) & p->mod) != 0;
    if (s->moves)
        return false;
    p->hits++;
    s->base = (uint8_t *)(p->host + start);
    if (p->touched)
        touch(p->touched, p, start);
    if (p->kind != ACCESS_OTHER && p->touched)
        look_ahead(p->host + start + p->lo_rel, start - p->last, p->hi_rel - p->lo_rel);
    p->last = start;
    s->pattern = p;
    s->kind = (enum access_kind)p->kind;
    s->at = p->rel;
    s->mask = mask;
    s->space = (enum ptx_space)in->space;
    return true;
}

/* What is asked of an access; the rest is set by those functions that look at the addresses. One by
 * one, since compilers clear a whole struct slowly. */
static inline void ask(struct access_spot *s, uint32_t mask, enum ptx_space space, unsigned bytes,
    bool write, uint64_t *address, uint64_t *moved)
{
    s->base = NULL;
    s->mask = mask;
    s->space = space;
    s->bytes = bytes;
    s->write = write;
    s->atomic = s->matrices = s->differs = s->moves = false;
    s->address = address;
    s->moved = moved;
}

static bool access_anew(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc,
    uint32_t mask, const struct access_spot *seen)
{
    uint64_t address[WARP_LANES], moved[WARP_LANES];
    struct access_spot s;
    ask(&s, mask, (enum ptx_space)in->space, (unsigned)in->vec * in->elem_bytes,
        in->kind != INST_LOAD, address, moved);
    s.atomic = in->kind == INST_ATOM;
    s.differs = seen && seen->differs;
    addresses(w->file, in->a, in->address32, in->imm, address);
    if (in->space == PTX_GENERIC)
        return access_generic(k, w, in, pc, &s);
    if (!place(k, w, &s, pc))
        return false;
    move_data(k, w, in, &s);
    return true;
}

/* As before, but at another place of a line: only the cost differs. */
static __attribute__((noinline)) bool access_moved(struct block_worker *k, struct warp *w,
    const struct inst *in, uint32_t pc, uint32_t mask, struct access_spot *s)
{
    struct access_pattern *p = pattern_of(k, pc);
    if (!s->moves || s->start & (p->bytes - 1))
        return access_anew(k, w, in, pc, mask, s);
    reshape(k, pc, p, s->start, in->kind != INST_LOAD);
    p->last = s->start;
    again(p, w, in, mask, s);
    move_data(k, w, in, s);
    return true;
}

bool access_memory(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    struct access_spot s;
    k->contacts += in->kind == INST_ATOM || in->flags & INST_VOLATILE;
    if (k->wants_access || in->space == PTX_GENERIC)
        return access_anew(k, w, in, pc, mask, NULL);
    if (!again(pattern_of(k, pc), w, in, mask, &s))
        return access_moved(k, w, in, pc, mask, &s);
    move_data(k, w, in, &s);
    return true;
}

bool access_lanes(struct block_worker *k, struct warp *w, uint32_t pc, enum ptx_space space,
    uint32_t mask, unsigned bytes, bool write, const uint64_t *address, uint8_t **at)
{
    uint64_t own[WARP_LANES], moved[WARP_LANES];
    struct access_spot s;
    ask(&s, mask, space, bytes, write, own, moved);
    s.matrices = bytes == 16;
    uint64_t first = address[__builtin_ctz(mask)], window = 0;
    if (space == PTX_GENERIC) {
        s.space = PTX_GLOBAL;
        if (first - WINDOW_SHARED < WINDOW_BYTES) {
            s.space = PTX_SHARED;
            window = WINDOW_SHARED;
        } else if (first - WINDOW_LOCAL < WINDOW_BYTES) {
            s.space = PTX_LOCAL;
            window = WINDOW_LOCAL;
        }
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        own[l] = address[l] - window;
    if (!place(k, w, &s, pc))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++)
        at[l] = (mask >> l & 1) ? spot_host(&s, l) : NULL;
    return true;
}

/* 4, 8 or 16 bytes. */
static inline __attribute__((always_inline)) void copy_element(
    uint8_t *to, const uint8_t *from, unsigned bytes)
{
    if (bytes == 16)
        memcpy(to, from, 16);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, 4);
}

/* The copy is done at once: a kernel that waits properly cannot tell the difference. Bytes past the
 * source size are zeros. */
bool access_cp_async(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    static const uint8_t zeros[16];
    uint64_t address[2][WARP_LANES], moved[2][WARP_LANES];
    uint32_t reading = mask;
    const uint32_t *sizes = in->c == NO_ROW ? NULL : (const uint32_t *)(w->file + in->c);
    for (unsigned l = 0; sizes && l < WARP_LANES; l++)
        reading &= sizes[l] ? ~0u : ~(1u << l);
    struct access_spot from, to;
    ask(&from, reading, PTX_GLOBAL, in->elem_bytes, false, address[0], moved[0]);
    ask(&to, mask, PTX_SHARED, in->elem_bytes, true, address[1], moved[1]);
    addresses(w->file, in->b, false, (int32_t)in->target, from.address);
    addresses(w->file, in->a, in->address32, in->imm, to.address);
    if (reading && !place(k, w, &from, pc))
        return false;
    for (unsigned l = 0; reading && l < WARP_LANES; l++) /* one pattern serves both, in turn */
        moved[0][l] = (uintptr_t)spot_host(&from, l);
    from.base = NULL;
    from.at = moved[0];
    if (!place(k, w, &to, pc))
        return false;
    for (uint32_t m = in->flags & INST_IDLE ? 0 : mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        unsigned nr = sizes && sizes[l] < in->elem_bytes ? sizes[l] : in->elem_bytes;
        if (nr == in->elem_bytes) {
            copy_element(spot_host(&to, l), spot_host(&from, l), nr);
            continue;
        }
        copy_element(spot_host(&to, l), zeros, in->elem_bytes);
        if (nr)
            memcpy(spot_host(&to, l), spot_host(&from, l), nr);
    }
    return true;
}

void access_copy_frame(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        for (unsigned i = 0; i < in->vec; i++)
            memmove(frame_at(k, w, lane, in->d, in->rows[3 * i]),
                frame_at(k, w, lane, in->a, in->rows[3 * i + 1]), in->rows[3 * i + 2]);
    }
}
