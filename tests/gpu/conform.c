/* Runs on a GPU what the tests of the emulator ran (tests/unit/emu/emu_record.h) and compares bit
 * by bit:
 *
 *     keet-conform-gpu [--jobs N] [--every N] [--only TEXT] [--not TEXT] [--known FILE]
 *                      [--stall SECONDS] [--limit SECONDS] OUT RECORDED
 *         RECORDED/PROGRAM.records, .blobs   what KEET_RECORD_FORMS=RECORDED made PROGRAM write
 *         OUT/forms.tsv       each form that is not the same: program, number, outcome, words
 *         OUT/summary.tsv     by program and operation: forms, and how many of each outcome
 *         OUT/chip.N.bin      what the GPU gave, xor what the emulator gave, where they are not the
 *                             same (struct chip_result)
 *         OUT/same.txt        the hashes of the launches that were the same; those of FILE are left
 *                             out
 *     keet-conform-gpu --list RECORDED       program, number, offset and bytes of buffer 0, hash of
 *                                            all that the launch is, form
 *
 * N processes share the work, each with a context of its own; one that crashes or stalls, or whose
 * context a fault spoils, is replaced, and goes on behind that form. Exit status: 0 the same, 1 not
 * the same, 2 a broken environment. */
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "core/tensor_map.h"
#include "nv/driver.h"
#include "unit/emu/emu_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum outcome {
    SAME,
    WITHIN, /* the manual's tolerance of an approximation */
    NANS,   /* but for the bits of NaNs */
    DIFFERS,
    REFUSED,  /* by the compiler of the GPU's driver */
    ACCEPTED, /* a text that the emulator's parser refuses */
    FAULT,
    STALLED,
    CRASHED,
    NR_OUTCOMES
};
static const char *const outcome_names[] = {
    "same", "within", "nans", "differs", "refused", "accepted", "fault", "stalled", "crashed"};

static bool is_wrong(enum outcome outcome)
{
    return outcome != SAME && outcome != WITHIN && outcome != ACCEPTED;
}

/* One program's records. */
struct program {
    char name[64];
    const struct emu_record *records;
    const uint8_t *blobs;
    size_t nr;
};

enum { MAX_PROGRAMS = 64, MAX_JOBS = 64, DETAIL_BYTES = 1400, CHIP_LIMIT = 16 << 20 };

struct work {
    struct program programs[MAX_PROGRAMS];
    unsigned nr_programs;
    struct item {
        uint16_t program;
        uint32_t record;
    } * items;
    uint32_t nr_items;
    unsigned nr_jobs;
    const char *out;
    double stall_s, limit_s;
};

/* What one form came to; short enough to go through a pipe in one piece. */
struct message {
    uint32_t item;
    uint32_t outcome;
    char detail[DETAIL_BYTES];
};

/* In OUT/chip.N.bin, before the bytes. */
struct chip_result {
    uint64_t bytes;
    uint32_t record, buffer;
    char program[64];
};

static const void *blob(const struct program *p, struct emu_blob b)
{
    return p->blobs + b.offset;
}

/* ---- the GPU ---- */

struct gpu {
    struct driver *driver;
    CUcontext ctx;
    CUdeviceptr memory;
    size_t room;
    FILE *chip;
    size_t chip_bytes;
    struct message *message;
};

static bool tell(struct gpu *gpu, enum outcome outcome, const char *text)
{
    gpu->message->outcome = outcome;
    snprintf(gpu->message->detail, sizeof(gpu->message->detail), "%.1399s", text);
    return false;
}

static bool good(struct gpu *gpu, CUresult code, const char *what)
{
    char text[256], all[400];

    if (code == CUDA_SUCCESS)
        return true;
    snprintf(all, sizeof(all), "%s: %s", what, driver_error(gpu->driver, code, text, sizeof(text)));
    return tell(gpu, FAULT, all);
}

static bool open_gpu(struct gpu *gpu)
{
    CUdevice device;
    struct err err;

    gpu->driver = driver_open(&err);
    if (gpu->driver == NULL)
        return tell(gpu, FAULT, err.text);
    struct driver *d = gpu->driver;
    return good(gpu, d->init(0), "the driver") && good(gpu, d->device_get(&device, 0), "GPU 0") &&
           good(gpu, d->primary_retain(&gpu->ctx, device), "a context") &&
           good(gpu, d->ctx_set_current(gpu->ctx), "the context");
}

