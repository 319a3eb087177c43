/* Counters against values worked out by hand. Each kernel is PTX, so that every instruction that is
 * counted stands in this file; the sums beside each expectation say where it comes from.
 *
 * Conventions. A warp is 32 lanes. A request is one memory instruction of one warp. Sectors are the
 * distinct 32-byte pieces that a request touches. Shared wavefronts are the most distinct 4-byte
 * words in one of the 32 banks; conflicts are the wavefronts beyond the fewest possible. Thread
 * instructions are those whose guard is on. */
#include "core/chip.h"
#include "emu/emu.h"

#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_90a\n.address_size 64\n"                                             \
    ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n"                                         \
    ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .f32 %f<32>;\n"                \
    ".reg .f64 %fd<8>;\n"
#define TAIL "ret;\n}\n"

/* 8 instructions, 3 of them integer: rd1 = a, rd2 = b, r1 = thread in grid, rd3 = r1 */
#define INDEX                                                                                      \
    "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n"                                           \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"                        \
    "mul.lo.s32 %r5, %r2, %r3;\nadd.s32 %r1, %r5, %r4;\nmul.wide.s32 %rd3, %r1, 1;\n"

enum { MAX_EXPECT = 20 };

struct expect {
    enum metric metric;
    double value;
};

struct example {
    const char *name, *ptx;
    uint32_t grid, block;
    struct expect expect[MAX_EXPECT]; /* ends at value < 0 */
};

