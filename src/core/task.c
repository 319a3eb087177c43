/* Owns the contract: size, check, in, out, inout, scalar, tolerance, work, reference, expect,
 * case, pytorch. */
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/task.h"
#include "core/task_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct statement statements[] = {
    {"size", true},
    {"check", true},
    {"assume", true},
    {"in", true},
    {"out", true},
    {"inout", true},
    {"symbol", true},
    {"scalar", true},
    {"fixed", true},
    {"inputs", true},
    {"tolerance", true},
    {"work", true},
    {"reference", true},
    {"expect", true},
    {"case", true},
    {"pytorch", true},
    {"launch", false},
    {"temp", false},
    {"tune", false},
    {"where", false},
};

const struct statement *statement_find(const char *keyword)
{
    for (unsigned i = 0; i < ARRAY_SIZE(statements); i++) {
        if (strcmp(statements[i].keyword, keyword) == 0)
            return &statements[i];
    }
    return NULL;
}

enum task_line task_line(const char *line)
{
    static const char opening[] = "#pragma keet";
    size_t len;

    line += strspn(line, " \t");
    if (!str_starts(line, opening))
        return TASK_LINE_CODE;
    line += strlen(opening);
    line += strspn(line, " \t");
    len = strspn(line, "abcdefghijklmnopqrstuvwxyz");
    for (unsigned i = 0; i < ARRAY_SIZE(statements); i++) {
        if (strlen(statements[i].keyword) == len && memcmp(statements[i].keyword, line, len) == 0)
            return statements[i].contract ? TASK_LINE_CONTRACT : TASK_LINE_PLAN;
    }
    return TASK_LINE_UNKNOWN;
}

bool reader_bad_keyword(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct binding bindings[ARRAY_SIZE(statements)];
    struct env env = {bindings, ARRAY_SIZE(statements)};
    const char *at = pragma->text + pragma->rest - strlen(pragma->keyword), *all = "one of";

    for (unsigned i = 0; i < ARRAY_SIZE(statements); i++) {
        bindings[i] = (struct binding){statements[i].keyword, 0};
        all = arena_printf(r->arena, "%s%s %s", all, i ? "," : "", statements[i].keyword);
    }
    if (!*pragma->keyword)
        return cursor_fail(&c, at, "no keyword after `#pragma keet`; expected %s", all);
    return cursor_unknown(&c, at, pragma->keyword, &env, all);
}

/* The name of an element type. */
static bool read_elem(struct cursor *c, enum elem *elem)
{
    const char *at, *type, *all = "";

    cursor_skip(c);
    at = c->p;
    if (!cursor_name(c, &type, "an element type"))
        return false;
    if (elem_parse(type, strlen(type), elem))
        return true;
    for (int i = 0; i < NR_ELEMS; i++)
        all = arena_printf(c->arena, "%s %s", all, elem_name((enum elem)i));
    return cursor_fail(c, at, "unknown type '%s'; expected one of%s", type, all);
}

/* Names that mean something to C++, CUDA or this language. A tuning parameter becomes a macro, so
 * taking one of these would change the meaning of the code. */
