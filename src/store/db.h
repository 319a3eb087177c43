/* Private to store/: the connection, its prepared statements, and short functions that bind and
 * read in order. All SQL text is in schema.c; no value is ever pasted into SQL text. */
#ifndef KEET_STORE_DB_H
#define KEET_STORE_DB_H

#include "store/store.h"

#include <sqlite3.h>

enum { SCHEMA_VERSION = 11 };
enum { DB_BUSY_MS = 5000 };
enum { DB_APPLICATION_ID = 0x6b656574 }; /* "keet" */

/* One per prepared statement; text in schema.c. */
enum sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_ADD_RUN,
    SQL_FIND_RUN,
    SQL_LIST_RUNS,
    SQL_FIND_EQUAL_RUN,
    SQL_GO_ON,
    SQL_END_RUN,
    SQL_ADD_SOURCE,
    SQL_ADD_NODE,
    SQL_ADD_COMPILATION,
    SQL_ADD_KERNEL,
    SQL_ADD_CHECK,
    SQL_ADD_MEASUREMENT,
    SQL_ADD_TIMING,
    SQL_ADD_LAUNCH,
    SQL_ADD_COUNTER,
    SQL_ADD_LINE,
    SQL_ADD_EXPLANATION,
    SQL_ADD_FINDING,
    SQL_ADD_EVIDENCE,
    SQL_ADD_WEIGHT,
    SQL_ADD_OPTION,
    SQL_GET_NODE,
    SQL_GET_MOVE,
    SQL_GET_COMPILATION,
    SQL_GET_KERNELS,
    SQL_GET_CHECK,
    SQL_GET_MEASUREMENT,
    SQL_GET_TIMING,
    SQL_GET_LAUNCHES,
    SQL_GET_COUNTERS,
    SQL_GET_ENERGY,
    SQL_GET_LINES,
    SQL_GET_EXPLANATION,
    SQL_GET_FINDINGS,
    SQL_GET_EVIDENCE,
    SQL_GET_WEIGHTS,
    SQL_GET_OPTIONS,
    SQL_NR_NODES,
    SQL_NODE_BY_KEY,
    SQL_REFUSAL_BY_SOURCE,
    SQL_HAS_SOURCE,
    SQL_SOURCE_OF_NODE,
    SQL_TREE,
    SQL_ADD_CALL,
    SQL_GET_CALLS,
    SQL_LIST_CALLS,
    SQL_ADD_PICK,
    SQL_GET_PICKS,
    SQL_GET_TOLD,
    SQL_FIND_NODE,
    SQL_REVISE_NODE,
    SQL_FORGET_WEIGHTS, /* children before what they refer to */
    SQL_FORGET_EVIDENCE,
    SQL_FORGET_FINDINGS,
    SQL_FORGET_EXPLANATION,
    SQL_FORGET_LINES,
    SQL_FORGET_COUNTERS,
    SQL_FORGET_LAUNCHES,
    SQL_FORGET_TIMING,
    SQL_FORGET_MEASUREMENT,
    SQL_FORGET_CHECK, /* the last of these */
    SQL_ADD_REVISION,
    SQL_GET_REVISIONS,
    SQL_ADD_TRIAL,
    SQL_END_TRIAL,
    SQL_END_TRIALS,
    SQL_LIST_TRIALS,
    SQL_ADD_LESSON,
    SQL_GET_LESSONS,
    SQL_ADD_EXPERIENCE,
    SQL_GET_EXPERIENCES,
    SQL_GET_TRIED,
    SQL_DIGEST_VERDICTS,
    SQL_DIGEST_BEST,
    SQL_DIGEST_CALLS,
    SQL_DIGEST_FILL,
    SQL_LIST_SPEEDS,
    NR_SQL
};

extern const char *const sql_text[NR_SQL];
/* What brings a database from version v to v + 1: several statements each. */
extern const char *const schema_changes[SCHEMA_VERSION];

