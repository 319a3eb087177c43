/* Owns the search for blocks that end while others of their cluster may still reach into their
 * shared memory.
 *
 * Each block has a vector clock that barriers join, as races.c has for warps: barrier.cluster, and
 * mbarriers at which other blocks arrive. An access to another block's memory is a tick of the
 * block that makes it. When the last thread of a block exits, the block must know of all accesses
 * to its memory. All threads of a block count as one, so a finding is never a mistake. */
#include "emu/exec/exec.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = MOST_CLUSTER_BLOCKS };

struct meeting_place {
    unsigned owner;
    uint64_t address;
    uint32_t arrived[MOST], over[MOST];
};

struct reach {
    uint32_t clock[MOST][MOST]; /* [a][b]: what a knows of b */
    uint32_t last[MOST][MOST];  /* [a][b]: a's last access to b's memory; 0: none */
    uint32_t pc[MOST][MOST];
    struct meeting_place *places;
    size_t nr, cap;
};

void reach_start(struct cluster *c)
{
    if (c->nr == 1 || !c->blocks[0].exec->find_sync)
        return;
    if (!c->reach)
        c->reach = xcalloc(1, sizeof(*c->reach));
    memset(c->reach->clock, 0, sizeof(c->reach->clock));
    memset(c->reach->last, 0, sizeof(c->reach->last));
    c->reach->nr = 0;
}

void reach_finish(struct cluster *c)
{
    if (c->reach)
        free(c->reach->places);
    free(c->reach);
}

void reach_access(struct block_worker *k, const struct block_worker *to, uint32_t pc)
{
    struct reach *r = k->cluster->reach;
    if (!r || to == k)
        return;
    r->last[k->rank][to->rank] = ++r->clock[k->rank][k->rank];
    r->pc[k->rank][to->rank] = pc;
}

static struct meeting_place *place_at(struct reach *r, unsigned owner, uint64_t address)
{
    for (size_t i = 0; i < r->nr; i++) {
        if (r->places[i].owner == owner && r->places[i].address == address)
            return &r->places[i];
    }
    r->places = grow(r->places, &r->cap, r->nr + 1, sizeof(*r->places));
    r->places[r->nr] = (struct meeting_place){.owner = owner, .address = address};
    return &r->places[r->nr++];
}

static void learn(uint32_t *clock, const uint32_t *from)
{
    for (unsigned i = 0; i < MOST; i++)
        clock[i] = from[i] > clock[i] ? from[i] : clock[i];
}

void reach_meet(struct block_worker *k, unsigned owner, uint64_t address, enum emu_mbarrier what)
{
    struct reach *r = k->cluster->reach;
    if (!r)
        return;
    struct meeting_place *p = place_at(r, owner, address);
    if (what == MBARRIER_ARRIVE)
        learn(p->arrived, r->clock[k->rank]);
    else if (what == MBARRIER_COMPLETE)
        learn(p->over, p->arrived);
    else
        learn(r->clock[k->rank], p->over);
}

bool reach_end(struct block_worker *k, uint32_t pc)
{
    const struct reach *r = k->cluster->reach;
    char line[WHERE_BYTES], exit_line[WHERE_BYTES];
    for (unsigned a = 0; r && a < k->cluster->nr; a++) {
        const struct block_worker *other = &k->cluster->blocks[a];
        if (r->last[a][k->rank] <= r->clock[k->rank][a])
            continue;
        exec_fault(k, VERDICT_FAULT, pc,
            "block (%u,%u,%u) of the cluster ends%s, and nothing holds it until block (%u,%u,%u) "
            "has accessed its shared memory%s: a barrier of the cluster must stand between",
            k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2],
            where_line(&k->exec->run, pc, exit_line), other->block.ctaid[0], other->block.ctaid[1],
            other->block.ctaid[2], where_line(&k->exec->run, r->pc[a][k->rank], line));
        k->fault.check = EMU_CHECK_SYNC;
        k->fault.other = r->pc[a][k->rank];
        return exec_note(k);
    }
    return true;
}
