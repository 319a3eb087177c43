/* Owns the arrays of a contract: which memory an argument names, how large that memory is, and what
 * launches do with it. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "intake/syntax/spelling.h"

#include <string.h>

static bool range_has(struct tok_range r, const char *name)
{
    const char *word = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;

    for (unsigned i = r.from; i < r.to; i++)
        if (tok_is(&r.toks->tok[i], word))
            return true;
    return false;
}

static void note_copies(struct contract_builder *b, struct array *a)
{
    const struct toks *toks = b->resolver->toks;

    for (unsigned i = 0; i + 1 < toks->nr; i++) {
        struct tok_range args[5];
        bool copy = tok_is(&toks->tok[i], "cudaMemcpy") || tok_is(&toks->tok[i], "cudaMemcpyAsync");
        bool fill = tok_is(&toks->tok[i], "cudaMemset") || tok_is(&toks->tok[i], "cudaMemsetAsync");

        if ((!copy && !fill) || !tok_is(&toks->tok[i + 1], "("))
            continue;
        unsigned nr = tok_range_split(
            (struct tok_range){toks, i + 2, toks->tok[i + 1].match}, args, ARRAY_SIZE(args));

        if (copy && nr >= 4) {
            a->from_host = a->from_host || (range_has(args[0], a->name) &&
                                               !range_has(args[3], "cudaMemcpyDeviceToHost"));
            a->to_host = a->to_host || (range_has(args[1], a->name) &&
                                           !range_has(args[3], "cudaMemcpyHostToDevice"));
        } else if (fill && nr >= 3 && range_has(args[0], a->name) &&
                   args[1].to == args[1].from + 1 &&
                   strcmp(toks->tok[args[1].from].text, "0") == 0) {
            a->filled = "0";
        }
    }
}

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

/* The type of C of the elements: the parameter's where that has an element type, else the
 * memory's. */
static const char *type_of(struct contract_builder *b, const struct param *p,
    const struct interp_value *seen, unsigned where)
{
    const char *type = resolver_type(b->resolver, p->type, where);
    unsigned lanes;

    if (contract_elem(b, type, &lanes) || contract_record(b, type) || !seen || !seen->type)
        return type;
    return resolver_type(b->resolver, seen->type->text, where);
}

/* The extent of an allocation in the words of the program; NULL: these words do not come to
 * `elems`. */
static const char *said_extent(
    struct contract_builder *b, const char *name, unsigned where, int64_t elems)
{
    struct str text = {0};
    const char *ignored;
    unsigned nr_sizes = b->resolver->nr_sizes, line;
    int64_t value;

    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.strict = true});
    bool same = resolver_extent(b->resolver, name, where, &text, &ignored, &line) &&
                resolver_evaluate(b->resolver, str_text(&text), &value) && value == elems;
    const char *said = same ? spelling_tidy(b->arena, str_text(&text)) : NULL;

    b->resolver->mode = before;
    if (!same)
        b->resolver->nr_sizes = nr_sizes;
    str_finish(&text);
    return said;
}

/* The first token behind a line. */
static unsigned token_behind(const struct toks *toks, unsigned line)
{
    unsigned i = 0;

    while (i < toks->nr && toks->tok[i].line <= line)
        i++;
    return i;
}

/* Sets the extent that the bytes of the allocation come to: an expression over sizes where the
 * program's words come to the same, else the number. */
static void measured_extent(
    struct contract_builder *b, struct array *a, const struct interp_value *seen, unsigned where)
{
    const struct memory *m = seen->memory;
    unsigned each = spelling_bytes(a->type);

    if (!each)
        each = interp_type_bytes(contract_types(b), a->type);
    if (!each) {
        a->why = arena_printf(b->arena, "the size of type %s is not known", a->type);
        return;
    }
    a->whole = said_extent(b, a->name, where, m->bytes / each);
    if (!a->whole && m->name && m->line)
        a->whole =
            said_extent(b, m->name, token_behind(b->resolver->toks, m->line), m->bytes / each);
    if (m->bytes - seen->i >= each)
        a->extent = seen->i == 0 && a->whole
                        ? a->whole
                        : arena_printf(b->arena, "%lld", (long long)((m->bytes - seen->i) / each));
    else
        a->why = "its allocation has no bytes";
}

