/* What a model may look up while it works: the tools that it is offered, and their answers. Private
 * to propose/.
 *
 * Endpoints with function calling get definitions of the tools. Other models are told to write
 * lines
 *
 *     TOOL search_cutlass {"query": "SM90_TMA_LOAD"}
 *
 * A reply with such a line is a look-up, unless the reply has a fenced block too. */
#ifndef KEET_PROPOSE_MODEL_LOOKUP_H
#define KEET_PROPOSE_MODEL_LOOKUP_H

#include "base/arena.h"
#include "llm/llm.h"
#include "propose/propose.h"

enum { NR_TOOLS = 2, TOOL_ROUNDS = 6, TOOL_LINES = 8 };

extern const struct llm_tool lookup_tools[NR_TOOLS];

/* How to call the tools by text, for the end of a system prompt. */
const char *lookup_by_text(struct arena *arena);

/* The calls by text in a reply, at most TOOL_LINES; none when the reply has a fenced block. */
unsigned lookup_read(struct arena *arena, const char *text, const struct llm_tool_call **calls);

/* The end of an answer that has more than `most` bytes is cut off, at the end of a line, with a
 * note. */
const char *lookup_cut(struct arena *arena, const char *text, size_t most);
/* Whether the tool is one of the library's. */
bool lookup_is_librarys(const char *name);

/* The answer to a call, at most `most` bytes, never NULL. A call of an unknown tool, or with
 * arguments that make no sense, is answered with what is wrong. */
const char *lookup_answer(const struct propose_library *library, struct arena *arena,
    const struct llm_tool_call *call, size_t most);

#endif
