/* The protocols that endpoints speak. A request becomes the body of an HTTP request; an answer,
 * whole or event by event, becomes a reading, from which the reply is made. No network here. */
#ifndef KEET_LLM_LLM_WIRE_H
#define KEET_LLM_LLM_WIRE_H

#include "base/str.h"
#include "llm/llm.h"

#include <jansson.h>

/* Parameters that some endpoints refuse. An llm leaves out what its endpoint has refused once. */
enum {
    WITHOUT_TEMPERATURE = 1,
    WITHOUT_SEED = 2,
    WITHOUT_STREAM_OPTIONS = 4,
    WITHOUT_STORE = 8,
    WITHOUT_EFFORT = 64,
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
    uint64_t index; /* the number that the endpoint gives the call */
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
    bool has_shape; /* the answer is one of this protocol */
    bool has_ended; /* the endpoint said that the answer ends here */
    bool has_error; /* the endpoint reported an error */
    bool is_broken; /* a piece could not be read */
    bool has_usage;
    uint64_t tokens_in, tokens_out, tokens_cached, tokens_cache_written;
};

void reading_clear(struct reading *reading);
void reading_clear_calls(struct reading *reading);
size_t reading_bytes(const struct reading *reading); /* of text and arguments */
/* The call with that index; a new one if there is none yet; NULL: there is no room. */
struct reading_call *reading_call(struct reading *reading, uint64_t index);
/* Append a text that is a string, or an array of parts with texts. */
void reading_add_text(struct str *out, const json_t *text);
/* Note an error: {"message", "code", "type"}, a string, or NULL. */
void reading_set_error(struct reading *reading, const json_t *error);

struct wire {
    const char *path; /* the end of the URL */
    json_t *(*body)(const struct wire_request *request);
    void (*event)(struct reading *reading, const json_t *data); /* "[DONE]" is not passed on */
    void (*whole)(struct reading *reading, const json_t *root);
};

extern const struct wire wire_chat, wire_responses, wire_messages;

/* The arguments as a JSON object, {} when they are no object; a new reference. */
json_t *wire_arguments(const char *arguments_json);
char *wire_arguments_text(const char *arguments_json); /* that object as text; free() it */

#endif
