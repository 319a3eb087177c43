/* Owns the roofline of a task. */
#include "core/roofline.h"

#include <math.h>
#include <string.h>

/* The tolerances at which tensor cores may do the work of another type: see the header. */
static const double TOLERATES_ONE_PRODUCT = 0x1p-11, TOLERATES_THREE = 0x1p-21,
                    TOLERATES_FP8 = 0x1p-4;

const char *work_name(enum work work)
{
    static const char *const names[NR_WORKS] = {
        [WORK_FLOPS] = "flops",
        [WORK_F64] = "f64_flops",
        [WORK_F32] = "f32_flops",
        [WORK_TF32] = "tf32_flops",
        [WORK_F16] = "f16_flops",
        [WORK_BF16] = "bf16_flops",
        [WORK_FP8] = "fp8_flops",
        [WORK_INT8] = "int8_ops",
        [WORK_INT32] = "int32_ops",
        [WORK_SPECIAL] = "special_ops",
    };

    return names[work];
}

bool work_find(const char *name, enum work *work)
{
    for (*work = WORK_FLOPS; *work < NR_WORKS; ++*work) {
        if (strcmp(name, work_name(*work)) == 0) {
            return true;
        }
    }
    return false;
}

const char *roofline_vector_name(enum work type)
{
    static const char *const names[NR_WORKS] = {
        [WORK_F64] = "f64 FMA",
        [WORK_F32] = "f32 FMA",
        [WORK_F16] = "half2 FMA",
        [WORK_BF16] = "bfloat162 FMA",
        [WORK_INT8] = "dp4a",
        [WORK_INT32] = "32-bit multiply-add",
        [WORK_SPECIAL] = "special functions and FMA",
    };

    return names[type] ? names[type] : "the vector pipe";
}

/* --- the type of `flops` --- */

static enum work work_of(enum elem elem)
{
    switch (elem) {
    case ELEM_F64:
        return WORK_F64;
    case ELEM_F32:
        return WORK_F32;
    case ELEM_TF32:
        return WORK_TF32;
    case ELEM_F16:
        return WORK_F16;
    case ELEM_BF16:
        return WORK_BF16;
    case ELEM_E4M3:
    case ELEM_E5M2:
        return WORK_FP8;
    case ELEM_I8:
    case ELEM_U8:
        return WORK_INT8;
    default:
        return WORK_INT32;
    }
}

static double elems_of(const struct task *task, const struct task_array *array)
{
    struct err ignored;
    uint64_t nr;

    return array_elems(array, &task->timed.sizes, &nr, &ignored) ? (double)nr : 0;
}

static bool is_read(const struct task_array *array)
{
    return array->role == ROLE_IN || array->role == ROLE_INOUT;
}

static bool is_integer(enum work type)
{
    return type == WORK_INT8 || type == WORK_INT32;
}

/* The types of the work, by the rules of the header; f32 where nothing is read. */
static void types_of_work(const struct task *task, bool types[NR_WORKS])
{
    double most = 0;
    bool any = false, floats = false;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (is_read(&task->arrays[i])) {
            most = fmax(most, elems_of(task, &task->arrays[i]));
            floats |= elem_is_float(task->arrays[i].elem);
        }
    }
    for (int pass = 0; pass < 2 && !any; pass++) { /* at first without the indices */
        for (unsigned i = 0; i < task->nr_arrays; i++) {
            const struct task_array *array = &task->arrays[i];

            if (is_read(array) && 16 * elems_of(task, array) >= most &&
                (pass == 1 || !floats || elem_is_float(array->elem))) {
                types[work_of(array->elem)] = any = true;
            }
        }
    }
    for (unsigned i = 0; i < task->nr_arrays && types[WORK_INT32]; i++) {
        const enum work type = work_of(task->arrays[i].elem);

        types[type] |= task->arrays[i].role != ROLE_IN && !is_integer(type);
    }
    types[WORK_F32] |= !any;
}

/* --- rates, in operations per second --- */

static double vector_rate(const struct chip *chip, enum work type)
{
    return chip->peak[type].vector_per_clk_sm * chip->nr_sms * chip->clock_hz;
}

static double tolerance_of(const struct task *task, enum elem elem)
{
    const struct tolerance usual = elem_tolerance(elem);
    const double rel = task->has_tolerance ? task->tolerance.rel : -1;
    const double abs = task->has_tolerance ? task->tolerance.abs : -1;

    return fmax(rel < 0 ? usual.rel : rel, abs < 0 ? usual.abs : abs);
}

