/* Owns the bytes of growing strings. */
#include "base/str.h"

#include "base/arena.h"
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

void str_add_count(struct str *s, uint64_t nr, const char *noun)
{
    str_addf(s, "%llu %s%s", (unsigned long long)nr, noun, nr == 1 ? "" : "s");
}

void str_add_shell(struct str *s, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:=@%+-";

    if (*word && strspn(word, plain) == strlen(word)) {
        str_add(s, word);
        return;
    }
    str_add_char(s, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            str_add(s, "'\\''");
        else
            str_add_char(s, *word);
    }
    str_add_char(s, '\'');
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

char *str_move(struct str *s, struct arena *arena)
{
    char *text = arena_strdup(arena, str_text(s));

    str_finish(s);
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

bool str_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

const char *str_next_line(const char *at)
{
    const char *end = strchr(at, '\n');

    return end ? end + 1 : at + strlen(at);
}

const char *str_find_word(const char *from, const char *end, const char *word, size_t len)
{
    for (const char *at = from; len > 0 && (size_t)(end - at) >= len; at++) {
        at = memmem(at, (size_t)(end - at), word, len);
        if (!at)
            return NULL;
        if ((at == from || !str_word_char(at[-1])) && (at + len == end || !str_word_char(at[len])))
            return at;
    }
    return NULL;
}

size_t str_utf8_bytes(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text;
    static const struct {
        unsigned char from, to, second_low, second_high;
        size_t bytes;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; len > 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (at[0] < rows[i].from || at[0] > rows[i].to)
            continue;
        if (len < rows[i].bytes)
            return 0;
        if (rows[i].bytes > 1 && (at[1] < rows[i].second_low || at[1] > rows[i].second_high))
            return 0;
        for (size_t k = 2; k < rows[i].bytes; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return rows[i].bytes;
    }
    return 0;
}
