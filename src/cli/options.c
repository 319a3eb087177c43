/* Owns the command line: its grammar, its defaults, its help text. */
#include "cli/options.h"

#include "base/str.h"
#include "device/findings.h"
#include "export/export.h"
#include "search/search.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_POLICY = 256,
    OPT_OBJECTIVE,
    OPT_DEVICE,
    OPT_BUDGET,
    OPT_DB,
    OPT_RESUME,
    OPT_REUSE,
    OPT_FEEDBACK,
    OPT_SEED,
    OPT_JSON,
    OPT_MARKDOWN,
    OPT_TOOLS,
    OPT_SWEEP,
    OPT_THREADS,
    OPT_WINDOW,
    OPT_CACHE,
    OPT_DUMP,
    OPT_PROFILE,
    OPT_SANITIZE,
    OPT_NO_FAST_MATH,
    OPT_MODEL,
    OPT_IN_FLIGHT,
    OPT_PROMPT_TOKENS,
    OPT_MAX_TOKENS,
    OPT_MAX_COST,
    OPT_MEMORY,
    OPT_NO_MEMORY,
    OPT_NO_PLAN,
    OPT_MODEL_ONLY,
    OPT_RECORD,
    OPT_AS,
    OPT_SHOW_PROMPT,
    OPT_GPUS,
    OPT_SCREEN,
    OPT_NO_SCREEN,
    OPT_NO_SANDBOX,
    OPT_DEADLINE,
    OPT_WORKER_MEMORY,
    OPT_CUTLASS,
    OPT_OUT,
    OPT_EXECUTOR,
    OPT_GRES,
    OPT_SLURM,
    OPT_JOBS,
    OPT_ROUNDS,
    OPT_TIME,
    OPT_TASK_TIME,
    OPT_TOKENS,
    OPT_COST,
    OPT_RETRY,
    OPT_ONCE,
    OPT_TOP,
    OPT_ARGS,
    OPT_RUN,
    OPT_FORCE,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"objective", required_argument, NULL, OPT_OBJECTIVE},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"db", required_argument, NULL, OPT_DB},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"reuse", required_argument, NULL, OPT_REUSE},
    {"feedback", required_argument, NULL, OPT_FEEDBACK},
    {"output", required_argument, NULL, 'o'},
    {"json", no_argument, NULL, OPT_JSON},
    {"md", no_argument, NULL, OPT_MARKDOWN},
    {"tools", required_argument, NULL, OPT_TOOLS},
    {"sweep", required_argument, NULL, OPT_SWEEP},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"cache", required_argument, NULL, OPT_CACHE},
    {"dump", required_argument, NULL, OPT_DUMP},
    {"profile", no_argument, NULL, OPT_PROFILE},
    {"sanitize", required_argument, NULL, OPT_SANITIZE},
    {"no-fast-math", no_argument, NULL, OPT_NO_FAST_MATH},
    {"model", required_argument, NULL, OPT_MODEL},
    {"in-flight", required_argument, NULL, OPT_IN_FLIGHT},
    {"prompt-tokens", required_argument, NULL, OPT_PROMPT_TOKENS},
    {"max-tokens", required_argument, NULL, OPT_MAX_TOKENS},
    {"max-cost", required_argument, NULL, OPT_MAX_COST},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"no-memory", no_argument, NULL, OPT_NO_MEMORY},
    {"no-plan", no_argument, NULL, OPT_NO_PLAN},
    {"model-only", no_argument, NULL, OPT_MODEL_ONLY},
    {"record", required_argument, NULL, OPT_RECORD},
    {"as", required_argument, NULL, OPT_AS},
    {"args", required_argument, NULL, OPT_ARGS},
    {"include", required_argument, NULL, 'I'},
    {"define", required_argument, NULL, 'D'},
    {"cutlass", required_argument, NULL, OPT_CUTLASS},
    {"show-prompt", no_argument, NULL, OPT_SHOW_PROMPT},
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"screen", no_argument, NULL, OPT_SCREEN},
    {"no-screen", no_argument, NULL, OPT_NO_SCREEN},
    {"no-sandbox", no_argument, NULL, OPT_NO_SANDBOX},
    {"deadline", required_argument, NULL, OPT_DEADLINE},
    {"worker-memory", required_argument, NULL, OPT_WORKER_MEMORY},
    {"out", required_argument, NULL, OPT_OUT},
    {"executor", required_argument, NULL, OPT_EXECUTOR},
    {"gres", required_argument, NULL, OPT_GRES},
    {"slurm", required_argument, NULL, OPT_SLURM},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"time", required_argument, NULL, OPT_TIME},
    {"task-time", required_argument, NULL, OPT_TASK_TIME},
    {"tokens", required_argument, NULL, OPT_TOKENS},
    {"cost", required_argument, NULL, OPT_COST},
    {"retry", no_argument, NULL, OPT_RETRY},
    {"once", no_argument, NULL, OPT_ONCE},
    {"top", required_argument, NULL, OPT_TOP},
    {"run", required_argument, NULL, OPT_RUN},
    {"force", no_argument, NULL, OPT_FORCE},
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
        "  keet-opt explain KERNEL.cu          profile it now, and say what limits it\n"
        "  keet-opt explain OLD.cu NEW.cu      profile two versions; say what changed and what "
        "paid\n"
        "  keet-opt explain PROFILE...         the same for Nsight Compute's .csv and .ncu-rep\n"
        "  keet-opt init SOME.cu [-o FILE]     a kernel file from a CUDA file with host code\n"
        "  keet-opt patch SOME.cu BEST.cu      the best kernel back in SOME.cu: a patched copy, a "
        "diff\n"
        "  keet-opt write TASK.cu --model M    the first kernel of a contract that has none yet\n"
        "  keet-opt calls RUN.db [--json]      list what models were asked, and what it cost\n"
        "  keet-opt report RUN.db [-o FILE]    a page of it for the browser; --as md, --as json\n"
        "  keet-opt campaign LIST|DIR          many kernels, to the end; then report FOLDER\n"
        "  keet-opt status|results|watch|stop FOLDER|RUN.db   how far, what is best, live, end it\n"
        "  keet-opt runs RUN.db [--json]       the runs that it holds; --run N looks at one of "
        "them\n"
        "  keet-opt show RUN.db NODE;  diff RUN.db A B        one variant; what two differ in\n"
        "  keet-opt export RUN.db --as FORMAT  the best kernel for other programs: kernelbench,\n"
        "                                      pytorch, header, flashinfer-bench; or tuning "
        "results:\n"
        "                                      t4, kernel-tuner\n"
        "  keet-opt doctor [--json]            what is there, what is not, why, what to do\n"
        "\n"
        "Without a GPU the kernel runs on the built-in emulator: results and counters are exact,\n"
        "times are modelled. Without a language model, a rewriter and a tuner propose variants.\n"
        "Try:  keet-opt kernels/matmul.cu --budget 50\n"
        "\n"
        "Search\n"
        "  --budget N|TIME    stop after N evaluated variants, or after 90s, 10m, 2h (default 50)\n"
        "  --policy NAME      mcts (default), random, greedy, beam, evolution\n"
        "  --objective NAME   time (default), energy, edp: joules measured by the GPU, and less "
        "of\n"
        "                     them preferred among variants that are equally fast\n"
        "  --seed N           everything random follows from it (default 1)\n"
        "  --window N         stop when N variants in a row brought less than 1% (default 64)\n"
        "  --feedback WHAT    what steers it: findings (default), none, counters, generic,\n"
        "                     other:RUN.db (another kernel's findings); to compare them\n"
        "  --args \"N M...\"     a file with host code: the arguments that its main is read with\n"
        "  -I DIR, -D X=1     the same: headers of its own, macros; beside those of its Makefile\n"
        "  --no-fast-math     forbid intrinsics of lower accuracy\n"
        "With a language model (README.md has more)\n"
        "  --model SPEC       anthropic:NAME, openai:NAME, http://host:port/v1#NAME,\n"
        "                     cmd:'PROGRAM ARGS', script:DIR, replay:FILE, none (default);\n"
        "                     may be given several times: the run learns which one pays\n"
        "  --in-flight N      requests at once, while the device works (default 4)\n"
        "  --max-tokens N     stop after so many tokens, in and out\n"
        "  --max-cost USD     stop at this sum, by the table prompts/prices.txt\n"
        "  --prompt-tokens N  the longest prompt, by bytes/4 (default 24000)\n"
        "  --model-only       neither rewriter nor tuner\n"
        "  --no-plan          ask for code right away, without a plan first\n"
        "  --memory FILE      keep lessons over runs;   --no-memory  use none at all\n"
        "  --record FILE      write all replies, for --model replay:FILE\n"
        "  --show-prompt      print what would be sent first; send nothing\n"
        "  --cutlass DIR      CUTLASS, for variants to include and models to read (default:\n"
        "                     $KEET_CUTLASS, else what setup.sh --cutlass got; none: without)\n"
        "Where\n"
        "  --device NAME      auto (default), gpu, gpu:N, emu, emu:h100, emu:h200\n"
        "  --gpus 0,1         several GPUs, one worker process each, evaluations in parallel\n"
        "  --no-screen        on a GPU: do not look for stray accesses and races on the emulator\n"
        "                     before a candidate runs on the card (--screen, the default)\n"
        "  --deadline S       on a GPU: a launch that takes longer hangs (default 10)\n"
        "  --worker-memory MB of the host, for a GPU's worker process (default: 3/4 of all)\n"
        "  --no-sandbox       on a GPU: the worker process keeps its rights; see doctor\n"
        "  --threads N        host threads of the emulator (default: one per core)\n"
        "  --db FILE          database of the run (default: <kernel>.keet.db)\n"
        "  --resume           go on with the newest run in the database\n"
        "  --reuse FILE       keep evaluations in FILE and take equal ones from it (emulator)\n"
        "  -o, --output FILE  where the best kernel goes (default: <kernel>.keet.cu)\n"
        "  --cache DIR        compiled kernels (default: ~/.cache/keet-opt; '' for none)\n"
        "  --dump DIR         run: write inputs and outputs of the first check shape as .npy\n"
        "  --sanitize LIST    run: all, or some of memory,init,race,sync,leak: list what is wrong, "
        "as\n"
        "                     compute-sanitizer does; with --profile, counters and advice as well\n"
        "Campaigns (README.md has the list's format; options of a search hold for all its lines)\n"
        "  --out FOLDER       databases, kernels and state (default: <list>.campaign)\n"
        "  --resume           go on with the campaign there;  --retry  and try what failed again\n"
        "  --time 8h          wall time of the whole;  --tokens N, --cost USD  of all models\n"
        "  --task-time 2h     a task's process that takes longer in a round is ended (default 6h)\n"
        "  --jobs N           processes at once (default: one per GPU or core); --gpus 0,1\n"
        "  --rounds N         slices of a task's budget; what converged tasks leave moves to "
        "those\n"
        "                     that gain (default 4; 1: every task gets exactly its budget)\n"
        "  --executor NAME    where the processes run: local (default), slurm (jobs of a "
        "cluster)\n"
        "  --gres gpu:1       slurm: what a job asks for (none: tasks run on the emulator)\n"
        "  --slurm OPTIONS    slurm: further options of sbatch: '-p fast -A lab -t 2:00:00'\n"
        "  --run N            of a database that holds several runs: that one (default: newest)\n"
        "  --force            init: overwrite the file\n"
        "  --top N            results: so many;   --once  watch: look once\n"
        "Output\n"
        "  --json             one JSON document on stdout\n"
        "  --md               explain: Markdown\n"
        "  --sweep NAME       explain: profiles of one kernel over a parameter, by their file "
        "names\n"
        "  --tools DIR        your own tools, executables that read JSON; their advice joins ours\n"
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

