/* Private to the interpreter's own files: how these files call one another. Where a token index is
 * passed, toks is the file's or a macro's. */
#ifndef KEET_INTAKE_EVAL_INTERP_PARTS_H
#define KEET_INTAKE_EVAL_INTERP_PARTS_H

#include "intake/eval/interp.h"

enum { INTERP_MAX_DEPTH = 200, INTERP_MAX_STEPS = 600000, INTERP_LOOP_STEPS = 20000 };
enum leaving { LEAVING_NOT, LEAVING_LOOP, LEAVING_ROUND, LEAVING_FUNCTION };

struct var {
    const char *name;
    struct interp_slot *slot;
    struct var *next;
};

struct bound { /* a template parameter */
    const char *name;
    const struct type *type;
    struct bound *next;
};

struct interp_frame { /* a function that is being carried out */
    const struct decl *fn;
    struct interp_frame *up;
    struct var *vars;
    struct bound *bound;
    struct interp_object *self;
    struct interp_value result;
};

/* An operand: its value, and the slot or the element of memory that it stands for. */
struct interp_operand {
    struct interp_value v;
    struct interp_slot *slot;
    struct memory *memory; /* the element of this memory at `offset` bytes */
    int64_t offset;
    const struct type *type;
};

/* interp.c: statements and calls */
void interp_statements(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);
struct interp_value interp_call(struct interp *ip, const struct decl *fn,
    struct interp_operand *args, unsigned nr_args, struct interp_object *self, struct var *scope,
    struct bound *bound);
struct interp_operand interp_macro_call(
    struct interp *ip, const struct macro *macro, const struct tok_range *args, unsigned nr_args);
/* The list of bound template parameters with one more before it. */
struct bound *interp_bind(
    struct interp *ip, const char *name, const struct type *type, struct bound *next);
bool interp_step(struct interp *ip); /* counts a step; false: none are left */
/* How many steps a loop or a function may take that launches nothing: fewer each time that it took
 * too many. */
unsigned interp_patience(const struct interp *ip, const struct toks *toks, unsigned body);
void interp_give_up(struct interp *ip, const struct toks *toks, unsigned body);
void interp_lose(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);
bool interp_launches_in(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* interp_names.c: variables, fields, elements */
struct interp_slot *interp_declare(struct interp *ip, const char *name, const struct type *type);
struct interp_slot *interp_variable(struct interp *ip, const char *name); /* NULL: none */
const struct type *interp_bound_type(struct interp *ip, const char *name);
void interp_assign(struct interp *ip, struct interp_slot *slot, struct interp_value v);
void interp_store(struct interp *ip, struct interp_operand *to, struct interp_value v);
struct interp_value interp_convert(
    struct interp *ip, struct interp_value v, const struct type *type);
struct interp_slot *interp_field(struct interp *ip, struct interp_object *object, const char *name);
struct interp_value interp_object(
    struct interp *ip, const struct type *type); /* with the initialisers of its fields */
struct interp_value interp_copy(
    struct interp *ip, struct interp_value v); /* of an object: a copy of it */
struct interp_value interp_cell(struct interp *ip, struct memory *m, int64_t offset);
void interp_set_cell(struct interp *ip, struct memory *m, int64_t offset, struct interp_value v);
struct memory *interp_memory(struct interp *ip, int64_t bytes, bool device);
struct interp_value interp_pointer(struct memory *m, const struct type *to, int64_t offset);
/* The offset nr elements of `each` bytes further on. It wraps around where the program would leave
 * all memory. */
int64_t interp_along(int64_t offset, int64_t nr, unsigned each);
struct interp_value interp_int(int64_t i);
struct interp_operand interp_named(struct interp *ip,
    const char *name); /* what a name stands for: a variable, a constant, a macro */
void interp_facts(struct interp *ip, const struct interp_frame *frame, bool firm);

/* interp_expr.c: operators; interp_operand.c: what stands between operators */
struct interp_reader { /* reads one expression */
    struct interp *ip;
    const struct toks *toks;
    unsigned i, to;
};
enum { LEVEL_ASSIGN = 1, LEVEL_CHOICE, LEVEL_OR, LEVEL_AND, LEVEL_UNARY = 13 };

struct interp_operand interp_expression(struct interp_reader *r, int level);
struct interp_operand interp_unary(struct interp_reader *r);
struct interp_operand interp_plain(struct interp_value v);
const struct tok *interp_now(const struct interp_reader *r);
bool interp_accept(struct interp_reader *r, const char *text);
struct interp_value interp_operate(
    struct interp *ip, const char *op, struct interp_value a, struct interp_value b);
struct interp_value interp_real(double r, const struct type *type);
bool interp_truth(const struct interp_value *v, bool *known);
struct interp_value interp_evaluate(struct interp *ip, struct tok_range r);
struct interp_operand interp_operand(struct interp *ip, struct tok_range r);
/* T x(args), T x{args}, T x = {args}: sets a slot of type T */
void interp_initialise(
    struct interp *ip, struct interp_slot *slot, struct tok_range init, bool braces);

/* interp_builtin.c: functions that the file calls and does not define */
struct interp_operand interp_builtin(struct interp *ip, const char *name, struct tok_range *args,
    unsigned nr_args, const struct type *type);

struct interp_operand interp_member_builtin(struct interp *ip, struct interp_operand *object,
    const char *member, struct tok_range *args, unsigned nr_args);

/* interp_launch.c */
void interp_launch_chevrons(struct interp *ip, const struct toks *toks, unsigned id, unsigned angle,
    unsigned chevrons, unsigned to, unsigned *past);
bool interp_launch_call(
    struct interp *ip, const char *name, struct tok_range *args, unsigned nr_args);

/* interp_type.c */
bool interp_type_word(const struct tok *t);
unsigned interp_sizeof(struct interp *ip, const struct type *type);

/* interp_functions.c: function bodies of the file, methods included. The best function of that name
 * for so many arguments that stands between two tokens (0, 0: outside of types). */
const struct decl *interp_function(
    struct interp *ip, const char *name, unsigned nr_args, unsigned from, unsigned to);
void interp_find_functions(struct interp *ip);

#endif
