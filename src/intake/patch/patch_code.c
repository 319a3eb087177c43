/* Owns the device code of a patch: the winner's lines in place of the user's. */
#include "intake/patch/patch_parts.h"

#include "base/linediff.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

struct insert {
    size_t at; /* of the text that was read */
    const char *text;
};

struct merge {
    struct patcher *p;
    struct text_lines old, new_; /* of the device code that was read, of the winner's */
    unsigned nr_device;          /* lines of old; what follows is the contract */
    struct insert *inserts;
    size_t nr_inserts, cap_inserts;
    size_t anchor;         /* after the last line of the user's that was passed */
    bool anchored, spaced; /* spaced: an empty line stood between it and what comes now */
    bool *is_kept;         /* of the user's lines: host code needs it, whatever the winner has */
    struct str head;       /* new lines before the first of them */
};

static bool is_blank(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && strchr(" \t\r\n", text[i]))
        i++;
    return i == len;
}

/* [*from, *to) without blanks at both ends. */
static void trim(const char **from, const char **to)
{
    while (*from < *to && strchr(" \t\r\n", **from))
        ++*from;
    while (*to > *from && strchr(" \t\r\n", (*to)[-1]))
        --*to;
}

static void insert(struct merge *m, size_t at, const char *text)
{
    m->inserts = grow(m->inserts, &m->cap_inserts, m->nr_inserts + 1, sizeof(*m->inserts));
    m->inserts[m->nr_inserts++] = (struct insert){at, text};
}

/* The line of the user's text, from 0, that an old line that is not blank is; READING_NO_LINE. */
static unsigned user_line(const struct merge *m, size_t old)
{
    if (old >= m->nr_device || is_blank(m->old.at[old], lines_len(&m->old, old)))
        return READING_NO_LINE;
    return reading_line(m->p->r, (unsigned)old);
}

static void pass_line(struct merge *m, unsigned line)
{
    if (line == READING_NO_LINE)
        return;
    if (!m->anchored && m->head.len)
        insert(m, patcher_line_at(m->p, line), arena_strdup(m->p->arena, str_text(&m->head)));
    m->anchored = true;
    m->spaced = false;
    m->anchor = patcher_line_at(m->p, line + 1);
}

/* What the device has of a line goes; the rest of it, host code or a comment, stays. */
static bool remove_line(struct merge *m, size_t old, unsigned line)
{
    const struct reading *r = m->p->r;
    const char *from = m->old.at[old], *to = m->old.at[old + 1];
    const size_t at = patcher_line_at(m->p, line), end = patcher_line_at(m->p, line + 1);
    const char *user = r->text + at, *user_end = r->text + end;

    trim(&from, &to);
    trim(&user, &user_end);
    if (user_end - user == to - from && memcmp(user, from, (size_t)(to - from)) == 0)
        return patcher_replace(m->p, at, end, "");
    const char *found = memmem(user, (size_t)(user_end - user), from, (size_t)(to - from));

    if (!found)
        return patcher_refuse(m->p, "%s holds both host code and device code that changes",
            patcher_where(m->p, line + 1));
    const size_t start = (size_t)(found - r->text);
    const char *rest = found + (to - from);

    rest += strspn(rest, " \t");
    if (found == user && rest[0] == '/' && rest[1] == '/') /* the comment was on what goes */
        return patcher_replace(m->p, at, end, "");

    return patcher_replace(m->p, start, start + (size_t)(to - from), "");
}

/* Between two lines of the same declaration that the device keeps. */
static bool inside_device(const struct merge *m, unsigned line)
{
    const struct reading *r = m->p->r;
    const size_t at = patcher_line_at(m->p, line);

    for (unsigned i = 0; i < r->decls.nr; i++) {
        const struct decl *d = &r->decls.decl[i];

        if (d->keep && r->toks.tok[d->from].at < at && r->toks.tok[d->to - 1].at >= at)
            return true;
    }
    return false;
}

/* The user's line that an empty old line within device code is. */
static unsigned empty_line(struct merge *m, size_t old)
{
    const unsigned line =
        old < m->nr_device ? reading_line(m->p->r, (unsigned)old) : READING_NO_LINE;

    if (!is_blank(m->old.at[old], lines_len(&m->old, old)))
        return READING_NO_LINE; /* one of ours */
    m->spaced = true;
    return line != READING_NO_LINE && inside_device(m, line) ? line
                                                             : READING_NO_LINE; /* host code */
}

