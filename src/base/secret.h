/* Secret memory, for keys and for every buffer that a key passes through. No child process inherits
 * secret memory, no core dump holds it, and secret_free wipes it. Any thread may use it. It is
 * meant for a few hundred KiB.
 *
 * A forked child that touches secret memory faults, so its code must not need a secret. Blocks are
 * zeroed and aligned to 16 bytes; as with xmalloc, the process ends when memory runs out. */
#ifndef KEET_BASE_SECRET_H
#define KEET_BASE_SECRET_H

#include <stddef.h>

void *secret_alloc(size_t bytes);
void *secret_calloc(size_t nr, size_t bytes_each);
void *secret_realloc(void *block, size_t bytes); /* NULL: a new one */
char *secret_strdup(const char *text);
void secret_free(void *block); /* NULL is fine */

/* Empties the vector registers, in which copies and comparisons leave their bytes: a core dump
 * holds the registers of every thread, a fork those of its caller. Call it after work on a secret.
 * Works on x86-64 and AArch64; does nothing elsewhere. */
void secret_clear_registers(void);

/* Takes a variable out of the environment: moves its value into secret memory and wipes the old
 * place, so that neither children nor /proc show the value. NULL when the variable is unset or
 * empty. Call it before the first thread starts. */
char *secret_take_env(const char *name);

#endif
