/* Writes the copies of tiles into shared memory. */
#include "propose/rewrite/tile_copies.h"

#include "cuda/affine.h"
#include "propose/rewrite/contraction_code.h"

#include <string.h>

void tile_copies_begin(
    struct tile_copies *t, const struct contraction *c, const struct product *p, struct str *out)
{
    const struct {
        const char **name, *base;
    } names[] = {{&t->row0, "first_y"}, {&t->col0, "first_x"}, {&t->first, "first_k"},
        {&t->ahead, "k_ahead"}, {&t->into, "into"}, {&t->from, "from"}, {&t->kk, "kk"},
        {&t->at, "at"}, {&t->e, "e"}, {&t->i, "i"}, {&t->u, "u"}, {&t->value, "value"},
        {&t->to, "to"}, {&t->whole, "whole"}, {&t->last, "last"}, {&t->thread, "tid"},
        {&t->tile, "tile"}, {&t->nr_tiles, "nr_tiles"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *names[i].name = tree_fresh(c->in->tree, names[i].base);
    t->c = c;
    t->arena = c->in->arena;
    t->out = out;
    t->a = p->a;
    t->b = p->b;
    t->type = p->type;
    t->bytes = p->eight ? 1 : p->scalar == SCALAR_F32 ? 4 : 2;
    t->run = 16 / t->bytes;
}

/* A tile's rows run along k: as in memory; where nothing runs in memory, as rows of the left
 * operand do, whose k has the smaller stride. */
bool tile_by_k(const struct contraction_operand *o)
{
    return o->k_runs || (!o->axis_runs && o->axis == ALONG_Y);
}

/* By how many elements the address moves from row to row of the operand's tiles, as text that holds
 * in the new kernel; NULL: that is not always the same. */
static const char *find_step(const struct tile_copies *t, const struct contraction_operand *o)
{
    const struct contraction *c = t->c;
    const struct form_axis *axis = o->axis == ALONG_X ? c->x : c->y;
    const char *slow = tile_by_k(o)
                           ? arena_printf(t->arena, "%s.%c",
                                 axis->block_only ? "blockIdx" : "threadIdx", axis_names[axis->dim])
                           : c->loop.var->name;
    const struct node *base;
    struct affine index;
    int64_t by;
    if (!affine_access(c->in->tree, c->form.function, product_load(o->node), &base, &index) ||
        affine_coefficient(&index, slow, &by) == COEFFICIENT_NONLINEAR)
        return NULL;
    const char *step = affine_coefficient_text(t->arena, &index, slow);
    return strstr(step, "Idx.") || strstr(step, "Dim.") ? NULL : step; /* of the old launch */
}

/* Wide accesses: of elements that follow each other in memory, wherever the window is. */
static bool is_wide(const struct tile_copies *t, const struct contraction_operand *o)
{
    return !t->c->nr_outer && (o->k_runs || o->axis_runs) && find_step(t, o);
}

static const char *size_of(const struct tile_copies *t, const struct contraction_operand *o)
{
    return o == t->a ? t->bm : t->bn;
}

/* A tile's rows and the elements of a row. */
const char *tile_rows(const struct tile_copies *t, const struct contraction_operand *o)
{
    return tile_by_k(o) ? size_of(t, o) : t->bk;
}

const char *tile_run(const struct tile_copies *t, const struct contraction_operand *o)
{
    return tile_by_k(o) ? t->bk : size_of(t, o);
}

/* A row with what pads it against bank conflicts. Bytes are read as they lie. */
const char *tile_pitch(const struct tile_copies *t, const struct contraction_operand *o)
{
    if (t->bytes == 1)
        return tile_run(t, o);
    return arena_printf(t->arena, "%s + %d", tile_run(t, o), t->bytes == 4 && tile_by_k(o) ? 4 : 8);
}

/* The bytes of all stages of an operand's tile. */
const char *tile_bytes(const struct tile_copies *t, const struct contraction_operand *o)
{
    return arena_printf(
        t->arena, "%s * %s * (%s) * %u", t->stages, tile_rows(t, o), tile_pitch(t, o), t->bytes);
}

static const char *axis_name(const struct tile_copies *t, const struct contraction_operand *o)
{
    return (o->axis == ALONG_X ? t->c->x : t->c->y)->var->name;
}

static const char *corner(const struct tile_copies *t, const struct contraction_operand *o)
{
    return o->axis == ALONG_X ? t->col0 : t->row0;
}

/* The name for: the operand's tiles come by wide accesses. */
static const char *wide_of(const struct tile_copies *t, const struct contraction_operand *o)
{
    return arena_printf(t->arena, "wide_%s", o->tile);
}

/* Write `wide_X`: all rows of the operand's tiles are inside the matrix and start at multiples of
 * 16 bytes. */
static void write_wide(const struct tile_copies *t, const struct contraction_operand *o)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *conds = code_conds(c, o->axis), *uniform = code_conds(c, 0), *in = "        ";
    const char *axis = axis_name(t, o), *wide = wide_of(t, o), *step = find_step(t, o);
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    if (!is_wide(t, o))
        return;
    str_addf(s, "    bool %s = %s;\n    {\n", wide, uniform ? uniform : "true");
    for (unsigned last = 0; conds && last < 2; last++)
        str_addf(s, "%s{\n%s    int %s = %s%s;\n%s    %s = %s && %s;\n%s}\n", in, in, axis,
            corner(t, o), last ? arena_printf(t->arena, " + %s - 1", size_of(t, o)) : "", in, wide,
            wide, conds, in);
    str_addf(s, "%sint %s = %s, %s = %s;\n", in, axis, corner(t, o), c->loop.var->name, t->first);
    code_decls(c, s, &needs, in);
    str_addf(s, "%s%s = %s && ((size_t)&%s & 15) == 0 && %s %% %u == 0;\n    }\n", in, wide, wide,
        tree_text(c->in->tree, load), text_operand(t->arena, step), t->run);
}

/* Write the test for 16 bytes of elements that are inside, and their copy by one asynchronous
 * access where their address allows. What holds for the first and the last holds between them. */
static void write_careful_copy(const struct tile_copies *t, const struct contraction_operand *o)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *axis = axis_name(t, o);
    const char *conds = code_conds(c, o->axis), *in = "                    ";
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(
        s, "%sbool %s = %s;\n", in, t->whole, code_inside(c, o->axis, o->k_runs ? t->run - 1 : 0));
    if (!o->k_runs && conds)
        str_addf(s, "%sint %s = %s + %u;\n%s{\n%s    int %s = %s;\n%s    %s = %s && %s;\n%s}\n", in,
            t->last, axis, t->run - 1, in, in, axis, t->last, in, t->whole, t->whole, conds, in);
    str_addf(s, "%sif (%s) {\n", in, t->whole);
    code_decls(c, s, &needs, "                        ");
    str_addf(s,
        "%s    const %s *%s = &%s;\n%s    %s = ((size_t)%s & 15) == 0;\n%s    if (%s)\n"
        "%s        __pipeline_memcpy_async(%s, %s, 16);\n%s}\n%sif (!%s)\n    ",
        in, t->type, t->value, tree_text(c->in->tree, load), in, t->whole, t->value, in, t->whole,
        in, t->to, t->value, in, in, t->whole);
}

