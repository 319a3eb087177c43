/* Files, whole and small. */
#ifndef KEET_BASE_FILE_H
#define KEET_BASE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* The whole file as heap memory with a NUL after it (not counted in *len); the caller frees.
 * A file over max_bytes is an error, and so is a directory. */
bool file_read(const char *path, size_t max_bytes, char **text, size_t *len, struct err *err);

/* Write all or nothing: to a temporary beside it, fsync, rename. What is there and no file (a
 * device, a pipe) is written into. */
bool file_write(const char *path, const void *bytes, size_t len, struct err *err);

bool file_mkdirs(const char *path, struct err *err); /* as mkdir -p */
bool file_exists(const char *path);

/* The last component of a path; points into it. */
const char *file_name(const char *path);

#endif
