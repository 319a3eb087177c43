/* Owns the tests of the interpreter: what numbers of a program come to, and what is said of them.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/interp.h"
#include "intake/eval/resolver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* Follows a program that launches `use` with one number. main: the body of main; before: what
 * stands above it. launchers: main does not lead to the launch. */
static const struct interp_launch *follow(
    struct file *f, const char *before, const char *main, bool launchers)
{
    char text[2048];

    snprintf(text, sizeof(text),
        "%s\n__global__ void use(int x) {}\nint main(int argc, char **argv) { %s }\n", before,
        main);
    read_file(f, text);
    struct interp *ip = interp_create(f->arena, &f->resolver);

    assert_true(launchers ? interp_launchers(ip) : interp_main(ip, NULL, 0, true));
    assert_int_equal(ip->nr_launches, 1);
    f->resolver.interp = ip;
    return &ip->launches[0];
}

/* What is said of the number that the launch passes; NULL: it is no whole number. */
static void expect_said(const char *before, const char *main, bool launchers, const char *text)
{
    struct file f;
    struct str out = {0};
    const struct interp_launch *l = follow(&f, before, main, launchers);
    const struct said *said = interp_said(f.resolver.interp, &l->args[0]);
    int64_t value, number;

    assert_true((said != NULL) == (text != NULL));
    if (said) {
        assert_true(resolver_write(&f.resolver, said, false, &out));
        assert_string_equal(str_text(&out), text);
    }
    if (said && interp_whole(&l->args[0], &number)) { /* it comes to the number */
        assert_true(resolver_evaluate(&f.resolver, text, &value));
        assert_int_equal(value, number);
    }
    str_finish(&out);
    arena_destroy(f.arena);
}

static void test_expressions(void **state)
{
    static const char *const cases[][3] = {
        {"", "int n = 1024; use<<<1, 1>>>((n + 255) / 256);", "(n+255)/256"},
        {"", "int n = 1024; use<<<1, 1>>>(static_cast<int>(n) * (size_t)4);", "n*4"},
        {"", "use<<<1, 1>>>(0x10 + 010 + 0b11 + 1'000);", "1027"},
        {"", "int n = 1024; use<<<1, 1>>>(std::min(n, 64));", "min(n, 64)"},
        {"", "int n = 1000; use<<<1, 1>>>(ceil((float)n / 256));", "ceil_div(n, 256)"},
        {"", "int n = 1000; use<<<1, 1>>>((int)(n / 256.0));", "n/256"},
        {"", "int n = 1000; use<<<1, 1>>>(n % 128 == 0 ? n / 128 : n / 128 + 1);",
            "n%128==0?n/128:n/128+1"},
        {"", "use<<<1, 1>>>(sizeof(float4) * 2);", "32"},
        {"#define DIV(a, b) (((a) + (b) - 1) / (b))\n", "int n = 100; use<<<1, 1>>>(DIV(n, 32));",
            "(n+32-1)/32"},
        {"int cdiv(int a, int b) { return (a + b - 1) / b; }",
            "int n = 100; use<<<1, 1>>>(cdiv(n, 32));", "(n+32-1)/32"},
        {"void run(int n) { use<<<1, 1>>>(n * 2); }", "run(77);", "n*2"},
        {"", "dim3 block(16, 8); use<<<1, 1>>>(block.y);", "8"},
        {"struct c { int n; };", "struct c cfg = {.n = 77}; use<<<1, 1>>>(cfg.n);", "cfg_n"},
        {"struct c { int n = 77; };",
            "c cfg; int m = argc > 9 && cfg.n > 2; use<<<1, 1>>>(cfg.n + m);", "cfg_n"},
        {"", "int sizes[] = {32, 64}; use<<<1, 1>>>(sizes[1]);", "64"},
        {"", "int n = argc > 1 ? atoi(argv[1]) : 512; use<<<1, 1>>>(n);", "n"},
        {"", "int n = 1; for (int i = 0; i < 7; i++) n *= 2; use<<<1, 1>>>(n);", "n"},
        {"", "int a = 6, b = 2; use<<<1, 1>>>(a - (b - 1) + a / (b * 3));", "a-(b-1)+a/(b*3)"},
        {"", "std::vector<float> x(1e3); use<<<1, 1>>>(x.size());", "1000"},
        {"", "use<<<1, 1>>>(\"text\");", NULL}, {"", "use<<<1, 1>>>(1.5);", NULL}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        expect_said(cases[i][0], cases[i][1], false, cases[i][2]);
}

/* Numbers that nothing gives have names. */
static void test_unknown(void **state)
{
    (void)state;
    expect_said("", "int n = outside(); use<<<1, 1>>>(n * (n + 1));", false, "n*(n+1)");
    expect_said("", "use<<<1, 1>>>(config.width / 2);", false, "config_width/2");
    expect_said("void run(int n) { use<<<1, 1>>>(n + 1); }", "return 0;", true, "n+1");
    expect_said("void run(T x) { use<<<1, 1>>>(x.size(0) * 2); }", "return 0;", true, "x_size0*2");
    expect_said("", "int n = outside(); use<<<1, 1>>>((n ^ 5) & (n | 8));", false, "(n^5)&(n|8)");
    expect_said("void run(int how) { switch (how) { case 3: use<<<1, 1>>>(how); } }", "return 0;",
        true, "3");
}

/* A variable that gets another number which nothing gives is another size. */
static void test_set_anew(void **state)
{
    struct file f;
    struct str out = {0};

    (void)state;
    read_file(&f,
        "__global__ void k(float *x, int n) {}\nint main() { int n = outside(); float *x;\n"
        "cudaMalloc(&x, n * 4); n = n * 2; k<<<n, 1>>>(x, n); }");
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, NULL, 0, true));
    const struct interp_launch *l = &ip->launches[0];

    assert_true(
        resolver_write(&f.resolver, said_share(f.arena, l->args[0].memory->said, 4), false, &out));
    str_add_char(&out, ' ');
    assert_true(resolver_write(&f.resolver, interp_said(ip, &l->args[1]), false, &out));
    str_add_char(&out, ' ');
    assert_true(resolver_write(&f.resolver, interp_said(ip, &l->dims[0][0]), false, &out));
    assert_string_equal(str_text(&out), "n n2 n2");
    str_finish(&out);
    arena_destroy(f.arena);
}

