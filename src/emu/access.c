/* Owns memory instructions: addresses, spaces, bounds and alignment, then the data. */
#include "emu/access.h"

#include "emu/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void thread_name(const struct worker *k, const struct warp *w, unsigned lane, char text[96])
{
    unsigned thread = w->index * WARP_LANES + lane;
    const uint32_t *block = k->exec->run.launch->block, *at = k->block.ctaid;
    snprintf(text, 96, "thread (%u,%u,%u) of block (%u,%u,%u)", thread % block[0],
        thread / block[0] % block[1], thread / block[0] / block[1], at[0], at[1], at[2]);
}

static const char *verb(const struct spot *s)
{
    return s->atomic ? "atomic" : s->write ? "write" : "read";
}

static bool stray_global(
    struct worker *k, const struct warp *w, const struct spot *s, uint32_t pc, unsigned lane)
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

static bool misaligned(struct worker *k, const struct warp *w, const struct spot *s, uint32_t pc)
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

static bool stray_inside(struct worker *k, const struct warp *w, const struct spot *s, uint32_t pc,
    uint64_t size, const char *name)
{
    char who[96];
    unsigned lane = (unsigned)__builtin_ctz(s->mask);
    while (
        !(s->mask >> lane & 1) || (s->address[lane] <= size && s->bytes <= size - s->address[lane]))
        lane++;
    thread_name(k, w, lane, who);
    return exec_fault(k, VERDICT_FAULT, pc,
        "out of bounds: %u-byte %s at byte %" PRId64 " of %" PRIu64 " bytes of %s memory by %s",
        s->bytes, verb(s), (int64_t)s->address[lane], size, name, who);
}

/* Blocks of 8 or 16 threads in x make warps of several rows: each group of 8 lanes is then plain.
 */
static void learn_groups(struct pattern *p)
{
    p->grouped = true;
    for (unsigned g = 0; g < 4; g++) {
        uint64_t same = 0, stray = 0;
        for (unsigned i = 1; i < 8; i++) {
            uint64_t step = p->rel[8 * g + i] - p->rel[8 * g];
            same |= step;
            stray |= step ^ (uint64_t)i * p->bytes;
        }
        bool full = p->mask == ~0u;
        p->group[g] = full && !same    ? ACCESS_UNIFORM
                      : full && !stray ? ACCESS_CONTIGUOUS
                                       : ACCESS_OTHER;
    }
}

static void learn(struct pattern *p, const struct spot *s, uint64_t start)
{
    unsigned first = (unsigned)__builtin_ctz(s->mask), shift = (unsigned)__builtin_ctz(s->bytes);
    const uint64_t *address = s->address, origin = start - ((uint64_t)first << shift);
    uint64_t low = 0, stray = 0, lo = start, hi = start;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t on = (s->mask >> l & 1) ? ~(uint64_t)0 : 0, rel = (address[l] - start) & on;
        p->rel[l] = rel;
        low |= rel;
        stray |= (address[l] ^ (origin + ((uint64_t)l << shift))) & on;
        lo = on && address[l] < lo ? address[l] : lo;
        hi = on && address[l] > hi ? address[l] : hi;
    }
    p->low = low;
    p->lo_rel = lo - start;
    p->hi_rel = hi - start;
    p->mask = s->mask;
    p->bytes = s->bytes;
    p->space = (uint8_t)s->space;
    p->kind = low == 0 ? ACCESS_UNIFORM : stray == 0 ? ACCESS_CONTIGUOUS : ACCESS_OTHER;
    p->matrices = s->matrices;
    p->shape_mod = NO_SHAPE;
    p->grouped = false;
    memset(p->group, ACCESS_OTHER, sizeof(p->group));
}

