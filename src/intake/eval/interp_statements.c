/* Owns statements of host code in the interpreter: blocks, ifs, loops, declarations. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <string.h>

static unsigned statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to);

/* ---- conditional compilation inside of functions ---- */

/* The token behind the lines that the directive at token i leaves out. */
static unsigned skip_lines(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    const char *rest, *word = resolver_directive(&toks->tok[i], &rest);
    bool opens = str_starts(word, "if"), sure;
    unsigned depth = 0;

    if (ip->walk || (opens && resolver_holds(ip->resolver, &toks->tok[i], &sure)) ||
        !(opens || str_starts(word, "else") || str_starts(word, "elif")))
        return i + 1;
    for (i++; i < to; i++) {
        if (toks->tok[i].kind != TOK_DIRECTIVE)
            continue;
        word = resolver_directive(&toks->tok[i], &rest);
        if (str_starts(word, "endif") && depth-- == 0)
            return i + 1;
        if (depth == 0 && opens &&
            (str_starts(word, "else") ||
                (str_starts(word, "elif") && resolver_holds(ip->resolver, &toks->tok[i], &sure))))
            return i + 1;
        depth += str_starts(word, "if");
    }
    return to;
}

/* ---- conditions ---- */

enum truth { IS_FALSE, IS_TRUE, IS_UNKNOWN };

static enum truth truth_of(const struct interp_value *v)
{
    switch (v->kind) {
    case VALUE_INT:
        return v->i != 0 ? IS_TRUE : IS_FALSE;
    case VALUE_REAL:
        return v->r != 0 ? IS_TRUE : IS_FALSE;
    case VALUE_MEMORY:
    case VALUE_ADDRESS:
    case VALUE_CODE:
    case VALUE_TEXT:
        return IS_TRUE;
    default:
        return IS_UNKNOWN;
    }
}

/* The end of the statement at token i, which is not carried out. */
static unsigned skip_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    ip->dry++;
    i = statement(ip, toks, i, to);
    ip->dry--;
    return i;
}

static unsigned run_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    return ip->leaving || ip->stopped ? skip_statement(ip, toks, i, to)
                                      : statement(ip, toks, i, to);
}

/* The tokens return, exit, break or the like, outside of further blocks: they are an error's way
 * out. */
static bool leaves(const struct toks *toks, unsigned from, unsigned to)
{
    static const char *const words[] = {"return", "exit", "abort", "throw", "break", "continue",
        "goto", "_exit", "terminate", NULL};

    for (unsigned i = from; i < to; i++) {
        if (toks_is(toks, i, "{") && i > from && toks->tok[i].match)
            i = toks->tok[i].match;
        if (tok_among(&toks->tok[i], words))
            return true;
    }
    return false;
}

/* An if with an unknown condition: an error's way out is passed by; else the side with a launch is
 * taken. */
static unsigned unknown_branch(
    struct interp *ip, const struct toks *toks, unsigned body, unsigned other, unsigned end)
{
    unsigned body_to = skip_statement(ip, toks, body, end), assumed = ip->assumed;
    bool launches = interp_launches_in(ip, toks, body, body_to);
    unsigned other_to = other ? skip_statement(ip, toks, other, end) : 0;
    bool other_launches = other && interp_launches_in(ip, toks, other, other_to);

    if (!launches && !other_launches) {
        bool out = leaves(toks, body, body_to);

        if (!out)
            interp_lose(ip, toks, body, body_to);
        if (other && out)
            run_statement(ip, toks, other, end);
        else if (other)
            interp_lose(ip, toks, other, other_to);
        return other ? other_to : body_to;
    }
    ip->assumed = toks->tok[body].line;
    run_statement(ip, toks, launches ? body : other, end);
    ip->assumed = ip->nr_launches ? ip->assumed : assumed;
    if (!launches)
        interp_lose(ip, toks, body, body_to);
    return other ? other_to : body_to;
}

static struct interp_value condition(struct interp *ip, struct tok_range r)
{
    const struct interp_operand o = ip->dry ? (struct interp_operand){0} : interp_operand(ip, r);

    return interp_asked(ip, &o);
}

