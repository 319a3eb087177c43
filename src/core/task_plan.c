/* Owns the plan: tune, temp, where and launch lines, of the original and of candidates. */
#include "base/file.h"
#include "core/plan_tunes.h"
#include "core/task_read.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static bool is(const struct pragma *pragma, const char *keyword)
{
    return strcmp(pragma->keyword, keyword) == 0;
}

static bool read_choices(struct cursor *c, struct tune *tune)
{
    struct cursor list;
    const struct env nothing = {NULL, 0};
    int64_t *choices = arena_array(c->arena, MAX_CHOICES, sizeof(*choices));

    if (!cursor_expect(c, "{", "no choices"))
        return false;
    list = cursor_until(c, "}");
    do {
        struct cursor item;

        cursor_skip(&list);
        item = cursor_until(&list, ",");
        if (tune->nr_choices == MAX_CHOICES)
            return cursor_fail(&list, item.p, "too many choices; expected at most %d", MAX_CHOICES);
        if (!cursor_value(&item, &nothing, &choices[tune->nr_choices]))
            return false;
        tune->nr_choices++;
    } while (cursor_take(&list, ","));
    tune->choices = choices;
    return cursor_expect(c, "}", "open choices") && cursor_end(c, "the choices");
}

static bool read_tune(struct task_reader *r, const struct pragma *pragma, struct binding *bindings)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err), value;
    struct tune *tune = &r->plan->tunes[r->plan->nr_tunes];
    const struct env nothing = {NULL, 0};
    const char *at = c.p;
    int64_t *alone;

    *tune = (struct tune){.line = pragma->line};
    if (!cursor_name(&c, &tune->name, "a tuning parameter, as in TILE = 16 in {8, 16, 32}") ||
        !reader_claim(r, &c, at, tune->name) || !cursor_expect(&c, "=", "no value for the name"))
        return false;
    cursor_skip(&c);
    value = cursor_until(&c, "in");
    at = value.p;
    if (!cursor_value(&value, &nothing, &tune->value))
        return false;
    if (cursor_take(&c, "in")) {
        bool found = false;

        if (!read_choices(&c, tune))
            return false;
        for (unsigned i = 0; i < tune->nr_choices; i++)
            found |= tune->choices[i] == tune->value;
        if (!found)
            return cursor_fail(&c, at,
                "%s = %" PRId64 " is not among the choices; expected one "
                "of them",
                tune->name, tune->value);
    } else {
        alone = arena_alloc(r->arena, sizeof(*alone));
        *alone = tune->value;
        tune->choices = alone;
        tune->nr_choices = 1;
    }
    bindings[r->plan_env.nr++] = (struct binding){tune->name, tune->value};
    r->plan->nr_tunes++;
    return true;
}

static bool read_temp(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    struct task_array *temp = &r->plan->temps[r->plan->nr_temps];

    *temp = (struct task_array){0};
    if (!reader_array(r, &c, &r->plan_env, ROLE_TEMP, temp))
        return false;
    r->plan->nr_temps++;
    return cursor_end(&c, "the scratch array");
}

static bool read_where(struct task_reader *r, const struct pragma *pragma)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err);
    const char *at = c.p;
    int64_t value;
    struct err why;

    if (r->plan->nr_wheres == MAX_WHERES)
        return cursor_fail(&c, at, "too many where lines; expected at most %d", MAX_WHERES);
    if (!cursor_expr(&c, &r->plan_env, &r->plan->wheres[r->plan->nr_wheres]))
        return false;
    if (!expr_eval(r->plan->wheres[r->plan->nr_wheres], &r->plan_env, &value, &why))
        return cursor_fail(&c, at, "%s", why.text);
    if (!value)
        return cursor_fail(&c, at,
            "the condition does not hold for the chosen values; expected "
            "values before `in` that satisfy it");
    r->plan->nr_wheres++;
    return true;
}

