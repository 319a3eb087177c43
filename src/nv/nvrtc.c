/* Owns the handle on NVRTC: the search for the library, its functions, one compilation. */
#include "nv/nvrtc.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "nv/toolkit.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 12080 }; /* CUDA 12.8, as setup.sh asks for; numbered as in cuda.h */

struct nvrtc {
    void *handle;
    char version[32];
    char library_dir[PATH_MAX];
    char include_dir[PATH_MAX]; /* "" when not found */
    __typeof__(&nvrtcVersion) version_of;
    __typeof__(&nvrtcGetErrorString) error_string;
    __typeof__(&nvrtcCreateProgram) create;
    __typeof__(&nvrtcDestroyProgram) destroy;
    __typeof__(&nvrtcAddNameExpression) add_name;
    __typeof__(&nvrtcCompileProgram) compile;
    __typeof__(&nvrtcGetLoweredName) lowered_name;
    __typeof__(&nvrtcGetPTXSize) ptx_size;
    __typeof__(&nvrtcGetPTX) ptx;
    __typeof__(&nvrtcGetCUBINSize) cubin_size;
    __typeof__(&nvrtcGetCUBIN) cubin;
    __typeof__(&nvrtcGetProgramLogSize) log_size;
    __typeof__(&nvrtcGetProgramLog) log;
};

/* The compiler and the headers that kernels include. */
#define NVRTC_WHEELS "nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl"

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
static const char *const lib_dirs[] = {"lib64", "lib", "targets/x86_64-linux/lib", "."};

/* Opens one library file; a library that is too old is noted and does not count. */
static bool try_open(struct nvrtc *nvrtc, const char *path, struct str *looked)
{
    __typeof__(&nvrtcVersion) version_of;
    int major = 0, minor = 0;
    void *symbol;

    nvrtc->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!nvrtc->handle) {
        str_addf(looked, " (%s)", dlerror());
        return false;
    }
    symbol = dlsym(nvrtc->handle, "nvrtcVersion");
    memcpy(&version_of, &symbol, sizeof(symbol));
    if (symbol)
        version_of(&major, &minor);
    if (major * 1000 + minor * 10 >= OLDEST)
        return true;
    str_addf(looked, " (there is %d.%d, which is too old)", major, minor);
    dlclose(nvrtc->handle);
    nvrtc->handle = NULL;
    return false;
}

static bool open_below(struct nvrtc *nvrtc, const char *root, struct str *looked)
{
    char path[PATH_MAX];

    if (!root || !root[0])
        return false;
    str_addf(looked, "%s%s", looked->len ? ", " : "", root);
    for (size_t d = 0; d < ARRAY_SIZE(lib_dirs); d++) {
        for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
            const int len = snprintf(path, sizeof(path), "%s/%s/%s", root, lib_dirs[d], names[n]);
            if (len < (int)sizeof(path) && file_exists(path) && try_open(nvrtc, path, looked))
                return true;
        }
    }
    return false;
}

/* What setup.sh got. */
static bool open_deps(struct nvrtc *nvrtc, struct str *looked)
{
    char *root = toolkit_of_setup();
    const bool found = open_below(nvrtc, root, looked);

    free(root);
    return found;
}

/* NVIDIA's wheels of CUDA 13, as pip installs them, in the user's Python. */
static bool open_wheels(struct nvrtc *nvrtc, struct str *looked)
{
    const char *const prefixes[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), getenv("HOME")};
    static const char *const below[] = {"", "", "/.local"};
    bool found = false;

    for (size_t i = 0; !found && i < ARRAY_SIZE(prefixes); i++) {
        char pattern[PATH_MAX];
        glob_t all = {0};

        if (!prefixes[i] || prefixes[i][0] != '/')
            continue;
        snprintf(pattern, sizeof(pattern), "%s%s/lib/python3*/site-packages/nvidia/cu13",
            prefixes[i], below[i]);
        if (glob(pattern, 0, NULL, &all) == 0)
            for (size_t k = 0; !found && k < all.gl_pathc; k++)
                found = open_below(nvrtc, all.gl_pathv[k], looked);
        globfree(&all);
    }
    return found;
}

static bool open_by_loader(struct nvrtc *nvrtc, struct str *looked)
{
    str_add(looked, ", the loader's path");
    for (size_t n = 0; n < ARRAY_SIZE(names) && !nvrtc->handle; n++)
        try_open(nvrtc, names[n], looked);
    return nvrtc->handle != NULL;
}

