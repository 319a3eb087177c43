/* Private to intake/: what the text of host code says about a launch: where the launch stands, what
 * its expressions come down to, and how much memory a pointer has. */
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
    const char *kernel; /* its name, without template arguments and namespaces */
    const char *id;     /* the kernel as written, with both */
    struct tok_range template_args[MAX_TEMPLATE_ARGS];
    unsigned nr_template_args;
    struct tok_range config[4], args[LAUNCH_MAX_ARGS];
    unsigned nr_config, nr_args;
    unsigned from, at, line; /* tokens: the first one of id, and <<< or the call of a macro */
    const struct tok *place; /* the token <<< where a macro holds it; NULL: token `at` */
};

struct size { /* a number that has a name in the contract */
    const char *name;
    int64_t value;
    bool known; /* false: the file does not say the number, and the user must */
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
    bool fixed;  /* no new sizes: a number that is no size yet is written out */
    bool strict; /* what the file does not say fails, instead of becoming a size */
};

struct resolver {
    struct arena *arena;
    const struct toks *toks;
    const struct decls *decls;
    struct macro *macros;
    unsigned nr_macros;
    struct size sizes[INTAKE_MAX_SIZES];
    unsigned nr_sizes;
    const char *arrays[INTAKE_MAX_ARRAYS]; /* names that a new size may not have */
    unsigned nr_arrays;
    struct resolver_mode mode;
    bool drop_sizeof;             /* sizeof(...) counts as 1 */
    const struct decl *bound;     /* a function that is read for one of its calls, */
    unsigned bound_at;            /* the token of its name in that call */
    const struct source_set *set; /* the text, and where its lines come from */
    unsigned own_tokens;          /* of the user's file; those behind them are of other files */
    const struct interp *interp;  /* knows numbers that variables had; NULL: there is none */
    const char *why;              /* what could not be resolved last */
    unsigned nr_steps;            /* taken so far; bounds the work */
    unsigned launched[INTAKE_MAX_LAUNCHES]; /* the token <<< of each launch of the contract, */
    const struct decl *kernels[INTAKE_MAX_LAUNCHES]; /* and the kernel that it launches */
};

/* Reads the macros of a file. toks is decls->toks: sets toks->left_out for the tokens that an #if
 * surely leaves out. */
void resolver_init(
    struct resolver *resolver, struct arena *arena, const struct decls *decls, struct toks *toks);

/* The word behind the # of a directive, and in *rest what follows the word. */
const char *resolver_directive(const struct tok *t, const char **rest);

/* Of #if, #ifdef or #elif: whether the lines under it count. *sure: the answer is certain, because
 * the condition is one number, or asks for one macro that no compiler defines. */
bool resolver_holds(const struct resolver *resolver, const struct tok *t, bool *sure);

/* dim3 grid; grid.x = ...; grid.y = ...: the last value that each member gets before token `at`; an
 * empty range where a member gets none. False: no member gets a value. */
bool resolver_dim3_members(
    const struct resolver *resolver, const char *name, unsigned at, struct tok_range members[3]);

/* The launches of the file in order: an array of *nr sites, which the caller frees. */
struct site *resolver_launches(struct resolver *resolver, unsigned *nr);

/* The function around token `at`; NULL: there is none. */
const struct decl *resolver_function_at(const struct resolver *resolver, unsigned at);

/* Adds `more` to the resolver's mode. Returns the mode that it had, to be put back into it. */
struct resolver_mode resolver_restrict(struct resolver *resolver, struct resolver_mode more);

/* Adds to out an integer expression that stands at token `at`, as text of the task language over
 * sizes. False: resolver->why says what could not be resolved. */
bool resolver_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out);

/* The same in the mode fixed and strict: out has only what the file says. */
bool resolver_known_integer(
    struct resolver *resolver, struct tok_range range, unsigned at, struct str *out);

/* The number that resolver_known_integer comes to. */
bool resolver_constant(
    struct resolver *resolver, struct tok_range range, unsigned at, int64_t *value);

/* The number that a text over sizes comes to. False: it has sizes without a number, or divides by
 * 0. */
bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value);

/* True: device code uses the name, so that its number may not change. */
bool resolver_device_uses(const struct resolver *resolver, const char *name);

/* The size of that name; NULL: there is none. */
const struct size *resolver_size(const struct resolver *resolver, const char *name);

/* Adds a size that the file gives no number, for the user to complete. Returns its name; NULL: the
 * resolver is strict, or there are too many sizes. */
const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line);

/* What the name of a type stands for at token `at`: through typedefs, using, macros and the
 * template parameters of the function around. Where it can be, the result is a type that
 * spelling_elem knows. */
const char *resolver_type(struct resolver *resolver, const char *type, unsigned at);

/* The number type with which the variable of an argument was declared; NULL: the argument is no
 * such variable. */
const char *resolver_type_of(struct resolver *resolver, struct tok_range arg, unsigned at);

/* What defines a name before token `before`: in *value the tokens of its initialiser, or of what is
 * assigned to it later, outside of blocks that end before; in *at where these stand. False: there
 * is none, or the name is part of its own value. */
bool resolver_definition(struct resolver *resolver, const char *name, unsigned before,
    struct tok_range *value, unsigned *at);

/* The tokens of the value of object.member: of cfg.n = 1024, of struct config cfg = {.n = 1024}, or
 * of {1024, 32} by the order of the fields. */
bool resolver_member(struct resolver *resolver, const char *object, const char *member, unsigned at,
    struct tok_range *value, unsigned *where);

/* True: the variable is assigned between its initialiser and token `before`. */
bool resolver_set_again(const struct resolver *resolver, const char *name, unsigned before);

/* As resolver_definition, among tokens [from, to) only. */
bool resolver_definition_in(const struct toks *toks, const char *name, unsigned from, unsigned to,
    struct tok_range *value, unsigned *at);

/* True: only the caller of the program knows the value, as of atoi(argv[1]) or std::stoi(...). */
bool resolver_from_outside(struct tok_range r);

/* Which template parameter of the function around token `at` has that name; -1: none. */
int resolver_template_param(const struct resolver *resolver, const char *name, unsigned at);

/* What a call gives for a template parameter of the function around token `at`: its tokens between
 * < and >, and *where that call stands. */
bool resolver_template_argument(const struct resolver *resolver, const char *name, unsigned at,
    struct tok_range *value, unsigned *where);

/* Which parameter of fn has that name; -1: none. *whole is its declaration. */
int resolver_param(const struct resolver *resolver, const struct decl *fn, const char *name,
    struct tok_range *whole);

const struct macro *resolver_macro(
    const struct resolver *resolver, const char *name); /* NULL: none */

/* Adds to elems how many elements the pointer `name` has at token `at`. *elem_type is the C type of
 * its declaration or of the sizeof, "": not known. *line is the line of the allocation. */
bool resolver_extent(struct resolver *resolver, const char *name, unsigned at, struct str *elems,
    const char **elem_type, unsigned *line);

/* True: the value of the variable is a product with a sizeof. */
bool resolver_bytes(struct resolver *resolver, const char *name, unsigned at);

/* The variable that a pointer argument names, followed through callers to where it was allocated:
 * its *name there, and *where that is. */
bool resolver_pointer(struct resolver *resolver, struct tok_range arg, unsigned at,
    const char **name, unsigned *where);

#endif
