/* The JSON of a verb, made short for a model. */
#ifndef KEET_MCP_MCP_TIDY_H
#define KEET_MCP_MCP_TIDY_H

#include <jansson.h>
#include <stdbool.h>

/* Takes out what is null, the source, which the model knows (unless
 * keep_source), machine code, models of time without something; metrics become numbers; whole
 * numbers lose their point. Changes the document in place. */
void mcp_tidy(json_t *document, bool keep_source);

#endif
