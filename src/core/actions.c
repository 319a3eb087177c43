/* Owns the table of moves. */
#include "core/actions.h"

#include <string.h>

static const struct {
    const char *name;
    bool rewrites;
} table[NR_ACTIONS] = {
#define ACTION(id, name, rewrites) {name, rewrites},
#include "core/actions.def"
#undef ACTION
};

const char *action_name(enum action action)
{
    return action == ACTION_NONE ? "none" : table[action].name;
}

bool action_parse(const char *name, enum action *action)
{
    for (int i = 0; i < NR_ACTIONS; i++) {
        if (strcmp(name, table[i].name) == 0) {
            *action = (enum action)i;
            return true;
        }
    }
    return false;
}

bool action_is_request(enum action action)
{
    return action >= ACTION_DESIGN && action <= ACTION_EPISODE;
}

bool action_rewrites(enum action action)
{
    return action != ACTION_NONE && table[action].rewrites;
}
