/* Deterministic contents for arrays. The same (generator, seed, index) gives the same value on
 * every machine and in any order. */
#ifndef KEET_CORE_INPUTS_H
#define KEET_CORE_INPUTS_H

#include "core/task.h"

/* Fills nr elements. `scale` multiplies the values of real generators (uniform, normal) only, so
 * that indices and counts keep their meaning. file("x.npy") is looked up in `folder`. */
bool inputs_fill(const struct task_array *array, const struct env *env, const char *folder,
    uint64_t seed, double scale, void *elems, uint64_t nr, struct err *err);

#endif
