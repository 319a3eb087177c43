/* Private to the task language: the common part of the readers of contract lines (task.c) and plan
 * lines (task_plan.c). */
#ifndef KEET_CORE_TASK_READ_H
#define KEET_CORE_TASK_READ_H

#include "core/task.h"
#include "core/task_lines.h"

enum {
    MAX_NAMES = 256, /* sizes, arrays, scalars, temps and tunes together */
    MAX_CHECKS = 64,
    MAX_LAUNCHES = 64,
    MAX_CHOICES = 64,
    MAX_ARGS = 64,
    MAX_FIELDS = 4096, /* of one struct; a parameter has at most as many bytes */
    MAX_WHERES = 64
};

struct task_reader {
    const struct task_lines *lines;
    struct arena *arena;
    struct err *err;
    struct task *task;           /* being filled; NULL while reading a candidate's plan */
    const struct task *contract; /* == task while reading the original */
    struct plan *plan;
    struct binding names[MAX_NAMES]; /* every name that is taken; the values mean nothing */
    size_t nr_names;
    struct env plan_env; /* sizes (timed) and tunes */
};

/* The row of a keyword: whether it belongs to the contract. NULL when unknown. */
struct statement {
    const char *keyword;
    bool contract;
};
const struct statement *statement_find(const char *keyword);

/* Error at a pragma line whose keyword is unknown; always false. */
bool reader_bad_keyword(struct task_reader *r, const struct pragma *pragma);

/* Takes a name; false with an error where the name is reserved or taken. */
bool reader_claim(struct task_reader *r, const struct cursor *c, const char *at, const char *name);

/* "NAME : type[dims]" of in, out, inout and temp lines, up to its bracket. */
bool reader_array(struct task_reader *r, struct cursor *c, const struct env *env, enum role role,
    struct task_array *array);

/* A generator: uniform(-1, 1), file("x.npy", sorted(0, n)). */
bool reader_gen(struct cursor *c, const struct env *env, struct gen *gen);
/* "x.npy", in its quotes */
bool reader_quoted(struct cursor *c, const char **path);
/* Between two items: *more says whether another one follows. */
bool reader_comma(struct cursor *c, bool *more);

/* texture(x, width, ...) as an argument. *is false: the argument is something else, and nothing is
 * read. */
bool reader_texture(struct task_reader *r, struct cursor *c, struct launch_arg *arg, bool *is);

/* tensor_map(x, box(..), ...), likewise. */
bool reader_tensor_map(struct task_reader *r, struct cursor *c, struct launch_arg *arg, bool *is);

/* The type of an array of structs: "{f32, i32, f64[3]}". */
bool reader_record(struct task_reader *r, struct cursor *c, const struct struct_type **record);

/* Reads assume, fixed, inputs and pytorch lines into r->task, once the sizes and scalars are read.
 */
bool reader_check_lines(struct task_reader *r);

/* Reads all tune, temp, where and launch lines into r->plan. */
bool reader_plan(struct task_reader *r);

/* Reads the rest of a line behind `launch` or `reference`. */
bool reader_launch(struct task_reader *r, const struct pragma *pragma, struct launch *launch);

/* Is each contract line of the candidate (r->lines) also one of the original? Defined in
 * task_contract.c. */
bool contract_holds(const struct task_reader *r);

#endif
