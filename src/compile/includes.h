/* Private to compile/: the #include directives of a candidate: which files it may include, and how
 * its tuning parameters are kept out of them. The sandbox of the child refuses other files a second
 * time; this check is what gives the clear message, and what holds where the operating system has
 * no Landlock. */
#ifndef KEET_COMPILE_INCLUDES_H
#define KEET_COMPILE_INCLUDES_H

#include "base/str.h"

#include "core/task.h"

#include <stdbool.h>

/* False when the source includes anything but stand-ins and files below the folders in dirs (ended
 * by NULL): *line and *what say which directive ("#include of \"/etc/passwd\""). */
bool includes_allowed(
    const char *source, const char *const *dirs, unsigned *line, struct str *what);

/* Append the source with its tuning parameters defined as macros, everywhere but in what it
 * includes: a parameter called T must not reach the templates of a header. Line numbers hold. */
void includes_define_tunes(
    const char *source, const struct tune *tunes, unsigned nr_tunes, struct str *out);

#endif
