/* Owns settings by the kind of request. */
#include "propose/model/by_kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    "design", "improve", "combine", "repair", "parameterise", "episode", "plan", NULL};

const char *by_kind(struct arena *arena, const char *list, const char *kind)
{
    const char *all = NULL;
    size_t len;

    for (const char *at = list ? list : ""; *at; at += len + (at[len] == ',')) {
        const char *equal;

        len = strcspn(at, ",");
        equal = memchr(at, '=', len);
        if (!equal)
            all = arena_strndup(arena, at, len);
        else if ((size_t)(equal - at) == strlen(kind) && strncmp(at, kind, strlen(kind)) == 0)
            return arena_strndup(arena, equal + 1, len - (size_t)(equal + 1 - at));
    }
    return all;
}

static bool is_kind(const char *text, size_t len)
{
    for (unsigned i = 0; kinds[i]; i++)
        if (strlen(kinds[i]) == len && strncmp(kinds[i], text, len) == 0)
            return true;
    return false;
}

static bool is_value(const char *text, size_t len, bool is_number)
{
    char *end;
    double value;

    if (len == 0)
        return false;
    if (is_number) {
        value = strtod(text, &end);
        return isdigit((unsigned char)*text) && end == text + len && value >= 0 && value <= 2;
    }
    for (size_t i = 0; i < len; i++)
        if (!isalpha((unsigned char)text[i]))
            return false;
    return true;
}

bool by_kind_check(const char *list, const char *option, bool is_number, struct err *err)
{
    size_t len;

    for (const char *at = list ? list : ""; *at; at += len + (at[len] == ',')) {
        const char *equal, *value = at;

        len = strcspn(at, ",");
        equal = memchr(at, '=', len);
        if (equal)
            value = equal + 1;
        if ((equal && !is_kind(at, (size_t)(equal - at))) ||
            !is_value(value, len - (size_t)(value - at), is_number))
            return err_set(err,
                "%s %.*s: expected %s for all requests, or kind=VALUE of design, improve, combine, "
                "repair, parameterise, plan, with commas between",
                option, (int)len, at, is_number ? "a number from 0 to 2" : "a word such as high");
    }
    return true;
}
