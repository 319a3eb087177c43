/* Memory for keys, and for all that passes one on: no child process inherits it, no core dump holds
 * it, and it is wiped when it is freed. Any thread may use it. Meant for a few hundred KiB.
 *
 * A forked child that touches it faults: what runs there must not need a secret. Blocks are
 * zeroed, aligned to 16 bytes, and end the process when there is no memory, like xmalloc. */
#ifndef KEET_BASE_SECRET_H
#define KEET_BASE_SECRET_H

#include <stddef.h>

void *secret_alloc(size_t bytes);
void *secret_calloc(size_t nr, size_t bytes_each);
void *secret_realloc(void *block, size_t bytes); /* NULL: a new one */
char *secret_strdup(const char *text);
void secret_free(void *block); /* NULL is fine */

/* Empties the vector registers, in which copying and comparing leave what they have touched: core
 * dumps hold the registers of every thread, and a fork those of its caller. To be called when a
 * secret has been worked on; x86-64 and AArch64, elsewhere nothing. */
void secret_clear_registers(void);

/* Takes a variable out of the environment: its value is moved here and wiped where it was, so that
 * neither children nor /proc show it. NULL when it is not set or empty. Before the first thread. */
char *secret_take_env(const char *name);

#endif
