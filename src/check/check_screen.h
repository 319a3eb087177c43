/* Private to check/: a look at candidates on the emulator, with its sanitizer, before they reach a
 * card. The emulator sees every stray access, uninitialised read and race; a card sees few of them,
 * and what it sees costs its process. Only these are reasons to reject: whatever else happens on
 * the emulator (an instruction that it lacks, a step limit, other numbers) is for the card to say.
 */
#ifndef KEET_CHECK_CHECK_SCREEN_H
#define KEET_CHECK_CHECK_SCREEN_H

#include "core/candidate.h"
#include "device/device.h"

#include <stdbool.h>

struct screen;

/* Finds the small sizes at which the original is clean; where there are none, or the emulator
 * cannot run the original, screen_caveat says so and nothing is rejected. NULL: err. */
struct screen *screen_create(const struct task *task, const struct plan *oracle,
    const struct compilation *original, unsigned nr_threads, struct err *err);
void screen_destroy(struct screen *screen);

/* Fault and race are verdicts of the candidate; *note (its arena's) is what to say of it else. */
bool screen_kernel(struct screen *screen, struct candidate *c, const char **note, struct err *err);

#endif
