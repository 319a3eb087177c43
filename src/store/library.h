/* A library: a tree of sources that a language model may search and read, such as CUTLASS.
 *
 *     struct library *l = library_open("/opt/cutlass", NULL, err);
 *     library_search(l, "SM90_TMA_LOAD multicast", 8, &text, err);
 *     library_read(l, "include/cute/tensor.hpp", 1, 60, &text, err);
 *     library_close(l);
 *
 * SQLite's FTS5 indexes the text of headers, sources, examples and pages once, in pieces of 32
 * lines. The endings of their names select the files. Hidden folders, links and files over 4 MiB
 * are skipped. The index is a file in the cache, named by a hash of the folder and of the paths,
 * sizes and times of its files. So a tree that changed is indexed anew. Making an index removes the
 * indexes that nobody opened for 30 days. The index holds no text: a search shows lines of the
 * tree.
 *
 * False: the query or path cannot be served, and the sentence in err is fit for the model, too.
 * Nothing outside the folder is ever read: a path must stay below the folder after all links are
 * resolved. */
#ifndef KEET_STORE_LIBRARY_H
#define KEET_STORE_LIBRARY_H

#include "base/err.h"

#include <stdbool.h>

struct library;
struct str;

enum { LIBRARY_MAX_LINES = 200, LIBRARY_MAX_HITS = 20, LIBRARY_TEXT_BYTES = 12 << 10 };

/* cache: the folder for the index; NULL: $XDG_CACHE_HOME/keet-opt/library, else
 * ~/.cache/keet-opt/library. For "" or a folder that cannot be written the index is a temporary
 * file. Indexing CUTLASS takes a second or two. */
struct library *library_open(const char *dir, const char *cache, struct err *err);
void library_close(struct library *library);
unsigned library_nr_indexed(const struct library *library); /* files; 0: the index was there */

/* Append the best `limit` places, at most two per file, each as lines "path:line: source". A word
 * with underscores stays one word. A place must hold all words of the query; when no place does,
 * any of the words is enough. Appends "nothing found..." when there is no such place either. */
bool library_search(
    struct library *library, const char *query, unsigned limit, struct str *out, struct err *err);

/* Append lines of a file, each after its number: at most LIBRARY_MAX_LINES lines and
 * LIBRARY_TEXT_BYTES bytes. A heading says which lines follow, and how many lines the file has.
 * path is relative to the folder. */
bool library_read(struct library *library, const char *path, unsigned first_line, unsigned nr_lines,
    struct str *out, struct err *err);

#endif
