/* Messages of JSON-RPC 2.0, one a line: requests as they come in, and what goes out on standard
 * output. */
#ifndef KEET_MCP_MCP_MESSAGE_H
#define KEET_MCP_MCP_MESSAGE_H

#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The newest revision, in which requests say their version, and the newest of those before. */
#define MCP_VERSION "2026-07-28"
#define MCP_VERSION_BEFORE "2025-11-25"

enum mcp_code {
    MCP_PARSE = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL = -32603,
    MCP_UNSUPPORTED_VERSION = -32022,
    MCP_NO_RESOURCE_BEFORE = -32002 /* in revisions before the newest */
};

/* Borrows from `message`. */
struct mcp_request {
    json_t *message; /* owned */
    const char *method;
    json_t *id;          /* NULL: a notification */
    json_t *params;      /* NULL: none */
    json_t *meta;        /* _meta of the params; NULL: none */
    json_t *token;       /* of progress; NULL: the client wants none */
    const char *version; /* that the request says; NULL: none, as before the newest revision */
};

/* Reads a line. False: *code and err, with the id in request->id where it is known. A response,
 * which nobody waits for, has a NULL method. Call mcp_request_finish in each case. */
bool mcp_request_read(struct mcp_request *request, const char *line, size_t len,
    enum mcp_code *code, struct err *err);
void mcp_request_finish(struct mcp_request *request);

/* These write a line and release what they are given, but for ids and tokens. modern: the request
 * was of the newest revision. False: standard output is broken. id NULL: not known. */
bool mcp_send_result(const json_t *id, bool modern, const char *program_version, json_t *result);
bool mcp_send_error(const json_t *id, enum mcp_code code, const char *text, json_t *data);
bool mcp_send_notification(const char *method, json_t *params);

#endif
