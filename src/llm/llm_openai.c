/* Owns OpenAI's two protocols: chat completions, which every compatible server speaks, and
 * responses. */
#include "llm/llm_json.h"
#include "llm/llm_wire.h"

#include <stdlib.h>
#include <string.h>

static void set(json_t *object, const char *member, json_t *value)
{
    json_object_set_new(object, member, value);
}

static void set_text(json_t *object, const char *member, const char *text)
{
    set(object, member, json_from_text(text));
}

static void set_arguments(json_t *object, const char *arguments_json)
{
    char *text = wire_arguments_text(arguments_json);

    set_text(object, "arguments", text);
    free(text);
}

static bool is_role(const struct llm_message *message, const char *role)
{
    return !strcmp(message->role, role);
}

/* Add name, description and parameters, which both protocols have, at different depths. */
static json_t *function_json(const struct llm_tool *tool)
{
    json_t *out = json_object();

    set_text(out, "name", tool->name);
    set_text(out, "description", tool->description);
    set(out, "parameters", wire_arguments(tool->parameters_json));
    return out;
}

static void set_common(json_t *body, const struct wire_request *request)
{
    set_text(body, "model", request->model);
    if (request->request->temperature >= 0 && !(request->flags & WITHOUT_TEMPERATURE))
        set(body, "temperature", json_real(request->request->temperature));
    if (request->stream)
        set(body, "stream", json_true());
}

/* ---- chat completions: the request ---- */

static json_t *chat_message(const struct llm_message *message)
{
    json_t *out = json_object(), *calls = json_array();

    set_text(out, "role", message->role);
    if (message->nr_calls && !*message->text)
        set(out, "content", json_null());
    else
        set_text(out, "content", message->text);
    if (is_role(message, "tool"))
        set_text(out, "tool_call_id", message->tool_call_id);
    for (unsigned i = 0; i < message->nr_calls; i++) {
        json_t *function = json_object(), *call = json_object();
        set_text(function, "name", message->calls[i].name);
        set_arguments(function, message->calls[i].arguments_json);
        set_text(call, "id", message->calls[i].id);
        set_text(call, "type", "function");
        set(call, "function", function);
        json_array_append_new(calls, call);
    }
    if (message->nr_calls)
        json_object_set(out, "tool_calls", calls);
    json_decref(calls);
    return out;
}

static json_t *chat_body(const struct wire_request *in)
{
    const struct llm_request *request = in->request;
    json_t *body = json_object(), *messages = json_array(), *tools = json_array();

    set_common(body, in);
    for (unsigned i = 0; i < request->nr_messages; i++)
        json_array_append_new(messages, chat_message(&request->messages[i]));
    set(body, "messages", messages);
    set(body, in->flags & WITH_MAX_COMPLETION_TOKENS ? "max_completion_tokens" : "max_tokens",
        json_integer(request->max_tokens));
    if (request->effort && !(in->flags & WITHOUT_EFFORT))
        set_text(body, "reasoning_effort", request->effort);
    /* Every JSON reader takes a number of this size for an integer. */
    if (request->seed && !(in->flags & WITHOUT_SEED))
        set(body, "seed", json_integer((json_int_t)(request->seed & 0x7FFFFFFF)));
    if (in->stream && !(in->flags & WITHOUT_STREAM_OPTIONS))
        set(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
    for (unsigned i = 0; i < request->nr_tools; i++)
        json_array_append_new(tools, json_pack("{s:s, s:o}", "type", "function", "function",
                                         function_json(&request->tools[i])));
    if (request->nr_tools)
        json_object_set(body, "tools", tools);
    json_decref(tools);
    return body;
}

/* ---- chat completions: the answer ---- */

static void chat_finish(struct reading *reading, const char *reason)
{
    if (!*reason)
        return;
    if (!strcmp(reason, "length"))
        reading->finish = FINISH_LENGTH;
    else if (!strcmp(reason, "content_filter"))
        reading->finish = FINISH_REFUSED;
    else if (reading->finish == FINISH_NONE)
        reading->finish = FINISH_DONE;
}

static void chat_usage(struct reading *reading, const json_t *usage)
{
    if (!json_is_object(usage))
        return;
    reading->has_usage = true;
    reading->tokens_in = json_uint(usage, "prompt_tokens");
    reading->tokens_out = json_uint(usage, "completion_tokens");
    reading->tokens_cached =
        json_uint(json_object_get(usage, "prompt_tokens_details"), "cached_tokens");
}

/* The call that a piece belongs to, by its index. Servers without indices begin each call with its
 * id. */
static uint64_t call_index(const struct reading *reading, const json_t *item)
{
    const json_t *index = json_object_get(item, "index");

    if (json_is_integer(index))
        return (uint64_t)json_integer_value(index);
    if (*json_text(item, "id") || !reading->nr_calls)
        return reading->nr_calls;
    return reading->calls[reading->nr_calls - 1].index;
}

static void add_arguments(struct str *out, const json_t *arguments)
{
    char *dumped = json_is_object(arguments) ? json_dumps(arguments, JSON_COMPACT) : NULL;

    str_add(out, dumped ? dumped : json_is_string(arguments) ? json_string_value(arguments) : "");
    free(dumped);
}

static void chat_calls(struct reading *reading, const json_t *items)
{
    const json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        const json_t *function = json_object_get(item, "function");
        struct reading_call *call = reading_call(reading, call_index(reading, item));
        if (!call)
            continue;
        if (!call->id.len)
            str_add(&call->id, json_text(item, "id"));
        if (!call->name.len)
            str_add(&call->name, json_text(function, "name"));
        add_arguments(&call->arguments, json_object_get(function, "arguments"));
    }
}

