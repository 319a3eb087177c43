/* The tools that a client may call. One table: the list with its schemas, the check of arguments,
 * and the command line of the verb all come from the table. */
#ifndef KEET_MCP_MCP_TOOLS_H
#define KEET_MCP_MCP_TOOLS_H

#include "base/arena.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>

enum { MCP_MOST_WORDS = 128, MCP_MOST_SOURCE_BYTES = 1 << 20 };

struct mcp_tool;

/* A call on its way to a verb. Strings in the arena. */
struct mcp_command {
    const struct mcp_tool *tool;
    const char *words[MCP_MOST_WORDS]; /* the verb and its arguments, ended by NULL */
    unsigned nr_words;
    double limit_s;   /* of time, on the wall */
    const char *db;   /* of a search, below the folder; NULL: no search */
    unsigned budget;  /* of a search */
    bool keep_source; /* the answer is the source, too */
    bool unwrap;      /* of the list `candidates` the one document */
    const char *list; /* the verb's document is a list, which gets this name; NULL: it is none */
};

/* Where the tool finds things. */
struct mcp_place {
    struct arena *arena;
    const char *root;         /* the folder that is served */
    const char *scratch;      /* a folder for this call alone */
    const char *const *words; /* for verbs that use a device, as in mcp.h */
};

json_t *mcp_tools_list(void); /* the array `tools` of tools/list */

/* NULL: there is no such tool. */
const struct mcp_tool *mcp_tool_find(const char *name);

/* Checks the arguments (NULL: none), writes sources that came as text into the scratch folder, and
 * makes the command. False: err says what is wrong, in words for a model. */
bool mcp_command_make(struct mcp_command *command, const struct mcp_tool *tool,
    const json_t *arguments, const struct mcp_place *place, struct err *err);

#endif
