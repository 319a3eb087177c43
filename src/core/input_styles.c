/* Owns the contents of inputs that tell kernels apart. */
#include "base/hash.h"
#include "base/rng.h"
#include "core/inputs.h"

#include <math.h>
#include <string.h>

const char *input_style_name(enum input_style style)
{
    static const char *const names[NR_INPUT_STYLES] = {[INPUT_DECLARED] = "as declared",
        [INPUT_TIES] = "ties",
        [INPUT_ZEROS] = "zeros",
        [INPUT_CONSTANTS] = "constants",
        [INPUT_FAR] = "rows around 1000 and -1000",
        [INPUT_HIGH] = "up to 100",
        [INPUT_MIXED] = "mixed magnitudes",
        [INPUT_SPARSE] = "mostly zeros",
        [INPUT_BIG] = "sums beyond f16",
        [INPUT_SPIKE] = "one element of a row far above the others",
        [INPUT_ROWS] = "unlike rows",
        [INPUT_RISING] = "rising",
        [INPUT_FALLING] = "falling",
        [INPUT_WIDE] = "ends of the integer types",
        [INPUT_NAN] = "NaN and infinities"};

    return names[style];
}

bool input_style_is_exact(enum input_style style)
{
    return style == INPUT_TIES || style == INPUT_ZEROS || style == INPUT_CONSTANTS ||
           style == INPUT_WIDE;
}

/* One array under way. */
struct styled {
    const struct task_array *array;
    enum input_style style;
    bool lead;
    uint64_t seed, row, nr;
    double a, b;   /* the declared range */
    double power;  /* of two, at most the larger end */
    bool has_zero; /* in the range */
    bool both;     /* signs */
    int64_t low, high;
};

static double unit(const struct styled *s, uint64_t i)
{
    return (double)(rng_mix(s->seed, i) >> 11) * 0x1p-53;
}

static double between(const struct styled *s, uint64_t i, double a, double b)
{
    return a + (b - a) * unit(s, i);
}

/* Few numbers of few bits: their sums and products are exact. */
static double tie(const struct styled *s, uint64_t i)
{
    const double step = (double)(rng_mix(s->seed, i) % 5);

    return s->both ? s->power * (step / 2 - 1) : s->a + (s->b - s->a) * step / 4;
}

static double zero(const struct styled *s)
{
    return s->has_zero ? 0 : s->a;
}

static double constant(const struct styled *s)
{
    return s->both ? 0.75 * s->power : s->a + (s->b - s->a) / 2;
}

static double far(const struct styled *s, uint64_t i)
{
    const double size = between(s, i, 900, 1100);

    return s->both && rng_mix(s->seed, ~(i / s->row)) & 1 ? size : s->both ? -size : size;
}

static double spike(const struct styled *s, uint64_t i, double declared)
{
    const uint64_t row = i / s->row, any = rng_mix(s->seed, ~row) % s->row,
                   at = row % 3 == 0   ? s->row - 1
                        : row % 3 == 1 ? 0
                                       : any;

    return i % s->row == at ? 1000 : declared;
}

static double in_order(const struct styled *s, uint64_t i, bool rises)
{
    const double at = (double)(i % s->row) / (double)s->row;

    return s->a + (s->b - s->a) * (rises ? at : 1 - at);
}

static double of_row(const struct styled *s, uint64_t i, double declared)
{
    switch (rng_mix(s->seed, ~(i / s->row)) % 6) {
    case 0:
        return zero(s);
    case 1:
        return constant(s);
    case 2:
        return tie(s, i);
    case 3:
        return far(s, i);
    case 4:
        return s->both ? -fabs(declared) : declared;
    default:
        return declared;
    }
}

static double strange(const struct styled *s, uint64_t i, double declared)
{
    switch (rng_mix(s->seed, i) % 64) {
    case 0:
        return NAN;
    case 1:
        return INFINITY;
    case 2:
        return -INFINITY;
    default:
        return declared;
    }
}