const char *tile_swizzled_place(
    struct arena *arena, const char *rows, const char *fast, const char *slow)
{
    return arena_printf(arena,
        "(%s / 64 * %s + %s) * 64 + ((%s %% 64 / 8 ^ %s %% 8) * 8 + %s %% 8)", fast, rows, slow,
        fast, slow, fast);
}

/* Where an element of the tile that comes is. */
static const char *place_of(const struct tile_copies *t, const struct contraction_operand *o,
    const char *slow, const char *fast)
{
    if (!t->swizzled)
        return arena_printf(t->arena, "&%s[%s][%s][%s]", o->tile, t->into, slow, fast);
    return arena_printf(t->arena, "%s + %s * ((%s + %s) * %s) + %s", o->tile, t->into, t->bm, t->bn,
        t->bk, tile_swizzled_place(t->arena, tile_rows(t, o), fast, slow));
}

/* The condition under which the operand's elements are no zeros. */
static struct node *cond_of(const struct tile_copies *t, const struct contraction_operand *o)
{
    return t->c->cond && o->axis == t->c->cond_axis ? t->c->cond : NULL;
}

static bool has_load_inside(const struct node *root, const struct node *self)
{
    for (const struct node *n = root; n; n = node_next(root, n))
        if (n != self && node_is_load(n))
            return true;
    return false;
}

