/* Owns `keet-opt init`, and files with host code as tasks. */
#include "cli/cmd_init.h"

#include "base/file.h"
#include "base/str.h"
#include "infer/infer_check_sizes.h"
#include "infer/infer_sizes.h"
#include "intake/intake.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_PROGRAM_ARGS = 64, MAX_ALONE = 4 };

static const uint64_t settle_insts =
    UINT64_C(2000000000); /* of all trials, see infer/infer_sizes.h */

struct intake_args init_args(struct arena *arena, const struct options *o)
{
    const char **args = arena_array(arena, MAX_PROGRAM_ARGS, sizeof(*args));
    unsigned nr = 0;

    for (const char *p = o->args ? o->args : ""; *p && nr < MAX_PROGRAM_ARGS;) {
        struct str one = {0};

        p += strspn(p, " \t");
        if (!*p)
            break;
        while (*p && *p != ' ' && *p != '\t') {
            size_t len = strcspn(p, " \t\"'");
            char quote = p[len];

            str_add_n(&one, p, len);
            p += len;
            if (quote != '"' && quote != '\'')
                continue;
            const char *end = strchr(p + 1, quote);

            len = end ? (size_t)(end - p - 1) : strlen(p + 1);
            str_add_n(&one, p + 1, len);
            p += 1 + len + (end != NULL);
        }
        args[nr++] = arena_strdup(arena, str_text(&one));
        str_finish(&one);
    }
    return (struct intake_args){.args = args,
        .nr = nr,
        .given = o->args != NULL,
        .dirs = o->include_dirs,
        .nr_dirs = o->nr_include_dirs,
        .defines = o->defines,
        .nr_defines = o->nr_defines};
}

static bool is_task(const struct intake *in)
{
    struct arena *arena = arena_create();
    struct task task;
    struct err ignored;
    const bool is = task_parse(&task, arena, in->path, in->text, strlen(in->text), &ignored);

    arena_destroy(arena);
    return is;
}

/* Where no sizes are found at which all launches run, those of one launch alone may be. */
static bool read_intake(
    struct intake *in, struct arena *arena, const struct options *o, struct err *err)
{
    struct intake_args args = init_args(arena, o);
    uint64_t insts = settle_insts;
    char *source;
    size_t bytes;

    if (!file_read(o->kernel_path, MAX_FILE_BYTES, &source, &bytes, err))
        return false;
    bool ok = intake_read(in, arena, o->kernel_path, source, bytes, &args, err);
    const unsigned nr_launches = ok ? in->nr_launches : 0;

    insts = nr_launches > 1 ? insts / 2 : insts;
    ok = ok && settle_numbers(in, arena, o, &insts, err);
    insts += nr_launches > 1 && insts ? settle_insts / 2 : 0;
    while (ok && in->nr_missing && insts && args.only < nr_launches && args.only < MAX_ALONE) {
        struct intake alone;

        args.only++;
        ok = intake_read(&alone, arena, o->kernel_path, source, bytes, &args, err) &&
             settle_numbers(&alone, arena, o, &insts, err);
        if (ok && alone.nr_missing == 0 && is_task(&alone))
            *in = alone;
    }
    ok = ok && settle_smaller(in, arena, o, source, bytes, &args, err);
    free(source);
    return ok;
}

static void print_lines(FILE *out, const struct intake *in)
{
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];

        fprintf(out, "  %s %s\n      %s %s\n",
            l->missing   ? "?"
            : l->assumed ? "~"
                         : " ",
            l->pragma, l->missing ? "to complete:" : "from", l->from);
    }
}

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

bool init_verb(const struct options *o, struct err *err)
{
    struct arena *arena = arena_create();
    struct intake in;
    bool ok = read_intake(&in, arena, o, err);

    if (ok && o->json) {
        ok = print_json(&in);
    } else if (ok) {
        if (o->verbosity >= 0) {
            fprintf(stderr, "%s: %u kernel(s), %u launch(es)\n", o->kernel_path, in.nr_kernels,
                in.nr_launches);
            print_lines(stderr, &in);
            if (in.note)
                fprintf(stderr, "%s\n", in.note);
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

bool init_load_task(
    struct task *task, struct arena *arena, const struct options *o, struct err *err)
{
    struct intake in;
    char *source;
    size_t bytes;

    if (!file_read(o->kernel_path, MAX_FILE_BYTES, &source, &bytes, err))
        return false;
    bool needed = intake_needed(source, bytes);

    free(source);
    if (!needed)
        return task_load(task, arena, o->kernel_path, err);
    if (!read_intake(&in, arena, o, err))
        return false;
    if (o->verbosity >= 0 || in.nr_missing) {
        fprintf(stderr, "%s has no task; this is what its host code says:\n", o->kernel_path);
        print_lines(stderr, &in);
        if (in.note)
            fprintf(stderr, "%s\n", in.note);
    }
    if (in.nr_missing)
        return err_set(err,
            "%s: %u line(s) of the task cannot be read from the file (marked ? above); write them "
            "with "
            "`keet-opt init %s -o task.cu`, complete them there, and run that",
            o->kernel_path, in.nr_missing, o->kernel_path);
    return task_parse(task, arena, o->kernel_path, in.text, strlen(in.text), err);
}
