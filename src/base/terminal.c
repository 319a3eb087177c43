/* Owns the guard between our streams and a terminal: streams of the C library with a write function
 * of ours (fopencookie). */
#include "base/terminal.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct guard {
    FILE *file; /* NULL: this stream goes to no terminal */
    int fd;
    bool raw;
    struct terminal_pending pending;
};

static struct guard guards[2];

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* ---- characters ---- */

static bool may_pass(const unsigned char *c, size_t bytes)
{
    unsigned code;

    if (bytes == 1)
        return (c[0] >= ' ' && c[0] != 127) || c[0] == '\n' || c[0] == '\t';
    if (bytes == 2)
        return c[0] != 0xc2 || c[1] >= 0xa0; /* U+0080 to U+009F */
    if (bytes != 3)
        return true;
    code = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    return code != 0x61c && code != 0x200e && code != 0x200f &&
           !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

/* Could more bytes make these the beginning of a character? */
static bool is_beginning(const unsigned char *c, size_t nr)
{
    const size_t need = c[0] >= 0xf0 && c[0] < 0xf5   ? 4
                        : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                        : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                                                      : 0;

    for (size_t i = 1; i < nr; i++)
        if ((c[i] & 0xc0) != 0x80)
            return false;
    return nr < need;
}

size_t terminal_clean(struct terminal_pending *p, const char *bytes, size_t len, char *out)
{
    const size_t all = p->nr + len;
    unsigned char *text = xmalloc(all);
    size_t at = 0, nr = 0;

    memcpy(text, p->bytes, p->nr);
    memcpy(text + p->nr, bytes, len);
    p->nr = 0;
    while (at < all) {
        const size_t good = str_utf8_bytes((const char *)text + at, all - at);

        if (!good && is_beginning(text + at, all - at)) {
            p->nr = all - at;
            memcpy(p->bytes, text + at, p->nr);
            break;
        }
        if (good && may_pass(text + at, good)) {
            memcpy(out + nr, text + at, good);
            nr += good;
        } else {
            for (unsigned i = 0; i < 3; i++)
                out[nr++] = replacement[i];
        }
        at += good ? good : 1;
    }
    free(text);
    return nr;
}

/* ---- streams ---- */

static ssize_t write_guarded(void *cookie, const char *bytes, size_t len)
{
    struct guard *guard = cookie;
    char *clean;
    bool ok;

    if (guard->raw)
        return fd_write(guard->fd, bytes, len) ? (ssize_t)len : 0;
    clean = xmalloc(3 * (len + sizeof(guard->pending.bytes)));
    ok = fd_write(guard->fd, clean, terminal_clean(&guard->pending, bytes, len, clean));
    free(clean);
    return ok ? (ssize_t)len : 0;
}

static FILE *guard_stream(struct guard *guard, FILE *stream, int buffering)
{
    const cookie_io_functions_t functions = {.write = write_guarded};

    guard->fd = fileno(stream);
    if (!isatty(guard->fd))
        return stream;
    guard->file = fopencookie(guard, "w", functions);
    if (!guard->file)
        return stream;
    setvbuf(guard->file, NULL, buffering, 0);
    return guard->file;
}

void terminal_guard(void)
{
    stdout = guard_stream(&guards[0], stdout, _IOLBF);
    stderr = guard_stream(&guards[1], stderr, _IONBF);
}

static struct guard *guard_of(FILE *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(guards); i++)
        if (guards[i].file == out)
            return &guards[i];
    return NULL;
}

void terminal_control(FILE *out, const char *sequence)
{
    struct guard *guard = guard_of(out);

    fflush(out);
    if (guard)
        guard->raw = true;
    fputs(sequence, out);
    fflush(out);
    if (guard)
        guard->raw = false;
}

int terminal_fd(FILE *out)
{
    const struct guard *guard = guard_of(out);

    return guard ? guard->fd : fileno(out);
}

/* The error may be older than errno: we ask the pipe. */
static bool reader_is_gone(void)
{
    struct pollfd pipe = {.fd = terminal_fd(stdout)};

    return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR);
}

bool terminal_flush(struct err *err)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE || (!errno && reader_is_gone()))
        return true;
    return errno ? err_errno(err, "cannot write to standard output")
                 : err_set(err, "cannot write to standard output");
}
