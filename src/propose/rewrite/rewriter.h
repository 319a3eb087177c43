/* The rewriter, on both sides of the process border. Private to propose/.
 *
 * libclang reads what models and users wrote, so it runs in a child of its own, with a deadline and
 * limits, and so do the moves on its tree. The border is the text: the source goes in; options, or
 * the text that a move makes, come out. A child that crashes, or that runs out of time or memory,
 * offers no move. What a child listed is kept with the texts: see listings.h. */
#ifndef KEET_PROPOSE_REWRITE_REWRITER_H
#define KEET_PROPOSE_REWRITE_REWRITER_H

#include "propose/proposer.h"
#include "propose/rewrite/rewrite.h"

struct rewriter;

/* Loads libclang, by which sources are read, and gives its path. NULL, with err: none fits. */
const char *rewriter_parser(struct err *err);

/* Start it while the program has one thread. The task is read at the start only. */
struct rewriter *rewriter_start(
    const struct task *task, bool forbid_fast_math, uint32_t smem_per_block_bytes, struct err *err);
void rewriter_stop(struct rewriter *rewriter); /* NULL is fine */

enum { REWRITER_MOST = 192 }; /* options of a source */

struct made_text {
    const char *text; /* in the arena of the rewrite_in */
    size_t bytes;
};

/* Inside the child: what there is for in->tree, into an empty list; texts[i] is what option i
 * makes.
 */
void rewriter_list_here(
    const struct rewrite_in *in, struct option_list *list, struct made_text texts[REWRITER_MOST]);
bool rewriter_make_here(
    const struct rewrite_in *in, const struct option *option, struct rewrite_out *out);

#endif
