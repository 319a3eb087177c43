/* Owns tensor copies (cp.async.bulk.tensor): a box of an array in global memory, as a tensor map
 * describes it, to or from shared memory, where the box lies dense and perhaps swizzled.
 *
 * The box begins at the coordinates that the instruction gives, innermost first; every step-th
 * element of it is copied. What lies outside of the array becomes zeros or NaN, and is not written.
 * PTX ISA 9.0, 5.5. Some things are as an H100 does them, and the manual says nothing of them: a
 * swizzled row begins a swizzle's width behind the one before, however short it is; the NaN is
 * 0x7ff7 in each two bytes, whatever the type; a load or a store that does not begin at a multiple
 * of 16 bytes of its row is an illegal instruction, and so is a store of at most three dimensions
 * that begins at a negative coordinate of its row (reductions take both). */
#include "core/tensor_map.h"
#include "emu/exec/copy.h"
#include "emu/state/tensor.h"
#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <string.h>

enum { CHUNK = 16, SECTOR = 32, LINE = 128, SMEM_ALIGN = 128, MOST_ROW = 256 * 8 };

struct boxes {
    struct tensor_map map;
    int32_t origin[TENSOR_MAP_DIMS];
    uint16_t offset[TENSOR_MAP_PIXEL_DIMS]; /* im2col: from a pixel to what is copied */
    uint32_t extent[TENSOR_MAP_DIMS]; /* elements of the box that are copied, along each axis */
    unsigned each;                    /* bytes of an element */
    uint32_t row_bytes, nr_rows;
    uint32_t pitch; /* bytes from one row to the next in shared memory */
    struct mem_buffer *buffer;
    bool loads;
};

/* One innermost row of the box: the elements from first to end are inside of the array. */
struct box_row {
    uint64_t address; /* of element 0, which may be outside */
    uint32_t first, end;
};

static bool wrong(const struct copy *c, const char *what)
{
    char who[WHERE_BYTES];
    where_thread(&c->k->exec->run, c->k->block.index, c->w->index * WARP_LANES + c->lane, who);
    return exec_fault(c->k, VERDICT_FAULT, c->pc, "tensor copy: %s, by %s", what, who);
}

static bool read_map(const struct copy *c, struct boxes *b)
{
    const struct inst *in = c->in;
    const uint64_t at = b->loads ? copy_address(c, in->b, in->sub, (int32_t)in->target, PTX_GENERIC)
                                 : copy_address(c, in->a, in->address32, in->imm, PTX_GENERIC);
    const struct mem_buffer *m = memory_find(c->k->memory, at, TENSOR_MAP_BYTES);
    if (!m)
        return wrong(c, "the address of the tensor map is in no buffer and no parameter");
    if (at % 64)
        return wrong(c, "the tensor map is not aligned to 64 bytes");
    if (!tensor_map_decode(&b->map, m->host + (at - m->base)))
        return wrong(c, "the 128 bytes are no tensor map, as cuTensorMapEncodeTiled makes it");
    if (b->map.im2col != in->bulk->im2col)
        return wrong(c, b->map.im2col ? "the tensor map is one of im2col, the copy one of tiles"
                                      : "the tensor map is one of tiles, the copy one of im2col");
    return b->map.nr_dims == in->bulk->nr_dims ||
           wrong(c, "the tensor map has another number of dimensions");
}

static void measure(struct copy *c, struct boxes *b)
{
    b->nr_rows = 1;
    b->each = tensor_map_type_bytes(b->map.type);
    for (unsigned d = 0; d < b->map.nr_dims; d++) {
        b->extent[d] = tensor_map_box(&b->map, d);
        b->nr_rows *= d > 0 ? b->extent[d] : 1;
        b->origin[d] = ((const int32_t *)(c->w->file + c->in->bulk->coordinate[d]))[c->lane];
    }
    for (unsigned d = 0; d < TENSOR_MAP_PIXEL_DIMS; d++) {
        const uint32_t row = c->in->bulk->offset[d];
        b->offset[d] =
            row == NO_ROW ? 0 : (uint16_t)((const uint32_t *)(c->w->file + row))[c->lane];
    }
    b->row_bytes = b->extent[0] * b->each;
    b->pitch = b->map.swizzle ? (uint32_t)CHUNK << b->map.swizzle : b->row_bytes;
    c->bytes = b->nr_rows * b->pitch;
    c->moved = b->nr_rows * b->row_bytes;
}

