/* Owns operands of host expressions in the walk: numbers, casts, calls, elements, fields. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static struct value number(struct walk *w, const char *text)
{
    char digits[64];
    size_t nr = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool binary_digits = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');

    for (const char *p = text; *p && nr + 1 < sizeof(digits); p++)
        if (*p != '\'')
            digits[nr++] = *p;
    digits[nr] = 0;
    bool is_real = hex ? strpbrk(digits, ".pP") != NULL
                       : strpbrk(digits, ".eE") != NULL || strpbrk(digits, "fF") != NULL;
    char *end;

    if (is_real) {
        double value = strtod(digits, &end);

        return walk_real(value, type_named(w, strpbrk(end, "fF") ? "float" : "double"));
    }
    uint64_t value = binary_digits ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
    struct value v = walk_int((int64_t)value);
    bool is_long = strpbrk(end, "lL") || value > (hex ? UINT32_MAX : INT32_MAX),
         is_unsigned = strpbrk(end, "uU") || (hex && value > INT32_MAX && value <= UINT32_MAX);

    v.type = type_named(w, is_long ? (is_unsigned ? "unsigned long long" : "long long")
                                   : (is_unsigned ? "unsigned int" : "int"));
    return v;
}

static struct value text_of(struct walk_reader *r)
{
    struct str s = {0};

    for (; walk_now(r)->kind == TOK_STRING; r->i++) {
        const char *t = walk_now(r)->text, *open = strchr(t, '"');
        size_t nr = open ? strlen(open) : 0;

        if (nr >= 2)
            str_add_n(&s, open + 1, nr - 2);
    }
    struct value v = {.kind = VALUE_TEXT, .text = arena_strdup(r->w->arena, str_text(&s))};
    str_finish(&s);
    return v;
}

static struct value character(const char *text)
{
    static const char escapes[] = "n\nt\tr\r0\0a\a";

    if (text[0] != '\'' || !text[1])
        return (struct value){0};
    if (text[1] != '\\')
        return walk_int(text[1]);
    for (size_t i = 0; i + 1 < sizeof(escapes); i += 2)
        if (escapes[i] == text[2])
            return walk_int(escapes[i + 1]);
    return walk_int(text[2]);
}

/* sizeof(type), sizeof(x), sizeof x */
static struct operand size_of(struct walk_reader *r)
{
    const struct type *type = NULL;
    bool is_ref;
    unsigned bytes = 0;

    if (tok_is(walk_now(r), "(") && walk_now(r)->match && walk_now(r)->match < r->to) {
        unsigned open = r->i, close = walk_now(r)->match;
        bool variable = r->toks->tok[open + 1].kind == TOK_NAME &&
                        walk_variable(r->w, r->toks->tok[open + 1].text);

        r->i = close + 1;
        if (!variable && type_read(r->w, r->toks, open + 1, close, &type, &is_ref) == close) {
            bytes = walk_sizeof(r->w, type);
        } else {
            struct operand o = walk_operand(r->w, (struct range){r->toks, open + 1, close});
            bool whole = o.slot && !o.slot->type && o.v.kind == VALUE_MEMORY && o.v.i == 0;

            type = o.slot ? o.slot->type : o.type ? o.type : o.v.type;
            bytes = whole ? (unsigned)(o.v.memory->bytes > 0 ? o.v.memory->bytes : 0)
                          : walk_sizeof(r->w, type);
        }
    } else {
        struct operand o = walk_expression(r, LEVEL_UNARY);

        bytes = walk_sizeof(r->w, o.slot ? o.slot->type : o.v.type);
    }
    struct value v = walk_int(bytes);

    v.type = type_named(r->w, "size_t");
    return walk_plain(bytes ? v : (struct value){0});
}

