/* Owns the grading of many candidates: compiling them side by side, and the processes that check
 * them. */
#include "run/grade.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "check/check.h"
#include "run/loop.h"
#include "run/widen.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64, MOMENT_NS = 5000000 };

static const uint64_t timed_insts = UINT64_C(1) << 28;

struct grading {
    struct workbench *bench;
    const struct task *task;
    struct checker *checker;
    struct candidate *candidates;
    struct grade *grades;
    unsigned nr;
    atomic_uint next; /* of those to compile */
    atomic_bool broken;
    struct err err;
    pthread_mutex_t mutex; /* of err */
};

/* ---- reading and compiling ---- */

static bool read_candidate(struct grading *g, unsigned i, uint64_t seed, struct err *err)
{
    struct candidate *c = &g->candidates[i];
    const char *given = g->grades[i].source;
    struct task *named;
    char *text = NULL;
    size_t bytes = given ? strlen(given) : 0;
    struct err why;

    candidate_init(c, arena_create(), NULL);
    named = arena_alloc(c->arena, sizeof(*named));
    *named = *g->task;
    named->path = g->grades[i].path; /* reasons name the candidate's own file */
    c->task = named;
    c->node = 1 + i;
    c->seed = seed; /* the same inputs for all, so that the original runs on them once */
    if (!given && !file_read(g->grades[i].path, TASK_MAX_BYTES, &text, &bytes, err))
        return false;
    c->source = arena_strndup(c->arena, given ? given : text, bytes);
    c->source_bytes = bytes;
    free(text);
    if (!plan_parse(&c->plan, named, c->arena, c->source, bytes, &c->verdict, &why))
        candidate_fail(c, c->verdict, 0, "%s", why.text);
    return true;
}

static void *compile_some(void *argument)
{
    struct grading *g = argument;

    for (;;) {
        const unsigned i = atomic_fetch_add(&g->next, 1);
        struct err err;

        if (i >= g->nr || atomic_load(&g->broken))
            return NULL;
        if (compile_kernel(workbench_compiler(g->bench), &g->candidates[i], &err))
            continue;
        pthread_mutex_lock(&g->mutex);
        g->err = err;
        pthread_mutex_unlock(&g->mutex);
        atomic_store(&g->broken, true);
    }
}

/* A thread waits for a compiler's process most of the time. */
static bool compile_all(struct grading *g, unsigned nr_threads, struct err *err)
{
    pthread_t threads[MOST_PROCESSES];
    unsigned nr = 0;

    while (nr + 1 < nr_threads && nr + 1 < g->nr &&
           pthread_create(&threads[nr], NULL, compile_some, g) == 0)
        nr++;
    compile_some(g);
    while (nr > 0)
        pthread_join(threads[--nr], NULL);
    return !atomic_load(&g->broken) || err_set(err, "%s", g->err.text);
}

/* ---- checking ---- */

static bool check_one(struct grading *g, unsigned i, struct err *err)
{
    struct candidate *c = &g->candidates[i];
    struct grade *grade = &g->grades[i];
    const int64_t began = (int64_t)clock_cpu_ns();
    uint64_t insts;

    int64_t checked;

    if (!check_kernel(g->checker, c, err))
        return err_wrap(err, "%s", grade->path);
    checked = (int64_t)clock_cpu_ns();
    if (!check_timed(g->checker, c, &insts, err))
        return err_wrap(err, "%s", grade->path);
    grade->timed_seconds = (double)((int64_t)clock_cpu_ns() - checked) * 1e-9;
    grade->verdict = c->verdict;
    grade->text = c->verdict_text;
    grade->line = c->verdict_line;
    grade->compared = c->check.note;
    grade->nr_runs = c->check.nr_runs;
    grade->nr_shapes = c->check.nr_shapes;
    grade->share = c->check.share;
    grade->max_abs = c->check.max_abs;
    grade->max_rel = c->check.max_rel;
    grade->worst_array = c->check.worst_array;
    grade->worst_index = c->check.worst_index;
    grade->seconds = (double)((int64_t)clock_cpu_ns() - began) * 1e-9;
    return true;
}

