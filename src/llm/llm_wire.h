/* The protocols that endpoints speak: how a request becomes a body, and how an answer, whole or
 * event by event, becomes a reading of the reply. No network here. */
#ifndef KEET_LLM_LLM_WIRE_H
#define KEET_LLM_LLM_WIRE_H

#include "base/str.h"
#include "llm/llm.h"

#include <jansson.h>

/* Parameters that some endpoints refuse; left out once one did. */
enum {
    WITHOUT_TEMPERATURE = 1,
    WITHOUT_SEED = 2,
    WITHOUT_STREAM_OPTIONS = 4,
    WITHOUT_STORE = 8,
    WITHOUT_CACHE_CONTROL = 16,
    WITH_MAX_COMPLETION_TOKENS = 32 /* OpenAI's newer name of max_tokens */
};

struct wire_request {
    const struct llm_request *request;
    const char *model;
    bool stream;
    unsigned flags;
};

enum finish { FINISH_NONE, FINISH_DONE, FINISH_LENGTH, FINISH_REFUSED };

struct reading_call {
    uint64_t index; /* the endpoint's number of it */
    struct str id, name, arguments;
};

enum { READING_MAX_CALLS = 64 };

struct reading {
    struct str text, model;
    struct str error; /* what the endpoint says went wrong */
    struct str error_code;
    struct reading_call calls[READING_MAX_CALLS];
    unsigned nr_calls;
    enum finish finish;
    bool has_shape; /* something of the protocol was there */
    bool has_ended; /* the endpoint said that this is all */
    bool has_error; /* the endpoint reported an error */
    bool is_broken; /* a piece could not be read */
    bool has_usage;
    uint64_t tokens_in, tokens_out, tokens_cached, tokens_cache_written;
};

void reading_clear(struct reading *reading);
void reading_clear_calls(struct reading *reading);
size_t reading_bytes(const struct reading *reading); /* text and arguments */
/* The call with that index, made if there is room; else NULL. */
struct reading_call *reading_call(struct reading *reading, uint64_t index);
void reading_add_text(struct str *out, const json_t *text); /* a string, or an array of parts */
/* Of {"error": {"message", "code", "type"}}, {"error": "..."} or the like; `error` may be NULL. */
void reading_set_error(struct reading *reading, const json_t *error);

struct wire {
    const char *path; /* the end of the URL */
    json_t *(*body)(const struct wire_request *request);
    void (*event)(struct reading *reading, const json_t *data); /* never of "[DONE]" */
    void (*whole)(struct reading *reading, const json_t *root);
};

extern const struct wire wire_chat, wire_responses, wire_messages;

/* The arguments as a JSON object, or {} when they are none; a new reference. */
json_t *wire_arguments(const char *arguments_json);
char *wire_arguments_text(const char *arguments_json); /* the same, dumped; free() it */

#endif
