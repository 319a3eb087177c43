/* Launch lines taken apart and put together again. */
#include "propose/rewrite/launch_line.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static const char *trimmed(struct arena *arena, const char *from, const char *to)
{
    while (from < to && (isspace((unsigned char)*from) || *from == '\\'))
        from++;
    while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == '\\'))
        to--;
    return arena_strndup(arena, from, (size_t)(to - from));
}

/* Split [from, to) at commas outside brackets. */
static unsigned split(
    struct arena *arena, const char *from, const char *to, const char **parts, unsigned max)
{
    unsigned nr = 0, depth = 0;
    const char *start = from;
    if (!*trimmed(arena, from, to))
        return 0;
    for (const char *p = from; p <= to && nr < max; p++) {
        if (p < to && (*p == '(' || *p == '[' || *p == '{'))
            depth++;
        else if (p < to && (*p == ')' || *p == ']' || *p == '}'))
            depth--;
        if (p == to || (*p == ',' && !depth)) {
            parts[nr++] = trimmed(arena, start, p);
            start = p + 1;
        }
    }
    return nr;
}

static void split_dim3(struct arena *arena, const char *text, const char *dims[3])
{
    dims[0] = dims[1] = dims[2] = "1";
    const size_t len = strlen(text);
    const char *open = str_starts(text, "dim3") ? strchr(text, '(') : NULL;
    if (open && text[len - 1] == ')')
        split(arena, open + 1, text + len - 1, dims, 3);
    else
        dims[0] = text;
}

static const char *find(const char *from, const char *to, const char *what)
{
    const size_t len = strlen(what);
    for (; from + len <= to; from++)
        if (!strncmp(from, what, len))
            return from;
    return NULL;
}

static const char *closing(const char *open, const char *to)
{
    unsigned depth = 0;
    for (const char *p = open; p < to; p++) {
        depth += *p == '(';
        depth -= *p == ')';
        if (!depth)
            return p;
    }
    return NULL;
}

bool launch_line_read(
    const struct rewrite_in *in, unsigned launch, struct launch_line *line, struct rewrite_out *out)
{
    *line = (struct launch_line){0};
    if (launch >= in->plan->nr_launches)
        return rewrite_refuse(in, out, "there is no launch %u", launch + 1);
    const struct launch *l = &in->plan->launches[launch];
    const char *to = in->source + in->bytes;
    const char *from = in->source + source_line_at(in, l->line);
    const char *begin = find(from, to, "<<<");
    const char *end = begin ? find(begin, to, ">>>") : NULL;
    const char *open = end ? find(end, to, "(") : NULL;
    const char *close = open ? closing(open, to) : NULL;
    const char *parts[4];
    unsigned nr = close ? split(in->arena, begin + 3, end, parts, 4) : 0;
    if (nr < 2)
        return rewrite_refuse(in, out, "the launch in line %u is not <<<grid, block>>>", l->line);
    line->launch = launch;
    line->start = (unsigned)(begin - in->source);
    line->end = (unsigned)(end + 3 - in->source);
    split_dim3(in->arena, parts[0], line->grid);
    split_dim3(in->arena, parts[1], line->block);
    line->smem = nr > 2 ? parts[2] : NULL;
    line->args_start = (unsigned)(open + 1 - in->source);
    line->args_end = (unsigned)(close - in->source);
    line->nr_args = split(in->arena, open + 1, close, line->args, LAUNCH_LINE_MAX_ARGS);
    line->in_clusters = str_starts(close + 1 + strspn(close + 1, " \t"), "cluster");
    return true;
}

bool launch_lines_read(const struct rewrite_in *in, const struct node *function,
    struct launch_lines *lines, struct rewrite_out *out)
{
    const unsigned nr = rewrite_nr_launches_of(in, function);
    *lines = (struct launch_lines){.items = arena_array(in->arena, nr, sizeof(*lines->items))};
    for (unsigned l = 0; l < in->plan->nr_launches; l++)
        if (rewrite_kernel(in, l) == function &&
            !launch_line_read(in, l, &lines->items[lines->nr++], out))
            return false;
    return true;
}

static void add_dims(struct str *s, const char *const dims[3])
{
    if (!strcmp(dims[1], "1") && !strcmp(dims[2], "1"))
        str_add(s, dims[0]);
    else if (!strcmp(dims[2], "1"))
        str_addf(s, "dim3(%s, %s)", dims[0], dims[1]);
    else
        str_addf(s, "dim3(%s, %s, %s)", dims[0], dims[1], dims[2]);
}

const char *launch_line_argument(
    const struct launch_line *line, const struct node *function, const struct node *param)
{
    const int number = function_param_number(function, param);
    return number >= 0 && (unsigned)number < line->nr_args && !node_assigns(function, param)
               ? line->args[number]
               : NULL;
}

void launch_line_write(const struct launch_line *line, struct edits *edits)
{
    struct str s = {0};
    str_add(&s, "<<<");
    add_dims(&s, line->grid);
    str_add(&s, ", ");
    add_dims(&s, line->block);
    if (line->smem)
        str_addf(&s, ", %s", line->smem);
    str_add(&s, ">>>");
    edits_replace(edits, line->start, line->end, "%s", str_text(&s));
    str_finish(&s);
}
