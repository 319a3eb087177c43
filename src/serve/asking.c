/* Owns the search of a helper process: its nodes, and what they were told. */
#include "serve/asking.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/share.h"
#include "explain/explain.h"
#include "propose/propose.h"
#include "run/moves.h"
#include "search/search.h"
#include "serve/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of moves from outside: no option of a rewriter has one as high. */
static const uint32_t outside = UINT32_C(0xf0000000);

struct asked {
    struct candidate c; /* in an arena of its own; the original's is its prepared one's */
    struct search_pick pick;
    bool told;
    int64_t twin; /* an earlier node of the same code; -1: none */
};

struct asking {
    struct prepared *p;
    struct propose *propose;
    struct search *search;
    struct asked *nodes; /* the original is 0 */
    size_t nr, cap;
};

/* ---- what the search is told ---- */

static struct search_outcome outcome_of(const struct candidate *c, bool is_twin)
{
    struct search_outcome outcome = {.ok = c->verdict == VERDICT_OK && c->speedup > 0};

    if (!outcome.ok)
        return outcome;
    outcome.reward = log2(c->speedup);
    if (!is_twin) {
        outcome.moves = moves_of(c, c->arena);
        outcome.nr_moves = c->nr_options;
    }
    return outcome;
}

/* Lists the moves of a right variant, with priors where counters are known. */
static bool list_moves(struct asking *a, struct candidate *c, struct err *err)
{
    return propose_options(a->propose, c, err) &&
           (!c->profiled || explain_kernel(workbench_chip(a->p->bench), c, err));
}

static void pass_on(struct asking *a, struct asked *n)
{
    const struct search_outcome outcome = outcome_of(&n->c, n->twin >= 0);

    n->told = true;
    search_tell(a->search, &n->pick, &outcome);
    propose_told(a->propose, &n->c, 0);
}

/* The twins of a node have its result. */
static void tell_twins(struct asking *a, int64_t node)
{
    for (size_t i = 0; i < a->nr; i++) {
        struct asked *n = &a->nodes[i];

        if (n->twin != node || n->told)
            continue;
        n->c.verdict = a->nodes[node].c.verdict;
        n->c.speedup = a->nodes[node].c.speedup;
        pass_on(a, n);
    }
}

/* ---- making and unmaking ---- */

static bool open_propose(struct asking *a, bool forbid_fast_math, struct err *err)
{
    char *prompts = share_find("prompts");
    const struct propose_options options = {.prompts_dir = prompts,
        .forbid_fast_math = forbid_fast_math,
        .smem_per_block_bytes = a->p->device ? a->p->device->chip->smem_per_block_max_bytes : 0,
        .emulated = a->p->device != NULL,
        .seed = a->p->seed};

    if (!prompts)
        return err_set(err, "the folder prompts/ was not found beside the program; set KEET_SHARE "
                            "to the folder that holds it");
    a->propose = propose_create(&options, &a->p->task, err);
    free(prompts);
    return a->propose != NULL;
}

static struct asked *add_node(struct asking *a)
{
    struct asked *n;

    a->nodes = grow(a->nodes, &a->cap, a->nr + 1, sizeof(*a->nodes));
    n = &a->nodes[a->nr++];
    *n = (struct asked){.twin = -1};
    return n;
}

static bool plant(struct asking *a, const char *policy, struct err *err)
{
    const struct search_options options = {.policy = policy, .seed = a->p->seed, .best_share = -1};
    struct search_outcome outcome;
    struct asked *root = add_node(a);

    root->told = true;
    root->c = a->p->original;
    root->c.speedup = 1;
    if (!list_moves(a, &root->c, err))
        return false;
    a->search = search_create(&options);
    if (!a->search)
        return err_set(err, "unknown search policy %s", policy);
    outcome = outcome_of(&root->c, false);
    search_add_root(a->search, &outcome);
    propose_told(a->propose, &root->c, 0);
    return true;
}

struct asking *asking_create(struct workbench *bench, const struct original_text *wanted,
    const char *policy, bool forbid_fast_math, struct err *err)
{
    struct asking *a = xcalloc(1, sizeof(*a));

    a->p = prepared_create(bench, wanted, err);
    if (a->p && prepared_time(a->p, err) && open_propose(a, forbid_fast_math, err) &&
        plant(a, policy, err))
        return a;
    asking_destroy(a);
    return NULL;
}

void asking_destroy(struct asking *a)
{
    if (!a)
        return;
    search_destroy(a->search);
    propose_destroy(a->propose);
    for (size_t i = 1; i < a->nr; i++)
        arena_destroy(a->nodes[i].c.arena);
    free(a->nodes);
    prepared_destroy(a->p);
    free(a);
}

/* ---- asking ---- */

static struct asked *begin(
    struct asking *a, const struct search_pick *pick, const struct option *option)
{
    struct asked *n = add_node(a);

