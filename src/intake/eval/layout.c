/* Owns where the fields of a struct lie in memory. */
#include "intake/eval/layout.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/interp_parts.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NESTING = 6 };

/* One struct while its fields are laid one after another. A field that is a struct gets its own. */
struct laying {
    struct interp *ip;
    struct layout *out;
    const char *prefix;            /* begins the paths of its fields */
    struct interp_object *object;  /* the value of the struct; NULL: not known */
    unsigned start, offset, align; /* in bytes from the beginning of the outermost struct */
};

static bool lay(struct interp *ip, struct layout *out, const struct type *type, const char *path,
    const struct interp_value *seen, unsigned offset, unsigned *bytes, unsigned *align);

static bool no_layout(struct layout *out, const char *why)
{
    out->why = out->why ? out->why : why;
    return false;
}

/* Element k of an array in a struct. */
static struct interp_value element_value(
    const struct interp_value *array, unsigned k, unsigned each)
{
    if (!array || array->kind != VALUE_MEMORY || !array->memory)
        return (struct interp_value){0};
    return interp_cell(array->memory, array->i + (int64_t)k * each);
}

static bool lay_field(struct laying *l, const struct type_field *f)
{
    struct arena *arena = l->ip->arena;
    const struct interp_value *seen =
        l->object ? &interp_field(l->ip, l->object, f->name)->v : NULL;
    const char *path = l->out->leaves ? arena_printf(arena, "%s%s", l->prefix, f->name) : "";

    if (f->from < f->to && toks_is(l->ip->resolver->toks, f->from, ":"))
        return no_layout(l->out, arena_printf(arena, "field %s has a number of bits", f->name));
    if (l->out->leaves && f->count > LAYOUT_MAX_LEAVES)
        return no_layout(l->out, arena_printf(arena, "field %s has too many elements", f->name));
    for (unsigned k = 0; k < f->count; k++) {
        unsigned bytes = 0, align = 1;
        struct interp_value one = {0};

        if (f->count > 1 && l->out->leaves) {
            one = element_value(seen, k, interp_sizeof(l->ip, f->type));
            path = arena_printf(arena, "%s%s[%u]", l->prefix, f->name, k);
        }
        if (!lay(l->ip, NULL, f->type, path, NULL, 0, &bytes, &align)) /* for its alignment */
            return no_layout(l->out, arena_printf(arena, "field %s is of type %s", f->name,
                                         f->type ? f->type->text : "that is not known"));
        l->offset = l->start + (unsigned)round_up(l->offset - l->start, align);
        l->align = align > l->align ? align : l->align;
        if (!l->out->leaves) { /* all elements at once */
            l->offset += bytes * f->count;
            return true;
        }
        if (!lay(l->ip, l->out, f->type, path, f->count > 1 ? &one : seen, l->offset, &bytes,
                &align))
            return false;
        l->offset += bytes;
    }
    return true;
}

/* The alignment of alignas(16), __align__(16) or __attribute__((aligned(16))) before the fields; 1:
 * there is none. */
static unsigned written_align(const struct toks *toks, unsigned from, unsigned open)
{
    for (unsigned i = from; i + 2 < open; i++)
        if (toks->tok[i].kind == TOK_NAME && strstr(toks->tok[i].text, "align") &&
            toks_is(toks, i + 1, "(") && toks->tok[i + 2].kind == TOK_NUMBER)
            return (unsigned)strtoul(toks->tok[i + 2].text, NULL, 10);
    return 1;
}

/* Lays the bases of struct A : B, C {. */
static bool lay_bases(struct laying *l, unsigned from, unsigned open)
{
    const struct toks *toks = l->ip->resolver->toks;
    struct tok_range bases[4];
    const unsigned colon = toks_find(toks, from, open, ":");
    const unsigned nr =
        colon < open ? tok_range_split((struct tok_range){toks, colon + 1, open}, bases, 4) : 0;

    for (unsigned b = 0; b < nr; b++) {
        const struct type *type;
        unsigned bytes, align, i = bases[b].from;
        bool is_ref;

        while (i < bases[b].to && (toks_is(toks, i, "public") || toks_is(toks, i, "private")))
            i++;
        interp_type_read(l->ip, toks, i, bases[b].to, &type, &is_ref);
        if (type && strstr(type->text, "nary_function")) /* std's: it is empty */
            continue;
        if (!type || !lay(l->ip, NULL, type, "", NULL, 0, &bytes, &align))
            return no_layout(l->out, "what it derives from is not known");
        struct interp_value self = {.kind = VALUE_OBJECT, .object = l->object};
        struct layout alone = {0};

        if (bytes == 1 && layout_of(l->ip, type, NULL, &alone) && alone.nr == 0)
            continue; /* an empty base takes no room */
        if (b > 0)
            return no_layout(l->out, "it derives from several structs");
        lay(l->ip, l->out, type, l->prefix, l->object ? &self : NULL, l->start, &bytes, &align);
        l->offset = l->start + bytes;
        l->align = align;
    }
    return true;
}

