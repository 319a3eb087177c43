/* Owns the hammering of databases with valid pages: bytes choose cells and values, SQLite writes
 * them, and whatever reads a run reads it all. Each reading ends with rows or with a sentence, and
 * what it gives is within its bounds.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_database -max_len=256 build/corpus tests/fuzz/seeds/database */
#include "base/mem.h"
#include "store/store.h"

#include "hammer.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two nodes with all their parts. */
static const char rows[] =
    "INSERT INTO run (kernel_path, original, device, policy, version, seed, budget, started)"
    " VALUES ('k.cu', 'text', 'emu:h100', 'mcts', '1', 1, '50', 'now');"
    "INSERT INTO source VALUES ('00000000000000010000000000000002', 'a\nb\n');"
    "INSERT INTO node (run, number, parent, seed, action, proposer, variant, prior, what, source,"
    " verdict, verdict_line, speedup, stored) VALUES"
    " (1, 0, NULL, 1, 'none', 'none', 0, 1, NULL, '00000000000000010000000000000002', 'ok', 0, 1, "
    "'t'),"
    " (1, 1, 0, 2, 'unroll', 'rewriter', 3, 0.5, 'w', '00000000000000010000000000000002', 'ok', 0, "
    "2,"
    " 't');"
    "INSERT INTO compilation (node, key, ptx_bytes, cubin_bytes, cached) VALUES"
    " (1, '00000000000000010000000000000003', 9, 9, 0), (2, '00000000000000010000000000000004', 9, "
    "9, 1);"
    "INSERT INTO kernel VALUES (1, 0, 'f', '_f', 32, 0, 0, 0, 0, 0, 0), (2, 0, 'f', '_f', 32, 0, "
    "0, 0,"
    " 0, 0, 0);"
    "INSERT INTO check_result VALUES (1, 9, 3, 0, 0, 0, 'C', 0, 0, NULL, NULL),"
    " (2, 9, 3, 0, 0, 0, 'C', 0, 0, 'n', 1);"
    "INSERT INTO revision VALUES (1, 1, 1, 1, 2);"
    "INSERT INTO measurement (node, nr_launches, longest, time_ns, time_low_ns, time_high_ns,"
    " time_from) VALUES (1, 1, 0, 10, 9, 11, 'modelled'), (2, 2, 1, 5, 4, 6, 'modelled');"
    "INSERT INTO launch VALUES (1, 0, 'f', 1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 1, 1),"
    " (2, 0, 'f', 1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 1, 1), (2, 1, 'f', 1, 1, 1, 32, 1, 1, 1, 1, 1, 0, "
    "1,"
    " 1), (2, -1, NULL, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 2);"
    "INSERT INTO counter VALUES (2, -1, 'launch__grid_size', 1, 'counted', NULL, NULL, NULL, NULL),"
    " (2, 1, 'keet__time_without_tail.sum', 1, 'modelled', "
    "'dram__throughput.avg.pct_of_peak_sustained_elapsed',"
    " 80, NULL, 0);"
    "INSERT INTO line_cost (node, launch, line, access_bytes) VALUES (2, -1, 1, 4), (2, 1, 2, 8);"
    "INSERT INTO timing VALUES (2, 9, 0, 1, 1, 2, 1.9, 2.1, 0, 1, 1, 1, 1, 30, 31, 0, NULL);"
    "INSERT INTO explanation VALUES (2, 'memory', 1, 1, 1, 's', 'u');"
    "INSERT INTO finding VALUES (2, 0, 't', 1, 1, 'text', 0.5, 2), (2, 1, 't', 2, 1, 'text', 0.5, "
    "2);"
    "INSERT INTO evidence VALUES (2, 1, 0, 'launch__grid_size', 1, 'counted');"
    "INSERT INTO weight VALUES (2, 0, 0, 'unroll', 3), (2, 1, 0, 'unroll', 3);"
    "INSERT INTO option VALUES (1, 0, 'unroll', 'rewriter', 3, 0.5, 'w'), (1, 1, 'tune', 'tuner', "
    "0,"
    " 0.5, 'w');"
    "INSERT INTO pick (run, number, nr_told) VALUES (1, 1, 0), (1, 2, 1);"
    "INSERT INTO model_call (run, node, model, prompt, called, number, seq) VALUES"
    " (1, 2, 'm', 'p', 'now', 1, 0);"
    "INSERT INTO lesson (run, action, device, text, learned) VALUES (1, 'unroll', 'd', 't', "
    "'now');";

/* A value is one of these, or a piece of the bytes as text or as a blob. */
static const char *const values[] = {"NULL", "0", "1", "-1", "2", "77", "4294967295", "4294967296",
    "2147483647", "-2147483648", "4000000000", "9223372036854775807", "-9223372036854775808", "0.5",
    "-0.0", "1e308", "-1e308", "9e999", "-9e999", "5e-324", "'ok'", "'none'", "'unroll'",
    "'rewriter'", "'modelled'", "'memory'", "'fault'", "''", "'x'", "zeroblob(9)",
    "zeroblob(70000)", "x'ff00fe'", "CAST(x'c328' AS TEXT)", "'1e400'", "' 7'"};

/* Where a table has no such column, nothing is changed. */
static const char *const which[] = {"", " WHERE node = 2", " WHERE number = 1", " WHERE id = 2"};

static char path[64];
static char *whole; /* the file before anything is changed */
static size_t whole_bytes;

struct column {
    char table[40], name[40];
};
static struct column *columns;
static size_t nr_columns;

