/* What makes one text from another, line by line: a longest common subsequence. */
#ifndef KEET_BASE_LINEDIFF_H
#define KEET_BASE_LINEDIFF_H

#include <stddef.h>

struct text_lines {
    const char **at; /* at[i] .. at[i + 1] is line i, newline included; heap */
    size_t nr;
};

struct text_lines lines_split(const char *text); /* free(lines.at) */
size_t lines_len(const struct text_lines *lines, size_t i);

/* One step: ' ' keeps, '-' takes away from old, '+' adds from new. */
struct line_step {
    char kind;
    size_t old, new_;
};

/* Heap array of *nr steps. Texts with too many lines that differ are replaced as a whole. */
struct line_step *lines_diff(
    const struct text_lines *old, const struct text_lines *new_, size_t *nr);

#endif
