/* What the software driver tells the recorder of launches (record/record.h). Private to swdriver/.
 */
#ifndef KEET_SWDRIVER_SW_RECORD_H
#define KEET_SWDRIVER_SW_RECORD_H

#include "record/record.h"
#include "swdriver/sw_state.h"

/* NULL: this launch is only counted. */
struct record_shot *sw_record_begin(CUcontext ctx, const struct sw_op *op);
/* Takes over the shot. time: NULL when the launch was not modelled. */
void sw_record_end(CUcontext ctx, const struct sw_op *op, struct record_shot *shot,
    const struct sw_time *time, const char *fault);

#endif
