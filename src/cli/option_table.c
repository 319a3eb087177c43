/* Owns the table of options: each option's name, the verbs that take the option, and its help. */
#include "cli/option_table.h"

#include "base/mem.h"
#include "cli/option_values.h"

#define V(verb) (UINT32_C(1) << VERB_##verb)
#define EVERY_VERB ((UINT32_C(1) << NR_VERBS) - 1)
#define SEARCH /* options of a search */                                                           \
    (V(OPTIMIZE) | V(OPTIMIZE_PROGRAM) | V(CAMPAIGN) | TASK_LINE)
#define EVALUATES (SEARCH | V(TUNE)) /* ... and of tuning */
#define ASKS_MODELS (SEARCH | V(EXPLAIN) | V(WRITE))
#define READS_HOST_CODE                                                                            \
    (EVALUATES | V(RUN) | V(CHECK) | V(COMPARE) | V(EXPLAIN) | V(INIT) | V(PATCH) | V(CAPTURE))
#define CAPTURES (V(CAPTURE) | V(OPTIMIZE_PROGRAM))
#define USES_DEVICE                                                                                \
    (EVALUATES | V(RUN) | V(CHECK) | V(COMPARE) | V(EXPLAIN) | V(INIT) | V(WRITE) | V(SERVE) |     \
        V(MCP))
#define LOOKS_AT_RUN                                                                               \
    (V(STATUS) | V(WATCH) | V(RESULTS) | V(SHOW) | V(DIFF) | V(CALLS) | V(REPORT) | V(EXPORT))
#define PRINTS_JSON                                                                                \
    (V(OPTIMIZE) | V(TUNE) | V(RUN) | V(CHECK) | V(COMPARE) | V(EXPLAIN) | V(INIT) | V(STATUS) |   \
        V(WATCH) | V(STOP) | V(RESULTS) | V(SHOW) | V(DIFF) | V(RUNS) | V(CALLS) | V(REPORT) |     \
        V(CAMPAIGN) | V(CAPTURE) | V(OPTIMIZE_PROGRAM) | V(DOCTOR))

#define FIELD(name) .field = offsetof(struct options, name)
#define SET(name) .kind = OPTION_SET, FIELD(name)
#define CLEAR(name) .kind = OPTION_CLEAR, FIELD(name)
#define TEXT(name) .kind = OPTION_TEXT, FIELD(name)
#define NUMBER(name) .kind = OPTION_NUMBER, FIELD(name)
#define COUNT(name, from, to) .kind = OPTION_COUNT, FIELD(name), .least = from, .most = to
#define DOLLARS(name) .kind = OPTION_DOLLARS, FIELD(name)
#define OWN(function) .kind = OPTION_OWN, .parse = function

const char *const option_sections[NR_SECTIONS] = {
    [SECTION_SEARCH] = "Search",
    [SECTION_EVALUATION] = "What is looked at",
    [SECTION_HOST_CODE] = "Files with host code",
    [SECTION_MODEL] = "Language models",
    [SECTION_DEVICE] = "Devices",
    [SECTION_FILES] = "Files",
    [SECTION_CAMPAIGN] = "Campaigns",
    [SECTION_OUTPUT] = "Output",
};

