/* A small web server for one page on loopback, with events: the only user of libmicrohttpd.
 *
 * Each address begins with a word that is drawn anew (/3f.../), so that other users of the machine
 * and pages from elsewhere cannot guess it, and requests under another host's name are refused.
 * Only GET is answered. Nothing that a request sends is stored. */
#ifndef KEET_WEB_WEB_H
#define KEET_WEB_WEB_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes the content. Called by several threads at once. */
struct web_site {
    void *owner;
    /* The content under a name ("" is the page). False: *type is left alone, there is no such
     * content, or err says why it could not be made; *found tells the two apart. */
    bool (*content)(void *owner, const char *name, const char **type, struct str *out, bool *found,
        struct err *err);
    /* A listener of events, asked for news again and again; NULL: err. from: the query's number. */
    void *(*listen)(void *owner, int64_t from, struct err *err);
    /* Adds what is new, by web_event; nothing where nothing is. */
    void (*news)(void *listener, struct str *out);
    void (*leave)(void *listener);
};

struct web;

/* Listens on 127.0.0.1. port 0: any. *address: heap memory, "http://127.0.0.1:PORT/WORD/". The site
 * is borrowed. NULL: err. */
struct web *web_open(const struct web_site *site, unsigned port, char **address, struct err *err);
void web_close(struct web *web); /* ends all connections; NULL is fine */

/* An event by its name, with a line of data. */
void web_event(struct str *out, const char *name, const char *data);

#endif
