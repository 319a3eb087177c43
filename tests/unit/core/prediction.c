/* Tests of core/prediction: notes hold predictions, and predictions are compared with the profile.
 */
#include "core/prediction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct arena *arena;

static const char *compared(const char *prediction, double time_ns)
{
    struct candidate c;

    candidate_init(&c, arena, NULL);
    c.proposal_note = prediction_note(arena, "wider loads", prediction);
    c.profiled = time_ns > 0;
    c.profile.time_ns = time_ns;
    counters_set(&c.profile.total, METRIC_REGISTERS, 64, PROV_COUNTED);
    return prediction_compared(arena, &c);
}

static void times_and_metrics_are_compared(void **state)
{
    assert_string_equal(compared("", 8000), "");
    assert_string_equal(compared("time 8 us", 0), "");
    assert_string_equal(
        compared("time 8 us", 10000), "expected: time 8 us; came out: time 10 us (1.25 times)");
    assert_string_equal(compared("time from 12 us to 8 us", 10000),
        "expected: time from 12 us to 8 us; came out: time 10 us (0.83 times)");
    assert_string_equal(compared("time 0.02 ms, launch__registers_per_thread 80", 10000),
        "expected: time 0.02 ms, launch__registers_per_thread 80; came out: time 10 us (0.50 "
        "times),"
        " launch__registers_per_thread 64");
    assert_string_equal(compared("launch__registers_per_thread 96 -> 64", 10000),
        "expected: launch__registers_per_thread 96 -> 64; came out: launch__registers_per_thread "
        "64");
    /* Words, unknown metrics and numbers without a unit are not compared. */
    assert_string_equal(compared("fewer waits", 10000), "expected: fewer waits");
    assert_string_equal(compared("time 8", 10000), "expected: time 8");
    assert_string_equal(compared("sm__zorn 8", 10000), "expected: sm__zorn 8");
}

static void a_note_without_a_prediction_stays(void **state)
{
    const char *note = "the original";
    struct candidate c;

    assert_ptr_equal(prediction_note(arena, note, ""), note);
    candidate_init(&c, arena, NULL);
    c.profiled = true;
    assert_string_equal(prediction_compared(arena, &c), "");
    c.proposal_note = note;
    assert_string_equal(prediction_compared(arena, &c), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_metrics_are_compared),
        cmocka_unit_test(a_note_without_a_prediction_stays),
    };
    int status;

    arena = arena_create();
    status = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(arena);
    return status;
}
