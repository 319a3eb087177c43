/* Owns the choice of sizes: each check line, and tails derived from them. Tails are where kernels
 * break: one less and one more than a round size, and primes that no tile divides. */
#include "check/check_shapes.h"

#include <inttypes.h>

enum {
    TIMED_MAX_ELEMS = 65536,
    RESORT_MAX_BYTES = 384 << 20, /* a run and its comparison hold up to five copies of outputs */
    SHRUNK_MAX_ELEMS = 4096,
    LESS_MAX_ELEMS = 16 * TIMED_MAX_ELEMS,
    ALONE_MAX_ELEMS = 128 * TIMED_MAX_ELEMS,
    MAX_ALONE = 8, /* sizes that are made smaller one by one, each to one of NR_ALONE numbers */
    NR_ALONE = 3,
    LESS_STEPS = 3,
    NR_OTHERS = 14, /* shapes of which there is one each */
    DERIVED_MAX_ELEMS = 1 << 18,
    SCALED_LEAST = 64, /* smaller sizes (a filter's width) stay when others are scaled */
    LONG_ELEMS = 1 << 14,
    LONG_MOST_ELEMS = 1 << 20, /* where the others are as small as they can be */
    MAX_LONG = 8,              /* sizes that are tried at their timed value */
    LONG_TRIES = 2,            /* smaller and smaller others */
    MOST_DIVISOR = 8,
    LEAST_BASE = 16 /* a degenerate check line, N = 1, has no tails worth deriving */
};

/* What the functions below add to. */
struct choice {
    const struct task *task;
    uint64_t held; /* a bit for each size that stays at its timed value */
    struct arena *arena;
    struct check_shape *shapes;
    unsigned nr;
};

static const char *sizes_text(struct arena *arena, const struct env *sizes)
{
    const char *text = "";

    for (size_t i = 0; i < sizes->nr; i++)
        text = arena_printf(arena, "%s%s%s = %" PRId64, text, i ? ", " : "",
            sizes->bindings[i].name, sizes->bindings[i].value);
    return text;
}

static bool same_sizes(const struct env *a, const struct env *b)
{
    for (size_t i = 0; i < a->nr; i++) {
        if (a->bindings[i].value != b->bindings[i].value)
            return false;
    }
    return true;
}

static void add(struct choice *c, struct shape shape, enum shape_kind kind)
{
    if (!task_assumes(c->task, &shape.sizes))
        return;
    for (unsigned i = 0; i < c->nr; i++) {
        if (kind != SHAPE_EXPLICIT && kind != SHAPE_TIMED && kind != SHAPE_RESORT &&
            same_sizes(&c->shapes[i].shape.sizes, &shape.sizes))
            return;
    }
    c->shapes[c->nr++] = (struct check_shape){
        .shape = shape, .kind = kind, .text = sizes_text(c->arena, &shape.sizes)};
}

/* The files that the task names, and those in the folders of its cases. */
static void add_files(struct choice *c)
{
    const struct task *task = c->task;

    add(c, task->timed, SHAPE_TIMED);
    for (unsigned i = 0; i < task->nr_cases; i++) {
        struct check_shape *shape = &c->shapes[c->nr];

        add(c, task->timed, SHAPE_TIMED);
        shape->folder = task->cases[i];
        shape->text = arena_printf(
            c->arena, "%s%scase %s", shape->text, *shape->text ? ", " : "", task->cases[i]);
    }
}

/* A size with one value on every line is a constant of the task (a filter's radius): it stays. */
static bool varies(const struct choice *c, size_t which)
{
    const struct task *task = c->task;

    if (which < 64 && c->held >> which & 1)
        return false;
    if (task->nr_checks == 0)
        return true;
    for (unsigned i = 0; i < task->nr_checks; i++) {
        if (task->checks[i].sizes.bindings[which].value != task->timed.sizes.bindings[which].value)
            return true;
    }
    return false;
}

enum change { CHANGE_PRIME, CHANGE_MORE, CHANGE_HALF, CHANGE_LESS, CHANGE_SMALL, NR_CHANGES };

static int64_t changed(enum change change, int64_t value, size_t which)
{
    static const int64_t primes[] = {29, 13, 37, 7, 19, 11, 23, 5};
    static const int64_t small[] = {67, 35, 33, 5, 17, 9};
    int64_t prime = primes[which % (sizeof(primes) / sizeof(primes[0]))];

    switch (change) {
    case CHANGE_PRIME:
        /* a small size is structural (a filter's width) and stays as it is */
        return value < 8 ? value : prime < value ? prime : value - 1;
    case CHANGE_HALF:
        return value < 8 ? value : value / 2 - 1;
    case CHANGE_LESS:
        return value - 1;
    case CHANGE_MORE:
        return value + 1;
    default:
        prime = small[which % (sizeof(small) / sizeof(small[0]))];
        return value < prime ? value : prime;
    }
}

