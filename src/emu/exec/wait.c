/* Owns waits: loops that ask global memory again and again until another block has written. See
 * exec.h. */
#include "emu/exec/exec.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Where counts go while nobody listens, and the places of the real ones. */
struct hush {
    struct pc_count *counts;
    struct flow *flow;
    struct access_pattern *patterns;
    bool wants_insts, wants_access;
    bool heard; /* the time model's listener wanted accesses */
};

bool wait_round(struct block_worker *k, struct warp *w, uint32_t pc, uint32_t mask)
{
    const uint32_t bytes = k->program->file_bytes;
    const bool same =
        w->round_at == pc && w->round_mask == mask && memcmp(w->round_file, w->file, bytes) == 0;

    w->waiting = w->polled = same;
    if (same)
        return true;
    if (!w->round_file)
        w->round_file = xmalloc(bytes);
    memcpy(w->round_file, w->file, bytes);
    w->round_at = pc;
    w->round_mask = mask;
    return false;
}

static struct emu_listener *time_listener(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_listeners; i++)
        if (k->listeners[i]->class == emu_time_class())
            return k->listeners[i];
    return NULL;
}

static void swap(struct block_worker *k)
{
    const struct hush other = *k->hush;

    k->hush->counts = k->counts;
    k->hush->flow = k->flow;
    k->hush->patterns = k->patterns;
    k->counts = other.counts;
    k->flow = other.flow;
    k->patterns = other.patterns;
}

void wait_hush(struct block_worker *k, const struct warp *w)
{
    const uint32_t nr = k->program->nr_insts;
    struct emu_listener *timed = time_listener(k);

    if (!k->hush) {
        k->hush = xcalloc(1, sizeof(*k->hush));
        k->hush->counts = xcalloc(nr, sizeof(*k->counts));
        k->hush->flow = xcalloc(nr + 1, sizeof(*k->flow));
        k->hush->patterns = xcalloc(k->program->nr_slots, sizeof(*k->patterns));
    }
    swap(k);
    /* Since the last wait, buffers may have gone. */
    for (uint32_t pc = k->program->insts[w->round_at].target; pc < w->round_at; pc++)
        *pattern_of(k, pc) = (struct access_pattern){0};
    k->hush->wants_insts = k->wants_insts;
    k->hush->wants_access = k->wants_access;
    k->hush->heard = timed && timed->wants_access;
    if (!timed)
        return;
    timed->wants_access = false;
    k->wants_insts = k->wants_access = false;
    for (unsigned i = 0; i < k->nr_listeners; i++)
        k->wants_access |= k->listeners[i]->wants_access;
}

void wait_unhush(struct block_worker *k)
{
    struct emu_listener *timed = time_listener(k);

    swap(k);
    k->wants_insts = k->hush->wants_insts;
    k->wants_access = k->hush->wants_access;
    if (timed)
        timed->wants_access = k->hush->heard;
}

void wait_finish(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_warps; i++)
        free(k->warps[i].round_file);
    if (!k->hush)
        return;
    free(k->hush->counts);
    free(k->hush->flow);
    free(k->hush->patterns);
    free(k->hush);
}

bool wait_in_vain(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_warps; i++) {
        const struct warp *w = &k->warps[i];
        if (!w->done && w->waiting)
            return exec_fault(k, VERDICT_TIMEOUT, w->round_at,
                "waits for ever: warp %u of block (%u,%u,%u) asks memory again and again for what "
                "no "
                "block writes that could run before it ends",
                i, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    }
    return exec_fault(k, VERDICT_TIMEOUT, NO_PC, "waits for ever");
}

/* A worker whose block waits looks at the council every so many rounds. Its first look makes a new
 * age, since what it wrote before may end the wait of another. It agrees that nothing moves if the
 * age is that of its last look: then its rounds since have seen all that the others had written.
 * When all workers agree at one age, all wait for ever. */
enum { WAIT_LOOK = 2500 };

static bool all_agree(struct block_worker *k, bool first)
{
    struct wait_council *c = &k->exec->council;
    bool all;

    pthread_mutex_lock(&c->lock);
    if (first) {
        c->age++;
        c->nr_agree = c->nr_done;
    }
    if (k->council_age != c->age) {
        k->council_age = c->age;
        k->agrees = false;
    } else if (!k->agrees) {
        k->agrees = true;
        c->nr_agree++;
    }
    all = c->nr_agree == c->nr_workers;
    pthread_mutex_unlock(&c->lock);
    return all;
}

static void move_on(struct block_worker *k, bool done)
{
    struct wait_council *c = &k->exec->council;

    pthread_mutex_lock(&c->lock);
    c->age++;
    c->nr_done += done;
    c->nr_agree = c->nr_done;
    pthread_mutex_unlock(&c->lock);
    k->agrees = false;
}

void wait_done(struct block_worker *k)
{
    move_on(k, true);
}

bool wait_on(struct block_worker *k, bool waits)
{
    const unsigned before = k->wait_rounds;

    k->wait_rounds = waits ? before + 1 : 0;
    if (!waits && before >= WAIT_LOOK)
        move_on(k, false);
    if (!waits || k->wait_rounds % WAIT_LOOK != 0)
        return true;
    return !all_agree(k, before < WAIT_LOOK) || wait_in_vain(k);
}
