/* wgmma: a product of 16-bit or 8-bit matrices, of which A lies along k in memory, and B along k or
 * across, is made by warpgroups out of shared memory. One thread brings tiles of 128 bytes of k by
 * tensor copies into a ring of STAGES; each of the other warpgroups multiplies 64 rows of A with
 * all columns of the block's B. Tensor copies fill what is outside of the matrices with zeros.
 * Results go through shared memory to threads that store them side by side, under the old guard, 16
 * bytes at a time where what ends an output is one store.
 * The CLUSTER blocks of a cluster, neighbours along y, have the same tile of B: each brings a part
 * of it for all of them, once all have done with the tile before.
 *
 * Operands lie in swizzled rows of 128 bytes (PTX ISA 9.0, 9.7.15.5: a group of eight rows every
 * 1024 bytes). Tensor copies need rows that start at multiples of 16 bytes, at all sizes; where
 * these cannot be, wgmma_tiles has the threads copy. */
#include "base/str.h"
#include "cuda/affine.h"
#include "propose/rewrite/contraction_code.h"
#include "propose/rewrite/wgmma_tiles.h"

#include <string.h>

/* Columns of a block, by variant. A thread holds half as many sums. */
enum { NR_WIDTHS = 3 };
static const unsigned widths[] = {256, 128, 64}, widths_of_eight[] = {128, 64, 96};

struct wgmma_writer {
    const struct contraction *c;
    struct arena *arena;
    struct product product;
    unsigned params[2];                  /* of A and B */
    bool across;                         /* rows of B run across k: B[k][column] */
    unsigned columns;                    /* of a block */
    const struct node *target;           /* what all outputs go to, side by side; NULL: otherwise */
    const char *rows, *stages, *cluster; /* tuning parameters; blocks of a cluster along y */
    const char *tiles, *ring, *at, *full, *empty, *first_y, *first_x, *nr_tiles, *group, *tile,
        *stage, *sums, *part, *patch, *lane, *to, *i, *u, *rank, *wide, *whole;
    struct str out;
};

