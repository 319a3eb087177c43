/* Launch lines taken apart: the text between `<<<` and `)` of a `launch` line, in pieces.
 *
 *     struct launch_lines lines;
 *     if (!launch_lines_read(in, function, &lines, out))
 *         return false;
 *     for (unsigned i = 0; i < lines.nr; i++) {
 *         lines.items[i].block[0] = "BLOCK";
 *         launch_line_write(&lines.items[i], &out->edits);
 *     }
 *
 * All text is in in->arena. */
#ifndef KEET_PROPOSE_REWRITE_LAUNCH_LINE_H
#define KEET_PROPOSE_REWRITE_LAUNCH_LINE_H

#include "propose/rewrite/rewrite.h"

enum { LAUNCH_LINE_MAX_ARGS = 48 };

struct launch_line {
    unsigned launch;                /* its number in the plan, from 0 */
    unsigned start, end;            /* bytes of `<<<...>>>` in the source */
    const char *grid[3], *block[3]; /* x, y, z; "1" where absent */
    const char *smem;               /* bytes of dynamic shared memory; NULL when absent */
    unsigned args_start, args_end;  /* bytes between the parentheses */
    bool in_clusters;               /* a cluster's shape follows */
    const char *args[LAUNCH_LINE_MAX_ARGS];
    unsigned nr_args;
};

/* One launch of the plan. False, with out->why, when it is not <<<grid, block>>>(arguments). */
bool launch_line_read(const struct rewrite_in *in, unsigned launch, struct launch_line *line,
    struct rewrite_out *out);

/* All launches of one kernel, in the plan's order. */
struct launch_lines {
    struct launch_line *items;
    unsigned nr;
};

/* False, with out->why, when one of them cannot be read. */
bool launch_lines_read(const struct rewrite_in *in, const struct node *function,
    struct launch_lines *lines, struct rewrite_out *out);

/* What the launch gives for a parameter of its kernel. NULL: `param` is no parameter of the
 * function, or the function changes it. */
const char *launch_line_argument(
    const struct launch_line *line, const struct node *function, const struct node *param);

/* Put grid, block and smem in the place of `<<<...>>>`. Arguments are edited by the caller. */
void launch_line_write(const struct launch_line *line, struct edits *edits);

#endif
