/* Owns the text that is read: macros of the build, then the user's file with its own headers in
 * place, then the program's other files. */
#include "intake/gather/source_set.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/resolver.h"
#include "intake/gather/buildfile.h"
#include "intake/syntax/decls.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INCLUDE_DEPTH = 16, MAX_UP = 4 };

/* The first byte that is NUL or no UTF-8; `bytes`: there is none. */
static size_t bad_byte(const char *text, size_t bytes)
{
    size_t at = 0, n;

    while (at < bytes && text[at] && (n = str_utf8_bytes(text + at, bytes - at)) > 0)
        at += n;
    return at;
}

/* The number of the line of byte `at`, from 1. */
static unsigned source_line(const char *text, size_t at)
{
    unsigned line = 1;

    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

const struct user_file *source_set_origin(
    const struct source_set *set, unsigned line, unsigned *number)
{
    const struct origin *o = &set->origins[line - 1];
    const struct user_file *f = &set->files[o->file];

    *number = source_line(f->text, o->at < f->bytes ? o->at : f->bytes);
    return f;
}

/* ---- the user's own headers ---- */

struct inliner {
    struct arena *arena;
    struct source_set *set; /* files[0] is the user's; the others were seen on the way */
    struct str out;
    struct origin *origins; /* of the lines of out */
    size_t nr_origins, cap_origins;
    unsigned shift;
    const struct build *build;
};

static void add_origin(struct inliner *p, struct origin origin)
{
    p->origins = grow(p->origins, &p->cap_origins, p->nr_origins + 1, sizeof(*p->origins));
    p->origins[p->nr_origins++] = origin;
}

static void end_line(struct inliner *p, unsigned file, size_t at)
{
    str_add_char(&p->out, '\n');
    add_origin(p, (struct origin){.file = file, .at = at});
}

/* Adds a line that the user should know to set->in.note. */
__attribute__((format(printf, 2, 3))) static void note(
    struct source_set *set, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    const char *text = arena_vprintf(set->arena, format, ap);

    va_end(ap);
    set->in.note = set->in.note ? arena_printf(set->arena, "%s\n%s", set->in.note, text) : text;
}

static const char *path_beside(struct arena *arena, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name) : name;
}

static bool inline_file(struct inliner *p, unsigned file, unsigned depth, struct err *err);

static bool read_header(struct inliner *p, const char *path, struct user_file *file)
{
    struct err ignored = {0};
    char *text, *real;
    size_t len;

    if (!file_read(path, SOURCE_SET_MAX_BYTES, &text, &len, &ignored))
        return false;
    real = realpath(path, NULL);
    *file = (struct user_file){.path = path,
        .real = arena_strdup(p->arena, real ? real : path),
        .text = arena_strndup(p->arena, text, len),
        .bytes = len};
    file->code = file->text;
    free(real);
    free(text);
    return true;
}

/* Looks for a header whose folder no build file gives: in folders of the usual names beside the
 * user's file and above it, up to the root of its repository. */
static bool guess_header(struct inliner *p, const char *name, struct user_file *file)
{
    static const char *const usual[] = {
        "", "include/", "inc/", "src/", "common/", "Common/", "utils/", "util/"};
    const char *user = p->set->files[0].path, *up = "";

    for (unsigned level = 0; level < MAX_UP; level++) {
        for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
            const char *at = arena_printf(p->arena, "%s%s%s", up, usual[i], name);

            if (read_header(p, path_beside(p->arena, user, at), file)) {
                note(p->set,
                    "%s was taken from %s%s: neither the file nor its Makefile says where it is "
                    "(-I DIR does)",
                    name, *up || *usual[i] ? up : "./", usual[i]);
                return true;
            }
        }
        if (file_exists(path_beside(p->arena, user, arena_printf(p->arena, "%s.git", up))))
            break;
        up = arena_printf(p->arena, "../%s", up);
    }
    return false;
}

