/* Private to intake/: what the host code says about a launch: where it stands, what its expressions
 * come down to, and how much memory a pointer has. */
#ifndef KEET_INTAKE_EVAL_RESOLVER_H
#define KEET_INTAKE_EVAL_RESOLVER_H

#include "base/str.h"
#include "intake/syntax/decls.h"

#include <stdint.h>

enum {
    LAUNCH_MAX_ARGS = 64,
    MAX_TEMPLATE_ARGS = 32,
    INTAKE_MAX_SIZES = 64,
    INTAKE_MAX_ARRAYS = 64,
    INTAKE_MAX_LAUNCHES = 16
};

struct site {           /* kernel<<<config>>>(args) */
    const char *kernel; /* without template arguments and namespaces */
    const char *id;     /* as written */
    struct tok_range template_args[MAX_TEMPLATE_ARGS];
    unsigned nr_template_args;
    struct tok_range config[4], args[LAUNCH_MAX_ARGS];
    unsigned nr_config, nr_args;
    unsigned from, at, line; /* the tokens of id's first word and of <<<, or of a macro's call */
    const struct tok *place; /* the token <<< itself; NULL: at */
};

struct size { /* a number that the contract gives a name */
    const char *name;
    int64_t value;
    bool known; /* false: the file does not say; the user must */
    unsigned line;
};

struct macro {
    const char *name;
    struct toks toks; /* of the body */
    const char *params[8];
    unsigned nr_params;
    bool is_function;
    unsigned line;
};

struct source_set;
struct interp;

struct resolver_mode {
    bool fixed;  /* no new sizes: a number that is not one yet is written out */
    bool strict; /* what the file does not say fails, and does not become a size */
};

struct resolver {
    struct arena *arena;
    const struct toks *toks;
    const struct decls *decls;
    struct macro *macros;
    unsigned nr_macros;
    struct size sizes[INTAKE_MAX_SIZES];
    unsigned nr_sizes;
    const char *arrays[INTAKE_MAX_ARRAYS]; /* names that no new size may have */
    unsigned nr_arrays;
    struct resolver_mode mode;
    bool drop_sizeof;             /* sizeof(...) is 1 */
    const struct decl *bound;     /* a function that is looked at as one call of it says, */
    unsigned bound_at;            /* the token of its name there */
    const struct source_set *set; /* where lines come from */
    unsigned own_tokens;          /* of the user's file; behind them, the program's other files */
    const struct interp *interp;  /* numbers that variables had; NULL: none */
    const char *why;              /* the last thing that could not be resolved */
    unsigned nr_steps;            /* bounds the work */
    unsigned launched[INTAKE_MAX_LAUNCHES]; /* the token <<< of each launch of the contract, */
    const struct decl *kernels[INTAKE_MAX_LAUNCHES]; /* and what it launches */
};

/* Also says in toks, decls->toks, which of them surely do not count. */
void resolver_init(
    struct resolver *resolver, struct arena *arena, const struct decls *decls, struct toks *toks);

/* The word after a directive's #, and what stands behind it. */
const char *resolver_directive(const struct tok *t, const char **rest);

/* #if, #ifdef, #elif: whether its lines count. *sure: the condition is one number, or whether one
 * macro is defined that is no compiler's. */
bool resolver_holds(const struct resolver *resolver, const struct tok *t, bool *sure);

/* dim3 grid; grid.x = ...; grid.y = ...: each member's last value before `at`; an empty range where
 * it has none. False: no member is given one. */
bool resolver_dim3_members(
    const struct resolver *resolver, const char *name, unsigned at, struct tok_range members[3]);

/* The launches of the file in order; heap array of *nr sites. */
struct site *resolver_launches(struct resolver *resolver, unsigned *nr);

/* The function that token `at` stands in, NULL outside of all. */
const struct decl *resolver_function_at(const struct resolver *resolver, unsigned at);

/* Adds `more` to the resolver's mode. Returns the mode that it had, to be put back into it. */
struct resolver_mode resolver_restrict(struct resolver *resolver, struct resolver_mode more);

