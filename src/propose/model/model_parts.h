/* The parts of the model as a proposer, which share its jobs: model.c begins and ends them,
 * model_ask.c writes what is sent, model_answer.c takes what comes back, model_choose.c says who is
 * asked. Private to these four files. */
#ifndef KEET_PROPOSE_MODEL_MODEL_PARTS_H
#define KEET_PROPOSE_MODEL_MODEL_PARTS_H

#include "llm/llm.h"
#include "llm/price.h"
#include "propose/model/model.h"

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

/* A candidate under way, from model_start to model_told. */
struct model_job {
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
    struct model_job jobs[PROPOSE_MAX_IN_FLIGHT];
    const char *system;         /* the stable prefix */
    const char *system_by_text; /* with the tools, for endpoints without function calling */
    struct model_spent spent;
    uint64_t moment; /* of the last model_moment */
};

/* model_choose.c: the endpoint to ask next; -1: none is left. */
int model_choose(const struct model *m);
/* What a call costs as the bandit sees it, in dollars. */
double model_cost_of(const struct model_call *call);

/* model_ask.c */
size_t model_prompt_bytes(const struct model *m); /* a prompt's budget */
void model_write_system(struct model *m);         /* the stable prefix */
void model_fill(struct model *m, const struct propose_context *context, struct candidate *c,
    struct model_job *job);
/* The messages of the job's stage, without look-ups; false: they do not fit the budget. */
bool model_build(
    struct model *m, struct model_job *job, struct llm_message messages[4], unsigned *nr);
const char *model_purpose(const struct model_job *job);
/* Ask for the job's stage. A model that is gone is replaced by another one. */
bool model_ask(struct model *m, struct model_job *job, struct err *err);
/* Put the candidate's call of that number on record. */
bool model_note(const struct model *m, const struct candidate *c, unsigned number, struct err *err);
/* Nothing more is asked; why: the verdict that ends it, or NULL. */
void model_finish_job(struct model_job *job, const char *why);

bool model_take(struct model *m, unsigned endpoint, const struct llm_reply *reply, struct err *err);
/* A reply that comes when the run is over: for the record only. */
bool model_take_late(
    struct model *m, unsigned endpoint, const struct llm_reply *reply, struct err *err);

#endif
