/* The shape of accesses, by every instruction set that this machine has, against sets counted by
 * brute force. */
#include "emu/exec/exec.h"
#include "emu/sem/sem.h"

#include "base/rng.h"
#include "tests/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

typedef void shape_fn(struct access_pattern *p, uint64_t start, bool data);
shape_fn shape_find_avx2, shape_find_avx512;

/* Distinct values of (byte / unit) over the bytes that lanes `mask` touch, at one place of `places`
 * or, place -1, at all. */
static unsigned distinct(
    const uint64_t *address, uint32_t mask, unsigned bytes, unsigned unit, int place)
{
    uint64_t seen[32 * 16];
    unsigned nr = 0;
    for (unsigned l = 0; l < 32; l++) {
        for (unsigned k = 0; (mask >> l & 1) && k < bytes; k++) {
            const uint64_t v = (address[l] + k) / unit;
            unsigned i = 0;
            if (place >= 0 && v % 32 != (unsigned)place)
                continue;
            while (i < nr && seen[i] != v)
                i++;
            seen[i] = v;
            nr += i == nr;
        }
    }
    return nr;
}

static unsigned deepest_bank(const uint64_t *address, uint32_t mask, unsigned bytes)
{
    unsigned most = 0;
    for (int bank = 0; bank < 32; bank++) {
        const unsigned nr = distinct(address, mask, bytes, 4, bank);
        most = nr > most ? nr : most;
    }
    return most;
}

static unsigned in_groups(
    const uint64_t *address, uint32_t mask, unsigned bytes, unsigned lanes, unsigned *ideal)
{
    unsigned nr = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        const uint32_t group = mask & (uint32_t)(((UINT64_C(1) << lanes) - 1) << first);
        nr += deepest_bank(address, group, bytes);
        *ideal += (distinct(address, group, bytes, 4, -1) + 31) / 32;
    }
    return nr;
}

/* Do lanes of the group want what the lane `apart` numbers away wants? */
static bool paired(const uint64_t *address, uint32_t group, unsigned apart)
{
    for (unsigned l = 0; l < 32; l++)
        if (group >> l & 1 && group >> (l ^ apart) & 1 && address[l] != address[l ^ apart])
            return false;
    return true;
}

/* Wavefronts of the data stage: groups of 8 lanes of 16 bytes, 16 of 8; two of them at once where
 * lanes are paired. */
static unsigned data_of(const uint64_t *address, uint32_t mask, unsigned bytes)
{
    const unsigned lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    unsigned nr = 0, none = 0;
    if (lanes == 32)
        return in_groups(address, mask, bytes, 32, &none);
    for (unsigned first = 0; first < 32; first += 2 * lanes) {
        const uint32_t both = mask & (uint32_t)(((UINT64_C(1) << 2 * lanes) - 1) << first);
        const bool pairs = paired(address, both, 1) || paired(address, both, 2);
        nr += in_groups(address, both, bytes, pairs ? 32 : lanes, &none);
    }
    return nr;
}

static struct access_shape expected(const struct access_pattern *p, const uint64_t *address)
{
    const unsigned bytes = p->bytes;
    unsigned ideal = 0;
    struct access_shape s = {0};
    if (p->space == PTX_SHARED) {
        s.wavefronts = (uint16_t)in_groups(address, p->mask, bytes, p->matrices ? 8 : 32, &ideal);
        s.ideal = (uint16_t)ideal;
        return s;
    }
    s.sectors = (uint16_t)distinct(address, p->mask, bytes, 32, -1);
    s.lines = (uint16_t)distinct(address, p->mask, bytes, 128, -1);
    s.bytes = (uint16_t)distinct(address, p->mask, bytes, 1, -1);
    s.ideal = (uint16_t)((s.bytes + 31) / 32);
    s.data = (uint16_t)data_of(address, p->mask, bytes);
    return s;
}

