/* Private to lib/: one helper process, at the other end of a socket. The caller sees to it that one
 * thread at a time uses it. */
#ifndef KEET_LIB_HELPER_H
#define KEET_LIB_HELPER_H

#include "lib/frame.h"
#include "lib/keet.h"

#include <stdatomic.h>
#include <sys/types.h>

struct helper {
    pid_t pid; /* 0: not started, or gone */
    int socket, errors;
    bool busy;
    uint64_t last; /* the hash of the original of its last call */
    uint64_t used; /* the moment of that call */
};

/* How a call ended. */
enum helper_end { HELPER_ANSWERED, HELPER_GONE, HELPER_LATE, HELPER_INTERRUPTED };

/* Starts the process with these arguments (argv[0] is the program), and waits for its first
 * message. cuda: for its environment; NULL: nothing. False: error, and the helper is as before. */
bool helper_start(struct helper *helper, const char *const *argv, const char *cuda,
    uint64_t memory_bytes, struct keet_error *error);

/* Sends a request, and waits for the answer, until the process took limit_s of processor time or
 * ten times that by the clock, and not when *interrupts has another value than `as_begun`. Another
 * end than HELPER_ANSWERED kills the process; `why` then says what it printed last, or how it
 * ended. */
enum helper_end helper_call(struct helper *helper, const struct frame *request,
    struct frame *answer, double limit_s, const atomic_uint *interrupts, unsigned as_begun,
    char why[512]);

/* Ends the process, if there is one: it has two seconds for it. */
void helper_stop(struct helper *helper);
/* In a forked child of the process that started it: forgets it. */
void helper_forget(struct helper *helper);

/* Sets the error; false. error may be NULL. */
bool helper_error(struct keet_error *error, enum keet_error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
