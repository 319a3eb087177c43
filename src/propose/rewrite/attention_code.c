/* Writes attention as one kernel: a warp has 16 rows and, of every tile of keys, the share of its
 * part; the parts of a row are put together in the end. Both products are made by tensor cores out
 * of tf32 parts of floats, as tensor_cores makes them (three of four products of parts). */
#include "propose/rewrite/attention.h"

#include "propose/rewrite/contraction_code.h"

#include <string.h>

enum { KEYS = 32, SPLIT = 8, BM = 32 }; /* what the tuning parameters start with */

struct attention_writer {
    struct attention *a;
    const struct cuda_tree *tree;
    struct arena *arena;
    struct str out, params, args, aliases;
    unsigned head;     /* columns that a block has of the result, and steps of k of a tile */
    const char *scale; /* what a score is multiplied by: one over what it was divided by; or NULL */
};

/* Add text in which $name stands for a name that the source does not have, and $HEAD for a number.
 */
static void put(struct attention_writer *w, struct str *to, const char *text)
{
    for (const char *dollar; (dollar = strchr(text, '$'));) {
        size_t len = 0;
        while (str_word_char(dollar[1 + len]))
            len++;
        const char *name = arena_strndup(w->arena, dollar + 1, len);
        str_add_n(to, text, (size_t)(dollar - text));
        if (!strcmp(name, "HEAD"))
            str_addf(to, "%u", w->head);
        else
            str_add(to, tree_fresh(w->tree, name));
        text = dollar + 1 + len;
    }
    str_add(to, text);
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
        "static __device__ __forceinline__ void $split_tf32(float x, unsigned &high, unsigned "
        "&low)\n"
        "{\n"
        "    high = __float_as_uint(x) & 0xffffe000u;\n"
        "    low = __float_as_uint(x - __uint_as_float(high));\n"
        "}\n\n"
        "static __device__ __forceinline__ void $add_product(float *c, const unsigned *a, const "
        "unsigned *b)\n"
        "{\n"
        "    asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, \"\n"
        "        \"{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
        "        : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3])\n"
        "        : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
        "\"r\"(b[1]));\n"
        "}\n\n");
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
        "    float (*$tile_k)[$HEAD + 8] = (float (*)[$HEAD + 8])$tiles;\n"
        "    float (*$tile_v)[$HEAD + 4] = (float (*)[$HEAD + 4])($tiles + $BN * ($HEAD + 8));\n"
        "    float (*$partial)[$HEAD + 8] = (float (*)[$HEAD + 8])$tiles;\n"
        "    float *$behind = $tiles + max($BN * (2 * $HEAD + 12), $SPLIT * $BM * ($HEAD + 8));\n"
        "    float (*$tile_q)[$HEAD + 8] = (float (*)[$HEAD + 8])$behind;\n"
        "    float (*$tile_p)[$KEYS + 8] =\n"
        "        (float (*)[$KEYS + 8])($behind + $BM * ($HEAD + 8)) + threadIdx.y * 16;\n"
        "    __shared__ float $part_largest[$SPLIT][$BM], $part_total[$SPLIT][$BM];\n"
        "    const int $group = threadIdx.y / $SPLIT * 16, $part = threadIdx.y % $SPLIT;\n"
        "    const int $tid = threadIdx.y * 32 + threadIdx.x;\n"
        "    const int $lane_y = threadIdx.x / 4, $lane_x = threadIdx.x % 4 * 2;\n"
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
    put(w, &w->out,
        "    float $sums[$HEAD / 8][4] = {};\n"
        "    float $largest[2] = {-INFINITY, -INFINITY}, $total[2] = {0.0f, 0.0f};\n");
}

/* What is loaded to a tile: its rows are along one variable, what follows in a row is along the
 * other. */
struct attention_tile {
    const struct contraction *c;
    const struct contraction_operand *o;
    const char *tile, *rows;           /* names; rows: how many */
    const char *row_first, *run_first; /* where the tile begins */
    bool runs_along_k;                 /* a row of the tile is along k; else along the axis */
};

/* Write the loop in which the block's threads copy a tile, 16 bytes at a time where these follow
 * each other in memory, with zeros outside. */