static void keep_old(struct merge *m, size_t old)
{
    const unsigned line = user_line(m, old);

    pass_line(m, line != READING_NO_LINE ? line : empty_line(m, old));
}

static bool remove_old(struct merge *m, size_t old)
{
    const unsigned line = user_line(m, old);

    if (line != READING_NO_LINE) {
        pass_line(m, line);
        return m->is_kept[line] || remove_line(m, old, line);
    }
    const unsigned empty = empty_line(m, old);

    return empty == READING_NO_LINE || patcher_replace(m->p, patcher_line_at(m->p, empty),
                                           patcher_line_at(m->p, empty + 1), "");
}

static void add_new(struct merge *m, size_t old, size_t new_)
{
    const char *from = m->new_.at[new_], *to = m->new_.at[new_ + 1];
    const char *line = arena_strndup(m->p->arena, from, (size_t)(to - from));

    trim(&from, &to);
    bool comment = to - from >= 2 && memcmp(from, "//", 2) == 0;

    if (old >= m->nr_device && (from == to || comment))
        return; /* around the contract's lines */
    if (!strchr(line, '\n'))
        line = arena_printf(m->p->arena, "%s\n", line);
    if (m->anchored && m->spaced && from < to)
        insert(m, m->anchor, "\n");
    m->spaced = m->spaced && from == to;
    if (m->anchored)
        insert(m, m->anchor, line);
    else
        str_add(&m->head, line);
}

/* ---- what host code needs ---- */

static bool host_uses(const struct reading *r, const char *name, unsigned *line)
{
    for (unsigned i = 0; i < r->decls.nr; i++) {
        const struct decl *d = &r->decls.decl[i];

        for (unsigned t = d->from; !d->keep && t < d->to; t++)
            if (tok_is(&r->toks.tok[t], name)) {
                *line = r->toks.tok[t].line;
                return true;
            }
    }
    return false;
}

/* "#define NAME": NAME; NULL for other directives. */
static const char *defined_name(struct arena *arena, const char *directive)
{
    const char *p = directive + 1 + strspn(directive + 1, " \t");

    if (strncmp(p, "define", 6) != 0)
        return NULL;
    p += 6;
    p += strspn(p, " \t");
    return arena_strndup(arena, p, strcspn(p, " \t(\\\r\n"));
}

/* What a declaration or macro of that name says among decls; NULL: there is none. */
static const char *said(struct arena *arena, const struct decls *decls, const char *name)
{
    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];
        const char *text = decls->toks->tok[d->from].text;
        const char *own = d->kind == DECL_DIRECTIVE ? defined_name(arena, text) : d->name;

        if (own && strcmp(own, name) == 0)
            return toks_text(decls->toks, arena, d->from, d->to);
    }
    return NULL;
}

static void keep_lines(struct merge *m, const struct decl *d)
{
    const struct tok *tok = m->p->r->toks.tok;
    const size_t end = tok[d->to - 1].end;

    for (unsigned line = tok[d->from].line - 1;
         line < m->p->r->nr_lines && patcher_line_at(m->p, line) < end; line++)
        m->is_kept[line] = true;
}

/* Directives stand for both sides; so do constants, types and functions that host code uses too. */
static bool keep_for_host(struct merge *m)
{
    const struct reading *r = m->p->r;
    struct arena *arena = m->p->arena;

    m->is_kept = arena_array(arena, r->nr_lines + 1, sizeof(*m->is_kept));
    for (unsigned i = 0; i < r->decls.nr; i++) {
        const struct decl *d = &r->decls.decl[i];
        const char *text = r->toks.tok[d->from].text, *name = d->name;
        unsigned line;

        if (!d->keep || d->is_kernel || str_starts(text, PATCH_KEPT) ||
            (d->kind == DECL_FUNCTION && !d->is_host))
            continue;
        if (d->kind == DECL_DIRECTIVE && !(name = defined_name(arena, text))) {
            keep_lines(m, d);
            continue;
        }
        if (!*name || !host_uses(r, name, &line))
            continue;
        const char *now = said(arena, &m->p->decls, name);

        if (!now)
            keep_lines(m, d);
        else if (strcmp(now, said(arena, &r->decls, name)) != 0)
            return patcher_refuse(m->p, "the winner changes %s, which host code uses at %s", name,
                patcher_where(m->p, line));
    }
    return true;
}

