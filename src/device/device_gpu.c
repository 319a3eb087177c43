/* Owns a GPU's row in the table of devices. What must survive its worker lives here: which buffers
 * there are and what the host last wrote to them, and the code of the modules. Callers see
 * addresses of ours, which stay the same when a new worker gives the buffers new ones. */
#include "device/device_gpu.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "device/gpu_lock.h"
#include "device/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_ADDRESS (UINT64_C(1) << 56) /* above what any GPU uses: a mix-up shows at once */
#define ADDRESS_GAP (UINT64_C(1) << 20)

static const double start_s = 60, plain_s = 120;
static const double launch_s = 10, software_launch_s = 120; /* the emulator is slow, not stuck */
static const double measure_s = 2, software_measure_s = 300;

struct buffer {
    uint64_t address, bytes; /* as callers see it */
    uint64_t real;           /* in the worker of that generation */
    unsigned generation;
    uint8_t *contents; /* what the host last wrote; NULL: all bytes are `fill` */
    uint8_t fill;
};

struct device_module {
    uint8_t *image; /* as struct worker_load, with its data */
    size_t image_bytes;
    unsigned nr_kernels, generation;
    uint32_t number; /* in the worker of that generation */
};

struct device_gpu {
    struct device base;
    struct device_ops ops;
    struct chip chip;
    struct worker_options options;
    struct worker_info info;
    struct worker *worker; /* NULL: none, the next use starts one */
    unsigned generation;   /* of workers; 0: none was ever started */
    double launch_s, measure_s;
    struct buffer **buffers;
    size_t nr_buffers, cap_buffers;
    uint64_t next_address;
    int lock;
};

static struct device_gpu *gpu_of(struct device *device)
{
    return (struct device_gpu *)device;
}

/* ---- the worker ---- */

static void drop_worker(struct device_gpu *gpu)
{
    worker_stop(gpu->worker);
    gpu->worker = NULL;
}

static bool have_worker(struct device_gpu *gpu, struct err *err)
{
    struct worker_info info;

    if (gpu->worker != NULL)
        return true;
    gpu->worker = worker_start(&gpu->options, &info, err);
    if (gpu->worker == NULL)
        return false;
    gpu->generation++;
    gpu->info = info;
    return true;
}

/* A request that no kernel has part in. Where the worker dies of it, whatever was wrong came from
 * an earlier kernel: the caller starts again with a new one. */
enum plain { PLAIN_DONE, PLAIN_AGAIN, PLAIN_FAILED };

static enum plain plain_call(struct device_gpu *gpu, const struct worker_request *request,
    struct worker_reply *reply, struct err *err)
{
    if (!have_worker(gpu, err))
        return PLAIN_FAILED;
    if (worker_call(gpu->worker, request, reply, plain_s, err) != WORKER_OK) {
        drop_worker(gpu);
        return PLAIN_AGAIN;
    }
    if (reply->outcome == WORKER_GOOD)
        return PLAIN_DONE;
    err_set(err, "the GPU: %s", reply->text);
    if (reply->outcome == WORKER_NO_MEMORY || reply->outcome == WORKER_REFUSED)
        return PLAIN_FAILED;
    drop_worker(gpu);
    return PLAIN_AGAIN;
}

/* ---- buffers ---- */

static struct buffer *find_buffer(struct device_gpu *gpu, uint64_t address, uint64_t nr)
{
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct buffer *b = gpu->buffers[i];

        if (address >= b->address && address - b->address <= b->bytes &&
            nr <= b->bytes - (address - b->address))
            return b;
    }
    return NULL;
}

static enum plain send_bytes(
    struct device_gpu *gpu, uint64_t real, const uint8_t *bytes, uint64_t nr, struct err *err)
{
    struct worker_reply reply;
    enum plain done = PLAIN_DONE;

    for (uint64_t at = 0; done == PLAIN_DONE && at < nr; at += WORKER_WINDOW_BYTES) {
        const uint64_t some = nr - at < WORKER_WINDOW_BYTES ? nr - at : WORKER_WINDOW_BYTES;

        memcpy(worker_window(gpu->worker), bytes + at, some);
        done = plain_call(gpu,
            &(struct worker_request){.op = WORKER_WRITE, .address = real + at, .bytes = some},
            &reply, err);
    }
    return done;
}