static bool lay_struct(struct laying *l, const struct type *type)
{
    const struct toks *toks = l->ip->resolver->toks;
    const struct decl *d = type->decl;
    const unsigned open = toks_find(toks, d->from, d->to, "{");
    struct interp_frame frame = {.up = l->ip->frame, .bound = interp_type_bound(l->ip, type)};
    const unsigned align = written_align(toks, d->from, open);
    const struct type_fields *fields = interp_type_fields(l->ip, type);

    if (toks_find(toks, d->from, open, "union") < open)
        return no_layout(l->out, "it is a union");
    if (l->ip->nested == MAX_NESTING)
        return no_layout(l->out, "it has fields that cannot be read");
    l->ip->nested++;
    l->ip->frame = &frame;
    bool ok = lay_bases(l, d->from, open);
    l->ip->frame = frame.up;
    for (const struct type_field *f = fields->first; f && ok; f = f->next)
        ok = lay_field(l, f);
    l->ip->nested--;
    l->align = align > l->align ? align : l->align;
    return (ok && fields->known) || no_layout(l->out, "it has fields that cannot be read");
}

/* Lays x, y, z, w of float3, half2 or dim3. */
static bool lay_vector(struct laying *l, const struct type *type)
{
    static const char *const parts[] = {"x", "y", "z", "w"};
    unsigned lanes = 3;
    const char *elem = spelling_elem(resolver_type(l->ip->resolver, type->text, l->ip->at), &lanes);
    const unsigned each = elem ? type->bytes / lanes : 4;
    const char *name = elem ? spelling_c_type(elem) : "unsigned int"; /* dim3 */

    if (lanes > ARRAY_SIZE(parts))
        return no_layout(l->out, "what it consists of is not known");
    for (unsigned i = 0; i < lanes; i++)
        lay_field(l, &(struct type_field){
                         .name = parts[i], .type = interp_type_named(l->ip, name), .count = 1});
    l->align = lanes == 3 ? each : type->bytes < 16 ? type->bytes : 16;
    return !l->out->why;
}

static bool add_leaf(struct interp *ip, struct layout *out, struct leaf leaf)
{
    if (out->nr == LAYOUT_MAX_LEAVES)
        return no_layout(out, "it has more than 8192 numbers and pointers");
    if (out->leaves && out->nr == out->room) {
        struct leaf *old = out->leaves;

        out->leaves = arena_array(ip->arena, out->room *= 2, sizeof(*old));
        memcpy(out->leaves, old, out->nr * sizeof(*old));
    }
    if (out->leaves)
        out->leaves[out->nr] = leaf;
    out->nr++;
    return true;
}

/* Lays one value at an offset. out NULL: only its size and alignment are wanted. False: its layout
 * is not known. */
static bool lay(struct interp *ip, struct layout *out, const struct type *type, const char *path,
    const struct interp_value *seen, unsigned offset, unsigned *bytes, unsigned *align)
{
    struct layout sizes = {0};
    const bool whole = type && (type->kind == TYPE_STRUCT || type->kind == TYPE_DIM3);
    struct laying l = {.ip = ip,
        .out = out ? out : &sizes,
        .prefix = *path && out ? arena_printf(ip->arena, "%s.", path) : "",
        .object = seen && seen->kind == VALUE_OBJECT ? seen->object : NULL,
        .start = offset,
        .offset = offset,
        .align = 1};

    if (!type || ip->depth >= INTERP_MAX_DEPTH)
        return false;
    if (whole) {
        ip->depth++;
        const bool ok = type->decl ? lay_struct(&l, type) : lay_vector(&l, type);

        ip->depth--;
        *align = l.align;
        *bytes = (unsigned)round_up(l.offset > offset ? l.offset - offset : 1, l.align);
        return ok;
    }
    *bytes = *align = type->bytes;
    return (type->kind == TYPE_INT || type->kind == TYPE_REAL || type->kind == TYPE_POINTER) &&
           type->bytes &&
           (!out ||
               add_leaf(ip, out,
                   (struct leaf){path, type, offset, seen ? *seen : (struct interp_value){0}}));
}

bool layout_of(struct interp *ip, const struct type *type, const struct interp_value *seen,
    struct layout *layout)
{
    *layout =
        (struct layout){.room = 16, .leaves = arena_array(ip->arena, 16, sizeof(*layout->leaves))};
    return lay(ip, layout, type, "", seen, 0, &layout->bytes, &layout->align) ||
           no_layout(layout, "its type is not known");
}

unsigned layout_bytes(struct interp *ip, const struct type *type)
{
    unsigned bytes, align;

    return lay(ip, NULL, type, "", NULL, 0, &bytes, &align) ? bytes : 0;
}
