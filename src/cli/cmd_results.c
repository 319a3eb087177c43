/* Owns `keet-opt results`: the best of a run or a campaign. */
#include "base/str.h"
#include "campaign/results.h"
#include "cli/commands.h"
#include "cli/look.h"

bool cmd_results(const struct options *o, int *status, struct err *err)
{
    const unsigned top = o->campaign.top;
    struct looked l;
    struct str text = {0};
    bool ok = look_open(&l, o->kernel_path, o->run, err);

    ok = ok &&
         (l.is_campaign ? results_campaign(&l.campaign, top ? top : UINT32_MAX, o->json, &text, err)
                        : results_run(l.path, (int64_t)o->run, top, o->json, &text, err));
    if (ok)
        look_print(str_text(&text));
    str_finish(&text);
    look_close(&l);
    return ok;
}
