/* Owns endpoints over HTTP: their addresses and headers, and what becomes of each answer. */
#include "base/mem.h"
#include "base/secret.h"
#include "llm/http.h"
#include "llm/llm_call.h"
#include "llm/llm_json.h"
#include "llm/llm_wire.h"
#include "llm/sse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_BODY_BYTES = 64 << 10, SAID_BYTES = 300, WHOLE_FACTOR = 8, STREAM_FACTOR = 32 };

struct remote {
    const struct wire *wire;
    char *url, *model;
    char *headers[HTTP_MAX_HEADERS]; /* by secret_alloc */
    unsigned nr_headers;
    atomic_uint flags; /* WITHOUT_...: what the endpoint has refused so far */
    struct http *http;
};

/* One call on its way through HTTP. The exchange is the first member, so that `of` can cast it. */
struct remote_call {
    struct http_exchange x;
    struct llm_call *call;
    char *body;
    unsigned flags; /* which the body was made with */
    struct reading reading;
    struct str raw; /* the body of an answer in one piece, or of an error */
    struct sse sse;
    bool is_stream, is_over;
};

static struct remote_call *of(struct http_exchange *x)
{
    return (struct remote_call *)x;
}

/* ---- addresses ---- */

static const struct wire *const wires[] = {&wire_chat, &wire_responses, &wire_messages};

/* The address of a base, which ends before the #. The path's end says which protocol it is; a path
 * without such an end gets that of *wire. */
static char *make_url(const char *base, const struct wire **wire)
{
    const size_t path_len = strcspn(base, "?");
    char *path = xstrdup(base);
    struct str url = {0};
    size_t len = path_len;
    bool is_whole = false;

    path[path_len] = '\0';
    while (len && path[len - 1] == '/')
        path[--len] = '\0';
    for (unsigned i = 0; i < ARRAY_SIZE(wires); i++)
        if (str_ends(path, wires[i]->path)) {
            *wire = wires[i];
            is_whole = true;
        }
    str_addf(&url, "%s%s%s", path, is_whole ? "" : (*wire)->path, base + path_len);
    free(path);
    return str_take(&url);
}

static bool check_address(const char *url, struct err *err)
{
    const char *host = strstr(url, "://");
    const size_t len = host ? strcspn(host + 3, "/?#") : 0;

    if (!len)
        return err_set(err, "expected http://host:port/v1#NAME");
    if (memchr(host + 3, '@', len))
        return err_set(err, "no user name or password in an address; set KEET_API_KEY instead");
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p > '~')
            return err_set(err, "the address holds a blank or a letter that is not ASCII");
    return true;
}

static void add_header(struct remote *remote, const char *name, const char *before, const char *v)
{
    const size_t bytes = strlen(name) + strlen(before) + strlen(v) + sizeof(": ");
    char *line = secret_alloc(bytes);

    snprintf(line, bytes, "%s: %s%s", name, before, v);
    remote->headers[remote->nr_headers++] = line;
}

static bool open_at(struct llm *llm, const char *base, const char *name, const struct wire *wire,
    const char *key, struct err *err)
{
    struct remote *remote = llm->remote = xcalloc(1, sizeof(*remote));

    if (!*name)
        return err_set(err, "expected the model's name at the end");
    if (!check_address(base, err))
        return false;
    remote->wire = wire;
    remote->model = xstrdup(name);
    remote->url = make_url(base, &remote->wire);
    add_header(remote, "Content-Type", "", "application/json");
    add_header(remote, "Accept", "", "text/event-stream, application/json");
    if (remote->wire == &wire_messages)
        add_header(remote, "anthropic-version", "", "2023-06-01");
    if (key && remote->wire == &wire_messages)
        add_header(remote, "x-api-key", "", key);
    else if (key)
        add_header(remote, "Authorization", "Bearer ", key);
    remote->http = http_create(llm->limits.seed, err);
    return remote->http != NULL;
}

