/* Curves drawn in text, for terminals.
 *
 *     struct plot plot;
 *     if (plot_wanted(PLOT_AUTO, stdout, &plot)) {
 *         plot_roofline(&text, &plot, chip, flops, bytes, time_ns);
 *         plot_print(stdout, str_text(&text), &plot);
 *     }
 *
 * A text of these functions holds marks for colours and must go through plot_print. It holds no
 * text that others wrote. */
#ifndef KEET_REPORT_PLOT_H
#define KEET_REPORT_PLOT_H

#include "base/str.h"
#include "core/chip.h"

#include <stdbool.h>
#include <stdio.h>

enum plot_choice { PLOT_AUTO, PLOT_ON, PLOT_OFF };

struct plot {
    unsigned columns; /* 40 to 100 */
    bool utf8, color;
};

/* Shall curves be drawn on `out`, and how? PLOT_AUTO: on a terminal of 40 columns and more that is
 * not `dumb`. UTF-8 where the locale says so (LC_ALL, LC_CTYPE, LANG), else ASCII; colours on a
 * terminal unless NO_COLOR is set and not empty. */
bool plot_wanted(enum plot_choice choice, FILE *out, struct plot *plot);

/* A kernel below the roofs of a chip. Nothing where one of the figures is not known (0). */
void plot_roofline(struct str *out, const struct plot *plot, const struct chip *chip, double flops,
    double dram_bytes, double time_ns);

/* The speedups of variants in their order, 0 where one failed, and the best so far. Nothing for
 * fewer than two. */
void plot_best(struct str *out, const struct plot *plot, const double *speedups, unsigned nr);

void plot_print(FILE *out, const char *text, const struct plot *plot);

#endif
