/* Owns grid, block and shared memory of a launch in the contract. These are expressions over sizes
 * where the expressions come to what the interpreter saw, and numbers elsewhere. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* Adds one dimension as text over sizes. */
static bool add_dim(
    struct contract_builder *b, struct tok_range r, unsigned at, struct launch_dims *out)
{
    struct str one = {0};
    const bool ok = resolver_integer(b->resolver, r, at, &one);

    out->of[out->nr++] = spelling_tidy(b->arena, str_text(&one));
    str_finish(&one);
    return ok;
}

/* The definition of the dim3 that a range names, or of a number in several parts; the range itself
 * where it names neither. */
static struct tok_range defined_dims(struct contract_builder *b, struct tok_range r, unsigned *at)
{
    enum { MAX_NAMES = 8 }; /* of which each stands for the next: two may stand for each other */
    struct tok_range value, parts[3];
    unsigned where;

    for (unsigned names = 0;
         names < MAX_NAMES && r.to == r.from + 1 && r.toks->tok[r.from].kind == TOK_NAME &&
         resolver_definition(b->resolver, r.toks->tok[r.from].text, *at, &value, &where);
         names++) {
        bool is_dim3 = tok_is(&value.toks->tok[value.from], "dim3");

        for (unsigned i = where; i > 0 && i + 4 > where; i--) /* const dim3 grid(x, y) */
            is_dim3 = is_dim3 || tok_is(&b->resolver->toks->tok[i - 1], "dim3");
        if (!is_dim3 && tok_range_split(value, parts, 3) < 2)
            break;
        r = value;
        *at = where;
    }
    return r;
}

/* Reads dim3(x, y), a variable of that type, or one number. */
static bool read_dims(
    struct contract_builder *b, struct tok_range r, unsigned at, struct launch_dims *out)
{
    const struct toks *toks = r.toks;
    struct tok_range dims[3];
    bool ok = true;

    if (r.from >= r.to) {
        b->resolver->why = "no expression stands there";
        return false;
    }
    if (r.to == r.from + 1 && toks->tok[r.from].kind == TOK_NAME &&
        resolver_dim3_members(b->resolver, toks->tok[r.from].text, at, dims)) {
        for (unsigned i = 0; ok && i < 3; i++)
            if (dims[i].from == dims[i].to)
                out->of[out->nr++] = "1";
            else
                ok = add_dim(b, dims[i], at, out);
        return ok;
    }
    r = defined_dims(b, r, &at);
    if (tok_is(&r.toks->tok[r.from], "dim3") && r.toks->tok[r.from + 1].match)
        r = (struct tok_range){r.toks, r.from + 2, r.to - 1};
    const unsigned nr = tok_range_split(r, dims, 3);

    if (nr == 0)
        out->of[out->nr++] = "1";
    for (unsigned i = 0; ok && i < nr; i++)
        ok = add_dim(b, dims[i], at, out);
    return ok;
}

bool contract_is_empty(struct contract_builder *b, const struct contract_launch *launch)
{
    int64_t value;

    for (unsigned i = 0; i < launch->dims[0].nr; i++)
        if (resolver_evaluate(b->resolver, launch->dims[0].of[i], &value) && value == 0)
            return true;
    return false;
}

/* Sets the dimensions to what the interpreter saw. The text of one that comes to the same number
 * stays. */
static void put_seen(struct contract_builder *b, struct launch_dims *dims, const int64_t seen[3])
{
    const unsigned nr_seen = seen[2] != 1   ? 3
                             : seen[1] != 1 ? 2
                                            : 1,
                   nr = dims->nr > nr_seen ? dims->nr : nr_seen;

    for (unsigned i = 0; i < nr; i++) {
        int64_t value;

        if (i >= dims->nr || !resolver_evaluate(b->resolver, dims->of[i], &value) ||
            value != seen[i])
            dims->of[i] = arena_printf(b->arena, "%lld", (long long)seen[i]);
    }
    dims->nr = nr;
}

/* Sets the grid (which is 0) or the block (1). */
static bool set_dims(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, unsigned which, struct launch_dims *out)
{
    const bool known = seen && (which ? seen->block_known : seen->grid_known);
    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.strict = known});
    const bool ok = which < site->nr_config && read_dims(b, site->config[which], site->at, out);

    b->resolver->mode = before;
    out->nr = ok ? out->nr : 0;
    if (known)
        put_seen(b, out, which ? seen->block : seen->grid);
    return ok || known;
}

static bool set_smem(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, const char **smem)
{
    const bool known = seen && seen->smem_known;
    struct str text = {0};
    int64_t value;
    const bool ok =
        site->nr_config > 2 && resolver_integer(b->resolver, site->config[2], site->at, &text);

    *smem = ok ? spelling_tidy(b->arena, str_text(&text)) : NULL;
    str_finish(&text);
    if (known && site->nr_config < 3 && seen->smem == 0)
        return true;
    if (known && !(ok && resolver_evaluate(b->resolver, *smem, &value) && value == seen->smem))
        *smem = arena_printf(b->arena, "%lld", (long long)seen->smem);
    return ok || known || site->nr_config < 3;
}

void contract_config(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, struct contract_launch *to, const char **why)
{
    static const char *const parts[] = {"grid", "block", "shared memory"};
    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.fixed = true});

    for (unsigned c = 0; c < 3; c++)
        if (!(c < 2 ? set_dims(b, site, seen, c, &to->dims[c])
                    : set_smem(b, site, seen, &to->smem)) &&
            !*why)
            *why = arena_printf(b->arena, "%s: %s", parts[c], b->resolver->why);
    b->resolver->mode = before;
    if (*why && site->nr_config) /* in the file's own words: easier to complete */
        to->words = toks_text(site->config[0].toks, b->arena, site->config[0].from,
            site->config[site->nr_config - 1].to);
}
