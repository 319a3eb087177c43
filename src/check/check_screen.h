/* Private to check/: candidates run on the emulator, with its sanitizer, before they reach a card.
 * The emulator sees every stray access, uninitialised read and race. A card sees few of them, and
 * each costs the worker process. The screen rejects a candidate for these only; about all else (an
 * instruction that the emulator lacks, a step limit, other numbers) the card decides. */
#ifndef KEET_CHECK_CHECK_SCREEN_H
#define KEET_CHECK_CHECK_SCREEN_H

#include "core/candidate.h"
#include "device/device.h"

#include <stdbool.h>

struct screen;

/* Finds the small sizes at which the original runs cleanly. Where there are none, or the emulator
 * cannot run the original, the note of screen_kernel says so and nothing is rejected. NULL: err. */
struct screen *screen_create(const struct task *task, const struct plan *oracle,
    const struct compilation *original, unsigned nr_threads, struct err *err);
void screen_destroy(struct screen *screen);

/* Sets verdict fault or race of the candidate, or leaves its verdict. *note (in the candidate's
 * arena) is the sentence about the screening; NULL: none. */
bool screen_kernel(struct screen *screen, struct candidate *c, const char **note, struct err *err);

#endif
