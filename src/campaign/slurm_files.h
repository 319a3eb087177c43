/* Files in FOLDER/slurm/, on a file system that the nodes see, too. An executor that was killed
 * finds its jobs again by these files, and jobs on other machines report through them.
 *
 *     0001.list    an array of jobs: its name, and the key of each task; written before the
 *                  array is submitted, so that a job is never without a list
 *     0001.sh      the script of the array
 *     0001_5.log   the output of Slurm and of the script for task 5
 *     KEY.exit     the end of an item: its status and seconds; written by the script, last of all
 *     NAME.lock    held by the script while it works on the database of task NAME
 *
 * The key of an item is its name and a hash of its arguments. So we know an item again after a
 * restart, whether it waits, runs or has ended. */
#ifndef KEET_CAMPAIGN_SLURM_FILES_H
#define KEET_CAMPAIGN_SLURM_FILES_H

#include "base/arena.h"
#include "campaign/executor.h"
#include "campaign/slurm.h"

struct slurm_list {
    unsigned serial;
    char name[SLURM_NAME_BYTES]; /* of the array */
    const char **keys;
    unsigned nr;
};
struct slurm_lists {
    struct slurm_list *at; /* heap, by rising serial */
    size_t nr, cap;
};
void slurm_lists_finish(struct slurm_lists *lists);

/* Makes FOLDER/slurm/ when the folder is not there, and reads all lists in the folder. Strings are
 * in the arena. */
bool slurm_lists_read(
    const char *folder, struct arena *arena, struct slurm_lists *lists, struct err *err);

/* Adds a list with a name that no other array has, and writes its file and its script. keys[i]
 * belongs to items[i]. extra: further options of sbatch on one line, or NULL. */
bool slurm_list_add(const char *folder, struct arena *arena, struct slurm_lists *lists,
    struct exec_item *const *items, const char *const *keys, unsigned nr, const char *extra,
    struct err *err);

const char *slurm_key(struct arena *arena, const struct exec_item *item);

/* FOLDER/slurm/0001<suffix>; FOLDER/slurm/NAME<suffix>; arena memory. */
const char *slurm_list_path(
    const char *folder, struct arena *arena, const struct slurm_list *list, const char *suffix);
const char *slurm_path(
    const char *folder, struct arena *arena, const char *name, const char *suffix);

/* Puts the end of an item into *item. False: this machine sees no end of the item. */
bool slurm_take_exit(const char *folder, const char *key, struct exec_item *item);

/* Takes back the newest list, when nothing of the list was submitted. */
void slurm_list_drop(const char *folder, struct slurm_lists *lists);

/* Forgets all lists and the ends of their items; logs stay. */
void slurm_lists_forget(const char *folder, struct slurm_lists *lists);

#endif
