/* Owns single questions to models: endpoints, prices, prompts; one call at a time. */
#include "propose/model/ask.h"

#include "base/mem.h"
#include "base/proc.h"
#include "llm/llm.h"
#include "llm/price.h"
#include "propose/model/call_record.h"
#include "propose/model/phrases.h"
#include "propose/model/prompt.h"
#include "propose/model/reply.h"

#include <stdlib.h>

enum { MAX_MODELS = 8, MAX_MESSAGES = 16, REPLY_TOKENS = 8192, WAIT_MS = 100 };

struct ask {
    struct arena *arena;
    struct prompts *prompts;
    struct price_table *prices;
    struct llm *llms[MAX_MODELS];
    unsigned nr_llms;
};

static bool open_model(struct ask *ask, const struct ask_options *options, struct err *err)
{
    const char *spec = options->models[ask->nr_llms];
    const char *path = options->record_path;
    struct llm_limits limits = llm_default_limits();
    struct price price;

    limits.seed = options->seed;
    if (options->need_prices && !price_find(ask->prices, "", spec, &price))
        return err_set(err, "--max-cost needs a price for %s; add a line to %s/prices.txt", spec,
            options->prompts_dir);
    ask->llms[ask->nr_llms] = llm_create(spec, &limits, err);
    if (!ask->llms[ask->nr_llms])
        return err_wrap(err, "--model %s", spec);
    ask->nr_llms++;
    if (!path)
        return true;
    if (ask->nr_llms > 1)
        path = arena_printf(ask->arena, "%s.%u", path, ask->nr_llms);
    return llm_record(ask->llms[ask->nr_llms - 1], path, err) || err_wrap(err, "--record");
}

struct ask *ask_create(const struct ask_options *options, struct err *err)
{
    struct ask *ask = xcalloc(1, sizeof(*ask));
    bool ok;

    ask->arena = arena_create();
    ask->prompts = prompts_load(options->prompts_dir, err);
    if (ask->prompts)
        ask->prices =
            prices_load(arena_printf(ask->arena, "%s/prices.txt", options->prompts_dir), err);
    ok = ask->prices != NULL;
    if (ok && (options->nr_models == 0 || options->nr_models > MAX_MODELS))
        ok = err_set(err, "one to %d models can be asked", (int)MAX_MODELS);
    for (unsigned i = 0; ok && i < options->nr_models; i++)
        ok = open_model(ask, options, err);
    if (ok)
        return ask;
    ask_destroy(ask);
    return NULL;
}

void ask_destroy(struct ask *ask)
{
    if (!ask)
        return;
    for (unsigned i = 0; i < ask->nr_llms; i++)
        llm_destroy(ask->llms[i]);
    prices_destroy(ask->prices);
    prompts_destroy(ask->prompts);
    arena_destroy(ask->arena);
    free(ask);
}

const char *ask_prompt(const struct ask *ask, enum ask_prompt prompt,
    const struct ask_values *values, struct arena *arena)
{
    static const enum prompt files[] = {[ASK_SYSTEM] = PROMPT_EXPLAIN,
        [ASK_HYPOTHESES] = PROMPT_HYPOTHESES,
        [ASK_JUDGE] = PROMPT_JUDGE,
        [ASK_REVIEW] = PROMPT_REVIEW,
        [ASK_CORRECT] = PROMPT_CORRECT,
        [ASK_FIRST] = PROMPT_FIRST,
        [ASK_FIRST_AGAIN] = PROMPT_FIRST_AGAIN};
    const struct candidate *c = values->c;
    const struct prompt_values places = {
        .text = {
            [PLACE_CONTRACT] = phrase_contract(arena, c->task),
            [PLACE_HARDWARE] = phrase_hardware(arena, values->chip),
            [PLACE_SOURCE] = phrase_source(arena, arena_strndup(arena, c->source, c->source_bytes)),
            [PLACE_STATE] = phrase_state(arena, c),
            [PLACE_FINDINGS] = phrase_findings(arena, c),
            [PLACE_METRICS] = values->metrics,
            [PLACE_HYPOTHESES] = values->hypotheses,
            [PLACE_TEXT] = values->text,
        }};

    return prompt_fill(ask->prompts, files[prompt], &places, arena);
}

const char *ask_known(const struct ask_values *values, struct arena *arena)
{
    return arena_printf(arena, "%s\n%s\n%s\n%s\n", phrase_contract(arena, values->c->task),
        phrase_hardware(arena, values->chip), phrase_state(arena, values->c),
        phrase_findings(arena, values->c));
}

const char *ask_code(const char *reply, const char *base, struct arena *arena, const char **why)
{
    const struct reply r = reply_read(arena, reply, base, false);

    *why = r.kind == REPLY_SOURCE ? NULL : r.why;
    return r.kind == REPLY_SOURCE ? r.source : NULL;
}

static void take(const struct ask *ask, const struct llm_reply *reply, struct arena *arena,
    struct model_call *call)
{
    const char *error = reply->error;

    if (*reply->text)
        call->reply = arena_strdup(arena, reply->text);
    if (reply->outcome == LLM_REFUSED)
        error = "the model refused";
    else if (reply->outcome == LLM_EMPTY)
        error = "an empty reply";
    call->error = *error ? arena_strdup(arena, error) : NULL;
    call_record_reply(ask->prices, reply, call);
}

bool ask_put(struct ask *ask, unsigned model, const char *purpose,
    const struct ask_message *messages, unsigned nr, struct arena *arena, struct model_call *call,
    struct err *err)
{
    struct llm_message all[MAX_MESSAGES];
    struct llm_request request = {
        .messages = all, .max_tokens = REPLY_TOKENS, .temperature = -1, .purpose = purpose};
    struct llm *llm = ask->llms[model < ask->nr_llms ? model : 0];
    struct llm_reply reply;
    uint64_t id;

    if (nr > MAX_MESSAGES)
        return err_set(err, "a conversation of %u messages is too long", nr);
    for (unsigned i = 0; i < nr; i++)
        all[i] = (struct llm_message){
            .role = messages[i].role, .text = messages[i].text, .stable_until_here = i == 0};
    request.nr_messages = nr;
    *call = call_record_begin(arena, &request, arena_strdup(arena, llm_spec(llm)));
    if (!llm_start(llm, &request, &id, err))
        return false;
    while (!llm_wait(llm, WAIT_MS, &reply)) /* the llm's own limits end it */
        if (atomic_load(proc_interrupted()))
            return err_set(err, "interrupted");
    take(ask, &reply, arena, call);
    return true;
}