static unsigned if_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    i++;
    if (i < to && toks_is(toks, i, "constexpr"))
        i++;
    unsigned close = i < to ? toks->tok[i].match : 0;

    if (!close || close >= to)
        return to;
    unsigned semi = toks_find(toks, i + 1, close, ";"); /* if (int x = f(); x) */
    unsigned first = i + 1;

    if (semi < close && !ip->dry)
        interp_statements(ip, toks, i + 1, semi + 1);
    if (semi < close)
        first = semi + 1;
    struct interp_value v = condition(ip, (struct tok_range){toks, first, close});
    unsigned body = close + 1, body_to = skip_statement(ip, toks, body, to), other = 0;
    enum truth truth = truth_of(&v);

    if (body_to < to && toks_is(toks, body_to, "else"))
        other = body_to + 1;
    unsigned end = other ? skip_statement(ip, toks, other, to) : body_to;

    if (ip->dry || ip->stopped)
        return end;
    if (ip->walk) {
        run_statement(ip, toks, body, to);
        if (other)
            run_statement(ip, toks, other, to);
        return end;
    }
    if (truth == IS_UNKNOWN)
        return unknown_branch(ip, toks, body, other, to);
    if (truth == IS_TRUE)
        run_statement(ip, toks, body, to);
    else if (other)
        run_statement(ip, toks, other, to);
    return end;
}

/* ---- loops ---- */

struct interp_loop {
    struct tok_range condition, step; /* empty: always, nothing */
    unsigned body, body_to;
    bool condition_last;
};

/* Carries out a loop of device code. */
static void walk_loop(struct interp *ip, const struct toks *toks, const struct interp_loop *l)
{
    struct interp_walk *w = ip->walk;
    const unsigned begun = ip->nr_slots;
    unsigned before = w->oldest;

    do {
        before = w->oldest < before ? w->oldest : before;
        w->oldest = UINT_MAX;
        if (l->condition.from < l->condition.to)
            condition(ip, l->condition);
        run_statement(ip, toks, l->body, l->body_to);
        if (l->step.from < l->step.to)
            interp_evaluate(ip, l->step);
    } while (w->oldest < begun && interp_step(ip));
    w->oldest = before;
}

static void run_loop(struct interp *ip, const struct toks *toks, const struct interp_loop *l)
{
    unsigned limit = ip->limit, rounds = 0;
    bool launches = interp_launches_in(ip, toks, l->body, l->body_to) ||
                    interp_launches_in(ip, l->condition.toks, l->condition.from, l->condition.to);
    unsigned bound =
        ip->steps + (launches ? 4 * INTERP_LOOP_STEPS : interp_patience(ip, toks, l->body));
    enum truth truth = IS_TRUE;

    if (ip->walk) {
        walk_loop(ip, toks, l);
        return;
    }
    if (ip->limit > bound)
        ip->limit = bound;
    for (;; rounds++) {
        if (l->condition.from < l->condition.to && !(l->condition_last && rounds == 0)) {
            struct interp_value v = interp_evaluate(ip, l->condition);

            truth = truth_of(&v);
        }
        if (ip->stopped || truth == IS_FALSE || (truth == IS_UNKNOWN && rounds > 0))
            break;
        run_statement(ip, toks, l->body, l->body_to);
        if (ip->leaving == LEAVING_LOOP || ip->leaving == LEAVING_FUNCTION)
            break;
        ip->leaving = LEAVING_NOT;
        if (ip->stopped)
            break;
        if (l->step.from < l->step.to)
            interp_evaluate(ip, l->step);
        interp_step(ip);
    }
    bool given_up = ip->stopped && !ip->ended && ip->steps > ip->limit && ip->limit < limit;

    if (ip->leaving == LEAVING_LOOP || ip->leaving == LEAVING_ROUND)
        ip->leaving = LEAVING_NOT;
    ip->limit = limit;
    if (given_up)
        interp_give_up(ip, toks, l->body);
    if (given_up || truth == IS_UNKNOWN) {
        interp_lose(ip, toks, l->body, l->body_to);
        interp_lose(ip, toks, l->step.from, l->step.to);
    }
}

/* for (T x : list): runs the body for the first element. */
static bool range_for(
    struct interp *ip, const struct toks *toks, unsigned open, struct interp_loop *l)
{
    unsigned close = toks->tok[open].match, colon = toks_find(toks, open + 1, close, ":");
    const struct type *type;
    bool is_ref;

    if (colon == close || toks_find(toks, open + 1, close, ";") < close ||
        toks_find(toks, open + 1, close, "?") < close)
        return false;
    unsigned name = interp_type_read(ip, toks, open + 1, colon, &type, &is_ref);
    struct interp_operand list = interp_operand(ip, (struct tok_range){toks, colon + 1, close});

