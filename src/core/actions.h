/* The moves that a proposer can be asked for. */
#ifndef KEET_CORE_ACTIONS_H
#define KEET_CORE_ACTIONS_H

#include <stdbool.h>

enum action {
#define ACTION(id, name, rewrites) ACTION_##id,
#include "core/actions.def"
#undef ACTION
    NR_ACTIONS,
    ACTION_NONE = -1 /* the root: no move led there */
};

/* Of the tuner's variants, those from this one on name the values that they set; those before
 * choose values when their turn comes. */
enum { TUNE_FIRST_NAMED = 65000 };

const char *action_name(enum action action); /* "none" for ACTION_NONE */
bool action_parse(const char *name, enum action *action);
bool action_rewrites(enum action action);
/* Is it a kind of request to a model (design, improve, ...)? The other actions are moves. */
bool action_is_request(enum action action);

#endif
