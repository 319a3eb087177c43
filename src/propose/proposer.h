/* Mechanical proposers: who carries out a move at once. Private to propose/.
 *
 * `list` adds what the proposer can do with a source to an option list. `make` carries one option
 * out. Both give the same for the same source; but the tuner makes what it has not tried yet. */
#ifndef KEET_PROPOSE_PROPOSER_H
#define KEET_PROPOSE_PROPOSER_H

#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>

struct rewrite_in;
struct rewrite_out;

struct option_list {
    struct arena *arena;
    struct option *items;
    unsigned nr, cap;
    struct str *refusals; /* "move: reason" lines */
    const char *note;     /* why a proposer gave up on the source; NULL: none did */
};

/* Moves that need what the chip does not have. */
bool proposer_chip_lacks(const struct chip *chip, enum action action);

void option_add(struct option_list *list, const struct option *option);

struct proposer_ops {
    const char *name;
    enum proposer proposer;
    bool (*list)(const struct rewrite_in *in, struct option_list *list, struct err *err);
    /* *made false, with out->why: the option does not apply. */
    bool (*make)(const struct rewrite_in *in, const struct option *option, struct rewrite_out *out,
        bool *made, struct err *err);
};

extern const struct proposer_ops rewriter_ops, tuner_ops;

/* As many moves of the tuner as the source has other points, 65000 at most. */
void tuner_list_all(const struct rewrite_in *in, struct option_list *list);

#endif
