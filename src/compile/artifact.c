/* Owns the layout: a header, then PTX, cubin, log, outcome text and symbols, each with a NUL and
 * padded to 16 bytes. The byte order is native, since the cache belongs to one machine. */
#include "compile/artifact.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

enum { ALIGN = 16, MAX_LOG_BYTES = 64 << 10, MAX_LOWERED = 4096 };

struct header {
    char magic[8];
    struct hash sum; /* of all bytes after this field */
    uint64_t total_bytes;
    uint64_t ptx_bytes, cubin_bytes, log_bytes;
    uint32_t outcome, nr_lowered;
};

enum { SUMMED_FROM = offsetof(struct header, total_bytes) };

static const char magic[8] = "KEETNV1";

static void pad(struct str *bytes)
{
    static const char zeros[ALIGN];

    str_add_n(bytes, zeros, round_up(bytes->len + 1, ALIGN) - bytes->len);
}

void artifact_pack(const struct nvrtc_answer *answer, struct str *bytes)
{
    struct header h = {.ptx_bytes = answer->ptx_bytes,
        .cubin_bytes = answer->cubin_bytes,
        .log_bytes = answer->log_bytes > MAX_LOG_BYTES ? MAX_LOG_BYTES : answer->log_bytes,
        .outcome = (uint32_t)answer->outcome,
        .nr_lowered = answer->nr_lowered};
    const size_t start = bytes->len;

    str_add_n(bytes, (const char *)&h, sizeof(h));
    pad(bytes);
    str_add_n(bytes, answer->ptx, h.ptx_bytes);
    pad(bytes);
    str_add_n(bytes, answer->cubin, h.cubin_bytes);
    pad(bytes);
    str_add_n(bytes, answer->log, h.log_bytes);
    pad(bytes);
    str_add(bytes, answer->outcome_text);
    pad(bytes);
    for (unsigned i = 0; i < answer->nr_lowered; i++) {
        str_add(bytes, answer->lowered[i]);
        pad(bytes);
    }
    memcpy(h.magic, magic, sizeof(magic));
    h.total_bytes = bytes->len - start;
    memcpy(bytes->text + start, &h, sizeof(h));
    h.sum = hash_bytes(bytes->text + start + SUMMED_FROM, h.total_bytes - SUMMED_FROM, 0);
    memcpy(bytes->text + start, &h, sizeof(h));
}

/* Walks the padded parts; `bytes` is NULL once a part does not fit. */
struct part_cursor {
    const char *bytes;
    size_t len, at;
};

static const char *take(struct part_cursor *c, size_t len)
{
    const char *part = c->bytes + c->at;

    if (!c->bytes || len >= c->len - c->at) {
        c->bytes = NULL;
        return NULL;
    }
    len = round_up(len + 1, ALIGN);
    if (len > c->len - c->at)
        c->bytes = NULL;
    else
        c->at += len;
    return part;
}

static const char *take_text(struct part_cursor *c)
{
    return c->bytes ? take(c, strnlen(c->bytes + c->at, c->len - c->at)) : NULL;
}

static bool header_holds(const char *bytes, size_t len, struct header *h)
{
    struct hash sum;

    if (len < sizeof(*h))
        return false;
    memcpy(h, bytes, sizeof(*h));
    if (memcmp(h->magic, magic, sizeof(magic)) != 0 || h->total_bytes != len ||
        h->nr_lowered > MAX_LOWERED || h->outcome > NVRTC_FAILED)
        return false;
    sum = hash_bytes(bytes + SUMMED_FROM, len - SUMMED_FROM, 0);
    return sum.high == h->sum.high && sum.low == h->sum.low;
}

bool artifact_unpack(const void *bytes, size_t len, struct arena *arena, struct artifact *artifact)
{
    struct part_cursor c = {.len = len};
    struct header h;

    if (!header_holds(bytes, len, &h))
        return false;
    c.bytes = memcpy(arena_alloc(arena, len), bytes, len);
    take(&c, sizeof(h));
    *artifact = (struct artifact){.outcome = (enum nvrtc_outcome)h.outcome,
        .ptx_bytes = h.ptx_bytes,
        .cubin_bytes = h.cubin_bytes,
        .log_bytes = h.log_bytes,
        .nr_lowered = h.nr_lowered};
    artifact->ptx = take(&c, h.ptx_bytes);
    artifact->cubin = take(&c, h.cubin_bytes);
    artifact->log = take(&c, h.log_bytes);
    artifact->outcome_text = take_text(&c);
    artifact->lowered = arena_array(arena, h.nr_lowered + 1, sizeof(*artifact->lowered));
    for (unsigned i = 0; i < h.nr_lowered; i++)
        artifact->lowered[i] = take_text(&c);
    return c.bytes != NULL;
}
