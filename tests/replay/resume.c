/* A seeded run killed with -9 at 30 random instants, each time resumed, ends with the same tree as
 * an undisturbed one, and with a sound database. The processes are the real program. */
#include "base/file.h"
#include "base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { MAX_RESUMES = 400 };

static int nr_kills = 5;

static const char kernel[] = KEET_SOURCE_DIR "/kernels/saxpy.cu";
static char folder[] = "/tmp/keet-resume-XXXXXX";

static pid_t start(const char *db, const char *json, int resume)
{
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        const int out = open(json, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, STDOUT_FILENO);
        if (chdir(folder) == 0)
            execl(KEET_BINARY, "keet-opt", kernel, "--budget", "12", "--seed", "7", "--json", "-q",
                "--db", db, "-o", "best.cu", resume ? "--resume" : NULL, NULL);
        _exit(127);
    }
    return pid;
}

/* Runs until the end or until it is killed; true when it ended by itself, and well. */
static int ended_within(pid_t pid, long limit_us)
{
    struct timespec step = {0, 500000};
    int status = 0;

    for (long waited = 0; limit_us < 0 || waited < limit_us; waited += 500) {
        if (waitpid(pid, &status, WNOHANG) == pid) {
            assert_true(WIFEXITED(status));
            assert_int_equal(WEXITSTATUS(status), 0);
            return 1;
        }
        nanosleep(&step, NULL);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status))
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFEXITED(status);
}

static void read_tree(const char *json, char *tree, size_t bytes)
{
    json_t *root = json_load_file(json, 0, NULL);

    assert_non_null(root);
    snprintf(tree, bytes, "%s", json_string_value(json_object_get(root, "tree")));
    assert_int_equal(json_integer_value(json_object_get(root, "evaluated")), 12);
    json_decref(root);
}

static void check_database(const char *db)
{
    sqlite3 *sql = NULL;
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_open(db, &sql), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(sql, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(sql);
}

static void killed_runs_resume_to_the_same_tree(void **state)
{
    char db[256], json[256], want[64], got[64];
    struct timespec before, after;
    struct rng rng;
    long whole_us;
    int kills = 0, chain = 0;

    (void)state;
    rng_seed(&rng, 2026, 0);
    assert_non_null(mkdtemp(folder));
    snprintf(json, sizeof(json), "%s/out.json", folder);
    snprintf(db, sizeof(db), "%s/whole.db", folder);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_true(ended_within(start(db, json, 0), -1));
    clock_gettime(CLOCK_MONOTONIC, &after);
    whole_us = (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
    read_tree(json, want, sizeof(want));
    assert_int_equal(strlen(want), 32);

    while (kills < nr_kills) {
        int resumes = 0;

        snprintf(db, sizeof(db), "%s/chain%d.db", folder, chain++);
        while (!ended_within(start(db, json, resumes > 0),
            resumes < 8 ? (long)rng_below(&rng, (uint64_t)whole_us) : -1)) {
            kills++;
            assert_true(++resumes < MAX_RESUMES);
            if (file_exists(db))
                check_database(db);
        }
        read_tree(json, got, sizeof(got));
        assert_string_equal(got, want);
        check_database(db);
    }
    printf("%d kills in %d runs\n", kills, chain);
}

/* resume [KILLS] */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_runs_resume_to_the_same_tree),
    };

    if (argc == 2)
        nr_kills = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
