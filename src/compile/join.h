/* Private to compile/: what the compiler made of the parts of a source, as if of the whole. */
#ifndef KEET_COMPILE_JOIN_H
#define KEET_COMPILE_JOIN_H

#include "compile/artifact.h"
#include "compile/split.h"

/* One artifact in arena memory, with the lines of the whole source: PTX of all kernels (whose .loc
 * lines name no functions), the logs, the symbols, and the cubins one after another. name: of the
 * source, as the compiler was told. False: the parts share more than a module can tell apart (a
 * variable, a function that is called), or differ in what they declare. */
bool join_artifacts(const struct artifact *made, const struct split_part *parts, unsigned nr,
    const char *name, struct arena *arena, struct artifact *joined);

#endif
