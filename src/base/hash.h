/* 128-bit content hashes (XXH3), the key of sources, PTX and compilations. The only file that
 * knows xxHash. */
#ifndef KEET_BASE_HASH_H
#define KEET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t high, low;
};

enum { HASH_HEX_BYTES = 33 };

struct hash hash_bytes(const void *bytes, size_t len, uint64_t seed);
void hash_hex(struct hash hash, char hex[HASH_HEX_BYTES]); /* 32 digits and a NUL */

#endif