/* "90s", "10m", "2h" */
static bool parse_time(const char *text, double *seconds)
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
    *seconds = value * unit;
    return *seconds > 0 && *seconds < 1e9;
}

/* "50" is nodes; a time is wall time. */
static bool parse_budget(struct options *options, const char *text, struct err *err)
{
    options->budget_text = text;
    options->budget_nodes = 0;
    if (parse_time(text, &options->budget_s))
        return true;
    options->budget_s = 0;
    if (!parse_u64("--budget", text, &options->budget_nodes, err) || !options->budget_nodes)
        return err_set(
            err, "--budget %s: expected a number of variants (50) or a time (90s, 10m, 2h)", text);
    return true;
}

/* The error for a name that is none of those. */
static bool one_of(struct err *err, const char *option, const char *name, const char *const *names)
{
    err_set(err, "%s %s: expected one of", option, name);
    for (size_t i = 0; names[i]; i++) {
        const size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof(err->text) - used, "%s %s", i ? "," : "", names[i]);
    }
    return false;
}

static bool parse_policy(struct options *options, const char *name, struct err *err)
{
    options->policy = name;
    return str_among(name, search_policies) || one_of(err, "--policy", name, search_policies);
}

static bool parse_small(
    const char *name, const char *text, uint64_t most, unsigned *value, struct err *err)
{
    uint64_t n;

    if (!parse_u64(name, text, &n, err) || !n || n > most)
        return err_set(err, "%s %s: expected 1 to %llu", name, text, (unsigned long long)most);
    *value = (unsigned)n;
    return true;
}

