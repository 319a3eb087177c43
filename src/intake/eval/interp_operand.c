/* Owns operands of host expressions in the interpreter: numbers, casts, calls, elements, fields. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

static struct interp_value number(struct interp *ip, const char *text)
{
    struct number_literal n;

    literal_read(&n, text);
    if (n.is_real)
        return interp_real(n.real, interp_type_named(ip, literal_type(&n)));
    struct interp_value v = interp_int((int64_t)n.integer);

    v.type = interp_type_named(ip, literal_type(&n));
    return v;
}

static struct interp_value text_of(struct interp_reader *r)
{
    struct str s = {0};

    for (; interp_now(r)->kind == TOK_STRING; r->i++) {
        const char *t = interp_now(r)->text, *open = strchr(t, '"');
        size_t nr = open ? strlen(open) : 0;

        if (nr >= 2)
            str_add_n(&s, open + 1, nr - 2);
    }
    return (struct interp_value){.kind = VALUE_TEXT, .text = str_move(&s, r->ip->arena)};
}

static struct interp_value character(const char *text)
{
    static const char escapes[] = "n\nt\tr\r0\0a\a";

    if (text[0] != '\'' || !text[1])
        return (struct interp_value){0};
    if (text[1] != '\\')
        return interp_int(text[1]);
    for (size_t i = 0; i + 1 < sizeof(escapes); i += 2)
        if (escapes[i] == text[2])
            return interp_int(escapes[i + 1]);
    return interp_int(text[2]);
}

/* sizeof(type), sizeof(x), sizeof x */
static struct interp_operand size_of(struct interp_reader *r)
{
    const unsigned open = r->i, close = interp_now(r)->match;
    const bool brackets = toks_is(r->toks, open, "(") && close && close < r->to,
               variable = brackets && r->toks->tok[open + 1].kind == TOK_NAME &&
                          interp_variable(r->ip, r->toks->tok[open + 1].text);
    const struct type *type =
        brackets && !variable ? interp_type_in(r->ip, (struct tok_range){r->toks, open + 1, close})
                              : NULL;
    unsigned bytes = interp_sizeof(r->ip, type);

    if (type) {
        r->i = close + 1;
    } else {
        const struct interp_operand o = interp_expression(r, LEVEL_UNARY);
        const bool whole = o.slot && !o.slot->type && o.v.kind == VALUE_MEMORY && o.v.i == 0;

        type = o.slot ? o.slot->type : o.type ? o.type : o.v.type;
        bytes = !whole                  ? interp_sizeof(r->ip, type)
                : o.v.memory->bytes > 0 ? (unsigned)o.v.memory->bytes
                                        : 0;
    }
    struct interp_value v = interp_int(bytes);

    v.type = interp_type_named(r->ip, "size_t");
    return interp_plain(bytes ? v : (struct interp_value){0});
}

/* (type) operand */
static bool cast(struct interp_reader *r, struct interp_operand *out)
{
    unsigned open = r->i, close = interp_now(r)->match;
    const struct tok *first = &r->toks->tok[open + 1], *after = &r->toks->tok[close + 1];
    const struct type *type;
    bool is_ref;

    if (!close || close + 1 >= r->to || close == open + 1 || first->kind != TOK_NAME ||
        interp_variable(r->ip, first->text) ||
        !(after->kind == TOK_NAME || after->kind == TOK_NUMBER || after->kind == TOK_STRING ||
            after->kind == TOK_CHAR || tok_is(after, "(") || tok_is(after, "&") ||
            tok_is(after, "*") || tok_is(after, "-") || tok_is(after, "!")))
        return false;
    unsigned past = interp_type_read(r->ip, r->toks, open + 1, close, &type, &is_ref);

    if (past == open + 1)
        return false;
    if (past != close && !toks_is(r->toks, past, "(") && !toks_is(r->toks, past, "["))
        return false;
    if (type && type->kind == TYPE_OTHER && strcmp(type->text, "void") != 0 &&
        (tok_is(after, "&") || tok_is(after, "*") || tok_is(after, "-") || tok_is(after, "(")))
        return false; /* (x) - y, where x is not known to be a type */
    r->i = close + 1;
    *out = interp_expression(r, LEVEL_UNARY);
    bool address = out->v.kind == VALUE_ADDRESS;

    interp_used(r->ip, out);
    if (!address)
        *out = interp_plain(past == close ? interp_convert(r->ip, out->v, type) : out->v);
    return true;
}

