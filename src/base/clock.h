/* Time. */
#ifndef KEET_BASE_CLOCK_H
#define KEET_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);       /* monotonic, since an arbitrary start */
void clock_utc(char text[32]); /* now, as 2026-01-31T12:34:56Z */

#endif
