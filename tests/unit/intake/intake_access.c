/* Owns the tests of what a kernel does with the memory behind a parameter. */
#include "base/arena.h"
#include "base/mem.h"
#include "intake/eval/param_access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char helpers[] =
    "struct view { float *data; int n; __device__ void set(float v) { data[0] = v; }\n"
    "  __device__ float operator()(int i) { return data[i]; } };\n"
    "struct list { float *p; __device__ list(float *q) : p(q) {}\n"
    "  __device__ float &operator[](int i) { return p[i]; }\n"
    "  __device__ float &operator()(int i, int j) { return p[i + j]; } };\n"
    "struct one { __device__ void operator()(float &slot) const { slot = 1; } };\n"
    "struct pair { float *a[2]; view inner; };\n"
    "#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)\n"
    "#define AT(p, i) p[(i) * 2]\n"
    "__device__ float total;\n"
    "__device__ float &at(float *p, int i) { return p[i]; }\n"
    "__device__ float *row(float *p, int i) { if (i) return 0; return p + i; }\n"
    "__device__ void put(float &slot) { slot = 1; }\n"
    "__device__ float either(const int *p) { return p[0]; }\n"
    "__device__ void either(float *p) { p[0] = 1; }\n"
    "template <class T> __device__ void to(const T p) { p[0] = 1; }\n"
    "__device__ float pure(const float *p) { return outside(p); }\n"
    "__device__ void down(float *p, int n) { if (n) down(p, n - 1); p[n] = 0; }\n"
    "template <int n> __device__ void special(float *p);\n"
    "template <> __device__ void special<4>(float *p) { p[0] = 4; }\n"
    "__global__ void child(float *p) { p[0] = 1; }\n";

struct file {
    struct arena *arena;
    struct toks toks;
    struct decls decls;
    struct resolver resolver;
    struct interp *interp;
    const struct decl *kernel;
};

static void read_file(struct file *f, const char *parameters, const char *body)
{
    char text[4096];

    memset(f, 0, sizeof(*f));
    snprintf(text, sizeof(text), "%s__global__ void k(%s) { %s }\n", helpers, parameters, body);
    f->arena = arena_create();
    assert_true(toks_lex(&f->toks, f->arena, text, strlen(text)));
    decls_read(&f->decls, f->arena, &f->toks);
    resolver_init(&f->resolver, f->arena, &f->decls, &f->toks);
    f->interp = interp_create(f->arena, &f->resolver);
    f->kernel = decls_function(&f->decls, "k");
}

static const char *letters(bool reads, bool writes, bool atomics, bool may_be_null)
{
    static char text[8];

    snprintf(text, sizeof(text), "%s%s%s%s", reads ? "r" : "", writes ? "w" : "",
        atomics ? "a" : "", may_be_null ? "0" : "");
    return text;
}

