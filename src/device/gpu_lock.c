/* Owns the lock file of a GPU. */
#include "device/gpu_lock.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool gpu_lock(const char *uuid, int *lock, struct err *err)
{
    const char *folder = getenv("KEET_LOCK_DIR");
    char path[PATH_MAX], pid[32] = "";
    ssize_t len;
    int fd;

    snprintf(path, sizeof(path), "%s/keet-opt-gpu-%s.lock",
        folder != NULL && folder[0] ? folder : "/tmp", uuid);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
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
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)len, 0) != len) {
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