/* A copy of a shape; the caller may change the sizes of the copy through *sizes. */
static struct shape copy_of(const struct shape *base, struct arena *arena, struct binding **sizes)
{
    const size_t n = base->sizes.nr;

    *sizes = arena_array(arena, n + 1, sizeof(**sizes));
    for (size_t i = 0; i < n; i++)
        (*sizes)[i] = base->sizes.bindings[i];
    return (struct shape){{*sizes, n}, base->line};
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* What all given values of a size can be divided by. */
static int64_t divisor_of(const struct task *task, size_t which)
{
    int64_t divisor = task->timed.sizes.bindings[which].value;

    for (unsigned i = 0; i < task->nr_checks; i++)
        divisor = common_divisor(divisor, task->checks[i].sizes.bindings[which].value);
    return divisor;
}

/* The next multiple of a small number by which all given values can be divided: vectors of two or
 * four elements may count on that. Tails of larger tiles are still tried: many write only sizes
 * like 64 and 1024 and mean any. With one given value nobody knows, and any number is tried. */
static int64_t to_multiple(const struct task *task, size_t which, int64_t value)
{
    const int64_t shared = task->nr_checks > 0 ? divisor_of(task, which) : 1;
    int64_t divisor = shared < MOST_DIVISOR ? shared : MOST_DIVISOR;

    while (shared % divisor != 0)
        divisor--;
    return (value + divisor - 1) / divisor * divisor;
}

static void derive(struct choice *c, const struct shape *base, enum change change)
{
    struct binding *sizes;
    const struct shape shape = copy_of(base, c->arena, &sizes);

    for (size_t i = 0; i < shape.sizes.nr; i++) {
        if (varies(c, i))
            sizes[i].value = to_multiple(c->task, i, changed(change, sizes[i].value, i));
        if (sizes[i].value < 1)
            sizes[i].value = 1;
    }
    if (task_elems(c->task, &shape.sizes) <= DERIVED_MAX_ELEMS)
        add(c, shape, SHAPE_DERIVED);
}

static bool array_uses(const struct task_array *array, const char *name)
{
    return array_dims_use(array, name) || (array->gen.a_int && expr_uses(array->gen.a_int, name)) ||
           (array->gen.b_int && expr_uses(array->gen.b_int, name));
}

/* A count (of iterations, a mask, a penalty) goes to kernels only: no extent depends on it. */
static bool is_count(const struct task *task, size_t which)
{
    const char *name = task->timed.sizes.bindings[which].name;

    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (array_uses(&task->arrays[i], name))
            return false;
    for (unsigned i = 0; i < task->plan.nr_temps; i++)
        if (array_uses(&task->plan.temps[i], name))
            return false;
    for (unsigned i = 0; i < task->plan.nr_launches; i++)
        if (launch_config_uses(&task->plan.launches[i], name))
            return false;
    return true;
}

/* Keeps the ratios of sizes of like magnitude, such as rows and columns. */
static int64_t halved_while_large(int64_t value, unsigned times)
{
    for (; times > 0 && value >= SCALED_LEAST; times--)
        value /= 2;
    return value;
}

/* Keeps all ratios, such as elements per block, even where a size becomes very small. */
static int64_t halved(int64_t value, unsigned times)
{
    if (value < SCALED_LEAST)
        return value;
    return value >> times > 0 ? value >> times : 1;
}

/* Adds the timed sizes, all halved until there are at most most_elems elements. counts_stay: counts
 * are not halved. */
static void scale(struct choice *c, int64_t (*halve)(int64_t value, unsigned times),
    bool counts_stay, uint64_t most_elems, enum shape_kind kind)
{
    const struct shape *base = &c->task->timed;
    struct binding *sizes;
    const struct shape shape = copy_of(base, c->arena, &sizes);
    bool smaller = true;

    for (unsigned times = 1; smaller; times++) {
        smaller = false;
        for (size_t i = 0; i < shape.sizes.nr; i++) {
            const int64_t value = base->sizes.bindings[i].value;

            if (counts_stay && is_count(c->task, i))
                continue;
            sizes[i].value = halve(value, times);
            smaller |= halve(value, times + 1) < sizes[i].value;
        }
        if (task_elems(c->task, &shape.sizes) <= most_elems) {
            add(c, shape, kind);
            return;
        }
    }
}

/* Sets the first sizes (batches, channels) to 1, one after another. The later sizes stay, since
 * they may depend on each other (the width of an image and of the pooled image). */
static void one_of_the_first(struct choice *c, uint64_t most_elems)
{
    struct binding *sizes;
    const struct shape shape = copy_of(&c->task->timed, c->arena, &sizes);

    for (size_t i = 0; i + 1 < shape.sizes.nr; i++) {
        sizes[i].value = 1;
        if (task_elems(c->task, &shape.sizes) <= most_elems) {
            add(c, shape, SHAPE_SHRUNK);
            return;
        }
    }
}

/* Makes one size small and leaves the others, so that sizes that depend on each other stay (the
 * width of a head and the number of heads). */
static void alone(struct choice *c, size_t which, int64_t few)
{
    const struct task *task = c->task;
    struct binding *sizes;
    const struct shape shape = copy_of(&task->timed, c->arena, &sizes);
    int64_t *value = &sizes[which].value;

    while (*value > few || (*value > 1 && task_elems(task, &shape.sizes) > ALONE_MAX_ELEMS))
        *value /= 2;
    if (*value < task->timed.sizes.bindings[which].value &&
        task_elems(task, &shape.sizes) <= ALONE_MAX_ELEMS)
        add(c, shape, SHAPE_LESS);
}

/* Makes the counts (steps, generations) small and leaves the arrays as large as they are. */
static void counts_few(struct choice *c, int64_t few)
{
    struct binding *sizes;
    const struct shape shape = copy_of(&c->task->timed, c->arena, &sizes);
    bool any = false;

    for (size_t i = 0; i < shape.sizes.nr; i++)
        if (sizes[i].value > few && is_count(c->task, i)) {
            sizes[i].value = few;
            any = true;
        }
    if (any && task_elems(c->task, &shape.sizes) <= ALONE_MAX_ELEMS)
        add(c, shape, SHAPE_LESS);
}

/* Makes all sizes smaller, small ones too: the first shape with few enough elements, and some
 * smaller ones. */
static void all_less(struct choice *c)
{
    for (unsigned times = 1, steps = 0; times < 32 && steps < LESS_STEPS;
         times += 1 + (steps > 0)) {
        struct binding *sizes;
        const struct shape shape = copy_of(&c->task->timed, c->arena, &sizes);

        for (size_t i = 0; i < shape.sizes.nr; i++) {
            const int64_t value = sizes[i].value, less = value >> times;

            sizes[i].value = value < 8 ? value : less > 2 ? less : 2;
        }
        if (task_elems(c->task, &shape.sizes) > LESS_MAX_ELEMS)
            continue;
        add(c, shape, SHAPE_LESS);
        steps++;
    }
}

/* Half of a size, where that is a multiple of what all given values are multiples of. */
static int64_t smaller(const struct task *task, size_t which, int64_t value)
{
    const int64_t divisor = task->nr_checks ? divisor_of(task, which) : 1;
    const int64_t half = value / 2 / divisor * divisor;

    return half < 1 || half < divisor ? value : half;
}

/* One size at its timed value and the others as on the base line, and then smaller and smaller: a
 * loop that is cut short, an index that is too narrow or a grid that is capped shows where a size
 * is long, and only there. */
static void long_one(struct choice *c, const struct shape *base, size_t which)
{
    const struct task *task = c->task;
    uint64_t most = LONG_ELEMS;
    struct binding *sizes;
    struct shape shape = copy_of(base, c->arena, &sizes);
    const size_t n = shape.sizes.nr;
    bool less = true;

    for (size_t i = 0; task->nr_checks == 0 && i < n; i++)
        if (varies(c, i))
            sizes[i].value = changed(CHANGE_SMALL, sizes[i].value, i);
    sizes[which].value = task->timed.sizes.bindings[which].value;
    for (unsigned try = 0; try < LONG_TRIES && less; try++, most /= 16) {
        while (less && task_elems(task, &shape.sizes) > most) {
            less = false;
            for (size_t i = 0; i < n; i++) {
                const int64_t value = sizes[i].value;

                if (i != which && varies(c, i) && value > 1)
                    sizes[i].value = smaller(task, i, value);
                less |= sizes[i].value < value;
            }
        }
        if (task_elems(task, &shape.sizes) <= LONG_MOST_ELEMS) {
            const unsigned before = c->nr;

            add(c, shape, SHAPE_LONG);
            if (c->nr > before)
                c->shapes[before].size = (unsigned)which;
            shape = copy_of(&shape, c->arena, &sizes);
        }
    }
}

/* For each size that is larger where it is timed than anywhere else. */
static void long_ones(struct choice *c, const struct shape *base)
{
    const struct env *timed = &c->task->timed.sizes;
    unsigned nr_long = 0;

    for (size_t i = 0; i < timed->nr && nr_long < MAX_LONG; i++) {
        bool longer = varies(c, i);

        for (unsigned s = 0; longer && s < c->nr; s++)
            longer = c->shapes[s].shape.sizes.bindings[i].value < timed->bindings[i].value;
        if (!longer || timed->bindings[i].value < LEAST_BASE)
            continue;
        long_one(c, base, i);
        nr_long++;
    }
}

bool shapes_read_files(const struct task *task)
{
    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (task->arrays[i].role != ROLE_OUT && task->arrays[i].gen.kind == GEN_FILE)
            return true;
    return false;
}

bool shapes_use_files(const struct task *task)
{
    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (task->arrays[i].expect_path)
            return true;
    return shapes_read_files(task);
}

static int64_t largest_size(const struct choice *c, const struct shape *shape)
{
    int64_t largest = 0;

    for (size_t i = 0; i < shape->sizes.nr; i++) {
        if (varies(c, i) && shape->sizes.bindings[i].value > largest)
            largest = shape->sizes.bindings[i].value;
    }
    return largest;
}

/* For kernels that run at no derived sizes, because they need multiples of their tile, or because
 * their sizes depend on each other. Cheap shapes, and shapes close to the timed one, come first. */
static void made_smaller(struct choice *c)
{
    static const int64_t few[NR_ALONE] = {32, 1024, 2};
    const struct task *task = c->task;

    scale(c, halved_while_large, false, TIMED_MAX_ELEMS, SHAPE_SCALED);
    scale(c, halved_while_large, false, 16 * TIMED_MAX_ELEMS, SHAPE_SCALED);
    scale(c, halved, false, TIMED_MAX_ELEMS, SHAPE_SHRUNK);
    scale(c, halved, false, 16 * TIMED_MAX_ELEMS, SHAPE_SHRUNK);
    one_of_the_first(c, 16 * TIMED_MAX_ELEMS);
    scale(c, halved_while_large, false, SHRUNK_MAX_ELEMS, SHAPE_SHRUNK);
    scale(c, halved_while_large, true, TIMED_MAX_ELEMS, SHAPE_SHRUNK);
    counts_few(c, few[0]);
    counts_few(c, 1);
    for (unsigned k = 0; k < NR_ALONE; k++)
        for (size_t i = 0; i < task->timed.sizes.nr && i < MAX_ALONE; i++)
            alone(c, i, few[k]);
    all_less(c);
    if (task_bytes(task, &task->timed.sizes) <= RESORT_MAX_BYTES)
        add(c, task->timed, SHAPE_RESORT);
}

void shapes_choose(const struct task *task, uint64_t held, struct arena *arena,
    struct check_shape **shapes, unsigned *nr)
{
    struct choice c = {.task = task, .held = held, .arena = arena};
    const struct shape *base = &task->timed, *largest = NULL;
    uint64_t least = UINT64_MAX, most = 0, elems;

