/* Owns contracts from captured launches: of the capture alone, and of a text's contract with the
 * capture's data. */
#include "capture/capture.h"

#include "base/file.h"
#include "base/mem.h"
#include "core/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the capture alone: one size, in plain numbers --- */

static bool is_variable(const struct capture_memory *m)
{
    return strcmp(m->kind, "constant") == 0 || strcmp(m->kind, "variable") == 0;
}

/* A name that code can have: variables in namespaces and of other files do not. */
static bool is_plain(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!str_word_char(*c))
            return false;
    return !str_starts(name, "_Z");
}

static const char *relative(const char *path, const char *beside)
{
    const size_t len = strlen(beside);

    return str_starts(path, beside) && path[len] == '/' ? path + len + 1 : path;
}

/* What the launch stored into is a result, and an input as well where it had been written before.
 * The rest is an input, where the type does not say that the kernel could write it; what nobody had
 * written is an output. */
static enum role role_of(const struct capture_launch *l, unsigned memory)
{
    const struct capture_memory *m = &l->memories[memory];
    bool is_const = strcmp(m->kind, "constant") == 0;

    if (m->stored)
        return m->written ? ROLE_INOUT : ROLE_OUT;
    for (unsigned i = 0; i < l->nr_params; i++)
        for (unsigned j = 0; j < l->params[i].nr_pointers; j++)
            if (l->params[i].pointers[j].memory == memory)
                is_const |= capture_is_const(l->params[i].type);
    return is_const || m->written ? ROLE_IN : ROLE_OUT;
}

/* The contents that the program had, and the like of them for a check with other data. */
static void add_contents(
    struct str *lines, struct arena *arena, const struct capture_memory *m, const char *beside)
{
    const char *like = capture_like(arena, m, m->elem, &(struct env){0});

    if (m->before != NULL)
        str_addf(lines, " = file(\"%s\"%s%s)", relative(m->before, beside),
            like != NULL ? ", " : "", like != NULL ? like : "");
    else if (like != NULL)
        str_addf(lines, " = %s", like);
}

