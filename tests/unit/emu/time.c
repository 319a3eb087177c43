/* Tests of the time model on programs built by hand, against measured tables of real chips
 * (te42kyfo/gpu-benches: gpu-strides, gpu-stream; H200) and against figures worked by hand. */
#include "emu/state/memory.h"
#include "emu/watch/event.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INSTS = 64, BUFFER_AT = 1 << 20 };

/* A program, and a launch of it that the test plays to the model. */
struct bench {
    struct ptx_inst ptx[MAX_INSTS];
    struct inst insts[MAX_INSTS];
    struct inst_info info[MAX_INSTS];
    struct {
        uint32_t dest[4], source[4];
    } regs[MAX_INSTS];
    struct program program;
    struct emu_launch launch;
    struct mem_buffer buffer, shared; /* the second: a test that uses it sets memory.nr */
    struct mem_buffer *buffers[2];
    struct emu_memory memory;
    struct emu_run run;
    struct pc_count pc[MAX_INSTS];
    struct emu_counts counts;
    struct emu_listener *listener;
    struct emu_model *model; /* where the launch keeps it: owns the listener */
    struct counters out;
    unsigned nr_played; /* blocks */
};

static struct bench *bench_create(const char *chip, uint64_t blocks, unsigned threads)
{
    struct bench *b = xcalloc(1, sizeof(*b));

    b->program.insts = b->insts;
    b->program.info = b->info;
    b->program.nr_regs = 256;
    b->launch.registers = 32;
    b->launch.warm = true; /* L2 owes DRAM nothing, and has nothing of the buffers */
    b->launch.grid[0] = (uint32_t)blocks;
    b->launch.grid[1] = b->launch.grid[2] = 1;
    b->buffers[0] = &b->buffer;
    b->buffers[1] = &b->shared;
    b->memory.buffers = b->buffers;
    b->memory.nr = 1;
    b->run = (struct emu_run){.chip = chip_find(chip),
        .program = &b->program,
        .launch = &b->launch,
        .memory = &b->memory,
        .nr_threads = threads,
        .nr_warps = (threads + 31) / 32,
        .nr_blocks = blocks};
    b->counts =
        (struct emu_counts){.pc = b->pc, .blocks_run = blocks, .blocks_all = blocks, .scale = 1};
    return b;
}

static void bench_destroy(struct bench *b)
{
    if (b->model)
        emu_model_destroy(b->model);
    else
        b->listener->class->destroy(b->listener);
    free(b);
}

/* All of a buffer of so many bytes counts as touched. */
static void bench_buffer(struct bench *b, uint64_t bytes)
{
    b->buffer.base = BUFFER_AT;
    b->buffer.bytes = bytes;
    b->counts.unique_sectors = b->buffer.nr_touched = (bytes + 31) / 32;
}

static uint32_t add(struct bench *b, enum ptx_op op, enum inst_unit unit, int dest, int source)
{
    uint32_t pc = b->program.nr_insts++;
    struct inst_info *info = &b->info[pc];

    assert_true(pc < MAX_INSTS);
    b->ptx[pc].op = op;
    b->ptx[pc].type = PTX_F32;
    info->ptx = &b->ptx[pc];
    info->unit = unit;
    info->line = pc + 1;
    b->insts[pc].kind = INST_ALU;
    if (dest >= 0)
        b->regs[pc].dest[info->nr_dests++] = (uint32_t)dest;
    if (source >= 0)
        b->regs[pc].source[info->nr_sources++] = (uint32_t)source;
    info->dest = b->regs[pc].dest;
    info->source = b->regs[pc].source;
    return pc;
}

static uint32_t add_memory(
    struct bench *b, bool store, enum ptx_space space, unsigned bytes, int reg, int address)
{
    uint32_t pc = add(b, store ? PTX_OP_ST : PTX_OP_LD, UNIT_LSU, store ? -1 : reg, address);
    struct inst_info *info = &b->info[pc];

    if (store)
        b->regs[pc].source[info->nr_sources++] = (uint32_t)reg;
    b->insts[pc].kind = store ? INST_STORE : INST_LOAD;
    info->is_memory = true;
    info->is_load = !store;
    info->is_store = store;
    info->space = space;
    info->access_bytes = bytes;
    return pc;
}

static void begin(struct bench *b, uint64_t block)
{
    struct emu_block at = {.index = block, .weight = 1, .traced = true};

    if (b->listener == NULL)
        b->listener = emu_time_class()->create(&b->run);
    b->listener->class->block_begin(b->listener, &at);
    b->nr_played++;
}

static void play(struct bench *b, unsigned warp, uint32_t pc)
{
    b->listener->class->inst(b->listener, warp, pc, ~0u);
    b->pc[pc].warps++;
}

/* Lane i accesses address at + i * stride. */
static void play_access(struct bench *b, unsigned warp, uint32_t pc, uint64_t at, uint64_t stride)
{
    uint64_t address[32];
    struct emu_access access = {.warp = warp,
        .pc = pc,
        .mask = ~0u,
        .space = b->info[pc].space,
        .is_write = b->info[pc].is_store,
        .bytes = b->info[pc].access_bytes,
        .kind = stride == 0                          ? ACCESS_UNIFORM
                : stride == b->info[pc].access_bytes ? ACCESS_CONTIGUOUS
                                                     : ACCESS_OTHER,
        .address = address};

    for (unsigned i = 0; i < 32; i++)
        address[i] = at + i * stride;
    access.data = shape_data(access.kind, ~0u, access.bytes, address);
    play(b, warp, pc);
    b->listener->class->access(b->listener, &access, NULL);
}

