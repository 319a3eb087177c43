/* Owns the server: what comes in on standard input, and the calls under way. */
#include "mcp/mcp.h"

#include "base/file.h"
#include "base/share.h"
#include "base/str.h"
#include "llm/llm_json.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_message.h"
#include "mcp/mcp_texts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINE_BYTES = 8 << 20, MOST_JOBS = 16, MOST_WAITING = 64, TICK_MS = 50, IDLE_MS = 500 };
enum { FRESH_MS = 3600000 }; /* how long a client may keep lists */

#define CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static volatile sig_atomic_t interrupted;

struct server {
    const struct mcp_options *options;
    char *root, *program; /* the folder; the path of this program */
    char scratch[256];
    unsigned nr_scratch, jobs;
    bool initialised; /* a client of an older revision */
    struct mcp_call *calls;
    struct str input; /* the beginning of a line */
    bool skipping;    /* the rest of a line that was too long */
    bool broken;      /* standard output is gone */
};

void mcp_interrupt(void)
{
    interrupted = 1;
}

static void note(struct server *server, bool sent)
{
    server->broken = server->broken || !sent;
}

/* ---- the small answers ---- */

static json_t *capabilities(void)
{
    return json_pack("{s:{}, s:{}, s:{}}", "tools", "resources", "prompts");
}

/* Lists do not change while the program runs. */
static json_t *cacheable(const char *name, json_t *value)
{
    return json_pack(
        "{s:o, s:i, s:s}", name, value, "ttlMs", (int)FRESH_MS, "cacheScope", "public");
}

static json_t *initialise(struct server *server, const struct mcp_request *request)
{
    static const char *const versions[] = {
        "2024-11-05", "2025-03-26", "2025-06-18", MCP_VERSION_BEFORE, NULL};
    const char *wanted = json_text(request->params, "protocolVersion");

    server->initialised = true;
    return json_pack("{s:s, s:o, s:{s:s, s:s, s:s}, s:s}", "protocolVersion",
        str_among(wanted, versions) ? wanted : MCP_VERSION_BEFORE, "capabilities", capabilities(),
        "serverInfo", "name", "keet-opt", "title", "keet-opt", "version", server->options->version,
        "instructions", mcp_instructions);
}

static json_t *discover(void)
{
    json_t *result = cacheable("supportedVersions", json_pack("[s]", MCP_VERSION));

    json_object_set_new(result, "capabilities", capabilities());
    json_object_set_new(result, "instructions", json_string(mcp_instructions));
    return result;
}

static json_t *read_resource(
    const struct mcp_request *request, enum mcp_code *code, struct err *err)
{
    bool unknown;
    json_t *contents = mcp_resource_read(json_text(request->params, "uri"), &unknown, err);

    *code = !unknown           ? MCP_INTERNAL
            : request->version ? MCP_INVALID_PARAMS
                               : MCP_NO_RESOURCE_BEFORE;
    return contents ? cacheable("contents", contents) : NULL;
}

/* The acknowledgement says that there is nothing to subscribe to; the stream stays silent. */
static void listen_to_nothing(struct server *server, const struct mcp_request *request)
{
    note(server, mcp_send_notification("notifications/subscriptions/acknowledged",
                     json_pack("{s:{s:O}, s:{}}", "_meta", "io.modelcontextprotocol/subscriptionId",
                         request->id, "notifications")));
}

/* ---- calls ---- */

static unsigned nr_calls(const struct server *server)
{
    unsigned nr = 0;

    for (const struct mcp_call *call = server->calls; call; call = call->next)
        nr++;
    return nr;
}

static struct mcp_call *make_call(struct server *server, const struct mcp_request *request)
{
    struct arena *arena = arena_create();
    struct mcp_call *call = arena_alloc(arena, sizeof(*call));

    *call = (struct mcp_call){.arena = arena,
        .id = json_incref(request->id),
        .token = json_incref(request->token),
        .modern = request->version != NULL,
        .program = server->program,
        .progress = -1,
        .cage = {.root = server->root,
            .scratch = arena_printf(arena, "%s/%u", server->scratch, server->nr_scratch++),
            .readable = server->options->readable,
            .writable = server->options->writable}};
    return call;
}