static void choose_names(struct wgmma_writer *w)
{
    const struct cuda_tree *tree = w->c->in->tree;
    const struct {
        const char **name, *base;
    } names[] = {{&w->rows, "BM"}, {&w->stages, "STAGES"}, {&w->tiles, "tiles"}, {&w->ring, "ring"},
        {&w->at, "tiles_at"}, {&w->full, "full"}, {&w->empty, "empty"}, {&w->first_y, "first_y"},
        {&w->first_x, "first_x"}, {&w->nr_tiles, "nr_tiles"}, {&w->group, "warpgroup"},
        {&w->tile, "tile"}, {&w->stage, "stage"}, {&w->sums, "sums"}, {&w->part, "part"},
        {&w->patch, "patch"}, {&w->lane, "lane"}, {&w->to, "to"}, {&w->i, "i"}, {&w->u, "u"},
        {&w->cluster, "CLUSTER"}, {&w->rank, "rank"}, {&w->wide, "wide"}, {&w->whole, "whole"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(tree, names[i].base);
}

/* Values in a row of a tile. */
static int tile_k(const struct wgmma_writer *w)
{
    return w->product.eight ? 2 * WGMMA_TILE_K : WGMMA_TILE_K;
}

/* --- what can be brought by tensor copies --- */

/* Whether the check may give rows that are no whole pieces of 16 bytes, for all that the task
 * assumes: its own sizes keep multiples of 8, and of nothing where the file gives one size alone.
 */
static bool may_be_ragged(const struct contraction *c, const struct task_array *matrix, int piece)
{
    const struct task *task = c->in->task;
    const struct shape *shape = &task->timed;
    const struct env env = plan_env(c->in->arena, c->in->plan, shape);
    struct binding *bindings = arena_array(c->in->arena, shape->sizes.nr + 1, sizeof *bindings);
    const struct env other = {bindings, shape->sizes.nr};
    struct err err = {0};
    int64_t length;
    const int more = task->nr_checks ? 8 : 1;
    if (more % piece == 0 || !expr_eval(matrix->dims[1], &env, &length, &err))
        return false;
    for (size_t i = 0; i < other.nr; i++) {
        bindings[i] = shape->sizes.bindings[i];
        bindings[i].value += bindings[i].value == length ? more : 0;
    }
    return task_assumes(task, &other);
}

/* Whether an expression has the value of an extent, which is a multiple of `piece`, at all given
 * sizes. */
static bool is_extent(
    const struct contraction *c, const struct expr *extent, const char *text, int piece)
{
    const struct task *task = c->in->task;
    struct err err = {0};
    const struct expr *expr = expr_parse(c->in->arena, text, strlen(text), &err);
    for (unsigned i = 0; expr && i <= task->nr_checks; i++) {
        const struct shape *shape = i < task->nr_checks ? &task->checks[i] : &task->timed;
        const struct env env = plan_env(c->in->arena, c->in->plan, shape);
        int64_t value, wanted;
        if (!expr_eval(expr, &env, &value, &err) || !expr_eval(extent, &env, &wanted, &err) ||
            value != wanted || wanted % piece != 0)
            return false;
    }
    return expr != NULL;
}

/* The launch's argument for the parameter of that name; NULL: no such parameter. */
static const char *argument(
    const struct contraction *c, const struct launch_line *line, const char *name)
{
    for (unsigned i = 0; i < function_nr_params(c->form.function); i++)
        if (!strcmp(function_param(c->form.function, i)->name, name))
            return launch_line_argument(
                line, c->form.function, function_param(c->form.function, i));
    return NULL;
}

/* Whether the operand is element (row, k) of a whole matrix of the task, row * K + k, which the
 * kernel uses nowhere else; across: element (k, column), k * N + column. */
static bool is_matrix(const struct wgmma_writer *w, const struct contraction_operand *o,
    const struct launch_line *line, unsigned *param)
{
    const struct contraction *c = w->c;
    const struct form_axis *axis = o == w->product.a ? c->y : c->x;
    const bool across = o == w->product.b && w->across;
    const char *slow = across ? c->loop.var->name
                              : arena_printf(c->in->arena, "threadIdx.%c", axis_names[axis->dim]);
    const struct node *base;
    struct affine index;
    if (!(across ? o->axis_runs : o->k_runs) ||
        !affine_access(c->in->tree, c->form.function, product_load(o->node), &base, &index))
        return false;
    const int at = function_param_number(c->form.function, base);
    if (at < 0 || (unsigned)at >= line->nr_args || index.nr != 3)
        return false;
    unsigned uses = 0;
    for (const struct node *n = c->form.function; n; n = node_next(c->form.function, n))
        uses += n->kind == NODE_NAME && n->decl == base;
    const struct task_array *matrix = rewrite_array(c->in, line->launch, (unsigned)at);
    const char *length = argument(c, line, affine_coefficient_text(c->in->arena, &index, slow));
    const struct node *end = node_strip(c->loop.bound);
    const char *bound =
        end->kind == NODE_NAME ? launch_line_argument(line, c->form.function, end->decl) : NULL;
    const int piece = tile_k(w) / 8; /* values in 16 bytes */
    *param = (unsigned)at;
    return uses == 1 && matrix && matrix->nr_dims == 2 && !matrix->is_symbol &&
           !strcmp(line->args[at], matrix->name) && length && bound &&
           is_extent(c, matrix->dims[1], length, piece) && !may_be_ragged(c, matrix, piece) &&
           is_extent(c, matrix->dims[across ? 0 : 1], bound, 1);
}

static bool read_matrices(struct wgmma_writer *w, struct launch_line *line, const char **why)
{
    const struct contraction *c = w->c;
    if (w->product.scalar == SCALAR_F32)
        return *why = "the operands are not 16-bit", false;
    if (c->nr_outer || c->rows || c->x->block_only || c->y->block_only || c->form.nr_axes != 2 ||
        strcmp(tree_text(c->in->tree, c->loop.start), "0") != 0)
        return *why = "it is not one product of two whole matrices", false;
    w->across = !w->product.eight && !w->product.b->k_runs;
    if (!is_matrix(w, w->product.a, line, &w->params[0]) ||
        !is_matrix(w, w->product.b, line, &w->params[1]) || w->params[0] == w->params[1])
        return *why = "an operand is not a whole matrix whose rows are whole pieces of 16 bytes",
               false;
    return true;
}

/* --- the kernel --- */

static void write_wait(struct wgmma_writer *w, const char *bar, const char *parity, const char *in)
{
    str_addf(&w->out,
        "%sasm volatile(\"{\\n.reg .pred p;\\nAGAIN:\\n\"\n"
        "%s    \"mbarrier.try_wait.parity.shared::cta.b64 p, [%%0], %%1;\\n@!p bra AGAIN;\\n}\"\n"
        "%s    :: \"r\"(%s + 8 * %s), \"r\"(%s) : \"memory\");\n",
        in, in, in, bar, w->stage, parity);
}

static void write_head(struct wgmma_writer *w)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    str_addf(s,
        "{\n    extern __shared__ __align__(1024) unsigned char %s[];\n"
        "    __shared__ __align__(8) unsigned long long %s[2 * %s];\n"
        "    const unsigned %s = (unsigned)__cvta_generic_to_shared(%s);\n"
        "    const unsigned %s = (unsigned)__cvta_generic_to_shared(%s), %s = %s + 8 * %s;\n",
        w->tiles, w->ring, w->stages, w->at, w->tiles, w->full, w->ring, w->empty, w->full,
        w->stages);
    str_addf(s, "    const int %s = %s * %s, %s = %s * %u, %s = %s %% %s;\n", w->first_y,
        code_block_of(c, c->y), w->rows, w->first_x, code_block_of(c, c->x), w->columns, w->rank,
        code_block_of(c, c->y), w->cluster);
    code_uniform_decls(c, s);
    str_addf(s, "    const int %s = (%s + %d) / %d, %s = threadIdx.x / 128;\n", w->nr_tiles,
        tree_text(c->in->tree, c->loop.bound), tile_k(w) - 1, tile_k(w), w->group);
    str_addf(s,
        "    if (threadIdx.x == 0) {\n        for (int %s = 0; %s < %s; %s++) {\n"
        "            asm volatile(\"mbarrier.init.shared::cta.b64 [%%0], 1;\" :: \"r\"(%s + 8 * "
        "%s));\n"
        "            asm volatile(\"mbarrier.init.shared::cta.b64 [%%0], %%1;\"\n"
        "                :: \"r\"(%s + 8 * %s), \"r\"(%s / %d * %s));\n        }\n"
        "        asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n    }\n"
        "    __syncthreads();\n",
        w->i, w->i, w->stages, w->i, w->full, w->i, w->empty, w->i, w->rows, WGMMA_GROUP_ROWS,
        w->cluster);
    str_addf(s,
        "    if (%s > 1) {\n        asm volatile(\"barrier.cluster.arrive.relaxed.aligned;\" ::: "
        "\"memory\");\n"
        "        asm volatile(\"barrier.cluster.wait.aligned;\" ::: \"memory\");\n    }\n",
        w->cluster);
}

/* One tensor copy, to this block or to all of the cluster. */
static void write_tensor_copy(struct wgmma_writer *w, unsigned which, bool to_all, const char *to,
    const char *x, const char *y, const char *in)
{
    const struct node *param = function_param(w->c->form.function, w->params[which]);
    str_addf(&w->out,
        "%sasm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.tile\"\n"
        "%s    \".mbarrier::complete_tx::bytes%s [%%0], [%%1, {%%2, %%3}], [%%4]%s;\"\n"
        "%s    :: \"r\"(%s), \"l\"(&%s), \"r\"(%s), \"r\"(%s),\n"
        "%s    \"r\"(%s + 8 * %s)%s : \"memory\");\n",
        in, in, to_all ? ".multicast::cluster" : "", to_all ? ", %5" : "", in, to, param->name, x,
        y, in, w->full, w->stage,
        to_all ? arena_printf(w->arena, ", \"h\"((unsigned short)((1 << %s) - 1))", w->cluster)
               : "");
}

/* The tile of A, and the block's share of the tile of B, which goes to all blocks of the cluster. B
 * whose rows run across k comes in squares of 64 x 64: see tile_swizzled_place. */
static void write_copies(struct wgmma_writer *w)
{
    struct arena *a = w->arena;
    const char *in = "                ", *deep = arena_printf(a, "%s    ", in),
               *at_k = arena_printf(a, "%s * %d", w->tile, tile_k(w));
    const char *share = arena_printf(a, "%s * (%u / %s)", w->rank,
        w->across ? w->columns / WGMMA_TILE_K : w->columns, w->cluster);
    write_tensor_copy(w, 0, false, w->to, at_k, w->first_y, in);
    if (w->across)
        str_addf(&w->out,
            "%s#pragma unroll\n%sfor (int %s = 0; %s < %u / %s; %s++) {\n%s    const int %s = "
            "%s + %s;\n",
            in, in, w->i, w->i, w->columns / WGMMA_TILE_K, w->cluster, w->i, in, w->u, w->i, share);
    for (unsigned to_all = 0; to_all < 2; to_all++) {
        str_addf(&w->out, "%sif (%s %s 1) {\n", in, w->cluster, to_all ? ">" : "==");
        if (w->across)
            write_tensor_copy(w, 1, to_all,
                arena_printf(a, "%s + (%s + %d * %s) * %d", w->to, w->rows, WGMMA_TILE_K, w->u,
                    WGMMA_ROW_BYTES),
                arena_printf(a, "%s + %d * %s", w->first_x, WGMMA_TILE_K, w->u), at_k, deep);
        else
            write_tensor_copy(w, 1, to_all,
                arena_printf(a, "%s + (%s + %s) * %d", w->to, w->rows, share, WGMMA_ROW_BYTES),
                at_k, arena_printf(a, "%s + %s", w->first_x, share), deep);
        str_addf(&w->out, "%s}\n", in);
    }
    if (w->across)
        str_addf(&w->out, "%s}\n", in);
}

/* The first warpgroup: one thread of it keeps the ring full. In a cluster it waits, after the last
 * tile, until all stages are empty again: so no block ends while another one arrives at its
 * barriers, or gets a copy of its. */
static void write_producer(struct wgmma_writer *w)
{
    struct str *s = &w->out;
    str_addf(s,
        "    if (%s == 0) {\n        if (threadIdx.x == 0)\n"
        "            for (int %s = 0; %s < %s + (%s > 1 ? %s : 0); %s++) {\n"
        "                const unsigned %s = %s %% %s, %s = %s + %s * ((%s + %u) * %d);\n",
        w->group, w->tile, w->tile, w->nr_tiles, w->cluster, w->stages, w->tile, w->stage, w->tile,
        w->stages, w->to, w->at, w->stage, w->rows, w->columns, WGMMA_ROW_BYTES);
    write_wait(w, w->empty, arena_printf(w->arena, "(%s / %s + 1) & 1", w->tile, w->stages),
        "                ");
    str_addf(s,
        "                if (%s >= %s)\n                    continue;\n"
        "                asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%0], "
        "%%1;\"\n"
        "                    :: \"r\"(%s + 8 * %s), \"r\"((%s + %u) * %d) : \"memory\");\n",
        w->tile, w->nr_tiles, w->full, w->stage, w->rows, w->columns, WGMMA_ROW_BYTES);
    write_copies(w);
    str_add(s, "            }\n        return;\n    }\n");
}

static struct wgmma_code code_of(struct wgmma_writer *w)
{
    return (struct wgmma_code){.arena = w->arena,
        .out = &w->out,
        .type = w->product.eight                  ? w->product.eight
                : w->product.scalar == SCALAR_F16 ? "f16"
                                                  : "bf16",
        .columns = w->columns,
        .sums = w->sums,
        .a_by_k = true,
        .b_by_k = !w->across};
}

static void write_loop(struct wgmma_writer *w)
{
    struct str *s = &w->out;
    const char *in = "        ", *k = w->u;
    str_addf(s,
        "    float %s[%u];\n    #pragma unroll\n    for (int %s = 0; %s < %u; %s++)\n"
        "        %s[%s] = 0;\n    for (int %s = 0; %s < %s; %s++) {\n"
        "        const unsigned %s = %s %% %s, %s = %s + %s * ((%s + %u) * %d);\n",
        w->sums, w->columns / 2, w->i, w->i, w->columns / 2, w->i, w->sums, w->i, w->tile, w->tile,
        w->nr_tiles, w->tile, w->stage, w->tile, w->stages, w->to, w->at, w->stage, w->rows,
        w->columns, WGMMA_ROW_BYTES);
    if (w->product.eight) /* the unit keeps 13 bits of these sums: they are short */
        str_addf(s, "%sfloat %s[%u];\n", in, w->part, w->columns / 2);
    write_wait(w, w->full, arena_printf(w->arena, "%s / %s & 1", w->tile, w->stages), in);
    str_addf(s,
        "%sasm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n%s#pragma unroll\n"
        "%sfor (int %s = 0; %s < %d; %s += 32) {\n",
        in, in, in, k, k, WGMMA_ROW_BYTES, k);
    struct wgmma_code code = code_of(w);
    if (w->product.eight)
        code.sums = w->part;
    wgmma_product(&code,
        wgmma_descriptor(w->arena,
            arena_printf(w->arena, "(%s + (%s - 1) * %d + %s)", w->to, w->group,
                WGMMA_GROUP_ROWS * WGMMA_ROW_BYTES, k),
            true),
        wgmma_descriptor(w->arena,
            arena_printf(w->arena, "(%s + %s * %d + %s%s)", w->to, w->rows, WGMMA_ROW_BYTES, k,
                w->across ? arena_printf(w->arena, " * %d", WGMMA_STEP_ACROSS / WGMMA_STEP_BY_K)
                          : ""),
            !w->across),
        w->product.eight ? arena_printf(w->arena, "%s > 0", k) : NULL, "            ");
    str_addf(
        s, "%s}\n%sasm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n", in, in);
    wgmma_wait(&code, 0, w->i, in);
    str_addf(s,
        "%sif (%s == 1 && threadIdx.x %% 128 == 0)\n%s    asm volatile("
        "\"mbarrier.arrive.shared::cta.b64 _, [%%0];\" :: \"r\"(%s + 8 * %s) : \"memory\");\n",
        in, w->cluster, in, w->empty, w->stage);
    /* A release of the block's own scope, which is the default, will do: the block has written
     * nothing that another one's producer must see, and what it read is in its registers. */
    str_addf(s,
        "%sif (%s > 1 && threadIdx.x %% 128 < %s)\n"
        "%s    asm volatile(\"{\\n.reg .b32 there;\\nmapa.shared::cluster.u32 there, %%0, "
        "%%1;\\n\"\n"
        "%s        \"mbarrier.arrive.shared::cluster.b64 _, [there];\\n}\"\n"
        "%s        :: \"r\"(%s + 8 * %s), \"r\"(threadIdx.x %% 128) : \"memory\");\n",
        in, w->cluster, w->cluster, in, in, in, w->empty, w->stage);
    if (w->product.eight)
        str_addf(s,
            "%s#pragma unroll\n%sfor (int %s = 0; %s < %u; %s++)\n%s    %s[%s] += %s[%s];\n", in,
            in, w->i, w->i, w->columns / 2, w->i, in, w->sums, w->i, w->part, w->i);
    str_add(s, "    }\n");
}

/* Whether the place of an output can be computed once more, without the sum. */
static bool place_is_plain(const struct contraction *c, struct node *target)
{
    struct code_needs needs = {.roots = {target}, .nr = 1, .late = true};
    struct node *vars[64];
    for (unsigned i = code_find_needs(c, &needs, vars, 64); i-- > 0;)
        if (vars[i]->type.nr_dims)
            return false;
    for (unsigned i = 0; i < needs.nr; i++)
        if (!node_is_pure(needs.roots[i]) || node_uses(needs.roots[i], c->accs[0]))
            return false;
    return true;
}

/* The element that the kernel stores an output in, where it stores nothing else, and neighbours
 * along x lie side by side; else NULL. */
static const struct node *lone_target(const struct wgmma_writer *w)
{
    const struct contraction *c = w->c;
    const struct node *stmt = c->form.work[c->form.nr_work - 1];
    const char *fast = arena_printf(w->arena, "threadIdx.%c", axis_names[c->x->dim]);
    const struct node *base;
    struct affine index;
    int64_t step;
    unsigned uses = 0;
    for (unsigned i = c->loop_at + 1; i + 1 < c->form.nr_work; i++)
        if (c->form.work[i]->kind != NODE_DECLS)
            return NULL;
    if (stmt->kind != NODE_ASSIGN || strcmp(stmt->op, "=") != 0 ||
        stmt->child->kind != NODE_INDEX ||
        !affine_access(c->in->tree, c->form.function, stmt->child, &base, &index) ||
        affine_coefficient(&index, fast, &step) != COEFFICIENT_CONSTANT || step != 1 ||
        function_param_number(c->form.function, base) < 0 || !place_is_plain(c, stmt->child))
        return NULL;
    for (const struct node *n = c->form.function; n; n = node_next(c->form.function, n))
        uses += n->kind == NODE_NAME && n->decl == base;
    const enum scalar scalar = stmt->child->type.scalar;
    return uses == 1 && (scalar == SCALAR_F16 || scalar == SCALAR_BF16 || scalar == SCALAR_F32)
               ? stmt->child
               : NULL;
}

/* Outputs that a lane ends at a time: as many as 16 bytes hold. */
static unsigned outputs_of_lane(const struct wgmma_writer *w)
{
    return !w->target ? 1 : w->target->type.scalar == SCALAR_F32 ? 4 : 8;
}

/* Write: a lane ends its outputs in registers and stores them at once, where all of them are inside
 * and the place of the first one is a multiple of 16 bytes. What the place needs may hold loads, so
 * only a lane whose outputs are inside computes the place. */
static void write_wide_outputs(struct wgmma_writer *w, const char *all, const char *at)
{
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *in = "        ", *x = c->x->var->name, *type = node_base(w->target)->type.base;
    const unsigned nr = outputs_of_lane(w);
    struct code_needs needs = {.roots = {(struct node *)w->target}, .nr = 1, .late = true};
    struct substs to_wide = {.nr = 0};
    substs_add(&to_wide, w->target, arena_printf(w->arena, "%s[%s]", w->wide, w->i));
    str_addf(s,
        "%sbool %s = true;\n%s#pragma unroll\n%sfor (int %s = 0; %s < %u; %s++) {\n"
        "%s    int %s = %s + %s;\n%s    %s = %s && (%s);\n%s}\n%s%s *%s = 0;\n%sif (%s) {\n"
        "%s    int %s = %s;\n",
        in, w->whole, in, in, w->i, w->i, nr, w->i, in, x, w->tile, w->i, in, w->whole, w->whole,
        all ? all : "true", in, in, type, w->to, in, w->whole, in, x, w->tile);
    code_decls(c, s, &needs, "            ");
    str_addf(s, "%s    %s = &%s;\n%s}\n%sif (%s && (size_t)%s %% 16 == 0) {\n", in, w->to,
        tree_text(c->in->tree, w->target), in, in, w->whole, w->to);
    str_addf(s, "%s    __align__(16) float %s[%u];\n%s    __align__(16) %s %s[%u];\n", in, w->part,
        nr, in, type, w->wide, nr);
    for (unsigned i = 0; i < nr; i += 4)
        str_addf(s, "%s    *(float4 *)&%s[%u] = *(const float4 *)&%s[%s + %u];\n", in, w->part, i,
            w->patch, at, i);
    str_addf(s,
        "%s    #pragma unroll\n%s    for (int %s = 0; %s < %u; %s++) {\n%s        int %s = %s + "
        "%s;\n",
        in, in, w->i, w->i, nr, w->i, in, x, w->tile, w->i);
    product_rest(
        c, s, &to_wide, arena_printf(w->arena, "%s[%s]", w->part, w->i), "                ");
    str_addf(s, "%s    }\n%s    *(uint4 *)%s = *(const uint4 *)%s;\n%s    continue;\n%s}\n", in, in,
        w->to, w->wide, in, in);
}

/* The sums of a warp, 16 rows, as the manual lays them out (9.7.15.5.1), to shared memory, where
 * the ring was; then the lanes store them side by side. */
static void write_tail(struct wgmma_writer *w)
{
    const struct substs none = {.nr = 0};
    const struct contraction *c = w->c;
    struct str *s = &w->out;
    const char *all = code_all_conds(c), *in = "        ";
    const unsigned pitch = w->columns + 8, nr = outputs_of_lane(w);
    const struct wgmma_code code = code_of(w);
    const char *at = arena_printf(
        w->arena, "%s / %u * %u + %s %% %u", w->u, w->columns, pitch, w->u, w->columns);
    str_addf(s,
        "    asm volatile(\"bar.sync 1, %%0;\" :: \"r\"(2 * %s) : \"memory\");\n"
        "    const int %s = threadIdx.x %% 32;\n"
        "    float *%s = (float *)%s + (threadIdx.x / 32 - 4) * (16 * %u);\n",
        w->rows, w->lane, w->patch, w->tiles, pitch);
    wgmma_put_sums(&code, &(struct wgmma_patch){w->patch, w->lane, w->to, w->i, pitch});
    str_addf(s, "    __syncwarp();\n    for (int %s = %u * %s; %s < 16 * %u; %s += %u) {\n", w->u,
        nr, w->lane, w->u, w->columns, w->u, 32 * nr);
    str_addf(s,
        "%sint %s = %s + (threadIdx.x / 32 - 4) * 16 + %s / %u;\n%sconst int %s = %s + %s %% %u;\n",
        in, c->y->var->name, w->first_y, w->u, w->columns, in, w->tile, w->first_x, w->u,
        w->columns);
    if (w->target)
        write_wide_outputs(w, all, at);
    str_addf(s,
        "%s#pragma unroll 1\n%sfor (int %s = 0; %s < %u; %s++) {\n%s    int %s = %s + %s;\n"
        "%s    if (%s) {\n",
        in, in, w->i, w->i, nr, w->i, in, c->x->var->name, w->tile, w->i, in, all ? all : "true");
    product_rest(
        c, s, &none, arena_printf(w->arena, "%s[%s + %s]", w->patch, at, w->i), "                ");
    str_addf(s, "%s    }\n%s}\n    }\n}", in, in);
}

/* --- the launch --- */

static void write_arguments(
    struct wgmma_writer *w, const struct launch_line *line, struct rewrite_out *out)
{
    struct str s = {0};
    for (unsigned i = 0; i < line->nr_args; i++) {
        const char *rows =
            i == w->params[0] ? w->rows
            : i == w->params[1]
                ? (w->across ? arena_printf(w->arena, "%d", WGMMA_TILE_K)
                             : arena_printf(w->arena, "%u/%s", w->columns, w->cluster))
                : NULL;
        str_addf(&s, "%s", i ? ", " : "");
        if (rows)
            str_addf(&s, "tensor_map(%s, box(%d, %s), swizzle(%d))", line->args[i], tile_k(w), rows,
                WGMMA_ROW_BYTES);
        else
            str_add(&s, line->args[i]);
    }
    edits_replace(&out->edits, line->args_start, line->args_end, "%s", str_text(&s));
    str_finish(&s);
}

static bool write_launch(
    struct wgmma_writer *w, const struct launch_line *line, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    const struct rewrite_in *in = c->in;
    const char *ring = arena_printf(
        w->arena, "%s * (%s + %u) * %d", w->stages, w->rows, w->columns, WGMMA_ROW_BYTES);
    const char *patches = arena_printf(w->arena, "%s * %u", w->rows, (w->columns + 8) * 4);
    pragma_add_tune(in, &out->edits, w->rows, 128, w->columns == 256 ? "64, 128" : "64, 128, 192");
    pragma_add_tune(in, &out->edits, w->stages, 4, "2, 3, 4, 5, 6, 8");
    pragma_add_tune(in, &out->edits, w->cluster, 1,
        !w->across || w->columns == 256 ? "1, 2, 4"
        : w->columns == 128             ? "1, 2"
                                        : "1");
    /* Of the 227 KB of a block, the barriers before the ring take a kilobyte. */
    pragma_add_line(in, &out->edits,
        arena_printf(w->arena, "where  %s <= 231424 && %s <= 231424", ring, patches));
    extent_drop_bounds(in, c->form.function, &out->edits);
    extent_drop_tunes(in, c->form.function, &out->edits);
    const char *threads = arena_printf(w->arena, "128 + 2*%s", w->rows);
    edits_insert(&out->edits, c->form.function->name_at, "__launch_bounds__(%s) ", threads);
    write_arguments(w, line, out);
    return code_launches(c,
        &(struct code_launch){.columns = arena_printf(w->arena, "%u", w->columns),
            .rows = w->rows,
            .together = w->cluster,
            .threads = {threads, "1"},
            .smem = arena_printf(w->arena, "max(%s, %s)", ring, patches)},
        out);
}

static bool write_kernel(
    struct wgmma_writer *w, const struct launch_line *line, struct rewrite_out *out)
{
    const struct contraction *c = w->c;
    choose_names(w);
    w->target = lone_target(w);
    write_head(w);
    write_producer(w);
    write_loop(w);
    write_tail(w);
    edits_replace(&out->edits, c->form.body->start, c->form.body->end, "%s", str_text(&w->out));
    str_finish(&w->out);
    for (unsigned i = 0; i < 2; i++) {
        const struct node *param = function_param(c->form.function, w->params[i]);
        edits_replace(&out->edits, param->start, param->end,
            "const __grid_constant__ CUtensorMap %s", param->name);
    }
    if (!strstr(c->in->source, "<cuda.h>"))
        edits_insert(&out->edits, 0, "#include <cuda.h>\n");
    return write_launch(w, line, out);
}

/* Whether tiles of 128 x 128 occupy a chip of the H100's size. */
static bool has_many_tiles(const struct contraction *c, const struct launch_line *line)
{
    int64_t columns, rows;
    return extent_at_timed(c->in, extent_text(c->in, line, &c->form, c->x), &columns) &&
           extent_at_timed(c->in, extent_text(c->in, line, &c->form, c->y), &rows) &&
           columns / 128 * (rows / 128) >= 132;
}

bool rewrite_wgmma(const struct rewrite_in *in, unsigned variant, struct rewrite_out *out)
{
    struct node *function;
    struct contraction *c = arena_alloc(in->arena, sizeof *c);
    struct wgmma_writer w = {.c = c, .arena = in->arena};
    const char *why = NULL;
    struct launch_lines lines;
    unsigned width = variant % NR_WIDTHS;
    bool other_way = variant / NR_WIDTHS % 2; /* of two: see below */
    if (rewrite_nth_kernel(in, variant / (2 * NR_WIDTHS), &function) < 0)
        return rewrite_refuse(in, out, "no kernel that is a product of matrices");
    out->more = true;
    if (!contraction_read(c, in, function, &why) || !product_read(&w.product, c, &why))
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    if (w.product.eight) { /* by turns: as halves, by the unit of 8 bits */
        other_way = variant % 2;
        width = variant / 2 % NR_WIDTHS;
    }
    w.columns = (w.product.eight ? widths_of_eight : widths)[width];
    if (w.product.eight && !other_way)
        return wgmma_tiles(c, &w.product, width, "it sums halves", out);
    if (w.product.eight && !(in->task->has_tolerance && in->task->tolerance.rel >= 0x1p-8))
        return rewrite_refuse(
            in, out, "%s: the tolerance has no room for sums of 13 bits", function->name);
    if (!launch_lines_read(in, function, &lines, out))
        return false;
    if (lines.nr != 1)
        return rewrite_refuse(in, out, "%s is launched more than once", function->name);
    bool copies = read_matrices(&w, &lines.items[0], &why);
    if (w.product.eight && !copies)
        return rewrite_refuse(in, out, "%s: %s", function->name, why);
    if (!w.product.eight && other_way && !(copies && w.across))
        return rewrite_refuse(in, out, "%s: there is one way to bring its tiles", function->name);
    if (copies && w.across && has_many_tiles(c, &lines.items[0]) == other_way) {
        copies = false;
        why = "threads bring smaller tiles";
    }
    if (!copies)
        return wgmma_tiles(c, &w.product, width, why, out);
    if (!write_kernel(&w, &lines.items[0], out))
        return false;
    return rewrite_done(in, out, "warpgroups multiply 128x%u tiles that tensor copies bring, in %s",
        w.columns, function->name);
}
