/* An arena: many small allocations, freed together. The run has one, each step has one; what must
 * outlive the step is a row in the store. Memory comes zeroed and 16-byte aligned. */
#ifndef KEET_BASE_ARENA_H
#define KEET_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* NULL is fine */
void arena_reset(struct arena *arena);   /* frees all allocations, keeps the arena */

void *arena_alloc(struct arena *arena, size_t bytes);
void *arena_array(struct arena *arena, size_t nr, size_t bytes_each);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list ap);

#endif
