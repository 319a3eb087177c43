/* Moves all bytes through a file descriptor, in as many system calls as it takes. False with errno:
 * a call failed. */
#ifndef KEET_BASE_FD_H
#define KEET_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>

/* Also false where the file ends before `len` bytes. */
bool fd_read(int fd, void *bytes, size_t len);
bool fd_write(int fd, const void *bytes, size_t len);
/* fd_write for a socket: a peer that is gone raises no SIGPIPE. */
bool fd_send(int fd, const void *bytes, size_t len);

#endif
