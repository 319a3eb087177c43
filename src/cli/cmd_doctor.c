/* Owns the rows of `keet-opt doctor`: one question each, and how the answers are printed. */
#include "cli/commands.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/sandbox.h"
#include "base/share.h"
#include "base/str.h"
#include "cli/fold.h"
#include "compile/compile.h"
#include "device/device.h"
#include "nv/cupti.h"
#include "nv/gpus.h"
#include "nv/metrics_map.h"
#include "nv/nvml.h"
#include "nv/nvrtc.h"
#include "propose/propose.h"
#include "run/cutlass.h"

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum state {
    STATE_OK,
    STATE_ABSENT, /* something cannot be done here; the emulator works */
    STATE_BROKEN  /* no search can run without it */
};
static const char *const state_names[] = {"ok", "absent", "broken"};

enum { NR_ROWS = 24 };

struct row {
    const char *name;
    enum state state;
    char text[4608]; /* what is there, or why something is absent */
    char advice[800];
};

struct doctor {
    struct row rows[NR_ROWS];
    unsigned nr_rows;
    bool runs;       /* the emulator ran a kernel */
    bool reads;      /* libclang can be loaded */
    bool gpu_loaded; /* the driver works and sees a GPU */
};

__attribute__((format(printf, 4, 5))) static struct row *add_row(
    struct doctor *d, const char *name, enum state state, const char *format, ...)
{
    struct row *row = &d->rows[d->nr_rows < NR_ROWS ? d->nr_rows++ : NR_ROWS - 1];
    va_list ap;

    *row = (struct row){.name = name, .state = state};
    va_start(ap, format);
    vsnprintf(row->text, sizeof(row->text), format, ap);
    va_end(ap);
    return row;
}

__attribute__((format(printf, 2, 3))) static void advise(struct row *row, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(row->advice, sizeof(row->advice), format, ap);
    va_end(ap);
}

/* ---- asking in a child ---- */

/* Runs `body` in a child, whose answer is plain data of `bytes` bytes. False: the child ended
 * without an answer, and why says how the child ended. */
static bool ask(int (*body)(int fd, const void *input), const void *input, void *answer,
    size_t bytes, char why[300])
{
    const struct proc_limits limits = {.time_s = 30};
    struct proc_result result;
    struct err err;
    bool ok;

    if (!proc_call(body, input, &limits, &result, &err)) {
        snprintf(why, 300, "%.290s", err.text);
        return false;
    }
    ok = result.end == PROC_EXITED && result.output_bytes == bytes;
    if (ok)
        memcpy(answer, result.output, bytes);
    else if (result.end == PROC_SIGNALLED)
        snprintf(
            why, 300, "it crashed with signal %d (%s)", result.status, strsignal(result.status));
    else if (result.end == PROC_DEADLINE)
        snprintf(why, 300, "it did not answer within %.0f s", limits.time_s);
    else
        snprintf(why, 300, "it ended with status %d%s%.200s", result.status,
            result.errors_bytes ? ": " : "", result.errors);
    proc_result_finish(&result);
    return ok;
}

/* ---- what the emulator needs ---- */

static void see_nvrtc(struct doctor *d)
{
    struct err err;
    struct nvrtc *nvrtc = nvrtc_open(&err);
    const char *include;

    if (!nvrtc) {
        add_row(d, "NVRTC", STATE_BROKEN, "%s", err.text);
        return;
    }
    add_row(d, "NVRTC", STATE_OK, "%s in %s", nvrtc_version(nvrtc), nvrtc_library_dir(nvrtc));
    include = nvrtc_include_dir(nvrtc);
    if (include)
        add_row(d, "CUDA headers", STATE_OK, "%s", include);
    else
        advise(add_row(d, "CUDA headers", STATE_ABSENT,
                   "no cuda_fp16.h beside NVRTC: kernels that include CUDA's headers will not "
                   "compile"),
            "run setup.sh, or set KEET_CUDA to the folder of a whole CUDA toolkit");
    nvrtc_close(nvrtc);
}

static const char probe_source[] =
    "__global__ void probe(int *out) { out[threadIdx.x] = 3 * (int)threadIdx.x + 1; }\n";

