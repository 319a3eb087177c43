/* Lock files: one process at a time over a database or a folder, and who that is. */
#ifndef KEET_BASE_LOCK_H
#define KEET_BASE_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Take the lock at path, making the file; a process that is just dying is waited for, two seconds
 * at most. False: another process has it (the error names it), or the file cannot be made. The lock
 * ends with the process, and is not inherited. One per path and process. */
bool lock_take(const char *path, int *lock, struct err *err);
void lock_release(const char *path, int lock); /* removes the file; lock -1 is fine */

/* The process that holds it, 0: none; -1: one of another machine. */
long lock_holder(const char *path);

#endif
