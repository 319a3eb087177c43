/* Owns Anthropic's protocol: messages. */
#include "llm/llm_json.h"
#include "llm/llm_wire.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CACHE_MARKS = 4 }; /* the endpoint refuses more */

/* ---- the request ---- */

static void set_text(json_t *object, const char *member, const char *text)
{
    json_object_set_new(object, member, json_from_text(text));
}

static void append_text(json_t *blocks, const char *text)
{
    json_t *block;

    if (!text[strspn(text, " \t\r\n")]) /* blank blocks are refused */
        return;
    block = json_object();
    set_text(block, "type", "text");
    set_text(block, "text", text);
    json_array_append_new(blocks, block);
}

static void append_calls(json_t *blocks, const struct llm_message *message)
{
    for (unsigned i = 0; i < message->nr_calls; i++) {
        json_t *block = json_object();
        set_text(block, "type", "tool_use");
        set_text(block, "id", message->calls[i].id);
        set_text(block, "name", message->calls[i].name);
        json_object_set_new(block, "input", wire_arguments(message->calls[i].arguments_json));
        json_array_append_new(blocks, block);
    }
}

static void append_result(json_t *blocks, const struct llm_message *message)
{
    json_t *block = json_object();

    set_text(block, "type", "tool_result");
    set_text(block, "tool_use_id", message->tool_call_id);
    set_text(block, "content", message->text);
    json_array_append_new(blocks, block);
}

/* The blocks that a message is added to. Roles have to alternate, so that a message of the last
 * one's role joins the last one. Results of tools come from the user. */
static json_t *blocks_for(json_t *messages, const char *role)
{
    json_t *last = json_array_get(messages, json_array_size(messages) - 1), *blocks;

    if (last && !strcmp(json_text(last, "role"), role))
        return json_object_get(last, "content");
    blocks = json_array();
    json_array_append_new(messages, json_pack("{s:s, s:o}", "role", role, "content", blocks));
    return blocks;
}

static void mark_cached(json_t *blocks, const struct wire_request *in, unsigned *nr_marks)
{
    json_t *last = json_array_get(blocks, json_array_size(blocks) - 1);

    if (!last || *nr_marks == MAX_CACHE_MARKS || in->flags & WITHOUT_CACHE_CONTROL)
        return;
    json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
    ++*nr_marks;
}

static void add_messages(json_t *system, json_t *messages, const struct wire_request *in)
{
    unsigned nr_marks = 0;

    for (unsigned i = 0; i < in->request->nr_messages; i++) {
        const struct llm_message *message = &in->request->messages[i];
        const bool is_system = !strcmp(message->role, "system") && !json_array_size(messages);
        const bool is_assistant = !strcmp(message->role, "assistant");
        json_t *blocks =
            is_system ? system : blocks_for(messages, is_assistant ? "assistant" : "user");
        if (!strcmp(message->role, "tool"))
            append_result(blocks, message);
        else
            append_text(blocks, message->text);
        append_calls(blocks, message);
        if (message->stable_until_here)
            mark_cached(blocks, in, &nr_marks);
    }
}

static json_t *tools_json(const struct llm_request *request)
{
    json_t *tools = json_array();

    for (unsigned i = 0; i < request->nr_tools; i++) {
        json_t *tool = json_object();
        set_text(tool, "name", request->tools[i].name);
        set_text(tool, "description", request->tools[i].description);
        json_object_set_new(
            tool, "input_schema", wire_arguments(request->tools[i].parameters_json));
        json_array_append_new(tools, tool);
    }
    return tools;
}

static json_t *messages_body(const struct wire_request *in)
{
    const struct llm_request *request = in->request;
    json_t *body = json_object(), *system = json_array(), *messages = json_array();

    set_text(body, "model", in->model);
    json_object_set_new(body, "max_tokens", json_integer(request->max_tokens));
    if (request->temperature >= 0 && !(in->flags & WITHOUT_TEMPERATURE))
        json_object_set_new(
            body, "temperature", json_real(request->temperature < 1 ? request->temperature : 1));
    if (request->effort && !(in->flags & WITHOUT_EFFORT))
        json_object_set_new(body, "output_config", json_pack("{s:s}", "effort", request->effort));
    if (in->stream)
        json_object_set_new(body, "stream", json_true());
    if (request->nr_tools)
        json_object_set_new(body, "tools", tools_json(request));
    add_messages(system, messages, in);
    if (json_array_size(system))
        json_object_set(body, "system", system);
    json_decref(system);
    json_object_set_new(body, "messages", messages);
    return body;
}

