/* Private to compile/: packed artifacts on disk, one file per key. Every fault is a miss, never an
 * error: the compiler can always be asked again. */
#ifndef KEET_COMPILE_CACHE_H
#define KEET_COMPILE_CACHE_H

#include "base/hash.h"
#include "compile/artifact.h"

#include <stdint.h>

struct cache;

/* Makes the cache in the folder dir, and makes the folder if need be. NULL: in compile_cache_dir().
 * "", or a folder that cannot be used: the cache keeps nothing. Whenever the entries have over
 * max_bytes together, the oldest are removed. */
struct cache *cache_create(const char *dir, uint64_t max_bytes);
void cache_destroy(struct cache *cache);

bool cache_find(
    struct cache *cache, struct hash key, struct arena *arena, struct artifact *artifact);
void cache_keep(struct cache *cache, struct hash key, const void *bytes, size_t len);

#endif
