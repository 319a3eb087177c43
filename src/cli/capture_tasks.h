/* Kernel files from captured launches: the code of the user's file, with a contract that text and
 * capture agree on, or else of the capture alone. */
#ifndef KEET_CLI_CAPTURE_TASKS_H
#define KEET_CLI_CAPTURE_TASKS_H

#include "capture/capture.h"
#include "cli/options.h"

struct capture_task {
    const char *path; /* NULL: there is none, and `why` says why */
    bool from_text;   /* names and sizes are the text's */
    const char *why;  /* ... why they are not; NULL: they are */
};

/* A kernel file in the capture's folder. argv: the program and its arguments, ended by NULL. */
struct capture_task capture_make_task(struct arena *arena, const struct options *o,
    const char *source_path, const char *const *argv, const struct capture *c,
    const struct capture_launch *launch);

#endif
