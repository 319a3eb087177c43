/* Private to run/: picks of the search on their way from asking to telling. Several picks are under
 * way at once where a model writes while a device works, or where there are several devices. */
#ifndef KEET_RUN_IN_FLIGHT_H
#define KEET_RUN_IN_FLIGHT_H

#include "core/candidate.h"
#include "propose/propose.h"
#include "search/search.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

struct trial {
    /* Asked of a proposer, ready to be evaluated, under way on a device, evaluated. */
    enum { TRIAL_FREE, TRIAL_ASKED, TRIAL_READY, TRIAL_UNDER_WAY, TRIAL_DONE } state;
    uint64_t turn; /* trials are evaluated, and told, in the order in which they became ready */
    bool compiled;
    struct search_pick pick;
    struct candidate c, parent;
    struct arena *arena; /* of both */
};

struct in_flight {
    struct trial trials[PROPOSE_MAX_IN_FLIGHT];
    unsigned nr_slots; /* how many of them may be used; those beside the budget not counted */
    unsigned fill; /* evaluations of rewriter and tuner for each answer; 0: all share the budget */
    unsigned nr_fill_slots; /* how many of these may be under way */
    unsigned fill_left;     /* of `fill`, until the next answer is taken */
    uint64_t nr_turns, nr_taken;
};

void in_flight_init(struct in_flight *f);
void in_flight_finish(struct in_flight *f);

unsigned in_flight_nr(const struct session *s);
/* Why nothing more may be asked that the budget counts, with what is under way counted: "budget",
 * "tokens", "cost"; NULL: something may. */
const char *in_flight_limit(const struct session *s);
/* Ask the search for picks until all slots are taken, the budget is spent, or the search has no
 * pick.
 *
 * Where models are asked and `fill` is not 0, there are two kinds of picks: requests, which the
 * budget counts, and moves of rewriter and tuner between two answers, `fill` of them. The next
 * answer is taken when these are told, and not before: so the tree depends on the order in which
 * answers come, and not on when they come. */
bool in_flight_fill(struct session *s, struct err *err);
/* Puts the order of the picks under way on record, where it is not: for a revision between them. */
bool in_flight_note(struct session *s, struct err *err);
/* A node was told: what is left until the next answer. */
void in_flight_told(struct session *s, const struct candidate *c);
/* Begin a pick: its parent is loaded and its proposer asked. */
bool in_flight_begin(struct session *s, const struct search_pick *pick, struct err *err);
/* Ask the search as it was asked for a pick that is on record. False: it has none. */
bool in_flight_ask_again(
    struct session *s, const struct store_pick *noted, struct search_pick *pick);
/* Take up the answers of models. With `wait`, wait a while for an answer when no trial is ready. */
bool in_flight_collect(struct session *s, bool wait, struct err *err);
/* The first ready trial; NULL: none. */
struct trial *in_flight_first_ready(struct session *s);
/* The first of the trials that are under way or evaluated: the next to be told. NULL: none. */
struct trial *in_flight_first_taken(struct session *s);
/* Is another trial that computes the same being evaluated? c may be recalled from that trial
 * soon. */
bool in_flight_has_equal(const struct session *s, const struct candidate *c);
/* Have a model repair a trial that failed, where one may. *again: a model was asked, and the trial
 * is no longer ready. */
bool in_flight_repair(struct session *s, struct trial *trial, bool *again, struct err *err);

/* After a trial was told to the search: where it is a step of an episode that goes on, begin the
 * next step. */
bool in_flight_go_on(struct session *s, struct trial *trial, struct err *err);

/* surround.c: collect what a model is told beside the parent of c, whose option says what it will
 * be asked for: the best version, siblings, headlines, a partner, lessons. */
bool in_flight_surround(struct session *s, const struct candidate *c,
    const struct candidate *parent, struct arena *arena, struct propose_context *context,
    struct err *err);
/* The same for a trial under way. */
bool in_flight_surround_again(
    struct session *s, const struct candidate *c, struct propose_context *context, struct err *err);
/* A node with all that is stored of it; NULL in *c: there is no such node. */
bool in_flight_load_node(struct session *s, struct arena *arena, int64_t node,
    const struct candidate **c, struct err *err);

#endif
