/* Every verb of the command line as a function. Each function prints to stdout, and returns false
 * with err when something failed. *status is EXIT_DONE before the call. A function sets *status
 * when the program is to end with another status; after false the default is EXIT_FAILED. */
#ifndef KEET_CLI_COMMANDS_H
#define KEET_CLI_COMMANDS_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>

enum exit_status {
    EXIT_DONE,
    EXIT_FAILED,    /* something outside of the kernel, or a campaign is not complete */
    EXIT_ARGUMENTS, /* the command line is wrong */
    EXIT_KERNEL     /* the kernel that was looked at is broken, or a limit of a comparison */
};

/* The groups of verbs that `keet-opt --help` shows. */
enum command_group {
    GROUP_KERNEL,
    GROUP_HOST_CODE,
    GROUP_RUN,
    GROUP_CAMPAIGN,
    GROUP_PROGRAM,
    NR_GROUPS
};

enum command_takes { TAKES_NOTHING, TAKES_FILES, TAKES_VERB, TAKES_SHELL }; /* for completion */

/* A verb. Dispatch, --help, the man page and completions all read the table. */
struct command {
    const char *name;
    enum command_group group;
    bool hidden; /* from `keet-opt --help` */
    enum command_takes takes;
    int least, most;     /* arguments after the verb */
    const char *usage;   /* a line for each way to call it, without the program's name */
    const char *summary; /* what the verb does, in a few words */
    const char *text;    /* more, in paragraphs; NULL: nothing to add */
    const char *example; /* a command that works; errors suggest the command */
    const char *further; /* more examples, a line each; NULL: none */
    bool (*run)(const struct options *options, int *status, struct err *err);
};

extern const struct command command_table[NR_VERBS];
extern const char *const command_groups[NR_GROUPS]; /* headings */

/* NULL: there is no such verb. */
const struct command *command_named(const char *name);

bool cmd_optimize(const struct options *options, int *status, struct err *err);
bool cmd_run(const struct options *options, int *status, struct err *err);
bool cmd_check(const struct options *options, int *status, struct err *err);
bool cmd_compare(const struct options *options, int *status, struct err *err);
bool cmd_explain(const struct options *options, int *status, struct err *err);
bool cmd_init(const struct options *options, int *status, struct err *err);
bool cmd_patch(const struct options *options, int *status, struct err *err);
bool cmd_capture(const struct options *options, int *status, struct err *err);
bool cmd_optimize_program(const struct options *options, int *status, struct err *err);
bool cmd_write(const struct options *options, int *status, struct err *err);
bool cmd_calls(const struct options *options, int *status, struct err *err);
bool cmd_report(const struct options *options, int *status, struct err *err);
bool cmd_export(const struct options *options, int *status, struct err *err);
bool cmd_campaign(const struct options *options, int *status, struct err *err);
bool cmd_runs(const struct options *options, int *status, struct err *err);
bool cmd_status(const struct options *options, int *status, struct err *err);
bool cmd_results(const struct options *options, int *status, struct err *err);
bool cmd_watch(const struct options *options, int *status, struct err *err);
bool cmd_stop(const struct options *options, int *status, struct err *err);
bool cmd_show(const struct options *options, int *status, struct err *err);
bool cmd_diff(const struct options *options, int *status, struct err *err);
bool cmd_mcp(const struct options *options, int *status, struct err *err);
bool cmd_doctor(const struct options *options, int *status, struct err *err);
bool cmd_completion(const struct options *options, int *status, struct err *err);
bool cmd_help(const struct options *options, int *status, struct err *err);
bool cmd_man(const struct options *options, int *status, struct err *err);
bool cmd_serve(const struct options *options, int *status, struct err *err);
bool cmd_version(const struct options *options, int *status, struct err *err);

/* SIGINT and SIGTERM end the process at once, since verbs that only read and write a file have
 * nothing to lose. After this call the first signal asks the verb to end: the loop, the device, the
 * children and the server for agents are interrupted, and the flag that is returned is set. A
 * second signal ends the process. A verb calls it when its input is read. A signal that was ignored
 * when the process was started stays ignored, as shells have it for `command &`. */
const volatile int *command_ends_neatly(void);
bool command_ignores(int number); /* the signal is ignored */

#endif
