/* tensor_cores: a product of 16-bit matrices, summed in f32, is made by wmma fragments from tiles
 * in shared memory. Tiles are padded with zeros at the edges of the matrices. Results go through a
 * small patch of shared memory per warp to the threads that store them, under the old guard.
 * Products are exact, as before; only the order of the sums changes. */
#include "cuda/subst.h"
#include "propose/rewrite/contraction_code.h"

#include <string.h>

static const struct tiling tilings[] = {{.block_m = 64, .block_n = 64, .block_k = 32},
    {.block_m = 128, .block_n = 64, .block_k = 32}, {.block_m = 32, .block_n = 32, .block_k = 32}};
enum { NR_TILINGS = 3 };

struct mma_writer {
    const struct contraction *c;
    struct arena *arena;
    const struct contraction_operand *a, *b; /* along y, along x */
    const char *type;                        /* "half" */
    const char *bm, *bn, *bk, *warps, *row0, *col0, *warp_row, *warp_col, *k0, *kk, *at, *e, *i, *j,
        *u, *sums, *patch, *value;
    struct str out;
};

/* The load inside conversions to f32, which change no value; NULL: there is something else. */
static struct node *plain_load(struct node *n)
{
    for (;;) {
        bool converts = n->kind == NODE_CALL && n->nr_children == 1 &&
                        (!strcmp(n->name, "__half2float") || !strcmp(n->name, "__bfloat162float"));
        bool casts = n->kind == NODE_CAST && n->type.scalar == SCALAR_F32 && !n->type.is_pointer;
        if (n->kind == NODE_INDEX)
            return n;
        if ((n->kind != NODE_PAREN && !casts && !converts) || !n->child)
            return NULL;
        n = n->child;
    }
}

static bool is_zero(const struct contraction *c, const struct node *init)
{
    static const char *const zeros[] = {"0", "0.0f", "0.f", "0.0", "0.", NULL};
    return str_among(tree_text(c->in->tree, init), zeros);
}

/* Whether the loop is `sum += a * b;` and nothing else. */
static bool read_product(struct mma_writer *w, const char **why)
{
    const struct contraction *c = w->c;
    const struct node *s = c->loop.node->body;
    if (s->kind == NODE_BLOCK)
        s = s->nr_children == 1 ? s->child : NULL;
    if (!c->neutral || !s || s->kind != NODE_ASSIGN || c->nr_accs != 1 || c->nr_operands != 2)
        return *why = "the loop is not one sum of products of two operands", false;
    const struct node *product = node_strip(s->child->next);
    if (product->kind != NODE_BINARY || strcmp(product->op, "*") != 0 ||
        !plain_load(product->child) || !plain_load(product->child->next))
        return *why = "the loop is not one sum of products of two operands", false;
    if (c->accs[0]->type.scalar != SCALAR_F32 || !is_zero(c, c->accs[0]->init))
        return *why = "the sum is not in f32 from zero", false;
    for (unsigned i = 0; i < 2; i++)
        *(c->operands[i].axis == ALONG_Y ? &w->a : &w->b) = &c->operands[i];
    if (!w->a || !w->b)
        return *why = "no operand is shared between threads along both axes", false;
    const struct node *a = plain_load(w->a->node), *b = plain_load(w->b->node);
    enum scalar scalar = a ? a->type.scalar : SCALAR_F32;
    if (!b || b->type.scalar != scalar || (scalar != SCALAR_F16 && scalar != SCALAR_BF16))
        return *why = "the operands are not both f16 or both bf16", false;
    if (strcmp(w->a->type, "float") != 0 || strcmp(w->b->type, "float") != 0)
        return *why = "the products are rounded to 16 bits", false;
    w->type = scalar == SCALAR_F16 ? "half" : "__nv_bfloat16";
    return true;
}

