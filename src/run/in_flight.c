/* Owns the trials of a session: picks of the search from asking to telling. */
#include "run/in_flight.h"

#include "run/moves.h"
#include "run/session_parts.h"

/* How long in_flight_collect waits for a model before the loop looks at the clock and signals
 * again. */
enum { WAIT_MS = 200 };

/* The move of a step of an episode that follows from the step before. */
static const struct option episode = {
    .action = ACTION_EPISODE, .proposer = PROPOSER_MODEL, .what = "an episode, by the model"};

void in_flight_init(struct in_flight *f)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        f->trials[i].arena = arena_create();
}

void in_flight_finish(struct in_flight *f)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        arena_destroy(f->trials[i].arena);
}

static void become_ready(struct session *s, struct trial *trial)
{
    trial->state = TRIAL_READY;
    trial->compiled = false;
    trial->turn = s->in_flight.nr_turns++;
}

unsigned in_flight_nr(const struct session *s)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        nr += s->in_flight.trials[i].state != TRIAL_FREE;
    return nr;
}

/* Does the trial go beside the budget? */
static bool is_fill(const struct session *s, const struct candidate *c)
{
    return s->in_flight.fill > 0 && c->option.proposer != PROPOSER_MODEL;
}

static unsigned nr_fill(const struct session *s)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++) {
        const struct trial *t = &s->in_flight.trials[i];

        nr += t->state != TRIAL_FREE && is_fill(s, &t->c);
    }
    return nr;
}

static unsigned nr_counted(const struct session *s)
{
    return in_flight_nr(s) - nr_fill(s);
}

void in_flight_told(struct session *s, const struct candidate *c)
{
    struct in_flight *f = &s->in_flight;

    if (!is_fill(s, c))
        f->fill_left = f->fill;
    else if (f->fill_left > 0)
        f->fill_left--;
}

static struct trial *free_trial(struct session *s)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (s->in_flight.trials[i].state == TRIAL_FREE)
            return &s->in_flight.trials[i];
    return NULL;
}

/* Load the parent, and find the option that the pick's move stands for. */
static bool find_option(struct session *s, struct trial *t, struct err *err)
{
    const struct search_pick *pick = &t->pick;
    const struct option *option;
    bool found;

    arena_reset(t->arena);
    session_candidate(
        s, t->arena, &t->c, pick->node, pick->parent, (struct option){.action = ACTION_NONE});
    t->parent = (struct candidate){.arena = t->arena, .task = s->task};
    if (!store_load_node(s->store, pick->parent, &t->parent, &found, err))
        return false;
    option = found ? moves_find(&t->parent, pick->move) : NULL;
    if (found && !option && pick->move == moves_id(&episode))
        option = &episode; /* a step of one needs no option */
    if (option) {
        t->c.option = *option;
        return true;
    }
    return err_set(err, "node %lld has no move %u: the database was changed by another program",
        (long long)pick->parent, pick->move);
}

/* Ask the proposer, or take the variant that an earlier run proposed for an equal parent. */
static bool start(struct session *s, const struct propose_context *context, struct trial *t,
    bool *ready, struct err *err)
{
    if (!reuse_made(s->reuse, &t->parent, &t->c, ready, err))
        return false;
    return *ready || (propose_start(s->propose, context, &t->c, ready, err) &&
                         reuse_note_made(s->reuse, &t->parent, &t->c, err));
}

bool in_flight_begin(struct session *s, const struct search_pick *pick, struct err *err)
{
    struct trial *t = free_trial(s);
    struct propose_context context;
    bool ready;

    if (!t)
        return err_set(err, "more than %d nodes are under way", PROPOSE_MAX_IN_FLIGHT);
    t->pick = *pick;
    if (!find_option(s, t, err))
        return false;
    context = (struct propose_context){.parent = &t->parent};
    if (t->c.option.proposer == PROPOSER_MODEL &&
        !in_flight_surround(s, &t->c, &t->parent, t->arena, &context, err))
        return false;
    if (t->c.option.proposer == PROPOSER_MODEL && !store_load_calls(s->store, &t->c, err))
        return false;
    s->state.nr_evaluated += candidate_nr_repairs(&t->c); /* repairs of a run that was resumed */
    if (!start(s, &context, t, &ready, err))
        return false;
    t->state = TRIAL_ASKED;
    if (ready)
        become_ready(s, t);
    return ready || store_note_trial(s->store, &t->c, STAGE_WRITTEN, err);
}

