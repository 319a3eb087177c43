/* Owns `keet-opt watch`: a run or a campaign while it is at work. */
#include "base/str.h"
#include "campaign/watch.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "cli/watch_web.h"

#include <time.h>
#include <unistd.h>

/* Adds the screen; with --json the document of `keet-opt status`. */
static bool view(
    const struct looked *l, const struct options *o, long holder, struct str *out, struct err *err)
{
    const int64_t run = (int64_t)o->run;

    if (l->is_campaign)
        return o->json ? watch_campaign_status(&l->campaign, holder, true, out, err)
                       : watch_campaign(&l->campaign, holder, out, err);
    return o->json ? watch_run_status(l->path, run, holder, true, out, err)
                   : watch_run(l->path, run, holder, out, err);
}

static bool look_once(const struct options *o, bool *running, struct str *out, struct err *err)
{
    struct looked l;
    bool ok = look_open(&l, o->kernel_path, o->run, err);
    const long holder = ok ? look_holder(&l) : 0;

    *running = holder != 0;
    ok = ok && view(&l, o, holder, out, err);
    look_close(&l);
    return ok;
}

/* Shows the view once a second, until the run or campaign has ended; or serves it as a page. */
bool cmd_watch(const struct options *o, int *status, struct err *err)
{
    const struct timespec second = {1, 0};
    const bool once = o->campaign.once, live = isatty(STDOUT_FILENO) && !once && !o->json;
    bool running, ok;

    if (o->web)
        return watch_web(o, err);
    do {
        struct str text = {0};

        ok = look_once(o, &running, &text, err);
        if (ok && live)
            look_print("\033[H\033[2J");
        if (ok)
            look_print(str_text(&text));
        str_finish(&text);
        if (ok && running && !once)
            nanosleep(&second, NULL);
    } while (ok && running && !once);
    return ok;
}
