/* Owns the text of the original in f64. */
#include "run/widen.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions that end in f would round to f32. What looks at bits is left: the checker finds out
 * that the outputs are others then. */
static const char widened[] =
    "\n#define float double\n#define float1 double1\n#define float2 double2\n"
    "#define float3 double3\n#define float4 double4\n"
    "#define make_float1 make_double1\n#define make_float2 make_double2\n"
    "#define make_float3 make_double3\n#define make_float4 make_double4\n"
    "#define expf exp\n#define exp2f exp2\n#define exp10f exp10\n#define expm1f expm1\n"
    "#define logf log\n#define log2f log2\n#define log10f log10\n#define log1pf log1p\n"
    "#define sqrtf sqrt\n#define rsqrtf rsqrt\n#define cbrtf cbrt\n#define powf pow\n"
    "#define sinf sin\n#define cosf cos\n#define tanf tan\n#define tanhf tanh\n#define sinhf sinh\n"
    "#define coshf cosh\n#define asinf asin\n#define acosf acos\n#define atanf atan\n"
    "#define atan2f atan2\n#define erff erf\n#define erfcf erfc\n#define normcdff normcdf\n"
    "#define fmaf fma\n#define fmaxf fmax\n#define fminf fmin\n#define fabsf fabs\n"
    "#define fmodf fmod\n#define floorf floor\n#define ceilf ceil\n#define truncf trunc\n"
    "#define roundf round\n#define rintf rint\n#define nearbyintf nearbyint\n"
    "#define copysignf copysign\n#define hypotf hypot\n#define sincosf sincos\n#define fdimf fdim\n"
    "#define lroundf lround\n#define lrintf lrint\n#define ldexpf ldexp\n#define frexpf frexp\n"
    "#define __expf exp\n#define __exp10f exp10\n#define __logf log\n#define __log2f log2\n"
    "#define __log10f log10\n#define __sinf sin\n#define __cosf cos\n#define __tanf tan\n"
    "#define __powf pow\n#define __fsqrt_rn sqrt\n#define __frsqrt_rn rsqrt\n#define __fmaf_rn "
    "fma\n"
    "#define __fdividef(a, b) ((a) / (b))\n#define __fdiv_rn(a, b) ((a) / (b))\n"
    "#define __frcp_rn(a) (1.0 / (a))\n#define __fadd_rn(a, b) ((a) + (b))\n"
    "#define __fsub_rn(a, b) ((a) - (b))\n#define __fmul_rn(a, b) ((a) * (b))\n"
    "#define __saturatef(a) fmin(fmax((a), 0.0), 1.0)\n";

/* The place behind the last line that includes a header. */
static size_t behind_includes(const char *code)
{
    const char *behind = code;

    for (const char *at = code; at && *at;) {
        const char *end = strchr(at, '\n');

        at += strspn(at, " \t");
        if (*at == '#' && str_starts(at + 1 + strspn(at + 1, " \t"), "include"))
            behind = end ? end : at + strlen(at);
        at = end ? end + 1 : NULL;
    }
    return (size_t)(behind - code);
}

static bool can_widen(const struct task *task, const struct plan *plan)
{
    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (task->arrays[i].record || task->arrays[i].elem == ELEM_TF32)
            return false;
    for (unsigned i = 0; i < plan->nr_launches; i++)
        for (unsigned a = 0; a < plan->launches[i].nr_args; a++)
            if (plan->launches[i].args[a].kind == ARG_STRUCT ||
                plan->launches[i].args[a].kind == ARG_TEXTURE)
                return false;
    return true;
}

static struct task_array *widen_arrays(
    struct arena *arena, const struct task_array *arrays, unsigned nr)
{
    struct task_array *wide = arena_array(arena, nr + 1, sizeof(*wide));

    for (unsigned i = 0; i < nr; i++) {
        wide[i] = arrays[i];
        if (wide[i].elem == ELEM_F32)
            wide[i].elem = ELEM_F64;
    }
    return wide;
}

static bool widen_task(
    struct arena *arena, const struct task *task, struct task *wide, struct err *err)
{
    struct task_scalar *scalars = arena_array(arena, task->nr_scalars + 1, sizeof(*scalars));
    struct plan *plan = &wide->plan;
    struct launch *launches;

    *wide = *task;
    if (task->reference) {
        plan->launches = (struct launch *)(uintptr_t)task->reference;
        plan->nr_launches = 1;
    }
    wide->arrays = widen_arrays(arena, task->arrays, task->nr_arrays);
    plan->temps = widen_arrays(arena, plan->temps, plan->nr_temps);
    for (unsigned i = 0; i < task->nr_scalars; i++) {
        scalars[i] = task->scalars[i];
        if (scalars[i].elem == ELEM_F32)
            scalars[i].elem = ELEM_F64;
    }
    wide->scalars = scalars;
    launches = arena_array(arena, plan->nr_launches + 1, sizeof(*launches));
    for (unsigned i = 0; i < plan->nr_launches; i++) {
        launches[i] = plan->launches[i];
        const char *twice = arena_printf(arena, "2 * (%s)", expr_text(launches[i].smem_bytes));

        launches[i].smem_bytes = expr_parse(arena, twice, strlen(twice), err);
        if (!launches[i].smem_bytes)
            return false;
    }
    plan->launches = launches;
    return true;
}

static bool compile(const struct widen *w, const struct task *wide, struct arena *arena,
    struct compilation *out, bool *found, struct err *err)
{
    struct compile_input input = {
        .name = file_name(wide->path), .tunes = wide->plan.tunes, .nr_tunes = wide->plan.nr_tunes};
    enum verdict verdict = VERDICT_OK;
    const char *text = NULL;
    unsigned line = 0;
    char *code = task_code(w->task->source, w->task->source_bytes);
    const size_t at = behind_includes(code);
    bool ok;

    compile_list_kernels(&wide->plan, arena, &input);
    input.source = arena_printf(arena, "%.*s%s%s", (int)at, code, widened, code + at);
    free(code);
    ok = compile_source(w->compiler, &input, arena, out, &verdict, &line, &text, err);
    *found = ok && verdict == VERDICT_OK;
    return ok;
}

bool widen_original(
    void *owner, struct arena *arena, struct check_wide *wide, bool *found, struct err *err)
{
    const struct widen *w = owner;
    struct task *task = arena_alloc(arena, sizeof(*task));
    struct compilation *compilation = arena_alloc(arena, sizeof(*compilation));

    *found = false;
    *compilation = (struct compilation){0};
    if (!can_widen(w->task, &w->task->plan))
        return true;
    if (!widen_task(arena, w->task, task, err) || !compile(w, task, arena, compilation, found, err))
        return false;
    *wide = (struct check_wide){task, &task->plan, compilation};
    return true;
}