static bool find_header(
    struct inliner *p, const char *from, const char *name, bool quoted, struct user_file *file)
{
    if (quoted && read_header(p, path_beside(p->arena, from, name), file))
        return true;
    const bool own = headers_is_device(name); /* CUDA's, unless it is quoted and found */

    if (own && !quoted)
        return false;
    for (unsigned i = 0; i < p->build->nr_dirs; i++)
        if (read_header(p, arena_printf(p->arena, "%s/%s", p->build->dirs[i], name), file))
            return true;
    return quoted && !own && *name != '/' && guess_header(p, name, file);
}

/* Puts the text of a file that is there in place of its #include line. *inlined false: the line
 * stays. */
static bool inline_include(struct inliner *p, unsigned from, const char *line, size_t nr,
    unsigned depth, bool *inlined, struct err *err)
{
    struct source_set *set = p->set;
    const size_t at = (size_t)(line + nr - set->files[from].code); /* the newline of that line */
    bool quoted;
    const char *name = headers_include_name(p->arena, arena_strndup(p->arena, line, nr), &quoted);
    struct user_file file;

    *inlined = false;
    if (!name || !find_header(p, set->files[from].path, name, quoted, &file))
        return true; /* what the header has is not needed, or will be missed by name */
    file.name = name;
    *inlined = true;
    for (unsigned i = 0; i < set->nr_files; i++)
        if (set->files[i].real && strcmp(set->files[i].real, file.real) == 0) {
            end_line(p, from, at);
            return true;
        }
    if (depth == 0 || set->nr_files == SOURCE_SET_MAX_FILES)
        return err_set(err, "%s: headers include one another too deeply (more than %d levels)",
            file.path, MAX_INCLUDE_DEPTH);
    set->files[set->nr_files] = file;
    p->shift += source_line(file.text, file.bytes);
    bool ok = p->out.len + file.bytes <= SOURCE_SET_MAX_BYTES
                  ? inline_file(p, set->nr_files++, depth - 1, err)
                  : err_set(err, "%s: with its headers the file is over %d MiB", set->files[0].path,
                        SOURCE_SET_MAX_BYTES >> 20);
    end_line(p, from, at);
    return ok;
}

/* Turns text that is not UTF-8 into UTF-8, taking it for Latin-1. False: the file is no text. */
static bool as_utf8(struct source_set *set, struct user_file *f, struct err *err)
{
    size_t bad = bad_byte(f->text, f->bytes);
    struct str out = {0};

    if (bad == f->bytes)
        return true;
    if (f->code != f->text)
        return err_set(
            err, "%s:%u: not UTF-8, which Python text must be", f->path, source_line(f->text, bad));
    for (size_t i = 0; i < f->bytes; i++) {
        unsigned char c = (unsigned char)f->text[i];

        if (c == 0 || (c < ' ' && !strchr("\a\b\t\n\v\f\r\033", c))) {
            str_finish(&out);
            return err_set(err, "%s:%u: a byte 0x%02x%s: this is not a text file", f->path,
                source_line(f->text, i), c, c ? "" : " (NUL)");
        }
        if (c >= 0x80)
            str_add_char(&out, (char)(0xc0 | c >> 6));
        str_add_char(&out, (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c));
    }
    note(set, "%s:%u is not UTF-8: the file was read as Latin-1", f->path,
        source_line(f->text, bad));
    f->text = f->code = arena_strndup(set->arena, str_text(&out), out.len);
    f->bytes = out.len;
    str_finish(&out);
    return true;
}

/* The condition asks for another operating system or compiler, as in headers for several of
 * them. */