/* --- windows, of which k runs in memory --- */

/* Whether nothing is loaded to find the address of an element and the condition under which it is
 * read, and the condition is the same for all elements along `along`. */
static bool is_placed_alike(
    const struct tile_copies *t, const struct contraction_operand *o, unsigned along)
{
    const struct contraction *c = t->c;
    struct node *load = product_load(o->node), *cond = cond_of(t, o), *vars[64];
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    if (has_load_inside(load, load) ||
        (cond && ((deps_of(&c->deps, cond) & along) || has_load_inside(cond, NULL))))
        return false;
    const unsigned nr = code_find_needs(c, &needs, vars, 64);
    for (unsigned i = 0; i < nr; i++)
        if (vars[i]->init && has_load_inside(vars[i]->init, NULL))
            return false;
    return true;
}

/* Whether 16 bytes along k are in one row of memory wherever the window is, under one condition, at
 * an address that loads nothing. */
static bool has_pieces(const struct tile_copies *t, const struct contraction_operand *o)
{
    return !is_wide(t, o) && o->k_runs && t->bytes != 4 && is_placed_alike(t, o, ALONG_K);
}

/* A thread's pieces of an operand's tile, and how many all threads have. */
static const char *nr_pieces(const struct tile_copies *t, const struct contraction_operand *o)
{
    return arena_printf(t->arena, "(%s * (%s / %u))", tile_rows(t, o), tile_run(t, o), t->run);
}

static const char *nr_rounds(const struct tile_copies *t, const struct contraction_operand *o)
{
    return arena_printf(t->arena, "(%s + %s - 1) / %s", nr_pieces(t, o), t->threads, t->threads);
}

/* Whether a local is the same in all tiles, and takes a division: the name of the array that has it
 * for each of a thread's pieces; else NULL. */
static const char *kept_of(
    const struct tile_copies *t, const struct contraction_operand *o, const struct node *var)
{
    if (var->type.is_pointer || deps_of(&t->c->deps, var->init) & (ALONG_K | ALONG_OUTER))
        return NULL;
    for (const struct node *n = var->init; n; n = node_next(var->init, n))
        if (n->kind == NODE_BINARY && (!strcmp(n->op, "/") || !strcmp(n->op, "%")))
            return tree_fresh(t->c->in->tree,
                arena_printf(t->arena, "%s_of_%s", var->name, o->tile + strlen("tile_")));
    return NULL;
}

/* Write the locals that a piece needs; `keep`: and what is kept of them. */
static void write_piece_decls(const struct tile_copies *t, const struct contraction_operand *o,
    struct code_needs *needs, bool keep, const char *in)
{
    struct node *vars[64];
    const unsigned nr = code_find_needs(t->c, needs, vars, 64);
    for (unsigned i = 0; i < nr; i++) {
        const struct node *v = vars[i];
        const char *kept = kept_of(t, o, v);
        if (keep && (deps_of(&t->c->deps, v->init) & (ALONG_K | ALONG_OUTER)))
            continue;
        str_addf(t->out, "%sconst %s %s%s = %s;\n", in, v->type.base, v->type.is_pointer ? "*" : "",
            v->name,
            kept && !keep ? arena_printf(t->arena, "%s[%s]", kept, t->i)
                          : tree_text(t->c->in->tree, v->init));
        if (kept && keep)
            str_addf(t->out, "%s%s[%s] = %s;\n", in, kept, t->i, v->name);
    }
}

