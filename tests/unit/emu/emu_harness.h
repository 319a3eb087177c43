/* For the tests of the emulator: load PTX text, run one kernel on arrays, get verdict and counters.
 */
#ifndef KEET_TESTS_EMU_HARNESS_H
#define KEET_TESTS_EMU_HARNESS_H

#include "base/arena.h"
#include "base/err.h"
#include "emu/emu.h"
#include "emu/sem/sem.h"
#include "emu_recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    struct emu *emu;
    struct emu_module *module;
    struct arena *arena;
    struct emu_result result;
    struct err err;
    uint64_t buffer[8]; /* device addresses */
    uint64_t buffer_bytes[8];
    unsigned nr_buffers, nr_launches;
    char *ptx;                      /* where launches are recorded, or NULL */
    const struct emu_record *about; /* what the records of its launches say beside, or NULL */
    const char *what;               /* what they are called; NULL: as the kernel */
};

/* --- records of what was run --- */

static inline struct emu_blob bench_bytes(struct bench *b, unsigned buffer)
{
    const uint64_t nr = b->buffer_bytes[buffer];
    uint8_t *bytes = malloc(nr + 1);
    if (!bytes || !emu_read(b->emu, b->buffer[buffer], bytes, nr, &b->err))
        fail_msg("%s", b->err.text);
    const struct emu_blob blob = recorder_blob(bytes, nr);
    free(bytes);
    return blob;
}

static inline void bench_record_start(
    struct bench *b, const struct emu_launch *launch, struct emu_record *record)
{
    const uint32_t *each, *at;
    uint32_t total;
    memset(record, 0, sizeof(*record));
    if (b->about)
        memcpy(record, b->about, sizeof(*record));
    record->kind = RECORD_LAUNCH;
    if (!b->about)
        snprintf(record->what, sizeof(record->what), "%s", b->what ? b->what : launch->kernel);
    record->ptx = recorder_blob(b->ptx, strlen(b->ptx) + 1);
    record->params = recorder_blob(launch->params, launch->params_bytes);
    snprintf(record->kernel, sizeof(record->kernel), "%s", launch->kernel);
    memcpy(record->grid, launch->grid, sizeof(record->grid));
    memcpy(record->block, launch->block, sizeof(record->block));
    memcpy(record->cluster, launch->cluster, sizeof(record->cluster));
    record->smem_bytes = launch->smem_bytes;
    if (emu_params(b->module, launch->kernel, &record->nr_params, &each, &at, &total)) {
        for (unsigned i = 0; i < record->nr_params && i < RECORD_PARAMS; i++)
            record->param_at[i] = at[i];
    }
    record->nr_buffers = b->nr_buffers;
    record->nr_before = b->nr_launches;
    for (unsigned i = 0; i < b->nr_buffers; i++) {
        record->buffer[i].address = b->buffer[i];
        record->buffer[i].before = bench_bytes(b, i);
    }
}

static inline void bench_record_end(struct bench *b, struct emu_record *record)
{
    for (unsigned i = 0; i < b->nr_buffers; i++)
        record->buffer[i].after = bench_bytes(b, i);
    recorder_add(record);
}

static inline void bench_record_refusal(const char *ptx)
{
    struct emu_record record;
    memset(&record, 0, sizeof(record));
    record.kind = RECORD_REFUSAL;
    record.ptx = recorder_blob(ptx, strlen(ptx) + 1);
    recorder_add(&record);
}

/* --- modules and launches --- */

/* The module, or the verdict of loading in b->result with b->module NULL; a launch then fails. */
static inline void bench_init(struct bench *b, const char *ptx, unsigned threads)
{
    memset(b, 0, sizeof(*b));
    b->emu = emu_create(chip_default(), threads);
    b->arena = arena_create();
    if (!emu_load(b->emu, ptx, strlen(ptx), &b->module, &b->result, &b->err))
        fail_msg("%s", b->err.text);
    if (recorder() && b->module)
        b->ptx = strdup(ptx);
    else if (recorder() && b->result.verdict == VERDICT_NO_COMPILE)
        bench_record_refusal(ptx);
}

