/* Owns the resources and the prompts. */
#include "mcp/mcp_texts.h"

#include "base/file.h"
#include "base/share.h"
#include "base/str.h"
#include "core/chip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_BYTES = 1 << 20, MOST_NAME_BYTES = 64 };

const char mcp_instructions[] =
    "keet-opt checks, profiles and explains CUDA kernels, on the emulator of an H100 where there "
    "is "
    "no GPU. Usual order: `run` or `explain` the kernel, edit it, `check` it against the original "
    "after each edit (on a fault or race: `sanitize`), then `compare` the two, and `explain` "
    "again. "
    "`optimize` searches by itself, `tune` over values of tuning parameters only, and `sweep` "
    "shows one "
    "parameter. A kernel file has "
    "`#pragma keet` lines, its contract, such as: size M = 1024, N = 512 | check M = 33, N = 70 | "
    "in "
    "A : f32[M][N] = uniform(-1, 1) | out B : f32[N][M] | launch "
    "f<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, M, N). Read "
    "keet://docs/task-language before you write one; "
    "`init` makes one from a .cu file with host code. Believe a speedup only after `check` says "
    "ok. "
    "keet://docs/agents says more.";

/* ---- resources ---- */

static const struct {
    const char *uri, *name, *title, *text, *folder, *file;
} pages[] = {
    {"keet://docs/task-language", "task-language", "The task language",
        "The #pragma keet lines of a kernel file: sizes, arrays, launches, tolerances.", "docs",
        "reference/task-language.md"},
    {"keet://docs/agents", "agents", "Which tool when", "A short guide for coding agents.", "docs",
        "how-to/agents.md"},
};
enum { NR_PAGES = sizeof(pages) / sizeof(pages[0]) };

json_t *mcp_resources_list(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NR_PAGES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "uri", pages[i].uri,
                                        "name", pages[i].name, "title", pages[i].title,
                                        "description", pages[i].text, "mimeType", "text/markdown"));
    for (unsigned i = 0; chip_nth(i) != NULL; i++)
        json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:s, s:s}", "uri",
                                        json_sprintf("keet://chip/%s", chip_nth(i)->key), "name",
                                        chip_nth(i)->key, "title", chip_nth(i)->name, "description",
                                        "The figures of the chip: units, rates, sizes, latencies.",
                                        "mimeType", "application/json"));
    return list;
}

json_t *mcp_templates_list(void)
{
    return json_pack("[{s:s, s:s, s:s, s:s, s:s}]", "uriTemplate", "keet://kernel/{name}", "name",
        "kernel", "title", "Example kernels", "description",
        "A kernel file that works, with its contract: matmul, softmax, sum, conv2d, transpose, "
        "layernorm, attention, histogram, ...",
        "mimeType", "text/plain");
}

static json_t *contents(const char *uri, const char *type, json_t *text)
{
    return json_pack("[{s:s, s:s, s:o}]", "uri", uri, "mimeType", type, "text", text);
}

/* The text of a file of the program's; NULL: err. */
static json_t *shared_text(const char *folder, const char *file, struct err *err)
{
    char *root = share_find(folder), *text = NULL;
    struct str path = {0};
    size_t bytes;
    json_t *json = NULL;

    if (!root) {
        err_set(err, "the folder %s of keet-opt is not there; see `keet-opt doctor`", folder);
        return NULL;
    }
    str_addf(&path, "%s/%s", root, file);
    if (file_read(str_text(&path), MOST_TEXT_BYTES, &text, &bytes, err))
        json = json_string(text);
    if (text && !json)
        err_set(err, "%s is no text", file);
    str_finish(&path);
    free(text);
    free(root);
    return json;
}

static json_t *chip_json(const struct chip *c)
{
    json_t *json =
        json_pack("{s:s, s:s, s:s}", "name", c->name, "arch", c->arch, "validated", c->validated);
    char name[CHIP_NAME_BYTES];
    double value;

    for (unsigned i = 0; chip_figure(c, i, name, &value); i++)
        json_object_set_new(json, name,
            value == floor(value) && value < 1e15 ? json_integer((json_int_t)value)
                                                  : json_real(value));
    return json;
}

/* The name behind a prefix; NULL: it is no name of letters, digits and underscores. */
static const char *name_behind(const char *uri, const char *prefix)
{
    const size_t len = strlen(prefix);
    const char *name = str_starts(uri, prefix) ? uri + len : "";

    for (const char *at = name; *at; at++)
        if (!str_word_char(*at) || at - name >= MOST_NAME_BYTES)
            return NULL;
    return *name ? name : NULL;
}

