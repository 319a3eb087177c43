/* The syntax tree: places, names, loops, macros, what code reads and writes, affine indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/edits.h"
#include "base/file.h"
#include "cuda/affine.h"
#include "cuda/cuda_tree.h"

#include <stdlib.h>
#include <string.h>

static struct arena *arena;

static int setup(void **state)
{
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    arena_destroy(arena);
    return 0;
}

static struct cuda_tree *parse(const char *source)
{
    static const struct tune tune = {.name = "TILE", .value = 16};
    struct err err;
    struct cuda_tree *tree = cuda_tree_parse(arena, source, strlen(source), &tune, 1, &err);
    assert_non_null(tree);
    if (tree->trouble)
        print_message("trouble: %s\n", tree->trouble);
    assert_null(tree->trouble);
    return tree;
}

static struct node *nth(const struct node *root, enum node_kind kind, unsigned i)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n->kind == kind && !i--)
            return (struct node *)n;
    fail_msg("no such node");
    return NULL;
}

static struct node *variable(const struct node *function, const char *name)
{
    for (const struct node *n = function; n; n = node_next(function, n))
        if ((n->kind == NODE_VAR || n->kind == NODE_PARAM) && !strcmp(n->name, name))
            return (struct node *)n;
    fail_msg("no variable %s", name);
    return NULL;
}

static const char matmul[] = "#include <cuda_fp16.h>\n"
                             "#pragma keet tune TILE = 16 in {8, \\\n"
                             "    16}\n"
                             "__global__ void f(const float *A, const float *B, float "
                             "*__restrict__ C, int M, int N, int K)\n"
                             "{\n"
                             "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
                             "    int col = blockIdx.x * TILE + threadIdx.x;\n"
                             "    if (row < M && col < N) {\n"
                             "        float sum = 0;\n"
                             "        for (int k = 0; k < K; k++)\n"
                             "            sum += A[row * K + k] * B[k * N + col];\n"
                             "        C[row * N + col] = sum;\n"
                             "    }\n"
                             "}\n";

static void test_places(void **state)
{
    struct cuda_tree *tree = parse(matmul);
    struct node *f = tree_function(tree, "f<3>");
    assert_non_null(f);
    assert_true(f->is_kernel);
    assert_int_equal(f->line, 4);
    assert_int_equal(function_nr_params(f), 6);
    struct node *a = function_param(f, 0), *c = function_param(f, 2);
    assert_string_equal(tree_text(tree, a), "const float *A");
    assert_true(a->type.is_const && a->type.is_pointer && !a->type.is_restrict);
    assert_string_equal(a->type.base, "float");
    assert_true(c->type.is_restrict && !c->type.is_const);
    assert_int_equal(tree->source[a->name_at], 'A');
    struct node *loop = nth(f, NODE_FOR, 0);
    assert_int_equal(loop->line, 10);
    assert_string_equal(tree_text(tree, loop->body), "sum += A[row * K + k] * B[k * N + col]");
    assert_int_equal(tree->source[tree_stmt_end(tree, loop->body)], '\n');
    assert_string_equal(tree_indent(tree, loop->start), "        ");
    assert_true(node_uses_name(variable(f, "col"), "TILE"));
    assert_ptr_equal(node_statement(nth(loop, NODE_INDEX, 1)), loop->body);
}

static void test_loops(void **state)
{
    struct cuda_tree *tree = parse("__global__ void f(float *a, int n) {\n"
                                   "  for (int i = 3; i < n * 2; i += 4) a[i] = 0;\n"
                                   "  for (int i = n - 1; i >= 0; --i) { if (a[i] > 0) break; }\n"
                                   "  int j; for (j = 0; j != n; j = j + 2) { a[j] = 1; j++; }\n"
                                   "  for (float x = 0; ; ) { return; }\n"
                                   "  for (int i = 0; i < n; i *= 2) a[i] = 0;\n"
                                   "  for (int i = 0; i < i + 1; i++) a[i] = 0;\n"
                                   "}\n");
    struct node *f = tree_function(tree, "f");
    struct for_loop loop;
    assert_true(node_loop(nth(f, NODE_FOR, 0), &loop));
    assert_true(loop.counted && loop.declares && !loop.down);
    assert_string_equal(loop.compare, "<");
    assert_string_equal(tree_text(tree, loop.bound), "n * 2");
    assert_string_equal(tree_text(tree, loop.start), "3");
    assert_string_equal(tree_text(tree, loop.step), "4");
    assert_true(node_loop(nth(f, NODE_FOR, 1), &loop));
    assert_true(loop.down && !loop.counted && !loop.step);
    assert_true(node_loop(nth(f, NODE_FOR, 2), &loop));
    assert_true(!loop.declares && !loop.counted);
    assert_string_equal(tree_text(tree, loop.step), "2");
    assert_false(node_loop(nth(f, NODE_FOR, 3), &loop));
    assert_false(node_loop(nth(f, NODE_FOR, 4), &loop));
    assert_false(node_loop(nth(f, NODE_FOR, 5), &loop));
}

static void test_macros(void **state)
{
    struct cuda_tree *tree = parse("#define WIDTH 64\n#define AT(r, c) ((r) * WIDTH + (c))\n"
                                   "__global__ void f(float *a, int i) {\n"
                                   "  __shared__ float s[WIDTH][TILE + 1];\n"
                                   "  s[0][i] = 2;\n"
                                   "  a[AT(i, 1)] = a[WIDTH] + s[1][2];\n"
                                   "}\n");
    struct node *f = tree_function(tree, "f"), *s = variable(f, "s");
    assert_true(s->is_shared);
    assert_null(s->init);
    assert_int_equal(s->type.nr_dims, 2);
    assert_int_equal(s->type.dims[0], 64);
    assert_int_equal(s->type.dims[1], 17);
    struct node *store = nth(f, NODE_ASSIGN, 1);
    assert_true(node_has_macro(store));
    assert_true(node_is_name(node_child(node_strip(store->child->next)->child, 1), "WIDTH"));
    assert_false(node_has_macro(nth(f, NODE_ASSIGN, 0)));
}

static void test_writes(void **state)
{
    struct cuda_tree *tree = parse("__device__ void g(int *p);\n"
                                   "__global__ void f(float *a, float *b, int *c, int *d, int *e,\n"
                                   "                  float4 *v, float *w, int n) {\n"
                                   "  int i = threadIdx.x, once = 2;\n"
                                   "  a[i] += b[i];\n"
                                   "  atomicAdd(&c[i], 1);\n"
                                   "  g(d);\n"
                                   "  i++;\n"
                                   "  float4 x = *(const float4 *)&w[4 * i];\n"
                                   "  v[i] = x;\n"
                                   "  e[i]++;\n"
                                   "}\n");
    struct node *f = tree_function(tree, "f");
    static const struct {
        const char *name;
        bool written;
    } expected[] = {{"a", true}, {"b", false}, {"c", true}, {"d", true}, {"e", true}, {"v", true},
        {"w", false}, {"n", false}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        if (node_writes(f->body, variable(f, expected[i].name)) != expected[i].written)
            fail_msg("%s", expected[i].name);
    assert_false(node_is_single(f, variable(f, "i")));
    assert_true(node_is_single(f, variable(f, "once")));
}

static void test_templates(void **state)
{
    struct cuda_tree *tree = parse(
        "template <typename T, int W>\n__global__ void f(const T *a, T *b, half *h, int n) {\n"
        "  T s = 0;\n"
        "  for (int k = 0; k < W; ++k) s += a[k] * max(s, a[0]);\n"
        "  b[0] = s; h[0] = h[1] * h[2];\n"
        "}\n");
    struct node *f = tree_function(tree, "f<float, 4>");
    assert_non_null(f);
    assert_true(node_calls(f, "max"));
    assert_string_equal(nth(f, NODE_ASSIGN, 0)->op, "+=");
    assert_true(node_writes(f->body, variable(f, "b")));
    assert_false(node_writes(f->body, variable(f, "a")));
    assert_int_equal(variable(f, "h")->type.scalar, SCALAR_F16);
    assert_string_equal(tree_text(tree, nth(f, NODE_INDEX, 4)), "h[1]");
}

static void test_trouble(void **state)
{
    /* no trouble: numbers of 8 bits, which libclang 14 does not know */
    parse("__global__ void f(const __nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b) {\n"
          "  b[0] = __nv_fp8_e5m2(2 * (float)a[1] + float(b[2]));\n}\n");
    const char source[] = "__global__ void f(float *a) {\n  a[0] = unknown(1);\n}\n";
    struct err err;
    struct cuda_tree *tree = cuda_tree_parse(arena, source, strlen(source), NULL, 0, &err);
    assert_non_null(tree);
    assert_non_null(tree->trouble);
    assert_non_null(strstr(tree->trouble, "line 2"));
}

