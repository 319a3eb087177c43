/* What a tensor instruction works on: fragments of matrices spread over a warp's registers. Private
 * to emu/. decode_tensor.c lays them out, sem_tensor.c multiplies, matrix.c loads and stores.
 *
 * A fragment is nr_regs registers per lane, each of per_reg elements, element 0 in the lowest bits.
 * Layouts of mma, ldmatrix and stmatrix: PTX ISA 9.0, 9.7.14. The manual leaves the layouts of wmma
 * open; here they are those of the chip since sm_80: the fragments of the mma.m16n8 tiles that make
 * up the shape. A fragment of A or B of f16 has more registers than the matrix needs: they hold the
 * matrix again.
 *
 * Results. The manual leaves order and rounding open for all types but f64, whose products are
 * fused and added in the order of k. f16, bf16 and tf32: as an H100 does it, sem/sums_cut.h.
 * mma.sync of eight bits: as f16, by the instructions that ptxas makes of it. wgmma of eight bits:
 * as an H100, too, whose sums of these keep 13 bits only. Integers are exact, and wrap or
 * clamp at the end.
 */
#ifndef KEET_EMU_STATE_TENSOR_H
#define KEET_EMU_STATE_TENSOR_H

#include "emu/state/inst.h"

enum { TENSOR_MAX_REGS = 8, TENSOR_MAX_ELEMENTS = 16 * 256 };

struct fragment {
    enum ptx_type type;
    uint8_t nr_regs, per_reg, bits; /* bits of an element */
    uint8_t reg_bytes;              /* 4 or 8 */
    uint16_t rows, cols;
    const uint32_t *row; /* nr_regs register rows */
    const uint16_t *at;  /* per register, element, lane: row * cols + column */
    bool by_columns;     /* of B: four lanes hold neighbours of a column, else of a row */
};

enum tensor_kind {
    TENSOR_MMA,
    TENSOR_MOVE,        /* movmatrix */
    TENSOR_MATRIX_LOAD, /* ldmatrix, stmatrix: 8x8 matrices, one per register */
    TENSOR_MATRIX_STORE,
    TENSOR_LOAD, /* wmma */
    TENSOR_STORE
};

/* wgmma.mma_async, PTX ISA 9.0, 9.7.15. Each of a warpgroup's four warps multiplies its 16 of the
 * 64 rows; with D and A in registers laid out as of mma.m16n8 tiles, the warps need nothing of each
 * other. A shared-memory operand is named by a descriptor, which wgmma.c explains. Sparse (.sp): A
 * has half of each row's elements, and the metadata of 32 bits a lane says which. */
struct wgmma {
    uint16_t n, k, depth; /* k: of B; depth: of A, k / 2 where A is sparse */
    enum ptx_type d, a, b;
    const uint32_t *d_row; /* nr_d registers */
    uint8_t nr_d, bits;    /* bits of an element of a and b */
    bool a_in_regs;
    uint32_t a_row[4];       /* registers of A */
    uint32_t a_desc, b_desc; /* 64-bit rows */
    uint32_t keeps;          /* predicate word: is the product added to d? */
    bool sparse;
    uint8_t selector; /* which pair of four lanes has the metadata */
    uint32_t meta;    /* its row */
    bool keeps_negated, negate_a, negate_b, trans_a, trans_b, satfinite;
};

/* A bulk copy (cp.async.bulk, cp.reduce.async.bulk) or tensor copy (with .tensor) by one thread:
 * exec/bulk.c, exec/tensor_copy.c. Tensor copies have the map in in->b, plain ones the global or
 * other shared address in in->a or in->b, and their bytes in in->c. */
struct bulk {
    enum ptx_space from, to;
    bool tensor, multicast, im2col;
    uint32_t mask; /* multicast: row of the ranks' mask */
    uint32_t bar;  /* row of the mbarrier's address, or NO_ROW */
    int64_t bar_imm;
    bool bar32;
    uint8_t nr_dims;
    uint32_t coordinate[5]; /* rows */
    uint32_t offset[3];     /* im2col loads: rows of 16 bits, of w, h, d; else NO_ROW */
    enum ptx_atom atom;     /* reductions */
    enum ptx_type type;
};

struct tensor {
    enum tensor_kind kind;
    uint16_t m, n, k;
    uint16_t step;              /* of floats: so many products are added at once */
    struct fragment d, a, b, c; /* loads and stores: d only */
    bool satfinite, xor_bits;   /* xor_bits: one-bit elements are combined by xor, else by and */
    bool trans;                 /* ldmatrix, stmatrix */
    /* wmma loads and stores. run: how many elements of a lane are neighbours in memory. Element
     * (row, column) lies at row * row_step + column * col_step, where one step is 1 and the other
     * is the stride. */
    uint8_t run;
    bool row_is_strided;
    uint32_t stride_row;  /* register row of the stride in elements */
    uint32_t nr_distinct; /* registers that are not repeats */
    bool by_8x8;          /* made of 8x8 matrices as ldmatrix loads them: a and b of 16 bits */
};

#endif
