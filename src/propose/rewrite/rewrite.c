/* What all moves share: answers, kernels of a plan, pragma lines. */
#include "propose/rewrite/rewrite.h"

#include "base/str.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

bool rewrite_refuse(const struct rewrite_in *in, struct rewrite_out *out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    out->why = arena_vprintf(in->arena, format, ap);
    va_end(ap);
    return false;
}

bool rewrite_done(const struct rewrite_in *in, struct rewrite_out *out, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    out->what = arena_vprintf(in->arena, format, ap);
    va_end(ap);
    return true;
}

/* --- kernels and launches --- */

struct node *rewrite_kernel(const struct rewrite_in *in, unsigned launch)
{
    if (launch >= in->plan->nr_launches)
        return NULL;
    return tree_function(in->tree, in->plan->launches[launch].kernel);
}

unsigned rewrite_nr_launches_of(const struct rewrite_in *in, const struct node *function)
{
    unsigned nr = 0;
    for (unsigned i = 0; i < in->plan->nr_launches; i++)
        nr += rewrite_kernel(in, i) == function;
    return nr;
}

int rewrite_nth_kernel(const struct rewrite_in *in, unsigned nth, struct node **function)
{
    for (unsigned i = 0; i < in->plan->nr_launches; i++) {
        struct node *f = rewrite_kernel(in, i);
        bool seen = !f;
        for (unsigned j = 0; j < i && !seen; j++)
            seen = rewrite_kernel(in, j) == f;
        if (!seen && !nth--) {
            *function = f;
            return (int)i;
        }
    }
    return -1;
}

static bool resolve(const struct rewrite_in *in, unsigned launch, struct launch_config *config)
{
    const struct env env = plan_env(in->arena, in->plan, &in->task->timed);
    struct err err;
    return launch < in->plan->nr_launches &&
           launch_resolve(&in->plan->launches[launch], &env, config, &err);
}

bool rewrite_block(const struct rewrite_in *in, unsigned launch, uint32_t block[3])
{
    struct launch_config config;
    if (!resolve(in, launch, &config))
        return false;
    memcpy(block, config.block, sizeof(config.block));
    return true;
}

bool rewrite_grid(const struct rewrite_in *in, unsigned launch, uint32_t grid[3])
{
    struct launch_config config;
    if (!resolve(in, launch, &config))
        return false;
    memcpy(grid, config.grid, sizeof(config.grid));
    return true;
}

const struct task_array *rewrite_array(const struct rewrite_in *in, unsigned launch, unsigned arg)
{
    if (launch >= in->plan->nr_launches || arg >= in->plan->launches[launch].nr_args)
        return NULL;
    const struct launch_arg *a = &in->plan->launches[launch].args[arg];
    const struct task_array *array =
        a->kind == ARG_ARRAY && !a->value ? task_find_array(in->task, in->plan, a->name) : NULL;

    return array && array->record ? NULL : array;
}

bool rewrite_no_alias(const struct rewrite_in *in, const struct node *function)
{
    for (unsigned l = 0; l < in->plan->nr_launches; l++) {
        if (rewrite_kernel(in, l) != function)
            continue;
        const struct launch *launch = &in->plan->launches[l];
        const struct launch_arg *a, *b;

        for (unsigned i = 0; (a = launch_leaf(launch, i)) != NULL; i++)
            for (unsigned j = 0; a->kind == ARG_ARRAY && j < i; j++)
                if ((b = launch_leaf(launch, j))->kind == ARG_ARRAY && !strcmp(a->name, b->name))
                    return false;
    }
    return true;
}

/* --- pragma lines --- */

unsigned source_line_at(const struct rewrite_in *in, unsigned line)
{
    size_t at = 0;
    while (line > 1 && at < in->bytes)
        line -= in->source[at++] == '\n';
    return (unsigned)at;
}

void pragma_add_line(const struct rewrite_in *in, struct edits *edits, const char *line)
{
    unsigned first = in->plan->nr_launches ? in->plan->launches[0].line : 1;
    for (unsigned i = 0; i < in->plan->nr_launches; i++)
        if (in->plan->launches[i].line < first)
            first = in->plan->launches[i].line;
    edits_insert(edits, source_line_at(in, first), "#pragma keet %s\n", line);
}

void pragma_add_tune(const struct rewrite_in *in, struct edits *edits, const char *name,
    int64_t value, const char *choices)
{
    pragma_add_line(in, edits,
        arena_printf(in->arena, "tune   %s = %lld in {%s}", name, (long long)value, choices));
}

const struct tune *pragma_find_tune(const struct rewrite_in *in, const char *name)
{
    for (unsigned i = 0; i < in->plan->nr_tunes; i++)
        if (!strcmp(in->plan->tunes[i].name, name))
            return &in->plan->tunes[i];
    return NULL;
}

/* Where the value of a tuning parameter begins in its line, and in *to the line's end; NULL: it is
 * not found. */
static const char *find_tune_value(
    const struct rewrite_in *in, const struct tune *tune, const char **to)
{
    const char *p = in->source + source_line_at(in, tune->line);
    const size_t len = strlen(tune->name);
    *to = str_next_line(p);
    while (**to && *to - p > 1 && (*to)[-2] == '\\')
        *to = str_next_line(*to);
    for (; (p = str_find_word(p, *to, tune->name, len)); p += len) {
        const char *q = p + len;
        while (q < *to && isspace((unsigned char)*q))
            q++;
        if (q >= *to || *q++ != '=')
            continue;
        while (q < *to && (*q == ' ' || *q == '\t'))
            q++;
        return q;
    }
    return NULL;
}

bool pragma_set_tune(
    const struct rewrite_in *in, struct edits *edits, const char *name, int64_t value)
{
    const struct tune *tune = pragma_find_tune(in, name);
    const char *to, *at = tune ? find_tune_value(in, tune, &to) : NULL;
    if (!at)
        return false;
    const char *end = at;
    while (end < to && (isalnum((unsigned char)*end) || *end == '-'))
        end++;
    edits_replace(
        edits, (unsigned)(at - in->source), (unsigned)(end - in->source), "%lld", (long long)value);
    return true;
}

void pragma_widen_tune(const struct rewrite_in *in, struct edits *edits, const char *name,
    const int64_t *values, unsigned nr)
{
    const struct tune *tune = pragma_find_tune(in, name);
    const char *to, *at = tune ? find_tune_value(in, tune, &to) : NULL;
    const char *end = at ? memchr(at, '}', (size_t)(to - at)) : NULL;
    for (unsigned i = 0; end && i < nr; i++) {
        bool there = false;
        for (unsigned k = 0; k < tune->nr_choices; k++)
            there = there || tune->choices[k] == values[i];
        if (!there)
            edits_insert(edits, (unsigned)(end - in->source), ", %lld", (long long)values[i]);
    }
}

void source_drop_line(const struct rewrite_in *in, struct edits *edits, unsigned line)
{
    edits_replace(edits, source_line_at(in, line), source_line_at(in, line + 1), "%s", "");
}

bool source_line_continues(const struct rewrite_in *in, unsigned line)
{
    const unsigned next = source_line_at(in, line + 1);
    return next >= 2 && in->source[next - 2] == '\\';
}
