/* argv -> options. The only reader of the command line. */
#ifndef KEET_CLI_OPTIONS_H
#define KEET_CLI_OPTIONS_H

#include "base/err.h"
#include "core/objective.h"
#include "report/plot.h"

#include <stdbool.h>
#include <stdint.h>

/* The verbs, in the order of command_table.c, which says what each verb does. */
enum verb {
    VERB_OPTIMIZE,
    VERB_TUNE,
    VERB_RUN,
    VERB_CHECK,
    VERB_COMPARE,
    VERB_EXPLAIN,
    VERB_INIT,
    VERB_PATCH,
    VERB_CAPTURE,
    VERB_OPTIMIZE_PROGRAM,
    VERB_WRITE,
    VERB_STATUS,
    VERB_WATCH,
    VERB_STOP,
    VERB_RESULTS,
    VERB_SHOW,
    VERB_DIFF,
    VERB_RUNS,
    VERB_CALLS,
    VERB_REPORT,
    VERB_EXPORT,
    VERB_CAMPAIGN,
    VERB_MCP,
    VERB_DOCTOR,
    VERB_COMPLETION,
    VERB_HELP,
    VERB_MAN,
    VERB_SERVE,
    VERB_VERSION,
    NR_VERBS
};

enum { OPTIONS_MAX_MODELS = 8, OPTIONS_MAX_FLAGS = 32, OPTIONS_MOST_GIVEN = 128 };

/* An option as given; a campaign passes the option on to its tasks. */
struct given {
    const struct option_row *row;
    const char *value; /* NULL: the option takes none */
};

/* The options of `keet-opt campaign` and of the verbs that look at a campaign. */
struct campaign_options {
    const char *folder; /* NULL: <list>.campaign */
    const char *executor;
    const char *gres, *slurm;   /* slurm: what each job asks for; further options of sbatch */
    unsigned jobs, rounds;      /* 0: the default */
    double time_s, task_time_s; /* 0: no limit */
    const char *task_time;      /* as given */
    uint64_t tokens;
    double cost;
    bool retry, once, trust;
    unsigned top; /* 0: all */
};

/* The options of `keet-opt capture`. */
struct capture_options {
    const char *kernel;        /* NULL: all */
    unsigned launches, launch; /* the first so many of each kernel; only this one, from 1 on */
    unsigned limit_mib;        /* 0: the default */
    double time_s;             /* of the processor; 0: no limit */
    bool dry;
};

/* The options of `keet-opt optimize-program`. */
struct whole_options {
    const char *build;     /* a command for a shell; NULL: make */
    const char *tree;      /* the folder that is copied; NULL: the current one */
    const char *winners;   /* a folder of kernels to judge instead of a search; NULL: none */
    const char *tolerance; /* as given; NULL: the default */
    const char *compared[OPTIONS_MAX_FLAGS]; /* names of files that it writes; none: all */
    unsigned nr_compared;
    bool in_place;
};

struct options {
    enum verb verb;
    const char *kernel_path;  /* the first argument of the verb; NULL: none */
    const char *const *paths; /* all arguments of the verb, borrowed from argv */
    unsigned nr_paths;
    const char *budget_text; /* as given */
    uint64_t budget_nodes;   /* 0: no limit */
    double budget_s;         /* 0: no limit */
    unsigned window;         /* nodes without a gain of 1% after which the run has converged */
    const char *device, *policy;
    enum objective objective;
    const char *gpus;        /* "0,1": several at once; NULL: the GPU of `device` */
    enum plot_choice plot;   /* curves in text */
    double deadline_s;       /* see device.h; 0: the device's default */
    uint64_t worker_bytes;   /* GPU: host memory that its worker may take; 0: three quarters */
    bool no_screen;          /* GPU: candidates go to the card unseen */
    bool no_sandbox;         /* GPU: its worker keeps all rights */
    const char *reuse_path;  /* evaluations shared by runs; NULL: none */
    const char *feedback;    /* what steers the search; NULL: our explanation */
    uint64_t run;            /* of the database that is looked at; 0: the newest */
    bool force;              /* init: overwrite */
    const char *db_path;     /* NULL: <kernel>.keet.db */
    const char *output_path; /* NULL: <kernel>.keet.cu */
    const char *cache_dir;   /* NULL: the compiler's default */
    const char *tools_dir;   /* the user's own tools; NULL: none */
    const char *list_path;   /* check: a file of candidates; NULL: none */
    bool web;                /* watch: a page that is served */
    unsigned port;           /* of the page; 0: any */
    const char *fail_if[OPTIONS_MAX_FLAGS]; /* compare: limits, as given */
    unsigned nr_fail_if;
    bool what_if;      /* explain: other sizes and contents, too */
    const char *sweep; /* explain: the parameter's name, as given; NULL: found out */
    const char *as;    /* report: "html", "md", "json", NULL: html; export: its format */
    const char *args;  /* of a file with host code: "1024 100"; NULL: none given */
    const char *include_dirs[OPTIONS_MAX_FLAGS], *defines[OPTIONS_MAX_FLAGS]; /* -I, -D */
    unsigned nr_include_dirs, nr_defines;
    const char *dump_dir; /* run: where arrays go as .npy; NULL: nowhere */
    uint64_t seed;
    unsigned nr_threads; /* of the emulator; 0: one per core */
    int verbosity;       /* -1 quiet, 0, 1, 2 */
    bool json, markdown, resume, forbid_fast_math;
    bool profile;      /* run: counters and advice, though --sanitize was given */
    bool moves;        /* run: which moves the kernel is offered, and why not the others */
    bool strict_races; /* run: threads that store one value to one place race, too */
    unsigned sanitize; /* run: bits of enum device_check; 0: no sanitizers */
    /* with a language model */
    const char *models[OPTIONS_MAX_MODELS]; /* specs, as llm/llm.h lists them */
    unsigned nr_models;
    unsigned in_flight;      /* requests to models at once; 0: 4 */
    unsigned prompt_tokens;  /* 0: the default */
    uint64_t max_tokens;     /* 0: no limit */
    double max_cost;         /* dollars; 0: no limit */
    const char *memory_path; /* lessons across runs; NULL: this run's own */
    const char *record_path;
    const char *cutlass_dir;          /* as given; NULL: where cutlass_find looks */
    const char *temperature, *effort; /* by kind of request; NULL: the endpoint's defaults */
    const char *techniques_dir;       /* the user's own pages; NULL: none */
    const char *instructions_path;    /* the user's own word to models; NULL: none */
    unsigned call_s;                  /* the time that a call may take; 0: the endpoint's default */
    unsigned fill;     /* evaluations of rewriter and tuner for each answer of a model */
    unsigned episodes; /* as enum episodes of propose.h */
    bool no_memory, plan, no_plan, show_prompt, no_techniques, no_best;
    bool model_only; /* neither rewriter nor tuner: for comparisons */
    struct campaign_options campaign;
    struct capture_options capture;
    struct whole_options whole;
    bool help, version;                     /* --help, --version */
    struct given given[OPTIONS_MOST_GIVEN]; /* all options, in their order */
    unsigned nr_given;
};

/* Strings point into argv. The error names the argument, and says what was expected. --help makes
 * the verb VERB_HELP, with the name of the verb that was asked about as its argument. */
bool options_parse(struct options *options, int argc, char **argv, struct err *err);

#endif
