/* CUDA source as a tree of plain structs, read by libclang.
 *
 *     struct cuda_tree *tree = cuda_tree_parse(arena, source, bytes, tunes, nr_tunes, &err);
 *     struct node *f = tree_function(tree, "matmul");
 *     for (struct node *n = f; n; n = node_next(f, n))
 *         if (n->kind == NODE_FOR) ...
 *
 * Offsets are bytes of the source as given, pragma lines included, so that edits (base/edits.h) can
 * be made on the source directly. Implicit casts and conversions are left out. A tuning parameter
 * is a NODE_NAME without a declaration, and so is an object-like macro. Everything is in the arena.
 *
 * The parser knows CUDA by a prelude of ours (cuda_prelude.h) and no toolkit headers; `#include`
 * lines are skipped. A source that it does not understand gives a tree too, and tree->trouble is
 * its first complaint. */
#ifndef KEET_CUDA_CUDA_TREE_H
#define KEET_CUDA_CUDA_TREE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind {
    /* declarations */
    NODE_FUNCTION, /* children: parameters, then the body */
    NODE_PARAM,
    NODE_VAR, /* child: initialiser, if any */
    /* statements */
    NODE_DECLS, /* children: NODE_VARs */
    NODE_BLOCK, /* { ... } */
    NODE_FOR,   /* init, cond, step, body; children in that order without the absent ones */
    NODE_WHILE, /* cond, body */
    NODE_DO,    /* body, cond */
    NODE_IF,    /* cond, body, other */
    NODE_SWITCH,
    NODE_CASE, /* `case` and `default` */
    NODE_RETURN,
    NODE_BREAK,
    NODE_CONTINUE,
    /* expressions */
    NODE_NAME,   /* name, decl */
    NODE_NUMBER, /* a literal; tree_text gives its text */
    NODE_BINARY, /* op; two children. An assignment is a NODE_ASSIGN */
    NODE_ASSIGN, /* op: "=", "+=", ... */
    NODE_UNARY,  /* op: "-", "!", "++", ...; postfix */
    NODE_INDEX,  /* base[index] */
    NODE_CALL,   /* name; children: arguments. The name of an overloaded operator is "operator+" */
    NODE_MEMBER, /* name; child: the object */
    NODE_COND,   /* a ? b : c */
    NODE_PAREN,
    NODE_CAST,
    NODE_LIST, /* { a, b } */
    NODE_OTHER
};

enum scalar {
    SCALAR_OTHER,
    SCALAR_VOID,
    SCALAR_BOOL,
    SCALAR_I8,
    SCALAR_U8,
    SCALAR_I16,
    SCALAR_U16,
    SCALAR_I32,
    SCALAR_U32,
    SCALAR_I64,
    SCALAR_U64,
    SCALAR_F16,
    SCALAR_BF16,
    SCALAR_F32,
    SCALAR_F64
};

/* An integer or a float of 32 or 64 bits: what shuffles take and what sums are kept in. */
bool scalar_is_word(enum scalar scalar);

enum { CTYPE_MAX_DIMS = 4 };

struct ctype {
    enum scalar scalar; /* of the value, or of the elements of a pointer or array */
    bool is_pointer, is_reference, is_restrict;
    bool is_const; /* the value, or what a pointer points to, or an array's elements */
    unsigned nr_dims;
    int64_t dims[CTYPE_MAX_DIMS]; /* of an array, outermost first; -1: unknown */
    const char *base;             /* of a declaration: the scalar's name without const: "float" */
};

struct node {
    enum node_kind kind;
    unsigned start, end; /* bytes [start, end) of the source, without a closing semicolon */
    unsigned line;       /* from 1 */
    struct node *parent, *child, *next;
    unsigned nr_children;
    const char *op;    /* BINARY, ASSIGN, UNARY */
    bool postfix;      /* UNARY */
    const char *name;  /* FUNCTION, PARAM, VAR, NAME, MEMBER, CALL */
    unsigned name_at;  /* declarations: offset of the name */
    struct node *decl; /* NAME: the declaration in this file, or NULL */
    struct ctype type;
    bool is_shared; /* VAR: __shared__ */
    bool is_extern; /* VAR: extern (dynamic shared memory) */
    bool is_kernel; /* FUNCTION: __global__ */
    bool in_macro;  /* inside the expansion of a function-like macro: do not edit */
    struct node *init, *cond, *step, *body, *other; /* the child of that role, or NULL */
};

struct cuda_tree {
    struct arena *arena;
    const char *source; /* as given; borrowed */
    size_t bytes;
    struct node *root;   /* NODE_OTHER; children: functions and variables of this file */
    const char *trouble; /* NULL, or the first error: "line 3: unknown type name 'foo'" */
};

/* Loads libclang, which cuda_tree_parse else does: before a fork, or where files can no longer be
 * read. The library's path. NULL with err: there is none that fits. */
const char *cuda_tree_library(struct err *err);

/* NULL, with err, when libclang itself fails. A source can also crash libclang, or keep it busy for
 * hours: sources that others wrote belong in a child with limits. */
