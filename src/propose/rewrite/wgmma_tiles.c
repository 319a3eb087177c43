/* wgmma for products whose operands no tensor copy can bring: rows that are no whole pieces of 16
 * bytes at some size, operands along either axis, windows of a convolution in 16 bits, 8-bit
 * floats whose sums need more than the unit's 13 bits, floats. Threads copy tiles (tile_copies), a
 * warpgroup multiplies 64 rows of A with all columns of the block's B, while the copies of later
 * tiles and, for floats, the work on the next one go on.
 *
 * Warps of their own convert an 8-bit float to f16, which is exact, on its way from the copied tile
 * to the ones that wgmma reads. In the same way a float is taken apart into two tf32, and three of
 * the four products of parts are summed (the scheme:
 * Ootomo and Yokota, IJHPCA 2022). The upper part is rounded to nearest, so that the lower one is
 * under 2^-11: the product left out, and what tensor cores do not read of lower parts, are under
 * 2^-20 of a product together. Tensor cores round sums towards zero: each tile's products are
 * summed by themselves, and added to the others by FADD.
 *
 * Where outputs are few, the SPLIT blocks of a cluster share the k of the same outputs. Each adds
 * up its own part of these from the shared memory of all, always in the same order. */
#include "propose/rewrite/wgmma_tiles.h"

#include "propose/rewrite/contraction_code.h"
#include "propose/rewrite/tile_copies.h"

#include <string.h>

enum { ENOUGH_BLOCKS = 100 }; /* that most of a large chip has work */

/* What the tuning parameters start with; SPLIT most. */
struct wgmma_tiling {
    int rows, columns, split;
};

struct tiles_writer {
    const struct contraction *c;
    struct arena *arena;
    struct tile_copies t;
    struct wgmma_code code;
    bool parts;        /* floats, taken apart */
    bool converts;     /* floats, or 8-bit floats: wgmma reads other tiles than those copied */
    const char *eight; /* of 8-bit floats "e4m3" or "e5m2"; else NULL */
    const char *split; /* tuning parameter */
    const char *tiles, *tiles_at, *nr_threads, *rank, *share, *group, *sums, *fresh, *j, *patch,
        *lane, *left, *right, *shared, *high, *halves;
    struct str out, before; /* the kernel's body; what stands before the kernel */
};

/* A named barrier: some threads of the block arrive, or wait for `nr` to arrive. */
static const char *barrier(
    const struct tiles_writer *w, const char *what, const char *number, const char *nr)
{
    return arena_printf(w->arena,
        "asm volatile(\"bar.%s %%0, %%1;\" :: \"r\"(%s), \"r\"(%s) : \"memory\");", what, number,
        nr);
}

