/* What the search costs: microseconds per ask and per tell, and bytes a node, at several sizes of a
 * synthetic tree. Usage: search_bench [LARGEST [POLICY...]]; the default is 100000 nodes and every
 * policy. bench/search.sh makes the table in results/search/ of it.
 *
 * The landscape: three in ten of the moves fail, one in eight gains up to 0.4 (log2) divided by its
 * depth down to depth DEEPEST, the others lose up to 0.5 or change nothing. A node offers 24 moves
 * of 300 kinds. With "models" it offers two requests for the best nodes and one for a pair besides,
 * the root eight fresh starts. At depth END the moves have run out: what is told goes up a whole
 * path, so that depth is paid for. Four picks are under way at a time. */
#include "search/search.h"
#include "tests/unit/search/draw.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOVES = 24,
    REQUESTS = 8,
    KINDS = 300,
    UNDER_WAY = 4,
    DEEPEST = 24,
    END = 100,
    WINDOW = 500
};

struct place {
    double reward;
    unsigned depth;
};

static unsigned offer(bool models, int64_t node, struct search_move *moves)
{
    unsigned nr = 0;

    for (; nr < MOVES; nr++) {
        moves[nr] = (struct search_move){.id = nr,
            .prior = (float)(unit(2, (uint64_t)node * 64 + nr) * 2 / MOVES),
            .kind = 1 + (uint32_t)(mix(3, (uint64_t)node * 64 + nr) % KINDS)};
    }
    for (unsigned i = 0; models && i < (node == 0 ? REQUESTS : 3); i++, nr++) {
        moves[nr] = (struct search_move){.id = nr, .prior = 0.1f};
        moves[nr].arm = node == 0 ? 1 : i < 2 ? 2 : 3;
        moves[nr].flags = node == 0 ? SEARCH_FRESH
                          : i < 2   ? SEARCH_FROM_BEST
                                    : SEARCH_FROM_BEST | SEARCH_FRESH | SEARCH_PAIR;
    }
    return nr;
}

static struct search_outcome outcome_of(
    bool models, const struct search_pick *pick, struct place *places, struct search_move *moves)
{
    const struct place *from = &places[pick->parent];
    const uint64_t place = (uint64_t)pick->parent * 64 + pick->move;
    const double draw = unit(1, place), size = unit(4, place);
    struct place *to = &places[pick->node];

    *to = (struct place){from->reward, from->depth + 1};
    if (draw < 0.3) {
        return (struct search_outcome){.ok = false};
    }
    if (draw > 0.875 && to->depth <= DEEPEST) {
        to->reward += 0.4 * size / to->depth;
    } else if (draw < 0.6) {
        to->reward -= 0.5 * size;
    }
    return (struct search_outcome){.ok = true,
        .reward = to->reward,
        .moves = moves,
        .nr_moves = to->depth < END ? offer(models, pick->node, moves) : 0};
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* what others run meanwhile does not count */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The mean and the 99th percentile of the WINDOW asks, and tells, that lead to a size. */
static void show(
    const char *policy, bool models, int64_t nr, double *asks, double *tells, size_t before)
{
    const struct mallinfo2 memory = mallinfo2();
    double ask = 0, tell = 0;

    for (int i = 0; i < WINDOW; i++) {
        ask += asks[i] / WINDOW;
        tell += tells[i] / WINDOW;
    }
    qsort(asks, WINDOW, sizeof(*asks), by_size);
    qsort(tells, WINDOW, sizeof(*tells), by_size);
    printf("| %s%s | %lld | %.2f | %.2f | %.2f | %.2f | %.0f |\n", policy, models ? ", models" : "",
        (long long)nr, ask, asks[WINDOW * 99 / 100], tell, tells[WINDOW * 99 / 100],
        (double)(memory.uordblks + memory.hblkhd - before) / (double)nr);
    fflush(stdout);
}

static void measure(const char *policy, bool models, int64_t largest)
{
    struct place *places = calloc((size_t)largest + UNDER_WAY + 1, sizeof(*places));
    const struct mallinfo2 memory = mallinfo2();
    const size_t before = memory.uordblks + memory.hblkhd;
    struct search *search = search_create(
        &(struct search_options){.policy = policy, .seed = 1, .nr_fresh_first = models ? 3 : 0});
    struct search_move moves[MOVES + REQUESTS];
    double asks[WINDOW], tells[WINDOW], started;
    int64_t nr = 0, next = 1000;

    search_add_root(search,
        &(struct search_outcome){.ok = true, .moves = moves, .nr_moves = offer(models, 0, moves)});
    while (nr < largest) {
        struct search_pick picks[UNDER_WAY];
        int nr_picks = 0;

        for (; nr_picks < UNDER_WAY; nr_picks++) {
            bool asked;

            started = now_us();
            asked = search_ask(search, &picks[nr_picks]);
            asks[(nr + nr_picks) % WINDOW] = now_us() - started;
            if (!asked) {
                break;
            }
        }
        if (nr_picks == 0) {
            printf("| %s | %lld | exhausted | | |\n", policy, (long long)nr);
            break;
        }
        for (int i = 0; i < nr_picks; i++, nr++) {
            const struct search_outcome outcome = outcome_of(models, &picks[i], places, moves);

            started = now_us();
            search_tell(search, &picks[i], &outcome);
            tells[nr % WINDOW] = now_us() - started;
        }
        if (nr >= next) {
            show(policy, models, nr, asks, tells, before);
            next *= 10;
        }
    }
    search_destroy(search);
    free(places);
}

int main(int argc, char **argv)
{
    const int64_t largest = argc > 1 ? atoll(argv[1]) : 100000;

    for (int models = 0; models < 2; models++) {
        for (unsigned p = 0; search_policies[p]; p++) {
            bool wanted = argc < 3;

            for (int i = 2; i < argc; i++) {
                wanted = wanted || strcmp(argv[i], search_policies[p]) == 0;
            }
            if (wanted) {
                measure(search_policies[p], models, largest);
            }
        }
    }
    return 0;
}
