/* A reader of cubins, the ELF files that ptxas writes. The reader trusts no offset, size or index
 * in the file and never reads outside it: where something does not fit, the file is refused, or a
 * part is missing (no lines). Costs are near linear in the file's size.
 *
 *     struct cubin cubin;
 *     const char *why;
 *     if (cubin_read(bytes, len, arena, &cubin, &why)) ... cubin.kernels[i] ...
 *
 * Arrays are in the arena; names and code point into the caller's bytes.
 *
 * Sources: the ELF specification; DWARF 2 and 4, section 6.2 (.debug_line). NVIDIA does not
 * document its own parts; we found them by comparing files with `cuobjdump -elf` and `nvdisasm
 * -gi`: the attributes of .nv.info, the architecture in e_flags, and the extended opcode 0x90 of
 * the line program, which says that the next rows are inlined at an earlier row of the sequence. */
#ifndef KEET_NV_CUBIN_H
#define KEET_NV_CUBIN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cubin_row {
    uint64_t address; /* in the kernel's code; the row holds up to the address of the next row */
    uint32_t line;    /* of the kernel's own file; 0 unknown */
};

struct cubin_kernel {
    const char *name; /* the symbol */
    const uint8_t *code;
    size_t code_bytes;
    /* From .nv.info; zero where .nv.info says nothing. */
    uint32_t registers, stack_bytes, frame_bytes, max_threads, params_bytes, nr_barriers;
    uint64_t smem_static_bytes;
    struct cubin_row *rows; /* by rising address */
    unsigned nr_rows;
};

struct cubin_variable {
    const char *name; /* the symbol of a __device__ or __constant__ variable */
    uint64_t bytes;
    bool constant;
};

struct cubin {
    unsigned arch; /* 90 */
    struct cubin_kernel *kernels;
    struct cubin_variable *variables;
    unsigned nr_kernels, nr_variables;
};

/* False: the bytes are no cubin, or a broken one; *why names the fault (static text). */
bool cubin_read(
    const void *bytes, size_t len, struct arena *arena, struct cubin *cubin, const char **why);
const struct cubin_kernel *cubin_find(const struct cubin *cubin, const char *name); /* or NULL */

/* The line of an instruction; 0 unknown. */
uint32_t cubin_line(const struct cubin_kernel *kernel, uint64_t address);

#endif
