/* Owns the hammering of .npy files: no bytes may crash the reader, and what it refuses has a
 * reason. The first byte chooses the type of the elements. For hours, see hammer.h:
 *     build/fuzz/fuzz_npy -max_len=1024 build/corpus tests/fuzz/seeds/npy */
#include "core/npy.h"

#include "hammer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NR = 6 };

static void read_once(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct err err = {0};
    uint8_t *elems;

    if (size == 0)
        return;
    if (fd < 0)
        fd = memfd_create("npy", 0);
    assert(fd >= 0 && ftruncate(fd, 0) == 0);
    assert(pwrite(fd, data + 1, size - 1, 0) == (ssize_t)size - 1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

    const enum elem elem = (enum elem)(data[0] % NR_ELEMS);

    elems = malloc((size_t)NR * elem_bytes(elem)); /* a sanitizer watches its end */
    if (!npy_read(path, elem, elems, NR, &err))
        assert(strlen(err.text) > 10);
    free(elems);
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "{}'\",:()<|=descrfortan_shape0123456789TFuielsv \n"};
