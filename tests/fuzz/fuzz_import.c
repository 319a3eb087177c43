/* Owns the hammering of the Nsight Compute reader: no bytes may crash it, and all that it hands out
 * is a number.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_import -max_len=8192 build/corpus tests/explain/ncu */
#include "explain/import_ncu.h"

#include "hammer.h"

#include <math.h>
#include <string.h>

static void read_once(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct import import;
    struct err err;

    if (!import_ncu_read(&import, arena, (const char *)data, size, &err)) {
        assert(strlen(err.text) > 20);
    } else {
        for (unsigned i = 0; i < import.nr_kernels; i++) {
            assert(import.kernels[i].name && import.kernels[i].id);
            for (int m = 0; m < NR_METRICS; m++)
                assert(isfinite(counters_get(&import.kernels[i].counters, (enum metric)m)));
        }
    }
    arena_destroy(arena);
}

const struct fuzzer fuzzer = {.once = read_once, .marks = "\",;\n\r0123456789.-%()KMGT/ =e"};
