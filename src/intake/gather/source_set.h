/* Private to intake/: a file as it was read, with where each of its lines came from. */
#ifndef KEET_INTAKE_GATHER_SOURCE_SET_H
#define KEET_INTAKE_GATHER_SOURCE_SET_H

#include "intake/eval/resolver.h"
#include "intake/gather/translation_units.h"
#include "intake/intake.h"

struct user_file {
    const char *path, *name; /* name: as the user's file includes it; path "": macros made it */
    const char *real;        /* path without links and dots; NULL: not looked up */
    const char *text;
    const char *code; /* what of it is C++: text, but for Python's */
    size_t bytes;
    bool macros_only; /* macros were taken from it, and it is no part of the text by that */
    bool renamed;     /* read with other names for what only this file sees */
};

struct origin { /* of a line of the text that was read */
    unsigned file;
    size_t at; /* byte in that file */
    bool made; /* written out from a macro: not what stands there */
};

struct linked { /* another file of the program that defines what this one's device code uses */
    const struct unit *unit;
    const char *name; /* what it was looked for */
};

struct rename { /* in that file, of what no other file sees and another has under the same name */
    const struct unit *unit;
    const char *name;
};

struct neighbour; /* of resolve_externs.c */

enum {
    READING_MAX_FILES = 257,
    READING_MAX_LINKED = 8,
    READING_MAX_RENAMES = 32,
    READING_MAX_BYTES = 4 << 20,
    READING_NO_LINE = ~0u
};

struct reading {
    struct arena *arena;
    struct user_file files[READING_MAX_FILES]; /* [0] is the user's; then headers of the user's */
    unsigned nr_files;
    const char *text;        /* with its headers in place */
    size_t bytes, own_bytes; /* of the user's file with its headers */
    size_t device_bytes;     /* and what is linked; behind it, the program's other files */
    struct linked linked[READING_MAX_LINKED];
    unsigned nr_linked, nr_own_files; /* files that device_bytes are of */
    struct rename renames[READING_MAX_RENAMES];
    unsigned nr_renames;
    bool unlinked;                /* it did not help: not again */
    struct neighbour *neighbours; /* NULL: not looked for yet; nr_around of them */
    struct unit *around;          /* reading_around's */
    unsigned nr_around;
    bool has_units;
    bool own_task;          /* the file says its task itself: none is inferred */
    bool expands;           /* macros that launch are written out in functions too */
    struct origin *origins; /* of its lines, from 0 */
    size_t *starts;         /* where they begin in text */
    unsigned nr_lines;
    struct toks toks;
    struct decls decls;
    struct host host;
    struct device_text device;
    struct intake in;
};

/* Fills r->text and what says where its lines are from, for r->files[0]; in inline_headers.c. */
/* The other sources beside the user's file, read when they are first asked for. */
const struct unit *reading_around(struct reading *r, unsigned *nr);

bool reading_pull(
    struct reading *r, bool with_units, const struct intake_args *args, struct err *err);

/* False as intake_read. */
bool reading_make(struct reading *r, struct arena *arena, const char *path, const char *source,
    size_t bytes, const struct intake_args *args, struct err *err);

/* The line of r->text (from 0) that line `line` (from 0) of the kernel file is; READING_NO_LINE: it
 * is ours. */
unsigned reading_line(const struct reading *r, unsigned line);

#endif
