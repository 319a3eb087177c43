/* Owns the steering of the search beside the counters' own findings: --feedback, the user's tools,
 * models and lessons. */
#include "base/log.h"
#include "base/str.h"
#include "explain/plugin.h"
#include "run/session_parts.h"

#include <stdio.h>
#include <string.h>

bool steering_open(struct session *s, struct err *err)
{
    static const char other[] = "other:";
    const char *name = s->options->feedback;

    if (!name)
        return true;
    if (strncmp(name, other, strlen(other)) == 0) {
        s->feedback = FEEDBACK_OTHER;
        s->borrowed = borrowed_explanation_open(name + strlen(other), err);
        return s->borrowed || err_wrap(err, "--feedback");
    }
    return feedback_parse(name, &s->feedback) ||
           err_set(err, "--feedback %s: expected findings, none, counters, generic or other:RUN.db",
               name);
}

static unsigned depth_of(const struct session *s, const struct candidate *c)
{
    unsigned depth = 0;

    for (int64_t at = c->parent; at >= 0; at = search_node(s->search, at).parent)
        depth++;
    return depth;
}

/* Run the user's own tools: their findings join the findings of the program before moves are
 * weighed. A tool's failure is printed for the original; for other nodes only with -v. */
static bool run_tools(struct session *s, struct candidate *c, struct err *err)
{
    struct str notes = {0};
    bool ok;

    if (!s->options->tools_dir)
        return true;
    ok = plugins_run(s->options->tools_dir, c, &notes, err);
    if (notes.len > 0 && c->node == 0)
        fputs(str_text(&notes), stderr);
    else if (notes.len > 0)
        log_note("node %lld: %s", (long long)c->node, str_text(&notes));
    str_finish(&notes);
    return ok;
}

bool steering_priors(struct session *s, struct candidate *c, struct err *err)
{
    if (s->feedback == FEEDBACK_FINDINGS && !run_tools(s, c, err))
        return false;
    if (s->feedback != FEEDBACK_FINDINGS)
        explain_instead(s->feedback, borrowed_explanation_at(s->borrowed, depth_of(s, c)), c);
    lessons_priors(s->memory, c);
    propose_priors(s->propose, c);
    return true;
}
