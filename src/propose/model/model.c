/* Owns the endpoints, and the candidates under way from their start to their end. */
#include "propose/model/model.h"

#include "base/mem.h"
#include "base/str.h"
#include "propose/model/by_kind.h"
#include "propose/model/model_parts.h"
#include "propose/model/phrases.h"
#include "propose/rewrite/rewrite.h"
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 10, ABANDON_MS = 1000 };

static bool open_endpoint(struct model *m, const char *spec, struct err *err)
{
    struct endpoint *e = &m->endpoints[m->nr_endpoints];
    struct llm_limits limits = llm_default_limits();
    struct price price;

    limits.in_flight = m->options->in_flight ? m->options->in_flight : limits.in_flight;
    limits.seed = m->options->seed;
    if (m->options->call_s > 0)
        limits.total_s = limits.first_byte_s = limits.idle_s = m->options->call_s;
    if (m->options->need_prices && !price_find(m->prices, "", spec, &price))
        return err_set(err, "--max-cost needs a price for %s; add a line to %s/prices.txt", spec,
            m->options->prompts_dir);
    e->spec = spec;
    e->llm = llm_create(spec, &limits, err);
    if (!e->llm)
        return false;
    m->nr_endpoints++;
    if (!m->options->record_path)
        return true;
    const char *path = m->options->record_path;
    if (m->nr_endpoints > 1)
        path = arena_printf(m->arena, "%s.%u", path, m->nr_endpoints);
    return llm_record(e->llm, path, err) || err_wrap(err, "--record");
}

struct model *model_create(const struct propose_options *options, const struct prompts *prompts,
    const struct task *task, struct err *err)
{
    struct model *m = xcalloc(1, sizeof(*m));
    bool ok;

    m->options = options;
    m->prompts = prompts;
    m->task = task;
    m->arena = arena_create();
    m->prices = prices_load(arena_printf(m->arena, "%s/prices.txt", options->prompts_dir), err);
    if (m->prices)
        m->techniques =
            techniques_load(arena_printf(m->arena, "%s/techniques", options->prompts_dir),
                options->techniques_dir, err);
    ok = m->prices && m->techniques &&
         by_kind_check(options->temperature, "--temperature", true, err) &&
         by_kind_check(options->effort, "--effort", false, err);
    if (ok && options->nr_models > PROPOSE_MAX_MODELS)
        ok = err_set(err, "at most %d models in one run", PROPOSE_MAX_MODELS);
    for (unsigned i = 0; ok && !options->show_only && i < options->nr_models; i++)
        ok = open_endpoint(m, options->models[i], err);
    if (ok) {
        model_write_system(m);
        return m;
    }
    model_destroy(m);
    return NULL;
}

void model_destroy(struct model *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        llm_destroy(m->endpoints[i].llm);
        free(m->endpoints[i].why);
    }
    prices_destroy(m->prices);
    techniques_destroy(m->techniques);
    arena_destroy(m->arena);
    free(m);
}

struct model_job *model_job_of(struct model *m, const struct candidate *c)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (m->jobs[i].c == c)
            return &m->jobs[i];
    return NULL;
}

/* --- kinds of requests --- */

/* How many requests of a kind a node offers; each has a hint of its own. */
enum { NR_DESIGNS = 8, NR_IMPROVEMENTS = 6, NR_COMBINATIONS = 2, NR_EPISODES = 3 };
enum { NR_INDEPENDENT = 64 }; /* designs of the original, where nothing else is asked for */

static const char *const request_texts[NR_ACTIONS] = {[ACTION_DESIGN] = "a design",
    [ACTION_IMPROVE] = "an improvement",
    [ACTION_COMBINE] = "a combination",
    [ACTION_REPAIR] = "a repair of what made it slower",
    [ACTION_PARAMETERISE] = "tuning parameters",
    [ACTION_EPISODE] = "an episode"};

static void list_request(struct option_list *list, enum action action, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        option_add(list,
            &(struct option){.action = action,
                .proposer = PROPOSER_MODEL,
                .variant = i,
                .what = arena_printf(list->arena, "%s, by the model", request_texts[action])});
}

/* Is c a model's version that is right but slower than its parent? Known while its job lasts. */
static bool is_slower(const struct model *m, const struct candidate *c)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (m->jobs[i].c == c)
            return c->speedup > 0 && c->speedup < m->jobs[i].parent_speedup &&
                   c->option.action != ACTION_PARAMETERISE;
    return false;
}

