/* A lesson: the effect of one move on one kernel, and the circumstances. store/ keeps lessons;
 * prompts show them, and priors take them into account. */
#ifndef KEET_CORE_LESSON_H
#define KEET_CORE_LESSON_H

#include "core/candidate.h"

/* The features of a kernel as bits, enough to tell which lessons may carry over. */
enum feature {
    FEATURE_LOOP = 1 << 0,
    FEATURE_SHARED = 1 << 1,
    FEATURE_BARRIER = 1 << 2,
    FEATURE_ATOMIC = 1 << 3,
    FEATURE_HALF = 1 << 4,     /* f16, bf16, 8-bit floats among the arrays */
    FEATURE_DOUBLE = 1 << 5,   /* f64 among the arrays */
    FEATURE_INTEGER = 1 << 6,  /* integer arrays */
    FEATURE_MATRIX = 1 << 7,   /* an array of two or more dimensions */
    FEATURE_REUSE = 1 << 8,    /* more than four operations per byte of `work` */
    FEATURE_LAUNCHES = 1 << 9, /* more than one launch */
    FEATURE_VECTOR = 1 << 10,  /* float4 and the like */
    NR_FEATURES = 11
};

struct lesson {
    enum action action;
    enum proposer proposer;
    enum bound bound;     /* of the kernel that the move was made on */
    unsigned features;    /* of that kernel */
    const char *kernel;   /* file name of the task */
    const char *device;   /* "emu:h100" */
    enum verdict verdict; /* of the variant that the move gave */
    double gain;          /* log2 of the time before over the time after; 0 when the move failed */
    const char *text;     /* the option's description or the verdict's text */
};

unsigned lesson_features(const struct candidate *c);
/* "loop, shared, matrix"; arena memory. */
const char *lesson_features_text(struct arena *arena, unsigned features);
/* How much a lesson says about a kernel with these features and class: 0..1. */
double lesson_fit(const struct lesson *lesson, unsigned features, enum bound bound,
    const char *kernel, const char *device);

#endif