static void choose_names(struct mma_writer *w)
{
    const struct cuda_tree *tree = w->c->in->tree;
    const struct {
        const char **name, *base;
    } names[] = {{&w->bm, "BM"}, {&w->bn, "BN"}, {&w->bk, "BK"}, {&w->warps, "NR_WARPS"},
        {&w->row0, "first_y"}, {&w->col0, "first_x"}, {&w->warp_row, "warp_y"},
        {&w->warp_col, "warp_x"}, {&w->k0, "k0"}, {&w->kk, "kk"}, {&w->at, "at"}, {&w->e, "e"},
        {&w->i, "i"}, {&w->j, "j"}, {&w->u, "u"}, {&w->sums, "sums"}, {&w->patch, "patch"},
        {&w->value, "value"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(tree, names[i].base);
}

static const char *size_of(const struct mma_writer *w, const struct contraction_operand *o)
{
    return o == w->a ? w->bm : w->bn;
}

static void write_head(struct mma_writer *w)
{
    struct str *s = &w->out;
    str_addf(s, "{\n    const int %s = (%s / 32) * (%s / 32);\n", w->warps, w->bm, w->bn);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? w->b : w->a;
        str_addf(s, "    __shared__ __align__(32) %s %s[%s][%s + 8];\n", w->type, o->tile,
            o->k_runs ? size_of(w, o) : w->bk, o->k_runs ? w->bk : size_of(w, o));
    }
    str_addf(s, "    __shared__ __align__(32) float %s[%s][16 * 16];\n", w->patch, w->warps);
    str_addf(
        s, "    int %s = blockIdx.y * %s, %s = blockIdx.x * %s;\n", w->row0, w->bm, w->col0, w->bn);
    str_addf(s, "    int %s = threadIdx.y / (%s / 32) * 32, %s = threadIdx.y %% (%s / 32) * 32;\n",
        w->warp_row, w->bn, w->warp_col, w->bn);
    code_uniform_decls(w->c, s);
    str_addf(s,
        "    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> %s[2][2];\n"
        "    for (int %s = 0; %s < 4; %s++)\n"
        "        nvcuda::wmma::fill_fragment(%s[%s / 2][%s %% 2], 0.0f);\n",
        w->sums, w->i, w->i, w->i, w->sums, w->i, w->i);
}

/* Write the copy of one tile from memory, with zeros outside the matrix. Neighbouring threads take
 * neighbours in memory. */
static void write_stage(struct mma_writer *w, const struct contraction_operand *o)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const bool x = o->axis == ALONG_X;
    const char *axis = (x ? c->x : c->y)->var->name, *k = c->loop.var->name, *size = size_of(w, o);
    const char *fast = o->k_runs ? w->kk : w->at, *slow = o->k_runs ? w->at : w->kk;
    const char *run = o->k_runs ? w->bk : size;
    const char *conds = code_conds(c, o->axis), *uniform = code_conds(c, 0);
    struct node *load = plain_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(s,
        "        for (int %s = threadIdx.y * 32 + threadIdx.x; %s < %s * %s; %s += %s * 32) {\n"
        "            int %s = %s %% %s, %s = %s / %s;\n"
        "            int %s = %s + %s, %s = %s + %s;\n"
        "            %s %s = %s(0.0f);\n",
        w->e, w->e, size, w->bk, w->e, w->warps, fast, w->e, run, slow, w->e, run, axis,
        x ? w->col0 : w->row0, w->at, k, w->k0, w->kk, w->type, w->value, w->type);
    str_addf(s, "            if (%s < %s%s%s%s%s) {\n", k, tree_text(c->in->tree, c->loop.bound),
        conds ? " && " : "", conds ? conds : "", uniform ? " && " : "", uniform ? uniform : "");
    code_decls(c, s, &needs, "                ");
    str_addf(s,
        "                %s = %s;\n            }\n            %s[%s][%s] = %s;\n        }\n",
        w->value, tree_text(c->in->tree, load), o->tile, slow, fast, w->value);
}

static void write_fragment(struct mma_writer *w, const struct contraction_operand *o)
{
    const bool a = o == w->a;
    const char *at = arena_printf(w->arena, "%s + %s * 16", a ? w->warp_row : w->warp_col, w->i);
    str_addf(&w->out,
        "                nvcuda::wmma::load_matrix_sync(%s[%s], &%s[%s][%s], %s + 8);\n",
        o->fragment, w->i, o->tile, o->k_runs ? at : w->kk, o->k_runs ? w->kk : at,
        o->k_runs ? w->bk : size_of(w, o));
}

