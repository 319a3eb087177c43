/* Heap memory that never comes back NULL: out of memory ends the process with a message, since
 * nothing sensible is left to do. Freed with free(). */
#ifndef KEET_BASE_MEM_H
#define KEET_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t bytes);
void *xcalloc(size_t nr, size_t bytes_each); /* zeroed */
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* Make room in a heap array for `need` elements, doubling. Usage:
 *     items = grow(items, &cap, nr + 1, sizeof(*items)); */
void *grow(void *array, size_t *cap, size_t need, size_t bytes_each);

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
