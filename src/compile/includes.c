/* Owns a small scanner of C++ that sees the same directives as the compiler: it knows comments,
 * literals and line splices. */
#include "compile/includes.h"

#include "base/mem.h"
#include "compile/standins.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scanner {
    const char *p;
    unsigned line;
    bool line_start; /* only white space and comments so far on this logical line */
    bool is_odd;     /* it is not sure what a compiler sees */
};

/* Past any splices: a backslash, optional blanks, a newline. */
static void skip_splices(struct scanner *s)
{
    while (s->p[0] == '\\') {
        const char *q = s->p + 1;

        while (*q == ' ' || *q == '\t' || *q == '\r')
            q++;
        if (*q != '\n')
            return;
        s->p = q + 1;
        s->line++;
    }
}

static char peek(struct scanner *s)
{
    skip_splices(s);
    return *s->p;
}

static char next(struct scanner *s)
{
    const char c = peek(s);

    if (c) {
        s->p++;
        s->line += c == '\n';
    }
    return c;
}

static bool accept(struct scanner *s, char c)
{
    if (peek(s) != c)
        return false;
    next(s);
    return true;
}

/* After a '/': a comment is skipped, and true returned. A line comment's newline stays. */
static bool skip_comment(struct scanner *s)
{
    if (accept(s, '/')) {
        while (peek(s) && peek(s) != '\n')
            next(s);
        return true;
    }
    if (accept(s, '*')) {
        char c = next(s);
        while (c && !(c == '*' && peek(s) == '/'))
            c = next(s);
        accept(s, '/');
        return true;
    }
    return false;
}

static void skip_blanks(struct scanner *s)
{
    for (;;) {
        const char c = peek(s);

        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            next(s);
        } else if (c == '/') {
            struct scanner ahead = *s;
            next(&ahead);
            if (!skip_comment(&ahead))
                return;
            *s = ahead;
        } else {
            return;
        }
    }
}

/* The newline after an unclosed literal stays: it may come before a directive. */
static void skip_literal(struct scanner *s, char quote)
{
    while (peek(s) && peek(s) != '\n') {
        const char c = next(s);

        if (c == quote)
            return;
        if (c == '\\' && peek(s) != '\n')
            next(s);
    }
}

/* After R": delimiter ( ... )delimiter". No splices in raw strings. With a wrong delimiter,
 * compilers go on in different places: s->is_odd. */
