/* Owns the matrix instructions that touch memory: ldmatrix, stmatrix, wmma.load, wmma.store. */
#include "emu/exec.h"
#include "emu/tensor.h"

#include <string.h>

static void addresses_of(const struct warp *w, const struct inst *in, uint64_t *out)
{
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t base = in->address32 ? ((const uint32_t *)(w->file + in->a))[l]
                                      : ((const uint64_t *)(w->file + in->a))[l];
        out[l] = base + (uint64_t)in->imm;
    }
}

/* 8x8 matrices of 16-bit elements: lane 8 i + r gives the address of row r of matrix i; a lane
 * holds two neighbours of row lane / 4, of the transpose if asked. */
static bool move_8x8(struct worker *k, struct warp *w, const struct inst *in, uint32_t pc)
{
    const uint32_t *h = in->rows, *regs = h + TENSOR_ROWS;
    bool store = h[TENSOR_WHAT] == TENSOR_STMATRIX, turned = h[TENSOR_FLAGS] & TENSOR_TRANSPOSED;
    unsigned nr = h[TENSOR_ND];
    uint64_t address[WARP_LANES];
    uint8_t *at[WARP_LANES];
    uint32_t mask = nr == 4 ? ~0u : (1u << 8 * nr) - 1;
    addresses_of(w, in, address);
    if (!access_lanes(k, w, pc, (enum ptx_space)in->space, mask, 16, store, address, at))
        return false;
    for (unsigned i = 0; i < nr; i++) {
        if (regs[i] == NO_ROW)
            continue;
        uint16_t *reg = (uint16_t *)(w->file + regs[i]);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            for (unsigned j = 0; j < 2; j++) {
                unsigned row = l / 4, col = l % 4 * 2 + j;
                uint8_t *p = at[8 * i + (turned ? col : row)] + 2 * (turned ? row : col);
                if (store)
                    memcpy(p, &reg[2 * l + j], 2);
                else
                    memcpy(&reg[2 * l + j], p, 2);
            }
        }
    }
    return true;
}

enum { CHUNK = 16, MOST_BYTES = 32 * 16 * 4 };

/* The matrix as it lies in memory: `outer` stretches of `inner` elements, `stride` elements apart,
 * moved in chunks of 16 bytes, one per lane and request. */
static bool move_chunks(struct worker *k, struct warp *w, const struct inst *in, uint32_t pc,
    unsigned outer, unsigned inner_bytes, uint64_t stride_bytes, bool store, uint8_t *data)
{
    unsigned per = inner_bytes / CHUNK, nr = outer * per;
    uint64_t base[WARP_LANES], address[WARP_LANES];
    uint8_t *at[WARP_LANES];
    addresses_of(w, in, base);
    for (unsigned first = 0; first < nr; first += WARP_LANES) {
        uint32_t mask = nr - first >= WARP_LANES ? ~0u : (1u << (nr - first)) - 1;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            unsigned chunk = first + l;
            address[l] = base[0] + chunk / per * stride_bytes + (uint64_t)(chunk % per) * CHUNK;
        }
        if (!access_lanes(k, w, pc, (enum ptx_space)in->space, mask, CHUNK, store, address, at))
            return false;
        for (uint32_t m = mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (store)
                memcpy(at[l], data + (size_t)(first + l) * CHUNK, CHUNK);
            else
                memcpy(data + (size_t)(first + l) * CHUNK, at[l], CHUNK);
        }
    }
    return true;
}

static bool move_fragment(struct worker *k, struct warp *w, const struct inst *in, uint32_t pc)
{
    const uint32_t *h = in->rows, *regs = h + TENSOR_ROWS;
    bool store = h[TENSOR_WHAT] == TENSOR_WMMA_STORE, by_cols = h[TENSOR_FLAGS] & TENSOR_TRANSPOSED;
    unsigned rows = h[TENSOR_M], cols = h[TENSOR_N], bytes = in->elem_bytes;
    unsigned inner = by_cols ? rows : cols, outer = by_cols ? cols : rows, each = 4 / bytes;
    unsigned own = rows * cols / WARP_LANES, slots = h[TENSOR_ND] * each;
    uint64_t stride = in->b == NO_ROW ? inner : ((const uint32_t *)(w->file + in->b))[0];
    uint8_t data[MOST_BYTES];
    if (!store && !move_chunks(k, w, in, pc, outer, inner * bytes, stride * bytes, false, data))
        return false;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        for (unsigned i = 0; i < (store ? own : slots); i++) {
            struct tensor_place at = tensor_opaque(l, i, rows * cols, cols);
            size_t where =
                by_cols ? (size_t)at.col * inner + at.row : (size_t)at.row * inner + at.col;
            uint8_t *reg = w->file + regs[i / each] + 4 * l + i % each * bytes;
            if (store)
                memcpy(data + where * bytes, reg, bytes);
            else
                memcpy(reg, data + where * bytes, bytes);
        }
    }
    return !store || move_chunks(k, w, in, pc, outer, inner * bytes, stride * bytes, true, data);
}

bool matrix_memory(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    if (mask != ~0u)
        return exec_fault(k, VERDICT_FAULT, pc,
            "matrix instruction in divergent code: lanes 0x%08x only; warp %u of block (%u,%u,%u)",
            mask, w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    bool small =
        in->rows[TENSOR_WHAT] == TENSOR_LDMATRIX || in->rows[TENSOR_WHAT] == TENSOR_STMATRIX;
    return small ? move_8x8(k, w, in, pc) : move_fragment(k, w, in, pc);
}
