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
    const struct interp_slot *slot; /* of a variable */
    unsigned at;                    /* the token that gave it the number */
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
struct interp_launch;

struct said;
struct bound;

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
    const struct said_name *fixed[INTAKE_MAX_SIZES]; /* see resolver_fix */
    unsigned nr_fixed;
    const struct bound *bound;    /* what template parameters stand for where a launch stands */
    const struct source_set *set; /* the text, and where its lines come from */
    unsigned own_tokens;          /* of the user's file; those behind them are of other files */
    struct interp *interp;        /* has followed the program; NULL: not yet */
    unsigned launched[INTAKE_MAX_LAUNCHES]; /* the token <<< of each launch of the contract, */
    const struct decl *kernels[INTAKE_MAX_LAUNCHES]; /* the kernel that it launches, */
    const char *ids[INTAKE_MAX_LAUNCHES]; /* its name with namespaces and template arguments, */
    const struct interp_launch *seen[INTAKE_MAX_LAUNCHES]; /* and its record */
};

/* Reads the macros of a file. toks is decls->toks: sets toks->left_out and toks->passed. */
void resolver_init(
    struct resolver *resolver, struct arena *arena, const struct decls *decls, struct toks *toks);

/* Reads the launch whose <<< is token `at`, and which ends before token `to`. Returns the token
 * behind the launch; 0: there is none. */
unsigned resolver_site(const struct resolver *resolver, const struct toks *toks, unsigned at,
    unsigned to, struct site *site);

/* The launches of the file in order: an array of *nr sites, which the caller frees. */
struct site *resolver_launches(const struct resolver *resolver, unsigned *nr);

/* The function around token `at`; NULL: there is none. */
const struct decl *resolver_function_at(const struct resolver *resolver, unsigned at);

/* Adds to out what is said of a number, as text of the task language over sizes. fixed: no new size
 * is made of a number that the file gives; it is written out. False: there are too many sizes. */
bool resolver_write(
    struct resolver *resolver, const struct said *said, bool fixed, struct str *out);

/* Numbers of a block stay as they are, because kernels are written for that block: no size is made
 * of them. A number that is too large for a block is a size of the problem, of which the block has
 * a part. */
void resolver_fix(struct resolver *resolver, const struct said *block);

/* The number that a text over sizes comes to. False: it has sizes without a number, or divides by
 * 0. */
bool resolver_evaluate(struct resolver *resolver, const char *text, int64_t *value);

/* True: device code uses the name, so that its number may not change. */
bool resolver_device_uses(const struct resolver *resolver, const char *name);

/* The size of that name; NULL: there is none. */
const struct size *resolver_size(const struct resolver *resolver, const char *name);

/* Adds a size that the file gives no number, for the user to complete. Returns its name; NULL:
 * there are too many sizes. */
const char *resolver_unknown(struct resolver *resolver, const char *name, unsigned line);

/* What the name of a type stands for at token `at`: through typedefs, using, macros and the
 * template parameters of the function around. Where it can be, the result is a type that
 * spelling_elem knows. */
const char *resolver_type(struct resolver *resolver, const char *type, unsigned at);

const struct macro *resolver_macro(
    const struct resolver *resolver, const char *name); /* NULL: none */

/* ---- expand.c: macros written out ---- */

struct expanded {
    const char *text; /* has the same number of lines; NULL: nothing was written out */
    size_t bytes;
    bool *line; /* by line, from 0: the line was changed */
};

/* Adds the body of a macro on one line, with the arguments in place of the parameters, and with
 * what # and ## make. Comments and ends of lines become blanks. */
void expand_body(struct str *out, const struct macro *m, const struct tok_range *args, unsigned nr);

/* The text with those macros written out that are called at file scope, as `BINDING(f32, float)`,
 * and make device code or a function that launches a kernel. */
struct expanded expand_macros(
    struct arena *arena, const char *text, size_t bytes, unsigned nr_lines);

/* ---- params.c: the parameters of functions and templates ---- */

enum { MAX_PARAMS = 64 };

struct param {
    const char *name, *type; /* type: without const, *, &, __restrict__: "float", "T" */
    const char *written;     /* all of it, without its name and __restrict__: "const T*" */
    bool is_pointer, is_reference, is_const;
    bool reads, writes, atomics; /* of pointers: set by param_access.h */
    bool may_be_null;            /* set by param_access.h too */
    const char *indexed;         /* the parameter whose memory its values index; NULL: none seen */
};

/* The parameters of a function, or of a lambda, as they stand there, in order; at most MAX_PARAMS.
 * Returns how many there are. */
unsigned params_split(const struct toks *toks, const struct decl *fn, struct tok_range *params);

/* Fills params with the parameters of a function, in order; at most MAX_PARAMS. arena NULL: types
 * stay empty. Returns how many there are. */
unsigned params_read(
    struct param *params, struct arena *arena, const struct decls *decls, const struct decl *fn);

/* Fills names with the names of a template's parameters, in order. Returns how many there are, at
 * most max. */
unsigned params_of_template(
    const struct toks *toks, const struct decl *fn, const char **names, unsigned max);

#endif
