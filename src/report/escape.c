/* Owns the escaping that keeps a model's text from becoming markup. */
#include "report/escape.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const char *html_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static bool is_control(char c)
{
    const unsigned char u = (unsigned char)c;

    return (u < 32 && c != '\n' && c != '\t') || u == 127;
}

void escape_html_n(struct str *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        const size_t bytes = str_utf8_bytes(text + i, len - i);
        const char *entity = html_entity(text[i]);

        if (entity)
            str_add(out, entity);
        else if (bytes == 0 || is_control(text[i]))
            str_add(out, "\xef\xbf\xbd");
        else
            str_add_n(out, text + i, bytes);
        i += bytes > 0 ? bytes : 1;
    }
}

void escape_html(struct str *out, const char *text)
{
    if (text)
        escape_html_n(out, text, strlen(text));
}

/* The code point of a character that takes `bytes` bytes in UTF-8. */
static uint32_t code_point(const char *text, size_t bytes)
{
    uint32_t c = (unsigned char)text[0] & (bytes == 1 ? 0x7Fu : 0x7Fu >> bytes);

    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | ((unsigned char)text[i] & 0x3Fu);
    return c;
}

static void add_json_escape(struct str *out, uint32_t c)
{
    if (c < 0x10000)
        str_addf(out, "\\u%04x", c);
    else
        str_addf(out, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
            0xDC00 + ((c - 0x10000) & 0x3FF));
}

void escape_json_n(struct str *out, const char *text, size_t len)
{
    str_add_char(out, '"');
    for (size_t i = 0; i < len;) {
        const size_t bytes = str_utf8_bytes(text + i, len - i);
        const char c = text[i];

        if (c == '"' || c == '\\')
            str_addf(out, "\\%c", c);
        else if (c == '\n')
            str_add(out, "\\n");
        else if (c == '\t')
            str_add(out, "\\t");
        else if (bytes == 0 || is_control(c))
            add_json_escape(out, 0xFFFD);
        else if (bytes > 1 || c == '<' || c == '>' || c == '&')
            add_json_escape(out, code_point(text + i, bytes));
        else
            str_add_char(out, c);
        i += bytes > 0 ? bytes : 1;
    }
    str_add_char(out, '"');
}

void escape_json(struct str *out, const char *text)
{
    if (text)
        escape_json_n(out, text, strlen(text));
    else
        str_add(out, "null");
}

void escape_number(struct str *out, double value)
{
    if (isfinite(value))
        str_addf(out, "%.6g", value);
    else
        str_add(out, "null");
}

static unsigned hex_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void escape_base64(struct str *out, const char *hex)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t nr = strlen(hex) / 2;

    for (size_t i = 0; i < nr; i += 3) {
        unsigned bits = 0;

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 |
                   (i + k < nr ? hex_value(hex[2 * (i + k)]) << 4 | hex_value(hex[2 * (i + k) + 1])
                               : 0);
        for (size_t k = 0; k < 4; k++)
            str_add_char(out, i + k > nr ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
}
