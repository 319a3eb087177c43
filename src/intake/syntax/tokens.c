/* Owns the tokens of a CUDA file. */
#include "intake/syntax/tokens.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct tok_lexer {
    const char *p, *end, *source;
    unsigned line;
    bool line_start; /* only blanks since the last newline */
    struct arena *arena;
    struct tok *tok;
    size_t nr, cap;
};

static bool starts(const struct tok_lexer *l, const char *text)
{
    size_t nr = strlen(text);

    return (size_t)(l->end - l->p) >= nr && memcmp(l->p, text, nr) == 0;
}

static void step(struct tok_lexer *l)
{
    if (*l->p == '\n') {
        l->line++;
        l->line_start = true;
    }
    l->p++;
}

static void skip_comment(struct tok_lexer *l)
{
    if (starts(l, "//")) {
        while (l->p < l->end && *l->p != '\n')
            step(l);
        return;
    }
    step(l);
    step(l);
    while (l->p < l->end && !starts(l, "*/"))
        step(l);
    for (int i = 0; i < 2 && l->p < l->end; i++)
        step(l);
}

/* Skips a backslash at the end of a line, together with the line's \n or \r\n. */
static bool skip_splice(struct tok_lexer *l)
{
    const unsigned nr = starts(l, "\\\n") ? 2 : starts(l, "\\\r\n") ? 3 : 0;

    for (unsigned i = 0; i < nr; i++)
        step(l);
    return nr > 0;
}

/* Skips to the end of the logical line. A comment that spans lines belongs to the line. */
static void skip_directive(struct tok_lexer *l)
{
    while (l->p < l->end && *l->p != '\n') {
        if (skip_splice(l))
            continue;
        if (starts(l, "/*"))
            skip_comment(l);
        else
            step(l);
    }
}

static void skip_quoted(struct tok_lexer *l, char quote)
{
    step(l);
    while (l->p < l->end && *l->p != quote && *l->p != '\n') {
        if (*l->p == '\\' && l->p + 1 < l->end)
            step(l);
        step(l);
    }
    if (l->p < l->end && *l->p == quote)
        step(l);
}

/* R"x( ... )x": the lexer stands on the quote. */
static void skip_raw(struct tok_lexer *l)
{
    const char *open = memchr(l->p, '(', (size_t)(l->end - l->p));
    size_t nr = open ? (size_t)(open - l->p - 1) : 0;
    char close[24];

    if (!open || nr > 16) {
        skip_quoted(l, '"');
        return;
    }
    close[0] = ')';
    memcpy(close + 1, l->p + 1, nr);
    close[nr + 1] = '"';
    close[nr + 2] = 0;
    while (l->p < l->end && !starts(l, close))
        step(l);
    for (size_t i = 0; i < nr + 2 && l->p < l->end; i++)
        step(l);
}

static bool is_word(char c)
{
    return str_word_char(c) || c == '$' || (unsigned char)c >= 0x80;
}

static enum tok_kind next(struct tok_lexer *l)
{
    static const char *const puncts[] = {"<<<", ">>>", "<<=", ">>=", "...", "::", "->", "++", "--",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "&&", "||", "<<"};
    char c = *l->p;

    if (c == '#' && l->line_start) {
        skip_directive(l);
        return TOK_DIRECTIVE;
    }
    l->line_start = false;
    if (c == '"' || c == '\'') {
        skip_quoted(l, c);
        return c == '"' ? TOK_STRING : TOK_CHAR;
    }
    if (isdigit((unsigned char)c) ||
        (c == '.' && l->p + 1 < l->end && isdigit((unsigned char)l->p[1]))) {
        while (l->p < l->end &&
               (is_word(*l->p) || *l->p == '.' || *l->p == '\'' ||
                   ((*l->p == '+' || *l->p == '-') && strchr("eEpP", l->p[-1]) != NULL)))
            step(l);
        return TOK_NUMBER;
    }
    if (is_word(c)) {
        const char *word = l->p;

        while (l->p < l->end && is_word(*l->p))
            step(l);
        if (l->p < l->end && *l->p == '"' && l->p[-1] == 'R' && l->p - word <= 3) {
            skip_raw(l);
            return TOK_STRING;
        }
        return TOK_NAME;
    }
    for (size_t i = 0; i < ARRAY_SIZE(puncts); i++)
        if (starts(l, puncts[i])) {
            l->p += strlen(puncts[i]);
            return TOK_PUNCT;
        }
    step(l);
    return TOK_PUNCT;
}

