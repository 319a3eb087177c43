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
    struct layout *out;           /* without leaves: only sizes are wanted */
    const char *prefix;           /* begins the paths of its fields */
    struct interp_object *object; /* the value of the struct; NULL: not known */
    unsigned offset, align;       /* in bytes from its beginning */
};

static bool lay(struct interp *ip, struct layout *out, const struct type *type, const char *path,
    const struct interp_value *seen, unsigned *bytes, unsigned *align);

static bool no_layout(struct layout *out, const char *why)
{
    out->why = why;
    return false;
}

static bool lay_field(struct laying *l, const struct type_field *f)
{
    struct arena *arena = l->ip->arena;
    struct layout *out = l->out;
    const struct interp_value *seen =
        l->object ? &interp_field(l->ip, l->object, f->name)->v : NULL;
    const char *path = out->leaves ? arena_printf(arena, "%s%s", l->prefix, f->name) : "";
    const bool array = f->count > 1 && out->leaves;

    if (f->from < f->to && toks_is(l->ip->resolver->toks, f->from, ":"))
        return no_layout(out, arena_printf(arena, "field %s has a number of bits", f->name));
    if (array && f->count > LAYOUT_MAX_LEAVES)
        return no_layout(out, arena_printf(arena, "field %s has too many elements", f->name));
    for (unsigned k = 0; k < (array ? f->count : f->count > 0); k++) {
        const unsigned first = out->nr;
        struct interp_value one = {0};
        unsigned bytes, align;

        if (array && seen && seen->kind == VALUE_MEMORY && seen->memory)
            one = interp_cell(seen->memory, seen->i + (int64_t)k * interp_sizeof(l->ip, f->type));
        if (!lay(l->ip, out, f->type, array ? arena_printf(arena, "%s[%u]", path, k) : path,
                array ? &one : seen, &bytes, &align))
            return no_layout(out, arena_printf(arena, "field %s is of type %s", f->name,
                                      f->type ? f->type->text : "that is not known"));
        l->offset = (unsigned)round_up(l->offset, align);
        l->align = align > l->align ? align : l->align;
        for (unsigned n = first; n < out->nr && out->leaves; n++)
            out->leaves[n].offset += l->offset;
        l->offset += array ? bytes : bytes * f->count;
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

/* What struct A : B, C { derives from has no fields. */
static bool bases_are_empty(struct interp *ip, const struct decl *d, unsigned open)
{
    const struct toks *toks = ip->resolver->toks;
    struct tok_range bases[4];
    const unsigned colon = toks_find(toks, d->from, open, ":");
    const unsigned nr =
        colon < open ? tok_range_split((struct tok_range){toks, colon + 1, open}, bases, 4) : 0;

    for (unsigned b = 0; b < nr; b++) {
        struct layout base;

        bases[b].from +=
            toks_is(toks, bases[b].from, "public") || toks_is(toks, bases[b].from, "private");
        const struct type *type = interp_type_in(ip, bases[b]);

        if (!(type && strstr(type->text, "nary_function")) && /* std's: it is empty */
            !(type && layout_of(ip, type, NULL, &base) && base.nr == 0))
            return false;
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
    bool ok = bases_are_empty(l->ip, d, open) ||
              no_layout(l->out, "it derives from a struct with fields, or from one not known");
    l->ip->frame = frame.up;
    for (const struct type_field *f = fields->first; f && ok; f = f->next)
        ok = lay_field(l, f);
    l->ip->nested--;
    l->align = align > l->align ? align : l->align;
    return ok && (fields->known || no_layout(l->out, "it has fields that cannot be read"));
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
        if (!lay_field(
                l, &(struct type_field){
                       .name = parts[i], .type = interp_type_named(l->ip, name), .count = 1}))
            return false;
    l->align = lanes == 3 ? each : type->bytes < 16 ? type->bytes : 16;
    return true;
}

static bool add_leaf(struct interp *ip, struct layout *out, struct leaf leaf)
{
    if (out->nr == LAYOUT_MAX_LEAVES)
        return no_layout(out, "it has more than 8192 numbers and pointers");
    if (out->nr == out->room) {
        struct leaf *old = out->leaves;

        out->leaves = arena_array(ip->arena, out->room *= 2, sizeof(*old));
        memcpy(out->leaves, old, out->nr * sizeof(*old));
    }
    out->leaves[out->nr++] = leaf;
    return true;
}

/* Lays one value at the end of the leaves, at offset 0. False: its layout is not known. */
static bool lay(struct interp *ip, struct layout *out, const struct type *type, const char *path,
    const struct interp_value *seen, unsigned *bytes, unsigned *align)
{
    struct laying l = {.ip = ip,
        .out = out,
        .prefix = *path ? arena_printf(ip->arena, "%s.", path) : "",
        .object = seen && seen->kind == VALUE_OBJECT ? seen->object : NULL,
        .align = 1};

    if (!type || ip->depth >= INTERP_MAX_DEPTH)
        return no_layout(out, "its type is not known");
    if (type->kind == TYPE_STRUCT || type->kind == TYPE_DIM3) {
        ip->depth++;
        const bool ok = type->decl ? lay_struct(&l, type) : lay_vector(&l, type);

        ip->depth--;
        *align = l.align;
        *bytes = (unsigned)round_up(l.offset ? l.offset : 1, l.align);
        return ok;
    }
    *bytes = *align = type->bytes;
    if ((type->kind != TYPE_INT && type->kind != TYPE_REAL && type->kind != TYPE_POINTER) ||
        !type->bytes)
        return no_layout(out, "its type is not known");
    return !out->leaves ||
           add_leaf(ip, out, (struct leaf){path, type, 0, seen ? *seen : (struct interp_value){0}});
}

bool layout_of(struct interp *ip, const struct type *type, const struct interp_value *seen,
    struct layout *layout)
{
    *layout =
        (struct layout){.room = 16, .leaves = arena_array(ip->arena, 16, sizeof(*layout->leaves))};
    return lay(ip, layout, type, "", seen, &layout->bytes, &layout->align);
}

unsigned layout_bytes(struct interp *ip, const struct type *type)
{
    struct layout sizes = {0};

    return lay(ip, &sizes, type, "", NULL, &sizes.bytes, &sizes.align) ? sizes.bytes : 0;
}
