/* Takes rights away from the calling process, for good. Called in children before they touch
 * anything that a candidate kernel has influenced. */
#ifndef KEET_BASE_SANDBOX_H
#define KEET_BASE_SANDBOX_H

#include <stdbool.h>

/* From now on only files below these paths (ended by NULL) may be opened, for reading; files that
 * are already open stay so. False when the kernel has no Landlock: then nothing is enforced. */
bool sandbox_read_only(const char *const *paths);

#endif