static void begin(struct tiles_writer *w, const struct product *p, unsigned columns)
{
    const struct cuda_tree *tree = w->c->in->tree;
    const struct {
        const char **name, *base;
    } names[] = {{&w->t.bm, "BM"}, {&w->t.stages, "STAGES"}, {&w->split, "SPLIT"},
        {&w->tiles, "tiles"}, {&w->tiles_at, "tiles_at"}, {&w->nr_threads, "NR_THREADS"},
        {&w->rank, "rank"}, {&w->share, "share"}, {&w->group, "warpgroup"}, {&w->sums, "sums"},
        {&w->fresh, "fresh"}, {&w->j, "j"}, {&w->patch, "patch"}, {&w->lane, "lane"},
        {&w->left, "left"}, {&w->right, "right"}, {&w->shared, "shared"}, {&w->high, "high"},
        {&w->halves, "to_halves"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(tree, names[i].base);
    w->parts = p->scalar == SCALAR_F32;
    w->eight = p->eight;
    w->converts = w->parts || w->eight;
    tile_copies_begin(&w->t, w->c, p, &w->out);
    w->t.bn = arena_printf(w->arena, "%u", columns);
    w->t.bk = w->parts ? "32" : "64";
    w->t.threads = w->converts ? "128" : w->nr_threads;
    w->t.barrier = w->converts ? barrier(w, "sync", "1", "128") : "__syncthreads();";
    w->t.swizzled = !w->converts;
    w->t.whole_rows = true;
    w->t.lag = w->converts ? 1 : 2;
    w->code = (struct wgmma_code){.arena = w->arena,
        .out = &w->out,
        .type = w->parts                              ? "tf32"
                : w->eight || p->scalar == SCALAR_F16 ? "f16"
                                                      : "bf16",
        .columns = columns,
        .sums = w->parts ? w->fresh : w->sums,
        .a_by_k = w->parts || tile_by_k(p->a),
        .b_by_k = w->parts || tile_by_k(p->b)};
}

/* The bytes of one stage of both tiles that wgmma reads. */
static const char *stage_bytes(const struct tiles_writer *w)
{
    return arena_printf(
        w->arena, "(%s + %s) * %d", w->t.bm, w->t.bn, (1 + w->parts) * WGMMA_ROW_BYTES);
}

static const char *all_bytes(const struct tiles_writer *w)
{
    if (!w->converts)
        return arena_printf(w->arena, "%s * %s", w->t.stages, stage_bytes(w));
    return arena_printf(w->arena, "2 * %s + %s + %s", stage_bytes(w), tile_bytes(&w->t, w->t.a),
        tile_bytes(&w->t, w->t.b));
}

static void write_zeros(struct tiles_writer *w, const char *sums)
{
    str_addf(&w->out,
        "    float %s[%u];\n    #pragma unroll\n    for (int %s = 0; %s < %u; %s++)\n"
        "        %s[%s] = 0;\n",
        sums, w->code.columns / 2, w->t.i, w->t.i, w->code.columns / 2, w->t.i, sums, w->t.i);
}

static void write_head(struct tiles_writer *w)
{
    const struct contraction *c = w->c;
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const char *block = code_block_of(c, c->x);
    str_addf(s,
        "{\n    extern __shared__ __align__(1024) unsigned char %s[];\n"
        "    const unsigned %s = (unsigned)__cvta_generic_to_shared(%s);\n"
        "    const int %s = 2 * %s, %s = threadIdx.y / 4%s, %s = %s %% %s;\n",
        w->tiles, w->tiles_at, w->tiles, w->nr_threads, t->bm, w->group, w->converts ? " - 1" : "",
        w->rank, block, w->split);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? t->b : t->a;
        const char *rows = tile_rows(t, o), *pitch = tile_pitch(t, o);
        if (w->converts)
            str_addf(s, "    %s (*%s)[%s][%s] = (%s (*)[%s][%s])(%s + 2 * %s%s%s);\n", t->type,
                o->tile, rows, pitch, t->type, rows, pitch, w->tiles, stage_bytes(w),
                i ? " + " : "", i ? tile_bytes(t, t->a) : "");
        else
            str_addf(s, "    %s *%s = (%s *)%s%s;\n", t->type, o->tile, t->type, w->tiles,
                i ? arena_printf(w->arena, " + %s * %d", t->bm, WGMMA_TILE_K) : "");
    }
    str_addf(s, "    const int %s = %s * %s, %s = %s / %s * %s;\n", t->row0, code_block_of(c, c->y),
        t->bm, t->col0, block, w->split, t->bn);
    code_uniform_decls(c, s);
}

/* Write the walk to the block's share of k. */
static void write_share(struct tiles_writer *w)
{
    const struct contraction *c = w->c;
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    code_walk_begin(c, s, t->ahead);
    str_addf(s, "    const int %s = (%s + %s - 1) / %s;\n", w->share, code_walk_length(c, t->bk),
        w->split, w->split);
    str_addf(s, "    const int %s = max(min(%s, %s - %s * %s), 0);\n", t->nr_tiles, w->share,
        code_walk_length(c, t->bk), w->rank, w->share);
    if (!c->nr_outer) {
        str_addf(s, "    %s += %s * %s * %s;\n", t->ahead, w->rank, w->share, t->bk);
        return;
    }
    str_addf(
        s, "    for (int %s = 0; %s < %s * %s; %s++) {\n", t->i, t->i, w->rank, w->share, t->i);
    code_walk_step(c, s, t->ahead, t->bk, "        ");
    str_add(s, "    }\n");
}

/* --- the computation with a tile --- */

/* Write the way of an operand's 8-bit floats into halves, sixteen of a row at a time. */
static void write_halves(struct tiles_writer *w, const struct contraction_operand *o)
{
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const char *in = "                ", *rows = tile_rows(t, o), *run = tile_run(t, o);
    str_addf(s,
        "            #pragma unroll\n"
        "            for (int %s = 0; %s < %s * %s / 16; %s += %s) {\n"
        "%sconst int %s = (%s + %s) %% (%s / 16) * 16, %s = (%s + %s) / (%s / 16);\n"
        "%sconst uint4 %s = *(const uint4 *)&%s[%s][%s][%s];\n",
        t->i, t->i, rows, run, t->i, t->threads, in, t->kk, t->i, t->thread, run, t->at, t->i,
        t->thread, run, in, t->value, o->tile, t->from, t->at, t->kk);
    str_addf(s, "%s__half *%s = (__half *)(%s%s);\n", in, t->to, w->shared,
        o == t->b ? arena_printf(w->arena, " + %s * %d", t->bm, WGMMA_ROW_BYTES) : "");
    for (unsigned i = 0; i < 2; i++) {
        const char *fast = i ? arena_printf(w->arena, "(%s + 8)", t->kk) : t->kk;
        str_addf(s, "%s*(uint4 *)(%s + %s) = make_uint4(", in, t->to,
            tile_swizzled_place(w->arena, rows, fast, t->at));
        for (unsigned k = 0; k < 4; k++)
            str_addf(s, "%s%s(%s.%c%s)%s", k % 2 ? "" : arena_printf(w->arena, "\n%s    ", in),
                w->halves, t->value, "xyzw"[2 * i + k / 2], k % 2 ? " >> 16" : "",
                k < 3 ? ", " : ");\n");
    }
    str_add(s, "            }\n");
}

/* Write the function that makes two halves of two 8-bit floats. */
static void write_halves_function(struct tiles_writer *w)
{
    str_addf(&w->before,
        "static __device__ __forceinline__ unsigned %s(unsigned two)\n{\n    unsigned halves;\n"
        "    asm(\"cvt.rn.f16x2.%sx2 %%0, %%1;\" : \"=r\"(halves) : \"h\"((unsigned short)two));\n"
        "    return halves;\n}\n\n",
        w->halves, w->eight);
}

/* Write the way of an operand's floats into parts, in rows of k, four values of k at a time. */
static void write_parts(struct tiles_writer *w, const struct contraction_operand *o)
{
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const char *size = o == t->a ? t->bm : t->bn, *in = "                ", *v = t->value;
    const bool by_k = tile_by_k(o);
    str_addf(s,
        "            #pragma unroll\n"
        "            for (int %s = 0; %s < %s * 8; %s += %s) {\n"
        "%sconst int %s = (%s + %s) %s, %s = (%s + %s) %s * 4;\n",
        t->i, t->i, size, t->i, t->threads, in, t->at, t->i, t->thread,
        by_k ? "/ 8" : arena_printf(w->arena, "%% %s", size), t->kk, t->i, t->thread,
        by_k ? "% 8" : arena_printf(w->arena, "/ %s", size));
    if (by_k)
        str_addf(s, "%sconst float4 %s = *(const float4 *)&%s[%s][%s][%s];\n", in, v, o->tile,
            t->from, t->at, t->kk);
    else
        str_addf(s,
            "%sconst float4 %s = make_float4(%s[%s][%s][%s], %s[%s][%s + 1][%s],\n"
            "%s    %s[%s][%s + 2][%s], %s[%s][%s + 3][%s]);\n",
            in, v, o->tile, t->from, t->kk, t->at, o->tile, t->from, t->kk, t->at, in, o->tile,
            t->from, t->kk, t->at, o->tile, t->from, t->kk, t->at);
    str_addf(s, "%sconst float4 %s = make_float4(", in, w->high);
    for (unsigned i = 0; i < 4; i++)
        str_addf(s, "%s__uint_as_float((__float_as_uint(%s.%c) + 0x1000u) & 0xffffe000u)%s",
            i == 2 ? arena_printf(w->arena, "%s    ", in) : "", v, "xyzw"[i],
            i == 1   ? ",\n"
            : i == 3 ? ");\n"
                     : ", ");
    str_addf(s,
        "%sfloat4 *%s = (float4 *)(%s%s + %s * %d + ((%s / 4 ^ %s %% 8) * 16));\n"
        "%s*%s = %s;\n%s%s[(%s + %s) * %d] = make_float4(",
        in, t->to, w->shared,
        o == t->b ? arena_printf(w->arena, " + %s * %d", t->bm, WGMMA_ROW_BYTES) : "", t->at,
        WGMMA_ROW_BYTES, t->kk, t->at, in, t->to, w->high, in, t->to, t->bm, t->bn,
        WGMMA_ROW_BYTES / 16);
    for (unsigned i = 0; i < 4; i++)
        str_addf(s, "%s.%c - %s.%c%s", v, "xyzw"[i], w -> high, "xyzw"[i], i < 3 ? ", " : ");\n");
    str_add(s, "            }\n");
}

static void write_addition(struct tiles_writer *w, const char *in)
{
    str_addf(&w->out,
        "%s#pragma unroll\n%sfor (int %s = 0; %s < %u; %s++)\n%s    %s[%s] += %s[%s];\n", in, in,
        w->j, w->j, w->code.columns / 2, w->j, in, w->sums, w->j, w->fresh, w->j);
}

/* The descriptor for step number `step` of k. */
static const char *descriptor(
    const struct tiles_writer *w, const char *tile, bool by_k, const char *step)
{
    return arena_printf(w->arena, "%s + (%s) * %d", tile, step,
        by_k ? (int)WGMMA_STEP_BY_K : (int)WGMMA_STEP_ACROSS);
}

static void write_products(struct tiles_writer *w)
{
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    struct arena *a = w->arena;
    const char *in = "            ", *j = w->j;
    str_addf(s, "%sconst unsigned %s = %s + (%s) * (%s);\n", in, t->to, w->tiles_at,
        w->converts ? arena_printf(a, "%s & 1", t->tile) : t->from, stage_bytes(w));
    str_addf(s, "%sconst unsigned long long %s = %s,\n%s    %s = %s;\n", in, w->left,
        wgmma_descriptor(a,
            arena_printf(a, "(%s + %s * %d)", t->to, w->group, WGMMA_GROUP_ROWS * WGMMA_ROW_BYTES),
            w->code.a_by_k),
        in, w->right,
        wgmma_descriptor(
            a, arena_printf(a, "(%s + %s * %d)", t->to, t->bm, WGMMA_ROW_BYTES), w->code.b_by_k));
    str_addf(s, "%sasm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n%s#pragma unroll\n",
        in, in);
    /* of parts: lower by upper, upper by lower, upper by upper */
    const char *step = w->parts ? arena_printf(a, "%s / 3", j) : j;
    const char *low = arena_printf(a, "? (%s + %s) * %d : 0", t->bm, t->bn, WGMMA_ROW_BYTES / 16);
    const char *left =
                   w->parts ? arena_printf(a, "%s + (%s %% 3 == 0 %s)", w->left, j, low) : w->left,
               *right = w->parts ? arena_printf(a, "%s + (%s %% 3 == 1 %s)", w->right, j, low)
                                 : w->right;
    str_addf(s, "%sfor (int %s = 0; %s < %d; %s++) {\n", in, j, j, w->parts ? 12 : 4, j);
    wgmma_product(&w->code, descriptor(w, left, w->code.a_by_k, step),
        descriptor(w, right, w->code.b_by_k, step), w->parts ? j : NULL, "                ");
    str_addf(
        s, "%s}\n%sasm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n", in, in);
}

static const char fence[] =
    "            asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n";

static void write_loop(struct tiles_writer *w)
{
    write_zeros(w, w->sums);
    tile_copies_prepare(&w->t);
    write_share(w);
    tile_copies_loop(&w->t, fence);
    write_products(w);
    wgmma_wait(&w->code, 1, w->j, "            ");
    tile_copies_loop_end(&w->t);
    wgmma_wait(&w->code, 0, w->j, "    ");
}

/* The same where tiles are converted: the first warpgroup copies and converts, the others multiply.
 * Barriers 2 and 3: the converted tile is there; 4 and 5: it is no longer needed. 6: those that
 * multiply. */
static void write_converting_loops(struct tiles_writer *w)
{
    struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const char *in = "        ", *all = arena_printf(w->arena, "128 + %s", w->nr_threads);
    const char *there = arena_printf(w->arena, "2 + (%s & 1)", t->tile),
               *free = arena_printf(w->arena, "4 + (%s & 1)", t->tile);
    write_share(w);
    str_addf(s, "    if (%s < 0) {\n", w->group);
    tile_copies_prepare(t);
    tile_copies_loop(t, "");
    str_addf(s,
        "            unsigned char *%s = %s + (%s & 1) * (%s);\n            if (%s >= 2)\n"
        "                %s\n",
        w->shared, w->tiles, t->tile, stage_bytes(w), t->tile, barrier(w, "sync", free, all));
    (w->parts ? write_parts : write_halves)(w, t->a);
    (w->parts ? write_parts : write_halves)(w, t->b);
    str_addf(s, "%s            %s\n", fence, barrier(w, "arrive", there, all));
    tile_copies_loop_end(t);
    str_add(s, "    return;\n    }\n");
    write_zeros(w, w->sums);
    if (w->parts)
        write_zeros(w, w->fresh);
    str_addf(s, "    for (int %s = 0; %s < %s; %s++) {\n%s%s\n", t->tile, t->tile, t->nr_tiles,
        t->tile, in, barrier(w, "sync", there, all));
    write_products(w);
    wgmma_wait(&w->code, !w->parts, w->j, in);
    if (w->parts) {
        str_addf(s, "%sif (%s + 2 < %s)\n%s    %s\n", in, t->tile, t->nr_tiles, in,
            barrier(w, "arrive", free, all));
        write_addition(w, in);
    } else { /* the products of the tile before have ended */
        str_addf(s, "%sif (%s > 0 && %s + 1 < %s)\n%s    %s\n", in, t->tile, t->tile, t->nr_tiles,
            in, barrier(w, "arrive", arena_printf(w->arena, "4 + (%s + 1 & 1)", t->tile), all));
    }
    str_add(s, "    }\n");
    if (!w->parts)
        wgmma_wait(&w->code, 0, w->j, "    ");
    str_addf(s, "    const int %s = threadIdx.y * 32 + threadIdx.x - 128;\n", t->thread);
    w->code.sums = w->sums;
}

/* --- what follows the loop --- */

/* Write the addition of what the other blocks of the cluster have of this block's outputs, which
 * are the SPLIT-th part of the rows from `rank` on, to what is here. */
static void write_exchange(struct tiles_writer *w, const char *arrive, const char *sync)
{
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const unsigned columns = w->code.columns, pitch = columns + 8;
    const char *in = "            ", *v = arena_printf(w->arena, "%s[%s]", t->value, t->i);
    const char *nr = arena_printf(
        w->arena, "(%s / %s * %u / (4 * %s))", t->bm, w->split, columns, w->nr_threads);
    str_addf(s,
        "        float4 %s[%s];\n"
        "        float *%s = (float *)%s + (%s * (%s / %s) + %s / %u) * %u + %s %% %u * 4;\n"
        "        #pragma unroll\n        for (int %s = 0; %s < %s; %s++) {\n"
        "%s%s = *(float4 *)(%s + %s * (%s / %u * %u));\n",
        t->value, nr, t->to, w->tiles, w->rank, t->bm, w->split, t->thread, columns / 4, pitch,
        t->thread, columns / 4, t->i, t->i, nr, t->i, in, v, t->to, t->i, w->nr_threads,
        columns / 4, pitch);
    str_addf(s,
        "%s#pragma unroll\n%sfor (int %s = 1; %s < %s; %s++) {\n%s    float4 %s;\n"
        "%s    unsigned %s;\n"
        "%s    asm(\"mapa.shared::cluster.u32 %%0, %%1, %%2;\" : \"=r\"(%s)\n"
        "%s        : \"r\"((unsigned)__cvta_generic_to_shared(%s)), \"r\"((%s + %s) %% %s));\n",
        in, in, w->j, w->j, w->split, w->j, in, t->last, in, t->from, in, t->from, in, t->to,
        w->rank, w->j, w->split);
    str_addf(s,
        "%s    asm volatile(\"ld.shared::cluster.v4.f32 {%%0, %%1, %%2, %%3}, [%%4];\"\n"
        "%s        : \"=f\"(%s.x), \"=f\"(%s.y), \"=f\"(%s.z), \"=f\"(%s.w)\n"
        "%s        : \"r\"(%s + %s * (%s / %u * %u)));\n"
        "%s    %s.x += %s.x, %s.y += %s.y, %s.z += %s.z, %s.w += %s.w;\n%s}\n        }\n",
        in, in, t->last, t->last, t->last, t->last, in, t->from, t->i, w->nr_threads, columns / 4,
        4 * pitch, in, v, t->last, v, t->last, v, t->last, v, t->last, in);
    str_addf(s,
        "        #pragma unroll\n        for (int %s = 0; %s < %s; %s++)\n"
        "%s*(float4 *)(%s + %s * (%s / %u * %u)) = %s;\n        %s        %s\n",
        t->i, t->i, nr, t->i, in, t->to, t->i, w->nr_threads, columns / 4, pitch, v, arrive, sync);
}

/* Write the ends of the outputs. A thread has a column of them, or some. */
static void write_outputs(struct tiles_writer *w)
{
    const struct substs none = {.nr = 0};
    const struct contraction *c = w->c;
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const char *all = code_all_conds(c);
    str_addf(s,
        "    const int %s = %s %% %u, %s = %s * (%s / %s) + %s / %u;\n    #pragma unroll 4\n"
        "    for (int %s = 0; %s < %s / %s; %s += %s / %u) {\n",
        t->at, t->thread, w->code.columns, t->kk, w->rank, t->bm, w->split, t->thread,
        w->code.columns, t->u, t->u, t->bm, w->split, t->u, w->nr_threads, w->code.columns);
    str_addf(s, "        int %s = %s + %s + %s, %s = %s + %s;\n        if (%s) {\n",
        c->y->var->name, t->row0, t->kk, t->u, c->x->var->name, t->col0, t->at, all ? all : "true");
    product_rest(c, s, &none,
        arena_printf(w->arena, "((float *)%s)[(%s + %s) * %u + %s]", w->tiles, t->kk, t->u,
            w->code.columns + 8, t->at),
        "            ");
    str_add(s, "        }\n    }\n");
}

/* Sums go to shared memory, where the tiles were, and from there to the threads that end them. */
static void write_tail(struct tiles_writer *w)
{
    static const char arrive[] =
        "asm volatile(\"barrier.cluster.arrive.aligned;\" ::: \"memory\");\n",
                      wait[] = "asm volatile(\"barrier.cluster.wait.aligned;\" ::: \"memory\");\n";
    const struct tile_copies *t = &w->t;
    struct str *s = &w->out;
    const unsigned pitch = w->code.columns + 8;
    const char *sync = w->converts ? barrier(w, "sync", "6", w->nr_threads) : "__syncthreads();";
    str_addf(s,
        "    %s\n    const int %s = threadIdx.x;\n"
        "    float *%s = (float *)%s + %s / 32 * (16 * %u);\n",
        sync, w->lane, w->patch, w->tiles, t->thread, pitch);
    wgmma_put_sums(&w->code, &(struct wgmma_patch){w->patch, w->lane, t->to, t->i, pitch});
    str_addf(s, "    if (%s > 1) {\n        %s        %s", w->split, arrive, wait);
    write_exchange(w, arrive, sync);
    str_addf(s, "    } else {\n        %s\n    }\n", sync);
    write_outputs(w);
    str_addf(s, "    if (%s > 1)\n        %s}", w->split, wait);
}

/* --- the launch --- */

static int64_t at_timed(const struct contraction *c, const char *text, int64_t otherwise)
{
    int64_t value;
    return extent_at_timed(c->in, text, &value) && value > 0 ? value : otherwise;
}

/* The largest tiles that are not mostly empty, shared by as few blocks as may be, that give most of
 * a large chip work. False: even the smallest are mostly empty. */
static bool choose_tiling(const struct contraction *c, const struct launch_line *line, int piece,
    bool wide, struct wgmma_tiling *tiling)
{
    static const struct wgmma_tiling tilings[] = {
        {128, 256, 4}, {128, 128, 4}, {128, 64, 4}, {64, 64, 4}};
    const int64_t rows = at_timed(c, extent_text(c->in, line, &c->form, c->y), 1024),
                  columns = at_timed(c, extent_text(c->in, line, &c->form, c->x), 1024);
    int64_t k = at_timed(c, code_at_launch(c, line, c->loop.bound), 1024), others = 1;
    for (unsigned i = 0; i < c->nr_outer; i++)
        k *= at_timed(c, code_at_launch(c, line, c->outer[i].bound), 1);
    for (unsigned i = 0; i < c->form.nr_axes; i++)
        if (&c->form.axes[i] != c->x && &c->form.axes[i] != c->y)
            others *= at_timed(c, extent_text(c->in, line, &c->form, &c->form.axes[i]), 1);
    for (unsigned i = !wide; i < sizeof tilings / sizeof tilings[0]; i++) {
        struct wgmma_tiling t = tilings[i];
        t.rows = t.rows >= 2 * rows ? 64 : t.rows;
        t.columns = t.columns >= 2 * columns ? 64 : t.columns;
        const int64_t blocks =
            (rows + t.rows - 1) / t.rows * ((columns + t.columns - 1) / t.columns) * others;
        int split = 1;
        while (split < t.split && k >= 4 * split * piece && blocks * split < ENOUGH_BLOCKS)
            split *= 2;
        t.split = split;
        *tiling = t;
        if (blocks * split >= ENOUGH_BLOCKS)
            break;
    }
    return 2 * rows > 64 && 2 * columns > 64;
}

static bool write_launch(
    struct tiles_writer *w, const struct wgmma_tiling *tiling, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    const char *patch = arena_printf(w->arena, "%s * %u", w->t.bm, (w->code.columns + 8) * 4);
    pragma_add_tune(
        in, &out->edits, w->t.bm, tiling->rows, w->code.columns > 128 ? "128" : "64, 128");
    const int stages = tiling->rows + tiling->columns > 192 ? (w->parts ? 2 : 4) : w->parts ? 3 : 6;
    pragma_add_tune(in, &out->edits, w->t.stages,
        !w->converts && tiling->columns <= 128 ? 6 : stages, w->parts ? "2, 3, 4" : "3, 4, 5, 6");
    pragma_add_tune(in, &out->edits, w->split, tiling->split, "1, 2, 4");
    pragma_add_line(in, &out->edits,
        arena_printf(w->arena, "where  %s <= %u && %s <= %u", all_bytes(w),
            in->smem_per_block_bytes, patch, in->smem_per_block_bytes));
    extent_drop_bounds(in, c->form.function, &out->edits);
    extent_drop_tunes(in, c->form.function, &out->edits);
    edits_insert(&out->edits, c->form.function->name_at, "__launch_bounds__(2*%s%s) ", w->t.bm,
        w->converts ? " + 128" : "");
    return code_launches(c,
        &(struct code_launch){.columns = w->t.bn,
            .rows = w->t.bm,
            .split = w->split,
            .threads = {"32",
                arena_printf(w->arena, "%s/16%s", w->t.bm, w->converts ? " + 4" : "")},
            .smem = arena_printf(w->arena, "max(%s, %s)", all_bytes(w), patch)},
        out);
}

bool wgmma_tiles(const struct contraction *c, const struct product *p, unsigned variant,
    const char *why, struct rewrite_out *out)
{
    static const int others[] = {128, 256};
    const struct rewrite_in *in = c->in;
    const char *name = c->form.function->name;
    struct tiles_writer w = {.c = c, .arena = in->arena};
    struct launch_lines lines;
    /* slower than tensor_cores, all of whose warps copy */
    if (p->scalar == SCALAR_F32 && c->nr_outer)
        return rewrite_refuse(in, out, "%s: the floats of a window come one by one", name);
    if (!launch_lines_read(in, c->form.function, &lines, out) || !lines.nr)
        return rewrite_refuse(in, out, "%s: a launch that cannot be read", name);
    struct wgmma_tiling tiling;
    /* tiles that one warpgroup converts for two are wide */
    if (!choose_tiling(
            c, &lines.items[0], p->scalar == SCALAR_F32 ? 32 : 64, p->eight != NULL, &tiling))
        return rewrite_refuse(in, out, "%s: most of a warpgroup's 64 rows would be empty", name);
    if (p->scalar == SCALAR_F32 && variant == 2)
        return rewrite_refuse(in, out, "%s: %s, and parts of floats take registers", name, why);
    if (variant)
        tiling.columns = tiling.columns == others[variant - 1] ? 64 : others[variant - 1];
    if (tiling.columns > 128)
        tiling.rows = 128; /* eight rows of B are the pieces of 256 threads */
    begin(&w, p, (unsigned)tiling.columns);
    if (w.eight)
        write_halves_function(&w);
    write_head(&w);
    (w.converts ? write_converting_loops : write_loop)(&w);
    write_tail(&w);
    edits_replace(&out->edits, c->form.body->start, c->form.body->end, "%s", str_text(&w.out));
    if (w.before.len)
        edits_insert(&out->edits, tree_line_start(in->tree, c->form.function->start), "%s",
            str_text(&w.before));
    str_finish(&w.out);
    str_finish(&w.before);
    if (w.eight && !strstr(in->source, "<cuda_fp16.h>"))
        edits_insert(&out->edits, 0, "#include <cuda_fp16.h>\n");
    if (!strstr(in->source, "<cuda_pipeline.h>"))
        edits_insert(&out->edits, 0, "#include <cuda_pipeline.h>\n");
    if (!write_launch(&w, &tiling, out))
        return false;
    return rewrite_done(in, out, "warpgroups multiply %dx%d tiles that threads %s, in %s",
        tiling.rows, tiling.columns, w.eight ? "convert to f16" : "copy", name);
}
