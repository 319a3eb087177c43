/* Copies of source text with substitutions: other text for a variable, or for one expression.
 *
 *     struct substs s = {.nr = 0};
 *     substs_add(&s, i, "(i + 1)");
 *     text = subst_text(tree, value, &s);
 *
 * For new statements made of old ones. Changes in place are edits (base/edits.h). */
#ifndef KEET_CUDA_SUBST_H
#define KEET_CUDA_SUBST_H

#include "cuda/cuda_tree.h"

enum { SUBST_MAX = 96 };

struct subst {
    const struct node *what; /* a declaration: all places that name it; else that expression */
    const char *text;
};

struct substs {
    struct subst items[SUBST_MAX];
    unsigned nr;
};

/* Nothing is added when s is full: ask substs_full. A later entry wins over an earlier one. */
void substs_add(struct substs *s, const struct node *what, const char *text);
bool substs_full(const struct substs *s);

/* The text of n with the substitutions made, in the tree's arena. */
char *subst_text(const struct cuda_tree *tree, const struct node *n, const struct substs *s);

/* The same for bytes [start, end); root is the smallest node around them. */
char *subst_slice(const struct cuda_tree *tree, const struct node *root, unsigned start,
    unsigned end, const struct substs *s);

/* The text with every line after the first at another indentation: `from` blanks less, `to` more.
 */
char *text_reindent(struct arena *arena, const char *text, unsigned from, unsigned to);

/* The statement with its semicolon, substitutions made, in lines that are indented by `indent`. */
char *subst_statement(
    const struct cuda_tree *tree, const struct node *stmt, const struct substs *s, size_t indent);

/* The text in parentheses, unless it is one name, number or call already. */
const char *text_operand(struct arena *arena, const char *text);

#endif