/* A kernel: name, name::name, name<int, 4>. */
static bool read_kernel(struct cursor *c, const char **kernel)
{
    const char *name, *from;
    int depth = 0;

    cursor_skip(c);
    from = c->p;
    if (!cursor_name(c, &name, "a kernel, as in add<<<grid, block>>>(A, B)"))
        return false;
    while (cursor_take(c, "::")) {
        if (!cursor_name(c, &name, "a name after ::"))
            return false;
    }
    cursor_skip(c);
    for (; c->p < c->end; c->p++) {
        depth += *c->p == '<' || *c->p == '(';
        depth -= *c->p == '>' || *c->p == ')';
        if (depth < 0 || (c->end - c->p > 1 && c->p[0] == '<' && c->p[1] == '<')) {
            depth = -1;
            break;
        }
        if (depth == 0 && *c->p != '>' && *c->p != ')' && !isspace((unsigned char)*c->p))
            break;
    }
    if (depth != 0 || c->p < c->end)
        return cursor_fail(c, c->p, "not a kernel; expected a name or a template-id before <<<");
    while (c->p > from && isspace((unsigned char)c->p[-1]))
        c->p--;
    *kernel = arena_strndup(c->arena, from, (size_t)(c->p - from));
    return true;
}

/* dim3(x[, y[, z]]) or cluster(...) arguments: the cursor stands after the parenthesis. */
static bool read_dims(struct cursor *c, const struct env *env, const struct expr *dims[3])
{
    struct cursor list = cursor_until(c, ")");
    int nr = 0;

    do {
        struct cursor item;

        cursor_skip(&list);
        item = cursor_until(&list, ",");
        if (nr == 3)
            return cursor_fail(&list, item.p, "too many dimensions; expected at most 3");
        if (!cursor_expr(&item, env, &dims[nr++]))
            return false;
    } while (cursor_take(&list, ","));
    return cursor_expect(c, ")", "an open parenthesis");
}

static bool read_extent(struct cursor *c, const struct env *env, const struct expr *dims[3])
{
    const char *from = c->p;

    if (cursor_take(c, "dim3")) {
        return cursor_expect(c, "(", "dim3 without values") && read_dims(c, env, dims) &&
               cursor_end(c, "dim3(...)");
    }
    c->p = from;
    return cursor_expr(c, env, &dims[0]);
}

/* The list between <<< and >>>. */
static bool read_config(struct cursor *c, const struct env *env, struct launch *launch)
{
    struct cursor part;

    part = cursor_until(c, ",");
    if (!read_extent(&part, env, launch->grid) ||
        !cursor_expect(c, ",", "no block size after the grid"))
        return false;
    cursor_skip(c);
    part = cursor_until(c, ",");
    if (!read_extent(&part, env, launch->block))
        return false;
    if (!cursor_take(c, ","))
        return true;
    cursor_skip(c);
    part = cursor_until(c, ",");
    if (!cursor_expr(&part, env, &launch->smem_bytes))
        return false;
    return cursor_done(c) || cursor_fail(c, c->p,
                                 "a stream in the launch; expected grid, block and bytes of shared "
                                 "memory only");
}

static bool is_name(const struct cursor *c)
{
    const char *p = c->p;

    if (p == c->end || isdigit((unsigned char)*p))
        return false;
    while (p < c->end && (isalnum((unsigned char)*p) || *p == '_'))
        p++;
    return p == c->end;
}

/* An argument that is one name and no size or tune: error with every name it could have been. */
static bool unknown_arg(struct task_reader *r, const struct cursor *c, const char *name)
{
    struct env all = {r->names, r->nr_names};

    return cursor_unknown(c, c->p, name, &all, "an array, a scalar, a size or a tuning parameter");
}

/* NAME + EXPR, where NAME is an array. *is false: the argument is something else, and nothing is
 * read. */
static bool read_inside(struct task_reader *r, struct cursor *c, struct launch_arg *arg, bool *is)
{
    const char *plus = memchr(c->p, '+', (size_t)(c->end - c->p)), *end = plus;

    *is = false;
    while (end && end > c->p && isspace((unsigned char)end[-1]))
        end--;
    if (!end || end == c->p)
        return true;
    const char *name = arena_strndup(c->arena, c->p, (size_t)(end - c->p));
    const struct task_array *array = task_find_array(r->contract, r->plan, name);
    struct cursor rest = cursor_part(c, plus + 1, c->end);

    if (!array)
        return true;
    *is = true;
    arg->kind = ARG_ARRAY;
    arg->name = array->name;
    return cursor_expr(&rest, &r->plan_env, &arg->value);
}

