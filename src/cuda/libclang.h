/* libclang, loaded when the first source is read: loading it takes 20 ms, and most runs of the
 * program read none.
 *
 *     if (!libclang_load(err))
 *         return NULL;
 *     CXIndex index = clang.createIndex(0, 0);    clang_createIndex of clang-c/Index.h
 */
#ifndef KEET_CUDA_LIBCLANG_H
#define KEET_CUDA_LIBCLANG_H

#include "base/err.h"

#include <clang-c/Index.h>

struct libclang {
#define FUNCTION(name) __typeof__(&clang_##name) name;
#include "cuda/libclang_functions.def"
#undef FUNCTION
};

extern struct libclang clang; /* NULLs before libclang_load */

/* Takes the library that the process has already, as where a package is linked to one; else the one
 * that keet-opt was built with, by its file name and then by its path. It stays loaded. False with
 * err: there is none, or it lacks a function. */
bool libclang_load(struct err *err);
const char *libclang_path(void); /* of the loaded library */

#endif
