/* Owns the other source files in the folder of the user's file, and which of them make a program
 * with a file that has no main: the interpreter finds there who calls it. */
#include "intake/gather/source_set.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEIGHBOURS = 64, MAX_UNITS = 24, MAX_UNIT_BYTES = 1 << 20 };

bool source_has_main(const char *text)
{
    for (const char *p = text; (p = strstr(p, "main")) != NULL; p += 4) {
        const char *after = p + 4 + strspn(p + 4, " \t");

        if (*after == '(' && (p == text || !str_word_char(p[-1])))
            return true;
    }
    return false;
}

static int is_source(const struct dirent *entry)
{
    static const char *const ends[] = {"cu", "cpp", "cc", "cxx", "c", NULL};
    const char *dot = strrchr(entry->d_name, '.');

    return dot && str_among(dot + 1, ends);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_neighbours(struct source_set *set)
{
    const char *path = set->files[0].path, *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path + 1) : 0;
    struct dirent **entries = NULL;
    const int nr = scandir(slash ? arena_strndup(set->arena, path, (size_t)folder) : ".", &entries,
        is_source, by_name);

    set->neighbours = arena_array(set->arena, MAX_NEIGHBOURS, sizeof(*set->neighbours));
    for (int i = 0; i < nr; i++) {
        struct user_file f = {.name = arena_strdup(set->arena, entries[i]->d_name)};
        struct err ignored = {0};
        char *text;

        free(entries[i]);
        f.path = arena_printf(set->arena, "%.*s%s", folder, path, f.name);
        if (set->nr_neighbours == MAX_NEIGHBOURS || strcmp(f.path, path) == 0 ||
            !file_read(f.path, MAX_UNIT_BYTES, &text, &f.bytes, &ignored))
            continue;
        f.text = f.code = arena_strndup(set->arena, text, f.bytes);
        free(text);
        set->neighbours[set->nr_neighbours++].file = f;
    }
    free(entries);
}

unsigned source_set_neighbours(struct source_set *set)
{
    unsigned nr_mains = 0;

    if (!set->neighbours)
        read_neighbours(set);
    const unsigned nr = set->nr_neighbours < MAX_UNITS ? set->nr_neighbours : MAX_UNITS;

    for (unsigned i = 0; i < nr; i++)
        nr_mains += source_has_main(set->neighbours[i].file.text);
    return nr_mains == 1 ? nr : 0; /* else it is not known which program the file is part of */
}
