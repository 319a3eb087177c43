/* Owns the names of the kinds of machine instructions, and their sums. */
#include "core/sass.h"

const char *sass_class_name(enum sass_class kind)
{
    static const char *const names[NR_SASS_CLASSES] = {
        [SASS_FP32] = "fp32",
        [SASS_FP64] = "fp64",
        [SASS_FP16] = "fp16",
        [SASS_INTEGER] = "integer",
        [SASS_MOVE] = "move",
        [SASS_CONVERSION] = "conversion",
        [SASS_SPECIAL] = "special function",
        [SASS_TENSOR] = "tensor",
        [SASS_GLOBAL_LOAD] = "global load",
        [SASS_GLOBAL_STORE] = "global store",
        [SASS_GENERIC_LOAD] = "generic load",
        [SASS_GENERIC_STORE] = "generic store",
        [SASS_SHARED_LOAD] = "shared load",
        [SASS_SHARED_STORE] = "shared store",
        [SASS_LOCAL_LOAD] = "local load",
        [SASS_LOCAL_STORE] = "local store",
        [SASS_CONSTANT_LOAD] = "constant load",
        [SASS_ATOMIC] = "atomic",
        [SASS_ASYNC_COPY] = "asynchronous copy",
        [SASS_TEXTURE] = "texture",
        [SASS_WARP] = "warp exchange",
        [SASS_BARRIER] = "barrier",
        [SASS_CONTROL] = "control",
        [SASS_OTHER] = "other",
    };

    return (unsigned)kind < NR_SASS_CLASSES ? names[kind] : "unknown";
}

void sass_mix_add(struct sass_mix *to, const struct sass_mix *mix)
{
    to->nr += mix->nr;
    for (int i = 0; i < NR_SASS_CLASSES; i++)
        to->of[i] += mix->of[i];
    to->wide_loads += mix->wide_loads;
    to->wide_stores += mix->wide_stores;
    if (mix->widest_bytes > to->widest_bytes)
        to->widest_bytes = mix->widest_bytes;
    to->stall_cycles += mix->stall_cycles;
}