static bool is_named_cast(const struct tok *t)
{
    return tok_is(t, "static_cast") || tok_is(t, "reinterpret_cast") || tok_is(t, "const_cast");
}

/* static_cast<T>(x) and its kin */
static struct interp_operand named_cast(struct interp_reader *r)
{
    const struct type *type = NULL;
    bool is_ref;
    unsigned close = toks_angle(r->toks, r->i, r->to);

    if (!close || close + 1 >= r->to || !r->toks->tok[close + 1].match)
        return (struct interp_operand){0};
    interp_type_read(r->ip, r->toks, r->i + 1, close, &type, &is_ref);
    struct interp_operand o = interp_operand(
        r->ip, (struct tok_range){r->toks, close + 2, r->toks->tok[close + 1].match});

    r->i = r->toks->tok[close + 1].match + 1;
    if (is_ref && o.memory)
        return o;
    const struct interp_value v = interp_used(r->ip, &o);

    return interp_plain(v.kind == VALUE_ADDRESS ? v : interp_convert(r->ip, v, type));
}

/* new T[n], new T(...) */
static struct interp_operand make_new(struct interp_reader *r)
{
    const struct type *type;
    bool is_ref;

    if (tok_is(interp_now(r), "(") && interp_now(r)->match)
        r->i = interp_now(r)->match + 1;
    r->i = interp_type_read(r->ip, r->toks, r->i, r->to, &type, &is_ref);
    const struct tok *t = interp_now(r);
    unsigned each = interp_sizeof(r->ip, type);

    if (tok_is(t, "[") && t->match && t->match < r->to) {
        struct interp_value n =
            interp_evaluate(r->ip, (struct tok_range){r->toks, r->i + 1, t->match});
        bool known = n.kind == VALUE_INT && each && n.i >= 0 && n.i < INT64_MAX / each;

        r->i = t->match + 1;
        return interp_plain(
            interp_pointer(interp_memory(r->ip, known ? n.i * each : -1, false), type, 0));
    }
    struct interp_slot *slot = arena_alloc(r->ip->arena, sizeof(*slot));

    slot->type = type;
    if ((tok_is(t, "(") || tok_is(t, "{")) && t->match && t->match < r->to) {
        interp_initialise(
            r->ip, slot, (struct tok_range){r->toks, r->i + 1, t->match}, tok_is(t, "{"));
        r->i = t->match + 1;
    } else {
        interp_initialise(r->ip, slot, (struct tok_range){r->toks, r->i, r->i}, true);
    }
    return interp_plain((struct interp_value){.kind = VALUE_ADDRESS, .slot = slot});
}

/* ---- calls ---- */

/* Evaluates the arguments in the parentheses at token `open`. Returns how many there are. */
static unsigned evaluate_args(struct interp_reader *r, unsigned open, struct interp_operand *values)
{
    struct tok_range args[LAUNCH_MAX_ARGS];
    const unsigned nr = toks_list(r->toks, open, args, LAUNCH_MAX_ARGS);

    for (unsigned a = 0; a < nr; a++)
        values[a] = interp_operand(r->ip, args[a]);
    return nr;
}

/* The type that a name stands for, with the template arguments that follow it at token angle. */
static const struct type *made_type(struct interp_reader *r, const char *name, unsigned angle)
{
    const struct type *type = interp_type_named(r->ip, name), *whole;
    bool is_ref;

    if (angle && type && type->kind == TYPE_STRUCT && type->decl &&
        interp_type_read(r->ip, r->toks, angle - 1, r->to, &whole, &is_ref) > angle && whole)
        return whole;
    return type;
}

