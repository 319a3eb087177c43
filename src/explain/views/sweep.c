/* Owns the view of one kernel over a parameter. */
#include "explain/views/views.h"

#include "base/file.h"
#include "explain/launch_groups.h"
#include "report/report.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVERS = 8, COLUMNS = 3, LEAST_FOR_KNEE = 5, MATTERS_PCT = 10, MOST_LAUNCHES = 8 };

static const double LINE_FITS = 0.03, LEAST_LAUNCH_SHARE = 0.02;

/* ---- the parameter's values ---- */

/* The number after the parameter's name: "N256", "N=256", "N_256". */
static bool number_after(const char *file, const char *name, double *x)
{
    const size_t len = strlen(name);

    for (const char *at = file; (at = strstr(at, name)) != NULL; at++) {
        const char *digits = at + len + strspn(at + len, "=_-");

        if ((at == file || !isalpha((unsigned char)at[-1])) && isdigit((unsigned char)*digits)) {
            *x = strtod(digits, NULL);
            return true;
        }
    }
    return false;
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Finds the number in which the files' names differ, and the parameter's name before the number. */
static bool differing_number(struct many *many, const char **found)
{
    const char *first = file_name(many->all[0].file);
    size_t at = strlen(first), from;

    for (unsigned i = 1; i < many->nr; i++) {
        const size_t n = common_prefix(first, file_name(many->all[i].file));
        at = n < at ? n : at;
    }
    while (at > 0 && isdigit((unsigned char)first[at - 1]))
        at--;
    for (unsigned i = 0; i < many->nr; i++) {
        const char *text = file_name(many->all[i].file) + at;

        if (!isdigit((unsigned char)*text))
            return false;
        many->all[i].x = strtod(text, NULL);
    }
    from = at;
    while (from > 0 && strchr("=_-", first[from - 1]))
        from--;
    at = from;
    while (from > 0 && isalpha((unsigned char)first[from - 1]))
        from--;
    *found = arena_strndup(many->arena, first + from, at - from);
    return true;
}

static double launch_number(const struct explained *e, const char *name)
{
    const struct launch_config *config = &e->c.profile.configs[0];
    const unsigned *d = strcmp(name, "grid") == 0 ? config->grid : config->block;

    return (double)d[0] * d[1] * d[2];
}

/* One launch per file: the longest. All must be of one kernel. */
static bool keep_longest(struct many *many)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];

        if (strcmp(e->name, many->all[0].name) != 0)
            return false;
        if (nr > 0 && many->all[nr - 1].file_number == e->file_number) {
            if (e->c.profile.time_ns > many->all[nr - 1].c.profile.time_ns)
                many->all[nr - 1] = *e;
        } else {
            many->all[nr++] = *e;
        }
    }
    many->nr = nr;
    return true;
}

static int by_x(const void *a, const void *b)
{
    const struct explained *x = a, *y = b;

    return (x->x > y->x) - (x->x < y->x);
}

void view_sweep_sort(struct many *many)
{
    qsort(many->all, many->nr, sizeof(many->all[0]), by_x);
}

bool view_sweep_read(struct many *many, const char *name, const char **found)
{
    const bool launch = name && (strcmp(name, "grid") == 0 || strcmp(name, "block") == 0);
    bool ok = true;

    *found = name ? name : "";
    if (many->nr < 3 || (!launch && !keep_longest(many)) || many->nr < 3)
        return false;
    for (unsigned i = 0; ok && name && i < many->nr; i++) {
        if (launch)
            many->all[i].x = launch_number(&many->all[i], name);
        else
            ok = number_after(file_name(many->all[i].file), name, &many->all[i].x);
    }
    if (!ok || (!name && !differing_number(many, found)))
        return false;
    view_sweep_sort(many);
    for (unsigned i = 1; i < many->nr; i++)
        ok = ok && (launch || many->all[i].x > many->all[i - 1].x);
    return ok;
}

/* ---- lines through logarithms ---- */

struct fit {
    double slope, error; /* sum of squares */
};

static struct fit fit_line(const double *x, const double *y, unsigned from, unsigned to)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, n = to - from + 1;
    struct fit fit = {0};

    for (unsigned i = from; i <= to; i++) {
        sx += x[i];
        sy += y[i];
        sxx += x[i] * x[i];
        sxy += x[i] * y[i];
    }
    fit.slope = n * sxx - sx * sx > 1e-12 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
    for (unsigned i = from; i <= to; i++) {
        const double off = y[i] - sy / n - fit.slope * (x[i] - sx / n);
        fit.error += off * off;
    }
    return fit;
}

