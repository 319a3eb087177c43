/* Owns the lines of a contract, and what each line follows from. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/gather/source_set.h"
#include "intake/syntax/spelling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "line 40: cudaMalloc(&x, n * sizeof(float))"; "main.cpp, line 7: ..." of another file. */
const char *contract_shown(const struct contract_builder *b, unsigned line)
{
    const struct source_set *set = b->resolver->set;

    if (line == 0 || line > set->nr_lines)
        return "";
    unsigned at;
    const struct origin o = set->origins[line - 1];
    const struct user_file *f = source_set_origin(set, line, &at);
    const char *p = o.made ? f->code + o.at : set->text + set->starts[line - 1];

    p += strspn(p, " \t");
    size_t nr = strcspn(p, "\r\n");

    while (nr > 0 && strchr("; \t{", p[nr - 1]))
        nr--;
    return arena_printf(b->arena, "%s%sline %u: %.*s%s", o.file ? f->name : "", o.file ? ", " : "",
        at, (int)(nr < MAX_LINE_SHOWN ? nr : MAX_LINE_SHOWN), p, nr < MAX_LINE_SHOWN ? "" : "...");
}

void contract_add_line(struct contract_builder *b, struct intake_line line)
{
    b->in->lines = grow(b->in->lines, &b->cap_lines, b->in->nr_lines + 1, sizeof(*b->in->lines));
    b->in->lines[b->in->nr_lines++] = line;
    b->in->nr_missing += line.missing;
}

static void size_lines(struct contract_builder *b)
{
    const struct resolver *resolver = b->resolver;
    struct str text = {0}, from = {0};

    b->in->sizes = arena_array(b->arena, resolver->nr_sizes + 1, sizeof(*b->in->sizes));
    for (unsigned i = 0; i < resolver->nr_sizes; i++) {
        const struct size *s = &resolver->sizes[i];

        if (!s->known)
            continue;
        b->in->sizes[b->in->nr_sizes++] = (struct intake_size){s->name, s->value};
        str_addf(&text, "%s%s = %lld", text.len ? ", " : "", s->name, (long long)s->value);
        const char *shown = contract_shown(b, s->line);

        if (!from.len || !strstr(str_text(&from), shown))
            str_addf(&from, "%s%s", from.len ? "; " : "", shown);
    }
    if (text.len)
        contract_add_line(b, (struct intake_line){.kind = INTAKE_SIZE,
                                 .text = str_move(&text, b->arena),
                                 .from = str_move(&from, b->arena)});
    for (unsigned i = 0; i < resolver->nr_sizes; i++) {
        const struct size *s = &resolver->sizes[i];

        if (!s->known)
            contract_add_line(b, (struct intake_line){.kind = INTAKE_SIZE,
                                     .name = s->name,
                                     .contents = "1048576",
                                     .from = arena_printf(b->arena, "only the caller knows %s (%s)",
                                         s->name, contract_shown(b, s->line)),
                                     .missing = true});
    }
}

/* A launch writes the array, a later launch reads it, and the host does not copy it back. */
static bool is_between(const struct contract_builder *b, const struct array *a)
{
    return a->written && !a->read_first && b->nr_launches > 1 && a->read &&
           a->last_launch > a->first_launch && !(a->memory && a->memory->to_host);
}

static const char *role_of(const struct contract_builder *b, const struct array *a)
{
    bool others = false;

    if (!a->written)
        return "in";
    if (a->read_first)
        return "inout";
    for (unsigned i = 0; i < b->nr_arrays; i++)
        others |= b->arrays[i].written && !is_between(b, &b->arrays[i]);
    return others && is_between(b, a) ? "temp" : "out"; /* every task has an out line */
}

/* The only size of this value; NULL: none or several have it. */
static const char *size_of(const struct contract_builder *b, double value)
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

/* A largest index as text: "n - 1" where exactly one size n gives it, else the number. */
static const char *below_size(const struct contract_builder *b, double high)
{
    const char *name = size_of(b, high + 1);

    return name ? arena_printf(b->arena, "%s - 1", name) : arena_printf(b->arena, "%.0f", high);
}

/* A number as text: the name of a size where exactly one has it and the number is not small, else
 * the number. */
static const char *as_size(const struct contract_builder *b, double value)
{
    enum { LEAST = 16 };
    const char *name = value >= LEAST ? size_of(b, value) : NULL;

    return name ? name : arena_printf(b->arena, "%.9g", value);
}

/* What the host fills the array with, as far as the interpreter saw; NULL: not known. */
static const char *filled_with(const struct contract_builder *b, const struct array *a)
{
    const struct memory_contents *c = &a->memory->contents;
    bool whole = spelling_is_integer(a->type), real = spelling_is_real(a->type);

    if (c->nr < 2 || c->unknown || a->memory->foreign || !(whole || real) || fabs(c->low) > 1e15 ||
        fabs(c->high) > 1e15)
        return NULL;
    if (whole && c->straight && c->step == 0)
        return arena_printf(b->arena, "constant(%s)", as_size(b, c->first));
    if (whole && c->straight)
        return arena_printf(b->arena, "iota(%.9g, %s)", c->first, as_size(b, c->step));
    if (whole && c->random)
        return arena_printf(b->arena, "integers(%.0f, %s)", c->low, below_size(b, c->high));
    if (real && c->random && c->low < c->high)
        return arena_printf(b->arena, "uniform(%.9g, %.9g)", c->low, c->high);
    return NULL;
}

static bool has(const char *text, const char *word)
{
    return text && spelling_has_word(text, word);
}

