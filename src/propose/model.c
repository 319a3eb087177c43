/* Owns the model's part: who is asked, what, and what becomes of the answers. */
#include "propose/model.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "propose/llm.h"
#include "propose/price.h"
#include "propose/reply.h"
#include "propose/phrases.h"
#include "propose/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROMPT_TOKENS = 24000, /* of one prompt, unless told */
    REPLY_TOKENS = 16384,  /* room to think, and a long kernel file */
    FAILURES = 8,          /* in a row, each after its own attempts, until a model is given up */
    LEAST_ANSWER = 512,    /* bytes that a look-up may answer however full the prompt is */
    POLL_MS = 10
};

/* Of the bandit over models: how much one that was asked less is preferred. */
static const double EXPLORE = 0.7;
/* What a token counts where it has no price, in dollars. */
static const double TOKEN_COST = 1e-6;

struct endpoint {
    struct llm *llm;
    const char *spec;
    bool by_text;         /* it refused function definitions: tools by text */
    bool broken;          /* it will not answer any more */
    unsigned nr_failures; /* in a row */
    char *why;
    /* for the bandit */
    unsigned nr_nodes;
    double gain, cost;
};

enum stage { STAGE_PLAN, STAGE_WRITE, STAGE_REPAIR, STAGE_READY };
static const char *const purposes[] = {"plan", "write", "repair"};

/* A candidate under way, from model_start to model_told. */
struct job {
    struct candidate *c; /* NULL: the slot is free */
    enum stage stage;
    unsigned endpoint;
    uint64_t id; /* of the call in flight */
    struct prompt_values values;
    const char *base;       /* what edits are made on */
    const char *write_text; /* the user's part of the write prompt */
    const char *last_reply; /* to it, or to the last repair */
    unsigned nr_repairs;
    struct llm_message *turns; /* look-ups of this stage and their answers */
    unsigned nr_turns;
    unsigned nr_rounds;  /* of look-ups, in all stages */
    bool with_functions; /* the call in flight has tools */
    size_t prompt_bytes; /* of the call in flight */
    bool given;          /* ready, and handed out by model_wait */
    bool hopeless;       /* the last failure is not one that a repair can mend */
};

struct model {
    const struct propose_options *options;
    const struct prompts *prompts;
    const struct task *task;
    struct arena *arena; /* what is the same for the whole run */
    struct price_table *prices;
    struct endpoint endpoints[PROPOSE_MAX_MODELS];
    unsigned nr_endpoints;
    struct job jobs[PROPOSE_MAX_IN_FLIGHT];
    const char *system;         /* the stable prefix */
    const char *system_by_text; /* with the tools, for endpoints without function calling */
    struct propose_spent spent;
};

static unsigned prompt_budget(const struct model *m)
{
    return m->options->prompt_tokens ? m->options->prompt_tokens : PROMPT_TOKENS;
}

static bool open_endpoint(struct model *m, const char *spec, struct err *err)
{
    struct endpoint *e = &m->endpoints[m->nr_endpoints];
    struct llm_limits limits = llm_default_limits();
    struct price price;

    limits.in_flight = m->options->in_flight ? m->options->in_flight : limits.in_flight;
    limits.seed = m->options->seed;
    if (m->options->need_prices && !price_find(m->prices, "", spec, &price))
        return err_set(err, "--max-cost needs a price for %s; add a line to %s/prices.txt", spec,
            m->options->prompts_dir);
    e->spec = spec;
    e->llm = llm_create(spec, &limits, err);
    if (!e->llm)
        return err_wrap(err, "--model %s", spec);
    m->nr_endpoints++;
    if (!m->options->record_path)
        return true;
    const char *path = m->options->record_path;
    if (m->nr_endpoints > 1)
        path = arena_printf(m->arena, "%s.%u", path, m->nr_endpoints);
    return llm_record(e->llm, path, err) || err_wrap(err, "--record");
}

