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
#include "cuda/affine.h"
#include "cuda/subst.h"
#include "propose/rewrite/contraction_code.h"
#include "propose/rewrite/product.h"

#include <string.h>

static const struct mma_tiling {
    int block_m, block_n, block_k, warp_m, warp_n;
} tilings[] = {{128, 64, 64, 32, 32}, {64, 64, 64, 16, 32}, {32, 32, 64, 16, 16}};
enum { NR_TILINGS = 3 };

struct mma_writer {
    const struct contraction *c;
    struct arena *arena;
    const struct contraction_operand *a, *b; /* along y, along x */
    const char *type;                        /* "half" */
    const char *part;                        /* of a fragment: "half" */
    unsigned bytes;                          /* of an element */
    unsigned run, depth;                     /* elements of 16 bytes, and of a fragment along k */
    const char *bm, *bn, *bk, *wm, *wn, *stages; /* tuning parameters */
    const char *warps, *row0, *col0, *warp_row, *warp_col, *first, *ahead, *into, *from, *kk, *at,
        *e, *i, *j, *u, *sums, *tiles, *patch, *value, *to, *whole, *last, *thread, *tile,
        *nr_tiles, *parts;
    struct str out;
};

/* What follows from the type of the elements. */
static void take_product(struct mma_writer *w, const struct product *p)
{
    w->a = p->a;
    w->b = p->b;
    w->bytes = p->scalar == SCALAR_F32 ? 4 : 2;
    w->run = 16 / w->bytes;
    w->depth = p->scalar == SCALAR_F32 ? 8 : 16;
    w->type = p->type;
    w->part = p->scalar == SCALAR_F32 ? "nvcuda::wmma::precision::tf32" : w->type;
}

static void choose_names(struct mma_writer *w)
{
    const struct cuda_tree *tree = w->c->in->tree;
    const struct {
        const char **name, *base;
    } names[] = {{&w->bm, "BM"}, {&w->bn, "BN"}, {&w->bk, "BK"}, {&w->wm, "WM"}, {&w->wn, "WN"},
        {&w->stages, "STAGES"}, {&w->warps, "NR_WARPS"}, {&w->row0, "first_y"},
        {&w->col0, "first_x"}, {&w->warp_row, "warp_y"}, {&w->warp_col, "warp_x"},
        {&w->first, "first_k"}, {&w->ahead, "k_ahead"}, {&w->into, "into"}, {&w->from, "from"},
        {&w->kk, "kk"}, {&w->at, "at"}, {&w->e, "e"}, {&w->i, "i"}, {&w->j, "j"}, {&w->u, "u"},
        {&w->sums, "sums"}, {&w->tiles, "tiles"}, {&w->patch, "patch"}, {&w->value, "value"},
        {&w->to, "to"}, {&w->whole, "whole"}, {&w->last, "last"}, {&w->thread, "tid"},
        {&w->tile, "tile"}, {&w->nr_tiles, "nr_tiles"}, {&w->parts, "parts"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(tree, names[i].base);
}

/* Wide accesses: of elements that follow each other in memory, wherever the window is. */
static bool is_wide(const struct mma_writer *w, const struct contraction_operand *o)
{
    return !w->c->nr_outer && (o->k_runs || o->axis_runs);
}

/* A tile's rows run along k: as in memory; where nothing runs in memory, as rows of the left
 * operand do, whose k has the smaller stride. */
static bool by_k(const struct contraction_operand *o)
{
    return o->k_runs || (!o->axis_runs && o->axis == ALONG_Y);
}

static const char *size_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return o == w->a ? w->bm : w->bn;
}

/* A tile's rows and the elements of a row. */
static const char *rows_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return by_k(o) ? size_of(w, o) : w->bk;
}

static const char *run_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return by_k(o) ? w->bk : size_of(w, o);
}

/* A row with what pads it against bank conflicts. */
static const char *pitch_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return arena_printf(w->arena, "%s + %d", run_of(w, o), w->bytes == 4 && by_k(o) ? 4 : 8);
}

