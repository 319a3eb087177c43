/* What a terminal gets to see. Text that others wrote (kernels, models, databases, file names) may
 * hold control characters, and a terminal obeys control characters. After terminal_guard, no
 * control character but newline and tab reaches a terminal through stdout or stderr, nor one that
 * turns the direction of writing: U+FFFD stands in its place, and for bytes that are not UTF-8.
 * Files and pipes get every byte as it is. */
#ifndef KEET_BASE_TERMINAL_H
#define KEET_BASE_TERMINAL_H

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

/* Call it first of all in main. */
void terminal_guard(void);

/* Writes control characters of our own: they reach the terminal. */
void terminal_control(FILE *out, const char *sequence);

/* The file descriptor behind a stream; fileno() does not know that of a guarded one. */
int terminal_fd(FILE *out);

/* Flushes stdout. False with err: a write failed now or before. A pipe whose reader is gone is no
 * failure: the reader has what it wanted. */
bool terminal_flush(struct err *err);

/* The bytes as a terminal may see them, in `out` of 3 * len + 4 bytes; gives their number. The
 * bytes of a character that is not complete yet stay in `pending` (zero-initialised) for the next
 * call. */
struct terminal_pending {
    unsigned char bytes[4];
    size_t nr;
};
size_t terminal_clean(struct terminal_pending *pending, const char *bytes, size_t len, char *out);

#endif