bool task_reserves(const char *name)
{
    static const char *const reserved[] = {"alignas", "alignof", "asm", "auto", "bool", "break",
        "case", "catch", "char", "class", "const", "constexpr", "continue", "decltype", "default",
        "delete", "do", "double", "else", "enum", "explicit", "extern", "false", "float", "for",
        "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept",
        "nullptr", "operator", "private", "protected", "public", "register", "return", "short",
        "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw", "true",
        "try", "typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
        "while", "blockIdx", "blockDim", "threadIdx", "gridDim", "warpSize", "dim3", "ceil_div",
        "min", "max", "in", "file", "cluster", "defined"};

    if (name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
        return true;
    for (unsigned i = 0; i < ARRAY_SIZE(reserved); i++) {
        if (strcmp(reserved[i], name) == 0)
            return true;
    }
    return false;
}

bool reader_claim(struct task_reader *r, const struct cursor *c, const char *at, const char *name)
{
    if (task_reserves(name))
        return cursor_fail(c, at, "'%s' is a reserved word; expected another name", name);
    for (size_t i = 0; i < r->nr_names; i++) {
        if (strcmp(r->names[i].name, name) == 0)
            return cursor_fail(c, at, "'%s' is declared twice; expected another name", name);
    }
    if (r->nr_names == MAX_NAMES)
        return cursor_fail(c, at, "too many names; expected at most %d", MAX_NAMES);
    r->names[r->nr_names++] = (struct binding){name, 0};
    return true;
}

/* "NAME = " */
static bool read_name_is(struct cursor *c, const char **name, const char *expected)
{
    return cursor_name(c, name, expected) && cursor_expect(c, "=", "no value for the name") &&
           (cursor_skip(c), true);
}

/* A size keeps its expression: a check line without the size evaluates it under its own sizes. */
struct size_expr {
    const struct expr *expr;
};

static bool read_size(struct task_reader *r, const struct pragma *pragma, struct binding *sizes,
    struct size_expr *exprs)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct env *env = &r->task->timed.sizes;
    bool more = true;

    if (r->task->timed.line == 0)
        r->task->timed.line = pragma->line;
    while (more) {
        const char *at = c.p, *name;
        struct cursor value;
        int64_t number;

        if (!read_name_is(&c, &name, "a size, as in M = 1024") || !reader_claim(r, &c, at, name))
            return false;
        value = cursor_until(&c, ",");
        at = value.p;
        struct cursor copy = value;
        if (!cursor_expr(&copy, env, &exprs[env->nr].expr) || !cursor_value(&value, env, &number))
            return false;
        if (number < 1)
            return cursor_fail(
                &c, at, "the size %s is %" PRId64 "; expected at least 1", name, number);
        sizes[env->nr] = (struct binding){name, number};
        env->bindings = sizes;
        env->nr++;
        if (!reader_comma(&c, &more))
            return false;
    }
    return true;
}

static bool read_check(
    struct task_reader *r, const struct pragma *pragma, const struct size_expr *exprs)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    const struct env *timed = &r->task->timed.sizes;
    struct shape *shape = &r->task->checks[r->task->nr_checks];
    struct binding *sizes = arena_array(r->arena, timed->nr + 1, sizeof(*sizes));
    bool given[MAX_NAMES] = {false}, more = true;
    struct env so_far = {sizes, 0};
    struct err why;

    if (r->task->nr_checks == MAX_CHECKS)
        return cursor_fail(&c, c.p, "too many check lines; expected at most %d", MAX_CHECKS);
    while (more) {
        const char *at = c.p, *name;
        struct cursor value;
        size_t i = 0;

        if (!read_name_is(&c, &name, "a size, as in M = 33"))
            return false;
        while (i < timed->nr && strcmp(timed->bindings[i].name, name) != 0)
            i++;
        if (i == timed->nr)
            return cursor_unknown(&c, at, name, timed, "a name from the size line");
        if (given[i])
            return cursor_fail(&c, at, "'%s' is given twice; expected it once", name);
        given[i] = true;
        value = cursor_until(&c, ",");
        at = value.p;
        if (!cursor_value(&value, &(struct env){NULL, 0}, &sizes[i].value))
            return false;
        if (sizes[i].value < 1)
            return cursor_fail(
                &c, at, "the size %s is %" PRId64 "; expected at least 1", name, sizes[i].value);
        if (!reader_comma(&c, &more))
            return false;
    }
    for (size_t i = 0; i < timed->nr; i++) {
        sizes[i].name = timed->bindings[i].name;
        so_far.nr = i;
        if (given[i])
            continue;
        if (!expr_eval(exprs[i].expr, &so_far, &sizes[i].value, &why))
            return cursor_fail(&c, c.p, "the size %s: %s", sizes[i].name, why.text);
        if (sizes[i].value < 1)
            return cursor_fail(&c, c.p, "the size %s is %" PRId64 "; expected at least 1",
                sizes[i].name, sizes[i].value);
    }
    shape->sizes = (struct env){sizes, timed->nr};
    shape->line = pragma->line;
    r->task->nr_checks++;
    return true;
}

bool reader_array(struct task_reader *r, struct cursor *c, const struct env *env, enum role role,
    struct task_array *array)
{
    const char *at = c->p, *name;