static bool load_text(struct gpu *gpu, const char *ptx, CUmodule *module)
{
    static char log[4096];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    char text[DETAIL_BYTES], name[256];

    log[0] = 0;
    const CUresult code = gpu->driver->module_load(module, ptx, 2, options, values);
    if (code == CUDA_SUCCESS)
        return true;
    for (char *at = log; *at; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    snprintf(text, sizeof(text), "%s: %.1100s", driver_error(gpu->driver, code, name, sizeof(name)),
        log);
    return tell(gpu, REFUSED, text);
}

/* Where the buffers lie in the GPU's memory: one behind the other, with room between. */
static size_t place(const struct emu_record *r, uint64_t offsets[RECORD_BUFFERS])
{
    size_t end = 0;

    for (unsigned i = 0; i < r->nr_buffers; i++) {
        offsets[i] = end;
        end = (end + r->buffer[i].before.bytes + 2 * 1024 - 1) / 1024 * 1024;
    }
    return end ? end : 1024;
}

/* An address of the emulator's memory as one of the GPU's; others as they are. */
static uint64_t moved(
    const struct gpu *gpu, const struct emu_record *r, const uint64_t *offsets, uint64_t address)
{
    for (unsigned i = 0; i < r->nr_buffers; i++) {
        const uint64_t at = address - r->buffer[i].address;
        if (at <= r->buffer[i].before.bytes)
            return gpu->memory + offsets[i] + at;
    }
    return address;
}

static bool make_map(struct gpu *gpu, const struct tensor_map *m, uint64_t address, void *made)
{
    cuuint64_t size[TENSOR_MAP_DIMS], stride[TENSOR_MAP_DIMS];
    CUtensorMap map;

    for (unsigned d = 0; d < m->nr_dims; d++) {
        size[d] = m->size[d];
        if (d > 0)
            stride[d - 1] = m->stride_bytes[d];
    }
    const CUresult code = gpu->driver->tensor_map(&map, (CUtensorMapDataType)m->type, m->nr_dims,
        (void *)(uintptr_t)address, size, stride, m->box, m->step, CU_TENSOR_MAP_INTERLEAVE_NONE,
        (CUtensorMapSwizzle)m->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        (CUtensorMapFloatOOBfill)m->fill);
    memcpy(made, &map, sizeof(map));
    return good(gpu, code, "a tensor map");
}

enum { PARAM_BYTES = 4096 };

/* The parameters with the GPU's addresses, and tensor maps as its driver makes them. */
static bool translate_params(struct gpu *gpu, const struct program *p, const struct emu_record *r,
    const uint64_t *offsets, uint8_t params[PARAM_BYTES])
{
    const size_t nr = r->params.bytes < PARAM_BYTES ? r->params.bytes : PARAM_BYTES;

    memset(params, 0, PARAM_BYTES);
    memcpy(params, blob(p, r->params), nr);
    for (size_t at = 0; at + 8 <= nr; at += 8) {
        struct tensor_map map;
        uint64_t address;
        if (at % 64 == 0 && at + TENSOR_MAP_BYTES <= nr && tensor_map_decode(&map, params + at)) {
            if (!make_map(gpu, &map, moved(gpu, r, offsets, map.address), params + at))
                return false;
            at += TENSOR_MAP_BYTES - 8;
            continue;
        }
        memcpy(&address, params + at, 8);
        address = moved(gpu, r, offsets, address);
        memcpy(params + at, &address, 8);
    }
    return true;
}

static bool launch(struct gpu *gpu, const struct program *p, const struct emu_record *r,
    CUfunction function, const uint64_t *offsets)
{
    static uint8_t params[PARAM_BYTES];
    void *pointers[RECORD_PARAMS];
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    const CUlaunchConfig config = {.gridDimX = r->grid[0],
        .gridDimY = r->grid[1],
        .gridDimZ = r->grid[2],
        .blockDimX = r->block[0],
        .blockDimY = r->block[1],
        .blockDimZ = r->block[2],
        .sharedMemBytes = r->smem_bytes,
        .attrs = &cluster,
        .numAttrs = r->cluster[0] ? 1 : 0};
    struct driver *d = gpu->driver;

    if (!translate_params(gpu, p, r, offsets, params))
        return false;
    for (unsigned i = 0; i < RECORD_PARAMS; i++)
        pointers[i] = params + r->param_at[i];
    cluster.value.clusterDim.x = r->cluster[0];
    cluster.value.clusterDim.y = r->cluster[1] ? r->cluster[1] : 1;
    cluster.value.clusterDim.z = r->cluster[2] ? r->cluster[2] : 1;
    if (r->smem_bytes > 48 << 10 &&
        !good(gpu,
            d->func_set_attribute(
                function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)r->smem_bytes),
            "shared memory"))
        return false;
    d->func_set_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return good(gpu, d->launch(&config, function, pointers, NULL), "launching") &&
           good(gpu, d->ctx_synchronize(), "running");
}

