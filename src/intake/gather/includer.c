/* Owns the macros that a file has from the source that includes it. */
#include "intake/gather/includer.h"

#include "base/file.h"
#include "base/str.h"
#include "intake/eval/resolver.h"
#include "intake/gather/translation_units.h"
#include "intake/syntax/decls.h"
#include "intake/syntax/headers.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER_BYTES = 1 << 20, MAX_DEPTH = 3 };

struct collector {
    struct build *build;
    struct arena *arena;
    const char *user, *folder; /* the name of the included file; its folder */
    struct toks text;          /* the tokens of the included file */
};

static const char *in_folder(const struct collector *c, const char *name)
{
    return *c->folder ? arena_printf(c->arena, "%s/%s", c->folder, name) : name;
}

static bool is_defined_in(const struct toks *toks, const char *name)
{
    for (unsigned i = 0; i < toks->nr; i++) {
        const char *rest;
        const size_t nr = strlen(name);

        if (toks->tok[i].kind != TOK_DIRECTIVE ||
            !str_starts(resolver_directive(&toks->tok[i], &rest), "define"))
            continue;
        rest += strspn(rest, " \t");
        if (strncmp(rest, name, nr) == 0 && !str_word_char(rest[nr]))
            return true;
    }
    return false;
}

static bool is_wanted(const struct collector *c, const char *name)
{
    if (toks_name(&c->text, name, 0) < c->text.nr)
        return true;
    for (unsigned i = 0; i < c->text.nr; i++) {
        const char *t = c->text.tok[i].kind == TOK_DIRECTIVE ? c->text.tok[i].text : "";

        if (str_find_word(t, t + strlen(t), name, strlen(name)))
            return true;
    }
    return false;
}

/* Adds a #define NAME VALUE, the first one of each name. */
static void add_define(struct collector *c, const struct tok *t, const char *rest, unsigned file)
{
    struct build *b = c->build;
    size_t nr = 0, len;

    rest += strspn(rest, " \t");
    while (str_word_char(rest[nr]))
        nr++;
    const char *name = arena_strndup(c->arena, rest, nr), *value = rest + nr;

    if (nr == 0 || *value == '(' || strchr(value, '\n') || b->nr_defines == BUILD_MAX_DEFINES)
        return;
    value += strspn(value, " \t");
    const char *comment = strchr(value, '"') ? NULL : strstr(value, "//");

    comment = comment || strchr(value, '"') ? comment : strstr(value, "/*");
    len = comment ? (size_t)(comment - value) : strlen(value);
    while (len > 0 && strchr(" \t\r", value[len - 1]))
        len--;
    for (unsigned i = 0; i < b->nr_defines; i++)
        if (strcmp(b->defines[i].name, name) == 0)
            return;
    if (len && is_wanted(c, name) && !is_defined_in(&c->text, name))
        b->defines[b->nr_defines++] =
            (struct build_define){name, arena_strndup(c->arena, value, len), file, t->at};
}

/* Adds the macros of one file, up to where it includes the user's. Macros under an #if are of some
 * builds only, and do not count, unless the #if guards the whole file. True: the file includes the
 * user's. */
static bool collect(struct collector *c, const char *path, const char *text, unsigned depth)
{
    struct build *b = c->build;
    struct toks toks;
    unsigned nested = 0, guards = 0;
    const unsigned file = b->nr_files;

    if (b->nr_files == BUILD_MAX_FILES || !toks_lex(&toks, c->arena, text, strlen(text)))
        return false;
    b->files[b->nr_files++] = (struct build_file){path, text, strlen(text)};
    for (unsigned i = 0; i < toks.nr; i++) {
        const struct tok *t = &toks.tok[i];
        const char *rest, *word = t->kind == TOK_DIRECTIVE ? resolver_directive(t, &rest) : "";
        bool quoted;

        if (str_starts(word, "if")) {
            guards += nested++ == 0 && i == 0 && str_starts(word, "ifndef");
        } else if (str_starts(word, "endif")) {
            nested -= nested > 0;
        } else if (str_starts(word, "define") && nested <= guards) {
            add_define(c, t, rest, file);
        } else if (str_starts(word, "include") && nested <= guards) {
            const char *name = headers_include_name(c->arena, t->text, &quoted);
            struct err ignored = {0};
            char *header;
            size_t bytes;

            if (!name || !quoted)
                continue;
            if (strcmp(name, c->user) == 0)
                return true;
            if (depth == 0 ||
                !file_read(in_folder(c, name), MAX_HEADER_BYTES, &header, &bytes, &ignored))
                continue;
            const char *kept = arena_strndup(c->arena, header, bytes);

            free(header);
            if (collect(c, in_folder(c, name), kept, depth - 1))
                return true;
        }
    }
    return false;
}

static bool includes(struct arena *arena, const char *text, const char *name)
{
    for (const char *line = text; *line; line = str_next_line(line)) {
        const char *hash = line + strspn(line, " \t");
        bool quoted;
        const char *included = *hash == '#'
                                   ? headers_include_name(arena,
                                         arena_strndup(arena, hash, strcspn(hash, "\n")), &quoted)
                                   : NULL;

        if (included && quoted && strcmp(included, name) == 0)
            return true;
    }
    return false;
}

void includer_defines(struct build *build, struct source_set *set, const char *text, size_t bytes)
{
    struct arena *arena = set->arena;
    const char *path = set->files[0].path, *slash = strrchr(path, '/');
    unsigned nr;
    const struct translation_unit *units = source_set_around(set, &nr), *by = NULL;
    struct collector c = {.build = build,
        .arena = arena,
        .user = file_name(path),
        .folder = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ""};

    for (unsigned i = 0; i < nr; i++) {
        if (!includes(arena, units[i].text, c.user))
            continue;
        if (by)
            return;
        by = &units[i];
    }
    if (by && toks_lex(&c.text, arena, text, bytes))
        collect(&c, by->path, by->text, MAX_DEPTH);
}
