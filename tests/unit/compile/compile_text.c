/* The parts of compile/ that read text which others wrote, on a few thousand broken ones: they must
 * hold their bounds (the sanitizer build looks) and their properties. */
#include "base/rng.h"
#include "base/str.h"
#include "compile/artifact.h"
#include "compile/includes.h"
#include "compile/log_read.h"
#include "compile/ptx_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const source_parts[] = {"#include", "%:include", "?\?=include", " ", "\n",
    "\\\n", "\"", "'", "R\"(", ")\"", "R\"ab(", ")ab\"", "/*", "*/", "//", "<cuda_fp16.h>",
    "\"x.h\"", "/", "#", "define", "T", "1'0", "u8R", "\\", "include", "<", ">", "\t", "a", "\r\n"};

static const char *const log_parts[] = {"k.cu(12): error: ", "k.cu(3): catastrophic error: ",
    "__nv_name_map(2): error: ", "Input name expression was: \" k\"", "\n", " at line 7",
    " at line 9 of k.cu",
    "ptxas error   : ", "ptxas info    : ", "ptxas fatal   : ", "Compiling entry function 'k'",
    "Compiling entry function '", "Function properties for ", "k", "Used 3 registers, ",
    "12 bytes smem", " bytes smem", "99 bytes cmem[0]", " bytes cmem[", "4 bytes stack frame",
    "unction 'k'", "Compile time = 3 ms", "(", ")", ": error", "999999999999", "(1): error",
    "/a/b(2): error: x"};

static const char *const ptx_parts[] = {".section .debug_str {", "}", "{", "\n", " ", "\t", "//",
    ".loc 1 2 3", ".file 1 \"a\"", "add.s32 %r1, %r2, 1;", ".locals", ".section", ".sections"};

static void make_text(struct rng *rng, const char *const *parts, size_t nr_parts, struct str *text)
{
    const uint64_t nr = 1 + rng_below(rng, 24);

    str_clear(text);
    str_add(text, "");
    for (uint64_t i = 0; i < nr; i++)
        str_add(text, parts[rng_below(rng, nr_parts)]);
}

#define MAKE_TEXT(rng, parts, text) make_text(rng, parts, sizeof(parts) / sizeof((parts)[0]), text)

/* Without the lines that define and undefine parameters, what is left is the source. */
static void strip(const char *text, struct str *out)
{
    str_clear(out);
    str_add(out, "");
    while (*text) {
        const size_t len = strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
        if (!str_starts(text, "#define TUNE ") && !str_starts(text, "#line "))
            str_add_n(out, text, len);
        text += len;
    }
}

static void erase(struct str *s, const char *what)
{
    for (char *at = strstr(str_text(s), what); at; at = strstr(at, what)) {
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
        s->len -= strlen(what);
    }
}

static void test_sources(void **state)
{
    static const struct tune tune = {.name = "TUNE", .value = 4};
    static const char *const dirs[] = {"/nonexistent", NULL};
    struct str source = {0}, out = {0}, left = {0}, what = {0};
    struct rng rng;
    unsigned line;

    rng_seed(&rng, 11, 0);
    for (int i = 0; i < 20000; i++) {
        MAKE_TEXT(&rng, source_parts, &source);
        str_clear(&what);
        includes_allowed(source.text, dirs, &line, &what);
        str_clear(&out);
        includes_define_tunes(source.text, &tune, 1, &out);
        strip(out.text, &left);
        erase(&left, "#undef TUNE\n");
        /* An include on a last line without a newline is given one. */
        if (left.len == source.len + 1 && str_ends(left.text, "\n"))
            left.text[--left.len] = '\0';
        if (strcmp(left.text, source.text) != 0)
            fail_msg("from:\n%s\nmade:\n%s", source.text, out.text);
    }
    str_finish(&source);
    str_finish(&out);
    str_finish(&left);
    str_finish(&what);
}

