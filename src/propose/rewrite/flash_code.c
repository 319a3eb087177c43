/* Writes attention that was one query a thread for tensor cores: see flash.h.
 *
 * Fragments are those of mma.sync.m16n8k16 (PTX ISA 9.0, 9.7.14.5.8). A row of a tile has 16 bytes
 * more than it needs, so that ldmatrix meets no bank twice. */
#include "propose/rewrite/flash.h"

#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/kernel_text.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS = 64, WARPS = 4, PAD = 8 };

struct flash_writer {
    const struct flash *f;
    const struct cuda_tree *tree;
    struct str out;
    const char *type;   /* "half" */
    const char *factor; /* what a score is multiplied by for a power of two */
    bool scale_first;   /* by the scale alone, before the largest is taken */
};

/* Add a piece, in which $T, $D, $BITS and $PACKED, and $FACTOR are the type of elements, the
 * columns, "bf16" or "f16" and two of these, and what makes a score an exponent. */
static void put(struct flash_writer *w, const char *piece)
{
    struct arena *arena = w->f->in->arena;
    const bool is_half = w->f->scalar == SCALAR_F16;
    const struct kernel_word words[] = {{"T", w->type},
        {"D", arena_printf(arena, "%d", (int)w->f->columns)}, {"BITS", is_half ? "f16" : "bf16"},
        {"PACKED", is_half ? "f16x2" : "bf16x2"}, {"FACTOR", w->factor}, {NULL, NULL}};
    kernel_text_add(&w->out, arena, w->tree, words, piece);
}

static void write_helpers(struct flash_writer *w)
{
    put(w, kernel_text_fragments);
    put(w,
        "static __device__ __forceinline__ unsigned $pack(float x, float y)\n"
        "{\n"
        "    unsigned both;\n"
        "    asm(\"cvt.rn.$PACKED.f32 %0, %1, %2;\" : \"=r\"(both) : \"f\"(y), \"f\"(x));\n"
        "    return both;\n"
        "}\n\n"
        "/* Eight neighbours, or zeros. */\n"
        "static __device__ __forceinline__ void $fetch($T *to, const $T *from, bool inside)\n"
        "{\n"
        "    if (((size_t)from & 15) == 0) {\n"
        "        asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"\n"
        "            :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(inside ? "
        "16 : 0) : \"memory\");\n"
        "    } else {\n"
        "        #pragma unroll\n"
        "        for (int u = 0; u < 8; u++)\n"
        "            ((unsigned short *)to)[u] = inside ? ((const unsigned short *)from)[u] : 0;\n"
        "    }\n"
        "}\n\n");
}

/* The locals before the loops: those that are the same for all queries, or the others. */
static void write_decls(struct flash_writer *w, bool by_query, const char *indent)
{
    for (unsigned i = 0; i < w->f->nr_decls; i++) {
        const struct node *v = w->f->decls[i];
        const struct node *all = v->parent;
        const char *type = tree_slice(w->tree, all->start, all->child->name_at);
        if (flash_by_query(w->f, v->init) == by_query)
            str_addf(&w->out, "%s%s%s = %s;\n", indent, type, v->name, tree_text(w->tree, v->init));
    }
}

/* The conditions under which a thread of the old kernel had a query. */
static const char *guards(const struct flash *f)
{
    const char *text = NULL;
    for (unsigned i = 0; i < f->form.nr_conds; i++)
        text = text ? arena_printf(f->in->arena, "%s && (%s)", text, f->form.conds[i].text)
                    : arena_printf(f->in->arena, "(%s)", f->form.conds[i].text);
    return text ? text : "true";
}

/* `int NAME = ` of a counter or of the query. */
static void begin_decl(struct flash_writer *w, const struct node *var, const char *indent)
{
    str_addf(&w->out, "%s%s %s = ", indent, var->type.base, var->name);
}

