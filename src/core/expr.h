/* Integer expressions of the task language: C's operators and precedence (?: || && | ^ & == != < >
 * <= >= << >> + - * / % unary - ! ~ parentheses), ceil_div(a,b), min(a,b), max(a,b), decimal, hex
 * and 1e6-style integer literals, names. 64-bit; overflow and division by zero are errors. */
#ifndef KEET_CORE_EXPR_H
#define KEET_CORE_EXPR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct expr; /* lives in the arena it was parsed into */

/* A name and its value. */
struct binding {
    const char *name;
    int64_t value;
};

struct env {
    const struct binding *bindings;
    size_t nr;
};

/* Parses all of text[0..len). Errors name the column (from 1) within the text. */
const struct expr *expr_parse(struct arena *arena, const char *text, size_t len, struct err *err);
/* The same, with the error's offset (from 0) in *at and no column in its text. */
const struct expr *expr_parse_at(
    struct arena *arena, const char *text, size_t len, size_t *at, struct err *err);
const struct expr *expr_literal(struct arena *arena, int64_t value);
bool expr_eval(const struct expr *expr, const struct env *env, int64_t *value, struct err *err);
const char *expr_text(const struct expr *expr); /* as it was written, trimmed */
/* The first name that env does not bind, and its offset in the parsed text; NULL when there is
 * none. */
const char *expr_unknown(const struct expr *expr, const struct env *env, size_t *at);
bool expr_uses(const struct expr *expr, const char *name);

/* How an expression is written: as the task language, without blanks and needless parentheses; with
 * cxx as C++, where ceil_div, min and max are operators. */
struct expr_style {
    struct env numbers; /* names that are numbers; what has only numbers is written as one */
    bool cxx;
    /* What is written for an expression or a part of it, which gets here as the task language;
     * NULL: itself. For a name, NULL ends the writing. */
    const char *(*stands_for)(void *context, const char *text, bool is_name);
    void *context;
};

/* False: stands_for gave NULL for a name. */
bool expr_write(const struct expr *expr, const struct expr_style *style, struct str *out);

#endif
