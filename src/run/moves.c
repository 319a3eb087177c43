/* Owns the translation of a candidate's options into moves of the search. */
#include "run/moves.h"

#include "propose/propose.h"

#include <string.h>

uint32_t moves_id(const struct option *option)
{
    return (uint32_t)option->action | (uint32_t)option->proposer << 8 | option->variant << 16;
}

const struct option *moves_find(const struct candidate *c, uint32_t id)
{
    for (unsigned i = 0; i < c->nr_options; i++)
        if (moves_id(&c->options[i]) == id)
            return &c->options[i];
    return NULL;
}

/* The search learns over the whole tree what a move brings. A move is known by its text; what
 * models are asked is known by arms, and the tuner learns of points itself. */
static uint32_t kind_of(const struct option *option)
{
    if (option->proposer != PROPOSER_REWRITER || !option->what)
        return 0;
    return (uint32_t)hash_bytes(option->what, strlen(option->what), option->action).low;
}

struct search_move *moves_of(const struct candidate *c, struct arena *arena)
{
    struct search_move *moves = arena_array(arena, c->nr_options, sizeof(*moves));

    for (unsigned i = 0; i < c->nr_options; i++) {
        moves[i] = (struct search_move){.id = moves_id(&c->options[i]),
            .kind = kind_of(&c->options[i]),
            .prior = c->options[i].prior};
        propose_arm(&c->options[i], &moves[i]);
    }
    return moves;
}
