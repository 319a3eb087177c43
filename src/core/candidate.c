/* Owns the beginning of a candidate, its verdict, its model calls and the names of its enums. */
#include "core/candidate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void candidate_init(struct candidate *c, struct arena *arena, const struct task *task)
{
    *c = (struct candidate){.arena = arena,
        .task = task,
        .parent = -1,
        .option = {.action = ACTION_NONE},
        .recalled_from = -1};
}

void candidate_begin(
    struct candidate *c, struct arena *arena, const struct task *task, uint64_t seed)
{
    candidate_init(c, arena, task);
    c->seed = seed;
    c->source = task->source;
    c->source_bytes = task->source_bytes;
    c->plan = task->plan;
}

bool candidate_fail(
    struct candidate *c, enum verdict verdict, unsigned line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    c->verdict_text = arena_vprintf(c->arena, format, ap);
    va_end(ap);
    c->verdict = verdict;
    c->verdict_line = line;
    return true;
}

double finding_expected(const struct finding *finding)
{
    const double gain = 1 / (1 - finding->share);

    return finding->max_gain > 0 ? fmin(gain, finding->max_gain) : gain;
}

bool finding_is_modelled(const struct finding *finding)
{
    for (unsigned i = 0; i < finding->nr_evidence; i++) {
        if (metric_is_cure(finding->evidence[i].metric)) {
            return true;
        }
    }
    return false;
}

struct gain_text finding_gain(const struct finding *finding)
{
    const bool bounded = finding->max_gain > 0;
    struct gain_text gain = {""};
    int len = 0;

    if (finding_is_modelled(finding)) {
        len = snprintf(gain.text, sizeof(gain.text), "about %.2fx", finding_expected(finding));
    }
    if (bounded) {
        snprintf(gain.text + len, sizeof(gain.text) - (size_t)len, "%sat most %.2fx",
            len > 0 ? ", " : "", finding->max_gain);
    }
    return gain;
}

const char *proposer_name(enum proposer proposer)
{
    static const char *const names[NR_PROPOSERS] = {"none", "rewriter", "tuner", "model"};

    return names[proposer];
}

const char *bound_name(enum bound bound)
{
    static const char *const names[] = {"unknown", "compute", "memory", "latency", "mixed"};

    return names[bound];
}

bool candidate_cost(const struct candidate *c)
{
    return !c->recalled && verdict_costs(c->verdict) &&
           (c->nr_calls == 0 || verdict_costs(c->calls[c->nr_calls - 1].verdict));
}

bool model_call_goes_on(const struct model_call *call)
{
    return strcmp(call->outcome, CALL_LOOK_UP) == 0 || strcmp(call->outcome, CALL_NO_TOOLS) == 0;
}

unsigned candidate_nr_repairs(const struct candidate *c)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < c->nr_calls; i++) {
        nr += strcmp(c->calls[i].purpose, "repair") == 0 && !model_call_goes_on(&c->calls[i]);
    }
    return nr;
}

bool candidate_settled(const struct candidate *c)
{
    return c->verdict != VERDICT_OK || c->recalled;
}

bool candidate_evaluated(const struct candidate *c)
{
    return candidate_settled(c) || c->reused;
}

void candidate_note_verdict(struct candidate *c)
{
    struct model_call *last = c->nr_calls > 0 ? &c->calls[c->nr_calls - 1] : NULL;

    if (!last || !verdict_costs(last->verdict))
        return;
    last->verdict = c->verdict;
    last->verdict_text = c->verdict_text;
}

struct model_call *candidate_add_call(struct candidate *c)
{
    struct model_call *calls = arena_array(c->arena, c->nr_calls + 1, sizeof(*calls));

    if (c->nr_calls > 0)
        memcpy(calls, c->calls, c->nr_calls * sizeof(*calls));
    c->calls = calls;
    return &calls[c->nr_calls++];
}

void model_spent_add(struct model_spent *spent, const struct model_call *call)
{
    spent->nr_calls++;
    spent->nr_attempts += call->attempts;
    spent->nr_failed += call->error != NULL;
    spent->nr_unpriced += isnan(call->cost) != 0;
    spent->tokens_in += call->tokens_in;
    spent->tokens_out += call->tokens_out;
    spent->tokens_cached += call->tokens_cached;
    spent->lost_in += call->lost_in;
    spent->lost_out += call->lost_out;
    spent->tokens += call->tokens_in + call->tokens_out + call->lost_in + call->lost_out;
    spent->cost += isnan(call->cost) ? 0 : call->cost;
    spent->latency_ms += call->latency_ms;
    spent->waited_ms += call->waited_ms;
}
