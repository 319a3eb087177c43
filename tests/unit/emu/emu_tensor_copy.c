/* Tensor copies: boxes of arrays of one to five dimensions to and from shared memory, with steps,
 * edges, fills and swizzles; reductions; multicast; what is refused. The reference walks over the
 * box element by element. Swizzled rows that are shorter than the swizzle, the NaN of a fill and
 * the coordinates that are refused are as an H100 has them (tests/gpu/conform.c). */
#include "core/tensor_map.h"
#include "emu_harness.h"

enum { SMEM = 8 << 10, ARRAY = 1 << 20 };

struct params {
    uint8_t map[TENSOR_MAP_BYTES];
    uint64_t out;
    int32_t origin[5];
    uint32_t bytes;
    uint16_t shift[4]; /* im2col */
};

static uint8_t array[ARRAY], got[4 * SMEM], want[SMEM];

static const char *const names[] = {"1d", "2d", "3d", "4d", "5d"};
static const char *const coords[] = {
    "{x0}", "{x0, x1}", "{x0, x1, x2}", "{x0, x1, x2, x3}", "{x0, x1, x2, x3, x4}"};

/* Shared memory of 8 KiB: filled from `out` where the copy stores, written there where it loads.
 * `copy` stands in the place of the copy by thread 0 of each block; M is an mbarrier, N the bytes.
 */
static void open_kernel(struct bench *b, const char *copy, bool loads, unsigned cluster)
{
    char ptx[8192];
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD ".extern .shared .align 1024 .b8 s[];\n"
                 ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, "
                 ".param .align 4 .b8 o[20], .param .u32 nr, .param .align 2 .b8 f[8])\n"
                 ".reqnctapercluster %u, 1, 1\n{\n.reg .b16 h<3>;\n"
                 "ld.param.u16 h0, [f];\nld.param.u16 h1, [f+2];\nld.param.u16 h2, [f+4];\n"
                 ".reg .b32 T, S, M, N, V, W, R, x<5>;\n.reg .b64 A, B, C;\n.reg .pred P, Q;\n"
                 "mov.b64 C, map;\ncvta.param.u64 C, C;\nld.param.u64 A, [p];\n"
                 "ld.param.u32 N, [nr];\nld.param.s32 x0, [o];\nld.param.s32 x1, [o+4];\n"
                 "ld.param.s32 x2, [o+8];\nld.param.s32 x3, [o+12];\nld.param.s32 x4, [o+16];\n"
                 "mov.u32 S, s;\nadd.u32 M, S, 8192;\nmov.u32 T, %%tid.x;\n"
                 "mov.u32 R, %%cluster_ctarank;\nmul.wide.u32 B, R, 8192;\nadd.u64 A, A, B;\n"
                 "setp.eq.u32 P, T, 0;\n@P mbarrier.init.shared::cta.b64 [M], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mov.u32 V, T;\nIN:\nshl.b32 W, V, 2;\ncvt.u64.u32 B, W;\nadd.u64 B, A, B;\n"
                 "add.u32 W, W, S;\nld.global.u32 R, [B];\nst.shared.u32 [W], R;\n"
                 "add.u32 V, V, 64;\nsetp.lt.u32 Q, V, 2048;\n@Q bra IN;\n"
                 "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                 "barrier.cluster.arrive;\nbarrier.cluster.wait;\nmov.u32 R, %%cluster_ctarank;\n"
                 "%s%s\n%s"
                 "mov.u32 V, T;\nOUT:\nshl.b32 W, V, 2;\ncvt.u64.u32 B, W;\nadd.u64 B, A, B;\n"
                 "add.u32 W, W, S;\nld.shared.u32 R, [W];\nst.global.u32 [B], R;\n"
                 "add.u32 V, V, 64;\nsetp.lt.u32 Q, V, 2048;\n@Q bra OUT;\n"
                 "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n",
        cluster, loads ? "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], N;\n" : "", copy,
        loads ? "WAIT:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 Q, [M], 0;\n"
                "@!Q bra WAIT;\n"
              : "@P cp.async.bulk.commit_group;\n@P cp.async.bulk.wait_group 0;\n");
    bench_init(b, ptx, 1);
    if (!b->module)
        fail_msg("%s", b->result.text);
    bench_buffer(b, array, sizeof(array));
    memset(got, 0, sizeof(got));
    bench_buffer(b, got, sizeof(got));
}

