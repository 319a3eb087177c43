/* Private to emu/: what decode and sem_video.c agree on. inst->sub is the operation, inst->imm all
 * the rest, in these bits. */
#ifndef KEET_EMU_STATE_VIDEO_H
#define KEET_EMU_STATE_VIDEO_H

#include "ptx/ptx.h"

#include <stddef.h>

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

struct video_op {
    enum ptx_op op;
    enum video what;
    unsigned parts; /* 1: scalar */
};

static inline const struct video_op *video_op(enum ptx_op op)
{
    static const struct video_op ops[] = {{PTX_OP_VADD, VIDEO_ADD, 1}, {PTX_OP_VSUB, VIDEO_SUB, 1},
        {PTX_OP_VABSDIFF, VIDEO_ABSDIFF, 1}, {PTX_OP_VMIN, VIDEO_MIN, 1},
        {PTX_OP_VMAX, VIDEO_MAX, 1}, {PTX_OP_VSET, VIDEO_SET, 1}, {PTX_OP_VSHL, VIDEO_SHL, 1},
        {PTX_OP_VSHR, VIDEO_SHR, 1}, {PTX_OP_VMAD, VIDEO_MAD, 1}, {PTX_OP_VADD2, VIDEO_ADD, 2},
        {PTX_OP_VADD4, VIDEO_ADD, 4}, {PTX_OP_VSUB2, VIDEO_SUB, 2}, {PTX_OP_VSUB4, VIDEO_SUB, 4},
        {PTX_OP_VABSDIFF2, VIDEO_ABSDIFF, 2}, {PTX_OP_VABSDIFF4, VIDEO_ABSDIFF, 4},
        {PTX_OP_VMIN2, VIDEO_MIN, 2}, {PTX_OP_VMIN4, VIDEO_MIN, 4}, {PTX_OP_VMAX2, VIDEO_MAX, 2},
        {PTX_OP_VMAX4, VIDEO_MAX, 4}, {PTX_OP_VAVRG2, VIDEO_AVRG, 2},
        {PTX_OP_VAVRG4, VIDEO_AVRG, 4}, {PTX_OP_VSET2, VIDEO_SET, 2}, {PTX_OP_VSET4, VIDEO_SET, 4}};
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        if (ops[i].op == op)
            return &ops[i];
    }
    return NULL;
}

#endif
