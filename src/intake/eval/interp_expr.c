/* Owns operators of host expressions in the interpreter, and the order in which they bind. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

struct interp_operand interp_plain(struct interp_value v)
{
    return (struct interp_operand){.v = v};
}

const struct tok *interp_now(const struct interp_reader *r)
{
    static const struct tok none = {.kind = TOK_END, .text = ""};

    return r->i < r->to ? &r->toks->tok[r->i] : &none;
}

bool interp_accept(struct interp_reader *r, const char *text)
{
    if (!tok_is(interp_now(r), text))
        return false;
    r->i++;
    return true;
}

/* ---- operators ---- */

int interp_level(const char *op)
{
    static const struct {
        const char *op;
        int level;
    } known[] = {{"?:", LEVEL_CHOICE}, {"||", LEVEL_OR}, {"&&", LEVEL_AND}, {"|", 5}, {"^", 6},
        {"&", 7}, {"==", 8}, {"!=", 8}, {"<", 9}, {">", 9}, {"<=", 9}, {">=", 9}, {"<<", 10},
        {">>", 10}, {"+", 11}, {"-", 11}, {"*", 12}, {"/", 12}, {"%", 12}, {"real/", 12}};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].op, op) == 0)
            return known[i].level;
    return 0;
}

/* The binary operator that stands here, and its level in *level; NULL: there is none. `>` `>` is a
 * shift. */
static const char *operator_at(const struct interp_reader *r, int *level, unsigned *nr_toks)
{
    const struct tok *t = interp_now(r);
    const bool shift =
        tok_is(t, ">") && r->i + 1 < r->to && tok_is(t + 1, ">") && t->end == t[1].at;
    const char *op = shift ? ">>" : t->text;

    *nr_toks = 1 + shift;
    *level = t->kind == TOK_PUNCT ? interp_level(op) : 0;
    return *level > LEVEL_CHOICE ? op : NULL;
}

bool interp_number_of(const struct interp_value *v, double *out)
{
    *out = v->kind == VALUE_INT ? (double)v->i : v->r;
    return v->kind == VALUE_INT || v->kind == VALUE_REAL;
}

struct interp_value interp_real(double r, const struct type *type)
{
    if (type && type->kind == TYPE_REAL && type->bytes == 4)
        r = (double)(float)r;
    return (struct interp_value){.kind = VALUE_REAL, .r = r, .type = type};
}

/* a op b of a comparison, where `order` is less than, equal to, or greater than 0 as a is to b. */
static struct interp_value compared(const char *op, int order)
{
    const bool or_equal = op[1] == '=' && order == 0;

    return interp_int(op[0] == '<'   ? order < 0 || or_equal
                      : op[0] == '>' ? order > 0 || or_equal
                                     : (order == 0) == (op[0] == '='));
}

static bool compares(const char *op)
{
    return strchr("<>=!", op[0]) && op[1] != op[0] ? true : strcmp(op, "==") == 0;
}

static struct interp_value on_integers(const char *op, int64_t a, int64_t b)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    if (compares(op))
        return compared(op, (a > b) - (a < b));
    switch (op[0]) {
    case '+':
        return interp_int((int64_t)(ua + ub));
    case '-':
        return interp_int((int64_t)(ua - ub));
    case '*':
        return interp_int((int64_t)(ua * ub));
    case '/':
    case '%':
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return (struct interp_value){0};
        return interp_int(op[0] == '/' ? a / b : a % b);
    case '<':
        return interp_int(b >= 0 && b < 64 ? (int64_t)(ua << ub) : 0);
    case '>':
        return interp_int(b >= 0 && b < 64 ? a >> b : 0);
    case '&':
        return interp_int(a & b);
    case '|':
        return interp_int(a | b);
    default:
        return interp_int(a ^ b);
    }
}

static struct interp_value on_reals(const char *op, double a, double b, const struct type *type)
{
    if (isnan(a) || isnan(b))
        return (struct interp_value){0};
    if (compares(op))
        return compared(op, (a > b) - (a < b));
    if (!strchr("+-*/", op[0]) || (op[0] == '/' && b == 0))
        return (struct interp_value){0};
    return interp_real(op[0] == '+'   ? a + b
                       : op[0] == '-' ? a - b
                       : op[0] == '*' ? a * b
                                      : a / b,
        type);
}

/* The type of a sum or a product: that of the wider operand, and of equally wide ones the unsigned
 * type. */
static const struct type *common_type(const struct interp_value *a, const struct interp_value *b)
{
    const struct type *x = a->type, *y = b->type;

    if (a->kind != b->kind)
        return a->kind == VALUE_REAL ? x : y;
    if (!x || !y)
        return x ? x : y;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? x : y;
    return x->is_unsigned ? x : y;
}

