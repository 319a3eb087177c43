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

/* For the user's own programs that only look. From now on this process and those that it starts
 * - may read and run files at and below these paths (ended by NULL) and nothing else, /proc
 *   included, and write to nothing but /dev/null;
 * - change no mode, owner or time of a file, make no socket and no shared memory;
 * - signal, trace and limit no process outside (Landlock of version 6; before, none but itself);
 * - cannot leave their group of processes, so that whoever ends the group ends them all;
 * - have none of root's capabilities.
 * False: something of that could not be set up. */
bool sandbox_look_only(const char *const *runnable);

/* From now on this process and those that it starts may read and run files at and below `runnable`,
 * and do with files at and below `writable` what they like (both ended by NULL), and touch no other
 * file. Paths that do not exist are skipped. False: the kernel has no Landlock. */
bool sandbox_within(const char *const *runnable, const char *const *writable);

/* From now on no thread of this process can open a connection, start a program, trace or signal
 * another process, or change what is mounted: such calls fail with EPERM. Needs seccomp; false when
 * the kernel does not have it. */
bool sandbox_no_escape(void);

/* The user chose to go on where a sandbox cannot be set up: whoever needs one asks sandbox_waived
 * before it refuses. Call it before the first child. */
void sandbox_waive(void);
bool sandbox_waived(void);

#endif
