/* Owns `keet-opt show`: one variant of a run. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "core/prediction.h"
#include "report/json_text.h"
#include "report/report.h"

static void add_node(const struct candidate *c, struct str *out)
{
    const char *said;

    str_addf(out, "node %lld", (long long)c->node);
    if (c->parent >= 0)
        str_addf(out, ", made of %lld by %s (%s)", (long long)c->parent,
            action_name(c->option.action), proposer_name(c->option.proposer));
    if (c->speedup > 0)
        str_addf(out, ", %.2fx %s", c->speedup, report_speedup_word(c->profile.time_from));
    str_add_char(out, '\n');
    if (c->option.what)
        str_addf(out, "%s\n", c->option.what);
    said = prediction_compared(c->arena, c);
    if (*said)
        str_addf(out, "the model %s\n", said);
    if (c->recalled_from >= 0)
        str_addf(out, "it compiled to the same as node %lld\n", (long long)c->recalled_from);
    report_candidate(out, c);
    for (unsigned i = 0; i < c->nr_calls; i++)
        str_addf(out, "asked %s to %s: %s\n", c->calls[i].model, c->calls[i].purpose,
            verdict_name(c->calls[i].verdict));
    str_addf(out, "\n%s", c->source ? c->source : "");
}

bool cmd_show(const struct options *o, int *status, struct err *err)
{
    struct looked_run l;
    struct str text = {0};
    struct task task = {0};
    bool ok = look_open_run(&l, o->kernel_path, o->run, err);
    struct candidate c = {.arena = l.arena};

    ok = ok && look_load(&l, o->paths[1], &c, err);
    task.path = l.run.kernel_path;
    c.task = &task; /* for its name only */
    if (ok && o->json)
        report_candidate_json(&text, &c);
    else if (ok)
        add_node(&c, &text);
    if (ok)
        look_print(str_text(&text));
    str_finish(&text);
    look_close_run(&l);
    return ok;
}
