/* What a terminal may see: characters pass, control characters do not, wherever a write ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/terminal.h"

#include <string.h>

#define BAD "\xef\xbf\xbd"

static const struct {
    const char *in, *out;
} cases[] = {
    {"plain\ttext\n", "plain\ttext\n"},
    {"\x1b[31mred", BAD "[31mred"},
    {"a\rb\bc\x7f", "a" BAD "b" BAD "c" BAD},
    {"\xc3\xbc \xe6\x97\xa5 \xf0\x9f\x98\x80", "\xc3\xbc \xe6\x97\xa5 \xf0\x9f\x98\x80"},
    {"\xc2\x9b"
     "31m",
        BAD "31m"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"\x9b", BAD},
    {"\xff\xfe", BAD BAD},
    {"\xe2\x80\xae"
     "txt",
        BAD "txt"},
    {"\xe2\x81\xa6", BAD},
    {"\xed\xa0\x80", BAD BAD BAD},
    {"\xc3(", BAD "("},
    {"\xe6\x97(", BAD BAD "("},
    {"\xc0\xaf", BAD BAD},
};

/* The text in pieces of `piece` bytes. */
static void clean(const char *in, size_t piece, char *out)
{
    struct terminal_pending pending = {0};
    const size_t len = strlen(in);
    size_t nr = 0;

    for (size_t at = 0; at < len; at += piece)
        nr += terminal_clean(&pending, in + at, len - at < piece ? len - at : piece, out + nr);
    out[nr] = '\0';
}

static void test_characters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t piece = 1; piece < 8; piece++) {
            char out[256];

            clean(cases[i].in, piece, out);
            assert_string_equal(out, cases[i].out);
        }
}

/* Every byte after every byte: nothing below a blank comes out, and no byte alone above 127. */
static void test_pairs(void **state)
{
    (void)state;
    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 1; b < 256; b++) {
            const char in[] = {(char)a, (char)b, ' ', 0};
            char out[64];

            clean(in, 3, out);
            for (const char *at = out; *at; at++)
                assert_true((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t');
            assert_int_equal(out[strlen(out) - 1], ' ');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters), cmocka_unit_test(test_pairs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