static void write_system(struct model *m)
{
    const struct prompt_values values = {
        .text = {
            [PLACE_CONTRACT] = phrase_contract(m->arena, m->task),
            [PLACE_HARDWARE] = phrase_hardware(m->arena, m->options->chip),
        }};

    m->system = m->system_by_text = prompt_fill(m->prompts, PROMPT_SYSTEM, &values, m->arena);
    if (!m->options->library)
        return;
    m->system = arena_printf(
        m->arena, "%s\n%s", m->system, prompt_fill(m->prompts, PROMPT_CUTLASS, &values, m->arena));
    m->system_by_text = arena_printf(m->arena, "%s%s", m->system, lookup_by_text(m->arena));
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
    ok = m->prices != NULL;
    if (ok && options->nr_models > PROPOSE_MAX_MODELS)
        ok = err_set(err, "at most %d models in one run", PROPOSE_MAX_MODELS);
    for (unsigned i = 0; ok && i < options->nr_models; i++)
        ok = open_endpoint(m, options->models[i], err);
    if (ok) {
        write_system(m);
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
    arena_destroy(m->arena);
    free(m);
}

void model_list(const struct model *m, const struct rewrite_in *in, struct option_list *list)
{
    for (int a = 0; a < NR_ACTIONS; a++) {
        const enum action action = (enum action)a;

        /* Values of parameters are the tuner's, who tries them without asking anyone. */
        if (action == ACTION_TUNE || (action == ACTION_FAST_MATH && in->forbid_fast_math))
            continue;
        option_add(
            list, &(struct option){.action = action,
                      .proposer = PROPOSER_MODEL,
                      .what = arena_printf(list->arena, "%s, by the model", action_name(action))});
    }
}

/* --- which model --- */

/* UCB on gain per dollar: each model's ratio over the best one's, and a bonus for those that were
 * asked less. Picks under way count as asked, so that several at once spread. */
static int choose_endpoint(const struct model *m)
{
    double ratios[PROPOSE_MAX_MODELS] = {0}, best_ratio = 0, best = -INFINITY;
    unsigned nr[PROPOSE_MAX_MODELS], all = 0;
    int chosen = -1;

    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        const struct endpoint *e = &m->endpoints[i];

        nr[i] = e->nr_nodes;
        for (unsigned k = 0; k < PROPOSE_MAX_IN_FLIGHT; k++)
            nr[i] += m->jobs[k].c && m->jobs[k].endpoint == i;
        all += nr[i];
        ratios[i] = e->nr_nodes ? (e->gain + 0.01) / (e->cost + 1e-4) : 0;
        best_ratio = fmax(best_ratio, ratios[i]);
    }
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        double score = nr[i] == 0 ? INFINITY : EXPLORE * sqrt(log(all) / nr[i]);

        if (m->endpoints[i].broken)
            continue;
        score += best_ratio > 0 ? ratios[i] / best_ratio : 0;
        if (chosen < 0 || score > best) {
            best = score;
            chosen = (int)i;
        }
    }
    return chosen;
}

/* Cost of a candidate's calls as the bandit sees it. */
static double cost_of(const struct model_call *call)
{
    if (!isnan(call->cost) && call->cost > 0)
        return call->cost;
    return (double)(call->tokens_in + call->tokens_out) * TOKEN_COST;
}

static struct job *job_of(struct model *m, const struct candidate *c)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (m->jobs[i].c == c)
            return &m->jobs[i];
    return NULL;
}

/* --- prompts --- */

static void fill_values(
    struct model *m, const struct propose_context *context, struct candidate *c, struct job *job)
{
    const struct candidate *parent = context->parent;

    job->base = arena_strndup(c->arena, parent->source, parent->source_bytes);
    job->values = (struct prompt_values){
        .text = {
            [PLACE_CONTRACT] = phrase_contract(c->arena, m->task),
            [PLACE_HARDWARE] = phrase_hardware(c->arena, m->options->chip),
            [PLACE_SOURCE] = phrase_source(c->arena, job->base),
            [PLACE_STATE] = phrase_state(c->arena, parent),
            [PLACE_FINDINGS] = phrase_findings(c->arena, parent),
            [PLACE_SIBLINGS] =
                phrase_siblings(c->arena, parent, context->siblings, context->nr_siblings),
            [PLACE_LESSONS] = phrase_lessons(c->arena, context->lessons, context->nr_lessons),
            [PLACE_MOVE] = prompts_action(m->prompts, c->option.action),
        }};
}

/* Does the job's model look things up by calling functions? */
static bool has_functions(const struct model *m, const struct job *job)
{
    const struct endpoint *e = &m->endpoints[job->endpoint];

    return m->options->library && !e->by_text && (!e->llm || llm_has_tools(e->llm));
}

