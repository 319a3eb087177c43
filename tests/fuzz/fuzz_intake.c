/* Owns the hammering of intake: any file must become a kernel file or one clear error, and where
 * that is a task, writing back its own original must change nothing.
 *
 * With clang as a libFuzzer target:
 *     clang -std=c11 -D_GNU_SOURCE -DKEET_LIBFUZZER -g -O1 -fsanitize=fuzzer,address,undefined \
 *         -fno-sanitize-recover=all -Isrc tests/fuzz/fuzz_intake.c src/intake/[a-z]*.c \
 *         src/core/{chip,elem,expr,inputs,npy,verdict}.c src/core/task*.c \
 *         src/base/{arena,edits,err,file,hash,linediff,mem,rng,str}.c -lm -lxxhash \
 *         -o build/fuzz_intake
 *     build/fuzz_intake -max_len=4096 -timeout=20 CORPUS_DIR tests/fuzz/intake tests/corpus
 * Otherwise a plain program: each file named is read as it is, cut short at many places, and with
 * pieces moved and characters changed at random from a fixed seed. */
#include "base/str.h"
#include "intake/intake.h"
#include "intake/patch/patch.h"

#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/nowhere/t.cu" /* no header is found beside it */

static void check_read(const struct intake *in, const char *source, size_t len,
    const struct intake_args *args, struct arena *arena)
{
    struct err err;
    struct task task;
    struct patch patch;
    unsigned nr_missing = 0;
    bool has_result = false;

    assert(in->text && in->nr_launches <= in->nr_lines);
    for (unsigned i = 0; i < in->nr_lines; i++) {
        assert(in->lines[i].pragma && in->lines[i].from);
        nr_missing += in->lines[i].missing;
        has_result |= str_starts(in->lines[i].pragma, "#pragma keet out ") ||
                      str_starts(in->lines[i].pragma, "#pragma keet inout ");
    }
    assert(nr_missing == in->nr_missing);
    if (nr_missing > 0 || !has_result) /* where none is seen, a run says which it is */
        return;
    if (!task_parse(&task, arena, PATH, in->text, strlen(in->text), &err)) {
        assert(str_starts(err.text, PATH ":")); /* what is no C++ gives lines that say no more */
        return;
    }
    if (patch_make(&patch, arena, PATH, source, len, args, &task, in->text, strlen(in->text), &err))
        assert(patch.why ? *patch.why : patch.nr_files == 0);
    else
        assert(strlen(err.text) > 20);
}

/* Every second length is read as if the program had been given arguments. */
static void read_once(const uint8_t *bytes, size_t len)
{
    static const char *const words[] = {"64", "8", "-n", "1000"};
    const struct intake_args args = {.args = words, .nr = 4, .given = len % 2 == 1};
    const char *source = (const char *)bytes;
    struct arena *arena = arena_create();
    struct intake in;
    struct err err;

    intake_needed(source, len);
    if (intake_read(&in, arena, PATH, source, len, &args, &err))
        check_read(&in, source, len, &args, arena);
    else
        assert(strlen(err.text) > 20);
    arena_destroy(arena);
}

#ifdef KEET_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    read_once(bytes, len);
    return 0;
}

#else

#include "hammer.h"

/* A character that means something to C++, or a piece of the file in another place. */
static void mutate(uint8_t *bytes, size_t len, struct rng *rng)
{
    static const char meaning[] = "(){}[]<>;,*&=+-/%\"'\\#:?.!0179eEfuxL\n aN";
    const unsigned nr = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < nr; i++) {
        const size_t at = (size_t)rng_below(rng, len), from = (size_t)rng_below(rng, len);
        const size_t most = len - (at > from ? at : from);

        if (rng_below(rng, 2) > 0)
            bytes[at] = (uint8_t)meaning[rng_below(rng, sizeof(meaning) - 1)];
        else
            memmove(bytes + at, bytes + from, (size_t)rng_below(rng, most < 40 ? most : 40));
    }
}

int main(int argc, char **argv)
{
    return hammer(argc, argv, read_once, mutate, 50);
}

#endif
