/* Buffers that are filled with copies of a period: what they hold, before and after writes. */
#include "emu/state/memory.h"

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define LARGE (300 * MIB + 12345)

static struct emu_memory memory;
static uint8_t *period;

static int start(void **state)
{
    (void)state;
    memory_init(&memory, 4096 * MIB);
    period = malloc(8 * MIB);
    for (uint64_t i = 0; period && i < 8 * MIB; i++)
        period[i] = (uint8_t)(i * 2654435761u >> 13);
    return period ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(period);
    memory_finish(&memory);
    return 0;
}

static struct mem_buffer *buffer_of(uint64_t bytes)
{
    struct err err;
    struct mem_buffer *buffer = memory_alloc(&memory, bytes, "A", &err);
    assert_non_null(buffer);
    return buffer;
}

/* of this process, in the host's memory */
static uint64_t resident(void)
{
    unsigned long long all, here;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &all, &here), 2);
    fclose(file);
    return (uint64_t)here * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* From one byte to another lie copies of nr bytes. */
static void assert_repeats(const struct mem_buffer *buffer, uint64_t from, uint64_t to, uint64_t nr)
{
    for (uint64_t at = from; at < to; at += nr) {
        const uint64_t left = to - at;
        assert_memory_equal(buffer->host + at, period, left < nr ? left : nr);
    }
}

/* 3 MiB do not divide the buffer: its last period is a part. */
static void large_buffer_takes_one_period(void **state)
{
    (void)state;
    struct mem_buffer *buffer = buffer_of(LARGE);
    const uint64_t before = resident();

    memory_repeat(buffer, 0, LARGE, period, 3 * MIB);
    assert_true(resident() < before + 64 * MIB);
    assert_repeats(buffer, 0, LARGE, 3 * MIB);
    assert_true(memory_is_init(buffer, 0, LARGE));
}

static void write_stays_in_its_period(void **state)
{
    (void)state;
    struct mem_buffer *buffer = buffer_of(LARGE);

    memory_repeat(buffer, 0, LARGE, period, MIB);
    memset(buffer->host + 5 * MIB - 50, 7, 100);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(buffer->host[5 * MIB - 50 + i], 7);
    assert_repeats(buffer, 0, 5 * MIB - 50, MIB);
    assert_int_equal(buffer->host[6 * MIB], period[0]);
    memory_repeat(buffer, 0, LARGE, period, 2 * MIB);
    assert_repeats(buffer, 0, LARGE, 2 * MIB);
}

/* Periods that are no whole pages, parts of a buffer, and small buffers are copied. */
static void other_shapes_are_copied(void **state)
{
    (void)state;
    struct mem_buffer *large = buffer_of(LARGE), *small = buffer_of(5 * MIB + 3);

    memory_repeat(large, 0, LARGE, period, MIB + 1);
    assert_repeats(large, 0, LARGE, MIB + 1);
    memory_repeat(small, 0, 5 * MIB + 3, period, MIB);
    assert_repeats(small, 0, 5 * MIB + 3, MIB);
    memory_repeat(large, MIB + 3, 9 * MIB, period, MIB);
    assert_repeats(large, MIB + 3, 10 * MIB + 3, MIB);
    assert_int_equal(large->host[10 * MIB + 3], period[(10 * MIB + 3) % (MIB + 1)]);
    assert_int_equal(large->host[MIB + 2], period[1]);
}

static void fill_is_of_one_byte(void **state)
{
    (void)state;
    struct mem_buffer *buffer = buffer_of(LARGE);
    const uint64_t before = resident();

    assert_false(memory_is_init(buffer, 0, 1));
    assert_int_equal(buffer->host[0], buffer->host[LARGE - 1]);
    memory_fill(buffer, 0, LARGE, 9);
    assert_true(resident() < before + 64 * MIB);
    memory_fill(buffer, 17 * MIB + 1, 3 * MIB, 11);
    for (uint64_t at = 0; at < LARGE; at += 4099)
        assert_int_equal(buffer->host[at], at > 17 * MIB && at <= 20 * MIB ? 11 : 9);
    assert_int_equal(buffer->host[LARGE - 1], 9);
}

