/* Owns functions that a file calls and does not define: those of C, of CUDA, and of the helpers of
 * CUDA's samples. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/chip.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct call { /* of a function that the file does not define */
    struct interp *ip;
    const char *name;
    struct interp_operand *args;
    const struct tok_range *ranges;
    unsigned nr;
    const struct type *type; /* f<type>(...) */
};

static struct interp_value unknown(void)
{
    return (struct interp_value){0};
}

static struct interp_value real(struct interp *ip, double r)
{
    if (!isfinite(r))
        return unknown();
    return (struct interp_value){
        .kind = VALUE_REAL, .r = r, .type = interp_type_named(ip, "double")};
}

/* ---- numbers from text ---- */

static bool from_text(struct call *c, struct interp_value *out)
{
    static const char *const whole[] = {"atoi", "atol", "atoll", "stoi", "stol", "stoll", "stoul",
        "stoull", "strtol", "strtoll", "strtoul", "strtoull", NULL},
                             *const reals[] = {"atof", "stof", "stod", "strtof", "strtod", NULL};
    const struct interp_value *text = c->nr ? &c->args[0].v : NULL;
    const bool is_whole = str_among(c->name, whole);

    if (!is_whole && !str_among(c->name, reals))
        return false;
    if (text && text->kind == VALUE_TEXT && is_whole) {
        const int64_t base = c->nr == 3 && c->args[2].v.kind == VALUE_INT ? c->args[2].v.i : 10;

        *out = interp_int(
            base >= 0 && base <= 36 && base != 1 ? strtoll(text->text, NULL, (int)base) : 0);
        out->type = interp_type_named(c->ip, strstr(c->name, "oi") ? "int" : "long long");
    } else if (text && text->kind == VALUE_TEXT) {
        *out = real(c->ip, strtod(text->text, NULL));
    }
    return true;
}

static bool on_text(struct call *c, struct interp_value *out)
{
    const struct interp_value *a = &c->args[0].v, *b = &c->args[1].v;
    bool both = c->nr >= 2 && a->kind == VALUE_TEXT && b->kind == VALUE_TEXT;

    if (strcmp(c->name, "strlen") == 0 && c->nr == 1) {
        *out = a->kind == VALUE_TEXT ? interp_int((int64_t)strlen(a->text)) : unknown();
        return true;
    }
    if (strcmp(c->name, "strcmp") == 0 || strcmp(c->name, "strcasecmp") == 0) {
        *out = both ? interp_int(strcmp(a->text, b->text)) : unknown();
        return true;
    }
    if (strcmp(c->name, "strncmp") == 0) {
        bool known = both && c->nr == 3 && c->args[2].v.kind == VALUE_INT && c->args[2].v.i >= 0;

        *out = known ? interp_int(strncmp(a->text, b->text, (size_t)c->args[2].v.i)) : unknown();
        return true;
    }
    return false;
}

/* ---- mathematics ---- */

static bool of_one(struct call *c, struct interp_value *out)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } known[] = {{"sqrt", sqrt}, {"exp", exp}, {"exp2", exp2}, {"log", log}, {"log2", log2},
        {"log10", log10}, {"floor", floor}, {"ceil", ceil}, {"cos", cos}, {"sin", sin},
        {"tan", tan}, {"fabs", fabs}, {"cbrt", cbrt}, {"trunc", trunc}, {"round", round},
        {"rint", rint}};
    double x;
    size_t nr = strlen(c->name);

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        size_t len = strlen(known[i].name);
        bool is_float = nr == len + 1 && c->name[len] == 'f';

        if (strncmp(c->name, known[i].name, len) != 0 || !(nr == len || is_float))
            continue;
        const bool up = strcmp(known[i].name, "ceil") == 0;
        const struct said *said = c->nr == 1 && (up || strcmp(known[i].name, "floor") == 0)
                                      ? said_whole(c->ip->arena, c->args[0].v.said, up)
                                      : NULL;

        *out = c->nr == 1 && interp_number_of(&c->args[0].v, &x) ? real(c->ip, known[i].f(x))
                                                                 : unknown();
        if (out->kind == VALUE_REAL && is_float)
            *out = interp_convert(c->ip, *out, interp_type_named(c->ip, "float"));
        if (out->kind == VALUE_REAL)
            out->said = said;
        else if (said && c->args[0].v.kind == VALUE_SIZE)
            *out = (struct interp_value){
                .kind = VALUE_SIZE, .said = said, .type = interp_type_named(c->ip, "double")};
        return true;
    }
    if (strcmp(c->name, "abs") == 0 && c->nr == 1) {
        *out = c->args[0].v;
        if (out->kind == VALUE_INT)
            out->i = out->i < 0 ? -out->i : out->i;
        out->r = fabs(out->r);
        return true;
    }
    return false;
}