/* The array that the interpreter saw behind an argument. */
static struct array *seen_array(struct contract_builder *b, const struct param *p,
    struct tok_range arg, unsigned at, const struct interp_value *seen)
{
    const struct memory *m = seen->memory;
    const char *name;
    unsigned where = at;

    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (b->arrays[i].memory == m && b->arrays[i].offset == seen->i)
            return &b->arrays[i];
    if (b->nr_arrays == MAX_ARRAYS)
        return NULL;
    if (arg.from >= arg.to || !resolver_pointer(b->resolver, arg, at, &name, &where))
        name = m->name ? m->name : p->name;
    struct array *a = &b->arrays[b->nr_arrays++];

    *a = (struct array){.name = name,
        .id = id_of(b, name),
        .param = p->name,
        .type = type_of(b, p, seen, where),
        .line = m->line,
        .memory = m,
        .offset = seen->i,
        .to_host = m->to_host,
        .from_host = m->from_host,
        .filled = m->zeroed ? "0" : NULL};
    measured_extent(b, a, seen, where);
    a->id = free_name(b, a->id);
    note_copies(b, a);
    return a;
}

struct array *contract_array_named(struct contract_builder *b, const char *name)
{
    for (unsigned i = 0; i < b->nr_arrays; i++)
        if (strcmp(b->arrays[i].name, name) == 0)
            return &b->arrays[i];
    return NULL;
}

struct array *contract_array(struct contract_builder *b, const struct param *p,
    struct tok_range arg, unsigned at, const struct interp_value *seen)
{
    const char *name, *declared = "";
    unsigned where;

    if (seen && seen->kind == VALUE_MEMORY && seen->memory->bytes >= 0)
        return seen_array(b, p, arg, at, seen);
    if (arg.from >= arg.to || !resolver_pointer(b->resolver, arg, at, &name, &where))
        return NULL;
    struct array *a = contract_array_named(b, name);

    if (a || b->nr_arrays == MAX_ARRAYS)
        return a;
    a = &b->arrays[b->nr_arrays++];
    struct str elems = {0};
    bool tensor = range_has(arg, "data_ptr") || range_has(arg, "mutable_data_ptr") ||
                  range_has(arg, "const_data_ptr");
    bool offset = toks_find(arg.toks, arg.from, arg.to, "+") < arg.to;

    *a = (struct array){.name = name,
        .id = id_of(b, name),
        .type = p->type,
        .param = p->name,
        .line = b->resolver->toks->tok[at].line};
    a->id = free_name(b, a->id);
    if (tensor)
        a->why = "it is a tensor";
    else if (resolver_extent(b->resolver, name, where, &elems, &declared, &a->line) && !offset)
        a->extent = spelling_tidy(b->arena, str_text(&elems));
    else
        a->why = offset
                     ? arena_printf(b->arena, "the argument for %s is inside of %s", p->name, name)
                     : b->resolver->why;
    str_finish(&elems);
    unsigned lanes;

    if (!spelling_elem(resolver_type(b->resolver, a->type, where), &lanes) && *declared)
        a->type = declared;
    a->type = resolver_type(b->resolver, a->type, where);
    note_copies(b, a);
    return a;
}

struct array *contract_unknown_array(
    struct contract_builder *b, const struct param *p, unsigned line)
{
    struct array *a = contract_array_named(b, p->name);

    if (a || b->nr_arrays == MAX_ARRAYS)
        return a;
    a = &b->arrays[b->nr_arrays++];
    *a = (struct array){.name = p->name,
        .type = p->type,
        .param = p->name,
        .line = line,
        .why = "nothing gives it"};
    a->id = free_name(b, p->name);
    a->extent = resolver_unknown(b->resolver, arena_printf(b->arena, "%s_numel", p->name), line);
    return a;
}

