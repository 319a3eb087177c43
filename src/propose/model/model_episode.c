/* Owns episodes: what becomes of a model's turn in a conversation, and how the conversation goes on
 * from one try to the next. */
#include "base/mem.h"
#include "base/str.h"
#include "propose/model/episode.h"
#include "propose/model/model_parts.h"

#include <string.h>

enum {
    LONGEST = 2,        /* prompts' budgets that a conversation may take */
    MOST_BYTES = 16384, /* of an answer to a look-up */
    MOST_AT_ONCE = 8    /* look-ups in one reply */
};

const char *model_episode_text(const struct model *m, const struct model_job *job)
{
    const struct endpoint *e = &m->endpoints[job->endpoint];
    const struct prompt_values none = {0};
    const char *plain = m->system;

    if (e->llm && llm_has_tools(e->llm) && !e->by_text)
        return plain;
    return arena_printf(job->c->arena, "%s%s", plain,
        prompt_fill(m->prompts, PROMPT_EPISODE_TEXT, &none, job->c->arena));
}

/* ---- a turn ---- */

static const char *left_text(const struct model_job *job, struct arena *arena)
{
    const struct episode *e = &job->episode;

    return arena_printf(arena, "(%u tries and %u answers are left.)", EPISODE_TRIES - e->nr_tries,
        EPISODE_CALLS - e->nr_calls);
}

static void count(struct model_job *job, const struct model_call *call)
{
    job->episode.nr_calls++;
    job->episode.tokens += call->tokens_in + call->tokens_out + call->lost_in + call->lost_out;
}

/* May another call be made? */
static bool has_room(const struct model *m, const struct model_job *job)
{
    const struct episode *e = &job->episode;

    return e->nr_calls < EPISODE_CALLS && e->tokens < EPISODE_TOKENS &&
           job->prompt_bytes < LONGEST * model_prompt_bytes(m);
}

/* The model's turn, as later requests repeat it. */
static void add_reply(struct model_job *job, const struct llm_reply *reply,
    const struct llm_tool_call *calls, unsigned nr)
{
    struct llm_message *turn = model_add_turns(job, 1);
    const char *text = *reply->text || nr > 0 ? reply->text : "(empty)";

    *turn = (struct llm_message){.role = "assistant", .text = arena_strdup(job->c->arena, text)};
    if (job->with_functions) {
        turn->calls = calls;
        turn->nr_calls = nr;
    }
}

/* The result of a call: a turn of its own with function calling, else a part of the user's next
 * turn. */
static void add_result(
    struct model_job *job, const struct llm_tool_call *call, const char *text, struct str *rest)
{
    if (job->with_functions)
        *model_add_turns(job, 1) =
            (struct llm_message){.role = "tool", .text = text, .tool_call_id = call->id};
    else
        str_addf(rest, "%sRESULT of %s %s\n%s", rest->len ? "\n\n" : "", call->name,
            call->arguments_json, text);
}

static bool add_results(struct model *m, struct model_job *job, const struct llm_tool_call *calls,
    unsigned nr, const struct llm_tool_call *but, struct err *err)
{
    const struct episode_sources sources = {.journal = m->options->journal,
        .library = m->options->library,
        .techniques = m->techniques,
        .chip = m->options->chip,
        .evidence = job->evidence};
    struct arena *arena = job->c->arena;
    struct str rest = {0};
    bool ok = true;

    for (unsigned i = 0; ok && i < nr; i++) {
        const char *text = "error: one try at a time, and nothing after finish";

        if (&calls[i] == but)
            continue;
        if (i >= MOST_AT_ONCE)
            text = "error: too many look-ups at once";
        else if (episode_kind(&calls[i]) == EPISODE_LOOK_UP)
            ok = episode_answer(&sources, arena, &calls[i], MOST_BYTES, &text, err);
        if (ok)
            add_result(job, &calls[i], text, &rest);
    }
    if (rest.len > 0)
        *model_add_turns(job, 1) =
            (struct llm_message){.role = "user", .text = arena_strndup(arena, rest.text, rest.len)};
    str_finish(&rest);
    return ok;
}

/* The version that a try's edits are made on. */
static bool take_base(struct model *m, struct model_job *job, int64_t node, struct err *err)
{
    const struct propose_journal *journal = m->options->journal;
    const struct candidate *c = NULL;

    if (node < 0 || !journal || !journal->load)
        return true;
    if (!journal->load(journal->session, job->c->arena, node, &c, err))
        return false;
    if (c && c->source)
        job->base = arena_strndup(job->c->arena, c->source, c->source_bytes);
    return true;
}

static bool take_try(struct model *m, struct model_job *job, const char *text, int64_t base,
    enum llm_outcome outcome, struct err *err)
{
    struct candidate *c = job->c;

    job->episode.nr_tries++;
    if (!take_base(m, job, base, err))
        return false;
    model_take_code(m, job, text, outcome, &c->calls[c->nr_calls - 1]);
    return true;
}