static const char *env_or(const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

static bool need_key(
    const char *key, const char *base, const char *own, const char *name, struct err *err)
{
    if (key || strcmp(base, own))
        return true;
    return err_set(err, "no key: set %s, or %s_FILE to a file that holds it", name, name);
}

static bool anthropic_open(struct llm *llm, const char *rest, struct err *err)
{
    static const char own[] = "https://api.anthropic.com";
    const char *base = env_or("ANTHROPIC_BASE_URL", own), *key;
    struct str url = {0};
    bool ok;

    /* Anthropic's own programs take the variable without /v1. */
    str_add(&url, base);
    while (url.len && url.text[url.len - 1] == '/')
        url.text[--url.len] = '\0';
    if (!str_ends(url.text, "/messages") && !str_ends(url.text, "/v1"))
        str_add(&url, "/v1");
    ok = secrets_read(&llm->secrets, VENDOR_ANTHROPIC, &key, err) &&
         need_key(key, base, own, "ANTHROPIC_API_KEY", err) &&
         open_at(llm, url.text, rest, &wire_messages, key, err);
    str_finish(&url);
    return ok;
}

static bool openai_open(struct llm *llm, const char *rest, struct err *err)
{
    static const char own[] = "https://api.openai.com/v1";
    const char *base = env_or("OPENAI_BASE_URL", own), *key;

    return secrets_read(&llm->secrets, VENDOR_OPENAI, &key, err) &&
           need_key(key, base, own, "OPENAI_API_KEY", err) &&
           open_at(llm, base, rest, &wire_responses, key, err);
}

static bool url_open(struct llm *llm, const char *rest, struct err *err)
{
    const char *hash = strchr(llm->spec, '#'), *key;
    char *base;
    bool ok;

    if (!hash)
        return err_set(err, "expected #NAME of the model at the end, as in http://host/v1#NAME");
    base = xstrdup(llm->spec);
    base[hash - llm->spec] = '\0';
    ok = secrets_read(&llm->secrets, VENDOR_NONE, &key, err) &&
         open_at(llm, base, hash + 1, &wire_chat, key, err);
    free(base);
    return ok;
}

static void remote_close(struct llm *llm)
{
    struct remote *remote = llm->remote;

    if (!remote)
        return;
    http_destroy(remote->http);
    for (unsigned i = 0; i < remote->nr_headers; i++)
        secret_free(remote->headers[i]);
    free(remote->url);
    free(remote->model);
    free(remote);
}

static void remote_wake(struct llm *llm)
{
    if (llm->remote && llm->remote->http)
        http_stop(llm->remote->http);
}

/* ---- reading ---- */

static bool is_success(const struct http_exchange *x)
{
    return x->status >= 200 && x->status < 300;
}

/* Servers behind gateways give streams many content types. The first bytes tell. */
static bool looks_like_stream(const struct http_exchange *x, const char *bytes, size_t len)
{
    if (str_starts(x->content_type, "text/event-stream"))
        return true;
    return (len >= 5 && !memcmp(bytes, "data:", 5)) || (len >= 6 && !memcmp(bytes, "event:", 6)) ||
           (len >= 1 && bytes[0] == ':');
}

static void read_event(struct remote_call *rc, const struct sse_event *event)
{
    const char *why;
    json_t *data;

    if (!strcmp(event->data, "[DONE]")) {
        rc->reading.has_ended = true;
        return;
    }
    if (!event->data_bytes)
        return;
    data = json_from_bytes(event->data, event->data_bytes, &why);
    if (data)
        rc->call->llm->remote->wire->event(&rc->reading, data);
    else
        rc->reading.is_broken = true;
    json_decref(data);
}

static bool take_stream(struct remote_call *rc, const char *bytes, size_t len)
{
    const size_t max = rc->call->llm->limits.reply_bytes;
    struct sse_event event;

    sse_push(&rc->sse, bytes, len);
    while (sse_next(&rc->sse, &event))
        read_event(rc, &event);
    rc->is_over = reading_bytes(&rc->reading) > max || rc->x.body_got > max * STREAM_FACTOR;
    return !rc->is_over;
}

static bool on_take(struct http_exchange *x, const char *bytes, size_t len)
{
    struct remote_call *rc = of(x);
    const size_t max = is_success(x)
                           ? rc->call->llm->limits.reply_bytes * WHOLE_FACTOR + ERROR_BODY_BYTES
                           : ERROR_BODY_BYTES;

    if (x->body_got == len)
        rc->is_stream = is_success(x) && looks_like_stream(x, bytes, len);
    if (rc->is_stream)
        return take_stream(rc, bytes, len);
    if (rc->raw.len + len > max) {
        rc->is_over = true;
        return false;
    }
    str_add_n(&rc->raw, bytes, len);
    return true;
}

static void clear(struct remote_call *rc)
{
    reading_clear(&rc->reading);
    str_finish(&rc->raw);
    sse_finish(&rc->sse);
    rc->is_stream = rc->is_over = false;
}

static void make_body(struct remote_call *rc)
{
    struct remote *remote = rc->call->llm->remote;
    const struct wire_request in = {.request = &rc->call->request,
        .model = remote->model,
        .stream = !rc->call->llm->limits.whole,
        .flags = atomic_load(&remote->flags)};
    json_t *body = remote->wire->body(&in);

    free(rc->body);
    rc->body = json_dumps(body, JSON_COMPACT);
    rc->flags = in.flags;
    rc->x.body = rc->body;
    rc->x.body_bytes = strlen(rc->body);
    json_decref(body);
}

static void on_begin(struct http_exchange *x)
{
    struct remote_call *rc = of(x);

    clear(rc);
    if (!rc->body || rc->flags != atomic_load(&rc->call->llm->remote->flags))
        make_body(rc);
}

/* ---- judging ---- */

/* What the body of an error says, in one line; "": nothing. */
static const char *what_it_said(struct remote_call *rc)
{
    struct arena *arena = rc->call->arena;
    const char *why, *text, *raw = str_text(&rc->raw);
    json_t *root, *detail;
    char *copy;

    if (str_starts(raw, "data:")) /* some refuse a stream in a stream */
        raw += strlen("data:");
    root = json_from_bytes(raw, strcspn(raw, "\n"), &why);
    if (!root)
        root = json_from_bytes(raw, strlen(raw), &why);

    if (root && json_object_get(root, "error")) {
        reading_set_error(&rc->reading, json_object_get(root, "error"));
        text = str_text(&rc->reading.error);
    } else {
        detail = json_object_get(root, "detail");
        text = root ? json_text(root, json_is_string(detail) ? "detail" : "message") : raw;
    }
    copy = utf8_repair(arena, text, strnlen(text, SAID_BYTES));
    json_decref(root);
    for (char *p = copy; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = ' ';
    return copy;
}

static const char *hint(long status)
{
    switch (status) {
    case 401:
    case 403:
        return "; is the key right?";
    case 404:
        return "; are the address and the model's name right?";
    default:
        return status >= 300 && status < 400 ? "; redirects are not followed, give the new address"
                                             : "";
    }
}

/* The flag of the parameter that the endpoint names as it refuses it; 0: none. */
static unsigned refused_parameter(const struct remote_call *rc, const char *said)
{
    static const struct {
        const char *name;
        unsigned flag;
    } parameters[] = {{"max_completion_tokens", WITH_MAX_COMPLETION_TOKENS},
        {"temperature", WITHOUT_TEMPERATURE}, {"stream_options", WITHOUT_STREAM_OPTIONS},
        {"cache_control", WITHOUT_CACHE_CONTROL}, {"seed", WITHOUT_SEED}, {"store", WITHOUT_STORE},
        {"reasoning", WITHOUT_EFFORT}, {"output_config", WITHOUT_EFFORT}};

    for (unsigned i = 0; i < ARRAY_SIZE(parameters); i++)
        if (strstr(said, parameters[i].name) && !(rc->flags & parameters[i].flag) &&
            (parameters[i].flag == WITH_MAX_COMPLETION_TOKENS ||
                strstr(rc->body, parameters[i].name)))
            return parameters[i].flag;
    return 0;
}

static enum http_next judge_status(struct remote_call *rc)
{
    struct http_exchange *x = &rc->x;
    const char *said = what_it_said(rc);
    const bool no_money = !strcmp(str_text(&rc->reading.error_code), "insufficient_quota");
    unsigned flag;

    llm_call_fail(rc->call, "the endpoint answered with status %ld%s%s%s", x->status,
        *said ? ": " : "", said, hint(x->status));
    if (x->status == 400 || x->status == 422) {
        flag = refused_parameter(rc, said);
        if (flag) {
            atomic_fetch_or(&rc->call->llm->remote->flags, flag);
            return HTTP_RETRY_NOW;
        }
        return HTTP_DONE; /* another request may pass: this one may be too long */
    }
    if (http_is_transient(x) && !no_money)
        return HTTP_RETRY;
    rc->call->reply.is_final = x->status != 413;
    return HTTP_DONE;
}

static bool is_transient_code(const char *code)
{
    static const char *const parts[] = {
        "overload", "rate_limit", "server", "api_error", "timeout", "internal", "unavailable"};

    for (unsigned i = 0; i < ARRAY_SIZE(parts); i++)
        if (strcasestr(code, parts[i]))
            return true;
    return strlen(code) == 3 && (code[0] == '5' || !strcmp(code, "429") || !strcmp(code, "408"));
}

static enum http_next again(struct remote_call *rc, const char *error)
{
    llm_call_fail(rc->call, "%s", error);
    return HTTP_RETRY;
}

static enum http_next judge_error(struct remote_call *rc)
{
    const bool is_transient = is_transient_code(str_text(&rc->reading.error_code));

    llm_call_fail(
        rc->call, "the endpoint reported an error: %.*s", SAID_BYTES, str_text(&rc->reading.error));
    return is_transient ? HTTP_RETRY : HTTP_DONE;
}

/* The reply is whole, or no more of it will come. */
static enum http_next accept(struct remote_call *rc)
{
    static const enum llm_outcome outcomes[] = {[FINISH_NONE] = LLM_OK,
        [FINISH_DONE] = LLM_OK,
        [FINISH_LENGTH] = LLM_TRUNCATED,
        [FINISH_REFUSED] = LLM_REFUSED};

    rc->call->reply.outcome = outcomes[rc->reading.finish];
    rc->call->reply.error = "";
    /* Some servers (llama.cpp's responses) say that an answer is complete when the limit has cut
     * it. */
    if (rc->reading.finish == FINISH_DONE && rc->reading.tokens_out == rc->call->request.max_tokens)
        rc->call->reply.outcome = LLM_TRUNCATED;
    if (rc->is_over || reading_bytes(&rc->reading) > rc->call->llm->limits.reply_bytes)
        rc->call->reply.outcome = LLM_TRUNCATED;
    return HTTP_DONE;
}

static enum http_next judge_over(struct remote_call *rc)
{
    if (reading_bytes(&rc->reading))
        return accept(rc);
    llm_call_fail(rc->call, "the answer is longer than %zu bytes and was broken off",
        rc->call->llm->limits.reply_bytes);
    return HTTP_DONE;
}

static enum http_next judge_whole(struct remote_call *rc)
{
    const char *why;
    json_t *root = json_from_bytes(str_text(&rc->raw), rc->raw.len, &why);

    if (!root) {
        llm_call_fail(rc->call, "the endpoint answered with %s that cannot be read: %s",
            *rc->x.content_type ? rc->x.content_type : "something", why);
        return HTTP_RETRY;
    }
    rc->call->llm->remote->wire->whole(&rc->reading, root);
    json_decref(root);
    if (rc->reading.has_error)
        return judge_error(rc);
    if (rc->reading.has_shape)
        return accept(rc);
    llm_call_fail(rc->call,
        "the endpoint answered with JSON of another protocol than %s; is the "
        "address right?",
        rc->call->llm->remote->wire->path);
    rc->call->reply.is_final = true;
    return HTTP_DONE;
}

static enum http_next judge_stream(struct remote_call *rc)
{
    const struct reading *reading = &rc->reading;
    struct sse_event event;

    sse_end(&rc->sse);
    while (!rc->is_over && sse_next(&rc->sse, &event))
        read_event(rc, &event);
    if (rc->is_over)
        return judge_over(rc);
    if (reading->has_error)
        return judge_error(rc);
    if (reading->is_broken)
        return again(rc, "a piece of the streamed answer was no JSON");
    if (reading->has_shape && (reading->finish != FINISH_NONE || reading->has_ended))
        return accept(rc);
    return again(rc, rc->x.fault[0] ? rc->x.fault : "the streamed answer was cut off");
}

static enum http_next judge(struct remote_call *rc)
{
    const struct http_exchange *x = &rc->x;

    if (x->is_given_up) {
        llm_call_fail(rc->call, "%s", x->fault);
        return HTTP_DONE;
    }
    if (rc->is_stream)
        return judge_stream(rc); /* a fault after the last piece does no harm */
    if (x->fault[0]) {
        llm_call_fail(rc->call, "%s", x->fault);
        rc->call->reply.is_final = x->is_fault_final;
        return http_is_transient(x) ? HTTP_RETRY : HTTP_DONE;
    }
    if (!is_success(x))
        return judge_status(rc);
    return rc->is_over ? judge_over(rc) : judge_whole(rc);
}

static enum http_next on_judge(struct http_exchange *x)
{
    struct remote_call *rc = of(x);
    enum http_next next;

    rc->call->reply.is_final = false;
    next = judge(rc);
    if (rc->call->reply.outcome == LLM_FAILED && is_success(x) && x->body_got) {
        rc->call->reply.lost_in += llm_estimate_in(&rc->call->request);
        rc->call->reply.lost_out += (reading_bytes(&rc->reading) + 3) / 4;
    }
    return next;
}

/* ---- the end ---- */

static void fill_text(struct llm_call *call, struct reading *reading)
{
    struct arena *arena = call->arena;
    const size_t max = call->llm->limits.reply_bytes;
    struct llm_tool_call *calls = arena_array(arena, reading->nr_calls + 1, sizeof(*calls));

    call->reply.text = utf8_repair(
        arena, str_text(&reading->text), reading->text.len < max ? reading->text.len : max);
    for (unsigned i = 0; i < reading->nr_calls; i++)
        calls[i] =
            (struct llm_tool_call){.id = arena_strdup(arena, str_text(&reading->calls[i].id)),
                .name = arena_strdup(arena, str_text(&reading->calls[i].name)),
                .arguments_json = arena_strdup(arena, str_text(&reading->calls[i].arguments))};
    call->reply.calls = calls;
    call->reply.nr_calls = reading->nr_calls;
}

static void fill(struct llm_call *call, struct reading *reading)
{
    struct llm_reply *reply = &call->reply;

    reply->model = arena_strdup(
        call->arena, reading->model.len ? str_text(&reading->model) : call->llm->remote->model);
    if (reply->outcome == LLM_FAILED)
        return;
    fill_text(call, reading);
    reply->tokens_in = reading->tokens_in;
    reply->tokens_out = reading->tokens_out;
    reply->tokens_cached = reading->tokens_cached;
    reply->tokens_cache_written = reading->tokens_cache_written;
}

static void on_finished(struct http_exchange *x)
{
    struct remote_call *rc = of(x);
    struct llm_call *call = rc->call;
    struct llm_reply *reply = &call->reply;

    fill(call, &rc->reading);
    reply->attempts = x->attempts;
    reply->waited_ms = x->waited_ms;
    reply->first_byte_ms = x->first_byte_ms;
    if (reply->outcome == LLM_FAILED && x->attempts > 1)
        llm_call_fail(call, "%s (%u attempts)", reply->error, x->attempts);
    clear(rc);
    free(rc->body);
    free(rc);
    llm_call_finish(call);
}

static void remote_start(struct llm_call *call)
{
    static const struct http_owner owner = {
        .begin = on_begin, .take = on_take, .judge = on_judge, .finished = on_finished};
    const struct remote *remote = call->llm->remote;
    struct remote_call *rc = xcalloc(1, sizeof(*rc));

    rc->call = call;
    rc->x.owner = &owner;
    rc->x.limits = &call->llm->limits;
    rc->x.url = remote->url;
    for (unsigned i = 0; i < remote->nr_headers; i++)
        rc->x.headers[i] = remote->headers[i];
    http_send(remote->http, &rc->x);
}

#define REMOTE_KIND(start_of_spec, function)                                                       \
    {                                                                                              \
        .prefix = start_of_spec, .has_tools = true, .open = function, .start = remote_start,       \
        .wake = remote_wake, .close = remote_close                                                 \
    }
const struct llm_kind llm_anthropic_kind = REMOTE_KIND("anthropic:", anthropic_open);
const struct llm_kind llm_openai_kind = REMOTE_KIND("openai:", openai_open);
const struct llm_kind llm_http_kind = REMOTE_KIND("http://", url_open);
const struct llm_kind llm_https_kind = REMOTE_KIND("https://", url_open);