/* The messages of the job's stage, without look-ups; false: they do not fit the budget. */
static bool build(struct model *m, struct job *job, struct llm_message messages[4], unsigned *nr)
{
    struct arena *arena = job->c->arena;
    struct prompt_values trimmed;
    const char *system = has_functions(m, job) ? m->system : m->system_by_text;
    const size_t used = prompt_tokens(system), budget = prompt_budget(m);
    const enum prompt prompt = job->stage == STAGE_PLAN ? PROMPT_PLAN : PROMPT_WRITE;

    messages[0] = (struct llm_message){.role = "system", .text = system, .stable_until_here = true};
    if (job->stage != STAGE_REPAIR) {
        if (used >= budget ||
            !prompt_trim(m->prompts, prompt, &job->values, budget - used, arena, &trimmed))
            return false;
        job->write_text = prompt_fill(m->prompts, prompt, &trimmed, arena);
        messages[1] = (struct llm_message){.role = "user", .text = job->write_text};
        *nr = 2;
        return true;
    }
    messages[1] =
        (struct llm_message){.role = "user", .text = job->write_text, .stable_until_here = true};
    messages[2] = (struct llm_message){.role = "assistant", .text = job->last_reply};
    messages[3] = (struct llm_message){
        .role = "user", .text = prompt_fill(m->prompts, PROMPT_REPAIR, &job->values, arena)};
    *nr = 4;
    return true;
}

static struct model_call *add_call(struct candidate *c)
{
    struct model_call *calls = arena_array(c->arena, c->nr_calls + 1, sizeof(*calls));

    if (c->nr_calls > 0)
        memcpy(calls, c->calls, c->nr_calls * sizeof(*calls));
    c->calls = calls;
    return &calls[c->nr_calls++];
}

static void finish_job(struct job *job, const char *why)
{
    job->stage = STAGE_READY;
    if (why) {
        job->hopeless = true;
        job->c->proposal_note = why;
        candidate_fail(job->c, VERDICT_NO_KERNEL, 0, "%s", why);
    }
}

/* The messages with the look-ups made so far after them. */
static const struct llm_message *with_turns(
    const struct job *job, const struct llm_message *head, unsigned *nr)
{
    struct llm_message *all = arena_array(job->c->arena, *nr + job->nr_turns, sizeof(*all));

    memcpy(all, head, *nr * sizeof(*all));
    if (job->nr_turns > 0)
        memcpy(all + *nr, job->turns, job->nr_turns * sizeof(*all));
    *nr += job->nr_turns;
    return all;
}

/* Ask for the job's stage. A model that is gone is replaced by another one. */
static bool ask(struct model *m, struct job *job, struct err *err)
{
    struct llm_message head[4];
    struct llm_request request = {
        .max_tokens = REPLY_TOKENS, .temperature = -1, .purpose = purposes[job->stage]};
    struct str prompt = {0};
    struct model_call *call;

    if (m->endpoints[job->endpoint].broken) {
        const int other = choose_endpoint(m);
        job->endpoint = other < 0 ? job->endpoint : (unsigned)other;
        job->nr_turns = 0; /* look-ups are written down differently for each */
    }
    if (!build(m, job, head, &request.nr_messages)) {
        finish_job(job, "the kernel file is longer than a prompt may be (--prompt-tokens)");
        return true;
    }
    request.messages = with_turns(job, head, &request.nr_messages);
    job->with_functions = has_functions(m, job);
    if (job->with_functions) {
        request.tools = lookup_tools;
        request.nr_tools = NR_TOOLS;
    }
    call = add_call(job->c);
    llm_prompt_text(&request, &prompt);
    job->prompt_bytes = prompt.len;
    *call = (struct model_call){.purpose = request.purpose,
        .model = m->endpoints[job->endpoint].spec,
        .prompt = arena_strndup(job->c->arena, str_text(&prompt), prompt.len),
        .error = "given up: the run ended first",
        .tokens_in = prompt_tokens(str_text(&prompt)), /* until the endpoint says */
        .tokens_estimated = true,
        .cost = (double)NAN};
    str_finish(&prompt);
    return llm_start(m->endpoints[job->endpoint].llm, &request, &job->id, err);
}

/* --- answers --- */

static void tally(struct model *m, const struct model_call *call)
{
    m->spent.nr_calls++;
    m->spent.tokens += call->tokens_in + call->tokens_out;
    m->spent.cost += isnan(call->cost) ? 0 : call->cost;
}

static void account(struct model *m, const struct endpoint *e, const struct llm_reply *reply,
    struct candidate *c, struct model_call *call)
{
    struct price price;

