/* Owns nothing: reads the system's clocks. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void clock_utc(char text[32])
{
    const time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
