/* Edits: byte ranges of a text and their replacements, gathered first and applied at once. */
#ifndef KEET_BASE_EDITS_H
#define KEET_BASE_EDITS_H

#include "base/arena.h"

#include <stddef.h>

struct edit {
    unsigned start, end;
    const char *text;
    unsigned order;
};

struct edits {
    struct arena *arena; /* where edits and texts live; set it before the first edit */
    struct edit *items;
    unsigned nr, cap;
};

/* Replace bytes [start, end); start == end inserts. Several inserts at one place keep their order.
 */
void edits_replace(struct edits *edits, unsigned start, unsigned end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void edits_insert(struct edits *edits, unsigned at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The new text, in the arena; NULL when two edits overlap or one lies outside. */
char *edits_apply(struct edits *edits, const char *source, size_t bytes, size_t *new_bytes);

/* The edited slice [start, end) of the source, without the edits that lie outside. For moves that
 * copy a statement with substitutions. */
char *edits_slice(struct edits *edits, const char *source, unsigned start, unsigned end);

#endif
