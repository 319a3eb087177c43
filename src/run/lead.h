/* Private to run/: the lead, which is the fastest variant so far. During a search the lead was
 * compared with the original at the check's sizes. It becomes the best when its outputs at the
 * timed sizes were compared as well: where it has stood for LEAD_STANDS evaluations, and before the
 * run ends, whatever ends it. A lead that fails there becomes `wrong`, and the next fastest leads.
 * A model's version is compared when it takes the lead, since the model may repair it; on a card
 * every variant is compared when it is timed. */
#ifndef KEET_RUN_LEAD_H
#define KEET_RUN_LEAD_H

#include "core/candidate.h"
#include "run/loop.h"
#include "store/store.h"

#include <stdbool.h>

struct session;

enum { LEAD_STANDS = 16 };

/* Compare a model's version that is about to lead. */
bool lead_compare_at_once(struct session *s, struct candidate *c, struct err *err);

/* A node was told, and leads from now on. */
void lead_taken(struct session *s, const struct candidate *c);
/* Has the lead stood long enough to be compared? */
bool lead_is_due(const struct session *s);

/* Compare the lead at the timed sizes, and where it fails the next, until one is the best. Nodes
 * that fail change in the database, in the search, and for the proposers. *changed: another node
 * leads than before, or the lead has another time. */
bool lead_settle(struct session *s, struct loop_watcher *watcher, bool *changed, struct err *err);

/* The best takes the place of a lead that was not settled. */
bool lead_fall_back(struct session *s, struct err *err);

/* For a run that breaks off, perhaps since the database cannot be written: the lead is the best if
 * it passes now, and else what lead_fall_back says. */
void lead_rescue(struct session *s);

/* For a run that is replayed. c, which is read from the database, becomes what it was as long as
 * the revisions of `order` from number `from` on were yet to come. */
void lead_before(const struct store_order *order, size_t from, struct candidate *c);
/* The search and the proposers are told of a revision, and the fastest node of this moment leads.
 */
bool lead_retell(
    struct session *s, const struct store_order *order, size_t number, struct err *err);

#endif
