/* A library to preload: the call number KEET_FAULT_AT of the kind KEET_FAULT_KIND fails, as on a
 * machine that has no more of it. With KEET_FAULT_AT=0 nothing fails, and the number of calls is
 * written to the file KEET_FAULT_COUNT when the process ends. Processes that the program forks go
 * on counting from where it was.
 *
 * Kinds: malloc (also calloc, realloc), open, write (also pwrite), fsync, fork, mmap, pipe, rename.
 * KEET_FAULT_MORE=1: all calls after that fail, too, as on a disk that stays full.
 *
 * KEET_FAULT_FORK: all n of one run, see fault.h.
 *
 * KEET_FAULT_LOG=FILE: what happens to files with `.keet.db` in their names, for powerloss.py. Each
 * record: a letter (w write, t truncate, s sync), the lengths of path and bytes and the offset as
 * 64-bit numbers, the path, the bytes. */
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, MALLOC, OPEN, WRITE, FSYNC, FORK, MMAP, PIPE, RENAME };

static enum kind wanted;
static long at;
static bool more;
static atomic_long nr;
static pid_t counting; /* the process that tells the number; 0: none */
static bool forks;     /* faults are in forks */
static bool started;   /* main is near: constructors of libraries see no faults */
static int log_fd = -1;
static _Thread_local bool
    loading; /* constructors of a library that is loaded now: not ours either */

static void __attribute__((constructor)) begin(void)
{
    static const char *const names[] = {
        "none", "malloc", "open", "write", "fsync", "fork", "mmap", "pipe", "rename"};
    const char *kind = getenv("KEET_FAULT_KIND"), *number = getenv("KEET_FAULT_AT");

    more = getenv("KEET_FAULT_MORE") != NULL;
    at = number ? atol(number) : 0;
    counting = number && !at ? getpid() : 0;
    for (int k = 1; kind && k <= RENAME; k++)
        if (strcmp(kind, names[k]) == 0)
            wanted = (enum kind)k;
}

static void __attribute__((destructor)) end(void)
{
    const char *path = getenv("KEET_FAULT_COUNT");
    const long all = atomic_load(&nr);
    FILE *file;

    wanted = NONE;
    log_fd = -1;
    if (counting == getpid())
        fault_forks_end();
    if (counting != getpid() || !path || !(file = fopen(path, "w")))
        return;
    fprintf(file, "%ld\n", all);
    fclose(file);
}

/* In the process that is to fail, this call and no other does, or all from here on. */
static bool fails_in_a_fork(long now)
{
    bool here;

    if (counting != getpid() || syscall(SYS_gettid) != counting)
        return false;
    loading = true;
    here = fault_forks_here(now);
    loading = false;
    at = here ? now : at;
    more = here && (uint32_t)now * 2654435761u >> 16 < 0.3 * 65536;
    return here;
}

static bool fails(enum kind kind, int error)
{
    long now;

    if (kind != wanted || !started || loading)
        return false;
    now = atomic_fetch_add(&nr, 1) + 1;
    if (forks && at == 0 && !fails_in_a_fork(now))
        return false;
    if (at == 0 || (more ? now < at : now != at))
        return false;
    errno = error;
    return true;
}

/* The C library's own function. dlsym may allocate: the first calls of malloc come while it does.
 */
#define REAL(name, type)                                                                           \
    static __typeof__(type) *real;                                                                 \
    if (!real)                                                                                     \
    real = (__typeof__(type) *)dlsym(RTLD_NEXT, name)

