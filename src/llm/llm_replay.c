/* Owns recordings: writes them, and gives their replies again (replay:). */
#include "base/file.h"
#include "base/mem.h"
#include "llm/llm_call.h"
#include "llm/llm_json.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDING_BYTES = 1 << 30, SHOWN_BYTES = 100 };

struct record_line {
    json_t *root;
    const json_t *request, *reply; /* within root */
    const char *purpose;
    char hash[HASH_HEX_BYTES];
    unsigned number;
    uint64_t line, started;
    bool is_used;
};

struct replay {
    struct record_line *entries;
    size_t nr, cap;
};

/* ---- requests and replies as JSON ---- */

static json_t *hidden(struct llm_call *call, const char *text)
{
    return json_from_text(secrets_hide(&call->llm->secrets, call->arena, text ? text : ""));
}

static json_t *calls_json(
    struct llm_call *call, const struct llm_tool_call *calls, unsigned nr_calls)
{
    json_t *out = json_array();

    for (unsigned i = 0; i < nr_calls; i++)
        json_array_append_new(out,
            json_pack("{s:o, s:o, s:o}", "id", hidden(call, calls[i].id), "name",
                hidden(call, calls[i].name), "arguments", hidden(call, calls[i].arguments_json)));
    return out;
}

static json_t *request_json(struct llm_call *call)
{
    const struct llm_request *request = &call->request;
    json_t *messages = json_array(), *tools = json_array();

    for (unsigned i = 0; i < request->nr_messages; i++) {
        const struct llm_message *m = &request->messages[i];
        json_array_append_new(messages,
            json_pack("{s:s, s:o, s:o, s:o, s:b}", "role", m->role, "text", hidden(call, m->text),
                "calls", calls_json(call, m->calls, m->nr_calls), "tool_call_id",
                hidden(call, m->tool_call_id), "stable", m->stable_until_here));
    }
    for (unsigned i = 0; i < request->nr_tools; i++) {
        const struct llm_tool *tool = &request->tools[i];
        json_array_append_new(tools, json_pack("{s:o, s:o, s:o}", "name", hidden(call, tool->name),
                                         "description", hidden(call, tool->description),
                                         "parameters", hidden(call, tool->parameters_json)));
    }
    json_t *out = json_pack("{s:o, s:o, s:I, s:f, s:I}", "messages", messages, "tools", tools,
        "max_tokens", (json_int_t)request->max_tokens, "temperature", request->temperature, "seed",
        (json_int_t)request->seed);
    if (request->effort)
        json_object_set_new(out, "effort", json_string(request->effort));
    return out;
}

static void request_hash(const json_t *request, char hex[HASH_HEX_BYTES])
{
    char *text = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);

    hash_hex(hash_bytes(text, strlen(text), 0), hex);
    free(text);
}

static json_t *reply_json(struct llm_call *call)
{
    const struct llm_reply *r = &call->reply;
    json_t *out = json_pack("{s:s, s:o, s:o, s:o, s:b, s:o, s:b}", "outcome",
        llm_outcome_name(r->outcome), "text", hidden(call, r->text), "calls",
        calls_json(call, r->calls, r->nr_calls), "error", hidden(call, r->error), "final",
        r->is_final, "model", hidden(call, r->model), "estimated", r->tokens_estimated);
    json_t *numbers = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "in",
        (json_int_t)r->tokens_in, "out", (json_int_t)r->tokens_out, "cached",
        (json_int_t)r->tokens_cached, "cache_written", (json_int_t)r->tokens_cache_written,
        "lost_in", (json_int_t)r->lost_in, "lost_out", (json_int_t)r->lost_out, "attempts",
        (json_int_t)r->attempts, "latency_ms", r->latency_ms, "first_byte_ms", r->first_byte_ms,
        "waited_ms", r->waited_ms, "queued_ms", r->queued_ms);

    json_object_update(out, numbers);
    json_decref(numbers);
    return out;
}

/* ---- recording ---- */

bool llm_record(struct llm *llm, const char *path, struct err *err)
{
    llm->record = fopen(path, "we");
    return llm->record ? true : err_errno(err, "cannot record to %s", path);
}

bool llm_record_write(FILE *file, struct llm_call *call, uint64_t started, uint64_t moment)
{
    json_t *request = request_json(call), *line;
    char hex[HASH_HEX_BYTES];
    bool ok;

    request_hash(request, hex);
    line =
        json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "purpose", call->request.purpose,
            "has_tools", call->llm->has_tools, "number", (json_int_t)call->number, "started",
            (json_int_t)call->started, "after_started", (json_int_t)started, "after_moment",
            (json_int_t)moment, "hash", hex, "reply", reply_json(call), "request", request);
    ok = json_dumpf(line, file, JSON_COMPACT) == 0 && fputc('\n', file) != EOF && fflush(file) == 0;
    json_decref(line);
    return ok;
}

