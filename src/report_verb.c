/* Owns `keet-opt report`. */
#include "report_verb.h"

#include "base/file.h"
#include "report/page.h"

#include <stdio.h>
#include <string.h>

static bool is_format(const struct options *o, const char *name)
{
    return o->as && strcmp(o->as, name) == 0;
}

/* matmul.keet.db -> matmul.report.html */
static const char *default_output(struct arena *arena, const char *db_path)
{
    size_t len = strlen(db_path);

    if (str_ends(db_path, ".keet.db"))
        len -= strlen(".keet.db");
    else if (str_ends(db_path, ".db"))
        len -= strlen(".db");
    return arena_printf(arena, "%.*s.report.html", (int)len, db_path);
}

static bool make(
    const struct options *o, const struct page *page, struct str *text, struct err *err)
{
    if (is_format(o, "json") || o->json)
        return page_json(page, text, err);
    if (is_format(o, "md") || o->markdown) {
        page_markdown(page, text);
        return true;
    }
    return page_html(page, text, err);
}

bool report_verb(const struct options *options, struct err *err)
{
    const char *path = options->kernel_path, *output = options->output_path;
    const bool html =
        (!options->as || is_format(options, "html")) && !options->json && !options->markdown;
    struct arena *arena = arena_create();
    struct store *store = NULL;
    struct str text = {0};
    struct page page;
    bool ok;

    if (!output)
        output = html ? default_output(arena, path) : "-";
    ok = file_exists(path) || err_set(err, "%s: there is no such file", path);
    store = ok ? store_open(path, err) : NULL;
    ok = store && page_load(&page, arena, store, path, err) && make(options, &page, &text, err);
    if (ok && strcmp(output, "-") == 0)
        fwrite(str_text(&text), 1, text.len, stdout);
    else if (ok)
        ok = file_write(output, str_text(&text), text.len, err);
    if (ok && strcmp(output, "-") != 0 && options->verbosity >= 0)
        printf("%s\n", output);
    str_finish(&text);
    store_close(store);
    arena_destroy(arena);
    return ok;
}
