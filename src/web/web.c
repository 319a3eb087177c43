/* Owns the web server. A connection has a thread of its own, which waits for news. */
#include "web/web.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { WORD_BYTES = 16, MOST_CONNECTIONS = 32, LOOK_MS = 200, STREAM_BLOCK_BYTES = 32768 };
/* A connection that has ended is noticed when something is sent. */
static const double SILENCE_S = 2;

struct web {
    const struct web_site *site;
    struct MHD_Daemon *daemon;
    char word[2 * WORD_BYTES + 1];
    char host[32], local_host[32]; /* as the requests' headers name us */
    atomic_bool ending;
};

/* A listener of events. */
struct web_stream {
    struct web *web;
    void *listener;
    struct str text; /* to be sent */
    size_t sent;
    uint64_t last_ns;
};

void web_event(struct str *out, const char *name, const char *data)
{
    str_addf(out, "event: %s\ndata: %s\n\n", name, data);
}

/* ---- events ---- */

static bool is_silent(const struct web_stream *stream)
{
    return (double)(clock_ns() - stream->last_ns) * 1e-9 > SILENCE_S;
}

static ssize_t stream_read(void *owner, uint64_t at, char *bytes, size_t most)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    struct web_stream *stream = owner;
    size_t len;

    (void)at;
    while (stream->sent == stream->text.len) {
        if (atomic_load(&stream->web->ending))
            return MHD_CONTENT_READER_END_OF_STREAM;
        str_clear(&stream->text);
        stream->sent = 0;
        stream->web->site->news(stream->listener, &stream->text);
        if (stream->text.len == 0 && is_silent(stream))
            str_add(&stream->text, ":\n\n");
        if (stream->text.len == 0)
            nanosleep(&pause, NULL);
    }
    len = stream->text.len - stream->sent;
    len = len < most ? len : most;
    memcpy(bytes, stream->text.text + stream->sent, len);
    stream->sent += len;
    stream->last_ns = clock_ns();
    return (ssize_t)len;
}

static void stream_end(void *owner)
{
    struct web_stream *stream = owner;

    stream->web->site->leave(stream->listener);
    str_finish(&stream->text);
    free(stream);
}

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
    const char *type, struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(
    struct MHD_Connection *connection, unsigned status, const char *type, const struct str *text)
{
    return send_response(connection, status, type,
        MHD_create_response_from_buffer(
            text->len, (void *)(uintptr_t)str_text(text), MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result refuse(
    struct MHD_Connection *connection, unsigned status, const char *reason)
{
    struct str text = {0};
    enum MHD_Result result;

    str_addf(&text, "%s\n", reason);
    result = send_text(connection, status, "text/plain; charset=utf-8", &text);
    str_finish(&text);
    return result;
}

static enum MHD_Result send_events(struct web *web, struct MHD_Connection *connection)
{
    const char *from = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "from");
    struct web_stream *stream = xcalloc(1, sizeof(*stream));
    struct err err;

    *stream = (struct web_stream){.web = web, .last_ns = clock_ns()};
    stream->listener =
        web->site->listen(web->site->owner, from ? strtoll(from, NULL, 10) : -1, &err);
    if (!stream->listener) {
        free(stream);
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    }
    return send_response(connection, MHD_HTTP_OK, "text/event-stream",
        MHD_create_response_from_callback(
            MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, stream_read, stream, stream_end));
}

static enum MHD_Result send_content(
    struct web *web, struct MHD_Connection *connection, const char *name)
{
    struct str text = {0};
    const char *type = "text/plain";
    enum MHD_Result result;
    bool found = true;
    struct err err;

    if (web->site->content(web->site->owner, name, &type, &text, &found, &err))
        result = send_text(connection, MHD_HTTP_OK, type, &text);
    else if (found)
        result = refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    else
        result = refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
    str_finish(&text);
    return result;
}

/* A page from elsewhere may send requests here, under its own host's name. */
static bool is_for_us(const struct web *web, struct MHD_Connection *connection)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

    return host && (strcmp(host, web->host) == 0 || strcmp(host, web->local_host) == 0);
}

static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *upload, size_t *upload_bytes, void **state)
{
    struct web *web = owner;
    const size_t len = strlen(web->word);

    (void)version;
    (void)upload;
    (void)upload_bytes;
    (void)state;
    if (strcmp(method, "GET") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is answered");
    if (!is_for_us(web, connection) || url[0] != '/' || strncmp(url + 1, web->word, len) != 0 ||
        url[1 + len] != '/')
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
    url += len + 2;
    return strcmp(url, "events") == 0 ? send_events(web, connection)
                                      : send_content(web, connection, url);
}

/* ---- the server ---- */

static bool draw_word(char *word, struct err *err)
{
    unsigned char bytes[WORD_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return err_errno(err, "random numbers");
    for (unsigned i = 0; i < WORD_BYTES; i++)
        snprintf(word + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool start(struct web *web, unsigned port, struct err *err)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const union MHD_DaemonInfo *info;

    web->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION,
        (uint16_t)port, NULL, NULL, on_request, web, MHD_OPTION_SOCK_ADDR, &at,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_END);
    if (!web->daemon)
        return err_errno(err, "listening on 127.0.0.1:%u", port);
    info = MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(web->host, sizeof(web->host), "127.0.0.1:%u", info ? info->port : port);
    snprintf(web->local_host, sizeof(web->local_host), "localhost:%u", info ? info->port : port);
    return true;
}

struct web *web_open(const struct web_site *site, unsigned port, char **address, struct err *err)
{
    struct web *web = xcalloc(1, sizeof(*web));
    struct str text = {0};

    web->site = site;
    if (!draw_word(web->word, err) || !start(web, port, err)) {
        free(web);
        return NULL;
    }
    str_addf(&text, "http://%s/%s/", web->host, web->word);
    *address = str_take(&text);
    return web;
}

void web_close(struct web *web)
{
    if (!web)
        return;
    atomic_store(&web->ending, true);
    MHD_stop_daemon(web->daemon);
    free(web);
}
