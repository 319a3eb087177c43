/* The sums of tensor_cores for floats: parts of a sum are added by FADD, which rounds to nearest,
 * and not by the tensor cores, which round towards zero. Over 8192 positive products the latter is
 * off by half a unit in the last place at each of about 3 * 1024 sums, all to one side, 1e-4 of the
 * result; the former by some 1e-6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

static void judge(struct bench *b, struct candidate *c)
{
    bench_must_equal(b, c);
}

static const char product[] =
    "#pragma keet size   M = 32, N = 32, K = 8192\n"
    "#pragma keet check  M = 32, N = 32, K = 8192\n"
    "#pragma keet check  M = 5, N = 35, K = 8001\n"
    "#pragma keet in     A : f32[M][K] = uniform(0.5, 1)\n"
    "#pragma keet in     X : f32[K][N] = uniform(0.5, 1)\n"
    "#pragma keet out    Y : f32[M][N]\n"
    "#pragma keet tolerance rel = 1e-5, abs = 0\n"
    "#pragma keet launch f<<<dim3(ceil_div(N, 16), ceil_div(M, 4)), dim3(16, 4)>>>(A, X, Y, M, N, "
    "K)\n"
    "__global__ void f(const float *A, const float *X, float *Y, int m, int n, int k_n)\n"
    "{\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (row < m && col < n) {\n"
    "        float sum = 0;\n"
    "        for (int k = 0; k < k_n; k++)\n"
    "            sum += A[row * k_n + k] * X[k * n + col];\n"
    "        Y[row * n + col] = sum;\n"
    "    }\n"
    "}\n";

static void test_rounded_to_nearest(void **state)
{
    (void)state;
    struct bench *b = begin_judged(product);
    step(b, ACTION_TENSOR_CORES, 1);
    end(b);
}

static void overwrite(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
}

/* The same kernel, with all products summed by the tensor cores. */
static void test_towards_zero_is_off(void **state)
{
    static const char from[] = "mma_sync(parts[", again[] = ", parts[";
    (void)state;
    if (!compiler)
        skip();
    struct bench *b = begin_judged(product);
    step(b, ACTION_TENSOR_CORES, 1);
    struct candidate c = b->at;
    char *text = arena_strndup(b->arena, c.source, c.source_bytes);
    unsigned nr = 0;
    for (char *at = text; (at = strstr(at, from)); nr++) {
        char *second = strstr(at, again), *end_of_call = strchr(at, ';');
        assert_true(second && second < end_of_call);
        overwrite(second + 2, "sums[ ");
        overwrite(strstr(at, "parts["), "sums[ ");
    }
    assert_int_equal(nr, 3);
    c.source = text;
    c.compilation = (struct compilation){0};
    bench_check(b, &c);
    assert_int_equal(c.verdict, VERDICT_WRONG);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounded_to_nearest),
        cmocka_unit_test(test_towards_zero_is_off),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
