/* Owns the making of kernel files from captured launches. */
#include "cli/capture_tasks.h"

#include "base/file.h"
#include "base/mem.h"
#include "cli/load_task.h"
#include "intake/intake.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "scale<float>" -> "scale_float" */
static const char *file_stem(struct arena *arena, const char *name)
{
    struct str stem = {0};
    const char *kept;

    for (const char *c = name; *c != '\0'; c++) {
        const bool fine = str_word_char(*c);

        if (fine || (stem.len > 0 && stem.text[stem.len - 1] != '_'))
            str_add_char(&stem, fine ? *c : '_');
    }
    while (stem.len > 0 && stem.text[stem.len - 1] == '_')
        stem.text[--stem.len] = '\0';
    kept = arena_strdup(arena, str_text(&stem));
    str_finish(&stem);
    return kept;
}

static bool read_text(struct intake *in, struct arena *arena, const struct options *o,
    const char *path, const char *const *argv, const char *kernel, unsigned only, struct err *err)
{
    struct intake_args args = load_task_options(arena, o).args;
    char *source;
    size_t bytes;
    bool ok;

    args.args = argv + 1;
    for (args.nr = 0; argv[1 + args.nr] != NULL;)
        args.nr++;
    args.given = args.nr > 0;
    args.only = only;
    args.reached = kernel; /* only the host names the types that it is made with */
    if (!file_read(path, INTAKE_MAX_BYTES, &source, &bytes, err))
        return false;
    ok = intake_read(in, arena, path, source, bytes, &args, err);
    free(source);
    return ok;
}

static bool lacks(const struct intake *in, const char *name)
{
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].missing && strcmp(in->lines[i].name, name) == 0)
            return true;
    return false;
}

/* The numbers of the lines that lack one, as far as the capture says them. What is found makes
 * further extents known but for one name. */
static const char **find_numbers(const struct intake *in, struct arena *arena,
    const struct task *task, const struct capture_launch *launch)
{
    const struct env *sizes = &task->timed.sizes;
    const char **numbers = arena_array(arena, in->nr_lines + 1, sizeof(*numbers));
    struct binding *bindings = arena_array(arena, sizes->nr + in->nr_lines, sizeof(*bindings));
    struct env known = {bindings, 0};
    bool more = true;

    for (size_t i = 0; i < sizes->nr; i++)
        if (!lacks(in, sizes->bindings[i].name))
            bindings[known.nr++] = sizes->bindings[i];
    while (more) {
        more = false;
        for (unsigned i = 0; i < in->nr_lines; i++) {
            const char *name = in->lines[i].name;

            if (!in->lines[i].missing || numbers[i] != NULL)
                continue;
            numbers[i] = capture_number(arena, task, launch, &known, name);
            if (numbers[i] == NULL)
                continue;
            bindings[known.nr++] = (struct binding){name, strtoll(numbers[i], NULL, 10)};
            more = true;
        }
    }
    return numbers;
}

/* Gives each number that the text lacks: what the capture says, or where task is NULL one to read
 * the text with. False: the capture does not say it. */
static bool put_numbers(struct intake *in, struct arena *arena, const struct task *task,
    const struct capture_launch *launch, unsigned each, const char **why)
{
    static const char assumed[] = "assumed: "; /* these are known */
    const struct intake text = *in;
    const char **numbers = task != NULL ? find_numbers(in, arena, task, launch) : NULL;

    in->lines = arena_array(arena, text.nr_lines + 1, sizeof(*in->lines));
    memcpy(in->lines, text.lines, text.nr_lines * sizeof(*in->lines));
    for (unsigned i = 0; i < text.nr_lines; i++) {
        const struct intake_line *line = &text.lines[i];
        const char *number =
            numbers == NULL ? arena_printf(arena, "%u", each * (i + 1)) : numbers[i];

        if (!line->missing)
            continue;
        if (!intake_lacks_number(line) || number == NULL) {
            *why = arena_printf(arena, "the text lacks %s", intake_pragma(arena, line));
            return false;
        }
        intake_assume(in, arena, line->name, number, "the number is the capture's");
    }
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].assumed && str_starts(in->lines[i].from, assumed))
            in->lines[i].from += strlen(assumed);
    intake_compose(in, arena);
    return true;
}

