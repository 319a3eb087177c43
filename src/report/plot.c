/* Owns curves drawn in text. */
#include "report/plot.h"

#include "base/mem.h"
#include "base/terminal.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LEAST_COLUMNS = 40, MOST_COLUMNS = 100, ROWS = 12, LEFT = 9 };

/* Marks in a text, which plot_print makes colours of. */
enum { MARK_PLAIN = 1, MARK_ROOF, MARK_POINT, MARK_GOOD };

enum glyph { EMPTY, FLAT, RISE, UP, DOT, POINT, NR_GLYPHS };

static const struct {
    const char *utf8, *ascii;
    char mark;
} glyphs[NR_GLYPHS] = {
    [EMPTY] = {" ", " ", MARK_PLAIN},
    [FLAT] = {"\u2500", "-", MARK_ROOF},
    [RISE] = {"\u2571", "/", MARK_ROOF},
    [UP] = {"\u2502", "|", MARK_ROOF},
    [DOT] = {"\u00b7", ".", MARK_PLAIN},
    [POINT] = {"\u25cf", "*", MARK_POINT},
};

/* ---- whether and how ---- */

static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = "";

    for (size_t i = 0; i < ARRAY_SIZE(names) && !*value; i++)
        value = getenv(names[i]) ? getenv(names[i]) : "";
    return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
}

bool plot_wanted(enum plot_choice choice, FILE *out, struct plot *plot)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool terminal = isatty(terminal_fd(out)) && term && *term && strcmp(term, "dumb") != 0;
    const unsigned columns = report_columns(out);

    *plot = (struct plot){.columns = columns < LEAST_COLUMNS  ? LEAST_COLUMNS
                                     : columns > MOST_COLUMNS ? MOST_COLUMNS
                                                              : columns,
        .utf8 = locale_is_utf8(),
        .color = terminal && !(no_color && *no_color)};
    return choice == PLOT_ON || (choice == PLOT_AUTO && terminal && columns >= LEAST_COLUMNS);
}

void plot_print(FILE *out, const char *text, const struct plot *plot)
{
    static const char *const colors[] = {[MARK_PLAIN] = "\033[0m",
        [MARK_ROOF] = "\033[36m",
        [MARK_POINT] = "\033[1;33m",
        [MARK_GOOD] = "\033[32m"};

    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, "\1\2\3\4");

        fwrite(at, 1, len, out);
        at += len;
        if (!*at)
            break;
        if (plot->color)
            terminal_control(out, colors[(unsigned char)*at]);
        at++;
    }
}

/* ---- a canvas ---- */

struct canvas {
    const struct plot *plot;
    unsigned columns; /* of the drawing, right of the labels */
    unsigned char cells[ROWS][MOST_COLUMNS];
};

static struct canvas canvas_of(const struct plot *plot)
{
    return (struct canvas){.plot = plot, .columns = plot->columns - LEFT - 2};
}

/* Row 0 is at the top. What lies outside is at the edge. */
static unsigned row_of(double share)
{
    const double row = (1 - share) * (ROWS - 1);

    return row <= 0 ? 0 : row >= ROWS - 1 ? ROWS - 1 : (unsigned)(row + 0.5);
}

static void draw(struct canvas *c, unsigned row, unsigned column, enum glyph glyph)
{
    if (row < ROWS && column < c->columns)
        c->cells[row][column] = (unsigned char)glyph;
}

static void add_glyph(struct str *out, const struct plot *plot, enum glyph glyph, char *mark)
{
    if (glyph != EMPTY && glyphs[glyph].mark != *mark)
        str_add_char(out, *mark = glyphs[glyph].mark);
    str_add(out, plot->utf8 ? glyphs[glyph].utf8 : glyphs[glyph].ascii);
}

/* Labels stand left of the top, the bottom, and one row between. */
static void add_canvas(struct str *out, const struct canvas *c, const char *top,
    const char *between, unsigned between_row, const char *bottom)
{
    for (unsigned row = 0; row < ROWS; row++) {
        const char *label = row == 0                                ? top
                            : row == ROWS - 1                       ? bottom
                            : between != NULL && row == between_row ? between
                                                                    : "";
        unsigned last = c->columns;
        char mark = MARK_PLAIN;

        while (last > 0 && c->cells[row][last - 1] == EMPTY)
            last--;
        str_addf(out, "%*s %s", LEFT - 1, label, c->plot->utf8 ? "\u2502" : "|");
        for (unsigned column = 0; column < last; column++)
            add_glyph(out, c->plot, (enum glyph)c->cells[row][column], &mark);
        if (mark != MARK_PLAIN)
            str_add_char(out, MARK_PLAIN);
        str_add_char(out, '\n');
    }
    str_addf(out, "%*s %s", LEFT - 1, "", c->plot->utf8 ? "\u2514" : "+");
    for (unsigned column = 0; column < c->columns; column++)
        str_add(out, c->plot->utf8 ? "\u2500" : "-");
    str_add_char(out, '\n');
}

/* Two words below the ends of the axis, and one in the middle. */
static void add_axis(struct str *out, const struct canvas *c, const char *left, const char *middle,
    const char *right)
{
    const unsigned used = (unsigned)(strlen(left) + strlen(middle) + strlen(right));
    const unsigned room = c->columns > used ? c->columns - used : 2;

    str_addf(out, "%*s%s%*s%s%*s%s\n", LEFT + 1, "", left, (int)(room / 2), "", middle,
        (int)(room - room / 2), "", right);
}