static bool of_two(struct call *c, struct interp_value *out)
{
    static const char *const least[] = {"min", "fmin", "fminf", "MIN", NULL},
                             *const most[] = {"max", "fmax", "fmaxf", "MAX", NULL},
                             *const powers[] = {"pow", "powf", NULL},
                             *const rests[] = {"fmod", NULL};
    bool lesser = str_among(c->name, least), greater = str_among(c->name, most);
    double x, y;

    if (!lesser && !greater && !str_among(c->name, powers) && !str_among(c->name, rests))
        return false;
    *out = unknown();
    if (c->nr != 2)
        return true;
    const struct interp_value *a = &c->args[0].v, *b = &c->args[1].v;
    const struct said *said = (lesser || greater) && (a->said || b->said)
                                  ? said_of(c->ip->arena, lesser ? "min" : "max",
                                        interp_said(c->ip, a), interp_said(c->ip, b), NULL)
                                  : NULL;

    if (!interp_number_of(a, &x) || !interp_number_of(b, &y)) {
        if (said)
            *out = (struct interp_value){
                .kind = VALUE_SIZE, .said = said, .type = a->type ? a->type : b->type};
        return true;
    }
    if (lesser || greater) {
        *out = (x < y) == lesser ? *a : *b;
        out->said = said;
        if (c->type)
            *out = interp_convert(c->ip, *out, c->type);
    } else {
        *out = real(c->ip, c->name[0] == 'p' ? pow(x, y) : y != 0 ? fmod(x, y) : 0);
    }
    return true;
}

/* rand() and its kin give a VALUE_RANGE. */
static bool random_number(struct call *c, struct interp_value *out)
{
    static const char *const whole[] = {"rand", "random", "lrand48", NULL};
    bool real_one = strcmp(c->name, "drand48") == 0;

    if (c->nr != 0 || (!real_one && !str_among(c->name, whole)))
        return false;
    *out = (struct interp_value){.kind = VALUE_RANGE,
        .high = real_one ? 1 : 2147483647.0,
        .type = interp_type_named(c->ip, real_one ? "double" : "int")};
    return true;
}

/* ---- memory ---- */

static int64_t product(const struct call *c, unsigned first, unsigned nr)
{
    int64_t bytes = 1;

    for (unsigned i = first; i < first + nr; i++) {
        int64_t n = -1;

        if (i >= c->nr || !interp_whole(&c->args[i].v, &n) || n < 0 ||
            (n > 0 && bytes > INT64_MAX / n))
            return -1;
        bytes *= n;
    }
    return bytes;
}

/* What is said of the product. */
static const struct said *said_product(const struct call *c, unsigned first, unsigned nr)
{
    const struct said *said = first < c->nr ? interp_said(c->ip, &c->args[first].v) : NULL;

    for (unsigned i = first + 1; i < first + nr; i++)
        said = i < c->nr ? said_of(c->ip->arena, "*", said, interp_said(c->ip, &c->args[i].v), NULL)
                         : NULL;
    return said;
}