/* What hides a directive from a careless scanner; the compiler sees each of them. */
static void test_hidden_includes(void **state)
{
    static const char *const sources[] = {
        "int aUR\"(\";\n#include \"x\"\n//)\"\n", /* no raw string */
        "#pragma it's\n#include \"x\"\n",          /* a quote without an end */
        "#pragma \"a\\\n\n#include \"x\"\n",
        "#if 0x1'aR\"(\"\n#endif\n#include \"x\"\n//)\"\n", /* numbers that end in R */
        "#pragma 1.R\"(\"\n#include \"x\"\n//)\"\n",
        "#pragma 1e+R\"(\"\n#include \"x\"\n//)\"\n",
        "#pragma R\"abc)(\"\n#include \"x\"\n//)abc)\"\n", /* delimiters that are none */
        "#pragma R\"0123456789abcdefg(\"\n#include \"x\"\n",
        "#pragma R\"(\n#include \"x\"\n",
    };
    static const char *const dirs[] = {NULL};

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        struct str what = {0};
        unsigned line = 0;

        if (includes_allowed(sources[i], dirs, &line, &what))
            fail_msg("let pass: %s", sources[i]);
        assert_true(line > 0);
        str_finish(&what);
    }
}

static void test_logs(void **state)
{
    static const char *const kernels[] = {"k"};
    struct arena *arena = arena_create();
    struct str log = {0};
    struct rng rng;

    rng_seed(&rng, 12, 0);
    for (int i = 0; i < 20000; i++) {
        struct kernel_facts facts = {.kernel = "k", .lowered = "k"};
        struct diagnosis d;

        MAKE_TEXT(&rng, log_parts, &log);
        log_read_facts(log.text, &facts, 1);
        if (log_read_error(log.text, "k.cu", kernels, 1, arena, &d))
            assert_non_null(d.text);
        assert_null(strstr(log_read_stable("ptxas info : Compile time = 1 ms\n", arena), "time"));
        log_read_stable(log.text, arena);
        arena_reset(arena);
    }
    str_finish(&log);
    arena_destroy(arena);
}

/* The essence of an essence is itself. */
static void test_ptx(void **state)
{
    struct str ptx = {0}, once = {0}, twice = {0};
    struct rng rng;

    rng_seed(&rng, 13, 0);
    for (int i = 0; i < 20000; i++) {
        MAKE_TEXT(&rng, ptx_parts, &ptx);
        str_clear(&once);
        str_clear(&twice);
        ptx_essence(ptx.text, ptx.len, &once);
        ptx_essence(str_text(&once), once.len, &twice);
        assert_string_equal(str_text(&once), str_text(&twice));
    }
    str_finish(&ptx);
    str_finish(&once);
    str_finish(&twice);
}

/* Any change of any byte is noticed, and so is any other length. */
static void test_artifacts(void **state)
{
    char ptx[] = ".version 9.0\n", cubin[] = "\177ELF\0\1\2\3", log[] = "", symbol[] = "_Z1k";
    char *lowered[] = {symbol};
    const struct nvrtc_answer answer = {.outcome = NVRTC_GOOD,
        .outcome_text = "NVRTC_SUCCESS",
        .ptx = ptx,
        .cubin = cubin,
        .log = log,
        .ptx_bytes = sizeof(ptx) - 1,
        .cubin_bytes = sizeof(cubin) - 1,
        .lowered = lowered,
        .nr_lowered = 1};
    struct arena *arena = arena_create();
    struct artifact a;
    struct str bytes = {0};

    artifact_pack(&answer, &bytes);
    assert_true(artifact_unpack(bytes.text, bytes.len, arena, &a));
    assert_int_equal(a.outcome, NVRTC_GOOD);
    assert_string_equal(a.outcome_text, "NVRTC_SUCCESS");
    assert_string_equal(a.ptx, ptx);
    assert_int_equal(a.cubin_bytes, sizeof(cubin) - 1);
    assert_memory_equal(a.cubin, cubin, sizeof(cubin) - 1);
    assert_int_equal((uintptr_t)a.cubin % 16, 0);
    assert_string_equal(a.log, "");
    assert_int_equal(a.nr_lowered, 1);
    assert_string_equal(a.lowered[0], "_Z1k");
    for (size_t i = 0; i < bytes.len; i++) {
        bytes.text[i] ^= 0x20;
        assert_false(artifact_unpack(bytes.text, bytes.len, arena, &a));
        bytes.text[i] ^= 0x20;
        assert_false(artifact_unpack(bytes.text, i, arena, &a));
    }
    str_add_char(&bytes, 'x');
    assert_false(artifact_unpack(bytes.text, bytes.len, arena, &a));
    str_finish(&bytes);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_hidden_includes),
        cmocka_unit_test(test_logs),
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_artifacts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
