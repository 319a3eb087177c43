/* Private to intake/: how a whole number of the program follows from numbers that have names. The
 * interpreter's values carry it beside the number itself.
 *
 *     n = 1024; blocks = (n + 255) / 256;     blocks is 4, and said as (n+255)/256
 *
 * What is said of a number comes to that number. All memory is the arena's. */
#ifndef KEET_INTAKE_EVAL_SAID_H
#define KEET_INTAKE_EVAL_SAID_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct interp_slot;

/* A variable, a field or a macro with a number. */
struct said_name {
    const char *text; /* a name of the task language: "n", "cfg_n" */
    int64_t value;
    bool known;                     /* false: nothing gives the number */
    bool is_macro;                  /* of the file, as a #define */
    unsigned at;                    /* the token that gives the number; 0: a macro */
    unsigned line;                  /* of that */
    const struct interp_slot *slot; /* of a variable or a field */
};

struct said {
    const char *op; /* "+", "?:", "min", "ceil_div"; "real/": a quotient that is not rounded yet;
                       NULL: a number or a name */
    const struct said *of[3];
    struct said_name *name; /* NULL: a number */
    int64_t number;
    unsigned weight; /* how many names and numbers it has */
};

const struct said *said_number(struct arena *arena, int64_t number);
const struct said *said_named(struct arena *arena, struct said_name name);

/* An operation, without factors of 1 and summands of 0. b or c NULL: it has fewer operands. NULL:
 * an operand is NULL, or it would be too long. */
const struct said *said_of(struct arena *arena, const char *op, const struct said *a,
    const struct said *b, const struct said *c);

/* What is said of a real number, as a whole number: rounded down, or up. NULL: it has no such. */
const struct said *said_whole(struct arena *arena, const struct said *said, bool up);

/* A number of bytes as a number of elements of so many bytes. */
const struct said *said_share(struct arena *arena, const struct said *bytes, unsigned each);

/* The variable's own name is in it. */
bool said_uses(const struct said *said, const struct interp_slot *slot);

#endif
