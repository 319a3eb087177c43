/* Owns the device code of a patch: puts the winner's lines in place of the user's. */
#include "intake/patch/patch_parts.h"

#include "base/linediff.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

struct insert {
    size_t at; /* byte of the text that was read */
    const char *text;
};

struct code_merge {
    struct patcher *p;
    struct text_lines old, new_; /* old: of the device code that was read; new_: of the winner's */
    unsigned nr_device;          /* lines of old that are device code; the contract follows */
    struct insert *inserts;
    size_t nr_inserts, cap_inserts;
    size_t anchor;         /* behind the last line of the user that was passed */
    bool anchored, spaced; /* spaced: an empty line stands between it and what comes next */
    bool *is_kept;         /* by line of the user: host code needs it, whatever the winner has */
    struct str head;       /* new lines before the first line of the user */
};

static bool is_blank(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && strchr(" \t\r\n", text[i]))
        i++;
    return i == len;
}

/* Takes the blanks at both ends from [*from, *to). */
static void trim(const char **from, const char **to)
{
    while (*from < *to && strchr(" \t\r\n", **from))
        ++*from;
    while (*to > *from && strchr(" \t\r\n", (*to)[-1]))
        --*to;
}

static void insert(struct code_merge *m, size_t at, const char *text)
{
    m->inserts = grow(m->inserts, &m->cap_inserts, m->nr_inserts + 1, sizeof(*m->inserts));
    m->inserts[m->nr_inserts++] = (struct insert){at, text};
}

/* Which line of the user's text, from 0, an old line is. SOURCE_SET_NO_LINE: the line is blank, or
 * not the user's. */
static unsigned user_line(const struct code_merge *m, size_t old)
{
    if (old >= m->nr_device || is_blank(m->old.at[old], lines_len(&m->old, old)))
        return SOURCE_SET_NO_LINE;
    return source_set_line(m->p->set, (unsigned)old);
}

static void pass_line(struct code_merge *m, unsigned line)
{
    if (line == SOURCE_SET_NO_LINE)
        return;
    if (!m->anchored && m->head.len)
        insert(m, patcher_line_at(m->p, line), arena_strdup(m->p->arena, str_text(&m->head)));
    m->anchored = true;
    m->spaced = false;
    m->anchor = patcher_line_at(m->p, line + 1);
}

/* Removes the device code of a line. The rest of the line stays: host code, or a comment. */
static bool remove_line(struct code_merge *m, size_t old, unsigned line)
{
    const struct source_set *set = m->p->set;
    const char *from = m->old.at[old], *to = m->old.at[old + 1];
    const size_t at = patcher_line_at(m->p, line), end = patcher_line_at(m->p, line + 1);
    const char *user = set->text + at, *user_end = set->text + end;

    trim(&from, &to);
    trim(&user, &user_end);
    if (user_end - user == to - from && memcmp(user, from, (size_t)(to - from)) == 0)
        return patcher_replace(m->p, at, end, "");
    const char *found = memmem(user, (size_t)(user_end - user), from, (size_t)(to - from));

    if (!found)
        return patcher_refuse(m->p, "%s holds both host code and device code that changes",
            patcher_where(m->p, line + 1));
    const size_t start = (size_t)(found - set->text);
    const char *rest = found + (to - from);

    rest += strspn(rest, " \t");
    if (found == user && rest[0] == '/' && rest[1] == '/') /* the comment was on the removed code */
        return patcher_replace(m->p, at, end, "");

    return patcher_replace(m->p, start, start + (size_t)(to - from), "");
}

/* The line stands between two lines of one declaration that the device keeps. */
static bool inside_device(const struct code_merge *m, unsigned line)
{
    const struct source_set *set = m->p->set;
    const size_t at = patcher_line_at(m->p, line);

    for (unsigned i = 0; i < set->decls.nr; i++) {
        const struct decl *d = &set->decls.decl[i];

        if (d->keep && set->toks.tok[d->from].at < at && set->toks.tok[d->to - 1].at >= at)
            return true;
    }
    return false;
}

