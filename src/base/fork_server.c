/* Owns the fork server. For each call we send the server a socket. The server forks a caller, which
 * reads the bytes from the socket, does proc_call, and writes the result back: the server, the
 * caller and the child are all small processes. */
#include "base/fork_server.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTROL_FD = 3, CALL_FD = 4, LISTEN_MS = 50 };

struct fork_server {
    pid_t pid;
    int control; /* our end; calls' sockets are sent through it */
};

/* What the server knows from its creation, the same for all calls. */
struct common {
    fork_server_body *body;
    const void *context;
    const struct proc_limits *limits;
};

/* The head of an answer; the bytes of output and errors follow. Where no child was started, the
 * output is the reason. */
struct head {
    uint64_t output_bytes, errors_bytes;
    int32_t started, end, status;
};

struct request {
    const struct common *common;
    char *bytes;
    size_t len;
};

/* ---- one file descriptor through a socket ---- */

/* A message of one byte with room for a descriptor beside it. */
struct parcel {
    char byte;
    struct iovec iov;
    struct msghdr message;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } ancillary;
};

static void parcel_init(struct parcel *parcel)
{
    *parcel = (struct parcel){.iov = {&parcel->byte, 1},
        .message = {.msg_iov = &parcel->iov,
            .msg_iovlen = 1,
            .msg_control = &parcel->ancillary,
            .msg_controllen = sizeof(parcel->ancillary)}};
}

static bool send_fd(int control, int fd)
{
    struct parcel parcel;
    ssize_t n;

    parcel_init(&parcel);
    parcel.ancillary.head.cmsg_level = SOL_SOCKET;
    parcel.ancillary.head.cmsg_type = SCM_RIGHTS;
    parcel.ancillary.head.cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(&parcel.ancillary.head), &fd, sizeof(fd));
    do
        n = sendmsg(control, &parcel.message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* -1: the other end is closed. */
static int receive_fd(int control)
{
    struct parcel parcel;
    ssize_t n;
    int fd;

    parcel_init(&parcel);
    do
        n = recvmsg(control, &parcel.message, 0);
    while (n < 0 && errno == EINTR);
    if (n != 1 || parcel.message.msg_controllen < CMSG_LEN(sizeof(fd)))
        return -1;
    memcpy(&fd, CMSG_DATA(&parcel.ancillary.head), sizeof(fd));
    return fd;
}

/* ---- the server's side ---- */

static int run_body(int fd, const void *input)
{
    const struct request *request = input;

    return request->common->body(fd, request->common->context, request->bytes, request->len);
}

static bool receive(int fd, struct request *request)
{
    uint64_t len;

    if (!fd_read(fd, &len, sizeof(len)))
        return false;
    request->len = (size_t)len;
    request->bytes = xcalloc(request->len + 1, 1);
    return fd_read(fd, request->bytes, request->len);
}

/* One call, in a process of its own. */
static void serve(int fd, const struct common *common)
{
    struct request request = {.common = common};
    struct proc_result result = {0};
    struct err err = {0};
    struct head head;

    memset(&head, 0, sizeof(head)); /* it is sent as it is, with what lies between its members */
    if (!receive(fd, &request)) {
        free(request.bytes);
        return;
    }
    head.started = proc_call(run_body, &request, common->limits, &result, &err);
    if (!head.started)
        result =
            (struct proc_result){.output = xstrdup(err.text), .output_bytes = strlen(err.text)};
    head.end = (int32_t)result.end;
    head.status = result.status;
    head.output_bytes = result.output_bytes;
    head.errors_bytes = result.errors_bytes;
    if (fd_send(fd, &head, sizeof(head)) && fd_send(fd, result.output, result.output_bytes))
        fd_send(fd, result.errors, result.errors_bytes);
    proc_result_finish(&result);
    free(request.bytes);
}

/* Standard error stays open: a sanitizer reports there. */
static void arrange_files(int control)
{
    const int moved = fcntl(control, F_DUPFD, CALL_FD + 1);
    const int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(moved, CONTROL_FD);
    syscall(SYS_close_range, CONTROL_FD + 1u, ~0u, 0);
}

/* Serves calls until our end of the socket is closed, by fork_server_destroy or by our death. */
static void wait_for_calls(const struct common *common)
{
    const pid_t server = getpid();
    int fd;

    while ((fd = receive_fd(CONTROL_FD)) >= 0) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            signal(SIGCHLD, SIG_DFL); /* the caller waits for its child */
            if (getppid() == server)
                serve(fd, common);
            _exit(0);
        }
        close(fd); /* where the fork failed, our side reads the end of the file */
    }
}

