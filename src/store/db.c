/* Owns the ways to talk to SQLite: preparing once, binding and reading in order, and errors that
 * name the file and what to do. */
#include "store/db.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const size_t line_cost_fields[] = {
    offsetof(struct line_cost, warp_inst),
    offsetof(struct line_cost, thread_inst),
    offsetof(struct line_cost, global_requests),
    offsetof(struct line_cost, global_sectors),
    offsetof(struct line_cost, global_sectors_ideal),
    offsetof(struct line_cost, global_bytes),
    offsetof(struct line_cost, shared_requests),
    offsetof(struct line_cost, shared_wavefronts),
    offsetof(struct line_cost, shared_wavefronts_ideal),
    offsetof(struct line_cost, local_requests),
    offsetof(struct line_cost, atomics),
    offsetof(struct line_cost, barriers),
    offsetof(struct line_cost, branches),
    offsetof(struct line_cost, branches_divergent),
    offsetof(struct line_cost, fp64_inst),
    offsetof(struct line_cost, special_inst),
    offsetof(struct line_cost, integer_inst),
    offsetof(struct line_cost, conversion_inst),
    offsetof(struct line_cost, stall_cycles),
    offsetof(struct line_cost, stalls[WAIT_LONG]),
    offsetof(struct line_cost, stalls[WAIT_SHORT]),
    offsetof(struct line_cost, stalls[WAIT_BARRIER]),
    offsetof(struct line_cost, stalls[WAIT_FIXED]),
    offsetof(struct line_cost, stalls[WAIT_MIO]),
    offsetof(struct line_cost, stalls[WAIT_MATH]),
    offsetof(struct line_cost, stalls[WAIT_OTHER]),
};
const size_t nr_line_cost_fields = sizeof(line_cost_fields) / sizeof(line_cost_fields[0]);

static const char *advice(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return "this is not a keet-opt database; name another file with --db";
    case SQLITE_CORRUPT:
        return "the database is damaged; restore it from a copy, or start anew with another --db";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another process has locked it; wait until that one ends, or use another --db";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "it cannot be written; make the file and its folder writable, or use another --db";
    case SQLITE_CANTOPEN:
        return "it cannot be opened; check that its folder exists and is writable, or use another "
               "--db";
    case SQLITE_FULL:
        return "the disk is full; free some space and go on with --resume";
    case SQLITE_IOERR:
        return "reading or writing it failed; check the disk and go on with --resume";
    case SQLITE_INTERRUPT:
        return "reading it takes too long: the database is damaged, or far too large";
    case SQLITE_TOOBIG:
        return "a text is larger than SQLite can store";
    case SQLITE_CONSTRAINT:
        return "what is to be stored contradicts what is there; another process may be writing to "
               "the same run";
    default:
        return "unexpected; go on with --resume, or use another --db";
    }
}

bool db_fail(struct store *store, const char *doing, struct err *err)
{
    int code = sqlite3_extended_errcode(store->db);

    return err_set(
        err, "%s: %s: %s (%s)", store->path, doing, advice(code), sqlite3_errmsg(store->db));
}

struct query query_start(struct store *store, enum sql sql)
{
    sqlite3_stmt **stmt = &store->statements[sql];

    store->ticks = 0;
    if (!*stmt) {
        sqlite3_prepare_v3(store->db, sql_text[sql], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    } else {
        sqlite3_reset(*stmt);
        sqlite3_clear_bindings(*stmt);
    }
    return (struct query){.store = store, .stmt = *stmt};
}

static void bound(struct query *q, int code)
{
    q->bad = q->bad || code != SQLITE_OK;
}

void put_int(struct query *q, int64_t value)
{
    bound(q, sqlite3_bind_int64(q->stmt, ++q->at, value));
}

void put_real(struct query *q, double value)
{
    put_error(q, isfinite(value) ? value : (double)NAN);
}

void put_error(struct query *q, double value)
{
    bound(q, sqlite3_bind_double(q->stmt, ++q->at, value));
}

void put_text_n(struct query *q, const char *text, size_t len)
{
    bound(q, sqlite3_bind_text64(q->stmt, ++q->at, text, len, SQLITE_STATIC, SQLITE_UTF8));
}

void put_text(struct query *q, const char *text)
{
    put_text_n(q, text, text ? strlen(text) : 0);
}

void put_null(struct query *q)
{
    bound(q, sqlite3_bind_null(q->stmt, ++q->at));
}

void put_hash(struct query *q, struct hash hash)
{
    char hex[HASH_HEX_BYTES];

    if (hash.high == 0 && hash.low == 0) {
        put_null(q);
        return;
    }
    hash_hex(hash, hex);
    bound(q, sqlite3_bind_text(q->stmt, ++q->at, hex, -1, SQLITE_TRANSIENT));
}

bool query_next(struct query *q, bool *row, const char *doing, struct err *err)
{
    int code = q->stmt && !q->bad ? sqlite3_step(q->stmt) : SQLITE_ERROR;

    if (!db_sound(q->store, err)) {
        query_end(q);
        return false;
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        db_fail(q->store, doing, err);
        query_end(q);
        return false;
    }
    *row = code == SQLITE_ROW;
    q->at = 0;
    if (!*row) {
        query_end(q);
    }
    return true;
}

bool query_run(struct query *q, const char *doing, struct err *err)
{
    bool row;

    if (!query_next(q, &row, doing, err)) {
        return false;
    }
    query_end(q);
    return true;
}

void query_end(struct query *q)
{
    if (q->stmt) {
        sqlite3_reset(q->stmt);
    }
}

int64_t get_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->at++);
}

int64_t get_within(struct query *q, int64_t low, int64_t high)
{
    const int64_t value = get_int(q);

    if (value >= low && value <= high) {
        return value;
    }
    db_odd(q->store, "a number out of its range");
    return 0;
}

unsigned get_unsigned(struct query *q)
{
    return (unsigned)get_within(q, 0, UINT32_MAX);
}

int64_t get_parent(struct query *q, int64_t node)
{
    if (sqlite3_column_type(q->stmt, q->at) == SQLITE_NULL) {
        q->at++;
        return -1;
    }
    return get_within(q, 0, node - 1);
}

double get_real(struct query *q)
{
    const double value = get_error(q);

    if (!isinf(value)) {
        return value;
    }
    db_odd(q->store, "an infinite number");
    return (double)NAN;
}

double get_error(struct query *q)
{
    int column = q->at++;

    if (sqlite3_column_type(q->stmt, column) == SQLITE_NULL) {
        return (double)NAN;
    }
    return sqlite3_column_double(q->stmt, column);
}

const char *get_text(struct query *q, struct arena *arena)
{
    int column = q->at++;
    const char *text = (const char *)sqlite3_column_text(q->stmt, column);

    if (!text) {
        return NULL;
    }
    return arena_strndup(arena, text, (size_t)sqlite3_column_bytes(q->stmt, column));
}

struct hash get_hash(struct query *q)
{
    const char *text = (const char *)sqlite3_column_text(q->stmt, q->at++);
    unsigned long long high = 0, low = 0;

    if (text) {
        sscanf(text, "%16llx%16llx", &high, &low);
    }
    return (struct hash){high, low};
}