static void write_head(struct flash_writer *w)
{
    const struct flash *f = w->f;
    const char axis = axis_names[f->query->dim];
    put(w, arena_printf(f->in->arena,
               "{\n    extern __shared__ __align__(16) unsigned char $tiles[];\n"
               "    __shared__ int $most, $least;\n"
               "    $T (*$tile_k)[$KEYS][$D + 8] = ($T (*)[$KEYS][$D + 8])$tiles;\n"
               "    $T (*$tile_v)[$KEYS][$D + 8] = $tile_k + 2;\n"
               "    const int $tid = threadIdx.x, $lane = $tid %% 32;\n"
               "    const int $first = (%s * $WARPS + $tid / 32) * (16 * $ROWS);\n"
               "    int $limit[$ROWS][2];\n    unsigned $a[$ROWS][$D / 16][4];\n"
               "    if ($tid == 0) {\n        $most = 0;\n        $least = 0x7fffffff;\n    }\n"
               "    __syncthreads();\n",
               flash_by_query(f, f->keys.bound)
                   ? arena_printf(f->in->arena, "(gridDim.%c - 1 - blockIdx.%c)", axis, axis)
                   : arena_printf(f->in->arena, "blockIdx.%c", axis)));
    for (unsigned i = 0; i < f->form.nr_axes; i++)
        if (f->form.axes[i].block_only) {
            begin_decl(w, f->form.axes[i].var, "    ");
            str_addf(&w->out, "blockIdx.%c;\n", axis_names[f->form.axes[i].dim]);
        }
    write_decls(w, false, "    ");
    put(w, "    #pragma unroll\n    for (int $m = 0; $m < 2 * $ROWS; $m++) {\n");
    begin_decl(w, f->query->var, "        ");
    put(w, "$first + $m * 8 + $lane / 4;\n");
    write_decls(w, true, "        ");
    put(w, arena_printf(f->in->arena,
               "        const bool $inside = %s;\n"
               "        $limit[$m / 2][$m %% 2] = $inside ? (int)(%s) : 0;\n"
               "        atomicMax(&$most, $limit[$m / 2][$m %% 2]);\n"
               "        atomicMin(&$least, $limit[$m / 2][$m %% 2]);\n"
               "        #pragma unroll\n        for (int $j = 0; $j < $D / 8; $j++) {\n"
               "            unsigned $bits = 0;\n            #pragma unroll\n"
               "            for (int $u = 0; $u < 2; $u++) {\n",
               guards(f), tree_text(w->tree, f->keys.bound)));
    begin_decl(w, f->q.column, "                ");
    put(w, arena_printf(f->in->arena,
               "$j * 8 + $lane %% 4 * 2 + $u;\n"
               "                if ($inside)\n"
               "                    $bits |= (unsigned)*(const unsigned short *)&%s << 16 * $u;\n"
               "            }\n"
               "            $a[$m / 2][$j / 2][$m %% 2 + $j %% 2 * 2] = $bits;\n        }\n    }\n"
               "    __syncthreads();\n    const int $nr_keys = $most, $all = $least;\n"
               "    float $sums[$ROWS][$D / 8][4] = {}, $largest[$ROWS][2], $total[$ROWS][2];\n"
               "    #pragma unroll\n    for (int $m = 0; $m < 2 * $ROWS; $m++) {\n"
               "        $largest[$m / 2][$m %% 2] = -INFINITY;\n"
               "        $total[$m / 2][$m %% 2] = 0.0f;\n    }\n",
               tree_text(w->tree, f->q.load)));
}

/* A tile of keys or of values, 16 bytes at a time. */
static void write_fetch(struct flash_writer *w, const struct flash_load *load, const char *tile)
{
    const struct flash *f = w->f;
    put(w, "            for (int $e = $tid; $e < $KEYS * ($D / 8); $e += 32 * $WARPS) {\n");
    begin_decl(w, f->keys.var, "                ");
    put(w, "$key + $KEYS + $e / ($D / 8);\n");
    begin_decl(w, load->column, "                ");
    put(w, arena_printf(f->in->arena,
               "$e %% ($D / 8) * 8;\n"
               "                $fetch(&%s[$stage][$e / ($D / 8)][%s], &%s, %s < $nr_keys);\n"
               "            }\n",
               tile, load->column->name, tree_text(w->tree, load->load), f->keys.var->name));
}

static void write_scores(struct flash_writer *w)
{
    put(w, "        float $scores[$ROWS][$KEYS / 8][4] = {};\n"
           "        #pragma unroll\n"
           "        for (int $i = 0; $i < $D / 16; $i++)\n"
           "            #pragma unroll\n"
           "            for (int $j = 0; $j < $KEYS / 8; $j += 2) {\n"
           "                unsigned $b[4];\n"
           "                $load_four($b, &$tile_k[$stage ^ 1][$j * 8 + $lane / 16 * 8 + $lane % "
           "8][$i * "
           "16 + $lane / 8 % 2 * 8]);\n"
           "                #pragma unroll\n"
           "                for (int $m = 0; $m < $ROWS; $m++) {\n"
           "                    $add_product($scores[$m][$j], $a[$m][$i], $b);\n"
           "                    $add_product($scores[$m][$j + 1], $a[$m][$i], $b + 2);\n"
           "                }\n"
           "            }\n");
    if (w->scale_first)
        put(w, arena_printf(w->f->in->arena,
                   "        #pragma unroll\n"
                   "        for (int $j = 0; $j < $ROWS * $KEYS / 2; $j++)\n"
                   "            $scores[$j / ($KEYS / 2)][$j / 4 %% ($KEYS / 8)][$j %% 4] *= %s;\n",
                   tree_text(w->tree, w->f->scale)));
    put(w, "        if ($key + $KEYS > $all) {\n"
           "            #pragma unroll\n"
           "            for (int $j = 0; $j < $ROWS * $KEYS / 2; $j++) {\n"
           "                const int $m = $j / ($KEYS / 2), $i = $j / 4 % ($KEYS / 8);\n"
           "                if ($key + $i * 8 + $lane % 4 * 2 + $j % 2 >= $limit[$m][$j / 2 % 2])\n"
           "                    $scores[$m][$i][$j % 4] = -INFINITY;\n"
           "            }\n"
           "        }\n");
}