static void end(struct bench *b)
{
    b->listener->class->block_end(b->listener);
}

/* Model; the kernel's cycles without the fixed ramp of the first launch, or of one more. */
static double finish(struct bench *b)
{
    const double ramp_ns = b->launch.warm ? b->run.chip->launch_overhead_ns : 1800;
    double ns;

    b->counts.scale = (double)b->run.nr_blocks / b->nr_played;
    b->model = emu_time_model(&b->run, &b->counts, b->listener, &b->out);
    assert_int_equal(b->out.metric[METRIC_TIME_NS].from, PROV_MODELLED);
    ns = counters_get(&b->out, METRIC_TIME_NS);
    assert_true(ns >= ramp_ns && ns < 1e12);
    return (ns - ramp_ns) * 1e-9 * b->run.chip->clock_hz;
}

static double gigabytes_per_s(const struct bench *b, double bytes, double cycles)
{
    return bytes / (cycles / b->run.chip->clock_hz) / 1e9;
}

/* One warp, a thousand fused multiply-adds: 4 cycles each when each needs the one before it, 1 when
 * none does. */
static void chains_cost_latency(void **state)
{
    for (int chained = 0; chained < 2; chained++) {
        struct bench *b = bench_create("h100", 1, 32);
        uint32_t pc = add(b, PTX_OP_FMA, UNIT_FMA, 1, chained ? 1 : 2);

        (void)state;
        begin(b, 0);
        for (unsigned i = 0; i < 1000; i++)
            play(b, 0, pc);
        end(b);
        assert_float_equal(finish(b), chained ? 4000 : 1000, chained ? 40 : 40);
        bench_destroy(b);
    }
}

/* 16 warps on four schedulers: f32 at 4 warp instructions a cycle, f64 at 2, integers at 2, special
 * functions at a half (CUDA programming guide: 128, 64, 64, 16 lanes). */
static void pipes_have_their_widths(void **state)
{
    static const struct {
        enum inst_unit unit;
        enum ptx_op op;
        double per_cycle;
    } rows[] = {{UNIT_FMA, PTX_OP_FMA, 4}, {UNIT_FP64, PTX_OP_FMA, 2}, {UNIT_IMUL, PTX_OP_MAD, 2},
        {UNIT_ALU, PTX_OP_AND, 2}, {UNIT_XU, PTX_OP_EX2, 0.5}};

    (void)state;
    for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
        struct bench *b = bench_create("h100", 1, 512);
        uint32_t pc = add(b, rows[row].op, rows[row].unit, 1, 2);
        double expected = 16 * 500 / rows[row].per_cycle;

        begin(b, 0);
        for (unsigned w = 0; w < 16; w++)
            for (unsigned i = 0; i < 500; i++)
                play(b, w, pc);
        end(b);
        assert_float_equal(finish(b), expected, 0.05 * expected);
        bench_destroy(b);
    }
}

/* Cycles per warp load that hits L1: gpu-strides_h200.txt, third column. Loads start at
 * each of 32 elements in turn. */
static void strided_loads_cost_what_was_measured(void **state)
{
    static const double of_float[16] = {1.01, 1.01, 2.01, 1.63, 4.01, 2.00, 2.32, 2.41, 8.0, 3.00,
        3.16, 3.41, 4.01, 4.10, 4.25, 4.60};
    static const double of_double[16] = {
        2.01, 2.01, 4.01, 2.32, 8.0, 3.16, 4.01, 4.32, 16.0, 5.3, 5.5, 6.0, 8.0, 7.0, 7.0, 8.0};

    enum { ROUNDS = 512 };

    (void)state;
    for (unsigned row = 0; row < 32; row++) {
        unsigned bytes = row < 16 ? 4 : 8, stride = row % 16;
        double expected = row < 16 ? of_float[stride] : of_double[stride], cycles;
        struct bench *b = bench_create("h200", 1, 1024);
        uint32_t pc = add_memory(b, false, PTX_GLOBAL, bytes, 1, 2);

        bench_buffer(b, 1 << 16);
        begin(b, 0);
        for (unsigned w = 0; w < 32; w++)
            for (unsigned i = 0; i < ROUNDS; i++)
                play_access(b, w, pc, BUFFER_AT + i % 32 * bytes, (uint64_t)stride * bytes);
        end(b);
        cycles = finish(b) / (32 * ROUNDS);
        print_message("%s stride %2u: %5.2f cycles a load (measured %5.2f)\n",
            row < 16 ? "float" : "double", stride, cycles, expected);
        assert_true(cycles > 0.9 * expected && cycles < 1.2 * expected);
        bench_destroy(b);
    }
}

/* 132 blocks that stream through 256 MB of doubles, one load in flight per thread (the `read`
 * column of gpu-stream_h200.txt), or a load and a store (`scale`). Each traced block plays the
 * first 200 rounds of its grid-stride loop. */
