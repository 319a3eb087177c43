/* The language model as a proposer: plan, write, repair. Private to propose/. Each function does
 * the model's part of the function of propose.h with the same ending. */
#ifndef KEET_PROPOSE_MODEL_MODEL_H
#define KEET_PROPOSE_MODEL_MODEL_H

#include "propose/model/prompt.h"
#include "propose/propose.h"
#include "propose/proposer.h"

struct model;

/* options, prompts and task are borrowed and must outlive the model. */
struct model *model_create(const struct propose_options *options, const struct prompts *prompts,
    const struct task *task, struct err *err);
void model_destroy(struct model *model);

/* Add one option for each move that is not the tuner's. */
void model_list(const struct model *model, const struct rewrite_in *in, struct option_list *list);

bool model_start(struct model *model, const struct propose_context *context, struct candidate *c,
    struct err *err);
bool model_wait(struct model *model, double timeout_ms, struct candidate **ready, struct err *err);
bool model_repair(struct model *model, struct candidate *c, bool *asked, struct err *err);
void model_told(struct model *model, const struct candidate *c, double gain);
bool model_abandon(struct model *model, struct err *err);
void model_moment(struct model *model, uint64_t moment);
struct model_spent model_spent(const struct model *model);
bool model_show(struct model *model, const struct propose_context *context, struct candidate *c,
    struct str *out, struct err *err);

#endif
