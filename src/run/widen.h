/* The original with double in place of float: what it computes without its rounding. The checker
 * asks for it where a difference may be rounding. */
#ifndef KEET_RUN_WIDEN_H
#define KEET_RUN_WIDEN_H

#include "check/check.h"
#include "compile/compile.h"

struct widen {
    struct compiler *compiler;
    const struct task *task;
};

/* A check_widen_f; owner: a struct widen. */
bool widen_original(
    void *owner, struct arena *arena, struct check_wide *wide, bool *found, struct err *err);

#endif
