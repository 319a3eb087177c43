/* Owns the way back into a file that says its task itself, beside host code.
 *
 * The file is read as if it said no task, so that host code and device code are patched as in any
 * other file. For that time its pragmas are called `kept`: they are lines of code like others, and
 * the winner's take their place. The winner's launches are translated from the names of the user's
 * pragmas to those of the contract that the host code gives; what a launch passes ties the two. */
#include "intake/patch/patch.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/patch/patch_parts.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

static const char ours[] = "#pragma keet", theirs[] = PATCH_KEPT;
_Static_assert(sizeof(ours) == sizeof(theirs), "renamed in place");

enum { MAX_NAMES = 256 };

struct own_patch {
    struct arena *arena;
    struct task task;                                /* the user's */
    const struct plan *plan;                         /* the winner's, in the user's names */
    struct task read;                                /* the contract of the host code */
    const char *users[MAX_NAMES], *hosts[MAX_NAMES]; /* what the one calls the other */
    unsigned nr_names;
    const char *code; /* the user's file without our pragmas */
    const char *why;
};

static bool refuse(struct own_patch *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(struct own_patch *o, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    o->why = arena_vprintf(o->arena, format, ap);
    va_end(ap);
    return false;
}

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

/* ---- names ---- */

static const char *passed(struct own_patch *o, const struct launch_arg *arg)
{
    const char *value = arg->value ? expr_text(arg->value) : NULL;

    if (arg->kind == ARG_ARRAY || arg->kind == ARG_SCALAR)
        return value ? arena_printf(o->arena, "%s + %s", arg->name, value) : arg->name;
    return arg->kind == ARG_INTEGER ? value : NULL;
}

static bool is_word(const char *text)
{
    size_t len = 0;

    while (str_word_char(text[len]))
        len++;
    return len > 0 && !text[len] && !(text[0] >= '0' && text[0] <= '9');
}

static void tie(struct own_patch *o, const char *user, const char *host)
{
    for (unsigned i = 0; i < o->nr_names; i++)
        if (strcmp(o->users[i], user) == 0)
            return;
    if (o->nr_names == MAX_NAMES)
        return;
    o->users[o->nr_names] = user;
    o->hosts[o->nr_names++] = host;
}

static bool tie_launch(struct own_patch *o, const struct launch *user, const struct launch *host)
{
    if (strcmp(spelling_dense(o->arena, user->kernel), spelling_dense(o->arena, host->kernel)) !=
            0 ||
        user->nr_args != host->nr_args)
        return refuse(o,
            "the task launches %s where the host code launches %s, with %u and %u arguments",
            user->kernel, host->kernel, user->nr_args, host->nr_args);
    for (unsigned a = 0; a < user->nr_args; a++) {
        const char *name = passed(o, &user->args[a]), *text = passed(o, &host->args[a]);

        if (name && text && is_word(name))
            tie(o, name, is_word(text) ? text : arena_printf(o->arena, "(%s)", text));
    }
    return true;
}

static bool tie_names(struct own_patch *o)
{
    const struct plan *user = &o->task.plan, *host = &o->read.plan;

    if (user->nr_launches != host->nr_launches)
        return refuse(o, "the task has %u of the host code's %u launches", user->nr_launches,
            host->nr_launches);
    for (unsigned i = 0; i < user->nr_launches; i++)
        if (!tie_launch(o, &user->launches[i], &host->launches[i]))
            return false;
    return true;
}

/* All at once: a name of the one may be another's of the other. */
static const char *translated(const struct own_patch *o, const char *text)
{
    for (unsigned i = 0; i < o->nr_names; i++)
        text = spelling_with_text(
            o->arena, text, o->users[i], arena_printf(o->arena, "keet_name_%u_", i));
    for (unsigned i = 0; i < o->nr_names; i++)
        text = spelling_with_text(
            o->arena, text, arena_printf(o->arena, "keet_name_%u_", i), o->hosts[i]);
    return text;
}

/* ---- tuning parameters ---- */

static const struct tune *own_tune(const struct own_patch *o, const char *name)
{
    for (unsigned i = 0; i < o->task.plan.nr_tunes; i++)
        if (strcmp(o->task.plan.tunes[i].name, name) == 0)
            return &o->task.plan.tunes[i];
    return NULL;
}

static bool has_name(const char *text, const char *name)
{
    return str_find_word(text, text + strlen(text), name, strlen(name)) != NULL;
}

/* A parameter becomes a number where the winner brought it along. So does one of the user's that
 * the winner sets to another value and the user's code uses: the code has a value of its own for
 * when no one else says it. */
static bool is_frozen(const struct own_patch *o, const struct tune *now)
{
    const struct tune *was = own_tune(o, now->name);

    return !was || (was->value != now->value && has_name(o->code, now->name));
}

static const char *frozen(const struct own_patch *o, const char *line)
{
    for (unsigned i = 0; i < o->plan->nr_tunes; i++)
        if (is_frozen(o, &o->plan->tunes[i]))
            line = spelling_with_number(
                o->arena, line, o->plan->tunes[i].name, (long long)o->plan->tunes[i].value);
    return line;
}

/* A line of the winner's code. What the winner brought along becomes constants: see patch_code.c.
 */
static const char *frozen_code(const struct own_patch *o, const char *line)
{
    for (unsigned i = 0; i < o->plan->nr_tunes; i++) {
        const struct tune *t = &o->plan->tunes[i];

        if (own_tune(o, t->name) && is_frozen(o, t))
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

static bool conditions_hold(struct own_patch *o, const char *best)
{
    for (const char *at = best; *at; at = str_next_line(at)) {
        const char *line = arena_strndup(o->arena, at, strcspn(at, "\n"));

        if (is_condition(line) && strcmp(frozen_code(o, line), line) != 0)
            return refuse(o,
                "the winner has another value of a tuning parameter than the file, and `%s` "
                "depends on it",
                line);
    }
    return true;
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
    for (unsigned i = 0; i < o->plan->nr_tunes; i++)
        if (is_frozen(o, &o->plan->tunes[i]) && has_name(line, o->plan->tunes[i].name))
            return false;
    return true;
}

static void add_contract(const struct own_patch *o, const struct intake *in, struct str *out)
{
    str_add(out, "\n\n");
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (!in->lines[i].missing && !has_keyword(in->lines[i].pragma, "launch"))
            str_addf(out, "%s\n", in->lines[i].pragma);
    for (unsigned i = 0; i < o->plan->nr_tunes; i++)
        str_addf(out, "%s tune %s = %lld in {%lld}\n", ours, o->plan->tunes[i].name,
            (long long)o->plan->tunes[i].value, (long long)o->plan->tunes[i].value);
}

/* A launch with all tuning parameters as numbers. */
static const char *said(const struct own_patch *o, const struct plan *plan, unsigned launch)
{
    const char *text = plan->launches[launch].text;

    for (unsigned i = 0; i < plan->nr_tunes; i++)
        text = spelling_with_number(
            o->arena, text, plan->tunes[i].name, (long long)plan->tunes[i].value);
    return spelling_dense(o->arena, text);
}

/* The winner's launches for the host code. One that the winner did not change stays in the host
 * code's own words. */
static const char *launch_line(const struct own_patch *o, unsigned launch, const char *line)
{
    const struct plan *was = &o->task.plan, *now = o->plan;

    if (was->nr_launches == now->nr_launches &&
        strcmp(said(o, was, launch), said(o, now, launch)) == 0)
        return arena_printf(o->arena, "%s launch %s", ours, o->read.plan.launches[launch].text);
    return translated(o, frozen(o, line));
}

/* Its code and pragmas as they are to stand in the user's file, and below them its plan in the
 * names of the host code's contract. */
static const char *disguised(const struct own_patch *o, const struct intake *in, const char *best)
{
    struct str out = {0}, plan = {0};
    unsigned nr_launches = 0;

    for (const char *at = best; *at; at = str_next_line(at)) {
        const size_t len = strcspn(at, "\n");
        const char *line = arena_strndup(o->arena, at, len);
        const bool is_plan = task_line(line) == TASK_LINE_PLAN;

        if (is_plan && has_keyword(line, "launch"))
            str_addf(&plan, "%s\n", launch_line(o, nr_launches++, line));
        else if (is_plan && has_keyword(line, "temp"))
            str_addf(&plan, "%s\n", translated(o, frozen(o, line)));
        if (is_plan && !stays(o, line))
            continue;
        str_addf(&out, "%s\n",
            is_plan                                                    ? frozen(o, line)
            : task_line(line) == TASK_LINE_CODE && !is_directive(line) ? frozen_code(o, line)
                                                                       : line);
    }
    while (out.len > 0 && out.text[out.len - 1] == '\n')
        out.text[--out.len] = '\0';
    char *code = renamed(o->arena, str_text(&out), out.len, ours, theirs);

    str_clear(&out);
    str_add(&out, code);
    add_contract(o, in, &out);
    str_add(&out, str_text(&plan));
    const char *text = arena_strdup(o->arena, str_text(&out));

    str_finish(&out);
    str_finish(&plan);
    return text;
}

/* False: o->why, or err. The contract of the host code, of all launches or of one alone, that has
 * the task's launches. */
static bool read_contract(struct own_patch *o, struct intake *in, const char *path,
    const char *source, size_t bytes, const struct intake_args *given, struct err *err)
{
    struct intake_args args = *given;
    unsigned nr = 1;

    for (args.only = 0; args.only <= nr; args.only++) {
        struct intake read;

        if (!intake_read(&read, o->arena, path, source, bytes, &args, err))
            return false;
        nr = args.only ? nr : read.nr_launches;
        if (patch_contract(&o->read, o->arena, &read, in, path, err) && tie_names(o)) {
            o->why = NULL;
            return true;
        }
    }
    return false;
}

/* Everything that can go wrong here is that the file and the winner cannot be tied. */
static bool tie_and_patch(struct own_patch *o, struct patch *patch, const char *path,
    const char *source, size_t bytes, const struct intake_args *args, const char *best,
    size_t best_bytes, struct err *err)
{
    struct arena *arena = o->arena;
    const char *file = renamed(arena, source, bytes, ours, theirs), *winner;
    char *heap;
    struct intake in;
    struct plan plan;
    enum verdict verdict;

    o->plan = &plan;
    if (!intake_split(&in, arena, path, source, bytes, args, err) ||
        !task_parse(&o->task, arena, path, in.text, strlen(in.text), err) ||
        !plan_parse(&plan, &o->task, arena, best, best_bytes, &verdict, err))
        return false;
    if (!read_contract(o, &in, path, file, bytes, args, err))
        return o->why ||
               err_wrap(err,
                   "the launches of its host code cannot be read, or not all of what they "
                   "pass is known");
    heap = task_code(source, bytes);
    o->code = arena_strdup(arena, heap);
    free(heap);
    winner = arena_strndup(arena, best, best_bytes);
    if (!conditions_hold(o, winner))
        return true;
    winner = disguised(o, &in, winner);
    return patch_make(
               patch, arena, path, file, bytes, args, &o->read, winner, strlen(winner), err) ||
           err_wrap(err, "the winner's launch needs what the host code passes to no launch");
}

void patch_make_own(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const char *best, size_t best_bytes)
{
    struct own_patch *o = arena_alloc(arena, sizeof(*o));
    struct err err;

    *patch = (struct patch){0};
    o->arena = arena;
    if (!tie_and_patch(o, patch, path, source, bytes, args, best, best_bytes, &err))
        o->why = arena_strdup(arena, err.text);
    if (o->why)
        *patch = (struct patch){.why = o->why};
    for (unsigned i = 0; i < patch->nr_files; i++) {
        struct patched_file *f = &patch->files[i];

        f->old = renamed(arena, f->old, strlen(f->old), theirs, ours);
        f->text = renamed(arena, f->text, strlen(f->text), theirs, ours);
    }
}
