/* Heap memory that never comes back NULL: out of memory ends the process with a message, since
 * nothing sensible is left to do. Freed with free(). */
#ifndef KEET_BASE_MEM_H
#define KEET_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *xmalloc(size_t bytes);
void *xcalloc(size_t nr, size_t bytes_each); /* zeroed */
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* Make room in a heap array for `need` elements, doubling. Usage:
 *     items = grow(items, &cap, nr + 1, sizeof(*items)); */
void *grow(void *array, size_t *cap, size_t need, size_t bytes_each);

/* The next multiple of unit, or the value where it is one; unit 0: the value. */
static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return unit ? (value + unit - 1) / unit * unit : value;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