    call->reply = *reply->text ? arena_strdup(c->arena, reply->text) : NULL;
    for (unsigned i = 0; i < reply->nr_calls; i++)
        call->reply = arena_printf(c->arena, "%s%s%s(%s)", call->reply ? call->reply : "",
            call->reply ? "\n" : "", reply->calls[i].name, reply->calls[i].arguments_json);
    call->error = *reply->error ? arena_strdup(c->arena, reply->error) : NULL;
    call->tokens_in = reply->tokens_in + reply->lost_in;
    call->tokens_out = reply->tokens_out + reply->lost_out;
    call->tokens_cached = reply->tokens_cached;
    call->tokens_estimated = reply->tokens_estimated || reply->lost_in || reply->lost_out;
    call->latency_ms = reply->latency_ms;
    if (price_find(m->prices, reply->model, e->spec, &price))
        call->cost = price_of(&price, call->tokens_in, call->tokens_cached, call->tokens_out);
    tally(m, call);
}

/* The answer becomes the candidate's source, or its verdict. */
static void take_code(
    struct model *m, struct job *job, const struct llm_reply *reply, struct model_call *call)
{
    struct candidate *c = job->c;
    struct reply read =
        reply_read(c->arena, reply->text, job->base, reply->outcome == LLM_TRUNCATED);
    enum verdict verdict = VERDICT_CONTRACT;
    struct err why;

    job->last_reply = arena_strdup(c->arena, *reply->text ? reply->text : "(empty)");
    c->proposal_note = *read.note ? read.note : read.why;
    if (reply->outcome == LLM_REFUSED && read.kind != REPLY_SOURCE)
        read = (struct reply){.kind = REPLY_REFUSED, .why = "the model refused"};
    if (read.kind != REPLY_SOURCE) {
        job->hopeless = strstr(read.why, "not apply") || strstr(read.why, "not applicable");
        candidate_fail(c, VERDICT_NO_KERNEL, 0, "%s", read.why);
    } else {
        c->source = read.source;
        c->source_bytes = read.bytes;
        if (!plan_parse(&c->plan, m->task, c->arena, read.source, read.bytes, &verdict, &why))
            candidate_fail(c, verdict, 0, "%s", why.text);
    }
    call->verdict = c->verdict;
    call->verdict_text = c->verdict_text;
    job->stage = STAGE_READY;
}

/* --- look-ups --- */

static struct llm_message *add_turns(struct job *job, unsigned nr)
{
    struct llm_message *turns = arena_array(job->c->arena, job->nr_turns + nr, sizeof(*turns));

    if (job->nr_turns > 0)
        memcpy(turns, job->turns, job->nr_turns * sizeof(*turns));
    job->turns = turns;
    job->nr_turns += nr;
    return &turns[job->nr_turns - nr];
}

static struct llm_tool_call *copy_tool_calls(
    struct arena *arena, const struct llm_tool_call *calls, unsigned nr)
{
    struct llm_tool_call *copies = arena_array(arena, nr, sizeof(*copies));

    for (unsigned i = 0; i < nr; i++)
        copies[i] = (struct llm_tool_call){.id = arena_strdup(arena, calls[i].id),
            .name = arena_strdup(arena, calls[i].name),
            .arguments_json = arena_strdup(arena, calls[i].arguments_json)};
    return copies;
}

/* Answers, in as much room as the prompt's budget leaves them. */
static const char **answer_calls(
    struct model *m, struct job *job, const struct llm_tool_call *calls, unsigned nr)
{
    const size_t most = prompt_budget(m) * (size_t)TOKEN_BYTES;
    const size_t room = most > job->prompt_bytes ? most - job->prompt_bytes : 0;
    const unsigned nr_answered = nr < TOOL_LINES ? nr : TOOL_LINES;
    const size_t each = room / nr_answered > LEAST_ANSWER ? room / nr_answered : LEAST_ANSWER;
    struct arena *arena = job->c->arena;
    const char **answers = arena_array(arena, nr, sizeof(*answers));

    if (each == LEAST_ANSWER)
        job->nr_rounds = TOOL_ROUNDS;
    for (unsigned i = 0; i < nr; i++)
        answers[i] = i < nr_answered
                         ? lookup_answer(m->options->library, arena, &calls[i], each)
                         : arena_printf(arena, "error: at most %d look-ups at once", TOOL_LINES);
    if (job->nr_rounds == TOOL_ROUNDS)
        answers[nr - 1] = arena_printf(arena,
            "%s\n\n(That was the last look-up. Give the answer itself now.)", answers[nr - 1]);
    return answers;
}

