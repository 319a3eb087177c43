/* Private to check/: the sets of inputs on which candidates are compared with the original. */
#ifndef KEET_CHECK_CHECK_SETS_H
#define KEET_CHECK_CHECK_SETS_H

#include "core/inputs.h"
#include "core/task.h"

#include <stdbool.h>
#include <stdint.h>

/* The inputs of one run. */
struct input_set {
    enum input_style style;
    bool other_scalars; /* the scalars have other values than the task's */
    double scale;       /* of reals as declared */
    uint64_t seed;
};

static inline bool input_set_same(const struct input_set *a, const struct input_set *b)
{
    return a->style == b->style && a->other_scalars == b->other_scalars && a->scale == b->scale &&
           a->seed == b->seed;
}

/* Is it as declared, or declared times a scale? */
static inline bool input_set_is_usual(const struct input_set *set)
{
    return set->style == INPUT_DECLARED && !set->other_scalars;
}

/* A set beside the usual ones, at one shape. */
struct extra_set {
    enum input_style style;
    bool other_scalars;
    double scale; /* of declared inputs */
    unsigned shape;
    bool left_out; /* the original gives no finite numbers on it, or does not run cleanly */
};

#endif
