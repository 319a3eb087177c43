/* keet-opt run --moves: what the rewriter and the tuner offer for a kernel, and what they refuse.
 * keet-opt explain --what-if: the variants that the rewriter makes of a kernel where findings ask
 * for them. */
#ifndef KEET_CLI_RUN_MOVES_H
#define KEET_CLI_RUN_MOVES_H

#include "base/err.h"
#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

/* Appends the moves that are offered for the original, each variant on a line (equal lines once),
 * then each reason for which a move or some of its variants are refused. c: begun, for the task;
 * chip: moves that it lacks are refused.
 * False, with err, where the program's own files are missing. */
bool moves_list(
    struct candidate *c, const struct chip *chip, bool json, struct str *out, struct err *err);

enum { MOVES_A_FINDING = 2, MOVES_ASKED = 5 };

struct moves_asked {
    struct {
        const char *tool;      /* whose finding asks for it */
        struct candidate made; /* its source and plan, and in option the move; not compiled */
    } items[MOVES_ASKED];
    unsigned nr;
};

/* The moves that the findings of c ask for most, each move once: first one of each finding in their
 * order, then another of each. c has been explained; what is made is in its arena. False, with err,
 * where the program's own files are missing. */
bool moves_asked(const struct candidate *c, const struct chip *chip, uint64_t seed,
    struct moves_asked *out, struct err *err);

#endif
