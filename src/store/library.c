/* Owns the index of a library: makes the index, finds the index again, and shows the hits. */
#include "store/library.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/db.h"
#include "store/library_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    INDEX_VERSION = 1,
    PIECE_LINES = 32,
    SHOWN_LINES = 6,
    SHOWN_BYTES = 160, /* of a line */
    MAX_WORDS = 12,
    HITS_OF_A_FILE = 2,
    KEPT_DAYS = 30 /* an index that is not opened */
};

struct library {
    struct tree tree;
    sqlite3 *db;
    unsigned nr_indexed;
};

static const char schema[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
                             "CREATE TABLE place (id INTEGER PRIMARY KEY, path TEXT, line INTEGER);"
                             "CREATE VIRTUAL TABLE piece USING fts5 (path, body, content = '');";
static const char add_place[] = "INSERT INTO place (id, path, line) VALUES (?1, ?2, ?3)";
static const char add_piece[] = "INSERT INTO piece (rowid, path, body) VALUES (?1, ?2, ?3)";
/* A word in the path counts for three in the text. */
static const char find_pieces[] =
    "SELECT place.path, place.line FROM piece JOIN place ON place.id = piece.rowid "
    "WHERE piece MATCH ?1 ORDER BY bm25(piece, 3.0, 1.0), place.id LIMIT 100";

static bool fail(const struct library *l, const char *doing, struct err *err)
{
    return err_set(err, "%s the index of %s: %s", doing, l->tree.root, sqlite3_errmsg(l->db));
}

/* ---- making the index ---- */

struct library_writer {
    sqlite3_stmt *place, *piece;
    int64_t id;
};

static bool write_piece(
    struct library_writer *w, const char *path, unsigned line, const char *text, size_t len)
{
    bool ok;

    w->id++;
    sqlite3_bind_int64(w->place, 1, w->id);
    sqlite3_bind_text(w->place, 2, path, -1, SQLITE_STATIC);
    sqlite3_bind_int64(w->place, 3, line);
    sqlite3_bind_int64(w->piece, 1, w->id);
    sqlite3_bind_text(w->piece, 2, path, -1, SQLITE_STATIC);
    sqlite3_bind_text64(w->piece, 3, text, len, SQLITE_STATIC, SQLITE_UTF8);
    ok = sqlite3_step(w->place) == SQLITE_DONE && sqlite3_step(w->piece) == SQLITE_DONE;
    sqlite3_reset(w->place);
    sqlite3_reset(w->piece);
    return ok;
}

static bool index_file(struct library *l, struct library_writer *w, const char *path)
{
    char *text;
    size_t len;
    struct err err;
    bool ok = true;
    unsigned line = 1;

    if (!tree_read(&l->tree, path, &text, &len, &err))
        return true; /* the file went away, or is no text */
    l->nr_indexed++;
    for (const char *p = text, *end; ok && *p; p = end, line += PIECE_LINES) {
        end = p;
        for (unsigned i = 0; i < PIECE_LINES; i++)
            end = str_next_line(end);
        ok = write_piece(w, path, line, p, (size_t)(end - p));
    }
    free(text);
    return ok;
}

static bool make_index(struct library *l, const char *path, struct err *err)
{
    struct library_writer w = {0};
    struct str end = {0};
    bool ok;

    log_note("indexing %s, once", l->tree.root);
    ok = sqlite3_open(path, &l->db) == SQLITE_OK && db_harden(l->db) &&
         sqlite3_exec(l->db, schema, NULL, NULL, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(l->db, add_place, -1, &w.place, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(l->db, add_piece, -1, &w.piece, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < l->tree.nr; i++)
        ok = index_file(l, &w, l->tree.paths[i]);
    str_addf(&end, "PRAGMA user_version = %d; COMMIT;", INDEX_VERSION);
    ok = ok && sqlite3_exec(l->db, str_text(&end), NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        fail(l, "making", err);
    sqlite3_finalize(w.place);
    sqlite3_finalize(w.piece);
    str_finish(&end);
    return ok;
}

static void shut(struct library *l)
{
    sqlite3_close(l->db);
    l->db = NULL;
}

/* ---- finding the index again ---- */

static bool is_whole(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    bool ok = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL) == SQLITE_OK &&
              sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == INDEX_VERSION;

    sqlite3_finalize(stmt);
    return ok;
}

static bool open_index(struct library *l, const char *path)
{
    if (sqlite3_open_v2(path, &l->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        db_harden(l->db) && is_whole(l->db)) {
        utimensat(AT_FDCWD, path, NULL, 0); /* in use: see remove_old */
        return true;
    }
    shut(l);
    return false;
}

static bool cache_folder(const char *cache, struct str *dir)
{
    const char *base = getenv("XDG_CACHE_HOME"), *below = "keet-opt/library";
    struct err err;

    if (cache) {
        str_add(dir, cache);
    } else {
        if (!base || base[0] != '/') {
            base = getenv("HOME");
            below = ".cache/keet-opt/library";
        }
        if (base && base[0])
            str_addf(dir, "%s/%s", base, below);
    }
    return dir->len > 0 && file_mkdirs(str_text(dir), &err);
}

/* Removes the indexes that nobody opened for KEPT_DAYS days: their trees have changed or are gone.
 * open_index marks each index that it opens. */
static void remove_old(const char *dir)
{
    DIR *folder = opendir(dir);
    const time_t now = time(NULL);

    for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
        struct stat about;

        if (strstr(e->d_name, ".library.db") && fstatat(dirfd(folder), e->d_name, &about, 0) == 0 &&
            now - about.st_mtime > (time_t)KEPT_DAYS * 24 * 3600)
            unlinkat(dirfd(folder), e->d_name, 0);
    }
    if (folder)
        closedir(folder);
}

/* The index is made beside its place and moved there whole, because another process may make the
 * same index. */
static bool keep_index(struct library *l, const char *path, struct err *err)
{
    struct str temp = {0};
    bool ok;

    str_addf(&temp, "%s.%ld", path, (long)getpid());
    unlink(str_text(&temp));
    ok = make_index(l, str_text(&temp), err);
    shut(l);
    ok = ok && rename(str_text(&temp), path) == 0 && open_index(l, path);
    if (!ok)
        unlink(str_text(&temp));
    str_finish(&temp);
    return ok;
}

static bool find_index(struct library *l, const char *cache, struct err *err)
{
    struct str path = {0};
    char hex[HASH_HEX_BYTES];
    bool ok = false;

    if (cache_folder(cache, &path)) {
        char *dir = xstrdup(str_text(&path));

        hash_hex(l->tree.hash, hex);
        str_addf(&path, "/%s.library.db", hex);
        ok = open_index(l, str_text(&path)) || keep_index(l, str_text(&path), err);
        if (l->nr_indexed)
            remove_old(dir);
        free(dir);
    }
    str_finish(&path);
    if (ok)
        return true;
    l->nr_indexed = 0;
    return make_index(l, "", err); /* SQLite's own temporary file */
}

struct library *library_open(const char *dir, const char *cache, struct err *err)
{
    struct library *l = xcalloc(1, sizeof(*l));

    if (tree_list(&l->tree, dir, err) && find_index(l, cache, err))
        return l;
    library_close(l);
    return NULL;
}

void library_close(struct library *l)
{
    if (!l)
        return;
    shut(l);
    tree_finish(&l->tree);
    free(l);
}

unsigned library_nr_indexed(const struct library *l)
{
    return l->nr_indexed;
}

/* ---- searching ---- */

struct query_words {
    char *text[MAX_WORDS];
    unsigned nr;
};

static void split(const char *query, struct query_words *words)
{
    *words = (struct query_words){0};
    for (const char *p = query; *p && words->nr < MAX_WORDS;) {
        size_t len = 0;

        while (str_word_char(p[len]))
            len++;
        /* Underscores alone are no word to the index. */
        if (len && strspn(p, "_") < len) {
            char *word = xcalloc(1, len + 1);
            memcpy(word, p, len);
            words->text[words->nr++] = word;
        }
        p += len ? len : 1;
    }
}

static void words_finish(struct query_words *words)
{
    for (unsigned i = 0; i < words->nr; i++)
        free(words->text[i]);
}

/* The line of a piece that holds the most words of the query; the first line among equals. */
static const char *best_line(const char *piece, const struct query_words *words, unsigned *offset)
{
    const char *best = piece, *p = piece;
    unsigned most = 0;

    *offset = 0;
    for (unsigned i = 0; i < PIECE_LINES && *p; i++, p = str_next_line(p)) {
        struct str line = {0};
        unsigned nr = 0;

        str_add_n(&line, p, (size_t)(str_next_line(p) - p));
        for (unsigned w = 0; w < words->nr; w++)
            nr += strcasestr(str_text(&line), words->text[w]) != NULL;
        str_finish(&line);
        if (nr > most) {
            most = nr;
            best = p;
            *offset = i;
        }
    }
    return best;
}

static void show_hit(struct library *l, const char *path, unsigned first,
    const struct query_words *words, struct str *out)
{
    char *text;
    size_t len;
    struct err err;
    unsigned offset;

    if (!tree_read(&l->tree, path, &text, &len, &err))
        return;
    const char *p = text;
    for (unsigned line = 1; line < first && *p; line++)
        p = str_next_line(p);
    p = best_line(p, words, &offset);
    for (unsigned i = 0; i < SHOWN_LINES && *p; i++, p = str_next_line(p)) {
        const int n = (int)strcspn(p, "\r\n");
        str_addf(
            out, "%s:%u: %.*s\n", path, first + offset + i, n < SHOWN_BYTES ? n : SHOWN_BYTES, p);
    }
    str_add(out, "\n");
    free(text);
}

/* The number of hits so far in the file `path`. */
static unsigned seen(char *const *paths, unsigned nr, const char *path)
{
    unsigned same = 0;

    for (unsigned i = 0; i < nr; i++)
        same += !strcmp(paths[i], path);
    return same;
}

static bool run_query(struct library *l, const struct query_words *words, const char *between,
    unsigned limit, struct str *out, unsigned *nr, struct err *err)
{
    char *paths[LIBRARY_MAX_HITS];
    sqlite3_stmt *stmt = NULL;
    struct str match = {0};
    int code = SQLITE_DONE;
    bool ok;

    *nr = 0;
    for (unsigned i = 0; i < words->nr; i++)
        str_addf(&match, "%s\"%s\"", i ? between : "", words->text[i]);
    ok = sqlite3_prepare_v2(l->db, find_pieces, -1, &stmt, NULL) == SQLITE_OK &&
         sqlite3_bind_text(stmt, 1, str_text(&match), -1, SQLITE_STATIC) == SQLITE_OK;
    while (ok && *nr < limit && out->len < LIBRARY_TEXT_BYTES &&
           (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *path = (const char *)sqlite3_column_text(stmt, 0);

        if (!path || seen(paths, *nr, path) == HITS_OF_A_FILE)
            continue;
        show_hit(l, path, (unsigned)sqlite3_column_int(stmt, 1), words, out);
        paths[(*nr)++] = xstrdup(path);
    }
    ok = ok && (code == SQLITE_DONE || code == SQLITE_ROW);
    if (!ok)
        fail(l, "searching", err);
    sqlite3_finalize(stmt);
    str_finish(&match);
    for (unsigned i = 0; i < *nr; i++)
        free(paths[i]);
    return ok;
}

bool library_search(
    struct library *l, const char *query, unsigned limit, struct str *out, struct err *err)
{
    struct query_words words;
    unsigned nr = 0;
    bool ok;

    limit = limit < LIBRARY_MAX_HITS ? limit : LIBRARY_MAX_HITS;
    split(query, &words);
    ok = words.nr > 0 || err_set(err, "the query has no words: give names or words to look for");
    ok = ok && run_query(l, &words, " AND ", limit, out, &nr, err);
    if (ok && nr == 0 && words.nr > 1)
        ok = run_query(l, &words, " OR ", limit, out, &nr, err);
    if (ok && nr == 0)
        str_addf(out, "nothing found for %.200s: try fewer words, or another name\n", query);
    words_finish(&words);
    return ok;
}

/* ---- reading ---- */

bool library_read(struct library *l, const char *path, unsigned first_line, unsigned nr_lines,
    struct str *out, struct err *err)
{
    unsigned line = 1, all = 0;
    const char *p;
    size_t len;
    char *text;

    first_line = first_line ? first_line : 1;
    nr_lines = nr_lines && nr_lines < LIBRARY_MAX_LINES ? nr_lines : LIBRARY_MAX_LINES;
    if (!tree_read(&l->tree, path, &text, &len, err))
        return false;
    for (p = text; *p; p = str_next_line(p))
        all++;
    if (first_line > all) {
        free(text);
        return err_set(err, "%.200s has %u lines", path, all);
    }
    for (p = text; line < first_line; line++)
        p = str_next_line(p);
    nr_lines = nr_lines < all - first_line + 1 ? nr_lines : all - first_line + 1;
    str_addf(
        out, "%.200s, lines %u to %u of %u:\n", path, first_line, first_line + nr_lines - 1, all);
    for (size_t start = out->len; line < first_line + nr_lines; line++, p = str_next_line(p)) {
        if (out->len - start + strcspn(p, "\n") > LIBRARY_TEXT_BYTES) {
            str_addf(out, "(cut before line %u: too long to show at once)\n", line);
            break;
        }
        str_addf(out, "%4u  %.*s\n", line, (int)strcspn(p, "\r\n"), p);
    }
    free(text);
    return true;
}
