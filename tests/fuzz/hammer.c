/* Owns the program around a fuzzer: a libFuzzer target, or without that library
 *     fuzz_NAME NR FILE...     NR mutants of each seed, NR texts of the fuzzer's parts */
#include "hammer.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KEET_FUZZ

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    fuzzer.once(bytes, len);
    return 0;
}

#else

enum { NR_CUTS = 200, MOST_PARTS = 24, MOST_MOVED = 40 };

/* An exact-size copy, so that AddressSanitizer sees a read past the end. */
static void hammer_copy(const void *bytes, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    memcpy(copy, bytes, len);
    fuzzer.once(copy, len);
    free(copy);
}

static void mutate_text(uint8_t *bytes, size_t len, struct rng *rng)
{
    const size_t nr_marks = strlen(fuzzer.marks) + 1; /* with its NUL */
    const unsigned nr = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < nr; i++) {
        const size_t at = (size_t)rng_below(rng, len), from = (size_t)rng_below(rng, len);
        const size_t most = len - (at > from ? at : from);
        const size_t mark = (size_t)rng_below(rng, nr_marks + 1);

        if (rng_below(rng, 2) > 0)
            bytes[at] = mark < nr_marks ? (uint8_t)fuzzer.marks[mark] : 0xff;
        else
            memmove(bytes + at, bytes + from,
                (size_t)rng_below(rng, most < MOST_MOVED ? most : MOST_MOVED));
    }
}

static void hammer_seed(const char *bytes, size_t len, unsigned nr_mutants, struct rng *rng)
{
    const size_t nr_cuts = len < NR_CUTS ? len : NR_CUTS;
    uint8_t *mutant = malloc(len);

    hammer_copy(bytes, len);
    for (size_t cut = 0; cut < nr_cuts; cut++)
        hammer_copy(bytes, len * cut / nr_cuts);
    for (unsigned n = 0; n < nr_mutants; n++) {
        memcpy(mutant, bytes, len);
        (fuzzer.mutate ? fuzzer.mutate : mutate_text)(mutant, len, rng);
        hammer_copy(mutant, len);
    }
    free(mutant);
}

static void hammer_parts(unsigned nr_texts, struct rng *rng)
{
    unsigned nr_parts = 0;

    while (fuzzer.parts[nr_parts])
        nr_parts++;
    for (unsigned n = 0; n < nr_texts; n++) {
        struct str text = {0};

        for (uint64_t i = rng_below(rng, MOST_PARTS); i > 0; i--)
            str_add(&text, fuzzer.parts[rng_below(rng, nr_parts)]);
        hammer_copy(str_text(&text), text.len);
        str_finish(&text);
    }
}

int main(int argc, char **argv)
{
    const unsigned nr = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    struct rng rng;
    struct err err;

    if (nr == 0 || argc == 2) {
        fprintf(stderr, "usage: %s NR FILE...\n", argv[0]);
        return 2;
    }
    rng_seed(&rng, 1, 0);
    for (int i = 2; i < argc; i++) {
        char *bytes;
        size_t len;

        if (!file_read(argv[i], 1 << 20, &bytes, &len, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (len == 0) {
            fprintf(stderr, "%s is empty\n", argv[i]);
            return 1;
        }
        hammer_seed(bytes, len, nr, &rng);
        free(bytes);
    }
    if (fuzzer.parts)
        hammer_parts(nr, &rng);
    printf("%d seeds\n", argc - 2);
    return 0;
}

#endif
