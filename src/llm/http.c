/* Owns libcurl: the thread that drives all exchanges, their deadlines and their retries. */
#include "llm/http.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/secret.h"

#include <curl/curl.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { POLL_MS = 1000, BACKOFF_MAX_S = 60 };

struct http {
    CURLM *multi;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping, is_ending;
    pthread_mutex_t lock; /* over `sent` */
    struct http_exchange *sent;
    /* the thread's own, without the lock */
    struct http_exchange *waiting, *running;
    struct rng rng;
};

struct http_attempt {
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    uint64_t start_ns, sent_ns, first_ns, last_ns; /* 0: not yet */
};

static pthread_once_t global_once = PTHREAD_ONCE_INIT;

/* Headers with a key in them pass through libcurl's own memory. Children must not inherit it. */
static void global_init(void)
{
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, secret_alloc, secret_free, secret_realloc,
        secret_strdup, secret_calloc);
}

static uint64_t from_s(double s)
{
    return s < 1e9 ? (uint64_t)(s * 1e9) : (uint64_t)1e18;
}

/* ---- what libcurl calls ---- */

static int on_sent(void *clientp, char *remote, char *local, int remote_port, int local_port)
{
    struct http_exchange *x = clientp;

    x->attempt->sent_ns = x->attempt->last_ns = clock_ns();
    return CURL_PREREQFUNC_OK;
}

static size_t on_body(char *bytes, size_t size, size_t nr, void *userdata)
{
    struct http_exchange *x = userdata;
    struct http_attempt *attempt = x->attempt;
    const size_t len = size * nr;

    attempt->last_ns = clock_ns();
    if (!attempt->first_ns) {
        const uint64_t from_ns = attempt->sent_ns ? attempt->sent_ns : attempt->start_ns;
        attempt->first_ns = attempt->last_ns;
        x->first_byte_ms = (double)(attempt->first_ns - from_ns) * 1e-6;
        curl_easy_getinfo(attempt->easy, CURLINFO_RESPONSE_CODE, &x->status);
    }
    x->body_got += len;
    if (x->owner->take(x, bytes, len))
        return len;
    x->is_cut_by_us = true;
    return len + 1; /* any number but len tells libcurl to end */
}

/* The value of a header line. False: it is another header. */
static bool header_value(
    const char *line, size_t len, const char *name, char *value, size_t value_bytes)
{
    const size_t name_len = strlen(name);
    size_t n = 0;

    if (len <= name_len || strncasecmp(line, name, name_len) || line[name_len] != ':')
        return false;
    for (size_t i = name_len + 1; i < len && n + 1 < value_bytes; i++)
        if (n || !strchr(" \t", line[i]))
            value[n++] = line[i];
    while (n && strchr(" \t\r\n", value[n - 1]))
        n--;
    value[n] = '\0';
    return true;
}

/* Seconds to wait, by RFC 9110, 10.2.3: a number, or a date. */
static double read_retry_after(const char *value)
{
    char *end;
    const double s = strtod(value, &end);
    const time_t at = end != value && !*end ? -1 : curl_getdate(value, NULL);

    if (end != value && !*end)
        return s >= 0 ? s : -1; /* NaN gives -1 too */
    if (at < 0)
        return -1;
    return at > time(NULL) ? (double)(at - time(NULL)) : 0;
}

static size_t on_header(char *line, size_t size, size_t nr, void *userdata)
{
    struct http_exchange *x = userdata;
    const size_t len = size * nr;
    char value[80];

    /* Each answer of a chain (100 Continue, a proxy's) begins anew. */
    if (len >= 5 && !strncasecmp(line, "HTTP/", 5)) {
        x->content_type[0] = '\0';
        x->retry_after_s = -1;
    }
    header_value(line, len, "content-type", x->content_type, sizeof(x->content_type));
    if (header_value(line, len, "retry-after-ms", value, sizeof(value)))
        x->retry_after_s = read_retry_after(value) / 1e3;
    else if (x->retry_after_s < 0 && header_value(line, len, "retry-after", value, sizeof(value)))
        x->retry_after_s = read_retry_after(value);
    return len;
}

/* ---- attempts ---- */

static void set_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_authorities(CURL *easy)
{
    const char *file = getenv("CURL_CA_BUNDLE");

    if (!file || !*file)
        file = getenv("SSL_CERT_FILE");
    if (file && *file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, file);
}

