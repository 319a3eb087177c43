/* Owns the handles of the library, and the choice of a helper process for each call. */
#include "lib/keet.h"

#include "lib/helper.h"
#include "lib/program.h"
#include "lib/result.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_HELPERS = 256, SLICE_MS = 50 };

static const double default_limit_s = 300;

struct keet {
    struct keet_options options; /* its texts are the handle's own */
    char *texts[4];
    const char *argv[10];
    char threads[16];
    pid_t owner;
    atomic_uint interrupts;
    const atomic_uint *heard; /* interrupts that end calls: of a search, its task's handle's */
    pthread_mutex_t mutex;    /* of the helpers' fields but socket and errors of busy ones */
    pthread_cond_t freed;
    uint64_t moment;
    unsigned nr;
    struct helper helpers[MOST_HELPERS];
};

struct keet_task {
    struct keet *keet;
    char *text, *name;
    size_t bytes;
    uint64_t hash;
};

struct keet_search {
    struct keet *keet;         /* its own, of one process, which has the search */
    struct keet_task original; /* the task, at that process */
    pthread_mutex_t turn;
};

const char *keet_version(void)
{
    return KEET_VERSION;
}

static bool no_memory(struct keet_error *error)
{
    return helper_error(error, KEET_ENVIRONMENT, "out of memory");
}

/* ---- opening and closing ---- */

/* The fields that the caller's version knows. */
static struct keet_options known(const struct keet_options *given)
{
    struct keet_options options = {0};

    if (given)
        memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
    return options;
}

static bool copy(struct keet *keet, unsigned which, const char **text)
{
    if (!*text)
        return true;
    keet->texts[which] = strdup(*text);
    *text = keet->texts[which];
    return *text != NULL;
}

static bool copy_texts(struct keet *keet, struct keet_error *error)
{
    struct keet_options *o = &keet->options;
    char *program = o->program ? strdup(o->program) : program_find();

    keet->texts[0] = program;
    o->program = program;
    return (program && copy(keet, 1, &o->cuda) && copy(keet, 2, &o->device) &&
               copy(keet, 3, &o->cache_dir)) ||
           no_memory(error);
}

static void make_argv(struct keet *keet)
{
    struct keet_options *o = &keet->options;
    unsigned nr = 0;

    snprintf(keet->threads, sizeof(keet->threads), "%u", o->threads ? o->threads : 1);
    keet->argv[nr++] = keet->texts[0];
    keet->argv[nr++] = "serve";
    keet->argv[nr++] = "--device";
    keet->argv[nr++] = keet->texts[2] ? keet->texts[2] : "emu";
    keet->argv[nr++] = "--threads";
    keet->argv[nr++] = keet->threads;
    if (o->cache_dir) {
        keet->argv[nr++] = "--cache";
        keet->argv[nr++] = keet->texts[3];
    }
}

static void make_defaults(struct keet_options *options)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (options->processes == 0)
        options->processes = cores > 0 ? (unsigned)cores : 1;
    if (options->processes > MOST_HELPERS)
        options->processes = MOST_HELPERS;
    if (!(options->limit_s > 0))
        options->limit_s = default_limit_s;
    if (options->seed == 0)
        options->seed = 1; /* as keet-opt's */
}

static void destroy(struct keet *keet)
{
    for (size_t i = 0; i < sizeof(keet->texts) / sizeof(keet->texts[0]); i++)
        free(keet->texts[i]);
    pthread_cond_destroy(&keet->freed);
    pthread_mutex_destroy(&keet->mutex);
    free(keet);
}

static bool start(struct keet *keet, struct helper *helper, struct keet_error *error)
{
    return helper_start(helper, keet->argv, keet->options.cuda, keet->options.memory_bytes, error);
}

struct keet *keet_open(const struct keet_options *options, struct keet_error *error)
{
    struct keet *keet = calloc(1, sizeof(*keet));

