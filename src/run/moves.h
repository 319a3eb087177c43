/* The moves of a candidate as the search knows them. */
#ifndef KEET_RUN_MOVES_H
#define KEET_RUN_MOVES_H

#include "core/candidate.h"
#include "search/search.h"

/* The number by which the search knows a move of a node. */
uint32_t moves_id(const struct option *option);

/* The option of a candidate that has this number; NULL: it has none. */
const struct option *moves_find(const struct candidate *c, uint32_t id);

/* One for each option of the candidate, in their order, in the arena. */
struct search_move *moves_of(const struct candidate *c, struct arena *arena);

#endif
