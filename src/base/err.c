/* Owns nothing: formats errors into the caller's struct. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(err->text, sizeof(err->text), format, ap);
    va_end(ap);
    err->original = false;
    return false;
}

bool err_original(struct err *err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(err->text, sizeof(err->text), format, ap);
    va_end(ap);
    err->original = true;
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    char inner[ERR_TEXT_BYTES];
    va_list ap;
    size_t used, left;

    memcpy(inner, err->text, sizeof(inner));
    va_start(ap, format);
    vsnprintf(err->text, sizeof(err->text) - sizeof(": "), format, ap);
    va_end(ap);
    strcat(err->text, ": ");
    used = strlen(err->text);
    left = sizeof(err->text) - 1 - used;
    if (left > strlen(inner))
        left = strlen(inner);
    memcpy(err->text + used, inner, left);
    err->text[used + left] = '\0';
    return false;
}

bool err_errno(struct err *err, const char *format, ...)
{
    const int saved = errno;
    va_list ap;
    int used;

    va_start(ap, format);
    used = vsnprintf(err->text, sizeof(err->text), format, ap);
    va_end(ap);
    err->original = false;
    if (used >= 0 && (size_t)used < sizeof(err->text))
        snprintf(err->text + used, sizeof(err->text) - (size_t)used, ": %s", strerror(saved));
    return false;
}