static enum verdict launch(struct bench *b, struct params *p, unsigned blocks, bool watched)
{
    p->out = b->buffer[1];
    const struct emu_launch l = {.grid = {blocks, 1, 1},
        .block = {64, 1, 1},
        .smem_bytes = SMEM + 16,
        .params = p,
        .params_bytes = sizeof(*p),
        .count = watched,
        .untimed = true,
        .find_races = watched,
        .find_uninit = watched,
        .find_sync = watched};
    return bench_launch(b, l);
}

/* --- the reference --- */

static uint64_t fill_of(const struct tensor_map *m)
{
    return m->fill ? UINT64_C(0x7ff77ff77ff77ff7) : 0;
}

/* Calls each element of the box: its offset in the array (-1 outside) and in shared memory. */
static unsigned walk(const struct tensor_map *m, const int32_t *origin,
    void (*each)(const struct tensor_map *m, int64_t from, uint32_t to))
{
    uint32_t n[5] = {1, 1, 1, 1, 1}, nr = 0;
    const uint32_t bytes = tensor_map_type_bytes(m->type);
    for (unsigned d = 0; d < m->nr_dims; d++)
        n[d] = d == 0 ? m->box[d] : (m->box[d] + m->step[d] - 1) / m->step[d];
    for (uint32_t i = 0; i < n[0] * n[1] * n[2] * n[3] * n[4]; i++) {
        uint32_t left = i;
        int64_t from = 0;
        bool inside = true;
        for (unsigned d = 0; d < m->nr_dims; d++) {
            const int64_t x = origin[d] + (int64_t)(left % n[d]) * (d == 0 ? 1 : m->step[d]);
            left /= n[d];
            inside = inside && x >= 0 && x < (int64_t)m->size[d];
            from += x * (int64_t)m->stride_bytes[d];
        }
        const uint32_t width = 1u << m->swizzle, pitch = width > 1 ? width * 16 : n[0] * bytes;
        const uint32_t at = i / n[0] * pitch + i % n[0] * bytes, line = at / 128;
        const uint32_t chunk = at % 128 / 16;
        each(m, inside ? from : -1, line * 128 + (chunk ^ (line % width)) * 16 + at % 16);
        nr += bytes;
    }
    return nr;
}

static void want_load(const struct tensor_map *m, int64_t from, uint32_t to)
{
    const unsigned each = tensor_map_type_bytes(m->type);
    const uint64_t other = fill_of(m);
    memcpy(want + to, from >= 0 ? (const void *)(array + from) : (const void *)&other, each);
}

static void want_store(const struct tensor_map *m, int64_t from, uint32_t to)
{
    if (from >= 0)
        memcpy(array + from, want + to, tensor_map_type_bytes(m->type));
}

/* Unsigned sums, minima and the like of 32 bits. */
static char operation;
static void want_reduction(const struct tensor_map *m, int64_t from, uint32_t to)
{
    uint32_t old, new;
    if (from < 0)
        return;
    memcpy(&old, array + from, 4);
    memcpy(&new, want + to, 4);
    new = operation == '+'   ? old + new
          : operation == '<' ? (old < new ? old : new)
          : operation == '&' ? old &new
          : old >= new       ? 0
                             : old + 1;
    memcpy(array + from, &new, 4);
}