/* Some launch has the word in its id, grid, block, shared memory or arguments. */
static bool is_launched_with(const struct contract_builder *b, const char *word)
{
    bool is = false;

    for (unsigned i = 0; i < b->nr_launches; i++) {
        const struct contract_launch *l = &b->launches[i];

        is |= has(l->id, word) || has(l->smem, word) || has(l->words, word);
        for (unsigned k = 0; k < 9; k++)
            is |= has(l->dims[k / 3].of[k % 3], word);
        for (unsigned a = 0; a < l->nr_args; a++)
            is |= has(l->args[a], word);
    }
    return is;
}

/* The extent is a size that only the caller knows and no launch has. */
static bool is_open(struct contract_builder *b, const char *extent)
{
    const struct size *size = resolver_size(b->resolver, extent);

    return size && !size->known && !is_launched_with(b, extent);
}

static void array_line(struct contract_builder *b, const struct array *a)
{
    unsigned lanes = 1;
    const char *elem = contract_elem(b, a->type, &lanes);

    const char *filled = elem && lanes == 1 && a->memory && (!a->written || a->read_first)
                             ? filled_with(b, a)
                             : NULL;
    const struct array *target = a->indexed ? contract_array_named(b, a->indexed) : NULL;
    const bool zeroed =
        a->written && a->read_first && a->memory && a->memory->zeroed && !a->memory->from_host;
    const bool as_indices =
        !filled && !a->written && target && target->extent && elem && spelling_is_integer(a->type);
    const bool open = as_indices && is_open(b, target->extent); /* it may be of any length */
    const char *access = !a->written     ? "only read"
                         : a->atomics    ? "updated by atomics"
                         : a->read_first ? "read and written"
                                         : "written before it is read";
    const char *lacks = contract_array_lacks(b, a);

    contract_add_line(b,
        (struct intake_line){.kind = INTAKE_ARRAY,
            .name = a->id,
            .role = role_of(b, a),
            .text = arena_printf(b->arena, lanes > 1 ? "%s[%s][%u]" : "%s[%s]", elem ? elem : "f32",
                a->extent ? a->extent : "1048576", lanes),
            .contents = filled       ? filled
                        : open       ? "integers(0, 63)"
                        : as_indices ? arena_printf(b->arena, "integers(0, %s - 1)", target->extent)
                        : zeroed     ? "constant(0)"
                                     : NULL,
            .from = lacks ? lacks
                          : arena_printf(b->arena, "%s; %s by the kernel%s",
                                contract_shown(b, a->line), access,
                                filled       ? ", filled by the host"
                                : as_indices ? ", as indices"
                                             : ""),
            .missing = lacks != NULL,
            .indexed = !lacks && as_indices && !open ? target->extent : NULL});
}

static void scalar_lines(struct contract_builder *b)
{
    for (unsigned i = 0; i < b->nr_scalars; i++) {
        const struct scalar_arg *s = &b->scalars[i];

        contract_add_line(b, (struct intake_line){.kind = INTAKE_SCALAR,
                                 .name = s->name,
                                 .text = s->type ? s->type : "f32",
                                 .contents = s->value ? s->value : "1.0",
                                 .from = s->value ? contract_shown(b, s->line) : s->why,
                                 .missing = !s->value});
    }
}

static const char *launch_from(const struct contract_builder *b, const struct contract_launch *l)
{
    const char *from = l->why ? l->why : contract_shown(b, l->line);

    return l->assumed ? arena_printf(b->arena, "%s; taking it that the program gets to %s", from,
                            contract_shown(b, l->assumed))
                      : from;
}

static void add_dims(struct str *out, const struct launch_dims *dims)
{
    str_add(out, dims->nr > 1 ? "dim3(" : "");
    for (unsigned i = 0; i < dims->nr; i++)
        str_addf(out, "%s%s", i ? ", " : "", dims->of[i]);
    str_add(out, dims->nr > 1 ? ")" : "");
}

static void launch_line(struct contract_builder *b, const struct contract_launch *l)
{
    struct str text = {0};

    str_addf(&text, "<<<%s", l->words ? l->words : "");
    if (!l->words) {
        add_dims(&text, &l->dims[0]);
        str_add(&text, ", ");
        add_dims(&text, &l->dims[1]);
        str_addf(&text, "%s%s", l->smem ? ", " : "", l->smem ? l->smem : "");
    }
    str_add(&text, ">>>(");
    for (unsigned a = 0; a < l->nr_args; a++)
        str_addf(&text, "%s%s", a ? ", " : "", l->args[a]);
    str_add_char(&text, ')');
    for (unsigned i = 0; i < l->dims[2].nr; i++)
        str_addf(&text, "%s%s", i ? ", " : " cluster(", l->dims[2].of[i]);
    str_add(&text, l->dims[2].nr ? ")" : "");
    contract_add_line(b, (struct intake_line){.kind = INTAKE_LAUNCH,
                             .name = l->id,
                             .text = str_move(&text, b->arena),
                             .from = launch_from(b, l),
                             .missing = l->why != NULL});
}

void contract_lines(struct contract_builder *b)
{
    size_lines(b);
    for (unsigned i = 0; i < b->nr_arrays; i++)
        array_line(b, &b->arrays[i]);
    contract_symbols(b);
    scalar_lines(b);
    for (unsigned i = 0; i < b->nr_launches; i++)
        launch_line(b, &b->launches[i]);
    struct intake_line *heap = b->in->lines;
    b->in->lines = arena_array(b->arena, b->in->nr_lines, sizeof(*heap));
    memcpy(b->in->lines, heap, b->in->nr_lines * sizeof(*heap));
    free(heap);
}
