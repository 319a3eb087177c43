/* Owns statements of host code in the interpreter: blocks, ifs, loops, declarations. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <limits.h>
#include <string.h>

static unsigned statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to);

/* ---- conditions ---- */

static unsigned statement_end(struct interp *ip, const struct toks *toks, unsigned i, unsigned to);

/* The token behind the statement at token i, which no condition heads. */
static unsigned simple_end(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    const struct tok *t = &toks->tok[i];

    if (tok_is(t, "{"))
        return t->match ? t->match + 1 : to;
    if (tok_is(t, "do")) {
        unsigned body_to = to;

        if (ip->depth <= INTERP_MAX_DEPTH) {
            ip->depth++;
            body_to = statement_end(ip, toks, i + 1, to);
            ip->depth--;
        }
        return toks_find(toks, body_to, to, ";") + 1;
    }
    if (tok_is(t, "try"))
        return i + 1;
    if (tok_is(t, "case"))
        return toks_find(toks, i, to, ":") + 1;
    if (t->kind == TOK_NAME && tok_is(t + 1, ":")) /* a label, default */
        return i + 2;
    return toks_find(toks, i, to, ";") + 1;
}

/* The token behind the statement at token i. An else belongs to the last `if` that has none. Heads
 * beyond those that a person writes are steps, since each of their statements is looked at so. */
static unsigned statement_end(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    static const char *const headed[] = {"if", "for", "while", "switch", "catch", NULL};

    for (unsigned nr_ifs = 0, nr_heads = 0;;) {
        while (i < to && interp_passes(ip, toks, i))
            i++;
        if (i >= to)
            return to;
        const struct tok *t = &toks->tok[i], *next = t + 1;

        if (tok_among(t, headed)) {
            const unsigned close = next[tok_is(next, "constexpr")].match;

            if (!close || (++nr_heads > 64 && !interp_step(ip)))
                return to;
            nr_ifs += tok_is(t, "if");
            i = close + 1;
            continue;
        }
        const unsigned end = simple_end(ip, toks, i, to);

        if (end >= to)
            return to;
        if (nr_ifs == 0 || !toks_is(toks, end, "else"))
            return end;
        nr_ifs--;
        i = end + 1;
    }
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
static void unknown_branch(struct interp *ip, const struct toks *toks, unsigned body,
    unsigned body_to, unsigned other, unsigned end)
{
    const bool launches = interp_launches_in(ip, toks, body, body_to);

    if (launches || interp_launches_in(ip, toks, other, end)) {
        const unsigned assumed = ip->assumed;

        ip->assumed = toks->tok[body].line;
        statement(ip, toks, launches ? body : other, launches ? body_to : end);
        ip->assumed = ip->nr_launches ? ip->assumed : assumed;
        if (!launches)
            interp_lose(ip, toks, body, body_to);
    } else if (leaves(toks, body, body_to)) {
        statement(ip, toks, other, end);
    } else {
        interp_lose(ip, toks, body, end);
    }
}

static struct interp_value condition(struct interp *ip, struct tok_range r)
{
    const struct interp_operand o = interp_operand(ip, r);

    return interp_asked(ip, &o);
}

/* One `if` of a chain: what stands behind its else, to be carried out yet, or `end`. */
static unsigned one_if(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned open = i + 1 + toks_is(toks, i + 1, "constexpr"), close = toks->tok[open].match;

    if (!close || close >= end)
        return end;
    const struct interp_value v = condition(ip, (struct tok_range){toks, open + 1, close});
    const unsigned body = close + 1, body_to = statement_end(ip, toks, body, end);
    const unsigned other = body_to + (body_to < end); /* behind the else; end: there is none */
    bool known;
    const bool holds = interp_truth(&v, &known);

    if (!known && !ip->walk && !ip->stopped) {
        unknown_branch(ip, toks, body, body_to, other, end);
        return end;
    }
    if (holds || ip->walk)
        statement(ip, toks, body, body_to);
    return !holds || ip->walk ? other : end;
}

/* else if, else if, ...: a chain may be longer than statements may be deep. */
static void if_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    do {
        if (toks == ip->resolver->toks)
            ip->at = ip->last = i;
        i = one_if(ip, toks, i, end);
    } while (i < end && toks_is(toks, i, "if") && !ip->leaving && interp_step(ip));
    statement(ip, toks, i, end);
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
        statement(ip, toks, l->body, l->body_to);
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
    const unsigned bound = ip->steps + (launches ? 4 * INTERP_LOOP_STEPS : ip->patience);
    bool known = true, holds = true;

    if (ip->walk) {
        walk_loop(ip, toks, l);
        return;
    }
    if (ip->limit > bound)
        ip->limit = bound;
    for (;; rounds++) {
        if (l->condition.from < l->condition.to && !(l->condition_last && rounds == 0)) {
            const struct interp_value v = interp_evaluate(ip, l->condition);

            holds = interp_truth(&v, &known);
        }
        if (ip->stopped || !holds || (!known && rounds > 0))
            break;
        statement(ip, toks, l->body, l->body_to);
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
        interp_give_up(ip);
    if (given_up || !known) {
        interp_lose(ip, toks, l->body, l->body_to);
        interp_lose(ip, toks, l->step.from, l->step.to);
    }
}

/* for (T x : list): runs the body for the first element. */
static void range_for(struct interp *ip, const struct toks *toks, unsigned open, unsigned colon,
    const struct interp_loop *l)
{
    const struct type *type;
    bool is_ref;
    const unsigned name = interp_type_read(ip, toks, open + 1, colon, &type, &is_ref);
    const struct interp_operand list =
        interp_operand(ip, (struct tok_range){toks, colon + 1, toks->tok[open].match});

    if (name < colon && toks->tok[name].kind == TOK_NAME) {
        struct interp_slot *slot = interp_declare(ip, toks->tok[name].text, type);

        if (list.v.kind == VALUE_MEMORY && !interp_watched(ip, &list.v))
            interp_assign(ip, slot, interp_cell(list.v.memory, 0));
    }
    if (ip->walk || interp_launches_in(ip, toks, l->body, l->body_to))
        statement(ip, toks, l->body, l->body_to);
    if (ip->leaving == LEAVING_LOOP || ip->leaving == LEAVING_ROUND)
        ip->leaving = LEAVING_NOT;
    interp_lose(ip, toks, l->body, l->body_to);
}

static void for_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned open = i + 1, close = toks->tok[open].match;
    const unsigned first = toks_find(toks, open + 1, close, ";"),
                   second = toks_find(toks, first + 1, close, ";"),
                   colon = toks_find(toks, open + 1, close, ":");
    struct var *vars = ip->frame ? ip->frame->vars : NULL;
    const struct interp_loop l = {.condition = {toks, first + 1, second},
        .step = {toks, second + 1, close},
        .body = close + 1,
        .body_to = end};

    if (second < close) {
        interp_statements(ip, toks, open + 1, first + 1);
        run_loop(ip, toks, &l);
        if (ip->frame)
            ip->frame->vars = vars;
    } else if (colon < close) {
        range_for(ip, toks, open, colon, &l);
    }
}

