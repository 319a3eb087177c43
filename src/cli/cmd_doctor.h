/* `keet-opt doctor`: what is there of all that keet-opt can use, what is not, why, and what to do.
 * Works on any machine; whatever could crash or hang is asked in a child process. */
#ifndef KEET_CLI_CMD_DOCTOR_H
#define KEET_CLI_CMD_DOCTOR_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

/* Prints to stdout, as text or (options->json) as one JSON document. *works: kernels can be
 * compiled and run on the emulator, which was tried with a small one. */
bool doctor(const struct options *options, bool *works, struct err *err);

#endif