enum { MAX_BRANCHES = 64, MAX_ANGLE_TOKENS = 256 };

/* Brackets while they are matched. Each branch of an #if often opens the same bracket, and one
 * token closes them all. These alternatives of an open bracket are chained, and all get that
 * partner. */
struct matcher {
    struct toks *toks;
    unsigned *open, *other; /* by depth; by token: 1 + the alternative of another branch, 0: none */
    unsigned depth;
    struct {
        unsigned depth, most; /* at its #if; the most that its branches so far have left open */
    } branch[MAX_BRANCHES];
    unsigned nr_branches;
};

static void match_directive(struct matcher *m, const char *text)
{
    const char *word = text + 1 + strspn(text + 1, " \t");
    const unsigned at = m->nr_branches - 1;

    if (str_starts(word, "if")) {
        if (m->nr_branches++ < MAX_BRANCHES)
            m->branch[at + 1].depth = m->branch[at + 1].most = m->depth;
    } else if (m->nr_branches == 0 || m->nr_branches > MAX_BRANCHES) {
        m->nr_branches -= m->nr_branches > 0 && str_starts(word, "endif");
    } else if (str_starts(word, "el")) {
        m->branch[at].most = m->depth > m->branch[at].most ? m->depth : m->branch[at].most;
        m->depth = m->branch[at].depth;
    } else if (str_starts(word, "endif")) {
        m->nr_branches--;
        if (m->depth == m->branch[at].depth) /* this branch did not open what an earlier one did */
            m->depth = m->branch[at].most;
    }
}

static void push(struct matcher *m, unsigned i)
{
    /* a bracket that stands there already was opened by an earlier branch */
    for (unsigned b = 0; b < m->nr_branches && b < MAX_BRANCHES; b++)
        if (m->depth >= m->branch[b].depth && m->depth < m->branch[b].most)
            m->other[i] = 1 + m->open[m->depth];
    m->open[m->depth++] = i;
}

/* Finds the partners of brackets. Each kind closes only its own kind; a bracket that does not fit
 * gets no partner. */
static void match_brackets(struct toks *toks)
{
    struct matcher m = {.toks = toks,
        .open = xcalloc(toks->nr + 1, sizeof(*m.open)),
        .other = xcalloc(toks->nr + 1, sizeof(*m.other))};

    for (unsigned i = 0; i < toks->nr; i++) {
        const struct tok *t = &toks->tok[i];

        if (t->kind == TOK_DIRECTIVE)
            match_directive(&m, t->text);
        if (t->kind != TOK_PUNCT || t->end - t->at != 1)
            continue;
        if (strchr("([{", t->text[0])) {
            push(&m, i);
        } else if (strchr(")]}", t->text[0])) {
            char want = t->text[0] == ')' ? '(' : t->text[0] == ']' ? '[' : '{';
            unsigned d = m.depth;

            while (d > 0 && toks->tok[m.open[d - 1]].text[0] != want)
                d--;
            if (d > 0) {
                m.depth = d - 1;
                toks->tok[i].match = m.open[m.depth];
                for (unsigned o = 1 + m.open[m.depth]; o; o = m.other[o - 1])
                    toks->tok[o - 1].match = i;
            }
        }
    }
    free(m.open);
    free(m.other);
}

static unsigned name_hash(const char *name)
{
    unsigned h = 2166136261U;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619U;
    return h;
}

/* Chains the tokens of each name in order. Where two names share a hash, the second one takes the
 * next free place. */
