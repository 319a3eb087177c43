/* Lists the moves that a kernel is offered, and why others are refused; makes those that its
 * findings ask for. */
#include "cli/run_moves.h"

#include "base/share.h"
#include "propose/propose.h"
#include "report/json_text.h"

#include <stdlib.h>
#include <string.h>

/* The proposers of c's task, and in c the moves that they offer for its original. NULL: err. */
static struct propose *find_moves(struct candidate *c, const struct chip *chip, struct err *err)
{
    char *prompts = share_find("prompts");
    const struct propose_options options = {.prompts_dir = prompts, .runs_on = chip};
    struct propose *propose = NULL;

    if (!prompts)
        err_set(err, "the folder prompts/ was not found beside the program; set KEET_SHARE to the "
                     "folder that holds it");
    else
        propose = propose_create(&options, c->task, err);
    free(prompts);
    if (propose &&
        !(propose_kernel(propose, NULL, 0, c, err) && propose_options(propose, c, err))) {
        propose_destroy(propose);
        propose = NULL;
    }
    return propose;
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
            json_pack("{s:s#, s:s#}", "move", r.move, r.move_len, "why", r.why, r.why_len));
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
    struct propose *propose = find_moves(c, chip, err);

    if (propose)
        (json ? print_json : print_text)(c, propose_refusals(propose), out);
    propose_destroy(propose);
    return propose != NULL;
}

/* The first variant of the move that a finding asks for most among those that are offered and not
 * taken yet; NULL: none. */
static const struct option *asked_most(
    const struct finding *finding, const struct candidate *root, const bool taken[NR_ACTIONS])
{
    const struct option *best = NULL;
    float most = 0;

    for (unsigned w = 0; w < finding->nr_weights; w++)
        for (unsigned i = 0; i < root->nr_options && finding->weights[w].weight > most; i++) {
            const struct option *o = &root->options[i];

            if (o->action == finding->weights[w].action && o->proposer == PROPOSER_REWRITER &&
                !taken[o->action]) {
                best = o;
                most = finding->weights[w].weight;
            }
        }
    return best;
}

bool moves_asked(const struct candidate *c, const struct chip *chip, uint64_t seed,
    struct moves_asked *out, struct err *err)
{
    struct candidate root;
    struct propose *propose;
    bool taken[NR_ACTIONS] = {false}, ok = true;

    candidate_begin(&root, c->arena, c->task, seed);
    propose = find_moves(&root, chip, err);
    for (unsigned round = 0; propose && round < MOVES_A_FINDING; round++)
        for (unsigned i = 0; ok && i < c->explanation.nr_findings && out->nr < MOVES_ASKED; i++) {
            const struct finding *finding = &c->explanation.findings[i];
            const struct option *option = asked_most(finding, &root, taken);
            struct candidate *made = &out->items[out->nr].made;

            if (!option)
                continue;
            candidate_init(made, c->arena, c->task);
            made->option = *option;
            taken[option->action] = true;
            ok = propose_kernel(propose, root.source, root.source_bytes, made, err);
            out->items[out->nr].tool = finding->tool;
            out->nr += ok && made->verdict == VERDICT_OK;
        }
    propose_destroy(propose);
    return propose && ok;
}
