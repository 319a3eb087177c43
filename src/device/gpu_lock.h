/* One process of ours per GPU: when two share a GPU, their timings are worth nothing. */
#ifndef KEET_DEVICE_GPU_LOCK_H
#define KEET_DEVICE_GPU_LOCK_H

#include "base/err.h"

#include <stdbool.h>

/* Locks <folder>/keet-opt-gpu-<uuid>.lock. The folder is $KEET_LOCK_DIR, else /run/lock where
 * everyone may write there, else /tmp, so that all users of the machine share one lock. False at
 * once, with the holder's process number, when the lock is taken. Give *lock to gpu_unlock; the
 * lock also ends with the process. */
bool gpu_lock(const char *uuid, int *lock, struct err *err);
void gpu_unlock(int lock); /* -1 is fine */

#endif
