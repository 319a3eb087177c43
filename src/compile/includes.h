/* Private to compile/: the #include directives of a candidate. Checks that they name allowed files
 * only, and keeps tuning parameters out of these files. The sandbox of the child refuses other
 * files, too; this check gives the clear message, and holds where the system has no Landlock. */
#ifndef KEET_COMPILE_INCLUDES_H
#define KEET_COMPILE_INCLUDES_H

#include "base/str.h"

#include "core/task.h"

#include <stdbool.h>

/* False: the source includes something else than stand-ins and files below the folders in dirs
 * (ended by NULL); *line and *what name the directive ("#include of \"/etc/passwd\""). */
bool includes_allowed(
    const char *source, const char *const *dirs, unsigned *line, struct str *what);

/* Appends the source with its tuning parameters defined as macros, but not inside included files: a
 * parameter called T must not reach the templates of a header. Line numbers hold. */
void includes_define_tunes(
    const char *source, const struct tune *tunes, unsigned nr_tunes, struct str *out);

#endif