    if (name < colon && toks->tok[name].kind == TOK_NAME) {
        struct interp_slot *slot = interp_declare(ip, toks->tok[name].text, type);

        if (list.v.kind == VALUE_MEMORY && !interp_watched(ip, &list.v))
            interp_assign(ip, slot, interp_cell(list.v.memory, 0));
    }
    bool launches = interp_launches_in(ip, toks, l->body, l->body_to);

    if (launches || ip->walk)
        run_statement(ip, toks, l->body, l->body_to);
    if (ip->leaving == LEAVING_LOOP || ip->leaving == LEAVING_ROUND)
        ip->leaving = LEAVING_NOT;
    interp_lose(ip, toks, l->body, l->body_to);
    return true;
}

static unsigned for_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned open = i + 1, close = open < to ? toks->tok[open].match : 0;
    struct var *vars = ip->frame ? ip->frame->vars : NULL;

    if (!close || close >= to)
        return to;
    struct interp_loop l = {.body = close + 1, .body_to = skip_statement(ip, toks, close + 1, to)};
    unsigned first = toks_find(toks, open + 1, close, ";"),
             second = toks_find(toks, first + 1, close, ";");

    if (ip->dry || range_for(ip, toks, open, &l) || second >= close)
        return l.body_to;
    interp_statements(ip, toks, open + 1, first + 1);
    l.condition = (struct tok_range){toks, first + 1, second};
    l.step = (struct tok_range){toks, second + 1, close};
    run_loop(ip, toks, &l);
    if (ip->frame)
        ip->frame->vars = vars;
    return l.body_to;
}

static unsigned while_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned open = i + 1, close = open < to ? toks->tok[open].match : 0;

    if (!close || close >= to)
        return to;
    struct interp_loop l = {.condition = {toks, open + 1, close},
        .step = {toks, 0, 0},
        .body = close + 1,
        .body_to = skip_statement(ip, toks, close + 1, to)};

    if (!ip->dry)
        run_loop(ip, toks, &l);
    return l.body_to;
}

static unsigned do_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    struct interp_loop l = {.body = i + 1,
        .body_to = skip_statement(ip, toks, i + 1, to),
        .step = {toks, 0, 0},
        .condition_last = true};
    unsigned end = l.body_to;

    if (end + 1 < to && toks_is(toks, end, "while") && toks->tok[end + 1].match) {
        l.condition = (struct tok_range){toks, end + 2, toks->tok[end + 1].match};
        end = toks->tok[end + 1].match + 1;
        end += end < to && toks_is(toks, end, ";");
    }
    if (!ip->dry)
        run_loop(ip, toks, &l);
    return end;
}

/* The label behind token i, or the end of the switch. */
static unsigned case_end(const struct toks *toks, unsigned i, unsigned close)
{
    const unsigned label = toks_find(toks, i, close, "case");

    return label < close ? label : toks_find(toks, i, close, "default");
}

/* The label of the value, else the default, else the end of the switch. Of a value that is not
 * known: the first label with a launch behind it, which gives the value its number. */
static unsigned find_case(
    struct interp *ip, const struct toks *toks, unsigned open, struct interp_value v)
{
    const bool open_value = v.kind != VALUE_INT && v.kind != VALUE_REAL;
    unsigned close = toks->tok[open].match, other = close;

    for (unsigned i = open + 1; i < close; i++) {
        const struct tok *t = &toks->tok[i];

        if (tok_is(t, "default") && toks_is(toks, i + 1, ":"))
            other = i + 2;
        if (tok_is(t, "case")) {
            unsigned colon = toks_find(toks, i, close, ":");
            struct interp_value label = interp_evaluate(ip, (struct tok_range){toks, i + 1, colon});

            if (label.kind == VALUE_INT && v.kind == VALUE_INT && label.i == v.i)
                return colon + 1;
            if (open_value &&
                interp_launches_in(ip, toks, colon + 1, case_end(toks, colon, close))) {
                if (v.said && v.said->name && label.kind == VALUE_INT)
                    *v.said->name = (struct said_name){.value = label.i};
                return colon + 1;
            }
        }
        if (t->match > i)
            i = t->match;
    }
    return v.kind == VALUE_INT ? other : close;
}

