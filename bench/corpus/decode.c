/* Owns the corpus's second half: loads files of PTX and says of each kernel whether the emulator
 * knows all of it.
 *
 *     corpus_decode FILE.ptx...
 *
 * One line of tab-separated fields for each kernel: file, kernel, "ok" or what is not known. A file
 * that does not load at all is one line with kernel "-". */
#include "base/file.h"
#include "core/chip.h"
#include "emu/emu.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PTX_BYTES = 1 << 28 };

static bool decode_file(struct emu *emu, const char *path, struct err *err)
{
    struct emu_module *module;
    struct emu_result result = {0};
    struct emu_kernel kernel;
    size_t bytes;
    char *ptx;

    if (!file_read(path, MAX_PTX_BYTES, &ptx, &bytes, err))
        return false;
    bool fine = emu_load(emu, ptx, bytes, &module, &result, err);

    if (fine && !module)
        printf("%s\t-\t%s\n", path, result.text);
    for (unsigned i = 0; fine && module && emu_kernel(module, i, &kernel); i++)
        printf("%s\t%s\t%s\n", path, kernel.name, kernel.unsupported ? kernel.unsupported : "ok");
    if (fine && module)
        emu_unload(emu, module);
    free(ptx);
    return fine;
}

int main(int argc, char **argv)
{
    int status = 0;

    for (int i = 1; i < argc; i++) {
        struct emu *emu = emu_create(chip_find("h100"), 1);
        struct err err = {0};

        if (!decode_file(emu, argv[i], &err)) {
            fprintf(stderr, "corpus_decode: %s: %s\n", argv[i], err.text);
            status = 1;
        }
        emu_destroy(emu);
    }
    return status;
}
