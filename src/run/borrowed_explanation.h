/* Another kernel's explanations (--feedback other:RUN.db), to ask what it is worth that an
 * explanation is the kernel's own: those of the nodes on the way from that run's original to its
 * best. */
#ifndef KEET_RUN_BORROWED_EXPLANATION_H
#define KEET_RUN_BORROWED_EXPLANATION_H

#include "base/err.h"
#include "core/candidate.h"

struct borrowed_explanation;

/* Of the newest run in the file. */
struct borrowed_explanation *borrowed_explanation_open(const char *path, struct err *err);
void borrowed_explanation_close(struct borrowed_explanation *donor);
/* What explains a node so many moves from the original: findings and profile of the donor's; beyond
 * the donor's best, the best's. NULL for NULL. The donor's memory. */
const struct candidate *borrowed_explanation_at(
    const struct borrowed_explanation *donor, unsigned depth);

#endif
