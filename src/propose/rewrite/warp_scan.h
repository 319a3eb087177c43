/* Running sums over lanes (prefix sums), for loops that parallelize_row cannot stride. */
#ifndef KEET_PROPOSE_REWRITE_WARP_SCAN_H
#define KEET_PROPOSE_REWRITE_WARP_SCAN_H

#include "propose/rewrite/parallelize_row.h"

/* Replace the loop by a scan over the lanes. False, without edits, when it is not a running sum
 * whose iterations store to elements of their own. */
bool warp_scan_loop(struct row_lanes *lanes, struct node *loop);

#endif
