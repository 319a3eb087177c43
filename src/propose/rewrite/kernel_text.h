/* Text of new kernels, from pieces in which $name stands for a word. Private to the files that
 * write such kernels. */
#ifndef KEET_PROPOSE_REWRITE_KERNEL_TEXT_H
#define KEET_PROPOSE_REWRITE_KERNEL_TEXT_H

#include "base/str.h"
#include "cuda/cuda_tree.h"

struct kernel_word {
    const char *name, *text;
};

/* Add a piece. words end with a name of NULL; a $name that is none of them is a name that the
 * source does not have. */
void kernel_text_add(struct str *to, struct arena *arena, const struct cuda_tree *tree,
    const struct kernel_word *words, const char *piece);

/* Functions for fragments of mma.sync.m16n8k16 (PTX ISA 9.0, 9.7.14.5.8): $load_four and
 * $load_four_turned, four matrices of shared memory by ldmatrix, as they lie and transposed;
 * $add_product; $exp2_fast. $T is the type that shared memory is seen as, $BITS bf16 or f16. */
extern const char kernel_text_fragments[];

#endif
