/* Owns the opening of the run or campaign that a verb looks at. */
#include "cli/look.h"

#include "base/file.h"
#include "base/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool look_open(struct looked *l, const char *path, uint64_t run, struct err *err)
{
    *l = (struct looked){.is_campaign = campaign_is_folder(path), .path = path};
    campaign_init(&l->campaign);
    if (l->is_campaign) {
        l->lock_path = arena_printf(l->campaign.arena, "%s/campaign.lock", path);
        if (run > 0)
            return err_set(
                err, "%s is a campaign; --run goes with one of its databases, NAME.keet.db", path);
        return campaign_open(&l->campaign, path, err);
    }
    l->lock_path = arena_printf(l->campaign.arena, "%s-lock", path);
    return file_exists(path) || err_set(err, "%s: there is no such file", path);
}

void look_close(struct looked *l)
{
    campaign_finish(&l->campaign);
}

long look_holder(const struct looked *l)
{
    return lock_holder(l->lock_path);
}

struct store *look_database(const char *path, struct err *err)
{
    if (!file_exists(path))
        err_set(err, "%s: there is no such file", path);
    else if (campaign_is_folder(path))
        err_set(err, "%s is a campaign; expected one of its databases, NAME.keet.db", path);
    else
        return store_open(path, err);
    return NULL;
}

bool look_open_run(struct looked_run *l, const char *path, uint64_t run, struct err *err)
{
    *l = (struct looked_run){.arena = arena_create()};
    l->store = look_database(path, err);
    return l->store && store_take_run(l->store, l->arena, (int64_t)run, &l->run, err);
}

void look_close_run(struct looked_run *l)
{
    store_close(l->store);
    arena_destroy(l->arena);
}

static bool node_number(struct store *store, const char *text, int64_t *number, struct err *err)
{
    struct store_digest digest;
    char *end;

    if (strcmp(text, "original") == 0) {
        *number = 0;
        return true;
    }
    if (strcmp(text, "best") == 0) {
        if (!store_digest(store, &digest, err))
            return false;
        *number = digest.best < 0 ? 0 : digest.best;
        return true;
    }
    *number = strtoll(text, &end, 10);
    return (end > text && !*end && *number >= 0) ||
           err_set(err, "%s: expected a node's number, best or original", text);
}

bool look_load(const struct looked_run *l, const char *text, struct candidate *c, struct err *err)
{
    int64_t number;
    bool found;

    if (!node_number(l->store, text, &number, err) ||
        !store_load_node(l->store, number, c, &found, err))
        return false;
    return found ||
           err_set(err, "there is no node %lld; `keet-opt results` lists them", (long long)number);
}

void look_print(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}
