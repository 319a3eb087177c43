/* keet-opt run --sanitize: a kernel's launches on the emulator with sanitizers on, and all that
 * they find. */
#ifndef KEET_CLI_RUN_SANITIZE_H
#define KEET_CLI_RUN_SANITIZE_H

#include "base/str.h"
#include "core/candidate.h"
#include "device/device.h"

/* Runs the launches on each check shape (the timed one when there is none) with three orders of the
 * warps. checks: bits, 1 << enum device_check. The candidate is compiled. What cannot be launched
 * at all is the candidate's verdict. */
bool sanitize_run(struct device *device, struct candidate *c, unsigned checks,
    struct device_findings *findings, struct err *err);

void sanitize_print(
    struct str *out, const struct device_findings *findings, unsigned checks, bool json);

#endif
