/* Owns what a signal does: it ends the process, until a verb has something to end neatly. */
#include "cli/commands.h"

#include "device/device.h"
#include "mcp/mcp.h"
#include "run/loop.h"

#include <signal.h>

static volatile int stopped;

static void on_signal(int number)
{
    stopped = 1;
    device_interrupt();
    loop_interrupt();
    mcp_interrupt();
    signal(number, SIG_DFL); /* a second signal ends the process */
}

bool command_ignores(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

const volatile int *command_ends_neatly(void)
{
    if (!command_ignores(SIGINT))
        signal(SIGINT, on_signal);
    if (!command_ignores(SIGTERM))
        signal(SIGTERM, on_signal);
    return &stopped;
}
