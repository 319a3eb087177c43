/* Owns how alike two kernels are by their contracts. */
#include "core/experience.h"

#include "base/str.h"
#include "core/roofline.h"

#include <math.h>
#include <string.h>

enum { MOST_EXTENTS = 26 };

static const double ARRAYS_SHARE = 0.7;
static const double OTHER_DEVICE = 0.8;
static const double OTHER_TYPE = 0.7; /* of an array that is alike but for its elements */

/* The letter of an extent: its place among the extents so far. */
static char letter_of(const char *extents[MOST_EXTENTS], unsigned *nr, const char *text)
{
    unsigned i = 0;

    while (i < *nr && strcmp(extents[i], text) != 0) {
        i++;
    }
    if (i == *nr && *nr < MOST_EXTENTS) {
        extents[(*nr)++] = text;
    }
    return i < MOST_EXTENTS ? (char)('a' + i) : '?';
}

const char *experience_shape(struct arena *arena, const struct task *task)
{
    static const char *const roles[] = {
        [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout", [ROLE_TEMP] = "temp"};
    const char *extents[MOST_EXTENTS];
    struct str out = {0};
    unsigned nr = 0;
    const char *text;

    for (unsigned i = 0; i < task->nr_arrays; i++) {
        const struct task_array *a = &task->arrays[i];

        str_addf(&out, "%s%s %s", i ? ", " : "", roles[a->role],
            a->record ? "struct" : elem_name(a->elem));
        for (unsigned d = 0; d < a->nr_dims; d++) {
            str_addf(&out, "[%c]", letter_of(extents, &nr, expr_text(a->dims[d])));
        }
    }
    text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}

double experience_intensity(const struct task *task)
{
    const struct roofline r = task_roofline(chip_default(), task, NULL);

    return r.source == ROOFLINE_STATED && r.bytes > 0 ? r.flops / r.bytes : 0;
}

/* The length of the array at the start of a shape. */
static size_t array_len(const char *shape)
{
    const char *end = strstr(shape, ", ");

    return end ? (size_t)(end - shape) : strlen(shape);
}

static unsigned nr_arrays(const char *shape)
{
    unsigned nr = *shape != '\0';

    for (; (shape = strstr(shape, ", ")) != NULL; shape += 2) {
        nr++;
    }
    return nr;
}

/* Whether two arrays of shapes, of these lengths, have the same role and extents. */
static bool same_but_type(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const size_t role = strcspn(a, " ") + 1;
    const size_t a_type = strcspn(a, "["), b_type = strcspn(b, "[");

    return strncmp(a, b, role) == 0 && a_len - a_type == b_len - b_type &&
           strncmp(a + a_type, b + b_type, a_len - a_type) == 0;
}

/* The array of `shape` that is `array`, or with `any_type` like it but for its elements; or NULL.
 */
static const char *find_array(const char *shape, const char *array, bool any_type)
{
    const size_t len = array_len(array);

    while (*shape) {
        const size_t here = array_len(shape);

        if (any_type ? same_but_type(array, len, shape, here)
                     : here == len && strncmp(shape, array, len) == 0) {
            return shape;
        }
        shape += here;
        shape += *shape ? 2 : 0;
    }
    return NULL;
}

/* How many arrays two shapes have in common, in the order in which they stand. */
static double nr_common(const char *a, const char *b)
{
    double nr = 0;

    while (*a && *b) {
        const char *same = find_array(b, a, false);
        const char *at = same ? same : find_array(b, a, true);

        if (at) {
            nr += same ? 1 : OTHER_TYPE;
            b = at + array_len(at);
            b += *b ? 2 : 0;
        }
        a += array_len(a);
        a += *a ? 2 : 0;
    }
    return nr;
}

static double intensity_fit(double a, double b)
{
    if (a <= 0 || b <= 0) {
        return a <= 0 && b <= 0 ? 1 : 0.5;
    }
    return fmax(1 - fabs(log2(a / b)) / 4, 0);
}

double experience_fit(
    const struct experience *e, const char *shape, double intensity, const char *device)
{
    const double nr = nr_common(e->shape, shape);
    const double all = nr_arrays(e->shape) + nr_arrays(shape) - nr;
    const double arrays = all > 0 ? nr / all : 0;
    const double fit =
        ARRAYS_SHARE * arrays + (1 - ARRAYS_SHARE) * intensity_fit(e->intensity, intensity);

    return strcmp(e->device, device) == 0 ? fit : OTHER_DEVICE * fit;
}