static enum plain send_fill(
    struct device_gpu *gpu, uint64_t real, uint8_t byte, uint64_t nr, struct err *err)
{
    struct worker_reply reply;

    return plain_call(gpu,
        &(struct worker_request){.op = WORKER_FILL, .address = real, .bytes = nr, .value = byte},
        &reply, err);
}

/* Make the buffer real in the present worker, with what the host last wrote. */
static enum plain bring_buffer(struct device_gpu *gpu, struct buffer *b, struct err *err)
{
    struct worker_reply reply;
    enum plain done;

    if (gpu->worker != NULL && b->generation == gpu->generation)
        return PLAIN_DONE;
    done = plain_call(
        gpu, &(struct worker_request){.op = WORKER_ALLOC, .bytes = b->bytes}, &reply, err);
    if (done != PLAIN_DONE)
        return done;
    b->real = reply.address;
    b->generation = gpu->generation;
    if (b->contents != NULL)
        done = send_bytes(gpu, b->real, b->contents, b->bytes, err);
    else
        done = send_fill(gpu, b->real, b->fill, b->bytes, err);
    if (done != PLAIN_DONE)
        b->generation = 0;
    return done;
}

static enum plain bring_all(struct device_gpu *gpu, struct err *err)
{
    enum plain done = PLAIN_DONE;

    for (size_t i = 0; done == PLAIN_DONE && i < gpu->nr_buffers; i++)
        done = bring_buffer(gpu, gpu->buffers[i], err);
    return done;
}

static uint64_t gpu_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct buffer *b = xcalloc(1, sizeof(*b));
    enum plain done = PLAIN_AGAIN;

    b->bytes = bytes;
    b->address = gpu->next_address;
    b->fill = 0xAA;
    for (int i = 0; done == PLAIN_AGAIN && i < 2; i++)
        done = bring_buffer(gpu, b, err);
    if (done != PLAIN_DONE) {
        free(b);
        err_wrap(err, "%llu bytes for %s", (unsigned long long)bytes, name);
        return 0;
    }
    gpu->next_address += (bytes + ADDRESS_GAP - 1) / ADDRESS_GAP * ADDRESS_GAP + ADDRESS_GAP;
    gpu->buffers =
        grow(gpu->buffers, &gpu->cap_buffers, gpu->nr_buffers + 1, sizeof(struct buffer *));
    gpu->buffers[gpu->nr_buffers++] = b;
    return b->address;
}

static void gpu_free(struct device *device, uint64_t address)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_reply reply;
    struct err ignored;

    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct buffer *b = gpu->buffers[i];

        if (b->address != address)
            continue;
        if (gpu->worker != NULL && b->generation == gpu->generation)
            plain_call(gpu, &(struct worker_request){.op = WORKER_FREE, .address = b->real}, &reply,
                &ignored);
        gpu->buffers[i] = gpu->buffers[--gpu->nr_buffers];
        free(b->contents);
        free(b);
        return;
    }
}

static bool outside(uint64_t address, uint64_t nr, const char *what, struct err *err)
{
    return err_set(err, "%s of %llu bytes at 0x%llx: not within one buffer of the GPU", what,
        (unsigned long long)nr, (unsigned long long)address);
}

static uint8_t *contents_of(struct buffer *b)
{
    if (b->contents == NULL) {
        b->contents = xmalloc(b->bytes + 1);
        memset(b->contents, b->fill, b->bytes);
    }
    return b->contents;
}

static bool gpu_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct buffer *b = find_buffer(gpu, address, nr);
    enum plain done = PLAIN_AGAIN;

    if (b == NULL)
        return outside(address, nr, "write", err);
    memcpy(contents_of(b) + (address - b->address), bytes, nr);
    for (int i = 0; done == PLAIN_AGAIN && i < 2; i++) {
        done = bring_buffer(gpu, b, err);
        if (done == PLAIN_DONE)
            done = send_bytes(gpu, b->real + (address - b->address), bytes, nr, err);
    }
    return done == PLAIN_DONE;
}

