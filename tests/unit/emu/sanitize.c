/* Owns the tests of what finds races and uninitialised reads: tiny kernels, written by hand, of
 * which the answer is known. */
#include "emu/emu.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Each thread's number in the block %r1, block %r2, number in the grid %r4; address of its word in
 * tile %r7, in a %rd4, in b %rd5; bytes of its word %r5. */
static const char before[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f32 %f<9>;\n"
    ".shared .align 4 .b8 _ZZ1kPfS_E4tile[1024]; .local .align 4 .b8 depot[16];\n"
    ".loc 1 1 0\n"
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
    "mad.lo.s32 %r4, %r2, %r3, %r1; shl.b32 %r5, %r1, 2; mov.u32 %r6, _ZZ1kPfS_E4tile;\n"
    "add.s32 %r7, %r6, %r5; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
    "add.s64 %rd5, %rd2, %rd3; mov.f32 %f1, 0f3F800000;\n";

struct bench {
    struct emu *emu;
    uint64_t a, b; /* 4096 words each */
    struct err err;
    struct arena *arena;
};

enum { BUFFER_BYTES = 16384 };

static void bench_init(struct bench *bench, unsigned nr_threads)
{
    bench->emu = emu_create(chip_default(), nr_threads);
    bench->a = emu_alloc(bench->emu, BUFFER_BYTES, "a", &bench->err);
    bench->b = emu_alloc(bench->emu, BUFFER_BYTES, "b", &bench->err);
    bench->arena = arena_create();
    assert_true(bench->a && bench->b);
    assert_true(emu_fill(bench->emu, bench->a, 0, BUFFER_BYTES, true, &bench->err));
}

static void bench_finish(struct bench *bench)
{
    emu_destroy(bench->emu);
    arena_destroy(bench->arena);
}

/* b starts uninitialised, a as zeros. */
static bool strict = true; /* launch->strict_races */

static struct emu_result launch(
    struct bench *bench, const char *body, uint32_t grid, uint32_t block, bool races, bool uninit)
{
    struct emu_result result;
    struct emu_module *module;
    struct str ptx = {0};
    const uint64_t params[2] = {bench->a, bench->b};
    const struct emu_launch how = {.kernel = "k",
        .grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .params = params,
        .params_bytes = sizeof(params),
        .find_races = races,
        .strict_races = strict,
        .find_uninit = uninit,
        .find_sync = true};

    str_add(&ptx, before);
    str_add(&ptx, body);
    str_add(&ptx, "}\n");
    if (!emu_load(bench->emu, ptx.text, ptx.len, &module, &result, &bench->err) || !module)
        fail_msg("%s", result.text);
    assert_true(emu_launch(bench->emu, module, &how, bench->arena, &result, &bench->err));
    emu_unload(bench->emu, module);
    str_finish(&ptx);
    return result;
}

/* The same verdict, line and words with 1, 2 and 3 host threads. */
static struct emu_result run(
    const char *body, uint32_t grid, uint32_t block, bool races, bool uninit)
{
    struct emu_result first = {0};

    for (unsigned nr = 1; nr <= 3; nr++) {
        struct bench bench;
        struct emu_result result;
        bench_init(&bench, nr);
        result = launch(&bench, body, grid, block, races, uninit);
        bench_finish(&bench);
        if (nr == 1)
            first = result;
        assert_int_equal(result.verdict, first.verdict);
        assert_int_equal(result.line, first.line);
        assert_string_equal(result.text, first.text);
    }
    return first;
}

static void assert_clean(struct emu_result result)
{
    if (result.verdict != VERDICT_OK)
        fail_msg("%s", result.text);
}

static void assert_says(
    struct emu_result result, enum verdict verdict, unsigned line, const char *text)
{
    if (result.verdict != verdict || result.line != line || !strstr(result.text, text))
        fail_msg("verdict %d, line %u: %s", result.verdict, result.line, result.text);
}

static struct emu_result races(const char *body, uint32_t grid, uint32_t block)
{
    return run(body, grid, block, true, false);
}

static struct emu_result uninit(const char *body, uint32_t grid, uint32_t block)
{
    return run(body, grid, block, false, true);
}

#define STORE_OWN ".loc 1 10 0\nst.shared.f32 [%r7], %f1;\n"
#define LOAD_MIRRORED                                                                              \
    ".loc 1 12 0\nsub.s32 %r8, 1020, %r5; add.s32 %r8, %r6, %r8; ld.shared.f32 %f2, [%r8];\n"
#define SYNC ".loc 1 11 0\nbar.sync 0;\n"
#define STORE_RESULT ".loc 1 13 0\nst.global.f32 [%rd5], %f2; ret;\n"

static void test_missing_barrier(void **state)
{
    /* warp 3 reads what warp 4 has yet to write: seen when warp 4 writes */
    assert_says(races(STORE_OWN LOAD_MIRRORED STORE_RESULT, 2, 256), VERDICT_RACE, 10,
        "byte 512 of tile (shared memory): write by thread (128,0,0) (line 10) and read by thread "
        "(127,0,0) of block (0,0,0) (line 12)");
    assert_clean(races(STORE_OWN SYNC LOAD_MIRRORED STORE_RESULT, 2, 256));
    /* a second round overwrites before all have read */
    assert_says(
        races(STORE_OWN SYNC LOAD_MIRRORED ".loc 1 20 0\nst.shared.f32 [%r7], %f2;\n" STORE_RESULT,
            1, 256),
        VERDICT_RACE, 12,
        "byte 1020 of tile (shared memory): read by thread (0,0,0) (line 12) and "
        "write by thread (255,0,0) of block (0,0,0) (line 20)");
}

#define LOAD_NEIGHBOURS                                                                            \
    ".loc 1 14 0\nxor.b32 %r9, %r5, 4; add.s32 %r9, %r6, %r9; ld.shared.f32 %f2, [%r9];\n"

/* Lanes of a warp are threads of their own: in different instructions nothing orders them but a
 * sync that both take part in. */
static void test_missing_syncwarp(void **state)
{
    (void)state;
    assert_says(races(STORE_OWN LOAD_NEIGHBOURS STORE_RESULT, 2, 32), VERDICT_RACE, 14,
        "byte 4 of tile (shared memory): read by thread (0,0,0) (line 14) and write by thread "
        "(1,0,0) of block (0,0,0) (line 10), both of one warp and no __syncwarp() between them");
    assert_clean(races(STORE_OWN "bar.warp.sync -1;\n" LOAD_NEIGHBOURS STORE_RESULT, 2, 64));
    assert_clean(races(
        STORE_OWN "shfl.sync.bfly.b32 %r8, %r1, 1, 31, -1;\n" LOAD_NEIGHBOURS STORE_RESULT, 2, 32));
    /* a second store before the neighbour has read */
    assert_says(races(STORE_OWN "bar.warp.sync -1;\n" LOAD_NEIGHBOURS
                                ".loc 1 15 0\nst.shared.f32 [%r7], %f2;\n" STORE_RESULT,
                    1, 32),
        VERDICT_RACE, 15, "and read by thread");
    assert_clean(races(STORE_OWN "bar.warp.sync -1;\n" LOAD_NEIGHBOURS
                                 "bar.warp.sync -1;\nst.shared.f32 [%r7], %f2;\n" STORE_RESULT,
        1, 32));
    /* each lane its own word; all one word that a barrier came after; volatile, as of old */
    assert_clean(races(STORE_OWN "ld.shared.f32 %f2, [%r7];\n" STORE_RESULT, 1, 32));
    assert_clean(races("st.volatile.shared.f32 [%r7], %f1;\nxor.b32 %r9, %r5, 4;\n"
                       "add.s32 %r9, %r6, %r9; ld.volatile.shared.f32 %f2, [%r9];\n" STORE_RESULT,
        1, 32));
    /* a warp ahead of the others by many syncs is still no race with them after the barrier */
    assert_clean(
        races("setp.gt.u32 %p1, %r1, 31; @%p1 bra ALL;\n"
              "bar.warp.sync -1; bar.warp.sync -1; bar.warp.sync -1;\n"
              "ALL:\n" STORE_OWN SYNC LOAD_MIRRORED SYNC STORE_OWN SYNC LOAD_MIRRORED STORE_RESULT,
            1, 256));
    assert_says(races("setp.lt.u32 %p1, %r1, 224; @%p1 bra ALL;\n"
                      "bar.warp.sync -1; bar.warp.sync -1; bar.warp.sync -1;\n"
                      "ALL:\n" STORE_OWN SYNC LOAD_MIRRORED
                      ".loc 1 20 0\nst.shared.f32 [%r7], %f2;\n" STORE_RESULT,
                    1, 256),
        VERDICT_RACE, 12, "no barrier between them");
}

/* Thread (0,0,0) reads a word that all lanes read, or that another lane reads elsewhere, and then
 * writes the word: the other side of the race is the other lane, at its own line. */
static void test_both_sides_of_a_warp(void **state)
{
    (void)state;
    assert_says(races(STORE_OWN SYNC ".loc 1 21 0\nld.shared.f32 %f2, [%r6];\n"
                                     "setp.ne.s32 %p1, %r1, 0; .loc 1 22 0\n"
                                     "@!%p1 st.shared.f32 [%r6], %f2;\n" STORE_RESULT,
                    1, 32),
        VERDICT_RACE, 22,
        "byte 0 of tile (shared memory): write by thread (0,0,0) (line 22) and read by thread "
        "(1,0,0) of block (0,0,0) (line 21), both of one warp");
    /* lane 7 reads word 0 at line 23, lane 0 reads it at line 24 and writes it at line 25 */
    assert_says(races(STORE_OWN SYNC "setp.eq.s32 %p1, %r1, 7; setp.eq.s32 %p2, %r1, 0;\n"
                                     ".loc 1 23 0\n@%p1 ld.shared.f32 %f2, [%r6];\n"
                                     ".loc 1 24 0\n@%p2 ld.shared.f32 %f2, [%r6];\n"
                                     ".loc 1 25 0\n@%p2 st.shared.f32 [%r6], %f1;\nret;\n",
                    1, 64),
        VERDICT_RACE, 25,
        "write by thread (0,0,0) (line 25) and read by thread (7,0,0) of block (0,0,0) (line 23)");
    /* lane 7 reads once more after lane 0: still lane 7's read */
    assert_says(races(STORE_OWN SYNC "setp.eq.s32 %p1, %r1, 7; setp.eq.s32 %p2, %r1, 0;\n"
                                     ".loc 1 23 0\n@%p2 ld.shared.f32 %f2, [%r6];\n"
                                     ".loc 1 24 0\n@%p1 ld.shared.f32 %f2, [%r6];\n"
                                     ".loc 1 25 0\n@%p2 st.shared.f32 [%r6], %f1;\nret;\n",
                    1, 64),
        VERDICT_RACE, 25,
        "write by thread (0,0,0) (line 25) and read by thread (7,0,0) of block (0,0,0) (line 24)");
    /* write and write */
    assert_says(races("setp.eq.s32 %p1, %r1, 9; setp.eq.s32 %p2, %r1, 4;\n"
                      ".loc 1 26 0\n@%p1 st.shared.f32 [%r6+8], %f1;\n"
                      ".loc 1 27 0\n@%p2 st.shared.f32 [%r6+8], %f1;\nret;\n",
                    1, 64),
        VERDICT_RACE, 27,
        "byte 8 of tile (shared memory): write by thread (4,0,0) (line 27) and write by thread "
        "(9,0,0) of block (0,0,0) (line 26), both of one warp");
    /* a lane's own reads and writes, and one lane that reads for all */
    assert_clean(races(STORE_OWN "ld.shared.f32 %f2, [%r7]; ld.shared.f32 %f3, [%r7];\n"
                                 "st.shared.f32 [%r7], %f3;\n" STORE_RESULT,
        1, 64));
    assert_clean(races(STORE_OWN SYNC
        "ld.shared.f32 %f2, [%r6]; bar.warp.sync -1;\n"
        "setp.ne.s32 %p1, %r1, 0; @!%p1 st.shared.f32 [%r6], %f2;\n" STORE_RESULT,
        1, 32));
}

/* Threads that store one value to one place are no race, unless they are to be one. */
static void test_one_value(void **state)
{
    static const char same[] =
        "setp.eq.s32 %p1, %r1, 37; setp.eq.s32 %p2, %r1, 101;\n"
        "@%p1 st.shared.f32 [%r6+8], %f1;\n"
        "@%p2 st.shared.f32 [%r6+8], %f1;\nst.global.f32 [%rd5], %f1;\nret;\n";
    static const char other[] = "setp.eq.s32 %p1, %r1, 37; setp.eq.s32 %p2, %r1, 101;\n"
                                "@%p1 st.shared.f32 [%r6+8], 1.0;\n"
                                "@%p2 st.shared.f32 [%r6+8], 2.0;\nret;\n";

    (void)state;
    strict = false;
    assert_clean(races(same, 2, 128));
    assert_int_equal(races(other, 1, 128).verdict, VERDICT_RACE);
    strict = true;
    assert_int_equal(races(same, 1, 128).verdict, VERDICT_RACE);
}

/* Between warps: threads and lines of both sides, whichever wrote. */
static void test_both_sides_of_a_block(void **state)
{
    (void)state;
    assert_says(races("setp.eq.s32 %p1, %r1, 37; setp.eq.s32 %p2, %r1, 101;\n"
                      ".loc 1 28 0\n@%p1 st.shared.f32 [%r6+8], %f1;\n"
                      ".loc 1 29 0\n@%p2 st.shared.f32 [%r6+8], %f1;\nret;\n",
                    1, 128),
        VERDICT_RACE, 29,
        "byte 8 of tile (shared memory): write by thread (101,0,0) (line 29) and write by thread "
        "(37,0,0) of block (0,0,0) (line 28), no barrier");
    assert_says(races("st.shared.f32 [%r7], %f1; bar.sync 0;\n"
                      "setp.eq.s32 %p1, %r1, 37; setp.eq.s32 %p2, %r1, 101;\n"
                      ".loc 1 28 0\n@%p1 ld.shared.f32 %f2, [%r6+8];\n"
                      ".loc 1 29 0\n@%p2 st.shared.f32 [%r6+8], %f1;\nret;\n",
                    1, 128),
        VERDICT_RACE, 28,
        "read by thread (37,0,0) (line 28) and write by thread (101,0,0) of block (0,0,0) (line "
        "29)");
}

/* Barriers for all threads of the block that some warps go round. */
static void test_barriers_gone_past(void **state)
{
    (void)state;
    /* the others are freed only when these exit */
    assert_says(races("setp.gt.u32 %p1, %r1, 127; @%p1 bra ROUND; .loc 1 31 0\nbar.sync 0;\n"
                      "ROUND: st.global.f32 [%rd5], %f1; ret;\n",
                    2, 256),
        VERDICT_FAULT, 31,
        "barrier in divergent code: 4 of 8 warps go past it, that of thread (128,0,0) first; the "
        "warp of thread (0,0,0) of block (0,0,0) waits at it");
    /* they meet the others at the next barrier, and are one behind */
    assert_says(races("setp.lt.u32 %p1, %r1, 64; @%p1 bra ROUND; .loc 1 32 0\nbar.sync 0;\n"
                      "ROUND: .loc 1 33 0\nbar.sync 0; st.global.f32 [%rd5], %f1; ret;\n",
                    2, 96),
        VERDICT_FAULT, 32,
        "2 of 3 warps go past it, that of thread (0,0,0) first; the warp of "
        "thread (64,0,0) of block (0,0,0)");
    assert_says(races("setp.lt.u32 %p1, %r1, 64; .loc 1 34 0\n@%p1 bar.sync 0;\n"
                      "st.global.f32 [%rd5], %f1; ret;\n",
                    2, 96),
        VERDICT_FAULT, 34, "1 of 3 warps go past it, that of thread (64,0,0) first");
    /* one round more for the upper warps */
    assert_says(
        races("shr.u32 %r8, %r1, 6; LOOP: .loc 1 35 0\nbar.sync 0; setp.eq.s32 %p1, %r8, 0;\n"
              "sub.s32 %r8, %r8, 1; @!%p1 bra LOOP; st.global.f32 [%rd5], %f1; ret;\n",
            2, 128),
        VERDICT_FAULT, 35, "2 of 4 warps go past it, that of thread (0,0,0) first");
    /* some lanes of a warp */
    assert_says(races("and.b32 %r8, %r1, 31; setp.gt.u32 %p1, %r8, 15; @%p1 bra ROUND;\n"
                      ".loc 1 36 0\nbar.sync 0;\nROUND: st.global.f32 [%rd5], %f1; ret;\n",
                    2, 64),
        VERDICT_FAULT, 36, "lanes 0x0000ffff of a warp are at it, lanes 0xffff0000 are not");
}

static void test_barriers_in_order(void **state)
{
    (void)state;
    /* whole warps return early, before a barrier and between two */
    assert_clean(races("setp.gt.u32 %p1, %r1, 127; @%p1 bra END; bar.sync 0;\n"
                       "st.global.f32 [%rd5], %f1;\nEND: ret;\n",
        2, 256));
    assert_clean(races("bar.sync 0; setp.gt.u32 %p1, %r1, 31; @%p1 ret; bar.sync 0;\n"
                       "st.global.f32 [%rd5], %f1; ret;\n",
        2, 256));
    /* both sides have one; as many rounds for all, though the register comes from the thread */
    assert_clean(races("setp.gt.u32 %p1, %r1, 31; @%p1 bra A; bar.sync 0; bra B;\nA: bar.sync 0;\n"
                       "B: st.global.f32 [%rd5], %f1; ret;\n",
        2, 96));
    assert_clean(races("shr.u32 %r8, %r1, 10; LOOP: bar.sync 0; setp.eq.s32 %p1, %r8, 3;\n"
                       "add.s32 %r8, %r8, 1; @!%p1 bra LOOP; st.global.f32 [%rd5], %f1; ret;\n",
        2, 128));
    /* a barrier with a count is for those who come */
    assert_clean(races("setp.gt.u32 %p1, %r1, 63; @%p1 bra ROUND; bar.sync 1, 64;\n"
                       "ROUND: bar.sync 0; st.global.f32 [%rd5], %f1; ret;\n",
        2, 128));
    /* a sync of a warp is no barrier of the block */
    assert_clean(races("setp.gt.u32 %p1, %r1, 63; @%p1 bra ROUND; bar.warp.sync -1;\n"
                       "ROUND: st.global.f32 [%rd5], %f1; ret;\n",
        2, 128));
}

#define COPY ".loc 1 70 0\ncp.async.ca.shared.global [%r7], [%rd4], 4;\n"
#define COMMIT "cp.async.commit_group;\n"
#define LOAD_OWN ".loc 1 72 0\nld.shared.f32 %f2, [%r7];\n"

static struct emu_result syncs(const char *body, uint32_t grid, uint32_t block)
{
    return run(body, grid, block, true, true);
}

static void test_missing_wait(void **state)
{
    (void)state;
    assert_clean(syncs(COPY COMMIT "cp.async.wait_group 0;\n" LOAD_OWN STORE_RESULT, 2, 64));
    assert_clean(syncs(COPY "cp.async.wait_all;\n" LOAD_OWN STORE_RESULT, 2, 64));
    assert_says(syncs(COPY COMMIT LOAD_OWN STORE_RESULT, 2, 64), VERDICT_RACE, 72,
        "read of byte 0 of tile (shared memory) by thread (0,0,0) (line 72) before the "
        "asynchronous copy by thread (0,0,0) of block (0,0,0) (line 70) was waited for");
    /* a barrier is no wait; a wait for all but one group is none for the last; nor is one before
     * the commit */
    assert_int_equal(syncs(COPY COMMIT SYNC LOAD_OWN STORE_RESULT, 2, 64).verdict, VERDICT_RACE);
    assert_int_equal(
        syncs(COPY COMMIT "cp.async.wait_group 1;\n" LOAD_OWN STORE_RESULT, 1, 64).verdict,
        VERDICT_RACE);
    assert_int_equal(
        syncs(COPY "cp.async.wait_group 0;\n" COMMIT LOAD_OWN STORE_RESULT, 1, 64).verdict,
        VERDICT_RACE);
    /* two stages: the older group is complete */
    assert_clean(syncs(COPY COMMIT COMMIT "cp.async.wait_group 1;\n" LOAD_OWN STORE_RESULT, 1, 64));
    /* another's copy, waited for by its thread, without a barrier */
    assert_says(syncs(COPY "cp.async.wait_all;\n" LOAD_MIRRORED STORE_RESULT, 1, 256), VERDICT_RACE,
        70, "no barrier between them");
}

static void test_bad_masks(void **state)
{
    (void)state;
    assert_says(syncs(".loc 1 80 0\nshfl.sync.bfly.b32 %r8, %r1, 1, 31, 65535;\nst.global.f32 "
                      "[%rd5], %f1; ret;\n",
                    1, 32),
        VERDICT_FAULT, 80, "lane 16 executes it, but is not in its own mask 0x0000ffff; block");
    assert_says(syncs("setp.gt.u32 %p1, %r1, 15; .loc 1 81 0\n@%p1 bra A; bar.sync 0; bra B;\n"
                      "A: .loc 1 82 0\nbar.sync 0;\nB: ret;\n",
                    1, 32),
        VERDICT_FAULT, 81, "lanes 0x0000ffff of a warp are at it, lanes 0xffff0000 are not");
    /* whole warps may use different barriers of one number, and exited lanes are not missed */
    assert_clean(syncs("setp.gt.u32 %p1, %r1, 31; @%p1 bra A; bar.sync 0; bra B;\n"
                       "A: setp.gt.u32 %p2, %r1, 40; @%p2 bra B; bar.sync 0;\nB: ret;\n",
        1, 64));
}

static void test_uninitialised_registers(void **state)
{
    (void)state;
    assert_says(uninit(".loc 1 90 0\nadd.f32 %f2, %f3, %f1;\n" STORE_RESULT, 1, 32), VERDICT_FAULT,
        90, "a register that add reads has no value yet, by thread (0,0,0) of block (0,0,0)");
    /* written by lanes 0-15 only; read by 12 and up */
    assert_says(
        uninit("setp.lt.u32 %p1, %r1, 16; setp.gt.u32 %p2, %r1, 11;\n@%p1 mov.f32 %f2, %f1;\n"
               ".loc 1 91 0\n@%p2 add.f32 %f3, %f2, %f2; ret;\n",
            2, 32),
        VERDICT_FAULT, 91, "by thread (16,0,0) of block (0,0,0)");
    assert_clean(uninit("setp.lt.u32 %p1, %r1, 16;\n@%p1 mov.f32 %f2, %f1;\n"
                        "@%p1 add.f32 %f3, %f2, %f2; ret;\n",
        2, 32));
    /* passed on, never used; a loop that writes before it reads */
    assert_clean(uninit(
        "mov.f32 %f4, %f5;\nmov.f32 %f4, %f1;\nadd.f32 %f2, %f4, %f4;\n" STORE_RESULT, 1, 32));
    assert_says(
        uninit("mov.f32 %f4, %f5;\n.loc 1 92 0\nadd.f32 %f2, %f4, %f4;\n" STORE_RESULT, 1, 32),
        VERDICT_FAULT, 92, "register");
}

#define REDUCE(sync)                                                                               \
    STORE_OWN "mov.u32 %r9, 512;\nLOOP: " sync "setp.ge.u32 %p1, %r5, %r9; @%p1 bra SKIP;\n"       \
              ".loc 1 30 0\nadd.s32 %r10, %r7, %r9; ld.shared.f32 %f2, [%r10]; "                   \
              "ld.shared.f32 %f3, [%r7]; add.f32 %f3, %f3, %f2;\n"                                 \
              ".loc 1 31 0\nst.shared.f32 [%r7], %f3;\n"                                           \
              "SKIP: shr.u32 %r9, %r9, 1; setp.gt.u32 %p2, %r9, 2; @%p2 bra LOOP;\n"               \
              "setp.ne.s32 %p3, %r1, 0; @%p3 bra END; st.global.f32 [%rd5], %f3;\nEND: ret;\n"

static void test_reduction(void **state)
{
    assert_clean(run(REDUCE("bar.sync 0;\n"), 3, 256, true, true));
    /* Without barriers: warp 0 adds tile[128] before warp 4 writes it. */
    assert_says(races(REDUCE("bar.warp.sync -1;\n"), 3, 256), VERDICT_RACE, 10, "(line 30)");
    assert_says(races(REDUCE(""), 3, 256), VERDICT_RACE, 30, "no __syncwarp()");
}

static void test_atomics(void **state)
{
    assert_clean(
        races("mov.u32 %r9, 1; st.shared.u32 [%r7], 0; bar.sync 0; .loc 1 40 0\n"
              "red.shared.add.u32 [%r6], %r9; atom.global.add.u32 %r10, [%rd1], %r9; ret;\n",
            4, 256));
    /* the first thread clears the counter without a barrier */
    assert_says(races("mov.u32 %r9, 1; setp.ne.s32 %p1, %r1, 0; .loc 1 41 0\n"
                      "@%p1 bra A; st.shared.u32 [%r6], 0;\nA: .loc 1 42 0\n"
                      "red.shared.add.u32 [%r6], %r9; ret;\n",
                    1, 64),
        VERDICT_RACE, 42, "write by thread (0,0,0) of block (0,0,0) (line 41)");
}

static void test_named_barriers(void **state)
{
    /* warps 0, 1 and warps 2, 3 meet in pairs; each reads its partner's words */
    static const char pairs[] = STORE_OWN "shr.u32 %r9, %r1, 6; bar.sync %r9, 64;\n"
                                          "xor.b32 %r10, %r5, 128; add.s32 %r10, %r6, %r10; "
                                          ".loc 1 50 0\nld.shared.f32 %f2, [%r10];\n" STORE_RESULT;
    /* each reads the other pair's words */
    static const char across[] = STORE_OWN "shr.u32 %r9, %r1, 6; bar.sync %r9, 64;\n"
                                           "xor.b32 %r10, %r5, 256; add.s32 %r10, %r6, %r10; "
                                           ".loc 1 51 0\nld.shared.f32 %f2, [%r10];\n" STORE_RESULT;

    assert_clean(races(pairs, 2, 128));
    assert_int_equal(races(across, 2, 128).verdict, VERDICT_RACE);
}

static void test_lanes_of_one_instruction(void **state)
{
    assert_says(races(".loc 1 60 0\nst.shared.u32 [%r6], %r1; ret;\n", 1, 32), VERDICT_RACE, 60,
        "thread (0,0,0) and thread (1,0,0) of block (0,0,0) write different values");
    assert_clean(races("st.shared.u32 [%r6], %r3; ret;\n", 1, 32));
    assert_says(
        races("shr.u32 %r8, %r1, 1; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd6, %rd1, %rd6;\n"
              "setp.gt.u32 %p1, %r1, 37; .loc 1 61 0\n@%p1 st.global.u32 [%rd6], %r1; ret;\n",
            1, 64),
        VERDICT_RACE, 61,
        "thread (38,0,0) and thread (39,0,0) of block (0,0,0) write different values to one place "
        "of global memory in one instruction (line 61)");
}

static void test_blocks(void **state)
{
    /* thread 5 of each block writes a[0] */
    assert_says(races("setp.ne.s32 %p1, %r1, 5; @%p1 ret; .loc 1 70 0\n"
                      "st.global.u32 [%rd1], %r2; ret;\n",
                    6, 64),
        VERDICT_RACE, 70,
        "byte 0 of a: write by thread (5,0,0) of block (0,0,0) (line 70) and write by thread "
        "(5,0,0) of block (1,0,0) (line 70)");
    /* block 0 writes at line 73 by thread 40, block 1 at line 74 by thread 3 */
    assert_says(
        races("setp.eq.s32 %p1, %r1, 40; setp.eq.s32 %p2, %r1, 3; setp.eq.s32 %p3, %r2, 0;\n"
              "and.pred %p1, %p1, %p3; not.pred %p3, %p3; and.pred %p2, %p2, %p3;\n"
              ".loc 1 73 0\n@%p1 st.global.u32 [%rd1+8], %r2;\n"
              ".loc 1 74 0\n@%p2 st.global.u32 [%rd1+8], %r2;\nret;\n",
            2, 64),
        VERDICT_RACE, 73,
        "byte 8 of a: write by thread (40,0,0) of block (0,0,0) (line 73) and write by thread "
        "(3,0,0) of block (1,0,0) (line 74)");
    /* vectors: lane 9 of block 0 has written what lane 1 of block 1 reads */
    assert_says(
        races("setp.eq.s32 %p3, %r2, 0; mul.wide.s32 %rd6, %r1, 16; add.s64 %rd6, %rd1, %rd6;\n"
              ".loc 1 75 0\n@%p3 st.global.v4.f32 [%rd6], {%f1,%f1,%f1,%f1};\n"
              ".loc 1 76 0\n@!%p3 ld.global.f32 %f2, [%rd4+-112];\nret;\n",
            2, 64),
        VERDICT_RACE, 75,
        "write by thread (9,0,0) of block (0,0,0) (line 75) and read by thread "
        "(0,0,0) of block (1,0,0) (line 76)");
    assert_clean(races("red.global.add.u32 [%rd1], %r2; ret;\n", 6, 64));
    assert_clean(races("ld.global.u32 %r9, [%rd1]; st.global.u32 [%rd5], %r9; ret;\n", 6, 64));
    /* in place: a[i] = a[i + 1]; only the last thread of a block reads another block's word */
    assert_says(races(".loc 1 71 0\nld.global.f32 %f2, [%rd4+4];\n.loc 1 72 0\n"
                      "st.global.f32 [%rd4], %f2; ret;\n",
                    6, 64),
        VERDICT_RACE, 72,
        "byte 256 of a: write by thread (0,0,0) of block (1,0,0) (line 72) and read by thread "
        "(63,0,0) of block (0,0,0) (line 71)");
    /* neighbouring halves of one word are different bytes */
    assert_clean(
        races("mul.wide.s32 %rd6, %r4, 2; add.s64 %rd6, %rd1, %rd6; cvt.u16.u32 %h1, %r4;\n"
              "st.global.u16 [%rd6], %h1; ret;\n",
            6, 33));
}

static void test_last_block_sums_up(void **state)
{
    assert_clean(races(
        "setp.ne.s32 %p1, %r1, 0; @%p1 ret;\n"
        "mul.wide.s32 %rd6, %r2, 4; add.s64 %rd6, %rd2, %rd6; st.global.f32 [%rd6], %f1;\n"
        "membar.gl; atom.global.inc.u32 %r9, [%rd1], 1000; setp.ne.s32 %p2, %r9, 5; @%p2 ret;\n"
        "membar.gl; ld.global.f32 %f2, [%rd2]; ld.global.f32 %f3, [%rd2+16];\n"
        "add.f32 %f2, %f2, %f3; st.global.f32 [%rd1+64], %f2; ret;\n",
        6, 64));
}

static void test_uninitialised_global(void **state)
{
    struct bench bench;

    assert_says(uninit(".loc 1 80 0\nld.global.f32 %f2, [%rd5];\n" STORE_RESULT, 3, 64),
        VERDICT_FAULT, 80,
        "read of byte 0 of b, which nothing wrote before, by thread (0,0,0) of block (0,0,0)");
    assert_says(uninit(".loc 1 81 0\nred.global.add.f32 [%rd2+12], %f1; ret;\n", 3, 64),
        VERDICT_FAULT, 81, "atomic of byte 12 of b");
    assert_clean(
        uninit("st.global.f32 [%rd5], %f1; ld.global.f32 %f2, [%rd5]; st.global.f32 [%rd4], "
               "%f2; ret;\n",
            3, 64));
    assert_clean(uninit("ld.global.f32 %f2, [%rd4]; st.global.f32 [%rd5], %f2; ret;\n", 3, 64));

    /* what one launch wrote, the next may read; the word behind it, not */
    bench_init(&bench, 2);
    assert_clean(launch(&bench, "st.global.f32 [%rd5], %f1; ret;\n", 2, 33, false, true));
    assert_clean(launch(&bench, "ld.global.f32 %f2, [%rd5]; st.global.f32 [%rd4], %f2; ret;\n", 1,
        66, false, true));
    assert_says(
        launch(&bench, ".loc 1 83 0\nld.global.f32 %f2, [%rd5]; st.global.f32 [%rd4], %f2; ret;\n",
            1, 67, false, true),
        VERDICT_FAULT, 83, "byte 264 of b, which nothing wrote before, by thread (66,0,0)");
    bench_finish(&bench);
}

static void test_uninitialised_inside(void **state)
{
    /* 64 threads write, all read 64 words further on */
    assert_says(
        uninit(STORE_OWN SYNC ".loc 1 90 0\nld.shared.f32 %f2, [%r7+256];\n" STORE_RESULT, 2, 64),
        VERDICT_FAULT, 90, "read of byte 256 of tile (shared memory)");
    assert_says(uninit("mov.u64 %rd6, depot; st.local.f32 [%rd6], %f1; .loc 1 91 0\n"
                       "ld.local.v2.f32 {%f2, %f3}, [%rd6];\n" STORE_RESULT,
                    2, 64),
        VERDICT_FAULT, 91, "byte 0 of local memory");
    assert_clean(uninit(
        "mov.u64 %rd6, depot; st.local.f32 [%rd6], %f1; ld.local.f32 %f2, [%rd6];\n" STORE_RESULT,
        2, 64));
    /* both searches on: the missing barrier is the cause to name */
    assert_int_equal(
        run(STORE_OWN LOAD_MIRRORED STORE_RESULT, 2, 256, true, true).verdict, VERDICT_RACE);
}

/* Instructions of other files have the line of what comes before them, or of the call; and what
 * has no line at all is named without one. */
static void test_nearest_lines(void **state)
{
    (void)state;
    assert_says(races(".loc 1 95 0\nadd.s32 %r8, %r6, 4;\n.loc 2 300 0\n"
                      "st.shared.u32 [%r8], %r1;\nret;\n",
                    1, 32),
        VERDICT_RACE, 95, "in one instruction (line 95)");
}

/* A function of another file has no line of the kernel's: its faults are at the call. Without any
 * line, the message has none. */
static void test_lines_of_functions(void **state)
{
    static const char head[] =
        ".version 9.0\n.target sm_90a\n.address_size 64\n"
        ".func f() {\n.shared .align 4 .b8 s[4];\n.reg .b32 %r<3>;\n%s"
        "mov.u32 %r1, %tid.x;\nst.shared.u32 [s], %r1;\nret;\n}\n"
        ".visible .entry k(.param .u64 a, .param .u64 b) {\n%scall f;\nret;\n}\n";
    struct bench bench;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t params[2] = {0};
        const struct emu_launch how = {.kernel = "k",
            .grid = {1, 1, 1},
            .block = {32, 1, 1},
            .params = params,
            .params_bytes = sizeof(params),
            .find_races = true};
        struct emu_result result;
        struct emu_module *module;
        char ptx[1024];
        const char *at = strstr(head, "%s"), *next = strstr(at + 2, "%s");

        snprintf(ptx, sizeof(ptx), "%.*s%s%.*s%s%s", (int)(at - head), head,
            i ? "" : ".loc 2 300 0\n", (int)(next - at - 2), at + 2, i ? "" : ".loc 1 96 0\n",
            next + 2);
        bench_init(&bench, 1);
        if (!emu_load(bench.emu, ptx, strlen(ptx), &module, &result, &bench.err) || !module)
            fail_msg("%s", result.text);
        assert_true(emu_launch(bench.emu, module, &how, bench.arena, &result, &bench.err));
        assert_int_equal(result.verdict, VERDICT_RACE);
        assert_int_equal(result.line, i ? 0 : 96);
        assert_non_null(
            strstr(result.text, i ? "in one instruction" : "in one instruction (line 96)"));
        assert_null(strstr(result.text, "line 0"));
        emu_unload(bench.emu, module);
        bench_finish(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_barrier),
        cmocka_unit_test(test_missing_syncwarp),
        cmocka_unit_test(test_both_sides_of_a_warp),
        cmocka_unit_test(test_both_sides_of_a_block),
        cmocka_unit_test(test_one_value),
        cmocka_unit_test(test_barriers_gone_past),
        cmocka_unit_test(test_barriers_in_order),
        cmocka_unit_test(test_missing_wait),
        cmocka_unit_test(test_bad_masks),
        cmocka_unit_test(test_uninitialised_registers),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_named_barriers),
        cmocka_unit_test(test_lanes_of_one_instruction),
        cmocka_unit_test(test_nearest_lines),
        cmocka_unit_test(test_lines_of_functions),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_last_block_sums_up),
        cmocka_unit_test(test_uninitialised_global),
        cmocka_unit_test(test_uninitialised_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
