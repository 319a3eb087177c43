/* Heap memory that is never NULL: when memory runs out, the process ends with a message and
 * status 1. Free it with free(). */
#ifndef KEET_BASE_MEM_H
#define KEET_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Memory that was freed stays with the process, for programs that take and free much again and
 * again: pages that come anew must be cleared. */
void mem_keep(void);
/* The next megabytes of the heap are large pages where the system has them, also in the children of
 * this process: for a process whose children compute for some milliseconds each, of which small
 * pages would take a sixth. */
void mem_use_large_pages(void);

void mem_die(size_t bytes) __attribute__((noreturn)); /* that end */
void *xmalloc(size_t bytes);
void *xcalloc(size_t nr, size_t bytes_each); /* zeroed */
void *xrealloc(void *old, size_t bytes);
char *xstrdup(const char *text);

/* Makes room in a heap array for `need` elements; the capacity doubles. Usage:
 *     items = grow(items, &cap, nr + 1, sizeof(*items)); */
void *grow(void *array, size_t *cap, size_t need, size_t bytes_each);

/* The least multiple of `unit` that is not below the value; with unit 0 the value itself. */
static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return unit ? (value + unit - 1) / unit * unit : value;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
