/* Owns the members of answers. */
#include "serve/answers.h"

#include "base/str.h"
#include "explain/views/views.h"
#include "report/json_text.h"
#include "report/report.h"

json_t *answer_check(const struct candidate *c)
{
    const struct check_result *k = &c->check;

    return json_pack("{s:s, s:o, s:i, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:I}", "verdict",
        verdict_name(c->verdict), "reason", json_any_text(c->verdict_text), "line",
        (int)c->verdict_line, "compared", json_any_text(k->note), "runs", (int)k->nr_runs, "sizes",
        (int)k->nr_shapes, "error_of_allowed", json_real_or_null(k->share), "max_abs",
        json_real_or_null(k->max_abs), "max_rel", json_real_or_null(k->max_rel), "worst_array",
        json_any_text(k->worst_array), "worst_index", (json_int_t)k->worst_index);
}

json_t *answer_variant(const struct candidate *c)
{
    json_t *all = report_candidate_value(c);

    json_object_set_new(all, "reason", json_any_text(c->verdict_text));
    json_object_set_new(all, "source", json_any_text(c->source));
    json_object_set_new(all, "line", json_integer((json_int_t)c->verdict_line));
    json_object_set_new(all, "check", answer_check(c));
    return all;
}

static void write_explanation(
    const struct prepared *p, const struct chip *chip, const struct candidate *c, struct str *out)
{
    view_one_print(out, p->task.path, chip, c, false, false);
}

json_t *answer_explained(const struct prepared *p, const struct chip *chip, struct candidate *c)
{
    json_t *all = answer_variant(c);
    struct str text = {0};

    if (c->verdict == VERDICT_OK)
        json_object_set_new(all, "limits", view_limits_json(chip, c));
    write_explanation(p, chip, c, &text);
    json_object_set_new(all, "text", json_any_text(str_text(&text)));
    str_finish(&text);
    return all;
}

/* ---- the reward of a model's reply ---- */

/* 0.3 for a right kernel and its speedup: S = 0.3 [right] + T_original / T_kernel [right], of
 * Baronio et al., "Kevin: Multi-Turn RL for Generating CUDA Kernels" (2025), arXiv:2507.11948. */
static double reward_of(const struct candidate *c)
{
    return c && c->verdict == VERDICT_OK && c->speedup > 0 ? 0.3 + c->speedup : 0;
}

static void write_feedback(const struct prepared *p, const struct chip *chip,
    const struct candidate *c, const char *why, struct str *out)
{
    if (!c) {
        str_addf(out, "The reply was not evaluated: %s\n", why);
        return;
    }
    if (c->verdict != VERDICT_OK) {
        str_addf(out, "The kernel is not right (%s): %s\n", verdict_name(c->verdict),
            c->verdict_text ? c->verdict_text : "no reason is known");
        if (c->explanation.summary)
            str_addf(out, "%s\n", c->explanation.summary);
        for (unsigned i = 0; i < c->explanation.nr_findings; i++)
            str_addf(out, "%s\n", c->explanation.findings[i].text);
        return;
    }
    str_add(out, "The kernel computes what the original computes. It takes ");
    report_time(out, c->profile.time_ns);
    str_add(out, ", the original ");
    report_time(out, p->original.profile.time_ns);
    str_addf(out, ": %.2fx the speed (%s).\n\n", c->speedup, provenance_name(c->profile.time_from));
    write_explanation(p, chip, c, out);
}

static json_t *no_kernel(const char *why)
{
    return json_pack("{s:s, s:o, s:i, s:n, s:n, s:n, s:n, s:n, s:n}", "verdict",
        verdict_name(VERDICT_NO_KERNEL), "reason", json_any_text(why), "line", 0, "source", "check",
        "time_ns", "time_from", "original_ns", "speedup");
}

static json_t *timed(const struct prepared *p, const struct candidate *c)
{
    const bool right = c->verdict == VERDICT_OK;

    return json_pack("{s:s, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "verdict",
        verdict_name(c->verdict), "reason", json_any_text(c->verdict_text), "line",
        (int)c->verdict_line, "source", json_any_text(c->source), "check", answer_check(c),
        "time_ns", right ? json_real_or_null(c->profile.time_ns) : json_null(), "time_from",
        right ? json_string(provenance_name(c->profile.time_from)) : json_null(), "original_ns",
        p->original.profiled ? json_real_or_null(p->original.profile.time_ns) : json_null(),
        "speedup", right ? json_real_or_null(c->speedup) : json_null());
}

json_t *answer_reward(
    const struct prepared *p, const struct chip *chip, struct candidate *c, const char *why)
{
    json_t *all = c ? timed(p, c) : no_kernel(why);
    struct str feedback = {0};

    write_feedback(p, chip, c, why, &feedback);
    json_object_set_new(all, "reward", json_real(reward_of(c)));
    json_object_set_new(all, "feedback", json_any_text(str_text(&feedback)));
    str_finish(&feedback);
    return all;
}
