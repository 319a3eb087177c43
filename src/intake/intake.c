/* Owns the way from a CUDA file to a kernel file: device code kept, the contract put below it. */
#include "intake/gather/source_set.h"

#include "base/file.h"
#include "base/str.h"
#include "intake/contract/contract.h"
#include "intake/gather/python.h"
#include "intake/gather/resolve_externs.h"
#include "intake/gather/seed_constants.h"

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

    if (!memmem(source, bytes, "#pragma keet", 12) || !lex(&toks, arena, source, bytes))
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
static const char *directives(struct reading *r)
{
    struct str all = {0};

    for (unsigned i = 0; i < r->toks.nr; i++)
        if (r->toks.tok[i].kind == TOK_DIRECTIVE && str_starts(r->toks.tok[i].text, "#pragma keet"))
            str_addf(&all, "%s ", r->toks.tok[i].text + strlen("#pragma keet"));
    const char *text = arena_strdup(r->arena, str_text(&all));

    str_finish(&all);
    return text;
}

/* The kernels of the contract with their template arguments, which may be named by the host only.
 */
static const char *kernel_ids(const struct reading *r)
{
    static const char launch[] = "#pragma keet launch ";
    struct str all = {0};

    for (unsigned i = 0; i < r->in.nr_lines; i++) {
        const char *line = r->in.lines[i].pragma, *end = strstr(line, "<<<");

        if (str_starts(line, launch) && end)
            str_add_n(&all, line + strlen(launch), (size_t)(end - line) - strlen(launch));
        str_add_char(&all, ' ');
    }
    const char *text = arena_strdup(r->arena, str_text(&all));

    str_finish(&all);
    return text;
}

/* Another kernel of the same name, which the contract does not launch, would make that name say
 * nothing. */
static void drop_overloads(struct reading *r)
{
    for (unsigned i = 0; i < r->decls.nr; i++) {
        struct decl *d = &r->decls.decl[i];
        bool other = false, launched = false;

        for (unsigned l = 0; d->is_kernel && d->body && l < r->in.nr_launches; l++) {
            launched |= r->host.kernels[l] == d;
            other |= r->host.kernels[l]->container == d->container &&
                     strcmp(r->host.kernels[l]->name, d->name) == 0;
        }
        if (other && !launched)
            d->keep = false;
    }
}

/* The text with what it declares, and what of that the device reaches. */
static bool read_text(struct reading *r, const char *path, const char *source, size_t bytes,
    bool with_units, const struct intake_args *args, struct err *err)
{
    struct arena *arena = r->arena;

    r->in = (struct intake){0};
    r->nr_files = 1;
    r->files[0] = (struct user_file){.path = path,
        .name = file_name(path),
        .text = arena_strndup(arena, source, bytes),
        .bytes = bytes};
    r->files[0].code = python_is(path) ? python_cuda(arena, source, bytes) : r->files[0].text;
    if (!r->files[0].code)
        return err_set(err,
            "%s: no string in it has a kernel (__global__); name a file that has one, as text for "
            "load_inline's cuda_sources",
            path);
    if (!reading_pull(r, with_units, args, err))
        return false;
    starts_put(r, args);
    if (!lex(&r->toks, arena, r->text, r->bytes))
        return err_set(err, "%s: over %d tokens; name a smaller file", path, LEX_MAX_TOKENS);
    decls_read(&r->decls, arena, &r->toks);
    decls_reach(&r->decls, arena, r->own_bytes, r->device_bytes, "");
    return true;
}

/* With the program's other files or without. */
static bool read_once(struct reading *r, const char *path, const char *source, size_t bytes,
    bool with_units, const struct intake_args *args, struct err *err)
{
    struct arena *arena = r->arena;

    r->nr_linked = 0;
    do {
        if (!read_text(r, path, source, bytes, with_units, args, err))
            return false;
    } while (link_more(r));
    hostcode_init(&r->host, arena, &r->decls, &r->toks);
    r->host.reading = r;
    while (r->host.own_tokens < r->toks.nr && r->toks.tok[r->host.own_tokens].at < r->own_bytes)
        r->host.own_tokens++;
    if (!r->own_task && !contract_infer(&r->in, &r->host, path, args, err))
        return false;
    decls_reach(&r->decls, arena, r->own_bytes, r->device_bytes,
        r->own_task ? directives(r) : kernel_ids(r));
    if (!r->own_task) {
        drop_overloads(r);
        starts_find(r);
    }
    r->device = decls_device_text(&r->decls, arena, r->bytes);
    r->in.shift += r->device.nr_added;
    r->in.path = path;
    r->in.code = r->device.text;
    if (r->own_task)
        r->in.text = r->in.code;
    else
        intake_compose(&r->in, arena);
    return true;
}

bool reading_make(struct reading *r, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    r->arena = arena;
    if (bytes > READING_MAX_BYTES)
        return err_set(err, "%s: %zu MiB; a kernel file has at most %d MiB", path, bytes >> 20,
            READING_MAX_BYTES >> 20);
    bool ok = read_once(r, path, source, bytes, !r->own_task, args, err);

    if (r->own_task)
        return ok;
    if (r->has_units && !r->in.walked) { /* they do not call it: they may be other programs */
        err->text[0] = 0;
        ok = read_once(r, path, source, bytes, false, args, err);
    }
    if (!ok && r->in.nr_kernels && !r->in.nr_launches) { /* they may be in macros */
        err->text[0] = 0;
        r->expands = true;
        ok = read_once(r, path, source, bytes, false, args, err);
    }
    return ok;
}

unsigned reading_line(const struct reading *r, unsigned line)
{
    const struct device_text *d = &r->device;

    if (line < d->nr_in_place || (line >= d->added_at && line < d->added_at + d->nr_added))
        return READING_NO_LINE;
    if (d->nr_added && line >= d->added_at)
        line -= d->nr_added;
    return line < r->nr_lines ? line : READING_NO_LINE;
}

bool intake_read(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    struct reading *r = arena_alloc(arena, sizeof(*r));
    const bool ok = reading_make(r, arena, path, source, bytes, args, err);

    *in = r->in;
    return ok;
}

bool intake_split(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    struct reading *r = arena_alloc(arena, sizeof(*r));
    bool ok;

    r->own_task = true;
    ok = reading_make(r, arena, path, source, bytes, args, err);
    *in = r->in;
    return ok;
}