/* A reply that asks for look-ups gets them, and the model goes on with what it was asked. False:
 * it is an answer, or has had its rounds. */
static bool look_up(struct model *m, struct job *job, const struct llm_reply *reply)
{
    struct arena *arena = job->c->arena;
    const struct llm_tool_call *calls = reply->calls;
    unsigned nr = reply->nr_calls;
    struct llm_message *turns;
    const char **answers;

    if (!m->options->library || reply->outcome == LLM_FAILED || job->nr_rounds == TOOL_ROUNDS)
        return false;
    if (!job->with_functions)
        nr = lookup_read(arena, reply->text, &calls);
    if (nr == 0)
        return false;
    job->nr_rounds++;
    calls = copy_tool_calls(arena, calls, nr);
    answers = answer_calls(m, job, calls, nr);
    turns = add_turns(job, job->with_functions ? nr + 1 : 2);
    turns[0] = (struct llm_message){.role = "assistant", .text = arena_strdup(arena, reply->text)};
    if (!job->with_functions) {
        struct str text = {0};
        for (unsigned i = 0; i < nr; i++)
            str_addf(&text, "%sRESULT of %s %s\n%s", i ? "\n\n" : "", calls[i].name,
                calls[i].arguments_json, answers[i]);
        turns[1] = (struct llm_message){
            .role = "user", .text = arena_strndup(arena, str_text(&text), text.len)};
        str_finish(&text);
        return true;
    }
    turns[0].calls = calls;
    turns[0].nr_calls = nr;
    for (unsigned i = 0; i < nr; i++)
        turns[i + 1] =
            (struct llm_message){.role = "tool", .text = answers[i], .tool_call_id = calls[i].id};
    return true;
}

/* Servers that know no functions, or whose model does not, say so: from then on by text. */
static bool refuses_functions(const struct job *job, const struct llm_reply *reply)
{
    return job->with_functions && reply->outcome == LLM_FAILED && strcasestr(reply->error, "tool");
}

static bool break_endpoint(struct model *m, struct endpoint *e, const char *why, struct err *err)
{
    e->broken = true;
    free(e->why);
    e->why = xstrdup(why);
    log_note("--model %s is given up: %s", e->spec, why);
    if (choose_endpoint(m) >= 0)
        return true;
    return err_set(err, "--model %s: %s", e->spec, why);
}

static bool take_reply(
    struct model *m, unsigned number, const struct llm_reply *reply, struct err *err)
{
    struct endpoint *e = &m->endpoints[number];
    struct job *job = NULL;

    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (m->jobs[i].c && m->jobs[i].stage != STAGE_READY && m->jobs[i].endpoint == number &&
            m->jobs[i].id == reply->id)
            job = &m->jobs[i];
    if (!job)
        return true;
    struct candidate *c = job->c;
    struct model_call *call = &c->calls[c->nr_calls - 1];

    account(m, e, reply, c, call);
    if (refuses_functions(job, reply)) {
        e->by_text = true;
        job->nr_turns = 0;
        return ask(m, job, err);
    }
    e->nr_failures = reply->outcome == LLM_FAILED ? e->nr_failures + 1 : 0;
    if ((e->nr_failures >= FAILURES || (e->nr_failures > 0 && reply->is_final)) && !e->broken &&
        !break_endpoint(m, e, reply->error, err))
        return false;
    if (look_up(m, job, reply))
        return ask(m, job, err);
    if (job->stage == STAGE_PLAN) {
        /* Code can be written without a plan; a model that is gone is replaced by ask. */
        job->values.text[PLACE_PLAN] = call->reply;
        job->stage = STAGE_WRITE;
        job->nr_turns = 0;
        return ask(m, job, err);
    }
    if (reply->outcome == LLM_FAILED) {
        finish_job(job, arena_printf(c->arena, "no answer: %s", reply->error));
        call->verdict = VERDICT_NO_KERNEL;
        return true;
    }
    take_code(m, job, reply, call);
    return true;
}

/* --- a candidate, from start to end --- */

bool model_start(
    struct model *m, const struct propose_context *context, struct candidate *c, struct err *err)
{
    struct job *job = job_of(m, NULL);
    const int endpoint = choose_endpoint(m);

