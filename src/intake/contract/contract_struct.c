/* Owns arguments that are structs or vectors by value: their fields, in the order of memory. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/elem.h"
#include "intake/eval/layout.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_PARAMETER_BYTES = 4096 };

struct interp *contract_types(struct contract_builder *b)
{
    if (!b->types)
        b->types = interp_create(b->arena, b->resolver);
    return b->types;
}

/* The element type of an integer of 1, 2, 4 or 8 bytes. */
static const char *integer_elem(unsigned bytes, bool is_unsigned)
{
    static const char *const elems[][2] = {
        [1] = {"i8", "u8"}, [2] = {"i16", "u16"}, [4] = {"i32", "u32"}, [8] = {"i64", "u64"}};

    return bytes < ARRAY_SIZE(elems) ? elems[bytes][is_unsigned] : NULL;
}

/* The element type of a number; NULL: the type is a pointer. */
static const char *number_type(struct contract_builder *b, const struct type *type)
{
    unsigned lanes;
    const char *elem =
        spelling_elem(resolver_type(b->resolver, type->text, contract_types(b)->at), &lanes);

    if (elem && lanes == 1)
        return elem;
    return type->kind == TYPE_INT ? integer_elem(type->bytes, type->is_unsigned) : NULL;
}

/* Adds nr values of a type to the text of a record. */
static void add_values(struct str *out, const char *elem, unsigned nr)
{
    str_addf(out, nr > 1 ? "%s%s[%u]" : "%s%s", out->len > 1 ? ", " : "", elem, nr);
}

const char *contract_elem(struct contract_builder *b, const char *type, unsigned *lanes)
{
    struct interp *types = contract_types(b);
    const char *elem = spelling_elem(type, lanes), *first = NULL;
    const struct type *whole = elem ? NULL : interp_type_named(types, type);
    struct layout l;
    struct str out = {0};
    unsigned offset = 0, widest = 1;
    bool alike = true; /* all values are of the first one's type */

    if (elem || !whole || whole->kind != TYPE_STRUCT || !layout_of(types, whole, NULL, &l) || !l.nr)
        return elem;
    str_add_char(&out, '{');
    for (unsigned i = 0, nr; i < l.nr; i += nr) {
        const unsigned each = l.leaves[i].type->bytes;

        elem = number_type(b, l.leaves[i].type);
        if (!elem) { /* a pointer, whose memory is not part of the task */
            str_finish(&out);
            return NULL;
        }
        if (round_up(offset, each) != l.leaves[i].offset)
            add_values(&out, "i8", l.leaves[i].offset - offset);
        for (nr = 1; i + nr < l.nr; nr++) {
            const char *other = number_type(b, l.leaves[i + nr].type);

            if (!other || strcmp(other, elem) != 0 ||
                l.leaves[i + nr].offset != l.leaves[i].offset + nr * each)
                break;
        }
        add_values(&out, elem, nr);
        first = first ? first : elem;
        alike = alike && strcmp(elem, first) == 0 && l.leaves[i].offset % each == 0;
        offset = l.leaves[i].offset + nr * each;
        widest = each > widest ? each : widest;
    }
    if (round_up(offset, widest) != l.bytes)
        add_values(&out, "i8", l.bytes - offset);
    str_add_char(&out, '}');
    const char *record = str_move(&out, b->arena);

    *lanes = alike ? l.bytes / widest : 1; /* counts those that are only padding */
    return alike ? first : record;
}

/* One argument while its fields are written. */
struct passing {
    struct launching *l;
    const struct param *param;
    const struct type *type;
    struct tok_range arg;
    struct layout layout;
    unsigned offset, widest; /* of what was written so far */
    struct str *out;
};

/* The name of a field: "p_n" for p.n, "p_v2" for p.v[2]. It begins with the parameter's name where
 * the argument is no name. */
static const char *field_name(struct passing *p, const char *path)
{
    const bool named =
        p->arg.to == p->arg.from + 1 && p->arg.toks->tok[p->arg.from].kind == TOK_NAME;
    char *name = arena_printf(
        p->l->b->arena, "%s_%s", named ? p->arg.toks->tok[p->arg.from].text : p->param->name, path);
    char *to = name;

    for (const char *from = name; *from; from++)
        if (*from != '[' && *from != ']')
            *to++ = *from == '.' ? '_' : *from;
    *to = 0;
    return name;
}

