/* The recorder of launches, on when KEET_CAPTURE names a folder: what a program launches, with
 * which arguments and which memory before and after. Private to swdriver/.
 *
 *   KEET_CAPTURE           the folder; every process writes files of its own there
 *   KEET_CAPTURE_LAUNCHES  so many launches of each kernel are recorded (1)
 *   KEET_CAPTURE_SKIP      ... after so many that are not (0)
 *   KEET_CAPTURE_KERNEL    only kernels whose symbol has this text in it
 *   KEET_CAPTURE_DRY       nothing is run: kernels do nothing, and take no time
 *   KEET_CAPTURE_BYTES     contents are kept until so many bytes are written (256 MiB)
 *
 * launches-PID.jsonl has a line when a recorded launch begins ("event": "begin") and one when it is
 * over ("end"); totals-PID.json has all kernels with all their launches, and is written anew once a
 * second and at the end. Contents are ORDER-PID/N.before, .after: raw bytes of allocation N; of
 * what was over the limit N.sample has the first MiB. The end's "stored" are the allocations that
 * the launch stored into, and "changed" those of them that hold something else now. */
#ifndef KEET_SWDRIVER_SW_RECORD_H
#define KEET_SWDRIVER_SW_RECORD_H

#include "swdriver/sw_state.h"

bool sw_recording(void);
bool sw_record_is_dry(void);

struct sw_shot; /* a recorded launch that is under way */
/* NULL: this launch is only counted. */
struct sw_shot *sw_record_begin(CUcontext ctx, const struct sw_op *op);
/* Takes over the shot. time: NULL when the launch was not modelled. */
void sw_record_end(CUcontext ctx, const struct sw_op *op, struct sw_shot *shot,
    const struct sw_time *time, const char *fault);

#endif
