/* Private to ptx: tokens of PTX text. The lexer reads in place; a token's text points into it. */
#ifndef KEET_PTX_LEX_H
#define KEET_PTX_LEX_H

#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,    /* %r1, $L__BB0_2, add, _ */
    TOKEN_DOT,     /* .word, with :: parts (.shared::cta); text is without the first dot */
    TOKEN_INT,     /* value */
    TOKEN_FLOAT32, /* 0f3F800000: the bits in value */
    TOKEN_FLOAT64, /* 0d... or 1.5: the bits of a double in value */
    TOKEN_STRING,  /* text is without the quotes */
    TOKEN_PUNCT,   /* one character: text[0]. << and >> are two */
    TOKEN_BAD      /* text[0] begins nothing */
};

struct token {
    enum token_kind kind;
    const char *text;
    uint32_t len;
    uint32_t line; /* in the PTX text, from 1 */
    uint64_t value;
};

struct ptx_lexer {
    const char *at, *end;
    uint32_t line;
};

void lexer_init(struct ptx_lexer *lexer, const char *text, size_t len);
void lexer_next(struct ptx_lexer *lexer, struct token *token);

#endif