/* ---- the answer ---- */

static void read_stop(struct reading *reading, const char *reason)
{
    if (!*reason)
        return;
    if (!strcmp(reason, "max_tokens") || !strcmp(reason, "model_context_window_exceeded"))
        reading->finish = FINISH_LENGTH;
    else if (!strcmp(reason, "refusal"))
        reading->finish = FINISH_REFUSED;
    else
        reading->finish = FINISH_DONE;
}

/* Take each figure as it was told last: figures of the input come first, that of the output grows.
 * The three figures of the input count different tokens in this protocol. */
static void read_usage(struct reading *reading, const json_t *usage)
{
    uint64_t fresh = reading->tokens_in - reading->tokens_cached - reading->tokens_cache_written;

    if (!json_is_object(usage))
        return;
    reading->has_usage = true;
    if (json_is_integer(json_object_get(usage, "input_tokens")))
        fresh = json_uint(usage, "input_tokens");
    if (json_is_integer(json_object_get(usage, "cache_read_input_tokens")))
        reading->tokens_cached = json_uint(usage, "cache_read_input_tokens");
    if (json_is_integer(json_object_get(usage, "cache_creation_input_tokens")))
        reading->tokens_cache_written = json_uint(usage, "cache_creation_input_tokens");
    reading->tokens_in = fresh + reading->tokens_cached + reading->tokens_cache_written;
    if (json_is_integer(json_object_get(usage, "output_tokens")))
        reading->tokens_out = json_uint(usage, "output_tokens");
}

static void read_block(struct reading *reading, uint64_t index, const json_t *block, bool is_whole)
{
    struct reading_call *call;
    char *input;

    if (!strcmp(json_text(block, "type"), "text"))
        str_add(&reading->text, json_text(block, "text"));
    if (strcmp(json_text(block, "type"), "tool_use") || !(call = reading_call(reading, index)))
        return;
    str_add(&call->id, json_text(block, "id"));
    str_add(&call->name, json_text(block, "name"));
    input = is_whole ? json_dumps(json_object_get(block, "input"), JSON_COMPACT) : NULL;
    if (input)
        str_add(&call->arguments, input);
    free(input);
}

static void read_delta(struct reading *reading, uint64_t index, const json_t *delta)
{
    const char *type = json_text(delta, "type");
    struct reading_call *call;

    if (!strcmp(type, "text_delta"))
        str_add(&reading->text, json_text(delta, "text"));
    if (!strcmp(type, "input_json_delta") && (call = reading_call(reading, index)))
        str_add(&call->arguments, json_text(delta, "partial_json"));
}

static void messages_whole(struct reading *reading, const json_t *root)
{
    const json_t *content = json_object_get(root, "content"), *block;
    size_t i;

    if (json_object_get(root, "error")) {
        reading_set_error(reading, json_object_get(root, "error"));
        return;
    }
    reading->has_shape = reading->has_ended = json_is_array(content);
    str_add(&reading->model, json_text(root, "model"));
    json_array_foreach(content, i, block) read_block(reading, i, block, true);
    read_stop(reading, json_text(root, "stop_reason"));
    read_usage(reading, json_object_get(root, "usage"));
}

static void messages_event(struct reading *reading, const json_t *data)
{
    const char *type = json_text(data, "type");
    const json_t *message = json_object_get(data, "message");

    if (!strcmp(type, "message_start")) {
        reading->has_shape = true;
        str_add(&reading->model, json_text(message, "model"));
        read_usage(reading, json_object_get(message, "usage"));
    } else if (!strcmp(type, "content_block_start")) {
        read_block(
            reading, json_uint(data, "index"), json_object_get(data, "content_block"), false);
    } else if (!strcmp(type, "content_block_delta")) {
        read_delta(reading, json_uint(data, "index"), json_object_get(data, "delta"));
    } else if (!strcmp(type, "message_delta")) {
        read_stop(reading, json_text(json_object_get(data, "delta"), "stop_reason"));
        read_usage(reading, json_object_get(data, "usage"));
    } else if (!strcmp(type, "message_stop")) {
        reading->has_ended = true;
    } else if (!strcmp(type, "error")) {
        reading_set_error(reading, json_object_get(data, "error"));
    }
}

const struct wire wire_messages = {
    .path = "/messages", .body = messages_body, .event = messages_event, .whole = messages_whole};
