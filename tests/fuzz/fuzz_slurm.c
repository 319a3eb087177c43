/* Owns the fuzzing of what Slurm's commands print: no bytes may crash the reader. Build and run:
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
 *         -Isrc tests/fuzz/fuzz_slurm.c src/campaign/slurm.c \
 *         src/base/{clock,err,mem,proc,sandbox,share,str}.c -o build/fuzz_slurm -lseccomp
 *     mkdir -p build/corpus_slurm && build/fuzz_slurm -max_len=4096 build/corpus_slurm */
#include "base/str.h"
#include "campaign/slurm.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slurm_rows rows = {0};
    struct str text = {0};
    struct err err;
    uint64_t job = 0;

    str_add_n(&text, (const char *)data, size);
    if (slurm_parse_job(str_text(&text), &job, &err))
        assert(job > 0);
    if (!slurm_parse_queue(str_text(&text), &rows, &err))
        assert(strlen(err.text) > 20);
    for (size_t i = 0; i < rows.nr; i++) {
        assert(*rows.at[i].name && memchr(rows.at[i].name, 0, SLURM_NAME_BYTES));
        assert(*rows.at[i].word && memchr(rows.at[i].reason, 0, SLURM_REASON_BYTES));
    }
    slurm_rows_finish(&rows);
    str_finish(&text);
    return 0;
}
