/* Owns the joining of two changes of one text. */
#include "program/user_program.h"

#include "base/linediff.h"

#include <stdlib.h>
#include <string.h>

/* Lines [from, to) of the base become a text. */
struct merge_hunk {
    size_t from, to;
    struct str text;
};

struct merge_side {
    struct merge_hunk *hunks; /* one more than nr; the last is behind the end */
    size_t nr;
};

static struct merge_side hunks_of(const struct text_lines *base, const struct text_lines *text)
{
    size_t nr, at = 0;
    struct line_step *steps = lines_diff(base, text, &nr);
    struct merge_side side = {calloc(nr + 1, sizeof(*side.hunks)), 0};
    struct merge_hunk *open = NULL;

    for (size_t i = 0; i < nr; i++) {
        if (steps[i].kind == ' ') {
            at = steps[i].old + 1;
            open = NULL;
            continue;
        }
        if (open == NULL) {
            open = &side.hunks[side.nr++];
            open->from = open->to = at;
        }
        if (steps[i].kind == '-') {
            open->to = at = steps[i].old + 1;
        } else {
            str_add_n(&open->text, text->at[steps[i].new_], lines_len(text, steps[i].new_));
            if (open->text.text[open->text.len - 1] != '\n')
                str_add_char(&open->text, '\n');
        }
    }
    free(steps);
    side.hunks[side.nr].from = side.hunks[side.nr].to = base->nr + 1;
    return side;
}

static void finish_side(struct merge_side *side)
{
    for (size_t i = 0; i < side->nr; i++)
        str_finish(&side->hunks[i].text);
    free(side->hunks);
}

static bool same_hunk(const struct merge_hunk *a, const struct merge_hunk *b)
{
    return a->from == b->from && a->to == b->to &&
           strcmp(str_text(&a->text), str_text(&b->text)) == 0;
}

/* False: two hunks overlap. Two insertions at one place stand one behind the other, and what both
 * say stands once. */
static bool join(struct str *out, const struct text_lines *base, const struct merge_side *ours,
    const struct merge_side *theirs)
{
    const struct merge_hunk *a = ours->hunks, *b = theirs->hunks;
    size_t at = 0;

    for (;;) {
        const bool first = a->from < b->from || (a->from == b->from && a->to <= b->to);
        const struct merge_hunk *next = first ? a : b;
        const size_t from = next->from < base->nr ? next->from : base->nr;

        if (next->from < at)
            return false;
        for (; at < from; at++)
            str_add_n(out, base->at[at], lines_len(base, at));
        if (a->from > base->nr && b->from > base->nr)
            return true;
        str_add(out, str_text(&next->text));
        at = next->to;
        if (same_hunk(a, b))
            a++, b++;
        else if (first)
            a++;
        else
            b++;
    }
}

const char *program_merge(
    struct arena *arena, const char *base, const char *ours, const char *theirs)
{
    struct text_lines lines = lines_split(base), a = lines_split(ours), b = lines_split(theirs);
    struct merge_side left = hunks_of(&lines, &a), right = hunks_of(&lines, &b);
    struct str out = {0};
    const char *text = NULL;

    if (join(&out, &lines, &left, &right))
        text = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    finish_side(&left);
    finish_side(&right);
    free(lines.at);
    free(a.at);
    free(b.at);
    return text;
}
