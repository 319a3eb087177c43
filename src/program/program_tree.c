/* Owns copies of a user's tree, and lists of the files in it. */
#include "program/user_program.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_DEPTH = 64 };
#define MOST_TREE_BYTES ((uint64_t)8 << 30)
#define MOST_HASHED_BYTES ((size_t)2 << 30)

/* --- going through a tree --- */

struct tree_entry {
    const char *path, *name; /* name: relative to the tree */
    struct stat facts;
    unsigned depth;
};

/* What is done with an entry; folders come before what is in them, or behind (`after`). */
struct tree_visitor {
    bool (*visit)(void *data, const struct tree_entry *entry, bool *enter, struct err *err);
    bool (*leave)(void *data, const struct tree_entry *entry, struct err *err); /* of folders */
    void *data;
};

static bool visit_folder(const struct tree_visitor *v, struct arena *arena,
    const struct tree_entry *folder, struct err *err);

static bool visit_entry(const struct tree_visitor *v, struct arena *arena,
    const struct tree_entry *folder, const char *own, struct err *err)
{
    struct tree_entry e = {.path = arena_printf(arena, "%s/%s", folder->path, own),
        .name = *folder->name != '\0' ? arena_printf(arena, "%s/%s", folder->name, own)
                                      : arena_strdup(arena, own),
        .depth = folder->depth + 1};
    bool enter = true;

    if (lstat(e.path, &e.facts) != 0)
        return errno == ENOENT || err_errno(err, "%s", e.path);
    if (!v->visit(v->data, &e, &enter, err))
        return false;
    return !S_ISDIR(e.facts.st_mode) || !enter ||
           (visit_folder(v, arena, &e, err) && (v->leave == NULL || v->leave(v->data, &e, err)));
}

