/* Private to intake/: types of C and C++, as far as the interpreter needs their sizes, conversions
 * and fields. */
#ifndef KEET_INTAKE_EVAL_INTERP_TYPE_H
#define KEET_INTAKE_EVAL_INTERP_TYPE_H

#include "intake/syntax/decls.h"

struct interp;

enum type_kind {
    TYPE_OTHER, /* auto, files, streams, and what is not known */
    TYPE_INT,
    TYPE_REAL,
    TYPE_POINTER,
    TYPE_STRUCT, /* a struct of the file, or a short vector such as float4 */
    TYPE_DIM3,
    TYPE_VECTOR, /* std::vector and thrust's vectors: they own memory */
    TYPE_TEXT    /* std::string */
};

struct type {
    const char *text; /* "unsigned int", "float*" */
    enum type_kind kind;
    unsigned bytes; /* bytes of one value; 0: not known */
    bool is_unsigned;
    const struct type *to;      /* the elements of a pointer or a vector */
    const struct decl *decl;    /* a struct of the file */
    struct type_fields *fields; /* of it, in order; NULL: not read yet */
    struct type *next;
};

struct type_field {
    const char *name;
    const struct type *type;
    unsigned count;    /* of an array; 1: it is none */
    unsigned from, to; /* the tokens of its initialiser, or of `: bits`; from == to: none */
    struct type_field *next;
};

struct type_fields {
    struct type_field *first;
    bool known; /* false: some fields cannot be read */
};

struct bound { /* a template parameter, and what it stands for */
    const char *name;
    const struct type *type; /* of a number, its text: "64" */
    const struct bound *next;
};

/* The type that a text stands for at ip->at. Equal texts give the same object. */
const struct type *interp_type_named(struct interp *interp, const char *text);
const struct type *interp_type_pointer(struct interp *interp, const struct type *to);

/* The first template argument of a type; the type itself where it has none. */
const struct type *interp_type_inner(struct interp *interp, const struct type *type);

/* Reads a type at token i, and sets *is_ref for a reference. Returns the token behind the type; i:
 * there is none. */
unsigned interp_type_read(struct interp *interp, const struct toks *toks, unsigned i, unsigned to,
    const struct type **type, bool *is_ref);

/* The type that a whole range is; NULL: it is none. */
const struct type *interp_type_in(struct interp *interp, struct tok_range range);

/* The type that further declarators begin with. In `float *a, b`, interp_type_read has read the
 * star of the first declarator too; `past` is the token behind what it read. */
const struct type *interp_type_of_next(
    const struct toks *toks, unsigned past, const struct type *type);

/* Bytes of one; 0: not known. */
unsigned interp_type_bytes(struct interp *interp, const char *type);

/* The fields of a struct of the file; none of another type. */
const struct type_fields *interp_type_fields(struct interp *interp, const struct type *type);

/* What the parameters of a struct template stand for: what stands between < and > in the type's
 * text, and what the frame binds. */
const struct bound *interp_type_bound(struct interp *interp, const struct type *type);

/* The list with what the template's parameters stand for before it, by the arguments that begin at
 * token `angle`. Where no `<` stands there: the list. */
const struct bound *interp_bind_args(struct interp *interp, const struct decl *decl,
    const struct toks *toks, unsigned angle, const struct bound *list);

/* The method of that name with a body, for that number of arguments; NULL: there is none. */
const struct decl *interp_type_method(
    struct interp *interp, const struct type *type, const char *name, unsigned nr_args);

#endif