struct curve {
    bool ok;       /* all values positive */
    double *x, *y; /* logarithms */
    double slope;
};

static struct curve curve_of(const struct many *many, enum metric metric)
{
    struct curve c = {.x = arena_array(many->arena, many->nr, sizeof(double)),
        .y = arena_array(many->arena, many->nr, sizeof(double)),
        .ok = true};

    for (unsigned i = 0; i < many->nr; i++) {
        const struct counters *n = &many->all[i].c.profile.total;
        const double value = counters_get(n, metric);

        c.ok = c.ok && counters_has(n, metric) && value > 0 && many->all[i].x > 0;
        c.x[i] = c.ok ? log(many->all[i].x) : 0;
        c.y[i] = c.ok ? log(value) : 0;
    }
    c.slope = c.ok ? fit_line(c.x, c.y, 0, many->nr - 1).slope : 0;
    return c;
}

struct knee {
    bool found;
    unsigned at; /* the point where the curve turns */
    double before, after;
};

/* Finds two lines that meet in a point. Their slopes must differ, and the two lines must fit far
 * better than one line. */
static struct knee find_knee(const struct curve *c, unsigned nr)
{
    struct knee knee = {0};
    double best = INFINITY;

    if (!c->ok || nr < LEAST_FOR_KNEE)
        return knee;
    for (unsigned k = 1; k + 1 < nr; k++) {
        const struct fit left = fit_line(c->x, c->y, 0, k), right = fit_line(c->x, c->y, k, nr - 1);

        if (left.error + right.error < best) {
            best = left.error + right.error;
            knee = (struct knee){true, k, left.slope, right.slope};
        }
    }
    knee.found =
        fabs(knee.after - knee.before) >= 0.3 && best < 0.4 * fit_line(c->x, c->y, 0, nr - 1).error;
    return knee;
}

/* ---- which metrics move ---- */

struct mover {
    enum metric metric;
    double slope, ratio; /* of the logarithms; last over first */
    double turn;         /* change of slope at the knee of the time */
    bool rate;           /* a utilisation or stall that matters somewhere in the range */
};

struct movers {
    struct mover all[NR_METRICS];
    unsigned nr;
};

static bool is_monotonic(const double *y, unsigned nr)
{
    unsigned up = 0, down = 0;

    for (unsigned i = 1; i < nr; i++) {
        up += y[i] > y[i - 1] + 1e-9;
        down += y[i] < y[i - 1] - 1e-9;
    }
    return up == 0 || down == 0 || up > 5 * down || down > 5 * up;
}

/* Utilisations and stalls come first: these say more than counts. Then steeper slopes come
 * first. */
static int by_slope(const void *a, const void *b)
{
    const struct mover *x = a, *y = b;

    if (x->rate != y->rate)
        return x->rate ? -1 : 1;
    return (fabs(x->slope) < fabs(y->slope)) - (fabs(x->slope) > fabs(y->slope));
}

static void find_movers(const struct many *many, const struct knee *knee, struct movers *movers)
{
    movers->nr = 0;
    for (int m = 0; m < NR_METRICS; m++) {
        const struct curve c = curve_of(many, (enum metric)m);
        struct mover *mover = &movers->all[movers->nr];
        const unsigned last = many->nr - 1;

        if (!c.ok || m == METRIC_TIME_NS)
            continue;
        *mover = (struct mover){
            .metric = (enum metric)m, .slope = c.slope, .ratio = exp(c.y[last] - c.y[0])};
        for (unsigned i = 0; i < many->nr; i++)
            mover->rate = mover->rate || (strcmp(metric_unit((enum metric)m), "%") == 0 &&
                                             exp(c.y[i]) >= MATTERS_PCT);
        if (knee->found)
            mover->turn =
                fit_line(c.x, c.y, knee->at, last).slope - fit_line(c.x, c.y, 0, knee->at).slope;
        movers->nr += (is_monotonic(c.y, many->nr) && fabs(log(mover->ratio)) > 0.1) ||
                      fabs(mover->turn) > 0.3;
    }
    qsort(movers->all, movers->nr, sizeof(movers->all[0]), by_slope);
}

