/* Owns the way back into a file that says its task itself, beside host code.
 *
 * The file is read as if it said no task, so that host code and device code are patched as in any
 * other file. For that time its pragmas are called `kept`: they are lines of code like others, and
 * the winner's take their place. */
#include "base/mem.h"
#include "base/str.h"
#include "intake/patch/patch_parts.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

static const char ours[] = "#pragma keet", theirs[] = PATCH_KEPT;
_Static_assert(sizeof(ours) == sizeof(theirs), "renamed in place");

struct own_patch {
    struct arena *arena;
    struct plan was, now; /* the plans of the user and of the winner */
    const char *code;     /* the user's file without our pragmas */
};

/* A copy with each `from` replaced by `to`, which has the same length. */
static char *renamed(
    struct arena *arena, const char *text, size_t bytes, const char *from, const char *to)
{
    char *copy = arena_strndup(arena, text, bytes);

    for (char *at = copy; (at = strstr(at, from)) != NULL;)
        for (const char *c = to; *c; c++)
            *at++ = *c;
    return copy;
}

/* ---- tuning parameters ---- */

static const struct tune *own_tune(const struct own_patch *o, const char *name)
{
    for (unsigned i = 0; i < o->was.nr_tunes; i++)
        if (strcmp(o->was.tunes[i].name, name) == 0)
            return &o->was.tunes[i];
    return NULL;
}

/* A parameter becomes a number where the winner brought it along. So does one of the user's that
 * the winner sets to another value and the user's code uses: the code has a value of its own for
 * when no one else says it. */
static bool is_frozen(const struct own_patch *o, const struct tune *now)
{
    const struct tune *was = own_tune(o, now->name);

    return !was || (was->value != now->value && spelling_has_word(o->code, now->name));
}

/* code: the line is code, where what the winner brought along becomes constants: see
 * patch_code.c. */
static const char *frozen(const struct own_patch *o, const char *line, bool code)
{
    for (unsigned i = 0; i < o->now.nr_tunes; i++) {
        const struct tune *t = &o->now.tunes[i];

        if (is_frozen(o, t) && (!code || own_tune(o, t->name)))
            line = spelling_with_number(o->arena, line, t->name, (long long)t->value);
    }
    return line;
}

/* #define and #ifndef say the value of the user's code, and stay. A condition would be of another
 * value than the winner's. */
static bool is_condition(const char *line)
{
    const char *at = line + strspn(line, " \t");

    if (*at++ != '#')
        return false;
    at += strspn(at, " \t");
    return (str_starts(at, "if") && !str_starts(at, "ifn") && !str_starts(at, "ifd")) ||
           str_starts(at, "elif");
}

static bool is_directive(const char *line)
{
    const char *at = line + strspn(line, " \t");

    return *at == '#' && !strstr(at, "pragma");
}

/* The first condition of the winner that a tuning parameter decides otherwise than in the file;
 * NULL: there is none. */
static const char *open_condition(const struct own_patch *o, const char *best)
{
    for (const char *at = best; *at; at = str_next_line(at)) {
        const char *line = arena_strndup(o->arena, at, strcspn(at, "\n"));

        if (is_condition(line) && strcmp(frozen(o, line, true), line) != 0)
            return line;
    }
    return NULL;
}

/* ---- the winner as the patcher takes it ---- */

static bool has_keyword(const char *line, const char *keyword)
{
    const char *at = strstr(line, ours) + strlen(ours);

    at += strspn(at, " \t");
    return str_starts(at, keyword) && !str_word_char(at[strlen(keyword)]);
}

/* Without the tune and where lines of what becomes a number. */
static bool stays(const struct own_patch *o, const char *line)
{
    if (!has_keyword(line, "where") && !has_keyword(line, "tune"))
        return true;
    for (unsigned i = 0; i < o->now.nr_tunes; i++)
        if (is_frozen(o, &o->now.tunes[i]) && spelling_has_word(line, o->now.tunes[i].name))
            return false;
    return true;
}

/* The winner's code and pragmas as they are to stand in the user's file. */
static const char *disguised(const struct own_patch *o, const char *best)
{
    struct str out = {0};

    for (const char *at = best; *at; at = str_next_line(at)) {
        const char *line = arena_strndup(o->arena, at, strcspn(at, "\n"));
        const bool is_plan = task_line(line) == TASK_LINE_PLAN,
                   is_code = task_line(line) == TASK_LINE_CODE && !is_directive(line);

        if (!is_plan || stays(o, line))
            str_addf(&out, "%s\n", is_plan || is_code ? frozen(o, line, is_code) : line);
    }
    while (out.len > 0 && out.text[out.len - 1] == '\n')
        out.text[--out.len] = '\0';
    str_add(&out, "\n\n"); /* the contract of the host code begins so */
    const char *text = renamed(o->arena, str_text(&out), out.len, ours, theirs);

    str_finish(&out);
    return text;
}

/* False: err says why the file and the winner cannot be tied. */
static bool read_and_patch(struct patch *patch, struct arena *arena, const char *path,
    const char *source, size_t bytes, const struct intake_args *args, const char *best,
    size_t best_bytes, struct err *err)
{
    struct own_patch o = {.arena = arena};
    struct task task = {0};
    struct patcher *p = patcher_create(arena, &task);
    struct intake in;
    enum verdict verdict;

    p->plan = &o.now;
    if (!intake_split(&in, arena, path, source, bytes, args, err) ||
        !task_parse(&task, arena, path, in.text, strlen(in.text), err) ||
        !plan_parse(&o.now, &task, arena, best, best_bytes, &verdict, err))
        return false;
    if (!patcher_read(p, path, renamed(arena, source, bytes, ours, theirs), bytes, args, true, err))
        return err_wrap(err, "the launches of its host code cannot be read");
    o.was = task.plan;
    char *heap = task_code(source, bytes);

    o.code = arena_strdup(arena, heap);
    free(heap);
    best = arena_strndup(arena, best, best_bytes);
    const char *open = open_condition(&o, best);

    if (open)
        return err_set(err,
            "the winner has another value of a tuning parameter than the file, and `%s` depends "
            "on it",
            open);
    patcher_write(patch, p, false, disguised(&o, best));
    return true;
}

void patch_make_own(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const char *best, size_t best_bytes)
{
    struct err err;

    *patch = (struct patch){0};
    if (!read_and_patch(patch, arena, path, source, bytes, args, best, best_bytes, &err))
        patch->why = arena_strdup(arena, err.text);
    for (unsigned i = 0; i < patch->nr_files; i++) {
        struct patched_file *f = &patch->files[i];

        f->old = renamed(arena, f->old, strlen(f->old), theirs, ours);
        f->text = renamed(arena, f->text, strlen(f->text), theirs, ours);
    }
}
