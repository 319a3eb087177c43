/* The end of a run, for people and for programs: both say the same of a run that was broken off. */
#include "report/report.h"

#include "base/arena.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void unsettled(int64_t node, const char *text, json_int_t number)
{
    const uint64_t none[NR_VERDICTS] = {0};
    const struct task task = {.path = "k.cu"};
    const struct run_info info = {.policy = "mcts", .version = "1", .seed = 1};
    struct arena *arena = arena_create();
    const struct candidate root = {
        .arena = arena, .task = &task, .speedup = 1, .source = "", .recalled_from = -1};
    const struct report_run run = {.task = &task,
        .run = &info,
        .db_path = "k.db",
        .output_path = "k.best.cu",
        .device_name = "H100",
        .why = "interrupted",
        .tree_hash = "0",
        .unsettled = node,
        .verdicts = none,
        .recalled = none,
        .path = &root,
        .nr_path = 1,
        .columns = 400};
    struct str said = {0}, document = {0};
    json_t *read;

    report_summary(&said, &run);
    assert_true((strstr(str_text(&said), "compared at the timed size") != NULL) == (text != NULL));
    if (text)
        assert_non_null(strstr(str_text(&said), text));
    report_json(&document, &run);
    read = json_loads(str_text(&document), 0, NULL);
    assert_non_null(read);
    assert_int_equal(json_integer_value(json_object_get(read, "unsettled")), number);
    assert_true(json_is_null(json_object_get(read, "unsettled")) == (number == 0));
    json_decref(read);
    arena_destroy(arena);
    str_finish(&said);
    str_finish(&document);
}

static void a_faster_node_that_was_not_compared(void **state)
{
    (void)state;
    unsettled(7, "Node 7 is faster, and was not compared at the timed size", 7);
    unsettled(0, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_faster_node_that_was_not_compared)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
