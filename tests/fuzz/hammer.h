/* The plain program of a fuzzer, for builds without libFuzzer: each file named is tried as it is,
 * cut short at many places, and changed at random from a fixed seed.
 *
 *     static void once(const uint8_t *bytes, size_t len);                   what is hammered
 *     static void mutate(uint8_t *bytes, size_t len, struct rng *rng);      len is at least 1
 *     int main(int argc, char **argv) { return hammer(argc, argv, once, mutate, 300); } */
#ifndef KEET_TESTS_FUZZ_HAMMER_H
#define KEET_TESTS_FUZZ_HAMMER_H

#include "base/file.h"
#include "base/rng.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void hammer_once(const uint8_t *bytes, size_t len);
typedef void hammer_mutate(uint8_t *bytes, size_t len, struct rng *rng);

/* An exact-size copy, so that reading past the end is seen by AddressSanitizer. */
static inline void hammer_copy(hammer_once *once, const void *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    memcpy(copy, bytes, len);
    once(copy, len);
    free(copy);
}

static inline int hammer(
    int argc, char **argv, hammer_once *once, hammer_mutate *mutate, unsigned nr_mutants)
{
    enum { NR_CUTS = 200 };
    struct rng rng;
    struct err err;

    rng_seed(&rng, 1, 0);
    for (int i = 1; i < argc; i++) {
        uint8_t *mutant;
        char *bytes;
        size_t len;

        if (!file_read(argv[i], 1 << 20, &bytes, &len, &err) || !len) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        mutant = malloc(len);
        hammer_copy(once, bytes, len);
        for (size_t cut = 0; cut < NR_CUTS; cut++)
            hammer_copy(once, bytes, len * cut / NR_CUTS);
        for (unsigned n = 0; n < nr_mutants; n++) {
            memcpy(mutant, bytes, len);
            mutate(mutant, len, &rng);
            hammer_copy(once, mutant, len);
        }
        free(mutant);
        free(bytes);
    }
    printf("%d files\n", argc - 1);
    return 0;
}

#endif
