/* Private to compile/: what the compiler child sends and the cache keeps, as one run of bytes with
 * a checksum. */
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

/* Append the bytes of an answer; a log over 64 KiB is cut. */
void artifact_pack(const struct nvrtc_answer *answer, struct str *bytes);

/* Copy into the arena. False when the bytes are not what artifact_pack made, down to the last bit.
 */
bool artifact_unpack(const void *bytes, size_t len, struct arena *arena, struct artifact *artifact);

#endif
