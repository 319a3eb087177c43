/* What a model may look up while it works: the tools that it is offered, and their answers. Private
 * to propose/.
 *
 * Endpoints with function calling get definitions; others are told of a line
 *
 *     TOOL search_cutlass {"query": "SM90_TMA_LOAD"}
 *
 * outside fenced code, and a reply that has one is a look-up unless it has a fenced block too. */
#ifndef KEET_PROPOSE_MODEL_LOOKUP_H
#define KEET_PROPOSE_MODEL_LOOKUP_H

#include "base/arena.h"
#include "llm/llm.h"
#include "propose/propose.h"

enum { NR_TOOLS = 2, TOOL_ROUNDS = 6, TOOL_LINES = 8 };

extern const struct llm_tool lookup_tools[NR_TOOLS];

/* How to call them by text, for the end of a system prompt. */
const char *lookup_by_text(struct arena *arena);

/* The calls of a reply by text; none when it has a fenced block. At most TOOL_LINES. */
unsigned lookup_read(struct arena *arena, const char *text, const struct llm_tool_call **calls);

/* The answer to a call, for the model: also of unknown tools and of arguments that make no sense.
 * Never NULL; at most `most` bytes. */
const char *lookup_answer(const struct propose_library *library, struct arena *arena,
    const struct llm_tool_call *call, size_t most);

#endif
