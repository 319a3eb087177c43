/* Owns nothing: reads and writes whole files. */
#include "base/file.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int fd, size_t max_bytes, char **text, size_t *len)
{
    size_t cap = 0, used = 0;
    char *bytes = NULL;

    for (;;) {
        ssize_t got;

        bytes = grow(bytes, &cap, used + 65536 + 1, 1);
        got = read(fd, bytes + used, cap - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || used + (size_t)got > max_bytes) {
            if (got > 0)
                errno = EFBIG;
            if (got != 0) {
                free(bytes);
                return false;
            }
            bytes[used] = '\0';
            *text = bytes;
            *len = used;
            return true;
        }
        used += (size_t)got;
    }
}

bool file_read(const char *path, size_t max_bytes, char **text, size_t *len, struct err *err)
{
    /* A pipe that nobody writes is empty: to open it would wait for ever otherwise. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok;

    if (fd < 0)
        return err_errno(err, "cannot open %s", path);
    ok = fcntl(fd, F_SETFL, 0) == 0 && read_all(fd, max_bytes, text, len);
    if (!ok)
        err_errno(err, "cannot read %s (limit %zu bytes)", path, max_bytes);
    close(fd);
    return ok;
}

static bool write_and_sync(int fd, const void *bytes, size_t len)
{
    /* There is no fsync on a pipe. */
    return fd_write(fd, bytes, len) && (fsync(fd) == 0 || errno == EINVAL);
}

/* Writes into a file that a rename would replace: /dev/null, a pipe. */
static bool write_into(const char *path, const void *bytes, size_t len, struct err *err)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_and_sync(fd, bytes, len);

    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    return ok || err_errno(err, "cannot write %s", path);
}

bool file_write(const char *path, const void *bytes, size_t len, struct err *err)
{
    const size_t temp_bytes = strlen(path) + 8;
    char *temp = xmalloc(temp_bytes);
    struct stat there;
    mode_t mask;
    bool ok;
    int fd;

    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        free(temp);
        return write_into(path, bytes, len, err);
    }
    snprintf(temp, temp_bytes, "%s.XXXXXX", path);
    fd = mkstemp(temp);
    if (fd < 0) {
        err_errno(err, "cannot write %s", path);
        free(temp);
        return false;
    }
    mask = umask(0);
    umask(mask);
    ok = write_and_sync(fd, bytes, len) && fchmod(fd, 0666 & ~mask) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && rename(temp, path) == 0;
    if (!ok) {
        err_errno(err, "cannot write %s", path);
        unlink(temp);
    }
    free(temp);
    return ok;
}

bool file_mkdirs(const char *path, struct err *err)
{
    char *copy = xstrdup(path);
    bool ok = true;

    for (char *p = copy + 1; ok && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        ok = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *p = '/';
    }
    ok = ok && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    if (!ok)
        err_errno(err, "cannot make the folder %s", path);
    free(copy);
    return ok;
}

bool file_is_regular(const char *path)
{
    struct stat is;

    return stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

bool file_same(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
