/* Owns integer expressions: a recursive descent parser and an evaluator that never overflows. */
#include "core/expr.h"

#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum op {
    OP_LITERAL,
    OP_NAME,
    OP_NEGATE,
    OP_NOT,
    OP_INVERT,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_ADD,
    OP_SUB,
    OP_SHL,
    OP_SHR,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE,
    OP_BAND,
    OP_XOR,
    OP_BOR,
    OP_LAND,
    OP_LOR,
    OP_CHOOSE,
    OP_CEIL_DIV,
    OP_MIN,
    OP_MAX
};

struct expr {
    enum op op;
    int64_t value;
    const char *name;
    const struct expr *arg[3];
    const char *text;
    size_t at; /* of the name, in the text that was parsed */
};

/* The deepest nesting, so that no input exhausts the stack, and the longest chain of operators. */
enum { MAX_DEPTH = 64, MAX_NODES = 4096 };

struct expr_parser {
    struct arena *arena;
    const char *begin, *p, *end;
    unsigned depth, nr_nodes;
    size_t *at;
    struct err *err;
};

/* Binary operators, higher binds tighter (C11 6.5). Longer spellings come first. */
static const struct {
    const char *text;
    enum op op;
    unsigned level;
} binaries[] = {
    {"||", OP_LOR, 1},
    {"&&", OP_LAND, 2},
    {"<<", OP_SHL, 8},
    {">>", OP_SHR, 8},
    {"<=", OP_LE, 7},
    {">=", OP_GE, 7},
    {"==", OP_EQ, 6},
    {"!=", OP_NE, 6},
    {"|", OP_BOR, 3},
    {"^", OP_XOR, 4},
    {"&", OP_BAND, 5},
    {"<", OP_LT, 7},
    {">", OP_GT, 7},
    {"+", OP_ADD, 9},
    {"-", OP_SUB, 9},
    {"*", OP_MUL, 10},
    {"/", OP_DIV, 10},
    {"%", OP_REM, 10},
};

static const struct expr *parse_choice(struct expr_parser *s);

static const struct expr *fail(struct expr_parser *s, const char *at, const char *text)
{
    *s->at = (size_t)(at - s->begin);
    err_set(s->err, "%s", text);
    return NULL;
}

static void skip_space(struct expr_parser *s)
{
    while (s->p < s->end && isspace((unsigned char)*s->p))
        s->p++;
}

static struct expr *node(
    struct expr_parser *s, enum op op, const struct expr *a, const struct expr *b)
{
    struct expr *expr = arena_alloc(s->arena, sizeof(*expr));

    s->nr_nodes++;
    expr->op = op;
    expr->arg[0] = a;
    expr->arg[1] = b;
    return expr;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool scan_digits(struct expr_parser *s, int base, int64_t *value)
{
    const char *from = s->p;

    for (*value = 0; s->p < s->end && digit_of(*s->p) < base; s->p++) {
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit_of(*s->p), value))
            return fail(s, from, "the number is too large; expected at most 9223372036854775807") !=
                   NULL;
    }
    return true;
}

static const struct expr *parse_number(struct expr_parser *s)
{
    const char *from = s->p;
    int64_t value, exponent;
    struct expr *expr;

    if (s->end - s->p > 2 && s->p[0] == '0' && (s->p[1] == 'x' || s->p[1] == 'X') &&
        digit_of(s->p[2]) < 16) {
        s->p += 2;
        if (!scan_digits(s, 16, &value))
            return NULL;
    } else {
        if (*from == '0' && s->end - from > 1 && isdigit((unsigned char)from[1]))
            return fail(s, from, "a number starts with 0; expected decimal or 0x hexadecimal");
        if (!scan_digits(s, 10, &value))
            return NULL;
        if (s->end - s->p > 1 && (*s->p == 'e' || *s->p == 'E') &&
            isdigit((unsigned char)s->p[1])) {
            s->p++;
            if (!scan_digits(s, 10, &exponent))
                return NULL;
            for (; exponent > 0 && value != 0; exponent--) {
                if (__builtin_mul_overflow(value, 10, &value))
                    return fail(
                        s, from, "the number is too large; expected at most 9223372036854775807");
            }
        }
    }
    if (s->p < s->end && *s->p == '.')
        return fail(s, from, "a real number in an integer expression; expected a whole number");
    if (s->p < s->end && str_word_char(*s->p))
        return fail(s, s->p, "letters after a number; expected an operator");
    expr = node(s, OP_LITERAL, NULL, NULL);
    expr->value = value;
    return expr;
}

