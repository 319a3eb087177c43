/* libkeet as a C program uses it: results, errors, threads, forks, and helper processes that die.
 */
#include <keet.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char scale[] = "#pragma keet size N = 4096\n"
                            "#pragma keet check N = 77\n"
                            "#pragma keet in X : f32[N]\n"
                            "#pragma keet out Y : f32[N]\n"
                            "#pragma keet tune BLOCK = 32 in {32, 64, 128}\n"
                            "#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N)\n"
                            "__global__ void scale(const float *x, float *y, int n)\n"
                            "{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i < n)\n"
                            "        y[i] = 3.0f * x[i];\n"
                            "}\n";

static struct keet *keet;
static struct keet_task *task;
static struct keet_error error;

static const struct keet_options small = {
    .size = sizeof(small), .program = KEET_BINARY, .processes = 2, .limit_s = 100, .seed = 1};

static int open_all(void **state)
{
    keet = keet_open(&small, &error);
    if (keet)
        task = keet_task_open(keet, scale, strlen(scale), "scale.cu", &error);
    if (!task)
        fprintf(stderr, "%s\n", error.text);
    return task ? 0 : 1;
}

static int close_all(void **state)
{
    keet_task_close(task);
    keet_close(keet);
    return 0;
}

/* Another text of the same length or less in place of the first `old`. Heap memory. */
static char *edited(const char *old, const char *new_)
{
    const char *at = strstr(scale, old);
    char *text = malloc(sizeof(scale) + 4096);

    assert_non_null(at);
    snprintf(
        text, sizeof(scale) + 4096, "%.*s%s%s", (int)(at - scale), scale, new_, at + strlen(old));
    return text;
}

static double number(const struct keet_result *result, const char *path)
{
    double value = NAN;

    assert_true(keet_number(result, path, &value));
    return value;
}

static struct keet_result *check_edited(const char *old, const char *new_)
{
    char *text = edited(old, new_);
    struct keet_result *result = keet_check(task, text, strlen(text), &error);

    free(text);
    assert_non_null(result);
    return result;
}

static void right_and_wrong(void **state)
{
    struct keet_result *r = check_edited("BLOCK = 32", "BLOCK = 64");

    assert_string_equal(keet_string(r, "verdict"), "ok");
    assert_null(keet_string(r, "reason"));
    assert_true(number(r, "runs") > 1);
    keet_result_free(r);
    r = check_edited("3.0f", "3.1f");
    assert_string_equal(keet_string(r, "verdict"), "wrong");
    assert_true(number(r, "line") == 11);
    assert_non_null(strstr(keet_string(r, "reason"), "scale.cu:11"));
    keet_result_free(r);
    r = check_edited("i < n", "i <= n");
    assert_string_equal(keet_string(r, "verdict"), "fault");
    keet_result_free(r);
    r = check_edited("3.0f", "nowhere");
    assert_string_equal(keet_string(r, "verdict"), "no_compile");
    keet_result_free(r);
}

static void hostile_bytes(void **state)
{
    static const char include[] =
        "#pragma keet launch scale<<<1, 32>>>(X, Y, N)\n#include \"/etc/passwd\"\n"
        "__global__ void scale(const float *x, float *y, int n) {}\n";
    static const struct {
        const char *text;
        size_t bytes;
    } replies[] = {{"", 0}, {"\0\0\0", 3}, {"\xff\xfe\x80", 3}, {"```cuda\n```", 11},
        {include, sizeof(include) - 1}};

    for (int i = 0; i < 5; i++) {
        struct keet_result *r = keet_reward(task, replies[i].text, replies[i].bytes, &error);

        assert_non_null(r);
        assert_string_not_equal(keet_string(r, "verdict"), "ok");
        assert_true(number(r, "reward") == 0);
        assert_non_null(keet_string(r, "feedback"));
        keet_result_free(r);
        r = keet_check(task, replies[i].text, replies[i].bytes, &error);
        assert_non_null(r);
        assert_string_not_equal(keet_string(r, "verdict"), "ok");
        keet_result_free(r);
    }
}

