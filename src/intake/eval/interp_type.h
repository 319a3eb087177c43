/* Private to intake/: types of C and C++ as far as sizes, conversions and fields need them. */
#ifndef KEET_INTAKE_EVAL_INTERP_TYPE_H
#define KEET_INTAKE_EVAL_INTERP_TYPE_H

#include "intake/syntax/decls.h"

struct interp;

enum type_kind {
    TYPE_OTHER, /* auto, files, streams, what is not known */
    TYPE_INT,
    TYPE_REAL,
    TYPE_POINTER,
    TYPE_STRUCT, /* of the file, or a short vector such as float4 */
    TYPE_DIM3,
    TYPE_VECTOR, /* std::vector, thrust's vectors: memory of its own */
    TYPE_TEXT    /* std::string */
};

struct type {
    const char *text; /* "unsigned int", "float*" */
    enum type_kind kind;
    unsigned bytes; /* of one; 0: not known */
    bool is_unsigned;
    const struct type *to;   /* of a pointer, of a vector: its elements */
    const struct decl *decl; /* of a struct of the file */
    struct type *next;
};

/* The type that a name or a type-id stands for where the interpreter is; one object for one text.
 */
const struct type *interp_type_named(struct interp *interp, const char *text);
const struct type *interp_type_pointer(struct interp *interp, const struct type *to);

/* A type at token i: its end, or i when none is there. *is_ref is set for a reference. */
unsigned interp_type_read(struct interp *interp, const struct toks *toks, unsigned i, unsigned to,
    const struct type **type, bool *is_ref);

/* The type that further declarators begin with: in `float *a, b`, interp_type_read has taken the
 * star of the first one along, up to token `past`. */
const struct type *interp_type_of_next(
    const struct toks *toks, unsigned past, const struct type *type);

/* Bytes of one; 0: not known. */
unsigned interp_type_bytes(struct interp *interp, const char *type);

/* What stands in a struct: calls back for each field, in order, with the tokens of its initialiser
 * (from == to: none). False: it has fields that cannot be read. */
bool interp_type_fields(struct interp *interp, const struct type *type,
    void (*field)(void *context, const char *name, const struct type *type, unsigned count,
        unsigned init_from, unsigned init_to),
    void *context);

/* The method of that name and number of arguments; NULL: none with a body. */
const struct decl *interp_type_method(
    struct interp *interp, const struct type *type, const char *name, unsigned nr_args);

#endif