static unsigned switch_statement(
    struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned open = i + 1, close = open < to ? toks->tok[open].match : 0, brace = close + 1;

    if (!close || brace >= to || !toks->tok[brace].match)
        return to;
    unsigned end = toks->tok[brace].match;

    if (ip->dry)
        return end + 1;
    struct interp_value v = interp_evaluate(ip, (struct tok_range){toks, open + 1, close});
    unsigned from = ip->walk ? brace + 1 : find_case(ip, toks, brace, v);

    if (v.kind != VALUE_INT && from == end)
        interp_lose(ip, toks, brace, end);
    interp_statements(ip, toks, from, end);
    if (ip->leaving == LEAVING_LOOP)
        ip->leaving = LEAVING_NOT;
    return end + 1;
}

/* ---- declarations ---- */

/* T name[2][n] = ...: declares memory of its own. */
static unsigned declare_array(
    struct interp *ip, const struct toks *toks, unsigned name, const struct type *type, unsigned to)
{
    struct interp_slot *slot = interp_declare(ip, toks->tok[name].text, NULL);
    unsigned i = name + 1, dims = 0, each = interp_sizeof(ip, type);
    int64_t bytes = each ? (int64_t)each : -1;
    const struct said *said = said_number(ip->arena, each);

    for (; i < to && toks_is(toks, i, "[") && toks->tok[i].match; dims++) {
        struct interp_value n =
            interp_evaluate(ip, (struct tok_range){toks, i + 1, toks->tok[i].match});

        bytes = bytes < 0 || n.kind != VALUE_INT || n.i < 0 || n.i > INT32_MAX ? -1 : bytes * n.i;
        said = said_of(ip->arena, "*", interp_said(ip, &n), said, NULL);
        i = toks->tok[i].match + 1;
    }
    struct memory *m = interp_memory(ip, bytes, false);

    m->name = toks->tok[name].text;
    m->lost = dims > 1;
    m->said = said;
    slot->v = interp_pointer(m, type, 0);
    if (i < to && toks_is(toks, i, "="))
        i++;
    if (i < to && toks_is(toks, i, "{") && toks->tok[i].match) {
        struct tok_range items[LAUNCH_MAX_ARGS];
        unsigned nr = tok_range_split(
            (struct tok_range){toks, i + 1, toks->tok[i].match}, items, LAUNCH_MAX_ARGS);

        m->fill = nr <= 1 ? interp_int(0) : (struct interp_value){0};
        if (m->lost && nr > 0) { /* {0}, or rows in braces */
            const struct interp_value v = interp_evaluate(ip, items[0]);

            m->contents.unknown = nr > 1 || v.kind != VALUE_INT || v.i != 0;
        }
        for (unsigned k = 0; k < nr && !m->lost && items[k].from < items[k].to; k++) {
            struct interp_slot item = {.type = type};

            interp_initialise(ip, &item, items[k], false);
            interp_set_cell(ip, m, (int64_t)k * (each ? each : 8), item.v);
        }
        if (bytes < 0 && each)
            m->bytes = (int64_t)each * nr;
    }
    return i;
}

static unsigned declarator(struct interp *ip, const struct toks *toks, unsigned i, unsigned end,
    const struct type *type, bool is_ref)
{
    for (; i < end &&
           (toks_is(toks, i, "*") || toks_is(toks, i, "&") || interp_type_word(&toks->tok[i]));
         i++)
        if (toks_is(toks, i, "*"))
            type = interp_type_pointer(ip, type);
    unsigned comma = toks_find(toks, i, end, ",");

    if (i >= end || toks->tok[i].kind != TOK_NAME)
        return comma;
    const char *name = toks->tok[i].text;
    const struct tok *next = &toks->tok[i + 1];

    if (i + 1 < comma && tok_is(next, "[")) {
        declare_array(ip, toks, i, type, comma);
    } else if (i + 1 < comma && tok_is(next, "=")) {
        struct tok_range init = {toks, i + 2, comma};
        struct interp_operand o = {0};

        if (is_ref)
            o = interp_operand(ip, init);
        struct interp_slot *slot = interp_declare(ip, name, type);

        if (is_ref && o.slot)
            ip->frame ? (void)(ip->frame->vars->slot = o.slot) : (void)0;
        else if (is_ref && ip->walk && o.memory)
            slot->element = o.memory;
        else if (is_ref)
            interp_assign(ip, slot, o.v);
        else
            interp_initialise(ip, slot, init, false);
    } else {
        bool braces = i + 1 < comma && tok_is(next, "{");
        bool has = braces || (i + 1 < comma && tok_is(next, "("));
        struct interp_slot *slot = interp_declare(ip, name, type);
        struct tok_range init = {toks, i + 2, has ? next->match : i + 2};

        interp_initialise(ip, slot, init, braces || !has);
    }
    return comma;
}