    if (!keet) {
        no_memory(error);
        return NULL;
    }
    pthread_mutex_init(&keet->mutex, NULL);
    pthread_cond_init(&keet->freed, NULL);
    keet->owner = getpid();
    keet->heard = &keet->interrupts;
    keet->options = known(options);
    make_defaults(&keet->options);
    keet->nr = keet->options.processes;
    if (copy_texts(keet, error)) {
        make_argv(keet);
        if (start(keet, &keet->helpers[0], error))
            return keet;
    }
    destroy(keet);
    return NULL;
}

void keet_close(struct keet *keet)
{
    const bool ours = keet && keet->owner == getpid();

    for (unsigned i = 0; keet && i < keet->nr; i++) {
        if (ours)
            helper_stop(&keet->helpers[i]);
        else
            helper_forget(&keet->helpers[i]);
    }
    if (keet)
        destroy(keet);
}

void keet_interrupt(struct keet *keet)
{
    atomic_fetch_add(&keet->interrupts, 1);
}

/* ---- a helper for a call ---- */

/* Best the process that was asked about this original last, which has it ready; else one that is
 * running; else one that is not. NULL: all are busy. */
static struct helper *choose(struct keet *keet, uint64_t hash)
{
    struct helper *best = NULL;

    for (unsigned i = 0; i < keet->nr; i++) {
        struct helper *h = &keet->helpers[i];

        if (h->busy)
            continue;
        if (h->pid && h->last == hash)
            return h;
        if (!best || (h->pid && (!best->pid || h->used < best->used)))
            best = h;
    }
    return best;
}

static void wait_a_slice(struct keet *keet)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SLICE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&keet->freed, &keet->mutex, &until);
}

static struct helper *take(
    struct keet *keet, uint64_t hash, unsigned as_begun, struct keet_error *error)
{
    struct helper *helper;

    pthread_mutex_lock(&keet->mutex);
    while (!(helper = choose(keet, hash)) && atomic_load(keet->heard) == as_begun)
        wait_a_slice(keet);
    if (helper) {
        helper->busy = true;
        helper->used = ++keet->moment;
    }
    pthread_mutex_unlock(&keet->mutex);
    if (!helper)
        helper_error(error, KEET_INTERRUPTED, "interrupted");
    return helper;
}

static void give_back(struct keet *keet, struct helper *helper, uint64_t hash)
{
    pthread_mutex_lock(&keet->mutex);
    helper->busy = false;
    helper->last = helper->pid ? hash : 0;
    pthread_cond_signal(&keet->freed);
    pthread_mutex_unlock(&keet->mutex);
}

/* ---- a call ---- */

struct library_call {
    const char *verb;
    json_t *more; /* further members of the head; taken over; NULL: none */
    const char *candidate;
    size_t bytes;
    bool judges; /* a process that dies of the call is the candidate's doing: a verdict */
};

/* The texts are the caller's, and the head is the frame's own. */
static bool make_request(const struct keet_task *task, struct library_call *call,
    struct frame *frame, struct keet_error *error)
{
    json_t *head = json_pack("{s:s, s:I, s:b}", "verb", call->verb, "seed",
        (json_int_t)task->keet->options.seed, "original_itself", (int)!call->candidate);

    if (head && task->name)
        json_object_set_new(head, "name", json_string(task->name));
    if (head && call->more)
        json_object_update(head, call->more);
    json_decref(call->more);
    *frame = (struct frame){.text = {head ? json_dumps(head, JSON_COMPACT) : NULL, task->text,
                                (char *)(uintptr_t)call->candidate},
        .bytes = {0, task->bytes, call->candidate ? call->bytes : 0}};
    json_decref(head);
    if (!frame->text[FRAME_HEAD])
        return no_memory(error);
    frame->bytes[FRAME_HEAD] = strlen(frame->text[FRAME_HEAD]);
    for (int i = 0; i < FRAME_PARTS; i++)
        if (frame->bytes[i] > FRAME_MOST_BYTES) {
            free(frame->text[FRAME_HEAD]);
            return helper_error(
                error, KEET_ENVIRONMENT, "a text of more than %d MiB", FRAME_MOST_BYTES >> 20);
        }
    return true;
}

