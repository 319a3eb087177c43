/* Owns the stage: which proposer carries out a move, and what the move makes of a candidate. */
#include "propose/propose.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/plan_tunes.h"
#include "llm/llm_key.h"
#include "propose/model/model.h"
#include "propose/model/prompt.h"
#include "propose/proposer.h"
#include "propose/rewrite/rewrite.h"
#include "propose/rewrite/rewriter.h"
#include "propose/tune/tuning_memory.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>

static const struct proposer_ops *const proposers[] = {&rewriter_ops, &tuner_ops};

struct propose {
    const struct task *task; /* borrowed */
    bool forbid_fast_math;
    struct propose_options options;
    struct prompts *prompts;
    struct model *model; /* NULL: none is asked */
    struct rewriter *rewriter;
    struct tuning *tuning;
    struct str refusals;
};

bool proposer_chip_lacks(const struct chip *chip, enum action action)
{
    return action == ACTION_WGMMA ? !chip_has_wgmma(chip)
                                  : (action == ACTION_TENSOR_COPY || action == ACTION_CLUSTER) &&
                                        !chip_has_clusters(chip);
}

void option_add(struct option_list *list, const struct option *option)
{
    if (list->nr == list->cap) {
        const unsigned cap = list->cap ? 2 * list->cap : 32;
        struct option *items = arena_array(list->arena, cap, sizeof(*items));
        if (list->nr)
            memcpy(items, list->items, list->nr * sizeof(*items));
        list->items = items;
        list->cap = cap;
    }
    list->items[list->nr++] = *option;
}

void propose_hide_keys(void)
{
    keys_hide();
}

void propose_keys(struct propose_key keys[PROPOSE_NR_KEYS])
{
    _Static_assert((int)PROPOSE_NR_KEYS == (int)NR_VENDORS, "one for each vendor");
    for (int v = 0; v < NR_VENDORS; v++)
        key_variable((enum vendor)v, &keys[v].is_set, &keys[v].file, keys[v].variable);
}

const char *propose_parser(struct err *err)
{
    return rewriter_parser(err);
}

struct propose *propose_create(
    const struct propose_options *options, const struct task *task, struct err *err)
{
    struct propose *p = xcalloc(1, sizeof(*p));
    p->task = task;
    p->forbid_fast_math = options->forbid_fast_math;
    p->options = *options;
    p->tuning = tuning_create(options->seed);
    p->prompts = prompts_load(options->prompts_dir, err);
    if (!p->prompts) {
        propose_destroy(p);
        return NULL;
    }
    p->rewriter =
        rewriter_start(task, options->forbid_fast_math, options->smem_per_block_bytes, err);
    if (!p->rewriter) {
        propose_destroy(p);
        return NULL;
    }
    if (options->chip)
        p->model = model_create(&p->options, p->prompts, task, err);
    if (options->chip && !p->model) {
        propose_destroy(p);
        return NULL;
    }
    return p;
}

void propose_destroy(struct propose *p)
{
    if (!p)
        return;
    model_destroy(p->model);
    rewriter_stop(p->rewriter);
    tuning_destroy(p->tuning);
    prompts_destroy(p->prompts);
    str_finish(&p->refusals);
    free(p);
}

const char *propose_refusals(const struct propose *p)
{
    return str_text(&p->refusals);
}

const char *propose_action_text(const struct propose *p, enum action action)
{
    return action >= 0 && action < NR_ACTIONS ? prompts_action(p->prompts, action) : "";
}

/* Fill c->plan from c->source, or give c the verdict that ends it. */
static void read_plan(const struct propose *p, struct candidate *c)
{
    enum verdict verdict = VERDICT_CONTRACT;
    struct err why;
    if (!plan_parse(&c->plan, p->task, c->arena, c->source, c->source_bytes, &verdict, &why))
        candidate_fail(c, verdict, 0, "%s", why.text);
}

/* What proposers see of c: its source and its plan. */
static struct rewrite_in prepare(const struct propose *p, const struct candidate *c)
{
    return (struct rewrite_in){.arena = c->arena,
        .task = p->task,
        .plan = &c->plan,
        .source = c->source,
        .bytes = c->source_bytes,
        .forbid_fast_math = p->forbid_fast_math,
        .rewriter = p->rewriter,
        .tuning = p->tuning};
}

