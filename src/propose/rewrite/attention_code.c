/* Writes attention as one kernel: a warp has 16 rows and, of every tile of keys, the share of its
 * part; the parts of a row are put together in the end.
 *
 * Both products are made by tensor cores out of parts of floats. A float is the sum of two bf16 up
 * to 2^-18 of it, and the sum of three. Where the tolerance has room, two are taken and three of
 * the four products of parts are summed, so that a product is right up to 2^-16; else six products
 * of three parts (the scheme: Henry, Tang and Heinecke, ARITH 2019). Floats are taken apart once,
 * on their way from memory to shared memory, where a row has all upper parts first, then all lower
 * ones. Eight neighbours there, 16 bytes, are two runs of four in memory, a SPAN apart, so that
 * neighbouring threads load neighbouring vectors: products do not mind in which order k is summed,
 * and the columns of the result are put back in order when it is stored. */
#include "propose/rewrite/attention.h"

#include "propose/rewrite/contraction_code.h"
#include "propose/rewrite/kernel_text.h"

#include <string.h>

enum { KEYS = 32, SPLIT = 8, BM = 32 }; /* what the tuning parameters start with */

struct attention_writer {
    struct attention *a;
    const struct cuda_tree *tree;
    struct arena *arena;
    struct str out, params, args, aliases;
    unsigned head;     /* columns that a block has of the result, and steps of k of a tile */
    unsigned parts;    /* of a float */
    const char *scale; /* what a score is multiplied by: one over what it was divided by; or NULL */
};

/* A row of a tile, in floats, with what pads it against bank conflicts. */
static unsigned row_floats(const struct attention_writer *w)
{
    return w->parts * w->head / 2 + 4;
}

/* Add a piece, in which $HEAD, $SPAN, $PARTS and $PITCH are numbers. */
static void put(struct attention_writer *w, struct str *to, const char *piece)
{
    const unsigned span = w->head < 64 ? w->head / 2 : 32;
    const struct kernel_word words[] = {{"HEAD", arena_printf(w->arena, "%u", w->head)},
        {"SPAN", arena_printf(w->arena, "%u", span)},
        {"PARTS", arena_printf(w->arena, "%u", w->parts)},
        {"PITCH", arena_printf(w->arena, "%u", row_floats(w))}, {"T", "float"}, {"BITS", "bf16"},
        {NULL, NULL}};
    kernel_text_add(to, w->arena, w->tree, words, piece);
}

static const char *put_text(struct attention_writer *w, const char *text)
{
    struct str s = {0};
    put(w, &s, text);
    const char *copy = arena_printf(w->arena, "%s", str_text(&s));
    str_finish(&s);
    return copy;
}

/* --- parameters --- */

static void add(struct str *list, const char *text)
{
    str_addf(list, "%s%s", list->len ? ", " : "", text);
}

/* Whether the first kernel has that parameter of the third, by the same name. */
static bool is_shared(const struct attention *a, unsigned k, const struct node *p)
{
    const struct node *first = a->scores.form.function;
    for (unsigned i = 0; i < a->lines[0].nr_args; i++) {
        const struct node *q = function_param(first, i);
        if (!strcmp(q->name, p->name) && !strcmp(a->lines[0].args[i], a->lines[2].args[k]) &&
            q->type.is_pointer == p->type.is_pointer && q->type.scalar == p->type.scalar &&
            q->type.is_const == p->type.is_const)
            return true;
    }
    return false;
}

/* The parameters of both products; the third kernel's get other names where the first kernel has
 * these, and their old names back where the third kernel's text stands. */
static void join_lists(struct attention_writer *w)
{
    const struct attention *a = w->a;
    const struct node *first = a->scores.form.function, *third = a->weigh.form.function;
    for (unsigned i = 0; i < a->lines[0].nr_args; i++) {
        const struct node *p = function_param(first, i);
        if (p == a->stored)
            continue;
        add(&w->params, tree_text(w->tree, p));
        add(&w->args, a->lines[0].args[i]);
    }
    for (unsigned k = 0; k < a->lines[2].nr_args; k++) {
        const struct node *p = function_param(third, k);
        const char *name = p->name, *type = tree_slice(w->tree, p->start, p->name_at);
        if (p == a->read || is_shared(a, k, p))
            continue;
        if (node_has_name(first, name)) {
            name = tree_fresh(w->tree, arena_printf(w->arena, "second_%s", name));
            str_addf(&w->aliases, "    %s%s = %s;\n", type, p->name, name);
        }
        add(&w->params, arena_printf(w->arena, "%s%s", type, name));
        add(&w->args, a->lines[2].args[k]);
    }
}

