/* Owns `keet-opt status`: how far a run or a campaign is. */
#include "base/str.h"
#include "campaign/watch.h"
#include "cli/commands.h"
#include "cli/look.h"

bool cmd_status(const struct options *o, int *status, struct err *err)
{
    struct looked l;
    struct str text = {0};
    bool ok = look_open(&l, o->kernel_path, o->run, err);
    const long holder = ok ? look_holder(&l) : 0;

    ok = ok &&
         (l.is_campaign ? watch_campaign_status(&l.campaign, holder, o->json, &text, err)
                        : watch_run_status(l.path, (int64_t)o->run, holder, o->json, &text, err));
    if (ok)
        look_print(str_text(&text));
    str_finish(&text);
    look_close(&l);
    return ok;
}
