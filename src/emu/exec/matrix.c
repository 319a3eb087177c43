/* Owns the matrix instructions that touch memory, ldmatrix, stmatrix, wmma.load and wmma.store, and
 * the rule that all lanes of a warp must be there for a matrix instruction. */
#include "emu/exec/exec.h"
#include "emu/state/tensor.h"
#include "emu/state/windows.h"

#include <string.h>

static void addresses_of(const struct warp *w, const struct inst *in, uint64_t *out)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t base = in->address32 ? ((const uint32_t *)(w->file + in->a))[l]
                                      : ((const uint64_t *)(w->file + in->a))[l];
        out[l] = base + (uint64_t)in->imm;
    }
}

/* 8x8 matrices of 16-bit elements in nr registers: lane 8 i + r has the address of row r of matrix
 * i; a lane holds two neighbours of row lane / 4, of the transpose if asked. */
static bool move_8x8(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc,
    const uint64_t *address, const uint32_t *regs, unsigned nr, bool trans)
{
    const enum tensor_kind kind = in->tensor->kind;
    const bool store = kind == TENSOR_MATRIX_STORE || kind == TENSOR_STORE;
    const uint32_t mask = nr == 4 ? ~0u : (1u << 8 * nr) - 1;
    uint8_t *at[WARP_LANES];
    if (!access_lanes(k, w, pc, (enum ptx_space)in->space, mask, 16, store, address, at))
        return false;
    if (in->flags & INST_IDLE)
        return true;
    for (unsigned i = 0; i < nr; i++) {
        uint16_t *reg = (uint16_t *)(w->file + regs[i]);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            for (unsigned e = 0; e < 2; e++) {
                unsigned row = l / 4, col = l % 4 * 2 + e;
                uint8_t *p = at[8 * i + (trans ? col : row)] + 2 * (trans ? row : col);
                memcpy(store ? p : (uint8_t *)&reg[2 * l + e],
                    store ? (uint8_t *)&reg[2 * l + e] : p, 2);
            }
        }
    }
    return true;
}

/* Where an element of a wmma fragment lies, in bytes from the address of the matrix. Fragments have
 * 2^n columns. */
static inline uint64_t place_of(
    const struct tensor *t, const uint32_t *stride, unsigned lane, unsigned at)
{
    unsigned row = at >> __builtin_ctz(t->d.cols), col = at & (t->d.cols - 1u);
    uint64_t far = t->row_is_strided ? row : col, near = t->row_is_strided ? col : row;
    return (far * stride[lane] + near) * (t->d.bits / 8u);
}

/* The same of one element of every lane, on top of the lanes' addresses. */
static void places_of(const struct tensor *t, const uint32_t *stride, const uint16_t *at,
    const uint64_t *base, uint64_t *address)
{
    const unsigned cols = t->d.cols, shift = (unsigned)__builtin_ctz(cols), bytes = t->d.bits / 8u;
    const uint32_t row_is_strided = t->row_is_strided ? ~0u : 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        const uint32_t row = (uint32_t)at[l] >> shift, col = at[l] & (cols - 1u),
                       swap = (row ^ col) & row_is_strided, far = col ^ swap, near = row ^ swap;
        address[l] = base[l] + ((uint64_t)far * stride[l] + near) * bytes;
    }
}

static void repeat_registers(struct warp *w, const struct tensor *t)
{
    for (unsigned r = t->nr_distinct; r < t->d.nr_regs; r++)
        memcpy(w->file + t->d.row[r], w->file + t->d.row[r % t->nr_distinct],
            (size_t)WARP_LANES * t->d.reg_bytes);
}

/* 16-bit operands in shared memory: the assembler loads their 8x8 parts as ldmatrix does, up to
 * four at a time, transposed where the layout runs across the registers' pairs. */
