/* Owns the hammering of intake: any file must become a kernel file or one clear error, and where
 * that is a task, writing back its own original must change nothing.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_intake -max_len=4096 -timeout=20 build/corpus tests/fuzz/intake tests/corpus
 */
#include "base/str.h"
#include "intake/intake.h"
#include "intake/patch/patch.h"

#include "hammer.h"

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
        const struct intake_line *l = &in->lines[i];

        assert(strlen(intake_pragma(arena, l)) > 20 && l->from);
        nr_missing += l->missing;
        has_result |= l->kind == INTAKE_ARRAY && (*l->role == 'o' || strcmp(l->role, "inout") == 0);
    }
    assert(nr_missing == in->nr_missing);
    if (nr_missing > 0 || !has_result) /* where none is seen, a run says which it is */
        return;
    if (!task_parse(&task, arena, PATH, in->text, strlen(in->text), &err)) {
        assert(str_starts(err.text, PATH ":")); /* what is no C++ gives lines that say no more */
        return;
    }
    if (patch_make(
            &patch, arena, PATH, source, len, args, &task, false, in->text, strlen(in->text), &err))
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

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "(){}[]<>;,*&=+-/%\"'\\#:?.!0179eEfuxL\n aN"};
