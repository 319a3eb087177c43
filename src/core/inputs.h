/* Deterministic contents for arrays. The same (generator, seed, index) gives the same value on
 * every machine and in any order. */
#ifndef KEET_CORE_INPUTS_H
#define KEET_CORE_INPUTS_H

#include "core/task.h"

/* Fill nr elements. scale multiplies real-valued generators (uniform, normal) only: indices and
 * counts keep their meaning. `folder` is where file("x.npy") is looked up. */
bool inputs_fill(const struct task_array *array, const struct env *env, const char *folder,
    uint64_t seed, double scale, void *elems, uint64_t nr, struct err *err);

#endif
