/* Owns how numbers of the program follow from one another. */
#include "intake/eval/said.h"

#include "base/mem.h"

#include <string.h>

enum { MAX_WEIGHT = 48 };

const struct said *said_number(struct arena *arena, int64_t number)
{
    struct said *s = arena_alloc(arena, sizeof(*s));

    *s = (struct said){.number = number, .weight = 1};
    return s;
}

const struct said *said_named(struct arena *arena, struct said_name name)
{
    struct said *s = arena_alloc(arena, sizeof(*s));

    *s = (struct said){.name = arena_alloc(arena, sizeof(name)), .weight = 1};
    *s->name = name;
    return s;
}

static bool is_number(const struct said *s, int64_t number)
{
    return !s->op && !s->name && s->number == number;
}

static bool is_plain(const struct said *s)
{
    return !s || (!s->op && !s->name);
}

const struct said *said_of(struct arena *arena, const char *op, const struct said *a,
    const struct said *b, const struct said *c)
{
    const bool real =
        a && b &&
        ((a->op && strcmp(a->op, "real/") == 0) || (b->op && strcmp(b->op, "real/") == 0));

    if (!a || !b || real || a->weight + b->weight + (c ? c->weight : 0) > MAX_WEIGHT ||
        (is_plain(a) && is_plain(b) && is_plain(c)))
        return NULL;
    if ((strcmp(op, "*") == 0 && (is_number(a, 0) || is_number(b, 0))))
        return NULL;
    if ((strcmp(op, "*") == 0 && is_number(a, 1)) || (strcmp(op, "+") == 0 && is_number(a, 0)))
        return b;
    if (((strcmp(op, "*") == 0 || op[0] == '/') && is_number(b, 1)) ||
        ((op[0] == '+' || op[0] == '-') && is_number(b, 0)))
        return a;
    struct said *s = arena_alloc(arena, sizeof(*s));

    *s = (struct said){
        .op = op, .of = {a, b, c}, .weight = a->weight + b->weight + (c ? c->weight : 0)};
    return s;
}

const struct said *said_whole(struct arena *arena, const struct said *said, bool up)
{
    if (!said || !said->op || strcmp(said->op, "real/") != 0)
        return said;
    return said_of(arena, up ? "ceil_div" : "/", said->of[0], said->of[1], NULL);
}

/* The number of bytes over `each`, where that has no rest; NULL: it may have one. */
static const struct said *without_rest(struct arena *arena, const struct said *bytes, unsigned each)
{
    const struct said *a = bytes->of[0], *b = bytes->of[1], *part;

    if (!bytes->op)
        return bytes->name || bytes->number % each ? NULL
                                                   : said_number(arena, bytes->number / each);
    if (strcmp(bytes->op, "*") == 0) {
        if ((part = without_rest(arena, b, each)) != NULL)
            return is_number(part, 1) ? a : said_of(arena, "*", a, part, NULL);
        if ((part = without_rest(arena, a, each)) != NULL)
            return is_number(part, 1) ? b : said_of(arena, "*", part, b, NULL);
    }
    const bool sum = bytes->op[0] == '+' || bytes->op[0] == '-';
    const struct said *right = sum ? without_rest(arena, b, each) : NULL;

    part = right ? without_rest(arena, a, each) : NULL;
    return part ? said_of(arena, bytes->op, part, right, NULL) : NULL;
}

const struct said *said_share(struct arena *arena, const struct said *bytes, unsigned each)
{
    const struct said *part = bytes && each ? without_rest(arena, bytes, each) : NULL;

    return part || !bytes || !each ? part
                                   : said_of(arena, "/", bytes, said_number(arena, each), NULL);
}

bool said_uses(const struct said *said, const struct interp_slot *slot)
{
    if (!said)
        return false;
    if (said->name)
        return said->name->slot == slot;
    return said_uses(said->of[0], slot) || said_uses(said->of[1], slot) ||
           said_uses(said->of[2], slot);
}