static void write_loop(struct mma_writer *w)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    str_addf(s, "    for (int %s = %s; %s < %s; %s += %s) {\n", w->k0,
        tree_text(c->in->tree, c->loop.start), w->k0, tree_text(c->in->tree, c->loop.bound), w->k0,
        w->bk);
    write_stage(w, w->a);
    write_stage(w, w->b);
    str_addf(s,
        "        __syncthreads();\n        #pragma unroll\n"
        "        for (int %s = 0; %s < %s; %s += 16) {\n",
        w->kk, w->kk, w->bk, w->kk);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? w->b : w->a;
        str_addf(s,
            "            nvcuda::wmma::fragment<nvcuda::wmma::matrix_%c, 16, 16, 16, %s,\n"
            "                nvcuda::wmma::%s> %s[2];\n",
            "ab"[i], w -> type, o -> k_runs == (o == w->a) ? "row_major" : "col_major",
            o->fragment);
    }
    str_addf(s, "            for (int %s = 0; %s < 2; %s++) {\n", w->i, w->i, w->i);
    write_fragment(w, w->a);
    write_fragment(w, w->b);
    str_addf(s,
        "            }\n            for (int %s = 0; %s < 4; %s++)\n"
        "                nvcuda::wmma::mma_sync(%s[%s / 2][%s %% 2], %s[%s / 2], %s[%s %% 2],\n"
        "                    %s[%s / 2][%s %% 2]);\n        }\n        __syncthreads();\n    }\n",
        w->i, w->i, w->i, w->sums, w->i, w->i, w->a->fragment, w->i, w->b->fragment, w->i, w->sums,
        w->i, w->i);
}

static void write_tail(struct mma_writer *w)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const struct substs none = {.nr = 0};
    const char *all = code_all_conds(c), *in = "                ";
    str_addf(s,
        "    for (int %s = 0; %s < 2; %s++) {\n        for (int %s = 0; %s < 2; %s++) {\n"
        "            nvcuda::wmma::store_matrix_sync(\n"
        "                %s[threadIdx.y], %s[%s][%s], 16, nvcuda::wmma::mem_row_major);\n"
        "            __syncwarp();\n"
        "            for (int %s = threadIdx.x; %s < 16 * 16; %s += 32) {\n",
        w->i, w->i, w->i, w->j, w->j, w->j, w->patch, w->sums, w->i, w->j, w->u, w->u, w->u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s / 16;\n", in, c->y->var->name, w->row0,
        w->warp_row, w->i, w->u);
    str_addf(s, "%sint %s = %s + %s + %s * 16 + %s %% 16;\n", in, c->x->var->name, w->col0,
        w->warp_col, w->j, w->u);
    str_addf(s, "%sif (%s) {\n", in, all ? all : "true");
    str_addf(s, "%s    %s %s = %s[threadIdx.y][%s];\n", in, c->accs[0]->type.base, c->accs[0]->name,
        w->patch, w->u);
    code_rest(c, s, &none, "                    ");
    str_addf(s, "%s}\n            }\n            __syncwarp();\n        }\n    }\n}", in);
}

static bool write_launches(const struct mma_writer *w, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    struct launch_lines lines;
    if (!launch_lines_read(in, c->form.function, &lines, out))
        return false;
    for (unsigned i = 0; i < lines.nr; i++) {
        struct launch_line *line = &lines.items[i];
        extent_cover(in, line, &c->form, c->x, w->bn);
        extent_cover(in, line, &c->form, c->y, w->bm);
        line->block[0] = "32";
        line->block[1] = arena_printf(w->arena, "(%s/32)*(%s/32)", w->bm, w->bn);
        launch_line_write(line, &out->edits);
    }
    return true;
}

static bool write_kernel(struct mma_writer *w, const struct tiling *t, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    choose_names(w);
    write_head(w);
    write_loop(w);
    write_tail(w);
    edits_replace(&out->edits, c->form.body->start, c->form.body->end, "%s", str_text(&w->out));
    str_finish(&w->out);
    if (!strstr(in->source, "<mma.h>"))
        edits_insert(&out->edits, 0, "#include <mma.h>\n");
    pragma_add_tune(in, &out->edits, w->bm, t->block_m, "32, 64, 128");
    pragma_add_tune(in, &out->edits, w->bn, t->block_n, "32, 64, 128");
    pragma_add_tune(in, &out->edits, w->bk, t->block_k, "16, 32, 64");
    pragma_add_line(
        in, &out->edits, arena_printf(w->arena, "where  %s*(%s+%s) <= 8192", w->bk, w->bm, w->bn));
    extent_drop_bounds(in, c->form.function, &out->edits);
    extent_drop_tunes(in, c->form.function, &out->edits);
    return write_launches(w, out);
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
    if (!contraction_read(c, in, function, &why) || !read_product(&w, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    const struct tiling *t = &tilings[variant % NR_TILINGS];
    if (!write_kernel(&w, t, out))
        return false;
    return rewrite_done(in, out, "tensor cores for the product in %s, tiles %dx%dx%d",
        function->name, t->block_m, t->block_n, t->block_k);
}
