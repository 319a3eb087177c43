/* The record of a call: what a reply took, put into the candidate's list of calls. */
#ifndef KEET_PROPOSE_MODEL_CALL_RECORD_H
#define KEET_PROPOSE_MODEL_CALL_RECORD_H

#include "core/candidate.h"
#include "llm/llm.h"
#include "llm/price.h"

/* The call gets outcome, tokens and times of the reply, and its cost. The price is that of the
 * reply's model, else of call->model. */
void call_record_reply(
    const struct price_table *table, const struct llm_reply *reply, struct model_call *call);

#endif