bool in_flight_ask_again(
    struct session *s, const struct store_pick *noted, struct search_pick *pick)
{
    static const enum search_moves moves[] = {[PICK_ANY] = SEARCH_ALL,
        [PICK_REQUEST] = SEARCH_WITH_ARM,
        [PICK_FILL] = SEARCH_WITHOUT_ARM};
    struct search_move move = {.id = moves_id(&episode)};

    if (noted->kind != PICK_FOLLOW)
        return search_ask_for(s->search, moves[noted->kind], pick);
    propose_arm(&episode, &move);
    return search_follow(s->search, noted->parent, &move, pick);
}

static bool ask(struct session *s, enum pick_kind kind, bool *asked, struct err *err)
{
    const struct store_pick noted = {.nr_told = (int64_t)s->state.nr_nodes, .kind = kind};
    struct search_pick pick;

    *asked = in_flight_ask_again(s, &noted, &pick);
    if (!*asked)
        return true;
    /* A pick that is asked for after the pick before it was told needs no record of its order. */
    return ((kind == PICK_ANY && noted.nr_told == pick.node - 1) ||
               store_add_pick(s->store, pick.node, &noted, err)) &&
           in_flight_begin(s, &pick, err);
}

bool in_flight_note(struct session *s, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < PROPOSE_MAX_IN_FLIGHT; i++) {
        const struct trial *t = &s->in_flight.trials[i];
        const struct store_pick in_turn = {.nr_told = t->pick.node - 1};

        ok = t->state == TRIAL_FREE || store_add_pick(s->store, t->pick.node, &in_turn, err);
    }
    return ok;
}

const char *in_flight_limit(const struct session *s)
{
    const struct session_options *o = s->options;

    if (o->budget_nodes && s->state.nr_evaluated + nr_counted(s) >= o->budget_nodes)
        return "budget";
    if (o->max_tokens && propose_spent(s->propose).tokens >= o->max_tokens)
        return "tokens";
    if (o->max_cost > 0 && propose_spent(s->propose).cost >= o->max_cost)
        return "cost";
    return NULL;
}

/* Moves of rewriter and tuner, until the next answer is taken. */
static bool fill_between(struct session *s, struct err *err)
{
    struct in_flight *f = &s->in_flight;
    bool asked = true;

    while (asked && nr_fill(s) < f->nr_fill_slots && nr_fill(s) < f->fill_left)
        if (!ask(s, PICK_FILL, &asked, err))
            return false;
    if (!asked && nr_fill(s) == 0)
        f->fill_left = 0; /* nothing is left to try */
    return true;
}

bool in_flight_fill(struct session *s, struct err *err)
{
    const enum pick_kind kind = s->in_flight.fill ? PICK_REQUEST : PICK_ANY;
    bool asked = true;

    while (asked && nr_counted(s) < s->in_flight.nr_slots && !in_flight_limit(s))
        if (!ask(s, kind, &asked, err))
            return false;
    return !s->in_flight.fill || fill_between(s, err);
}

static struct trial *trial_of(struct session *s, const struct candidate *c)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (&s->in_flight.trials[i].c == c)
            return &s->in_flight.trials[i];
    return NULL;
}

bool in_flight_surround_again(
    struct session *s, const struct candidate *c, struct propose_context *context, struct err *err)
{
    struct trial *t = trial_of(s, c);

    return in_flight_surround(s, c, &t->parent, t->arena, context, err);
}

static struct trial *first_of(struct session *s, unsigned states)
{
    struct trial *first = NULL;

    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++) {
        struct trial *t = &s->in_flight.trials[i];

        if ((states >> t->state & 1) && (!first || t->turn < first->turn))
            first = t;
    }
    return first;
}

enum { WITH_DEVICE = 1u << TRIAL_READY | 1u << TRIAL_UNDER_WAY | 1u << TRIAL_DONE };