static bool run_probe(struct device *device, const struct compilation *compilation, struct err *err)
{
    const struct launch_config config = {.kernel = "probe", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct device_arg arg = {.kind = ARG_ARRAY, .name = "out"};
    struct device_launch launch = {.config = &config,
        .facts = &compilation->kernels[0],
        .args = &arg,
        .nr_args = 1,
        .line = 1};
    struct device_module *module;
    struct device_result result;
    int32_t out[32] = {0};
    bool ok;

    if (!device_load(device, compilation, &module, &result, err))
        return false;
    if (result.verdict != VERDICT_OK || !module)
        return err_set(err, "it refuses its own test: %s", result.text);
    arg.address = device_alloc(device, sizeof(out), "out", err);
    ok = arg.address && device_launch(device, module, &launch, &result, err) &&
         device_read(device, arg.address, out, sizeof(out), err);
    for (int i = 0; ok && i < 32; i++) {
        if (result.verdict != VERDICT_OK || out[i] != 3 * i + 1)
            ok = err_set(err, "a small kernel computed something else: %s", result.text);
    }
    device_unload(device, module);
    return ok;
}

/* Compiles without a cache, so that the compiler really runs. */
static bool try_emulator(const struct options *o, struct arena *arena, struct err *err)
{
    const char *const kernels[] = {"probe"};
    const struct compile_input input = {
        .source = probe_source, .name = "doctor.cu", .kernels = kernels, .nr_kernels = 1};
    const struct device_options device_options = {.name = "emu", .nr_threads = o->nr_threads};
    struct device *device = device_create(&device_options, err);
    struct compiler *compiler = NULL;
    struct compilation compilation = {0};
    enum verdict verdict = VERDICT_OK;
    const char *text = "";
    unsigned line = 0;
    bool ok = device != NULL;

    if (ok) {
        const struct compiler_options options = {.arch = device->chip->arch, .cache_dir = ""};
        compiler = compiler_create(&options, err);
        ok = compiler &&
             compile_source(compiler, &input, arena, &compilation, &verdict, &line, &text, err);
    }
    if (ok && verdict != VERDICT_OK)
        ok = err_set(err, "NVRTC refuses a small kernel: %s", text);
    ok = ok && run_probe(device, &compilation, err);
    compiler_destroy(compiler);
    device_destroy(device);
    return ok;
}

static void see_emulator(struct doctor *d, const struct options *o)
{
    struct arena *arena = arena_create();
    struct err err;

    d->runs = try_emulator(o, arena, &err);
    if (d->runs)
        add_row(d, "emulator", STATE_OK,
            "a small kernel was compiled and run: %s (default) and others by --device",
            chip_default()->name);
    else
        add_row(d, "emulator", STATE_BROKEN, "%s", err.text);
    arena_destroy(arena);
}

static void see_libclang(struct doctor *d)
{
    struct err err;
    const char *path = propose_parser(&err);

    d->reads = path != NULL;
    if (path)
        add_row(d, "libclang", STATE_OK, "%s", path);
    else
        advise(add_row(d, "libclang", STATE_BROKEN, "%s", err.text), "run setup.sh");
}

/* Answers 0: Landlock is enforced; 1: there is no Landlock; 2: Landlock agrees but does not
 * enforce. */
static int body_sandbox(int fd, const void *input)
{
    const char *const readable[] = {"/proc/self", NULL};
    unsigned char answer = 0;
    int file;

    (void)input;
    if (!sandbox_read_only(readable))
        answer = 1;
    file = answer ? -1 : open("/etc/passwd", O_RDONLY);
    if (file >= 0)
        answer = 2;
    return fd_write(fd, &answer, 1) ? 0 : 1;
}

static void see_sandbox(struct doctor *d)
{
    unsigned char answer = 2;
    char why[300] = "files outside the sandbox could be read";

    if (ask(body_sandbox, NULL, &answer, 1, why) && answer == 0)
        add_row(d, "sandbox", STATE_OK,
            "Landlock keeps compiler processes from the files of this "
            "machine");
    else
        advise(add_row(d, "sandbox", STATE_ABSENT, "%s",
                   answer == 1 ? "this kernel has no Landlock: nothing is compiled" : why),
            "Linux 5.13 or newer with landlock among the active security modules "
            "(/sys/kernel/security/lsm); until then --no-sandbox, for kernels of your own");
}

static void see_cache(struct doctor *d, const struct options *o)
{
    char *dir = o->cache_dir ? xstrdup(o->cache_dir) : compile_cache_dir();
    struct err err;

    if (!dir || !dir[0])
        advise(add_row(d, "cache", STATE_ABSENT, "no cache of compiled kernels%s",
                   dir ? "" : ": none of KEET_CACHE, XDG_CACHE_HOME and HOME is set"),
            "set HOME, or give --cache DIR");
    else if (!file_mkdirs(dir, &err) || access(dir, R_OK | W_OK | X_OK) != 0)
        advise(add_row(d, "cache", STATE_ABSENT, "%s cannot be used: nothing is kept", dir),
            "make it writable, or give --cache DIR");
    else
        add_row(d, "cache", STATE_OK, "%s", dir);
    free(dir);
}

static void see_share(struct doctor *d)
{
    char *prompts = share_find("prompts");

    if (prompts)
        add_row(d, "prompts", STATE_OK, "%s", prompts);
    else
        advise(add_row(d, "prompts", STATE_ABSENT,
                   "the folder prompts/ is not found: no model can "
                   "be asked"),
            "set KEET_SHARE to the folder that has prompts/ and kernels/");
    free(prompts);
}

/* ---- what models need ---- */

/* Says which keys are there, and never prints a key. */
static void see_keys(struct doctor *d)
{
    struct propose_key keys[PROPOSE_NR_KEYS];
    struct row *row;
    size_t used = 0;
    unsigned nr = 0;
    bool unreadable = false;

    propose_keys(keys);
    row = add_row(d, "model keys", STATE_ABSENT, "%s", "");
    for (unsigned i = 0; i < PROPOSE_NR_KEYS; i++) {
        const bool by_file = !keys[i].is_set && keys[i].file && keys[i].file[0];
        const bool readable = by_file && access(keys[i].file, R_OK) == 0;
        const char *is = keys[i].is_set ? "set" : "not set";

        nr += keys[i].is_set || readable;
        unreadable = unreadable || (by_file && !readable);
        if (by_file)
            is = readable ? "in the file that its _FILE names" : "in a file that cannot be read";
        used += (size_t)snprintf(row->text + used, sizeof(row->text) - used, "%s%s: %s",
            i ? "; " : "", keys[i].variable, is);
    }
    row->state = nr > 0 ? STATE_OK : STATE_ABSENT;
    if (unreadable)
        advise(row, "the variable that ends in _FILE names a file that holds the key alone, and "
                    "that you may read");
    else if (nr == 0)
        advise(row, "for --model anthropic:NAME, openai:NAME or a server that wants one: set the "
                    "variable, or VARIABLE_FILE to a file that holds it; servers of your own, cmd: "
                    "and script: need none");
}

static void see_cutlass(struct doctor *d, const struct options *o)
{
    char *root;
    struct err err;

    if (!cutlass_find(o->cutlass_dir, &root, &err))
        advise(add_row(d, "CUTLASS", STATE_ABSENT, "%s", err.text),
            "name another folder, or run ./setup.sh --cutlass");
    else if (!root)
        advise(add_row(d, "CUTLASS", STATE_ABSENT,
                   "not found: variants cannot include CuTe, and models cannot look things up in "
                   "it"),
            "run ./setup.sh --cutlass, or name a checkout or NVIDIA's wheel nvidia-cutlass, "
            "unpacked, by --cutlass DIR or KEET_CUTLASS");
    else
        add_row(d, "CUTLASS", STATE_OK, "%s", root);
    free(root);
}

/* ---- what a GPU needs ---- */

/* The number of display controllers (class 0x03) of NVIDIA (vendor 0x10de) on the PCI bus, with or
 * without a driver. */
static unsigned nr_on_bus(void)
{
    DIR *dir = opendir("/sys/bus/pci/devices");
    unsigned nr = 0;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        char path[400], *vendor = NULL, *class = NULL;
        size_t len;
        struct err err;

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", e->d_name);
        if (file_read(path, 64, &vendor, &len, &err) && str_starts(vendor, "0x10de")) {
            snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/class", e->d_name);
            nr += file_read(path, 64, &class, &len, &err) && str_starts(class, "0x03");
        }
        free(vendor);
        free(class);
    }
    if (dir)
        closedir(dir);
    return nr;
}

