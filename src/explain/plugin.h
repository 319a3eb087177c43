/* Tools that users bring: executables in a folder (--tools DIR). Each gets one JSON document on its
 * standard input and answers with one on its standard output. The findings of the answer join ours,
 * and their weights join the priors. A tool that crashes, takes over five seconds, needs over 2
 * GiB, writes over 1 MiB or answers nonsense is named in `notes` and harms nothing else.
 *
 * Tools run in a sandbox (base/sandbox.h, sandbox_look_only): they read and run what is below /usr
 * and in their own folder, write nothing except /dev/null, change nothing of a file, make no
 * socket, reach no other process, and leave none behind. Their environment is PATH, HOME, LANG and
 * LC_ALL. Where that cannot be set up, a tool does not run.
 *
 * Input, schema 1 ("keet_tool": 1):
 *     {"keet_tool": 1, "kernel_file": "...", "source": "...", "ptx": "...",
 *      "time_ns": 1.0, "class": "memory", "metrics": {NAME: {"value": 1.0, "unit": "%", "from":
 *      "counted"}, ...}, "facts": [{"kernel": "f", "registers": 32, "spill_bytes": 0,
 *      "smem_bytes": 0}], "lines": [{"line": 7, "warp_inst": 1.0, "global_sectors": 1.0,
 *      "shared_wavefronts": 1.0, "stall_cycles": 1.0}]}
 * Output, schema 1:
 *     {"keet_tool": 1, "findings": [{"text": "one sentence, up to 360 bytes", "line": 7,
 *      "share": 0.2, "evidence": [NAME, ...], "weights": {"unroll": 3, ...}}, ...]}
 *
 * `text` is required. `line` must exist (0: the whole kernel). `share`, of the time at stake, lies
 * in 0..0.97 (default 0.1). `evidence` names metrics of the input. `weights` belong to moves by
 * their names in core/actions.def, above 0 and at most 10 (ours are 0.5 to 8). We take two findings
 * at most. Profiles from elsewhere have `source` and `ptx` null and `lines` empty. */
#ifndef KEET_EXPLAIN_PLUGIN_H
#define KEET_EXPLAIN_PLUGIN_H

#include "base/err.h"
#include "base/str.h"
#include "core/candidate.h"

#include <stdbool.h>

/* Runs all executables of the folder, in the order of their names, adds their findings behind ours
 * and fills the priors anew. False: the folder cannot be read. For a dead candidate: true at once.
 */
bool plugins_run(const char *folder, struct candidate *c, struct str *notes, struct err *err);

/* The part of plugins_run for the answer of one tool. */
void plugin_answer(
    const char *name, struct candidate *c, const char *text, size_t len, struct str *notes);

#endif
