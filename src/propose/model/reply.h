/* Replies: a kernel file out of whatever a model wrote. Private to propose/.
 *
 * A reply may hold the file in three forms:
 *     a fenced block with the whole file: ``` or ~~~, any name after it, CRLF, line numbers copied
 *     SEARCH/REPLACE edits against the version that was shown, inside fences or not
 *     a bare file without fences
 * Nothing else in a reply is looked at, and nothing is ever run. */
#ifndef KEET_PROPOSE_MODEL_REPLY_H
#define KEET_PROPOSE_MODEL_REPLY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum reply_kind {
    REPLY_SOURCE,    /* source is there */
    REPLY_NO_KERNEL, /* text without code */
    REPLY_REFUSED,   /* text without code, in the words of a refusal */
    REPLY_DECLINED,  /* text without code, with a line "DECLINE: reason"; why is the reason */
    REPLY_TRUNCATED, /* ends inside a block or an edit */
    REPLY_TWO,       /* several different files: nothing says which one is meant */
    REPLY_NO_LAUNCH, /* a kernel without a launch line */
    REPLY_BAD_EDIT   /* an edit whose SEARCH part does not stand exactly once in the file */
};

struct reply {
    enum reply_kind kind;
    const char *source; /* REPLY_SOURCE */
    size_t bytes;
    const char *note; /* the first sentence outside code, at most 200 bytes; "" */
    const char *why;  /* other kinds: a sentence that says what is wrong, for the model too */
    const char *move, *expect; /* what follows "MOVE:" and "EXPECT:" outside code; "": none */
};

/* base: the version that edits are made on. truncated: the endpoint said that the reply was cut
 * short. The result is in the arena. */
struct reply reply_read(struct arena *arena, const char *text, const char *base, bool truncated);

#endif
