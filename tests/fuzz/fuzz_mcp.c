/* Owns the hammering of the MCP server's messages: each line is an answer in words or a command of
 * a verb whose words are within their bounds, and no file is written but in the call's own folder.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_mcp -max_len=4096 build/corpus tests/fuzz/seeds/mcp */
#include "base/file.h"
#include "mcp/mcp_message.h"
#include "mcp/mcp_path.h"
#include "mcp/mcp_texts.h"
#include "mcp/mcp_tidy.h"
#include "mcp/mcp_tools.h"

#include "hammer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[] = "/tmp/fuzz-mcp-XXXXXX", root[64], scratch[64];

static void remove_home(void)
{
    char command[96];

    snprintf(command, sizeof(command), "rm -rf %s", home);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", home);
}

/* A folder that is served, with a kernel in it, and a link that leads out of it. */
static void make_home(void)
{
    struct err err = {0};
    char path[96];
    FILE *file;

    assert(mkdtemp(home));
    atexit(remove_home);
    snprintf(root, sizeof(root), "%s/root", home);
    snprintf(scratch, sizeof(scratch), "%s/scratch", home);
    assert(file_mkdirs(root, &err) && file_mkdirs(scratch, &err));
    snprintf(path, sizeof(path), "%s/k.cu", root);
    assert((file = fopen(path, "w")) && fclose(file) == 0);
    snprintf(path, sizeof(path), "%s/out.cu", root);
    assert(symlink("/etc/passwd", path) == 0);
}

/* Files in a folder; of the scratch folder's, all are removed. */
static unsigned nr_files(const char *folder, bool removed)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    char path[512];
    unsigned nr = 0;

    assert(dir);
    while ((entry = readdir(dir)))
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            nr++;
            assert(!removed || unlink(path) == 0);
        }
    closedir(dir);
    return nr;
}

static void call(const struct mcp_tool *tool, const json_t *arguments)
{
    static const char *const device[] = {"--device", "emu", NULL};
    const struct mcp_place place = {arena_create(), root, scratch, device};
    struct mcp_command command;
    struct err err = {0};
    const char *name;
    json_t *value;

    if (!mcp_command_make(&command, tool, arguments, &place, &err)) {
        assert(strlen(err.text) > 10);
    } else {
        assert(command.nr_words < MCP_MOST_WORDS && !command.words[command.nr_words]);
        assert(command.limit_s >= 1 && command.limit_s <= 1e6);
        for (unsigned i = 0; i < command.nr_words; i++)
            assert(command.words[i]);
        assert(!command.db || strcmp(command.db, "k.keet.db") == 0);
    }
    json_object_foreach((json_t *)(uintptr_t)arguments, name, value)
    {
        const char *path = json_is_string(value)
                               ? mcp_path(place.arena, root, json_string_value(value), &err)
                               : NULL;

        assert(!path || strcmp(path, "k.cu") == 0);
    }
    nr_files(scratch, true);
    assert(nr_files(root, false) == 2 && nr_files(home, false) == 2);
    arena_destroy(place.arena);
}

static void answer(const struct mcp_request *request)
{
    const char *name = json_string_value(json_object_get(request->params, "name"));
    const char *uri = json_string_value(json_object_get(request->params, "uri"));
    json_t *arguments = json_object_get(request->params, "arguments");
    const struct mcp_tool *tool = mcp_tool_find(name ? name : "");
    struct err err = {0};
    json_t *found;
    bool unknown;

    assert(request->method &&
           request->method == json_string_value(json_object_get(request->message, "method")));
    if (tool && (!arguments || json_is_object(arguments)))
        call(tool, arguments);
    found = mcp_prompt_get(name ? name : "", arguments, &err);
    assert(found || strlen(err.text) > 10);
    json_decref(found);
    err.text[0] = '\0';
    found = mcp_resource_read(uri ? uri : "", &unknown, &err);
    assert(found || strlen(err.text) > 5);
    json_decref(found);
}

static void read_once(const uint8_t *data, size_t size)
{
    struct mcp_request request;
    enum mcp_code code;
    struct err err = {0};

    if (!root[0])
        make_home();
    if (!mcp_request_read(&request, (const char *)data, size, &code, &err)) {
        assert(strlen(err.text) > 10 && (code == MCP_PARSE || code == MCP_INVALID_REQUEST));
        assert(!request.id || json_is_string(request.id) || json_is_integer(request.id));
    } else if (request.method) {
        answer(&request);
        mcp_tidy(request.params, false);
    }
    mcp_request_finish(&request);
}

static const char *const parts[] = {
    "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": ",
    "\"check\", \"arguments\": {", "\"optimize\", \"arguments\": {", "\"sweep\", \"arguments\": {",
    "\"original\": \"k.cu\"", "\"kernel\": \"k.cu\"", "\"kernel\": \"out.cu\"",
    "\"kernel\": \"../../etc/passwd\"", "\"kernel\": \"a\\nb\"", "\"parameter\": \"N\"",
    "\"values\": [1, 2]", "\"budget\": 3", "\"budget\": -3.5e300", "\"time_limit_s\": 5", ", ",
    ", ", ", ", "}", "}}}", NULL};

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "{}[]\",:\\/.-0123456789eu \n", .parts = parts};