static bool parse_model(struct options *options, const char *spec, struct err *err)
{
    if (strcmp(spec, "none") == 0) {
        options->nr_models = 0;
        return true;
    }
    if (options->nr_models == OPTIONS_MAX_MODELS)
        return err_set(err, "at most %d models in one run", OPTIONS_MAX_MODELS);
    options->models[options->nr_models++] = spec;
    return true;
}

static bool parse_cost(const char *name, const char *text, double *cost, struct err *err)
{
    char *end;

    *cost = strtod(text, &end);
    return (end > text && !*end && *cost > 0 && *cost < 1e9) ||
           err_set(err, "%s %s: expected a sum in dollars, such as 2.50", name, text);
}

/* "0,1": numbers of GPUs, none twice. */
static bool parse_gpus(struct options *options, const char *text, struct err *err)
{
    uint64_t seen = 0;
    const char *at = text;

    options->gpus = text;
    for (;;) {
        char *end;
        const unsigned long n = strtoul(at, &end, 10);

        if (end == at || *at == '-' || *at == '+' || n > 63 || (*end && *end != ',') ||
            (seen >> n & 1))
            return err_set(err, "--gpus %s: expected numbers of GPUs, such as 0,1", text);
        seen |= UINT64_C(1) << n;
        if (!*end)
            return true;
        at = end + 1;
    }
}

