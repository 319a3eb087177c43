/* The distance of a profiled kernel from the limits of the chip, in three ways: by the roofline of
 * its task (memory, arithmetic), pipe by pipe, and by Little's law: the bytes in flight against the
 * bytes that full DRAM bandwidth needs (bandwidth * latency; J. D. C. Little, Operations Research
 * 9(3), 1961).
 *
 *     struct limits limits = explain_limits(chip, &c);
 *     limits_write(&limits, &text); */
#ifndef KEET_EXPLAIN_LIMITS_H
#define KEET_EXPLAIN_LIMITS_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

enum { LIMITS_MAX_PIPES = 10 };

struct limits {
    double memory_pct, compute_pct; /* share of the time that `work` needs; 0: no `work` stated */
    struct {
        enum metric metric;
        const char *name;
        double pct;
        enum provenance from;
    } pipes[LIMITS_MAX_PIPES]; /* the busiest first */
    unsigned nr_pipes;
    /* Little's law, per SM; needed_bytes is 0 where too little is known. */
    double needed_bytes;  /* in flight for full DRAM bandwidth */
    double warps;         /* resident */
    double request_bytes; /* moved by one access of a warp to global memory */
    double one_each;      /* bytes in flight with one access per warp */
    double moved_bytes;   /* in flight on average: achieved bandwidth * latency; 0 unknown */
};

struct limits explain_limits(const struct chip *chip, const struct candidate *c);

/* Adds lines of text; none where nothing is known. */
void limits_write(const struct limits *limits, struct str *out);

#endif
