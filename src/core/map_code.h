/* Host code that makes tensor maps, for programs that launch a kernel with tensor_map(...)
 * arguments: C++ for nvcc, with <cuda.h>. cuTensorMapEncodeTiled is asked for at run time, so that
 * no program links the driver.
 *
 *     str_add(out, map_code_helper());            once, at the level of the file
 *     map_code_lists(out, "    ", &map)           declares NAME_size, NAME_box, ... and NAME
 *     map_code_call(out, "        ", &map)        keet_encode(&NAME, ...), a cudaError_t, whose
 * second line begins with the blanks */
#ifndef KEET_CORE_MAP_CODE_H
#define KEET_CORE_MAP_CODE_H

#include "base/str.h"
#include "core/task.h"

#include <stdbool.h>

struct map_code {
    const char *name;               /* of the variable, a CUtensorMap */
    const char *pointer;            /* C++ text of the array's address */
    const struct tensor_view *view; /* what the launch line says */
    const struct task_array *array;
    /* Adds an expression of the launch line as C++ text. False: it has none; passed through. */
    bool (*write)(void *context, const struct expr *expr, struct str *out);
    void *context;
};

const char *map_code_helper(void);
bool map_code_lists(struct str *out, const char *indent, const struct map_code *map);
bool map_code_call(struct str *out, const char *indent, const struct map_code *map);

#endif