static struct box_row row_at(const struct boxes *b, uint32_t number)
{
    const struct tensor_map *m = &b->map;
    const int64_t x = b->origin[0], left = (int64_t)m->size[0] - x;
    struct box_row r = {.address = m->address, .end = b->extent[0]};
    int64_t at[TENSOR_MAP_DIMS];
    for (unsigned d = 1; d < m->nr_dims; d++) {
        at[d] = b->origin[d];
        if (m->im2col)
            continue;
        at[d] += (int64_t)(number % b->extent[d]) * m->step[d];
        number /= b->extent[d];
    }
    if (m->im2col)
        tensor_map_pixel(m, number, at);
    for (unsigned d = 1; d < m->nr_dims; d++) {
        if (m->im2col && d < m->nr_dims - 1u)
            at[d] += b->offset[d - 1];
        r.address += (uint64_t)at[d] * m->stride_bytes[d];
        if (at[d] < 0 || (uint64_t)at[d] >= m->size[d])
            r.end = 0;
    }
    r.address += (uint64_t)(x * (int64_t)b->each);
    r.first = x < 0 ? (uint32_t)-x : 0;
    if (left < (int64_t)r.end)
        r.end = left < 0 ? 0 : (uint32_t)left;
    r.end = r.end > r.first ? r.end : r.first;
    return r;
}

/* --- global memory: counts and listeners --- */

/* The bytes of the array between a row's first and last element. */
static uint64_t span(const struct boxes *b, const struct box_row *r, uint64_t *from)
{
    *from = r->address + (uint64_t)r->first * b->each;
    return (uint64_t)(r->end - r->first) * b->each;
}

static void count(const struct copy *c, const struct boxes *b, const struct box_row *r)
{
    struct pc_count *n = &c->k->counts[c->pc];
    uint64_t from;
    const uint64_t bytes = span(b, r, &from), end = from + bytes - 1;
    if (bytes == 0)
        return;
    n->global_bytes += bytes;
    n->bytes += bytes;
    n->sectors += end / SECTOR - from / SECTOR + 1;
    n->sectors_ideal += (bytes + SECTOR - 1) / SECTOR;
    n->lines += end / LINE - from / LINE + 1;
    n->data_wavefronts += (bytes + LINE - 1) / LINE;
    if (b->loads)
        memory_note_load(b->buffer);
    for (uint64_t i = (from - b->buffer->base) / SECTOR; i <= (end - b->buffer->base) / SECTOR; i++)
        __atomic_store_n(&b->buffer->touched[i], 1, __ATOMIC_RELAXED);
}

/* Listeners hear of up to 32 rows of one length as of an access by so many lanes. */
struct told {
    uint64_t address[WARP_LANES];
    unsigned nr;
    uint64_t bytes;
};

static bool tell(const struct copy *c, const struct boxes *b, struct told *t)
{
    struct emu_access access = {.warp = c->w->index,
        .pc = c->pc,
        .mask = t->nr == WARP_LANES ? ~0u : (1u << t->nr) - 1,
        .space = PTX_GLOBAL,
        .is_write = !b->loads,
        .is_atomic = c->in->bulk->atom != PTX_ATOM_NONE,
        .bytes = (unsigned)t->bytes,
        .address = t->address,
        .kind = ACCESS_OTHER,
        .lo = UINT64_MAX,
        .file = c->w->file};
    if (t->nr == 0)
        return true;
    for (unsigned i = 0; i < t->nr; i++) {
        const uint64_t at = t->address[i], end = at + t->bytes - 1;
        access.lo = at < access.lo ? at : access.lo;
        access.hi = at > access.hi ? at : access.hi;
        access.sectors += (unsigned)(end / SECTOR - at / SECTOR + 1);
        access.lines += (unsigned)(end / LINE - at / LINE + 1);
    }
    access.ideal = (unsigned)((t->bytes + SECTOR - 1) / SECTOR) * t->nr;
    access.data = (unsigned)((t->bytes + LINE - 1) / LINE) * t->nr;
    access.blocks = (unsigned)__builtin_popcount(copy_ranks(c));
    t->nr = 0;
    if (access.blocks > 0)
        exec_tell_received(c->k, copy_ranks(c), &access);
    return exec_tell_access(c->k, &access);
}

