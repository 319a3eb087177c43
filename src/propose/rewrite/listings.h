/* What the rewriter's child answered, by source: the moves that a source offers, with their texts.
 * So a source is read once, however many of its moves are carried out and however many nodes have
 * it. Private to propose/; one thread at a time. */
#ifndef KEET_PROPOSE_REWRITE_LISTINGS_H
#define KEET_PROPOSE_REWRITE_LISTINGS_H

#include <stddef.h>

struct listings;

struct listings *listings_create(void);
void listings_destroy(struct listings *listings); /* NULL is fine */

/* Keeps an answer, which is of the heap and is taken over. The oldest answers go when there are too
 * many, or too many bytes of them: the last one stays. */
void listings_keep(
    struct listings *listings, const char *source, size_t bytes, char *answer, size_t answer_bytes);

/* The answer on this source, until the next call of listings_keep; NULL: there is none. */
const char *listings_find(
    const struct listings *listings, const char *source, size_t bytes, size_t *answer_bytes);

#endif
