/* Owns the database file: opening, migrating, and runs. */
#include "store/db.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool execute(struct store *store, const char *sql, const char *doing, struct err *err)
{
    store->ticks = 0;
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return db_fail(store, doing, err);
    }
    return true;
}

/* A PRAGMA or SELECT of one whole number; the text is a constant of this file. */
static bool read_number(struct store *store, const char *sql, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    bool ok = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK &&
              sqlite3_step(stmt) == SQLITE_ROW;

    *value = ok ? sqlite3_column_int64(stmt, 0) : 0;
    if (!ok) {
        db_fail(store, "opening", err);
    }
    sqlite3_finalize(stmt);
    return ok;
}

/* Brings any version to this one, in one transaction. Two processes that open a new file at once
 * both end up with a whole schema, because the second process finds the schema made once it has the
 * lock. */
static bool make_schema(struct store *store, struct err *err)
{
    static const char *const doing = "making the tables";
    char marks[96];
    int64_t version = 0;
    bool ok;

    snprintf(marks, sizeof(marks), "PRAGMA application_id = %d; PRAGMA user_version = %d",
        DB_APPLICATION_ID, SCHEMA_VERSION);
    if (!execute(store, sql_text[SQL_BEGIN], doing, err)) {
        return false;
    }
    ok = read_number(store, "PRAGMA user_version", &version, err);
    for (int64_t v = version; ok && v < SCHEMA_VERSION; v++) {
        ok = execute(store, schema_changes[v], doing, err);
    }
    if (ok && execute(store, marks, doing, err) &&
        execute(store, sql_text[SQL_COMMIT], doing, err)) {
        return true;
    }
    sqlite3_exec(store->db, sql_text[SQL_ROLLBACK], NULL, NULL, NULL);
    return false;
}

static bool migrate(struct store *store, struct err *err)
{
    int64_t version, nr_tables, application;

    if (!read_number(store, "PRAGMA user_version", &version, err) ||
        !read_number(store, "PRAGMA application_id", &application, err) ||
        !read_number(store, "SELECT count(*) FROM sqlite_schema", &nr_tables, err)) {
        return false;
    }
    if (application != DB_APPLICATION_ID && nr_tables > 0) {
        return err_set(err,
            "%s: this is an SQLite file of another program; name another file with --db",
            store->path);
    }
    if (version < 0 || version > SCHEMA_VERSION) {
        return err_set(err,
            "%s: written by a newer keet-opt (schema %" PRId64 ", this one knows %d); use that "
            "version, or another file with --db",
            store->path, version, SCHEMA_VERSION);
    }
    return db_same_schema(store, version, err) &&
           (version == SCHEMA_VERSION || make_schema(store, err));
}

static void file_identity(const char *path, uint64_t identity[2])
{
    struct stat is;

    identity[0] = identity[1] = 0;
    if (stat(path, &is) == 0) {
        identity[0] = is.st_dev;
        identity[1] = is.st_ino;
    }
}

bool db_still_there(const struct store *store, struct err *err)
{
    uint64_t now[2];

    file_identity(store->path, now);
    return (now[0] == store->file[0] && now[1] == store->file[1]) ||
           err_set(err,
               "%s: somebody deleted or replaced the database while it was in use: what is stored "
               "from now on would be lost",
               store->path);
}

struct store *store_open(const char *path, struct err *err)
{
    struct store *store = xcalloc(1, sizeof(*store));
    int code;

    store->path = xstrdup(path);
    code = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK && sqlite3_db_readonly(store->db, "main") == 1) {
        err_set(err, "%s: opening: %s", path,
            "it cannot be written; make the file and its folder writable, or use another --db");
    } else if (code != SQLITE_OK) {
        db_fail(store, "opening", err);
    } else if (!db_harden(store->db)) {
        err_set(
            err, "%s: opening: this SQLite has no defensive mode; it needs 3.31 or newer", path);
    } else {
        db_limit_work(store);
        sqlite3_busy_timeout(store->db, DB_BUSY_MS);
        /* migrate looks at the file before the journal mode is set, because another program's file
         * must not be changed. NORMAL is safe when the process is killed: only a power cut may lose
         * the last rows.
         */
        if (migrate(store, err) &&
            execute(store,
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON",
                "opening", err)) {
            file_identity(path, store->file);
            return store;
        }
    }
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    for (size_t i = 0; i < NR_SQL; i++) {
        sqlite3_finalize(store->statements[i]);
    }
    sqlite3_close(store->db);
    free(store->path);
    free(store);
}

