/* Private to intake/: how expressions and types are spelled. */
#ifndef KEET_INTAKE_SYNTAX_SPELLING_H
#define KEET_INTAKE_SYNTAX_SPELLING_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The text with a number in place of each word `name`. */
const char *spelling_with_number(
    struct arena *arena, const char *text, const char *name, long long value);

const char *spelling_with_text(struct arena *arena, const char *text, const char *name,
    const char *other); /* in place of each word `name` */

/* The text has the word, which is no part of a longer one. */
bool spelling_has_word(const char *text, const char *word);

/* The element type of the task language for a type of C, and how many elements one value has in
 * *lanes. NULL: there is none. */
const char *spelling_elem(const char *type, unsigned *lanes);

/* The type of C for an element type of the task language, by its name; NULL: there is none. */
const char *spelling_c_type(const char *elem);

unsigned spelling_bytes(const char *type); /* bytes of one value; 0: not known */
bool spelling_is_real(const char *type);
bool spelling_is_integer(const char *type);

/* ---- number literals ---- */

struct number_literal {
    bool is_real, is_hex;
    bool is_float, is_unsigned, is_long; /* by its suffix */
    double real;                         /* of an integer: the same number */
    uint64_t integer;                    /* 0 where is_real */
};

/* Reads the text of a TOK_NUMBER: decimal, octal, hexadecimal or binary, with digit separators.
 * False: its suffix is none of C's. */
bool literal_read(struct number_literal *literal, const char *text);

/* The type of C that it has: "float", "unsigned int". Longs are "long long". */
const char *literal_type(const struct number_literal *literal);

#endif
