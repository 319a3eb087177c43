/* Owns the form of messages. */
#include "mcp/mcp_message.h"

#include "base/fd.h"
#include "llm/llm_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define META "io.modelcontextprotocol/"

static bool is_id(const json_t *id)
{
    return json_is_string(id) || json_is_integer(id);
}

static json_t *object_in(const json_t *object, const char *member)
{
    json_t *value = json_object_get(object, member);

    return json_is_object(value) ? value : NULL;
}

bool mcp_request_read(
    struct mcp_request *request, const char *line, size_t len, enum mcp_code *code, struct err *err)
{
    const char *why;
    json_t *id, *method, *params, *token;

    *request = (struct mcp_request){.message = json_from_bytes(line, len, &why)};
    *code = MCP_PARSE;
    if (!request->message)
        return err_set(err, "a line is no message: %s", why);
    *code = MCP_INVALID_REQUEST;
    id = json_object_get(request->message, "id");
    method = json_object_get(request->message, "method");
    params = json_object_get(request->message, "params");
    if (!method &&
        (json_object_get(request->message, "result") || json_object_get(request->message, "error")))
        return true;
    if (id && !is_id(id))
        return err_set(err, "id must be a string or an integer");
    request->id = id;
    if (strcmp(json_text(request->message, "jsonrpc"), "2.0") != 0)
        return err_set(err, "jsonrpc must be \"2.0\"");
    if (!json_is_string(method))
        return err_set(err, "method is missing");
    if (params && !json_is_object(params))
        return err_set(err, "params must be an object");
    request->method = json_string_value(method);
    request->params = params;
    request->meta = object_in(params, "_meta");
    token = json_object_get(request->meta, "progressToken");
    request->token = is_id(token) ? token : NULL;
    request->version = json_string_value(json_object_get(request->meta, META "protocolVersion"));
    return true;
}

void mcp_request_finish(struct mcp_request *request)
{
    json_decref(request->message);
    *request = (struct mcp_request){0};
}

static bool send_message(json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(6));
    size_t len;
    bool ok;

    json_decref(message);
    if (!text)
        return false;
    len = strlen(text);
    text[len] = '\n';
    ok = fd_write(STDOUT_FILENO, text, len + 1);
    free(text);
    return ok;
}

/* The id, or null where the request's is not known. */
static json_t *shared(const json_t *value)
{
    return value ? json_incref((json_t *)(uintptr_t)value) : json_null();
}

bool mcp_send_result(const json_t *id, bool modern, const char *program_version, json_t *result)
{
    if (modern) {
        json_object_set_new(result, "resultType", json_string("complete"));
        json_object_set_new(result, "_meta",
            json_pack("{s:{s:s, s:s}}", META "serverInfo", "name", "keet-opt", "version",
                program_version));
    }
    return send_message(
        json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", shared(id), "result", result));
}

bool mcp_send_error(const json_t *id, enum mcp_code code, const char *text, json_t *data)
{
    json_t *said = json_from_text(text);
    json_t *error = json_pack("{s:i, s:o}", "code", (int)code, "message", said);

    if (data)
        json_object_set_new(error, "data", data);
    return send_message(
        json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", shared(id), "error", error));
}

bool mcp_send_notification(const char *method, json_t *params)
{
    return send_message(
        json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params));
}
