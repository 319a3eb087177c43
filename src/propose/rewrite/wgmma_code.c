/* Writes products by wgmma, and the way of their sums to shared memory. */
#include "propose/rewrite/wgmma_code.h"

#include <string.h>

const char *wgmma_descriptor(struct arena *arena, const char *at, bool by_k)
{
    return arena_printf(arena,
        "(unsigned long long)(%s >> 4 & 0x3fff) | %uull << 16 | 64ull << 32 | 1ull << 62", at,
        by_k ? 1 : WGMMA_TILE_K * WGMMA_ROW_BYTES / 16);
}

void wgmma_product(const struct wgmma_code *w, const char *left, const char *right,
    const char *keep, const char *in)
{
    struct str *s = w->out;
    const unsigned nr = w->columns / 2;
    const int k = !strcmp(w->type, "tf32") ? 8 : *w->type == 'e' ? 32 : 16;
    str_addf(s, "%sasm volatile(\"", in);
    if (keep)
        str_addf(s, "{\\n.reg .pred p;\\nsetp.ne.b32 p, %%%u, 0;\\n\"\n%s    \"", nr + 2, in);
    str_addf(s, "wgmma.mma_async.sync.aligned.m64n%uk%d.f32.%s.%s {\"\n", w->columns, k, w->type,
        w->type);
    for (unsigned i = 0; i < nr; i++)
        str_addf(s, "%s%%%u%s", i % 16 ? "" : arena_printf(w->arena, "%s    \"", in), i,
            i + 1 == nr    ? "}, \"\n"
            : i % 16 == 15 ? ", \"\n"
                           : ", ");
    str_addf(s, "%s    \"%%%u, %%%u, %s, 1, 1%s;%s\"\n%s    : ", in, nr, nr + 1, keep ? "p" : "1",
        k != 16 ? "" /* no transposed operands */
                : arena_printf(w->arena, ", %d, %d", !w->a_by_k, !w->b_by_k),
        keep ? "\\n}" : "", in);
    for (unsigned i = 0; i < nr; i++)
        str_addf(s, "\"+f\"(%s[%u])%s", w->sums, i,
            i + 1 == nr  ? "\n"
            : i % 4 == 3 ? arena_printf(w->arena, ",\n%s    ", in)
                         : ", ");
    str_addf(s, "%s    : \"l\"(%s),\n%s    \"l\"(%s)", in, left, in, right);
    if (keep)
        str_addf(s, ", \"r\"((int)(%s))", keep);
    str_add(s, ");\n");
}

void wgmma_wait(const struct wgmma_code *w, unsigned more, const char *i, const char *in)
{
    str_addf(w->out, "%sasm volatile(\"wgmma.wait_group.sync.aligned %u;\" ::: \"memory\");\n", in,
        more);
    if (!more)
        str_addf(w->out,
            "%s#pragma unroll\n%sfor (int %s = 0; %s < %u; %s++)\n"
            "%s    asm volatile(\"\" : \"+f\"(%s[%s]) :: \"memory\");\n",
            in, in, i, i, w->columns / 2, i, in, w->sums, i);
}

void wgmma_put_sums(const struct wgmma_code *w, const struct wgmma_patch *p)
{
    str_addf(w->out,
        "    #pragma unroll\n    for (int %s = 0; %s < %u; %s++) {\n"
        "        float *%s = %s + %s / 4 * %u + %s * 8 + %s %% 4 * 2;\n",
        p->i, p->i, w->columns / 8, p->i, p->to, p->patch, p->lane, p->pitch, p->i, p->lane);
    str_addf(w->out,
        "        *(float2 *)%s = make_float2(%s[4 * %s], %s[4 * %s + 1]);\n"
        "        *(float2 *)(%s + 8 * %u) = make_float2(%s[4 * %s + 2], %s[4 * %s + 3]);\n    }\n",
        p->to, w->sums, p->i, w->sums, p->i, p->to, p->pitch, w->sums, p->i, w->sums, p->i);
}
