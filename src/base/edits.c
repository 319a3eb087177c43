/* Edits: sort by place, check for overlap, splice. */
#include "base/edits.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void add(struct edits *edits, unsigned start, unsigned end, const char *text)
{
    if (edits->nr == edits->cap) {
        unsigned cap = edits->cap ? 2 * edits->cap : 16;
        struct edit *items = arena_array(edits->arena, cap, sizeof(*items));
        if (edits->nr)
            memcpy(items, edits->items, edits->nr * sizeof(*items));
        edits->items = items;
        edits->cap = cap;
    }
    edits->items[edits->nr] = (struct edit){start, end, text, edits->nr};
    edits->nr++;
}

void edits_replace(struct edits *edits, unsigned start, unsigned end, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(edits, start, end, arena_vprintf(edits->arena, format, ap));
    va_end(ap);
}

void edits_insert(struct edits *edits, unsigned at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add(edits, at, at, arena_vprintf(edits->arena, format, ap));
    va_end(ap);
}

/* By start; at one place inserts come before the replacement that starts there. */
static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if ((x->end == x->start) != (y->end == y->start))
        return x->end == x->start ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static char *splice(
    struct edits *edits, const char *source, unsigned from, unsigned to, size_t *new_bytes)
{
    if (edits->nr)
        qsort(edits->items, edits->nr, sizeof(*edits->items), by_place);
    struct str out = {0};
    unsigned at = from;
    bool good = true;
    for (unsigned i = 0; i < edits->nr && good; i++) {
        const struct edit *e = &edits->items[i];
        if (e->start < from || e->end > to)
            continue;
        good = e->start >= at && e->end >= e->start;
        if (good) {
            str_add_n(&out, source + at, e->start - at);
            str_add(&out, e->text);
            at = e->end;
        }
    }
    char *text = NULL;
    if (good) {
        str_add_n(&out, source + at, to - at);
        text = arena_strndup(edits->arena, str_text(&out), out.len);
        if (new_bytes)
            *new_bytes = out.len;
    }
    str_finish(&out);
    return text;
}

char *edits_apply(struct edits *edits, const char *source, size_t bytes, size_t *new_bytes)
{
    for (unsigned i = 0; i < edits->nr; i++)
        if (edits->items[i].end > bytes)
            return NULL;
    return splice(edits, source, 0, (unsigned)bytes, new_bytes);
}

char *edits_slice(struct edits *edits, const char *source, unsigned start, unsigned end)
{
    return splice(edits, source, start, end, NULL);
}
