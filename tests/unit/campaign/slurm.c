/* Slurm without Slurm: what its commands print, the files by which jobs are found again, and the
 * script of a job, run by the shell here. */
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "campaign/slurm_files.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what is printed ---- */

static void test_job_numbers(void **state)
{
    static const char *const bad[] = {"", "\n", "abc", "12a", "0", "-3", "12 13", ";12",
        "99999999999999999999", "Submitted batch job 5"};
    static const struct {
        const char *text;
        uint64_t job;
    } good[] = {{"123\n", 123}, {"7;cluster2\n", 7}, {"note: be kind\n  \n42  \n\n", 42}};
    struct err err;
    uint64_t job;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        assert_true(slurm_parse_job(good[i].text, &job, &err));
        assert_int_equal(job, good[i].job);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        err.text[0] = '\0';
        assert_false(slurm_parse_job(bad[i], &job, &err));
        assert_non_null(strstr(err.text, "sbatch printed no number of a job"));
    }
}

static void test_rows(void **state)
{
    static const char text[] = "keet-a|12|3|RUNNING|None\n"
                               "keet-a|12|4|PENDING|Nodes required for job are DOWN, DRAINED|x\n"
                               "\n"
                               "keet-b|13|0|NODE_FAIL|NodeDown\n"
                               "keet-b|13|N/A|CANCELLED|Resources";
    struct slurm_rows rows = {0};
    struct err err;

    assert_true(slurm_parse_queue(text, &rows, &err));
    assert_int_equal(rows.nr, 4);
    assert_string_equal(rows.at[0].name, "keet-a");
    assert_int_equal(rows.at[0].job, 12);
    assert_int_equal(rows.at[0].index, 3);
    assert_int_equal(rows.at[0].state, SLURM_RUNNING);
    assert_int_equal(rows.at[1].state, SLURM_WAITING);
    assert_string_equal(rows.at[1].reason, "Nodes required for job are DOWN, DRAINED|x");
    assert_int_equal(rows.at[2].state, SLURM_ENDED);
    assert_string_equal(rows.at[2].word, "NODE_FAIL");
    assert_int_equal(rows.at[3].index, SLURM_REST);
    assert_int_equal(rows.at[3].state, SLURM_CANCELLED);
    assert_true(slurm_parse_queue("", &rows, &err));
    assert_int_equal(rows.nr, 4);
    slurm_rows_finish(&rows);
}

static void test_strange_rows(void **state)
{
    static const char *const bad[] = {"a", "a|b|c|d|e", "a|1|2", "a|1|2|RUNNING", "|1|2|RUNNING|",
        "a|1|4294967295|RUNNING|", "a|1|-2|RUNNING|", "a|1|2||",
        "a-name-that-is-much-longer-than-any-that-keet-opt-gives-to-arrays|1|2|RUNNING|",
        "squeue: error: something"};
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct slurm_rows rows = {0};

        err.text[0] = '\0';
        assert_false(slurm_parse_queue(bad[i], &rows, &err));
        assert_non_null(strstr(err.text, "squeue printed a line that is not understood"));
        slurm_rows_finish(&rows);
    }
}

/* Nothing is begun twice because of a word that is new. */
static void test_states(void **state)
{
    assert_int_equal(slurm_state_of("COMPLETING"), SLURM_RUNNING);
    assert_int_equal(slurm_state_of("SUSPENDED"), SLURM_RUNNING);
    assert_int_equal(slurm_state_of("TELEPORTING"), SLURM_RUNNING);
    assert_int_equal(slurm_state_of("REQUEUE_HOLD"), SLURM_WAITING);
    assert_int_equal(slurm_state_of("PREEMPTED"), SLURM_ENDED);
    assert_int_equal(slurm_state_of("TIMEOUT"), SLURM_ENDED);
    assert_int_equal(slurm_state_of("OUT_OF_MEMORY"), SLURM_ENDED);
}