    if (!cursor_name(c, &name, "a name, as in A : f32[M][K]") || !reader_claim(r, c, at, name) ||
        !cursor_expect(c, ":", "no type after the name"))
        return false;
    cursor_skip(c);
    if (c->p < c->end && *c->p == '{') {
        if (!reader_record(r, c, &array->record))
            return false;
        array->elem = array->record->values[0].elem;
    } else if (!read_elem(c, &array->elem)) {
        return false;
    }
    array->name = name;
    array->role = role;
    array->line = c->pragma->line;
    array->gen = array->record ? (struct gen){.kind = GEN_VALUES} : gen_default(array->elem);
    if (!cursor_expect(c, "[", "an array without dimensions"))
        return false;
    if (cursor_take(c, "]"))
        return true;
    do {
        struct cursor dim = cursor_until(c, "]");

        if (array->nr_dims == TASK_MAX_DIMS)
            return cursor_fail(c, dim.p, "too many dimensions; expected at most %d", TASK_MAX_DIMS);
        if (!cursor_expr(&dim, env, &array->dims[array->nr_dims]) ||
            !cursor_expect(c, "]", "an open dimension"))
            return false;
        array->nr_dims++;
    } while (cursor_take(c, "["));
    return true;
}

static bool read_array(struct task_reader *r, const struct pragma *pragma, enum role role)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct task_array *array = &r->task->arrays[r->task->nr_arrays];
    const struct env *sizes = &r->task->timed.sizes;

    *array = (struct task_array){0};
    if (!reader_array(r, &c, sizes, role, array))
        return false;
    cursor_skip(&c);
    if (c.p < c.end && *c.p == '=') {
        if (role == ROLE_OUT)
            return cursor_fail(
                &c, c.p, "an output takes no generator; expected the end, or inout instead");
        c.p++;
        cursor_skip(&c);
        const char *at = c.p;

        if (!reader_gen(&c, sizes, &array->gen))
            return false;
        if (array->record && array->gen.kind != GEN_CONSTANT)
            return cursor_fail(&c, at,
                "an array of structs with this generator; expected constant(a), or none: each "
                "value as its type's default");
    }
    array->is_symbol = strcmp(pragma->keyword, "symbol") == 0;
    r->task->nr_arrays++;
    return cursor_end(&c, "the array");
}

static bool scalar_fits(enum elem elem, double value)
{
    static const double top[NR_ELEMS] = {[ELEM_I64] = 0x1p63,
        [ELEM_I32] = 0x1p31,
        [ELEM_I16] = 0x1p15,
        [ELEM_I8] = 0x1p7,
        [ELEM_U64] = 0x1p64,
        [ELEM_U32] = 0x1p32,
        [ELEM_U16] = 0x1p16,
        [ELEM_U8] = 0x1p8,
        [ELEM_BOOL] = 2};
    bool is_signed = elem >= ELEM_I64 && elem <= ELEM_I8;

    return elem_is_float(elem) ||
           (value < top[elem] && value >= (is_signed ? -top[elem] : 0) && value == rint(value));
}

static bool read_scalar(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct task_scalar *scalar = &r->task->scalars[r->task->nr_scalars];
    const char *at = c.p;

    *scalar = (struct task_scalar){.line = pragma->line};
    if (!cursor_name(&c, &scalar->name, "a name, as in alpha : f32 = 1.5") ||
        !reader_claim(r, &c, at, scalar->name) || !cursor_expect(&c, ":", "no type after the name"))
        return false;
    if (!read_elem(&c, &scalar->elem) || !cursor_expect(&c, "=", "a scalar without a value"))
        return false;
    cursor_skip(&c);
    at = c.p;
    if (!cursor_real(&c, &r->task->timed.sizes, &scalar->value))
        return false;
    if (!scalar_fits(scalar->elem, scalar->value))
        return cursor_fail(&c, at, "%.17g is not a value of type %s; expected one that fits",
            scalar->value, elem_name(scalar->elem));
    r->task->nr_scalars++;
    return true;
}

