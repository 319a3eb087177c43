/* Owns the table of endpoint kinds, and the queue that calls go through. */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "llm/llm_call.h"

#include <jansson.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct llm_kind *const kinds[] = {&llm_anthropic_kind, &llm_openai_kind,
    &llm_http_kind, &llm_https_kind, &llm_cmd_kind, &llm_script_kind, &llm_replay_kind};

struct purpose_count {
    char *purpose;
    unsigned nr;
};

struct llm_limits llm_default_limits(void)
{
    return (struct llm_limits){.connect_s = 10,
        .first_byte_s = 180,
        .idle_s = 120,
        .total_s = 600,
        .reply_bytes = 1 << 20,
        .attempts = 5,
        .in_flight = 4,
        .backoff_s = 1,
        .seed = 1};
}

const char *llm_outcome_name(enum llm_outcome outcome)
{
    static const char *const names[] = {"ok", "truncated", "refused", "empty", "failed"};

    return (unsigned)outcome < ARRAY_SIZE(names) ? names[outcome] : "?";
}

/* ---- create and destroy ---- */

static bool check_limits(const struct llm_limits *limits, struct err *err)
{
    if (limits->connect_s > 0 && limits->first_byte_s > 0 && limits->idle_s > 0 &&
        limits->total_s > 0 && limits->reply_bytes && limits->attempts && limits->in_flight)
        return true;
    return err_set(err, "limits of a model: all deadlines, sizes and counts must be above 0");
}

static void init_lock(struct llm *llm)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&llm->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&llm->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static const struct llm_kind *find_kind(const char *spec, struct err *err)
{
    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
        if (str_starts(spec, kinds[i]->prefix))
            return kinds[i];
    err_set(err,
        "model %s: expected anthropic:NAME, openai:NAME, http://host:port/v1#NAME, cmd:PROGRAM, "
        "script:DIR or replay:FILE",
        spec);
    return NULL;
}

struct llm *llm_create(const char *spec, const struct llm_limits *limits, struct err *err)
{
    const struct llm_kind *kind = find_kind(spec, err);
    struct llm *llm;

    if (!kind || !check_limits(limits, err))
        return NULL;
    llm = xcalloc(1, sizeof(*llm));
    llm->kind = kind;
    llm->has_tools = kind->has_tools;
    llm->spec = xstrdup(spec);
    llm->limits = *limits;
    init_lock(llm);
    const bool opened = kind->open(llm, spec + strlen(kind->prefix), err);
    secret_clear_registers();
    if (opened)
        return llm;
    err_wrap(err, "model %s", spec);
    llm_destroy(llm);
    return NULL;
}

static void call_destroy(struct llm_call *call)
{
    if (!call)
        return;
    if (call->has_thread)
        pthread_join(call->thread, NULL);
    arena_destroy(call->arena);
    free(call);
}

void llm_destroy(struct llm *llm)
{
    struct llm_reply reply;

    if (!llm)
        return;
    llm_abandon(llm);
    while (llm->nr_in_flight)
        llm_wait(llm, 1e6, &reply);
    call_destroy(llm->given);
    if (llm->kind->close)
        llm->kind->close(llm);
    if (llm->record)
        fclose(llm->record);
    for (size_t i = 0; i < llm->nr_purposes; i++)
        free(llm->purposes[i].purpose);
    free(llm->purposes);
    secrets_finish(&llm->secrets);
    pthread_cond_destroy(&llm->changed);
    pthread_mutex_destroy(&llm->lock);
    free(llm->spec);
    free(llm);
}

const char *llm_spec(const struct llm *llm)
{
    return llm->spec;
}

bool llm_has_tools(const struct llm *llm)
{
    return llm->has_tools;
}

unsigned llm_in_flight(const struct llm *llm)
{
    return llm->nr_in_flight;
}

void llm_set_moment(struct llm *llm, uint64_t moment)
{
    llm->moment = moment;
}

/* ---- requests ---- */

