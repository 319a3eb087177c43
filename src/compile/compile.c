/* Owns the compiler: options, the child that runs NVRTC, the cache in front of it, and the verdict
 * that follows from the child's end. */
#include "compile/compile.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/fork_server.h"
#include "base/mem.h"
#include "base/str.h"
#include "compile/artifact.h"
#include "compile/cache.h"
#include "compile/includes.h"
#include "compile/join.h"
#include "compile/lean.h"
#include "compile/log_read.h"
#include "compile/ptx_key.h"
#include "compile/split.h"
#include "compile/standins.h"
#include "nv/cubin.h"
#include "nv/sass_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INCLUDE_DIRS = 4, MAX_OUTPUT_BYTES = 128 << 20, WALL_TIMES = 5 };

static const uint64_t cache_bytes = 512u << 20;

struct compiler {
    struct nvrtc *nvrtc;
    struct fork_server *fork_server;
    struct cache *cache;
    char *arch;
    uint64_t memory_limit_bytes;
    double time_limit_s;
    bool by_kernel;
    char *include_dirs[MAX_INCLUDE_DIRS]; /* ended by NULL */
};

/* ---- the request on its way to the child: its texts, each with its NUL ---- */

static void pack_list(const char *const *texts, unsigned nr, struct str *bytes)
{
    str_addf(bytes, "%u%c", nr, 0);
    for (unsigned i = 0; i < nr; i++)
        str_add_n(bytes, texts[i], strlen(texts[i]) + 1);
}

static void pack(const struct nvrtc_request *request, struct str *bytes)
{
    const char *const texts[] = {request->name, request->source};

    pack_list(texts, ARRAY_SIZE(texts), bytes);
    pack_list(request->options, request->nr_options, bytes);
    pack_list(request->kernels, request->nr_kernels, bytes);
}

static const char *const *unpack_list(const char **at, unsigned *nr)
{
    const char **texts;

    *nr = (unsigned)strtoul(*at, NULL, 10);
    texts = xcalloc(*nr + 1, sizeof(*texts));
    for (unsigned i = 0; i < *nr; i++) {
        *at += strlen(*at) + 1;
        texts[i] = *at;
    }
    *at += strlen(*at) + 1;
    return texts;
}

/* The body of the child. Exit code 0: an answer was sent; a refusal is an answer, too. */
static int child_body(int fd, const void *context, const void *input, size_t bytes)
{
    const struct compiler *compiler = context;
    struct nvrtc_request request = {.headers = standins, .nr_headers = nr_standins};
    const char *at = input;
    const char *const *texts = unpack_list(&at, &(unsigned){0});
    struct nvrtc_answer answer;
    struct str reply = {0};

    /* NVRTC looks up quoted includes in the working folder first, and / has none of the user's
     * files. */
    if (chdir("/") != 0)
        return 1;
    request.name = texts[0];
    request.source = texts[1];
    request.options = unpack_list(&at, &request.nr_options);
    request.kernels = unpack_list(&at, &request.nr_kernels);
    if (lean_suffices(request.source)) {
        request.lean = lean_headers;
        request.nr_lean = nr_lean_headers;
    }
    nvrtc_compile(compiler->nvrtc, &request, &answer);
    artifact_pack(&answer, &reply);
    return fd_write(fd, reply.text, reply.len) ? 0 : 1;
}

/* ---- life cycle ---- */

static void add_include_dir(struct compiler *compiler, const char *dir, const char *below)
{
    struct str path = {0};
    unsigned nr = 0;

    while (compiler->include_dirs[nr])
        nr++;
    str_addf(&path, "%s%s", dir, below);
    if (nr < MAX_INCLUDE_DIRS - 1 && file_exists(str_text(&path)))
        compiler->include_dirs[nr] = str_take(&path);
    str_finish(&path);
}

static struct fork_server *start_fork_server(const struct compiler *compiler, struct err *err)
{
    /* The compiler's own search decides what an #include is, and this list what can be read: the
     * headers, and the folder of NVRTC's own libraries. */
    const char *readable[MAX_INCLUDE_DIRS + 2] = {nvrtc_library_dir(compiler->nvrtc)};
    /* The limit is one of processor time; a busy machine may take some times as long. */
    const struct proc_limits limits = {.time_s = WALL_TIMES * compiler->time_limit_s,
        .cpu_s = compiler->time_limit_s,
        .memory_bytes = compiler->memory_limit_bytes,
        .output_bytes = MAX_OUTPUT_BYTES,
        .readable = readable};

