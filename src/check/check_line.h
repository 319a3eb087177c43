/* Private to check/: the source line that most likely wrote a wrong output. */
#ifndef KEET_CHECK_CHECK_LINE_H
#define KEET_CHECK_CHECK_LINE_H

#include "core/candidate.h"

/* A guess from the text, good enough to open the editor at. Of the last launched kernel that takes
 * the array, the first line that stores through the matching parameter; else the line of that
 * kernel, else the line of the launch, else 0. */
unsigned check_write_line(const struct candidate *c, const char *array);

#endif