static bool take(struct expr_parser *s, char c)
{
    skip_space(s);
    if (s->p >= s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

static const struct expr *parse_call(struct expr_parser *s, enum op op)
{
    const struct expr *a, *b;

    if (!take(s, '('))
        return fail(s, s->p, "a function without arguments; expected '('");
    a = parse_choice(s);
    if (!a)
        return NULL;
    if (!take(s, ','))
        return fail(s, s->p, "the function takes two arguments; expected ','");
    b = parse_choice(s);
    if (!b)
        return NULL;
    if (!take(s, ')'))
        return fail(s, s->p, "an open parenthesis; expected ')'");
    return node(s, op, a, b);
}

static const struct expr *parse_name(struct expr_parser *s)
{
    static const struct {
        const char *name;
        enum op op;
    } calls[] = {{"ceil_div", OP_CEIL_DIV}, {"min", OP_MIN}, {"max", OP_MAX}};
    const char *from = s->p;
    struct expr *expr;
    size_t len;

    while (s->p < s->end && str_word_char(*s->p))
        s->p++;
    len = (size_t)(s->p - from);
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strlen(calls[i].name) == len && memcmp(calls[i].name, from, len) == 0)
            return parse_call(s, calls[i].op);
    }
    skip_space(s);
    if (s->p < s->end && *s->p == '(')
        return fail(s, from, "an unknown function; expected ceil_div, min or max");
    expr = node(s, OP_NAME, NULL, NULL);
    expr->name = arena_strndup(s->arena, from, len);
    expr->at = (size_t)(from - s->begin);
    return expr;
}

static const struct expr *parse_unary(struct expr_parser *s)
{
    const struct expr *inner;
    enum op op;
    char c;

    skip_space(s);
    if (s->p >= s->end)
        return fail(s, s->p, "the expression ends early; expected a number, a name or '('");
    c = *s->p;
    if (isdigit((unsigned char)c))
        return parse_number(s);
    if (str_word_char(c))
        return parse_name(s);
    if (!strchr("(-!~+", c) || c == 0)
        return fail(s, s->p, "not an expression; expected a number, a name or '('");
    if (++s->depth > MAX_DEPTH)
        return fail(s, s->p, "nested too deeply; expected at most 64 levels");
    s->p++;
    inner = c == '(' ? parse_choice(s) : parse_unary(s);
    s->depth--;
    if (!inner)
        return NULL;
    if (c == '(') {
        if (!take(s, ')'))
            return fail(s, s->p, "an open parenthesis; expected ')'");
        return inner;
    }
    if (c == '+')
        return inner;
    op = c == '-' ? OP_NEGATE : c == '!' ? OP_NOT : OP_INVERT;
    return node(s, op, inner, NULL);
}

static bool find_binary(struct expr_parser *s, unsigned *which)
{
    skip_space(s);
    for (unsigned i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
        size_t len = strlen(binaries[i].text);

        if ((size_t)(s->end - s->p) >= len && memcmp(s->p, binaries[i].text, len) == 0) {
            *which = i;
            return true;
        }
    }
    return false;
}

/* Precedence climbing: all operators of level `lowest` and above. */
static const struct expr *parse_binary(struct expr_parser *s, unsigned lowest)
{
    const struct expr *left = parse_unary(s), *right;
    unsigned which;

    while (left && find_binary(s, &which) && binaries[which].level >= lowest) {
        if (s->nr_nodes > MAX_NODES)
            return fail(s, s->p, "the expression is too long; expected at most 4096 terms");
        s->p += strlen(binaries[which].text);
        right = parse_binary(s, binaries[which].level + 1);
        if (!right)
            return NULL;
        left = node(s, binaries[which].op, left, right);
    }
    return left;
}

