/* Owns faults in forks: one run, which at each n forks a process in which the call fails. The run
 * itself waits for the end of that process, puts back the files of its folder, and goes on as if
 * nothing had been. See fault.c. */
#include "fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 64, MOST_KNOWN = 4096, SECONDS = 120 };

/* A file as it was; .kept/NAME is a hard link to it, since a process that ends may remove it while
 * the run has it open. */
struct kept {
    char name[256];
    char *bytes;
    size_t len, room;
};

static struct kept files[MOST_FILES];
static unsigned nr_files;
static pid_t run;
static bool forked; /* this process is one in which a call failed */
static long from, to, step, nr_forks;
static uint64_t known[MOST_KNOWN];
static unsigned nr_known;

static void give_up(const char *why)
{
    fprintf(stderr, "fault_forks: %s: %s\n", why, strerror(errno));
    _exit(9);
}

bool fault_forks_begin(void)
{
    const char *range = getenv("KEET_FAULT_FORK");

    if (!range || sscanf(range, "%ld:%ld:%ld", &from, &to, &step) != 3)
        return false;
    if (mkdir(".kept", 0700) != 0 && errno != EEXIST)
        give_up(".kept");
    return true;
}

static void keep(struct kept *file, const char *name)
{
    char link_path[300];
    struct stat now, before;
    const int fd = open(name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &now) != 0)
        give_up(name);
    snprintf(file->name, sizeof(file->name), "%s", name);
    snprintf(link_path, sizeof(link_path), ".kept/%s", name);
    if (stat(link_path, &before) != 0 || before.st_ino != now.st_ino) {
        unlink(link_path);
        if (link(name, link_path) != 0)
            give_up(link_path);
    }
    file->len = (size_t)now.st_size;
    if (file->room < file->len) {
        file->room = 2 * file->len;
        file->bytes = realloc(file->bytes, file->room);
    }
    if (pread(fd, file->bytes, file->len, 0) != (ssize_t)file->len)
        give_up(name);
    close(fd);
}

/* Calls a function for each regular file of the folder. */
static void each_file(void (*function)(const char *name))
{
    DIR *dir = opendir(".");
    const struct dirent *entry;

    if (!dir)
        give_up(".");
    while ((entry = readdir(dir)))
        if (entry->d_type == DT_REG)
            function(entry->d_name);
    closedir(dir);
}

static void keep_next(const char *name)
{
    if (nr_files == MOST_FILES)
        give_up("too many files");
    keep(&files[nr_files++], name);
}

static void remove_new(const char *name)
{
    for (unsigned i = 0; i < nr_files; i++)
        if (strcmp(files[i].name, name) == 0)
            return;
    unlink(name);
}

static void put_back(const struct kept *file)
{
    char link_path[300];
    struct stat now, kept;
    int fd;

    snprintf(link_path, sizeof(link_path), ".kept/%s", file->name);
    fd = open(link_path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &kept) != 0)
        give_up(link_path);
    if (stat(file->name, &now) != 0 || now.st_ino != kept.st_ino) {
        unlink(file->name);
        if (link(link_path, file->name) != 0)
            give_up(file->name);
    }
    if (pwrite(fd, file->bytes, file->len, 0) != (ssize_t)file->len ||
        ftruncate(fd, (off_t)file->len) != 0)
        give_up(file->name);
    close(fd);
}

static void become_the_one_that_fails(void)
{
    const int said = open(".kept/said", O_WRONLY | O_CREAT | O_TRUNC, 0600),
              null = open("/dev/null", O_WRONLY);

    forked = true;
    dup2(null, 1);
    dup2(said, 2);
    close(null);
    close(said);
    close(FAULT_TELL_FD);
    close(FAULT_HEAR_FD);
    alarm(SECONDS);
}

/* What a fork left of the database, mixed into one number. */
static uint64_t left;