/* The reasons that `man squeue` and Slurm's own messages have for jobs that nobody will start. */
static void test_holds(void **state)
{
    static const struct {
        const char *word, *reason;
        enum slurm_hold hold;
    } rows[] = {
        {"PENDING", "None", SLURM_FREE},
        {"PENDING", "Resources", SLURM_FREE},
        {"PENDING", "ReqNodeNotAvail, UnavailableNodes:keet1", SLURM_FREE},
        {"PENDING", "Nodes required for job are DOWN, DRAINED", SLURM_FREE},
        {"PENDING", "BeginTime", SLURM_FREE},
        {"PENDING", "ANewReason", SLURM_FREE},
        {"PENDING", "JobHeldUser", SLURM_HELD},
        {"PENDING", "JobHeldAdmin", SLURM_HELD},
        {"PENDING", "job requeued in held state", SLURM_HELD},
        {"PENDING", "launch failed requeued held", SLURM_STUCK},
        {"PENDING", "launch_failed_requeued_held", SLURM_STUCK},
        {"PENDING", "launch failed requeued", SLURM_FREE},
        {"PENDING", "BadConstraints", SLURM_STUCK},
        {"PENDING", "BadConstraints2", SLURM_FREE},
        {"PENDING", "QOSMaxCpuPerJobLimit", SLURM_STUCK},
        {"RUNNING", "BadConstraints", SLURM_FREE},
        {"CANCELLED", "JobHeldUser", SLURM_FREE},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct slurm_row row = {.state = slurm_state_of(rows[i].word)};

        snprintf(row.reason, sizeof(row.reason), "%s", rows[i].reason);
        if (slurm_hold_of(&row) != rows[i].hold)
            fail_msg("%s, %s", rows[i].word, rows[i].reason);
    }
}

/* ---- a folder with one list ---- */

struct fixture {
    char folder[64];
    struct arena *arena;
    struct slurm_lists lists;
    struct exec_item item;
    const char *argv[4], *key, *script;
};

/* The item is a shell script: $1 and $2 are "--threads N", $3 an argument with blanks. */
static void set_up(struct fixture *f, const char *body, double deadline_s)
{
    struct exec_item *items[] = {&f->item};
    const char *program;
    struct err err;

    *f = (struct fixture){.folder = "/tmp/keet slurm.XXXXXX", .arena = arena_create()};
    assert_non_null(mkdtemp(f->folder));
    program = arena_printf(f->arena, "%s/it's a program", f->folder);
    body = arena_printf(f->arena, "#!/bin/sh\n%s\n", body);
    assert_true(file_write(program, body, strlen(body), &err));
    assert_int_equal(chmod(program, 0755), 0);
    f->argv[0] = program;
    f->argv[1] = "two words, $HOME and 'quotes'";
    f->item = (struct exec_item){.name = "matmul",
        .argv = f->argv,
        .out_path = arena_printf(f->arena, "%s/out", f->folder),
        .err_path = arena_printf(f->arena, "%s/err", f->folder),
        .deadline_s = deadline_s};
    f->key = slurm_key(f->arena, &f->item);
    assert_true(slurm_lists_read(f->folder, f->arena, &f->lists, &err));
    assert_int_equal(f->lists.nr, 0);
    assert_true(slurm_list_add(
        f->folder, f->arena, &f->lists, items, &f->key, 1, "--time=5 -p 'a b'", &err));
    f->script = slurm_list_path(f->folder, f->arena, &f->lists.at[0], ".sh");
}

static void tear_down(struct fixture *f)
{
    const char *const argv[] = {"rm", "-r", f->folder, NULL};
    struct proc_result result;
    struct err err;

    assert_true(proc_run(argv, &(struct proc_limits){0}, &result, &err));
    proc_result_finish(&result);
    slurm_lists_finish(&f->lists);
    arena_destroy(f->arena);
}

/* As Slurm would; the exit status. */
static int run_script(const struct fixture *f)
{
    const char *command = arena_printf(
        f->arena, "SLURM_ARRAY_TASK_ID=0 SLURM_CPUS_ON_NODE=3 exec sh '%s'", f->script);
    const char *const argv[] = {"sh", "-c", command, NULL};
    const struct proc_limits limits = {.time_s = 60};
    struct proc_result result;
    struct err err;
    int status;

    assert_true(proc_run(argv, &limits, &result, &err));
    assert_int_equal(result.end, PROC_EXITED);
    status = result.status;
    proc_result_finish(&result);
    return status;
}

static void assert_holds(const struct fixture *f, const char *name, const char *expected)
{
    struct err err;
    char *text;
    size_t len;

    if (!file_read(arena_printf(f->arena, "%s/%s", f->folder, name), 1 << 20, &text, &len, &err))
        fail_msg("%s", err.text);
    assert_string_equal(text, expected);
    free(text);
}

