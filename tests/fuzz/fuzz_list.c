/* Owns the hammering of campaigns' lists and folders: no bytes may crash a reader, and the names
 * that a list gives are file names.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_list -max_len=4096 build/corpus tests/fuzz/seeds/list */
#include "base/arena.h"
#include "base/file.h"
#include "campaign/campaign.h"

#include "hammer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/keet-fuzz-list-XXXXXX";

static void remove_folder(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", folder);
}

static bool take(void *user, struct campaign *c, struct campaign_task *task,
    const char *const *words, unsigned nr, struct err *err)
{
    const char **kept = arena_array(c->arena, nr + 1, sizeof(*kept));

    (void)user;
    (void)err;
    for (unsigned i = 0; i < nr; i++)
        kept[i] = words[i];
    task->words = kept;
    task->nr_words = nr;
    task->budget = 1;
    task->device = "emu";
    return true;
}

/* Names are file names, and differ. */
static void check(const struct campaign *c)
{
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const char *name = c->tasks[i].name;

        assert(*name && *name != '.' && !strchr(name, '/') && strlen(name) < 128);
        for (unsigned j = 0; j < i; j++)
            assert(strcmp(name, c->tasks[j].name) != 0);
    }
}

/* What was written is read back the same. */
static void write_and_read(struct campaign *c, const char *out)
{
    struct campaign again;
    struct err err;
    char path[300];

    if (!campaign_create(c, out, &err))
        return;
    campaign_init(&again);
    if (!campaign_open(&again, out, &err) || !campaign_same(&again, c, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    campaign_finish(&again);
    snprintf(path, sizeof(path), "%s/campaign.json", out);
    unlink(path);
}

static void read_once(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"list.txt", "k.cu", "out/campaign.json", "out/state.json"};
    char paths[4][256], out[256];
    struct campaign c;
    struct err err;

    if (strstr(folder, "XXXXXX") && (!mkdtemp(folder) || atexit(remove_folder)))
        abort();
    snprintf(out, sizeof(out), "%s/out", folder);
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
    if (!file_mkdirs(out, &err) ||
        (!file_exists(paths[1]) && !file_write(paths[1], "x", 1, &err)) ||
        !file_write(paths[0], data, size, &err))
        abort();
    campaign_init(&c);
    if (campaign_read(&c, paths[0], NULL, 0, take, NULL, &err)) {
        check(&c);
        write_and_read(&c, out);
    } else {
        assert(strstr(err.text, "list.txt"));
    }
    campaign_finish(&c);

    for (int i = 2; i < 4; i++) {
        if (!file_write(paths[i], data, size, &err))
            abort();
        campaign_init(&c);
        campaign_open(&c, out, &err);
        campaign_finish(&c);
        unlink(paths[i]);
    }
}

static const char *const parts[] = {"k.cu", " ", "\n", "--seeds ", "1-3", "1,2", "--name ", "a",
    "../x", "'", "\"", "\\", "# ", "--budget 9", "--level 2", "\t", "--seeds=4", "\xff",
    "k.cu --name b", "\r\n", "nothing.cu", "99999999999999999999", "--name=", "k.cu\n", NULL};

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "{}[],:\"\\'0123456789.-#= \n\t/ae", .parts = parts};