static struct interp_operand called(struct interp *ip, const struct decl *fn,
    struct interp_operand *args, unsigned nr_args, struct interp_object *self, struct var *scope,
    const struct bound *bound)
{
    const struct interp_value v = interp_call(ip, fn, args, nr_args, self, scope, bound);

    return interp_watched(ip, &v) && interp_returns_reference(ip, fn)
               ? (struct interp_operand){.memory = v.memory}
               : interp_plain(v);
}

/* What a call of a value carries out: a function, or a method of an object; NULL: it is not
 * known. */
static const struct decl *callee(struct interp *ip, const struct interp_value *of, unsigned nr_args)
{
    if (of->kind == VALUE_CODE)
        return of->code->body ? of->code : NULL;
    return of->kind == VALUE_OBJECT ? interp_type_method(ip, of->object->type, "operator", nr_args)
                                    : NULL;
}

static struct interp_operand called_value(
    struct interp *ip, struct interp_value of, struct interp_operand *args, unsigned nr_args)
{
    const struct decl *fn = callee(ip, &of, nr_args);

    if (fn)
        return called(ip, fn, args, nr_args, of.object, of.scope, NULL);
    interp_walk_call(ip, "", args, nr_args);
    interp_walk_away(ip, &of);
    return (struct interp_operand){0};
}

static struct interp_operand call(
    struct interp_reader *r, const char *name, unsigned angle, unsigned open)
{
    struct interp *ip = r->ip;
    struct tok_range args[LAUNCH_MAX_ARGS];
    struct interp_operand values[LAUNCH_MAX_ARGS];
    unsigned nr = toks_list(r->toks, open, args, LAUNCH_MAX_ARGS);
    const struct macro *macro = resolver_macro(ip->resolver, name);
    struct interp_slot *variable = interp_variable(ip, name);
    const struct type *type;

    r->i = r->toks->tok[open].match + 1;
    if (ip->asking)
        return (struct interp_operand){0};
    if (macro && macro->is_function)
        return interp_macro_call(ip, macro, args, nr);
    if (variable && variable->v.kind == VALUE_RANGE) { /* a distribution */
        evaluate_args(r, open, values);
        return interp_plain(variable->v);
    }
    if (variable && callee(ip, &variable->v, nr)) {
        evaluate_args(r, open, values);
        return called_value(ip, variable->v, values, nr);
    }
    if (variable)
        interp_walk_away(ip, &variable->v);
    const struct decl *self = ip->frame && ip->frame->self
                                  ? interp_type_method(ip, ip->frame->self->type, name, nr)
                                  : NULL;
    const struct decl *fn = self ? self : interp_function(ip, name, nr, 0, 0);

    if (fn && !fn->is_kernel) {
        evaluate_args(r, open, values);
        if (!self)
            interp_walk_overloads(ip, fn, values, nr);
        return called(ip, fn, values, nr, self ? ip->frame->self : NULL, NULL,
            interp_bind_args(ip, fn, r->toks, angle, NULL));
    }
    type = made_type(r, str_starts(name, "make_") ? name + strlen("make_") : name, angle);
    if (type && (type->kind == TYPE_INT || type->kind == TYPE_REAL) && nr == 1)
        return interp_plain(interp_convert(ip, interp_evaluate(ip, args[0]), type)); /* int(x) */
    if (type && (type->kind == TYPE_DIM3 || type->kind == TYPE_STRUCT)) {
        struct interp_slot slot = {.type = type};

        interp_initialise(
            ip, &slot, (struct tok_range){r->toks, open + 1, r->toks->tok[open].match}, true);
        return interp_plain(slot.v);
    }
    const unsigned close = angle ? toks_angle(r->toks, angle, r->to) : 0;

