/* Owns the way back from a winner to the files of the user. */
#include "intake/patch/patch.h"

#include "base/mem.h"
#include "intake/gather/python.h"
#include "intake/patch/patch_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (set->files[a->file].renamed)
        return patcher_refuse(p, "a change would be in %s, which was read with other names",
            set->files[a->file].name);
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

bool patch_make(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, const char *best,
    size_t best_bytes, struct err *err)
{
    struct patcher *p = arena_alloc(arena, sizeof(*p));
    struct plan plan;
    enum verdict verdict;

    *patch = (struct patch){0};
    p->arena = arena;
    p->set = arena_alloc(arena, sizeof(*p->set));
    p->plan = &plan;
    if (!read_as_task(p->set, arena, path, source, bytes, args, task, err) ||
        !plan_parse(&plan, task, arena, best, best_bytes, &verdict, err))
        return false;
    for (unsigned i = 0; i < p->set->nr_files; i++)
        p->edits[i].arena = arena;
    char *heap = task_code(best, best_bytes);
    const char *code = arena_strdup(arena, heap);

    free(heap);
    if (!toks_lex(&p->toks, arena, code, strlen(code)))
        return err_set(err, "%s: the winner has over %d tokens", path, TOKS_MAX);
    decls_read(&p->decls, arena, &p->toks);
    if (!patch_code(p, code) || !patch_launches(p) || !apply(patch, p))
        patch->nr_files = 0;
    patch->why = p->why;
    patch->note = p->note;
    return true;
}
