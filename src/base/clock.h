/* Time. */
#ifndef KEET_BASE_CLOCK_H
#define KEET_BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_ns(void);       /* monotonic, since an arbitrary start */
uint64_t clock_cpu_ns(void);   /* of the processor, for all threads of this process */
void clock_utc(char text[32]); /* now, as 2026-01-31T12:34:56Z */

#endif
