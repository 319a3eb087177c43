/* Owns the interpreter: main, calls of the file's functions and macros, and the bounds of the
 * work. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <string.h>

enum { MAX_EXPANSIONS = 4096, MAX_GLOBAL_STEPS = 200000, MAX_GIVEN = 8 };

bool interp_step(struct interp *ip)
{
    if (++ip->steps > ip->limit)
        ip->stopped = true;
    return !ip->stopped;
}

/* Token i names memory that is only read there: p[i] is part of an expression, and is neither
 * assigned nor handed on. */
static bool only_reads(const struct toks *toks, unsigned i)
{
    static const char *const taken[] = {"&", "++", "--", ">", "(", ",", NULL};
    static const char *const handed[] = {")", ",", ".", "->", NULL};
    unsigned end = i + 1;

    while (toks_is(toks, end, "[") && toks->tok[end].match)
        end = toks->tok[end].match + 1;
    const bool alone = i > 0 && str_among(toks->tok[i - 1].text, taken);

    return end > i + 1 && !tok_assigns(&toks->tok[end]) &&
           !(alone && (str_among(toks->tok[end].text, handed) ||
                          !str_among(toks->tok[i - 1].text, taken + 4)));
}

void interp_lose(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct interp_slot *slot =
            toks->tok[i].kind == TOK_NAME ? interp_variable(ip, toks->tok[i].text) : NULL;

        if (!slot || (i > from && toks_is(toks, i - 1, "->")))
            continue;
        if (slot->v.kind == VALUE_MEMORY) {
            slot->v.memory->lost |= !slot->v.memory->device && !only_reads(toks, i);
            continue;
        }
        bool assigned = tok_assigns(&toks->tok[i + 1]) ||
                        (i > from && (toks_is(toks, i - 1, "++") || toks_is(toks, i - 1, "--") ||
                                         toks_is(toks, i - 1, "&") ||
                                         (toks_is(toks, i - 1, ">") && toks_is(toks, i - 2, ">"))));

        if (slot->v.kind == VALUE_OBJECT && toks_is(toks, i + 1, ".")) {
            struct interp_slot *field = interp_field(ip, slot->v.object, toks->tok[i + 2].text);

            assigned = assigned || tok_assigns(&toks->tok[i + 3]);
            slot = field;
        }
        if (assigned && slot->v.kind != VALUE_OBJECT)
            slot->v = (struct interp_value){0};
    }
}

/* ---- calls ---- */

const struct bound *interp_bind(
    struct interp *ip, const char *name, const struct type *type, const struct bound *next)
{
    struct bound *b = arena_alloc(ip->arena, sizeof(*b));

    *b = (struct bound){name, type, next};
    return b;
}

static void bind(
    struct interp *ip, const struct bound **list, const char *name, const struct type *type)
{
    for (const struct bound *b = *list; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return;
    *list = interp_bind(ip, name, type, *list);
}

void interp_deduce(struct interp *ip, const struct decl *fn, struct tok_range param,
    const struct interp_operand *arg, const struct bound **list)
{
    const struct toks *toks = ip->resolver->toks;
    const char *names[MAX_TEMPLATE_ARGS];
    unsigned nr = params_of_template(toks, fn, names, ARRAY_SIZE(names));
    const struct type *whole = arg->v.type || !arg->slot ? arg->v.type : arg->slot->type;

    for (unsigned n = 0; n < nr && whole; n++)
        for (unsigned i = param.from; i < param.to; i++) {
            const struct type *type = whole;

            if (!toks_is(toks, i, names[n]))
                continue;
            if (arg->v.kind != VALUE_MEMORY && toks_is(toks, i - 1, "<"))
                type = interp_type_inner(ip, type);
            if (type->kind == TYPE_POINTER && type->to && toks_is(toks, i + 1, "*"))
                type = type->to;
            if ((type->kind == TYPE_INT || type->kind == TYPE_REAL) && !spelling_bytes(type->text))
                type = interp_type_named(ip, resolver_type(ip->resolver, type->text, ip->at));
            bind(ip, list, names[n], type);
        }
}

static void pass(
    struct interp *ip, const struct toks *toks, struct tok_range param, struct interp_operand *arg)
{
    const struct type *type;
    bool is_ref;
    unsigned i = interp_type_read(ip, toks, param.from, param.to, &type, &is_ref);