static void add_no_driver(struct doctor *d, const char *problem)
{
    const bool module = file_exists("/proc/driver/nvidia/version");
    const unsigned nr = nr_on_bus();
    struct row *row = add_row(d, "GPU driver", STATE_ABSENT, "%s", problem);

    if (module)
        advise(row,
            "the kernel module is loaded, its library is not found: in a container, start it "
            "with --gpus all (NVIDIA container toolkit)");
    else if (nr)
        advise(row, "%u NVIDIA GPU%s on the PCI bus: install NVIDIA's driver", nr,
            nr == 1 ? " is" : "s are");
    else
        advise(row, "no NVIDIA GPU is visible on this machine: kernels run on the emulator, where "
                    "times are modelled");
}

static void add_gpus(struct doctor *d, const struct gpus *gpus)
{
    for (unsigned i = 0; i < gpus->nr; i++) {
        const struct gpu_info *gpu = &gpus->gpu[i];
        struct row *row = add_row(d, "GPU", STATE_OK,
            "%u: %s, compute capability %d.%d, %u SMs, %.1f GiB, PCI %s%s", i, gpu->name,
            gpu->capability_major, gpu->capability_minor, gpu->nr_sms,
            (double)gpu->memory_bytes / (1 << 30), gpu->pci_bus_id,
            gpu->exclusive ? ", exclusive mode" : "");

        if (gpu->capability_major != 9)
            advise(row, "moves and explanations are made for Hopper (9.0); others are untested");
    }
    if (!gpus->nr)
        add_row(d, "GPU", STATE_ABSENT, "the driver sees none");
}

