/* Propose: carry out the move that the search asked for, and list the moves a source allows.
 *
 * Three proposers, one table (struct proposer_ops in propose/proposer.h): the rewriter, which edits
 * CUDA by libclang's syntax tree; the tuner, which picks values of tuning parameters; a language
 * model (a later change). */
#ifndef KEET_PROPOSE_PROPOSE_H
#define KEET_PROPOSE_PROPOSE_H

#include "base/err.h"
#include "core/candidate.h"

#include <stdbool.h>

struct propose; /* owns the proposers */

struct propose_options {
    const char *prompts_dir; /* where actions/<move>.md are; checked at start */
    bool forbid_fast_math;
};

struct propose *propose_create(
    const struct propose_options *options, const struct task *task, struct err *err);
void propose_destroy(struct propose *propose);

/* Fill c->source, c->plan, c->proposal_note from parent_source and c->option. A move that does not
 * apply gives verdict no_kernel with the reason; a broken contract gives verdict contract. The root
 * (option.action ACTION_NONE) gets the task's own source. */
bool propose_kernel(struct propose *propose, const char *parent_source, size_t parent_bytes,
    struct candidate *c, struct err *err);

/* List what can be tried on c->source: c->options, priors uniform. Deterministic for a source.
 * Moves that would not change the text, or do not apply, are not listed. */
bool propose_options(struct propose *propose, struct candidate *c, struct err *err);

/* Why each move was not listed for the last propose_options call: "move: reason\n" lines, for -v.
 */
const char *propose_refusals(const struct propose *propose);

/* The text of prompts/actions/<move>.md. */
const char *propose_action_text(const struct propose *propose, enum action action);

#endif