/* (type) operand */
static bool cast(struct walk_reader *r, struct operand *out)
{
    unsigned open = r->i, close = walk_now(r)->match;
    const struct tok *first = &r->toks->tok[open + 1], *after = &r->toks->tok[close + 1];
    const struct type *type;
    bool is_ref;

    if (!close || close + 1 >= r->to || close == open + 1 || first->kind != TOK_NAME ||
        walk_variable(r->w, first->text) ||
        !(after->kind == TOK_NAME || after->kind == TOK_NUMBER || after->kind == TOK_STRING ||
            after->kind == TOK_CHAR || tok_is(after, "(") || tok_is(after, "&") ||
            tok_is(after, "*") || tok_is(after, "-") || tok_is(after, "!")))
        return false;
    unsigned past = type_read(r->w, r->toks, open + 1, close, &type, &is_ref);

    if (past == open + 1)
        return false;
    if (past != close && !tok_is(&r->toks->tok[past], "(") && !tok_is(&r->toks->tok[past], "["))
        return false;
    if (type && type->kind == TYPE_OTHER && strcmp(type->text, "void") != 0 &&
        (tok_is(after, "&") || tok_is(after, "*") || tok_is(after, "-") || tok_is(after, "(")))
        return false; /* (x) - y of names that are not known */
    r->i = close + 1;
    *out = walk_expression(r, LEVEL_UNARY);
    bool address = out->v.kind == VALUE_ADDRESS;

    if (!address)
        *out = walk_plain(past == close ? walk_convert(r->w, out->v, type) : out->v);
    return true;
}

/* static_cast<T>(x) and its kin */
static struct operand named_cast(struct walk_reader *r)
{
    const struct type *type = NULL;
    bool is_ref;
    unsigned close = toks_angle(r->toks, r->i, r->to);

    if (!close || close + 1 >= r->to || !r->toks->tok[close + 1].match)
        return walk_plain((struct value){0});
    type_read(r->w, r->toks, r->i + 1, close, &type, &is_ref);
    struct value v =
        walk_evaluate(r->w, (struct range){r->toks, close + 2, r->toks->tok[close + 1].match});

    r->i = r->toks->tok[close + 1].match + 1;
    return walk_plain(v.kind == VALUE_ADDRESS ? v : walk_convert(r->w, v, type));
}

/* new T[n], new T(...) */
static struct operand make_new(struct walk_reader *r)
{
    const struct type *type;
    bool is_ref;

    if (tok_is(walk_now(r), "(") && walk_now(r)->match)
        r->i = walk_now(r)->match + 1;
    r->i = type_read(r->w, r->toks, r->i, r->to, &type, &is_ref);
    const struct tok *t = walk_now(r);
    unsigned each = walk_sizeof(r->w, type);

    if (tok_is(t, "[") && t->match && t->match < r->to) {
        struct value n = walk_evaluate(r->w, (struct range){r->toks, r->i + 1, t->match});
        bool known = n.kind == VALUE_INT && each && n.i >= 0 && n.i < INT64_MAX / each;

        r->i = t->match + 1;
        return walk_plain(walk_pointer(walk_memory(r->w, known ? n.i * each : -1, false), type, 0));
    }
    struct slot *slot = arena_alloc(r->w->arena, sizeof(*slot));

    slot->type = type;
    if ((tok_is(t, "(") || tok_is(t, "{")) && t->match && t->match < r->to) {
        walk_initialise(r->w, slot, (struct range){r->toks, r->i + 1, t->match}, tok_is(t, "{"));
        r->i = t->match + 1;
    } else {
        walk_initialise(r->w, slot, (struct range){r->toks, r->i, r->i}, true);
    }
    return walk_plain((struct value){.kind = VALUE_ADDRESS, .slot = slot});
}

/* [&](int x) { ... }: at the bracket */
static struct operand lambda(struct walk_reader *r)
{
    struct decl *fn = arena_alloc(r->w->arena, sizeof(*fn));
    unsigned open = walk_now(r)->match + 1, body = open;

    if (open < r->to && tok_is(&r->toks->tok[open], "(") && r->toks->tok[open].match)
        body = r->toks->tok[open].match + 1;
    while (body < r->to && !tok_is(&r->toks->tok[body], "{"))
        body++;
    if (body >= r->to || !r->toks->tok[body].match || body == open || r->toks != r->w->host->toks) {
        r->i = r->to;
        return walk_plain((struct value){0});
    }
    *fn = (struct decl){.kind = DECL_FUNCTION,
        .from = r->i,
        .open = open,
        .body = body,
        .to = r->toks->tok[body].match + 1,
        .name = ""};
    r->i = fn->to;
    return walk_plain((struct value){
        .kind = VALUE_CODE, .code = fn, .scope = r->w->frame ? r->w->frame->vars : NULL});
}

