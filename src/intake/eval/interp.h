/* Private to intake/: the interpreter, which follows host code as the program would run with given
 * arguments.
 *
 *     struct interp *interp = interp_create(arena, resolver);
 *     interp_main(interp, args, nr_args, true);
 *     ... interp->launches: what was launched, with the numbers and the memory it got ...
 *
 * The interpreter begins at main and carries out one statement after another. A number is known
 * where the file, the arguments or C's own functions give it. A number is unknown where it comes
 * from a file, a random generator, or a header that is not there. A number carries what it follows
 * from (said.h): a variable that holds a number as such gives it its name, and so does a variable
 * of which nothing is known. Where main launches nothing, interp_launchers begins at the functions
 * that launch.
 *
 * Where the condition of an if is unknown, a side that only leaves the function is passed by. Else
 * the side with a launch is taken, and interp_launch.assumed says so. Work is bounded: a loop
 * without a launch that takes too long leaves unknown what it assigns. No memory of this process is
 * read or written for the program.
 */
#ifndef KEET_INTAKE_EVAL_INTERP_H
#define KEET_INTAKE_EVAL_INTERP_H

#include "intake/eval/interp_type.h"
#include "intake/eval/resolver.h"
#include "intake/eval/said.h"

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_INT,
    VALUE_REAL,
    VALUE_SIZE,  /* a number that nothing gives, and that has a name */
    VALUE_RANGE, /* a number of a random generator, from r to high */
    VALUE_TEXT,
    VALUE_MEMORY,  /* a pointer into memory, or memory itself: an array, a vector */
    VALUE_OBJECT,  /* a struct */
    VALUE_ADDRESS, /* the address of a variable */
    VALUE_CODE     /* a function, a kernel, a lambda */
};

struct interp_value {
    enum value_kind kind;
    const struct type *type; /* of the number, or of the elements of memory; NULL: not known */
    int64_t i;               /* VALUE_INT: the number; VALUE_MEMORY: bytes from its beginning */
    double r, high;
    const struct said *said; /* of a number: what it follows from; NULL: a number as such */
    const char *text;
    struct memory *memory;
    struct interp_object *object;
    struct interp_slot *slot;
    const struct decl *code;
    struct var *scope; /* the variables that a lambda sees */
};

struct interp_slot { /* what holds a value: a variable, a field, an element */
    struct interp_value v;
    const struct type *type; /* as declared; NULL: as assigned */
    const char *name;        /* NULL: an element */
    unsigned at;             /* the token where it got its value */
    bool nameless;           /* it gives its name to no number */
    unsigned born;           /* how many slots had been made */
    struct memory *element;  /* of a reference: the memory with what it stands for; else NULL */
    struct memory *tensor;   /* of a tensor; NULL: it is none */
    const char *path;        /* of a field: what the text first called it, as "cfg_n" */
};

struct interp_object {
    const struct type *type;
    struct field {
        struct interp_slot slot;
        struct field *next;
    } * fields;
};

/* What the assigned elements of a memory have in common. */
struct memory_contents {
    unsigned nr;      /* how many elements were assigned */
    bool random;      /* a random generator gave some of them */
    bool unknown;     /* some values are not known */
    bool straight;    /* element k has the value first + k * step */
    double low, high; /* of all values */
    double first, step;
};

struct texels {                  /* of a CUDA array */
    const char *type;            /* of C; NULL: not known */
    struct interp_value size[3]; /* behind the last one: 0 */
};

struct memory {
    const char *name;        /* of the first variable that pointed to it */
    int64_t bytes;           /* -1: not known */
    const struct said *said; /* of the bytes; NULL: nothing */
    unsigned line;           /* of the allocation, in the text that was read */
    unsigned at;             /* the token of the statement with it */
    bool device, to_host, from_host, zeroed, is_tensor;
    struct interp_slot **cells; /* the known elements, by hash of their offset */
    int64_t *offsets;
    unsigned nr_cells, cap_cells;
    struct texels *texels;    /* of a CUDA array; NULL: it is none */
    bool lost;                /* its contents are no longer known */
    bool foreign;             /* an unknown function had a pointer to it */
    struct interp_value fill; /* the value of elements that were not assigned */
    struct memory_contents contents;
};