static double stream(unsigned threads, bool store)
{
    enum { ROUNDS = 200, BLOCKS = 132 };
    struct bench *b = bench_create("h200", BLOCKS, threads);
    uint32_t index = add(b, PTX_OP_ADD, UNIT_ALU, 3, 3);
    uint32_t load = add_memory(b, false, PTX_GLOBAL, 8, 1, 3);
    uint32_t use = add(b, PTX_OP_ADD, UNIT_FP64, 2, 1);
    uint32_t save = store ? add_memory(b, true, PTX_GLOBAL, 8, 2, 3) : 0;
    uint32_t jump = add(b, PTX_OP_BRA, UNIT_BRANCH, -1, 3);
    uint64_t row = (uint64_t)BLOCKS * threads * 8, half = row * ROUNDS;
    double bytes = (double)half * (store ? 2 : 1), cycles;

    b->insts[jump].kind = INST_BRANCH;
    b->insts[jump].target = b->insts[jump].reconverge = index;
    bench_buffer(b, half * 2);
    if (!store)
        b->buffer.nr_touched = half / 32;
    for (unsigned block = 0; block < BLOCKS; block += 40) {
        begin(b, block);
        for (unsigned i = 0; i < ROUNDS; i++) {
            for (unsigned w = 0; w < threads / 32; w++) {
                uint64_t at = BUFFER_AT + i * row + ((uint64_t)block * threads + w * 32) * 8;

                play(b, w, index);
                play_access(b, w, load, at, 8);
                play(b, w, use);
                if (store)
                    play_access(b, w, save, at + half, 8);
                play(b, w, jump);
            }
        }
        end(b);
    }
    cycles = finish(b);
    bytes = gigabytes_per_s(b, bytes, cycles);
    bench_destroy(b);
    return bytes;
}

static void streams_reach_what_was_measured(void **state)
{
    static const struct {
        unsigned threads;
        double read, scale;
    } rows[] = {{32, 123, 240}, {64, 244, 463}, {128, 485, 852}, {256, 935, 1395},
        {512, 1707, 2263}, {768, 2297, 2844}, {1024, 2756, 3165}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        double read = stream(rows[i].threads, false), scale = stream(rows[i].threads, true);

        print_message("%4u threads: read %5.0f GB/s (measured %5.0f), scale %5.0f (%5.0f)\n",
            rows[i].threads, read, rows[i].read, scale, rows[i].scale);
        assert_true(read > 0.85 * rows[i].read && read < 1.15 * rows[i].read);
        assert_true(scale > 0.85 * rows[i].scale && scale < 1.15 * rows[i].scale);
    }
}

/* Four loads of different lines: in flight together when none needs another's value. */
static void independent_loads_overlap(void **state)
{
    double cycles[2];

    (void)state;
    for (int chained = 0; chained < 2; chained++) {
        struct bench *b = bench_create("h100", 1, 32);
        uint32_t load[8];

        bench_buffer(b, 1 << 20);
        for (unsigned i = 0; i < 8; i++)
            load[i] = add_memory(b, false, PTX_GLOBAL, 4, chained ? 1 : 10 + (int)i, 1);
        begin(b, 0);
        for (unsigned i = 0; i < 8; i++)
            play_access(b, 0, load[i], BUFFER_AT + i * 4096, 4);
        add(b, PTX_OP_ADD, UNIT_FMA, 2, chained ? 1 : 17);
        play(b, 0, b->program.nr_insts - 1);
        end(b);
        cycles[chained] = finish(b);
        bench_destroy(b);
    }
    assert_true(cycles[1] > 6 * cycles[0]);
    assert_true(cycles[0] > 500 && cycles[0] < 800);
}

/* 32 ways of conflict: 32 cycles a load; and the metric says so. */
static void bank_conflicts_cost_wavefronts(void **state)
{
    (void)state;
    for (unsigned ways = 1; ways <= 32; ways *= 2) {
        struct bench *b = bench_create("h100", 1, 256);
        uint32_t pc = add_memory(b, false, PTX_SHARED, 4, 1, 2);

        begin(b, 0);
        for (unsigned w = 0; w < 8; w++)
            for (unsigned i = 0; i < 200; i++)
                play_access(b, w, pc, 0, 4 * ways);
        end(b);
        assert_float_equal(finish(b) / 1600, ways, 0.1 * ways + 0.1);
        bench_destroy(b);
    }
}

/* A block's warps meet: one slow warp keeps all. */
static void barriers_wait_for_the_slowest(void **state)
{
    struct bench *b = bench_create("h100", 1, 64);
    uint32_t fma = add(b, PTX_OP_FMA, UNIT_FMA, 1, 1),
             bar = add(b, PTX_OP_BAR, UNIT_BRANCH, -1, -1);

    (void)state;
    b->insts[bar].kind = INST_BARRIER;
    b->info[bar].is_barrier = true;
    begin(b, 0);
    for (unsigned i = 0; i < 1000; i++)
        play(b, 0, fma);
    play(b, 0, bar);
    play(b, 1, bar);
    for (unsigned i = 0; i < 500; i++)
        play(b, 1, fma);
    end(b);
    assert_float_equal(finish(b), 6000, 100);
    /* Warp 1 waited 4000 of the 10000 cycles that the two were resident. */
    assert_float_equal(counters_get(&b->out, METRIC_STALL_BARRIER_PCT), 40, 2);
    bench_destroy(b);
}

/* The same work on a tenth of the SMs takes about ten times as long. */
static void idle_sms_cost_time(void **state)
{
    double cycles[2];

    (void)state;
    for (int few = 0; few < 2; few++) {
        struct bench *b = bench_create("h100", few ? 13 : 130, 1024);
        uint32_t pc = add(b, PTX_OP_FMA, UNIT_FMA, 1, 1);

        begin(b, 0);
        for (unsigned w = 0; w < 32; w++)
            for (unsigned i = 0; i < (few ? 2000u : 200u); i++)
                play(b, w, pc);
        end(b);
        cycles[few] = finish(b);
        bench_destroy(b);
    }
    assert_float_equal(cycles[1] / cycles[0], 10, 1);
}