/* The name of the memory behind an argument: the last name of (void **)&s.d_a. */
static const char *last_name(const struct call *c, unsigned arg)
{
    const struct tok_range r = c->ranges[arg];
    const char *name = NULL;

    for (unsigned i = r.from; i < r.to; i++) {
        if (r.toks->tok[i].kind == TOK_NAME)
            name = r.toks->tok[i].text;
        if (toks_is(r.toks, i, "["))
            break;
    }
    return name;
}

/* cudaMalloc(&p, bytes): sets the pointer whose address is passed. */
static struct interp_value into_pointer(
    struct call *c, int64_t bytes, const struct said *said, bool device)
{
    struct interp_operand *to = &c->args[0];
    struct memory *m = interp_memory(c->ip, bytes, device);
    const struct type *pointer = NULL;

    m->said = said;
    m->name = to->v.kind != VALUE_ADDRESS ? last_name(c, 0)
              : to->v.slot->path          ? to->v.slot->path
                                          : to->v.slot->name;
    if (to->v.kind == VALUE_ADDRESS) {
        pointer = to->v.slot->type;
        to->v.slot->v =
            interp_pointer(m, pointer && pointer->kind == TYPE_POINTER ? pointer->to : NULL, 0);
    } else if (to->v.kind == VALUE_MEMORY) { /* an element of an array of pointers */
        pointer = to->v.type;
        interp_set_cell(c->ip, to->v.memory, to->v.i,
            interp_pointer(m, pointer && pointer->kind == TYPE_POINTER ? pointer->to : NULL, 0));
    } else if (to->slot) { /* cudaMalloc(p, n), where p is a reference */
        to->slot->v = interp_pointer(m, to->slot->type ? to->slot->type->to : NULL, 0);
    }
    return interp_int(0);
}

/* Functions that allocate. Their arguments from `first` on, `nr` of them, multiply to bytes. */
static const struct {
    const char *name;
    unsigned first, nr;
    bool returns, device; /* returns: the pointer; else the first argument says where it goes */
} allocators[] = {{"cudaMalloc", 1, 1, false, true}, {"cudaMallocManaged", 1, 1, false, true},
    {"cudaMallocAsync", 1, 1, false, true}, {"cudaMallocHost", 1, 1, false, false},
    {"cudaHostAlloc", 1, 1, false, false}, {"posix_memalign", 2, 1, false, false},
    {"malloc", 0, 1, true, false}, {"calloc", 0, 2, true, false},
    {"aligned_alloc", 1, 1, true, false}, {"memalign", 1, 1, true, false},
    {"alloca", 0, 1, true, false}, {"_mm_malloc", 0, 1, true, false}};

static bool allocates(struct call *c, struct interp_value *out)
{
    if (strcmp(c->name, "cudaMallocPitch") == 0 && c->nr == 4) {
        int64_t width = product(c, 2, 1), rows = product(c, 3, 1);
        int64_t pitch = width < 0 || width > INT64_MAX - 511 ? -1 : (width + 511) / 512 * 512;

        if (c->args[1].v.kind == VALUE_ADDRESS && pitch >= 0)
            interp_assign(c->ip, c->args[1].v.slot, interp_int(pitch));
        bool fits = pitch >= 0 && rows >= 0 && (rows == 0 || pitch <= INT64_MAX / rows);

        *out = into_pointer(c, fits ? pitch * rows : -1, NULL, true);
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(allocators); i++) {
        const unsigned first = allocators[i].first, nr = allocators[i].nr;

        if (strcmp(c->name, allocators[i].name) != 0 || c->nr < first + nr)
            continue;
        if (!allocators[i].returns) {
            *out = into_pointer(
                c, product(c, first, nr), said_product(c, first, nr), allocators[i].device);
            return true;
        }
        struct memory *m = interp_memory(c->ip, product(c, first, nr), false);

        m->said = said_product(c, first, nr);
        m->fill = nr == 2 ? interp_int(0) : unknown();
        *out = interp_pointer(m, NULL, 0);
        return true;
    }
    return false;
}

static void note_copy(struct interp *ip, const struct memory *m, bool taken)
{
    if (m->device && ip->nr_transfers < INTERP_MAX_TRANSFERS)
        ip->transfers[ip->nr_transfers++] = (struct interp_transfer){m, taken, ip->nr_launches};
}