static bool gpu_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
    bool initialised, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct buffer *b = find_buffer(gpu, address, nr);
    enum plain done = PLAIN_AGAIN;

    if (b == NULL)
        return outside(address, nr, "fill", err);
    if (nr == b->bytes) {
        free(b->contents);
        b->contents = NULL;
        b->fill = byte;
    } else {
        memset(contents_of(b) + (address - b->address), byte, nr);
    }
    for (int i = 0; done == PLAIN_AGAIN && i < 2; i++) {
        done = bring_buffer(gpu, b, err);
        if (done == PLAIN_DONE)
            done = send_fill(gpu, b->real + (address - b->address), byte, nr, err);
    }
    return done == PLAIN_DONE;
}

static bool gpu_read(
    struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct buffer *b = find_buffer(gpu, address, nr);
    struct worker_reply reply;

    if (b == NULL)
        return outside(address, nr, "read", err);
    for (uint64_t at = 0; at < nr; at += WORKER_WINDOW_BYTES) {
        const uint64_t some = nr - at < WORKER_WINDOW_BYTES ? nr - at : WORKER_WINDOW_BYTES;
        enum plain done = PLAIN_AGAIN;

        for (int i = 0; done == PLAIN_AGAIN && i < 2; i++) {
            done = bring_buffer(gpu, b, err);
            if (done == PLAIN_DONE)
                done = plain_call(gpu,
                    &(struct worker_request){.op = WORKER_READ,
                        .address = b->real + (address - b->address) + at,
                        .bytes = some},
                    &reply, err);
        }
        if (done != PLAIN_DONE)
            return false;
        memcpy((uint8_t *)bytes + at, worker_window(gpu->worker), some);
    }
    return true;
}

/* ---- modules ---- */

static bool say(struct device_result *result, enum verdict verdict, unsigned line, const char *text)
{
    result->verdict = verdict;
    result->line = line;
    snprintf(result->text, sizeof(result->text), "%s", text);
    return false;
}

static struct device_module *make_module(const struct compilation *c)
{
    const size_t bytes = sizeof(struct worker_load) + c->cubin_bytes + c->ptx_bytes + 1;
    struct device_module *m;
    struct worker_load *load;

    if (bytes > WORKER_WINDOW_BYTES || c->nr_kernels > WORKER_MAX_KERNELS)
        return NULL;
    m = xcalloc(1, sizeof(*m));
    m->image_bytes = bytes;
    m->image = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (m->image == NULL) {
        free(m);
        return NULL;
    }
    memset(m->image, 0, bytes);
    load = (struct worker_load *)(void *)m->image;
    load->nr_kernels = m->nr_kernels = c->nr_kernels;
    load->cubin_bytes = c->cubin_bytes;
    load->ptx_bytes = c->ptx_bytes;
    for (unsigned i = 0; i < c->nr_kernels; i++) {
        struct worker_kernel *k = &load->kernels[i];

        snprintf(k->name, sizeof(k->name), "%s", c->kernels[i].lowered);
        k->registers = c->kernels[i].registers;
        k->spill_bytes = c->kernels[i].spill_store_bytes + c->kernels[i].spill_load_bytes;
    }
    if (c->cubin_bytes > 0)
        memcpy(load->data, c->cubin, c->cubin_bytes);
    memcpy(load->data + c->cubin_bytes, c->ptx, c->ptx_bytes);
    return m;
}

static struct worker_load *load_of(const struct device_module *m)
{
    return (struct worker_load *)(void *)m->image;
}

/* Loading asks for a verdict: *result is set when the driver does not take the code. */
static enum plain bring_module(
    struct device_gpu *gpu, struct device_module *m, struct device_result *result, struct err *err)
{
    const struct worker_request request = {.op = WORKER_LOAD};
    struct worker_reply reply;
    enum plain done;

    if (gpu->worker != NULL && m->generation == gpu->generation)
        return PLAIN_DONE;
    if (!have_worker(gpu, err))
        return PLAIN_FAILED;
    memcpy(worker_window(gpu->worker), m->image, m->image_bytes);
    done = plain_call(gpu, &request, &reply, err);
    if (done == PLAIN_DONE) {
        m->generation = gpu->generation;
        m->number = reply.module;
        memcpy(m->image, worker_window(gpu->worker), sizeof(struct worker_load));
    } else if (gpu->worker != NULL && done == PLAIN_FAILED && reply.outcome == WORKER_REFUSED) {
        say(result, VERDICT_NO_COMPILE, 0, reply.text);
    }
    return done;
}

