/* Owns lock files. They are POSIX record locks: a lock ends with its process in any case, and the
 * kernel says which process holds it. */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 40 };
static const struct timespec step = {0, 50000000};

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static bool same_file(const char *path, int fd)
{
    struct stat a, b;

    return stat(path, &a) == 0 && fstat(fd, &b) == 0 && a.st_ino == b.st_ino &&
           a.st_dev == b.st_dev;
}

/* Names the machine, for folders that several machines share. */
static void sign(int fd)
{
    char host[256] = "";

    gethostname(host, sizeof(host) - 1);
    if (ftruncate(fd, 0) == 0)
        dprintf(fd, "%ld %s\n", (long)getpid(), host);
}

bool lock_take(const char *path, int *lock, struct err *err)
{
    struct flock wanted = whole_file();
    int tries = 0;

    *lock = -1;
    for (;;) {
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

        if (fd < 0)
            return err_errno(err, "%s", path);
        if (fcntl(fd, F_SETLK, &wanted) == 0) {
            if (same_file(path, fd)) { /* else its last holder removed the file in between */
                sign(fd);
                *lock = fd;
                return true;
            }
        } else if (errno != EACCES && errno != EAGAIN) {
            err_errno(err, "%s", path);
            close(fd);
            return false;
        } else if (tries++ == PATIENCE) {
            close(fd);
            return err_set(err,
                "another keet-opt (process %ld) is at work there; wait for it, or `keet-opt stop` "
                "it (%s)",
                lock_holder(path), path);
        }
        close(fd);
        nanosleep(&step, NULL);
    }
}

void lock_release(const char *path, int lock)
{
    if (lock < 0)
        return;
    unlink(path);
    close(lock);
}

long lock_holder(const char *path)
{
    struct flock found = whole_file();
    char text[300] = "", host[256] = "", own[256] = "";
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool taken = fd >= 0 && fcntl(fd, F_GETLK, &found) == 0 && found.l_type != F_UNLCK;

    if (fd < 0)
        return 0;
    if (!taken || read(fd, text, sizeof(text) - 1) < 0) {
        close(fd);
        return 0;
    }
    close(fd);
    gethostname(own, sizeof(own) - 1);
    if (sscanf(text, "%*d %255s", host) == 1 && strcmp(host, own) != 0)
        return -1;
    return found.l_pid > 0 ? (long)found.l_pid : -1;
}