static bool note_rows(const struct copy *c, const struct boxes *b)
{
    struct told t = {.nr = 0};
    if (c->k->counting) {
        c->k->counts[c->pc].requests++;
        c->k->counts[c->pc].global++;
    }
    for (uint32_t i = 0; i < b->nr_rows; i++) {
        const struct box_row r = row_at(b, i);
        uint64_t from;
        const uint64_t bytes = span(b, &r, &from);
        if (bytes == 0)
            continue;
        if (c->k->counting)
            count(c, b, &r);
        if (!c->k->wants_access)
            continue;
        if ((t.nr == WARP_LANES || t.bytes != bytes) && !tell(c, b, &t))
            return false;
        t.bytes = bytes;
        t.address[t.nr++] = from;
    }
    return tell(c, b, &t);
}

/* All rows that are inside of the array must be inside of one buffer. */
static bool find_buffer(const struct copy *c, struct boxes *b)
{
    uint64_t lo = UINT64_MAX, hi = 0, from;
    for (uint32_t i = 0; i < b->nr_rows; i++) {
        const struct box_row r = row_at(b, i);
        const uint64_t bytes = span(b, &r, &from);
        lo = bytes && from < lo ? from : lo;
        hi = bytes && from + bytes > hi ? from + bytes : hi;
    }
    if (lo > hi) /* all of the box is outside */
        return true;
    b->buffer = memory_find(c->k->memory, lo, hi - lo);
    if (!b->buffer || (b->buffer->constant && !b->loads)) {
        struct copy part = *c;
        const struct copy_side side = {.space = PTX_GLOBAL, .is_write = !b->loads, .address = lo};
        part.bytes = (uint32_t)(hi - lo);
        return copy_wrong(&part, &side, "out of bounds: the tensor map is larger than its array");
    }
    sums_end(c->k, b->buffer);
    if (!b->loads)
        memory_note_store(b->buffer);
    return true;
}

/* --- the data --- */

/* Moves 16-byte chunks between a dense row and its place in shared memory. */
static void swizzle_row(
    const struct boxes *b, uint8_t *smem, uint32_t base, uint32_t at, uint8_t *dense, bool to_smem)
{
    for (uint32_t i = 0; i < b->row_bytes; i += CHUNK) {
        uint8_t *there = smem + tensor_map_swizzled(b->map.swizzle, base + at + i) - base;
        memcpy(to_smem ? there : dense + i, to_smem ? dense + i : there, CHUNK);
    }
}

static void fill(const struct boxes *b, uint8_t *dense)
{
    const uint16_t with = b->map.fill ? 0x7ff7 : 0;
    for (uint32_t i = 0; i < b->row_bytes; i += sizeof(with))
        memcpy(dense + i, &with, sizeof(with));
}

static uint8_t *element(const struct boxes *b, const struct box_row *r, uint32_t i)
{
    const uint64_t at = r->address + (uint64_t)i * b->each;
    return b->buffer->host + (at - b->buffer->base);
}

static bool load_box(const struct copy *c, struct copy_side *to, void *context)
{
    const struct boxes *b = context;
    uint8_t dense[MOST_ROW];
    for (uint32_t i = 0; i < b->nr_rows; i++) {
        const struct box_row r = row_at(b, i);
        if (r.end - r.first < b->extent[0])
            fill(b, dense);
        if (r.end > r.first)
            memcpy(dense + (size_t)r.first * b->each, element(b, &r, r.first),
                (size_t)(r.end - r.first) * b->each);
        swizzle_row(b, to->host, (uint32_t)to->address, i * b->pitch, dense, true);
    }
    (void)c;
    return true;
}

/* The type in which a reduction adds, by the map. */
static enum ptx_type type_of(const struct boxes *b)
{
    static const uint8_t types[NR_TENSOR_MAP_TYPES] = {PTX_U8, PTX_U16, PTX_U32, PTX_S32, PTX_U64,
        PTX_S64, PTX_F16, PTX_F32, PTX_F64, PTX_BF16, PTX_F32, PTX_F32, PTX_F32};
    return (enum ptx_type)types[b->map.type];
}

