/* Matrix instructions: mma.sync, wmma, ldmatrix, stmatrix, movmatrix. Private to emu/.
 *
 * inst->rows starts with a header (below), then the register rows of d, a, b, c in this order. What
 * mma keeps where is the layout of the PTX manual; wmma's fragments are opaque there, and here
 * hold, with n elements per lane, elements lane * n .. of the row-major matrix in order; registers
 * beyond are copies. */
#ifndef KEET_EMU_TENSOR_H
#define KEET_EMU_TENSOR_H

#include "emu/inst.h"

enum tensor_header {
    TENSOR_ND,
    TENSOR_NA,
    TENSOR_NB,
    TENSOR_NC, /* registers of each */
    TENSOR_M,
    TENSOR_N,
    TENSOR_K,
    TENSOR_TD,
    TENSOR_TA,
    TENSOR_TB,
    TENSOR_TC,   /* enum ptx_type */
    TENSOR_WHAT, /* enum tensor_what */
    TENSOR_FLAGS,
    TENSOR_ROWS /* the first register */
};

enum tensor_what {
    TENSOR_MMA,
    TENSOR_WMMA,
    TENSOR_MOVE,
    TENSOR_LDMATRIX,
    TENSOR_STMATRIX,
    TENSOR_WMMA_LOAD,
    TENSOR_WMMA_STORE
};
enum { TENSOR_TRANSPOSED = 1, TENSOR_SATURATE = 2 };

/* Which element of its matrix lane `lane` holds as the i-th of its own (counted through registers).
 */
struct tensor_place {
    unsigned row, col;
};
static inline struct tensor_place tensor_opaque(
    unsigned lane, unsigned i, unsigned elements, unsigned cols)
{
    unsigned each = elements / WARP_LANES, at = lane * each + i % each;
    return (struct tensor_place){at / cols, at % cols};
}

#endif