static bool gpu_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct device_module *m = make_module(compilation);
    enum plain done = PLAIN_AGAIN;

    if (m == NULL) {
        say(result, VERDICT_UNSUPPORTED, 0, "the module is too large for the worker's window");
        return true;
    }
    for (int i = 0; done == PLAIN_AGAIN && i < 2; i++)
        done = bring_module(gpu, m, result, err);
    if (done == PLAIN_DONE) {
        *module = m;
        return true;
    }
    free(m->image);
    free(m);
    return result->verdict != VERDICT_OK;
}

static void gpu_unload(struct device *device, struct device_module *m)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_reply reply;
    struct err ignored;

    if (gpu->worker != NULL && m->generation == gpu->generation)
        plain_call(gpu, &(struct worker_request){.op = WORKER_UNLOAD, .module = m->number}, &reply,
            &ignored);
    free(m->image);
    free(m);
}

/* ---- launches ---- */

static int kernel_number(const struct device_module *m, const char *lowered)
{
    for (unsigned i = 0; i < m->nr_kernels; i++)
        if (strcmp(load_of(m)->kernels[i].name, lowered) == 0)
            return (int)i;
    return -1;
}

/* Pack one launch with real addresses. False: the verdict says why. */
static bool pack(struct device_gpu *gpu, const struct device_module *m,
    const struct device_launch *launch, struct worker_launch *to, struct device_result *result)
{
    const int number = kernel_number(m, launch->facts->lowered);
    struct device_arg *args = xcalloc(launch->nr_args + 1, sizeof(*args));
    struct device_launch real = *launch;
    const struct worker_kernel *k;
    bool ok;

    if (number < 0) {
        free(args);
        return say(result, VERDICT_LAUNCH_FAILED, launch->line, "no such kernel in the module");
    }
    k = &load_of(m)->kernels[number];
    for (unsigned i = 0; i < launch->nr_args; i++) {
        const struct buffer *b;

        args[i] = launch->args[i];
        if (args[i].kind != ARG_ARRAY)
            continue;
        b = find_buffer(gpu, args[i].address, 0);
        if (b != NULL)
            args[i].address = b->real + (args[i].address - b->address);
    }
    real.args = args;
    to->kernel = (uint32_t)number;
    memcpy(to->grid, launch->config->grid, sizeof(to->grid));
    memcpy(to->block, launch->config->block, sizeof(to->block));
    memcpy(to->cluster, launch->config->cluster, sizeof(to->cluster));
    to->smem_bytes = launch->config->smem_bytes;
    to->params_bytes = k->total_bytes;
    ok = device_pack(
        &real, k->nr_params, k->bytes_each, k->offsets, to->params, k->total_bytes, result);
    free(args);
    return ok;
}

/* What a reply to a launch means for the candidate. */
static void judge(struct device_result *result, const struct device_launch *launch,
    const struct worker_reply *reply)
{
    static const enum verdict verdicts[] = {
        [WORKER_GOOD] = VERDICT_OK,
        [WORKER_NO_MEMORY] = VERDICT_LAUNCH_FAILED,
        [WORKER_REFUSED] = VERDICT_LAUNCH_FAILED,
        [WORKER_NOT_KNOWN] = VERDICT_UNSUPPORTED,
        [WORKER_FAULTED] = VERDICT_FAULT,
        [WORKER_TIMED_OUT] = VERDICT_TIMEOUT,
        [WORKER_BROKEN] = VERDICT_FAULT,
    };

    result->verdict = verdicts[reply->outcome];
    result->line = reply->outcome == WORKER_GOOD ? 0 : launch->line;
    if (reply->outcome != WORKER_GOOD)
        snprintf(result->text, sizeof(result->text), "%s: %s", launch->config->kernel, reply->text);
}

static void judge_end(struct device_result *result, const struct device_launch *launch,
    enum worker_end end, double deadline_s, const struct err *why)
{
    result->line = launch->line;
    result->verdict = end == WORKER_DEADLINE ? VERDICT_TIMEOUT : VERDICT_FAULT;
    if (end == WORKER_DEADLINE)
        snprintf(result->text, sizeof(result->text),
            "%s did not end within %g s, and was ended with its process", launch->config->kernel,
            deadline_s);
    else
        snprintf(
            result->text, sizeof(result->text), "%s: %.500s", launch->config->kernel, why->text);
}

