/* Lists the moves that a kernel is offered, and why others are refused. */
#include "cli/run_moves.h"

#include "base/share.h"
#include "propose/propose.h"
#include "report/json_text.h"

#include <stdlib.h>
#include <string.h>

static bool find_moves(
    struct candidate *c, const struct chip *chip, struct str *refusals, struct err *err)
{
    char *prompts = share_find("prompts");
    const struct propose_options options = {.prompts_dir = prompts, .runs_on = chip};
    struct propose *propose;
    bool ok;

    if (!prompts)
        return err_set(err, "the folder prompts/ was not found beside the program; set KEET_SHARE "
                            "to the folder that holds it");
    propose = propose_create(&options, c->task, err);
    ok = propose && propose_kernel(propose, NULL, 0, c, err) && propose_options(propose, c, err);
    if (ok)
        str_add(refusals, propose_refusals(propose));
    propose_destroy(propose);
    free(prompts);
    return ok;
}

/* The parts of a line "move: reason". */
struct refusal {
    const char *move, *why;
    int move_len, why_len;
};

/* False: no line is left. */
static bool next_refusal(const char **at, struct refusal *r)
{
    const size_t line = strcspn(*at, "\n");
    const char *colon = memchr(*at, ':', line);

    if (!colon)
        return false;
    *r = (struct refusal){.move = *at, .move_len = (int)(colon - *at), .why = colon + 2};
    r->why_len = (int)(*at + line - r->why);
    *at = str_next_line(*at);
    return true;
}

static void print_json(const struct candidate *c, const char *refusals, struct str *out)
{
    json_t *offered = json_array(), *refused = json_array();
    struct refusal r;

    for (unsigned i = 0; i < c->nr_options; i++)
        json_array_append_new(offered,
            json_pack("{s:s, s:s, s:s}", "move", action_name(c->options[i].action), "proposer",
                proposer_name(c->options[i].proposer), "what", c->options[i].what));
    while (next_refusal(&refusals, &r))
        json_array_append_new(refused,
            json_pack("{s:s%, s:s%}", "move", r.move, r.move_len, "why", r.why, r.why_len));
    json_add(out, json_pack("{s:o, s:o}", "offered", offered, "refused", refused), JSON_INDENT(2));
}

static void print_text(const struct candidate *c, const char *refusals, struct str *out)
{
    struct refusal r;

    str_addf(out, "%u moves are offered\n", c->nr_options);
    for (unsigned i = 0, times; i < c->nr_options; i += times) {
        const struct option *o = &c->options[i];

        for (times = 1; i + times < c->nr_options && !strcmp(o[times].what, o->what);)
            times++;
        str_addf(out, "  %-16s %s", action_name(o->action), o->what);
        str_addf(out, times > 1 ? " (%u times)\n" : "\n", times);
    }
    str_add(out, "refused, a line for each reason\n");
    while (next_refusal(&refusals, &r))
        str_addf(out, "  %-16.*s %.*s\n", r.move_len, r.move, r.why_len, r.why);
}

bool moves_list(
    struct candidate *c, const struct chip *chip, bool json, struct str *out, struct err *err)
{
    struct str refusals = {0};
    const bool ok = find_moves(c, chip, &refusals, err);

    if (ok)
        (json ? print_json : print_text)(c, str_text(&refusals), out);
    str_finish(&refusals);
    return ok;
}