static const struct example examples[] = {
    {
        "a coalesced copy of 128 floats",
        HEAD INDEX "shl.b64 %rd4, %rd3, 2;\nadd.s64 %rd5, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\n"
                   "ld.global.f32 %f1, [%rd5];\nst.global.f32 [%rd6], %f1;\n" TAIL,
        2,
        64, /* 4 warps */
        {
            {METRIC_WARPS_LAUNCHED, 4},
            {METRIC_WARP_INST, 14 * 4},        /* 8 + 5 + ret */
            {METRIC_THREAD_INST, 14 * 4 * 32}, /* all lanes always active */
            {METRIC_INST_INTEGER, 6 * 128},    /* mul add mul.wide shl add add */
            {METRIC_GLOBAL_LD_REQUESTS, 4},
            {METRIC_GLOBAL_ST_REQUESTS, 4},
            {METRIC_GLOBAL_LD_SECTORS, 4 * 4}, /* 32 lanes * 4 bytes = 128 = 4 sectors */
            {METRIC_GLOBAL_ST_SECTORS, 4 * 4},
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 4 * 4},
            {METRIC_GLOBAL_LD_BYTES, 512},
            {METRIC_GLOBAL_ST_BYTES, 512},
            {METRIC_GLOBAL_UNIQUE_BYTES, 1024}, /* 512 read, 512 written */
            {METRIC_GLOBAL_LOADED_BYTES, 512},
            {METRIC_FLOPS, 0},
            {METRIC_BLOCK_THREADS, 64},
            {METRIC_GRID_BLOCKS, 2},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "loads 128 bytes apart: a sector for each lane",
        HEAD INDEX "shl.b64 %rd4, %rd3, 7;\nadd.s64 %rd5, %rd1, %rd4;\n"
                   "ld.global.f32 %f1, [%rd5];\nadd.f32 %f2, %f1, %f1;\n"
                   "st.global.f32 [%rd5], %f2;\n" TAIL,
        1,
        64, /* 2 warps */
        {
            {METRIC_WARP_INST, 14 * 2},
            {METRIC_GLOBAL_LD_REQUESTS, 2},
            {METRIC_GLOBAL_LD_SECTORS, 2 * 32},
            {METRIC_GLOBAL_ST_SECTORS, 2 * 32},
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 2 * 4}, /* 128 distinct bytes would fit in 4 */
            {METRIC_GLOBAL_LD_BYTES, 256},
            {METRIC_GLOBAL_UNIQUE_BYTES, 64 * 32}, /* the stores hit the sectors just read */
            {METRIC_GLOBAL_LOADED_BYTES, 64 * 32},
            {METRIC_INST_FP32, 64},
            {METRIC_FLOPS, 64},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "float4 loads, one address for all lanes, and a misaligned row",
        HEAD INDEX "shl.b64 %rd4, %rd3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
                   "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];\n" /* 512 bytes: 16 sectors */
                   "ld.global.f32 %f5, [%rd1];\n"                     /* 4 bytes: 1 sector */
                   "shl.b64 %rd6, %rd3, 2;\nadd.s64 %rd7, %rd1, %rd6;\n"
                   "ld.global.f32 %f6, [%rd7+4];\n" /* bytes 4 to 131: 5 sectors */
        TAIL,
        1,
        32,
        {
            {METRIC_GLOBAL_LD_REQUESTS, 3},
            {METRIC_GLOBAL_LD_SECTORS, 16 + 1 + 5},
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 16 + 1 + 4}, /* 512, 4 and 128 distinct bytes */
            {METRIC_GLOBAL_LD_BYTES, 512 + 4 + 128},      /* a broadcast's bytes are one lane's */
            {METRIC_GLOBAL_UNIQUE_BYTES, 512},
            {METRIC_GLOBAL_ST_REQUESTS, 0},
            {METRIC_WARP_INST, 16},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "shared memory with strides of 1, 2, 32 words, a broadcast, and float4",
        HEAD ".shared .align 16 .b8 s[8192];\n" INDEX "mov.u32 %r6, s;\nshl.b32 %r7, %r4, 2;\n"
             "add.s32 %r8, %r6, %r7;\nst.shared.u32 [%r8], %r4;\n"       /* stride 1 word: 1 */
             "add.s32 %r9, %r8, %r7;\nst.shared.u32 [%r9], %r4;\n"       /* stride 2 words: 2 */
             "bar.sync 0;\n"                                             /* */
             "shl.b32 %r10, %r4, 7;\nadd.s32 %r11, %r6, %r10;\n"         /* */
             "st.shared.u32 [%r11], %r4;\nld.shared.u32 %r12, [%r11];\n" /* stride 32: 32 each */
             "ld.shared.u32 %r13, [%r6];\n"                              /* broadcast: 1 */
             "shl.b32 %r14, %r4, 4;\nadd.s32 %r15, %r6, %r14;\n"
             "st.shared.v4.u32 [%r15], {%r4, %r4, %r4, %r4};\n" /* 128 words in 32 banks: 4 */
        TAIL,
        1,
        32,
        {
            {METRIC_SHARED_ST_REQUESTS, 4},
            {METRIC_SHARED_LD_REQUESTS, 2},
            {METRIC_SHARED_ST_WAVEFRONTS, 1 + 2 + 32 + 4},
            {METRIC_SHARED_LD_WAVEFRONTS, 32 + 1},
            {METRIC_SHARED_ST_CONFLICTS, 0 + 1 + 31 + 0}, /* 128 words need 4 in any case */
            {METRIC_SHARED_LD_CONFLICTS, 31 + 0},
            {METRIC_BARRIERS, 1},
            {METRIC_GLOBAL_LD_REQUESTS, 0},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a branch that splits every warp, and one that does not",
        HEAD INDEX "and.b32 %r6, %r4, 1;\nsetp.eq.s32 %p1, %r6, 0;\n@%p1 bra EVEN;\n"
                   "add.s32 %r7, %r4, 1;\nadd.s32 %r7, %r7, 1;\nadd.s32 %r7, %r7, 1;\n" /* odd */
                   "bra JOIN;\n"
                   "EVEN:\nadd.s32 %r7, %r4, 5;\n"
                   "JOIN:\nsetp.lt.s32 %p2, %r4, 1000;\n@%p2 bra DONE;\nadd.s32 %r7, %r7, 9;\n"
                   "DONE:\n" TAIL,
        3,
        32, /* 3 warps */
        {
            /* 8 + 3; odd side 4; even side 1; joined again: 2 + ret */
            {METRIC_WARP_INST, (11 + 4 + 1 + 3) * 3},
            /* conditional twice and the jump of the odd side */
            {METRIC_BRANCHES, 3 * 3},
            {METRIC_BRANCHES_DIVERGENT, 1 * 3},
            /* index 3 (mul add mul.wide), and, setp; 3 on 16 lanes; 1 on 16; setp */
            {METRIC_INST_INTEGER, (3 + 2 + 1) * 96 + 3 * 48 + 48},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a loop of 10 multiply-adds, special functions, doubles, conversions",
        HEAD INDEX "cvt.rn.f32.s32 %f1, %r4;\nmov.u32 %r6, 0;\n"
                   "LOOP:\nfma.rn.f32 %f1, %f1, %f1, %f1;\nadd.s32 %r6, %r6, 1;\n"
                   "setp.lt.s32 %p1, %r6, 10;\n@%p1 bra LOOP;\n"
                   "ex2.approx.f32 %f2, %f1;\nrsqrt.approx.f32 %f3, %f2;\n"
                   "cvt.f64.f32 %fd1, %f3;\nmul.f64 %fd2, %fd1, %fd1;\n" TAIL,
        1,
        64, /* 2 warps */
        {
            {METRIC_WARP_INST, (8 + 2 + 4 * 10 + 4 + 1) * 2},
            /* the last jump back is not taken: its guard is off in all lanes */
            {METRIC_THREAD_INST, (8 + 2 + 4 * 10 - 1 + 4 + 1) * 64},
            {METRIC_INST_FP32, 10 * 64},
            {METRIC_INST_FP64, 1 * 64},
            {METRIC_INST_SPECIAL, 2 * 64},
            {METRIC_INST_CONVERSION, 2 * 64},
            {METRIC_INST_INTEGER, (3 + 10 + 10) * 64}, /* index; add and setp each time round */
            {METRIC_BRANCHES, 10 * 2},
            {METRIC_BRANCHES_DIVERGENT, 0},
            {METRIC_FLOPS, (10 * 2 + 1) * 64}, /* fma is 2; mul.f64 is 1; special functions none */
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "atomics and shuffles, with a half-empty last warp",
        HEAD INDEX "atom.global.add.u32 %r6, [%rd1], 1;\n"
                   "shfl.sync.down.b32 %r7, %r4, 1, 31, -1;\n"
                   "red.global.add.u32 [%rd2], 1;\n" TAIL,
        1,
        48, /* 2 warps: 32 and 16 lanes */
        {
            {METRIC_WARPS_LAUNCHED, 2},
            {METRIC_WARP_INST, 12 * 2},
            {METRIC_THREAD_INST, 12 * 48},
            {METRIC_GLOBAL_ATOMICS, 4},
            {METRIC_INST_SHUFFLE, 48},
            {METRIC_GLOBAL_UNIQUE_BYTES, 64}, /* a sector of a, a sector of b */
            {METRIC_GLOBAL_LOADED_BYTES, 0},  /* atomics and stores only */
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "local memory",
        HEAD ".local .align 4 .b8 buf[16];\n" INDEX "mov.u64 %rd8, buf;\n"
             "st.local.u32 [%rd8], %r4;\nst.local.u32 [%rd8+4], %r4;\n"
             "ld.local.u32 %r6, [%rd8];\n" TAIL,
        1,
        32,
        {
            {METRIC_LOCAL_ST_REQUESTS, 2},
            {METRIC_LOCAL_LD_REQUESTS, 1},
            {METRIC_LOCAL_BYTES, 3 * 128},
            {METRIC_GLOBAL_LD_REQUESTS, 0},
            {METRIC_GLOBAL_ST_REQUESTS, 0},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "two rows of a matrix: half a warp reads one value each, and all the same 16",
        HEAD INDEX "shr.u32 %r6, %r4, 4;\nand.b32 %r7, %r4, 15;\n"
                   "mul.wide.u32 %rd4, %r6, 256;\nadd.s64 %rd5, %rd1, %rd4;\n"
                   "mul.wide.u32 %rd6, %r7, 4;\nadd.s64 %rd7, %rd1, %rd6;\n"
                   "ld.global.f32 %f1, [%rd5];\nld.global.f32 %f2, [%rd7];\n"
                   "st.global.f32 [%rd2], %f1;\n" TAIL,
        1,
        32,
        {
            {METRIC_GLOBAL_LD_REQUESTS, 2},
            {METRIC_GLOBAL_LD_SECTORS, 2 + 2},
            {METRIC_GLOBAL_LD_BYTES, 2 * 4 + 16 * 4}, /* 72 of 256: matmul.cu on an H100 */
            {METRIC_GLOBAL_ST_BYTES, 4},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "pairs of floats with holes between them",
        HEAD INDEX "shl.b64 %rd4, %rd3, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
                   "ld.global.v2.f32 {%f1, %f2}, [%rd5];\n" TAIL,
        1,
        32,
        {
            {METRIC_WARP_INST, 8 + 3 + 1},
            {METRIC_GLOBAL_LD_REQUESTS, 1},
            {METRIC_GLOBAL_LD_SECTORS, 16},      /* 32 lanes 16 bytes apart: 512 bytes */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 8}, /* 32 * 8 bytes */
            {METRIC_GLOBAL_LD_BYTES, 256},
            {METRIC_GLOBAL_UNIQUE_BYTES, 512},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a row of doubles, doubled in place",
        HEAD INDEX "shl.b64 %rd4, %rd3, 3;\nadd.s64 %rd5, %rd1, %rd4;\n"
                   "ld.global.f64 %fd1, [%rd5];\nadd.f64 %fd2, %fd1, %fd1;\n"
                   "st.global.f64 [%rd5], %fd2;\n" TAIL,
        2,
        32,
        {
            {METRIC_WARP_INST, 2 * (8 + 5 + 1)},
            {METRIC_GLOBAL_LD_SECTORS, 2 * 8}, /* 32 * 8 = 256 bytes each */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 2 * 8},
            {METRIC_GLOBAL_ST_SECTORS, 2 * 8},
            {METRIC_GLOBAL_ST_BYTES, 512},
            {METRIC_INST_FP64, 64},
            {METRIC_FLOPS, 64},
            {METRIC_GLOBAL_UNIQUE_BYTES, 512},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a row read backwards",
        HEAD INDEX "mov.u32 %r6, 31;\nsub.s32 %r7, %r6, %r4;\nmul.wide.s32 %rd4, %r7, 4;\n"
                   "add.s64 %rd5, %rd1, %rd4;\nld.global.f32 %f1, [%rd5];\n" TAIL,
        1,
        32,
        {
            {METRIC_GLOBAL_LD_REQUESTS, 1},
            {METRIC_GLOBAL_LD_SECTORS, 4}, /* the same 128 bytes */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 4},
            {METRIC_INST_INTEGER, 32 * (3 + 3)}, /* index; sub, mul.wide, add */
            {METRIC_WARP_INST, 8 + 5 + 1},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "bytes",
        HEAD INDEX "add.s64 %rd5, %rd1, %rd3;\nld.global.u8 %r6, [%rd5];\n"
                   "st.global.u8 [%rd5+1024], %r6;\n" TAIL,
        1,
        64, /* 2 warps */
        {
            {METRIC_GLOBAL_LD_REQUESTS, 2},
            {METRIC_GLOBAL_LD_SECTORS, 2}, /* 32 bytes each: one sector */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 2},
            {METRIC_GLOBAL_ST_SECTORS, 2},
            {METRIC_GLOBAL_LD_BYTES, 64},
            {METRIC_GLOBAL_ST_BYTES, 64},
            {METRIC_GLOBAL_UNIQUE_BYTES, 128},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a load by every other lane",
        HEAD INDEX "and.b32 %r6, %r4, 1;\nsetp.eq.s32 %p1, %r6, 0;\nshl.b64 %rd4, %rd3, 2;\n"
                   "add.s64 %rd5, %rd1, %rd4;\n@%p1 ld.global.f32 %f1, [%rd5];\n" TAIL,
        1,
        32,
        {
            {METRIC_WARP_INST, 8 + 5 + 1},
            {METRIC_THREAD_INST, 32 * (8 + 4 + 1) + 16},
            {METRIC_GLOBAL_LD_REQUESTS, 1},
            {METRIC_GLOBAL_LD_SECTORS, 4},       /* 4 of 8 bytes, over 128 */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 2}, /* 16 * 4 = 64 bytes */
            {METRIC_GLOBAL_LD_BYTES, 64},
            {METRIC_BRANCHES, 0},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a column of a tile padded to 33 words",
        HEAD ".shared .align 16 .b8 s[8192];\n" INDEX "mov.u32 %r6, s;\nmul.lo.s32 %r7, %r4, 132;\n"
             "add.s32 %r8, %r6, %r7;\nst.shared.u32 [%r8], %r4;\nbar.sync 0;\n"
             "ld.shared.u32 %r9, [%r8];\n" TAIL,
        2,
        32,
        {
            {METRIC_SHARED_ST_REQUESTS, 2},
            {METRIC_SHARED_ST_WAVEFRONTS, 2}, /* word 33 l lies in bank l + l mod 32: all differ */
            {METRIC_SHARED_ST_CONFLICTS, 0},
            {METRIC_SHARED_LD_WAVEFRONTS, 2},
            {METRIC_SHARED_LD_CONFLICTS, 0},
            {METRIC_BARRIERS, 2},
            {METRIC_WARP_INST, 2 * (8 + 6 + 1)},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "doubles in shared memory, side by side and one apart",
        HEAD ".shared .align 16 .b8 s[8192];\n" INDEX "mov.u32 %r6, s;\nshl.b32 %r7, %r4, 3;\n"
             "add.s32 %r8, %r6, %r7;\nmov.f64 %fd1, 0d0000000000000000;\n"
             "st.shared.f64 [%r8], %fd1;\n" /* 64 words in 32 banks: 2 */
             "add.s32 %r9, %r8, %r7;\nst.shared.f64 [%r9], %fd1;\n" TAIL,
        1,
        32,
        {
            {METRIC_SHARED_ST_REQUESTS, 2},
            /* words 4 l and 4 l + 1: 16 of the banks get 4 words each, where 2 would do */
            {METRIC_SHARED_ST_WAVEFRONTS, 2 + 4},
            {METRIC_SHARED_ST_CONFLICTS, 0 + 2},
            {METRIC_GLOBAL_ST_REQUESTS, 0},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "float4 with as much room between",
        HEAD ".shared .align 16 .b8 s[8192];\n" INDEX "mov.u32 %r6, s;\nshl.b32 %r7, %r4, 5;\n"
             "add.s32 %r8, %r6, %r7;\n"
             "st.shared.v4.u32 [%r8], {%r4, %r4, %r4, %r4};\n"
             "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];\n" TAIL,
        1,
        32,
        {
            /* words 8 l to 8 l + 3: 128 words in half of the banks, 8 in each, where 4 would do */
            {METRIC_SHARED_ST_WAVEFRONTS, 8},
            {METRIC_SHARED_ST_CONFLICTS, 4},
            {METRIC_SHARED_LD_WAVEFRONTS, 8},
            {METRIC_SHARED_LD_CONFLICTS, 4},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "four ways, two by two",
        HEAD INDEX "and.b32 %r6, %r4, 1;\nand.b32 %r7, %r4, 2;\nsetp.eq.s32 %p1, %r6, 0;\n"
                   "setp.eq.s32 %p2, %r7, 0;\n@%p1 bra EVEN;\n"
                   "@%p2 bra ONE;\nadd.s32 %r8, %r4, 3;\nbra JOIN;\n" /* 3, 7, 11 ... */
                   "ONE:\nadd.s32 %r8, %r4, 1;\nadd.s32 %r8, %r8, 1;\nbra JOIN;\n" /* 1, 5, 9 ... */
                   "EVEN:\n@%p2 bra ZERO;\nadd.s32 %r8, %r4, 2;\nbra JOIN;\n"
                   "ZERO:\nadd.s32 %r8, %r4, 0;\nadd.s32 %r8, %r8, 0;\nadd.s32 %r8, %r8, 0;\n"
                   "JOIN:\n" TAIL,
        1,
        32,
        {
            /* 8 + 5; odd: 1, then 2 and 3; even: 1, then 2 and 3; ret */
            {METRIC_WARP_INST, 13 + 1 + 2 + 3 + 1 + 2 + 3 + 1},
            /* the first branch is taken by 16, each second one by 8; sides are of 8 lanes */
            {METRIC_THREAD_INST, 12 * 32 + 16 + 8 + 8 * 2 + 8 * 3 + 8 + 8 * 2 + 8 * 3 + 32},
            {METRIC_BRANCHES_DIVERGENT, 3},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "pairs of halves",
        HEAD INDEX "mov.b32 %r6, 0x3c003c00;\nfma.rn.f16x2 %r7, %r6, %r6, %r6;\n"
                   "add.f16x2 %r8, %r7, %r6;\n" TAIL,
        1,
        64, /* 2 warps */
        {
            {METRIC_WARP_INST, 2 * (8 + 3 + 1)},
            {METRIC_INST_FP16, 2 * 64},
            {METRIC_INST_FP32, 0},
            {METRIC_FLOPS, 64 * (2 * 2 + 2)}, /* two multiply-adds, two additions */
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "threads that leave early",
        HEAD INDEX "setp.ge.s32 %p1, %r1, 40;\n@%p1 bra OUT;\nadd.s32 %r6, %r4, 1;\n"
                   "add.s32 %r6, %r6, 1;\nOUT:\n" TAIL,
        1,
        64, /* 2 warps: all of the first and 8 of the second stay */
        {
            /* those who leave do not wait: a ret of their own */
            {METRIC_WARP_INST, 2 * (8 + 2 + 2 + 1) + 1},
            {METRIC_THREAD_INST, 64 * 9 + 24 + 40 * 2 + 64},
            {METRIC_BRANCHES, 2},
            {METRIC_BRANCHES_DIVERGENT, 1},
            {METRIC_INST_INTEGER, 64 * (3 + 1) + 40 * 2},
            {METRIC_TIME_NS, -1},
        },
    },
    {
        "a row in the order 0, 7, 14, ... mod 32, then all lanes to one word",
        HEAD INDEX "mul.lo.s32 %r6, %r4, 7;\nand.b32 %r6, %r6, 31;\nmul.wide.s32 %rd4, %r6, 4;\n"
                   "add.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r7, [%rd5];\n"
                   "st.global.u32 [%rd2], 1;\n" TAIL,
        3,
        32,
        {
            {METRIC_GLOBAL_LD_SECTORS, 3 * 4}, /* the same 128 bytes, whatever the order */
            {METRIC_GLOBAL_LD_SECTORS_IDEAL, 3 * 4},
            {METRIC_GLOBAL_ST_SECTORS, 3},
            {METRIC_GLOBAL_LD_BYTES, 3 * 128},
            {METRIC_GLOBAL_ST_BYTES, 3 * 4}, /* one word each */
            {METRIC_GLOBAL_UNIQUE_BYTES, 128 + 32},
            {METRIC_TIME_NS, -1},
        },
    },
};

/* The lines share what the metrics have in all; atomics' bytes are in lines only. */
static void check_lines(const struct example *example, const struct counters *c)
{
    double bytes = 0;

    for (unsigned i = 0; i < c->nr_lines; i++)
        bytes += c->lines[i].global_bytes;
    if (counters_get(c, METRIC_GLOBAL_ATOMICS) == 0 &&
        bytes != counters_get(c, METRIC_GLOBAL_LD_BYTES) + counters_get(c, METRIC_GLOBAL_ST_BYTES))
        fail_msg("%s: %g bytes by line", example->name, bytes);
}

static void check_example(struct emu *emu, const struct example *example)
{
    struct arena *arena = arena_create();
    struct emu_result result = {0};
    struct emu_module *module = NULL;
    struct err err;
    uint64_t params[2];
    struct emu_launch launch = {
        .kernel = "k",
        .grid = {example->grid, 1, 1},
        .block = {example->block, 1, 1},
        .params = params,
        .params_bytes = sizeof(params),
        .registers = 16,
        .count = true,
    };

    for (int i = 0; i < 2; i++) {
        params[i] = emu_alloc(emu, 16384, i ? "b" : "a", &err);
        assert_true(params[i] != 0);
        assert_int_equal(params[i] % 128, 0);
        assert_true(emu_fill(emu, params[i], 0, 16384, true, &err));
    }
    if (!emu_load(emu, example->ptx, strlen(example->ptx), &module, &result, &err))
        fail_msg("%s: %s", example->name, err.text);
    if (!module)
        fail_msg("%s: %s", example->name, result.text);
    assert_true(emu_launch(emu, module, &launch, arena, &result, &err));
    if (result.verdict != VERDICT_OK)
        fail_msg("%s: %s", example->name, result.text);
    for (const struct expect *e = example->expect; e->value >= 0; e++) {
        const struct counter *c = &result.counters.metric[e->metric];
        if (c->from != PROV_COUNTED || c->value != e->value)
            fail_msg("%s: %s is %g (%s), by hand %g", example->name, metric_name(e->metric),
                c->value, provenance_name(c->from), e->value);
    }
    check_lines(example, &result.counters);
    emu_unload(emu, module);
    emu_free(emu, params[0]);
    emu_free(emu, params[1]);
    arena_destroy(arena);
}

static void counters_equal_hand_worked_values(void **state)
{
    struct emu *emu = emu_create(chip_default(), 2);

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
        check_example(emu, &examples[i]);
    emu_destroy(emu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_equal_hand_worked_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
