/* Records what a GPU tells of a few kernels, as fixtures that tests decode on machines without one:
 *
 *     keet-record FOLDER [--only KERNEL] [--seconds N]
 *         FOLDER/about.txt             chip, GPU, driver, CUPTI
 *         FOLDER/names.txt             the metrics, as CUPTI knows them
 *         FOLDER/KERNEL/counters.bin   counter data image of one launch, all metrics
 *         FOLDER/KERNEL/trace.txt      kernel, start, end (ns): five launches in a row
 *         FOLDER/KERNEL/energy.csv     NVML's energy counter over seconds of launches
 *     keet-record --plain KERNEL       launches it once; what Nsight Compute is run on
 *     keet-record --list               the kernels' names
 *     keet-record --names              the metrics' names, with commas
 *
 * tests/gpu/record runs it and Nsight Compute one after the other. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "nv/cupti.h"
#include "nv/cupti_trace.h"
#include "nv/driver.h"
#include "nv/energy.h"
#include "nv/metrics_map.h"
#include "nv/nvml.h"
#include "nv/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Each takes two arrays of n floats. Small enough for an emulator, large enough to fill a GPU. */
static const struct kernel {
    const char *name, *source;
    unsigned grid, block, n;
} kernels[] = {
    {"saxpy",
        "extern \"C\" __global__ void saxpy(const float *x, float *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[i] = 2.0f * x[i] + y[i];\n"
        "}\n",
        4096, 256, 1 << 20},
    {"transpose",
        "extern \"C\" __global__ void transpose(const float *x, float *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[(i & 1023) * 1024 + (i >> 10)] = x[i];\n"
        "}\n",
        4096, 256, 1 << 20},
    {"sums",
        "extern \"C\" __global__ void sums(const float *x, float *y, int n) {\n"
        "  __shared__ float s[256];\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;\n"
        "  s[t] = i < n ? x[i] : 0.0f;\n"
        "  __syncthreads();\n"
        "  for (int d = 128; d > 0; d >>= 1) {\n"
        "    if (t < d) s[t] += s[t + d];\n"
        "    __syncthreads();\n"
        "  }\n"
        "  if (t == 0) y[blockIdx.x] = s[0];\n"
        "}\n",
        4096, 256, 1 << 20},
    {"waves",
        "extern \"C\" __global__ void waves(const float *x, float *y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  float a = i < n ? x[i] : 0.0f;\n"
        "  for (int k = 0; k < 64; k++) a = __sinf(a) + 0.5f;\n"
        "  if (i < n) y[i] = a;\n"
        "}\n",
        1024, 256, 1 << 18},
};

enum { NR_TRACED = 5 };

struct recorder {
    struct cupti_work base;
    struct driver *driver;
    CUdevice device;
    CUcontext ctx;
    CUmodule module;
    CUfunction function;
    CUdeviceptr x, y;
    const struct kernel *kernel;
    unsigned nr_launches; /* per call of launch */
};

static bool good(const struct recorder *r, CUresult code, const char *what, struct err *err)
{
    char text[256];

    return code == CUDA_SUCCESS ||
           err_set(err, "%s: %s", what, driver_error(r->driver, code, text, sizeof(text)));
}

/* ---- the GPU ---- */

static bool open_gpu(struct recorder *r, struct err *err)
{
    struct driver *d = r->driver;

    return good(r, d->init(0), "the driver", err) &&
           good(r, d->device_get(&r->device, 0), "GPU 0", err) &&
           good(r, d->primary_retain(&r->ctx, r->device), "a context", err) &&
           good(r, d->ctx_set_current(r->ctx), "the context", err);
}

static bool enqueue(struct recorder *r, struct err *err)
{
    int n = (int)r->kernel->n;
    void *params[] = {&r->x, &r->y, &n};
    const CUlaunchConfig config = {.gridDimX = r->kernel->grid,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = r->kernel->block,
        .blockDimY = 1,
        .blockDimZ = 1};

    return good(r, r->driver->launch(&config, r->function, params, NULL), r->kernel->name, err);
}

static bool launch(struct cupti_work *base, unsigned i, struct err *err)
{
    struct recorder *r = (struct recorder *)base;
    bool ok = true;

    (void)i;
    for (unsigned k = 0; ok && k < r->nr_launches; k++)
        ok = enqueue(r, err);
    return ok && good(r, r->driver->ctx_synchronize(), r->kernel->name, err);
}

