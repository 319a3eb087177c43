/* Owns the fuzzing of the Nsight Compute reader: no bytes may crash it, and all that it hands out
 * is a number. Build and run:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
 *         -Isrc tests/fuzz/fuzz_import.c src/explain/import_ncu.c src/core/counters.c \
 *         src/base/{arena,clock,err,file,mem,proc,sandbox,share,str}.c -lm -o build/fuzz_import
 *     mkdir -p build/corpus_import && build/fuzz_import -max_len=8192 build/corpus_import \
 *         tests/explain/ncu */
#include "explain/import_ncu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct import import;
    struct err err;

    if (!import_ncu_read(&import, arena, (const char *)data, size, &err)) {
        assert(strlen(err.text) > 20);
    } else {
        for (unsigned i = 0; i < import.nr_kernels; i++) {
            assert(import.kernels[i].name && import.kernels[i].id);
            for (int m = 0; m < NR_METRICS; m++)
                assert(isfinite(counters_get(&import.kernels[i].counters, (enum metric)m)));
        }
    }
    arena_destroy(arena);
    return 0;
}
