/* Owns the comparison of what two runs of a program said and wrote. */
#include "program/user_program.h"

#include "base/file.h"
#include "base/linediff.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 60, LEAST_DIGITS = 3 };
#define MOST_OUTPUT_BYTES ((size_t)1 << 30)

/* --- words and numbers --- */

struct text_word {
    const char *at;
    size_t len;
    bool number, whole; /* whole: without point and exponent */
    double value, last; /* last: one unit of its last place */
    unsigned digits;
};

/* Digits behind a letter are part of a word (float4), and so are hexadecimal numbers. */
static bool number_starts(const char *line, const char *at)
{
    const char *digits = at + (*at == '+' || *at == '-');
    const char before = at > line ? at[-1] : ' ';

    digits += *digits == '.';
    if (!isdigit((unsigned char)*digits) || (digits[0] == '0' && (digits[1] | 32) == 'x'))
        return false;
    return !isalnum((unsigned char)before) && before != '_' &&
           (isdigit((unsigned char)*at) || *at == '.' || before != ')');
}

static void read_number(struct text_word *w)
{
    char *end;
    int exponent = 0, decimals = 0;
    bool point = false;

    w->number = w->whole = true;
    w->value = strtod(w->at, &end);
    w->len = (size_t)(end - w->at);
    for (size_t i = 0; i < w->len; i++) {
        const char c = w->at[i];

        if (c == '.')
            point = true;
        else if (isdigit((unsigned char)c))
            decimals += point, w->digits += w->digits > 0 || c != '0';
        else if ((c | 32) == 'e') {
            exponent = atoi(w->at + i + 1);
            w->whole = false;
            break;
        }
    }
    w->whole = w->whole && !point;
    w->last = pow(10, exponent - decimals);
}

/* nan and inf are numbers without digits: they equal themselves. */
static bool read_special(struct text_word *w, const char *line)
{
    static const char *const names[] = {"nan", "inf", "infinity"};
    const char *at = w->at + (*w->at == '-' || *w->at == '+');

    for (unsigned i = 3; i-- > 0;) {
        const size_t len = strlen(names[i]);

        if (strncasecmp(at, names[i], len) != 0 || str_word_char(at[len]) ||
            (w->at > line && str_word_char(w->at[-1])))
            continue;
        w->number = true;
        w->value = i == 0 ? (double)NAN : *w->at == '-' ? -(double)INFINITY : (double)INFINITY;
        w->len = (size_t)(at - w->at) + len;
        return true;
    }
    return false;
}

/* The next word or number of a line at or after `at`; false: there is none. */
static bool next_word(struct text_word *w, const char *line, const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    *w = (struct text_word){.at = at};
    if (at >= end)
        return false;
    if (number_starts(line, at)) {
        read_number(w);
        return true;
    }
    if (read_special(w, line))
        return true;
    do
        at++;
    while (at < end && !isspace((unsigned char)*at) && !number_starts(line, at));
    w->len = (size_t)(at - w->at);
    return true;
}

/* --- times --- */

static bool is_unit(const char *at, const char *end)
{
    static const char *const units[] = {"s", "sec", "secs", "second", "seconds", "ms", "msec",
        "msecs", "us", "usec", "usecs", "ns", "nsec", "min", "minutes", "milliseconds",
        "millisecond", "microseconds", "microsecond", "nanoseconds", "gflops", "gflop", "tflops",
        "mflops", "fps", "hz", "mhz", "ghz", NULL};
    char word[32];
    size_t len = 0;

    while (at < end && strchr(" \t([", *at) != NULL)
        at++;
    while (at + len < end && len < sizeof(word) - 1 &&
           (isalpha((unsigned char)at[len]) || at[len] == '/')) {
        word[len] = (char)tolower((unsigned char)at[len]);
        len++;
    }
    word[len] = '\0';
    return str_among(word, units) || strstr(word, "/s") != NULL;
}

/* Does the text speak of a time or a rate? */
static bool speaks_of_time(const char *at, const char *end)
{
    static const char *const ends[] = {"time", "times", "timing", "elapsed", "duration",
        "bandwidth", "throughput", "speedup", "gflops", "gflop", "tflops", "fps", "took", "latency",
        "seconds", "msec", "usec"};

    while (at < end) {
        size_t len = 0;

        while (at + len < end && isalpha((unsigned char)at[len]))
            len++;
        for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
            const size_t own = strlen(ends[i]);

            if (len >= own && strncasecmp(at + len - own, ends[i], own) == 0)
                return true;
        }
        at += len > 0 ? len : 1;
    }
    return false;
}

static bool speaks_of_error(const char *at, const char *end)
{
    static const char *const parts[] = {"err", "diff", "resid", "deviation", "norm", NULL};

    for (; at < end; at++)
        for (unsigned i = 0; parts[i] != NULL; i++)
            if (strncasecmp(at, parts[i], strlen(parts[i])) == 0)
                return true;
    return false;
}

/* --- two lines --- */

static bool same_number(
    double tolerance, const struct text_word *a, const struct text_word *b, bool is_error)
{
    const double most = fmax(fabs(a->value), fabs(b->value)), off = fabs(a->value - b->value);
    const double last = fmax(a->last, b->last);
    const unsigned digits = a->digits > b->digits ? a->digits : b->digits;

    if (a->whole && b->whole)
        return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
    if (isnan(a->value) || isnan(b->value))
        return isnan(a->value) && isnan(b->value);
    if (isinf(a->value) || isinf(b->value))
        return a->value == b->value;
    return off <= tolerance * most || (is_error && most <= tolerance) ||
           (digits >= LEAST_DIGITS && off <= 1.001 * last);
}

