/* Private to intake/: what a compiler is told beside the file itself: folders of headers and
 * macros, from the command line (-I, -D), the Makefile and the CMakeLists.txt of its folder, or of
 * the nearest folder above that has one, in the same repository. */
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
    unsigned file; /* of build.files */
    size_t at;     /* byte of the line in it that says so */
};

struct build {
    const char *dirs[BUILD_MAX_DIRS];
    unsigned nr_dirs;
    struct build_define defines[BUILD_MAX_DEFINES]; /* of one name, the first that says it */
    unsigned nr_defines;
    struct build_file files[BUILD_MAX_FILES];
    unsigned nr_files;
};

void buildfile_read(
    struct build *build, struct arena *arena, const char *path, const struct intake_args *args);

#endif