/* A launch that reads 4 MB which the launch before it read finds them in L2, unless L2 was empty.
 */
static void the_next_launch_finds_l2_warm(void **state)
{
    double in_l2 = 0, cycles[2], dram[2];

    (void)state;
    for (int warm = 0; warm < 2; warm++) {
        struct bench *b = bench_create("h100", 128, 1024);
        uint32_t load = add_memory(b, false, PTX_GLOBAL, 4, 1, 2);
        uint32_t use = add(b, PTX_OP_ADD, UNIT_FMA, 2, 1);

        bench_buffer(b, 4 << 20);
        b->launch.warm = warm;
        b->buffer.in_l2 = in_l2;
        for (unsigned block = 0; block < 128; block += 32) {
            begin(b, block);
            for (unsigned w = 0; w < 32; w++) {
                for (unsigned i = 0; i < 8; i++) {
                    play_access(b, w, load, BUFFER_AT + ((block * 32 + w) * 8 + i) * 128, 4);
                    play(b, w, use);
                }
            }
            end(b);
        }
        cycles[warm] = finish(b);
        dram[warm] = counters_get(&b->out, METRIC_DRAM_BYTES);
        in_l2 = b->buffer.in_l2;
        bench_destroy(b);
    }
    assert_float_equal(dram[0], 4194304, 65536);
    assert_float_equal(dram[1], 0, 65536);
    assert_true(cycles[1] < 0.7 * cycles[0]);
}

/* Cycles of one warp that in 64 turns of a loop loads a number and adds it up. The loads miss. */
static double at_counted_loop(bool rolled)
{
    struct bench *b = bench_create("h100", 1, 32);
    uint32_t load = add_memory(b, false, PTX_GLOBAL, 4, 1, 10), last;
    double cycles;

    b->ptx[load].rolled = rolled;
    bench_buffer(b, 1 << 20);
    add(b, PTX_OP_ADD, UNIT_FMA, 2, 1);
    add(b, PTX_OP_ADD, UNIT_ALU, 10, 10);
    add(b, PTX_OP_SETP, UNIT_ALU, 7, 10);
    last = add(b, PTX_OP_BRA, UNIT_BRANCH, -1, 7);
    b->insts[last].kind = INST_BRANCH;
    b->insts[last].guard = 8;
    b->insts[last].target = load;
    b->info[last].is_branch = true;
    begin(b, 0);
    for (unsigned i = 0; i < 64; i++) {
        play_access(b, 0, load, BUFFER_AT + i * 4096, 4);
        for (uint32_t pc = load + 1; pc <= last; pc++)
            play(b, 0, pc);
    }
    end(b);
    cycles = finish(b);
    bench_destroy(b);
    return cycles;
}

/* ptxas unrolls a short counted loop four times, so that four loads are under way. */
static void short_loops_are_unrolled(void **state)
{
    const double rolled = at_counted_loop(true), unrolled = at_counted_loop(false);

    (void)state;
    assert_true(rolled > 64 * 500);
    assert_float_equal(rolled / unrolled, 4, 0.4);
}

/* An SM begins a block 159 cycles after the one before it, but for those that it can hold at once.
 */
static void blocks_start_one_after_another(void **state)
{
    double cycles[2];

    (void)state;
    for (int many = 0; many < 2; many++) {
        struct bench *b = bench_create("h100", 132 * (many ? 400 : 200), 32);
        uint32_t pc = add(b, PTX_OP_FMA, UNIT_FMA, 1, 1);

        for (uint64_t block = 0; block < 4; block++) {
            begin(b, block * 1000);
            play(b, 0, pc);
            end(b);
        }
        cycles[many] = finish(b);
        bench_destroy(b);
    }
    assert_float_equal((cycles[1] - cycles[0]) / 200, 159, 5);
}

/* 128 blocks read 4 MB from DRAM: longer when L2 must first write what it holds of others. */
static void what_l2_owes_takes_time(void **state)
{
    double cycles[2];

    (void)state;
    for (int warm = 0; warm < 2; warm++) {
        struct bench *b = bench_create("h100", 128, 1024);
        uint32_t load = add_memory(b, false, PTX_GLOBAL, 4, 1, 2);
        uint32_t use = add(b, PTX_OP_ADD, UNIT_FMA, 2, 1);

        bench_buffer(b, 4 << 20);
        b->launch.warm = warm; /* L2 owes nothing then, and has nothing of the buffer */
        for (unsigned block = 0; block < 128; block += 32) {
            begin(b, block);
            for (unsigned w = 0; w < 32; w++)
                for (unsigned i = 0; i < 8; i++) {
                    play_access(b, w, load, BUFFER_AT + ((block * 32 + w) * 8 + i) * 128, 4);
                    play(b, w, use);
                }
            end(b);
        }
        cycles[warm] = finish(b);
        assert_float_equal(counters_get(&b->out, METRIC_DRAM_BYTES), 4194304, 65536);
        bench_destroy(b);
    }
    assert_true(cycles[0] - cycles[1] > 700);
    assert_true(cycles[0] - cycles[1] < 8 * 700);
}

/* Sixteen loads that miss, each of 32 lines: when their data is there, each still takes 32 cycles.
 */