static void time_counters_lines(void **state)
{
    char *text = edited("BLOCK = 32", "BLOCK = 128");
    struct keet_result *r = keet_run(task, text, strlen(text), &error), *again;

    assert_non_null(r);
    assert_string_equal(keet_string(r, "verdict"), "ok");
    assert_string_equal(keet_string(r, "time_from"), "modelled");
    assert_true(number(r, "time_ns") > 0 && number(r, "speedup") > 0);
    assert_true(number(r, "metrics/smsp__thread_inst_executed_pred_on.sum/value") > 4096);
    assert_true(keet_count(r, "lines") >= 3);
    assert_true(keet_count(r, "metrics") > 20);
    assert_null(keet_string(r, "lines/9999/line"));
    assert_null(keet_string(r, "nothing/here"));
    /* The same whatever was evaluated before. */
    keet_result_free(check_edited("3.0f", "3.1f"));
    again = keet_run(task, text, strlen(text), &error);
    assert_non_null(again);
    assert_string_equal(keet_json(r), keet_json(again));
    keet_result_free(again);
    keet_result_free(r);
    free(text);
}

static void explanation(void **state)
{
    struct keet_result *r = keet_explain(task, NULL, 0, &error);

    assert_non_null(r);
    assert_non_null(strstr(keet_string(r, "text"), "scale.cu"));
    assert_true(number(r, "speedup") == 1);
    assert_true(keet_count(r, "limits") > 3);
    keet_result_free(r);
}

static void reward_of_a_reply(void **state)
{
    char *text = edited("BLOCK = 32", "BLOCK = 128"), reply[8192];
    struct keet_result *r;

    snprintf(reply, sizeof(reply), "Larger blocks.\n\n```cuda\n%s```\nThat is all.\n", text);
    r = keet_reward(task, reply, strlen(reply), &error);
    assert_non_null(r);
    assert_string_equal(keet_string(r, "verdict"), "ok");
    assert_float_equal(number(r, "reward"), 0.3 + number(r, "speedup"), 1e-12);
    assert_string_equal(keet_string(r, "source"), text);
    assert_non_null(strstr(keet_string(r, "feedback"), "computes what the original computes"));
    keet_result_free(r);
    /* edits of the original */
    snprintf(reply, sizeof(reply),
        "<<<<<<< SEARCH\n        y[i] = 3.0f * x[i];\n=======\n        y[i] = x[i];\n>>>>>>> "
        "REPLACE\n");
    r = keet_reward(task, reply, strlen(reply), &error);
    assert_non_null(r);
    assert_string_equal(keet_string(r, "verdict"), "wrong");
    assert_true(number(r, "reward") == 0);
    keet_result_free(r);
    free(text);
}

static void broken_original(void **state)
{
    char *text = edited("i < n", "i <= n");

    assert_null(keet_task_open(keet, text, strlen(text), "broken.cu", &error));
    assert_int_equal(error.kind, KEET_ORIGINAL);
    assert_non_null(strstr(error.text, "does not run cleanly at its own sizes"));
    assert_null(keet_task_open(keet, "int x;", 6, NULL, &error));
    assert_int_equal(error.kind, KEET_ORIGINAL);
    free(text);
}

static void missing_parts(void **state)
{
    struct keet_options options = {.size = sizeof(options), .program = "/nowhere/keet-opt"};

    assert_null(keet_open(&options, &error));
    assert_int_equal(error.kind, KEET_ENVIRONMENT);
    assert_non_null(strstr(error.text, "/nowhere/keet-opt"));
    options.program = "/bin/true";
    assert_null(keet_open(&options, &error));
    assert_non_null(strstr(error.text, "KEET_OPT"));
    options.program = KEET_BINARY;
    options.cuda = "/nowhere";
    assert_null(keet_open(&options, &error));
    assert_non_null(strstr(error.text, "NVRTC"));
    options.cuda = NULL;
    options.device = "emu:nothing";
    assert_null(keet_open(&options, &error));
    assert_null(keet_open(&options, NULL));
}

