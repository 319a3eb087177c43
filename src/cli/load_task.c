/* Owns the way from the command line to a task. */
#include "cli/load_task.h"

#include "base/file.h"
#include "base/str.h"
#include "cli/parts.h"
#include "intake/intake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PROGRAM_ARGS = 64 };

static struct intake_args split_args(struct arena *arena, const struct options *o)
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

struct infer_options load_task_options(struct arena *arena, const struct options *o)
{
    return (struct infer_options){
        .path = o->kernel_path, .args = split_args(arena, o), .bench = options_bench(o)};
}

void load_task_show(const struct intake *in)
{
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];

        fprintf(stderr, "  %s %s\n      %s %s\n",
            l->missing   ? "?"
            : l->assumed ? "~"
                         : " ",
            l->pragma, l->missing ? "to complete:" : "from", l->from);
    }
    if (in->note)
        fprintf(stderr, "%s\n", in->note);
}

bool load_task(struct task *task, struct arena *arena, const struct options *o, struct err *err)
{
    const struct infer_options infer = load_task_options(arena, o);
    struct intake in;
    char *source;
    size_t bytes;

    if (!file_read(o->kernel_path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    const bool needed = intake_needed(source, bytes);
    const bool both =
        !needed && (o->nr_include_dirs || o->nr_defines || intake_has_both(arena, source, bytes));
    const bool ok =
        !both || intake_split(&in, arena, o->kernel_path, source, bytes, &infer.args, err);

    free(source);
    if (both)
        return ok && task_parse(task, arena, o->kernel_path, in.text, strlen(in.text), err);
    if (!needed)
        return task_load(task, arena, o->kernel_path, err);
    if (!infer_contract(&in, arena, &infer, err))
        return false;
    if (o->verbosity >= 0 || in.nr_missing) {
        fprintf(stderr, "%s has no task; this is what its host code says:\n", o->kernel_path);
        load_task_show(&in);
    }
    if (in.nr_missing)
        return err_set(err,
            "%s: %u %s of the task cannot be read from the file (marked ? above); write them with "
            "`keet-opt init %s -o task.cu`, complete them there, and run that",
            o->kernel_path, in.nr_missing, in.nr_missing == 1 ? "line" : "lines", o->kernel_path);
    return task_parse(task, arena, o->kernel_path, in.text, strlen(in.text), err);
}