/* A grade on its way to the parent: the struct, and the texts that it points to. */
static bool send_text(FILE *file, const char *text)
{
    const uint32_t bytes = text ? (uint32_t)strlen(text) + 1 : 0;

    return fwrite(&bytes, sizeof(bytes), 1, file) == 1 &&
           (bytes == 0 || fwrite(text, bytes, 1, file) == 1);
}

static bool take_text(FILE *file, struct arena *arena, const char **text)
{
    uint32_t bytes;
    char *room;

    *text = NULL;
    if (fread(&bytes, sizeof(bytes), 1, file) != 1)
        return false;
    if (bytes == 0)
        return true;
    room = arena_alloc(arena, bytes);
    *text = room;
    return fread(room, bytes, 1, file) == 1 && room[bytes - 1] == '\0';
}

static bool send_grade(FILE *file, unsigned i, const struct grade *grade)
{
    return fwrite(&i, sizeof(i), 1, file) == 1 && fwrite(grade, sizeof(*grade), 1, file) == 1 &&
           send_text(file, grade->text) && send_text(file, grade->compared) &&
           send_text(file, grade->worst_array) && fflush(file) == 0;
}

static void take_grades(FILE *file, struct grading *g, struct arena *arena)
{
    struct grade grade;
    unsigned i;

    rewind(file);
    while (fread(&i, sizeof(i), 1, file) == 1 && fread(&grade, sizeof(grade), 1, file) == 1 &&
           take_text(file, arena, &grade.text) && take_text(file, arena, &grade.compared) &&
           take_text(file, arena, &grade.worst_array) && i < g->nr) {
        grade.path = g->grades[i].path;
        grade.source = g->grades[i].source;
        g->grades[i] = grade;
    }
}

