/* Owns the lists of findings. */
#include "device/findings.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *device_check_name(enum device_check check)
{
    static const char *const names[NR_DEVICE_CHECKS] = {[DEVICE_CHECK_MEMORY] = "memory",
        [DEVICE_CHECK_INIT] = "init",
        [DEVICE_CHECK_RACE] = "race",
        [DEVICE_CHECK_SYNC] = "sync",
        [DEVICE_CHECK_LEAK] = "leak"};
    return names[check];
}

/* Do two texts say the same of different threads and places? They do if they are equal up to the
 * first number. */
static bool alike(const char *a, const char *b)
{
    while (*a && *a == *b && !isdigit((unsigned char)*a)) {
        a++;
        b++;
    }
    return *a == *b || (isdigit((unsigned char)*a) && isdigit((unsigned char)*b));
}

void device_findings_add(struct device_findings *findings, const struct device_finding *finding)
{
    for (size_t i = 0; i < findings->nr; i++) {
        struct device_finding *f = &findings->items[i];
        if (f->check == finding->check && f->line == finding->line &&
            !strcmp(f->kernel, finding->kernel) && alike(f->text, finding->text)) {
            f->times += finding->times;
            return;
        }
    }
    findings->items =
        grow(findings->items, &findings->cap, findings->nr + 1, sizeof(*findings->items));
    findings->items[findings->nr++] = *finding;
}

void device_findings_finish(struct device_findings *findings)
{
    free(findings->items);
    str_finish(&findings->printed);
    *findings = (struct device_findings){0};
}
