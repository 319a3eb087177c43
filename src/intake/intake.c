/* Owns the way from a CUDA file to a kernel file: headers of the user's own pulled in, device code
 * kept, the contract put below it. */
#include "intake/reading.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/contract.h"
#include "intake/python.h"
#include "intake/units.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20, MAX_INCLUDE_DEPTH = 16 };

bool intake_needed(const char *source, size_t bytes)
{
    return memmem(source, bytes, "#pragma keet", 12) == NULL &&
           (memmem(source, bytes, "<<<", 3) != NULL ||
               memmem(source, bytes, "cudaLaunchKernel", 16) != NULL ||
               memmem(source, bytes, "cudaLaunchCooperativeKernel", 27) != NULL);
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
    struct reading *r; /* files[0] is the user's, the others were seen */
    struct str out;
    struct origin *origins; /* of the lines of out */
    size_t nr_origins, cap_origins;
    unsigned shift;
};

static void end_line(struct puller *p, unsigned file, size_t at)
{
    str_add_char(&p->out, '\n');
    p->origins = grow(p->origins, &p->cap_origins, p->nr_origins + 1, sizeof(*p->origins));
    p->origins[p->nr_origins++] = (struct origin){file, at};
}

static const char *path_beside(struct arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name) : name;
}

static bool pull(struct puller *p, unsigned file, unsigned depth, struct err *err);

/* `#include "x.cuh"` of a file that is there: its text in place. *pulled false: the line stays. */
static bool pull_include(struct puller *p, unsigned from, const char *line, size_t nr,
    unsigned depth, bool *pulled, struct err *err)
{
    struct reading *r = p->r;
    const char *path = r->files[from].path;
    const size_t at = (size_t)(line + nr - r->files[from].code); /* its newline */
    bool quoted;
    const char *name = include_name(p->arena, arena_strndup(p->arena, line, nr), &quoted);
    struct err ignored = {0};
    char *text;
    size_t len;

    *pulled = false;
    if (!name || !quoted || include_is_device(name))
        return true;
    const char *full = path_beside(p->arena, path, name);

    for (unsigned i = 1; i < r->nr_files; i++)
        if (strcmp(r->files[i].path, full) == 0) {
            end_line(p, from, at);
            return *pulled = true;
        }
    if (!file_read(full, MAX_BYTES, &text, &len, &ignored))
        return true; /* not beside the file: what it has is not needed, or will be missed by name */
    if (depth == 0 || r->nr_files == READING_MAX_FILES) {
        free(text);
        return err_set(err, "%s: headers include one another too deeply (more than %d levels)",
            full, MAX_INCLUDE_DEPTH);
    }
    r->files[r->nr_files] = (struct user_file){
        .path = full, .name = name, .text = arena_strndup(p->arena, text, len), .bytes = len};
    r->files[r->nr_files].code = r->files[r->nr_files].text;
    *pulled = true;
    p->shift += line_of(text, len);
    free(text);
    bool ok =
        p->out.len + len <= MAX_BYTES
            ? pull(p, r->nr_files++, depth - 1, err)
            : err_set(err, "%s: with its headers the file is over %d MiB", path, MAX_BYTES >> 20);
    end_line(p, from, at);
    return ok;
}

/* Text that is not UTF-8 is taken for Latin-1; what is no text at all is refused. */
static bool as_utf8(struct reading *r, struct user_file *f, struct err *err)
{
    size_t bad = bad_byte(f->text, f->bytes);
    struct str out = {0};

    if (bad == f->bytes)
        return true;
    if (f->code != f->text)
        return err_set(
            err, "%s:%u: not UTF-8, which Python text must be", f->path, line_of(f->text, bad));
    for (size_t i = 0; i < f->bytes; i++) {
        unsigned char c = (unsigned char)f->text[i];

        if (c == 0 || (c < ' ' && !strchr("\a\b\t\n\v\f\r\033", c))) {
            str_finish(&out);
            return err_set(err, "%s:%u: a byte 0x%02x%s: this is not a text file", f->path,
                line_of(f->text, i), c, c ? "" : " (NUL)");
        }
        if (c >= 0x80)
            str_add_char(&out, (char)(0xc0 | c >> 6));
        str_add_char(&out, (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c));
    }
    r->in.note = arena_printf(r->arena, "%s:%u is not UTF-8: the file was read as Latin-1", f->path,
        line_of(f->text, bad));
    f->text = f->code = arena_strndup(r->arena, str_text(&out), out.len);
    f->bytes = out.len;
    str_finish(&out);
    return true;
}

