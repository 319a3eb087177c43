/* Owns the command line: its grammar, its defaults, and which of its words go together. */
#include "cli/options.h"

#include "base/mem.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "export/export.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

enum { LONG_OPTION = 256, MOST_ROWS = 128 };

/* The table as getopt_long reads it: the value of row i is LONG_OPTION + i. */
static void for_getopt(struct option long_options[MOST_ROWS + 1], char letters[2 * MOST_ROWS + 2])
{
    char *letter = letters;

    *letter++ = ':';
    for (unsigned i = 0; i < option_table_nr; i++) {
        const struct option_row *row = &option_table[i];

        long_options[i] = (struct option){
            row->name, row->value ? required_argument : no_argument, NULL, LONG_OPTION + (int)i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && row->value)
            *letter++ = ':';
    }
    long_options[option_table_nr] = (struct option){0};
    *letter = '\0';
}

static const struct option_row *row_of(int opt)
{
    if (opt >= LONG_OPTION)
        return &option_table[opt - LONG_OPTION];
    for (unsigned i = 0; i < option_table_nr; i++)
        if (option_table[i].letter == opt)
            return &option_table[i];
    return NULL;
}

static bool read_options(struct options *options, int argc, char **argv, struct err *err)
{
    struct option long_options[MOST_ROWS + 1];
    char letters[2 * MOST_ROWS + 2];
    int opt;

    for_getopt(long_options, letters);
    opterr = 0;
    optind = 0; /* from the beginning, also after an argv of other words */
    while ((opt = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        const struct option_row *row;

        if (opt == ':')
            return err_set(err, "%s needs a value; see keet-opt --help", argv[optind - 1]);
        if (opt == '?')
            return err_set(err, "unknown option %s; see keet-opt --help", argv[optind - 1]);
        row = row_of(opt);
        if (!option_read(row, options, optarg, err))
            return false;
        if (options->nr_given == OPTIONS_MOST_GIVEN)
            return err_set(err, "more than %d options", OPTIONS_MOST_GIVEN);
        options->given[options->nr_given++] = (struct given){row, row->value ? optarg : NULL};
    }
    return true;
}

/* ---- the verb and its arguments ---- */

static bool read_verb(struct options *options, int argc, char **argv, struct err *err)
{
    const struct command *command = optind < argc ? command_named(argv[optind]) : NULL;
    const bool named = command != NULL;
    int nr;

    optind += named;
    command = named ? command : &command_table[VERB_OPTIMIZE];
    nr = argc - optind;
    options->verb = (enum verb)(command - command_table);
    options->paths = (const char *const *)&argv[optind];
    options->nr_paths = (unsigned)nr;
    options->kernel_path = argv[optind]; /* NULL at the end */
    if (options->version || options->help) {
        options->paths = &command->name;
        options->nr_paths = named || nr > 0;
        options->kernel_path = options->nr_paths ? command->name : NULL;
        options->verb = options->version ? VERB_VERSION : VERB_HELP;
        return true;
    }
    if (nr < command->least)
        return err_set(err, "%s; try: %s",
            named ? "an argument is missing" : "no kernel file given", command->example);
    if (nr <= command->most)
        return true;
    if (command->most == 0)
        return err_set(err, "unexpected argument %s after %s", argv[optind], command->name);
    return err_set(err, "unexpected argument %s after %s: expected %s",
        argv[optind + command->most], argv[optind + command->most - 1], command->example);
}

/* ---- what goes together ---- */

/* "`keet-opt run`, `keet-opt explain` and `keet-opt KERNEL.cu`" */
static void name_verbs(const struct option_row *row, struct str *out)
{
    unsigned left = (unsigned)__builtin_popcount(row->verbs & ((UINT32_C(1) << NR_VERBS) - 1));

    for (unsigned v = 0; v < NR_VERBS; v++) {
        if (!option_goes_with(row, v))
            continue;
        str_addf(out, "`keet-opt %s`%s", v == VERB_OPTIMIZE ? "KERNEL.cu" : command_table[v].name,
            left > 2    ? ", "
            : left == 2 ? " and "
                        : "");
        left--;
    }
}

static bool check_given(const struct options *options, struct err *err)
{
    for (unsigned i = 0; i < options->nr_given; i++) {
        const struct option_row *row = options->given[i].row;
        struct str verbs = {0};

        if (option_goes_with(row, options->verb))
            continue;
        name_verbs(row, &verbs);
        err_set(err, "--%s goes with %s", row->name, str_text(&verbs));
        str_finish(&verbs);
        return false;
    }
    return true;
}

/* explain takes any number of profiles, one kernel file, or two versions of a kernel. */
static bool explain_paths(struct options *options, struct err *err)
{
    unsigned nr_kernels = 0;

    for (unsigned i = 0; i < options->nr_paths; i++)
        nr_kernels += str_ends(options->paths[i], ".cu");
    if (options->nr_models > 0)
        return err_set(err, "explain --model goes with one kernel file, whose source it needs");
    if (nr_kernels == 0 || (nr_kernels == 2 && options->nr_paths == 2 && !options->sweep))
        return true;
    return err_set(err,
        "explain takes one kernel, two versions of one, or any number of profiles; got %u kernels "
        "and %u others",
        nr_kernels, options->nr_paths - nr_kernels);
}

static const char *const report_formats[] = {"html", "md", "json", NULL};

/* Each verb has its own values of --as. */
static bool check_as(const struct options *options, struct err *err)
{
    const bool export = options->verb == VERB_EXPORT;
    const char *const *formats = export ? export_formats : report_formats;

    if (!options->as)
        return !export || option_one_of(err, "export: --as", "is missing", formats);
    return str_among(options->as, formats) || option_one_of(err, "--as", options->as, formats);
}

static bool check_together(const struct options *options, struct err *err)
{
    const enum verb verb = options->verb;
    const bool profiles = verb == VERB_EXPLAIN && (str_ends(options->kernel_path, ".csv") ||
                                                      str_ends(options->kernel_path, ".ncu-rep"));

    if (options->gpus && strcmp(options->device, "auto") != 0 &&
        strcmp(options->device, "gpu") != 0)
        return err_set(err, "--gpus says which GPUs: not with --device %s", options->device);
    if (verb == VERB_EXPLAIN && options->nr_models > 0 && (options->sweep || profiles))
        return err_set(err, "explain --model goes with one kernel file, whose source it needs");
    if (options->record_path && options->nr_models == 0)
        return err_set(err, "--record goes with --model");
    if (options->model_only && options->nr_models == 0)
        return err_set(err, "--model-only goes with --model");
    return true;
}

static bool check_executor(const struct options *options, struct err *err)
{
    const struct campaign_options *c = &options->campaign;
    const bool slurm = strcmp(c->executor, "slurm") == 0;

    if (!slurm && (c->gres || c->slurm))
        return err_set(err, "%s goes with --executor slurm", c->gres ? "--gres" : "--slurm");
    if (slurm && options->gpus)
        return err_set(err,
            "--gpus %s: with --executor slurm, Slurm hands out GPUs; expected "
            "--gres gpu:1, or as they are called on this cluster",
            options->gpus);
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, struct err *err)
{
    *options = (struct options){
        .verb = VERB_OPTIMIZE,
        .budget_text = "50",
        .budget_nodes = 50,
        .window = 64,
        .fill = 8,
        .device = "auto",
        .policy = "mcts",
        .seed = 1,
        .campaign = {.executor = "local", .task_time_s = 6 * 3600, .task_time = "6h"},
    };
    if (!read_options(options, argc, argv, err) || !read_verb(options, argc, argv, err))
        return false;
    if (options->verb == VERB_HELP || options->verb == VERB_VERSION)
        return true;
    return check_given(options, err) && check_as(options, err) && check_together(options, err) &&
           check_executor(options, err) &&
           (options->verb != VERB_EXPLAIN || options->nr_paths < 2 || explain_paths(options, err));
}
