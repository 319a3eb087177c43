/* Owns the table of tools, and how arguments become a command line. */
#include "mcp/mcp_tools.h"

#include "base/file.h"
#include "base/str.h"
#include "mcp/mcp_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

enum parameter_kind {
    PARAMETER_KERNEL, /* the text of a kernel file, or the path of one */
    PARAMETER_FILE,   /* the path of a file */
    PARAMETER_WORD,
    PARAMETER_WORDS, /* a list; the option is given for each, or once with commas (joined) */
    PARAMETER_COUNT,
    PARAMETER_COUNTS, /* with commas */
    PARAMETER_FLAG
};

struct tool_parameter {
    const char *name;
    enum parameter_kind kind;
    bool required;
    const char *option;   /* NULL: an argument of the verb; "": mcp_command_make reads it */
    const char *standard; /* the default, as JSON; NULL: none */
    const char *among;    /* the values that are allowed, separated by blanks; NULL: any */
    bool joined;
    unsigned least, most; /* PARAMETER_COUNT: values; lists: the number of items */
    const char *text;
};

enum { MOST_PARAMETERS = 8 };

struct mcp_tool {
    const char *name, *title, *text, *verb;
    bool computes;    /* uses a device: takes device, seed and time_limit_s */
    bool writes;      /* writes into the folder */
    unsigned limit_s; /* of time, where the client names none */
    bool keep_source, unwrap;
    const char *list;
    struct tool_parameter parameters[MOST_PARAMETERS];
    const char *result; /* the output's properties, as JSON */
};

#define KERNEL_FILE                                                                                \
    "A kernel file is CUDA code with `#pragma keet` lines, its contract: sizes, arrays, launches " \
    "(resource keet://docs/task-language). A .cu file with host code works, too."
#define TEXT_OR_PATH                                                                               \
    "the whole text of the kernel file, or its path (a value without a newline is a path)"
#define VERDICT                                                                                    \
    "\"verdict\": {\"type\": \"string\", \"description\": \"ok, or what is wrong: no_compile, "    \
    "contract, launch_failed, fault, race, timeout, wrong, nondeterministic, suspicious, "         \
    "unsupported\"}"
#define VARIANT                                                                                    \
    "{" VERDICT ", \"verdict_text\": {\"type\": \"string\", \"description\": \"the reason, with "  \
    "file and line; absent where ok\"}, \"time_ns\": {\"type\": \"number\"}, \"time_from\": "      \
    "{\"type\": \"string\", \"description\": \"measured, or modelled (on the emulator)\"}, "       \
    "\"metrics\": {\"type\": \"object\", \"description\": \"totals, under Nsight Compute's "       \
    "names\"}, \"lines\": {\"type\": \"array\", \"description\": \"costs by source line\"}, "      \
    "\"summary\": {\"type\": \"string\"}, \"findings\": {\"type\": \"array\", \"description\": "   \
    "\"what limits the kernel and what to try, the most promising first\"}}"

/* What the tools that search have in common. */
#define SEARCHES                                                                                   \
    .computes = true, .writes = true, .limit_s = 900, .keep_source = true,                         \
    .parameters = {{"kernel", PARAMETER_FILE, true, .text = "The path of the kernel file."},       \
        {"budget", PARAMETER_COUNT, .option = "--budget", .standard = "30" /* STANDARD_BUDGET */,  \
            .least = 1, .most = 10000, .text = "How many variants to evaluate."},                  \
        {"resume", PARAMETER_FLAG, .option = "--resume", .standard = "false",                      \
            .text = "Go on with the newest run of this kernel; the budget is of the whole run."}}, \
    .result = "{\"speedup\": {\"type\": \"number\"}, \"output\": {\"type\": \"string\"}, "         \
              "\"best\": {\"type\": \"object\"}}"

