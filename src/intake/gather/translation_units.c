/* Owns which other source files of its folder make a program with a file that has no main. */
#include "intake/gather/translation_units.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNITS = 24, MAX_ENTRIES = 512, MAX_UNIT_BYTES = 1 << 20 };

bool translation_units_has_main(const char *text)
{
    for (const char *p = text; (p = strstr(p, "main")) != NULL; p += 4) {
        const char *after = p + 4 + strspn(p + 4, " \t");

        if (*after == '(' && (p == text || !str_word_char(p[-1])))
            return true;
    }
    return false;
}

static bool is_source(const char *name)
{
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c", NULL};

    for (unsigned i = 0; ends[i]; i++)
        if (str_ends(name, ends[i]))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static unsigned list(struct arena *arena, const char *folder, const char **names)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    unsigned nr = 0;

    while (dir && nr < MAX_ENTRIES && (entry = readdir(dir)) != NULL)
        if (is_source(entry->d_name))
            names[nr++] = arena_strdup(arena, entry->d_name);
    if (dir)
        closedir(dir);
    qsort(names, nr, sizeof(*names), by_name);
    return nr;
}

unsigned translation_units_around(
    struct arena *arena, const char *path, struct translation_unit *units, unsigned max)
{
    const char *slash = strrchr(path, '/'), *names[MAX_ENTRIES];
    const char *folder = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
    unsigned nr_names = list(arena, folder, names), nr = 0;

    for (unsigned i = 0; i < nr_names && nr < max; i++) {
        struct translation_unit u = {
            .path = slash ? arena_printf(arena, "%s/%s", folder, names[i]) : names[i],
            .name = names[i]};
        struct err ignored = {0};
        char *text;

        if (strcmp(names[i], slash ? slash + 1 : path) == 0 ||
            !file_read(u.path, MAX_UNIT_BYTES, &text, &u.bytes, &ignored))
            continue;
        u.text = arena_strndup(arena, text, u.bytes);
        free(text);
        units[nr++] = u;
    }
    return nr;
}

unsigned translation_units_program(const struct translation_unit *units, unsigned nr)
{
    unsigned nr_mains = 0;

    nr = nr < MAX_UNITS ? nr : MAX_UNITS;
    for (unsigned i = 0; i < nr; i++)
        nr_mains += translation_units_has_main(units[i].text);
    return nr_mains == 1 ? nr : 0; /* else it is not known which program the file is part of */
}
