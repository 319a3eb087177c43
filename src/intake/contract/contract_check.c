/* Owns the check line of a contract that was read twice: from the program as it is, and from the
 * program with smaller numbers. The numbers that differ between the two readings depend on each
 * other. */
#include "base/str.h"
#include "core/task.h"
#include "intake/intake.h"
#include "intake/syntax/tokens.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 96 };

static const char size_line[] = "#pragma keet size   ", head[] = "#pragma keet ";

struct twin { /* a size, with its value in both contracts */
    const char *name;
    int64_t value, small;
};

struct twins {
    struct arena *arena;
    const struct intake *in;
    struct twin sizes[MAX_SIZES];
    unsigned nr, nr_own;           /* twins from nr_own on were plain numbers */
    struct twin others[MAX_SIZES]; /* sizes that only the small contract has */
    unsigned nr_others;
};

static struct twin *find(struct twin *sizes, unsigned nr, const char *name)
{
    for (unsigned i = 0; i < nr; i++)
        if (strcmp(sizes[i].name, name) == 0)
            return &sizes[i];
    return NULL;
}

static bool whole_number(const struct tok *t, int64_t *value)
{
    char *end;

    *value = strtoll(t->text, &end, 0);
    return t->kind == TOK_NUMBER && *end == 0;
}

/* Reads each NAME = NUMBER of the size lines. False: a line has something else, or there are too
 * many. */
static bool read_sizes(
    struct arena *arena, const struct intake *in, struct twin *sizes, unsigned *nr)
{
    *nr = 0;
    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct toks toks;
        const char *text = in->lines[i].pragma;

        if (!str_starts(text, size_line))
            continue;
        if (!toks_lex(&toks, arena, text + strlen(size_line), strlen(text + strlen(size_line))))
            return false;
        for (unsigned t = 0; t < toks.nr; t += 4) {
            struct twin *s = &sizes[*nr];

            if (*nr == MAX_SIZES / 2 || t + 3 > toks.nr || !tok_is(&toks.tok[t + 1], "=") ||
                !whole_number(&toks.tok[t + 2], &s->value) ||
                (t + 3 < toks.nr && !tok_is(&toks.tok[t + 3], ",")))
                return false;
            s->name = toks.tok[t].text;
            s->small = s->value;
            ++*nr;
        }
    }
    return true;
}

/* The number of one word of the small contract. */
static bool small_value(struct twins *w, const struct tok *t, int64_t *value)
{
    const struct twin *other = find(w->others, w->nr_others, t->text);

    if (!other)
        return whole_number(t, value);
    *value = other->value;
    return true;
}

static bool is_taken(const struct twins *w, const char *name)
{
    const size_t len = strlen(name);

    for (unsigned i = 0; i < w->in->nr_lines; i++) {
        const char *text = w->in->lines[i].pragma;

        if (str_find_word(text, text + strlen(text), name, len))
            return true;
    }
    return task_reserves(name);
}