struct trial *in_flight_first_ready(struct session *s)
{
    return first_of(s, 1u << TRIAL_READY);
}

struct trial *in_flight_first_taken(struct session *s)
{
    return first_of(s, 1u << TRIAL_UNDER_WAY | 1u << TRIAL_DONE);
}

bool in_flight_has_equal(const struct session *s, const struct candidate *c)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++) {
        const struct trial *t = &s->in_flight.trials[i];

        if ((t->state == TRIAL_UNDER_WAY || t->state == TRIAL_DONE) &&
            t->c.compilation.key.high == c->compilation.key.high &&
            t->c.compilation.key.low == c->compilation.key.low)
            return !candidate_settled(c);
    }
    return false;
}

/* Wait for a model. When no model is left the run ends: requests under way are given up and put on
 * record first. */
static bool await(struct session *s, double timeout_ms, struct candidate **c, struct err *err)
{
    struct err ignored;

    if (propose_wait(s->propose, timeout_ms, c, err))
        return true;
    propose_abandon(s->propose, &ignored);
    return false;
}

static bool collect_one(struct session *s, double timeout_ms, bool *one, struct err *err)
{
    struct candidate *c;

    if (!await(s, timeout_ms, &c, err))
        return false;
    *one = c != NULL;
    if (c)
        become_ready(s, trial_of(s, c));
    return true;
}

bool in_flight_collect(struct session *s, bool wait, struct err *err)
{
    bool one = false;

    propose_moment(s->propose, s->in_flight.nr_taken);
    if (s->in_flight.fill &&
        (nr_fill(s) > 0 || s->in_flight.fill_left > 0 || first_of(s, WITH_DEVICE)))
        return true; /* the turn of an answer comes after these */
    if (!s->in_flight.fill) {
        do { /* take all answers that came in during the last evaluation */
            if (!collect_one(s, 0, &one, err))
                return false;
        } while (one);
        if (!wait || in_flight_first_ready(s))
            return true;
    }
    return collect_one(s, WAIT_MS, &one, err);
}

/* The next step of an episode, a node below `parent`. */
static bool begin_step(
    struct session *s, const struct trial *before, int64_t parent, struct err *err)
{
    const struct store_pick noted = {
        .nr_told = (int64_t)s->state.nr_nodes, .kind = PICK_FOLLOW, .parent = parent};
    struct trial *t = free_trial(s);
    struct propose_context context;

    if (!t)
        return err_set(err, "more than %d nodes are under way", PROPOSE_MAX_IN_FLIGHT);
    if (!in_flight_ask_again(s, &noted, &t->pick))
        return err_set(err, "node %lld cannot be extended", (long long)parent);
    if (!store_add_pick(s->store, t->pick.node, &noted, err) || !find_option(s, t, err) ||
        !in_flight_surround(s, &t->c, &t->parent, t->arena, &context, err) ||
        !propose_follow(s->propose, &context, &before->c, &t->c, err))
        return false;
    t->state = TRIAL_ASKED;
    return store_note_trial(s->store, &t->c, STAGE_WRITTEN, err);
}

bool in_flight_go_on(struct session *s, struct trial *trial, struct err *err)
{
    const struct candidate *c = &trial->c;
    const char *limit;

    if (!propose_goes_on(s->propose, c))
        return true;
    trial->state = TRIAL_FREE; /* told already */
    limit = in_flight_limit(s);
    trial->state = TRIAL_DONE; /* its memory is needed */
    return limit || begin_step(s, trial, c->verdict == VERDICT_OK ? c->node : c->parent, err);
}

bool in_flight_repair(struct session *s, struct trial *trial, bool *again, struct err *err)
{
    *again = false;
    candidate_note_verdict(&trial->c);
    /* A repair is one evaluation more than those under way. Of an equal node it is known already
     * that it fails. */
    if (in_flight_limit(s) || trial->c.recalled)
        return true;
    if (!propose_repair(s->propose, &trial->c, again, err))
        return false;
    if (*again) {
        trial->state = TRIAL_ASKED;
        s->state.nr_evaluated++;
        s->in_flight.fill_left = s->in_flight.fill;
    }
    return true;
}