static const struct expr *parse_choice(struct expr_parser *s)
{
    const struct expr *test, *yes, *no;
    struct expr *expr;

    if (++s->depth > MAX_DEPTH)
        return fail(s, s->p, "nested too deeply; expected at most 64 levels");
    test = parse_binary(s, 1);
    if (test && take(s, '?')) {
        yes = parse_choice(s);
        if (!yes)
            return NULL;
        if (!take(s, ':'))
            return fail(s, s->p, "'?' without its other half; expected ':'");
        no = parse_choice(s);
        if (!no)
            return NULL;
        expr = node(s, OP_CHOOSE, test, yes);
        expr->arg[2] = no;
        test = expr;
    }
    s->depth--;
    return test;
}

const struct expr *expr_parse_at(
    struct arena *arena, const char *text, size_t len, size_t *at, struct err *err)
{
    struct expr_parser s = {arena, text, text, text + len, 0, 0, at, err};
    const struct expr *parsed = parse_choice(&s);
    struct expr *expr;
    const char *from = text;

    if (!parsed)
        return NULL;
    skip_space(&s);
    if (s.p < s.end)
        return fail(&s, s.p, "text after the expression; expected an operator or the end");
    while (len > 0 && isspace((unsigned char)*from))
        from++, len--;
    while (len > 0 && isspace((unsigned char)from[len - 1]))
        len--;
    /* The root carries the text; it may be a shared literal, so it is copied. */
    expr = arena_alloc(arena, sizeof(*expr));
    *expr = *parsed;
    expr->text = arena_strndup(arena, from, len);
    return expr;
}

const struct expr *expr_parse(struct arena *arena, const char *text, size_t len, struct err *err)
{
    const struct expr *expr;
    size_t at = 0;

    expr = expr_parse_at(arena, text, len, &at, err);
    if (!expr)
        err_wrap(err, "column %zu", at + 1);
    return expr;
}

const struct expr *expr_literal(struct arena *arena, int64_t value)
{
    struct expr *expr = arena_alloc(arena, sizeof(*expr));

    expr->op = OP_LITERAL;
    expr->value = value;
    expr->text = arena_printf(arena, "%" PRId64, value);
    return expr;
}

static bool overflow(struct err *err, const char *what, int64_t a, int64_t b)
{
    return err_set(
        err, "%" PRId64 " %s %" PRId64 " overflows; expected a value within 64 bits", a, what, b);
}

static bool shift(enum op op, int64_t a, int64_t b, int64_t *value, struct err *err)
{
    if (b < 0 || b > 62)
        return err_set(err, "a shift by %" PRId64 "; expected 0 to 62", b);
    if (op == OP_SHR) {
        *value = a < 0 ? ~(~a >> b) : a >> b;
        return true;
    }
    return !__builtin_mul_overflow(a, (int64_t)1 << b, value) || overflow(err, "<<", a, b);
}

static bool divide(enum op op, int64_t a, int64_t b, int64_t *value, struct err *err)
{
    if (b == 0)
        return err_set(err, "%" PRId64 " divided by zero; expected a divisor other than 0", a);
    if (b == -1)
        return op == OP_REM
                   ? (*value = 0, true)
                   : !__builtin_sub_overflow((int64_t)0, a, value) || overflow(err, "/", a, b);
    *value = op == OP_REM ? a % b : a / b;
    if (op == OP_CEIL_DIV && a % b != 0 && (a < 0) == (b < 0))
        *value += 1;
    return true;
}

