/* Owns the answers of the rewriter's child: a ring of the latest. */
#include "propose/rewrite/listings.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

enum { MOST_LISTINGS = 512 };

static const size_t most_bytes = 64u << 20;

struct listing {
    struct hash source;
    char *answer;
    size_t bytes;
};

struct listings {
    struct listing ring[MOST_LISTINGS];
    unsigned first, nr;
    size_t bytes;
};

struct listings *listings_create(void)
{
    return xcalloc(1, sizeof(struct listings));
}

static void drop_first(struct listings *listings)
{
    struct listing *first = &listings->ring[listings->first];

    listings->bytes -= first->bytes;
    free(first->answer);
    listings->first = (listings->first + 1) % MOST_LISTINGS;
    listings->nr--;
}

void listings_destroy(struct listings *listings)
{
    while (listings && listings->nr)
        drop_first(listings);
    free(listings);
}

void listings_keep(
    struct listings *listings, const char *source, size_t bytes, char *answer, size_t answer_bytes)
{
    while (listings->nr == MOST_LISTINGS ||
           (listings->nr && listings->bytes + answer_bytes > most_bytes))
        drop_first(listings);
    listings->ring[(listings->first + listings->nr++) % MOST_LISTINGS] =
        (struct listing){hash_bytes(source, bytes, 0), answer, answer_bytes};
    listings->bytes += answer_bytes;
}

const char *listings_find(
    const struct listings *listings, const char *source, size_t bytes, size_t *answer_bytes)
{
    const struct hash hash = hash_bytes(source, bytes, 0);

    for (unsigned i = listings->nr; i-- > 0;) {
        const struct listing *at = &listings->ring[(listings->first + i) % MOST_LISTINGS];

        if (at->source.high == hash.high && at->source.low == hash.low) {
            *answer_bytes = at->bytes;
            return at->answer;
        }
    }
    return NULL;
}