static bool is_role(const char *role)
{
    return role && (!strcmp(role, "system") || !strcmp(role, "user") ||
                       !strcmp(role, "assistant") || !strcmp(role, "tool"));
}

static bool check_schema(const struct llm_tool *tool, struct err *err)
{
    json_error_t where;
    json_t *schema = json_loads(tool->parameters_json ? tool->parameters_json : "", 0, &where);

    if (!schema)
        return err_set(err, "tool %s: its parameters are no JSON object: line %d: %s", tool->name,
            where.line, where.text);
    json_decref(schema);
    return true;
}

static bool check_request(const struct llm_request *request, struct err *err)
{
    const char *purpose = request->purpose;

    if (!purpose || !*purpose)
        return err_set(err, "a request needs a purpose");
    for (const char *p = purpose; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return err_set(err, "purpose %s: letters, digits and _ only", purpose);
    if (!request->nr_messages)
        return err_set(err, "purpose %s: a request needs a message", purpose);
    for (unsigned i = 0; i < request->nr_messages; i++)
        if (!is_role(request->messages[i].role) || !request->messages[i].text)
            return err_set(err, "purpose %s: message %u has no role or no text", purpose, i + 1);
    for (unsigned i = 0; i < request->nr_tools; i++)
        if (!check_schema(&request->tools[i], err))
            return false;
    return true;
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

struct llm_tool_call *llm_copy_calls(
    struct arena *arena, const struct llm_tool_call *calls, unsigned nr)
{
    struct llm_tool_call *out = arena_array(arena, nr + 1, sizeof(*out));

    for (unsigned i = 0; i < nr; i++)
        out[i] = (struct llm_tool_call){.id = copy(arena, calls[i].id),
            .name = copy(arena, calls[i].name),
            .arguments_json = copy(arena, calls[i].arguments_json)};
    return out;
}

static void copy_request(struct arena *arena, struct llm_request *out, const struct llm_request *in)
{
    struct llm_message *messages = arena_array(arena, in->nr_messages, sizeof(*messages));
    struct llm_tool *tools = arena_array(arena, in->nr_tools + 1, sizeof(*tools));

    for (unsigned i = 0; i < in->nr_messages; i++) {
        messages[i] = in->messages[i];
        messages[i].role = copy(arena, in->messages[i].role);
        messages[i].text = copy(arena, in->messages[i].text);
        messages[i].tool_call_id = copy(arena, in->messages[i].tool_call_id);
        messages[i].calls = llm_copy_calls(arena, in->messages[i].calls, in->messages[i].nr_calls);
    }
    for (unsigned i = 0; i < in->nr_tools; i++)
        tools[i] = (struct llm_tool){.name = copy(arena, in->tools[i].name),
            .description = copy(arena, in->tools[i].description),
            .parameters_json = copy(arena, in->tools[i].parameters_json)};
    *out = *in;
    out->messages = messages;
    out->tools = tools;
    out->purpose = copy(arena, in->purpose);
    out->effort = copy(arena, in->effort);
}

void llm_prompt_text(const struct llm_request *request, struct str *out)
{
    for (unsigned i = 0; i < request->nr_messages; i++) {
        const struct llm_message *message = &request->messages[i];
        /* One message, perhaps after a system's, needs no headings. */
        const bool plain =
            request->nr_messages == 1 ||
            (request->nr_messages == 2 && !strcmp(request->messages[0].role, "system"));

        if (i)
            str_add(out, "\n\n");
        if (!plain)
            str_addf(out, "[%s]\n", message->role);
        str_add(out, message->text);
        for (unsigned c = 0; c < message->nr_calls; c++)
            str_addf(out, "\n%s(%s)", message->calls[c].name, message->calls[c].arguments_json);
    }
    str_add(out, "\n");
}

static unsigned count_purpose(struct llm *llm, const char *purpose)
{
    for (size_t i = 0; i < llm->nr_purposes; i++)
        if (!strcmp(llm->purposes[i].purpose, purpose))
            return ++llm->purposes[i].nr;
    llm->purposes =
        grow(llm->purposes, &llm->cap_purposes, llm->nr_purposes + 1, sizeof(*llm->purposes));
    llm->purposes[llm->nr_purposes++] =
        (struct purpose_count){.purpose = xstrdup(purpose), .nr = 1};
    return 1;
}

/* ---- the queue ---- */

static void append(struct llm_call **queue, struct llm_call *call)
{
    while (*queue && (*queue)->order <= call->order)
        queue = &(*queue)->next;
    call->next = *queue;
    *queue = call;
}

/* Hand queued calls to the kind as far as there is room. The caller does not hold the lock. */
static void run_queued(struct llm *llm)
{
    struct llm_call *call;

    do {
        pthread_mutex_lock(&llm->lock);
        call = llm->nr_running < llm->limits.in_flight ? llm->queued : NULL;
        if (call) {
            llm->queued = call->next;
            llm->nr_running++;
        }
        pthread_mutex_unlock(&llm->lock);
        if (!call)
            return;
        call->run_ns = clock_ns();
        if (atomic_load(&llm->stopping)) {
            llm_call_fail(call, "given up: the run has ended");
            llm_call_finish(call);
        } else {
            llm->kind->start(call);
        }
    } while (call);
}

bool llm_start(struct llm *llm, const struct llm_request *request, uint64_t *id, struct err *err)
{
    struct llm_call *call;

    if (!check_request(request, err))
        return false;
    call = xcalloc(1, sizeof(*call));
    call->llm = llm;
    call->arena = arena_create();
    copy_request(call->arena, &call->request, request);
    if (!call->request.max_tokens)
        call->request.max_tokens = 8192;
    call->number = count_purpose(llm, request->purpose);
    call->started = ++llm->nr_started;
    call->start_ns = clock_ns();
    call->reply = (struct llm_reply){.id = call->started, .text = "", .error = "", .model = ""};
    *id = call->started;
    llm->nr_in_flight++;
    pthread_mutex_lock(&llm->lock);
    append(&llm->queued, call);
    pthread_mutex_unlock(&llm->lock);
    run_queued(llm);
    return true;
}

void llm_call_fail(struct llm_call *call, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    call->reply.outcome = LLM_FAILED;
    call->reply.error = arena_vprintf(call->arena, format, ap);
    va_end(ap);
}

uint64_t llm_estimate_in(const struct llm_request *request)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < request->nr_messages; i++)
        bytes += strlen(request->messages[i].text);
    return (bytes + 3) / 4;
}

