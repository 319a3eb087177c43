/* Owns the fuzzing of campaigns' lists and folders: no bytes may crash a reader. With libFuzzer:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
 *         -DKEET_VERSION='"0"' -DKEET_FUZZER -Isrc -I. tests/fuzz/fuzz_list.c \
 *         src/campaign/{read_list,manifest}.c src/base/{arena,clock,err,file,mem,str}.c \
 *         -ljansson -o build/fuzz_list
 * As a test it runs by itself, on lists made of a list's parts by dice. */
#include "base/arena.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/str.h"
#include "campaign/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/keet-fuzz-list-XXXXXX";

static void must(bool true_)
{
    if (!true_)
        abort();
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

        must(*name && *name != '.' && !strchr(name, '/') && strlen(name) < 128);
        for (unsigned j = 0; j < i; j++)
            must(strcmp(name, c->tasks[j].name) != 0);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"list.txt", "k.cu", "out/campaign.json", "out/state.json"};
    char paths[4][256], out[256];
    struct campaign c;
    struct err err;

    if (strstr(folder, "XXXXXX") && !mkdtemp(folder))
        abort();
    snprintf(out, sizeof(out), "%s/out", folder);
    for (int i = 0; i < 4; i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
    if (!file_mkdirs(out, &err) || !file_write(paths[1], "x", 1, &err) ||
        !file_write(paths[0], data, size, &err))
        abort();
    campaign_init(&c);
    if (campaign_read(&c, paths[0], NULL, 0, take, NULL, &err)) {
        check(&c);
        write_and_read(&c, out);
    } else {
        must(strstr(err.text, "list.txt"));
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
    return 0;
}

#ifndef KEET_FUZZER
static const char *const parts[] = {"k.cu", " ", "\n", "--seeds ", "1-3", "1,2", "--name ", "a",
    "../x", "'", "\"", "\\", "# ", "--budget 9", "--level 2", "\t", "--seeds=4", "\xff",
    "k.cu --name b", "\r\n", "nothing.cu", "99999999999999999999", "--name=", "k.cu\n"};

static const char *const folders[] = {
    "{\"format\": 1}",
    "{\"format\": 1, \"tasks\": [{}], \"rounds\": 4}",
    ("{\"format\": 1, \"tasks\": [{\"name\": \"../a\", \"kernel\": \"k\", \"device\": \"emu\", "
     "\"budget\": 1}], \"rounds\": 1, \"source\": \"s\", \"started\": \"t\"}"),
    "[1, 2]",
    "{\"format\": 1, \"tasks\": {\"a\": {\"slices\": [{\"round\": -1}]}}}",
    "{\"format\": 1, \"elapsed_s\": 1e999}",
};

int main(void)
{
    char command[64];

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct str text = {0};
        struct rng rng;
        unsigned nr;

        rng_seed(&rng, seed, 0);
        nr = (unsigned)rng_below(&rng, 24);
        for (unsigned i = 0; i < nr; i++)
            str_add(&text, parts[rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
        LLVMFuzzerTestOneInput((const uint8_t *)str_text(&text), text.len);
        str_finish(&text);
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        LLVMFuzzerTestOneInput((const uint8_t *)folders[i], strlen(folders[i]));
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0;
}
#endif