static bool take_calls(struct model *m, struct model_job *job, const struct llm_reply *reply,
    const struct llm_tool_call *calls, unsigned nr, struct err *err)
{
    struct candidate *c = job->c;
    struct model_call *call = &c->calls[c->nr_calls - 1];
    const struct llm_tool_call *one = NULL;
    const char *text, *why;
    int64_t base;

    calls = llm_copy_calls(c->arena, calls, nr);
    for (unsigned i = 0; i < nr && !one; i++)
        one = episode_kind(&calls[i]) == EPISODE_LOOK_UP ? NULL : &calls[i];
    if (one && episode_kind(one) == EPISODE_FINISH) {
        model_take_nothing(job, call, VERDICT_DECLINED, episode_reason(one, c->arena));
        return true;
    }
    add_reply(job, reply, calls, nr);
    if (!add_results(m, job, calls, nr, one, err))
        return false;
    if (one && (text = episode_try(one, c->arena, &base, &why))) {
        job->episode.try_id = job->with_functions ? one->id : NULL;
        return take_try(m, job, text, base, reply->outcome, err);
    }
    if (one)
        *model_add_turns(job, 1) =
            (struct llm_message){.role = job->with_functions ? "tool" : "user",
                .text = arena_printf(c->arena, "error: %s", why),
                .tool_call_id = job->with_functions ? one->id : NULL};
    if (!has_room(m, job)) {
        model_take_nothing(job, call, VERDICT_DECLINED, "the episode has had its answers");
        return true;
    }
    return model_ask_on(m, job, CALL_LOOK_UP, err);
}

bool model_take_episode(
    struct model *m, struct model_job *job, const struct llm_reply *reply, struct err *err)
{
    struct candidate *c = job->c;
    struct model_call *call = &c->calls[c->nr_calls - 1];
    const struct llm_tool_call *calls = reply->calls;
    unsigned nr = reply->nr_calls;
    const char *reason;

    count(job, call);
    if (!job->with_functions)
        nr = lookup_read(c->arena, reply->text, &calls);
    if (nr > 0)
        return take_calls(m, job, reply, calls, nr, err);
    reason = episode_finish_line(reply->text, c->arena);
    if (reason) {
        model_take_nothing(job, call, VERDICT_DECLINED, reason);
        return true;
    }
    add_reply(job, reply, NULL, 0);
    job->episode.try_id = NULL;
    return take_try(m, job, reply->text, episode_base(reply->text), reply->outcome, err);
}

/* ---- from one try to the next ---- */

bool model_goes_on(const struct model *m, const struct candidate *c)
{
    const struct model_job *job = model_job_of((struct model *)m, c);

    return job && c->option.action == ACTION_EPISODE && verdict_costs(c->verdict) &&
           !job->hopeless && job->episode.nr_tries < EPISODE_TRIES && has_room(m, job) &&
           !m->endpoints[job->endpoint].broken;
}

/* The turns in another arena. */
static struct llm_message *copy_turns(
    struct arena *arena, const struct llm_message *turns, unsigned nr)
{
    struct llm_message *copies = arena_array(arena, nr + 1, sizeof(*copies));

    for (unsigned i = 0; i < nr; i++) {
        const struct llm_message *t = &turns[i];

        copies[i] = *t;
        copies[i].text = arena_strdup(arena, t->text);
        copies[i].calls = t->nr_calls ? llm_copy_calls(arena, t->calls, t->nr_calls) : NULL;
        copies[i].tool_call_id = t->tool_call_id ? arena_strdup(arena, t->tool_call_id) : NULL;
    }
    return copies;
}

bool model_follow(struct model *m, const struct propose_context *context,
    const struct candidate *before, struct candidate *c, struct err *err)
{
    const struct model_job *last = model_job_of(m, before);
    struct model_job *job = model_job_of(m, NULL);
    struct arena *arena = c->arena;
    const char *id, *text;

    if (!job || !last)
        return err_set(err, "too many candidates under way");
    *job = (struct model_job){.c = c,
        .endpoint = last->endpoint,
        .parent_speedup = context->parent->speedup,
        .stage = STAGE_EPISODE,
        .episode = last->episode,
        .evidence = last->evidence,
        .write_text = arena_strdup(arena, last->write_text),
        .base = arena_strndup(arena, before->source, before->source_bytes),
        .turns = copy_turns(arena, last->turns, last->nr_turns),
        .nr_turns = last->nr_turns};
    for (unsigned i = 0; i < c->nr_calls; i++) /* of a run that ended before the node did */
        model_spent_add(&m->spent, &c->calls[i]);
    c->source = job->base;
    c->source_bytes = strlen(job->base);
    id = last->episode.try_id;
    text = arena_printf(arena, "%s\n\n%s",
        episode_result(arena, m->options->chip, before, last->parent_speedup, last->evidence),
        left_text(job, arena));
    *model_add_turns(job, 1) = (struct llm_message){.role = id ? "tool" : "user",
        .text = text,
        .tool_call_id = id ? arena_strdup(arena, id) : NULL};
    job->episode.try_id = NULL;
    return model_ask(m, job, err);
}
