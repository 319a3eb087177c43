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

const volatile int *command_ends_neatly(void)
{
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return &stopped;
}
