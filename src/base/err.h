/* One error: a sentence that names the fault, its place and the cure.
 *
 * A function that can fail for reasons outside the candidate kernel returns bool and takes a
 * `struct err *err` last. On false, err->text is set; on true it is untouched, so calls chain with
 * &&. Callers on the way up add context with err_wrap; main prints the text once. A broken
 * candidate is not an error: see core/verdict.h. A broken original is one, since nothing can be
 * compared with it: err_original. */
#ifndef KEET_BASE_ERR_H
#define KEET_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum { ERR_TEXT_BYTES = 2048 };

struct err {
    char text[ERR_TEXT_BYTES];
    bool original; /* the user's own kernel is broken; everything else is all right */
};

/* Replace the text; always returns false, so that `return err_set(err, ...)` reads well. */
bool err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, where the user's own kernel is to blame. */
bool err_original(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put "<context>: " before the text already there; always returns false. */
bool err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As err_set, with ": <strerror(errno)>" at the end. */
bool err_errno(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
