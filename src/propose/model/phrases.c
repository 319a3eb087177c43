/* Owns the words in which a kernel, its profile and its past are told to a model. */
#include "propose/model/phrases.h"

#include "base/str.h"
#include "core/prediction.h"
#include "propose/model/evidence.h"

#include <math.h>
#include <string.h>

enum {
    EXCERPT_LINES = 6,
    EVIDENCE_SHOWN = 3,
    PROBLEM_BYTES = 3000,
    WHY_BYTES = 160,
    DIFF_LINES = 12
};

const char *phrase_finish(struct arena *arena, struct str *out)
{
    while (out->len > 0 && out->text[out->len - 1] == '\n')
        out->text[--out->len] = '\0';
    const char *text = arena_strndup(arena, str_text(out), out->len);
    str_finish(out);
    return text;
}

const char *phrase_contract(struct arena *arena, const struct task *task)
{
    struct str out = {0};

    for (const char *at = task->source; at && *at; at = str_next_line(at)) {
        if (task_line(at) == TASK_LINE_CONTRACT)
            str_addf(&out, "%.*s\n", (int)strcspn(at, "\n"), at);
    }
    return phrase_finish(arena, &out);
}

const char *phrase_units(const struct chip *chip)
{
    return chip_has_wgmma(chip)      ? "cp_async mma wmma ldmatrix mbarrier wgmma tma cluster"
           : chip_has_clusters(chip) ? "cp_async mma wmma ldmatrix mbarrier tma cluster"
                                     : "cp_async mma wmma ldmatrix mbarrier";
}

const char *phrase_unit_names(const struct chip *chip)
{
    if (chip_has_wgmma(chip))
        return "bf16x2, Hopper's wgmma, TMA copies (bulk and tensor) and\nclusters";
    return chip_has_clusters(chip)
               ? "bf16x2, TMA copies (bulk and tensor) and\nclusters, but no tcgen05"
               : "bf16x2, but no wgmma";
}

static void add_rate(struct str *out, const char *types, double per_s, const char *unit)
{
    if (per_s > 0)
        str_addf(out, "; %s %.0f %s/s", types, per_s / 1e12, unit);
}

static void add_tensor_cores(struct str *out, const struct peak *peak)
{
    const bool same = peak[WORK_F16].tensor_per_s == peak[WORK_BF16].tensor_per_s;

    str_addf(out, "- tensor cores: %s %.0f TFLOP/s", same ? "f16 and bf16" : "f16 with sums in f16",
        peak[WORK_F16].tensor_per_s / 1e12);
    if (!same)
        add_rate(out, "f16 and bf16 with sums in f32", peak[WORK_BF16].tensor_per_s, "TFLOP");
    add_rate(out, "tf32", peak[WORK_TF32].tensor_per_s, "TFLOP");
    add_rate(out, "f64", peak[WORK_F64].tensor_per_s, "TFLOP");
    add_rate(out, peak[WORK_FP8].tensor_per_s > 0 ? "fp8 and int8" : "int8",
        peak[WORK_INT8].tensor_per_s, "TOP");
    str_add(out, "\n");
}