static void test_affine(void **state)
{
    struct cuda_tree *tree = parse(matmul);
    struct node *f = tree_function(tree, "f");
    struct node *loop = nth(f, NODE_FOR, 0);
    const struct node *base;
    struct affine index;
    int64_t value;
    assert_true(affine_access(tree, f, nth(loop, NODE_INDEX, 0), &base, &index));
    assert_ptr_equal(base, variable(f, "A"));
    assert_int_equal(affine_coefficient(&index, "k", &value), COEFFICIENT_CONSTANT);
    assert_int_equal(value, 1);
    assert_int_equal(affine_coefficient(&index, "threadIdx.x", &value), COEFFICIENT_ZERO);
    assert_int_equal(affine_coefficient(&index, "threadIdx.y", &value), COEFFICIENT_SYMBOLIC);
    assert_string_equal(affine_coefficient_text(arena, &index, "threadIdx.y"), "K");
    assert_true(affine_access(tree, f, nth(loop, NODE_INDEX, 1), &base, &index));
    assert_int_equal(affine_coefficient(&index, "threadIdx.x", &value), COEFFICIENT_CONSTANT);
    assert_int_equal(value, 1);
    assert_string_equal(affine_coefficient_text(arena, &index, "k"), "N");

    tree = parse("__global__ void f(float *a, int *at, int n) {\n"
                 "  __shared__ float s[8][33];\n"
                 "  int i = threadIdx.x; int j = i / n; int m = 0; m += i;\n"
                 "  a[2 * (i - 3) * 4 + 1] = s[i][n];\n"
                 "  a[i * i] = a[at[i]];\n"
                 "  a[j] = a[m];\n"
                 "}\n");
    f = tree_function(tree, "f");
    static const struct {
        const char *text;
        enum coefficient kind;
        int64_t value;
    } expected[] = {{"a[2 * (i - 3) * 4 + 1]", COEFFICIENT_CONSTANT, 8},
        {"s[i][n]", COEFFICIENT_CONSTANT, 33}, {"a[i * i]", COEFFICIENT_NONLINEAR, 0},
        {"a[at[i]]", COEFFICIENT_NONLINEAR, 0}, {"a[j]", COEFFICIENT_NONLINEAR, 0}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        bool found = false;
        for (const struct node *n = f; n; n = node_next(f, n)) {
            if (n->kind != NODE_INDEX || strcmp(tree_text(tree, n), expected[i].text))
                continue;
            found = true;
            assert_true(affine_access(tree, f, n, &base, &index));
            if (affine_coefficient(&index, "threadIdx.x", &value) != expected[i].kind)
                fail_msg("%s", expected[i].text);
            if (expected[i].kind == COEFFICIENT_CONSTANT)
                assert_int_equal(value, expected[i].value);
        }
        assert_true(found);
    }
}