static const struct mcp_tool tools[] = {
    {.name = "check",
        .title = "Is a kernel right?",
        .text = "Says whether a candidate computes what the original computes, on sizes and inputs "
                "that it has not seen, with races, stray accesses and uninitialised reads looked "
                "for. Call it after each edit. A wrong candidate is a result with a verdict, a "
                "reason and a line. " KERNEL_FILE " The candidate may leave the contract out, but "
                "not change it.",
        .verb = "check",
        .computes = true,
        .limit_s = 120,
        .unwrap = true,
        .parameters = {{"original", PARAMETER_KERNEL, true,
                           .text = "The kernel that is right: " TEXT_OR_PATH "."},
            {"candidate", PARAMETER_KERNEL, true,
                .text = "The kernel in question: " TEXT_OR_PATH "."}},
        .result = "{" VERDICT ", \"reason\": {\"type\": \"string\"}, \"line\": {\"type\": "
                  "\"integer\"}, \"compared\": {\"type\": \"string\"}}"},
    {.name = "compare",
        .title = "Is a new version right, and no slower?",
        .text = "Checks a new version against the old one, profiles both, and says which counters "
                "and how the time changed. With limits it says whether they are kept. On the "
                "emulator the numbers are the same in every run.",
        .verb = "compare",
        .computes = true,
        .limit_s = 240,
        .parameters = {{"old", PARAMETER_KERNEL, true,
                           .text = "The old version: " TEXT_OR_PATH "."},
            {"new", PARAMETER_KERNEL, true, .text = "The new version: " TEXT_OR_PATH "."},
            {"limits", PARAMETER_WORDS, .option = "--fail-if", .standard = "[]", .most = 16,
                .text = "Limits that the new version must keep: slower=5%, metric:NAME=0 (not "
                        "above 0), metric:NAME=+5% (no rise by more), metric:NAME=-5% (no fall by "
                        "more). NAME is a metric's name, as in the answer of run; * stands for any "
                        "part."}},
        .result = "{\"passed\": {\"type\": \"boolean\"}, " VERDICT ", \"reason\": {\"type\": "
                  "\"string\"}, \"old_ns\": {\"type\": \"number\"}, \"new_ns\": {\"type\": "
                  "\"number\"}, \"metrics\": {\"type\": \"array\"}, \"limits\": {\"type\": "
                  "\"array\"}}"},
    {.name = "run",
        .title = "Counters and time of a kernel",
        .text = "Runs a kernel once at its timed size: verdict, time, counters in total and by "
                "source line, and advice. " KERNEL_FILE,
        .verb = "run",
        .computes = true,
        .limit_s = 120,
        .parameters = {{"kernel", PARAMETER_KERNEL, true, .text = "The kernel: " TEXT_OR_PATH "."}},
        .result = VARIANT},
    {.name = "explain",
        .title = "What limits a kernel, and what to try",
        .text =
            "Explains a kernel by its counters: what limits it, by how much, on which line, and "
            "what to try, with the gain to expect. With `old` it explains what changed between "
            "two versions, and what paid.",
        .verb = "explain",
        .computes = true,
        .limit_s = 240,
        .parameters = {{"old", PARAMETER_KERNEL, false,
                           .text = "An earlier version to compare with: " TEXT_OR_PATH "."},
            {"kernel", PARAMETER_KERNEL, true, .text = "The kernel: " TEXT_OR_PATH "."}},
        .result = "{}"},
    {.name = "sanitize",
        .title = "Races, stray accesses and the like, by line",
        .text =
            "Lists what a kernel does that is not allowed, by source line, as compute-sanitizer "
            "does: memory (stray or misaligned accesses), init (reads of what was never "
            "written), race, sync (barriers), leak. Nothing is compared with an original.",
        .verb = "run",
        .computes = true,
        .limit_s = 120,
        .parameters = {{"kernel", PARAMETER_KERNEL, true, .text = "The kernel: " TEXT_OR_PATH "."},
            {"checks", PARAMETER_WORDS, .option = "--sanitize", .standard = "[\"all\"]",
                .among = "all memory init race race=strict sync leak", .joined = true, .least = 1,
                .most = 6, .text = "What to look for."}},
        .result = "{\"sanitizers\": {\"type\": \"array\", \"description\": \"check, kernel, line, "
                  "times, text; empty: nothing was found\"}}"},
    {.name = "sweep",
        .title = "A kernel over values of a parameter",
        .text =
            "Profiles a kernel at several values of one of its `size` or `tune` parameters: the "
            "time at each, which counters move with it, and where the knee is.",
        .verb = "explain",
        .computes = true,
        .limit_s = 600,
        .parameters = {{"kernel", PARAMETER_KERNEL, true, .text = "The kernel: " TEXT_OR_PATH "."},
            {"parameter", PARAMETER_WORD, true, .option = "",
                .text = "The parameter's name, as its `#pragma keet tune` or `size` line has it."},
            {"values", PARAMETER_COUNTS, true, .option = "", .least = 3, .most = 32,
                .text = "The values to try."}},
        .result = "{\"sweep\": {\"type\": \"object\", \"description\": \"points (x, time_ns), "
                  "moves, knee\"}}"},
    {.name = "optimize",
        .title = "Search for a faster kernel",
        .text =
            "Searches for faster variants that compute the same, by mechanical rewriting and "
            "tuning, without a model. Takes from seconds to many minutes, and reports progress. "
            "Writes <kernel>.keet.cu, the best kernel, and <kernel>.keet.db, which results and "
            "show read, beside the kernel. A call that is cancelled or runs out of time keeps "
            "what it found; resume goes on.",
        .verb = "optimize",
        SEARCHES},
    {.name = "tune",
        .title = "Search for better values of tuning parameters",
        .text =
            "Searches the space of the `#pragma keet tune` lines of a kernel; the code stays as "
            "it is. Each variant is checked and profiled. Writes <kernel>.keet.cu, the best "
            "values, and <kernel>.keet.db beside the kernel, as optimize does.",
        .verb = "tune",
        SEARCHES},
    {.name = "init",
        .title = "The contract of a file with host code",
        .text = "Reads sizes, arrays and launches from the host code of a .cu file, and answers "
                "with a kernel file that has them as `#pragma keet` lines. Lines in `lines` that "
                "are `missing` must be completed by hand.",
        .verb = "init",
        .computes = true,
        .limit_s = 120,
        .parameters = {{"kernel", PARAMETER_KERNEL, true,
            .text = "The file with host code: its whole text, or its path."}},
        .result = "{\"text\": {\"type\": \"string\"}, \"missing\": {\"type\": \"integer\"}}"},
    {.name = "results",
        .title = "The best variants of a search",
        .text = "Lists the best variants that optimize stored, the fastest first.",
        .verb = "results",
        .limit_s = 60,
        .list = "variants",
        .parameters = {{"database", PARAMETER_FILE, true,
                           .text = "The path of the database, <kernel>.keet.db."},
            {"top", PARAMETER_COUNT, .option = "--top", .standard = "10", .least = 1, .most = 1000,
                .text = "How many."}},
        .result = "{\"variants\": {\"type\": \"array\", \"description\": \"node, parent, speedup, "
                  "time_ns, move, what\"}}"},
    {.name = "show",
        .title = "One variant of a search",
        .text = "All that is known of one variant that optimize stored, its source included.",
        .verb = "show",
        .limit_s = 60,
        .keep_source = true,
        .parameters = {{"database", PARAMETER_FILE, true,
                           .text = "The path of the database, <kernel>.keet.db."},
            {"node", PARAMETER_WORD, .standard = "\"best\"",
                .text = "A node's number, as a string, or best, or original."}},
        .result = VARIANT},
};
enum { NR_TOOLS = sizeof(tools) / sizeof(tools[0]), LONGEST_S = 3600, STANDARD_BUDGET = 30 };