    if (i + 3 < param.to && toks_is(toks, i, "(") && toks_is(toks, i + 1, "*")) {
        i += 2; /* void (*kernel)(float *, int) */
        type = NULL;
        is_ref = false;
    }
    if (i >= param.to || toks->tok[i].kind != TOK_NAME)
        return;
    if (i + 1 < param.to && toks_is(toks, i + 1, "["))
        type = interp_type_pointer(ip, type);
    if (is_ref && arg->slot) {
        struct var *var = arena_alloc(ip->arena, sizeof(*var));

        *var = (struct var){toks->tok[i].text, arg->slot, ip->frame->vars};
        ip->frame->vars = var;
        return;
    }
    struct interp_slot *slot = interp_declare(ip, toks->tok[i].text, type);

    if (is_ref && ip->walk && arg->memory)
        slot->element = arg->memory;
    else
        interp_assign(ip, slot, interp_used(ip, arg));
}

static void pass_all(
    struct interp *ip, const struct decl *fn, struct interp_operand *args, unsigned nr_args)
{
    const struct toks *toks = fn->toks ? fn->toks : ip->resolver->toks;
    struct tok_range params[MAX_PARAMS];
    const unsigned nr = params_split(toks, fn, params);

    for (unsigned p = 0; p < nr && p < nr_args; p++)
        interp_deduce(ip, fn, params[p], &args[p], &ip->frame->bound);
    for (unsigned p = 0; p < nr; p++) {
        unsigned eq = toks_find(toks, params[p].from, params[p].to, "=");
        struct interp_operand arg = {0};

        if (p < nr_args)
            arg = args[p];
        else if (eq < params[p].to)
            arg.v = interp_evaluate(ip, (struct tok_range){toks, eq + 1, params[p].to});
        pass(ip, toks, (struct tok_range){toks, params[p].from, eq}, &arg);
    }
}

/* Carries out x(1), y(2) between the parameters and the body of a constructor. */
static void initialise_members(struct interp *ip, const struct decl *fn)
{
    const struct toks *toks = ip->resolver->toks;
    unsigned i = toks->tok[fn->open].match + 1;

    for (i += toks_is(toks, i, ":"); i + 1 < fn->body && toks->tok[i].kind == TOK_NAME &&
                                     toks->tok[i + 1].match > i && ip->frame->self;
         i = toks->tok[i + 1].match + 2)
        interp_initialise(ip, interp_field(ip, ip->frame->self, toks->tok[i].text),
            (struct tok_range){toks, i + 2, toks->tok[i + 1].match}, toks_is(toks, i + 1, "{"));
}

/* The function only reads elements of its parameter, as p[i]. */
static bool param_is_read(const struct toks *toks, const struct decl *fn, const struct param *p)
{
    for (unsigned i = fn->body + 1; i < fn->to && !p->is_const; i++)
        if (toks_is(toks, i, p->name) && !only_reads(toks, i))
            return false;
    return true;
}

/* Makes unknown what a call that took too long can change. */
static void lose_args(
    struct interp *ip, const struct decl *fn, struct interp_operand *args, unsigned nr_args)
{
    struct param params[MAX_PARAMS];
    const unsigned nr = params_read(params, NULL, ip->resolver->decls, fn);