const struct option_row option_table[] = {
    {"budget", 0, "N|TIME", EVALUATES, SECTION_SEARCH, OWN(option_budget), .common = true,
        .help = "stop after N evaluated variants, or after a time: 90s, 10m, 2h (default 50); all: "
                "when "
                "nothing is left to try"},
    {"policy", 0, "NAME", SEARCH, SECTION_SEARCH, OWN(option_policy),
        .words = "mcts random greedy beam evolution best_of_n",
        .help = "what is extended next: mcts (default), random, greedy, beam, evolution; "
                "best_of_n: the original alone, by tries that know nothing of each other"},
    {"objective", 0, "NAME", EVALUATES | V(RUN) | V(EXPLAIN), SECTION_SEARCH, OWN(option_objective),
        .words = "time energy edp",
        .help = "time (default), energy or edp: joules measured by the GPU, and less of them "
                "preferred among variants that are equally fast"},
    {"seed", 0, "N", EVALUATES | V(RUN) | V(CHECK) | V(COMPARE) | V(EXPLAIN) | V(WRITE),
        SECTION_SEARCH, NUMBER(seed), .common = true,
        .help = "everything random follows from it (default 1)"},
    {"window", 0, "N", SEARCH, SECTION_SEARCH, COUNT(window, 1, 1000000),
        .help = "stop when N variants in a row brought less than 1% (default 64)"},
    {"feedback", 0, "WHAT", SEARCH, SECTION_SEARCH, TEXT(feedback), .rare = true,
        .words = "findings none counters generic",
        .help = "what steers the search: findings (default), none, counters, generic, or "
                "other:RUN.db, which takes another kernel's findings; to compare them"},
    {"no-fast-math", 0, NULL, SEARCH, SECTION_SEARCH, SET(forbid_fast_math),
        .help = "forbid intrinsics of lower accuracy"},
    {"tools", 0, "DIR", SEARCH | V(RUN) | V(EXPLAIN), SECTION_EVALUATION, TEXT(tools_dir),
        .words = "DIR",
        .help = "your own tools, executables that read JSON; their advice joins the program's"},
    {"sweep", 0, "NAME", V(EXPLAIN), SECTION_EVALUATION, TEXT(sweep),
        .help = "NAME=256,512,1024: one kernel over these values of a size or a tuning parameter; "
                "NAME: profiles of one kernel over a parameter, by their file names"},
    {"what-if", 0, NULL, V(EXPLAIN), SECTION_EVALUATION, SET(what_if),
        .help = "times and limits with other sizes, tuning parameters and contents of integer "
                "inputs, each run once"},
    {"sanitize", 0, "LIST", V(RUN), SECTION_EVALUATION, OWN(option_sanitize),
        .words = "all memory init race race=strict sync leak",
        .help = "all, or some of memory,init,race,sync,leak: list what is wrong, by line, as "
                "compute-sanitizer does; race=strict: threads that store one value to one place "
                "race, too"},
    {"profile", 0, NULL, V(RUN), SECTION_EVALUATION, SET(profile),
        .help = "counters and advice beside what --sanitize lists"},
    {"moves", 0, NULL, V(RUN), SECTION_EVALUATION, SET(moves),
        .help = "which moves the search is offered for the kernel, and why not the others; nothing "
                "runs"},

    {"fail-if", 0, "LIMIT", V(COMPARE), SECTION_EVALUATION, OWN(option_fail_if), .common = true,
        .words = "slower=5% metric:",
        .help = "slower=5%: NEW takes over 105% of OLD's time; metric:NAME=0: NEW's value is above "
                "0; metric:NAME=+5% (-5%): NEW's value rises (falls) by more than 5%, without the "
                "% by more than 5; NAME may hold *; may be given several times"},

    {"args", 0, "\"N M...\"", READS_HOST_CODE, SECTION_HOST_CODE, TEXT(args),
        .help = "the arguments that its main is read with"},
    {"include", 'I', "DIR", READS_HOST_CODE, SECTION_HOST_CODE, OWN(option_include), .words = "DIR",
        .help = "a folder of its headers, beside those that its Makefile names"},
    {"define", 'D', "NAME=VALUE", READS_HOST_CODE, SECTION_HOST_CODE, OWN(option_define),
        .help = "a macro, beside those that its Makefile defines"},

    {"kernel", 0, "NAME", CAPTURES, SECTION_HOST_CODE, TEXT(capture.kernel),
        .help = "only kernels with this text in their (mangled) name"},
    {"launches", 0, "K", V(CAPTURE), SECTION_HOST_CODE, COUNT(capture.launches, 1, 1000),
        .help = "record the first K launches of each kernel (default 1)"},
    {"launch", 0, "N", V(CAPTURE), SECTION_HOST_CODE, COUNT(capture.launch, 1, 1000000000),
        .help = "record the Nth launch of each kernel alone"},
    {"dry", 0, NULL, V(CAPTURE), SECTION_HOST_CODE, SET(capture.dry),
        .help = "kernels do nothing: for programs that are too large to emulate"},
    {"limit", 0, "MIB", CAPTURES, SECTION_HOST_CODE, COUNT(capture.limit_mib, 1, 1000000),
        .help = "keep contents of memory up to so many MiB in all (default 256)"},
    {"seconds", 0, "TIME", CAPTURES, SECTION_HOST_CODE, OWN(option_capture_time),
        .help = "stop the program after so much processor time: 10s, 5m"},

    {"build", 0, "COMMAND", V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, TEXT(whole.build),
        .common = true, .help = "what builds the program, in the current folder (default make)"},
    {"tree", 0, "DIR", V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, TEXT(whole.tree), .words = "DIR",
        .help = "the folder that is copied, with the current one in it (default: the current one)"},
    {"tolerance", 0, "X", V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, OWN(option_tolerance),
        .help = "of numbers in the program's output that are not whole, relative (default 1e-5)"},
    {"compare", 0, "NAME", V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, OWN(option_compared),
        .words = "FILE",
        .help = "compare this file that the program writes, and no others; may be given several "
                "times (default: all that it writes in the tree)"},
    {"winners", 0, "DIR", V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, TEXT(whole.winners),
        .words = "DIR",
        .help = "do not search: judge the kernel files DIR/<kernel>.cu or DIR/<kernel>.keet.cu"},
    {"in-place", 0, NULL, V(OPTIMIZE_PROGRAM), SECTION_HOST_CODE, SET(whole.in_place),
        .help = "put what was accepted into your files, too"},

    {"model", 0, "SPEC", ASKS_MODELS, SECTION_MODEL, OWN(option_model), .common = true,
        .words = "anthropic: openai: http:// cmd: script: replay: none",
        .help = "anthropic:NAME, openai:NAME, http://host:port/v1#NAME, cmd:'PROGRAM ARGS', "
                "script:DIR, replay:FILE, none (default); may be given several times: the run "
                "learns which one pays"},
    {"in-flight", 0, "N", SEARCH, SECTION_MODEL, COUNT(in_flight, 1, 32),
        .help = "requests at once, while the device works (default 4)"},
    {"max-tokens", 0, "N", ASKS_MODELS, SECTION_MODEL, NUMBER(max_tokens),
        .help = "stop after so many tokens, in and out"},
    {"max-cost", 0, "USD", ASKS_MODELS, SECTION_MODEL, DOLLARS(max_cost),
        .help = "stop at this sum, by the table prompts/prices.txt"},
    {"prompt-tokens", 0, "N", SEARCH, SECTION_MODEL, COUNT(prompt_tokens, 1, 10000000),
        .rare = true, .help = "the longest prompt, in tokens of four bytes (default 24000)"},
    {"fill", 0, "N", SEARCH, SECTION_MODEL, COUNT(fill, 0, 1000),
        .help = "evaluations of rewriter and tuner for each answer of a model, while models think; "
                "the budget then counts answers alone (default 8; 0: all share the budget)"},
    {"episodes", 0, "HOW", SEARCH, SECTION_MODEL, OWN(option_episodes), .words = "off on only",
        .help = "requests that are conversations with tools, of several tries: off (default), on "
                "(beside single requests), only"},
    {"no-techniques", 0, NULL, SEARCH, SECTION_MODEL, SET(no_techniques), .rare = true,
        .help = "no pages of techniques in prompts; to compare"},
    {"no-best", 0, NULL, SEARCH, SECTION_MODEL, SET(no_best), .rare = true,
        .help = "requests start from any version and do not show the best; to compare"},
    {"model-only", 0, NULL, SEARCH, SECTION_MODEL, SET(model_only), .rare = true,
        .help = "neither rewriter nor tuner"},
    {"instructions", 0, "FILE", SEARCH, SECTION_MODEL, TEXT(instructions_path), .words = "FILE",
        .help = "your own word to the models, part of every prompt"},
    {"techniques", 0, "DIR", SEARCH, SECTION_MODEL, TEXT(techniques_dir), .words = "DIR",
        .help = "your own pages of techniques, before the program's"},
    {"temperature", 0, "LIST", SEARCH, SECTION_MODEL, TEXT(temperature), .rare = true,
        .help = "0 to 2, for all requests or by kind: design=1,improve=0.5,repair=0"},
    {"effort", 0, "LIST", SEARCH, SECTION_MODEL, TEXT(effort), .rare = true,
        .help = "of reasoning, for all requests or by kind: design=high,repair=low"},
    {"call-time", 0, "SECONDS", SEARCH, SECTION_MODEL, COUNT(call_s, 1, 86400),
        .help = "the time that a call to a model may take (default 600)"},
    {"plan", 0, NULL, SEARCH, SECTION_MODEL, SET(plan), .rare = true,
        .help = "ask for a plan before the code"},
    {"no-plan", 0, NULL, SEARCH, SECTION_MODEL, SET(no_plan), .rare = true,
        .help = "ask for code right away (default)"},
    {"memory", 0, "FILE", SEARCH, SECTION_MODEL, TEXT(memory_path), .words = "FILE",
        .help = "keep lessons over runs"},
    {"no-memory", 0, NULL, SEARCH, SECTION_MODEL, SET(no_memory), .rare = true,
        .help = "use no lessons, not even those of this run"},
    {"record", 0, "FILE", V(OPTIMIZE) | V(EXPLAIN) | V(WRITE), SECTION_MODEL, TEXT(record_path),
        .words = "FILE", .help = "write all replies, for --model replay:FILE"},
    {"show-prompt", 0, NULL, V(OPTIMIZE), SECTION_MODEL, SET(show_prompt),
        .help = "print what would be sent first; send nothing, need no key"},

    {"device", 0, "NAME", USES_DEVICE | V(CAPTURE), SECTION_DEVICE, TEXT(device), .common = true,
        .words = "auto gpu emu emu:h100 emu:h200 emu:a100 emu:l40s emu:rtx4090 emu:b200",
        .help = "auto (default), gpu, gpu:N, emu, emu:CHIP (h100, h200, a100, l40s, rtx4090, "
                "b200), emu:FILE of a chip"},
    {"gpus", 0, "0,1", V(OPTIMIZE) | V(TUNE) | V(CAMPAIGN) | V(INIT) | V(WRITE), SECTION_DEVICE,
        OWN(option_gpus), .help = "several GPUs, one worker process each, evaluations in parallel"},
    {"threads", 0, "N", USES_DEVICE | V(DOCTOR), SECTION_DEVICE, COUNT(nr_threads, 0, 1024),
        .help = "host threads of the emulator (default: one per core)"},
    {"no-screen", 0, NULL, USES_DEVICE, SECTION_DEVICE, SET(no_screen),
        .help = "on a GPU: do not look for stray accesses and races on the emulator before a "
                "candidate runs on the card"},
    {"screen", 0, NULL, USES_DEVICE, SECTION_DEVICE, CLEAR(no_screen), .rare = true,
        .help = "the opposite of --no-screen, and the default"},
    {"deadline", 0, "S", USES_DEVICE, SECTION_DEVICE, OWN(option_deadline),
        .help = "a launch on a GPU, or a stage of an evaluation on the emulator, that takes "
                "longer, in seconds, hangs (default 10, 600)"},
    {"worker-memory", 0, "MB", USES_DEVICE, SECTION_DEVICE, OWN(option_worker_memory), .rare = true,
        .help = "host memory of a GPU's worker process (default: 3/4 of all)"},
    {"no-sandbox", 0, NULL, USES_DEVICE, SECTION_DEVICE, SET(no_sandbox),
        .help = "go on where the processes of compiler, parser and tools cannot be confined; on a "
                "GPU: the worker process keeps its rights; see `keet-opt doctor`"},

    {"output", 'o', "FILE",
        V(OPTIMIZE) | V(TUNE) | V(INIT) | V(PATCH) | V(WRITE) | V(REPORT) | V(EXPORT) | CAPTURES,
        SECTION_FILES, TEXT(output_path), .words = "FILE", .common = true,
        .help =
            "where the result goes; of a search the best kernel (default: <kernel>.keet.cu), of "
            "capture and optimize-program a folder"},
    {"force", 0, NULL, V(INIT), SECTION_FILES, SET(force), .help = "overwrite the file of -o"},
    {"db", 0, "FILE", V(OPTIMIZE) | V(TUNE) | V(EXPLAIN), SECTION_FILES, TEXT(db_path),
        .words = "FILE", .help = "database of the run (default of a search: <kernel>.keet.db)"},
    {"run", 0, "N", LOOKS_AT_RUN, SECTION_FILES, OWN(option_run),
        .help = "of a database that holds several runs: that one (default: the newest)"},
    {"resume", 0, NULL, V(OPTIMIZE) | V(TUNE) | V(CAMPAIGN), SECTION_FILES, SET(resume),
        .common = true,
        .help = "go on with the newest run in the database, or with the campaign in the folder"},
    {"reuse", 0, "FILE", EVALUATES, SECTION_FILES, TEXT(reuse_path), .words = "FILE",
        .help = "keep evaluations in FILE and take equal ones from there (emulator)"},
    {"cache", 0, "DIR", USES_DEVICE | V(DOCTOR), SECTION_FILES, TEXT(cache_dir), .words = "DIR",
        .help = "compiled kernels (default: ~/.cache/keet-opt; '' for none)"},
    {"cutlass", 0, "DIR", USES_DEVICE | V(DOCTOR), SECTION_FILES, TEXT(cutlass_dir), .words = "DIR",
        .help = "CUTLASS, for variants to include and models to read (default: $KEET_CUTLASS, "
                "else what setup.sh --cutlass got; none: without)"},
    {"list", 0, "FILE", V(CHECK), SECTION_FILES, TEXT(list_path), .words = "FILE",
        .help = "check the candidates that FILE names, a path a line"},
    {"dump", 0, "DIR", V(RUN), SECTION_FILES, TEXT(dump_dir), .words = "DIR",
        .help = "write inputs and outputs of the first check shape as .npy"},
    {"as", 0, "FORMAT", V(REPORT) | V(EXPORT), SECTION_FILES, TEXT(as),
        .words = "html md json kernelbench pytorch header flashinfer-bench t4 kernel-tuner",
        .help = "report: html (default), md, json; export: kernelbench, pytorch, header, "
                "flashinfer-bench, t4, kernel-tuner"},

    {"out", 0, "FOLDER", V(CAMPAIGN), SECTION_CAMPAIGN, TEXT(campaign.folder), .words = "DIR",
        .help = "databases, kernels and state (default: <list>.campaign)"},
    {"retry", 0, NULL, V(CAMPAIGN), SECTION_CAMPAIGN, SET(campaign.retry),
        .help = "with --resume: try what failed again"},
    {"trust", 0, NULL, V(CAMPAIGN), SECTION_CAMPAIGN, SET(campaign.trust),
        .help = "the list, or the campaign of another, may start programs by --model cmd: and "
                "--tools"},
    {"time", 0, "TIME", V(CAMPAIGN), SECTION_CAMPAIGN, OWN(option_campaign_time),
        .help = "wall time of the whole: 90s, 10m, 8h"},
    {"task-time", 0, "TIME", V(CAMPAIGN), SECTION_CAMPAIGN, OWN(option_task_time),
        .help = "a task's process that takes longer in a round is ended (default 6h)"},
    {"tokens", 0, "N", V(CAMPAIGN), SECTION_CAMPAIGN, OWN(option_tokens),
        .help = "tokens of all models together"},
    {"cost", 0, "USD", V(CAMPAIGN), SECTION_CAMPAIGN, DOLLARS(campaign.cost),
        .help = "cost of all models together"},
    {"jobs", 0, "N", V(CAMPAIGN) | V(OPTIMIZE_PROGRAM) | V(MCP), SECTION_CAMPAIGN,
        COUNT(campaign.jobs, 1, 1024),
        .help = "processes at once (default: one per GPU or core; mcp: calls at once, default 2)"},
    {"rounds", 0, "N", V(CAMPAIGN), SECTION_CAMPAIGN, COUNT(campaign.rounds, 1, 32),
        .help = "slices of a task's budget; what converged tasks leave moves to those that gain "
                "(default 4; 1: every task gets exactly its budget)"},
    {"executor", 0, "NAME", V(CAMPAIGN), SECTION_CAMPAIGN, TEXT(campaign.executor),
        .words = "local slurm",
        .help = "where the processes run: local (default), slurm (jobs of a cluster)"},
    {"gres", 0, "gpu:1", V(CAMPAIGN), SECTION_CAMPAIGN, OWN(option_gres),
        .help = "slurm: what a job asks for (none: tasks run on the emulator)"},
    {"slurm", 0, "OPTIONS", V(CAMPAIGN), SECTION_CAMPAIGN, TEXT(campaign.slurm),
        .help = "slurm: further options of sbatch: '-p fast -A lab -t 2:00:00'"},
    {"top", 0, "N", V(RESULTS), SECTION_CAMPAIGN, COUNT(campaign.top, 1, 1000000),
        .help = "the best N of them"},
    {"once", 0, NULL, V(WATCH), SECTION_CAMPAIGN, SET(campaign.once), .help = "look once"},

    {"web", 0, NULL, V(WATCH), SECTION_OUTPUT, SET(web),
        .help = "serve the report on loopback, as a page that keeps itself up to date"},
    {"port", 0, "N", V(WATCH), SECTION_OUTPUT, COUNT(port, 0, 65535),
        .help = "with --web: the port (default: any that is free)"},
    {"json", 0, NULL, PRINTS_JSON, SECTION_OUTPUT, SET(json), .common = true,
        .help = "one JSON document on stdout"},
    {"plot", 0, "WHEN", V(EXPLAIN) | V(RESULTS), SECTION_OUTPUT, OWN(option_plot),
        .words = "auto on off", .help = "curves in text: auto (default: on a terminal), on, off"},
    {"md", 0, NULL, V(COMPARE) | V(EXPLAIN) | V(REPORT), SECTION_OUTPUT, SET(markdown),
        .help = "Markdown"},
    {"quiet", 'q', NULL, EVERY_VERB, SECTION_OUTPUT, OWN(option_quiet), .common = true,
        .help = "only the result"},
    {"verbose", 'v', NULL, EVERY_VERB, SECTION_OUTPUT, OWN(option_verbose),
        .help = "more detail on stderr; -vv: still more"},
    {"help", 'h', NULL, EVERY_VERB, SECTION_OUTPUT, SET(help), .help = "what the verb takes"},
    {"version", 0, NULL, EVERY_VERB, SECTION_OUTPUT, SET(version), .rare = true,
        .help = "the version of the program"},
};
const unsigned option_table_nr = ARRAY_SIZE(option_table);
