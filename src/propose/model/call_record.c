/* Owns the fields of a call's record that requests and replies fill. */
#include "propose/model/call_record.h"

#include "base/str.h"

#include <math.h>

struct model_call call_record_begin(
    struct arena *arena, const struct llm_request *request, const char *model)
{
    struct str prompt = {0};
    struct model_call call = {
        .purpose = request->purpose, .model = model, .outcome = CALL_ASKED, .cost = (double)NAN};

    llm_prompt_text(request, &prompt);
    call.prompt = arena_strndup(arena, str_text(&prompt), prompt.len);
    str_finish(&prompt);
    return call;
}

void call_record_reply(
    const struct price_table *table, const struct llm_reply *reply, struct model_call *call)
{
    struct price price;

    call->outcome = llm_outcome_name(reply->outcome);
    call->tokens_in = reply->tokens_in;
    call->tokens_out = reply->tokens_out;
    call->tokens_cached = reply->tokens_cached;
    call->tokens_estimated = reply->tokens_estimated;
    call->lost_in = reply->lost_in;
    call->lost_out = reply->lost_out;
    call->attempts = reply->attempts;
    call->latency_ms = reply->latency_ms;
    call->waited_ms = reply->waited_ms;
    call->queued_ms = reply->queued_ms;
    if (price_find(table, reply->model, call->model, &price))
        call->cost = price_of(&price, call->tokens_in + call->lost_in, call->tokens_cached,
            call->tokens_out + call->lost_out);
}
