/* Copies of source text with substitutions. */
#include "cuda/subst.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

void substs_add(struct substs *s, const struct node *what, const char *text)
{
    if (!substs_full(s))
        s->items[s->nr++] = (struct subst){what, text};
}

bool substs_full(const struct substs *s)
{
    return s->nr == SUBST_MAX;
}

static const char *find(const struct substs *s, const struct node *what)
{
    for (unsigned i = s->nr; i-- > 0;)
        if (s->items[i].what == what)
            return s->items[i].text;
    return NULL;
}

/* Copies [*at, ...) up to n and then n's replacement; true when n is to be skipped. */
static bool replace(const struct cuda_tree *tree, const struct node *n, const struct substs *s,
    unsigned *at, struct str *out)
{
    const char *text = find(s, n);
    unsigned from = n->start, to = n->end;
    if (n->kind == NODE_NAME && !text && n->decl)
        text = find(s, n->decl);
    if (n->kind == NODE_VAR && text) {
        from = n->name_at;
        to = from + (unsigned)strlen(n->name);
    }
    if (!text || from < *at)
        return false;
    str_add_n(out, tree->source + *at, from - *at);
    str_add(out, text);
    *at = to;
    return n->kind != NODE_VAR;
}

char *subst_slice(const struct cuda_tree *tree, const struct node *root, unsigned start,
    unsigned end, const struct substs *s)
{
    struct str out = {0};
    unsigned at = start;
    const struct node *n = root;
    while (n) {
        bool inside = n->start >= start && n->end <= end;
        bool skip = inside && replace(tree, n, s, &at, &out);
        if (n->end <= start || n->start >= end)
            skip = true;
        n = skip ? node_skip(root, n) : node_next(root, n);
    }
    if (at < end)
        str_add_n(&out, tree->source + at, end - at);
    char *text = arena_strdup(tree->arena, str_text(&out));
    str_finish(&out);
    return text;
}

char *subst_text(const struct cuda_tree *tree, const struct node *n, const struct substs *s)
{
    return subst_slice(tree, n, n->start, n->end, s);
}

char *text_reindent(struct arena *arena, const char *text, unsigned from, unsigned to)
{
    struct str out = {0};
    for (const char *line = text; *line;) {
        size_t len = (size_t)(str_next_line(line) - line);
        size_t skip = 0;
        if (line != text) {
            while (skip < from && skip < len && line[skip] == ' ')
                skip++;
            for (unsigned i = 0; i < to && line[skip] != '\n'; i++)
                str_add_char(&out, ' ');
        }
        str_add_n(&out, line + skip, len - skip);
        line += len;
    }
    char *copy = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return copy;
}

char *subst_statement(
    const struct cuda_tree *tree, const struct node *stmt, const struct substs *s, size_t indent)
{
    const char *text = subst_slice(tree, stmt, stmt->start, tree_stmt_end(tree, stmt), s);
    return text_reindent(
        tree->arena, text, (unsigned)strlen(tree_indent(tree, stmt->start)), (unsigned)indent);
}

const char *text_operand(struct arena *arena, const char *text)
{
    unsigned depth = 0;
    for (const char *p = text; *p; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (!depth && *p != ')' && !isalnum((unsigned char)*p) && *p != '_')
            return arena_printf(arena, "(%s)", text);
    }
    return text;
}
