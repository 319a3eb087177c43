/* Owns a program that asks a model and prints the replies as JSON lines, for tests that drive other
 * people's servers: ask SPEC [--whole] [--tools] [--max-tokens N] [--times N] [--text TEXT] */
#include "base/mem.h"
#include "llm/llm.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    bool whole, tools;
    unsigned max_tokens, times;
    const char *text;
};

static struct options read_options(int argc, char **argv)
{
    struct options options = {.max_tokens = 16, .times = 1, .text = "say something"};

    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--whole"))
            options.whole = true;
        else if (!strcmp(argv[i], "--tools"))
            options.tools = true;
        else if (!strcmp(argv[i], "--max-tokens") && i + 1 < argc)
            options.max_tokens = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--times") && i + 1 < argc)
            options.times = (unsigned)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--text") && i + 1 < argc)
            options.text = argv[++i];
    }
    return options;
}

static void print(const struct llm_reply *r)
{
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:i, s:b, s:i, s:f}",
        "outcome", llm_outcome_name(r->outcome), "text", r->text, "error", r->error, "model",
        r->model, "in", (json_int_t)r->tokens_in, "out", (json_int_t)r->tokens_out, "cached",
        (json_int_t)r->tokens_cached, "estimated", r->tokens_estimated, "attempts",
        (int)r->attempts, "final", r->is_final, "calls", (int)r->nr_calls, "latency_ms",
        r->latency_ms);
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

    puts(text ? text : "{\"outcome\": \"not UTF-8\"}");
    free(text);
    json_decref(line);
}

int main(int argc, char **argv)
{
    const struct options options = read_options(argc, argv);
    const struct llm_message messages[] = {
        {.role = "system", .text = "You write CUDA kernels.", .stable_until_here = true},
        {.role = "user", .text = options.text}};
    const struct llm_tool tool = {.name = "search_files",
        .description = "Looks for a word",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"word\": {\"type\": "
                           "\"string\"}}, \"required\": [\"word\"]}"};
    const struct llm_request request = {.messages = messages,
        .nr_messages = ARRAY_SIZE(messages),
        .tools = &tool,
        .nr_tools = options.tools,
        .max_tokens = options.max_tokens,
        .temperature = 0,
        .seed = 5,
        .purpose = "write"};
    struct llm_limits limits = llm_default_limits();
    struct llm_reply reply;
    struct err err;
    struct llm *llm;
    uint64_t id;

    limits.whole = options.whole;
    limits.attempts = 3;
    limits.backoff_s = 0.1;
    limits.total_s = 60;
    llm = argc > 1 ? llm_create(argv[1], &limits, &err) : NULL;
    if (!llm) {
        fprintf(stderr, "%s\n", argc > 1 ? err.text : "ask SPEC ...");
        return 2;
    }
    for (unsigned i = 0; i < options.times; i++)
        if (!llm_start(llm, &request, &id, &err))
            fprintf(stderr, "%s\n", err.text);
    while (llm_in_flight(llm))
        if (llm_wait(llm, 1000, &reply))
            print(&reply);
    llm_destroy(llm);
    return 0;
}
