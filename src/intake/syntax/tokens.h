/* Private to intake/: CUDA C++ as tokens. Comments are dropped. A preprocessor line with its
 * continuations is one token. */
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
    unsigned match;   /* of a bracket: index of its partner; 0: none */
    unsigned again;   /* of a name: index of the next token of the same text; 0: none */
};

struct toks {
    const char *source;
    struct tok *tok; /* the last one is TOK_END */
    unsigned nr;     /* without TOK_END */
    unsigned *heads; /* by hash of a name: 1 + index of its first token; 0: none */
    unsigned nr_heads;
    const bool *left_out; /* by token: an #if surely leaves it out; NULL: not known */
    /* By token: the last directive above it that leaves it out as far as is known, where every #if
     * takes one of its sides; 0: none. NULL: not known. */
    const unsigned *passed;
};

enum { TOKS_MAX = 4 << 20 };

/* False when there are more than TOKS_MAX. */
bool toks_lex(struct toks *toks, struct arena *arena, const char *source, size_t bytes);

bool tok_is(const struct tok *t, const char *text);
bool toks_is(const struct toks *toks, unsigned i, const char *text); /* token i */
bool tok_among(const struct tok *t, const char *const *words); /* NULL stands after the last */
bool tok_assigns(const struct tok *t);                         /* =, += and its kin, ++, -- */
/* The first token from `from` on that is this name; toks->nr: none. toks_again leads to the
 * next one. */
unsigned toks_name(const struct toks *toks, const char *name, unsigned from);
/* The next token of the same text as name i; `none`: there is none. */
unsigned toks_again(const struct toks *toks, unsigned i, unsigned none);
/* The first token of [from, to) that is `text` and stands in no bracket of the range; `to`:
 * none. */
unsigned toks_find(const struct toks *toks, unsigned from, unsigned to, const char *text);
/* The `>` that closes the `<` at token i; 0: token i begins no list of template arguments. */
unsigned toks_angle(const struct toks *toks, unsigned i, unsigned to);
/* template <> int f<3>(...): `end` is the token `(`, and the token behind f is returned. Where no
 * list of template arguments stands before `end`, that is `end` itself. */
unsigned toks_before_angles(const struct toks *toks, unsigned end, unsigned from);
/* Tokens [from, to) as text, with one blank between words. */
const char *toks_text(const struct toks *toks, struct arena *arena, unsigned from, unsigned to);

struct tok_range { /* tokens [from, to) */
    const struct toks *toks;
    unsigned from, to;
};

const char *tok_range_text(struct tok_range range, struct arena *arena); /* as toks_text */
bool tok_range_same(struct tok_range a, struct tok_range b);             /* token by token */

/* A range split at its outermost commas. Parts lack the directives at their ends. Returns how many
 * there are, at most max. */
unsigned tok_range_split(struct tok_range range, struct tok_range *parts, unsigned max);
/* The same of what stands in the brackets that token `open` begins: ( [ { or <. 0: it begins
 * none. */
unsigned toks_list(const struct toks *toks, unsigned open, struct tok_range *parts, unsigned max);

#endif