struct array *contract_texel_array(struct contract_builder *b, const char *name, const char *type,
    const char *const *size, unsigned nr, unsigned line)
{
    struct array *a = contract_array_named(b, name);
    struct str extent = {0};

    if (a || b->nr_arrays == MAX_ARRAYS)
        return a;
    for (unsigned d = nr; d-- > 0;)
        str_addf(&extent, strpbrk(size[d], "+-/%?<>") ? "%s(%s)" : "%s%s", extent.len ? "*" : "",
            size[d]);
    a = &b->arrays[b->nr_arrays++];
    *a = (struct array){.name = name,
        .param = name,
        .type = resolver_type(b->resolver, type, 0),
        .line = line,
        .extent = arena_strdup(b->arena, str_text(&extent))};
    a->id = free_name(b, id_of(b, name));
    str_finish(&extent);
    return a;
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
    const char *elem = a->memory && a->offset > 0 ? contract_elem(b, a->type, &lanes) : NULL;
    const unsigned each = elem ? interp_type_bytes(contract_types(b), a->type) : 0;

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
        unsigned each = a->memory ? spelling_bytes(a->type) : 0;
        int64_t end = a->memory ? a->memory->bytes : 0;

        for (unsigned k = 0; a->memory && k < b->nr_arrays; k++)
            if (b->arrays[k].memory == a->memory && b->arrays[k].offset > a->offset &&
                b->arrays[k].offset < end)
                end = b->arrays[k].offset;
        if (!a->memory || (a->offset == 0 && end == a->memory->bytes))
            continue;
        if (!each)
            each = interp_type_bytes(contract_types(b), a->type);
        a->extent = each && end - a->offset >= each
                        ? share_of(b, a->whole, (end - a->offset) / each)
                        : NULL;
        a->why = "another pointer begins inside of its memory";
    }
}

/* The tensor x whose shape a tensor has that empty_like(x) made; of another tensor, its own
 * name. */
static const char *like(struct contract_builder *b, const char *name, unsigned at)
{
    for (unsigned up = 0; up < 4; up++) {
        struct tok_range value;
        unsigned where, i;
        const char *other = NULL;

        if (!resolver_definition(b->resolver, name, at, &value, &where))
            break;
        for (i = value.from; i + 2 < value.to && !other; i++) {
            const struct tok *t = &value.toks->tok[i];

            if (t->kind == TOK_NAME && str_ends(t->text, "_like") &&
                tok_is(&value.toks->tok[i + 1], "(") && value.toks->tok[i + 2].kind == TOK_NAME)
                other = value.toks->tok[i + 2].text;
        }
        if (!other && value.to == value.from + 1 && value.toks->tok[value.from].kind == TOK_NAME)
            other = value.toks->tok[value.from].text;
        if (!other)
            break;
        name = other;
        at = where;
    }
    return name;
}

/* torch::zeros({m, n}, options): adds the product of the list. False: the tensor was not made
 * so. */
static bool made_of_list(struct contract_builder *b, const char *name, unsigned at, struct str *out)
{
    struct tok_range value, dims[6];
    unsigned where;

    if (!resolver_definition(b->resolver, name, at, &value, &where))
        return false;
    for (unsigned i = value.from; i + 1 < value.to; i++) {
        const struct tok *brace = &value.toks->tok[i + 1];

        if (!tok_is(&value.toks->tok[i], "(") || !tok_is(brace, "{") || !brace->match)
            continue;
        unsigned nr = tok_range_split((struct tok_range){value.toks, i + 2, brace->match}, dims, 6);

        for (unsigned d = 0; d < nr; d++) {
            str_add(out, d ? "*(" : "(");
            if (!resolver_integer(b->resolver, dims[d], where, out))
                return false;
            str_add_char(out, ')');
        }
        return nr > 0;
    }
    return false;
}

void contract_tensor_extent(struct contract_builder *b, struct array *a, struct tok_range arg)
{
    struct resolver *resolver = b->resolver;
    struct str product = {0};

    if (a->extent || !(range_has(arg, "data_ptr") || range_has(arg, "mutable_data_ptr") ||
                         range_has(arg, "const_data_ptr") || range_has(arg, "data")))
        return;
    const char *tensor = like(b, a->name, arg.from);

    if (made_of_list(b, tensor, arg.from, &product))
        a->extent = spelling_tidy(b->arena, str_text(&product));
    str_finish(&product);
    const char *name = arena_printf(b->arena, "%s_numel", tensor);

    if (!a->extent && resolver_size(resolver, name))
        a->extent = name;
    if (!a->extent && resolver->nr_sizes < INTAKE_MAX_SIZES) {
        resolver->sizes[resolver->nr_sizes++] = (struct size){name, 0, false, a->line};
        a->extent = name;
    }
}

const char *contract_array_lacks(struct contract_builder *b, const struct array *a)
{
    unsigned lanes;

    if (!contract_elem(b, a->type, &lanes) && !contract_record(b, a->type))
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
