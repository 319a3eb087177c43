/* libkeet: checks, times and explains CUDA kernels for other programs, without a GPU or a CUDA
 * driver.
 *
 *     struct keet_error error;
 *     struct keet *keet = keet_open(NULL, &error);
 *     struct keet_task *task = keet_task_open(keet, original, strlen(original), "matmul.cu",
 * &error); struct keet_result *r = keet_run(task, candidate, strlen(candidate), &error); double
 * speedup;
 *
 *     if (!r)
 *         fprintf(stderr, "%s\n", error.text);
 *     else if (strcmp(keet_string(r, "verdict"), "ok") == 0 && keet_number(r, "speedup", &speedup))
 *         printf("%.2fx\n", speedup);
 *     else
 *         puts(keet_string(r, "reason"));
 *     keet_result_free(r);
 *     keet_task_close(task);
 *     keet_close(keet);
 *
 * A kernel is text: a .cu file with `#pragma keet` lines (docs/reference/task-language.md).
 * Compiling and running happen in helper processes (the program keet-opt), which candidates cannot
 * leave, and which may die without harm: this process is never forked, gets no signal and no new
 * environment, and maps neither the compiler nor the emulator.
 *
 * TWO KINDS OF GOING WRONG. A broken candidate is a result with a verdict. NULL or false is an
 * error with a text: the environment or the original is broken, or the call was interrupted.
 *
 * THREADS. All functions may be called from all threads. Calls with one `struct keet` run side by
 * side, as many as it has processes; further calls wait. Calls with one search take turns. Results
 * are constant. What is closed must not be in use: searches are closed before their task, tasks
 * before their `struct keet`, and each when no call with it is under way.
 *
 * PROCESSES. Any number of processes may use the library at once. After a fork the child may only
 * close what its parent opened, and opens its own.
 *
 * OWNERSHIP. Texts that go in are copied. What comes out belongs to the result.
 *
 * STABILITY. Functions and fields are never removed or changed, new ones are added; `size` tells
 * the library which fields a caller knows. The soname changes otherwise. Members of results are
 * added. */
#ifndef KEET_H
#define KEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEET_PUBLIC __attribute__((visibility("default")))

struct keet;        /* helper processes */
struct keet_task;   /* an original, which candidates are compared with */
struct keet_search; /* a search for faster variants of an original */
struct keet_result; /* what came out of a call */

enum keet_error_kind {
    KEET_ENVIRONMENT, /* no program, no compiler, no memory, a wrong argument, ... */
    KEET_ORIGINAL,    /* the caller's own kernel is broken: nothing can be compared with it */
    KEET_INTERRUPTED  /* keet_interrupt was called */
};

/* Set where a function returns NULL or false. NULL may be given for it. */
struct keet_error {
    enum keet_error_kind kind;
    char text[2048]; /* a sentence with the cause, its place and the cure */
};

/* Zeros are the defaults; `size` is sizeof(struct keet_options). */
struct keet_options {
    size_t size;
    /* Where keet-opt is. NULL: $KEET_OPT; the program that is installed with the library; PATH. */
    const char *program;
    /* The folder of a CUDA toolkit or of NVIDIA's wheels (site-packages/nvidia/cu13), where NVRTC
     * and headers are. NULL: where keet-opt looks. */
    const char *cuda;
    const char *device;    /* "emu", "emu:h200", "gpu", "gpu:1"; NULL: "emu" */
    const char *cache_dir; /* compiled code; NULL: keet-opt's own place; "": none */
    unsigned processes;    /* calls at once; 0: one a core */
    unsigned threads;      /* of the emulator in each process; 0: 1 */
    double limit_s;        /* of one call, of processor time; ten times that by the clock; 0: 300 */
    uint64_t memory_bytes; /* data memory of each process; 0: no limit */
    uint64_t seed;         /* of sizes and inputs that checks draw; 0: 1 */
};

/* "0.1.0" */
KEET_PUBLIC const char *keet_version(void);

/* Starts one process, so that what is missing is known at once; the others are started when they
 * are needed. options NULL: the defaults. NULL: error. */
KEET_PUBLIC struct keet *keet_open(const struct keet_options *options, struct keet_error *error);
KEET_PUBLIC void keet_close(struct keet *keet); /* NULL is fine */

/* Ends the calls with this `struct keet`, and with its searches, that are under way now: they
 * return an error within a tenth of a second. For any thread, and for signal handlers. */
KEET_PUBLIC void keet_interrupt(struct keet *keet);

/* Compiles the original and runs it on the inputs of its check, which takes from a tenth of a
 * second to some seconds; calls with the task then cost what the candidate costs. name: for
 * messages, and file("x.npy") is looked for beside it; NULL: "kernel.cu". NULL: error. */
