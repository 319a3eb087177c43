/* Owns the hammering of replies: whatever a model writes must give a source or a sentence.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_reply -max_len=4096 build/corpus tests/model/matmul tests/fuzz/seeds/reply */
#include "propose/model/reply.h"

#include "hammer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char base[] = "#pragma keet launch f<<<1, 32>>>(A)\n"
                           "__global__ void f(float *A)\n"
                           "{\n"
                           "    A[threadIdx.x] = 0;\n"
                           "    A[threadIdx.x] = 0;\n"
                           "}\n";

static void read_once(const uint8_t *data, size_t size)
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
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "`<>=\n+-@#{}()[];\"/* 0179cudapragmkeet"};
