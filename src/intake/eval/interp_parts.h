/* Private to the walk's own files: how they call one another. */
#ifndef KEET_INTAKE_EVAL_INTERP_PARTS_H
#define KEET_INTAKE_EVAL_INTERP_PARTS_H

#include "intake/eval/interp.h"

enum { WALK_MAX_DEPTH = 200, WALK_MAX_STEPS = 600000, WALK_LOOP_STEPS = 20000 };
enum leaving { LEAVING_NOT, LEAVING_LOOP, LEAVING_ROUND, LEAVING_FUNCTION };

struct var {
    const char *name;
    struct slot *slot;
    struct var *next;
};

struct bound { /* a template parameter */
    const char *name;
    const struct type *type;
    struct bound *next;
};

struct frame { /* a function that is being carried out */
    const struct decl *fn;
    struct frame *up;
    struct var *vars;
    struct bound *bound;
    struct object *self;
    struct value result;
};

/* An operand: its value, and the slot or the element that it stands for. */
struct operand {
    struct value v;
    struct slot *slot;
    struct memory *memory; /* an element of this, at this offset */
    int64_t offset;
    const struct type *type;
};

/* interp.c: statements and calls */
void walk_statements(struct walk *w, const struct toks *toks, unsigned from, unsigned to);
struct value walk_call(struct walk *w, const struct decl *fn, struct operand *args,
    unsigned nr_args, struct object *self, struct var *scope, struct bound *bound);
struct operand walk_macro_call(
    struct walk *w, const struct macro *macro, const struct range *args, unsigned nr_args);
bool walk_step(struct walk *w); /* false: no more */
/* Steps for a loop or a function that launches nothing: fewer each time that it took too many. */
unsigned walk_patience(const struct walk *w, const struct toks *toks, unsigned body);
void walk_give_up(struct walk *w, const struct toks *toks, unsigned body);
void walk_lose(struct walk *w, const struct toks *toks, unsigned from, unsigned to);
bool walk_launches_in(struct walk *w, const struct toks *toks, unsigned from, unsigned to);

/* interp_names.c: variables, fields, elements */
struct slot *walk_declare(struct walk *w, const char *name, const struct type *type);
struct slot *walk_variable(struct walk *w, const char *name); /* NULL: none */
const struct type *walk_bound_type(struct walk *w, const char *name);
void walk_assign(struct walk *w, struct slot *slot, struct value v);
void walk_store(struct walk *w, struct operand *to, struct value v);
struct value walk_convert(struct walk *w, struct value v, const struct type *type);
struct slot *walk_field(struct walk *w, struct object *object, const char *name);
struct value walk_object(struct walk *w, const struct type *type); /* with fields' initialisers */
struct value walk_copy(struct walk *w, struct value v);            /* of an object: its own */
struct value walk_cell(struct walk *w, struct memory *m, int64_t offset);
void walk_set_cell(struct walk *w, struct memory *m, int64_t offset, struct value v);
struct memory *walk_memory(struct walk *w, int64_t bytes, bool device);
struct value walk_pointer(struct memory *m, const struct type *to, int64_t offset);
/* So many elements on; it wraps around where the program would go astray. */
int64_t walk_along(int64_t offset, int64_t nr, unsigned each);
struct value walk_int(int64_t i);
struct operand walk_named(struct walk *w, const char *name); /* a variable, a constant, a macro */
unsigned walk_template_params(
    struct walk *w, const struct decl *fn, const char **names, unsigned max);
void walk_facts(struct walk *w, const struct frame *frame, bool firm);

/* interp_expr.c, and interp_operand.c for what operators stand between */
struct walk_reader { /* of one expression */
    struct walk *w;
    const struct toks *toks;
    unsigned i, to;
};
enum { LEVEL_ASSIGN = 1, LEVEL_CHOICE, LEVEL_OR, LEVEL_AND, LEVEL_UNARY = 13 };

struct operand walk_expression(struct walk_reader *r, int level);
struct operand walk_unary(struct walk_reader *r);
struct operand walk_plain(struct value v);
const struct tok *walk_now(const struct walk_reader *r);
bool walk_accept(struct walk_reader *r, const char *text);
struct value walk_operate(struct walk *w, const char *op, struct value a, struct value b);
struct value walk_real(double r, const struct type *type);
bool walk_truth(const struct value *v, bool *known);
struct value walk_evaluate(struct walk *w, struct range r);
struct operand walk_operand(struct walk *w, struct range r);
/* T x(args), T x{args}, T x = {args}: into a slot of that type */
void walk_initialise(struct walk *w, struct slot *slot, struct range init, bool braces);

/* interp_builtin.c: functions that the file does not have. */
struct operand walk_builtin(struct walk *w, const char *name, struct range *args, unsigned nr_args,
    const struct type *type);

struct operand walk_member_builtin(struct walk *w, struct operand *object, const char *member,
    struct range *args, unsigned nr_args);

/* interp_launch.c */
void walk_launch_chevrons(struct walk *w, const struct toks *toks, unsigned id, unsigned angle,
    unsigned chevrons, unsigned to, unsigned *past);
bool walk_launch_call(struct walk *w, const char *name, struct range *args, unsigned nr_args);

/* interp_type.c */
bool walk_type_word(const struct tok *t);
unsigned walk_sizeof(struct walk *w, const struct type *type);

/* interp_functions.c: function bodies of the file, methods included. The best one for that many
 * arguments between two tokens (0, 0: outside of types). */
const struct decl *walk_function(
    struct walk *w, const char *name, unsigned nr_args, unsigned from, unsigned to);
void walk_find_functions(struct walk *w);

#endif
