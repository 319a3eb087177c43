/* The fork server: a process that forks for us. We start the server while the program is small and
 * has one thread; the server then makes the child of each call. So any thread may call, whatever
 * locks other threads hold (a fork copies the locks of a sanitizer's allocator as they are), and a
 * call costs the same however large the program has become.
 *
 * Calls may run side by side. The server and its children end with fork_server_destroy, or when
 * this process dies. Usage:
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

/* The body that the child of a call runs, like the body of proc_call. `context` is as it was when
 * the server was created; `input` is the call's own bytes, with a NUL after the last. */
typedef int fork_server_body(int fd, const void *context, const void *input, size_t bytes);

/* The limits hold for each call; env_fd and stop must not be set. No argument is read after the
 * return. NULL with err: no process can be started. */
struct fork_server *fork_server_create(
    fork_server_body *body, const void *context, const struct proc_limits *limits, struct err *err);
void fork_server_destroy(struct fork_server *server);

/* Runs the body on the bytes in a child with limits. False with err: the server is gone, or could
 * not start a child, or proc_interrupt was called (base/proc.h): "interrupted", within some
 * milliseconds. */
bool fork_server_call(struct fork_server *server, const void *input, size_t bytes,
    struct proc_result *result, struct err *err);

#endif
