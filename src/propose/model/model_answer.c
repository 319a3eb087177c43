/* Owns what becomes of a model's answer: the record, look-ups, and code or a verdict. */
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/prediction.h"
#include "propose/model/call_record.h"
#include "propose/model/lookup.h"
#include "propose/model/model_parts.h"
#include "propose/model/reply.h"

#include <stdlib.h>
#include <string.h>

enum {
    FAILURES = 8,      /* calls in a row that fail before an endpoint is given up */
    LEAST_ANSWER = 512 /* bytes that an answer to a look-up may have, however full the prompt is */
};

static void account(struct model *m, const struct endpoint *e, const struct llm_reply *reply,
    struct candidate *c, struct model_call *call)
{
    call->reply = *reply->text ? arena_strdup(c->arena, reply->text) : NULL;
    for (unsigned i = 0; i < reply->nr_calls; i++)
        call->reply = arena_printf(c->arena, "%s%s%s(%s)", call->reply ? call->reply : "",
            call->reply ? "\n" : "", reply->calls[i].name, reply->calls[i].arguments_json);
    call->error = *reply->error ? arena_strdup(c->arena, reply->error) : NULL;
    call_record_reply(m->prices, reply, call);
    model_spent_add(&m->spent, call);
}

void model_take_nothing(
    struct model_job *job, struct model_call *call, enum verdict verdict, const char *reason)
{
    struct candidate *c = job->c;

    job->hopeless = true;
    job->stage = STAGE_READY;
    c->proposal_note = reason;
    if (job->failed == VERDICT_OK)
        candidate_fail(c, verdict, 0, "%s", reason);
    else
        candidate_fail(c, job->failed, 0, "%s", job->failed_text);
    call->verdict = verdict;
    call->verdict_text = reason;
}

void model_take_code(struct model *m, struct model_job *job, const char *text,
    enum llm_outcome outcome, struct model_call *call)
{
    struct candidate *c = job->c;
    struct reply read = reply_read(c->arena, text, job->base, outcome == LLM_TRUNCATED);
    enum verdict verdict = VERDICT_CONTRACT;
    struct err why;

