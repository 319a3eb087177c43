/* Rewrites: what a mechanical move gets and gives. Private to propose/. Each move has a file
 * rewrite_<move>.c and a row in rewriter.c.
 *
 * A move numbers its variants from 0: which loop, which factor. Asked for a variant, it does one of
 * two things:
 *     it makes edits on in->source, says in out->what what they do ("unroll the loop at line 9 by
 * 4"), and returns true; or it says in out->why why there is no such variant, and returns false.
 * out->more then says whether later variants are worth trying. A move must keep the meaning of the
 * program for every size that the task allows, not only for the timed one. It must refuse what it
 * does not understand. */
#ifndef KEET_PROPOSE_REWRITE_REWRITE_H
#define KEET_PROPOSE_REWRITE_REWRITE_H

#include "base/edits.h"
#include "core/candidate.h"
#include "cuda/cuda_tree.h"

#include <stdbool.h>

struct rewriter;
struct tuning;

struct rewrite_in {
    struct arena *arena;
    const struct task *task;
    const struct plan *plan; /* of the source */
    /* Of the source; tree->trouble is NULL when a move is asked. NULL outside the rewriter's child:
     * no text of a model's is parsed by libclang in this process. */
    const struct cuda_tree *tree;
    const char *source;
    size_t bytes;
    bool forbid_fast_math;
    uint32_t smem_per_block_bytes; /* that a block may have; in the rewriter's child */
    struct rewriter *rewriter;     /* outside its child; see rewriter.h */
    struct tuning *tuning;         /* the same: what the run knows of points; see tuning.h */
};

struct rewrite_out {
    struct edits edits;
    const char *what; /* true: what the edits do */
    const char *why;  /* false: why there is no such variant */
    bool more;        /* false: later variants may still apply */
    /* The source with the edits made; NULL until whoever made the edits tried them. */
    const char *text;
    size_t bytes;
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
    rewrite_tensor_cores, rewrite_wgmma, rewrite_attention;

/* --- kernels and launches --- */

/* The kernel of a launch as a function of the tree; NULL when the plan has no such launch, or the
 * tree no such function. */
struct node *rewrite_kernel(const struct rewrite_in *in, unsigned launch);
/* How many launches of the plan have that kernel. */
unsigned rewrite_nr_launches_of(const struct rewrite_in *in, const struct node *function);
/* The nth distinct kernel of the plan, from 0: its first launch, and in *function its function. -1:
 * there are no more. */
int rewrite_nth_kernel(const struct rewrite_in *in, unsigned nth, struct node **function);
/* The threads of a block, or the blocks of the grid, along x, y and z at the timed size. False: the
 * launch does not evaluate. */
bool rewrite_block(const struct rewrite_in *in, unsigned launch, uint32_t block[3]);
bool rewrite_grid(const struct rewrite_in *in, unsigned launch, uint32_t grid[3]);

/* The array that parameter number `arg` of a kernel gets in a launch, or NULL. */
const struct task_array *rewrite_array(const struct rewrite_in *in, unsigned launch, unsigned arg);
/* Whether no launch of the kernel gives one array to two parameters. */
bool rewrite_no_alias(const struct rewrite_in *in, const struct node *function);

/* --- pragma lines --- */

/* Add a line `#pragma keet tune NAME = value in {choices}` before the first launch line. The
 * choices read "2, 4, 8"; the name comes from tree_fresh. */
void pragma_add_tune(const struct rewrite_in *in, struct edits *edits, const char *name,
    int64_t value, const char *choices);
/* Add a line `#pragma keet LINE` there. */
void pragma_add_line(const struct rewrite_in *in, struct edits *edits, const char *line);
/* The tuning parameter of that name, or NULL. */
const struct tune *pragma_find_tune(const struct rewrite_in *in, const char *name);
/* Set a tuning parameter's value in its line. False: the line is not found. */
bool pragma_set_tune(
    const struct rewrite_in *in, struct edits *edits, const char *name, int64_t value);

/* Add choices that a tuning parameter does not have. Nothing, where its line lists none. */
void pragma_widen_tune(const struct rewrite_in *in, struct edits *edits, const char *name,
    const int64_t *values, unsigned nr);

/* The offset of the start of line `line` (from 1), or in->bytes. */
unsigned source_line_at(const struct rewrite_in *in, unsigned line);
/* Delete that line. */
void source_drop_line(const struct rewrite_in *in, struct edits *edits, unsigned line);
/* Whether that line ends in a backslash. */
bool source_line_continues(const struct rewrite_in *in, unsigned line);

#endif