static double real(const struct styled *s, uint64_t i, double declared)
{
    switch (s->style) {
    case INPUT_TIES:
        return tie(s, i);
    case INPUT_ZEROS:
        return zero(s);
    case INPUT_CONSTANTS:
        return constant(s);
    case INPUT_SPARSE:
        return rng_mix(s->seed, i) % 5 ? zero(s) : declared;
    case INPUT_MIXED:
        return (s->both && rng_mix(s->seed, ~i) & 1 ? -s->power : s->power) *
               exp2(between(s, i, -8, 8));
    default:
        break;
    }
    if (!s->lead)
        return declared;
    switch (s->style) {
    case INPUT_FAR:
        return far(s, i);
    case INPUT_HIGH:
        return between(s, i, s->both ? -100 : s->a, 100);
    case INPUT_BIG:
        return between(s, i, 200, 400);
    case INPUT_SPIKE:
        return spike(s, i, declared);
    case INPUT_ROWS:
        return of_row(s, i, declared);
    case INPUT_RISING:
    case INPUT_FALLING:
        return in_order(s, i, s->style == INPUT_RISING);
    case INPUT_NAN:
        return strange(s, i, declared);
    default:
        return declared;
    }
}

static int64_t at_share(const struct styled *s, double share)
{
    const double span = (double)s->high - (double)s->low, step = floor(span * share);

    return step >= span ? s->high : (int64_t)((uint64_t)s->low + (uint64_t)step);
}

static int64_t whole(const struct styled *s, uint64_t i, int64_t declared)
{
    const uint64_t bits = rng_mix(s->seed, i);

    switch (s->style) {
    case INPUT_TIES:
    case INPUT_WIDE:
        return bits & 1 ? s->low : s->high;
    case INPUT_ZEROS:
        return s->low;
    case INPUT_CONSTANTS:
        return s->high;
    case INPUT_SPARSE:
        return bits % 5 ? s->low : declared;
    case INPUT_FAR: /* runs of an eighth of the array */
        return at_share(s, unit(s, i / (s->nr / 8 + 1)));
    case INPUT_HIGH:
        return bits % 10 ? at_share(s, 0.5) : declared;
    case INPUT_ROWS:
        return i % 2 ? s->high : s->low;
    case INPUT_RISING:
        return at_share(s, (double)i / (double)s->nr);
    case INPUT_FALLING:
        return at_share(s, 1 - (double)(i + 1) / (double)s->nr);
    default:
        return declared;
    }
}

/* Offsets of segments rise from the lowest to the highest in every style. */
static int64_t offset(const struct styled *s, uint64_t i, int64_t declared)
{
    const double share = s->nr > 1 ? (double)i / (double)(s->nr - 1) : 0;

    if (i == 0)
        return s->low;
    if (i == s->nr - 1)
        return s->high;
    switch (s->style) {
    case INPUT_TIES: /* three long segments among empty ones */
        return at_share(s, floor(3 * share) / 3);
    case INPUT_ZEROS:
        return s->low;
    case INPUT_CONSTANTS:
        return s->high;
    case INPUT_HIGH: /* the first half is empty */
        return at_share(s, share < 0.5 ? 0 : 2 * share - 1);
    case INPUT_ROWS: /* every other segment is empty */
        return at_share(s, (double)(i / 2 * 2) / (double)(s->nr - 1));
    case INPUT_SPARSE: /* longer and longer ones */
        return at_share(s, share * share * share);
    case INPUT_RISING:
        return at_share(s, share);
    default:
        return declared;
    }
}

static void order_permutation(const struct styled *s, void *elems)
{
    for (uint64_t i = 0; i < s->nr && (s->style == INPUT_RISING || s->style == INPUT_FALLING); i++)
        elem_set_int(
            s->array->elem, elems, i, (int64_t)(s->style == INPUT_RISING ? i : s->nr - 1 - i));
}

