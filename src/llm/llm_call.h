/* Calls on their way from llm_start to llm_wait, and the kinds of endpoint that carry them out.
 *
 * llm.c owns the queue. A kind gets each call by `start`, works on it in threads of its own, fills
 * call->reply with strings from call->arena, and ends with llm_call_finish, from any thread. From
 * `start` to llm_call_finish the call is the kind's alone. */
#ifndef KEET_LLM_LLM_CALL_H
#define KEET_LLM_LLM_CALL_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "llm/llm.h"
#include "llm/llm_key.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct llm_call {
    struct llm *llm;
    struct arena *arena;
    struct llm_request request; /* copied to the arena */
    unsigned number;            /* among the calls of its purpose, from 1 */
    uint64_t started;           /* among all calls, from 1 */
    struct llm_reply reply;
    uint64_t start_ns, run_ns; /* when llm_start was called, and when the call left the queue */
    uint64_t order;            /* replay: the line of the recording */
    uint64_t after_started, after_moment;
    pthread_t thread; /* cmd, script */
    bool has_thread;
    struct llm_call *next; /* in llm->queued or llm->done */
};

struct llm_kind {
    const char *prefix;
    bool has_tools;
    /* rest: the spec after the prefix. */
    bool (*open)(struct llm *llm, const char *rest, struct err *err);
    void (*start)(struct llm_call *call);
    void (*wake)(struct llm *llm);  /* llm->stopping was set: end all calls soon. May be NULL */
    void (*close)(struct llm *llm); /* no call is left */
};

struct llm {
    const struct llm_kind *kind;
    char *spec;
    struct llm_limits limits;
    bool has_tools; /* the kind's, or the recording's */
    struct secrets secrets;
    struct remote *remote; /* each kind sets one of these four */
    char *command;
    struct script *script;
    struct replay *replay;

    pthread_mutex_t lock; /* over queued, done and nr_running */
    pthread_cond_t changed;
    struct llm_call *queued, *done; /* in order */
    unsigned nr_running;
    atomic_bool stopping;

    struct llm_call *given; /* by the last llm_wait */
    uint64_t nr_started, moment;
    unsigned nr_in_flight;
    struct purpose_count *purposes;
    size_t nr_purposes, cap_purposes;
    FILE *record;
    bool record_failed;
};

/* The call is over. Its kind has set outcome, text, error, calls, model and tokens as far as they
 * are known; the times are set here. */
void llm_call_finish(struct llm_call *call);

/* Set outcome LLM_FAILED and the error. */
void llm_call_fail(struct llm_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

uint64_t llm_estimate_in(const struct llm_request *request); /* tokens, by bytes / 4 */

/* Run body in a thread of its own, which ends by finishing the call. */
void llm_call_thread(struct llm_call *call, void (*body)(struct llm_call *call));

extern const struct llm_kind llm_cmd_kind, llm_script_kind, llm_replay_kind;
extern const struct llm_kind llm_anthropic_kind, llm_openai_kind, llm_http_kind, llm_https_kind;

/* Write one line of a recording. started, moment: of the llm when llm_wait gave the reply. False:
 * the line could not be written. */
bool llm_record_write(FILE *file, struct llm_call *call, uint64_t started, uint64_t moment);

#endif
