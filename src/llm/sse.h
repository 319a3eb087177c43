/* Server-sent events, incrementally: bytes in as they come, events out.
 *
 *     sse_push(&sse, bytes, len);
 *     while (sse_next(&sse, &event)) ... event.data ...
 *
 * After WHATWG HTML, section 9.2.6 (event stream interpretation): lines end with CR, LF or both, a
 * byte order mark at the start is skipped, data lines are joined with LF, comments and unknown
 * fields are skipped. Unlike that section, sse_end makes an event of what stands at the end without
 * an empty line. Bytes are passed on as they are, valid UTF-8 or not. A zeroed struct is ready. */
#ifndef KEET_LLM_SSE_H
#define KEET_LLM_SSE_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct sse {
    struct str input; /* from byte `at` on, not yet read */
    size_t at;
    struct str name, data;
    bool has_data, is_given, after_cr, has_begun;
};

struct sse_event {
    const char *name; /* "" if it has none */
    const char *data;
    size_t data_bytes;
};

void sse_push(struct sse *sse, const char *bytes, size_t len);
/* False: no event is complete. The event's strings hold until the next call of any of these. */
bool sse_next(struct sse *sse, struct sse_event *event);
void sse_end(struct sse *sse); /* no more bytes come; sse_next may give one more */

size_t sse_held(const struct sse *sse); /* bytes of an event that has not ended yet */
void sse_finish(struct sse *sse);       /* frees; the struct may be used anew */

#endif