static bool load_by_8x8(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc)
{
    const struct tensor *t = in->tensor;
    const uint32_t *stride = (const uint32_t *)(w->file + t->stride_row);
    const bool trans = t->run == 1;
    uint64_t base[WARP_LANES], address[WARP_LANES] = {0};
    addresses_of(w, in, base);
    for (unsigned first = 0; first < t->nr_distinct; first += 4) {
        unsigned nr = t->nr_distinct - first < 4 ? t->nr_distinct - first : 4;
        for (unsigned l = 0; l < 8 * nr; l++) {
            /* a lane that holds the row's first element, or, transposed, the column's */
            unsigned r = first + l / 8, j = l % 8, holder = trans ? j / 2 : 4 * j;
            unsigned i = r * 2 + (trans ? j % 2 : 0);
            address[l] = base[l] + place_of(t, stride, l, t->d.at[i * WARP_LANES + holder]);
        }
        if (!move_8x8(k, w, in, pc, address, t->d.row + first, nr, trans))
            return false;
    }
    repeat_registers(w, t);
    return true;
}

/* One element of every lane; `step`: from a lane's register to the next lane's. */
static inline __attribute__((always_inline)) void move_elements(uint8_t *mine, unsigned step,
    uint8_t *const *there, unsigned offset, unsigned bytes, bool store)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (store)
            memcpy(there[l] + offset, mine + (size_t)l * step, bytes);
        else
            memcpy(mine + (size_t)l * step, there[l] + offset, bytes);
    }
}

static void move_lanes(uint8_t *mine, unsigned step, uint8_t *const *there, unsigned offset,
    unsigned bytes, bool store)
{
    if (bytes == 4)
        move_elements(mine, 4, there, offset, 4, store);
    else if (bytes == 2)
        move_elements(mine, 4, there, offset, 2, store);
    else
        move_elements(mine, step, there, offset, bytes, store);
}

/* Each lane moves its own elements, neighbours in memory in one access. */
static bool move_fragment(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc)
{
    const struct tensor *t = in->tensor;
    const struct fragment *f = &t->d;
    const unsigned bytes = f->bits / 8u, step = t->run * bytes;
    const uint32_t *stride = (const uint32_t *)(w->file + t->stride_row);
    const bool store = t->kind == TENSOR_STORE;
    uint64_t base[WARP_LANES], address[WARP_LANES];
    addresses_of(w, in, base);
    for (unsigned i = 0; i < t->nr_distinct * f->per_reg; i += t->run) {
        uint8_t *at[WARP_LANES];
        places_of(t, stride, f->at + (size_t)i * WARP_LANES, base, address);
        if (!access_lanes(k, w, pc, (enum ptx_space)in->space, ~0u, step, store, address, at))
            return false;
        if (in->flags & INST_IDLE)
            continue;
        for (unsigned e = i; e < i + t->run; e++) {
            uint8_t *reg = w->file + f->row[e / f->per_reg] + e % f->per_reg * bytes;
            move_lanes(reg, f->reg_bytes, at, (e - i) * bytes, bytes, store);
        }
    }
    if (!store)
        repeat_registers(w, t);
    return true;
}

static bool is_shared(const struct warp *w, const struct inst *in)
{
    uint64_t address[WARP_LANES];
    if (in->space != PTX_GENERIC)
        return in->space == PTX_SHARED;
    addresses_of(w, in, address);
    return address[0] - WINDOW_SHARED < WINDOW_BYTES;
}

bool matrix_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const struct tensor *t = in->tensor;
    uint64_t address[WARP_LANES];
    if (mask != ~0u)
        return exec_fault(k, VERDICT_FAULT, pc,
            "%s in divergent code: lanes 0x%08x of warp %u are there, but all 32 must be; block "
            "(%u,%u,%u)",
            ptx_op_name(k->program->info[pc].ptx->op), mask, w->index, k->block.ctaid[0],
            k->block.ctaid[1], k->block.ctaid[2]);
    switch (t->kind) {
    case TENSOR_MMA:
    case TENSOR_MOVE:
        in->run(w->file, in, mask);
        return true;
    case TENSOR_MATRIX_LOAD:
    case TENSOR_MATRIX_STORE:
        addresses_of(w, in, address);
        return move_8x8(k, w, in, pc, address, t->d.row, t->d.nr_regs, t->trans);
    case TENSOR_LOAD:
        if (t->by_8x8 && is_shared(w, in))
            return load_by_8x8(k, w, in, pc);
        return move_fragment(k, w, in, pc);
    default:
        return move_fragment(k, w, in, pc);
    }
}