static void set_options(struct http_exchange *x)
{
    struct http_attempt *attempt = x->attempt;
    CURL *easy = attempt->easy;

    for (unsigned i = 0; i < HTTP_MAX_HEADERS && x->headers[i]; i++)
        attempt->headers = curl_slist_append(attempt->headers, x->headers[i]);
    attempt->headers = curl_slist_append(attempt->headers, "Expect:"); /* no 100-continue */
    set_protocols(easy);
    set_authorities(easy);
    curl_easy_setopt(easy, CURLOPT_URL, x->url);
    /* HTTP/2 would gain nothing here, and its library would keep the headers in memory of its own.
     */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, attempt->headers);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)x->body_bytes);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, x->body);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "keet-opt/" KEET_VERSION);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(x->limits->connect_s * 1e3) + 1);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, attempt->error);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_sent);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, x);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
}

static void push(struct http_exchange **list, struct http_exchange *x)
{
    x->next = *list;
    *list = x;
}

static void unlink_from(struct http_exchange **list, const struct http_exchange *x)
{
    while (*list != x)
        list = &(*list)->next;
    *list = x->next;
}

static void finish(struct http_exchange *x)
{
    x->owner->finished(x);
}

static void begin_attempt(struct http *http, struct http_exchange *x)
{
    x->status = 0;
    x->fault[0] = x->content_type[0] = '\0';
    x->is_fault_final = x->is_cut_by_us = false;
    x->retry_after_s = -1;
    x->body_got = 0;
    x->first_byte_ms = 0;
    x->attempts++;
    x->owner->begin(x);
    x->attempt = xcalloc(1, sizeof(*x->attempt));
    x->attempt->start_ns = clock_ns();
    x->attempt->easy = curl_easy_init();
    set_options(x);
    curl_multi_add_handle(http->multi, x->attempt->easy);
    push(&http->running, x);
}

static void drop_attempt(struct http *http, struct http_exchange *x)
{
    unlink_from(&http->running, x);
    curl_multi_remove_handle(http->multi, x->attempt->easy);
    curl_easy_cleanup(x->attempt->easy);
    curl_slist_free_all(x->attempt->headers);
    free(x->attempt);
    x->attempt = NULL;
}

/* ---- after an attempt ---- */

bool http_is_transient(const struct http_exchange *x)
{
    if (x->fault[0])
        return !x->is_fault_final;
    return x->status == 408 || x->status == 409 || x->status == 425 || x->status == 429 ||
           x->status >= 500;
}

/* Seconds until the next attempt: what the server asked for, spread a little, so that clients that
 * were sent away together do not come back together; else exponential back-off. */
static double wait_s(struct http *http, const struct http_exchange *x)
{
    const double half = 0.5 + 0.5 * rng_unit(&http->rng);
    double s = x->limits->backoff_s;

    if (x->retry_after_s > 0)
        return x->retry_after_s * (0.95 + 0.1 * half);
    for (unsigned i = 1; i < x->attempts && s < BACKOFF_MAX_S; i++)
        s *= 2;
    return (s < BACKOFF_MAX_S ? s : BACKOFF_MAX_S) * half;
}

static void after_attempt(struct http *http, struct http_exchange *x)
{
    const enum http_next next = x->owner->judge(x);
    const double s = next == HTTP_RETRY ? wait_s(http, x) : 0;
    const uint64_t now = clock_ns();

    if (next == HTTP_DONE || x->is_given_up || x->attempts >= x->limits->attempts ||
        now + from_s(s) >= x->deadline_ns) {
        finish(x);
        return;
    }
    x->waited_ms += s * 1e3;
    x->due_ns = now + from_s(s);
    push(&http->waiting, x);
}

static bool is_final_code(CURLcode code)
{
    return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
           code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_ISSUER_ERROR;
}

static void take_finished(struct http *http)
{
    struct http_exchange *x;
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(http->multi, &left))) {
        const CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &x);
        curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &x->status);
        if (code != CURLE_OK && !x->is_cut_by_us) {
            snprintf(x->fault, sizeof(x->fault), "%s",
                x->attempt->error[0] ? x->attempt->error : curl_easy_strerror(code));
            x->is_fault_final = is_final_code(code);
        }
        drop_attempt(http, x);
        after_attempt(http, x);
    }
}

/* ---- deadlines ---- */

/* When to break off the attempt, and what to say then. */
static uint64_t attempt_deadline(const struct http_exchange *x, const char **what, double *limit_s)
{
    const struct http_attempt *attempt = x->attempt;
    uint64_t at;

    if (attempt->first_ns) {
        *what = "the answer stopped coming";
        *limit_s = x->limits->idle_s;
        at = attempt->last_ns + from_s(*limit_s);
    } else if (attempt->sent_ns) {
        *what = "no answer came";
        *limit_s = x->limits->first_byte_s;
        at = attempt->sent_ns + from_s(*limit_s);
    } else { /* libcurl watches this deadline itself: a margin of a second */
        *what = "no connection came about";
        *limit_s = x->limits->connect_s;
        at = attempt->start_ns + from_s(*limit_s + 1);
    }
    if (at < x->deadline_ns)
        return at;
    *what = "the call was not over";
    *limit_s = x->limits->total_s;
    return x->deadline_ns;
}