/* Which line of the user an empty old line inside of device code is; SOURCE_SET_NO_LINE: none. */
static unsigned empty_line(struct code_merge *m, size_t old)
{
    const unsigned line =
        old < m->nr_device ? source_set_line(m->p->set, (unsigned)old) : SOURCE_SET_NO_LINE;

    if (!is_blank(m->old.at[old], lines_len(&m->old, old)))
        return SOURCE_SET_NO_LINE; /* the line is not the user's */
    m->spaced = true;
    return line != SOURCE_SET_NO_LINE && inside_device(m, line)
               ? line
               : SOURCE_SET_NO_LINE; /* host code */
}

static void keep_old(struct code_merge *m, size_t old)
{
    const unsigned line = user_line(m, old);

    pass_line(m, line != SOURCE_SET_NO_LINE ? line : empty_line(m, old));
}

static bool remove_old(struct code_merge *m, size_t old)
{
    const unsigned line = user_line(m, old);

    if (line != SOURCE_SET_NO_LINE) {
        pass_line(m, line);
        return m->is_kept[line] || remove_line(m, old, line);
    }
    const unsigned empty = empty_line(m, old);

    return empty == SOURCE_SET_NO_LINE || patcher_replace(m->p, patcher_line_at(m->p, empty),
                                              patcher_line_at(m->p, empty + 1), "");
}

static void add_new(struct code_merge *m, size_t old, size_t new_)
{
    const char *from = m->new_.at[new_], *to = m->new_.at[new_ + 1];
    const char *line = arena_strndup(m->p->arena, from, (size_t)(to - from));

    trim(&from, &to);
    bool comment = to - from >= 2 && memcmp(from, "//", 2) == 0;

    if (old >= m->nr_device && (from == to || comment))
        return; /* empty lines around the contract */
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

static bool host_uses(const struct source_set *set, const char *name, unsigned *line)
{
    for (unsigned i = 0; i < set->decls.nr; i++) {
        const struct decl *d = &set->decls.decl[i];

        for (unsigned t = d->from; !d->keep && t < d->to; t++)
            if (tok_is(&set->toks.tok[t], name)) {
                *line = set->toks.tok[t].line;
                return true;
            }
    }
    return false;
}

/* The text of the declaration or macro of that name; NULL: there is none. */
static const char *said(struct arena *arena, const struct decls *decls, const char *name)
{
    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];
        const char *text = decls->toks->tok[d->from].text;
        const char *own = d->kind == DECL_DIRECTIVE ? decls_defined_name(arena, text) : d->name;

        if (own && strcmp(own, name) == 0)
            return toks_text(decls->toks, arena, d->from, d->to);
    }
    return NULL;
}

static void keep_lines(struct code_merge *m, const struct decl *d)
{
    const struct tok *tok = m->p->set->toks.tok;
    const size_t end = tok[d->to - 1].end;

    for (unsigned line = tok[d->from].line - 1;
         line < m->p->set->nr_lines && patcher_line_at(m->p, line) < end; line++)
        m->is_kept[line] = true;
}

/* Finds the lines that stay for host code: directives, and constants, types and functions that host
 * code uses too. False: p->why. */
static bool keep_for_host(struct code_merge *m)
{
    const struct source_set *set = m->p->set;
    struct arena *arena = m->p->arena;

    m->is_kept = arena_array(arena, set->nr_lines + 1, sizeof(*m->is_kept));
    for (unsigned i = 0; i < set->decls.nr; i++) {
        const struct decl *d = &set->decls.decl[i];
        const char *text = set->toks.tok[d->from].text, *name = d->name;
        unsigned line;

        if (!d->keep || d->is_kernel || str_starts(text, PATCH_KEPT) ||
            (d->kind == DECL_FUNCTION && !d->is_host))
            continue;
        if (d->kind == DECL_DIRECTIVE && !(name = decls_defined_name(arena, text))) {
            keep_lines(m, d);
            continue;
        }
        if (!*name || !host_uses(set, name, &line))
            continue;
        const char *now = said(arena, &m->p->decls, name);

        if (!now)
            keep_lines(m, d);
        else if (strcmp(now, said(arena, &set->decls, name)) != 0)
            return patcher_refuse(m->p, "the winner changes %s, which host code uses at %s", name,
                patcher_where(m->p, line));
    }
    return true;
}

