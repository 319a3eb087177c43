/* Conducts a campaign: round after round, a process per slice, to the end or to a limit. */
#ifndef KEET_CAMPAIGN_CONDUCT_H
#define KEET_CAMPAIGN_CONDUCT_H

#include "campaign/campaign.h"

#include <stdio.h>

struct conduct_options {
    const char *program;      /* the absolute path of keet-opt */
    const char *executor;     /* "local", "slurm" */
    unsigned jobs;            /* at once; 0: as many as there are cores, or as the cluster likes */
    const char *gpus;         /* numbers, "0,1"; NULL: none */
    const char *gres, *slurm; /* see executor.h */
    /* limits of the whole campaign; 0: none */
    double time_s; /* on the wall, over all resumes */
    uint64_t tokens;
    double cost;
    double task_time_s;          /* of one slice of one task */
    const char *task_time;       /* the same, as given, for messages */
    const volatile int *stopped; /* set by a signal handler: end neatly */
    FILE *out;                   /* for the table; NULL: none */
};

/* Tasks that failed are rows, not errors. False: the folder, its state or the executor failed.
 * c->ended says how the campaign ended. */
bool conduct(struct campaign *c, const struct conduct_options *options, struct err *err);

#endif
