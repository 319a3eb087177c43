/* keet-opt run --moves: what the rewriter and the tuner offer for a kernel, and what they refuse.
 */
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

#endif
