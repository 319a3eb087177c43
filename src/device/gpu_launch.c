/* Owns the modules of a GPU, whose code must survive the worker, and the launches of their kernels:
 * the requests to the worker, and the verdicts from its answers. */
#include "device/gpu_state.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Loads a module into the worker; *result has a verdict when the driver does not take the code. */
static enum gpu_end gpu_bring_module(
    struct device_gpu *gpu, struct device_module *m, struct device_result *result, struct err *err)
{
    const struct worker_request request = {.op = WORKER_LOAD};
    struct worker_reply reply;
    enum gpu_end done;

    if (gpu->worker != NULL && m->generation == gpu->generation)
        return GPU_DONE;
    if (!gpu_have_worker(gpu, err))
        return GPU_FAILED;
    memcpy(worker_window(gpu->worker), m->image, m->image_bytes);
    done = gpu_plain_call(gpu, &request, &reply, err);
    if (done == GPU_DONE) {
        m->generation = gpu->generation;
        m->number = reply.module;
        memcpy(m->image, worker_window(gpu->worker), sizeof(struct worker_load));
    } else if (gpu->worker != NULL && done == GPU_FAILED) {
        say(result,
            reply.outcome == WORKER_NOT_KNOWN   ? VERDICT_UNSUPPORTED
            : reply.outcome == WORKER_NO_MEMORY ? VERDICT_LAUNCH_FAILED
                                                : VERDICT_NO_COMPILE,
            0, reply.text);
    }
    return done;
}

bool gpu_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct device_module *m = make_module(compilation);
    enum gpu_end done = GPU_AGAIN;

    if (m == NULL) {
        say(result, VERDICT_UNSUPPORTED, 0, "the module is too large for the worker's window");
        return true;
    }
    for (int i = 0; done == GPU_AGAIN && i < 2; i++)
        done = gpu_bring_module(gpu, m, result, err);
    if (done == GPU_DONE) {
        *module = m;
        return true;
    }
    free(m->image);
    free(m);
    if (done == GPU_AGAIN) /* two workers died: the driver's compiler does not survive this code */
        say(result, VERDICT_NO_COMPILE, 0, "the driver fails on loading it");
    return result->verdict != VERDICT_OK;
}

void gpu_unload(struct device *device, struct device_module *m)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_reply reply;
    struct err ignored;

    if (gpu->worker != NULL && m->generation == gpu->generation)
        gpu_plain_call(gpu, &(struct worker_request){.op = WORKER_UNLOAD, .module = m->number},
            &reply, &ignored);
    free(m->image);
    free(m);
}

/* A worker that is gone takes the variables with it, and a new one loads the module anew. */
uint64_t gpu_reset(struct device *device, struct device_module *m)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_reply reply;
    struct err ignored;

    if (gpu->worker != NULL && m->generation == gpu->generation && load_of(m)->nr_variables > 0)
        gpu_plain_call(gpu, &(struct worker_request){.op = WORKER_RESET, .module = m->number},
            &reply, &ignored);
    return 0;
}

/* ---- launches ---- */

static int kernel_number(const struct device_module *m, const char *lowered)
{
    for (unsigned i = 0; i < m->nr_kernels; i++)
        if (strcmp(load_of(m)->kernels[i].name, lowered) == 0)
            return (int)i;
    return -1;
}

/* Where tensor maps will lie among the parameters. */
static void note_maps(
    const struct device_launch *launch, const struct worker_kernel *k, struct worker_launch *to)
{
    unsigned p = 0;

    to->nr_maps = 0;
    for (unsigned i = 0; i < launch->nr_args && p < k->nr_params;
         i += 1 + launch->args[i].nr_fields)
        if (launch->args[i].kind == ARG_TENSOR_MAP && to->nr_maps < WORKER_MAX_MAPS)
            to->maps[to->nr_maps++] = k->offsets[p++];
        else
            p++;
}

/* Packs one launch with the real addresses of a set. False: the verdict says why not. */
static bool pack(struct device_gpu *gpu, const struct device_module *m,
    const struct device_launch *launch, unsigned set, struct worker_launch *to,
    struct device_result *result)
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
        const struct gpu_buffer *b;

        args[i] = launch->args[i];
        if (args[i].kind == ARG_TEXTURE) {
            free(args);
            return say(result, VERDICT_UNSUPPORTED, launch->line,
                "textures run on the emulator only as yet (--device emu)");
        }
        if (args[i].kind != ARG_ARRAY && args[i].kind != ARG_TENSOR_MAP)
            continue;
        b = gpu_find_buffer(gpu, args[i].address, 0);
        if (b != NULL)
            args[i].address = gpu_address(b, set) + (args[i].address - b->address);
    }
    real.args = args;
    to->kernel = (uint32_t)number;
    memcpy(to->grid, launch->config->grid, sizeof(to->grid));
    memcpy(to->block, launch->config->block, sizeof(to->block));
    memcpy(to->cluster, launch->config->cluster, sizeof(to->cluster));
    to->smem_bytes = launch->config->smem_bytes;
    to->params_bytes = k->total_bytes;
    note_maps(&real, k, to);
    ok = device_pack(
        &real, k->nr_params, k->bytes_each, k->offsets, to->params, k->total_bytes, result);
    free(args);
    return ok;
}

/* Turns the reply to a launch into the candidate's verdict. */
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