KEET_PUBLIC struct keet_task *keet_task_open(
    struct keet *keet, const char *text, size_t bytes, const char *name, struct keet_error *error);
KEET_PUBLIC void keet_task_close(struct keet_task *task); /* NULL is fine */

/* ---- one candidate ----
 * candidate NULL: the original itself. A candidate is a kernel file with the contract of the
 * original or without contract lines; its bytes may be anything. NULL: error. */

/* Does it compute what the original computes? Members: "verdict" ("ok", "wrong", "fault", "race",
 * "no_compile", ...), "reason", "line", "compared", "runs", "sizes", "error_of_allowed", "max_abs",
 * "max_rel", "worst_array", "worst_index". */
KEET_PUBLIC struct keet_result *keet_check(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error);

/* The check, and of a right candidate the time and the counters: "time_ns", "time_from" ("modelled"
 * on the emulator), "speedup" over the original, "metrics" by Nsight Compute's names, "lines",
 * "findings", and the other members of a variant in docs/reference/json.md. */
KEET_PUBLIC struct keet_result *keet_run(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error);

/* The same, with "limits", and with "text": what limits the kernel, and what to try. */
KEET_PUBLIC struct keet_result *keet_explain(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error);

/* A language model's reply: the kernel file is taken out of a fenced block, out of edits of the
 * original, or out of bare text, and is checked and timed. "reward": 0 where the kernel is not
 * right, else 0.3 + speedup (serve/answers.c has the source); "feedback": a text for the next
 * prompt; "source", "verdict", "reason", "line", "time_ns", "original_ns", "speedup", "check". */
KEET_PUBLIC struct keet_result *keet_reward(
    struct keet_task *task, const char *reply, size_t bytes, struct keet_error *error);

/* ---- a search, asked and told ----
 *     struct keet_search *search = keet_search_open(task, NULL, &error);
 *     while ((r = keet_search_ask(search, &error)) && keet_number(r, "node", &node) && node > 0)
 *         ... told = keet_search_tell(search, (long)node, NULL, &error) ... free both ...
 *
 * The search proposes variants by rewriting and tuning. They are evaluated here (speedup NULL), or
 * by the caller, on a GPU of its own for example. Several variants may be asked for before one is
 * told. */

struct keet_search_options {
    size_t size;
    const char *policy; /* "mcts", "random", "greedy", "beam", "evolution"; NULL: "mcts" */
    bool no_fast_math;  /* forbid intrinsics of lower accuracy */
};

KEET_PUBLIC struct keet_search *keet_search_open(
    struct keet_task *task, const struct keet_search_options *options, struct keet_error *error);
KEET_PUBLIC void keet_search_close(struct keet_search *search); /* NULL is fine */

/* The next variant: "node", "parent", "move", "what"; keet_source has its text. node 0: nothing is
 * left to try, or nothing until more is told. */
KEET_PUBLIC struct keet_result *keet_search_ask(
    struct keet_search *search, struct keet_error *error);

/* A variant of the caller's, below node `parent` (0: the original): "node", to be told as the
 * others are. */
KEET_PUBLIC struct keet_result *keet_search_add(struct keet_search *search, long parent,
    const char *candidate, size_t bytes, struct keet_error *error);

/* What became of a node. speedup: over the original, as the caller measured it; 0: it failed. NULL:
 * it is checked and timed here. The result is a variant, as keet_run's. */
KEET_PUBLIC struct keet_result *keet_search_tell(
    struct keet_search *search, long node, const double *speedup, struct keet_error *error);

/* The fastest node so far, as told: a variant, "converged" (the last 64 successes brought less than
 * 1%), and keet_source. */
KEET_PUBLIC struct keet_result *keet_search_best(
    struct keet_search *search, struct keet_error *error);

/* ---- what a result says ---- */

KEET_PUBLIC void keet_result_free(struct keet_result *result); /* NULL is fine */

/* The whole result, a JSON object. */
KEET_PUBLIC const char *keet_json(const struct keet_result *result);

/* The source of a variant of a search, with a NUL behind it; NULL: the result has none. */
KEET_PUBLIC const char *keet_source(const struct keet_result *result, size_t *bytes);

/* One member. A path has a / between names and numbers of elements: "check/max_abs",
 * "findings/0/text", "metrics/gpu__time_duration.sum/value". NULL, false, 0: there is none, or it
 * is of another type or null. */
KEET_PUBLIC const char *keet_string(const struct keet_result *result, const char *path);
KEET_PUBLIC bool keet_number(const struct keet_result *result, const char *path, double *value);
KEET_PUBLIC size_t keet_count(const struct keet_result *result, const char *path); /* elements */

#ifdef __cplusplus
}
#endif

#endif
