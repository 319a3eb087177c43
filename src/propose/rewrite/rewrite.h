/* Rewrites: what a mechanical move gets and gives. Private to propose/; one move per file
 * rewrite_<move>.c, one row per move in rewriter.c.
 *
 * A move numbers its variants from 0 (which loop, which factor). Asked for variant k it either
 * makes edits on in->source, says in out->what what they do ("unroll the loop at line 9 by 4"), and
 * returns true; or says in out->why that there is no such variant, and returns false. When variant
 * k is refused, k+1 is still tried only if out->more is set. A move must keep the meaning of the
 * program for every size that the task allows, not only for the timed one, and must refuse what it
 * does not understand. */
#ifndef KEET_PROPOSE_REWRITE_REWRITE_H
#define KEET_PROPOSE_REWRITE_REWRITE_H

#include "base/edits.h"
#include "core/candidate.h"
#include "cuda/cuda_tree.h"

#include <stdbool.h>

struct rewrite_in {
    struct arena *arena;
    const struct task *task;
    const struct plan *plan;      /* of the source */
    const struct cuda_tree *tree; /* of the source */
    const char *source;
    size_t bytes;
    bool forbid_fast_math;
};

struct rewrite_out {
    struct edits edits;
    const char *what; /* true: what the edits do */
    const char *why;  /* false: why there is no such variant */
    bool more;        /* false: later variants may still apply */
    /* The source with the edits made, and its plan; NULL until whoever made the edits tried them.
     */
    const char *text;
    size_t bytes;
    const struct plan *plan;
};

typedef bool rewrite_f(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out);

bool rewrite_refuse(const struct rewrite_in *in, struct rewrite_out *out, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* returns false */
bool rewrite_done(const struct rewrite_in *in, struct rewrite_out *out, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* returns true */

/* The moves. */
rewrite_f rewrite_block_shape, rewrite_swap_xy, rewrite_read_only, rewrite_vectorize,
    rewrite_unroll, rewrite_coarsen, rewrite_shared_tile, rewrite_register_tile, rewrite_pad_shared,
    rewrite_shuffle_reduce, rewrite_launch_bounds, rewrite_grid_stride, rewrite_hoist,
    rewrite_fast_math, rewrite_parallel_reduce, rewrite_privatize, rewrite_split_work, rewrite_fuse,
    rewrite_tensor_cores;

/* --- kernels and launches --- */

/* The kernel of launch i as a function of the tree; NULL when there is no such launch or the tree
 * lacks it. */
struct node *rewrite_kernel(const struct rewrite_in *in, unsigned launch);
/* The first launch of a kernel that is launched once or always with the same configuration text;
 * -1 otherwise. Distinct kernels are numbered by rewrite_nth_kernel. */
unsigned rewrite_nr_launches_of(const struct rewrite_in *in, const struct node *function);
/* The launch of the nth distinct kernel of the plan, and its function; -1 past the last. */
int rewrite_nth_kernel(const struct rewrite_in *in, unsigned nth, struct node **function);
/* Threads along x, y, z of a launch at the timed size; false when it does not evaluate. */
bool rewrite_block(const struct rewrite_in *in, unsigned launch, uint32_t block[3]);
bool rewrite_grid(const struct rewrite_in *in, unsigned launch, uint32_t grid[3]);

/* The array that pointer parameter i of a kernel gets in a launch, or NULL. */
const struct task_array *rewrite_array(const struct rewrite_in *in, unsigned launch, unsigned arg);
/* No array is given twice to a launch of the kernel. */
bool rewrite_no_alias(const struct rewrite_in *in, const struct node *function);

/* --- pragma lines --- */

/* A new line `#pragma keet tune NAME = value in {choices}` (choices: "2, 4, 8") before the first
 * launch line. The name should come from tree_fresh. */
void pragma_add_tune(const struct rewrite_in *in, struct edits *edits, const char *name,
    int64_t value, const char *choices);
void pragma_add_line(const struct rewrite_in *in, struct edits *edits, const char *line);
const struct tune *pragma_find_tune(const struct rewrite_in *in, const char *name);
/* Set a tuning parameter's value in its line; false when the line is not found. */
bool pragma_set_tune(
    const struct rewrite_in *in, struct edits *edits, const char *name, int64_t value);

/* The offset of the start of line `line` (from 1), or in->bytes. */
unsigned source_line_at(const struct rewrite_in *in, unsigned line);

#endif
