/* Another kernel's explanations (--feedback other:RUN.db). An experiment with borrowed explanations
 * shows what a kernel's own explanations are worth. The explanations are those of the nodes on the
 * path from that run's original to its best. */
#ifndef KEET_RUN_BORROWED_EXPLANATION_H
#define KEET_RUN_BORROWED_EXPLANATION_H

#include "base/err.h"
#include "core/candidate.h"

struct borrowed_explanation;

/* Opens the newest run in the file. NULL: err. */
struct borrowed_explanation *borrowed_explanation_open(const char *path, struct err *err);
void borrowed_explanation_close(struct borrowed_explanation *donor);
/* The node `depth` moves below the original of the borrowed run, with its findings and profile;
 * below the best node, the best node. NULL for NULL. The memory belongs to the borrowed run. */
const struct candidate *borrowed_explanation_at(
    const struct borrowed_explanation *donor, unsigned depth);

#endif