static inline void bench_finish(struct bench *b)
{
    emu_unload(b->emu, b->module);
    emu_destroy(b->emu);
    arena_destroy(b->arena);
    free(b->ptx);
}

/* A buffer named A, B, C ... in order, filled with the bytes given (NULL: left poisoned). */
static inline uint64_t bench_buffer(struct bench *b, const void *bytes, uint64_t nr)
{
    char name[2] = {(char)('A' + b->nr_buffers), 0};
    uint64_t address = emu_alloc(b->emu, nr, name, &b->err);
    if (!address || (bytes && !emu_write(b->emu, address, bytes, nr, &b->err)))
        fail_msg("%s", b->err.text);
    b->buffer_bytes[b->nr_buffers] = nr;
    b->buffer[b->nr_buffers++] = address;
    return address;
}

static inline void bench_read(struct bench *b, unsigned buffer, void *bytes, uint64_t nr)
{
    if (!emu_read(b->emu, b->buffer[buffer], bytes, nr, &b->err))
        fail_msg("%s", b->err.text);
}

/* What comes out is different on each device: addresses. */
static inline void bench_do_not_record(struct bench *b)
{
    free(b->ptx);
    b->ptx = NULL;
}

/* A launch that stands for itself: not of some blocks, nor on variables that one before changed. */
static inline bool bench_can_record(const struct bench *b, const struct emu_launch *launch)
{
    return b->ptx && !launch->blocks && !launch->sample_blocks && !launch->idle && !launch->probe &&
           (b->nr_launches == 0 || !strstr(b->ptx, ".global ."));
}

/* Runs kernel k with the buffers' addresses as its parameters. */
static inline enum verdict bench_launch(struct bench *b, struct emu_launch launch)
{
    if (!b->module)
        fail_msg("%s", b->result.text);
    if (!launch.kernel)
        launch.kernel = "k";
    if (!launch.params) {
        launch.params = b->buffer;
        launch.params_bytes = sizeof(b->buffer);
    }
    struct emu_record record;
    const bool recorded = bench_can_record(b, &launch);
    if (recorded)
        bench_record_start(b, &launch, &record);
    if (!emu_launch(b->emu, b->module, &launch, b->arena, &b->result, &b->err))
        fail_msg("%s", b->err.text);
    if (recorded && b->result.verdict == VERDICT_OK)
        bench_record_end(b, &record);
    b->nr_launches++;
    return b->result.verdict;
}

static inline enum verdict bench_run(struct bench *b, uint32_t grid, uint32_t block)
{
    struct emu_launch launch = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .count = true};
    return bench_launch(b, launch);
}

static inline void bench_run_ok(struct bench *b, uint32_t grid, uint32_t block)
{
    if (bench_run(b, grid, block) != VERDICT_OK)
        fail_msg("%s", b->result.text);
}

#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

/* --- operations one by one --- */

struct op_case {
    const char *text;    /* PTX with registers D, A, B, C and predicates P, Q */
    unsigned d, a, b, c; /* bytes of each, 0: not used */
    uint64_t (*ref)(uint64_t a, uint64_t b, uint64_t c);
    double tolerance; /* f32 and f64 results: relative to the reference; 0: the same bits */
};

enum { OP_LANES = 2048 };

