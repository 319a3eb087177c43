/* Owns the loops around read(2), write(2) and send(2). */
#include "base/fd.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool fd_read(int fd, void *bytes, size_t len)
{
    for (char *p = bytes; len;) {
        const ssize_t n = read(fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool put(int fd, const char *bytes, size_t len, bool is_socket)
{
    while (len) {
        const ssize_t n = is_socket ? send(fd, bytes, len, MSG_NOSIGNAL) : write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

bool fd_write(int fd, const void *bytes, size_t len)
{
    return put(fd, bytes, len, false);
}

bool fd_send(int fd, const void *bytes, size_t len)
{
    return put(fd, bytes, len, true);
}