/* ---- tuning parameters ---- */

static bool has_word(const char *text, const char *word)
{
    const size_t nr = strlen(word);

    for (const char *p = text; (p = strstr(p, word)) != NULL; p += nr)
        if ((p == text || !str_word_char(p[-1])) && !str_word_char(p[nr]))
            return true;
    return false;
}

/* Before the declaration that byte `at` stands in, and before the comment above it. */
static size_t before_declaration(const struct patcher *p, size_t at)
{
    const struct reading *r = p->r;
    const struct tok *tok = r->toks.tok;

    for (unsigned i = 0; i < r->decls.nr; i++) {
        const struct decl *d = &r->decls.decl[i];

        if (d->kind == DECL_DIRECTIVE || tok[d->from].at >= at || tok[d->to - 1].end <= at)
            continue;
        unsigned line = tok[d->from].line - 1, least = 0;

        for (size_t k = 0; d->from && k < tok[d->from - 1].end; k++)
            least += r->text[k] == '\n';
        least += d->from != 0;
        while (line > least) {
            const size_t above = patcher_line_at(p, line - 1);

            if (is_blank(r->text + above, patcher_line_at(p, line) - above))
                break;
            line--;
        }
        return patcher_line_at(p, line);
    }
    return at;
}

/* Constants for the parameters that the new lines use; where the user's text has the name already,
 * the number takes its place. */
static const char *constants(struct merge *m)
{
    const struct plan *plan = m->p->plan;
    struct arena *arena = m->p->arena;
    struct str out = {0};

    for (unsigned t = 0; t < plan->nr_tunes; t++) {
        const char *name = plan->tunes[t].name;
        bool used = false, condition = false, taken = has_word(m->p->r->text, name);

        for (size_t i = 0; i < m->nr_inserts; i++) {
            const char *text = m->inserts[i].text, *hash = text + strspn(text, " \t");

            if (!has_word(text, name) || str_starts(hash, PATCH_KEPT))
                continue;
            used = true;
            condition = condition || (*hash == '#' && !strstr(hash, "pragma"));
            if (taken)
                m->inserts[i].text =
                    with_number(arena, text, name, (long long)plan->tunes[t].value);
        }
        if (used && !taken)
            str_addf(&out, condition ? "#define %s %lld\n" : "constexpr int %s = %lld;\n", name,
                (long long)plan->tunes[t].value);
    }
    if (out.len)
        str_add_char(&out, '\n');
    const char *text = arena_strdup(arena, str_text(&out));

    str_finish(&out);
    return text;
}

static void flush_inserts(struct merge *m)
{
    const char *first = constants(m);
    size_t code = 0; /* the first insert that is no pragma of the task */

    while (code < m->nr_inserts && (str_starts(m->inserts[code].text, PATCH_KEPT) ||
                                       strcmp(m->inserts[code].text, "\n") == 0))
        code++;
    if (code < m->nr_inserts && *first) {
        const size_t at = before_declaration(m->p, m->inserts[code].at);

        patcher_replace(m->p, at, at, first);
    }
    for (size_t i = 0; i < m->nr_inserts; i++)
        patcher_replace(m->p, m->inserts[i].at, m->inserts[i].at, m->inserts[i].text);
}

bool patch_code(struct patcher *p, const char *code)
{
    const struct reading *r = p->r;
    char *old = task_code(r->in.text, strlen(r->in.text));
    struct merge m = {.p = p, .old = lines_split(old), .new_ = lines_split(code)};
    size_t nr, bytes = strlen(r->device.text);
    struct line_step *steps = lines_diff(&m.old, &m.new_, &nr);
    bool ok = keep_for_host(&m);

    while (bytes > 0 && r->device.text[bytes - 1] == '\n')
        bytes--;
    for (size_t i = 0; i < bytes; i++)
        m.nr_device += r->device.text[i] == '\n';
    m.nr_device++;
    for (size_t i = 0; ok && i < nr; i++) {
        if (steps[i].kind == ' ')
            keep_old(&m, steps[i].old);
        else if (steps[i].kind == '-')
            ok = remove_old(&m, steps[i].old);
        else
            add_new(&m, steps[i].old, steps[i].new_);
    }
    if (ok)
        flush_inserts(&m);
    free(steps);
    free(m.inserts);
    str_finish(&m.head);
    free(m.old.at);
    free(m.new_.at);
    free(old);
    return ok && !p->why;
}