    n->pick = *pick;
    candidate_init(&n->c, arena_create(), &a->p->task);
    n->c.node = pick->node;
    n->c.parent = pick->parent;
    n->c.seed = rng_mix(a->p->seed, (uint64_t)pick->node);
    n->c.option = *option;
    return n;
}

static int64_t find_twin(const struct asking *a, const struct asked *n)
{
    const struct hash key = n->c.compilation.key;

    for (size_t i = 0; i + 1 < a->nr; i++) {
        const struct asked *other = &a->nodes[i];

        if (other->twin < 0 && other->c.compilation.key.high == key.high &&
            other->c.compilation.key.low == key.low)
            return (int64_t)i;
    }
    return -1;
}

/* *fresh: the newest node is worth an evaluation. Else it is told, or will be when its twin is. */
static bool settle(struct asking *a, bool *fresh, struct err *err)
{
    struct asked *n = &a->nodes[a->nr - 1];

    if (!compile_kernel(workbench_compiler(a->p->bench), &n->c, err))
        return false;
    *fresh = false;
    if (n->c.verdict == VERDICT_OK) {
        n->twin = find_twin(a, n);
        *fresh = n->twin < 0;
        if (n->twin >= 0 && a->nodes[n->twin].told)
            tell_twins(a, n->twin);
    } else {
        pass_on(a, n);
    }
    return true;
}

static bool make(struct asking *a, const struct search_pick *pick, bool *fresh, struct err *err)
{
    const struct option *option = moves_find(&a->nodes[pick->parent].c, pick->move);
    struct propose_context context;
    struct asked *n;
    bool ready;

    if (!option)
        return err_set(err, "the search picked a move that its node does not have");
    n = begin(a, pick, option);
    context = (struct propose_context){.parent = &a->nodes[pick->parent].c};
    return propose_start(a->propose, &context, &n->c, &ready, err) && settle(a, fresh, err);
}

bool asking_next(struct asking *a, int64_t *node, struct err *err)
{
    struct search_pick pick;
    bool fresh;

    *node = 0;
    while (search_ask(a->search, &pick)) {
        if (!make(a, &pick, &fresh, err))
            return false;
        if (fresh) {
            *node = pick.node;
            return true;
        }
    }
    return true;
}

bool asking_add(struct asking *a, int64_t parent, const char *text, size_t bytes, int64_t *node,
    struct err *err)
{
    const struct search_move move = {.id = outside + (uint32_t)a->nr};
    const struct option option = {.action = ACTION_NONE, .what = "from outside"};
    struct search_pick pick;

    if (!asking_candidate(a, parent) || !search_follow(a->search, parent, &move, &pick))
        return err_set(
            err, "node %lld cannot be extended: it failed, or is not told", (long long)parent);
    judge_take(&begin(a, &pick, &option)->c, text, bytes);
    *node = pick.node;
    return true;
}

/* ---- telling ---- */

/* A speed that was measured elsewhere, and the emulator's counters for the priors of its moves. */
static bool take_speed(struct asking *a, struct candidate *c, double speedup, struct err *err)
{
    if (!(speedup > 0) || !isfinite(speedup)) {
        if (c->verdict == VERDICT_OK)
            candidate_fail(c, VERDICT_WRONG, 0, "it failed where it was evaluated");
        return true;
    }
    if (!judge_compile(a->p, c, err))
        return false;
    if (c->verdict != VERDICT_OK)
        return true;
    if (!judge_time(a->p, c, err))
        return false;
    if (c->verdict != VERDICT_OK) { /* the emulator cannot run it, and whoever measured could */
        c->verdict = VERDICT_OK;
        c->verdict_text = NULL;
        c->profiled = false;
    }
    c->speedup = speedup;
    return true;
}

bool asking_tell(struct asking *a, int64_t node, const struct asking_told *told, struct err *err)
{
    struct asked *n = node > 0 && (size_t)node < a->nr ? &a->nodes[node] : NULL;

    if (!n || n->told || n->twin >= 0)
        return err_set(err, "node %lld was not asked, or was told already", (long long)node);
    if (!(told->evaluate ? judge(a->p, &n->c, err) : take_speed(a, &n->c, told->speedup, err)))
        return false;
    if (n->c.verdict == VERDICT_OK && !list_moves(a, &n->c, err))
        return false;
    pass_on(a, n);
    tell_twins(a, node);
    return true;
}

/* ---- looking ---- */

const struct prepared *asking_original(const struct asking *a)
{
    return a->p;
}

struct candidate *asking_candidate(const struct asking *a, int64_t node)
{
    return node >= 0 && (size_t)node < a->nr ? &a->nodes[node].c : NULL;
}

int64_t asking_best(const struct asking *a, double *speedup)
{
    double reward = 0;
    const int64_t node = search_best(a->search, &reward);

    *speedup = exp2(reward);
    return node;
}

bool asking_converged(const struct asking *a, unsigned window)
{
    return search_converged(a->search, window, log2(1.01));
}
