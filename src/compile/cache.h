/* Private to compile/: packed artifacts on disk, one file per key. Anything that goes wrong here
 * is a miss, never an error: the compiler can always be asked again. */
#ifndef KEET_COMPILE_CACHE_H
#define KEET_COMPILE_CACHE_H

#include "base/hash.h"
#include "compile/artifact.h"

#include <stdint.h>

struct cache;

/* In the folder dir, made if need be; NULL: $XDG_CACHE_HOME/keet-opt, else ~/.cache/keet-opt; "",
 * and a folder that cannot be used: a cache that keeps nothing. The oldest entries are removed
 * whenever all together are over max_bytes. */
struct cache *cache_create(const char *dir, uint64_t max_bytes);
void cache_destroy(struct cache *cache);

bool cache_find(
    struct cache *cache, struct hash key, struct arena *arena, struct artifact *artifact);
void cache_keep(struct cache *cache, struct hash key, const void *bytes, size_t len);

#endif
