/* Owns the text of the kernel file, and the numbers that are put into its lines afterwards. */
#include "base/file.h"
#include "base/str.h"
#include "intake/intake.h"
#include "intake/syntax/spelling.h"

#include <string.h>

const char *intake_pragma(struct arena *arena, const struct intake_line *l)
{
    static const char *const words[] = {[INTAKE_SIZE] = "size",
        [INTAKE_CHECK] = "check",
        [INTAKE_SYMBOL] = "symbol",
        [INTAKE_SCALAR] = "scalar",
        [INTAKE_LAUNCH] = "launch"};
    const bool typed = l->name && l->text && l->kind != INTAKE_LAUNCH,
               inout = l->kind == INTAKE_SYMBOL && strcmp(l->role, "inout") == 0;

    return arena_printf(arena, "#pragma keet %-6s %s%s%s%s%s%s",
        l->kind == INTAKE_ARRAY ? l->role : words[l->kind], inout ? "inout " : "",
        l->name ? l->name : "", typed ? " : " : "", l->text ? l->text : "",
        l->contents ? " = " : "", l->contents ? l->contents : "");
}

bool intake_lacks_number(const struct intake_line *line)
{
    return line->missing && (line->kind == INTAKE_SIZE || line->kind == INTAKE_SCALAR);
}

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

        str_addf(&out,
            l->missing ? "// TO COMPLETE (%s), for example:\n// %s\n" : "// from %s\n%s\n", l->from,
            intake_pragma(arena, l));
    }
    in->text = str_move(&out, arena);
}

/* Puts the value in place of the name: in parentheses where it is no plain number and something
 * stands beside it. False: the text has no such name. */
static bool put_value(struct arena *arena, const char **text, const char *name, const char *value)
{
    const char *bare = arena_printf(arena, "[%s]", name), *old = *text;
    const char *at = old ? strstr(old, bare) : NULL;

    if (!old)
        return false;
    if (at)
        *text = arena_printf(arena, "%.*s[%s]%s", (int)(at - old), old, value, at + strlen(bare));
    *text = spelling_with_text(arena, *text, name,
        value[strspn(value, "0123456789")] ? arena_printf(arena, "(%s)", value) : value);
    return strcmp(*text, old) != 0;
}

void intake_assume(
    struct intake *in, struct arena *arena, const char *name, const char *value, const char *why)
{
    bool number = value[strspn(value, "0123456789")] == 0 && strcmp(value, "0") != 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < in->nr_lines; i++) /* a size is at least 1, a scalar any number */
        number |= in->lines[i].kind == INTAKE_SCALAR && strcmp(in->lines[i].name, name) == 0;
    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line l = in->lines[i];

        if (intake_lacks_number(&l) && strcmp(l.name, name) == 0) {
            in->nr_missing--;
            if (!number)
                continue;
            l.contents = value;
            l.from = arena_printf(arena, "assumed: %s; %s", l.from, why);
            l.missing = false;
            l.assumed = true;
        } else if (!number && !intake_lacks_number(&l)) {
            const bool text = put_value(arena, &l.text, name, value),
                       id = l.kind == INTAKE_LAUNCH && put_value(arena, &l.name, name, value);

            if (put_value(arena, &l.contents, name, value) || text || id) {
                l.from = arena_printf(arena, "%s; %s", l.from, why);
                l.assumed = true;
            }
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

        if (!l->indexed)
            continue;
        any = true;
        l->contents = arena_printf(arena, "integers(0, (%s)/%u - 1)", l->indexed, divisor);
        l->from = arena_printf(arena,
            "%s; assumed: below 1/%u of it, so that the kernel stays inside", l->from, divisor);
        l->assumed = true;
    }
    return any;
}

void intake_set_role(
    struct intake *in, struct arena *arena, const char *array, const char *role, const char *why)
{
    for (unsigned i = 0; i < in->nr_lines; i++) {
        struct intake_line *l = &in->lines[i];

        if (l->kind != INTAKE_ARRAY || strcmp(l->role, "in") != 0 || strcmp(l->name, array) != 0)
            continue;
        l->role = role;
        l->contents = strcmp(role, "out") == 0 ? NULL : l->contents;
        l->from = arena_printf(arena, "%s; %s", l->from, why);
    }
}
