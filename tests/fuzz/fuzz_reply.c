/* Owns the fuzzing of replies: whatever a model writes must give a source or a sentence. Build and
 * run:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
 *         -Isrc tests/fuzz/fuzz_reply.c src/propose/model/reply.c src/base/{arena,mem,str}.c \
 *         -o build/fuzz_reply
 *     mkdir -p build/corpus_reply && build/fuzz_reply -max_len=4096 build/corpus_reply \
 *         tests/model/matmul */
#include "propose/model/reply.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char base[] = "#pragma keet launch f<<<1, 32>>>(A)\n"
                           "__global__ void f(float *A)\n"
                           "{\n"
                           "    A[threadIdx.x] = 0;\n"
                           "    A[threadIdx.x] = 0;\n"
                           "}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    char *text = malloc(size + 1);

    memcpy(text, data, size);
    text[size] = '\0';
    for (int truncated = 0; truncated < 2; truncated++) {
        const struct reply r = reply_read(arena, text, base, truncated);

        assert(r.note && strlen(r.note) <= 200);
        if (r.kind == REPLY_SOURCE)
            assert(r.source && strlen(r.source) == r.bytes);
        else
            assert(r.why && *r.why);
    }
    free(text);
    arena_destroy(arena);
    return 0;
}
