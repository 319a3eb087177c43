/* Owns the checking of texts against a profile and a source. */
#include "explain/ground.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SMALL_NUMBER = 16, MAX_WORD = 160 };

struct said_number {
    double value, precision; /* half a unit of the last digit written, scaled */
    const char *unit;        /* "%", "ns", "byte", ... of metrics.def; "" none */
    size_t len;              /* with unit */
};

struct ground_checker {
    struct ground *ground;
    struct arena *arena;
    const char *text;
    const struct counters *counters;
    const struct profile *profile;
    const char *source;
    struct said_number *said; /* arena memory */
    size_t nr_said;
    size_t cap;
    int metric;         /* named last in this sentence; -1 none */
    int metric_before;  /* named before `metric`; -1 none */
    bool metric_is_new; /* no number has followed `metric` */
    int metric_last;    /* of the sentence before, for "It is ..." */
    bool starts;        /* no word of this sentence has been read */
    bool advice;        /* in a line that begins with "Next:" */
    bool in_lines;      /* "lines 3, 5": the next number may be a line, too */
    unsigned line;      /* named last in this sentence; 0 none */
    char word[12];      /* the word before, lower case */
    char word2[12];     /* the word before `word` */
};

static void add(
    struct ground_checker *k, enum claim_kind kind, size_t at, size_t len, const char *why)
{
    struct ground *g = k->ground;

    g->claims = grow(g->claims, &k->cap, g->nr_claims + 1, sizeof(*g->claims));
    g->claims[g->nr_claims++] = (struct claim){kind, at, len, why == NULL, why};
    g->nr_grounded += why == NULL;
}

/* ---- the source ---- */

static bool source_has_word(const char *source, const char *word, size_t len)
{
    return str_find_word(source, source + strlen(source), word, len) != NULL;
}

static unsigned nr_lines(const char *source)
{
    unsigned nr = *source != '\0';

    for (const char *at = source; *at; at++) {
        nr += *at == '\n' && at[1] != '\0';
    }
    return nr;
}

static const char *find_line(const char *source, unsigned line, size_t *len)
{
    for (; line > 1 && *source; line--)
        source = str_next_line(source);
    *len = strcspn(source, "\n");
    return source;
}