/* The bytes of all stages of an operand's tile. */
static const char *tile_bytes(const struct mma_writer *w, const struct contraction_operand *o)
{
    return arena_printf(
        w->arena, "%s * %s * (%s) * %u", w->stages, rows_of(w, o), pitch_of(w, o), w->bytes);
}

static void write_accumulators(struct mma_writer *w, const char *name, const char *in)
{
    str_addf(&w->out,
        "%snvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, %u, float>\n"
        "%s    %s[%s / 16][%s / 16];\n"
        "%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++)\n"
        "%s    #pragma unroll\n%s    for (int %s = 0; %s < %s / 16; %s++)\n"
        "%s        nvcuda::wmma::fill_fragment(%s[%s][%s], 0.0f);\n",
        in, w->depth, in, name, w->wm, w->wn, in, in, w->i, w->i, w->wm, w->i, in, in, w->j, w->j,
        w->wn, w->j, in, name, w->i, w->j);
}

static void write_head(struct mma_writer *w)
{
    struct str *s = &w->out;
    str_addf(s,
        "{\n    extern __shared__ __align__(128) unsigned char %s[];\n"
        "    const int %s = (%s / %s) * (%s / %s);\n",
        w->tiles, w->warps, w->bm, w->wm, w->bn, w->wn);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? w->b : w->a;
        const char *rows = rows_of(w, o), *pitch = pitch_of(w, o);
        const char *start =
            i ? arena_printf(w->arena, "(%s + %s)", w->tiles, tile_bytes(w, w->a)) : w->tiles;
        str_addf(s, "    %s (*%s)[%s][%s] = (%s (*)[%s][%s])%s;\n", w->type, o->tile, rows, pitch,
            w->type, rows, pitch, start);
    }
    str_addf(s, "    float *%s = (float *)%s + threadIdx.y * (16 * 16);\n", w->patch, w->tiles);
    str_addf(s, "    int %s = %s * %s, %s = %s * %s;\n", w->row0, code_block_of(w->c, w->c->y),
        w->bm, w->col0, code_block_of(w->c, w->c->x), w->bn);
    str_addf(s, "    int %s = threadIdx.y / (%s / %s) * %s, %s = threadIdx.y %% (%s / %s) * %s;\n",
        w->warp_row, w->bn, w->wn, w->wm, w->warp_col, w->bn, w->wn, w->wn);
    code_uniform_decls(w->c, s);
    write_accumulators(w, w->sums, "    ");
}

static const char *axis_name(const struct mma_writer *w, const struct contraction_operand *o)
{
    return (o->axis == ALONG_X ? w->c->x : w->c->y)->var->name;
}

static const char *corner(const struct mma_writer *w, const struct contraction_operand *o)
{
    return o->axis == ALONG_X ? w->col0 : w->row0;
}

/* The name for: the operand's tiles come by wide accesses. */
static const char *wide_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return arena_printf(w->arena, "wide_%s", o->tile);
}

/* Write `wide_X`: all rows of the operand's tiles are inside the matrix and start at multiples of
 * 16 bytes. The index is affine, so that its first two rows tell. */
static void write_wide(struct mma_writer *w, const struct contraction_operand *o)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *conds = code_conds(c, o->axis), *uniform = code_conds(c, 0),
               *axis = axis_name(w, o);
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    if (!is_wide(w, o))
        return;
    str_addf(s, "    bool %s = %s;\n    for (int %s = 0; %s < 2; %s++) {\n        {\n",
        wide_of(w, o), uniform ? uniform : "true", w->u, w->u, w->u);
    str_addf(s, "            int %s = %s + %s * (%s - 1);\n            %s = %s && %s;\n        }\n",
        axis, corner(w, o), w->u, size_of(w, o), wide_of(w, o), wide_of(w, o),
        conds ? conds : "true");
    str_addf(s, "        int %s = %s%s%s, %s = %s%s%s;\n", axis, corner(w, o),
        o->k_runs ? " + " : "", o->k_runs ? w->u : "", c->loop.var->name, w->first,
        o->k_runs ? "" : " + ", o->k_runs ? "" : w->u);
    code_decls(c, s, &needs, "        ");
    str_addf(s, "        %s = %s && ((size_t)&%s & 15) == 0;\n    }\n", wide_of(w, o),
        wide_of(w, o), tree_text(c->in->tree, load));
}