    type = close ? interp_type_in(ip, (struct tok_range){r->toks, angle + 1, close}) : NULL;
    return interp_builtin(ip, name, args, nr, type);
}

/* T::n of struct T { static constexpr int n = 64; }; */
static struct interp_value static_member(struct interp *ip, const char *name, const char *member)
{
    const struct type *type = interp_type_named(ip, name);
    const struct toks *toks = ip->resolver->toks;

    for (unsigned i = type && type->decl ? type->decl->from : toks->nr;
         i < toks->nr && i < type->decl->to && !ip->stopped; i++) {
        if (toks_is(toks, i, member) && toks_is(toks, i + 1, "="))
            return interp_evaluate(
                ip, (struct tok_range){toks, i + 2, toks_find(toks, i, type->decl->to, ";")});
        if ((i & 7) == 0)
            interp_step(ip);
    }
    return (struct interp_value){0};
}

/* A name with its namespaces and template arguments: a variable, a call, a launch. */
static struct interp_operand name(struct interp_reader *r)
{
    struct interp *ip = r->ip;
    unsigned id = r->i;

    while (r->i + 2 < r->to && toks_is(r->toks, r->i + 1, "::") &&
           r->toks->tok[r->i + 2].kind == TOK_NAME)
        r->i += 2;
    const char *word = interp_now(r)->text;
    unsigned angle = 0, after = r->i + 1;

    if (after < r->to && toks_is(r->toks, after, "<") && !interp_variable(ip, word)) {
        unsigned close = toks_angle(r->toks, after, r->to);

        if (close && close + 1 < r->to &&
            (toks_is(r->toks, close + 1, "(") || toks_is(r->toks, close + 1, "<<<") ||
                toks_is(r->toks, close + 1, "::") || toks_is(r->toks, close + 1, "{"))) {
            angle = after;
            after = close + 1;
        } else if (close && close + 1 >= r->to && interp_function(ip, word, 0, 0, 0) == NULL &&
                   decls_function(ip->resolver->decls, word)) {
            r->i = r->to; /* kernel<4> as a value */
            return interp_plain((struct interp_value){
                .kind = VALUE_CODE, .code = decls_function(ip->resolver->decls, word)});
        }
    }
    const struct tok *next = after < r->to ? &r->toks->tok[after] : NULL;

    if (next && tok_is(next, "<<<")) {
        r->i = interp_launch_chevrons(ip, r->toks, after, r->to);
        return (struct interp_operand){0};
    }
    if (next && tok_is(next, "(") && next->match && next->match < r->to)
        return call(r, word, angle, after);
    if (angle && next && tok_is(next, "::")) { /* std::numeric_limits<int>::max() */
        r->i = after + 1;
        return interp_now(r)->kind == TOK_NAME ? name(r) : (struct interp_operand){0};
    }
    const struct type *type =
        next && tok_is(next, "{") && next->match ? made_type(r, word, angle) : NULL;

    if (type && type->kind != TYPE_OTHER && next->match < r->to) {
        struct interp_slot slot = {.type = type};

        r->i = next->match + 1;
        interp_initialise(ip, &slot, (struct tok_range){r->toks, after + 1, next->match}, true);
        return interp_plain(slot.v);
    }
    struct interp_frame *frame = ip->frame;

    if (r->i > id) /* N::n is none of the function's own */
        ip->frame = NULL;
    struct interp_operand o = interp_named(ip, word);

    ip->frame = frame;
    if (r->i > id && o.v.kind == VALUE_UNKNOWN && !o.slot)
        o.v = static_member(ip, r->toks->tok[r->i - 2].text, word);
    r->i = after;

    o.path = word;
    return o;
}

/* ---- what follows an operand ---- */

static const struct type *pointed_type(const struct interp_operand *o)
{
    const struct type *type = o->slot ? o->slot->type : o->type;

    return type && type->kind == TYPE_POINTER ? type->to : NULL;
}

