/* What status, results, watch, stop, show and diff look at: a campaign's folder, or the database of
 * a run; while it runs or afterwards. */
#ifndef KEET_CLI_LOOK_H
#define KEET_CLI_LOOK_H

#include "base/arena.h"
#include "base/err.h"
#include "campaign/campaign.h"
#include "core/candidate.h"
#include "store/store.h"

#include <stdbool.h>

struct looked {
    bool is_campaign;
    const char *path, *lock_path;
    struct campaign campaign; /* a folder's; its arena is there for a run too */
};

/* run is the number of a run in a database, 0: none was named; a folder has none. look_close also
 * after an error. */
bool look_open(struct looked *looked, const char *path, uint64_t run, struct err *err);
void look_close(struct looked *looked);

/* The process that is at work there, as lock_holder says it. */
long look_holder(const struct looked *looked);

/* A run's database and one of its runs; strings in the arena. look_close_run also after an error.
 */
struct looked_run {
    struct arena *arena;
    struct store *store;
    struct run_info run;
};

/* run is its number; 0: the newest. */
bool look_open_run(struct looked_run *looked, const char *path, uint64_t run, struct err *err);
void look_close_run(struct looked_run *looked);

/* A node by what the user wrote: "best", "original" or a number. */
bool look_load(
    const struct looked_run *looked, const char *text, struct candidate *c, struct err *err);

/* To stdout, and at once. */
void look_print(const char *text);

#endif
