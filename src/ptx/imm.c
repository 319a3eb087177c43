/* Owns constants: literals, constant expressions, and the bits they stand for. */
#include "ptx/parse.h"

#include <string.h>

static bool parse_binary(
    struct ptx_parser *p, uint64_t *value, enum literal *literal, int level, int depth);

static bool parse_unary(struct ptx_parser *p, uint64_t *value, enum literal *literal, int depth)
{
    if (depth > MAX_DEPTH)
        return parser_fail(p, "a constant expression nested too deep");
    if (parser_accept(p, '-')) {
        if (!parse_unary(p, value, literal, depth + 1))
            return false;
        if (*literal == LITERAL_INT)
            *value = -*value;
        else
            *value ^= *literal == LITERAL_F32 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        return true;
    }
    if (parser_accept(p, '+'))
        return parse_unary(p, value, literal, depth + 1);
    if (parser_is(p, '~') || parser_is(p, '!')) {
        const bool bits = parser_is(p, '~');
        parser_advance(p);
        if (!parse_unary(p, value, literal, depth + 1))
            return false;
        if (*literal != LITERAL_INT)
            return parser_fail(p, "a bit operation on a floating-point constant");
        *value = bits ? ~*value : !*value;
        return true;
    }
    if (parser_accept(p, '(')) {
        if (p->token.kind == TOKEN_DOT) /* (.s64) and (.u64) casts: all arithmetic is 64-bit here */
            parser_advance(p);
        else if (!parse_binary(p, value, literal, 0, depth + 1))
            return false;
        else
            return parser_expect(p, ')');
        return parser_expect(p, ')') && parse_unary(p, value, literal, depth + 1);
    }
    switch (p->token.kind) {
    case TOKEN_INT:
        *literal = LITERAL_INT;
        break;
    case TOKEN_FLOAT32:
        *literal = LITERAL_F32;
        break;
    case TOKEN_FLOAT64:
        *literal = LITERAL_F64;
        break;
    default:
        if (p->token.kind == TOKEN_NAME && p->token.len == 7 &&
            !memcmp(p->token.text, "WARP_SZ", 7)) {
            *literal = LITERAL_INT;
            *value = 32;
            parser_advance(p);
            return true;
        }
        return parser_fail(p, "expected a constant, found '%.*s'", TOKEN_ARG(&p->token));
    }
    *value = p->token.value;
    parser_advance(p);
    return true;
}

/* Levels, loosest first: | ^ & shifts + * */
enum { LEVEL_OR, LEVEL_XOR, LEVEL_AND, LEVEL_SHIFT, LEVEL_ADD, LEVEL_MUL, NR_LEVELS };

static bool is_operator(const struct ptx_parser *p, int level)
{
    static const char *const punct[NR_LEVELS] = {"|", "^", "&", "<>", "+-", "*/%"};

    if (p->token.kind != TOKEN_PUNCT || !strchr(punct[level], p->token.text[0]))
        return false;
    if (level == LEVEL_SHIFT) /* two of the same */
        return p->ahead.kind == TOKEN_PUNCT && p->ahead.text == p->token.text + 1 &&
               p->ahead.text[0] == p->token.text[0];
    return true;
}

static bool apply(struct ptx_parser *p, char op, uint64_t a, uint64_t b, uint64_t *value)
{
    switch (op) {
    case '|':
        *value = a | b;
        return true;
    case '^':
        *value = a ^ b;
        return true;
    case '&':
        *value = a & b;
        return true;
    case '<':
        *value = b < 64 ? a << b : 0;
        return true;
    case '>':
        *value = b < 64 ? a >> b : 0;
        return true;
    case '+':
        *value = a + b;
        return true;
    case '-':
        *value = a - b;
        return true;
    case '*':
        *value = a * b;
        return true;
    default:
        if (!b)
            return parser_fail(p, "a constant expression divides by zero");
        /* quotients of negative constants do not occur in what compilers emit */
        *value = op == '/' ? a / b : a % b;
        return true;
    }
}

