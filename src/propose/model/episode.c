/* Owns the tools of episodes, and what a model is told of a try. */
#include "propose/model/episode.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/prediction.h"
#include "llm/llm_json.h"
#include "propose/model/evidence.h"
#include "propose/model/phrases.h"

#include <stdlib.h>
#include <string.h>

enum { DIFF_LINES = 160, LINES_SHOWN = 40 };

#define NODE_NUMBER "{\"type\": \"integer\", \"minimum\": 0}"
#define LINE_NUMBER "{\"type\": \"integer\", \"minimum\": 1}"

const struct llm_tool episode_tools[NR_EPISODE_TOOLS + NR_TOOLS] = {
    {.name = "try_version",
        .description = "Compile, check, time and profile a version. The answer says what became of "
                       "it and what limits it. One try at a time.",
        .parameters_json =
            "{\"type\": \"object\", \"properties\": {\"answer\": {\"type\": \"string\", "
            "\"description\": \"MOVE: and EXPECT: lines, then the complete file in one cuda block, "
            "or edits in SEARCH/REPLACE form\"}, \"base\": {\"type\": \"integer\", "
            "\"description\": "
            "\"the number of the version that edits are made on; default: the one tried last\"}}, "
            "\"required\": [\"answer\"]}"},
    {.name = "read_version",
        .description = "The source of a version, with line numbers, and where it stands.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"node\": " NODE_NUMBER
                           "}, \"required\": [\"node\"]}"},
    {.name = "diff",
        .description = "What changed between two versions: lines and counters.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"from\": " NODE_NUMBER
                           ", \"to\": " NODE_NUMBER "}, \"required\": [\"from\", \"to\"]}"},
    {.name = "counters",
        .description = "Counters of a version by line: waiting and its reasons, instructions, "
                       "sectors of global memory, wavefronts of shared memory.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"node\": " NODE_NUMBER
                           ", \"first_line\": " LINE_NUMBER ", \"last_line\": " LINE_NUMBER
                           "}, \"required\": [\"node\"]}"},
    {.name = "read_technique",
        .description = "A page of techniques, by words of its title; without a title, all titles.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"title\": {\"type\": "
                           "\"string\"}}}"},
    {.name = "finish",
        .description = "End the conversation: nothing more is to be gained.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"reason\": {\"type\": "
                           "\"string\"}}, \"required\": [\"reason\"]}"},
    {.name = "search_cutlass",
        .description = "Search the sources of CUTLASS and CuTe that kernels here may include; "
                       "answers with lines as path:line: text.",
        .parameters_json = "{\"type\": \"object\", \"properties\": {\"query\": {\"type\": "
                           "\"string\"}}, \"required\": [\"query\"]}"},
    {.name = "read_cutlass_file",
        .description = "Read lines of a file of CUTLASS and CuTe, at most 200.",
        .parameters_json =
            "{\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}, "
            "\"first_line\": " LINE_NUMBER ", \"nr_lines\": " LINE_NUMBER
            "}, \"required\": [\"path\", \"first_line\", \"nr_lines\"]}"},
};

enum episode_kind episode_kind(const struct llm_tool_call *call)
{
    return strcmp(call->name, "try_version") == 0 ? EPISODE_TRY
           : strcmp(call->name, "finish") == 0    ? EPISODE_FINISH
                                                  : EPISODE_LOOK_UP;
}

/* ---- arguments ---- */

/* A whole number, however it was written; -1: there is none. */
static int64_t number(const json_t *arguments, const char *name)
{
    const json_t *value = json_object_get(arguments, name);
    const char *text = json_string_value(value);
    char *end;
    double x = json_is_number(value) ? json_number_value(value) : -1;

    if (text) {
        x = strtod(text, &end);
        x = end > text && *end == '\0' ? x : -1;
    }
    return x >= 0 && x < 1e9 ? (int64_t)x : -1;
}

static json_t *read_arguments(const struct llm_tool_call *call, const char **why)
{
    return json_from_bytes(call->arguments_json, strlen(call->arguments_json), why);
}

const char *episode_try(
    const struct llm_tool_call *call, struct arena *arena, int64_t *base, const char **why)
{
    const char *wrong = "";
    json_t *arguments = read_arguments(call, &wrong);
    const char *text = json_text(arguments, "answer");

    *base = number(arguments, "base");
    *why = !arguments ? arena_printf(arena, "the arguments are no JSON object: %s", wrong)
           : !*text   ? "try_version needs {\"answer\": \"...\"}"
                      : NULL;
    text = *why ? NULL : arena_strdup(arena, text);
    json_decref(arguments);
    return text;
}

