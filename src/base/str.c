/* Owns the bytes of growing strings. */
#include "base/str.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void str_finish(struct str *s)
{
    free(s->text);
    *s = (struct str){0};
}

void str_clear(struct str *s)
{
    s->len = 0;
    if (s->text)
        s->text[0] = '\0';
}

void str_add_n(struct str *s, const char *bytes, size_t len)
{
    s->text = grow(s->text, &s->cap, s->len + len + 1, 1);
    if (len)
        memcpy(s->text + s->len, bytes, len);
    s->len += len;
    s->text[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
    str_add_n(s, text, strlen(text));
}

void str_add_char(struct str *s, char c)
{
    str_add_n(s, &c, 1);
}

void str_vaddf(struct str *s, const char *format, va_list ap)
{
    va_list again;
    int len;

    va_copy(again, ap);
    len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    s->text = grow(s->text, &s->cap, s->len + (size_t)len + 1, 1);
    vsnprintf(s->text + s->len, (size_t)len + 1, format, ap);
    s->len += (size_t)len;
}

void str_addf(struct str *s, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    str_vaddf(s, format, ap);
    va_end(ap);
}

const char *str_text(const struct str *s)
{
    return s->text ? s->text : "";
}

char *str_take(struct str *s)
{
    char *text = s->text ? s->text : xstrdup("");

    *s = (struct str){0};
    return text;
}

bool str_word_char(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool str_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
    const size_t n = strlen(text), m = strlen(suffix);

    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}