    c.shapes = arena_array(arena,
        task->nr_checks + task->nr_cases + NR_OTHERS + NR_CHANGES + NR_ALONE * MAX_ALONE +
            LESS_STEPS + MAX_LONG * LONG_TRIES,
        sizeof(*c.shapes));
    for (unsigned i = 0; i < task->nr_checks; i++)
        add(&c, task->checks[i], SHAPE_EXPLICIT);
    if (shapes_use_files(task) &&
        (task->nr_cases ? task_bytes(task, &task->timed.sizes) <= RESORT_MAX_BYTES
                        : task_elems(task, &task->timed.sizes) <= TIMED_MAX_ELEMS))
        add_files(&c);
    /* Tails of the cheapest check line that is not degenerate. */
    for (unsigned i = 0; i < task->nr_checks; i++) {
        elems = task_elems(task, &task->checks[i].sizes);
        if (elems < least && largest_size(&c, &task->checks[i]) >= LEAST_BASE) {
            least = elems;
            base = &task->checks[i];
        }
        if (elems > most) {
            most = elems;
            largest = &task->checks[i];
        }
    }
    if (task->nr_checks == 0)
        derive(&c, base, CHANGE_SMALL);
    /* Cheap ones first; one more than the largest, so that no bound fits all given sizes. */
    derive(&c, base, CHANGE_PRIME);
    derive(&c, base, CHANGE_MORE);
    if (largest)
        derive(&c, largest, CHANGE_MORE);
    derive(&c, base, CHANGE_HALF);
    derive(&c, base, CHANGE_LESS);
    long_ones(&c, base);
    if (task->nr_checks == 0)
        made_smaller(&c);
    *shapes = c.shapes;
    *nr = c.nr;
}