static bool find(struct nvrtc *nvrtc, struct err *err)
{
    const char *chosen = getenv("KEET_CUDA");
    struct str looked = {0};
    bool found;

    if (chosen && chosen[0])
        found = open_below(nvrtc, chosen, &looked);
    else
        found = open_below(nvrtc, getenv("CUDA_HOME"), &looked) ||
                open_below(nvrtc, "/usr/local/cuda", &looked) || open_deps(nvrtc, &looked) ||
                open_wheels(nvrtc, &looked) || open_by_loader(nvrtc, &looked);
    if (!found)
        err_set(err,
            "cannot find NVRTC, the CUDA compiler library (libnvrtc.so), in: %s. In a checkout run "
            "setup.sh, which installs it without root. Elsewhere set KEET_CUDA to the folder of a "
            "CUDA toolkit (12.8 or newer), or let `pip install " NVRTC_WHEELS "` get "
            "NVIDIA's wheels into the Python environment that is active",
            str_text(&looked));
    str_finish(&looked);
    return found;
}

/* dlsym into any pointer to a function; ISO C has no cast from void * to one. */
static bool bind(struct nvrtc *nvrtc, const char *name, void *function, struct err *err)
{
    void *symbol = dlsym(nvrtc->handle, name);

    memcpy(function, &symbol, sizeof(symbol));
    return symbol || err_set(err, "NVRTC in %s lacks %s: a newer CUDA toolkit is needed",
                         nvrtc->library_dir, name);
}

static bool bind_all(struct nvrtc *n, struct err *err)
{
    return bind(n, "nvrtcVersion", &n->version_of, err) &&
           bind(n, "nvrtcGetErrorString", &n->error_string, err) &&
           bind(n, "nvrtcCreateProgram", &n->create, err) &&
           bind(n, "nvrtcDestroyProgram", &n->destroy, err) &&
           bind(n, "nvrtcAddNameExpression", &n->add_name, err) &&
           bind(n, "nvrtcCompileProgram", &n->compile, err) &&
           bind(n, "nvrtcGetLoweredName", &n->lowered_name, err) &&
           bind(n, "nvrtcGetPTXSize", &n->ptx_size, err) && bind(n, "nvrtcGetPTX", &n->ptx, err) &&
           bind(n, "nvrtcGetCUBINSize", &n->cubin_size, err) &&
           bind(n, "nvrtcGetCUBIN", &n->cubin, err) &&
           bind(n, "nvrtcGetProgramLogSize", &n->log_size, err) &&
           bind(n, "nvrtcGetProgramLog", &n->log, err);
}

static void locate_library(struct nvrtc *nvrtc)
{
    void *symbol = dlsym(nvrtc->handle, "nvrtcVersion");
    char *slash;
    Dl_info info;

    if (!symbol || !dladdr(symbol, &info) || !realpath(info.dli_fname, nvrtc->library_dir))
        snprintf(nvrtc->library_dir, sizeof(nvrtc->library_dir), "/");
    slash = strrchr(nvrtc->library_dir, '/');
    if (slash && slash != nvrtc->library_dir)
        *slash = '\0';
}

static bool include_below(struct nvrtc *nvrtc, const char *root, const char *rest)
{
    char path[PATH_MAX];

    if (!root || !root[0] ||
        snprintf(path, sizeof(path), "%s%s/cuda_fp16.h", root, rest) >= (int)sizeof(path) ||
        !realpath(path, nvrtc->include_dir)) {
        nvrtc->include_dir[0] = '\0';
        return false;
    }
    /* The folder matters here, not the target of a link to the header. */
    snprintf(path, sizeof(path), "%s%s", root, rest);
    return realpath(path, nvrtc->include_dir) != NULL;
}

static void load_builtins(struct nvrtc *nvrtc)
{
    char builtins[PATH_MAX + 64];
    int major = 0, minor = 0;

    nvrtc->version_of(&major, &minor);
    snprintf(nvrtc->version, sizeof(nvrtc->version), "NVRTC %d.%d", major, minor);
    /* NVRTC loads its companion by name at the first compilation. We load it once, so that each
     * child finds it in place. */
    snprintf(builtins, sizeof(builtins), "%s/libnvrtc-builtins.so.%d.%d", nvrtc->library_dir, major,
        minor);
    if (!dlopen(builtins, RTLD_NOW | RTLD_LOCAL))
        log_detail("%s is not there; NVRTC will look for it itself", builtins);
}

struct nvrtc *nvrtc_open(struct err *err)
{
    struct nvrtc *nvrtc = xcalloc(1, sizeof(*nvrtc));

    if (!find(nvrtc, err)) {
        free(nvrtc);
        return NULL;
    }
    locate_library(nvrtc);
    if (!bind_all(nvrtc, err)) {
        nvrtc_close(nvrtc);
        return NULL;
    }
    load_builtins(nvrtc);
    if (!include_below(nvrtc, getenv("KEET_CUDA"), "/include") &&
        !include_below(nvrtc, nvrtc->library_dir, "/../include") &&
        !include_below(nvrtc, nvrtc->library_dir, "/../../../include"))
        include_below(nvrtc, getenv("CUDA_HOME"), "/include");
    return nvrtc;
}

