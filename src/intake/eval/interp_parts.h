/* Private to the interpreter's own files: how these files call one another. Where a token index is
 * passed, toks is the file's or a macro's. */
#ifndef KEET_INTAKE_EVAL_INTERP_PARTS_H
#define KEET_INTAKE_EVAL_INTERP_PARTS_H

#include "intake/eval/interp.h"

enum { INTERP_MAX_DEPTH = 200, INTERP_MAX_STEPS = 600000, INTERP_LOOP_STEPS = 20000 };

/* What is being left: nothing, a loop, a round of it, a function. */
enum leaving { LEAVING_NOT, LEAVING_LOOP, LEAVING_ROUND, LEAVING_FUNCTION };

struct var {
    const char *name;
    struct interp_slot *slot;
    struct var *next;
};

struct interp_frame { /* a function that is being carried out */
    const struct decl *fn;
    struct interp_frame *up;
    struct var *vars;
    const struct bound *bound;
    struct interp_object *self; /* of a method; NULL: none */
    bool plain;                 /* it launches nothing: its variables give no names to numbers */
    struct interp_value result;
};

/* An operand: its value, and the slot or the element of memory that it stands for. */
struct interp_operand {
    struct interp_value v;
    struct interp_slot *slot;
    struct memory *memory; /* the element of this memory at `offset` bytes */
    int64_t offset;
    const struct type *type;
    const char *path; /* what the text calls it: "n", "cfg_n"; NULL: it is no variable */
};

/* While device code is followed for what it does with one memory. Nothing is known of numbers, so
 * that both sides of each condition are carried out, and each loop until no further variable that
 * is older than the loop holds a pointer into the memory. A variable that once held one goes on to.
 */
struct interp_walk {
    struct memory *memory;
    bool reads, writes, atomics;
    bool asked;      /* a pointer into it is compared with null */
    unsigned begun;  /* variables that were made before keep what they have */
    unsigned oldest; /* of the variables that have become pointers into it: when it was made */
};

/* ---- param_access.c ---- */

/* The value is a pointer into the memory that is watched. */
bool interp_watched(const struct interp *ip, const struct interp_value *v);

/* The value of an operand. Notes that it is read. */
struct interp_value interp_used(struct interp *ip, const struct interp_operand *o);

/* The same for a condition. */
struct interp_value interp_asked(struct interp *ip, const struct interp_operand *o);

/* Each argument that points into the memory goes to a parameter that points to const, and there is
 * one. */
bool interp_passes_const(const struct interp *ip, const struct decl *fn,
    const struct interp_operand *args, unsigned nr_args);

/* Notes what a method does that is called on an object, a function that is not in the file, or an
 * asm statement in tokens [from, to). Without a walk: nothing. */
void interp_walk_object(struct interp *ip, const struct interp_operand *o);

/* Notes that a value goes where nothing is known of it: anything may be done with the memory if the
 * value points there, if only by way of an object or another pointer. */
void interp_walk_away(struct interp *ip, const struct interp_value *v);
void interp_walk_call(
    struct interp *ip, const char *name, const struct interp_operand *args, unsigned nr_args);