static struct keet_result *read_answer(struct frame *answer, struct keet_error *error)
{
    json_t *head = json_loadb(answer->text[FRAME_HEAD], answer->bytes[FRAME_HEAD], 0, NULL);
    json_t *result = json_incref(json_object_get(head, "result"));
    const char *text = json_string_value(json_object_get(head, "error"));
    struct keet_result *made = NULL;

    if (result) {
        char *source = answer->bytes[FRAME_CANDIDATE] ? answer->text[FRAME_CANDIDATE] : NULL;

        if (source)
            answer->text[FRAME_CANDIDATE] = NULL; /* taken over */
        made = result_create(result, source, answer->bytes[FRAME_CANDIDATE]);
        if (!made)
            no_memory(error);
    } else {
        helper_error(error,
            json_is_true(json_object_get(head, "original")) ? KEET_ORIGINAL : KEET_ENVIRONMENT,
            "%s", text ? text : "the helper process sent no answer");
    }
    json_decref(head);
    frame_finish(answer);
    return made;
}

/* The end of a process as a verdict. */
static struct keet_result *verdict_of(const struct keet *keet, enum helper_end end, const char *why)
{
    char reason[1024];

    if (end == HELPER_LATE)
        snprintf(reason, sizeof(reason), "the evaluation took more than the limit of %g s",
            keet->options.limit_s);
    else
        snprintf(reason, sizeof(reason),
            "the process that evaluated it came to an end: %.500s; nothing is known", why);
    return result_create(json_pack("{s:s, s:s, s:i, s:f, s:s}", "verdict",
                             end == HELPER_LATE ? "timeout" : "unsupported", "reason", reason,
                             "line", 0, "reward", 0.0, "feedback", reason),
        NULL, 0);
}

static struct keet_result *finish(const struct keet *keet, const struct library_call *call,
    enum helper_end end, struct frame *answer, const char *why, struct keet_error *error)
{
    if (end == HELPER_ANSWERED)
        return read_answer(answer, error);
    if (end == HELPER_INTERRUPTED) {
        helper_error(error, KEET_INTERRUPTED, "interrupted");
        return NULL;
    }
    if (call->judges)
        return verdict_of(keet, end, why);
    if (end == HELPER_LATE)
        helper_error(error, KEET_ENVIRONMENT, "the call took longer than the limit of %g s",
            keet->options.limit_s);
    else
        helper_error(error, KEET_ENVIRONMENT, "the helper process came to an end: %.500s", why);
    return NULL;
}

static struct keet_result *request(
    const struct keet_task *task, struct library_call *call, struct keet_error *error)
{
    struct keet *keet = task->keet;
    const unsigned as_begun = atomic_load(keet->heard);
    struct keet_result *result = NULL;
    struct frame frame, answer;
    struct helper *helper;
    enum helper_end end;
    char why[512];

    if (keet->owner != getpid()) {
        json_decref(call->more);
        helper_error(error, KEET_ENVIRONMENT,
            "this handle belongs to process %ld, of which this one is a fork: open another here",
            (long)keet->owner);
        return NULL;
    }
    if (!make_request(task, call, &frame, error))
        return NULL;
    helper = take(keet, task->hash, as_begun, error);
    if (helper && (helper->pid || start(keet, helper, error))) {
        end =
            helper_call(helper, &frame, &answer, keet->options.limit_s, keet->heard, as_begun, why);
        result = finish(keet, call, end, &answer, why, error);
    }
    if (helper)
        give_back(keet, helper, task->hash);
    free(frame.text[FRAME_HEAD]);
    return result;
}

/* ---- tasks ---- */

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

struct keet_task *keet_task_open(
    struct keet *keet, const char *text, size_t bytes, const char *name, struct keet_error *error)
{
    struct keet_task *task = calloc(1, sizeof(*task));
    struct library_call call = {.verb = "task", .candidate = ""};
    struct keet_result *result = NULL;

    if (task) {
        task->keet = keet;
        task->text = malloc(bytes + 1);
        task->name = name ? strdup(name) : NULL;
        task->bytes = bytes;
    }
    if (!task || !task->text || (name && !task->name)) {
        no_memory(error);
    } else {
        memcpy(task->text, text, bytes);
        task->text[bytes] = '\0';
        task->hash = hash_of(text, bytes);
        result = request(task, &call, error);
    }
    if (!result) {
        keet_task_close(task);
        return NULL;
    }
    keet_result_free(result);
    return task;
}

