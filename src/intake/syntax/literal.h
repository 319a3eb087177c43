/* Private to intake/: number literals of C and C++. */
#ifndef KEET_INTAKE_SYNTAX_LITERAL_H
#define KEET_INTAKE_SYNTAX_LITERAL_H

#include <stdbool.h>
#include <stdint.h>

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