static void while_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned close = toks->tok[i + 1].match;

    run_loop(ip, toks,
        &(struct interp_loop){.condition = {toks, i + 2, close},
            .step = {toks, 0, 0},
            .body = close + 1,
            .body_to = end});
}

static void do_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned body_to = statement_end(ip, toks, i + 1, end);

    run_loop(ip, toks,
        &(struct interp_loop){.condition = {toks, body_to + 2, toks->tok[body_to + 1].match},
            .step = {toks, 0, 0},
            .body = i + 1,
            .body_to = body_to,
            .condition_last = true});
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

static void switch_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const unsigned brace = toks->tok[i + 1].match + 1, close = toks->tok[brace].match;

    if (close + 1 != end)
        return;
    const struct interp_value v = interp_evaluate(ip, (struct tok_range){toks, i + 2, brace - 1});
    const unsigned from = ip->walk ? brace + 1 : find_case(ip, toks, brace, v);

    if (v.kind != VALUE_INT && from == close)
        interp_lose(ip, toks, brace, close);
    interp_statements(ip, toks, from, close);
    if (ip->leaving == LEAVING_LOOP)
        ip->leaving = LEAVING_NOT;
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
        const unsigned nr = toks_list(toks, i, items, LAUNCH_MAX_ARGS);

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
    const struct tok *next = &toks->tok[i + 1 < comma ? i + 1 : comma];
    const bool equals = tok_is(next, "="), braces = tok_is(next, "{"),
               has = braces || tok_is(next, "(");
    const struct tok_range init = {toks, i + 2, equals ? comma : has ? next->match : i + 2};
    struct interp_operand o = {0};

    if (tok_is(next, "[")) {
        declare_array(ip, toks, i, type, comma);
        return comma;
    }
    if (is_ref && equals)
        o = interp_operand(ip, init);
    struct interp_slot *slot = interp_declare(ip, toks->tok[i].text, type);

    if (!is_ref || !equals)
        interp_initialise(ip, slot, init, braces || !(has || equals));
    else if (o.slot && ip->frame)
        ip->frame->vars->slot = o.slot;
    else if (ip->walk && o.memory)
        slot->element = o.memory;
    else if (!o.slot)
        interp_assign(ip, slot, o.v);
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

/* CHECK(x) without its `;`, or FOR_EACH(i, n) { ... } in device code: the token behind it; i: the
 * statement is another one. */