static void chain_names(struct toks *toks, struct arena *arena)
{
    unsigned size = 64;

    while (size < 2 * toks->nr)
        size *= 2;
    unsigned *last = xcalloc(size, sizeof(*last));

    toks->nr_heads = size;
    toks->heads = arena_array(arena, size, sizeof(*toks->heads));
    for (unsigned i = 0; i < toks->nr; i++) {
        if (toks->tok[i].kind != TOK_NAME)
            continue;
        unsigned at = name_hash(toks->tok[i].text) & (size - 1);

        while (
            toks->heads[at] && strcmp(toks->tok[toks->heads[at] - 1].text, toks->tok[i].text) != 0)
            at = (at + 1) & (size - 1);
        if (!toks->heads[at])
            toks->heads[at] = i + 1;
        else
            toks->tok[last[at]].again = i;
        last[at] = i;
    }
    free(last);
}

unsigned toks_name(const struct toks *toks, const char *name, unsigned from)
{
    unsigned at = name_hash(name) & (toks->nr_heads - 1);

    while (toks->heads[at] && strcmp(toks->tok[toks->heads[at] - 1].text, name) != 0)
        at = (at + 1) & (toks->nr_heads - 1);
    if (!toks->heads[at])
        return toks->nr;
    unsigned i = toks->heads[at] - 1;

    while (i < from) {
        i = toks->tok[i].again;
        if (i == 0)
            return toks->nr;
    }
    return i;
}

bool toks_lex(struct toks *toks, struct arena *arena, const char *source, size_t bytes)
{
    struct tok_lexer l = {.p = source,
        .end = source + bytes,
        .source = source,
        .line = 1,
        .line_start = true,
        .arena = arena};
    bool fits = true;

    while (l.p < l.end && fits) {
        if (isspace((unsigned char)*l.p) || *l.p == '\\') {
            step(&l);
        } else if (starts(&l, "//") || starts(&l, "/*")) {
            skip_comment(&l);
        } else {
            const char *from = l.p;
            struct tok t = {.line = l.line, .at = (unsigned)(from - source)};

            t.kind = next(&l);
            t.end = (unsigned)(l.p - source);
            t.text = arena_strndup(arena, from, (size_t)(l.p - from));
            l.tok = grow(l.tok, &l.cap, l.nr + 2, sizeof(*l.tok));
            l.tok[l.nr++] = t;
            fits = l.nr < TOKS_MAX;
        }
    }
    *toks = (struct toks){.source = source, .nr = (unsigned)l.nr};
    toks->tok = arena_array(arena, l.nr + 1, sizeof(*toks->tok));
    if (l.nr)
        memcpy(toks->tok, l.tok, l.nr * sizeof(*l.tok));
    toks->tok[l.nr] = (struct tok){
        .kind = TOK_END, .text = "", .at = (unsigned)bytes, .end = (unsigned)bytes, .line = l.line};
    free(l.tok);
    match_brackets(toks);
    chain_names(toks, arena);
    return fits;
}

bool tok_is(const struct tok *t, const char *text)
{
    return (t->kind == TOK_PUNCT || t->kind == TOK_NAME) && t->text[0] == text[0] &&
           strcmp(t->text, text) == 0;
}

bool toks_is(const struct toks *toks, unsigned i, const char *text)
{
    return tok_is(&toks->tok[i], text);
}

unsigned toks_again(const struct toks *toks, unsigned i, unsigned none)
{
    return toks->tok[i].again ? toks->tok[i].again : none;
}

bool tok_among(const struct tok *t, const char *const *words)
{
    return (t->kind == TOK_PUNCT || t->kind == TOK_NAME) && str_among(t->text, words);
}

bool tok_assigns(const struct tok *t)
{
    static const char *const ops[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "|=", "&=", "^=", "++", "--", NULL};

    return str_among(t->text, ops);
}

/* The `>` of f<a, b>(...), where token i is its `<`; i: token i begins no such list. */
static unsigned past_list(const struct toks *toks, unsigned i, unsigned to)
{
    const bool may = i > 0 && toks_is(toks, i, "<") && toks->tok[i - 1].kind == TOK_NAME;
    const unsigned close = may ? toks_angle(toks, i, to) : 0;

    return close && close + 1 < to && toks_is(toks, close + 1, "(") ? close : i;
}

unsigned toks_find(const struct toks *toks, unsigned from, unsigned to, const char *text)
{
    for (unsigned i = from; i < to; i++) {
        const struct tok *t = &toks->tok[i];

        if (tok_is(t, text))
            return i;
        if (text[0] == ',')
            i = past_list(toks, i, to);
        if (t->match > i && t->match < to)
            i = t->match;
    }
    return to;
}