/* Puts what the capture knows in place of what the text lacks, if that is only numbers. */
static bool complete(struct intake *in, struct arena *arena, const char *path,
    const struct capture_launch *launch, const char **why)
{
    static const unsigned stand_ins[] = {512, 16, 1}; /* extents must fit, and grids be positive */
    struct intake trial;
    struct task task;
    struct err err;
    bool ok = false;

    for (unsigned i = 0; in->nr_missing > 0 && !ok && i < ARRAY_SIZE(stand_ins); i++) {
        trial = *in;
        if (!put_numbers(&trial, arena, NULL, launch, stand_ins[i], why))
            return false;
        ok = task_parse(&task, arena, path, trial.text, strlen(trial.text), &err);
        if (!ok)
            *why = arena_strdup(arena, err.text);
    }
    return in->nr_missing == 0 || (ok && put_numbers(in, arena, &task, launch, 0, why));
}

/* "(anonymous namespace)::sim::step<float>" -> "step" */
static const char *bare(struct arena *arena, const char *kernel)
{
    static const char nameless[] = "(anonymous namespace)::";
    const char *last = kernel, *name;

    for (const char *at; (at = strstr(last, nameless)) != NULL && at < last + strcspn(last, "<");)
        last = at + strlen(nameless);
    name = arena_strndup(arena, last, strcspn(last, "<("));
    for (const char *colons; (colons = strstr(name, "::")) != NULL;)
        name = colons + 2;
    return name;
}

static bool read_task(
    struct intake *in, struct task *task, struct arena *arena, const char *path, const char **why)
{
    struct err err;
    const bool ok = task_parse(task, arena, path, in->text, strlen(in->text), &err);

    if (!ok)
        *why = arena_strdup(arena, err.text);
    return ok;
}

/* The text's launch is of this kernel, be it with other template arguments. */
static bool launches(const struct intake *in, struct arena *arena, const char *kernel)
{
    for (unsigned i = 0; i < in->nr_lines; i++)
        if (in->lines[i].kind == INTAKE_LAUNCH && in->lines[i].name != NULL &&
            strcmp(bare(arena, in->lines[i].name), bare(arena, kernel)) == 0)
            return true;
    return false;
}

/* Turns a launch into the captured one of the same kernel or template: it gets the captured
 * template arguments, arrays and scalars the types that the capture has, scalars its numbers. */
static void make_instance(struct intake *in, struct arena *arena, const struct task *task,
    const struct capture_launch *launch)
{
    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line *line = &in->lines[i];
        const char *number = line->kind == INTAKE_SCALAR ? capture_number(arena, task, launch,
                                                               &task->timed.sizes, line->name)
                                                         : NULL;
        enum elem elem;

        if (number != NULL) {
            line->contents = number;
            if (!line->assumed)
                line->from = arena_printf(arena, "%s; the number is the capture's", line->from);
        }
        if (line->kind == INTAKE_LAUNCH && strcmp(line->name, launch->name) != 0) {
            line->name = launch->name;
            line->from =
                arena_printf(arena, "%s; the template arguments are the capture's", line->from);
        } else if (line->kind == INTAKE_SCALAR || line->kind == INTAKE_ARRAY) {
            if (capture_type_of(task, launch, line->name, &elem) && line->text[0] != '{')
                line->text = arena_printf(
                    arena, "%s%s", elem_name(elem), line->text + strcspn(line->text, "["));
        }
    }
    intake_compose(in, arena);
}

/* The launch of the text that is the captured one; else one of the same kernel or template, with
 * the captured launch's types and scalars. False: *why says what is in the way. */
static bool find_launch(struct intake *in, struct task *task, struct arena *arena,
    const struct options *o, const char *path, const char *const *argv,
    const struct capture_launch *launch, const char **why)
{
    const unsigned nr = in->nr_launches;
    unsigned alike = 0;
    struct err err;

    *why = "the text says no launch of it";
    for (unsigned only = 1; only <= nr + (alike > 0); only++) {
        const bool instance = only > nr;
        const unsigned one = instance ? alike : only;
        const char *differs, *kernel;

        if (!read_text(in, arena, o, path, argv, launch->name, nr > 1 ? one : 0, &err) ||
            !launches(in, arena, launch->name) || !complete(in, arena, path, launch, why) ||
            !read_task(in, task, arena, path, why))
            continue;
        if (instance)
            make_instance(in, arena, task, launch);
        if (instance && !read_task(in, task, arena, path, why))
            continue;
        kernel = task->plan.launches[0].kernel;
        differs = capture_disagrees(arena, task, launch);
        if (differs == NULL)
            return true;
        if (strcmp(kernel, launch->name) == 0)
            *why = differs;
        if (alike == 0)
            alike = only;
    }
    return false;
}

/* The contents that the program had, at the sizes that it had. Other sizes get what the text says,
 * and else what the data is like; so does an array that was over the limit. */