/* ---- the roofline ---- */

static void add_rate(struct str *out, double flops_per_s)
{
    str_addf(out, flops_per_s >= 1e12 ? "%.3gT/s" : "%.3gG/s",
        flops_per_s / (flops_per_s >= 1e12 ? 1e12 : 1e9));
}

struct roofs {
    double x_low, x_high, y_low, y_high; /* log10 of flop/byte, of flop/s */
    double bytes_per_s, peak, tensor;
};

static double share_of(double value, double low, double high)
{
    return (value - low) / (high - low);
}

static struct roofs roofs_of(const struct chip *chip, double intensity, double rate)
{
    const double vector = 2 * chip->fp32_per_clk * chip->nr_sms * chip->clock_hz;
    struct roofs r = {.bytes_per_s = chip->dram_bytes_per_s,
        .peak = vector,
        .tensor = rate > vector ? chip->peak[WORK_F16].tensor_per_s : 0};
    const double highest = fmax(r.tensor, fmax(r.peak, rate)), ridge = highest / r.bytes_per_s;

    r.x_low = floor(log10(fmin(intensity, r.peak / r.bytes_per_s)) - 0.5);
    r.x_high = ceil(log10(fmax(intensity, ridge)) + 0.5);
    r.y_high = log10(highest) + 0.1;
    r.y_low = fmin(log10(rate) - 0.3, r.x_low + log10(r.bytes_per_s));
    return r;
}

static void draw_roof(struct canvas *c, const struct roofs *r, double peak)
{
    for (unsigned column = 0; column < c->columns; column++) {
        const double x = r->x_low + (r->x_high - r->x_low) * column / (c->columns - 1);
        const double slope = x + log10(r->bytes_per_s), flat = log10(peak);

        draw(c, row_of(share_of(fmin(slope, flat), r->y_low, r->y_high)), column,
            slope < flat ? RISE : FLAT);
    }
}

void plot_roofline(struct str *out, const struct plot *plot, const struct chip *chip, double flops,
    double dram_bytes, double time_ns)
{
    if (!(flops > 0 && dram_bytes > 0 && time_ns > 0))
        return;
    const double intensity = flops / dram_bytes, rate = flops / time_ns * 1e9;
    const struct roofs r = roofs_of(chip, intensity, rate);
    struct canvas c = canvas_of(plot);
    struct str top = {0}, own = {0}, left = {0}, right = {0};
    const double x = share_of(log10(intensity), r.x_low, r.x_high),
                 y = share_of(log10(rate), r.y_low, r.y_high);
    const unsigned row = row_of(y);

    if (r.tensor > 0)
        draw_roof(&c, &r, r.tensor);
    draw_roof(&c, &r, r.peak);
    draw(&c, row, (unsigned)(x * (c.columns - 1) + 0.5), POINT);
    add_rate(&top, fmax(r.tensor, r.peak));
    add_rate(&own, rate);
    str_addf(&left, "%g", pow(10, r.x_low));
    str_addf(&right, "%g", pow(10, r.x_high));
    str_addf(out, "Roofline: %.3g flop/byte of DRAM, %s; roofs of %.3g TB/s and %s\n", intensity,
        str_text(&own), r.bytes_per_s / 1e12, str_text(&top));
    add_canvas(out, &c, str_text(&top), str_text(&own), row, "");
    add_axis(out, &c, str_text(&left), "flop/byte", str_text(&right));
    str_finish(&top);
    str_finish(&own);
    str_finish(&left);
    str_finish(&right);
}

/* ---- best so far ---- */

void plot_best(struct str *out, const struct plot *plot, const double *speedups, unsigned nr)
{
    struct canvas c = canvas_of(plot);
    double most = 1, best = 0;
    unsigned at_best = 0, before = ROWS;
    struct str top = {0}, right = {0};

    if (nr < 2)
        return;
    for (unsigned i = 0; i < nr; i++)
        if (speedups[i] > most)
            most = speedups[i];
    for (unsigned i = 0; i < nr; i++) {
        const unsigned column = (unsigned)((double)i / (nr - 1) * (c.columns - 1) + 0.5);

        if (speedups[i] > 0)
            draw(&c, row_of(speedups[i] / most), column, DOT);
    }
    for (unsigned column = 0, i = 0; column < c.columns; column++) {
        for (; i < nr && (double)i / (nr - 1) * (c.columns - 1) <= column + 0.5; i++)
            if (speedups[i] > best) {
                best = speedups[i];
                at_best = i;
            }
        const unsigned row = row_of(best / most);

        for (unsigned up = row + 1; before < ROWS && up < before; up++)
            draw(&c, up, column, UP);
        draw(&c, row, column, FLAT);
        before = row;
    }
    draw(&c, row_of(best / most), (unsigned)((double)at_best / (nr - 1) * (c.columns - 1) + 0.5),
        POINT);
    str_addf(&top, "%.2fx", most);
    str_addf(&right, "%u", nr - 1);
    str_addf(out, "Best so far: %.2fx at the %u. of %u variants\n", best, at_best, nr - 1);
    add_canvas(out, &c, str_text(&top), most > 1.2 ? "1.00x" : NULL, row_of(1 / most), "0");
    add_axis(out, &c, "0", "variants", str_text(&right));
    str_finish(&top);
    str_finish(&right);
}