struct interp_launch {
    struct site site;
    const struct decl *kernel;
    const struct decl *from; /* the function around it; NULL: a method */
    struct interp_value args[LAUNCH_MAX_ARGS];
    const char *names[LAUNCH_MAX_ARGS]; /* of pointers into the middle of memory; or NULL */
    const char *template_args[MAX_TEMPLATE_ARGS]; /* as text; NULL: not known */
    struct interp_value dims[3][3],               /* of the grid, the block, the cluster */
        smem;                                     /* what is not known: UNKNOWN */
    unsigned nr_dims[3];                          /* how many are written; 0: not known */
    bool clustered;                               /* an attribute of the launch gives the cluster */
    const struct interp_frame *scope;             /* the variables there, as they were */
    const struct bound
        *bound;       /* what template parameters stand for: the kernel's, and those there */
    unsigned assumed; /* the line of an if with an unknown condition that was taken to get here; 0:
                         none */
};

enum { INTERP_MAX_LAUNCHES = 64, INTERP_MAX_TRANSFERS = 256 };

/* Memory of the device that the host sets anew, by memset or a copy, or takes what is in it. */
struct interp_transfer {
    const struct memory *memory;
    bool taken;
    unsigned before; /* how many launches came before it */
};

struct interp {
    struct arena *arena;
    struct resolver *resolver;
    struct interp_launch launches[INTERP_MAX_LAUNCHES];
    unsigned nr_launches;
    struct interp_transfer transfers[INTERP_MAX_TRANSFERS];
    unsigned nr_transfers;
    unsigned end_line; /* the line where the program ended before any launch; 0: it did not */
    bool spent;        /* the steps were used up at end_line; the program had not ended */
    bool chip_asked;   /* a number came from the default chip of core/chip.h */

    /* private to interp*.c */
    struct interp_frame *frame;
    struct var *globals;
    struct type *types;
    unsigned steps, limit; /* tokens looked at so far; where to stop */
    unsigned patience;     /* steps that a loop or a function may take that launches nothing */
    unsigned nested;       /* how many structs are having their fields read */
    unsigned depth;        /* how deep calls, macros and statements are nested */
    unsigned assumed;      /* see struct interp_launch */
    unsigned asking;       /* > 0: numbers get no new names, nothing is called or launched */
    unsigned launching;    /* > 0: what a launch passes is being read */
    unsigned at;           /* the token of the file that is being carried out */
    unsigned last;         /* the first token of the last statement */
    bool stopped;          /* nothing more is carried out: ended, or the steps are used up */
    bool ended;            /* the program called exit() */
    bool endless;          /* exit() does nothing */
    int leaving;           /* enum leaving */

    struct functions *functions;
    struct interp_walk *walk; /* see interp_parts.h; NULL: host code is followed */
    struct expansion *expansions;
    int optind;
    const char *optarg;
    unsigned nr_slots; /* made so far, but for elements of memory */
    struct memory *argv;
    int64_t argc;
    bool args_known;
};

struct interp *interp_create(struct arena *arena, struct resolver *resolver);

/* Follows main with these arguments, which lack the program's name. known false: nothing is known
 * of the arguments. False: there is no main, or nothing was launched. */
bool interp_main(struct interp *interp, const char *const *args, unsigned nr_args, bool known);

/* For a program whose main launches nothing: follows the functions that launch, or those that call
 * them, with arguments of which nothing is known. False: nothing was launched. */
bool interp_launchers(struct interp *interp);

/* The value of an expression in the scope of a launch; NULL: in the scope of the file. */
struct interp_value interp_in_scope(
    struct interp *interp, const struct interp_launch *launch, struct tok_range range);

/* The variable of that name at the top level; NULL: there is none. */
struct interp_slot *interp_global(struct interp *interp, const char *name);

/* What is said of a number; of one as such, the number. NULL: the value is no whole number. */
const struct said *interp_said(struct interp *interp, const struct interp_value *v);

bool interp_number_of(const struct interp_value *v, double *out); /* false: v is no number */
bool interp_whole(const struct interp_value *v, int64_t *i);      /* false: v is no whole number */

#endif
