/* Owns readings: what an answer has said so far. */
#include "llm/llm_wire.h"

#include "llm/llm_json.h"

#include <string.h>

void reading_clear_calls(struct reading *reading)
{
    for (unsigned i = 0; i < reading->nr_calls; i++) {
        str_finish(&reading->calls[i].id);
        str_finish(&reading->calls[i].name);
        str_finish(&reading->calls[i].arguments);
    }
    reading->nr_calls = 0;
}

void reading_clear(struct reading *reading)
{
    str_finish(&reading->text);
    str_finish(&reading->model);
    str_finish(&reading->error);
    str_finish(&reading->error_code);
    reading_clear_calls(reading);
    *reading = (struct reading){0};
}

size_t reading_bytes(const struct reading *reading)
{
    size_t bytes = reading->text.len;

    for (unsigned i = 0; i < reading->nr_calls; i++)
        bytes += reading->calls[i].arguments.len;
    return bytes;
}

struct reading_call *reading_call(struct reading *reading, uint64_t index)
{
    for (unsigned i = 0; i < reading->nr_calls; i++)
        if (reading->calls[i].index == index)
            return &reading->calls[i];
    if (reading->nr_calls == READING_MAX_CALLS)
        return NULL;
    reading->calls[reading->nr_calls] = (struct reading_call){.index = index};
    return &reading->calls[reading->nr_calls++];
}

void reading_add_text(struct str *out, const json_t *text)
{
    const json_t *part;
    size_t i;

    if (json_is_string(text))
        str_add(out, json_string_value(text));
    json_array_foreach(text, i, part) str_add(out, json_text(part, "text"));
}

void reading_set_error(struct reading *reading, const json_t *error)
{
    const char *text =
        json_is_string(error) ? json_string_value(error) : json_text(error, "message");
    const char *code = json_text(error, "code");

    reading->has_error = true;
    str_clear(&reading->error);
    str_add(&reading->error, *text ? text : "no reason given");
    str_clear(&reading->error_code);
    if (json_is_integer(json_object_get(error, "code")))
        str_addf(&reading->error_code, "%u", (unsigned)json_uint(error, "code"));
    else
        str_add(&reading->error_code, *code ? code : json_text(error, "type"));
}

json_t *wire_arguments(const char *arguments_json)
{
    const char *why, *text = arguments_json ? arguments_json : "";
    json_t *object = json_from_bytes(text, strlen(text), &why);

    return object ? object : json_object();
}

char *wire_arguments_text(const char *arguments_json)
{
    json_t *object = wire_arguments(arguments_json);
    char *text = json_dumps(object, JSON_COMPACT);

    json_decref(object);
    return text;
}
