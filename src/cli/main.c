/* Owns the process: argv in, exit status out, and everything that is printed. */
#include "base/log.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "propose/propose.h"
#include "run/loop.h"

#include <signal.h>
#include <stdio.h>

static void on_signal(int number)
{
    loop_interrupt();
    campaign_interrupt();
    signal(number, SIG_DFL); /* a second one ends the process */
}

static bool cmd_help(const struct options *options, int *status, struct err *err)
{
    options_help();
    return true;
}

static bool cmd_version(const struct options *options, int *status, struct err *err)
{
    puts("keet-opt " KEET_VERSION);
    return true;
}

static bool (*const commands[])(const struct options *, int *, struct err *) = {
    [VERB_OPTIMIZE] = cmd_optimize,
    [VERB_RUN] = cmd_run,
    [VERB_CALLS] = cmd_calls,
    [VERB_REPORT] = cmd_report,
    [VERB_EXPORT] = cmd_export,
    [VERB_DOCTOR] = cmd_doctor,
    [VERB_EXPLAIN] = cmd_explain,
    [VERB_WRITE] = cmd_write,
    [VERB_INIT] = cmd_init,
    [VERB_PATCH] = cmd_patch,
    [VERB_CAMPAIGN] = cmd_campaign,
    [VERB_RUNS] = cmd_runs,
    [VERB_STATUS] = cmd_status,
    [VERB_STOP] = cmd_stop,
    [VERB_RESULTS] = cmd_results,
    [VERB_SHOW] = cmd_show,
    [VERB_DIFF] = cmd_diff,
    [VERB_WATCH] = cmd_watch,
    [VERB_HELP] = cmd_help,
    [VERB_VERSION] = cmd_version,
};

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    int status = EXIT_DONE;

    propose_hide_keys();
    if (!options_parse(&options, argc, argv, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_ARGUMENTS;
    }
    log_set_level(options.verbosity > 1   ? LOG_DETAIL
                  : options.verbosity > 0 ? LOG_NOTE
                                          : LOG_QUIET);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    if (!commands[options.verb](&options, &status, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_FAILED;
    }
    return status;
}