/* `type name ...;` at token i: the token behind the type; i: no declaration begins there. */
static unsigned declaration(struct interp *ip, const struct toks *toks, unsigned i, unsigned end,
    const struct type **type, bool *is_ref)
{
    unsigned first = i;

    while (first < end && interp_type_word(&toks->tok[first]))
        first++;
    if (first >= end || toks->tok[first].kind != TOK_NAME ||
        (first == i && toks_is(toks, first + 1, "(")) ||
        (first == i && interp_variable(ip, toks->tok[first].text)))
        return i;
    unsigned past = interp_type_read(ip, toks, i, end, type, is_ref);

    if (past == i || past >= end || toks->tok[past].kind != TOK_NAME)
        return i;
    const struct tok *next = &toks->tok[past + 1];
    bool ok = past + 1 == end || tok_is(next, "=") || tok_is(next, "(") || tok_is(next, "{") ||
              tok_is(next, "[") || tok_is(next, ",") || tok_is(next, ";");

    return ok ? past : i;
}

/* void (*name)(float *, int) = f; */
static bool declare_function_pointer(
    struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned open = toks_find(toks, i + 1, end, "(");

    if (toks->tok[i].kind != TOK_NAME || open + 4 >= end || !toks_is(toks, open + 1, "*") ||
        toks->tok[open + 2].kind != TOK_NAME || toks->tok[open].match != open + 3 ||
        !toks_is(toks, open + 4, "("))
        return false;
    struct interp_slot *slot = interp_declare(ip, toks->tok[open + 2].text, NULL);
    const unsigned equals = toks_find(toks, open, end, "=");

    if (equals < end)
        interp_assign(ip, slot, interp_evaluate(ip, (struct tok_range){toks, equals + 1, end}));
    return true;
}

/* ---- statements ---- */

static unsigned plain_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned end = toks_find(toks, i, to, ";");
    const struct type *type;
    bool is_ref;

    if (ip->dry || i == end)
        return end + 1;
    if (toks == ip->resolver->toks)
        ip->at = ip->last = i;
    for (unsigned k = i; k < end; k++)
        if (toks->tok[k].kind == TOK_DIRECTIVE) {
            interp_without_directives(ip, toks, i, end + 1);
            return end + 1;
        }
    const struct macro *macro =
        toks->tok[i].kind == TOK_NAME ? resolver_macro(ip->resolver, toks->tok[i].text) : NULL;
    unsigned close = toks->tok[i + 1].match;

    if (ip->walk && macro && macro->is_function && close > i && toks_is(toks, close + 1, "{") &&
        toks->tok[close + 1].match) { /* FOR_EACH(i, n) { ... } */
        interp_macro_head(ip, macro, (struct tok_range){toks, i + 2, close});
        return toks->tok[close + 1].match + 1;
    }
    if (macro && macro->is_function && close > i && close < end && toks_is(toks, i + 1, "(") &&
        toks->tok[close + 1].kind == TOK_NAME) {
        interp_operand(ip, (struct tok_range){toks, i, close + 1}); /* CHECK(x), without its ; */
        return close + 1;
    }
    if (declare_function_pointer(ip, toks, i, end))
        return end + 1;
    unsigned name = declaration(ip, toks, i, end, &type, &is_ref);

    if (name == i) {
        interp_evaluate(ip, (struct tok_range){toks, i, end});
        return end + 1;
    }
    const struct type *next = interp_type_of_next(toks, name, type);

    for (; name < end; type = next)
        name = declarator(ip, toks, name, end, type, is_ref) + 1;
    return end + 1;
}

