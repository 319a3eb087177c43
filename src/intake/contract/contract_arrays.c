/* Owns the arrays of a contract: which memory an argument names, how large that memory is, and what
 * launches do with it. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* The name in the contract: s_x for s.x. It is no word of the task language. */
static const char *id_of(struct contract_builder *b, const char *name)
{
    char *id = arena_printf(b->arena, task_reserves(name) ? "%s_" : "%s", name);

    for (char *p = id; *p; p++)
        *p = *p == '.' ? '_' : *p;
    return id;
}

/* A name that no other array has and no size has or will get. */
static const char *free_name(struct contract_builder *b, const char *name)
{
    const char *free = name;

    for (unsigned n = 2;; n++) {
        bool taken = resolver_size(b->resolver, free) != NULL;

        for (unsigned i = 0; i + 1 < b->nr_arrays; i++)
            taken = taken || strcmp(b->arrays[i].id, free) == 0;
        if (!taken) {
            if (b->resolver->nr_arrays < INTAKE_MAX_ARRAYS)
                b->resolver->arrays[b->resolver->nr_arrays++] = free;
            return free;
        }
        free = arena_printf(b->arena, "%s_%u", name, n);
    }
}

/* Adds an array. NULL: there are too many. */
static struct array *add_array(struct contract_builder *b, struct array array)
{
    if (b->nr_arrays == MAX_ARRAYS)
        return NULL;
    struct array *a = &b->arrays[b->nr_arrays++];

    *a = array;
    a->id = free_name(b, id_of(b, array.name));
    return a;
}

/* The type of C of the elements: the parameter's where that has an element type, else the
 * memory's. */
static const char *type_of(struct contract_builder *b, const struct param *p,
    const struct interp_value *seen, unsigned where)
{
    const char *type = resolver_type(b->resolver, p->type, where);
    unsigned lanes;

    if (contract_elem(b, type, &lanes) || !seen->type)
        return type;
    return resolver_type(b->resolver, seen->type->text, where);
}

struct interp_value contract_elements(
    struct contract_builder *b, const struct memory *m, unsigned each)
{
    return (struct interp_value){.kind = m->bytes < 0 ? VALUE_SIZE : VALUE_INT,
        .i = m->bytes / each,
        .said = said_share(b->arena, m->said, each)};
}

/* Sets the extent: an expression over sizes where the program says the bytes so, else the number.
 */
static void set_extent(struct contract_builder *b, struct array *a, const struct interp_value *seen)
{
    const struct memory *m = seen->memory;
    const unsigned each = interp_type_bytes(contract_types(b), a->type);

    if (m->is_tensor) {
        a->extent =
            contract_text(b, &(struct interp_value){.kind = VALUE_SIZE, .said = m->said}, false);
    } else if (m->bytes < 0 && !m->said) {
        a->extent =
            resolver_unknown(b->resolver, arena_printf(b->arena, "%s_elems", a->name), a->line);
        a->why = arena_printf(b->arena, "no allocation of %s is in this file", a->name);
    } else if (!each) {
        a->why = arena_printf(b->arena, "the size of type %s is not known", a->type);
    } else if (m->bytes >= 0 && m->bytes - seen->i < each) {
        a->why = "its allocation has no bytes";
    } else {
        const struct interp_value whole = contract_elements(b, m, each);

        a->whole = whole.kind == VALUE_SIZE || whole.said ? contract_text(b, &whole, false) : NULL;
        a->extent = seen->i == 0 && a->whole
                        ? a->whole
                        : arena_printf(b->arena, "%lld", (long long)((m->bytes - seen->i) / each));
    }
}

struct array *contract_array(struct contract_builder *b, const struct param *p,
    const struct interp_value *seen, const char *name)
{
    if (seen->kind != VALUE_MEMORY)
        return NULL;
    const struct memory *m = seen->memory;

    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (b->arrays[i].memory == m && b->arrays[i].offset == seen->i)
            return &b->arrays[i];
    struct array *a = add_array(b, (struct array){.name = name      ? name
                                                          : m->name ? m->name
                                                                    : p->name,
                                       .param = p->name,
                                       .type = type_of(b, p, seen, m->at),
                                       .line = m->line,
                                       .memory = m,
                                       .offset = seen->i});

    if (a)
        set_extent(b, a, seen);
    return a;
}

struct array *contract_array_named(struct contract_builder *b, const char *name)
{
    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (strcmp(b->arrays[i].name, name) == 0)
            return &b->arrays[i];
    return NULL;
}

struct array *contract_unknown_array(
    struct contract_builder *b, const char *name, const struct param *p, unsigned line)
{
    struct array *a = contract_array_named(b, name);

    if (a)
        return a;
    a = add_array(b, (struct array){.name = name,
                         .type = resolver_type(b->resolver, p->type, 0),
                         .param = p->name,
                         .line = line,
                         .why = "nothing gives it"});
    if (a)
        a->extent = resolver_unknown(b->resolver, arena_printf(b->arena, "%s_numel", name), line);
    return a;
}

