/* A reader of cubins, the ELF files that ptxas writes. Bounded: no offset, size or index in the
 * file is trusted, whatever the bytes are; what does not fit is a problem of the whole file, or a
 * part that is missing (no lines), never a read outside it. Costs are near linear in the file's
 * size.
 *
 *     struct cubin cubin;
 *     const char *why;
 *     if (cubin_read(bytes, len, arena, &cubin, &why)) ... cubin.kernels[i] ...
 *
 * Arrays are in the arena; names and code point into the caller's bytes.
 *
 * Sources: the ELF specification; DWARF 2 and 4, section 6.2 (.debug_line). What is NVIDIA's own is
 * undocumented and was found by setting files beside `cuobjdump -elf` and `nvdisasm -gi`: the
 * attributes of .nv.info, the architecture in e_flags, and the extended opcode 0x90 of the line
 * program, which says that the rows that follow are inlined at an earlier row of the sequence. */
#ifndef KEET_NV_CUBIN_H
#define KEET_NV_CUBIN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cubin_row {
    uint64_t address; /* in the kernel's code; the row holds up to the next one */
    uint32_t line;    /* of the file that the kernel itself is in; 0 unknown */
};

struct cubin_kernel {
    const char *name; /* the symbol */
    const uint8_t *code;
    size_t code_bytes;
    /* From .nv.info; zero where it says nothing. */
    uint32_t registers, stack_bytes, frame_bytes, max_threads, params_bytes, nr_barriers;
    uint64_t smem_static_bytes;
    struct cubin_row *rows; /* by rising address */
    unsigned nr_rows;
};

struct cubin {
    unsigned arch; /* 90 */
    struct cubin_kernel *kernels;
    unsigned nr_kernels;
};

/* False: it is no cubin, or a broken one; *why says what is wrong (static text). */
bool cubin_read(
    const void *bytes, size_t len, struct arena *arena, struct cubin *cubin, const char **why);
const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *name); /* or NULL */

/* The line of an instruction; 0 unknown. */
uint32_t cubin_line(const struct cubin_kernel *kernel, uint64_t address);

#endif