static void test_edits(void **state)
{
    struct edits edits = {.arena = arena};
    const char source[] = "one two three";
    edits_replace(&edits, 4, 7, "2");
    edits_insert(&edits, 4, "a");
    edits_insert(&edits, 4, "b");
    edits_replace(&edits, 0, 3, "%d", 1);
    size_t bytes;
    assert_string_equal(edits_apply(&edits, source, strlen(source), &bytes), "1 ab2 three");
    assert_int_equal(bytes, 11);
    assert_string_equal(edits_slice(&edits, source, 4, 9), "ab2 t");
    edits_replace(&edits, 5, 9, "x");
    assert_null(edits_apply(&edits, source, strlen(source), &bytes));
}

/* Every kernel that ships is understood. */
static void test_shipped(void **state)
{
    static const char *const names[] = {"matmul", "softmax", "attention", "conv2d", "histogram",
        "matmul_f16", "prefix_sum", "stencil3d", "swiglu", "bias_gelu"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *text;
        size_t len;
        struct err err;
        char *path = arena_printf(arena, KEET_SOURCE_DIR "/kernels/%s.cu", names[i]);
        assert_true(file_read(path, 1 << 20, &text, &len, &err));
        static const struct tune tunes[] = {{.name = "TILE", .value = 16}};
        struct cuda_tree *tree = cuda_tree_parse(arena, text, len, tunes, 1, &err);
        assert_non_null(tree);
        if (tree->trouble)
            fail_msg("%s: %s", names[i], tree->trouble);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_loops, setup, teardown),
        cmocka_unit_test_setup_teardown(test_macros, setup, teardown),
        cmocka_unit_test_setup_teardown(test_writes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_templates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trouble, setup, teardown),
        cmocka_unit_test_setup_teardown(test_affine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_edits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shipped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
