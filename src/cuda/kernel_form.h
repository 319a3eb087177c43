/* The usual form of a kernel, recognised: which locals hold the thread's global indices, what
 * guards them, and which statements do the work.
 *
 *     int row = blockIdx.y * blockDim.y + threadIdx.y;      an axis (dim 1)
 *     int batch = blockIdx.z;                               an axis, block_only
 *     if (row < M && col < N) { work }                      a guard with two conditions
 *     if (row >= M) return; work                            the same, early */
#ifndef KEET_CUDA_KERNEL_FORM_H
#define KEET_CUDA_KERNEL_FORM_H

#include "cuda/cuda_tree.h"

/* --- coordinates --- */

enum { NR_AXES = 3 };
extern const char axis_names[NR_AXES + 1]; /* "xyz" */

/* The axis (0 x, 1 y, 2 z) of `object`.x, .y or .z, where object is "threadIdx" or the like; -1
 * for anything else. */
int node_axis(const struct node *n, const char *object);

/* The axis of blockIdx.a * blockDim.a + threadIdx.a, in any order; -1 for anything else. */
int node_coordinate(const struct node *n);

/* --- the form --- */

enum { FORM_MAX_AXES = 6, FORM_MAX_CONDS = 8, FORM_MAX_STMTS = 64 };

struct form_axis {
    struct node *var; /* the local, which only ever has this value */
    unsigned dim;     /* 0 x, 1 y, 2 z */
    bool block_only;  /* var is blockIdx.<dim> */
};

struct form_cond {
    struct node *node; /* the comparison as written */
    const char *text;  /* what must hold for the work: negated for an early return */
    struct node *low;  /* where text is of the form low < high; else NULL */
    struct node *high;
};

struct kernel_form {
    const struct cuda_tree *tree;
    struct node *function, *body;
    struct form_axis axes[FORM_MAX_AXES];
    unsigned nr_axes;
    struct form_cond conds[FORM_MAX_CONDS];
    unsigned nr_conds;
    struct node *guard; /* the `if` around the work; NULL: early return, or no guard */
    struct node *prologue[FORM_MAX_STMTS]; /* before the work, without guards */
    unsigned nr_prologue;
    struct node *work[FORM_MAX_STMTS];
    unsigned nr_work;
    bool raw; /* threadIdx, blockIdx, blockDim or gridDim are used beyond the axes */
};

/* False, with the reason in *why, when the function is not of this form. */
bool kernel_form_read(struct kernel_form *form, const struct cuda_tree *tree, struct node *function,
    const char **why);

/* The only axis along a dimension, or NULL. */
const struct form_axis *form_axis_along(const struct kernel_form *form, unsigned dim);

/* Whether n uses threadIdx, blockIdx, blockDim or gridDim. */
bool node_uses_grid(const struct node *n);

#endif
