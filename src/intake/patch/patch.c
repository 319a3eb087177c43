/* Owns the way back from a winner to the files of the user. */
#include "intake/patch/patch.h"

#include "base/mem.h"
#include "intake/gather/python.h"
#include "intake/patch/patch_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool patch_contract(struct task *task, struct arena *arena, const struct intake *in,
    struct intake *whole, const char *path, struct err *err)
{
    *whole = *in;
    whole->lines = arena_array(arena, in->nr_lines + 1, sizeof(*whole->lines));
    memcpy(whole->lines, in->lines, in->nr_lines * sizeof(*whole->lines));
    for (unsigned i = 0; i < whole->nr_lines; i++)
        if (whole->lines[i].missing && whole->lines[i].number)
            intake_assume(
                whole, arena, whole->lines[i--].number, "1024", "the numbers do not matter");
    intake_compose(whole, arena);
    return task_parse(task, arena, path, whole->text, strlen(whole->text), err);
}

bool patcher_refuse(struct patcher *p, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    if (!p->why)
        p->why = arena_vprintf(p->arena, format, ap);
    va_end(ap);
    return false;
}

size_t patcher_line_at(const struct patcher *p, unsigned line)
{
    return line < p->set->nr_lines ? p->set->starts[line] : p->set->bytes;
}

const char *patcher_where(const struct patcher *p, unsigned line)
{
    const struct source_set *set = p->set;

    if (line == 0 || line > set->nr_lines)
        return "the end";
    const struct origin *from = &set->origins[line - 1];
    unsigned number = 1;

    for (size_t i = 0; i < from->at; i++)
        number += set->files[from->file].text[i] == '\n';
    return from->file ? arena_printf(p->arena, "%s:%u", set->files[from->file].name, number)
                      : arena_printf(p->arena, "line %u", number);
}

