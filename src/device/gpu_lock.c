/* Owns the lock file of a GPU. */
#include "device/gpu_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first user owns the file, and everyone may lock it, so it is readable and writable for all,
 * whatever the umask. An existing file is opened without O_CREAT, since a folder like /tmp refuses
 * that for others' files (fs.protected_regular). A lock needs the right to read only. */
static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0 && errno == EACCES)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return errno == EEXIST ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    fchmod(fd, 0666);
    return fd;
}

static const char *lock_folder(void)
{
    const char *folder = getenv("KEET_LOCK_DIR");
    struct stat st;

    if (folder != NULL && folder[0])
        return folder;
    /* The folder must be the same for all users, so the rights of this user must not decide. */
    return stat("/run/lock", &st) == 0 && (st.st_mode & S_IWOTH) ? "/run/lock" : "/tmp";
}

bool gpu_lock(const char *uuid, int *lock, struct err *err)
{
    char path[PATH_MAX], pid[32] = "";
    ssize_t len;
    int fd;

    snprintf(path, sizeof(path), "%s/keet-opt-gpu-%s.lock", lock_folder(), uuid);
    fd = open_lock(path);
    if (fd < 0)
        return err_errno(err, "the lock file of the GPU, %s", path);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        len = read(fd, pid, sizeof(pid) - 1);
        pid[len > 0 ? strcspn(pid, "\n") : 0] = '\0';
        close(fd);
        return err_set(err,
            "the GPU is in use by another keet-opt (process %s); wait for it, or choose another "
            "with --device gpu:N",
            pid[0] ? pid : "unknown");
    }
    len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
    /* The holder's number is for messages only; another user's file may refuse it. */
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR &&
        (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len)) {
        err_errno(err, "%s", path);
        close(fd);
        return false;
    }
    *lock = fd;
    return true;
}

void gpu_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