static void write_softmax(struct flash_writer *w)
{
    put(w,
        "        #pragma unroll\n"
        "        for (int $m = 0; $m < 2 * $ROWS; $m++) {\n"
        "            float (*$row)[4] = $scores[$m / 2];\n"
        "            const int $u = $m % 2 * 2;\n"
        "            float &$top = $largest[$m / 2][$m % 2], &$sum = $total[$m / 2][$m % 2];\n"
        "            const float $before = $top;\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $KEYS / 8; $j++)\n"
        "                $top = fmaxf($top, fmaxf($row[$j][$u], $row[$j][$u + 1]));\n"
        "            $top = fmaxf($top, __shfl_xor_sync(0xffffffffu, $top, 1));\n"
        "            $top = fmaxf($top, __shfl_xor_sync(0xffffffffu, $top, 2));\n"
        "            const float $base = $top == -INFINITY ? 0.0f : $top * $FACTOR;\n"
        "            const float $shrink = $exp2_fast($before * $FACTOR - $base);\n"
        "            $sum *= $shrink;\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $D / 8; $j++) {\n"
        "                $sums[$m / 2][$j][$u] *= $shrink;\n"
        "                $sums[$m / 2][$j][$u + 1] *= $shrink;\n"
        "            }\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $KEYS / 8; $j++) {\n"
        "                $row[$j][$u] = $exp2_fast(fmaf($row[$j][$u], $FACTOR, -$base));\n"
        "                $row[$j][$u + 1] = $exp2_fast(fmaf($row[$j][$u + 1], $FACTOR, -$base));\n"
        "                $sum += $row[$j][$u] + $row[$j][$u + 1];\n"
        "            }\n"
        "        }\n");
}

static void write_loop(struct flash_writer *w)
{
    put(w, "    #pragma unroll 1\n"
           "    for (int $key = -$KEYS; $key < $nr_keys; $key += $KEYS) {\n"
           "        const int $stage = ($key / $KEYS + 1) & 1;\n"
           "        if ($key + $KEYS < $nr_keys) {\n");
    write_fetch(w, &w->f->k, "$tile_k");
    write_fetch(w, &w->f->v, "$tile_v");
    put(w, "        }\n"
           "        asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
           "        if ($key < 0)\n            continue;\n"
           "        asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");\n"
           "        __syncthreads();\n");
    write_scores(w);
    write_softmax(w);
    put(w, "        #pragma unroll\n"
           "        for (int $i = 0; $i < $KEYS / 8; $i += 2) {\n"
           "            unsigned $p[$ROWS][4];\n"
           "            #pragma unroll\n"
           "            for (int $m = 0; $m < $ROWS; $m++) {\n"
           "                $p[$m][0] = $pack($scores[$m][$i][0], $scores[$m][$i][1]);\n"
           "                $p[$m][1] = $pack($scores[$m][$i][2], $scores[$m][$i][3]);\n"
           "                $p[$m][2] = $pack($scores[$m][$i + 1][0], $scores[$m][$i + 1][1]);\n"
           "                $p[$m][3] = $pack($scores[$m][$i + 1][2], $scores[$m][$i + 1][3]);\n"
           "            }\n"
           "            #pragma unroll\n"
           "            for (int $j = 0; $j < $D / 8; $j += 2) {\n"
           "                unsigned $b[4];\n"
           "                $load_four_turned($b, &$tile_v[$stage ^ 1][$i * 8 + $lane % 16][$j * 8 "
           "+ $lane "
           "/ 16 * 8]);\n"
           "                #pragma unroll\n"
           "                for (int $m = 0; $m < $ROWS; $m++) {\n"
           "                    $add_product($sums[$m][$j], $p[$m], $b);\n"
           "                    $add_product($sums[$m][$j + 1], $p[$m], $b + 2);\n"
           "                }\n"
           "            }\n"
           "        }\n"
           "        __syncthreads();\n"
           "    }\n");
}