static bool parse_for_campaign(struct options *options, int opt, const char *arg, struct err *err)
{
    struct campaign_options *c = &options->campaign;

    switch (opt) {
    case OPT_OUT:
        c->folder = arg;
        return true;
    case OPT_EXECUTOR:
        c->executor = arg;
        return true;
    case OPT_GRES:
        c->gres = arg;
        return *arg || err_set(err, "--gres: expected what a job asks for, such as gpu:1");
    case OPT_SLURM:
        c->slurm = arg;
        return true;
    case OPT_JOBS:
        return parse_small("--jobs", arg, 1024, &c->jobs, err);
    case OPT_ROUNDS:
        return parse_small("--rounds", arg, 32, &c->rounds, err);
    case OPT_TIME:
        return parse_time(arg, &c->time_s) ||
               err_set(err, "--time %s: expected a time such as 90s, 10m, 8h", arg);
    case OPT_TASK_TIME:
        c->task_time = arg;
        return parse_time(arg, &c->task_time_s) ||
               err_set(err, "--task-time %s: expected a time such as 90s, 10m, 2h", arg);
    case OPT_TOKENS:
        return (parse_u64("--tokens", arg, &c->tokens, err) && c->tokens > 0) ||
               err_set(err, "--tokens %s: expected a number of tokens", arg);
    case OPT_COST:
        return parse_cost("--cost", arg, &c->cost, err);
    case OPT_RETRY:
        return c->retry = true;
    case OPT_ONCE:
        return c->once = true;
    case OPT_TOP:
        return parse_small("--top", arg, 1000000, &c->top, err);
    default:
        return false;
    }
}

static bool parse_for_gpu(struct options *options, int opt, const char *arg, struct err *err)
{
    char *end;

    switch (opt) {
    case OPT_GPUS:
        return parse_gpus(options, arg, err);
    case OPT_SCREEN:
        options->no_screen = false;
        return true;
    case OPT_NO_SCREEN:
        options->no_screen = true;
        return true;
    case OPT_NO_SANDBOX:
        options->no_sandbox = true;
        return true;
    case OPT_DEADLINE:
        options->deadline_s = strtod(arg, &end);
        return (end > arg && !*end && options->deadline_s >= 0.01 &&
                   options->deadline_s <= 86400) ||
               err_set(err, "--deadline %s: expected seconds, 0.01 to 86400", arg);
    case OPT_WORKER_MEMORY:
        if (!parse_u64("--worker-memory", arg, &options->worker_bytes, err) ||
            options->worker_bytes < 1 || options->worker_bytes > 1 << 30)
            return err_set(err, "--worker-memory %s: expected megabytes", arg);
        options->worker_bytes <<= 20;
        return true;
    default:
        return parse_for_campaign(options, opt, arg, err);
    }
}

