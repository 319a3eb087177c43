/* Owns the walk over a library's folder, and the check that a path stays inside it. */
#include "store/library_tree.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const ends[] = {
    ".h", ".hpp", ".cuh", ".cu", ".inl", ".cpp", ".cc", ".md", ".rst"};

struct tree_walk {
    struct tree *tree;
    struct str facts; /* one line per file */
    char **lines;
    size_t nr_lines, cap_lines;
};

static bool is_text_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (str_ends(name, ends[i]))
            return true;
    return false;
}

static void note_file(struct tree_walk *w, const char *path, const struct stat *st)
{
    struct tree *tree = w->tree;
    struct str line = {0};

    if (tree->nr == LIBRARY_MAX_FILES || st->st_size > LIBRARY_FILE_BYTES)
        return;
    tree->paths = grow(tree->paths, &tree->cap, tree->nr + 1, sizeof(*tree->paths));
    tree->paths[tree->nr++] = xstrdup(path);
    str_addf(&line, "%s %lld %lld.%ld\n", path, (long long)st->st_size,
        (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
    w->lines = grow(w->lines, &w->cap_lines, w->nr_lines + 1, sizeof(*w->lines));
    w->lines[w->nr_lines++] = str_take(&line);
}

/* below: "" or "include/cute/". A folder that cannot be read counts as absent. */
static void walk_folder(struct tree_walk *w, const char *below, unsigned depth)
{
    struct str path = {0};
    struct dirent *entry;
    DIR *dir;

    str_addf(&path, "%s/%s", w->tree->root, below);
    dir = opendir(str_text(&path));
    while (dir && (entry = readdir(dir))) {
        struct stat st;

        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        str_clear(&path);
        str_addf(&path, "%s%s", below, entry->d_name);
        if (S_ISREG(st.st_mode) && is_text_name(entry->d_name))
            note_file(w, str_text(&path), &st);
        if (!S_ISDIR(st.st_mode) || depth == LIBRARY_MAX_DEPTH)
            continue;
        str_add_char(&path, '/');
        walk_folder(w, str_text(&path), depth + 1);
    }
    if (dir)
        closedir(dir);
    str_finish(&path);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool tree_list(struct tree *tree, const char *dir, struct err *err)
{
    struct tree_walk w = {.tree = tree};

    *tree = (struct tree){.root = realpath(dir, NULL)};
    if (!tree->root)
        return err_errno(err, "%s", dir);
    walk_folder(&w, "", 0);
    if (tree->nr) {
        qsort(tree->paths, tree->nr, sizeof(*tree->paths), by_text);
        qsort(w.lines, w.nr_lines, sizeof(*w.lines), by_text);
    }
    str_addf(&w.facts, "%s\n", tree->root);
    for (size_t i = 0; i < w.nr_lines; i++) {
        str_add(&w.facts, w.lines[i]);
        free(w.lines[i]);
    }
    tree->hash = hash_bytes(w.facts.text, w.facts.len, 0);
    str_finish(&w.facts);
    free(w.lines);
    return tree->nr > 0 || err_set(err, "%s: there are no sources in it", dir);
}

void tree_finish(struct tree *tree)
{
    for (size_t i = 0; i < tree->nr; i++)
        free(tree->paths[i]);
    free(tree->paths);
    free(tree->root);
    *tree = (struct tree){0};
}

/* The path with all links resolved; NULL when the resolved path is not below the root. */
static char *resolve(const struct tree *tree, const char *path)
{
    const size_t len = strlen(tree->root);
    struct str whole = {0};
    char *real;

    str_addf(&whole, "%s/%s", tree->root, path);
    real = realpath(str_text(&whole), NULL);
    str_finish(&whole);
    if (real && (strncmp(real, tree->root, len) != 0 || real[len] != '/')) {
        free(real);
        real = NULL;
    }
    return real;
}

static bool goes_up(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2)
        if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
            return true;
    return false;
}

bool tree_read(const struct tree *tree, const char *path, char **text, size_t *len, struct err *err)
{
    char *real = path[0] == '/' || goes_up(path) ? NULL : resolve(tree, path);
    struct stat st;
    bool ok;

    /* All reasons give one sentence, so that the sentence does not tell which other files exist. */
    ok = real && stat(real, &st) == 0 && S_ISREG(st.st_mode) &&
         file_read(real, LIBRARY_FILE_BYTES, text, len, err);
    free(real);
    if (!ok)
        return err_set(err, "there is no file %.200s; paths are those that a search shows", path);
    if (strlen(*text) == *len)
        return true;
    free(*text);
    return err_set(err, "%.200s is not a text", path);
}
