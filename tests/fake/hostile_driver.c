/* A driver that, when asked to fill memory, tries everything that a worker must not be able to do,
 * and ends the process with a status that says what it could: 128 is nothing. All other functions
 * are the software driver's, which it is linked to. */
#include <cuda.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CONNECTS = 1,
    READS = 2,
    WRITES = 4,
    KNOWS_ENVIRONMENT = 8,
    READS_PARENT = 16,
    EXECUTES = 32,
    SIGNALS_PARENT = 64,
    TRIED = 128
};

static int opens(const char *path, int flags)
{
    const int fd = open(path, flags, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int executes(void)
{
    char program[] = "/bin/true";
    char *argv[] = {program, NULL};
    int status = 1;
    const pid_t pid = fork();

    if (pid == 0) {
        execv(program, argv);
        _exit(1);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int try_all(void)
{
    char path[64];
    int could = TRIED;

    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
        could |= CONNECTS;
    if (opens("/etc/passwd", O_RDONLY))
        could |= READS;
    snprintf(path, sizeof(path), "/tmp/keet-hostile-%d", (int)getpid());
    if (opens(path, O_RDWR | O_CREAT)) {
        could |= WRITES;
        unlink(path);
    }
    if (getenv("KEET_TEST_SECRET") != NULL || getenv("HOME") != NULL)
        could |= KNOWS_ENVIRONMENT;
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
    if (opens(path, O_RDONLY))
        could |= READS_PARENT;
    if (executes())
        could |= EXECUTES;
    if (kill(getppid(), 0) == 0)
        could |= SIGNALS_PARENT;
    return could;
}

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t bytes)
{
    (void)to, (void)value, (void)bytes;
    _exit(try_all());
}