/* Write the test for 16 bytes of elements that are inside, and their copy by one asynchronous
 * access where their address allows. What holds for the first and the last holds between them. */
static void write_careful_copy(struct mma_writer *w, const struct contraction_operand *o)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *axis = axis_name(w, o);
    const char *conds = code_conds(c, o->axis), *in = "                    ";
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(
        s, "%sbool %s = %s;\n", in, w->whole, code_inside(c, o->axis, o->k_runs ? w->run - 1 : 0));
    if (!o->k_runs && conds)
        str_addf(s, "%sint %s = %s + %u;\n%s{\n%s    int %s = %s;\n%s    %s = %s && %s;\n%s}\n", in,
            w->last, axis, w->run - 1, in, in, axis, w->last, in, w->whole, w->whole, conds, in);
    str_addf(s, "%sif (%s) {\n", in, w->whole);
    code_decls(c, s, &needs, "                        ");
    str_addf(s,
        "%s    const %s *%s = &%s;\n%s    %s = ((size_t)%s & 15) == 0;\n%s    if (%s)\n"
        "%s        __pipeline_memcpy_async(%s, %s, 16);\n%s}\n%sif (!%s)\n    ",
        in, w->type, w->value, tree_text(c->in->tree, load), in, w->whole, w->value, in, w->whole,
        in, w->to, w->value, in, in, w->whole);
}

/* The condition under which the operand's elements are no zeros. */
static struct node *cond_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return w->c->cond && o->axis == w->c->cond_axis ? w->c->cond : NULL;
}

/* Elements one by one: of 32 bits by asynchronous copies, which take no registers and no waiting.
 */
static void write_single_copies(
    struct mma_writer *w, const struct contraction_operand *o, unsigned run)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *in = "                    ";
    struct node *load = product_load(o->node);
    struct node *cond = cond_of(w, o);
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    const char *text = tree_text(c->in->tree, load);
    str_addf(s, "%sfor (int %s = 0; %s < %u; %s++, %s++) {\n%s    bool %s = %s;\n", in, w->u, w->u,
        run, w->u, o->k_runs ? c->loop.var->name : axis_name(w, o), in, w->whole,
        code_inside(c, o->axis, 0));
    if (w->bytes != 4)
        str_addf(s, "%s    %s %s = %s(0.0f);\n", in, w->type, w->value, w->type);
    str_addf(s, "%s    if (%s) {\n", in, w->whole);
    code_decls(c, s, &needs, "                            ");
    if (cond)
        str_addf(s, "%s        %s = %s;\n%s        if (%s)\n    ", in, w->whole,
            tree_text(c->in->tree, cond), in, w->whole);
    if (w->bytes == 4)
        str_addf(s,
            "%s        __pipeline_memcpy_async(&%s[%s], &%s, 4);\n%s    }\n%s    if (!%s)\n"
            "%s        %s[%s] = 0.0f;\n",
            in, w->to, w->u, text, in, in, w->whole, in, w->to, w->u);
    else
        str_addf(s, "%s        %s = %s;\n%s    }\n%s    %s[%s] = %s;\n", in, w->value, text, in, in,
            w->to, w->u, w->value);
    str_addf(s, "%s}\n", in);
}

/* Write the loop in which the threads copy a tile, 16 bytes at a time where elements follow each
 * other; neighbouring threads take neighbours in memory. The careful copy of the edges of a matrix
 * stays a loop: unrolled, it is most of the kernel's code, and of the time to compile it. */