/* Puts the call behind the others. An answer that needs no process is sent at once. */
static void call_tool(struct server *server, const struct mcp_request *request)
{
    const char *name = json_text(request->params, "name");
    const struct mcp_tool *tool = mcp_tool_find(name);
    const json_t *arguments = json_object_get(request->params, "arguments");
    struct mcp_call *call, **at = &server->calls;
    struct err err;
    bool ok;

    if (!tool || (arguments && !json_is_object(arguments))) {
        err_set(&err, tool ? "arguments must be an object" : "there is no tool %.200s", name);
        note(server, mcp_send_error(request->id, MCP_INVALID_PARAMS, err.text, NULL));
        return;
    }
    call = make_call(server, request);
    ok = nr_calls(server) < MOST_WAITING ||
         err_set(&err, "%d calls are under way; wait for one, or cancel one", (int)MOST_WAITING);
    ok = ok && (mkdir(call->cage.scratch, 0700) == 0 || err_errno(&err, "%s", call->cage.scratch));
    if (ok) {
        const struct mcp_place place = {
            call->arena, server->root, call->cage.scratch, server->options->words};

        ok = mcp_command_make(&call->command, tool, arguments, &place, &err);
    }
    if (!ok) {
        note(server, mcp_send_result(request->id, call->modern, server->options->version,
                         mcp_failure(err.text)));
        mcp_call_destroy(call);
        return;
    }
    while (*at)
        at = &(*at)->next;
    *at = call;
}

static void cancel(struct server *server, const struct mcp_request *request)
{
    const json_t *id = json_object_get(request->params, "requestId");

    for (struct mcp_call *call = server->calls; call; call = call->next)
        if (json_equal(call->id, id))
            mcp_call_cancel(call);
}

static void step_calls(struct server *server)
{
    unsigned nr_working = 0;

    for (struct mcp_call **at = &server->calls; *at;) {
        struct mcp_call *call = *at;
        bool sent = true, ended = mcp_call_step(call, &sent);
        json_t *result = NULL;
        struct err err;

        if (!ended && !call->working && nr_working < server->jobs) {
            ended = !mcp_call_start(call, &err);
            result = ended ? mcp_failure(err.text) : NULL;
        }
        nr_working += !ended && call->working;
        note(server, sent);
        if (!ended) {
            at = &call->next;
            continue;
        }
        *at = call->next;
        if (!call->cancelled)
            note(server, mcp_send_result(call->id, call->modern, server->options->version,
                             result ? result : mcp_call_result(call)));
        mcp_call_destroy(call);
    }
}

/* ---- requests ---- */

/* May the request be answered? The newest revision has its version in each request, older ones
 * begin with `initialize`. */
static bool admit(const struct server *server, const struct mcp_request *request,
    enum mcp_code *code, json_t **data, struct err *err)
{
    *code = MCP_INVALID_PARAMS;
    *data = NULL;
    if (strcmp(request->method, "initialize") == 0 || strcmp(request->method, "ping") == 0)
        return true;
    if (!request->version)
        return server->initialised ||
               err_set(err,
                   "the request says no version: _meta needs "
                   "io.modelcontextprotocol/protocolVersion, as " MCP_VERSION
                   " has it; clients of " MCP_VERSION_BEFORE " and before send initialize first");
    if (strcmp(request->version, MCP_VERSION) != 0) {
        *code = MCP_UNSUPPORTED_VERSION;
        *data = json_pack("{s:[s], s:s}", "supported", MCP_VERSION, "requested", request->version);
        return err_set(err, "Unsupported protocol version");
    }
    return json_is_object(json_object_get(request->meta, CAPABILITIES)) ||
           err_set(err, "_meta needs " CAPABILITIES ", an object");
}

/* The result of a method that needs no process; NULL: *code and err. */
static json_t *answer(
    struct server *server, const struct mcp_request *request, enum mcp_code *code, struct err *err)
{
    const char *method = request->method;
    json_t *arguments = json_object_get(request->params, "arguments");

    *code = MCP_INVALID_PARAMS;
    if (strcmp(method, "initialize") == 0)
        return initialise(server, request);
    if (strcmp(method, "ping") == 0)
        return json_object();
    if (strcmp(method, "server/discover") == 0)
        return discover();
    if (strcmp(method, "tools/list") == 0)
        return cacheable("tools", mcp_tools_list());
    if (strcmp(method, "resources/list") == 0)
        return cacheable("resources", mcp_resources_list());
    if (strcmp(method, "resources/templates/list") == 0)
        return cacheable("resourceTemplates", mcp_templates_list());
    if (strcmp(method, "resources/read") == 0)
        return read_resource(request, code, err);
    if (strcmp(method, "prompts/list") == 0)
        return cacheable("prompts", mcp_prompts_list());
    if (strcmp(method, "prompts/get") == 0)
        return mcp_prompt_get(json_text(request->params, "name"), arguments, err);
    *code = MCP_NO_METHOD;
    err_set(err, "there is no method %.200s", method);
    return NULL;
}