/* What each tool that computes takes as well. */
static const struct tool_parameter common[] = {
    {"device", PARAMETER_WORD, .option = "--device", .standard = "\"auto\"",
        .among = "auto emu emu:h100 emu:h200 emu:a100 emu:l40s emu:rtx4090 emu:b200 gpu",
        .text = "auto: a GPU where there is one, else the emulator of an H100, on which counters "
                "are exact and times are modelled."},
    {"seed", PARAMETER_COUNT, .option = "--seed", .standard = "1", .most = 1000000000,
        .text = "Inputs, and all else that is random, follow from it."},
};
enum { NR_COMMON = sizeof(common) / sizeof(common[0]) };

/* Every tool takes it. */
static const struct tool_parameter time_limit = {"time_limit_s", PARAMETER_COUNT, .option = "",
    .least = 1, .most = LONGEST_S, .text = "The call is ended after so many seconds."};

const struct mcp_tool *mcp_tool_find(const char *name)
{
    for (size_t i = 0; i < NR_TOOLS; i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

/* The tool's parameters, one after the other; NULL: there are no more. */
static const struct tool_parameter *parameter_at(const struct mcp_tool *tool, unsigned i)
{
    unsigned nr = 0;

    while (nr < MOST_PARAMETERS && tool->parameters[nr].name)
        nr++;
    if (i < nr)
        return &tool->parameters[i];
    i -= nr;
    if (tool->computes && i < NR_COMMON && strcmp(tool->name, "init") != 0)
        return &common[i];
    i -= tool->computes && strcmp(tool->name, "init") != 0 ? NR_COMMON : 0;
    return i == 0 ? &time_limit : NULL;
}

/* ---- schemas ---- */

static json_t *words_json(const char *words)
{
    json_t *list = json_array();

    while (words && *words) {
        const size_t len = strcspn(words, " ");

        json_array_append_new(list, json_stringn(words, len));
        words += len + (words[len] != '\0');
    }
    return list;
}

static json_t *item_schema(const struct tool_parameter *p)
{
    json_t *item = json_pack("{s:s}", "type",
        p->kind == PARAMETER_COUNT || p->kind == PARAMETER_COUNTS ? "integer"
        : p->kind == PARAMETER_FLAG                               ? "boolean"
                                                                  : "string");

    if (p->among)
        json_object_set_new(item, "enum", words_json(p->among));
    if (p->kind == PARAMETER_COUNT) {
        json_object_set_new(item, "minimum", json_integer(p->least));
        json_object_set_new(item, "maximum", json_integer(p->most));
    }
    if (p->kind == PARAMETER_COUNTS)
        json_object_set_new(item, "minimum", json_integer(1));
    return item;
}

static json_t *parameter_schema(const struct mcp_tool *tool, const struct tool_parameter *p)
{
    json_t *schema = item_schema(p);

    if (p->kind == PARAMETER_WORDS || p->kind == PARAMETER_COUNTS)
        schema = json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", schema, "minItems",
            (int)p->least, "maxItems", (int)p->most);
    json_object_set_new(schema, "description", json_string(p->text));
    if (p == &time_limit)
        json_object_set_new(schema, "default", json_integer(tool->limit_s));
    else if (p->standard)
        json_object_set_new(schema, "default", json_loads(p->standard, JSON_DECODE_ANY, NULL));
    return schema;
}

static json_t *tool_json(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *required = json_array();

    for (unsigned i = 0; parameter_at(tool, i); i++) {
        const struct tool_parameter *p = parameter_at(tool, i);

        json_object_set_new(properties, p->name, parameter_schema(tool, p));
        if (p->required)
            json_array_append_new(required, json_string(p->name));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:s, s:o}, s:{s:b, s:b, s:b, s:b}}", "name",
        tool->name, "title", tool->title, "description", tool->text, "inputSchema", "type",
        "object", "properties", properties, "required", required, "additionalProperties", 0,
        "outputSchema", "type", "object", "properties", json_loads(tool->result, 0, NULL),
        "annotations", "readOnlyHint", !tool->writes, "destructiveHint", 0, "idempotentHint",
        !tool->writes, "openWorldHint", 0);
}

