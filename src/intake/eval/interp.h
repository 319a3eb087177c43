/* Private to intake/: host code followed as the program would run with given arguments.
 *
 *     struct interp *interp = interp_create(arena, host);
 *     interp_main(interp, args, nr_args, true);
 *     ... interp->launches: what was launched, with the numbers and the memory it got ...
 *
 * From main on, statement by statement: numbers are known where the file, the arguments and C's own
 * functions give them, and unknown elsewhere (files, random numbers, headers that are not there).
 * An if whose condition is unknown is passed by where it only leaves the function, else the side
 * with a launch is taken and said (interp_launch.assumed). Work is bounded: a loop without a launch
 * that takes too long leaves what it assigns unknown. No memory of the process is read or written.
 */
#ifndef KEET_INTAKE_EVAL_INTERP_H
#define KEET_INTAKE_EVAL_INTERP_H

#include "intake/eval/interp_type.h"
#include "intake/eval/resolver.h"

enum value_kind {
    VALUE_UNKNOWN,
    VALUE_INT,
    VALUE_REAL,
    VALUE_RANGE, /* some number from r to high: of a random generator */
    VALUE_TEXT,
    VALUE_MEMORY,  /* a pointer into memory, or memory itself (an array, a vector) */
    VALUE_OBJECT,  /* a struct */
    VALUE_ADDRESS, /* of a variable */
    VALUE_CODE     /* a function, a kernel, a lambda */
};

struct interp_value {
    enum value_kind kind;
    const struct type *type; /* of a number; of what memory has; NULL: not known */
    int64_t i;               /* VALUE_INT; VALUE_MEMORY: bytes from its beginning */
    double r, high;
    const char *text;
    struct memory *memory;
    struct interp_object *object;
    struct interp_slot *slot;
    const struct decl *code;
    struct var *scope; /* of a lambda */
};

struct interp_slot { /* what holds a value: a variable, a field, an element */
    struct interp_value v;
    const struct type *type; /* as declared; NULL: as assigned */
    const char *name;        /* NULL: an element */
};

struct interp_object {
    const struct type *type;
    struct field {
        struct interp_slot slot;
        struct field *next;
    } * fields;
};

/* What the elements that were assigned have in common. */
struct memory_contents {
    unsigned nr;      /* how many were */
    bool random;      /* some by a generator */
    bool unknown;     /* some are not known */
    bool straight;    /* element k is first + k * step */
    double low, high; /* of all */
    double first, step;
};

struct memory {
    const char *name; /* of the first variable that held it */
    int64_t bytes;    /* -1: not known */
    unsigned line;    /* of the allocation, in the file */
    bool device, to_host, from_host, zeroed;
    struct interp_slot **cells; /* by hash of their offset: elements that are known */
    int64_t *offsets;
    unsigned nr_cells, cap_cells;
    bool lost;                /* its contents are not known any more */
    bool foreign;             /* someone who is not known had it */
    struct interp_value fill; /* of elements that no one has assigned */
    struct memory_contents contents;
};

struct interp_launch {
    struct site site;
    const struct decl *kernel;
    const struct decl *from; /* the function that it stands in; NULL: a method */
    struct interp_value args[LAUNCH_MAX_ARGS];
    const char *template_args[MAX_TEMPLATE_ARGS]; /* text; NULL: not known */
    int64_t grid[3], block[3], smem;
    bool grid_known, block_known, smem_known;
    unsigned assumed; /* the line of an if that was taken without being known; 0: none */
};

enum { INTERP_MAX_LAUNCHES = 64, INTERP_MAX_TRANSFERS = 256 };

/* Memory of the device that the host sets anew, by memset or a copy, or takes what is in it. */
struct interp_transfer {
    const struct memory *memory;
    bool taken;
    unsigned before; /* it came after so many launches */
};

struct interp {
    struct arena *arena;
    struct resolver *resolver;
    struct interp_launch launches[INTERP_MAX_LAUNCHES];
    unsigned nr_launches;
    struct interp_transfer transfers[INTERP_MAX_TRANSFERS];
    unsigned nr_transfers;
    unsigned end_line; /* where the program ended before it launched anything; 0: it did not */
    bool spent;        /* it did not end there: the steps did */
    bool chip_asked;   /* some number is that of core/chip.h's default */

    /* private to interp*.c */
    struct interp_frame *frame;
    struct var *globals;
    struct type *types;
    struct fact *facts;
    unsigned nr_facts;
    unsigned steps, limit; /* tokens looked at, and when to stop: a loop's bound */
    unsigned dry;          /* > 0: parsed, not carried out */
    unsigned nested;       /* structs whose fields are being read */
    unsigned depth;        /* of calls, macros and nested statements */
    unsigned assumed;      /* see interp_launch */
    unsigned char *tired;  /* by token: how often the loop or function there was given up */
    unsigned at;           /* token of the file's that is being carried out */
    unsigned last;         /* token of the last statement */
    bool stopped;          /* the budget is spent, or ended */
    bool ended;            /* exit() */
    int leaving;           /* enum leaving */

    struct functions *functions;
    struct expansion *expansions;
    int optind;
    const char *optarg;
    struct memory *argv;
    int64_t argc;
    bool args_known;
};

struct interp *interp_create(struct arena *arena, struct resolver *resolver);

/* Walks through main with these arguments (without the program's name); known false: with arguments
 * of which nothing is known. False: there is no main, or nothing was launched. */
bool interp_main(struct interp *interp, const char *const *args, unsigned nr_args, bool known);

bool interp_number_of(const struct interp_value *v, double *out); /* false: it is none */
bool interp_whole(const struct interp_value *v, int64_t *i);      /* the same as an integer */

/* The only name of a variable, no field, that had this number then; NULL. */
const char *interp_name(const struct interp *interp, double value);

/* The number that a variable of fn (NULL: a global one), "n" or "cfg.n", had at the first launch,
 * or when fn returned. */
bool interp_number(
    const struct interp *interp, const struct decl *fn, const char *name, double *value);

#endif