static void write_copies(struct mma_writer *w, const struct contraction_operand *o, bool wide)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *fast = by_k(o) ? w->kk : w->at, *slow = by_k(o) ? w->at : w->kk;
    const unsigned run = is_wide(w, o) ? w->run : 1;
    const char *nr = arena_printf(w->arena, "%s * (%s / %u)", rows_of(w, o), run_of(w, o), run);
    const char *threads = arena_printf(w->arena, "(%s * 32)", w->warps),
               *in = "                    ";
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(s,
        "                #pragma unroll%s\n"
        "                for (int %s = 0; %s < (%s + %s - 1) / %s; %s++) {\n"
        "%sint %s = %s + %s * %s;\n%sif (%s %% %s != 0 && %s >= %s)\n%s    continue;\n"
        "%sint %s = %s %% (%s / %u) * %u, %s = %s / (%s / %u);\n"
        "%sint %s = %s + %s, %s = %s + %s;\n%s%s *%s = &%s[%s][%s][%s];\n",
        !wide && is_wide(w, o) ? " 1" : "", w->i, w->i, nr, threads, threads, w->i, in, w->e,
        w->thread, w->i, threads, in, nr, threads, w->e, nr, in, in, fast, w->e, run_of(w, o), run,
        run, slow, w->e, run_of(w, o), run, in, axis_name(w, o), corner(w, o), w->at,
        c->loop.var->name, w->ahead, w->kk, in, w->type, w->to, o->tile, w->into, slow, fast);
    if (wide) {
        code_decls(c, s, &needs, in);
        str_addf(s, "%s__pipeline_memcpy_async(%s, &%s, 16);\n", in, w->to,
            tree_text(c->in->tree, load));
    } else {
        if (is_wide(w, o))
            write_careful_copy(w, o);
        write_single_copies(w, o, run);
    }
    str_add(s, "                }\n");
}

static bool has_load_inside(const struct node *root, const struct node *self)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n != self && node_is_load(n))
            return true;
    return false;
}

/* Whether a thread may copy its elements of a tile by one address and one test for all of them: it
 * has one place along the tile's rows; from row to row the address moves by *step; and nothing is
 * loaded to find the address, so that the address may be made outside the matrix, too. */
static bool is_steady(
    const struct mma_writer *w, const struct contraction_operand *o, const char **step)
{
    const struct contraction *c = w->c;
    struct node *load = product_load(o->node), *cond = cond_of(w, o), *vars[64];
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    const struct form_axis *axis = o->axis == ALONG_X ? c->x : c->y;
    const char *slow = by_k(o)
                           ? arena_printf(w->arena, "%s.%c",
                                 axis->block_only ? "blockIdx" : "threadIdx", axis_names[axis->dim])
                           : c->loop.var->name;
    const unsigned along = by_k(o) ? o->axis : ALONG_K;
    const struct node *base;
    struct affine index;
    int64_t by;
    if (w->bytes != 4 || is_wide(w, o) || has_load_inside(load, load) ||
        !affine_access(c->in->tree, c->form.function, load, &base, &index) ||
        affine_coefficient(&index, slow, &by) == COEFFICIENT_NONLINEAR ||
        (cond && ((deps_of(&c->deps, cond) & along) || has_load_inside(cond, NULL))))
        return false;
    const unsigned nr = code_find_needs(c, &needs, vars, 64);
    for (unsigned i = 0; i < nr; i++)
        if (vars[i]->init && has_load_inside(vars[i]->init, NULL))
            return false;
    *step = affine_coefficient_text(w->arena, &index, slow);
    return !strstr(*step, "Idx.") && !strstr(*step, "Dim."); /* those of the old launch */
}

static const char *step_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return tree_fresh(w->c->in->tree, arena_printf(w->arena, "step_%s", o->tile + strlen("tile_")));
}

/* Write the loop in which each thread copies a column of a tile by asynchronous copies of 4 bytes,
 * which put zeros where nothing is to be read. */
