/* Owns the compile stage: from a candidate's source and plan to its compilation. */
#include "compile/compile.h"

#include "base/file.h"
#include "base/str.h"
#include "compile/ptx_key.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void compile_list_kernels(const struct plan *plan, struct arena *arena, struct compile_input *input)
{
    const char **kernels = arena_array(arena, plan->nr_launches + 1, sizeof(*kernels));
    unsigned *lines = arena_array(arena, plan->nr_launches + 1, sizeof(*lines));
    unsigned nr = 0;

    for (unsigned i = 0; i < plan->nr_launches; i++) {
        unsigned k = 0;
        while (k < nr && strcmp(kernels[k], plan->launches[i].kernel) != 0)
            k++;
        if (k < nr)
            continue;
        kernels[nr] = plan->launches[i].kernel;
        lines[nr++] = plan->launches[i].line;
    }
    input->kernels = kernels;
    input->kernel_lines = lines;
    input->nr_kernels = nr;
}

/* Text without differences in white space. */
static void add_squeezed(struct str *out, const char *text)
{
    for (; *text; text++) {
        if (*text != ' ' && *text != '\t' && *text != '\r' && *text != '\n')
            str_add_char(out, *text);
    }
    str_add_char(out, '\n');
}

static bool plan_uses(const struct plan *plan, const char *name)
{
    for (unsigned i = 0; i < plan->nr_launches; i++) {
        if (launch_uses(&plan->launches[i], name))
            return true;
    }
    for (unsigned i = 0; i < plan->nr_temps; i++) {
        if (array_dims_use(&plan->temps[i], name))
            return true;
    }
    return false;
}

/* The key: two candidates are the same kernel when their code and their launches are the same. A
 * tuning parameter that only the code uses is in the PTX already; an unused one makes no
 * difference. Kernels count by their symbols, so that a new name is a change. */
static struct hash key_of(const struct candidate *c)
{
    const struct plan *plan = &c->plan;
    struct str text = {0};
    struct hash key;

    ptx_essence(c->compilation.ptx, c->compilation.ptx_bytes, &text);
    for (unsigned i = 0; i < plan->nr_launches; i++) {
        str_add(&text, "launch ");
        add_squeezed(&text, plan->launches[i].text);
    }
    for (unsigned i = 0; i < plan->nr_tunes; i++) {
        if (plan_uses(plan, plan->tunes[i].name))
            str_addf(&text, "tune %s = %" PRId64 "\n", plan->tunes[i].name, plan->tunes[i].value);
    }
    for (unsigned i = 0; i < plan->nr_temps; i++) {
        str_addf(&text, "temp %s : %d", plan->temps[i].name, (int)plan->temps[i].elem);
        for (unsigned d = 0; d < plan->temps[i].nr_dims; d++) {
            str_add_char(&text, '[');
            add_squeezed(&text, expr_text(plan->temps[i].dims[d]));
        }
    }
    key = hash_bytes(text.text, text.len, 0);
    str_finish(&text);
    return key;
}

bool compile_kernel(struct compiler *compiler, struct candidate *c, struct err *err)
{
    struct compile_input input = {
        .name = file_name(c->task->path), .tunes = c->plan.tunes, .nr_tunes = c->plan.nr_tunes};
    unsigned line = 0;
    const char *text = NULL;
    enum verdict verdict;
    char *code;
    bool ok;

    if (c->verdict != VERDICT_OK)
        return true;
    code = task_code(c->source, c->source_bytes);
    input.source = code;
    compile_list_kernels(&c->plan, c->arena, &input);
    ok = compile_source(compiler, &input, c->arena, &c->compilation, &verdict, &line, &text, err);
    free(code);
    if (!ok)
        return false;
    if (verdict != VERDICT_OK)
        return candidate_fail(c, verdict, line, "%s", text);
    c->compilation.key = key_of(c);
    return true;
}
