/* The findings of sanitizers, which run on the emulator only. */
#ifndef KEET_DEVICE_FINDINGS_H
#define KEET_DEVICE_FINDINGS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The faults that sanitizers look for; see emu/emu.h, enum emu_check. */
enum device_check {
    DEVICE_CHECK_MEMORY,
    DEVICE_CHECK_INIT,
    DEVICE_CHECK_RACE,
    DEVICE_CHECK_SYNC,
    DEVICE_CHECK_LEAK,
    NR_DEVICE_CHECKS
};
const char *device_check_name(enum device_check check); /* "memory" ... */

struct device_finding {
    enum device_check check;
    unsigned line; /* 0 unknown */
    uint64_t times;
    const char *kernel; /* borrowed from the launch */
    char text[512];
};

/* The findings of any number of launches; each is listed once, however many launches show it.
 * Zero-initialise. */
struct device_findings {
    struct device_finding *items;
    size_t nr, cap;
    unsigned nr_more;   /* left out, beyond max_findings of a kind in one launch */
    struct str printed; /* by printf */
    bool print_cut;
};
void device_findings_add(struct device_findings *findings, const struct device_finding *finding);
void device_findings_finish(struct device_findings *findings);

#endif