/* In a child: takes one candidate after another until none is left. */
static int check_some(struct grading *g, atomic_uint *next, FILE *file)
{
    for (;;) {
        const unsigned i = atomic_fetch_add(next, 1);
        struct err err;

        if (i >= g->nr)
            return 0;
        if (!check_one(g, i, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        if (!send_grade(file, i, &g->grades[i]))
            return 1;
    }
}

/* Waits for a process. An interrupt of this process is one of all of them. */
static int wait_for(pid_t *pids, unsigned i, unsigned nr, bool *told)
{
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    int status = 0;

    while (pids[i] > 0 && waitpid(pids[i], &status, WNOHANG) == 0) {
        const bool tell = loop_interrupted() && !*told;

        for (unsigned k = i; tell && k < nr; k++)
            if (pids[k] > 0)
                kill(pids[k], SIGINT);
        *told |= tell;
        nanosleep(&moment, NULL);
    }
    return status;
}

static bool check_in_processes(
    struct grading *g, unsigned nr_processes, struct arena *arena, struct err *err)
{
    atomic_uint *next =
        mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *files[MOST_PROCESSES];
    pid_t pids[MOST_PROCESSES];
    unsigned nr = 0;
    bool ok = true, told = false;

    if (next == MAP_FAILED)
        return err_errno(err, "memory for the processes");
    atomic_init(next, 0);
    fflush(NULL);
    for (; nr < nr_processes && ok; nr++) {
        files[nr] = fdopen(memfd_create("grades", MFD_CLOEXEC), "w+");
        pids[nr] = files[nr] ? fork() : -1;
        if (pids[nr] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(check_some(g, next, files[nr]));
        }
        ok = pids[nr] > 0 || err_errno(err, "a process for the check");
    }
    for (unsigned i = 0; i < nr; i++) {
        const int status = wait_for(pids, i, nr, &told);

        if (files[i]) {
            take_grades(files[i], g, arena);
            fclose(files[i]);
        }
        if (ok && pids[i] > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0)
            ok = err_set(err, "a process of the check failed; it has said why");
    }
    munmap(next, sizeof(*next));
    return ok;
}

static bool check_all(
    struct grading *g, unsigned nr_processes, struct arena *arena, struct err *err)
{
    for (unsigned i = 0; i < g->nr; i++)
        g->grades[i].verdict = NR_VERDICTS;
    if (nr_processes > 1 && !check_in_processes(g, nr_processes, arena, err))
        return false;
    for (unsigned i = 0; i < g->nr; i++) {
        struct grade *grade = &g->grades[i];

        if (grade->verdict != NR_VERDICTS)
            continue;
        if (nr_processes > 1) {
            grade->verdict = VERDICT_UNSUPPORTED;
            grade->text = "the process that checked it came to an end; nothing is known";
        } else if (!check_one(g, i, err)) {
            return false;
        }
    }
    return true;
}

/* The original passes its own check: this also runs it on all inputs that the candidates get. */
static bool check_original(
    struct grading *g, uint64_t seed, struct candidate *original, struct err *err)
{
    struct compilation *oracle = arena_alloc(original->arena, sizeof(*oracle));
    struct widen *widen = arena_alloc(original->arena, sizeof(*widen));
    const struct workbench_options *bench = workbench_options(g->bench);

    *widen = (struct widen){workbench_compiler(g->bench), g->task};
    const struct checker_options options = {.screen = !bench->no_screen,
        .nr_threads = bench->device.nr_threads,
        .timed_insts = timed_insts,
        .widen = widen_original,
        .owner = widen};

    candidate_begin(original, original->arena, g->task, seed);
    if (!compile_kernel(workbench_compiler(g->bench), original, err))
        return false;
    if (original->verdict != VERDICT_OK)
        return err_set(err, "the original does not compile: %s", original->verdict_text);
    if (!workbench_oracle(g->bench, g->task, &original->compilation, original->arena, oracle, err))
        return false;
    g->checker = checker_create(workbench_device(g->bench, 0), g->task, oracle, &options, err);
    if (!g->checker || !check_kernel(g->checker, original, err) || !check_prepare(g->checker, err))
        return false;
    if (original->verdict != VERDICT_OK)
        return err_set(err, "the original does not pass its own check (%s): %s",
            verdict_name(original->verdict), original->verdict_text);
    return true;
}

static unsigned processes_for(const struct grading *g, unsigned asked)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned nr = asked ? asked : cores > 0 ? (unsigned)cores : 1;

    if (strcmp(workbench_device(g->bench, 0)->ops->name, "emu") != 0)
        return 1; /* a card has one owner */
    nr = nr < g->nr ? nr : g->nr;
    return nr < MOST_PROCESSES ? nr : MOST_PROCESSES;
}

bool grade_all(struct workbench *bench, const struct task *task, uint64_t seed,
    unsigned nr_processes, struct grade *grades, unsigned nr, struct arena *arena, struct err *err)
{
    struct grading *g = xcalloc(1, sizeof(*g));
    struct candidate *original = arena_alloc(arena, sizeof(*original));
    unsigned nr_read = 0;
    bool ok = true;

    *g = (struct grading){.bench = bench, .task = task, .grades = grades, .nr = nr};
    pthread_mutex_init(&g->mutex, NULL);
    g->candidates = xcalloc(nr + 1, sizeof(*g->candidates));
    candidate_init(original, arena, task);
    for (; ok && nr_read < nr; nr_read++)
        ok = read_candidate(g, nr_read, seed, err);
    nr_processes = processes_for(g, nr_processes);
    ok = ok && compile_all(g, nr_processes, err) && check_original(g, seed, original, err) &&
         check_all(g, nr_processes, arena, err);
    for (unsigned i = 0; ok && nr_processes <= 1 && i < nr; i++) {
        struct grade *grade = &grades[i];

        grade->text = grade->text ? arena_strdup(arena, grade->text) : NULL;
        grade->compared = grade->compared ? arena_strdup(arena, grade->compared) : NULL;
    }
    checker_destroy(g->checker);
    for (unsigned i = 0; i < nr_read; i++)
        arena_destroy(g->candidates[i].arena);
    free(g->candidates);
    pthread_mutex_destroy(&g->mutex);
    free(g);
    return ok;
}
