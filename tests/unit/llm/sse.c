/* Owns the tests of server-sent events and of JSON from strangers. Expected values are by hand,
 * after the examples and rules of WHATWG HTML, section 9.2. */
#include "base/arena.h"
#include "base/mem.h"
#include "base/rng.h"
#include "llm/llm_json.h"
#include "llm/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All events of a stream pushed in pieces of that size, as name|data; */
static char *events_of(const char *bytes, size_t len, size_t piece)
{
    struct sse sse = {0};
    struct sse_event event;
    struct str out = {0};

    for (size_t at = 0; at < len; at += piece) {
        sse_push(&sse, bytes + at, len - at < piece ? len - at : piece);
        while (sse_next(&sse, &event))
            str_addf(&out, "%s|%s;", event.name, event.data);
    }
    sse_end(&sse);
    while (sse_next(&sse, &event))
        str_addf(&out, "%s|%s;", event.name, event.data);
    assert_int_equal(sse_held(&sse), 0);
    sse_finish(&sse);
    str_add(&out, "");
    return str_take(&out);
}

static void expect(const char *stream, const char *events)
{
    for (size_t piece = 1; piece <= strlen(stream) + 1; piece++) {
        char *got = events_of(stream, strlen(stream), piece);
        assert_string_equal(got, events);
        free(got);
    }
}

static void test_events(void **state)
{
    expect("data: a\n\n", "|a;");
    expect("data:a\n\ndata:  b\n\n", "|a;| b;"); /* one blank goes, not two */
    expect("data: a\ndata: b\n\n", "|a\nb;");
    expect("event: x\ndata: a\n\ndata: b\n\n", "x|a;|b;"); /* the name holds for one event */
    expect("event: x\n\ndata: b\n\n", "|b;");              /* no data, no event */
    expect("data\n\ndata\ndata\n\n", "|;|\n;");            /* a field without colon is empty */
    expect(": comment\n\n: more\ndata: a\n\n", "|a;");
    expect("id: 1\nretry: 5\nunknown: z\ndatax: q\ndata: a\n\n", "|a;");
    expect("data: a\r\n\r\ndata: b\r\n\r\n", "|a;|b;");
    expect("data: a\r\rdata: b\r\r", "|a;|b;");
    expect("data: a\r\n\rdata: b\n\r\n", "|a;|b;");
    expect("\xEF\xBB\xBF"
           "data: a\n\n",
        "|a;");
    expect("\xEF\xBB"
           "data: a\n\ndata: b\n\n",
        "|b;"); /* half a mark makes it another field */
    expect(
        "data: a\n\n\n\n\ndata: b", "|a;|b;"); /* the end without an empty line: kept, see sse.h */
    expect("data: {\"a:b\": 1}\n\n", "|{\"a:b\": 1};");
    expect("", "");
}

/* The mark of the bytes' order is left out also where all came before anything was read. */
static void test_mark_and_end(void **state)
{
    struct sse sse = {0};
    struct sse_event event;

    sse_push(&sse,
        "\xEF\xBB\xBF"
        "data: c\n\n",
        12);
    sse_end(&sse);
    assert_true(sse_next(&sse, &event));
    assert_string_equal(event.data, "c");
    sse_finish(&sse);
}

/* However the bytes are cut, the events are the same. */
static void test_random_cuts(void **state)
{
    static const char alphabet[] = "data: event:\r\n\n\r\xEF\xBB\xBF:xd";
    struct rng rng;
    char stream[200];

    rng_seed(&rng, 7, 0);
    for (unsigned round = 0; round < 2000; round++) {
        const size_t len = rng_below(&rng, sizeof(stream));
        char *whole, *cut;
        for (size_t i = 0; i < len; i++)
            stream[i] = alphabet[rng_below(&rng, sizeof(alphabet) - 1)];
        whole = events_of(stream, len, len + 1);
        cut = events_of(stream, len, 1 + rng_below(&rng, 9));
        assert_string_equal(whole, cut);
        free(whole);
        free(cut);
    }
}

static void expect_utf8(const char *bytes, size_t len, const char *repaired)
{
    struct str out = {0};

    utf8_add(&out, bytes, len);
    assert_string_equal(str_text(&out), repaired);
    str_finish(&out);
}

#define R "\xEF\xBF\xBD"

static void test_utf8(void **state)
{
    expect_utf8("plain", 5, "plain");
    expect_utf8("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    expect_utf8("a\0b", 3, "a" R "b");
    expect_utf8("\x80z", 2, R "z");              /* a lone continuation */
    expect_utf8("\xC0\xAF", 2, R R);             /* overlong */
    expect_utf8("\xE0\x80\xAF", 3, R R R);       /* overlong */
    expect_utf8("\xED\xA0\x80", 3, R R R);       /* a surrogate */
    expect_utf8("\xF4\x90\x80\x80", 4, R R R R); /* past U+10FFFF */
    expect_utf8("\xF0\x9F\x98", 3, R R R);       /* cut off */
    expect_utf8("\xE2\x82(", 3, R R "(");
}

static void expect_json(const char *json, const char *text)
{
    const char *why = NULL;
    json_t *root = json_from_bytes(json, strlen(json), &why);

    if (!text) {
        assert_null(root);
        assert_non_null(why);
        return;
    }
    assert_non_null(root);
    assert_string_equal(json_text(root, "a"), text);
    json_decref(root);
}

static void test_json(void **state)
{
    expect_json("{\"a\": \"x\"}", "x");
    expect_json("{\"b\": 1}", "");
    expect_json("{\"a\": 5}", "");
    expect_json("{\"a\": \"\\ud83d\\ude00\"}", "\xF0\x9F\x98\x80");
    expect_json("{\"a\": \"\\ud83d\"}", R);
    expect_json("{\"a\": \"\\ude00\\ud83d\\ud83d\\ude00\"}", R R "\xF0\x9F\x98\x80");
    expect_json("{\"a\": \"\\u0000\"}", R);
    expect_json("{\"a\": \"\\\\u0000\"}", "\\u0000"); /* an escaped backslash, then text */
    expect_json("{\"a\": \"\\\\\\u0000\"}", "\\" R);
    expect_json("{\"a\": \"\xFF\"}", R);
    expect_json("{\"a\": \"[[[[{{{{\"}", "[[[[{{{{"); /* no nesting inside strings */
    expect_json("[1]", NULL);
    expect_json("{\"a\": \"x\"", NULL);
    expect_json("", NULL);
    expect_json("{\"a\": \"x\"} trailing", NULL);
}

static void test_json_depth(void **state)
{
    for (unsigned depth = JSON_MAX_DEPTH - 1; depth <= JSON_MAX_DEPTH + 1; depth++) {
        struct str json = {0};
        const char *why;
        json_t *root;
        str_add(&json, "{\"a\":");
        for (unsigned i = 1; i < depth; i++)
            str_add_char(&json, '[');
        for (unsigned i = 1; i < depth; i++)
            str_add_char(&json, ']');
        str_add_char(&json, '}');
        root = json_from_bytes(json.text, json.len, &why);
        assert_int_equal(root != NULL, depth <= JSON_MAX_DEPTH);
        json_decref(root);
        str_finish(&json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_mark_and_end),
        cmocka_unit_test(test_random_cuts),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
