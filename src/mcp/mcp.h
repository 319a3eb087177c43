/* keet-opt as a server of the Model Context Protocol over standard input and output, for coding
 * agents: https://modelcontextprotocol.io/specification/2026-07-28. A line is a message.
 *
 * Served are revision 2026-07-28, where each request says its version, and for older clients the
 * revisions from 2024-11-05 to 2025-11-25, which begin with `initialize`. A client may mix both.
 *
 * A call of a tool is a verb of this program in a process of its own, so that calls run side by
 * side, are cancelled, and end at their time limit, while the server answers. That process may read
 * and write below one folder only, and read what belongs to the program and to CUDA
 * (sandbox_within). Paths in arguments are looked at before, links followed, so that the answer
 * says what is wrong. */
#ifndef KEET_MCP_MCP_H
#define KEET_MCP_MCP_H

#include "base/err.h"

#include <stdbool.h>

struct mcp_options {
    const char *folder;          /* that is served; NULL: the current one */
    const char *const *words;    /* for each verb that uses a device, ended by NULL */
    const char *const *readable; /* beside the folder: CUDA, CUTLASS; ended by NULL */
    const char *const *writable; /* the cache; ended by NULL */
    const char *version;         /* of the program */
    unsigned jobs;               /* calls at once; 0: two */
};

/* Serves until standard input ends, or mcp_interrupt. Calls under way are then ended. False: the
 * folder cannot be served, or standard output broke. */
bool mcp_serve(const struct mcp_options *options, struct err *err);

/* Safe in a signal handler. */
void mcp_interrupt(void);

#endif