static bool read_arg(struct task_reader *r, struct cursor *c, struct launch_arg *arg)
{
    const struct task_array *array;
    const struct task_scalar *scalar;
    const char *name;
    double real;
    bool inside;

    if (is_name(c)) {
        name = arena_strndup(c->arena, c->p, (size_t)(c->end - c->p));
        array = task_find_array(r->contract, r->plan, name);
        scalar = task_find_scalar(r->contract, name);
        if (array || scalar) {
            arg->kind = array ? ARG_ARRAY : ARG_SCALAR;
            arg->name = array ? array->name : scalar->name;
            return true;
        }
        for (size_t i = 0; i < r->plan_env.nr; i++) {
            if (strcmp(r->plan_env.bindings[i].name, name) == 0)
                return cursor_expr(c, &r->plan_env, &arg->value);
        }
        return unknown_arg(r, c, name);
    }
    if (!read_inside(r, c, arg, &inside))
        return false;
    if (inside)
        return true;
    if (cursor_is_real(c, &real) && memchr(c->p, '.', (size_t)(c->end - c->p)))
        return cursor_fail(c, c->p,
            "a real number as an argument; expected the name of a scalar "
            "line, as in `scalar alpha : f32 = 1.5`");
    return cursor_expr(c, &r->plan_env, &arg->value);
}

/* A list of arguments, or of the fields of one. */
static bool read_list(struct task_reader *r, struct cursor *list, unsigned most, const char *what,
    bool (*read)(struct task_reader *, struct cursor *, struct launch_arg *),
    const struct launch_arg **args, unsigned *nr)
{
    struct launch_arg *items;
    struct cursor count = *list;
    unsigned nr_items = 1;

    *nr = 0;
    if (cursor_done(list))
        return true;
    for (cursor_until(&count, ","); cursor_take(&count, ","); cursor_until(&count, ","))
        nr_items++;
    if (nr_items > most)
        return cursor_fail(list, list->p, "too many %s; expected at most %u", what, most);
    *args = items = arena_array(r->arena, nr_items, sizeof(*items));
    do {
        struct cursor item;

        cursor_skip(list);
        item = cursor_until(list, ",");
        items[*nr] = (struct launch_arg){.kind = ARG_INTEGER};
        if (!read(r, &item, &items[*nr]))
            return false;
        ++*nr;
    } while (cursor_take(list, ","));
    return true;
}

/* NAME of an array or a scalar, or EXPR : TYPE. */
static bool read_field(struct task_reader *r, struct cursor *c, struct launch_arg *field)
{
    const char *name, *from = c->p, *type, *from_type;
    struct cursor value = *c;
    bool inside;

    while (c->end > c->p && c->end[-1] != ':')
        c->end--;
    if (c->end == c->p) { /* no type */
        value.p = from;
        if (!read_inside(r, &value, field, &inside))
            return false;
        if (inside)
            return true;
        if (!is_name(&value))
            return cursor_fail(&value, from,
                "a field without a type; expected the name of an array or of a scalar, or "
                "an integer with its type as in `n : i32`");
        return read_arg(r, &value, field) &&
               (field->kind != ARG_INTEGER ||
                   cursor_fail(c, from,
                       "%.*s is an integer; expected its type too, as in `%.*s : i32`",
                       (int)(value.end - from), from, (int)(value.end - from), from));
    }
    type = c->end;
    *c = cursor_part(&value, type, value.end);
    from_type = c->p;
    if (!cursor_name(c, &name, "a type, as in `n : i32`") || !cursor_end(c, "the type of a field"))
        return false;
    if (!elem_parse(name, strlen(name), &field->elem) || elem_is_float(field->elem))
        return cursor_fail(c, from_type,
            "`%s` is no type of an integer; expected i8 to i64, u8 to u64 or "
            "bool (a real number is a scalar: `scalar alpha : f32 = 1.5`)",
            name);
    value = cursor_part(&value, from, type - 1);
    return cursor_expr(&value, &r->plan_env, &field->value);
}

