/* Owns the table of mechanical moves over the syntax tree. All of it runs in the rewriter's
 * child. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "propose/proposer.h"
#include "propose/rewrite/plain_form.h"
#include "propose/rewrite/rewriter.h"

#include <string.h>

enum { MAX_VARIANTS = 6, MAX_TRIED = 24 };

static const struct move {
    enum action action;
    rewrite_f *rewrite;
    unsigned max; /* variants listed */
    bool plain;   /* asked again for a kernel in another form: plain_form.h */
} moves[] = {
    {ACTION_BLOCK_SHAPE, rewrite_block_shape, 6, false},
    {ACTION_SWAP_XY, rewrite_swap_xy, 6, false},
    {ACTION_READ_ONLY, rewrite_read_only, 1, false},
    {ACTION_UNROLL, rewrite_unroll, 6, false},
    {ACTION_PAD_SHARED, rewrite_pad_shared, 4, false},
    {ACTION_LAUNCH_BOUNDS, rewrite_launch_bounds, 4, false},
    {ACTION_GRID_STRIDE, rewrite_grid_stride, 4, false},
    {ACTION_HOIST, rewrite_hoist, 4, false},
    {ACTION_FAST_MATH, rewrite_fast_math, 3, false},
    {ACTION_VECTORIZE, rewrite_vectorize, 4, false},
    {ACTION_COARSEN, rewrite_coarsen, 4, false},
    {ACTION_SHARED_TILE, rewrite_shared_tile, 4, true},
    {ACTION_REGISTER_TILE, rewrite_register_tile, 6, true},
    {ACTION_PARALLEL_REDUCE, rewrite_parallel_reduce, 6, false},
    {ACTION_SHUFFLE_REDUCE, rewrite_shuffle_reduce, 4, false},
    {ACTION_PRIVATIZE, rewrite_privatize, 4, false},
    {ACTION_SPLIT_WORK, rewrite_split_work, 4, false},
    {ACTION_FUSE, rewrite_fuse, 4, false},
    {ACTION_TENSOR_CORES, rewrite_tensor_cores, 2, true},
    {ACTION_WGMMA, rewrite_wgmma, 2, true},
    {ACTION_ATTENTION, rewrite_attention, 2, false},
};

static struct rewrite_out fresh_out(const struct rewrite_in *in)
{
    return (struct rewrite_out){.edits = {.arena = in->arena}};
}

/* Can all launches be made at the timed sizes? A grid along y and z is short: rows that were
 * numbered along x may be too many there. */
static bool can_launch(const struct rewrite_in *in, const struct plan *plan, struct err *why)
{
    const struct env env = plan_env(in->arena, plan, &in->task->timed);
    struct launch_config config;
    for (unsigned i = 0; i < plan->nr_launches; i++)
        if (!launch_resolve(&plan->launches[i], &env, &config, why))
            return false;
    return true;
}

/* One variant. Its text must differ from the source, and must have a plan that keeps the contract
 * and that can be launched. */
static bool try_on(
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
    if (!can_launch(in, &plan, &why))
        return rewrite_refuse(in, out, "the result cannot be launched: %s", why.text);
    return true;
}

/* The kernel in another form, which is looked for when a move that wants it first asks. */
struct other_form {
    struct rewrite_in in;
    bool asked, found;
};

static bool try_variant(const struct rewrite_in *in, struct other_form *other,
    const struct move *move, unsigned variant, struct rewrite_out *out)
{
    struct rewrite_out again;
    if (try_on(in, move, variant, out))
        return true;
    if (!move->plain)
        return false;
    if (!other->asked) {
        other->asked = true;
        other->found = plain_form_read(in, &other->in);
    }
    if (!other->found)
        return false;
    const bool good = try_on(&other->in, move, variant, &again);
    *out = again;
    return good;
}

static void list_move(const struct rewrite_in *in, struct other_form *other,
    const struct move *move, struct option_list *list, struct made_text *texts, struct hash *seen)
{
    const char *whys[MAX_TRIED]; /* reasons of variants that are refused, each once */
    unsigned found = 0, nr_whys = 0;
    for (unsigned k = 0; k < MAX_TRIED && found < move->max; k++) {
        struct rewrite_out out;
        if (!try_variant(in, other, move, k, &out)) {
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
        for (unsigned i = 0; i < list->nr && !known; i++)
            known = seen[i].high == hash.high && seen[i].low == hash.low;
        if (known)
            continue;
        seen[list->nr] = hash;
        texts[list->nr] = (struct made_text){out.text, out.bytes};
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

void rewriter_list_here(
    const struct rewrite_in *in, struct option_list *list, struct made_text texts[REWRITER_MOST])
{
    _Static_assert(ARRAY_SIZE(moves) * MAX_VARIANTS <= REWRITER_MOST, "room for all");
    struct hash seen[REWRITER_MOST];
    struct other_form other = {.asked = false};
    if (in->tree->trouble) {
        str_addf(list->refusals, "rewriter: the parser does not understand the source: %s\n",
            in->tree->trouble);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
        list_move(in, &other, &moves[i], list, texts, seen);
}

bool rewriter_make_here(
    const struct rewrite_in *in, const struct option *option, struct rewrite_out *out)
{
    struct other_form other = {.asked = false};
    if (in->tree->trouble)
        return rewrite_refuse(
            in, out, "the parser does not understand the source: %s", in->tree->trouble);
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
        if (moves[i].action == option->action)
            return try_variant(in, &other, &moves[i], option->variant, out);
    return rewrite_refuse(in, out, "the rewriter has no move %s", action_name(option->action));
}
