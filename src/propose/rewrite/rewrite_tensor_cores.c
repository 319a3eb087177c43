/* tensor_cores: a product of matrices of 16 or 32 bits, summed in f32, is made by wmma fragments
 * from tiles in shared memory. Tiles come by asynchronous copies of 16 bytes, STAGES - 1 of them
 * ahead of the computation; elements one by one at the edges of the matrices, with zeros beyond,
 * and where an address is not a multiple of 16, as in a convolution, whose tiles are read anew for
 * each place of the window. Each warp makes WM * WN outputs. Results go through
 * a small patch of shared memory per warp to the threads that store them, under the old guard.
 *
 * Products of 16 bits are exact, as before; only the order of the sums changes. A float is split
 * into two tf32 parts, and three of the four products of parts are summed (the scheme: Ootomo and
 * Yokota, IJHPCA 2022). The upper part has the first ten bits behind the point, the lower one what
 * is left, of which tensor cores read the first eleven bits: the product left out, and what is not
 * read, are under 2^-18 of a product together. Tensor cores round sums towards zero: each tile of k
 * is summed by itself, and added to the others by FADD. */
#include "cuda/subst.h"
#include "propose/rewrite/contraction_code.h"
#include "propose/rewrite/tile_copies.h"

#include <string.h>

static const struct mma_tiling {
    int block_m, block_n, block_k, warp_m, warp_n;
} tilings[] = {{128, 64, 64, 32, 32}, {64, 64, 64, 16, 32}, {32, 32, 64, 16, 16}};
enum { NR_TILINGS = 3 };

struct mma_writer {
    const struct contraction *c;
    struct arena *arena;
    struct tile_copies t;
    const char *part;    /* of a fragment: "half" */
    unsigned depth;      /* of a fragment along k, elements */
    const char *wm, *wn; /* tuning parameters, beside those of t */
    const char *warps, *warp_row, *warp_col, *j, *sums, *tiles, *patch, *parts;
    struct str out;
};

static void begin(struct mma_writer *w, const struct product *p)
{
    const struct cuda_tree *tree = w->c->in->tree;
    const struct {
        const char **name, *base;
    } names[] = {{&w->t.bm, "BM"}, {&w->t.bn, "BN"}, {&w->t.bk, "BK"}, {&w->wm, "WM"},
        {&w->wn, "WN"}, {&w->t.stages, "STAGES"}, {&w->warps, "NR_WARPS"}, {&w->warp_row, "warp_y"},
        {&w->warp_col, "warp_x"}, {&w->j, "j"}, {&w->sums, "sums"}, {&w->tiles, "tiles"},
        {&w->patch, "patch"}, {&w->parts, "parts"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(tree, names[i].base);
    tile_copies_begin(&w->t, w->c, p, &w->out);
    w->t.threads = arena_printf(w->arena, "(%s * 32)", w->warps);
    w->t.barrier = "__syncthreads();";
    w->t.lag = 1;
    w->depth = p->scalar == SCALAR_F32 ? 8 : 16;
    w->part = p->scalar == SCALAR_F32 ? "nvcuda::wmma::precision::tf32" : p->type;
}

static void write_accumulators(struct mma_writer *w, const char *name, const char *in)
{
    str_addf(&w->out,
        "%snvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, %u, float>\n"
        "%s    %s[%s / 16][%s / 16];\n"
        "%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++)\n"
        "%s    #pragma unroll\n%s    for (int %s = 0; %s < %s / 16; %s++)\n"
        "%s        nvcuda::wmma::fill_fragment(%s[%s][%s], 0.0f);\n",
        in, w->depth, in, name, w->wm, w->wn, in, in, w->t.i, w->t.i, w->wm, w->t.i, in, in, w->j,
        w->j, w->wn, w->j, in, name, w->t.i, w->j);
}

static void write_head(struct mma_writer *w)
{
    struct str *s = &w->out;
    str_addf(s,
        "{\n    extern __shared__ __align__(128) unsigned char %s[];\n"
        "    const int %s = (%s / %s) * (%s / %s);\n",
        w->tiles, w->warps, w->t.bm, w->wm, w->t.bn, w->wn);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? w->t.b : w->t.a;
        const char *rows = tile_rows(&w->t, o), *pitch = tile_pitch(&w->t, o);
        const char *start =
            i ? arena_printf(w->arena, "(%s + %s)", w->tiles, tile_bytes(&w->t, w->t.a)) : w->tiles;
        str_addf(s, "    %s (*%s)[%s][%s] = (%s (*)[%s][%s])%s;\n", w->t.type, o->tile, rows, pitch,
            w->t.type, rows, pitch, start);
    }
    str_addf(s, "    float *%s = (float *)%s + threadIdx.y * (16 * 16);\n", w->patch, w->tiles);
    str_addf(s, "    int %s = %s * %s, %s = %s * %s;\n", w->t.row0, code_block_of(w->c, w->c->y),
        w->t.bm, w->t.col0, code_block_of(w->c, w->c->x), w->t.bn);
    str_addf(s, "    int %s = threadIdx.y / (%s / %s) * %s, %s = threadIdx.y %% (%s / %s) * %s;\n",
        w->warp_row, w->t.bn, w->wn, w->wm, w->warp_col, w->t.bn, w->wn, w->wn);
    code_uniform_decls(w->c, s);
    write_accumulators(w, w->sums, "    ");
}

static const char *low_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return arena_printf(w->arena, "low_%s", o->fragment);
}