json_t *mcp_tools_list(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NR_TOOLS; i++)
        json_array_append_new(list, tool_json(&tools[i]));
    return list;
}

/* ---- from arguments to a command line ---- */

struct making {
    struct mcp_command *command;
    const struct mcp_tool *tool;
    const struct mcp_place *place;
    const json_t *arguments;
};

static bool add_word(struct making *m, const char *word, struct err *err)
{
    struct mcp_command *c = m->command;

    if (c->nr_words + 1 == MCP_MOST_WORDS)
        return err_set(err, "too many arguments");
    c->words[c->nr_words++] = word;
    return true;
}

/* What a value should be: "an integer from 1 to 100". */
static void expectation(struct str *out, const struct tool_parameter *p)
{
    switch (p->kind) {
    case PARAMETER_COUNT:
        str_addf(out, "an integer from %u to %u", p->least, p->most);
        break;
    case PARAMETER_FLAG:
        str_add(out, "true or false");
        break;
    case PARAMETER_COUNTS:
        str_addf(out, "a list of %u to %u positive integers", p->least, p->most);
        break;
    case PARAMETER_WORDS:
        str_addf(out, "a list of %u to %u strings", p->least, p->most);
        break;
    case PARAMETER_KERNEL:
    case PARAMETER_FILE:
    case PARAMETER_WORD:
        str_add(out, "a string");
        break;
    }
    if (p->among)
        str_addf(out, ", each one of: %s", p->among);
}