/* A name for a number of this line: data_n, after the array or the kernel `data`. */
static const char *new_name(struct twins *w, const char *pragma)
{
    const char *p = pragma + strlen(head), *from;

    p += strcspn(p, " ");
    from = p += strspn(p, " ");
    p += strcspn(p, " <");
    for (const char *c = from; c < p; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            from = c + 1;
    const char *name = arena_printf(w->arena, "%.*s_n", (int)(p - from), from);

    for (unsigned k = 2; is_taken(w, name) || find(w->sizes, w->nr, name); k++)
        name = arena_printf(w->arena, "%.*s_n%u", (int)(p - from), from, k);
    return name;
}

/* The size with these two numbers, which is made where there is none. NULL: there are too many
 * sizes. */
static const char *name_of(struct twins *w, int64_t value, int64_t small, const char *pragma)
{
    for (unsigned i = 0; i < w->nr; i++)
        if (w->sizes[i].value == value && w->sizes[i].small == small)
            return w->sizes[i].name;
    if (w->nr == MAX_SIZES || small < 1 || value < 1)
        return NULL;
    w->sizes[w->nr] = (struct twin){new_name(w, pragma), value, small};
    return w->sizes[w->nr++].name;
}

/* Token t may differ. What the code may be written for may not: the block, the kernel, the type. */
static bool may_differ(const struct toks *toks, unsigned t)
{
    const unsigned open = toks_find(toks, 0, toks->nr, "<<<");

    if (open == toks->nr) { /* of an array: behind the type, which may have braces */
        const unsigned colon = toks_find(toks, 0, toks->nr, ":");

        return t > colon + 1 &&
               !(tok_is(&toks->tok[colon + 1], "{") && t < toks->tok[colon + 1].match);
    }
    const unsigned close = toks_find(toks, open, toks->nr, ">>>"),
                   grid = toks_find(toks, open + 1, close, ","),
                   block = grid < close ? toks_find(toks, grid + 1, close, ",") : close;

    return t > open && (t <= grid || t >= block);
}

/* Puts names in place of the numbers of a line that differ. False: more than numbers differs. */
static bool merge(struct twins *w, struct intake_line *line, const char *small)
{
    const char *text = line->pragma + strlen(head);
    struct toks a, b;
    struct str out = {0};
    size_t done = 0;
    bool ok = toks_lex(&a, w->arena, text, strlen(text)) &&
              toks_lex(&b, w->arena, small + strlen(head), strlen(small + strlen(head))) &&
              a.nr == b.nr;

    str_add(&out, head);
    for (unsigned t = 0; ok && t < a.nr; t++) {
        const struct tok *x = &a.tok[t], *y = &b.tok[t];
        const struct twin *size = find(w->sizes, w->nr_own, x->text);
        int64_t value, less;

        if (strcmp(x->text, y->text) == 0 && (!size || find(w->others, w->nr_others, y->text)))
            continue;
        if (x->kind == TOK_NUMBER && y->kind == TOK_NUMBER &&
            (strpbrk(x->text, ".eE") || strpbrk(y->text, ".eE")))
            continue; /* real numbers stay */
        ok = small_value(w, y, &less);
        if (!ok || (size && size->small == less))
            continue;
        if (!size && ok && whole_number(x, &value) && value == less)
            continue;
        ok = !size && whole_number(x, &value) && may_differ(&a, t);
        const char *name = ok ? name_of(w, value, less, line->pragma) : NULL;

        ok = name != NULL;
        if (ok) {
            str_add_n(&out, text + done, x->at - done);
            str_add(&out, name);
            done = x->end;
        }
    }
    str_add(&out, text + done);
    if (done > 0) {
        line->pragma = arena_strdup(w->arena, str_text(&out));
        line->array = NULL;
    }
    str_finish(&out);
    return ok;
}

/* True: some twin was a plain number, or several sizes change together. */
static bool hang_together(const struct twins *w)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < w->nr_own; i++)
        nr += w->sizes[i].value != w->sizes[i].small;
    return w->nr > w->nr_own || nr > 1;
}

/* Adds behind the size lines the sizes that were plain numbers, and the check line. */
static void add_lines(
    struct twins *w, struct intake *in, struct intake_line *lines, const char *why)
{
    struct str own = {0}, check = {0};
    unsigned at = 0, nr = 0;
    struct intake_line *all = arena_array(w->arena, in->nr_lines + 2, sizeof(*all));

    for (unsigned i = 0; i < w->nr; i++) {
        str_addf(&check, "%s%s = %" PRId64, i ? ", " : "#pragma keet check  ", w->sizes[i].name,
            w->sizes[i].small);
        if (i >= w->nr_own)
            str_addf(&own, "%s%s = %" PRId64, own.len ? ", " : size_line, w->sizes[i].name,
                w->sizes[i].value);
    }
    while (at < in->nr_lines && str_starts(lines[at].pragma, size_line))
        all[nr++] = lines[at++];
    if (own.len)
        all[nr++] = (struct intake_line){.pragma = str_move(&own, w->arena),
            .from = "numbers that the program computes: they change with those it starts from"};
    all[nr++] =
        (struct intake_line){.pragma = str_move(&check, w->arena), .from = why, .assumed = true};
    while (at < in->nr_lines)
        all[nr++] = lines[at++];
    in->lines = all;
    in->nr_lines = nr;
}

bool intake_add_check(
    struct intake *in, struct arena *arena, const struct intake *small, const char *why)
{
    struct twins *w = arena_alloc(arena, sizeof(*w));
    struct intake_line *lines = arena_array(arena, in->nr_lines + 1, sizeof(*lines));

    *w = (struct twins){.arena = arena, .in = in};
    if (in->nr_lines != small->nr_lines || small->nr_missing ||
        !read_sizes(arena, in, w->sizes, &w->nr) ||
        !read_sizes(arena, small, w->others, &w->nr_others))
        return false;
    w->nr_own = w->nr;
    for (unsigned i = 0; i < w->nr; i++) {
        const struct twin *other = find(w->others, w->nr_others, w->sizes[i].name);

        w->sizes[i].small = other ? other->value : w->sizes[i].value;
    }
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const char *pragma = in->lines[i].pragma, *other = small->lines[i].pragma;

        lines[i] = in->lines[i];
        if (str_starts(pragma, size_line) || str_starts(pragma, "#pragma keet scalar"))
            continue;
        if (!merge(w, &lines[i], other))
            return false;
    }
    if (!hang_together(w))
        return false;
    add_lines(w, in, lines, why);
    return true;
}