static struct interp_value on_pointers(
    struct interp *ip, const char *op, struct interp_value a, struct interp_value b)
{
    const bool asks = strcmp(op, "==") == 0 || strcmp(op, "!=") == 0,
               null = b.kind == VALUE_INT && b.i == 0, alike = a.kind == b.kind;
    const int64_t each = a.kind == VALUE_MEMORY ? interp_sizeof(ip, a.type) : 0;

    if (a.kind == VALUE_INT && op[0] == '+')
        return on_pointers(ip, op, b, a);
    if (asks && null && a.kind == VALUE_MEMORY)
        interp_asked(ip, &(struct interp_operand){.v = a});
    if (asks &&
        ((a.kind == VALUE_MEMORY && b.kind == VALUE_INT) ||
            (null && (a.kind == VALUE_TEXT || a.kind == VALUE_ADDRESS || a.kind == VALUE_CODE))))
        return compared(op, 1);
    if (asks && alike && a.kind == VALUE_MEMORY)
        return compared(op, !(a.memory == b.memory && a.i == b.i));
    if (asks && alike && a.kind == VALUE_CODE)
        return compared(op, a.code != b.code);
    if (asks && alike && a.kind == VALUE_TEXT)
        return compared(op, strcmp(a.text, b.text));
    if (each && b.kind == VALUE_INT && (op[0] == '+' || op[0] == '-')) {
        a.i = interp_along(a.i, op[0] == '+' ? b.i : (int64_t) - (uint64_t)b.i, (unsigned)each);
        return a;
    }
    return each && alike && op[0] == '-' && a.memory == b.memory
               ? interp_int((int64_t)((uint64_t)a.i - (uint64_t)b.i) / each)
               : (struct interp_value){0};
}

const struct said *interp_said(struct interp *ip, const struct interp_value *v)
{
    if (v->said)
        return v->said;
    if (v->kind == VALUE_INT)
        return said_number(ip->arena, v->i);
    return v->kind == VALUE_REAL && v->r == floor(v->r) && fabs(v->r) < 9e15
               ? said_number(ip->arena, (int64_t)v->r)
               : NULL;
}

static bool is_real(const struct interp_value *v)
{
    return v->kind == VALUE_REAL || (v->type && v->type->kind == TYPE_REAL);
}

/* What is said of a op b. */
static const struct said *said_result(
    struct interp *ip, const char *op, const struct interp_value *a, const struct interp_value *b)
{
    const bool real = op[0] == '/' && (is_real(a) || is_real(b));

    return a->said || b->said ? said_of(ip->arena, real ? "real/" : op, interp_said(ip, a),
                                    interp_said(ip, b), NULL)
                              : NULL;
}

/* An operation with a number that nothing gives. */
static struct interp_value on_sizes(
    struct interp *ip, const char *op, const struct interp_value *a, const struct interp_value *b)
{
    const struct said *said = said_result(ip, op, a, b);

    return (struct interp_value){.kind = said ? VALUE_SIZE : VALUE_UNKNOWN,
        .said = said,
        .type = is_real(a) || !b->type ? a->type : b->type};
}