static void add_item(struct passing *p, const char *text, const char *type, unsigned bytes)
{
    str_addf(p->out, "%s%s%s%s", p->offset ? ", " : "", text, type ? " : " : "", type ? type : "");
    p->widest = bytes > p->widest ? bytes : p->widest;
    p->offset = (unsigned)round_up(p->offset, bytes) + bytes;
}

/* Adds integers up to `offset`, where alignment alone does not put the next field there. */
static void add_padding(struct passing *p, unsigned offset, unsigned align)
{
    while (align && round_up(p->offset, align) < offset) {
        unsigned bytes = 8;

        while (bytes > 1 &&
               (bytes > p->layout.align || p->offset % bytes != 0 || p->offset + bytes > offset))
            bytes /= 2;
        add_item(p, "0", integer_elem(bytes, false), bytes);
    }
}

static void add_pointer(struct passing *p, const struct leaf *leaf)
{
    struct launching *l = p->l;
    const char *name = field_name(p, leaf->path);
    struct param param = {
        .name = name, .type = leaf->type->to ? leaf->type->to->text : "", .is_pointer = true};
    const bool null = leaf->seen.kind == VALUE_INT && leaf->seen.i == 0;
    struct array *a = contract_array(l->b, &param, &leaf->seen, NULL);

    if (!a && !null)
        a = contract_unknown_array(l->b, name, &param, l->site->line);

    if (null) {
        add_item(p, "0", "u64", 8);
        return;
    }
    if (!a) {
        contract_note(l, arena_printf(l->b->arena, "the memory of field %s of parameter %s",
                             leaf->path, p->param->name));
        add_item(p, name, NULL, 8);
        return;
    }
    param_access_member(
        &param, contract_types(l->b), l->kernel, p->param->name, p->type, leaf->path);
    contract_use_array(a, &param, l->b->nr_launches);
    add_item(p, a->id, NULL, 8);
}

/* The value of a field that follows from nothing else: a size of that name. */
static struct interp_value named(const struct passing *p, const char *name, struct interp_value v)
{
    const bool known = v.kind == VALUE_INT;

    v.said = said_named(p->l->b->arena, (struct said_name){.text = name,
                                            .value = known ? v.i : 0,
                                            .known = known,
                                            .at = p->l->site->at,
                                            .line = p->l->site->line});
    v.kind = known ? VALUE_INT : VALUE_SIZE;
    return v;
}

static void add_leaf(struct passing *p, unsigned number)
{
    const struct leaf *leaf = &p->layout.leaves[number];
    const char *name = field_name(p, leaf->path);
    struct interp_value seen = leaf->seen;
    struct str one = {0};

    add_padding(p, leaf->offset, leaf->type->bytes);
    if (leaf->type->kind == TYPE_POINTER) {
        add_pointer(p, leaf);
    } else if (leaf->type->kind == TYPE_REAL) {
        add_item(
            p, contract_scalar(p->l, name, leaf->type->text, name, &seen), NULL, leaf->type->bytes);
    } else {
        if (p->type->decl && !seen.said && (seen.kind == VALUE_INT ? seen.i > 0 : true))
            seen = named(p, name, seen);
        contract_integer(p->l, name, &seen, &one);
        add_item(p, str_text(&one), number_type(p->l->b, leaf->type), leaf->type->bytes);
    }
    str_finish(&one);
}

const char *contract_struct(struct launching *l, unsigned i, const char *type,
    const struct interp_value *v, struct str *args)
{
    struct interp *types = contract_types(l->b);
    struct passing p = {.l = l, .param = &l->params[i], .arg = l->site->args[i], .out = args};

    types->at = l->site->at;
    p.type = interp_type_named(types, type);
    if (!p.type || (p.type->kind != TYPE_STRUCT && p.type->kind != TYPE_DIM3))
        return arena_printf(l->b->arena, "%s is no struct of this file", type);
    if (!layout_of(types, p.type, v, &p.layout))
        return p.layout.why;
    if (p.layout.bytes > MAX_PARAMETER_BYTES)
        return "it is larger than what a kernel can be passed";
    str_add_char(args, '{');
    for (unsigned n = 0; n < p.layout.nr; n++)
        add_leaf(&p, n);
    if (p.layout.nr || p.layout.bytes > 1)
        add_padding(&p, p.layout.bytes, p.widest ? p.widest : 1);
    str_add_char(args, '}');
    return NULL;
}
