/* Owns the file of evaluations that runs share. */
#include "run/reuse.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

struct reuse {
    struct store *store;
    struct arena *arena; /* of one look */
    char *path;
};

struct reuse *reuse_open(
    const char *path, const struct run_info *run, const char *settings, struct err *err)
{
    struct reuse *r = xcalloc(1, sizeof(*r));
    struct run_info pool;
    bool found;

    r->arena = arena_create();
    r->path = xstrdup(path);
    pool = (struct run_info){.kernel_path = run->kernel_path,
        .original = run->original,
        .device = run->device,
        .policy = settings,
        .version = arena_printf(r->arena, "%s %s", KEET_VERSION, reuse_evaluator),
        .budget = "shared by runs"};
    r->store = store_open(path, err);
    if (r->store && store_find_equal_run(r->store, &pool, &found, err) &&
        (found || store_begin_run(r->store, &pool, err)))
        return r;
    err_wrap(err, "--reuse");
    reuse_close(r);
    return NULL;
}

void reuse_close(struct reuse *r)
{
    if (!r)
        return;
    store_close(r->store);
    arena_destroy(r->arena);
    free(r->path);
    free(r);
}

/* A text's number in the file: 62 bits of its hash. The text itself is compared as well. */
static int64_t number_of(const struct candidate *c)
{
    return (int64_t)(hash_bytes(c->source, c->source_bytes, 0).low >> 2);
}

/* The number of what the comparison at the timed sizes made of a text. */
static int64_t number_of_compared(const struct candidate *c)
{
    return (int64_t)(rng_mix(UINT64_C(0x74696d6564), (uint64_t)number_of(c)) >> 2);
}

/* What the random numbers of a check begin with. */
static uint64_t seed_of(const struct candidate *c)
{
    return rng_mix(UINT64_C(0x7265757365), (uint64_t)number_of(c));
}

/* The number of a move on a text. Numbers of moves lie beyond numbers of texts. */
static int64_t number_of_move(const struct candidate *parent, const struct option *option)
{
    const uint64_t move = (uint64_t)option->action << 40 | (uint64_t)option->proposer << 32 |
                          (uint64_t)option->variant; /* of the rewriter in this program */
    const uint64_t mixed = rng_mix(hash_bytes(parent->source, parent->source_bytes, 0).low, move);

    return (int64_t)(mixed >> 2 | UINT64_C(1) << 62);
}

/* The rewriter makes the same of the same source in every run; the tuner chooses by what its run
 * has measured. */
static bool is_repeatable(const struct candidate *c)
{
    return c->option.proposer == PROPOSER_REWRITER;
}

static bool is_kept(struct reuse *r, int64_t number, bool *found, struct err *err)
{
    struct candidate known;

    arena_reset(r->arena);
    known = (struct candidate){.arena = r->arena};
    return store_load_node(r->store, number, &known, found, err);
}

/* Keep the node unless another process has kept the node in the meantime. Of two texts with one
 * number, one is kept. */
static bool keep(struct reuse *r, const struct candidate *c, struct err *err)
{
    struct err ignored;
    bool found;

    if (!is_kept(r, c->node, &found, err))
        return err_wrap(err, "--reuse");
    return found || store_kernel(r->store, c, err) ||
           (is_kept(r, c->node, &found, &ignored) && found) || err_wrap(err, "--reuse");
}

bool reuse_made(struct reuse *r, const struct candidate *parent, struct candidate *c, bool *found,
    struct err *err)
{
    struct candidate known = {.arena = c->arena};
    enum verdict verdict;
    struct err why;

    *found = false;
    if (!r || !is_repeatable(c))
        return true;
    if (!store_load_node(r->store, number_of_move(parent, &c->option), &known, found, err))
        return err_wrap(err, "--reuse");
    *found =
        *found && known.option.action == c->option.action &&
        known.option.variant == c->option.variant &&
        plan_parse(&c->plan, c->task, c->arena, known.source, known.source_bytes, &verdict, &why);
    if (*found) {
        c->source = known.source;
        c->source_bytes = known.source_bytes;
        c->proposal_note = known.proposal_note;
        c->option.what = c->option.what ? c->option.what : known.option.what;
    }
    return true;
}