static void attach(struct intake *in, struct arena *arena, const struct task *task,
    const struct capture_launch *launch, const char *folder, const char *below)
{
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        const struct task_array *a = &task->arrays[i];
        const struct capture_memory *m = capture_memory_of(task, launch, a->name);
        const char *file = arena_printf(arena, "%s/%s/%s.npy", folder, below, a->name);
        const char *like =
            m != NULL && !a->record ? capture_like(arena, m, a->elem, &task->timed.sizes) : NULL;

        for (unsigned l = 0; l < in->nr_lines; l++) {
            struct intake_line *line = &in->lines[l];

            if (!line->role || strcmp(line->name, a->name) != 0 ||
                (line->kind == INTAKE_ARRAY && line->role[0] != 'i'))
                continue;
            const char *other = line->contents != NULL ? line->contents : like;

            if (file_exists(file))
                line->contents = arena_printf(arena, "file(\"%s/%s.npy\"%s%s)", below, a->name,
                    other != NULL ? ", " : "", other != NULL ? other : "");
            else if (line->contents == NULL && like != NULL)
                line->contents = like;
            else
                continue;
            line->from = arena_printf(arena, "%s; contents from the capture", line->from);
        }
    }
    intake_compose(in, arena);
}

static bool alone(struct str *text, struct arena *arena, const struct capture *c,
    const struct intake *in, const struct capture_launch *launch, const char *why, struct err *err)
{
    str_add(text, in->code);
    str_addf(text,
        "\n// Captured: launch %llu of the program, at the one size that it had. %s%s.\n",
        (unsigned long long)launch->order, why != NULL ? "The text does not say it: " : "",
        why != NULL ? why : "");
    return capture_contract(text, arena, launch, c->folder, err);
}

/* Does a text name a kernel, or have macros that could? */
static bool could_have(const char *text, const char *kernel)
{
    return strstr(text, "##") != NULL ||
           str_find_word(text, text + strlen(text), kernel, strlen(kernel)) != NULL;
}

static int is_cuda(const struct dirent *entry)
{
    return str_ends(entry->d_name, ".cu");
}

/* Reads the file that has a kernel: the one that was named, with its headers, or else one beside
 * it. */
static bool read_kernel(struct intake *in, struct arena *arena, const struct options *o,
    const char *path, const char *const *argv, const char *kernel, const char **found,
    struct err *err)
{
    const char *name = bare(arena, kernel), *slash = strrchr(path, '/');
    const char *folder =
        slash != NULL ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : "";
    struct dirent **files = NULL;
    bool ok = read_text(in, arena, o, path, argv, kernel, 0, err),
         there = ok && could_have(in->code, name);
    struct err ignored;
    int nr = there ? 0 : scandir(*folder != '\0' ? folder : ".", &files, is_cuda, alphasort);

    *found = path;
    for (int i = 0; i < nr; i++) {
        const char *other = arena_printf(arena, "%s%s", folder, files[i]->d_name);
        char *text = NULL;
        size_t len;

        if (!there && file_read(other, INTAKE_MAX_BYTES, &text, &len, &ignored) &&
            could_have(text, name) && read_text(in, arena, o, other, argv, kernel, 0, &ignored)) {
            there = could_have(in->code, name);
            *found = other;
        }
        free(text);
        free(files[i]);
    }
    free(files);
    if (there || !ok) /* what is wrong with the named file is said already */
        return there;
    return err_set(err,
        "neither %s nor a file beside it has the kernel: it is in another folder, or in a "
        "library's headers",
        file_name(path));
}

struct capture_task capture_make_task(struct arena *arena, const struct options *o,
    const char *source_path, const char *const *argv, const struct capture *c,
    const struct capture_launch *launch)
{
    struct capture_task made = {0};
    const char *stem = file_stem(arena, launch->name), *why = NULL;
    const char *path = arena_printf(arena, "%s/%s.cu", c->folder, stem);
    const char *data = arena_printf(arena, "%s.data", stem);
    struct str text = {0};
    struct intake in, all;
    struct task task;
    struct err err;
    bool ok = read_kernel(&all, arena, o, source_path, argv, launch->name, &source_path, &err);

    in = all;
    if (ok && launch->ran && find_launch(&in, &task, arena, o, source_path, argv, launch, &why) &&
        capture_case(arena, &task, launch, arena_printf(arena, "%s/%s", c->folder, data), &err)) {
        attach(&in, arena, &task, launch, c->folder, data);
        str_add(&text, in.text);
        made.from_text = true;
    } else if (ok) {
        ok = alone(&text, arena, c, &all, launch, why, &err);
    }
    ok = ok && task_parse(&task, arena, path, str_text(&text), text.len, &err) &&
         file_write(path, text.text, text.len, &err);
    made.path = ok ? path : NULL;
    made.why = ok ? why : arena_strdup(arena, err.text);
    if (made.from_text)
        made.why = ok ? NULL : made.why;
    str_finish(&text);
    return made;
}