static void write_steady_copies(
    struct mma_writer *w, const struct contraction_operand *o, const char *step)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *k = c->loop.var->name, *axis = axis_name(w, o), *in = "                    ";
    const char *rows = rows_of(w, o), *run = run_of(w, o), *conds = code_conds(c, o->axis);
    const char *threads = arena_printf(w->arena, "(%s * 32)", w->warps);
    const char *pass = arena_printf(w->arena, "max(%s / %s, 1)", threads, run);
    const char *k_holds = arena_printf(
        w->arena, "%s < %s", k, text_operand(w->arena, tree_text(c->in->tree, c->loop.bound)));
    struct node *load = product_load(o->node), *cond = cond_of(w, o);
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    str_addf(s,
        "                #pragma unroll\n"
        "                for (int %s = 0; %s < %s; %s += %s) {\n"
        "%sint %s = %s + %s %% min(%s, %s), %s = %s / %s;\n"
        "%sint %s = %s + %s, %s = %s + %s;\n",
        w->u, w->u, run, w->u, threads, in, by_k(o) ? w->kk : w->at, w->u, w->thread, run, threads,
        by_k(o) ? w->at : w->kk, w->thread, run, in, axis, corner(w, o), w->at, k, w->ahead, w->kk);
    code_decls(c, s, &needs, in);
    str_addf(s, "%sbool %s = %s;\n", in, w->whole, by_k(o) ? k_holds : conds ? conds : "true");
    if (code_conds(c, 0))
        str_addf(s, "%s%s = %s && %s;\n", in, w->whole, w->whole, code_conds(c, 0));
    if (cond)
        str_addf(s, "%s%s = %s && (%s);\n", in, w->whole, w->whole, tree_text(c->in->tree, cond));
    str_addf(s,
        "%sconst float *%s = &%s;\n%sfloat *%s = &%s[%s][%s][%s];\n%sconst int %s = %s;\n"
        "%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s += %s) {\n"
        "%s    if (%s %% %s != 0 && %s + %s >= %s)\n%s        continue;\n",
        in, w->value, tree_text(c->in->tree, load), in, w->to, o->tile, w->into,
        by_k(o) ? w->at : w->kk, by_k(o) ? w->kk : w->at, in, step_of(w, o), step, in, in, w->e,
        w->e, rows, w->e, pass, in, rows, pass, by_k(o) ? w->at : w->kk, w->e, rows, in);
    if (!by_k(o))
        str_addf(s, "%s    int %s = %s + %s + %s;\n", in, k, w->ahead, w->kk, w->e);
    else if (conds)
        str_addf(s, "%s    int %s = %s + %s + %s;\n", in, axis, corner(w, o), w->at, w->e);
    str_addf(s,
        "%s    __pipeline_memcpy_async(%s + %s * (%s), %s + %s * %s, 4, %s && %s ? 0 : 4);\n"
        "%s}\n                }\n",
        in, w->to, w->e, pitch_of(w, o), w->value, w->e, step_of(w, o), w->whole,
        !by_k(o) ? k_holds
        : conds  ? conds
                 : "true",
        in);
}

/* Write the copy of one tile from memory, with zeros outside the matrix. */
static void write_stage(struct mma_writer *w, const struct contraction_operand *o)
{
    const char *step;
    if (is_wide(w, o)) {
        str_addf(&w->out, "            if (%s && %s + %s <= %s) {\n", wide_of(w, o), w->ahead,
            w->bk, text_operand(w->arena, tree_text(w->c->in->tree, w->c->loop.bound)));
        write_copies(w, o, true);
        str_add(&w->out, "            } else {\n");
    } else {
        str_add(&w->out, "            {\n");
    }
    if (is_steady(w, o, &step))
        write_steady_copies(w, o, step);
    else
        write_copies(w, o, false);
    str_add(&w->out, "            }\n");
}

static const char *low_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return arena_printf(w->arena, "low_%s", o->fragment);
}

