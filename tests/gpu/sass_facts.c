/* usage: sass_facts kernel.cu out.cubin
 * Compiles a task's kernels, writes the machine code, and prints what our reader makes of it, for
 * sass.py to set beside what nvdisasm says. */
#include "base/file.h"
#include "compile/compile.h"
#include "nv/cubin.h"

#include <stdio.h>
#include <stdlib.h>

static void print_mix(const struct kernel_facts *k, unsigned line, const struct sass_mix *mix)
{
    for (int i = 0; i < NR_SASS_CLASSES; i++)
        if (mix->of[i] > 0)
            printf("count\t%s\t%u\t%s\t%u\n", k->lowered, line, sass_class_name(i), mix->of[i]);
    if (mix->wide_loads + mix->wide_stores > 0)
        printf("wide\t%s\t%u\t%u\t%u\t%u\n", k->lowered, line, mix->wide_loads, mix->wide_stores,
            mix->widest_bytes);
}

static void print_kernel(
    const struct kernel_facts *k, const struct sass_facts *sass, const struct cubin *cubin)
{
    const struct cubin_kernel *read = cubin_find(cubin, k->lowered);

    printf("kernel\t%s\t%u\t%u\t%u\t%u\n", k->lowered, sass->arch, k->registers, k->stack_bytes,
        k->smem_static_bytes);
    if (read != NULL)
        printf("cubin\t%s\t%u\t%u\t%llu\n", read->name, read->registers, read->frame_bytes,
            (unsigned long long)read->smem_static_bytes);
    for (unsigned i = 0; i < sass->nr_lines; i++)
        print_mix(k, sass->lines[i].line, &sass->lines[i].mix);
}

int main(int argc, char **argv)
{
    const struct compiler_options options = {.arch = "sm_90a"};
    struct arena *arena = arena_create();
    struct compiler *compiler = NULL;
    struct candidate c = {.arena = arena, .parent = -1, .recalled_from = -1};
    struct cubin cubin = {0};
    struct task task;
    const char *why;
    struct err err;
    bool ok;

    if (argc != 3)
        return 2;
    ok = task_load(&task, arena, argv[1], &err) &&
         (compiler = compiler_create(&options, &err)) != NULL;
    if (ok) {
        c.task = &task;
        c.source = task.source;
        c.source_bytes = task.source_bytes;
        c.plan = task.plan;
        ok = compile_kernel(compiler, &c, &err) &&
             (c.verdict == VERDICT_OK || err_set(&err, "%s", c.verdict_text)) &&
             file_write(argv[2], c.compilation.cubin, c.compilation.cubin_bytes, &err);
    }
    if (ok && !cubin_read(c.compilation.cubin, c.compilation.cubin_bytes, arena, &cubin, &why))
        ok = err_set(&err, "%s: %s", argv[2], why);
    for (unsigned i = 0; ok && i < c.compilation.nr_kernels; i++)
        print_kernel(&c.compilation.kernels[i], &c.compilation.sass[i], &cubin);
    if (!ok)
        fprintf(stderr, "sass_facts: %s\n", err.text);
    compiler_destroy(compiler);
    arena_destroy(arena);
    return ok ? 0 : 1;
}
