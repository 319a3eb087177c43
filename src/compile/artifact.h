/* Private to compile/: the answer of the compiler child as one run of bytes with a checksum. The
 * child sends these bytes, and the cache keeps them. */
#ifndef KEET_COMPILE_ARTIFACT_H
#define KEET_COMPILE_ARTIFACT_H

#include "base/arena.h"
#include "base/str.h"
#include "nv/nvrtc.h"

#include <stdbool.h>

struct artifact {
    enum nvrtc_outcome outcome;
    const char *outcome_text;
    const char *ptx, *log;
    const void *cubin; /* 16-byte aligned */
    size_t ptx_bytes, cubin_bytes, log_bytes;
    const char **lowered;
    unsigned nr_lowered;
};

/* Appends the bytes of an answer; a log over 64 KiB is cut. */
void artifact_pack(const struct nvrtc_answer *answer, struct str *bytes);

/* Copies the bytes into the arena and reads them. False: they differ, be it by a bit, from those
 * that artifact_pack made. */
bool artifact_unpack(const void *bytes, size_t len, struct arena *arena, struct artifact *artifact);

#endif
