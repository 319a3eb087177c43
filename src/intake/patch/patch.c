/* Owns the way back from a winner to the files of the user. */
#include "intake/patch/patch.h"

#include "base/mem.h"
#include "intake/gather/source_set.h"
#include "intake/patch/patch_parts.h"

#include <stdlib.h>
#include <string.h>

/* The contract of the file as a task; a number that the file does not say is 1024. False: the
 * contract lacks more than numbers. */
static bool read_contract(
    struct task *task, struct arena *arena, const struct intake *in, struct err *err)
{
    struct intake whole = *in;

    whole.lines = arena_array(arena, in->nr_lines + 1, sizeof(*whole.lines));
    memcpy(whole.lines, in->lines, in->nr_lines * sizeof(*whole.lines));
    for (unsigned i = 0; i < whole.nr_lines; i++)
        if (intake_lacks_number(&whole.lines[i]))
            intake_assume(&whole, arena, whole.lines[i].name, "1024", "the numbers do not matter");
    intake_compose(&whole, arena);
    return task_parse(task, arena, in->path, whole.text, strlen(whole.text), err);
}

/* Sets why the contract cannot be read, where it lacks more than numbers. */
static bool is_whole(const struct intake *in, struct err *err)
{
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].kind == INTAKE_LAUNCH && in->lines[i].missing)
            return err_set(err,
                "%s does not say the launch of %s in full (see keet-opt init); put the task's "
                "#pragma keet lines into %s, and patch that file",
                in->path, in->lines[i].name, in->path);
    return true;
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

const char *patcher_source(const struct patcher *p, struct tok_range r)
{
    const size_t from = r.toks->tok[r.from].at;

    return arena_strndup(p->arena, r.toks->source + from, r.toks->tok[r.to - 1].end - from);
}

const char *patcher_where(const struct patcher *p, unsigned line)
{
    const struct source_set *set = p->set;

    if (line == 0 || line > set->nr_lines)
        return "the end";
    unsigned number;
    const struct user_file *from = source_set_origin(set, line, &number);

    return from != set->files ? arena_printf(p->arena, "%s:%u", from->name, number)
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
    unsigned nr = 0;

    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];
        bool found = false;

        if (!l->role || strcmp(l->role, "temp") == 0)
            continue;
        for (unsigned a = 0; a < task->nr_arrays; a++)
            found |= strcmp(task->arrays[a].name, l->name) == 0;
        if (!found)
            return false;
        nr++;
    }
    return nr == task->nr_arrays;
}

/* The contract launches the kernels of the task. */
static bool launches_same(const struct source_set *set, const struct task *task)
{
    bool same = set->in.nr_launches == task->plan.nr_launches;

    for (unsigned i = 0; same && i < task->plan.nr_launches; i++)
        same = strcmp(spelling_dense(set->arena, set->resolver.ids[i]),
                   spelling_dense(set->arena, task->plan.launches[i].kernel)) == 0;
    return same;
}

bool patcher_read(struct patcher *p, const char *path, const char *source, size_t bytes,
    const struct intake_args *given, bool own, struct err *err)
{
    struct intake_args args = *given;
    struct source_set *set = p->set;
    unsigned nr = 1;

    for (args.only = 0; args.only <= nr; args.only++) {
        memset(set, 0, sizeof(*set));
        if (!source_set_read(set, p->arena, path, source, bytes, &args, err))
            return false;
        if (own ? launches_same(set, p->task) : is_of_task(&set->in, p->task))
            return true;
        nr = args.only ? nr : set->in.nr_launches;
    }
    memset(set, 0, sizeof(*set));
    args.only = 0;
    return source_set_read(set, p->arena, path, source, bytes, &args, err);
}

void patcher_write(struct patch *patch, struct patcher *p, bool code, const char *best)
{
    char *heap = task_code(best, strlen(best));
    const char *text = arena_strdup(p->arena, heap);

    free(heap);
    *patch = (struct patch){0};
    for (unsigned i = 0; i < p->set->nr_files; i++)
        p->edits[i].arena = p->arena;
    if (!toks_lex(&p->toks, p->arena, text, strlen(text)))
        patcher_refuse(p, "the winner has over %d tokens", TOKS_MAX);
    decls_read(&p->decls, p->arena, &p->toks);
    if (!p->why && patch_code(p, text) && patch_launches(p, code))
        apply(patch, p);
    if (p->why != NULL)
        patch->nr_files = 0;
    patch->why = p->why;
    patch->note = p->note;
    if (!p->note && (strstr(text, "wgmma.") || strstr(text, "setmaxnreg.")))
        patch->note = "the new kernel is for the H100 alone: compile it with -gencode "
                      "arch=compute_90a,code=sm_90a";
}

struct patcher *patcher_create(struct arena *arena, const struct task *task)
{
    struct patcher *p = arena_alloc(arena, sizeof(*p));

    *p = (struct patcher){.arena = arena, .task = task, .set = arena_alloc(arena, sizeof(*p->set))};
    return p;
}

bool patch_make(struct patch *patch, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, const struct task *task, bool code,
    const char *best, size_t best_bytes, struct err *err)
{
    struct patcher *p = patcher_create(arena, task);
    struct task contract = {0};
    struct plan plan;
    enum verdict verdict;

    p->plan = &plan;
    if (!plan_parse(&plan, task, arena, best, best_bytes, &verdict, err) ||
        !(code ? source_set_read(p->set, arena, path, source, bytes, args, err)
               : patcher_read(p, path, source, bytes, args, false, err)))
        return false;
    if (!code) {
        if (!is_whole(&p->set->in, err))
            return false;
        if (!read_contract(&contract, arena, &p->set->in, err))
            return err_wrap(err, "the task's launch cannot be read again");
        p->task = &contract;
    }
    patcher_write(patch, p, code, arena_strndup(arena, best, best_bytes));
    return true;
}
