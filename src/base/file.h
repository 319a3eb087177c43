/* Whole, small files: read into memory, or written at once. */
#ifndef KEET_BASE_FILE_H
#define KEET_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the whole file into heap memory, which the caller frees. A NUL follows the text; *len does
 * not count it. A file over max_bytes is an error, and so is a directory. */
bool file_read(const char *path, size_t max_bytes, char **text, size_t *len, struct err *err);

/* Writes all or nothing: to a temporary file beside the path, fsync, rename. A device or a pipe at
 * the path is written to directly. */
bool file_write(const char *path, const void *bytes, size_t len, struct err *err);

bool file_mkdirs(const char *path, struct err *err); /* as mkdir -p */
bool file_is_regular(const char *path);              /* there, and no folder, device or pipe */
bool file_same(const char *a, const char *b);        /* both are there, and are one file */
bool file_exists(const char *path);

/* The last component of a path; points into it. */
const char *file_name(const char *path);

#endif