/* ---- reading a recording ---- */

static bool read_line(
    struct replay *replay, const char *path, const char *text, size_t len, struct err *err)
{
    const char *why;
    struct record_line entry = {.root = json_from_bytes(text, len, &why), .line = replay->nr + 1};

    if (!entry.root)
        return err_set(err, "%s:%zu: %s; expected what --record wrote", path, replay->nr + 1, why);
    entry.request = json_object_get(entry.root, "request");
    entry.reply = json_object_get(entry.root, "reply");
    entry.purpose = json_text(entry.root, "purpose");
    entry.number = (unsigned)json_uint(entry.root, "number");
    entry.started = json_uint(entry.root, "started");
    replay->entries = grow(replay->entries, &replay->cap, replay->nr + 1, sizeof(entry));
    replay->entries[replay->nr++] = entry;
    if (!entry.request || !entry.reply)
        return err_set(err, "%s:%zu: no request or no reply in it", path, replay->nr);
    request_hash(entry.request, replay->entries[replay->nr - 1].hash);
    return true;
}

/* A last line without its end is skipped: the run was killed while it wrote the line. */
static bool read_lines(struct replay *replay, const char *path, const char *text, struct err *err)
{
    const char *end;

    for (; (end = strchr(text, '\n')); text = end + 1)
        if (!read_line(replay, path, text, (size_t)(end - text), err))
            return false;
    return true;
}

static bool replay_open(struct llm *llm, const char *rest, struct err *err)
{
    const char *unused;
    char *text;
    size_t len;
    bool ok;

    if (!file_read(rest, RECORDING_BYTES, &text, &len, err))
        return false;
    llm->replay = xcalloc(1, sizeof(*llm->replay));
    ok = read_lines(llm->replay, rest, text, err) &&
         secrets_read(&llm->secrets, VENDOR_NONE, &unused, err);
    if (llm->replay->nr) /* prompts differ with and without tools */
        llm->has_tools = json_is_true(json_object_get(llm->replay->entries[0].root, "has_tools"));
    free(text);
    return ok;
}

static void replay_close(struct llm *llm)
{
    struct replay *replay = llm->replay;

    if (!replay)
        return;
    for (size_t i = 0; i < replay->nr; i++)
        json_decref(replay->entries[i].root);
    free(replay->entries);
    free(replay);
}

/* ---- where a request differs ---- */

static void show_line(struct str *out, const char *text)
{
    const size_t len = strcspn(text, "\n");
    struct str shown = {0};

    utf8_add(&shown, text, len < SHOWN_BYTES ? len : SHOWN_BYTES);
    str_addf(out, "\"%s%s\"", str_text(&shown), len < SHOWN_BYTES ? "" : "...");
    str_finish(&shown);
}

/* Is the last line of a text the whole line, too, at which another one goes on? */
static bool starts_line(const char *text, const char *last)
{
    const size_t len = strcspn(text, "\n");

    return text[len] && strlen(last) == len && !memcmp(text, last, len);
}

/* The first line at which two texts differ. False: they are the same. */
static bool differing_line(struct str *out, const char *what, const char *recorded, const char *now)
{
    const char *a = recorded, *b = now;
    unsigned line = 1;

    if (!strcmp(a, b))
        return false;
    for (;; line++) {
        const size_t len_a = strcspn(a, "\n"), len_b = strcspn(b, "\n");
        if (len_a != len_b || memcmp(a, b, len_a) || !a[len_a] || !b[len_b])
            break;
        a += len_a + 1;
        b += len_b + 1;
    }
    const bool shorter_before = starts_line(b, a), shorter_now = starts_line(a, b);

    str_addf(out, "%s, line %u: ", what, line);
    if (shorter_before || shorter_now) {
        str_addf(out, "the %s ends there, the %s goes on",
            shorter_now ? "text now" : "recorded one", shorter_now ? "recorded one" : "text now");
        return true;
    }
    str_add(out, "recorded ");
    show_line(out, a);
    str_add(out, ", now ");
    show_line(out, b);
    return true;
}

static bool differing_messages(struct str *out, const json_t *recorded, const json_t *now)
{
    const size_t nr_recorded = json_array_size(recorded), nr_now = json_array_size(now);

    for (size_t i = 0; i < nr_recorded && i < nr_now; i++) {
        const json_t *a = json_array_get(recorded, i), *b = json_array_get(now, i);
        char what[64];
        snprintf(what, sizeof(what), "message %zu (%.12s)", i + 1, json_text(b, "role"));
        if (differing_line(out, what, json_text(a, "text"), json_text(b, "text")))
            return true;
        if (!json_equal(a, b)) {
            str_addf(out, "%s, in its role, calls or marks", what);
            return true;
        }
    }
    if (nr_recorded != nr_now)
        str_addf(out, "the number of messages: recorded %zu, now %zu", nr_recorded, nr_now);
    return nr_recorded != nr_now;
}