static int body_worker(int fd, const void *input)
{
    const char *const readable[] = {"/proc/self", NULL};
    const unsigned char answer = sandbox_read_only(readable) | sandbox_no_escape() << 1;

    (void)input;
    return fd_write(fd, &answer, 1) ? 0 : 1;
}

/* Adds the row of the process in which candidates run on a GPU. */
static void see_worker(struct doctor *d)
{
    unsigned char answer = 0;
    char why[300];
    struct row *row;

    if (ask(body_worker, NULL, &answer, 1, why) && answer == 3)
        row = add_row(d, "GPU worker", STATE_OK,
            "the process that owns a GPU opens no connection, starts no program, and reads nothing "
            "but libraries and its devices");
    else
        row = add_row(d, "GPU worker", STATE_ABSENT,
            "the process that owns a GPU is not confined: this kernel has no %s",
            answer == 2   ? "Landlock"
            : answer == 1 ? "seccomp"
                          : "Landlock and no seccomp");
    advise(row, "should a driver need more than a confined process may do, so that every kernel "
                "fails: --no-sandbox; and please report it");
}

static void see_gpus(struct doctor *d)
{
    struct gpus *gpus = xcalloc(1, sizeof(*gpus));
    char why[300];

    if (!ask(gpus_probe_body, NULL, gpus, sizeof(*gpus), why)) {
        advise(add_row(d, "GPU driver", STATE_ABSENT, "%s", why), "see dmesg for lines of NVRM");
    } else if (!gpus->found) {
        add_no_driver(d, gpus->problem);
    } else if (!gpus->initialised) {
        add_row(d, "GPU driver", STATE_ABSENT, "%s is there (CUDA %d.%d) and does not start: %s",
            gpus->path, gpus->version / 1000, gpus->version % 1000 / 10, gpus->problem);
    } else {
        add_row(d, "GPU driver", STATE_OK, "%s, CUDA %d.%d (toolkit %d.%d)%s", gpus->path,
            gpus->version / 1000, gpus->version % 1000 / 10, gpus->toolkit / 1000,
            gpus->toolkit % 1000 / 10,
            gpus->software ? "; this is the software driver: times are modelled" : "");
        add_gpus(d, gpus);
        if (gpus->nr)
            see_worker(d);
        d->gpu_loaded = gpus->nr > 0 && !gpus->software;
    }
    free(gpus);
}

