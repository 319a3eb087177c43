/* The distance of a profiled kernel from the limits of the chip, in three ways: by the roofline of
 * its task (core/roofline.h), pipe by pipe, and by Little's law: the bytes in flight against the
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
#include "core/roofline.h"

enum { LIMITS_MAX_PIPES = 12 };

/* Below this, in percent, a unit counts as idle, and texts leave it out. */
#define LIMITS_LEAST_PCT 0.5

struct limits {
    struct roofline roofline; /* of `work`, or of the counted bytes */
    double time_ns;           /* that the kernel took; 0 unknown */
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

/* least_ns as a share of the time, in percent; 0 where the time is unknown. */
double limits_pct(const struct limits *limits, double least_ns);

/* "load/store unit": what a percentage is of. */
const char *limits_unit_name(enum metric metric);

/* Adds "limited by the load/store unit (81% busy)" or, where no unit is nearly full, "limited by
 * waiting for memory (62% of the warps' time; DRAM 34% busy)"; nothing where nothing is known. */
void limits_say(const struct limit *limit, struct str *out);

/* Adds lines of text; none where nothing is known. */
void limits_write(const struct limits *limits, struct str *out);

#endif