static bool copies(struct call *c, struct interp_value *out)
{
    bool copy = strcmp(c->name, "cudaMemcpy") == 0 || strcmp(c->name, "cudaMemcpyAsync") == 0;
    bool set = strcmp(c->name, "cudaMemset") == 0 || strcmp(c->name, "cudaMemsetAsync") == 0;
    bool host_set = strcmp(c->name, "memset") == 0;

    if ((!copy && !set && !host_set) || c->nr < 3)
        return false;
    *out = interp_int(0);
    struct interp_value *to = &c->args[0].v, *from = &c->args[1].v;

    if (to->kind == VALUE_MEMORY)
        note_copy(c->ip, to->memory, false);
    if (to->kind == VALUE_MEMORY && (set || host_set)) {
        to->memory->zeroed = to->memory->zeroed || (from->kind == VALUE_INT && from->i == 0);
        to->memory->lost = to->memory->lost || !(from->kind == VALUE_INT && from->i == 0);
        to->memory->fill = interp_int(0);
    }
    if (copy && to->kind == VALUE_MEMORY) {
        bool device = from->kind == VALUE_MEMORY && from->memory->device;

        to->memory->from_host = to->memory->from_host || !device;
        if (from->kind == VALUE_MEMORY && !from->memory->foreign)
            to->memory->contents = from->memory->contents;
        to->memory->lost = true;
    }
    if (copy && from->kind == VALUE_MEMORY && !(to->kind == VALUE_MEMORY && to->memory->device)) {
        from->memory->to_host = true;
        note_copy(c->ip, from->memory, true);
    }
    if (copy && to->kind == VALUE_ADDRESS)
        to->slot->v = unknown();
    return true;
}

/* ---- the device ---- */

/* What programs ask of their device: the field of cudaDeviceProp, and the end of the name of
 * cudaDevAttr... */
static const struct {
    const char *field, *attribute;
    int value; /* the first row: of the default chip */
} properties[] = {{"multiProcessorCount", "MultiProcessorCount", 0},
    {"maxThreadsPerBlock", "MaxThreadsPerBlock", 1024}, {"warpSize", "WarpSize", 32},
    {"major", "ComputeCapabilityMajor", 9}, {"minor", "ComputeCapabilityMinor", 0},
    {"cooperativeLaunch", "CooperativeLaunch", 1}, {"managedMemory", "ManagedMemory", 1},
    {"sharedMemPerBlock", "MaxSharedMemoryPerBlock", 49152}, {"computeMode", "ComputeMode", 0},
    {"concurrentKernels", "", 1}, {"concurrentManagedAccess", "", 1}, {"unifiedAddressing", "", 1},
    {"canMapHostMemory", "", 1}, {"maxThreadsPerMultiProcessor", "", 2048},
    {"regsPerBlock", "", 65536}, {"asyncEngineCount", "", 3}, {"integrated", "", 0}};

static struct interp_value property(struct interp *ip, size_t i)
{
    ip->chip_asked = true;
    return interp_int(i == 0 ? (int64_t)chip_default()->nr_sms : properties[i].value);
}

static void set_properties(struct interp *ip, struct interp_slot *slot)
{
    static const struct {
        const char *name;
        int values[3];
    } dims[] = {{"maxGridSize", {INT32_MAX, 65535, 65535}}, {"maxThreadsDim", {1024, 1024, 64}}};

    slot->v = interp_object(ip, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(dims); i++) {
        struct memory *m = interp_memory(ip, sizeof(dims->values), false);

        for (unsigned k = 0; k < 3; k++)
            interp_set_cell(ip, m, 4 * k, interp_int(dims[i].values[k]));
        interp_field(ip, slot->v.object, dims[i].name)->v =
            interp_pointer(m, interp_type_named(ip, "int"), 0);
    }
    for (size_t i = 0; i < ARRAY_SIZE(properties); i++)
        interp_field(ip, slot->v.object, properties[i].field)->v = property(ip, i);
}