static bool read_tolerance(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct tolerance *tolerance = &r->task->tolerance;
    bool more = true;

    if (r->task->has_tolerance)
        return cursor_fail(&c, c.p, "a second tolerance line; expected one");
    *tolerance = (struct tolerance){-1, -1};
    while (more) {
        const char *at = c.p, *name;
        struct cursor value;
        double *where;

        if (!read_name_is(&c, &name, "rel = or abs ="))
            return false;
        where = strcmp(name, "rel") == 0   ? &tolerance->rel
                : strcmp(name, "abs") == 0 ? &tolerance->abs
                                           : NULL;
        if (!where)
            return cursor_fail(&c, at, "unknown tolerance '%s'; expected rel or abs", name);
        if (*where >= 0)
            return cursor_fail(&c, at, "'%s' is given twice; expected it once", name);
        value = cursor_until(&c, ",");
        if (!cursor_is_real(&value, where) || *where < 0)
            return cursor_fail(
                &c, value.p, "not a tolerance; expected a number of at least 0, as 1e-4");
        if (!reader_comma(&c, &more))
            return false;
    }
    r->task->has_tolerance = true;
    return true;
}

static bool read_work(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    bool more = true;

    while (more) {
        const char *at = c.p, *name;
        const struct expr **where;
        enum work work;

        if (!read_name_is(&c, &name, "flops = or bytes ="))
            return false;
        where = work_find(name, &work)       ? &r->task->work[work]
                : strcmp(name, "bytes") == 0 ? &r->task->bytes
                                             : NULL;
        if (!where)
            return cursor_fail(&c, at,
                "unknown work '%s'; expected bytes, flops, or as f16_flops, int8_ops", name);
        if (*where)
            return cursor_fail(&c, at, "'%s' is given twice; expected it once", name);
        struct cursor value = cursor_until(&c, ","), copy = value;
        int64_t number;
        if (!cursor_expr(&value, &r->task->timed.sizes, where) ||
            !cursor_value(&copy, &r->task->timed.sizes, &number))
            return false;
        if (number < 0)
            return cursor_fail(&c, at, "%s is %" PRId64 "; expected at least 0", name, number);
        if (!reader_comma(&c, &more))
            return false;
    }
    return true;
}

static bool read_expect(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    const char *at = c.p, *name;

    if (!read_name_is(&c, &name, "an output, as in C = file(\"c.npy\")"))
        return false;
    for (unsigned i = 0; i < r->task->nr_arrays; i++) {
        struct task_array *array = &r->task->arrays[i];

        if (strcmp(array->name, name) != 0)
            continue;
        if (array->role == ROLE_IN)
            return cursor_fail(&c, at, "'%s' is an input; expected an output", name);
        if (array->record)
            return cursor_fail(
                &c, at, "'%s' is an array of structs, which no .npy file holds", name);
        if (array->expect_path)
            return cursor_fail(&c, at, "'%s' has two expect lines; expected one", name);
        return cursor_expect(&c, "file", "not a file") && cursor_expect(&c, "(", "no file name") &&
               reader_quoted(&c, &array->expect_path) &&
               cursor_expect(&c, ")", "an open parenthesis") && cursor_end(&c, "the file");
    }
    return cursor_fail(&c, at, "unknown output '%s'; expected the name of an out line", name);
}

static bool is(const struct pragma *pragma, const char *keyword)
{
    return strcmp(pragma->keyword, keyword) == 0;
}

/* symbol taps : f32[9], symbol out total : f32[1], symbol inout counts : u32[8] */
static bool read_symbol(struct task_reader *r, const struct pragma *pragma)
{
    static const struct {
        const char *word;
        enum role role;
    } roles[] = {{"inout", ROLE_INOUT}, {"out", ROLE_OUT}, {"in", ROLE_IN}};
    const struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct pragma rest = *pragma;

    for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
        const size_t nr = strlen(roles[i].word), left = (size_t)(c.end - c.p);
        const char *after = c.p + nr;

        if (left <= nr + 1 || memcmp(c.p, roles[i].word, nr) != 0 ||
            !(*after == ' ' || *after == '\t'))
            continue;
        while (after < c.end && (*after == ' ' || *after == '\t'))
            after++;
        if (after == c.end || *after == ':') /* a variable of that name */
            continue;
        rest.rest = (size_t)(after - pragma->text);
        return read_array(r, &rest, roles[i].role);
    }
    return read_array(r, pragma, ROLE_IN);
}