/* Of the results the largest tolerance: no result of the task forbids what this one allows. */
static double most_tolerance(const struct task *task)
{
    double most = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (task->arrays[i].role != ROLE_IN) {
            most = fmax(most, tolerance_of(task, task->arrays[i].elem));
        }
    }
    return most;
}

/* The tensor cores' rate for work of the type, by whatever products are right; 0: none. */
static double tensor_rate(const struct chip *chip, enum work type, double tolerance)
{
    double rate = chip->peak[type].tensor_per_s;

    switch (type) {
    case WORK_SPECIAL:
        return 0;
    case WORK_INT8:
        return rate;
    case WORK_INT32:
        return chip->peak[WORK_INT8].tensor_per_s;
    default:
        if (tolerance >= TOLERATES_THREE) {
            rate = fmax(rate, chip->peak[WORK_F16].tensor_per_s / 3);
        }
        if (tolerance >= TOLERATES_ONE_PRODUCT) {
            rate = fmax(rate, chip->peak[WORK_F16].tensor_per_s);
        }
        return tolerance >= TOLERATES_FP8 ? fmax(rate, chip->peak[WORK_FP8].tensor_per_s) : rate;
    }
}

static double ns_at(double ops, double rate)
{
    return rate > 0 ? ops / rate * 1e9 : 0;
}

/* --- the arithmetic --- */

/* Adds work of one type: units work at the same time, so that the slowest counts. */
static void add_work(
    struct roofline *r, const struct chip *chip, enum work type, double ops, double tolerance)
{
    const bool own_tensor = chip->peak[type].tensor_per_s > 0 && type != WORK_F64;
    /* Instead of a special function, a polynomial takes an FMA at least. */
    const double instead = type == WORK_SPECIAL ? vector_rate(chip, WORK_F32) / 2 : 0;
    const double vector_ns = ns_at(ops, vector_rate(chip, type) + instead);
    const double tensor_ns = ns_at(ops, tensor_rate(chip, type, tolerance));
    const double plain_ns =
        ns_at(ops, own_tensor ? chip->peak[type].tensor_per_s : vector_rate(chip, type));
    const double fastest_ns =
        tensor_ns > 0 && vector_ns > 0 ? fmin(tensor_ns, vector_ns) : fmax(tensor_ns, vector_ns);

    if (plain_ns > r->compute_ns) {
        r->type = type;
        r->vector_ns = vector_ns;
        r->tensor_ns = tensor_ns;
        r->compute_ns = plain_ns;
    }
    r->fastest_ns = fmax(r->fastest_ns, fastest_ns);
}

static double eval(const struct expr *expr, const struct task *task)
{
    struct err ignored;
    int64_t number;

    return expr && expr_eval(expr, &task->timed.sizes, &number, &ignored) && number > 0
               ? (double)number
               : 0;
}

static void add_flops(
    struct roofline *r, const struct chip *chip, const struct task *task, double ops)
{
    bool types[NR_WORKS] = {false};
    struct roofline slowest = {0};
    double fastest_ns = INFINITY;
    bool floats = false;

    types_of_work(task, types);
    for (enum work type = WORK_F64; type < NR_WORKS; type++) {
        floats |= types[type] && !is_integer(type);
    }
    for (enum work type = WORK_F64; type < NR_WORKS; type++) {
        struct roofline one = {0};

        if (types[type]) {
            add_work(&one, chip, type, ops, most_tolerance(task));
            fastest_ns = fmin(fastest_ns, one.fastest_ns);
        }
        if (one.compute_ns > slowest.compute_ns && !(floats && is_integer(type))) {
            slowest = one;
        }
    }
    slowest.fastest_ns = fastest_ns;
    *r = slowest;
}

static void add_arithmetic(struct roofline *r, const struct chip *chip, const struct task *task)
{
    const double flops = eval(task->work[WORK_FLOPS], task);
    double all = flops;

    if (flops > 0) {
        add_flops(r, chip, task, flops);
    }
    for (enum work type = WORK_F64; type < NR_WORKS; type++) {
        const double ops = eval(task->work[type], task);

        if (ops > 0) {
            add_work(r, chip, type, ops, most_tolerance(task));
            all += type == WORK_SPECIAL ? 0 : ops;
        }
    }
    r->flops = all;
}

/* --- the bytes --- */

/* What a launch touched; of a sample as if blocks shared nothing. */
static double distinct(const struct counters *n)
{
    const double scale = n->blocks_run > 0 ? (double)n->blocks_all / (double)n->blocks_run : 1;

    return counters_get(n, METRIC_GLOBAL_UNIQUE_BYTES) * fmax(scale, 1);
}