static bool compile(const struct kernel *kernel, struct nvrtc_answer *answer, struct err *err)
{
    const char *const options[] = {"-lineinfo", "--gpu-architecture=sm_90a"};
    const struct nvrtc_request request = {.source = kernel->source,
        .name = "kernel.cu",
        .options = options,
        .nr_options = 2,
        .kernels = &kernel->name,
        .nr_kernels = 1};
    struct nvrtc *nvrtc = nvrtc_open(err);

    if (nvrtc == NULL)
        return false;
    nvrtc_compile(nvrtc, &request, answer);
    nvrtc_close(nvrtc);
    return answer->outcome == NVRTC_GOOD || err_set(err, "%s: %s", kernel->name, answer->log);
}

static bool load_code(struct recorder *r, const struct nvrtc_answer *answer, struct err *err)
{
    struct driver *d = r->driver;
    CUresult code = d->module_load(&r->module, answer->cubin, 0, NULL, NULL);

    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU)
        code = d->module_load(&r->module, answer->ptx, 0, NULL, NULL);
    return good(r, code, "loading", err) &&
           good(r, d->module_function(&r->function, r->module, r->kernel->name), "the kernel", err);
}

static bool load(struct recorder *r, const struct kernel *kernel, struct err *err)
{
    const size_t bytes = kernel->n * sizeof(float);
    struct driver *d = r->driver;
    struct nvrtc_answer answer;
    float *values;
    bool ok;

    r->kernel = kernel;
    r->nr_launches = 1;
    ok = compile(kernel, &answer, err) && load_code(r, &answer, err);
    nvrtc_answer_finish(&answer);
    values = xcalloc(kernel->n, sizeof(*values));
    for (unsigned i = 0; i < kernel->n; i++)
        values[i] = (float)(i % 1000) * 1e-3f;
    ok = ok && good(r, d->mem_alloc(&r->x, bytes), "memory", err) &&
         good(r, d->mem_alloc(&r->y, bytes), "memory", err) &&
         good(r, d->copy_to_device(r->x, values, bytes), "copying", err) &&
         good(r, d->copy_to_device(r->y, values, bytes), "copying", err);
    free(values);
    return ok;
}

static void unload(struct recorder *r)
{
    r->driver->mem_free(r->x);
    r->driver->mem_free(r->y);
    r->driver->module_unload(r->module);
}

/* ---- what is recorded ---- */

static bool put(const char *folder, const char *name, const void *bytes, size_t nr, struct err *err)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return file_write(path, bytes, nr, err);
}

static bool record_counters(
    struct recorder *r, const struct cupti_config *config, const char *folder, struct err *err)
{
    uint8_t *image;
    size_t bytes;
    bool ok;

    if (!cupti_collect(config, r->ctx, CUPTI_REPLAY_KERNEL, 1, &r->base, &image, &bytes, err))
        return false;
    ok = put(folder, "counters.bin", image, bytes, err);
    free(image);
    return ok;
}

static bool record_trace(
    struct recorder *r, const struct cupti *cupti, const char *folder, struct err *err)
{
    char text[NR_TRACED * 200];
    size_t used = 0;
    struct trace trace;
    bool ok;

    r->nr_launches = NR_TRACED;
    ok = cupti_trace(cupti, NR_TRACED, &r->base, &trace, err);
    r->nr_launches = 1;
    if (!ok)
        return false;
    for (unsigned i = 0; i < trace.nr; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %llu %llu\n",
            trace.kernels[i].name, (unsigned long long)trace.kernels[i].start_ns,
            (unsigned long long)trace.kernels[i].end_ns);
    trace_finish(&trace);
    return put(folder, "trace.txt", text, used, err);
}

/* A reading after every few launches, as in the worker; the launches are what takes the time. Where
 * one takes long, it goes on until there are enough readings for an estimate. */
static bool record_energy(struct recorder *r, const struct nvml *nvml, double seconds,
    const char *folder, struct err *err)
{
    enum { FEWEST_READINGS = 16 };
    const uint64_t start_ns = clock_ns();
    double nr_done = 0, now_s = 0;
    unsigned nr_readings = 0;
    char path[4096];
    bool ok = true;
    FILE *file;

    snprintf(path, sizeof(path), "%s/energy.csv", folder);
    file = fopen(path, "we");
    if (file == NULL)
        return err_errno(err, "%s", path);
    fprintf(file, "time_s,nr_launches,energy_j\n");
    for (; ok && (now_s < seconds || nr_readings < FEWEST_READINGS); nr_readings++) {
        struct nvml_reading reading;
        const uint64_t batch_ns = clock_ns();

        while (ok && clock_ns() - batch_ns < 10000000) {
            ok = launch(&r->base, 0, err);
            nr_done++;
        }
        ok = ok && nvml_read(nvml, 0, &reading, err);
        now_s = (double)(clock_ns() - start_ns) * 1e-9;
        if (ok)
            fprintf(file, "%.6f,%.0f,%.6f\n", now_s, nr_done, reading.energy_j);
    }
    return (fclose(file) == 0 || err_errno(err, "%s", path)) && ok;
}