static bool pack_all(struct device_gpu *gpu, const struct gpu_job *job, unsigned nr_sets,
    struct device_result *result)
{
    struct worker_launch *to = worker_window(gpu->worker);

    for (unsigned set = 0; set < nr_sets; set++) {
        for (unsigned i = 0; i < job->nr_launches; i++)
            if (!pack(gpu, job->module, &job->launches[i], set, to++, result))
                return false;
        for (unsigned i = 0; i < job->nr_baseline; i++)
            if (!pack(gpu, job->baseline_module, &job->baseline[i], set, to++, result))
                return false;
    }
    gpu_list_copies(gpu, nr_sets, to);
    return true;
}

/* Copies buffers into the module's variables before the launches; back: the other way, after them.
 */
static enum gpu_end copy_symbols(struct device_gpu *gpu, const struct device_module *m,
    const struct device_launch *launch, bool back, struct device_result *result, struct err *err)
{
    enum gpu_end done = GPU_DONE;

    for (unsigned i = 0; done == GPU_DONE && i < launch->nr_symbols; i++) {
        const struct device_symbol *s = &launch->symbols[i];
        struct gpu_buffer *b = gpu_find_buffer(gpu, s->address, s->bytes);

        if (back && !s->gives_back)
            continue;
        struct worker_reply reply;

        snprintf(worker_window(gpu->worker), WORKER_NAME_BYTES, "%s", s->name);
        done = gpu_plain_call(
            gpu, &(struct worker_request){.op = WORKER_SYMBOL, .module = m->number}, &reply, err);
        if (done != GPU_DONE)
            break;
        if (!b || reply.bytes < s->bytes) {
            say(result, VERDICT_LAUNCH_FAILED, launch->line, device_symbol_misfit);
            return GPU_FAILED;
        }
        const uint64_t buffer = gpu_address(b, 0) + (s->address - b->address);

        done = gpu_plain_call(gpu,
            &(struct worker_request){.op = WORKER_COPY,
                .address = back ? buffer : reply.address,
                .from = back ? reply.address : buffer,
                .bytes = s->bytes},
            &reply, err);
    }
    return done;
}

/* Brings all that the launches need into the present worker, and puts the launches into its window.
 */
static enum gpu_end set_up(struct device_gpu *gpu, const struct gpu_job *job,
    struct worker_request *request, struct device_result *result, struct err *err)
{
    enum gpu_end done = gpu_bring_buffers(gpu, err);

    if (done == GPU_DONE)
        done = gpu_bring_module(gpu, job->module, result, err);
    if (done == GPU_DONE && job->nr_baseline > 0)
        done = gpu_bring_module(gpu, job->baseline_module, result, err);
    if (done == GPU_DONE)
        done = copy_symbols(gpu, job->module, job->launches, false, result, err);
    if (done == GPU_DONE && job->nr_baseline > 0)
        done = copy_symbols(gpu, job->baseline_module, job->baseline, false, result, err);
    if (done == GPU_DONE && (request->op == WORKER_MEASURE || request->op == WORKER_ENERGY))
        done = gpu_make_sets(gpu, job, request, err);
    if (done != GPU_DONE)
        return done;
    request->module = job->module->number;
    request->nr_launches = job->nr_launches;
    request->nr_baseline = job->nr_baseline;
    if (job->nr_baseline > 0)
        request->baseline = job->baseline_module->number;
    return pack_all(gpu, job, request->nr_sets > 0 ? request->nr_sets : 1, result) ? GPU_DONE
                                                                                   : GPU_FAILED;
}

bool gpu_run(struct device_gpu *gpu, const struct gpu_job *job, struct worker_request *request,
    double deadline_s, struct device_result *result, struct err *err)
{
    struct worker_reply reply;
    enum gpu_end done = GPU_AGAIN;
    enum worker_end end;
    struct err why;

    if (job->nr_launches + job->nr_baseline > WORKER_MAX_LAUNCHES) {
        say(result, VERDICT_UNSUPPORTED, job->launches[0].line, "too many launches");
        return true;
    }
    for (int i = 0; done == GPU_AGAIN && i < 2; i++)
        done = set_up(gpu, job, request, result, err);
    if (done != GPU_DONE) {
        gpu_drop_sets(gpu);
        return result->verdict != VERDICT_OK;
    }
    end = worker_call(gpu->worker, request, &reply, deadline_s, &why);
    if (end != WORKER_OK)
        judge_end(result, &job->launches[0], end, deadline_s, &why);
    else
        judge(result, &job->launches[0], &reply);
    if (end != WORKER_OK || (reply.outcome != WORKER_GOOD && reply.outcome != WORKER_REFUSED &&
                                reply.outcome != WORKER_NO_MEMORY))
        gpu_drop_worker(gpu);
    return true;
}

bool gpu_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_request request = {.op = WORKER_LAUNCH};
    const struct gpu_job job = {.module = module, .launches = launch, .nr_launches = 1};

    if (!gpu_run(gpu, &job, &request, gpu->launch_s, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    switch (copy_symbols(gpu, module, launch, true, result, err)) {
    case GPU_AGAIN: /* the worker is gone, and with it all that the launch left behind */
        say(result, VERDICT_FAULT, launch->line, "its variables could not be read after it");
        return true;
    case GPU_FAILED:
        return result->verdict != VERDICT_OK;
    default:
        return true;
    }
}
