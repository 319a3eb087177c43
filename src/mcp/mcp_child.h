/* A verb of this program in a process of its own, confined to the served folder. Its output is
 * collected while the server goes on: no function here waits. */
#ifndef KEET_MCP_MCP_CHILD_H
#define KEET_MCP_MCP_CHILD_H

#include "base/err.h"
#include "base/str.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

enum { MCP_MOST_OUTPUT_BYTES = 16 << 20 };

struct mcp_child {
    pid_t pid;  /* 0: there is none */
    int fds[2]; /* what it writes to stdout and stderr; -1: ended */
    struct str output, errors;
    bool ended, too_much; /* more output than that: it was killed */
    int status;           /* as waitpid gives it */
};

/* What the process may touch. All end with NULL. */
struct mcp_cage {
    const char *root;    /* its working directory, to read and write */
    const char *scratch; /* its folder for temporary files */
    const char *const *readable, *const *writable;
};

/* argv[0] is the program's path, followed by the verb. False: no process could be started. */
bool mcp_child_start(
    struct mcp_child *child, const char *const *argv, const struct mcp_cage *cage, struct err *err);

/* Adds the descriptors to wait for; returns their number, at most 2. */
unsigned mcp_child_poll(const struct mcp_child *child, struct pollfd *fds);

/* Takes what the process has written. True: it has ended, with all that it started. */
bool mcp_child_look(struct mcp_child *child);

void mcp_child_interrupt(struct mcp_child *child); /* it may end neatly */
void mcp_child_kill(struct mcp_child *child);      /* with all that it started */

/* Kills the process where it is still there, waits for its end, and frees what was collected. Fine
 * on a struct of zeros. */
void mcp_child_finish(struct mcp_child *child);

#endif
