/* Owns what is left of large headers for programs that use little of them. */
#include "compile/lean.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

/* mma.h declares fragments of these types and hands their elements on. */
static const char numbers_h[] = "#ifndef KEET_LEAN_NUMBERS\n#define KEET_LEAN_NUMBERS\n"
                                "struct __half { unsigned short bits; };\n"
                                "struct __nv_bfloat16 { unsigned short bits; };\n"
                                "#endif\n";

const struct nvrtc_header lean_headers[] = {
    {"cuda_fp16.h", numbers_h},
    {"cuda_bf16.h", numbers_h},
    /* without the class nvcuda::experimental::pipeline */
    {"cuda_pipeline.h", "#include \"cuda_pipeline_primitives.h\"\n"},
    /* the one name by which cuda_pipeline_primitives.h needs it */
    {"cuda_awbarrier_primitives.h", "#include <stdint.h>\ntypedef uint64_t __mbarrier_t;\n"},
};
const unsigned nr_lean_headers = ARRAY_SIZE(lean_headers);

/* Does the name in < > or "" that follows name a header that asks for no others than these? */
static bool is_simple(const char *at)
{
    static const char *const simple[] = {
        "<mma.h>", "<cuda_pipeline.h>", "<cuda_pipeline_primitives.h>", NULL};

    at += strspn(at, " \t");
    for (const char *const *s = simple; *s; s++) {
        if (str_starts(at, *s))
            return true;
    }
    return false;
}

bool lean_suffices(const char *source)
{
    /* "include" and "embed" also where they are no directives: then the whole headers serve. */
    static const char *const needs[] = {"half", "fp16", "bf16", "bfloat", "mbarrier", "awbarrier",
        "experimental", "embed", "import", "??", NULL};
    static const char include[] = "include";
    unsigned nr = 0;

    for (const char *const *s = needs; *s; s++) {
        if (strcasestr(source, *s))
            return false;
    }
    for (const char *at = source; (at = strstr(at, include)); nr++) {
        at += strlen(include);
        if (!is_simple(at))
            return false;
    }
    return nr > 0;
}
