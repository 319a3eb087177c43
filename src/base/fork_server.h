/* A process that forks for us. It is forked while the program is small and has one thread, waits,
 * and makes the child of each later call: so a call may come from any thread, whatever locks the
 * others hold (a sanitizer's allocator takes its own along into a fork), and costs the same however
 * large the program has become.
 *
 * Calls may run side by side. The server ends with its destroyer, or when this process dies; so do
 * the children. Usage:
 *
 *     struct fork_server *server = fork_server_create(body, context, &limits, err);
 *     if (!fork_server_call(server, bytes, len, &result, err))
 *         return false;
 *     ... as with proc_call (base/proc.h) ...
 *     fork_server_destroy(server);
 */
#ifndef KEET_BASE_FORK_SERVER_H
#define KEET_BASE_FORK_SERVER_H

#include "base/proc.h"

struct fork_server;

/* What a call's child runs: `context` as it was at the creation, the call's own bytes (NUL after
 * the last). Otherwise as the body of proc_call. */
typedef int fork_server_body(int fd, const void *context, const void *input, size_t bytes);

/* Limits hold for each call, env_fd and stop cannot be among them; nothing given here is read after
 * the return. NULL with err when no process can be started. */
struct fork_server *fork_server_create(
    fork_server_body *body, const void *context, const struct proc_limits *limits, struct err *err);
void fork_server_destroy(struct fork_server *server);

/* Run body on the bytes in a child with limits. False: the server is gone, or could not start one.
 */
bool fork_server_call(struct fork_server *server, const void *input, size_t bytes,
    struct proc_result *result, struct err *err);

#endif