static void scattered_loads_wait_for_the_data_stage(void **state)
{
    double cycles[2];

    (void)state;
    for (int scattered = 0; scattered < 2; scattered++) {
        struct bench *b = bench_create("h100", 1, 32);
        uint32_t load[16];

        bench_buffer(b, 1 << 20);
        for (unsigned i = 0; i < 16; i++)
            load[i] = add_memory(b, false, PTX_GLOBAL, 4, 10 + (int)i, 1);
        for (unsigned i = 0; i < 16; i++)
            add(b, PTX_OP_ADD, UNIT_FMA, 2, 10 + (int)i);
        begin(b, 0);
        for (unsigned i = 0; i < 16; i++)
            play_access(
                b, 0, load[i], BUFFER_AT + i * (scattered ? 32 : 4096), scattered ? 4096 : 4);
        for (uint32_t pc = 16; pc < 32; pc++)
            play(b, 0, pc);
        end(b);
        cycles[scattered] = finish(b);
        bench_destroy(b);
    }
    assert_float_equal(cycles[1] - cycles[0], 16 * 32, 120);
}

/* Blocks read chunks of 32 kB, `period` of them in turn, 1,056 blocks of one warp in all. Shares of
 * DRAM in what was read: next to nothing where all chunks fit in L2, nearly all where they are
 * three times as much, although most of what a block reads another one of its wave has read before.
 */
static double share_of_dram(uint64_t period)
{
    enum { CHUNK = 32768, BLOCKS = 12672 };
    struct bench *b = bench_create("h200", BLOCKS, 32);
    uint32_t pc = add_memory(b, false, PTX_GLOBAL, 4, 1, 2);
    double share;

    bench_buffer(b, period * CHUNK);
    for (unsigned t = 0; t < 6; t++) {
        const uint64_t at[] = {1584, 4752, 7920, 11088, 4753, 7920 + 132};
        const struct emu_block block = {
            .index = at[t], .weight = 1, .traced = t < 4, .nearby = t >= 4};

        if (t == 0)
            b->listener = emu_time_class()->create(&b->run);
        b->listener->class->block_begin(b->listener, &block);
        for (unsigned i = 0; i < CHUNK / 128; i++)
            play_access(b, 0, pc, BUFFER_AT + at[t] % period * CHUNK + i * 128, 4);
        end(b);
    }
    b->nr_played = 4;
    finish(b);
    share = counters_get(&b->out, METRIC_DRAM_BYTES) / ((double)BLOCKS * CHUNK);
    bench_destroy(b);
    return share;
}

static void sharing_far_apart_needs_room_in_l2(void **state)
{
    (void)state;
    assert_true(share_of_dram(900) < 0.15);  /* 29 MB */
    assert_true(share_of_dram(4700) > 0.95); /* 154 MB */
}

/* 1,024 blocks that each read a row of 32 kB, and vectors of 4 kB that all blocks share: the rows
 * come from DRAM, whatever else there is to read, and more reading never takes less time. */
static void what_is_shared_saves_no_row(void **state)
{
    enum { BLOCKS = 1024, ROW = 32768, VECTOR = 4096, SHARED_AT = BUFFER_AT + (1 << 26) };
    static const uint64_t traced[] = {128, 384, 640, 896, 641, 385};
    double before = 0;

    (void)state;
    for (unsigned vectors = 0; vectors <= 4; vectors++) {
        struct bench *b = bench_create("h100", BLOCKS, 32);
        uint32_t row = add_memory(b, false, PTX_GLOBAL, 4, 1, 2);
        uint32_t vector = add_memory(b, false, PTX_GLOBAL, 4, 3, 2);
        double cycles;

        bench_buffer(b, (uint64_t)BLOCKS * ROW);
        b->shared.base = SHARED_AT;
        b->shared.bytes = 4 * VECTOR;
        b->shared.nr_touched = vectors * VECTOR / 32;
        b->memory.nr = 2;
        b->listener = emu_time_class()->create(&b->run);
        for (unsigned t = 0; t < ARRAY_SIZE(traced); t++) {
            const struct emu_block block = {
                .index = traced[t], .weight = 1, .traced = t < 4, .nearby = t >= 4};

            b->listener->class->block_begin(b->listener, &block);
            for (unsigned i = 0; i < ROW / 128; i++) {
                play_access(b, 0, row, BUFFER_AT + traced[t] * ROW + i * 128, 4);
                for (unsigned v = 0; v < vectors; v++)
                    play_access(b, 0, vector, SHARED_AT + v * VECTOR + i % (VECTOR / 128) * 128, 4);
            }
            end(b);
        }
        b->nr_played = ARRAY_SIZE(traced);
        cycles = finish(b);
        assert_true(cycles >= before);
        assert_in_range(
            (uint64_t)counters_get(&b->out, METRIC_DRAM_BYTES), BLOCKS * ROW, BLOCKS * ROW * 1.02);
        before = cycles;
        bench_destroy(b);
    }
}

/* Two arrays read in turn, of which L1 holds parts: which sectors meet in a set must not follow
 * from where the emulator has the arrays. */
static double cycles_at(uint64_t first, uint64_t second)
{
    enum { ROUNDS = 400, BYTES = 96 << 10 };
    struct bench *b = bench_create("h100", 132, 32);
    uint32_t one = add_memory(b, false, PTX_GLOBAL, 4, 1, 3);
    uint32_t use = add(b, PTX_OP_ADD, UNIT_ALU, 3, 1);
    uint32_t two = add_memory(b, false, PTX_GLOBAL, 4, 2, 3);
    uint32_t again = add(b, PTX_OP_ADD, UNIT_ALU, 3, 2);
    double cycles;

    bench_buffer(b, BYTES);
    b->buffer.base = first;
    b->shared = b->buffer;
    b->shared.base = second;
    b->memory.nr = 2;
    begin(b, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const uint64_t at = i * UINT64_C(7919) * 128 % (BYTES - 128);

        play_access(b, 0, one, first + at, 4);
        play(b, 0, use);
        play_access(b, 0, two, second + at * 3 % (BYTES - 128) / 128 * 128, 4);
        play(b, 0, again);
    }
    end(b);
    cycles = finish(b);
    bench_destroy(b);
    return cycles;
}

