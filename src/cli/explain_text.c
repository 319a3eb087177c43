/* Owns what explain says of one kernel. */
#include "cli/explain_text.h"

#include "core/counters.h"
#include "explain/limits.h"
#include "report/report.h"

#include <jansson.h>

static void print_limits(
    struct str *out, const struct chip *chip, const struct candidate *c, bool markdown)
{
    const struct limits limits = explain_limits(chip, c);

    limits_write(&limits, out);
    if (markdown && (limits.nr_pipes > 0 || limits.needed_bytes > 0)) {
        str_add_char(out, '\n');
    }
}

json_t *explain_limits_json(const struct chip *chip, const struct candidate *c)
{
    const struct limits limits = explain_limits(chip, c);
    json_t *busy = json_object();

    for (unsigned i = 0; i < limits.nr_pipes; i++) {
        json_object_set_new(
            busy, metric_name(limits.pipes[i].metric), json_real(limits.pipes[i].pct));
    }
    return json_pack("{s:f, s:f, s:o, s:f, s:f, s:f, s:f}", "roofline_memory_pct",
        limits.memory_pct, "roofline_compute_pct", limits.compute_pct, "busy_pct", busy,
        "in_flight_needed_bytes", limits.needed_bytes, "in_flight_one_each_bytes", limits.one_each,
        "in_flight_moved_bytes", limits.moved_bytes, "resident_warps", limits.warps);
}

void explain_print(struct str *out, const char *name, const struct chip *chip,
    const struct candidate *c, bool markdown)
{
    const struct explanation *e = &c->explanation;

    str_addf(out, markdown ? "## %s\n\n" : "%s\n", name);
    if (c->profiled && c->profile.time_ns > 0) {
        str_add(out, "time ");
        report_time(out, c->profile.time_ns);
        str_addf(out, " (%s)\n%s", provenance_name(c->profile.time_from), markdown ? "\n" : "");
    }
    str_addf(out, "%s", e->summary ? e->summary : "");
    if (e->confidence > 0) {
        str_addf(out, " Confidence %.0f%%.", 100 * e->confidence);
    }
    str_add(out, markdown ? "\n\n" : "\n");
    print_limits(out, chip, c, markdown);
    for (unsigned i = 0; i < e->nr_findings; i++) {
        const struct finding *f = &e->findings[i];

        str_addf(out,
            markdown ? "%u. **%s** (at most %.2fx) %s\n" : "  %u. [%s, at most %.2fx] %s\n", i + 1,
            f->tool, f->max_gain, f->text);
        for (unsigned k = 0; k < f->nr_evidence; k++) {
            str_addf(out, markdown ? "   - `%s` = %.6g %s (%s)\n" : "       %s = %.6g %s (%s)\n",
                metric_name(f->evidence[k].metric), f->evidence[k].value,
                metric_unit(f->evidence[k].metric), provenance_name(f->evidence[k].from));
        }
    }
    if (e->nr_findings == 0) {
        str_add(out, "No finding.\n");
    }
    if (e->unexamined && *e->unexamined) {
        str_addf(out, "%sNot examined for lack of metrics: %s.\n", markdown ? "\n" : "  ",
            e->unexamined);
    }
}
