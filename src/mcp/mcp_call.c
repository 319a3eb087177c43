/* Owns calls under way. */
#include "mcp/mcp_call.h"

#include "base/clock.h"
#include "llm/llm_json.h"
#include "mcp/mcp_message.h"
#include "mcp/mcp_tidy.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_RESULT_BYTES = 1 << 20, MOST_ERROR_BYTES = 8192 };

/* A search that was asked to end stores what is under way; other verbs have nothing to store. */
static const double GRACE_S = 15, LOOK_S = 2, TICK_S = 5;

static double seconds_since(uint64_t ns)
{
    return (double)(clock_ns() - ns) * 1e-9;
}

static uint64_t in_seconds(double s)
{
    return clock_ns() + (uint64_t)(s * 1e9);
}

static bool tell(struct mcp_call *call, double progress, json_t *total, const char *message)
{
    json_t *params;

    call->progress = progress;
    params = json_pack(
        "{s:O, s:f, s:s}", "progressToken", call->token, "progress", progress, "message", message);
    if (total)
        json_object_set_new(params, "total", total);
    return mcp_send_notification("notifications/progress", params);
}

bool mcp_call_start(struct mcp_call *call, struct err *err)
{
    const char *argv[MCP_MOST_WORDS + 1] = {call->program};

    memcpy(&argv[1], call->command.words, sizeof(call->command.words));
    call->began_ns = clock_ns();
    call->next_ns = in_seconds(call->command.db ? 0 : TICK_S);
    call->working = mcp_child_start(&call->work, argv, &call->cage, err);
    return call->working;
}

/* ---- progress ---- */

/* What `status` says of the search. */
static bool tell_search(struct mcp_call *call)
{
    json_t *status = json_loadb(str_text(&call->look.output), call->look.output.len, 0, NULL);
    const double evaluated = json_number_value(json_object_get(status, "evaluated"));
    const bool running = json_is_true(json_object_get(status, "running"));
    bool sent = true;

    if (running && evaluated > call->progress)
        sent = tell(call, evaluated, json_integer(call->command.budget),
            arena_printf(call->arena, "%.0f of %u variants evaluated, the best %.2fx as fast",
                evaluated, call->command.budget,
                json_number_value(json_object_get(status, "speedup"))));
    json_decref(status);
    return sent;
}

static bool step_progress(struct mcp_call *call)
{
    const char *argv[] = {call->program, "status", call->command.db, "--json", NULL};
    struct err err;
    bool sent = true;

    if (call->look.pid > 0) {
        if (!mcp_child_look(&call->look))
            return true;
        sent = tell_search(call);
        mcp_child_finish(&call->look);
    }
    if (clock_ns() < call->next_ns)
        return sent;
    call->next_ns = in_seconds(call->command.db ? LOOK_S : TICK_S);
    if (!call->command.db)
        return tell(call, seconds_since(call->began_ns), NULL,
            arena_printf(
                call->arena, "%s: %.0f s", call->command.words[0], seconds_since(call->began_ns)));
    if (call->progress < 0)
        return tell(
            call, 0, json_integer(call->command.budget), "the original is compiled and timed");
    mcp_child_start(&call->look, argv, &call->cage, &err); /* else the next time */
    return sent;
}

/* ---- the end ---- */

static void ask_to_end(struct mcp_call *call)
{
    call->asked_ns = call->asked_ns ? call->asked_ns : clock_ns();
    if (call->command.db)
        mcp_child_interrupt(&call->work);
    else
        mcp_child_kill(&call->work);
}

void mcp_call_cancel(struct mcp_call *call)
{
    call->cancelled = true;
    if (call->working)
        ask_to_end(call);
}

bool mcp_call_step(struct mcp_call *call, bool *sent)
{
    if (!call->working)
        return call->cancelled;
    if (mcp_child_look(&call->work))
        return true;
    if (!call->asked_ns && seconds_since(call->began_ns) > call->command.limit_s) {
        call->out_of_time = true;
        ask_to_end(call);
    }
    if (call->asked_ns && seconds_since(call->asked_ns) > GRACE_S)
        mcp_child_kill(&call->work);
    if (call->token && !call->cancelled && !step_progress(call))
        *sent = false;
    return false;
}

