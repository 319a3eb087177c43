/* Takes rights away from the calling process, for good. Children call these functions before they
 * touch anything that a candidate kernel has influenced. */
#ifndef KEET_BASE_SANDBOX_H
#define KEET_BASE_SANDBOX_H

#include <stdbool.h>

/* From now on the process may open only files below these paths (ended by NULL), for reading; open
 * files stay open. False: the kernel has no Landlock, and nothing is enforced. */
bool sandbox_read_only(const char *const *paths);
/* The same, and the process may also write to files below `writable` (NULL: none), but make none.
 */
bool sandbox_files(const char *const *readable, const char *const *writable);

/* From now on the process may read and run every file, as far as its permissions go, and write to
 * nothing but /dev/null. False as above. For the user's own programs that only look. */
bool sandbox_look_only(void);

/* From now on this process and those that it starts can make no socket, trace no other process and
 * mount nothing (EPERM). Needs seccomp; false when the kernel does not have it. */
bool sandbox_no_network(void);

/* From now on no thread of this process can open a connection, start a program, trace or signal
 * another process, or change what is mounted: such calls fail with EPERM. Needs seccomp; false when
 * the kernel does not have it. */
bool sandbox_no_escape(void);

#endif
