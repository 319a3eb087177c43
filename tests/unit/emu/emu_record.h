/* What the tests of the emulator run, written down so that tests/gpu/conform.c can run the same on
 * a GPU: with KEET_RECORD_FORMS=FOLDER in the environment, the harness writes
 * FOLDER/PROGRAM.records, an array of struct emu_record, and FOLDER/PROGRAM.blobs, the bytes that
 * the records point into. Each content stands in the blobs once, and each launch in the records
 * once. */
#ifndef KEET_TESTS_EMU_RECORD_H
#define KEET_TESTS_EMU_RECORD_H

#include <stdint.h>

struct emu_blob {
    uint64_t offset, bytes;
};

enum emu_record_kind {
    RECORD_LAUNCH, /* that ended well */
    RECORD_REFUSAL /* a text that the emulator's parser says is no PTX: only ptx and what */
};

enum { RECORD_BUFFERS = 8, RECORD_PARAMS = 16 };

struct emu_record {
    uint32_t kind;
    char what[204]; /* the form, or the kernel's name */
    struct emu_blob ptx, params;
    char kernel[64];
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    /* where the kernel's parameters stand in `params`; the driver may place them elsewhere */
    uint32_t nr_params, param_at[RECORD_PARAMS];
    /* of operations one by one: bytes of one result of buffer 0 and of its operands in buffers 1 to
     * 3, 0: none; else each[0] is 0 */
    uint32_t each[4];
    double tolerance; /* of op_case; where it is not 0, `want` has the reference's results */
    struct emu_blob want;
    uint32_t nr_buffers, nr_before; /* launches of the same module before this one */
    struct emu_record_buffer {
        uint64_t address;
        struct emu_blob before, after;
    } buffer[RECORD_BUFFERS];
};

#endif