static void describe(struct str *out, const json_t *recorded, json_t *now)
{
    const char *member;
    json_t *value;

    if (differing_messages(
            out, json_object_get(recorded, "messages"), json_object_get(now, "messages")))
        return;
    json_object_foreach(now, member, value)
    {
        const json_t *other = json_object_get(recorded, member);
        char *a = json_dumps(other, JSON_ENCODE_ANY), *b = json_dumps(value, JSON_ENCODE_ANY);
        const bool differs = differing_line(out, member, a ? a : "nothing", b ? b : "nothing");
        free(a);
        free(b);
        if (differs)
            return;
    }
}

static void fail_changed(struct llm_call *call, json_t *now)
{
    const struct replay *replay = call->llm->replay;
    const char *purpose = call->request.purpose;
    struct str out = {0};
    const struct record_line *same = NULL;

    for (size_t i = 0; i < replay->nr && !same; i++)
        if (replay->entries[i].number == call->number &&
            !strcmp(replay->entries[i].purpose, purpose))
            same = &replay->entries[i];
    if (same) {
        describe(&out, same->request, now);
        llm_call_fail(call, "%s %u differs from the recording: %s", purpose, call->number,
            out.len ? out.text : "it was given already");
    } else {
        llm_call_fail(call, "the recording has no %s %u", purpose, call->number);
    }
    call->reply.is_final = true;
    str_finish(&out);
}

/* ---- giving replies ---- */

/* The recorded line with the same request. Of several, the one at the same place; else the first
 * that was not given yet. */
static struct record_line *find(struct replay *replay, const char *hash, uint64_t started)
{
    struct record_line *found = NULL;

    for (size_t i = 0; i < replay->nr; i++) {
        struct record_line *entry = &replay->entries[i];
        if (entry->is_used || strcmp(entry->hash, hash))
            continue;
        if (entry->started == started)
            return entry;
        if (!found || entry->started < found->started)
            found = entry;
    }
    return found;
}

static const char *text_of(struct llm_call *call, const json_t *object, const char *member)
{
    return arena_strdup(call->arena, json_text(object, member));
}

static void read_calls(struct llm_call *call, const json_t *calls)
{
    struct llm_tool_call *out = arena_array(call->arena, json_array_size(calls) + 1, sizeof(*out));
    const json_t *item;
    size_t i;

    json_array_foreach(calls, i, item) out[i] =
        (struct llm_tool_call){.id = text_of(call, item, "id"),
            .name = text_of(call, item, "name"),
            .arguments_json = text_of(call, item, "arguments")};
    call->reply.calls = out;
    call->reply.nr_calls = (unsigned)json_array_size(calls);
}

static double real(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(object, member));
}

static void read_reply(struct llm_call *call, const json_t *json)
{
    struct llm_reply *r = &call->reply;
    const char *outcome = json_text(json, "outcome");

    r->outcome = LLM_FAILED;
    for (enum llm_outcome o = LLM_OK; o <= LLM_FAILED; o++)
        if (!strcmp(outcome, llm_outcome_name(o)))
            r->outcome = o;
    r->text = text_of(call, json, "text");
    r->error = text_of(call, json, "error");
    r->model = text_of(call, json, "model");
    r->is_final = json_is_true(json_object_get(json, "final"));
    r->tokens_estimated = json_is_true(json_object_get(json, "estimated"));
    r->tokens_in = json_uint(json, "in");
    r->tokens_out = json_uint(json, "out");
    r->tokens_cached = json_uint(json, "cached");
    r->tokens_cache_written = json_uint(json, "cache_written");
    r->lost_in = json_uint(json, "lost_in");
    r->lost_out = json_uint(json, "lost_out");
    r->attempts = (unsigned)json_uint(json, "attempts");
    r->latency_ms = real(json, "latency_ms");
    r->first_byte_ms = real(json, "first_byte_ms");
    r->waited_ms = real(json, "waited_ms");
    r->queued_ms = real(json, "queued_ms");
    read_calls(call, json_object_get(json, "calls"));
}

static void replay_start(struct llm_call *call)
{
    json_t *request = request_json(call);
    char hex[HASH_HEX_BYTES];
    struct record_line *entry;

    request_hash(request, hex);
    entry = find(call->llm->replay, hex, call->started);
    if (entry) {
        entry->is_used = true;
        read_reply(call, entry->reply);
        call->order = entry->line;
        call->after_started = json_uint(entry->root, "after_started");
        call->after_moment = json_uint(entry->root, "after_moment");
    } else {
        fail_changed(call, request);
    }
    json_decref(request);
    llm_call_finish(call);
}

const struct llm_kind llm_replay_kind = {.prefix = "replay:",
    .has_tools = true,
    .open = replay_open,
    .start = replay_start,
    .close = replay_close};