    if (!job || endpoint < 0)
        return err_set(err, "%s", job ? "no model is left" : "too many candidates under way");
    *job = (struct job){.c = c,
        .endpoint = (unsigned)endpoint,
        .stage = m->options->no_plan ? STAGE_WRITE : STAGE_PLAN};
    for (unsigned i = 0; i < c->nr_calls; i++) /* of a run that ended before the node did */
        tally(m, &c->calls[i]);
    fill_values(m, context, c, job);
    c->source = job->base;
    c->source_bytes = context->parent->source_bytes;
    return ask(m, job, err);
}

/* A candidate that is complete and was not handed out yet. */
static struct candidate *hand_out(struct model *m)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++) {
        struct job *job = &m->jobs[i];

        if (job->c && job->stage == STAGE_READY && !job->given) {
            job->given = true;
            return job->c;
        }
    }
    return NULL;
}

/* Take what has been answered, until a candidate is complete. */
static bool drain(struct model *m, double timeout_ms, struct candidate **ready, struct err *err)
{
    *ready = hand_out(m);
    for (unsigned i = 0; i < m->nr_endpoints; i++) {
        struct llm_reply reply;

        while (!*ready && llm_in_flight(m->endpoints[i].llm) > 0 &&
               llm_wait(m->endpoints[i].llm, timeout_ms, &reply)) {
            if (!take_reply(m, i, &reply, err))
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

static bool can_repair(const struct job *job)
{
    if (!job || job->hopeless || job->nr_repairs >= PROPOSE_REPAIRS)
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
        return true;
    default:
        return false;
    }
}

/* What the stages found goes into the record of the call that led to it. */
static void note_verdict(struct candidate *c)
{
    if (c->nr_calls > 0) {
        c->calls[c->nr_calls - 1].verdict = c->verdict;
        c->calls[c->nr_calls - 1].verdict_text = c->verdict_text;
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
    struct job *job = job_of(m, c);

    note_verdict(c);
    *asked = can_repair(job);
    if (!*asked)
        return true;
    job->nr_repairs++;
    job->stage = STAGE_REPAIR;
    job->nr_turns = 0;
    job->given = false;
    job->base = arena_strndup(c->arena, c->source, c->source_bytes);
    job->values.text[PLACE_PROBLEM] = phrase_problem(c->arena, c);
    job->values.text[PLACE_EXCERPT] = phrase_excerpt(c->arena, job->base, c->verdict_line);
    forget_results(c);
    return ask(m, job, err);
}

void model_told(struct model *m, const struct candidate *c, double gain)
{
    struct job *job = job_of(m, c);
    bool counted = false;

    for (unsigned i = 0; i < c->nr_calls; i++) {
        for (unsigned k = 0; k < m->nr_endpoints; k++) {
            struct endpoint *e = &m->endpoints[k];

            if (strcmp(e->spec, c->calls[i].model) != 0)
                continue;
            e->cost += cost_of(&c->calls[i]);
            if (!counted && i + 1 == c->nr_calls) {
                e->gain += fmax(gain, 0);
                e->nr_nodes++;
                counted = true;
            }
        }
        if (!job) /* of a run that is resumed: not seen by account */
            tally(m, &c->calls[i]);
    }
    if (job)
        *job = (struct job){0};
}

void model_moment(struct model *m, uint64_t moment)
{
    for (unsigned i = 0; i < m->nr_endpoints; i++)
        llm_set_moment(m->endpoints[i].llm, moment);
}

struct propose_spent model_spent(const struct model *m)
{
    return m->spent;
}

bool model_show(struct model *m, const struct propose_context *context, struct candidate *c,
    struct str *out, struct err *err)
{
    struct job job = {.c = c, .stage = STAGE_PLAN};

    fill_values(m, context, c, &job);
    for (; job.stage <= STAGE_WRITE; job.stage++) {
        struct llm_message messages[4];
        struct llm_request request = {.messages = messages, .purpose = purposes[job.stage]};

        if (job.stage == STAGE_PLAN && m->options->no_plan)
            continue;
        if (!build(m, &job, messages, &request.nr_messages))
            return err_set(err, "the kernel file is longer than a prompt may be; raise "
                                "--prompt-tokens");
        struct str text = {0};
        llm_prompt_text(&request, &text);
        str_addf(out, "===== %s, about %zu tokens =====\n", purposes[job.stage],
            prompt_tokens(str_text(&text)));
        str_add(out, str_text(&text));
        str_add(out, "\n");
        str_finish(&text);
        job.values.text[PLACE_PLAN] = "(the answer to the first prompt)";
    }
    return true;
}
