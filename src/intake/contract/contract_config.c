/* Owns grid, block and shared memory of a launch in the contract. These are expressions over sizes
 * where the expressions come to what the interpreter saw, and numbers elsewhere. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <string.h>

static bool add_dims(struct contract_builder *b, struct tok_range r, unsigned at, struct str *out)
{
    const struct toks *toks = r.toks;
    struct tok_range dims[3], value;
    unsigned nr, where = at;

    if (r.from >= r.to) {
        b->resolver->why = "no expression stands there";
        return false;
    }
    if (r.to == r.from + 1 && toks->tok[r.from].kind == TOK_NAME) {
        const char *name = toks->tok[r.from].text;
        struct tok_range members[3];

        if (resolver_dim3_members(b->resolver, name, at, members)) {
            str_add(out, "dim3(");
            for (unsigned i = 0; i < 3; i++) {
                str_add(out, i ? ", " : "");
                if (members[i].from == members[i].to)
                    str_add_char(out, '1');
                else if (!add_dims(b, members[i], at, out))
                    return false;
            }
            str_add_char(out, ')');
            return true;
        }
        if (resolver_definition(b->resolver, name, at, &value, &where)) {
            bool is_dim3 = tok_is(&value.toks->tok[value.from], "dim3");
            struct tok_range parts[3];

            nr = tok_range_split(value, parts, 3);
            for (unsigned i = where; i > 0 && i + 4 > where; i--) /* const dim3 grid(x, y) */
                is_dim3 = is_dim3 || tok_is(&b->resolver->toks->tok[i - 1], "dim3");
            if (is_dim3 || nr > 1)
                return add_dims(b, value, where, out);
        }
    }
    if (tok_is(&toks->tok[r.from], "dim3") && toks->tok[r.from + 1].match)
        r = (struct tok_range){toks, r.from + 2, r.to - 1};
    nr = tok_range_split(r, dims, 3);
    if (nr == 0) {
        str_add_char(out, '1');
        return true;
    }
    if (nr > 1)
        str_add(out, "dim3(");
    for (unsigned i = 0; i < nr; i++) {
        struct str one = {0};
        bool ok = resolver_integer(b->resolver, dims[i], at, &one);

        str_addf(out, "%s%s", i ? ", " : "", spelling_tidy(b->arena, str_text(&one)));
        str_finish(&one);
        if (!ok)
            return false;
    }
    if (nr > 1)
        str_add_char(out, ')');
    return true;
}

/* Splits a text such as dim3(a, b) into its expressions. Returns how many there are. */
static unsigned parts_of(struct contract_builder *b, const char *text, const char *parts[3])
{
    struct toks toks;
    struct tok_range ranges[3];
    bool several = str_starts(text, "dim3(");

    text += several ? 5 : 0;
    size_t len = strlen(text) - (several && *text);
    const char *inner = arena_strndup(b->arena, text, len);

    if (!toks_lex(&toks, b->arena, inner, len))
        return 0;
    unsigned nr = tok_range_split((struct tok_range){&toks, 0, toks.nr}, ranges, 3);

    for (unsigned i = 0; i < nr; i++)
        if (ranges[i].from < ranges[i].to)
            parts[i] = arena_strndup(b->arena, inner + toks.tok[ranges[i].from].at,
                toks.tok[ranges[i].to - 1].end - toks.tok[ranges[i].from].at);
        else
            parts[i] = "";
    return nr;
}

bool contract_is_empty(struct contract_builder *b, const char *config)
{
    struct toks toks;
    struct tok_range both[2];
    const char *parts[3] = {0};
    int64_t value;

    if (!toks_lex(&toks, b->arena, config, strlen(config)) ||
        tok_range_split((struct tok_range){&toks, 0, toks.nr}, both, 2) == 0 ||
        both[0].from >= both[0].to)
        return false;
    const unsigned nr = parts_of(b,
        arena_strndup(b->arena, config, toks.tok[both[0].to - 1].end - toks.tok[both[0].from].at),
        parts);

    for (unsigned i = 0; i < nr; i++)
        if (resolver_evaluate(b->resolver, parts[i], &value) && value == 0)
            return true;
    return false;
}

/* Adds the dimensions that the interpreter saw: each as `text` has it where that comes to the same
 * number. */
static void seen_dims(
    struct contract_builder *b, const char *text, const int64_t dims[3], struct str *out)
{
    const char *parts[3] = {0};
    unsigned nr = text ? parts_of(b, text, parts) : 0, nr_dims = dims[2] != 1   ? 3
                                                                 : dims[1] != 1 ? 2
                                                                                : 1;

    nr_dims = nr > nr_dims ? nr : nr_dims;
    str_add(out, nr_dims > 1 ? "dim3(" : "");
    for (unsigned i = 0; i < nr_dims; i++) {
        int64_t value;
        bool same = i < nr && resolver_evaluate(b->resolver, parts[i], &value) && value == dims[i];

        str_add(out, i ? ", " : "");
        if (same)
            str_add(out, parts[i]);
        else
            str_addf(out, "%lld", (long long)dims[i]);
    }
    str_add(out, nr_dims > 1 ? ")" : "");
}

/* Adds the grid (which is 0) or the block (1). */
static bool dims_text(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, unsigned which, struct str *out)
{
    bool known = seen && (which ? seen->block_known : seen->grid_known);
    struct str text = {0};
    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.strict = known});
    bool ok = which < site->nr_config && add_dims(b, site->config[which], site->at, &text);

    b->resolver->mode = before;
    if (known)
        seen_dims(b, ok ? str_text(&text) : NULL, which ? seen->block : seen->grid, out);
    else if (ok)
        str_add(out, str_text(&text));
    str_finish(&text);
    return ok || known;
}

static bool smem_text(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, struct str *out)
{
    struct str text = {0};
    int64_t value;
    bool ok =
        site->nr_config > 2 && resolver_integer(b->resolver, site->config[2], site->at, &text);
    const char *tidied = spelling_tidy(b->arena, str_text(&text));

    str_finish(&text);
    if (seen && seen->smem_known && site->nr_config < 3 && seen->smem == 0)
        return true;
    if (seen && seen->smem_known &&
        !(ok && resolver_evaluate(b->resolver, tidied, &value) && value == seen->smem))
        str_addf(out, ", %lld", (long long)seen->smem);
    else if (ok)
        str_addf(out, ", %s", tidied);
    return ok || (seen && seen->smem_known) || site->nr_config < 3;
}

const char *contract_config(struct contract_builder *b, const struct site *site,
    const struct interp_launch *seen, const char **why)
{
    static const char *const parts[] = {"grid", "block", "shared memory"};
    struct str config = {0};
    const struct resolver_mode before =
        resolver_restrict(b->resolver, (struct resolver_mode){.fixed = true});

    for (unsigned c = 0; c < 3; c++) {
        str_add(&config, c == 1 ? ", " : "");
        bool ok = c < 2 ? dims_text(b, site, seen, c, &config) : smem_text(b, site, seen, &config);

        if (!ok && !*why)
            *why = arena_printf(b->arena, "%s: %s", parts[c], b->resolver->why);
    }
    b->resolver->mode = before;
    if (*why && site->nr_config) { /* in the file's own words: easier to complete */
        str_clear(&config);
        str_add(&config, toks_text(site->config[0].toks, b->arena, site->config[0].from,
                             site->config[site->nr_config - 1].to));
    }
    const char *text = arena_strdup(b->arena, str_text(&config));
    str_finish(&config);
    return text;
}