void model_list(const struct model *m, const struct candidate *c, struct option_list *list)
{
    if (m->options->independent) {
        list_request(list, ACTION_DESIGN, c->node == 0 ? NR_INDEPENDENT : 0);
        return;
    }
    if (m->options->episodes != EPISODES_OFF)
        list_request(list, ACTION_EPISODE, NR_EPISODES);
    if (m->options->episodes == EPISODES_ONLY)
        return;
    if (c->node == 0)
        list_request(list, ACTION_DESIGN, NR_DESIGNS);
    list_request(list, ACTION_IMPROVE, NR_IMPROVEMENTS);
    list_request(list, ACTION_COMBINE, c->node == 0 ? 0 : NR_COMBINATIONS);
    list_request(list, ACTION_REPAIR, is_slower(m, c));
    list_request(list, ACTION_PARAMETERISE, c->node > 0 && c->plan.nr_tunes == 0);
}

float model_weight(const struct option *option)
{
    static const float weights[NR_ACTIONS] = {[ACTION_DESIGN] = 1.0f,
        [ACTION_IMPROVE] = 1.0f,
        [ACTION_COMBINE] = 0.4f,
        [ACTION_REPAIR] = 0.4f,
        [ACTION_PARAMETERISE] = 0.4f,
        [ACTION_EPISODE] = 1.0f};

    if (!action_is_request(option->action))
        return 0.1f;
    return weights[option->action] / (float)(2 + option->variant);
}

void model_arm(const struct option *option, struct search_move *move)
{
    static const uint8_t flags[NR_ACTIONS] = {[ACTION_DESIGN] = SEARCH_FRESH,
        [ACTION_IMPROVE] = SEARCH_FROM_BEST,
        [ACTION_COMBINE] = SEARCH_FROM_BEST | SEARCH_FRESH | SEARCH_PAIR,
        [ACTION_REPAIR] = 0,
        [ACTION_PARAMETERISE] = SEARCH_FROM_BEST,
        [ACTION_EPISODE] = SEARCH_FROM_BEST};

    if (!action_is_request(option->action))
        return;
    move->arm = (uint8_t)(1 + option->action - ACTION_DESIGN);
    move->flags = flags[option->action];
}

/* --- candidates --- */

bool model_start(
    struct model *m, const struct propose_context *context, struct candidate *c, struct err *err)
{
    struct model_job *job = model_job_of(m, NULL);
    const int endpoint = model_choose(m);

    if (!job || endpoint < 0)
        return err_set(err, "%s", job ? "no model is left" : "too many candidates under way");
    *job = (struct model_job){.c = c,
        .endpoint = (unsigned)endpoint,
        .parent_speedup = context->parent->speedup,
        .stage = c->option.action == ACTION_EPISODE ? STAGE_EPISODE
                 : m->options->plan                 ? STAGE_PLAN
                                                    : STAGE_WRITE};
    for (unsigned i = 0; i < c->nr_calls; i++) /* calls of a run that ended before the node did */
        model_spent_add(&m->spent, &c->calls[i]);
    model_fill(m, context, c, job);
    c->source = job->base;
    c->source_bytes = strlen(job->base);
    return model_ask(m, job, err);
}

/* A candidate that is ready and was not handed out yet; NULL: none is. */
static struct candidate *hand_out(struct model *m)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++) {
        struct model_job *job = &m->jobs[i];

        if (job->c && job->stage == STAGE_READY && !job->given) {
            job->given = true;
            return job->c;
        }
    }
    return NULL;
}

/* Take replies until a candidate is ready. */
static bool drain(struct model *m, double timeout_ms, struct candidate **ready, struct err *err)
{
    *ready = hand_out(m);
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        struct llm_reply reply;

        while (!*ready && llm_in_flight(m->endpoints[i].llm) > 0 &&
               llm_wait(m->endpoints[i].llm, timeout_ms, &reply)) {
            if (!model_take(m, i, &reply, err))
                return false;
            *ready = hand_out(m);
        }
    }
    return true;
}

bool model_wait(struct model *m, double timeout_ms, struct candidate **ready, struct err *err)
{
    if (m->nr_endpoints == 1)
        return drain(m, timeout_ms, ready, err);
    for (double waited = 0;; waited += POLL_MS * m->nr_endpoints) {
        if (!drain(m, waited > 0 || timeout_ms > 0 ? POLL_MS : 0, ready, err))
            return false;
        if (*ready || waited >= timeout_ms)
            return true;
    }
}