static bool take_room(struct gpu *gpu, size_t bytes)
{
    if (bytes <= gpu->room)
        return true;
    if (gpu->room)
        gpu->driver->mem_free(gpu->memory);
    gpu->room = bytes > 8 << 20 ? bytes : 8 << 20;
    return good(gpu, gpu->driver->mem_alloc(&gpu->memory, gpu->room), "memory");
}

/* Runs it; the buffers' bytes afterwards at `after`. */
static bool run_record(struct gpu *gpu, const struct program *p, const struct emu_record *r,
    const uint64_t *offsets, size_t bytes, uint8_t *after)
{
    struct driver *d = gpu->driver;
    CUmodule module;
    CUfunction function;

    if (!load_text(gpu, blob(p, r->ptx), &module))
        return false;
    memset(after, 0, bytes);
    for (unsigned i = 0; i < r->nr_buffers; i++)
        memcpy(after + offsets[i], blob(p, r->buffer[i].before), r->buffer[i].before.bytes);
    const bool ok = take_room(gpu, bytes) &&
                    good(gpu, d->copy_to_device(gpu->memory, after, bytes), "copying") &&
                    good(gpu, d->module_function(&function, module, r->kernel), r->kernel) &&
                    launch(gpu, p, r, function, offsets) &&
                    good(gpu, d->copy_to_host(after, gpu->memory, bytes), "copying");
    d->module_unload(module);
    return ok;
}

/* ---- the comparison ---- */

static uint64_t bits_at(const uint8_t *bytes, size_t at, unsigned each)
{
    uint64_t v = 0;
    memcpy(&v, bytes + at, each);
    return v;
}

static double number_of(uint64_t bits, unsigned each)
{
    const uint32_t low = (uint32_t)bits;
    double d;
    float f;

    memcpy(&d, &bits, 8);
    memcpy(&f, &low, 4);
    return each == 8 ? d : (double)f;
}

/* As the harness's same_result. The manual's bound for lg2 of numbers near one is absolute. */
static bool close_to(const struct emu_record *r, uint64_t got, uint64_t want, unsigned each)
{
    const double x = number_of(got, each), y = number_of(want, each), off = fabs(x - y);
    const double size = strncmp(r->what, "lg2", 3) == 0 ? fmax(fabs(y), 1) : fabs(y);

    return got == want || off <= r->tolerance * size || (off <= 1e-44 && fabs(y) < 1e-37);
}

static bool both_nans(uint64_t a, uint64_t b, unsigned each)
{
    if (each == 2)
        return (a & 0x7fff) > 0x7f80 && (b & 0x7fff) > 0x7f80;
    return each >= 4 && isnan(number_of(a, each)) && isnan(number_of(b, each));
}