/* member: "message" of a whole answer, "delta" of an event. */
static void chat_read(struct reading *reading, const json_t *root, const char *member)
{
    const json_t *choices = json_object_get(root, "choices"), *choice, *message;
    size_t i;

    if (json_is_object(json_object_get(root, "error")) ||
        json_is_string(json_object_get(root, "error"))) {
        reading_set_error(reading, json_object_get(root, "error"));
        return;
    }
    reading->has_shape = reading->has_shape || json_is_array(choices);
    if (!reading->model.len)
        str_add(&reading->model, json_text(root, "model"));
    json_array_foreach(choices, i, choice)
    {
        if (json_uint(choice, "index"))
            continue;
        message = json_object_get(choice, member);
        reading_add_text(&reading->text, json_object_get(message, "content"));
        if (*json_text(message, "refusal")) {
            reading->finish = FINISH_REFUSED;
            str_add(&reading->text, json_text(message, "refusal"));
        }
        chat_calls(reading, json_object_get(message, "tool_calls"));
        chat_finish(reading, json_text(choice, "finish_reason"));
    }
    chat_usage(reading, json_object_get(root, "usage"));
}

static void chat_event(struct reading *reading, const json_t *data)
{
    chat_read(reading, data, "delta");
}

static void chat_whole(struct reading *reading, const json_t *root)
{
    chat_read(reading, root, "message");
    reading->has_ended = reading->has_shape;
}

const struct wire wire_chat = {
    .path = "/chat/completions", .body = chat_body, .event = chat_event, .whole = chat_whole};

/* ---- responses: the request ---- */

/* A message is one item, and so is each call that it made. */
static void add_input(json_t *input, const struct llm_message *message)
{
    json_t *item = json_object();

    if (is_role(message, "tool")) {
        set_text(item, "type", "function_call_output");
        set_text(item, "call_id", message->tool_call_id);
        set_text(item, "output", message->text);
    } else {
        set_text(item, "role", message->role);
        set_text(item, "content", message->text);
    }
    if (*message->text || is_role(message, "tool"))
        json_array_append(input, item);
    json_decref(item);
    for (unsigned i = 0; i < message->nr_calls; i++) {
        json_t *call = json_object();
        set_text(call, "type", "function_call");
        set_text(call, "call_id", message->calls[i].id);
        set_text(call, "name", message->calls[i].name);
        set_arguments(call, message->calls[i].arguments_json);
        json_array_append_new(input, call);
    }
}

static json_t *responses_body(const struct wire_request *in)
{
    const struct llm_request *request = in->request;
    json_t *body = json_object(), *input = json_array(), *tools = json_array();

    set_common(body, in);
    for (unsigned i = 0; i < request->nr_messages; i++)
        add_input(input, &request->messages[i]);
    set(body, "input", input);
    set(body, "max_output_tokens", json_integer(request->max_tokens));
    if (request->effort && !(in->flags & WITHOUT_EFFORT))
        set(body, "reasoning", json_pack("{s:s}", "effort", request->effort));
    if (!(in->flags & WITHOUT_STORE)) /* the endpoint is to keep nothing of the user's */
        set(body, "store", json_false());
    for (unsigned i = 0; i < request->nr_tools; i++) {
        json_t *tool = function_json(&request->tools[i]);
        set_text(tool, "type", "function");
        set(tool, "strict", json_false());
        json_array_append_new(tools, tool);
    }
    if (request->nr_tools)
        json_object_set(body, "tools", tools);
    json_decref(tools);
    return body;
}

