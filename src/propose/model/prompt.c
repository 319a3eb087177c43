/* Owns the prompt files: reading, checking and filling them. */
#include "propose/model/prompt.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const place_names[NR_PLACES] = {"contract", "hardware", "source", "state",
    "findings", "siblings", "lessons", "move", "plan", "problem", "excerpt", "node", "metrics",
    "hypotheses", "text", "executes", "instructions", "evidence", "best", "others", "partner",
    "techniques", "units", "unit_names", "hint"};
static const char *const files[NR_PROMPTS] = {"system.md", "node.md", "plan.md", "design.md",
    "improve.md", "combine.md", "slower.md", "parameterise.md", "episode.md", "episode_text.md",
    "repair.md", "explain.md", "cutlass.md", "hypotheses.md", "judge.md", "review.md", "correct.md",
    "first.md", "first_again.md", "executes.md"};
/* The order in which values lose lines when a prompt is too long. */
static const enum place cut_order[] = {PLACE_LESSONS, PLACE_TECHNIQUES, PLACE_OTHERS,
    PLACE_SIBLINGS, PLACE_PLAN, PLACE_FINDINGS, PLACE_EVIDENCE, PLACE_PARTNER, PLACE_BEST,
    PLACE_EXCERPT, PLACE_HARDWARE};
static const char left_out[] = "(left out: the prompt would be too long)";

struct prompts {
    char *texts[NR_PROMPTS];
    char *actions[NR_ACTIONS];
};

const char *place_name(enum place place)
{
    return place_names[place];
}

size_t prompt_tokens(const char *text)
{
    return (strlen(text) + TOKEN_BYTES - 1) / TOKEN_BYTES;
}

/* The start of the next "{{name}}" in the text, with its end and its name; NULL: there is none.
 * Other braces are text. */
static const char *find_place(const char *text, const char **end, const char **name, size_t *len)
{
    for (const char *at = text; (at = strstr(at, "{{")); at++) {
        const size_t n = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz_");

        if (n > 0 && at[2 + n] == '}' && at[3 + n] == '}') {
            *name = at + 2;
            *len = n;
            *end = at + n + 4;
            return at;
        }
    }
    return NULL;
}

static int place_of(const char *name, size_t len)
{
    for (int i = 0; i < NR_PLACES; i++)
        if (strlen(place_names[i]) == len && !strncmp(place_names[i], name, len))
            return i;
    return -1;
}

static bool check_places(const char *path, const char *text, struct err *err)
{
    const char *at = text, *end, *name;
    size_t len;

    while ((at = find_place(at, &end, &name, &len))) {
        if (place_of(name, len) < 0) {
            unsigned line = 1;
            for (const char *p = text; p < at; p++)
                line += *p == '\n';
            err_set(
                err, "%s:%u: unknown placeholder {{%.*s}}; known are", path, line, (int)len, name);
            for (int i = 0; i < NR_PLACES; i++) {
                const size_t used = strlen(err->text);
                snprintf(err->text + used, sizeof(err->text) - used, "%s {{%s}}", i ? "," : "",
                    place_names[i]);
            }
            return false;
        }
        at = end;
    }
    return true;
}

static bool is_blank(const char *text)
{
    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            return false;
    return true;
}

static bool load_one(const char *dir, const char *name, char **text, struct err *err)
{
    struct str path = {0};
    size_t len;
    bool good;

    str_addf(&path, "%s/%s", dir, name);
    good = file_read(str_text(&path), 1 << 20, text, &len, err) || err_wrap(err, "prompt files");
    if (good && is_blank(*text))
        good = err_set(err, "prompt files: %s is empty", str_text(&path));
    good = good && check_places(str_text(&path), *text, err);
    str_finish(&path);
    return good;
}

static bool load_all(struct prompts *prompts, const char *dir, struct err *err)
{
    for (int i = 0; i < NR_PROMPTS; i++)
        if (!load_one(dir, files[i], &prompts->texts[i], err))
            return false;
    for (int a = 0; a < NR_ACTIONS; a++) {
        struct str name = {0};
        bool good;

        if (action_is_request((enum action)a))
            continue;
        str_addf(&name, "actions/%s.md", action_name((enum action)a));
        good = load_one(dir, str_text(&name), &prompts->actions[a], err);
        str_finish(&name);
        if (!good)
            return false;
    }
    return true;
}

struct prompts *prompts_load(const char *dir, struct err *err)
{
    struct prompts *prompts = xcalloc(1, sizeof(*prompts));

    if (load_all(prompts, dir, err))
        return prompts;
    prompts_destroy(prompts);
    return NULL;
}

void prompts_destroy(struct prompts *prompts)
{
    if (!prompts)
        return;
    for (int i = 0; i < NR_PROMPTS; i++)
        free(prompts->texts[i]);
    for (int a = 0; a < NR_ACTIONS; a++)
        free(prompts->actions[a]);
    free(prompts);
}

const char *prompts_action(const struct prompts *prompts, enum action action)
{
    return action_is_request(action) ? prompts->texts[prompt_of(action)] : prompts->actions[action];
}

enum prompt prompt_of(enum action request)
{
    switch (request) {
    case ACTION_DESIGN:
        return PROMPT_DESIGN;
    case ACTION_COMBINE:
        return PROMPT_COMBINE;
    case ACTION_REPAIR:
        return PROMPT_SLOWER;
    case ACTION_PARAMETERISE:
        return PROMPT_PARAMETERISE;
    case ACTION_EPISODE:
        return PROMPT_EPISODE;
    default:
        return PROMPT_IMPROVE;
    }
}

char *prompt_fill(const struct prompts *prompts, enum prompt prompt,
    const struct prompt_values *values, struct arena *arena)
{
    const char *from = prompts->texts[prompt], *at, *end, *name;
    struct str out = {0};
    size_t len;

    while ((at = find_place(from, &end, &name, &len))) {
        const char *value = values->text[place_of(name, len)];

        str_add_n(&out, from, (size_t)(at - from));
        str_add(&out, value && *value ? value : "(none)");
        from = end;
    }
    str_add(&out, from);
    while (out.len > 0 && isspace((unsigned char)out.text[out.len - 1]))
        out.text[--out.len] = '\0';
    str_add_char(&out, '\n');
    char *text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}

/* The text without its last lines, shorter by at least `bytes`, with a note in their place. */
static const char *cut_lines(struct arena *arena, const char *text, size_t bytes)
{
    size_t keep = strlen(text);
    const size_t want = bytes + sizeof(left_out);

    keep = keep > want ? keep - want : 0;
    while (keep > 0 && text[keep - 1] != '\n')
        keep--;
    return arena_printf(arena, "%.*s%s", (int)keep, text, left_out);
}

bool prompt_trim(const struct prompts *prompts, enum prompt prompt,
    const struct prompt_values *values, size_t budget_tokens, struct arena *arena,
    struct prompt_values *trimmed)
{
    *trimmed = *values;
    for (size_t i = 0;; i++) {
        if (strstr(prompts->texts[prompt], "{{node}}"))
            trimmed->text[PLACE_NODE] = prompt_fill(prompts, PROMPT_NODE, trimmed, arena);
        const size_t bytes = strlen(prompt_fill(prompts, prompt, trimmed, arena));
        const size_t most = budget_tokens * TOKEN_BYTES;

        if (bytes <= most)
            return true;
        if (i == ARRAY_SIZE(cut_order))
            return false;
        const char *text = trimmed->text[cut_order[i]];
        if (text && *text)
            trimmed->text[cut_order[i]] = cut_lines(arena, text, bytes - most);
    }
}
