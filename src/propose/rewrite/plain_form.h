/* A kernel in another form that computes the same, for moves that read rows and columns:
 *
 *     int i = blockIdx.x * blockDim.x + threadIdx.x;          one flat index, taken apart by / and
 * %, if (i < M * N) { int row = i / N, col = i % N; ... }    becomes one along x and one along y;
 *     if (cond) continue; rest                                becomes if (!(cond)) { rest }.
 *
 * The move's edits are made on the other form, so the text that comes out has it too. */
#ifndef KEET_PROPOSE_REWRITE_PLAIN_FORM_H
#define KEET_PROPOSE_REWRITE_PLAIN_FORM_H

#include "propose/rewrite/rewrite.h"

/* The first kernel that is no contraction as it is, and one in another form. False: there is none.
 * *plain has a source, a plan and a tree of its own, all in in->arena. */
bool plain_form_read(const struct rewrite_in *in, struct rewrite_in *plain);

#endif