/* ---- responses: the answer ---- */

static void responses_content(struct reading *reading, const json_t *content)
{
    const json_t *part;
    size_t i;

    json_array_foreach(content, i, part)
    {
        if (!strcmp(json_text(part, "type"), "refusal")) {
            reading->finish = FINISH_REFUSED;
            str_add(&reading->text, json_text(part, "refusal"));
        } else {
            str_add(&reading->text, json_text(part, "text"));
        }
    }
}

static void responses_output(struct reading *reading, const json_t *output)
{
    const json_t *item;
    size_t i;

    json_array_foreach(output, i, item)
    {
        struct reading_call *call;
        if (!strcmp(json_text(item, "type"), "message"))
            responses_content(reading, json_object_get(item, "content"));
        if (strcmp(json_text(item, "type"), "function_call"))
            continue;
        call = reading_call(reading, i);
        if (!call)
            continue;
        str_add(&call->id, json_text(item, "call_id"));
        str_add(&call->name, json_text(item, "name"));
        add_arguments(&call->arguments, json_object_get(item, "arguments"));
    }
}

static void responses_status(struct reading *reading, const json_t *root)
{
    const char *status = json_text(root, "status");
    const char *reason = json_text(json_object_get(root, "incomplete_details"), "reason");

    if (!strcmp(status, "failed") || json_is_object(json_object_get(root, "error")))
        reading_set_error(reading, json_object_get(root, "error"));
    else if (!strcmp(reason, "content_filter"))
        reading->finish = FINISH_REFUSED;
    else if (!strcmp(status, "incomplete"))
        reading->finish = FINISH_LENGTH;
    else if (reading->finish == FINISH_NONE)
        reading->finish = FINISH_DONE;
}

static void responses_whole(struct reading *reading, const json_t *root)
{
    const json_t *usage = json_object_get(root, "usage"), *output = json_object_get(root, "output");

    reading->has_shape = json_is_array(output) || *json_text(root, "status");
    if (!reading->has_shape && json_object_get(root, "error")) {
        reading_set_error(reading, json_object_get(root, "error"));
        return;
    }
    if (json_array_size(output)) { /* the whole answer, which came in pieces before */
        reading_clear_calls(reading);
        str_clear(&reading->text);
        responses_output(reading, output);
    }
    if (!reading->model.len)
        str_add(&reading->model, json_text(root, "model"));
    if (json_is_object(usage)) {
        reading->has_usage = true;
        reading->tokens_in = json_uint(usage, "input_tokens");
        reading->tokens_out = json_uint(usage, "output_tokens");
        reading->tokens_cached =
            json_uint(json_object_get(usage, "input_tokens_details"), "cached_tokens");
    }
    responses_status(reading, root);
    reading->has_ended = reading->has_shape;
}

static void responses_event(struct reading *reading, const json_t *data)
{
    const char *type = json_text(data, "type");

    reading->has_shape = reading->has_shape || !strncmp(type, "response.", 9);
    if (!strcmp(type, "response.output_text.delta")) {
        str_add(&reading->text, json_text(data, "delta"));
    } else if (!strcmp(type, "response.refusal.delta")) {
        reading->finish = FINISH_REFUSED;
        str_add(&reading->text, json_text(data, "delta"));
    } else if (!strcmp(type, "response.completed") || !strcmp(type, "response.incomplete") ||
               !strcmp(type, "response.failed")) {
        responses_whole(reading, json_object_get(data, "response"));
    } else if (!strcmp(type, "error")) {
        const json_t *error = json_object_get(data, "error");
        reading_set_error(reading, json_is_object(error) ? error : data);
    } else if (!*type && json_object_get(data, "error")) {
        reading_set_error(reading, json_object_get(data, "error"));
    }
}

const struct wire wire_responses = {.path = "/responses",
    .body = responses_body,
    .event = responses_event,
    .whole = responses_whole};
