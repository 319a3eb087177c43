/* Owns the comparison of a candidate's contract lines with the original's. Lines are compared as
 * lists of items, without spacing, comments and the spelling of numbers, so that a candidate may
 * write the contract in another way. */
#include "base/str.h"
#include "core/task_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Numbers compare by value (1e3 is 1000); all other tokens by their letters. */
static void add_number(struct str *s, const char **p, const char *end)
{
    const char *from = *p;
    char text[64], *stop;
    size_t len;
    double value;

    while (*p < end && (isalnum((unsigned char)**p) || **p == '.' ||
                           ((**p == '-' || **p == '+') && tolower((unsigned char)(*p)[-1]) == 'e')))
        ++*p;
    len = (size_t)(*p - from);
    if (len >= sizeof(text)) {
        str_add_n(s, from, len);
        return;
    }
    memcpy(text, from, len);
    text[len] = 0;
    value = strtod(text, &stop);
    if (*stop || value > 0x1p53)
        str_add(s, text);
    else
        str_addf(s, "%.17g", value);
}

/* One item without blanks, but for one blank between two words. */
static void normalise(struct str *s, struct cursor item)
{
    bool word = false;

    while (!cursor_done(&item)) {
        const char *from = item.p;
        char c = *item.p;

        if (isdigit((unsigned char)c) ||
            (c == '.' && item.end - item.p > 1 && isdigit((unsigned char)item.p[1]))) {
            if (word)
                str_add_char(s, ' ');
            add_number(s, &item.p, item.end);
            word = true;
        } else if (isalpha((unsigned char)c) || c == '_') {
            if (word)
                str_add_char(s, ' ');
            while (item.p < item.end && (isalnum((unsigned char)*item.p) || *item.p == '_'))
                item.p++;
            str_add_n(s, from, (size_t)(item.p - from));
            word = true;
        } else {
            str_add_char(s, c);
            item.p++;
            word = false;
        }
    }
}

static bool has_text(const struct cursor *c, char wanted)
{
    return memchr(c->p, wanted, (size_t)(c->end - c->p)) != NULL;
}

/* `in B : f32[N]` says the same as `in B : f32[N] = uniform(-1, 1)`. */
static void add_default(struct str *s, const struct pragma *pragma, const struct cursor *line)
{
    const char *colon = memchr(line->p, ':', (size_t)(line->end - line->p));
    struct cursor type;
    const char *name;
    enum elem elem;
    struct err ignored;

    if (strcmp(pragma->keyword, "in") != 0 && strcmp(pragma->keyword, "inout") != 0 &&
        strcmp(pragma->keyword, "symbol") != 0)
        return;
    if (!colon || has_text(line, '='))
        return;
    type = *line;
    type.p = colon + 1;
    type.err = &ignored;
    if (!cursor_name(&type, &name, "a type") || !elem_parse(name, strlen(name), &elem))
        return;
    str_add(s, elem_is_float(elem) ? "=uniform(-1,1)"
               : elem == ELEM_BOOL ? "=integers(0,1)"
                                   : "=integers(0,9)");
}

static bool is_list(const struct pragma *pragma)
{
    return strcmp(pragma->keyword, "size") == 0 || strcmp(pragma->keyword, "check") == 0 ||
           strcmp(pragma->keyword, "tolerance") == 0 || strcmp(pragma->keyword, "work") == 0 ||
           strcmp(pragma->keyword, "fixed") == 0;
}

static bool next_item(const struct pragma *pragma, struct cursor *c, struct str *s)
{
    struct cursor item;

    str_clear(s);
    if (cursor_done(c))
        return false;
    if (!is_list(pragma)) {
        normalise(s, *c);
        add_default(s, pragma, c);
        c->p = c->end;
        return true;
    }
    item = cursor_until(c, ",");
    cursor_take(c, ",");
    normalise(s, item);
    return true;
}