static void see_nvml(struct doctor *d)
{
    struct err err;
    struct nvml *nvml = nvml_open(&err);
    struct nvml_reading now;
    struct nvml_info info;
    char throttle[200];

    if (!nvml) {
        struct row *row = add_row(d, "NVML", STATE_ABSENT, "%s", err.text);
        if (d->gpu_loaded)
            advise(row,
                "without it clocks, temperature and energy are not recorded, and ratios are "
                "not refused when clocks differ");
        return;
    }
    add_row(d, "NVML", STATE_OK, "driver %s, %u GPU%s", nvml_driver_version(nvml),
        nvml_nr_devices(nvml), nvml_nr_devices(nvml) == 1 ? "" : "s");
    for (unsigned i = 0; i < nvml_nr_devices(nvml) && d->nr_rows < NR_ROWS - 4; i++) {
        if (!nvml_info(nvml, i, &info, &err) || !nvml_read(nvml, i, &now, &err)) {
            add_row(d, "state", STATE_ABSENT, "%s", err.text);
            continue;
        }
        nvml_throttle_text(now.throttle, throttle);
        add_row(d, "state", STATE_OK, "%u: SM clock %.0f MHz, %.0f C, %.0f W, throttled by: %s", i,
            now.sm_clock_mhz, now.temperature_c, now.power_w, throttle);
        if (info.mig == NVML_MIG_ON)
            advise(add_row(d, "MIG", STATE_ABSENT,
                       "%u: on: a slice of the GPU is measured, and counters of what slices share "
                       "are not to be had",
                       i),
                "nvidia-smi -i %u -mig 0, as root, when nobody else uses it", i);
    }
    nvml_close(nvml);
}

struct cupti_answer {
    bool opened, target;
    unsigned version, nr_metrics, nr_canonical, nr_passes;
    char path[4096], problem[2048];
};

static int body_cupti(int fd, const void *input)
{
    struct cupti_answer *a = xcalloc(1, sizeof(*a));
    const char *names[METRICS_MAP_NAMES], *unknown = NULL;
    const unsigned nr = metrics_map_names(names);
    struct cupti_config *config;
    struct err err = {.text = ""};
    struct cupti *cupti = cupti_open(&err);
    bool ok;

    (void)input;
    a->opened = cupti != NULL;
    if (cupti) {
        a->version = cupti_api_version(cupti);
        a->target = !cupti_no_target(cupti)[0];
        snprintf(a->path, sizeof(a->path), "%s", cupti_path(cupti));
        metrics_map_rows(&a->nr_canonical);
        config = cupti_chip_knows(cupti, "GH100", names, nr, &a->nr_metrics, &unknown, &err)
                     ? cupti_config_create(cupti, "GH100", names, nr, &err)
                     : NULL;
        a->nr_passes = config ? cupti_config_nr_passes(config) : 0;
        cupti_config_destroy(config);
    }
    snprintf(a->problem, sizeof(a->problem), "%s", err.text);
    ok = fd_write(fd, a, sizeof(*a));
    free(a);
    return ok ? 0 : 1;
}

static void see_cupti(struct doctor *d)
{
    struct cupti_answer *a = xcalloc(1, sizeof(*a));
    char why[300];

    if (!ask(body_cupti, NULL, a, sizeof(*a), why))
        add_row(d, "CUPTI", STATE_ABSENT, "asked for its metrics, %s", why);
    else if (!a->opened)
        advise(add_row(d, "CUPTI", STATE_ABSENT, "%s", a->problem),
            "run setup.sh, or set KEET_CUDA to the folder of a whole CUDA toolkit; needed for "
            "counters on a GPU only");
    else if (!a->nr_passes)
        add_row(d, "CUPTI", STATE_ABSENT, "%s: %s", a->path, a->problem);
    else
        add_row(d, "CUPTI", STATE_OK,
            "%s, version %u: %u canonical metrics of GH100 in %u passes; %s", a->path, a->version,
            a->nr_canonical, a->nr_passes,
            a->target ? "it can count here" : "its host half works, counting needs a driver");
    free(a);
}