/* --- parts of the kernel --- */

static void write_helpers(struct attention_writer *w)
{
    put(w, &w->out,
        "static __device__ __forceinline__ int $place(int group)\n"
        "{\n"
        "    return group / ($SPAN / 4) * (2 * $SPAN) + group % ($SPAN / 4) * 4;\n"
        "}\n\n"
        "static __device__ __forceinline__ unsigned $take_part(float &x, float &y)\n"
        "{\n"
        "    unsigned part;\n"
        "    asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(part) : \"f\"(y), \"f\"(x));\n"
        "    x -= __uint_as_float(part << 16);\n"
        "    y -= __uint_as_float(part & 0xffff0000u);\n"
        "    return part;\n"
        "}\n\n"
        "static __device__ __forceinline__ void $store_parts(float *to, float *x)\n"
        "{\n"
        "    #pragma unroll\n"
        "    for (int part = 0; part < $PARTS; part++) {\n"
        "        uint4 parts;\n"
        "        parts.x = $take_part(x[0], x[1]);\n"
        "        parts.y = $take_part(x[2], x[3]);\n"
        "        parts.z = $take_part(x[4], x[5]);\n"
        "        parts.w = $take_part(x[6], x[7]);\n"
        "        *(uint4 *)(to + part * ($HEAD / 2)) = parts;\n"
        "    }\n"
        "}\n\n");
    put(w, &w->out, kernel_text_fragments);
}

/* What is loaded to a tile: its rows are along one variable, what follows in a row is along the
 * other. */
struct attention_tile {
    const struct contraction *c;
    const struct contraction_operand *o;
    const char *tile, *rows, *wide;    /* names; rows: how many; wide: see write_wide */
    const char *fetched;               /* name of a thread's elements of it */
    const char *row_first, *run_first; /* where the tile begins */
    bool runs_along_k;                 /* a row of the tile is along k; else along the axis */
};

static const char *tile_axis(const struct attention_tile *t)
{
    return (t->o->axis == ALONG_X ? t->c->x : t->c->y)->var->name;
}

static bool tile_runs(const struct attention_tile *t)
{
    return t->runs_along_k ? t->o->k_runs : t->o->axis_runs;
}

/* Set `wide`: all rows of the operand start at multiples of 16 bytes. The index is
 * affine, so that its first two rows tell. */
