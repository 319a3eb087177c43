/* Owns `keet-opt stop`: asks a run or a campaign to end, and waits for the end. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "report/json_text.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

static bool ask_to_end(const struct looked *l, long holder, struct err *err)
{
    if (holder == 0)
        return err_set(err, "%s: nothing is at work there", l->path);
    if (holder < 0)
        return err_set(err, "%s: it runs on another machine; stop it there", l->path);
    return kill((pid_t)holder, SIGTERM) == 0 || err_errno(err, "asking process %ld to end", holder);
}

static bool wait_for_end(const struct looked *l, long holder)
{
    enum { PATIENCE = 600 };
    const struct timespec step = {0, 100000000};

    for (int i = 0; i < PATIENCE; i++) {
        if (look_holder(l) != holder)
            return true;
        nanosleep(&step, NULL);
    }
    return false;
}

static void print(const struct options *o, long process, bool ended)
{
    struct str text = {0};

    if (o->json)
        json_add(&text,
            json_pack("{s:I, s:b}", "process", (json_int_t)process, "ended", (int)ended),
            JSON_INDENT(1));
    else
        str_addf(&text,
            ended ? "process %ld has ended; --resume goes on\n"
                  : "process %ld was asked to end, and is not done with its last variant yet\n",
            process);
    look_print(str_text(&text));
    str_finish(&text);
}

bool cmd_stop(const struct options *o, int *status, struct err *err)
{
    struct looked l;
    bool ok = look_open(&l, o->kernel_path, o->run, err);
    const long holder = ok ? look_holder(&l) : 0;

    ok = ok && ask_to_end(&l, holder, err);
    if (ok)
        print(o, holder, wait_for_end(&l, holder));
    look_close(&l);
    return ok;
}