static bool read_argument(struct task_reader *r, struct cursor *c, struct launch_arg *arg)
{
    const char *from = c->p;
    struct cursor list;
    bool is_texture, is_map;

    if (!reader_texture(r, c, arg, &is_texture))
        return false;
    if (is_texture)
        return true;
    if (!reader_tensor_map(r, c, arg, &is_map))
        return false;
    if (is_map)
        return true;
    if (!cursor_take(c, "{"))
        return read_arg(r, c, arg);
    arg->kind = ARG_STRUCT;
    arg->name = arena_strndup(r->arena, from, (size_t)(c->end - from));
    list = cursor_until(c, "}");
    return cursor_expect(c, "}", "an open brace") && cursor_end(c, "the fields of a struct") &&
           read_list(r, &list, MAX_FIELDS, "fields", read_field, &arg->fields, &arg->nr_fields);
}

static bool read_args(struct task_reader *r, struct cursor *c, struct launch *launch)
{
    struct cursor list;

    if (!cursor_expect(c, "(", "a launch without arguments"))
        return false;
    list = cursor_until(c, ")");
    return read_list(
               r, &list, MAX_ARGS, "arguments", read_argument, &launch->args, &launch->nr_args) &&
           cursor_expect(c, ")", "an open parenthesis");
}

bool reader_launch(struct task_reader *r, const struct pragma *pragma, struct launch *launch)
{
    struct cursor c = cursor_of(r->lines, pragma, r->arena, r->err), part;
    const char *end = c.end;
    const struct expr *one = expr_literal(r->arena, 1);

    *launch = (struct launch){.line = pragma->line};
    while (end > c.p && isspace((unsigned char)end[-1]))
        end--;
    launch->text = arena_strndup(r->arena, c.p, (size_t)(end - c.p));
    for (int i = 0; i < 3; i++)
        launch->grid[i] = launch->block[i] = launch->cluster[i] = one;
    launch->smem_bytes = expr_literal(r->arena, 0);
    part = cursor_until(&c, "<<<");
    if (!read_kernel(&part, &launch->kernel) ||
        !cursor_expect(&c, "<<<", "a kernel without a launch configuration"))
        return false;
    cursor_skip(&c);
    part = cursor_until(&c, ">>>");
    if (!cursor_expect(&c, ">>>", "an open launch configuration") ||
        !read_config(&part, &r->plan_env, launch) || !read_args(r, &c, launch))
        return false;
    if (cursor_take(&c, "cluster") && (!cursor_expect(&c, "(", "cluster without values") ||
                                          !read_dims(&c, &r->plan_env, launch->cluster)))
        return false;
    cursor_take(&c, ";");
    return cursor_end(&c, "the launch");
}

static bool read_launches(struct task_reader *r)
{
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];

        if (!is(p, "launch"))
            continue;
        if (r->plan->nr_launches == MAX_LAUNCHES) {
            struct cursor c = cursor_of(r->lines, p, r->arena, r->err);
            return cursor_fail(&c, c.p, "too many launches; expected at most %d", MAX_LAUNCHES);
        }
        if (!reader_launch(r, p, &r->plan->launches[r->plan->nr_launches]))
            return false;
        r->plan->nr_launches++;
    }
    return true;
}

static bool read_tunes(struct task_reader *r)
{
    const struct env *sizes = &r->contract->timed.sizes;
    struct binding *bindings = arena_array(r->arena, sizes->nr + MAX_NAMES + 1, sizeof(*bindings));

    r->plan->tunes = arena_array(r->arena, MAX_NAMES + 1, sizeof(*r->plan->tunes));
    for (size_t i = 0; i < sizes->nr; i++)
        bindings[i] = sizes->bindings[i];
    r->plan_env = (struct env){bindings, sizes->nr};
    for (unsigned i = 0; i < r->lines->nr; i++) {
        if (is(&r->lines->pragmas[i], "tune") && !read_tune(r, &r->lines->pragmas[i], bindings))
            return false;
    }
    return true;
}

