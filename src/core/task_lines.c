/* Owns finding and reading `#pragma keet` lines. */
#include "core/task_lines.h"

#include "base/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk over C++ source that knows comments, strings and raw strings, so that no pragma is found
 * inside them. */
struct source_walk {
    const char *s;
    size_t n, i;
};

static inline bool at(const struct source_walk *w, const char *text)
{
    size_t len = strlen(text);

    if (w->i >= w->n || w->s[w->i] != text[0]) /* nearly always */
        return false;

    return w->n - w->i >= len && memcmp(w->s + w->i, text, len) == 0;
}

static void skip_block_comment(struct source_walk *w)
{
    for (w->i += 2; w->i < w->n && !at(w, "*/"); w->i++)
        ;
    w->i = w->i + 2 < w->n ? w->i + 2 : w->n;
}

static void skip_line_comment(struct source_walk *w)
{
    for (; w->i < w->n && w->s[w->i] != '\n'; w->i++) {
        if (at(w, "\\\r\n"))
            w->i += 2;
        else if (at(w, "\\\n"))
            w->i++;
    }
}

/* A string or character literal ends at its quote, or at the end of the line: digit separators
 * (1'000) and apostrophes in #error text must not swallow the rest of the file. */
static void skip_quoted(struct source_walk *w)
{
    char quote = w->s[w->i++];

    while (w->i < w->n && w->s[w->i] != '\n') {
        char c = w->s[w->i++];

        if (c == quote)
            return;
        if (c == '\\' && w->i < w->n)
            w->i++;
    }
}

static void skip_raw_string(struct source_walk *w)
{
    char close[20] = ")";
    size_t len = 1;

    for (w->i += 2; w->i < w->n && w->s[w->i] != '(' && len < 17; w->i++)
        close[len++] = w->s[w->i];
    close[len++] = '"';
    close[len] = 0;
    while (w->i < w->n && !at(w, close))
        w->i++;
    w->i = w->i + len < w->n ? w->i + len : w->n;
}

static size_t skip_blanks(const char *s, size_t n, size_t i)
{
    while (i < n && (s[i] == ' ' || s[i] == '\t'))
        i++;
    return i;
}

static bool take_word(const char *s, size_t n, size_t *i, const char *word)
{
    size_t len = strlen(word);

    if (n - *i < len || memcmp(s + *i, word, len) != 0 ||
        (n - *i > len && str_word_char(s[*i + len])))
        return false;
    *i += len;
    return true;
}

/* The offset after `# pragma keet`, or 0. */
static size_t pragma_start(const char *s, size_t n, size_t i)
{
    if (i >= n || s[i] != '#')
        return 0;
    i = skip_blanks(s, n, i + 1);
    if (!take_word(s, n, &i, "pragma"))
        return 0;
    i = skip_blanks(s, n, i);
    return take_word(s, n, &i, "keet") ? i : 0;
}

static void blank(char *text, size_t from, size_t to)
{
    memset(text + from, ' ', to - from);
}

/* Copy the logical line from text_at on, comments and continuations blanked. */
static void scan_pragma(struct pragma *p, struct source_walk *w, struct arena *arena)
{
    size_t from, len = 0;
    char *text, *keyword;

    w->i = p->text_at;
    while (w->i < w->n && w->s[w->i] != '\n') {
        if (at(w, "/*"))
            skip_block_comment(w);
        else if (at(w, "//"))
            skip_line_comment(w);
        else if (w->s[w->i] == '"')
            skip_quoted(w);
        else if (at(w, "\\\r\n"))
            w->i += 3;
        else
            w->i += at(w, "\\\n") ? 2 : 1;
    }
    p->end = w->i < w->n ? w->i : w->n;
    p->len = p->end - p->text_at;
    text = arena_strndup(arena, w->s + p->text_at, p->len);
    for (w->i = p->text_at; w->i < p->end;) {
        from = w->i;
        if (at(w, "/*")) {
            skip_block_comment(w);
            blank(text, from - p->text_at, (w->i < p->end ? w->i : p->end) - p->text_at);
        } else if (at(w, "//")) {
            skip_line_comment(w);
            blank(text, from - p->text_at, (w->i < p->end ? w->i : p->end) - p->text_at);
        } else if (w->s[w->i] == '"') {
            skip_quoted(w);
        } else {
            if (isspace((unsigned char)w->s[from]) ||
                (w->s[from] == '\\' && from + 1 < p->end && isspace((unsigned char)w->s[from + 1])))
                text[from - p->text_at] = ' ';
            w->i++;
        }
    }
    w->i = p->end;
    p->text = text;
    p->rest = skip_blanks(text, p->len, 0);
    while (p->rest + len < p->len && str_word_char(text[p->rest + len]))
        len++;
    keyword = arena_strndup(arena, text + p->rest, len);
    p->keyword = keyword;
    p->rest += len;
}