static bool read_phase_arrays(struct task_reader *r)
{
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];

        if ((is(p, "in") && !read_array(r, p, ROLE_IN)) ||
            (is(p, "out") && !read_array(r, p, ROLE_OUT)) ||
            (is(p, "inout") && !read_array(r, p, ROLE_INOUT)) ||
            (is(p, "symbol") && !read_symbol(r, p)) || (is(p, "scalar") && !read_scalar(r, p)))
            return false;
    }
    return true;
}

/* case "seed1": that folder has files of the same names as those on in and expect lines. */
static bool read_case(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct task *task = r->task;

    if (task->nr_cases == MAX_CHECKS)
        return cursor_fail(&c, c.p, "too many case lines; expected at most %d", MAX_CHECKS);
    return reader_quoted(&c, &task->cases[task->nr_cases++]) && cursor_end(&c, "the folder");
}

static bool read_phase_rest(struct task_reader *r)
{
    struct launch *reference = NULL;

    if (!reader_check_lines(r))
        return false;
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];

        if ((is(p, "tolerance") && !read_tolerance(r, p)) || (is(p, "work") && !read_work(r, p)) ||
            (is(p, "expect") && !read_expect(r, p)) || (is(p, "case") && !read_case(r, p)))
            return false;
        if (!is(p, "reference"))
            continue;
        if (reference) {
            struct cursor c = cursor_of(r->lines, p, r->arena, r->err);
            return cursor_fail(&c, c.p, "a second reference line; expected one");
        }
        reference = arena_alloc(r->arena, sizeof(*reference));
        if (!reader_launch(r, p, reference))
            return false;
        r->task->reference = reference;
    }
    return true;
}

/* Finds senseless arguments of generators now, and not in the middle of a run. */
static bool gen_valid(const struct task_array *array, const struct env *env, struct err *why)
{
    const struct gen *gen = &array->gen;
    int64_t a, b;

    if (gen->kind == GEN_UNIFORM && !gen->a_int && !gen->b_int && gen->a > gen->b)
        return err_set(
            why, "uniform(%g, %g) is empty; expected the smaller one first", gen->a, gen->b);
    if ((gen->a_int && !expr_eval(gen->a_int, env, &a, why)) ||
        (gen->b_int && !expr_eval(gen->b_int, env, &b, why)))
        return false;
    if (gen->a_int && gen->b_int && a > b && gen->kind != GEN_IOTA)
        return err_set(why,
            "the range %" PRId64 "..%" PRId64 " is empty; expected the smaller "
            "one first",
            a, b);
    return true;
}

static bool shape_valid(const struct task *task, const struct shape *shape, struct err *err)
{
    struct env env = plan_env(NULL, &(struct plan){0}, shape);
    struct err why;
    uint64_t nr;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        const struct task_array *array = &task->arrays[i];

        if (!array_elems(array, &env, &nr, &why) ||
            (array->role != ROLE_OUT && !gen_valid(array, &env, &why)))
            return err_set(err, "%.512s:%u:1: %s: %.1000s (sizes of line %u)", task->path,
                array->line, array->name, why.text, shape->line);
    }
    return true;
}

/* The text of launch_resolve without its "line N: ": the full place stands before it. */
static const char *cause(const struct err *why)
{
    const char *colon = strstr(why->text, ": ");

    return colon ? colon + 2 : why->text;
}

static bool launches_valid(
    const struct task *task, const struct shape *shape, struct arena *arena, struct err *err)
{
    struct env env = plan_env(arena, &task->plan, shape);
    struct launch_config config;
    struct err why;
    uint64_t nr;

    for (unsigned i = 0; i < task->plan.nr_temps; i++) {
        if (!array_elems(&task->plan.temps[i], &env, &nr, &why))
            return err_set(err, "%.512s:%u:1: %s: %.1000s (sizes of line %u)", task->path,
                task->plan.temps[i].line, task->plan.temps[i].name, why.text, shape->line);
    }
    for (unsigned i = 0; i < task->plan.nr_launches; i++) {
        if (!launch_resolve(&task->plan.launches[i], &env, &config, &why))
            return err_set(err, "%.512s:%u:1: %.1000s (sizes of line %u)", task->path,
                task->plan.launches[i].line, cause(&why), shape->line);
    }
    if (task->reference && !launch_resolve(task->reference, &env, &config, &why))
        return err_set(err, "%.512s:%u:1: %.1000s (sizes of line %u)", task->path,
            task->reference->line, cause(&why), shape->line);
    return true;
}