/* Range, shape and alignment of the active lanes' addresses. */
static bool measure(
    struct worker *k, const struct warp *w, struct spot *s, uint32_t pc, struct pattern *p)
{
    const uint64_t *address = s->address, start = address[__builtin_ctz(s->mask)];
    const uint32_t mask = s->mask;
    uint64_t differ = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t on = (mask >> l & 1) ? ~(uint64_t)0 : 0;
        differ |= ((address[l] - start) & on) ^ p->rel[l];
    }
    if (differ || p->mask != mask || p->bytes != s->bytes || p->space != s->space ||
        p->matrices != s->matrices) {
        count_hits(&k->counts[pc], p);
        learn(p, s, start);
    } else if (!p->grouped) {
        learn_groups(p);
    }
    s->kind = (enum access_kind)p->kind;
    /* around the end of the address space lo would be above hi: no buffer is there */
    s->lo = start + p->lo_rel;
    s->hi = start + p->hi_rel;
    return ((p->low | start) & (s->bytes - 1)) == 0 || misaligned(k, w, s, pc);
}

/* What the cost of an access depends on. Shared memory looks the same from every start that is a
 * whole word: banks rotate. */
static uint32_t shape_mod(const struct pattern *p, uint64_t start)
{
    if (p->kind == ACCESS_UNIFORM || p->space == PTX_LOCAL)
        return 0;
    return p->space == PTX_SHARED ? start % 4 : start % 128;
}

static void count(struct worker *k, const struct spot *s, uint32_t pc, struct pattern *p)
{
    const uint32_t mod = shape_mod(p, s->address[__builtin_ctz(s->mask)]);
    if (p->shape_mod != mod) {
        count_hits(&k->counts[pc], p);
        shape_find(p, s->address);
        p->shape_mod = mod;
    }
    p->hits++;
}

/* Lanes in different buffers: each finds its own. */
static bool place_scattered(struct worker *k, const struct warp *w, struct spot *s, uint32_t pc)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(s->mask >> l & 1))
            continue;
        struct mem_buffer *b = memory_find(k->memory, s->address[l], s->bytes);
        if (!b || (b->constant && s->write))
            return stray_global(k, w, s, pc, l);
        s->moved[l] = (uintptr_t)b->host + (s->address[l] - b->base);
        if (k->counting)
            __atomic_store_n(&b->touched[(s->address[l] - b->base) / 32], 1, __ATOMIC_RELAXED);
    }
    s->base = NULL;
    s->at = s->moved;
    return true;
}

/* Notes the sectors that an access at `at` bytes into the buffer touches, `at` that of its first
 * active lane. */
static inline void touch(const struct mem_buffer *b, const struct pattern *p, uint64_t at)
{
    if (p->kind != ACCESS_OTHER) {
        const uint64_t from = (at + p->lo_rel) / 32, to = (at + p->hi_rel + p->bytes - 1) / 32;
        for (uint64_t i = from; i <= to; i++)
            __atomic_store_n(&b->touched[i], 1, __ATOMIC_RELAXED);
        return;
    }
    for (uint32_t m = p->heads; m; m &= m - 1)
        __atomic_store_n(&b->touched[(at + p->rel[__builtin_ctz(m)]) / 32], 1, __ATOMIC_RELAXED);
}

static bool place_global(struct worker *k, const struct warp *w, struct spot *s, uint32_t pc)
{
    struct pc_cache *cache = &k->caches[pc];
    if (s->lo < cache->first || s->hi + s->bytes > cache->end || s->hi + s->bytes < s->lo) {
        struct mem_buffer *b = memory_find(k->memory, s->lo, s->bytes);
        if (!b || s->hi - b->base > b->bytes - s->bytes)
            return place_scattered(k, w, s, pc);
        *cache = (struct pc_cache){.first = b->base, .end = b->base + b->bytes, .buffer = b};
    }
    struct mem_buffer *b = cache->buffer;
    if (b->constant && s->write)
        return stray_global(k, w, s, pc, (unsigned)__builtin_ctz(s->mask));
    s->base = (uint8_t *)((uintptr_t)b->host - b->base);
    s->at = s->address;
    if (k->counting)
        touch(b, s->pattern, s->address[__builtin_ctz(s->mask)] - b->base);
    return true;
}

