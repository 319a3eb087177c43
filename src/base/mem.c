/* Owns the out-of-memory policy. */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Without a stream of the C library, which may want memory. The database is whole at any point. */
void mem_die(size_t bytes)
{
    dprintf(STDERR_FILENO, "keet-opt: out of memory (%zu bytes wanted)\n", bytes);
    _exit(1);
}

static void *or_die(void *p, size_t bytes)
{
    if (!p && bytes)
        mem_die(bytes);
    return p;
}

void mem_keep(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc takes */
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

void mem_use_large_pages(void)
{
#ifdef __GLIBC__
    enum { BYTES = 24 << 20, PAGE = 2 << 20 }; /* less than is mapped apart from the heap */
    char *const before = sbrk(0), *from, *end;
    void *volatile all;

    mem_keep();
    mallopt(M_ARENA_MAX, 1); /* threads of libraries, too, take of this heap */
    all = malloc(BYTES);     /* the heap grows, and nothing of it is touched */
    free(all);
    end = sbrk(0);
    from = before + (PAGE - (uintptr_t)before % PAGE) % PAGE;
    if (from < end)
        madvise(from, (size_t)(end - from), MADV_HUGEPAGE); /* where not, pages are small */
#endif
}

void *xmalloc(size_t bytes)
{
    return or_die(malloc(bytes ? bytes : 1), bytes);
}

void *xcalloc(size_t nr, size_t bytes_each)
{
    return or_die(calloc(nr ? nr : 1, bytes_each ? bytes_each : 1), nr);
}

void *xrealloc(void *old, size_t bytes)
{
    return or_die(realloc(old, bytes ? bytes : 1), bytes);
}

char *xstrdup(const char *text)
{
    return or_die(strdup(text), strlen(text));
}

void *grow(void *array, size_t *cap, size_t need, size_t bytes_each)
{
    size_t want = *cap ? *cap : 8;

    if (need <= *cap)
        return array;
    while (want < need)
        want *= 2;
    if (bytes_each && want > SIZE_MAX / bytes_each)
        or_die(NULL, SIZE_MAX);
    array = xrealloc(array, want * bytes_each);
    *cap = want;
    return array;
}
