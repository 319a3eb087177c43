/* Owns cmd: endpoints: programs that read a prompt from a pipe and write the reply to one. */
#include "base/mem.h"
#include "base/proc.h"
#include "llm/llm_call.h"
#include "llm/llm_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool cmd_open(struct llm *llm, const char *rest, struct err *err)
{
    const char *unused;

    if (rest[strspn(rest, " ")] == '\0')
        return err_set(err, "expected a command, as in cmd:'agent --print'");
    llm->command = xstrdup(rest);
    /* The program needs no key from here, but no key that it prints may get out. */
    return secrets_read(&llm->secrets, VENDOR_NONE, &unused, err);
}

static void cmd_close(struct llm *llm)
{
    free(llm->command);
}

/* The last line that is not blank. */
static const char *last_line(struct arena *arena, const char *errors)
{
    size_t end = strlen(errors), start;

    while (end && strchr(" \t\r\n", errors[end - 1]))
        end--;
    for (start = end; start && errors[start - 1] != '\n';)
        start--;
    return utf8_repair(arena, errors + start, end - start < 400 ? end - start : 400);
}

static void judge(struct llm_call *call, const struct proc_result *result)
{
    const char *said = last_line(call->arena, result->errors ? result->errors : "");
    struct llm_reply *reply = &call->reply;

    reply->text =
        utf8_repair(call->arena, result->output ? result->output : "", result->output_bytes);
    switch (result->end) {
    case PROC_EXITED:
        if (result->status)
            llm_call_fail(call, "the command ended with status %d%s%s", result->status,
                *said ? ": " : "", said);
        reply->is_final = result->status == 127; /* not found */
        break;
    case PROC_OUTPUT:
        reply->outcome = LLM_TRUNCATED;
        break;
    case PROC_DEADLINE:
        llm_call_fail(
            call, "the command took more than %g s and was ended", call->llm->limits.total_s);
        break;
    case PROC_UNSAFE: /* no sandbox was asked for */
    case PROC_STOPPED:
        llm_call_fail(call, "given up: the run has ended");
        break;
    case PROC_SIGNALLED:
    case PROC_MEMORY:
        llm_call_fail(call, "the command was ended by signal %d%s%s", result->status,
            *said ? ": " : "", said);
        break;
    }
}

/* The user chose the program. It may need the keys that were taken out of the environment. */
static void ask(struct llm_call *call)
{
    const char *const argv[] = {"/bin/sh", "-c", call->llm->command, NULL};
    struct err err;
    const int env_fd = keys_env_file(&err);
    const struct proc_limits limits = {.time_s = call->llm->limits.total_s,
        .output_bytes = call->llm->limits.reply_bytes,
        .env_fd = env_fd,
        .stop = &call->llm->stopping};
    struct proc_result result;
    struct str prompt = {0};

    llm_prompt_text(&call->request, &prompt);
    call->reply.model = call->llm->command;
    if (env_fd >= 0 && proc_run_fed(argv, prompt.text, prompt.len, &limits, &result, &err)) {
        judge(call, &result);
        proc_result_finish(&result);
    } else {
        llm_call_fail(call, "%s", err.text);
    }
    str_finish(&prompt);
    if (env_fd >= 0)
        close(env_fd);
}

static void cmd_start(struct llm_call *call)
{
    llm_call_thread(call, ask);
}

const struct llm_kind llm_cmd_kind = {
    .prefix = "cmd:", .open = cmd_open, .start = cmd_start, .close = cmd_close};