/* Of all launches together, 0 unknown: no array counts twice, and no more than DRAM moved. */
static double counted_bytes(const struct profile *profile, double arrays)
{
    double sum = 0;

    if (!counters_has(&profile->total, METRIC_GLOBAL_UNIQUE_BYTES)) {
        return 0;
    }
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        sum += distinct(&profile->launches[i]);
    }
    sum = fmin(sum > 0 ? sum : distinct(&profile->total), arrays);
    return counters_has(&profile->total, METRIC_DRAM_BYTES)
               ? fmin(sum, counters_get(&profile->total, METRIC_DRAM_BYTES))
               : sum;
}

/* All blocks ran, so that the count of one launch is exact. */
static bool counted_whole(const struct profile *profile)
{
    return profile->nr_launches == 1 && profile->total.blocks_run > 0 &&
           profile->total.blocks_run >= profile->total.blocks_all &&
           counters_has(&profile->total, METRIC_GLOBAL_UNIQUE_BYTES);
}

double roofline_dram_rate(const struct chip *chip, bool modelled)
{
    return chip->dram_bytes_per_s * (modelled ? chip->dram_achievable : 1);
}

static void add_bytes(struct roofline *r, const struct chip *chip, const struct task *task,
    const struct profile *profile)
{
    double read = 0, written = 0;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        const struct task_array *array = &task->arrays[i];
        const double bytes = (double)array_bytes(array, (uint64_t)elems_of(task, array));

        read += is_read(array) ? bytes : 0;
        written += array->role != ROLE_IN ? bytes : 0;
    }
    r->bytes = r->source == ROOFLINE_STATED ? eval(task->bytes, task)
               : profile                    ? counted_bytes(profile, read + written)
                                            : 0;
    if (read + written > 0) {
        r->bytes = fmin(r->bytes, read + written);
    }
    if (profile && counted_whole(profile)) {
        r->bytes = fmin(r->bytes, counters_get(&profile->total, METRIC_GLOBAL_UNIQUE_BYTES));
    }
    const bool measured = profile && profile->time_from == PROV_MEASURED;
    const double held = measured ? fmin(written, (double)chip->l2_bytes) : 0;
    const double rate = roofline_dram_rate(chip, !measured);
    const double share = read + written > 0 ? r->bytes / (read + written) : 0;
    const double moved = measured || share <= 0
                             ? fmax(r->bytes - held, 0)
                             : chip_dram_cost(chip, read * share, written * share);

    r->memory_ns = fmax(ns_at(moved, rate), ns_at(r->bytes, chip->l2_bytes_per_s));
}

static bool states_work(const struct task *task)
{
    bool any = task->bytes != NULL;

    for (unsigned i = 0; i < NR_WORKS; i++) {
        any |= task->work[i] != NULL;
    }
    return any;
}

struct roofline task_roofline(
    const struct chip *chip, const struct task *task, const struct profile *profile)
{
    struct roofline r = {0};

    if (!task) {
        return r;
    }
    if (states_work(task)) {
        add_arithmetic(&r, chip, task);
        r.source = ROOFLINE_STATED;
    }
    add_bytes(&r, chip, task, profile);
    r.least_ns = fmax(r.fastest_ns, r.memory_ns);
    if (r.least_ns > 0 && r.source == ROOFLINE_NONE) {
        r.source = ROOFLINE_COUNTED;
        r.counted = profile->total.metric[METRIC_GLOBAL_UNIQUE_BYTES].from;
    }
    return r;
}

void roofline_say_time(double ns, struct str *out)
{
    str_addf(out, "%.3g %s", ns < 1e6 ? ns / 1e3 : ns / 1e6, ns < 1e6 ? "us" : "ms");
}

void roofline_say(const struct roofline *r, struct str *out)
{
    const bool other_type = r->type == WORK_F64 || r->type == WORK_F32 || r->type == WORK_INT32;

    str_add(out, "at least ");
    if (r->vector_ns <= r->memory_ns || r->vector_ns < 1.01 * r->tensor_ns) {
        roofline_say_time(r->least_ns, out);
        return;
    }
    roofline_say_time(r->vector_ns, out);
    str_addf(out, " by %s", roofline_vector_name(r->type));
    if (r->tensor_ns > 0) {
        str_add(out, ", ");
        roofline_say_time(r->least_ns, out);
        str_add(out, !other_type             ? " on tensor cores"
                     : r->type == WORK_INT32 ? " where tensor cores do it, on values of 8 bits"
                                             : " where tensor cores do it within the tolerance");
    }
}
