/* Running sums over lanes (prefix sums): for loops that look at a sum in every iteration. */
#ifndef KEET_PROPOSE_REWRITE_WARP_SCAN_H
#define KEET_PROPOSE_REWRITE_WARP_SCAN_H

#include "propose/rewrite/parallelize_row.h"

/* Replace the loop by a scan over the lanes. False, without edits, when the loop is no running sum,
 * or when its iterations store to elements of each other. */
bool warp_scan_loop(struct row_lanes *lanes, struct node *loop);

#endif
