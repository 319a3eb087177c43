/* Owns the unified diff: longest common subsequence of lines, three lines of context. */
#include "report/report.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3, MAX_CELLS = 64 << 20 };

struct lines {
    const char **at; /* at[i] .. at[i + 1] is line i, newline included */
    size_t nr;
};

static struct lines split(const char *text)
{
    struct lines lines = {0};
    size_t cap = 0;

    for (;;) {
        const char *end = strchr(text, '\n');
        lines.at = grow(lines.at, &cap, lines.nr + 2, sizeof(*lines.at));
        lines.at[lines.nr] = text;
        if (!*text)
            return lines;
        lines.nr++;
        text = end ? end + 1 : text + strlen(text);
    }
}

static size_t line_len(const struct lines *lines, size_t i)
{
    return (size_t)(lines->at[i + 1] - lines->at[i]);
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    const size_t len = line_len(a, i);

    return len == line_len(b, j) && memcmp(a->at[i], b->at[j], len) == 0;
}

/* One step of the edit script: ' ' keeps, '-' takes from old, '+' from new. */
struct edit {
    char kind;
    size_t old, new_;
};

/* common[i][j]: the longest common subsequence of old[i..] and new[j..]. */
static struct edit *edit_script(const struct lines *a, const struct lines *b, size_t *nr)
{
    const size_t width = b->nr + 1;
    struct edit *script = xmalloc((a->nr + b->nr + 1) * sizeof(*script));
    unsigned *common = NULL;
    size_t i = 0, j = 0, n = 0;

    if ((a->nr + 1) * width <= MAX_CELLS) {
        common = xcalloc((a->nr + 1) * width, sizeof(*common));
        for (size_t r = a->nr; r-- > 0;)
            for (size_t c = b->nr; c-- > 0;)
                common[r * width + c] = same(a, r, b, c) ? common[(r + 1) * width + c + 1] + 1
                                        : common[(r + 1) * width + c] > common[r * width + c + 1]
                                            ? common[(r + 1) * width + c]
                                            : common[r * width + c + 1];
    }
    while (i < a->nr || j < b->nr) {
        if (i < a->nr && j < b->nr && same(a, i, b, j))
            script[n++] = (struct edit){' ', i++, j++};
        else if (i < a->nr && (j == b->nr || !common ||
                                  common[(i + 1) * width + j] >= common[i * width + j + 1]))
            script[n++] = (struct edit){'-', i++, j};
        else
            script[n++] = (struct edit){'+', i, j++};
    }
    free(common);
    *nr = n;
    return script;
}

/* The end of the hunk that starts with the change at `from`: changes closer than two contexts
 * belong together. */
static size_t hunk_end(const struct edit *script, size_t nr, size_t from)
{
    size_t last = from;

    for (size_t k = from; k < nr && k - last <= 2 * CONTEXT; k++)
        if (script[k].kind != ' ')
            last = k;
    return last + 1 + CONTEXT < nr ? last + 1 + CONTEXT : nr;
}

static void add_hunk(struct str *out, const struct lines *a, const struct lines *b,
    const struct edit *script, size_t start, size_t end)
{
    size_t nr_old = 0, nr_new = 0;

    for (size_t k = start; k < end; k++) {
        nr_old += script[k].kind != '+';
        nr_new += script[k].kind != '-';
    }
    str_addf(out, "@@ -%zu,%zu +%zu,%zu @@\n", script[start].old + (nr_old > 0), nr_old,
        script[start].new_ + (nr_new > 0), nr_new);
    for (size_t k = start; k < end; k++) {
        const struct edit *e = &script[k];
        const struct lines *from = e->kind == '+' ? b : a;
        const size_t i = e->kind == '+' ? e->new_ : e->old;
        const size_t len = line_len(from, i);

        str_add_char(out, e->kind);
        str_add_n(out, from->at[i], len);
        if (from->at[i][len - 1] != '\n')
            str_add(out, "\n\\ No newline at end of file\n");
    }
}

void report_diff(
    struct str *out, const char *old_name, const char *old, const char *new_name, const char *new_)
{
    const struct lines a = split(old), b = split(new_);
    size_t nr, k = 0;
    struct edit *script = edit_script(&a, &b, &nr);
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