static bool is_foreign(struct arena *arena, const char *condition, size_t nr)
{
    static const char *const words[] = {"if", "ifdef", "elif", "defined", "(", ")", "||", NULL},
                             *const names[] = {"WIN32", "_WIN32", "WIN64", "_WIN64", "_MSC_VER",
                                 "__APPLE__", "MACOSX", "__MACOSX", "__HIP_PLATFORM_AMD__",
                                 "USE_ROCM", NULL};
    struct toks toks;
    bool any = false;

    if (!toks_lex(&toks, arena, condition, nr))
        return false;
    for (unsigned i = 0; i < toks.nr; i++) {
        const bool named = tok_among(&toks.tok[i], names);

        if (!named && !tok_among(&toks.tok[i], words))
            return false; /* something else may make it true here */
        any |= named;
    }
    return any;
}

/* Follows how deep the #ifs are nested, and from which depth on the text is foreign (0: it is
 * not). */
static void follow_condition(
    struct arena *arena, const char *line, size_t nr, unsigned *nested, unsigned *foreign)
{
    const char *word = line + 1;

    while (word < line + nr && (*word == ' ' || *word == '\t'))
        word++;
    nr -= (size_t)(word - line);
    if (nr > 1 && memcmp(word, "if", 2) == 0) {
        ++*nested;
        *foreign = *foreign ? *foreign : is_foreign(arena, word, nr) ? *nested : 0;
    } else if (nr > 4 && memcmp(word, "endif", 5) == 0) {
        *foreign = *foreign == *nested ? 0 : *foreign;
        *nested -= *nested > 0;
    } else if (nr > 1 && memcmp(word, "el", 2) == 0 && (!*foreign || *foreign == *nested)) {
        *foreign = is_foreign(arena, word, nr) ? *nested : 0;
    }
}

static bool inline_file(struct inliner *p, unsigned file, unsigned depth, struct err *err)
{
    unsigned nested = 0, foreign = 0;
    struct user_file *f = &p->set->files[file];

    if (!as_utf8(p->set, f, err))
        return false;
    const char *text = f->code, *end = f->code + f->bytes;

    if (str_starts(text, "\xef\xbb\xbf")) /* a byte order mark would hide an #include */
        text += 3;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t nr = newline ? (size_t)(newline - text) : (size_t)(end - text);
        const char *hash = text + strspn(text, " \t");
        bool inlined = false;

        if (hash < text + nr && *hash == '#')
            follow_condition(p->arena, hash, nr - (size_t)(hash - text), &nested, &foreign);
        if (hash < text + nr && *hash == '#' && !foreign &&
            !inline_include(p, file, hash, nr - (size_t)(hash - text), depth, &inlined, err))
            return false;
        if (!inlined) {
            str_add_n(&p->out, text, nr);
            end_line(p, file, (size_t)(text - f->code));
        }
        text += nr + 1;
    }
    return true;
}

/* Adds another file of the program behind the text. False: the file is there already, or the text
 * would become too large. */
static bool add_unit(struct inliner *p, const struct user_file *unit)
{
    struct source_set *set = p->set;
    struct err ignored = {0};
    const unsigned shift = p->shift;

    if (p->out.len + unit->bytes > SOURCE_SET_MAX_BYTES || set->nr_files == SOURCE_SET_MAX_FILES)
        return false;
    for (unsigned f = 0; f < set->nr_files; f++)
        if (!set->files[f].macros_only && strcmp(set->files[f].path, unit->path) == 0)
            return false;
    set->files[set->nr_files++] = *unit;
    /* a file that cannot be read is left out */
    inline_file(p, set->nr_files - 1, MAX_INCLUDE_DEPTH, &ignored);
    p->shift = shift;
    return true;
}

static void add_units(struct inliner *p)
{
    const unsigned nr = source_set_neighbours(p->set);

    for (unsigned i = 0; i < nr; i++)
        p->set->has_units |= add_unit(p, &p->set->neighbours[i].file);
}

static void add_linked(struct inliner *p)
{
    const struct source_set *set = p->set;

    for (unsigned i = 0; i < set->nr_linked; i++)
        if (add_unit(p, set->linked[i].file))
            note(p->set, "%s is read with this file: it defines %s, which the device code uses",
                set->linked[i].file->name, set->linked[i].name);
}