static bool visit_folder(const struct tree_visitor *v, struct arena *arena,
    const struct tree_entry *folder, struct err *err)
{
    DIR *dir = opendir(folder->path);
    bool ok = true;

    if (dir == NULL)
        return err_errno(err, "cannot read %s", folder->path);
    if (folder->depth == MOST_DEPTH)
        ok = err_set(err, "%s: over %d folders deep", folder->path, MOST_DEPTH);
    for (struct dirent *e; ok && (e = readdir(dir)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            ok = visit_entry(v, arena, folder, e->d_name, err);
    closedir(dir);
    return ok;
}

static bool visit_tree(const struct tree_visitor *v, const char *path, struct err *err)
{
    struct arena *arena = arena_create();
    const struct tree_entry top = {.path = path, .name = ""};
    const bool ok = visit_folder(v, arena, &top, err);

    arena_destroy(arena);
    return ok;
}

/* --- copies --- */

struct tree_copy {
    const char *to;
    const struct program_leave_out *out;
    struct stat apart; /* of the folder that is left out; st_ino 0: none */
    uint64_t bytes;
};

static bool is_object(const char *path)
{
    Elf64_Ehdr head;
    FILE *file = fopen(path, "re");
    const bool read = file != NULL && fread(&head, sizeof(head), 1, file) == 1;

    if (file != NULL)
        fclose(file);
    return read && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_REL;
}

static bool is_left_out(const struct tree_copy *c, const struct tree_entry *e)
{
    static const char *const folders[] = {".git", ".hg", ".svn", NULL};
    const char *own = file_name(e->path);
    char cache[4096];

    if (S_ISDIR(e->facts.st_mode)) {
        snprintf(cache, sizeof(cache), "%s/CMakeCache.txt", e->path);
        return (e->facts.st_ino == c->apart.st_ino && e->facts.st_dev == c->apart.st_dev) ||
               str_among(own, folders) || str_ends(own, ".optimized") ||
               str_ends(own, ".capture") || str_ends(own, ".campaign") || file_exists(cache);
    }
    return (c->out->file != NULL && strcmp(e->name, c->out->file) == 0) ||
           strstr(own, ".keet.db") != NULL || (S_ISREG(e->facts.st_mode) && is_object(e->path));
}

static bool copy_bytes(int from, int to, uint64_t *bytes)
{
    static char buffer[1 << 16];

    for (;;) {
        const ssize_t got = read(from, buffer, sizeof(buffer));

        if (got <= 0)
            return got == 0;
        if (atomic_load(proc_interrupted())) {
            errno = EINTR;
            return false;
        }
        for (ssize_t done = 0, now; done < got; done += now)
            if ((now = write(to, buffer + done, (size_t)(got - done))) <= 0)
                return false;
        *bytes += (uint64_t)got;
    }
}

static bool copy_file(
    struct tree_copy *c, const struct tree_entry *e, const char *path, struct err *err)
{
    const struct timespec times[2] = {e->facts.st_atim, e->facts.st_mtim};
    const int from = open(e->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int to = from < 0 ? -1
                            : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                  (e->facts.st_mode & 0777) | S_IWUSR);
    bool ok = to >= 0 && copy_bytes(from, to, &c->bytes);

    if (ok)
        futimens(to, times);
    if (from >= 0)
        close(from);
    if (to >= 0)
        ok = close(to) == 0 && ok;
    return ok ? c->bytes <= MOST_TREE_BYTES ||
                    err_set(err, "the tree has over 8 GiB; name a smaller folder with --tree")
              : err_errno(err, "cannot copy %s to %s", e->path, path);
}

static bool copy_entry(void *data, const struct tree_entry *e, bool *enter, struct err *err)
{
    struct tree_copy *c = data;
    char path[4096], link[4096];
    ssize_t len;

    *enter = !is_left_out(c, e);
    if (!*enter)
        return true;
    if (snprintf(path, sizeof(path), "%s/%s", c->to, e->name) >= (int)sizeof(path))
        return err_set(err, "%s: the path is too long", e->name);
    if (S_ISDIR(e->facts.st_mode))
        return mkdir(path, 0777) == 0 || err_errno(err, "cannot make %s", path);
    if (S_ISLNK(e->facts.st_mode)) {
        len = readlink(e->path, link, sizeof(link) - 1);
        link[len > 0 ? len : 0] = '\0';
        return (len > 0 && symlink(link, path) == 0) || err_errno(err, "cannot make %s", path);
    }
    return !S_ISREG(e->facts.st_mode) || copy_file(c, e, path, err);
}

bool program_copy_tree(
    const char *from, const char *to, const struct program_leave_out *out, struct err *err)
{
    struct tree_copy copy = {.to = to, .out = out};
    const struct tree_visitor visitor = {.visit = copy_entry, .data = &copy};

    if (out->folder != NULL && stat(out->folder, &copy.apart) != 0)
        copy.apart.st_ino = 0;
    if (mkdir(to, 0777) != 0)
        return err_errno(err, "cannot make %s", to);
    return visit_tree(&visitor, from, err);
}

/* --- the end of a copy --- */

static bool remove_entry(void *data, const struct tree_entry *e, bool *enter, struct err *err)
{
    (void)data;
    (void)enter;
    return S_ISDIR(e->facts.st_mode) || unlink(e->path) == 0 ||
           err_errno(err, "cannot remove %s", e->path);
}

static bool remove_folder(void *data, const struct tree_entry *e, struct err *err)
{
    (void)data;
    return rmdir(e->path) == 0 || err_errno(err, "cannot remove %s", e->path);
}

bool program_remove_tree(const char *path, struct err *err)
{
    const struct tree_visitor visitor = {.visit = remove_entry, .leave = remove_folder};

    if (!file_exists(path))
        return true;
    return visit_tree(&visitor, path, err) &&
           (rmdir(path) == 0 || err_errno(err, "cannot remove %s", path));
}

/* --- lists --- */

struct tree_list {
    struct program_files *all;
    struct arena *arena;
    size_t cap;
    bool hashed;
};

static bool list_entry(void *data, const struct tree_entry *e, bool *enter, struct err *err)
{
    struct tree_list *l = data;
    struct program_file file = {.bytes = (uint64_t)e->facts.st_size};
    struct program_file *old = l->all->files;
    char *bytes;
    size_t len;

    (void)enter;
    if (!S_ISREG(e->facts.st_mode))
        return true;
    if (l->hashed) {
        struct hash hash;

        if (!file_read(e->path, MOST_HASHED_BYTES, &bytes, &len, err))
            return false;
        hash = hash_bytes(bytes, len, 0);
        file.hash[0] = hash.high;
        file.hash[1] = hash.low;
        free(bytes);
    }
    file.name = arena_strdup(l->arena, e->name);
    if (l->all->nr == l->cap) {
        l->cap = l->cap > 0 ? 2 * l->cap : 64;
        l->all->files = arena_array(l->arena, l->cap, sizeof(*l->all->files));
        if (old != NULL)
            memcpy(l->all->files, old, l->all->nr * sizeof(*old));
    }
    l->all->files[l->all->nr++] = file;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct program_file *)a)->name, ((const struct program_file *)b)->name);
}

bool program_list_files(
    struct program_files *all, struct arena *arena, const char *tree, bool hashed, struct err *err)
{
    struct tree_list list = {.all = all, .arena = arena, .hashed = hashed};
    const struct tree_visitor visitor = {.visit = list_entry, .data = &list};
    bool ok;

    *all = (struct program_files){0};
    ok = visit_tree(&visitor, tree, err);
    if (all->nr > 0)
        qsort(all->files, all->nr, sizeof(*all->files), by_name);
    return ok;
}

struct program_files program_written(
    struct arena *arena, const struct program_files *before, const struct program_files *after)
{
    struct program_files written = {
        .files = arena_array(arena, after->nr + 1, sizeof(*written.files))};

    for (unsigned i = 0; i < after->nr; i++) {
        const struct program_file *now = &after->files[i],
                                  *then = before->nr > 0 ? bsearch(now, before->files, before->nr,
                                                               sizeof(*before->files), by_name)
                                                         : NULL;

        if (then == NULL || then->bytes != now->bytes ||
            memcmp(then->hash, now->hash, sizeof(now->hash)) != 0)
            written.files[written.nr++] = *now;
    }
    return written;
}