static bool parse_binary(
    struct ptx_parser *p, uint64_t *value, enum literal *literal, int level, int depth)
{
    if (level == NR_LEVELS)
        return parse_unary(p, value, literal, depth);
    if (!parse_binary(p, value, literal, level + 1, depth))
        return false;
    while (is_operator(p, level)) {
        const char op = p->token.text[0];
        uint64_t right;
        enum literal kind;

        parser_advance(p);
        if (level == LEVEL_SHIFT)
            parser_advance(p);
        if (!parse_binary(p, &right, &kind, level + 1, depth))
            return false;
        if (*literal != LITERAL_INT || kind != LITERAL_INT)
            return parser_unsupported(p, "arithmetic on floating-point constants");
        if (!apply(p, op, *value, right, value))
            return false;
    }
    return true;
}

bool parse_constant(struct ptx_parser *p, uint64_t *value, enum literal *literal)
{
    return parse_binary(p, value, literal, 0, 0);
}

bool parse_u64(struct ptx_parser *p, uint64_t max, uint64_t *value)
{
    enum literal literal;

    if (!parse_constant(p, value, &literal))
        return false;
    if (literal != LITERAL_INT || *value > max)
        return parser_fail(p, "a number out of range");
    return true;
}

/* Bits of a float at fewer bits of mantissa, rounded to nearest even: half and bfloat16. */
static uint64_t narrow_float(float value, unsigned exponent_bits, unsigned mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t top = (1u << exponent_bits) - 1;
    uint32_t bits, sign, mantissa, out;
    int exponent, shift;

    memcpy(&bits, &value, sizeof(bits));
    sign = bits >> 31 << (exponent_bits + mantissa_bits);
    exponent = (int)(bits >> 23 & 255) - 127 + bias;
    mantissa = bits & 0x7fffff;
    if ((bits >> 23 & 255) == 255)
        return sign | top << mantissa_bits | (mantissa ? 1u << (mantissa_bits - 1) : 0);
    if ((bits >> 23 & 255) == 0)
        return sign; /* below half of the smallest half; for bfloat16 the manual has no literals */
    mantissa |= 1u << 23;
    shift = 23 - (int)mantissa_bits + (exponent < 1 ? 1 - exponent : 0);
    if (shift > 31)
        return sign;
    out = mantissa >> shift;
    {
        const uint32_t rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
        if (rest > half || (rest == half && (out & 1)))
            out++;
    }
    if (exponent >= 1)
        out += (uint32_t)(exponent - 1) << mantissa_bits;
    if (out >= top << mantissa_bits)
        out = top << mantissa_bits;
    return sign | out;
}

static double double_of(uint64_t value, enum literal literal)
{
    double wide;

    if (literal == LITERAL_F32) {
        const uint32_t bits = (uint32_t)value;
        float narrow;
        memcpy(&narrow, &bits, sizeof(narrow));
        return (double)narrow;
    }
    memcpy(&wide, &value, sizeof(wide));
    return wide;
}

static uint64_t float_bits(double wide)
{
    const float narrow = (float)wide;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof(bits));
    return bits;
}

bool literal_at_type(uint64_t value, enum literal literal, enum ptx_type type, uint64_t *bits)
{
    const bool is_int = literal == LITERAL_INT;
    double wide;

    *bits = value;
    switch (type) {
    case PTX_F32:
        if (!is_int && literal != LITERAL_F32)
            *bits = float_bits(double_of(value, literal));
        return !is_int;
    case PTX_F64:
        wide = is_int ? 0 : double_of(value, literal);
        memcpy(bits, &wide, sizeof(wide));
        return !is_int;
    case PTX_F16:
        if (!is_int)
            *bits = narrow_float((float)double_of(value, literal), 5, 10);
        return true;
    case PTX_BF16:
        if (!is_int)
            *bits = narrow_float((float)double_of(value, literal), 8, 7);
        return true;
    case PTX_B32:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_TF32:
        return literal != LITERAL_F64;
    case PTX_B64:
        return literal != LITERAL_F32;
    default:
        return is_int;
    }
}
