/* Owns `keet-opt report`. */
#include "cli/commands.h"
#include "cli/look.h"

#include "base/file.h"
#include "campaign/campaign.h"
#include "campaign/overview.h"
#include "campaign/results.h"
#include "report/page.h"

#include <stdio.h>
#include <string.h>

static bool is_format(const struct options *o, const char *name)
{
    return o->as && strcmp(o->as, name) == 0;
}

/* matmul.keet.db -> matmul.report.html; with run 2, matmul.run2.report.html */
static const char *default_output(struct arena *arena, const char *db_path, uint64_t run)
{
    const char *which = run > 0 ? arena_printf(arena, ".run%llu", (unsigned long long)run) : "";
    size_t len = strlen(db_path);

    if (str_ends(db_path, ".keet.db"))
        len -= strlen(".keet.db");
    else if (str_ends(db_path, ".db"))
        len -= strlen(".db");
    return arena_printf(arena, "%.*s%s.report.html", (int)len, db_path, which);
}

static bool of_run(const struct options *o, const char *path, struct str *text, struct err *err)
{
    struct arena *arena = arena_create();
    struct store *store = look_database(path, err);
    struct page page;
    bool ok = store && page_load(&page, arena, store, path, (int64_t)o->run, err);
    if (ok && (is_format(o, "json") || o->json))
        ok = page_json(&page, text, err);
    else if (ok && (is_format(o, "md") || o->markdown))
        page_markdown(&page, text);
    else if (ok)
        ok = page_html(&page, text, err);
    store_close(store);
    arena_destroy(arena);
    return ok;
}

static bool of_campaign(
    const struct options *o, const char *path, struct str *text, struct err *err)
{
    struct campaign c;
    bool ok;

    campaign_init(&c);
    ok = campaign_open(&c, path, err);
    if (ok && (is_format(o, "json") || o->json))
        ok = results_campaign(&c, 0, true, text, err);
    else if (ok && (is_format(o, "md") || o->markdown))
        ok = overview_markdown(&c, text, err);
    else if (ok)
        ok = overview_html(&c, false, text, err);
    campaign_finish(&c);
    return ok;
}

bool cmd_report(const struct options *options, int *status, struct err *err)
{
    const char *path = options->kernel_path, *output = options->output_path;
    const bool html =
        (!options->as || is_format(options, "html")) && !options->json && !options->markdown;
    const bool campaign = campaign_is_folder(path);
    struct arena *arena = arena_create();
    struct str text = {0};
    bool ok;

    if (campaign && options->run > 0) {
        err_set(err, "%s is a campaign; --run goes with one of its databases, NAME.keet.db", path);
        arena_destroy(arena);
        return false;
    }
    if (!output)
        output = !html      ? "-"
                 : campaign ? arena_printf(arena, "%s/report.html", path)
                            : default_output(arena, path, options->run);
    ok = campaign ? of_campaign(options, path, &text, err) : of_run(options, path, &text, err);
    if (ok && strcmp(output, "-") == 0)
        fwrite(str_text(&text), 1, text.len, stdout);
    else if (ok)
        ok = file_write(output, str_text(&text), text.len, err);
    if (ok && strcmp(output, "-") != 0 && options->verbosity >= 0)
        printf("%s\n", output);
    str_finish(&text);
    arena_destroy(arena);
    return ok;
}