const char *episode_reason(const struct llm_tool_call *call, struct arena *arena)
{
    const char *why = "";
    json_t *arguments = read_arguments(call, &why);
    const char *reason = json_text(arguments, "reason");

    reason = *reason ? arena_strdup(arena, reason) : "the model ended the episode";
    json_decref(arguments);
    return reason;
}

/* What follows `head` at the start of a line outside of fenced blocks; NULL: no such line. */
static const char *find_line(const char *text, const char *head)
{
    bool inside = false;

    for (const char *line = text; line && *line; line = str_next_line(line)) {
        const char *at = line + strspn(line, " \t*`");

        if (str_starts(line, "```") || str_starts(line, "~~~"))
            inside = !inside;
        else if (!inside && str_starts(at, head))
            return at + strlen(head);
    }
    return NULL;
}

int64_t episode_base(const char *text)
{
    const char *at = find_line(text, "BASE:");
    char *end;
    long long node;

    if (!at)
        return -1;
    node = strtoll(at, &end, 10);
    return end > at && node >= 0 ? node : -1;
}

const char *episode_finish_line(const char *text, struct arena *arena)
{
    const char *at = find_line(text, "FINISH:");

    if (!at)
        return NULL;
    at += strspn(at, " \t");
    return *at && *at != '\n' ? arena_strndup(arena, at, strcspn(at, "\r\n"))
                              : "the model ended the episode";
}

/* ---- look-ups ---- */

/* A node by the argument's number. NULL in *c, with a sentence in out: there is none. */
static bool load(const struct episode_sources *s, struct arena *arena, const json_t *arguments,
    const char *name, const struct candidate **c, struct str *out, struct err *err)
{
    const int64_t node = number(arguments, name);

    *c = NULL;
    if (node < 0)
        str_addf(out, "error: \"%s\" needs the number of a version", name);
    else if (!s->journal || !s->journal->load)
        str_add(out, "error: other versions cannot be looked at here");
    else if (!s->journal->load(s->journal->session, arena, node, c, err))
        return false;
    else if (!*c)
        str_addf(out, "error: there is no version %lld", (long long)node);
    return true;
}

static void add_version(const struct episode_sources *s, struct arena *arena,
    const struct candidate *c, struct str *out)
{
    str_addf(out, "Version %lld, from version %lld: ", (long long)c->node, (long long)c->parent);
    if (c->verdict == VERDICT_OK)
        str_addf(out, "right\n%s", phrase_state(arena, c));
    else
        str_addf(out, "%s: %s\n", verdict_name(c->verdict), c->verdict_text ? c->verdict_text : "");
    str_addf(out, "\n%s", phrase_source(arena, arena_strndup(arena, c->source, c->source_bytes)));
}

static void add_line(struct str *out, const struct line_cost *l, double all)
{
    str_addf(out, "%u: %.4g warp instructions", l->line, l->warp_inst);
    if (l->stall_cycles > 0)
        str_addf(out, "; %.1f%% of the waiting", 100 * l->stall_cycles / all);
    for (int w = 0; w < NR_WAITS; w++)
        if (l->stalls[w] > 0.1 * l->stall_cycles)
            str_addf(out, ", %.0f%% of it for %s", 100 * l->stalls[w] / l->stall_cycles,
                wait_reason_name((enum wait_reason)w));
    if (l->global_sectors > 0)
        str_addf(out, "; %.4g global sectors (%.4g at least), %u bytes a lane", l->global_sectors,
            l->global_sectors_ideal, l->access_bytes);
    if (l->shared_wavefronts > 0)
        str_addf(out, "; %.4g shared wavefronts (%.4g at least)", l->shared_wavefronts,
            l->shared_wavefronts_ideal);
    if (l->local_requests > 0)
        str_addf(out, "; %.4g local requests", l->local_requests);
    if (l->atomics > 0)
        str_addf(out, "; %.4g atomics", l->atomics);
    if (l->branches_divergent > 0)
        str_addf(out, "; %.4g of %.4g branches divergent", l->branches_divergent, l->branches);
    str_add(out, "\n");
}