static double within(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Sums, products, quotients and remainders of numbers that lie in a range. */
static struct interp_value on_ranges(
    struct interp *ip, const char *op, struct interp_value a, struct interp_value b)
{
    const struct type *type = common_type(&a, &b);
    struct interp_value v = {
        .kind = VALUE_RANGE, .type = type, .said = said_result(ip, op, &a, &b)};
    double x = a.r, xx = a.high, y = b.r, yy = b.high;

    if (a.kind != VALUE_RANGE && interp_number_of(&a, &x))
        xx = x;
    else if (a.kind != VALUE_RANGE)
        return (struct interp_value){0};
    if (b.kind != VALUE_RANGE && interp_number_of(&b, &y))
        yy = y;
    else if (b.kind != VALUE_RANGE)
        return (struct interp_value){0};
    if (a.kind == VALUE_REAL || b.kind == VALUE_REAL)
        v.type = a.kind == VALUE_REAL ? a.type : b.type;
    if (op[1])
        return (struct interp_value){0};
    if (op[0] == '+' || op[0] == '-') {
        v.r = op[0] == '+' ? x + y : x - yy;
        v.high = op[0] == '+' ? xx + yy : xx - y;
    } else if (op[0] == '*') {
        v.r = fmin(fmin(x * y, x * yy), fmin(xx * y, xx * yy));
        v.high = fmax(fmax(x * y, x * yy), fmax(xx * y, xx * yy));
    } else if (op[0] == '/' && y > 0 && yy == y) {
        bool whole = v.type && v.type->kind == TYPE_INT;

        v.r = whole ? floor(x / y) : x / y;
        v.high = whole ? floor(xx / y) : xx / y;
    } else if (op[0] == '%' && y > 0 && yy == y && x >= 0) {
        v.r = 0;
        v.high = within(xx, 0, y - 1);
    } else if (op[0] == '&' && y >= 0 && yy == y && x >= 0) {
        v.r = 0;
        v.high = within(xx, 0, y);
    } else {
        return (struct interp_value){0};
    }
    return v;
}

struct interp_value interp_operate(
    struct interp *ip, const char *op, struct interp_value a, struct interp_value b)
{
    double x, y;

    if (interp_watched(ip, &a) != interp_watched(ip, &b) && (op[0] == '+' || op[0] == '-'))
        return interp_watched(ip, &a) ? a : b;
    if (a.kind == VALUE_RANGE || b.kind == VALUE_RANGE)
        return a.kind == VALUE_SIZE || b.kind == VALUE_SIZE ? on_sizes(ip, op, &a, &b)
                                                            : on_ranges(ip, op, a, b);
    if (a.kind == VALUE_SIZE || b.kind == VALUE_SIZE)
        return on_sizes(ip, op, &a, &b);
    if (!interp_number_of(&a, &x) || !interp_number_of(&b, &y))
        return on_pointers(ip, op, a, b);
    const struct type *type = common_type(&a, &b);

    struct interp_value v = a.kind == VALUE_REAL || b.kind == VALUE_REAL
                                ? on_reals(op, x, y, type)
                                : on_integers(op, a.i, b.i);

    v.said = v.kind == VALUE_UNKNOWN ? NULL : said_result(ip, op, &a, &b);
    if (v.kind == VALUE_INT && type && !compares(op) && type->kind == TYPE_INT)
        v = interp_convert(ip, v, type->bytes >= 4 ? type : interp_type_named(ip, "int"));
    return v; /* an int overflows as in C; narrow types are computed as int */
}

bool interp_truth(const struct interp_value *v, bool *known)
{
    *known = v->kind != VALUE_UNKNOWN && v->kind != VALUE_OBJECT && v->kind != VALUE_RANGE &&
             v->kind != VALUE_SIZE;
    return v->kind == VALUE_INT ? v->i != 0 : v->kind == VALUE_REAL ? v->r != 0 : true;
}

/* Passes over an operand that is not evaluated, and whose operators bind at least as tightly as
 * `level`. */
static void pass_over(struct interp_reader *r, int level)
{
    const unsigned end = toks_find(r->toks, r->i, r->to, ",");
    unsigned choices = 0;

    for (; r->i < end; r->i++) {
        const struct tok *t = interp_now(r);

        if ((level > LEVEL_CHOICE && (tok_is(t, "?") || tok_is(t, "||"))) ||
            (level > LEVEL_AND && tok_is(t, "&&")) || (tok_is(t, ":") && choices == 0))
            return;
        choices += tok_is(t, "?") - tok_is(t, ":");
        if (t->match > r->i && t->match < end)
            r->i = t->match;
    }
}

/* && and ||: the right side is evaluated only where the left one does not decide. */
static struct interp_operand logical(
    struct interp_reader *r, struct interp_operand left, bool is_and)
{
    const struct interp_value first = interp_asked(r->ip, &left);
    const int level = is_and ? LEVEL_AND + 1 : LEVEL_OR + 1;
    bool known, right_known, value = interp_truth(&first, &known);

    if (known && value != is_and && !r->ip->walk) {
        pass_over(r, level);
        return interp_plain(interp_int(value));
    }
    const struct interp_operand right = interp_expression(r, level);
    const struct interp_value second = interp_asked(r->ip, &right);
    const bool other = interp_truth(&second, &right_known);

    return right_known && (known || other != is_and) ? interp_plain(interp_int(other))
                                                     : (struct interp_operand){0};
}

/* One side of a ? b : c. What is said of the side that is not taken is asked for too, where that
 * side has no effects and names no macro. */
static struct interp_operand side(struct interp_reader *r, bool taken)
{
    const unsigned from = r->i;

    if (taken)
        return interp_expression(r, LEVEL_ASSIGN);
    pass_over(r, LEVEL_ASSIGN);
    for (unsigned i = from; i < r->i; i++)
        if (tok_assigns(&r->toks->tok[i]) ||
            (r->toks->tok[i].kind == TOK_NAME &&
                (toks_is(r->toks, i + 1, "(") ||
                    resolver_macro(r->ip->resolver, r->toks->tok[i].text))))
            return (struct interp_operand){0};
    r->ip->asking++;
    const struct interp_operand o = interp_operand(r->ip, (struct tok_range){r->toks, from, r->i});

    r->ip->asking--;
    return o;
}

static struct interp_operand choice(struct interp_reader *r, struct interp_operand condition)
{
    bool known, value = interp_truth(&condition.v, &known);
    struct interp_operand first, second;

    interp_asked(r->ip, &condition);
    known = known && !r->ip->walk;
    first = side(r, !known || value);
    if (!interp_accept(r, ":"))
        return (struct interp_operand){0};
    second = side(r, !known || !value);
    if (r->ip->walk) {
        if (first.memory == r->ip->walk->memory || second.memory == r->ip->walk->memory)
            return (struct interp_operand){.memory = r->ip->walk->memory, .type = first.type};
        interp_used(r->ip, &first);
        interp_used(r->ip, &second);
        return interp_plain(interp_watched(r->ip, &first.v) ? first.v : second.v);
    }
    const struct said *one = interp_said(r->ip, &first.v), *other = interp_said(r->ip, &second.v),
                      *said = condition.v.said && other
                                  ? said_of(r->ip->arena, "?:", condition.v.said, one, other)
                                  : NULL;

    if (known) {
        first = value ? first : second;
        first.v.said = said ? said : first.v.said;
        return first;
    }
    bool same = first.v.kind == VALUE_INT && second.v.kind == VALUE_INT && first.v.i == second.v.i;

    if (!same && said)
        return interp_plain(
            (struct interp_value){.kind = VALUE_SIZE, .said = said, .type = first.v.type});
    return same ? first : (struct interp_operand){0};
}

static struct interp_operand assignment(
    struct interp_reader *r, struct interp_operand left, const char *op)
{
    struct interp_operand right = interp_expression(r, LEVEL_ASSIGN);

    interp_used(r->ip, &right);
    if (op[0] != '=')
        right.v = interp_operate(r->ip, op, interp_used(r->ip, &left), right.v);
    interp_store(r->ip, &left, right.v);
    if (op[0] != '=')
        interp_counted(r->ip, left.slot);
    if (left.slot)
        left.v = left.slot->v;
    return r->ip->walk ? interp_plain(left.v) : left;
}

/* in >> n: a stream of the program, whose contents are not known. */
static bool is_stream(const struct interp_reader *r, const struct interp_operand *left)
{
    const struct interp_slot *slot = left->slot;

    return (slot && slot->type && slot->type->kind == TYPE_OTHER &&
               slot->v.kind == VALUE_UNKNOWN) ||
           (r->i > 0 && toks_is(r->toks, r->i - 1, "cin"));
}

struct interp_operand interp_expression(struct interp_reader *r, int level)
{
    struct interp *ip = r->ip;

    if (++ip->depth > INTERP_MAX_DEPTH || !interp_step(ip) || r->i >= r->to) {
        r->i = r->to;
        ip->depth--;
        return (struct interp_operand){0};
    }
    struct interp_operand left = interp_unary(r);

    while (r->i < r->to && interp_step(ip)) {
        int op_level = 0;
        unsigned nr_toks;
        const char *op = operator_at(r, &op_level, &nr_toks), *assign = interp_now(r)->text;

        if (level <= LEVEL_ASSIGN && tok_assigns(interp_now(r))) {
            r->i++;
            left = assignment(r, left, assign);
            break;
        }
        if (tok_is(interp_now(r), "?") && level <= LEVEL_CHOICE) {
            r->i++;
            left = choice(r, left);
            continue;
        }
        if (!op || op_level < level)
            break;
        const bool reads = strcmp(op, ">>") == 0 && is_stream(r, &left);

        r->i += nr_toks;
        if (reads) {
            struct interp_operand right = interp_expression(r, op_level + 1);

            interp_store(ip, &right, (struct interp_value){0});
        } else if (op_level == LEVEL_OR || op_level == LEVEL_AND) {
            left = logical(r, left, op_level == LEVEL_AND);
        } else {
            struct interp_operand right = interp_expression(r, op_level + 1);

            left = interp_plain(
                interp_operate(ip, op, interp_used(ip, &left), interp_used(ip, &right)));
        }
    }
    ip->depth--;
    return left;
}

struct interp_operand interp_operand(struct interp *ip, struct tok_range range)
{
    struct interp_reader r = {ip, range.toks, range.from, range.to};
    struct interp_operand o = {0};

    while (r.i < r.to && interp_step(ip)) {
        unsigned before = r.i;

        o = interp_expression(&r, LEVEL_ASSIGN);
        if (r.i == before || (r.i < r.to && !tok_is(interp_now(&r), ","))) { /* it cannot be read */
            if (r.i < r.to)
                o = (struct interp_operand){0};
            r.i += r.i == before;
        }
        interp_accept(&r, ",");
    }
    return o;
}

struct interp_value interp_evaluate(struct interp *ip, struct tok_range range)
{
    const struct interp_operand o = interp_operand(ip, range);

    return interp_used(ip, &o);
}