/* A fixed text makes no size of a number that the file gives. */
static void test_fixed(void **state)
{
    struct file f;
    struct str out = {0};
    const struct interp_launch *l = follow(&f, "", "int n = 1024; use<<<1, 1>>>(n * 2);", false);
    const struct said *said = interp_said(f.resolver.interp, &l->args[0]);

    (void)state;
    assert_true(resolver_write(&f.resolver, said, true, &out));
    assert_string_equal(str_text(&out), "1024*2");
    assert_int_equal(f.resolver.nr_sizes, 0);
    str_clear(&out);
    assert_true(resolver_write(&f.resolver, said, false, &out));
    assert_int_equal(f.resolver.nr_sizes, 1);
    assert_int_equal(resolver_size(&f.resolver, "n")->value, 1024);
    str_clear(&out);
    assert_true(resolver_write(&f.resolver, said, true, &out));
    assert_string_equal(str_text(&out), "n*2");
    str_finish(&out);
    arena_destroy(f.arena);
}

static void test_shares(void **state)
{
    struct arena *arena = arena_create();
    const struct said *n = said_named(arena, (struct said_name){.text = "n", .known = true}),
                      *four = said_number(arena, 4), *bytes = said_of(arena, "*", n, four, NULL);

    (void)state;
    assert_ptr_equal(said_share(arena, bytes, 4), n);
    assert_string_equal(said_share(arena, bytes, 8)->op, "/");
    assert_string_equal(said_share(arena, n, 4)->op, "/");
    assert_null(said_of(arena, "*", four, four, NULL)); /* a number as such */
    assert_ptr_equal(said_of(arena, "+", n, said_number(arena, 0), NULL), n);
    const struct said *sum = bytes; /* each part is looked at once */

    for (unsigned i = 0; i < 23; i++)
        sum = said_of(arena, "+", bytes, sum, NULL);
    assert_int_equal(said_share(arena, sum, 4)->weight, 24);
    arena_destroy(arena);
}

/* What a text says grows to a bound, and no further. */
static void test_bound(void **state)
{
    struct arena *arena = arena_create();
    const struct said *s = said_named(arena, (struct said_name){.text = "n", .known = true});
    unsigned rounds = 0;

    (void)state;
    while (s && rounds < 100) {
        s = said_of(arena, "+", s, s, NULL);
        rounds++;
    }
    assert_true(rounds < 10);
    arena_destroy(arena);
}

static void test_memory(void **state)
{
    struct file f;
    struct str out = {0};

    (void)state;
    read_file(&f, "__global__ void k(float *x) {}\nvoid run(float *p) { k<<<1, 1>>>(p); }\n"
                  "int main() { int n = 4096; float *d_x; cudaMalloc(&d_x, n * sizeof(float));\n"
                  "run(d_x); }");
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, NULL, 0, true));
    const struct memory *m = ip->launches[0].args[0].memory;

    assert_string_equal(m->name, "d_x");
    assert_int_equal(m->bytes, 16384);
    assert_int_equal(m->line, 3);
    assert_true(resolver_write(&f.resolver, said_share(f.arena, m->said, 4), false, &out));
    assert_string_equal(str_text(&out), "n");
    str_finish(&out);
    arena_destroy(f.arena);
}

/* A comparison among template arguments stands in parentheses. */
static void test_template_arguments(void **state)
{
    struct file f;

    (void)state;
    const struct interp_launch *l =
        follow(&f, "template <bool LARGE, int N> __global__ void k(int x) {}",
            "const int n = 77; k<(n > 4), (16 >> 2)><<<1, 1>>>(n);", false);

    assert_string_equal(l->template_args[0], "1");
    assert_string_equal(l->template_args[1], "4");
    assert_int_equal(l->args[0].i, 77);
    arena_destroy(f.arena);
}

