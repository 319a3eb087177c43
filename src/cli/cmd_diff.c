/* Owns `keet-opt diff`: the differences between two variants of a run. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "report/json_text.h"
#include "report/report.h"

static void print(const struct options *o, struct arena *arena, const struct candidate *a,
    const struct candidate *b)
{
    struct str diff = {0}, json = {0};

    report_diff(&diff, arena_printf(arena, "node %lld", (long long)a->node),
        a->source ? a->source : "", arena_printf(arena, "node %lld", (long long)b->node),
        b->source ? b->source : "");
    if (o->json)
        json_add(&json,
            json_pack("{s:I, s:I, s:s}", "a", (json_int_t)a->node, "b", (json_int_t)b->node, "diff",
                str_text(&diff)),
            JSON_INDENT(1));
    if (diff.len == 0)
        str_addf(&diff, "nodes %lld and %lld have the same text\n", (long long)a->node,
            (long long)b->node);
    look_print(str_text(o->json ? &json : &diff));
    str_finish(&json);
    str_finish(&diff);
}

bool cmd_diff(const struct options *o, int *status, struct err *err)
{
    struct looked_run l;
    bool ok = look_open_run(&l, o->kernel_path, o->run, err);
    struct candidate a = {.arena = l.arena}, b = {.arena = l.arena};

    ok = ok && look_load(&l, o->paths[1], &a, err) && look_load(&l, o->paths[2], &b, err);
    if (ok)
        print(o, l.arena, &a, &b);
    look_close_run(&l);
    return ok;
}