static void write_fragments(struct mma_writer *w, const struct contraction_operand *o)
{
    const bool a = o == w->t.a;
    const char *at = arena_printf(w->arena, "%s + %s * 16", a ? w->warp_row : w->warp_col, w->t.i);
    const char *nr = a ? w->wm : w->wn, *in = "                ";
    struct str *s = &w->out;
    str_addf(s,
        "%snvcuda::wmma::fragment<nvcuda::wmma::matrix_%c, 16, 16, %u, %s,\n"
        "%s    nvcuda::wmma::%s> %s[%s / 16]",
        in, a ? 'a' : 'b', w->depth, w->part, in, tile_by_k(o) == a ? "row_major" : "col_major",
        o->fragment, nr);
    if (w->t.bytes == 4)
        str_addf(s, ", %s[%s / 16]", low_of(w, o), nr);
    str_addf(s,
        ";\n%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++) {\n"
        "%s    nvcuda::wmma::load_matrix_sync(%s[%s], &%s[%s][%s][%s], %s);\n",
        in, in, w->t.i, w->t.i, nr, w->t.i, in, o->fragment, w->t.i, o->tile, w->t.from,
        tile_by_k(o) ? at : w->t.kk, tile_by_k(o) ? w->t.kk : at, tile_pitch(&w->t, o));
    if (w->t.bytes == 4)
        str_addf(s,
            "%s    #pragma unroll\n"
            "%s    for (int %s = 0; %s < %s[%s].num_elements; %s++) {\n"
            "%s        float %s = %s[%s].x[%s];\n"
            "%s        %s[%s].x[%s] = __uint_as_float(__float_as_uint(%s) & 0xffffe000u);\n"
            "%s        %s[%s].x[%s] = %s - %s[%s].x[%s];\n%s    }\n",
            in, in, w->t.u, w->t.u, o->fragment, w->t.i, w->t.u, in, w->t.value, o->fragment,
            w->t.i, w->t.u, in, o->fragment, w->t.i, w->t.u, w->t.value, in, low_of(w, o), w->t.i,
            w->t.u, w->t.value, o->fragment, w->t.i, w->t.u, in);
    str_addf(s, "%s}\n", in);
}

/* The accumulators of a tile's products. */
static const char *accumulators(const struct mma_writer *w)
{
    return w->t.bytes == 4 ? w->parts : w->sums;
}

/* Products of the same parts for all outputs, so that sums do not wait for themselves. */
static void write_product(struct mma_writer *w, const char *a, const char *b)
{
    const char *to = accumulators(w);
    str_addf(&w->out,
        "                #pragma unroll\n                for (int %s = 0; %s < %s / 16; %s++)\n"
        "                    #pragma unroll\n"
        "                    for (int %s = 0; %s < %s / 16; %s++)\n"
        "                        nvcuda::wmma::mma_sync(%s[%s][%s], %s[%s], %s[%s], %s[%s][%s]);\n",
        w->t.i, w->t.i, w->wm, w->t.i, w->j, w->j, w->wn, w->j, to, w->t.i, w->j, a, w->t.i, b,
        w->j, to, w->t.i, w->j);
}

