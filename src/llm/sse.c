/* Owns the parsing of server-sent events. */
#include "llm/sse.h"

#include <string.h>

void sse_push(struct sse *sse, const char *bytes, size_t len)
{
    if (sse->at) { /* drop what was read already, so that little is held */
        memmove(sse->input.text, sse->input.text + sse->at, sse->input.len - sse->at);
        sse->input.len -= sse->at;
        sse->at = 0;
    }
    str_add_n(&sse->input, bytes, len);
}

static bool is_named(const char *line, size_t name_len, const char *name)
{
    return name_len == strlen(name) && !memcmp(line, name, name_len);
}

static void take_field(struct sse *sse, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    const size_t name_len = colon ? (size_t)(colon - line) : len;
    const char *value = colon ? colon + 1 : line + len;
    size_t value_len = (size_t)(line + len - value);

    if (value_len && *value == ' ') {
        value++;
        value_len--;
    }
    if (is_named(line, name_len, "data")) {
        if (sse->has_data)
            str_add_char(&sse->data, '\n');
        str_add_n(&sse->data, value, value_len);
        sse->has_data = true;
    } else if (is_named(line, name_len, "event")) {
        str_clear(&sse->name);
        str_add_n(&sse->name, value, value_len);
    }
}

/* The next whole line of the input. False: its end has not come yet. */
static bool next_line(struct sse *sse, const char **line, size_t *len)
{
    const char *start, *end;
    size_t left = sse->input.len - sse->at;

    if (sse->after_cr && left) {
        if (sse->input.text[sse->at] == '\n')
            sse->at++;
        sse->after_cr = false;
    }
    left = sse->input.len - sse->at;
    if (!left)
        return false;
    start = sse->input.text + sse->at;
    for (end = start; end < start + left && *end != '\n' && *end != '\r';)
        end++;
    if (end == start + left)
        return false;
    sse->after_cr = *end == '\r';
    *line = start;
    *len = (size_t)(end - start);
    sse->at += *len + 1;
    return true;
}

static bool skip_mark(struct sse *sse)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t left = sse->input.len - sse->at;

    if (sse->has_begun)
        return true;
    if (left < 3 && left && !memcmp(sse->input.text + sse->at, mark, left))
        return false; /* these may be the first bytes of a byte order mark */
    if (left >= 3 && !memcmp(sse->input.text + sse->at, mark, 3))
        sse->at += 3;
    sse->has_begun = left > 0;
    return true;
}

static void drop_event(struct sse *sse)
{
    str_clear(&sse->data);
    str_clear(&sse->name);
    sse->has_data = sse->is_given = false;
}

bool sse_next(struct sse *sse, struct sse_event *event)
{
    const char *line;
    size_t len;

    if (!skip_mark(sse))
        return false;
    if (sse->is_given)
        drop_event(sse);
    while (next_line(sse, &line, &len)) {
        if (len) {
            take_field(sse, line, len);
        } else if (sse->has_data) {
            *event = (struct sse_event){.name = str_text(&sse->name),
                .data = str_text(&sse->data),
                .data_bytes = sse->data.len};
            sse->is_given = true;
            return true;
        } else {
            drop_event(sse);
        }
    }
    return false;
}

void sse_end(struct sse *sse)
{
    skip_mark(sse);
    sse->has_begun = true;
    sse_push(sse, "\n\n", 2);
}

size_t sse_held(const struct sse *sse)
{
    return sse->input.len - sse->at + sse->data.len + sse->name.len;
}

void sse_finish(struct sse *sse)
{
    str_finish(&sse->input);
    str_finish(&sse->data);
    str_finish(&sse->name);
    *sse = (struct sse){0};
}
