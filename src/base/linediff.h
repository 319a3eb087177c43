/* The steps that make one text from another, line by line, by a longest common subsequence. */
#ifndef KEET_BASE_LINEDIFF_H
#define KEET_BASE_LINEDIFF_H

#include <stddef.h>

struct text_lines {
    const char **at; /* at[i] .. at[i + 1] is line i, newline included; heap */
    size_t nr;
};

struct text_lines lines_split(const char *text); /* free(lines.at) */
size_t lines_len(const struct text_lines *lines, size_t i);

/* One step: ' ' keeps a line, '-' removes a line of old, '+' adds a line of new. */
struct line_step {
    char kind;
    size_t old, new_;
};

/* A heap array of *nr steps. Texts in which too many lines differ are replaced as a whole. */
struct line_step *lines_diff(
    const struct text_lines *old, const struct text_lines *new_, size_t *nr);

#endif
