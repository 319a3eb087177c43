/* Machine code to what it is made of: kinds of instructions, by source line (core/sass.h). Ours
 * from the bits on; nvdisasm is what the tests compare with. */
#ifndef KEET_NV_SASS_READ_H
#define KEET_NV_SASS_READ_H

#include "core/sass.h"
#include "nv/cubin.h"

/* Count a kernel's instructions, the padding at its end left out; lines in arena memory. Functions
 * that are called and not inlined count where they stand in the kernel's own section. False, with
 * facts->arch 0: machine code of another generation than those known here. */
bool sass_read(const struct cubin *cubin, const struct cubin_kernel *kernel, struct arena *arena,
    struct sass_facts *facts);

/* The operation of an instruction (its first eight bytes), "LDG"; NULL: not known. */
const char *sass_mnemonic(uint64_t low);

#endif
