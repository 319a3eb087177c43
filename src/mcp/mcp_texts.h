/* What a client may read and be prompted with: pages of the documentation, chips, example kernels,
 * and prompts from prompts/mcp/. */
#ifndef KEET_MCP_MCP_TEXTS_H
#define KEET_MCP_MCP_TEXTS_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>

/* For `instructions`: how a model should go about it. */
extern const char mcp_instructions[];

json_t *mcp_resources_list(void);
json_t *mcp_templates_list(void);
/* The array `contents`. NULL: err; *unknown: there is no such resource. */
json_t *mcp_resource_read(const char *uri, bool *unknown, struct err *err);

json_t *mcp_prompts_list(void);
/* The result of prompts/get. arguments: NULL or an object. NULL: err says what is wrong. */
json_t *mcp_prompt_get(const char *name, const json_t *arguments, struct err *err);

#endif