/* The old kernel's last loop for the elements that a thread has. */
static void write_tail(struct flash_writer *w)
{
    const struct flash *f = w->f;
    const char *total = tree_fresh(w->tree, "whole");
    struct substs s = {.nr = 0};
    substs_add(&s, f->total, total);
    for (const struct node *n = f->store; n; n = node_next(f->store, n))
        if (n->kind == NODE_INDEX && node_base(n) == f->sums)
            substs_add(&s, n, tree_fresh(w->tree, "value"));
    put(w, "    #pragma unroll\n    for (int $m = 0; $m < 2 * $ROWS; $m++) {\n"
           "        float $whole = $total[$m / 2][$m % 2];\n"
           "        $whole += __shfl_xor_sync(0xffffffffu, $whole, 1);\n"
           "        $whole += __shfl_xor_sync(0xffffffffu, $whole, 2);\n");
    begin_decl(w, f->query->var, "        ");
    put(w, "$first + $m * 8 + $lane / 4;\n");
    write_decls(w, true, "        ");
    str_addf(&w->out, "        if (%s) {\n", guards(f));
    for (unsigned i = 0; i < f->nr_last; i++) {
        const struct node *v = f->last_decls[i];
        str_addf(&w->out, "            %s%s = %s;\n",
            tree_slice(w->tree, v->parent->start, v->parent->child->name_at), v->name,
            subst_text(w->tree, v->init, &s));
    }
    put(w, "            #pragma unroll\n            for (int $j = 0; $j < $D / 4; $j++) {\n"
           "                const float $value = $sums[$m / 2][$j / 2][$m % 2 * 2 + $j % 2];\n");
    begin_decl(w, f->last_column, "                ");
    put(w, "$j / 2 * 8 + $lane % 4 * 2 + $j % 2;\n");
    str_addf(&w->out, "                %s;\n            }\n        }\n    }\n}",
        subst_text(w->tree, f->store, &s));
}

/* The factor of the exponent: log2 e, times the scale where that is a positive number. */
static void choose_factor(struct flash_writer *w)
{
    const struct node *scale = w->f->scale ? node_strip(w->f->scale) : NULL;
    const char *text = scale ? tree_text(w->tree, scale) : "";
    const double value = strtod(text, NULL);
    w->factor = "1.44269504f";
    w->scale_first = scale && (scale->kind != NODE_NUMBER || !(value > 0 && value < 1e30));
    if (scale && !w->scale_first)
        w->factor = arena_printf(w->f->in->arena, "(%s * 1.44269504f)", text);
}

static const char *fresh(const struct flash_writer *w, const char *name)
{
    return tree_fresh(w->tree, name);
}

static void write_launch(struct flash_writer *w, struct rewrite_out *out)
{
    const struct flash *f = w->f;
    const struct rewrite_in *in = f->in;
    struct launch_line line = f->line;
    const char *warps = fresh(w, "WARPS"), *rows = fresh(w, "ROWS"), *keys = fresh(w, "KEYS");
    const char *bytes = arena_printf(in->arena, "%s*%d", keys, 8 * ((int)f->columns + PAD));
    extent_drop_bounds(in, f->form.function, &out->edits);
    extent_drop_tunes(in, f->form.function, &out->edits);
    pragma_add_tune(in, &out->edits, warps, WARPS, "2, 4, 8");
    pragma_add_tune(in, &out->edits, rows, f->columns > 64 ? 1 : 2, "1, 2");
    pragma_add_tune(in, &out->edits, keys, f->columns > 64 ? KEYS / 2 : KEYS, "16, 32, 64");
    pragma_add_line(in, &out->edits,
        arena_printf(in->arena, "where  %s <= %u", bytes, in->smem_per_block_bytes - 1024));
    extent_cover(in, &line, &f->form, f->query, arena_printf(in->arena, "16*%s*%s", rows, warps));
    line.block[0] = arena_printf(in->arena, "32*%s", warps);
    line.block[1] = line.block[2] = "1";
    line.smem = bytes;
    launch_line_write(&line, &out->edits);
    edits_insert(&out->edits, f->form.function->name_at, "__launch_bounds__(32 * %s) ", warps);
}

bool flash_write(const struct flash *f, struct rewrite_out *out)
{
    const struct rewrite_in *in = f->in;
    struct flash_writer w = {
        .f = f, .tree = in->tree, .type = f->scalar == SCALAR_F16 ? "half" : "__nv_bfloat16"};
    struct node *function = f->form.function;
    choose_factor(&w);
    write_helpers(&w);
    edits_insert(&out->edits, function->start, "%s", str_text(&w.out));
    str_clear(&w.out);
    write_head(&w);
    write_loop(&w);
    write_tail(&w);
    edits_replace(&out->edits, f->form.body->start, f->form.body->end, "%s", str_text(&w.out));
    str_finish(&w.out);
    write_launch(&w, out);
    return rewrite_done(in, out,
        "warps of %s go over tiles of keys for 16 or 32 queries each, on tensor cores",
        function->name);
}
