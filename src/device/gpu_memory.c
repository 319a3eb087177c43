/* Owns the buffers of a GPU and the contents that the host last wrote to them, which must survive
 * the worker. Callers see addresses of ours, which stay the same when a new worker gives the
 * buffers new real addresses. */
#include "device/gpu_state.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_GAP (UINT64_C(1) << 20)

struct gpu_buffer *gpu_find_buffer(struct device_gpu *gpu, uint64_t address, uint64_t nr)
{
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct gpu_buffer *b = gpu->buffers[i];

        if (address >= b->address && address - b->address <= b->bytes &&
            nr <= b->bytes - (address - b->address))
            return b;
    }
    return NULL;
}

static enum gpu_end send_bytes(
    struct device_gpu *gpu, uint64_t real, const uint8_t *bytes, uint64_t nr, struct err *err)
{
    struct worker_reply reply;
    enum gpu_end done = GPU_DONE;

    for (uint64_t at = 0; done == GPU_DONE && at < nr; at += WORKER_WINDOW_BYTES) {
        const uint64_t some = nr - at < WORKER_WINDOW_BYTES ? nr - at : WORKER_WINDOW_BYTES;

        memcpy(worker_window(gpu->worker), bytes + at, some);
        done = gpu_plain_call(gpu,
            &(struct worker_request){.op = WORKER_WRITE, .address = real + at, .bytes = some},
            &reply, err);
    }
    return done;
}

static enum gpu_end send_fill(
    struct device_gpu *gpu, uint64_t real, uint8_t byte, uint64_t nr, struct err *err)
{
    struct worker_reply reply;

    return gpu_plain_call(gpu,
        &(struct worker_request){.op = WORKER_FILL, .address = real, .bytes = nr, .value = byte},
        &reply, err);
}

/* Makes the buffer real in the present worker, with the contents that the host last wrote. */
static enum gpu_end bring_buffer(struct device_gpu *gpu, struct gpu_buffer *b, struct err *err)
{
    struct worker_reply reply;
    enum gpu_end done;

    if (gpu->worker != NULL && b->generation == gpu->generation)
        return GPU_DONE;
    done = gpu_plain_call(
        gpu, &(struct worker_request){.op = WORKER_ALLOC, .bytes = b->bytes}, &reply, err);
    if (done != GPU_DONE)
        return done;
    b->real = reply.address;
    b->generation = gpu->generation;
    if (b->contents != NULL)
        done = send_bytes(gpu, b->real, b->contents, b->bytes, err);
    else
        done = send_fill(gpu, b->real, b->fill, b->bytes, err);
    if (done != GPU_DONE)
        b->generation = 0;
    return done;
}

enum gpu_end gpu_bring_buffers(struct device_gpu *gpu, struct err *err)
{
    enum gpu_end done = GPU_DONE;

    for (size_t i = 0; done == GPU_DONE && i < gpu->nr_buffers; i++)
        done = bring_buffer(gpu, gpu->buffers[i], err);
    return done;
}

uint64_t gpu_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct gpu_buffer *b = xcalloc(1, sizeof(*b));
    enum gpu_end done = GPU_AGAIN;

    b->bytes = bytes;
    b->address = gpu->next_address;
    b->fill = 0xAA;
    for (int i = 0; done == GPU_AGAIN && i < 2; i++)
        done = bring_buffer(gpu, b, err);
    if (done != GPU_DONE) {
        free(b);
        err_wrap(err, "%llu bytes for %s", (unsigned long long)bytes, name);
        return 0;
    }
    gpu->next_address += round_up(bytes, ADDRESS_GAP) + ADDRESS_GAP;
    gpu->buffers =
        grow(gpu->buffers, &gpu->cap_buffers, gpu->nr_buffers + 1, sizeof(struct gpu_buffer *));
    gpu->buffers[gpu->nr_buffers++] = b;
    return b->address;
}

void gpu_free(struct device *device, uint64_t address)
{
    struct device_gpu *gpu = gpu_of(device);
    struct worker_reply reply;
    struct err ignored;

    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        struct gpu_buffer *b = gpu->buffers[i];

        if (b->address != address)
            continue;
        if (gpu->worker != NULL && b->generation == gpu->generation)
            gpu_plain_call(gpu, &(struct worker_request){.op = WORKER_FREE, .address = b->real},
                &reply, &ignored);
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

static uint8_t *contents_of(struct gpu_buffer *b)
{
    if (b->contents == NULL) {
        b->contents = xmalloc(b->bytes + 1);
        memset(b->contents, b->fill, b->bytes);
    }
    return b->contents;
}

bool gpu_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct gpu_buffer *b = gpu_find_buffer(gpu, address, nr);
    enum gpu_end done = GPU_AGAIN;

    if (b == NULL)
        return outside(address, nr, "write", err);
    memcpy(contents_of(b) + (address - b->address), bytes, nr);
    for (int i = 0; done == GPU_AGAIN && i < 2; i++) {
        done = bring_buffer(gpu, b, err);
        if (done == GPU_DONE)
            done = send_bytes(gpu, b->real + (address - b->address), bytes, nr, err);
    }
    return done == GPU_DONE;
}

bool gpu_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr, bool initialised,
    struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct gpu_buffer *b = gpu_find_buffer(gpu, address, nr);
    enum gpu_end done = GPU_AGAIN;

    if (b == NULL)
        return outside(address, nr, "fill", err);
    if (nr == b->bytes) {
        free(b->contents);
        b->contents = NULL;
        b->fill = byte;
    } else {
        memset(contents_of(b) + (address - b->address), byte, nr);
    }
    for (int i = 0; done == GPU_AGAIN && i < 2; i++) {
        done = bring_buffer(gpu, b, err);
        if (done == GPU_DONE)
            done = send_fill(gpu, b->real + (address - b->address), byte, nr, err);
    }
    return done == GPU_DONE;
}

bool gpu_read(struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    struct device_gpu *gpu = gpu_of(device);
    struct gpu_buffer *b = gpu_find_buffer(gpu, address, nr);
    struct worker_reply reply;

    if (b == NULL)
        return outside(address, nr, "read", err);
    for (uint64_t at = 0; at < nr; at += WORKER_WINDOW_BYTES) {
        const uint64_t some = nr - at < WORKER_WINDOW_BYTES ? nr - at : WORKER_WINDOW_BYTES;
        enum gpu_end done = GPU_AGAIN;

        for (int i = 0; done == GPU_AGAIN && i < 2; i++) {
            done = bring_buffer(gpu, b, err);
            if (done == GPU_DONE)
                done = gpu_plain_call(gpu,
                    &(struct worker_request){.op = WORKER_READ,
                        .address = b->real + (address - b->address) + at,
                        .bytes = some},
                    &reply, err);
        }
        if (done != GPU_DONE)
            return false;
        memcpy((uint8_t *)bytes + at, worker_window(gpu->worker), some);
    }
    return true;
}