static void server_main(int control, const struct common *common)
{
    setpgid(0, 0); /* an interrupt from the terminal goes to the program, which ends us */
    signal(SIGCHLD, SIG_IGN); /* so that no zombies remain */
    arrange_files(control);
    mem_use_large_pages();
    wait_for_calls(common);
    _exit(0);
}

/* ---- our side ---- */

struct fork_server *fork_server_create(
    fork_server_body *body, const void *context, const struct proc_limits *limits, struct err *err)
{
    const struct common common = {body, context, limits};
    struct fork_server *server;
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        err_errno(err, "cannot make a socket");
        return NULL;
    }
    pid = fork();
    if (pid == 0)
        server_main(ends[1], &common);
    close(ends[1]);
    if (pid < 0) {
        err_errno(err, "cannot start a process");
        close(ends[0]);
        return NULL;
    }
    server = xcalloc(1, sizeof(*server));
    server->pid = pid;
    server->control = ends[0];
    return server;
}

void fork_server_destroy(struct fork_server *server)
{
    if (!server)
        return;
    shutdown(server->control, SHUT_RDWR); /* another child of ours may hold a copy of the socket */
    close(server->control);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(server);
}

static char *read_text(int fd, size_t len)
{
    char *text = xcalloc(len + 1, 1);

    if (fd_read(fd, text, len))
        return text;
    free(text);
    return NULL;
}

static bool gone(struct err *err)
{
    return err_set(err, "the process that starts children is gone (out of memory?); start again");
}

/* False: an interrupt came before the answer. */
static bool wait_for_answer(int fd, struct err *err)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};

    do {
        if (atomic_load(proc_interrupted()))
            return err_set(err, "interrupted");
    } while (poll(&answer, 1, LISTEN_MS) <= 0);
    return true;
}

static bool answer_of(int fd, struct proc_result *result, struct err *err)
{
    struct head head;

    *result = (struct proc_result){0};
    if (!wait_for_answer(fd, err))
        return false;
    if (!fd_read(fd, &head, sizeof(head)))
        return gone(err);
    result->end = (enum proc_end)head.end;
    result->status = head.status;
    result->output_bytes = head.output_bytes;
    result->errors_bytes = head.errors_bytes;
    result->output = read_text(fd, head.output_bytes);
    result->errors = result->output ? read_text(fd, head.errors_bytes) : NULL;
    if (result->errors && head.started)
        return true;
    if (result->errors)
        err_set(err, "%s", result->output);
    else
        gone(err);
    proc_result_finish(result);
    return false;
}

bool fork_server_call(struct fork_server *server, const void *input, size_t bytes,
    struct proc_result *result, struct err *err)
{
    const uint64_t len = bytes;
    int ends[2];
    bool ok;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_errno(err, "cannot make a socket");
    ok = send_fd(server->control, ends[1]);
    close(ends[1]); /* so that we read the end of the file once the caller is gone */
    ok = ok && fd_send(ends[0], &len, sizeof(len)) && fd_send(ends[0], input, bytes);
    ok = ok ? answer_of(ends[0], result, err) : gone(err);
    close(ends[0]);
    if (ok)
        err->text[0] = '\0'; /* callers may look: nothing went wrong */
    return ok;
}
