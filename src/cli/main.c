/* Owns the process: argv in, exit status out, and everything that is printed. */
#include "base/log.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "propose/propose.h"

#include <signal.h>
#include <stdio.h>

/* Everything was printed: did it arrive? */
static int end(int status)
{
    struct err err;

    if (terminal_flush(&err))
        return status;
    fprintf(stderr, "keet-opt: %s\n", err.text);
    return status ? status : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    int status = EXIT_DONE;

    mem_keep();
    propose_hide_keys();
    terminal_guard();
    if (!options_parse(&options, argc, argv, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_ARGUMENTS;
    }
    log_set_level(options.verbosity > 1   ? LOG_DETAIL
                  : options.verbosity > 0 ? LOG_NOTE
                                          : LOG_QUIET);
    if (options.no_sandbox) {
        sandbox_waive();
        fputs("keet-opt: --no-sandbox: where this system cannot confine them, the compiler, the "
              "parser and tools may do what you may; not for kernels from strangers\n",
            stderr);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write over the limit of a file's size is an error with a text */
    if (!command_table[options.verb].run(&options, &status, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return end(status ? status : EXIT_FAILED);
    }
    return end(status);
}