static void shuffle(uint8_t *bytes, size_t nr, uint32_t seed)
{
    for (size_t i = 0; i < nr; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static struct tensor_map map_of(
    const struct bench *b, unsigned nr_dims, unsigned type, unsigned swizzle, unsigned i)
{
    static const uint32_t boxes[5][5] = {
        {64, 8, 1, 1, 2}, {32, 16, 2, 1, 1}, {16, 5, 2, 3, 2}, {8, 7, 2, 3, 1}, {64, 1, 3, 1, 2}};
    static const uint64_t sizes[5] = {100, 19, 5, 4, 3};
    struct tensor_map m = {.address = b->buffer[0],
        .nr_dims = (uint8_t)nr_dims,
        .type = (uint8_t)type,
        .swizzle = (uint8_t)swizzle};
    const uint32_t each = tensor_map_type_bytes(type);
    uint64_t stride = 0;
    for (unsigned d = 0; d < nr_dims; d++) {
        m.size[d] = sizes[d];
        m.step[d] = i % 5 == 3 && d == i / 5 % nr_dims ? 2 + d % 2 : 1;
        m.box[d] = boxes[i % 5][d];
        m.stride_bytes[d] = d == 0 ? each : stride;
        stride = d == 0 ? (sizes[0] * each + 31) / 16 * 16 : stride * sizes[d] + 16 * (i % 2);
    }
    while (m.swizzle && m.box[0] * each > 16u << m.swizzle)
        m.box[0] /= 2;
    m.fill = type >= TENSOR_MAP_F16 && i % 2;
    assert_true(stride <= ARRAY);
    return m;
}

static const int32_t origins[][5] = {{0, 0, 0, 0, 0}, {16, 2, 1, 0, 0}, {-16, 0, -1, 1, -1},
    {80, 15, 3, 3, 2}, {-208, 1, 0, 0, 0}, {32, 18, 4, -2, 1}};
enum { NR_ORIGINS = sizeof(origins) / sizeof(*origins) };

static void loads(void **state)
{
    static const uint8_t types[] = {TENSOR_MAP_U8, TENSOR_MAP_BF16, TENSOR_MAP_F16, TENSOR_MAP_F32,
        TENSOR_MAP_U32, TENSOR_MAP_F64};
    unsigned nr = 0;
    for (unsigned dims = 1; dims <= 5; dims++) {
        struct bench b;
        char copy[400];
        snprintf(copy, sizeof(copy),
            "@P cp.async.bulk.tensor.%s.shared::cluster.global%s.mbarrier::complete_tx::bytes%s "
            "[S], [C, %s], [M]%s;",
            names[dims - 1], dims % 2 ? ".tile" : "", dims == 3 ? ".L2::cache_hint" : "",
            coords[dims - 1], dims == 3 ? ", C" : "");
        shuffle(array, sizeof(array), dims);
        open_kernel(&b, copy, true, 1);
        for (unsigned t = 0; t < sizeof(types); t++) {
            for (unsigned i = 0; i < 4 * 5 * NR_ORIGINS; i++) {
                struct params p = {.bytes = 0};
                struct tensor_map m = map_of(&b, dims, types[t], i % 4, i / 4 % 5 + 5 * (i / 20));
                if (tensor_map_check(&m))
                    continue;
                memcpy(p.origin, origins[i / 20], sizeof(p.origin));
                tensor_map_encode(&m, p.map);
                memset(got, 0x11, SMEM);
                memset(want, 0x11, SMEM);
                emu_write(b.emu, b.buffer[1], got, sizeof(got), &b.err);
                p.bytes = walk(&m, p.origin, want_load);
                if (p.bytes > SMEM)
                    continue;
                if (launch(&b, &p, 1, nr % 8 == 0) != VERDICT_OK)
                    fail_msg("%u dimensions, case %u: %s", dims, i, b.result.text);
                bench_read(&b, 1, got, sizeof(got));
                if (memcmp(got, want, SMEM) != 0)
                    fail_msg("%u dimensions, type %u, case %u", dims, types[t], i);
                nr++;
            }
        }
        bench_finish(&b);
    }
    print_message("%u boxes\n", nr);
    assert_true(nr > 1000);
}

static void run_store(const char *opcode, unsigned dims, unsigned type,
    void (*each)(const struct tensor_map *m, int64_t from, uint32_t to))
{
    static uint8_t after[ARRAY];
    struct bench b;
    char copy[400];
    snprintf(copy, sizeof(copy), "@P %s [C, %s], [S];", opcode, coords[dims - 1]);
    shuffle(array, sizeof(array), 7);
    open_kernel(&b, copy, false, 1);
    for (unsigned i = 0; i < 4 * 5 * NR_ORIGINS; i++) {
        struct params p = {.bytes = 0};
        struct tensor_map m = map_of(&b, dims, type, i % 4, i / 4 % 5 + 5 * (i / 20));
        m.fill = 0;
        if (tensor_map_check(&m))
            continue;
        memcpy(p.origin, origins[i / 20], sizeof(p.origin));
        const bool reduces = each == want_reduction;
        p.origin[0] += reduces && dims == 2 && i % 40 == 39 ? 3 : 0;
        if (!reduces && dims <= 3 && p.origin[0] < 0) /* see faults() */
            continue;
        tensor_map_encode(&m, p.map);
        shuffle(want, SMEM, i);
        emu_write(b.emu, b.buffer[0], array, sizeof(array), &b.err);
        emu_write(b.emu, b.buffer[1], want, SMEM, &b.err);
        if (launch(&b, &p, 1, i % 8 == 0) != VERDICT_OK)
            fail_msg("%s, case %u: %s", opcode, i, b.result.text);
        walk(&m, p.origin, each);
        bench_read(&b, 0, after, sizeof(after));
        if (memcmp(after, array, sizeof(after)) != 0)
            fail_msg("%s, case %u", opcode, i);
    }
    bench_finish(&b);
}

static void stores(void **state)
{
    char opcode[100];
    for (unsigned dims = 1; dims <= 5; dims++) {
        snprintf(opcode, sizeof(opcode), "cp.async.bulk.tensor.%s.global.shared::cta%s.bulk_group",
            names[dims - 1], dims % 2 ? ".tile" : "");
        run_store(opcode, dims, dims % 2 ? TENSOR_MAP_BF16 : TENSOR_MAP_F32, want_store);
    }
    operation = '+';
    run_store("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group", 2,
        TENSOR_MAP_U32, want_reduction);
    operation = '<';
    run_store("cp.reduce.async.bulk.tensor.3d.global.shared::cta.min.bulk_group", 3, TENSOR_MAP_U32,
        want_reduction);
    operation = '&';
    run_store("cp.reduce.async.bulk.tensor.1d.global.shared::cta.and.bulk_group", 1, TENSOR_MAP_U32,
        want_reduction);
    operation = 'i';
    run_store("cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group", 2, TENSOR_MAP_U32,
        want_reduction);
}

/* --- im2col --- */

/* A convolution's input as CUTLASS maps it: w, h and d begin `pad` outside, and end where the
 * filter's last element ends `pad` outside. */
static struct tensor_map image_of(const struct bench *b, unsigned spatial, unsigned i)
{
    static const uint64_t sizes[] = {24, 7, 6, 3};
    const unsigned filter = 1 + i % 3, pad = filter / 2;
    struct tensor_map m = {.address = b->buffer[0],
        .nr_dims = (uint8_t)(spatial + 2),
        .type = TENSOR_MAP_BF16,
        .swizzle = (uint8_t)(i / 3 % 4),
        .fill = i / 2 % 2,
        .im2col = true,
        .box = {i % 2 ? 8 : 16, i % 4 ? 24 : 37}};
    uint64_t stride = 2;
    if (m.swizzle == 1)
        m.box[0] = 16;
    for (unsigned d = 0; d < m.nr_dims; d++) {
        m.size[d] = d == m.nr_dims - 1u ? 4 : sizes[d];
        m.step[d] = d > 0 && d <= spatial ? 1 + (i / 12 + d) % 2 : 1;
        m.stride_bytes[d] = stride;
        stride *= m.size[d];
        if (d > 0 && d <= spatial) {
            m.lower[d - 1] = (int16_t)-pad;
            m.upper[d - 1] = (int16_t)(pad - (filter - 1));
        }
    }
    return m;
}

/* All pixels of the bounding box in their order, from the first one on; of each the element that
 * the offsets lead to. */
static unsigned walk_pixels(const struct tensor_map *m, const int32_t *origin, const int *offset,
    void (*each)(const struct tensor_map *m, int64_t from, uint32_t to))
{
    const unsigned last = m->nr_dims - 1u, bytes = tensor_map_type_bytes(m->type);
    const uint32_t width = 1u << m->swizzle, pitch = width > 1 ? width * 16 : m->box[0] * bytes;
    int64_t at[5] = {0};
    for (unsigned d = 0; d <= last; d++)
        at[d] = origin[d];
    for (uint32_t pixel = 0; pixel < m->box[1]; pixel++) {
        for (uint32_t c = 0; c < m->box[0]; c++) {
            bool inside = at[0] + c < (int64_t)m->size[0];
            int64_t from = (at[0] + c) * bytes;
            for (unsigned d = 1; d <= last; d++) {
                const int64_t x = at[d] + (d < last ? offset[d - 1] : 0);
                inside = inside && x >= 0 && x < (int64_t)m->size[d];
                from += x * (int64_t)m->stride_bytes[d];
            }
            const uint32_t to = pixel * pitch + c * bytes, line = to / 128, chunk = to % 128 / 16;
            each(m, inside ? from : -1, line * 128 + (chunk ^ (line % width)) * 16 + to % 16);
        }
        for (unsigned d = 1; d <= last; d++) {
            at[d] += m->step[d];
            if (d == last || at[d] < (int64_t)m->size[d] + m->upper[d - 1])
                break;
            at[d] = m->lower[d - 1];
        }
    }
    return m->box[0] * m->box[1] * bytes;
}

static void im2col(void **state)
{
    static const char *const shifts[] = {"{h0}", "{h0, h1}", "{h0, h1, h2}"};
    unsigned nr = 0;
    for (unsigned spatial = 1; spatial <= 3; spatial++) {
        for (unsigned stores = 0; stores < 2; stores++) {
            struct bench b;
            char copy[500];
            snprintf(copy, sizeof(copy),
                stores ? "@P cp.async.bulk.tensor.%s.global.shared::cta.im2col_no_offs.bulk_group "
                         "[C, %s], [S];%s"
                       : "@P cp.async.bulk.tensor.%s.shared::cluster.global.im2col"
                         ".mbarrier::complete_tx::bytes [S], [C, %s], [M], %s;",
                names[spatial + 1], coords[spatial + 1], stores ? "" : shifts[spatial - 1]);
            shuffle(array, sizeof(array), spatial);
            open_kernel(&b, copy, !stores, 1);
            for (unsigned i = 0; i < 48; i++) {
                static uint8_t after[ARRAY];
                struct params p = {.origin = {8 * (int)(i % 2)}};
                struct tensor_map m = image_of(&b, spatial, i);
                int offset[3] = {0};
                for (unsigned d = 0; d < spatial; d++) {
                    const int places = (int)m.size[d + 1] + m.upper[d] - m.lower[d];
                    p.origin[d + 1] = m.lower[d] + (int)(i * 7 / (d + 1)) % places /
                                                       (int)m.step[d + 1] * (int)m.step[d + 1];
                    offset[d] = stores ? 0 : (int)(i / (d + 1) % (1 + i % 3));
                    p.shift[d] = (uint16_t)offset[d];
                }
                p.origin[spatial + 1] = (int)(i % 4);
                m.fill = stores ? 0 : m.fill;
                assert_null(tensor_map_check(&m));
                tensor_map_encode(&m, p.map);
                shuffle(want, SMEM, i);
                emu_write(b.emu, b.buffer[0], array, sizeof(array), &b.err);
                emu_write(b.emu, b.buffer[1], want, SMEM, &b.err);
                p.bytes = walk_pixels(&m, p.origin, offset, stores ? want_store : want_load);
                if (launch(&b, &p, 1, i % 8 == 0) != VERDICT_OK)
                    fail_msg("%u dimensions, case %u: %s", spatial, i, b.result.text);
                bench_read(&b, stores ? 0 : 1, stores ? after : got, stores ? ARRAY : SMEM);
                if (stores ? memcmp(after, array, ARRAY) : memcmp(got, want, SMEM))
                    fail_msg("%u dimensions, case %u, %s", spatial, i, stores ? "store" : "load");
                nr++;
            }
            bench_finish(&b);
        }
    }
    print_message("%u columns of pixels\n", nr);
}

/* Counts by hand: a box of 64 x 8 bf16 are 8 rows of 128 bytes, from a byte 64 of a line on, in an
 * array whose rows are 208 bytes apart. */
static void counts(void **state)
{
    struct bench b;
    struct params p = {.origin = {32, 1}, .bytes = 1024};
    open_kernel(&b,
        "@P cp.async.bulk.prefetch.tensor.2d.L2.global.tile [C, {x0, x1}];\n"
        "@P prefetch.tensormap [C];\n"
        "@P cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
        "[C, {x0, x1}], [M];",
        true, 1);
    struct tensor_map m = {.address = b.buffer[0],
        .nr_dims = 2,
        .type = TENSOR_MAP_BF16,
        .size = {104, 20},
        .stride_bytes = {2, 208},
        .box = {64, 8},
        .step = {1, 1},
        .swizzle = 3};
    uint64_t sectors = 0;
    tensor_map_encode(&m, p.map);
    assert_int_equal(launch(&b, &p, 1, true), VERDICT_OK);
    for (unsigned r = 1; r <= 8; r++)
        sectors += (r * 208 + 64 + 127) / 32 - (r * 208 + 64) / 32 + 1;
    const struct counters *c = &b.result.counters;
    /* 8 KiB in and out by words besides: 64 requests each way */
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_REQUESTS].value, 64 + 1);
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_BYTES].value, 8192 + 1024);
    assert_int_equal(c->metric[METRIC_GLOBAL_LD_SECTORS].value, 8192 / 32 + sectors);
    assert_int_equal(c->metric[METRIC_SHARED_ST_WAVEFRONTS].value, 64 + 8);
    bench_finish(&b);
}

