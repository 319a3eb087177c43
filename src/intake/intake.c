/* Owns the way from a CUDA file to a kernel file: headers of the user's own pulled in, device code
 * kept, the contract put below it. */
#include "intake/intake.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/contract.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20, MAX_INCLUDE_DEPTH = 16, MAX_INCLUDES = 256 };

bool intake_needed(const char *source, size_t bytes)
{
    return memmem(source, bytes, "#pragma keet", 12) == NULL &&
           memmem(source, bytes, "<<<", 3) != NULL;
}

/* The first byte that is not UTF-8, or NUL; bytes when there is none. */
static size_t bad_byte(const char *text, size_t bytes)
{
    size_t at = 0, n;

    while (at < bytes && text[at] && (n = str_utf8_bytes(text + at, bytes - at)) > 0)
        at += n;
    return at;
}

static unsigned line_of(const char *text, size_t at)
{
    unsigned line = 1;

    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

/* ---- the user's own headers ---- */

struct puller {
    struct arena *arena;
    const char *seen[MAX_INCLUDES];
    unsigned nr_seen;
    struct str out;
    unsigned shift;
};

static const char *path_beside(struct arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name) : name;
}

static bool pull(struct puller *p, const char *path, const char *text, size_t bytes, unsigned depth,
    struct err *err);

/* `#include "x.cuh"` of a file that is there: its text in place. *pulled false: the line stays. */
static bool pull_include(struct puller *p, const char *path, const char *line, size_t nr,
    unsigned depth, bool *pulled, struct err *err)
{
    bool quoted;
    const char *name = include_name(p->arena, arena_strndup(p->arena, line, nr), &quoted);
    struct err ignored = {0};
    char *text;
    size_t len;

    *pulled = false;
    if (!name || !quoted || include_is_device(name))
        return true;
    const char *full = path_beside(p->arena, path, name);

    for (unsigned i = 0; i < p->nr_seen; i++)
        if (strcmp(p->seen[i], full) == 0) {
            str_add(&p->out, "\n");
            return *pulled = true;
        }
    if (!file_read(full, MAX_BYTES, &text, &len, &ignored))
        return true; /* not beside the file: what it has is not needed, or will be missed by name */
    if (depth == 0 || p->nr_seen == MAX_INCLUDES) {
        free(text);
        return err_set(err, "%s: headers include one another too deeply (more than %d levels)",
            full, MAX_INCLUDE_DEPTH);
    }
    p->seen[p->nr_seen++] = full;
    *pulled = true;
    p->shift += line_of(text, len);
    bool ok =
        p->out.len + len <= MAX_BYTES
            ? pull(p, full, text, len, depth - 1, err)
            : err_set(err, "%s: with its headers the file is over %d MiB", path, MAX_BYTES >> 20);
    str_add(&p->out, "\n");
    free(text);
    return ok;
}

static bool pull(struct puller *p, const char *path, const char *text, size_t bytes, unsigned depth,
    struct err *err)
{
    const char *end = text + bytes;
    size_t bad = bad_byte(text, bytes);

    if (bad < bytes)
        return text[bad] ? err_set(err,
                               "%s:%u: not UTF-8; convert it, for example with `iconv -f latin1 -t "
                               "utf-8`",
                               path, line_of(text, bad))
                         : err_set(err, "%s:%u: a NUL byte: this is not a text file", path,
                               line_of(text, bad));
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t nr = newline ? (size_t)(newline - text) : (size_t)(end - text);
        const char *hash = text + strspn(text, " \t");
        bool pulled = false;

        if (hash < text + nr && *hash == '#' &&
            !pull_include(p, path, hash, nr - (size_t)(hash - text), depth, &pulled, err))
            return false;
        if (!pulled) {
            str_add_n(&p->out, text, nr);
            str_add_char(&p->out, '\n');
        }
        text += nr + 1;
    }
    return true;
}

/* ---- the kernel file ---- */

static const char *compose(
    struct arena *arena, const struct intake *in, const char *path, const char *device)
{
    struct str out = {0};

    str_add(&out, device);
    while (out.len > 0 && out.text[out.len - 1] == '\n')
        out.text[--out.len] = 0;
    str_addf(&out, "\n\n// The task, as read from the host code of %s.\n", path);
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];

        if (l->missing)
            str_addf(&out, "// TO COMPLETE (%s), for example:\n// %s\n", l->from, l->pragma);
        else
            str_addf(&out, "// from %s\n%s\n", l->from, l->pragma);
    }
    const char *text = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return text;
}

bool intake_read(struct intake *in, struct arena *arena, const char *path, const char *source,
    size_t bytes, struct err *err)
{
    struct puller p = {.arena = arena};
    struct toks toks;
    struct decls decls;
    struct host host;

    *in = (struct intake){0};
    if (bytes > MAX_BYTES)
        return err_set(err, "%s: %zu MiB; a kernel file has at most %d MiB", path, bytes >> 20,
            MAX_BYTES >> 20);
    if (!pull(&p, path, source, bytes, MAX_INCLUDE_DEPTH, err)) {
        str_finish(&p.out);
        return false;
    }
    const char *text = arena_strdup(arena, str_text(&p.out));
    size_t len = p.out.len;

    str_finish(&p.out);
    in->shift = p.shift;
    if (!lex(&toks, arena, text, len))
        return err_set(err, "%s: over %d tokens; name a smaller file", path, LEX_MAX_TOKENS);
    decls_read(&decls, arena, &toks);
    decls_reach(&decls, arena);
    hostcode_init(&host, arena, &decls);
    if (!contract_infer(in, &host, path, err))
        return false;
    unsigned added;
    const char *device = decls_device_text(&decls, arena, len, &added);

    in->shift += added;
    in->text = compose(arena, in, path, device);
    return true;
}
