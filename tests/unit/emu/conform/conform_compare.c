/* Conformance of comparisons: every form of setp and set, against comparisons of 128-bit integers
 * and of doubles. */
#include "conform_numbers.h"

typedef __int128 wide;

/* The form under test beside `now`: how many values a register holds, what combines with a
 * predicate, and what set gives. */
static struct {
    char compare[4], combine[4];
    bool is_float, negated, packed_result;
    u64 yes;        /* of set, for each value */
    unsigned pairs; /* 1, 2 */
    unsigned pick;  /* of a pair, for setp */
} how;

static bool named(const char *name)
{
    return strcmp(how.compare, name) == 0;
}

static bool compare_floats(double x, double y)
{
    const bool none = isnan(x) || isnan(y);
    if (named("num"))
        return !none;
    if (named("nan"))
        return none;
    if (none)
        return how.compare[2] == 'u';
    how.compare[2] = how.compare[2] == 'u' ? 'u' : 0;
    switch (how.compare[0]) {
    case 'e':
        return x == y;
    case 'n':
        return x != y;
    case 'l':
        return how.compare[1] == 't' ? x < y : x <= y;
    default:
        return how.compare[1] == 't' ? x > y : x >= y;
    }
}

static wide integer(u64 bits)
{
    const unsigned shift = 64 - 8 * type_bytes[now.type];
    return is_signed_type(now.type) ? (wide)((int64_t)(bits << shift) >> shift)
                                    : (wide)(bits << shift >> shift);
}

static bool compare_integers(wide x, wide y)
{
    if (named("eq"))
        return x == y;
    if (named("ne"))
        return x != y;
    if (named("lt") || named("lo"))
        return x < y;
    if (named("le") || named("ls"))
        return x <= y;
    if (named("gt") || named("hi"))
        return x > y;
    return x >= y;
}

static bool compare(u64 a, u64 b)
{
    if (!how.is_float)
        return compare_integers(integer(a), integer(b));
    double x = get(a, now.type), y = get(b, now.type);
    if (now.ftz) {
        x = flushed(x, now.type);
        y = flushed(y, now.type);
    }
    return compare_floats(x, y);
}

static bool combined(bool result, u64 c)
{
    const bool other = how.negated ? c <= 5 : c > 5;
    switch (how.combine[0]) {
    case 'a':
        return result && other;
    case 'o':
        return result || other;
    case 'x':
        return result != other;
    default:
        return result;
    }
}

/* setp: D has P in bit 0 and, of packed halves, Q in bit 1; of one value Q is the opposite before
 * it is combined, and of one half there is no Q. */
static u64 set_predicates(u64 a, u64 b, u64 c)
{
    const bool low = compare(how.pairs == 2 ? a & 0xffff : a, how.pairs == 2 ? b & 0xffff : b);
    if (how.pairs == 1 && (now.type == F16 || now.type == BF16))
        return combined(low, c);
    const bool second = how.pairs == 2 ? compare(a >> 16 & 0xffff, b >> 16 & 0xffff) : !low;
    return (u64)combined(low, c) | (u64)combined(second, c) << 1;
}

static u64 set_values(u64 a, u64 b, u64 c)
{
    if (how.pairs == 1)
        return combined(compare(a, b), c) ? how.yes : 0;
    const bool low = combined(compare(a & 0xffff, b & 0xffff), c);
    const bool high = combined(compare(a >> 16 & 0xffff, b >> 16 & 0xffff), c);
    return (low ? how.yes & 0xffff : 0) | (high ? (how.yes & 0xffff) << 16 : 0);
}

static enum conform_type type_called(const char *name, size_t len)
{
    unsigned t = 0;
    while (t < NR_TYPES && (strlen(type_names[t]) != len || strncmp(type_names[t], name, len) != 0))
        t++;
    return (enum conform_type)t;
}

/* Words in order: comparison, what combines, flags, types. */
static void read_form(const char *modifiers)
{
    static const char *const bools[] = {"and", "or", "xor"};
    const char *type = strrchr(modifiers, '.') + 1;
    memset(&how, 0, sizeof(how));
    memset(&now, 0, sizeof(now));
    how.pairs = strstr(type, "x2") ? 2 : 1;
    now.type = type_called(type, strlen(type) - (how.pairs == 2 ? 2 : 0));
    how.is_float = now.type >= F16;
    now.ftz = has_word(modifiers, "ftz");
    snprintf(
        how.compare, sizeof(how.compare), "%.*s", (int)strcspn(modifiers + 1, "."), modifiers + 1);
    for (unsigned i = 0; i < 3; i++) {
        if (has_word(modifiers, bools[i]))
            snprintf(how.combine, sizeof(how.combine), "%s", bools[i]);
    }
}

static void run_setp(const char *op, const char *modifiers, void *context)
{
    char text[300];
    read_form(modifiers);
    const unsigned n = how.pairs == 2 ? 4 : type_bytes[now.type];
    const bool third = how.combine[0] != 0;
    how.negated = third && nr_forms % 2;
    const bool one = how.pairs == 1 && (now.type == F16 || now.type == BF16);
    snprintf(text, sizeof(text), "%s%s%s %s, A, B%s;\nselp.b32 D, 1, 0, P;%s",
        third ? "setp.gt.u32 P, C, 5;\n" : "", op, modifiers, one ? "P" : "P|Q",
        !third        ? ""
        : how.negated ? ", !P"
                      : ", P",
        one ? "" : "\n@Q or.b32 D, D, 2;");
    run_form(text, 4, n, n, third ? 4 : 0, set_predicates, 0);
}

static void run_set(const char *op, const char *modifiers, void *context)
{
    static const struct {
        const char *name;
        u64 yes;
        unsigned bytes;
    } results[] = {{"u16", 0xffff, 2}, {"s16", 0xffff, 2}, {"u32", 0xffffffff, 4},
        {"s32", 0xffffffff, 4}, {"f32", 0x3f800000, 4}, {"f16", 0x3c00, 2}, {"bf16", 0x3f80, 2},
        {"f16x2", 0x3c00, 4}, {"bf16x2", 0x3f80, 4}};
    char text[300];
    unsigned r = 0, d;
    read_form(modifiers);
    const unsigned n = how.pairs == 2 ? 4 : type_bytes[now.type];
    const char *to = strrchr(modifiers, '.') - 1;
    while (to[-1] != '.')
        to--;
    while (strncmp(results[r].name, to, strlen(results[r].name)) != 0 ||
           to[strlen(results[r].name)] != '.')
        r++;
    how.yes = results[r].yes;
    d = results[r].bytes;
    const bool third = how.combine[0] != 0;
    how.negated = third && nr_forms % 2;
    snprintf(text, sizeof(text), "%s%s%s D, A, B%s;", third ? "setp.gt.u32 P, C, 5;\n" : "", op,
        modifiers,
        !third        ? ""
        : how.negated ? ", !P"
                      : ", P");
    run_form(text, d, n, n, third ? 4 : 0, set_values, 0);
}

static void predicates(void **state)
{
    (void)state;
    sets_take_turns = true;
    syntax_each("setp", run_setp, NULL);
}

static void values(void **state)
{
    (void)state;
    sets_take_turns = true;
    syntax_each("set", run_set, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(predicates), cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