static void position(
    const struct task_lines *lines, size_t offset, unsigned *line, unsigned *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < offset && i < lines->source_bytes; i++) {
        *column += 1;
        if (lines->source[i] == '\n') {
            *line += 1;
            *column = 1;
        }
    }
}

static bool add_pragma(struct task_lines *lines, struct source_walk *w, size_t text_at,
    size_t *counted, unsigned *line, struct arena *arena, struct err *err)
{
    struct pragma *p = &lines->pragmas[lines->nr];

    for (; *counted < w->i; ++*counted)
        *line += w->s[*counted] == '\n';
    if (lines->nr == MAX_PRAGMAS)
        return err_set(
            err, "%s:%u:1: too many pragma lines; expected at most 1024", lines->path, *line);
    lines->nr++;
    p->line = *line;
    p->begin = w->i;
    p->text_at = text_at;
    scan_pragma(p, w, arena);
    return true;
}

bool task_lines_find(struct task_lines *lines, struct arena *arena, const char *path,
    const char *source, size_t source_bytes, struct err *err)
{
    struct source_walk w = {source, source_bytes, 0};
    bool fresh = true; /* only blanks so far on this line */
    size_t counted = 0, text_at;
    unsigned line = 1, column;
    const char *nul = source_bytes ? memchr(source, 0, source_bytes) : NULL;

    *lines = (struct task_lines){path, source, source_bytes, NULL, 0, false};
    if (nul) {
        position(lines, (size_t)(nul - source), &line, &column);
        return err_set(
            err, "%s:%u:%u: the file holds a NUL byte; expected CUDA text", path, line, column);
    }
    lines->pragmas = arena_array(arena, MAX_PRAGMAS, sizeof(*lines->pragmas));
    while (w.i < w.n) {
        const char c = source[w.i];

        if (fresh && c == '#' && (text_at = pragma_start(source, w.n, w.i)) != 0) {
            if (!add_pragma(lines, &w, text_at, &counted, &line, arena, err))
                return false;
        } else if (at(&w, "/*")) {
            skip_block_comment(&w);
            continue; /* a comment before # leaves the line fresh, as in C */
        } else if (at(&w, "//")) {
            skip_line_comment(&w);
        } else if (at(&w, "R\"") && (w.i == 0 || !str_word_char(source[w.i - 1]))) {
            skip_raw_string(&w);
        } else if (c == '"' || c == '\'') {
            skip_quoted(&w);
        } else if (str_word_char(c)) {
            size_t from = w.i;

            while (w.i < w.n && (str_word_char(source[w.i]) || source[w.i] == '\''))
                w.i++;
            if (w.i - from == strlen("__global__") && memcmp(source + from, "__global__", 10) == 0)
                lines->has_global = true;
        } else {
            w.i++;
            fresh = c == '\n' || (fresh && isspace((unsigned char)c));
            continue;
        }
        fresh = false;
    }
    return true;
}

struct cursor cursor_of(const struct task_lines *lines, const struct pragma *pragma,
    struct arena *arena, struct err *err)
{
    struct cursor c = {
        lines, pragma, pragma->text + pragma->rest, pragma->text + pragma->len, arena, err};

    cursor_skip(&c);
    return c;
}

struct cursor cursor_part(const struct cursor *c, const char *from, const char *to)
{
    struct cursor part = *c;

    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    part.p = from;
    part.end = to;
    return part;
}

bool cursor_fail(const struct cursor *c, const char *where, const char *format, ...)
{
    unsigned line, column;
    va_list ap;
    char text[ERR_TEXT_BYTES];

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    position(c->lines, c->pragma->text_at + (size_t)(where - c->pragma->text), &line, &column);
    return err_set(c->err, "%.512s:%u:%u: %.1400s", c->lines->path, line, column, text);
}

void cursor_skip(struct cursor *c)
{
    while (c->p < c->end && isspace((unsigned char)*c->p))
        c->p++;
}

bool cursor_done(struct cursor *c)
{
    cursor_skip(c);
    return c->p == c->end;
}

bool cursor_take(struct cursor *c, const char *text)
{
    size_t len = strlen(text);

    cursor_skip(c);
    if ((size_t)(c->end - c->p) < len || memcmp(c->p, text, len) != 0)
        return false;
    if (str_word_char(text[len - 1]) && (size_t)(c->end - c->p) > len && str_word_char(c->p[len]))
        return false;
    c->p += len;
    return true;
}