    for (unsigned i = 0, at = 1; compiler->include_dirs[i]; i++)
        readable[at++] = compiler->include_dirs[i];
    return fork_server_create(child_body, compiler, &limits, err);
}

struct compiler *compiler_create(const struct compiler_options *options, struct err *err)
{
    struct nvrtc *nvrtc = nvrtc_open(err);
    struct compiler *compiler;

    if (!nvrtc)
        return NULL;
    compiler = xcalloc(1, sizeof(*compiler));
    compiler->nvrtc = nvrtc;
    compiler->cache = cache_create(options->cache_dir, cache_bytes);
    compiler->arch = xstrdup(options->arch ? options->arch : "sm_90a");
    compiler->memory_limit_bytes =
        options->memory_limit_bytes ? options->memory_limit_bytes : (uint64_t)4 << 30;
    compiler->by_kernel = options->by_kernel;
    compiler->time_limit_s = options->time_limit_s > 0 ? options->time_limit_s : 60;
    if (nvrtc_include_dir(nvrtc)) {
        add_include_dir(compiler, nvrtc_include_dir(nvrtc), "");
        add_include_dir(compiler, nvrtc_include_dir(nvrtc), "/cccl");
    }
    if (options->cutlass_dir)
        add_include_dir(compiler, options->cutlass_dir, "/include");
    compiler->fork_server = start_fork_server(compiler, err);
    if (compiler->fork_server)
        return compiler;
    compiler_destroy(compiler);
    return NULL;
}

void compiler_destroy(struct compiler *compiler)
{
    if (!compiler)
        return;
    fork_server_destroy(compiler->fork_server);
    for (unsigned i = 0; i < MAX_INCLUDE_DIRS; i++)
        free(compiler->include_dirs[i]);
    free(compiler->arch);
    cache_destroy(compiler->cache);
    nvrtc_close(compiler->nvrtc);
    free(compiler);
}

const char *compiler_version(const struct compiler *compiler)
{
    return nvrtc_version(compiler->nvrtc);
}

/* The command line, in the arena. nvcc includes cuda_runtime.h before any file, and with it
 * INFINITY, M_PI and uint32_t, so kernels use these without an include; here the stand-ins define
 * them. The macros of the system are those of nvcc, since headers ask for them. */
static const char *const *make_options(
    const struct compiler *compiler, struct arena *arena, unsigned *nr)
{
    static const char *const fixed[] = {"-lineinfo", "--ptxas-options=-v", "-default-device",
        "--std=c++17", "--pre-include=math.h", "--pre-include=stdint.h",
        "--define-macro=__linux__"};
    const char **options =
        arena_array(arena, ARRAY_SIZE(fixed) + 1 + MAX_INCLUDE_DIRS, sizeof(*options));

    *nr = 0;
    options[(*nr)++] = arena_printf(arena, "--gpu-architecture=%s", compiler->arch);
    for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
        options[(*nr)++] = fixed[i];
    for (unsigned i = 0; compiler->include_dirs[i]; i++)
        options[(*nr)++] = arena_printf(arena, "-I%s", compiler->include_dirs[i]);
    return options;
}

static struct hash key_of(const struct compiler *compiler, const struct nvrtc_request *request)
{
    struct str text = {0};
    struct hash key;

    str_addf(
        &text, "%s\n%08x\n%s\n", nvrtc_version(compiler->nvrtc), standins_version(), request->name);
    for (unsigned i = 0; i < request->nr_options; i++)
        str_addf(&text, "%s\n", request->options[i]);
    for (unsigned i = 0; i < request->nr_kernels; i++)
        str_addf(&text, "kernel %s\n", request->kernels[i]);
    str_add_char(&text, '\0');
    str_add(&text, request->source);
    key = hash_bytes(text.text, text.len, 0);
    str_finish(&text);
    return key;
}

/* ---- from the end of the child to a verdict ---- */

/* The destination of a verdict: the out-parameters of compile_source. */
struct judgement {
    struct arena *arena;
    enum verdict *verdict;
    unsigned *line;
    const char **text;
};

