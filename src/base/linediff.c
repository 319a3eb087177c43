/* Owns the comparison of texts by lines. */
#include "base/linediff.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 64 << 20 };

struct text_lines lines_split(const char *text)
{
    struct text_lines lines = {0};
    size_t cap = 0;

    for (;;) {
        lines.at = grow(lines.at, &cap, lines.nr + 2, sizeof(*lines.at));
        lines.at[lines.nr] = text;
        if (!*text)
            return lines;
        lines.nr++;
        text = str_next_line(text);
    }
}

size_t lines_len(const struct text_lines *lines, size_t i)
{
    return (size_t)(lines->at[i + 1] - lines->at[i]);
}

static bool same(const struct text_lines *a, size_t i, const struct text_lines *b, size_t j)
{
    const size_t len = lines_len(a, i);

    return len == lines_len(b, j) && memcmp(a->at[i], b->at[j], len) == 0;
}

/* common[r][c]: the longest common subsequence of lines [head + r, ...) and [head + c, ...), of
 * nr_a and nr_b lines; NULL: too many. */
static unsigned *common_lengths(
    const struct text_lines *a, const struct text_lines *b, size_t head, size_t nr_a, size_t nr_b)
{
    const size_t width = nr_b + 1;

    if (nr_a + 1 > MAX_CELLS / width)
        return NULL;
    unsigned *common = xcalloc((nr_a + 1) * width, sizeof(*common));

    for (size_t r = nr_a; r-- > 0;)
        for (size_t c = nr_b; c-- > 0;) {
            const unsigned *here = &common[r * width + c];

            common[r * width + c] = same(a, head + r, b, head + c) ? here[width + 1] + 1
                                    : here[width] > here[1]        ? here[width]
                                                                   : here[1];
        }
    return common;
}

struct line_step *lines_diff(const struct text_lines *a, const struct text_lines *b, size_t *nr)
{
    struct line_step *steps = xmalloc((a->nr + b->nr + 1) * sizeof(*steps));
    const size_t shorter = a->nr < b->nr ? a->nr : b->nr;
    size_t head = 0, tail = 0, n = 0, i, j;

    while (head < shorter && same(a, head, b, head))
        head++;
    while (tail < shorter - head && same(a, a->nr - 1 - tail, b, b->nr - 1 - tail))
        tail++;
    const size_t end_a = a->nr - tail, end_b = b->nr - tail, width = end_b - head + 1;
    unsigned *common = common_lengths(a, b, head, end_a - head, end_b - head);

    for (i = j = 0; i < head; i++, j++)
        steps[n++] = (struct line_step){' ', i, j};
    while (i < end_a || j < end_b) {
        const size_t here = (i - head) * width + (j - head);

        if (i < end_a && j < end_b && common && same(a, i, b, j))
            steps[n++] = (struct line_step){' ', i++, j++};
        else if (i < end_a && (j == end_b || !common || common[here + width] >= common[here + 1]))
            steps[n++] = (struct line_step){'-', i++, j};
        else
            steps[n++] = (struct line_step){'+', i, j++};
    }
    for (; i < a->nr; i++, j++)
        steps[n++] = (struct line_step){' ', i, j};
    free(common);
    *nr = n;
    return steps;
}
