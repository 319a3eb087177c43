/* Owns the folder of cached compilations. */
#include "compile/cache.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "compile/compile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ENTRY_BYTES = 256 << 20, KEEPS_PER_PRUNE = 256 };

static const char suffix[] = ".nvrtc";

struct cache {
    char *dir; /* NULL: keeps nothing */
    uint64_t max_bytes;
    unsigned nr_keeps;
};

struct cache_entry {
    char *path;
    uint64_t bytes;
    struct timespec used;
};

char *compile_cache_dir(void)
{
    const char *base = getenv("XDG_CACHE_HOME"), *below = "keet-opt/compile";
    const char *named = getenv("KEET_CACHE");
    struct str path = {0};

    if (named && named[0] == '/') {
        str_addf(&path, "%s", named);
        return str_take(&path);
    }
    if (!base || base[0] != '/') {
        base = getenv("HOME");
        below = ".cache/keet-opt/compile";
    }
    if (!base || !base[0])
        return NULL;
    str_addf(&path, "%s/%s", base, below);
    return str_take(&path);
}

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct cache_entry *)a)->used;
    const struct timespec *y = &((const struct cache_entry *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static struct cache_entry *list(const struct cache *cache, size_t *nr, uint64_t *total)
{
    DIR *dir = opendir(cache->dir);
    struct cache_entry *entries = NULL;
    size_t cap = 0;

    *nr = 0;
    *total = 0;
    for (struct dirent *d = dir ? readdir(dir) : NULL; d; d = readdir(dir)) {
        struct str path = {0};
        struct stat st;

        if (!strstr(d->d_name, suffix))
            continue;
        str_addf(&path, "%s/%s", cache->dir, d->d_name);
        if (stat(path.text, &st) != 0) {
            str_finish(&path);
            continue;
        }
        entries = grow(entries, &cap, *nr + 1, sizeof(*entries));
        entries[(*nr)++] = (struct cache_entry){
            .path = str_take(&path), .bytes = (uint64_t)st.st_size, .used = st.st_mtim};
        *total += (uint64_t)st.st_size;
    }
    if (dir)
        closedir(dir);
    return entries;
}

/* Removes entries down to three quarters, so that the next entry does not start this again. */
static void prune(const struct cache *cache)
{
    uint64_t total;
    size_t nr;
    struct cache_entry *entries = list(cache, &nr, &total);
    const bool over = total > cache->max_bytes;

    if (over)
        qsort(entries, nr, sizeof(*entries), by_age);
    for (size_t i = 0; i < nr; i++) {
        if (over && total > cache->max_bytes / 4 * 3 && unlink(entries[i].path) == 0)
            total -= entries[i].bytes;
        free(entries[i].path);
    }
    free(entries);
}

struct cache *cache_create(const char *dir, uint64_t max_bytes)
{
    struct cache *cache = xcalloc(1, sizeof(*cache));
    struct err err;

    cache->max_bytes = max_bytes;
    if (!dir)
        cache->dir = compile_cache_dir();
    else if (dir[0])
        cache->dir = xstrdup(dir);
    if (cache->dir && !file_mkdirs(cache->dir, &err)) {
        log_note("compiling without a cache: %s", err.text);
        free(cache->dir);
        cache->dir = NULL;
    }
    if (cache->dir)
        prune(cache);
    return cache;
}

void cache_destroy(struct cache *cache)
{
    if (!cache)
        return;
    free(cache->dir);
    free(cache);
}

static char *path_of(const struct cache *cache, struct hash key)
{
    char hex[HASH_HEX_BYTES];
    struct str path = {0};

    hash_hex(key, hex);
    str_addf(&path, "%s/%s%s", cache->dir, hex, suffix);
    return str_take(&path);
}

bool cache_find(
    struct cache *cache, struct hash key, struct arena *arena, struct artifact *artifact)
{
    char *path, *bytes = NULL;
    struct err err;
    bool found;
    size_t len;

    if (!cache->dir)
        return false;
    path = path_of(cache, key);
    found = file_exists(path) && file_read(path, MAX_ENTRY_BYTES, &bytes, &len, &err);
    if (found && !artifact_unpack(bytes, len, arena, artifact)) {
        log_note("the cache entry %s is damaged; compiling again", path);
        unlink(path);
        found = false;
    }
    if (found)
        utimensat(AT_FDCWD, path, NULL, 0); /* the entry is used now, so it goes last */
    free(bytes);
    free(path);
    return found;
}

void cache_keep(struct cache *cache, struct hash key, const void *bytes, size_t len)
{
    struct err err;
    char *path;

    if (!cache->dir)
        return;
    path = path_of(cache, key);
    if (!file_write(path, bytes, len, &err))
        log_note("the compilation is not cached: %s", err.text);
    free(path);
    if (++cache->nr_keeps % KEEPS_PER_PRUNE == 0)
        prune(cache);
}
