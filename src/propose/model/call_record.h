/* The record of a call to a model (struct model_call): as it begins, and what its reply took. */
#ifndef KEET_PROPOSE_MODEL_CALL_RECORD_H
#define KEET_PROPOSE_MODEL_CALL_RECORD_H

#include "core/candidate.h"
#include "llm/llm.h"
#include "llm/price.h"

/* The record of a call that has no reply yet: outcome "asked", no cost. The prompt's text is in the
 * arena; purpose and model are borrowed. */
struct model_call call_record_begin(
    struct arena *arena, const struct llm_request *request, const char *model);

/* Fill in the reply's outcome, tokens, times and cost. The price is that of the reply's model, else
 * of call->model; a call whose model has no price keeps its cost. */
void call_record_reply(
    const struct price_table *table, const struct llm_reply *reply, struct model_call *call);

#endif
