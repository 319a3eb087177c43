/* Lock files: one process at a time may use a database or a folder, and others see which one. */
#ifndef KEET_BASE_LOCK_H
#define KEET_BASE_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Takes the lock at path and makes its file. Waits two seconds at most for a holder that is just
 * dying. False with err: another process holds the lock (the error names that process), or the file
 * cannot be made. The lock ends with the process; children do not inherit it. A process takes a
 * path at most once. */
bool lock_take(const char *path, int *lock, struct err *err);
void lock_release(const char *path, int lock); /* removes the file; lock -1 is fine */

/* The process that holds the lock at path; 0: none; -1: a process of another machine. */
long lock_holder(const char *path);

#endif
