/* Private to intake/: small matters of text. */
#ifndef KEET_INTAKE_SYNTAX_SPELLING_H
#define KEET_INTAKE_SYNTAX_SPELLING_H

#include "base/arena.h"

#include <stdbool.h>

/* An expression without needless parentheses and factors of one. */
const char *spelling_tidy(struct arena *arena, const char *text);

/* A text with a number wherever a name stood as a word. */
const char *spelling_with_number(
    struct arena *arena, const char *text, const char *name, long long value);

const char *spelling_with_text(
    struct arena *arena, const char *text, const char *name, const char *other); /* another text */

/* The task language's element type for a type of C, and how many of them one value holds; NULL:
 * none. */
const char *spelling_elem(const char *type, unsigned *lanes);

/* The type of C for an element type of the task language, by its name; NULL: there is none. */
const char *spelling_c_type(const char *elem);

unsigned spelling_bytes(const char *type); /* of one value; 0: unknown */
bool spelling_is_null(const char *word);   /* nullptr, NULL, 0 */
bool spelling_is_real(const char *type);
bool spelling_is_integer(const char *type);

#endif
