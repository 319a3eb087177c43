/* Owns what is under way by asynchronous units: which products a warp has issued and waits for, and
 * the reads of shared memory that products, and bulk copies out of shared memory, may still make.
 *
 * A wgmma is one operation of the four warps of a warpgroup: it is done for none of them before all
 * have issued it, and when one of them has waited for it, it is done for all. So a wait holds a
 * warp until the others of its warpgroup have issued as many. Kernels rely on this: one thread of a
 * warpgroup tells the producer that a buffer is free. And none begins before all have come to the
 * wgmma.fence before it, so that it reads what each of the four has written there: kernels rely on
 * this, too (CUTLASS's example 88, backward, whose warps write a factor for each other).
 *
 * When reads have been waited for, listeners hear of them once more, as of now: a barrier at which
 * the warp arrived before it waited did not hold the reads back. Only where listeners want
 * accesses. */
#include "emu/exec/exec.h"

#include "base/mem.h"
#include "emu/watch/where.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_WARPS = 4, COMMITS = 32 };

struct flight_read {
    uint64_t address[WARP_LANES];
    uint64_t lo, hi;
    uint32_t pc, mask, bytes, number; /* number: of the product, or of the group of copies */
    bool bulk;
};

struct flight {
    struct flight_read *reads;
    size_t nr, cap;
    uint32_t open[2];       /* groups formed so far: of products, of bulk copies */
    uint32_t products;      /* issued so far */
    uint32_t upto[COMMITS]; /* by group: products issued before its commit */
    uint32_t needs;         /* of a warp at a wait: products that all must have issued */
    uint32_t fences;        /* passed or waited at so far */
    bool at_fence;          /* the warp waits at a fence, and not for products */
};

static struct flight *flight_of(struct warp *w)
{
    if (!w->flight)
        w->flight = xcalloc(1, sizeof(*w->flight));
    return w->flight;
}

void flight_add(struct warp *w, const struct emu_access *access, bool bulk)
{
    struct flight *f = flight_of(w);
    f->reads = grow(f->reads, &f->cap, f->nr + 1, sizeof(*f->reads));
    struct flight_read *r = &f->reads[f->nr++];
    *r = (struct flight_read){.lo = access->lo,
        .hi = access->hi,
        .pc = access->pc,
        .mask = access->mask,
        .bytes = access->bytes,
        .number = bulk ? f->open[1] : f->products,
        .bulk = bulk};
    memcpy(r->address, access->address, sizeof(r->address));
}

/* Tells reads of v with numbers below `below` as by w, and forgets them. */
static bool land(
    struct block_worker *k, const struct warp *w, struct warp *v, uint32_t below, bool bulk)
{
    struct flight *f = v->flight;
    size_t kept = 0;
    bool ok = true;
    for (size_t i = 0; f && i < f->nr; i++) {
        const struct flight_read *r = &f->reads[i];
        if (r->bulk != bulk || r->number >= below || !ok) {
            f->reads[kept++] = *r;
            continue;
        }
        const struct emu_access access = {.warp = w->index,
            .pc = r->pc,
            .mask = r->mask,
            .space = PTX_SHARED,
            .again = true,
            .bytes = r->bytes,
            .address = r->address,
            .kind = r->mask & (r->mask - 1) ? ACCESS_OTHER : ACCESS_UNIFORM,
            .lo = r->lo,
            .hi = r->hi,
            .file = w->file};
        ok = exec_tell_watchers(k, &access);
    }
    if (f)
        f->nr = kept;
    return ok;
}

static void tell(struct block_worker *k, const struct warp *w, enum emu_mbarrier what)
{
    exec_tell_mbarrier(k, w->index, WARPGROUP_BARRIER - w->index / GROUP_WARPS, what);
}

static struct warp *mate(struct block_worker *k, const struct warp *w, unsigned i)
{
    const unsigned index = w->index / GROUP_WARPS * GROUP_WARPS + i;
    return index < k->nr_warps ? &k->warps[index] : NULL;
}

/* Have all four issued the products, or come to the fence, for which w waits? */
static bool may_pass(struct block_worker *k, const struct warp *w)
{
    const bool fence = w->flight->at_fence;
    const uint32_t need = fence ? w->flight->fences : w->flight->needs;
    for (unsigned i = 0; i < GROUP_WARPS; i++) {
        const struct warp *v = mate(k, w, i);
        const struct flight *f = v ? v->flight : NULL;
        const uint32_t has = !f ? 0 : fence ? f->fences : f->products;
        if (v && has < need)
            return false;
    }
    return true;
}

