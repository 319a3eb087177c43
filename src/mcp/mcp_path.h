/* Paths that a client names. Each must lie in the one folder that is served. */
#ifndef KEET_MCP_MCP_PATH_H
#define KEET_MCP_MCP_PATH_H

#include "base/arena.h"
#include "base/err.h"

/* The file's path below the folder `root` (absolute, without links in it), for use from there;
 * links are followed. NULL: there is no such file inside; err says so in words for a model. */
const char *mcp_path(struct arena *arena, const char *root, const char *path, struct err *err);

#endif