/* ---- calls ---- */

static unsigned read_args(struct walk_reader *r, unsigned open, struct range *args)
{
    return range_split(
        (struct range){r->toks, open + 1, r->toks->tok[open].match}, args, LAUNCH_MAX_ARGS);
}

static unsigned evaluate_args(
    struct walk_reader *r, const struct range *args, unsigned nr, struct operand *values)
{
    for (unsigned a = 0; a < nr; a++)
        values[a] = walk_operand(r->w, args[a]);
    return nr;
}

/* f<T, 4>(...): what the template's parameters are called with. */
static struct bound *bind_angles(struct walk_reader *r, const struct decl *fn, unsigned angle)
{
    struct walk *w = r->w;
    const char *names[MAX_TEMPLATE_ARGS];
    struct range given[MAX_TEMPLATE_ARGS];
    struct bound *list = NULL;
    unsigned nr = walk_template_params(w, fn, names, ARRAY_SIZE(names));
    unsigned close = angle ? toks_angle(r->toks, angle, r->to) : 0;
    unsigned nr_given =
        close ? range_split((struct range){r->toks, angle + 1, close}, given, MAX_TEMPLATE_ARGS)
              : 0;

    for (unsigned i = 0; i < nr && i < nr_given; i++) {
        struct bound *b = arena_alloc(w->arena, sizeof(*b));
        struct value v = walk_evaluate(w, given[i]);
        const struct type *type;
        bool is_ref;

        if (v.kind == VALUE_INT) {
            type = type_named(w, arena_printf(w->arena, "%lld", (long long)v.i));
        } else if (type_read(w, r->toks, given[i].from, given[i].to, &type, &is_ref) !=
                   given[i].to) {
            continue;
        }
        *b = (struct bound){names[i], type, list};
        list = b;
    }
    return list;
}

/* The type that a name stands for, with the template arguments that follow it at token angle. */
static const struct type *made_type(struct walk_reader *r, const char *name, unsigned angle)
{
    const struct type *type = type_named(r->w, name), *whole;
    bool is_ref;

    if (angle && type && type->kind == TYPE_STRUCT && type->decl &&
        type_read(r->w, r->toks, angle - 1, r->to, &whole, &is_ref) > angle && whole)
        return whole;
    return type;
}

static struct operand call(struct walk_reader *r, const char *name, unsigned angle, unsigned open)
{
    struct walk *w = r->w;
    struct range args[LAUNCH_MAX_ARGS];
    struct operand values[LAUNCH_MAX_ARGS];
    unsigned nr = read_args(r, open, args);
    const struct macro *macro = hostcode_macro(w->host, name);
    struct slot *variable = walk_variable(w, name);
    const struct type *type;
    bool is_ref;

    r->i = r->toks->tok[open].match + 1;
    if (w->dry)
        return walk_plain((struct value){0});
    if (macro && macro->is_function)
        return walk_macro_call(w, macro, args, nr);
    if (variable && variable->v.kind == VALUE_CODE && variable->v.code->body) {
        evaluate_args(r, args, nr, values);
        return walk_plain(
            walk_call(w, variable->v.code, values, nr, NULL, variable->v.scope, NULL));
    }
    if (variable && variable->v.kind == VALUE_RANGE) { /* a distribution */
        evaluate_args(r, args, nr, values);
        return walk_plain(variable->v);
    }
    const struct decl *self =
        w->frame && w->frame->self ? type_method(w, w->frame->self->type, name, nr) : NULL;
    const struct decl *fn = self ? self : walk_function(w, name, nr, 0, 0);