/* Two blocks of four get the box that the second one asks for, each with its own mbarrier; and a
 * plain bulk copy goes to them as well. */
static void multicast(void **state)
{
    struct bench b;
    struct params p = {.origin = {0, 0}, .bytes = 1024 + 256};
    shuffle(array, sizeof(array), 3);
    /* blocks 0 and 2 wait for nothing */
    char ptx[4096];
    snprintf(ptx, sizeof(ptx), "%s",
        PTX_HEAD ".shared .align 1024 .b8 s[2048];\n.shared .align 8 .b8 m[8];\n"
                 ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, "
                 ".param .align 4 .b8 o[20], .param .u32 nr)\n.reqnctapercluster 4, 1, 1\n{\n"
                 ".reg .b32 T, S, M, N, V, R;\n.reg .b64 A, B, C;\n.reg .pred P, Q, F;\n"
                 "mov.b64 C, map;\nld.param.u64 A, [p];\nld.param.u32 N, [nr];\nmov.u32 S, s;\n"
                 "mov.u32 M, m;\nmov.u32 T, %tid.x;\nmov.u32 R, %cluster_ctarank;\n"
                 "setp.eq.u32 P, T, 0;\n@P mbarrier.init.shared::cta.b64 [M], 1;\n"
                 "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], N;\n"
                 "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                 "setp.eq.u32 Q, R, 1;\nand.pred Q, P, Q;\n"
                 "@Q cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [S], [C, {0, 0}], [M], 10;\n"
                 "@Q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [S+1024], [A], 256, [M], 10;\n"
                 "and.b32 V, R, 1;\nsetp.eq.u32 Q, V, 0;\n@Q bra OVER;\n"
                 "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 F, [M], 0;\n@!F bra WAIT;\n"
                 "mul.wide.u32 B, R, 2048;\nadd.u64 A, A, B;\nshl.b32 V, T, 2;\n"
                 "cvt.u64.u32 B, V;\nadd.u64 A, A, B;\nadd.u32 S, S, V;\nmov.u32 T, 0;\n"
                 "NEXT:\nld.shared.u32 V, [S];\nst.global.u32 [A], V;\nadd.u32 S, S, 256;\n"
                 "add.u64 A, A, 256;\nadd.u32 T, T, 1;\nsetp.lt.u32 F, T, 5;\n@F bra NEXT;\n"
                 "OVER:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n");
    bench_init(&b, ptx, 1);
    bench_buffer(&b, array, sizeof(array));
    shuffle(got, sizeof(got), 5);
    bench_buffer(&b, got, sizeof(got));
    struct tensor_map m = {.address = b.buffer[0],
        .nr_dims = 2,
        .type = TENSOR_MAP_F32,
        .size = {64, 64},
        .stride_bytes = {4, 256},
        .box = {32, 8},
        .step = {1, 1}};
    static uint8_t after[sizeof(got)];
    tensor_map_encode(&m, p.map);
    if (launch(&b, &p, 4, true) != VERDICT_OK)
        fail_msg("%s", b.result.text);
    bench_read(&b, 1, after, sizeof(after));
    for (unsigned r = 1; r < 4; r += 2) {
        for (unsigned i = 0; i < 8; i++)
            assert_memory_equal(
                after + 2048 * (size_t)r + 128 * (size_t)i, array + 256 * (size_t)i, 128);
        assert_memory_equal(after + 2048 * (size_t)r + 1024, got, 256);
    }
    assert_memory_equal(after + 2048 * 2, got + 2048 * 2, 2048);
    bench_finish(&b);
}