static void say(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(char *text, size_t room, const char *format, ...)
{
    const size_t len = strlen(text);
    va_list ap;

    va_start(ap, format);
    if (len + 1 < room)
        vsnprintf(text + len, room - len, format, ap);
    va_end(ap);
}

static void say_operands(
    const struct program *p, const struct emu_record *r, size_t element, char *text, size_t room)
{
    for (unsigned i = 1; i < 4 && r->each[0]; i++) {
        const struct emu_blob b = r->buffer[i].before;
        const unsigned each = r->each[i];
        if (each && (element + 1) * each <= b.bytes)
            say(text, room, " %c=%llx", "DABC"[i],
                (unsigned long long)bits_at(blob(p, b), element * each, each));
    }
}

struct comparison {
    uint64_t nr, nr_differ, nr_nans, nr_within;
    char text[DETAIL_BYTES - 100];
};

static void compare_buffer(const struct program *p, const struct emu_record *r, unsigned buffer,
    const uint8_t *got, struct comparison *c)
{
    enum { MOST_TOLD = 6 };
    const struct emu_blob b = r->buffer[buffer].after;
    const uint8_t *emu = blob(p, b);
    const unsigned each = buffer == 0 && r->each[0] ? r->each[0] : b.bytes % 4 ? 1 : 4;

    for (size_t at = 0; at + each <= b.bytes; at += each) {
        const uint64_t chip = bits_at(got, at, each), ours = bits_at(emu, at, each);
        c->nr++;
        if (chip == ours)
            continue;
        if (buffer == 0 && r->want.bytes &&
            close_to(r, chip, bits_at(blob(p, r->want), at, each), each)) {
            c->nr_within++;
            continue;
        }
        c->nr_differ++;
        c->nr_nans += both_nans(chip, ours, each);
        if (c->nr_differ > MOST_TOLD)
            continue;
        say(c->text, sizeof(c->text), " | %c+%zu", 'A' + (int)buffer, at);
        say_operands(p, r, at / each, c->text, sizeof(c->text));
        say(c->text, sizeof(c->text), " chip %llx emulator %llx", (unsigned long long)chip,
            (unsigned long long)ours);
        if (buffer == 0 && r->want.bytes)
            say(c->text, sizeof(c->text), " reference %llx",
                (unsigned long long)bits_at(blob(p, r->want), at, each));
    }
}

static void keep_chip(struct gpu *gpu, const struct program *p, const struct emu_record *r,
    unsigned buffer, const uint8_t *got)
{
    struct chip_result head = {
        r->buffer[buffer].after.bytes, (uint32_t)(r - p->records), buffer, ""};

    snprintf(head.program, sizeof(head.program), "%s", p->name);
    if (gpu->chip_bytes + head.bytes > CHIP_LIMIT)
        return;
    gpu->chip_bytes += head.bytes;
    fwrite(&head, sizeof(head), 1, gpu->chip);
    const uint8_t *emu = blob(p, r->buffer[buffer].after);
    for (uint64_t i = 0; i < head.bytes; i++)
        putc(got[i] ^ emu[i], gpu->chip);
    fflush(gpu->chip);
}

static void compare(struct gpu *gpu, const struct program *p, const struct emu_record *r,
    const uint64_t *offsets, const uint8_t *after)
{
    static struct comparison c;

    memset(&c, 0, sizeof(c));
    for (unsigned i = 0; i < r->nr_buffers; i++) {
        compare_buffer(p, r, i, after + offsets[i], &c);
        if (memcmp(after + offsets[i], blob(p, r->buffer[i].after), r->buffer[i].after.bytes) != 0)
            keep_chip(gpu, p, r, i, after + offsets[i]);
    }
    struct message *m = gpu->message;
    m->outcome = c.nr_differ > c.nr_nans ? DIFFERS
                 : c.nr_differ           ? NANS
                 : c.nr_within           ? WITHIN
                                         : SAME;
    snprintf(m->detail, sizeof(m->detail), "%llu of %llu differ, %llu of them NaNs, %llu within%s",
        (unsigned long long)(c.nr_differ + c.nr_within), (unsigned long long)c.nr,
        (unsigned long long)c.nr_nans, (unsigned long long)c.nr_within, c.text);
}

/* ---- one process of several ---- */

static void do_item(struct gpu *gpu, const struct program *p, const struct emu_record *r)
{
    static uint8_t *after;
    static size_t room;
    uint64_t offsets[RECORD_BUFFERS];
    CUmodule module;

    gpu->message->outcome = SAME;
    gpu->message->detail[0] = 0;
    if (r->kind == RECORD_REFUSAL) {
        if (load_text(gpu, blob(p, r->ptx), &module)) {
            gpu->driver->module_unload(module);
            tell(gpu, ACCEPTED, "the emulator's parser refuses this text");
        } else {
            gpu->message->outcome = SAME;
        }
        return;
    }
    const size_t bytes = place(r, offsets);
    if (bytes > room) {
        room = bytes;
        after = xrealloc(after, room);
    }
    if (run_record(gpu, p, r, offsets, bytes, after))
        compare(gpu, p, r, offsets, after);
}

/* The items job, job + nr_jobs, ... from `from` on. Ends after a fault, which spoils the context.
 */
static void job_main(const struct work *work, unsigned job, uint32_t from, int pipe)
{
    static struct message message;
    struct gpu gpu = {.message = &message};
    char path[4096];

    snprintf(path, sizeof(path), "%s/chip.%u.bin", work->out, job);
    gpu.chip = fopen(path, "ae");
    if (gpu.chip == NULL)
        _exit(2);
    fseek(gpu.chip, 0, SEEK_END);
    gpu.chip_bytes = (size_t)ftell(gpu.chip);
    if (!open_gpu(&gpu)) {
        fprintf(stderr, "keet-conform-gpu: %s\n", message.detail);
        _exit(2);
    }
    for (uint32_t i = from; i < work->nr_items; i += work->nr_jobs) {
        const struct program *p = &work->programs[work->items[i].program];
        message.item = i;
        do_item(&gpu, p, &p->records[work->items[i].record]);
        if (write(pipe, &message, sizeof(message)) != (ssize_t)sizeof(message))
            _exit(2);
        if (message.outcome == FAULT)
            _exit(0);
    }
    _exit(0);
}

/* ---- all of them ---- */

struct job {
    pid_t pid;
    int pipe;
    uint32_t next; /* the item that it is at */
    uint64_t heard_ns;
    bool done, fresh;
};

static bool start_job(const struct work *work, struct job *job, unsigned number)
{
    int ends[2];

    if (job->next >= work->nr_items) {
        job->done = true;
        return true;
    }
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    job->pid = fork();
    if (job->pid == 0) {
        close(ends[0]);
        job_main(work, number, job->next, ends[1]);
    }
    close(ends[1]);
    job->pipe = ends[0];
    job->heard_ns = clock_ns();
    job->fresh = true;
    return job->pid > 0;
}

struct results {
    struct message *of; /* by item */
    bool *known;
    bool broken;
};

static void note(struct results *all, uint32_t item, enum outcome outcome, const char *text)
{
    all->of[item].item = item;
    all->of[item].outcome = outcome;
    snprintf(all->of[item].detail, sizeof(all->of[item].detail), "%s", text);
    all->known[item] = true;
}

static void end_job(
    const struct work *work, struct job *job, unsigned number, bool stalled, struct results *all)
{
    int status = 0;
    char text[100];

    if (stalled)
        kill(job->pid, SIGKILL);
    waitpid(job->pid, &status, 0);
    close(job->pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        all->broken = true;
    else if (stalled || WIFSIGNALED(status) || (job->fresh && job->next < work->nr_items)) {
        snprintf(text, sizeof(text), "signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        note(all, job->next, stalled ? STALLED : CRASHED, text);
        job->next += work->nr_jobs;
    }
    if (!all->broken && !start_job(work, job, number))
        all->broken = true;
}

static void hear_job(const struct work *work, struct job *job, unsigned number, struct results *all)
{
    static struct message m;
    const ssize_t nr = read(job->pipe, &m, sizeof(m));

    if (nr != (ssize_t)sizeof(m) || m.item >= work->nr_items) {
        end_job(work, job, number, false, all);
        return;
    }
    all->of[m.item] = m;
    all->known[m.item] = true;
    job->next = m.item + work->nr_jobs;
    job->heard_ns = clock_ns();
    job->fresh = false;
}

static bool run_all(const struct work *work, struct results *all)
{
    struct job jobs[MAX_JOBS] = {{0}};
    unsigned nr_left = 1;

    for (unsigned j = 0; j < work->nr_jobs; j++) {
        jobs[j].next = j;
        if (!start_job(work, &jobs[j], j))
            return false;
    }
    const uint64_t start_ns = clock_ns();
    while (nr_left && !all->broken && (double)(clock_ns() - start_ns) * 1e-9 < work->limit_s) {
        struct pollfd fds[MAX_JOBS];
        for (unsigned j = 0; j < work->nr_jobs; j++)
            fds[j] = (struct pollfd){jobs[j].done ? -1 : jobs[j].pipe, POLLIN, 0};
        poll(fds, work->nr_jobs, 500);
        nr_left = 0;
        for (unsigned j = 0; j < work->nr_jobs && !all->broken; j++) {
            const double quiet_s = (double)(clock_ns() - jobs[j].heard_ns) * 1e-9;
            if (!jobs[j].done && fds[j].revents)
                hear_job(work, &jobs[j], j, all);
            else if (!jobs[j].done && quiet_s > work->stall_s * (jobs[j].fresh ? 4 : 1))
                end_job(work, &jobs[j], j, true, all);
            nr_left += !jobs[j].done;
        }
    }
    for (unsigned j = 0; j < work->nr_jobs; j++) {
        if (!jobs[j].done)
            kill(jobs[j].pid, SIGKILL);
    }
    return !all->broken;
}

/* ---- what was recorded ---- */

static const void *map_file(const char *folder, const char *name, const char *end, size_t *bytes)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s.%s", folder, name, end);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
        return NULL;
    *bytes = (size_t)st.st_size;
    const void *at = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct program *)a)->name, ((const struct program *)b)->name);
}

