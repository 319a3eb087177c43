/* Starts and ends tests/model/server.py, and collects replies. For the tests of this folder. */
#ifndef KEET_TESTS_MODEL_SERVE_H
#define KEET_TESTS_MODEL_SERVE_H

#include "base/clock.h"
#include "llm/llm.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
    pid_t pid;
    int input; /* its end is the server's */
    unsigned port;
};

/* argv: options of server.py, ended by NULL. Port 0 when it did not start. */
static inline struct server server_start(const char *const *options)
{
    const char *argv[32] = {KEET_PYTHON, KEET_MODEL_DIR "/server.py"};
    struct server server = {.port = 0};
    int in[2], out[2];
    FILE *said;

    for (unsigned i = 0; options && options[i] && i < 28; i++)
        argv[i + 2] = options[i];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        abort();
    server.pid = fork();
    if (server.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    server.input = in[1];
    said = fdopen(out[0], "r");
    if (fscanf(said, "port %u", &server.port) != 1)
        server.port = 0;
    fclose(said);
    return server;
}

static inline void server_stop(struct server *server)
{
    int status;

    close(server->input);
    waitpid(server->pid, &status, 0);
}

static inline double now_s(void)
{
    return (double)clock_ns() * 1e-9;
}

#endif