static void write_fragments(struct mma_writer *w, const struct contraction_operand *o)
{
    const bool a = o == w->a;
    const char *at = arena_printf(w->arena, "%s + %s * 16", a ? w->warp_row : w->warp_col, w->i);
    const char *nr = a ? w->wm : w->wn, *in = "                ";
    struct str *s = &w->out;
    str_addf(s,
        "%snvcuda::wmma::fragment<nvcuda::wmma::matrix_%c, 16, 16, %u, %s,\n"
        "%s    nvcuda::wmma::%s> %s[%s / 16]",
        in, a ? 'a' : 'b', w->depth, w->part, in, by_k(o) == a ? "row_major" : "col_major",
        o->fragment, nr);
    if (w->bytes == 4)
        str_addf(s, ", %s[%s / 16]", low_of(w, o), nr);
    str_addf(s,
        ";\n%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++) {\n"
        "%s    nvcuda::wmma::load_matrix_sync(%s[%s], &%s[%s][%s][%s], %s);\n",
        in, in, w->i, w->i, nr, w->i, in, o->fragment, w->i, o->tile, w->from, by_k(o) ? at : w->kk,
        by_k(o) ? w->kk : at, pitch_of(w, o));
    if (w->bytes == 4)
        str_addf(s,
            "%s    #pragma unroll\n"
            "%s    for (int %s = 0; %s < %s[%s].num_elements; %s++) {\n"
            "%s        float %s = %s[%s].x[%s];\n"
            "%s        %s[%s].x[%s] = __uint_as_float(__float_as_uint(%s) & 0xffffe000u);\n"
            "%s        %s[%s].x[%s] = %s - %s[%s].x[%s];\n%s    }\n",
            in, in, w->u, w->u, o->fragment, w->i, w->u, in, w->value, o->fragment, w->i, w->u, in,
            o->fragment, w->i, w->u, w->value, in, low_of(w, o), w->i, w->u, w->value, o->fragment,
            w->i, w->u, in);
    str_addf(s, "%s}\n", in);
}

/* The accumulators of a tile's products. */
static const char *accumulators(const struct mma_writer *w)
{
    return w->bytes == 4 ? w->parts : w->sums;
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
        w->i, w->i, w->wm, w->i, w->j, w->j, w->wn, w->j, to, w->i, w->j, a, w->i, b, w->j, to,
        w->i, w->j);
}

static void write_compute(struct mma_writer *w)
{
    struct str *s = &w->out;
    const char *in = "            ";
    if (w->bytes == 4)
        write_accumulators(w, w->parts, in);
    /* a window's walk is short: code that is unrolled takes longer to come than it saves */
    str_addf(s, "            #pragma unroll%s\n            for (int %s = 0; %s < %s; %s += %u) {\n",
        w->c->nr_outer ? " 2" : "", w->kk, w->kk, w->bk, w->kk, w->depth);
    write_fragments(w, w->a);
    write_fragments(w, w->b);
    if (w->bytes == 4) {
        write_product(w, low_of(w, w->a), w->b->fragment);
        write_product(w, w->a->fragment, low_of(w, w->b));
    }
    write_product(w, w->a->fragment, w->b->fragment);
    str_add(s, "            }\n");
    if (w->bytes == 4)
        str_addf(s,
            "%s#pragma unroll\n%sfor (int %s = 0; %s < %s / 16; %s++)\n"
            "%s    #pragma unroll\n%s    for (int %s = 0; %s < %s / 16; %s++)\n"
            "%s        #pragma unroll\n"
            "%s        for (int %s = 0; %s < %s[%s][%s].num_elements; %s++)\n"
            "%s            %s[%s][%s].x[%s] += %s[%s][%s].x[%s];\n",
            in, in, w->i, w->i, w->wm, w->i, in, in, w->j, w->j, w->wn, w->j, in, in, w->u, w->u,
            w->parts, w->i, w->j, w->u, in, w->sums, w->i, w->j, w->u, w->parts, w->i, w->j, w->u);
}

static void write_step(struct mma_writer *w, const char *stage)
{
    str_addf(&w->out, "            %s = %s + 1 == %s ? 0 : %s + 1;\n        }\n", stage, stage,
        w->stages, stage);
}

/* Write the loop over tiles. A round copies the tile that is STAGES - 1 ahead to where the tile of
 * the round before was, and computes with its own; the first rounds only copy. */