static uint64_t estimate_out(const struct llm_reply *reply)
{
    size_t bytes = strlen(reply->text);

    for (unsigned i = 0; i < reply->nr_calls; i++)
        bytes += strlen(reply->calls[i].arguments_json);
    return (bytes + 3) / 4;
}

/* Complete a reply of any kind: keys hidden, outcome, tokens, times. */
static void complete(struct llm_call *call)
{
    const struct secrets *secrets = &call->llm->secrets;
    struct llm_reply *reply = &call->reply;
    struct llm_tool_call *calls = llm_copy_calls(call->arena, reply->calls, reply->nr_calls);

    for (unsigned i = 0; i < reply->nr_calls; i++) {
        calls[i].id = secrets_hide(secrets, call->arena, calls[i].id);
        calls[i].name = secrets_hide(secrets, call->arena, calls[i].name);
        calls[i].arguments_json = secrets_hide(secrets, call->arena, calls[i].arguments_json);
    }
    reply->calls = calls;
    reply->text = secrets_hide(secrets, call->arena, reply->text);
    reply->error = secrets_hide(secrets, call->arena, reply->error);
    reply->model = secrets_hide(secrets, call->arena, reply->model);
    if (reply->outcome == LLM_OK && !reply->nr_calls &&
        reply->text[strspn(reply->text, " \t\r\n")] == '\0')
        reply->outcome = LLM_EMPTY;
    if (reply->outcome != LLM_FAILED && !reply->tokens_in && !reply->tokens_out) {
        reply->tokens_in = llm_estimate_in(&call->request);
        reply->tokens_out = estimate_out(reply);
        reply->tokens_estimated = true;
    }
    if (!reply->attempts)
        reply->attempts = 1;
    reply->latency_ms = (double)(clock_ns() - call->run_ns) * 1e-6;
    reply->queued_ms = (double)(call->run_ns - call->start_ns) * 1e-6;
}