static bool parse_for_model(struct options *options, int opt, const char *arg, struct err *err)
{
    switch (opt) {
    case OPT_MODEL:
        return parse_model(options, arg, err);
    case OPT_IN_FLIGHT:
        return parse_small("--in-flight", arg, 32, &options->in_flight, err);
    case OPT_PROMPT_TOKENS:
        return parse_small("--prompt-tokens", arg, 10000000, &options->prompt_tokens, err);
    case OPT_MAX_TOKENS:
        return parse_u64("--max-tokens", arg, &options->max_tokens, err);
    case OPT_MAX_COST:
        return parse_cost("--max-cost", arg, &options->max_cost, err);
    case OPT_MEMORY:
        options->memory_path = arg;
        return true;
    case OPT_CUTLASS:
        options->cutlass_dir = arg;
        return true;
    case OPT_AS:
        options->as = arg;
        return true;
    case OPT_RECORD:
        options->record_path = arg;
        return true;
    case OPT_NO_MEMORY:
        options->no_memory = true;
        return true;
    case OPT_NO_PLAN:
        options->no_plan = true;
        return true;
    case OPT_MODEL_ONLY:
        options->model_only = true;
        return true;
    case OPT_SHOW_PROMPT:
        options->show_prompt = true;
        return true;
    default:
        return parse_for_gpu(options, opt, arg, err);
    }
}

static bool parse_checks(struct options *options, const char *arg, struct err *err)
{
    for (const char *at = arg; *at;) {
        const size_t len = strcspn(at, ",");
        unsigned bits = len == 3 && !strncmp(at, "all", 3) ? (1u << NR_DEVICE_CHECKS) - 1 : 0;
        for (int c = 0; c < NR_DEVICE_CHECKS; c++) {
            const char *name = device_check_name((enum device_check)c);
            bits |= strlen(name) == len && !strncmp(at, name, len) ? 1u << c : 0;
        }
        if (!bits)
            return err_set(err,
                "--sanitize %s: expected all, or some of memory,init,race,sync,leak, not %.*s", arg,
                (int)len, at);
        options->sanitize |= bits;
        at += len + (at[len] == ',');
    }
    return options->sanitize ||
           err_set(err, "--sanitize: expected all, or memory,init,race,sync,leak");
}

/* -I and -D: one more of a list. */
static bool add_flag(
    const char **list, unsigned *nr, const char *what, const char *arg, struct err *err)
{
    if (*nr == OPTIONS_MAX_FLAGS)
        return err_set(err, "%s %s: at most %d of them", what, arg, OPTIONS_MAX_FLAGS);
    list[(*nr)++] = arg;
    return true;
}

static bool parse_one(struct options *options, int opt, const char *arg, struct err *err)
{
    uint64_t n;

    switch (opt) {
    case OPT_BUDGET:
        return parse_budget(options, arg, err);
    case OPT_POLICY:
        return parse_policy(options, arg, err);
    case OPT_OBJECTIVE:
        return objective_parse(arg, &options->objective) ||
               err_set(err, "--objective %s: expected time, energy or edp", arg);
    case OPT_DEVICE:
        options->device = arg;
        return true;
    case OPT_REUSE:
        options->reuse_path = arg;
        return true;
    case OPT_FEEDBACK:
        options->feedback = arg;
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
    case OPT_ARGS:
        options->args = arg;
        return true;
    case 'I':
        return add_flag(options->include_dirs, &options->nr_include_dirs, "-I", arg, err);
    case 'D':
        return add_flag(options->defines, &options->nr_defines, "-D", arg, err);
    case OPT_SWEEP:
        options->sweep = arg;
        return true;
    case OPT_TOOLS:
        options->tools_dir = arg;
        return true;
    case OPT_MARKDOWN:
        options->markdown = true;
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
    case OPT_PROFILE:
        options->profile = true;
        return true;
    case OPT_SANITIZE:
        return parse_checks(options, arg, err);
    case OPT_DUMP:
        options->dump_dir = arg;
        return true;
    case OPT_RUN:
        return (parse_u64("--run", arg, &options->run, err) && options->run > 0 &&
                   options->run <= INT64_MAX) ||
               err_set(err,
                   "--run %s: expected the number of a run; `keet-opt runs RUN.db` lists "
                   "them",
                   arg);
    case OPT_FORCE:
        options->force = true;
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
        return parse_for_model(options, opt, arg, err);
    }
}