/* Write the places of a thread's pieces as far as they are the same in all tiles. */
static void write_kept(const struct tile_copies *t, const struct contraction_operand *o)
{
    struct node *load = product_load(o->node), *cond = cond_of(t, o), *vars[64];
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1}, again = needs;
    const char *in = "        ";
    const unsigned nr = code_find_needs(t->c, &needs, vars, 64);
    unsigned nr_kept = 0;
    for (unsigned i = 0; i < nr; i++)
        if (kept_of(t, o, vars[i])) {
            str_addf(t->out, "    %s %s[%s];\n", vars[i]->type.base, kept_of(t, o, vars[i]),
                nr_rounds(t, o));
            nr_kept++;
        }
    if (!nr_kept)
        return;
    str_addf(t->out,
        "    #pragma unroll\n    for (int %s = 0; %s < %s; %s++) {\n"
        "%sconst int %s = %s + (%s + %s * %s) / (%s / %u);\n",
        t->i, t->i, nr_rounds(t, o), t->i, in, axis_name(t, o), corner(t, o), t->thread, t->i,
        t->threads, tile_run(t, o), t->run);
    write_piece_decls(t, o, &again, true, in);
    str_add(t->out, "    }\n");
}

/* Write the copies of 16 bytes by asynchronous accesses, which read nothing and put zeros where the
 * condition fails, and element by element where k ends, or the address is not aligned. */
static void write_piece_copies(const struct tile_copies *t, const struct contraction_operand *o)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *k = c->loop.var->name, *in = "                    ";
    const char *nr = nr_pieces(t, o),
               *pieces = arena_printf(t->arena, "(%s / %u)", tile_run(t, o), t->run);
    struct node *load = product_load(o->node), *cond = cond_of(t, o);
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    str_addf(s,
        "                #pragma unroll\n"
        "                for (int %s = 0; %s < %s; %s++) {\n"
        "%sconst int %s = %s + %s * %s;\n%sif (%s %% %s != 0 && %s >= %s)\n%s    continue;\n"
        "%sconst int %s = %s %% %s * %u, %s = %s / %s, %s = %s + %s, %s = %s + %s;\n",
        t->i, t->i, nr_rounds(t, o), t->i, in, t->e, t->thread, t->i, t->threads, in, nr,
        t->threads, t->e, nr, in, in, t->kk, t->e, pieces, t->run, t->at, t->e, pieces,
        axis_name(t, o), corner(t, o), t->at, k, t->ahead, t->kk);
    write_piece_decls(t, o, &needs, false, in);
    str_addf(s, "%sconst bool %s = %s%s%s%s;\n", in, t->last, code_inside(c, o->axis, 0),
        cond ? " && (" : "", cond ? tree_text(c->in->tree, cond) : "", cond ? ")" : "");
    str_addf(s,
        "%sconst %s *%s = &%s;\n%s%s *%s = %s;\n"
        "%sconst bool %s = %s && %s + %u < %s && ((size_t)%s & 15) == 0;\n",
        in, t->type, t->value, tree_text(c->in->tree, load), in, t->type, t->to,
        place_of(t, o, t->at, t->kk), in, t->whole, t->last, k, t->run - 1,
        text_operand(t->arena, tree_text(c->in->tree, c->loop.bound)), t->value);
    str_addf(s,
        "%sif (%s || !%s) {\n"
        "%s    __pipeline_memcpy_async(%s, (const %s *)((size_t)%s & ~(size_t)15), 16, %s ? 0 : "
        "16);\n%s} else {\n%s    #pragma unroll 1\n"
        "%s    for (int %s = 0; %s < %u; %s++)\n"
        "%s        %s[%s] = %s + %s < %s ? %s[%s] : %s(0.0f);\n%s}\n                }\n",
        in, t->whole, t->last, in, t->to, t->type, t->value, t->whole, in, in, in, t->u, t->u,
        t->run, t->u, in, t->to, t->u, k, t->u,
        text_operand(t->arena, tree_text(c->in->tree, c->loop.bound)), t->value, t->u, t->type, in);
}

/* --- elements and edges --- */

/* Elements one by one: of 32 bits by asynchronous copies, which take no registers and no waiting.
 */