static void store_box(const struct copy *c, const struct copy_side *from, const struct boxes *b)
{
    const enum ptx_atom atom = c->in->bulk->atom;
    const struct inst in = {
        .sub = (uint8_t)atom, .type = (uint8_t)type_of(b), .elem_bytes = (uint8_t)b->each};
    uint8_t dense[MOST_ROW];
    for (uint32_t i = 0; i < b->nr_rows; i++) {
        const struct box_row r = row_at(b, i);
        swizzle_row(b, from->host, (uint32_t)from->address, i * b->pitch, dense, false);
        for (uint32_t e = r.first; e < r.end; e++) {
            uint64_t operand[2] = {0}, old;
            memcpy(operand, dense + (size_t)e * b->each, b->each);
            if (atom)
                atom_lane(&in, element(b, &r, e), operand, &old, c->k->alone ? ATOM_ALONE : 0);
            else
                memcpy(element(b, &r, e), operand, b->each);
        }
    }
}

bool tensor_copy(struct copy *c)
{
    const struct inst *in = c->in;
    struct boxes b = {.loads = in->bulk->to == PTX_SHARED};
    struct copy_side smem = {.space = PTX_SHARED, .is_write = b.loads};
    smem.address = b.loads ? copy_address(c, in->a, in->address32, in->imm, PTX_SHARED)
                           : copy_address(c, in->b, in->sub, (int32_t)in->target, PTX_SHARED);
    if (!read_map(c, &b))
        return false;
    measure(c, &b);
    if (smem.address % SMEM_ALIGN)
        return copy_wrong(c, &smem, "misaligned: a tensor copy needs 128 bytes");
    const bool plain = !in->bulk->atom;
    if (plain && (int64_t)b.origin[0] * b.each % CHUNK)
        return wrong(c, "the first coordinate is no multiple of 16 bytes");
    if (plain && !b.loads && b.origin[0] < 0 && b.map.nr_dims <= 3)
        return wrong(c, "a store begins at a negative coordinate of its row");
    if (!find_buffer(c, &b) || !note_rows(c, &b))
        return false;
    if (b.loads)
        return copy_to_all(c, &smem, load_box, &b);
    if (!copy_find(c, &smem) || !copy_note(c, &smem))
        return false;
    store_box(c, &smem, &b);
    return true;
}

/* --- tensor maps that kernels change --- */

/* 128 bytes at the address that a row has, in global or shared memory. NULL: a fault. */
static uint8_t *map_at(const struct copy *c, uint32_t row, bool is32, int64_t imm, bool write)
{
    const uint64_t at = copy_address(c, row, is32, imm, PTX_GENERIC), shared = at - WINDOW_SHARED;
    struct copy_side side = {.space = PTX_GLOBAL, .is_write = write, .address = at};
    if (is32 || c->in->space == PTX_SHARED || shared < WINDOW_BYTES) {
        side.space = PTX_SHARED;
        side.address = shared < WINDOW_BYTES ? shared : at;
    }
    if (!copy_find(c, &side) || !copy_note(c, &side))
        return NULL;
    return side.host;
}

bool tensor_map_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    for (uint32_t m = mask; m; m &= m - 1) {
        struct copy c = {.k = k,
            .w = w,
            .in = in,
            .pc = pc,
            .lane = (unsigned)__builtin_ctz(m),
            .bytes = TENSOR_MAP_BYTES};
        uint8_t *to = map_at(&c, in->a, in->address32, in->imm, true);
        if (!to)
            return false;
        if (in->sub == NR_TENSOR_MAP_FIELDS) { /* the whole warp copies once */
            struct inst from = *in;
            from.space = PTX_GENERIC;
            c.in = &from;
            const uint8_t *map =
                map_at(&c, in->b, ((const uint32_t *)(w->file + in->c))[0], 0, false);
            if (map)
                memcpy(to, map, TENSOR_MAP_BYTES);
            return map != NULL;
        }
        const bool wide = in->sub == TENSOR_MAP_ADDRESS || in->sub == TENSOR_MAP_STRIDE;
        const uint64_t value = wide ? ((const uint64_t *)(w->file + in->c))[c.lane]
                                    : ((const uint32_t *)(w->file + in->c))[c.lane];
        if (!tensor_map_replace(to, (enum tensor_map_field)in->sub,
                ((const uint32_t *)(w->file + in->b))[c.lane], value))
            return wrong(&c, "the 128 bytes are no tensor map, or it has no such dimension");
    }
    return true;
}