/* Plain bulk reductions into global memory, and into shared memory of the cluster. */
static void plain_reductions(void **state)
{
    uint32_t a[256], out[256];
    struct bench b;
    for (unsigned i = 0; i < 256; i++)
        a[i] = i * 77;
    bench_init(&b,
        PTX_HEAD
        ".shared .align 128 .b8 s[2048];\n.shared .align 8 .b8 m[8];\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 T, S, M, V;\n.reg .b64 A, B;\n"
        ".reg .pred P, Q;\nld.param.u64 A, [p];\nmov.u32 S, s;\nmov.u32 M, m;\n"
        "mov.u32 T, %tid.x;\nsetp.eq.u32 P, T, 0;\n"
        "@P mbarrier.init.shared::cta.b64 [M], 1;\n"
        "mad.lo.u32 V, T, 4, S;\nst.shared.u32 [V], T;\nst.shared.u32 [V+1024], 100;\n"
        "fence.proxy.async;\nbar.sync 0;\n"
        "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], 1024;\n"
        "@P cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        ".max.u32 [S+1024], [S], 1024, [M];\n"
        "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 Q, [M], 0;\n@!Q bra WAIT;\n"
        "@P cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [A], [S+1024], 1024;\n"
        "@P cp.async.bulk.commit_group;\n@P cp.async.bulk.wait_group.read 0;\nret;\n}\n",
        1);
    bench_buffer(&b, a, sizeof(a));
    bench_run_ok(&b, 1, 256);
    bench_read(&b, 0, out, sizeof(out));
    for (unsigned i = 0; i < 256; i++)
        assert_int_equal(out[i], i * 77 + (i > 100 ? i : 100));
    bench_finish(&b);
}