/* The utilisation or stall whose slope changes most where the slope of the time changes. */
static const struct mover *what_turns(const struct movers *movers)
{
    const struct mover *most = NULL;

    for (unsigned i = 0; i < movers->nr; i++)
        if (movers->all[i].rate && fabs(movers->all[i].turn) > (most ? fabs(most->turn) : 0.2))
            most = &movers->all[i];
    return most;
}

/* Are the times of all points equal? */
static bool is_flat(const struct many *many)
{
    double least = INFINITY, most = 0;

    for (unsigned i = 0; i < many->nr; i++) {
        least = fmin(least, many->all[i].c.profile.time_ns);
        most = fmax(most, many->all[i].c.profile.time_ns);
    }
    return view_equal(least, most);
}

/* ---- printing ---- */

static void print_words(struct str *out, const struct many *many, const char *name,
    const struct curve *time, bool flat, const struct knee *knee, const struct movers *movers)
{
    const struct mover *turns = what_turns(movers);

    if (flat) {
        view_say_equal(
            out, many->all[0].c.profile.time_from, "Time is ", " over the whole range.\n");
    } else if (knee->found) {
        str_addf(out,
            "Time grows as %s^%.2f up to %s = %.10g and as %s^%.2f beyond: the knee is at %.10g.",
            name, knee->before, name, many->all[knee->at].x, name, knee->after,
            many->all[knee->at].x);
        if (turns)
            str_addf(out, " What turns there most is `%s`.", metric_name(turns->metric));
        str_add_char(out, '\n');
    } else if (time->ok) {
        str_addf(
            out, "Time goes as %s^%.2f over the whole range, without a knee.\n", name, time->slope);
    }
}

/* Over a wide range a time with a part that does not change looks like a low power. Where a
 * straight line goes through all points, it says more. By least squares of the relative errors. */
static bool straight_line(const struct many *many, double *fixed_ns, double *each_ns)
{
    double s = 0, sx = 0, sxx = 0, st = 0, stx = 0;

    for (unsigned i = 0; i < many->nr; i++) {
        const double x = many->all[i].x, t = many->all[i].c.profile.time_ns, w = 1 / (t * t);

        s += w;
        sx += w * x;
        sxx += w * x * x;
        st += w * t;
        stx += w * x * t;
    }
    *each_ns = (s * stx - sx * st) / (s * sxx - sx * sx);
    *fixed_ns = (st - *each_ns * sx) / s;
    for (unsigned i = 0; i < many->nr; i++) {
        const double t = many->all[i].c.profile.time_ns;

        if (!(fabs(*fixed_ns + *each_ns * many->all[i].x - t) <= LINE_FITS * t)) {
            return false;
        }
    }
    return *fixed_ns > 0 && *each_ns > 0;
}

static void print_line(struct str *out, const struct many *many, const char *name)
{
    double fixed_ns, each_ns;

    if (straight_line(many, &fixed_ns, &each_ns)) {
        str_add(out, "As a line: ");
        report_time(out, fixed_ns);
        str_addf(out, ", and %.3g ns for each of %s; all values are within %.0f%% of it.\n",
            each_ns, name, 100 * LINE_FITS);
    }
}

/* Where there are several launches: the time of each of the longest, value by value. */
static void print_launches(struct str *out, const struct many *many, const char *name)
{
    struct launch_group groups[MOST_LAUNCHES];

    if (many->all[0].c.profile.nr_launches < 2) {
        return;
    }
    for (unsigned i = 0; i < many->nr; i++) {
        const struct profile *profile = &many->all[i].c.profile;
        const unsigned nr =
            launch_groups(profile, many->arena, groups, MOST_LAUNCHES, LEAST_LAUNCH_SHARE);

        str_addf(out, "%s = %.10g:", name, many->all[i].x);
        for (unsigned k = 0; k < nr; k++) {
            str_addf(out, "%s %s ", k ? "," : "", profile->configs[groups[k].longest].kernel);
            report_time(out, counters_get(&profile->launches[groups[k].longest], METRIC_TIME_NS));
            if (groups[k].nr > 1) {
                str_addf(out, " x %u", groups[k].nr);
            }
        }
        str_add(out, ".\n");
    }
}