/* Written, then read by another process: names, keys and order are those that were written. */
static void test_lists(void **state)
{
    struct exec_item items[3] = {{0}}, *at[] = {&items[0], &items[1], &items[2]};
    const char *const argv[] = {"/bin/true", NULL}, *const other[] = {"/bin/true", "x", NULL};
    const char *keys[3];
    struct slurm_lists again = {0};
    struct fixture f;
    struct err err;

    set_up(&f, "exit 0", 0);
    for (int i = 0; i < 3; i++) {
        items[i] = (struct exec_item){.name = "a", .argv = i < 2 ? argv : other, .gpu = i == 1};
        items[i].out_path = items[i].err_path = "/dev/null";
        keys[i] = slurm_key(f.arena, &items[i]);
    }
    assert_string_not_equal(keys[0], keys[1]); /* with a GPU or without */
    assert_string_not_equal(keys[0], keys[2]);
    assert_string_equal(keys[0], slurm_key(f.arena, &items[0]));
    assert_true(slurm_list_add(f.folder, f.arena, &f.lists, at, keys, 3, NULL, &err));
    assert_string_not_equal(f.lists.at[0].name, f.lists.at[1].name);

    assert_true(slurm_lists_read(f.folder, f.arena, &again, &err));
    assert_int_equal(again.nr, 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(again.at[i].name, f.lists.at[i].name);
    assert_int_equal(again.at[0].nr, 1);
    assert_int_equal(again.at[1].nr, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(again.at[1].keys[i], keys[i]);

    slurm_list_drop(f.folder, &again);
    slurm_lists_forget(f.folder, &again);
    assert_true(slurm_lists_read(f.folder, f.arena, &again, &err));
    assert_int_equal(again.nr, 0);
    slurm_lists_finish(&again);
    tear_down(&f);
}

static void test_strange_list(void **state)
{
    static const char *const bad[] = {
        "", "keet-opt array x", "keet-opt array x\n", "other\nkey\n", "keet-opt array x\nkey"};
    struct fixture f;
    struct err err;

    set_up(&f, "exit 0", 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        const char *path = slurm_list_path(f.folder, f.arena, &f.lists.at[0], ".list");
        struct slurm_lists again = {0};

        assert_true(file_write(path, bad[i], strlen(bad[i]), &err));
        assert_false(slurm_lists_read(f.folder, f.arena, &again, &err));
        assert_non_null(strstr(err.text, "0001.list is not a list of jobs"));
        slurm_lists_finish(&again);
    }
    tear_down(&f);
}

/* ---- the script ---- */

static void test_script(void **state)
{
    struct fixture f;

    set_up(
        &f, "echo once >>\"$(dirname \"$0\")/ran\"; printf '%s|' \"$@\"; echo no >&2; exit 3", 0);
    assert_false(slurm_take_exit(f.folder, f.key, &f.item));
    assert_int_equal(run_script(&f), 0);
    assert_true(slurm_take_exit(f.folder, f.key, &f.item));
    assert_int_equal(f.item.state, EXEC_ENDED);
    assert_int_equal(f.item.status, 3);
    assert_int_equal(f.item.signal, 0);
    assert_false(f.item.late);
    assert_true(f.item.wall_s > 0 && f.item.wall_s < 60);
    assert_holds(&f, "out", "--threads|3|two words, $HOME and 'quotes'|");
    assert_holds(&f, "err", "no\n");
    assert_int_equal(run_script(&f), 0); /* put back into the queue after its end */
    assert_holds(&f, "ran", "once\n");
    tear_down(&f);
}

static void test_script_deadline(void **state)
{
    struct fixture f;

    set_up(&f, "exec sleep 50", 0.2);
    assert_int_equal(run_script(&f), 0);
    assert_true(slurm_take_exit(f.folder, f.key, &f.item));
    assert_true(f.item.late);
    assert_true(f.item.wall_s > 0.1 && f.item.wall_s < 30);
    tear_down(&f);
}

static void test_script_signal(void **state)
{
    struct fixture f;

    set_up(&f, "kill -KILL $$", 0);
    assert_int_equal(run_script(&f), 0);
    assert_true(slurm_take_exit(f.folder, f.key, &f.item));
    assert_int_equal(f.item.signal, SIGKILL);
    assert_int_equal(f.item.status, -1);
    tear_down(&f);
}

/* Slurm tells all processes of a job to end: that is not the item's own end. */
static void test_script_told(void **state)
{
    struct fixture f;

    set_up(&f, "kill -TERM $(cut -d' ' -f4 /proc/$PPID/stat); exit 0", 0);
    assert_int_equal(run_script(&f), 75);
    assert_false(slurm_take_exit(f.folder, f.key, &f.item));
    tear_down(&f);
}

/* A second script waits for the first, and then finds the work done. */
static void test_script_lock(void **state)
{
    struct fixture f;
    pid_t first;
    int status;

    set_up(&f, "echo once >>\"$(dirname \"$0\")/ran\"; sleep 0.5", 0);
    first = fork();
    if (first == 0)
        _exit(run_script(&f));
    assert_int_equal(run_script(&f), 0);
    assert_int_equal(waitpid(first, &status, 0), first);
    assert_int_equal(status, 0);
    assert_holds(&f, "ran", "once\n");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_numbers),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_strange_rows),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_strange_list),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_script_deadline),
        cmocka_unit_test(test_script_signal),
        cmocka_unit_test(test_script_told),
        cmocka_unit_test(test_script_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