static void search_asks_and_is_told(void **state)
{
    struct keet_search *search = keet_search_open(task, NULL, &error);
    const double fast = 1.5, failed = 0;
    struct keet_result *a, *b, *own, *told;
    char *text = edited("3.0f * x[i]", "x[i] * 3.0f");
    size_t bytes;

    assert_non_null(search);
    a = keet_search_ask(search, &error);
    b = keet_search_ask(search, &error);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(number(a, "node") > 0 && number(b, "node") > number(a, "node"));
    assert_non_null(keet_source(a, &bytes));
    assert_int_equal(strlen(keet_source(a, NULL)), bytes);
    assert_string_not_equal(keet_source(a, NULL), keet_source(b, NULL));
    told = keet_search_tell(search, (long)number(a, "node"), &fast, &error);
    assert_non_null(told);
    assert_true(number(told, "speedup") == 1.5);
    keet_result_free(told);
    told = keet_search_tell(search, (long)number(b, "node"), &failed, &error);
    assert_string_not_equal(keet_string(told, "verdict"), "ok");
    keet_result_free(told);
    assert_null(keet_search_tell(search, (long)number(b, "node"), &failed, &error));
    own = keet_search_add(search, 0, text, strlen(text), &error);
    assert_non_null(own);
    told = keet_search_tell(search, (long)number(own, "node"), NULL, &error);
    assert_non_null(told);
    assert_string_equal(keet_string(told, "verdict"), "ok");
    keet_result_free(told);
    told = keet_search_best(search, &error);
    assert_true(number(told, "node") == number(a, "node"));
    assert_string_equal(keet_source(told, NULL), keet_source(a, NULL));
    keet_result_free(told);
    keet_result_free(own);
    keet_result_free(b);
    keet_result_free(a);
    keet_search_close(search);
    free(text);
}

/* ---- threads, forks, deaths ---- */

static void *check_many(void *argument)
{
    const long which = (long)(intptr_t)argument;
    char *right = edited("BLOCK = 32", "BLOCK = 64"), *wrong = edited("3.0f", "2.0f");
    struct keet_error own;
    long good = 0;

    for (int i = 0; i < 6; i++) {
        const char *text = (i + which) % 2 ? right : wrong;
        struct keet_result *r = keet_check(task, text, strlen(text), &own);

        good += r && strcmp(keet_string(r, "verdict"), text == right ? "ok" : "wrong") == 0;
        keet_result_free(r);
    }
    free(right);
    free(wrong);
    return (void *)(intptr_t)good;
}

static void threads(void **state)
{
    pthread_t all[6];
    void *good;

    for (long i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&all[i], NULL, check_many, (void *)(intptr_t)i), 0);
    for (int i = 0; i < 6; i++) {
        pthread_join(all[i], &good);
        assert_int_equal((intptr_t)good, 6);
    }
}

static void forked_child(void **state)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        struct keet_result *r = keet_check(task, scale, strlen(scale), &error);
        const bool refused = !r && strstr(error.text, "fork");
        struct keet *own = keet_open(&small, &error);
        const bool opens = own != NULL;

        keet_close(own);
        keet_task_close(task);
        keet_close(keet); /* the parent's processes stay */
        _exit(refused && opens ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    keet_result_free(check_edited("BLOCK = 32", "BLOCK = 64"));
}