/* As grouped products do: the map of the parameters goes to shared memory, gets another address,
 * size, stride and box there, goes on to global memory, and is used from there. */
static void changed_maps(void **state)
{
    static const char ptx[] = PTX_HEAD
        ".shared .align 1024 .b8 s[2048];\n.shared .align 128 .b8 t[128];\n"
        ".shared .align 8 .b8 m[8];\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u64 q, "
        ".param .u64 r)\n{\n"
        ".reg .b32 T, S, M, V, W;\n.reg .b64 A, B, C, D, X;\n.reg .pred P, Q;\n"
        "mov.b64 C, map;\ncvta.param.u64 C, C;\nld.param.u64 A, [p];\nld.param.u64 B, [q];\n"
        "ld.param.u64 D, [r];\nmov.u32 S, s;\nmov.u32 M, m;\nmov.u32 T, %tid.x;\nmov.u32 W, t;\n"
        "setp.eq.u32 P, T, 0;\n@P mbarrier.init.shared::cta.b64 [M], 1;\n"
        "shl.b32 V, T, 2;\ncvt.u64.u32 X, V;\nadd.u64 C, C, X;\nld.u32 T, [C];\n"
        "add.u32 V, W, V;\nst.shared.u32 [V], T;\nbar.warp.sync -1;\n"
        "@P tensormap.replace.tile.global_address.shared::cta.b1024.b64 [W], A;\n"
        "@P tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [W], 1, 6;\n"
        "@P tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [W], 0, 256;\n"
        "@P tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [W], 1, 8;\n"
        "@P tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [W], 1, 1;\n"
        "@P tensormap.replace.tile.rank.shared::cta.b1024.b32 [W], 1;\n"
        "@P tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [W], 3;\n"
        "@P tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [W], 0;\nbar.warp.sync -1;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[B], [W], 128;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [B], 128;\n"
        "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], 1024;\n"
        "@P cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
        "[B, {0, 0}], [M];\n"
        "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 Q, [M], 0;\n@!Q bra WAIT;\n"
        "mov.u32 T, 0;\nadd.u64 D, D, X;\ncvt.u32.u64 V, X;\nadd.u32 V, V, S;\n"
        "NEXT:\nld.shared.u32 W, [V];\nst.global.u32 [D], W;\nadd.u64 D, D, 128;\n"
        "add.u32 V, V, 128;\nadd.u32 T, T, 1;\nsetp.lt.u32 Q, T, 8;\n@Q bra NEXT;\nret;\n}\n";
    struct {
        uint8_t map[TENSOR_MAP_BYTES];
        uint64_t p[3];
    } params;
    struct bench b;
    uint8_t out[1024];
    bench_init(&b, ptx, 1);
    shuffle(array, sizeof(array), 11);
    bench_buffer(&b, array, sizeof(array));
    bench_buffer(&b, got, 512);
    bench_buffer(&b, got, 1024);
    const struct tensor_map old = {.address = 1 << 20,
        .nr_dims = 2,
        .type = TENSOR_MAP_F32,
        .size = {32, 9},
        .stride_bytes = {4, 128},
        .box = {32, 2},
        .step = {1, 2}};
    tensor_map_encode(&old, params.map);
    memcpy(params.p, (uint64_t[3]){b.buffer[0], b.buffer[1], b.buffer[2]}, sizeof(params.p));
    const struct emu_launch l = {.grid = {1, 1, 1},
        .block = {32, 1, 1},
        .params = &params,
        .params_bytes = sizeof(params),
        .find_races = true,
        .find_uninit = true,
        .find_sync = true};
    if (bench_launch(&b, l) != VERDICT_OK)
        fail_msg("%s", b.result.text);
    bench_read(&b, 2, out, sizeof(out));
    for (unsigned row = 0; row < 8; row++) {
        for (unsigned i = 0; i < 128; i++) {
            const unsigned at = row * 128 + ((i / 16) ^ row % 8) * 16 + i % 16;
            assert_int_equal(out[at], row < 6 ? array[256 * row + i] : 0);
        }
    }
    bench_finish(&b);
}

