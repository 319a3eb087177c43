/* Owns `--as header`. */
#include "export/export_input.h"

bool export_header(struct export_input *in, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(in->arena, "%s.cuh", in->name));

    (void)err;
    export_provenance(in, "//", out);
    str_addf(out,
        "//\n"
        "// For nvcc, C++17 or newer: include it, give scratch memory on the device of\n"
        "// keet_%s::scratch_bytes(...) bytes (none where that is 0), call keet_%s::launch(...).\n"
        "// Arrays are row-major, dense, on the device.\n"
        "#pragma once\n",
        in->name, in->name);
    export_code(in, out);
    return true;
}