/* ---- macros of the build ---- */

/* Puts macros whose name is a word of the text as lines before it. */
static void put_defines(struct inliner *p)
{
    struct source_set *set = p->set;
    struct inliner all = {.arena = p->arena, .set = set, .build = p->build};
    unsigned file_of[BUILD_MAX_FILES] = {0};
    const char *text = str_text(&p->out);

    for (unsigned i = 0; i < p->build->nr_defines; i++) {
        const struct build_define *d = &p->build->defines[i];
        const struct build_file *f = &p->build->files[d->file];

        if (!spelling_has_word(text, d->name))
            continue;
        if (!file_of[d->file]) {
            if (set->nr_files == SOURCE_SET_MAX_FILES)
                break;
            file_of[d->file] = set->nr_files;
            set->files[set->nr_files++] = (struct user_file){.path = f->path,
                .name = file_name(f->path),
                .text = f->text,
                .code = f->text,
                .bytes = f->bytes,
                .macros_only = true};
        }
        note(set, "%s = %s is defined by %s", d->name, d->value, file_name(f->path));
        str_addf(&all.out, "#define %s %s", d->name, d->value);
        end_line(&all, file_of[d->file], d->at);
    }
    all.shift = p->shift + (unsigned)all.nr_origins;
    for (size_t i = 0; i < p->nr_origins; i++)
        add_origin(&all, p->origins[i]);
    str_add_n(&all.out, text, p->out.len);
    str_finish(&p->out);
    free(p->origins);
    *p = all;
}

/* Keeps the text, and where its lines begin. */
static void keep_text(struct source_set *set, const struct inliner *p)
{
    const unsigned nr = (unsigned)p->nr_origins;
    const struct expanded whole = expand_macros(set->arena, str_text(&p->out), p->out.len, nr);

    for (size_t i = 0; i < nr && whole.text; i++)
        p->origins[i].made = whole.line[i];
    set->text = whole.text ? whole.text : arena_strndup(set->arena, str_text(&p->out), p->out.len);
    set->bytes = whole.text ? whole.bytes : p->out.len;
    set->nr_lines = nr;
    set->origins = arena_array(set->arena, nr + 1, sizeof(*set->origins));
    if (nr)
        memcpy(set->origins, p->origins, nr * sizeof(*set->origins));
    set->starts = arena_array(set->arena, nr + 1, sizeof(*set->starts));
    for (size_t i = 0, line = 1; i < set->bytes && line <= nr; i++)
        if (set->text[i] == '\n')
            set->starts[line++] = i + 1;
    set->in.shift = p->shift;
}

bool source_set_inline_headers(
    struct source_set *set, bool with_units, const struct intake_args *args, struct err *err)
{
    struct build *build = arena_alloc(set->arena, sizeof(*build));
    struct inliner p = {.arena = set->arena, .set = set, .build = build};

    char *real = realpath(set->files[0].path, NULL);

    set->files[0].real = real ? arena_strdup(set->arena, real) : NULL;
    free(real);
    buildfile_read(build, set->arena, set->files[0].path, args);
    const bool ok = inline_file(&p, 0, MAX_INCLUDE_DEPTH, err);
    const bool has_main = source_has_main(str_text(&p.out));
    size_t own_lines = p.nr_origins, nr_lines;

    if (ok)
        add_linked(&p);
    nr_lines = p.nr_origins;
    put_defines(&p);
    own_lines += p.nr_origins - nr_lines;
    nr_lines = p.nr_origins;
    set->nr_own_files = set->nr_files;
    set->has_units = false;
    if (ok && with_units && !python_is(set->files[0].path) && !has_main)
        add_units(&p);
    keep_text(set, &p);
    set->own_bytes = set->starts[own_lines];
    set->device_bytes = set->starts[nr_lines];
    free(p.origins);
    str_finish(&p.out);
    return ok;
}