/* What is done with the memory of x: r(eads), w(rites), a(tomics), 0: x may be null. */
static void test_pointers(void **state)
{
    static const char *const cases[][2] = {{"x[n] = 1;", "w"}, {"y[n] = x[n];", "r"},
        {"x[n] += 1;", "rw"}, {"x[n]++;", "rw"}, {"*x++ = 1;", "w"}, {"y[0] = *x;", "r"},
        {"x[0] = y[0] = 2;", "w"}, {"y[0] = x[0] = 2;", "w"},
        {"if (n) x[n] = 1; else y[n] = 1;", "w"}, {"n ? x[0] : y[0];", "r"},
        {"float *p = n ? x : y; p[0] = 1;", "w"},
        {"float *p; if (n) p = x; else p = y; p[0] = 1;", "w"},
        {"float *p = y, *q = y, *s = x; for (;;) { p[0] = 1; p = q; q = s; }", "w"},
        {"float *ps[2]; ps[0] = x; ps[n][1] = 2;", "w"},
        {"float *ps[2] = {y, x}; ps[n][1] = 2;", "w"}, {"float &e = x[n]; e = 1;", "w"},
        {"const float &e = x[n]; y[0] = e;", "r"}, {"at(x, n) = 1;", "w"},
        {"y[0] = at(x, n);", "r"}, {"*row(x, n) = 1;", "w"}, {"put(x[n]);", "w"},
        {"down(x, n);", "rw"}, {"y[0] = pure(x);", "r"}, {"special<4>(x);", "w"},
        {"AT(x, n) = 1;", "w"}, {"FOR_EACH(i, n) { x[i] = 0; }", "w"},
        {"auto f = [&](int i) { x[i] = 1; }; f(3);", "w"}, {"each([&](int i) { x[i] = 1; });", "w"},
        {"view v{x, n}; v.set(1);", "w"}, {"view v = {x, n}; y[0] = v(2);", "r"},
        {"reinterpret_cast<float4 *>(x)[n] = v4;", "w"},
        {"reinterpret_cast<int &>(x[n]) = 1;", "w"}, {"*(float4 *)&x[n] = v4;", "w"},
        {"y[0] = (int)x[n];", "r"}, {"atomicAdd(&x[n], 1.0f);", "rwa"},
        {"atomicAdd(x + n, 1.0f);", "rwa"}, {"y[0] = __ldg(x + n);", "r"},
        {"__stcs(x + n, 1.0f);", "w"}, {"outside(x);", "rw"}, {"outside(x[n]);", "r"},
        {"curand_init(1, 2, 3, x);", "w"}, {"wmma::load_matrix_sync(a, x + n, 16);", "r"},
        {"S(t).Store(x + n, items);", "w"},
        {"asm(\"st.global.f32 [%0], %1;\" ::\"l\"(x), \"f\"(y[0]));", "w"},
        {"asm(\"mov.f32 %0, %1;\" : \"=f\"(x[n]) : \"f\"(y[0]));", "w"},
        {"child<<<1, 1>>>(x);", "rw"}, {"keep[n].p = x;", "rw"}, {"y[0] = sizeof(*x);", "0"},
        {"", "0"}, {"if (x) x[n] = 1;", "w0"}, {"if (x != nullptr && n) x[n] = 1;", "w0"},
        {"y[0] = x ? x[0] : 0;", "r0"},
        {"switch (n) { case 1: x[0] = 1; break; default: y[0] = 1; }", "w"},
        {"return; x[0] = 1;", "w"}, {"while (n < 3) { if (n) break; x[n] = 1; }", "w"},
        {"#if OURS\n x[n] = 1;\n#else\n y[0] = x[n];\n#endif\n", "rw"},
        {"__shared__ float s[32]; s[n] = x[n]; x[n] = s[n ^ 1];", "rw"},
        {"(n ? x[0] : y[0]) = 1;", "w"}, {"float &e = n ? y[0] : x[0]; e = 1;", "w"},
        {"y[0] = n ? x[0] : y[1];", "r"}, {"list v(x); v[n] = 1;", "w"},
        {"list v = list(x); v[n] = 1;", "w"}, {"list v{x}; v(n, 1) = 1;", "w"},
        {"list v{x}; y[0] = v[n];", "r"}, {"list v{x}; outside(&v);", "rw"}, {"outside(&x);", "rw"},
        {"one()(x[n]);", "w"}, {"either(x);", "rw"}, {"to(x);", "w"},
        {"auto f = [p = x](int i) { p[i] = 1; }; f(3);", "w"},
        {"auto f = [&e = x[n]] { e = 1; }; f();", "w"},
        {"auto f = [e = x[n]] { y[0] = e; }; f();", "r"},
        {"cuda::atomic_ref<float> a(x[n]); a.fetch_add(1);", "rwa"},
        {"cuda::std::span<float> s(x, n); s[0] = 1;", "rw"}, {"half h(x[n]); y[0] = h;", "r"},
        {"cg::memcpy_async(group, x, y, 4);", "rw"}, {"cg::memcpy_async(group, y, x, 4);", "r"},
        {"n[x] = 1;", "w"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct param params[MAX_PARAMS];
        struct file f;

        read_file(&f, "float *x, float *y, int n", cases[i][0]);
        const unsigned nr = params_read(params, f.arena, &f.decls, f.kernel);

        param_access_pointers(params, nr, f.interp, f.kernel);
        if (strcmp(letters(
                       params[0].reads, params[0].writes, params[0].atomics, params[0].may_be_null),
                cases[i][1]) != 0)
            fail_msg("%s: %s, expected %s", cases[i][0],
                letters(
                    params[0].reads, params[0].writes, params[0].atomics, params[0].may_be_null),
                cases[i][1]);
        arena_destroy(f.arena);
    }
}

static void test_const(void **state)
{
    struct param params[MAX_PARAMS];
    struct file f;

    (void)state;
    read_file(&f, "const float *x, float *y, int n", "outside(x);");
    param_access_pointers(
        params, params_read(params, f.arena, &f.decls, f.kernel), f.interp, f.kernel);
    assert_string_equal(letters(params[0].reads, params[0].writes, 0, 0), "r");
    arena_destroy(f.arena);
}

static void test_members(void **state)
{
    static const char *const cases[][4] = {{"view", "data", "v.set(1);", "w"},
        {"view", "data", "y[0] = v.data[n];", "r"}, {"view", "data", "y[0] = v(n);", "r"},
        {"view", "data", "view w = v; w.data[0] = 1;", "w"}, {"view", "data", "y[0] = 1;", "rw"},
        {"pair", "a[1]", "v.a[n][0] = 1;", "w"}, {"pair", "inner.data", "v.inner.set(1);", "w"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct param p = {.name = "v"};
        struct file f;
        char parameters[64];

        snprintf(parameters, sizeof(parameters), "%s v, float *y, int n", cases[i][0]);
        read_file(&f, parameters, cases[i][2]);
        param_access_member(
            &p, f.interp, f.kernel, "v", interp_type_named(f.interp, cases[i][0]), cases[i][1]);
        if (strcmp(letters(p.reads, p.writes, false, false), cases[i][3]) != 0)
            fail_msg("%s: %s, expected %s", cases[i][2], letters(p.reads, p.writes, false, false),
                cases[i][3]);
        arena_destroy(f.arena);
    }
}

static void test_variables(void **state)
{
    static const char *const cases[][2] = {{"total = 1;", "w"}, {"atomicAdd(&total, 1.0f);", "w"},
        {"y[0] = total;", ""}, {"put(total);", "w"}, {"float *p = &total; *p = 1;", "w"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct file f;

        read_file(&f, "float *y", cases[i][0]);
        if (param_access_writes_variable(f.interp, f.kernel, "total") != (*cases[i][1] == 'w'))
            fail_msg("%s", cases[i][0]);
        arena_destroy(f.arena);
    }
}

/* A body that takes too many steps may do anything. */
static void test_bound(void **state)
{
    struct param params[MAX_PARAMS];
    struct file f;

    (void)state;
    read_file(&f, "float *x",
        "auto a = [&]() { a1(); a1(); };"
        "auto f0 = [&](int i) { y = i + i; };"
        "auto f1 = [&](int i) { f0(1); f0(2); f0(3); f0(4); f0(5); f0(6); f0(7); f0(8); };"
        "auto f2 = [&](int i) { f1(1); f1(2); f1(3); f1(4); f1(5); f1(6); f1(7); f1(8); };"
        "auto f3 = [&](int i) { f2(1); f2(2); f2(3); f2(4); f2(5); f2(6); f2(7); f2(8); };"
        "auto f4 = [&](int i) { f3(1); f3(2); f3(3); f3(4); f3(5); f3(6); f3(7); f3(8); };"
        "auto f5 = [&](int i) { f4(1); f4(2); f4(3); f4(4); f4(5); f4(6); f4(7); f4(8); };"
        "auto f6 = [&](int i) { f5(1); f5(2); f5(3); f5(4); f5(5); f5(6); f5(7); f5(8); };"
        "f6(1);");
    param_access_pointers(
        params, params_read(params, f.arena, &f.decls, f.kernel), f.interp, f.kernel);
    assert_string_equal(letters(params[0].reads, params[0].writes, 0, 0), "rw");
    arena_destroy(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_const),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
