/* Owns the way to CUTLASS: its folder, and the library over the folder that models ask. */
#include "run/cutlass.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/share.h"
#include "base/str.h"
#include "store/library.h"

#include <stdlib.h>
#include <string.h>

enum { HITS = 8 };

struct cutlass {
    char *root, *cache;
    struct library *library; /* NULL: not opened yet */
    struct err why;          /* why the library could not be opened */
    bool failed;
};

/* A checkout or what setup.sh made; the wheel; the folder of the headers itself. */
static const char *const below[] = {"", "/cutlass_library/source", "/.."};

static char *root_in(const char *dir)
{
    char *root = NULL;

    for (size_t i = 0; !root && i < ARRAY_SIZE(below); i++) {
        struct str path = {0}, mark = {0};

        str_addf(&path, "%s%s", dir, below[i]);
        str_addf(&mark, "%s/include/cute/tensor.hpp", str_text(&path));
        if (file_exists(str_text(&mark)))
            root = realpath(str_text(&path), NULL);
        str_finish(&path);
        str_finish(&mark);
    }
    return root;
}

bool cutlass_find(const char *given, char **root, struct err *err)
{
    const char *named = given ? given : getenv("KEET_CUTLASS");
    char *own;

    *root = NULL;
    if (named && strcmp(named, "none") == 0)
        return true;
    if (named && named[0]) {
        *root = root_in(named);
        return *root ||
               err_set(err,
                   "%s %s: there is no include/cute/tensor.hpp in it; name the folder of a CUTLASS "
                   "checkout or of NVIDIA's wheel nvidia-cutlass, unpacked",
                   given ? "--cutlass" : "KEET_CUTLASS", named);
    }
    own = share_find(".deps/cutlass");
    if (own)
        *root = root_in(own);
    free(own);
    return true;
}

struct cutlass *cutlass_create(const char *root, const char *cache)
{
    struct cutlass *cutlass = xcalloc(1, sizeof(*cutlass));

    cutlass->root = xstrdup(root);
    cutlass->cache = cache ? xstrdup(cache) : NULL;
    return cutlass;
}

void cutlass_destroy(struct cutlass *cutlass)
{
    if (!cutlass)
        return;
    library_close(cutlass->library);
    free(cutlass->root);
    free(cutlass->cache);
    free(cutlass);
}

static bool is_open(struct cutlass *cutlass, struct str *out)
{
    if (!cutlass->library && !cutlass->failed) {
        cutlass->library = library_open(cutlass->root, cutlass->cache, &cutlass->why);
        cutlass->failed = !cutlass->library;
    }
    if (cutlass->failed)
        str_addf(out, "error: CUTLASS cannot be searched: %s", cutlass->why.text);
    return !cutlass->failed;
}

void cutlass_search(struct cutlass *cutlass, const char *query, struct str *out)
{
    struct err err;

    if (is_open(cutlass, out) && !library_search(cutlass->library, query, HITS, out, &err))
        str_addf(out, "error: %s", err.text);
}

void cutlass_read(struct cutlass *cutlass, const char *path, unsigned first_line, unsigned nr_lines,
    struct str *out)
{
    struct err err;

    if (is_open(cutlass, out) &&
        !library_read(cutlass->library, path, first_line, nr_lines, out, &err))
        str_addf(out, "error: %s", err.text);
}
