/* Owns the choice of hash function. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

struct hash hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
    const XXH128_hash_t h = XXH3_128bits_withSeed(bytes ? bytes : "", len, seed);

    return (struct hash){.high = h.high64, .low = h.low64};
}

void hash_hex(struct hash hash, char hex[HASH_HEX_BYTES])
{
    snprintf(hex, HASH_HEX_BYTES, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}
