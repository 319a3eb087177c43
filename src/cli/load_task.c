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

void load_task_show(struct arena *arena, const struct intake *in)
{
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];

        fprintf(stderr, "  %s %s\n      %s %s\n",
            l->missing   ? "?"
            : l->assumed ? "~"
                         : " ",
            intake_pragma(arena, l), l->missing ? "to complete:" : "from", l->from);
    }
    if (in->note)
        fprintf(stderr, "%s\n", in->note);
}

/* Reads a contract from host code, and shows the contract. */
static bool infer(struct arena *arena, const struct infer_options *options, const struct options *o,
    struct intake *in, struct err *err)
{
    if (!infer_contract(in, arena, options, err))
        return false;
    if (o->verbosity >= 0 || in->nr_missing) {
        fprintf(stderr, "%s has no task; this is what its host code says:\n", o->kernel_path);
        load_task_show(arena, in);
    }
    return !in->nr_missing ||
           err_set(err,
               "%s: %u %s of the task cannot be read from the file (marked ? above); write them "
               "with `keet-opt init %s -o task.cu`, complete them there, and run that",
               o->kernel_path, in->nr_missing, in->nr_missing == 1 ? "line" : "lines",
               o->kernel_path);
}

bool load_source(const char **source, size_t *bytes, struct arena *arena, const struct options *o,
    struct err *err)
{
    const struct infer_options options = load_task_options(arena, o);
    struct intake in;
    char *text;
    bool needed, both, ok;

    if (!file_read(o->kernel_path, INTAKE_MAX_BYTES, &text, bytes, err))
        return false;
    needed = intake_needed(text, *bytes);
    both = !needed && (o->nr_include_dirs || o->nr_defines || intake_has_both(arena, text, *bytes));
    ok = !both || intake_split(&in, arena, o->kernel_path, text, *bytes, &options.args, err);
    ok = ok && (!needed || infer(arena, &options, o, &in, err));
    if (needed || both) {
        *source = ok ? in.text : NULL;
        *bytes = ok ? strlen(in.text) : 0;
    } else if (*bytes <= TASK_MAX_BYTES) {
        *source = arena_strndup(arena, text, *bytes);
    } else {
        ok = err_set(err, "%s: more than %d MiB", o->kernel_path, TASK_MAX_BYTES >> 20);
    }
    free(text);
    return ok;
}

bool load_task(struct task *task, struct arena *arena, const struct options *o, struct err *err)
{
    const char *source;
    size_t bytes;

    return load_source(&source, &bytes, arena, o, err) &&
           task_parse(task, arena, o->kernel_path, source, bytes, err);
}

/* Where the value of NAME stands on a `size` or `tune` line; NULL: nowhere. */
static const char *find_value(const char *source, const char *name, size_t *len)
{
    const size_t nr = strlen(name);

    for (const char *line = source; *line;) {
        const char *end = str_next_line(line), *at = line + strspn(line, " \t");
        bool ours = str_starts(at, "#pragma keet");

        at += ours ? 12 + strspn(at + 12, " \t") : 0;
        ours = ours && (str_starts(at, "size") || str_starts(at, "tune"));
        for (; ours && (at = str_find_word(at, end, name, nr)) != NULL; at += nr) {
            const char *value = at + nr + strspn(at + nr, " \t");

            if (*value != '=')
                continue;
            value += 1 + strspn(value + 1, " \t");
            *len = strcspn(value, ",\n/ \t");
            return *len > 0 ? value : NULL;
        }
        line = end;
    }
    return NULL;
}

const char *task_with_value(
    struct arena *arena, const char *source, const char *name, const char *value)
{
    size_t len = 0;
    const char *old = find_value(source, name, &len);

    return old ? arena_printf(arena, "%.*s%s%s", (int)(old - source), source, value, old + len)
               : NULL;
}
