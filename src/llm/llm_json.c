/* Owns the reading of JSON that others wrote. */
#include "llm/llm_json.h"

#include <ctype.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD";

void utf8_add(struct str *out, const char *bytes, size_t len)
{
    size_t from = 0, at = 0;

    while (at < len) {
        const size_t n = bytes[at] ? str_utf8_bytes(bytes + at, len - at) : 0;
        if (n) {
            at += n;
            continue;
        }
        str_add_n(out, bytes + from, at - from);
        str_add(out, replacement);
        from = ++at;
    }
    str_add_n(out, bytes + from, at - from);
}

char *utf8_repair(struct arena *arena, const char *bytes, size_t len)
{
    struct str out = {0};
    char *copy;

    utf8_add(&out, bytes, len);
    copy = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return copy;
}

/* The four digits of a \u escape, or -1. */
static int escape_value(const char *s, size_t len)
{
    int value = 0;

    if (len < 6 || s[0] != '\\' || s[1] != 'u')
        return -1;
    for (unsigned i = 2; i < 6; i++) {
        const int c = tolower((unsigned char)s[i]);
        if (!isxdigit(c))
            return -1;
        value = value * 16 + (isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return value;
}

static bool is_high(int value)
{
    return value >= 0xD800 && value < 0xDC00;
}

static bool is_low(int value)
{
    return value >= 0xDC00 && value < 0xE000;
}

/* Make the escapes sound and measure the depth, in one pass. False: too deep. */
static bool make_sound(struct str *out, const char *s, size_t len)
{
    unsigned depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < len;) {
        const int value = in_string ? escape_value(s + i, len - i) : -1;
        if (is_high(value) && is_low(escape_value(s + i + 6, len - i - 6))) {
            str_add_n(out, s + i, 12);
            i += 12;
            continue;
        }
        if (is_high(value) || is_low(value) || value == 0) {
            str_add(out, "\\uFFFD");
            i += 6;
            continue;
        }
        if (in_string && s[i] == '\\' && i + 1 < len) {
            str_add_n(out, s + i, 2);
            i += 2;
            continue;
        }
        if (s[i] == '"')
            in_string = !in_string;
        else if (!in_string && (s[i] == '{' || s[i] == '[') && ++depth > JSON_MAX_DEPTH)
            return false;
        else if (!in_string && (s[i] == '}' || s[i] == ']') && depth)
            depth--;
        str_add_char(out, s[i++]);
    }
    return true;
}

json_t *json_from_bytes(const char *bytes, size_t len, const char **why)
{
    struct str utf8 = {0}, sound = {0};
    json_t *root = NULL;
    json_error_t where;

    utf8_add(&utf8, bytes, len);
    *why = "it is nested too deeply";
    if (make_sound(&sound, str_text(&utf8), utf8.len)) {
        root = json_loadb(str_text(&sound), sound.len, 0, &where);
        *why = "it is no JSON, or cut off";
    }
    if (root && !json_is_object(root)) {
        json_decref(root);
        root = NULL;
        *why = "it is no JSON object";
    }
    str_finish(&utf8);
    str_finish(&sound);
    return root;
}

const char *json_text(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

uint64_t json_uint(const json_t *object, const char *member)
{
    const json_int_t value = json_integer_value(json_object_get(object, member));

    return value > 0 ? (uint64_t)value : 0;
}

json_t *json_from_text(const char *text)
{
    struct str repaired = {0};
    json_t *string;

    utf8_add(&repaired, text ? text : "", text ? strlen(text) : 0);
    string = json_stringn(str_text(&repaired), repaired.len);
    str_finish(&repaired);
    return string;
}