    if (fn && !fn->is_kernel) {
        evaluate_args(r, args, nr, values);
        return walk_plain(walk_call(
            w, fn, values, nr, self ? w->frame->self : NULL, NULL, bind_angles(r, fn, angle)));
    }
    type = made_type(r, str_starts(name, "make_") ? name + strlen("make_") : name, angle);
    if (type && (type->kind == TYPE_INT || type->kind == TYPE_REAL) && nr == 1)
        return walk_plain(walk_convert(w, walk_evaluate(w, args[0]), type)); /* int(x) */
    if (type && (type->kind == TYPE_DIM3 || type->kind == TYPE_STRUCT)) {
        struct slot slot = {.type = type};

        walk_initialise(
            w, &slot, (struct range){r->toks, open + 1, r->toks->tok[open].match}, true);
        return walk_plain(slot.v);
    }
    type = NULL;
    if (angle)
        type_read(w, r->toks, angle + 1, toks_angle(r->toks, angle, r->to), &type, &is_ref);
    return walk_builtin(w, name, args, nr, type);
}

/* A name, with what stands before it and its template arguments: a variable, a call, a launch. */
static struct operand name(struct walk_reader *r)
{
    struct walk *w = r->w;
    unsigned id = r->i;

    while (r->i + 2 < r->to && tok_is(&r->toks->tok[r->i + 1], "::") &&
           r->toks->tok[r->i + 2].kind == TOK_NAME)
        r->i += 2;
    const char *word = walk_now(r)->text;
    unsigned angle = 0, after = r->i + 1;

    if (after < r->to && tok_is(&r->toks->tok[after], "<") && !walk_variable(w, word)) {
        unsigned close = toks_angle(r->toks, after, r->to);

        if (close && close + 1 < r->to &&
            (tok_is(&r->toks->tok[close + 1], "(") || tok_is(&r->toks->tok[close + 1], "<<<") ||
                tok_is(&r->toks->tok[close + 1], "::") || tok_is(&r->toks->tok[close + 1], "{"))) {
            angle = after;
            after = close + 1;
        } else if (close && close + 1 >= r->to && walk_function(w, word, 0, 0, 0) == NULL &&
                   decls_function(w->host->decls, word)) {
            r->i = r->to; /* kernel<4> as a value */
            return walk_plain(
                (struct value){.kind = VALUE_CODE, .code = decls_function(w->host->decls, word)});
        }
    }
    const struct tok *next = after < r->to ? &r->toks->tok[after] : NULL;

    if (next && tok_is(next, "<<<")) {
        walk_launch_chevrons(w, r->toks, id, angle, after, r->to, &r->i);
        return walk_plain((struct value){0});
    }
    if (next && tok_is(next, "(") && next->match && next->match < r->to)
        return call(r, word, angle, after);
    if (angle && next && tok_is(next, "::")) { /* std::numeric_limits<int>::max() */
        r->i = after + 1;
        return walk_now(r)->kind == TOK_NAME ? name(r) : walk_plain((struct value){0});
    }
    const struct type *type =
        next && tok_is(next, "{") && next->match ? made_type(r, word, angle) : NULL;

    if (type && type->kind != TYPE_OTHER && next->match < r->to) {
        struct slot slot = {.type = type};

        r->i = next->match + 1;
        if (!w->dry)
            walk_initialise(w, &slot, (struct range){r->toks, after + 1, next->match}, true);
        return walk_plain(slot.v);
    }
    r->i = after;
    return walk_named(w, word);
}

/* ---- what follows an operand ---- */

static struct operand element(struct walk_reader *r, struct operand o)
{
    unsigned open = r->i, close = walk_now(r)->match;
    struct value i = walk_evaluate(r->w, (struct range){r->toks, open + 1, close});

    r->i = close + 1;
    if (o.v.kind == VALUE_TEXT && i.kind == VALUE_INT && i.i >= 0 &&
        (size_t)i.i <= strlen(o.v.text))
        return walk_plain(walk_int(o.v.text[i.i]));
    if (o.v.kind == VALUE_ADDRESS && i.kind == VALUE_INT && i.i == 0)
        return (struct operand){.v = o.v.slot->v, .slot = o.v.slot};
    if (o.v.kind != VALUE_MEMORY)
        return walk_plain((struct value){0});
    unsigned each = walk_sizeof(r->w, o.v.type);

    if (i.kind != VALUE_INT) {
        o.v.memory->lost = o.v.memory->lost || (!r->w->dry && !o.v.memory->device);
        return walk_plain((struct value){0});
    }
    struct operand e = {
        .memory = o.v.memory, .offset = walk_along(o.v.i, i.i, each ? each : 8), .type = o.v.type};