static void check_deadlines(struct http *http, uint64_t now)
{
    struct http_exchange *x, *next;

    for (x = http->running; x; x = next) {
        const char *what;
        double limit_s;
        next = x->next;
        if (attempt_deadline(x, &what, &limit_s) > now)
            continue;
        snprintf(x->fault, sizeof(x->fault), "%s within %g s", what, limit_s);
        drop_attempt(http, x);
        after_attempt(http, x);
    }
}

static int poll_ms(const struct http *http, uint64_t now)
{
    uint64_t until = now + (uint64_t)POLL_MS * 1000000;
    const char *what;
    double limit_s;

    for (const struct http_exchange *x = http->running; x; x = x->next)
        if (attempt_deadline(x, &what, &limit_s) < until)
            until = attempt_deadline(x, &what, &limit_s);
    for (const struct http_exchange *x = http->waiting; x; x = x->next)
        if (x->due_ns < until)
            until = x->due_ns;
    return until <= now ? 0 : (int)((until - now) / 1000000) + 1;
}

/* ---- the thread ---- */

static void take_sent(struct http *http)
{
    struct http_exchange *x, *next;

    pthread_mutex_lock(&http->lock);
    x = http->sent;
    http->sent = NULL;
    pthread_mutex_unlock(&http->lock);
    for (; x; x = next) {
        next = x->next;
        x->due_ns = clock_ns();
        x->deadline_ns = x->due_ns + from_s(x->limits->total_s);
        push(&http->waiting, x);
    }
}

static void begin_due(struct http *http, uint64_t now)
{
    struct http_exchange *x, *next;

    for (x = http->waiting; x; x = next) {
        next = x->next;
        if (x->due_ns > now)
            continue;
        unlink_from(&http->waiting, x);
        begin_attempt(http, x);
    }
}

static void give_up_all(struct http *http)
{
    struct http_exchange *x;

    while ((x = http->running)) {
        x->is_given_up = true;
        snprintf(x->fault, sizeof(x->fault), "given up: the run has ended");
        drop_attempt(http, x);
        after_attempt(http, x);
    }
    while ((x = http->waiting)) {
        x->is_given_up = true;
        unlink_from(&http->waiting, x);
        snprintf(x->fault, sizeof(x->fault), "given up: the run has ended");
        x->owner->judge(x);
        finish(x);
    }
}

static void *thread_main(void *argument)
{
    struct http *http = argument;
    sigset_t all;
    int nr_running;

    sigfillset(&all); /* SIGPIPE above all; the others are for the main thread */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&http->is_ending)) {
        take_sent(http);
        if (atomic_load(&http->is_stopping))
            give_up_all(http);
        begin_due(http, clock_ns());
        curl_multi_perform(http->multi, &nr_running);
        take_finished(http);
        check_deadlines(http, clock_ns());
        secret_clear_registers();
        curl_multi_poll(http->multi, NULL, 0, poll_ms(http, clock_ns()), NULL);
    }
    return NULL;
}

void http_send(struct http *http, struct http_exchange *x)
{
    pthread_mutex_lock(&http->lock);
    push(&http->sent, x);
    pthread_mutex_unlock(&http->lock);
    curl_multi_wakeup(http->multi);
}

void http_stop(struct http *http)
{
    atomic_store(&http->is_stopping, true);
    curl_multi_wakeup(http->multi);
}

struct http *http_create(uint64_t seed, struct err *err)
{
    struct http *http;
    int failed;

    pthread_once(&global_once, global_init);
    http = xcalloc(1, sizeof(*http));
    pthread_mutex_init(&http->lock, NULL);
    rng_seed(&http->rng, seed, 0);
    http->multi = curl_multi_init();
    failed = http->multi ? pthread_create(&http->thread, NULL, thread_main, http) : -1;
    http->has_thread = failed == 0;
    if (http->has_thread)
        return http;
    err_set(err, "cannot start libcurl");
    http_destroy(http);
    return NULL;
}

void http_destroy(struct http *http)
{
    if (!http)
        return;
    if (http->has_thread) {
        atomic_store(&http->is_ending, true);
        curl_multi_wakeup(http->multi);
        pthread_join(http->thread, NULL);
    }
    if (http->multi)
        curl_multi_cleanup(http->multi);
    pthread_mutex_destroy(&http->lock);
    free(http);
}