void interp_walk_asm(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* ---- interp.c: calls and steps ---- */

/* Calls a function of the file. scope: the variables that a lambda sees. bound: the template
 * parameters that the call names. */
struct interp_value interp_call(struct interp *ip, const struct decl *fn,
    struct interp_operand *args, unsigned nr_args, struct interp_object *self, struct var *scope,
    const struct bound *bound);

struct interp_operand interp_macro_call(
    struct interp *ip, const struct macro *macro, const struct tok_range *args, unsigned nr_args);

/* Carries out a macro that makes the head of a statement, with the block that stands behind it. */
void interp_macro_head(struct interp *ip, const struct macro *macro, struct tok_range args);

/* The list of bound template parameters with one more before it. */
const struct bound *interp_bind(
    struct interp *ip, const char *name, const struct type *type, const struct bound *next);

/* Binds T of a template to the type of what is passed for a parameter of type T, T* or table<T>,
 * where the list has no T. */
void interp_deduce(struct interp *ip, const struct decl *fn, struct tok_range param,
    const struct interp_operand *arg, const struct bound **list);

/* Token i is a directive, or left out by one: by one inside of the function, as far as is known; or
 * surely, while device code is followed. */
bool interp_passes(const struct interp *ip, const struct toks *toks, unsigned i);

/* Carries out the statement in tokens [from, to) without the directives in it, and without what
 * these surely leave out. */
void interp_without_directives(
    struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* Declares the values of the enum that stands in tokens [from, to). */
void interp_enumerators(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* Counts a step. False: none are left. */
bool interp_step(struct interp *ip);

/* A loop or a function took too many steps: those that come after it get fewer. */
void interp_give_up(struct interp *ip);

/* Makes unknown what tokens [from, to) assign, or hand to a function that may assign it. */
void interp_lose(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* ---- interp_statements.c ---- */

void interp_statements(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

/* ---- interp_names.c: variables, fields, elements ---- */

struct interp_slot *interp_declare(struct interp *ip, const char *name, const struct type *type);
struct interp_slot *interp_variable(struct interp *ip, const char *name); /* NULL: none */

/* The function is declared as T &f(...). */
bool interp_returns_reference(const struct interp *ip, const struct decl *fn);

/* What a template parameter stands for; NULL: the name is none. */
const struct type *interp_bound_type(struct interp *ip, const char *name);

/* Both convert the value to the type of where it goes. */
void interp_assign(struct interp *ip, struct interp_slot *slot, struct interp_value v);
void interp_store(struct interp *ip, struct interp_operand *to, struct interp_value v);
struct interp_value interp_convert(
    struct interp *ip, struct interp_value v, const struct type *type);

/* The field of that name, as the object's type declares it; made where there is none. */
struct interp_slot *interp_field(struct interp *ip, struct interp_object *object, const char *name);

/* A new object. A field gets its initialiser when it is first asked for. */
struct interp_value interp_object(struct interp *ip, const struct type *type);

/* A cudaLaunchAttribute: its size, and the number of cudaLaunchAttributeClusterDimension (CUDA
 * runtime API 13, driver_types.h). */
enum { LAUNCH_ATTRIBUTE_BYTES = 72, LAUNCH_CLUSTER = 4 };

/* The value itself; of an object, a copy of the object. */
struct interp_value interp_copy(struct interp *ip, struct interp_value v);

/* The variable got its number from the one before: nothing else is said of it. */
void interp_counted(struct interp *ip, struct interp_slot *slot);

/* Elements of memory, by their offset in bytes. */
struct interp_value interp_cell(struct memory *m, int64_t offset);
void interp_set_cell(struct interp *ip, struct memory *m, int64_t offset, struct interp_value v);

struct memory *interp_memory(struct interp *ip, int64_t bytes, bool device);
struct interp_value interp_pointer(struct memory *m, const struct type *to, int64_t offset);
struct interp_value interp_int(int64_t i);

/* The offset nr elements of `each` bytes further on. It wraps around where the program would leave
 * all memory. */
int64_t interp_along(int64_t offset, int64_t nr, unsigned each);

/* A copy of the frame that is carried out, with its variables as they are. */
const struct interp_frame *interp_frame_copy(struct interp *ip);

/* ---- interp_init.c ---- */

/* What a name stands for: a variable, a constant, a macro, a function. */
struct interp_operand interp_named(struct interp *ip, const char *name);

/* T x(args), T x{args}, T x = {args}: sets a slot of type T. */
void interp_initialise(
    struct interp *ip, struct interp_slot *slot, struct tok_range init, bool braces);

/* ---- interp_expr.c: operators; interp_operand.c: what stands between operators ---- */

struct interp_reader { /* reads one expression */
    struct interp *ip;
    const struct toks *toks;
    unsigned i, to;
};

/* How tightly operators bind. */
enum { LEVEL_ASSIGN = 1, LEVEL_CHOICE, LEVEL_OR, LEVEL_AND, LEVEL_UNARY = 13 };

/* The level of a binary operator of C, of "?:" and of "real/" (said.h); 0: it is none. */
int interp_level(const char *op);

/* Reads on as long as operators bind at least as tightly as `level`. */
struct interp_operand interp_expression(struct interp_reader *r, int level);
struct interp_operand interp_unary(struct interp_reader *r);

/* The token that comes next; TOK_END at the end of the expression. */
const struct tok *interp_now(const struct interp_reader *r);

/* Takes the next token if it is this text. */
bool interp_accept(struct interp_reader *r, const char *text);

struct interp_value interp_operate(
    struct interp *ip, const char *op, struct interp_value a, struct interp_value b);
struct interp_value interp_real(double r, const struct type *type);
bool interp_truth(const struct interp_value *v, bool *known);

/* What is read of a variable, with its name where no other number has one. */
struct interp_value interp_read(struct interp *ip, struct interp_slot *slot);

/* The memory behind a tensor, of which nothing is known. */
struct interp_value interp_tensor(struct interp *ip, struct interp_operand *o);

/* An operand that stands for no slot and no element. */
struct interp_operand interp_plain(struct interp_value v);

/* A whole expression: as an operand, which may be assigned, and its value alone, which is read. */
struct interp_operand interp_operand(struct interp *ip, struct tok_range r);
struct interp_value interp_evaluate(struct interp *ip, struct tok_range r);

/* ---- interp_builtin.c: functions that the file calls and does not define ---- */

/* type: of f<type>(...), or NULL. */
struct interp_operand interp_builtin(struct interp *ip, const char *name, struct tok_range *args,
    unsigned nr_args, const struct type *type);
struct interp_operand interp_member_builtin(struct interp *ip, struct interp_operand *object,
    const char *member, struct tok_range *args, unsigned nr_args);

/* ---- interp_texture.c ---- */

/* A function that makes CUDA arrays or texture objects. A texture object has the fields of its
 * resource and its settings, under "resource" and "settings". False: the function is none of
 * these. */
bool interp_texture_call(struct interp *ip, const char *name, const struct interp_operand *args,
    unsigned nr_args, const struct type *type, struct interp_value *out);

/* ---- interp_launch.c ---- */

/* kernel<T><<<...>>>(...): chevrons is the token <<<. Returns the token behind the launch. */
unsigned interp_launch_chevrons(
    struct interp *ip, const struct toks *toks, unsigned chevrons, unsigned to);

/* cudaLaunchKernel and its kin. False: the function is none of these. */
bool interp_launch_call(
    struct interp *ip, const char *name, struct tok_range *args, unsigned nr_args);

/* ---- interp_type.c ---- */

/* A word beside a type that does not change it: const, static, struct, ... */
bool interp_type_word(const struct tok *t);

/* Bytes of one value; 0: not known. */
unsigned interp_sizeof(struct interp *ip, const struct type *type);

/* ---- interp_functions.c: function bodies of the file, methods included ---- */

/* The best function of that name for so many arguments that stands between two tokens (0, 0:
 * outside of types); NULL: none. */
const struct decl *interp_function(
    struct interp *ip, const char *name, unsigned nr_args, unsigned from, unsigned to);
/* [&](int x) { ... }, at the bracket. */
struct interp_operand interp_lambda(struct interp_reader *r);

/* A call of fn may mean another function of that name, by the types of what it passes: notes what
 * these could do with the memory. */
void interp_walk_overloads(
    struct interp *ip, const struct decl *fn, const struct interp_operand *args, unsigned nr_args);

/* The n-th function that launches by itself, or what calls it where something does; NULL: there are
 * not so many. */
const struct decl *interp_launcher(struct interp *ip, unsigned n);
void interp_find_functions(struct interp *ip);

/* Tokens [from, to) launch or allocate, by themselves or by a function that they name. */
bool interp_launches_in(struct interp *ip, const struct toks *toks, unsigned from, unsigned to);

#endif
