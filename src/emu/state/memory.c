/* Owns the buffers of global memory. */
#include "emu/state/memory.h"

#include "base/mem.h"
#include "emu/state/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BUFFER_ALIGN = 512,
    LARGE_PAGE = 2 << 20,
    VIEW_UNIT = 1 << 20 /* a process may have 65530 views */,
    FILL_PERIOD = 4 * VIEW_UNIT
};
/* From this size on, the pages of a buffer may be views of one period. Smaller buffers have large
 * pages, which are faster where a launch touches all of them. */
#define VIEWS_FROM (UINT64_C(256) << 20)
/* Bytes between two buffers, besides as many as the first of them has: addresses cost nothing. */
#define RED_ZONE (UINT64_C(16) << 20)

void memory_init(struct emu_memory *memory, uint64_t limit_bytes)
{
    const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);

    *memory = (struct emu_memory){.next = GLOBAL_FIRST,
        .limit = limit_bytes,
        .host_limit = pages * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3};
}

bool memory_is_over(const struct emu_memory *memory)
{
    unsigned long long all, resident;
    char line[64];
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;

    if (fd >= 0)
        close(fd);
    line[len > 0 ? len : 0] = '\0';
    return sscanf(line, "%llu %llu", &all, &resident) == 2 &&
           resident * (uint64_t)sysconf(_SC_PAGESIZE) > memory->host_limit;
}

static void buffer_destroy(struct mem_buffer *buffer)
{
    if (buffer->mapped_bytes)
        munmap(buffer->host, buffer->mapped_bytes);
    else if (!buffer->borrowed)
        free(buffer->host);
    free(buffer->init);
    free(buffer->touched);
    free(buffer);
}

void memory_finish(struct emu_memory *memory)
{
    for (size_t i = 0; i < memory->nr; i++)
        buffer_destroy(memory->buffers[i]);
    free(memory->buffers);
    *memory = (struct emu_memory){0};
}

/* Kernels walk over their buffers in strides of whole grids: large pages where the system has them.
 */
