/* Owns the check line of a contract that was read twice: from the program as it is, and from the
 * program with smaller numbers. The numbers that differ between the two readings depend on each
 * other. */
#include "base/str.h"
#include "core/task.h"
#include "intake/intake.h"
#include "intake/syntax/spelling.h"
#include "intake/syntax/tokens.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 96 };

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
    for (unsigned i = 0; i < w->in->nr_lines; i++)
        if (spelling_has_word(intake_pragma(w->arena, &w->in->lines[i]), name))
            return true;
    return task_reserves(name);
}

/* A name for a number of this line: data_n, after the array or the kernel `data`. */
static const char *new_name(struct twins *w, const struct intake_line *line)
{
    const char *from = line->name, *end = from + strcspn(from, "<");

    for (const char *c = from; c < end; c++)
        if (!str_word_char(*c))
            from = c + 1;
    const char *name = arena_printf(w->arena, "%.*s_n", (int)(end - from), from);

    for (unsigned k = 2; is_taken(w, name) || find(w->sizes, w->nr, name); k++)
        name = arena_printf(w->arena, "%.*s_n%u", (int)(end - from), from, k);
    return name;
}

/* The size with these two numbers, which is made where there is none. NULL: there are too many
 * sizes. */
static const char *name_of(
    struct twins *w, int64_t value, int64_t small, const struct intake_line *line)
{
    for (unsigned i = 0; i < w->nr; i++)
        if (w->sizes[i].value == value && w->sizes[i].small == small)
            return w->sizes[i].name;
    if (w->nr == MAX_SIZES || small < 1 || value < 1)
        return NULL;
    w->sizes[w->nr] = (struct twin){new_name(w, line), value, small};
    return w->sizes[w->nr++].name;
}

/* Token t of a line's text may differ. What the code may be written for may not: the block, the
 * type. */
static bool may_differ(const struct toks *toks, unsigned t)
{
    if (!tok_is(&toks->tok[0], "<<<")) /* of an array: the type may have braces */
        return t > toks->tok[0].match;
    const unsigned close = toks_find(toks, 0, toks->nr, ">>>"),
                   grid = toks_find(toks, 1, close, ","),
                   block = grid < close ? toks_find(toks, grid + 1, close, ",") : close;

    return t <= grid || t >= block;
}

/* Puts names in place of the numbers of a text that differ. free: all of them may. False: more than
 * numbers differs. */
static bool merge(struct twins *w, const struct intake_line *line, const char **text,
    const char *small, bool free)
{
    struct toks a, b;
    struct str out = {0};
    size_t done = 0;
    bool ok = !*text == !small;

    if (!*text || !small)
        return ok;
    ok = toks_lex(&a, w->arena, *text, strlen(*text)) &&
         toks_lex(&b, w->arena, small, strlen(small)) && a.nr == b.nr;
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
        if (!size && whole_number(x, &value) && value == less)
            continue;
        ok = !size && whole_number(x, &value) && (free || may_differ(&a, t));
        const char *name = ok ? name_of(w, value, less, line) : NULL;

        ok = name != NULL;
        if (ok) {
            str_add_n(&out, *text + done, x->at - done);
            str_add(&out, name);
            done = x->end;
        }
    }
    str_add(&out, *text + done);
    *text = str_move(&out, w->arena);
    return ok;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Merges a line with that of the small contract. */
static bool merge_line(struct twins *w, struct intake_line *line, const struct intake_line *small)
{
    if (line->kind == INTAKE_SIZE || line->kind == INTAKE_SCALAR)
        return true;
    return line->kind == small->kind && same(line->name, small->name) &&
           same(line->role, small->role) && merge(w, line, &line->text, small->text, false) &&
           merge(w, line, &line->contents, small->contents, true);
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
        str_addf(&check, "%s%s = %" PRId64, i ? ", " : "", w->sizes[i].name, w->sizes[i].small);
        if (i >= w->nr_own)
            str_addf(
                &own, "%s%s = %" PRId64, own.len ? ", " : "", w->sizes[i].name, w->sizes[i].value);
    }
    while (at < in->nr_lines && lines[at].kind == INTAKE_SIZE)
        all[nr++] = lines[at++];
    if (own.len)
        all[nr++] = (struct intake_line){.kind = INTAKE_SIZE,
            .text = str_move(&own, w->arena),
            .from = "numbers that the program computes: they change with those it starts from"};
    all[nr++] = (struct intake_line){
        .kind = INTAKE_CHECK, .text = str_move(&check, w->arena), .from = why, .assumed = true};
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
    if (in->nr_lines != small->nr_lines || small->nr_missing || in->nr_sizes > MAX_SIZES / 2)
        return false;
    for (unsigned i = 0; i < small->nr_sizes && i < MAX_SIZES; i++)
        w->others[w->nr_others++] =
            (struct twin){small->sizes[i].name, small->sizes[i].value, small->sizes[i].value};
    for (; w->nr < in->nr_sizes; w->nr++) {
        const struct intake_size *size = &in->sizes[w->nr];
        const struct twin *other = find(w->others, w->nr_others, size->name);

        w->sizes[w->nr] =
            (struct twin){size->name, size->value, other ? other->value : size->value};
    }
    w->nr_own = w->nr;
    for (unsigned i = 0; i < in->nr_lines; i++) {
        lines[i] = in->lines[i];
        if (!merge_line(w, &lines[i], &small->lines[i]))
            return false;
    }
    if (!hang_together(w))
        return false;
    add_lines(w, in, lines, why);
    return true;
}