const char *phrase_hardware(struct arena *arena, const struct chip *chip)
{
    struct str out = {0};
    const double vector_tera = chip->nr_sms * chip->clock_hz / 1e12;

    str_addf(&out, "- %s (%s): %u multiprocessors with %u schedulers each, %.2f GHz\n", chip->name,
        chip->arch, chip->nr_sms, chip->schedulers_per_sm, chip->clock_hz / 1e9);
    str_addf(&out, "- f32: %.1f TFLOP/s; f64: %.1f TFLOP/s; int32: %.1f TOP/s\n",
        chip->peak[WORK_F32].vector_per_clk_sm * vector_tera,
        chip->peak[WORK_F64].vector_per_clk_sm * vector_tera,
        chip->peak[WORK_INT32].vector_per_clk_sm * vector_tera);
    add_tensor_cores(&out, chip->peak);
    str_addf(&out,
        "- memory: %.2f TB/s, of which the best kernels reach %.0f%%; L2: %.0f MB at %.1f TB/s; a "
        "request of a warp moves sectors of 32 bytes\n",
        chip->dram_bytes_per_s / 1e12, 100 * chip->dram_achievable, (double)chip->l2_bytes / 1e6,
        chip->l2_bytes_per_s / 1e12);
    str_addf(&out,
        "- per multiprocessor: %u warps, %u blocks, %u registers, %u KB shared memory (%u KB for "
        "one block, %u KB of it declared statically)\n",
        chip->max_warps_per_sm, chip->max_blocks_per_sm, chip->registers_per_sm,
        chip->smem_per_sm_bytes / 1024, chip->smem_per_block_max_bytes / 1024,
        chip->smem_per_block_static_max_bytes / 1024);
    str_addf(&out, "- at most %u threads per block and %u registers per thread\n",
        chip->max_threads_per_block, chip->max_registers_per_thread);
    str_addf(&out, "- latencies in cycles: shared memory %.0f, L1 %.0f, L2 %.0f, memory %.0f\n",
        chip->lat_shared, chip->lat_l1, chip->lat_l2, chip->lat_dram);
    return phrase_finish(arena, &out);
}

static const char *numbered(struct arena *arena, const char *source, unsigned first, unsigned last)
{
    struct str out = {0};
    unsigned line = 1;

    for (const char *at = source; at && *at; line++) {
        if (line >= first && line <= last)
            str_addf(&out, "%4u| %.*s\n", line, (int)strcspn(at, "\n"), at);
        at = str_next_line(at);
    }
    return phrase_finish(arena, &out);
}

const char *phrase_source(struct arena *arena, const char *source)
{
    return numbered(arena, source, 1, ~0u);
}

const char *phrase_excerpt(struct arena *arena, const char *source, unsigned line)
{
    if (line == 0)
        return "(it names no line)";
    return numbered(
        arena, source, line > EXCERPT_LINES ? line - EXCERPT_LINES : 1, line + EXCERPT_LINES);
}

const char *phrase_time(struct arena *arena, double ns)
{
    if (ns >= 1e6)
        return arena_printf(arena, "%.3g ms", ns / 1e6);
    return arena_printf(arena, "%.4g us", ns / 1e3);
}

const char *phrase_state(struct arena *arena, const struct candidate *c)
{
    struct str out = {0};
    const struct explanation *e = &c->explanation;

    if (c->profiled)
        str_addf(&out, "Time: %s (%s), %.2f times the original's speed.\n",
            phrase_time(arena, c->profile.time_ns), provenance_name(c->profile.time_from),
            c->speedup);
    if (e->roofline_ns > 0)
        str_addf(&out, "The least that any unit of the chip needs for this work: %s.\n",
            phrase_time(arena, e->roofline_ns));
    if (e->summary && *e->summary)
        str_addf(&out, "%s\n", e->summary);
    for (unsigned i = 0; i < c->compilation.nr_kernels; i++) {
        const struct kernel_facts *k = &c->compilation.kernels[i];

        str_addf(&out, "%s: %u registers, %u bytes of static shared memory%s.\n", k->kernel,
            k->registers, k->smem_static_bytes,
            k->spill_load_bytes || k->spill_store_bytes ? ", spills registers" : "");
    }
    return phrase_finish(arena, &out);
}

const char *phrase_findings(struct arena *arena, const struct candidate *c)
{
    struct str out = {0};

    for (unsigned i = 0; i < c->explanation.nr_findings && i < 5; i++) {
        const struct finding *f = &c->explanation.findings[i];

        str_add(&out, "- ");
        if (f->line && strncmp(f->text, "Line ", 5) != 0)
            str_addf(&out, "line %u: ", f->line);
        str_add(&out, f->text);
        if (f->max_gain > 1.005)
            str_addf(&out, " To gain: %s.", finding_gain(f).text);
        for (unsigned k = 0; k < f->nr_evidence && k < EVIDENCE_SHOWN; k++)
            str_addf(&out, "%s%s = %.4g %s (%s)", k ? ", " : " [",
                metric_name(f->evidence[k].metric), f->evidence[k].value,
                metric_unit(f->evidence[k].metric), provenance_name(f->evidence[k].from));
        str_add(&out, f->nr_evidence ? "]\n" : "\n");
    }
    return phrase_finish(arena, &out);
}

