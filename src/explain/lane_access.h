/* Private to explain/: how a register's value changes from lane to lane of a warp. */
#ifndef KEET_EXPLAIN_LANE_ACCESS_H
#define KEET_EXPLAIN_LANE_ACCESS_H

#include "base/arena.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdint.h>

struct lanes {
    enum {
        LANES_UNSET,
        LANES_SAME,   /* in all lanes */
        LANES_LINEAR, /* by `step` from lane to lane */
        LANES_SCALED, /* by an amount that is the same for all lanes, known at run time */
        LANES_FREE    /* anything */
    } form;
    bool loaded; /* follows from a value loaded from global memory */
    int64_t step;
};

/* One per register of the function. */
struct lanes *lanes_of(const struct ptx_func *func, struct arena *arena);
/* Of an operand that is a value or an address. */
struct lanes lanes_of_operand(const struct lanes *regs, const struct ptx_operand *operand);

#endif
