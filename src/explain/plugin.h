/* Tools that users bring: executables in a folder (--tools DIR). Each gets one JSON document on its
 * standard input and answers with one on its standard output; its findings join ours, and what
 * they weigh moves with joins the priors. A tool that crashes, takes over five seconds, needs over
 * 2 GiB, says over 1 MiB or answers nonsense is named in `notes` and harms nothing else.
 *
 * Tools run in a sandbox (base/proc.h, look_only): they read and run what the user may, but write
 * nothing except /dev/null, make no socket, and see no environment beyond PATH, HOME, LANG, LC_ALL.
 * Where the kernel has neither Landlock nor seccomp, only the last of these holds.
 *
 * Input, schema 1 ("keet_tool": 1):
 *     {"keet_tool": 1, "kernel_file": "...", "source": "...", "ptx": "...",
 *      "time_ns": 1.0, "class": "memory", "metrics": {NAME: {"value": 1.0, "unit": "%", "from":
 *      "counted"}, ...}, "facts": [{"kernel": "f", "registers": 32, "spill_bytes": 0,
 *      "smem_bytes": 0}], "lines": [{"line": 7, "warp_inst": 1.0, "global_sectors": 1.0,
 *      "shared_wavefronts": 1.0, "stall_cycles": 1.0}]}
 * Output, schema 1:
 *     {"keet_tool": 1, "findings": [{"text": "one sentence, up to 360 bytes", "line": 7,
 *  * `text` is required; `line` (0: the whole kernel) must exist; `share` of the time at stake lies
 * in 0..0.97 (default 0.1); `evidence` names metrics of the input; `weights` are of moves by the
 * names of core/actions.def, above 0 and at most 10 (ours are 0.5 to 8). At most two findings are
 * taken. Profiles from elsewhere have no `source`, `ptx` and `lines`: null and empty. */
#ifndef KEET_EXPLAIN_PLUGIN_H
#define KEET_EXPLAIN_PLUGIN_H

#include "base/err.h"
#include "base/str.h"
#include "core/candidate.h"

#include <stdbool.h>

/* Run all executables of the folder, by name, add their findings behind ours and fill the priors
 * anew. False: the folder cannot be read. A dead candidate has nothing to explain: true at once. */
bool plugins_run(const char *folder, struct candidate *c, struct str *notes, struct err *err);

/* What becomes of one tool's answer: its part of plugins_run. */
void plugin_answer(
    const char *name, struct candidate *c, const char *text, size_t len, struct str *notes);

#endif