static void write_loop(struct mma_writer *w)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    str_addf(s, "    const int %s = %s, %s = threadIdx.y * 32 + threadIdx.x;\n", w->first,
        tree_text(c->in->tree, c->loop.start), w->thread);
    write_wide(w, w->a);
    write_wide(w, w->b);
    code_walk_begin(c, s, w->ahead);
    str_addf(s,
        "    const int %s = %s;\n    int %s = 0, %s = 0;\n"
        "    for (int %s = 1 - %s; %s < %s; %s++) {\n"
        "        if (%s >= 0) {\n            __pipeline_wait_prior(%s - 2);\n"
        "            __syncthreads();\n        }\n        if (%s + %s - 1 < %s) {\n",
        w->nr_tiles, code_walk_length(c, w->bk), w->into, w->from, w->tile, w->stages, w->tile,
        w->nr_tiles, w->tile, w->tile, w->stages, w->tile, w->stages, w->nr_tiles);
    write_stage(w, w->a);
    write_stage(w, w->b);
    code_walk_step(c, s, w->ahead, w->bk, "            ");
    write_step(w, w->into);
    str_addf(s, "        __pipeline_commit();\n        if (%s >= 0) {\n", w->tile);
    write_compute(w);
    write_step(w, w->from);
    str_add(s, "    }\n    __syncthreads();\n");
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
        w->i, w->i, w->wm, w->i, w->j, w->j, w->wn, w->j, w->patch, w->sums, w->i, w->j, w->u, w->u,
        w->u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s / 16;\n", in, c->y->var->name, w->row0,
        w->warp_row, w->i, w->u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s %% 16;\n", in, c->x->var->name, w->col0,
        w->warp_col, w->j, w->u);
    str_addf(s, "%sif (%s) {\n", in, all ? all : "true");
    product_rest(
        c, s, &none, arena_printf(w->arena, "%s[%s]", w->patch, w->u), "                    ");
    str_addf(s, "%s}\n            }\n            __syncwarp();\n        }\n    }\n}", in);
}

/* The text of an expression of the kernel in the terms of a launch: a parameter is its argument. */
static const char *at_launch(
    const struct contraction *c, const struct launch_line *line, const struct node *n)
{
    n = node_strip(n);
    const char *given =
        n->kind == NODE_NAME ? launch_line_argument(line, c->form.function, n->decl) : NULL;
    return given ? given : tree_text(c->in->tree, n);
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
    t.block_k = fitted(c, t.block_k, 16, at_launch(c, line, c->loop.bound));
    t.warp_m = t.warp_m < t.block_m ? t.warp_m : t.block_m;
    t.warp_n = t.warp_n < t.block_n ? t.warp_n : t.block_n;
    return t;
}

static void write_tunes(
    const struct mma_writer *w, const struct mma_tiling *t, struct rewrite_out *out)
{
    const struct rewrite_in *in = w->c->in;
    pragma_add_tune(in, &out->edits, w->bm, t->block_m, "32, 64, 128");
    pragma_add_tune(in, &out->edits, w->bn, t->block_n, "32, 64, 128, 256");
    pragma_add_tune(in, &out->edits, w->bk, t->block_k, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->wm, t->warp_m, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->wn, t->warp_n, "16, 32, 64");
    pragma_add_tune(in, &out->edits, w->stages, 3, "2, 3, 4");
    /* The sums take half of the registers at most; a block has what the chip gives. */
    pragma_add_line(in, &out->edits,
        arena_printf(w->arena,
            "where  %s <= %s && %s <= %s && (%s/%s)*(%s/%s) <= 16 && %s*%s <= 32768 && %s + %s <= "
            "%u",
            w->wm, w->bm, w->wn, w->bn, w->bm, w->wm, w->bn, w->wn, w->bm, w->bn,
            tile_bytes(w, w->a), tile_bytes(w, w->b), in->smem_per_block_bytes));
}

static bool write_kernel(
    struct mma_writer *w, const struct mma_tiling *tiling, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    choose_names(w);
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
        &(struct code_launch){.columns = w->bn,
            .rows = w->bm,
            .threads = {"32",
                arena_printf(w->arena, "(%s/%s)*(%s/%s)", w->bm, w->wm, w->bn, w->wn)},
            .smem = arena_printf(w->arena, "max(%s + %s, (%s/%s)*(%s/%s)*1024)",
                tile_bytes(w, w->a), tile_bytes(w, w->b), w->bm, w->wm, w->bn, w->wn)},
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
    take_product(&w, &product);
    /* Parts of floats need registers: smaller tiles first. */
    const struct mma_tiling t = fit(c, tilings[(variant + (w.bytes == 4)) % NR_TILINGS], out);
    if (!write_kernel(&w, &t, out))
        return false;
    return rewrite_done(in, out, "tensor cores for the product in %s, tiles %dx%dx%d",
        function->name, t.block_m, t.block_n, t.block_k);
}