static const struct proposer_ops *find_proposer(enum proposer proposer)
{
    for (size_t i = 0; i < ARRAY_SIZE(proposers); i++)
        if (proposers[i]->proposer == proposer)
            return proposers[i];
    return NULL;
}

/* Carry out c's mechanical move on c->source and c->plan, which are the parent's before and c's own
 * after. */
static bool make(const struct propose *p, struct candidate *c, struct err *err)
{
    const struct proposer_ops *proposer = find_proposer(c->option.proposer);
    const char *action = action_name(c->option.action);
    const struct rewrite_in in = prepare(p, c);
    struct rewrite_out out = {.edits = {.arena = c->arena}};
    bool made;
    if (!proposer->make(&in, &c->option, &out, &made, err))
        return false;
    if (!made) {
        c->proposal_note = out.why ? out.why : "the move does not apply";
        return candidate_fail(
            c, VERDICT_NO_KERNEL, 0, "%s does not apply: %s", action, c->proposal_note);
    }
    if (!out.text)
        out.text = edits_apply(&out.edits, in.source, in.bytes, &out.bytes);
    if (!out.text)
        return err_set(err, "the edits of %s overlap", action);
    c->proposal_note = out.what;
    if (!c->option.what || c->option.proposer == PROPOSER_TUNER)
        c->option.what = out.what; /* the tuner chooses only now */
    c->source = out.text;
    c->source_bytes = out.bytes;
    read_plan(p, c);
    return true;
}

/* parent_plan: NULL where the parent's text alone is known. */
static bool propose_child(struct propose *p, const char *parent_source, size_t parent_bytes,
    const struct plan *parent_plan, struct candidate *c, struct err *err)
{
    /* A candidate whose move does not apply keeps its parent's source, for whoever looks at it. */
    c->source = arena_strndup(c->arena, parent_source, parent_bytes);
    c->source_bytes = parent_bytes;
    if (!find_proposer(c->option.proposer))
        return err_set(err, "there is no proposer %s", proposer_name(c->option.proposer));
    if (parent_plan)
        c->plan = *parent_plan;
    else
        read_plan(p, c);
    return candidate_settled(c) || make(p, c, err);
}

bool propose_kernel(struct propose *p, const char *parent_source, size_t parent_bytes,
    struct candidate *c, struct err *err)
{
    if (c->option.action != ACTION_NONE)
        return propose_child(p, parent_source, parent_bytes, NULL, c, err);
    c->proposal_note = "the original";
    c->source = p->task->source;
    c->source_bytes = p->task->source_bytes;
    read_plan(p, c);
    return true;
}

/* Leaves out what the chip cannot run. */
static void keep_possible(const struct chip *chip, struct option_list *list)
{
    enum action lacked = ACTION_NONE; /* the last one: variants of a move follow each other */
    unsigned nr = 0;
    for (unsigned i = 0; i < list->nr; i++) {
        const enum action action = list->items[i].action;
        if (!chip || !proposer_chip_lacks(chip, action)) {
            list->items[nr++] = list->items[i];
        } else if (action != lacked) {
            str_addf(list->refusals, "%s: %s has none\n", action_name(action), chip->name);
            lacked = action;
        }
    }
    list->nr = nr;
}

bool propose_options(struct propose *p, struct candidate *c, struct err *err)
{
    struct option_list list = {.arena = c->arena, .refusals = &p->refusals};
    const struct rewrite_in in = prepare(p, c);
    str_clear(&p->refusals);
    if (c->reused)
        return true; /* listed already */
    c->options = NULL;
    c->nr_options = 0;
    if (candidate_settled(c))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(proposers) && !p->options.model_only && !p->options.tune_only;
         i++)
        if (!proposers[i]->list(&in, &list, err))
            return false;
    if (p->options.tune_only && c->option.action == ACTION_NONE)
        tuner_list_all(&in, &list);
    keep_possible(p->options.runs_on, &list);
    if (list.note)
        c->proposal_note = c->proposal_note
                               ? arena_printf(c->arena, "%s; %s", c->proposal_note, list.note)
                               : list.note;
    if (propose_has_model(p))
        model_list(p->model, c, &list);
    for (unsigned i = 0; i < list.nr; i++)
        list.items[i].prior = 1.0f / (float)list.nr;
    c->options = list.items;
    c->nr_options = list.nr;
    return true;
}