static void skip_raw_literal(struct scanner *s)
{
    enum { MOST_DELIMITER = 16 };
    const size_t delimiter = strcspn(s->p, " ()\\\t\v\f\r\n\"");
    char end[MOST_DELIMITER + 3];
    const char *q;

    if (delimiter > MOST_DELIMITER || s->p[delimiter] != '(') {
        s->is_odd = true;
        return;
    }
    snprintf(end, sizeof(end), ")%.*s\"", (int)delimiter, s->p);
    q = strstr(s->p + delimiter, end);
    s->is_odd = !q;
    q = q ? q + strlen(end) : s->p + strlen(s->p);
    for (; s->p < q; s->p++)
        s->line += *s->p == '\n';
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* An identifier or number; false at anything else. Longer words than fit are cut. */
static bool read_word(struct scanner *s, char *word, size_t bytes)
{
    size_t len = 0;

    while (is_word(peek(s))) {
        const char c = next(s);
        if (len < bytes - 1)
            word[len++] = c;
    }
    word[len] = '\0';
    return len > 0;
}

static bool stays_below(const char *name)
{
    const char *p = name;

    if (p[0] == '/' || strchr(p, '\\'))
        return false;
    for (; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

static bool may_include(const char *name, const char *const *dirs)
{
    if (standin_exists(name))
        return true;
    if (!name[0] || !stays_below(name))
        return false;
    for (; *dirs; dirs++) {
        char path[PATH_MAX];
        struct stat st;

        if (snprintf(path, sizeof(path), "%s/%s", *dirs, name) < (int)sizeof(path) &&
            stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

static bool is_inclusion(const char *word)
{
    static const char *const words[] = {"include", "include_next", "import", "embed", NULL};

    return str_among(word, words);
}

/* Is this only a question whether a file is there that is none of the user's? The compiler looks
 * below our folders and, for a name in quotes, below its working folder, which is / . */
static bool may_ask(const char *name, const char *const *dirs)
{
    char path[PATH_MAX];

    return may_include(name, dirs) ||
           (name[0] && stays_below(name) &&
               snprintf(path, sizeof(path), "/%s", name) < (int)sizeof(path) &&
               access(path, F_OK) != 0);
}

/* __has_include and its like in the rest of a directive's line: such a question, too, tells what is
 * on this machine. */
static bool questions_allowed(struct scanner *s, const char *const *dirs, struct str *what)
{
    char word[32];

    for (skip_blanks(s); peek(s) && peek(s) != '\n'; skip_blanks(s)) {
        struct str name = {0};
        char open, close;
        bool ok;

        if (!read_word(s, word, sizeof(word))) {
            const char c = next(s);

            if (c == '"' || c == '\'')
                skip_literal(s, c);
            continue;
        }
        if (!str_starts(word, "__has_include") && !str_starts(word, "__has_embed"))
            continue;
        skip_blanks(s);
        ok = accept(s, '(');
        skip_blanks(s);
        open = peek(s);
        close = open == '<' ? '>' : '"';
        ok = ok && accept(s, open == '<' ? '<' : '"');
        while (ok && peek(s) && peek(s) != close && peek(s) != '\n')
            str_add_char(&name, next(s));
        ok = ok && accept(s, close) && may_ask(str_text(&name), dirs);
        if (!ok)
            str_addf(
                what, "%s of %c%.200s%c", word, open == '<' ? '<' : '"', str_text(&name), close);
        str_finish(&name);
        if (!ok)
            return false;
    }
    return true;
}

/* After the # of a directive. */
static bool directive_allowed(struct scanner *s, const char *const *dirs, struct str *what)
{
    struct str name = {0};
    char word[32], open, close;
    bool ok;

    skip_blanks(s);
    read_word(s, word, sizeof(word));
    if (!is_inclusion(word))
        return questions_allowed(s, dirs, what);
    skip_blanks(s);
    open = peek(s);
    close = open == '<' ? '>' : '"';
    if (open != '<' && open != '"') {
        str_addf(what, "#%s of a macro", word);
        return false;
    }
    next(s);
    while (peek(s) && peek(s) != close && peek(s) != '\n')
        str_add_char(&name, next(s));
    ok = accept(s, close) && may_include(str_text(&name), dirs);
    if (!ok)
        str_addf(what, "#%s of %c%.200s%c", word, open, str_text(&name), close);
    str_finish(&name);
    return ok;
}

/* #, and its other spellings %: and ??= . */
static bool at_hash(struct scanner *s)
{
    struct scanner ahead = *s;
    const char c = next(&ahead);
    bool hash = c == '#';

    if (c == '%')
        hash = accept(&ahead, ':');
    else if (c == '?')
        hash = accept(&ahead, '?') && accept(&ahead, '=');
    if (hash)
        *s = ahead;
    return hash;
}

/* The rest of a preprocessing number, which takes more than numbers do: 1.R'x is one, and so is
 * 1e+R. */
static void skip_number(struct scanner *s, char last)
{
    for (;; last = next(s)) {
        struct scanner ahead = *s;
        const char c = next(&ahead);

        if (!(is_word(c) || c == '.' || (c == '\'' && is_word(peek(&ahead))) ||
                ((c == '+' || c == '-') && last && strchr("eEpP", last))))
            return;
    }
}

/* One token that is not the start of a directive. */
static void skip_token(struct scanner *s)
{
    static const char *const raw[] = {"R", "uR", "UR", "LR", "u8R", NULL};
    char word[32];
    char c = peek(s);

    if (isdigit((unsigned char)c)) {
        skip_number(s, '\0');
        return;
    }
    if (read_word(s, word, sizeof(word))) {
        if (str_among(word, raw) && accept(s, '"'))
            skip_raw_literal(s);
        return;
    }
    c = next(s);
    if (c == '"' || c == '\'')
        skip_literal(s, c);
}

/* To the next directive, past its # : false at the end of the source. *start is where its # was. */
static bool next_directive(struct scanner *s, const char **start)
{
    for (;;) {
        skip_blanks(s);
        *start = s->p;
        if (!peek(s))
            return false;
        if (accept(s, '\n')) {
            s->line_start = true;
        } else if (s->line_start && at_hash(s)) {
            s->line_start = false;
            return true;
        } else {
            s->line_start = false;
            skip_token(s);
            if (s->is_odd)
                return false;
        }
    }
}

bool includes_allowed(const char *source, const char *const *dirs, unsigned *line, struct str *what)
{
    struct scanner s = {.p = source, .line = 1, .line_start = true};
    const char *start;

    while (next_directive(&s, &start)) {
        *line = s.line;
        if (!directive_allowed(&s, dirs, what))
            return false;
    }
    if (s.is_odd) {
        *line = s.line;
        str_add(what, "a raw string without an end, or with a wrong delimiter,");
    }
    return !s.is_odd;
}

static void define(const struct tune *tunes, unsigned nr_tunes, unsigned next_line, struct str *out)
{
    for (unsigned i = 0; i < nr_tunes; i++)
        str_addf(out, "#define %s %" PRId64 "\n", tunes[i].name, tunes[i].value);
    str_addf(out, "#line %u\n", next_line);
}

void includes_define_tunes(
    const char *source, const struct tune *tunes, unsigned nr_tunes, struct str *out)
{
    struct scanner s = {.p = source, .line = 1, .line_start = true};
    const char *done = source, *start;

    if (!nr_tunes) {
        str_add(out, source);
        return;
    }
    define(tunes, nr_tunes, 1, out);
    while (next_directive(&s, &start)) {
        struct scanner ahead = s;
        char word[32];

        skip_blanks(&ahead);
        read_word(&ahead, word, sizeof(word));
        if (!is_inclusion(word))
            continue;
        str_add_n(out, done, (size_t)(start - done));
        for (unsigned i = 0; i < nr_tunes; i++)
            str_addf(out, "#undef %s\n", tunes[i].name);
        /* The rest of the line, with any comment that reaches over its end. */
        for (skip_blanks(&s); peek(&s) && peek(&s) != '\n'; skip_blanks(&s))
            next(&s);
        str_add_n(out, start, (size_t)(s.p - start));
        str_add_char(out, '\n');
        define(tunes, nr_tunes, s.line + 1, out);
        s.line_start = accept(&s, '\n');
        done = s.p;
    }
    str_add(out, done);
}
