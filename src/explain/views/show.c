/* Owns the printing of a view on stdout, as text, Markdown or JSON. */
#include "explain/views/views.h"
#include "report/json_text.h"

#include <stdio.h>

static const char *const view_names[] = {"one", "change", "sweep", "application"};

static json_t *kernels_json(const struct many *many)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];
        json_t *findings = json_array();

        for (unsigned k = 0; k < e->c.explanation.nr_findings; k++) {
            const struct finding *f = &e->c.explanation.findings[k];

            json_array_append_new(findings,
                json_pack("{s:s, s:I, s:o, s:f, s:s}", "tool", f->tool, "line", (json_int_t)f->line,
                    "max_gain", f->max_gain > 0 ? json_real(f->max_gain) : json_null(),
                    "expected_gain", finding_expected(f), "text", f->text));
        }
        json_array_append_new(
            all, json_pack("{s:o, s:s, s:s, s:f, s:f, s:s, s:s, s:o}", "limits",
                     view_limits_json(many->chip, &e->c), "kernel", e->name, "file", e->file,
                     "time_ns", e->c.profile.time_ns, "saving_ns", e->saving_ns, "summary",
                     e->c.explanation.summary, "unexamined", e->c.explanation.unexamined,
                     "findings", findings));
    }
    return all;
}

static void print_json(struct str *out, struct many *many, const struct view *view)
{
    json_t *root = json_pack("{s:s}", "view", view_names[view->kind]);

    if (view->kind == VIEW_CHANGE) {
        json_object_set_new(root, "change", view_change_json(&view->changes));
    } else if (view->kind == VIEW_SWEEP) {
        json_object_set_new(root, "sweep", view_sweep_json(many, view->parameter));
    } else if (view->kind == VIEW_APP) {
        json_object_set_new(root, "application", view_app_json(many));
    }
    json_object_set_new(root, "kernels", kernels_json(many));
    json_add(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}

static void print(struct str *out, struct many *many, const struct view *view, bool markdown)
{
    switch (view->kind) {
    case VIEW_ONE:
        view_one_print(
            out, many->all[0].name, many->chip, &many->all[0].c, markdown, many->verbose);
        break;
    case VIEW_CHANGE:
        view_change_print(out, &view->changes, markdown);
        break;
    case VIEW_SWEEP:
        view_sweep_print(out, many, view->parameter, markdown);
        break;
    case VIEW_APP:
        view_app_print(out, many, markdown);
        break;
    }
}

void view_show(struct many *many, const struct view *view, bool json, bool markdown)
{
    struct str out = {0};

    if (json) {
        print_json(&out, many, view);
    } else {
        print(&out, many, view, markdown);
    }
    fputs(str_text(&out), stdout);
    str_finish(&out);
}