static void places_in_the_emulator_change_nothing(void **state)
{
    const double cycles = cycles_at(1 << 20, 3 << 20);

    (void)state;
    for (uint64_t shift = 512; shift < UINT64_C(1) << 36; shift = shift * 37 / 512 * 512)
        assert_true(cycles_at((1 << 20) + shift, (UINT64_C(5) << 36) + 3 * shift) == cycles);
}

/* Cycles of a warp that a hundred times comes to a branch around so many multiply-adds. */
static double at_branches(unsigned nr_skipped, bool taken)
{
    struct bench *b = bench_create("h100", 1, 32);
    uint32_t branch = add(b, PTX_OP_BRA, UNIT_BRANCH, -1, 7), last;
    double cycles;

    b->insts[branch].kind = INST_BRANCH;
    b->insts[branch].guard = 4;
    b->insts[branch].target = branch + 1 + nr_skipped;
    b->info[branch].is_branch = true;
    for (unsigned i = 0; i < nr_skipped; i++)
        add(b, PTX_OP_FMA, UNIT_FMA, 20 + (int)i, 2);
    last = add(b, PTX_OP_FMA, UNIT_FMA, 3, 2);
    begin(b, 0);
    for (unsigned i = 0; i < 100; i++) {
        play(b, 0, branch);
        for (uint32_t pc = branch + 1; pc < last && !taken; pc++)
            play(b, 0, pc);
        play(b, 0, last);
    }
    end(b);
    cycles = finish(b);
    bench_destroy(b);
    return cycles;
}

/* Six instructions are predicated: they cost the same whether the warp skips them or not, and there
 * is no branch. Twelve are branched around. */
static void short_branches_become_predicates(void **state)
{
    (void)state;
    assert_float_equal(at_branches(6, false), 700, 20);
    assert_float_equal(at_branches(6, true), 700, 20);
    assert_true(at_branches(12, true) < 900);
    assert_true(at_branches(12, false) > 1300);
}

/* A comparison and what it decides, time and again: as an operand it is there after 4 cycles, as
 * the guard of an instruction after 13. */
static void guards_come_late(void **state)
{
    (void)state;
    for (int guards = 0; guards < 2; guards++) {
        struct bench *b = bench_create("h100", 1, 32);
        uint32_t compare = add(b, PTX_OP_SETP, UNIT_ALU, 5, 6);
        uint32_t choose = add(b, PTX_OP_SELP, UNIT_ALU, 6, 5);

        b->insts[choose].guard = guards ? 4 : 0;
        begin(b, 0);
        for (unsigned i = 0; i < 100; i++) {
            play(b, 0, compare);
            play(b, 0, choose);
        }
        end(b);
        assert_float_equal(finish(b), guards ? 1700 : 800, 20);
        bench_destroy(b);
    }
}

/* Loads move up before a division that has no slow path, but not before one that has. */
static void slow_paths_keep_loads_apart(void **state)
{
    double cycles[2];

    (void)state;
    for (int full = 0; full < 2; full++) {
        struct bench *b = bench_create("h100", 1, 32);
        uint32_t pc[16];

        bench_buffer(b, 1 << 20);
        for (unsigned i = 0; i < 16; i += 2) {
            pc[i] = add_memory(b, false, PTX_GLOBAL, 4, 10 + (int)i, 1);
            pc[i + 1] = add(b, PTX_OP_DIV, UNIT_XU, 11 + (int)i, 10 + (int)i);
            b->ptx[pc[i + 1]].full = full;
        }
        begin(b, 0);
        for (unsigned i = 0; i < 16; i += 2) {
            play_access(b, 0, pc[i], BUFFER_AT + i * 4096, 4);
            play(b, 0, pc[i + 1]);
        }
        end(b);
        cycles[full] = finish(b);
        bench_destroy(b);
    }
    assert_true(cycles[0] > 6 * 500);
    assert_true(cycles[1] < 2 * 600);
}

/* One warp misses all the time; the hundred hits of another do not wait for that. */
static void hits_pass_misses(void **state)
{
    struct bench *b = bench_create("h100", 1, 64);
    uint32_t miss = add_memory(b, false, PTX_GLOBAL, 4, 1, 1);
    uint32_t hit = add_memory(b, false, PTX_GLOBAL, 4, 2, 2);

    (void)state;
    bench_buffer(b, 1 << 20);
    begin(b, 0);
    for (unsigned i = 0; i < 10; i++)
        play_access(b, 0, miss, BUFFER_AT + 4096 * (1 + i), 4);
    for (unsigned i = 0; i < 100; i++)
        play_access(b, 1, hit, BUFFER_AT, 4);
    end(b);
    assert_true(finish(b) < 7500);
    bench_destroy(b);
}