static bool pass(struct block_worker *k, struct warp *w)
{
    const uint32_t below = w->flight->needs;
    bool ok = true;
    if (w->flight->at_fence) {
        w->flight->at_fence = false;
        if (k->nr_listeners) {
            tell(k, w, MBARRIER_COMPLETE);
            tell(k, w, MBARRIER_PASS);
        }
        return true;
    }
    for (unsigned i = 0; i < GROUP_WARPS && ok; i++) {
        struct warp *v = mate(k, w, i);
        ok = !v || land(k, w, v, below, false);
    }
    if (k->nr_listeners && below) {
        tell(k, w, MBARRIER_ARRIVE);
        tell(k, w, MBARRIER_COMPLETE);
        tell(k, w, MBARRIER_PASS);
    }
    return ok;
}

/* Warps that waited for this one go on. */
static bool release(struct block_worker *k, const struct warp *w)
{
    bool ok = true;
    for (unsigned i = 0; i < GROUP_WARPS; i++) {
        struct warp *v = mate(k, w, i);
        for (unsigned s = 0; v && s < v->nr_splits; s++) {
            if (v->splits[s].state != SPLIT_AT_WGMMA || !may_pass(k, v))
                continue;
            v->splits[s].state = SPLIT_READY;
            k->moves++;
            ok &= pass(k, v);
        }
    }
    return ok;
}

bool flight_issue(struct block_worker *k, struct warp *w)
{
    flight_of(w)->products++;
    if (k->nr_listeners)
        tell(k, w, MBARRIER_ARRIVE);
    return release(k, w);
}

/* wgmma.fence: waits for the other warps of the warpgroup. */
static bool meet(struct block_worker *k, struct warp *w, uint16_t s)
{
    struct flight *f = flight_of(w);
    f->fences++;
    f->at_fence = true;
    w->splits[s].state = SPLIT_AT_WGMMA;
    if (k->nr_listeners)
        tell(k, w, MBARRIER_ARRIVE);
    return release(k, w);
}

bool flight_group(struct block_worker *k, struct warp *w, uint16_t s, const struct inst *in)
{
    const bool bulk = in->kind == INST_BULK_GROUP;
    struct flight *f = flight_of(w);
    if (in->sub == PTX_SUB_FENCE)
        return meet(k, w, s);
    if (in->sub == PTX_SUB_COMMIT_GROUP) {
        if (!bulk)
            f->upto[f->open[0] % COMMITS] = f->products;
        f->open[bulk]++;
    }
    if (in->sub != PTX_SUB_WAIT_GROUP || f->open[bulk] <= in->imm || in->imm >= COMMITS)
        return true;
    const uint32_t done = f->open[bulk] - (uint32_t)in->imm;
    if (bulk)
        return land(k, w, w, done, true);
    f->needs = f->upto[(done - 1) % COMMITS];
    if (may_pass(k, w))
        return pass(k, w);
    w->splits[s].state = SPLIT_AT_WGMMA;
    return true;
}

bool flight_is_crossed(struct block_worker *k)
{
    for (unsigned first = 0; first < k->nr_warps; first += GROUP_WARPS) {
        unsigned nr = 0, nr_waiting = 0;
        for (unsigned i = 0; i < GROUP_WARPS; i++) {
            const struct warp *v = mate(k, &k->warps[first], i);
            nr += v && !v->done;
            nr_waiting += v && !v->done && warp_split_at(v, SPLIT_AT_WGMMA);
        }
        if (nr_waiting > 0 && nr_waiting == nr)
            return true;
    }
    return false;
}

bool flight_deadlock(struct block_worker *k)
{
    const struct warp *w;
    const struct warp_split *split = warp_waiting(k, SPLIT_AT_WGMMA, &w);
    if (!split)
        return false;
    exec_fault(k, VERDICT_FAULT, split->pc - 1,
        "warp %u of block (%u,%u,%u) waits %s that other warps of its warpgroup never %s", w->index,
        k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2],
        w->flight->at_fence ? "at a wgmma.fence" : "for a wgmma",
        w->flight->at_fence ? "come to" : "issue");
    return true;
}

void flight_start(struct warp *w)
{
    if (w->flight)
        *w->flight = (struct flight){.reads = w->flight->reads, .cap = w->flight->cap};
}

void flight_finish(struct warp *w)
{
    if (w->flight)
        free(w->flight->reads);
    free(w->flight);
}
