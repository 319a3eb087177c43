/* Owns the look-ups of models: their definitions, the text protocol, and answering. */
#include "propose/model/lookup.h"

#include "base/mem.h"
#include "base/str.h"
#include "llm/llm_json.h"

#include <stdlib.h>
#include <string.h>

static const char search_schema[] =
    "{\"type\": \"object\", \"properties\": {\"query\": {\"type\": \"string\", \"description\": "
    "\"names or words, such as SM90_TMA_LOAD multicast\"}}, \"required\": [\"query\"]}";
static const char read_schema[] =
    "{\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\", \"description\": "
    "\"as shown by search_cutlass\"}, \"first_line\": {\"type\": \"integer\", \"minimum\": 1}, "
    "\"nr_lines\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 200}}, "
    "\"required\": [\"path\", \"first_line\", \"nr_lines\"]}";

const struct llm_tool lookup_tools[NR_TOOLS] = {
    {.name = "search_cutlass",
        .description = "Search the sources of CUTLASS and CuTe that kernels here may include; "
                       "answers with lines as path:line: text.",
        .parameters_json = search_schema},
    {.name = "read_cutlass_file",
        .description = "Read lines of a file of CUTLASS and CuTe, at most 200.",
        .parameters_json = read_schema},
};

const char *lookup_by_text(struct arena *arena)
{
    struct str out = {0};
    const char *text;

    str_addf(&out,
        "\nTo look something up, answer with such lines and nothing else; you get the results and "
        "then go on:\n\n"
        "TOOL search_cutlass {\"query\": \"SM90_TMA_LOAD multicast\"}\n"
        "TOOL read_cutlass_file {\"path\": \"include/cute/arch/copy_sm90_tma.hpp\", "
        "\"first_line\": 100, \"nr_lines\": 60}\n");
    text = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return text;
}

/* ---- the text protocol ---- */

static bool has_fence(const char *text)
{
    for (const char *line = text; *line; line = str_next_line(line)) {
        const char *p = line + strspn(line, " \t");
        if (str_starts(p, "```") || str_starts(p, "~~~"))
            return true;
    }
    return false;
}

/* "TOOL name {...}" up to the end of the line. */
static bool read_tool_line(struct arena *arena, const char *line, struct llm_tool_call *call)
{
    size_t len;

    line += strspn(line, " \t*`");
    if (!str_starts(line, "TOOL "))
        return false;
    line += 5 + strspn(line + 5, " \t");
    len = strcspn(line, " \t\r\n{");
    call->name = arena_strndup(arena, line, len);
    line += len + strspn(line + len, " \t");
    len = strcspn(line, "\r\n");
    while (len && strchr(" \t`*", line[len - 1]))
        len--;
    call->arguments_json = arena_strndup(arena, line, len);
    call->id = "";
    return *call->name != '\0';
}

unsigned lookup_read(struct arena *arena, const char *text, const struct llm_tool_call **calls)
{
    struct llm_tool_call *list = arena_array(arena, TOOL_LINES, sizeof(*list));
    unsigned nr = 0;

    *calls = list;
    if (has_fence(text))
        return 0;
    for (const char *p = text; *p && nr < TOOL_LINES; p = str_next_line(p))
        nr += read_tool_line(arena, p, &list[nr]);
    return nr;
}

/* ---- answers ---- */

/* A whole number, however it was written: 5, 5.0, "5". `otherwise` where it makes no sense. */
static unsigned whole(const json_t *arguments, const char *name, unsigned otherwise)
{
    const json_t *value = json_object_get(arguments, name);
    double number = json_is_number(value) ? json_number_value(value) : 0;

    if (json_is_string(value))
        number = strtod(json_string_value(value), NULL);
    return number >= 1 && number < 1e9 ? (unsigned)number : otherwise;
}

static void search(const struct propose_library *library, const json_t *arguments, struct str *out)
{
    const char *query = json_text(arguments, "query");

    if (*query)
        library->search(library->library, query, out);
    else
        str_add(out, "error: search_cutlass needs {\"query\": \"words\"}");
}

static void read_file(
    const struct propose_library *library, const json_t *arguments, struct str *out)
{
    const char *path = json_text(arguments, "path");

    if (*path)
        library->read(library->library, path, whole(arguments, "first_line", 1),
            whole(arguments, "nr_lines", 80), out);
    else
        str_add(out, "error: read_cutlass_file needs {\"path\": \"...\", \"first_line\": 1, "
                     "\"nr_lines\": 80}");
}

static void run(const struct propose_library *library, const struct llm_tool_call *call,
    const json_t *arguments, const char *why, struct str *out)
{
    const bool is_search = strcmp(call->name, lookup_tools[0].name) == 0;

    if (!is_search && strcmp(call->name, lookup_tools[1].name) != 0)
        str_addf(out, "error: there is no tool %.100s; known are %s and %s", call->name,
            lookup_tools[0].name, lookup_tools[1].name);
    else if (!arguments)
        str_addf(out, "error: the arguments of %s are no JSON object: %s", call->name, why);
    else if (is_search)
        search(library, arguments, out);
    else
        read_file(library, arguments, out);
}

bool lookup_is_librarys(const char *name)
{
    return strcmp(name, lookup_tools[0].name) == 0 || strcmp(name, lookup_tools[1].name) == 0;
}

const char *lookup_cut(struct arena *arena, const char *text, size_t most)
{
    static const char cut[] = "\n(cut: too long)";
    size_t keep = strlen(text);

    if (keep <= most)
        return text;
    keep = most > sizeof(cut) ? most - sizeof(cut) : 0;
    while (keep > 0 && text[keep] != '\n')
        keep--;
    return arena_printf(arena, "%s%s", utf8_repair(arena, text, keep), cut);
}

const char *lookup_answer(const struct propose_library *library, struct arena *arena,
    const struct llm_tool_call *call, size_t most)
{
    const char *why = "", *text;
    json_t *arguments = json_from_bytes(call->arguments_json, strlen(call->arguments_json), &why);
    struct str out = {0};

    run(library, call, arguments, why, &out);
    json_decref(arguments);
    text = lookup_cut(arena, utf8_repair(arena, str_text(&out), out.len), most);
    str_finish(&out);
    return text;
}
