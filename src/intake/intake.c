/* Owns the way from a CUDA file to a kernel file: it keeps the device code, and puts the contract
 * below. */
#include "intake/gather/source_set.h"

#include "base/file.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

bool intake_needed(const char *source, size_t bytes)
{
    return memmem(source, bytes, "#pragma keet", 12) == NULL &&
           (memmem(source, bytes, "<<<", 3) != NULL ||
               memmem(source, bytes, "cudaLaunchKernel", 16) != NULL ||
               memmem(source, bytes, "cudaLaunchCooperativeKernel", 27) != NULL);
}

bool intake_has_both(struct arena *arena, const char *source, size_t bytes)
{
    struct toks toks;
    bool task = false, host = false;

    if (!memmem(source, bytes, "#pragma keet", 12) || !toks_lex(&toks, arena, source, bytes))
        return false;
    for (unsigned i = 0; i < toks.nr; i++) {
        const struct tok *t = &toks.tok[i];

        task |= t->kind == TOK_DIRECTIVE && str_starts(t->text, "#pragma keet");
        host |= tok_is(t, "<<<") || (tok_is(t, "main") && tok_is(&toks.tok[i + 1], "(")) ||
                (t->kind == TOK_NAME && (str_starts(t->text, "cudaLaunchKernel") ||
                                            str_starts(t->text, "cudaLaunchCooperativeKernel")));
    }
    return task && host;
}

/* All directives of a text: pragmas name kernels with their template arguments. */
static const char *directives(struct source_set *set)
{
    struct str all = {0};

    for (unsigned i = 0; i < set->toks.nr; i++)
        if (set->toks.tok[i].kind == TOK_DIRECTIVE &&
            str_starts(set->toks.tok[i].text, "#pragma keet"))
            str_addf(&all, "%s ", set->toks.tok[i].text + strlen("#pragma keet"));
    return str_move(&all, set->arena);
}

/* The ids of the contract's kernels: only host code may name their template arguments. */
static const char *kernel_ids(const struct source_set *set)
{
    struct str all = {0};

    for (unsigned i = 0; i < set->in.nr_launches; i++)
        str_addf(&all, "%s ", set->resolver.ids[i]);
    return str_move(&all, set->arena);
}

/* Drops kernels that the contract does not launch and that have the name of one that it launches: a
 * name must mean one kernel. */
static void drop_overloads(struct source_set *set)
{
    for (unsigned i = 0; i < set->decls.nr; i++) {
        struct decl *d = &set->decls.decl[i];
        bool other = false, launched = false;

        for (unsigned l = 0; d->is_kernel && d->body && l < set->in.nr_launches; l++) {
            launched |= set->resolver.kernels[l] == d;
            other |= set->resolver.kernels[l]->container == d->container &&
                     strcmp(set->resolver.kernels[l]->name, d->name) == 0;
        }
        if (other && !launched)
            d->keep = false;
    }
}

/* Reads the text: what it declares, and what of that the device reaches. */
static bool read_text(struct source_set *set, const char *path, const char *source, size_t bytes,
    bool with_units, const struct intake_args *args, struct err *err)
{
    struct arena *arena = set->arena;

    set->in = (struct intake){0};
    set->nr_files = 1;
    set->files[0] = (struct user_file){.path = path,
        .name = file_name(path),
        .text = arena_strndup(arena, source, bytes),
        .bytes = bytes};
    set->files[0].code = python_is(path) ? python_cuda(arena, source, bytes) : set->files[0].text;
    if (!set->files[0].code)
        return err_set(err,
            "%s: no string in it has a kernel (__global__); name a file that has one, as text for "
            "load_inline's cuda_sources",
            path);
    if (!source_set_inline_headers(set, with_units, args, err))
        return false;
    seed_constants_put(set, args);
    if (!toks_lex(&set->toks, arena, set->text, set->bytes))
        return err_set(err, "%s: over %d tokens; name a smaller file", path, TOKS_MAX);
    decls_read(&set->decls, arena, &set->toks);
    decls_reach(&set->decls, arena, set->own_bytes, set->device_bytes,
        args->reached != NULL ? args->reached : "");
    return true;
}

/* Reads a file, with or without the program's other files. */
static bool read_once(struct source_set *set, const char *path, const char *source, size_t bytes,
    bool with_units, const struct intake_args *args, struct err *err)
{
    struct arena *arena = set->arena;

    set->nr_linked = 0;
    do {
        if (!read_text(set, path, source, bytes, with_units, args, err))
            return false;
    } while (resolve_externs(set));
    resolver_init(&set->resolver, arena, &set->decls, &set->toks);
    set->resolver.set = set;
    while (set->resolver.own_tokens < set->toks.nr &&
           set->toks.tok[set->resolver.own_tokens].at < set->own_bytes)
        set->resolver.own_tokens++;
    if (!set->own_task && !contract_infer(&set->in, &set->resolver, path, args, err))
        return false;
    decls_reach(&set->decls, arena, set->own_bytes, set->device_bytes,
        set->own_task ? directives(set) : kernel_ids(set));
    if (!set->own_task) {
        drop_overloads(set);
        seed_constants_find(set);
    }
    set->device = decls_device_text(&set->decls, arena, set->bytes);
    set->in.shift += set->device.nr_added;
    set->in.path = path;
    set->in.code = set->device.text;
    if (set->own_task)
        set->in.text = set->in.code;
    else
        intake_compose(&set->in, arena);
    return true;
}

bool source_set_read(struct source_set *set, struct arena *arena, const char *path,
    const char *source, size_t bytes, const struct intake_args *args, struct err *err)
{
    set->arena = arena;
    if (bytes > SOURCE_SET_MAX_BYTES)
        return err_set(err, "%s: %zu MiB; a kernel file has at most %d MiB", path, bytes >> 20,
            SOURCE_SET_MAX_BYTES >> 20);
    bool ok = read_once(set, path, source, bytes, !set->own_task, args, err);

    if (set->own_task)
        return ok;
    if (set->has_units && (!set->in.followed || !set->in.nr_launches)) { /* other programs */
        err->text[0] = 0;
        ok = read_once(set, path, source, bytes, false, args, err);
    }
    return ok;
}

unsigned source_set_line(const struct source_set *set, unsigned line)
{
    const struct device_text *d = &set->device;

    if (line < d->nr_in_place || (line >= d->added_at && line < d->added_at + d->nr_added))
        return SOURCE_SET_NO_LINE;
    if (d->nr_added && line >= d->added_at)
        line -= d->nr_added;
    return line < set->nr_lines ? line : SOURCE_SET_NO_LINE;
}

bool intake_read(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    struct source_set *set = arena_alloc(arena, sizeof(*set));
    const bool ok = source_set_read(set, arena, path, source, bytes, args, err);

    *in = set->in;
    return ok;
}

bool intake_split(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    struct source_set *set = arena_alloc(arena, sizeof(*set));
    bool ok;

    set->own_task = true;
    ok = source_set_read(set, arena, path, source, bytes, args, err);
    *in = set->in;
    return ok;
}