static void write_wide(struct attention_writer *w, const struct attention_tile *t)
{
    const char *row = t->runs_along_k ? tile_axis(t) : t->c->loop.var->name;
    const char *run = t->runs_along_k ? t->c->loop.var->name : tile_axis(t);
    struct node *load = product_load(t->o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    struct node *vars[64];
    const unsigned nr = code_find_needs(t->c, &needs, vars, 64);
    bool plain = tile_runs(t);
    for (unsigned i = 0; i < nr; i++) /* what is loaded may be loaded inside alone */
        plain = plain && (!vars[i]->init || !node_has(vars[i]->init, NODE_INDEX));
    put(w, &w->out, arena_printf(w->arena, "    %s = %s;\n", t->wide, plain ? "true" : "false"));
    if (!plain)
        return;
    put(w, &w->out,
        arena_printf(w->arena,
            "    for (int $u = 0; $u < 2; $u++) {\n        int %s = %s + $u, %s = %s;\n", row,
            t->row_first, run, t->run_first));
    code_decls(t->c, &w->out, &needs, "        ");
    put(w, &w->out,
        arena_printf(w->arena, "        %s = %s && ((size_t)&%s & 15) == 0;\n    }\n", t->wide,
            t->wide, tree_text(w->tree, load)));
}

/* Write the statements that set $fetched to a thread's elements of a tile: eight of them in each of
 * $PER_THREAD rows, by two accesses of 16 bytes where the tile is inside the matrix, and with zeros
 * outside. */
static void write_fetch(
    struct attention_writer *w, const struct attention_tile *t, const char *indent)
{
    const struct contraction *c = t->c;
    struct node *load = product_load(t->o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1}, again = needs;
    const char *axis = tile_axis(t), *k = c->loop.var->name;
    const char *in = arena_printf(w->arena, "%s    ", indent);
    const char *row = t->runs_along_k ? axis : k, *run = t->runs_along_k ? k : axis;
    const char *text = tree_text(w->tree, load), *inside = code_inside(c, t->o->axis, 0);
    struct str code = {0};
    str_addf(&code,
        "%s{\n%sbool $inside = %s;\n"
        "%s#pragma unroll\n%sfor (int $u = 0; $u < 2; $u++) {\n"
        "%s    int %s = %s + $u * (%s - 1), %s = %s + $u * ($HEAD - 1);\n"
        "%s    $inside = $inside && %s;\n%s}\n"
        "%s#pragma unroll\n%sfor (int $i = 0; $i < (%s + $ROWS - 1) / $ROWS; $i++) {\n"
        "%s    const int $at = $i * $ROWS + $fetch_row;\n"
        "%s    if (%s %% $ROWS != 0 && $at >= %s)\n%s        continue;\n"
        "%s    if ($inside) {\n%s        int %s = %s + $at, %s = %s + $fetch_run;\n",
        indent, in, t->wide, in, in, in, row, t->row_first, t->rows, run, t->run_first, in, inside,
        in, in, in, t->rows, in, in, t->rows, t->rows, in, in, in, row, t->row_first, run,
        t->run_first);
    put(w, &w->out, str_text(&code));
    str_clear(&code);
    code_decls(c, &w->out, &needs, arena_printf(w->arena, "%s        ", in));
    str_addf(&code,
        "%s        const float4 *$vectors = (const float4 *)&%s;\n"
        "%s        *(float4 *)%s[$i] = $vectors[0];\n"
        "%s        *(float4 *)(%s[$i] + 4) = $vectors[$SPAN / 4];\n"
        "%s        continue;\n%s    }\n"
        "%s    #pragma unroll\n%s    for (int $u = 0; $u < 8; $u++) {\n"
        "%s        int %s = %s + $at, %s = %s + $fetch_run + $u %% 4 + $u / 4 * $SPAN;\n"
        "%s        %s[$i][$u] = 0.0f;\n%s        if (%s) {\n",
        in, text, in, t->fetched, in, t->fetched, in, in, in, in, in, row, t->row_first, run,
        t->run_first, in, t->fetched, in, inside);
    put(w, &w->out, str_text(&code));
    str_clear(&code);
    code_decls(c, &w->out, &again, arena_printf(w->arena, "%s            ", in));
    str_addf(&code, "%s            %s[$i][$u] = %s;\n%s        }\n%s    }\n%s}\n%s}\n", in,
        t->fetched, text, in, in, in, indent);
    put(w, &w->out, str_text(&code));
    str_finish(&code);
}

/* Write the loop that puts them in the tile. */
static void write_put(
    struct attention_writer *w, const struct attention_tile *t, const char *indent)
{
    const char *in = indent;
    put(w, &w->out,
        arena_printf(w->arena,
            "%s#pragma unroll\n%sfor (int $i = 0; $i < (%s + $ROWS - 1) / $ROWS; $i++)\n"
            "%s    if (%s %% $ROWS == 0 || $i * $ROWS + $fetch_row < %s)\n"
            "%s        $store_parts(&%s[$i * $ROWS + $fetch_row][$fetch_at], %s[$i]);\n",
            in, in, t->rows, in, t->rows, t->rows, in, t->tile, t->fetched));
}

static struct attention_tile q_tile(const struct attention_writer *w, const char *from)
{
    return (struct attention_tile){&w->a->scores, w->a->first.a, "$tile_q", "$BM", "$wide_q",
        "$fetched_q", "$first_y", from, true};
}

static struct attention_tile k_tile(
    const struct attention_writer *w, const char *keys, const char *from)
{
    return (struct attention_tile){
        &w->a->scores, w->a->first.b, "$tile_k", "$BN", "$wide_k", "$fetched", keys, from, true};
}

static struct attention_tile v_tile(const struct attention_writer *w, const char *keys)
{
    return (struct attention_tile){&w->a->weigh, w->a->second.b, "$tile_v", "$BN", "$wide_v",
        "$fetched", keys, "$first_x", false};
}

/* Write that a tile of the first product is fetched and put. */
static void write_copy(
    struct attention_writer *w, const struct attention_tile *t, const char *indent)
{
    write_fetch(w, t, indent);
    write_put(w, t, indent);
}

/* The third kernel's text is in a block of its own, in which its parameters have their names. */
static void begin_second(struct attention_writer *w, const char *indent)
{
    str_addf(&w->out, "%s{\n%s", indent, str_text(&w->aliases));
    code_uniform_decls(&w->a->weigh, &w->out);
}

static void fetch_v(struct attention_writer *w, const char *keys, const char *indent)
{
    const struct attention_tile t = v_tile(w, keys);
    begin_second(w, indent);
    write_fetch(w, &t, arena_printf(w->arena, "%s    ", indent));
    str_addf(&w->out, "%s}\n", indent);
}

static void write_head(struct attention_writer *w)
{
    const struct contraction *c = &w->a->scores;
    put(w, &w->out, "__global__ void __launch_bounds__($BM * $SPLIT * 2) $attention(");
    str_add(&w->out, str_text(&w->params));
    put(w, &w->out,
        ")\n{\n"
        "    extern __shared__ __align__(16) float $tiles[];\n"
        "    const int $BN = $KEYS * $SPLIT, $NR_THREADS = $BM * $SPLIT * 2;\n"
        "    const float $LOG2_E = 1.44269504f;\n"
        "    float (*$tile_k)[$PITCH] = (float (*)[$PITCH])$tiles;\n"
        "    float (*$tile_v)[$PITCH] = $tile_k + $BN;\n"
        "    float (*$partial)[$HEAD + 8] = (float (*)[$HEAD + 8])$tiles;\n"
        "    float (*$tile_q)[$PITCH] = (float (*)[$PITCH])\n"
        "        ($tiles + max(2 * $BN * $PITCH, $SPLIT * $BM * ($HEAD + 8)));\n"
        "    __shared__ __align__(16) float $part_largest[$BM][$SPLIT], $part_total[$BM][$SPLIT];\n"
        "    const int $group = threadIdx.y / $SPLIT * 16, $part = threadIdx.y % $SPLIT;\n"
        "    const int $tid = threadIdx.y * 32 + threadIdx.x;\n"
        "    const int $lane_y = threadIdx.x / 4, $lane_x = threadIdx.x % 4 * 2;\n"
        "    const int $ROWS = $NR_THREADS * 8 / $HEAD;\n"
        "    float $fetched_q[($BM + $ROWS - 1) / $ROWS][8], $fetched[($BN + $ROWS - 1) / "
        "$ROWS][8];\n"
        "    const int $fetch_row = $tid / ($HEAD / 8), $fetch_at = $tid % ($HEAD / 8) * 4;\n"
        "    const int $fetch_run = $place($tid % ($HEAD / 8));\n"
        "    const int $first_x = blockIdx.x * $HEAD, $first_y = blockIdx.y * $BM;\n");
    code_uniform_decls(c, &w->out);
    put(w, &w->out, "    const int $nr_keys = ");
    str_addf(&w->out, "%s;\n", tree_text(w->tree, extent_cond(&c->form, c->x->var)->high));
    put(w, &w->out, "    const int $depth = ");
    str_addf(&w->out, "%s;\n", tree_text(w->tree, c->loop.bound));
    if (w->scale) {
        put(w, &w->out, "    const float $scale = ");
        str_addf(&w->out, "1.0f / (%s);\n", w->scale);
    }
    const struct attention_tile q = q_tile(w, "0"), k = k_tile(w, "0", "0"), v = v_tile(w, "0");
    put(w, &w->out, "    bool $wide_q, $wide_k, $wide_v;\n");
    write_wide(w, &q);
    write_wide(w, &k);
    begin_second(w, "    ");
    write_wide(w, &v);
    str_add(&w->out, "    }\n");
    put(w, &w->out,
        "    float $sums[$HEAD / 8][4] = {};\n"
        "    float $largest[2] = {-INFINITY, -INFINITY}, $total[2] = {0.0f, 0.0f};\n");
}

/* Write the products of a fragment of 16 rows and 16 steps of k, whose parts are in $a, with
 * columns of 8, of which $load puts two in $b, a part at a time: four columns together, so that
 * sums do not wait for themselves. The small products come first. Where three parts are to be as
 * good as f32, they are summed by themselves, and added by FADD: tensor cores round towards zero.
 */
static void write_products(struct attention_writer *w, const char *to, const char *nr,
    const char *load, const char *from, const char *indent)
{
    const char *in = indent;
    const char *target = w->parts > 2 ? "$fresh[$j % 4]" : arena_printf(w->arena, "%s[$j]", to);
    put(w, &w->out,
        arena_printf(w->arena,
            "%s#pragma unroll\n%sfor (int $four = 0; $four < %s; $four += 4) {\n"
            "%s    unsigned $b[$PARTS][2][4];\n"
            "%s    #pragma unroll\n%s    for (int $j = $four; $j < min($four + 4, %s); $j += 2)\n"
            "%s        #pragma unroll\n%s        for (int $p = 0; $p < $PARTS; $p++)\n"
            "%s            %s($b[$p][$j %% 4 / 2], %s);\n",
            in, in, nr, in, in, in, nr, in, in, in, load, from));
    if (w->parts > 2)
        put(w, &w->out, arena_printf(w->arena, "%s    float $fresh[4][4] = {};\n", in));
    for (unsigned sum = w->parts; sum-- > 0;)
        for (unsigned right = 0; right <= sum; right++)
            put(w, &w->out,
                arena_printf(w->arena,
                    "%s    #pragma unroll\n"
                    "%s    for (int $j = $four; $j < min($four + 4, %s); $j++)\n"
                    "%s        $add_product(%s, $a[%u], $b[%u][$j %% 4 / 2] + $j %% 2 * 2);\n",
                    in, in, nr, in, target, sum - right, right));
    if (w->parts > 2)
        put(w, &w->out,
            arena_printf(w->arena,
                "%s    #pragma unroll\n"
                "%s    for (int $u = 0; $u < 4 * min(4, %s); $u++)\n"
                "%s        %s[$four + $u / 4][$u %% 4] += $fresh[$u / 4][$u %% 4];\n",
                in, in, nr, in, to));
    put(w, &w->out, arena_printf(w->arena, "%s}\n", in));
}

/* A lane names one row of 16 bytes of the four matrices of eight rows that ldmatrix reads. Few
 * rounds go over the keys, so that code which is longer costs more to fetch than branches do. */
static void write_scores(struct attention_writer *w, const char *indent)
{
    put(w, &w->out,
        arena_printf(w->arena,
            "%s#pragma unroll 1\n%sfor (int $kk = 0; $kk < $HEAD / 16; $kk++) {\n"
            "%s    unsigned $a[$PARTS][4];\n"
            "%s    #pragma unroll\n%s    for (int $p = 0; $p < $PARTS; $p++)\n"
            "%s        $load_four($a[$p], &$tile_q[$group + threadIdx.x %% 16]\n"
            "%s            [$p * ($HEAD / 2) + $kk * 8 + threadIdx.x / 16 * 4]);\n",
            indent, indent, indent, indent, indent, indent, indent));
    write_products(w, "$scores", "$KEYS / 8", "$load_four",
        "&$tile_k[$part * $KEYS + ($j + threadIdx.x / 16) * 8 + threadIdx.x % 8]\n"
        "                    [$p * ($HEAD / 2) + $kk * 8 + threadIdx.x / 8 % 2 * 4]",
        arena_printf(w->arena, "%s    ", indent));
    str_addf(&w->out, "%s}\n", indent);
}

/* Whether what follows the first product's loop loads: it does so inside the matrix alone. */
static bool rest_loads(const struct attention *a)
{
    const struct contraction *c = &a->scores;
    for (const struct node *n = c->form.body; n; n = node_next(c->form.body, n))
        if (node_is_load(n) && n != a->store->child && !node_within(n, c->nest))
            return true;
    return false;
}

/* Write the first kernel's value for the score of one row and key. */
static void write_one_score(struct attention_writer *w)
{
    const struct attention *a = w->a;
    const struct contraction *c = &a->scores;
    const char *in = "                    ";
    const char *keys = code_conds(c, ALONG_X), *rows = code_conds(c, ALONG_Y);
    struct substs s = {.nr = 0};
    substs_add(&s, a->store->child, tree_fresh(w->tree, "score"));
    if (w->scale)
        substs_add(&s, node_strip(a->store->child->next),
            arena_printf(w->arena, "(%s) * %s",
                tree_text(w->tree, node_strip(a->store->child->next)->child),
                tree_fresh(w->tree, "scale")));
    str_addf(&w->out, "%sint %s = ", in, c->y->var->name);
    put(w, &w->out, "$first_y + $group + $u * 8 + $lane_y;\n");
    str_addf(&w->out, "%sint %s = ", in, c->x->var->name);
    put(w, &w->out, "$key + $part * $KEYS + $j * 8 + $lane_x + $v;\n");
    put(w, &w->out, arena_printf(w->arena, "%sfloat $score = -INFINITY;\n", in));
    str_addf(&w->out, "%sif (%s%s%s) {\n", in, keys, rest_loads(a) ? " && " : "",
        rest_loads(a) ? rows : "");
    product_rest(c, &w->out, &s, put_text(w, "$scores[$j][$u * 2 + $v]"),
        arena_printf(w->arena, "%s    ", in));
    str_addf(&w->out, "%s}\n", in);
}

/* Write the scores' way to weights: the largest so far, and what was added up under another. A
 * power of e is one of two; the largest is rounded in the same way wherever it is subtracted, so
 * that what rounding it costs cancels. */
static void write_softmax(struct attention_writer *w)
{
    put(w, &w->out,
        "        #pragma unroll\n"
        "        for (int $u = 0; $u < 2; $u++) {\n"
        "            float $top = $largest[$u];\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $KEYS / 8; $j++)\n"
        "                #pragma unroll\n"
        "                for (int $v = 0; $v < 2; $v++) {\n");
    write_one_score(w);
    put(w, &w->out,
        "                    $scores[$j][$u * 2 + $v] = $score;\n"
        "                    $top = fmaxf($top, $score);\n"
        "                }\n"
        "            $top = fmaxf($top, __shfl_xor_sync(0xffffffffu, $top, 1));\n"
        "            $top = fmaxf($top, __shfl_xor_sync(0xffffffffu, $top, 2));\n"
        "            const float $base = $top == -INFINITY ? 0.0f : $top * $LOG2_E;\n"
        "            const float $shrink = $exp2_fast($largest[$u] * $LOG2_E - $base);\n"
        "            $largest[$u] = $top;\n"
        "            $total[$u] *= $shrink;\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $HEAD / 8; $j++) {\n"
        "                $sums[$j][$u * 2] *= $shrink;\n"
        "                $sums[$j][$u * 2 + 1] *= $shrink;\n"
        "            }\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $KEYS / 8; $j++)\n"
        "                #pragma unroll\n"
        "                for (int $v = 0; $v < 2; $v++) {\n"
        "                    float &$weight = $scores[$j][$u * 2 + $v];\n"
        "                    $weight = $exp2_fast(fmaf($weight, $LOG2_E, -$base));\n"
        "                    $total[$u] += $weight;\n"
        "                }\n"
        "        }\n");
}

/* Write the loop over tiles of keys. The other operand's rows are fetched while scores are made,
 * the keys of the next tile while this one's scores become weights and are used. */
static void write_loop(struct attention_writer *w)
{
    struct attention_tile q = q_tile(w, "0"), k = k_tile(w, "0", "0");
    const struct attention_tile v = v_tile(w, "$key");
    write_fetch(w, &k, "    ");
    write_copy(w, &q, "    ");
    put(w, &w->out,
        "    #pragma unroll 1\n"
        "    for (int $key = 0; $key < $nr_keys; $key += $BN) {\n"
        "        float $scores[$KEYS / 8][4] = {};\n");
    write_put(w, &k, "        ");
    fetch_v(w, "$key", "        ");
    put(w, &w->out, "        __syncthreads();\n");
    write_scores(w, "        ");
    write_put(w, &v, "        ");
    put(w, &w->out,
        "        #pragma unroll 1\n"
        "        for (int $from = $HEAD; $depth > $HEAD; $from += $HEAD) {\n"
        "            if ($from >= $depth)\n"
        "                $from = 0;\n"
        "            __syncthreads();\n");
    q = q_tile(w, "$from");
    k = k_tile(w, "$key", "$from");
    write_copy(w, &q, "            ");
    put(w, &w->out,
        "            if ($from == 0)\n"
        "                break;\n");
    write_copy(w, &k, "            ");
    put(w, &w->out, "            __syncthreads();\n");
    write_scores(w, "            ");
    put(w, &w->out, "        }\n");
    k = k_tile(w, "$key + $BN", "0");
    put(w, &w->out, "        if ($key + $BN < $nr_keys) {\n");
    write_fetch(w, &k, "            ");
    put(w, &w->out, "        }\n");
    write_softmax(w);
    put(w, &w->out,
        "        __syncthreads();\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $KEYS / 8; $i += 2) {\n"
        "            unsigned $a[$PARTS][4];\n"
        "            #pragma unroll\n"
        "            for (int $p = 0; $p < $PARTS; $p++) {\n"
        "                $a[$p][0] = $take_part($scores[$i][0], $scores[$i][1]);\n"
        "                $a[$p][1] = $take_part($scores[$i][2], $scores[$i][3]);\n"
        "                $a[$p][2] = $take_part($scores[$i + 1][0], $scores[$i + 1][1]);\n"
        "                $a[$p][3] = $take_part($scores[$i + 1][2], $scores[$i + 1][3]);\n"
        "            }\n");
    write_products(w, "$sums", "$HEAD / 8", "$load_four_turned",
        "&$tile_v[$part * $KEYS + $i * 8 + threadIdx.x % 16]\n"
        "                    [$p * ($HEAD / 2) + ($j + threadIdx.x / 16) * 4]",
        "            ");
    put(w, &w->out, "        }\n    }\n    __syncthreads();\n");
}

/* Write how the parts of a row come together, and the third kernel's stores. */
static void write_tail(struct attention_writer *w)
{
    const struct contraction *c = &w->a->weigh;
    const struct substs none = {.nr = 0};
    put(w, &w->out,
        "    #pragma unroll\n"
        "    for (int $u = 0; $u < 2; $u++) {\n"
        "        const int $at = $group + $u * 8 + $lane_y;\n"
        "        $total[$u] += __shfl_xor_sync(0xffffffffu, $total[$u], 1);\n"
        "        $total[$u] += __shfl_xor_sync(0xffffffffu, $total[$u], 2);\n"
        "        if ($lane_x == 0) {\n"
        "            $part_largest[$at][$part] = $largest[$u] * $LOG2_E;\n"
        "            $part_total[$at][$part] = $total[$u];\n"
        "        }\n"
        "        #pragma unroll\n"
        "        for (int $j = 0; $j < $HEAD / 8; $j++)\n"
        "            *(float2 *)&$partial[$part * $BM + $at][$j * 8 + $lane_x] =\n"
        "                make_float2($sums[$j][$u * 2], $sums[$j][$u * 2 + 1]);\n"
        "    }\n"
        "    __syncthreads();\n"
        "    for (int $at = $tid; $at < $BM; $at += $NR_THREADS) {\n"
        "        float $top = -INFINITY, $all = 0.0f;\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++)\n"
        "            $top = fmaxf($top, $part_largest[$at][$i]);\n"
        "        $top = $top == -INFINITY ? 0.0f : $top;\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++) {\n"
        "            $part_largest[$at][$i] = $exp2_fast($part_largest[$at][$i] - $top);\n"
        "            $all += $part_largest[$at][$i] * $part_total[$at][$i];\n"
        "        }\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++)\n"
        "            $part_largest[$at][$i] /= $all;\n"
        "    }\n"
        "    __syncthreads();\n"
        "    #pragma unroll 1\n"
        "    for (int $e = $tid; $e < $BM * $HEAD; $e += $NR_THREADS) {\n"
        "        const int $at = $e / $HEAD;\n"
        "        float $value = 0.0f;\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++)\n"
        "            $value += $part_largest[$at][$i] * $partial[$i * $BM + $at][$e % $HEAD];\n");
    begin_second(w, "        ");
    str_addf(&w->out, "            int %s = ", c->y->var->name);
    put(w, &w->out, "$first_y + $at;\n");
    str_addf(&w->out, "            int %s = ", c->x->var->name);
    put(w, &w->out, "$first_x + $place($e % $HEAD / 8) + $e % 8 / 4 * $SPAN + $e % 4;\n");
    str_addf(&w->out, "            if (%s) {\n", code_all_conds(c));
    product_rest(c, &w->out, &none, tree_fresh(w->tree, "value"), "                ");
    str_add(&w->out, "            }\n        }\n    }\n}\n");
}

/* --- the launch --- */

/* What a score is divided by, where that is the same for all. */
static const char *find_scale(const struct attention *a)
{
    const struct node *n = node_strip(a->store->child->next);
    const struct node *by = n->kind == NODE_BINARY && !strcmp(n->op, "/") ? n->child->next : NULL;
    if (!by || n->type.scalar != SCALAR_F32 || deps_of(&a->scores.deps, by) || !node_is_pure(by) ||
        node_has(by, NODE_INDEX) || node_uses_grid(by) || by->type.is_pointer)
        return NULL;
    return tree_text(a->in->tree, by);
}

/* The least of 16, 32, 64 and 128 that the columns of the result fit in. */
static unsigned find_head(const struct attention *a)
{
    const char *columns = extent_text(a->in, &a->lines[2], &a->weigh.form, a->weigh.x);
    int64_t value;
    unsigned head = 128;
    if (!extent_at_timed(a->in, columns, &value))
        return 64;
    while (head > 16 && head / 2 >= value)
        head /= 2;
    return head;
}

/* So many parts of a tile of keys that a block's shared memory has room for them. */
static unsigned find_split(const struct attention_writer *w)
{
    unsigned split = SPLIT;
    while (split > 1 && (2 * KEYS * split + BM) * row_floats(w) * 4 + BM * split * 8 >
                            w->a->in->smem_per_block_bytes)
        split /= 2;
    return split;
}

/* Two where an error of 2^-16 in a product is well within the tolerance; three are as good as f32.
 */
static unsigned find_parts(const struct rewrite_in *in)
{
    const struct tolerance *t = &in->task->tolerance;
    return in->task->has_tolerance && t->rel >= 0x1p-10 && t->abs >= 0x1p-14 ? 2 : 3;
}

static void drop(const struct attention *a, const struct node *function)
{
    unsigned end = function->end;
    while (end < a->in->bytes && a->in->source[end] == '\n')
        end++;
    edits_replace(&a->out->edits, function->start, end, "%s", "");
}

static void drop_temp(const struct attention *a, const struct task_array *array)
{
    for (unsigned i = 0; i < a->in->plan->nr_temps; i++)
        if (!strcmp(a->in->plan->temps[i].name, array->name))
            source_drop_line(a->in, &a->out->edits, a->in->plan->temps[i].line);
}

static void write_launch(struct attention_writer *w)
{
    const struct attention *a = w->a;
    const struct rewrite_in *in = a->in;
    struct edits *edits = &a->out->edits;
    struct launch_line line = a->lines[2];
    const struct form_axis *z = form_axis_along(&a->weigh.form, 2);
    const char *floats =
        put_text(w, "(max(2*$KEYS*$SPLIT*$PITCH, $SPLIT*$BM*($HEAD+8)) + $BM*$PITCH)*4");
    line.grid[0] = arena_printf(w->arena, "ceil_div(%s, %u)",
        extent_text(in, &a->lines[2], &a->weigh.form, a->weigh.x), w->head);
    extent_cover(in, &line, &a->weigh.form, a->weigh.y, tree_fresh(w->tree, "BM"));
    line.grid[2] = z ? extent_text(in, &a->lines[2], &a->weigh.form, z) : "1";
    line.block[0] = "32";
    line.block[1] = put_text(w, "$BM / 16 * $SPLIT");
    line.block[2] = "1";
    line.smem = floats;
    pragma_add_tune(in, edits, tree_fresh(w->tree, "BM"), BM, "16, 32, 64, 128");
    pragma_add_tune(in, edits, tree_fresh(w->tree, "KEYS"), KEYS, "16, 32, 64");
    pragma_add_tune(in, edits, tree_fresh(w->tree, "SPLIT"), find_split(w), "1, 2, 4, 8");
    pragma_add_line(in, edits,
        arena_printf(w->arena, "where  %s <= 256 && %s + %s <= %u", put_text(w, "$BM*$SPLIT"),
            floats, put_text(w, "$BM*$SPLIT*8"), in->smem_per_block_bytes));
    launch_line_write(&line, edits);
    edits_replace(edits, line.args_start, line.args_end, "%s", str_text(&w->args));
    /* the name before <<< */
    const unsigned from = source_line_at(in, in->plan->launches[a->launch + 2].line);
    const char *kernel = in->plan->launches[a->launch + 2].kernel;
    const char *at =
        str_find_word(in->source + from, in->source + line.start, kernel, strlen(kernel));
    if (at)
        edits_replace(edits, (unsigned)(at - in->source),
            (unsigned)(at - in->source) + (unsigned)strlen(kernel), "%s",
            tree_fresh(w->tree, "attention"));
    for (unsigned i = 0; i < 2; i++)
        source_drop_line(in, edits, in->plan->launches[a->launch + i].line);
}

bool attention_write(struct attention *a)
{
    const struct rewrite_in *in = a->in;
    struct attention_writer w = {.a = a, .tree = in->tree, .arena = in->arena};
    const struct node *functions[] = {
        a->scores.form.function, a->softmax.function, a->weigh.form.function};
    w.head = find_head(a);
    w.parts = find_parts(in);
    w.scale = find_scale(a);
    join_lists(&w);
    write_helpers(&w);
    write_head(&w);
    write_loop(&w);
    write_tail(&w);
    drop(a, functions[0]);
    drop(a, functions[1]);
    edits_replace(&a->out->edits, functions[2]->start, functions[2]->end, "%s", str_text(&w.out));
    write_launch(&w);
    drop_temp(a, a->between);
    if (a->normalised != a->between)
        drop_temp(a, a->normalised);
    extent_drop_tunes_of(in, functions, 3, &a->out->edits);
    str_finish(&w.out);
    str_finish(&w.params);
    str_finish(&w.args);
    str_finish(&w.aliases);
    return rewrite_done(in, a->out,
        "%s, %s and %s in one pass over the keys, on tensor cores, without array %s",
        functions[0]->name, functions[1]->name, functions[2]->name, a->between->name);
}
