/* Owns which large numbers of a contract are sizes. Host code may hand a size on through fields and
 * copies that its text does not show; the contract then has a plain number. */
#include "intake/contract/contract_builder.h"

#include "base/str.h"
#include "core/task.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_NAMED = 4096, /* smaller numbers are often equal by chance, */
    LEAST_SHARE = 16384 /* and shares of a size even more so */
};

const char *contract_size_of(const struct contract_builder *b, double value)
{
    const struct resolver *resolver = b->resolver;
    const char *name = NULL;

    for (unsigned i = 0; i < resolver->nr_sizes; i++)
        if (resolver->sizes[i].known && (double)resolver->sizes[i].value == value) {
            if (name)
                return NULL;
            name = resolver->sizes[i].name;
        }
    return name;
}

static bool is_number(const char *text, int64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    *value = strtoll(text, &end, 10);
    return *end == 0;
}

/* Makes a size of the variable of the host that has this number. NULL: none or several have it, or
 * the device uses it. */
static const char *variable_size(struct contract_builder *b, int64_t value, unsigned line)
{
    struct resolver *resolver = b->resolver;
    const char *name = b->interp ? interp_name(b->interp, (double)value) : NULL;

    if (!name || resolver->nr_sizes == INTAKE_MAX_SIZES || resolver_device_uses(resolver, name) ||
        task_reserves(name))
        return NULL;
    if (resolver_size(resolver, name))
        return NULL;
    resolver->sizes[resolver->nr_sizes++] = (struct size){name, value, true, line};
    return name;
}

/* A number as a share of a size: n/256, where a launch has the 256. NULL: no size or several give
 * it. */
static const char *share_of_size(struct contract_builder *b, int64_t value)
{
    const char *text = NULL;

    for (unsigned i = 0; i < b->resolver->nr_sizes; i++) {
        const struct size *s = &b->resolver->sizes[i];
        const int64_t part = s->value % value == 0 ? s->value / value : 0;

        if (!s->known || part < 2 ||
            !contract_launched_with(b, arena_printf(b->arena, "%" PRId64, part)))
            continue;
        if (text)
            return NULL;
        text = arena_printf(b->arena, "%s/%" PRId64, s->name, part);
    }
    return text;
}

/* Puts a name in place of the arguments of launches that are this number. */
static void name_arguments(struct contract_builder *b, int64_t value, const char *name)
{
    const char *number = arena_printf(b->arena, "%" PRId64, value);

    for (unsigned l = 0; l < b->nr_launches; l++)
        for (unsigned a = 0; a < b->launches[l].nr_args; a++)
            if (strcmp(b->launches[l].args[a], number) == 0)
                b->launches[l].args[a] = name;
}

void contract_name_numbers(struct contract_builder *b)
{
    int64_t value;

    for (unsigned i = 0; i < b->nr_arrays; i++) {
        struct array *a = &b->arrays[i];
        const char *name;

        if (!a->extent || !is_number(a->extent, &value) || value < LEAST_NAMED)
            continue;
        name = contract_size_of(b, (double)value);
        if (!name)
            name = variable_size(b, value, a->line);
        if (!name)
            continue;
        name_arguments(b, value, name);
        a->extent = name;
    }
    for (unsigned i = 0; i < b->nr_arrays; i++) {
        struct array *a = &b->arrays[i];
        const char *share;

        if (a->extent && is_number(a->extent, &value) && value >= LEAST_SHARE &&
            (share = share_of_size(b, value)) != NULL)
            a->extent = share;
    }
}
