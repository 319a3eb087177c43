/* Owns the process: argv in, exit status out, and everything that is printed. */
#include "base/log.h"
#include "base/str.h"
#include "cli/cmd_calls.h"
#include "cli/cmd_campaign.h"
#include "cli/cmd_doctor.h"
#include "cli/cmd_explain.h"
#include "cli/cmd_export.h"
#include "cli/cmd_init.h"
#include "cli/cmd_look.h"
#include "cli/cmd_optimize.h"
#include "cli/cmd_patch.h"
#include "cli/cmd_report.h"
#include "cli/cmd_run.h"
#include "cli/cmd_write.h"
#include "cli/options.h"
#include "propose/propose.h"
#include "run/loop.h"

#include <signal.h>
#include <stdio.h>

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_BROKEN_KERNEL = 3 };

static void on_signal(int number)
{
    loop_interrupt();
    campaign_interrupt();
    signal(number, SIG_DFL); /* a second one ends the process */
}

/* What a verb came to beside its error: a kernel that is broken, a campaign that is not complete.
 */
struct outcome {
    bool clean, complete;
};

static bool run_verb(const struct options *o, struct outcome *outcome, struct err *err)
{
    switch (o->verb) {
    case VERB_HELP:
        options_help();
        return true;
    case VERB_VERSION:
        puts("keet-opt " KEET_VERSION);
        return true;
    case VERB_DOCTOR:
        return doctor(o, &outcome->complete, err);
    case VERB_EXPLAIN:
        if (str_ends(o->kernel_path, ".csv") || str_ends(o->kernel_path, ".ncu-rep"))
            return explain_profiles(o, err);
        return o->nr_paths > 1 || o->sweep ? explain_kernels(o, err)
                                           : run_once(o, &outcome->clean, err);
    case VERB_RUN:
        return run_once(o, &outcome->clean, err);
    case VERB_INIT:
        return init_verb(o, err);
    case VERB_PATCH:
        return patch_verb(o, err);
    case VERB_CAMPAIGN:
        return campaign_verb(o, &outcome->complete, err);
    case VERB_STATUS:
    case VERB_STOP:
    case VERB_RESULTS:
    case VERB_SHOW:
    case VERB_DIFF:
    case VERB_WATCH:
        return look_verb(o, err);
    case VERB_REPORT:
        return report_verb(o, err);
    case VERB_WRITE:
        return first_verb(o, err);
    case VERB_EXPORT:
        return export_verb(o, err);
    case VERB_CALLS:
        return calls_list(o, err);
    default:
        return cmd_optimize(o, err);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    struct outcome outcome = {true, true};

    propose_hide_keys();
    if (!options_parse(&options, argc, argv, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_USAGE;
    }
    log_set_level(options.verbosity > 1   ? LOG_DETAIL
                  : options.verbosity > 0 ? LOG_NOTE
                                          : LOG_QUIET);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    if (!run_verb(&options, &outcome, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_ERROR;
    }
    if (!outcome.complete)
        return EXIT_ERROR;
    return outcome.clean ? EXIT_OK : EXIT_BROKEN_KERNEL;
}