static int take_column(void *unused, int nr, char **row, char **names)
{
    static size_t cap;

    (void)unused;
    (void)nr;
    (void)names;
    columns = grow(columns, &cap, nr_columns + 1, sizeof(*columns));
    snprintf(columns[nr_columns].table, sizeof(columns->table), "%s", row[0]);
    snprintf(columns[nr_columns++].name, sizeof(columns->name), "%s", row[1]);
    return 0;
}

static void remove_all(void)
{
    store_remove(path);
}

static void prepare(void)
{
    struct err err;
    struct store *store;
    sqlite3 *db;
    FILE *file;

    snprintf(path, sizeof(path), "/tmp/keet-fuzz-database-%d.db", (int)getpid());
    remove_all();
    atexit(remove_all);
    store = store_open(path, &err);
    assert(store);
    store_close(store);
    assert(sqlite3_open(path, &db) == SQLITE_OK);
    assert(sqlite3_exec(db, rows, NULL, NULL, NULL) == SQLITE_OK);
    assert(sqlite3_exec(db,
               "SELECT m.name, p.name FROM sqlite_schema m, pragma_table_info(m.name) p"
               " WHERE m.type = 'table' ORDER BY 1, 2",
               take_column, NULL, NULL) == SQLITE_OK);
    assert(nr_columns > 100);
    assert(sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    file = fopen(path, "rb");
    assert(file);
    fseek(file, 0, SEEK_END);
    whole_bytes = (size_t)ftell(file);
    rewind(file);
    whole = malloc(whole_bytes);
    assert(whole && fread(whole, 1, whole_bytes, file) == whole_bytes);
    fclose(file);
}

/* Each three bytes: a column, a value, and which rows. */
static void change(const uint8_t *bytes, size_t len)
{
    FILE *file;
    sqlite3 *db;

    remove_all();
    file = fopen(path, "wb");
    assert(file && fwrite(whole, 1, whole_bytes, file) == whole_bytes);
    fclose(file);
    assert(sqlite3_open(path, &db) == SQLITE_OK);
    sqlite3_exec(db, "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; BEGIN", NULL,
        NULL, NULL);
    for (size_t i = 0; i + 3 <= len && i < 60; i += 3) {
        const struct column *column = &columns[(bytes[i] + 256u * (bytes[i + 2] & 1)) % nr_columns];
        char sql[256];

        snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s%s", column->table, column->name,
            values[bytes[i + 1] % ARRAY_SIZE(values)], which[bytes[i + 2] >> 1 & 3]);
        if ((bytes[i + 2] & 0xf8) == 0xf8)
            snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE rowid = 1", column->table);
        sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

static void check_node(const struct candidate *c)
{
    assert(c->parent >= -1 && c->parent < c->node);
    assert(!isinf(c->speedup) && !isinf(c->profile.time_ns));
    assert(c->profile.nr_launches <= 1024);
    assert(c->profile.nr_launches == 0 || c->profile.longest < c->profile.nr_launches);
    for (unsigned i = 0; i < c->explanation.nr_findings; i++) {
        const struct finding *f = &c->explanation.findings[i];

        assert(f->severity >= SEVERITY_INFO && f->severity <= SEVERITY_CRITICAL);
        assert(f->nr_evidence <= FINDING_MAX_EVIDENCE && f->nr_weights <= FINDING_MAX_WEIGHTS);
        assert(memchr(f->text, '\0', sizeof(f->text)));
    }
    for (unsigned i = 0; i < c->nr_options; i++)
        assert(c->options[i].action != ACTION_NONE && (unsigned)c->options[i].action < NR_ACTIONS);
}

static void read_nodes(struct store *store, struct arena *arena)
{
    struct err err;

    for (int64_t n = -1; n < 3; n++) {
        struct candidate c = {.arena = arena};
        const char *source;
        size_t bytes;
        bool found;

        err.text[0] = '\0';
        if (!store_load_node(store, n, &c, &found, &err))
            assert(err.text[0]);
        else if (found)
            check_node(&c);
        store_load_source(store, arena, n, &source, &bytes, &err);
    }
}

static void read_all(void)
{
    struct arena *arena = arena_create();
    struct err err = {0};
    struct store *store = store_open(path, &err);
    struct run_info run;
    struct store_order order;
    struct store_digest digest;
    struct store_speed *speeds;
    struct store_call *calls;
    struct store_run *runs;
    struct lesson *lessons;
    struct candidate *children;
    bool found = false;
    unsigned nr;
    char hex[33];

    if (!store) {
        assert(err.text[0]);
        arena_destroy(arena);
        return;
    }
    /* The second time after something odd was seen: all say so. */
    for (int again = 0; again < 2; again++) {
        if (!store_find_run(store, arena, &run, &found, &err) || !found)
            break;
        if (store_load_order(store, arena, &order, &err))
            assert(order.nr_asked >= 0 && order.nr_asked < 5000);
        store_digest(store, &digest, &err);
        if (store_list_speeds(store, arena, &speeds, &nr, &err))
            for (unsigned i = 0; i < nr; i++)
                assert(speeds[i].number >= 0 && speeds[i].parent < speeds[i].number &&
                       !isinf(speeds[i].speedup));
        store_list_calls(store, arena, &calls, &nr, &err);
        store_list_runs(store, arena, &runs, &nr, &err);
        store_list_lessons(store, arena, false, &lessons, &nr, &err);
        store_list_children(store, arena, 0, &children, &nr, &err);
        store_tree_hash(store, hex, &err);
        read_nodes(store, arena);
    }
    store_close(store);
    arena_destroy(arena);
}

static void read_once(const uint8_t *bytes, size_t len)
{
    if (!whole)
        prepare();
    change(bytes, len);
    read_all();
}

const struct fuzzer fuzzer = {.once = read_once, .marks = "\x01\x04\xf8\xfc\x11\x20\x40\x80"};
