/* Tests of core/experience: which kernels are alike. Expected values are worked out by hand from
 * the formula in the header. */
#include "core/experience.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double fit(const char *earlier, double intensity, const char *shape, double now)
{
    const struct experience e = {.device = "emu:h100", .shape = earlier, .intensity = intensity};

    return experience_fit(&e, shape, now, "emu:h100");
}

static const char product[] = "in f32[a][b], in f32[b][c], out f32[a][c]";

static void arrays_count_with_their_types(void **state)
{
    assert_true(fabs(fit(product, 100, product, 100) - 1) < 1e-9);
    /* Two inputs of another type are 0.7 each: 2.4 of 6 - 2.4 arrays. */
    assert_true(fabs(fit(product, 100, "in f16[a][b], in f16[b][c], out f32[a][c]", 100) -
                     (0.7 * 2.4 / 3.6 + 0.3)) < 1e-9);
    /* An array of the same type is preferred, wherever it stands: 1 of 3. */
    assert_true(
        fabs(fit("in f32[a]", 0, "in f16[a], in f32[a], out f32[a]", 0) - (0.7 / 3 + 0.3)) < 1e-9);
}

static void roles_and_extents_must_be_the_same(void **state)
{
    assert_true(fabs(fit("in f32[a]", 0, "out f32[a]", 0) - 0.3) < 1e-9);
    assert_true(fabs(fit("in f32[a]", 0, "inout f16[a]", 0) - 0.3) < 1e-9);
    assert_true(fabs(fit("in f32[a][b]", 0, "in f16[a][a]", 0) - 0.3) < 1e-9);
    assert_true(fabs(fit("in f32[a]", 0, "in f16[a][b]", 0) - 0.3) < 1e-9);
}

static void operations_and_devices_count(void **state)
{
    const struct experience e = {.device = "gpu", .shape = product, .intensity = 100};

    assert_true(fabs(fit(product, 100, product, 400) - 0.85) < 1e-9);
    assert_true(fabs(experience_fit(&e, product, 100, "emu:h100") - 0.8) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_count_with_their_types),
        cmocka_unit_test(roles_and_extents_must_be_the_same),
        cmocka_unit_test(operations_and_devices_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
