/* Private to intake/: all source text that one reading of a file takes in, and where each line of
 * that text came from. */
#ifndef KEET_INTAKE_GATHER_SOURCE_SET_H
#define KEET_INTAKE_GATHER_SOURCE_SET_H

#include "intake/eval/resolver.h"
#include "intake/intake.h"

struct user_file {
    const char *path; /* "": the text was made from macros */
    const char *name; /* as #include spells it */
    const char *real; /* the path without links and dots; NULL: not looked up */
    const char *text;
    const char *code; /* the C++ in it: text itself, except for a Python file */
    size_t bytes;
    bool macros_only; /* its macros were taken, but its text was not */
};

/* Another source in the folder of the user's file. */
struct neighbour {
    struct user_file file;
    struct toks toks; /* these two where `read` */
    struct decls decls;
    bool read;
};

struct origin { /* where a line of the text came from */
    unsigned file;
    size_t at; /* its first byte in that file */
    bool made; /* a macro made the line: the file has other text there */
};

/* A neighbour that defines what the device code of the user's file uses. */
struct linked {
    const struct user_file *file;
    const char *name; /* the name that it defines */
};

enum {
    SOURCE_SET_MAX_FILES = 257,
    SOURCE_SET_MAX_LINKED = 8,
    SOURCE_SET_MAX_BYTES = 4 << 20,
    SOURCE_SET_NO_LINE = ~0u
};

struct source_set {
    struct arena *arena;
    struct user_file files[SOURCE_SET_MAX_FILES]; /* [0] is the user's file; its headers follow */
    unsigned nr_files;
    const char *text;        /* of all files, with headers in place */
    size_t bytes, own_bytes; /* own_bytes: of the user's file with its headers */
    size_t device_bytes; /* of these and of the linked files; the program's other files follow */
    struct linked linked[SOURCE_SET_MAX_LINKED];
    unsigned nr_linked, nr_own_files; /* nr_own_files: the files that device_bytes count */
    bool unlinked;                    /* linking did not help, and is not tried again */
    struct neighbour *neighbours;     /* in the order of their names; NULL: not looked for yet */
    unsigned nr_neighbours;
    bool has_units;
    bool own_task;          /* the file says its task itself: none is inferred */
    struct origin *origins; /* by line, from 0 */
    size_t *starts;         /* where each line begins in text */
    unsigned nr_lines;
    struct toks toks;
    struct decls decls;
    struct resolver resolver;
    struct device_text device;
    struct intake in;
};

/* Fills set->neighbours when it is first called. Returns how many of them, from the first, are one
 * program with the user's file, which has no main. 0: none of them has main, or several have. These
 * two are defined in neighbours.c. */
unsigned source_set_neighbours(struct source_set *set);

bool source_has_main(const char *text);

/* Fills set->text, and what says where its lines are from, beginning with set->files[0]. Defined in
 * inline_headers.c. with_units: with the program's other files. False: err says why the text cannot
 * be read. */
bool source_set_inline_headers(
    struct source_set *set, bool with_units, const struct intake_args *args, struct err *err);

/* Reads a file and infers its contract into set->in. False: see intake_read. */
bool source_set_read(struct source_set *set, struct arena *arena, const char *path,
    const char *source, size_t bytes, const struct intake_args *args, struct err *err);

/* The file that a line (from 1) of set->text comes from, and its number there in *number. */
const struct user_file *source_set_origin(
    const struct source_set *set, unsigned line, unsigned *number);

/* Which line of set->text is line `line` of the kernel file, both from 0. SOURCE_SET_NO_LINE: that
 * line is not the user's. */
unsigned source_set_line(const struct source_set *set, unsigned line);

/* ---- resolve_externs.c, seed_constants.c, contract/contract.c ---- */

/* Call it after decls_reach. Adds to set->linked the neighbours that define what is missing. True:
 * set->linked has changed, and the text is to be read again. Declarations that both files have are
 * kept once. Where two declarations of one name differ, nothing is linked. */
bool resolve_externs(struct source_set *set);

/* Finds the seeds of a file whose contract is known, and sets them in set->in. */
void seed_constants_find(struct source_set *set);

/* Writes the values of args->instead into set->text, before its tokens are read. */
void seed_constants_put(struct source_set *set, const struct intake_args *args);

/* Fills in->lines and the counts of in. False: the program launches nothing; err says what was
 * found instead. */
bool contract_infer(struct intake *in, struct resolver *resolver, const char *path,
    const struct intake_args *args, struct err *err);

/* ---- python.c: CUDA in strings of a Python file, as PyTorch's load_inline takes it ---- */

bool python_is(const char *path);

/* The CUDA and C++ strings of a file; all else is blank, so that each byte stands where it does in
 * the file. A doubled backslash becomes a blank and a backslash. NULL: no string has a kernel. */
char *python_cuda(struct arena *arena, const char *text, size_t bytes);

/* The text as it must be written in the string around byte `at`. */
const char *python_quoted(struct arena *arena, const char *file, size_t at, const char *text);

#endif
