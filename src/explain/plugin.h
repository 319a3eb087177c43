/* Tools that users bring: executables in a folder (--tools DIR). Each gets one JSON document on its
 * standard input and answers with one on its standard output; its findings join ours. A tool that
 * crashes, takes over five seconds or answers nonsense is named in `notes` and harms nothing else.
 *
 * Input, schema 1 ("keet_tool": 1):
 *     {"keet_tool": 1, "kernel_file": "...", "source": "...", "ptx": "...",
 *      "time_ns": 1.0, "class": "memory", "metrics": {NAME: {"value": 1.0, "unit": "%", "from":
 *      "counted"}, ...}, "facts": [{"kernel": "f", "registers": 32, "spill_bytes": 0,
 *      "smem_bytes": 0}], "lines": [{"line": 7, "warp_inst": 1.0, "global_sectors": 1.0,
 *      "shared_wavefronts": 1.0, "stall_cycles": 1.0}]}
 * Output, schema 1:
 *     {"keet_tool": 1, "findings": [{"text": "one sentence, up to 360 bytes", "line": 7,
 *      "share": 0.3, "evidence": ["dram__bytes.sum"]}]}
 * `text` is required; `line` (0: the whole kernel) must exist; `share` of the time at stake lies in
 * 0..0.97 (default 0.1); `evidence` names metrics of the input. At most two findings are taken. */
#ifndef KEET_EXPLAIN_PLUGIN_H
#define KEET_EXPLAIN_PLUGIN_H

#include "base/err.h"
#include "base/str.h"
#include "core/candidate.h"

#include <stdbool.h>

/* Run all executables of the folder, by name, and add their findings behind ours. False: the folder
 * cannot be read. */
bool plugins_run(const char *folder, struct candidate *c, struct str *notes, struct err *err);

#endif
