/* HTTP requests with deadlines and retries, many at a time. The only door to libcurl.
 *
 * An exchange is one request with one outcome and perhaps several attempts. Its owner fills a
 * `struct http_exchange` and gives it to http_send. One thread drives all exchanges, and calls the
 * owner:
 *
 *     begin     an attempt starts: forget what was read
 *     take      bytes of the body. False: enough, break off
 *     judge     the attempt is over; x->status, x->fault and x->content_type say how. What now?
 *     finished  the last attempt is over; the exchange is the owner's again
 *
 * TLS is verified; SSL_CERT_FILE or CURL_CA_BUNDLE name other authorities. Proxies come from
 * http_proxy, https_proxy, all_proxy and no_proxy. Redirects are not followed: a key must not move
 * to another host. */
#ifndef KEET_LLM_HTTP_H
#define KEET_LLM_HTTP_H

#include "base/err.h"
#include "llm/llm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;
struct http_exchange;

enum http_next {
    HTTP_DONE,
    HTTP_RETRY,    /* after a wait, if attempts and time are left */
    HTTP_RETRY_NOW /* at once: the owner changed the request */
};

struct http_owner {
    void (*begin)(struct http_exchange *x);
    bool (*take)(struct http_exchange *x, const char *bytes, size_t len);
    enum http_next (*judge)(struct http_exchange *x);
    void (*finished)(struct http_exchange *x);
};

enum { HTTP_FAULT_BYTES = 320, HTTP_MAX_HEADERS = 8 };

struct http_exchange {
    const struct http_owner *owner;
    const struct llm_limits *limits;
    const char *url;
    const char *headers[HTTP_MAX_HEADERS]; /* "Name: value"; ended by NULL */
    const char *body;
    size_t body_bytes;

    /* set by http.c, of the attempt */
    long status;                  /* 0: no answer */
    char fault[HTTP_FAULT_BYTES]; /* of the transport, a deadline included; "" if none */
    bool is_fault_final;          /* the next attempt would fail too: certificate, address */
    bool is_cut_by_us;            /* the owner's take returned false */
    char content_type[80];
    double retry_after_s; /* what the server asked for; < 0: nothing */
    uint64_t body_got;

    /* set by http.c, of all attempts */
    unsigned attempts;
    double waited_ms;     /* between attempts */
    double first_byte_ms; /* of the last attempt */
    bool is_given_up;     /* by http_stop */

    struct http_attempt *attempt; /* http.c's */
    uint64_t deadline_ns, due_ns;
    struct http_exchange *next;
};

/* Whether another attempt may fare better, by the status (429, 503, ...) or the fault. */
bool http_is_transient(const struct http_exchange *x);

struct http *http_create(uint64_t seed, struct err *err); /* seed: of the waits' jitter */
void http_destroy(struct http *http);                     /* after all exchanges have finished */
void http_send(struct http *http, struct http_exchange *x);
void http_stop(struct http *http); /* all exchanges finish at once, those sent later too */

#endif