static void write_copies(
    struct attention_writer *w, const struct attention_tile *t, const char *indent)
{
    const struct contraction *c = t->c;
    struct str *s = &w->out;
    const char *axis = (t->o->axis == ALONG_X ? c->x : c->y)->var->name, *k = c->loop.var->name;
    const char *run = t->runs_along_k ? k : axis, *row = t->runs_along_k ? axis : k;
    const char *in = arena_printf(w->arena, "%s    ", indent);
    const char *conds = code_conds(c, t->o->axis);
    struct node *load = product_load(t->o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1}, again = needs;
    const bool wide = t->runs_along_k ? t->o->k_runs : t->o->axis_runs;
    const char *step = wide ? "4" : "1", *text = tree_text(w->tree, load);
    struct str code = {0};
    str_addf(&code,
        "%s#pragma unroll 1\n"
        "%sfor (int $e = $tid * %s; $e < %s * $HEAD; $e += $NR_THREADS * %s) {\n"
        "%sint %s = %s + $e / $HEAD, %s = %s + $e %% $HEAD;\n"
        "%sfloat *$to = &%s[$e / $HEAD][$e %% $HEAD];\n",
        indent, indent, step, t->rows, step, in, row, t->row_first, run, t->run_first, in, t->tile);
    put(w, s, str_text(&code));
    str_clear(&code);
    if (wide) {
        str_addf(&code, "%sbool $whole = %s;\n", in,
            code_inside(c, t->o->axis, t->runs_along_k ? 3 : 0));
        if (!t->runs_along_k)
            str_addf(&code,
                "%sint $last = %s + 3;\n%s{\n%s    int %s = $last;\n"
                "%s    $whole = $whole && %s;\n%s}\n",
                in, run, in, in, run, in, conds, in);
        str_addf(&code, "%sif ($whole) {\n", in);
        put(w, s, str_text(&code));
        str_clear(&code);
        code_decls(c, s, &needs, arena_printf(w->arena, "%s    ", in));
        str_addf(&code,
            "%s    const float *$value = &%s;\n%s    $whole = ((size_t)$value & 15) == 0;\n"
            "%s    if ($whole)\n%s        __pipeline_memcpy_async($to, $value, 16);\n%s}\n"
            "%sif (!$whole)\n%s    #pragma unroll 1\n%s    for (int $u = 0; $u < 4; $u++, %s++) "
            "{\n",
            in, text, in, in, in, in, in, in, in, run);
        in = arena_printf(w->arena, "%s        ", in);
    } else {
        str_addf(&code, "%sconst int $u = 0;\n%s{\n", in, in);
        in = arena_printf(w->arena, "%s    ", in);
    }
    str_addf(&code, "%sif (%s) {\n", in, code_inside(c, t->o->axis, 0));
    put(w, s, str_text(&code));
    str_clear(&code);
    code_decls(c, s, &again, arena_printf(w->arena, "%s    ", in));
    str_addf(&code,
        "%s    __pipeline_memcpy_async($to + $u, &%s, 4);\n%s} else {\n"
        "%s    $to[$u] = 0.0f;\n%s}\n%.*s}\n%s}\n",
        in, text, in, in, in, (int)strlen(in) - 4, in, indent);
    put(w, s, str_text(&code));
    str_finish(&code);
}

static void load_q(struct attention_writer *w, const char *from, const char *indent)
{
    write_copies(w,
        &(struct attention_tile){
            &w->a->scores, w->a->first.a, "$tile_q", "$BM", "$first_y", from, true},
        indent);
}

static void load_k(
    struct attention_writer *w, const char *keys, const char *from, const char *indent)
{
    write_copies(w,
        &(struct attention_tile){&w->a->scores, w->a->first.b, "$tile_k", "$BN", keys, from, true},
        indent);
}

/* The third kernel's text is in a block of its own, in which its parameters have their names. */
static void begin_second(struct attention_writer *w, const char *indent)
{
    str_addf(&w->out, "%s{\n%s", indent, str_text(&w->aliases));
    code_uniform_decls(&w->a->weigh, &w->out);
}

static void load_v(struct attention_writer *w, const char *keys, const char *indent)
{
    begin_second(w, indent);
    write_copies(w,
        &(struct attention_tile){
            &w->a->weigh, w->a->second.b, "$tile_v", "$BN", keys, "$first_x", false},
        arena_printf(w->arena, "%s    ", indent));
    str_addf(&w->out, "%s}\n", indent);
}