static bool refuse(const struct tool_parameter *p, struct err *err)
{
    struct str expected = {0};

    expectation(&expected, p);
    err_set(err, "%s: expected %s. %s", p->name, str_text(&expected), p->text);
    str_finish(&expected);
    return false;
}

static bool is_among(const char *value, const char *words)
{
    const size_t len = strlen(value);

    for (const char *at = words; at && *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] != 0))
        if (strcspn(at, " ") == len && strncmp(at, value, len) == 0)
            return true;
    return !words;
}

/* A string without a NUL byte inside; NULL: it is none. */
static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);

    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

/* A whole number, also as 5.0; -1: it is none. */
static double count_of(const json_t *value)
{
    const double number = json_is_number(value) ? json_number_value(value) : -1;

    return number >= 0 && number == rint(number) && number <= 4294967295.0 ? number : -1;
}

static bool add_kernel(
    struct making *m, const struct tool_parameter *p, const char *value, struct err *err)
{
    struct arena *arena = m->place->arena;
    const char *path;

    if (p->kind == PARAMETER_FILE || !strchr(value, '\n')) {
        path = mcp_path(arena, m->place->root, value, err);
        return path ? add_word(m, path, err) : err_wrap(err, "%s", p->name);
    }
    if (strlen(value) > MCP_MOST_SOURCE_BYTES)
        return err_set(err, "%s: the text has more than 1 MiB", p->name);
    path = arena_printf(arena, "%s/%s.cu", m->place->scratch, p->name);
    return file_write(path, value, strlen(value), err) && add_word(m, path, err);
}

static bool add_list(
    struct making *m, const struct tool_parameter *p, const json_t *value, struct err *err)
{
    struct str all = {0};
    const json_t *item;
    size_t i;
    bool ok = json_is_array(value) && json_array_size(value) >= p->least &&
              json_array_size(value) <= p->most;

    if (!ok)
        return refuse(p, err);
    json_array_foreach(value, i, item)
    {
        const char *text = text_of(item);

        if (!text || !*text || !is_among(text, p->among)) {
            str_finish(&all);
            return refuse(p, err);
        }
        str_addf(&all, "%s%s", i ? "," : "", text);
        if (!p->joined)
            ok = ok && add_word(m, p->option, err) &&
                 add_word(m, arena_strdup(m->place->arena, text), err);
    }
    if (p->joined)
        ok = add_word(m, p->option, err) &&
             add_word(m, arena_strdup(m->place->arena, str_text(&all)), err);
    str_finish(&all);
    return ok;
}

static bool add_value(
    struct making *m, const struct tool_parameter *p, const json_t *value, struct err *err)
{
    const char *text = text_of(value);
    const double count = count_of(value);

    switch (p->kind) {
    case PARAMETER_KERNEL:
    case PARAMETER_FILE:
        return text ? add_kernel(m, p, text, err) : refuse(p, err);
    case PARAMETER_WORD:
        if (!text || !*text || text[0] == '-' || !is_among(text, p->among))
            return refuse(p, err);
        return (!p->option || add_word(m, p->option, err)) &&
               add_word(m, arena_strdup(m->place->arena, text), err);
    case PARAMETER_COUNT:
        if (count < p->least || count > p->most)
            return refuse(p, err);
        return add_word(m, p->option, err) &&
               add_word(m, arena_printf(m->place->arena, "%.0f", count), err);
    case PARAMETER_FLAG:
        if (!json_is_boolean(value))
            return refuse(p, err);
        return !json_is_true(value) || add_word(m, p->option, err);
    case PARAMETER_WORDS:
        return add_list(m, p, value, err);
    case PARAMETER_COUNTS:
        break;
    }
    return err_set(err, "%s: cannot be given", p->name);
}

/* ---- what no table says ---- */