void nvrtc_close(struct nvrtc *nvrtc)
{
    /* The libraries stay loaded: unloading them would lose what their constructors allocated, and
     * opening them again finds them in place. */
    free(nvrtc);
}

const char *nvrtc_version(const struct nvrtc *nvrtc)
{
    return nvrtc->version;
}

const char *nvrtc_library_dir(const struct nvrtc *nvrtc)
{
    return nvrtc->library_dir;
}

const char *nvrtc_include_dir(const struct nvrtc *nvrtc)
{
    return nvrtc->include_dir[0] ? nvrtc->include_dir : NULL;
}

/* Fetches one of the program's texts. The sizes of PTX and log count their NUL. */
static void fetch(nvrtcProgram program, nvrtcResult (*size_of)(nvrtcProgram, size_t *),
    nvrtcResult (*get)(nvrtcProgram, char *), bool is_text, char **bytes, size_t *len)
{
    size_t size = 0;

    if (size_of(program, &size) != NVRTC_SUCCESS)
        size = 0;
    *bytes = xcalloc(1, size + 1);
    if (size && get(program, *bytes) != NVRTC_SUCCESS)
        size = 0;
    *len = is_text && size ? strlen(*bytes) : size;
}

static enum nvrtc_outcome outcome_of(nvrtcResult result)
{
    switch (result) {
    case NVRTC_SUCCESS:
        return NVRTC_GOOD;
    case NVRTC_ERROR_COMPILATION:
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID:
        return NVRTC_REFUSED;
    case NVRTC_ERROR_OUT_OF_MEMORY:
        return NVRTC_NO_MEMORY;
    default:
        return NVRTC_FAILED;
    }
}

/* The symbol of the one kernel of this name in PTX: the name itself, or its mangled form, which
 * begins with _Z and the name's length. NULL: none, several, or no plain name. */
static char *entry_of(const char *ptx, const char *name)
{
    static const char entry[] = ".entry ";
    const size_t len = strlen(name);
    size_t found_len = 0;
    char mangled[32];
    const char *found = NULL;
    const int before = snprintf(mangled, sizeof(mangled), "_Z%zu", len);

    for (const char *at = ptx; (at = strstr(at, entry));) {
        at += strlen(entry);
        const char *end = at + strcspn(at, "( \t\n");
        const bool is_itself = (size_t)(end - at) == len && !strncmp(at, name, len);
        const bool is_mangled =
            !strncmp(at, mangled, (size_t)before) && !strncmp(at + before, name, len);

        if ((is_itself || is_mangled) && found)
            return NULL;
        if (is_itself || is_mangled) {
            found = at;
            found_len = (size_t)(end - at);
        }
    }
    return found ? memcpy(xcalloc(1, found_len + 1), found, found_len) : NULL;
}

/* Does the compiler get the kernel's name, or is the kernel looked for in PTX afterwards? */
static bool is_asked_for(const char *kernel, bool by_ptx)
{
    return !by_ptx || strpbrk(kernel, "<:") != NULL;
}

static nvrtcResult lower(const struct nvrtc *nvrtc, nvrtcProgram program,
    const struct nvrtc_request *request, bool by_ptx, struct nvrtc_answer *answer)
{
    answer->lowered = xcalloc(request->nr_kernels, sizeof(*answer->lowered));
    for (unsigned i = 0; i < request->nr_kernels; i++) {
        const bool asked = is_asked_for(request->kernels[i], by_ptx);
        const char *symbol;
        const nvrtcResult result =
            asked ? nvrtc->lowered_name(program, request->kernels[i], &symbol) : NVRTC_SUCCESS;
        char *lowered = NULL;

        if (result != NVRTC_SUCCESS)
            return result;
        lowered = asked ? xstrdup(symbol) : entry_of(answer->ptx, request->kernels[i]);
        if (!lowered)
            return NVRTC_ERROR_COMPILATION;
        answer->lowered[answer->nr_lowered++] = lowered;
    }
    return NVRTC_SUCCESS;
}

