/* The executor of a cluster: a batch becomes one or two arrays of jobs, by sbatch. The script of a
 * job writes a file last of all, and that file tells the end of the item. A job that squeue shows
 * as lost, without such a file, is submitted again, a few times. A job that Slurm put aside (launch
 * failed, BadConstraints) is cancelled and submitted again; a job that a person holds is waited
 * for. Jobs go on when this process is killed: the next process finds them by the files in
 * FOLDER/slurm/ (slurm_files.h), and submits nothing twice. */
#ifndef KEET_CAMPAIGN_EXEC_SLURM_H
#define KEET_CAMPAIGN_EXEC_SLURM_H

#include "campaign/executor.h"

extern const struct executor_ops exec_slurm_ops;

#endif
