/* Private to explain/: how the value of a register changes from lane to lane of a warp. */
#ifndef KEET_EXPLAIN_LANE_PATTERN_H
#define KEET_EXPLAIN_LANE_PATTERN_H

#include "base/arena.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stdint.h>

struct lane_pattern {
    enum {
        LANE_UNSET,  /* not known yet */
        LANE_SAME,   /* the same value in all lanes */
        LANE_LINEAR, /* `step` more from lane to lane */
        LANE_SCALED, /* a constant more from lane to lane; the constant is known only at run time */
        LANE_FREE    /* anything */
    } form;
    bool loaded; /* the value depends on a value loaded from global memory */
    int64_t step;
};

/* The patterns of all registers of a function, in arena memory, indexed by register. */
struct lane_pattern *lane_patterns(const struct ptx_func *func, struct arena *arena);
/* The pattern of an operand that is a value or an address; `regs` is what lane_patterns gave. */
struct lane_pattern lane_pattern_of(
    const struct lane_pattern *regs, const struct ptx_operand *operand);

#endif
