/* Episodes: what a model may do in a conversation beside trying versions, and what it is told of a
 * try. Private to propose/.
 *
 * A reply is one of three things: a try (the tool try_version, or a reply with code as to any other
 * request), look-ups (the other tools), or an end (the tool finish, or a line `FINISH: reason`).
 * Endpoints with function calling get definitions of the tools; other models write lines as in
 * prompts/episode_text.md. */
#ifndef KEET_PROPOSE_MODEL_EPISODE_H
#define KEET_PROPOSE_MODEL_EPISODE_H

#include "core/chip.h"
#include "llm/llm.h"
#include "propose/model/lookup.h"
#include "propose/model/techniques.h"
#include "propose/propose.h"

/* At most so many tries and calls in an episode; and so many tokens, in and out, of all its calls,
 * after which no other call is begun. */
enum { EPISODE_TRIES = 5, EPISODE_CALLS = 20, EPISODE_TOKENS = 200000 };

enum { NR_EPISODE_TOOLS = 6 };
/* The episode's tools, and behind them those of the library. */
extern const struct llm_tool episode_tools[NR_EPISODE_TOOLS + NR_TOOLS];

enum episode_kind { EPISODE_TRY, EPISODE_FINISH, EPISODE_LOOK_UP };
enum episode_kind episode_kind(const struct llm_tool_call *call);

/* The text of a try, and the version that its edits are made on: -1: the one tried last. NULL, with
 * *why, when the arguments make no sense. */
const char *episode_try(
    const struct llm_tool_call *call, struct arena *arena, int64_t *base, const char **why);
/* The same of a reply in text: only the base. */
int64_t episode_base(const char *text);
/* The reason, from finish's arguments or from a line `FINISH: reason`; NULL: no such line. */
const char *episode_reason(const struct llm_tool_call *call, struct arena *arena);
const char *episode_finish_line(const char *text, struct arena *arena);

/* What answers look-ups. Borrowed. */
struct episode_sources {
    const struct propose_journal *journal; /* NULL: other versions cannot be looked at */
    const struct propose_library *library; /* NULL: none */
    const struct techniques *techniques;
    const struct chip *chip;
    bool evidence; /* counters may be shown */
};
/* The answer to a look-up, at most `most` bytes, never NULL; what makes no sense is answered with
 * what is wrong. False: the environment failed. */
bool episode_answer(const struct episode_sources *sources, struct arena *arena,
    const struct llm_tool_call *call, size_t most, const char **answer, struct err *err);

/* What became of a try, in words: verdict and place, or time, units, stalls, findings, hot lines.
 */
const char *episode_result(struct arena *arena, const struct chip *chip, const struct candidate *c,
    double parent_speedup, bool evidence);

#endif
