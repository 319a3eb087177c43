/* A library: a tree of sources that a language model may search and read, such as CUTLASS.
 *
 *     struct library *l = library_open("/opt/cutlass", NULL, err);
 *     library_search(l, "SM90_TMA_LOAD multicast", 8, &text, err);
 *     library_read(l, "include/cute/tensor.hpp", 1, 60, &text, err);
 *     library_close(l);
 *
 * The text of headers, sources, examples and pages (by their names' ends; hidden folders, links and
 * files over 4 MiB are skipped) is indexed once with SQLite's FTS5, in pieces of 32 lines, into a
 * file of the cache that is named after the folder and the paths, sizes and times of its files: a
 * tree that changed is indexed anew, and indexes that were not opened for 30 days are then removed.
 * The index holds no text; what is shown is read from the tree.
 *
 * False with err: the query or path is not one that can be served; the sentence is fit for the
 * model too. Nothing outside the folder is ever read: paths are resolved, links included, and must
 * stay below it. */
#ifndef KEET_STORE_LIBRARY_H
#define KEET_STORE_LIBRARY_H

#include "base/err.h"

#include <stdbool.h>

struct library;
struct str;

enum { LIBRARY_MAX_LINES = 200, LIBRARY_MAX_HITS = 20, LIBRARY_TEXT_BYTES = 12 << 10 };

/* cache: the folder for the index; NULL: $XDG_CACHE_HOME/keet-opt/library, else
 * ~/.cache/keet-opt/library; "" or one that cannot be written: a temporary file. Indexing CUTLASS
 * takes a second or two. */
struct library *library_open(const char *dir, const char *cache, struct err *err);
void library_close(struct library *library);
unsigned library_nr_indexed(const struct library *library); /* files; 0: the index was there */

/* Append the best `limit` places, at most two of a file, each as "path:line" lines of source. Words
 * with underscores are looked for as they are. All words at once, else any of them. Appends
 * "nothing found..." where there is none. */
bool library_search(
    struct library *library, const char *query, unsigned limit, struct str *out, struct err *err);

/* Append the lines, each after its number, at most LIBRARY_MAX_LINES and LIBRARY_TEXT_BYTES of
 * them; the first line of the text says which of how many. path is relative to the folder. */
bool library_read(struct library *library, const char *path, unsigned first_line, unsigned nr_lines,
    struct str *out, struct err *err);

#endif