static bool line_has(const char *source, unsigned line, const char *code)
{
    size_t len;
    const char *at = find_line(source, line, &len);

    for (size_t i = 0; i + strlen(code) <= len; i++) {
        if (strncmp(at + i, code, strlen(code)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- numbers ---- */

struct unit_word {
    const char *text, *unit;
    double scale;
};

static const struct unit_word units[] = {{"%", "%", 1}, {"percent", "%", 1}, {"ns", "ns", 1},
    {"nanoseconds", "ns", 1}, {"us", "ns", 1e3}, {"microseconds", "ns", 1e3}, {"ms", "ns", 1e6},
    {"milliseconds", "ns", 1e6}, {"s", "ns", 1e9}, {"bytes", "byte", 1}, {"byte", "byte", 1},
    {"B", "byte", 1}, {"KB", "byte", 1e3}, {"kB", "byte", 1e3}, {"MB", "byte", 1e6},
    {"GB", "byte", 1e9}, {"sectors", "sector", 1}, {"requests", "request", 1},
    {"wavefronts", "wavefront", 1}, {"registers", "register", 1}, {"threads", "thread", 1},
    {"blocks", "block", 1}, {"waves", "wave", 1}, {"cycles", "cycle", 1},
    {"instructions", "inst", 1}, {"warps", "warp", 1}, {"flops", "flop", 1}};

static double prefix_scale(char c)
{
    return c == 'k' || c == 'K' ? 1e3 : c == 'M' ? 1e6 : c == 'G' ? 1e9 : c == 'T' ? 1e12 : 1;
}

static const char *read_unit(const char *at, struct said_number *number)
{
    size_t len = *at == '%' ? 1 : 0;

    while (len == 0 || (at[0] != '%' && isalpha((unsigned char)at[len]))) {
        if (!isalpha((unsigned char)at[len])) {
            break;
        }
        len++;
    }
    for (size_t i = 0; len > 0 && i < ARRAY_SIZE(units); i++) {
        if (strlen(units[i].text) == len && strncmp(units[i].text, at, len) == 0) {
            number->unit = units[i].unit;
            number->value *= units[i].scale;
            number->precision *= units[i].scale;
            return at + len;
        }
    }
    return NULL;
}

static struct said_number read_number(const char *text)
{
    struct said_number number = {.unit = "", .precision = 0.5};
    char digits[64];
    size_t nr = 0;
    const char *at = text, *end;
    bool fraction = false;

    while (nr + 1 < sizeof(digits) &&
           (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])) ||
               (*at == ',' && strspn(at + 1, "0123456789") == 3))) {
        if (*at != ',') {
            digits[nr++] = *at;
        }
        if (fraction && isdigit((unsigned char)*at)) {
            number.precision /= 10;
        }
        fraction = fraction || *at == '.';
        at++;
    }
    digits[nr] = '\0';
    number.value = strtod(digits, NULL);
    if ((*at == 'e' || *at == 'E') &&
        isdigit((unsigned char)at[1 + (at[1] == '+' || at[1] == '-')])) {
        double power = strtod(at + 1, NULL);

        number.value *= pow(10, power);
        number.precision *= pow(10, power);
        at += 2;
        at += strspn(at, "0123456789");
    }
    end = read_unit(at + (*at == ' '), &number);
    if (!end && prefix_scale(*at) > 1 && !str_word_char(at[1])) {
        number.value *= prefix_scale(*at);
        number.precision *= prefix_scale(*at);
        at++;
        end = read_unit(at + (*at == ' '), &number);
    } else if (!end && *at == ' ' && prefix_scale(at[1]) > 1 && !str_word_char(at[2])) {
        number.value *= prefix_scale(at[1]);
        number.precision *= prefix_scale(at[1]);
        at += 2;
        end = read_unit(at + (*at == ' '), &number);
    }
    number.len = (size_t)((end ? end : at) - text);
    return number;
}

static bool is_value(const struct said_number *n, double value)
{
    return fabs(n->value - value) <= fmax(1.0001 * n->precision, 0.005 * fabs(value)) &&
           (value != 0 || n->value == 0);
}

static bool unit_fits(const struct said_number *n, enum metric metric)
{
    return n->unit[0] == '\0' || strcmp(n->unit, metric_unit(metric)) == 0;
}

/* Words that claim a direction. */
static int direction(const struct ground_checker *k)
{
    static const char *const above[] = {"above", "over", "exceeds"};
    static const char *const below[] = {"below", "under"};

    for (size_t i = 0; i < ARRAY_SIZE(above); i++) {
        if (strcmp(k->word, above[i]) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
        if (strcmp(k->word, below[i]) == 0) {
            return -1;
        }
    }
    if (strcmp(k->word, "than") == 0 || strcmp(k->word, "least") == 0 ||
        strcmp(k->word, "most") == 0) {
        bool more = strcmp(k->word2, "more") == 0 || strcmp(k->word2, "greater") == 0 ||
                    strcmp(k->word2, "higher") == 0 || strcmp(k->word, "least") == 0;

        return more ? 1 : -1;
    }
    return 0;
}

static bool agrees(int way, const struct said_number *n, double value)
{
    return way == 0 ? is_value(n, value) : way > 0 ? value >= n->value : value <= n->value;
}

static bool some_launch_agrees(
    const struct ground_checker *k, int way, const struct said_number *n, enum metric metric)
{
    for (unsigned i = 0; k->profile && i < k->profile->nr_launches; i++) {
        const struct counters *launch = &k->profile->launches[i];

        if (counters_has(launch, metric) && agrees(way, n, counters_get(launch, metric))) {
            return true;
        }
    }
    return false;
}

static const char *judge_against(
    struct ground_checker *k, const struct said_number *n, enum metric metric)
{
    double value = counters_get(k->counters, metric);
    int way = direction(k);

    if (!unit_fits(n, metric)) {
        return arena_printf(k->arena, "%s is in %s", metric_name(metric), metric_unit(metric));
    }
    if (agrees(way, n, value) || some_launch_agrees(k, way, n, metric)) {
        return NULL;
    }
    return arena_printf(k->arena, "%s is %.6g", metric_name(metric), value);
}

/* ---- numbers without a metric's name ---- */

static bool some_metric_has(const struct ground_checker *k, const struct said_number *n)
{
    for (int m = 0; m < NR_METRICS; m++) {
        if (counters_has(k->counters, (enum metric)m) && unit_fits(n, (enum metric)m) &&
            (is_value(n, counters_get(k->counters, (enum metric)m)) ||
                some_launch_agrees(k, 0, n, (enum metric)m))) {
            return true;
        }
    }
    return false;
}

static bool unit_is(const struct said_number *n, const char *unit)
{
    return n->unit[0] == '\0' || strcmp(n->unit, unit) == 0;
}

/* The costs of the line that the sentence is about. */
static bool line_has_cost(const struct ground_checker *k, const struct said_number *n)
{
    for (unsigned i = 0; k->line > 0 && i < k->counters->nr_lines; i++) {
        const struct line_cost *l = &k->counters->lines[i];
        const struct {
            double value;
            const char *unit;
        } costs[] = {{l->warp_inst, "inst"}, {l->thread_inst, "inst"},
            {l->global_requests, "request"}, {l->global_sectors, "sector"},
            {l->global_sectors_ideal, "sector"}, {l->global_bytes, "byte"},
            {l->access_bytes, "byte"}, {l->shared_requests, "request"},
            {l->shared_wavefronts, "wavefront"}, {l->shared_wavefronts_ideal, "wavefront"},
            {l->local_requests, "request"}, {l->atomics, "request"}, {l->barriers, "inst"},
            {l->branches, "inst"}, {l->branches_divergent, "inst"}, {l->fp64_inst, "inst"},
            {l->special_inst, "inst"}, {l->integer_inst, "inst"}, {l->conversion_inst, "inst"},
            {l->stall_cycles, "cycle"}};

        for (size_t c = 0; l->line == k->line && c < ARRAY_SIZE(costs); c++) {
            if (unit_is(n, costs[c].unit) && is_value(n, costs[c].value)) {
                return true;
            }
        }
    }
    return false;
}

static bool was_said(const struct ground_checker *k, const struct said_number *n)
{
    for (size_t i = 0; i < k->nr_said; i++) {
        const struct said_number *s = &k->said[i];

        if ((n->unit[0] == '\0' || s->unit[0] == '\0' || strcmp(n->unit, s->unit) == 0) &&
            fabs(n->value - s->value) <=
                fmax(1.0001 * fmax(n->precision, s->precision), 0.005 * fabs(s->value)) &&
            (s->value != 0 || n->value == 0)) {
            return true;
        }
    }
    return false;
}

/* "32 sectors per request" after naming both. */
static bool is_ratio(const struct ground_checker *k, const struct said_number *n)
{
    if (k->metric < 0 || k->metric_before < 0) {
        return false;
    }
    double a = counters_get(k->counters, (enum metric)k->metric_before);
    double b = counters_get(k->counters, (enum metric)k->metric);
    double scale = strcmp(n->unit, "%") == 0 ? 100 : 1;

    return (b != 0 && is_value(n, scale * a / b)) || (a != 0 && is_value(n, scale * b / a));
}

static bool is_known(
    const struct ground_checker *k, const struct said_number *n, const char *written)
{
    return some_metric_has(k, n) || line_has_cost(k, n) || was_said(k, n) ||
           (n->unit[0] == '\0' && source_has_word(k->source, written, strlen(written)));
}

static const char *judge_number(
    struct ground_checker *k, const struct said_number *n, const char *written)
{
    bool is_first = k->metric_is_new;

    k->metric_is_new = false;
    if (k->metric >= 0) {
        const char *why = judge_against(k, n, (enum metric)k->metric);

        return why && !is_first && direction(k) == 0 && (is_ratio(k, n) || is_known(k, n, written))
                   ? NULL
                   : why;
    }
    if (direction(k) != 0) {
        return was_said(k, n) ? NULL : "no metric is named to compare it with";
    }
    return is_known(k, n, written) ? NULL : "no metric and no line of the source has this value";
}

/* ---- the text ---- */

static const char *judge_line(struct ground_checker *k, unsigned line)
{
    unsigned nr = nr_lines(k->source);

    if (line == 0 || line > nr) {
        return arena_printf(k->arena, "the source has %u lines", nr);
    }
    return NULL;
}

static const char *judge_metric(struct ground_checker *k, const char *name)
{
    enum metric metric;

    k->metric_before = k->metric;
    k->metric = -1;
    if (!metric_parse(name, &metric)) {
        return "no such metric";
    }
    if (!counters_has(k->counters, metric)) {
        return "the profile lacks this metric";
    }
    k->metric = (int)metric;
    k->metric_is_new = true;
    return NULL;
}

static bool joins_lines(const char *word, size_t len)
{
    return (len == 3 && strncmp(word, "and", 3) == 0) ||
           (len == 2 && strncmp(word, "to", 2) == 0) || (len == 2 && strncmp(word, "or", 2) == 0);
}

static void remember(struct ground_checker *k, const char *word, size_t len)
{
    k->in_lines = k->in_lines && joins_lines(word, len);
    memcpy(k->word2, k->word, sizeof(k->word));
    snprintf(k->word, sizeof(k->word), "%.*s", (int)len, word);
    for (char *c = k->word; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
}

/* Metric names are words joined by dots. */
static size_t name_length(const char *at)
{
    size_t len = 0;

    while (str_word_char(at[len]) || (at[len] == '.' && str_word_char(at[len + 1]))) {
        len++;
    }
    return len;
}

/* Metrics are named unit__quantity; so are few things in a kernel, and those stand in the source.
 */
static bool is_metric_name(const struct ground_checker *k, const char *word)
{
    return word[0] != '_' && strstr(word, "__") && name_length(word) == strlen(word) &&
           !source_has_word(k->source, word, strlen(word));
}

static size_t check_quoted(struct ground_checker *k, size_t at)
{
    const char *start = k->text + at + 1;
    size_t len = strcspn(start, "`");
    char *code = arena_strndup(k->arena, start, len);

    if (start[len] != '`') {
        return at + 1;
    }
    if (is_metric_name(k, code)) {
        add(k, CLAIM_METRIC, at, len + 2, judge_metric(k, code));
    } else if (k->line > 0 && len > 0 && !k->advice) {
        add(k, CLAIM_WORD, at, len + 2,
            line_has(k->source, k->line, code) ? NULL
                                               : arena_printf(k->arena, "not on line %u", k->line));
    } else if (len > 0 && !k->advice) {
        bool word = name_length(code) == len;
        bool found = word ? source_has_word(k->source, code, len) : strstr(k->source, code) != NULL;

        add(k, CLAIM_WORD, at, len + 2, found ? NULL : "the source does not have it");
    }
    return at + len + 2;
}

/* A sentence that begins with "It" speaks of the metric of the sentence before. */
static void take_up(struct ground_checker *k, const char *word)
{
    if (k->starts && (strcasecmp(word, "it") == 0 || strcasecmp(word, "this") == 0)) {
        k->metric = k->metric_last;
    }
    k->starts = false;
}

static size_t check_word(struct ground_checker *k, size_t at)
{
    const char *start = k->text + at;
    size_t len = name_length(start);
    char *word = arena_strndup(k->arena, start, len);

    take_up(k, word);
    if (is_metric_name(k, word)) {
        add(k, CLAIM_METRIC, at, len, judge_metric(k, word));
    } else if (start[len] == '(' && start[len + 1] == ')' && !k->advice) {
        add(k, CLAIM_WORD, at, len,
            source_has_word(k->source, word, len) ? NULL : "the source does not have it");
    }
    remember(k, start, len);
    return at + len;
}

/* "128-bit", "16-byte": the name of a kind of access. */
static bool names_width(const char *after)
{
    return strncmp(after, "-bit", 4) == 0 || strncmp(after, "-byte", 5) == 0;
}

static size_t check_line(struct ground_checker *k, size_t at, size_t digits)
{
    k->line = (unsigned)strtoul(k->text + at, NULL, 10);
    k->in_lines = true;
    add(k, CLAIM_LINE, at, digits, judge_line(k, k->line));
    return at + digits;
}

static size_t check_number(struct ground_checker *k, size_t at)
{
    const char *start = k->text + at;
    size_t digits = strspn(start, "0123456789");

    if (k->in_lines || strcmp(k->word, "line") == 0 || strcmp(k->word, "lines") == 0) {
        return check_line(k, at, digits);
    }
    struct said_number n = read_number(start);
    const char *written = arena_strndup(k->arena, start, strspn(start, "0123456789."));

    if (k->metric >= 0 ||
        (!k->advice && !names_width(start + digits) &&
            (n.unit[0] != '\0' || n.value > SMALL_NUMBER || n.value != rint(n.value)))) {
        add(k, CLAIM_NUMBER, at, n.len, judge_number(k, &n, written));
    }
    remember(k, "#", 1);
    return at + n.len;
}

/* All numbers of a text that are not parts of words. */
static void read_said(struct ground_checker *k, const char *text)
{
    struct said_number *found = NULL;
    size_t cap = 0;

    for (size_t at = 0; text[at];) {
        if (isdigit((unsigned char)text[at])) {
            struct said_number n = read_number(text + at);

            found = grow(found, &cap, k->nr_said + 1, sizeof(*found));
            found[k->nr_said++] = n;
            at += n.len;
        } else if (str_word_char(text[at])) {
            at += name_length(text + at);
        } else {
            at++;
        }
    }
    k->said = arena_array(k->arena, k->nr_said + 1, sizeof(*found));
    if (k->nr_said > 0) {
        memcpy(k->said, found, k->nr_said * sizeof(*found));
    }
    free(found);
}

static void end_sentence(struct ground_checker *k)
{
    k->metric_last = k->metric;
    k->metric = k->metric_before = -1;
    k->metric_is_new = false;
    k->starts = true;
    k->line = 0;
    k->in_lines = false;
}

/* Reads the characters between words and numbers. */
static void pass(struct ground_checker *k, size_t at)
{
    char c = k->text[at], after = k->text[at + 1];

    if ((c == '.' || c == '\n' || c == ';') && (after == ' ' || after == '\n' || !after)) {
        end_sentence(k);
    }
    if (c == '\n') {
        k->advice = strncmp(k->text + at + 1, "Next:", 5) == 0;
    }
    k->in_lines = k->in_lines && (c == ' ' || c == ',' || c == '-');
}

void ground_check(
    struct ground *ground, struct arena *arena, const char *text, const struct ground_facts *facts)
{
    struct ground_checker k = {.ground = ground,
        .arena = arena,
        .text = text,
        .counters = facts->counters,
        .profile = facts->profile,
        .source = facts->source ? facts->source : "",
        .metric = -1,
        .metric_before = -1,
        .metric_last = -1,
        .advice = strncmp(text, "Next:", 5) == 0};
    struct claim *kept;

    *ground = (struct ground){0};
    read_said(&k, facts->said ? facts->said : "");
    for (size_t at = 0; text[at];) {
        char c = text[at];

        if (c == '`') {
            at = check_quoted(&k, at);
        } else if (isdigit((unsigned char)c)) {
            at = check_number(&k, at);
        } else if (str_word_char(c)) {
            at = check_word(&k, at);
        } else {
            pass(&k, at++);
        }
    }
    kept = arena_array(arena, ground->nr_claims + 1u, sizeof(*kept));
    if (ground->nr_claims > 0) {
        memcpy(kept, ground->claims, ground->nr_claims * sizeof(*kept));
    }
    free(ground->claims);
    ground->claims = kept;
}

const char *ground_mark(const struct ground *ground, struct arena *arena, const char *text)
{
    struct str out = {0};
    size_t done = 0;
    const char *copy;

    for (unsigned i = 0; i < ground->nr_claims; i++) {
        const struct claim *claim = &ground->claims[i];

        if (!claim->grounded) {
            str_add_n(&out, text + done, claim->at + claim->len - done);
            str_addf(&out, " [?: %s]", claim->why);
            done = claim->at + claim->len;
        }
    }
    str_add(&out, text + done);
    copy = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return copy;
}