    job->last_reply = arena_strdup(c->arena, *text ? text : "(empty)");
    c->proposal_note = prediction_note(c->arena, *read.note ? read.note : read.why, read.expect);
    if (outcome == LLM_REFUSED && read.kind != REPLY_SOURCE)
        read = (struct reply){
            .kind = REPLY_REFUSED, .why = "the model refused", .move = "", .expect = ""};
    if (*read.move)
        c->option.what = arena_printf(c->arena, "%s: %s", action_name(c->option.action), read.move);
    if (read.kind == REPLY_DECLINED) {
        model_take_nothing(job, call, VERDICT_DECLINED, read.why);
        return;
    }
    if (read.kind != REPLY_SOURCE) {
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

struct llm_message *model_add_turns(struct model_job *job, unsigned nr)
{
    struct llm_message *turns = arena_array(job->c->arena, job->nr_turns + nr, sizeof(*turns));

    if (job->nr_turns > 0)
        memcpy(turns, job->turns, job->nr_turns * sizeof(*turns));
    job->turns = turns;
    job->nr_turns += nr;
    return &turns[job->nr_turns - nr];
}

/* The answers to look-ups, in the room that the prompt's budget leaves. */
static const char **answer_calls(
    struct model *m, struct model_job *job, const struct llm_tool_call *calls, unsigned nr)
{
    const size_t most = model_prompt_bytes(m);
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

/* Answer the look-ups that a reply asks for, so that the model can go on with its task. False: the
 * reply asks for none, or the job has had its rounds. */
static bool look_up(struct model *m, struct model_job *job, const struct llm_reply *reply)
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
    calls = llm_copy_calls(arena, calls, nr);
    answers = answer_calls(m, job, calls, nr);
    turns = model_add_turns(job, job->with_functions ? nr + 1 : 2);
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

/* Whether the endpoint says that it, or its model, knows no functions. Tools go by text from then
 * on. */
static bool refuses_functions(const struct model_job *job, const struct llm_reply *reply)
{
    return job->with_functions && reply->outcome == LLM_FAILED && strcasestr(reply->error, "tool");
}

static bool declines(const struct model_job *job, const struct llm_reply *reply)
{
    return reply->outcome == LLM_OK &&
           reply_read(job->c->arena, reply->text, job->base, false).kind == REPLY_DECLINED;
}

static bool break_endpoint(struct model *m, struct endpoint *e, const char *why, struct err *err)
{
    e->broken = true;
    free(e->why);
    e->why = xstrdup(why);
    log_note("--model %s is given up: %s", e->spec, why);
    if (model_choose(m) >= 0)
        return true;
    return err_set(err, "--model %s: %s", e->spec, why);
}

/* The job that the reply answers; NULL: that job does not wait any more. */
static struct model_job *job_of_reply(
    struct model *m, unsigned number, const struct llm_reply *reply)
{
    for (unsigned i = 0; i < PROPOSE_MAX_IN_FLIGHT; i++)
        if (m->jobs[i].c && m->jobs[i].stage != STAGE_READY && m->jobs[i].endpoint == number &&
            m->jobs[i].id == reply->id)
            return &m->jobs[i];
    return NULL;
}

bool model_take_late(
    struct model *m, unsigned number, const struct llm_reply *reply, struct err *err)
{
    struct model_job *job = job_of_reply(m, number, reply);

    if (!job)
        return true;
    account(m, &m->endpoints[number], reply, job->c, &job->c->calls[job->c->nr_calls - 1]);
    return model_note(m, job->c, job->c->nr_calls - 1, err);
}

bool model_ask_on(struct model *m, struct model_job *job, const char *outcome, struct err *err)
{
    struct candidate *c = job->c;

    c->calls[c->nr_calls - 1].outcome = outcome;
    return model_note(m, c, c->nr_calls - 1, err) && model_ask(m, job, err);
}

bool model_take(struct model *m, unsigned number, const struct llm_reply *reply, struct err *err)
{
    struct endpoint *e = &m->endpoints[number];
    struct model_job *job = job_of_reply(m, number, reply);

    if (!job)
        return true;
    struct candidate *c = job->c;
    struct model_call *call = &c->calls[c->nr_calls - 1];

    account(m, e, reply, c, call);
    if (!model_note(m, c, c->nr_calls - 1, err))
        return false;
    if (refuses_functions(job, reply)) {
        e->by_text = true;
        job->nr_turns = 0;
        return model_ask_on(m, job, CALL_NO_TOOLS, err);
    }
    e->nr_failures = reply->outcome == LLM_FAILED ? e->nr_failures + 1 : 0;
    if ((e->nr_failures >= FAILURES || (e->nr_failures > 0 && reply->is_final)) && !e->broken &&
        !break_endpoint(m, e, reply->error, err))
        return false;
    if (job->stage == STAGE_EPISODE && reply->outcome != LLM_FAILED)
        return model_take_episode(m, job, reply, err);
    if (look_up(m, job, reply))
        return model_ask_on(m, job, CALL_LOOK_UP, err);
    if (job->stage == STAGE_PLAN && declines(job, reply)) {
        model_take_code(m, job, reply->text, reply->outcome, call);
        return true;
    }
    if (job->stage == STAGE_PLAN) {
        /* Code can be written without a plan, should this call have failed. */
        if (!model_refill(m, job, err))
            return false;
        job->values.text[PLACE_PLAN] = call->reply;
        job->stage = STAGE_WRITE;
        job->nr_turns = 0;
        return model_ask(m, job, err);
    }
    if (reply->outcome == LLM_FAILED) {
        model_take_nothing(
            job, call, VERDICT_NO_ANSWER, arena_printf(c->arena, "no answer: %s", reply->error));
        return true;
    }
    model_take_code(m, job, reply->text, reply->outcome, call);
    return true;
}
