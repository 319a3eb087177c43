/* Owns the tests of what host expressions come down to: by the text of a file alone, and by the
 * numbers that the interpreter saw. */
#include "base/arena.h"
#include "base/mem.h"
#include "intake/eval/interp.h"
#include "intake/eval/resolver.h"
#include "intake/syntax/spelling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct file {
    struct arena *arena;
    struct toks toks;
    struct decls decls;
    struct resolver resolver;
};

static void read_file(struct file *f, const char *text)
{
    memset(f, 0, sizeof(*f));
    f->arena = arena_create();
    assert_true(toks_lex(&f->toks, f->arena, text, strlen(text)));
    decls_read(&f->decls, f->arena, &f->toks);
    resolver_init(&f->resolver, f->arena, &f->decls, &f->toks);
}

/* The first argument of the call of `use`, where that call stands. */
static struct tok_range used(const struct file *f, unsigned *at)
{
    *at = toks_name(&f->toks, "use", 0);
    assert_true(*at < f->toks.nr);
    return (struct tok_range){&f->toks, *at + 2, f->toks.tok[*at + 1].match};
}

static void expect(const char *body, const char *text)
{
    struct file f;
    struct str out = {0};
    unsigned at;

    read_file(&f, body);
    const struct tok_range range = used(&f, &at);
    const bool ok = resolver_integer(&f.resolver, range, at, &out);

    assert_int_equal(ok, text != NULL);
    if (text)
        assert_string_equal(spelling_tidy(f.arena, str_text(&out)), text);
    str_finish(&out);
    arena_destroy(f.arena);
}

static void test_expressions(void **state)
{
    expect("int main() { int n = 1024; use((n + 255) / 256); }", "(n+255)/256");
    expect("int main() { int n = 1024; use(static_cast<int>(n) * (size_t)4); }", "n*4");
    expect("int main() { use(0x10 + 010 + 0b11 + 1'000); }", "16+8+3+1000");
    expect("int main() { int n = 1024; use(std::min(n, 64)); }", "min(n, 64)");
    expect("int main() { int n = 1024; use(ceil((float)n / 256)); }", "ceil_div(n, 256)");
    expect("int main() { use(sizeof(float4) * 2); }", "16*2");
    expect(
        "#define DIV(a, b) (((a) + (b) - 1) / (b))\nint main() { int n = 100; use(DIV(n, 32)); }",
        "(n+32-1)/32");
    expect("int main() { dim3 block(16, 8); use(block.y); }", "8");
    expect("struct c { int n; }; int main() { struct c cfg = {.n = 77}; use(cfg.n); }", "cfg_n");
    expect("int main() { int sizes[] = {32, 64}; use(sizes[1]); }", "32");
    expect(
        "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 512; use(n); }", "n");
    expect("int main() { use(\"text\"); }", NULL);
    expect("int main() { use(1.5); }", NULL);
}

/* A strict resolver makes no size of what the file does not give, a fixed one none at all; after
 * both, the mode is what it was. */
static void test_modes(void **state)
{
    struct file f;
    struct str out = {0};
    int64_t value = 0;
    unsigned at;

    read_file(&f, "int main() { int n = 1024; use(n * 2); }");
    struct tok_range range = used(&f, &at);

    assert_true(resolver_constant(&f.resolver, range, at, &value));
    assert_int_equal(value, 2048);
    assert_int_equal(f.resolver.nr_sizes, 0);
    assert_false(f.resolver.mode.fixed || f.resolver.mode.strict);
    assert_true(resolver_integer(&f.resolver, range, at, &out));
    assert_int_equal(f.resolver.nr_sizes, 1);
    assert_int_equal(resolver_size(&f.resolver, "n")->value, 1024);
    arena_destroy(f.arena);

    read_file(&f, "int main() { use(unknown); }");
    range = used(&f, &at);
    const struct resolver_mode before =
        resolver_restrict(&f.resolver, (struct resolver_mode){.strict = true});

    assert_false(before.strict);
    assert_false(resolver_integer(&f.resolver, range, at, &out));
    f.resolver.mode = before;
    str_clear(&out);
    assert_true(resolver_integer(&f.resolver, range, at, &out));
    assert_false(resolver_size(&f.resolver, "unknown")->known);
    str_finish(&out);
    arena_destroy(f.arena);
}

