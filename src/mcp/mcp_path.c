/* Owns the check of paths that a client names. */
#include "mcp/mcp_path.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

/* Where the real path lies below root; NULL: outside. */
static const char *below(const char *root, const char *real)
{
    const size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

    return strncmp(root, real, len) == 0 && real[len] == '/' ? real + len + 1 : NULL;
}

const char *mcp_path(struct arena *arena, const char *root, const char *path, struct err *err)
{
    char *real = realpath(path[0] == '/' ? path : arena_printf(arena, "%s/%s", root, path), NULL);
    const char *found = real ? arena_strdup(arena, real) : "", *inside = below(root, found);
    const bool is_file = file_is_regular(found);

    free(real);
    if (*found && !inside && strcmp(found, root) != 0) {
        err_set(err, "%s is outside of the folder that is served, %s", path, root);
        return NULL;
    }
    if (!inside || !is_file) {
        err_set(err, "%s: there is no such file; paths are relative to %s", path, root);
        return NULL;
    }
    return inside[0] == '-' ? arena_printf(arena, "./%s", inside) : inside;
}
