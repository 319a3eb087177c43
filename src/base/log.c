/* Owns the log level. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level level_now = LOG_QUIET;

void log_set_level(enum log_level level)
{
    level_now = level;
}

enum log_level log_level(void)
{
    return level_now;
}

static void say(enum log_level level, const char *format, va_list ap)
{
    if (level_now < level)
        return;
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

void log_note(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(LOG_NOTE, format, ap);
    va_end(ap);
}

void log_detail(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    say(LOG_DETAIL, format, ap);
    va_end(ap);
}
