/* Owns the reading of PTX text into tokens. */
#include "ptx/lex.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DECIMAL = 63 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

static int digit_of(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

void lexer_init(struct ptx_lexer *lexer, const char *text, size_t len)
{
    *lexer = (struct ptx_lexer){.at = text, .end = text + len, .line = 1};
}

static void skip_to_eol(struct ptx_lexer *lexer)
{
    const char *eol = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));

    lexer->at = eol ? eol : lexer->end;
}

static void skip_comment(struct ptx_lexer *lexer)
{
    lexer->at += 2;
    while (lexer->at < lexer->end) {
        if (*lexer->at == '\n')
            lexer->line++;
        if (*lexer->at == '*' && lexer->end - lexer->at > 1 && lexer->at[1] == '/') {
            lexer->at += 2;
            return;
        }
        lexer->at++;
    }
}

static void skip_blank(struct ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        const char c = *lexer->at;
        const char next = lexer->end - lexer->at > 1 ? lexer->at[1] : 0;
        if (c == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->at++;
        } else if (c == '/' && next == '/') {
            skip_to_eol(lexer);
        } else if (c == '/' && next == '*') {
            skip_comment(lexer);
        } else if (c == '#') { /* a line of the C preprocessor */
            skip_to_eol(lexer);
        } else {
            break;
        }
    }
}

static uint64_t read_digits(struct ptx_lexer *lexer, int base, uint32_t max)
{
    uint64_t value = 0;
    uint32_t nr = 0;

    while (lexer->at < lexer->end && nr < max && digit_of(*lexer->at) < base) {
        value = value * (uint64_t)base + (uint64_t)digit_of(*lexer->at++);
        nr++;
    }
    return value;
}

/* 0f and 0d need exactly 8 and 16 digits to be floats: 0d1 cannot be anything else, but then the
 * text is wrong and the token is bad. */
static void read_hex_float(struct ptx_lexer *lexer, struct token *token, uint32_t digits)
{
    const char *start;

    lexer->at += 2;
    start = lexer->at;
    token->value = read_digits(lexer, 16, digits);
    token->kind = digits == 8 ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
    if (lexer->at - start != (ptrdiff_t)digits)
        token->kind = TOKEN_BAD;
}

static bool looks_decimal_float(const struct ptx_lexer *lexer)
{
    const char *p = lexer->at;

    while (p < lexer->end && is_digit(*p))
        p++;
    if (p >= lexer->end)
        return false;
    if (*p == '.')
        return p + 1 >= lexer->end || !is_name_start(p[1]) || p[1] == 'e' || p[1] == 'E';
    return *p == 'e' || *p == 'E';
}

static void read_decimal_float(struct ptx_lexer *lexer, struct token *token)
{
    char copy[MAX_DECIMAL + 1];
    size_t nr = (size_t)(lexer->end - lexer->at);
    double value;
    char *stop;

    if (nr > MAX_DECIMAL)
        nr = MAX_DECIMAL;
    memcpy(copy, lexer->at, nr);
    copy[nr] = '\0';
    value = strtod(copy, &stop);
    lexer->at += stop - copy;
    memcpy(&token->value, &value, sizeof(value));
    token->kind = stop - copy == MAX_DECIMAL ? TOKEN_BAD : TOKEN_FLOAT64;
}

static void read_number(struct ptx_lexer *lexer, struct token *token)
{
    const char next = lexer->end - lexer->at > 1 ? lexer->at[1] : 0;

    if (*lexer->at == '0' && (next == 'f' || next == 'F')) {
        read_hex_float(lexer, token, 8);
        return;
    }
    if (*lexer->at == '0' && (next == 'd' || next == 'D')) {
        read_hex_float(lexer, token, 16);
        return;
    }
    if (looks_decimal_float(lexer)) {
        read_decimal_float(lexer, token);
        return;
    }
    token->kind = TOKEN_INT;
    if (*lexer->at == '0' && (next == 'x' || next == 'X')) {
        lexer->at += 2;
        token->value = read_digits(lexer, 16, UINT32_MAX);
    } else if (*lexer->at == '0' && (next == 'b' || next == 'B')) {
        lexer->at += 2;
        token->value = read_digits(lexer, 2, UINT32_MAX);
    } else {
        token->value = read_digits(lexer, *lexer->at == '0' ? 8 : 10, UINT32_MAX);
    }
    if (lexer->at < lexer->end && *lexer->at == 'U')
        lexer->at++;
    if (lexer->at < lexer->end && is_name(*lexer->at)) /* 089, 12ab */
        token->kind = TOKEN_BAD;
}

static void read_name(struct ptx_lexer *lexer)
{
    lexer->at++;
    while (lexer->at < lexer->end && is_name(*lexer->at))
        lexer->at++;
}

static void read_dot_word(struct ptx_lexer *lexer)
{
    lexer->at++;
    while (lexer->at < lexer->end) {
        if (is_name(*lexer->at))
            lexer->at++;
        else if (lexer->end - lexer->at > 2 && lexer->at[0] == ':' && lexer->at[1] == ':' &&
                 is_name(lexer->at[2]))
            lexer->at += 2;
        else
            break;
    }
}

static void read_string(struct ptx_lexer *lexer, struct token *token)
{
    token->text = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n') {
        if (*lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n')
            lexer->at++;
        lexer->at++;
    }
    token->len = (uint32_t)(lexer->at - token->text);
    if (lexer->at < lexer->end && *lexer->at == '"') {
        token->kind = TOKEN_STRING;
        lexer->at++;
    }
}

void lexer_next(struct ptx_lexer *lexer, struct token *token)
{
    char c, next;

    skip_blank(lexer);
    *token = (struct token){.kind = TOKEN_END, .text = lexer->at, .line = lexer->line};
    if (lexer->at >= lexer->end)
        return;
    c = *lexer->at;
    next = lexer->end - lexer->at > 1 ? lexer->at[1] : 0;
    token->kind = TOKEN_BAD;
    if (is_name_start(c) || (c == '%' && is_name_start(next))) {
        token->kind = TOKEN_NAME;
        read_name(lexer);
    } else if (is_digit(c)) {
        read_number(lexer, token);
    } else if (c == '.' && is_name(next)) {
        token->kind = TOKEN_DOT;
        read_dot_word(lexer);
        token->text++;
        token->len = (uint32_t)(lexer->at - token->text);
        return;
    } else if (c == '"') {
        read_string(lexer, token);
        return;
    } else {
        if (c && strchr("{}[]()<>,;:+-*/%!~|&^=@?", c))
            token->kind = TOKEN_PUNCT;
        lexer->at++;
    }
    token->len = (uint32_t)(lexer->at - token->text);
}
