/* Language models: one interface to all endpoints.
 *
 *     struct llm_limits limits = llm_default_limits();
 *     struct llm *llm = llm_create("openai:gpt-x", &limits, err);
 *     llm_start(llm, &request, &id, err);          // several may be in flight
 *     while (llm_in_flight(llm))
 *         if (llm_wait(llm, 1000, &reply)) ...      // replies in the order in which they come
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
 * Keys are environment variables: ANTHROPIC_API_KEY for anthropic:, OPENAI_API_KEY for openai:,
 * KEET_API_KEY for all specs; or the same names with _FILE, for a file that holds the key. A
 * vendor's key goes to no other spec. No key appears in a message, log, reply or recording: a key
 * that an endpoint sends back is replaced by [key].
 *
 * Calls go on in threads of the llm's own while the caller computes. The functions below are for
 * one caller thread. None of them writes to stdout or stderr. */
#ifndef KEET_LLM_LLM_H
#define KEET_LLM_LLM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct llm;
struct str;

struct llm_limits {
    double connect_s;    /* name, TCP and TLS */
    double first_byte_s; /* from sending to the first byte of the answer's body */
    double idle_s;       /* between two pieces of a streamed answer */
    double total_s;      /* the whole call with all attempts and waits, from leaving the queue */
    size_t reply_bytes;  /* of text and tool arguments; 32 times that on the wire */
    unsigned attempts;   /* at most, the first one included */
    unsigned in_flight;  /* calls at once, at most; further calls queue */
    double backoff_s;    /* before the 2nd attempt; doubles, times 0.5 to 1; at most 60 s */
    uint64_t seed;       /* of that factor */
    bool whole;          /* ask for the answer in one piece instead of a stream */
};
/* 10, 180, 120 and 600 s; 1 MiB; 5 attempts; 4 in flight; 1 s; seed 1. */
struct llm_limits llm_default_limits(void);

/* What the model asked the caller to look up. */
struct llm_tool_call {
    const char *id, *name;
    const char *arguments_json; /* as the model wrote it: may be no JSON at all */
};

/* A copy of calls, whose strings may be NULL, in the arena. */
struct llm_tool_call *llm_copy_calls(
    struct arena *arena, const struct llm_tool_call *calls, unsigned nr);

/* The role is "system" (first, if at all), "user", "assistant" or "tool". An assistant's message
 * holds the tool calls that it made. A message of role "tool" with the id of the call answers each
 * of them. */
struct llm_message {
    const char *role, *text;
    const struct llm_tool_call *calls; /* assistant */
    unsigned nr_calls;
    const char *tool_call_id; /* tool */
    bool stable_until_here;   /* later requests begin with the same messages: worth caching */
};

struct llm_tool {
    const char *name, *description;
    const char *parameters_json; /* a JSON schema, type object */
};

struct llm_request {
    const struct llm_message *messages;
    unsigned nr_messages;
    const struct llm_tool *tools; /* only where llm_has_tools */
    unsigned nr_tools;
    unsigned max_tokens; /* of the reply; 0: 8192 */
    double temperature;  /* < 0: the endpoint's default */
    const char *effort;  /* of reasoning: "low", "medium", "high"; NULL: the endpoint's default */
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

/* The strings are the llm's, until the next llm_wait. None is NULL. Text is valid UTF-8 without NUL
 * bytes: U+FFFD stands for any other byte. */
struct llm_reply {
    uint64_t id;
    enum llm_outcome outcome;
    const char *text;
    const struct llm_tool_call *calls;
    unsigned nr_calls;
    const char *error; /* "" unless LLM_FAILED */
    bool is_final;     /* LLM_FAILED: the next request would fail too (key, name, address) */
    const char *model; /* as the endpoint names it */
    /* tokens_in counts the whole prompt. Of these, tokens_cached were read from the endpoint's
     * cache and tokens_cache_written were written to the cache, at prices of their own. */
    uint64_t tokens_in, tokens_out, tokens_cached, tokens_cache_written;
    bool tokens_estimated; /* bytes / 4: the endpoint gave no figures */
    /* Estimates for attempts that broke after the endpoint had begun to answer. The figures above
     * leave these tokens out, the bill probably does not. */
    uint64_t lost_in, lost_out;
    double latency_ms;    /* from leaving the queue to the end, with all attempts */
    double first_byte_ms; /* of the last attempt, from its sending; 0: no byte came */
    double waited_ms;     /* of latency_ms, in back-off */
    double queued_ms;     /* before latency_ms began */
    unsigned attempts;
};

/* Reads the spec, the keys and the files that the spec names, and asks no endpoint yet. NULL, with
 * err, when one of these is missing or wrong. */
struct llm *llm_create(const char *spec, const struct llm_limits *limits, struct err *err);
/* Gives up the calls in flight. NULL is fine. */
void llm_destroy(struct llm *llm);

const char *llm_spec(const struct llm *llm); /* as given; has no secrets */
bool llm_has_tools(const struct llm *llm);   /* takes definitions of tools; else use text */

/* Begin a call, or queue it. The request is copied; *id is the number that the reply will have.
 * False, with err, when the request is malformed: no message, a message without role or text, a
 * purpose with other characters, a schema that is no JSON. */
bool llm_start(struct llm *llm, const struct llm_request *request, uint64_t *id, struct err *err);

/* Wait for a call to finish. False: none did within timeout_ms, or none is in flight. */
bool llm_wait(struct llm *llm, double timeout_ms, struct llm_reply *reply);

unsigned llm_in_flight(const struct llm *llm); /* started, and not yet returned by llm_wait */

/* Give up all calls in flight. llm_wait returns each of them soon: as LLM_FAILED, unless its reply
 * had come. No other call can follow. */
void llm_abandon(struct llm *llm);

/* Append the messages of a request as one text, as cmd: gets them on stdin. */
void llm_prompt_text(const struct llm_request *request, struct str *out);

const char *llm_outcome_name(enum llm_outcome outcome); /* "ok", "truncated", ... */

/* ---- record and replay ----
 *
 * A recording is a file of JSON lines, one per reply, in the order in which llm_wait gave them. A
 * replay gives the same replies at the same places: each after as many llm_starts as in the
 * recording, and not before the same moment of the caller's clock. A request that differs from the
 * recorded one in any way gets LLM_FAILED with is_final; the error names the request ("write 3")
 * and the first difference. */

/* Record to this file from now on; to be called before the first llm_start. */
bool llm_record(struct llm *llm, const char *path, struct err *err);

bool llm_record_ok(const struct llm *llm); /* false: a line could not be written (disk full?) */

/* The caller's clock, for requests that depend on what the caller does between calls. A moment is
 * any number that only grows, such as the number of steps taken so far. */
void llm_set_moment(struct llm *llm, uint64_t moment);

#endif
