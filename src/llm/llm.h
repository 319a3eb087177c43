/* One way to ask a language model, whatever its endpoint.
 *
 *     struct llm_limits limits = llm_default_limits();
 *     struct llm *llm = llm_create("openai:gpt-x", &limits, err);
 *     llm_start(llm, &request, &id, err);          // several may be in flight
 *     while (llm_in_flight(llm))
 *         if (llm_wait(llm, 1000, &reply)) ...      // a finished one, in order of finishing
 *     llm_destroy(llm);
 *
 * Specs
 *     anthropic:NAME           Anthropic's messages (ANTHROPIC_BASE_URL, else their own address)
 *     openai:NAME              OpenAI's responses (OPENAI_BASE_URL, else their own address)
 *     http://host:port/v1#NAME any compatible server, also https. The path's end says which
 *                              protocol: /responses, /messages, else chat completions
 *     cmd:PROGRAM ARGS         a command of the shell: prompt on stdin, reply on stdout
 *     script:DIR               replies from files: <purpose>-<n>.md, n from 1 for each purpose. A
 *                              <purpose>-<n>.json may say more: {"text", "outcome", "error",
 *                              "calls": [{"id", "name", "arguments": {}}]}. A file `delay` in DIR
 *                              holds the milliseconds that each reply takes
 *     replay:FILE              what llm_record wrote; no network
 *
 * Keys: ANTHROPIC_API_KEY for anthropic:, OPENAI_API_KEY for openai:, KEET_API_KEY for all, or
 * the same names with _FILE for a file that holds the key. A vendor's key goes to no other spec. No
 * key appears in a message, log, reply or recording; one that an endpoint sends back is replaced.
 *
 * Work goes on in threads of the llm's own while the caller computes; the functions below are for
 * one caller thread. Nothing here writes to stdout or stderr. */
#ifndef KEET_LLM_LLM_H
#define KEET_LLM_LLM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llm;
struct str;

struct llm_limits {
    double connect_s;    /* name, TCP and TLS */
    double first_byte_s; /* from sending to the first byte of the answer's body */
    double idle_s;       /* between two pieces of a streamed answer */
    double total_s;      /* the whole call with all attempts and waits, from leaving the queue */
    size_t reply_bytes;  /* of text and tool arguments; 32 times that on the wire */
    unsigned attempts;   /* at most, of which the first is one */
    unsigned in_flight;  /* at most; further calls queue */
    double backoff_s;    /* before the 2nd attempt; doubles, jitter of 50-100%; at most 60 s */
    uint64_t seed;       /* of the jitter */
    bool whole;          /* ask for the answer in one piece instead of as a stream */
};
/* 10, 180, 120 and 600 s; 1 MiB; 5 attempts; 4 in flight; 1 s; seed 1. */
struct llm_limits llm_default_limits(void);

/* What the endpoint asked the caller to look up. */
struct llm_tool_call {
    const char *id, *name;
    const char *arguments_json; /* as the model wrote it: may be no JSON at all */
};

/* role is "system" (first, if at all), "user", "assistant" or "tool". An assistant's message holds
 * the calls it made; each of them is followed by a message of role "tool" with its id. */
struct llm_message {
    const char *role, *text;
    const struct llm_tool_call *calls; /* assistant */
    unsigned nr_calls;
    const char *tool_call_id; /* tool */
    bool stable_until_here;   /* everything up to here comes again: worth caching */
};

struct llm_tool {
    const char *name, *description;
    const char *parameters_json; /* a JSON schema, type object */
};

struct llm_request {
    const struct llm_message *messages;
    unsigned nr_messages;
    const struct llm_tool *tools; /* only endpoints where llm_has_tools */
    unsigned nr_tools;
    unsigned max_tokens; /* of the reply; 0: 8192 */
    double temperature;  /* < 0: the endpoint's default */
    uint64_t seed;       /* 0: none; not every endpoint knows it */
    /* "plan", "write", "repair", ...: letters, digits, _; names script files and recordings. */
    const char *purpose;
};

enum llm_outcome {
    LLM_OK,
    LLM_TRUNCATED, /* text up to a limit: tokens or bytes */
    LLM_REFUSED,   /* text may say why */
    LLM_EMPTY,     /* neither text nor calls */
    LLM_FAILED     /* no reply: error says what and what to do */
};

/* Strings are the llm's, until the next llm_wait. None is NULL. Text is valid UTF-8 without NUL
 * bytes; what was not is U+FFFD. */
struct llm_reply {
    uint64_t id;
    enum llm_outcome outcome;
    const char *text;
    const struct llm_tool_call *calls;
    unsigned nr_calls;
    const char *error; /* "" unless LLM_FAILED */
    bool is_final;     /* LLM_FAILED: the next request would fail too (key, name, address) */
    const char *model; /* as the endpoint names it */
    /* tokens_in is the whole prompt: tokens_cached of it were read from the endpoint's cache and
     * tokens_cache_written went into it, at other prices. */
    uint64_t tokens_in, tokens_out, tokens_cached, tokens_cache_written;
    bool tokens_estimated; /* bytes / 4, since the endpoint did not say */
    /* Estimated, of attempts that broke after the endpoint had begun to answer: not in the figures
     * above, but probably on the bill. */
    uint64_t lost_in, lost_out;
    double latency_ms;    /* from leaving the queue to the end, with all attempts */
    double first_byte_ms; /* of the last attempt, from its sending; 0 if none came */
    double waited_ms;     /* of latency_ms, in back-off */
    double queued_ms;     /* before latency_ms began */
    unsigned attempts;
};

/* Does what can be done without asking anyone: reads the spec, keys, folders. */
struct llm *llm_create(const char *spec, const struct llm_limits *limits, struct err *err);
/* Calls in flight are given up. NULL is fine. */
void llm_destroy(struct llm *llm);

const char *llm_spec(const struct llm *llm); /* as given; has no secrets */
bool llm_has_tools(const struct llm *llm);   /* takes function definitions; else use text */

/* Begin a call. The request is copied. Always accepted, unless a schema or name in it is not
 * valid. */
bool llm_start(struct llm *llm, const struct llm_request *request, uint64_t *id, struct err *err);

/* Wait for a call to finish. False: none did within that time, or none is in flight. */
bool llm_wait(struct llm *llm, double timeout_ms, struct llm_reply *reply);

unsigned llm_in_flight(const struct llm *llm); /* started, and not yet returned by llm_wait */

/* Give up all calls in flight: llm_wait returns each of them soon, as LLM_FAILED unless it was
 * there already. No other call can follow. */
void llm_abandon(struct llm *llm);

/* Everything about a request as text, the way cmd: gets it on stdin. */
void llm_prompt_text(const struct llm_request *request, struct str *out);

const char *llm_outcome_name(enum llm_outcome outcome); /* "ok", "truncated", ... */

/* ---- record and replay ----
 *
 * A recording is a file of JSON lines, one per reply in the order in which llm_wait gave them.
 * A replay gives the same replies at the same places: a reply comes after as many llm_starts as it
 * did in the recording and not before the same moment, whatever the clock says. A request that
 * differs from the recorded one in any way gets LLM_FAILED with is_final, saying which it is
 * ("write 3") and where it differs first. */
bool llm_record(
    struct llm *llm, const char *path, struct err *err); /* before the first llm_start */

bool llm_record_ok(const struct llm *llm); /* false: a line could not be written (disk full?) */

/* The caller's own clock, for callers that do other things between calls and whose requests depend
 * on them: any number that only grows, such as the nodes evaluated so far. */
void llm_set_moment(struct llm *llm, uint64_t moment);

#endif