/* "few_blocks up to 1024, bandwidth from 2048". */
static void print_bottlenecks(struct str *out, const struct many *many, const char *name)
{
    str_add(out, "First finding: ");
    for (unsigned i = 0; i < many->nr;) {
        const char *tool = view_bottleneck(&many->all[i]);
        unsigned last = i;

        while (last + 1 < many->nr && strcmp(view_bottleneck(&many->all[last + 1]), tool) == 0)
            last++;
        str_addf(out, "%s%s (%s = %.10g", i ? ", then " : "", tool, name, many->all[i].x);
        str_addf(out, last > i ? " to %.10g)" : ")", many->all[last].x);
        i = last + 1;
    }
    str_add(out, ".\n");
}

static void print_movers(struct str *out, const struct movers *movers, const char *name)
{
    for (unsigned i = 0; i < movers->nr && i < MOST_MOVERS; i++)
        str_addf(out, "%s`%s` %s%s^%.2f",
            i ? ", " : "Moves with it: ", metric_name(movers->all[i].metric), "as ", name,
            movers->all[i].slope);
    str_add(out, movers->nr > 0 ? ".\n" : "No metric moves with it.\n");
}

static void print_table(struct str *out, const struct many *many, const char *name,
    const struct movers *movers, bool md)
{
    const unsigned nr = movers->nr < COLUMNS ? movers->nr : COLUMNS;

    str_addf(out, md ? "\n| %s | time | first finding |" : "\n  %10s  %12s  %-20s", name, "time",
        "first finding");
    for (unsigned k = 0; k < nr; k++)
        str_addf(out, md ? " `%s` |" : "  %36.36s", metric_name(movers->all[k].metric));
    str_add(out, md ? "\n|---|---|---|" : "");
    for (unsigned k = 0; md && k < nr; k++)
        str_add(out, "---|");
    for (unsigned i = 0; i < many->nr; i++) {
        const struct explained *e = &many->all[i];
        struct str time = {0};

        report_time(&time, e->c.profile.time_ns);
        str_addf(out, md ? "\n| %.10g | %s | %s |" : "\n  %10.10g  %12s  %-20s", e->x,
            str_text(&time), view_bottleneck(e));
        str_finish(&time);
        for (unsigned k = 0; k < nr; k++)
            str_addf(out, md ? " %.4g |" : "  %36.4g",
                counters_get(&e->c.profile.total, movers->all[k].metric));
    }
    str_add_char(out, '\n');
}

void view_sweep_print(struct str *out, const struct many *many, const char *name, bool markdown)
{
    struct movers *movers = arena_alloc(many->arena, sizeof(*movers));
    const struct curve time = curve_of(many, METRIC_TIME_NS);
    const bool flat = is_flat(many);
    const struct knee knee = flat ? (struct knee){0} : find_knee(&time, many->nr);

    name = *name ? name : "x";
    find_movers(many, &knee, movers);
    str_addf(out, "%s%s over %s, %u values\n%s", markdown ? "# " : "", many->all[0].name, name,
        many->nr, markdown ? "\n" : "");
    print_words(out, many, name, &time, flat, &knee, movers);
    print_line(out, many, name);
    print_launches(out, many, name);
    print_bottlenecks(out, many, name);
    print_movers(out, movers, name);
    print_table(out, many, name, movers, markdown);
}

json_t *view_sweep_json(const struct many *many, const char *name)
{
    struct movers *movers = arena_alloc(many->arena, sizeof(*movers));
    const struct curve time = curve_of(many, METRIC_TIME_NS);
    const bool flat = is_flat(many);
    const struct knee knee = flat ? (struct knee){0} : find_knee(&time, many->nr);
    json_t *points = json_array(), *moving = json_array();
    json_t *root = json_pack("{s:s, s:o, s:o, s:f, s:b}", "parameter", name, "points", points,
        "moves", moving, "time_exponent", time.slope, "equal", flat);

    find_movers(many, &knee, movers);
    for (unsigned i = 0; i < many->nr; i++)
        json_array_append_new(points,
            json_pack("{s:f, s:f, s:s}", "x", many->all[i].x, "time_ns",
                many->all[i].c.profile.time_ns, "bottleneck", view_bottleneck(&many->all[i])));
    for (unsigned i = 0; i < movers->nr; i++)
        json_array_append_new(
            moving, json_pack("{s:s, s:f, s:f}", "metric", metric_name(movers->all[i].metric),
                        "exponent", movers->all[i].slope, "turn", movers->all[i].turn));
    json_object_set_new(root, "knee",
        knee.found ? json_pack("{s:f, s:f, s:f}", "x", many->all[knee.at].x, "exponent_before",
                         knee.before, "exponent_after", knee.after)
                   : json_null());
    return root;
}
