/* The closed loop: propose -> compile -> check -> profile -> explain -> store, until a stop. */
#ifndef KEET_RUN_LOOP_H
#define KEET_RUN_LOOP_H

#include "base/err.h"
#include "run/session.h"

#include <stdbool.h>

/* Called when a node is about to be tried (verdict not yet known), when the node is done, and when
 * the comparison at the timed sizes gave a node that led another outcome. */
struct loop_watcher {
    void (*trying)(
        struct loop_watcher *watcher, const struct session *s, const struct candidate *c);
    void (*done)(struct loop_watcher *watcher, const struct session *s, const struct candidate *c);
    void (*revised)(
        struct loop_watcher *watcher, const struct session *s, const struct candidate *c);
};

/* Runs to a stop; *why names it ("budget", "tokens", "cost", "converged", "roofline",
 * "exhausted", "interrupted"). */
bool loop_run(struct session *s, struct loop_watcher *watcher, const char **why, struct err *err);

/* Ask a running loop to stop after the node in hand. Safe in a signal handler. */
void loop_interrupt(void);
bool loop_interrupted(void);

#endif