    e.v = walk_cell(r->w, e.memory, e.offset);
    return e;
}

static struct operand member_call(
    struct walk_reader *r, struct operand o, const char *member, unsigned open)
{
    struct range args[LAUNCH_MAX_ARGS];
    struct operand values[LAUNCH_MAX_ARGS];
    unsigned nr = read_args(r, open, args);

    r->i = r->toks->tok[open].match + 1;
    if (r->w->dry)
        return walk_plain((struct value){0});
    if (o.v.kind == VALUE_OBJECT && o.v.object->type) {
        const struct decl *fn = type_method(r->w, o.v.object->type, member, nr);

        evaluate_args(r, args, nr, values);
        return fn ? walk_plain(walk_call(r->w, fn, values, nr, o.v.object, NULL, NULL))
                  : walk_plain((struct value){0});
    }
    return walk_member_builtin(r->w, &o, member, args, nr);
}

static struct operand member(struct walk_reader *r, struct operand o)
{
    bool arrow = tok_is(walk_now(r), "->");

    r->i++;
    walk_accept(r, "template");
    const char *word = walk_now(r)->text;
    unsigned open = r->i + 1;

    if (walk_now(r)->kind != TOK_NAME)
        return walk_plain((struct value){0});
    if (arrow && o.v.kind == VALUE_ADDRESS)
        o = (struct operand){.v = o.v.slot->v, .slot = o.v.slot};
    else if (arrow && o.v.kind == VALUE_MEMORY)
        o = (struct operand){.v = walk_cell(r->w, o.v.memory, o.v.i),
            .memory = o.v.memory,
            .offset = o.v.i,
            .type = o.v.type};
    if (open < r->to && tok_is(&r->toks->tok[open], "<")) {
        unsigned close = toks_angle(r->toks, open, r->to); /* x.data_ptr<float>() */

        if (close && close + 1 < r->to && tok_is(&r->toks->tok[close + 1], "("))
            open = close + 1;
    }
    if (open < r->to && tok_is(&r->toks->tok[open], "(") && r->toks->tok[open].match &&
        r->toks->tok[open].match < r->to)
        return member_call(r, o, word, open);
    r->i++;
    if (o.v.kind == VALUE_UNKNOWN && o.memory && !r->w->dry && o.type &&
        o.type->kind == TYPE_STRUCT && !o.memory->lost) { /* an element of an array of structs */
        o.v = walk_object(r->w, o.type);
        walk_set_cell(r->w, o.memory, o.offset, o.v);
        o.v = walk_cell(r->w, o.memory, o.offset);
    } else if (o.v.kind == VALUE_UNKNOWN && o.slot && !r->w->dry && !o.slot->type) {
        o.slot->v = walk_object(r->w, NULL);
        o.v = o.slot->v;
    }
    if (o.v.kind != VALUE_OBJECT)
        return walk_plain((struct value){0});
    struct slot *slot = walk_field(r->w, o.v.object, word);

    return (struct operand){.v = slot->v, .slot = slot, .type = slot->type};
}

static struct operand step_by_one(struct walk_reader *r, struct operand o, bool up, bool before)
{
    struct value old = o.v, one = walk_int(1);
    struct value v = walk_operate(r->w, up ? "+" : "-", o.v, one);

    walk_store(r->w, &o, v);
    return before ? o : walk_plain(old);
}

static struct operand postfix(struct walk_reader *r, struct operand o)
{
    while (walk_step(r->w)) {
        const struct tok *t = walk_now(r);

        if (tok_is(t, "[") && t->match && t->match < r->to) {
            o = element(r, o);
        } else if (tok_is(t, ".") || tok_is(t, "->")) {
            o = member(r, o);
        } else if (tok_is(t, "++") || tok_is(t, "--")) {
            r->i++;
            o = step_by_one(r, o, tok_is(t, "++"), false);
        } else if (tok_is(t, "(") && t->match && t->match < r->to) { /* f(x)(y), table[i](x) */
            struct range args[LAUNCH_MAX_ARGS];
            struct operand values[LAUNCH_MAX_ARGS];
            unsigned nr = evaluate_args(r, args, read_args(r, r->i, args), values);

            r->i = t->match + 1;
            o = o.v.kind == VALUE_CODE && o.v.code->body && !r->w->dry
                    ? walk_plain(walk_call(r->w, o.v.code, values, nr, NULL, o.v.scope, NULL))
                    : walk_plain((struct value){0});
        } else {
            break;
        }
    }
    return o;
}

