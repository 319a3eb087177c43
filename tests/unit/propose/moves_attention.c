/* Attention in one pass over the keys: each result is compiled, run on the emulator and compared
 * with the original on sizes with tails; what is no attention is refused. */
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

#define SIZES_AT(rel, abs)                                                                         \
    "#pragma keet size   H = 2, S = 70, D = 24\n"                                                  \
    "#pragma keet check  H = 2, S = 37, D = 17\n"                                                  \
    "#pragma keet check  H = 1, S = 5, D = 40\n"                                                   \
    "#pragma keet check  H = 1, S = 1, D = 1\n"                                                    \
    "#pragma keet in     Q : f32[H][S][D] = uniform(-1, 1)\n"                                      \
    "#pragma keet in     K : f32[H][S][D] = uniform(-1, 1)\n"                                      \
    "#pragma keet in     V : f32[H][S][D] = uniform(-1, 1)\n"                                      \
    "#pragma keet out    O : f32[H][S][D]\n"                                                       \
    "#pragma keet tolerance rel = " rel ", abs = " abs "\n"                                        \
    "#pragma keet temp   P : f32[H][S][S]\n"                                                       \
    "#pragma keet tune   TILE = 16 in {8, 16}\n"                                                   \
    "#pragma keet launch scores<<<dim3(ceil_div(S, TILE), ceil_div(S, TILE), H), dim3(TILE, "      \
    "TILE)>>>(Q, K, P, S, D)\n"
#define SIZES SIZES_AT("1e-4", "1e-5")
#define SOFTMAX(rows) "#pragma keet launch softmax<<<ceil_div(H*S, 64), 64>>>(P, " rows ", S)\n"
#define WEIGH                                                                                      \
    "#pragma keet launch weigh<<<dim3(ceil_div(D, TILE), ceil_div(S, TILE), H), dim3(TILE, "       \
    "TILE)>>>(P, V, O, D, S)\n"
#define SCORES(value)                                                                              \
    "__global__ void scores(const float *Q, const float *K, float *P, int s, int d)\n"             \
    "{\n"                                                                                          \
    "    int h = blockIdx.z;\n"                                                                    \
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"                                       \
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    if (row < s && col < s) {\n"                                                              \
    "        float sum = 0;\n"                                                                     \
    "        for (int k = 0; k < d; k++)\n"                                                        \
    "            sum += Q[(h * s + row) * d + k] * K[(h * s + col) * d + k];\n"                    \
    "        P[(h * s + row) * s + col] = " value ";\n"                                            \
    "    }\n"                                                                                      \
    "}\n\n"
#define ROWS(first, weight, divide)                                                                \
    "__global__ void softmax(float *P, int rows, int cols)\n"                                      \
    "{\n"                                                                                          \
    "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    if (row < rows) {\n"                                                                      \
    "        float largest = " first ";\n"                                                         \
    "        for (int i = 0; i < cols; i++)\n"                                                     \
    "            largest = fmaxf(P[row * cols + i], largest);\n"                                   \
    "        float sum = 0.0f;\n"                                                                  \
    "        for (int i = 0; i < cols; i++) {\n"                                                   \
    "            float e = expf(P[row * cols + i] - largest);\n"                                   \
    "            " weight "\n"                                                                     \
    "            P[row * cols + i] = e;\n"                                                         \
    "        }\n" divide "    }\n"                                                                 \
    "}\n\n"
/* The sizes change places, so that the names of two parameters stand for others. */
#define VALUES                                                                                     \
    "__global__ void weigh(const float *P, const float *V, float *O, int s, int d)\n"              \
    "{\n"                                                                                          \
    "    int h = blockIdx.z;\n"                                                                    \
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"                                       \
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    if (row < d && col < s) {\n"                                                              \
    "        float sum = 0;\n"                                                                     \
    "        for (int k = 0; k < d; k++)\n"                                                        \
    "            sum += P[(h * d + row) * d + k] * V[(h * d + k) * s + col];\n"                    \
    "        O[(h * d + row) * s + col] = 2 * sum;\n"                                              \
    "    }\n"                                                                                      \
    "}\n"
#define DIVIDE "        for (int i = 0; i < cols; i++)\n            P[row * cols + i] /= sum;\n"
#define INVERSE                                                                                    \
    "        float inverse = 1.0f / sum;\n"                                                        \
    "        for (int i = 0; i < cols; i++)\n            P[row * cols + i] *= inverse;\n"

static const char plain[] = SIZES SOFTMAX("H*S") WEIGH SCORES("sum / sqrtf(d)")
    ROWS("P[row * cols]", "sum += e;", DIVIDE) VALUES;
/* Keys after the query have no weight; a whole tile of keys may have none. */
static const char causal[] = SIZES SOFTMAX("H*S") WEIGH SCORES("col <= row ? sum : -INFINITY")
    ROWS("-INFINITY", "sum += e;", INVERSE) VALUES;

/* A tolerance with room for products of two bf16 parts. */
static const char wide[] = SIZES_AT("1e-3", "1e-4") SOFTMAX("H*S") WEIGH SCORES("sum / sqrtf(d)")
    ROWS("P[row * cols]", "sum += e;", DIVIDE) VALUES;

static void test_fused(void **state)
{
    static const char *const sources[] = {plain, wide, causal};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b = begin_judged(sources[i]);
        step(b, ACTION_ATTENTION, 0);
        has(b, "attention<<<dim3(ceil_div(D, 32), ceil_div(S, BM), H), dim3(32, BM / 16 * SPLIT)");
        has(b, "int s = second_s;");
        has(b, i == 1 ? "unsigned a[2][4];" : "unsigned a[3][4];");
        has(b, i == 2 ? "score = col <= row ? sum : -INFINITY;" : "score = (sum) * scale;");
        lacks(b, "temp");
        lacks(b, "TILE");
        step(b, ACTION_READ_ONLY, 0); /* the moves read what this one wrote */
        end(b);
    }
}

/* Rows left out; a largest score that begins at 0; weights that are not all added; a sum of
 * squares; elements that may be NaN; a number of rows that overflows. */
static void test_refused(void **state)
{
    static const char *const sources[] = {SIZES SOFTMAX("S") WEIGH SCORES("sum")
                                              ROWS("-INFINITY", "sum += e;", DIVIDE) VALUES,
        SIZES SOFTMAX("H*S") WEIGH SCORES("sum") ROWS("0", "sum += e;", DIVIDE) VALUES,
        SIZES SOFTMAX("H*S") WEIGH SCORES("sum") ROWS("-INFINITY", "if (i) sum += e;", DIVIDE)
            VALUES,
        SIZES SOFTMAX("H*S") WEIGH SCORES("sum") ROWS("-INFINITY", "sum += e * e;", DIVIDE) VALUES,
        "#pragma keet inputs nan\n" SIZES SOFTMAX("H*S") WEIGH SCORES("sum")
            ROWS("-INFINITY", "sum += e;", DIVIDE) VALUES,
        SIZES SOFTMAX("4294967296*4294967296*H*S") WEIGH SCORES("sum")
            ROWS("-INFINITY", "sum += e;", DIVIDE) VALUES};
    static const char *const whys[] = {"the rows of the three", "no softmax", "no softmax",
        "no softmax", "may be NaN", "the rows of the three"};
    (void)state;
    refuses_each(ACTION_ATTENTION, sources, whys, sizeof(sources) / sizeof(*sources));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