/* An integer expression as text of the task language, over sizes; `at` is where it stands. False:
 * resolver->why. */
bool resolver_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out);

/* The same with what is known as it is: it makes no size, and what the file does not say fails. */
bool resolver_known_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out);

/* The number that it then comes to. */
bool resolver_constant(
    struct resolver *resolver, struct tok_range range, unsigned at, int64_t *value);

/* What text over sizes comes to. False: it has sizes without a number, or divides by 0. */
bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value);

/* Used by the device code that stays: the number is not free to change. */
bool resolver_device_uses(const struct resolver *resolver, const char *name);

/* The size of that name; NULL: there is none. */
const struct size *resolver_size(const struct resolver *resolver, const char *name);

/* A size that the file does not give: its name, for the user to complete; NULL: too many sizes. */
const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line);

/* A real number: literals, names, constant arithmetic. False: the file does not say. */
bool resolver_real(struct resolver *resolver, struct tok_range range, unsigned at, double *value);

/* What a type's name stands for where token `at` is: through typedefs, using, macros and the
 * template parameters of the function around. The result is one of spelling_elem where it can be.
 */
const char *resolver_type(struct resolver *resolver, const char *type, unsigned at);

/* The number type that a variable which an argument names was declared with; NULL: it is no such.
 */
const char *resolver_type_of(struct resolver *resolver, struct tok_range arg, unsigned at);

/* Token `at` stands under an if whose condition is known to be false, or under its else. */
bool resolver_unreached(struct resolver *resolver, unsigned at);

/* Definition of a name: the tokens of its initialiser, or of what it is set to between that and
 * `before`, in no block that ends before. False: none was found, or it is made of the name itself.
 * *at: where they stand. */
bool resolver_definition(struct resolver *resolver, const char *name, unsigned before,
    struct tok_range *value, unsigned *at);

/* cfg.n = 1024; or struct config cfg = {.n = 1024} or {1024, 32} by the order of its fields: the
 * tokens of that value. */
bool resolver_member(struct resolver *resolver, const char *object, const char *member, unsigned at,
    struct tok_range *value, unsigned *where);

/* It is set so between its initialiser and `before`. */
bool resolver_set_again(const struct resolver *resolver, const char *name, unsigned before);

/* The same among tokens [from, to) only. */
bool resolver_definition_in(const struct toks *toks, const char *name, unsigned from, unsigned to,
    struct tok_range *value, unsigned *at);

/* atoi(argv[1]), std::stoi(...): only the caller knows. */
bool resolver_from_outside(struct tok_range r);

/* Which template parameter of the function that token `at` stands in is called name; -1: none. */
int resolver_template_param(const struct resolver *resolver, const char *name, unsigned at);

/* A template parameter of the function that token `at` stands in: what a call of that function
 * gives between < and >, and *where that call stands. */
bool resolver_template_argument(const struct resolver *resolver, const char *name, unsigned at,
    struct tok_range *value, unsigned *where);

/* Which parameter of fn is called name; -1: none. *whole is its declaration. */
int resolver_param(const struct resolver *resolver, const struct decl *fn, const char *name,
    struct tok_range *whole);

const struct macro *resolver_macro(
    const struct resolver *resolver, const char *name); /* NULL: none */

/* The elements that the pointer called name has where it is used, as text; *elem_type is the C type
 * of the pointer's declaration or of the sizeof, "" unknown; *line is the allocation's. */
bool resolver_extent(struct resolver *resolver, const char *name, unsigned at, struct str *elems,
    const char **elem_type, unsigned *line);

/* The variable's value is a product with a sizeof. */
bool resolver_bytes(struct resolver *resolver, const char *name, unsigned at);

/* The variable that a pointer argument names, followed to where it was allocated: *name, *at. */
bool resolver_pointer(struct resolver *resolver, struct tok_range arg, unsigned at,
    const char **name, unsigned *where);

#endif
