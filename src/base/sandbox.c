/* Owns the use of Landlock (Linux 5.13; Documentation/userspace-api/landlock.rst). By system call
 * numbers, since C libraries have no wrappers. */
#include "base/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights of ABI version 1; each later version that we name added one bit. */
enum { RIGHTS_V1 = (1 << 13) - 1, RIGHT_REFER = 1 << 13, RIGHT_TRUNCATE = 1 << 14 };

static bool allow(int ruleset, const char *path)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE};
    struct stat st;
    long failed;

    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return true;
    if (fstat(rule.parent_fd, &st) == 0 && S_ISDIR(st.st_mode))
        rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
    failed = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
    return failed == 0;
}

bool sandbox_read_only(const char *const *paths)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attr = {.handled_access_fs = RIGHTS_V1};
    bool ok = true;
    int ruleset;

    if (abi < 1)
        return false;
    if (abi >= 2)
        attr.handled_access_fs |= RIGHT_REFER;
    if (abi >= 3)
        attr.handled_access_fs |= RIGHT_TRUNCATE;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (ruleset < 0)
        return false;
    for (const char *const *path = paths; ok && *path; path++)
        ok = allow(ruleset, *path);
    ok = ok && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    ok = ok && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}
