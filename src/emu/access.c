/* Owns memory instructions: addresses, spaces, bounds and alignment, then the data. */
#include "emu/exec.h"

#include "emu/windows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One request in one space. */
struct spot {
    uint64_t address[WARP_LANES]; /* within the space, or global */
    uint64_t moved[WARP_LANES];
    const uint64_t *at; /* host address of lane l: base + at[l] */
    uint8_t *base;
    uint64_t lo, hi; /* of active lanes */
    enum access_kind kind;
    const struct pattern *pattern;
    uint32_t mask;
    enum ptx_space space;
    unsigned bytes; /* per lane */
    bool write, atomic;
    bool matrices; /* see struct pattern */
};

static inline uint8_t *host(const struct spot *s, unsigned lane)
{
    return (uint8_t *)((uintptr_t)s->base + s->at[lane]);
}

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
    p->shape_mod = NO_SHAPE;
    learn_groups(p);
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
    if (differ || p->mask != mask || p->bytes != s->bytes || p->space != s->space)
        learn(p, s, start);
    s->kind = (enum access_kind)p->kind;
    /* around the end of the address space lo would be above hi: no buffer is there */
    s->lo = start + p->lo_rel;
    s->hi = start + p->hi_rel;
    return ((p->low | start) & (s->bytes - 1)) == 0 || misaligned(k, w, s, pc);
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

static void touch(const struct mem_buffer *b, const struct spot *s)
{
    if (s->kind != ACCESS_OTHER) {
        uint64_t from = (s->lo - b->base) / 32, to = (s->hi + s->bytes - 1 - b->base) / 32;
        for (uint64_t i = from; i <= to; i++)
            __atomic_store_n(&b->touched[i], 1, __ATOMIC_RELAXED);
        return;
    }
    /* only where a lane's sector is not its neighbour's */
    uint64_t fresh = 1;
    for (unsigned l = 1; l < WARP_LANES; l++)
        fresh |= s->address[l] / 32 != s->address[l - 1] / 32 ? (uint64_t)1 << l : 0;
    uint32_t first = s->mask & -s->mask, idle_before = ~(s->mask << 1);
    for (uint32_t m = s->mask & ((uint32_t)fresh | first | idle_before); m; m &= m - 1)
        __atomic_store_n(
            &b->touched[(s->address[__builtin_ctz(m)] - b->base) / 32], 1, __ATOMIC_RELAXED);
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
        touch(b, s);
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

static bool tell_access(struct worker *k, const struct warp *w, const struct spot *s, uint32_t pc,
    struct access_shape shape)
{
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
    struct access_shape shape = {0};
    pattern->matrices = s->matrices;
    if (k->counting && !param)
        count_access(k, pc, pattern, s->address, &shape);
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
    return !k->wants_access || param || tell_access(k, w, s, pc, shape);
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

/* --- data --- */

static uint64_t extended(const uint8_t *p, unsigned bytes, bool sign)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes);
    unsigned shift = 64 - 8 * bytes;
    return sign ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

static void load_odd(const struct inst *in, const struct spot *s, uint8_t *row, unsigned offset)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(s->mask >> l & 1))
            continue;
        uint64_t v = extended(host(s, l) + offset, in->elem_bytes, in->sign_extend);
        if (in->reg_bytes == 8)
            ((uint64_t *)row)[l] = v;
        else
            ((uint32_t *)row)[l] = in->reg_bytes == 2 ? (uint32_t)v & 0xffffu : (uint32_t)v;
    }
}

/* Through locals, so that the compiler knows that rows and addresses do not overlap. */
static void gather4(const struct spot *s, uint32_t *d, unsigned offset, bool one)
{
    const uintptr_t base = (uintptr_t)s->base + offset;
    const uint64_t *at = s->at;
    /* in local memory each lane has its own place whatever the addresses */
    bool groups = s->space != PTX_LOCAL && s->space != PTX_PARAM;
    for (unsigned g = 0; g < 4; g++, at += 8, d += 8) {
        unsigned kind = groups ? s->pattern->group[g] : ACCESS_OTHER;
        uint32_t v[8];
        if (kind == ACCESS_CONTIGUOUS && one) {
            memcpy(d, (const uint8_t *)(base + at[0]), sizeof(v));
            continue;
        }
        if (kind == ACCESS_UNIFORM) {
            memcpy(v, (const uint8_t *)(base + at[0]), 4);
            for (unsigned i = 0; i < 8; i++)
                d[i] = v[0];
            continue;
        }
        for (unsigned i = 0; i < 8; i++)
            memcpy(&v[i], (const uint8_t *)(base + at[i]), 4);
        memcpy(d, v, sizeof(v));
    }
}