static void write_single_copies(
    const struct tile_copies *t, const struct contraction_operand *o, unsigned run)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *in = "                    ";
    struct node *load = product_load(o->node);
    struct node *cond = cond_of(t, o);
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    const char *text = tree_text(c->in->tree, load);
    str_addf(s, "%sfor (int %s = 0; %s < %u; %s++, %s++) {\n%s    bool %s = %s;\n", in, t->u, t->u,
        run, t->u, o->k_runs ? c->loop.var->name : axis_name(t, o), in, t->whole,
        code_inside(c, o->axis, 0));
    if (t->bytes != 4)
        str_addf(s, "%s    %s %s = %s(0.0f);\n", in, t->type, t->value, t->type);
    str_addf(s, "%s    if (%s) {\n", in, t->whole);
    code_decls(c, s, &needs, "                            ");
    if (cond)
        str_addf(s, "%s        %s = %s;\n%s        if (%s)\n    ", in, t->whole,
            tree_text(c->in->tree, cond), in, t->whole);
    if (t->bytes == 4)
        str_addf(s,
            "%s        __pipeline_memcpy_async(&%s[%s], &%s, 4);\n%s    }\n%s    if (!%s)\n"
            "%s        %s[%s] = 0.0f;\n",
            in, t->to, t->u, text, in, in, t->whole, in, t->to, t->u);
    else
        str_addf(s, "%s        %s = %s;\n%s    }\n%s    %s[%s] = %s;\n", in, t->value, text, in, in,
            t->to, t->u, t->value);
    str_addf(s, "%s}\n", in);
}

/* Write the copies of a tile whose rows are all inside: each thread's by one address. */
static void write_row_copies(const struct tile_copies *t, const struct contraction_operand *o)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *fast = tile_by_k(o) ? t->kk : t->at, *slow = tile_by_k(o) ? t->at : t->kk;
    const char *pieces = arena_printf(t->arena, "(%s / %u)", tile_run(t, o), t->run);
    const char *rows = arena_printf(t->arena, "(%s / %s)", t->threads, pieces);
    const char *in = "                ";
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(s,
        "%sconst int %s = %s %% %s * %u, %s = %s / %s;\n"
        "%sconst int %s = %s + %s, %s = %s + %s;\n",
        in, fast, t->thread, pieces, t->run, slow, t->thread, pieces, in, axis_name(t, o),
        corner(t, o), t->at, c->loop.var->name, t->ahead, t->kk);
    code_decls(c, s, &needs, in);
    str_addf(s,
        "%sconst %s *%s = &%s;\n%s%s *%s = %s;\n%s#pragma unroll\n"
        "%sfor (int %s = 0; %s < %s; %s += %s)\n"
        "%s    __pipeline_memcpy_async(%s + %s * %s, %s + %s * (%s), 16);\n",
        in, t->type, t->value, tree_text(c->in->tree, load), in, t->type, t->to,
        place_of(t, o, slow, fast), in, in, t->u, t->u, tile_rows(t, o), t->u, rows, in, t->to,
        t->u, t->swizzled ? "64" : arena_printf(t->arena, "(%s)", tile_pitch(t, o)), t->value, t->u,
        find_step(t, o));
}

/* Write the loop in which the threads copy a tile, 16 bytes at a time where elements follow each
 * other; neighbouring threads take neighbours in memory. The careful copy of the edges of a matrix
 * stays a loop: unrolled, it is most of the kernel's code, and of the time to compile it. */
