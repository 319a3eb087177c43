/* A user's program as a whole: a copy of its sources, built and run there, what it said and wrote,
 * and whether two runs said the same.
 *
 *     program_copy_tree("solver", "work/original", &leave_out, &err) && program_run(&build, &end,
 * &err) program_list_files(&before, arena, "work/original", NULL, &err)
 *     ... the program runs ...
 *     program_compare_text(&c, out_before, out_after, NULL, 1e-5)  -> c.why
 *
 * All memory is the arena's. Nothing here writes outside of the folders that it is given. */
#ifndef KEET_PROGRAM_USER_PROGRAM_H
#define KEET_PROGRAM_USER_PROGRAM_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- program_tree.c: copies of the user's tree --- */

struct program_leave_out {
    const char *folder; /* the path of a folder that is not copied, wherever it is; NULL: none */
    const char *file;   /* a file, relative to the tree: what the build makes anew; NULL: none */
};

/* Copies a folder with all below: files with their times, links as links. Not copied are the parts
 * of `out`, object files, what a version control or keet-opt itself keeps, and build folders of
 * CMake, which know where they were made: the build makes them anew. An error: `to` is there
 * already, or the tree has over 8 GiB. */
bool program_copy_tree(
    const char *from, const char *to, const struct program_leave_out *out, struct err *err);
/* Removes a folder with all below, links as links. True where there is none. */
bool program_remove_tree(const char *path, struct err *err);

struct program_file {
    const char *name; /* relative to the tree */
    uint64_t bytes, hash[2];
};

struct program_files {
    struct program_file *files; /* by name */
    unsigned nr;
};

/* Every file below a folder; hashed: with the hash of its contents, else 0. */
bool program_list_files(
    struct program_files *all, struct arena *arena, const char *tree, bool hashed, struct err *err);
/* The files of `after` that are new, or have other contents than before. */
struct program_files program_written(
    struct arena *arena, const struct program_files *before, const struct program_files *after);

/* --- program_run.c: commands --- */

struct program_command {
    const char *const *argv; /* ended by NULL */
    const char *folder;      /* where it runs */
    const char *output;      /* the file that its stdout goes to, and its stderr where `both` */
    bool both;
    bool links_shared;        /* nvcc links the shared CUDA runtime: NVCC_APPEND_FLAGS */
    const volatile int *stop; /* set by a signal handler: the command is ended; NULL: never */
};

struct program_end {
    int status, signal; /* the exit code; the signal that ended it, or 0 */
};

/* Runs a command to its end. False: it could not be started, or was stopped. */
bool program_run(const struct program_command *command, struct program_end *end, struct err *err);

/* --- program_compare.c: what two runs said --- */

struct program_comparison {
    struct arena *arena;
    double tolerance; /* relative, of numbers with a point or an exponent */
    const char *why;  /* what differs, for people; NULL: nothing does */
    unsigned nr_lines, nr_numbers;
    unsigned nr_masked; /* numbers that were not compared: times, and what differs by itself */
    unsigned nr_files;
};

/* Adds the comparison of two texts. Whole numbers must be the same, others within the tolerance or
 * one unit of their last place. Times and rates are masked: numbers with a unit of them, and the
 * first number behind a word such as `time`. again: the text of a second run of the original, where
 * numbers that differ from the first are masked, too; NULL: there was none. */
void program_compare_text(struct program_comparison *c, const char *name, const char *a,
    const char *b, const char *again);
/* The same for files, of any contents. Files of f32 or f64 are compared as such where their bytes
 * differ. again may be NULL or no file. */
void program_compare_files(struct program_comparison *c, const char *name, const char *a,
    const char *b, const char *again);

/* --- program_merge.c --- */

/* Two changes of one text as one. NULL: they meet at one place. */
const char *program_merge(
    struct arena *arena, const char *base, const char *ours, const char *theirs);

/* --- program_sources.c --- */

/* The .cu file that launches a kernel or, where none does, has it; headers of the tree that a file
 * includes count as its own. kernel: its name, perhaps with template arguments. The name is
 * relative to the tree. NULL: no file has it. */
const char *program_source_of(
    struct arena *arena, const char *tree, const struct program_files *files, const char *kernel);

#endif
