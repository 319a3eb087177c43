/* Owns the sets of buffers that timed runs take in turn: other addresses, and the same contents in
 * another order where the order means nothing, so that a kernel gains nothing from remembered
 * addresses, from results that it kept, or from the lines that the last run left in L2. Also puts
 * back contents that a run has overwritten, so that each run does the same work. */
#include "device/gpu_state.h"

#include <string.h>

/* The limit on the bytes of all sets beyond the first. A card has its own memory for them; the
 * software driver takes the host's. */
static const uint64_t software_most_bytes = UINT64_C(256) << 20;

uint64_t gpu_address(const struct gpu_buffer *b, unsigned set)
{
    return set == 0 || b->sets[set - 1] == 0 ? b->real : b->sets[set - 1];
}

static bool is_used_by(
    const struct gpu_buffer *b, const struct device_launch *launches, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        for (unsigned j = 0; j < launches[i].nr_args; j++) {
            const struct device_arg *arg = &launches[i].args[j];

            if (arg->kind == ARG_ARRAY && arg->address >= b->address &&
                arg->address - b->address <= b->bytes)
                return true;
        }
    return false;
}

static bool is_used(const struct gpu_buffer *b, const struct gpu_job *job)
{
    return is_used_by(b, job->launches, job->nr_launches) ||
           is_used_by(b, job->baseline, job->nr_baseline);
}

static bool is_restored(const struct gpu_buffer *b, const struct gpu_job *job)
{
    for (unsigned i = 0; i < job->nr_restore; i++)
        if (job->restore[i] >= b->address && job->restore[i] - b->address <= b->bytes)
            return true;
    return false;
}

/* By how many bytes the contents are rotated from one set to the next. */
static uint64_t rotation(const struct gpu_buffer *b, const struct gpu_job *job)
{
    for (unsigned i = 0; i < job->nr_rotate; i++)
        if (job->rotate[i].address >= b->address && job->rotate[i].address - b->address <= b->bytes)
            return job->rotate[i].bytes;
    return 0;
}

/* A copy of the buffer as it is now, rotated by some bytes. */
static enum gpu_end make_copy(struct device_gpu *gpu, const struct gpu_buffer *b, uint64_t rotated,
    uint64_t *address, struct err *err)
{
    struct worker_reply reply;
    enum gpu_end done = gpu_plain_call(
        gpu, &(struct worker_request){.op = WORKER_ALLOC, .bytes = b->bytes}, &reply, err);

    if (done != GPU_DONE)
        return done;
    *address = reply.address;
    done = gpu_plain_call(gpu,
        &(struct worker_request){.op = WORKER_COPY,
            .address = *address,
            .from = b->real + rotated,
            .bytes = b->bytes - rotated},
        &reply, err);
    if (done != GPU_DONE || rotated == 0)
        return done;
    return gpu_plain_call(gpu,
        &(struct worker_request){.op = WORKER_COPY,
            .address = *address + b->bytes - rotated,
            .from = b->real,
            .bytes = rotated},
        &reply, err);
}

static void drop_copy(struct device_gpu *gpu, uint64_t *address)
{
    struct worker_reply reply;
    struct err ignored;

    if (*address != 0 && gpu->worker != NULL)
        gpu_plain_call(gpu, &(struct worker_request){.op = WORKER_FREE, .address = *address},
            &reply, &ignored);
    *address = 0;
}

void gpu_drop_sets(struct device_gpu *gpu)
{
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct gpu_buffer *b = gpu->buffers[i];

        for (unsigned set = 1; set < WORKER_MAX_SETS; set++)
            drop_copy(gpu, &b->sets[set - 1]);
        drop_copy(gpu, &b->pristine);
    }
}

/* How many sets fit into a quarter of the card's memory. */
static unsigned affordable(const struct device_gpu *gpu, uint64_t set_bytes)
{
    const uint64_t most = gpu->info.software ? software_most_bytes : gpu->info.memory_bytes / 4;

    for (unsigned nr = WORKER_MAX_SETS; nr > 1; nr--)
        if (set_bytes * (nr - 1) <= most)
            return nr;
    return 1;
}

static enum gpu_end make_copies(struct device_gpu *gpu, struct gpu_buffer *b,
    const struct gpu_job *job, struct worker_request *request, struct err *err)
{
    const uint64_t step = rotation(b, job);
    enum gpu_end done = GPU_DONE;

    for (unsigned set = 1; done == GPU_DONE && set < request->nr_sets; set++)
        done = make_copy(gpu, b, step ? set * step % b->bytes : 0, &b->sets[set - 1], err);
    if (done != GPU_DONE || !is_restored(b, job))
        return done;
    request->nr_copies++;
    return make_copy(gpu, b, 0, &b->pristine, err);
}

enum gpu_end gpu_make_sets(struct device_gpu *gpu, const struct gpu_job *job,
    struct worker_request *request, struct err *err)
{
    enum gpu_end done = GPU_DONE;
    uint64_t set_bytes = 0;
    struct err why;

    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct gpu_buffer *b = gpu->buffers[i];

        memset(b->sets, 0, sizeof(b->sets)); /* these are of an earlier worker */
        b->pristine = 0;
        set_bytes += is_used(b, job) ? b->bytes : 0;
    }
    request->nr_sets = affordable(gpu, set_bytes);
    while (request->nr_sets > 1 && (uint64_t)request->nr_sets *
                                           (job->nr_launches + job->nr_baseline + 1) *
                                           sizeof(struct worker_launch) >
                                       WORKER_WINDOW_BYTES)
        request->nr_sets--;
    request->nr_copies = 0;
    for (size_t i = 0; done == GPU_DONE && i < gpu->nr_buffers; i++)
        if (is_used(gpu->buffers[i], job))
            done = make_copies(gpu, gpu->buffers[i], job, request, &why);
    if (done == GPU_FAILED && gpu->worker != NULL) { /* memory is short: do without more sets */
        gpu_drop_sets(gpu);
        request->nr_sets = 1;
        request->nr_copies = 0;
        done = GPU_DONE;
    }
    if (done == GPU_FAILED)
        *err = why;
    return done;
}

void gpu_list_copies(const struct device_gpu *gpu, unsigned nr_sets, void *to)
{
    struct worker_copy *copy = to;

    for (unsigned set = 0; set < nr_sets; set++)
        for (size_t i = 0; i < gpu->nr_buffers; i++) {
            const struct gpu_buffer *b = gpu->buffers[i];

            if (b->pristine != 0)
                *copy++ = (struct worker_copy){gpu_address(b, set), b->pristine, b->bytes};
        }
}