/* What a pointer points to. */
static struct interp_operand pointed(const struct interp_value *v, const char *path)
{
    if (v->kind == VALUE_ADDRESS)
        return (struct interp_operand){.v = v->slot->v, .slot = v->slot, .path = path};
    return (struct interp_operand){.v = interp_cell(v->memory, v->i),
        .memory = v->memory,
        .offset = v->i,
        .type = v->type,
        .path = path};
}

/* o[index] of an object, in device code. */
static struct interp_operand walk_index(
    struct interp *ip, struct interp_operand *o, struct interp_value index)
{
    struct interp_operand arg = interp_plain(index);
    const struct decl *fn = interp_type_method(ip, o->v.object->type, "operator[]", 1);

    if (fn)
        return called(ip, fn, &arg, 1, o->v.object, NULL, NULL);
    interp_walk_away(ip, &o->v);
    return (struct interp_operand){0};
}

static struct interp_operand element(struct interp_reader *r, struct interp_operand o)
{
    unsigned open = r->i, close = interp_now(r)->match;
    struct interp_value i = interp_evaluate(r->ip, (struct tok_range){r->toks, open + 1, close});

    r->i = close + 1;
    if (o.v.kind == VALUE_TEXT && i.kind == VALUE_INT && i.i >= 0 &&
        (size_t)i.i <= strlen(o.v.text))
        return interp_plain(interp_int(o.v.text[i.i]));
    if (o.v.kind == VALUE_ADDRESS && i.kind == VALUE_INT && i.i == 0)
        return pointed(&o.v, o.path);
    if (o.v.kind == VALUE_UNKNOWN && o.slot && !o.slot->type) /* mode[0] = ... */
        o.v = o.slot->v = interp_pointer(interp_memory(r->ip, -1, false), NULL, 0);
    if (r->ip->walk && (o.memory == r->ip->walk->memory || interp_watched(r->ip, &o.v) ||
                           interp_watched(r->ip, &i)))
        return (struct interp_operand){.memory = r->ip->walk->memory, .type = o.v.type};
    if (r->ip->walk && o.v.kind == VALUE_OBJECT)
        return walk_index(r->ip, &o, i);
    if (o.v.kind != VALUE_MEMORY)
        return (struct interp_operand){.path = o.path, .type = pointed_type(&o)};
    unsigned each = interp_sizeof(r->ip, o.v.type);

    if (i.kind != VALUE_INT) {
        o.v.memory->lost |= !r->ip->walk && !o.v.memory->device;
        return r->ip->walk ? (struct interp_operand){.v = o.v.memory->fill,
                                 .memory = o.v.memory,
                                 .type = o.v.type}
                           : (struct interp_operand){.path = o.path};
    }
    o.v.i = interp_along(o.v.i, i.i, each ? each : 8);
    return pointed(&o.v, o.path);
}

/* The memory behind a tensor: as many elements as only the caller knows. */
struct interp_value interp_tensor(struct interp *ip, struct interp_operand *o)
{
    struct memory *m = o->slot ? o->slot->tensor : NULL;

    if (!m) {
        m = interp_memory(ip, -1, true);
        m->name = o->path;
        m->is_tensor = true;
        m->said = said_named(ip->arena,
            (struct said_name){
                .text = arena_printf(ip->arena, "%s_numel", o->path ? o->path : "tensor"),
                .at = ip->at,
                .line = m->line});
    }
    if (o->slot)
        o->slot->tensor = m;
    return interp_pointer(m, NULL, 0);
}

static struct interp_operand member_call(
    struct interp_reader *r, struct interp_operand o, const char *member, unsigned open)
{
    struct tok_range args[LAUNCH_MAX_ARGS];
    struct interp_operand values[LAUNCH_MAX_ARGS];
    unsigned nr = toks_list(r->toks, open, args, LAUNCH_MAX_ARGS);

    r->i = r->toks->tok[open].match + 1;
    const struct decl *fn =
        o.v.kind == VALUE_OBJECT ? interp_type_method(r->ip, o.v.object->type, member, nr) : NULL;

