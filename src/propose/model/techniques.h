/* Pages of techniques: those in prompts/techniques and the user's own, chosen by what a kernel is.
 * Private to propose/.
 *
 * A page has a title in its first line (`# Title`) and in its second line what it fits:
 *
 *     Fits: product f16 attention latency; needs tensor cp_async; unless mma.sync; moves async_copy
 *
 * A word is one of technique_facts, or is looked for in the source of the original, in small
 * letters. A page is offered when all words behind `needs` are facts, at least one word before is a
 * fact or found, and the version that is shown holds no word behind `unless`. Behind `moves` stand
 * moves whose pages, prompts/actions/<move>.md, are shown with it. The more words are facts or
 * found, the earlier the page comes; pages of the user's come before the others. */
#ifndef KEET_PROPOSE_MODEL_TECHNIQUES_H
#define KEET_PROPOSE_MODEL_TECHNIQUES_H

#include "base/err.h"
#include "core/candidate.h"

#include <stdbool.h>

struct techniques;

/* user_dir: NULL: none. NULL, with err, when a folder cannot be read or a page has no such lines.
 */
struct techniques *techniques_load(const char *dir, const char *user_dir, struct err *err);
void techniques_destroy(struct techniques *techniques); /* NULL is fine */

/* What is true of a version, between blanks: " f32 tensor cp_async reuse product memory ... ".
 * - of the contract: the types of its arrays; `matrix`, `launches`, `loop`, `atomics`, `shared`,
 *   `reuse` (over four operations a byte, or not known), `streaming` (not so), `product` (reuse,
 * and two input arrays of two or more dimensions), `reduction` (outputs are an eighth of the inputs
 * or less)
 * - of its profile: `compute`, `memory` or `latency`, and the names of the tools that found
 * something
 * - of the device: the words of `executes`. */
const char *technique_facts(struct arena *arena, const struct candidate *c, const char *executes);

/* The pages for these facts, the original's source, and the source of the version that is shown,
 * best first: at most nr of them, without their second lines, the page number `first` (from 0)
 * before the others. *title: that page's; NULL: it has none. */
const char *techniques_choose(const struct techniques *techniques, const char *facts,
    const char *original, const char *shown, unsigned first, unsigned nr, struct arena *arena,
    const char **title);

/* The page whose title holds the words, or whose title the words hold, in any case of letters;
 * NULL: none. techniques_titles: all titles, a line each. */
const char *techniques_page(
    const struct techniques *techniques, const char *words, struct arena *arena);
const char *techniques_titles(const struct techniques *techniques, struct arena *arena);

#endif