static void write_compute(struct mma_writer *w)
{
    struct str *s = &w->out;
    const char *in = "            ";
    if (w->t.bytes == 4)
        write_accumulators(w, w->parts, in);
    /* a window's walk is short: code that is unrolled takes longer to come than it saves */
    str_addf(s, "            #pragma unroll%s\n            for (int %s = 0; %s < %s; %s += %u) {\n",
        w->c->nr_outer ? " 2" : "", w->t.kk, w->t.kk, w->t.bk, w->t.kk, w->depth);
    write_fragments(w, w->t.a);
    write_fragments(w, w->t.b);
    if (w->t.bytes == 4) {
        write_product(w, low_of(w, w->t.a), w->t.b->fragment);
        write_product(w, w->t.a->fragment, low_of(w, w->t.b));
    }
    write_product(w, w->t.a->fragment, w->t.b->fragment);
    str_add(s, "            }\n");
    if (w->t.bytes == 4)
        str_addf(s,
            "%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++)\n"
            "%s    #pragma unroll\n%s    for (int %s = 0; %s < %s / 16; %s++)\n"
            "%s        #pragma unroll\n"
            "%s        for (int %s = 0; %s < %s[%s][%s].num_elements; %s++)\n"
            "%s            %s[%s][%s].x[%s] += %s[%s][%s].x[%s];\n",
            in, in, w->t.i, w->t.i, w->wm, w->t.i, in, in, w->j, w->j, w->wn, w->j, in, in, w->t.u,
            w->t.u, w->parts, w->t.i, w->j, w->t.u, in, w->sums, w->t.i, w->j, w->t.u, w->parts,
            w->t.i, w->j, w->t.u);
}

static void write_loop(struct mma_writer *w)
{
    const struct contraction *c = w->c;
    tile_copies_prepare(&w->t);
    code_walk_begin(c, &w->out, w->t.ahead);
    str_addf(&w->out, "    const int %s = %s;\n", w->t.nr_tiles, code_walk_length(c, w->t.bk));
    tile_copies_loop(&w->t, "");
    write_compute(w);
    tile_copies_loop_end(&w->t);
    str_add(&w->out, "    __syncthreads();\n");
}

static void write_tail(struct mma_writer *w)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const struct substs none = {.nr = 0};
    const char *all = code_all_conds(c), *in = "                ";
    str_addf(s,
        "    #pragma unroll\n    for (int %s = 0; %s < %s / 16; %s++) {\n"
        "        #pragma unroll\n        for (int %s = 0; %s < %s / 16; %s++) {\n"
        "            nvcuda::wmma::store_matrix_sync(\n"
        "                %s, %s[%s][%s], 16, nvcuda::wmma::mem_row_major);\n"
        "            __syncwarp();\n"
        "            #pragma unroll 1\n"
        "            for (int %s = threadIdx.x; %s < 16 * 16; %s += 32) {\n",
        w->t.i, w->t.i, w->wm, w->t.i, w->j, w->j, w->wn, w->j, w->patch, w->sums, w->t.i, w->j,
        w->t.u, w->t.u, w->t.u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s / 16;\n", in, c->y->var->name, w->t.row0,
        w->warp_row, w->t.i, w->t.u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s %% 16;\n", in, c->x->var->name, w->t.col0,
        w->warp_col, w->j, w->t.u);
    str_addf(s, "%sif (%s) {\n", in, all ? all : "true");
    product_rest(
        c, s, &none, arena_printf(w->arena, "%s[%s]", w->patch, w->t.u), "                    ");
    str_addf(s, "%s}\n            }\n            __syncwarp();\n        }\n    }\n}", in);
}

/* Half the size as long as that still covers the extent. */
static int fitted(const struct contraction *c, int size, int least, const char *extent)
{
    int64_t value;
    if (!extent_at_timed(c->in, extent, &value))
        return size;
    while (size > least && size / 2 >= value)
        size /= 2;
    return size;
}

