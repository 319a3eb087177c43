/* Where the windows of generic addresses lie: generic = window + address within the space. Global
 * and const addresses are their own generic addresses and lie above. Private to emu/. */
#ifndef KEET_EMU_STATE_WINDOWS_H
#define KEET_EMU_STATE_WINDOWS_H

#define WINDOW_SHARED UINT64_C(0x7e0000000000)
#define WINDOW_LOCAL UINT64_C(0x7e8000000000)
#define WINDOW_BYTES UINT64_C(0x8000000000)
/* Shared memory of another block of the cluster: its rank plus one stands above the offset. Offsets
 * alone are the block's own. */
#define CLUSTER_SHIFT 24
#define CLUSTER_OFFSET(address) ((address) & ((UINT64_C(1) << CLUSTER_SHIFT) - 1))
#define MOST_CLUSTER_BLOCKS 16
#define GLOBAL_FIRST UINT64_C(0x7f0000000000)
/* Memory that the host has at the same addresses. */
#define HOST_FIRST UINT64_C(0x300000000000)

#endif