static inline uint64_t case_value(unsigned i, unsigned bytes, unsigned which)
{
    static const uint64_t edge64[] = {0, 1, ~UINT64_C(0), UINT64_C(0x8000000000000000),
        UINT64_C(0x7fffffffffffffff), UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000000), UINT64_C(0x0010000000000000), UINT64_C(0x000fffffffffffff),
        UINT64_C(0x3ff0000000000000), UINT64_C(0xbff8000000000000), 31, 32, 63, 64,
        UINT64_C(0x43e0000000000000), UINT64_C(0xc1e0000000000000), UINT64_C(0x41efffffffe00000),
        UINT64_C(0xffffffff), UINT64_C(0x100000000)};
    static const uint32_t edge32[] = {0, 1, 2, 0xffffffffu, 0x80000000u, 0x7fffffffu, 0x7f800000u,
        0xff800000u, 0x7fc00000u, 0x00800000u, 0x007fffffu, 0x807fffffu, 0x3f800000u, 0xbfc00000u,
        0x7f7fffffu, 7, 8, 31, 32, 33, 0x3fffffffu, 0x4f000000u, 0xcf000000u, 0x4f800000u, 0x1234,
        0x3f000000u, 0x40200000u, 0xc0200000u, 0x33800000u, 0x477fe000u, 0x477ff000u, 0x38800000u};
    static const uint16_t edge16[] = {0, 1, 0x8000, 0x7fff, 0xffff, 0x7c00, 0xfc00, 0x7e00, 0x0400,
        0x03ff, 0x83ff, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x3555, 0x7f80, 0xff80, 0x3f80, 0x0080,
        0x007f, 0x7f7f};
    uint64_t mixed = UINT64_C(0x9e3779b97f4a7c15) * (i * 3 + which + 1);
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed ^= mixed >> 32;
    /* the first part: every pair of edges; then random bits; then random numbers near one */
    unsigned n = bytes == 8 ? 21 : bytes == 4 ? 32 : 22;
    unsigned at = which == 0 ? i % n : which == 1 ? i / n % n : (i * 7 + i / 5) % n;
    if (i < n * n) {
        return bytes == 8 ? edge64[at] : bytes == 4 ? edge32[at] : edge16[at];
    }
    if (i % 2 == 0)
        return bytes == 8 ? mixed : bytes == 4 ? mixed & 0xffffffffu : mixed & 0xffff;
    double near = 1 + (double)(mixed >> 40) / 1e6 * (mixed & 1 ? 1 : -1);
    float near32 = (float)near;
    uint64_t bits = 0;
    if (bytes == 8) {
        memcpy(&bits, &near, 8);
        return bits;
    }
    memcpy(&bits, &near32, 4);
    return bytes == 4 ? bits : (mixed & 0x8000u) | (0x3800u + (mixed & 0x0fffu));
}

static inline bool same_result(const struct op_case *c, uint64_t got, uint64_t want)
{
    if (got == want || c->tolerance == 0)
        return got == want;
    double x, y;
    if (c->d == 8) {
        memcpy(&x, &got, 8);
        memcpy(&y, &want, 8);
    } else {
        float fx, fy;
        memcpy(&fx, &got, 4);
        memcpy(&fy, &want, 4);
        x = fx, y = fy;
    }
    double off = x > y ? x - y : y - x, size = y < 0 ? -y : y;
    return off <= c->tolerance * size || (off <= 1e-44 && size < 1e-37);
}

/* What a record says of an operation beside the launch. */
static inline void describe_op(
    const struct op_case *c, uint64_t value[4][OP_LANES], struct emu_record *about)
{
    static uint8_t want[OP_LANES * 8];
    const uint32_t each[4] = {c->d, c->a, c->b, c->c};
    memset(about, 0, sizeof(*about));
    snprintf(about->what, sizeof(about->what), "%s", c->text);
    memcpy(about->each, each, sizeof(each));
    about->tolerance = c->tolerance;
    if (!recorder() || c->tolerance == 0)
        return;
    for (unsigned l = 0; l < OP_LANES; l++) {
        const uint64_t result = c->ref(value[1][l], c->b ? value[2][l] : 0, c->c ? value[3][l] : 0);
        memcpy(want + (size_t)l * c->d, &result, c->d);
    }
    about->want = recorder_blob(want, (uint64_t)OP_LANES * c->d);
}