bool reuse_note_made(
    struct reuse *r, const struct candidate *parent, const struct candidate *c, struct err *err)
{
    struct candidate made;

    if (!r || !is_repeatable(c) || c->verdict != VERDICT_OK)
        return true;
    made = (struct candidate){.node = number_of_move(parent, &c->option),
        .parent = -1,
        .recalled_from = -1,
        .option = c->option,
        .source = c->source,
        .source_bytes = c->source_bytes,
        .proposal_note = c->proposal_note};
    return keep(r, &made, err);
}

static bool same_text(const struct candidate *a, const struct candidate *b)
{
    return a->source_bytes == b->source_bytes && memcmp(a->source, b->source, a->source_bytes) == 0;
}

static bool same_code(const struct candidate *a, const struct candidate *b)
{
    return a->compilation.key.low == b->compilation.key.low &&
           a->compilation.key.high == b->compilation.key.high;
}

static bool has_code(const struct candidate *c)
{
    return c->source && (c->compilation.key.low != 0 || c->compilation.key.high != 0);
}

/* Find the text of c, as it was compiled and checked from the same random numbers. */
static bool find(struct reuse *r, const struct candidate *c, int64_t number,
    struct candidate *known, bool *found, struct err *err)
{
    *known = (struct candidate){.arena = c->arena};
    if (!store_load_node(r->store, number, known, found, err))
        return err_wrap(err, "--reuse");
    *found = *found && same_text(known, c) && same_code(known, c) && known->seed == c->seed;
    return true;
}

static void take_over(const struct reuse *r, struct candidate *c, const struct candidate *known)
{
    const char *note = known->check.note ? known->check.note : "",
               *from = arena_printf(c->arena, "; as found in %s", r->path);

    c->verdict = known->verdict;
    c->verdict_text = known->verdict_text;
    c->verdict_line = known->verdict_line;
    c->check = known->check;
    c->check.note = arena_printf(c->arena, "%s%s", note, strstr(note, from) ? "" : from);
    c->profile = known->profile;
    c->profiled = known->profiled;
    c->speedup = known->speedup;
}

static void take_over_moves(struct candidate *c, const struct candidate *known)
{
    c->options = known->options;
    c->nr_options = known->nr_options;
    for (unsigned i = 0; i < c->nr_options; i++)
        c->options[i].prior = 1.0f / (float)c->nr_options;
}

bool reuse_find(struct reuse *r, struct candidate *c, bool *found, struct err *err)
{
    struct candidate known;

    *found = false;
    c->reused = false;
    if (!r || !has_code(c))
        return true;
    c->seed = seed_of(c);
    if (!find(r, c, number_of(c), &known, found, err))
        return false;
    c->reused = *found;
    if (*found) {
        take_over(r, c, &known);
        take_over_moves(c, &known);
    }
    return true;
}

bool reuse_find_compared(struct reuse *r, struct candidate *c, bool *found, struct err *err)
{
    struct candidate known;

    *found = false;
    if (!r || !has_code(c))
        return true;
    if (!find(r, c, number_of_compared(c), &known, found, err))
        return false;
    if (*found)
        take_over(r, c, &known);
    return true;
}

/* Keep what was evaluated, under a number. */
static bool keep_evaluation(
    struct reuse *r, const struct candidate *c, int64_t number, struct err *err)
{
    struct candidate copy = *c;

    copy.node = number;
    copy.parent = -1;
    copy.recalled_from = -1;
    copy.option = (struct option){.action = ACTION_NONE};
    copy.proposal_note = NULL;
    copy.explanation = (struct explanation){0};
    copy.calls = NULL;
    copy.nr_calls = 0;
    return keep(r, &copy, err);
}

bool reuse_note(struct reuse *r, const struct candidate *c, struct err *err)
{
    return !r || c->reused || c->recalled || !has_code(c) ||
           keep_evaluation(r, c, number_of(c), err);
}

bool reuse_note_compared(struct reuse *r, const struct candidate *c, struct err *err)
{
    return !r || !has_code(c) || c->seed != seed_of(c) ||
           keep_evaluation(r, c, number_of_compared(c), err);
}
