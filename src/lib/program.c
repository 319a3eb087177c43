/* Owns the search for keet-opt. */
#include "lib/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of this library, links followed; false: it is not known. */
static bool own_folder(char folder[PATH_MAX])
{
    static const char mark;
    Dl_info info;
    char *slash;

    if (!dladdr(&mark, &info) || !realpath(info.dli_fname, folder))
        return false;
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* A folder may be searched, which X_OK says of it as well: lib/keet-opt of an installed tree. */
static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_find(void)
{
    /* lib/x86_64-linux-gnu/, lib/, and a build folder */
    static const char *const places[] = {"keet-opt", "../bin/keet-opt", "../../bin/keet-opt"};
    const char *named = getenv("KEET_OPT");
    char folder[PATH_MAX], path[PATH_MAX + 32];

    if (named && named[0])
        return strdup(named);
    for (size_t i = 0; own_folder(folder) && i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, places[i]);
        if (is_program(path))
            return strdup(path);
    }
    return strdup("keet-opt");
}