/* The text without the path of the scratch folder. */
static char *without_scratch(const struct mcp_call *call, const struct str *text)
{
    const char *from = str_text(text), *at;
    const size_t len = strlen(call->cage.scratch);
    struct str out = {0};

    while ((at = strstr(from, call->cage.scratch)) != NULL) {
        str_add_n(&out, from, (size_t)(at - from));
        from = at + len + (at[len] == '/');
    }
    str_add(&out, from);
    return str_take(&out);
}

json_t *mcp_failure(const char *text)
{
    json_t *said = json_from_text(text);

    return json_pack(
        "{s:[{s:s, s:o}], s:b}", "content", "type", "text", "text", said, "isError", 1);
}

/* Of a list of one, the one; of a list, an object that holds the list. */
static json_t *shaped(const struct mcp_call *call, json_t *document)
{
    json_t *all = json_object_get(document, "candidates");

    if (call->command.unwrap && json_array_size(all) == 1) {
        all = json_incref(json_array_get(all, 0));
        json_decref(document);
        return all;
    }
    if (call->command.list)
        return json_pack("{s:o}", call->command.list, document);
    return document;
}

static json_t *result_of(const struct mcp_call *call, json_t *document)
{
    char *text;
    json_t *result;

    document = shaped(call, document);
    mcp_tidy(document, call->command.keep_source);
    if (call->out_of_time)
        json_object_set_new(document, "note",
            json_sprintf("ended at its time limit of %.0f s; call it again with resume to go on",
                call->command.limit_s));
    text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(6));
    if (text && strlen(text) <= MOST_RESULT_BYTES) {
        result = json_pack("{s:[{s:s, s:s}], s:O, s:b}", "content", "type", "text", "text", text,
            "structuredContent", document, "isError", 0);
    } else {
        result = mcp_failure("the answer has more than 1 MiB");
    }
    free(text);
    json_decref(document);
    return result;
}

static json_t *failure_of(const struct mcp_call *call, const char *errors)
{
    struct str text = {0};
    const size_t len = strlen(errors);
    json_t *result;

    if (call->work.too_much)
        str_add(&text, "the output has more than 16 MiB");
    else if (call->out_of_time)
        str_addf(&text,
            "nothing came of it within its time limit of %.0f s (time_limit_s); smaller sizes take "
            "less time",
            call->command.limit_s);
    else if (WIFSIGNALED(call->work.status))
        str_addf(&text, "its process was ended by signal %d", WTERMSIG(call->work.status));
    else if (len == 0)
        str_addf(&text, "it ended with status %d", WEXITSTATUS(call->work.status));
    if (text.len > 0 && len > 0)
        str_add_char(&text, '\n');
    str_add(&text, len > MOST_ERROR_BYTES ? errors + len - MOST_ERROR_BYTES : errors);
    result = mcp_failure(str_text(&text));
    str_finish(&text);
    return result;
}

json_t *mcp_call_result(struct mcp_call *call)
{
    char *output = without_scratch(call, &call->work.output),
         *errors = without_scratch(call, &call->work.errors);
    const bool exited = WIFEXITED(call->work.status) && (WEXITSTATUS(call->work.status) == 0 ||
                                                            WEXITSTATUS(call->work.status) == 3);
    json_t *document = exited && !call->work.too_much ? json_loads(output, 0, NULL) : NULL;
    json_t *result = document
                         ? result_of(call, document)
                         : failure_of(call, errors + (str_starts(errors, "keet-opt: ") ? 10 : 0));

    free(output);
    free(errors);
    return result;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

void mcp_call_destroy(struct mcp_call *call)
{
    mcp_child_finish(&call->look);
    mcp_child_finish(&call->work);
    nftw(call->cage.scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    json_decref(call->id);
    json_decref(call->token);
    arena_destroy(call->arena);
}