unsigned toks_angle(const struct toks *toks, unsigned i, unsigned to)
{
    static const char *const ends[] = {";", "{", "}", "&&", "||", "=", "<<<", NULL};
    int depth = 0;

    to = to > i + MAX_ANGLE_TOKENS ? i + MAX_ANGLE_TOKENS : to;
    for (; i < to; i++) {
        const struct tok *t = &toks->tok[i];
        const int step = tok_is(t, "<") ? 1 : tok_is(t, ">") ? -1 : tok_is(t, ">>>") ? -3 : 0;

        depth += step;
        if (depth <= 0)
            return depth == 0 ? i : 0;
        if (step || t->kind == TOK_NAME)
            continue;
        if (t->match > i && t->match < to && !tok_is(t, "{"))
            i = t->match;
        else if (t->kind == TOK_DIRECTIVE || tok_among(t, ends))
            return 0;
    }
    return 0;
}

unsigned toks_before_angles(const struct toks *toks, unsigned end, unsigned from)
{
    int depth = 0;

    for (unsigned i = end; i > from + 1 && toks_is(toks, end - 1, ">"); i--) {
        if (toks_is(toks, i - 1, ")") && toks->tok[i - 1].match > from)
            i = toks->tok[i - 1].match; /* k<(N > 4)> */
        depth += toks_is(toks, i - 1, ">") - toks_is(toks, i - 1, "<");
        if (depth == 0)
            return i - 1;
    }
    return end;
}

const char *toks_text(const struct toks *toks, struct arena *arena, unsigned from, unsigned to)
{
    struct str s = {0};

    for (unsigned i = from; i < to; i++) {
        const struct tok *t = &toks->tok[i];

        if (i > from && is_word(t->text[0]) && is_word(toks->tok[i - 1].text[0]))
            str_add_char(&s, ' ');
        str_add(&s, t->text);
    }
    return str_move(&s, arena);
}

const char *tok_range_text(struct tok_range range, struct arena *arena)
{
    return toks_text(range.toks, arena, range.from, range.to);
}

bool tok_range_same(struct tok_range a, struct tok_range b)
{
    if (a.to - a.from != b.to - b.from)
        return false;
    while (a.from < a.to)
        if (strcmp(a.toks->tok[a.from++].text, b.toks->tok[b.from++].text) != 0)
            return false;
    return true;
}

static bool is_left_out(const struct toks *toks, unsigned i)
{
    return toks->tok[i].kind == TOK_DIRECTIVE || (toks->left_out && toks->left_out[i]);
}

/* The range without the directives at its ends, and without the tokens there that they leave
 * out. */
static struct tok_range trimmed(struct tok_range r)
{
    const struct toks *toks = r.toks;

    while (r.from < r.to && is_left_out(toks, r.from))
        r.from++;
    while (r.from < r.to && is_left_out(toks, r.to - 1))
        r.to--;
    return r;
}

unsigned tok_range_split(struct tok_range range, struct tok_range *parts, unsigned max)
{
    unsigned nr = 0, start = range.from;

    if (range.from >= range.to)
        return 0;
    for (unsigned i = range.from; i <= range.to && nr < max; i++) {
        const struct tok *t = &range.toks->tok[i];

        if (i < range.to && range.toks->left_out && range.toks->left_out[i]) {
            continue;
        } else if (i == range.to || tok_is(t, ",")) {
            parts[nr++] = trimmed((struct tok_range){range.toks, start, i});
            start = i + 1;
        } else if (t->match > i && t->match < range.to) {
            i = t->match;
        } else if (i < range.to) {
            i = past_list(range.toks, i, range.to);
        }
    }
    return nr;
}

unsigned toks_list(const struct toks *toks, unsigned open, struct tok_range *parts, unsigned max)
{
    const unsigned close =
        toks_is(toks, open, "<") ? toks_angle(toks, open, toks->nr) : toks->tok[open].match;

    return close > open ? tok_range_split((struct tok_range){toks, open + 1, close}, parts, max)
                        : 0;
}