static bool add_array(struct str *lines, struct arena *arena, const struct capture_launch *l,
    unsigned memory, const char *beside, struct err *err)
{
    static const char *const words[] = {
        [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout"};
    const struct capture_memory *m = &l->memories[memory];
    const enum role role = role_of(l, memory);
    const uint64_t nr = m->bytes / elem_bytes(m->elem);

    if (m->addresses)
        return err_set(err, "%s holds addresses, which a task cannot describe", m->name);
    if (!m->kept)
        str_addf(lines, "// The %" PRIu64 " bytes of %s %s.\n", m->bytes, m->name,
            m->sample != NULL ? "were over the limit on what is kept (--limit): it gets the like "
                                "of its first ones"
                              : "could not be read when the launch was recorded");
    str_addf(lines, "#pragma keet %s%s %s : %s[%" PRIu64 "]", is_variable(m) ? "symbol " : "",
        words[role], m->name, elem_name(m->elem), nr);
    if (role != ROLE_OUT)
        add_contents(lines, arena, m, beside);
    str_add(lines, "\n");
    if (role != ROLE_IN && (m->after != NULL || (m->kept && !m->changed && m->before != NULL)))
        str_addf(lines, "#pragma keet expect %s = file(\"%s\")\n", m->name,
            relative(m->after != NULL ? m->after : m->before, beside));
    return true;
}

static bool add_arrays(struct str *lines, struct arena *arena, const struct capture_launch *l,
    const char *beside, unsigned *nr_outputs, struct err *err)
{
    for (unsigned i = 0; i < l->nr_memories; i++) {
        const struct capture_memory *m = &l->memories[i];

        if (is_variable(m) &&
            (m->name == NULL || !is_plain(m->name) || (!m->written && !m->stored)))
            continue;
        if (!add_array(lines, arena, l, i, beside, err))
            return false;
        *nr_outputs += role_of(l, i) != ROLE_IN;
    }
    return true;
}

static void add_address(
    struct str *args, const struct capture_launch *l, uint64_t offset, unsigned memory)
{
    const struct capture_memory *m = &l->memories[memory];

    str_add(args, m->name);
    if (offset > 0)
        str_addf(args, " + %" PRIu64, offset / elem_bytes(m->elem));
}

/* A struct by value: pointers as arrays, all else as 32-bit numbers of the same bits. */
static bool add_struct(
    struct str *args, const struct capture_launch *l, const struct capture_param *p)
{
    unsigned next = 0;

    str_add(args, "{");
    for (unsigned at = 0; at < p->bytes;) {
        uint32_t word = 0;

        str_add(args, at > 0 ? ", " : "");
        if (next < p->nr_pointers && p->pointers[next].at == at) {
            add_address(args, l, p->pointers[next].offset, p->pointers[next].memory);
            next++;
            at += 8;
            continue;
        }
        if (at + 4 > p->bytes) {
            str_addf(args, "%u : u8", p->data[at++]);
            continue;
        }
        memcpy(&word, p->data + at, 4);
        str_addf(args, "%" PRIu32 " : u32", word);
        at += 4;
    }
    str_add(args, "}");
    return true;
}

static bool add_real(
    struct str *lines, struct str *args, unsigned i, enum elem elem, const void *data)
{
    const double value = elem_get(elem, data, 0);

    str_addf(lines, "#pragma keet scalar arg%u : %s = %.17g\n", i, elem_name(elem), value);
    str_addf(args, "arg%u", i);
    return true;
}

/* One argument; a real number also gets a line of its own. */
static bool add_arg(struct str *lines, struct str *args, const struct capture_launch *l, unsigned i,
    struct err *err)
{
    const struct capture_param *p = &l->params[i];
    enum elem elem = p->bytes == 8 ? ELEM_I64 : ELEM_I32;
    const bool known = capture_elem(p->type, &elem) && elem_bytes(elem) == p->bytes;

    if (p->texture)
        return err_set(err, "argument %u is a texture or a surface", i);
    if (p->nr_pointers == 1 && p->bytes == 8) {
        add_address(args, l, p->pointers[0].offset, p->pointers[0].memory);
        return true;
    }
    if (p->type != NULL && strchr(p->type, '*') != NULL && p->bytes == 8 && p->nr_pointers == 0) {
        if (elem_get_int(ELEM_I64, p->data, 0) == 0) { /* there is nothing, and the kernel knows */
            str_add(args, "0");
            return true;
        }
        return err_set(err, "argument %u (%s) points to nothing that was allocated", i, p->type);
    }
    if (p->nr_pointers > 0 || (!known && p->bytes != 4 && p->bytes != 8))
        return add_struct(args, l, p);
    if (known && elem_is_float(elem))
        return add_real(lines, args, i, elem, p->data);
    str_addf(args, "%" PRId64, elem_get_int(elem, p->data, 0));
    return true;
}

static void add_extent(struct str *lines, const uint32_t *extent)
{
    if (extent[1] == 1 && extent[2] == 1)
        str_addf(lines, "%u", extent[0]);
    else
        str_addf(lines, "dim3(%u, %u, %u)", extent[0], extent[1], extent[2]);
}

bool capture_contract(struct str *lines, struct arena *arena, const struct capture_launch *l,
    const char *beside, struct err *err)
{
    struct str args = {0};
    unsigned nr_outputs = 0;
    bool ok = l->ran || err_set(err, "the launch did not run: %s",
                            l->fault != NULL ? l->fault : "the capture was dry, or was stopped");

    if (ok && strpbrk(l->name, "{#") != NULL) /* main::{lambda(float)#1} */
        ok = err_set(err, "it is made for a lambda or another type without a name");
    ok = ok && add_arrays(lines, arena, l, beside, &nr_outputs, err);
    if (ok && nr_outputs == 0)
        ok = err_set(err, "the launch stored into no memory of the program's");
    for (unsigned i = 0; ok && i < l->nr_params; i++) {
        str_add(&args, i > 0 ? ", " : "");
        ok = add_arg(lines, &args, l, i, err);
    }
    if (ok) {
        str_addf(lines, "#pragma keet launch %s<<<", l->name);
        add_extent(lines, l->grid);
        str_add(lines, ", ");
        add_extent(lines, l->block);
        if (l->smem_bytes > 0)
            str_addf(lines, ", %u", l->smem_bytes);
        str_addf(lines, ">>>(%s)", str_text(&args));
        if (l->cluster[0] > 0)
            str_addf(lines, " cluster(%u, %u, %u)", l->cluster[0], l->cluster[1], l->cluster[2]);
        str_add(lines, "\n");
    }
    str_finish(&args);
    return ok;
}

/* --- a text's contract --- */

const struct capture_memory *capture_memory_of(
    const struct task *task, const struct capture_launch *l, const char *array)
{
    const struct launch *launch = &task->plan.launches[0];

    for (unsigned i = 0; i < launch->nr_args && i < l->nr_params; i++) {
        const struct launch_arg *arg = &launch->args[i];

        if (arg->kind == ARG_ARRAY && arg->value == NULL && strcmp(arg->name, array) == 0)
            return l->params[i].nr_pointers == 1 && l->params[i].pointers[0].offset == 0
                       ? &l->memories[l->params[i].pointers[0].memory]
                       : NULL;
    }
    for (unsigned i = 0; i < l->nr_memories; i++)
        if (is_variable(&l->memories[i]) && strcmp(l->memories[i].name, array) == 0)
            return &l->memories[i];
    return NULL;
}

/* The type of a parameter that is one number: by its name, or else an integer of its bytes. */
static bool number_elem(const struct capture_param *p, enum elem *elem)
{
    *elem = p->bytes == 8 ? ELEM_I64 : ELEM_I32;
    if (p->type != NULL && strchr(p->type, '*') != NULL)
        return false;
    capture_elem(p->type, elem);
    return elem_bytes(*elem) == p->bytes;
}

static const char *number_text(struct arena *arena, enum elem elem, const void *data)
{
    if (!elem_is_float(elem))
        return arena_printf(arena, "%" PRId64, elem_get_int(elem, data, 0));
    return arena_printf(arena, elem_bytes(elem) == 8 ? "%.17g" : "%.9g", elem_get(elem, data, 0));
}

/* The number behind a name among arguments of which the first begins `data`; bytes is as much as
 * there is. */
static const char *number_among(struct arena *arena, const struct task *task,
    const struct launch_arg *arg, unsigned nr, const uint8_t *data, unsigned bytes,
    const char *name)
{
    unsigned at = 0;

    for (unsigned i = 0; i < nr; i++, arg++) {
        const bool integer = arg->kind == ARG_INTEGER, scalar = arg->kind == ARG_SCALAR;
        const enum elem elem = integer  ? arg->elem
                               : scalar ? task_find_scalar(task, arg->name)->elem
                                        : ELEM_I64;
        const unsigned each = elem_bytes(elem);

        at = (unsigned)round_up(at, each);
        if (at + each > bytes)
            return NULL;
        if ((integer && strcmp(expr_text(arg->value), name) == 0) ||
            (scalar && strcmp(arg->name, name) == 0))
            return number_text(arena, elem, data + at);
        at += each;
    }
    return NULL;
}

/* The number of an extent, where the array's bytes grow with it in steps of one length, and all
 * other names of the extents are known. */
static const char *number_of_extent(struct arena *arena, const struct task *task,
    const struct capture_launch *l, const struct env *known, const struct task_array *array,
    const char *name)
{
    const struct capture_memory *m = capture_memory_of(task, l, array->name);
    struct binding *bindings = arena_array(arena, known->nr + 1, sizeof(*bindings));
    const struct env env = {bindings, known->nr + 1};
    uint64_t nr, bytes[2];
    struct err err;

    for (size_t i = 0; i < known->nr; i++)
        bindings[i] = known->bindings[i];
    for (unsigned k = 0; k < 2; k++) {
        bindings[known->nr] = (struct binding){name, 1 + (int64_t)k};
        if (m == NULL || !array_elems(array, &env, &nr, &err))
            return NULL;
        bytes[k] = array_bytes(array, nr);
    }
    if (bytes[1] <= bytes[0] || m->bytes < bytes[0] ||
        (m->bytes - bytes[0]) % (bytes[1] - bytes[0]))
        return NULL;
    return arena_printf(arena, "%" PRIu64, 1 + (m->bytes - bytes[0]) / (bytes[1] - bytes[0]));
}

const char *capture_number(struct arena *arena, const struct task *task,
    const struct capture_launch *l, const struct env *known, const char *name)
{
    const struct launch *launch = &task->plan.launches[0];
    const char *number = NULL;

    for (unsigned i = 0; number == NULL && i < launch->nr_args && i < l->nr_params; i++) {
        const struct launch_arg *arg = &launch->args[i];
        const struct capture_param *p = &l->params[i];
        const bool is_struct = arg->kind == ARG_STRUCT;
        struct launch_arg alone = *arg;
        enum elem elem;

        if (arg->kind == ARG_INTEGER && !number_elem(p, &alone.elem))
            continue;
        if (arg->kind == ARG_SCALAR && strcmp(arg->name, name) == 0 &&
            capture_elem(p->type, &elem) && elem_bytes(elem) == p->bytes)
            return number_text(arena, elem, p->data); /* of the captured type */
        number = number_among(arena, task, is_struct ? arg->fields : &alone,
            is_struct ? arg->nr_fields : 1, p->data, p->bytes, name);
    }
    for (unsigned d = 0; number == NULL && d < 3; d++)
        if (strcmp(expr_text(launch->grid[d]), name) == 0)
            number = arena_printf(arena, "%u", l->grid[d]);
        else if (strcmp(expr_text(launch->block[d]), name) == 0)
            number = arena_printf(arena, "%u", l->block[d]);
    for (unsigned i = 0; number == NULL && i < task->nr_arrays; i++)
        number = number_of_extent(arena, task, l, known, &task->arrays[i], name);
    return number;
}

bool capture_type_of(
    const struct task *task, const struct capture_launch *l, const char *name, enum elem *elem)
{
    const struct launch *launch = &task->plan.launches[0];

    for (unsigned i = 0; i < launch->nr_args && i < l->nr_params; i++)
        if ((launch->args[i].kind == ARG_ARRAY || launch->args[i].kind == ARG_SCALAR) &&
            strcmp(launch->args[i].name, name) == 0)
            return capture_elem(l->params[i].type, elem);
    return false;
}

static const char *three(struct arena *arena, const uint32_t *x)
{
    return arena_printf(arena, "(%u, %u, %u)", x[0], x[1], x[2]);
}

static const char *config_differs(
    struct arena *arena, const struct launch_config *text, const struct capture_launch *l)
{
    if (memcmp(text->grid, l->grid, sizeof(l->grid)) != 0)
        return arena_printf(arena, "a grid of %s by the text, %s by the capture",
            three(arena, text->grid), three(arena, l->grid));
    if (memcmp(text->block, l->block, sizeof(l->block)) != 0)
        return arena_printf(arena, "a block of %s by the text, %s by the capture",
            three(arena, text->block), three(arena, l->block));
    if (text->smem_bytes != l->smem_bytes)
        return arena_printf(arena, "%u bytes of shared memory by the text, %u by the capture",
            text->smem_bytes, l->smem_bytes);
    return NULL;
}

static const char *array_differs(struct arena *arena, const struct task *task,
    const struct env *env, const struct capture_launch *l, const struct task_array *array)
{
    const struct capture_memory *m = capture_memory_of(task, l, array->name);
    struct err err;
    uint64_t nr;

    if (m == NULL)
        return arena_printf(arena, "%s is not where the text passes it", array->name);
    if (!array_elems(array, env, &nr, &err))
        return err.text[0] ? arena_strdup(arena, err.text) : "an extent";
    if (array_bytes(array, nr) != m->bytes)
        return arena_printf(arena,
            "%s has %" PRIu64 " bytes by the text, %" PRIu64 " by the capture", array->name,
            array_bytes(array, nr), m->bytes);
    if (array->role == ROLE_IN && m->stored)
        return arena_printf(arena, "the launch stored into %s, an input by the text", array->name);
    return NULL;
}

/* Two numbers of a type, one of them from a text's arithmetic. */
static bool same_number(enum elem elem, double value, const void *data)
{
    const double captured = elem_get(elem, data, 0);

    if (!elem_is_float(elem))
        return fabs(value) < 0x1p63 && (int64_t)value == elem_get_int(elem, data, 0);
    return value == captured || (isnan(value) && isnan(captured)) ||
           fabs(value - captured) <= elem_tolerance(elem).rel * fabs(captured);
}

static const char *scalar_differs(
    struct arena *arena, const struct task_scalar *scalar, const struct capture_param *p)
{
    enum elem elem = scalar->elem;

    if (elem_bytes(elem) != p->bytes)
        return arena_printf(arena, "%s is of %u bytes by the capture", scalar->name, p->bytes);
    if (capture_elem(p->type, &elem) && elem_is_float(elem) != elem_is_float(scalar->elem))
        return arena_printf(arena, "%s is %s by the text, %s by the capture", scalar->name,
            elem_name(scalar->elem), elem_name(elem));
    if (!same_number(elem, scalar->value, p->data))
        return arena_printf(arena, "%s is %.10g by the text, %s by the capture", scalar->name,
            scalar->value, number_text(arena, elem, p->data));
    return NULL;
}

static const char *arg_differs(struct arena *arena, const struct task *task, const struct env *env,
    const struct capture_launch *l, unsigned i)
{
    const struct launch_arg *arg = &task->plan.launches[0].args[i];
    const struct capture_param *p = &l->params[i];
    struct err err;
    enum elem elem;
    int64_t value;

    if (arg->kind == ARG_SCALAR)
        return scalar_differs(arena, task_find_scalar(task, arg->name), p);
    if (arg->kind != ARG_INTEGER)
        return NULL;
    if (p->nr_pointers > 0)
        return arena_printf(arena, "argument %u is an address by the capture", i);
    if (!number_elem(p, &elem))
        return NULL;
    if (elem_is_float(elem))
        return arena_printf(arena, "argument %u is a real number by the capture", i);
    if (!expr_eval(arg->value, env, &value, &err))
        return arena_strdup(arena, err.text);
    return value == elem_get_int(elem, p->data, 0)
               ? NULL
               : arena_printf(arena,
                     "argument %u is %" PRId64 " by the text, %" PRId64 " by the capture", i, value,
                     elem_get_int(elem, p->data, 0));
}

const char *capture_disagrees(
    struct arena *arena, const struct task *task, const struct capture_launch *l)
{
    const struct env env = plan_env(arena, &task->plan, &task->timed);
    struct launch_config config;
    const char *why;
    struct err err;

    if (task->plan.nr_launches != 1)
        return arena_printf(arena, "%u launches by the text", task->plan.nr_launches);
    if (strcmp(task->plan.launches[0].kernel, l->name) != 0)
        return arena_printf(arena, "the text launches %s", task->plan.launches[0].kernel);
    if (task->plan.launches[0].nr_args != l->nr_params)
        return arena_printf(arena, "%u arguments by the text, %u by the capture",
            task->plan.launches[0].nr_args, l->nr_params);
    if (!launch_resolve(&task->plan.launches[0], &env, &config, &err))
        return arena_strdup(arena, err.text);
    why = config_differs(arena, &config, l);
    for (unsigned i = 0; why == NULL && i < task->nr_arrays; i++)
        why = array_differs(arena, task, &env, l, &task->arrays[i]);
    for (unsigned i = 0; why == NULL && i < l->nr_params; i++)
        why = arg_differs(arena, task, &env, l, i);
    return why;
}

/* The same bytes as elements of the task's type. */
static bool copy_as(const char *to, enum elem elem, const struct capture_memory *m, struct err *err)
{
    const uint64_t nr = m->bytes / elem_bytes(elem);
    void *elems = malloc(m->bytes + 1);
    const bool ok = elems != NULL &&
                    npy_read(m->before, m->elem, elems, m->bytes / elem_bytes(m->elem), err) &&
                    npy_write(to, elem, elems, &nr, 1, err);

    free(elems);
    return ok;
}

bool capture_case(struct arena *arena, const struct task *task, const struct capture_launch *l,
    const char *folder, struct err *err)
{
    bool ok = file_mkdirs(folder, err);

    for (unsigned i = 0; ok && i < task->nr_arrays; i++) {
        const struct task_array *array = &task->arrays[i];
        const struct capture_memory *m = capture_memory_of(task, l, array->name);

        if (array->role == ROLE_OUT || array->record || m->before == NULL ||
            (m->elem != array->elem && m->elem != ELEM_U8))
            continue;
        ok = copy_as(arena_printf(arena, "%s/%s.npy", folder, array->name), array->elem, m, err);
    }
    return ok;
}
