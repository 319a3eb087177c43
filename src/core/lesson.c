/* Owns what a lesson says about another kernel. */
#include "core/lesson.h"

#include "core/roofline.h"

#include <string.h>

static bool mentions(const struct candidate *c, const char *word)
{
    return c->source && strstr(c->source, word) != NULL;
}

static unsigned array_features(const struct task_array *array)
{
    unsigned features = array->nr_dims >= 2 ? FEATURE_MATRIX : 0;

    switch (array->elem) {
    case ELEM_F16:
    case ELEM_BF16:
    case ELEM_E4M3:
    case ELEM_E5M2:
        return features | FEATURE_HALF;
    case ELEM_F64:
        return features | FEATURE_DOUBLE;
    case ELEM_F32:
    case ELEM_TF32:
        return features;
    default:
        return features | FEATURE_INTEGER;
    }
}

static bool reuses(const struct task *task)
{
    const struct roofline r = task_roofline(chip_default(), task, NULL);

    return r.source == ROOFLINE_STATED && r.bytes > 0 && r.flops / 4 > r.bytes;
}

unsigned lesson_features(const struct candidate *c)
{
    static const struct {
        const char *word;
        enum feature feature;
    } words[] = {
        {"for (", FEATURE_LOOP},
        {"__shared__", FEATURE_SHARED},
        {"__syncthreads", FEATURE_BARRIER},
        {"atomic", FEATURE_ATOMIC},
        {"float4", FEATURE_VECTOR},
        {"float2", FEATURE_VECTOR},
    };
    unsigned features = c->plan.nr_launches > 1 ? FEATURE_LAUNCHES : 0;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        features |= mentions(c, words[i].word) ? (unsigned)words[i].feature : 0;
    }
    for (unsigned i = 0; c->task && i < c->task->nr_arrays; i++) {
        features |= array_features(&c->task->arrays[i]);
    }
    return features | (c->task && reuses(c->task) ? FEATURE_REUSE : 0);
}

const char *lesson_features_text(struct arena *arena, unsigned features)
{
    static const char *const names[NR_FEATURES] = {"loop", "shared memory", "barriers", "atomics",
        "half", "double", "integers", "matrices", "reuse", "several launches", "vectors"};
    const char *text = "";

    for (unsigned i = 0; i < NR_FEATURES; i++) {
        if (features & 1u << i) {
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", names[i]);
        }
    }
    return text;
}

double lesson_fit(const struct lesson *lesson, unsigned features, enum bound bound,
    const char *kernel, const char *device)
{
    unsigned same = 0;

    for (unsigned i = 0; i < NR_FEATURES; i++) {
        same += !((lesson->features ^ features) & 1u << i);
    }
    double fit = (double)same / NR_FEATURES;

    /* Half of the features agree between any two kernels, so half says nothing. */
    fit = fit > 0.5 ? 2 * (fit - 0.5) : 0;
    fit *= lesson->bound == bound ? 1 : 0.5;
    fit *= strcmp(lesson->device, device) == 0 ? 1 : 0.7;
    return strcmp(lesson->kernel, kernel) == 0 ? fit : 0.7 * fit;
}
