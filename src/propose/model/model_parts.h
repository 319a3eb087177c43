/* What the five files of the model as a proposer share: endpoints and jobs. model.c begins and ends
 * jobs, model_ask.c writes what is sent, model_answer.c takes what comes back, model_episode.c
 * leads conversations, model_choose.c chooses the endpoint. Private to these five files. */
#ifndef KEET_PROPOSE_MODEL_MODEL_PARTS_H
#define KEET_PROPOSE_MODEL_MODEL_PARTS_H

#include "llm/llm.h"
#include "llm/price.h"
#include "propose/model/model.h"
#include "propose/model/techniques.h"

struct endpoint {
    struct llm *llm;
    const char *spec;
    bool by_text;         /* it refused definitions of tools: tools go by text */
    bool broken;          /* it will not be asked any more */
    unsigned nr_failures; /* in a row */
    char *why;            /* why it is broken */
    /* what the bandit knows: candidates done, the sum of their gains, dollars for them */
    unsigned nr_nodes;
    double gain, cost;
};

enum stage { STAGE_PLAN, STAGE_WRITE, STAGE_REPAIR, STAGE_EPISODE, STAGE_READY };

/* How far an episode is. */
struct episode {
    unsigned nr_tries, nr_calls;
    uint64_t tokens;
    const char *try_id; /* the call that the result of the last try answers; NULL: text does */
};

/* A candidate under way, from model_start to model_told. */
struct model_job {
    struct candidate *c; /* NULL: this job is free */
    enum stage stage;
    unsigned endpoint;
    uint64_t id; /* of the call in flight */
    double parent_speedup;
    struct prompt_values values;
    const char *base;       /* the version that edits are made on */
    const char *write_text; /* the user's part of the write prompt */
    const char *last_reply; /* to the write prompt, or to the last repair */
    unsigned nr_repairs;
    enum verdict failed; /* before the repair under way; OK: none is */
    const char *failed_text;
    struct episode episode;
    bool evidence;             /* prompts may show counters */
    struct llm_message *turns; /* look-ups of this stage and their answers; of an episode all */
    unsigned nr_turns;
    unsigned nr_rounds;  /* rounds of look-ups, in all stages */
    bool with_functions; /* the call in flight has tools */
    size_t prompt_bytes; /* of the call in flight */
    bool given;          /* ready, and handed out by model_wait */
    bool hopeless;       /* no repair can mend the last failure */
};

struct model {
    const struct propose_options *options;
    const struct prompts *prompts;
    const struct task *task;
    struct arena *arena; /* for what is the same for the whole run */
    struct price_table *prices;
    struct techniques *techniques;
    const char *executes; /* words for technique_facts */
    struct endpoint endpoints[PROPOSE_MAX_MODELS];
    unsigned nr_endpoints;
    struct model_job jobs[PROPOSE_MAX_IN_FLIGHT];
    const char *system;         /* the stable prefix */
    const char *system_by_text; /* with the tools, for endpoints without function calling */
    struct model_spent spent;
    uint64_t moment; /* of the last model_moment */
};

/* --- model.c --- */

/* The job of a candidate; of NULL: a job that is free. NULL: there is none. */
struct model_job *model_job_of(struct model *m, const struct candidate *c);

/* --- model_choose.c --- */

/* The number of the endpoint to ask next; -1: none is left. */
int model_choose(const struct model *m);
/* What the bandit counts for a call, in dollars: its cost, or an estimate by its tokens. */
double model_cost_of(const struct model_call *call);

/* --- model_ask.c --- */

size_t model_prompt_bytes(const struct model *m); /* a prompt's budget */
void model_write_system(struct model *m);         /* m->system, m->system_by_text */
/* Fill job->base and job->values with what surrounds c's move. */
void model_fill(struct model *m, const struct propose_context *context, struct candidate *c,
    struct model_job *job);
/* The same once more, with what is known now. */
bool model_refill(struct model *m, struct model_job *job, struct err *err);
/* The messages of the job's stage, without look-ups. False: they do not fit the budget. */
bool model_build(
    struct model *m, struct model_job *job, struct llm_message messages[4], unsigned *nr);
const char *model_purpose(const struct model_job *job);
/* Ask for what the job's stage needs. Another endpoint takes the place of a broken one. */
bool model_ask(struct model *m, struct model_job *job, struct err *err);
/* Put c->calls[number] on record. */
bool model_note(const struct model *m, const struct candidate *c, unsigned number, struct err *err);
/* Make the job ready: nothing more is asked. Where `why` is given, the candidate fails with it. */
void model_finish_job(struct model_job *job, const char *why);

/* --- model_episode.c --- */

/* Take a reply that is no failure: a try makes the job ready, an end too; look-ups are answered. */
bool model_take_episode(
    struct model *m, struct model_job *job, const struct llm_reply *reply, struct err *err);
/* What every prompt of the job adds to the system's part; "": nothing. */
const char *model_episode_text(const struct model *m, const struct model_job *job);

/* --- model_answer.c --- */

/* The answer becomes the candidate's source, or its verdict. */
void model_take_code(struct model *m, struct model_job *job, const char *text,
    enum llm_outcome outcome, struct model_call *call);
/* No version comes of the call: the model sees nothing to do, and is believed, or no answer came.
 * Where the call was for a repair, the version before it keeps its own verdict. */
void model_take_nothing(
    struct model_job *job, struct model_call *call, enum verdict verdict, const char *reason);
/* The call is done with, and its question goes on in another call. */
bool model_ask_on(struct model *m, struct model_job *job, const char *outcome, struct err *err);
/* Room for nr more turns. */
struct llm_message *model_add_turns(struct model_job *job, unsigned nr);

/* Take a reply: go on with the next stage, or make the job ready. */
bool model_take(struct model *m, unsigned endpoint, const struct llm_reply *reply, struct err *err);
/* Take a reply that comes when the run is over: for the record only. */
bool model_take_late(
    struct model *m, unsigned endpoint, const struct llm_reply *reply, struct err *err);

#endif