static const char *shown(struct arena *arena, const char *line, size_t len)
{
    while (len > 0 && isspace((unsigned char)line[len - 1]))
        len--;
    return arena_printf(
        arena, "\"%.*s%s\"", len > SHOWN ? SHOWN : (int)len, line, len > SHOWN ? "..." : "");
}

/* The numbers of a line that a second run of the original says otherwise are masked by place. */
static void compare_line(struct program_comparison *c, const char *name, size_t at, const char *a,
    const char *a_end, const char *b, const char *b_end, const char *again, const char *again_end)
{
    const char *label = a;
    struct text_word x, y, z;
    const char *from = a, *to = b, *other = again;

    for (;;) {
        const bool one = next_word(&x, a, from, a_end), two = next_word(&y, b, to, b_end);
        const bool three = again != NULL && next_word(&z, again, other, again_end);
        bool same = one == two && x.number == y.number;

        if (!one && !two)
            return;
        if (same && x.number) {
            if (is_unit(x.at + x.len, a_end) || speaks_of_time(label, x.at) ||
                (three && z.number && (z.len != x.len || memcmp(z.at, x.at, x.len) != 0))) {
                c->nr_masked++;
            } else {
                c->nr_numbers++;
                same = same_number(c->tolerance, &x, &y, speaks_of_error(label, x.at));
            }
            label = x.at + x.len;
        } else if (same) {
            same = (x.len == y.len && memcmp(x.at, y.at, x.len) == 0) ||
                   (three && !z.number && (z.len != x.len || memcmp(z.at, x.at, x.len) != 0));
        }
        if (!same) {
            c->why = arena_printf(c->arena, "%s, line %zu: %s became %s", name, at + 1,
                shown(c->arena, a, (size_t)(a_end - a)), shown(c->arena, b, (size_t)(b_end - b)));
            return;
        }
        from = x.at + x.len;
        to = y.at + y.len;
        other = three ? z.at + z.len : other;
    }
}

void program_compare_text(
    struct program_comparison *c, const char *name, const char *a, const char *b, const char *again)
{
    struct text_lines x = lines_split(a), y = lines_split(b),
                      z = again != NULL ? lines_split(again) : (struct text_lines){0};
    const size_t least = x.nr < y.nr ? x.nr : y.nr;

    for (size_t i = 0; i < least && c->why == NULL; i++) {
        const bool known = again != NULL && i < z.nr;

        compare_line(c, name, i, x.at[i], x.at[i + 1], y.at[i], y.at[i + 1], known ? z.at[i] : NULL,
            known ? z.at[i + 1] : NULL);
        c->nr_lines++;
    }
    if (c->why == NULL && x.nr != y.nr)
        c->why = arena_printf(c->arena, "%s: %zu lines became %zu", name, x.nr, y.nr);
    free(x.at);
    free(y.at);
    free(z.at);
}

/* --- files --- */

static bool is_text(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] < ' ' && strchr("\t\n\r\f\b\033", bytes[i]) == NULL)
            return false;
    return memchr(bytes, '\0', len) == NULL;
}

static double element(const char *bytes, size_t i, bool wide)
{
    double value;
    float narrow;

    if (wide) {
        memcpy(&value, bytes + 8 * i, 8);
        return value;
    }
    memcpy(&narrow, bytes + 4 * i, 4);
    return (double)narrow;
}

/* Words that differ must look like numbers of the size that programs have, in both files. */
static bool same_elements(
    const char *a, const char *b, size_t len, bool wide, double tolerance, unsigned *nr)
{
    const size_t bytes = wide ? 8 : 4;

    if (len % bytes != 0)
        return false;
    for (size_t i = 0; i < len / bytes; i++) {
        const double x = element(a, i, wide), y = element(b, i, wide);
        const double most = fmax(fabs(x), fabs(y));

        if (memcmp(a + bytes * i, b + bytes * i, bytes) == 0)
            continue;
        ++*nr;
        if (!(most < 1e20 && fmin(fabs(x), fabs(y)) > 1e-20 && fabs(x - y) <= tolerance * most))
            return false;
    }
    return true;
}

static void compare_bytes(struct program_comparison *c, const char *name, const char *a,
    size_t a_len, const char *b, size_t b_len)
{
    unsigned nr = 0;

    if (a_len != b_len)
        c->why = arena_printf(c->arena, "%s: %zu bytes became %zu", name, a_len, b_len);
    else if (memcmp(a, b, a_len) != 0 && !same_elements(a, b, a_len, false, c->tolerance, &nr) &&
             !same_elements(a, b, a_len, true, c->tolerance, &nr))
        c->why = arena_printf(c->arena, "%s: its bytes differ", name);
}

void program_compare_files(
    struct program_comparison *c, const char *name, const char *a, const char *b, const char *again)
{
    char *x = NULL, *y = NULL, *z = NULL;
    size_t x_len, y_len, z_len = 0;
    struct err err;

    if (!file_read(a, MOST_OUTPUT_BYTES, &x, &x_len, &err) ||
        !file_read(b, MOST_OUTPUT_BYTES, &y, &y_len, &err)) {
        c->why = arena_printf(c->arena, "%s: %s", name, err.text);
    } else {
        if (again == NULL || !file_read(again, MOST_OUTPUT_BYTES, &z, &z_len, &err))
            z = NULL;
        c->nr_files++;
        if (is_text(x, x_len) && is_text(y, y_len))
            program_compare_text(c, name, x, y, z);
        else if (z == NULL || (z_len == x_len && memcmp(z, x, x_len) == 0))
            compare_bytes(c, name, x, x_len, y, y_len);
        else
            c->why = arena_printf(
                c->arena, "%s: the original itself writes other bytes each time", name);
    }
    free(x);
    free(y);
    free(z);
}