void llm_call_finish(struct llm_call *call)
{
    struct llm *llm = call->llm;

    if (!call->order)
        complete(call);
    /* The next call starts first: once this one is done, the caller may destroy the llm. */
    pthread_mutex_lock(&llm->lock);
    llm->nr_running--;
    pthread_mutex_unlock(&llm->lock);
    run_queued(llm);
    pthread_mutex_lock(&llm->lock);
    append(&llm->done, call);
    pthread_cond_broadcast(&llm->changed);
    pthread_mutex_unlock(&llm->lock);
}

struct thread_body {
    struct llm_call *call;
    void (*run)(struct llm_call *call);
};

static void *thread_main(void *argument)
{
    struct thread_body *body = argument;
    struct llm_call *call = body->call;
    sigset_t all;

    sigfillset(&all); /* signals are for the main thread */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    body->run(call);
    llm_call_finish(call);
    return NULL;
}

void llm_call_thread(struct llm_call *call, void (*run)(struct llm_call *call))
{
    struct thread_body *body = arena_alloc(call->arena, sizeof(*body));
    int failed;

    *body = (struct thread_body){.call = call, .run = run};
    call->has_thread = true;
    failed = pthread_create(&call->thread, NULL, thread_main, body);
    if (!failed)
        return;
    call->has_thread = false;
    llm_call_fail(call, "cannot start a thread: %s", strerror(failed));
    llm_call_finish(call);
}

/* A recorded reply is given at its place, any other as soon as it is there. */
static bool may_give(const struct llm *llm, const struct llm_call *call)
{
    return call->after_started <= llm->nr_started && call->after_moment <= llm->moment;
}

static struct timespec deadline_of(double timeout_ms)
{
    const double ms = fmin(fmax(timeout_ms, 0), 1e9);
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1e3);
    at.tv_nsec += (long)(fmod(ms, 1e3) * 1e6);
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

bool llm_wait(struct llm *llm, double timeout_ms, struct llm_reply *reply)
{
    const struct timespec deadline = deadline_of(timeout_ms);
    struct llm_call *call = NULL;

    call_destroy(llm->given);
    llm->given = NULL;
    if (!llm->nr_in_flight)
        return false;
    pthread_mutex_lock(&llm->lock);
    while (!llm->done)
        if (pthread_cond_timedwait(&llm->changed, &llm->lock, &deadline) == ETIMEDOUT)
            break;
    if (llm->done && may_give(llm, llm->done)) {
        call = llm->done;
        llm->done = call->next;
    }
    pthread_mutex_unlock(&llm->lock);
    if (!call)
        return false;
    llm->nr_in_flight--;
    llm->given = call;
    *reply = call->reply;
    if (llm->record && !llm_record_write(llm->record, call, llm->nr_started, llm->moment))
        llm->record_failed = true;
    return true;
}

bool llm_record_ok(const struct llm *llm)
{
    return !llm->record_failed;
}

void llm_abandon(struct llm *llm)
{
    struct llm_call *call;

    /* Threads of kinds look at `stopping` from time to time, or are woken by it. */
    pthread_mutex_lock(&llm->lock);
    atomic_store(&llm->stopping, true);
    for (call = llm->done; call; call = call->next)
        call->after_started = call->after_moment = 0;
    pthread_cond_broadcast(&llm->changed);
    pthread_mutex_unlock(&llm->lock);
    if (llm->kind->wake)
        llm->kind->wake(llm);
}