/* --- with a model --- */

/* The share of the priors that the requests to a model get together. A model can do what the
 * rewriter cannot, but each of its answers costs. */
static const float MODEL_SHARE = 0.5f;

bool propose_has_model(const struct propose *p)
{
    return p->model && p->options.nr_models > 0;
}

void propose_priors(const struct propose *p, struct candidate *c)
{
    float mine = 0, others = 0;

    if (!propose_has_model(p))
        return;
    for (unsigned i = 0; i < c->nr_options; i++) {
        if (c->options[i].proposer == PROPOSER_MODEL)
            mine += c->options[i].prior = model_weight(&c->options[i]);
        else
            others += c->options[i].prior;
    }
    for (unsigned i = 0; i < c->nr_options && mine > 0; i++) {
        const bool is_mine = c->options[i].proposer == PROPOSER_MODEL;
        const float share = others <= 0 ? 1 : is_mine ? MODEL_SHARE : 1 - MODEL_SHARE;

        c->options[i].prior *= share / (is_mine ? mine : others);
    }
}

void propose_arm(const struct option *option, struct search_move *move)
{
    move->arm = move->flags = 0;
    if (option->proposer == PROPOSER_TUNER)
        move->flags = SEARCH_SOON;
    if (option->proposer == PROPOSER_MODEL)
        model_arm(option, move);
}

bool propose_start(struct propose *p, const struct propose_context *context, struct candidate *c,
    bool *ready, struct err *err)
{
    const struct candidate *parent = context->parent;
    *ready = c->option.proposer != PROPOSER_MODEL;
    if (*ready)
        return propose_child(p, parent->source, parent->source_bytes,
            parent->plan.nr_launches ? &parent->plan : NULL, c, err);
    if (!propose_has_model(p))
        return err_set(err, "the tree has moves of a model; go on with the same --model");
    return model_start(p->model, context, c, err);
}

bool propose_wait(struct propose *p, double timeout_ms, struct candidate **ready, struct err *err)
{
    *ready = NULL;
    return !propose_has_model(p) || model_wait(p->model, timeout_ms, ready, err);
}

bool propose_repair(struct propose *p, struct candidate *c, bool *asked, struct err *err)
{
    *asked = false;
    return c->option.proposer != PROPOSER_MODEL || !propose_has_model(p) ||
           model_repair(p->model, c, asked, err);
}

bool propose_goes_on(const struct propose *p, const struct candidate *c)
{
    return propose_has_model(p) && model_goes_on(p->model, c);
}

bool propose_follow(struct propose *p, const struct propose_context *context,
    const struct candidate *before, struct candidate *c, struct err *err)
{
    return model_follow(p->model, context, before, c, err);
}

void propose_told(struct propose *p, const struct candidate *c, double gain)
{
    struct rewrite_in in = prepare(p, c);
    struct plan plan;

    if (!c->plan.nr_launches && c->source && c->verdict != VERDICT_CONTRACT &&
        c->verdict != VERDICT_NO_KERNEL && /* of a run that was resumed */
        plan_parse_tunes(&plan, p->task, c->arena, c->source, c->source_bytes))
        in.plan = &plan;
    if (in.plan->nr_tunes > 0 && c->source)
        tuning_told(p->tuning, &in, c->verdict == VERDICT_OK ? c->speedup : 0);
    if (propose_has_model(p))
        model_told(p->model, c, gain);
}

bool propose_abandon(struct propose *p, struct err *err)
{
    return !propose_has_model(p) || model_abandon(p->model, err);
}

void propose_moment(struct propose *p, uint64_t moment)
{
    if (propose_has_model(p))
        model_moment(p->model, moment);
}

struct model_spent propose_spent(const struct propose *p)
{
    return p->model ? model_spent(p->model) : (struct model_spent){0};
}

bool propose_show(struct propose *p, const struct propose_context *context, struct candidate *c,
    struct str *out, struct err *err)
{
    if (!p->model)
        return err_set(err, "prompts cannot be shown without a chip");
    return model_show(p->model, context, c, out, err);
}
