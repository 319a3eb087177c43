/* Owns the unified diff: three lines of context. */
#include "report/report.h"

#include "base/linediff.h"

#include <stdlib.h>

enum { CONTEXT = 3 };

/* The end of the hunk that starts with the change at `from`. Two changes share a hunk when fewer
 * lines than two contexts lie between them. */
static size_t hunk_end(const struct line_step *script, size_t nr, size_t from)
{
    size_t last = from;

    for (size_t k = from; k < nr && k - last <= 2 * CONTEXT; k++)
        if (script[k].kind != ' ')
            last = k;
    return last + 1 + CONTEXT < nr ? last + 1 + CONTEXT : nr;
}

static void add_hunk(struct str *out, const struct text_lines *a, const struct text_lines *b,
    const struct line_step *script, size_t start, size_t end)
{
    size_t nr_old = 0, nr_new = 0;

    for (size_t k = start; k < end; k++) {
        nr_old += script[k].kind != '+';
        nr_new += script[k].kind != '-';
    }
    str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", script[start].old + (nr_old > 0), nr_old,
        script[start].new_ + (nr_new > 0), nr_new);
    for (size_t k = start; k < end; k++) {
        const struct line_step *e = &script[k];
        const struct text_lines *from = e->kind == '+' ? b : a;
        const size_t i = e->kind == '+' ? e->new_ : e->old;
        const size_t len = lines_len(from, i);

        str_add_char(out, e->kind);
        str_add_n(out, from->at[i], len);
        if (from->at[i][len - 1] != '\n')
            str_add(out, "\n\\ No newline at end of file\n");
    }
}

void report_diff(
    struct str *out, const char *old_name, const char *old, const char *new_name, const char *new_)
{
    const struct text_lines a = lines_split(old), b = lines_split(new_);
    size_t nr, k = 0;
    struct line_step *script = lines_diff(&a, &b, &nr);
    bool header = false;

    while (k < nr) {
        size_t start, end;

        if (script[k].kind == ' ') {
            k++;
            continue;
        }
        if (!header)
            str_addf(out, "--- %s\n+++ %s\n", old_name, new_name);
        header = true;
        start = k > CONTEXT ? k - CONTEXT : 0;
        end = hunk_end(script, nr, k);
        add_hunk(out, &a, &b, script, start, end);
        k = end;
    }
    free(script);
    free(a.at);
    free(b.at);
}