static void mix_file(const char *name)
{
    uint64_t words[8192] = {0};
    ssize_t got;
    int fd;

    if (!strstr(name, ".keet.db") || strstr(name, "-shm"))
        return;
    fd = open(name, O_RDONLY | O_CLOEXEC);
    left += strlen(name);
    while ((got = read(fd, words, sizeof(words))) > 0) {
        for (ssize_t i = 0; i < (got + 7) / 8; i++) {
            left = (left ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
            left ^= left >> 29;
        }
        memset(words, 0, sizeof(words));
    }
    close(fd);
}

/* Did the fork end with a status, and say why where that is not 0? */
static bool ended_well(int status)
{
    char said[4096] = "";
    const int fd = open(".kept/said", O_RDONLY | O_CLOEXEC);
    const bool read_it = fd >= 0 && read(fd, said, sizeof(said) - 1) >= 0;

    close(fd);
    return read_it && WIFEXITED(status) && WEXITSTATUS(status) <= 3 &&
           (WEXITSTATUS(status) == 0 || strstr(said, "keet-opt"));
}

static bool is_known(uint64_t what)
{
    for (unsigned i = 0; i < nr_known; i++)
        if (known[i] == what)
            return true;
    return false;
}

static void tell(long n, int status)
{
    char line[64], heard = 0;
    const int len = snprintf(line, sizeof(line), "%ld %ld %d\n", n, nr_forks, status);

    if (write(FAULT_TELL_FD, line, (size_t)len) != len || read(FAULT_HEAR_FD, &heard, 1) != 1)
        give_up("the harness is gone");
    if (heard == FAULT_HOLDS && nr_known < MOST_KNOWN)
        known[nr_known++] = left;
}

/* The harness looks at the folder between what is told and what is heard, unless a fork that ended
 * as well has left the same database. */
static void judge(long n, int status)
{
    nr_forks++;
    left = 0;
    each_file(mix_file);
    if (!ended_well(status) || !is_known(left))
        tell(n, status);
}

void fault_forks_end(void)
{
    if (to > 0 && !forked && dprintf(FAULT_TELL_FD, "0 %ld 0\n", nr_forks) < 0)
        give_up("the harness is gone");
}

bool fault_forks_here(long n)
{
    pid_t pid;
    int status;

    if (forked || n < from || n >= to || (n - from) % step != 0)
        return false;
    nr_files = 0;
    each_file(keep_next);
    run = getpid();
    pid = fork();
    if (pid == 0) {
        become_the_one_that_fails();
        return true;
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (pid < 0)
        give_up("fork");
    judge(n, status);
    each_file(remove_new);
    for (unsigned i = 0; i < nr_files; i++)
        put_back(&files[i]);
    return false;
}

/* ---- what the run has, and a fork of it has not ---- */

/* Locks belong to the run: in a fork of it they are as good as had. */
#define FCNTL_FUNCTION(name)                                                                       \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        static int (*real)(int, int, ...);                                                         \
        va_list ap;                                                                                \
        void *argument;                                                                            \
        if (!real)                                                                                 \
            real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name);                                \
        va_start(ap, command);                                                                     \
        argument = va_arg(ap, void *);                                                             \
        va_end(ap);                                                                                \
        if (forked && (command == F_SETLK || command == F_SETLKW))                                 \
            return 0;                                                                              \
        if (forked && command == F_GETLK) {                                                        \
            ((struct flock *)argument)->l_type = F_UNLCK;                                          \
            return 0;                                                                              \
        }                                                                                          \
        return real(fd, command, argument);                                                        \
    }
FCNTL_FUNCTION(fcntl)
FCNTL_FUNCTION(fcntl64)

/* A recursive mutex that the run's thread held when it forked is now that of the fork's thread. */
#define MUTEX_FUNCTION(name)                                                                       \
    int name(pthread_mutex_t *mutex)                                                               \
    {                                                                                              \
        static int (*real)(pthread_mutex_t *);                                                     \
        if (!real)                                                                                 \
            real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, #name);                            \
        if (forked && mutex->__data.__owner == run)                                                \
            mutex->__data.__owner = getpid();                                                      \
        return real(mutex);                                                                        \
    }
MUTEX_FUNCTION(pthread_mutex_lock)
MUTEX_FUNCTION(pthread_mutex_trylock)
MUTEX_FUNCTION(pthread_mutex_unlock)

/* The processes that compile and parse are the run's, too. */
int shutdown(int fd, int how)
{
    static int (*real)(int, int);

    if (!real)
        real = (int (*)(int, int))dlsym(RTLD_NEXT, "shutdown");
    return forked ? 0 : real(fd, how);
}
