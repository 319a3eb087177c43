/* Owns the measurement of what a parse costs in a child of its own. For each kernel, the mechanical
 * moves are listed NR times, by the process that serves parses or in this one:
 *
 *     perf stat -e task-clock build/release/parse_cost child 10 kernels/NAME.cu...
 *     perf stat -e task-clock build/release/parse_cost here 10 kernels/NAME.cu...
 */
#include "base/file.h"
#include "base/mem.h"
#include "cuda/cuda_tree.h"
#include "propose/rewrite/rewriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of moves; they are of the arena. */
static unsigned list_here(struct rewrite_in *in)
{
    struct str refusals = {0};
    struct option_list list = {.arena = in->arena, .refusals = &refusals};
    struct made_text texts[REWRITER_MOST];
    struct err err;

    in->tree = cuda_tree_parse(
        in->arena, in->source, in->bytes, in->plan->tunes, in->plan->nr_tunes, &err);
    if (in->tree)
        rewriter_list_here(in, &list, texts);
    str_finish(&refusals);
    return list.nr;
}

static unsigned list_in_child(struct rewrite_in *in)
{
    struct str refusals = {0};
    struct option_list list = {.arena = in->arena, .refusals = &refusals};
    struct err err;

    if (!rewriter_ops.list(in, &list, &err))
        fprintf(stderr, "%s\n", err.text);
    str_finish(&refusals);
    return list.nr;
}

static unsigned measure(const char *path, bool child, unsigned nr_times)
{
    struct arena *arena = arena_create();
    struct task task;
    struct rewrite_in in = {.task = &task};
    char *source = NULL;
    unsigned nr = 0;
    struct err err;

    if (!file_read(path, 1 << 20, &source, &in.bytes, &err) ||
        !task_parse(&task, arena, path, source, in.bytes, &err) ||
        (child && !(in.rewriter = rewriter_start(&task, false, 0, &err)))) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    source = xrealloc(source, in.bytes + nr_times + 1);
    in.source = source;
    in.plan = &task.plan;
    for (unsigned i = 0; i < nr_times; i++) {
        memcpy(source + in.bytes++, "\n", 2); /* the rewriter reads no source twice */
        in.arena = arena_create();
        nr += child ? list_in_child(&in) : list_here(&in);
        arena_destroy(in.arena);
    }
    rewriter_stop(in.rewriter);
    free(source);
    arena_destroy(arena);
    return nr;
}

int main(int argc, char **argv)
{
    unsigned nr = 0;

    for (int i = 3; i < argc; i++)
        nr += measure(argv[i], strcmp(argv[1], "child") == 0, (unsigned)strtoul(argv[2], NULL, 10));
    printf("%d kernels, %u moves\n", argc - 3, nr);
    return nr == 0;
}