struct cuda_tree *cuda_tree_parse(struct arena *arena, const char *source, size_t bytes,
    const struct tune *tunes, unsigned nr_tunes, struct err *err);

/* --- walking --- */

/* Pre-order: the node after n within root, NULL at the end. Start with n = root. */
struct node *node_next(const struct node *root, const struct node *n);
/* The same, but what is below n is skipped. */
struct node *node_skip(const struct node *root, const struct node *n);
struct node *node_child(const struct node *n, unsigned i);
bool node_within(const struct node *n, const struct node *root); /* n is root or below it */
struct node *node_strip(const struct node *n);     /* n without parentheses and casts around */
struct node *node_statement(const struct node *n); /* the statement that n is part of */
struct node *node_enclosing(
    const struct node *n, enum node_kind kind); /* strictly above, or NULL */
bool node_is_statement(const struct node *n);   /* stands where a statement stands */

struct node *tree_function(const struct cuda_tree *tree, const char *name); /* "f" or "f<4>" */
struct node *function_param(const struct node *function, unsigned i);
unsigned function_nr_params(const struct node *function);
/* Which parameter a declaration is, from 0; -1: none of the function's. */
int function_param_number(const struct node *function, const struct node *decl);

/* --- text --- */

const char *tree_text(const struct cuda_tree *tree, const struct node *n);
const char *tree_slice(const struct cuda_tree *tree, unsigned start, unsigned end);
unsigned tree_stmt_end(const struct cuda_tree *tree, const struct node *n); /* past the semicolon */
unsigned tree_line_start(const struct cuda_tree *tree, unsigned at);
const char *tree_indent(const struct cuda_tree *tree, unsigned at); /* blanks that open at's line */
bool tree_word_used(const struct cuda_tree *tree, const char *word); /* anywhere, comments too */
/* A name like `base` that the source does not use: base, base2, base3, ... */
const char *tree_fresh(const struct cuda_tree *tree, const char *base);

/* --- what code does --- */

bool node_is_name(const struct node *n, const char *name); /* through parentheses and casts */
/* threadIdx.x and the like, through parentheses and casts: n is a member `name` of `object`. */
bool node_is_member(const struct node *n, const char *object, const char *name);
bool node_uses(const struct node *root, const struct node *decl);
bool node_uses_name(const struct node *root, const char *name); /* declared here or not */
bool node_has_name(const struct node *root, const char *name);  /* uses it, or declares it */
bool node_calls(const struct node *root, const char *name);     /* NULL: any call */
bool node_has(const struct node *root, enum node_kind kind);
bool node_has_macro(const struct node *root);
bool node_has_barrier(const struct node *root);
bool node_has_shared(const struct node *root); /* declares shared memory */
bool node_is_change(const struct node *n);     /* an assignment, ++ or -- */
bool node_is_load(const struct node *n);       /* a[i], *p, __ldg(p) */
unsigned node_nr_uses(const struct node *root, const struct node *decl);
/* The variable that an lvalue or a pointer expression starts from: A in A[i*k+j], *(A+i), A.x,
 * &A[1]. NULL for other expressions. */
struct node *node_base(const struct node *n);
/* Whether root may change the variable or memory behind it: by an assignment, by ++, by its
 * address, by an atomic, by a function that is not known to be pure. */
bool node_writes(const struct node *root, const struct node *decl);
/* Whether root may change the variable itself, memory behind it left aside. */
bool node_assigns(const struct node *root, const struct node *decl);
/* Whether a local only ever has one value: it has an initialiser, and the function never changes
 * it. */
bool node_is_single(const struct node *function, const struct node *decl);
/* Whether root only reads: no assignment, no ++, no barrier, no atomic, no unknown call. */
bool node_is_pure(const struct node *root);
bool call_is_pure(const char *name); /* a math or conversion function of CUDA's */
bool call_is_barrier(const char *name);
bool call_is_atomic(const char *name);
/* Whether n has the same value wherever it stands in root: n is pure, and root writes nothing that
 * n reads. A load has the same value only when root stores nothing through a pointer or array that
 * could be the same memory. all_restrict: const pointers of the parameters alias nothing that is
 * written. */
bool node_invariant(const struct node *n, const struct node *root, bool all_restrict);

/* --- loops --- */

struct for_loop {
    struct node *node;
    struct node *var;    /* the declaration of the counter */
    struct node *start;  /* expressions: the first value, */
    struct node *bound;  /* and what the condition compares the counter with */
    const char *compare; /* "<", "<=", ">", ">=", "!=" */
    struct node *step;   /* expression; NULL: 1 */
    bool down;           /* the counter is decreased */
    bool declares;       /* the loop declares the counter */
    bool counted;        /* the body neither changes the counter nor leaves the loop early */
};
/* Take apart `for (counter = start; counter < bound; counter += step)`. False: another shape. */
bool node_loop(const struct node *n, struct for_loop *loop);
/* The same, for loops that declare their counter, are counted, and count up to the bound. */
bool node_loop_up(const struct node *n, struct for_loop *loop);
bool node_is_loop(const struct node *n);      /* for, while, do */
bool node_innermost(const struct node *loop); /* it has no loop inside */

#endif
