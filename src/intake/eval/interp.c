/* Owns the walk through host code: main, calls of the file's functions and macros, the bounds. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/params.h"

#include <string.h>

enum { MAX_EXPANSIONS = 4096, MAX_GLOBAL_STEPS = 200000 };

bool walk_step(struct walk *w)
{
    if (++w->steps > w->limit)
        w->stopped = true;
    return !w->stopped;
}

/* Token i names memory, and p[i] there is a part of a sum, not assigned and not handed on. */
static bool only_reads(const struct toks *toks, unsigned i)
{
    static const char *const taken[] = {"&", "++", "--", ">", "(", ",", NULL};
    static const char *const handed[] = {")", ",", ".", "->", NULL};
    unsigned end = i + 1;

    while (tok_is(&toks->tok[end], "[") && toks->tok[end].match)
        end = toks->tok[end].match + 1;
    const bool alone = i > 0 && str_among(toks->tok[i - 1].text, taken);

    return end > i + 1 && !tok_assigns(&toks->tok[end]) &&
           !(alone && (str_among(toks->tok[end].text, handed) ||
                          !str_among(toks->tok[i - 1].text, taken + 4)));
}

/* What tokens assign, or hand to someone who may, is not known any more. */
void walk_lose(struct walk *w, const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct slot *slot =
            toks->tok[i].kind == TOK_NAME ? walk_variable(w, toks->tok[i].text) : NULL;

        if (!slot || (i > from && tok_is(&toks->tok[i - 1], "->")))
            continue;
        if (slot->v.kind == VALUE_MEMORY) {
            slot->v.memory->lost |= !slot->v.memory->device && !only_reads(toks, i);
            continue;
        }
        bool assigned =
            tok_assigns(&toks->tok[i + 1]) ||
            (i > from && (tok_is(&toks->tok[i - 1], "++") || tok_is(&toks->tok[i - 1], "--") ||
                             tok_is(&toks->tok[i - 1], "&") ||
                             (tok_is(&toks->tok[i - 1], ">") && tok_is(&toks->tok[i - 2], ">"))));

        if (slot->v.kind == VALUE_OBJECT && tok_is(&toks->tok[i + 1], ".")) {
            struct slot *field = walk_field(w, slot->v.object, toks->tok[i + 2].text);

            assigned = assigned || tok_assigns(&toks->tok[i + 3]);
            slot = field;
        }
        if (assigned && slot->v.kind != VALUE_OBJECT)
            slot->v = (struct value){0};
    }
}

/* ---- calls ---- */

