/* Owns `keet-opt init`. */
#include "cli/commands.h"

#include "base/file.h"
#include "cli/load_task.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool print_json(const struct intake *in)
{
    json_t *lines = json_array();

    for (unsigned i = 0; i < in->nr_lines; i++)
        json_array_append_new(
            lines, json_pack("{sssssoso}", "pragma", in->lines[i].pragma, "from", in->lines[i].from,
                       "missing", json_boolean(in->lines[i].missing), "assumed",
                       json_boolean(in->lines[i].assumed)));
    json_t *all = json_pack("{sosisisisisissss?}", "lines", lines, "missing", (int)in->nr_missing,
        "kernels", (int)in->nr_kernels, "launches", (int)in->nr_launches, "left_out",
        (int)in->nr_left_out, "shift", (int)in->shift, "text", in->text, "note", in->note);
    char *text = json_dumps(all, JSON_INDENT(1));

    puts(text);
    free(text);
    json_decref(all);
    return true;
}

bool cmd_init(const struct options *o, int *status, struct err *err)
{
    struct arena *arena = arena_create();
    struct intake in;
    const struct infer_options infer = load_task_options(arena, o);
    bool ok = infer_contract(&in, arena, &infer, err);

    if (ok && o->json) {
        ok = print_json(&in);
    } else if (ok) {
        if (o->verbosity >= 0) {
            fprintf(stderr, "%s: %u kernel(s), %u launch(es)\n", o->kernel_path, in.nr_kernels,
                in.nr_launches);
            load_task_show(&in);
            if (in.nr_missing)
                fprintf(stderr, "%u line(s) to complete before it can be run\n", in.nr_missing);
            if (in.shift)
                fprintf(stderr,
                    "headers pulled in: later lines stand up to %u lines further down\n", in.shift);
        }
        if (o->output_path)
            ok = file_write(o->output_path, in.text, strlen(in.text), err);
        else
            fputs(in.text, stdout);
    }
    arena_destroy(arena);
    return ok;
}
