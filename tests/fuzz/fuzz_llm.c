/* Owns the hammering of what endpoints answer: no bytes may crash a reader, what comes out is
 * UTF-8, and events do not depend on how the bytes were cut. The first byte chooses protocol, way
 * and cut.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_llm -max_len=4096 build/corpus tests/fuzz/seeds/llm */
#include "llm/llm_json.h"
#include "llm/llm_wire.h"
#include "llm/sse.h"

#include "hammer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct wire *const wires[] = {&wire_chat, &wire_responses, &wire_messages};

static void check_utf8(const struct str *text)
{
    struct str repaired = {0};

    utf8_add(&repaired, str_text(text), text->len);
    assert(repaired.len == text->len && !memcmp(str_text(&repaired), str_text(text), text->len));
    str_finish(&repaired);
}

static void check_reading(struct reading *reading)
{
    check_utf8(&reading->text);
    check_utf8(&reading->error);
    assert(reading->nr_calls <= READING_MAX_CALLS);
    for (unsigned i = 0; i < reading->nr_calls; i++) {
        char *arguments = wire_arguments_text(str_text(&reading->calls[i].arguments));
        assert(arguments && arguments[0] == '{');
        free(arguments);
    }
    reading_clear(reading);
}

static void read_stream(
    const struct wire *wire, const char *bytes, size_t len, size_t piece, struct str *all)
{
    struct reading reading = {0};
    struct sse_event event;
    struct sse sse = {0};

    for (size_t at = 0; at <= len; at += piece) {
        if (at + piece > len)
            piece = len - at + 1;
        sse_push(&sse, bytes + at, at + piece > len ? len - at : piece);
        if (at + piece > len)
            sse_end(&sse);
        while (sse_next(&sse, &event)) {
            const char *why;
            json_t *root = json_from_bytes(event.data, event.data_bytes, &why);
            str_add(all, event.name);
            str_add_char(all, '|');
            str_add_n(all, event.data, event.data_bytes);
            if (root)
                wire->event(&reading, root);
            json_decref(root);
        }
    }
    check_reading(&reading);
    sse_finish(&sse);
}

static void read_whole(const struct wire *wire, const char *bytes, size_t len)
{
    struct reading reading = {0};
    const char *why;
    json_t *root = json_from_bytes(bytes, len, &why);

    if (root)
        wire->whole(&reading, root);
    json_decref(root);
    check_reading(&reading);
}

static void read_once(const uint8_t *data, size_t size)
{
    const struct wire *wire = size ? wires[data[0] % 3] : NULL;
    const char *bytes = (const char *)data + 1;
    struct str at_once = {0}, in_pieces = {0};

    if (!wire)
        return;
    if (data[0] & 0x80) {
        read_whole(wire, bytes, size - 1);
        return;
    }
    read_stream(wire, bytes, size - 1, size, &at_once);
    read_stream(wire, bytes, size - 1, 1 + (data[0] >> 2 & 7), &in_pieces);
    assert(at_once.len == in_pieces.len &&
           !memcmp(str_text(&at_once), str_text(&in_pieces), at_once.len));
    str_finish(&at_once);
    str_finish(&in_pieces);
}

const struct fuzzer fuzzer = {
    .once = read_once, .marks = "{}[],:\"\\0123456789.-+eE \ntfnul\r\xc3\xe2\x80u"};
