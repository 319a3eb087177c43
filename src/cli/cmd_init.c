/* Owns `keet-opt init`. */
#include "cli/commands.h"

#include "base/file.h"
#include "base/str.h"
#include "cli/load_task.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool print_json(struct arena *arena, const struct intake *in)
{
    json_t *lines = json_array();

    for (unsigned i = 0; i < in->nr_lines; i++)
        json_array_append_new(
            lines, json_pack("{sssssoso}", "pragma", intake_pragma(arena, &in->lines[i]), "from",
                       in->lines[i].from, "missing", json_boolean(in->lines[i].missing), "assumed",
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

/* An existing file is overwritten only when the user agrees: with --force, or on a terminal. */
static bool may_write(const struct options *o, struct err *err)
{
    int answer, c;

    if (o->output_path && file_same(o->output_path, o->kernel_path))
        return err_set(
            err, "%s is the file that is read; name another file with -o", o->output_path);
    if (!o->output_path || o->force || !file_is_regular(o->output_path))
        return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return err_set(err,
            "%s is there already; --force overwrites it, or name another file with -o",
            o->output_path);
    fprintf(stderr, "%s is there already. Overwrite it? [y/N] ", o->output_path);
    answer = c = getchar();
    while (c != '\n' && c != EOF)
        c = getchar();
    return answer == 'y' || answer == 'Y' || err_set(err, "%s stays as it is", o->output_path);
}

static void show(struct arena *arena, const struct options *o, const struct intake *in)
{
    struct str text = {0};

    str_addf(&text, "%s: ", o->kernel_path);
    str_add_count(&text, in->nr_kernels, "kernel");
    str_add(&text, ", ");
    fprintf(stderr, "%s%u %s\n", str_text(&text), in->nr_launches,
        in->nr_launches == 1 ? "launch" : "launches");
    str_clear(&text);
    load_task_show(arena, in);
    if (in->nr_missing) {
        str_add_count(&text, in->nr_missing, "line");
        fprintf(stderr, "%s to complete before it can be run\n", str_text(&text));
        str_clear(&text);
    }
    if (in->shift) {
        str_add_count(&text, in->shift, "line");
        fprintf(stderr, "headers pulled in: later lines stand up to %s further down\n",
            str_text(&text));
    }
    str_finish(&text);
}

/* Reads the user's file. A file with a task keeps its task and loses its host code. Any other file
 * gets an inferred task. */
static bool read_file(
    struct intake *in, struct arena *arena, const struct options *o, bool *own, struct err *err)
{
    const struct infer_options infer = load_task_options(arena, o);
    const char *path = o->kernel_path;
    char *source;
    size_t bytes;
    bool ok;

    if (!file_read(path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    *own = intake_has_both(arena, source, bytes);
    ok = !*own || intake_split(in, arena, path, source, bytes, &infer.args, err);
    free(source);
    return ok && (*own || infer_contract(in, arena, &infer, err));
}

bool cmd_init(const struct options *o, int *status, struct err *err)
{
    struct arena *arena = arena_create();
    struct intake in;
    bool own = false;
    bool ok = (o->json || may_write(o, err)) && read_file(&in, arena, o, &own, err);

    if (ok && o->json) {
        ok = print_json(arena, &in);
    } else if (ok) {
        if (own && o->verbosity >= 0)
            fprintf(stderr, "%s says its task itself; its host code is left out\n", o->kernel_path);
        else if (o->verbosity >= 0)
            show(arena, o, &in);
        if (o->output_path)
            ok = file_write(o->output_path, in.text, strlen(in.text), err);
        else
            fputs(in.text, stdout);
    }
    arena_destroy(arena);
    return ok;
}
