/* Owns commands of the user: a build, a run. */
#include "program/user_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* nvcc reads these after the words of its command line, and the last word on the runtime counts. */
static void link_shared(void)
{
    const char *given = getenv("NVCC_APPEND_FLAGS");
    char all[4096];

    snprintf(all, sizeof(all), "%s%s-cudart shared", given != NULL ? given : "",
        given != NULL && *given != '\0' ? " " : "");
    setenv("NVCC_APPEND_FLAGS", all, 1);
}

/* In the child. */
static void become(const struct program_command *c, int output)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (c->folder != NULL && chdir(c->folder) != 0)
        _exit(126);
    dup2(nothing, STDIN_FILENO);
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
    if (output >= 0 && c->both)
        dup2(output, STDERR_FILENO);
    if (c->links_shared)
        link_shared();
    execvp(c->argv[0], (char *const *)(const void *)c->argv);
    fprintf(stderr, "cannot run %s: %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

/* The command is a group of processes of its own, which ends as a whole. */
static bool wait_for(pid_t child, const struct program_command *c, int *status)
{
    const struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};

    while (waitpid(child, status, WNOHANG) == 0) {
        if (c->stop != NULL && *c->stop) {
            kill(-child, SIGTERM);
            for (unsigned i = 0; i < 50 && waitpid(child, status, WNOHANG) == 0; i++)
                nanosleep(&nap, NULL);
            kill(-child, SIGKILL);
            waitpid(child, status, 0);
            return false;
        }
        nanosleep(&nap, NULL);
    }
    return true;
}

bool program_run(const struct program_command *c, struct program_end *end, struct err *err)
{
    const int output =
        c->output != NULL ? open(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    int status = 0;
    pid_t child;

    *end = (struct program_end){0};
    if (c->output != NULL && output < 0)
        return err_errno(err, "cannot write %s", c->output);
    fflush(NULL);
    child = fork();
    if (child == 0)
        become(c, output);
    if (output >= 0)
        close(output);
    if (child < 0)
        return err_set(err, "cannot start a process: %s", strerror(errno));
    if (!wait_for(child, c, &status))
        return err_set(err, "stopped");
    if (WIFEXITED(status))
        end->status = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
    return end->status != 127 || strchr(c->argv[0], '/') == NULL ||
           err_set(err, "%s could not be run", c->argv[0]);
}