bool reader_plan(struct task_reader *r)
{
    struct plan *plan = r->plan;

    plan->launches = arena_array(r->arena, MAX_LAUNCHES, sizeof(*plan->launches));
    plan->temps = arena_array(r->arena, MAX_NAMES + 1, sizeof(*plan->temps));
    plan->wheres = arena_array(r->arena, MAX_WHERES, sizeof(*plan->wheres));
    if (!read_tunes(r))
        return false;
    for (unsigned i = 0; i < r->lines->nr; i++) {
        const struct pragma *p = &r->lines->pragmas[i];

        if ((is(p, "temp") && !read_temp(r, p)) || (is(p, "where") && !read_where(r, p)))
            return false;
    }
    return read_launches(r);
}

/* The names of the contract are taken before the candidate adds its own. */
static void claim_contract(struct task_reader *r)
{
    const struct task *task = r->contract;

    for (size_t i = 0; i < task->timed.sizes.nr; i++)
        r->names[r->nr_names++] = task->timed.sizes.bindings[i];
    for (unsigned i = 0; i < task->nr_arrays; i++)
        r->names[r->nr_names++] = (struct binding){task->arrays[i].name, 0};
    for (unsigned i = 0; i < task->nr_scalars; i++)
        r->names[r->nr_names++] = (struct binding){task->scalars[i].name, 0};
}

bool plan_parse(struct plan *plan, const struct task *task, struct arena *arena, const char *source,
    size_t source_bytes, enum verdict *verdict, struct err *why)
{
    struct task_lines lines;
    struct task_reader *r = arena_alloc(arena, sizeof(*r));
    const char *path = file_name(task->path);
    unsigned nr_plan_lines = 0;

    *plan = (struct plan){0};
    *verdict = VERDICT_CONTRACT;
    if (source_bytes > TASK_MAX_BYTES)
        return err_set(why, "%.512s:1:1: the candidate has %zu bytes; expected at most %d", path,
            source_bytes, TASK_MAX_BYTES);
    if (!task_lines_find(&lines, arena, path, source, source_bytes, why))
        return false;
    *r = (struct task_reader){
        .lines = &lines, .arena = arena, .err = why, .contract = task, .plan = plan};
    for (unsigned i = 0; i < lines.nr; i++) {
        const struct statement *statement = statement_find(lines.pragmas[i].keyword);

        if (!statement)
            return reader_bad_keyword(r, &lines.pragmas[i]);
        nr_plan_lines += !statement->contract;
    }
    if (!contract_holds(r))
        return false;
    if (!lines.has_global) {
        *verdict = VERDICT_NO_KERNEL;
        return err_set(why, "%.512s:1:1: no kernel; expected a __global__ function", path);
    }
    if (nr_plan_lines == 0) {
        *plan = task->plan;
        *verdict = VERDICT_OK;
        return true;
    }
    claim_contract(r);
    if (!reader_plan(r))
        return false;
    if (plan->nr_launches == 0) {
        *verdict = VERDICT_NO_KERNEL;
        return err_set(why,
            "%.512s:1:1: tune, temp or where lines without a launch; expected a "
            "launch line",
            path);
    }
    *verdict = VERDICT_OK;
    return true;
}

bool plan_parse_tunes(struct plan *plan, const struct task *task, struct arena *arena,
    const char *source, size_t source_bytes)
{
    struct task_lines lines;
    struct err ignored;
    struct task_reader *r = arena_alloc(arena, sizeof(*r));
    bool own = false;

    *plan = (struct plan){0};
    if (!task_lines_find(&lines, arena, "", source, source_bytes, &ignored))
        return false;
    *r = (struct task_reader){
        .lines = &lines, .arena = arena, .err = &ignored, .contract = task, .plan = plan};
    for (unsigned i = 0; i < lines.nr && !own; i++) {
        const struct statement *statement = statement_find(lines.pragmas[i].keyword);

        own = statement && !statement->contract;
    }
    if (!own) {
        *plan = task->plan;
        return true;
    }
    claim_contract(r);
    return read_tunes(r);
}