static bool refuse(const struct judgement *j, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool refuse(const struct judgement *j, unsigned line, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    *j->text = arena_vprintf(j->arena, format, ap);
    va_end(ap);
    *j->verdict = VERDICT_NO_COMPILE;
    *j->line = line;
    return true;
}

/* The first line that mentions the kernel of the list whose name is part of `symbol`. */
static unsigned line_of_symbol(const struct compile_input *input, const char *symbol)
{
    for (unsigned k = 0; symbol && k < input->nr_kernels; k++) {
        const size_t len = strcspn(input->kernels[k], "< ");
        const char *from = input->source, *at;
        unsigned line = 1;

        if (!len || !memmem(symbol, strlen(symbol), input->kernels[k], len))
            continue;
        at = str_find_word(from, from + strlen(from), input->kernels[k], len);
        for (; at && (from = str_next_line(from)) <= at; line++)
            ;
        if (at)
            return line;
    }
    return 0;
}

/* "line 41" of a message about PTX: the source line that the nearest .loc before it names. File 1
 * is the candidate itself. */
static unsigned line_of_ptx(const char *ptx, const char *message)
{
    const char *at = strstr(message, "line ");
    unsigned long wanted = at ? strtoul(at + 5, NULL, 10) : 0;
    unsigned line = 0;

    for (const char *p = ptx; wanted > 0 && *p; wanted--) {
        unsigned file, number;
        if (sscanf(p, " .loc %u %u", &file, &number) == 2 && file == 1)
            line = number;
        p = str_next_line(p);
    }
    return line;
}

static bool refuse_missing(
    const struct judgement *j, const struct compile_input *input, const struct diagnosis *d)
{
    const unsigned line = input->kernel_lines ? input->kernel_lines[d->missing] : 0;
    const char *kernel = input->kernels[d->missing];

    if (!line)
        return refuse(j, 0, "%s: there is no kernel (__global__ function) %s", input->name, kernel);
    return refuse(j, line,
        "%s:%u: the launch names %s, but there is no such kernel (__global__ "
        "function) in the code",
        input->name, line, kernel);
}

/* The name that the compiler gets: names from outside may hold what a command line, PTX or a
 * message gives a meaning to. */
static const char *plain_name(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

    return name[strspn(name, plain)] ? "kernel.cu" : name;
}

static bool refuse_by_log(
    const struct judgement *j, const struct compile_input *input, const struct artifact *artifact)
{
    struct diagnosis d;
    const char *more = "";

    if (!log_read_error(artifact->log, plain_name(input->name), input->kernels, input->nr_kernels,
            j->arena, &d))
        return refuse(j, 0, "%s: the compiler refused it: %s", input->name, artifact->outcome_text);
    if (d.is_missing)
        return refuse_missing(j, input, &d);
    if (!d.line && d.symbol)
        d.line = line_of_symbol(input, d.symbol);
    if (!d.line && strncmp(d.text, "ptxas", 5) == 0)
        d.line = line_of_ptx(artifact->ptx, d.text);
    if (d.nr_more)
        more =
            arena_printf(j->arena, " (and %u more error%s)", d.nr_more, d.nr_more > 1 ? "s" : "");
    if (!d.line)
        return refuse(j, 0, "%s: %s%s", input->name, d.text, more);
    return refuse(j, d.line, "%s:%u: %s%s", input->name, d.line, d.text, more);
}

static bool refuse_by_end(const struct judgement *j, const struct compiler *compiler,
    const struct compile_input *input, const struct proc_result *result)
{
    const unsigned mib = (unsigned)(compiler->memory_limit_bytes >> 20);

    switch (result->end) {
    case PROC_DEADLINE:
        return refuse(j, 0, "%s: compiling took longer than the limit of %g s", input->name,
            compiler->time_limit_s);
    case PROC_MEMORY:
        return refuse(
            j, 0, "%s: compiling took more memory than the limit of %u MiB", input->name, mib);
    case PROC_OUTPUT:
        return refuse(j, 0, "%s: the compiled code is over the limit of %d MiB", input->name,
            MAX_OUTPUT_BYTES >> 20);
    case PROC_SIGNALLED:
        return refuse(j, 0,
            "%s: the compiler crashed on it (signal %d); the code may nest too deeply or need "
            "more than %u MiB",
            input->name, result->status, mib);
    default:
        return refuse(
            j, 0, "%s: the compiler gave up on it (exit code %d)", input->name, result->status);
    }
}

static bool judge(const struct judgement *j, const struct compiler *compiler,
    const struct compile_input *input, const struct artifact *artifact)
{
    switch (artifact->outcome) {
    case NVRTC_GOOD:
        *j->verdict = VERDICT_OK;
        *j->line = 0;
        *j->text = NULL;
        return true;
    case NVRTC_REFUSED:
        return refuse_by_log(j, input, artifact);
    case NVRTC_NO_MEMORY:
        return refuse(j, 0, "%s: compiling took more memory than the limit of %u MiB", input->name,
            (unsigned)(compiler->memory_limit_bytes >> 20));
    default:
        return refuse(j, 0, "%s: the compiler failed: %s", input->name, artifact->outcome_text);
    }
}

/* ---- */

/* Reads the machine code of a kernel. Numbers that ptxas did not report come from the attributes of
 * the cubin. */
static void fill_sass(const struct artifact *made, const struct split_part *part,
    struct arena *arena, struct kernel_facts *facts, struct sass_facts *sass)
{
    const struct cubin_kernel *kernel;
    struct cubin cubin;
    const char *why;

    if (!cubin_read(made->cubin, made->cubin_bytes, arena, &cubin, &why) ||
        !(kernel = cubin_find(&cubin, facts->lowered)))
        return;
    sass_read(&cubin, kernel, arena, sass);
    for (unsigned i = 0; part && i < sass->nr_lines; i++)
        sass->lines[i].line = split_line(part, sass->lines[i].line);
    facts->machine_insts = sass->all.nr;
    facts->serial_products = sass_serial_products(sass);
    if (facts->registers == 0) {
        facts->registers = kernel->registers;
        facts->stack_bytes = kernel->frame_bytes;
        facts->smem_static_bytes = (unsigned)kernel->smem_static_bytes;
    }
}

/* made, parts: of each kernel; parts NULL: all kernels are in *artifact. */
static void fill(const struct compile_input *input, const struct artifact *artifact,
    const struct artifact *made, const struct split_part *parts, struct arena *arena,
    struct compilation *out)
{
    struct str essence = {0};

    out->log = log_read_stable(artifact->log, arena);
    if (artifact->outcome != NVRTC_GOOD)
        return;
    out->ptx = artifact->ptx;
    out->ptx_bytes = artifact->ptx_bytes;
    out->cubin = artifact->cubin;
    out->cubin_bytes = artifact->cubin_bytes;
    out->nr_kernels = input->nr_kernels;
    out->kernels = arena_array(arena, input->nr_kernels, sizeof(*out->kernels));
    out->sass = arena_array(arena, input->nr_kernels, sizeof(*out->sass));
    for (unsigned i = 0; i < input->nr_kernels; i++) {
        out->kernels[i].kernel = arena_strdup(arena, input->kernels[i]);
        out->kernels[i].lowered = artifact->lowered[i];
    }
    log_read_facts(out->log, out->kernels, out->nr_kernels);
    for (unsigned i = 0; i < input->nr_kernels; i++)
        fill_sass(parts ? &made[i] : artifact, parts ? &parts[i] : NULL, arena, &out->kernels[i],
            &out->sass[i]);
    ptx_essence(out->ptx, out->ptx_bytes, &essence);
    out->key = hash_bytes(essence.text, essence.len, 0);
    str_finish(&essence);
}

/* Runs the child. True with *answered false: the child left no answer, and the verdict says why. */
static bool run(const struct compiler *compiler, const struct compile_input *input,
    const struct nvrtc_request *request, struct hash key, const struct judgement *j,
    struct artifact *artifact, bool *answered, struct err *err)
{
    struct str bytes = {0};
    struct proc_result result;
    bool ok;

    pack(request, &bytes);
    ok = fork_server_call(compiler->fork_server, bytes.text, bytes.len, &result, err);
    str_finish(&bytes);
    if (!ok)
        return err_wrap(err, "compiling %s", input->name);
    if (result.end == PROC_UNSAFE) {
        proc_result_finish(&result);
        return err_set(err, "compiling %s: %s", input->name, proc_unsafe_text);
    }
    *answered = result.end == PROC_EXITED && result.status == 0 &&
                artifact_unpack(result.output, result.output_bytes, j->arena, artifact);
    if (!*answered)
        refuse_by_end(j, compiler, input, &result);
    else if (artifact->outcome == NVRTC_GOOD)
        cache_keep(compiler->cache, key, result.output, result.output_bytes);
    proc_result_finish(&result);
    return true;
}

static bool mentions(const struct compile_input *input, const char *name)
{
    bool found = str_find_word(input->source, input->source + strlen(input->source), name,
                     strlen(name)) != NULL;

    for (unsigned i = 0; !found && i < input->nr_kernels; i++)
        found = strstr(input->kernels[i], name) != NULL;
    return found;
}

/* The tunes that a source mentions, so that another one's value changes nothing for it. */
static unsigned mentioned_tunes(
    const struct compile_input *input, struct arena *arena, struct tune **tunes)
{
    const bool pastes = strstr(input->source, "##") != NULL;
    unsigned nr = 0;

    *tunes = arena_array(arena, input->nr_tunes + 1, sizeof(**tunes));
    for (unsigned i = 0; i < input->nr_tunes; i++) {
        if (pastes || mentions(input, input->tunes[i].name))
            (*tunes)[nr++] = input->tunes[i];
    }
    return nr;
}

/* From the cache or by the child. *answered as in run. */
static bool make(const struct compiler *compiler, const struct compile_input *input,
    const struct judgement *j, struct artifact *artifact, bool *cached, bool *answered,
    struct err *err)
{
    struct nvrtc_request request = {.name = plain_name(input->name),
        .kernels = input->kernels,
        .nr_kernels = input->nr_kernels};
    struct str code = {0};
    struct tune *tunes;
    const unsigned nr_tunes = mentioned_tunes(input, j->arena, &tunes);
    struct hash key;
    bool ok;

    includes_define_tunes(input->source, tunes, nr_tunes, &code);
    request.source = str_text(&code);
    request.options = make_options(compiler, j->arena, &request.nr_options);
    key = key_of(compiler, &request);
    *answered = true;
    *cached = cache_find(compiler->cache, key, j->arena, artifact);
    ok = *cached || run(compiler, input, &request, key, j, artifact, answered, err);
    str_finish(&code);
    return ok;
}

static bool all_allowed(
    const struct compiler *compiler, const struct split_part *parts, unsigned nr)
{
    bool allowed = true;

    for (unsigned i = 0; allowed && i < nr; i++) {
        struct str what = {0};

        allowed = includes_allowed(
            parts[i].source, (const char *const *)compiler->include_dirs, &(unsigned){0}, &what);
        str_finish(&what);
    }
    return allowed;
}

/* Kernel by kernel. *said false: no verdict is given, and the source is to be compiled as a whole:
 * it cannot be split, or a part of it was refused. */
static bool compile_parts(const struct compiler *compiler, const struct compile_input *input,
    const struct judgement *j, struct compilation *out, bool *said, struct err *err)
{
    const unsigned nr = input->nr_kernels;
    struct artifact *made = arena_array(j->arena, nr + 1, sizeof(*made)), joined;
    struct split_part *parts = arena_array(j->arena, nr + 1, sizeof(*parts));
    bool good = compiler->by_kernel &&
                split_kernels(input->source, input->kernels, nr, j->arena, parts) &&
                all_allowed(compiler, parts, nr);
    bool answered = true, cached;

    out->cached = true;
    for (unsigned i = 0; good && i < nr; i++) {
        struct compile_input one = *input;

        one.source = parts[i].source;
        one.kernels = &input->kernels[i];
        one.nr_kernels = 1;
        if (!make(compiler, &one, j, &made[i], &cached, &answered, err))
            return false;
        good = answered && made[i].outcome == NVRTC_GOOD;
        out->cached &= cached;
    }
    good = good && join_artifacts(made, parts, nr, plain_name(input->name), j->arena, &joined);
    if (good) {
        fill(input, &joined, made, parts, j->arena, out);
        judge(j, compiler, input, &joined);
    }
    *said = good || !answered; /* what ends a part's child would end that of the whole */
    return true;
}

bool compile_source(struct compiler *compiler, const struct compile_input *input,
    struct arena *arena, struct compilation *out, enum verdict *verdict, unsigned *line,
    const char **text, struct err *err)
{
    const struct judgement j = {.arena = arena, .verdict = verdict, .line = line, .text = text};
    const char *const *dirs = (const char *const *)compiler->include_dirs;
    const uint64_t start_ns = clock_ns();
    struct artifact artifact;
    struct str what = {0};
    bool answered, said;
    unsigned bad;

    *out = (struct compilation){.log = ""};
    if (!includes_allowed(input->source, dirs, &bad, &what)) {
        refuse(&j, bad,
            "%s:%u: %s is not allowed: a candidate may include CUDA and CCCL headers "
            "only",
            input->name, bad, str_text(&what));
        str_finish(&what);
        return true;
    }
    if (!compile_parts(compiler, input, &j, out, &said, err) ||
        (!said && !make(compiler, input, &j, &artifact, &out->cached, &answered, err)))
        return false;
    if (!said && answered) {
        fill(input, &artifact, NULL, NULL, arena, out);
        judge(&j, compiler, input, &artifact);
    }
    out->compile_ms = (double)(clock_ns() - start_ns) * 1e-6;
    return true;
}
