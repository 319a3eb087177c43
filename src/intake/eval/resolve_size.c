/* Owns the sizes of a contract: the names that numbers get. */
#include "intake/eval/resolve_parts.h"

#include "core/expr.h"
#include "core/task.h"

#include <string.h>

bool resolve_refuse(struct resolver *resolver, const char *what, const char *name)
{
    resolver->why = arena_printf(resolver->arena, "%s%s%s", what, *name ? " " : "", name);
    return false;
}

bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value)
{
    struct binding bindings[INTAKE_MAX_SIZES];
    struct env env = {bindings, 0};
    struct err err = {0};

    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (resolver->sizes[i].known)
            bindings[env.nr++] =
                (struct binding){resolver->sizes[i].name, resolver->sizes[i].value};
    const struct expr *e = expr_parse(resolver->arena, text, strlen(text), &err);
    return e && expr_eval(e, &env, value, &err);
}

const struct size *resolver_size(const struct resolver *resolver, const char *name)
{
    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (strcmp(resolver->sizes[i].name, name) == 0)
            return &resolver->sizes[i];
    return NULL;
}

const char *resolve_as_size(
    struct resolver *resolver, const char *name, int64_t value, bool known, unsigned line)
{
    if (task_reserves(name))
        name = arena_printf(resolver->arena, "%s_", name);
    for (unsigned i = 0; i < resolver->nr_arrays; i++)
        if (strcmp(resolver->arrays[i], name) == 0) { /* shape[dim] beside the array shape */
            name = arena_printf(resolver->arena, "%s_value", name);
            break;
        }
    const char *spelling = name;

    for (unsigned n = 2; resolver_size(resolver, spelling); n++) {
        const struct size *old = resolver_size(resolver, spelling);

        if (old->value == value && old->known == known)
            return spelling;
        spelling = arena_printf(resolver->arena, "%s%u", name, n);
    }
    if (resolver->nr_sizes == INTAKE_MAX_SIZES)
        return NULL;
    resolver->sizes[resolver->nr_sizes++] = (struct size){spelling, value, known, line};
    return spelling;
}

void resolve_cut(struct str *out, size_t mark)
{
    while (out->len > mark)
        out->text[--out->len] = 0;
}

const char *resolve_clean_name(struct resolver *resolver, const char *name)
{
    struct str clean = {0};

    for (const char *p = name; *p; p++) /* cfg.n, sizes[0] */
        if (str_word_char(*p))
            str_add_char(&clean, *p);
        else if (clean.len && clean.text[clean.len - 1] != '_')
            str_add_char(&clean, '_');
    while (clean.len > 1 && clean.text[clean.len - 1] == '_')
        clean.text[--clean.len] = 0;
    name = arena_strdup(resolver->arena, clean.len ? str_text(&clean) : "size");
    str_finish(&clean);
    return name;
}

const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line)
{
    return resolver->mode.strict
               ? NULL
               : resolve_as_size(resolver, resolve_clean_name(resolver, name), 0, false, line);
}

bool resolve_ask(
    struct resolver *resolver, const char *name, unsigned line, struct str *out, size_t mark)
{
    const char *size = resolver_unknown(resolver, name, line);

    if (!size)
        return false;
    resolve_cut(out, mark);
    str_add(out, size);
    return true;
}
