/* Private to intake/: the folders of headers and the macros that a compiler is told. They come
 * from the command line (-I, -D) and from the Makefile and the CMakeLists.txt of the file's
 * folder. Where that folder has neither, those of the nearest folder above it in the same
 * repository count. */
#ifndef KEET_INTAKE_GATHER_BUILDFILE_H
#define KEET_INTAKE_GATHER_BUILDFILE_H

#include "intake/intake.h"

enum { BUILD_MAX_DIRS = 48, BUILD_MAX_DEFINES = 64, BUILD_MAX_FILES = 20 };

struct build_file {
    const char *path, *text; /* text "": the command line */
    size_t bytes;
};

struct build_define {
    const char *name, *value;
    unsigned file; /* index into build.files */
    size_t at;     /* the byte of that file where the line begins */
};

struct build {
    const char *dirs[BUILD_MAX_DIRS];
    unsigned nr_dirs;
    struct build_define defines[BUILD_MAX_DEFINES]; /* the first one of each name */
    unsigned nr_defines;
    struct build_file files[BUILD_MAX_FILES];
    unsigned nr_files;
};

void buildfile_read(
    struct build *build, struct arena *arena, const char *path, const struct intake_args *args);

#endif
