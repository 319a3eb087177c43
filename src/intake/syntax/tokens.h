/* Private to intake/: C++ with CUDA as tokens. Comments are gone; a preprocessor line,
 * continuations included, is one token. */
#ifndef KEET_INTAKE_SYNTAX_TOKENS_H
#define KEET_INTAKE_SYNTAX_TOKENS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum tok_kind { TOK_END, TOK_NAME, TOK_NUMBER, TOK_STRING, TOK_CHAR, TOK_PUNCT, TOK_DIRECTIVE };

struct tok {
    enum tok_kind kind;
    unsigned at, end; /* bytes of the source */
    unsigned line;    /* from 1 */
    const char *text; /* NUL-terminated */
    unsigned match;   /* of a bracket: the index of its partner; 0: none */
    unsigned again;   /* of a name: the index of the next token of that text; 0: none */
};

struct toks {
    const char *source;
    struct tok *tok; /* the last one is TOK_END */
    unsigned nr;     /* without it */
    unsigned *heads; /* by hash: 1 + the index of the first name; 0: none */
    unsigned nr_heads;
    const bool *left_out; /* of each token: some #if leaves it out for sure; NULL: not known */
};

enum { TOKS_MAX = 4 << 20 };

/* False when there are more than TOKS_MAX. */
bool toks_lex(struct toks *toks, struct arena *arena, const char *source, size_t bytes);

bool tok_is(const struct tok *t, const char *text);
bool tok_among(const struct tok *t, const char *const *words); /* NULL stands after the last */
bool tok_assigns(const struct tok *t);                         /* =, += and its kin, ++, -- */
/* The first token from `from` on that is this name; nr: none. The next one is tok.again. */
unsigned toks_name(const struct toks *toks, const char *name, unsigned from);
/* Of a range without its end: the index of the first token that reads text outside of all brackets;
 * `to` when there is none. */
unsigned toks_find(const struct toks *toks, unsigned from, unsigned to, const char *text);
/* The `>` that closes the `<` at token i; 0: it is no list of template arguments. */
unsigned toks_angle(const struct toks *toks, unsigned i, unsigned to);
/* template <> int f<3>(...): with `end` at the (, the token behind f; `end` where no such list is
 * before it. */
unsigned toks_before_angles(const struct toks *toks, unsigned end, unsigned from);
/* Tokens [from, to) as text, one blank between words. */
const char *toks_text(const struct toks *toks, struct arena *arena, unsigned from, unsigned to);

struct tok_range { /* tokens [from, to) */
    const struct toks *toks;
    unsigned from, to;
};

/* A range split at its outermost commas. Parts lack the directives at their ends. Returns how many
 * there are, at most max. */
unsigned tok_range_split(struct tok_range range, struct tok_range *parts, unsigned max);

#endif
