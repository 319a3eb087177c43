/* Owns the process: argv in, exit status out, and everything that is printed. */
#include "base/log.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "device/device.h"
#include "propose/propose.h"
#include "run/loop.h"

#include <signal.h>
#include <stdio.h>

static void on_signal(int number)
{
    device_interrupt();
    loop_interrupt();
    campaign_interrupt();
    signal(number, SIG_DFL); /* a second signal ends the process */
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    int status = EXIT_DONE;

    mem_keep();
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
    if (!command_table[options.verb].run(&options, &status, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return status ? status : EXIT_FAILED;
    }
    return status;
}
