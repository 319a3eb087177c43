/* Owns mbarriers: objects in shared memory that count arrivals and the bytes that copies are to
 * bring, and that go from phase to phase.
 *
 * Threads never stop at an mbarrier. A wait that finds its phase not over says so, as try_wait may
 * (PTX ISA 9.0, 9.7.13.15), and the warp gives its turn away so that the threads it waits for come.
 * When every warp of the block only asked or waited for MBARRIER_IDLE_ROUNDS rounds, nobody will
 * come. */
#include "emu/exec/exec.h"
#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The object's 64 bits, whose meaning programs do not know: phase, bytes not yet come, arrivals of
 * a phase, arrivals still pending. Zero: not initialised. */
enum { COUNT_BITS = 20, TX_BITS = 21, EXPECTED_AT = 20, TX_AT = 40, PHASE_AT = 61 };
#define NEVER_WRITTEN UINT64_C(0xaaaaaaaaaaaaaaaa) /* what launch.c fills shared memory with */
enum { MOST_COUNT = (1 << COUNT_BITS) - 1 };

struct mbarrier_state {
    uint32_t pending, expected, phase;
    int32_t tx;
};

static struct mbarrier_state unpack(uint64_t bits)
{
    const uint64_t tx = bits >> TX_AT & ((1u << TX_BITS) - 1);
    return (struct mbarrier_state){.pending = (uint32_t)bits & MOST_COUNT,
        .expected = (uint32_t)(bits >> EXPECTED_AT) & MOST_COUNT,
        .phase = (uint32_t)(bits >> PHASE_AT),
        .tx = (int32_t)((uint32_t)tx << (32 - TX_BITS)) >> (32 - TX_BITS)};
}

static uint64_t pack(const struct mbarrier_state *o)
{
    const uint64_t tx = (uint32_t)o->tx & ((1u << TX_BITS) - 1);
    return (uint64_t)o->pending | (uint64_t)o->expected << EXPECTED_AT | tx << TX_AT |
           (uint64_t)(o->phase & 7) << PHASE_AT;
}

/* One instruction of one warp, lane after lane. */
struct step {
    struct block_worker *k;
    const struct warp *w;
    const struct inst *in;
    uint32_t pc;
    unsigned lane;
    struct block_worker *owner; /* the block whose shared memory has the lane's object ... */
    uint64_t address;           /* ... there */
    uint64_t told; /* the last object at which an arrival was told to listeners; ~0: none */
};

