/* What a fuzzer is. Each fuzz_*.c defines `fuzzer`; hammer.c is the program around it. The tests
 * fuzz_* hammer: each seed as it is, cut short at many places, and changed at random, always in the
 * same way. For hours, with what libFuzzer learns from coverage, all are built by
 *
 *     cmake --preset fuzz && cmake --build --preset fuzz && mkdir -p build/corpus
 *
 * and run as the head of each says. New inputs go to build/corpus; -max_total_time=S ends after S
 * seconds. An input that breaks something is kept as a seed. */
#ifndef KEET_TESTS_FUZZ_HAMMER_H
#define KEET_TESTS_FUZZ_HAMMER_H

#include "base/rng.h"

/* A fuzzer's assertions hold in every build. */
#undef NDEBUG
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct fuzzer {
    /* What is hammered; it ends the program where the bytes do what they must not. */
    void (*once)(const uint8_t *bytes, size_t len);
    /* Characters that mean something to the reader. Mutants have them, NUL and 0xff in random
     * places, and pieces of the seed in other places. */
    const char *marks;
    /* NULL, or another way to change bytes in place; len is at least 1. */
    void (*mutate)(uint8_t *bytes, size_t len, struct rng *rng);
    /* NULL, or pieces of text, ended by NULL: more seeds are put together of them by dice. */
    const char *const *parts;
};
extern const struct fuzzer fuzzer;

#endif
