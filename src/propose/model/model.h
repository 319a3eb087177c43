/* The language model as a proposer: plan, write, repair. Private to propose/. Each function does
 * the model's part of the function of propose.h with the same ending. */
#ifndef KEET_PROPOSE_MODEL_MODEL_H
#define KEET_PROPOSE_MODEL_MODEL_H

#include "propose/model/prompt.h"
#include "propose/propose.h"
#include "propose/proposer.h"

struct model;
struct search_move;

/* options, prompts and task are borrowed and must outlive the model. */
struct model *model_create(const struct propose_options *options, const struct prompts *prompts,
    const struct task *task, struct err *err);
void model_destroy(struct model *model);

/* Add the requests that can be made at c. */
void model_list(const struct model *model, const struct candidate *c, struct option_list *list);
/* How much a request is preferred before anything is learned: the weight in the priors. */
float model_weight(const struct option *option);
/* Which arm of the search it is. */
void model_arm(const struct option *option, struct search_move *move);

bool model_start(struct model *model, const struct propose_context *context, struct candidate *c,
    struct err *err);
bool model_wait(struct model *model, double timeout_ms, struct candidate **ready, struct err *err);
bool model_repair(struct model *model, struct candidate *c, bool *asked, struct err *err);
bool model_goes_on(const struct model *model, const struct candidate *c);
bool model_follow(struct model *model, const struct propose_context *context,
    const struct candidate *before, struct candidate *c, struct err *err);
void model_told(struct model *model, const struct candidate *c, double gain);
bool model_abandon(struct model *model, struct err *err);
void model_moment(struct model *model, uint64_t moment);
struct model_spent model_spent(const struct model *model);
bool model_show(struct model *model, const struct propose_context *context, struct candidate *c,
    struct str *out, struct err *err);

#endif