/* Sets what cudaDeviceGetAttribute answers for one of its names. */
static void set_attribute(struct interp *ip, struct interp_slot *to, const char *what)
{
    static const char prefix[] = "cudaDevAttr";

    to->v = unknown();
    for (size_t i = 0; i < ARRAY_SIZE(properties) && str_starts(what, prefix); i++)
        if (strcmp(what + strlen(prefix), properties[i].attribute) == 0)
            interp_assign(ip, to, property(ip, i));
}

static bool of_device(struct call *c, struct interp_value *out)
{
    struct interp_slot *to = c->nr && c->args[0].v.kind == VALUE_ADDRESS ? c->args[0].v.slot : NULL;

    if (strcmp(c->name, "cudaGetDeviceCount") == 0 || strcmp(c->name, "cudaGetDevice") == 0) {
        if (to)
            interp_assign(c->ip, to, interp_int(strcmp(c->name, "cudaGetDeviceCount") == 0));
    } else if (strcmp(c->name, "cudaGetDeviceProperties") == 0) {
        if (to)
            set_properties(c->ip, to);
    } else if (strcmp(c->name, "cudaDeviceGetAttribute") == 0 && c->nr >= 2) {
        const char *what = last_name(c, 1);

        if (to)
            set_attribute(c->ip, to, what ? what : "");
    } else if (!str_starts(c->name, "cuda") || strstr(c->name, "String") ||
               strstr(c->name, "Name")) {
        return false;
    } else if (strstr(c->name, "Occupancy") || strstr(c->name, "Get")) {
        for (unsigned a = 0; a < c->nr; a++) /* each address gets an answer */
            if (c->args[a].v.kind == VALUE_ADDRESS)
                c->args[a].v.slot->v = unknown();
    } else if (to) {
        to->v = unknown();
    }
    *out = interp_int(0); /* cudaSuccess */
    return true;
}

/* ---- arguments ---- */

static const char *argument(const struct interp *ip, int64_t i)
{
    struct interp_value v = i >= 0 && i < ip->argc ? interp_cell(ip->argv, 8 * i) : unknown();

    return v.kind == VALUE_TEXT ? v.text : NULL;
}

/* getopt(argc, argv, "n:b:"): the next option. */
static struct interp_value next_option(struct interp *ip, const char *letters)
{
    const char *arg = argument(ip, ip->optind);

    if (!ip->args_known)
        return unknown();
    if (!arg || arg[0] != '-' || !isalpha((unsigned char)arg[1]) || !letters)
        return interp_int(-1);
    const char *letter = strchr(letters, arg[1]);

    ip->optind++;
    ip->optarg = NULL;
    if (!letter)
        return interp_int('?');
    if (letter[1] == ':') {
        ip->optarg = arg[2] ? arg + 2 : argument(ip, ip->optind);
        ip->optind += !arg[2];
    }
    return interp_int(arg[1]);
}

static bool of_arguments(struct call *c, struct interp_value *out)
{
    const bool known = c->nr >= 3 && c->args[2].v.kind == VALUE_TEXT;

    if (!str_starts(c->name, "getopt"))
        return false;
    *out = next_option(c->ip, known ? c->args[2].v.text : NULL);
    return true;
}

/* ---- tensors ---- */

/* torch::zeros({m, n}, options), empty_like(x): a tensor whose shape is said. */
static bool tensors(struct call *c, struct interp_value *out)
{
    static const char *const made[] = {"zeros", "ones", "empty", "full", "rand", "randn", NULL};
    const struct tok_range list = c->nr ? c->ranges[0] : (struct tok_range){0};
    struct tok_range dims[LAUNCH_MAX_ARGS];
    const struct said *said = NULL;

    if (c->nr && c->args[0].slot && str_ends(c->name, "_like")) {
        said = interp_tensor(c->ip, &c->args[0]).memory->said;
    } else if (str_among(c->name, made) && list.from < list.to &&
               toks_is(list.toks, list.from, "{") && list.toks->tok[list.from].match) {
        const unsigned nr = toks_list(list.toks, list.from, dims, LAUNCH_MAX_ARGS);

        for (unsigned d = 0; d < nr; d++) {
            const struct interp_value v = interp_evaluate(c->ip, dims[d]);

            said = d ? said_of(c->ip->arena, "*", said, interp_said(c->ip, &v), NULL)
                     : interp_said(c->ip, &v);
        }
    } else {
        return false;
    }
    *out = interp_pointer(interp_memory(c->ip, -1, true), NULL, 0);
    out->memory->is_tensor = true;
    out->memory->said = said;
    return true;
}

