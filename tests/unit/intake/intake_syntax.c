/* Owns the tests of intake's syntax: tokens, number literals, spellings, #include lines. */
#include "base/arena.h"
#include "base/mem.h"
#include "intake/syntax/decls.h"
#include "intake/syntax/spelling.h"
#include "intake/syntax/tokens.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena *arena;

static int set_up(void **state)
{
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(arena);
    return 0;
}

static struct toks tokens_of(const char *text)
{
    struct toks toks;

    assert_true(toks_lex(&toks, arena, text, strlen(text)));
    return toks;
}

static void test_tokens(void **state)
{
    const struct toks toks =
        tokens_of("#define N \\\n 4\nk<<<g, f(1, 2)>>>(x); // k\nfloat y = 1'000.5e-3f; /* k */");

    assert_int_equal(toks.tok[0].kind, TOK_DIRECTIVE);
    assert_string_equal(toks.tok[1].text, "k");
    assert_int_equal(toks.tok[1].line, 3);
    assert_int_equal(toks.tok[1].again, 0);
    assert_string_equal(toks.tok[2].text, "<<<");
    const unsigned close = toks_find(&toks, 3, toks.nr, ">>>"),
                   end = toks_find(&toks, 0, toks.nr, "=");

    assert_int_equal(toks.tok[close + 1].match, close + 3);
    assert_string_equal(toks_text(&toks, arena, 3, close), "g,f(1,2)");
    assert_int_equal(toks.tok[end + 1].kind, TOK_NUMBER);
    assert_string_equal(toks.tok[end + 1].text, "1'000.5e-3f");
    assert_int_equal(toks.nr, end + 3);
}

/* Each branch of an #if opens a bracket, and one token closes them all. */
static void test_brackets_of_branches(void **state)
{
    const struct toks toks = tokens_of("#ifdef A\nif (a) {\n#else\nif (b) {\n#endif\nx; }");
    const unsigned first = toks_find(&toks, 0, toks.nr, "{");

    assert_int_equal(toks.tok[first].match, toks.nr - 1);
    assert_string_equal(toks.tok[toks.nr - 1].text, "}");
    for (unsigned i = first + 1; i < toks.nr; i++)
        if (tok_is(&toks.tok[i], "{"))
            assert_int_equal(toks.tok[i].match, toks.nr - 1);
}

static void test_split(void **state)
{
    const struct toks toks = tokens_of("a, f(b, c), d[1, 2]");
    struct tok_range parts[4];
    const struct tok_range all = {&toks, 0, toks.nr};

    assert_int_equal(tok_range_split(all, parts, ARRAY_SIZE(parts)), 3);
    assert_string_equal(toks_text(&toks, arena, parts[1].from, parts[1].to), "f(b,c)");
    assert_int_equal(tok_range_split(all, parts, 2), 2);
    assert_int_equal(tok_range_split((struct tok_range){&toks, 1, 1}, parts, 4), 0);
}

static void test_angles(void **state)
{
    const struct toks toks = tokens_of("f<a<b>, (c > d)>(x) < y;");

    assert_string_equal(toks.tok[toks_angle(&toks, 1, toks.nr) + 1].text, "(");
    assert_int_equal(toks_angle(&toks, toks.nr - 3, toks.nr), 0);
}

/* C17 6.4.4: integer and floating constants; C++14 adds digit separators and binary ones. */
static void test_literals(void **state)
{
    static const struct {
        const char *text;
        double value;
        const char *type;
    } known[] = {{"0", 0, "int"}, {"42", 42, "int"}, {"010", 8, "int"}, {"0b101", 5, "int"},
        {"0x1F", 31, "int"}, {"0xffffffff", 4294967295.0, "unsigned int"},
        {"1'000'000", 1000000, "int"}, {"4000000000", 4000000000.0, "long long"},
        {"7u", 7, "unsigned int"}, {"7UL", 7, "unsigned long long"}, {"7ll", 7, "long long"},
        {"1.5", 1.5, "double"}, {"1e3", 1000, "double"}, {".5f", 0.5, "float"}, {"2.f", 2, "float"},
        {"0x1p4", 16, "double"}, {"1.0L", 1, "double"}};
    struct number_literal n;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        assert_true(literal_read(&n, known[i].text));
        assert_true(n.real == known[i].value);
        assert_string_equal(literal_type(&n), known[i].type);
    }
    assert_false(literal_read(&n, "10_km"));
    assert_true(literal_read(&n, "18446744073709551615u"));
    assert_true(n.integer == UINT64_MAX);
}

static void test_c_types(void **state)
{
    static const char *const elems[] = {"f64", "f32", "f16", "bf16", "e4m3", "e5m2", "i64", "i32",
        "i16", "i8", "u64", "u32", "u16", "u8", "bool"};
    unsigned lanes;

    for (size_t i = 0; i < ARRAY_SIZE(elems); i++) {
        assert_string_equal(spelling_elem(spelling_c_type(elems[i]), &lanes), elems[i]);
        assert_int_equal(lanes, 1);
    }
    assert_null(spelling_c_type("f31"));
    assert_string_equal(spelling_elem("float4", &lanes), "f32");
    assert_int_equal(lanes, 4);
    assert_int_equal(spelling_bytes("const double3"), 24);
}

static void test_spellings(void **state)
{
    assert_string_equal(spelling_with_number(arena, "n*nx+n", "n", 3), "3*nx+3");
}

static void test_includes(void **state)
{
    bool quoted = false;

    assert_string_equal(headers_include_name(arena, "# include \"a.cuh\" // x", &quoted), "a.cuh");
    assert_true(quoted);
    assert_string_equal(headers_include_name(arena, "#include <cmath>", &quoted), "cmath");
    assert_false(quoted);
    assert_null(headers_include_name(arena, "#define include <x>", &quoted));
    assert_true(headers_is_device("cuda_fp16.h"));
    assert_false(headers_is_device("vector"));
    assert_string_equal(decls_defined_name(arena, "#define  N(x) x"), "N");
    assert_null(decls_defined_name(arena, "#undef N"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_brackets_of_branches),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_c_types),
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_includes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