/* A launch of warps that load, and need what they have loaded: its model. */
static struct bench *bench_of_loads(bool quick, bool keep)
{
    enum { ROUNDS = 400, WARPS = 16, BLOCKS = 1320 };
    struct bench *b = bench_create("h100", BLOCKS, WARPS * 32);
    uint32_t load = add_memory(b, false, PTX_GLOBAL, 4, 1, 3);
    uint32_t use = add(b, PTX_OP_EX2, UNIT_XU, 2, 1);

    b->launch.quick_cures = quick;
    b->launch.keep_model = keep;
    bench_buffer(b, (uint64_t)BLOCKS * WARPS * ROUNDS * 128);
    for (unsigned block = 0; block < BLOCKS; block += 330) {
        begin(b, block);
        for (unsigned i = 0; i < ROUNDS * WARPS; i++) {
            play_access(
                b, i % WARPS, load, BUFFER_AT + ((uint64_t)block * ROUNDS * WARPS + i) * 128, 4);
            play(b, i % WARPS, use);
        }
        end(b);
    }
    finish(b);
    return b;
}

/* Cures that are asked for after the launch say what they say at once; others are absent. */
static void cures_may_be_asked_for_later(void **state)
{
    struct bench *at_once = bench_of_loads(true, false), *later = bench_of_loads(true, true);
    const uint32_t asked = 1u << CURE_LATENCY | 1u << CURE_NARROW;
    struct counters *out = &later->out;

    (void)state;
    assert_null(at_once->model);
    assert_non_null(later->model);
    assert_false(counters_has(out, METRIC_WITHOUT_LATENCY));
    emu_cures(later->model, asked, out);
    for (int c = 0; c < NR_CURES; c++) {
        const enum metric metric = cure_metric((enum cure)c);

        assert_true(counters_has(&at_once->out, metric));
        assert_int_equal(counters_has(out, metric), asked >> c & 1);
        if (counters_has(out, metric))
            assert_true(counters_get(out, metric) == counters_get(&at_once->out, metric));
    }
    assert_true(counters_get(out, METRIC_WITHOUT_LATENCY) < counters_get(out, METRIC_TIME_NS));
    assert_memory_equal(&out->left[CURE_LATENCY], &at_once->out.left[CURE_LATENCY],
        sizeof(out->left[CURE_LATENCY]));
    bench_destroy(at_once);
    bench_destroy(later);
}

/* Shorter simulations of cures leave the launch's own time alone, and say about the same. */
static void quick_cures_say_about_the_same(void **state)
{
    static const enum metric cures[] = {METRIC_WITHOUT_LATENCY, METRIC_WITHOUT_DRAM,
        METRIC_WITHOUT_NARROW, METRIC_WITHOUT_LIMITS, METRIC_WITHOUT_SPECIAL};
    struct counters out[2];
    size_t most[2] = {0};
    double off = 0;

    (void)state;
    for (int quick = 0; quick < 2; quick++) {
        struct bench *b = bench_of_loads(quick, false);

        out[quick] = b->out;
        bench_destroy(b);
    }
    assert_true(counters_get(&out[0], METRIC_TIME_NS) == counters_get(&out[1], METRIC_TIME_NS));
    for (int quick = 0; quick < 2; quick++)
        for (size_t i = 0; i < ARRAY_SIZE(cures); i++)
            if (counters_get(&out[quick], cures[i]) < counters_get(&out[quick], cures[most[quick]]))
                most[quick] = i;
    for (size_t i = 0; i < ARRAY_SIZE(cures); i++)
        off += fabs(counters_get(&out[1], cures[i]) - counters_get(&out[0], cures[i])) /
               counters_get(&out[0], METRIC_TIME_NS) / ARRAY_SIZE(cures);
    print_message("off by %.3f on average, most: %zu, %zu\n", off, most[0], most[1]);
    assert_true(off < 0.1);
    assert_int_equal(most[0], most[1]);
}

/* Each block reads 32 kB, half of them also read by the block after it. The blocks that the chip
 * holds at a time read more than L2 holds, but neighbours start together: DRAM delivers all once.
 */
static void neighbours_share_what_one_fetches(void **state)
{
    enum { CHUNK = 32768, STEP = CHUNK / 2, BLOCKS = 12672 };
    static const uint64_t traced[] = {1584, 4752, 7920, 11088, 4753, 7921};
    struct bench *b = bench_create("h100", BLOCKS, 32);
    uint32_t pc = add_memory(b, false, PTX_GLOBAL, 4, 1, 2);

    (void)state;
    bench_buffer(b, (uint64_t)(BLOCKS + 1) * STEP);
    b->listener = emu_time_class()->create(&b->run);
    for (unsigned t = 0; t < ARRAY_SIZE(traced); t++) {
        const struct emu_block block = {
            .index = traced[t], .weight = 1, .traced = t < 4, .nearby = t >= 4};

        b->listener->class->block_begin(b->listener, &block);
        for (unsigned i = 0; i < CHUNK / 128; i++)
            play_access(b, 0, pc, BUFFER_AT + traced[t] * STEP + i * 128, 4);
        end(b);
    }
    b->nr_played = 4;
    finish(b);
    assert_in_range((uint64_t)counters_get(&b->out, METRIC_DRAM_BYTES), (uint64_t)BLOCKS * STEP,
        (uint64_t)BLOCKS * STEP * 11 / 10);
    bench_destroy(b);
}

/* 1,024 blocks, each of which reads one of 32 rows of tiles and one of 32 columns, 1 MiB each, more
 * than L2 holds; DRAM bytes. `middle` is traced, with the block after it. */
