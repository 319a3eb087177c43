/* Owns what keeps a model's text from becoming markup. */
#include "report/escape.h"

#include <math.h>
#include <string.h>

/* The bytes of the UTF-8 character at the start (RFC 3629: shortest forms, no surrogates); 0: there
 * is none. */
static size_t utf8_bytes(const unsigned char *at, size_t len)
{
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

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
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
        const size_t bytes = utf8_bytes((const unsigned char *)text + i, len - i);
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

void escape_json_n(struct str *out, const char *text, size_t len)
{
    str_add_char(out, '"');
    for (size_t i = 0; i < len;) {
        const size_t bytes = utf8_bytes((const unsigned char *)text + i, len - i);
        const char c = text[i];

        if (c == '"' || c == '\\')
            str_addf(out, "\\%c", c);
        else if (c == '\n')
            str_add(out, "\\n");
        else if (c == '\t')
            str_add(out, "\\t");
        else if (c == '<' || c == '>' || c == '&')
            str_addf(out, "\\u%04x", (unsigned)c);
        else if (bytes == 0 || is_control(c))
            str_add(out, "\xef\xbf\xbd");
        else
            str_add_n(out, text + i, bytes);
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
