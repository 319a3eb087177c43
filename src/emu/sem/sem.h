/* Finds the loop that carries out a PTX operation on 32 lanes, for the best instruction set that
 * this machine has. Private to emu/. The inst's operands are described at each sem file. */
#ifndef KEET_EMU_SEM_SEM_H
#define KEET_EMU_SEM_SEM_H

#include "emu/state/inst.h"

/* NULL: there is no loop. May set in->sub, in->imm. */
sem_fn *sem_find(const struct ptx_inst *ptx, struct inst *in);

/* For tests: use this set from now on instead of the best. False: the machine lacks the set. Not
 * while launches run; modules decoded before keep their loops. */
enum sem_isa { SEM_BASE, SEM_AVX2, SEM_AVX512 };
bool sem_use(enum sem_isa isa);

/* Moves between register widths and packs, for decode. */
enum sem_move {
    SEM_COPY32,
    SEM_COPY64,
    SEM_COPY_PRED,
    SEM_COPY16,      /* COPY16 masks to 16 bits */
    SEM_NARROW64_32, /* low half of a 64-bit row */
    SEM_WIDEN32_64,  /* zero-extends */
    SEM_WIDEN32_64_SIGNED,
    SEM_WIDEN16_32_SIGNED,
    SEM_PACK8X2_16,
    SEM_PACK16X2_32,
    SEM_PACK32X2_64,
    SEM_PACK16X4_64,
    SEM_PACK8X4_32, /* in->rows: sources */
    SEM_UNPACK16_8X2,
    SEM_UNPACK32_16X2,
    SEM_UNPACK64_32X2,
    SEM_UNPACK64_16X4,
    SEM_UNPACK32_8X4, /* in->rows: destinations,
 NO_ROW skipped */
    SEM_SELECT_PAIR,  /* words a, b choose imm or 0 in the low and high half */
    NR_SEM_MOVES
};
sem_fn *sem_move(enum sem_move move);

#endif
