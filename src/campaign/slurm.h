/* Slurm's own commands, run with deadlines and capped output, and the readers of their output. Only
 * sbatch, squeue and scancel are needed: no accounting, no REST, no library of Slurm.
 *
 *     ok = slurm_check(&err) && slurm_submit(&array, &job, &err);
 *     ok = slurm_queue(names, nr, &rows, &err);     // what the controller knows of these arrays
 *     for (size_t i = 0; i < rows.nr; i++) ... rows.at[i].state ...
 *     slurm_rows_finish(&rows);
 */
#ifndef KEET_CAMPAIGN_SLURM_H
#define KEET_CAMPAIGN_SLURM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLURM_NAME_BYTES = 48, SLURM_WORD_BYTES = 32, SLURM_REASON_BYTES = 64 };

/* The state of a task of an array. A word of Slurm that we do not know counts as running, so that
 * no task begins a second time because a version of Slurm has a new word. */
enum slurm_state {
    SLURM_WAITING,  /* also: put back into the queue, held */
    SLURM_RUNNING,  /* also: starting, ending, suspended */
    SLURM_ENDED,    /* well or not: completed, failed, node failed, preempted, out of time */
    SLURM_CANCELLED /* by someone's wish */
};
enum slurm_state slurm_state_of(const char *word);

/* Will a waiting task wait for ever? An unknown word counts as free. */
enum slurm_hold {
    SLURM_FREE,
    SLURM_HELD, /* by a person, who may let it go */
    SLURM_STUCK /* Slurm put the task aside: it could not start, or asks for absent resources */
};
struct slurm_row;
enum slurm_hold slurm_hold_of(const struct slurm_row *row);

/* The index of the one row for all tasks of an array that have no row of their own: those that were
 * cancelled before they began. */
#define SLURM_REST UINT32_MAX

struct slurm_row {
    char name[SLURM_NAME_BYTES]; /* of the array */
    uint64_t job;                /* of the array */
    uint32_t index;              /* in the array, or SLURM_REST */
    enum slurm_state state;
    char word[SLURM_WORD_BYTES]; /* as Slurm says it: "NODE_FAIL" */
    char reason[SLURM_REASON_BYTES];
};
struct slurm_rows {
    struct slurm_row *at; /* heap */
    size_t nr, cap;
};
void slurm_rows_finish(struct slurm_rows *rows);

struct slurm_array {
    const char *name;   /* shorter than SLURM_NAME_BYTES: letters, digits, - */
    const char *script; /* may have lines #SBATCH */
    const char *log;    /* file pattern for what Slurm and the script say */
    const char *gres;   /* "gpu:1"; NULL: none is asked for */
    unsigned nr;        /* tasks, 0 to nr-1 */
    unsigned most;      /* at once; 0: as the cluster likes */
};

/* Are the commands there? */
bool slurm_check(struct err *err);

/* A refusal is an error in sbatch's words. When sbatch fails for other reasons, Slurm may have
 * taken the job all the same: slurm_queue with its name tells. */
bool slurm_submit(const struct slurm_array *array, uint64_t *job, struct err *err);

/* All tasks of the arrays of these names. The controller forgets a task some minutes after its end
 * (MinJobAge), so a missing task has ended or never was. */
bool slurm_queue(const char *const *names, unsigned nr, struct slurm_rows *rows, struct err *err);

/* End all tasks of these arrays; fine when there are none. */
bool slurm_cancel(const char *const *names, unsigned nr, struct err *err);
/* End the one task of a row. */
bool slurm_cancel_task(const struct slurm_row *row, struct err *err);

/* ---- the output of the commands ---- */

/* Reads the output of sbatch --parsable: "123" or "123;cluster", perhaps behind lines of a site. */
bool slurm_parse_job(const char *text, uint64_t *job, struct err *err);
/* Adds the rows of lines "name|job|index|STATE|reason", where index is a number or N/A. */
bool slurm_parse_queue(const char *text, struct slurm_rows *rows, struct err *err);

#endif
