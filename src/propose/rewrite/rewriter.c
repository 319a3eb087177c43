/* Owns the table of mechanical moves over the syntax tree. All of it runs in the rewriter's
 * child. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "propose/proposer.h"
#include "propose/rewrite/rewriter.h"

#include <string.h>

enum { MAX_VARIANTS = 6, MAX_TRIED = 24 };

static const struct move {
    enum action action;
    rewrite_f *rewrite;
    unsigned max; /* variants listed */
} moves[] = {
    {ACTION_BLOCK_SHAPE, rewrite_block_shape, 6},
    {ACTION_SWAP_XY, rewrite_swap_xy, 6},
    {ACTION_READ_ONLY, rewrite_read_only, 1},
    {ACTION_UNROLL, rewrite_unroll, 6},
    {ACTION_PAD_SHARED, rewrite_pad_shared, 4},
    {ACTION_LAUNCH_BOUNDS, rewrite_launch_bounds, 4},
    {ACTION_GRID_STRIDE, rewrite_grid_stride, 4},
    {ACTION_HOIST, rewrite_hoist, 4},
    {ACTION_FAST_MATH, rewrite_fast_math, 3},
    {ACTION_VECTORIZE, rewrite_vectorize, 4},
    {ACTION_COARSEN, rewrite_coarsen, 4},
    {ACTION_SHARED_TILE, rewrite_shared_tile, 4},
    {ACTION_REGISTER_TILE, rewrite_register_tile, 6},
    {ACTION_PARALLEL_REDUCE, rewrite_parallel_reduce, 6},
    {ACTION_SHUFFLE_REDUCE, rewrite_shuffle_reduce, 4},
    {ACTION_PRIVATIZE, rewrite_privatize, 4},
    {ACTION_SPLIT_WORK, rewrite_split_work, 4},
    {ACTION_FUSE, rewrite_fuse, 4},
    {ACTION_TENSOR_CORES, rewrite_tensor_cores, 2},
    {ACTION_WGMMA, rewrite_wgmma, 2},
    {ACTION_ATTENTION, rewrite_attention, 2},
};

static struct rewrite_out fresh_out(const struct rewrite_in *in)
{
    return (struct rewrite_out){.edits = {.arena = in->arena}};
}

/* One variant. Its text must differ from the source, and must have a plan that keeps the contract.
 */
static bool try_variant(
    const struct rewrite_in *in, const struct move *move, unsigned variant, struct rewrite_out *out)
{
    *out = fresh_out(in);
    if (!move->rewrite(in, variant, out))
        return false;
    out->more = true;
    out->text = edits_apply(&out->edits, in->source, in->bytes, &out->bytes);
    if (!out->text)
        return rewrite_refuse(in, out, "its edits overlap");
    if (out->bytes == in->bytes && !memcmp(out->text, in->source, in->bytes))
        return rewrite_refuse(in, out, "it would not change the text");
    struct plan plan;
    enum verdict verdict;
    struct err why;
    if (!plan_parse(&plan, in->task, in->arena, out->text, out->bytes, &verdict, &why))
        return rewrite_refuse(in, out, "the result is not a plan: %s", why.text);
    return true;
}

static void list_move(const struct rewrite_in *in, const struct move *move,
    struct option_list *list, struct hash *seen, unsigned *nr_seen)
{
    const char *whys[MAX_TRIED]; /* reasons of variants that are refused, each once */
    unsigned found = 0, nr_whys = 0;
    for (unsigned k = 0; k < MAX_TRIED && found < move->max; k++) {
        struct rewrite_out out;
        if (!try_variant(in, move, k, &out)) {
            bool known = !out.why || (!out.more && (found || nr_whys)); /* "no more kernels" */
            for (unsigned i = 0; i < nr_whys && !known; i++)
                known = strcmp(whys[i], out.why) == 0;
            if (!known)
                whys[nr_whys++] = out.why;
            if (!out.more)
                break;
            continue;
        }
        const struct hash hash = hash_bytes(out.text, out.bytes, 0);
        bool known = false;
        for (unsigned i = 0; i < *nr_seen && !known; i++)
            known = seen[i].high == hash.high && seen[i].low == hash.low;
        if (known)
            continue;
        seen[(*nr_seen)++] = hash;
        found++;
        option_add(list, &(struct option){.action = move->action,
                             .proposer = PROPOSER_REWRITER,
                             .variant = k,
                             .what = out.what});
    }
    for (unsigned i = 0; i < nr_whys; i++)
        str_addf(list->refusals, "%s: %s\n", action_name(move->action), whys[i]);
    if (!found && !nr_whys)
        str_addf(list->refusals, "%s: nothing new\n", action_name(move->action));
}

void rewriter_list_here(const struct rewrite_in *in, struct option_list *list)
{
    struct hash seen[ARRAY_SIZE(moves) * MAX_VARIANTS];
    unsigned nr_seen = 0;
    if (in->tree->trouble) {
        str_addf(list->refusals, "rewriter: the parser does not understand the source: %s\n",
            in->tree->trouble);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
        list_move(in, &moves[i], list, seen, &nr_seen);
}

bool rewriter_make_here(
    const struct rewrite_in *in, const struct option *option, struct rewrite_out *out)
{
    if (in->tree->trouble)
        return rewrite_refuse(
            in, out, "the parser does not understand the source: %s", in->tree->trouble);
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
        if (moves[i].action == option->action)
            return try_variant(in, &moves[i], option->variant, out);
    return rewrite_refuse(in, out, "the rewriter has no move %s", action_name(option->action));
}