/* ---- tuning parameters ---- */

size_t patcher_before_declaration(const struct patcher *p, size_t at)
{
    const struct source_set *set = p->set;
    const struct tok *tok = set->toks.tok;

    for (unsigned i = 0; i < set->decls.nr; i++) {
        const struct decl *d = &set->decls.decl[i];

        if (d->kind == DECL_DIRECTIVE || tok[d->from].at >= at || tok[d->to - 1].end <= at)
            continue;
        unsigned line = tok[d->from].line - 1, least = 0;

        for (size_t k = 0; d->from && k < tok[d->from - 1].end; k++)
            least += set->text[k] == '\n';
        least += d->from != 0;
        while (line > least) {
            const size_t above = patcher_line_at(p, line - 1);

            if (is_blank(set->text + above, patcher_line_at(p, line) - above))
                break;
            line--;
        }
        return patcher_line_at(p, line);
    }
    return at;
}

/* Constants for the tuning parameters that the new lines use. Where the user's text has such a name
 * already, the number is written in place of the name. */
static const char *constants(struct code_merge *m)
{
    const struct plan *plan = m->p->plan;
    struct arena *arena = m->p->arena;
    struct str out = {0};

    for (unsigned t = 0; t < plan->nr_tunes; t++) {
        const char *name = plan->tunes[t].name;
        bool used = false, condition = false, taken = spelling_has_word(m->p->set->text, name);

        for (size_t i = 0; i < m->nr_inserts; i++) {
            const char *text = m->inserts[i].text, *hash = text + strspn(text, " \t");

            if (!spelling_has_word(text, name) || str_starts(hash, PATCH_KEPT))
                continue;
            used = true;
            condition = condition || (*hash == '#' && !strstr(hash, "pragma"));
            if (taken)
                m->inserts[i].text =
                    spelling_with_number(arena, text, name, (long long)plan->tunes[t].value);
        }
        if (used && !taken)
            str_addf(&out, condition ? "#define %s %lld\n" : "constexpr int %s = %lld;\n", name,
                (long long)plan->tunes[t].value);
    }
    if (out.len)
        str_add_char(&out, '\n');
    return str_move(&out, arena);
}

static void flush_inserts(struct code_merge *m)
{
    const char *first = constants(m);
    size_t code = 0; /* the first insert that is no pragma of the task */

    while (code < m->nr_inserts && (str_starts(m->inserts[code].text, PATCH_KEPT) ||
                                       strcmp(m->inserts[code].text, "\n") == 0))
        code++;
    if (code < m->nr_inserts && *first) {
        const size_t at = patcher_before_declaration(m->p, m->inserts[code].at);

        patcher_replace(m->p, at, at, first);
    }
    for (size_t i = 0; i < m->nr_inserts; i++)
        patcher_replace(m->p, m->inserts[i].at, m->inserts[i].at, m->inserts[i].text);
}

bool patch_code(struct patcher *p, const char *code)
{
    const struct source_set *set = p->set;
    char *old = task_code(set->in.text, strlen(set->in.text));
    struct code_merge m = {.p = p, .old = lines_split(old), .new_ = lines_split(code)};
    size_t nr, bytes = strlen(set->device.text);
    struct line_step *steps = lines_diff(&m.old, &m.new_, &nr);
    bool ok = keep_for_host(&m);

    while (bytes > 0 && set->device.text[bytes - 1] == '\n')
        bytes--;
    for (size_t i = 0; i < bytes; i++)
        m.nr_device += set->device.text[i] == '\n';
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