static bool wrong(const struct step *s, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(const struct step *s, const char *what, ...)
{
    char who[WHERE_BYTES], text[200];
    va_list ap;
    va_start(ap, what);
    vsnprintf(text, sizeof(text), what, ap);
    va_end(ap);
    where_thread(&s->k->exec->run, s->k->block.index, s->w->index * WARP_LANES + s->lane, who);
    exec_fault(s->k, VERDICT_FAULT, s->pc, "%s by %s", text, who);
    s->k->fault.check = EMU_CHECK_SYNC;
    return false;
}

static void tell(const struct step *s, enum emu_mbarrier what)
{
    /* what warps of other blocks know is nothing to a block's own listeners */
    const bool own = s->owner == s->k || what == MBARRIER_COMPLETE;
    if (what != MBARRIER_ARRIVE)
        reach_meet(s->k, s->owner->rank, s->address, what);
    if (own)
        exec_tell_mbarrier(s->owner, s->owner == s->k ? s->w->index : 0, s->address, what);
}

static bool find_at(struct step *s, uint64_t at, uint64_t **object)
{
    if (at - WINDOW_SHARED < WINDOW_BYTES)
        at -= WINDOW_SHARED;
    s->owner = cluster_at(s->k, s->w, s->lane, s->pc, at, &at);
    if (!s->owner)
        return false;
    s->address = at;
    if (at + 8 > s->owner->shared_bytes || at + 8 < at)
        return wrong(s, "mbarrier at 0x%" PRIx64 ", outside the %u bytes of shared memory", at,
            s->owner->shared_bytes);
    if (at % 8)
        return wrong(s, "misaligned: mbarrier at byte %" PRIu64 " of shared memory", at);
    *object = (uint64_t *)(s->owner->shared + at);
    if (s->owner != s->k)
        reach_access(s->k, s->owner, s->pc);
    return true;
}

static bool find(struct step *s, uint64_t **object)
{
    const uint8_t *row = s->w->file + s->in->a;
    return find_at(s,
        s->in->address32 ? (uint32_t)(((const uint32_t *)row)[s->lane] + (uint32_t)s->in->imm)
                         : ((const uint64_t *)row)[s->lane] + (uint64_t)s->in->imm,
        object);
}

static uint32_t word(const struct step *s, uint32_t row, uint32_t otherwise)
{
    return row == NO_ROW ? otherwise : ((const uint32_t *)(s->w->file + row))[s->lane];
}

static void settle(struct step *s, struct mbarrier_state *o)
{
    if (o->pending == 0 && o->tx == 0) {
        o->phase++;
        o->pending = o->expected;
        tell(s, MBARRIER_COMPLETE);
        s->told = ~UINT64_C(0);
    }
}

/* For the message about bytes that never come. */
static void announce(const struct step *s)
{
    struct block_worker *k = s->owner;
    unsigned i = 0;
    while (i < k->nr_announced && k->announced[i].address != s->address)
        i++;
    if (i == MOST_ANNOUNCED)
        return;
    k->nr_announced += i == k->nr_announced;
    k->announced[i] = (struct announced){s->address, s->pc};
}

static const char *announced_at(
    const struct block_worker *k, uint64_t address, char text[WHERE_BYTES])
{
    for (unsigned i = 0; i < k->nr_announced; i++) {
        if (k->announced[i].address == address)
            return where_line(&k->exec->run, k->announced[i].pc, text);
    }
    text[0] = '\0';
    return text;
}

static bool initialise(struct step *s, uint64_t *object)
{
    const uint32_t count = word(s, s->in->b, 0);
    if (count == 0 || count > MOST_COUNT)
        return wrong(s, "mbarrier for %u arrivals: 1 to %d are allowed", count, MOST_COUNT);
    *object = pack(&(struct mbarrier_state){.pending = count, .expected = count});
    return true;
}

/* Arrivals: the state before goes to d. */
static bool arrive(struct step *s, uint64_t *object, bool copies_done)
{
    const struct ptx_inst *ptx = s->k->program->info[s->pc].ptx;
    struct mbarrier_state o = unpack(*object);
    const uint32_t count = ptx->expect_tx || copies_done ? 1 : word(s, s->in->b, 1);
    if (s->in->d != NO_ROW)
        ((uint64_t *)(s->w->file + s->in->d))[s->lane] = *object;
    reach_meet(s->k, s->owner->rank, s->address, MBARRIER_ARRIVE);
    if (s->told != s->address && s->owner == s->k) {
        tell(s, MBARRIER_ARRIVE);
        s->told = s->address;
    }
    if (copies_done && !ptx->noinc)
        return true; /* the copy counts as one more arrival, which has come: copies are done at once
                      */
    if (ptx->expect_tx) {
        o.tx += (int32_t)word(s, s->in->b, 0);
        announce(s);
    }
    if (count > o.pending)
        return wrong(s, "mbarrier: %u arrivals, but only %u are still expected", count, o.pending);
    if (s->in->sub == PTX_SUB_ARRIVE_DROP)
        o.expected -= count < o.expected ? count : o.expected;
    o.pending -= count;
    if (ptx->nocomplete && o.pending == 0)
        return wrong(s, "mbarrier: the last of %u arrivals has .noComplete", o.expected);
    settle(s, &o);
    *object = pack(&o);
    return true;
}

static void transfer(struct step *s, uint64_t *object, int32_t bytes, bool complete)
{
    struct mbarrier_state o = unpack(*object);
    o.tx += complete ? -bytes : bytes;
    if (!complete)
        announce(s);
    if (complete) { /* whoever sees the phase end finds the bytes there */
        reach_meet(s->k, s->owner->rank, s->address, MBARRIER_ARRIVE);
        tell(s, MBARRIER_ARRIVE);
        if (s->owner != s->k)
            exec_tell_mbarrier(s->owner, 0, s->address, MBARRIER_FROM_FAR);
        settle(s, &o);
    }
    *object = pack(&o);
}

/* Is the phase that the state, or the parity, names over? */
static bool is_over(const struct step *s, uint64_t object)
{
    const struct ptx_inst *ptx = s->k->program->info[s->pc].ptx;
    const uint32_t phase = unpack(object).phase;
    if (ptx->parity)
        return (phase & 1) != (word(s, s->in->c, 0) & 1);
    return phase != unpack(((const uint64_t *)(s->w->file + s->in->c))[s->lane]).phase;
}

static void test(struct step *s, uint64_t object)
{
    uint32_t *d = (uint32_t *)(s->w->file + s->in->d);
    const bool over = is_over(s, object);
    *d = (*d & ~(1u << s->lane)) | (uint32_t)over << s->lane;
    if (over)
        tell(s, MBARRIER_PASS);
    s->k->polls += !over;
}

static bool initialised(const struct step *s, uint64_t object)
{
    return (object != 0 && object != NEVER_WRITTEN) ||
           wrong(s, "mbarrier at byte %" PRIu64 " of shared memory used before it was initialised",
               s->address);
}

static bool one(struct step *s)
{
    uint64_t *object;
    if (s->in->sub == PTX_SUB_PENDING_COUNT) {
        ((uint32_t *)(s->w->file + s->in->d))[s->lane] =
            unpack(((const uint64_t *)(s->w->file + s->in->a))[s->lane]).pending;
        return true;
    }
    if (!find(s, &object))
        return false;
    if (s->in->sub == PTX_SUB_INIT)
        return initialise(s, object);
    if (!initialised(s, *object))
        return false;
    switch (s->in->sub) {
    case PTX_SUB_ARRIVE:
    case PTX_SUB_ARRIVE_DROP:
    case PTX_SUB_MBARRIER_ARRIVE:
        return arrive(s, object, s->in->sub == PTX_SUB_MBARRIER_ARRIVE);
    case PTX_SUB_EXPECT_TX:
    case PTX_SUB_COMPLETE_TX:
        transfer(s, object, (int32_t)word(s, s->in->b, 0), s->in->sub == PTX_SUB_COMPLETE_TX);
        return true;
    case PTX_SUB_INVAL:
        *object = 0;
        return true;
    default:
        test(s, *object);
        return true;
    }
}

bool mbarrier_step(struct block_worker *k, struct warp *w, uint32_t pc, uint32_t mask)
{
    const struct inst *in = &k->program->insts[pc];
    struct step s = {.k = k, .w = w, .in = in, .pc = pc, .told = ~UINT64_C(0)};
    const bool asks = in->sub == PTX_SUB_TEST_WAIT || in->sub == PTX_SUB_TRY_WAIT;
    const uint64_t before = k->polls;
    for (uint32_t m = mask; m; m &= m - 1) {
        s.lane = (unsigned)__builtin_ctz(m);
        if (!one(&s) && !exec_note(k))
            return false;
    }
    if (asks) {
        w->polled = k->polls != before;
        w->asked_at = pc;
    }
    k->moves += !asks;
    return true;
}

bool mbarrier_complete(struct block_worker *k, const struct warp *w, unsigned lane, uint32_t pc,
    uint64_t address, uint32_t bytes)
{
    struct step s = {
        .k = k, .w = w, .in = &k->program->insts[pc], .pc = pc, .lane = lane, .told = ~UINT64_C(0)};
    uint64_t *object;
    if (!find_at(&s, address, &object) || !initialised(&s, *object))
        return false;
    transfer(&s, object, (int32_t)bytes, true);
    k->moves++;
    return true;
}

/* Of the barriers at which warps wait, one whose bytes do not come explains the others. */
static bool explains(const struct mbarrier_state *o)
{
    return o->pending == 0 && o->tx != 0;
}

static bool say_deadlock(const struct step *s, const struct mbarrier_state *o)
{
    struct block_worker *k = s->k;
    char bytes[WHERE_BYTES + 64] = "", line[WHERE_BYTES];
    if (o->tx)
        snprintf(bytes, sizeof(bytes), ", and %d bytes of those announced%s,", o->tx,
            announced_at(s->owner, s->address, line));
    exec_fault(k, VERDICT_FAULT, s->pc,
        "deadlock: warp %u of block (%u,%u,%u) waits for a phase of the mbarrier at byte "
        "%" PRIu64 " of shared memory that never ends: %u of %u arrivals%s are missing, and no "
        "thread does anything but wait",
        s->w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2], s->address,
        o->pending, o->expected, bytes);
    k->fault.check = EMU_CHECK_SYNC;
    return false;
}

bool mbarrier_deadlock(struct block_worker *k)
{
    if (flight_is_crossed(k)) /* explains who waits for them */
        return sync_deadlock(k);
    for (unsigned i = 0; i < 2 * k->nr_warps; i++) {
        const struct warp *w = &k->warps[i % k->nr_warps];
        if (w->done || !w->asked_at)
            continue;
        struct step s = {.k = k, .w = w, .in = &k->program->insts[w->asked_at], .pc = w->asked_at};
        s.lane = (unsigned)__builtin_ctz(w->live);
        uint64_t *object;
        if (!find(&s, &object))
            return false;
        const struct mbarrier_state o = unpack(*object);
        if (i >= k->nr_warps || explains(&o))
            return say_deadlock(&s, &o);
    }
    return sync_deadlock(k);
}