static bool place_local(struct worker *k, const struct warp *w, struct spot *s, uint32_t pc)
{
    uint64_t size = k->program->local_bytes;
    if (s->lo > s->hi || s->hi > size || s->bytes > size - s->hi)
        return stray_inside(k, w, s, pc, size, "local");
    for (unsigned l = 0; l < WARP_LANES; l++)
        s->moved[l] = s->address[l] + l * size;
    s->base = w->local;
    s->at = s->moved;
    s->kind = ACCESS_OTHER;
    return true;
}

static bool tell_access(struct worker *k, const struct warp *w, const struct spot *s, uint32_t pc)
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
        .wavefronts = shape.wavefronts};
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        struct emu_listener *l = k->listeners[i];
        if (l->wants_access && !l->class->access(l, &access, &k->fault)) {
            k->fault.block = k->block.index;
            k->fault.line = k->program->info[pc].line;
            k->fault.pc = pc;
            if (!k->reports)
                return false;
            reports_add(k->reports, l->class->check, &k->fault);
            k->fault = (struct emu_fault){.verdict = VERDICT_OK};
        }
    }
    return true;
}

/* Checks, counts, tells listeners, and finds the host memory of a request within one space. */
static bool place(struct worker *k, const struct warp *w, struct spot *s, uint32_t pc)
{
    struct pattern *pattern = &k->patterns[pc];
    s->pattern = pattern;
    if (!measure(k, w, s, pc, pattern))
        return false;
    bool param = s->space == PTX_PARAM;
    if (k->counting && !param)
        count(k, s, pc, pattern);
    switch (s->space) {
    case PTX_SHARED:
        if (s->lo > s->hi || s->hi > k->shared_bytes || s->bytes > k->shared_bytes - s->hi)
            return stray_inside(k, w, s, pc, k->shared_bytes, "shared");
        s->base = k->shared;
        s->at = s->address;
        break;
    case PTX_LOCAL:
    case PTX_PARAM:
        if (!place_local(k, w, s, pc))
            return false;
        break;
    default:
        if (!place_global(k, w, s, pc))
            return false;
    }
    return !k->wants_access || param || tell_access(k, w, s, pc);
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

static void move_data(
    struct worker *k, const struct warp *w, const struct inst *in, const struct spot *s)
{
    if (in->kind == INST_LOAD)
        data_load(w, in, s);
    else if (in->kind == INST_STORE)
        data_store(w, in, s);
    else
        data_atomic(k, w, in, s);
}

/* Generic addresses: each space's lanes are a request of their own. */
static bool access_generic(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, struct spot *s)
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
    struct spot part;
    for (unsigned i = 0; i < 3; i++) {
        if (!parts[i].mask)
            continue;
        part = *s;
        part.space = parts[i].space;
        part.mask = parts[i].mask;
        for (unsigned l = 0; l < WARP_LANES; l++)
            part.address[l] -= parts[i].window;
        if (!place(k, w, &part, pc))
            return false;
        move_data(k, w, in, &part);
    }
    return true;
}

/* Are the lanes where they were in the last access, seen from the first of them? *start: where
 * that is. */
static inline bool recall(
    const uint8_t *file, const struct inst *in, const struct pattern *p, uint64_t *start)
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

/* What a loop walks over is far apart in memory where a whole grid walks in step: the host's cache
 * is told where the next access will be, if the step is the last one's. */
static inline void look_ahead(const uint8_t *now, uint64_t step, uint64_t span)
{
    if (step + 64 <= 128) /* close by */
        return;
    const uintptr_t next = (uintptr_t)now + step;
    for (uint64_t at = 0; at <= span; at += 64)
        __builtin_prefetch((const void *)(next + at));
}

/* Most accesses: like the instruction's last one, within the buffer that it used. False: nothing
 * was done, and what is to be done about it, place() finds out. */
