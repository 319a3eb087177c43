/* The executor of a cluster: a batch becomes one or two arrays of jobs, by sbatch. An end is known
 * by the file that a job's script writes last; what was lost without one, as squeue tells, is
 * submitted again a few times. So is what Slurm put aside (launch failed, BadConstraints), once it
 * is cancelled; what a person holds is waited for. Jobs go on when this process is killed: the next
 * one finds them by the files in FOLDER/slurm/ (slurm_files.h), and submits nothing twice. */
#ifndef KEET_CAMPAIGN_EXEC_SLURM_H
#define KEET_CAMPAIGN_EXEC_SLURM_H

#include "campaign/executor.h"

extern const struct executor_ops exec_slurm_ops;

#endif