/* A tiling that is not larger than the product of the kernel's first launch. */
static struct mma_tiling fit(
    const struct contraction *c, struct mma_tiling t, struct rewrite_out *out)
{
    struct launch_lines lines;
    if (!launch_lines_read(c->in, c->form.function, &lines, out) || !lines.nr)
        return t;
    const struct launch_line *line = &lines.items[0];
    t.block_m = fitted(c, t.block_m, 32, extent_text(c->in, line, &c->form, c->y));
    t.block_n = fitted(c, t.block_n, 32, extent_text(c->in, line, &c->form, c->x));
    t.block_k = fitted(c, t.block_k, 16, code_at_launch(c, line, c->loop.bound));
    t.warp_m = t.warp_m < t.block_m ? t.warp_m : t.block_m;
    t.warp_n = t.warp_n < t.block_n ? t.warp_n : t.block_n;
    return t;
}

static void write_tunes(
    const struct mma_writer *w, const struct mma_tiling *t, struct rewrite_out *out)
{
    const struct rewrite_in *in = w->c->in;
    pragma_add_tune(in, &out->edits, w->t.bm, t->block_m, "32, 64, 128");
    pragma_add_tune(in, &out->edits, w->t.bn, t->block_n, "32, 64, 128, 256");
    pragma_add_tune(in, &out->edits, w->t.bk, t->block_k, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->wm, t->warp_m, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->wn, t->warp_n, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->t.stages, 3, "2, 3, 4");
    /* The sums take half of the registers at most; a block has what the chip gives. */
    pragma_add_line(in, &out->edits,
        arena_printf(w->arena,
            "where  %s <= %s && %s <= %s && (%s/%s)*(%s/%s) <= 16 && %s*%s <= 32768 && %s + %s <= "
            "%u",
            w->wm, w->t.bm, w->wn, w->t.bn, w->t.bm, w->wm, w->t.bn, w->wn, w->t.bm, w->t.bn,
            tile_bytes(&w->t, w->t.a), tile_bytes(&w->t, w->t.b), in->smem_per_block_bytes));
}

static bool write_kernel(
    struct mma_writer *w, const struct mma_tiling *tiling, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    write_head(w);
    write_loop(w);
    write_tail(w);
    edits_replace(&out->edits, c->form.body->start, c->form.body->end, "%s", str_text(&w->out));
    str_finish(&w->out);
    if (!strstr(in->source, "<cuda_pipeline.h>"))
        edits_insert(&out->edits, 0, "#include <cuda_pipeline.h>\n");
    if (!strstr(in->source, "<mma.h>"))
        edits_insert(&out->edits, 0, "#include <mma.h>\n");
    write_tunes(w, tiling, out);
    extent_drop_bounds(in, c->form.function, &out->edits);
    extent_drop_tunes(in, c->form.function, &out->edits);
    return code_launches(c,
        &(struct code_launch){.columns = w->t.bn,
            .rows = w->t.bm,
            .threads = {"32",
                arena_printf(w->arena, "(%s/%s)*(%s/%s)", w->t.bm, w->wm, w->t.bn, w->wn)},
            .smem = arena_printf(w->arena, "max(%s + %s, (%s/%s)*(%s/%s)*1024)",
                tile_bytes(&w->t, w->t.a), tile_bytes(&w->t, w->t.b), w->t.bm, w->wm, w->t.bn,
                w->wn)},
        out);
}

bool rewrite_tensor_cores(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    struct contraction *c = arena_alloc(in->arena, sizeof *c);
    struct mma_writer w = {.c = c, .arena = in->arena};
    const char *why = NULL;
    if (rewrite_nth_kernel(in, variant / NR_TILINGS, &function) < 0)
        return rewrite_refuse(in, out, "no kernel that is a product of 16-bit matrices");
    out->more = true;
    struct product product;
    if (!contraction_read(c, in, function, &why) || !product_read(&product, c, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    if (product.eight)
        return rewrite_refuse(in, out, "%s: the operands are of 8 bits", function->name);
    begin(&w, &product);
    /* Parts of floats need registers: smaller tiles first. */
    const struct mma_tiling t = fit(c, tilings[(variant + (w.t.bytes == 4)) % NR_TILINGS], out);
    if (!write_kernel(&w, &t, out))
        return false;
    return rewrite_done(in, out, "tensor cores for the product in %s, tiles %dx%dx%d",
        function->name, t.block_m, t.block_n, t.block_k);
}