/* The first line of a text, at most WHY_BYTES of it. */
static const char *brief(struct arena *arena, const char *text)
{
    const size_t len = text ? strcspn(text, "\n") : 0;

    return arena_strndup(arena, text ? text : "", len < WHY_BYTES ? len : WHY_BYTES);
}

const char *phrase_siblings(struct arena *arena, const struct candidate *parent,
    const struct candidate *const *siblings, unsigned nr, bool evidence)
{
    struct str out = {0};

    for (unsigned i = 0; i < nr; i++) {
        const struct candidate *s = siblings[i];
        const char *change;

        str_addf(&out, "- %s: %s: ", action_name(s->option.action),
            s->option.what ? brief(arena, s->option.what) : proposer_name(s->option.proposer));
        if (s->verdict == VERDICT_OK && parent->speedup > 0)
            str_addf(&out, "%.2f times this version's speed\n", s->speedup / parent->speedup);
        else
            str_addf(
                &out, "failed (%s): %s\n", verdict_name(s->verdict), brief(arena, s->verdict_text));
        if (!verdict_costs(s->verdict) || !s->source)
            continue;
        change = evidence ? evidence_change(arena, parent, s, DIFF_LINES)
                          : evidence_lines(arena, parent, s, DIFF_LINES);
        str_addf(&out, "%s%s", change, *change ? "\n" : "");
        change = evidence ? prediction_compared(arena, s) : "";
        str_addf(&out, "%s%s%s", *change ? "  " : "", change, *change ? "\n" : "");
    }
    return phrase_finish(arena, &out);
}

const char *phrase_lessons(struct arena *arena, const struct lesson *const *lessons, unsigned nr)
{
    struct str out = {0};

    for (unsigned i = 0; i < nr; i++) {
        const struct lesson *l = lessons[i];

        str_addf(&out, "- %s on %s (%s; %s): ", action_name(l->action), l->kernel,
            lesson_features_text(arena, l->features), bound_name(l->bound));
        if (l->verdict == VERDICT_OK)
            str_addf(
                &out, "%.2f times the speed before; %s\n", exp2(l->gain), brief(arena, l->text));
        else
            str_addf(&out, "failed (%s): %s\n", verdict_name(l->verdict), brief(arena, l->text));
    }
    return phrase_finish(arena, &out);
}

const char *phrase_experiences(
    struct arena *arena, const struct experience *const *experiences, unsigned nr)
{
    struct str out = {0};

    for (unsigned i = 0; i < nr; i++) {
        const struct experience *e = experiences[i];

        str_addf(&out, "- An earlier run, on a kernel of the form %s (%s): %s\n", e->shape,
            e->kernel, e->story);
        if (*e->source)
            str_addf(&out, "  Its best version:\n%s\n", e->source);
    }
    return phrase_finish(arena, &out);
}

const char *phrase_problem(struct arena *arena, const struct candidate *c)
{
    struct str out = {0};
    const char *log = c->compilation.log, *text = c->verdict_text ? c->verdict_text : "";
    const char *found = c->explanation.nr_findings > 0 ? c->explanation.findings[0].text : "";

    /* The finding is the verdict, its text, and advice; a long text is cut there. */
    if (c->verdict == VERDICT_NO_KERNEL || !strstr(found, text))
        str_addf(&out, "Verdict: %s. %.*s\n", verdict_name(c->verdict), PROBLEM_BYTES, text);
    if (*found && c->verdict != VERDICT_NO_KERNEL)
        str_addf(&out, "Verdict: %s\n", found);
    if (c->verdict == VERDICT_NO_COMPILE && log && *log)
        str_addf(&out, "\nThe compiler's log:\n%.*s\n", PROBLEM_BYTES, log);
    return phrase_finish(arena, &out);
}
