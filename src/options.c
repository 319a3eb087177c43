/* Owns the command line: its grammar, its defaults, its help text. */
#include "options.h"

#include "search/search.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_POLICY = 256,
    OPT_DEVICE,
    OPT_BUDGET,
    OPT_DB,
    OPT_RESUME,
    OPT_SEED,
    OPT_JSON,
    OPT_THREADS,
    OPT_WINDOW,
    OPT_CACHE,
    OPT_DUMP,
    OPT_NO_FAST_MATH,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"db", required_argument, NULL, OPT_DB},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"output", required_argument, NULL, 'o'},
    {"json", no_argument, NULL, OPT_JSON},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"cache", required_argument, NULL, OPT_CACHE},
    {"dump", required_argument, NULL, OPT_DUMP},
    {"no-fast-math", no_argument, NULL, OPT_NO_FAST_MATH},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

void options_help(void)
{
    puts(
        "keet-opt: make a CUDA kernel faster, and prove that it still computes the same\n"
        "\n"
        "  keet-opt KERNEL.cu [options]        search for faster variants\n"
        "  keet-opt run KERNEL.cu [options]    run the kernel once; print counters and advice\n"
        "\n"
        "Without a GPU the kernel runs on the built-in emulator: results and counters are exact,\n"
        "times are modelled. Without a language model, a rewriter and a tuner propose variants.\n"
        "Try:  keet-opt kernels/matmul.cu --budget 50\n"
        "\n"
        "Search\n"
        "  --budget N|TIME    stop after N evaluated variants, or after 90s, 10m, 2h (default 50)\n"
        "  --policy NAME      mcts (default), random, greedy\n"
        "  --seed N           everything random follows from it (default 1)\n"
        "  --window N         stop when N variants in a row brought less than 1% (default 64)\n"
        "  --no-fast-math     forbid intrinsics of lower accuracy\n"
        "Where\n"
        "  --device NAME      auto (default), emu, emu:h100, emu:h200\n"
        "  --threads N        host threads of the emulator (default: one per core)\n"
        "  --db FILE          database of the run (default: <kernel>.keet.db)\n"
        "  --resume           go on with the newest run in the database\n"
        "  -o, --output FILE  where the best kernel goes (default: <kernel>.keet.cu)\n"
        "  --cache DIR        compiled kernels (default: ~/.cache/keet-opt; '' for none)\n"
        "  --dump DIR         run: write inputs and outputs of the first check shape as .npy\n"
        "Output\n"
        "  --json             one JSON document on stdout\n"
        "  -q, --quiet        only the result;   -v, -vv  more detail on stderr\n"
        "  -h, --help;  --version\n"
        "\n"
        "A kernel file is plain CUDA plus `#pragma keet` lines that say what goes in, what comes\n"
        "out and how to launch: see README.md, or any file in kernels/.");
}

static bool parse_u64(const char *name, const char *text, uint64_t *value, struct err *err)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    if (errno || end == text || *end || *text == '-')
        return err_set(err, "%s %s: expected a whole number", name, text);
    return true;
}

/* "50" is nodes; "90s", "10m", "2h" is wall time. */
static bool parse_budget(struct options *options, const char *text, struct err *err)
{
    char *end;
    const double value = strtod(text, &end);
    double unit = 0;

    if (end != text && strcmp(end, "s") == 0)
        unit = 1;
    else if (end != text && strcmp(end, "m") == 0)
        unit = 60;
    else if (end != text && strcmp(end, "h") == 0)
        unit = 3600;
    options->budget_text = text;
    options->budget_nodes = 0;
    options->budget_s = 0;
    if (unit > 0 && value > 0 && value * unit < 1e9) {
        options->budget_s = value * unit;
        return true;
    }
    if (!parse_u64("--budget", text, &options->budget_nodes, err) || !options->budget_nodes)
        return err_set(
            err, "--budget %s: expected a number of variants (50) or a time (90s, 10m, 2h)", text);
    return true;
}

static bool parse_policy(struct options *options, const char *name, struct err *err)
{
    for (size_t i = 0; search_policies[i]; i++) {
        if (strcmp(name, search_policies[i]) == 0) {
            options->policy = name;
            return true;
        }
    }
    err_set(err, "--policy %s: expected one of", name);
    for (size_t i = 0; search_policies[i]; i++) {
        const size_t used = strlen(err->text);
        snprintf(
            err->text + used, sizeof(err->text) - used, "%s %s", i ? "," : "", search_policies[i]);
    }
    return false;
}

static bool parse_one(struct options *options, int opt, const char *arg, struct err *err)
{
    uint64_t n;

    switch (opt) {
    case OPT_BUDGET:
        return parse_budget(options, arg, err);
    case OPT_POLICY:
        return parse_policy(options, arg, err);
    case OPT_DEVICE:
        options->device = arg;
        return true;
    case OPT_SEED:
        return parse_u64("--seed", arg, &options->seed, err);
    case OPT_DB:
        options->db_path = arg;
        return true;
    case OPT_RESUME:
        options->resume = true;
        return true;
    case 'o':
        options->output_path = arg;
        return true;
    case OPT_JSON:
        options->json = true;
        return true;
    case OPT_THREADS:
        if (!parse_u64("--threads", arg, &n, err) || n > 1024)
            return err_set(err, "--threads %s: expected 0 to 1024", arg);
        options->nr_threads = (unsigned)n;
        return true;
    case OPT_WINDOW:
        if (!parse_u64("--window", arg, &n, err) || !n || n > 1000000)
            return err_set(err, "--window %s: expected 1 to 1000000", arg);
        options->window = (unsigned)n;
        return true;
    case OPT_CACHE:
        options->cache_dir = arg;
        return true;
    case OPT_DUMP:
        options->dump_dir = arg;
        return true;
    case OPT_NO_FAST_MATH:
        options->forbid_fast_math = true;
        return true;
    case 'q':
        options->verbosity = -1;
        return true;
    case 'v':
        options->verbosity++;
        return true;
    case 'h':
        options->verb = VERB_HELP;
        return true;
    case OPT_VERSION:
        options->verb = VERB_VERSION;
        return true;
    default:
        return false;
    }
}

bool options_parse(struct options *options, int argc, char **argv, struct err *err)
{
    int opt;

    *options = (struct options){
        .verb = VERB_OPTIMIZE,
        .budget_text = "50",
        .budget_nodes = 50,
        .window = 64,
        .device = "auto",
        .policy = "mcts",
        .seed = 1,
    };
    opterr = 0;
    optind = 1;
    while ((opt = getopt_long(argc, argv, ":o:qvh", long_options, NULL)) != -1) {
        if (opt == ':')
            return err_set(err, "%s needs a value; see keet-opt --help", argv[optind - 1]);
        if (opt == '?')
            return err_set(err, "unknown option %s; see keet-opt --help", argv[optind - 1]);
        if (!parse_one(options, opt, optarg, err))
            return false;
    }
    if (options->verb == VERB_HELP || options->verb == VERB_VERSION)
        return true;
    if (optind < argc && strcmp(argv[optind], "run") == 0) {
        options->verb = VERB_RUN;
        optind++;
    }
    if (optind >= argc)
        return err_set(err, "no kernel file given; try: keet-opt kernels/matmul.cu --budget 50");
    if (optind + 1 < argc)
        return err_set(err, "unexpected argument %s: one kernel file is expected (got %s first)",
            argv[optind + 1], argv[optind]);
    options->kernel_path = argv[optind];
    if (options->dump_dir && options->verb != VERB_RUN)
        return err_set(err, "--dump goes with `keet-opt run KERNEL.cu`");
    return true;
}