/* Bring all that the launches need into the present worker, and put them into its window. */
static enum plain set_up(struct device_gpu *gpu, struct device_module *m,
    const struct device_launch *launches, unsigned nr, struct device_result *result,
    struct err *err)
{
    struct worker_launch *to;
    enum plain done = bring_all(gpu, err);

    if (done == PLAIN_DONE)
        done = bring_module(gpu, m, result, err);
    if (done != PLAIN_DONE)
        return done;
    to = worker_window(gpu->worker);
    for (unsigned i = 0; i < nr; i++)
        if (!pack(gpu, m, &launches[i], &to[i], result))
            return PLAIN_FAILED;
    return PLAIN_DONE;
}

/* Run or time launches. False: err. The verdict may be anything; whatever broke is gone, and the
 * next call finds a new worker. */
static bool run(struct device_gpu *gpu, struct device_module *m, struct worker_request *request,
    const struct device_launch *launches, unsigned nr, double deadline_s,
    struct device_result *result, struct err *err)
{
    struct worker_reply reply;
    enum plain done = PLAIN_AGAIN;
    enum worker_end end;
    struct err why;

    if (nr > WORKER_MAX_LAUNCHES) {
        say(result, VERDICT_UNSUPPORTED, launches[0].line, "too many launches");
        return true;
    }
    for (int i = 0; done == PLAIN_AGAIN && i < 2; i++)
        done = set_up(gpu, m, launches, nr, result, err);
    if (done != PLAIN_DONE)
        return result->verdict != VERDICT_OK;
    request->module = m->number;
    request->nr_launches = nr;
    end = worker_call(gpu->worker, request, &reply, deadline_s, &why);
    if (end != WORKER_OK)
        judge_end(result, &launches[0], end, deadline_s, &why);
    else
        judge(result, &launches[0], &reply);
    if (end != WORKER_OK || (reply.outcome != WORKER_GOOD && reply.outcome != WORKER_REFUSED &&
                                reply.outcome != WORKER_NO_MEMORY))
        drop_worker(gpu);
    return true;
}

static bool gpu_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_request request = {.op = WORKER_LAUNCH};

    return run(gpu, module, &request, launch, 1, gpu->launch_s, result, err);
}

/* ---- time ---- */

static void fill_counters(
    struct device_gpu *gpu, const struct device_launch *launch, double time_ns, struct counters *c)
{
    const struct launch_config *config = launch->config;
    const struct kernel_facts *facts = launch->facts;
    const unsigned threads = config->block[0] * config->block[1] * config->block[2];

    counters_set(c, METRIC_TIME_NS, time_ns, gpu->ops.time_from);
    counters_set(c, METRIC_REGISTERS, facts->registers, PROV_COUNTED);
    counters_set(c, METRIC_SMEM_STATIC, facts->smem_static_bytes, PROV_COUNTED);
    counters_set(c, METRIC_SMEM_DYNAMIC, config->smem_bytes, PROV_COUNTED);
    counters_set(
        c, METRIC_SPILL_BYTES, facts->spill_store_bytes + facts->spill_load_bytes, PROV_COUNTED);
    counters_set(c, METRIC_BLOCK_THREADS, threads, PROV_COUNTED);
    c->blocks_all = c->blocks_run = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
}

/* The whole is what was timed with care; its parts share it as they did when timed one by one. */
static void fill_profile(struct device_gpu *gpu, const struct device_measure *measure,
    const struct worker_time *time, struct arena *arena, struct profile *profile)
{
    const unsigned nr = measure->nr_launches;
    double sum = 0;

    profile->nr_launches = nr;
    profile->launches = arena_array(arena, nr, sizeof(*profile->launches));
    profile->configs = arena_array(arena, nr, sizeof(*profile->configs));
    for (unsigned i = 0; i < nr; i++)
        sum += time->launch_ns[i];
    for (unsigned i = 0; i < nr; i++) {
        const double share = nr > 1 && sum > 0 ? time->launch_ns[i] / sum : 1.0 / nr;

        fill_counters(gpu, &measure->launches[i], time->time_ns * share, &profile->launches[i]);
        profile->configs[i] = *measure->launches[i].config;
    }
    profile_sum(profile, arena);
    profile->time_ns = time->time_ns;
    profile->time_low_ns = time->low_ns;
    profile->time_high_ns = time->high_ns;
}