static void write_copies(
    const struct tile_copies *t, const struct contraction_operand *o, bool wide)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *fast = tile_by_k(o) ? t->kk : t->at, *slow = tile_by_k(o) ? t->at : t->kk;
    const unsigned run = is_wide(t, o) ? t->run : 1;
    const char *nr = arena_printf(t->arena, "%s * (%s / %u)", tile_rows(t, o), tile_run(t, o), run);
    const char *threads = t->threads, *in = "                    ";
    struct node *load = product_load(o->node);
    struct code_needs needs = {.roots = {load}, .nr = 1};
    str_addf(s,
        "                #pragma unroll%s\n"
        "                for (int %s = 0; %s < (%s + %s - 1) / %s; %s++) {\n"
        "%sint %s = %s + %s * %s;\n%sif (%s %% %s != 0 && %s >= %s)\n%s    continue;\n"
        "%sint %s = %s %% (%s / %u) * %u, %s = %s / (%s / %u);\n"
        "%sint %s = %s + %s, %s = %s + %s;\n%s%s *%s = %s;\n",
        !wide && is_wide(t, o) ? " 1" : "", t->i, t->i, nr, threads, threads, t->i, in, t->e,
        t->thread, t->i, threads, in, nr, threads, t->e, nr, in, in, fast, t->e, tile_run(t, o),
        run, run, slow, t->e, tile_run(t, o), run, in, axis_name(t, o), corner(t, o), t->at,
        c->loop.var->name, t->ahead, t->kk, in, t->type, t->to, place_of(t, o, slow, fast));
    if (wide) {
        code_decls(c, s, &needs, in);
        str_addf(s, "%s__pipeline_memcpy_async(%s, &%s, 16);\n", in, t->to,
            tree_text(c->in->tree, load));
    } else {
        if (is_wide(t, o))
            write_careful_copy(t, o);
        write_single_copies(t, o, run);
    }
    str_add(s, "                }\n");
}

/* Whether a thread may copy its elements of a tile by one address and one test for all of them: it
 * has one place along the tile's rows; from row to row the address moves by *step; and nothing is
 * loaded to find the address, so that the address may be made outside the matrix, too. */
static bool is_steady(
    const struct tile_copies *t, const struct contraction_operand *o, const char **step)
{
    *step = find_step(t, o);
    return t->bytes == 4 && !is_wide(t, o) && *step &&
           is_placed_alike(t, o, tile_by_k(o) ? o->axis : ALONG_K);
}

static const char *step_of(const struct tile_copies *t, const struct contraction_operand *o)
{
    return tree_fresh(t->c->in->tree, arena_printf(t->arena, "step_%s", o->tile + strlen("tile_")));
}

/* Write the loop in which each thread copies a column of a tile by asynchronous copies of 4 bytes,
 * which put zeros where nothing is to be read. */
static void write_steady_copies(
    const struct tile_copies *t, const struct contraction_operand *o, const char *step)
{
    const struct contraction *c = t->c;
    struct str *s = t->out;
    const char *k = c->loop.var->name, *axis = axis_name(t, o), *in = "                    ";
    const char *rows = tile_rows(t, o), *run = tile_run(t, o), *conds = code_conds(c, o->axis);
    const char *threads = t->threads;
    const char *pass = arena_printf(t->arena, "max(%s / %s, 1)", threads, run);
    const char *k_holds = arena_printf(
        t->arena, "%s < %s", k, text_operand(t->arena, tree_text(c->in->tree, c->loop.bound)));
    struct node *load = product_load(o->node), *cond = cond_of(t, o);
    struct code_needs needs = {.roots = {load, cond}, .nr = cond ? 2 : 1};
    str_addf(s,
        "                #pragma unroll\n"
        "                for (int %s = 0; %s < %s; %s += %s) {\n"
        "%sint %s = %s + %s %% min(%s, %s), %s = %s / %s;\n"
        "%sint %s = %s + %s, %s = %s + %s;\n",
        t->u, t->u, run, t->u, threads, in, tile_by_k(o) ? t->kk : t->at, t->u, t->thread, run,
        threads, tile_by_k(o) ? t->at : t->kk, t->thread, run, in, axis, corner(t, o), t->at, k,
        t->ahead, t->kk);
    code_decls(c, s, &needs, in);
    str_addf(s, "%sbool %s = %s;\n", in, t->whole, tile_by_k(o) ? k_holds : conds ? conds : "true");
    if (code_conds(c, 0))
        str_addf(s, "%s%s = %s && %s;\n", in, t->whole, t->whole, code_conds(c, 0));
    if (cond)
        str_addf(s, "%s%s = %s && (%s);\n", in, t->whole, t->whole, tree_text(c->in->tree, cond));
    str_addf(s,
        "%sconst float *%s = &%s;\n%sfloat *%s = &%s[%s][%s][%s];\n%sconst int %s = %s;\n"
        "%s#pragma unroll\n%sfor (int %s = 0; %s < %s; %s += %s) {\n"
        "%s    if (%s %% %s != 0 && %s + %s >= %s)\n%s        continue;\n",
        in, t->value, tree_text(c->in->tree, load), in, t->to, o->tile, t->into,
        tile_by_k(o) ? t->at : t->kk, tile_by_k(o) ? t->kk : t->at, in, step_of(t, o), step, in, in,
        t->e, t->e, rows, t->e, pass, in, rows, pass, tile_by_k(o) ? t->at : t->kk, t->e, rows, in);
    if (!tile_by_k(o))
        str_addf(s, "%s    int %s = %s + %s + %s;\n", in, k, t->ahead, t->kk, t->e);
    else if (conds)
        str_addf(s, "%s    int %s = %s + %s + %s;\n", in, axis, corner(t, o), t->at, t->e);
    str_addf(s,
        "%s    __pipeline_memcpy_async(%s + %s * (%s), %s + %s * %s, 4, %s && %s ? 0 : 4);\n"
        "%s}\n                }\n",
        in, t->to, t->e, tile_pitch(t, o), t->value, t->e, step_of(t, o), t->whole,
        !tile_by_k(o) ? k_holds
        : conds       ? conds
                      : "true",
        in);
}

