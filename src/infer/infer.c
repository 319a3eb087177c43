/* Owns the way from a file with host code to a contract that is as complete as trials can make it.
 * */
#include "infer/infer.h"

#include "base/file.h"
#include "core/task.h"
#include "infer/infer_check_sizes.h"
#include "infer/infer_sizes.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ALONE = 4 };

static const uint64_t all_insts = UINT64_C(2000000000); /* the thread instructions that all trials
                                                         * together may take */

static bool is_task(const struct intake *in)
{
    struct arena *arena = arena_create();
    struct task task;
    struct err ignored;
    const bool is = task_parse(&task, arena, in->path, in->text, strlen(in->text), &ignored);

    arena_destroy(arena);
    return is;
}

bool infer_contract(
    struct intake *in, struct arena *arena, const struct infer_options *o, struct err *err)
{
    struct intake_args args = o->args;
    uint64_t insts = all_insts;
    char *source;
    size_t bytes;

    if (!file_read(o->path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    bool ok = intake_read(in, arena, o->path, source, bytes, &args, err);
    const unsigned nr_launches = ok ? in->nr_launches : 0;

    insts = nr_launches > 1 ? insts / 2 : insts;
    ok = ok && infer_sizes(in, arena, &o->bench, &insts, err);
    insts += nr_launches > 1 && insts ? all_insts / 2 : 0;
    while (ok && in->nr_missing && insts && args.only < nr_launches && args.only < MAX_ALONE) {
        struct intake alone;

        args.only++;
        ok = intake_read(&alone, arena, o->path, source, bytes, &args, err) &&
             infer_sizes(&alone, arena, &o->bench, &insts, err);
        if (ok && alone.nr_missing == 0 && is_task(&alone))
            *in = alone;
    }
    ok = ok && infer_check_sizes(in, arena, &o->bench, source, bytes, &args, err);
    free(source);
    return ok;
}
