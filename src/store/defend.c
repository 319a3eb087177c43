/* Owns what a database must be before rows are read: SQLite's own defences, a limit on the work of
 * one statement, and a schema that is exactly ours. A database may come from a stranger. */
#include "store/db.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A statement of ours on a database of 10,000 nodes takes some 10^6 steps of SQLite's machine. */
enum { STEPS_A_TICK = 100000, MOST_TICKS = 100000 };
/* A source, a prompt or a log is far smaller. */
enum { MOST_VALUE_BYTES = 256 << 20 };

static int on_tick(void *data)
{
    struct store *store = data;

    return ++store->ticks > MOST_TICKS;
}

bool db_harden(sqlite3 *db)
{
    static const struct {
        int option, value;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0}, {SQLITE_DBCONFIG_DQS_DML, 0}};
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof(settings) / sizeof(settings[0]); i++)
        ok = sqlite3_db_config(db, settings[i].option, settings[i].value, NULL) == SQLITE_OK;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    return ok;
}

void db_limit_work(struct store *store)
{
    sqlite3_progress_handler(store->db, STEPS_A_TICK, on_tick, store);
}

/* All objects of a schema as one text, in order of names. SQLite's own (sqlite_stat1, automatic
 * indexes) are left out. False: the schema cannot be read. */
static bool schema_text(sqlite3 *db, struct str *text)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db,
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%'"
        " ESCAPE '!' ORDER BY type, name",
        -1, &stmt, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int i = 0; i < 4; i++) {
            const char *column = (const char *)sqlite3_column_text(stmt, i);

            str_add(text, column ? column : "");
            str_add_char(text, i < 3 ? ' ' : '\n');
        }
        code = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return code == SQLITE_DONE;
}

bool db_same_schema(struct store *store, int64_t version, struct err *err)
{
    struct str ours = {0}, theirs = {0};
    sqlite3 *model = NULL;
    bool ok = sqlite3_open(":memory:", &model) == SQLITE_OK;

    for (int64_t v = 0; ok && v < version; v++)
        ok = sqlite3_exec(model, schema_changes[v], NULL, NULL, NULL) == SQLITE_OK;
    if (!ok || !schema_text(model, &ours))
        ok = err_set(err, "SQLite cannot make the tables of a database in memory (%s)",
            sqlite3_errmsg(model));
    else if (!schema_text(store->db, &theirs))
        ok = db_fail(store, "opening", err);
    else if (strcmp(str_text(&ours), str_text(&theirs)) != 0)
        ok = err_set(err,
            "%s: its tables, views or triggers are not those that keet-opt makes, so it is not "
            "read; name another file with --db",
            store->path);
    sqlite3_close(model);
    str_finish(&ours);
    str_finish(&theirs);
    return ok;
}

void db_odd(struct store *store, const char *what)
{
    if (!store->odd)
        store->odd = what;
}

bool db_sound(const struct store *store, struct err *err)
{
    return !store->odd ||
           err_set(err, "%s: it holds %s, which keet-opt does not write: the database is damaged",
               store->path, store->odd);
}
