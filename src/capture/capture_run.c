/* Owns the captured program's process: its environment, its limits, its end. */
#include "capture/capture.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The folder with the software driver and runtime under their own names: beside the program where
 * it was built, in its folder of libraries where it was installed. */
static char *driver_folder(void)
{
    static const char *const below[] = {
        "swdriver", "../" KEET_LIBDIR "/keet-opt/swdriver", "../lib/keet-opt/swdriver", NULL};
    char *binary = share_binary(), *slash = binary != NULL ? strrchr(binary, '/') : NULL;
    struct str path = {0};

    if (slash != NULL)
        *slash = '\0';
    for (unsigned i = 0; slash != NULL && below[i] != NULL; i++) {
        str_clear(&path);
        str_addf(&path, "%s/%s/libcudart.so.13", binary, below[i]);
        if (!file_exists(str_text(&path)))
            continue;
        str_clear(&path);
        str_addf(&path, "%s/%s", binary, below[i]);
        free(binary);
        return str_take(&path);
    }
    free(binary);
    str_finish(&path);
    return NULL;
}

static void set_number(const char *variable, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    setenv(variable, text, 1);
}

/* NVIDIA's driver loads the library that this variable names ("CUPTI, User's Guide", injection). */
static void inject(const char *driver, const char *cupti)
{
    struct str path = {0};

    str_addf(&path, "%s/../libkeet-inject.so", driver);
    setenv("CUDA_INJECTION64_PATH", str_text(&path), 1);
    setenv("KEET_CUPTI", cupti, 1);
    str_finish(&path);
}

static void set_environment(const struct capture_how *how, const char *driver)
{
    const char *paths = getenv("LD_LIBRARY_PATH");
    struct str all = {0};

    if (how->cupti != NULL) {
        inject(driver, how->cupti);
    } else {
        str_addf(&all, "%s%s%s", driver, paths != NULL ? ":" : "", paths != NULL ? paths : "");
        setenv("LD_LIBRARY_PATH", str_text(&all), 1);
        str_finish(&all);
    }
    setenv("KEET_CAPTURE", how->folder, 1);
    set_number("KEET_CAPTURE_LAUNCHES", how->nr_each > 0 ? how->nr_each : 1);
    set_number("KEET_CAPTURE_SKIP", how->nr_skipped);
    set_number("KEET_CAPTURE_DRY", how->dry);
    if (how->bytes > 0)
        set_number("KEET_CAPTURE_BYTES", how->bytes);
    if (how->kernel != NULL)
        setenv("KEET_CAPTURE_KERNEL", how->kernel, 1);
    else
        unsetenv("KEET_CAPTURE_KERNEL");
}

/* In the child. */
static void become(const struct capture_how *how, const char *driver, int output)
{
    const rlim_t seconds = (rlim_t)(how->cpu_s + 0.999);
    const struct rlimit limit = {seconds, seconds + 2};

    set_environment(how, driver);
    if (how->cpu_s > 0)
        setrlimit(RLIMIT_CPU, &limit);
    if (how->place != NULL && chdir(how->place) != 0)
        _exit(127);
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
    else if (how->quiet)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(how->argv[0], (char *const *)(const void *)how->argv);
    fprintf(stderr, "cannot run %s: %s\n", how->argv[0], strerror(errno));
    _exit(127);
}

static int wait_for(pid_t child, const struct capture_how *how)
{
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    const double start = clock_ns() / 1e9;
    double told = start;
    int status = 0;

    while (waitpid(child, &status, WNOHANG) == 0) {
        const double now = clock_ns() / 1e9;

        if (how->stop != NULL && *how->stop)
            kill(child, SIGKILL);

        if (how->progress != NULL && now > told + 1) {
            told = now;
            how->progress(now - start, how->data);
        }
        nanosleep(&nap, NULL);
    }
    return status;
}

/* "17-4449", "launches-4449.jsonl": names that the recorder gives. */
static bool is_contents(const char *name)
{
    unsigned long long order;
    int end = 0, process;

    return sscanf(name, "%llu-%d%n", &order, &process, &end) == 2 && name[end] == '\0';
}

static bool is_list(const char *name)
{
    int end = 0, process;

    if (sscanf(name, "launches-%d.jsonl%n", &process, &end) == 1 && end > 0)
        return name[end] == '\0';
    return sscanf(name, "totals-%d.json%n", &process, &end) == 1 && end > 0 && name[end] == '\0';
}

/* The contents of one launch: files of ours, and no folders. */
static void remove_contents(int folder, const char *name)
{
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        if (str_ends(e->d_name, ".npy") || str_ends(e->d_name, ".before") ||
            str_ends(e->d_name, ".after") || str_ends(e->d_name, ".sample"))
            unlinkat(fd, e->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* What an earlier capture recorded goes; what else is there stays. */
static bool make_folder(const char *folder, struct err *err)
{
    DIR *dir;

    if (!file_mkdirs(folder, err))
        return false;
    dir = opendir(folder);
    if (dir == NULL)
        return err_errno(err, "cannot read %s", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (is_contents(e->d_name))
            remove_contents(dirfd(dir), e->d_name);
        else if (is_list(e->d_name))
            unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
    return true;
}

static bool open_output(const struct capture_how *how, int *output, struct err *err)
{
    if (how->output == NULL)
        return true;
    *output = open(how->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return *output >= 0 || err_errno(err, "cannot write %s", how->output);
}

bool capture_run(const struct capture_how *how, struct capture_end *end, struct err *err)
{
    char *driver = driver_folder();
    int status, output = -1;
    pid_t child;

    *end = (struct capture_end){0};
    if (driver == NULL)
        return err_set(err, "the software runtime (libkeet-cudart.so) is not beside this program");
    if (!make_folder(how->folder, err) || !open_output(how, &output, err)) {
        free(driver);
        return false;
    }
    fflush(NULL);
    child = fork();
    if (child == 0)
        become(how, driver, output);
    free(driver);
    if (output >= 0)
        close(output);
    if (child < 0)
        return err_set(err, "cannot start a process: %s", strerror(errno));
    status = wait_for(child, how);
    if (WIFEXITED(status))
        end->status = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
    end->stopped = (how->cpu_s > 0 && (end->signal == SIGXCPU || end->signal == SIGKILL)) ||
                   (how->stop != NULL && *how->stop);
    return end->status != 127 || err_set(err, "%s could not be run", how->argv[0]);
}