/* Profiles may be many; a kernel stands alone, or beside its other version. */
static bool explain_paths(struct options *options, struct err *err)
{
    unsigned nr_kernels = 0;

    for (unsigned i = 0; i < options->nr_paths; i++)
        nr_kernels += str_ends(options->paths[i], ".cu");
    options->kernel_path = options->paths[0];
    if (options->nr_models > 0)
        return err_set(err, "explain --model goes with one kernel file, whose source it needs");
    if (nr_kernels == 0 || (nr_kernels == 2 && options->nr_paths == 2 && !options->sweep))
        return true;
    return err_set(err,
        "explain takes one kernel, two versions of one, or any number of profiles; got %u kernels "
        "and %u others",
        nr_kernels, options->nr_paths - nr_kernels);
}

/* The verbs, and the fewest and most arguments that each takes after itself. */
static const struct verb_row {
    const char *name;
    enum verb verb;
    int least, most;
    const char *usage;
} verbs[] = {
    {"doctor", VERB_DOCTOR, 0, 0, "doctor"},
    {"run", VERB_RUN, 1, 1, "run kernels/matmul.cu"},
    {"calls", VERB_CALLS, 1, 1, "calls matmul.keet.db"},
    {"report", VERB_REPORT, 1, 1, "report matmul.keet.db"},
    {"export", VERB_EXPORT, 1, 1, "export matmul.keet.db --as header"},
    {"explain", VERB_EXPLAIN, 1, 1 << 20, "explain kernels/matmul.cu"},
    {"write", VERB_WRITE, 1, 1, "write task.cu --model anthropic:NAME"},
    {"init", VERB_INIT, 1, 1, "init some.cu"},
    {"patch", VERB_PATCH, 2, 2, "patch some.cu task.keet.cu"},
    {"campaign", VERB_CAMPAIGN, 1, 1, "campaign kernels --budget 50"},
    {"runs", VERB_RUNS, 1, 1, "runs matmul.keet.db"},
    {"status", VERB_STATUS, 1, 1, "status kernels.campaign"},
    {"stop", VERB_STOP, 1, 1, "stop kernels.campaign"},
    {"results", VERB_RESULTS, 1, 1, "results matmul.keet.db --top 5"},
    {"show", VERB_SHOW, 2, 2, "show matmul.keet.db best"},
    {"diff", VERB_DIFF, 3, 3, "diff matmul.keet.db original best"},
    {"watch", VERB_WATCH, 1, 1, "watch kernels.campaign"},
};

static bool parse_verb(struct options *options, int argc, char **argv, struct err *err)
{
    static const struct verb_row optimize = {NULL, VERB_OPTIMIZE, 1, 1, "kernels/matmul.cu"};
    const struct verb_row *row = &optimize;

    for (size_t i = 0; optind < argc && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(argv[optind], verbs[i].name) == 0)
            row = &verbs[i];
    optind += row != &optimize;
    options->verb = row->verb;
    options->paths = (const char *const *)&argv[optind];
    options->nr_paths = (unsigned)(argc - optind);
    options->kernel_path = argv[optind]; /* NULL at the end */
    if (argc - optind < row->least)
        return err_set(err, "%s; try: keet-opt %s",
            row == &optimize ? "no kernel file given" : "an argument is missing", row->usage);
    if (argc - optind <= row->most)
        return true;
    if (row->most == 0)
        return err_set(err, "unexpected argument %s after %s", argv[optind], row->name);
    return err_set(err, "unexpected argument %s after %s: expected keet-opt %s",
        argv[optind + row->most], argv[optind + row->most - 1], row->usage);
}

static const char *const report_formats[] = {"html", "md", "json", NULL};