static void test_arguments(void **state)
{
    static const char *const args[] = {"7"};
    struct file f;

    (void)state;
    read_file(&f, "__global__ void k(float *x, int n) {}\n"
                  "int main(int argc, char **argv) { int n = 1; const int m = atoi(argv[1]);\n"
                  "for (int i = 0; i < m; i++) n *= 2;\n"
                  "float *x; cudaMalloc(&x, n * sizeof(float)); k<<<n / 32, 32>>>(x, n); }");
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, args, 1, true));
    assert_int_equal(ip->nr_launches, 1);
    const struct interp_launch *l = &ip->launches[0];

    assert_int_equal(l->nr_dims[0], 1);
    assert_int_equal(l->dims[0][0].i, 4);
    assert_int_equal(l->dims[1][0].i, 32);
    assert_string_equal(l->site.kernel, "k");
    assert_int_equal(l->args[0].memory->bytes, 512);
    ip = interp_create(f.arena, &f.resolver);
    assert_true(interp_main(ip, NULL, 0, false));
    assert_int_equal(ip->nr_launches, 1);
    assert_int_equal(ip->launches[0].dims[0][0].kind, VALUE_SIZE);
    assert_int_equal(ip->launches[0].dims[1][0].kind, VALUE_INT);
    arena_destroy(f.arena);
}

/* A part of a grid that nothing gives has a name. */
static void test_grid(void **state)
{
    struct file f;
    struct str out = {0};

    (void)state;
    read_file(&f,
        "__global__ void k(int n) {}\nint main() { int n = 64; dim3 grid(outside() + 1.5, n);\n"
        "k<<<grid, 32>>>(n); }");
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, NULL, 0, true));
    assert_int_equal(ip->launches[0].nr_dims[0], 2);
    assert_true(
        resolver_write(&f.resolver, interp_said(ip, &ip->launches[0].dims[0][0]), false, &out));
    assert_string_equal(str_text(&out), "k_grid_x");
    str_finish(&out);
    arena_destroy(f.arena);
}

/* All extents of a tensor count, however many they are. */
static void test_tensor(void **state)
{
    struct file f;
    struct str out = {0};

    (void)state;
    read_file(&f, "__global__ void k(float *x) {}\nvoid run(int n) {\n"
                  "auto x = torch::zeros({n, 2, 3, 1, 5, 7, 11}, options);\n"
                  "k<<<1, 1>>>(x.data_ptr<float>()); }");
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_launchers(ip));
    assert_true(resolver_write(&f.resolver, ip->launches[0].args[0].memory->said, false, &out));
    assert_string_equal(str_text(&out), "n*2*3*5*7*11");
    str_finish(&out);
    arena_destroy(f.arena);
}

/* An object costs what is asked of it, however many fields its struct has. */
static void test_large_objects(void **state)
{
    enum { NR_FIELDS = 2000, NR_OBJECTS = 300 };
    struct file f;
    struct str text = {0};

    (void)state;
    str_add(&text, "__global__ void k(int n, int m) {}\nstruct big { int last = 9;");
    for (unsigned i = 0; i < NR_FIELDS; i++)
        str_addf(&text, " int a%u;", i);
    str_add(&text, " };\nint main() {");
    for (unsigned i = 0; i < NR_OBJECTS; i++)
        str_addf(&text, " big b%u; b%u.a7 = %u; big c%u = b%u;", i, i, i, i, i);
    str_add(&text, " k<<<1, 1>>>(c77.a7, c77.last); }");
    read_file(&f, str_text(&text));
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, NULL, 0, true));
    const struct interp_launch *l = &ip->launches[0];

    assert_int_equal(l->args[0].i, 77);
    assert_int_equal(l->args[1].i, 9);
    assert_true(ip->steps < 100 * NR_OBJECTS);
    str_finish(&text);
    arena_destroy(f.arena);
}

/* A chain of else if is as deep as one statement, and costs as much as is written. */
static void test_long_chain(void **state)
{
    enum { NR_BRANCHES = 5000 };
    struct file f;
    struct str text = {0};

    (void)state;
    str_add(&text, "__global__ void k(int n) {}\nint main() { int n = 77;");
    for (unsigned i = 0; i < NR_BRANCHES; i++)
        str_addf(&text, " if (n == %u) n = %u; else", i + 1000, i);
    str_add(&text, " n = 9; if (n == 9) n++; else if (n > 3) n = 0; k<<<1, 1>>>(n); }");
    read_file(&f, str_text(&text));
    struct interp *ip = interp_create(f.arena, &f.resolver);

    assert_true(interp_main(ip, NULL, 0, true));
    assert_int_equal(ip->nr_launches, 1);
    assert_int_equal(ip->launches[0].args[0].i, 10);
    assert_true(ip->steps < 20 * NR_BRANCHES);
    str_finish(&text);
    arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_set_anew),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_template_arguments),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_large_objects),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
