/* Owns the use of seccomp (through libseccomp) and of Landlock (Linux 5.13;
 * Documentation/userspace-api/landlock.rst). Landlock is called by system call numbers, since C
 * libraries have no wrappers for it. */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights of ABI version 1; each later version that we name added one bit. */
enum {
    RIGHTS_V1 = (1 << 13) - 1,
    RIGHT_REFER = 1 << 13,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHT_IOCTL = 1 << 15
};
/* Since ABI version 4: TCP; since 6: abstract sockets, and signals to processes outside. */
enum { ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPES = 6, NET_ALL = 3, SCOPES_ALL = 3 };

/* struct landlock_ruleset_attr as of version 6; older kernels take its beginning. */
struct ruleset_rights {
    uint64_t files, net, scopes;
};

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

static long landlock_abi(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* All rights to files that this kernel knows, but for those of devices. */
static uint64_t rights_to_files(void)
{
    const long abi = landlock_abi();

    return RIGHTS_V1 | (abi >= 2 ? RIGHT_REFER : 0) | (abi >= 3 ? RIGHT_TRUNCATE : 0);
}

/* A new ruleset under which every right to files that this kernel knows is denied; -1: no Landlock.
 * alone: no TCP, and no signal to processes outside either. */
static int deny_all(bool alone)
{
    const long abi = landlock_abi();
    struct ruleset_rights rights = {.files = rights_to_files()};
    size_t bytes = sizeof(rights.files);

    if (abi < 1)
        return -1;
    if (alone && abi >= ABI_IOCTL)
        rights.files |= RIGHT_IOCTL;
    if (alone && abi >= ABI_NET) {
        rights.net = NET_ALL;
        bytes += sizeof(rights.net);
    }
    if (alone && abi >= ABI_SCOPES) {
        rights.scopes = SCOPES_ALL;
        bytes += sizeof(rights.scopes);
    }
    return (int)syscall(SYS_landlock_create_ruleset, &rights, bytes, 0);
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
    const int ruleset = deny_all(false);
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

bool sandbox_within(const char *const *runnable, const char *const *writable)
{
    const uint64_t looks = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    const uint64_t of_files =
        rights_to_files() & (looks | LANDLOCK_ACCESS_FS_WRITE_FILE | (uint64_t)RIGHT_TRUNCATE);
    const int ruleset = deny_all(false);
    bool ok = true;

    if (ruleset < 0)
        return false;
    for (const char *const *path = runnable; ok && *path; path++)
        ok = allow(ruleset, *path, looks, LANDLOCK_ACCESS_FS_READ_DIR);
    for (const char *const *path = writable; ok && *path; path++)
        ok = allow(ruleset, *path, of_files, rights_to_files());
    return enforce(ruleset, ok);
}

static bool deny(scmp_filter_ctx filter, const int *calls, size_t nr)
{
    bool ok = filter != NULL;

    for (size_t i = 0; ok && i < nr; i++)
        ok = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0) == 0;
    return ok;
}

/* Puts the filter in force if all of it could be made, and releases it. */
static bool load_filter(scmp_filter_ctx filter, bool ok)
{
    ok = ok && seccomp_load(filter) == 0;
    if (filter != NULL)
        seccomp_release(filter);
    return ok;
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

    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const bool ok = filter != NULL && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0;

    return load_filter(filter, ok && deny(filter, calls, sizeof(calls) / sizeof(calls[0])));
}

/* ---- programs of the user's that only look ---- */

/* What Landlock does not see: attributes of files, other processes, the kernel's other objects. */
static const int outside_calls[] = {SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat),
    SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown), SCMP_SYS(fchownat), SCMP_SYS(utime),
    SCMP_SYS(utimes), SCMP_SYS(futimesat), SCMP_SYS(utimensat), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr), SCMP_SYS(truncate), SCMP_SYS(flock), SCMP_SYS(quotactl),
    /* leaving the group of processes that is ended with the tool */
    SCMP_SYS(setsid), SCMP_SYS(setpgid),
    /* other processes */
    SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise), SCMP_SYS(process_mrelease), SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(tkill), SCMP_SYS(kcmp), SCMP_SYS(setpriority),
    SCMP_SYS(ioprio_set), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
    SCMP_SYS(sched_setattr), SCMP_SYS(move_pages), SCMP_SYS(migrate_pages),
    SCMP_SYS(perf_event_open), SCMP_SYS(get_robust_list),
    /* connections, and memory that outlives the tool */
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd),
    SCMP_SYS(msgctl), SCMP_SYS(semget), SCMP_SYS(semctl), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
    /* the system */
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
    SCMP_SYS(fsmount), SCMP_SYS(mount_setattr), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(io_uring_setup),
    SCMP_SYS(userfaultfd), SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(fanotify_init), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(syslog),
    SCMP_SYS(acct), SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(reboot), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(vhangup),
    SCMP_SYS(lookup_dcookie), SCMP_SYS(personality)};

/* Denies a call that names another process than this number; 0 names the caller. */
static bool deny_others(scmp_filter_ctx filter, int call, pid_t allowed)
{
    const struct scmp_arg_cmp another = {
        .arg = 0, .op = SCMP_CMP_NE, .datum_a = (scmp_datum_t)allowed, .datum_b = 0};

    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &another) == 0;
}

/* The numbers of new system calls are the same on all machines since Linux 5.0. */
enum { FIRST_NEW_CALL = 452, LAST_NEW_CALL = 511 };

static bool filter_outside(void)
{
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool ok = deny(filter, outside_calls, sizeof(outside_calls) / sizeof(outside_calls[0]));

    /* Calls that came after those above, such as fchmodat2: programs do without where a kernel is
     * older. */
    for (int call = FIRST_NEW_CALL; ok && call <= LAST_NEW_CALL; call++)
        ok = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0) == 0;
    /* With Landlock's scopes, signals reach the tool's own processes only. Without, the tool may
     * signal itself alone. */
    if (ok && landlock_abi() < ABI_SCOPES)
        ok = deny_others(filter, SCMP_SYS(kill), getpid()) &&
             deny_others(filter, SCMP_SYS(tgkill), getpid());
    ok = ok && deny_others(filter, SCMP_SYS(prlimit64), 0) &&
         deny_others(filter, SCMP_SYS(sched_setaffinity), 0);
    return load_filter(filter, ok);
}

/* A tool that root runs has no more rights than any other. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}, {0}};

    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        prctl(PR_CAPBSET_DROP, cap, 0, 0, 0); /* fails where there is none to drop */
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &head, none) == 0;
}

bool sandbox_look_only(const char *const *runnable)
{
    const int ruleset = deny_all(true);
    bool ok = ruleset >= 0;

    for (const char *const *path = runnable; ok && *path; path++)
        ok = allow(ruleset, *path, LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE,
            LANDLOCK_ACCESS_FS_READ_DIR);
    ok = ok && allow(ruleset, "/dev/null",
                   LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE, 0);
    if (ruleset >= 0)
        ok = enforce(ruleset, ok);
    return ok && drop_capabilities() && filter_outside();
}

/* ---- */

static bool waived;

void sandbox_waive(void)
{
    waived = true;
}

bool sandbox_waived(void)
{
    return waived;
}