struct array *contract_texel_array(struct contract_builder *b, const char *name, const char *type,
    const char *const *size, unsigned nr, unsigned line)
{
    struct array *a = contract_array_named(b, name);
    struct str extent = {0};

    for (unsigned d = nr; d-- > 0;)
        str_addf(&extent, strpbrk(size[d], "+-/%?<>") ? "%s(%s)" : "%s%s", extent.len ? "*" : "",
            size[d]);
    const char *text = str_move(&extent, b->arena);

    return a ? a
             : add_array(b, (struct array){.name = name,
                                .param = name,
                                .type = resolver_type(b->resolver, type, 0),
                                .line = line,
                                .extent = text});
}

/* A number of elements as a share of their allocation, where the text for the whole is known:
 * (3*B*T*C)/3; else the number. */
static const char *share_of(struct contract_builder *b, const char *whole, int64_t elems)
{
    enum { MOST_SHARES = 16 };
    int64_t all;

    if (whole && resolver_evaluate(b->resolver, whole, &all) && all % elems == 0 &&
        all / elems <= MOST_SHARES)
        return arena_printf(b->arena, "(%s)/%lld", whole, (long long)(all / elems));
    return arena_printf(b->arena, "%lld", (long long)elems);
}

/* The array is the only pointer into its allocation, and points a little behind its beginning. What
 * stands before the pointer belongs to the array too, as a halo does. The array becomes the whole
 * allocation, and launches get its address plus the offset. False: it is not so. */
static bool point_inside(struct contract_builder *b, struct array *a)
{
    enum { LEAST_PARTS = 16 }; /* at most one such part stands before the pointer */
    unsigned lanes = 1;
    const char *elem = a->memory && a->offset > 0 && a->memory->bytes >= 0
                           ? contract_elem(b, a->type, &lanes)
                           : NULL;
    const unsigned each = elem && *elem != '{' ? interp_type_bytes(contract_types(b), a->type) : 0;

    if (!each || a->offset % (each / lanes) != 0 || a->offset > a->memory->bytes / LEAST_PARTS)
        return false;
    for (unsigned k = 0; k < b->nr_arrays; k++)
        if (&b->arrays[k] != a && b->arrays[k].memory == a->memory)
            return false;
    a->extent =
        a->whole ? a->whole : arena_printf(b->arena, "%lld", (long long)(a->memory->bytes / each));
    for (unsigned l = 0; l < b->nr_launches; l++)
        for (unsigned i = 0; a->launches >> l & 1 && i < b->launches[l].nr_args; i++)
            b->launches[l].args[i] = spelling_with_text(b->arena, b->launches[l].args[i], a->id,
                arena_printf(
                    b->arena, "%s + %lld", a->id, (long long)(a->offset / (each / lanes))));
    return true;
}

/* Each pointer into an allocation ends where the next one begins. */
void contract_part_arrays(struct contract_builder *b)
{
    for (unsigned i = 0; i < b->nr_arrays; i++) {
        struct array *a = &b->arrays[i];

        if (point_inside(b, a))
            continue;
        const unsigned each = a->memory ? interp_type_bytes(contract_types(b), a->type) : 0;
        int64_t end = a->memory ? a->memory->bytes : 0;

        for (unsigned k = 0; a->memory && k < b->nr_arrays; k++)
            if (b->arrays[k].memory == a->memory && b->arrays[k].offset > a->offset &&
                b->arrays[k].offset < end)
                end = b->arrays[k].offset;
        if (!a->memory || a->memory->bytes < 0 || (a->offset == 0 && end == a->memory->bytes))
            continue;
        a->extent = each && end - a->offset >= each
                        ? share_of(b, a->whole, (end - a->offset) / each)
                        : NULL;
        a->why = "another pointer begins inside of its memory";
    }
}

const char *contract_array_lacks(struct contract_builder *b, const struct array *a)
{
    unsigned lanes;

    if (!contract_elem(b, a->type, &lanes))
        return arena_printf(
            b->arena, "type %s of %s is no element type of the task language", a->type, a->name);
    return a->extent ? NULL
                     : arena_printf(b->arena, "the number of elements of %s: %s", a->name, a->why);
}

void contract_use_array(struct array *a, const struct param *p, unsigned launch)
{
    bool fresh = !a->read && !a->written;

    if (fresh)
        a->first_launch = launch;
    a->last_launch = launch;
    a->launches |= UINT32_C(1) << launch;
    /* a kernel that gets the array twice may read through one name what it writes through the
     * other */
    a->read_first = a->read_first || (p->reads && (!a->written || a->first_write == launch));
    if (p->writes && !a->written)
        a->first_write = launch;
    a->read = a->read || p->reads;
    a->written = a->written || p->writes;
    a->atomics = a->atomics || p->atomics;
}
