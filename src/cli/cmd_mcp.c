/* Owns `keet-opt mcp`: what the server passes on to its verbs, and what they may touch. */
#include "base/arena.h"
#include "cli/commands.h"
#include "cli/option_table.h"
#include "compile/compile.h"
#include "mcp/mcp.h"
#include "nv/toolkit.h"
#include "run/cutlass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 2 * OPTIONS_MOST_GIVEN + 1 };

/* The options that each verb gets, which works in another folder: paths become absolute. */
static void pass_on(const struct options *o, struct arena *arena, const char **words)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < o->nr_given; i++) {
        const struct option_row *row = o->given[i].row;
        char *real = NULL;

        if (!option_goes_with(row, VERB_RUN) || !option_goes_with(row, VERB_INIT) ||
            row->section == SECTION_OUTPUT)
            continue;
        words[nr++] = arena_printf(arena, "--%s", row->name);
        if (row->words && strcmp(row->words, "DIR") == 0)
            real = realpath(o->given[i].value, NULL);
        if (row->value)
            words[nr++] = real ? arena_strdup(arena, real) : o->given[i].value;
        free(real);
    }
    words[nr] = NULL;
}

bool cmd_mcp(const struct options *o, int *status, struct err *err)
{
    struct arena *arena = arena_create();
    char *cuda = toolkit_of_setup(), *cutlass = NULL, *cache = compile_cache_dir();
    const char *words[MOST_WORDS + 1], *readable[3] = {NULL}, *writable[2] = {NULL};
    unsigned nr = 0;
    bool ok = cutlass_find(o->cutlass_dir, &cutlass, err);

    (void)status;
    pass_on(o, arena, words);
    if (cuda)
        readable[nr++] = cuda;
    if (cutlass)
        readable[nr++] = cutlass;
    writable[0] = o->cache_dir ? o->cache_dir : cache;
    if (writable[0] && !*writable[0])
        writable[0] = NULL;
    if (ok && isatty(STDIN_FILENO))
        fputs("keet-opt mcp speaks the Model Context Protocol on standard input and output; an "
              "agent starts it. Ctrl-D ends it.\n",
            stderr);
    command_ends_neatly();
    ok = ok && mcp_serve(&(struct mcp_options){.folder = o->kernel_path,
                             .words = words,
                             .readable = readable,
                             .writable = writable,
                             .version = KEET_VERSION,
                             .jobs = o->campaign.jobs},
                   err);
    free(cuda);
    free(cutlass);
    free(cache);
    arena_destroy(arena);
    return ok;
}
