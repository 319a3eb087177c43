/* Private to intake/: small matters of text. */
#ifndef KEET_INTAKE_SYNTAX_SPELLING_H
#define KEET_INTAKE_SYNTAX_SPELLING_H

#include "base/arena.h"

#include <stdbool.h>

/* An expression without needless parentheses and factors of one. */
const char *tidy(struct arena *arena, const char *text);

/* A text with a number wherever a name stood as a word. */
const char *with_number(struct arena *arena, const char *text, const char *name, long long value);

const char *with_text(
    struct arena *arena, const char *text, const char *name, const char *other); /* another text */

/* The task language's element type for a type of C, and how many of them one value holds; NULL:
 * none. */
const char *elem_of(const char *type, unsigned *lanes);
unsigned type_bytes(const char *type); /* of one value; 0: unknown */
bool is_real(const char *type);
bool is_integer(const char *type);

#endif