/* Write products of a fragment of 16 rows and 8 steps of k with `nr` columns of 8. */
static void write_products(struct attention_writer *w, const char *to, const char *nr,
    const char *up, const char *down, const char *b, const char *indent)
{
    struct str code = {0};
    const char *in = indent;
    str_addf(&code,
        "%sconst float2 $up = *(const float2 *)&%s, $down = *(const float2 *)&%s;\n"
        "%sunsigned $high[4], $low[4], $b_high[%s][2], $b_low[%s][2];\n"
        "%s$split_tf32($up.x, $high[0], $low[0]);\n%s$split_tf32($down.x, $high[1], $low[1]);\n"
        "%s$split_tf32($up.y, $high[2], $low[2]);\n%s$split_tf32($down.y, $high[3], $low[3]);\n"
        "%s#pragma unroll\n%sfor (int $j = 0; $j < %s; $j++) {\n"
        "%s    const float2 $value = %s;\n"
        "%s    $split_tf32($value.x, $b_high[$j][0], $b_low[$j][0]);\n"
        "%s    $split_tf32($value.y, $b_high[$j][1], $b_low[$j][1]);\n%s}\n",
        in, up, down, in, nr, nr, in, in, in, in, in, in, nr, in, b, in, in, in);
    static const char *const parts[3][2] = {
        {"$low", "$b_high"}, {"$high", "$b_low"}, {"$high", "$b_high"}};
    for (unsigned i = 0; i < 3; i++)
        str_addf(&code,
            "%s#pragma unroll\n%sfor (int $j = 0; $j < %s; $j++)\n"
            "%s    $add_product(%s[$j], %s, %s[$j]);\n",
            in, in, nr, in, to, parts[i][0], parts[i][1]);
    put(w, &w->out, str_text(&code));
    str_finish(&code);
}

static void write_scores(struct attention_writer *w, const char *indent)
{
    put(w, &w->out,
        arena_printf(w->arena, "%s#pragma unroll 1\n%sfor (int $kk = 0; $kk < $HEAD; $kk += 8) {\n",
            indent, indent));
    write_products(w, "$scores", "$KEYS / 8", "$tile_q[$group + $lane_y][$kk + $lane_x]",
        "$tile_q[$group + 8 + $lane_y][$kk + $lane_x]",
        "*(const float2 *)&$tile_k[$part * $KEYS + $j * 8 + $lane_y][$kk + $lane_x]",
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

/* Write the scores' way to weights: the largest so far, and what was added up under another. */
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
        "            const float $base = $top == -INFINITY ? 0.0f : $top;\n"
        "            const float $shrink = expf($largest[$u] - $base);\n"
        "            $largest[$u] = $top;\n"
        "            $total[$u] *= $shrink;\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $HEAD / 8; $j++) {\n"
        "                $sums[$j][$u * 2] *= $shrink;\n"
        "                $sums[$j][$u * 2 + 1] *= $shrink;\n"
        "            }\n"
        "            #pragma unroll\n"
        "            for (int $j = 0; $j < $KEYS / 8; $j++) {\n"
        "                float2 $weight;\n"
        "                $weight.x = expf($scores[$j][$u * 2] - $base);\n"
        "                $weight.y = expf($scores[$j][$u * 2 + 1] - $base);\n"
        "                $total[$u] += $weight.x + $weight.y;\n"
        "                *(float2 *)&$tile_p[$u * 8 + $lane_y][$j * 8 + $lane_x] = $weight;\n"
        "            }\n"
        "        }\n");
}

/* Write the loop over tiles of keys. The keys of the next tile come while this one's scores become
 * weights; the other operand's rows come while scores are made. The round before the first only
 * copies. */
static void write_loop(struct attention_writer *w)
{
    put(w, &w->out,
        "    #pragma unroll 1\n"
        "    for (int $key = -$BN; $key < $nr_keys; $key += $BN) {\n"
        "        float $scores[$KEYS / 8][4] = {};\n"
        "        if ($key < 0) {\n");
    load_q(w, "0", "            ");
    put(w, &w->out, "        } else {\n");
    load_v(w, "$key", "            ");
    put(w, &w->out,
        "            __pipeline_commit();\n"
        "            __pipeline_wait_prior(1);\n"
        "            __syncthreads();\n");
    write_scores(w, "            ");
    put(w, &w->out,
        "            #pragma unroll 1\n"
        "            for (int $k0 = $HEAD; $depth > $HEAD; $k0 += $HEAD) {\n"
        "                const int $from = $k0 < $depth ? $k0 : 0;\n"
        "                __syncthreads();\n");
    load_q(w, "$from", "                ");
    load_k(w, "$key", "$from", "                ");
    put(w, &w->out,
        "                __pipeline_commit();\n"
        "                __pipeline_wait_prior(0);\n"
        "                __syncthreads();\n"
        "                if ($from == 0)\n"
        "                    break;\n");
    write_scores(w, "                ");
    put(w, &w->out,
        "            }\n"
        "            __syncthreads();\n"
        "        }\n"
        "        if ($key + $BN < $nr_keys) {\n");
    load_k(w, "$key + $BN", "0", "            ");
    put(w, &w->out,
        "        }\n"
        "        __pipeline_commit();\n"
        "        if ($key < 0)\n"
        "            continue;\n");
    write_softmax(w);
    put(w, &w->out,
        "        __pipeline_wait_prior(1);\n"
        "        __syncthreads();\n"
        "        #pragma unroll 1\n"
        "        for (int $kk = 0; $kk < $KEYS; $kk += 8) {\n"
        "            const int $at = $part * $KEYS + $kk + $lane_x;\n");
    write_products(w, "$sums", "$HEAD / 8", "$tile_p[$lane_y][$kk + $lane_x]",
        "$tile_p[$lane_y + 8][$kk + $lane_x]",
        "make_float2($tile_v[$at][$j * 8 + $lane_y], $tile_v[$at + 1][$j * 8 + $lane_y])",
        "            ");
    put(w, &w->out, "        }\n        __syncthreads();\n    }\n");
}

