/* Owns the table of verbs: each verb's name, its help, and the function that carries the verb out.
 */
#include "cli/commands.h"

#include <string.h>

const char *const command_groups[NR_GROUPS] = {
    [GROUP_KERNEL] = "A kernel",
    [GROUP_HOST_CODE] = "A file with host code",
    [GROUP_RUN] = "A run or a campaign, while it works or afterwards",
    [GROUP_CAMPAIGN] = "Many kernels",
    [GROUP_PROGRAM] = "The program",
};

enum { ANY_NUMBER = 1 << 20 };

/* Usage lines are separated by newlines, paragraphs by empty lines. */
const struct command command_table[NR_VERBS] = {
    [VERB_OPTIMIZE] = {"optimize", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "KERNEL.cu [options]",
        .summary = "search for faster variants that compute the same",
        .text =
            "Proposes variants, compiles, checks, profiles and explains each, and decides by a "
            "tree "
            "search which one is extended next. Ends when the budget is spent or nothing is gained "
            "any more; Ctrl-C ends it neatly, and --resume goes on.\n"
            "\n"
            "The best kernel of all runs of the same file goes to <kernel>.keet.cu, everything "
            "else "
            "to the database <kernel>.keet.db. A file with host code gets its winner back as "
            "<kernel>.patched.cu and <kernel>.patch as well.",
        .example = "keet-opt kernels/matmul.cu",
        .further = "keet-opt kernels/matmul.cu --budget 10m --seed 3\n"
                   "keet-opt kernels/matmul.cu --resume --budget 200\n"
                   "keet-opt matvec.cu --args \"1024 100\" -I include",
        .run = cmd_optimize},
    [VERB_TUNE] = {"tune", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "tune KERNEL.cu [options]",
        .summary = "search for better values of its `tune` lines",
        .text =
            "The code stays as it is; a surrogate of the space of the `tune` lines chooses which "
            "values are tried next, from all that were measured. Each variant is compiled, checked "
            "and profiled as in a search. `--budget all` tries every combination that the `where` "
            "lines allow.\n"
            "\n"
            "The best values go to <kernel>.keet.cu, everything else to <kernel>.keet.db; "
            "`keet-opt "
            "export --as t4` or `--as kernel-tuner` gives all results to other programs.",
        .example = "keet-opt tune kernels/matmul.cu --budget 20",
        .further = "keet-opt tune kernels/matmul.cu --budget all\n"
                   "keet-opt export matmul.keet.db --as t4",
        .run = cmd_optimize},
    [VERB_RUN] = {"run", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "run KERNEL.cu [options]", .summary = "run it once: counters by line, and advice",
        .text = "Ends with status 3 when the kernel is broken: it does not compile, faults, or "
                "computes something else than its contract expects.",
        .example = "keet-opt run kernels/matmul.cu",
        .further = "keet-opt run kernels/matmul.cu --sanitize all\n"
                   "keet-opt run kernels/matmul.cu --moves\n"
                   "keet-opt run kernels/matmul.cu --dump arrays",
        .run = cmd_run},
    [VERB_CHECK] = {"check", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = ANY_NUMBER,
        .usage = "check ORIGINAL.cu CANDIDATE.cu... [options]",
        .summary = "do these compute what the original computes?",
        .text =
            "Checks kernels from anywhere as the search checks its variants, over all cores, and "
            "compares each at the timed sizes. A candidate is a kernel file with the "
            "original's contract, or without contract lines, or a program with the same "
            "arrays. Each gets a verdict, the reason "
            "with its place, and what was compared. Ends with status 0 only when all are "
            "right, else with 3.",
        .example = "keet-opt check kernels/matmul.cu matmul.keet.cu",
        .further = "keet-opt check original.cu --list candidates.txt --json", .run = cmd_check},
    [VERB_COMPARE] = {"compare", GROUP_KERNEL, .takes = TAKES_FILES, .least = 2, .most = 2,
        .usage = "compare OLD.cu NEW.cu [--fail-if LIMIT]... [options]",
        .summary = "a gate for CI: is it still right, and no slower?",
        .text =
            "NEW is checked against OLD's contract and results, at the timed sizes too, and both "
            "are profiled. Ends with status 0 when NEW is right and keeps all limits, with 3 when "
            "not, with 1 when nothing can be said, as where OLD itself is broken. On the emulator "
            "counters and times are the same on every machine, so that a limit needs no margin "
            "for noise; on a GPU NEW counts as slower where the whole interval of the ratio says "
            "so.",
        .example = "keet-opt compare old.cu new.cu --fail-if slower=5%",
        .further =
            "keet-opt compare old.cu new.cu --fail-if 'metric:l1tex__data_bank_conflicts*=0' "
            "--fail-if metric:dram__bytes.sum=+5% --json",
        .run = cmd_compare},
    [VERB_EXPLAIN] = {"explain", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = ANY_NUMBER,
        .usage = "explain KERNEL.cu [options]\n"
                 "explain OLD.cu NEW.cu\n"
                 "explain PROFILE...",
        .summary = "what limits it, and what to try",
        .text =
            "One kernel file is profiled and explained. Two are checked, profiled and compared: "
            "what "
            "changed and what paid. Profiles are Nsight Compute's .csv and .ncu-rep files: one is "
            "explained, two are compared, three or more of one kernel whose names differ in a "
            "number "
            "are a sweep over it, others are an application, by kernel and by bottleneck.",
        .example = "keet-opt explain kernels/matmul.cu",
        .further = "keet-opt explain old.cu new.cu --md\n"
                   "keet-opt explain kernels/matmul.cu --sweep N=256,512,1024",
        .run = cmd_explain},
    [VERB_WRITE] = {"write", GROUP_KERNEL, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "write TASK.cu --model SPEC [options]",
        .summary = "a model writes the first kernel of a contract",
        .text =
            "TASK.cu has the lines of a contract and no code. The model is told what was wrong "
            "with its answer and asked again, three times at most. What is right in all that the "
            "contract checks goes to <task>.first.cu.",
        .example = "keet-opt write task.cu --model anthropic:NAME", .run = cmd_write},
    [VERB_INIT] = {"init", GROUP_HOST_CODE, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "init SOME.cu [-o FILE] [options]",
        .summary = "a kernel file from a CUDA file with host code",
        .text = "Reads sizes, arrays and launches from the host code, and writes them down as "
                "#pragma keet lines, each with where it comes from. Lines marked ~ were chosen and "
                "tried, lines marked ? are left to complete. A FILE that is there already is "
                "overwritten only with --force, or after a question on a terminal.",
        .example = "keet-opt init some.cu",
        .further = "keet-opt init some.cu --args \"1024 10\" -o task.cu\n"
                   "keet-opt init some.cu -I include -D TILE=32 -o task.cu",
        .run = cmd_init},
    [VERB_PATCH] = {"patch", GROUP_HOST_CODE, .takes = TAKES_FILES, .least = 2, .most = 2,
        .usage = "patch SOME.cu BEST.cu [options]",
        .summary = "the best kernel back in the file with host code",
        .text =
            "Writes SOME.patched.cu, host code kept, and the diff SOME.patch, for a kernel file "
            "that was written by init and completed by hand. A search does this by itself.",
        .example = "keet-opt patch some.cu task.keet.cu", .run = cmd_patch},
    [VERB_CAPTURE] = {"capture", GROUP_HOST_CODE, .takes = TAKES_FILES, .least = 1,
        .most = ANY_NUMBER, .usage = "capture [SOURCE.cu] [options] -- PROGRAM ARGS...",
        .summary = "the launches of a program, with its own data, as tasks",
        .text =
            "Runs a program that nvcc built, unmodified, on the software driver: no GPU is needed. "
            "Records the first launches of each kernel with their arguments and the memory before "
            "and after, and ranks the kernels by time and by what could be saved. With the file "
            "that the kernels are in, each recorded launch becomes a kernel file in the folder. "
            "The program must be linked with the shared CUDA runtime; where it is not, the error "
            "has the one line that does it.",
        .example = "keet-opt capture saxpy.cu -- ./saxpy 1000000",
        .further = "keet-opt capture --dry -- ./simulation input.txt\n"
                   "keet-opt capture solver.cu --kernel jacobi --launch 3 -- ./solver",
        .run = cmd_capture},
    [VERB_OPTIMIZE_PROGRAM] = {"optimize-program", GROUP_HOST_CODE, .takes = TAKES_FILES,
        .least = 1, .most = ANY_NUMBER, .usage = "optimize-program [options] -- PROGRAM ARGS...",
        .summary = "a whole program, faster, with the same output",
        .text =
            "Copies the current folder, builds the program there, runs it on the software driver "
            "and ranks its kernels; searches over those that are worth it; puts the winners into "
            "a second copy of the sources, builds that, runs it again and compares what it says "
            "and writes. Only what says the same and is faster is kept: <program>.optimized/ has "
            "the patched sources, the diff and everything else. Your own files stay as they are "
            "without --in-place.\n"
            "\n"
            "Ends with status 3 when there were winners, and the program refused all of them.",
        .example = "keet-opt optimize-program --build make -- ./solver 1024",
        .further = "keet-opt optimize-program --budget 100 --kernel jacobi -- ./solver 1024\n"
                   "keet-opt optimize-program --winners mine --in-place -- ./solver 1024",
        .run = cmd_optimize_program},
    [VERB_STATUS] = {"status", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "status RUN.db|FOLDER [--json]", .summary = "how far it is",
        .example = "keet-opt status kernels.campaign", .run = cmd_status},
    [VERB_WATCH] = {"watch", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "watch RUN.db|FOLDER [--once] [--json]\n"
                 "watch RUN.db|FOLDER --web [--port N]",
        .summary = "look at it once a second until it ends",
        .text = "With --web the report is served as a page for a browser on this machine, which "
                "keeps itself up to date. Its address goes to stdout; Ctrl-C ends it.",
        .example = "keet-opt watch kernels.campaign",
        .further = "keet-opt watch matmul.keet.db --web", .run = cmd_watch},
    [VERB_STOP] = {"stop", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "stop RUN.db|FOLDER [--json]", .summary = "ask it to end neatly",
        .text = "What is under way is finished and stored; --resume goes on from there.",
        .example = "keet-opt stop kernels.campaign", .run = cmd_stop},
    [VERB_RESULTS] = {"results", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "results RUN.db|FOLDER [--top N] [--json]", .summary = "the best of it",
        .example = "keet-opt results matmul.keet.db --top 5", .run = cmd_results},
    [VERB_SHOW] = {"show", GROUP_RUN, .takes = TAKES_FILES, .least = 2, .most = 2,
        .usage = "show RUN.db NODE [--json]",
        .summary = "one variant: what is known of it, its source",
        .text = "NODE is a number, best or original.",
        .example = "keet-opt show matmul.keet.db best", .run = cmd_show},
    [VERB_DIFF] = {"diff", GROUP_RUN, .takes = TAKES_FILES, .least = 3, .most = 3,
        .usage = "diff RUN.db A B [--json]", .summary = "what two variants differ in",
        .text = "A and B are numbers of nodes, best or original.",
        .example = "keet-opt diff matmul.keet.db original best", .run = cmd_diff},
    [VERB_RUNS] = {"runs", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "runs RUN.db [--json]", .summary = "the runs that a database holds",
        .text =
            "--run N of the other verbs looks at one of them; without it they look at the newest.",
        .example = "keet-opt runs matmul.keet.db", .run = cmd_runs},
    [VERB_CALLS] = {"calls", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "calls RUN.db [--json]", .summary = "what models were asked, and what it cost",
        .example = "keet-opt calls matmul.keet.db", .run = cmd_calls},
    [VERB_REPORT] = {"report", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "report RUN.db|FOLDER [-o FILE] [--as FORMAT]",
        .summary = "a page for the browser",
        .text =
            "One file that needs no network: <kernel>.report.html, or FOLDER/report.html. Other "
            "formats go to stdout.",
        .example = "keet-opt report matmul.keet.db",
        .further = "keet-opt report kernels.campaign --as md", .run = cmd_report},
    [VERB_EXPORT] = {"export", GROUP_RUN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "export RUN.db --as FORMAT [-o FILE]",
        .summary = "the best kernel for other programs",
        .text = "kernelbench, pytorch, header and flashinfer-bench are the best kernel; t4 and "
                "kernel-tuner are the variants that differ from it in tuning parameters only.",
        .example = "keet-opt export matmul.keet.db --as header", .run = cmd_export},
    [VERB_CAMPAIGN] = {"campaign", GROUP_CAMPAIGN, .takes = TAKES_FILES, .least = 1, .most = 1,
        .usage = "campaign LIST.txt|DIR|FOLDER [options]",
        .summary = "search over many kernels, to the end of a budget",
        .text =
            "A list has a kernel file per line, and options of a search behind it; a folder of "
            "kernels stands for all its .cu files. Each kernel is a process of its own with a "
            "database of its own in <list>.campaign. Options of a search on the command line hold "
            "for all lines. A line may have --name NAME, --seeds 1-3 (a task for each) and "
            "--level N as well.",
        .example = "keet-opt campaign kernels --budget 50",
        .further = "keet-opt campaign night.txt --time 8h --jobs 4\n"
                   "keet-opt campaign night.campaign --resume",
        .run = cmd_campaign},
    [VERB_MCP] = {"mcp", GROUP_PROGRAM, .takes = TAKES_FILES, .least = 0, .most = 1,
        .usage = "mcp [FOLDER] [options]",
        .summary = "serve coding agents by the Model Context Protocol",
        .text =
            "A server on standard input and output, started by an agent. Its tools are check, "
            "compare, run, explain, sanitize, sweep, tune, optimize, init, results and show, over "
            "kernels "
            "in FOLDER (default: the current one) and kernels as text. Nothing outside of FOLDER "
            "is read or written, but what belongs to the program and to CUDA. The options given "
            "here hold for all calls.",
        .example = "keet-opt mcp", .further = "keet-opt mcp kernels --device emu --jobs 4",
        .run = cmd_mcp},
    [VERB_DOCTOR] = {"doctor", GROUP_PROGRAM, .takes = TAKES_NOTHING, .least = 0, .most = 0,
        .usage = "doctor [--json]", .summary = "what is there, what is not, why, and what to do",
        .example = "keet-opt doctor", .run = cmd_doctor},
    [VERB_COMPLETION] = {"completion", GROUP_PROGRAM, .takes = TAKES_SHELL, .least = 1, .most = 1,
        .usage = "completion bash|zsh|fish",
        .summary = "completion of this command line, for a shell",
        .text = "Prints a script. An installed program has its script in place already.",
        .example = "keet-opt completion bash",
        .further = "source <(keet-opt completion bash)\n"
                   "keet-opt completion fish >~/.config/fish/completions/keet-opt.fish",
        .run = cmd_completion},
    [VERB_HELP] = {"help", GROUP_PROGRAM, .takes = TAKES_VERB, .least = 0, .most = 1,
        .usage = "help [VERB]", .summary = "what a verb does and which options it takes",
        .example = "keet-opt help run", .run = cmd_help},
    [VERB_MAN] = {"man", GROUP_PROGRAM, .hidden = true, .takes = TAKES_NOTHING, .least = 0,
        .most = 0, .usage = "man", .summary = "print the man page's source, for man -l -",
        .example = "keet-opt man", .run = cmd_man},
    [VERB_SERVE] = {"serve", GROUP_PROGRAM, .hidden = true, .takes = TAKES_NOTHING, .least = 0,
        .most = 0, .usage = "serve", .summary = "answer libkeet on the socket at standard input",
        .example = "keet-opt serve", .run = cmd_serve},
    [VERB_VERSION] = {"version", GROUP_PROGRAM, .hidden = true, .takes = TAKES_NOTHING, .least = 0,
        .most = 0, .usage = "version", .summary = "print the version",
        .example = "keet-opt version", .run = cmd_version},
};

const struct command *command_named(const char *name)
{
    for (unsigned v = 0; v < NR_VERBS; v++)
        if (strcmp(command_table[v].name, name) == 0)
            return &command_table[v];
    return NULL;
}