void store_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-lock"};

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        char file[PATH_MAX];

        if (snprintf(file, sizeof(file), "%s%s", path, suffixes[i]) < (int)sizeof(file))
            unlink(file);
    }
}

bool db_has_run(const struct store *store, struct err *err)
{
    return store->run != 0 ||
           err_set(err, "%s: no run was begun or found in it; start one first", store->path);
}

bool store_begin_run(struct store *store, struct run_info *run, struct err *err)
{
    char now[32];
    struct query q = query_start(store, SQL_ADD_RUN);

    clock_utc(now);
    put_text(&q, run->kernel_path);
    put_text(&q, run->original);
    put_text(&q, run->device);
    put_text(&q, run->policy);
    put_text(&q, run->version);
    put_int(&q, (int64_t)run->seed);
    put_text(&q, run->budget);
    put_text(&q, now);
    put_text(&q, run->models ? run->models : "");
    if (!query_run(&q, "beginning a run", err)) {
        return false;
    }
    run->id = store->run = sqlite3_last_insert_rowid(store->db);
    run->done = false;
    return true;
}

static void read_run(struct query *q, struct arena *arena, struct run_info *run)
{
    run->id = get_int(q);
    run->kernel_path = get_text(q, arena);
    run->original = get_text(q, arena);
    run->device = get_text(q, arena);
    run->policy = get_text(q, arena);
    run->version = get_text(q, arena);
    run->seed = (uint64_t)get_int(q);
    run->budget = get_text(q, arena);
    run->started = get_text(q, arena);
    run->done = get_int(q) != 0;
    run->models = get_text(q, arena);
    run->ended = get_text(q, arena);
    run->why_stopped = get_text(q, arena);
}

static bool find_run(struct store *store, struct arena *arena, int64_t number, struct run_info *run,
    bool *found, struct err *err)
{
    struct query q = query_start(store, SQL_FIND_RUN);

    put_int(&q, number);
    if (!query_next(&q, found, "looking for a run", err)) {
        return false;
    }
    if (*found) {
        read_run(&q, arena, run);
        store->run = run->id;
        query_end(&q);
    }
    return db_sound(store, err);
}

bool store_find_run(
    struct store *store, struct arena *arena, struct run_info *run, bool *found, struct err *err)
{
    return find_run(store, arena, 0, run, found, err);
}

bool store_take_run(
    struct store *store, struct arena *arena, int64_t number, struct run_info *run, struct err *err)
{
    bool found;

    if (!find_run(store, arena, number, run, &found, err)) {
        return false;
    }
    if (!found && number > 0) {
        return err_set(err, "%s: there is no run %" PRId64 "; `keet-opt runs %s` lists its runs",
            store->path, number, store->path);
    }
    return found || err_set(err, "%s: it holds no run", store->path);
}

static bool list_infos(struct store *store, struct arena *arena, struct store_run **runs,
    unsigned *nr, struct err *err)
{
    struct query q = query_start(store, SQL_LIST_RUNS);
    struct store_run *list = NULL;
    size_t cap = 0;
    bool ok, row;

    *nr = 0;
    while ((ok = query_next(&q, &row, "listing runs", err)) && row) {
        list = grow(list, &cap, *nr + 1, sizeof(*list));
        list[*nr] = (struct store_run){.digest.best = -1};
        read_run(&q, arena, &list[(*nr)++].info);
    }
    *runs = arena_array(arena, *nr + 1u, sizeof(**runs));
    if (*nr > 0) {
        memcpy(*runs, list, *nr * sizeof(*list));
    }
    free(list);
    return ok;
}

bool store_list_runs(struct store *store, struct arena *arena, struct store_run **runs,
    unsigned *nr, struct err *err)
{
    const int64_t current = store->run;
    bool ok = list_infos(store, arena, runs, nr, err);

    for (unsigned i = 0; ok && i < *nr; i++) {
        store->run = (*runs)[i].info.id;
        ok = store_digest(store, &(*runs)[i].digest, err);
    }
    store->run = current;
    return ok;
}