static bool read_folder(struct work *work, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t bytes;

    while (dir && (entry = readdir(dir)) != NULL && work->nr_programs < MAX_PROGRAMS) {
        struct program *p = &work->programs[work->nr_programs];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".records") != 0)
            continue;
        snprintf(p->name, sizeof(p->name), "%.*s", (int)(dot - entry->d_name), entry->d_name);
        p->records = map_file(folder, p->name, "records", &bytes);
        p->nr = p->records ? bytes / sizeof(*p->records) : 0;
        p->blobs = map_file(folder, p->name, "blobs", &bytes);
        if (p->records && p->blobs)
            work->nr_programs++;
    }
    if (dir)
        closedir(dir);
    qsort(work->programs, work->nr_programs, sizeof(*work->programs), by_name);
    return work->nr_programs > 0;
}

/* Of a launch's text, its parameters, and the buffers before and after it. */
static struct hash hash_of(const struct program *p, const struct emu_record *r)
{
    struct hash h[3 + 2 * RECORD_BUFFERS];
    unsigned nr = 0;

    h[nr++] = hash_bytes(r->grid,
        offsetof(struct emu_record, nr_params) - offsetof(struct emu_record, grid), r->kind);
    h[nr++] = hash_bytes(blob(p, r->ptx), r->ptx.bytes, 0);
    h[nr++] = hash_bytes(blob(p, r->params), r->params.bytes, 0);
    for (unsigned i = 0; i < r->nr_buffers; i++) {
        h[nr++] = hash_bytes(blob(p, r->buffer[i].before), r->buffer[i].before.bytes, 0);
        h[nr++] = hash_bytes(blob(p, r->buffer[i].after), r->buffer[i].after.bytes, 0);
    }
    return hash_bytes(h, nr * sizeof(*h), 0);
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, HASH_HEX_BYTES);
}