    if (fn || r->ip->walk || (o.v.kind == VALUE_OBJECT && o.v.object->type)) {
        evaluate_args(r, open, values);
        if (fn)
            return called(r->ip, fn, values, nr, o.v.object, NULL, NULL);
        interp_walk_call(r->ip, member, values, nr);
        interp_walk_away(r->ip, &o.v);
        return (struct interp_operand){0};
    }
    if (!o.path || o.v.kind != VALUE_UNKNOWN)
        return interp_member_builtin(r->ip, &o, member, args, nr);
    /* of a tensor, or of another object of which nothing is known: x.size(0), x.numel() */
    const bool element = strcmp(member, "size") == 0 && nr == 1 && args[0].to == args[0].from + 1;

    if (str_ends(member, "data_ptr") || strcmp(member, "data") == 0)
        return interp_plain(interp_tensor(r->ip, &o));
    return (struct interp_operand){
        .path = element ? arena_printf(r->ip->arena, "%s_size%s", o.path,
                              args[0].toks->tok[args[0].from].text)
                        : arena_printf(r->ip->arena, "%s_%s", o.path, member)};
}

/* Makes what a member is asked of: the object behind a pointer, or a struct, of which nothing is
 * known. */
static void make_object(struct interp *ip, struct interp_operand *o, bool arrow)
{
    const struct type *type = o->slot ? o->slot->type : NULL;

    if (o->v.kind != VALUE_UNKNOWN || !o->slot)
        return;
    if (arrow && type && type->kind == TYPE_POINTER && type->to && type->to->kind == TYPE_STRUCT) {
        struct interp_slot *to = arena_alloc(ip->arena, sizeof(*to));

        *to = (struct interp_slot){.type = type->to, .v = interp_object(ip, type->to)};
        o->slot->v = (struct interp_value){.kind = VALUE_ADDRESS, .slot = to};
    } else if (!type || type->kind == TYPE_STRUCT || type->kind == TYPE_OTHER) {
        o->slot->v = interp_object(ip, type && type->kind == TYPE_STRUCT ? type : NULL);
    }
    o->v = o->slot->v;
}

static struct interp_operand member(struct interp_reader *r, struct interp_operand o)
{
    bool arrow = tok_is(interp_now(r), "->");

    r->i++;
    interp_accept(r, "template");
    const char *word = interp_now(r)->text;
    unsigned open = r->i + 1;

    if (interp_now(r)->kind != TOK_NAME)
        return (struct interp_operand){0};
    const char *path = !o.path || strcmp(o.path, "this") == 0
                           ? word
                           : arena_printf(r->ip->arena, "%s_%s", o.path, word);

    if (!(open < r->to && (toks_is(r->toks, open, "(") || toks_is(r->toks, open, "<"))))
        make_object(r->ip, &o, arrow);
    if (arrow && (o.v.kind == VALUE_ADDRESS || o.v.kind == VALUE_MEMORY))
        o = pointed(&o.v, o.path);
    if (open < r->to && toks_is(r->toks, open, "<")) {
        unsigned close = toks_angle(r->toks, open, r->to); /* x.data_ptr<float>() */

        if (close && close + 1 < r->to && toks_is(r->toks, close + 1, "("))
            open = close + 1;
    }
    if (open < r->to && toks_is(r->toks, open, "(") && r->toks->tok[open].match &&
        r->toks->tok[open].match < r->to) {
        interp_walk_object(r->ip, &o);
        return member_call(r, o, word, open);
    }
    r->i++;
    if (r->ip->walk && o.memory == r->ip->walk->memory)
        return (struct interp_operand){.memory = o.memory};
    if (o.v.kind == VALUE_UNKNOWN && o.memory && o.type &&
        (o.type->kind == TYPE_STRUCT || (o.type->kind == TYPE_OTHER && o.type->bytes)) &&
        !o.memory->lost) { /* an element of an array of structs */
        o.v = interp_object(r->ip, o.type);
        interp_set_cell(r->ip, o.memory, o.offset, o.v);
        o.v = interp_cell(o.memory, o.offset);
    }
    if (o.v.kind != VALUE_OBJECT)
        return (struct interp_operand){.path = path};
    struct interp_slot *slot = interp_field(r->ip, o.v.object, word);

