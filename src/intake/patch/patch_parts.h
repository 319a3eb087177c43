/* Private to intake/: the parts of a patch. */
#ifndef KEET_INTAKE_PATCH_PATCH_PARTS_H
#define KEET_INTAKE_PATCH_PATCH_PARTS_H

#include "base/edits.h"
#include "core/task.h"
#include "intake/gather/source_set.h"

/* The pragmas of a file that says its task itself, while it is patched: see patch_own.c. */
#define PATCH_KEPT "#pragma kept"

struct patcher {
    struct arena *arena;
    struct reading *r;
    const struct plan *plan; /* the winner's */
    struct toks toks;        /* the winner's code, without pragmas */
    struct decls decls;
    struct edits edits[READING_MAX_FILES];
    const char *why, *note;
};

/* False, and p->why is set. */
bool patcher_refuse(struct patcher *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes [from, to) of p->r->text become text; both ends must lie in one file. */
bool patcher_replace(struct patcher *p, size_t from, size_t to, const char *text);

/* "line 12" of the user's file, or "x.cuh:12": what line (from 1) of p->r->text is. */
const char *patcher_where(const struct patcher *p, unsigned line);

/* Where a line (from 0) of p->r->text begins. */
size_t patcher_line_at(const struct patcher *p, unsigned line);

/* The winner's device code in place of the user's; false: p->why. */
bool patch_code(struct patcher *p, const char *code);

/* The winner's launches in place of the user's; false: p->why. */
bool patch_launches(struct patcher *p);

/* ---- what a contract's expressions are called at a place in host code ---- */

enum { PLACE_MAX_PAIRS = 256 };

struct pair {
    const char *text;   /* of the contract, without blanks */
    const char *source; /* C++ there */
    const char *type;   /* of the kernel's parameter that it was passed to; NULL: none */
};

struct place {
    struct patcher *p;
    unsigned at; /* the token of the launch */
    struct pair pairs[PLACE_MAX_PAIRS];
    unsigned nr_pairs;
    bool contract; /* no C++: the task language itself, with tuning parameters put in */
};

void place_init(struct place *place, struct patcher *p, unsigned at);
void place_add(struct place *place, const char *text, const char *source, const char *type);
const struct pair *place_pair(const struct place *place, const char *text);

/* An expression of the winner as C++ at the place; NULL: it needs a size that has no name there,
 * and p->why says which. Numbers are put together. */
const char *place_expr(struct place *place, const char *text);

/* A text without blanks. */
const char *dense(struct arena *arena, const char *text);

#endif