json_t *mcp_resource_read(const char *uri, bool *unknown, struct err *err)
{
    const char *kernel = name_behind(uri, "keet://kernel/"),
               *chip = name_behind(uri, "keet://chip/");
    json_t *text;

    *unknown = false;
    for (size_t i = 0; i < NR_PAGES; i++)
        if (strcmp(pages[i].uri, uri) == 0) {
            text = shared_text(pages[i].folder, pages[i].file, err);
            return text ? contents(uri, "text/markdown", text) : NULL;
        }
    if (chip && chip_find(chip)) {
        json_t *figures = chip_json(chip_find(chip));
        char *dumped = json_dumps(figures, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        json_t *all = contents(uri, "application/json", json_string(dumped));

        free(dumped);
        json_decref(figures);
        return all;
    }
    if (kernel) {
        struct str file = {0};

        str_addf(&file, "%s.cu", kernel);
        text = shared_text("kernels", str_text(&file), err);
        str_finish(&file);
        if (text)
            return contents(uri, "text/plain", text);
    }
    *unknown = true;
    err_set(err, "there is no resource %.200s", uri);
    return NULL;
}

/* ---- prompts ---- */

static const struct {
    const char *name, *title, *text;
    struct {
        const char *name, *text;
        bool required;
    } arguments[2];
} prompts[] = {
    {"faster", "Make a kernel faster",
        "Make a kernel file faster, step by step, with each step checked.",
        {{"kernel", "The path of the kernel file", true},
            {"goal", "When to stop, such as: twice as fast", false}}},
    {"mend", "Mend a wrong kernel",
        "Find and mend what is wrong with a candidate, against an original that is right.",
        {{"original", "The path of the kernel that is right", true},
            {"candidate", "The path of the kernel that is wrong", true}}},
    {"write", "Write a kernel", "Write a first kernel with its contract, and check it.",
        {{"task", "What the kernel computes, with shapes and types", true},
            {"kernel", "The path of the file to write", true}}},
};
enum { NR_PROMPTS = sizeof(prompts) / sizeof(prompts[0]) };

json_t *mcp_prompts_list(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < NR_PROMPTS; i++) {
        json_t *arguments = json_array();

        for (size_t k = 0; k < 2 && prompts[i].arguments[k].name; k++)
            json_array_append_new(
                arguments, json_pack("{s:s, s:s, s:b}", "name", prompts[i].arguments[k].name,
                               "description", prompts[i].arguments[k].text, "required",
                               (int)prompts[i].arguments[k].required));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:o}", "name", prompts[i].name, "title",
                      prompts[i].title, "description", prompts[i].text, "arguments", arguments));
    }
    return list;
}

/* Adds the text with {name} replaced by the argument's value. */
static void add_filled(struct str *out, const char *text, const json_t *arguments)
{
    while (*text) {
        const size_t len = strcspn(text, "{"), name = text[len] ? strcspn(text + len + 1, "}") : 0;
        struct str key = {0};
        const json_t *value;

        str_add_n(out, text, len);
        text += len;
        if (!*text)
            return;
        str_add_n(&key, text + 1, name);
        value = json_object_get(arguments, str_text(&key));
        str_finish(&key);
        if (json_is_string(value))
            str_add_n(out, json_string_value(value), json_string_length(value));
        text += name + 1 + (text[name + 1] == '}');
    }
}

static bool has_arguments(size_t i, const json_t *arguments, struct err *err)
{
    for (size_t k = 0; k < 2 && prompts[i].arguments[k].name; k++) {
        const json_t *value = json_object_get(arguments, prompts[i].arguments[k].name);

        if ((prompts[i].arguments[k].required || value) && !json_is_string(value))
            return err_set(err, "the prompt %s needs the argument %s, a string: %s",
                prompts[i].name, prompts[i].arguments[k].name, prompts[i].arguments[k].text);
    }
    return true;
}

json_t *mcp_prompt_get(const char *name, const json_t *arguments, struct err *err)
{
    struct str filled = {0}, file = {0};
    json_t *text, *result = NULL;
    size_t i = 0;

    while (i < NR_PROMPTS && strcmp(prompts[i].name, name) != 0)
        i++;
    if (i == NR_PROMPTS) {
        err_set(err, "there is no prompt %.200s", name);
        return NULL;
    }
    str_addf(&file, "mcp/%s.md", name);
    text = has_arguments(i, arguments, err) ? shared_text("prompts", str_text(&file), err) : NULL;
    str_finish(&file);
    if (text) {
        add_filled(&filled, json_string_value(text), arguments);
        result = json_pack("{s:s, s:[{s:s, s:{s:s, s:s}}]}", "description", prompts[i].text,
            "messages", "role", "user", "content", "type", "text", "text", str_text(&filled));
    }
    json_decref(text);
    str_finish(&filled);
    return result;
}