static struct operand primary(struct walk_reader *r)
{
    const struct tok *t = walk_now(r);

    if (t->kind == TOK_NUMBER) {
        r->i++;
        return walk_plain(number(r->w, t->text));
    }
    if (t->kind == TOK_STRING)
        return walk_plain(text_of(r));
    if (t->kind == TOK_CHAR) {
        r->i++;
        return walk_plain(character(t->text));
    }
    if (tok_is(t, "(") && t->match && t->match < r->to) {
        struct operand o;

        if (cast(r, &o))
            return o;
        o = walk_operand(r->w, (struct range){r->toks, r->i + 1, t->match});
        r->i = t->match + 1;
        return o;
    }
    if (tok_is(t, "[") && t->match && t->match < r->to)
        return lambda(r);
    if (walk_accept(r, "sizeof"))
        return size_of(r);
    if (walk_accept(r, "static_cast") || walk_accept(r, "reinterpret_cast") ||
        walk_accept(r, "const_cast"))
        return named_cast(r);
    if (walk_accept(r, "new"))
        return make_new(r);
    if (tok_is(t, "::"))
        r->i++;
    if (walk_now(r)->kind == TOK_NAME)
        return name(r);
    r->i = t->match > r->i && t->match < r->to ? t->match + 1 : r->i + 1;
    return walk_plain((struct value){0});
}

static struct operand address(struct walk_reader *r)
{
    struct operand o = walk_expression(r, LEVEL_UNARY);

    if (o.memory)
        return walk_plain(walk_pointer(o.memory, o.type, o.offset));
    if (o.slot)
        return walk_plain((struct value){.kind = VALUE_ADDRESS, .slot = o.slot});
    return walk_plain(o.v.kind == VALUE_CODE ? o.v : (struct value){0});
}

struct operand walk_unary(struct walk_reader *r)
{
    struct operand o;
    double x;
    bool known;

    if (walk_accept(r, "&"))
        return address(r);
    if (walk_accept(r, "*")) {
        o = walk_expression(r, LEVEL_UNARY);
        if (o.v.kind == VALUE_ADDRESS)
            return (struct operand){.v = o.v.slot->v, .slot = o.v.slot};
        if (o.v.kind == VALUE_MEMORY)
            return (struct operand){.v = walk_cell(r->w, o.v.memory, o.v.i),
                .memory = o.v.memory,
                .offset = o.v.i,
                .type = o.v.type};
        return walk_plain(o.v.kind == VALUE_CODE ? o.v : (struct value){0});
    }
    if (tok_is(walk_now(r), "++") || tok_is(walk_now(r), "--")) {
        bool up = tok_is(walk_now(r), "++");

        r->i++;
        return step_by_one(r, walk_expression(r, LEVEL_UNARY), up, true);
    }
    if (walk_accept(r, "!")) {
        o = walk_expression(r, LEVEL_UNARY);
        bool value = walk_truth(&o.v, &known);

        return walk_plain(known ? walk_int(!value) : (struct value){0});
    }
    if (tok_is(walk_now(r), "-") || tok_is(walk_now(r), "+") || tok_is(walk_now(r), "~")) {
        char op = walk_now(r)->text[0];

        r->i++;
        o = walk_expression(r, LEVEL_UNARY);
        if (op == '+' || !walk_number_of(&o.v, &x))
            return walk_plain(op == '+' ? o.v : (struct value){0});
        if (op == '~')
            return walk_plain(o.v.kind == VALUE_INT ? walk_int(~o.v.i) : (struct value){0});
        return walk_plain(walk_operate(r->w, "-", walk_int(0), o.v));
    }
    return postfix(r, primary(r));
}