    slot->path = slot->path ? slot->path : path;
    if (o.v.object->type && o.v.object->type->kind == TYPE_DIM3 && slot->v.kind == VALUE_INT)
        path = NULL; /* what it was made of is said, or it is a number as such */
    return (struct interp_operand){.v = slot->v, .slot = slot, .type = slot->type, .path = path};
}

static struct interp_operand step_by_one(
    struct interp_reader *r, struct interp_operand o, bool up, bool before)
{
    struct interp_value old = interp_used(r->ip, &o), one = interp_int(1);
    struct interp_value v = interp_operate(r->ip, up ? "+" : "-", o.v, one);

    interp_store(r->ip, &o, v);
    interp_counted(r->ip, o.slot);
    return before ? o : interp_plain(old);
}

/* A number that is read, and that follows from no other, gets the name of its variable. So does a
 * number that nothing gives, and a pointer to memory of which nothing is known. */
static void name_value(struct interp *ip, struct interp_operand *o)
{
    struct interp_slot *slot = o->slot;
    const struct type *type = slot ? slot->type : NULL;
    const bool known = o->v.kind == VALUE_INT;

    if (!o->path || ip->walk || ip->asking || (slot && (slot->nameless || slot->v.said)) ||
        strcmp(o->path, "argc") == 0)
        return;
    if (o->memory)
        type = o->type;
    if (o->v.kind == VALUE_UNKNOWN && type && type->kind == TYPE_POINTER && ip->launching) {
        struct memory *m = interp_memory(ip, -1, true);

        m->name = o->path;
        o->v = interp_pointer(m, type->to, 0);
        if (slot)
            slot->v = o->v;
        else if (o->memory)
            interp_set_cell(ip, o->memory, o->offset, o->v);
        return;
    }
    if (known ? !slot || o->v.i < 1
              : (o->v.kind != VALUE_UNKNOWN && o->v.kind != VALUE_RANGE) ||
                    (type && type->kind != TYPE_INT && type->kind != TYPE_DIM3))
        return;
    const unsigned at = slot && slot->at ? slot->at : ip->at;

    o->v.said = said_named(ip->arena, (struct said_name){.text = o->path,
                                          .value = known ? o->v.i : 0,
                                          .known = known,
                                          .at = at,
                                          .line = ip->resolver->toks->tok[at].line,
                                          .slot = slot});
    if (o->v.kind == VALUE_UNKNOWN)
        o->v.kind = VALUE_SIZE;
    if (!known && !o->v.type)
        o->v.type = type;
    if (slot)
        slot->v = o->v;
}

struct interp_value interp_read(struct interp *ip, struct interp_slot *slot)
{
    struct interp_operand o = {
        .v = slot->v, .slot = slot, .path = slot->path ? slot->path : slot->name};

    name_value(ip, &o);
    return o.v;
}

static struct interp_operand postfix(struct interp_reader *r, struct interp_operand o)
{
    while (interp_step(r->ip)) {
        const struct tok *t = interp_now(r);

        if (tok_is(t, "[") && t->match && t->match < r->to) {
            o = element(r, o);
        } else if (tok_is(t, ".") || tok_is(t, "->")) {
            o = member(r, o);
        } else if (tok_is(t, "++") || tok_is(t, "--")) {
            r->i++;
            o = step_by_one(r, o, tok_is(t, "++"), false);
        } else if (tok_is(t, "(") && t->match && t->match < r->to) { /* f(x)(y), table[i](x) */
            struct interp_operand values[LAUNCH_MAX_ARGS];
            const unsigned nr = evaluate_args(r, r->i, values);

            r->i = t->match + 1;
            o = called_value(r->ip, o.v, values, nr);
        } else {
            break;
        }
    }
    name_value(r->ip, &o);
    return o;
}