bool store_has_source(
    struct store *store, const char *source, size_t bytes, bool *has, struct err *err)
{
    struct query q = query_start(store, SQL_HAS_SOURCE);
    bool row;

    put_hash(&q, db_source_hash(source, bytes));
    if (!query_next(&q, &row, "looking for a source", err)) {
        return false;
    }
    *has = row && get_int(&q) > 0;
    query_end(&q);
    return true;
}

bool store_find_equal_run(
    struct store *store, const struct run_info *wanted, bool *found, struct err *err)
{
    struct query q = query_start(store, SQL_FIND_EQUAL_RUN);

    put_text(&q, wanted->original);
    put_text(&q, wanted->device);
    put_text(&q, wanted->policy);
    put_text(&q, wanted->version);
    if (!query_next(&q, found, "looking for an equal run", err)) {
        return false;
    }
    if (*found) {
        store->run = get_int(&q);
        query_end(&q);
    }
    return true;
}

/* Whatever was under way is not any more. */
static bool end_trials(struct store *store, struct err *err)
{
    struct query q = query_start(store, SQL_END_TRIALS);

    put_int(&q, store->run);
    return query_run(&q, "forgetting what was under way", err);
}

bool store_go_on(struct store *store, const char *models, const char *budget, struct err *err)
{
    struct query q = query_start(store, SQL_GO_ON);

    put_text(&q, models);
    put_text(&q, budget);
    put_int(&q, store->run);
    return query_run(&q, "going on with a run", err) && end_trials(store, err);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool store_same_run(const struct run_info *stored, const struct run_info *wanted, struct err *err)
{
    if (!same_text(stored->original, wanted->original)) {
        return err_set(err,
            "the kernel file has changed since the run of %s began; resume with the file as it "
            "was, or start anew with another --db",
            stored->kernel_path);
    }
    if (stored->seed != wanted->seed) {
        return err_set(err, "the run was begun with --seed %" PRIu64 ", not %" PRIu64, stored->seed,
            wanted->seed);
    }
    const struct {
        const char *what, *stored, *wanted;
    } fields[] = {
        {"--device", stored->device, wanted->device},
        {"--policy", stored->policy, wanted->policy},
        {"version", stored->version, wanted->version},
    };

    for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
        if (!same_text(fields[i].stored, fields[i].wanted)) {
            return err_set(err, "the run was begun with %s %s, not %s; resume it with that one",
                fields[i].what, fields[i].stored, fields[i].wanted);
        }
    }
    return true;
}

bool store_end_run(struct store *store, const char *why_stopped, int64_t best, struct err *err)
{
    char now[32];

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_END_RUN);

    clock_utc(now);
    put_text(&q, why_stopped);
    put_text(&q, now);
    put_int(&q, best);
    put_int(&q, store->run);
    return query_run(&q, "ending the run", err) && end_trials(store, err) &&
           db_still_there(store, err);
}

bool store_nr_nodes(struct store *store, int64_t *nr, struct err *err)
{
    bool row;

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_NR_NODES);

    put_int(&q, store->run);
    if (!query_next(&q, &row, "counting nodes", err)) {
        return false;
    }
    *nr = get_int(&q);
    query_end(&q);
    return true;
}

bool store_tree_hash(struct store *store, char hex[33], struct err *err)
{
    struct str text = {0};
    bool row;

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_TREE);

    put_int(&q, store->run);
    for (;;) {
        if (!query_next(&q, &row, "reading the tree", err)) {
            str_finish(&text);
            return false;
        }
        if (!row) {
            break;
        }
        /* Every column enters the hash as SQLite holds the column, except that a real enters by its
         * bits: printed decimals could hide a difference. */
        for (int i = 0; i < sqlite3_column_count(q.stmt); i++) {
            if (sqlite3_column_type(q.stmt, i) == SQLITE_FLOAT) {
                double value = sqlite3_column_double(q.stmt, i);
                uint64_t bits;

                memcpy(&bits, &value, sizeof(bits));
                str_addf(&text, "%016" PRIx64 " ", bits);
            } else {
                const char *column = (const char *)sqlite3_column_text(q.stmt, i);

                str_addf(&text, "%s ", column ? column : "-");
            }
        }
        str_add_char(&text, '\n');
    }
    hash_hex(hash_bytes(str_text(&text), text.len, 0), hex);
    str_finish(&text);
    return true;
}