static void only_repeated_bytes_count_as_written(void **state)
{
    (void)state;
    struct mem_buffer *buffer = buffer_of(MIB);

    memory_repeat(buffer, 1001, 5000, period, 16);
    assert_true(memory_is_init(buffer, 1001, 5000));
    assert_false(memory_is_init(buffer, 1000, 1));
    assert_false(memory_is_init(buffer, 6001, 1));
    memory_repeat(buffer, 0, MIB, period, 16);
    assert_true(memory_is_init(buffer, 0, MIB));
    memory_set_init(buffer, 77, 1, false);
    assert_false(memory_is_init(buffer, 77, 1));
    assert_true(memory_is_init(buffer, 78, MIB - 78));
}

/* Small buffers are whole in the host's memory, which they may not fill. */
static void the_host_is_not_filled(void **state)
{
    struct mem_buffer *a, *b;
    struct err err;

    (void)state;
    memory_init(&memory, 4096 * MIB);
    assert_true(memory.host_limit > 0);
    assert_false(memory_is_over(&memory));
    memory.host_limit = 3 * MIB;
    assert_non_null(a = memory_alloc(&memory, 2 * MIB, "A", &err));
    assert_null(memory_alloc(&memory, 2 * MIB, "B", &err));
    assert_non_null(strstr(err.text, "host memory"));
    assert_non_null(b = memory_alloc(&memory, 1 * MIB, "C", &err));
    memory_free(&memory, a->base);
    memory_free(&memory, b->base);
    assert_int_equal(memory.held, 0);
    memory.host_limit = 1; /* a process is larger than that */
    assert_true(memory_is_over(&memory));
    memory_finish(&memory);
}

/* Until it is settled a buffer takes nothing; afterwards it is poison to its end. */
static void poison_comes_late(void **state)
{
    const uint64_t bytes = 64 * MIB, before = resident();
    struct err err;

    (void)state;
    struct mem_buffer *b = memory_reserve(&memory, bytes, "A", &err);
    assert_non_null(b);
    assert_true(b->pending);
    assert_true(resident() < before + 16 * MIB);
    memory_settle(b);
    assert_false(b->pending);
    assert_int_equal(b->host[0], MEMORY_POISON);
    assert_int_equal(b->host[bytes - 1], MEMORY_POISON);
    assert_false(memory_is_init(b, 0, 1));
}

/* The host's own memory stands at its own address among the others, and stays the host's. */
static void memory_is_shared(void **state)
{
    static uint8_t own[4096 + MEMORY_SLACK];
    struct mem_buffer *first = buffer_of(MIB), *shared, *zeros;
    const uint64_t base = (uintptr_t)own, used = memory.used;
    struct err err;

    (void)state;
    assert_non_null(shared = memory_share(&memory, own, 4096, "own", &err));
    assert_null(memory_share(&memory, own + 8, 8, "part", &err));
    assert_non_null(zeros = memory_alloc_host(&memory, MIB, "managed", &err));
    assert_int_equal(zeros->base, (uintptr_t)zeros->host);
    assert_int_equal(zeros->host[MIB - 1], 0);
    assert_ptr_equal(memory_find(&memory, base + 4095, 1), shared);
    assert_null(memory_find(&memory, base + 4095, 2));
    assert_ptr_equal(memory_find(&memory, first->base, MIB), first);
    assert_ptr_equal(memory_find(&memory, zeros->base, MIB), zeros);
    for (size_t i = 1; i < memory.nr; i++)
        assert_true(memory.buffers[i - 1]->base < memory.buffers[i]->base);
    memory_free(&memory, base);
    memory_free(&memory, zeros->base);
    own[0] = 1;
    assert_int_equal(memory.used, used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_not_filled),
        cmocka_unit_test_setup_teardown(poison_comes_late, start, end),
        cmocka_unit_test_setup_teardown(memory_is_shared, start, end),
        cmocka_unit_test_setup_teardown(large_buffer_takes_one_period, start, end),
        cmocka_unit_test_setup_teardown(write_stays_in_its_period, start, end),
        cmocka_unit_test_setup_teardown(other_shapes_are_copied, start, end),
        cmocka_unit_test_setup_teardown(fill_is_of_one_byte, start, end),
        cmocka_unit_test_setup_teardown(only_repeated_bytes_count_as_written, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
