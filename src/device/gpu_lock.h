/* One process of ours per GPU: timings of two that share one are worth nothing. */
#ifndef KEET_DEVICE_GPU_LOCK_H
#define KEET_DEVICE_GPU_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Locks <folder>/keet-opt-gpu-<uuid>.lock, where the folder is $KEET_LOCK_DIR, else /run/lock where
 * everyone may write there, else /tmp: one for all users of the machine. False at once, with the
 * holder's process number, when it is taken. *lock is what gpu_unlock wants; the lock also ends
 * with the process. */
bool gpu_lock(const char *uuid, int *lock, struct err *err);
void gpu_unlock(int lock); /* -1 is fine */

#endif
