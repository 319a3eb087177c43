/* Counts the kinds of instructions in machine code, by source line (core/sass.h). The decoder is
 * our own; the tests compare it with nvdisasm. */
#ifndef KEET_NV_SASS_READ_H
#define KEET_NV_SASS_READ_H

#include "core/sass.h"
#include "nv/cubin.h"

/* Counts a kernel's instructions, without the padding at its end; lines are in arena memory. A
 * function that is called and not inlined counts if it is in the kernel's own section. False, with
 * facts->arch 0: machine code of a generation that is not known here. */
bool sass_read(const struct cubin *cubin, const struct cubin_kernel *kernel, struct arena *arena,
    struct sass_facts *facts);

/* Whether ptxas waits for each product of warpgroups before the next, as where a function is called
 * between them (its warnings C7510, C7520). */
bool sass_serial_products(const struct sass_facts *facts);

/* The operation of an instruction (its first eight bytes), "LDG"; NULL: not known. */
const char *sass_mnemonic(uint64_t low);

#endif