/* The processes whose parent is this one, by /proc. */
static unsigned children(pid_t pids[16])
{
    DIR *proc = opendir("/proc");
    unsigned nr = 0;

    for (struct dirent *entry; proc && (entry = readdir(proc)) && nr < 16;) {
        char path[300], line[512] = "";
        FILE *file;
        int parent;

        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        file = entry->d_name[0] >= '0' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        if (fgets(line, sizeof(line), file) && strrchr(line, ')') &&
            sscanf(strrchr(line, ')'), ") %*c %d", &parent) == 1 && parent == getpid())
            pids[nr++] = (pid_t)atoi(entry->d_name);
        fclose(file);
    }
    if (proc)
        closedir(proc);
    return nr;
}

static void a_helper_dies(void **state)
{
    pid_t pids[16];
    const unsigned nr = children(pids);
    struct keet_result *r;
    unsigned nr_died = 0;

    assert_in_range(nr, 1, 2);
    for (unsigned i = 0; i < nr; i++)
        kill(pids[i], SIGKILL);
    /* What was asked of a dead process has no verdict of its own; the next call has a new one. */
    for (int i = 0; i < 4; i++) {
        r = check_edited("BLOCK = 32", "BLOCK = 64");
        nr_died += strcmp(keet_string(r, "verdict"), "unsupported") == 0;
        keet_result_free(r);
    }
    assert_true(nr_died <= nr);
    r = check_edited("BLOCK = 32", "BLOCK = 64");
    assert_string_equal(keet_string(r, "verdict"), "ok");
    keet_result_free(r);
}

static char endless[8192];

static void *interrupt_soon(void *argument)
{
    const struct timespec moment = {.tv_nsec = 300000000};

    nanosleep(&moment, NULL);
    keet_interrupt(keet);
    return NULL;
}

static void interrupt(void **state)
{
    char *text = edited(
        "y[i] = 3.0f * x[i];", "for (volatile int k = 0; k < 2000000000; k++) y[i] = 3.0f * x[i];");
    pthread_t other;
    struct keet_result *r;

    snprintf(endless, sizeof(endless), "%s", text);
    free(text);
    assert_int_equal(pthread_create(&other, NULL, interrupt_soon, NULL), 0);
    r = keet_check(task, endless, strlen(endless), &error);
    pthread_join(other, NULL);
    if (!r) /* else its own limit was faster */
        assert_int_equal(error.kind, KEET_INTERRUPTED);
    keet_result_free(r);
    keet_result_free(check_edited("BLOCK = 32", "BLOCK = 64"));
}

static void limit(void **state)
{
    struct keet_options options = small;
    struct keet_task *slow;
    struct keet_result *r;
    struct keet *hasty;

    options.processes = 1;
    options.limit_s = 30;
    hasty = keet_open(&options, &error);
    assert_non_null(hasty);
    slow = keet_task_open(hasty, scale, strlen(scale), NULL, &error);
    assert_non_null(slow);
    r = keet_check(slow, endless, strlen(endless), &error);
    assert_non_null(r);
    assert_string_equal(keet_string(r, "verdict"), "timeout");
    keet_result_free(r);
    keet_task_close(slow);
    keet_close(hasty);
}

static unsigned open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned nr = 0;

    while (folder && readdir(folder))
        nr++;
    closedir(folder);
    return nr;
}

static void nothing_is_left(void **state)
{
    const unsigned before = open_files();
    pid_t pids[16];
    const unsigned nr = children(pids);

    for (int i = 0; i < 3; i++) {
        struct keet *other = keet_open(&small, &error);

        assert_non_null(other);
        keet_close(other);
    }
    assert_int_equal(open_files(), before);
    assert_int_equal(children(pids), nr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_and_wrong),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(time_counters_lines),
        cmocka_unit_test(explanation),
        cmocka_unit_test(reward_of_a_reply),
        cmocka_unit_test(broken_original),
        cmocka_unit_test(missing_parts),
        cmocka_unit_test(search_asks_and_is_told),
        cmocka_unit_test(threads),
        cmocka_unit_test(forked_child),
        cmocka_unit_test(a_helper_dies),
        cmocka_unit_test(interrupt),
        cmocka_unit_test(limit),
        cmocka_unit_test(nothing_is_left),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