struct parts {
    struct recorder recorder;
    struct cupti *cupti;
    struct cupti_config *config;
    struct nvml *nvml;
    char chip[64];
    double seconds;
};

static bool record_kernel(
    struct parts *p, const struct kernel *kernel, const char *root, struct err *err)
{
    char folder[2048];
    bool ok;

    snprintf(folder, sizeof(folder), "%s/%s", root, kernel->name);
    mkdir(folder, 0777);
    ok = load(&p->recorder, kernel, err) && launch(&p->recorder.base, 0, err) &&
         record_counters(&p->recorder, p->config, folder, err) &&
         record_trace(&p->recorder, p->cupti, folder, err) &&
         (p->nvml == NULL || record_energy(&p->recorder, p->nvml, p->seconds, folder, err));
    unload(&p->recorder);
    return ok || err_wrap(err, "%s", kernel->name);
}

static bool write_about(const struct parts *p, const char *root, struct err *err)
{
    char text[1024], gpu[128] = "?";
    int len;

    p->recorder.driver->device_name(gpu, sizeof(gpu), p->recorder.device);
    len = snprintf(text, sizeof(text), "chip %s\ngpu %s\ndriver %d%s\ncupti %u\nnvml %s\n", p->chip,
        gpu, p->recorder.driver->version, p->recorder.driver->software ? " software" : "",
        cupti_api_version(p->cupti), p->nvml ? nvml_driver_version(p->nvml) : "none");
    return put(root, "about.txt", text, (size_t)len, err);
}

static bool write_names(const char *root, struct err *err)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    char text[METRICS_MAP_NAMES * 128];
    size_t used = 0;

    for (unsigned i = 0; i < nr; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", names[i]);
    return put(root, "names.txt", text, used, err);
}

/* CUPTI before the driver starts, which it wants to see; NVML where there is one. */
static bool open_parts(struct parts *p, struct err *err)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    struct err ignored;

    p->recorder.base.launch = launch;
    p->recorder.driver = driver_open(err);
    p->cupti = p->recorder.driver != NULL ? cupti_open(err) : NULL;
    if (p->cupti == NULL || !open_gpu(&p->recorder, err) || !cupti_start(p->cupti, err) ||
        !cupti_chip_name(p->cupti, (unsigned)p->recorder.device, p->chip, err))
        return false;
    p->config = cupti_config_create(p->cupti, p->chip, names, nr, err);
    p->nvml = nvml_open(&ignored);
    return p->config != NULL;
}

static bool record(const char *root, const char *only, double seconds, struct err *err)
{
    struct parts p = {.seconds = seconds};
    bool ok;

    mkdir(root, 0777);
    ok = open_parts(&p, err) && write_about(&p, root, err) && write_names(root, err);
    for (size_t i = 0; ok && i < ARRAY_SIZE(kernels); i++) {
        if (only == NULL || strcmp(only, kernels[i].name) == 0)
            ok = record_kernel(&p, &kernels[i], root, err);
    }
    cupti_config_destroy(p.config);
    cupti_close(p.cupti);
    nvml_close(p.nvml);
    driver_close(p.recorder.driver);
    return ok;
}

static bool run_plain(const char *name, struct err *err)
{
    struct recorder r = {0};

    for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return (r.driver = driver_open(err)) != NULL && open_gpu(&r, err) &&
                   load(&r, &kernels[i], err) && launch(&r.base, 0, err);
    }
    return err_set(err, "there is no kernel %s", name);
}

static int print_names(void)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);

    for (unsigned i = 0; i < nr; i++)
        printf("%s%s", i ? "," : "", names[i]);
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    const char *root = NULL, *only = NULL;
    double seconds = 6;
    struct err err;

    if (argc == 2 && strcmp(argv[1], "--names") == 0)
        return print_names();
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
            printf("%s\n", kernels[i].name);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--plain") == 0) {
        if (run_plain(argv[2], &err))
            return 0;
        fprintf(stderr, "keet-record: %s\n", err.text);
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = strtod(argv[++i], NULL);
        else
            root = argv[i];
    }
    if (root == NULL) {
        fprintf(stderr, "usage: keet-record FOLDER [--only KERNEL] [--seconds N]\n");
        return 2;
    }
    if (record(root, only, seconds, &err))
        return 0;
    fprintf(stderr, "keet-record: %s\n", err.text);
    return 1;
}