void keet_task_close(struct keet_task *task)
{
    if (!task)
        return;
    free(task->text);
    free(task->name);
    free(task);
}

static struct keet_result *evaluate(struct keet_task *task, const char *verb, const char *text,
    size_t bytes, struct keet_error *error)
{
    struct library_call call = {.verb = verb, .candidate = text, .bytes = bytes, .judges = true};

    return request(task, &call, error);
}

struct keet_result *keet_check(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error)
{
    return evaluate(task, "check", candidate, bytes, error);
}

struct keet_result *keet_run(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error)
{
    return evaluate(task, "run", candidate, bytes, error);
}

struct keet_result *keet_explain(
    struct keet_task *task, const char *candidate, size_t bytes, struct keet_error *error)
{
    return evaluate(task, "explain", candidate, bytes, error);
}

struct keet_result *keet_reward(
    struct keet_task *task, const char *reply, size_t bytes, struct keet_error *error)
{
    return evaluate(task, "reward", reply ? reply : "", reply ? bytes : 0, error);
}

/* ---- searches ---- */

static struct keet_result *turn(
    struct keet_search *search, struct library_call call, struct keet_error *error)
{
    struct keet_result *result;

    pthread_mutex_lock(&search->turn);
    result = request(&search->original, &call, error);
    pthread_mutex_unlock(&search->turn);
    return result;
}

static bool begin(
    struct keet_search *search, const struct keet_search_options *given, struct keet_error *error)
{
    struct keet_search_options options = {0};
    struct library_call call = {.verb = "search", .candidate = ""};
    struct keet_result *result;

    if (given)
        memcpy(&options, given, given->size < sizeof(options) ? given->size : sizeof(options));
    call.more = json_pack("{s:s, s:b}", "policy", options.policy ? options.policy : "mcts",
        "no_fast_math", (int)options.no_fast_math);
    result = turn(search, call, error);
    keet_result_free(result);
    return result != NULL;
}

struct keet_search *keet_search_open(
    struct keet_task *task, const struct keet_search_options *options, struct keet_error *error)
{
    struct keet_search *search = calloc(1, sizeof(*search));
    struct keet_options own = task->keet->options;

    if (!search) {
        no_memory(error);
        return NULL;
    }
    own.size = sizeof(own);
    own.processes = 1;
    pthread_mutex_init(&search->turn, NULL);
    search->keet = keet_open(&own, error);
    if (search->keet) {
        search->keet->heard = &task->keet->interrupts;
        search->original = *task;
        search->original.keet = search->keet;
        if (begin(search, options, error))
            return search;
    }
    keet_search_close(search);
    return NULL;
}

void keet_search_close(struct keet_search *search)
{
    if (!search)
        return;
    keet_close(search->keet);
    pthread_mutex_destroy(&search->turn);
    free(search);
}

struct keet_result *keet_search_ask(struct keet_search *search, struct keet_error *error)
{
    return turn(search, (struct library_call){.verb = "ask", .candidate = ""}, error);
}

struct keet_result *keet_search_add(struct keet_search *search, long parent, const char *candidate,
    size_t bytes, struct keet_error *error)
{
    return turn(search,
        (struct library_call){.verb = "add",
            .more = json_pack("{s:I}", "parent", (json_int_t)parent),
            .candidate = candidate,
            .bytes = bytes},
        error);
}

struct keet_result *keet_search_tell(
    struct keet_search *search, long node, const double *speedup, struct keet_error *error)
{
    json_t *more = json_pack("{s:I}", "node", (json_int_t)node);

    if (more && speedup)
        json_object_set_new(more, "speedup", json_real(*speedup == *speedup ? *speedup : 0));
    return turn(
        search, (struct library_call){.verb = "tell", .more = more, .candidate = ""}, error);
}

struct keet_result *keet_search_best(struct keet_search *search, struct keet_error *error)
{
    return turn(search, (struct library_call){.verb = "best", .candidate = ""}, error);
}
