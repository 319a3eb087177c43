/* Private to intake/: the parts of a patch. */
#ifndef KEET_INTAKE_PATCH_PATCH_PARTS_H
#define KEET_INTAKE_PATCH_PATCH_PARTS_H

#include "base/edits.h"
#include "core/task.h"
#include "intake/gather/source_set.h"
#include "intake/patch/patch.h"

/* The pragmas of a file that says its task itself, while it is patched: see patch_own.c. */
#define PATCH_KEPT "#pragma kept"

struct patcher {
    struct arena *arena;
    struct source_set *set;
    const struct task *task; /* its launches are those of the file */
    const struct plan *plan; /* of the winner */
    struct toks toks;        /* of the winner's code without pragmas */
    struct decls decls;
    struct edits edits[SOURCE_SET_MAX_FILES];
    const char *why, *note;
};

/* Without a plan yet. */
struct patcher *patcher_create(struct arena *arena, const struct task *task);

/* Reads the file into p->set, with all its launches or with one alone (intake_args.only), as the
 * task was made from it. own: the task is the file's own; the launches alone say which they are.
 * Where nothing fits, all launches are read. False: err. */
bool patcher_read(struct patcher *p, const char *path, const char *source, size_t bytes,
    const struct intake_args *args, bool own, struct err *err);

/* Patches the files that were read. best: the winner, whose plan p has. code: see patch_make. */
void patcher_write(struct patch *patch, struct patcher *p, bool code, const char *best);

/* Sets p->why, and returns false. */
bool patcher_refuse(struct patcher *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Replaces bytes [from, to) of p->set->text by text. False: the two ends are not in one file;
 * p->why says so. */
bool patcher_replace(struct patcher *p, size_t from, size_t to, const char *text);

/* The tokens of a range of p->set->text as they stand there. */
const char *patcher_source(const struct patcher *p, struct tok_range range);

/* Where line `line` (from 1) of p->set->text comes from: "line 12" of the user's file, or
 * "x.cuh:12". */
const char *patcher_where(const struct patcher *p, unsigned line);

/* The byte of p->set->text where a line (from 0) begins. */
size_t patcher_line_at(const struct patcher *p, unsigned line);

/* The byte before the declaration around byte `at`, and before the comment above that
 * declaration. */
size_t patcher_before_declaration(const struct patcher *p, size_t at);

/* Puts the winner's device code in place of the user's. False: p->why. */
bool patch_code(struct patcher *p, const char *code);

/* Puts the winner's launches in place of the user's. code: only device code may change, so that
 * other launches are refused. False: p->why. */
bool patch_launches(struct patcher *p, bool code);

/* ---- what a contract's expressions are called at a place in host code ---- */

enum { SCOPE_NAMES_MAX = 256 };

struct name_map {
    const char *text;   /* of the contract, as scope_names_plain has it */
    const char *source; /* what host code calls it there, in C++ */
    const char *type;   /* of the kernel's parameter that gets it; NULL: none does */
};

struct scope_names {
    struct patcher *p;
    unsigned at; /* the token of the launch */
    struct name_map maps[SCOPE_NAMES_MAX];
    unsigned nr_maps;
};

void scope_names_init(struct scope_names *scope, struct patcher *p, unsigned at);
void scope_names_add(
    struct scope_names *scope, const char *text, const char *source, const char *type);
const struct name_map *scope_names_find(const struct scope_names *scope, const char *text);

/* An expression of the contract in one form, with the plan's tuning parameters as numbers; what is
 * no expression loses its blanks. */
const char *scope_names_plain(struct arena *arena, const struct plan *plan, const char *text);

/* An expression of the winner as C++ at the place of the launch. NULL: it needs what has no name
 * there; p->why says what. */
const char *scope_names_expr(struct scope_names *scope, const char *text);

/* The text without its blanks. */
const char *spelling_dense(struct arena *arena, const char *text);

/* ---- the launches of a winner, and the user's launches that they replace ---- */

/* A launch of the task. Its expressions are text of the contract, with constants folded. */
struct launch_words {
    const char *id;
    const char *dims[3][3]; /* of the grid, of the block, of the cluster */
    const char *smem;
    const char *args[LAUNCH_MAX_ARGS];
    unsigned nr_args;
    const struct launch_arg *said; /* the arguments, as the plan has them */
    const struct decls *decls;     /* where the kernel is declared */
    const struct decl *kernel;     /* NULL: it is not among them */
};

bool relaunch_is_clustered(const struct launch_words *w);
/* It needs more than the part of a statement: a cluster, or a tensor map that the old launch does
 * not pass. */
bool relaunch_is_long(const struct launch_words *w, const struct launch_words *old);

struct scratch { /* an array that the winner adds */
    const char *name, *variable, *type;
    const struct task_array *array;
};

struct relaunch {
    struct patcher *p;
    struct launch_words old[INTAKE_MAX_LAUNCHES], new_[INTAKE_MAX_LAUNCHES];
    unsigned nr_old, nr_new;
    struct scratch scratch[16];
    unsigned nr_scratch;
    struct scope_names scope;
    unsigned first_map; /* the first token of the first launch that gets a tensor map; 0: none */
};

/* False: p->why. */
bool relaunch_read(struct relaunch *l);
bool relaunch_same(const struct launch_words *a, const struct launch_words *b);
/* Writes launch i at its site: only the parts that differ change. */
bool relaunch_parts(struct relaunch *l, unsigned i, const struct site *site);
/* Writes all new launches in place of a run of nr_old sites. */
bool relaunch_run(struct relaunch *l, const struct site *const *run);

#endif