static void faults(void **state)
{
    static const char load[] =
        "@P cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [S+%u], "
        "[C%s, {x0, x1}], [M];";
    static const char store[] =
        "@P cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [C, {x0, x1}], [S+%u];";
    static const struct {
        unsigned at;
        const char *map, *says; /* NULL: a store */
        uint64_t size1;
        uint32_t bytes;
        uint8_t dims;
        int16_t x;
    } cases[] = {
        {64, "", "misaligned: a tensor copy needs 128 bytes", 20, 2048, 2, 0},
        {0, "", "the first coordinate is no multiple of 16 bytes", 20, 2048, 2, 3},
        {0, NULL, "the first coordinate is no multiple of 16 bytes", 20, 0, 2, 3},
        {0, NULL, "a store begins at a negative coordinate of its row", 20, 0, 2, -4},
        {0, "+32", "the tensor map is not aligned to 64 bytes", 20, 2048, 2, 0},
        {0, "+128", "the 128 bytes are no tensor map", 20, 2048, 2, 0},
        {0, "", "the tensor map has another number of dimensions", 20, 2048, 1, 0},
        {0, "", "the tensor map is larger than its array", 9000, 2048, 2, 0},
        {8192 - 1024, "", "out of bounds", 20, 2048, 2, 0},
        {0, "", "waits for a phase of the mbarrier at byte 8192 of shared memory that never ends",
            20, 4096, 2, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bench b;
        char copy[400];
        struct params p = {.bytes = cases[i].bytes};
        const bool loads = cases[i].map != NULL;
        snprintf(copy, sizeof(copy), loads ? load : store, cases[i].at, cases[i].map);
        open_kernel(&b, copy, loads, 1);
        struct tensor_map m = {.address = b.buffer[0],
            .nr_dims = cases[i].dims,
            .type = TENSOR_MAP_F32,
            .size = {32, cases[i].size1},
            .stride_bytes = {4, 128},
            .box = {32, 16},
            .step = {1, 1}};
        p.origin[0] = cases[i].x;
        p.origin[1] = cases[i].size1 > 100 ? 8180 : 0;
        tensor_map_encode(&m, p.map);
        assert_int_not_equal(launch(&b, &p, 1, true), VERDICT_OK);
        if (!strstr(b.result.text, cases[i].says))
            fail_msg("case %zu: %s", i, b.result.text);
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads), cmocka_unit_test(stores),
        cmocka_unit_test(im2col), cmocka_unit_test(counts), cmocka_unit_test(multicast),
        cmocka_unit_test(plain_reductions), cmocka_unit_test(changed_maps),
        cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
