/* A process that forks for us. It is forked while the program is small and has one thread, waits,
 * and makes the child of each later call: so a call may come from any thread, whatever locks the
 * others hold (a sanitizer's allocator takes its own along into a fork), and costs the same however
 * large the program has become.
 *
 * Calls may run side by side. The nursery ends with its destroyer, or when this process dies; so do
 * the children. Usage:
 *
 *     struct proc_nursery *n = proc_nursery_create(body, context, &limits, err);
 *     if (!proc_nursery_call(n, bytes, len, &result, err))
 *         return false;
 *     ... as with proc_call (base/proc.h) ...
 *     proc_nursery_destroy(n);
 */
#ifndef KEET_BASE_FORK_SERVER_H
#define KEET_BASE_FORK_SERVER_H

#include "base/proc.h"

struct proc_nursery;

/* What a call's child runs: `context` as it was at the creation, the call's own bytes (NUL after
 * the last). Otherwise as the body of proc_call. */
typedef int proc_nursery_body(int fd, const void *context, const void *input, size_t bytes);

/* Limits hold for each call, env_fd and stop cannot be among them; nothing given here is read after
 * the return. NULL with err when no process can be started. */
struct proc_nursery *proc_nursery_create(proc_nursery_body *body, const void *context,
    const struct proc_limits *limits, struct err *err);
void proc_nursery_destroy(struct proc_nursery *nursery);

/* Run body on the bytes in a child with limits. False: the nursery is gone, or could not start one.
 */
bool proc_nursery_call(struct proc_nursery *nursery, const void *input, size_t bytes,
    struct proc_result *result, struct err *err);

#endif
