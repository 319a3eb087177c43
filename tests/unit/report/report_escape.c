/* What keeps text from becoming markup, against strings worked out by hand and RFC vectors. */
#include "report/escape.h"
#include "report/json_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void expect(void (*add)(struct str *, const char *), const char *text, const char *want)
{
    struct str out = {0};

    add(&out, text);
    assert_string_equal(str_text(&out), want);
    str_finish(&out);
}

static void html_has_no_markup(void **state)
{
    (void)state;
    expect(escape_html, "<script>alert('1' & \"2\")</script>",
        "&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;");
    expect(escape_html, NULL, "");
}

static void json_cannot_end_its_element(void **state)
{
    (void)state;
    expect(escape_json, "</script><!-- \"\\\n\t",
        "\"\\u003c/script\\u003e\\u003c!-- \\\"\\\\\\n\\t\"");
    expect(escape_json, NULL, "null");
    expect(escape_json, "", "\"\"");
}

/* U+FFFD is EF BF BD. Well formed: e-acute, euro, a clef beyond the basic plane. Not: a byte alone,
 * an overlong slash, a surrogate, above U+10FFFF, one cut off. */
static void bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    expect(escape_html, "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e",
        "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e");
    expect(escape_html, "a\xe9z", "a\xef\xbf\xbdz");
    expect(escape_html, "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
    expect(escape_json, "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e", "\"\\u00e9\\u20ac\\ud834\\udd1e\"");
    expect(escape_json, "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    expect(escape_html, "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    expect(escape_html, "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
    expect(escape_html, "\x01\x1b[0m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[0m\xef\xbf\xbd");
}

/* RFC 4648, section 10: f, fo, foo, foobar; and SHA-256 of nothing. */
static void base64_as_in_the_rfc(void **state)
{
    (void)state;
    expect(escape_base64, "66", "Zg==");
    expect(escape_base64, "666f", "Zm8=");
    expect(escape_base64, "666f6f", "Zm9v");
    expect(escape_base64, "666f6f626172", "Zm9vYmFy");
    expect(escape_base64, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

static void numbers_that_json_has_not_are_null(void **state)
{
    struct str out = {0};

    (void)state;
    escape_number(&out, NAN);
    str_add_char(&out, ' ');
    escape_number(&out, INFINITY);
    str_add_char(&out, ' ');
    escape_number(&out, 1.25);
    assert_string_equal(str_text(&out), "null null 1.25");
    str_finish(&out);
}

static void what_is_missing_is_null(void **state)
{
    struct str out = {0};
    json_t *all = json_array();

    (void)state;
    json_array_append_new(all, json_text_or_null("a"));
    json_array_append_new(all, json_text_or_null(NULL));
    json_array_append_new(all, json_text_or_null("\xff")); /* not UTF-8 */
    json_array_append_new(all, json_real_or_null(0.5));
    json_array_append_new(all, json_real_or_null(NAN));
    json_add(&out, all, JSON_COMPACT);
    json_add(&out, NULL, JSON_COMPACT); /* a document that could not be made */
    assert_string_equal(str_text(&out), "[\"a\",null,null,0.5,null]\nnull\n");
    str_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_no_markup),
        cmocka_unit_test(json_cannot_end_its_element),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(base64_as_in_the_rfc),
        cmocka_unit_test(numbers_that_json_has_not_are_null),
        cmocka_unit_test(what_is_missing_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