static struct interp_operand primary(struct interp_reader *r)
{
    const struct tok *t = interp_now(r);

    if (t->kind == TOK_NUMBER) {
        r->i++;
        return interp_plain(number(r->ip, t->text));
    }
    if (t->kind == TOK_STRING)
        return interp_plain(text_of(r));
    if (t->kind == TOK_CHAR) {
        r->i++;
        return interp_plain(character(t->text));
    }
    if (tok_is(t, "(") && t->match && t->match < r->to) {
        struct interp_operand o;

        if (cast(r, &o))
            return o;
        o = interp_operand(r->ip, (struct tok_range){r->toks, r->i + 1, t->match});
        r->i = t->match + 1;
        return o;
    }
    if (tok_is(t, "[") && t->match && t->match < r->to)
        return interp_lambda(r);
    if (interp_accept(r, "sizeof"))
        return size_of(r);
    if (is_named_cast(t)) {
        r->i++;
        return named_cast(r);
    }
    if (interp_accept(r, "new"))
        return make_new(r);
    if (tok_is(t, "::"))
        r->i++;
    if (interp_now(r)->kind == TOK_NAME)
        return name(r);
    r->i = t->match > r->i && t->match < r->to ? t->match + 1 : r->i + 1;
    return (struct interp_operand){0};
}

static struct interp_operand address(struct interp_reader *r)
{
    struct interp_operand o = interp_expression(r, LEVEL_UNARY);

    if (o.memory)
        return interp_plain(interp_pointer(o.memory, o.type, o.offset));
    if (o.slot)
        return interp_plain((struct interp_value){.kind = VALUE_ADDRESS, .slot = o.slot});
    return interp_plain(o.v.kind == VALUE_CODE ? o.v : (struct interp_value){0});
}

struct interp_operand interp_unary(struct interp_reader *r)
{
    struct interp_operand o;
    double x;
    bool known;

    if (interp_accept(r, "&"))
        return address(r);
    if (interp_accept(r, "*")) {
        o = interp_expression(r, LEVEL_UNARY);
        if (o.v.kind == VALUE_ADDRESS || o.v.kind == VALUE_MEMORY)
            return pointed(&o.v, NULL);
        if (o.v.kind == VALUE_UNKNOWN || o.v.kind == VALUE_INT) /* for its type: sizeof(*p) */
            return (struct interp_operand){.type = pointed_type(&o)};
        return interp_plain(o.v.kind == VALUE_CODE ? o.v : (struct interp_value){0});
    }
    if (tok_is(interp_now(r), "++") || tok_is(interp_now(r), "--")) {
        bool up = tok_is(interp_now(r), "++");

        r->i++;
        return step_by_one(r, interp_expression(r, LEVEL_UNARY), up, true);
    }
    if (interp_accept(r, "!")) {
        o = interp_expression(r, LEVEL_UNARY);
        const struct interp_value v = interp_asked(r->ip, &o);
        bool value = interp_truth(&v, &known);

        return interp_plain(known ? interp_int(!value) : (struct interp_value){0});
    }
    if (tok_is(interp_now(r), "-") || tok_is(interp_now(r), "+") || tok_is(interp_now(r), "~")) {
        char op = interp_now(r)->text[0];

        r->i++;
        o = interp_expression(r, LEVEL_UNARY);
        interp_used(r->ip, &o);
        if (op == '+' || !interp_number_of(&o.v, &x))
            return interp_plain(op == '+' ? o.v : (struct interp_value){0});
        if (op == '~')
            return interp_plain(
                o.v.kind == VALUE_INT ? interp_int(~o.v.i) : (struct interp_value){0});
        return interp_plain(interp_operate(r->ip, "-", interp_int(0), o.v));
    }
    return postfix(r, primary(r));
}
