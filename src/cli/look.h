/* Opens what status, results, watch, stop, show and diff look at: the folder of a campaign, or the
 * database of a run, while the run is at work or afterwards. */
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
    struct campaign campaign; /* of a folder; a run uses its arena only */
};

/* run: the number of a run in a database; 0: the user named none. A number is an error for a
 * folder. Call look_close after an error, too. */
bool look_open(struct looked *looked, const char *path, uint64_t run, struct err *err);
void look_close(struct looked *looked);

/* The process at work on the folder or database, as lock_holder says. */
long look_holder(const struct looked *looked);

/* Opens the database that the user named. Neither a missing file nor a campaign is one. NULL: err.
 */
struct store *look_database(const char *path, struct err *err);

/* A database and one of its runs. Strings are in the arena. Call look_close_run after an error,
 * too.
 */
struct looked_run {
    struct arena *arena;
    struct store *store;
    struct run_info run;
};

/* run: the number of the run; 0: the newest. */
bool look_open_run(struct looked_run *looked, const char *path, uint64_t run, struct err *err);
void look_close_run(struct looked_run *looked);

/* Loads the node that the user named: "best", "original" or a number. */
bool look_load(
    const struct looked_run *looked, const char *text, struct candidate *c, struct err *err);

/* Prints a text to stdout, and flushes stdout. */
void look_print(const char *text);

#endif