static bool apply(enum op op, int64_t a, int64_t b, int64_t *value, struct err *err)
{
    switch (op) {
    case OP_MUL:
        return !__builtin_mul_overflow(a, b, value) || overflow(err, "*", a, b);
    case OP_ADD:
        return !__builtin_add_overflow(a, b, value) || overflow(err, "+", a, b);
    case OP_SUB:
        return !__builtin_sub_overflow(a, b, value) || overflow(err, "-", a, b);
    case OP_NEGATE:
        return !__builtin_sub_overflow((int64_t)0, a, value) || overflow(err, "-", 0, a);
    case OP_DIV:
    case OP_REM:
    case OP_CEIL_DIV:
        return divide(op, a, b, value, err);
    case OP_SHL:
    case OP_SHR:
        return shift(op, a, b, value, err);
    case OP_NOT:
        *value = !a;
        break;
    case OP_INVERT:
        *value = ~a;
        break;
    case OP_LT:
        *value = a < b;
        break;
    case OP_LE:
        *value = a <= b;
        break;
    case OP_GT:
        *value = a > b;
        break;
    case OP_GE:
        *value = a >= b;
        break;
    case OP_EQ:
        *value = a == b;
        break;
    case OP_NE:
        *value = a != b;
        break;
    case OP_BAND:
        *value = a & b;
        break;
    case OP_XOR:
        *value = a ^ b;
        break;
    case OP_BOR:
        *value = a | b;
        break;
    case OP_MIN:
        *value = a < b ? a : b;
        break;
    default:
        *value = a > b ? a : b;
    }
    return true;
}

static bool find(const struct env *env, const char *name, int64_t *value)
{
    for (size_t i = 0; env && i < env->nr; i++) {
        if (strcmp(env->bindings[i].name, name) == 0) {
            *value = env->bindings[i].value;
            return true;
        }
    }
    return false;
}

/* The depth of the tree is bounded by the parser: nesting by MAX_DEPTH, chains by MAX_NODES. */
bool expr_eval(const struct expr *expr, const struct env *env, int64_t *value, struct err *err)
{
    int64_t a, b = 0;

    switch (expr->op) {
    case OP_LITERAL:
        *value = expr->value;
        return true;
    case OP_NAME:
        return find(env, expr->name, value) ||
               err_set(err, "unknown name '%s'; expected a size or a tuning parameter", expr->name);
    case OP_CHOOSE:
        return expr_eval(expr->arg[0], env, &a, err) &&
               expr_eval(expr->arg[a ? 1 : 2], env, value, err);
    case OP_LAND:
    case OP_LOR:
        if (!expr_eval(expr->arg[0], env, &a, err))
            return false;
        if ((expr->op == OP_LOR) == (a != 0)) {
            *value = a != 0;
            return true;
        }
        if (!expr_eval(expr->arg[1], env, &b, err))
            return false;
        *value = b != 0;
        return true;
    default:
        return expr_eval(expr->arg[0], env, &a, err) &&
               (!expr->arg[1] || expr_eval(expr->arg[1], env, &b, err)) &&
               apply(expr->op, a, b, value, err);
    }
}

const char *expr_text(const struct expr *expr)
{
    return expr->text ? expr->text : "";
}

const char *expr_unknown(const struct expr *expr, const struct env *env, size_t *at)
{
    const char *name;
    int64_t value;

    if (expr->op == OP_NAME && !find(env, expr->name, &value)) {
        *at = expr->at;
        return expr->name;
    }
    for (int i = 0; i < 3; i++) {
        name = expr->arg[i] ? expr_unknown(expr->arg[i], env, at) : NULL;
        if (name)
            return name;
    }
    return NULL;
}

bool expr_uses(const struct expr *expr, const char *name)
{
    if (expr->op == OP_NAME)
        return strcmp(expr->name, name) == 0;
    for (int i = 0; i < 3; i++) {
        if (expr->arg[i] && expr_uses(expr->arg[i], name))
            return true;
    }
    return false;
}

/* ---- writing ---- */

/* Operations without a binary operator: $0, $1 and $2 are the operands, the first one at a level of
 * its own. */
static const struct form {
    enum op op;
    bool cxx;
    unsigned level, first, others;
    const char *text;
} forms[] = {
    {OP_NEGATE, false, 11, 12, 12, "-$0"}, /* -(-n) */
    {OP_NOT, false, 11, 11, 11, "!$0"},
    {OP_INVERT, false, 11, 11, 11, "~$0"},
    {OP_CHOOSE, false, 0, 1, 0, "$0 ? $1 : $2"},
    {OP_CEIL_DIV, true, 10, 9, 11, "($0 + $1 - 1) / $1"},
    {OP_MIN, true, 0, 11, 11, "$0 < $1 ? $0 : $1"},
    {OP_MAX, true, 0, 11, 11, "$0 > $1 ? $0 : $1"},
    {OP_CEIL_DIV, false, 11, 0, 0, "ceil_div($0,$1)"},
    {OP_MIN, false, 11, 0, 0, "min($0,$1)"},
    {OP_MAX, false, 11, 0, 0, "max($0,$1)"},
};