static void serve_request(struct server *server, const struct mcp_request *request)
{
    enum mcp_code code;
    struct err err;
    json_t *data, *result;

    if (!admit(server, request, &code, &data, &err)) {
        note(server, mcp_send_error(request->id, code, err.text, data));
    } else if (strcmp(request->method, "tools/call") == 0) {
        call_tool(server, request);
    } else if (strcmp(request->method, "subscriptions/listen") == 0 && request->version) {
        listen_to_nothing(server, request);
    } else {
        result = answer(server, request, &code, &err);
        note(server, result ? mcp_send_result(request->id, request->version != NULL,
                                  server->options->version, result)
                            : mcp_send_error(request->id, code, err.text, NULL));
    }
}

static bool is_under_way(const struct server *server, const json_t *id)
{
    for (const struct mcp_call *call = server->calls; call; call = call->next)
        if (json_equal(call->id, id))
            return true;
    return false;
}

static void serve_line(struct server *server, const char *line, size_t len)
{
    struct mcp_request request;
    enum mcp_code code;
    struct err err;

    if (strspn(line, " \t\r") >= len)
        return;
    if (!mcp_request_read(&request, line, len, &code, &err))
        note(server, mcp_send_error(request.id, code, err.text, NULL));
    else if (request.method && request.id && is_under_way(server, request.id))
        note(server, mcp_send_error(request.id, MCP_INVALID_REQUEST,
                         "a request with this id is under way", NULL));
    else if (request.method && request.id)
        serve_request(server, &request);
    else if (request.method && strcmp(request.method, "notifications/cancelled") == 0)
        cancel(server, &request);
    mcp_request_finish(&request);
}

/* ---- standard input ---- */

static void serve_bytes(struct server *server, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *end = memchr(bytes, '\n', len);
        const size_t part = end ? (size_t)(end - bytes) : len;

        if (!server->skipping && server->input.len + part > MOST_LINE_BYTES) {
            server->skipping = true;
            note(server,
                mcp_send_error(NULL, MCP_INVALID_REQUEST, "a message has more than 8 MiB", NULL));
        }
        if (!server->skipping)
            str_add_n(&server->input, bytes, part);
        if (end && !server->skipping)
            serve_line(server, str_text(&server->input), server->input.len);
        if (end || server->skipping)
            str_clear(&server->input);
        if (end)
            server->skipping = false;
        bytes += part + (end != NULL);
        len -= part + (end != NULL);
    }
}

/* False: the input has ended. */
static bool read_input(struct server *server)
{
    char bytes[65536];
    const ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));

    if (got > 0)
        serve_bytes(server, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static void serve(struct server *server)
{
    bool goes_on = true;

    while (goes_on && !interrupted && !server->broken) {
        struct pollfd fds[1 + 4 * MOST_JOBS] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        unsigned nr = 1;

        for (const struct mcp_call *call = server->calls; call; call = call->next)
            if (call->working && nr + 4 <= sizeof(fds) / sizeof(fds[0])) {
                nr += mcp_child_poll(&call->work, &fds[nr]);
                nr += mcp_child_poll(&call->look, &fds[nr]);
            }
        if (poll(fds, nr, server->calls ? TICK_MS : IDLE_MS) < 0 && errno != EINTR)
            return;
        if (fds[0].revents)
            goes_on = read_input(server);
        step_calls(server);
    }
}

/* ---- the whole ---- */

static bool open_server(struct server *server, struct err *err)
{
    const char *folder = server->options->folder ? server->options->folder : ".";
    const char *temp = getenv("TMPDIR");
    struct stat st;

    server->root = realpath(folder, NULL);
    server->program = share_binary();
    if (!server->root || stat(server->root, &st) != 0)
        return err_errno(err, "%s", folder);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, "%s is no folder", folder);
    if (!server->program)
        return err_errno(err, "the path of this program");
    for (const char *const *path = server->options->writable; *path; path++)
        if (!file_mkdirs(*path, err))
            return false;
    snprintf(server->scratch, sizeof(server->scratch), "%.200s/keet-mcp-XXXXXX",
        temp && *temp ? temp : "/tmp");
    if (!mkdtemp(server->scratch)) {
        server->scratch[0] = '\0';
        return err_errno(err, "a folder for temporary files");
    }
    return true;
}

bool mcp_serve(const struct mcp_options *options, struct err *err)
{
    struct server server = {.options = options, .jobs = options->jobs ? options->jobs : 2};
    const bool ok = open_server(&server, err);

    if (ok)
        serve(&server);
    while (server.calls) {
        struct mcp_call *call = server.calls;

        server.calls = call->next;
        mcp_call_destroy(call);
    }
    if (server.scratch[0])
        rmdir(server.scratch);
    str_finish(&server.input);
    free(server.root);
    free(server.program);
    return ok && (!server.broken || err_set(err, "standard output is broken"));
}