/* Write the copy of one tile from memory, with zeros outside the matrix. */
static void write_stage(const struct tile_copies *t, const struct contraction_operand *o)
{
    const char *step;
    if (is_wide(t, o)) {
        /* expected: the code of the edges is not between that of two tiles */
        str_addf(t->out, "            if (%s%s && %s + %s <= %s%s) {\n",
            t->whole_rows ? "__builtin_expect(" : "", wide_of(t, o), t->ahead, t->bk,
            text_operand(t->arena, tree_text(t->c->in->tree, t->c->loop.bound)),
            t->whole_rows ? ", 1)" : "");
        if (t->whole_rows)
            write_row_copies(t, o);
        else
            write_copies(t, o, true);
        str_add(t->out, "            } else {\n");
    } else {
        str_add(t->out, "            {\n");
    }
    if (has_pieces(t, o))
        write_piece_copies(t, o);
    else if (is_steady(t, o, &step))
        write_steady_copies(t, o, step);
    else
        write_copies(t, o, false);
    str_add(t->out, "            }\n");
}

void tile_copies_prepare(const struct tile_copies *t)
{
    str_addf(t->out, "    const int %s = %s, %s = threadIdx.y * 32 + threadIdx.x;\n", t->first,
        tree_text(t->c->in->tree, t->c->loop.start), t->thread);
    for (unsigned i = 0; i < 2; i++) {
        const struct contraction_operand *o = i ? t->b : t->a;
        write_wide(t, o);
        if (has_pieces(t, o))
            write_kept(t, o);
    }
}

static void write_step(const struct tile_copies *t, const char *stage)
{
    str_addf(t->out, "            %s = %s + 1 == %s ? 0 : %s + 1;\n        }\n", stage, stage,
        t->stages, stage);
}

void tile_copies_loop(const struct tile_copies *t, const char *arrived)
{
    struct str *s = t->out;
    str_addf(s,
        "    int %s = 0, %s = 0;\n    for (int %s = %u - %s; %s < %s; %s++) {\n"
        "        if (%s >= 0) {\n            __pipeline_wait_prior(%s - %u);\n%s"
        "            %s\n        }\n        if (%s + %s - %u < %s) {\n",
        t->into, t->from, t->tile, t->lag, t->stages, t->tile, t->nr_tiles, t->tile, t->tile,
        t->stages, t->lag + 1, arrived, t->barrier, t->tile, t->stages, t->lag, t->nr_tiles);
    write_stage(t, t->a);
    write_stage(t, t->b);
    code_walk_step(t->c, s, t->ahead, t->bk, "            ");
    write_step(t, t->into);
    str_addf(s, "        __pipeline_commit();\n        if (%s >= 0) {\n", t->tile);
}

void tile_copies_loop_end(const struct tile_copies *t)
{
    write_step(t, t->from);
    str_add(t->out, "    }\n");
}