    for (unsigned a = 0; a < nr_args; a++) {
        if (args[a].v.kind == VALUE_MEMORY &&
            !(a < nr && param_is_read(ip->resolver->toks, fn, &params[a])))
            args[a].v.memory->lost = true;
        if (args[a].v.kind == VALUE_ADDRESS)
            args[a].v.slot->v = (struct interp_value){0};
    }
}

void interp_give_up(struct interp *ip)
{
    ip->stopped = false;
    if (ip->patience > INTERP_LOOP_STEPS / 16)
        ip->patience /= 2;
}

struct interp_value interp_call(struct interp *ip, const struct decl *fn,
    struct interp_operand *args, unsigned nr_args, struct interp_object *self, struct var *scope,
    const struct bound *bound)
{
    const struct toks *toks = fn->toks ? fn->toks : ip->resolver->toks;
    bool bounded = !interp_launches_in(ip, toks, fn->body, fn->to);
    struct interp_frame frame = {.fn = fn,
        .up = ip->frame,
        .self = self,
        .vars = scope,
        .bound = bound || !scope || !ip->frame ? bound : ip->frame->bound,
        .plain = bounded && !(fn->open > 1 && toks_is(toks, fn->open - 2, "void"))};
    unsigned limit = ip->limit, at = ip->at;
    const bool written =
        ip->walk && (ip->walk->writes || !interp_passes_const(ip, fn, args, nr_args));

    for (const struct interp_frame *f = ip->walk ? ip->frame : NULL; f; f = f->up)
        if (f->fn == fn) { /* itself, or one of the same name that is not in the file */
            interp_walk_call(ip, fn->name, args, nr_args);
            return (struct interp_value){0};
        }
    if (ip->asking || ip->depth > INTERP_MAX_DEPTH || !toks->tok[fn->body].match)
        return (struct interp_value){0};
    if (bounded && !ip->walk && ip->limit > ip->steps + ip->patience)
        ip->limit = ip->steps + ip->patience;
    ip->depth += 4;
    ip->frame = &frame;
    pass_all(ip, fn, args, nr_args);
    if (self)
        initialise_members(ip, fn);
    interp_statements(ip, toks, fn->body + 1, toks->tok[fn->body].match);
    ip->frame = frame.up;
    if (ip->walk)
        ip->walk->writes = ip->walk->writes && written;
    struct memory *made = frame.result.kind == VALUE_MEMORY ? frame.result.memory : NULL;

    if (made && made->at > fn->from && made->at < fn->to) /* what it becomes outside names it */
        made->name = NULL;
    ip->depth -= 4;
    ip->leaving = LEAVING_NOT;
    ip->at = at;
    if (ip->stopped && !ip->ended && ip->steps > ip->limit && ip->limit < limit) {
        interp_give_up(ip);
        if (!fn->toks)
            lose_args(ip, fn, args, nr_args);
        frame.result = (struct interp_value){0};
    }
    ip->limit = limit;
    return frame.result;
}

/* ---- macros ---- */

struct expansion { /* of a call of a macro; equal texts are expanded once */
    const char *text;
    struct toks toks;
    struct expansion *next;
};

static const struct toks *expanded(struct interp *ip, const char *text)
{
    unsigned nr = 0;

    for (struct expansion *e = ip->expansions; e; e = e->next, nr++)
        if (strcmp(e->text, text) == 0)
            return &e->toks;
    struct expansion *e = nr < MAX_EXPANSIONS ? arena_alloc(ip->arena, sizeof(*e)) : NULL;

    if (!e)
        return NULL;
    e->text = arena_strdup(ip->arena, text);
    if (!toks_lex(&e->toks, ip->arena, e->text, strlen(text)))
        return NULL;
    for (unsigned i = 0; i <= e->toks.nr; i++) /* placed at the macro's call */
        e->toks.tok[i].line = ip->resolver->toks->tok[ip->at].line;
    e->next = ip->expansions;
    ip->expansions = e;
    return &e->toks;
}

static void run_text(struct interp *ip, const char *text)
{
    const struct toks *toks = expanded(ip, text);

    if (toks && ++ip->depth < INTERP_MAX_DEPTH)
        interp_statements(ip, toks, 0, toks->nr);
    ip->depth -= toks != NULL;
}

bool interp_passes(const struct interp *ip, const struct toks *toks, unsigned i)
{
    const unsigned begun = ip->frame ? ip->frame->fn->body : ip->at;

    return toks->tok[i].kind == TOK_DIRECTIVE ||
           (ip->walk ? toks->left_out && toks->left_out[i]
                     : toks->passed && toks->passed[i] > begun);
}

void interp_without_directives(
    struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    struct str text = {0};

    for (unsigned i = from; i < to; i++)
        if (toks->tok[i].kind != TOK_DIRECTIVE && !(toks->left_out && toks->left_out[i]))
            str_addf(&text, "%s ", toks->tok[i].text);
    run_text(ip, str_text(&text));
    str_finish(&text);
}

static const char *substituted(
    struct interp *ip, const struct macro *m, const struct tok_range *args, unsigned nr_args)
{
    struct str out = {0};

