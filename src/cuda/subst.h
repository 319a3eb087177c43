/* Copies of source text with substitutions: a name's declaration, or one whole expression, stands
 * for other text. Rewrites that build new statements out of old ones use it; in-place changes use
 * edits. */
#ifndef KEET_CUDA_SUBST_H
#define KEET_CUDA_SUBST_H

#include "cuda/cuda_tree.h"

enum { SUBST_MAX = 96 };

struct subst {
    const struct node *what; /* a declaration: all its names; an expression: that one place */
    const char *text;
};

struct substs {
    struct subst items[SUBST_MAX];
    unsigned nr;
};

/* Ignored when full; substs_full tells. Later entries win over earlier ones. */
void substs_add(struct substs *s, const struct node *what, const char *text);
bool substs_full(const struct substs *s);

/* The text of n with the substitutions made, in the tree's arena. */
char *subst_text(const struct cuda_tree *tree, const struct node *n, const struct substs *s);

/* Bytes [start, end), of which root is the smallest node around. */
char *subst_slice(const struct cuda_tree *tree, const struct node *root, unsigned start,
    unsigned end, const struct substs *s);

/* The same text with every line after the first moved to another indentation: `from` blanks less,
 * `to` blanks more. */
char *text_reindent(struct arena *arena, const char *text, unsigned from, unsigned to);

/* The statement with its semicolon, substitutions made, in lines that are indented by `indent`. */
char *subst_statement(
    const struct cuda_tree *tree, const struct node *stmt, const struct substs *s, size_t indent);

/* The text in parentheses, unless it is one name, number or call already. */
const char *text_operand(struct arena *arena, const char *text);

#endif