static bool gpu_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    const double limit_s = measure->time_limit_s > 0 ? measure->time_limit_s : gpu->measure_s;
    struct worker_request request = {.op = WORKER_MEASURE, .time_limit_s = limit_s};
    struct worker_time time;

    if (measure->nr_launches > 0)
        request.seed = measure->launches[0].seed;
    if (!run(gpu, module, &request, measure->launches, measure->nr_launches,
            limit_s + gpu->launch_s, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    memcpy(&time, worker_window(gpu->worker), sizeof(time));
    fill_profile(gpu, measure, &time, arena, profile);
    return true;
}

/* ---- making and unmaking ---- */

static void gpu_destroy(struct device *device)
{
    struct device_gpu *gpu = gpu_of(device);

    drop_worker(gpu);
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        free(gpu->buffers[i]->contents);
        free(gpu->buffers[i]);
    }
    free(gpu->buffers);
    gpu_unlock(gpu->lock);
    free(gpu);
}

static const struct device_ops gpu_ops = {
    .name = "gpu",
    .time_from = PROV_MEASURED,
    .destroy = gpu_destroy,
    .load = gpu_load,
    .unload = gpu_unload,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .write = gpu_write,
    .read = gpu_read,
    .fill = gpu_fill,
    .launch = gpu_launch,
    .measure = gpu_measure,
};

/* The profile of the nearest chip that we know, with what the driver says of this one. */
static bool describe_chip(struct device_gpu *gpu, struct err *err)
{
    const struct worker_info *info = &gpu->info;
    const struct chip *nearest = chip_find(strstr(info->name, "H200") != NULL ? "h200" : "h100");

    if (info->major != 9 || info->minor != 0)
        return err_set(err,
            "%s is of compute capability %d.%d; only 9.0 (H100, H200) is known here", info->name,
            info->major, info->minor);
    gpu->chip = *nearest;
    gpu->chip.name = gpu->info.name;
    if (info->software)
        return true; /* it is that chip */
    if (info->nr_sms > 0)
        gpu->chip.nr_sms = (unsigned)info->nr_sms;
    if (info->clock_khz > 0)
        gpu->chip.clock_hz = info->clock_khz * 1e3;
    if (info->l2_bytes > 0)
        gpu->chip.l2_bytes = (uint64_t)info->l2_bytes;
    if (info->memory_clock_khz > 0 && info->memory_bus_bits > 0)
        gpu->chip.dram_bytes_per_s = 2e3 * info->memory_clock_khz * (info->memory_bus_bits / 8.0);
    gpu->chip.dram_bytes = info->memory_bytes;
    return true;
}

static uint64_t host_memory_share(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 : 0;
}

struct device *device_gpu_create(
    unsigned ordinal, const struct device_options *options, struct err *err)
{
    struct device_gpu *gpu = xcalloc(1, sizeof(*gpu));

    gpu->lock = -1;
    gpu->ops = gpu_ops;
    gpu->base.ops = &gpu->ops;
    gpu->base.chip = &gpu->chip;
    gpu->next_address = FIRST_ADDRESS;
    gpu->options = (struct worker_options){
        .ordinal = ordinal, .start_s = start_s, .memory_bytes = host_memory_share()};
    if (!have_worker(gpu, err) || !describe_chip(gpu, err) ||
        !gpu_lock(gpu->info.uuid, &gpu->lock, err)) {
        gpu_destroy(&gpu->base);
        return NULL;
    }
    if (gpu->info.software)
        gpu->ops.time_from = PROV_MODELLED;
    if (!gpu->info.sandboxed)
        log_note("the GPU's worker process runs without a sandbox: this kernel has no Landlock or "
                 "no seccomp");
    gpu->launch_s = options->deadline_s > 0 ? options->deadline_s
                    : gpu->info.software    ? software_launch_s
                                            : launch_s;
    gpu->measure_s = gpu->info.software ? software_measure_s : measure_s;
    return &gpu->base;
}
