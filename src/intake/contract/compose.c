/* Owns the text of the kernel file, and the numbers that are put into its lines afterwards. */
#include "base/file.h"
#include "base/str.h"
#include "intake/intake.h"
#include "intake/syntax/spelling.h"

#include <string.h>

void intake_compose(struct intake *in, struct arena *arena)
{
    struct str out = {0};

    str_add(&out, in->code);
    while (out.len > 0 && out.text[out.len - 1] == '\n')
        out.text[--out.len] = 0;
    /* The file's name alone: a search follows from the text of the task, not from where its file
     * lies. */
    str_addf(&out, "\n\n// The task, as read from the host code of %s.\n", file_name(in->path));
    for (unsigned i = 0; i < in->nr_lines; i++) {
        const struct intake_line *l = &in->lines[i];

        if (l->missing)
            str_addf(&out, "// TO COMPLETE (%s), for example:\n// %s\n", l->from, l->pragma);
        else
            str_addf(&out, "// from %s\n%s\n", l->from, l->pragma);
    }
    in->text = str_move(&out, arena);
}

/* "... a : f32[a_elems]" with the value in place of the name: in parentheses where something stands
 * beside it. */
static const char *with_value(
    struct arena *arena, const char *text, const char *name, const char *value)
{
    const char *bare = arena_printf(arena, "[%s]", name);
    const char *at = strstr(text, bare);

    if (at)
        text = arena_printf(arena, "%.*s[%s]%s", (int)(at - text), text, value, at + strlen(bare));
    return spelling_with_text(arena, text, name, arena_printf(arena, "(%s)", value));
}

void intake_assume(
    struct intake *in, struct arena *arena, const char *name, const char *value, const char *why)
{
    const bool number = value[strspn(value, "-.0123456789")] == 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line l = in->lines[i];
        const bool own = l.number && strcmp(l.number, name) == 0;

        if (own) {
            in->nr_missing--;
            if (!number)
                continue;
            l.pragma = arena_printf(
                arena, "%.*s= %s", (int)(strrchr(l.pragma, '=') - l.pragma), l.pragma, value);
            l.from = arena_printf(arena, "assumed: %s; %s", l.from, why);
            l.missing = false;
            l.assumed = true;
            l.number = NULL;
        } else if (!number && !l.number) {
            const char *text = with_value(arena, l.pragma, name, value);

            if (strcmp(text, l.pragma) != 0) {
                l.from = arena_printf(arena, "%s; %s", l.from, why);
                l.assumed = true;
            }
            l.pragma = text;
        }
        in->lines[nr++] = l;
    }
    in->nr_lines = nr;
}

bool intake_divide_indices(struct intake *in, struct arena *arena, unsigned divisor)
{
    bool any = false;

    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line *l = &in->lines[i];
        const char *tail = l->indexed ? strstr(l->pragma, " = integers(0, ") : NULL;

        if (!tail)
            continue;
        any = true;
        l->pragma = arena_printf(arena, "%.*s = integers(0, (%s)/%u - 1)", (int)(tail - l->pragma),
            l->pragma, l->indexed, divisor);
        l->from = arena_printf(arena,
            "%s; assumed: below 1/%u of it, so that the kernel stays inside", l->from, divisor);
        l->assumed = true;
    }
    return any;
}

void intake_set_role(
    struct intake *in, struct arena *arena, const char *array, const char *role, const char *why)
{
    static const char head[] = "#pragma keet in     ";

    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line *l = &in->lines[i];

        if (!l->array || strcmp(l->array, array) != 0)
            continue;
        const char *rest = l->pragma + strlen(head);
        const bool filled = strcmp(role, "out") != 0 || !strstr(rest, " = ");

        l->pragma = arena_printf(arena, "#pragma keet %-6s %.*s", role,
            (int)(filled ? strlen(rest) : (size_t)(strstr(rest, " = ") - rest)), rest);
        l->from = arena_printf(arena, "%s; %s", l->from, why);
        l->array = NULL;
    }
}