struct known {
    char (*hash)[HASH_HEX_BYTES]; /* sorted */
    size_t nr;
};

static bool read_known(struct known *known, const char *path)
{
    char line[HASH_HEX_BYTES + 1];
    size_t room = 1024;
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    known->hash = xcalloc(room, sizeof(*known->hash));
    while (fgets(line, sizeof(line), file)) {
        if (known->nr == room)
            known->hash = xrealloc(known->hash, (room *= 2) * sizeof(*known->hash));
        line[strcspn(line, "\n")] = 0;
        snprintf(known->hash[known->nr++], HASH_HEX_BYTES, "%.32s", line);
    }
    fclose(file);
    qsort(known->hash, known->nr, sizeof(*known->hash), by_text);
    return true;
}

static bool is_known(const struct known *known, const struct program *p, const struct emu_record *r)
{
    char hex[HASH_HEX_BYTES];

    if (known->nr == 0)
        return false;
    hash_hex(hash_of(p, r), hex);
    return bsearch(hex, known->hash, known->nr, sizeof(*known->hash), by_text) != NULL;
}

struct choice {
    const char *only, *unless;
    unsigned every;
    struct known known;
};

/* Those whose program or form has the text `only`, whose form does not have `unless`, and that are
 * not known. */
static void choose(struct work *work, const struct choice *c)
{
    const char *only = c->only, *unless = c->unless;
    uint32_t nr = 0, seen = 0;

    for (unsigned i = 0; i < work->nr_programs; i++)
        nr += (uint32_t)work->programs[i].nr;
    work->items = xcalloc(nr + 1, sizeof(*work->items));
    for (unsigned i = 0; i < work->nr_programs; i++) {
        for (uint32_t k = 0; k < work->programs[i].nr; k++) {
            const char *what = work->programs[i].records[k].what;
            if (only && !strstr(what, only) && !strstr(work->programs[i].name, only))
                continue;
            if (unless && strstr(what, unless))
                continue;
            if (is_known(&c->known, &work->programs[i], &work->programs[i].records[k]))
                continue;
            if (seen++ % c->every == 0)
                work->items[work->nr_items++] = (struct item){(uint16_t)i, k};
        }
    }
}

