/* Owns the hammering of what Slurm's commands print: no bytes may crash the reader.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_slurm -max_len=4096 build/corpus tests/fuzz/seeds/slurm */
#include "base/str.h"
#include "campaign/slurm.h"

#include "hammer.h"

#include <string.h>

static void read_once(const uint8_t *data, size_t size)
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
}

static const char *const parts[] = {"keet-a", "keet-a-name-that-is-much-longer-than-any", "|", "|",
    "|", "|", "12", "0", "N/A", "4294967295", "99999999999999999999", "RUNNING", "NODE_FAIL",
    "None", "Nodes required for job are DOWN, DRAINED", "\n", "\n", ";cluster",
    "squeue: error: ", " ", "keet-a|12|3|RUNNING|None\n", NULL};

const struct fuzzer fuzzer = {.once = read_once, .marks = "|\n;, 0123456789-NA/", .parts = parts};