/* The line (from 0) of a byte of set->text. */
static unsigned line_at(const struct source_set *set, size_t at)
{
    unsigned low = 0, high = set->nr_lines;

    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;

        if (set->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool patcher_replace(struct patcher *p, size_t from, size_t to, const char *text)
{
    const struct source_set *set = p->set;
    /* the end of a range belongs to the line of its last byte, an insertion to the line before */
    const bool at_start = from > 0 && set->text[from - 1] == '\n' && from == to;
    const unsigned first = line_at(set, at_start ? from - 1 : from),
                   last = line_at(set, to > from ? to - 1 : from - at_start);
    const struct origin *a = &set->origins[first], *b = &set->origins[last];

    if (a->file != b->file)
        return patcher_refuse(
            p, "a change would span %s and %s", set->files[a->file].name, set->files[b->file].name);
    if (a->made || b->made)
        return patcher_refuse(
            p, "the launch of %s is made by a macro", patcher_where(p, first + 1));
    if (!*set->files[a->file].path)
        return patcher_refuse(p, "a change would be in a function that a macro makes");
    const size_t bytes = set->files[a->file].bytes;
    size_t start = a->at + (from - set->starts[first]), end = b->at + (to - set->starts[last]);

    start = start < bytes ? start : bytes; /* the last line may lack its newline */
    end = end < bytes ? end : bytes;
    if (from == to && start == bytes && bytes > 0 && set->files[a->file].text[bytes - 1] != '\n')
        text = arena_printf(p->arena, "\n%s", text);
    if (python_is(set->files[a->file].path))
        text = python_quoted(p->arena, set->files[a->file].text, start, text);
    edits_replace(&p->edits[a->file], (unsigned)start, (unsigned)end, "%s", text);
    return true;
}

static bool apply(struct patch *patch, struct patcher *p)
{
    const struct source_set *set = p->set;

    patch->files = arena_array(p->arena, set->nr_files, sizeof(*patch->files));
    for (unsigned i = 0; i < set->nr_files; i++) {
        const struct user_file *f = &set->files[i];
        const char *text = edits_apply(&p->edits[i], f->text, f->bytes, NULL);

        if (!text)
            return patcher_refuse(p, "two changes of %s meet at one place", f->name);
        if (strcmp(text, f->text) != 0)
            patch->files[patch->nr_files++] =
                (struct patched_file){f->path, f->name, f->text, text};
    }
    return true;
}

/* The contract has the arrays of the task and no others. */
static bool is_of_task(const struct intake *in, const struct task *task)
{
    static const char *const heads[] = {"in", "out", "inout", "symbol"};
    unsigned nr = 0;

    for (unsigned i = 0; i < in->nr_lines; i++)
        for (size_t h = 0; h < ARRAY_SIZE(heads); h++) {
            char role[16], name[256];

            if (sscanf(in->lines[i].pragma, "#pragma keet %15s %255s", role, name) != 2 ||
                strcmp(role, heads[h]) != 0)
                continue;
            bool found = false;

            for (unsigned a = 0; a < task->nr_arrays; a++)
                found |= strcmp(task->arrays[a].name, name) == 0;
            if (!found)
                return false;
            nr++;
        }
    return nr == task->nr_arrays;
}

/* Reads the contract that the task was made from: with all launches, or with one alone (see
 * intake_args.only). */
static bool read_as_task(struct source_set *set, struct arena *arena, const char *path,
    const char *source, size_t bytes, const struct intake_args *given, const struct task *task,
    struct err *err)
{
    struct intake_args args = *given;
    bool ok = source_set_read(set, arena, path, source, bytes, &args, err);
    const unsigned nr = ok && !is_of_task(&set->in, task) ? set->in.nr_launches : 0;

    for (args.only = 1; ok && nr > 1 && args.only <= nr; args.only++) {
        memset(set, 0, sizeof(*set));
        ok = source_set_read(set, arena, path, source, bytes, &args, err);
        if (ok && is_of_task(&set->in, task))
            return true;
    }
    args.only = 0;
    if (ok && nr > 1) {
        memset(set, 0, sizeof(*set));
        ok = source_set_read(set, arena, path, source, bytes, &args, err);
    }
    return ok;
}

static bool same_value(
    const struct expr *a, const struct env *a_env, const struct expr *b, const struct env *b_env)
{
    struct err err;
    int64_t x, y;

    return expr_eval(a, a_env, &x, &err) && expr_eval(b, b_env, &y, &err) && x == y;
}

/* Are two views of an array written alike? */
static bool same_view(const struct launch_arg *a, const struct launch_arg *b)
{
    if (a->kind == ARG_TENSOR_MAP)
        return strcmp(a->tensor->written, b->tensor->written) == 0;
    return a->kind != ARG_TEXTURE || strcmp(a->texture->written, b->texture->written) == 0;
}

/* Are the launches of the two plans the same at the timed sizes, down to the last argument? */
static bool same_launches(struct arena *arena, const struct task *task, const struct plan *plan)
{
    const struct env old = plan_env(arena, &task->plan, &task->timed),
                     new_ = plan_env(arena, plan, &task->timed);
    bool same =
        task->plan.nr_launches == plan->nr_launches && task->plan.nr_temps == plan->nr_temps;

    for (unsigned i = 0; same && i < plan->nr_launches; i++) {
        const struct launch *a = &task->plan.launches[i], *b = &plan->launches[i];

        same = strcmp(a->kernel, b->kernel) == 0 && a->nr_args == b->nr_args &&
               same_value(a->smem_bytes, &old, b->smem_bytes, &new_);
        for (unsigned d = 0; same && d < 3; d++)
            same = same_value(a->grid[d], &old, b->grid[d], &new_) &&
                   same_value(a->block[d], &old, b->block[d], &new_) &&
                   same_value(a->cluster[d], &old, b->cluster[d], &new_);
        for (unsigned k = 0; same && k < a->nr_args; k++)
            same = a->args[k].kind == b->args[k].kind && a->args[k].kind != ARG_STRUCT &&
                   same_view(&a->args[k], &b->args[k]) &&
                   (a->args[k].name == NULL || strcmp(a->args[k].name, b->args[k].name) == 0) &&
                   (a->args[k].value == NULL) == (b->args[k].value == NULL) &&
                   (a->args[k].value == NULL ||
                       same_value(a->args[k].value, &old, b->args[k].value, &new_));
    }
    return same;
}

/* code: only device code is put back. */
static bool make(struct patch *patch, struct patcher *p, bool code, const char *path,
    const struct task *task, const char *best, size_t best_bytes, struct err *err)
{
    struct plan plan;
    enum verdict verdict;

    *patch = (struct patch){0};
    p->plan = &plan;
    if (!plan_parse(&plan, task, p->arena, best, best_bytes, &verdict, err))
        return false;
    for (unsigned i = 0; i < p->set->nr_files; i++)
        p->edits[i].arena = p->arena;
    char *heap = task_code(best, best_bytes);
    const char *text = arena_strdup(p->arena, heap);

    free(heap);
    if (!toks_lex(&p->toks, p->arena, text, strlen(text)))
        return err_set(err, "%s: the winner has over %d tokens", path, TOKS_MAX);
    decls_read(&p->decls, p->arena, &p->toks);
    if (code && !same_launches(p->arena, task, &plan))
        patcher_refuse(p,
            "it is launched in another way, and the text of %s does not say how the "
            "program comes to its launch",
            path);
    else if (patch_code(p, text) && (code || patch_launches(p)))
        apply(patch, p);
    if (p->why != NULL)
        patch->nr_files = 0;
    patch->why = p->why;
    patch->note = p->note;
    if (!p->note && (strstr(text, "wgmma.") || strstr(text, "setmaxnreg.")))
        patch->note = "the new kernel is for the H100 alone: compile it with -gencode "
                      "arch=compute_90a,code=sm_90a";
    return true;
}

static struct patcher *patcher_create(struct arena *arena)
{
    struct patcher *p = arena_alloc(arena, sizeof(*p));

    p->arena = arena;
    p->set = arena_alloc(arena, sizeof(*p->set));
    return p;
}

bool patch_make(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, const char *best,
    size_t best_bytes, struct err *err)
{
    struct patcher *p = patcher_create(arena);

    return read_as_task(p->set, arena, path, source, bytes, args, task, err) &&
           make(patch, p, false, path, task, best, best_bytes, err);
}

bool patch_make_code(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, const char *best,
    size_t best_bytes, struct err *err)
{
    struct patcher *p = patcher_create(arena);
    struct intake_args all = *args;

    return source_set_read(p->set, arena, path, source, bytes, &all, err) &&
           make(patch, p, true, path, task, best, best_bytes, err);
}
