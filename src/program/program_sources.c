/* Owns the question which file of a tree a kernel is in. */
#include "program/user_program.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SOURCE_BYTES = 4 << 20, MOST_INCLUDES = 64 };

struct kernel_search {
    struct arena *arena;
    const char *tree;
    const struct program_files *files;
    const char *kernel; /* without namespaces and template arguments */
    size_t len;
    const char *seen[MOST_INCLUDES];
    unsigned nr_seen;
    bool has, launches;
};

static char *read_source(const struct kernel_search *s, const char *name)
{
    char *text;
    size_t len;
    struct err err;

    return file_read(
               arena_printf(s->arena, "%s/%s", s->tree, name), MOST_SOURCE_BYTES, &text, &len, &err)
               ? text
               : NULL;
}

/* "__global__ void jacobi(": the name after the attribute, before the next brace or semicolon. */
static bool has_kernel(const struct kernel_search *s, const char *text)
{
    for (const char *at = text; (at = strstr(at, "__global__")) != NULL; at++) {
        const char *end = at + strcspn(at, "{;"), *name = at;

        while ((name = str_find_word(name, end, s->kernel, s->len)) != NULL) {
            name += s->len;
            if (name[strspn(name, " \t\n")] == '(' || *name == '<')
                return true;
        }
    }
    return false;
}

/* "jacobi<<<", "jacobi<float><<<", or the name behind a cudaLaunchKernel. */
static bool launches_kernel(const struct kernel_search *s, const char *text)
{
    const char *end = text + strlen(text);

    for (const char *at = text; (at = str_find_word(at, end, s->kernel, s->len)) != NULL;) {
        const char *line = at, *next;

        at += s->len;
        next = at + strspn(at, " \t\n");
        if (*next == '<' && strstr(next, "<<<") != NULL && strstr(next, "<<<") < next + 200 &&
            strcspn(next, ";") > (size_t)(strstr(next, "<<<") - next))
            return true;
        while (line > text && line[-1] != '\n' && line[-1] != ';')
            line--;
        if (memmem(line, (size_t)(at - line), "LaunchKernel", 12) != NULL ||
            memmem(line, (size_t)(at - line), "LaunchCooperative", 17) != NULL)
            return true;
    }
    return false;
}

/* "a/../b/./c.h" -> "b/c.h"; NULL: it leads out of the tree. */
static const char *tidy(struct arena *arena, const char *path)
{
    char *out = arena_alloc(arena, strlen(path) + 1);
    size_t len = 0;

    for (const char *at = path; *at != '\0'; at += strspn(at, "/")) {
        const size_t part = strcspn(at, "/");

        if (part == 2 && memcmp(at, "..", 2) == 0) {
            if (len == 0)
                return NULL;
            while (len > 0 && out[--len] != '/')
                ;
        } else if (!(part == 1 && *at == '.')) {
            if (len > 0)
                out[len++] = '/';
            memcpy(out + len, at, part);
            len += part;
        }
        at += part;
    }
    out[len] = '\0';
    return out;
}

/* The file of the tree that an #include means: beside the includer, or the one whose path ends so.
 */
static const char *included(const struct kernel_search *s, const char *from, const char *header)
{
    const char *slash = strrchr(from, '/');
    const char *beside = tidy(s->arena,
        arena_printf(s->arena, "%.*s/%s", slash != NULL ? (int)(slash - from) : 0, from, header));
    const char *ending = arena_printf(s->arena, "/%s", header);

    for (unsigned i = 0; i < s->files->nr; i++)
        if (beside != NULL && strcmp(s->files->files[i].name, beside) == 0)
            return s->files->files[i].name;
    for (unsigned i = 0; i < s->files->nr; i++)
        if (str_ends(s->files->files[i].name, ending) ||
            strcmp(s->files->files[i].name, header) == 0)
            return s->files->files[i].name;
    return NULL;
}

static void look_at(struct kernel_search *s, const char *name)
{
    char *text;

    for (unsigned i = 0; i < s->nr_seen; i++)
        if (strcmp(s->seen[i], name) == 0)
            return;
    if (s->nr_seen == MOST_INCLUDES || (text = read_source(s, name)) == NULL)
        return;
    s->seen[s->nr_seen++] = name;
    s->has |= has_kernel(s, text);
    s->launches |= launches_kernel(s, text);
    for (const char *at = text; (at = strstr(at, "#include")) != NULL; at++) {
        const char *open = at + 8 + strspn(at + 8, " \t"), *next;

        if (*open != '"' || (next = strchr(open + 1, '"')) == NULL)
            continue;
        next = included(s, name, arena_strndup(s->arena, open + 1, (size_t)(next - open - 1)));
        if (next != NULL)
            look_at(s, next);
    }
    free(text);
}

/* "sim::step<float>" -> "step" */
static const char *bare(struct arena *arena, const char *kernel)
{
    const char *name = arena_strndup(arena, kernel, strcspn(kernel, "<("));

    for (const char *colons; (colons = strstr(name, "::")) != NULL;)
        name = colons + 2;
    return name;
}

const char *program_source_of(
    struct arena *arena, const char *tree, const struct program_files *files, const char *kernel)
{
    const char *name = bare(arena, kernel), *found = NULL;

    for (unsigned i = 0; i < files->nr && *name != '\0'; i++) {
        struct kernel_search s = {
            .arena = arena, .tree = tree, .files = files, .kernel = name, .len = strlen(name)};

        if (!str_ends(files->files[i].name, ".cu"))
            continue;
        look_at(&s, files->files[i].name);
        if (s.has && s.launches)
            return files->files[i].name;
        if (s.has && found == NULL)
            found = files->files[i].name;
    }
    return found;
}
