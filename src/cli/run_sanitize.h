/* keet-opt run --sanitize: runs a kernel's launches on the emulator with sanitizers, and prints all
 * findings. */
#ifndef KEET_CLI_RUN_SANITIZE_H
#define KEET_CLI_RUN_SANITIZE_H

#include "base/str.h"
#include "core/candidate.h"
#include "device/device.h"

/* Runs the launches on each check shape (the timed one when there is none) with three orders of the
 * warps. checks: bits, 1 << enum device_check. The candidate must be compiled. A launch that cannot
 * run at all becomes the candidate's verdict. strict_races: several threads that store one value to
 * one place race, too. */
bool sanitize_run(struct device *device, struct candidate *c, unsigned checks, bool strict_races,
    struct device_findings *findings, struct err *err);

void sanitize_print(
    struct str *out, const struct device_findings *findings, unsigned checks, bool json);

#endif
