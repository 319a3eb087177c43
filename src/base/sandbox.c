/* Owns the use of seccomp (through libseccomp) and of Landlock (Linux 5.13;
 * Documentation/userspace-api/landlock.rst). Landlock is called by system call numbers, since C
 * libraries have no wrappers for it. */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights of ABI version 1; each later version that we name added one bit. */
enum { RIGHTS_V1 = (1 << 13) - 1, RIGHT_REFER = 1 << 13, RIGHT_TRUNCATE = 1 << 14 };

static bool allow(int ruleset, const char *path, uint64_t rights, uint64_t rights_of_folders)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    struct stat st;
    long failed;

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return true;
    if (fstat(rule.parent_fd, &st) == 0 && S_ISDIR(st.st_mode))
        rule.allowed_access |= rights_of_folders;
    failed = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return failed == 0;
}

/* A new ruleset under which every right that this kernel knows is denied; -1: no Landlock. */
static int deny_all(void)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attr = {.handled_access_fs = RIGHTS_V1};

    if (abi < 1)
        return -1;
    if (abi >= 2)
        attr.handled_access_fs |= RIGHT_REFER;
    if (abi >= 3)
        attr.handled_access_fs |= RIGHT_TRUNCATE;
    return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

static bool enforce(int ruleset, bool ok)
{
    ok = ok && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    ok = ok && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}

bool sandbox_read_only(const char *const *paths)
{
    return sandbox_files(paths, NULL);
}

bool sandbox_files(const char *const *readable, const char *const *writable)
{
    const int ruleset = deny_all();
    bool ok = true;

    if (ruleset < 0)
        return false;
    for (const char *const *path = readable; ok && *path; path++)
        ok = allow(ruleset, *path, LANDLOCK_ACCESS_FS_READ_FILE, LANDLOCK_ACCESS_FS_READ_DIR);
    for (const char *const *path = writable; ok && path && *path; path++)
        ok = allow(ruleset, *path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE,
            LANDLOCK_ACCESS_FS_READ_DIR);
    return enforce(ruleset, ok);
}

bool sandbox_look_only(void)
{
    const int ruleset = deny_all();

    if (ruleset < 0)
        return false;
    return enforce(
        ruleset, allow(ruleset, "/", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE,
                     LANDLOCK_ACCESS_FS_READ_DIR) &&
                     allow(ruleset, "/dev/null",
                         LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE, 0));
}

static bool load_filter(const int *calls, size_t nr)
{
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool ok = filter != NULL && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0;

    for (size_t i = 0; ok && i < nr; i++)
        ok = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0) == 0;
    ok = ok && seccomp_load(filter) == 0;
    if (filter != NULL)
        seccomp_release(filter);
    return ok;
}

bool sandbox_no_network(void)
{
    static const int calls[] = {SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_getfd),
        SCMP_SYS(mount), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(keyctl),
        SCMP_SYS(io_uring_setup)};

    return load_filter(calls, sizeof(calls) / sizeof(calls[0]));
}

/* kill() is denied. tgkill() is not: abort() needs it, and tgkill() reaches another process only
 * through a known thread number. */
bool sandbox_no_escape(void)
{
    static const int calls[] = {SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind),
        SCMP_SYS(listen), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kill),
        SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_getfd), SCMP_SYS(mount), SCMP_SYS(setns),
        SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(keyctl), SCMP_SYS(io_uring_setup)};

    return load_filter(calls, sizeof(calls) / sizeof(calls[0]));
}
