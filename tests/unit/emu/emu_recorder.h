/* Writes the files of emu_record.h; the harness calls it. Nothing happens without
 * KEET_RECORD_FORMS. */
#ifndef KEET_TESTS_EMU_RECORDER_H
#define KEET_TESTS_EMU_RECORDER_H

#include "base/hash.h"
#include "emu_record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDER_SLOTS = 1 << 18 };

/* Contents and launches that are written already, by hash. */
struct recorder_slot {
    uint64_t hash;
    struct emu_blob blob;
};

struct recorder_files {
    bool asked;
    FILE *records, *blobs;
    uint64_t end; /* of the blobs */
    struct recorder_slot *slots;
};

static inline struct recorder_files *recorder(void)
{
    static struct recorder_files files;
    const char *folder = getenv("KEET_RECORD_FORMS");
    char path[4096];

    if (files.asked || !folder)
        return files.records && files.blobs ? &files : NULL;
    files.asked = true;
    snprintf(path, sizeof(path), "%s/%s.records", folder, program_invocation_short_name);
    files.records = fopen(path, "we");
    snprintf(path, sizeof(path), "%s/%s.blobs", folder, program_invocation_short_name);
    files.blobs = fopen(path, "we");
    files.slots = calloc(RECORDER_SLOTS, sizeof(*files.slots));
    if (!files.records || !files.blobs || !files.slots) {
        perror(path);
        exit(1);
    }
    return &files;
}

/* The slot of a hash: it is free (hash 0), or the thing was seen. */
static inline struct recorder_slot *recorder_slot(struct recorder_files *files, uint64_t hash)
{
    uint64_t at = hash % RECORDER_SLOTS;
    unsigned tried = 0;

    while (files->slots[at].hash && files->slots[at].hash != hash && tried++ < RECORDER_SLOTS)
        at = (at + 1) % RECORDER_SLOTS;
    return &files->slots[at];
}

static inline struct emu_blob recorder_blob(const void *bytes, uint64_t nr)
{
    struct recorder_files *files = recorder();
    const uint64_t hash = hash_bytes(bytes, nr, nr).low | 1;
    struct recorder_slot *slot = recorder_slot(files, hash);

    if (slot->hash != hash) {
        *slot = (struct recorder_slot){hash, {files->end, nr}};
        files->end += fwrite(bytes, 1, nr, files->blobs);
        fflush(files->blobs);
    }
    return slot->blob;
}

/* Unless the same text with the same inputs is there already. */
static inline void recorder_add(const struct emu_record *record)
{
    struct recorder_files *files = recorder();
    struct emu_record inputs = *record;

    for (unsigned i = 0; i < RECORD_BUFFERS; i++)
        inputs.buffer[i].after = (struct emu_blob){0, 0};
    inputs.nr_before = 0;
    const uint64_t hash = hash_bytes(&inputs, sizeof(inputs), 0).low | 1;
    struct recorder_slot *slot = recorder_slot(files, hash);
    if (slot->hash == hash)
        return;
    slot->hash = hash;
    fwrite(record, sizeof(*record), 1, files->records);
    fflush(files->records);
}

#endif