static inline void run_op(const struct op_case *c)
{
    static const char *const load[] = {[0] = "", [2] = "b16", [4] = "b32", [8] = "b64"};
    static char ptx[1 << 16];
    int n = snprintf(ptx, sizeof(ptx),
        PTX_HEAD
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{\n"
        ".reg .b64 %%a<10>;\n.reg .b32 %%i<6>;\n.reg .pred P, Q;\n.reg .b%u D;\n.reg .b%u A;\n"
        ".reg .b%u B;\n.reg .b%u C;\n"
        "mov.u32 %%i1, %%tid.x;\nmov.u32 %%i2, %%ctaid.x;\nmad.lo.s32 %%i3, %%i2, 128, %%i1;\n",
        c->d * 8, c->a * 8, c->b ? c->b * 8 : 32, c->c ? c->c * 8 : 32);
    const unsigned bytes[4] = {c->d, c->a, c->b, c->c};
    for (unsigned i = 0; i < 4; i++) {
        if (bytes[i] == 0)
            continue;
        n += snprintf(ptx + n, sizeof(ptx) - (size_t)n,
            "ld.param.u64 %%a0, [p%u];\nmul.wide.u32 %%a1, %%i3, %u;\nadd.s64 %%a%u, %%a0, %%a1;\n",
            i, bytes[i], 2 + i);
        if (i > 0)
            n += snprintf(ptx + n, sizeof(ptx) - (size_t)n, "ld.global.%s %c, [%%a%u];\n",
                load[bytes[i]], "DABC"[i], 2 + i);
    }
    snprintf(ptx + n, sizeof(ptx) - (size_t)n, "%s\nst.global.%s [%%a2], D;\nret;\n}\n", c->text,
        load[c->d]);
    uint64_t value[4][OP_LANES];
    uint8_t packed[OP_LANES * 16] = {0};
    struct bench b;
    struct emu_record about;
    bench_init(&b, ptx, 1);
    if (!b.module) {
        print_error("%s: %s\n", c->text, b.result.text);
        fail();
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned l = 0; l < OP_LANES && bytes[i]; l++) {
            value[i][l] = i ? case_value(l, bytes[i], i - 1) : 0;
            memcpy(packed + (size_t)l * bytes[i], &value[i][l], bytes[i]);
        }
        bench_buffer(&b, packed, OP_LANES * (bytes[i] ? bytes[i] : 16));
    }
    describe_op(c, value, &about);
    b.about = &about;
    const struct emu_launch launch = {
        .grid = {OP_LANES / 128, 1, 1}, .block = {128, 1, 1}, .count = true, .untimed = true};
    if (bench_launch(&b, launch) != VERDICT_OK)
        fail_msg("%s: %s", c->text, b.result.text);
    bench_read(&b, 0, packed, (uint64_t)OP_LANES * c->d);
    for (unsigned l = 0; l < OP_LANES; l++) {
        uint64_t got = 0, in[3];
        memcpy(&got, packed + (size_t)l * c->d, c->d);
        for (unsigned i = 0; i < 3; i++)
            in[i] = bytes[i + 1] ? value[i + 1][l] : 0;
        uint64_t want = c->ref(in[0], in[1], in[2]);
        want = c->d == 8 ? want : want & (((uint64_t)1 << (8 * c->d)) - 1);
        if (!same_result(c, got, want))
            fail_msg("%s with A=%llx B=%llx C=%llx: got %llx, want %llx", c->text,
                (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
                (unsigned long long)got, (unsigned long long)want);
    }
    bench_finish(&b);
}

/* Each of them by each instruction set that this machine has. */
static inline void run_ops(const struct op_case *cases, size_t nr)
{
    for (enum sem_isa isa = SEM_BASE; isa <= SEM_AVX512; isa++)
        if (sem_use(isa))
            for (size_t i = 0; i < nr; i++)
                run_op(&cases[i]);
}

#endif