/* The lines of a range, or where none is named those that wait most, in the order of the file. */
static void add_counters(const struct candidate *c, int64_t first, int64_t last, struct str *out)
{
    const struct counters *n = &c->profile.total;
    double all = 0, least = 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < n->nr_lines; i++)
        all += n->lines[i].stall_cycles;
    if (n->nr_lines == 0)
        str_addf(out, "error: no counters by line are known of version %lld", (long long)c->node);
    if (first < 0 && last < 0)
        least = 0.005 * all;
    for (unsigned i = 0; i < n->nr_lines && nr < LINES_SHOWN; i++) {
        const struct line_cost *l = &n->lines[i];

        if ((first >= 0 && l->line < first) || (last >= 0 && l->line > last) ||
            l->stall_cycles < least)
            continue;
        add_line(out, l, all > 0 ? all : 1);
        nr++;
    }
    if (nr == 0 && n->nr_lines > 0)
        str_add(out, "(nothing was counted at these lines)");
}

static bool answer_known(const struct episode_sources *s, struct arena *arena, const char *name,
    const json_t *arguments, struct str *out, struct err *err)
{
    const struct candidate *c, *to = NULL;
    const char *page;

    if (strcmp(name, "read_technique") == 0) {
        page = techniques_page(s->techniques, json_text(arguments, "title"), arena);
        str_addf(out, "%s%s", page ? "" : "The titles:\n",
            page ? page : techniques_titles(s->techniques, arena));
        return true;
    }
    if (strcmp(name, "diff") == 0) {
        if (!load(s, arena, arguments, "from", &c, out, err) ||
            (c && !load(s, arena, arguments, "to", &to, out, err)))
            return false;
        if (c && to)
            str_addf(out, "%s",
                s->evidence ? evidence_change(arena, c, to, DIFF_LINES)
                            : evidence_lines(arena, c, to, DIFF_LINES));
        return true;
    }
    if (!load(s, arena, arguments, "node", &c, out, err))
        return false;
    if (c && strcmp(name, "read_version") == 0)
        add_version(s, arena, c, out);
    else if (c && !s->evidence)
        str_add(out, "error: counters are not shown in this run");
    else if (c)
        add_counters(c, number(arguments, "first_line"), number(arguments, "last_line"), out);
    return true;
}

static bool is_known(const char *name)
{
    for (int i = 0; i < NR_EPISODE_TOOLS; i++)
        if (strcmp(name, episode_tools[i].name) == 0)
            return true;
    return false;
}

bool episode_answer(const struct episode_sources *s, struct arena *arena,
    const struct llm_tool_call *call, size_t most, const char **answer, struct err *err)
{
    const char *why = "";
    struct str out = {0};
    json_t *arguments;
    bool ok = true;

    if (lookup_is_librarys(call->name) && s->library) {
        *answer = lookup_answer(s->library, arena, call, most);
        return true;
    }
    arguments = read_arguments(call, &why);
    if (!is_known(call->name))
        str_addf(&out, "error: there is no tool %.100s", call->name);
    else if (!arguments)
        str_addf(&out, "error: the arguments of %s are no JSON object: %s", call->name, why);
    else
        ok = answer_known(s, arena, call->name, arguments, &out, err);
    json_decref(arguments);
    *answer = lookup_cut(arena, utf8_repair(arena, str_text(&out), out.len), most);
    str_finish(&out);
    return ok;
}

/* ---- what became of a try ---- */

const char *episode_result(struct arena *arena, const struct chip *chip, const struct candidate *c,
    double parent_speedup, bool evidence)
{
    struct str out = {0};
    const char *text;

    str_addf(&out, "This is version %lld. ", (long long)c->node);
    if (c->recalled)
        str_addf(&out, "It compiles to the same as version %lld. ", (long long)c->recalled_from);
    if (c->verdict == VERDICT_OK) {
        str_addf(&out, "It is right, and %.3f times as fast as the version that it came from.\n%s",
            parent_speedup > 0 ? c->speedup / parent_speedup : 1, phrase_state(arena, c));
        text = evidence ? prediction_compared(arena, c) : "";
        str_addf(&out, "%s%s", *text ? "\n" : "", text);
        if (evidence)
            str_addf(&out, "\n\n%s", evidence_text(arena, chip, c));
        text = phrase_findings(arena, c);
        str_addf(&out, "%s%s", *text ? "\n\nWhat the tools found:\n" : "", text);
    } else {
        str_addf(&out, "It failed.\n%s", phrase_problem(arena, c));
        if (c->verdict_line > 0)
            str_addf(&out, "\n\nThe place:\n%s",
                phrase_excerpt(
                    arena, arena_strndup(arena, c->source, c->source_bytes), c->verdict_line));
    }
    return phrase_finish(arena, &out);
}
