/* The kinds of operations that a task's `work` line counts, and that a chip has peak rates for. A
 * fused multiply-add is two operations; a special function (exponential, logarithm, sine, square
 * root, reciprocal) is one. WORK_FLOPS is `flops`, whose type follows from the arrays
 * (core/roofline.h). */
#ifndef KEET_CORE_WORK_H
#define KEET_CORE_WORK_H

#include <stdbool.h>

enum work {
    WORK_FLOPS,
    WORK_F64,
    WORK_F32,
    WORK_TF32,
    WORK_F16,
    WORK_BF16,
    WORK_FP8,
    WORK_INT8,
    WORK_INT32,
    WORK_SPECIAL,
    NR_WORKS
};

const char *work_name(enum work work); /* as on the `work` line: "flops", "f64_flops", ... */

bool work_find(const char *name, enum work *work);

#endif