/* Write how the parts of a row come together, and the third kernel's stores. */
static void write_tail(struct attention_writer *w)
{
    const struct contraction *c = &w->a->weigh;
    const struct substs none = {.nr = 0};
    put(w, &w->out,
        "    __pipeline_wait_prior(0);\n"
        "    #pragma unroll\n"
        "    for (int $u = 0; $u < 2; $u++) {\n"
        "        const int $at = $group + $u * 8 + $lane_y;\n"
        "        $total[$u] += __shfl_xor_sync(0xffffffffu, $total[$u], 1);\n"
        "        $total[$u] += __shfl_xor_sync(0xffffffffu, $total[$u], 2);\n"
        "        if ($lane_x == 0) {\n"
        "            $part_largest[$part][$at] = $largest[$u];\n"
        "            $part_total[$part][$at] = $total[$u];\n"
        "        }\n"
        "        #pragma unroll\n"
        "        for (int $j = 0; $j < $HEAD / 8; $j++)\n"
        "            *(float2 *)&$partial[$part * $BM + $at][$j * 8 + $lane_x] =\n"
        "                make_float2($sums[$j][$u * 2], $sums[$j][$u * 2 + 1]);\n"
        "    }\n"
        "    __syncthreads();\n"
        "    #pragma unroll 1\n"
        "    for (int $e = $tid; $e < $BM * $HEAD; $e += $NR_THREADS) {\n"
        "        const int $at = $e / $HEAD;\n"
        "        float $top = -INFINITY, $all = 0.0f, $value = 0.0f;\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++)\n"
        "            $top = fmaxf($top, $part_largest[$i][$at]);\n"
        "        $top = $top == -INFINITY ? 0.0f : $top;\n"
        "        #pragma unroll\n"
        "        for (int $i = 0; $i < $SPLIT; $i++) {\n"
        "            const float $share = expf($part_largest[$i][$at] - $top);\n"
        "            $all += $share * $part_total[$i][$at];\n"
        "            $value += $share * $partial[$i * $BM + $at][$e % $HEAD];\n"
        "        }\n"
        "        $value /= $all;\n");
    begin_second(w, "        ");
    str_addf(&w->out, "            int %s = ", c->y->var->name);
    put(w, &w->out, "$first_y + $at;\n");
    str_addf(&w->out, "            int %s = ", c->x->var->name);
    put(w, &w->out, "$first_x + $e % $HEAD;\n");
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
        put_text(w, "(max($KEYS*$SPLIT*(2*$HEAD+12), $SPLIT*$BM*($HEAD+8)) + $BM*($HEAD+8) + "
                    "$SPLIT*$BM*($KEYS+8))*4");
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
    pragma_add_tune(in, edits, tree_fresh(w->tree, "SPLIT"), SPLIT, "1, 2, 4, 8");
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
    w.scale = find_scale(a);
    join_lists(&w);
    write_helpers(&w);
    write_head(&w);
    write_loop(&w);
    write_tail(&w);
    drop(a, functions[0]);
    drop(a, functions[1]);
    edits_replace(&a->out->edits, functions[2]->start, functions[2]->end, "%s", str_text(&w.out));
    if (!strstr(in->source, "<cuda_pipeline.h>"))
        edits_insert(&a->out->edits, 0, "#include <cuda_pipeline.h>\n");
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
