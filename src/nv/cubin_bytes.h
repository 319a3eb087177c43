/* Private to the reader of cubins: bytes with bounds, outside of which nothing is read. */
#ifndef KEET_NV_CUBIN_BYTES_H
#define KEET_NV_CUBIN_BYTES_H

#include "nv/cubin.h"

#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t len;
};

/* A part of some bytes; empty when the part does not lie within them. */
static inline struct bytes bytes_part(struct bytes b, uint64_t from, uint64_t len)
{
    if (from > b.len || len > b.len - from)
        return (struct bytes){0};
    return (struct bytes){b.at + from, (size_t)len};
}

/* A little-endian number of `width` bytes, at most 8, at an offset; 0 when some byte is missing. */
static inline uint64_t bytes_number(struct bytes b, uint64_t from, unsigned width)
{
    const struct bytes part = bytes_part(b, from, width);
    uint64_t value = 0;

    for (size_t i = part.len; i > 0; i--)
        value = value << 8 | part.at[i - 1];
    return value;
}

/* The text at an offset; NULL when it does not end within the bytes, or is longer than symbols are.
 */
static inline const char *bytes_text(struct bytes b, uint64_t from)
{
    const uint64_t most = 1 << 16;

    if (from >= b.len ||
        memchr(b.at + from, 0, b.len - from < most ? (size_t)(b.len - from) : most) == NULL)
        return NULL;
    return (const char *)b.at + from;
}

/* A relocation of a line program: the linker writes an address of a section of code there. */
struct cubin_place {
    uint64_t offset;  /* in .debug_line */
    uint32_t section; /* of code */
    uint64_t value;   /* in that section */
};

/* Rows of all sections of code. */
struct cubin_lines {
    struct cubin_row *rows;
    uint32_t *sections; /* of each row */
    size_t nr, cap_rows, cap_sections;
};

/* Runs the line programs in `debug_line`; places are sorted by offset. At a program that it does
 * not understand, the reader stops and keeps the rows so far. Heap memory. */
void cubin_lines_read(struct bytes debug_line, const struct cubin_place *places, size_t nr_places,
    struct cubin_lines *lines);

#endif