static int list(const struct work *work)
{
    for (unsigned i = 0; i < work->nr_programs; i++) {
        const struct program *p = &work->programs[i];
        for (size_t k = 0; k < p->nr; k++) {
            char hex[HASH_HEX_BYTES];
            hash_hex(hash_of(p, &p->records[k]), hex);
            printf("%s\t%zu\t%llu\t%llu\t%s\t%.*s\n", p->name, k,
                (unsigned long long)p->records[k].buffer[0].after.offset,
                (unsigned long long)p->records[k].buffer[0].after.bytes, hex,
                (int)strcspn(p->records[k].what, "\n"), p->records[k].what);
        }
    }
    return 0;
}

/* ---- the tables ---- */

/* A form's operation: of its opcodes the one before the last ones that only look at the result is
 * not known here, so the first that makes no predicate for the others. */
static void operation_of(const struct emu_record *r, char name[64])
{
    const char *at = r->kind == RECORD_REFUSAL ? "refused" : r->what;

    while (*at == '.' || *at == '@' || strncmp(at, "setp.gt.u32 ", 12) == 0) {
        const char *next = strchr(at, '\n');
        if (!next)
            break;
        at = next + 1;
    }
    snprintf(name, 64, "%.*s", (int)strcspn(at, ". \n"), at);
}

struct row {
    char program[64], operation[64];
    unsigned nr[NR_OUTCOMES];
};

static struct row *row_of(struct row *rows, unsigned *nr, const char *program, const char *op)
{
    for (unsigned i = *nr; i-- > 0;) {
        if (strcmp(rows[i].program, program) == 0 && strcmp(rows[i].operation, op) == 0)
            return &rows[i];
    }
    struct row *row = &rows[*nr];
    *nr += *nr < 4095;
    memset(row, 0, sizeof(*row));
    snprintf(row->program, sizeof(row->program), "%s", program);
    snprintf(row->operation, sizeof(row->operation), "%s", op);
    return row;
}

