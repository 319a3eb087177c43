/* The software driver as other programs see it: real names, real error codes, and the way in which
 * a broken kernel breaks its context. */
#include "nv/driver.h"

#include "../device/faults_ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct driver *driver;
    CUmodule module;
    CUdeviceptr array; /* 1024 words, all 5 */
};

enum { NR = 1024 };

static void open_context(struct fixture *f)
{
    CUcontext ctx;

    assert_int_equal(f->driver->primary_retain(&ctx, 0), CUDA_SUCCESS);
    assert_int_equal(f->driver->ctx_set_current(ctx), CUDA_SUCCESS);
    assert_int_equal(f->driver->module_load(&f->module, faults_ptx, 0, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->mem_alloc(&f->array, NR * 4), CUDA_SUCCESS);
    for (unsigned i = 0; i < NR; i++) {
        const uint32_t five = 5;

        assert_int_equal(
            f->driver->copy_to_device(f->array + i * 4, &five, sizeof(five)), CUDA_SUCCESS);
    }
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct err err;

    f->driver = driver_open(&err);
    if (f->driver == NULL)
        fail_msg("%s", err.text);
    assert_true(f->driver->software);
    assert_int_equal(f->driver->init(0), CUDA_SUCCESS);
    open_context(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(f->driver->primary_release(0), CUDA_SUCCESS);
    driver_close(f->driver);
    free(f);
    return 0;
}

static CUresult launch(struct fixture *f, const char *name, unsigned nr_blocks, unsigned threads,
    unsigned smem_bytes, CUstream stream)
{
    const CUlaunchConfig config = {.gridDimX = nr_blocks,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = smem_bytes,
        .hStream = stream};
    uint32_t step = 3, nr = NR;
    void *params[] = {&f->array, &step, &nr};
    CUfunction function;

    assert_int_equal(f->driver->module_function(&function, f->module, name), CUDA_SUCCESS);
    return f->driver->launch(&config, function, params, NULL);
}

static uint32_t word(struct fixture *f, unsigned i)
{
    uint32_t value = 0;

    assert_int_equal(
        f->driver->copy_to_host(&value, f->array + i * 4, sizeof(value)), CUDA_SUCCESS);
    return value;
}

static void a_kernel_runs(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(launch(f, "add", 8, 128, 0, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->ctx_synchronize(), CUDA_SUCCESS);
    assert_int_equal(word(f, 0), 8);
    assert_int_equal(word(f, NR - 1), 8);
}

/* The launch itself succeeds; everything after it fails, until the context is gone. */
static void broken_by(struct fixture *f, const char *kernel, CUresult code)
{
    CUdeviceptr address;
    CUstream stream;
    uint32_t value;

    assert_int_equal(launch(f, kernel, 1, 32, 0, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->ctx_synchronize(), code);
    assert_int_equal(f->driver->ctx_synchronize(), code);
    assert_int_equal(f->driver->mem_alloc(&address, 4), code);
    assert_int_equal(f->driver->copy_to_host(&value, f->array, 4), code);
    assert_int_equal(f->driver->stream_create(&stream, 0), code);
    assert_int_equal(f->driver->module_unload(f->module), code);
    assert_int_equal(f->driver->primary_reset(0), CUDA_SUCCESS);
    open_context(f);
    f->driver->primary_release(0); /* the reset kept the first one's count */
    a_kernel_runs((void **)&f);
}

static void errors_stick(void **state)
{
    struct fixture *f = *state;

    broken_by(f, "stray", CUDA_ERROR_ILLEGAL_ADDRESS);
    broken_by(f, "skewed", CUDA_ERROR_MISALIGNED_ADDRESS);
    broken_by(f, "trapped", CUDA_ERROR_LAUNCH_FAILED);
}

static void refusals_do_not_stick(void **state)
{
    struct fixture *f = *state;
    static const char elf[] = "\177ELF and so on", bad[] = ".version 8.0 nonsense";
    CUmodule module;
    CUfunction function;
    CUdeviceptr address;

    assert_int_equal(launch(f, "add", 1, 1025, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(launch(f, "add", 0, 32, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(
        f->driver->module_load(&module, elf, 0, NULL, NULL), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(f->driver->module_load(&module, bad, 0, NULL, NULL), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(
        f->driver->module_function(&function, f->module, "absent"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(f->driver->mem_alloc(&address, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(f->driver->mem_free(f->array + 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(
        f->driver->stream_synchronize((CUstream)(uintptr_t)4096), CUDA_ERROR_INVALID_HANDLE);
    a_kernel_runs(state);
}

/* 48 KB without asking, 227 KB when asked for, and no more (CUDA programming guide, 9.0). */
static void shared_memory_is_asked_for(void **state)
{
    struct fixture *f = *state;
    const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CUfunction function;

    assert_int_equal(launch(f, "roomy", 1, 32, 48 << 10, NULL), CUDA_SUCCESS);
    assert_int_equal(word(f, 0), 7);
    assert_int_equal(launch(f, "roomy", 1, 32, (48 << 10) + 4, NULL), CUDA_ERROR_INVALID_VALUE);
    f->driver->module_function(&function, f->module, "roomy");
    assert_int_equal(f->driver->func_set_attribute(function, most, 227 << 10), CUDA_SUCCESS);
    assert_int_equal(launch(f, "roomy", 1, 32, 227 << 10, NULL), CUDA_SUCCESS);
    assert_int_equal(
        f->driver->func_set_attribute(function, most, (227 << 10) + 4), CUDA_ERROR_INVALID_VALUE);
}

static void parameters_are_told(void **state)
{
    static const size_t offsets[] = {0, 8, 12}, sizes[] = {8, 4, 4};
    struct fixture *f = *state;
    CUfunction function;
    size_t offset, bytes;

    f->driver->module_function(&function, f->module, "add");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f->driver->func_param(function, i, &offset, &bytes), CUDA_SUCCESS);
        assert_int_equal(offset, offsets[i]);
        assert_int_equal(bytes, sizes[i]);
    }
    assert_int_equal(f->driver->func_param(function, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
}

static float elapsed(struct fixture *f, CUgraphExec exec, unsigned times)
{
    const struct driver *d = f->driver;
    CUevent start, end;
    float ms;

    assert_int_equal(d->event_create(&start, 0), CUDA_SUCCESS);
    assert_int_equal(d->event_create(&end, 0), CUDA_SUCCESS);
    assert_int_equal(d->event_elapsed(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(d->event_record(start, NULL), CUDA_SUCCESS);
    for (unsigned i = 0; i < times; i++)
        assert_int_equal(d->graph_launch(exec, NULL), CUDA_SUCCESS);
    assert_int_equal(d->event_record(end, NULL), CUDA_SUCCESS);
    assert_int_equal(d->event_elapsed(&ms, start, end), CUDA_SUCCESS);
    d->event_destroy(start);
    d->event_destroy(end);
    return ms;
}

/* What is captured does not run; what is launched runs as often as it is, with the parameters of
 * the capture, and takes modelled time in proportion. */
static void graphs_replay(void **state)
{
    struct fixture *f = *state;
    const struct driver *d = f->driver;
    CUgraphExec exec;
    CUstream stream;
    CUgraph graph;
    float once, thrice;

    assert_int_equal(d->stream_begin_capture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(d->stream_create(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(d->stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_int_equal(launch(f, "add", 8, 128, 0, stream), CUDA_SUCCESS);
    assert_int_equal(launch(f, "add", 8, 128, 0, stream), CUDA_SUCCESS);
    assert_int_equal(d->stream_end_capture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(word(f, 1), 5);
    assert_int_equal(d->graph_instantiate(&exec, graph, 0), CUDA_SUCCESS);
    assert_int_equal(d->graph_destroy(graph), CUDA_SUCCESS);
    once = elapsed(f, exec, 1);
    assert_int_equal(word(f, 1), 5 + 2 * 3);
    thrice = elapsed(f, exec, 3);
    assert_int_equal(word(f, 1), 5 + 8 * 3); /* modelling a time leaves memory as it was */
    assert_true(once > 0);
    assert_float_equal(thrice / once, 3, 1e-4);
    assert_int_equal(d->graph_exec_destroy(exec), CUDA_SUCCESS);
    assert_int_equal(d->stream_destroy(stream), CUDA_SUCCESS);
}

static void it_says_what_it_is(void **state)
{
    struct fixture *f = *state;
    char text[256];
    size_t bytes;
    int value;

    assert_int_equal(f->driver->device_name(text, sizeof(text), 0), CUDA_SUCCESS);
    assert_string_equal(text, "NVIDIA H100 (software)");
    assert_int_equal(
        f->driver->device_attribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0),
        CUDA_SUCCESS);
    assert_int_equal(value, 9);
    f->driver->device_attribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    assert_int_equal(value, 132);
    f->driver->device_total_mem(&bytes, 0);
    assert_int_equal(bytes, (size_t)80 << 30);
    assert_int_equal(f->driver->device_get(&value, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_string_equal(driver_error(f->driver, CUDA_ERROR_ILLEGAL_ADDRESS, text, sizeof(text)),
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
}

static void a_missing_driver_is_explained(void **state)
{
    const char *ours = getenv("KEET_CUDA_DRIVER");
    char *kept = strdup(ours);
    struct err err;

    setenv("KEET_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
    assert_null(driver_open(&err));
    assert_non_null(strstr(err.text, "/nowhere/libcuda.so.1"));
    setenv("KEET_CUDA_DRIVER", "libm.so.6", 1);
    assert_null(driver_open(&err));
    assert_non_null(strstr(err.text, "cuInit"));
    setenv("KEET_CUDA_DRIVER", kept, 1);
    free(kept);
}

static const char caller_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".extern .func (.param .u32 out) twice(.param .u32 in);\n"
                                 ".visible .entry doubled(.param .u64 a)\n{\n"
                                 "  .reg .u32 %r<3>; .reg .u64 %d;\n"
                                 "  ld.param.u64 %d, [a]; ld.global.u32 %r1, [%d];\n"
                                 "  { .param .u32 x; .param .u32 y; st.param.u32 [x], %r1;\n"
                                 "    call.uni (y), twice, (x); ld.param.u32 %r2, [y]; }\n"
                                 "  st.global.u32 [%d], %r2; ret;\n}\n";
static const char callee_ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .func (.param .u32 out) twice(.param .u32 in)\n{\n"
                                 "  .reg .u32 %r<3>; ld.param.u32 %r1, [in];\n"
                                 "  add.u32 %r2, %r1, %r1; st.param.u32 [out], %r2; ret;\n}\n";

static void *found(void *library, const char *name)
{
    void *function = dlsym(library, name);

    if (function == NULL)
        fail_msg("%s is not exported", name);
    return function;
}

typedef CUresult link_create_fn(unsigned, CUjit_option *, void **, CUlinkState *);
typedef CUresult link_add_fn(
    CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *, void **);
typedef CUresult link_complete_fn(CUlinkState, void **, size_t *);
typedef CUresult link_destroy_fn(CUlinkState);

/* Two texts, one calling a function of the other: linked, loaded, run. Machine code is refused, and
 * a link without the callee fails, with a reason. */
static void texts_are_linked(void **state)
{
    struct fixture *f = *state;
    void *library = dlopen(KEET_SOFTWARE_DRIVER, RTLD_NOW);
    link_create_fn *create = (link_create_fn *)found(library, "cuLinkCreate_v2");
    link_add_fn *add = (link_add_fn *)found(library, "cuLinkAddData_v2");
    link_complete_fn *complete = (link_complete_fn *)found(library, "cuLinkComplete");
    link_destroy_fn *destroy = (link_destroy_fn *)found(library, "cuLinkDestroy");
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)}, *image, *texts[2];
    CUmodule whole, other = f->module;
    CUlinkState link;
    size_t bytes;

    texts[0] = strdup(caller_ptx);
    texts[1] = strdup(callee_ptx);
    assert_int_equal(create(2, options, values, &link), CUDA_SUCCESS);
    assert_int_equal(add(link, CU_JIT_INPUT_LIBRARY, texts[0], 100, "a", 0, NULL, NULL),
        CUDA_ERROR_NOT_SUPPORTED);
    assert_non_null(strstr(log, "PTX"));
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            add(link, CU_JIT_INPUT_PTX, texts[i], strlen(texts[i]) + 1, "b", 0, NULL, NULL),
            CUDA_SUCCESS);
    assert_int_equal(complete(link, &image, &bytes), CUDA_SUCCESS);
    assert_int_equal(f->driver->module_load(&whole, image, 0, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(destroy(link), CUDA_SUCCESS);
    assert_int_equal(destroy(link), CUDA_ERROR_INVALID_HANDLE);
    f->module = whole;
    assert_int_equal(launch(f, "doubled", 1, 1, 0, NULL), CUDA_SUCCESS);
    f->module = other;
    assert_int_equal(word(f, 0), 10);
    assert_int_equal(word(f, 1), 5);

    assert_int_equal(create(2, options, values, &link), CUDA_SUCCESS);
    assert_int_equal(add(link, CU_JIT_INPUT_PTX, texts[0], 60, "cut", 0, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(complete(link, &image, &bytes), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(destroy(link), CUDA_SUCCESS);
    free(texts[0]);
    free(texts[1]);
    dlclose(library);
}

typedef CUresult library_load_fn(CUlibrary *, const void *, CUjit_option *, void **, unsigned,
    CUlibraryOption *, void **, unsigned);
typedef CUresult library_kernel_fn(CUkernel *, CUlibrary, const char *);
typedef CUresult kernel_function_fn(CUfunction *, CUkernel);
typedef CUresult library_count_fn(unsigned *, CUlibrary);
typedef CUresult library_unload_fn(CUlibrary);

static void libraries_have_kernels(void **state)
{
    struct fixture *f = *state;
    void *so = dlopen(KEET_SOFTWARE_DRIVER, RTLD_NOW);
    library_load_fn *load = (library_load_fn *)found(so, "cuLibraryLoadData");
    library_kernel_fn *kernel_of = (library_kernel_fn *)found(so, "cuLibraryGetKernel");
    library_count_fn *count = (library_count_fn *)found(so, "cuLibraryGetKernelCount");
    kernel_function_fn *function_of = (kernel_function_fn *)found(so, "cuKernelGetFunction");
    library_unload_fn *unload = (library_unload_fn *)found(so, "cuLibraryUnload");
    const CUlaunchConfig config = {.gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 2,
        .blockDimY = 1,
        .blockDimZ = 1};
    uint32_t step = 4, nr = NR;
    void *params[] = {&f->array, &step, &nr};
    CUfunction function;
    CUlibrary library;
    CUkernel kernel;
    unsigned nr_kernels;

    assert_int_equal(load(&library, faults_ptx, NULL, NULL, 0, NULL, NULL, 0), CUDA_SUCCESS);
    assert_int_equal(count(&nr_kernels, library), CUDA_SUCCESS);
    assert_true(nr_kernels >= 5);
    assert_int_equal(kernel_of(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(kernel_of(&kernel, library, "add"), CUDA_SUCCESS);
    assert_int_equal(function_of(&function, kernel), CUDA_SUCCESS);
    assert_int_equal(f->driver->launch(&config, function, params, NULL), CUDA_SUCCESS);
    assert_int_equal(word(f, 1), 9);
    assert_int_equal(word(f, 2), 5);
    assert_int_equal(unload(library), CUDA_SUCCESS);
    assert_int_equal(unload(library), CUDA_ERROR_INVALID_HANDLE);
    dlclose(so);
}

/* What cannot be done is there to be looked up, and says so when it is called. */
/* Each block of a cluster copies a box of the array by a tensor map, and says its rank. */
static const char hopper_ptx[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".shared .align 128 .b8 s[256];\n.shared .align 8 .b8 m[8];\n"
    ".visible .entry copy(.param .align 64 .b8 map[128], .param .u64 p)\n{\n"
    ".reg .b32 T, S, M, R, V;\n.reg .b64 A, B, C;\n.reg .pred P, Q;\n"
    "mov.b64 C, map;\ncvta.param.u64 C, C;\nld.param.u64 A, [p];\nmov.u32 S, s;\nmov.u32 M, m;\n"
    "mov.u32 T, %tid.x;\nmov.u32 R, %cluster_ctarank;\nsetp.eq.u32 P, T, 0;\n"
    "@P mbarrier.init.shared::cta.b64 [M], 1;\nbar.sync 0;\n"
    "@P mbarrier.arrive.expect_tx.shared::cta.b64 _, [M], 256;\n"
    "@P cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [S], "
    "[C, {4, R}], [M];\n"
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 Q, [M], 0;\n@!Q bra WAIT;\n"
    "ld.shared.u32 V, [S];\nmad.lo.u32 V, R, 1000, V;\nmov.u32 T, %ctaid.x;\n"
    "mul.wide.u32 B, T, 4;\nadd.u64 A, A, B;\n@P st.global.u32 [A], V;\nret;\n}\n";

typedef CUresult encode_fn(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
    const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static CUresult make_map(
    struct fixture *f, CUtensorMap *map, cuuint32_t inner, CUtensorMapInterleave interleave)
{
    void *so = dlopen(KEET_SOFTWARE_DRIVER, RTLD_NOW);
    encode_fn *encode = (encode_fn *)found(so, "cuTensorMapEncodeTiled");
    const cuuint64_t size[2] = {16, 64}, stride[1] = {64};
    const cuuint32_t box[2] = {inner, 8}, step[2] = {1, 1};
    const CUresult code = encode(map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)f->array, size,
        stride, box, step, interleave, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

    dlclose(so);
    return code;
}

static void clusters_and_tensor_maps(void **state)
{
    struct fixture *f = *state;
    CUlaunchAttribute cluster = {
        .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {.x = 4, .y = 1, .z = 1}};
    CUlaunchConfig config = {.gridDimX = 8,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 32,
        .blockDimY = 1,
        .blockDimZ = 1,
        .attrs = &cluster,
        .numAttrs = 1};
    CUtensorMap map;
    CUdeviceptr out;
    CUmodule module;
    CUfunction function;
    uint32_t got[8];
    void *params[] = {&map, &out};

    assert_int_equal(make_map(f, &map, 7, CU_TENSOR_MAP_INTERLEAVE_NONE),
        CUDA_ERROR_INVALID_VALUE); /* 28 bytes */
    assert_int_equal(make_map(f, &map, 8, CU_TENSOR_MAP_INTERLEAVE_16B), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(make_map(f, &map, 8, CU_TENSOR_MAP_INTERLEAVE_32B), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(make_map(f, &map, 8, (CUtensorMapInterleave)3), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(make_map(f, &map, 8, CU_TENSOR_MAP_INTERLEAVE_NONE), CUDA_SUCCESS);
    assert_int_equal(f->driver->module_load(&module, hopper_ptx, 0, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->module_function(&function, module, "copy"), CUDA_SUCCESS);
    assert_int_equal(f->driver->mem_alloc(&out, sizeof(got)), CUDA_SUCCESS);
    for (uint32_t i = 0; i < NR; i++)
        assert_int_equal(f->driver->copy_to_device(f->array + i * 4, &i, 4), CUDA_SUCCESS);
    assert_int_equal(f->driver->launch(&config, function, params, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->copy_to_host(got, out, sizeof(got)), CUDA_SUCCESS);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(got[i], i % 4 * 1000 + i % 4 * 16 + 4);
    config.gridDimX = 6;
    assert_int_equal(
        f->driver->launch(&config, function, params, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    config.gridDimX = 16;
    cluster.value.clusterDim.x = 16;
    assert_int_equal(
        f->driver->launch(&config, function, params, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_int_equal(f->driver->func_set_attribute(
                         function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        CUDA_SUCCESS);
    assert_int_equal(f->driver->mem_alloc(&out, 64), CUDA_SUCCESS);
    assert_int_equal(f->driver->launch(&config, function, params, NULL), CUDA_SUCCESS);
    assert_int_equal(f->driver->ctx_synchronize(), CUDA_SUCCESS);
}

static void the_rest_is_refused(void **state)
{
    static const char *const names[] = {"cuMipmappedArrayCreate", "cuIpcGetMemHandle", "cuMemMap",
        "cuGraphAddMemAllocNode", "cuGreenCtxCreate", "cuTensorMapEncodeIm2colWide"};
    void *so = dlopen(KEET_SOFTWARE_DRIVER, RTLD_NOW);
    typedef CUresult any_fn(void *, void *, void *, void *, void *, void *);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        any_fn *call = (any_fn *)found(so, names[i]);

        assert_int_equal(call(NULL, NULL, NULL, NULL, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    }
    assert_null(dlsym(so, "cuNothingOfTheKind"));
    dlclose(so);
}

/* As CUDA 3 had it: "add" has its array at 0, the step at 8 and the number at 12. */
static void launches_of_cuda_3(void **state)
{
    struct fixture *f = *state;
    void *so = dlopen(KEET_SOFTWARE_DRIVER, RTLD_NOW);
    CUresult (*shape)(CUfunction, int, int, int), (*smem)(CUfunction, unsigned),
        (*size)(CUfunction, unsigned), (*word_at)(CUfunction, int, unsigned),
        (*bytes_at)(CUfunction, int, void *, unsigned), (*grid)(CUfunction, int, int);
    CUfunction function;

    *(void **)&shape = found(so, "cuFuncSetBlockShape");
    *(void **)&smem = found(so, "cuFuncSetSharedSize");
    *(void **)&size = found(so, "cuParamSetSize");
    *(void **)&word_at = found(so, "cuParamSeti");
    *(void **)&bytes_at = found(so, "cuParamSetv");
    *(void **)&grid = found(so, "cuLaunchGrid");
    assert_int_equal(f->driver->module_function(&function, f->module, "add"), CUDA_SUCCESS);
    assert_int_equal(grid(function, 8, 1), CUDA_ERROR_INVALID_VALUE); /* no block yet */
    assert_int_equal(shape(function, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shape(function, 64, 2, 1), CUDA_SUCCESS);
    assert_int_equal(smem(function, 16), CUDA_SUCCESS);
    assert_int_equal(bytes_at(function, 0, &f->array, 8), CUDA_SUCCESS);
    assert_int_equal(word_at(function, 8, 4), CUDA_SUCCESS);
    assert_int_equal(word_at(function, 12, NR / 2), CUDA_SUCCESS);
    assert_int_equal(word_at(function, 13, NR), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(size(function, 16), CUDA_SUCCESS);
    assert_int_equal(size(function, 17), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(grid(function, 8, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shape(function, 128, 1, 1), CUDA_SUCCESS);
    assert_int_equal(grid(function, 8, 1), CUDA_SUCCESS);
    assert_int_equal(f->driver->ctx_synchronize(), CUDA_SUCCESS);
    assert_int_equal(word(f, 0), 9);
    assert_int_equal(word(f, NR / 2), 5);
    dlclose(so);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(launches_of_cuda_3, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kernel_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_stick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_do_not_stick, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_memory_is_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parameters_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(graphs_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_says_what_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_are_linked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(libraries_have_kernels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clusters_and_tensor_maps, set_up, tear_down),
        cmocka_unit_test(the_rest_is_refused),
        cmocka_unit_test(a_missing_driver_is_explained),
    };

    setenv("KEET_CUDA_DRIVER", KEET_SOFTWARE_DRIVER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