static void *host_memory(uint64_t bytes)
{
    void *memory = NULL;
    if (bytes < 2 * LARGE_PAGE)
        return malloc(bytes);
    if (posix_memalign(&memory, LARGE_PAGE, bytes) != 0)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Maps the pages of a buffer as private views of one period. A page gets memory of its own when it
 * is written. */
static bool map_views(struct mem_buffer *buffer, const void *bytes, uint64_t period)
{
    const int fd = memfd_create("period", MFD_CLOEXEC);
    bool ok = fd >= 0 && ftruncate(fd, (off_t)period) == 0;

    for (uint64_t done = 0; ok && done < period;) {
        const ssize_t nr = write(fd, (const uint8_t *)bytes + done, period - done);
        ok = nr > 0 || (nr < 0 && errno == EINTR);
        done += nr > 0 ? (uint64_t)nr : 0;
    }
    for (uint64_t at = 0; ok && at < buffer->mapped_bytes; at += period) {
        const uint64_t left = buffer->mapped_bytes - at;
        ok = mmap(buffer->host + at, left < period ? left : period, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) != MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Views where the buffer and the period are large, copies elsewhere and where the system has no
 * more views to give. */
static void put_periods(
    struct mem_buffer *buffer, uint64_t offset, uint64_t nr, const void *bytes, uint64_t period)
{
    uint8_t *host = buffer->host + offset;

    if (buffer->mapped_bytes && nr == buffer->bytes && period < nr && period % VIEW_UNIT == 0 &&
        map_views(buffer, bytes, period))
        return;
    for (uint64_t at = 0; at < nr; at += period)
        memcpy(host + at, bytes, nr - at < period ? nr - at : period);
}

void memory_repeat(
    struct mem_buffer *buffer, uint64_t offset, uint64_t nr, const void *bytes, uint64_t period)
{
    put_periods(buffer, offset, nr, bytes, period);
    memory_set_init(buffer, offset, nr, true);
}

void memory_fill(struct mem_buffer *buffer, uint64_t offset, uint64_t nr, uint8_t byte)
{
    if (!buffer->mapped_bytes) {
        memset(buffer->host + offset, byte, nr);
        return;
    }
    uint8_t *bytes = xmalloc(FILL_PERIOD);
    memset(bytes, byte, FILL_PERIOD);
    put_periods(buffer, offset, nr, bytes, FILL_PERIOD);
    free(bytes);
}

static bool get_host(struct mem_buffer *buffer)
{
    if (buffer->bytes < VIEWS_FROM) {
        buffer->host = host_memory(buffer->bytes + MEMORY_SLACK);
        return buffer->host != NULL;
    }
    const uint64_t bytes = (buffer->bytes + MEMORY_SLACK + VIEW_UNIT - 1) / VIEW_UNIT * VIEW_UNIT;
    void *host = mmap(
        NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
        return false;
    buffer->host = host;
    buffer->mapped_bytes = bytes;
    return true;
}

static void name_buffer(struct mem_buffer *buffer, const char *name)
{
    const size_t len = strlen(name);

    memcpy(buffer->name, name, len < sizeof(buffer->name) ? len : sizeof(buffer->name) - 1);
}

/* The buffers stay in the order of their addresses. */
static void add_buffer(struct emu_memory *memory, struct mem_buffer *buffer)
{
    size_t at = memory->nr;

    memory->buffers = grow(memory->buffers, &memory->cap, memory->nr + 1, sizeof(buffer));
    for (; at > 0 && memory->buffers[at - 1]->base > buffer->base; at--)
        memory->buffers[at] = memory->buffers[at - 1];
    memory->buffers[at] = buffer;
    memory->nr++;
}

struct mem_buffer *memory_reserve(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err)
{
    if (memory->limit - memory->used < bytes) {
        err_set(err, "out of device memory: %llu bytes for %s, %llu of %llu in use",
            (unsigned long long)bytes, name, (unsigned long long)memory->used,
            (unsigned long long)memory->limit);
        return NULL;
    }
    if (bytes < VIEWS_FROM && memory->held + bytes > memory->host_limit) {
        err_set(err,
            "out of host memory: %llu bytes for %s, %llu in use, and buffers below %llu MiB may "
            "take %llu",
            (unsigned long long)bytes, name, (unsigned long long)memory->held,
            (unsigned long long)(VIEWS_FROM >> 20), (unsigned long long)memory->host_limit);
        return NULL;
    }
    struct mem_buffer *buffer = xcalloc(1, sizeof(*buffer));
    buffer->bytes = bytes;
    buffer->base = memory->next;
    buffer->init = calloc(bytes / 8 + 1, 1);
    if (!buffer->init || !get_host(buffer)) {
        err_set(err, "out of host memory: %llu bytes for %s", (unsigned long long)bytes, name);
        buffer_destroy(buffer);
        return NULL;
    }
    buffer->fresh = buffer->pending = true;
    name_buffer(buffer, name);
    uint64_t span = (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    memory->next += 2 * span + RED_ZONE;
    memory->used += bytes;
    memory->held += buffer->mapped_bytes ? 0 : bytes;
    add_buffer(memory, buffer);
    return buffer;
}

void memory_settle(struct mem_buffer *buffer)
{
    if (!buffer->pending)
        return;
    buffer->pending = false;
    memory_fill(buffer, 0, buffer->bytes, MEMORY_POISON);
    memset(buffer->host + buffer->bytes, MEMORY_POISON, MEMORY_SLACK);
}

struct mem_buffer *memory_alloc(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err)
{
    struct mem_buffer *buffer = memory_reserve(memory, bytes, name, err);

    if (buffer)
        memory_settle(buffer);
    return buffer;
}

struct mem_buffer *memory_share(
    struct emu_memory *memory, void *host, uint64_t bytes, const char *name, struct err *err)
{
    const uint64_t base = (uintptr_t)host;

    for (size_t i = 0; i < memory->nr; i++) {
        const struct mem_buffer *b = memory->buffers[i];
        if (base < b->base + b->bytes && b->base < base + bytes) {
            err_set(err, "%s at 0x%llx would overlap %s", name, (unsigned long long)base, b->name);
            return NULL;
        }
    }
    struct mem_buffer *buffer = xcalloc(1, sizeof(*buffer));
    *buffer = (struct mem_buffer){
        .base = base, .bytes = bytes, .host = host, .borrowed = true, .all_init = true};
    buffer->init = calloc(bytes / 8 + 1, 1);
    if (!buffer->init)
        mem_die(bytes / 8 + 1);
    name_buffer(buffer, name);
    memory->used += bytes;
    memory->held += bytes;
    add_buffer(memory, buffer);
    return buffer;
}

/* Addresses that neither programs, heaps and stacks nor the emulator's other buffers have. */
static void *map_host(uint64_t bytes)
{
    static uint64_t next = HOST_FIRST;

    for (unsigned tries = 0; tries < 1000; tries++) {
        void *const at = (void *)(uintptr_t)__atomic_fetch_add(
            &next, (2 * bytes + RED_ZONE) / RED_ZONE * RED_ZONE, __ATOMIC_RELAXED);
        void *const host = mmap(at, bytes, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (host == at)
            return host;
        if (host != MAP_FAILED)
            munmap(host, bytes);
    }
    return NULL;
}

struct mem_buffer *memory_alloc_host(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t mapped = (bytes + MEMORY_SLACK + page - 1) / page * page;
    void *host = map_host(mapped);
    struct mem_buffer *buffer = host ? memory_share(memory, host, bytes, name, err) : NULL;

    if (!host)
        err_set(err, "out of host memory: %llu bytes for %s", (unsigned long long)bytes, name);
    else if (!buffer)
        munmap(host, mapped);
    if (!buffer)
        return NULL;
    buffer->borrowed = false;
    buffer->mapped_bytes = mapped;
    memory->held -= bytes;
    return buffer;
}

/* Index of the last buffer that starts at or below the address; nr when none. */
static size_t at_or_below(const struct emu_memory *memory, uint64_t address)
{
    size_t lo = 0, hi = memory->nr;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (memory->buffers[mid]->base <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? lo - 1 : memory->nr;
}

void memory_free(struct emu_memory *memory, uint64_t address)
{
    size_t i = at_or_below(memory, address);
    if (i == memory->nr || memory->buffers[i]->base != address)
        return;
    memory->used -= memory->buffers[i]->bytes;
    memory->held -= memory->buffers[i]->mapped_bytes ? 0 : memory->buffers[i]->bytes;
    buffer_destroy(memory->buffers[i]);
    memmove(memory->buffers + i, memory->buffers + i + 1,
        (memory->nr - i - 1) * sizeof(*memory->buffers));
    memory->nr--;
}

void memory_retire(struct emu_memory *memory, struct mem_buffer *buffer)
{
    memory->used -= buffer->bytes;
    memory->held -= buffer->mapped_bytes ? 0 : buffer->bytes;
    memory->heap_used -= buffer->heap_bytes;
    buffer->bytes = 0;
    buffer->freed = true;
}

void memory_sweep(struct emu_memory *memory, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->nr; i++) {
        struct mem_buffer *b = memory->buffers[i];
        if (b->heap && !b->freed && all)
            memory_retire(memory, b);
        if (b->freed)
            buffer_destroy(b);
        else
            memory->buffers[kept++] = b;
    }
    memory->nr = kept;
}

struct mem_buffer *memory_find(const struct emu_memory *memory, uint64_t address, uint64_t bytes)
{
    size_t i = at_or_below(memory, address);
    if (i == memory->nr)
        return NULL;
    struct mem_buffer *buffer = memory->buffers[i];
    uint64_t offset = address - buffer->base;
    return offset <= buffer->bytes && bytes <= buffer->bytes - offset ? buffer : NULL;
}

struct mem_buffer *memory_nearest(const struct emu_memory *memory, uint64_t address)
{
    if (memory->nr == 0)
        return NULL;
    size_t i = at_or_below(memory, address);
    if (i == memory->nr)
        return memory->buffers[0];
    struct mem_buffer *below = memory->buffers[i];
    if (i + 1 == memory->nr)
        return below;
    struct mem_buffer *above = memory->buffers[i + 1];
    uint64_t end = below->base + below->bytes;
    return address < end || address - end <= above->base - address ? below : above;
}

void memory_set_init(struct mem_buffer *buffer, uint64_t offset, uint64_t nr, bool initialised)
{
    buffer->fresh = buffer->pending = false;
    if (initialised && (buffer->all_init || nr == buffer->bytes)) {
        buffer->all_init = true;
        return;
    }
    if (buffer->all_init) {
        memset(buffer->init, 0xff, buffer->bytes / 8 + 1);
        buffer->all_init = false;
    }
    uint64_t i = offset, end = offset + nr;
    while (i < end) {
        if (i % 8 == 0 && end - i >= 8) {
            uint64_t bytes = (end - i) / 8;
            memset(buffer->init + i / 8, initialised ? 0xff : 0, bytes);
            i += bytes * 8;
            continue;
        }
        uint8_t bit = (uint8_t)(1u << i % 8);
        buffer->init[i / 8] = initialised ? buffer->init[i / 8] | bit : buffer->init[i / 8] & ~bit;
        i++;
    }
}

struct saved_buffer *memory_save(const struct emu_memory *memory, size_t *nr)
{
    struct saved_buffer *saved = xcalloc(memory->nr + 1, sizeof(*saved));
    *nr = 0;
    for (size_t i = 0; i < memory->nr; i++) {
        const struct mem_buffer *b = memory->buffers[i];
        if (b->constant || b->mapped_bytes || b->bytes == 0)
            continue;
        saved[*nr] = (struct saved_buffer){.base = b->base, .bytes = xmalloc(b->bytes)};
        memcpy(saved[(*nr)++].bytes, b->host, b->bytes);
    }
    return saved;
}

void memory_restore(struct emu_memory *memory, struct saved_buffer *saved, size_t nr)
{
    for (size_t i = 0; i < nr; i++) {
        struct mem_buffer *b = memory_find(memory, saved[i].base, 1);
        if (b)
            memcpy(b->host, saved[i].bytes, b->bytes);
        free(saved[i].bytes);
    }
    free(saved);
}

bool memory_is_init(const struct mem_buffer *buffer, uint64_t offset, uint64_t nr)
{
    uint64_t i = offset;
    while (!buffer->all_init && i < offset + nr) {
        if (i % 8 == 0 && offset + nr - i >= 8 && buffer->init[i / 8] == 0xff) {
            i += 8;
            continue;
        }
        if (!(buffer->init[i / 8] >> i % 8 & 1))
            return false;
        i++;
    }
    return true;
}

static uint64_t note_bytes(const struct mem_buffer *buffer)
{
    return buffer->bytes / 32 + 8; /* room for whole requests at the end */
}

void memory_note_buffer(struct mem_buffer *buffer)
{
    if (!buffer->touched)
        buffer->touched = xcalloc(note_bytes(buffer), 1);
}

void memory_begin_launch(struct emu_memory *memory, bool counts, bool notes_writes)
{
    for (size_t i = 0; i < memory->nr; i++) {
        struct mem_buffer *b = memory->buffers[i];

        b->stored = false;
        b->all_init |= !notes_writes;
        if (counts)
            memory_note_buffer(b);
    }
}

/* Counts the bytes, each 0 or 1, that are 1, and sets them to 0: eight sums side by side, and then
 * the sum of these, which is less than 256. */
static uint64_t take_ones(uint8_t *bytes, uint64_t nr)
{
    enum { RUN = 31 };
    uint64_t ones = 0, i = 0;
    for (; i + 8 * RUN <= nr; i += 8 * RUN) {
        uint64_t sums = 0, eight;
        for (unsigned j = 0; j < RUN; j++) {
            memcpy(&eight, bytes + i + (size_t)8 * j, 8);
            sums += eight;
        }
        ones += sums * UINT64_C(0x0101010101010101) >> 56;
        if (sums)
            memset(bytes + i, 0, 8 * RUN);
    }
    for (; i < nr; i++) {
        ones += bytes[i];
        bytes[i] = 0;
    }
    return ones;
}

uint64_t memory_count_touched(struct emu_memory *memory, double scale, double *loaded_bytes)
{
    uint64_t nr = 0;
    *loaded_bytes = 0;
    for (size_t i = 0; i < memory->nr; i++) {
        struct mem_buffer *buffer = memory->buffers[i];
        const uint64_t sectors = (buffer->bytes + 31) / 32;
        buffer->nr_touched = buffer->touched ? take_ones(buffer->touched, sectors) : 0;
        if (buffer->touched) /* past the end: whole requests */
            memset(buffer->touched + sectors, 0, note_bytes(buffer) - sectors);
        nr += buffer->nr_touched;
        const double most = 32.0 * (double)sectors,
                     bytes = 32.0 * scale * (double)buffer->nr_touched;
        if (buffer->loaded)
            *loaded_bytes += bytes < most ? bytes : most;
        buffer->loaded = false;
    }
    return nr;
}