/* ---- the rest ---- */

static bool of_language(struct call *c, struct interp_value *out)
{
    static const char *const ends[] = {"exit", "_exit", "abort", "_Exit", "terminate", NULL},
                             *const same[] = {"raw_pointer_cast", "move", "forward", "ref", "cref",
                                 "make_unique", "checkCudaErrors", "device_pointer_cast", NULL};
    if (str_among(c->name, ends)) {
        c->ip->stopped = c->ip->ended = !c->ip->endless;
        return true;
    }
    if (str_among(c->name, same) && c->nr == 1) {
        *out = c->args[0].v;
        return true;
    }
    if (strcmp(c->name, "swap") == 0 && c->nr == 2) {
        struct interp_value a = c->args[0].v, b = c->args[1].v;

        interp_store(c->ip, &c->args[0], b);
        interp_store(c->ip, &c->args[1], a);
        return true;
    }
    if (strcmp(c->name, "make_tuple") == 0 || strcmp(c->name, "free") == 0)
        return true;
    return false;
}

/* A function that is not known may change what it gets the address of. */
static void lose_args(struct call *c)
{
    static const char *const harmless[] = {
        "printf", "fprintf", "puts", "memcpy", "free", "cudaFree", "srand", "assert", "swap", NULL};

    if (str_among(c->name, harmless))
        return;
    for (unsigned a = 0; a < c->nr; a++) {
        struct interp_value *v = &c->args[a].v;

        if (v->kind == VALUE_ADDRESS)
            v->slot->v = unknown();
        if (v->kind == VALUE_MEMORY && v->memory != c->ip->argv)
            v->memory->lost = v->memory->foreign = true;
    }
}

struct interp_operand interp_builtin(struct interp *ip, const char *name, struct tok_range *args,
    unsigned nr_args, const struct type *type)
{
    struct interp_operand values[LAUNCH_MAX_ARGS], result = {0};
    struct call c = {ip, name, values, args, nr_args, type};

    if (!ip->walk && interp_launch_call(ip, name, args, nr_args))
        return result;
    memset(values, 0, sizeof(values));
    for (unsigned a = 0; a < nr_args; a++)
        values[a] = interp_operand(ip, args[a]);
    for (unsigned a = 0; a < nr_args; a++) { /* DISPATCH(type, [&] { kernel<T><<<...>>>(...); }) */
        const struct interp_value *v = &values[a].v;

        if (v->kind == VALUE_CODE && !v->code->is_kernel && v->code->body &&
            (ip->walk || interp_launches_in(ip, v->code->toks ? v->code->toks : ip->resolver->toks,
                             v->code->body, v->code->to)))
            interp_call(ip, v->code, NULL, 0, NULL, v->scope, NULL);
    }
    if (ip->walk) {
        interp_walk_call(ip, name, values, nr_args);
        return result;
    }
    if (ip->stopped || from_text(&c, &result.v) || on_text(&c, &result.v) ||
        random_number(&c, &result.v) || of_one(&c, &result.v) || of_two(&c, &result.v) ||
        allocates(&c, &result.v) ||
        interp_texture_call(ip, name, values, nr_args, type, &result.v) || copies(&c, &result.v) ||
        tensors(&c, &result.v) || of_device(&c, &result.v) || of_arguments(&c, &result.v) ||
        of_language(&c, &result.v))
        return result;
    lose_args(&c);
    return result;
}

