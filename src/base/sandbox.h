/* Takes rights away from the calling process, for good. Called in children before they touch
 * anything that a candidate kernel has influenced. */
#ifndef KEET_BASE_SANDBOX_H
#define KEET_BASE_SANDBOX_H

#include <stdbool.h>

/* From now on only files below these paths (ended by NULL) may be opened, for reading; files that
 * are already open stay so. False when the kernel has no Landlock: then nothing is enforced. */
bool sandbox_read_only(const char *const *paths);
/* The same, and those below `writable` (NULL: none) for writing too; none may be made. */
bool sandbox_files(const char *const *readable, const char *const *writable);

/* From now on every file may be read and run, as far as its permissions go, and nothing written but
 * /dev/null. False as above. For programs of the user's own that are only to look. */
bool sandbox_look_only(void);

/* From now on no socket can be made, no other process traced and nothing mounted (EPERM), by this
 * process or what it starts. Needs seccomp. */
bool sandbox_no_network(void);

/* From now on no thread of this process can open a connection, start a program, trace or signal
 * another process, or change what is mounted: such calls fail with EPERM. Needs seccomp; false when
 * the kernel does not have it. */
bool sandbox_no_escape(void);

#endif