typedef int main_f(int, char **, char **);
int __libc_start_main(
    main_f *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_f *program_main;

/* A fork ends where main ends: what libraries take apart after that is not the program's. */
static int main_of_forks(int argc, char **argv, char **environment)
{
    const int status = program_main(argc, argv, environment);

    if (forks && counting != getpid())
        _exit(status);
    return status;
}

int __libc_start_main(main_f *program, int argc, char **argv, void (*init)(void),
    void (*fini)(void), void (*rtld_fini)(void), void *stack)
{
    REAL("__libc_start_main",
        int(main_f *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *));
    const char *log_path = getenv("KEET_FAULT_LOG");

    if (log_path)
        log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    forks = fault_forks_begin();
    started = true;
    program_main = program;
    return real(main_of_forks, argc, argv, init, fini, rtld_fini, stack);
}

static void note(char what, int fd, const void *bytes, size_t len, off_t from)
{
    char link[64], path[4096];
    uint64_t numbers[3];
    struct iovec parts[4];
    ssize_t path_bytes;

    if (log_fd < 0)
        return;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    path_bytes = readlink(link, path, sizeof(path) - 1);
    if (path_bytes <= 0)
        return;
    path[path_bytes] = 0;
    if (!strstr(path, ".keet.db"))
        return;
    numbers[0] = (uint64_t)path_bytes;
    numbers[1] = len;
    numbers[2] = (uint64_t)from;
    parts[0] = (struct iovec){&what, 1};
    parts[1] = (struct iovec){numbers, sizeof(numbers)};
    parts[2] = (struct iovec){path, (size_t)path_bytes};
    parts[3] = (struct iovec){(void *)(uintptr_t)bytes, len};
    if (writev(log_fd, parts, 4) < 0)
        _exit(9);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_realloc(old, bytes);
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define OPEN_FUNCTION(name)                                                                        \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(#name, int(const char *, int, ...));                                                  \
        va_list ap;                                                                                \
        mode_t mode;                                                                               \
        va_start(ap, flags);                                                                       \
        mode = mode_of(flags, ap);                                                                 \
        va_end(ap);                                                                                \
        return fails(OPEN, EMFILE) ? -1 : real(path, flags, mode);                                 \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

ssize_t write(int fd, const void *bytes, size_t len)
{
    REAL("write", ssize_t(int, const void *, size_t));
    return fails(WRITE, ENOSPC) ? -1 : real(fd, bytes, len);
}

#define PWRITE_FUNCTION(name)                                                                      \
    ssize_t name(int fd, const void *bytes, size_t len, off_t from)                                \
    {                                                                                              \
        REAL(#name, ssize_t(int, const void *, size_t, off_t));                                    \
        note('w', fd, bytes, len, from);                                                           \
        return fails(WRITE, ENOSPC) ? -1 : real(fd, bytes, len, from);                             \
    }
PWRITE_FUNCTION(pwrite)
PWRITE_FUNCTION(pwrite64)

int fsync(int fd)
{
    REAL("fsync", int(int));
    note('s', fd, "", 0, 0);
    return fails(FSYNC, EIO) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL("fdatasync", int(int));
    note('s', fd, "", 0, 0);
    return fails(FSYNC, EIO) ? -1 : real(fd);
}

pid_t fork(void)
{
    REAL("fork", pid_t(void));
    return fails(FORK, EAGAIN) ? -1 : real();
}

#define TRUNCATE_FUNCTION(name)                                                                    \
    int name(int fd, off_t len)                                                                    \
    {                                                                                              \
        REAL(#name, int(int, off_t));                                                              \
        note('t', fd, "", 0, len);                                                                 \
        return fails(WRITE, ENOSPC) ? -1 : real(fd, len);                                          \
    }
TRUNCATE_FUNCTION(ftruncate)
TRUNCATE_FUNCTION(ftruncate64)

void *dlopen(const char *path, int flags)
{
    REAL("dlopen", void *(const char *, int));
    void *library;

    loading = true;
    library = real(path, flags);
    loading = false;
    return library;
}

#define MMAP_FUNCTION(name)                                                                        \
    void *name(void *where, size_t bytes, int protection, int flags, int fd, off_t from)           \
    {                                                                                              \
        REAL(#name, void *(void *, size_t, int, int, int, off_t));                                 \
        return fails(MMAP, ENOMEM) ? MAP_FAILED : real(where, bytes, protection, flags, fd, from); \
    }
MMAP_FUNCTION(mmap)
MMAP_FUNCTION(mmap64)

int pipe2(int ends[2], int flags)
{
    REAL("pipe2", int(int *, int));
    return fails(PIPE, EMFILE) ? -1 : real(ends, flags);
}

int rename(const char *from, const char *to)
{
    REAL("rename", int(const char *, const char *));
    return fails(RENAME, EIO) ? -1 : real(from, to);
}
