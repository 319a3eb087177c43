/* Owns where the warps of a traced block wait for each other or for copies: at mbarriers, at the
 * cluster's barrier, and at barriers of a part of the block. Each phase of such a barrier has a
 * number within the trace; events arrive at phases, and wait for them. One block is simulated, so
 * the other blocks of its cluster are taken to come when this one does, their copies to this block
 * when its own copies to them are there, and what they have L2 send to it, too, is taken to be
 * asked for when this block first arrives at the phase that waits for it. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <stdlib.h>

/* Events since a bar.arrive for which the others may come. */
enum { FAR_BACK = 1024 };

struct meet_place { /* a barrier */
    uint64_t address;
    uint32_t phase, before; /* under way, the last one that is over; plus 1, 0: none */
};

/* Under these and the numbers above them are the 16 barriers of a block. */
static const uint64_t block_barriers = UINT64_C(1) << 63;

static struct meet_place *place_of(struct block_trace *trace, uint64_t address)
{
    for (unsigned i = 0; i < trace->nr_places; i++)
        if (trace->places[i].address == address)
            return &trace->places[i];
    trace->places = xrealloc(trace->places, (trace->nr_places + 1) * sizeof(struct meet_place));
    trace->places[trace->nr_places] = (struct meet_place){.address = address};
    return &trace->places[trace->nr_places++];
}

/* The number of the phase that is under way, plus 1. */
static uint32_t under_way(struct block_trace *trace, struct meet_place *place)
{
    if (place->phase == 0) {
        trace->phases =
            grow(trace->phases, &trace->cap_phases, trace->nr_phases + 1, sizeof(*trace->phases));
        trace->phases[trace->nr_phases] =
            (struct phase){.kind = place->address == CLUSTER_BARRIER  ? MEET_CLUSTER
                                   : place->address >= block_barriers ? MEET_BARRIER
                                                                      : MEET_MBARRIER};
        place->phase = (uint32_t)++trace->nr_phases;
    }
    return place->phase;
}

static void add(struct block_trace *trace, struct trace_event *event, uint32_t phase, bool waits)
{
    for (uint32_t m = event->meet; m != 0; m = trace->meetings[m - 1].next)
        if (trace->meetings[m - 1].phase == phase - 1 && trace->meetings[m - 1].waits == waits)
            return;
    trace->meetings = grow(
        trace->meetings, &trace->cap_meetings, trace->nr_meetings + 1, sizeof(*trace->meetings));
    trace->meetings[trace->nr_meetings++] =
        (struct trace_meeting){.phase = phase - 1, .next = event->meet, .waits = waits};
    event->meet = (uint32_t)trace->nr_meetings;
    trace->phases[phase - 1].arrivals += !waits;
}

static struct trace_event *last_event(struct block_trace *trace, unsigned warp)
{
    struct warp_trace *w = &trace->warps[warp];

    return w->nr > 0 && w->nr == w->nr_all ? &w->events[w->nr - 1] : NULL;
}

static void take_receipts(struct block_trace *trace, struct phase *phase)
{
    struct trace_access *last = &trace->accesses[trace->receipts - 1];

    while (last->next != 0)
        last = &trace->accesses[last->next - 1];
    last->next = phase->receipts;
    phase->receipts = trace->receipts;
    trace->receipts = 0;
}

void meet_tell(struct block_trace *trace, unsigned warp, uint64_t address, enum emu_mbarrier what)
{
    struct meet_place *place = place_of(trace, address);
    struct trace_event *event = last_event(trace, warp);

    if (what == MBARRIER_FROM_FAR) {
        const uint32_t phase = under_way(trace, place); /* may move the phases */

        if (trace->receipts != 0)
            take_receipts(trace, &trace->phases[phase - 1]);
        else
            trace->phases[phase - 1].received = ++trace->nr_received;
    } else if (what == MBARRIER_COMPLETE) {
        place->before = under_way(trace, place);
        place->phase = 0;
    } else if (what == MBARRIER_ARRIVE && event != NULL) {
        add(trace, event, under_way(trace, place), false);
    } else if (event != NULL && place->before != 0) {
        add(trace, event, place->before, true);
    }
}

/* --- blocks that are in each other's way --- */

/* The block to which a trace's first access by an instruction goes. */
static void find_targets(const struct block_trace *trace, uint8_t *to)
{
    for (unsigned w = trace->nr_warps; w-- > 0;) {
        for (size_t e = trace->warps[w].nr; e-- > 0;) {
            const struct trace_event *event = &trace->warps[w].events[e];

            if (event->nr_accesses > 0 && trace->accesses[event->access].away)
                to[event->pc] = trace->accesses[event->access].to;
        }
    }
}

void meet_rivals(const struct time_listener *t, struct pc_cost *costs)
{
    const uint32_t nr = t->run->program->nr_insts;
    uint8_t *to = xcalloc((size_t)t->nr_traces * nr + 1, 1);

    for (unsigned i = 0; i < t->nr_traces; i++)
        find_targets(t->traces[i], &to[(size_t)i * nr]);
    for (uint32_t pc = 0; pc < nr; pc++) {
        unsigned pairs = 0, same = 0;

        for (unsigned i = 0; i < t->nr_traces; i++) {
            for (unsigned k = 0; k < i; k++) {
                const unsigned a = to[(size_t)i * nr + pc], b = to[(size_t)k * nr + pc];

                if (a == 0 || b == 0 || t->traces[i]->rank == t->traces[k]->rank)
                    continue;
                pairs++;
                same += a == b;
            }
        }
        costs[pc].rivals = pairs == 0 ? 1 : 1 + (t->run->cluster_blocks - 1) * (float)same / pairs;
    }
    free(to);
}

static bool is_arrival(const struct program *program, const struct trace_event *event, unsigned id)
{
    const struct inst *in = &program->insts[event->pc];
    const struct ptx_operand *of = &program->info[event->pc].ptx->operand[0];

    return in->kind == INST_BARRIER && in->sub == PTX_SUB_ARRIVE && event->meet == 0 &&
           (of->kind != PTX_OPERAND_IMM || of->imm == id);
}

/* What a warp did at the barrier: its wait is its last event, its bar.arrive is among the last
 * ones. NULL: nothing that is known. */
static struct trace_event *at_barrier(struct block_trace *trace, const struct program *program,
    const struct emu_barrier *barrier, unsigned warp)
{
    struct warp_trace *w = &trace->warps[warp];
    struct trace_event *last = last_event(trace, warp);

    if (last == NULL || barrier->lanes[warp] != 0)
        return last;
    for (size_t i = w->nr; i-- > 0 && w->nr - i <= FAR_BACK;)
        if (is_arrival(program, &w->events[i], barrier->id))
            return &w->events[i];
    return NULL;
}

void meet_at_barrier(
    struct block_trace *trace, const struct program *program, const struct emu_barrier *barrier)
{
    struct meet_place *place = place_of(trace, block_barriers + barrier->id);
    unsigned nr_waiting = 0;

    for (unsigned i = 0; i < trace->nr_warps; i++)
        nr_waiting += barrier->lanes[i] != 0;
    for (unsigned i = 0; i < trace->nr_warps && nr_waiting < trace->nr_warps; i++) {
        struct trace_event *event = at_barrier(trace, program, barrier, i);

        if (event == NULL)
            continue;
        add(trace, event, under_way(trace, place), false);
        if (barrier->lanes[i] != 0)
            add(trace, event, place->phase, true);
    }
    place->phase = 0;
}