static unsigned return_statement(
    struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned end = toks_find(toks, i, to, ";");

    if (ip->dry)
        return end + 1;
    if (toks == ip->resolver->toks)
        ip->at = ip->last = i;
    if (i + 1 < end && ip->frame) {
        const struct interp_operand o = interp_operand(ip, (struct tok_range){toks, i + 1, end});
        const bool place =
            ip->walk && o.memory == ip->walk->memory && interp_returns_reference(ip, ip->frame->fn);
        const struct interp_value v =
            place ? interp_pointer(o.memory, o.type, 0) : interp_used(ip, &o);

        if (!interp_watched(ip, &ip->frame->result))
            ip->frame->result = interp_copy(ip, v);
    }
    ip->leaving = ip->walk ? LEAVING_NOT : LEAVING_FUNCTION;
    return end + 1;
}

static unsigned block(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    unsigned close = toks->tok[i].match;
    struct var *vars = ip->frame ? ip->frame->vars : NULL;

    if (!close || close > to)
        return to;
    if (!ip->dry) {
        interp_statements(ip, toks, i + 1, close);
        if (ip->frame && !ip->leaving && !ip->stopped)
            ip->frame->vars = vars;
    }
    return close + 1;
}

static unsigned leave(struct interp *ip, const struct toks *toks, unsigned i, unsigned to, int how)
{
    if (!ip->dry && !ip->walk)
        ip->leaving = how;
    return toks_find(toks, i, to, ";") + 1;
}

static unsigned one_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    static const char *const passed[] = {"using", "typedef", "delete", "goto", "asm", "__asm__",
        "static_assert", "throw", "friend", "namespace", NULL};
    const struct tok *t = &toks->tok[i], *next = &toks->tok[i + 1];

    if (tok_is(t, "{"))
        return block(ip, toks, i, to);
    if (tok_is(t, ";"))
        return i + 1;
    if (tok_is(t, "if"))
        return if_statement(ip, toks, i, to);
    if (tok_is(t, "for"))
        return for_statement(ip, toks, i, to);
    if (tok_is(t, "while"))
        return while_statement(ip, toks, i, to);
    if (tok_is(t, "do"))
        return do_statement(ip, toks, i, to);
    if (tok_is(t, "switch"))
        return switch_statement(ip, toks, i, to);
    if (tok_is(t, "return"))
        return return_statement(ip, toks, i, to);
    if (tok_is(t, "break"))
        return leave(ip, toks, i, to, LEAVING_LOOP);
    if (tok_is(t, "continue"))
        return leave(ip, toks, i, to, LEAVING_ROUND);
    if (tok_is(t, "try"))
        return i + 1;
    if (tok_is(t, "catch") && next->match && toks_is(toks, next->match + 1, "{"))
        return toks->tok[next->match + 1].match + 1;
    if (tok_is(t, "case") || (tok_is(t, "default") && tok_is(next, ":")))
        return toks_find(toks, i, to, ":") + 1;
    if (t->kind == TOK_NAME && tok_is(next, ":"))
        return i + 2; /* a label */
    if (ip->walk && !ip->dry && (tok_is(t, "asm") || tok_is(t, "__asm__")))
        interp_walk_asm(ip, toks, i, toks_find(toks, i, to, ";"));
    for (unsigned p = 0; passed[p]; p++)
        if (tok_is(t, passed[p]))
            return toks_find(toks, i, to, ";") + 1;
    if ((tok_is(t, "struct") || tok_is(t, "class") || tok_is(t, "enum") || tok_is(t, "union")) &&
        toks_find(toks, i, toks_find(toks, i, to, ";"), "{") < toks_find(toks, i, to, ";") &&
        toks_find(toks, i, toks_find(toks, i, to, "{"), "=") >= toks_find(toks, i, to, "{")) {
        const unsigned end = toks_find(toks, i, to, ";");

        if (tok_is(t, "enum") && !ip->dry)
            interp_enumerators(ip, toks, i, end);
        return end + 1;
    }
    return plain_statement(ip, toks, i, to);
}

static unsigned statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    if (i >= to || ip->depth > INTERP_MAX_DEPTH)
        return to;
    while (i < to && toks->tok[i].kind == TOK_DIRECTIVE)
        i = skip_lines(ip, toks, i, to);
    if (i >= to)
        return to;
    ip->steps++;
    ip->depth++;
    i = one_statement(ip, toks, i, to);
    ip->depth--;
    return i > to ? to : i;
}

void interp_statements(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to && !ip->leaving && interp_step(ip);) {
        if (toks->tok[i].kind == TOK_DIRECTIVE)
            i = skip_lines(ip, toks, i, to);
        else if (ip->walk && toks->left_out && toks->left_out[i])
            i++;
        else
            i = statement(ip, toks, i, to);
    }
}