/* Whether the process has the capability SYS_ADMIN (bit 21 of CapEff). */
static bool is_admin(void)
{
    char *text = NULL;
    size_t len;
    struct err err;
    const char *line;
    bool admin = geteuid() == 0;

    if (file_read("/proc/self/status", 1 << 16, &text, &len, &err)) {
        line = strstr(text, "CapEff:");
        if (line)
            admin = strtoull(line + strlen("CapEff:"), NULL, 16) >> 21 & 1;
    }
    free(text);
    return admin;
}

/* The parameters of NVIDIA's kernel module tell who may read counters. */
static void see_permission(struct doctor *d)
{
    char *text = NULL;
    size_t len;
    struct err err;
    const char *line;
    const char *params = getenv("KEET_NVIDIA_PARAMS"); /* tests name a file of their own */
    bool restricted;

    if (!d->gpu_loaded) {
        add_row(d, "counters", STATE_ABSENT, "no GPU: what the emulator counts is exact");
        return;
    }
    if (!file_read(params ? params : "/proc/driver/nvidia/params", 1 << 16, &text, &len, &err)) {
        add_row(
            d, "counters", STATE_ABSENT, "whether they are permitted is not told: %s", err.text);
        return;
    }
    line = strstr(text, "RmProfilingAdminOnly:");
    restricted = line && atoi(line + strlen("RmProfilingAdminOnly:")) != 0;
    if (restricted && !is_admin())
        advise(add_row(d, "counters", STATE_ABSENT, "not permitted (ERR_NVGPUCTRPERM)"), "%s",
            cupti_permission_advice());
    else
        add_row(d, "counters", STATE_OK, "permitted%s",
            restricted ? ", since this process is an administrator's" : "");
    free(text);
}

/* ---- printing ---- */

static const char *summary_of(const struct doctor *d)
{
    if (!d->runs || !d->reads)
        return "keet-opt cannot run here until what is broken above is mended.";
    if (!d->gpu_loaded)
        return "keet-opt works here on the emulator: results and counters are exact, times are "
               "modelled. There is no GPU to measure on.";
    return "keet-opt works here on the emulator; see above for the GPU.";
}

enum { WIDTH = 100 };

static void print_text(const struct doctor *d)
{
    struct str text = {0};

    for (unsigned i = 0; i < d->nr_rows; i++) {
        const struct row *row = &d->rows[i];

        str_addf(&text, "%-7s %-13s ", state_names[row->state], row->name);
        fold_text(&text, row->text, 22, WIDTH);
        if (row->advice[0]) {
            str_addf(&text, "%19s-> ", "");
            fold_text(&text, row->advice, 22, WIDTH);
        }
    }
    str_add_char(&text, '\n');
    fold_text(&text, summary_of(d), 0, WIDTH);
    fputs(str_text(&text), stdout);
    str_finish(&text);
}

static bool print_json(const struct doctor *d, struct err *err)
{
    json_t *rows = json_array();
    json_t *root = json_pack("{s:s, s:b, s:b, s:s, s:o}", "version", KEET_VERSION, "emulator_works",
        (int)d->runs, "gpu_found", (int)d->gpu_loaded, "summary", summary_of(d), "rows", rows);
    char *text;

    for (unsigned i = 0; i < d->nr_rows; i++) {
        const struct row *row = &d->rows[i];
        json_t *object = json_pack("{s:s, s:s, s:s}", "name", row->name, "state",
            state_names[row->state], "text", row->text);

        if (object && row->advice[0])
            json_object_set_new(object, "advice", json_string(row->advice));
        json_array_append_new(rows, object);
    }
    text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return err_set(err, "cannot make the JSON document");
    puts(text);
    free(text);
    return true;
}

bool cmd_doctor(const struct options *options, int *status, struct err *err)
{
    struct doctor *d = xcalloc(1, sizeof(*d));
    bool ok = true;

    see_nvrtc(d);
    see_libclang(d);
    see_emulator(d, options);
    see_sandbox(d);
    see_cache(d, options);
    see_share(d);
    see_keys(d);
    see_cutlass(d, options);
    see_gpus(d);
    see_nvml(d);
    see_cupti(d);
    see_permission(d);
    *status = d->runs && d->reads ? EXIT_DONE : EXIT_FAILED;
    if (options->json)
        ok = print_json(d, err);
    else
        print_text(d);
    free(d);
    return ok;
}