static void load4(const struct spot *s, uint32_t *d, unsigned offset, bool one)
{
    if (s->kind == ACCESS_UNIFORM) {
        uint32_t v, mask = s->mask;
        memcpy(&v, host(s, (unsigned)__builtin_ctz(mask)) + offset, 4);
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = (mask >> l & 1) ? v : d[l];
    } else if (s->kind == ACCESS_CONTIGUOUS && s->mask == ~0u && one) {
        memcpy(d, host(s, 0), 4 * WARP_LANES);
    } else if (s->mask == ~0u) {
        gather4(s, d, offset, one);
    } else {
        for (uint32_t m = s->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            memcpy(&d[l], host(s, l) + offset, 4);
        }
    }
}

static void gather8(const struct spot *s, uint64_t *d, unsigned offset)
{
    const uintptr_t base = (uintptr_t)s->base + offset;
    const uint64_t *at = s->at;
    uint64_t v[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++)
        memcpy(&v[l], (const uint8_t *)(base + at[l]), 8);
    memcpy(d, v, sizeof(v));
}

static void load8(const struct spot *s, uint64_t *d, unsigned offset, bool one)
{
    if (s->kind == ACCESS_UNIFORM) {
        uint64_t v;
        uint32_t mask = s->mask;
        memcpy(&v, host(s, (unsigned)__builtin_ctz(mask)) + offset, 8);
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = (mask >> l & 1) ? v : d[l];
    } else if (s->kind == ACCESS_CONTIGUOUS && s->mask == ~0u && one) {
        memcpy(d, host(s, 0), 8 * WARP_LANES);
    } else if (s->mask == ~0u) {
        gather8(s, d, offset);
    } else {
        for (uint32_t m = s->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            memcpy(&d[l], host(s, l) + offset, 8);
        }
    }
}

static void load_data(const struct warp *w, const struct inst *in, const struct spot *s)
{
    for (unsigned e = 0; e < in->vec; e++) {
        if (in->rows[e] == NO_ROW)
            continue;
        uint8_t *row = w->file + in->rows[e];
        unsigned offset = e * in->elem_bytes;
        if (in->elem_bytes == 4 && in->reg_bytes == 4)
            load4(s, (uint32_t *)row, offset, in->vec == 1);
        else if (in->elem_bytes == 8)
            load8(s, (uint64_t *)row, offset, in->vec == 1);
        else
            load_odd(in, s, row, offset);
    }
}

static void store_data(const struct warp *w, const struct inst *in, const struct spot *s)
{
    for (unsigned e = 0; e < in->vec; e++) {
        const uint8_t *row = w->file + in->rows[e];
        unsigned offset = e * in->elem_bytes, stride = in->reg_bytes == 8 ? 8 : 4;
        if (s->kind == ACCESS_CONTIGUOUS && s->mask == ~0u && in->vec == 1 &&
            stride == in->elem_bytes) {
            memcpy(host(s, 0), row, (size_t)stride * WARP_LANES);
            continue;
        }
        for (uint32_t m = s->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (in->elem_bytes == 4)
                memcpy(host(s, l) + offset, row + (size_t)l * stride, 4);
            else
                memcpy(host(s, l) + offset, row + (size_t)l * stride, in->elem_bytes);
        }
    }
}

static void atomic_data(
    struct worker *k, const struct warp *w, const struct inst *in, const struct spot *s)
{
    unsigned stride = in->reg_bytes == 8 ? 8 : 4;
    for (uint32_t m = s->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t operand[2] = {0, 0}, old = 0;
        memcpy(&operand[0], w->file + in->b + (size_t)l * stride, stride);
        if (in->c != NO_ROW)
            memcpy(&operand[1], w->file + in->c + (size_t)l * stride, stride);
        atom_lane(in, host(s, l), operand, &old);
        if (!(in->flags & INST_NO_DEST))
            memcpy(w->file + in->d + (size_t)l * stride, &old, stride);
    }
    k->float_atomics |= k->program->float_atomics && in->sub == PTX_ATOM_ADD &&
                        ptx_type_is_float((enum ptx_type)in->type);
}

static void move_data(
    struct worker *k, const struct warp *w, const struct inst *in, const struct spot *s)
{
    if (in->kind == INST_LOAD)
        load_data(w, in, s);
    else if (in->kind == INST_STORE)
        store_data(w, in, s);
    else
        atomic_data(k, w, in, s);
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
    addresses(w->file, in->a, in->address32, in->imm, s.address);
    if (in->space == PTX_GENERIC)
        return access_generic(k, w, in, pc, &s);
    if (!place(k, w, &s, pc))
        return false;
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
        at[l] = (mask >> l & 1) ? host(&s, l) : NULL;
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
        memset(host(&to, l), 0, in->elem_bytes);
        if (nr)
            memcpy(host(&to, l), host(&from, l), nr);
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