/* v.insert(v.end(), other.begin(), other.end()). An insertion at another place leaves v unknown. */
static void insert_range(struct interp *ip, struct interp_operand *o, const struct interp_value *at,
    struct tok_range *args, unsigned nr_args)
{
    enum { MOST = 4096 };
    struct memory *m = o->v.memory;
    const unsigned each = interp_sizeof(ip, o->v.type);
    struct interp_value from = {0}, to = {0};

    if (nr_args == 3) {
        from = interp_operand(ip, args[1]).v;
        to = interp_operand(ip, args[2]).v;
    }
    if (!each || m->bytes < 0 || at->kind != VALUE_MEMORY || at->memory != m || at->i != m->bytes ||
        from.kind != VALUE_MEMORY || to.kind != VALUE_MEMORY || from.memory != to.memory ||
        from.memory == m || to.i < from.i || (to.i - from.i) / each > MOST) {
        m->bytes = -1;
        m->lost = true;
        return;
    }
    for (int64_t i = from.i; i + each <= to.i; i += each) {
        interp_set_cell(ip, m, m->bytes, interp_cell(from.memory, i));
        m->bytes += each;
    }
}

/* v.size(), s.c_str() and their kin */
struct interp_operand interp_member_builtin(struct interp *ip, struct interp_operand *o,
    const char *member, struct tok_range *args, unsigned nr_args)
{
    static const char *const itself[] = {"data", "data_ptr", "mutable_data_ptr", "const_data_ptr",
        "contiguous", "begin", "c_str", "get", "cbegin", "front", NULL},
                             *const changing[] = {
                                 "emplace", "erase", "pop_back", "clear", "swap", NULL};
    struct interp_operand result = {0}, first = {0};
    struct memory *m = o->v.kind == VALUE_MEMORY ? o->v.memory : NULL;
    unsigned each = m ? interp_sizeof(ip, o->v.type) : 0;

    if (nr_args)
        first = interp_operand(ip, args[0]);
    if (str_among(member, itself)) {
        result.v = o->v;
        if (strcmp(member, "front") == 0)
            result.v = m ? interp_cell(m, 0) : unknown();
    } else if ((strcmp(member, "size") == 0 || strcmp(member, "length") == 0) && m) {
        result.v = each && m->bytes >= 0 ? interp_int(m->bytes / each) : unknown();
        result.v.said = said_share(ip->arena, m->said, each);
        if (result.v.said && m->bytes < 0)
            result.v.kind = VALUE_SIZE;
    } else if (strcmp(member, "size") == 0 && o->v.kind == VALUE_TEXT) {
        result.v = interp_int((int64_t)strlen(o->v.text));
    } else if (strcmp(member, "end") == 0 && m && m->bytes >= 0) {
        result.v = interp_pointer(m, o->v.type, m->bytes);
    } else if (strcmp(member, "empty") == 0 && m && m->bytes >= 0) {
        result.v = interp_int(m->bytes == 0);
    } else if ((strcmp(member, "resize") == 0 || strcmp(member, "assign") == 0) && m) {
        bool known =
            first.v.kind == VALUE_INT && each && first.v.i >= 0 && first.v.i < INT64_MAX / each;

        m->bytes = known ? first.v.i * each : -1;
        m->said =
            said_of(ip->arena, "*", interp_said(ip, &first.v), said_number(ip->arena, each), NULL);
    } else if (strcmp(member, "insert") == 0 && m) {
        insert_range(ip, o, &first.v, args, nr_args);
    } else if ((strcmp(member, "push_back") == 0 || strcmp(member, "emplace_back") == 0) && m) {
        m->bytes = m->bytes < 0 && m->nr_cells == 0 ? 0 : m->bytes;
        if (m->bytes >= 0 && each) {
            interp_set_cell(ip, m, m->bytes, interp_convert(ip, first.v, o->v.type));
            m->bytes += each;
            m->said = NULL;
        }
    } else if (m && str_among(member, changing)) {
        m->bytes = -1;
        m->lost = true;
    }
    return result;
}