static unsigned macro_statement(
    struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    const struct macro *macro =
        toks->tok[i].kind == TOK_NAME ? resolver_macro(ip->resolver, toks->tok[i].text) : NULL;
    const unsigned close = toks->tok[i + 1].match;

    if (!macro || !macro->is_function || close <= i || !toks_is(toks, i + 1, "("))
        return i;
    if (ip->walk && toks_is(toks, close + 1, "{") && toks->tok[close + 1].match) {
        interp_macro_head(ip, macro, (struct tok_range){toks, i + 2, close});
        return toks->tok[close + 1].match + 1;
    }
    if (close >= end || toks->tok[close + 1].kind != TOK_NAME)
        return i;
    interp_operand(ip, (struct tok_range){toks, i, close + 1});
    return close + 1;
}

/* A declaration or an expression. Returns the token behind it. */
static unsigned plain_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    const unsigned past = toks_find(toks, i, to, ";"), macro = macro_statement(ip, toks, i, past);
    const struct type *type;
    bool is_ref;

    for (unsigned k = i; k < past; k++)
        if (toks->tok[k].kind == TOK_DIRECTIVE) {
            interp_without_directives(ip, toks, i, past + 1);
            return past + 1;
        }
    if (macro > i)
        return macro;
    if (declare_function_pointer(ip, toks, i, past))
        return past + 1;
    unsigned name = declaration(ip, toks, i, past, &type, &is_ref);

    if (name == i)
        interp_evaluate(ip, (struct tok_range){toks, i, past});
    else
        for (const struct type *next = interp_type_of_next(toks, name, type); name < past;
             type = next)
            name = declarator(ip, toks, name, past, type, is_ref) + 1;
    return past + 1;
}

static void return_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    if (i + 2 < end && ip->frame) {
        const struct interp_operand o =
            interp_operand(ip, (struct tok_range){toks, i + 1, end - 1});
        const bool place =
            ip->walk && o.memory == ip->walk->memory && interp_returns_reference(ip, ip->frame->fn);
        const struct interp_value v =
            place ? interp_pointer(o.memory, o.type, 0) : interp_used(ip, &o);

        if (!interp_watched(ip, &ip->frame->result))
            ip->frame->result = interp_copy(ip, v);
    }
    ip->leaving = ip->walk ? LEAVING_NOT : LEAVING_FUNCTION;
}

static void block(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    struct var *vars = ip->frame ? ip->frame->vars : NULL;

    interp_statements(ip, toks, i + 1, end - 1);
    if (ip->frame && !ip->leaving && !ip->stopped)
        ip->frame->vars = vars;
}

static void break_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    (void)end;
    if (!ip->walk)
        ip->leaving = toks_is(toks, i, "break") ? LEAVING_LOOP : LEAVING_ROUND;
}

static void pass(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    (void)ip, (void)toks, (void)i, (void)end;
}

static const struct {
    const char *word;
    void (*run)(struct interp *ip, const struct toks *toks, unsigned from, unsigned end);
} kinds[] = {{"{", block}, {";", pass}, {"if", if_statement}, {"for", for_statement},
    {"while", while_statement}, {"do", do_statement}, {"switch", switch_statement},
    {"return", return_statement}, {"break", break_statement}, {"continue", break_statement},
    {"try", pass}, {"catch", pass}, {"case", pass}, {"using", pass}, {"typedef", pass},
    {"delete", pass}, {"goto", pass}, {"asm", interp_walk_asm}, {"__asm__", interp_walk_asm},
    {"static_assert", pass}, {"throw", pass}, {"friend", pass}, {"namespace", pass}};

/* struct S { ... } x; the values of an enum are declared. False: the statement is another one. */
static bool local_type(struct interp *ip, const struct toks *toks, unsigned i, unsigned end)
{
    static const char *const words[] = {"struct", "class", "enum", "union", NULL};
    const unsigned brace = toks_find(toks, i, end, "{");

    if (!tok_among(&toks->tok[i], words) || brace == end || toks_find(toks, i, brace, "=") < brace)
        return false;
    if (toks_is(toks, i, "enum"))
        interp_enumerators(ip, toks, i, end);
    return true;
}

/* Carries out the statement at token i, which ends before token `to`. Returns the token behind
 * it. */
static unsigned one_statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    const unsigned end = statement_end(ip, toks, i, to);

    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        if (toks_is(toks, i, kinds[k].word)) {
            kinds[k].run(ip, toks, i, end);
            return end;
        }
    if ((toks->tok[i].kind == TOK_NAME && toks_is(toks, i + 1, ":")) ||
        local_type(ip, toks, i, end))
        return end;
    return plain_statement(ip, toks, i, to);
}

static unsigned statement(struct interp *ip, const struct toks *toks, unsigned i, unsigned to)
{
    while (i < to && interp_passes(ip, toks, i))
        i++;
    if (i >= to || ip->depth > INTERP_MAX_DEPTH || ip->leaving || ip->stopped)
        return to;
    if (toks == ip->resolver->toks)
        ip->at = ip->last = i;
    ip->steps++;
    ip->depth++;
    i = one_statement(ip, toks, i, to);
    ip->depth--;
    return i > to ? to : i;
}

void interp_statements(struct interp *ip, const struct toks *toks, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to && !ip->leaving && interp_step(ip);)
        i = statement(ip, toks, i, to);
}