static void write_form(
    FILE *file, const struct program *p, uint32_t record, const struct message *m)
{
    char what[256];

    snprintf(what, sizeof(what), "%s", p->records[record].what);
    for (char *at = what; *at; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    fprintf(
        file, "%s\t%u\t%s\t%s\t%s\n", p->name, record, outcome_names[m->outcome], what, m->detail);
}

/* The number of forms that are wrong, or were not run. */
static unsigned write_tables(const struct work *work, const struct results *all)
{
    static struct row rows[4096];
    unsigned nr_rows = 0, nr_wrong = 0, sums[NR_OUTCOMES] = {0}, nr_unknown = 0;
    char path[4096];

    snprintf(path, sizeof(path), "%s/forms.tsv", work->out);
    FILE *forms = fopen(path, "we");
    snprintf(path, sizeof(path), "%s/summary.tsv", work->out);
    FILE *summary = fopen(path, "we");
    snprintf(path, sizeof(path), "%s/same.txt", work->out);
    FILE *same = fopen(path, "we");
    if (!forms || !summary || !same)
        return 1;
    for (uint32_t i = 0; i < work->nr_items; i++) {
        const struct program *p = &work->programs[work->items[i].program];
        const struct message *m = &all->of[i];
        char op[64];
        if (!all->known[i]) {
            nr_unknown++;
            continue;
        }
        operation_of(&p->records[work->items[i].record], op);
        row_of(rows, &nr_rows, p->name, op)->nr[m->outcome]++;
        sums[m->outcome]++;
        nr_wrong += is_wrong((enum outcome)m->outcome);
        if (m->outcome != SAME) {
            write_form(forms, p, work->items[i].record, m);
            continue;
        }
        hash_hex(hash_of(p, &p->records[work->items[i].record]), op);
        fprintf(same, "%s\n", op);
    }
    fclose(same);
    fprintf(summary, "program\toperation");
    for (unsigned o = 0; o < NR_OUTCOMES; o++)
        fprintf(summary, "\t%s", outcome_names[o]);
    for (unsigned i = 0; i < nr_rows; i++) {
        fprintf(summary, "\n%s\t%s", rows[i].program, rows[i].operation);
        for (unsigned o = 0; o < NR_OUTCOMES; o++)
            fprintf(summary, "\t%u", rows[i].nr[o]);
    }
    fprintf(summary, "\n");
    fclose(summary);
    fclose(forms);
    printf("%u forms:", work->nr_items);
    for (unsigned o = 0; o < NR_OUTCOMES; o++)
        printf(" %u %s%s", sums[o], outcome_names[o], o + 1 < NR_OUTCOMES ? "," : "");
    printf(", %u not run\n", nr_unknown);
    return nr_wrong + nr_unknown;
}

int main(int argc, char **argv)
{
    static struct work work = {.nr_jobs = 1, .stall_s = 15, .limit_s = 1e9};
    static struct choice choice = {.every = 1};
    const char *recorded = NULL;
    bool lists = false, read = true;

    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--jobs") == 0 && more)
            work.nr_jobs = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--every") == 0 && more)
            choice.every = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--stall") == 0 && more)
            work.stall_s = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--limit") == 0 && more)
            work.limit_s = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--only") == 0 && more)
            choice.only = argv[++i];
        else if (strcmp(argv[i], "--not") == 0 && more)
            choice.unless = argv[++i];
        else if (strcmp(argv[i], "--known") == 0 && more)
            read = read_known(&choice.known, argv[++i]);
        else if (strcmp(argv[i], "--list") == 0)
            lists = true;
        else if (!lists && !work.out)
            work.out = argv[i];
        else
            recorded = argv[i];
    }
    if (!recorded || !read || choice.every == 0 || work.nr_jobs == 0 || work.nr_jobs > MAX_JOBS) {
        fprintf(stderr,
            "usage: keet-conform-gpu [--jobs N] [--every N] [--only TEXT] [--not "
            "TEXT] [--known FILE] [--stall SECONDS] [--limit SECONDS] OUT RECORDED, or --list "
            "RECORDED\n");
        return 2;
    }
    if (!read_folder(&work, recorded)) {
        fprintf(stderr, "keet-conform-gpu: nothing is recorded in %s\n", recorded);
        return 2;
    }
    if (lists)
        return list(&work);
    mkdir(work.out, 0777);
    choose(&work, &choice);
    struct results all = {xcalloc(work.nr_items + 1, sizeof(struct message)),
        xcalloc(work.nr_items + 1, sizeof(bool)), false};
    const bool ran = run_all(&work, &all);
    const unsigned nr_wrong = write_tables(&work, &all);
    free(all.of);
    free(all.known);
    return !ran ? 2 : nr_wrong ? 1 : 0;
}