static nvrtcResult compile(const struct nvrtc *nvrtc, nvrtcProgram program,
    const struct nvrtc_request *request, bool by_ptx, struct nvrtc_answer *answer)
{
    nvrtcResult result = NVRTC_SUCCESS;

    for (unsigned i = 0; i < request->nr_kernels && result == NVRTC_SUCCESS; i++)
        if (is_asked_for(request->kernels[i], by_ptx))
            result = nvrtc->add_name(program, request->kernels[i]);
    if (result == NVRTC_SUCCESS)
        result = nvrtc->compile(program, (int)request->nr_options, request->options);
    fetch(program, nvrtc->log_size, nvrtc->log, true, &answer->log, &answer->log_bytes);
    /* When ptxas refuses, there may be PTX all the same, and it tells the line to blame. */
    fetch(program, nvrtc->ptx_size, nvrtc->ptx, true, &answer->ptx, &answer->ptx_bytes);
    if (result != NVRTC_SUCCESS)
        return result;
    fetch(program, nvrtc->cubin_size, nvrtc->cubin, false, &answer->cubin, &answer->cubin_bytes);
    return lower(nvrtc, program, request, by_ptx, answer);
}

static const struct nvrtc_header *header_find(
    const struct nvrtc_header *headers, unsigned nr, const char *name)
{
    for (unsigned i = 0; i < nr; i++) {
        if (strcmp(headers[i].name, name) == 0)
            return &headers[i];
    }
    return NULL;
}

/* The request's lean headers, and those of the others whose names no lean one has. */
static unsigned list_headers(
    const struct nvrtc_request *request, const char **texts, const char **header_names)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < request->nr_lean; i++) {
        texts[nr] = request->lean[i].text;
        header_names[nr++] = request->lean[i].name;
    }
    for (unsigned i = 0; i < request->nr_headers; i++) {
        const struct nvrtc_header *h = &request->headers[i];

        if (header_find(request->lean, request->nr_lean, h->name))
            continue;
        texts[nr] = h->text;
        header_names[nr++] = h->name;
    }
    return nr;
}

static void attempt(const struct nvrtc *nvrtc, const struct nvrtc_request *request, bool by_ptx,
    struct nvrtc_answer *answer)
{
    const unsigned most = request->nr_headers + request->nr_lean;
    const char **texts = xcalloc(most, sizeof(*texts));
    const char **header_names = xcalloc(most, sizeof(*header_names));
    const unsigned nr_headers = list_headers(request, texts, header_names);
    nvrtcProgram program;
    nvrtcResult result;

    *answer = (struct nvrtc_answer){0};
    result = nvrtc->create(
        &program, request->source, request->name, (int)nr_headers, texts, header_names);
    if (result == NVRTC_SUCCESS) {
        result = compile(nvrtc, program, request, by_ptx, answer);
        nvrtc->destroy(&program);
    }
    answer->outcome = outcome_of(result);
    answer->outcome_text = nvrtc->error_string(result);
    free(texts);
    free(header_names);
}

/* An attempt with lean headers and without what NVRTC otherwise declares for all programs, as
 * functions of textures and of launches from a device. Reading these takes a tenth of the time of a
 * small program; the code is the same. False: the program needs them, or is wrong, and *answer is
 * empty. */
static bool attempt_minimal(
    const struct nvrtc *nvrtc, const struct nvrtc_request *request, struct nvrtc_answer *answer)
{
    struct nvrtc_request minimal = *request;
    const char **options = xcalloc(request->nr_options + 1, sizeof(*options));

    memcpy(options, request->options, request->nr_options * sizeof(*options));
    options[minimal.nr_options++] = "-minimal";
    minimal.options = options;
    attempt(nvrtc, &minimal, false, answer);
    free(options);
    if (answer->outcome == NVRTC_GOOD)
        return true;
    nvrtc_answer_finish(answer);
    return false;
}

/* A kernel may have the name of a function of the CUDA headers, as `norm`: the name alone is then
 * ambiguous to the compiler. Such a program is compiled once more without asking for plain names.
 */
void nvrtc_compile(
    const struct nvrtc *nvrtc, const struct nvrtc_request *request, struct nvrtc_answer *answer)
{
    struct nvrtc_request whole = *request;
    struct nvrtc_answer again;

    if (attempt_minimal(nvrtc, request, answer))
        return;
    whole.nr_lean = 0;
    attempt(nvrtc, &whole, false, answer);
    if (answer->outcome != NVRTC_REFUSED || !answer->log || !strstr(answer->log, "__nv_name_map"))
        return;
    attempt(nvrtc, &whole, true, &again);
    if (again.outcome == NVRTC_GOOD) {
        struct nvrtc_answer refused = *answer;

        *answer = again;
        again = refused;
    }
    nvrtc_answer_finish(&again);
}

void nvrtc_answer_finish(struct nvrtc_answer *answer)
{
    for (unsigned i = 0; i < answer->nr_lowered; i++)
        free(answer->lowered[i]);
    free(answer->lowered);
    free(answer->ptx);
    free(answer->cubin);
    free(answer->log);
    *answer = (struct nvrtc_answer){0};
}