/* Numbers of code that is not carried out. */
static void test_said(void **state)
{
    static const struct {
        const char *body;
        double value;
    } known[] = {{"int main() { float x = 0.5f; use(-x * (float)3 + sqrt(16.0)); }", 2.5},
        {"#define SCALE 1e-3\nint main() { use(static_cast<float>(SCALE) * 1'000); }", 1},
        {"int main() { use(M_PI / M_PI); }", 1},
        {"void f(float a) { use(a); }\nint main() { int n = 3; float b = n / 2; f(b); }", 1}};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        struct file f;
        double value;
        unsigned at;

        read_file(&f, known[i].body);
        const struct tok_range range = used(&f, &at);

        struct interp *ip = interp_create(f.arena, &f.resolver);
        const struct interp_value v = interp_said(ip, range, at);

        assert_true(interp_number_of(&v, &value));
        assert_true(value > known[i].value - 1e-9 && value < known[i].value + 1e-9);
        arena_destroy(f.arena);
    }
}

/* Six definitions, each a sum of 60 of the next: what is looked up is bounded. */
static void test_said_has_a_bound(void **state)
{
    struct str text = {0};
    struct file f;
    unsigned at;

    (void)state;
    for (int level = 6; level >= 0; level--) {
        str_addf(&text, "const float v%d = 1.5f", level);
        for (int i = 0; level < 6 && i < 60; i++)
            str_addf(&text, " + v%d", level + 1);
        str_add(&text, ";\n");
    }
    str_add(&text, "int main() { use(v0); }\n");
    read_file(&f, str_text(&text));
    const struct tok_range range = used(&f, &at);
    const struct interp_value v = interp_said(interp_create(f.arena, &f.resolver), range, at);

    assert_true(v.kind == VALUE_REAL || v.kind == VALUE_UNKNOWN);
    str_finish(&text);
    arena_destroy(f.arena);
}

static void test_pointers(void **state)
{
    struct file f;
    struct str elems = {0};
    const char *name, *type;
    unsigned at, where, line;

    read_file(&f, "void run(float *p) { use(p); }\n"
                  "int main() { int n = 4096; float *d_x; cudaMalloc(&d_x, n * sizeof(float));\n"
                  "run(d_x); }");
    const struct tok_range range = used(&f, &at);

    assert_true(resolver_pointer(&f.resolver, range, at, &name, &where));
    assert_string_equal(name, "d_x");
    assert_true(resolver_extent(&f.resolver, name, where, &elems, &type, &line));
    assert_string_equal(spelling_tidy(f.arena, str_text(&elems)), "n");
    assert_string_equal(type, "float");
    assert_int_equal(line, 2);
    str_finish(&elems);
    arena_destroy(f.arena);
}

/* Numbers that only following the program gives. */
static void test_interpreter(void **state)
{
    static const char *const args[] = {"7"};
    struct file f;
    double value;

    read_file(&f, "__global__ void k(float *x, int n) {}\n"
                  "int main(int argc, char **argv) { int n = 1; const int m = atoi(argv[1]);\n"
                  "for (int i = 0; i < m; i++) n *= 2;\n"
                  "float *x; cudaMalloc(&x, n * sizeof(float)); k<<<n / 32, 32>>>(x, n); }");
    struct interp *interp = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(interp, args, 1, true));
    assert_int_equal(interp->nr_launches, 1);
    const struct interp_launch *l = &interp->launches[0];

    assert_true(l->grid_known && l->block_known);
    assert_int_equal(l->grid[0], 4);
    assert_int_equal(l->block[0], 32);
    assert_string_equal(l->site.kernel, "k");
    assert_int_equal(l->args[0].memory->bytes, 512);
    assert_true(interp_number(interp, decls_function(&f.decls, "main"), "n", &value));
    assert_true(value == 128);
    interp = interp_create(f.arena, &f.resolver);
    assert_true(interp_main(interp, NULL, 0, false));
    assert_int_equal(interp->nr_launches, 1);
    assert_false(interp->launches[0].grid_known);
    assert_true(interp->launches[0].block_known);
    arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_said),
        cmocka_unit_test(test_said_has_a_bound),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