bool gen_is_default_integers(const struct gen *gen)
{
    return gen->kind == GEN_INTEGERS && !gen->a_int && !gen->b_int && gen->a == 0 && gen->b == 9;
}

/* Has the range been declared, or is it the default of the type? */
static bool is_default(const struct gen *gen)
{
    return gen->kind == GEN_VALUES || gen_is_default_integers(gen);
}

static void ends_of_type(enum elem elem, int64_t *low, int64_t *high)
{
    const unsigned bits = 8 * (unsigned)elem_bytes(elem);
    const bool is_signed = elem >= ELEM_I64 && elem <= ELEM_I8;

    if (elem == ELEM_BOOL)
        return;
    *low = is_signed ? (int64_t)(UINT64_MAX << (bits - 1)) : 0;
    *high = is_signed ? (int64_t) ~(UINT64_MAX << (bits - 1))
                      : (int64_t)(bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
}

static bool set_range(struct styled *s, const struct env *env, struct err *err)
{
    const struct gen *gen = &s->array->gen;
    double larger;

    s->a = gen->kind == GEN_NORMAL ? gen->a - 2 * gen->b : gen->kind == GEN_VALUES ? -1 : gen->a;
    s->b = gen->kind == GEN_NORMAL ? gen->a + 2 * gen->b : gen->kind == GEN_VALUES ? 1 : gen->b;
    s->low = gen->kind == GEN_VALUES ? 0 : (int64_t)gen->a;
    s->high = gen->kind == GEN_VALUES ? 9 : (int64_t)gen->b;
    if ((gen->a_int && !expr_eval(gen->a_int, env, &s->low, err)) ||
        (gen->b_int && !expr_eval(gen->b_int, env, &s->high, err)))
        return false;
    if (gen->a_int)
        s->a = (double)s->low;
    if (gen->b_int)
        s->b = (double)s->high;
    if (s->style == INPUT_WIDE && is_default(gen) && !s->array->record)
        ends_of_type(s->array->elem, &s->low, &s->high);
    larger = fabs(s->a) > fabs(s->b) ? fabs(s->a) : fabs(s->b);
    s->power = larger > 0 ? exp2(floor(log2(larger))) : 1;
    s->both = s->a < 0 && s->b > 0;
    s->has_zero = s->a <= 0 && s->b >= 0;
    return true;
}

bool inputs_restyle(const struct task_array *array, const struct env *env, enum input_style style,
    bool lead, uint64_t seed, uint64_t row, void *elems, uint64_t nr, struct err *err)
{
    const enum gen_kind kind = array->gen.kind;
    struct styled s = {.array = array,
        .style = style,
        .lead = lead,
        .seed = hash_bytes(array->name, strlen(array->name), seed + style).low,
        .row = row > 0 ? row : 1,
        .nr = nr};

    if (style == INPUT_DECLARED || kind == GEN_CONSTANT || kind == GEN_IOTA || kind == GEN_FILE ||
        (style == INPUT_WIDE && !is_default(&array->gen)))
        return true;
    if (!set_range(&s, env, err))
        return false;
    if (gen_permutes(&array->gen)) {
        order_permutation(&s, elems);
        return true;
    }
    for (uint64_t i = 0; i < nr; i++) {
        enum elem elem;
        void *at = (unsigned char *)elems + array_place(array, i, &elem);

        if (kind == GEN_INTEGERS && elem_is_float(elem))
            elem_set(elem, at, 0, (double)whole(&s, i, (int64_t)elem_get(elem, at, 0)));
        else if (elem_is_float(elem))
            elem_set(elem, at, 0, real(&s, i, elem_get(elem, at, 0)));
        else if (gen_rises(&array->gen))
            elem_set_int(elem, at, 0, offset(&s, i, elem_get_int(elem, at, 0)));
        else
            elem_set_int(elem, at, 0, whole(&s, i, elem_get_int(elem, at, 0)));
    }
    return true;
}
