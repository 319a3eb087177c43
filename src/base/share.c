/* Owns nothing: looks for folders around the binary. */
#include "base/share.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_at(const char *root, const char *between, const char *folder)
{
    struct str path = {0};
    struct stat st;

    str_addf(&path, "%s%s/%s", root, between, folder);
    if (stat(path.text, &st) == 0 && S_ISDIR(st.st_mode))
        return str_take(&path);
    str_finish(&path);
    return NULL;
}

char *share_binary(void)
{
    char path[PATH_MAX];
    const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (len <= 0)
        return NULL;
    path[len] = '\0';
    return xstrdup(path);
}

/* The binary's folder; NULL as share_binary. */
static char *binary_folder(void)
{
    char *path = share_binary();

    if (path)
        *strrchr(path, '/') = '\0';
    return path;
}

char *share_above(const char *folder)
{
    char *root = binary_folder(), *found = NULL;

    while (root && !found && root[0]) {
        found = folder_at(root, "", folder);
        *strrchr(root, '/') = '\0';
    }
    free(root);
    return found;
}

char *share_find(const char *folder)
{
    const char *chosen = getenv("KEET_SHARE");
    char *root, *found;

    if (chosen && chosen[0])
        return folder_at(chosen, "", folder);
    root = binary_folder();
    found = root ? folder_at(root, "/../share/keet-opt", folder) : NULL;
    free(root);
    return found ? found : share_above(folder);
}