/* What --as may say is the verb's. */
static bool check_as(const struct options *options, struct err *err)
{
    const bool export = options->verb == VERB_EXPORT;
    const char *const *formats = export ? export_formats : report_formats;

    if (!options->as)
        return !export || one_of(err, "export: --as", "is missing", formats);
    if (!export && options->verb != VERB_REPORT)
        return err_set(err, "--as goes with `keet-opt report` and `keet-opt export`");
    return str_among(options->as, formats) || one_of(err, "--as", options->as, formats);
}

/* Options that go with one verb, or with a few. */
static bool check_together(const struct options *options, struct err *err)
{
    const enum verb verb = options->verb;
    const bool profiles = verb == VERB_EXPLAIN && (str_ends(options->kernel_path, ".csv") ||
                                                      str_ends(options->kernel_path, ".ncu-rep"));

    if (options->markdown && verb != VERB_EXPLAIN && verb != VERB_REPORT)
        return err_set(err, "--md goes with `keet-opt explain` and `keet-opt report`");
    if (!check_as(options, err))
        return false;
    if (options->dump_dir && verb != VERB_RUN)
        return err_set(err, "--dump goes with `keet-opt run KERNEL.cu`");
    if ((options->sanitize || options->profile) && verb != VERB_RUN)
        return err_set(err, "--sanitize and --profile go with `keet-opt run KERNEL.cu`");
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

static bool looks_at_run(enum verb verb)
{
    return verb == VERB_CALLS || verb == VERB_REPORT || verb == VERB_EXPORT ||
           verb == VERB_STATUS || verb == VERB_RESULTS || verb == VERB_SHOW || verb == VERB_DIFF ||
           verb == VERB_WATCH;
}

static bool check_campaign(const struct options *options, struct err *err)
{
    static const char *const own[] = {"out", "executor", "gres", "slurm", "jobs", "rounds", "time",
        "task-time", "tokens", "cost", "retry", NULL};

    for (unsigned i = 0; i < options->nr_given; i++) {
        const char *name = options->given[i].name;

        if (str_among(name, own) && options->verb != VERB_CAMPAIGN)
            return err_set(err, "--%s goes with `keet-opt campaign`", name);
        if (strcmp(name, "force") == 0 && options->verb != VERB_INIT)
            return err_set(err, "--force goes with `keet-opt init`");
        if (strcmp(name, "run") == 0 && !looks_at_run(options->verb))
            return err_set(err, "--run goes with the verbs that look at a database: results, show, "
                                "diff, status, watch, report, export, calls");
        if (strcmp(name, "once") == 0 && options->verb != VERB_WATCH)
            return err_set(err, "--once goes with `keet-opt watch`");
        if (strcmp(name, "top") == 0 && options->verb != VERB_RESULTS)
            return err_set(err, "--top goes with `keet-opt results`");
    }
    return check_executor(options, err);
}

/* index: of getopt's table, -1 for a short option. */
static bool note_given(struct options *options, int index, const char *value, struct err *err)
{
    if (index < 0)
        return true;
    if (options->nr_given == OPTIONS_MOST_GIVEN)
        return err_set(err, "more than %d options", OPTIONS_MOST_GIVEN);
    options->given[options->nr_given++] = (struct given){long_options[index].name, value};
    return true;
}

bool options_parse(struct options *options, int argc, char **argv, struct err *err)
{
    int opt, index = -1;

    *options = (struct options){
        .verb = VERB_OPTIMIZE,
        .budget_text = "50",
        .budget_nodes = 50,
        .window = 64,
        .device = "auto",
        .policy = "mcts",
        .seed = 1,
        .campaign = {.executor = "local", .task_time_s = 6 * 3600, .task_time = "6h"},
    };
    opterr = 0;
    optind = 0; /* from the beginning, also after an argv of other words */
    while ((opt = getopt_long(argc, argv, ":o:I:D:qvh", long_options, &index)) != -1) {
        if (opt == ':')
            return err_set(err, "%s needs a value; see keet-opt --help", argv[optind - 1]);
        if (opt == '?')
            return err_set(err, "unknown option %s; see keet-opt --help", argv[optind - 1]);
        if (!parse_one(options, opt, optarg, err) || !note_given(options, index, optarg, err))
            return false;
        index = -1;
    }
    if (options->verb == VERB_HELP || options->verb == VERB_VERSION)
        return true;
    return parse_verb(options, argc, argv, err) && check_together(options, err) &&
           check_campaign(options, err) &&
           (options->verb != VERB_EXPLAIN || options->nr_paths < 2 || explain_paths(options, err));
}
