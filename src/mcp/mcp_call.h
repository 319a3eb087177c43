/* A call of a tool while it is under way: its process, its time, its progress. */
#ifndef KEET_MCP_MCP_CALL_H
#define KEET_MCP_MCP_CALL_H

#include "mcp/mcp_child.h"
#include "mcp/mcp_tools.h"

#include <stdint.h>

struct mcp_call {
    struct mcp_call *next;
    struct arena *arena; /* the call's own */
    json_t *id, *token;  /* token NULL: no progress is wanted */
    bool modern;
    struct mcp_command command;
    const char *program; /* the path of this program */
    struct mcp_cage cage;
    bool working; /* its process was started */
    bool cancelled, out_of_time;
    struct mcp_child work, look; /* the verb; of a search, `status` from time to time */
    uint64_t began_ns, asked_ns; /* asked_ns: when the process was asked to end; 0: it was not */
    uint64_t next_ns;            /* when progress is due */
    double progress;             /* the last that was told */
};

/* Starts the process. False: err, and the call has come to nothing. */
bool mcp_call_start(struct mcp_call *call, struct err *err);

/* Takes what came, ends what is over its time, tells progress. True: the call has ended. *sent is
 * set to false when standard output is broken. */
bool mcp_call_step(struct mcp_call *call, bool *sent);

/* The process is to end; a search may store what it found. No answer is due any more. */
void mcp_call_cancel(struct mcp_call *call);

/* The result of tools/call, after the end. */
json_t *mcp_call_result(struct mcp_call *call);
/* The result of a call that did not work, in words for a model. */
json_t *mcp_failure(const char *text);

/* Ends what is still there, and frees the call and its scratch folder. */
void mcp_call_destroy(struct mcp_call *call);

#endif