static bool write_at(
    const struct expr *expr, const struct expr_style *style, unsigned level, struct str *out);

/* A text of C++: in parentheses where it has an operator outside of parentheses and is an
 * operand. */
static void write_text(const char *text, bool operand, struct str *out)
{
    int depth = 0;
    bool bare = true;

    for (const char *p = text; *p; p++) {
        depth += (*p == '(') - (*p == ')');
        if (str_starts(p, "->"))
            p++;
        else
            bare = bare && (depth > 0 || !strchr("+-*/%?<>&|^=!,", *p));
    }
    str_addf(out, bare || !operand ? "%s" : "(%s)", text);
}

static bool write_form(const struct expr *expr, const struct expr_style *style,
    const struct form *form, unsigned level, struct str *out)
{
    str_add(out, form->level < level ? "(" : "");
    for (const char *p = form->text; *p; p++)
        if (*p == '$') {
            const unsigned i = (unsigned)(*++p - '0');

            if (!write_at(expr->arg[i], style, i ? form->others : form->first, out))
                return false;
        } else if (style->cxx || *p != ' ') {
            str_add_char(out, *p);
        }
    str_add(out, form->level < level ? ")" : "");
    return true;
}

static bool write_operation(
    const struct expr *expr, const struct expr_style *style, unsigned level, struct str *out)
{
    struct form form = {0};
    struct err ignored;
    char text[80];
    int64_t by;

    for (size_t i = sizeof(forms) / sizeof(forms[0]); i-- > 0;)
        if (forms[i].op == expr->op && (style->cxx || !forms[i].cxx))
            form = forms[i];
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        if (binaries[i].op == expr->op) {
            snprintf(text, sizeof(text), "$0 %s $1", binaries[i].text);
            form =
                (struct form){.text = text, .level = binaries[i].level, .first = binaries[i].level};
            form.others = form.level + 1;
        }
    if (form.op == OP_CEIL_DIV && form.cxx &&
        expr_eval(expr->arg[1], &style->numbers, &by, &ignored) && by > 0) {
        snprintf(text, sizeof(text), "($0 + %" PRId64 ") / %" PRId64, by - 1, by);
        form.text = text;
    }
    return write_form(expr, style, &form, level, out);
}

static bool write_at(
    const struct expr *expr, const struct expr_style *style, unsigned level, struct str *out)
{
    const struct expr_style plain = {.numbers = style->numbers};
    struct err ignored;
    int64_t value;

    if (expr_eval(expr, &style->numbers, &value, &ignored) && value > INT64_MIN) {
        const bool wide = style->cxx && (value > INT32_MAX || value < INT32_MIN);

        str_addf(out, value < 0 && level > 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", value,
            wide ? "LL" : "");
        return true;
    }
    if ((expr->op == OP_MUL || expr->op == OP_DIV || expr->op == OP_CEIL_DIV) &&
        expr_eval(expr->arg[1], &style->numbers, &value, &ignored) && value == 1)
        return write_at(expr->arg[0], style, level, out);
    if (style->stands_for) {
        struct str own = {0};

        write_at(expr, &plain, 0, &own);
        const char *text = style->stands_for(style->context, str_text(&own), expr->op == OP_NAME);

        str_finish(&own);
        if (text)
            write_text(text, level > 0, out);
        if (text || expr->op == OP_NAME)
            return text != NULL;
    }
    if (expr->op == OP_NAME) {
        str_add(out, expr->name);
        return true;
    }
    return write_operation(expr, style, level, out);
}

bool expr_write(const struct expr *expr, const struct expr_style *style, struct str *out)
{
    return write_at(expr, style, 0, out);
}