static bool validate(
    const struct task *task, const struct task_lines *lines, struct arena *arena, struct err *err)
{
    unsigned nr_out = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++)
        nr_out += task->arrays[i].role != ROLE_IN;
    if (nr_out == 0)
        return err_set(err, "%.512s:1:1: no output; expected an out or inout line", task->path);
    if (task->plan.nr_launches == 0)
        return err_set(err, "%.512s:1:1: no launch; expected a launch line", task->path);
    if (!lines->has_global)
        return err_set(err, "%.512s:1:1: no kernel; expected a __global__ function", task->path);
    if (!shape_valid(task, &task->timed, err) || !launches_valid(task, &task->timed, arena, err))
        return false;
    for (unsigned i = 0; i < task->nr_checks; i++) {
        if (!shape_valid(task, &task->checks[i], err) ||
            !launches_valid(task, &task->checks[i], arena, err))
            return false;
    }
    return true;
}

static bool read_sizes(struct task_reader *r)
{
    struct binding *sizes = arena_array(r->arena, MAX_NAMES, sizeof(*sizes));
    struct size_expr *exprs = arena_array(r->arena, MAX_NAMES, sizeof(*exprs));

    for (unsigned i = 0; i < r->lines->nr; i++) {
        if (is(&r->lines->pragmas[i], "size") && !read_size(r, &r->lines->pragmas[i], sizes, exprs))
            return false;
    }
    for (unsigned i = 0; i < r->lines->nr; i++) {
        if (is(&r->lines->pragmas[i], "check") && !read_check(r, &r->lines->pragmas[i], exprs))
            return false;
    }
    return true;
}

bool task_parse(struct task *task, struct arena *arena, const char *path, const char *source,
    size_t source_bytes, struct err *err)
{
    struct task_lines lines;
    struct task_reader *r;

    *task = (struct task){0};
    if (source_bytes > TASK_MAX_BYTES)
        return err_set(err, "%.512s:1:1: the file has %zu bytes; expected at most %d", path,
            source_bytes, TASK_MAX_BYTES);
    task->path = arena_strdup(arena, path);
    task->source = arena_strndup(arena, source, source_bytes);
    task->source_bytes = source_bytes;
    if (!task_lines_find(&lines, arena, task->path, task->source, source_bytes, err))
        return false;
    if (lines.nr == 0)
        return err_set(err,
            "%.512s:1:1: no `#pragma keet` lines; expected size, in, out and "
            "launch lines that describe the kernel",
            path);
    r = arena_alloc(arena, sizeof(*r));
    r->lines = &lines;
    r->arena = arena;
    r->err = err;
    r->task = task;
    r->contract = task;
    r->plan = &task->plan;
    task->arrays = arena_array(arena, MAX_NAMES + 1, sizeof(*task->arrays));
    task->scalars = arena_array(arena, MAX_NAMES + 1, sizeof(*task->scalars));
    task->cases = arena_array(arena, MAX_CHECKS + 1, sizeof(*task->cases));
    task->checks = arena_array(arena, MAX_CHECKS + 1, sizeof(*task->checks));
    for (unsigned i = 0; i < lines.nr; i++) {
        if (!statement_find(lines.pragmas[i].keyword))
            return reader_bad_keyword(r, &lines.pragmas[i]);
    }
    return read_sizes(r) && read_phase_arrays(r) && reader_plan(r) && read_phase_rest(r) &&
           validate(task, &lines, arena, err);
}

bool task_load(struct task *task, struct arena *arena, const char *path, struct err *err)
{
    char *text;
    size_t len;
    bool ok;

    if (!file_read(path, TASK_MAX_BYTES, &text, &len, err))
        return false;
    ok = task_parse(task, arena, path, text, len, err);
    free(text);
    return ok;
}
