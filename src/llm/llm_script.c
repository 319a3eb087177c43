/* Owns script: endpoints, whose replies are files. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "llm/llm_call.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCRIPT_FILE_BYTES = 4 << 20 };

struct script {
    char *dir;
    double delay_ms;
};

static bool read_delay(struct script *script, struct err *err)
{
    char path[4096], *text, *end;
    bool ok;
    size_t len;

    snprintf(path, sizeof(path), "%s/delay", script->dir);
    if (!file_exists(path))
        return true;
    if (!file_read(path, 64, &text, &len, err))
        return false;
    script->delay_ms = strtod(text, &end);
    ok = end > text && script->delay_ms >= 0 && end[strspn(end, " \n")] == '\0';
    free(text);
    return ok || err_set(err, "%s: expected a number of milliseconds", path);
}

static bool script_open(struct llm *llm, const char *rest, struct err *err)
{
    if (!*rest || !file_exists(rest))
        return err_set(err, "%s is not there; expected a folder with files such as write-1.md",
            *rest ? rest : "the folder");
    llm->script = xcalloc(1, sizeof(*llm->script));
    llm->script->dir = xstrdup(rest);
    return read_delay(llm->script, err);
}

static void script_close(struct llm *llm)
{
    if (llm->script)
        free(llm->script->dir);
    free(llm->script);
}

static const char *member(struct llm_call *call, const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return arena_strdup(call->arena, text ? text : "");
}

static const struct llm_tool_call *read_calls(struct llm_call *call, const json_t *calls)
{
    struct llm_tool_call *out = arena_array(call->arena, json_array_size(calls) + 1, sizeof(*out));
    const json_t *item;
    size_t i;

    json_array_foreach(calls, i, item)
    {
        char *arguments = json_dumps(json_object_get(item, "arguments"), JSON_COMPACT);
        out[i] = (struct llm_tool_call){.id = member(call, item, "id"),
            .name = member(call, item, "name"),
            .arguments_json = arena_strdup(call->arena, arguments ? arguments : "{}")};
        free(arguments);
    }
    return out;
}

static void read_json(struct llm_call *call, const char *path, const char *text)
{
    json_error_t where;
    json_t *root = json_loads(text, 0, &where);
    const char *outcome = json_string_value(json_object_get(root, "outcome"));
    const json_t *calls = json_object_get(root, "calls");

    if (!root) {
        llm_call_fail(call, "%s:%d: %s", path, where.line, where.text);
        return;
    }
    call->reply.text = member(call, root, "text");
    call->reply.error = member(call, root, "error");
    call->reply.nr_calls = (unsigned)json_array_size(calls);
    call->reply.calls = read_calls(call, calls);
    for (enum llm_outcome o = LLM_OK; outcome && o <= LLM_FAILED; o++)
        if (!strcmp(outcome, llm_outcome_name(o)))
            call->reply.outcome = o;
    json_decref(root);
}

/* Wait until the reply is due, or the run has ended. */
static void wait_until_due(struct llm_call *call, double delay_ms)
{
    const uint64_t due_ns = call->run_ns + (uint64_t)(delay_ms * 1e6);
    struct llm *llm = call->llm;
    const struct timespec due = {
        .tv_sec = (time_t)(due_ns / 1000000000), .tv_nsec = (long)(due_ns % 1000000000)};

    pthread_mutex_lock(&llm->lock);
    while (!atomic_load(&llm->stopping) && clock_ns() < due_ns)
        pthread_cond_timedwait(&llm->changed, &llm->lock, &due);
    pthread_mutex_unlock(&llm->lock);
}

static void answer(struct llm_call *call)
{
    const struct script *script = call->llm->script;
    const char *stem =
        arena_printf(call->arena, "%s/%s-%u", script->dir, call->request.purpose, call->number);
    const char *md = arena_printf(call->arena, "%s.md", stem);
    const char *json = arena_printf(call->arena, "%s.json", stem);
    const bool is_json = !file_exists(md) && file_exists(json);
    struct err err;
    char *text;
    size_t len;

    wait_until_due(call, script->delay_ms);
    call->reply.model = "script";
    if (atomic_load(&call->llm->stopping)) {
        llm_call_fail(call, "given up: the run has ended");
        return;
    }
    if (!is_json && !file_exists(md)) {
        llm_call_fail(call, "the script ends here: there is no %s", md);
        call->reply.is_final = true;
        return;
    }
    if (!file_read(is_json ? json : md, SCRIPT_FILE_BYTES, &text, &len, &err)) {
        llm_call_fail(call, "%s", err.text);
        return;
    }
    if (is_json)
        read_json(call, json, text);
    else
        call->reply.text = arena_strdup(call->arena, text);
    free(text);
}

static void script_start(struct llm_call *call)
{
    llm_call_thread(call, answer);
}

const struct llm_kind llm_script_kind = {.prefix = "script:",
    .has_tools = true,
    .open = script_open,
    .start = script_start,
    .close = script_close};