static bool can_repair(const struct model_job *job)
{
    if (!job || job->hopeless || job->nr_repairs >= PROPOSE_REPAIRS ||
        job->c->option.action == ACTION_EPISODE) /* there, the next try is the repair */
        return false;
    switch (job->c->verdict) {
    case VERDICT_NO_KERNEL:
    case VERDICT_CONTRACT:
    case VERDICT_NO_COMPILE:
    case VERDICT_LAUNCH_FAILED:
    case VERDICT_FAULT:
    case VERDICT_RACE:
    case VERDICT_TIMEOUT:
    case VERDICT_WRONG:
    case VERDICT_NONDETERMINISTIC:
    case VERDICT_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}

/* The candidate as it was before its first evaluation, with the source of the last answer. */
static void forget_results(struct candidate *c)
{
    c->verdict = VERDICT_OK;
    c->verdict_text = NULL;
    c->verdict_line = 0;
    c->compilation = (struct compilation){0};
    c->check = (struct check_result){0};
    c->profile = (struct profile){0};
    c->profiled = false;
    c->explanation = (struct explanation){0};
    c->recalled = false;
    c->recalled_from = -1;
    c->options = NULL;
    c->nr_options = 0;
    c->speedup = 0;
}

bool model_repair(struct model *m, struct candidate *c, bool *asked, struct err *err)
{
    struct model_job *job = model_job_of(m, c);

    *asked = can_repair(job);
    if (!*asked)
        return true;
    job->nr_repairs++;
    job->failed = c->verdict;
    job->failed_text = c->verdict_text;
    job->stage = STAGE_REPAIR;
    job->nr_turns = 0;
    job->given = false;
    job->base = arena_strndup(c->arena, c->source, c->source_bytes);
    job->values.text[PLACE_PROBLEM] = phrase_problem(c->arena, c);
    job->values.text[PLACE_EXCERPT] = phrase_excerpt(c->arena, job->base, c->verdict_line);
    forget_results(c);
    return model_ask(m, job, err);
}

void model_told(struct model *m, const struct candidate *c, double gain)
{
    struct model_job *job = model_job_of(m, c);
    bool counted = false;

    for (unsigned i = 0; i < c->nr_calls; i++) {
        for (unsigned k = 0; k < m->nr_endpoints; k++) {
            struct endpoint *e = &m->endpoints[k];

            if (strcmp(e->spec, c->calls[i].model) != 0)
                continue;
            e->cost += model_cost_of(&c->calls[i]);
            if (!counted && i + 1 == c->nr_calls) {
                e->gain += fmax(gain, 0);
                e->nr_nodes++;
                counted = true;
            }
        }
        if (!job) /* a call of the run that is resumed: model_answer.c has not counted it */
            model_spent_add(&m->spent, &c->calls[i]);
    }
    if (job)
        *job = (struct model_job){0};
}

/* Late answers belong to a moment of their own. A replay of the same length then meets none of them
 * before its end. */
bool model_abandon(struct model *m, struct err *err)
{
    bool ok = true;

    model_moment(m, m->moment + 1);
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        struct llm *llm = m->endpoints[i].llm;
        struct llm_reply reply;

        llm_abandon(llm);
        while (llm_in_flight(llm) > 0)
            if (llm_wait(llm, ABANDON_MS, &reply))
                ok = model_take_late(m, i, &reply, err) && ok;
    }
    return ok;
}

void model_moment(struct model *m, uint64_t moment)
{
    m->moment = moment;
    for (unsigned i = 0; i < m->nr_endpoints; i++)
        llm_set_moment(m->endpoints[i].llm, moment);
}

struct model_spent model_spent(const struct model *m)
{
    return m->spent;
}

bool model_show(struct model *m, const struct propose_context *context, struct candidate *c,
    struct str *out, struct err *err)
{
    struct model_job job = {.c = c, .stage = m->options->plan ? STAGE_PLAN : STAGE_WRITE};

    if (m->options->episodes == EPISODES_ONLY) {
        c->option.action = ACTION_EPISODE;
        job.stage = STAGE_EPISODE;
    }
    model_fill(m, context, c, &job);
    for (bool last = false; !last; job.stage++) {
        struct llm_message messages[4];
        struct llm_request request = {.messages = messages, .purpose = model_purpose(&job)};

        if (!model_build(m, &job, messages, &request.nr_messages))
            return err_set(err, "the kernel file is longer than a prompt may be; raise "
                                "--prompt-tokens");
        struct str text = {0};
        llm_prompt_text(&request, &text);
        str_addf(out, "===== %s, about %zu tokens =====\n", model_purpose(&job),
            prompt_tokens(str_text(&text)));
        str_add(out, str_text(&text));
        str_add(out, "\n");
        str_finish(&text);
        last = job.stage != STAGE_PLAN;
        job.values.text[PLACE_PLAN] = "(the answer to the first prompt)";
    }
    return true;
}