/* Does the line hold the item? */
static bool line_holds(const struct task_lines *lines, const struct pragma *line,
    const char *wanted, struct arena *arena)
{
    struct err ignored;
    struct cursor c = cursor_of(lines, line, arena, &ignored);
    struct str item = {0};
    bool found = false;

    while (!found && next_item(line, &c, &item))
        found = strcmp(str_text(&item), wanted) == 0;
    str_finish(&item);
    return found;
}

/* Every item of `mine` is in `theirs`. On false, c stands at the first that is not. */
static bool line_within(const struct task_reader *r, const struct pragma *mine,
    const struct task_lines *their_lines, const struct pragma *theirs, const char **at)
{
    struct cursor c = cursor_of(r->lines, mine, r->arena, r->err);
    struct str item = {0};
    bool within = true;

    cursor_skip(&c);
    *at = c.p;
    while (within && next_item(mine, &c, &item)) {
        within = line_holds(their_lines, theirs, str_text(&item), r->arena);
        if (within) {
            cursor_skip(&c);
            *at = c.p;
        }
    }
    str_finish(&item);
    return within;
}

static unsigned nr_items(
    const struct task_lines *lines, const struct pragma *p, struct arena *arena)
{
    struct err ignored;
    struct cursor c = cursor_of(lines, p, arena, &ignored);
    struct str item = {0};
    unsigned nr = 0;

    while (next_item(p, &c, &item))
        nr++;
    str_finish(&item);
    return nr;
}

/* The name that a line begins with: it tells which original line was changed. */
static bool same_subject(const struct task_lines *a_lines, const struct pragma *a,
    const struct task_lines *b_lines, const struct pragma *b, struct arena *arena)
{
    struct err ignored;
    struct cursor ca = cursor_of(a_lines, a, arena, &ignored);
    struct cursor cb = cursor_of(b_lines, b, arena, &ignored);
    const char *x, *y;

    return is_list(a) ||
           (cursor_name(&ca, &x, "a name") && cursor_name(&cb, &y, "a name") && strcmp(x, y) == 0);
}

static const char *line_text(const struct pragma *p, struct arena *arena)
{
    const char *from = p->text, *to = p->text + p->len;

    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return arena_strndup(arena, from, to - from > 300 ? 300 : (size_t)(to - from));
}

static bool line_kept(
    const struct task_reader *r, const struct task_lines *original, const struct pragma *mine)
{
    bool whole = strcmp(mine->keyword, "check") == 0; /* the same items, no more and no less */
    const struct pragma *near = NULL;
    struct cursor c = cursor_of(r->lines, mine, r->arena, r->err);
    const char *at = c.p, *here;

    for (unsigned i = 0; i < original->nr; i++) {
        const struct pragma *theirs = &original->pragmas[i];

        if (strcmp(theirs->keyword, mine->keyword) != 0)
            continue;
        if (line_within(r, mine, original, theirs, &here) &&
            (!whole || nr_items(r->lines, mine, r->arena) == nr_items(original, theirs, r->arena)))
            return true;
        if (same_subject(r->lines, mine, original, theirs, r->arena) && !near) {
            near = theirs;
            at = here;
        }
    }
    if (near)
        return cursor_fail(&c, at,
            "the candidate changes the contract: `%s`; expected `%s` as "
            "on line %u of the original",
            line_text(mine, r->arena), line_text(near, r->arena), near->line);
    return cursor_fail(&c, at,
        "the candidate adds to the contract: `%s`; expected only contract "
        "lines of the original",
        line_text(mine, r->arena));
}

bool contract_holds(const struct task_reader *r)
{
    struct task_lines original;
    bool any = false;

    for (unsigned i = 0; i < r->lines->nr; i++)
        any |= statement_find(r->lines->pragmas[i].keyword)->contract;
    if (!any)
        return true;
    if (!task_lines_find(&original, r->arena, r->contract->path, r->contract->source,
            r->contract->source_bytes, r->err))
        return false;
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *mine = &r->lines->pragmas[i];

        if (statement_find(mine->keyword)->contract && !line_kept(r, &original, mine))
            return false;
    }
    return true;
}