    expand_body(&out, m, args, nr_args);
    return str_move(&out, ip->arena);
}

struct interp_operand interp_macro_call(
    struct interp *ip, const struct macro *macro, const struct tok_range *args, unsigned nr_args)
{
    static const char *const begins[] = {
        "do", "{", "if", "for", "while", "switch", "asm", "__asm__", NULL};
    struct interp_operand none = {0};

    if (ip->depth > INTERP_MAX_DEPTH)
        return none;
    const struct toks *toks =
        expanded(ip, macro->is_function ? substituted(ip, macro, args, nr_args)
                                        : toks_text(&macro->toks, ip->arena, 0, macro->toks.nr));

    if (!toks || toks->nr == 0)
        return none;
    ip->depth += 4;
    const bool statement =
        tok_among(&toks->tok[0], begins) || toks_find(toks, 0, toks->nr, ";") < toks->nr;

    if (statement)
        interp_statements(ip, toks, 0, toks->nr);
    else
        none = interp_operand(ip, (struct tok_range){toks, 0, toks->nr});
    ip->depth -= 4;
    return none;
}

void interp_macro_head(struct interp *ip, const struct macro *macro, struct tok_range args)
{
    struct tok_range parts[LAUNCH_MAX_ARGS];
    const unsigned nr = tok_range_split(args, parts, LAUNCH_MAX_ARGS), open = args.to + 1;
    const char *head = substituted(ip, macro, parts, nr);

    run_text(ip, arena_printf(ip->arena, "%s %s", head,
                     toks_text(args.toks, ip->arena, open, args.toks->tok[open].match + 1)));
}

/* ---- the program ---- */

void interp_enumerators(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    unsigned open = toks_find(toks, from, to, "{");
    struct tok_range items[256];
    struct interp_value next = interp_int(0);

    if (open >= to)
        return;
    const unsigned nr = toks_list(toks, open, items, ARRAY_SIZE(items));

    for (unsigned i = 0; i < nr && items[i].from < items[i].to; i++) {
        if (items[i].to > items[i].from + 2 && toks_is(toks, items[i].from + 1, "="))
            next = interp_evaluate(ip, (struct tok_range){toks, items[i].from + 2, items[i].to});
        interp_declare(ip, toks->tok[items[i].from].text, NULL)->v = next;
        next.i++;
    }
}

static void globals(struct interp *ip)
{
    const struct decls *decls = ip->resolver->decls;
    const struct toks *toks = decls->toks;

    for (unsigned i = 0; i < decls->nr && !ip->stopped; i++) {
        const struct decl *d = &decls->decl[i];
        const bool template = toks_is(toks, d->from, "template");
        const unsigned angles = template ? toks_angle(toks, d->from + 1, d->to) : 0;
        unsigned first = angles ? angles + 1 : d->from + toks_is(toks, d->from, "typedef");

        ip->at = d->from;
        if (toks_is(toks, first, "enum"))
            interp_enumerators(ip, toks, d->from, d->to);
        else if (d->kind == DECL_VARIABLE &&
                 !(toks_is(toks, first, "extern") && toks_find(toks, d->from, d->to, "=") == d->to))
            interp_statements(ip, toks, toks->tok[first + 1].kind == TOK_STRING ? first + 2 : first,
                d->to); /* behind extern "C" */
        else if (d->kind == DECL_FUNCTION && !d->body && !d->is_device && !d->is_kernel &&
                 !toks_is(toks, first, "extern") && !template)
            interp_statements(ip, toks, d->from, d->to); /* dim3 block(16, 16); or a prototype */
    }
}

struct interp *interp_create(struct arena *arena, struct resolver *resolver)
{
    struct interp *ip = arena_alloc(arena, sizeof(*ip));