static inline bool place_again(
    struct worker *k, const struct warp *w, const struct inst *in, uint32_t pc, struct spot *s)
{
    struct pattern *p = &k->patterns[pc];
    const struct pc_cache *cache = &k->caches[pc];
    uint64_t start;
    if (p->mask != s->mask || !p->grouped || k->wants_access || !recall(w->file, in, p, &start) ||
        ((p->low | start) & (s->bytes - 1)))
        return false;
    const uint64_t lo = start + p->lo_rel, hi = start + p->hi_rel, end = hi + s->bytes;
    if (lo > hi || end < hi)
        return false;
    if (in->space == PTX_SHARED) {
        if (end > k->shared_bytes)
            return false;
        s->base = k->shared + start;
    } else {
        if (in->space == PTX_LOCAL || in->space == PTX_PARAM || lo < cache->first ||
            end > cache->end || (s->write && cache->buffer->constant))
            return false;
        s->base = cache->buffer->host + (start - cache->first);
    }
    if (k->counting) {
        if (p->shape_mod != shape_mod(p, start))
            return false;
        p->hits++;
        if (in->space != PTX_SHARED)
            touch(cache->buffer, p, start - cache->first);
    }
    if (in->space != PTX_SHARED && p->kind != ACCESS_OTHER)
        look_ahead(s->base + p->lo_rel, start - p->last, p->hi_rel - p->lo_rel);
    p->last = start;
    s->pattern = p;
    s->kind = (enum access_kind)p->kind;
    s->at = p->rel;
    return true;
}

bool access_memory(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    struct spot s;
    s.matrices = false;
    k->contacts += in->kind == INST_ATOM || in->flags & INST_VOLATILE;
    s.mask = mask;
    s.space = (enum ptx_space)in->space;
    s.bytes = (unsigned)in->vec * in->elem_bytes;
    s.write = in->kind != INST_LOAD;
    s.atomic = in->kind == INST_ATOM;
    if (in->space == PTX_GENERIC || !place_again(k, w, in, pc, &s)) {
        addresses(w->file, in->a, in->address32, in->imm, s.address);
        if (in->space == PTX_GENERIC)
            return access_generic(k, w, in, pc, &s);
        if (!place(k, w, &s, pc))
            return false;
    }
    move_data(k, w, in, &s);
    return true;
}

bool access_lanes(struct worker *k, struct warp *w, uint32_t pc, enum ptx_space space,
    uint32_t mask, unsigned bytes, bool write, const uint64_t *address, uint8_t **at)
{
    struct spot s = {.mask = mask, .space = space, .bytes = bytes, .write = write};
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
        s.address[l] = address[l] - window;
    if (!place(k, w, &s, pc))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++)
        at[l] = (mask >> l & 1) ? spot_host(&s, l) : NULL;
    return true;
}

/* The copy is done at once: a kernel that waits properly cannot tell. Bytes past the source size
 * are zeros. */
bool access_cp_async(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    struct spot from, to;
    uint32_t reading = mask;
    const uint32_t *sizes = in->c == NO_ROW ? NULL : (const uint32_t *)(w->file + in->c);
    for (unsigned l = 0; sizes && l < WARP_LANES; l++)
        reading &= sizes[l] ? ~0u : ~(1u << l);
    from.matrices = to.matrices = false;
    from.mask = reading;
    from.space = PTX_GLOBAL;
    from.bytes = in->elem_bytes;
    from.write = from.atomic = to.atomic = false;
    addresses(w->file, in->b, false, (int32_t)in->target, from.address);
    to.mask = mask;
    to.space = PTX_SHARED;
    to.bytes = in->elem_bytes;
    to.write = true;
    addresses(w->file, in->a, in->address32, in->imm, to.address);
    if ((reading && !place(k, w, &from, pc)) || !place(k, w, &to, pc))
        return false;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        unsigned nr = sizes && sizes[l] < in->elem_bytes ? sizes[l] : in->elem_bytes;
        memset(spot_host(&to, l), 0, in->elem_bytes);
        if (nr)
            memcpy(spot_host(&to, l), spot_host(&from, l), nr);
    }
    return true;
}

void access_copy_frame(struct worker *k, struct warp *w, const struct inst *in, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        uint8_t *frame = w->local + (size_t)__builtin_ctz(m) * k->program->local_bytes;
        for (unsigned i = 0; i < in->vec; i++)
            memmove(frame + in->rows[3 * i], frame + in->rows[3 * i + 1], in->rows[3 * i + 2]);
    }
}