static bool add_sweep(struct making *m, struct err *err)
{
    const struct tool_parameter *name = &m->tool->parameters[1], *values = &m->tool->parameters[2];
    const char *text = text_of(json_object_get(m->arguments, name->name));
    const json_t *list = json_object_get(m->arguments, values->name), *item;
    struct str sweep = {0};
    size_t i;
    bool ok = text && *text;

    for (const char *at = text; ok && *at; at++)
        ok = str_word_char(*at);
    if (!ok)
        return refuse(name, err);
    ok = json_is_array(list) && json_array_size(list) >= values->least &&
         json_array_size(list) <= values->most;
    str_addf(&sweep, "%s=", text);
    json_array_foreach(list, i, item)
    {
        ok = ok && count_of(item) > 0;
        str_addf(&sweep, "%s%.0f", i ? "," : "", count_of(item));
    }
    ok = ok ? add_word(m, "--sweep", err) &&
                  add_word(m, arena_strdup(m->place->arena, str_text(&sweep)), err)
            : refuse(values, err);
    str_finish(&sweep);
    return ok;
}

/* A search writes beside its kernel, whose database is looked at while the search goes on. */
static bool add_search(struct making *m, struct err *err)
{
    struct mcp_command *c = m->command;
    struct arena *arena = m->place->arena;
    const json_t *budget = json_object_get(m->arguments, "budget");
    const char *kernel = c->words[1];
    const size_t len = strlen(kernel) - (str_ends(kernel, ".cu") ? 3 : 0);

    c->budget = budget ? (unsigned)count_of(budget) : STANDARD_BUDGET;
    c->db = arena_printf(arena, "%.*s.keet.db", (int)len, kernel);
    return add_word(m, "--db", err) && add_word(m, c->db, err) && add_word(m, "-o", err) &&
           add_word(m, arena_printf(arena, "%.*s.keet.cu", (int)len, kernel), err);
}

/* The defaults of these are the verb's own, or the server's. */
static bool is_common(const struct tool_parameter *p)
{
    return p >= common && p < common + NR_COMMON;
}

/* Arguments of verbs come before their options, in the order of the table. */
static bool add_arguments(struct making *m, bool options, struct err *err)
{
    for (unsigned i = 0; parameter_at(m->tool, i); i++) {
        const struct tool_parameter *p = parameter_at(m->tool, i);
        const json_t *value = json_object_get(m->arguments, p->name);
        json_t *standard = NULL;
        bool ok = true;

        if ((p->option != NULL) != options || (p->option && !*p->option))
            continue;
        if (!value && p->required)
            return err_set(err, "%s is missing. %s", p->name, p->text);
        if (!value && p->standard && !is_common(p))
            value = standard = json_loads(p->standard, JSON_DECODE_ANY, NULL);
        if (value)
            ok = add_value(m, p, value, err);
        json_decref(standard);
        if (!ok)
            return false;
    }
    return true;
}

static bool know_all(const struct mcp_tool *tool, const json_t *arguments, struct err *err)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
    {
        struct str known = {0};
        bool found = false;

        for (unsigned i = 0; parameter_at(tool, i); i++) {
            str_addf(&known, "%s%s", i ? ", " : "", parameter_at(tool, i)->name);
            found = found || strcmp(parameter_at(tool, i)->name, name) == 0;
        }
        if (!found)
            err_set(err, "%s takes no %s; it takes %s", tool->name, name, str_text(&known));
        str_finish(&known);
        if (!found)
            return false;
    }
    return true;
}

bool mcp_command_make(struct mcp_command *command, const struct mcp_tool *tool,
    const json_t *arguments, const struct mcp_place *place, struct err *err)
{
    struct making m = {command, tool, place, arguments};
    const json_t *limit = json_object_get(arguments, time_limit.name);

    *command = (struct mcp_command){.tool = tool,
        .limit_s = limit ? count_of(limit) : tool->limit_s,
        .keep_source = tool->keep_source,
        .unwrap = tool->unwrap,
        .list = tool->list};
    if (!know_all(tool, arguments, err))
        return false;
    if (command->limit_s < time_limit.least || command->limit_s > time_limit.most)
        return refuse(&time_limit, err);
    if (!add_word(&m, tool->verb, err) || !add_arguments(&m, false, err) ||
        !add_arguments(&m, true, err) ||
        (strcmp(tool->name, "sweep") == 0 && !add_sweep(&m, err)) ||
        (tool->writes && !add_search(&m, err)))
        return false;
    for (const char *const *word = place->words; tool->computes && *word; word++)
        if (!add_word(&m, *word, err))
            return false;
    return add_word(&m, "--json", err) && add_word(&m, "-q", err);
}