static bool pull(struct puller *p, unsigned file, unsigned depth, struct err *err)
{
    struct user_file *f = &p->r->files[file];

    if (!as_utf8(p->r, f, err))
        return false;
    const char *text = f->code, *end = f->code + f->bytes;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t nr = newline ? (size_t)(newline - text) : (size_t)(end - text);
        const char *hash = text + strspn(text, " \t");
        bool pulled = false;

        if (hash < text + nr && *hash == '#' &&
            !pull_include(p, file, hash, nr - (size_t)(hash - text), depth, &pulled, err))
            return false;
        if (!pulled) {
            str_add_n(&p->out, text, nr);
            end_line(p, file, (size_t)(text - f->code));
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

/* The other files of the program, behind the user's own. */
static void pull_units(struct puller *p)
{
    struct reading *r = p->r;
    struct unit units[READING_MAX_FILES / 8];
    unsigned nr = units_beside(r->arena, r->files[0].path, units, ARRAY_SIZE(units));
    const unsigned shift = p->shift;

    for (unsigned i = 0; i < nr && r->nr_files < READING_MAX_FILES; i++) {
        struct err ignored = {0};
        bool seen = p->out.len + units[i].bytes > MAX_BYTES;

        for (unsigned f = 0; f < r->nr_files; f++)
            seen = seen || strcmp(r->files[f].path, units[i].path) == 0;
        if (seen)
            continue;
        r->files[r->nr_files] = (struct user_file){
            units[i].path, units[i].name, units[i].text, units[i].text, units[i].bytes};
        r->has_units = true;
        pull(p, r->nr_files++, MAX_INCLUDE_DEPTH, &ignored); /* what cannot be read is left out */
    }
    p->shift = shift;
}

/* The user's text with the headers beside it in place. */
static bool pull_all(struct reading *r, bool with_units, struct err *err)
{
    struct puller p = {.arena = r->arena, .r = r};
    const bool ok = pull(&p, 0, MAX_INCLUDE_DEPTH, err);

    r->own_bytes = p.out.len;
    r->has_units = false;
    if (ok && with_units && !python_is(r->files[0].path) && !units_has_main(str_text(&p.out)))
        pull_units(&p);

    r->text = arena_strndup(r->arena, str_text(&p.out), p.out.len);
    r->bytes = p.out.len;
    r->nr_lines = (unsigned)p.nr_origins;
    r->origins = arena_array(r->arena, p.nr_origins + 1, sizeof(*r->origins));
    if (p.nr_origins)
        memcpy(r->origins, p.origins, p.nr_origins * sizeof(*r->origins));
    r->starts = arena_array(r->arena, p.nr_origins + 1, sizeof(*r->starts));
    for (size_t i = 0, line = 1; i < r->bytes && line < p.nr_origins; i++)
        if (r->text[i] == '\n')
            r->starts[line++] = i + 1;
    r->in.shift = p.shift;
    free(p.origins);
    str_finish(&p.out);
    return ok;
}

/* With the program's other files or without. */
static bool read_once(struct reading *r, const char *path, const char *source, size_t bytes,
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
    if (!pull_all(r, with_units, err))
        return false;
    if (!lex(&r->toks, arena, r->text, r->bytes))
        return err_set(err, "%s: over %d tokens; name a smaller file", path, LEX_MAX_TOKENS);
    decls_read(&r->decls, arena, &r->toks);
    decls_reach(&r->decls, arena, r->own_bytes);
    hostcode_init(&r->host, arena, &r->decls);
    r->host.reading = r;
    while (r->host.own_tokens < r->toks.nr && r->toks.tok[r->host.own_tokens].at < r->own_bytes)
        r->host.own_tokens++;
    if (!contract_infer(&r->in, &r->host, path, args, err))
        return false;
    r->device = decls_device_text(&r->decls, arena, r->bytes);
    r->in.shift += r->device.nr_added;
    r->in.text = compose(arena, &r->in, path, r->device.text);
    return true;
}

bool reading_make(struct reading *r, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err)
{
    r->arena = arena;
    if (bytes > MAX_BYTES)
        return err_set(err, "%s: %zu MiB; a kernel file has at most %d MiB", path, bytes >> 20,
            MAX_BYTES >> 20);
    if (!read_once(r, path, source, bytes, true, args, err) && !r->has_units)
        return false;
    if (r->has_units && !r->in.walked) { /* they do not call it: they may be other programs */
        err->text[0] = 0;
        return read_once(r, path, source, bytes, false, args, err);
    }
    return true;
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