static double dram_of_tiles(uint64_t middle)
{
    enum { TILE = 1 << 20, SIDE = 32, COLUMNS_AT = BUFFER_AT + (1 << 26) };
    const uint64_t at[] = {132, 385, middle, 894, 386, middle + 1};
    struct bench *b = bench_create("h100", SIDE * SIDE, 32);
    uint32_t row = add_memory(b, false, PTX_GLOBAL, 16, 1, 2);
    uint32_t column = add_memory(b, false, PTX_GLOBAL, 16, 3, 2);
    double bytes;

    bench_buffer(b, SIDE * TILE);
    b->shared = b->buffer;
    b->shared.base = COLUMNS_AT;
    b->memory.nr = 2;
    b->listener = emu_time_class()->create(&b->run);
    for (unsigned t = 0; t < ARRAY_SIZE(at); t++) {
        const struct emu_block block = {
            .index = at[t], .weight = 1, .traced = t < 4, .nearby = t >= 4};

        b->listener->class->block_begin(b->listener, &block);
        for (unsigned i = 0; i < TILE / 512; i++) {
            play_access(b, 0, row, BUFFER_AT + at[t] / SIDE * TILE + i * 512, 16);
            play_access(b, 0, column, COLUMNS_AT + at[t] % SIDE * TILE + i * 512, 16);
        }
        end(b);
    }
    b->nr_played = 4;
    finish(b);
    bytes = counters_get(&b->out, METRIC_DRAM_BYTES);
    bench_destroy(b);
    return bytes;
}

/* A block that ends a row of tiles shares none of them with the next block; the row's others do. */
static void ends_of_rows_say_nothing_of_rows(void **state)
{
    (void)state;
    assert_float_equal(dram_of_tiles(639) / dram_of_tiles(638), 1, 0.02);
}

/* 128 blocks, all on the chip at a time, of which eight neighbours read the same 6 MiB, all of them
 * twice, 96 MiB in all. What L2 has lost by the second time DRAM delivers once for the eight. */
static void neighbours_share_what_comes_again(void **state)
{
    enum { PART = 6 << 20, BLOCKS = 128, SHARERS = 8 };
    static const uint64_t at[] = {16, 49, 80, 113, 81, 50};
    const double all = (double)PART * BLOCKS / SHARERS;
    struct bench *b = bench_create("h100", BLOCKS, 32);
    uint32_t pc = add_memory(b, false, PTX_GLOBAL, 16, 1, 2);
    double bytes;

    (void)state;
    bench_buffer(b, (uint64_t)all);
    b->listener = emu_time_class()->create(&b->run);
    for (unsigned t = 0; t < ARRAY_SIZE(at); t++) {
        const struct emu_block block = {
            .index = at[t], .weight = 1, .traced = t < 4, .nearby = t >= 4};

        b->listener->class->block_begin(b->listener, &block);
        for (unsigned i = 0; i < 2 * PART / 512; i++)
            play_access(b, 0, pc, BUFFER_AT + at[t] / SHARERS * PART + i % (PART / 512) * 512, 16);
        end(b);
    }
    b->nr_played = 4;
    finish(b);
    bytes = counters_get(&b->out, METRIC_DRAM_BYTES);
    print_message("DRAM: %.2f times what is read\n", bytes / all);
    assert_true(bytes > 1.2 * all && bytes < 2.05 * all);
    bench_destroy(b);
}

/* Whatever comes in, time stays positive and finite. */
static void nothing_to_trace_is_survived(void **state)
{
    struct bench *b = bench_create("h100", 1000, 128);

    (void)state;
    add(b, PTX_OP_FMA, UNIT_FMA, 1, 1);
    emu_time_model(&b->run, &b->counts, NULL, &b->out);
    assert_true(counters_get(&b->out, METRIC_TIME_NS) >= 1000);
    assert_false(counters_has(&b->out, METRIC_L1_HIT_PCT));
    begin(b, 0); /* a block in which nothing happened */
    end(b);
    finish(b);
    bench_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_cost_latency),
        cmocka_unit_test(pipes_have_their_widths),
        cmocka_unit_test(strided_loads_cost_what_was_measured),
        cmocka_unit_test(streams_reach_what_was_measured),
        cmocka_unit_test(independent_loads_overlap),
        cmocka_unit_test(bank_conflicts_cost_wavefronts),
        cmocka_unit_test(barriers_wait_for_the_slowest),
        cmocka_unit_test(idle_sms_cost_time),
        cmocka_unit_test(the_next_launch_finds_l2_warm),
        cmocka_unit_test(short_loops_are_unrolled),
        cmocka_unit_test(blocks_start_one_after_another),
        cmocka_unit_test(what_l2_owes_takes_time),
        cmocka_unit_test(scattered_loads_wait_for_the_data_stage),
        cmocka_unit_test(sharing_far_apart_needs_room_in_l2),
        cmocka_unit_test(what_is_shared_saves_no_row),
        cmocka_unit_test(short_branches_become_predicates),
        cmocka_unit_test(guards_come_late),
        cmocka_unit_test(slow_paths_keep_loads_apart),
        cmocka_unit_test(hits_pass_misses),
        cmocka_unit_test(quick_cures_say_about_the_same),
        cmocka_unit_test(cures_may_be_asked_for_later),
        cmocka_unit_test(neighbours_share_what_one_fetches),
        cmocka_unit_test(ends_of_rows_say_nothing_of_rows),
        cmocka_unit_test(neighbours_share_what_comes_again),
        cmocka_unit_test(places_in_the_emulator_change_nothing),
        cmocka_unit_test(nothing_to_trace_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
