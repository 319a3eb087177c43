/* Private to compile/: which files a candidate may include. The sandbox of the child enforces the
 * same a second time; this check is what gives the clear message, and what holds on kernels of the
 * operating system that have no Landlock. */
#ifndef KEET_COMPILE_INCLUDES_H
#define KEET_COMPILE_INCLUDES_H

#include "base/str.h"

#include <stdbool.h>

/* False when the source includes anything but stand-ins and files below the folders in dirs (ended
 * by NULL): *line and *what say which directive ("#include of \"/etc/passwd\""). */
bool includes_allowed(
    const char *source, const char *const *dirs, unsigned *line, struct str *what);

#endif
