/* Owns predictions: how a note holds one, and its comparison with the profile. */
#include "core/prediction.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "; expected: ";
enum { MOST_WORD = 96 };

const char *prediction_note(struct arena *arena, const char *note, const char *prediction)
{
    return *prediction ? arena_printf(arena, "%s%s%s", note, mark, prediction) : note;
}

/* The first number behind `at` that comes before the next comma, semicolon or letter but for words
 * such as "to"; with "12 -> 8" or "from 12 to 8" the last one. NULL: there is none. */
static const char *number_behind(const char *at, double *value)
{
    const char *end = NULL;

    while (*at && *at != ';' && *at != ',') {
        if (isdigit((unsigned char)*at)) {
            char *stop;

            *value = strtod(at, &stop);
            end = at = stop;
            if (strncmp(at, " ->", 3) != 0 && strncmp(at, "->", 2) != 0 &&
                strncmp(at, " to ", 4) != 0)
                return end;
        } else {
            at++;
        }
    }
    return end;
}

static double unit_ns(const char *at)
{
    at += strspn(at, " ");
    return strncmp(at, "ms", 2) == 0   ? 1e6
           : strncmp(at, "ns", 2) == 0 ? 1
           : strncmp(at, "us", 2) == 0 ? 1e3
           : strncmp(at, "\xc2\xb5s", 3) == 0 || strncmp(at, "\xce\xbcs", 3) == 0
               ? 1e3 /* micro sign, mu */
               : 0;
}

static void add_time(struct str *out, const char *text, const struct candidate *c)
{
    const char *at = strcasestr(text, "time"), *unit;
    double value;

    if (!at || !(unit = number_behind(at, &value)) || unit_ns(unit) <= 0 || value <= 0)
        return;
    str_addf(out, "; came out: time %.4g us (%.2f times)", c->profile.time_ns / 1e3,
        c->profile.time_ns / (value * unit_ns(unit)));
}

static void add_metrics(struct str *out, const char *text, const struct candidate *c)
{
    const struct counters *n = &c->profile.total;
    char word[MOST_WORD];

    for (const char *at = text; *at;) {
        const size_t len =
            strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
        enum metric metric;
        double value;

        if (len == 0) {
            at++;
            continue;
        }
        if (len < sizeof(word)) {
            memcpy(word, at, len);
            word[len] = '\0';
            if (strstr(word, "__") && metric_parse(word, &metric) && counters_has(n, metric) &&
                number_behind(at + len, &value))
                str_addf(out, "%s%s %.4g",
                    strstr(str_text(out), "came out") ? ", " : "; came out: ", word,
                    counters_get(n, metric));
        }
        at += len;
    }
}

const char *prediction_compared(struct arena *arena, const struct candidate *c)
{
    const char *text = c->proposal_note ? strstr(c->proposal_note, mark) : NULL, *result;
    struct str out = {0};

    if (!text || !c->profiled)
        return "";
    text += strlen("; ");
    str_add(&out, text);
    add_time(&out, text, c);
    add_metrics(&out, text, c);
    result = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return result;
}
