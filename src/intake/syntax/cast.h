/* Private to intake/: casts in host code, as far as their tokens tell. */
#ifndef KEET_INTAKE_SYNTAX_CAST_H
#define KEET_INTAKE_SYNTAX_CAST_H

#include "intake/syntax/tokens.h"

#include <stdbool.h>

/* The tokens [from, to) can only be a type: `unsigned long`, `const float *`, `std::size_t`. */
bool cast_is_type(const struct toks *toks, unsigned from, unsigned to);

/* Token t is static_cast, reinterpret_cast or const_cast. */
bool cast_is_named(const struct tok *t);

#endif
