/* Private to emu/: what decode_video.c and sem_video.c agree on. inst->sub is the operation,
 * inst->elem_bytes the bytes of a part (4: the whole register), and inst->imm holds all the rest in
 * these bits. */
#ifndef KEET_EMU_STATE_VIDEO_H
#define KEET_EMU_STATE_VIDEO_H

#include "ptx/ptx.h"

enum video {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVRG,
    VIDEO_SET,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD
};

enum { /* bits */
    VIDEO_SIGNED_A = 1,
    VIDEO_SIGNED_B = 2,
    VIDEO_SIGNED_D = 4,
    VIDEO_PLUS_ONE = 8, /* vmad */
    VIDEO_MINUS_PRODUCT = 16,
    VIDEO_MINUS_C = 32
};
enum {                /* where they begin */
    VIDEO_SECOND = 6, /* 2 bits */
    VIDEO_CMP = 8,    /* 5: enum ptx_cmp */
    VIDEO_WRAP = 13,  /* 1: shifts */
    VIDEO_SCALE = 14, /* 4: places to the right, vmad */
    VIDEO_A = 18,     /* 3 each: parts; 0: the whole, 1-4: b0-b3, 5, 6: h0, h1 */
    VIDEO_B = 21,
    VIDEO_TO = 24,
    VIDEO_PICK_A = 27, /* 3 bits for each part from the lowest: which of a's and b's it is */
    VIDEO_PICK_B = 39,
    VIDEO_MASK = 51 /* 4: which parts are written, or summed */
};
enum { VIDEO_THEN_NOTHING, VIDEO_THEN_ADD, VIDEO_THEN_MIN, VIDEO_THEN_MAX };

#endif
