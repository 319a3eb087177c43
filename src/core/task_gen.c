/* Owns the reading of generators: what arrays are filled with. */
#include "core/task_read.h"

#include "base/mem.h"

#include <string.h>

/* The comma between items, or the end. *more tells which. */
bool reader_comma(struct cursor *c, bool *more)
{
    *more = !cursor_done(c);
    if (!*more)
        return true;
    return cursor_expect(c, ",", "text after a value") &&
           (!cursor_done(c) || cursor_fail(c, c->p, "nothing after ','; expected another item"));
}

static const struct {
    const char *name;
    enum gen_kind kind;
    int least, most; /* number of arguments */
    bool whole;      /* arguments are integer expressions */
} generators[] = {
    {"uniform", GEN_UNIFORM, 2, 2, false},
    {"normal", GEN_NORMAL, 2, 2, false},
    {"integers", GEN_INTEGERS, 2, 2, true},
    {"sorted", GEN_SORTED, 2, 2, true},
    {"skewed", GEN_SKEWED, 2, 2, true},
    {"nearly_sorted", GEN_NEARLY_SORTED, 2, 2, true},
    {"sorted_skewed", GEN_SORTED_SKEWED, 2, 2, true},
    {"permutation", GEN_PERMUTATION, 0, 0, true},
    {"runs", GEN_RUNS, 1, 1, true},
    {"constant", GEN_CONSTANT, 1, 1, false},
    {"iota", GEN_IOTA, 0, 2, false},
    {"file", GEN_FILE, 1, 1, false},
};

bool gen_rises(const struct gen *gen)
{
    return gen->kind == GEN_SORTED || gen->kind == GEN_SORTED_SKEWED;
}

bool gen_permutes(const struct gen *gen)
{
    return gen->kind == GEN_PERMUTATION || gen->kind == GEN_RUNS;
}

struct gen gen_default(enum elem elem)
{
    struct gen gen = {.kind = GEN_UNIFORM, .a = -1, .b = 1};

    if (!elem_is_float(elem))
        gen = (struct gen){.kind = GEN_INTEGERS, .a = 0, .b = elem == ELEM_BOOL ? 1 : 9};
    return gen;
}

/* "x.npy" */
bool reader_quoted(struct cursor *c, const char **path)
{
    const char *from;

    if (!cursor_expect(c, "\"", "no file name"))
        return false;
    for (from = c->p; c->p < c->end && *c->p != '"'; c->p++)
        ;
    if (c->p == c->end || c->p == from)
        return cursor_fail(c, c->p, "no file name; expected one in double quotes");
    *path = arena_strndup(c->arena, from, (size_t)(c->p - from));
    c->p++;
    return true;
}

static bool read_gen_arg(
    struct cursor *c, const struct env *env, bool whole, const struct expr **expr, double *real)
{
    struct cursor arg = cursor_until(c, ",");

    if (!whole && cursor_is_real(&arg, real))
        return true;
    return cursor_expr(&arg, env, expr);
}

static bool unknown_generator(struct cursor *c, const char *at, const char *name)
{
    const char *all = "";

    for (unsigned i = 0; i < ARRAY_SIZE(generators); i++)
        all = arena_printf(c->arena, "%s%s %s", all, i ? "," : "", generators[i].name);
    return cursor_fail(c, at, "unknown generator '%s'; expected one of%s", name, all);
}

/* file("x.npy") or file("x.npy", sorted(0, n)): the cursor stands after the parenthesis. */
static bool read_file_gen(struct cursor *c, const struct env *env, struct gen *gen)
{
    struct gen *other;

    if (!reader_quoted(c, &gen->path))
        return false;
    if (cursor_take(c, ",")) {
        const char *at = c->p;

        gen->elsewhere = other = arena_alloc(c->arena, sizeof(*other));
        if (!reader_gen(c, env, other))
            return false;
        if (other->kind == GEN_FILE)
            return cursor_fail(c, at, "a file in a file; expected a generator for other sizes");
    }
    return cursor_expect(c, ")", "an open parenthesis");
}

bool reader_gen(struct cursor *c, const struct env *env, struct gen *gen)
{
    const char *at = c->p, *name;
    struct cursor args;
    unsigned i = 0;
    int nr = 0;
    bool more;

    if (!cursor_name(c, &name, "a generator, as in uniform(-1, 1)"))
        return false;
    while (i < ARRAY_SIZE(generators) && strcmp(generators[i].name, name) != 0)
        i++;
    if (i == ARRAY_SIZE(generators))
        return unknown_generator(c, at, name);
    *gen = (struct gen){.kind = generators[i].kind};
    if (gen->kind == GEN_IOTA)
        gen->b = 1;
    if (!cursor_expect(c, "(", "a generator without arguments"))
        return false;
    if (gen->kind == GEN_FILE)
        return read_file_gen(c, env, gen);
    args = cursor_until(c, ")");
    at = args.p;
    for (more = !cursor_done(&args); more; nr++) {
        if (nr == generators[i].most)
            return cursor_fail(
                &args, args.p, "too many arguments; expected %d for %s", generators[i].most, name);
        if (!read_gen_arg(&args, env, generators[i].whole, nr ? &gen->b_int : &gen->a_int,
                nr ? &gen->b : &gen->a) ||
            !reader_comma(&args, &more))
            return false;
    }
    if (nr < generators[i].least)
        return cursor_fail(
            &args, at, "too few arguments; expected %d for %s", generators[i].least, name);
    return cursor_expect(c, ")", "an open parenthesis");
}
