/* The parts of `keet-opt optimize-program`: what is known of the program, of its kernels and of
 * each copy that was built and run. Private to cli/. */
#ifndef KEET_CLI_WHOLE_PROGRAM_H
#define KEET_CLI_WHOLE_PROGRAM_H

#include "capture/capture.h"
#include "cli/capture_tasks.h"
#include "cli/options.h"
#include "intake/patch/patch.h"
#include "program/user_program.h"

/* A copy of the tree that was built and run. */
struct program_trial {
    const char *name;   /* "original"; the folder is work/<name> */
    const char *folder; /* of the copy */
    const char *place;  /* in it, where commands run */
    const char *output; /* the file with what it printed */
    struct capture all;
    struct capture_end end;
    struct program_files written;
    const char *why; /* why it did not come to an end; NULL: it did */
};

enum whole_fate {
    FATE_SMALL,   /* too little could be saved */
    FATE_NO_TASK, /* it cannot be searched */
    FATE_NO_GAIN, /* nothing faster was found */
    FATE_REFUSED, /* a winner, and the program refuses it */
    FATE_TAKEN
};

struct whole_kernel {
    const struct capture_kernel *facts;
    const struct capture_launch *launch; /* the recorded one; NULL: none */
    const char *source;                  /* the file with it, relative to the tree; NULL: none */
    const char *stem;                    /* of its task's file; NULL: it has none */
    struct capture_task task;
    enum whole_fate fate;
    const char *why; /* of the fate; NULL: nothing to add */
    double alone;    /* how much faster the search says; 0: it says nothing */
    double after_ns; /* in the program that was accepted, under the same name; 0: not there */
    struct patched_file *files; /* name: relative to the tree */
    unsigned nr_files;
};

struct whole_program {
    const struct options *options;
    struct arena *arena;
    const char *const *argv;
    const char *work;  /* absolute */
    const char *tree;  /* absolute: the user's */
    const char *below; /* the current folder in the tree; "": the tree itself */
    double tolerance;
    const volatile int *stop;
    struct program_trial original;
    struct program_trial again;     /* a second run of the original; name NULL: none was needed */
    struct program_trial accepted;  /* name NULL: none was */
    struct program_comparison same; /* of the accepted one */
    struct whole_kernel *kernels;   /* as original.all.kernels */
    unsigned nr_kernels;
    const char *patch_path; /* the diff of what was accepted; NULL: none */
    bool in_place;          /* the user's files have it */
};

/* A line on stderr, unless quiet. */
void whole_tell(const struct whole_program *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- program_trial.c --- */

/* Copies, changes, builds and runs; trial->why says what of it did not work. False: the environment
 * fails, or the user stopped it. */
bool program_try(struct whole_program *w, struct program_trial *trial, const char *name,
    const struct patched_file *files, unsigned nr_files, struct err *err);
/* Does the trial say what the original says, in less time than that and what was accepted? *why
 * NULL: yes. */
bool program_judge(struct whole_program *w, const struct program_trial *trial,
    struct program_comparison *c, const char **why, struct err *err);

/* --- program_winners.c --- */

/* Tasks of the kernels that are worth it, and their sources. */
bool program_make_tasks(struct whole_program *w, struct err *err);
/* The search over all tasks. */
bool program_search(struct whole_program *w, struct err *err);
/* Each winner as changes to the files of the tree. */
void program_make_patches(struct whole_program *w);
/* The files that the kernels in taken[nr_kernels] change together. NULL: the changes of *clash meet
 * those of another. */
struct patched_file *program_join(
    struct whole_program *w, const bool *taken, unsigned *nr, const struct whole_kernel **clash);

/* --- program_show.c --- */

void program_show(const struct whole_program *w);
void program_show_json(const struct whole_program *w);

#endif
