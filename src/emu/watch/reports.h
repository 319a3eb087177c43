/* What sanitizers found, when a launch was asked for all of it (emu_launch.max_reports): one entry
 * for each kind of fault at one place of the program, that of the lowest block. Each worker has a
 * list, and reports_merge joins them, so the outcome does not depend on the number of threads.
 * Private to emu/. */
#ifndef KEET_EMU_WATCH_REPORTS_H
#define KEET_EMU_WATCH_REPORTS_H

#include "emu/watch/event.h"

struct noted {
    struct emu_report report;
    uint32_t pc, other; /* see emu_fault; what makes it the same again */
};

struct reports {
    struct noted *items;
    size_t nr, cap;
};

void reports_add(struct reports *reports, enum emu_check check, const struct emu_fault *fault);
/* For listeners that keep one fault for each pc, VERDICT_OK: none. `lowest`: that of the lower
 * block wins. `found`: all go on the list; without a list, the one of the lowest block becomes the
 * result unless there is a verdict already. */
void reports_lowest(struct emu_fault *into, const struct emu_fault *from, size_t nr);
void reports_found(struct reports *reports, enum emu_check check, const struct emu_fault *found,
    size_t nr, struct emu_result *result);
void reports_merge(struct reports *into, const struct reports *from);
/* Puts the list into the result: by block, at most max of each kind. */
void reports_finish(
    struct reports *reports, unsigned max, struct arena *arena, struct emu_result *result);
void reports_destroy(struct reports *reports);

#endif
