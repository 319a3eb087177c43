/* Owns the table of prices: reads it, looks models up in it. */
#include "llm/price.h"

#include "base/file.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN_BYTES = 200 };

struct price_row {
    char pattern[PATTERN_BYTES];
    struct price price;
};

struct price_table {
    struct price_row *rows;
    size_t nr, cap;
};

/* Whether the text reads like 2026-01-31. */
static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";

    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static bool read_row(
    struct price_table *table, const char *line, const char *path, unsigned number, struct err *err)
{
    struct price_row row = {.pattern = ""};
    char date[16] = "", source[2] = "";

    line += strspn(line, " \t\r");
    if (!*line || *line == '#')
        return true;
    const int nr = sscanf(line, "%199s %lf %lf %lf %15s %1s", row.pattern, &row.price.in,
        &row.price.cached, &row.price.out, date, source);
    if (nr < 4 || !(row.price.in >= 0 && row.price.cached >= 0 && row.price.out >= 0))
        return err_set(err,
            "%s:%u: expected PATTERN and three prices (in, cached, out) in dollars per million "
            "tokens, then DATE and SOURCE",
            path, number);
    if (nr < 6 || !is_date(date) || source[0] == '#')
        return err_set(err,
            "%s:%u: expected after the prices the date on which they were looked up (2026-01-31) "
            "and where",
            path, number);
    table->rows = grow(table->rows, &table->cap, table->nr + 1, sizeof(*table->rows));
    table->rows[table->nr++] = row;
    return true;
}

struct price_table *prices_load(const char *path, struct err *err)
{
    struct price_table *table = xcalloc(1, sizeof(*table));
    char *text;
    size_t len;
    unsigned number = 1;
    bool ok = file_read(path, 1 << 20, &text, &len, err);

    if (ok) {
        for (char *at = text; ok && at; number++) {
            char *end = strchr(at, '\n');
            if (end)
                *end = '\0';
            ok = read_row(table, at, path, number, err);
            at = end ? end + 1 : NULL;
        }
        free(text);
    }
    if (ok)
        return table;
    prices_destroy(table);
    return NULL;
}

void prices_destroy(struct price_table *table)
{
    if (table)
        free(table->rows);
    free(table);
}

static bool find(const struct price_table *table, const char *name, struct price *price)
{
    for (size_t i = 0; name && *name && i < table->nr; i++) {
        if (fnmatch(table->rows[i].pattern, name, 0) == 0) {
            *price = table->rows[i].price;
            return true;
        }
    }
    return false;
}

/* The name in a spec: of "openai:gpt-x", or of "http://host/v1#name". */
static const char *name_of(const char *spec)
{
    const char *hash = strrchr(spec, '#'), *colon = strchr(spec, ':');

    return hash ? hash + 1 : colon ? colon + 1 : spec;
}

bool price_find(
    const struct price_table *table, const char *model, const char *spec, struct price *price)
{
    return find(table, model, price) || find(table, spec, price) ||
           find(table, name_of(spec), price);
}

double price_of(const struct price *price, uint64_t in, uint64_t cached, uint64_t out)
{
    const double fresh = in > cached ? (double)(in - cached) : 0;

    return (fresh * price->in + (double)cached * price->cached + (double)out * price->out) * 1e-6;
}