static void fill_pattern(struct access_pattern *p, const uint64_t *address)
{
    const uint64_t start = address[__builtin_ctz(p->mask)];
    int64_t lo = 0, hi = 0;
    p->kind = ACCESS_OTHER;
    for (unsigned l = 0; l < 32; l++) {
        const int64_t rel = (p->mask >> l & 1) ? (int64_t)(address[l] - start) : 0;
        p->rel[l] = (uint64_t)rel;
        lo = rel < lo ? rel : lo;
        hi = rel > hi ? rel : hi;
    }
    p->lo_rel = (uint64_t)lo;
    p->hi_rel = (uint64_t)hi;
}

static void compare(shape_fn *find, const struct access_pattern *like, const uint64_t *address)
{
    const struct access_shape want = expected(like, address);
    struct access_pattern p = *like;
    uint32_t heads = 0;
    fill_pattern(&p, address);
    find(&p, address[__builtin_ctz(p.mask)], p.space == PTX_GLOBAL);
    if (memcmp(&p.shape, &want, sizeof(want)) != 0)
        fail_msg("%u bytes, mask %08x: sectors %u (%u), ideal %u (%u), lines %u (%u), wavefronts "
                 "%u (%u), bytes %u (%u), data %u (%u)",
            p.bytes, p.mask, p.shape.sectors, want.sectors, p.shape.ideal, want.ideal,
            p.shape.lines, want.lines, p.shape.wavefronts, want.wavefronts, p.shape.bytes,
            want.bytes, p.shape.data, want.data);
    if (p.space == PTX_SHARED)
        return;
    for (unsigned l = 0; l < 32; l++) {
        const bool again = l && (p.mask >> (l - 1) & 1) && address[l] / 32 == address[l - 1] / 32;
        heads |= (uint32_t)((p.mask >> l & 1) && !again) << l;
    }
    assert_int_equal(p.heads, heads);
}

/* Addresses at random within `room` bytes, or rising by a stride. */
static void scatter(struct rng *r, uint64_t *address, unsigned bytes, uint64_t room)
{
    const uint64_t units = room / bytes, base = rng_below(r, 64) * bytes,
                   stride = rng_below(r, 3) ? 0 : 1 + rng_below(r, 40);
    for (unsigned l = 0; l < 32; l++)
        address[l] = base + bytes * (stride ? l * stride % units : rng_below(r, units));
}

static void check_set(shape_fn *find)
{
    static const uint64_t rooms[] = {
        64, 256, 4096, 8192, 16384, 200000, UINT64_C(1) << 31, UINT64_C(1) << 40};
    struct rng r;
    rng_seed(&r, 1, 1);
    for (unsigned i = 0; i < 6000; i++) {
        struct access_pattern p = {.bytes = 1u << rng_below(&r, 5)};
        const unsigned room = (unsigned)rng_below(&r, 8);
        uint64_t address[32];
        p.space = (uint8_t)(room < 6 && rng_below(&r, 2) ? PTX_SHARED : PTX_GLOBAL);
        p.matrices = p.space == PTX_SHARED && p.bytes == 16 && rng_below(&r, 2);
        p.mask = rng_below(&r, 2) ? ~0u : (uint32_t)rng_next(&r) | 1u << rng_below(&r, 32);
        scatter(&r, address, p.bytes, rooms[room]);
        compare(find, &p, address);
    }
}

static void shapes_by_brute_force(void **state)
{
    (void)state;
    check_set(shape_find);
#if !KEET_SANITIZED /* these builds have no such copy */
    if (sem_use(SEM_AVX2))
        check_set(shape_find_avx2);
#endif
    if (sem_use(SEM_AVX512))
        check_set(shape_find_avx512);
}

/* Idle lanes count for nothing, whichever lanes they are. */
static void idle_lanes(void **state)
{
    (void)state;
    uint64_t address[32];
    struct access_pattern p = {.mask = 0x0000ff01, .bytes = 4, .space = PTX_GLOBAL};
    for (unsigned l = 0; l < 32; l++)
        address[l] = (31 - l) * 128;
    fill_pattern(&p, address);
    shape_find(&p, address[0], true);
    assert_int_equal(p.shape.data, 9); /* nine lanes, all in one bank */
    assert_int_equal(p.shape.sectors, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_by_brute_force),
        cmocka_unit_test(idle_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