bool cursor_expect(struct cursor *c, const char *text, const char *where)
{
    return cursor_take(c, text) || cursor_fail(c, c->p, "%s; expected '%s'", where, text);
}

bool cursor_name(struct cursor *c, const char **name, const char *expected)
{
    const char *from;

    cursor_skip(c);
    from = c->p;
    if (c->p == c->end || !str_word_char(*c->p) || isdigit((unsigned char)*c->p))
        return cursor_fail(c, c->p, "no name here; expected %s", expected);
    while (c->p < c->end && str_word_char(*c->p))
        c->p++;
    if (c->p - from > 128)
        return cursor_fail(c, from, "the name is too long; expected at most 128 characters");
    *name = arena_strndup(c->arena, from, (size_t)(c->p - from));
    return true;
}

bool cursor_end(struct cursor *c, const char *after)
{
    return cursor_done(c) ||
           cursor_fail(c, c->p, "text after %s; expected the end of the line", after);
}

struct cursor cursor_until(struct cursor *c, const char *stop)
{
    const char *from = c->p;
    size_t len = strlen(stop);
    int depth = 0;

    for (; c->p < c->end; c->p++) {
        if (depth == 0 && (size_t)(c->end - c->p) >= len && memcmp(c->p, stop, len) == 0 &&
            (!str_word_char(*stop) ||
                ((c->p == from || !str_word_char(c->p[-1])) &&
                    ((size_t)(c->end - c->p) == len || !str_word_char(c->p[len])))))
            break;
        if (*c->p == '"') {
            for (c->p++; c->p < c->end && *c->p != '"'; c->p++)
                ;
            if (c->p == c->end)
                break;
        }
        if (strchr("([{", *c->p))
            depth++;
        else if (strchr(")]}", *c->p) && depth > 0)
            depth--;
    }
    return cursor_part(c, from, c->p);
}

/* Edits that turn a into b (Levenshtein), for did-you-mean. Names are at most 64 long. */
static size_t distance(const char *a, const char *b)
{
    size_t row[66], n = strlen(b);

    if (n > 64)
        return 99;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t change =
                diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            size_t gap = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

            diagonal = row[j + 1];
            row[j + 1] = change < gap ? change : gap;
        }
    }
    return row[n];
}

bool cursor_unknown(const struct cursor *c, const char *where, const char *name,
    const struct env *env, const char *expected)
{
    const char *near = NULL;
    size_t best = strlen(name) < 3 ? 2 : 3;

    for (size_t i = 0; i < env->nr; i++) {
        size_t d = distance(name, env->bindings[i].name);

        if (d < best && d < strlen(name)) {
            best = d;
            near = env->bindings[i].name;
        }
    }
    if (near)
        return cursor_fail(
            c, where, "unknown name '%s'; expected %s (did you mean '%s'?)", name, expected, near);
    return cursor_fail(c, where, "unknown name '%s'; expected %s", name, expected);
}

bool cursor_expr(struct cursor *c, const struct env *env, const struct expr **expr)
{
    struct err why;
    size_t offset = 0;
    const char *name;
    const struct expr *parsed =
        expr_parse_at(c->arena, c->p, (size_t)(c->end - c->p), &offset, &why);

    if (!parsed)
        return cursor_fail(c, c->p + offset, "%s", why.text);
    name = expr_unknown(parsed, env, &offset);
    if (name)
        return cursor_unknown(c, c->p + offset, name, env, "a size or a tuning parameter");
    c->p = c->end;
    *expr = parsed;
    return true;
}

bool cursor_value(struct cursor *c, const struct env *env, int64_t *value)
{
    const char *from = c->p;
    const struct expr *expr;
    struct err why;

    return cursor_expr(c, env, &expr) &&
           (expr_eval(expr, env, value, &why) || cursor_fail(c, from, "%s", why.text));
}

bool cursor_is_real(const struct cursor *c, double *value)
{
    char text[64], *end;
    size_t len = (size_t)(c->end - c->p);

    if (len == 0 || len >= sizeof(text))
        return false;
    memcpy(text, c->p, len);
    text[len] = 0;
    if (strspn(text, "0123456789.eE+-") != len)
        return false;
    *value = strtod(text, &end);
    return *end == 0 && *value - *value == 0; /* finite */
}

bool cursor_real(struct cursor *c, const struct env *env, double *value)
{
    int64_t whole;

    if (cursor_is_real(c, value)) {
        c->p = c->end;
        return true;
    }
    if (!cursor_value(c, env, &whole))
        return false;
    *value = (double)whole;
    return true;
}
