/* Owns a run in figures: sums and lists that need no node to be read. */
#include "store/db.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool add_verdicts(struct store *store, struct store_digest *digest, struct err *err)
{
    struct query q = query_start(store, SQL_DIGEST_VERDICTS);
    struct arena *arena = arena_create();
    bool ok, row;

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "counting verdicts", err)) && row) {
        const char *name = get_text(&q, arena);
        const int64_t nr = get_int(&q), nr_evaluated = get_int(&q);
        enum verdict verdict;

        if (name && verdict_parse(name, &verdict)) {
            digest->verdicts[verdict] = (uint64_t)nr;
            digest->recalled[verdict] = (uint64_t)(nr - nr_evaluated);
            digest->nr_evaluated += verdict_costs(verdict) ? nr_evaluated : 0;
        }
        digest->nr_nodes += nr;
    }
    arena_destroy(arena);
    return ok;
}

static bool add_best(struct store *store, struct store_digest *digest, struct err *err)
{
    struct query q = query_start(store, SQL_DIGEST_BEST);
    struct arena *arena;
    bool row, ok;

    put_int(&q, store->run);
    if (!query_next(&q, &row, "looking for the best", err))
        return false;
    if (!row)
        return true;
    arena = arena_create();
    digest->best = get_int(&q);
    digest->speedup = get_real(&q);
    digest->best_ns = get_real(&q);
    ok = db_parse_provenance(store, get_text(&q, arena), &digest->from, err);
    arena_destroy(arena);
    query_end(&q);
    return ok;
}

/* A sum that SQLite made as a real number. */
static uint64_t get_count(struct query *q)
{
    const double value = get_real(q);

    if (value >= 0 && value < 1e18)
        return (uint64_t)value;
    db_odd(q->store, "a number out of its range");
    return 0;
}

static bool add_calls(struct store *store, struct store_digest *digest, struct err *err)
{
    struct query q = query_start(store, SQL_DIGEST_CALLS);
    bool row;

    put_int(&q, store->run);
    if (!query_next(&q, &row, "adding up calls", err))
        return false;
    digest->nr_calls = (uint64_t)get_int(&q);
    digest->tokens = get_count(&q);
    digest->tokens += get_count(&q);
    digest->cost = get_real(&q);
    digest->nr_unpriced = (uint64_t)get_int(&q);
    digest->nr_evaluated += (int64_t)get_count(&q);
    query_end(&q);
    return true;
}

/* What was evaluated beside the budget. */
static bool take_fill(struct store *store, struct store_digest *digest, struct err *err)
{
    struct query q = query_start(store, SQL_DIGEST_FILL);
    bool row;

    put_int(&q, store->run);
    if (!query_next(&q, &row, "counting picks", err))
        return false;
    digest->nr_fill = get_int(&q);
    digest->nr_evaluated -= digest->nr_fill;
    query_end(&q);
    return true;
}

bool store_digest(struct store *store, struct store_digest *digest, struct err *err)
{
    *digest = (struct store_digest){.best = -1};
    return db_has_run(store, err) && add_verdicts(store, digest, err) &&
           add_best(store, digest, err) && add_calls(store, digest, err) &&
           take_fill(store, digest, err) && db_sound(store, err);
}

bool store_list_speeds(struct store *store, struct arena *arena, struct store_speed **speeds,
    unsigned *nr, struct err *err)
{
    struct store_speed *list = NULL;
    size_t cap = 0;
    bool ok, row;

    *nr = 0;
    *speeds = NULL;
    if (!db_has_run(store, err))
        return false;
    struct query q = query_start(store, SQL_LIST_SPEEDS);

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "listing nodes", err)) && row) {
        list = grow(list, &cap, *nr + 1, sizeof(*list));
        struct store_speed *one = &list[(*nr)++];

        one->number = get_within(&q, 0, INT64_MAX);
        one->parent = get_parent(&q, one->number);
        one->action = get_text(&q, arena);
        one->what = get_text(&q, arena);
        one->verdict = get_text(&q, arena);
        one->verdict_text = get_text(&q, arena);
        one->speedup = get_real(&q);
        one->time_ns = get_real(&q);
    }
    if (ok && *nr > 0) {
        *speeds = arena_array(arena, *nr, sizeof(**speeds));
        memcpy(*speeds, list, *nr * sizeof(*list));
    }
    free(list);
    return ok;
}
