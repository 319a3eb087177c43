/* Private to store/: lists the files of a library, and reads their text. */
#ifndef KEET_STORE_LIBRARY_TREE_H
#define KEET_STORE_LIBRARY_TREE_H

#include "base/err.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

enum { LIBRARY_FILE_BYTES = 4 << 20, LIBRARY_MAX_FILES = 20000, LIBRARY_MAX_DEPTH = 16 };

struct tree {
    char *root;   /* resolved */
    char **paths; /* relative, sorted */
    size_t nr, cap;
    struct hash hash; /* over root, and paths, sizes and times */
};

bool tree_list(struct tree *tree, const char *dir, struct err *err);
void tree_finish(struct tree *tree);

/* Reads a file below the root; the caller frees *text. False: there is no such text file below the
 * root. */
bool tree_read(
    const struct tree *tree, const char *path, char **text, size_t *len, struct err *err);

#endif