struct store {
    sqlite3 *db;
    char *path;
    uint64_t file[2]; /* device and inode, to see that the file is still there */
    int64_t run;      /* 0: none begun or found yet */
    const char *odd;  /* the first thing read that keet-opt does not write; NULL: none */
    unsigned ticks;   /* of the statement that runs: see db_limit_work */
    sqlite3_stmt *statements[NR_SQL];
};

/* --- defences: a database may come from a stranger (defend.c) --- */

/* Defensive mode; no triggers, no views, no trust in the schema's functions. For any database. */
bool db_harden(sqlite3 *db);
/* A statement that goes on for minutes fails. */
void db_limit_work(struct store *store);
/* Is the schema that of this version, object for object? An error says that it is not. */
bool db_same_schema(struct store *store, int64_t version, struct err *err);
/* Note a value that keet-opt does not write: "an infinite number". From then on nothing more is
 * read: query_next fails, and so does db_sound, which whoever read a row last must ask. */
void db_odd(struct store *store, const char *what);
bool db_sound(const struct store *store, struct err *err);
/* Is the file that was opened still the file of that name? */
bool db_still_there(const struct store *store, struct err *err);

/* Turn SQLite's last error into a sentence that names the file and what to do; returns false. */
bool db_fail(struct store *store, const char *doing, struct err *err);

/* A statement about to run. Parameters are bound in order; columns are read in order. */
struct query {
    struct store *store;
    sqlite3_stmt *stmt; /* NULL: could not be prepared */
    int at;             /* last parameter bound, or next column to read */
    bool bad;           /* a bind failed */
};

struct query query_start(struct store *store, enum sql sql);
void put_int(struct query *q, int64_t value);
/* NaN and infinities are stored as NULL, and read back as NaN. */
void put_real(struct query *q, double value);
void put_error(struct query *q, double value);    /* of a check: may be infinite */
void put_text(struct query *q, const char *text); /* NULL is NULL */
void put_text_n(struct query *q, const char *text, size_t len);
void put_null(struct query *q);
void put_hash(struct query *q, struct hash hash); /* all zero is NULL */
/* Run a statement that returns no rows to its end. */
bool query_run(struct query *q, const char *doing, struct err *err);
/* Step to the next row and to its first column. *row is false after the last row. */
bool query_next(struct query *q, bool *row, const char *doing, struct err *err);
void query_end(struct query *q); /* for a query that is left before its end */

/* These note what is out of range as odd, and give 0 or NaN. */
int64_t get_int(struct query *q);
int64_t get_within(struct query *q, int64_t low, int64_t high);
unsigned get_unsigned(struct query *q);
double get_real(struct query *q);
double get_error(struct query *q); /* of a check: may be infinite */
/* The number of a node's parent, -1 for NULL; a parent is older than its node. */
int64_t get_parent(struct query *q, int64_t node);
const char *get_text(struct query *q, struct arena *arena); /* NULL for NULL */
struct hash get_hash(struct query *q);

/* An error unless a run was begun or found. */
bool db_has_run(const struct store *store, struct err *err);
struct hash db_source_hash(const char *source, size_t bytes);

/* Save a node's calls of models. id: of the node's row; 0: the node has no row yet. */
bool calls_save(struct store *store, int64_t id, const struct candidate *c, struct err *err);

/* Turn stored names back into enums. The error tells what to do. */
bool db_parse_action(struct store *store, const char *name, enum action *action, struct err *err);
bool db_parse_proposer(
    struct store *store, const char *name, enum proposer *proposer, struct err *err);
bool db_parse_provenance(
    struct store *store, const char *name, enum provenance *from, struct err *err);
bool db_parse_bound(struct store *store, const char *name, enum bound *bound, struct err *err);
bool db_strange(struct store *store, const char *what, const char *name, struct err *err);

/* The offsets of the doubles in struct line_cost, in the order of their columns. Saving and loading
 * both use these offsets. */
extern const size_t line_cost_fields[];
extern const size_t nr_line_cost_fields;

#endif