    ip->arena = arena;
    ip->resolver = resolver;
    ip->limit = MAX_GLOBAL_STEPS;
    ip->patience = INTERP_LOOP_STEPS;
    interp_find_functions(ip);
    globals(ip);
    ip->stopped = false;
    ip->steps = 0;
    return ip;
}

static struct interp_operand argument_vector(
    struct interp *ip, const char *const *args, unsigned nr_args, bool known)
{
    const struct type *text = interp_type_named(ip, "char*");
    struct memory *m = interp_memory(ip, 8 * ((int64_t)nr_args + 2), false);

    m->lost = !known;
    interp_set_cell(ip, m, 0, (struct interp_value){.kind = VALUE_TEXT, .text = "program"});
    for (unsigned i = 0; i < nr_args; i++)
        interp_set_cell(ip, m, 8 * ((int64_t)i + 1),
            (struct interp_value){.kind = VALUE_TEXT, .text = args[i]});
    ip->argv = m;
    ip->argc = nr_args + 1;
    return (struct interp_operand){.v = interp_pointer(m, text, 0)};
}

/* Begins with all steps before it, and nothing known of the command line or with arguments. */
static void begin(struct interp *ip, const struct decl *fn)
{
    ip->limit = INTERP_MAX_STEPS;
    ip->patience = INTERP_LOOP_STEPS;
    ip->steps = 0;
    ip->stopped = ip->ended = false;
    ip->leaving = LEAVING_NOT;
    ip->optind = 1;
    ip->at = fn->body;
}

bool interp_main(struct interp *ip, const char *const *args, unsigned nr_args, bool known)
{
    const struct decl *fn = decls_function(ip->resolver->decls, "main");
    struct interp_operand given[2] = {{.v = interp_int((int64_t)nr_args + 1)}};

    if (!fn || !fn->body)
        return false;
    if (!known)
        given[0].v = (struct interp_value){0};
    begin(ip, fn);
    ip->args_known = known;
    given[1] = argument_vector(ip, args, nr_args, known);
    interp_call(ip, fn, given, 2, NULL, NULL, NULL);
    if (ip->nr_launches == 0)
        ip->end_line = ip->resolver->toks->tok[ip->last].line;
    ip->spent = ip->stopped && !ip->ended;
    return ip->nr_launches > 0;
}

bool interp_launchers(struct interp *ip)
{
    const unsigned most = 4 * INTERP_MAX_STEPS; /* of all of them, and to look for them */
    const struct decl *fn;

    argument_vector(ip, NULL, 0, false);
    ip->endless = true;
    for (unsigned n = 0, taken = 0;
         ip->nr_launches == 0 && taken < most && (fn = interp_launcher(ip, n)) != NULL; n++) {
        const struct decl *type = decls_at(ip->resolver->decls, fn->from);
        struct interp_value self = {0};

        begin(ip, fn);
        if (type && type->kind == DECL_TYPE)
            self = interp_object(ip, interp_type_named(ip, type->name));
        for (unsigned nr = 0; self.object && nr < MAX_GIVEN; nr++) { /* what it is made of */
            const struct decl *made = interp_type_method(ip, self.type, type->name, nr);

            if (made)
                interp_call(ip, made, NULL, 0, self.object, NULL, NULL);
            nr = made ? MAX_GIVEN : nr;
        }
        interp_call(ip, fn, NULL, 0, self.object, NULL, NULL);
        taken += ip->steps + ip->resolver->toks->nr / 64;
    }
    return ip->nr_launches > 0;
}
