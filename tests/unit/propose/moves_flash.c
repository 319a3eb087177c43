/* Attention in one kernel, a query a thread, for tensor cores: each result is compiled, run on the
 * emulator and compared with the original on sizes with tails; what is something else is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

#include <stdio.h>

static void judge(struct bench *b, struct candidate *c)
{
    bench_must_equal(b, c);
}

struct text_of {                              /* what differs between the sources */
    const char *elem, *type, *widen, *narrow; /* "bf16", "__nv_bfloat16" and its conversions */
    const char *pitch;                        /* of rows of K */
    const char *query, *bound, *score;        /* factor; keys; what is done to a score */
    const char *start, *key_row, *add, *last; /* largest; a row of K; to total; after the sums */
    const char *rel;
};

static const struct text_of standard = {"bf16", "__nv_bfloat16", "__bfloat162float",
    "__float2bfloat16", "32", " * 0.25f", "s", "", "-INFINITY", "k", "weight", "", "1e-2"};

static const char *source_of(const struct text_of *t)
{
    static char text[4096];
    snprintf(text, sizeof(text),
        "#pragma keet size   H = 2, S = 70\n#pragma keet check  H = 2, S = 37\n"
        "#pragma keet check  H = 1, S = 1\n#pragma keet in     Q : %s[H][S][32] = uniform(-2, 2)\n"
        "#pragma keet in     K : %s[H][S][%s] = uniform(-2, 2)\n"
        "#pragma keet in     V : %s[H][S][32] = uniform(-1, 1)\n#pragma keet out    O : "
        "%s[H][S][32]\n"
        "#pragma keet tolerance rel = %s, abs = 1e-2\n"
        "#pragma keet launch attend<<<dim3(ceil_div(S, 64), H), 64>>>(Q, K, V, O, S)\n"
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#define D 32\n"
        "__global__ void attend(const %s *Q, const %s *K, const %s *V, %s *O, int s)\n{\n"
        "    int q = blockIdx.x * blockDim.x + threadIdx.x;\n    if (q >= s)\n        return;\n"
        "    const int head = blockIdx.y * s;\n    const %s *row = Q + (head + q) * D;\n"
        "    float query[D], sum[D];\n    for (int d = 0; d < D; d++) {\n"
        "        query[d] = %s(row[d])%s;\n        sum[d] = 0;\n    }\n"
        "    float largest = %s, total = 0;\n    for (int k = 0; k < %s; k++) {\n"
        "        float score = 0;\n        for (int d = 0; d < D; d++)\n"
        "            score += query[d] * %s(K[(head + %s) * %s + d]);\n        %s\n"
        "        float most = fmaxf(largest, score);\n"
        "        float old = expf(largest - most), weight = expf(score - most);\n"
        "        total = total * old + %s;\n        for (int e = 0; e < D; e++)\n"
        "            sum[e] = sum[e] * old + weight * %s(V[(head + k) * D + e]);\n"
        "        largest = most;\n    }\n    const float inverse = 1.0f / total;\n    %s\n"
        "    for (int d = 0; d < D; d++)\n"
        "        O[(head + q) * D + d] = %s(sum[d] * inverse);\n}\n",
        t->elem, t->elem, t->pitch, t->elem, t->elem, t->rel, t->type, t->type, t->type, t->type,
        t->type, t->widen, t->query, t->start, t->bound, t->widen, t->key_row, t->pitch, t->score,
        t->add, t->widen, t->last, t->narrow);
    return text;
}

static void test_on_tensor_cores(void **state)
{
    struct text_of sources[4] = {standard, standard, standard, standard};
    (void)state;
    sources[1].bound = "q + 1"; /* keys after the query have no weight */
    sources[2].pitch = "33";    /* rows that 16 bytes at a time do not bring */
    sources[2].query = "";
    sources[2].score = "score *= -0.5f;"; /* the largest is that of the scaled scores */
    sources[3].elem = "f16";
    sources[3].type = "half";
    sources[3].widen = "__half2float";
    sources[3].narrow = "__float2half";
    for (unsigned i = 0; i < 4; i++) {
        struct bench *b = begin_judged(source_of(&sources[i]));
        step(b, ACTION_ATTENTION, 0);
        has(b, "attend<<<dim3(ceil_div(S, 16*ROWS*WARPS), H), 32*WARPS, KEYS*320>>>");
        has(b, i == 1 ? "(gridDim.x - 1 - blockIdx.x)" : "(blockIdx.x * WARPS");
        has(b, i == 2 ? "*= -0.5f" : "(0.25f * 1.44269504f)");
        has(b, i == 3 ? "f32.f16.f16.f32" : "f32.bf16.bf16.f32");
        step(b, ACTION_READ_ONLY, 0); /* the moves read what this one wrote */
        end(b);
    }
}

static void test_refused(void **state)
{
    struct text_of sources[8] = {
        standard, standard, standard, standard, standard, standard, standard, standard};
    static const char *const whys[] = {"no softmax", "no softmax", "no softmax",
        "do not share keys", "no softmax", "no room for weights", "no softmax", "no softmax"};
    (void)state;
    sources[0].start = "0.5f";
    sources[1].add = "weight * weight";
    sources[2].score = "score = score * score;";
    sources[3].key_row = "(q + k) % s";
    sources[4].last = "O[0] = __float2bfloat16(total);";
    sources[5].rel = "1e-3";
    sources[6].score = "if (k > q) score = 0;";
    sources[7].key_row = "(int)V[k]"; /* a place that is loaded */
    for (unsigned i = 0; i < 8; i++) {
        struct bench *b = bench_begin("test.cu", source_of(&sources[i]), false);
        refuses(b, ACTION_ATTENTION, 0, whys[i]);
        end(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_tensor_cores),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