static void bind(struct walk *w, struct bound **list, const char *name, const struct type *type)
{
    for (struct bound *b = *list; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return;
    struct bound *b = arena_alloc(w->arena, sizeof(*b));

    *b = (struct bound){name, type, *list};
    *list = b;
}

/* T of a template whose parameter has T, T* or such for its type, from what is passed. */
static void deduce(struct walk *w, const struct decl *fn, struct range param, const struct value *v,
    struct bound **list)
{
    const struct toks *toks = w->host->toks;
    const char *names[MAX_TEMPLATE_ARGS];
    unsigned nr = template_params(toks, fn, names, ARRAY_SIZE(names));

    for (unsigned n = 0; n < nr && v->type; n++)
        for (unsigned i = param.from; i < param.to; i++)
            if (tok_is(&toks->tok[i], names[n]))
                bind(w, list, names[n], v->type);
}

static void pass(struct walk *w, const struct toks *toks, struct range param, struct operand *arg)
{
    const struct type *type;
    bool is_ref;
    unsigned i = type_read(w, toks, param.from, param.to, &type, &is_ref);

    if (i + 3 < param.to && tok_is(&toks->tok[i], "(") && tok_is(&toks->tok[i + 1], "*")) {
        i += 2; /* void (*kernel)(float *, int) */
        type = NULL;
        is_ref = false;
    }
    if (i >= param.to || toks->tok[i].kind != TOK_NAME)
        return;
    if (i + 1 < param.to && tok_is(&toks->tok[i + 1], "["))
        type = type_pointer(w, type);
    if (is_ref && arg->slot) {
        struct var *var = arena_alloc(w->arena, sizeof(*var));

        *var = (struct var){toks->tok[i].text, arg->slot, w->frame->vars};
        w->frame->vars = var;
        return;
    }
    struct slot *slot = walk_declare(w, toks->tok[i].text, type);

    walk_assign(w, slot, arg->v);
}

static void pass_all(struct walk *w, const struct decl *fn, struct operand *args, unsigned nr_args)
{
    const struct toks *toks = w->host->toks;
    struct range params[LAUNCH_MAX_ARGS];
    unsigned nr = range_split(
        (struct range){toks, fn->open + 1, toks->tok[fn->open].match}, params, LAUNCH_MAX_ARGS);

    for (unsigned p = 0; p < nr && p < nr_args; p++)
        deduce(w, fn, params[p], &args[p].v, &w->frame->bound);
    for (unsigned p = 0; p < nr; p++) {
        unsigned eq = toks_find(toks, params[p].from, params[p].to, "=");
        struct operand arg = {0};

        if (p < nr_args)
            arg = args[p];
        else if (eq < params[p].to)
            arg.v = walk_evaluate(w, (struct range){toks, eq + 1, params[p].to});
        pass(w, toks, (struct range){toks, params[p].from, eq}, &arg);
    }
}

/* x(1), y(2) between a constructor's parameters and its body */
static void initialise_members(struct walk *w, const struct decl *fn)
{
    const struct toks *toks = w->host->toks;
    unsigned i = toks->tok[fn->open].match + 1;

    for (i += tok_is(&toks->tok[i], ":"); i + 1 < fn->body && toks->tok[i].kind == TOK_NAME &&
                                          toks->tok[i + 1].match > i && w->frame->self;
         i = toks->tok[i + 1].match + 2)
        walk_initialise(w, walk_field(w, w->frame->self, toks->tok[i].text),
            (struct range){toks, i + 2, toks->tok[i + 1].match}, tok_is(&toks->tok[i + 1], "{"));
}

/* fn has its parameter only as p[i], and assigns none of them. */
static bool param_is_read(const struct toks *toks, const struct decl *fn, const struct param *p)
{
    for (unsigned i = fn->body + 1; i < fn->to && !p->is_const; i++)
        if (toks->tok[i].kind == TOK_NAME && strcmp(toks->tok[i].text, p->name) == 0 &&
            !only_reads(toks, i))
            return false;
    return true;
}

/* A call that took too long: what it can change is not known. */
static void lose_args(struct walk *w, const struct decl *fn, struct operand *args, unsigned nr_args)
{
    struct param params[MAX_PARAMS];
    const unsigned nr = params_read(params, NULL, w->host->decls, fn);

    for (unsigned a = 0; a < nr_args; a++) {
        if (args[a].v.kind == VALUE_MEMORY &&
            !(a < nr && param_is_read(w->host->toks, fn, &params[a])))
            args[a].v.memory->lost = true;
        if (args[a].v.kind == VALUE_ADDRESS)
            args[a].v.slot->v = (struct value){0};
    }
}

unsigned walk_patience(const struct walk *w, const struct toks *toks, unsigned body)
{
    return WALK_LOOP_STEPS >> (toks == w->host->toks ? w->tired[body] : 0);
}

void walk_give_up(struct walk *w, const struct toks *toks, unsigned body)
{
    w->stopped = false;
    if (toks == w->host->toks && w->tired[body] < 4)
        w->tired[body]++;
}

struct value walk_call(struct walk *w, const struct decl *fn, struct operand *args,
    unsigned nr_args, struct object *self, struct var *scope, struct bound *bound)
{
    const struct toks *toks = w->host->toks;
    struct frame frame = {.fn = fn, .up = w->frame, .self = self, .vars = scope, .bound = bound};
    unsigned limit = w->limit, at = w->at;
    bool bounded = !walk_launches_in(w, toks, fn->body, fn->to);

    if (w->dry || w->depth > WALK_MAX_DEPTH || !toks->tok[fn->body].match)
        return (struct value){0};
    if (bounded && w->limit > w->steps + walk_patience(w, toks, fn->body))
        w->limit = w->steps + walk_patience(w, toks, fn->body);
    w->depth += 4;
    w->frame = &frame;
    pass_all(w, fn, args, nr_args);
    initialise_members(w, fn);
    walk_statements(w, toks, fn->body + 1, toks->tok[fn->body].match);
    walk_facts(w, &frame, false);
    w->frame = frame.up;
    w->depth -= 4;
    w->leaving = LEAVING_NOT;
    w->at = at;
    if (w->stopped && !w->ended && w->steps > w->limit && w->limit < limit) {
        walk_give_up(w, toks, fn->body);
        lose_args(w, fn, args, nr_args);
        frame.result = (struct value){0};
    }
    w->limit = limit;
    return frame.result;
}

/* ---- macros ---- */

struct expansion { /* of a macro's call; the same text is expanded once */
    const char *text;
    struct toks toks;
    struct expansion *next;
};

static const struct toks *expanded(struct walk *w, const char *text)
{
    unsigned nr = 0;

    for (struct expansion *e = w->expansions; e; e = e->next, nr++)
        if (strcmp(e->text, text) == 0)
            return &e->toks;
    struct expansion *e = nr < MAX_EXPANSIONS ? arena_alloc(w->arena, sizeof(*e)) : NULL;

    if (!e)
        return NULL;
    e->text = arena_strdup(w->arena, text);
    if (!lex(&e->toks, w->arena, e->text, strlen(text)))
        return NULL;
    for (unsigned i = 0; i <= e->toks.nr; i++) /* as if it stood where the macro is called */
        e->toks.tok[i].line = w->host->toks->tok[w->at].line;
    e->next = w->expansions;
    w->expansions = e;
    return &e->toks;
}

/* The body with the arguments in place of the parameters, # and ## included. */
static const char *substituted(
    struct walk *w, const struct macro *m, const struct range *args, unsigned nr_args)
{
    struct str out = {0};

    for (unsigned i = 0; i < m->toks.nr; i++) {
        const struct tok *t = &m->toks.tok[i];
        unsigned p = 0, past = m->nr_params;
        bool variadic = tok_is(t, "__VA_ARGS__") || tok_is(t, "...");

        while (p < m->nr_params && !(t->kind == TOK_NAME && strcmp(t->text, m->params[p]) == 0))
            p++;
        if (tok_is(t, "#") && i + 1 < m->toks.nr) {
            bool paste = tok_is(&m->toks.tok[i + 1], "#");

            i++;
            if (paste)
                while (out.len && out.text[out.len - 1] == ' ')
                    out.text[--out.len] = 0;
            else
                str_add(&out, " \"\" ");
            if (paste && i + 1 < m->toks.nr)
                m->toks.tok[i + 1].line |= 0;
            continue;
        }
        bool pasted = i > 1 && tok_is(&m->toks.tok[i - 1], "#") && tok_is(&m->toks.tok[i - 2], "#");

        if (!pasted)
            str_add_char(&out, ' ');
        if (p < m->nr_params && strcmp(m->params[p], "...") != 0 && p < nr_args) {
            str_add(&out, toks_text(args[p].toks, w->arena, args[p].from, args[p].to));
        } else if (variadic) {
            while (past > 0 && strcmp(m->params[past - 1], "...") == 0)
                past--;
            for (unsigned a = past; a < nr_args; a++)
                str_addf(&out, "%s%s", a > past ? ", " : "",
                    toks_text(args[a].toks, w->arena, args[a].from, args[a].to));
        } else {
            str_add(&out, t->text);
        }
    }
    const char *text = arena_strdup(w->arena, str_text(&out));
    str_finish(&out);
    return text;
}

struct operand walk_macro_call(
    struct walk *w, const struct macro *macro, const struct range *args, unsigned nr_args)
{
    struct operand none = {0};

    if (w->dry || w->depth > WALK_MAX_DEPTH)
        return none;
    const struct toks *toks =
        expanded(w, macro->is_function ? substituted(w, macro, args, nr_args)
                                       : toks_text(&macro->toks, w->arena, 0, macro->toks.nr));

    if (!toks || toks->nr == 0)
        return none;
    w->depth += 4;
    bool statement = tok_is(&toks->tok[0], "do") || tok_is(&toks->tok[0], "{") ||
                     tok_is(&toks->tok[0], "if") || tok_is(&toks->tok[0], "for") ||
                     toks_find(toks, 0, toks->nr, ";") < toks->nr;

    if (statement)
        walk_statements(w, toks, 0, toks->nr);
    else
        none = walk_operand(w, (struct range){toks, 0, toks->nr});
    w->depth -= 4;
    return none;
}

/* ---- the program ---- */

static void enumerators(struct walk *w, const struct decl *d)
{
    const struct toks *toks = w->host->toks;
    unsigned open = toks_find(toks, d->from, d->to, "{");
    struct range items[256];
    struct value next = walk_int(0);

    if (open >= d->to || !toks->tok[open].match)
        return;
    unsigned nr = range_split((struct range){toks, open + 1, toks->tok[open].match}, items, 256);

    for (unsigned i = 0; i < nr && items[i].from < items[i].to; i++) {
        if (items[i].to > items[i].from + 2 && tok_is(&toks->tok[items[i].from + 1], "="))
            next = walk_evaluate(w, (struct range){toks, items[i].from + 2, items[i].to});
        walk_declare(w, toks->tok[items[i].from].text, NULL)->v = next;
        next.i++;
    }
}

static void globals(struct walk *w)
{
    const struct decls *decls = w->host->decls;
    const struct toks *toks = decls->toks;

    for (unsigned i = 0; i < decls->nr && !w->stopped; i++) {
        const struct decl *d = &decls->decl[i];
        unsigned first = d->from + tok_is(&toks->tok[d->from], "typedef");

        w->at = d->from;
        if (tok_is(&toks->tok[first], "enum"))
            enumerators(w, d);
        else if (d->kind == DECL_VARIABLE && !tok_is(&toks->tok[first], "template"))
            walk_statements(w, toks, d->from, d->to);
        else if (d->kind == DECL_FUNCTION && !d->body && !d->is_device && !d->is_kernel &&
                 !tok_is(&toks->tok[first], "extern"))
            walk_statements(w, toks, d->from, d->to); /* dim3 block(16, 16); or a prototype */
    }
}

struct walk *walk_create(struct arena *arena, struct host *host)
{
    struct walk *w = arena_alloc(arena, sizeof(*w));

    w->arena = arena;
    w->host = host;
    w->tired = arena_alloc(arena, host->toks->nr + 1);
    w->limit = MAX_GLOBAL_STEPS;
    walk_find_functions(w);
    globals(w);
    w->stopped = false;
    w->steps = 0;
    return w;
}

static struct operand argument_vector(
    struct walk *w, const char *const *args, unsigned nr_args, bool known)
{
    const struct type *text = type_named(w, "char*");
    struct memory *m = walk_memory(w, 8 * ((int64_t)nr_args + 2), false);

    m->lost = !known;
    walk_set_cell(w, m, 0, (struct value){.kind = VALUE_TEXT, .text = "program"});
    for (unsigned i = 0; i < nr_args; i++)
        walk_set_cell(
            w, m, 8 * ((int64_t)i + 1), (struct value){.kind = VALUE_TEXT, .text = args[i]});
    w->argv = m;
    w->argc = nr_args + 1;
    return (struct operand){.v = walk_pointer(m, text, 0)};
}

bool walk_main(struct walk *w, const char *const *args, unsigned nr_args, bool known)
{
    const struct decl *fn = decls_function(w->host->decls, "main");
    struct operand given[2] = {{.v = walk_int((int64_t)nr_args + 1)}};

    if (!fn || !fn->body)
        return false;
    if (!known)
        given[0].v = (struct value){0};
    w->limit = WALK_MAX_STEPS;
    w->optind = 1;
    w->args_known = known;
    w->at = fn->body;
    given[1] = argument_vector(w, args, nr_args, known);
    walk_call(w, fn, given, 2, NULL, NULL, NULL);
    if (w->nr_launches == 0)
        w->end_line = w->host->toks->tok[w->last].line;
    w->spent = w->stopped && !w->ended;
    return w->nr_launches > 0;
}
